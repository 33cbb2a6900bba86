/* What a page contains, and whether it can be read. */
#include <stdio.h>
#include <string.h>

#include "modules/tiff/tiff.h"

unsigned tiff_field_u16(TIFF *tif, uint32_t tag)
{
    uint16_t value = 0;
    return TIFFGetFieldDefaulted(tif, tag, &value) ? value : 0;
}

uint32_t tiff_field_u32(TIFF *tif, uint32_t tag)
{
    uint32_t value = 0;
    return TIFFGetFieldDefaulted(tif, tag, &value) ? value : 0;
}

unsigned tiff_predictor(TIFF *tif)
{
    const unsigned compression = tiff_field_u16(tif, TIFFTAG_COMPRESSION);
    uint16_t value = 0;
    const bool has_one = compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE ||
                         compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ZSTD;
    return has_one && TIFFGetField(tif, TIFFTAG_PREDICTOR, &value) ? value : 0;
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
        return channels == 4 && tiff_field_u16(tif, TIFFTAG_INKSET) == INKSET_CMYK ? CHANNELS_CMYK : CHANNELS_PLAIN;
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
    int64_t sample = (int64_t)histo_dtype_size(s->dtype);
    int64_t expanded = s->block_width * (s->planes ? 1 : layout->channels) * sample;
    int64_t limit = s->tiled ? IMAGE_MAX_BLOCK_BYTES : IMAGE_MAX_WHOLE_BYTES;
    bool by_block = s->tiled || s->jp2 || (s->planes && !s->direct);
    if (by_block && (expanded > limit || s->block_height > limit / expanded))
        return fault_set(f, EXIT_DATA,
                         "%s: page %d claims %s of %lld x %lld pixels, more than the limit of %lld MiB: "
                         "save it in smaller ones, or check that the file is not corrupt",
                         input_name(t->image.reader.in), page, s->tiled ? "tiles" : "strips", (long long)s->block_width,
                         (long long)s->block_height, (long long)limit >> 20);
    if (s->jp2) return 0; /* libtiff only reads the bytes of blocks */
    uint64_t theirs = s->tiled ? TIFFTileRowSize64(t->tif) : TIFFScanlineSize64(t->tif);
    if (theirs != s->pitch) return reject(t, page, "an unsupported row layout", f);
    return 0;
}

/* JPEG 2000, as written by Aperio and others. */
static bool is_jp2(unsigned compression)
{
    enum { APERIO_YCC = 33003, APERIO_RGB = 33005, JP2000 = 34712 };
    return compression == APERIO_YCC || compression == APERIO_RGB || compression == JP2000;
}

/* Find its decoder. */
static int find_jp2(tiff_reader *t, int page, unsigned photometric, unsigned compression, const image_layout *layout,
                    fault *f)
{
    storage *s = &t->stored;
    s->jp2 = is_jp2(compression);
    if (!s->jp2) return 0;
    if (s->planes || s->palette || (s->dtype != HISTO_U8 && s->dtype != HISTO_U16) || s->bits < 8)
        return reject(t, page, "JPEG 2000 of planes, palettes or such samples", f);
    s->jp2_luma = layout->channels == 3 && (compression == 33003 || photometric == PHOTOMETRIC_YCBCR);
    s->strips = !s->tiled;
    s->expand = false;
    s->differenced = false;
    s->pitch = (size_t)s->block_width * (size_t)layout->channels * histo_dtype_size(s->dtype);
    if (!t->decode_jp2) t->decode_jp2 = jp2_decode_block;
    if (!t->decode_jp2)
        t->decode_jp2 =
            (jp2_decode_block_function *)module_symbol("jp2", "jp2_decode_block", input_name(t->image.reader.in), f);
    return t->decode_jp2 ? 0 : -1;
}

static const char *name_format(unsigned format)
{
    static const char *const names[] = {[SAMPLEFORMAT_INT] = "signed integers",
                                        [SAMPLEFORMAT_IEEEFP] = "floating point",
                                        [SAMPLEFORMAT_COMPLEXINT] = "complex numbers",
                                        [SAMPLEFORMAT_COMPLEXIEEEFP] = "complex numbers"};
    return format < sizeof names / sizeof *names && names[format] ? names[format] : "unsigned integers";
}

