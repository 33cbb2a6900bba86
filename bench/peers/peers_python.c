/* Python's libraries. They count the same samples, shared in memfds. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench/peers/peer.h"
#include "bench/peers/python.h"
#include "bench/reference/rule.h"
#include "peers.py.h"

/* The files of arrays; the first hold samples. */
enum { WEIGHTS = BENCH_MAX_AXES, MASK, EDGES, COUNTS, FILES };

static struct {
    bench_python process;
    struct {
        const void *from;
        size_t bytes;
    } loaded[FILES];  /* what a file has, while there are states */
    int states, last; /* the number of the last one */
} python;

/* Put these bytes into a file. Entries of one race share the files; longer passes append. */
static histo_status load(int file, const void *from, size_t bytes)
{
    const size_t done = python.loaded[file].from == from ? python.loaded[file].bytes : 0;
    histo_status status = bench_python_put(python.process.files[file], from, done, bytes);
    if (status != HISTO_OK) return status;
    python.loaded[file].from = from;
    python.loaded[file].bytes = bytes > done ? bytes : done;
    return HISTO_OK;
}

/* All edges of all axes, concatenated. */
static histo_status load_edges(const bench_task *task, int axes)
{
    size_t edges = 0;
    for (int a = 0; a < axes; a++)
        edges += (size_t)task->axis[a].bins + 1;
    double *all = malloc(edges * sizeof *all), *next = all;
    if (!all) return histo_fail_memory(edges * sizeof *all, "edges");
    histo_status status = HISTO_OK;
    for (int a = 0; a < axes && status == HISTO_OK; next += task->axis[a++].bins + 1)
        status = histo_axis_edges(&task->axis[a], next);
    python.loaded[EDGES].from = NULL;
    if (status == HISTO_OK) status = load(EDGES, all, edges * sizeof *all);
    free(all);
    return status;
}

/* Bytes from a view's first sample through its last. */
static size_t extent(const histo_view *view)
{
    int64_t bytes = (int64_t)histo_dtype_size(view->dtype);
    for (int d = 0; d < view->ndim; d++)
        bytes += (view->shape[d] - 1) * view->strides[d];
    return (size_t)bytes;
}

/* A file per column; interleaved samples are all in the first. */
static histo_status load_task(const bench_task *task, int axes)
{
    int columns = task->input->interleaved ? 1 : axes;
    size_t interleaved = (size_t)(axes - columns) * histo_dtype_size(task->views->dtype);
    for (int f = 0; f < FILES && python.states == 0; f++)
        python.loaded[f].from = NULL;
    histo_status status = load_edges(task, axes);
    for (int a = 0; a < columns && status == HISTO_OK; a++)
        status = load(a, task->views[a].data, extent(&task->views[a]) + interleaved);
    if (task->mask && status == HISTO_OK) status = load(MASK, task->mask->data, extent(task->mask));
    if (!task->weights || status != HISTO_OK) return status;
    size_t bytes = (size_t)task->count * histo_dtype_size(task->input->weights);
    return load(WEIGHTS, task->weights, bytes);
}

typedef struct library {
    int number;
    const bench_task *task;
} library;

static histo_status ask_to_begin(const char *name, const library *peer, int axes)
{
    const bench_task *task = peer->task;
    const histo_view *view = task->views;
    const char *kind = task->input->axis != BENCH_NATURAL  ? "any"
                       : task->axis->kind == HISTO_INTEGER ? "integer"
                                                           : "equal";
    int64_t bins[BENCH_MAX_AXES], files[BENCH_MAX_AXES], offsets[BENCH_MAX_AXES];
    char lists[5][BENCH_PYTHON_LIST];
    for (int a = 0; a < axes; a++) {
        bins[a] = task->axis[a].bins;
        files[a] = python.process.files[task->input->interleaved ? 0 : a];
        offsets[a] = task->input->interleaved ? (const char *)task->views[a].data - (const char *)view->data : 0;
    }
    return bench_python_ask(
        &python.process, "begin\t%d\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%d\t%s\t%d\n", peer->number, name,
        task->threads, kind, bench_python_list(bins, axes, lists[0]), python.process.files[EDGES],
        histo_dtype_name(view->dtype), bench_python_list(view->shape, view->ndim, lists[1]), view->batch_ndim,
        bench_python_list(view->strides, view->ndim, lists[2]), bench_python_list(files, axes, lists[3]),
        bench_python_list(offsets, axes, lists[4]), task->mask ? python.process.files[MASK] : -1,
        task->weights ? python.process.files[WEIGHTS] : -1,
        task->weights ? histo_dtype_name(task->input->weights) : "none",
        reference_sums_squares(task->input->weighting));
}

static histo_status begin(const char *name, const bench_task *task, void **state)
{
    int axes = bench_input_axes(task->input);
    if (task->arranged && task->arranged->pairs) return histo_fail(HISTO_UNSUPPORTED, "not for pairs of images");
    if (!bench_python_start(&python.process, peers_py)) return bench_python_absent();
    library *peer = malloc(sizeof *peer);
    if (!peer) return histo_fail_memory(sizeof *peer, "a peer");
    *peer = (library){++python.last, task};
    *state = peer;
    histo_status status = load_task(task, axes);
    python.states++;
    return status == HISTO_OK ? ask_to_begin(name, peer, axes) : status;
}

static histo_status run(void *state, void *stream)
{
    (void)stream;
    return bench_python_ask(&python.process, "run\t%d\n", ((const library *)state)->number);
}

static histo_status counts(void *state, uint64_t *counts)
{
    const library *peer = state;
    const bench_task *task = peer->task;
    const int file = python.process.files[COUNTS];
    size_t bytes = sizeof *counts * (size_t)task->input->bins * (size_t)(task->arranged ? task->arranged->batch : 1);
    histo_status status = bench_python_ask(&python.process, "counts\t%d\t%d\t%.17g\n", peer->number, file,
                                           task->weights ? BENCH_WEIGHT_UNIT : 1.0);
    if (status == HISTO_OK && pread(file, counts, bytes, 0) != (ssize_t)bytes)
        status = histo_fail(HISTO_DEVICE, "it gave no counts");
    return status;
}

static void end(void *state)
{
    bench_python_ask(&python.process, "end\t%d\n", ((const library *)state)->number);
    python.states--;
    free(state);
}

#define PEER(id, name, weighs, finds_slots)                                                                            \
    static histo_status begin_##id(const bench_task *task, void **state)                                               \
    {                                                                                                                  \
        return begin(name, task, state);                                                                               \
    }                                                                                                                  \
    const bench_peer bench_##id = {name, weighs, begin_##id, run, counts, end, true, finds_slots, false};
PEER(numpy, "NumPy", true, false)
PEER(boost_histogram, "boost-histogram", true, false)
PEER(fast_histogram, "fast-histogram", true, false)
PEER(opencv, "OpenCV", false, false)
PEER(numpy_unique, "NumPy unique", false, true)
