/* Several GPUs of one host: one histogram filled on each from its own memory, joined when it is read; and one fill of
 * samples in host memory shared by all of them and the CPU. With one GPU, only the tests that need no other run. */
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
extern bool histo_cuda_apart;

enum { MAX_GPUS = 8 };

static int gpus(void)
{
    int n = 0;
    CUDA_OK(cudaGetDeviceCount(&n));
    return n < MAX_GPUS ? n : MAX_GPUS;
}

#define NEEDS_GPUS(wanted)                                                                                             \
    do {                                                                                                               \
        NEEDS_GPU();                                                                                                   \
        if (gpus() < (wanted)) {                                                                                       \
            print_message("%s SKIPPED: there are fewer than %d GPUs\n", __func__, wanted);                             \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* Samples, weights and a mask, on the host and on each GPU: the same on all. */
typedef struct everywhere {
    int64_t n;
    float *values;
    float *weights;
    uint8_t *mask;
    histo_view host[3], on[MAX_GPUS][3];
    void *memory[MAX_GPUS][3];
} everywhere;

static everywhere make_everywhere(uint64_t seed, int64_t n)
{
    rng r = {.state = seed};
    histo_axis axis = histo_axis_regular(BINS, 0, 1);
    everywhere e = {.n = n,
                    .values = make_samples(&r, HISTO_F32, UNIFORM, &axis, n),
                    .weights = malloc((size_t)n * sizeof(float)),
                    .mask = malloc((size_t)n)};
    for (int64_t i = 0; i < n; i++) {
        e.weights[i] = (float)(rng_uniform(&r) * 1e3 - 400);
        e.mask[i] = (uint8_t)rng_below(&r, 3);
    }
    if (n > 100) e.values[n / 2] = (float)NAN;
    e.host[0] = histo_view_1d(e.values, HISTO_F32, n);
    e.host[1] = histo_view_1d(e.weights, HISTO_F32, n);
    e.host[2] = histo_view_1d(e.mask, HISTO_U8, n);
    for (int g = 0; g < gpus(); g++) {
        CUDA_OK(cudaSetDevice(g));
        for (int v = 0; v < 3; v++) {
            e.memory[g][v] = device_copy(&e.host[v], &e.on[g][v]);
            assert_non_null(e.memory[g][v]);
        }
    }
    CUDA_OK(cudaSetDevice(0));
    return e;
}

static void free_everywhere(everywhere *e)
{
    for (int g = 0; g < gpus(); g++)
        for (int v = 0; v < 3; v++)
            device_free(e->memory[g][v]);
    free(e->values);
    free(e->weights);
    free(e->mask);
}

/* Fill h from the memory of each GPU, and `expected` as often from the host. */
static void fill_each(const everywhere *e, histo_hist *h, histo_hist *expected, bool weighted, bool masked)
{
    for (int g = 0; g < gpus(); g++) {
        const histo_fill_options on_gpu = {.weights = weighted ? &e->on[g][1] : NULL,
                                           .mask = masked ? &e->on[g][2] : NULL},
                                 on_cpu = {.weights = weighted ? &e->host[1] : NULL,
                                           .mask = masked ? &e->host[2] : NULL};
        OK(histo_hist_fill(h, e->on[g], &on_gpu));
        OK(histo_hist_fill(expected, e->host, &on_cpu));
    }
}

/* ---- Fills from each GPU's memory ---- */

/* Each GPU counts what is in its memory; reads join the counts, any number of times, whether or not the GPUs reach each
 * other's memory. */
static void counted_where_they_are(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    static const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_REPRODUCIBLE,
                                                 HISTO_WEIGHT_REPRODUCIBLE_SUM};
    everywhere e = make_everywhere(1, is_sanitized() ? 20011 : 500009);
    for (int round = 0; round < 12; round++) {
        const histo_weighting weighting = weightings[round % 3];
        const bool masked = round / 3 % 2, weighted = weighting != HISTO_UNWEIGHTED;
        histo_cuda_apart = round >= 6;
        histo_hist *h = make_unit_hist(1, weighting), *expected = make_unit_hist(1, weighting);
        for (int time = 0; time < 3; time++) {
            fill_each(&e, h, expected, weighted, masked);
            assert_same(h, expected);
        }
        /* The CPU, too. */
        const histo_fill_options options = {.weights = weighted ? &e.host[1] : NULL};
        OK(histo_hist_fill(h, e.host, &options));
        OK(histo_hist_fill(expected, e.host, &options));
        assert_same(h, expected);
        fill_each(&e, h, expected, weighted, masked);
        assert_same(h, expected);
        OK(histo_hist_merge(expected, h));
        OK(histo_hist_merge(h, h));
        assert_same(h, expected);
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_reset(expected, NULL));
        fill_each(&e, h, expected, weighted, masked);
        assert_same_then_destroy(h, expected);
    }
    histo_cuda_apart = false;
    free_everywhere(&e);
}

