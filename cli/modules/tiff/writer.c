/* TIFF images by libtiff: any dtype and number of channels, pages, the source's compression and fields; BigTIFF if 4
 * GiB may not be enough. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "base/text.h"
#include "input/samples/alpha.h"
#include "modules/tiff/tiff.h"
#include "output/images/images.h"

typedef struct tiff_file {
    image_file file;
    TIFF *tif;
    char complaint[256];
    int64_t strip_rows;
    scratch part; /* of a strip: rows received before it is complete */
    int64_t part_rows;
} tiff_file;

enum { STRIP_BYTES = 1 << 18 };

/* ---- libtiff's file access and messages ---- */

static tmsize_t read_on(thandle_t handle, void *to, tmsize_t size)
{
    FILE *out = outfile_stream(((tiff_file *)handle)->file.out);
    return (tmsize_t)fread(to, 1, (size_t)size, out);
}

static tmsize_t write_on(thandle_t handle, void *from, tmsize_t size)
{
    errno = 0;
    return (tmsize_t)fwrite(from, 1, (size_t)size, outfile_stream(((tiff_file *)handle)->file.out));
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence)
{
    FILE *out = outfile_stream(((tiff_file *)handle)->file.out);
    return fseeko(out, (off_t)offset, whence) == 0 ? (toff_t)ftello(out) : (toff_t)-1;
}

static toff_t file_size(thandle_t handle)
{
    FILE *out = outfile_stream(((tiff_file *)handle)->file.out);
    const off_t at = ftello(out);
    fseeko(out, 0, SEEK_END);
    const off_t size = ftello(out);
    fseeko(out, at, SEEK_SET);
    return (toff_t)size;
}

static int on_error(TIFF *tif, void *user, const char *module, const char *format, va_list values)
{
    (void)tif;
    (void)module;
    tiff_file *t = user;
    if (!t->complaint[0]) vsnprintf(t->complaint, sizeof t->complaint, format, values);
    return 1;
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *format, va_list values)
{
    (void)tif;
    (void)user;
    (void)module;
    (void)format;
    (void)values;
    return 1;
}

static int open_library(tiff_file *t, fault *f)
{
    const image_file *file = &t->file;
    /* Deflate and others may store slightly more than they are given. */
    const double all = (double)image_row_bytes(&file->page) * (double)file->page.height *
                       (double)(file->pages > 0 ? file->pages : 1) * 1.02;
    const bool big = all > 4.0e9 || file->pages < 0;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return image_refused(file, "there is no memory", f);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, t);
    t->tif = TIFFClientOpenExt(outfile_name(file->out), big ? "w8m" : "wm", t, read_on, write_on, seek_to,
                               tiff_leave_open, file_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return t->tif ? 0 : image_refused(file, t->complaint, f);
}

/* ---- Fields ---- */

static unsigned format_of(histo_dtype dtype)
{
    if (dtype >= HISTO_F16) return SAMPLEFORMAT_IEEEFP;
    return dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64 ? SAMPLEFORMAT_INT
                                                                                               : SAMPLEFORMAT_UINT;
}

/* How colours are stored, and how many channels follow them. */
static unsigned photometric_of(const image_page *page, int *extra)
{
    switch (page->model) {
    case CHANNELS_RGB:
    case CHANNELS_RGBA:
        *extra = page->channels - 3;
        return PHOTOMETRIC_RGB;
    case CHANNELS_CMYK:
        *extra = page->channels - 4;
        return PHOTOMETRIC_SEPARATED;
    default:
        *extra = page->channels - 1;
        return PHOTOMETRIC_MINISBLACK;
    }
}

static void set_channels(tiff_file *t)
{
    const image_page *page = &t->file.page;
    int extra;
    TIFFSetField(t->tif, TIFFTAG_PHOTOMETRIC, photometric_of(page, &extra));
    TIFFSetField(t->tif, TIFFTAG_SAMPLESPERPIXEL, (unsigned)page->channels);
    if (page->model == CHANNELS_CMYK) TIFFSetField(t->tif, TIFFTAG_INKSET, INKSET_CMYK);
    if (extra < 1 || extra > 256) return;
    uint16_t kinds[256] = {EXTRASAMPLE_UNSPECIFIED};
    if (page->model == CHANNELS_RGBA || page->model == CHANNELS_GRAY_ALPHA)
        kinds[0] = page->about && page->about->premultiplied ? EXTRASAMPLE_ASSOCALPHA : EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(t->tif, TIFFTAG_EXTRASAMPLES, extra, kinds);
}

