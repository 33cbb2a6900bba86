/* Maps applied on a GPU give what they give on the CPU, to the bit: all dtypes, layouts, tables, tiles, masks; in
 * place, in graphs. Moments, too. HISTO_TEST_EVERY=n: only every n-th case. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/device.h"

enum { CASES = 1500, MOST_LENGTH = 1 << 17 };

static int every(void)
{
    const char *text = getenv("HISTO_TEST_EVERY");
    return text ? atoi(text) : 1;
}

static size_t size_of(histo_dtype dtype)
{
    return histo_dtype_size(dtype);
}

/* ---- A random problem ---- */

enum { MOST_OPERANDS = HISTO_MAX_AXES + 2 };

typedef struct problem {
    rng r;
    int naxes, ndim, batch_ndim, operands;
    bool masked; /* the last operand is the mask */
    bool image;  /* what is usual: images of one axis, or a batch of them, in rows, without a mask */
    int64_t shape[HISTO_MAX_DIMS], entries;
    histo_axis axes[HISTO_MAX_AXES];
    histo_view views[MOST_OPERANDS]; /* of the axes, results, mask */
    void *memory[MOST_OPERANDS];
    histo_apply_options options;
    histo_map *map;
} problem;

/* Contiguous; rows or channels apart; the last dimension reversed; at odd addresses. */
enum { LAYOUTS = 5, ALIGNED = 64 };

static void make_operand(problem *p, histo_dtype dtype, int layout, const histo_axis *axis, distribution d)
{
    const int64_t size = (int64_t)size_of(dtype), last = p->ndim - 1;
    histo_view *view = &p->views[p->operands];
    *view = histo_view_nd(NULL, dtype, p->ndim, p->shape);
    view->batch_ndim = p->batch_ndim;
    const int64_t pixel = layout == 2 ? 3 * size : size, pad = layout == 1 ? (p->image ? 16 : 5) * size : 0;
    int64_t stride = pixel, elements = 1;
    for (int64_t k = last; k >= 0; k--) {
        view->strides[k] = stride;
        stride *= p->shape[k];
        if (k == last) stride += pad;
    }
    elements = stride / size + 1;
    const bool odd = layout == 4;
    char *memory = aligned_alloc(ALIGNED, ((size_t)(elements * size) / ALIGNED + 2) * ALIGNED);
    void *samples = make_samples(&p->r, dtype, d, axis, elements);
    assert_non_null(memory);
    memcpy(memory + odd, samples, (size_t)(elements * size));
    free(samples);
    view->data = memory + odd;
    if (layout == 3) {
        view->data = memory + (p->shape[last] - 1) * view->strides[last];
        view->strides[last] = -view->strides[last];
    }
    p->memory[p->operands++] = memory;
}

static int pick(problem *p, int n)
{
    return (int)rng_below(&p->r, n);
}

static histo_dtype pick_dtype(problem *p)
{
    static const histo_dtype usual[] = {HISTO_U8, HISTO_U8, HISTO_U16, HISTO_I8, HISTO_F32, HISTO_I16};
    return p->image || pick(p, 2) ? usual[pick(p, 6)] : (histo_dtype)pick(p, HISTO_DTYPE_COUNT);
}

static void make_shape(problem *p)
{
    p->ndim = p->image ? 2 + pick(p, 2) : 1 + pick(p, 4);
    p->batch_ndim = p->image ? p->ndim - 2 : pick(p, p->ndim);
    p->entries = 1;
    for (int d = 0; d < p->ndim; d++) {
        const int left = p->ndim - d;
        p->shape[d] = 1 + pick(p, d < p->batch_ndim ? 4 : left == 1 ? 700 : left == 2 ? 90 : 5);
        if (d < p->batch_ndim) p->entries *= p->shape[d];
    }
    if (p->batch_ndim < p->ndim - 1 && pick(p, 2)) p->shape[p->ndim - 1] = 64 * (1 + pick(p, 8));
}