/* Fast sums of whole numbers are exact in any order. */
static void fast_sums(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    everywhere e = make_everywhere(2, 50021);
    for (int apart = 0; apart < 2; apart++) {
        histo_hist *h = make_unit_hist(1, HISTO_WEIGHT_FAST), *expected = make_unit_hist(1, HISTO_WEIGHT_FAST);
        histo_cuda_apart = apart;
        for (int g = 0; g < gpus(); g++) {
            OK(histo_hist_fill(h, e.on[g], &(histo_fill_options){.weights = &e.on[g][2]}));
            OK(histo_hist_fill(expected, e.host, &(histo_fill_options){.weights = &e.host[2]}));
        }
        assert_same_then_destroy(h, expected);
    }
    histo_cuda_apart = false;
    free_everywhere(&e);
}

/* GPUs whose exact sums are laid out for weights of different types are added up by the host. */
static void weights_of_different_types(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    everywhere e = make_everywhere(3, 30011);
    histo_hist *h = make_unit_hist(1, HISTO_WEIGHT_REPRODUCIBLE),
               *expected = make_unit_hist(1, HISTO_WEIGHT_REPRODUCIBLE);
    for (int time = 0; time < 2; time++) {
        for (int g = 0; g < gpus(); g++) {
            const int which = 1 + (g + time) % 2; /* floats or bytes */
            OK(histo_hist_fill(h, e.on[g], &(histo_fill_options){.weights = &e.on[g][which]}));
            OK(histo_hist_fill(expected, e.host, &(histo_fill_options){.weights = &e.host[which]}));
        }
        assert_same(h, expected);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    free_everywhere(&e);
}

/* Infinite and missing weights are flags of exact sums. */
static void special_weights(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    float weights[8] = {1, 2, INFINITY, 4, -INFINITY, 6, NAN, 8}, samples[8];
    for (int i = 0; i < 8; i++)
        samples[i] = ((float)i + 0.5f) / BINS;
    histo_hist *h = make_unit_hist(1, HISTO_WEIGHT_REPRODUCIBLE),
               *expected = make_unit_hist(1, HISTO_WEIGHT_REPRODUCIBLE);
    for (int g = 0; g < gpus(); g++) {
        const histo_view host[2] = {histo_view_1d(samples + g % 4, HISTO_F32, 5),
                                    histo_view_1d(weights + (g + 1) % 4, HISTO_F32, 5)};
        histo_view on[2];
        CUDA_OK(cudaSetDevice(g));
        void *memory[2] = {device_copy(&host[0], &on[0]), device_copy(&host[1], &on[1])};
        OK(histo_hist_fill(h, on, &(histo_fill_options){.weights = &on[1]}));
        OK(histo_hist_fill(expected, host, &(histo_fill_options){.weights = &host[1]}));
        CUDA_OK(cudaDeviceSynchronize());
        device_free(memory[0]);
        device_free(memory[1]);
    }
    CUDA_OK(cudaSetDevice(0));
    assert_same_then_destroy(h, expected);
}

/* Batches with more counters than the pieces that travel at once; sparse histograms. */
static void many_counters(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    const int64_t entries = 5, n = 50000;
    everywhere e = make_everywhere(4, entries * n);
    const int64_t bins = is_sanitized() ? 3000 : 1000003;
    for (int kind = 0; kind < 3; kind++) {
        const bool sparse = kind == 1;
        histo_cuda_apart = kind == 2;
        histo_axis axis = histo_axis_regular(sparse ? INT64_C(1) << 30 : bins, 0, 1);
        const histo_hist_options options = {.batch = entries, .storage = sparse ? HISTO_SPARSE : HISTO_DENSE};
        histo_hist *h, *expected;
        OK(histo_hist_create(&h, 1, &axis, &options));
        OK(histo_hist_create(&expected, 1, &axis, &options));
        for (int g = 0; g < gpus(); g++) {
            histo_view on = e.on[g][0], host = e.host[0];
            on.ndim = host.ndim = 2;
            on.batch_ndim = host.batch_ndim = 1;
            on.shape[0] = host.shape[0] = entries;
            on.shape[1] = host.shape[1] = n;
            on.strides[0] = host.strides[0] = n * (int64_t)sizeof(float);
            on.strides[1] = host.strides[1] = sizeof(float);
            OK(histo_hist_fill(h, &on, NULL));
            OK(histo_hist_fill(expected, &host, NULL));
        }
        if (sparse) {
            int64_t occupied, wanted;
            OK(histo_hist_occupied(h, HISTO_FLOW, &occupied));
            OK(histo_hist_occupied(expected, HISTO_FLOW, &wanted));
            assert_int_equal(occupied, wanted);
            uint64_t *counts = malloc((size_t)wanted * 16), *theirs = counts + wanted;
            OK(histo_hist_read_occupied(h, HISTO_FLOW, NULL, counts, wanted));
            OK(histo_hist_read_occupied(expected, HISTO_FLOW, NULL, theirs, wanted));
            assert_memory_equal(counts, theirs, (size_t)wanted * 8);
            free(counts);
        } else {
            assert_same(h, expected);
        }
        histo_hist_destroy(h);
        histo_hist_destroy(expected);
    }
    histo_cuda_apart = false;
    free_everywhere(&e);
}

/* Reads into the memory of any GPU, also of one that has counted nothing, are enqueued there. */
static void read_on_each(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    everywhere e = make_everywhere(5, 100003);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    uint64_t counts[SLOTS], wanted[SLOTS];
    for (int reader = 0; reader < gpus(); reader++) {
        uint64_t *on_gpu;
        cudaStream_t stream;
        CUDA_OK(cudaSetDevice(reader));
        CUDA_OK(cudaMalloc((void **)&on_gpu, sizeof counts));
        CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA_OK(cudaSetDevice(0));
        if (reader != 1) fill_each(&e, h, expected, false, false); /* else the same again */
        OK(histo_hist_read_counts(h, HISTO_FLOW, on_gpu, SLOTS, &(histo_read_options){.stream = stream}));
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaMemcpy(counts, on_gpu, sizeof counts, cudaMemcpyDeviceToHost));
        OK(histo_hist_read_counts(expected, HISTO_FLOW, wanted, SLOTS, NULL));
        assert_memory_equal(counts, wanted, sizeof counts);
        CUDA_OK(cudaSetDevice(reader));
        CUDA_OK(cudaStreamDestroy(stream));
        CUDA_OK(cudaFree(on_gpu));
        CUDA_OK(cudaSetDevice(0));
    }
    assert_same_then_destroy(h, expected);
    free_everywhere(&e);
}

