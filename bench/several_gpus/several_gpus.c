/* Several GPUs of one host. First, each counts samples in its own memory into one histogram, which is then read: k GPUs
 * should take as long as one. Then all of them count samples in host memory, ideally as fast as these can be copied. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/core/cuda_check.h"
#include "bench/core/random_numbers.h"
#include "bench/core/report.h"
#include "bench/core/times.h"
#include "bench/several_gpus/several_gpus.h"

enum { MAX_GPUS = 64, REPEAT = 7, BUFFERS = 2, MAX_BINS = 1 << 24 };

static const size_t piece_bytes = (size_t)64 << 20;

typedef struct cell {
    histo_dtype dtype;
    int64_t bins;
} cell;

/* The first HOST_CELLS are measured with samples in host memory, too. */
static const cell cells[] = {
    {HISTO_U8, 256}, {HISTO_F32, 256}, {HISTO_F32, 1 << 16}, {HISTO_F32, 1 << 20}, {HISTO_F32, MAX_BINS}};
enum { CELLS = sizeof cells / sizeof *cells, HOST_CELLS = 2 };

typedef struct world {
    const bench_options *options;
    int gpus, repeat;
    int *measured, *wrong;
    size_t bytes, host_bytes; /* for each GPU, in its memory and in the host's */
    void *pattern;            /* [piece_bytes] of samples, which memory holds again and again */
    uint64_t *once, *counts;  /* [MAX_BINS]: of the pattern, by the CPU; of what was measured last */
    void *samples[MAX_GPUS];
    char *pinned, *pageable;
    cudaStream_t streams[MAX_GPUS];
    void *buffers[MAX_GPUS][BUFFERS];
    double begun_s;
} world;

static histo_axis axis_of(const cell *c)
{
    return c->dtype == HISTO_U8 ? histo_axis_integer(0, c->bins) : histo_axis_regular(c->bins, 0, 1);
}

static histo_view view_of(const cell *c, const void *samples, size_t bytes)
{
    return histo_view_1d(samples, c->dtype, (int64_t)(bytes / histo_dtype_size(c->dtype)));
}

/* Fill the pattern with uniform samples. */
static void make_pattern(void *pattern, histo_dtype dtype)
{
    for (size_t i = 0; i < piece_bytes / sizeof(uint64_t); i++)
        ((uint64_t *)pattern)[i] = random_bits(1, (int64_t)i);
    for (size_t i = 0; i < piece_bytes / sizeof(float) && dtype == HISTO_F32; i++)
        ((float *)pattern)[i] = (float)random_uniform(1, (int64_t)i);
}

/* Make the pattern of a cell, and count it once by the CPU. */
static histo_status begin_cell(world *w, const cell *c)
{
    const histo_axis axis = axis_of(c);
    make_pattern(w->pattern, c->dtype);
    const histo_view view = view_of(c, w->pattern, piece_bytes);
    return histo_count(1, &axis, &view, NULL, w->once, c->bins, NULL,
                       &(histo_count_options){.plan = &(histo_plan_options){.device = HISTO_DEVICE_CPU}});
}

/* Whether these bytes of patterns were counted. */
static bool is_right(const world *w, const cell *c, size_t bytes)
{
    bool right = true;
    for (int64_t b = 0; b < c->bins; b++)
        right &= w->counts[b] == w->once[b] * (bytes / piece_bytes);
    return right;
}

typedef histo_status row_work(world *w, void *context);

/* The time of a row: the median of several calls. What prepares each is not part of it, and then the first call counts
 * as the others do, since users do not read counts twice either; without it (NULL), one more call, which allocates,
 * goes first. */
static histo_status time_row(world *w, row_work *prepare, row_work *work, void *context, double *ms)
{
    bench_times times = {0};
    histo_status status = prepare ? HISTO_OK : work(w, context);
    while (times.passes < w->repeat && status == HISTO_OK) {
        if (prepare) status = prepare(w, context);
        const double start = histo_now_us();
        if (status == HISTO_OK) status = work(w, context);
        times.us[times.passes++] = histo_now_us() - start;
    }
    if (status != HISTO_OK) return status;
    bench_times_sort(&times);
    *ms = bench_median(&times) * 1e-3;
    return HISTO_OK;
}

static void put_row(const world *w, const char *what, int gpus, const cell *c, int threads, double ms, double bytes,
                    bool right)
{
    json_writer *json = w->options->json;
    json_open(json, NULL, '{');
    json_print(json, "\"what\": \"%s\", \"gpus\": %d", what, gpus);
    if (c) json_print(json, "\"dtype\": \"%s\", \"bins\": %lld", histo_dtype_name(c->dtype), (long long)c->bins);
    if (threads) json_print(json, "\"threads\": %d", threads);
    json_print(json, "\"ms\": %.6g, \"GB/s\": %.5g, \"right\": %s", ms, bytes / ms * 1e-6, right ? "true" : "false");
    json_close(json, '}');
    ++*w->measured;
    *w->wrong += !right;
}

