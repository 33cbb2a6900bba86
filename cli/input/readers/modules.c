/* The readers in modules (base/module.h): what is known of their formats without the libraries that they need. */
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "input/readers/readers.h"

static bool is_tiff(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size < 4) return false;
    return memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 || memcmp(head, "II+\0", 4) == 0 ||
           memcmp(head, "MM\0+", 4) == 0;
}

const reader_kind reader_tiff = {
    .name = "tiff",
    .formats =
        "TIFF and BigTIFF images: integers (gray of 1, 2 and 4 bits as 0 to 255) and floats of 1 to 64 bits, palettes, "
        "strips, tiles, planes, pages",
    .takes = TAKES_PAGES,
    .recognize = is_tiff,
    .open = tiff_open,
};

static bool is_webp(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 12 && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0;
}

const reader_kind reader_webp = {
    .name = "webp",
    .formats = "WebP images: RGB, alpha; frames of animations as pages",
    .takes = TAKES_PAGES,
    .recognize = is_webp,
    .open = webp_open,
    .library = "libwebp (Debian: libwebp-dev)",
};

/* The major brands of files of images and of sequences of them. */
static bool is_heif(const unsigned char *head, size_t size, const char *path)
{
    static const char brands[][5] = {"heic", "heix", "heim", "heis", "hevc", "hevx",
                                     "mif1", "msf1", "miaf", "avif", "avis"};
    (void)path;
    if (size < 12 || memcmp(head + 4, "ftyp", 4) != 0) return false;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (memcmp(head + 8, brands[i], 4) == 0) return true;
    return false;
}

const reader_kind reader_heif = {
    .name = "heif",
    .formats =
        "HEIF images (HEIC, AVIF) of 8 to 16 bits: gray, RGB, alpha; top-level images as pages, the primary one first",
    .takes = TAKES_PAGES,
    .recognize = is_heif,
    .open = heif_open,
    .library = "libheif (Debian: libheif-dev)",
};

static bool is_jp2(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return (size >= 12 && memcmp(head, "\0\0\0\x0cjP  \r\n\x87\n", 12) == 0) ||
           (size >= 4 && memcmp(head, "\xff\x4f\xff\x51", 4) == 0);
}

const reader_kind reader_jp2 = {
    .name = "jp2",
    .formats = "JPEG 2000 images and codestreams (JP2, J2K, HTJ2K): integers of 1 to 32 bits, any channels, tiles",
    .takes = TAKES_PAGES,
    .recognize = is_jp2,
    .open = jp2_open,
    .library = "OpenJPEG (Debian: libopenjp2-7-dev)",
};

static bool is_exr(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 4 && memcmp(head, "\x76\x2f\x31\x01", 4) == 0;
}

const reader_kind reader_exr = {
    .name = "exr",
    .formats =
        "OpenEXR images: channels of halves, floats and 32-bit integers by name, scanlines and tiles, parts as pages",
    .takes = TAKES_PAGES,
    .recognize = is_exr,
    .open = exr_open,
    .library = "OpenEXR 3 (Debian: libopenexr-dev)",
};

static bool is_gif(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 6 && (memcmp(head, "GIF87a", 6) == 0 || memcmp(head, "GIF89a", 6) == 0);
}

const reader_kind reader_gif = {
    .name = "gif",
    .formats = "GIF images, as RGB or with alpha; frames of animations as pages",
    .takes = TAKES_PAGES,
    .recognize = is_gif,
    .open = gif_open,
    .library = "giflib (Debian: libgif-dev)",
};

static bool is_jxl(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return (size >= 2 && head[0] == 0xFF && head[1] == 0x0A) ||
           (size >= 12 && memcmp(head, "\0\0\0\x0cJXL \r\n\x87\n", 12) == 0);
}

const reader_kind reader_jxl = {
    .name = "jxl",
    .formats = "JPEG XL images: gray, RGB, alpha, integers of 1 to 16 bits and floats; frames of animations as pages",
    .takes = TAKES_PAGES,
    .recognize = is_jxl,
    .open = jxl_open,
    .library = "libjxl (Debian: libjxl-dev)",
};