/* A histogram keeps its plan for each GPU. */
static void one_plan_for_each(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    everywhere e = make_everywhere(6, 100003);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    uint64_t plans[MAX_GPUS];
    for (int time = 0; time < 3; time++)
        for (int g = 0; g < gpus(); g++) {
            OK(histo_hist_fill(h, e.on[g], NULL));
            OK(histo_hist_fill(expected, e.host, NULL));
            const histo_plan *plan = histo_hist_last_plan(h);
            assert_int_equal(plan->problem.device, HISTO_DEVICE_CUDA(g));
            if (time == 0) plans[g] = plan->serial;
            assert_int_equal(plan->serial, plans[g]);
        }
    assert_same_then_destroy(h, expected);
    free_everywhere(&e);
}

typedef struct worker {
    const everywhere *e;
    int gpu;
    histo_hist *h;
    histo_status status;
} worker;

static void *fill_often(void *context)
{
    worker *w = context;
    for (int time = 0; time < 5; time++)
        for (int g = 0; g < gpus() && w->status == HISTO_OK; g++) {
            w->status = histo_hist_fill(w->h, w->e->on[(g + w->gpu) % gpus()], NULL);
            uint64_t counts[SLOTS];
            if (w->status == HISTO_OK && time % 2)
                w->status = histo_hist_read_counts(w->h, HISTO_FLOW, counts, SLOTS, NULL);
        }
    return NULL;
}

