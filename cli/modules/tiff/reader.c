/* TIFF and BigTIFF images by libtiff: integers and floats of 8 to 64 bits; gray with 1, 2 and 4 bits scaled to 8;
 * unsigned gray whose 0 is white inverted, so that 0 is black as in other formats; 10, 12 and 14 bits as u16; palettes
 * as 8-bit RGB; JPEG's YCbCr as RGB; strips and tiles, interleaved channels or planes, any number of pages.
 *
 * A band is a tile, or some rows. Uncompressed rows are read directly from the file, so that strips of any size work;
 * other rows come from libtiff one at a time. Compressed planes are read by complete strips, because switching between
 * planes would decode each strip again for every band. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

#include "input/exif.h"
#include "input/readers/image.h"

/* How the current page stores its samples. */
typedef struct storage {
    unsigned bits;
    bool planes; /* one plane per channel */
    bool tiled;
    bool compressed;
    bool direct; /* rows can be read without libtiff */
    bool expand; /* stored samples need conversion to the layout */
    bool palette;
    bool white_is_zero;                /* of the first channel, which is inverted */
    int64_t block_width, block_height; /* of a tile or strip */
    size_t pitch;                      /* bytes per stored row of a block */
} storage;

typedef struct tiff_reader {
    image image;
    TIFF *tif;
    int fd;
    off_t position; /* of libtiff in the file */
    read_options options;
    int wanted_page; /* -1: all */
    int64_t ordinal; /* of the current page among those that are not auxiliary; before the first, of that */
    int64_t current; /* of libtiff's directory; -1: unknown */
    int64_t slice;   /* rows of a unit: a row of tiles, a strip, a band, or a page; the last of a page may have fewer */
    int64_t slices;  /* of a page */
    int64_t first;   /* the unit to begin with */
    int64_t stop;    /* the unit to read up to; -1: all */
    bool begun;      /* inside a page */
    int64_t x;       /* of the next tile */
    storage stored;
    unsigned char palette[1 << 16][3];
    bool decoding;       /* warnings are errors */
    char complaint[256]; /* libtiff's first since the last reset */
} tiff_reader;

/* ---- libtiff's file access and messages ---- */

/* The number of bytes read: fewer than size only at the end of the file, or if it cannot be read. */
static size_t read_at(const tiff_reader *t, off_t offset, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(t->fd, (char *)to + done, size - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

static tmsize_t read_on(thandle_t handle, void *to, tmsize_t size)
{
    tiff_reader *t = handle;
    size_t got = read_at(t, t->position, to, (size_t)size);
    t->position += (off_t)got;
    return (tmsize_t)got;
}

static tmsize_t reject_write(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle;
    (void)from;
    (void)size;
    return -1;
}

static toff_t file_size(thandle_t handle)
{
    const tiff_reader *t = handle;
    struct stat status;
    return fstat(t->fd, &status) < 0 ? 0 : (toff_t)status.st_size;
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence)
{
    tiff_reader *t = handle;
    off_t base = whence == SEEK_CUR ? t->position : whence == SEEK_END ? (off_t)file_size(handle) : 0, target;
    if (__builtin_add_overflow(base, (off_t)offset, &target) || target < 0) return (toff_t)-1;
    t->position = target;
    return (toff_t)target;
}

static int leave_open(thandle_t handle)
{
    (void)handle;
    return 0;
}

static int on_error(TIFF *tif, void *user, const char *module, const char *format, va_list values)
{
    (void)tif;
    tiff_reader *t = user;
    if (t->complaint[0]) return 1;
    int length = snprintf(t->complaint, sizeof t->complaint, "%.40s: ", module ? module : "libtiff");
    vsnprintf(t->complaint + length, sizeof t->complaint - (size_t)length, format, values);
    return 1;
}

/* These decoders only warn of missing or corrupt data, and invent samples. */
static int on_warning(TIFF *tif, void *user, const char *module, const char *format, va_list values)
{
    const tiff_reader *t = user;
    bool lossy = module && (strcmp(module, "JPEGLib") == 0 || strncmp(module, "Fax", 3) == 0);
    return t->decoding && lossy ? on_error(tif, user, module, format, values) : 1;
}

static const char *complaint_or(const tiff_reader *t, const char *other)
{
    return t->complaint[0] ? t->complaint : other;
}

/* ---- Page contents ---- */

static unsigned field_u16(TIFF *tif, uint32_t tag)
{
    uint16_t value = 0;
    return TIFFGetFieldDefaulted(tif, tag, &value) ? value : 0;
}

static uint32_t field_u32(TIFF *tif, uint32_t tag)
{
    uint32_t value = 0;
    return TIFFGetFieldDefaulted(tif, tag, &value) ? value : 0;
}

static bool find_dtype(unsigned bits, unsigned format, histo_dtype *dtype)
{
    static const struct {
        unsigned format, bits;
        histo_dtype dtype;
    } known[] = {
        {SAMPLEFORMAT_UINT, 1, HISTO_U8},     {SAMPLEFORMAT_UINT, 2, HISTO_U8},
        {SAMPLEFORMAT_UINT, 4, HISTO_U8},     {SAMPLEFORMAT_UINT, 8, HISTO_U8},
        {SAMPLEFORMAT_UINT, 10, HISTO_U16},   {SAMPLEFORMAT_UINT, 12, HISTO_U16},
        {SAMPLEFORMAT_UINT, 14, HISTO_U16},   {SAMPLEFORMAT_UINT, 16, HISTO_U16},
        {SAMPLEFORMAT_UINT, 32, HISTO_U32},   {SAMPLEFORMAT_UINT, 64, HISTO_U64},
        {SAMPLEFORMAT_INT, 8, HISTO_I8},      {SAMPLEFORMAT_INT, 16, HISTO_I16},
        {SAMPLEFORMAT_INT, 32, HISTO_I32},    {SAMPLEFORMAT_INT, 64, HISTO_I64},
        {SAMPLEFORMAT_IEEEFP, 16, HISTO_F16}, {SAMPLEFORMAT_IEEEFP, 32, HISTO_F32},
        {SAMPLEFORMAT_IEEEFP, 64, HISTO_F64},
    };
    if (format == SAMPLEFORMAT_VOID) format = SAMPLEFORMAT_UINT;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].format == format && known[i].bits == bits) {
            *dtype = known[i].dtype;
            return true;
        }
    return false;
}