static bool is_npz(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

const reader_kind reader_npz = {
    .name = "npz",
    .formats = "NumPy .npz (--dataset names the array)",
    .takes = TAKES_DATASETS | TAKES_RAW,
    .recognize = is_npz,
    .open = npz_open,
};

/* The signature is at offset 0, 512, 1024, 2048, … (after a user block). */
static bool is_hdf5(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    for (size_t at = 0; at + 8 <= size; at = at ? 2 * at : 512)
        if (memcmp(head + at, "\x89HDF\r\n\x1a\n", 8) == 0) return true;
    return false;
}

static const char *const zarr_files[] = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"};

/* Is the first member of the zip archive one of Zarr's metadata, perhaps after the directory that it is in? */
static bool names_zarr_member(const unsigned char *head, size_t size)
{
    enum { NAME = 30 }; /* behind the fields of a local header */
    for (size_t at = 0; at + NAME <= size && memcmp(head + at, "PK\3\4", 4) == 0;) {
        const size_t length = head[at + 26] | (size_t)head[at + 27] << 8;
        const size_t extra = head[at + 28] | (size_t)head[at + 29] << 8;
        if (at + NAME + length > size || length == 0) return false;
        const char *name = (const char *)head + at + NAME;
        for (size_t i = 0; i < sizeof zarr_files / sizeof *zarr_files; i++) {
            const size_t end = strlen(zarr_files[i]);
            if (length >= end && memcmp(name + length - end, zarr_files[i], end) == 0) return true;
        }
        if (name[length - 1] != '/') return false;
        at += NAME + length + extra;
    }
    return false;
}

/* The file of metadata, as which a directory is opened; or an archive that begins with one, or is named so. */
static bool is_zarr(const unsigned char *head, size_t size, const char *path)
{
    const char *name = text_file_name(path);
    const size_t length = strlen(name);
    const bool named = length > 9 && strcmp(name + length - 9, ".zarr.zip") == 0;
    if (is_npz(head, size, path)) return named || names_zarr_member(head, size);
    return strcmp(name, "zarr.json") == 0 || strcmp(name, ".zarray") == 0 || strcmp(name, ".zgroup") == 0;
}

const reader_kind reader_zarr = {
    .name = "zarr",
    .formats = "Zarr, versions 2 and 3: arrays and groups in directories and zip archives (--dataset names the array), "
               "with gzip, zlib, zstd, Blosc and shards",
    .takes = TAKES_DATASETS | TAKES_RAW,
    .recognize = is_zarr,
    .open = zarr_open,
    .library = "RapidJSON, c-blosc and zstd (Debian: rapidjson-dev libblosc-dev libzstd-dev)",
};

const reader_kind reader_hdf5 = {
    .name = "hdf5",
    .formats = "HDF5, datasets of integers and floats (--dataset names one)",
    .takes = TAKES_DATASETS | TAKES_RAW,
    .recognize = is_hdf5,
    .open = hdf5_open,
};

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0x1e;
}

static size_t skip_blanks(const unsigned char *head, size_t size, size_t at)
{
    while (at < size && is_blank(head[at]))
        at++;
    return at;
}

/* An object, perhaps in an array: a brace, and the quote of a key or another brace. */
static bool is_json(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    size_t at = skip_blanks(head, size, size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    const bool array = at < size && head[at] == '[';
    if (array) at = skip_blanks(head, size, at + 1);
    if (at < size && array && head[at] == ']') return true; /* empty */
    if (at == size || head[at] != '{') return false;
    at = skip_blanks(head, size, at + 1);
    return at < size && (head[at] == '"' || head[at] == '}');
}

const reader_kind reader_json = {
    .name = "json",
    .formats = "JSON lines, and arrays of objects: keys are columns, nested ones with dots",
    .recognize = is_json,
    .open = json_open,
    .library = "RapidJSON (Debian: rapidjson-dev)",
};

static bool is_sqlite(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

const reader_kind reader_sqlite = {
    .name = "sqlite",
    .formats = "SQLite databases (--dataset names the table or view, or --query selects)",
    .takes = TAKES_DATASETS | TAKES_QUERIES,
    .recognize = is_sqlite,
    .open = sqlite_open,
    .library = "SQLite (Debian: libsqlite3-dev)",
};

static bool is_fits(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 80 && memcmp(head, "SIMPLE  =", 9) == 0;
}

const reader_kind reader_fits = {
    .name = "fits",
    .formats = "FITS images of every BITPIX, also of compressed tiles (.fz), and tables (--column): --dataset names or "
               "numbers one of several; --page: slices of cubes",
    .takes = TAKES_PAGES | TAKES_DATASETS,
    .recognize = is_fits,
    .open = fits_open,
    .library = "cfitsio (Debian: libcfitsio-dev)",
};

/* Before others: the 128 bytes in front may make it a TIFF file, too. Old files have none. */
static bool is_dicom(const unsigned char *head, size_t size, const char *path)
{
    const char *suffix = strrchr(path, '.');
    if (size >= 132 && memcmp(head + 128, "DICM", 4) == 0) return true;
    const bool named = suffix && (strcasecmp(suffix, ".dcm") == 0 || strcasecmp(suffix, ".ima") == 0);
    return named && size >= 8 &&
           (memcmp(head, "\2\0", 2) == 0 || memcmp(head, "\10\0", 2) == 0 || memcmp(head, "\0\10", 2) == 0);
}

const reader_kind reader_dicom = {
    .name = "dicom",
    .formats = "DICOM images, compressed ones too, with the slope and intercept of the header applied; frames, and "
               "the files of a series in a directory (--dataset names it), as pages, by default all",
    .takes = TAKES_PAGES | TAKES_DATASETS | TAKES_RAW,
    .recognize = is_dicom,
    .open = dicom_open,
    .library = "GDCM (Debian: libgdcm-dev)",
};

static bool is_parquet(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    return size >= 12 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "PARE", 4) == 0);
}