/* Threads join histograms of their own at the same time. */
static void threads_at_once(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    everywhere e = make_everywhere(7, 10007);
    histo_hist *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    for (int i = 0; i < 5 * gpus(); i++)
        OK(histo_hist_fill(expected, e.host, NULL));
    worker workers[MAX_GPUS];
    pthread_t threads[MAX_GPUS];
    for (int g = 0; g < gpus(); g++) {
        workers[g] = (worker){&e, g, make_unit_hist(1, HISTO_UNWEIGHTED), HISTO_OK};
        assert_int_equal(pthread_create(&threads[g], NULL, fill_often, &workers[g]), 0);
    }
    for (int g = 0; g < gpus(); g++) {
        assert_int_equal(pthread_join(threads[g], NULL), 0);
        assert_int_equal(workers[g].status, HISTO_OK);
        assert_same(workers[g].h, expected);
        histo_hist_destroy(workers[g].h);
    }
    histo_hist_destroy(expected);
    free_everywhere(&e);
}

/* Each GPU's fills are in a graph of their own: every launch counts, and the next read includes it. */
static void graphs_on_each(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    everywhere e = make_everywhere(8, 100003);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    cudaStream_t streams[MAX_GPUS];
    cudaGraphExec_t launched[MAX_GPUS];
    for (int g = 0; g < gpus(); g++) {
        cudaGraph_t graph;
        histo_plan *plan;
        uint64_t *on_gpu;
        CUDA_OK(cudaSetDevice(g));
        CUDA_OK(cudaMalloc((void **)&on_gpu, SLOTS * sizeof *on_gpu));
        CUDA_OK(cudaStreamCreateWithFlags(&streams[g], cudaStreamNonBlocking));
        const histo_fill_options options = {.stream = streams[g]};
        OK(histo_plan_create(&plan, h, e.on[g], &options, NULL));
        OK(histo_plan_fill(plan, h, e.on[g], &options));
        OK(histo_hist_fill(expected, e.host, NULL));
        CUDA_OK(cudaStreamBeginCapture(streams[g], cudaStreamCaptureModeGlobal));
        OK(histo_plan_fill(plan, h, e.on[g], &options));
        if (g > 0) REFUSED(HISTO_UNSUPPORTED, "a graph can reset only", histo_hist_reset(h, streams[g]));
        if (g > 0)
            REFUSED(HISTO_UNSUPPORTED, "that one GPU alone has counted",
                    histo_hist_read_counts(h, HISTO_FLOW, on_gpu, SLOTS, &(histo_read_options){.stream = streams[g]}));
        CUDA_OK(cudaStreamEndCapture(streams[g], &graph));
        CUDA_OK(cudaGraphInstantiateWithFlags(&launched[g], graph, 0));
        CUDA_OK(cudaGraphDestroy(graph));
        histo_plan_destroy(plan);
        CUDA_OK(cudaFree(on_gpu));
    }
    for (int time = 0; time < 3; time++) {
        for (int g = 0; g < gpus(); g++) {
            CUDA_OK(cudaSetDevice(g));
            CUDA_OK(cudaGraphLaunch(launched[g], streams[g]));
            OK(histo_hist_fill(expected, e.host, NULL));
        }
        CUDA_OK(cudaSetDevice(0));
        assert_same(h, expected);
    }
    for (int g = 0; g < gpus(); g++) {
        CUDA_OK(cudaSetDevice(g));
        CUDA_OK(cudaGraphExecDestroy(launched[g]));
        CUDA_OK(cudaStreamDestroy(streams[g]));
    }
    CUDA_OK(cudaSetDevice(0));
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    free_everywhere(&e);
}

