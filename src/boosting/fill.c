/* Histograms of nodes: the arguments, and pieces for threads. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/pool.h"
#include "base/threads/threads.h"
#include "boosting/piece.h"
#include "boosting/row_list.h"
#include "plan/problem.h"
#include "plan/strategy.h"

/* ---- Arguments ---- */

/* Where features are counted. */
static histo_device home_of(const histo_features *features)
{
    return features->on_device ? features->on_device->device : (histo_device)HISTO_DEVICE_CPU;
}

/* Check that the array is where the others are, *home, if that is known: where the features are, or in host memory. */
static histo_status check_place(const histo_features *features, const void *at, const char *what, int number,
                                histo_device *home)
{
    char name[32];
    if (!at) return HISTO_OK;
    const histo_device there = histo_boosting_home(at);
    if (*home == HISTO_DEVICE_AUTO) *home = there == HISTO_DEVICE_CPU ? there : home_of(features);
    snprintf(name, sizeof name, "%s[%d]", what, number);
    return histo_boosting_check_home(name, there, *home);
}

/* The first struct, if all arrays are the fields of structs without gaps; else NULL. */
static char *find_structs(const histo_written *to)
{
    enum { MOST = 8 * (1 + HISTO_MAX_GRADIENTS) };
    bool taken[MOST] = {false};
    char *first = NULL;
    int64_t bytes = 0;
    for (int i = 0; i <= to->weights; i++)
        if (to->arrays[i].at && (!first || to->arrays[i].at < first)) first = to->arrays[i].at;
    for (int i = 0; i <= to->weights; i++) {
        if (!to->arrays[i].at) continue;
        const int64_t size = (int64_t)histo_dtype_size(to->arrays[i].dtype), at = to->arrays[i].at - first;
        for (int64_t byte = at; byte < at + size; byte++) {
            if (byte >= MOST || taken[byte]) return NULL;
            taken[byte] = true;
        }
        bytes += size;
    }
    for (int64_t byte = 0; byte < bytes; byte++)
        if (!taken[byte]) return NULL;
    return bytes == to->arrays[1].bin_stride ? first : NULL;
}

/* Check where sums are written, and remember it. *home: in the memory of this device. */
static histo_status place_sums(histo_node_fill *fill, const histo_node_sums *to, histo_device *home)
{
    if (!to) return histo_fail(HISTO_INVALID, "to is NULL");
    histo_dtype sum, count;
    histo_status status = histo_sums_check(to, &sum, &count);
    if (status != HISTO_OK) return status;
    const histo_gradients *g = fill->gradients;
    histo_written *at = &fill->to;
    bool wanted = to->counts;
    *home = fill->features->on_device ? HISTO_DEVICE_AUTO : HISTO_DEVICE_CPU;
    for (int w = 0; w < HISTO_MAX_GRADIENTS && status == HISTO_OK; w++) {
        wanted = wanted || to->sums[w];
        if (to->sums[w] && w >= g->weights)
            return histo_fail(HISTO_INVALID, "sums[%d] is not NULL, and gradients has %d weights", w, g->weights);
        if (w < g->weights)
            at->arrays[1 + w] =
                histo_bin_array_at(to->sums[w], sum, to, fill->features->total, sum == HISTO_F64 ? g->units[w] : 1);
        status = check_place(fill->features, to->sums[w], "sums", w, home);
    }
    at->weights = g->weights;
    at->arrays[0] = histo_bin_array_at(to->counts, count, to, fill->features->total, 1);
    at->first = to->first ? to->first : fill->features->start;
    at->structs = find_structs(at);
    if (status == HISTO_OK) status = check_place(fill->features, to->counts, "counts", 0, home);
    if (status == HISTO_OK && !wanted) return histo_fail(HISTO_INVALID, "to: counts and all sums are NULL");
    return status;
}

static histo_status check_selected(histo_node_fill *fill, const histo_node_options *options)
{
    const histo_features *f = fill->features;
    fill->selected = options->selected;
    fill->count = options->selected ? options->selected_count : f->features;
    if (!options->selected && options->selected_count)
        return histo_fail(HISTO_INVALID, "selected is NULL, and selected_count is %d", options->selected_count);
    if (fill->count < 0) return histo_fail(HISTO_INVALID, "selected_count is %d", fill->count);
    for (int32_t i = 0; fill->selected && i < fill->count; i++) {
        if (fill->selected[i] < 0 || fill->selected[i] >= f->features)
            return histo_fail(HISTO_INVALID, "selected[%d] is %d, and there are %d features", i, fill->selected[i],
                              f->features);
        if (i && fill->selected[i] <= fill->selected[i - 1])
            return histo_fail(HISTO_INVALID, "selected[%d] is %d, not more than the one before", i, fill->selected[i]);
    }
    return HISTO_OK;
}