const reader_kind reader_parquet = {
    .name = "parquet",
    .formats = "Parquet: numbers, booleans, decimals, strings and times, nested ones with dots",
    .recognize = is_parquet,
    .open = parquet_open,
    .module = "arrow",
    .library = "Apache Arrow's C++ library (-DHISTO_ARROW, see docs/install.md)",
    .convert = "duckdb -csv -c \"FROM 'FILE.parquet'\" | histo",
};

/* A file or, after the mark of a message, the length of a schema and where it begins. */
static bool is_arrow(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size >= 8 && memcmp(head, "ARROW1\0", 8) == 0) return true;
    return size >= 16 && memcmp(head, "\xff\xff\xff\xff", 4) == 0 && head[4] % 8 == 0 && head[4] + head[5] > 0 &&
           head[6] < 0x10 && head[7] == 0 && head[8] % 4 == 0 && head[8] > 0 && !head[9] && !head[10] && !head[11];
}

const reader_kind reader_arrow = {
    .name = "arrow",
    .formats = "Arrow and Feather: files and streams of columns, as Parquet's",
    .recognize = is_arrow,
    .open = arrow_open,
    .library = "Apache Arrow's C++ library (-DHISTO_ARROW, see docs/install.md)",
    .convert = "python3 -c 'import sys, pyarrow.csv as c, pyarrow.feather as f; "
               "c.write_csv(f.read_table(sys.argv[1]), sys.stdout.buffer)' FILE | histo",
};

static bool is_sound(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size < 40) return false;
    const unsigned char *kind = head + 8;
    if (memcmp(head, "RIFF", 4) == 0 || memcmp(head, "RF64", 4) == 0) return memcmp(kind, "WAVE", 4) == 0;
    if (memcmp(head, "FORM", 4) == 0) return memcmp(kind, "AIFF", 4) == 0 || memcmp(kind, "AIFC", 4) == 0;
    if (memcmp(head, "OggS", 4) == 0)
        return memcmp(head + 28, "OpusHead", 8) == 0 || memcmp(head + 29, "vorbis", 6) == 0 ||
               memcmp(head + 29, "FLAC", 4) == 0;
    if (memcmp(head, "ID3", 3) == 0) return head[3] < 5; /* MP3, after tags or with the header of a frame */
    if (head[0] == 0xff && (head[1] & 0xe6) == 0xe2) return head[2] >> 4 < 15 && (head[2] & 0x0c) != 0x0c;
    return memcmp(head, "fLaC", 4) == 0 || memcmp(head, ".snd", 4) == 0 || memcmp(head, "caff", 4) == 0 ||
           memcmp(head, "riff\x2e\x91\xcf\x11", 8) == 0;
}

const reader_kind reader_sound = {
    .name = "sound",
    .formats = "sound: WAV, W64, AIFF, FLAC, MP3, Ogg, AU, CAF: channels by number, integers as they are stored",
    .recognize = is_sound,
    .open = sound_open,
    .library = "libsndfile (Debian: libsndfile1-dev)",
};

/* Files of version 4 have no signature: their suffix, and a type of at most four digits. Version 7.3 is HDF5. */
static bool is_mat(const unsigned char *head, size_t size, const char *path)
{
    const char *suffix = strrchr(path, '.');
    uint32_t type;
    if (size >= 128 && memcmp(head, "MATLAB 5.0", 10) == 0) return true;
    if (size < 20 || !suffix || strcasecmp(suffix, ".mat") != 0) return false;
    memcpy(&type, head, sizeof type);
    return type < 5000 || __builtin_bswap32(type) < 5000;
}

const reader_kind reader_mat = {
    .name = "mat",
    .formats = "MATLAB .mat of versions 4 to 7 (--dataset names the variable; 7.3 is HDF5)",
    .takes = TAKES_DATASETS,
    .recognize = is_mat,
    .open = mat_open,
    .library = "matio (Debian: libmatio-dev)",
};