static bool is_unsigned(histo_dtype dtype)
{
    return dtype == HISTO_U8 || dtype == HISTO_U16 || dtype == HISTO_U32 || dtype == HISTO_U64;
}

static channel_model find_model(TIFF *tif, unsigned photometric, int channels)
{
    uint16_t extras = 0, *kinds = NULL;
    TIFFGetFieldDefaulted(tif, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MASK:
        if (channels == 1) return CHANNELS_GRAY;
        return channels == 2 && extras == 1 && kinds[0] != EXTRASAMPLE_UNSPECIFIED ? CHANNELS_GRAY_ALPHA
                                                                                   : CHANNELS_PLAIN;
    case PHOTOMETRIC_RGB: /* a fourth channel is alpha unless the file says otherwise */
        if (channels == 3) return CHANNELS_RGB;
        return channels == 4 && (extras == 0 || kinds[0] != EXTRASAMPLE_UNSPECIFIED) ? CHANNELS_RGBA : CHANNELS_PLAIN;
    case PHOTOMETRIC_SEPARATED:
        return channels == 4 && field_u16(tif, TIFFTAG_INKSET) == INKSET_CMYK ? CHANNELS_CMYK : CHANNELS_PLAIN;
    default:
        return CHANNELS_PLAIN;
    }
}

/* Colour map entries have 16 bits, but some writers store 8-bit values. */
static bool load_palette(tiff_reader *t)
{
    uint16_t *colors[3];
    size_t entries = (size_t)1 << t->stored.bits;
    if (!TIFFGetField(t->tif, TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2])) return false;
    bool wide = false;
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < entries; i++)
            wide |= colors[c][i] > 255;
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < entries; i++)
            t->palette[i][c] = (unsigned char)(wide ? colors[c][i] >> 8 : colors[c][i]);
    return true;
}

static int reject(const tiff_reader *t, int page, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s: page %d has %s, which cannot be read: convert it, for instance with ImageMagick",
                     input_name(t->image.reader.in), page, what);
}

/* Reject absurdly large blocks, and rows whose layout in libtiff differs from ours. */
static int check_blocks(const tiff_reader *t, int page, const image_layout *layout, fault *f)
{
    const storage *s = &t->stored;
    int64_t sample = (int64_t)histo_dtype_size(layout->dtype);
    int64_t expanded = s->block_width * (s->planes ? 1 : layout->channels) * sample;
    int64_t limit = s->tiled ? IMAGE_MAX_BLOCK_BYTES : IMAGE_MAX_WHOLE_BYTES;
    bool by_block = s->tiled || (s->planes && !s->direct);
    if (by_block && (expanded > limit || s->block_height > limit / expanded))
        return fault_set(f, EXIT_DATA,
                         "%s: page %d claims %s of %lld x %lld pixels, more than the limit of %lld MiB: "
                         "save it in smaller ones, or check that the file is not corrupt",
                         input_name(t->image.reader.in), page, s->tiled ? "tiles" : "strips", (long long)s->block_width,
                         (long long)s->block_height, (long long)limit >> 20);
    uint64_t theirs = s->tiled ? TIFFTileRowSize64(t->tif) : TIFFScanlineSize64(t->tif);
    if (theirs != s->pitch) return reject(t, page, "an unsupported row layout", f);
    return 0;
}

