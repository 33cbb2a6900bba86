/* HEIF images by libheif: HEVC (HEIC) and AV1 (AVIF) of 8 to 16 bits, gray or as RGB, with and without alpha, oriented
 * as the file says. Page 0 is the primary image; the other top-level images follow in order. */
#define _GNU_SOURCE /* memmem */
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/images/paged.h"

enum { MOST_PAGES = 1 << 16 };

typedef struct heif_file {
    paged paged; /* must be first */
    struct heif_context *context;
    heif_item_id *ids; /* [pages] */
    bool gray;
    struct heif_image_handle *handle; /* of the current page */
    struct heif_image *decoded;
} heif_file;

static int fail(const heif_file *h, int page, struct heif_error error, fault *f)
{
    if (error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype)
        return paged_unsupported(&h->paged, error.message, f);
    return paged_damaged(&h->paged, page, error.message, f);
}

/* ---- What libheif reveals only after decoding: whether images are gray ---- */

static uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The contents of the `meta` box; NULL if there is none. */
static const unsigned char *find_meta(const paged *p, size_t *size)
{
    for (size_t at = 0; at + 8 <= p->size;) {
        const size_t length = word_at(p->bytes + at), left = p->size - at;
        if (memcmp(p->bytes + at + 4, "meta", 4) == 0) {
            *size = length >= 8 && length < left ? length : left;
            return p->bytes + at;
        }
        if (length < 8 || length > left) return NULL;
        at += length;
    }
    return NULL;
}

/* Whether no decoder, of an image or an alpha channel, is configured for chroma. */
static bool is_gray(const paged *p)
{
    size_t size = 0;
    const unsigned char *meta = find_meta(p, &size);
    bool gray = false;
    for (size_t at = 0; meta && at + 21 <= size; at++) {
        const unsigned char *contents = meta + at + 4; /* after a box's name */
        if (memcmp(meta + at, "av1C", 4) == 0)
            gray = contents[2] & 0x10;
        else if (memcmp(meta + at, "hvcC", 4) == 0)
            gray = (contents[16] & 3) == 0;
        else
            continue;
        if (!gray) return false;
    }
    return gray;
}

/* The number of frames of a sequence (animated AVIF), as many as the first track has samples; libheif reads the image
 * that other programs show. */
static int64_t count_frames(const paged *p)
{
    uint64_t at = 0, bytes;
    for (; p->size - at >= 8; at += bytes) {
        const unsigned char *box = p->bytes + at;
        bytes = word_at(box);
        if (bytes < 8 || bytes > p->size - at) return 0;
        if (memcmp(box + 4, "moov", 4) != 0) continue;
        const unsigned char *sizes = memmem(box, bytes, "stsz", 4);
        if (!sizes || bytes - (uint64_t)(sizes - box) < 16) return 0;
        return word_at(sizes + 12);
    }
    return 0;
}

/* ---- Pages ---- */

static int list_pages(heif_file *h, fault *f)
{
    paged *p = &h->paged;
    const int count = heif_context_get_number_of_top_level_images(h->context);
    if (count < 1 || count > MOST_PAGES) return paged_damaged(p, 0, "it has no image", f);
    if (!(h->ids = arena_take(&p->image.reader.memory, (size_t)count, sizeof *h->ids)))
        return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(p->image.reader.in));
    p->pages = heif_context_get_list_of_top_level_image_IDs(h->context, h->ids, count);
    heif_item_id primary;
    if (heif_context_get_primary_image_ID(h->context, &primary).code != heif_error_Ok) return 0;
    for (int64_t i = 1; i < p->pages; i++)
        if (h->ids[i] == primary) {
            memmove(h->ids + 1, h->ids, (size_t)i * sizeof *h->ids);
            h->ids[0] = primary;
        }
    return 0;
}

static int open_heif(paged *p, fault *f)
{
    heif_file *h = (heif_file *)p;
    if (!(h->context = heif_context_alloc()))
        return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(p->image.reader.in));
    const struct heif_error error = heif_context_read_from_memory_without_copy(h->context, p->bytes, p->size, NULL);
    if (error.code != heif_error_Ok) return fail(h, 0, error, f);
    h->gray = is_gray(p);
    const int64_t frames = count_frames(p);
    p->image.reader.first_only = frames > 1 && !p->options.has_page;
    if (p->image.reader.first_only) p->image.reader.pages_in_file = frames;
    return list_pages(h, f);
}