/* Wherever a join fails, nothing is counted twice: the next read succeeds, or says to reset the histogram. */
static void joins_that_fail(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    enum { MAX_CALLS = 2000 };
    everywhere e = make_everywhere(9, 20011);
    for (int kind = 0; kind < 4; kind++) {
        const histo_weighting weighting = kind % 2 ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED;
        histo_cuda_apart = kind / 2;
        int at = 1;
        for (bool reached = true; reached && at < MAX_CALLS; at++) {
            histo_hist *h = make_unit_hist(1, weighting), *expected = make_unit_hist(1, weighting);
            uint64_t counts[SLOTS];
            fill_each(&e, h, expected, kind % 2, false);
            histo_cuda_fail_as = cudaErrorLaunchFailure;
            histo_cuda_fail_at = at;
            histo_status status = histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL);
            reached = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            assert_int_equal(status, reached ? HISTO_DEVICE : HISTO_OK);
            if (histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL) != HISTO_OK) {
                assert_non_null(strstr(histo_last_error(), "reset the histogram"));
                OK(histo_hist_reset(h, NULL));
                OK(histo_hist_reset(expected, NULL));
                fill_each(&e, h, expected, kind % 2, false);
            }
            assert_same_then_destroy(h, expected);
        }
        assert_in_range(at, 8, MAX_CALLS - 1);
    }
    histo_cuda_apart = false;
    free_everywhere(&e);
}

/* ---- Fills shared by all GPUs ---- */

/* The same bytes in page-locked memory. */
static void *pin(const void *from, size_t bytes)
{
    void *pinned;
    CUDA_OK(cudaMallocHost(&pinned, bytes));
    memcpy(pinned, from, bytes);
    return pinned;
}

static const histo_plan_options on_all = {.device = HISTO_DEVICE_CUDA_ALL};

static void fill_on_all(histo_hist *h, const histo_view *views, const histo_fill_options *options,
                        const histo_plan_options *how)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, views, options, how));
    OK(histo_plan_fill(plan, h, views, options));
    histo_plan_destroy(plan);
}

/* Any number of samples in page-locked memory, or in other memory, which one GPU counts: with or without gaps, masked,
 * filtered and weighted; beside other fills, and read from all GPUs together. */
static void shared_by_all(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t sizes[] = {0, 1, 1000, 300007, is_sanitized() ? 500009 : 40000003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s];
        everywhere e = make_everywhere(10 + s, n ? n : 1);
        float *pinned[2] = {pin(e.values, (size_t)e.n * sizeof(float)), pin(e.weights, (size_t)e.n * sizeof(float))};
        uint8_t *pinned_mask = pin(e.mask, (size_t)e.n);
        for (int kind = 0; kind < 12; kind++) {
            const bool is_pinned = kind % 2, gaps = kind / 2 == 3;
            histo_view views[3];
            memcpy(views, e.host, sizeof views);
            if (is_pinned) {
                views[0].data = pinned[0];
                views[1].data = pinned[1];
                views[2].data = pinned_mask;
            }
            for (int v = 0; v < 3; v++) {
                views[v].shape[0] = gaps ? n / 3 : n;
                if (gaps) views[v].strides[0] *= 3;
            }
            histo_fill_options options = {0};
            if (kind / 2 == 1 || kind / 2 == 4) options.weights = &views[1];
            if (kind / 2 == 2 || kind / 2 == 4) options.mask = &views[2];
            if (kind / 2 == 5) {
                options.where = &views[1];
                options.where_lo = -10;
                options.where_hi = 100;
            }
            const histo_weighting weighting = options.weights ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_UNWEIGHTED;
            histo_hist *h = make_unit_hist(1, weighting), *expected = make_unit_hist(1, weighting);
            for (int time = 0; time < 2; time++) {
                fill_on_all(h, views, &options, &on_all);
                fill_on_all(expected, views, &options, &(histo_plan_options){.device = HISTO_DEVICE_CPU});
            }
            assert_same(h, expected);
            options.replace = true;
            fill_on_all(h, views, &options, &on_all);
            fill_on_all(expected, views, &options, &(histo_plan_options){.device = HISTO_DEVICE_CPU});
            assert_same(h, expected);
            options.replace = false;
            fill_each(&e, h, expected, options.weights, options.mask);
            fill_on_all(h, views, &options, &on_all);
            fill_on_all(expected, views, &options, &(histo_plan_options){.device = HISTO_DEVICE_CPU});
            assert_same_then_destroy(h, expected);
        }
        CUDA_OK(cudaFreeHost(pinned[0]));
        CUDA_OK(cudaFreeHost(pinned[1]));
        CUDA_OK(cudaFreeHost(pinned_mask));
        free_everywhere(&e);
    }
}

