/* What only a GPU can show of fills: placement, weights, memory, threads, failures, and counts beyond 32 bits.
 * test_strategies compares the strategies themselves. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "plan/plan.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/gpu_fills.h"
#include "support/same.h"

extern int histo_cuda_fail_at, histo_cuda_fail_as;

static void device_samples_choose_the_gpu(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 100001;
    const gpu_samples s = make_gpu_samples(make_unit_floats(1, n), HISTO_F32, n);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    OK(histo_hist_fill(expected, &s.host, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(expected)), "cpu/", 4);
    OK(histo_hist_fill(h, &s.device, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cuda/", 5);
    assert_same(h, expected);
    /* Fill the same histogram from the host: the counts of both devices add up. */
    OK(histo_hist_fill(h, &s.host, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cpu/", 4);
    OK(histo_hist_fill(h, &s.device, NULL));
    OK(histo_hist_merge(expected, expected));
    OK(histo_hist_fill(expected, &s.host, NULL));
    assert_same(h, expected);
    histo_plan *plan;
    REFUSED(HISTO_UNSUPPORTED, "in the memory of GPU 0",
            histo_plan_create(&plan, h, &s.device, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    OK(histo_plan_create(&plan, h, &s.host, NULL, NULL));
    REFUSED(HISTO_UNSUPPORTED, "in the memory of GPU 0", histo_plan_fill(plan, h, &s.device, NULL));
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    free_gpu_samples(&s);
}

/* Image pairs are counted where they are, by the plan's own choice; also images larger than planned, with a pitch, and
 * from host memory by another plan. */
static void stacks_of_images(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { IMAGES = 16, WIDTH = 1000, HEIGHT = 300 };
    const int64_t shape[] = {IMAGES, HEIGHT, WIDTH};
    uint16_t *data = malloc(IMAGES * WIDTH * HEIGHT * sizeof *data);
    rng r = {.state = 77};
    for (int i = 0; i < IMAGES * WIDTH * HEIGHT; i++)
        data[i] = (uint16_t)(i % 3000 + rng_below(&r, 90));
    histo_view host = histo_view_nd(data, HISTO_U16, 3, shape), device, bytes = histo_view_nd(data, HISTO_U8, 3, shape);
    void *memory = device_copy(&host, &device);
    histo_axis axes[] = {histo_axis_regular(4096, -4096, 4096), histo_axis_regular(256, 0, 4096)};
    histo_hist *h, *expected;
    OK(histo_hist_create(&h, 2, axes, NULL));
    OK(histo_hist_create(&expected, 2, axes, NULL));
    for (int pairing = HISTO_PAIRS_RING; pairing <= HISTO_PAIRS_APART; pairing++) {
        const histo_pairs pairs = {.pairing = (histo_pairing)pairing, .relative = pairing == HISTO_PAIRS_APART};
        for (int narrow = 0; narrow < 100; narrow += 33) {
            histo_view narrowed = host, on_gpu = device;
            narrowed.shape[2] = on_gpu.shape[2] = WIDTH - narrow;
            OK(histo_hist_fill_pairs(expected, &narrowed, &pairs, NULL));
            OK(histo_hist_fill_pairs(h, &on_gpu, &pairs, NULL));
            assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cuda/", 5);
            assert_same(h, expected);
        }
        histo_plan *plan;
        OK(histo_plan_create_pairs(&plan, h, &host, &pairs, NULL,
                                   &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}));
        OK(histo_plan_fill(plan, h, &host, NULL)); /* in several pieces */
        OK(histo_plan_fill(plan, h, &device, NULL));
        for (int fill = 0; fill < 2; fill++)
            OK(histo_hist_fill_pairs(expected, &host, &pairs, NULL));
        assert_same(h, expected);
        REFUSED(HISTO_INVALID, "the plan was made for other", histo_plan_fill(plan, h, &bytes, NULL));
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    device_free(memory);
    free(data);
}

/* Every function that reads a histogram sees the counts on a device. */
static void gathered_by_every_reader(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 50021;
    const gpu_samples s = make_gpu_samples(make_unit_floats(2, n), HISTO_F32, n);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED), *a, *b;
    fill_by(e, "cpu/sequential", &s.host, NULL);
    OK(histo_hist_fill(h, &s.device, NULL));
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, n);
    OK(histo_hist_fill(h, &s.device, NULL));
    OK(histo_hist_clone(h, &a));
    OK(histo_hist_merge(e, e));
    assert_same(a, e);
    OK(histo_hist_fill(h, &s.device, NULL));
    OK(histo_hist_merge(a, h)); /* 5 times */
    OK(histo_hist_merge(h, e)); /* 5 times */
    assert_same(a, h);
    histo_hist_destroy(a);
    OK(histo_hist_fill(h, &s.device, NULL));
    OK(histo_hist_fill(e, &s.host, NULL));
    OK(histo_hist_merge(e, e)); /* 6 times */
    OK(histo_hist_rebin(h, 0, 3, &a));
    OK(histo_hist_rebin(e, 0, 3, &b));
    assert_same_then_destroy(a, b);
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        void *saved;
        size_t size;
        OK(histo_hist_fill(h, &s.device, NULL));
        OK(histo_hist_save(h, (histo_format)format, NULL, &saved, &size));
        OK(histo_hist_load(saved, size, NULL, &a));
        assert_same(a, h);
        OK(histo_hist_tally(a, &tally));
        assert_int_equal(tally.samples, (7 + format) * n);
        histo_hist_destroy(a);
        histo_free(saved);
    }
    OK(histo_hist_fill(h, &s.device, NULL));
    OK(histo_hist_reset(h, NULL));
    OK(histo_hist_reset(e, NULL));
    assert_same(h, e);
    OK(histo_hist_fill(h, &s.device, NULL));
    OK(histo_hist_fill(e, &s.host, NULL));
    assert_same_then_destroy(h, e);
    free_gpu_samples(&s);
}

