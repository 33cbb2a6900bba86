/* Views of arrays with many dimensions. */
#include <histo/histo.h>

#include "base/error.h"

enum { MOST = 64, VIEWS = HISTO_MAX_AXES + 4 };

/* Dimensions in the order in which they will be merged. */
typedef struct dims {
    int views, ndim;
    int64_t shape[MOST];
    int64_t strides[VIEWS][MOST];
} dims;

static uint64_t distance(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Append dimensions [first, ndim) of the array to dims at d->ndim, sorted by the first view's stride, largest first,
 * unless the order has to stay. */
static void join(dims *d, int first, int ndim, bool sort, const int64_t *shape, const int64_t *const *strides)
{
    int order[MOST], some = 0;
    for (int k = first; k < ndim; k++) {
        if (shape[k] == 1) continue;
        int at = some++;
        for (; sort && at > 0 && distance(strides[0][order[at - 1]]) < distance(strides[0][k]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    const int begin = d->ndim;
    for (int i = 0; i < some; i++) {
        const int k = order[i], last = d->ndim - 1;
        int64_t product = 0;
        bool joins = last >= begin && !__builtin_mul_overflow(d->shape[last], shape[k], &product);
        for (int v = 0; v < d->views && joins; v++) {
            int64_t step;
            joins = !__builtin_mul_overflow(strides[v][k], shape[k], &step) && d->strides[v][last] == step;
        }
        const int to = joins ? last : d->ndim++;
        d->shape[to] = joins ? product : shape[k];
        for (int v = 0; v < d->views; v++)
            d->strides[v][to] = strides[v][k];
    }
}

histo_status histo_view_coalesce(int count, histo_view *views, int ndim, int batch_ndim, const int64_t *shape,
                                 const int64_t *const *strides)
{
    if (count < 1 || count > VIEWS)
        return histo_fail(HISTO_INVALID, "%d views cannot be coalesced: give 1 to %d", count, VIEWS);
    if (ndim < 0 || ndim > MOST)
        return histo_fail(HISTO_INVALID, "an array of %d dimensions cannot be coalesced: give 0 to %d", ndim, MOST);
    if (!views || (ndim > 0 && (!shape || !strides)))
        return histo_fail(HISTO_INVALID, "the views, their shape or their strides are NULL");
    if (batch_ndim < 0 || batch_ndim > ndim)
        return histo_fail(HISTO_INVALID, "%d batch dimensions of %d", batch_ndim, ndim);
    for (int k = 0; k < ndim; k++)
        if (shape[k] < 0)
            return histo_fail(HISTO_INVALID, "dimension %d has negative extent %lld", k, (long long)shape[k]);
    dims d = {.views = count};
    join(&d, 0, batch_ndim, false, shape, strides);
    const int batch = d.ndim;
    join(&d, batch_ndim, ndim, true, shape, strides);
    if (d.ndim > HISTO_MAX_DIMS)
        return histo_fail(
            HISTO_UNSUPPORTED,
            "%d of the %d dimensions are apart in memory, and a view has at most %d: copy the array first", d.ndim,
            ndim, HISTO_MAX_DIMS);
    for (int v = 0; v < count; v++) {
        views[v].ndim = d.ndim;
        views[v].batch_ndim = batch;
        for (int k = 0; k < d.ndim; k++) {
            views[v].shape[k] = d.shape[k];
            views[v].strides[k] = d.strides[v][k];
        }
    }
    return HISTO_OK;
}
