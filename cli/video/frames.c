#include "video/frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const frames *in, int file)
{
    return in->settings->files_count ? in->settings->files[file] : "-";
}

static int open_file(frames *in, fault *f)
{
    read_options options = in->settings->read;
    if (!options.has_page) options.page = -1;
    options.purpose = "frames";
    in->reader = reader_open(path_of(in, in->file), &options, false, f);
    if (!in->reader) return -1;
    const reader *r = in->reader;
    in->file++;
    if (r->height < 1 || r->width < 1)
        return fault_set(f, EXIT_DATA, "%s is not an image: its width and height are not known", input_name(r->in));
    return 0;
}

/* Check that later files are like the first. */
static int check_alike(const frames *in, const histo_view *first, fault *f)
{
    const reader *r = in->reader;
    if (r->width != in->planes.width || r->height != in->planes.height)
        return fault_set(f, EXIT_DATA,
                         "%s has %" PRId64 " x %" PRId64 " pixels where %s has %" PRId64 " x %" PRId64
                         ": frames must have the same size",
                         input_name(r->in), r->width, r->height, path_of(in, 0), in->planes.width, in->planes.height);
    if (r->channels < in->planes.channels || r->dtypes[0] != first->dtype || (r->video != NULL) != in->planes.video)
        return fault_set(f, EXIT_DATA, "%s and %s have different channels: frames must be of one kind",
                         input_name(r->in), path_of(in, 0));
    return 0;
}

int frames_open(frames *in, const settings *s, const histo_hist *saved, const char *name, fault *f)
{
    *in = (frames){.settings = s};
    if (open_file(in, f) != 0 || space_choose(&in->space, in->reader, s, saved, name, f) != 0) return -1;
    const reader *r = in->reader;
    if (planes_make(&in->planes, &in->space, r, r->width, r->height, f) != 0) return -1;
    in->planes.threads = s->threads;
    in->views[0].dtype = r->dtypes[0];
    return planes_select(&in->planes, in->reader, f);
}

void frames_close(frames *in)
{
    reader_close(in->reader);
    planes_free(&in->planes);
    free(in->pixels);
}

/* Copy a band to its place in the frame. */
static void place(frames *in, const band *b)
{
    const size_t size = histo_dtype_size(b->views[0].dtype);
    for (int c = 0; c < in->planes.channels; c++) {
        const histo_view *from = &b->views[c], *to = &in->views[c];
        for (int64_t y = 0; y < b->rows; y++)
            for (int64_t x = 0; x < b->cols; x++)
                memcpy((char *)to->data + (b->y + y) * to->strides[0] + (b->x + x) * to->strides[1],
                       (const char *)from->data + y * from->strides[0] + x * from->strides[1], size);
    }
}

static int make_room(frames *in, fault *f)
{
    const int64_t shape[] = {in->planes.height, in->planes.width};
    const histo_dtype dtype = in->reader->dtypes[0];
    const size_t size = (size_t)(shape[0] * shape[1]) * histo_dtype_size(dtype);
    if (in->pixels) return 0;
    in->pixels = malloc(size * (size_t)in->planes.channels);
    if (!in->pixels) return fault_set(f, EXIT_DATA, "no memory for a frame of %s", input_name(in->reader->in));
    for (int c = 0; c < in->planes.channels; c++)
        in->views[c] = histo_view_nd(in->pixels + (size_t)c * size, dtype, 2, shape);
    return 0;
}

/* Read a page of the current file. */
static int read_page(frames *in, fault *f)
{
    const int64_t pixels = in->planes.width * in->planes.height;
    band b;
    for (int64_t filled = 0; filled < pixels; filled += b.rows * b.cols) {
        int more = in->reader->next(in->reader, &b, f);
        if (more <= 0) return more;
        if (b.rows * b.cols == pixels) {
            planes_show(&in->planes, b.views);
            return 1;
        }
        if (make_room(in, f) != 0) return -1;
        place(in, &b);
    }
    planes_show(&in->planes, in->views);
    return 1;
}

int frames_next(frames *in, fault *f)
{
    int more;
    while ((more = read_page(in, f)) == 0) {
        const int files = in->settings->files_count ? in->settings->files_count : 1;
        if (in->file == files) return 0;
        reader_close(in->reader);
        in->reader = NULL;
        if (open_file(in, f) != 0 || check_alike(in, &in->views[0], f) != 0) return -1;
        if (planes_select(&in->planes, in->reader, f) != 0) return -1;
    }
    in->count += more > 0;
    return more;
}
