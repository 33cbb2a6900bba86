/* The choice between the CPU and a GPU, on a simulated machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "support/check.h"
#include "support/simulated_machine.h"

/* ---- Plans ---- */

static int reset(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    world.gpus = 1;
    world.slow_us = 300;
    world.fast_us = 100;
    world.gpu_us = 10;
    world.dense_us = 1e12;
    histo_wisdom_forget();
    return 0;
}

static uint8_t samples[N];

static histo_hist *make_hist(int64_t bins)
{
    histo_axis axis = histo_axis_integer(0, bins);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    return h;
}

static histo_plan *make_plan(int64_t bins, int64_t n, const histo_plan_options *options)
{
    histo_hist *h = make_hist(bins);
    histo_view view = histo_view_1d(samples, HISTO_U8, n);
    histo_plan *plan = NULL;
    OK(histo_plan_create(&plan, h, &view, NULL, options));
    histo_hist_destroy(h);
    return plan;
}

static void assert_explains(const histo_plan *plan, const char *words, bool expected)
{
    char text[8192];
    assert_true(histo_plan_explain(plan, text, sizeof text) < sizeof text);
    if (!strstr(text, words) == expected) fail_msg("%s'%s' in:\n%s", expected ? "no " : "", words, text);
}

/* Make a plan, and check its choice and the text of its explanation. */
static void assert_chosen(const histo_plan_options *options, const char *strategy, const char *words)
{
    histo_plan *plan = make_plan(256, N, options);
    assert_string_equal(histo_plan_strategy(plan), strategy);
    assert_explains(plan, words, true);
    assert_int_equal(world.prepared, plan->prepared != NULL);
    histo_plan_destroy(plan);
    assert_int_equal(world.prepared, 0);
}

static const histo_candidate *candidate_of(const histo_plan *plan, const char *name)
{
    for (int c = 0; c < plan->candidates; c++)
        if (strcmp(plan->candidate[c].row->name, name) == 0) return &plan->candidate[c];
    fail_msg("%s is not a candidate", name);
    return NULL;
}

/* An input that the CPU counts before it could reach the GPU does not even start a search for GPUs. */
static void small_inputs_wake_nobody(void **state)
{
    (void)state;
    assert_chosen(NULL, "cpu/fast", "cuda: not started");
    world.awake = true;
    world.fast_us = 50;
    assert_chosen(NULL, "cpu/fast", "cuda: the CPU is done before");
    assert_int_equal(world.asked, 0);
    histo_plan_options measure = {.effort = HISTO_MEASURE};
    world.awake = false;
    world.fast_us = 2;
    assert_chosen(&measure, "cpu/fast", "by measurement");
    assert_int_equal(world.asked, 0);
}

static void starting_counts_once(void **state)
{
    (void)state;
    world.slow_us = 2e5;
    world.fast_us = 1e5;
    assert_chosen(NULL, "cpu/fast", "not started");
    world.awake = true;
    assert_chosen(NULL, "cuda/gpu", "by the cost model");
    assert_chosen(NULL, "cuda/gpu", "cpu/fast: predicted 1e+05 us");
    assert_chosen(NULL, "cuda/gpu", "times as long");
    world.awake = false;
    world.fast_us = world.slow_us = 1e7;
    assert_chosen(NULL, "cuda/gpu", "starting CUDA 2.5e+05 us");
}