/* ---- Samples in the memory of GPUs ---- */

typedef struct resident {
    const cell *c;
    int gpus;
    histo_hist *hist;
} resident;

static histo_status fill_each(world *w, void *context)
{
    const resident *r = context;
    histo_status status = histo_hist_reset(r->hist, NULL);
    for (int g = 0; g < r->gpus && status == HISTO_OK; g++) {
        const histo_view view = view_of(r->c, w->samples[g], w->bytes);
        status = histo_hist_fill(r->hist, &view, NULL);
    }
    return status;
}

/* Before reading alone: the fills are done, but the counts of the GPUs are not yet merged. */
static histo_status fill_and_wait(world *w, void *context)
{
    const resident *r = context;
    histo_status status = fill_each(w, context);
    for (int g = 0; g < r->gpus && status == HISTO_OK; g++) {
        TRY(cudaSetDevice(g), "choosing a GPU");
        TRY(cudaDeviceSynchronize(), "counting");
    }
    return status;
}

static histo_status read_counts(world *w, void *context)
{
    const resident *r = context;
    return histo_hist_read_counts(r->hist, HISTO_BINS, w->counts, r->c->bins, NULL);
}

static histo_status fill_and_read(world *w, void *context)
{
    histo_status status = fill_each(w, context);
    return status == HISTO_OK ? read_counts(w, context) : status;
}

static histo_status measure_resident(world *w, const cell *c, int gpus, double *alone_ms)
{
    const histo_axis axis = axis_of(c);
    const size_t bytes = w->bytes * (size_t)gpus;
    resident r = {c, gpus, NULL};
    double ms = 0, read_ms = 0;
    histo_status status = histo_hist_create(&r.hist, 1, &axis, NULL);
    if (status != HISTO_OK) return status;
    status = time_row(w, NULL, fill_and_read, &r, &ms);
    const bool right = status == HISTO_OK && is_right(w, c, bytes);
    if (status == HISTO_OK) status = time_row(w, fill_and_wait, read_counts, &r, &read_ms);
    histo_hist_destroy(r.hist);
    if (status != HISTO_OK) return status;
    TRY(cudaSetDevice(0), "choosing a GPU");
    if (gpus == 1) *alone_ms = ms;
    char name[48];
    snprintf(name, sizeof name, "%s, %lld bins", histo_dtype_name(c->dtype), (long long)c->bins);
    fprintf(w->options->table, "%-24s %5d %9.3f %9.0f %9.2f %9.3f%s\n", name, gpus, ms, (double)bytes / ms * 1e-6,
            *alone_ms / ms * gpus, read_ms, right ? "" : "  WRONG");
    put_row(w, "resident", gpus, c, 0, ms, (double)bytes, right);
    put_row(w, "read", gpus, c, 0, read_ms, (double)c->bins * 8, true);
    return HISTO_OK;
}

static histo_status place(world *w)
{
    for (int g = 0; g < w->gpus; g++) {
        TRY(cudaSetDevice(g), "choosing a GPU");
        if (!w->samples[g]) TRY(cudaMalloc(&w->samples[g], w->bytes), "memory for samples");
        for (size_t at = 0; at < w->bytes; at += piece_bytes)
            TRY(cudaMemcpy((char *)w->samples[g] + at, w->pattern, piece_bytes, cudaMemcpyHostToDevice),
                "copying samples");
    }
    return bench_cuda_check(cudaSetDevice(0), "choosing a GPU");
}

/* 1, 2, 4, …, and all. */
static int next_number(const world *w, int gpus)
{
    return gpus < w->gpus && 2 * gpus > w->gpus ? w->gpus : 2 * gpus;
}

static histo_status measure_all_resident(world *w)
{
    fprintf(w->options->table, "%.3g GiB in the memory of each GPU\n%-24s %5s %9s %9s %9s %9s\n",
            (double)w->bytes / (1 << 30), "", "GPUs", "ms", "GB/s", "times one", "read, ms");
    histo_status status = HISTO_OK;
    for (int i = 0; i < CELLS && status == HISTO_OK; i++) {
        double alone_ms = 0;
        status = begin_cell(w, &cells[i]);
        if (status == HISTO_OK && (i == 0 || cells[i].dtype != cells[i - 1].dtype)) status = place(w);
        for (int gpus = 1; gpus <= w->gpus && status == HISTO_OK; gpus = next_number(w, gpus))
            if (!bench_is_over(&w->options->budget, w->begun_s))
                status = measure_resident(w, &cells[i], gpus, &alone_ms);
    }
    return status;
}

/* ---- Samples in host memory ---- */