static void make_tiles(problem *p)
{
    const int max_ndim = p->ndim - p->batch_ndim < 3 ? p->ndim - p->batch_ndim : 3;
    histo_tiles *tiles = &p->options.tiles;
    if (pick(p, 5) < 2) return;
    tiles->ndim = max_ndim >= 2 && (p->image || pick(p, 3)) ? 2 : 1 + pick(p, max_ndim);
    for (int d = 0; d < tiles->ndim; d++) {
        const int64_t extent = p->shape[p->ndim - tiles->ndim + d];
        tiles->count[d] = 1 + pick(p, 5);
        tiles->size[d] = pick(p, 4) ? (extent + tiles->count[d] - 1) / tiles->count[d] : 1 + pick(p, 100);
        if (!pick(p, 16)) tiles->size[d] = (1 << 26) + pick(p, 1000);
        p->options.origin[d] = pick(p, 4) ? 0 : pick(p, 8) ? pick(p, 50) : (1 << 27) + pick(p, 1000);
    }
}

static void make_axes(problem *p, histo_dtype *dtypes)
{
    const int naxes = pick(p, p->image ? 6 : 3) ? 1 : 2 + pick(p, 2);
    int64_t length = 1;
    for (p->naxes = 0; p->naxes < naxes; p->naxes++) {
        histo_axis *axis = &p->axes[p->naxes];
        const bool byte = p->image && naxes > 1; /* as hue and saturation */
        const histo_dtype dtype = !byte ? pick_dtype(p) : pick(p, 3) ? HISTO_U8 : HISTO_I8;
        int kinds = 0;
        while (test_axis(kinds, dtype, axis))
            kinds++;
        if (!test_axis(pick(p, kinds), dtype, axis) || pick(p, 3) == 0)
            *axis = histo_axis_integer(0, dtype <= HISTO_I8 ? 256 : 4096);
        if (byte && pick(p, 2)) *axis = histo_axis_regular(20, -3, 100);
        if (length * (axis->bins + 3) > MOST_LENGTH) *axis = histo_axis_regular(20, -3, 100);
        if (length * (axis->bins + 3) > MOST_LENGTH) break;
        length *= axis->bins + 3;
        dtypes[p->naxes] = dtype;
    }
}

/* Any numbers; whole ones, which fit into results; and NaN and infinities between them. */
static void make_values(problem *p)
{
    const int64_t n = histo_map_size(p->map);
    const int kind = pick(p, 4);
    double *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++) {
        values[i] = rng_uniform(&p->r) * 400 - 70;
        if (kind == 1) values[i] = (double)rng_below(&p->r, 256);
        if (kind == 2) values[i] = (double)rng_below(&p->r, 65536);
        if (kind == 3) values[i] = ldexp(rng_uniform(&p->r) - 0.5, pick(p, 140) - 60);
        if (kind == 3 && !pick(p, 20)) values[i] = (double[]){NAN, INFINITY, -INFINITY, -0.0}[pick(p, 4)];
    }
    OK(histo_map_write(p->map, values, n));
    free(values);
}

static problem make_problem(int number)
{
    problem p = {.r = {.state = (uint64_t)number * 7919 + 1}};
    for (int i = 0; i < 4; i++)
        rng_next(&p.r);
    p.image = pick(&p, 3) > 0;
    histo_dtype dtypes[HISTO_MAX_AXES];
    make_shape(&p);
    make_axes(&p, dtypes);
    make_tiles(&p);
    const int layout = pick(&p, 2) ? 0 : pick(&p, LAYOUTS);
    for (int a = 0; a < p.naxes; a++)
        make_operand(&p, dtypes[a], layout, &p.axes[a], (distribution)pick(&p, DISTRIBUTIONS));
    make_operand(&p, pick_dtype(&p), pick(&p, 2) ? 0 : pick(&p, LAYOUTS), &p.axes[0], UNIFORM);
    if (!p.image && pick(&p, 5) == 0) {
        make_operand(&p, (histo_dtype)pick(&p, HISTO_DTYPE_COUNT), pick(&p, LAYOUTS), &p.axes[0], TWO_VALUES);
        p.masked = true;
    }
    int64_t tables = 1;
    for (int d = 0; d < p.options.tiles.ndim; d++)
        tables *= p.options.tiles.count[d];
    if (pick(&p, 2)) tables *= p.entries;
    OK(histo_map_create(
        &p.map, p.naxes, p.axes,
        &(histo_map_options){.batch = tables,
                             .within = p.naxes == 1 && pick(&p, 4) == 0 ? HISTO_MAP_LINEAR : HISTO_MAP_STEP}));
    make_values(&p);
    return p;
}