static void counting_overlaps_the_way(void **state)
{
    (void)state;
    world.awake = true;
    world.slow_us = world.fast_us = 1e7;
    histo_plan *plan = make_plan(256, N, NULL);
    histo_transfer way = plan->target[1].transfer;
    double pageable = candidate_of(plan, "gpu")->us, beside = way.setup_us + way.gather_us;
    assert_true(way.start_us == 0 && way.bytes == N && way.bytes_us > 10);
    assert_true(fabs(pageable - beside - way.bytes_us) < 1e-9);
    assert_explains(plan, "bound: the samples' way to the GPU", way.bytes_us > beside);
    histo_plan_destroy(plan);
    world.gpu_us = 1e5;
    plan = make_plan(256, N, NULL);
    assert_true(fabs(candidate_of(plan, "gpu")->us - beside - 1e5) < 1e-9);
    assert_explains(plan, "bound: counting, not reading", true);
    histo_plan_destroy(plan);
    /* A single thread copies pageable memory more slowly than the link transfers it. */
    world.gpu_us = 10;
    world.pinned = true;
    setenv("HISTO_THREADS", "1", 1);
    plan = make_plan(256, N, NULL);
    double direct = candidate_of(plan, "gpu")->us;
    histo_plan_destroy(plan);
    world.pinned = false;
    plan = make_plan(256, N, NULL);
    assert_true(candidate_of(plan, "gpu")->us > 2 * direct - beside);
    histo_plan_destroy(plan);
    unsetenv("HISTO_THREADS");
    /* So do counts that are copied back. */
    plan = make_plan(1 << 22, N, NULL);
    assert_true(plan->target[1].transfer.gather_us > 5 * beside);
    histo_plan_destroy(plan);
}

static void asked_for(void **state)
{
    (void)state;
    world.slow_us = world.fast_us = 1e7;
    world.awake = true;
    assert_chosen(&(histo_plan_options){.device = HISTO_DEVICE_CPU}, "cpu/slow", "cuda: not asked for");
    world.fast_us = world.slow_us = 1;
    assert_chosen(&(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}, "cuda/gpu", "on GPU 0");
    assert_chosen(&(histo_plan_options){.strategy = "gpu"}, "cuda/gpu", "asked for by name");
    assert_chosen(&(histo_plan_options){.strategy = "slow"}, "cpu/slow", "asked for by name");
}

static void samples_on_the_gpu_stay(void **state)
{
    (void)state;
    world.on_gpu = true;
    world.gpu_us = 1e9;
    histo_plan *plan = make_plan(256, N, NULL);
    assert_string_equal(histo_plan_strategy(plan), "cuda/gpu");
    assert_int_equal(plan->targets, 1);
    assert_true(candidate_of(plan, "gpu")->us == 1e9);
    assert_explains(plan, "cpu: the samples are in the GPU's memory", true);
    histo_plan_destroy(plan);
}

static void without_a_gpu(void **state)
{
    (void)state;
    world.slow_us = 1e7;
    world.fast_us = 1e6;
    world.slow_takes_us = 50000;
    world.missing = "it was sold";
    assert_chosen(NULL, "cpu/fast", "cuda: it was sold");
    assert_chosen(&(histo_plan_options){.effort = HISTO_MEASURE}, "cpu/fast", "cuda: it was sold");
    /* A GPU that exists but does not work is not an error either, unless it was requested. */
    world.missing = NULL;
    world.preparing = HISTO_NO_MEMORY;
    histo_wisdom_forget();
    assert_chosen(NULL, "cpu/fast", "cuda: it could not be prepared");
    assert_chosen(&(histo_plan_options){.effort = HISTO_MEASURE}, "cpu/fast", "cuda: measuring there failed");
    world.preparing = HISTO_OK;
    world.running = HISTO_DEVICE;
    assert_chosen(&(histo_plan_options){.effort = HISTO_MEASURE}, "cpu/fast", "cuda: measuring there failed");
    histo_hist *h = make_hist(4);
    histo_plan *plan = NULL;
    histo_view view = histo_view_1d(samples, HISTO_U8, N);
    histo_plan_options options = {.effort = HISTO_MEASURE, .device = HISTO_DEVICE_CUDA(0)};
    REFUSED(HISTO_DEVICE, "on fire", histo_plan_create(&plan, h, &view, NULL, &options));
    assert_int_equal(world.prepared, 0);
    histo_hist_destroy(h);
}

