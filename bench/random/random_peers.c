#include "bench/random/random_peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/peers/naive_loops.h"

/* ---- Tasks for the peers of a race ---- */

/* True if the samples are contiguous and aligned, as peers need them. */
static bool is_plain(const random_problem *p)
{
    if (p->mask < 1 || p->where < 1 || p->storage == HISTO_SPARSE) return false;
    if (p->weighting && (p->weights < HISTO_F32 || p->alike)) return false;
    return p->offset % (int64_t)histo_dtype_size(p->axis[0].type) == 0;
}

/* One axis, or the columns of a table of one type and nothing else. */
static bool are_axes_plain(const random_problem *p)
{
    for (int a = 0; a < p->axes; a++) {
        bool natural = p->axis[a].kind <= HISTO_REGULAR;
        if (p->axes > 1 && (!natural || p->axis[a].type != p->axis[0].type)) return false;
    }
    if (p->axes == 1) return p->layout == PROBLEM_ARRAY || p->layout == PROBLEM_REGION || p->layout == PROBLEM_CHANNELS;
    return p->axes <= BENCH_MAX_AXES && p->layout == PROBLEM_TABLE && p->channels == p->axes;
}

/* Rows, or channels of pixels in rows: images, channels, height, width. */
static void arrange(const random_problem *p, const histo_view *view, bench_arrangement *to)
{
    const bool channels = p->layout == PROBLEM_CHANNELS;
    const int rows = view->ndim - 2;
    const int64_t height = view->shape[rows], width = view->shape[rows + 1];
    *to = (bench_arrangement){.counted = p->samples, .touched = p->samples, .batch = p->batch};
    to->stored = problem_samples_shape(p).stored;
    to->view = (histo_view){.data = view->data, .dtype = view->dtype, .ndim = 4, .batch_ndim = channels ? 2 : 0};
    const int64_t shape[] = {1, channels ? p->batch : 1, height, width};
    const int64_t strides[] = {height * view->strides[rows], (int64_t)histo_dtype_size(view->dtype),
                               view->strides[rows], view->strides[rows + 1]};
    for (int d = 0; d < 4; d++) {
        to->view.shape[d] = shape[d];
        to->view.strides[d] = strides[d];
    }
}

bool problem_task_make(const problem_data *data, int threads, problem_task *to)
{
    const random_problem *p = data->problem;
    if (!is_plain(p) || !are_axes_plain(p)) return false;
    bench_input input = {.dtype = p->axis[0].type, .bins = 1, .weighting = p->weighting, .weights = p->weights};
    input.axis = p->axis[0].kind <= HISTO_REGULAR ? BENCH_NATURAL : BENCH_QUANTILES;
    input.axes = p->axes > 1 ? p->axes : 0;
    input.interleaved = p->axes > 1;
    for (int a = 0; a < p->axes; a++) {
        if (p->axes > 1) input.each[a] = p->axis[a].bins;
        input.bins *= p->axis[a].bins;
    }
    *to = (problem_task){.input = input};
    problem_fill_make(data, false, &to->fill);
    const bool arranged = p->layout == PROBLEM_REGION || p->layout == PROBLEM_CHANNELS;
    if (arranged) arrange(p, to->fill.samples, &to->arranged);
    to->task = (bench_task){.input = &to->input,
                            .axis = data->axes,
                            .edges = p->axes > 1 ? NULL : data->edges[0],
                            .samples = to->fill.samples[0].data,
                            .views = arranged ? &to->arranged.view : to->fill.samples,
                            .arranged = arranged ? &to->arranged : NULL,
                            .weights = p->weighting ? to->fill.weights.data : NULL,
                            .count = p->samples,
                            .all = p->samples,
                            .threads = threads};
    return true;
}

histo_status problem_peer_begin(const problem_task *to, const bench_peer *peer, void **state)
{
    *state = NULL;
    if (to->task.arranged && !peer->arranges) return histo_fail(HISTO_UNSUPPORTED, "it counts one array");
    if (peer->finds_slots) return histo_fail(HISTO_UNSUPPORTED, "not for arrays");
    if (to->task.weights && !peer->weighs) return histo_fail(HISTO_UNSUPPORTED, "it sums no weights");
    return peer->begin(&to->task, state);
}

/* ---- The naive loop ---- */

enum { BLOCK = 1024 };

typedef struct problem_naive {
    const problem_data *data;
    problem_fill fill;
    int64_t bins; /* of a histogram */
    uint64_t *counts;
    double *sums, *squares; /* behind the counts; NULL without */
} problem_naive;

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

histo_status problem_naive_create(const problem_data *data, void **naive)
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
    const size_t all = (size_t)(loop->bins * p->batch), arrays = (size_t)(1 + (p->weighting != 0) + squares);
    loop->counts = histo_calloc(arrays * all, sizeof *loop->counts);
    if (!loop->counts) return histo_fail_memory(arrays * all * sizeof *loop->counts, "a naive loop");
    if (p->weighting) loop->sums = (double *)(loop->counts + all);
    if (squares) loop->squares = loop->sums + all;
    return HISTO_OK;
}

void problem_naive_destroy(void *naive)
{
    problem_naive *loop = naive;
    free(loop->counts);
    free(loop);
}