/* Weights of every dtype, fast (integers, so that no order rounds) and reproducible, with mask and batch. */
static void weights(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 6000, BATCH = 3 };
    rng r = {.state = 3};
    float *data = make_unit_floats(3, N);
    uint8_t mask_bytes[N];
    for (int i = 0; i < N; i++)
        mask_bytes[i] = rng_next(&r) % 4 != 0;
    histo_axis around = histo_axis_regular(1000, -1000, 1000), small = histo_axis_integer(0, 100);
    histo_hist *all = make_unit_hist(BATCH, HISTO_WEIGHT_REPRODUCIBLE),
               *all_expected = make_unit_hist(BATCH, HISTO_WEIGHT_REPRODUCIBLE);
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype += is_sanitized() ? 3 : 1) {
        for (int kind = 0; kind < 3; kind++) { /* fast; reproducible; reproducible of any bit pattern */
            histo_weighting weighting = kind ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_WEIGHT_FAST;
            void *w = make_samples(&r, (histo_dtype)dtype, kind == 2 ? SPECIAL : EDGES, kind ? &around : &small, N);
            if (!kind) /* no infinities, integers only */
                for (int i = 0; i < N; i++) {
                    double v = (double)(i % 100);
                    if (dtype == HISTO_F32) ((float *)w)[i] = (float)v;
                    if (dtype == HISTO_F64) ((double *)w)[i] = v;
                    if (dtype == HISTO_F16) ((uint16_t *)w)[i] = i % 2 ? 0x3c00 : 0x4000;
                    if (dtype == HISTO_BF16) ((uint16_t *)w)[i] = i % 2 ? 0x3f80 : 0x4000;
                }
            int64_t shape[2] = {BATCH, N / BATCH};
            histo_view hosts[3] = {histo_view_nd(data, HISTO_F32, 2, shape),
                                   histo_view_nd(w, (histo_dtype)dtype, 2, shape),
                                   histo_view_nd(mask_bytes, HISTO_U8, 2, shape)},
                       devices[3];
            void *memory[3];
            for (int i = 0; i < 3; i++) {
                hosts[i].batch_ndim = 1;
                memory[i] = device_copy(&hosts[i], &devices[i]);
            }
            histo_fill_options on_host = {.weights = &hosts[1], .mask = &hosts[2]};
            histo_fill_options on_device = {.weights = &devices[1], .mask = &devices[2]};
            histo_hist *h = make_unit_hist(BATCH, weighting), *e = make_unit_hist(BATCH, weighting);
            fill_by(e, "cpu/sequential", hosts, &on_host);
            static const char *const strategies[] = {"cuda/global_atomic", "cuda/weighted_private"};
            for (int s = 0; s < 2; s++) {
                OK(histo_hist_reset(h, NULL));
                fill_by(h, strategies[s], devices, &on_device);
                assert_same(h, e);
                OK(histo_hist_reset(h, NULL));
                fill_by(h, strategies[s], hosts, &on_host); /* staged */
                assert_same(h, e);
            }
            if (kind) { /* one histogram for weights of all dtypes, and for none */
                fill_by(all, "cuda/weighted_private", devices, &on_device);
                fill_by(all, "cuda/global_atomic", devices, NULL);
                fill_by(all_expected, "cpu/sequential", hosts, &on_host);
                fill_by(all_expected, "cpu/sequential", hosts, NULL);
            }
            histo_hist_destroy(h);
            histo_hist_destroy(e);
            for (int i = 0; i < 3; i++)
                device_free(memory[i]);
            free(w);
        }
    }
    assert_same_then_destroy(all, all_expected);
    free(data);
}

