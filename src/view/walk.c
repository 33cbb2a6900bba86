#include "view/walk.h"

#include <string.h>

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

/* Traverse a dimension with a negative stride of the first operand from its other end. */
static void flip_dimension(histo_strided_iter *iter, int d)
{
    for (int o = 0; o < iter->operands; o++) {
        iter->base[o] += (iter->shape[d] - 1) * iter->strides[o][d];
        iter->strides[o][d] = -iter->strides[o][d];
    }
}

/* Order by memory: the largest stride outermost, so that runs are contiguous. */
static bool comes_before(const histo_strided_iter *iter, int a, int b)
{
    return distance(iter->strides[0][a]) > distance(iter->strides[0][b]);
}

static bool joins(const histo_strided_iter *iter, int outer, int inner)
{
    for (int o = 0; o < iter->operands; o++)
        if (iter->strides[o][outer] != iter->strides[o][inner] * iter->shape[inner]) return false;
    return true;
}

/* Merge dimensions from free_dim on where all operands allow it. */
static void join_dimensions(histo_strided_iter *iter, int free_dim)
{
    int joined = free_dim;
    for (int d = free_dim; d < iter->ndim; d++) {
        if (d > free_dim && joins(iter, joined - 1, d)) {
            iter->shape[joined - 1] *= iter->shape[d];
            for (int o = 0; o < iter->operands; o++)
                iter->strides[o][joined - 1] = iter->strides[o][d];
        } else {
            iter->shape[joined] = iter->shape[d];
            for (int o = 0; o < iter->operands; o++)
                iter->strides[o][joined] = iter->strides[o][d];
            joined++;
        }
    }
    iter->ndim = joined;
}

/* Clear only what describes this number of operands: clearing everything would take longer than counting a few
 * samples. */
static void clear(histo_strided_iter *iter, int operands)
{
    iter->operands = operands;
    iter->ndim = iter->batch_ndim = 0;
    iter->images = iter->step = 0;
    iter->relative = 0;
    iter->image_stride = 0;
    iter->offsets = NULL;
    memset(iter->shape, 0, sizeof iter->shape);
    memset(iter->strides, 0, (size_t)operands * sizeof *iter->strides);
}

void histo_strided_iter_make(histo_strided_iter *iter, int operands, const histo_view *const *views)
{
    const histo_view *first = views[0];
    clear(iter, operands);
    iter->batch = iter->per_batch = 1;
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
    for (int d = free_dim + 1; d < iter->ndim; d++) /* insertion sort: stable, and at most 8 long */
        for (int e = d; e > free_dim && comes_before(iter, e, e - 1); e--)
            swap_dimensions(iter, e - 1, e);
    join_dimensions(iter, free_dim);
    if (iter->ndim == iter->batch_ndim) { /* one sample per batch entry: runs of one */
        iter->shape[iter->ndim] = 1;
        for (int o = 0; o < operands; o++)
            iter->strides[o][iter->ndim] = 0;
        iter->ndim++;
    }
}

bool histo_iter_repeats(const histo_strided_iter *iter, int but)
{
    for (int o = 0; o < iter->operands; o++)
        for (int d = 0; d < iter->batch_ndim; d++)
            if (o != but && iter->strides[o][d]) return false;
    return true;
}

void histo_strided_iter_make_ragged(histo_strided_iter *iter, int operands, const histo_view *const *views,
                                    int64_t batch, const int64_t *offsets)
{
    int64_t n = views[0]->shape[0];
    clear(iter, operands);
    iter->ndim = 1;
    iter->batch = batch;
    iter->per_batch = iter->shape[0] = n;
    iter->offsets = offsets;
    for (int o = 0; o < operands; o++) {
        iter->base[o] = views[o]->data;
        iter->strides[o][0] = views[o]->strides[0];
    }
}

static void swap_steps(histo_entries *entries, int a, int b)
{
    const int64_t step = entries->steps[a];
    entries->steps[a] = entries->steps[b];
    entries->steps[b] = step;
}

