/* Maps on a GPU: tables made there have the bits of those that the host makes, fills replace what was counted, and both
 * go into graphs that neither allocate, wait nor copy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/forbidden.h"
#include "support/same.h"

extern int histo_cuda_fail_at, histo_cuda_fail_as;

/* racecheck follows each access to shared memory, and so is given the fewest samples; it leaves out the largest axes,
 * whose kernels are those of the next ones. */
static bool is_raced(void)
{
    enum { MANY = 500 };
    const char *every = getenv("HISTO_TEST_EVERY");
    return every && atoi(every) > MANY;
}

/* ---- The same samples, counted on the host and on the GPU ---- */

enum { PIECES = 3 /* entries of a batch */ };

typedef struct pair {
    histo_hist *host, *device;
} pair;

/* Count `n` samples, the batch entries one after the other. */
static pair count(rng *r, histo_dtype dtype, distribution d, int naxes, const histo_axis *axes, int64_t batch,
                  int64_t n)
{
    pair p;
    const histo_hist_options options = {.batch = batch};
    histo_view views[2], on_gpu[2];
    void *data[2], *memory[2];
    OK(histo_hist_create(&p.host, naxes, axes, &options));
    OK(histo_hist_create(&p.device, naxes, axes, &options));
    for (int a = 0; a < naxes; a++) {
        data[a] = make_samples(r, dtype, d, &axes[a], n);
        views[a] = histo_view_nd(data[a], dtype, 2, (int64_t[]){batch, n / batch});
        views[a].batch_ndim = 1;
        memory[a] = device_copy(&views[a], &on_gpu[a]);
        assert_non_null(memory[a]);
    }
    histo_plan *plan;
    OK(histo_plan_create(&plan, p.host, views, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    OK(histo_plan_fill(plan, p.host, views, NULL));
    histo_plan_destroy(plan);
    OK(histo_hist_fill(p.device, on_gpu, NULL));
    for (int a = 0; a < naxes; a++) {
        device_free(memory[a]);
        free(data[a]);
    }
    return p;
}

static void release(pair *p)
{
    histo_hist_destroy(p->host);
    histo_hist_destroy(p->device);
}

/* ---- Makers ---- */

/* A call that makes a map. */
typedef struct maker {
    const char *name;
    histo_make_options options;
    int landmarks, classes;
    bool extend, matches, projects, against;
    histo_split_method method;
} maker;

enum { MOST_LANDMARKS = 40 };

static histo_status make(const maker *m, histo_map *map, const histo_hist *hist, const histo_hist *other)
{
    double q[MOST_LANDMARKS], target[MOST_LANDMARKS];
    for (int k = 0; k < m->landmarks; k++) {
        q[k] = 0.02 + 0.96 * k / (m->landmarks - 1);
        target[k] = k * 7.3;
    }
    if (m->landmarks) return histo_map_landmarks(map, hist, m->landmarks, q, target, m->extend, m->options.stream);
    if (m->matches) return histo_map_match(map, hist, other, m->options.stream);
    if (m->projects) return histo_map_project(map, hist, m->against ? other : NULL, &m->options);
    if (m->classes) return histo_map_classes(map, hist, m->method, m->classes, &m->options);
    return histo_map_equalize(map, hist, &m->options);
}

/* The same bits, or NaN in both. */
static void assert_same_values(const histo_map *a, const histo_map *b, const char *name)
{
    const int64_t n = histo_map_size(a);
    double *in_a = malloc((size_t)n * sizeof *in_a), *in_b = malloc((size_t)n * sizeof *in_b);
    OK(histo_map_read(a, in_a, n));
    OK(histo_map_read(b, in_b, n));
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&in_a[i], &in_b[i], sizeof *in_a) != 0 && !(isnan(in_a[i]) && isnan(in_b[i])))
            fail_msg("%s: value %lld of %lld is %.17g on the host and %.17g on the GPU", name, (long long)i,
                     (long long)n, in_a[i], in_b[i]);
    free(in_a);
    free(in_b);
}