/* Use the source's compression if it is lossless; others would lose information again. */
static void set_compression(tiff_file *t)
{
    const metadata *about = t->file.page.about;
    static const int lossless[] = {COMPRESSION_NONE,    COMPRESSION_LZW,      COMPRESSION_ADOBE_DEFLATE,
                                   COMPRESSION_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_LZMA,
                                   COMPRESSION_ZSTD};
    int compression = COMPRESSION_NONE;
    for (size_t i = 0; about && i < sizeof lossless / sizeof *lossless; i++)
        if (about->compression == lossless[i] && TIFFIsCODECConfigured((uint16_t)lossless[i]))
            compression = lossless[i];
    if (about && about->compression > 1 && compression == COMPRESSION_NONE) compression = COMPRESSION_ADOBE_DEFLATE;
    TIFFSetField(t->tif, TIFFTAG_COMPRESSION, compression);
    if (about && about->predictor > 1 && compression == about->compression) {
        const bool floats = format_of(t->file.page.dtype) == SAMPLEFORMAT_IEEEFP;
        TIFFSetField(t->tif, TIFFTAG_PREDICTOR, floats ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    }
}

static void set_field(tiff_file *t, const metadata_field *field)
{
    const TIFFField *declared = TIFFFindField(t->tif, field->tag, TIFF_ANY);
    if (!declared) {
        char name[] = "unknown";
        const TIFFFieldInfo info = {.field_tag = field->tag,
                                    .field_readcount = TIFF_VARIABLE2,
                                    .field_writecount = TIFF_VARIABLE2,
                                    .field_type = (TIFFDataType)field->type,
                                    .field_bit = FIELD_CUSTOM,
                                    .field_oktochange = 1,
                                    .field_passcount = 1,
                                    .field_name = name};
        if (TIFFMergeFieldInfo(t->tif, &info, 1) != 0) return;
        declared = TIFFFindField(t->tif, field->tag, TIFF_ANY);
    }
    if (!declared || TIFFFieldSetGetSize(declared) != field->size) return;
    if (!TIFFFieldPassCount(declared) && TIFFFieldDataType(declared) == TIFF_ASCII)
        TIFFSetField(t->tif, field->tag, field->values.data);
    else if (TIFFFieldPassCount(declared) && TIFFFieldWriteCount(declared) == TIFF_VARIABLE2)
        TIFFSetField(t->tif, field->tag, field->count, field->values.data);
    else if (TIFFFieldPassCount(declared) && field->count <= UINT16_MAX)
        TIFFSetField(t->tif, field->tag, (uint16_t)field->count, field->values.data);
}

/* Set a text, whatever the source had. */
static void set_text(tiff_file *t, uint32_t tag, char *text)
{
    const metadata_field field = {.tag = tag,
                                  .type = TIFF_ASCII,
                                  .count = (uint32_t)strlen(text) + 1,
                                  .size = 1,
                                  .values = {(unsigned char *)text, strlen(text) + 1}};
    set_field(t, &field);
}

static void set_nodata(tiff_file *t)
{
    const image_page *page = &t->file.page;
    char text[TEXT_NUMBER_BYTES];
    int64_t whole;
    if (!page->has_nodata) return;
    memcpy(&whole, page->nodata, sizeof whole);
    if (page->dtype == HISTO_I64)
        snprintf(text, sizeof text, "%" PRId64, whole);
    else if (page->dtype == HISTO_U64)
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)whole);
    else
        text_exact(histo_sample_value(page->nodata, page->dtype), text);
    set_text(t, TIFF_GDAL_NODATA, text);
}

static void set_metadata(tiff_file *t)
{
    const metadata *about = t->file.page.about;
    if (!about) return;
    static const unsigned units[] = {[RESOLUTION_NONE] = RESUNIT_NONE,
                                     [RESOLUTION_INCH] = RESUNIT_INCH,
                                     [RESOLUTION_CENTIMETER] = RESUNIT_CENTIMETER};
    if (about->resolution[0] > 0 && about->resolution[1] > 0) {
        TIFFSetField(t->tif, TIFFTAG_XRESOLUTION, about->resolution[0]);
        TIFFSetField(t->tif, TIFFTAG_YRESOLUTION, about->resolution[1]);
        TIFFSetField(t->tif, TIFFTAG_RESOLUTIONUNIT, units[about->unit]);
    }
    if (about->orientation) TIFFSetField(t->tif, TIFFTAG_ORIENTATION, about->orientation);
    for (int i = 0; i < about->fields_count; i++) {
        const metadata_field *field = &about->fields[i];
        const bool of_samples = field->tag == TIFF_GDAL_METADATA || field->tag == TIFF_GDAL_NODATA;
        if (!of_samples || !t->file.page.classes) set_field(t, field);
    }
    if (about->profile.data)
        TIFFSetField(t->tif, TIFFTAG_ICCPROFILE, (uint32_t)about->profile.size, about->profile.data);
}