void histo_strided_iter_span(const histo_strided_iter *iter, bool in_memory_order, histo_strided_iter *all,
                             histo_entries *entries)
{
    *all = *iter;
    *entries = (histo_entries){.offsets = iter->offsets, .batch = iter->batch};
    all->batch = 1;
    all->batch_ndim = 0;
    all->offsets = NULL;
    if (iter->offsets) return;
    if (all->ndim > 1 && all->shape[all->ndim - 1] == 1) all->ndim--; /* entries of one sample */
    all->per_batch *= iter->batch;
    int64_t step = 1;
    for (int d = iter->batch_ndim - 1; d >= 0; d--) {
        entries->steps[d] = step;
        step *= iter->shape[d];
    }
    for (int d = 0; d < all->ndim && in_memory_order; d++) {
        if (all->strides[0][d] < 0) {
            flip_dimension(all, d);
            entries->first += (all->shape[d] - 1) * entries->steps[d];
            entries->steps[d] = -entries->steps[d];
        }
        for (int e = d; e > 0 && comes_before(all, e, e - 1); e--) {
            swap_dimensions(all, e - 1, e);
            swap_steps(entries, e - 1, e);
        }
    }
    for (int d = 0; d < all->ndim; d++) {
        const int last = entries->ndim - 1;
        if (d > 0 && entries->steps[last] == entries->steps[d] * all->shape[d]) {
            entries->shape[last] *= all->shape[d];
            entries->steps[last] = entries->steps[d];
        } else {
            entries->shape[last + 1] = all->shape[d];
            entries->steps[last + 1] = entries->steps[d];
            entries->ndim++;
        }
    }
    join_dimensions(all, 0);
}