/* Samples, mask and filter in different kinds of memory, longer than one chunk, and strided. */
static void every_kind_of_memory(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 300007 : 18000007; /* two chunks of 64 MiB, many pieces */
    float *data = make_unit_floats(4, n), *pinned, *managed;
    CUDA_OK(cudaMallocHost((void **)&pinned, (size_t)n * sizeof *pinned));
    CUDA_OK(cudaMallocManaged((void **)&managed, (size_t)n * sizeof *managed, cudaMemAttachGlobal));
    memcpy(pinned, data, (size_t)n * sizeof *data);
    memcpy(managed, data, (size_t)n * sizeof *data);
    histo_view pageable = histo_view_1d(data, HISTO_F32, n), device, reverse = pageable, reverse_on_device;
    reverse.data = data + n - 1;
    reverse.strides[0] = -4;
    void *memory = device_copy(&pageable, &device), *reverse_memory = device_copy(&reverse, &reverse_on_device);
    const histo_view kinds[] = {
        pageable,         histo_view_1d(pinned, HISTO_F32, n), histo_view_1d(managed, HISTO_F32, n), device, reverse,
        reverse_on_device};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED);
    for (int samples = 0; samples < KINDS; samples++) {
        for (int filter = 0; filter < KINDS; filter++) {
            if (samples < 4 && filter >= 4) continue; /* only one order makes the filter adjacent to the samples */
            if (samples >= 4 && filter < 4) continue;
            histo_fill_options on_host = {.where = &pageable, .where_lo = 0.2, .where_hi = 0.7}, options = on_host;
            options.where = &kinds[filter];
            OK(histo_hist_reset(h, NULL));
            OK(histo_hist_reset(e, NULL));
            fill_by(h, "cuda/global_atomic", &kinds[samples], &options);
            fill_by(e, "cpu/privatized", &pageable, &on_host);
            assert_same(h, e);
        }
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_reset(e, NULL));
        fill_by(h, "cuda/shared_atomic", &kinds[samples], NULL);
        fill_by(e, "cpu/privatized", &pageable, NULL);
        assert_same(h, e);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    device_free(memory);
    device_free(reverse_memory);
    cudaFreeHost(pinned);
    cudaFree(managed);
    free(data);
}

typedef struct worker {
    const histo_plan *plan;
    histo_hist *hist;
    const histo_view *device, *host;
    int fills;
    histo_status status;
} worker;