/* ---- Pieces ---- */

typedef struct work {
    histo_node_fill fill;
    const int64_t *offsets; /* [nodes + 1] */
    int64_t nodes;
    int threads;
    histo_node_piece *pieces;
    int64_t count, split; /* pieces, and nodes that have planes */
    histo_node_memory *memory;
    _Atomic int64_t next;
    int64_t *split_nodes; /* [split] */
} work;

/* The number of row ranges that a node is cut into, of `parts` that are wanted: each of them is added to all bins,
 * which must not take long beside counting it. */
static int64_t row_ranges(const work *w, int64_t rows, int64_t parts)
{
    enum { ADDITIONS_A_BIN = 32 };
    const double pairs = (double)rows * w->fill.features->features, bins = (double)w->fill.features->total;
    const double most = pairs / (bins * ADDITIONS_A_BIN);
    const int64_t ranges = most < (double)parts ? (int64_t)most : parts;
    return ranges > w->threads ? ranges / w->threads * w->threads : ranges;
}

/* Cut a node into pieces of about `grain` rows times features: by rows if these are many, else by features. */
static void cut_node(work *w, int64_t node, double grain)
{
    const int64_t begin = w->offsets[node], rows = w->offsets[node + 1] - begin;
    const int32_t features = w->fill.count;
    const int64_t parts = (int64_t)((double)rows * features / grain + 0.5);
    int64_t by_rows = row_ranges(w, rows, parts);
    int32_t by_features = 1;
    if (by_rows < 2) {
        by_rows = 1;
        by_features = features < parts ? features : (int32_t)parts;
        if (by_features < 1) by_features = 1;
    }
    const int64_t planes = by_rows > 1 || rows > HISTO_NODE_ROWS ? w->split : -1;
    if (planes >= 0) w->split_nodes[w->split++] = node;
    for (int64_t r = 0; r < by_rows; r++)
        for (int32_t f = 0; f < by_features; f++) {
            const histo_node_piece piece = {
                .node = node,
                .begin = begin + (int64_t)((double)rows / (double)by_rows * (double)r),
                .end = r + 1 == by_rows ? begin + rows
                                        : begin + (int64_t)((double)rows / (double)by_rows * (double)(r + 1)),
                .first = (int32_t)((int64_t)features * f / by_features),
                .last = (int32_t)((int64_t)features * (f + 1) / by_features),
                .planes = planes,
            };
            w->pieces[w->count++] = piece;
        }
}

static histo_status cut_nodes(work *w)
{
    enum { PIECES_A_THREAD = 4, LEAST_GRAIN = 1 << 17 };
    const double all = (double)w->offsets[w->nodes] * w->fill.count;
    double grain = all + 1;
    if (w->threads > 1) grain = all / (w->threads * PIECES_A_THREAD);
    if (grain < LEAST_GRAIN) grain = LEAST_GRAIN;
    /* Each node has a piece, and all of them together have a few more for each thread. */
    const size_t most = (size_t)w->nodes * 2 + (size_t)w->threads * PIECES_A_THREAD * 2;
    w->pieces = histo_malloc(most * sizeof *w->pieces + (size_t)w->nodes * sizeof *w->split_nodes);
    if (!w->pieces) return histo_fail_memory(most * sizeof *w->pieces, "the histograms of nodes");
    w->split_nodes = (int64_t *)(void *)(w->pieces + most);
    for (int64_t node = 0; node < w->nodes; node++)
        cut_node(w, node, grain);
    return HISTO_OK;
}

static void count_pieces(void *context, int index)
{
    work *w = context;
    const histo_node_workspace in = histo_node_workspace_of(w->memory, index);
    for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;)
        if (!histo_node_piece_count(&w->fill, &w->pieces[i], &in)) return;
}

/* Write the planes of all nodes that have them, each thread those of some features. */
static void write_planes(void *context, int index)
{
    const work *w = context;
    for (int32_t i = index; i < w->fill.count; i += w->threads)
        for (int64_t s = 0; s < w->split; s++)
            histo_node_planes_write(&w->fill, w->split_nodes[s], s, histo_feature_of(&w->fill, i));
}

