#include "input/samples/volume.h"

#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"

static int fault_memory(const char *path, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to hold %s: take a smaller --roi", path);
}

/* Grow *memory to at least this many bytes, or twice as many if more may follow. */
static int make_room(char **memory, size_t *room, size_t bytes, const char *path, fault *f)
{
    if (bytes <= *room) return 0;
    const size_t wanted = bytes > *room * 2 ? bytes : *room * 2;
    if (fault_beyond_memory(f, (double)(wanted - *room), path, "take a smaller --roi") != 0) return -1;
    char *more = realloc(*memory, wanted);
    if (!more) return fault_memory(path, f);
    *memory = more;
    *room = wanted;
    return 0;
}

static void copy_rows(const histo_view *from, char *to, int64_t width, size_t size)
{
    for (int64_t y = 0; y < from->shape[0]; y++) {
        const char *row = (const char *)from->data + y * from->strides[0];
        char *out = to + (size_t)(y * width) * size;
        if (from->strides[1] == (int64_t)size) {
            memcpy(out, row, (size_t)from->shape[1] * size);
            continue;
        }
        for (int64_t x = 0; x < from->shape[1]; x++)
            memcpy(out + (size_t)x * size, row + x * from->strides[1], size);
    }
}

/* Tracks where the samples of the file are: page after page, each of which is known when the next begins. */
typedef struct reading {
    volume *to;
    const char *path;
    int page;
    int64_t before, height, width; /* number of samples in earlier pages; the size of this one so far */
    int64_t pages, first_height;
} reading;

static int end_page(reading *r, fault *f)
{
    if (r->pages == 1) r->first_height = r->height;
    if (r->height != r->first_height)
        return fault_set(f, EXIT_DATA, "page %d of %s is %lld rows high where the first one has %lld", r->page, r->path,
                         (long long)r->height, (long long)r->first_height);
    r->before += r->height * r->width;
    return 0;
}

static int begin_page(reading *r, const piece *p, fault *f)
{
    if (r->pages > 0 && end_page(r, f) != 0) return -1;
    if (r->pages > 0 && p->width != r->width)
        return fault_set(f, EXIT_DATA, "page %d of %s is %lld samples wide where the first one is %lld wide", p->page,
                         r->path, (long long)p->width, (long long)r->width);
    r->pages++;
    r->page = p->page;
    r->width = p->width;
    r->height = 0;
    return 0;
}

static int take(reading *r, const piece *p, fault *f)
{
    volume *v = r->to;
    const histo_view *from = &p->views[0];
    const size_t size = histo_dtype_size(v->dtype);
    if ((r->pages == 0 || p->page != r->page) && begin_page(r, p, f) != 0) return -1;
    if (p->x + from->shape[1] > r->width)
        return fault_set(f, EXIT_DATA, "page %d of %s is wider than the first one", r->page, r->path);
    const int64_t first = r->before + p->y * r->width + p->x, end = r->before + (p->y + from->shape[0]) * r->width;
    if (make_room(&v->samples, &v->room, (size_t)end * size, r->path, f) != 0) return -1;
    copy_rows(from, v->samples + (size_t)first * size, r->width, size);
    if (p->mask) {
        char *mask = (char *)v->mask;
        const int failed = make_room(&mask, &v->mask_room, (size_t)end, r->path, f);
        v->mask = (unsigned char *)mask;
        if (failed) return -1;
        copy_rows(p->mask, mask + first, r->width, 1);
    }
    if (p->y + from->shape[0] > r->height) r->height = p->y + from->shape[0];
    return 0;
}

/* The shape in memory: that of a flattened array of three dimensions, else that of the pages. */
static int set_shape(volume *v, const reading *r, const reader *from, fault *f)
{
    const metadata *about = from->about;
    const bool flat = about && about->ndim > 2 && from->width == 1 && from->height > 1;
    if (flat && about->ndim != 3)
        return fault_set(f, EXIT_DATA, "%s has %d dimensions: images have 2, and volumes 3", r->path, about->ndim);
    v->ndim = flat || r->pages > 1 ? 3 : 2;
    if (flat)
        memcpy(v->shape, about->shape, sizeof v->shape);
    else if (r->pages > 1)
        memcpy(v->shape, (const int64_t[]){r->pages, r->height, r->width}, sizeof v->shape);
    else
        memcpy(v->shape, (const int64_t[]){r->height, r->width, 1}, sizeof v->shape);
    int64_t stride = (int64_t)histo_dtype_size(v->dtype);
    for (int k = 0; k < v->ndim; k++) {
        const int d = flat && about->fortran ? k : v->ndim - 1 - k;
        v->strides[d] = stride;
        stride *= v->shape[d];
    }
    return 0;
}

static int read_all(volume *v, samples *in, reading *r, const settings *s, fault *f)
{
    piece p;
    int more;
    const input *bytes = samples_reader(in)->in;
    if (samples_choice(in)->count != 1)
        return fault_set(f, EXIT_USAGE, "%s has %d channels to count, but one is needed: choose it with --channel",
                         r->path, samples_choice(in)->count);
    v->dtype = samples_choice(in)->sources[0].dtype;
    progress_start("reading", s->quiet);
    while ((more = samples_next(in, &p, f)) > 0) {
        if (take(r, &p, f) != 0) return -1;
        progress_update(input_position(bytes), input_size(bytes));
    }
    progress_end();
    if (more < 0) return -1;
    samples_remark(in);
    if (r->pages == 0) return fault_set(f, EXIT_DATA, "%s holds no samples", r->path);
    return end_page(r, f) == 0 ? set_shape(v, r, samples_reader(in), f) : -1;
}

int volume_read(volume *v, const char *path, const settings *s, fault *f)
{
    *v = (volume){0};
    samples *in = samples_open(path, s, NULL, NULL, false, f);
    if (!in) return -1;
    samples_keep_missing(in);
    reading r = {.to = v, .path = path};
    const int failed = read_all(v, in, &r, s, f);
    samples_close(in);
    return failed;
}

void volume_free(volume *v)
{
    free(v->samples);
    free(v->mask);
    *v = (volume){0};
}

histo_view volume_view(const volume *v)
{
    histo_view view = {.data = v->samples, .dtype = v->dtype, .ndim = v->ndim};
    memcpy(view.shape, v->shape, sizeof v->shape);
    memcpy(view.strides, v->strides, sizeof v->strides);
    return view;
}