static int begin(image_file *file, fault *f)
{
    tiff_file *t = (tiff_file *)file;
    const image_page *page = &file->page;
    if (!t->tif && open_library(t, f) != 0) return -1;
    const size_t pitch = image_row_bytes(page);
    const int64_t fit = (int64_t)(STRIP_BYTES / (pitch ? pitch : 1));
    TIFFSetField(t->tif, TIFFTAG_IMAGEWIDTH, (uint32_t)page->width);
    TIFFSetField(t->tif, TIFFTAG_IMAGELENGTH, (uint32_t)page->height);
    TIFFSetField(t->tif, TIFFTAG_BITSPERSAMPLE, (unsigned)(8 * histo_dtype_size(page->dtype)));
    TIFFSetField(t->tif, TIFFTAG_SAMPLEFORMAT, format_of(page->dtype));
    TIFFSetField(t->tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    t->strip_rows = fit < 1 ? 1 : fit < page->height ? fit : page->height;
    TIFFSetField(t->tif, TIFFTAG_ROWSPERSTRIP, (uint32_t)t->strip_rows);
    if (!scratch_reserve(&t->part, pitch * (size_t)t->strip_rows)) return image_refused(file, "there is no memory", f);
    set_channels(t);
    set_compression(t);
    set_metadata(t);
    set_nodata(t);
    if (file->pages > 1) TIFFSetField(t->tif, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
    return t->complaint[0] ? image_refused(file, t->complaint, f) : 0;
}

static int put_strip(tiff_file *t, int64_t y, unsigned char *rows, int64_t count, fault *f)
{
    const tmsize_t bytes = (tmsize_t)(image_row_bytes(&t->file.page) * (size_t)count);
    if (TIFFWriteEncodedStrip(t->tif, (uint32_t)(y / t->strip_rows), rows, bytes) == bytes) return 0;
    return image_refused(&t->file, t->complaint, f);
}

static bool multiplies_alpha(const image_page *page)
{
    const int channels = page->model == CHANNELS_RGBA ? 4 : page->model == CHANNELS_GRAY_ALPHA ? 2 : 0;
    return page->about && page->about->premultiplied && page->channels == channels && alpha_divides(page->dtype);
}

/* Whole strips are written directly from the rows; others are assembled first. */
static int rows(image_file *file, unsigned char *rows, int64_t count, fault *f)
{
    tiff_file *t = (tiff_file *)file;
    const image_page *page = &file->page;
    const size_t pitch = image_row_bytes(page);
    if (multiplies_alpha(page))
        alpha_multiply(rows, count * page->width, page->channels, page->dtype, page->about->largest);
    for (int64_t done = 0, n; done < count; done += n) {
        const int64_t y = file->y + done, begin = y - t->part_rows, left = file->page.height - begin;
        const int64_t strip = left < t->strip_rows ? left : t->strip_rows;
        n = count - done < strip - t->part_rows ? count - done : strip - t->part_rows;
        if (n == strip) {
            if (put_strip(t, begin, rows + (size_t)done * pitch, n, f) != 0) return -1;
            continue;
        }
        memcpy(t->part.data + (size_t)t->part_rows * pitch, rows + (size_t)done * pitch, (size_t)n * pitch);
        t->part_rows += n;
        if (t->part_rows < strip) continue;
        t->part_rows = 0;
        if (put_strip(t, begin, t->part.data, strip, f) != 0) return -1;
    }
    return 0;
}

/* Write a page that marks which pixels of the previous one are valid, as GDAL does. */
static int put_mask(tiff_file *t, fault *f)
{
    const image_file *file = &t->file;
    const image_page *page = &file->page;
    const size_t pitch = image_valid_bytes(page);
    TIFFSetField(t->tif, TIFFTAG_SUBFILETYPE, FILETYPE_MASK);
    TIFFSetField(t->tif, TIFFTAG_IMAGEWIDTH, (uint32_t)page->width);
    TIFFSetField(t->tif, TIFFTAG_IMAGELENGTH, (uint32_t)page->height);
    TIFFSetField(t->tif, TIFFTAG_BITSPERSAMPLE, 1);
    TIFFSetField(t->tif, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t->tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t->tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MASK);
    TIFFSetField(t->tif, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    const int64_t fit = STRIP_BYTES / (int64_t)pitch, rows = fit < 1 ? 1 : fit < page->height ? fit : page->height;
    TIFFSetField(t->tif, TIFFTAG_ROWSPERSTRIP, (uint32_t)rows);
    for (int64_t y = 0; y < page->height && !t->complaint[0]; y += rows) {
        const int64_t n = rows < page->height - y ? rows : page->height - y;
        TIFFWriteEncodedStrip(t->tif, (uint32_t)(y / rows), file->valid + (size_t)y * pitch,
                              (tmsize_t)((size_t)n * pitch));
    }
    return TIFFWriteDirectory(t->tif) && !t->complaint[0] ? 0 : image_refused(file, t->complaint, f);
}

static int end(image_file *file, bool last, fault *f)
{
    tiff_file *t = (tiff_file *)file;
    if (!TIFFWriteDirectory(t->tif) || t->complaint[0]) return image_refused(file, t->complaint, f);
    if (file->valid && put_mask(t, f) != 0) return -1;
    if (!last) return 0;
    TIFFClose(t->tif);
    t->tif = NULL;
    return t->complaint[0] ? image_refused(file, t->complaint, f) : 0;
}

static void close(image_file *file)
{
    tiff_file *t = (tiff_file *)file;
    if (t->tif) TIFFClose(t->tif);
    free(t->part.data);
}

const image_codec tiff_codec = {.size = sizeof(tiff_file), .begin = begin, .rows = rows, .end = end, .close = close};
