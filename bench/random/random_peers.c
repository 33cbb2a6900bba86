#include "bench/random/random_peers.h"

#include "base/error.h"

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