static const maker makers[] = {
    {"equalize", .options = {.hi = 255}},
    {"equalize to shares", .options = {.lo = 0}},
    {"equalize downwards", .options = {.lo = 1000, .hi = -3}},
    {"equalize in fractions", .options = {.lo = -0.75, .hi = 12.5}},
    {"equalize to many", .options = {.hi = 0x1p40}},
    {"equalize by cdf", .options = {.hi = 65535, .rule = HISTO_EQUALIZE_CDF}},
    {"clip 2", .options = {.hi = 255, .clip = 2}},
    {"clip 1.01", .options = {.lo = 3, .hi = 65535, .clip = 1.01}},
    {"clip almost all", .options = {.hi = 255, .clip = 1e-9}},
    {"clip nothing", .options = {.hi = 0.5, .clip = INFINITY}},
    {"stretch", .landmarks = 2},
    {"stretch on", .landmarks = 2, .extend = true},
    {"landmarks", .landmarks = 13},
    {"landmarks on", .landmarks = 13, .extend = true},
    {"more landmarks than a kernel takes", .landmarks = MOST_LANDMARKS},
    {"match", .matches = true},
    {"otsu", .classes = 2, .options = {.hi = 255}},
    {"three classes", .classes = 3},
    {"triangle", .classes = 2, .method = HISTO_SPLIT_TRIANGLE},
    {"project", .projects = true, .options = {.hi = 255}},
    {"project between", .projects = true, .options = {.lo = -2, .hi = 0.3}},
    {"project against", .projects = true, .against = true},
};
enum { MAKERS = sizeof makers / sizeof *makers };

/* Both make the map, or the host refuses the counts and the GPU has NaN as all values. */
static void check_maker(const maker *m, const pair *from, const pair *other, int naxes, const histo_axis *axes,
                        const histo_map_options *options)
{
    histo_map *host, *device;
    OK(histo_map_create(&host, naxes, axes, options));
    OK(histo_map_create(&device, naxes, axes, options));
    const histo_status status = make(m, host, from->host, other->host);
    const histo_status on_gpu = make(m, device, from->device, other->device);
    if (status == HISTO_OK && on_gpu != HISTO_OK) fail_msg("%s: %s", m->name, histo_last_error());
    if (status == HISTO_OK) assert_same_values(host, device, m->name);
    if (status != HISTO_OK && on_gpu == HISTO_OK) {
        const int64_t n = histo_map_size(device);
        double *values = malloc((size_t)n * sizeof *values);
        OK(histo_map_read(device, values, n));
        bool any = false; /* other entries of the batch may be good */
        for (int64_t i = 0; i < n; i++)
            any |= isnan(values[i]);
        assert_true(any);
        free(values);
    }
    histo_map_destroy(host);
    histo_map_destroy(device);
}

/* Axes and samples of one axis. */
static bool one_axis(int i, histo_axis *axis, histo_dtype *dtype)
{
    static const double edges[] = {-3, -1, -0.5, 0, 0x1p-40, 0.25, 3, 100};
    switch (i) {
    case 0:
        *axis = histo_axis_integer(0, 256);
        *dtype = HISTO_U8;
        return true;
    case 1:
        *axis = histo_axis_integer(-7, 4096);
        *dtype = HISTO_I16;
        return true;
    case 2:
        *axis = histo_axis_integer(0, 65536);
        *dtype = HISTO_U16;
        return true;
    case 3:
        *axis = histo_axis_regular(300, -0.1, 1);
        *dtype = HISTO_F32;
        return true;
    case 4:
        *axis = histo_axis_closed(histo_axis_log(1000, 0.01, 50));
        *dtype = HISTO_F64;
        return true;
    case 5:
        *axis = histo_axis_variable(7, edges);
        *dtype = HISTO_F32;
        return true;
    case 6:
        *axis = histo_axis_regular(1, 0, 1);
        *dtype = HISTO_F32;
        return true;
    case 7:
        *axis = histo_axis_regular(257, 5, 6);
        *dtype = HISTO_F64;
        return true;
    default:
        return false;
    }
}

