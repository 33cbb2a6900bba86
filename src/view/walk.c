#include "view/walk.h"

static int64_t distance(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Exchange two dimensions of all operands. */
static void swap_dimensions(histo_nest *nest, int a, int b)
{
    int64_t extent = nest->shape[a];
    nest->shape[a] = nest->shape[b];
    nest->shape[b] = extent;
    for (int o = 0; o < nest->operands; o++) {
        int64_t stride = nest->strides[o][a];
        nest->strides[o][a] = nest->strides[o][b];
        nest->strides[o][b] = stride;
    }
}

/* Walk a dimension that the first operand has backwards from its other end. */
static void flip_dimension(histo_nest *nest, int d)
{
    for (int o = 0; o < nest->operands; o++) {
        nest->base[o] += (nest->shape[d] - 1) * nest->strides[o][d];
        nest->strides[o][d] = -nest->strides[o][d];
    }
}

static bool joins(const histo_nest *nest, int outer, int inner)
{
    for (int o = 0; o < nest->operands; o++)
        if (nest->strides[o][outer] != nest->strides[o][inner] * nest->shape[inner]) return false;
    return true;
}

void histo_nest_make(histo_nest *nest, int operands, const histo_view *const *views)
{
    const histo_view *first = views[0];
    *nest = (histo_nest){.operands = operands, .batch = 1, .per_batch = 1};
    for (int o = 0; o < operands; o++)
        nest->base[o] = views[o]->data;
    for (int d = 0; d < first->ndim; d++) {
        bool is_batch = d < first->batch_ndim;
        *(is_batch ? &nest->batch : &nest->per_batch) *= first->shape[d];
        if (first->shape[d] == 1) continue;
        for (int o = 0; o < operands; o++)
            nest->strides[o][nest->ndim] = views[o]->strides[d];
        nest->shape[nest->ndim++] = first->shape[d];
        nest->batch_ndim += is_batch;
    }
    if (nest->batch * nest->per_batch == 0) { /* nothing to walk: the addresses may be anything */
        nest->ndim = 1;
        nest->batch_ndim = 0;
        nest->shape[0] = 0;
        return;
    }
    int free_dim = nest->batch_ndim;
    for (int d = free_dim; d < nest->ndim; d++)
        if (nest->strides[0][d] < 0) flip_dimension(nest, d);
    /* Largest stride outermost, so that runs follow memory (insertion sort: stable, and at most 8 long). */
    for (int d = free_dim + 1; d < nest->ndim; d++)
        for (int e = d; e > free_dim && distance(nest->strides[0][e - 1]) < distance(nest->strides[0][e]); e--)
            swap_dimensions(nest, e - 1, e);
    int joined = free_dim;
    for (int d = free_dim; d < nest->ndim; d++) {
        if (d > free_dim && joins(nest, joined - 1, d)) {
            nest->shape[joined - 1] *= nest->shape[d];
            for (int o = 0; o < operands; o++)
                nest->strides[o][joined - 1] = nest->strides[o][d];
        } else {
            nest->shape[joined] = nest->shape[d];
            for (int o = 0; o < operands; o++)
                nest->strides[o][joined] = nest->strides[o][d];
            joined++;
        }
    }
    nest->ndim = joined;
    if (nest->ndim == nest->batch_ndim) { /* one sample a batch entry: a run of one */
        nest->shape[nest->ndim] = 1;
        for (int o = 0; o < operands; o++)
            nest->strides[o][nest->ndim] = 0;
        nest->ndim++;
    }
}

void histo_nest_make_ragged(histo_nest *nest, int operands, const histo_view *const *views, int64_t batch,
                            const int64_t *offsets)
{
    int64_t n = views[0]->shape[0];
    *nest =
        (histo_nest){.operands = operands, .ndim = 1, .batch = batch, .per_batch = n, .shape = {n}, .offsets = offsets};
    for (int o = 0; o < operands; o++) {
        nest->base[o] = views[o]->data;
        nest->strides[o][0] = views[o]->strides[0];
    }
}

void histo_nest_make_pairs(histo_nest *nest, const histo_view *stack, histo_pairs step)
{
    const int at = stack->batch_ndim;
    histo_view first = *stack;
    const histo_view *views[] = {&first};
    first.ndim--;
    for (int d = at; d < first.ndim; d++) {
        first.shape[d] = stack->shape[d + 1];
        first.strides[d] = stack->strides[d + 1];
    }
    histo_nest_make(nest, 1, views);
    nest->images = (int)stack->shape[at];
    nest->step = (int)step;
    nest->image_stride = stack->strides[at];
    for (int d = nest->ndim++; d > nest->batch_ndim; d--) {
        nest->shape[d] = nest->shape[d - 1];
        nest->strides[0][d] = nest->strides[0][d - 1];
    }
    nest->shape[nest->batch_ndim] = nest->images / nest->step;
    nest->strides[0][nest->batch_ndim] = nest->image_stride * nest->step;
    nest->per_batch *= nest->images / nest->step;
}

histo_nest histo_nest_places(const histo_nest *nest)
{
    histo_nest places = *nest;
    places.per_batch /= nest->images / nest->step;
    places.ndim--;
    for (int d = nest->batch_ndim; d < places.ndim; d++) {
        places.shape[d] = nest->shape[d + 1];
        places.strides[0][d] = nest->strides[0][d + 1];
    }
    return places;
}

int64_t histo_nest_samples(const histo_nest *nest)
{
    return nest->offsets ? nest->per_batch : nest->batch * nest->per_batch;
}

/* The last batch entry that begins at a sample or before it. */
static int64_t entry_of(const histo_nest *nest, int64_t sample)
{
    int64_t low = 0, high = nest->batch - 1;
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        if (nest->offsets[middle] <= sample)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void histo_walk_start(histo_walk *walk, const histo_nest *nest, int64_t begin, int64_t end, int64_t limit)
{
    *walk = (histo_walk){.nest = nest, .left = end - begin, .limit = limit};
    for (int d = nest->ndim - 1; d >= 0 && walk->left > 0; d--) {
        walk->index[d] = begin % nest->shape[d];
        begin /= nest->shape[d];
    }
    if (nest->offsets && walk->left > 0) walk->entry = entry_of(nest, walk->index[0]);
}

bool histo_walk_next(histo_walk *walk, histo_run *run)
{
    if (walk->left <= 0) return false;
    const histo_nest *nest = walk->nest;
    int last = nest->ndim - 1;
    int64_t n = nest->shape[last] - walk->index[last];
    if (n > walk->limit) n = walk->limit;
    if (n > walk->left) n = walk->left;
    run->batch = 0;
    if (nest->offsets) {
        while (nest->offsets[walk->entry + 1] <= walk->index[0])
            walk->entry++;
        int64_t of_entry = nest->offsets[walk->entry + 1] - walk->index[0];
        if (n > of_entry) n = of_entry;
        run->batch = walk->entry;
    }
    run->n = n;
    for (int d = 0; d < nest->batch_ndim; d++)
        run->batch = run->batch * nest->shape[d] + walk->index[d];
    for (int o = 0; o < nest->operands; o++) {
        const char *at = nest->base[o];
        for (int d = 0; d <= last; d++)
            at += walk->index[d] * nest->strides[o][d];
        run->at[o] = at;
    }
    walk->left -= n;
    walk->index[last] += n;
    for (int d = last; d > 0 && walk->index[d] == nest->shape[d]; d--) {
        walk->index[d] = 0;
        walk->index[d - 1]++;
    }
    return true;
}
