#include "fill.h"

enum { PIECE = 1 << 24, FEW = 4096 }; /* samples */

void take_lock(PyThread_type_lock lock)
{
    if (PyThread_acquire_lock(lock, NOWAIT_LOCK)) return;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

bool releases_gil(int64_t samples)
{
    return samples >= FEW;
}

bool fills_in_pieces(int64_t samples)
{
    return samples > PIECE;
}

static histo_status fill_by_plan(histo_hist *hist, const histo_view *views, const histo_fill_options *fill,
                                 const histo_plan_options *options)
{
    if (!options) return histo_hist_fill(hist, views, fill);
    histo_plan *plan;
    histo_status status = histo_plan_create(&plan, hist, views, fill, options);
    if (status != HISTO_OK) return status;
    status = histo_plan_fill(plan, hist, views, fill);
    histo_plan_destroy(plan);
    return status;
}

static int fill_piece(PyThread_type_lock lock, histo_hist *const *hist, const histo_view *views,
                      const histo_fill_options *fill, const histo_plan_options *options)
{
    histo_status status;
    if (lock) take_lock(lock);
    if (releases_gil(histo_view_size(&views[0]))) {
        Py_BEGIN_ALLOW_THREADS status = fill_by_plan(*hist, views, fill, options);
        Py_END_ALLOW_THREADS
    } else {
        status = fill_by_plan(*hist, views, fill, options);
    }
    if (lock) PyThread_release_lock(lock);
    if (status == HISTO_OK) return PyErr_CheckSignals();
    raise_status(status);
    return -1;
}

/* The longest dimension that is no batch dimension; -1 if there is none. */
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

static int fill_pieces(PyThread_type_lock lock, histo_hist *const *hist, int naxes, const histo_view *views,
                       const histo_fill_options *all, const histo_plan_options *options, int d, int64_t step)
{
    histo_view parts[HISTO_MAX_AXES], weights, mask, where;
    histo_fill_options fill = *all;
    for (int64_t begin = 0; begin < views[0].shape[d]; begin += step) {
        const int64_t left = views[0].shape[d] - begin, n = left < step ? left : step;
        for (int a = 0; a < naxes; a++)
            parts[a] = part_of(&views[a], d, begin, n);
        if (all->weights) weights = part_of(all->weights, d, begin, n), fill.weights = &weights;
        if (all->mask) mask = part_of(all->mask, d, begin, n), fill.mask = &mask;
        if (all->mask && mask.dtype == HISTO_BIT) fill.mask_offset = all->mask_offset + begin * mask.strides[d];
        if (all->where) where = part_of(all->where, d, begin, n), fill.where = &where;
        if (fill_piece(lock, hist, parts, &fill, options) < 0) return -1;
        fill.replace = false;
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

/* Operands of other shapes, and fills that are no product of dimensions, go to the library as they are. */
static bool divisible(int naxes, const histo_view *views, const histo_fill_options *fill)
{
    bool same = !fill->offsets && fill->pairs == HISTO_NO_PAIRS;
    for (int a = 1; a < naxes; a++)
        same = same && same_shape(&views[0], &views[a]);
    same = same && (!fill->weights || same_shape(&views[0], fill->weights));
    same = same && (!fill->mask || same_shape(&views[0], fill->mask));
    return same && (!fill->where || same_shape(&views[0], fill->where));
}

int fill(PyThread_type_lock lock, histo_hist *const *hist, int naxes, const histo_view *views,
         const histo_fill_options *options, const histo_plan_options *plan)
{
    const histo_fill_options all = options ? *options : (histo_fill_options){0};
    const int64_t samples = histo_view_size(&views[0]);
    const int d = fills_in_pieces(samples) ? longest_dimension(&views[0]) : -1;
    if (d < 0 || !divisible(naxes, views, &all)) return fill_piece(lock, hist, views, options, plan);
    const int64_t others = samples / views[0].shape[d], step = PIECE / others;
    return fill_pieces(lock, hist, naxes, views, &all, plan, d, step > 0 ? step : 1);
}