/* The roof: every GPU copies its part of the pinned memory. */
static histo_status copy_parts(world *w, void *context)
{
    const int gpus = *(const int *)context;
    for (size_t at = 0; at < w->host_bytes; at += piece_bytes)
        for (int g = 0; g < gpus; g++) {
            TRY(cudaSetDevice(g), "choosing a GPU");
            TRY(cudaMemcpyAsync(w->buffers[g][at / piece_bytes % BUFFERS], w->pinned + (size_t)g * w->host_bytes + at,
                                piece_bytes, cudaMemcpyHostToDevice, w->streams[g]),
                "copying samples");
        }
    for (int g = 0; g < gpus; g++)
        TRY(cudaStreamSynchronize(w->streams[g]), "copying samples");
    return HISTO_OK;
}

typedef struct hosted {
    const cell *c;
    histo_view view;
    histo_plan *plan;
    histo_hist *hist;
} hosted;

static histo_status fill_host(world *w, void *context)
{
    const hosted *h = context;
    histo_status status = histo_hist_reset(h->hist, NULL);
    if (status == HISTO_OK) status = histo_plan_fill(h->plan, h->hist, &h->view, NULL);
    return status == HISTO_OK ? histo_hist_read_counts(h->hist, HISTO_BINS, w->counts, h->c->bins, NULL) : status;
}

/* Who counts samples in host memory. */
typedef struct way {
    const char *name;
    histo_device device;
    int gpus, threads;
} way;

static histo_status measure_host(world *w, const cell *c, const char *samples, size_t bytes, const way *by, double roof)
{
    const histo_axis axis = axis_of(c);
    const histo_plan_options how = {.device = by->device, .threads = by->threads};
    hosted h = {.c = c, .view = view_of(c, samples, bytes)};
    double ms = 0;
    histo_status status = histo_set_threads(by->threads);
    if (status == HISTO_OK) status = histo_hist_create(&h.hist, 1, &axis, NULL);
    if (status == HISTO_OK) status = histo_plan_create(&h.plan, h.hist, &h.view, NULL, &how);
    if (status == HISTO_OK) status = time_row(w, NULL, fill_host, &h, &ms);
    histo_plan_destroy(h.plan);
    histo_hist_destroy(h.hist);
    if (status != HISTO_OK) return status;
    const bool right = is_right(w, c, bytes);
    char name[64], threads[16] = "";
    snprintf(name, sizeof name, "%s, %lld bins, %s", histo_dtype_name(c->dtype), (long long)c->bins, by->name);
    if (by->threads) snprintf(threads, sizeof threads, "%d", by->threads);
    fprintf(w->options->table, "%-40s %7s %9.3f %9.1f %9.2f%s\n", name, threads, ms, (double)bytes / ms * 1e-6,
            (double)bytes / ms * 1e-6 / roof, right ? "" : "  WRONG");
    put_row(w, by->name, by->gpus, c, by->threads, ms, (double)bytes, right);
    return HISTO_OK;
}

static histo_status measure_copies(world *w, int gpus, double *roof)
{
    double ms = 0;
    histo_status status = time_row(w, NULL, copy_parts, &gpus, &ms);
    if (status != HISTO_OK) return status;
    const double bytes = (double)w->host_bytes * gpus;
    char name[64];
    snprintf(name, sizeof name, "copies to %d GPU%s", gpus, gpus == 1 ? "" : "s");
    *roof = bytes / ms * 1e-6;
    fprintf(w->options->table, "%-40s %7s %9.3f %9.1f\n", name, "", ms, *roof);
    put_row(w, "copies", gpus, NULL, 0, ms, bytes, true);
    return HISTO_OK;
}

/* Page-locked memory: on one GPU, on all with the CPU, and on the CPU alone. */
static histo_status measure_pinned(world *w, const cell *c)
{
    const way alone = {"one GPU", HISTO_DEVICE_CUDA(0), 1, 0}, all = {"all", HISTO_DEVICE_CUDA_ALL, w->gpus, 0},
              cpu = {"CPU", HISTO_DEVICE_CPU, 0, 0};
    const size_t whole = w->host_bytes * (size_t)w->gpus;
    double roof = 0;
    histo_status status = measure_copies(w, 1, &roof);
    if (status == HISTO_OK) status = measure_host(w, c, w->pinned, w->host_bytes, &alone, roof);
    if (status == HISTO_OK) status = measure_copies(w, w->gpus, &roof);
    if (status == HISTO_OK) status = measure_host(w, c, w->pinned, whole, &all, roof);
    return status == HISTO_OK ? measure_host(w, c, w->pinned, whole, &cpu, roof) : status;
}