/* Measuring corrects wrong predictions; the winner on each device is remembered per location of the samples. */
static void measured_on_both(void **state)
{
    (void)state;
    world.slow_us = 1e4, world.slow_takes_us = 0;
    world.fast_us = 5e3, world.fast_takes_us = 40000;
    world.gpu_us = 1e5, world.gpu_takes_us = 100000;
    assert_chosen(&(histo_plan_options){.effort = HISTO_MEASURE}, "cpu/slow", "cuda/gpu: measured");
    assert_chosen(NULL, "cpu/slow", "by wisdom");
    assert_chosen(&(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}, "cuda/gpu", "by wisdom");
    world.on_gpu = true;
    assert_chosen(NULL, "cuda/gpu", "by the cost model");
    world.on_gpu = false;
    histo_wisdom_forget();
    world.slow_takes_us = 100000;
    world.gpu_takes_us = 0;
    assert_chosen(&(histo_plan_options){.effort = HISTO_MEASURE}, "cuda/gpu", "by measurement");
    /* Wisdom does not include the start of CUDA, which a new process has to pay. */
    world.awake = false;
    assert_chosen(NULL, "cpu/fast", "by wisdom");
    world.awake = true;
    assert_chosen(NULL, "cuda/gpu", "by wisdom");
}

static void hopeless_ones_are_not_run(void **state)
{
    (void)state;
    world.slow_us = 21 * world.fast_us;
    world.slow_takes_us = 900000000;
    assert_chosen(&(histo_plan_options){.effort = HISTO_MEASURE, .device = HISTO_DEVICE_CPU}, "cpu/fast",
                  "cpu/slow: not measured");
    assert_true(world.now_us < 9e8);
}

/* 200 bins share a class with 256; 257 bins do not, nor do twice as many samples. */
static void classes(void **state)
{
    (void)state;
    histo_plan_options measure = {.effort = HISTO_MEASURE, .device = HISTO_DEVICE_CPU},
                       cpu = {.device = HISTO_DEVICE_CPU};
    world.fast_takes_us = 20000;
    histo_plan_destroy(make_plan(256, N / 2 + 1, &measure));
    const struct {
        int64_t bins, n;
        bool remembered;
    } cases[] = {{256, N / 2, true},  {200, N - 1, true}, {193, N / 2, true},     {192, N / 2, false},
                 {257, N / 2, false}, {256, N, false},    {256, N / 2 - 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        histo_plan *plan = make_plan(cases[i].bins, cases[i].n, &cpu);
        assert_string_equal(histo_plan_strategy(plan), cases[i].remembered ? "cpu/slow" : "cpu/fast");
        assert_explains(plan, "by wisdom", cases[i].remembered);
        histo_plan_destroy(plan);
    }
}

/* Samples on a GPU are probed only if that could change the choice by more than it costs. */
static void a_probe_decides(void **state)
{
    (void)state;
    enum { BINS = 1 << 20 };
    world.gpu_us = 1000;
    world.dense_us = 500;
    world.max_probes = N;
    world.step = BINS / 4096; /* half of the slots */
    histo_plan_destroy(make_plan(BINS, N, &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}));
    assert_int_equal(world.probed, 0); /* samples in host memory are not probed */
    world.on_gpu = true;
    histo_plan *plan = make_plan(BINS, N, NULL);
    assert_int_equal(world.probed, 1);
    assert_string_equal(histo_plan_strategy(plan), "cuda/gpu");
    assert_explains(plan, "a probe at 2048 samples: 25 % of them lie in an eighth of the slots", true);
    histo_plan_destroy(plan);
    world.step = BINS / 2048 / 10;
    plan = make_plan(BINS, N, NULL);
    assert_string_equal(histo_plan_strategy(plan), "cuda/dense");
    assert_explains(plan, "a probe at 2048 samples: 100 %", true);
    assert_true(candidate_of(plan, "dense")->us < 510);
    histo_plan_destroy(plan);
    world.step = 1 << 8;
    world.max_probes = 3;
    plan = make_plan(BINS, N, NULL);
    assert_explains(plan, "a probe at 3 samples: 100 %", true);
    histo_plan_destroy(plan);
    assert_int_equal(world.probed, 3);
    world.max_probes = N;
    world.probing = HISTO_DEVICE; /* the probe fails */
    plan = make_plan(BINS, N, NULL);
    assert_string_equal(histo_plan_strategy(plan), "cuda/gpu");
    assert_explains(plan, "probe", false);
    assert_true(candidate_of(plan, "dense")->us > 4500);
    histo_plan_destroy(plan);
    assert_int_equal(world.probed, 4);
    /* Not worth its cost; not requested; or already known. */
    world.gpu_us = 510;
    histo_plan_destroy(make_plan(BINS, N, NULL));
    world.gpu_us = 1000;
    histo_plan_destroy(make_plan(BINS, N, &(histo_plan_options){.strategy = "gpu"}));
    histo_plan_destroy(make_plan(BINS, N, &(histo_plan_options){.effort = HISTO_MEASURE}));
    histo_plan_destroy(make_plan(BINS, N, NULL));
    assert_int_equal(world.probed, 4);
    /* Many fills are worth it, or a few that are slower. */
    histo_wisdom_forget();
    world.probing = HISTO_OK;
    world.gpu_us = 510;
    histo_plan_destroy(make_plan(BINS, N, &(histo_plan_options){.effort = HISTO_COMPILE}));
    assert_int_equal(world.probed, 5);
    world.gpu_us = 560;
    histo_plan_destroy(make_plan(BINS, N, NULL));
    assert_int_equal(world.probed, 6);
    world.gpu_us = 490; /* the best one, however samples lie */
    histo_plan_destroy(make_plan(BINS, N, &(histo_plan_options){.effort = HISTO_COMPILE}));
    assert_int_equal(world.probed, 6);
}

