#include "bench/calls/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/random_numbers.h"
#include "bench/core/report.h"

enum { MAX_SAMPLES = 1 << 20, BINS = 10, REPEAT = 15 };

typedef struct world {
    const bench_options *options;
    double begun_s;
    int *measured, *wrong;
    double *samples;
    uint64_t *counts; /* of the last call */
    double *sums;
    histo_axis axis;
    histo_hist *hist;
    int64_t n; /* samples, or bins of a read */
} world;

static histo_view view_of(const world *w)
{
    return histo_view_1d(w->samples, HISTO_F64, w->n);
}

static histo_status create_fill_read(world *w)
{
    const histo_view view = view_of(w);
    histo_hist *hist;
    histo_status status = histo_hist_create(&hist, 1, &w->axis, NULL);
    if (status != HISTO_OK) return status;
    status = histo_hist_fill(hist, &view, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_BINS, w->counts, BINS, NULL);
    histo_hist_destroy(hist);
    return status;
}

static histo_status fill_again(world *w)
{
    const histo_view view = view_of(w);
    return histo_hist_fill(w->hist, &view, NULL);
}

static histo_status count_once(world *w)
{
    const histo_view view = view_of(w);
    return histo_count(1, &w->axis, &view, NULL, w->counts, BINS, NULL, NULL);
}

static histo_status sum_weights(world *w)
{
    const histo_view view = view_of(w);
    return histo_count(1, &w->axis, &view, &(histo_fill_options){.weights = &view}, w->sums, BINS, NULL, NULL);
}

/* What one writes without a library; samples next to edges may end up on their other side. */
static histo_status naive_loop(world *w)
{
    const double lo = w->axis.lo, per_step = BINS / (w->axis.hi - w->axis.lo);
    memset(w->counts, 0, BINS * sizeof *w->counts);
    for (int64_t i = 0; i < w->n; i++) {
        const double at = (w->samples[i] - lo) * per_step;
        if (at >= 0 && at < BINS) w->counts[(int)at]++;
    }
    return HISTO_OK;
}

static histo_status read_counts(world *w)
{
    return histo_hist_read_counts(w->hist, HISTO_BINS, w->counts, w->n, NULL);
}

static histo_status copy(world *w)
{
    memcpy(w->counts, w->samples, (size_t)w->n * sizeof *w->counts);
    return HISTO_OK;
}

typedef struct call {
    const char *name;
    histo_status (*run)(world *w);
    bool counts; /* into world.counts, whose sum is then n */
} call;

static const call small[] = {{"histo_hist_create, _fill, _read_counts, _destroy", create_fill_read, true},
                             {"histo_hist_fill", fill_again, false},
                             {"histo_count", count_once, true},
                             {"histo_count, weights", sum_weights, false},
                             {"a naive loop", naive_loop, true}};
static const call large[] = {{"histo_hist_read_counts", read_counts, false}, {"memcpy", copy, false}};

/* The least time of a call, each time the mean of many. */
static histo_status time_call(const call *c, world *w, int repeat, double *ns)
{
    const int64_t calls = 1 + 2000000 / (w->n + 1000);
    histo_status status = c->run(w);
    for (int r = 0; r < repeat && status == HISTO_OK; r++) {
        const double begun_us = bench_processor_us();
        for (int64_t k = 0; k < calls && status == HISTO_OK; k++)
            status = c->run(w);
        const double took = (bench_processor_us() - begun_us) * 1e3 / (double)calls;
        if (r == 0 || took < *ns) *ns = took;
    }
    return status;
}

static bool is_right(const call *c, const world *w)
{
    uint64_t sum = 0;
    for (int b = 0; b < BINS && c->counts; b++)
        sum += w->counts[b];
    return !c->counts || sum == (uint64_t)w->n;
}

static void print(const call *c, const world *w, double ns, const char *unit)
{
    const bool right = is_right(c, w);
    *w->wrong += !right;
    fprintf(w->options->table, "%-50s %9lld %-7s %12.1f %9.3f%s\n", c->name, (long long)w->n, unit, ns,
            ns / (double)w->n, right ? "" : "  wrong");
    json_open(w->options->json, NULL, '{');
    json_text(w->options->json, "call", c->name);
    json_print(w->options->json, "\"%s\": %lld, \"ns\": %.4g, \"right\": %s", unit, (long long)w->n, ns,
               right ? "true" : "false");
    json_close(w->options->json, '}');
}

static histo_status measure(const call *calls, size_t count, world *w, const char *unit)
{
    const int repeat = w->options->repeat ? w->options->repeat : REPEAT;
    for (size_t c = 0; c < count; c++) {
        double ns = 0;
        if (bench_is_over(&w->options->budget, w->begun_s)) return HISTO_OK;
        histo_status status = time_call(&calls[c], w, repeat, &ns);
        if (status != HISTO_OK) return status;
        print(&calls[c], w, ns, unit);
        ++*w->measured;
    }
    return HISTO_OK;
}

static histo_status measure_small(world *w)
{
    histo_status status = histo_hist_create(&w->hist, 1, &w->axis, NULL);
    for (w->n = 10; w->n <= 100000 && status == HISTO_OK; w->n *= 10)
        status = measure(small, sizeof small / sizeof *small, w, "samples");
    histo_hist_destroy(w->hist);
    w->hist = NULL;
    return status;
}

static histo_status measure_reads(world *w)
{
    histo_status status = HISTO_OK;
    for (w->n = 1 << 16; w->n <= MAX_SAMPLES && status == HISTO_OK; w->n *= 16) {
        const histo_axis axis = histo_axis_regular(w->n, 0, 1);
        const histo_view view = histo_view_1d(w->samples, HISTO_F64, MAX_SAMPLES);
        status = histo_hist_create(&w->hist, 1, &axis, NULL);
        if (status == HISTO_OK) status = histo_hist_fill(w->hist, &view, NULL);
        if (status == HISTO_OK) status = measure(large, sizeof large / sizeof *large, w, "bins");
        histo_hist_destroy(w->hist);
        w->hist = NULL;
    }
    return status;
}

histo_status bench_calls(const bench_options *options, int *measured, int *wrong)
{
    world w = {.options = options, .begun_s = bench_now_s(), .measured = measured, .wrong = wrong};
    w.axis = histo_axis_closed(histo_axis_regular(BINS, 0, 1));
    *measured = *wrong = 0;
    w.samples = malloc(MAX_SAMPLES * sizeof *w.samples);
    w.counts = malloc(MAX_SAMPLES * sizeof *w.counts);
    w.sums = malloc(BINS * sizeof *w.sums);
    histo_status status =
        w.samples && w.counts && w.sums ? HISTO_OK : histo_fail_memory(MAX_SAMPLES * 16, "the samples");
    for (int i = 0; i < MAX_SAMPLES && status == HISTO_OK; i++)
        w.samples[i] = random_uniform(1, i);
    report_open(options->json, options->command_line, NULL);
    json_open(options->json, "calls", '[');
    fprintf(options->table, "%-50s %17s %12s %9s\n", "f64, 10 regular bins; counts", "", "ns", "ns each");
    if (status == HISTO_OK) status = measure_small(&w);
    if (status == HISTO_OK) status = measure_reads(&w);
    report_close(options->json);
    free(w.samples);
    free(w.counts);
    free(w.sums);
    return status;
}