static void *work(void *context)
{
    worker *w = context;
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return NULL;
    histo_fill_options options = {.stream = stream};
    w->status = HISTO_OK;
    for (int i = 0; i < w->fills && w->status == HISTO_OK; i++)
        w->status = histo_plan_fill(w->plan, w->hist, i % 2 ? w->host : w->device, &options);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return NULL;
}

static void several_host_threads(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { MAX = 6 };
    const int threads = getenv("HISTO_TEST_THREADS") ? atoi(getenv("HISTO_TEST_THREADS")) : MAX;
    const int fills = is_sanitized() ? 4 : 10;
    assert_in_range(threads, 1, MAX);
    const int64_t n = is_sanitized() ? 30001 : 150001;
    const gpu_samples s = make_gpu_samples(make_unit_floats(7, n), HISTO_F32, n);
    histo_hist *e = make_unit_hist(1, HISTO_UNWEIGHTED);
    for (int i = 0; i < fills; i++)
        fill_by(e, "cpu/privatized", &s.host, NULL);
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_plan *plan;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        if (histo_plan_create(&plan, e, &s.device, NULL, &(histo_plan_options){.strategy = name}) != HISTO_OK) continue;
        worker workers[MAX];
        pthread_t started[MAX];
        for (int t = 0; t < threads; t++) {
            workers[t] = (worker){plan, make_unit_hist(1, HISTO_UNWEIGHTED), &s.device, &s.host, fills, HISTO_DEVICE};
            assert_int_equal(pthread_create(&started[t], NULL, work, &workers[t]), 0);
        }
        for (int t = 0; t < threads; t++)
            pthread_join(started[t], NULL);
        for (int t = 0; t < threads; t++) {
            if (workers[t].status != HISTO_OK) fail_msg("%s, thread %d: status %d", name, t, workers[t].status);
            assert_same(workers[t].hist, e);
            histo_hist_destroy(workers[t].hist);
        }
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(e);
    free_gpu_samples(&s);
}

/* Record in wisdom that fills of this kind take `us` by a strategy. */
static void remember(const char *strategy, const histo_hist *h, const histo_view *samples,
                     const histo_fill_options *fill, double us)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, samples, fill, &(histo_plan_options){.strategy = strategy}));
    char signature[HISTO_SIGNATURE_BYTES];
    histo_plan_signature(plan, plan->at, signature);
    OK(histo_wisdom_add(plan->problem.device, signature, plan->row, NULL, us));
    histo_plan_destroy(plan);
}

/* A plan that splits fills between the GPU and the CPU counts every sample once: masked, filtered, weighted and batched
 * ones. Samples at another location than planned are counted on the GPU. */
