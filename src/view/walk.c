#include "view/walk.h"

static int64_t distance(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Swap two dimensions of all operands. */
static void swap_dimensions(histo_strided_iter *iter, int a, int b)
{
    int64_t extent = iter->shape[a];
    iter->shape[a] = iter->shape[b];
    iter->shape[b] = extent;
    for (int o = 0; o < iter->operands; o++) {
        int64_t stride = iter->strides[o][a];
        iter->strides[o][a] = iter->strides[o][b];
        iter->strides[o][b] = stride;
    }
}

/* Walk a dimension with a negative stride of the first operand from its other end. */
static void flip_dimension(histo_strided_iter *iter, int d)
{
    for (int o = 0; o < iter->operands; o++) {
        iter->base[o] += (iter->shape[d] - 1) * iter->strides[o][d];
        iter->strides[o][d] = -iter->strides[o][d];
    }
}

static bool joins(const histo_strided_iter *iter, int outer, int inner)
{
    for (int o = 0; o < iter->operands; o++)
        if (iter->strides[o][outer] != iter->strides[o][inner] * iter->shape[inner]) return false;
    return true;
}

void histo_strided_iter_make(histo_strided_iter *iter, int operands, const histo_view *const *views)
{
    const histo_view *first = views[0];
    *iter = (histo_strided_iter){.operands = operands, .batch = 1, .per_batch = 1};
    for (int o = 0; o < operands; o++)
        iter->base[o] = views[o]->data;
    for (int d = 0; d < first->ndim; d++) {
        bool is_batch = d < first->batch_ndim;
        *(is_batch ? &iter->batch : &iter->per_batch) *= first->shape[d];
        if (first->shape[d] == 1) continue;
        for (int o = 0; o < operands; o++)
            iter->strides[o][iter->ndim] = views[o]->strides[d];
        iter->shape[iter->ndim++] = first->shape[d];
        iter->batch_ndim += is_batch;
    }
    if (iter->batch * iter->per_batch == 0) { /* nothing to walk: addresses may be invalid */
        iter->ndim = 1;
        iter->batch_ndim = 0;
        iter->shape[0] = 0;
        return;
    }
    int free_dim = iter->batch_ndim;
    for (int d = free_dim; d < iter->ndim; d++)
        if (iter->strides[0][d] < 0) flip_dimension(iter, d);
    /* Largest stride outermost, so that runs follow memory (insertion sort: stable, and at most 8 long). */
    for (int d = free_dim + 1; d < iter->ndim; d++)
        for (int e = d; e > free_dim && distance(iter->strides[0][e - 1]) < distance(iter->strides[0][e]); e--)
            swap_dimensions(iter, e - 1, e);
    int joined = free_dim;
    for (int d = free_dim; d < iter->ndim; d++) {
        if (d > free_dim && joins(iter, joined - 1, d)) {
            iter->shape[joined - 1] *= iter->shape[d];
            for (int o = 0; o < operands; o++)
                iter->strides[o][joined - 1] = iter->strides[o][d];
        } else {
            iter->shape[joined] = iter->shape[d];
            for (int o = 0; o < operands; o++)
                iter->strides[o][joined] = iter->strides[o][d];
            joined++;
        }
    }
    iter->ndim = joined;
    if (iter->ndim == iter->batch_ndim) { /* one sample per batch entry: runs of one */
        iter->shape[iter->ndim] = 1;
        for (int o = 0; o < operands; o++)
            iter->strides[o][iter->ndim] = 0;
        iter->ndim++;
    }
}

void histo_strided_iter_make_ragged(histo_strided_iter *iter, int operands, const histo_view *const *views,
                                    int64_t batch, const int64_t *offsets)
{
    int64_t n = views[0]->shape[0];
    *iter = (histo_strided_iter){
        .operands = operands, .ndim = 1, .batch = batch, .per_batch = n, .shape = {n}, .offsets = offsets};
    for (int o = 0; o < operands; o++) {
        iter->base[o] = views[o]->data;
        iter->strides[o][0] = views[o]->strides[0];
    }
}

void histo_strided_iter_make_pairs(histo_strided_iter *iter, const histo_view *stack, histo_pairs step)
{
    const int at = stack->batch_ndim;
    histo_view first = *stack;
    const histo_view *views[] = {&first};
    first.ndim--;
    for (int d = at; d < first.ndim; d++) {
        first.shape[d] = stack->shape[d + 1];
        first.strides[d] = stack->strides[d + 1];
    }
    histo_strided_iter_make(iter, 1, views);
    iter->images = (int)stack->shape[at];
    iter->step = (int)step;
    iter->image_stride = stack->strides[at];
    for (int d = iter->ndim++; d > iter->batch_ndim; d--) {
        iter->shape[d] = iter->shape[d - 1];
        iter->strides[0][d] = iter->strides[0][d - 1];
    }
    iter->shape[iter->batch_ndim] = iter->images / iter->step;
    iter->strides[0][iter->batch_ndim] = iter->image_stride * iter->step;
    iter->per_batch *= iter->images / iter->step;
}

histo_strided_iter histo_strided_iter_places(const histo_strided_iter *iter)
{
    histo_strided_iter places = *iter;
    places.per_batch /= iter->images / iter->step;
    places.ndim--;
    for (int d = iter->batch_ndim; d < places.ndim; d++) {
        places.shape[d] = iter->shape[d + 1];
        places.strides[0][d] = iter->strides[0][d + 1];
    }
    return places;
}

int64_t histo_strided_iter_samples(const histo_strided_iter *iter)
{
    return iter->offsets ? iter->per_batch : iter->batch * iter->per_batch;
}

/* The last batch entry that begins at or before a sample. */
static int64_t entry_of(const histo_strided_iter *iter, int64_t sample)
{
    int64_t low = 0, high = iter->batch - 1;
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        if (iter->offsets[middle] <= sample)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void histo_walk_start(histo_walk *walk, const histo_strided_iter *iter, int64_t begin, int64_t end, int64_t limit)
{
    *walk = (histo_walk){.iter = iter, .left = end - begin, .limit = limit};
    for (int d = iter->ndim - 1; d >= 0 && walk->left > 0; d--) {
        walk->index[d] = begin % iter->shape[d];
        begin /= iter->shape[d];
    }
    if (iter->offsets && walk->left > 0) walk->entry = entry_of(iter, walk->index[0]);
}

bool histo_walk_next(histo_walk *walk, histo_run *run)
{
    if (walk->left <= 0) return false;
    const histo_strided_iter *iter = walk->iter;
    int last = iter->ndim - 1;
    int64_t n = iter->shape[last] - walk->index[last];
    if (n > walk->limit) n = walk->limit;
    if (n > walk->left) n = walk->left;
    run->batch = 0;
    if (iter->offsets) {
        while (iter->offsets[walk->entry + 1] <= walk->index[0])
            walk->entry++;
        int64_t of_entry = iter->offsets[walk->entry + 1] - walk->index[0];
        if (n > of_entry) n = of_entry;
        run->batch = walk->entry;
    }
    run->n = n;
    for (int d = 0; d < iter->batch_ndim; d++)
        run->batch = run->batch * iter->shape[d] + walk->index[d];
    for (int o = 0; o < iter->operands; o++) {
        const char *at = iter->base[o];
        for (int d = 0; d <= last; d++)
            at += walk->index[d] * iter->strides[o][d];
        run->at[o] = at;
    }
    walk->left -= n;
    walk->index[last] += n;
    for (int d = last; d > 0 && walk->index[d] == iter->shape[d]; d--) {
        walk->index[d] = 0;
        walk->index[d - 1]++;
    }
    return true;
}
