/* Shared by the image readers: see image.h. */
#include "input/readers/images/image.h"

#include <stdlib.h>
#include <string.h>

void image_close(reader *r)
{
    image *m = (image *)r;
    free(m->rows.data);
    free(m->packed.data);
}

static int describe_reader(image *m, const image_layout *layout, fault *f)
{
    reader *r = &m->reader;
    histo_dtype *dtypes = arena_take(&r->memory, (size_t)layout->channels, sizeof *dtypes);
    if (!dtypes) return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(r->in));
    for (int c = 0; c < layout->channels; c++)
        dtypes[c] = layout->dtypes ? layout->dtypes[c] : layout->dtype;
    r->model = layout->model;
    r->channels = layout->channels;
    r->dtypes = dtypes;
    r->height = layout->height;
    r->width = layout->width;
    return 0;
}

static int check_alike(const image *m, int page, const image_layout *layout, fault *f)
{
    const reader *r = &m->reader;
    static const char *const models[] = {
        [CHANNELS_PLAIN] = "plain", [CHANNELS_GRAY] = "gray", [CHANNELS_GRAY_ALPHA] = "gray with alpha",
        [CHANNELS_RGB] = "RGB",     [CHANNELS_RGBA] = "RGBA", [CHANNELS_CMYK] = "CMYK"};
    const histo_dtype dtype = layout->dtypes ? layout->dtypes[0] : layout->dtype;
    if (layout->model != r->model || layout->channels != r->channels || dtype != r->dtypes[0])
        return fault_set(f, EXIT_DATA,
                         "%s: page %d is %s (%d x %s) and the pages before it are %s (%d x %s): choose one with --page",
                         input_name(r->in), page, models[layout->model], layout->channels, histo_dtype_name(dtype),
                         models[r->model], r->channels, histo_dtype_name(r->dtypes[0]));
    if (r->height >= 0 && (layout->height != r->height || layout->width != r->width))
        return fault_set(
            f, EXIT_DATA,
            "%s: page %d has %lld x %lld pixels and the pages before it have %lld x %lld: choose one with --page",
            input_name(r->in), page, (long long)layout->width, (long long)layout->height, (long long)r->width,
            (long long)r->height);
    return 0;
}

int image_begin_page(image *m, int page, const image_layout *layout, fault *f)
{
    const char *name = input_name(m->reader.in);
    if (layout->width < 1 || layout->height < 1 || layout->channels < 1)
        return fault_set(f, EXIT_DATA, "%s: page %d has no pixels: the file is corrupt", name, page);
    int64_t pixel = layout->channels * (int64_t)histo_dtype_size(layout->dtype);
    if (layout->width > IMAGE_MAX_BLOCK_BYTES / pixel)
        return fault_set(f, EXIT_DATA,
                         "%s: page %d claims rows of %lld pixels, more than the limit of %d MiB: "
                         "cut the image into tiles, or check that the file is not corrupt",
                         name, page, (long long)layout->width, IMAGE_MAX_BLOCK_BYTES >> 20);
    if ((m->reader.dtypes ? check_alike(m, page, layout, f) : describe_reader(m, layout, f)) < 0) return -1;
    m->layout = *layout;
    m->page = page;
    m->y = 0;
    return 0;
}

metadata *image_describe(image *m, const read_options *options, fault *f)
{
    metadata_release(m->reader.about);
    m->reader.about = options->about ? metadata_create() : NULL;
    if (m->reader.about) {
        m->reader.about->height = m->layout.height;
        m->reader.about->width = m->layout.width;
    } else if (options->about) {
        fault_set(f, EXIT_DATA, "%s: out of memory", input_name(m->reader.in));
    }
    return m->reader.about;
}

size_t image_pitch(const image *m)
{
    return (size_t)m->layout.width * (size_t)m->layout.channels * histo_dtype_size(m->layout.dtype);
}

int64_t image_band_rows(const image *m)
{
    int64_t fit = IMAGE_BAND_BYTES / (int64_t)image_pitch(m), left = m->layout.height - m->y;
    if (fit < 1) fit = 1;
    return fit < left ? fit : left;
}

int image_reserve(const image *m, scratch *b, size_t bytes, fault *f)
{
    if (scratch_reserve(b, bytes)) return 0;
    return fault_set(f, EXIT_DATA, "%s: out of memory for %zu bytes of the image", input_name(m->reader.in), bytes);
}

int image_emit_rows(image *m, band *b, int64_t rows)
{
    selection *s = &m->reader.selected;
    *b = (band){.page = m->page, .y = m->y, .rows = rows, .cols = m->layout.width, .views = s->views};
    reader_interleaved_views(s->views, s->wanted, s->count, m->rows.data, m->layout.dtype, m->layout.channels, rows,
                             m->layout.width, (int64_t)image_pitch(m));
    m->y += rows;
    return 1;
}

int image_damaged(const image *m, const char *place, const char *complaint, fault *f)
{
    const bool unsupported = strstr(complaint, "nsupported") || strstr(complaint, "not supported");
    return fault_set(f, EXIT_DATA, "%s: %s cannot be decoded (%s): %s", input_name(m->reader.in), place, complaint,
                     unsupported ? "convert it with a program that can"
                                 : "the file is truncated or corrupt, get an intact copy");
}