static void split_fills(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { ROWS = 3 };
    const int64_t n = is_sanitized() ? 3 << 20 : 3 << 24, shape[2] = {ROWS, n / ROWS};
    float *data = make_unit_floats(21, n), *pinned, *weights;
    uint8_t *bytes;
    CUDA_OK(cudaFree(NULL));
    CUDA_OK(cudaMallocHost((void **)&pinned, (size_t)n * sizeof *pinned));
    CUDA_OK(cudaMallocHost((void **)&weights, (size_t)n * sizeof *weights));
    CUDA_OK(cudaMallocHost((void **)&bytes, (size_t)n));
    for (int64_t i = 0; i < n; i++) {
        pinned[i] = data[i];
        weights[i] = (float)(i % 1000) * 0.37f;
        bytes[i] = (uint8_t)(i % 3);
    }
    histo_view samples = histo_view_nd(pinned, HISTO_F32, 2, shape), elsewhere = samples, on_device;
    histo_view of_weights = histo_view_nd(weights, HISTO_F32, 2, shape),
               mask = histo_view_nd(bytes, HISTO_U8, 2, shape);
    samples.batch_ndim = elsewhere.batch_ndim = of_weights.batch_ndim = mask.batch_ndim = 1;
    elsewhere.data = data;
    void *memory = device_copy(&elsewhere, &on_device);
    const struct {
        histo_weighting weighting;
        histo_fill_options fill;
    } cases[] = {{HISTO_UNWEIGHTED, {.mask = NULL}},
                 {HISTO_UNWEIGHTED, {.mask = &mask}},
                 {HISTO_UNWEIGHTED, {.where = &samples, .where_lo = -1, .where_hi = 1}},
                 {HISTO_WEIGHT_REPRODUCIBLE, {.weights = &of_weights}},
                 {HISTO_WEIGHT_REPRODUCIBLE, {.weights = &of_weights, .mask = &mask}}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        histo_hist *h = make_unit_hist(ROWS, cases[c].weighting), *e = make_unit_hist(ROWS, cases[c].weighting);
        histo_plan *plan;
        fill_by(e, "cpu/privatized", &samples, &cases[c].fill);
        remember("cpu/privatized", h, &samples, &cases[c].fill, 1e5);
        remember("cuda/global_atomic", h, &samples, &cases[c].fill, 1e5);
        OK(histo_plan_create(&plan, h, &samples, &cases[c].fill, NULL));
        char text[8192];
        histo_plan_explain(plan, text, sizeof text);
        if (plan->split.fraction == 0) fail_msg("case %zu is not split:\n%s", c, text);
        for (int times = 1; times <= 3; times++) {
            OK(histo_plan_fill(plan, h, &samples, &cases[c].fill));
            assert_same(h, e);
            OK(histo_hist_reset(h, NULL));
        }
        if (c == 0) {
            OK(histo_plan_fill(plan, h, &elsewhere, NULL));
            assert_same(h, e);
            OK(histo_hist_reset(h, NULL));
            OK(histo_plan_fill(plan, h, &on_device, NULL));
            assert_same(h, e);
        }
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    histo_wisdom_forget();
    device_free(memory);
    cudaFreeHost(pinned);
    cudaFreeHost(weights);
    cudaFreeHost(bytes);
    free(data);
}

/* Every parameter of every strategy at its limits affects only speed. */
static void parameters(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 20003 : 100003;
    int at = 0;
    const gpu_samples s = make_gpu_samples(make_unit_floats(8, n), HISTO_F32, n);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED);
    fill_by(e, "cpu/sequential", &s.host, NULL);
    for (int i = 0; histo_row_at(i); i++) {
        const histo_row *row = histo_row_at(i);
        if (row->backend != &histo_backend_cuda) continue;
        for (const histo_param *p = row->strategy->params; p->name; p++) {
            const int64_t values[] = {p->min, p->min + 1, (p->min + p->max) / 2, p->max};
            for (int v = 0; v < 4; v++) {
                if (values[v] > p->max || (is_sanitized() && at++ % 5 > 0)) continue;
                char name[64], params[128];
                histo_plan *plan;
                snprintf(name, sizeof name, "cuda/%s", row->name);
                snprintf(params, sizeof params, "%s=%lld", p->name, (long long)values[v]);
                histo_status status = histo_plan_create(&plan, h, &s.device, NULL,
                                                        &(histo_plan_options){.strategy = name, .params = params});
                if (status == HISTO_UNSUPPORTED) continue;
                OK(status);
                status = histo_plan_fill(plan, h, &s.device, NULL);
                if (status != HISTO_OK) fail_msg("%s with %s: %s", name, params, histo_last_error());
                assert_same(h, e);
                OK(histo_hist_reset(h, NULL));
                histo_plan_destroy(plan);
            }
        }
    }
    /* Combined: rows of a second kernel, in tiles, in copies, for a batch. */
    static const char *const together[] = {"merge=1,tile=100,copies=3", "merge=1,blocks=3,tile=7,inc=1",
                                           "copies=32,padding=0,threads=64", "coarsening=1,merge=1,blocks=1"};
    const int64_t shape[2] = {17, n / 20};
    histo_view rows = histo_view_nd(s.data, HISTO_F32, 2, shape), device_rows;
    rows.batch_ndim = 1;
    void *rows_memory = device_copy(&rows, &device_rows);
    histo_hist *h2 = make_unit_hist(17, HISTO_UNWEIGHTED), *e2 = make_unit_hist(17, HISTO_UNWEIGHTED);
    fill_by(e2, "cpu/sequential", &rows, NULL);
    for (size_t t = 0; t < sizeof together / sizeof together[0]; t++) {
        histo_plan *plan;
        OK(histo_plan_create(&plan, h2, &device_rows, NULL,
                             &(histo_plan_options){.strategy = "cuda/shared_atomic", .params = together[t]}));
        OK(histo_hist_reset(h2, NULL));
        OK(histo_plan_fill(plan, h2, &device_rows, NULL));
        assert_same(h2, e2);
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    histo_hist_destroy(h2);
    histo_hist_destroy(e2);
    device_free(rows_memory);
    free_gpu_samples(&s);
}

/* The n-th CUDA call fails, for every n: the call returns a status and a message, and the histogram counts correctly
 * after a reset. */
static void failures(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { MAX_CALLS = 2000 };
    const int step = is_sanitized() ? 7 : 1;
    static const int errors[] = {cudaErrorMemoryAllocation, cudaErrorLaunchFailure};
    const int64_t n = 20011;
    const gpu_samples s = make_gpu_samples(make_unit_floats(9, n), HISTO_F32, n);
    const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST, HISTO_WEIGHT_REPRODUCIBLE};
    for (int round = 0; round < 12; round++) {
        histo_weighting weighting = weightings[round % 3];
        const histo_view *views = round / 3 % 2 ? &s.host : &s.device;
        const char *strategy = weighting == HISTO_UNWEIGHTED ? "cuda/shared_atomic" : "cuda/global_atomic";
        histo_cuda_fail_as = errors[round / 6];
        histo_status wanted = round / 6 ? HISTO_DEVICE : HISTO_NO_MEMORY;
        histo_hist *e = make_unit_hist(1, weighting);
        fill_by(e, "cpu/sequential", &s.host, NULL);
        int at = 1;
        for (; at < MAX_CALLS; at += step) {
            histo_hist *h = make_unit_hist(1, weighting);
            histo_plan *plan = NULL;
            uint64_t counts[SLOTS];
            histo_cuda_fail_at = at;
            histo_status status = histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = strategy});
            if (status == HISTO_OK) status = histo_plan_fill(plan, h, views, NULL);
            if (status == HISTO_OK) status = histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL);
            bool reached = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            if (status != HISTO_OK) {
                assert_int_equal(status, wanted);
                assert_non_null(strstr(histo_last_error(), "GPU 0"));
                histo_plan_destroy(plan);
                OK(histo_hist_reset(h, NULL));
                OK(histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = strategy}));
                OK(histo_plan_fill(plan, h, views, NULL));
            }
            assert_same(h, e);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
            if (!reached) break;
            assert_int_not_equal(status, HISTO_OK);
        }
        assert_in_range(at, 8, MAX_CALLS - 1);
        histo_hist_destroy(e);
    }
    free_gpu_samples(&s);
}

