#include "input/samples/lockstep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lockstep_name(const lockstep *st, int i)
{
    return input_name(samples_reader(st->files[i].in)->in);
}

histo_dtype lockstep_dtype(const lockstep *st, int i)
{
    return samples_choice(st->files[i].in)->sources[0].dtype;
}

/* "3 pages of 640 x 480", "64 x 64 x 32"; omits what is unknown before the end. */
static void describe_shape(const reader *r, char *text, size_t size)
{
    const metadata *about = r->about;
    int length = 0;
    if (about && about->ndim > 0) {
        for (int d = 0; d < about->ndim && (size_t)length < size; d++)
            length += snprintf(text + length, size - (size_t)length, "%s%" PRId64, d ? " x " : "", about->shape[d]);
        return;
    }
    if (r->pages > 1) length = snprintf(text, size, "%" PRId64 " pages of ", r->pages);
    if (r->width == 1 && r->height >= 0)
        snprintf(text + length, size - (size_t)length, "%" PRId64 " samples", r->height);
    else if (r->width >= 0 && r->height >= 0)
        snprintf(text + length, size - (size_t)length, "%" PRId64 " x %" PRId64 " pixels", r->width, r->height);
    else
        snprintf(text + length, size - (size_t)length, "another shape");
}

static int fault_shapes(const lockstep *st, int i, fault *f)
{
    char first[200], other[200];
    describe_shape(samples_reader(st->files[0].in), first, sizeof first);
    describe_shape(samples_reader(st->files[i].in), other, sizeof other);
    if (strcmp(first, other) == 0) snprintf(other, sizeof other, "another shape");
    return fault_set(f, EXIT_DATA, "%s has %s, and %s has %s: their shapes must be equal", lockstep_name(st, 0), first,
                     lockstep_name(st, i), other);
}

static int fault_order(const lockstep *st, int i, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s is stored by rows and %s by columns, or the other way round: save one of them in the order of "
                     "the other",
                     lockstep_name(st, 0), lockstep_name(st, i));
}

static bool is_known_to_differ(int64_t a, int64_t b)
{
    return a >= 0 && b >= 0 && a != b;
}

/* A flattened array has the shape of its dimensions, any other that of its pages. */
static int check_shapes(const lockstep *st, int i, fault *f)
{
    const reader *a = samples_reader(st->files[0].in), *b = samples_reader(st->files[i].in);
    const metadata *about[] = {a->about, b->about};
    if (is_known_to_differ(a->pages, b->pages) || is_known_to_differ(a->height, b->height) ||
        is_known_to_differ(a->width, b->width))
        return fault_shapes(st, i, f);
    if (!about[0] || !about[1] || about[0]->ndim < 3 || about[1]->ndim < 3) return 0;
    if (about[0]->ndim != about[1]->ndim ||
        memcmp(about[0]->shape, about[1]->shape, (size_t)about[0]->ndim * sizeof *about[0]->shape) != 0)
        return fault_shapes(st, i, f);
    return about[0]->fortran == about[1]->fortran ? 0 : fault_order(st, i, f);
}

static int open_file(lockstep *st, int i, bool keep, fault *f)
{
    lockstep_file *file = &st->files[i];
    const settings *s = i == 0 ? st->settings : &st->unmasked;
    if (!(file->in = samples_open(s->files[i], s, NULL, NULL, keep, f))) return -1;
    samples_keep_missing(file->in);
    const int channels = samples_choice(file->in)->count;
    if (channels != 1)
        return fault_set(f, EXIT_USAGE, "%s has %d channels to count, but one is needed: choose it with --channel",
                         lockstep_name(st, i), channels);
    return i > 0 ? check_shapes(st, i, f) : 0;
}

