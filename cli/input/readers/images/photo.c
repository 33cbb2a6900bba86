#include "input/readers/images/photo.h"

#include <stdlib.h>
#include <string.h>

static void copy_band(photo *p, const band *b, int channel)
{
    size_t size = histo_dtype_size(p->dtype);
    const histo_view *from = &b->views[channel];
    for (int64_t y = 0; y < b->rows; y++) {
        char *to = (char *)p->pixels + (size_t)((channel * p->height + b->y + y) * p->width + b->x) * size;
        const char *at = (const char *)from->data + y * from->strides[0];
        for (int64_t x = 0; x < b->cols; x++)
            memcpy(to + (size_t)x * size, at + x * from->strides[1], size);
    }
}

static int read_channels(reader *r, photo *p, fault *f)
{
    const char *name = input_name(r->in);
    const int channels[] = {0, 1, 2};
    band b;
    int64_t bytes;
    if (r->height < 1 || r->width < 1)
        return fault_set(f, EXIT_DATA, "%s is not an image: its width and height are not known", name);
    const bool colours = r->model == CHANNELS_RGB || r->model == CHANNELS_RGBA;
    *p = (photo){.channels = colours ? 3 : 1, .dtype = r->dtypes[0], .width = r->width, .height = r->height};
    if (__builtin_mul_overflow(p->width, p->height, &bytes) ||
        __builtin_mul_overflow(bytes, p->channels * (int64_t)histo_dtype_size(p->dtype), &bytes))
        return fault_set(f, EXIT_DATA, "%s has more pixels than fit into memory", name);
    p->pixels = calloc((size_t)bytes, 1);
    if (!p->pixels) return fault_set(f, EXIT_DATA, "no memory for the %lld bytes of %s", (long long)bytes, name);
    int more = reader_select(r, channels, NULL, p->channels, f);
    if (more == 0) more = 1;
    while (more == 1 && (more = r->next(r, &b, f)) == 1 && b.page == 0)
        for (int c = 0; c < p->channels; c++)
            copy_band(p, &b, c);
    return more < 0 ? -1 : 0;
}

int photo_read(const char *path, const read_options *options, photo *p, fault *f)
{
    *p = (photo){0};
    reader *r = reader_open(path, options, false, f);
    if (!r) return -1;
    int result = read_channels(r, p, f);
    reader_close(r);
    if (result != 0) free(p->pixels);
    return result;
}
