/* Several GPUs of one host. First, each counts samples in its own memory into one histogram, which is then read: k GPUs
 * should take as long as one. Then all of them count samples in host memory, ideally as fast as these can be copied. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/core/cuda_check.h"
#include "bench/core/report.h"
#include "bench/core/sort.h"
#include "bench/several_gpus/several_gpus.h"

enum { MOST_GPUS = 64, REPEAT = 7, MOST_REPEAT = 99, BUFFERS = 2 };

static const size_t piece_bytes = (size_t)64 << 20;

/* What is counted. */
typedef struct cell {
    histo_dtype dtype;
    int64_t bins;
} cell;

static const cell cells[] = {
    {HISTO_U8, 256}, {HISTO_F32, 256}, {HISTO_F32, 1 << 16}, {HISTO_F32, 1 << 20}, {HISTO_F32, 1 << 24}};
enum { CELLS = sizeof cells / sizeof *cells, HOST_CELLS = 2 };

typedef struct world {
    const bench_options *options;
    int gpus, repeat;
    int *measured, *wrong;
    size_t bytes, host_bytes;
    char *pattern; /* [piece_bytes] of samples */
    void *samples[MOST_GPUS];
    char *pinned; /* host_bytes for each GPU */
    cudaStream_t streams[MOST_GPUS];
    void *buffers[MOST_GPUS][BUFFERS];
    double begun_s;
} world;

static histo_axis axis_of(const cell *c)
{
    return c->dtype == HISTO_U8 ? histo_axis_integer(0, c->bins) : histo_axis_regular(c->bins, 0, 1);
}

/* Uniform samples. */
static void make_pattern(char *pattern, histo_dtype dtype)
{
    uint64_t state = 88172645463325252U;
    for (size_t i = 0; i < piece_bytes; i += sizeof(uint64_t)) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t word = state;
        if (dtype == HISTO_F32) {
            const float two[2] = {(float)(uint32_t)(state >> 40) * 0x1p-24f,
                                  (float)(uint32_t)(state >> 8 & 0xffffff) * 0x1p-24f};
            memcpy(&word, two, sizeof word);
        }
        memcpy(pattern + i, &word, sizeof word);
    }
}

/* The time of a row: the median of several calls, after one that is not timed. What prepares each (NULL: nothing) is
 * not part of it. */
typedef histo_status row_work(world *w, void *context);

static histo_status time_row(world *w, row_work *prepare, row_work *work, void *context, double *ms)
{
    double us[MOST_REPEAT + 1];
    histo_status status = HISTO_OK;
    for (int i = 0; i <= w->repeat && status == HISTO_OK; i++) {
        if (prepare) status = prepare(w, context);
        const double start = histo_now_us();
        if (status == HISTO_OK) status = work(w, context);
        us[i] = histo_now_us() - start;
    }
    if (status != HISTO_OK) return status;
    bench_sort(us + 1, (size_t)w->repeat);
    *ms = bench_sorted_median(us + 1, w->repeat) * 1e-3;
    return HISTO_OK;
}

static void put_json(const world *w, const char *what, int gpus, const cell *c, int threads, double ms, double bytes,
                     bool right)
{
    json_writer *json = w->options->json;
    json_open(json, NULL, '{');
    json_print(json, "\"what\": \"%s\", \"gpus\": %d", what, gpus);
    if (c) json_print(json, "\"dtype\": \"%s\", \"bins\": %lld", histo_dtype_name(c->dtype), (long long)c->bins);
    if (threads) json_print(json, "\"threads\": %d", threads);
    json_print(json, "\"ms\": %.6g, \"GB/s\": %.5g, \"right\": %s", ms, bytes / ms * 1e-6, right ? "true" : "false");
    json_close(json, '}');
}

static void note(const world *w, bool right)
{
    ++*w->measured;
    *w->wrong += !right;
}

/* ---- Samples in the memory of GPUs ---- */

typedef struct resident {
    const cell *c;
    int gpus;
    histo_hist *hist;
    uint64_t *counts;
} resident;