int lockstep_open(lockstep *st, const settings *s, bool keep, fault *f)
{
    *st = (lockstep){.settings = s, .unmasked = *s, .count = s->files_count};
    st->unmasked.mask = NULL;
    st->files = calloc((size_t)s->files_count, sizeof *st->files);
    st->views = calloc((size_t)s->files_count, sizeof *st->views);
    if (!st->files || !st->views) return fault_set(f, EXIT_DATA, "no memory for %d files", s->files_count);
    for (int i = 0; i < s->files_count; i++)
        if (open_file(st, i, keep, f) != 0) return -1;
    return 0;
}

void lockstep_close(lockstep *st)
{
    for (int i = 0; i < st->count && st->files; i++)
        samples_close(st->files[i].in);
    free(st->files);
    free(st->views);
    *st = (lockstep){0};
}

void lockstep_remark(const lockstep *st)
{
    for (int i = 0; i < st->count; i++)
        samples_remark(st->files[i].in);
}

int lockstep_rewind(lockstep *st, fault *f)
{
    for (int i = 0; i < st->count && st->begun; i++) {
        lockstep_file *file = &st->files[i];
        if (samples_rewind(file->in, f) != 0) return -1;
        file->view.shape[0] = 0;
        file->ended = false;
    }
    st->begun = false;
    return 0;
}

/* Get another piece if the last one is used up. */
static int refill(lockstep_file *file, fault *f)
{
    while (!file->ended && (file->view.shape[0] == 0 || file->view.shape[1] == 0)) {
        const int more = samples_next(file->in, &file->now, f);
        if (more < 0) return -1;
        file->ended = more == 0;
        if (more == 0) break;
        file->view = file->now.views[0];
        file->y = file->now.y;
        file->x = file->now.x;
    }
    return 0;
}

/* Take rows x cols off the view: all its columns, or all its rows. */
static void take(lockstep_file *file, int64_t rows, int64_t cols)
{
    const int d = cols == file->view.shape[1] ? 0 : 1;
    const int64_t n = d == 0 ? rows : cols;
    file->view.data = (const char *)file->view.data + n * file->view.strides[d];
    file->view.shape[d] -= n;
    *(d == 0 ? &file->y : &file->x) += n;
}

int lockstep_next(lockstep *st, fault *f)
{
    st->begun = true;
    const lockstep_file *first = &st->files[0];
    int64_t rows = INT64_MAX, cols = INT64_MAX;
    for (int i = 0; i < st->count; i++) {
        lockstep_file *file = &st->files[i];
        if (refill(file, f) != 0) return -1;
        if (file->ended != first->ended) return fault_shapes(st, i, f);
        if (file->ended) continue;
        if (file->now.page != first->now.page || file->now.width != first->now.width) return fault_shapes(st, i, f);
        if (file->y != first->y || file->x != first->x) return fault_order(st, i, f);
        rows = file->view.shape[0] < rows ? file->view.shape[0] : rows;
        cols = file->view.shape[1] < cols ? file->view.shape[1] : cols;
    }
    if (first->ended) return 0;
    for (int i = 0; i < st->count; i++)
        if (st->files[i].view.shape[0] != rows && st->files[i].view.shape[1] != cols) return fault_order(st, i, f);
    st->page = first->now.page;
    st->y = first->y;
    st->x = first->x;
    st->width = first->now.width;
    st->mask = NULL;
    if (first->now.mask) {
        const int64_t y = first->y - first->now.y, x = first->x - first->now.x;
        st->mask_view = *first->now.mask;
        st->mask_view.data =
            (const char *)st->mask_view.data + y * st->mask_view.strides[0] + x * st->mask_view.strides[1];
        st->mask_view.shape[0] = rows;
        st->mask_view.shape[1] = cols;
        st->mask = &st->mask_view;
    }
    for (int i = 0; i < st->count; i++) {
        st->views[i] = st->files[i].view;
        st->views[i].shape[0] = rows;
        st->views[i].shape[1] = cols;
        take(&st->files[i], rows, cols);
    }
    return 1;
}
