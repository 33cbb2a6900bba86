/* JPEG 2000 images by OpenJPEG: JP2 files and codestreams of 1 to 32 bits, signed and unsigned, with any channels. 1, 2
 * and 4 bits are scaled to 8. OpenJPEG decodes complete tiles, to 32 bits: bands are rows of a tile. Subsampled
 * channels, as of YCbCr, stay so; an image with such channels is one band. */
#include <math.h>
#include <openjpeg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "input/readers/images/paged.h"

enum { STREAM_BYTES = 1 << 20, MOST_CHANNELS = 4096, MOST_THREADS = 16 };

typedef struct jp2_reader {
    paged paged; /* must be first */
    int64_t size;
    int64_t position; /* OpenJPEG's position in the file */
    opj_stream_t *stream;
    opj_codec_t *codec;
    opj_image_t *decoded; /* the tile, or the whole image */
    int64_t tile;         /* in `decoded`; -1: none */
    int64_t tiles;
    int64_t row;                /* of the tile: the next to deliver */
    int64_t origin_x, origin_y; /* of the image, in samples of the first channel */
    channel_step *steps;        /* [channels]; NULL: all are 1 */
    char complaint[160];        /* OpenJPEG's first message */
    fault *fault;               /* of the current call; else NULL */
} jp2_reader;

static void on_error(const char *message, void *user)
{
    jp2_reader *j = user;
    if (j->complaint[0]) return;
    snprintf(j->complaint, sizeof j->complaint, "%s", message);
    j->complaint[strcspn(j->complaint, "\n")] = '\0';
}

static void on_message(const char *message, void *user)
{
    (void)message;
    (void)user;
}

static OPJ_SIZE_T read_on(void *to, OPJ_SIZE_T size, void *user)
{
    jp2_reader *j = user;
    int64_t got = input_read_at(j->paged.image.reader.in, j->position, to, size, j->fault);
    if (got <= 0) return (OPJ_SIZE_T)-1;
    j->position += got;
    return (OPJ_SIZE_T)got;
}

static OPJ_BOOL seek_to(OPJ_OFF_T to, void *user)
{
    jp2_reader *j = user;
    if (to < 0 || to > j->size) return OPJ_FALSE;
    j->position = to;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T bytes, void *user)
{
    jp2_reader *j = user;
    return bytes >= 0 && bytes <= j->size - j->position && seek_to(j->position + bytes, j) ? bytes : -1;
}

static int damaged(jp2_reader *j, const char *place, fault *f)
{
    if (f->status != EXIT_OK) return -1; /* the file could not be read */
    return image_damaged(&j->paged.image, place, j->complaint[0] ? j->complaint : "it ends early", f);
}