/* Where transfers take longer than any counting, the fastest counter is still chosen. */
static void the_faster_counter_of_equal_ones(void **state)
{
    (void)state;
    histo_plan_options on_gpu = {.device = HISTO_DEVICE_CUDA(0)};
    world.gpu_us = 2;
    world.dense_us = 0.1; /* 1 us for evenly spread samples */
    assert_chosen(&on_gpu, "cuda/dense", "cuda/gpu: predicted");
    world.gpu_us = 0.5;
    assert_chosen(&on_gpu, "cuda/gpu", "cuda/dense: predicted");
}

/* A fill without a plan runs on the device that finishes first, and counts. */
static void filled(void **state)
{
    (void)state;
    world.slow_us = world.fast_us = 1e9;
    world.counts = true;
    for (int i = 0; i < N; i++)
        samples[i] = (uint8_t)(i % 5);
    histo_hist *h = make_hist(4);
    histo_view view = histo_view_1d(samples, HISTO_U8, N);
    OK(histo_hist_fill(h, &view, NULL));
    assert_string_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cuda/gpu");
    uint64_t counts[4];
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, 4, NULL));
    assert_int_equal(counts[1], N / 5);
    histo_hist_destroy(h);
    assert_int_equal(world.prepared, 0);
}

/* Fill n samples in 5 bins and check the counts; between min_sent and max_sent samples must go to the GPU. */
static void assert_fills(histo_plan *plan, int64_t n, int64_t min_sent, int64_t max_sent)
{
    for (int i = 0; i < N; i++)
        samples[i] = (uint8_t)(i % 7);
    histo_hist *h = make_hist(5);
    histo_view view = histo_view_1d(samples, HISTO_U8, n);
    uint64_t counts[5];
    world.sent = 0;
    OK(histo_plan_fill(plan, h, &view, NULL));
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, 5, NULL));
    for (int b = 0; b < 5; b++)
        assert_int_equal(counts[b], n / 7 + (b < n % 7));
    assert_in_range(world.sent, min_sent, max_sent);
    histo_hist_destroy(h);
}