/* 2^33 samples in one bin, 8 GiB: HISTO_TEST_LARGE=1. */
static void more_than_32_bits_count(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (!getenv("HISTO_TEST_LARGE")) skip();
    const int64_t n = INT64_C(1) << 33;
    uint8_t *memory;
    CUDA_OK(cudaMalloc((void **)&memory, (size_t)n + 5));
    CUDA_OK(cudaMemset(memory, 7, (size_t)n + 5));
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view view = histo_view_1d(memory, HISTO_U8, n + 5);
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_hist *h;
        histo_plan *plan;
        char name[64];
        uint64_t counts[256];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        OK(histo_hist_create(&h, 1, &axis, NULL));
        if (histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.strategy = name}) == HISTO_OK) {
            OK(histo_plan_fill(plan, h, &view, NULL));
            OK(histo_hist_read_counts(h, HISTO_BINS, counts, 256, NULL));
            for (int b = 0; b < 256; b++)
                if (counts[b] != (b == 7 ? (uint64_t)n + 5 : 0))
                    fail_msg("%s: bin %d has %llu", name, b, (unsigned long long)counts[b]);
            histo_plan_destroy(plan);
        }
        histo_hist_destroy(h);
    }
    CUDA_OK(cudaFree(memory));
}

/* Many samples in GPU memory with too many bins for shared memory: the plan probes some on their stream, except during
 * a capture, when it must not wait. */