static int describe(paged *p, int page, fault *f)
{
    heif_file *h = (heif_file *)p;
    image_layout *layout = &p->layout;
    heif_image_handle_release(h->handle);
    h->handle = NULL;
    const struct heif_error error = heif_context_get_image_handle(h->context, h->ids[page], &h->handle);
    if (error.code != heif_error_Ok) return fail(h, page, error, f);
    const bool alpha = heif_image_handle_has_alpha_channel(h->handle);
    const int bits = heif_image_handle_get_luma_bits_per_pixel(h->handle);
    if (bits > 16) return paged_damaged(p, page, "its samples have more than 16 bits", f);
    *layout = (image_layout){.model = h->gray ? (alpha ? CHANNELS_GRAY_ALPHA : CHANNELS_GRAY)
                                              : (alpha ? CHANNELS_RGBA : CHANNELS_RGB),
                             .channels = (h->gray ? 1 : 3) + alpha,
                             .dtype = bits > 8 ? HISTO_U16 : HISTO_U8,
                             .width = heif_image_handle_get_width(h->handle),
                             .height = heif_image_handle_get_height(h->handle)};
    const int64_t sample = (int64_t)histo_dtype_size(layout->dtype);
    return paged_check_memory(p, layout, (6 + 2 * alpha) * sample, f); /* decoded, and as RGB */
}

static bool keep(paged *p, metadata *about)
{
    const heif_file *h = (const heif_file *)p;
    const int bits = heif_image_handle_get_luma_bits_per_pixel(h->handle);
    if (bits > 8 && bits < 16) about->largest = (1 << bits) - 1;
    about->premultiplied = heif_image_handle_is_premultiplied_alpha(h->handle);
    metadata_block *profile = &about->profile;
    const size_t size = heif_image_handle_get_raw_color_profile_size(h->handle);
    if (size == 0 || size > p->size) return true;
    if (!(profile->data = malloc(size))) return false;
    profile->size = size;
    heif_image_handle_get_raw_color_profile(h->handle, profile->data);
    return true;
}

/* ---- Samples ---- */

static enum heif_chroma chroma_of(bool alpha, bool deep)
{
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (!deep) return alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    if (alpha) return little ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBBAA_BE;
    return little ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBB_BE;
}

/* Keep the first channel of gray, and alpha. */
static int reduce_to_gray(heif_file *h, fault *f)
{
    paged *p = &h->paged;
    image *m = &p->image;
    const size_t sample = histo_dtype_size(m->layout.dtype), alpha = m->layout.channels == 2;
    const size_t width = (size_t)m->layout.width, height = (size_t)m->layout.height;
    if (image_reserve(m, &m->rows, image_pitch(m) * height, f) != 0) return -1;
    unsigned char *to = m->rows.data;
    for (size_t y = 0; y < height; y++) {
        const unsigned char *from = p->pixels + y * p->pitch;
        for (size_t x = 0; x < width; x++, from += (3 + alpha) * sample, to += (1 + alpha) * sample) {
            memcpy(to, from, sample);
            if (alpha) memcpy(to + sample, from + 3 * sample, sample);
        }
    }
    p->pixels = m->rows.data;
    p->pitch = image_pitch(m);
    heif_image_release(h->decoded);
    h->decoded = NULL;
    return 0;
}

static int decode(paged *p, fault *f)
{
    heif_file *h = (heif_file *)p;
    const image_layout *l = &p->image.layout;
    const int page = p->image.page;
    heif_image_release(h->decoded);
    h->decoded = NULL;
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (!options) return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(p->image.reader.in));
    options->strict_decoding = 1;
    /* Even for gray: only this conversion exists for tiled images. */
    const struct heif_error error = heif_decode_image(h->handle, &h->decoded, heif_colorspace_RGB,
                                                      chroma_of(l->channels % 2 == 0, l->dtype == HISTO_U16), options);
    heif_decoding_options_free(options);
    if (error.code != heif_error_Ok) return fail(h, page, error, f);

    int pitch = 0;
    const enum heif_channel all = heif_channel_interleaved;
    p->pixels = heif_image_get_plane_readonly(h->decoded, all, &pitch);
    p->pitch = (size_t)pitch;
    if (!p->pixels || heif_image_get_width(h->decoded, all) != l->width ||
        heif_image_get_height(h->decoded, all) != l->height)
        return paged_damaged(p, page, "its size is not what the file says", f);
    return h->gray ? reduce_to_gray(h, f) : 0;
}

static void close_heif(paged *p)
{
    heif_file *h = (heif_file *)p;
    heif_image_release(h->decoded);
    heif_image_handle_release(h->handle);
    heif_context_free(h->context);
}

const paged_format heif_pages = {.size = sizeof(heif_file),
                                 .whole = true,
                                 .chatty = true,
                                 .open = open_heif,
                                 .describe = describe,
                                 .keep = keep,
                                 .decode = decode,
                                 .close = close_heif};