/* Other memory, which threads copy into page-locked pieces for one GPU. */
static histo_status measure_pageable(world *w, const cell *c)
{
    double roof = 0;
    histo_status status = measure_copies(w, 1, &roof);
    const int cpus = histo_threads();
    for (int threads = 4; status == HISTO_OK; threads = 4 * threads < cpus ? 4 * threads : cpus) {
        const way alone = {"pageable, one GPU", HISTO_DEVICE_CUDA(0), 1, threads},
                  cpu = {"pageable, CPU", HISTO_DEVICE_CPU, 0, threads};
        status = measure_host(w, c, w->pageable, w->host_bytes, &alone, roof);
        if (status == HISTO_OK) status = measure_host(w, c, w->pageable, w->host_bytes, &cpu, roof);
        if (threads >= cpus) break;
    }
    const histo_status reset = histo_set_threads(0);
    return status == HISTO_OK ? reset : status;
}

static histo_status make_host(world *w)
{
    w->pageable = malloc(w->host_bytes);
    if (!w->pageable) return histo_fail_memory(w->host_bytes, "samples");
    TRY(cudaHostAlloc((void **)&w->pinned, w->host_bytes * (size_t)w->gpus, cudaHostAllocPortable), "pinned memory");
    for (int g = 0; g < w->gpus; g++) {
        TRY(cudaSetDevice(g), "choosing a GPU");
        TRY(cudaStreamCreateWithFlags(&w->streams[g], cudaStreamNonBlocking), "making a stream");
        for (int b = 0; b < BUFFERS; b++)
            TRY(cudaMalloc(&w->buffers[g][b], piece_bytes), "buffers");
    }
    return bench_cuda_check(cudaSetDevice(0), "choosing a GPU");
}

static void repeat_pattern(char *to, size_t bytes, const void *pattern)
{
    for (size_t at = 0; at < bytes; at += piece_bytes)
        memcpy(to + at, pattern, piece_bytes);
}

static histo_status measure_all_hosted(world *w)
{
    histo_status status = make_host(w);
    if (status == HISTO_OK)
        fprintf(w->options->table, "\n%.3g GiB of host memory for each GPU\n%-40s %7s %9s %9s %9s\n",
                (double)w->host_bytes / (1 << 30), "", "threads", "ms", "GB/s", "of copies");
    for (int i = 0; i < HOST_CELLS && status == HISTO_OK; i++) {
        if (bench_is_over(&w->options->budget, w->begun_s)) break;
        status = begin_cell(w, &cells[i]);
        repeat_pattern(w->pinned, w->host_bytes * (size_t)w->gpus, w->pattern);
        repeat_pattern(w->pageable, w->host_bytes, w->pattern);
        if (status == HISTO_OK) status = measure_pinned(w, &cells[i]);
        if (status == HISTO_OK) status = measure_pageable(w, &cells[i]);
    }
    return status;
}

static void clean_up(world *w)
{
    for (int g = 0; g < w->gpus; g++) {
        cudaSetDevice(g);
        cudaFree(w->samples[g]);
        for (int b = 0; b < BUFFERS; b++)
            cudaFree(w->buffers[g][b]);
        if (w->streams[g]) cudaStreamDestroy(w->streams[g]);
    }
    cudaSetDevice(0);
    cudaFreeHost(w->pinned);
    free(w->pageable);
    free(w->pattern);
    free(w->once);
    free(w->counts);
}

histo_status bench_several_gpus(const bench_options *options, int *measured, int *wrong)
{
    world w = {.options = options, .measured = measured, .wrong = wrong, .begun_s = bench_now_s()};
    *measured = *wrong = 0;
    if (!bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT)) return HISTO_UNSUPPORTED;
    TRY(cudaGetDeviceCount(&w.gpus), "counting GPUs");
    if (w.gpus > MAX_GPUS) w.gpus = MAX_GPUS;
    w.repeat = options->repeat ? options->repeat : REPEAT;
    const size_t whole = (size_t)options->bytes / piece_bytes * piece_bytes;
    w.bytes = whole ? whole : (size_t)4 << 30;
    w.host_bytes = whole && whole < (size_t)2 << 30 ? whole : (size_t)2 << 30;
    w.pattern = malloc(piece_bytes);
    w.once = malloc(MAX_BINS * sizeof *w.once);
    w.counts = malloc(MAX_BINS * sizeof *w.counts);
    histo_status status = HISTO_OK;
    if (!w.pattern || !w.once || !w.counts)
        status = histo_fail_memory(piece_bytes + MAX_BINS * (sizeof *w.once + sizeof *w.counts), "samples and counts");
    report_open(options->json, options->command_line, NULL);
    json_open(options->json, "rows", '[');
    if (status == HISTO_OK) status = measure_all_resident(&w);
    if (status == HISTO_OK) status = measure_all_hosted(&w);
    report_close(options->json);
    clean_up(&w);
    return status;
}