static void plans_probe(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (is_sanitized()) skip(); /* too slow */
    const int64_t n = INT64_C(1) << 28, bins = 1 << 20;
    uint32_t *memory;
    cudaStream_t stream;
    CUDA_OK(cudaMalloc((void **)&memory, (size_t)n * sizeof *memory));
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMemsetAsync(memory, 0, (size_t)n * sizeof *memory, stream));
    histo_axis axis = histo_axis_integer(0, bins);
    histo_view view = histo_view_1d(memory, HISTO_U32, n);
    histo_fill_options options = {.stream = stream};
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    for (int captured = 0; captured < 2; captured++) {
        histo_plan *plan;
        char text[8192];
        cudaGraph_t graph;
        if (captured) CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        OK(histo_plan_create(&plan, h, &view, &options, NULL));
        if (captured) {
            CUDA_OK(cudaStreamEndCapture(stream, &graph));
            CUDA_OK(cudaGraphDestroy(graph));
        }
        assert_true(histo_plan_explain(plan, text, sizeof text) < sizeof text);
        if (!strstr(text, "a probe at 2048 samples: 100 % of them") == !captured) fail_msg("%d: %s", captured, text);
        OK(histo_plan_fill(plan, h, &view, &options));
        histo_plan_destroy(plan);
    }
    uint64_t *counts = calloc((size_t)bins, sizeof *counts);
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, bins, NULL));
    assert_int_equal(counts[0], 2 * n);
    free(counts);
    histo_hist_destroy(h);
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(memory));
}

/* All entries of a batch are probed: a quarter of the samples is in an eighth of the slots, or all. */
static void batches_are_probed(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (is_sanitized()) skip(); /* too slow */
    enum { ENTRIES = 4 };
    const int64_t shape[] = {ENTRIES, 1 << 24}, bins = 1 << 20;
    const size_t bytes = (size_t)shape[1] * sizeof(uint32_t);
    char *memory;
    CUDA_OK(cudaMalloc((void **)&memory, ENTRIES * bytes));
    histo_axis axis = histo_axis_regular(bins, 0, 1 << 26); /* samples are 0x01010101 times 0 to 3 */
    histo_view view = histo_view_nd(memory, HISTO_U32, 2, shape);
    view.batch_ndim = 1;
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = ENTRIES}));
    for (int alike = 0; alike < 2; alike++) {
        histo_plan *plan;
        char text[8192];
        for (int entry = 0; entry < ENTRIES; entry++)
            CUDA_OK(cudaMemset(memory + (size_t)entry * bytes, alike ? 1 : entry, bytes));
        OK(histo_plan_create(&plan, h, &view, NULL, NULL));
        assert_true(histo_plan_explain(plan, text, sizeof text) < sizeof text);
        if (!strstr(text, alike ? "a probe at 2048 samples: 100 % of them" : "a probe at 2048 samples: 25 % of them"))
            fail_msg("%d: %s", alike, text);
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(h);
    CUDA_OK(cudaFree(memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_samples_choose_the_gpu),
        cmocka_unit_test(stacks_of_images),
        cmocka_unit_test(gathered_by_every_reader),
        cmocka_unit_test(weights),
        cmocka_unit_test(every_kind_of_memory),
        cmocka_unit_test(several_host_threads),
        cmocka_unit_test(split_fills),
        cmocka_unit_test(parameters),
        cmocka_unit_test(failures),
        cmocka_unit_test(more_than_32_bits_count),
        cmocka_unit_test(plans_probe),
        cmocka_unit_test(batches_are_probed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
