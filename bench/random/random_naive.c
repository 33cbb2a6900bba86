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

static void count_block(const problem_naive *loop, const naive_bins *b, const stretch *s, int64_t first, int64_t n)
{
    const random_problem *p = loop->data->problem;
    int64_t bins[BLOCK];
    double values[BLOCK];
    memset(bins, 0, (size_t)n * sizeof *bins);
    for (int a = 0; a < p->axes; a++) {
        const int64_t stride = last_stride(&loop->fill.samples[a]);
        naive_loops[p->axis[a].type].index(&b[a], s->samples[a] + first * stride, stride, n, bins);
    }
    if (s->mask) {
        const int64_t stride = last_stride(&loop->fill.mask);
        naive_loops[p->mask_type].widen(s->mask + first * stride, stride, n, values);
        for (int64_t i = 0; i < n; i++)
            if (values[i] == 0) bins[i] = -1;
    }
    if (s->where) {
        const int64_t stride = last_stride(&loop->fill.where);
        naive_loops[p->where_type].widen(s->where + first * stride, stride, n, values);
        for (int64_t i = 0; i < n; i++)
            if (!(values[i] >= loop->data->where_lo && values[i] <= loop->data->where_hi)) bins[i] = -1;
    }
    for (int64_t i = 0; i < n; i++)
        if (bins[i] >= 0) s->counts[bins[i]]++;
    if (!s->weights) return;
    const int64_t stride = last_stride(&loop->fill.weights);
    naive_loops[p->weights].widen(s->weights + first * stride, stride, n, values);
    for (int64_t i = 0; i < n; i++) {
        if (bins[i] < 0) continue;
        loop->sums[s->counter + bins[i]] += values[i];
        if (loop->squares) loop->squares[s->counter + bins[i]] += values[i] * values[i];
    }
}

static void count_stretch(const problem_naive *loop, const naive_bins *b, const stretch *s)
{
    const random_problem *p = loop->data->problem;
    if (p->axes == 1 && !s->weights && !s->mask && !s->where) {
        naive_loops[p->axis[0].type].count(b, s->samples[0], last_stride(&loop->fill.samples[0]), s->n, s->counts);
        return;
    }
    for (int64_t first = 0; first < s->n; first += BLOCK)
        count_block(loop, b, s, first, s->n - first < BLOCK ? s->n - first : BLOCK);
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

static stretch stretch_at(const problem_naive *loop, int64_t row, int64_t first, int64_t n, int64_t batch)
{
    const random_problem *p = loop->data->problem;
    stretch s = {.n = n, .counter = batch * loop->bins, .counts = loop->counts + batch * loop->bins};
    for (int a = 0; a < p->axes; a++)
        s.samples[a] = row_of(&loop->fill.samples[a], row) + first * last_stride(&loop->fill.samples[a]);
    if (loop->fill.options.weights)
        s.weights = row_of(&loop->fill.weights, row) + first * last_stride(&loop->fill.weights);
    if (loop->fill.options.mask) s.mask = row_of(&loop->fill.mask, row) + first * last_stride(&loop->fill.mask);
    if (loop->fill.options.where) s.where = row_of(&loop->fill.where, row) + first * last_stride(&loop->fill.where);
    return s;
}

histo_status problem_naive_run(void *naive, void *stream)
{
    const problem_naive *loop = naive;
    const random_problem *p = loop->data->problem;
    const histo_view *view = &loop->fill.samples[0];
    const int64_t *offsets = loop->fill.options.offsets;
    const int64_t length = view->shape[view->ndim - 1], rows = p->samples / length;
    naive_bins b[HISTO_MAX_AXES];
    (void)stream;
    for (int a = 0; a < p->axes; a++)
        b[a] = naive_bins_of(&loop->data->axes[a], loop->data->edges[a], p->axis[a].type);
    for (int64_t batch = 0; offsets && batch < p->batch; batch++) {
        stretch s = stretch_at(loop, 0, offsets[batch], offsets[batch + 1] - offsets[batch], batch);
        count_stretch(loop, b, &s);
    }
    for (int64_t row = 0; row < rows && !offsets; row++) {
        stretch s = stretch_at(loop, row, 0, length, view->batch_ndim ? row / (rows / p->batch) : 0);
        count_stretch(loop, b, &s);
    }
    return HISTO_OK;
}

histo_status problem_naive_create(const problem_data *data, problem_naive **naive)
{
    const random_problem *p = data->problem;
    const bool squares = p->weighting == HISTO_WEIGHT_FAST || p->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    *naive = NULL;
    if (p->storage == HISTO_SPARSE) return histo_fail(HISTO_UNSUPPORTED, "it needs memory for every slot");
    problem_naive *loop = histo_calloc(1, sizeof *loop);
    if (!loop) return histo_fail_memory(sizeof *loop, "a naive loop");
    *naive = loop;
    loop->data = data;
    problem_fill_make(data, true, &loop->fill);
    loop->bins = 1;
    for (int a = 0; a < p->axes; a++)
        loop->bins *= p->axis[a].bins;
    const size_t all = (size_t)(loop->bins * p->batch);
    loop->counts = histo_calloc(all, sizeof *loop->counts);
    if (p->weighting) loop->sums = histo_calloc(all, sizeof *loop->sums);
    if (squares) loop->squares = histo_calloc(all, sizeof *loop->squares);
    bool failed = !loop->counts || (p->weighting && !loop->sums) || (squares && !loop->squares);
    return failed ? histo_fail_memory(all * sizeof *loop->counts, "a naive loop") : HISTO_OK;
}

void problem_naive_destroy(problem_naive *naive)
{
    if (!naive) return;
    free(naive->counts);
    free(naive->sums);
    free(naive->squares);
    free(naive);
}