static const char *name_format(unsigned format)
{
    switch (format) {
    case SAMPLEFORMAT_IEEEFP:
        return "floating point";
    case SAMPLEFORMAT_INT:
        return "signed integers";
    case SAMPLEFORMAT_COMPLEXINT:
    case SAMPLEFORMAT_COMPLEXIEEEFP:
        return "complex numbers";
    default:
        return "unsigned integers";
    }
}

/* Reject valid pages without a decoder, or whose stored samples have no direct meaning. */
static int check_kind(const tiff_reader *t, int page, unsigned photometric, unsigned compression, fault *f)
{
    char what[96];
    bool jpeg = compression == COMPRESSION_JPEG;
    if (!TIFFIsCODECConfigured((uint16_t)compression) || compression == COMPRESSION_OJPEG) {
        snprintf(what, sizeof what, "compression scheme %u", compression);
        return reject(t, page, what, f);
    }
    if ((photometric == PHOTOMETRIC_YCBCR && !jpeg) || photometric == PHOTOMETRIC_LOGL ||
        photometric == PHOTOMETRIC_LOGLUV) {
        snprintf(what, sizeof what, "photometric interpretation %u with compression scheme %u", photometric,
                 compression);
        return reject(t, page, what, f);
    }
    if (field_u32(t->tif, TIFFTAG_IMAGEDEPTH) > 1) return reject(t, page, "a third dimension", f);
    return 0;
}