static histo_status count_all(work *w)
{
    int64_t numbers;
    if (w->threads > w->count) w->threads = (int)w->count;
    if (!histo_mul_i64(w->split * (1 + w->fill.gradients->weights), w->fill.features->total, &numbers))
        numbers = INT64_MAX / 8;
    w->memory = histo_node_memory_take(w->fill.features, w->threads, numbers);
    if (!w->memory) return histo_fail_memory((size_t)numbers * sizeof *w->fill.planes, "the histograms of nodes");
    w->fill.planes = w->memory->planes;
    for (int i = 0; i < HISTO_PLANE_LOCKS; i++)
        pthread_mutex_init(&w->fill.locks[i], NULL);
    const histo_status status = histo_pool_run_long("counting", w->threads, count_pieces, w);
    if (status == HISTO_OK && w->split) histo_pool_run(w->threads, write_planes, w);
    for (int i = 0; i < HISTO_PLANE_LOCKS; i++)
        pthread_mutex_destroy(&w->fill.locks[i]);
    if (status == HISTO_OK)
        histo_node_memory_keep(w->fill.features, w->memory);
    else
        histo_node_memory_free(w->memory); /* its accumulators are not zero */
    return status;
}

static histo_status run(work *w)
{
    histo_status status = cut_nodes(w);
    if (status == HISTO_OK) status = count_all(w);
    histo_free(w->pieces);
    return status;
}

/* ---- On a GPU ---- */

static histo_node_array array_there(const histo_bin_array *array)
{
    return (histo_node_array){array->at, array->dtype, array->bin_stride, array->node_stride};
}

static histo_status fill_on_device(const histo_node_fill *fill, const histo_node_options *options, histo_device results)
{
    const histo_features *f = fill->features;
    histo_node_request request = {
        .rows = options->rows,
        .offsets = options->offsets,
        .nodes = options->nodes ? options->nodes : 1,
        .counts = array_there(&fill->to.arrays[0]),
        .to_host = results == HISTO_DEVICE_CPU,
        .stream = options->stream,
    };
    for (int w = 0; w < fill->gradients->weights; w++)
        request.sums[w] = array_there(&fill->to.arrays[1 + w]);
    const size_t bytes = (size_t)f->features * sizeof *request.first;
    request.first = histo_malloc(bytes + 1);
    if (!request.first) return histo_fail_memory(bytes, "the histograms of nodes");
    for (int32_t k = 0, i = 0; k < f->features; k++) {
        const bool written = !fill->selected || (i < fill->count && fill->selected[i] == k);
        request.first[k] = written ? fill->to.first[k] : HISTO_NOT_WRITTEN;
        i += written;
    }
    const histo_status status = f->on_device->backend->nodes->fill(f->on_device, fill->gradients->on_device, &request);
    histo_free(request.first);
    return status;
}

histo_status histo_features_fill(const histo_features *features, const histo_gradients *gradients,
                                 const histo_node_options *given, const histo_node_sums *to)
{
    HISTO_STANDARD_FLOATS;
    static const histo_node_options defaults;
    const histo_node_options *options = given ? given : &defaults;
    if (!features) return histo_fail(HISTO_INVALID, "features is NULL");
    if (!gradients) return histo_fail(HISTO_INVALID, "gradients is NULL");
    histo_status status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_node_options");
    if (status == HISTO_OK) status = histo_threads_check(options->threads);
    if (status != HISTO_OK) return status;
    if (features->rows != gradients->rows)
        return histo_fail(HISTO_INVALID, "gradients has %lld rows, and features has %lld", (long long)gradients->rows,
                          (long long)features->rows);
    const histo_device there = gradients->on_device ? gradients->on_device->device : (histo_device)HISTO_DEVICE_CPU;
    status = histo_boosting_check_home("gradients", there, home_of(features));
    if (status != HISTO_OK) return status;
    work w = {
        .fill = {.features = features,
                 .gradients = gradients,
                 .rows = options->rows,
                 .kernels = histo_cpu_kernels_usable()},
        .nodes = options->nodes ? options->nodes : 1,
        .threads = histo_threads_for(options->threads),
    };
    if (w.nodes < 0 || w.nodes > HISTO_MAX_BINS || (w.nodes > 1 && !options->offsets))
        return histo_fail(HISTO_INVALID,
                          w.nodes < 0 || options->offsets ? "nodes is %lld" : "offsets is NULL, and nodes is %lld",
                          (long long)w.nodes);
    histo_device results = HISTO_DEVICE_CPU;
    status = place_sums(&w.fill, to, &results);
    if (status == HISTO_OK) status = check_selected(&w.fill, options);
    if (status == HISTO_OK && options->rows)
        status = histo_row_list_check(options->rows, features->rows, home_of(features), w.threads);
    if (status != HISTO_OK) return status;
    const int64_t rows = options->rows ? options->rows->shape[0] : features->rows, whole[] = {0, rows};
    const histo_view listed = {.ndim = 1, .shape = {rows}};
    if (options->offsets) status = histo_offsets_check(options->offsets, w.nodes, &listed, home_of(features));
    if (status != HISTO_OK) return status;
    if (features->on_device) return fill_on_device(&w.fill, options, results);
    w.offsets = options->offsets ? options->offsets : whole;
    return run(&w);
}