/* While page-locked samples are transferred, the CPU counts others, provided both devices were measured and are about
 * equally fast. */
static void split_between_both(void **state)
{
    (void)state;
    world.awake = world.pinned = world.counts = true;
    world.slow_takes_us = 100000;
    world.fast_takes_us = world.gpu_takes_us = 50000;
    histo_plan *plan = make_plan(5, N, &(histo_plan_options){.effort = HISTO_MEASURE});
    double cpu = candidate_of(plan, "fast")->us, gpu = candidate_of(plan, "gpu")->us, share = plan->split.fraction;
    histo_transfer way = plan->target[1].transfer;
    assert_true(way.direct);
    cpu -= way.setup_us + way.gather_us;
    assert_true(fabs(share - cpu / (cpu + gpu)) < 1e-9);
    assert_true(plan->split.us > 25000 && plan->split.us < 27000);
    assert_string_equal(histo_plan_strategy(plan), "cuda/gpu");
    assert_explains(plan, "\nsplit: ", true);
    assert_explains(plan, "by cpu/fast with", true);
    assert_int_equal(world.prepared, 1);
    assert_fills(plan, N, (int64_t)(share * N) - N / 16, (int64_t)(share * N) + N / 16);
    assert_fills(plan, 1000, 0, 0); /* too few to repay a transfer */
    world.pinned = false;           /* samples elsewhere than planned */
    assert_fills(plan, N, N, N);
    world.pinned = true;
    world.running = HISTO_DEVICE;
    histo_hist *h = make_hist(5);
    histo_view view = histo_view_1d(samples, HISTO_U8, N);
    assert_int_equal(histo_plan_fill(plan, h, &view, NULL), HISTO_DEVICE);
    histo_hist_destroy(h);
    histo_plan_destroy(plan);
    assert_int_equal(world.prepared, 0);
}

/* Page-locked samples may go to all GPUs that the process uses, without measuring, if these then finish before any
 * device alone would; and to all GPUs of the host, if these are asked for. */