static void free_problem(problem *p)
{
    for (int o = 0; o < p->operands; o++)
        free(p->memory[o]);
    histo_map_destroy(p->map);
}

/* Which case it is, in words. */
static const char *words_of(const problem *p)
{
    static char text[400];
    int n = snprintf(text, sizeof text, "%d axes, tiles of %d dimensions, batch_ndim %d, mask %d, of", p->naxes,
                     p->options.tiles.ndim, p->batch_ndim, p->masked);
    for (int o = 0; o < p->operands; o++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", histo_dtype_name(p->views[o].dtype));
    for (int d = 0; d < p->ndim; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", d ? " x " : ", ", (long long)p->shape[d]);
    return text;
}

/* ---- Both devices ---- */

/* Compare all memory that a view reaches with a copy of it on the device. */
static bool equal_there(const histo_view *view, const histo_view *copy)
{
    int64_t lowest = 0, highest = 0;
    for (int d = 0; d < view->ndim; d++) {
        const int64_t reach = (view->shape[d] - 1) * view->strides[d];
        *(reach < 0 ? &lowest : &highest) += reach;
    }
    const size_t bytes = (size_t)(highest - lowest) + size_of(view->dtype);
    char *got = malloc(bytes);
    assert_non_null(got);
    CUDA_OK(cudaMemcpy(got, (const char *)copy->data + lowest, bytes, cudaMemcpyDeviceToHost));
    const bool equal = memcmp(got, (const char *)view->data + lowest, bytes) == 0;
    free(got);
    return equal;
}

static void like_the_cpu(void **state)
{
    NEEDS_GPU();
    (void)state;
    for (int number = 0; number < CASES; number += every()) {
        problem p = make_problem(number);
        histo_view on_gpu[MOST_OPERANDS];
        void *memory[MOST_OPERANDS];
        for (int o = 0; o < p.operands; o++) {
            memory[o] = device_copy(&p.views[o], &on_gpu[o]);
            assert_non_null(memory[o]);
        }
        const int out = p.naxes;
        if (p.masked) p.options.mask = &p.views[p.operands - 1];
        OK(histo_map_apply(p.map, p.views, &p.views[out], &p.options));
        if (p.masked) p.options.mask = &on_gpu[p.operands - 1];
        OK(histo_map_apply(p.map, on_gpu, &on_gpu[out], &p.options));
        if (!equal_there(&p.views[out], &on_gpu[out])) fail_msg("case %d: %s", number, words_of(&p));
        for (int o = 0; o < p.operands; o++)
            device_free(memory[o]);
        free_problem(&p);
    }
}

static void moments_like_the_cpu(void **state)
{
    NEEDS_GPU();
    (void)state;
    enum { WIDTH = 1300, HEIGHT = 700, WINDOWS = 7 };
    static uint8_t hue[HEIGHT * WIDTH], saturation[HEIGHT * WIDTH];
    rng r = {.state = 5};
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        hue[i] = (uint8_t)rng_below(&r, 180);
        saturation[i] = (uint8_t)rng_below(&r, 256);
    }
    const histo_axis axes[] = {histo_axis_regular(30, 0, 180), histo_axis_regular(32, 0, 256)};
    const int64_t shape[] = {HEIGHT, WIDTH};
    histo_view views[] = {histo_view_nd(hue, HISTO_U8, 2, shape), histo_view_nd(saturation, HISTO_U8, 2, shape)};
    histo_view on_gpu[2];
    void *memory[2];
    for (int a = 0; a < 2; a++)
        assert_non_null(memory[a] = device_copy(&views[a], &on_gpu[a]));
    for (int whole = 0; whole <= 1; whole++) {
        histo_map *map;
        OK(histo_map_create(&map, 2, axes, NULL));
        const int64_t n = histo_map_size(map);
        double *values = malloc((size_t)n * sizeof *values);
        assert_non_null(values);
        for (int64_t i = 0; i < n; i++)
            values[i] = whole ? (double)rng_below(&r, 256) : rng_uniform(&r);
        OK(histo_map_write(map, values, n));
        free(values);
        for (int i = 0; i < WINDOWS; i++) {
            const int64_t w = i == 0 ? WIDTH : 1 + rng_below(&r, i % 2 ? 300 : WIDTH),
                          h = i == 1 ? 1 : 1 + rng_below(&r, HEIGHT);
            const int64_t window[] = {rng_below(&r, WIDTH - w + 1), rng_below(&r, HEIGHT - h + 1), w, h};
            const histo_apply_options masked = {.mask = &views[0]}, masked_there = {.mask = &on_gpu[0]};
            histo_moments on_cpu, got;
            OK(histo_map_moments(map, views, window, i % 3 ? NULL : &masked, &on_cpu));
            OK(histo_map_moments(map, on_gpu, window, i % 3 ? NULL : &masked_there, &got));
            assert_memory_equal(&on_cpu, &got, sizeof on_cpu);
        }
        histo_map_destroy(map);
    }
    for (int a = 0; a < 2; a++)
        device_free(memory[a]);
}

/* A captured application and captured moments, launched for two frames, as the map's values and the samples change. */
static void captured(void **state)
{
    NEEDS_GPU();
    (void)state;
    enum { WIDTH = 640, HEIGHT = 360, N = WIDTH * HEIGHT, TILES = 4 };
    static uint8_t pixels[N], expected[N], got[N];
    const histo_axis axis = histo_axis_integer(0, 256);
    const int64_t shape[] = {HEIGHT, WIDTH};
    rng r = {.state = 3};
    for (int tiled = 0; tiled <= 1; tiled++) {
        uint8_t *from, *to;
        histo_moments *moments, sums, on_cpu;
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t launched;
        CUDA_OK(cudaMalloc((void **)&from, N));
        CUDA_OK(cudaMalloc((void **)&to, N));
        CUDA_OK(cudaMalloc((void **)&moments, sizeof *moments));
        CUDA_OK(cudaMemset(from, 0, N));
        CUDA_OK(cudaStreamCreate(&stream));
        const histo_view in = histo_view_nd(from, HISTO_U8, 2, shape), out = histo_view_nd(to, HISTO_U8, 2, shape);
        histo_apply_options options = {.stream = stream};
        if (tiled) options.tiles = (histo_tiles){2, {TILES, TILES}, {HEIGHT / TILES, WIDTH / TILES}};
        const histo_apply_options plain = {.stream = stream};
        histo_map *map;
        OK(histo_map_create(&map, 1, &axis, &(histo_map_options){.batch = tiled ? TILES * TILES : 1}));
        OK(histo_map_apply(map, &in, &out, &options));
        if (!tiled) OK(histo_map_moments(map, &in, NULL, &plain, moments));
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        OK(histo_map_apply(map, &in, &out, &options));
        if (!tiled) OK(histo_map_moments(map, &in, NULL, &plain, moments));
        if (!tiled)
            REFUSED(HISTO_UNSUPPORTED, "memory of the same GPU", histo_map_moments(map, &in, NULL, &plain, &on_cpu));
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphInstantiate(&launched, graph, 0));
        for (int frame = 0; frame < 3; frame++) {
            for (int i = 0; i < N; i++)
                pixels[i] = (uint8_t)rng_below(&r, 256);
            CUDA_OK(cudaMemcpy(from, pixels, N, cudaMemcpyHostToDevice));
            CUDA_OK(cudaGraphLaunch(launched, stream));
            CUDA_OK(cudaStreamSynchronize(stream));
            CUDA_OK(cudaMemcpy(got, to, N, cudaMemcpyDeviceToHost));
            const histo_view mine = histo_view_nd(pixels, HISTO_U8, 2, shape),
                             result = histo_view_nd(expected, HISTO_U8, 2, shape);
            histo_apply_options on_host = options;
            on_host.stream = NULL;
            OK(histo_map_apply(map, &mine, &result, &on_host));
            assert_memory_equal(got, expected, N);
            if (tiled) continue;
            CUDA_OK(cudaMemcpy(&sums, moments, sizeof sums, cudaMemcpyDeviceToHost));
            OK(histo_map_moments(map, &mine, NULL, NULL, &on_cpu));
            assert_memory_equal(&sums, &on_cpu, sizeof sums);
        }
        CUDA_OK(cudaGraphExecDestroy(launched));
        CUDA_OK(cudaGraphDestroy(graph));
        CUDA_OK(cudaStreamDestroy(stream));
        cudaFree(from);
        cudaFree(to);
        cudaFree(moments);
        histo_map_destroy(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_cpu),
        cmocka_unit_test(moments_like_the_cpu),
        cmocka_unit_test(captured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