static void same_bits(void **state)
{
    (void)state;
    NEEDS_GPU();
    static const distribution distributions[] = {GAUSSIAN, DEGENERATE, TWO_VALUES, UNIFORM, ZIPF, EDGES};
    const histo_axis of_reference[] = {histo_axis_regular(777, 0, 3), histo_axis_integer(0, 40)};
    rng r = {.state = 5};
    histo_axis axis;
    histo_dtype dtype;
    for (int i = 0; one_axis(i, &axis, &dtype); i++)
        for (int d = is_raced() && axis.bins > 4096; d < (is_sanitized() ? 1 : 6); d++)
            for (int batched = is_sanitized(); batched <= 1; batched++) {
                const int64_t n = batched ? PIECES * 4001 : 30011;
                pair from = count(&r, dtype, distributions[d], 1, &axis, batched ? PIECES : 1, n),
                     like = count(&r, dtype, UNIFORM, 1, &axis, 1, n),
                     unlike = count(&r, HISTO_F32, GAUSSIAN, 1, &of_reference[d % 2], batched ? PIECES : 1, n);
                for (int m = 0; m < MAKERS; m++)
                    for (int within = 0; within <= 1; within++) {
                        if (within == HISTO_MAP_LINEAR && (makers[m].projects || makers[m].classes)) continue;
                        const histo_map_options options = {.batch = PIECES, .within = (histo_within)within};
                        check_maker(&makers[m], &from, makers[m].matches && d % 2 ? &unlike : &like, 1, &axis,
                                    &options);
                    }
                release(&from);
                release(&like);
                release(&unlike);
            }
}

/* Back projection of several axes, in one block and in many. */
static void several_axes(void **state)
{
    (void)state;
    NEEDS_GPU();
    const histo_axis small[] = {histo_axis_regular(5, 0, 1), histo_axis_regular(7, 0.2, 0.9)},
                     large[] = {histo_axis_regular(180, 0, 1), histo_axis_log(256, 0.01, 1)};
    rng r = {.state = 6};
    for (int batched = 0; batched <= 1; batched++)
        for (int is_large = 0; is_large <= 1; is_large++) {
            const histo_axis *axes = is_large ? large : small;
            pair from = count(&r, HISTO_F32, GAUSSIAN, 2, axes, batched ? PIECES : 1, 30000),
                 against = count(&r, HISTO_F32, UNIFORM, 2, axes, 1, 30000);
            for (int m = 0; m < MAKERS; m++)
                if (makers[m].projects)
                    check_maker(&makers[m], &from, &against, 2, axes, &(histo_map_options){.batch = PIECES});
            release(&from);
            release(&against);
        }
}

/* Otsu's threshold where criteria are equal, and with few bins far apart. */
static void otsu_exactly(void **state)
{
    (void)state;
    NEEDS_GPU();
    const histo_axis axis = histo_axis_integer(0, 256), wide = histo_axis_integer(0, 65536);
    const maker m = {"otsu", .classes = 2};
    uint8_t *symmetric = malloc(256);
    for (int i = 0; i < 256; i++)
        symmetric[i] = (uint8_t)i;
    for (int n = 1; n <= 256; n += n < 5 ? 1 : 83) {
        const histo_view view = histo_view_1d(symmetric, HISTO_U8, n);
        histo_view on_gpu;
        void *memory = device_copy(&view, &on_gpu);
        pair p;
        OK(histo_hist_create(&p.host, 1, &axis, NULL));
        OK(histo_hist_create(&p.device, 1, &axis, NULL));
        OK(histo_hist_fill(p.host, &view, NULL));
        OK(histo_hist_fill(p.device, &on_gpu, NULL));
        check_maker(&m, &p, &p, 1, &axis, NULL);
        release(&p);
        device_free(memory);
    }
    const uint16_t ends[] = {3, 65535, 7};
    pair p;
    OK(histo_hist_create(&p.host, 1, &wide, NULL));
    OK(histo_hist_create(&p.device, 1, &wide, NULL));
    const histo_view view = histo_view_1d(ends, HISTO_U16, 3);
    histo_view on_gpu;
    void *memory = device_copy(&view, &on_gpu);
    OK(histo_hist_fill(p.host, &view, NULL));
    OK(histo_hist_fill(p.device, &on_gpu, NULL));
    check_maker(&m, &p, &p, 1, &wide, NULL);
    release(&p);
    device_free(memory);
    free(symmetric);
}

