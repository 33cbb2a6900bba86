/* Histograms of nodes on a GPU, compared to the bit with those of the CPU's oracle: random tables, layouts, weights,
 * lists and places; many rows and bins; graphs, memory, and numbers in the GPU's memory that are no rows or not finite.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/forbidden.h"
#include "support/node_problems.h"

/* ---- Problems on the GPU ---- */

typedef struct on_gpu {
    histo_view table, values[HISTO_MAX_GRADIENTS], list;
    void *memory[HISTO_MAX_GRADIENTS + 2];
    int64_t *offsets;
} on_gpu;

static void send(const histo_view *from, histo_view *to, void **memory)
{
    *to = *from;
    *memory = device_copy(from, to);
    assert_true(*memory || from->shape[0] == 0);
}

static int64_t *send_numbers(const int64_t *numbers, int64_t n)
{
    int64_t *there;
    CUDA_OK(cudaMalloc((void **)&there, (size_t)n * sizeof *there));
    CUDA_OK(cudaMemcpy(there, numbers, (size_t)n * sizeof *there, cudaMemcpyHostToDevice));
    return there;
}

static void send_problem(const node_problem *p, on_gpu *there)
{
    *there = (on_gpu){0};
    send(&p->table, &there->table, &there->memory[0]);
    send(&p->list, &there->list, &there->memory[1]);
    for (int w = 0; w < p->weights; w++)
        send(&p->values[w], &there->values[w], &there->memory[2 + w]);
}

static void free_there(on_gpu *there)
{
    for (size_t i = 0; i < sizeof there->memory / sizeof *there->memory; i++)
        device_free(there->memory[i]);
}

/* The address in a copy of a place's memory. */
static void *moved(const node_place *at, void *address, char *copy)
{
    return address ? copy + ((char *)address - at->memory) : NULL;
}