/* By every strategy that can count the samples, requested by name. */
static void shared_by_any_strategy(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 100003 : 3000017;
    everywhere e = make_everywhere(20, n);
    float *pinned = pin(e.values, (size_t)n * sizeof *pinned);
    const histo_view view = histo_view_1d(pinned, HISTO_F32, n);
    histo_hist *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    fill_on_all(expected, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU});
    int ran = 0;
    for (int i = 0; i < histo_strategy_count(); i++) {
        histo_strategy_info info;
        char name[64];
        OK(histo_strategy_describe(i, &info));
        if (strcmp(info.backend, "cuda") != 0) continue;
        snprintf(name, sizeof name, "cuda/%s", info.name);
        histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED);
        histo_plan *plan;
        const histo_plan_options how = {.device = HISTO_DEVICE_CUDA_ALL, .strategy = name};
        if (histo_plan_create(&plan, h, &view, NULL, &how) == HISTO_OK) {
            OK(histo_plan_fill(plan, h, &view, NULL));
            assert_same(h, expected);
            histo_plan_destroy(plan);
            ran++;
        }
        histo_hist_destroy(h);
    }
    assert_true(ran >= 4);
    histo_hist_destroy(expected);
    CUDA_OK(cudaFreeHost(pinned));
    free_everywhere(&e);
}

/* What the plan says, what it refuses, and what one GPU counts alone. */
static void explained(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 1 << 22;
    everywhere e = make_everywhere(21, n);
    float *pinned = pin(e.values, (size_t)n * sizeof *pinned);
    histo_view view = histo_view_1d(pinned, HISTO_F32, n);
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED);
    histo_plan *plan;
    char text[8192];
    OK(histo_plan_create(&plan, h, &view, NULL, &on_all));
    histo_plan_explain(plan, text, sizeof text);
    if (!strstr(text, "split: each device takes the next part when it is free")) fail_msg("%s", text);
    if (gpus() > 1 && !strstr(text, gpus() > 2 ? "on GPU 0, 1" : "on GPU 0 and 1")) fail_msg("%s", text);
    cudaStream_t stream;
    cudaGraph_t graph;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    REFUSED(HISTO_UNSUPPORTED, "host memory cannot be counted in a graph",
            histo_plan_fill(plan, h, &view, &(histo_fill_options){.stream = stream}));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
    histo_plan_destroy(plan);
    /* Samples in the memory of a GPU stay there. */
    const int last = gpus() - 1;
    OK(histo_plan_create(&plan, h, e.on[last], NULL, &on_all));
    assert_int_equal(plan->problem.device, HISTO_DEVICE_CUDA(last));
    OK(histo_plan_fill(plan, h, e.on[last], NULL));
    histo_plan_destroy(plan);
    /* Segments are counted by one GPU. */
    const int64_t offsets[] = {0, 10, n};
    histo_hist *segments = make_unit_hist(2, HISTO_UNWEIGHTED);
    const histo_fill_options ragged = {.offsets = offsets};
    OK(histo_plan_create(&plan, segments, &view, &ragged, &on_all));
    assert_true(plan->split.fraction == 0);
    OK(histo_plan_fill(plan, segments, &view, &ragged));
    histo_tally tally;
    OK(histo_hist_tally(segments, &tally));
    assert_int_equal(tally.samples, n);
    histo_plan_destroy(plan);
    histo_hist_destroy(segments);
    histo_hist_destroy(h);
    CUDA_OK(cudaFreeHost(pinned));
    free_everywhere(&e);
}