/* ---- Values that move ---- */

static void values_move(void **state)
{
    (void)state;
    NEEDS_GPU();
    const histo_axis axis = histo_axis_integer(0, 16);
    rng r = {.state = 8};
    pair p = count(&r, HISTO_U8, UNIFORM, 1, &axis, 1, 1000);
    histo_map *map, *host;
    double values[19], written[19];
    OK(histo_map_create(&map, 1, &axis, NULL));
    OK(histo_map_create(&host, 1, &axis, NULL));
    for (int i = 0; i < 19; i++)
        written[i] = i * i;
    for (int round = 0; round < 3; round++) {
        OK(histo_map_equalize(map, p.device, &(histo_make_options){.hi = 15}));
        OK(histo_map_equalize(host, p.host, &(histo_make_options){.hi = 15}));
        if (round) assert_same_values(host, map, "equalize");
        OK(histo_map_write(map, written, 19));
        OK(histo_map_read(map, values, 19));
        assert_memory_equal(values, written, sizeof values);
        /* One of the two on the host: the host makes it. */
        OK(histo_map_match(map, p.device, p.host, NULL));
        OK(histo_map_match(host, p.host, p.host, NULL));
        assert_same_values(host, map, "match");
    }
    histo_map_destroy(map);
    histo_map_destroy(host);
    release(&p);
}

/* A device that fails while it makes a map for the first time: the call can be repeated. */
static void failing_device(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { MOST_CALLS = 40 };
    const histo_axis axis = histo_axis_log(300, 1, 10);
    rng r = {.state = 9};
    pair p = count(&r, HISTO_F32, UNIFORM, 1, &axis, 1, 1000);
    const histo_map_options linear = {.within = HISTO_MAP_LINEAR};
    for (int matches = 0; matches <= 1; matches++) {
        const maker m = {"a repeated call", .matches = matches};
        int nth = 1;
        for (bool failed = true; failed; nth++) {
            histo_map *host, *device;
            OK(histo_map_create(&host, 1, &axis, &linear));
            OK(histo_map_create(&device, 1, &axis, &linear));
            histo_cuda_fail_as = cudaErrorMemoryAllocation;
            histo_cuda_fail_at = nth;
            const histo_status status = make(&m, device, p.device, p.device);
            failed = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            if (failed) assert_int_equal(status, HISTO_NO_MEMORY);
            OK(make(&m, device, p.device, p.device));
            OK(make(&m, host, p.host, p.host));
            assert_same_values(host, device, m.name);
            histo_map_destroy(host);
            histo_map_destroy(device);
            assert_true(nth < MOST_CALLS);
        }
        assert_true(nth > 6); /* at least so many calls can fail */
    }
    release(&p);
}

/* ---- Replacing ---- */

