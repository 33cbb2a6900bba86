#include "functions/fill.h"

#include "state/unlocked.h"

enum { PIECE = 1 << 24, FEW = 4096 }; /* samples */

bool releases_gil(int64_t samples)
{
    return samples >= FEW;
}

bool fills_in_pieces(int64_t samples)
{
    return samples > PIECE;
}

static int do_piece(locked *owner, const histo_view *views, const histo_fill_options *options, piece_work *work,
                    void *state)
{
    histo_status status;
    if (owner && locked_take(owner) < 0) return -1;
    if (fills_in_pieces(histo_view_size(&views[0]))) { /* it cannot be divided */
        UNLOCKED(status, work(state, views, options));
    } else if (releases_gil(histo_view_size(&views[0]))) {
        Py_BEGIN_ALLOW_THREADS status = work(state, views, options);
        Py_END_ALLOW_THREADS
    } else {
        status = work(state, views, options);
    }
    if (owner) locked_drop(owner);
    if (status == HISTO_OK) return PyErr_CheckSignals();
    raise_status(status);
    return -1;
}

/* The longest dimension that does not belong to the batch; -1 if there is none. */
static int longest_dimension(const histo_view *v)
{
    int longest = -1;
    for (int d = v->batch_ndim; d < v->ndim; d++)
        if (longest < 0 || v->shape[d] > v->shape[longest]) longest = d;
    return longest;
}

/* The samples [begin, begin + n) along dimension d; those of a mask of bits begin at the same address. */
static histo_view part_of(const histo_view *v, int d, int64_t begin, int64_t n)
{
    histo_view part = *v;
    if (v->dtype != HISTO_BIT) part.data = (const char *)v->data + begin * v->strides[d];
    part.shape[d] = n;
    return part;
}

static int do_pieces(locked *owner, int naxes, const histo_view *views, const histo_fill_options *all, piece_work *work,
                     void *state, int d, int64_t step)
{
    histo_view parts[HISTO_MAX_AXES], weights, mask, where;
    histo_fill_options options = *all;
    for (int64_t begin = 0; begin < views[0].shape[d]; begin += step) {
        const int64_t left = views[0].shape[d] - begin, n = left < step ? left : step;
        for (int a = 0; a < naxes; a++)
            parts[a] = part_of(&views[a], d, begin, n);
        if (all->weights) weights = part_of(all->weights, d, begin, n), options.weights = &weights;
        if (all->mask) mask = part_of(all->mask, d, begin, n), options.mask = &mask;
        if (all->mask && mask.dtype == HISTO_BIT) options.mask_offset = all->mask_offset + begin * mask.strides[d];
        if (all->where) where = part_of(all->where, d, begin, n), options.where = &where;
        if (do_piece(owner, parts, &options, work, state) < 0) return -1;
        options.replace = false;
    }
    return 0;
}

static bool same_shape(const histo_view *a, const histo_view *b)
{
    bool same = a->ndim == b->ndim && a->batch_ndim == b->batch_ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->shape[d] == b->shape[d];
    return same;
}

/* Operands of other shapes, and segments, go to the library as they are. */
static bool divisible(int naxes, const histo_view *views, const histo_fill_options *fill)
{
    bool same = !fill->offsets;
    for (int a = 1; a < naxes; a++)
        same = same && same_shape(&views[0], &views[a]);
    same = same && (!fill->weights || same_shape(&views[0], fill->weights));
    same = same && (!fill->mask || same_shape(&views[0], fill->mask));
    return same && (!fill->where || same_shape(&views[0], fill->where));
}

int in_pieces(locked *owner, int naxes, const histo_view *views, const histo_fill_options *options, piece_work *work,
              void *state)
{
    const histo_fill_options all = options ? *options : (histo_fill_options){0};
    const int64_t samples = histo_view_size(&views[0]);
    /* What a GPU counts is only enqueued here. */
    const bool here = fills_in_pieces(samples) && histo_memory_device(views[0].data) == HISTO_DEVICE_CPU;
    const int d = here ? longest_dimension(&views[0]) : -1;
    if (d < 0 || !divisible(naxes, views, &all)) return do_piece(owner, views, &all, work, state);
    const int64_t others = samples / views[0].shape[d], step = PIECE / others;
    return do_pieces(owner, naxes, views, &all, work, state, d, step > 0 ? step : 1);
}

typedef struct planned_fill {
    histo_hist *const *hist;
    const histo_plan_options *options; /* or NULL */
} planned_fill;

static histo_status fill_piece(void *state, const histo_view *views, const histo_fill_options *options)
{
    const planned_fill *f = state;
    if (!f->options) return histo_hist_fill(*f->hist, views, options);
    histo_plan *plan;
    histo_status status = histo_plan_create(&plan, *f->hist, views, options, f->options);
    if (status != HISTO_OK) return status;
    status = histo_plan_fill(plan, *f->hist, views, options);
    histo_plan_destroy(plan);
    return status;
}

int fill(locked *owner, histo_hist *const *hist, int naxes, const histo_view *views, const histo_fill_options *options,
         const histo_plan_options *plan)
{
    planned_fill f = {hist, plan};
    return in_pieces(owner, naxes, views, options, fill_piece, &f);
}

static int do_chunks(locked *owner, histo_hist *const *hist, int64_t count, const histo_fill_chunk *chunks,
                     const histo_fill_options *options)
{
    histo_status status;
    if (owner && locked_take(owner) < 0) return -1;
    Py_BEGIN_ALLOW_THREADS status = histo_hist_fill_chunks(*hist, count, chunks, options);
    Py_END_ALLOW_THREADS if (owner) locked_drop(owner);
    if (status == HISTO_OK) return PyErr_CheckSignals();
    raise_status(status);
    return -1;
}

/* A chunk of many samples is done in pieces. */
static int do_large_chunk(locked *owner, histo_hist *const *hist, int naxes, const histo_fill_chunk *chunk,
                          const histo_fill_options *all)
{
    histo_fill_options options = *all;
    options.weights = chunk->weights;
    options.mask = chunk->mask;
    options.where = chunk->where;
    options.mask_offset = chunk->mask_offset;
    return fill(owner, hist, naxes, chunk->views, &options, NULL);
}

int fill_chunks(locked *owner, histo_hist *const *hist, int naxes, int64_t count, const histo_fill_chunk *chunks,
                const histo_fill_options *options)
{
    int done = 0;
    for (int64_t begin = 0, end; begin < count && done == 0; begin = end) {
        int64_t samples = histo_view_size(&chunks[begin].views[0]);
        end = begin + 1;
        if (fills_in_pieces(samples)) {
            done = do_large_chunk(owner, hist, naxes, &chunks[begin], options);
            continue;
        }
        for (; end < count; end++) {
            const int64_t more = histo_view_size(&chunks[end].views[0]);
            if (fills_in_pieces(samples + more)) break;
            samples += more;
        }
        done = do_chunks(owner, hist, end - begin, chunks + begin, options);
    }
    return done;
}