/* Describe the samples of libtiff's current directory; fails if unsupported. */
static int describe_page(tiff_reader *t, int page, image_layout *layout, fault *f)
{
    TIFF *tif = t->tif;
    storage *s = &t->stored;
    unsigned photometric = field_u16(tif, TIFFTAG_PHOTOMETRIC), compression = field_u16(tif, TIFFTAG_COMPRESSION);
    unsigned format = field_u16(tif, TIFFTAG_SAMPLEFORMAT), channels = field_u16(tif, TIFFTAG_SAMPLESPERPIXEL);

    *layout = (image_layout){.width = field_u32(tif, TIFFTAG_IMAGEWIDTH),
                             .height = field_u32(tif, TIFFTAG_IMAGELENGTH),
                             .channels = (int)channels};
    *s = (storage){.bits = field_u16(tif, TIFFTAG_BITSPERSAMPLE),
                   .planes = channels > 1 && field_u16(tif, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE,
                   .tiled = TIFFIsTiled(tif),
                   .compressed = compression != COMPRESSION_NONE,
                   .palette = photometric == PHOTOMETRIC_PALETTE};

    if (layout->width == 0 || layout->height == 0 || channels == 0)
        return fault_set(f, EXIT_DATA, "%s: page %d has no pixels: the file is corrupt", input_name(t->image.reader.in),
                         page);
    if (check_kind(t, page, photometric, compression, f) < 0) return -1;
    if (!find_dtype(s->bits, format, &layout->dtype)) {
        char what[96];
        snprintf(what, sizeof what, "%u-bit samples of %s", s->bits, name_format(format));
        return reject(t, page, what, f);
    }
    if (photometric == PHOTOMETRIC_YCBCR) { /* in JPEG */
        if (channels != 3 || s->planes) return reject(t, page, "YCbCr samples in planes", f);
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        photometric = PHOTOMETRIC_RGB;
    }
    layout->model = find_model(tif, photometric, layout->channels);
    s->white_is_zero = photometric == PHOTOMETRIC_MINISWHITE && is_unsigned(layout->dtype);

    s->block_width = s->tiled ? field_u32(tif, TIFFTAG_TILEWIDTH) : layout->width;
    s->block_height = field_u32(tif, s->tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP);
    if (!s->tiled && s->block_height > layout->height) s->block_height = layout->height;
    if (s->block_width == 0 || s->block_height == 0) return reject(t, page, "tiles or strips of no size", f);
    s->pitch = ((uint64_t)s->block_width * (s->planes ? 1 : channels) * s->bits + 7) / 8;
    s->direct = !s->tiled && !s->compressed && field_u16(tif, TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB;

    if (s->palette) {
        if (channels != 1 || !(layout->dtype == HISTO_U8 || layout->dtype == HISTO_U16))
            return reject(t, page, "an unsupported kind of palette", f);
        if (!load_palette(t)) return reject(t, page, "a palette without colours", f);
        layout->dtype = HISTO_U8;
        layout->channels = 3;
        layout->model = CHANNELS_RGB;
    }
    s->expand = s->palette || s->bits != 8 * histo_dtype_size(layout->dtype);
    return check_blocks(t, page, layout, f);
}

/* ---- What a page says besides samples ---- */

/* Places of other directories in the file, which a copy would not have. */
static bool is_place(uint32_t tag)
{
    return tag == TIFFTAG_SUBIFD || tag == TIFFTAG_EXIFIFD || tag == TIFFTAG_GPSIFD ||
           tag == TIFFTAG_INTEROPERABILITYIFD;
}

/* A field of text, or of a counted number of values; false without memory. Others are left out. */
static bool keep_field(TIFF *tif, metadata *m, uint32_t tag)
{
    const TIFFField *known = TIFFFieldWithTag(tif, tag);
    const int readcount = known ? TIFFFieldReadCount(known) : 0;
    const void *values = NULL;
    uint32_t count = 0;
    if (!known || is_place(tag)) return true;
    const TIFFDataType type = TIFFFieldDataType(known);
    if (!TIFFFieldPassCount(known) && type == TIFF_ASCII) {
        if (!TIFFGetField(tif, tag, &values) || !values) return true;
        count = (uint32_t)strlen(values) + 1;
    } else if (TIFFFieldPassCount(known) && readcount == TIFF_VARIABLE2) {
        if (!TIFFGetField(tif, tag, &count, &values)) return true;
    } else if (TIFFFieldPassCount(known)) {
        uint16_t few = 0;
        if (!TIFFGetField(tif, tag, &few, &values)) return true;
        count = few;
    }
    const int size = TIFFFieldSetGetSize(known); /* in memory, where fractions are floats */
    if (!values || count == 0 || size < 1 || count > IMAGE_MAX_BLOCK_BYTES / (uint32_t)size) return true;
    metadata_field *more = realloc(m->fields, (size_t)(m->fields_count + 1) * sizeof *more);
    if (!more) return false;
    m->fields = more;
    metadata_field *made = &more[m->fields_count];
    *made = (metadata_field){.tag = tag, .type = (int)type, .readcount = readcount, .count = count, .size = size};
    if (!metadata_keep(&made->values, values, (size_t)count * (size_t)size)) return false;
    m->fields_count++;
    return true;
}

static bool keep_fields(TIFF *tif, metadata *m)
{
    uint16_t tags = (uint16_t)TIFFGetTagListCount(tif);
    for (uint16_t i = 0; i < tags; i++)
        if (!keep_field(tif, m, TIFFGetTagListEntry(tif, i))) return false;
    return true;
}

static int keep_metadata(tiff_reader *t, fault *f)
{
    TIFF *tif = t->tif;
    metadata *m = image_describe(&t->image, &t->options, f);
    if (!m) return t->options.about ? -1 : 0;
    static const resolution_unit units[] = {[RESUNIT_NONE] = RESOLUTION_NONE,
                                            [RESUNIT_INCH] = RESOLUTION_INCH,
                                            [RESUNIT_CENTIMETER] = RESOLUTION_CENTIMETER};
    const unsigned unit = field_u16(tif, TIFFTAG_RESOLUTIONUNIT);
    float across, down;
    if (unit <= RESUNIT_CENTIMETER && TIFFGetField(tif, TIFFTAG_XRESOLUTION, &across) &&
        TIFFGetField(tif, TIFFTAG_YRESOLUTION, &down)) {
        m->unit = unit ? units[unit] : RESOLUTION_NONE;
        m->resolution[0] = (double)across;
        m->resolution[1] = (double)down;
    }
    uint16_t orientation = 0, extras = 0, *kinds = NULL;
    if (TIFFGetField(tif, TIFFTAG_ORIENTATION, &orientation)) m->orientation = orientation;
    TIFFGetFieldDefaulted(tif, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    m->premultiplied = extras > 0 && kinds[0] == EXTRASAMPLE_ASSOCALPHA;
    m->compression = (int)field_u16(tif, TIFFTAG_COMPRESSION);
    uint16_t predictor = 0;
    if ((m->compression == COMPRESSION_LZW || m->compression == COMPRESSION_ADOBE_DEFLATE ||
         m->compression == COMPRESSION_DEFLATE || m->compression == COMPRESSION_ZSTD) &&
        TIFFGetField(tif, TIFFTAG_PREDICTOR, &predictor))
        m->predictor = predictor;
    const void *profile;
    uint32_t size;
    bool kept = m->orientation < 2 || exif_make(&m->exif, m->orientation);
    if (TIFFGetField(tif, TIFFTAG_ICCPROFILE, &size, &profile))
        kept = kept && metadata_keep(&m->profile, profile, size);
    if (kept && keep_fields(tif, m)) return 0;
    return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(t->image.reader.in));
}

/* ---- Pages ---- */

/* Previews of other pages, and masks, do not contain samples of their own. */
static bool is_auxiliary(tiff_reader *t, int page)
{
    return page > 0 && field_u32(t->tif, TIFFTAG_SUBFILETYPE) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK);
}

static int damaged_directory(const tiff_reader *t, int page, fault *f)
{
    char place[64];
    snprintf(place, sizeof place, "the directory of page %d", page);
    return image_damaged(&t->image, place, complaint_or(t, "the chain of directories is broken"), f);
}

static int go_to_page(tiff_reader *t, int page, fault *f)
{
    t->complaint[0] = '\0';
    if (TIFFSetDirectory(t->tif, (tdir_t)page)) return 0;
    if (page == 0 || t->complaint[0]) return damaged_directory(t, page, f);
    return fault_set(f, EXIT_USAGE, "%s has no page %d: its last page is %lld", input_name(t->image.reader.in), page,
                     (long long)TIFFNumberOfDirectories(t->tif) - 1);
}

/* Go to the next page after `page` that is not auxiliary: 1, 0 if there is none, -1. */
static int go_to_next_page(tiff_reader *t, int *page, fault *f)
{
    do {
        if (TIFFLastDirectory(t->tif)) return 0;
        t->complaint[0] = '\0';
        ++*page;
        if (!TIFFReadDirectory(t->tif)) return damaged_directory(t, *page, f);
    } while (is_auxiliary(t, *page));
    return 1;
}

/* The number of pages, as far as the chain of directories is valid. */
static int64_t count_pages(tiff_reader *t)
{
    fault broken = {0};
    int64_t pages = 1;
    for (int page = 0; go_to_next_page(t, &page, &broken) > 0;)
        pages++;
    return pages;
}

/* Rows of the current page that can be read by themselves. */
static int64_t slice_of_page(const tiff_reader *t)
{
    return t->stored.direct ? image_band_rows(&t->image) : t->stored.block_height;
}

/* Pages have slices if all have the same. */
static void find_slices(tiff_reader *t)
{
    const int64_t height = t->image.layout.height, slice = slice_of_page(t);
    if (t->image.reader.pages == 1) t->slice = slice;
    if (t->image.reader.height < 0 || slice != t->slice) t->slice = height;
    t->slices = t->image.reader.height < 0 ? 1 : (height - 1) / t->slice + 1;
}

/* Check all requested pages before reading the first: they must match. */
static int survey_pages(tiff_reader *t, fault *f)
{
    image *m = &t->image;
    image_layout layout;
    int page = t->wanted_page < 0 ? 0 : t->wanted_page, more = 1;
    if (go_to_page(t, page, f) < 0) return -1;
    for (int64_t pages = 1; more; pages++) {
        if (describe_page(t, page, &layout, f) < 0) return -1;
        if (pages > 1 && (layout.height != m->reader.height || layout.width != m->reader.width))
            m->reader.height = m->reader.width = -1;
        if (image_begin_page(m, page, &layout, f) < 0 || (pages == 1 && keep_metadata(t, f) < 0)) return -1;
        m->reader.pages = pages;
        find_slices(t);
        more = t->wanted_page < 0 ? go_to_next_page(t, &page, f) : 0;
        if (more < 0) return -1;
    }
    return 0;
}

/* 1 if there is another page, 0 at the end. */
static int begin_next_page(tiff_reader *t, fault *f)
{
    int page = t->image.page, more = 1;
    if (!t->begun) {
        int64_t from = 0;
        if (t->current >= 0 && t->current <= t->ordinal) {
            from = t->current;
        } else {
            page = t->wanted_page < 0 ? 0 : t->wanted_page;
            if (go_to_page(t, page, f) < 0) return -1;
        }
        for (; from < t->ordinal && more > 0; from++)
            more = go_to_next_page(t, &page, f);
    } else {
        more = t->wanted_page < 0 ? go_to_next_page(t, &page, f) : 0;
    }
    if (more < 1) return more;
    image_layout layout;
    if (describe_page(t, page, &layout, f) < 0 || image_begin_page(&t->image, page, &layout, f) < 0 ||
        keep_metadata(t, f) < 0)
        return -1;
    if (!t->begun) t->image.y = t->first % t->slices * t->slice;
    t->ordinal += t->begun;
    t->current = t->ordinal;
    t->begun = true;
    t->x = 0;
    return 1;
}

/* ---- Samples ---- */

/* Convert the samples of a row from libtiff's form to the layout. */
static void expand_row(const tiff_reader *t, const unsigned char *from, unsigned char *to, size_t samples)
{
    unsigned bits = t->stored.bits;
    if (t->stored.palette) {
        for (size_t i = 0; i < samples; i++) {
            unsigned index =
                bits == 16 ? ((const uint16_t *)(const void *)from)[i] : image_packed_sample(from, bits, i);
            memcpy(to + 3 * i, t->palette[index], 3);
        }
    } else if (bits < 8) {
        unsigned scale = 255 / ((1U << bits) - 1);
        for (size_t i = 0; i < samples; i++)
            to[i] = (unsigned char)(image_packed_sample(from, bits, i) * scale);
    } else {
        uint16_t *wide = (uint16_t *)(void *)to;
        for (size_t i = 0; i < samples; i++)
            wide[i] = (uint16_t)image_packed_sample(from, bits, i);
    }
}

/* Exchange black and white in the first of the row's channels. */
static void invert_row(const tiff_reader *t, unsigned char *row, size_t pixels, size_t channels)
{
    const size_t size = histo_dtype_size(t->image.layout.dtype), step = channels * size;
    const uint16_t deep = (uint16_t)((1U << (t->stored.bits & 15)) - 1); /* of 10, 12 and 14 bits */
    unsigned char mask[8];
    memset(mask, 0xFF, sizeof mask);
    if (t->stored.bits > 8 && t->stored.bits < 16) memcpy(mask, &deep, sizeof deep);
    for (size_t i = 0; i < pixels; i++)
        for (size_t k = 0; k < size; k++)
            row[i * step + k] ^= mask[k];
}

static void swap_samples(const tiff_reader *t, unsigned char *data, size_t bytes)
{
    if (!TIFFIsByteSwapped(t->tif)) return;
    void *samples = data;
    switch (t->stored.bits) {
    case 16:
        TIFFSwabArrayOfShort(samples, (tmsize_t)(bytes / 2));
        break;
    case 32:
        TIFFSwabArrayOfLong(samples, (tmsize_t)(bytes / 4));
        break;
    case 64:
        TIFFSwabArrayOfLong8(samples, (tmsize_t)(bytes / 8));
        break;
    default:
        break;
    }
}

static int damaged_row(const tiff_reader *t, int64_t y, fault *f)
{
    char place[80];
    snprintf(place, sizeof place, "row %lld of page %d", (long long)y, t->image.page);
    return image_damaged(&t->image, place, complaint_or(t, "its data is missing or ends early"), f);
}

/* Does the file give this strip or tile an offset and at least `bytes` bytes? If not, libtiff would read samples from
 * unrelated data. Only uncompressed sizes are known. */
static bool is_present(const tiff_reader *t, uint32_t block, uint64_t bytes)
{
    uint64_t size = TIFFGetStrileByteCount(t->tif, block);
    return TIFFGetStrileOffset(t->tif, block) > 0 && size > 0 && (t->stored.compressed || size >= bytes);
}

static uint32_t strip_of(const tiff_reader *t, int plane, int64_t y)
{
    int64_t height = t->stored.block_height, strips = (t->image.layout.height + height - 1) / height;
    return (uint32_t)(plane * strips + y / height);
}

/* Rows of a plane that lie one after the other in the file. */
typedef struct run {
    off_t start;
    int64_t rows; /* 0: the file has not got row y */
} run;

/* From row y on, at most `rows`. */
static run find_run(const tiff_reader *t, int plane, int64_t y, int64_t rows)
{
    const storage *s = &t->stored;
    run found = {0};
    while (found.rows < rows) {
        const int64_t at = y + found.rows, skip = at % s->block_height, left = s->block_height - skip;
        const int64_t n = left < rows - found.rows ? left : rows - found.rows;
        const uint32_t strip = strip_of(t, plane, at);
        const uint64_t begin = (uint64_t)skip * s->pitch;
        off_t start;
        if (!is_present(t, strip, begin + (uint64_t)n * s->pitch) ||
            __builtin_add_overflow(TIFFGetStrileOffset(t->tif, strip), begin, &start))
            return found;
        if (found.rows > 0 && start != found.start + (off_t)((uint64_t)found.rows * s->pitch)) return found;
        if (found.rows == 0) found.start = start;
        found.rows += n;
    }
    return found;
}

/* Read rows [y, y + rows) of a plane directly from the file. */
static int read_direct(tiff_reader *t, int plane, int64_t y, int64_t rows, unsigned char *to, fault *f)
{
    while (rows > 0) {
        const run next = find_run(t, plane, y, rows);
        const size_t bytes = (size_t)next.rows * t->stored.pitch, got = read_at(t, next.start, to, bytes);
        if (next.rows == 0 || got != bytes) return damaged_row(t, y + (int64_t)(got / t->stored.pitch), f);
        swap_samples(t, to, bytes);
        to += bytes;
        y += next.rows;
        rows -= next.rows;
    }
    return 0;
}

static int read_scanlines(tiff_reader *t, int plane, int64_t y, int64_t rows, unsigned char *to, fault *f)
{
    for (int64_t end = y + rows; y < end; y++, to += t->stored.pitch)
        if (!is_present(t, strip_of(t, plane, y), t->stored.pitch) ||
            TIFFReadScanline(t->tif, to, (uint32_t)y, (uint16_t)plane) < 0 || t->complaint[0])
            return damaged_row(t, y, f);
    return 0;
}

static int read_tile(tiff_reader *t, int plane, int64_t y, unsigned char *to, fault *f)
{
    uint32_t tile = TIFFComputeTile(t->tif, (uint32_t)t->x, (uint32_t)y, 0, (uint16_t)plane);
    tmsize_t bytes = (tmsize_t)t->stored.pitch * t->stored.block_height;
    if (is_present(t, tile, (uint64_t)bytes) && TIFFReadEncodedTile(t->tif, tile, to, bytes) == bytes &&
        !t->complaint[0])
        return 0;
    char place[96];
    snprintf(place, sizeof place, "the tile at row %lld, column %lld of page %d", (long long)y, (long long)t->x,
             t->image.page);
    return image_damaged(&t->image, place, complaint_or(t, "its data is missing or ends early"), f);
}

/* The number of rows in the next band: a row of tiles, as many rows as fit, or, for compressed planes, those of as many
 * strips as fit. */
static int64_t band_height(const tiff_reader *t)
{
    const image *m = &t->image;
    const storage *s = &t->stored;
    const bool stops = t->stop >= 0 && t->stop / t->slices == t->ordinal;
    int64_t left = (stops ? t->stop % t->slices * t->slice : m->layout.height) - m->y, rows = image_band_rows(m);
    if (s->tiled)
        rows = s->block_height;
    else if (s->planes && !s->direct)
        rows = rows < s->block_height ? s->block_height : rows - rows % s->block_height;
    return rows < left ? rows : left;
}

/* Read rows of the band: one plane, or all channels if interleaved. */
static int read_part(tiff_reader *t, int plane, int64_t rows, unsigned char *part, size_t pitch, fault *f)
{
    const storage *s = &t->stored;
    const image *m = &t->image;
    unsigned char *to = s->expand ? m->packed.data : part;
    /* Some decoders omit the end of a block without an error: never count stale memory. */
    if (!s->direct) memset(to, 0, s->pitch * (size_t)(s->tiled ? s->block_height : rows));

    t->decoding = true;
    int status = s->tiled    ? read_tile(t, plane, m->y, to, f)
                 : s->direct ? read_direct(t, plane, m->y, rows, to, f)
                             : read_scanlines(t, plane, m->y, rows, to, f);
    t->decoding = false;
    if (status < 0) return status;

    const bool inverted = s->white_is_zero && plane == 0;
    const size_t pixels = (size_t)s->block_width, channels = s->planes ? 1 : (size_t)m->layout.channels;
    for (int64_t y = 0; y < rows && (s->expand || inverted); y++) {
        unsigned char *row = part + (size_t)y * pitch;
        if (s->expand) expand_row(t, to + (size_t)y * s->pitch, row, s->palette ? pixels : pixels * channels);
        if (inverted) invert_row(t, row, pixels, channels);
    }
    return 0;
}

static int64_t unit_tiff(const reader *r)
{
    const tiff_reader *t = (const tiff_reader *)r;
    const int64_t y = t->image.y;
    if (!t->begun) return t->first;
    if (y == t->image.layout.height) return (t->ordinal + 1) * t->slices;
    return t->x == 0 && y % t->slice == 0 ? t->ordinal * t->slices + y / t->slice : -1;
}

static int next(reader *r, band *b, fault *f)
{
    tiff_reader *t = (tiff_reader *)r;
    image *m = &t->image;
    const storage *s = &t->stored;
    const selection *w = &m->selection;
    if (t->begun && t->stop >= 0 && unit_tiff(r) >= t->stop) return 0;
    if (!t->begun || m->y == m->layout.height) {
        int more = begin_next_page(t, f);
        if (more < 1) return more;
    }

    int64_t rows = band_height(t), block_rows = s->tiled ? s->block_height : rows;
    int parts = s->planes ? w->count : 1, channels = s->planes ? 1 : m->layout.channels;
    size_t pitch = (size_t)s->block_width * (size_t)channels * histo_dtype_size(m->layout.dtype);
    size_t part_bytes = pitch * (size_t)block_rows;
    if ((size_t)parts > IMAGE_MAX_WHOLE_BYTES / part_bytes)
        return fault_set(f, EXIT_DATA, "%s: %d planes of %zu bytes at once are too much: choose fewer with --channel",
                         input_name(r->in), parts, part_bytes);
    if (image_reserve(m, &m->rows, part_bytes * (size_t)parts, f) < 0) return -1;
    if (s->expand && image_reserve(m, &m->packed, s->pitch * (size_t)block_rows, f) < 0) return -1;

    int64_t cols = m->layout.width - t->x < s->block_width ? m->layout.width - t->x : s->block_width;
    t->complaint[0] = '\0';
    for (int i = 0; i < parts; i++) {
        static const int only = 0;
        unsigned char *part = m->rows.data + (size_t)i * part_bytes;
        if (read_part(t, s->planes ? w->wanted[i] : 0, rows, part, pitch, f) < 0) return -1;
        reader_interleaved_views(w->views + i, s->planes ? &only : w->wanted, s->planes ? 1 : w->count, part,
                                 m->layout.dtype, channels, rows, cols, (int64_t)pitch);
    }
    *b = (band){.page = m->page, .y = m->y, .x = t->x, .rows = rows, .cols = cols, .views = w->views};
    t->x += s->block_width;
    if (t->x >= m->layout.width) {
        t->x = 0;
        m->y += rows;
    }
    return 1;
}

static int rewind_tiff(reader *r, fault *f)
{
    (void)f;
    tiff_reader *t = (tiff_reader *)r;
    t->begun = false;
    t->ordinal = t->first = 0;
    t->current = t->stop = -1;
    return 0;
}

static int take_slices(reader *r, int64_t first, int64_t end, fault *f)
{
    (void)f;
    tiff_reader *t = (tiff_reader *)r;
    t->begun = false;
    t->ordinal = first / t->slices;
    t->first = first;
    t->stop = end;
    return 0;
}

static void close_tiff(reader *r)
{
    tiff_reader *t = (tiff_reader *)r;
    if (t->tif) TIFFClose(t->tif);
    if (t->fd >= 0) close(t->fd);
    image_destroy(&t->image);
}

static int open_library(tiff_reader *t, fault *f)
{
    input *in = t->image.reader.in;
    const char *path = input_path(in, f);
    if (!path) return -1;
    t->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (t->fd < 0) return fault_set(f, EXIT_DATA, "%s: cannot be opened: %s", input_name(in), strerror(errno));

    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(in));
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, IMAGE_MAX_WHOLE_BYTES);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, t);
    /* m: no memory mapping, which would kill the process if the file shrinks. */
    t->tif = TIFFClientOpenExt(input_name(in), "rm", t, read_on, reject_write, seek_to, leave_open, file_size, NULL,
                               NULL, options);
    TIFFOpenOptionsFree(options);
    return t->tif ? 0
                  : image_damaged(&t->image, "the TIFF header or first directory",
                                  complaint_or(t, "its data is missing or ends early"), f);
}

reader *tiff_open(input *in, const read_options *options, fault *f)
{
    tiff_reader *t = image_create(sizeof *t, &reader_tiff, in, f);
    if (!t) return NULL;
    reader *r = &t->image.reader;
    r->next = next;
    r->rewind = rewind_tiff;
    r->close = close_tiff;
    t->fd = -1;
    t->options = *options;
    t->wanted_page = options->page;
    t->current = t->stop = -1;
    if (open_library(t, f) == 0 && survey_pages(t, f) == 0) {
        int64_t pages = options->has_page ? 1 : count_pages(t);
        r->pages_in_file = pages > 1 ? pages : 0;
        r->units = r->pages * t->slices;
        r->take = take_slices;
        r->unit = unit_tiff;
        return r;
    }
    close_tiff(r);
    return NULL;
}