/* Where this process uses all GPUs, page-locked samples are shared unasked. */
static void shared_by_themselves(void **state)
{
    (void)state;
    NEEDS_GPUS(2);
    const int64_t n = is_sanitized() ? 1 << 20 : 1 << 28;
    everywhere e = make_everywhere(22, 1000);
    uint8_t *pinned;
    CUDA_OK(cudaMallocHost((void **)&pinned, (size_t)n));
    for (int64_t i = 0; i < n; i++)
        pinned[i] = (uint8_t)(i * 7 % 251);
    const histo_view view = histo_view_1d(pinned, HISTO_U8, n);
    histo_axis axis = histo_axis_integer(0, 256);
    histo_hist *h, *expected;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_create(&expected, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, &(histo_fill_options){.threads = 2}));
    fill_on_all(expected, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU});
    assert_same(h, expected);
    char text[8192];
    histo_plan_explain(histo_hist_last_plan(h), text, sizeof text);
    if (!is_sanitized() && !strstr(text, "\nsplit: ")) fail_msg("%s", text);
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    CUDA_OK(cudaFreeHost(pinned));
    free_everywhere(&e);
}

/* A shared fill that fails halfway says so until the histogram is reset. */
static void shared_fills_that_fail(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { MAX_CALLS = 2000 };
    const int64_t n = 300007;
    everywhere e = make_everywhere(23, n);
    float *pinned = pin(e.values, (size_t)n * sizeof *pinned);
    histo_view view = histo_view_1d(pinned, HISTO_F32, n);
    histo_hist *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    fill_on_all(expected, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU});
    for (int kind = 0; kind < 2; kind++) {
        const histo_view *samples = kind ? &view : e.host;
        int at = 1;
        for (bool reached = true; reached && at < MAX_CALLS; at += is_sanitized() ? 5 : 1) {
            histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED);
            histo_plan *plan;
            uint64_t counts[SLOTS];
            OK(histo_plan_create(&plan, h, samples, NULL, &on_all));
            histo_cuda_fail_as = at % 2 ? cudaErrorLaunchFailure : cudaErrorMemoryAllocation;
            histo_cuda_fail_at = at;
            histo_status status = histo_plan_fill(plan, h, samples, NULL);
            if (status == HISTO_OK) status = histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL);
            reached = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            if (reached) {
                assert_int_equal(status, at % 2 ? HISTO_DEVICE : HISTO_NO_MEMORY);
                OK(histo_hist_reset(h, NULL));
                OK(histo_plan_fill(plan, h, samples, NULL));
            }
            assert_same(h, expected);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
        assert_in_range(at, 8, MAX_CALLS - 1);
    }
    histo_hist_destroy(expected);
    CUDA_OK(cudaFreeHost(pinned));
    free_everywhere(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_where_they_are),
        cmocka_unit_test(fast_sums),
        cmocka_unit_test(weights_of_different_types),
        cmocka_unit_test(special_weights),
        cmocka_unit_test(many_counters),
        cmocka_unit_test(read_on_each),
        cmocka_unit_test(one_plan_for_each),
        cmocka_unit_test(threads_at_once),
        cmocka_unit_test(graphs_on_each),
        cmocka_unit_test(joins_that_fail),
        cmocka_unit_test(shared_by_all),
        cmocka_unit_test(shared_by_any_strategy),
        cmocka_unit_test(explained),
        cmocka_unit_test(shared_by_themselves),
        cmocka_unit_test(shared_fills_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