/* Reject valid pages without a decoder, or whose stored samples have no direct meaning. */
static int check_kind(const tiff_reader *t, int page, unsigned photometric, unsigned compression, fault *f)
{
    char what[96];
    bool jpeg = compression == COMPRESSION_JPEG;
    if ((!TIFFIsCODECConfigured((uint16_t)compression) && !is_jp2(compression)) || compression == COMPRESSION_OJPEG) {
        snprintf(what, sizeof what, "compression scheme %u", compression);
        return reject(t, page, what, f);
    }
    if ((photometric == PHOTOMETRIC_YCBCR && !jpeg && !is_jp2(compression)) || photometric == PHOTOMETRIC_LOGL ||
        photometric == PHOTOMETRIC_LOGLUV) {
        snprintf(what, sizeof what, "photometric interpretation %u with compression scheme %u", photometric,
                 compression);
        return reject(t, page, what, f);
    }
    if (tiff_field_u32(t->tif, TIFFTAG_IMAGEDEPTH) > 1) return reject(t, page, "a third dimension", f);
    return 0;
}

static bool has_differences(const tiff_reader *t)
{
    const unsigned bits = t->stored.bits;
    const bool whole_bytes = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    return t->adds_up || (whole_bytes && tiff_predictor(t->tif) == PREDICTOR_HORIZONTAL);
}

int tiff_describe_page(tiff_reader *t, int page, image_layout *layout, fault *f)
{
    TIFF *tif = t->tif;
    storage *s = &t->stored;
    unsigned photometric = tiff_field_u16(tif, TIFFTAG_PHOTOMETRIC),
             compression = tiff_field_u16(tif, TIFFTAG_COMPRESSION);
    unsigned format = tiff_field_u16(tif, TIFFTAG_SAMPLEFORMAT),
             channels = tiff_field_u16(tif, TIFFTAG_SAMPLESPERPIXEL);

    *layout = (image_layout){.width = tiff_field_u32(tif, TIFFTAG_IMAGEWIDTH),
                             .height = tiff_field_u32(tif, TIFFTAG_IMAGELENGTH),
                             .channels = (int)channels};
    *s = (storage){.bits = tiff_field_u16(tif, TIFFTAG_BITSPERSAMPLE),
                   .planes = channels > 1 && tiff_field_u16(tif, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE,
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
    bool ycc = false;
    if (photometric == PHOTOMETRIC_YCBCR) { /* in JPEG and JPEG 2000 */
        if (channels != 3 || s->planes) return reject(t, page, "YCbCr samples in planes", f);
        if (!is_jp2(compression)) TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        ycc = true;
        photometric = PHOTOMETRIC_RGB;
    }
    layout->model = find_model(tif, photometric, layout->channels);
    s->white_is_zero = photometric == PHOTOMETRIC_MINISWHITE && is_unsigned(layout->dtype);

    s->block_width = s->tiled ? tiff_field_u32(tif, TIFFTAG_TILEWIDTH) : layout->width;
    s->block_height = tiff_field_u32(tif, s->tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP);
    if (!s->tiled && s->block_height > layout->height) s->block_height = layout->height;
    if (s->block_width == 0 || s->block_height == 0) return reject(t, page, "tiles or strips of no size", f);
    s->pitch = ((uint64_t)s->block_width * (s->planes ? 1 : channels) * s->bits + 7) / 8;
    s->direct = !s->tiled && !s->compressed && tiff_field_u16(tif, TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB;

    s->strips = !s->tiled && !s->direct && s->pitch <= IMAGE_BAND_BYTES / (size_t)s->block_height;
    s->differenced = has_differences(t);

    if (s->palette) {
        if (channels != 1 || !(layout->dtype == HISTO_U8 || layout->dtype == HISTO_U16))
            return reject(t, page, "an unsupported kind of palette", f);
        if (!load_palette(t)) return reject(t, page, "a palette without colours", f);
        layout->dtype = HISTO_U8;
        layout->channels = 3;
        layout->model = CHANNELS_RGB;
    }
    s->dtype = layout->dtype;
    s->expand = s->palette || s->bits != 8 * histo_dtype_size(s->dtype);
    if (find_jp2(t, page, ycc ? PHOTOMETRIC_YCBCR : photometric, compression, layout, f) != 0) return -1;
    return check_blocks(t, page, layout, f);
}