/* The last batch entry that begins at or before a sample. */
static int64_t entry_of(const int64_t *offsets, int64_t batch, int64_t sample)
{
    int64_t low = 0, high = batch - 1;
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        if (offsets[middle] <= sample)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void fill_entries(uint32_t *restrict out, int n, uint32_t value, uint32_t step)
{
    if (step == 0)
        for (int i = 0; i < n; i++)
            out[i] = value;
    else
        for (int i = 0; i < n; i++, value += step)
            out[i] = value;
}

static void ragged_entries(const histo_entries *entries, int64_t begin, int n, uint32_t unit, uint32_t *out)
{
    int64_t at = entry_of(entries->offsets, entries->batch, begin);
    for (int i = 0, some; i < n; i += some, at++) {
        const int64_t left = entries->offsets[at + 1] - (begin + i);
        some = left < n - i ? (int)left : n - i;
        fill_entries(out + i, some, unit * (uint32_t)at, 0);
    }
}

/* Entries that repeat after a few samples, as in interleaved channels. */
static void repeat_entries(uint32_t *out, int n, int period)
{
    for (int i = period, some; i < n; i += some) {
        some = i < n - i ? i : n - i;
        memcpy(out + i, out, (size_t)some * sizeof *out);
    }
}

void histo_entries_of(const histo_entries *entries, int64_t begin, int n, uint32_t unit, uint32_t *out)
{
    if (entries->offsets) {
        ragged_entries(entries, begin, n, unit, out);
        return;
    }
    const int last = entries->ndim - 1;
    const uint32_t step = unit * (uint32_t)entries->steps[last];
    const bool repeats = entries->ndim == 2 && entries->steps[0] == 0 && entries->shape[1] < n;
    const int different = repeats ? (int)entries->shape[1] : n;
    int64_t index[HISTO_MAX_DIMS + 1], at = entries->first;
    for (int d = last; d >= 0; d--) {
        index[d] = begin % entries->shape[d];
        begin /= entries->shape[d];
        at += index[d] * entries->steps[d];
    }
    for (int i = 0, some; i < different; i += some) {
        const int64_t left = entries->shape[last] - index[last];
        some = left < different - i ? (int)left : different - i;
        fill_entries(out + i, some, unit * (uint32_t)at, step);
        index[last] += some;
        at += some * entries->steps[last];
        for (int d = last; d > 0 && index[d] == entries->shape[d]; d--) {
            index[d] = 0;
            index[d - 1]++;
            at += entries->steps[d - 1] - entries->shape[d] * entries->steps[d];
        }
    }
    repeat_entries(out, n, different);
}

int64_t histo_entries_run(const histo_entries *entries, int64_t sample, int64_t *entry)
{
    if (entries->offsets) {
        *entry = entry_of(entries->offsets, entries->batch, sample);
        return entries->offsets[*entry + 1] - sample;
    }
    const int last = entries->ndim - 1;
    const int64_t run = entries->steps[last] ? 1 : entries->shape[last] - sample % entries->shape[last];
    *entry = entries->first;
    for (int d = last; d >= 0; d--) {
        *entry += sample % entries->shape[d] * entries->steps[d];
        sample /= entries->shape[d];
    }
    return run;
}

void histo_walk_start(histo_walk *walk, const histo_strided_iter *iter, int64_t begin, int64_t end, int64_t limit)
{
    *walk = (histo_walk){.iter = iter, .left = end - begin, .limit = limit};
    for (int d = iter->ndim - 1; d >= 0 && walk->left > 0 && begin > 0; d--) {
        walk->index[d] = begin % iter->shape[d];
        begin /= iter->shape[d];
    }
    if (iter->offsets && walk->left > 0) walk->entry = entry_of(iter->offsets, iter->batch, walk->index[0]);
}

/* Set the address of the next sample in each operand, and its batch entry. */
static void locate(const histo_walk *walk, histo_run *run)
{
    const histo_strided_iter *iter = walk->iter;
    run->batch = iter->offsets ? walk->entry : 0;
    for (int d = 0; d < iter->batch_ndim; d++)
        run->batch = run->batch * iter->shape[d] + walk->index[d];
    for (int o = 0; o < iter->operands; o++) {
        const char *at = iter->base[o];
        for (int d = 0; d < iter->ndim; d++)
            at += walk->index[d] * iter->strides[o][d];
        run->at[o] = at;
    }
}

/* Count n steps of a dimension as walked. */
static void advance(histo_walk *walk, int dimension, int64_t n)
{
    walk->index[dimension] += n;
    for (int d = dimension; d > 0 && walk->index[d] == walk->iter->shape[d]; d--) {
        walk->index[d] = 0;
        walk->index[d - 1]++;
    }
}

bool histo_walk_next(histo_walk *walk, histo_run *run)
{
    if (walk->left <= 0) return false;
    const histo_strided_iter *iter = walk->iter;
    int last = iter->ndim - 1;
    int64_t n = iter->shape[last] - walk->index[last];
    if (n > walk->limit) n = walk->limit;
    if (n > walk->left) n = walk->left;
    if (iter->offsets) {
        while (iter->offsets[walk->entry + 1] <= walk->index[0])
            walk->entry++;
        int64_t of_entry = iter->offsets[walk->entry + 1] - walk->index[0];
        if (n > of_entry) n = of_entry;
    }
    run->n = n;
    locate(walk, run);
    walk->left -= n;
    advance(walk, last, n);
    return true;
}

int64_t histo_walk_rows(histo_walk *walk, int64_t most, histo_run *run)
{
    const histo_strided_iter *iter = walk->iter;
    const int last = iter->ndim - 1, rows = last - 1;
    if (rows < iter->batch_ndim || iter->offsets || walk->index[last] || !walk->index[rows]) return 0;
    const int64_t length = iter->shape[last], in_image = iter->shape[rows] - walk->index[rows];
    const int64_t left = walk->left / length, some = in_image < left ? in_image : left, n = some < most ? some : most;
    if (n <= 0 || length > walk->limit) return 0;
    run->n = length;
    locate(walk, run);
    walk->left -= n * length;
    advance(walk, rows, n);
    return n;
}