/* Every fill on the GPU replaces what the host, the GPU and earlier fills have counted. */
static void replacing_fills(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 60000, BATCH = 4 };
    rng r = {.state = 21};
    const histo_axis axis = histo_axis_regular(100, 0, 1);
    float *data = make_samples(&r, HISTO_F32, UNIFORM, &axis, N), *weight = make_samples(&r, HISTO_F32, ZIPF, &axis, N);
    uint8_t *mask = make_samples(&r, HISTO_U8, TWO_VALUES, &axis, N);
    const int64_t shape[] = {BATCH, N / BATCH};
    histo_view on_cpu = histo_view_nd(data, HISTO_F32, 2, shape),
               weights_here = histo_view_nd(weight, HISTO_F32, 2, shape),
               mask_here = histo_view_nd(mask, HISTO_U8, 2, shape), on_gpu, weights_there, mask_there;
    on_cpu.batch_ndim = weights_here.batch_ndim = mask_here.batch_ndim = 1;
    void *memory[] = {device_copy(&on_cpu, &on_gpu), device_copy(&weights_here, &weights_there),
                      device_copy(&mask_here, &mask_there)};
    static const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_REPRODUCIBLE,
                                                 HISTO_WEIGHT_REPRODUCIBLE_SUM};
    for (int kind = 0; kind < 4; kind++)
        for (int staged = 0; staged <= 1; staged++) {
            const bool sparse = kind == 3, weighted = kind == 1 || kind == 2;
            const histo_hist_options options = {.batch = BATCH,
                                                .weighting = weightings[sparse ? 0 : kind],
                                                .storage = sparse ? HISTO_SPARSE : HISTO_DENSE};
            histo_fill_options filling = {.mask = &mask_here, .weights = weighted ? &weights_here : NULL};
            histo_hist *h, *expected;
            histo_plan *plan;
            OK(histo_hist_create(&h, 1, &axis, &options));
            OK(histo_hist_create(&expected, 1, &axis, &options));
            OK(histo_hist_fill(expected, &on_cpu, &filling));
            OK(histo_hist_fill(h, &on_cpu, &filling)); /* on the host */
            if (!staged) {
                filling.mask = &mask_there;
                if (weighted) filling.weights = &weights_there;
            }
            const histo_view *samples = staged ? &on_cpu : &on_gpu;
            filling.replace = true;
            OK(histo_plan_create(&plan, h, samples, &filling, &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}));
            for (int fill = 0; fill < 3; fill++)
                OK(histo_plan_fill(plan, h, samples, &filling));
            const int64_t size = histo_hist_size(h, HISTO_FLOW);
            double *sums = calloc(2 * (size_t)size, sizeof *sums);
            OK(histo_hist_read_weights(h, HISTO_FLOW, sums, NULL, size, NULL));
            OK(histo_hist_read_weights(expected, HISTO_FLOW, sums + size, NULL, size, NULL));
            assert_memory_equal(sums, sums + size, (size_t)size * sizeof *sums);
            free(sums);
            assert_same_tally(h, expected);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
            histo_hist_destroy(expected);
        }
    for (int m = 0; m < 3; m++)
        device_free(memory[m]);
    free(data);
    free(weight);
    free(mask);
}

/* ---- Graphs ---- */