static void fill_there(const histo_features *features, const histo_gradients *g, const histo_node_options *options,
                       const node_place *at)
{
    char *copy;
    CUDA_OK(cudaMalloc((void **)&copy, at->bytes));
    CUDA_OK(cudaMemcpy(copy, at->memory, at->bytes, cudaMemcpyHostToDevice));
    histo_node_sums to = at->to;
    to.counts = moved(at, to.counts, copy);
    for (int w = 0; w < HISTO_MAX_GRADIENTS; w++)
        to.sums[w] = moved(at, to.sums[w], copy);
    OK(histo_features_fill(features, g, options, &to));
    CUDA_OK(cudaMemcpy(at->memory, copy, at->bytes, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(copy));
}

/* ---- The same bits ---- */

static void compare(rng *r, node_problem *p, const on_gpu *there, const histo_features *features,
                    const histo_gradients *g, bool listed)
{
    const int64_t total = histo_features_bins(features);
    node_problem_offsets(r, p, listed ? p->listed : p->rows);
    int64_t *expected = node_problem_sums(p, g, listed, total), *offsets = send_numbers(p->offsets, p->nodes + 1);
    for (int way = 0; way < 4; way++) {
        node_place at;
        node_place_make(r, p, total, rng_below(r, 2), &at);
        const histo_node_options options = {
            .rows = listed ? &there->list : NULL,
            .offsets = way % 2 ? offsets : p->offsets,
            .nodes = p->nodes,
            .selected = p->selected_count ? p->selected : NULL,
            .selected_count = p->selected_count,
        };
        if (way < 2)
            fill_there(features, g, &options, &at);
        else
            OK(histo_features_fill(features, g, &options, &at.to));
        node_place_check(p, g, &at, total, expected);
        node_place_free(&at);
    }
    OK(histo_features_wait(features));
    CUDA_OK(cudaFree(offsets));
    free(expected);
}

static void check_problem(rng *r, int64_t rows)
{
    node_problem p;
    on_gpu there;
    histo_gradients *g, *here;
    histo_features *features;
    node_problem_make(r, &p, rows);
    send_problem(&p, &there);
    OK(histo_gradients_create(&here, rows, p.weights));
    OK(histo_gradients_create(&g, rows, p.weights));
    OK(histo_gradients_set(here, p.values, NULL));
    OK(histo_gradients_set(g, there.values, NULL));
    for (int w = 0; w < p.weights; w++)
        assert_true(histo_gradients_unit(g, w) == histo_gradients_unit(here, w));
    OK(histo_features_create(&features, &there.table, p.bins, NULL));
    for (int listed = 0; listed < 2; listed++)
        compare(r, &p, &there, features, g, listed);
    histo_features_destroy(features);
    histo_gradients_destroy(g);
    histo_gradients_destroy(here);
    free_there(&there);
    node_problem_free(&p);
}

static void random_problems(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng r = {.state = 39};
    const int small = is_sanitized() ? 6 : 60, large = is_sanitized() ? 1 : 6;
    for (int i = 0; i < small; i++)
        check_problem(&r, 1 + rng_below(&r, 300));
    for (int i = 0; i < large; i++)
        check_problem(&r, is_sanitized() ? 2000 : 20000 + rng_below(&r, 50000));
}

/* ---- Tables with one or two weights of all values ---- */

typedef struct filled {
    int64_t rows;
    int features, size, nodes;
    int64_t total;
    char *bins;
    int32_t *weights; /* [2][rows] */
    void *bins_there;
    int32_t *weights_there;
    histo_features *features_here, *features_there;
    histo_gradients *here, *there;
} filled;

static histo_view table_of(const filled *f, const void *bins)
{
    const int64_t shape[] = {f->rows, f->features};
    return histo_view_nd(bins, f->size == 1 ? HISTO_U8 : HISTO_U16, 2, shape);
}

static void make_filled(filled *f, int64_t rows, int features, int bins, const int32_t *bins_of,
                        uint32_t (*bin)(rng *r, int bins))
{
    rng r = {.state = 40};
    *f = (filled){.rows = rows, .features = features, .size = bins > 256 ? 2 : 1};
    const size_t bytes = (size_t)rows * (size_t)features * (size_t)f->size, weights = (size_t)rows * 2 * 4;
    f->bins = malloc(bytes);
    f->weights = malloc(weights);
    for (int64_t i = 0; i < rows * features; i++) {
        const uint32_t is = bin(&r, bins_of ? bins_of[i % features] : bins);
        memcpy(f->bins + i * f->size, &is, (size_t)f->size);
    }
    for (int64_t i = 0; i < 2 * rows; i++)
        f->weights[i] = i % 3 ? (int32_t)rng_next(&r) : i % 2 ? INT32_MAX : INT32_MIN;
    CUDA_OK(cudaMalloc(&f->bins_there, bytes));
    CUDA_OK(cudaMalloc((void **)&f->weights_there, weights));
    CUDA_OK(cudaMemcpy(f->bins_there, f->bins, bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(f->weights_there, f->weights, weights, cudaMemcpyHostToDevice));
    int32_t *all = malloc((size_t)features * sizeof *all);
    for (int k = 0; k < features; k++)
        all[k] = bins_of ? bins_of[k] : bins;
    const histo_view here = table_of(f, f->bins), there = table_of(f, f->bins_there);
    OK(histo_features_create(&f->features_here, &here, all, NULL));
    OK(histo_features_create(&f->features_there, &there, all, NULL));
    free(all);
    f->total = histo_features_bins(f->features_here);
    OK(histo_gradients_create(&f->here, rows, 2));
    OK(histo_gradients_create(&f->there, rows, 2));
    const histo_view values[] = {histo_view_1d(f->weights, HISTO_I32, rows),
                                 histo_view_1d(f->weights + rows, HISTO_I32, rows)};
    const histo_view values_there[] = {histo_view_1d(f->weights_there, HISTO_I32, rows),
                                       histo_view_1d(f->weights_there + rows, HISTO_I32, rows)};
    OK(histo_gradients_set(f->here, values, NULL));
    OK(histo_gradients_set(f->there, values_there, NULL));
}

static void free_filled(filled *f)
{
    histo_features_destroy(f->features_here);
    histo_features_destroy(f->features_there);
    histo_gradients_destroy(f->here);
    histo_gradients_destroy(f->there);
    CUDA_OK(cudaFree(f->bins_there));
    CUDA_OK(cudaFree(f->weights_there));
    free(f->bins);
    free(f->weights);
}

/* Counts, and the sums of both weights, in i64. */
typedef struct sums {
    int64_t n, *memory;
    histo_node_sums to;
} sums;

static sums sums_in(int64_t *memory, int64_t nodes, int64_t total)
{
    const int64_t n = nodes * total;
    return (sums){
        3 * n,
        memory,
        {.sums = {memory, memory + n}, .counts = memory + 2 * n, .sum_dtype = HISTO_I64, .count_dtype = HISTO_U64}};
}

static sums sums_here(int64_t nodes, int64_t total)
{
    return sums_in(calloc((size_t)(3 * nodes * total), sizeof(int64_t)), nodes, total);
}

static sums sums_there(int64_t nodes, int64_t total)
{
    int64_t *memory;
    CUDA_OK(cudaMalloc((void **)&memory, (size_t)(3 * nodes * total) * sizeof *memory));
    return sums_in(memory, nodes, total);
}

static void check_same(const sums *here, const sums *there)
{
    int64_t *copy = malloc((size_t)here->n * sizeof *copy);
    CUDA_OK(cudaMemcpy(copy, there->memory, (size_t)here->n * sizeof *copy, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < here->n; i++)
        if (copy[i] != here->memory[i])
            fail_msg("number %lld of %lld is %lld, not %lld", (long long)i, (long long)here->n, (long long)copy[i],
                     (long long)here->memory[i]);
    free(copy);
}

/* Fill from lists of every third row and of none, cut into nodes. */
static void check_filled(const filled *f, int64_t nodes)
{
    const int64_t n = f->rows / 3;
    uint32_t *list = malloc((size_t)(n + 1) * sizeof *list), *list_there;
    int64_t *offsets = malloc((size_t)(nodes + 1) * sizeof *offsets);
    for (int64_t i = 0; i < n; i++)
        list[i] = (uint32_t)(3 * i + i % 2);
    CUDA_OK(cudaMalloc((void **)&list_there, (size_t)(n + 1) * sizeof *list));
    CUDA_OK(cudaMemcpy(list_there, list, (size_t)n * sizeof *list, cudaMemcpyHostToDevice));
    sums here = sums_here(nodes, f->total), there = sums_there(nodes, f->total);
    for (int listed = 0; listed < 2; listed++) {
        const int64_t rows = listed ? n : f->rows;
        for (int64_t s = 0; s <= nodes; s++)
            offsets[s] = s == nodes ? rows : rows * s / nodes * s / nodes;
        int64_t *offsets_there = send_numbers(offsets, nodes + 1);
        const histo_view of_list = histo_view_1d(list, HISTO_U32, n), its = histo_view_1d(list_there, HISTO_U32, n);
        const histo_node_options options = {.rows = listed ? &of_list : NULL, .offsets = offsets, .nodes = nodes};
        const histo_node_options options_there = {
            .rows = listed ? &its : NULL, .offsets = offsets_there, .nodes = nodes};
        OK(histo_features_fill(f->features_here, f->here, &options, &here.to));
        OK(histo_features_fill(f->features_there, f->there, &options_there, &there.to));
        check_same(&here, &there);
        CUDA_OK(cudaFree(offsets_there));
    }
    free(here.memory);
    CUDA_OK(cudaFree(there.memory));
    CUDA_OK(cudaFree(list_there));
    free(list);
    free(offsets);
}

static uint32_t any_bin(rng *r, int bins)
{
    return (uint32_t)rng_below(r, bins);
}

static uint32_t skewed_bin(rng *r, int bins)
{
    return rng_below(r, 10) ? 0 : (uint32_t)rng_below(r, bins);
}

/* More rows in one bin than words of a block add up. */
static void many_rows(void **state)
{
    (void)state;
    NEEDS_GPU();
    filled f;
    make_filled(&f, is_sanitized() ? 20000 : 3000000, 3, 1, NULL, any_bin);
    check_filled(&f, 1);
    check_filled(&f, 7);
    free_filled(&f);
    make_filled(&f, is_sanitized() ? 5000 : 300000, 28, 256, NULL, skewed_bin);
    check_filled(&f, 1);
    check_filled(&f, 64);
    free_filled(&f);
}

/* Groups of all widths, and bins that shared memory has no room for. */
static void many_bins(void **state)
{
    (void)state;
    NEEDS_GPU();
    filled f;
    static const int32_t bins[] = {12,  1,    256,  700,  1024, 20,    3000, 5000, 5600, 60000, 2,   12,
                                   255, 1024, 1024, 1024, 1024, 1024,  1024, 1024, 1024, 1024,  100, 7,
                                   100, 3,    100,  100,  100,  65536, 100,  100,  100,  100,   100, 100};
    make_filled(&f, is_sanitized() ? 3000 : 50000, sizeof bins / sizeof *bins, 65536, bins, any_bin);
    check_filled(&f, 1);
    check_filled(&f, 3);
    free_filled(&f);
    make_filled(&f, is_sanitized() ? 1000 : 20000, 300, 12, NULL, any_bin);
    check_filled(&f, 5);
    free_filled(&f);
}

/* ---- Graphs, and memory ---- */

static void graphs(void **state)
{
    (void)state;
    NEEDS_GPU();
    filled f;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    make_filled(&f, 20000, 28, 256, NULL, any_bin);
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    /* A list with room for all rows, the length of which changes. */
    uint32_t *list = malloc((size_t)f.rows * sizeof *list), *list_there;
    for (int64_t i = 0; i < f.rows; i++)
        list[i] = (uint32_t)(f.rows - 1 - i);
    CUDA_OK(cudaMalloc((void **)&list_there, (size_t)f.rows * sizeof *list));
    CUDA_OK(cudaMemcpy(list_there, list, (size_t)f.rows * sizeof *list, cudaMemcpyHostToDevice));
    int64_t offsets[] = {0, 0, 0}, *offsets_there = send_numbers(offsets, 3);
    const histo_view its = histo_view_1d(list_there, HISTO_U32, f.rows);
    sums here = sums_here(2, f.total), there = sums_there(2, f.total);
    const histo_node_options options = {.rows = &its, .offsets = offsets_there, .nodes = 2, .stream = stream};

    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    REFUSED(HISTO_UNSUPPORTED, "fill the histograms of nodes once",
            histo_features_fill(f.features_there, f.there, &options, &there.to));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphDestroy(graph));
    OK(histo_features_fill(f.features_there, f.there, &options, &there.to));
    CUDA_OK(cudaStreamSynchronize(stream));
    assert_true(forbidden_calls > 0);
    forbidden_calls = 0;
    OK(histo_features_fill(f.features_there, f.there, &options, &there.to));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(histo_features_fill(f.features_there, f.there, &options, &there.to));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(forbidden_calls, 0);
    CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int64_t n = 1; n <= f.rows; n *= 7) {
        offsets[1] = n / 3;
        offsets[2] = n;
        CUDA_OK(cudaMemcpy(offsets_there, offsets, sizeof offsets, cudaMemcpyHostToDevice));
        CUDA_OK(cudaGraphLaunch(exec, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
        const histo_view used = histo_view_1d(list, HISTO_U32, n);
        OK(histo_features_fill(f.features_here, f.here,
                               &(histo_node_options){.rows = &used, .offsets = offsets, .nodes = 2}, &here.to));
        check_same(&here, &there);
    }
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(list_there));
    CUDA_OK(cudaFree(offsets_there));
    CUDA_OK(cudaFree(there.memory));
    free(here.memory);
    free(list);
    free_filled(&f);
}

/* ---- Numbers that are not what they should be ---- */

static void strays(void **state)
{
    (void)state;
    NEEDS_GPU();
    filled f;
    make_filled(&f, 1000, 3, 256, NULL, any_bin);
    const int64_t list[] = {5, -1, 7, 1000, INT64_C(1) << 40, 999}, good[] = {5, 7, 999};
    int64_t *list_there = send_numbers(list, 6);
    const histo_view its = histo_view_1d(list_there, HISTO_I64, 6), used = histo_view_1d(good, HISTO_I64, 3);
    sums here = sums_here(1, f.total), there = sums_there(1, f.total);
    const histo_node_options options = {.rows = &its};
    OK(histo_features_fill(f.features_here, f.here, &(histo_node_options){.rows = &used}, &here.to));
    OK(histo_features_fill(f.features_there, f.there, &options, &there.to));
    REFUSED(HISTO_INVALID, "rows, in the memory of a GPU", histo_features_wait(f.features_there));
    check_same(&here, &there);
    OK(histo_features_wait(f.features_there));
    OK(histo_features_fill(f.features_there, f.there, &options, &there.to));
    CUDA_OK(cudaDeviceSynchronize());
    REFUSED(HISTO_INVALID, "rows, in the memory of a GPU",
            histo_features_fill(f.features_there, f.there, NULL, &there.to));
    OK(histo_features_fill(f.features_there, f.there, NULL, &there.to));
    OK(histo_features_wait(f.features_there));
    sums to_host = sums_here(1, f.total);
    REFUSED(HISTO_INVALID, "rows, in the memory of a GPU",
            histo_features_fill(f.features_there, f.there, &options, &to_host.to));
    for (int64_t i = 0; i < to_host.n; i++)
        assert_int_equal(to_host.memory[i], 0);
    /* Memory of one kind each. */
    REFUSED(HISTO_UNSUPPORTED, "rows: this is in host memory",
            histo_features_fill(f.features_there, f.there, &(histo_node_options){.rows = &used}, &there.to));
    REFUSED(HISTO_UNSUPPORTED, "rows: this is in the memory of GPU 0",
            histo_features_fill(f.features_here, f.here, &options, &here.to));
    REFUSED(HISTO_UNSUPPORTED, "gradients: this is in host memory",
            histo_features_fill(f.features_there, f.here, NULL, &there.to));
    REFUSED(HISTO_UNSUPPORTED, "sums[0]: this is in the memory of GPU 0",
            histo_features_fill(f.features_here, f.here, NULL, &there.to));
    there.to.counts = here.memory;
    REFUSED(HISTO_UNSUPPORTED, "counts[0]: this is in host memory",
            histo_features_fill(f.features_there, f.there, NULL, &there.to));
    /* A bin that a feature does not have. */
    histo_features *features;
    const histo_view table = table_of(&f, f.bins_there);
    REFUSED(HISTO_INVALID, "table: row ", histo_features_create(&features, &table, (int32_t[]){256, 1, 256}, NULL));
    CUDA_OK(cudaFree(there.memory));
    CUDA_OK(cudaFree(list_there));
    free(here.memory);
    free(to_host.memory);
    free_filled(&f);
}

static void nonfinite_gradients(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { ROWS = 1000 };
    float values[2][ROWS];
    rng r = {.state = 41};
    for (int i = 0; i < ROWS; i++)
        for (int w = 0; w < 2; w++)
            values[w][i] = (float)(rng_uniform(&r) - 0.5);
    values[0][17] = NAN;
    values[1][500] = INFINITY;
    values[1][17] = -INFINITY;
    float *there;
    CUDA_OK(cudaMalloc((void **)&there, sizeof values));
    CUDA_OK(cudaMemcpy(there, values, sizeof values, cudaMemcpyHostToDevice));
    const histo_view in[] = {histo_view_1d(values[0], HISTO_F32, ROWS), histo_view_1d(values[1], HISTO_F32, ROWS)};
    const histo_view in_there[] = {histo_view_1d(there, HISTO_F32, ROWS), histo_view_1d(there + ROWS, HISTO_F32, ROWS)};
    histo_gradients *g, *here;
    OK(histo_gradients_create(&g, ROWS, 2));
    OK(histo_gradients_create(&here, ROWS, 2));
    REFUSED(HISTO_INVALID, "values[0]: the value of row 17 is NaN or infinite", histo_gradients_set(g, in_there, NULL));
    int64_t bad = 0, *bad_there = send_numbers(&bad, 1);
    OK(histo_gradients_set(here, in, &(histo_gradients_options){.nonfinite = &bad}));
    assert_int_equal(bad, 2);
    bad = 0;
    OK(histo_gradients_set(g, in_there, &(histo_gradients_options){.nonfinite = &bad}));
    assert_int_equal(bad, 2);
    REFUSED(HISTO_UNSUPPORTED, "units are compared",
            histo_gradients_set(g, in_there,
                                &(histo_gradients_options){.nonfinite = bad_there, .units = (double[]){1, 1}}));
    uint8_t bins[ROWS], *bins_there;
    for (int i = 0; i < ROWS; i++)
        bins[i] = (uint8_t)(i % 256);
    CUDA_OK(cudaMalloc((void **)&bins_there, sizeof bins));
    CUDA_OK(cudaMemcpy(bins_there, bins, sizeof bins, cudaMemcpyHostToDevice));
    const int64_t shape[] = {ROWS, 1};
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, shape);
    const histo_view table_there = histo_view_nd(bins_there, HISTO_U8, 2, shape);
    histo_features *features, *features_there;
    OK(histo_features_create(&features, &table, NULL, NULL));
    OK(histo_features_create(&features_there, &table_there, NULL, NULL));
    sums all = sums_here(1, 256), its = sums_there(1, 256);
    OK(histo_features_fill(features, here, NULL, &all.to));
    for (int waits = 0; waits < 2; waits++) {
        bad = 0;
        OK(histo_gradients_set(g, in_there, &(histo_gradients_options){.nonfinite = waits ? &bad : bad_there}));
        if (!waits) CUDA_OK(cudaMemcpy(&bad, bad_there, sizeof bad, cudaMemcpyDeviceToHost));
        assert_int_equal(bad, 2);
        for (int w = 0; w < 2; w++)
            assert_true(histo_gradients_unit(g, w) == histo_gradients_unit(here, w));
        OK(histo_features_fill(features_there, g, NULL, &its.to));
        check_same(&all, &its);
    }
    /* Back to the host. */
    OK(histo_gradients_set(g, in, &(histo_gradients_options){.nonfinite = &bad}));
    sums again = sums_here(1, 256);
    OK(histo_features_fill(features, g, NULL, &again.to));
    assert_memory_equal(again.memory, all.memory, (size_t)all.n * sizeof *all.memory);
    histo_features_destroy(features);
    histo_features_destroy(features_there);
    histo_gradients_destroy(g);
    histo_gradients_destroy(here);
    free(all.memory);
    free(again.memory);
    CUDA_OK(cudaFree(its.memory));
    CUDA_OK(cudaFree(there));
    CUDA_OK(cudaFree(bins_there));
    CUDA_OK(cudaFree(bad_there));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems), cmocka_unit_test(many_rows), cmocka_unit_test(many_bins),
        cmocka_unit_test(graphs),          cmocka_unit_test(strays),    cmocka_unit_test(nonfinite_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