static void shared_by_gpus(void **state)
{
    (void)state;
    world.pinned = world.awake = world.counts = true;
    world.gpus = 4;
    world.fast_takes_us = 60000;
    world.gpu_takes_us = 40000;
    world.slow_us = 1e6;
    world.fast_us = 60000;
    world.gpu_us = 40000;
    histo_plan *plan = make_plan(5, N, NULL);
    assert_string_equal(histo_plan_strategy(plan), "cuda/gpu");
    assert_explains(plan, "chosen: cuda/gpu on GPU 0, 1, 2 and 3, by the cost model", true);
    assert_explains(plan, "\nsplit: each device takes the next part when it is free; about ", true);
    assert_explains(plan, "the CPU counts the others by cpu/", true);
    assert_int_equal(world.prepared, 4);
    double start = world.now_us;
    assert_fills(plan, N, N / 2, N - N / 16);
    assert_in_range(world.now_us - start, 8000, 11000); /* 1 / (4 / 40000 + 1 / 60000) = 8571 */
    histo_plan_destroy(plan);
    assert_int_equal(world.prepared, 0);
    /* With one GPU, which takes about as long as the CPU, only measured times would count. */
    world.gpus = 1;
    plan = make_plan(5, N, NULL);
    assert_explains(plan, "\nsplit: ", false);
    histo_plan_destroy(plan);
    /* GPUs that this process does not use stay asleep. */
    world.gpus = 4;
    world.awake = false;
    plan = make_plan(5, N, NULL);
    assert_explains(plan, "\nsplit: ", false);
    histo_plan_destroy(plan);
    plan = make_plan(5, N, &(histo_plan_options){.device = HISTO_DEVICE_CUDA_ALL});
    assert_explains(plan, "on GPU 0, 1, 2 and 3", true);
    assert_fills(plan, N, N / 2, N - N / 16);
    world.pinned = false; /* samples that the CPU has to copy go to one GPU */
    assert_fills(plan, N, N, N);
    histo_plan_destroy(plan);
    plan = make_plan(5, N, &(histo_plan_options){.device = HISTO_DEVICE_CUDA_ALL});
    assert_explains(plan, "\none GPU alone: the samples are not page-locked", true);
    histo_plan_destroy(plan);
    world.pinned = true;
    world.on_gpu = true; /* samples in the memory of a GPU are counted there */
    plan = make_plan(5, N, &(histo_plan_options){.device = HISTO_DEVICE_CUDA_ALL});
    assert_explains(plan, "\none GPU alone: the samples are in its memory", true);
    histo_plan_destroy(plan);
    world.on_gpu = false;
    world.preparing = HISTO_NO_MEMORY;
    histo_hist *h = make_hist(5);
    histo_view view = histo_view_1d(samples, HISTO_U8, N);
    assert_int_equal(histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CUDA_ALL}),
                     HISTO_NO_MEMORY);
    /* A GPU whose memory is full shows that when it is tried out, before anything is counted. */
    world.preparing = HISTO_OK;
    world.running = HISTO_NO_MEMORY;
    assert_int_equal(histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CUDA_ALL}),
                     HISTO_NO_MEMORY);
    world.awake = true;
    plan = make_plan(5, N, NULL);
    assert_explains(plan, "\nsplit: ", false);
    histo_plan_destroy(plan);
    /* A stream that is captured is refused before the counts are replaced. */
    world.running = HISTO_OK;
    plan = make_plan(5, N, NULL);
    OK(histo_plan_fill(plan, h, &view, NULL));
    world.capturing = true;
    REFUSED(HISTO_UNSUPPORTED, "cannot be counted in a graph",
            histo_plan_fill(plan, h, &view, &(histo_fill_options){.replace = true}));
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, N);
    /* The CPU uses no more threads than a fill asks for. */
    world.capturing = false;
    histo_plan *threaded = make_plan(5, N, &(histo_plan_options){.threads = 8});
    OK(histo_plan_fill(threaded, h, &view, NULL));
    assert_int_equal(world.threads, 8);
    OK(histo_plan_fill(threaded, h, &view, &(histo_fill_options){.threads = 1}));
    assert_int_equal(world.threads, 1);
    histo_plan_destroy(threaded);
    histo_plan_destroy(plan);
    world.missing = "there is no GPU";
    REFUSED(HISTO_UNSUPPORTED, "cuda cannot be used: there is no GPU",
            histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CUDA_ALL}));
    histo_hist_destroy(h);
    assert_int_equal(world.prepared, 0);
}

