/* JPEG 2000 blocks within other formats. */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <openjpeg.h>
#include <stdio.h>
#include <string.h>

#include "input/readers/images/jp2_block.h"

static double number_big(const unsigned char *at)
{
    return 0x1p24 * at[0] + 0x1p16 * at[1] + 0x1p8 * at[2] + at[3];
}

typedef struct memory {
    const unsigned char *data;
    size_t size, position;
} memory;

static OPJ_SIZE_T read_on(void *to, OPJ_SIZE_T size, void *user)
{
    memory *m = user;
    const size_t left = m->size - m->position, got = size < left ? size : left;
    if (got == 0) return (OPJ_SIZE_T)-1;
    memcpy(to, m->data + m->position, got);
    m->position += got;
    return got;
}

static OPJ_BOOL seek_to(OPJ_OFF_T to, void *user)
{
    memory *m = user;
    if (to < 0 || (OPJ_UINT64)to > m->size) return OPJ_FALSE;
    m->position = (size_t)to;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T bytes, void *user)
{
    memory *m = user;
    return bytes >= 0 && (OPJ_UINT64)bytes <= m->size - m->position && seek_to((OPJ_OFF_T)m->position + bytes, m)
               ? bytes
               : -1;
}

static void on_error(const char *message, void *user)
{
    char *complaint = user;
    if (complaint[0]) return;
    snprintf(complaint, JP2_COMPLAINT_BYTES, "%s", message);
    complaint[strcspn(complaint, "\n")] = '\0';
}

static void on_message(const char *message, void *user)
{
    (void)message;
    (void)user;
}

/* Whether the header claims at most the block, and few tiles. OpenJPEG allocates all of them before it reads the
 * first. */
static bool fits(const unsigned char *data, size_t size, const jp2_block *block)
{
    enum { SIZ_BYTES = 42, MOST_TILES = 1024 };
    const unsigned char *at = memmem(data, size, "\xff\x4f\xff\x51", 4);
    if (!at || size - (size_t)(at - data) < SIZ_BYTES) return false;
    const double right = number_big(at + 8), bottom = number_big(at + 12), left = number_big(at + 16),
                 top = number_big(at + 20), tile_width = number_big(at + 24), tile_height = number_big(at + 28);
    const int channels = at[40] << 8 | at[41];
    return channels == block->channels && right > left && bottom > top && tile_width > 0 && tile_height > 0 &&
           right - left <= (double)block->width && bottom - top <= (double)block->most_rows &&
           ceil(right / tile_width) * ceil(bottom / tile_height) <= MOST_TILES;
}

/* The sample of a component at a position in the block; chroma may be subsampled. */
static int sample_at(const opj_image_comp_t *from, const opj_image_comp_t *first, int64_t x, int64_t y)
{
    const int64_t own_x = x * (int64_t)first->dx / (int64_t)from->dx,
                  own_y = y * (int64_t)first->dy / (int64_t)from->dy;
    const int64_t at_x = own_x < (int64_t)from->w ? own_x : (int64_t)from->w - 1;
    const int64_t at_y = own_y < (int64_t)from->h ? own_y : (int64_t)from->h - 1;
    return from->data[at_y * (int64_t)from->w + at_x];
}

static int clamp(double value, int most)
{
    return value < 0 ? 0 : value > most ? most : (int)rint(value);
}

/* Convert luma and chroma to red, green and blue (JFIF). */
static void to_rgb(int pixel[3], int most)
{
    const double y = pixel[0], middle = (most + 1) / 2, cb = pixel[1] - middle, cr = pixel[2] - middle;
    pixel[0] = clamp(y + 1.402 * cr, most);
    pixel[1] = clamp(y - 0.344136286201022 * cb - 0.714136286201022 * cr, most);
    pixel[2] = clamp(y + 1.772 * cb, most);
}

static void copy(const opj_image_t *of, const jp2_block *block, void *to)
{
    const opj_image_comp_t *first = &of->comps[0];
    const int most = (1 << first->prec) - 1;
    const int64_t rows = block->height < (int64_t)first->h ? block->height : (int64_t)first->h;
    const int64_t cols = block->width < (int64_t)first->w ? block->width : (int64_t)first->w;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < cols; x++)
            for (int c = 0; c < block->channels; c += block->luma ? 3 : 1) {
                const int64_t at = (y * block->width + x) * block->channels + c;
                int pixel[3] = {0};
                for (int k = 0; k < (block->luma ? 3 : 1); k++)
                    pixel[k] = sample_at(&of->comps[c + k], first, x, y);
                if (block->luma) to_rgb(pixel, most);
                for (int k = 0; k < (block->luma ? 3 : 1); k++)
                    if (block->dtype == HISTO_U8)
                        ((uint8_t *)to)[at + k] = (uint8_t)pixel[k];
                    else
                        ((uint16_t *)to)[at + k] = (uint16_t)pixel[k];
            }
}

static const char *check(const opj_image_t *of, const jp2_block *block)
{
    for (OPJ_UINT32 c = 0; c < of->numcomps; c++) {
        const opj_image_comp_t *own = &of->comps[c];
        if (!own->data || own->w < 1 || own->h < 1) return "a channel is missing";
        if (own->sgnd || own->prec > 8 * histo_dtype_size(block->dtype)) return "its samples are of another type";
        if (!block->luma && (own->dx != of->comps[0].dx || own->dy != of->comps[0].dy))
            return "its channels have different sizes";
    }
    return NULL;
}

bool jp2_decode_block(const unsigned char *data, size_t size, const jp2_block *block, void *to,
                      char complaint[JP2_COMPLAINT_BYTES])
{
    memory m = {.data = data, .size = size};
    const bool bare = size > 4 && memcmp(data, "\xff\x4f\xff\x51", 4) == 0;
    opj_codec_t *codec = opj_create_decompress(bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    opj_stream_t *stream = opj_stream_create(1 << 16, OPJ_TRUE);
    opj_image_t *decoded = NULL;
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    complaint[0] = '\0';
    bool done = fits(data, size, block);
    if (!done) on_error("it has another size, or other channels, than the file says", complaint);
    done = done && codec && stream && opj_setup_decoder(codec, &parameters);
    if (done) {
        opj_set_error_handler(codec, on_error, complaint);
        opj_set_warning_handler(codec, on_message, NULL);
        opj_set_info_handler(codec, on_message, NULL);
        opj_stream_set_user_data(stream, &m, NULL);
        opj_stream_set_user_data_length(stream, size);
        opj_stream_set_read_function(stream, read_on);
        opj_stream_set_skip_function(stream, skip);
        opj_stream_set_seek_function(stream, seek_to);
        done = opj_read_header(stream, codec, &decoded);
    }
    done = done && opj_decode(codec, stream, decoded) && decoded->numcomps == (OPJ_UINT32)block->channels;
    const char *wrong = done ? check(decoded, block) : NULL;
    if (wrong) on_error(wrong, complaint);
    if (!done && !complaint[0]) on_error("it ends early", complaint);
    done = done && !wrong;
    if (done) copy(decoded, block, to);
    opj_image_destroy(decoded);
    if (codec) opj_destroy_codec(codec);
    if (stream) opj_stream_destroy(stream);
    return done;
}