static histo_status fill_each(world *w, void *context)
{
    const resident *r = context;
    histo_status status = histo_hist_reset(r->hist, NULL);
    for (int g = 0; g < r->gpus && status == HISTO_OK; g++) {
        const histo_view view =
            histo_view_1d(w->samples[g], r->c->dtype, (int64_t)(w->bytes / histo_dtype_size(r->c->dtype)));
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
    (void)w;
    const resident *r = context;
    return histo_hist_read_counts(r->hist, HISTO_BINS, r->counts, r->c->bins, NULL);
}

static histo_status fill_and_read(world *w, void *context)
{
    histo_status status = fill_each(w, context);
    return status == HISTO_OK ? read_counts(w, context) : status;
}

/* Every GPU has the pattern a known number of times; the CPU counts it once. */
static histo_status count_pattern(const world *w, const cell *c, uint64_t *counts)
{
    const histo_axis axis = axis_of(c);
    const histo_view view = histo_view_1d(w->pattern, c->dtype, (int64_t)(piece_bytes / histo_dtype_size(c->dtype)));
    return histo_count(1, &axis, &view, NULL, counts, c->bins, NULL,
                       &(histo_count_options){.plan = &(histo_plan_options){.device = HISTO_DEVICE_CPU}});
}

static bool is_right(const cell *c, const uint64_t *counts, const uint64_t *once, uint64_t times)
{
    bool right = true;
    for (int64_t b = 0; b < c->bins; b++)
        right &= counts[b] == once[b] * times;
    return right;
}

static histo_status measure_resident(world *w, resident *r, const uint64_t *once, double *alone_ms)
{
    const histo_axis axis = axis_of(r->c);
    double ms = 0, read_ms = 0;
    histo_status status = histo_hist_create(&r->hist, 1, &axis, NULL);
    if (status != HISTO_OK) return status;
    status = time_row(w, NULL, fill_and_read, r, &ms);
    const bool right =
        status == HISTO_OK && is_right(r->c, r->counts, once, w->bytes / piece_bytes * (uint64_t)r->gpus);
    if (status == HISTO_OK) status = time_row(w, fill_and_wait, read_counts, r, &read_ms);
    histo_hist_destroy(r->hist);
    if (status != HISTO_OK) return status;
    TRY(cudaSetDevice(0), "choosing a GPU");
    if (r->gpus == 1) *alone_ms = ms;
    const double bytes = (double)w->bytes * r->gpus;
    char name[48];
    snprintf(name, sizeof name, "%s, %lld bins", histo_dtype_name(r->c->dtype), (long long)r->c->bins);
    fprintf(w->options->table, "%-24s %5d %9.3f %9.0f %9.2f %9.3f%s\n", name, r->gpus, ms, bytes / ms * 1e-6,
            *alone_ms / ms * r->gpus, read_ms, right ? "" : "  WRONG");
    put_json(w, "resident", r->gpus, r->c, 0, ms, bytes, right);
    note(w, right);
    put_json(w, "read", r->gpus, r->c, 0, read_ms, (double)r->c->bins * 8, right);
    note(w, true);
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
    for (int c = 0; c < CELLS && status == HISTO_OK; c++) {
        resident r = {.c = &cells[c]};
        const size_t size = (size_t)r.c->bins * sizeof(uint64_t);
        uint64_t *once = malloc(size);
        r.counts = malloc(size);
        if (!once || !r.counts) status = histo_fail_memory(2 * size, "counts");
        if (c == 0 || cells[c].dtype != cells[c - 1].dtype) {
            make_pattern(w->pattern, r.c->dtype);
            if (status == HISTO_OK) status = place(w);
        }
        if (status == HISTO_OK) status = count_pattern(w, r.c, once);
        double alone_ms = 0;
        for (r.gpus = 1; r.gpus <= w->gpus && status == HISTO_OK; r.gpus = next_number(w, r.gpus))
            if (!bench_is_over(&w->options->budget, w->begun_s)) status = measure_resident(w, &r, once, &alone_ms);
        free(once);
        free(r.counts);
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
    uint64_t *counts;
} hosted;

static histo_status fill_host(world *w, void *context)
{
    (void)w;
    const hosted *h = context;
    histo_status status = histo_hist_reset(h->hist, NULL);
    if (status == HISTO_OK) status = histo_plan_fill(h->plan, h->hist, &h->view, NULL);
    return status == HISTO_OK ? histo_hist_read_counts(h->hist, HISTO_BINS, h->counts, h->c->bins, NULL) : status;
}

typedef struct way {
    const char *name;
    histo_device device;
    int gpus, threads;
} way;

static histo_status measure_host(world *w, const cell *c, const char *samples, size_t bytes, const way *by,
                                 const uint64_t *once, double roof)
{
    const histo_axis axis = axis_of(c);
    hosted h = {.c = c, .view = histo_view_1d(samples, c->dtype, (int64_t)(bytes / histo_dtype_size(c->dtype)))};
    const size_t size = (size_t)c->bins * sizeof(uint64_t);
    double ms = 0;
    histo_status status = histo_set_threads(by->threads);
    h.counts = malloc(size);
    if (!h.counts) status = histo_fail_memory(size, "counts");
    if (status == HISTO_OK) status = histo_hist_create(&h.hist, 1, &axis, NULL);
    if (status == HISTO_OK)
        status = histo_plan_create(&h.plan, h.hist, &h.view, NULL,
                                   &(histo_plan_options){.device = by->device, .threads = by->threads});
    if (status == HISTO_OK) status = time_row(w, NULL, fill_host, &h, &ms);
    const bool right = status == HISTO_OK && is_right(c, h.counts, once, bytes / piece_bytes);
    histo_plan_destroy(h.plan);
    histo_hist_destroy(h.hist);
    free(h.counts);
    if (status != HISTO_OK) return status;
    char name[64], threads[16] = "";
    snprintf(name, sizeof name, "%s, %lld bins, %s", histo_dtype_name(c->dtype), (long long)c->bins, by->name);
    if (by->threads) snprintf(threads, sizeof threads, "%d", by->threads);
    fprintf(w->options->table, "%-40s %7s %9.3f %9.1f %9.2f%s\n", name, threads, ms, (double)bytes / ms * 1e-6,
            (double)bytes / ms * 1e-6 / roof, right ? "" : "  WRONG");
    put_json(w, by->name, by->gpus, c, by->threads, ms, (double)bytes, right);
    note(w, right);
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
    put_json(w, "copies", gpus, NULL, 0, ms, bytes, true);
    note(w, true);
    return HISTO_OK;
}

static void repeat_pattern(char *to, size_t bytes, const char *pattern)
{
    for (size_t at = 0; at < bytes; at += piece_bytes)
        memcpy(to + at, pattern, piece_bytes);
}

/* Page-locked memory: on one GPU, on all with the CPU, and on the CPU alone. */
static histo_status measure_pinned(world *w, const cell *c, const uint64_t *once)
{
    const way alone = {"one GPU", HISTO_DEVICE_CUDA(0), 1, 0}, all = {"all", HISTO_DEVICE_CUDA_ALL, w->gpus, 0},
              cpu = {"CPU", HISTO_DEVICE_CPU, 0, 0};
    double roof = 0;
    histo_status status = measure_copies(w, 1, &roof);
    if (status == HISTO_OK) status = measure_host(w, c, w->pinned, w->host_bytes, &alone, once, roof);
    if (status == HISTO_OK) status = measure_copies(w, w->gpus, &roof);
    if (status == HISTO_OK) status = measure_host(w, c, w->pinned, w->host_bytes * (size_t)w->gpus, &all, once, roof);
    if (status == HISTO_OK) status = measure_host(w, c, w->pinned, w->host_bytes * (size_t)w->gpus, &cpu, once, roof);
    return status;
}

/* Other memory, which threads copy into page-locked pieces for one GPU. */
static histo_status measure_pageable(world *w, const cell *c, const uint64_t *once, const char *samples)
{
    double one = 0;
    histo_status status = measure_copies(w, 1, &one);
    const int cpus = histo_threads();
    for (int threads = 4; status == HISTO_OK; threads = 4 * threads < cpus ? 4 * threads : cpus) {
        const way alone = {"pageable, one GPU", HISTO_DEVICE_CUDA(0), 1, threads},
                  cpu = {"pageable, CPU", HISTO_DEVICE_CPU, 0, threads};
        status = measure_host(w, c, samples, w->host_bytes, &alone, once, one);
        if (status == HISTO_OK) status = measure_host(w, c, samples, w->host_bytes, &cpu, once, one);
        if (threads >= cpus) break;
    }
    const histo_status reset = histo_set_threads(0);
    return status == HISTO_OK ? reset : status;
}

static histo_status make_host(world *w)
{
    TRY(cudaHostAlloc((void **)&w->pinned, w->host_bytes * (size_t)w->gpus, cudaHostAllocPortable), "pinned memory");
    for (int g = 0; g < w->gpus; g++) {
        TRY(cudaSetDevice(g), "choosing a GPU");
        TRY(cudaStreamCreateWithFlags(&w->streams[g], cudaStreamNonBlocking), "making a stream");
        for (int b = 0; b < BUFFERS; b++)
            TRY(cudaMalloc(&w->buffers[g][b], piece_bytes), "buffers");
    }
    return bench_cuda_check(cudaSetDevice(0), "choosing a GPU");
}

static histo_status measure_all_hosted(world *w)
{
    histo_status status = make_host(w);
    char *pageable = malloc(w->host_bytes);
    if (!pageable && status == HISTO_OK) status = histo_fail_memory(w->host_bytes, "samples");
    if (status == HISTO_OK)
        fprintf(w->options->table, "\n%.3g GiB of host memory for each GPU\n%-40s %7s %9s %9s %9s\n",
                (double)w->host_bytes / (1 << 30), "", "threads", "ms", "GB/s", "of copies");
    for (int c = 0; c < HOST_CELLS && status == HISTO_OK; c++) {
        if (bench_is_over(&w->options->budget, w->begun_s)) break;
        uint64_t once[256];
        make_pattern(w->pattern, cells[c].dtype);
        repeat_pattern(w->pinned, w->host_bytes * (size_t)w->gpus, w->pattern);
        repeat_pattern(pageable, w->host_bytes, w->pattern);
        status = count_pattern(w, &cells[c], once);
        if (status == HISTO_OK) status = measure_pinned(w, &cells[c], once);
        if (status == HISTO_OK) status = measure_pageable(w, &cells[c], once, pageable);
    }
    free(pageable);
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
    free(w->pattern);
}

histo_status bench_several_gpus(const bench_options *options, int *measured, int *wrong)
{
    world w = {.options = options, .measured = measured, .wrong = wrong, .begun_s = bench_now_s()};
    *measured = *wrong = 0;
    if (!bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT)) return HISTO_UNSUPPORTED;
    TRY(cudaGetDeviceCount(&w.gpus), "counting GPUs");
    if (w.gpus > MOST_GPUS) w.gpus = MOST_GPUS;
    w.repeat = !options->repeat ? REPEAT : options->repeat < MOST_REPEAT ? options->repeat : MOST_REPEAT;
    const size_t whole = (size_t)options->bytes / piece_bytes * piece_bytes;
    w.bytes = whole ? whole : (size_t)4 << 30;
    w.host_bytes = whole && whole < (size_t)2 << 30 ? whole : (size_t)2 << 30;
    w.pattern = malloc(piece_bytes);
    if (!w.pattern) return histo_fail_memory(piece_bytes, "samples");
    report_open(options->json, options->command_line, NULL);
    json_open(options->json, "rows", '[');
    histo_status status = measure_all_resident(&w);
    if (status == HISTO_OK) status = measure_all_hosted(&w);
    report_close(options->json);
    clean_up(&w);
    return status;
}