static void split_or_not(void **state)
{
    (void)state;
    enum { AWAKE = 1, PINNED = 2, MEASURED = 4, CLASHES = 8, FULL = 16, ALL = AWAKE | PINNED | MEASURED };
    static const struct {
        long fast_us, gpu_us;
        int world;
        const char *chosen;
        bool split;
    } cases[] = {
        {20000, 20000, ALL, "cuda/gpu", true},         {20000, 20000, ALL & ~PINNED, "", false},
        {20000, 200000, ALL, "cpu/fast", false},       {200000, 20000, ALL, "cuda/gpu", false},
        {20000, 20000, ALL & ~MEASURED, "", false},    {20000, 20000, ALL | CLASHES, "", false},
        {20000, 20000, ALL | FULL, "cpu/fast", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        histo_wisdom_forget();
        world.slow_us = 4e5;
        world.slow_takes_us = 400000;
        world.fast_takes_us = cases[i].fast_us;
        world.gpu_takes_us = cases[i].gpu_us;
        world.fast_us = (double)cases[i].fast_us;
        world.gpu_us = (double)cases[i].gpu_us;
        world.awake = cases[i].world & AWAKE;
        world.pinned = cases[i].world & PINNED;
        world.clash_us = cases[i].world & CLASHES ? 200000 : 0;
        world.preparing = cases[i].world & FULL ? HISTO_NO_MEMORY : HISTO_OK;
        histo_effort effort = cases[i].world & MEASURED ? HISTO_MEASURE : HISTO_ESTIMATE;
        histo_plan *plan = make_plan(256, N, &(histo_plan_options){.effort = effort});
        if (*cases[i].chosen) assert_string_equal(histo_plan_strategy(plan), cases[i].chosen);
        assert_explains(plan, "\nsplit: ", cases[i].split);
        assert_int_equal(world.prepared, plan->prepared != NULL);
        histo_plan_destroy(plan);
        assert_int_equal(world.prepared, 0);
        /* A later plan learns it from wisdom. */
        plan = make_plan(256, N, NULL);
        bool clashes = cases[i].world & CLASHES; /* wisdom has no record of that */
        if (!clashes) assert_explains(plan, "\nsplit: ", cases[i].split);
        histo_plan_destroy(plan);
    }
}

/* ---- Rates ---- */

static double growing_cost(const histo_problem *problem, int threads)
{
    (void)threads;
    return 7 + (double)problem->samples * (double)problem->slots * 1e-6;
}

/* On another GPU than the rates' reference, reading scales with memory bandwidth, counting with multiprocessors and
 * clock; the constant part stays. */
static void costs_are_scaled(void **state)
{
    (void)state;
    static const histo_strategy growing = {.cost_us = growing_cost};
    const histo_speed reference = {4.814e6, 132 * 1980.0}, other = {4.814e6 / 2, 2 * 132 * 1980.0};
    static uint32_t wide[N];
    histo_view view = histo_view_1d(wide, HISTO_U32, N);
    histo_hist *h = make_hist(700);
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    const histo_problem *p = &plan->problem;
    histo_cost cost = histo_cost_of(&growing, p, 1, &reference), elsewhere = histo_cost_of(&growing, p, 1, &other);
    assert_true(fabs(cost.fixed_us - 7) < 1e-6 && fabs(elsewhere.fixed_us - 7) < 1e-6);
    assert_true(fabs(cost.count_us - N * 703e-6) < 1e-6 && fabs(elsewhere.count_us - cost.count_us / 2) < 1e-6);
    assert_true(fabs(cost.read_us - 4.0 * N / histo_rate_of(HISTO_RATE_READ)) < 1e-6);
    assert_true(fabs(elsewhere.read_us - 2 * cost.read_us) < 1e-6);
    assert_true(histo_cost_us(&cost) == cost.fixed_us + fmax(cost.read_us, cost.count_us));
    assert_true(histo_cost_of(&growing, p, 1, &(histo_speed){0, 0}).read_us == 0); /* unknown for a CPU */
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(small_inputs_wake_nobody, reset),
        cmocka_unit_test_setup(starting_counts_once, reset),
        cmocka_unit_test_setup(counting_overlaps_the_way, reset),
        cmocka_unit_test_setup(asked_for, reset),
        cmocka_unit_test_setup(samples_on_the_gpu_stay, reset),
        cmocka_unit_test_setup(without_a_gpu, reset),
        cmocka_unit_test_setup(measured_on_both, reset),
        cmocka_unit_test_setup(hopeless_ones_are_not_run, reset),
        cmocka_unit_test_setup(classes, reset),
        cmocka_unit_test_setup(a_probe_decides, reset),
        cmocka_unit_test_setup(the_faster_counter_of_equal_ones, reset),
        cmocka_unit_test_setup(filled, reset),
        cmocka_unit_test_setup(split_between_both, reset),
        cmocka_unit_test_setup(shared_by_gpus, reset),
        cmocka_unit_test_setup(split_or_not, reset),
        cmocka_unit_test_setup(costs_are_scaled, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