/* A video: each launch counts the frame that is there then, anew, and makes maps from it. */
static void play_frames(int64_t width)
{
    enum { HEIGHT = 363, TILES = 4, TH = HEIGHT / TILES };
    const int64_t n = width * HEIGHT, tw = width / TILES;
    const histo_axis axis = histo_axis_integer(0, 256);
    rng r = {.state = 31};
    uint8_t *frame;
    cudaStream_t stream, other;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&frame, (size_t)n));
    const histo_view whole = {frame, HISTO_U8, 2, 0, {HEIGHT, width}, {width, 1}},
                     tiles = {frame, HISTO_U8, 4, 2, {TILES, TILES, TH, tw}, {TH * width, tw, width, 1}};
    pair reference = count(&r, HISTO_U8, GAUSSIAN, 1, &axis, 1, 10000);
    histo_hist *of_whole, *of_tiles, *on_host, *tiles_on_host;
    histo_map *equalized, *clahe, *matched, *split, *stretched, *expected, *expected_tiles;
    histo_map **const maps[] = {&equalized, &clahe, &matched, &split, &stretched, &expected, &expected_tiles};
    const histo_map_options of_tables = {.batch = TILES * TILES};
    for (int m = 0; m < 7; m++)
        OK(histo_map_create(maps[m], 1, &axis, m == 1 || m == 6 ? &of_tables : NULL));
    histo_hist **const hists[] = {&of_whole, &of_tiles, &on_host, &tiles_on_host};
    for (int h = 0; h < 4; h++)
        OK(histo_hist_create(hists[h], 1, &axis, &(histo_hist_options){.batch = h % 2 ? TILES * TILES : 1}));
    const histo_fill_options filling = {.stream = stream, .replace = true};
    const histo_make_options to_bytes = {.hi = 255, .stream = stream},
                             clipped = {.hi = 255, .clip = 2, .stream = stream};
    const double q[] = {0.02, 0.98}, target[] = {0, 255};
    histo_plan *plan, *tile_plan;
    CUDA_OK(cudaMemset(frame, 3, (size_t)n));
    OK(histo_plan_create(&plan, of_whole, &whole, &filling, NULL));
    OK(histo_plan_create(&tile_plan, of_tiles, &tiles, &filling, NULL));
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launched;
    for (int captured = 0; captured <= 1; captured++) {
        if (captured) {
            forbidden_calls = 0;
            CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        }
        OK(histo_plan_fill(plan, of_whole, &whole, &filling));
        OK(histo_plan_fill(tile_plan, of_tiles, &tiles, &filling));
        OK(histo_map_equalize(equalized, of_whole, &to_bytes));
        OK(histo_map_equalize(clahe, of_tiles, &clipped));
        OK(histo_map_match(matched, of_whole, reference.device, stream));
        OK(histo_map_classes(split, of_whole, HISTO_SPLIT_OTSU, 2, &to_bytes));
        OK(histo_map_landmarks(stretched, of_whole, 2, q, target, false, stream));
        if (!captured) continue;
        assert_int_equal(forbidden_calls, 0);
        REFUSED(HISTO_UNSUPPORTED, "the host computes it",
                histo_map_classes(split, of_whole, HISTO_SPLIT_LI, 2, &to_bytes));
        REFUSED(HISTO_UNSUPPORTED, "a graph can make a map only of",
                histo_map_match(matched, of_whole, reference.host, stream));
        REFUSED(HISTO_UNSUPPORTED, "once before that is captured", histo_map_equalize(expected, of_whole, &to_bytes));
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
    }
    CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
    uint8_t *pixels = NULL;
    for (int round = 0; round < 4; round++) {
        free(pixels);
        pixels = make_samples(&r, HISTO_U8, round == 1 ? GAUSSIAN : round == 2 ? DEGENERATE : UNIFORM, &axis, n);
        CUDA_OK(cudaMemcpy(frame, pixels, (size_t)n, cudaMemcpyHostToDevice));
        forbidden_calls = 0;
        CUDA_OK(cudaGraphLaunch(launched, round % 2 ? other : stream));
        assert_int_equal(forbidden_calls, 0);
        histo_view on_cpu = whole, tiles_here = tiles;
        on_cpu.data = tiles_here.data = pixels;
        const histo_fill_options anew = {.replace = true};
        OK(histo_hist_fill(on_host, &on_cpu, &anew));
        OK(histo_hist_fill(tiles_on_host, &tiles_here, &anew));
        OK(histo_map_equalize(expected, on_host, &(histo_make_options){.hi = 255}));
        assert_same_values(expected, equalized, "equalize");
        OK(histo_map_match(expected, on_host, reference.host, NULL));
        assert_same_values(expected, matched, "match");
        OK(histo_map_classes(expected, on_host, HISTO_SPLIT_OTSU, 2, &(histo_make_options){.hi = 255}));
        assert_same_values(expected, split, "otsu");
        OK(histo_map_landmarks(expected, on_host, 2, q, target, false, NULL));
        assert_same_values(expected, stretched, "stretch");
        OK(histo_map_equalize(expected_tiles, tiles_on_host, &(histo_make_options){.hi = 255, .clip = 2}));
        assert_same_values(expected_tiles, clahe, "clahe");
    }
    free(pixels);
    CUDA_OK(cudaGraphExecDestroy(launched));
    CUDA_OK(cudaGraphDestroy(graph));
    for (int m = 0; m < 7; m++)
        histo_map_destroy(*maps[m]);
    for (int h = 0; h < 4; h++)
        histo_hist_destroy(*hists[h]);
    histo_plan_destroy(plan);
    histo_plan_destroy(tile_plan);
    release(&reference);
    CUDA_OK(cudaFree(frame));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaStreamDestroy(other));
}

/* Rows that begin anywhere, and at multiples of 16 bytes. */
static void frames_in_a_graph(void **state)
{
    (void)state;
    NEEDS_GPU();
    play_frames(641);
    play_frames(640);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),         cmocka_unit_test(several_axes),   cmocka_unit_test(otsu_exactly),
        cmocka_unit_test(values_move),       cmocka_unit_test(failing_device), cmocka_unit_test(replacing_fills),
        cmocka_unit_test(frames_in_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
