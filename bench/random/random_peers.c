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
                            .threads = threads};
    return true;
}

/* ---- Additions in a GPU's memory ---- */

histo_status problem_atomics_begin(const problem_data *data, const random_device *device, void **state)
{
    reference_rule rule;
    *state = NULL;
    if (data->problem->storage == HISTO_SPARSE) return histo_fail(HISTO_UNSUPPORTED, "it needs memory for every slot");
    histo_status status = problem_rule_make(data, false, &rule);
    if (status == HISTO_OK) status = device->atomics_begin(&rule, data->axes, state);
    reference_finders_free(&rule);
    return status;
}

/* ---- The naive loop ---- */

enum { BLOCK = 1024 };

typedef struct problem_naive {
    reference_rule rule; /* of the arrays in host memory; its finders are not used */
    naive_bins axis[HISTO_MAX_AXES];
    int64_t bins; /* of a histogram */
    uint64_t *counts;
    double *sums, *squares; /* behind the counts; NULL without */
} problem_naive;

static int64_t last_stride(const histo_view *view)
{
    return view->strides[view->ndim - 1];
}

/* Samples of a row as doubles. */
static void widen(const histo_view *view, const char *at, int64_t n, double values[BLOCK])
{
    naive_loops[view->dtype].widen(at, last_stride(view), n, values);
}

/* Samples [first, first + n) of a row, at most BLOCK of them. counter: of the histogram's first bin, among all. */
static void count_block(const problem_naive *loop, int64_t first, int64_t n, int64_t counter)
{
    const reference_rule *rule = &loop->rule;
    const reference_row row = reference_row_at(rule, first);
    int64_t bins[BLOCK];
    double values[BLOCK];
    memset(bins, 0, (size_t)n * sizeof *bins);
    for (int a = 0; a < rule->axes; a++)
        naive_loops[rule->view[a].dtype].index(&loop->axis[a], row.samples[a], last_stride(&rule->view[a]), n, bins);
    if (row.mask) {
        widen(&rule->mask, row.mask, n, values);
        for (int64_t i = 0; i < n; i++)
            if (values[i] == 0) bins[i] = -1;
    }
    if (row.where) {
        widen(&rule->where, row.where, n, values);
        for (int64_t i = 0; i < n; i++)
            if (!(values[i] >= rule->where_lo && values[i] <= rule->where_hi)) bins[i] = -1;
    }
    for (int64_t i = 0; i < n; i++)
        if (bins[i] >= 0) loop->counts[counter + bins[i]]++;
    if (!row.weights) return;
    widen(&rule->weights, row.weights, n, values);
    for (int64_t i = 0; i < n; i++) {
        if (bins[i] < 0) continue;
        loop->sums[counter + bins[i]] += values[i];
        if (loop->squares) loop->squares[counter + bins[i]] += values[i] * values[i];
    }
}

/* Samples [first, first + n) of a row, into one histogram. */
static void count_row(const problem_naive *loop, int64_t first, int64_t n, int64_t batch)
{
    const reference_rule *rule = &loop->rule;
    const int64_t counter = batch * loop->bins, end = first + n;
    if (rule->axes == 1 && !rule->weighting && !rule->masked && !rule->filtered) {
        const histo_view *view = &rule->view[0];
        naive_loops[view->dtype].count(&loop->axis[0], reference_address(view, first), last_stride(view), n,
                                       loop->counts + counter);
        return;
    }
    for (; first < end; first += BLOCK)
        count_block(loop, first, end - first < BLOCK ? end - first : BLOCK, counter);
}

histo_status problem_naive_run(void *naive, void *stream)
{
    const problem_naive *loop = naive;
    const reference_rule *rule = &loop->rule;
    const histo_view *view = &rule->view[0];
    const int64_t length = view->shape[view->ndim - 1], *offsets = rule->offsets;
    (void)stream;
    for (int64_t batch = 0; offsets && batch < rule->batch; batch++)
        count_row(loop, offsets[batch], offsets[batch + 1] - offsets[batch], batch);
    for (int64_t first = 0; first < rule->samples && !offsets; first += length)
        count_row(loop, first, length, reference_batch_of(rule, first));
    return HISTO_OK;
}

histo_status problem_naive_create(const problem_data *data, void **naive)
{
    const random_problem *p = data->problem;
    const bool squares = reference_sums_squares(p->weighting);
    *naive = NULL;
    if (p->storage == HISTO_SPARSE) return histo_fail(HISTO_UNSUPPORTED, "it needs memory for every slot");
    problem_naive *loop = histo_calloc(1, sizeof *loop);
    if (!loop) return histo_fail_memory(sizeof *loop, "a naive loop");
    *naive = loop;
    loop->bins = 1;
    for (int a = 0; a < p->axes; a++) {
        loop->axis[a] = naive_bins_of(&data->axes[a], data->edges[a], p->axis[a].type);
        loop->bins *= p->axis[a].bins;
    }
    const size_t all = (size_t)(loop->bins * p->batch), arrays = (size_t)(1 + (p->weighting != 0) + squares);
    loop->counts = histo_calloc(arrays * all, sizeof *loop->counts);
    if (!loop->counts) return histo_fail_memory(arrays * all * sizeof *loop->counts, "a naive loop");
    if (p->weighting) loop->sums = (double *)(loop->counts + all);
    if (squares) loop->squares = loop->sums + all;
    return problem_rule_make(data, true, &loop->rule);
}

void problem_naive_destroy(void *naive)
{
    problem_naive *loop = naive;
    reference_finders_free(&loop->rule);
    free(loop->counts);
    free(loop);
}
