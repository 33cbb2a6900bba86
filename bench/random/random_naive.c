#include "bench/random/random_naive.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/peers/naive_loops.h"

enum { BLOCK = 1024 };

struct problem_naive {
    const problem_data *data;
    problem_fill fill;
    int64_t bins; /* of a histogram */
    uint64_t *counts;
    double *sums, *squares; /* NULL without */
};

/* Samples [first, first + n) of one row, whose first sample has index `at` in the view. */
typedef struct stretch {
    const char *samples[HISTO_MAX_AXES], *weights, *mask, *where;
    int64_t n;
    uint64_t *counts;
    int64_t counter; /* of the first bin, among all */
} stretch;

static int64_t last_stride(const histo_view *view)
{
    return view->strides[view->ndim - 1];
}

static void count_block(const problem_naive *it, const naive_bins *b, const stretch *s, int64_t first, int64_t n)
{
    const random_problem *p = it->data->problem;
    int64_t bins[BLOCK];
    double values[BLOCK];
    memset(bins, 0, (size_t)n * sizeof *bins);
    for (int a = 0; a < p->axes; a++) {
        const int64_t stride = last_stride(&it->fill.samples[a]);
        naive_loops[p->axis[a].type].index(&b[a], s->samples[a] + first * stride, stride, n, bins);
    }
    if (s->mask) {
        const int64_t stride = last_stride(&it->fill.mask);
        naive_loops[p->mask_type].widen(s->mask + first * stride, stride, n, values);
        for (int64_t i = 0; i < n; i++)
            if (values[i] == 0) bins[i] = -1;
    }
    if (s->where) {
        const int64_t stride = last_stride(&it->fill.where);
        naive_loops[p->where_type].widen(s->where + first * stride, stride, n, values);
        for (int64_t i = 0; i < n; i++)
            if (!(values[i] >= it->data->where_lo && values[i] <= it->data->where_hi)) bins[i] = -1;
    }
    for (int64_t i = 0; i < n; i++)
        if (bins[i] >= 0) s->counts[bins[i]]++;
    if (!s->weights) return;
    const int64_t stride = last_stride(&it->fill.weights);
    naive_loops[p->weights].widen(s->weights + first * stride, stride, n, values);
    for (int64_t i = 0; i < n; i++) {
        if (bins[i] < 0) continue;
        it->sums[s->counter + bins[i]] += values[i];
        if (it->squares) it->squares[s->counter + bins[i]] += values[i] * values[i];
    }
}

static void count_stretch(const problem_naive *it, const naive_bins *b, const stretch *s)
{
    const random_problem *p = it->data->problem;
    if (p->axes == 1 && !s->weights && !s->mask && !s->where) {
        naive_loops[p->axis[0].type].count(b, s->samples[0], last_stride(&it->fill.samples[0]), s->n, s->counts);
        return;
    }
    for (int64_t first = 0; first < s->n; first += BLOCK)
        count_block(it, b, s, first, s->n - first < BLOCK ? s->n - first : BLOCK);
}

/* Row `row` of a view. */
static const char *row_of(const histo_view *view, int64_t row)
{
    const char *at = view->data;
    for (int d = view->ndim - 2; d >= 0; d--) {
        at += row % view->shape[d] * view->strides[d];
        row /= view->shape[d];
    }
    return at;
}

static stretch stretch_at(const problem_naive *it, int64_t row, int64_t first, int64_t n, int64_t batch)
{
    const random_problem *p = it->data->problem;
    stretch s = {.n = n, .counter = batch * it->bins, .counts = it->counts + batch * it->bins};
    for (int a = 0; a < p->axes; a++)
        s.samples[a] = row_of(&it->fill.samples[a], row) + first * last_stride(&it->fill.samples[a]);
    if (it->fill.options.weights) s.weights = row_of(&it->fill.weights, row) + first * last_stride(&it->fill.weights);
    if (it->fill.options.mask) s.mask = row_of(&it->fill.mask, row) + first * last_stride(&it->fill.mask);
    if (it->fill.options.where) s.where = row_of(&it->fill.where, row) + first * last_stride(&it->fill.where);
    return s;
}

histo_status problem_naive_run(void *naive, void *stream)
{
    const problem_naive *it = naive;
    const random_problem *p = it->data->problem;
    const histo_view *view = &it->fill.samples[0];
    const int64_t *offsets = it->fill.options.offsets;
    const int64_t length = view->shape[view->ndim - 1], rows = p->samples / length;
    naive_bins b[HISTO_MAX_AXES];
    (void)stream;
    for (int a = 0; a < p->axes; a++)
        b[a] = naive_bins_of(&it->data->axes[a], it->data->edges[a], p->axis[a].type);
    for (int64_t batch = 0; offsets && batch < p->batch; batch++) {
        stretch s = stretch_at(it, 0, offsets[batch], offsets[batch + 1] - offsets[batch], batch);
        count_stretch(it, b, &s);
    }
    for (int64_t row = 0; row < rows && !offsets; row++) {
        stretch s = stretch_at(it, row, 0, length, view->batch_ndim ? row / (rows / p->batch) : 0);
        count_stretch(it, b, &s);
    }
    return HISTO_OK;
}

histo_status problem_naive_create(const problem_data *data, problem_naive **naive)
{
    const random_problem *p = data->problem;
    const bool squares = p->weighting == HISTO_WEIGHT_FAST || p->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    *naive = NULL;
    if (p->storage == HISTO_SPARSE) return histo_fail(HISTO_UNSUPPORTED, "it needs memory for every slot");
    problem_naive *it = histo_calloc(1, sizeof *it);
    if (!it) return histo_fail_memory(sizeof *it, "a naive loop");
    *naive = it;
    it->data = data;
    problem_fill_make(data, true, &it->fill);
    it->bins = 1;
    for (int a = 0; a < p->axes; a++)
        it->bins *= p->axis[a].bins;
    const size_t all = (size_t)(it->bins * p->batch);
    it->counts = histo_calloc(all, sizeof *it->counts);
    if (p->weighting) it->sums = histo_calloc(all, sizeof *it->sums);
    if (squares) it->squares = histo_calloc(all, sizeof *it->squares);
    bool failed = !it->counts || (p->weighting && !it->sums) || (squares && !it->squares);
    return failed ? histo_fail_memory(all * sizeof *it->counts, "a naive loop") : HISTO_OK;
}

void problem_naive_destroy(problem_naive *naive)
{
    if (!naive) return;
    free(naive->counts);
    free(naive->sums);
    free(naive->squares);
    free(naive);
}