static uint64_t number_big(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* Find the beginning of the codestream, inside the boxes of JP2. */
static int64_t find_codestream(jp2_reader *j, fault *f)
{
    unsigned char box[16]; /* its size, its type, and its size again if that has 64 bits */
    for (int64_t at = 0; at < j->size;) {
        const int64_t got = input_read_at(j->paged.image.reader.in, at, box, sizeof box, f);
        if (got < 8) return -1;
        if (memcmp(box, "\xff\x4f\xff\x51", 4) == 0) return at;
        uint64_t bytes = number_big(box, 4);
        const bool is_long = bytes == 1;
        if (is_long) bytes = number_big(box + 8, 8);
        if (memcmp(box + 4, "jp2c", 4) == 0) return at + (is_long ? 16 : 8);
        if (bytes < 8 || bytes > (uint64_t)(j->size - at)) return -1;
        at += (int64_t)bytes;
    }
    return -1;
}

/* OpenJPEG allocates all tiles and channels that the header claims before it reads the first. */
static int check_tiles(jp2_reader *j, fault *f)
{
    enum { TILE_BYTES = 6000, TILE_CHANNEL_BYTES = 1100 };
    unsigned char size[42]; /* the markers SOC and SIZ */
    const int64_t at = find_codestream(j, f);
    if (at < 0 || input_read_at(j->paged.image.reader.in, at, size, sizeof size, f) < (int64_t)sizeof size)
        return f->status != EXIT_OK ? -1 : damaged(j, "the header", f);
    const uint64_t right = number_big(size + 8, 4), bottom = number_big(size + 12, 4),
                   tile_width = number_big(size + 24, 4), tile_height = number_big(size + 28, 4),
                   left = number_big(size + 32, 4), top = number_big(size + 36, 4), channels = number_big(size + 40, 2);
    if (right <= left || bottom <= top || !tile_width || !tile_height) return damaged(j, "the header", f);
    const double tiles =
        ceil((double)(right - left) / (double)tile_width) * ceil((double)(bottom - top) / (double)tile_height);
    return fault_beyond_file(f, tiles * (TILE_BYTES + TILE_CHANNEL_BYTES * (double)channels), j->size,
                             input_name(j->paged.image.reader.in), "save it with fewer tiles");
}

static int start_library(jp2_reader *j, fault *f)
{
    paged *p = &j->paged;
    unsigned char magic[4] = {0};
    j->size = input_random(p->image.reader.in, f);
    if (j->size < 0 || input_read_at(p->image.reader.in, 0, magic, sizeof magic, f) < 0) return -1;
    if (check_tiles(j, f) != 0) return -1;
    j->codec = opj_create_decompress(magic[0] == 0xFF ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    j->stream = opj_stream_create(STREAM_BYTES, OPJ_TRUE);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    if (!j->codec || !j->stream || !opj_setup_decoder(j->codec, &parameters))
        return fault_set(f, EXIT_DATA, "%s: OpenJPEG cannot start", input_name(p->image.reader.in));
    opj_set_error_handler(j->codec, on_error, j);
    opj_set_warning_handler(j->codec, on_message, j);
    opj_set_info_handler(j->codec, on_message, j);
    const int cpus = opj_get_num_cpus();
    opj_codec_set_threads(j->codec, cpus < MOST_THREADS ? cpus : MOST_THREADS);
    opj_stream_set_user_data(j->stream, j, NULL);
    opj_stream_set_user_data_length(j->stream, (OPJ_UINT64)j->size);
    opj_stream_set_read_function(j->stream, read_on);
    opj_stream_set_skip_function(j->stream, skip);
    opj_stream_set_seek_function(j->stream, seek_to);
    return opj_read_header(j->stream, j->codec, &j->decoded) ? 0 : damaged(j, "the header", f);
}

/* ---- Tiles ---- */

static int decode_tile(jp2_reader *j, int64_t tile, fault *f)
{
    if (j->tile == tile) return 0;
    j->tile = -1;
    j->fault = f;
    j->complaint[0] = '\0';
    /* Only this call reads channels of different sizes, and palettes. */
    const bool done = j->tiles == 1 ? opj_decode(j->codec, j->stream, j->decoded)
                                    : opj_get_decoded_tile(j->codec, j->stream, j->decoded, (OPJ_UINT32)tile);
    char place[64];
    snprintf(place, sizeof place, j->tiles == 1 ? "the image" : "tile %lld of %lld", (long long)tile,
             (long long)j->tiles);
    if (!done) return damaged(j, place, f);
    for (OPJ_UINT32 c = 0; c < j->decoded->numcomps; c++)
        if (!j->decoded->comps[c].data) return damaged(j, place, f);
    j->tile = tile;
    return 0;
}

/* ---- Describing the image ---- */

static histo_dtype dtype_of(const opj_image_t *of)
{
    bool is_signed = false;
    OPJ_UINT32 bits = 0;
    for (OPJ_UINT32 c = 0; c < of->numcomps; c++) {
        const OPJ_UINT32 own = of->comps[c].prec;
        if (own > bits) bits = own;
        is_signed |= of->comps[c].sgnd != 0;
    }
    if (is_signed) return bits <= 8 ? HISTO_I8 : bits <= 16 ? HISTO_I16 : HISTO_I32;
    return bits <= 8 ? HISTO_U8 : bits <= 16 ? HISTO_U16 : HISTO_U32;
}

static bool is_ycc(const opj_image_t *of)
{
    return of->color_space == OPJ_CLRSPC_SYCC || of->color_space == OPJ_CLRSPC_EYCC;
}

static channel_model model_of(const opj_image_t *of)
{
    const bool alpha = of->comps[of->numcomps - 1].alpha == 1 || of->comps[of->numcomps - 1].alpha == 2;
    switch (of->numcomps) {
    case 1:
        return CHANNELS_GRAY;
    case 2:
        return alpha ? CHANNELS_GRAY_ALPHA : CHANNELS_PLAIN;
    case 3:
        return is_ycc(of) ? CHANNELS_PLAIN : CHANNELS_RGB;
    case 4:
        return of->color_space == OPJ_CLRSPC_CMYK ? CHANNELS_CMYK : alpha ? CHANNELS_RGBA : CHANNELS_PLAIN;
    default:
        return CHANNELS_PLAIN;
    }
}

/* Find the names of channels, and their subsampling. */
static int describe_channels(jp2_reader *j, fault *f)
{
    paged *p = &j->paged;
    const opj_image_t *of = j->decoded;
    const opj_image_comp_t *first = of->comps;
    static const char *const luma_and_chroma[] = {"y", "cb", "cr"};
    if (of->numcomps == 3 && is_ycc(of)) p->image.reader.names = luma_and_chroma;
    bool alike = true;
    for (OPJ_UINT32 c = 1; c < of->numcomps; c++)
        alike = alike && of->comps[c].dx == first->dx && of->comps[c].dy == first->dy;
    if (alike) return 0;
    if (!(j->steps = arena_take(&p->image.reader.memory, of->numcomps, sizeof *j->steps)))
        return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(p->image.reader.in));
    for (OPJ_UINT32 c = 0; c < of->numcomps; c++) {
        const opj_image_comp_t *own = &of->comps[c];
        const OPJ_UINT32 x = own->dx / first->dx, y = own->dy / first->dy;
        if (j->tiles > 1 || own->dx % first->dx || own->dy % first->dy || own->w != (first->w + x - 1) / x ||
            own->h != (first->h + y - 1) / y)
            return paged_unsupported(p, "channels of different sizes", f);
        j->steps[c] = (channel_step){.x = (int)x, .y = (int)y};
    }
    p->image.reader.steps = j->steps;
    return 0;
}

/* A position on the reference grid, in samples of the first channel. */
static int64_t place_of(OPJ_UINT32 at, OPJ_UINT32 step)
{
    return (at + (int64_t)step - 1) / step;
}

static int check_header(jp2_reader *j, fault *f)
{
    paged *p = &j->paged;
    const opj_image_t *of = j->decoded;
    opj_codestream_info_v2_t *info = opj_get_cstr_info(j->codec);
    if (!info || of->numcomps < 1 || of->numcomps > MOST_CHANNELS || info->tw < 1 || info->th < 1) {
        opj_destroy_cstr_info(&info);
        return damaged(j, "the header", f);
    }
    j->tiles = (int64_t)info->tw * info->th;
    image_layout tile = {.width = info->tdx, .height = info->tdy};
    opj_destroy_cstr_info(&info);
    j->origin_x = place_of(of->x0, of->comps[0].dx);
    j->origin_y = place_of(of->y0, of->comps[0].dy);
    j->paged.layout = (image_layout){.channels = (int)of->numcomps,
                                     .dtype = dtype_of(of),
                                     .width = place_of(of->x1, of->comps[0].dx) - j->origin_x,
                                     .height = place_of(of->y1, of->comps[0].dy) - j->origin_y};
    if (tile.width > j->paged.layout.width) tile.width = j->paged.layout.width;
    if (tile.height > j->paged.layout.height) tile.height = j->paged.layout.height;
    tile.channels = j->paged.layout.channels;
    tile.dtype = j->paged.layout.dtype;
    return paged_check_memory(p, &tile, 8 * (int64_t)of->numcomps, f); /* transforms in 32 bits, and the result */
}

static int open_jp2(paged *p, fault *f)
{
    jp2_reader *j = (jp2_reader *)p;
    j->tile = -1;
    j->fault = f;
    if (start_library(j, f) != 0 || check_header(j, f) != 0 || decode_tile(j, 0, f) != 0) return -1;
    /* Palettes and channel definitions are applied after decoding. */
    if (j->tiles > 1 && (int)j->decoded->numcomps != j->paged.layout.channels)
        return paged_unsupported(p, "a palette and tiles", f);
    j->paged.layout.channels = (int)j->decoded->numcomps;
    j->paged.layout.dtype = dtype_of(j->decoded);
    j->paged.layout.model = model_of(j->decoded);
    if (j->tiles == 1)
        p->image.reader.whole_bytes =
            j->paged.layout.width * j->paged.layout.height * j->paged.layout.channels * (int64_t)sizeof(OPJ_INT32);
    return describe_channels(j, f);
}

static bool keep(paged *p, metadata *about)
{
    const opj_image_t *of = ((const jp2_reader *)p)->decoded;
    const OPJ_UINT32 bits = of->comps[0].prec;
    if (bits > 8 && bits < 16 && !of->comps[0].sgnd) about->largest = (1 << bits) - 1;
    return of->icc_profile_len == 0 || !of->icc_profile_buf ||
           metadata_keep(&about->profile, of->icc_profile_buf, of->icc_profile_len);
}

/* ---- Samples ---- */

static int decode(paged *p, fault *f)
{
    jp2_reader *j = (jp2_reader *)p;
    j->row = 0;
    return decode_tile(j, 0, f);
}

/* Convert samples; those of 1, 2 and 4 bits to 0 … 255. */
static void convert(const opj_image_comp_t *from, size_t begin, size_t count, histo_dtype dtype, void *to)
{
    const OPJ_INT32 *in = from->data + begin;
    const bool scaled = !from->sgnd && (from->prec == 1 || from->prec == 2 || from->prec == 4) && dtype == HISTO_U8;
    const int scale = scaled ? 255 / ((1 << from->prec) - 1) : 1;
    switch (histo_dtype_size(dtype)) {
    case 1:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)to)[i] = (uint8_t)(in[i] * scale);
        break;
    case 2:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)to)[i] = (uint16_t)in[i];
        break;
    default:
        memcpy(to, in, count * sizeof *in);
    }
}

/* The next rows of the tile. */
static int band_of_tile(paged *p, band *b, fault *f)
{
    jp2_reader *j = (jp2_reader *)p;
    image *m = &p->image;
    const selection *s = &m->reader.selected;
    const opj_image_t *of = j->decoded;
    const int64_t size = (int64_t)histo_dtype_size(m->layout.dtype), width = of->comps[0].w, height = of->comps[0].h;
    if (width < 1 || height < 1) return damaged(j, "a tile", f);
    int64_t rows = IMAGE_BAND_BYTES / (width * size * s->count), left = height - j->row;
    if (rows < 1) rows = 1;
    if (rows > left || j->steps) rows = left;
    const int64_t plane = rows * width * size;
    if (image_reserve(m, &m->rows, (size_t)(plane * s->count), f) != 0) return -1;
    for (int i = 0; i < s->count; i++) {
        const opj_image_comp_t *from = &of->comps[s->wanted[i]];
        const int64_t own_rows = j->steps ? (int64_t)from->h : rows;
        if (!j->steps && ((int64_t)from->w != width || (int64_t)from->h != height)) return damaged(j, "a tile", f);
        unsigned char *to = m->rows.data + i * plane;
        convert(from, (size_t)(j->row * from->w), (size_t)(own_rows * from->w), m->layout.dtype, to);
        s->views[i] = histo_view_nd(to, m->layout.dtype, 2, (const int64_t[]){own_rows, from->w});
    }
    *b = (band){.page = m->page,
                .y = (int64_t)of->comps[0].y0 - j->origin_y + j->row,
                .x = (int64_t)of->comps[0].x0 - j->origin_x,
                .rows = rows,
                .cols = width,
                .views = s->views};
    if (b->y < 0 || b->x < 0 || b->y + rows > m->layout.height || b->x + width > m->layout.width)
        return damaged(j, "a tile", f);
    j->row += rows;
    return 1;
}

static int next_band(paged *p, band *b, fault *f)
{
    jp2_reader *j = (jp2_reader *)p;
    if (j->row == (int64_t)j->decoded->comps[0].h) {
        if (decode_tile(j, j->tile + 1, f) != 0) return -1;
        j->row = 0;
    }
    const int status = band_of_tile(p, b, f);
    if (j->tile == j->tiles - 1 && j->row == (int64_t)j->decoded->comps[0].h) p->image.y = p->image.layout.height;
    return status;
}

static void close_jp2(paged *p)
{
    jp2_reader *j = (jp2_reader *)p;
    opj_image_destroy(j->decoded);
    if (j->codec) opj_destroy_codec(j->codec);
    if (j->stream) opj_stream_destroy(j->stream);
}

const paged_format jp2_pages = {.size = sizeof(jp2_reader),
                                .open = open_jp2,
                                .keep = keep,
                                .decode = decode,
                                .band = next_band,
                                .close = close_jp2};
