/* Predicted and counted overflows of packed counters, of uniform samples (Ross 2014, 5.3.3 and 5.8.1). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_builder.h"
#include "papers/experiments/measures.h"
#include "plan/strategy.h"

enum { WARP = 32 };

/* What a series of packed_atomic says about its counters. */
typedef struct packed_series {
    int bits, copies, blocks;
} packed_series;

static int parameter(const char *params, const char *name)
{
    const char *at = strstr(params, name);
    return at ? (int)strtol(at + strlen(name), NULL, 10) : 0;
}

static packed_series packed_series_of(const papers_series *s)
{
    const char *params = s->contender.params;
    return (packed_series){parameter(params, "bits="), parameter(params, "copies="), parameter(params, "blocks=")};
}

/* The thesis takes w / 2^B / 2^N for a warp, and multiplies it by the samples: "more than 1000 an image". */
static double published_share(const packed_series *p, const bench_input *input)
{
    return WARP / exp2(p->bits) / (double)input->bins;
}

/* A block gets `samples` of its tile's, which reach one of its counters with probability `chance`: the mean of
 * floor(X / 2^bits), X being the samples that reach it, by their distribution as Poisson's. */
static double expected_overflows(double samples, double chance, int bits)
{
    const double mean = samples * chance;
    const int64_t full = INT64_C(1) << bits, last = (int64_t)(mean + 20 * sqrt(mean)) + 20;
    double sum = 0;
    for (int64_t x = full; x <= last; x++)
        sum += (double)(x / full) * exp((double)x * log(mean) - mean - lgamma((double)x + 1));
    return sum;
}

static double expected_share(const packed_series *p, const bench_input *input, int64_t samples)
{
    const double counters = (double)input->bins * p->copies, of_block = (double)samples / p->blocks;
    return expected_overflows(of_block, 1 / counters, p->bits) * counters * p->blocks / (double)samples;
}

/* Behind each series that counts, two that predict. */
void papers_add_predictions(papers_result *r)
{
    static const char *const by[] = {"formula", "expected"};
    const int counted = r->series_count;
    for (int s = 0; s < counted; s++)
        for (int i = 0; i < 2 && r->series_count < PAPERS_MAX_SERIES; i++) {
            papers_series predicted = r->series[s];
            predicted.measured = true;
            snprintf(predicted.contender.name, sizeof predicted.contender.name, "%s", i ? "expected" : "published");
            snprintf(predicted.label, sizeof predicted.label, "%.34s: %s", r->series[s].label, by[i]);
            r->series[r->series_count++] = predicted;
        }
}

static histo_status fill_once(const papers_series *s, const bench_input *input, const void *samples, int64_t n,
                              const bench_device *device, unsigned long long *overflows)
{
    const histo_axis axis = bench_input_axis(input, NULL);
    const histo_view view = histo_view_1d(samples, input->dtype, n);
    const histo_plan_options how = {
        .device = device->device, .strategy = s->contender.name, .params = s->contender.params};
    const histo_strategy *strategy = histo_row_find(s->contender.name, NULL)->strategy;
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    char told[256] = "";
    histo_text before = {0}, note = {.out = told, .capacity = sizeof told};
    strategy->tell(&before);
    histo_status status = histo_hist_create(&hist, 1, &axis, NULL);
    if (status == HISTO_OK) status = histo_plan_create(&plan, hist, &view, NULL, &how);
    if (status == HISTO_OK) status = histo_plan_fill(plan, hist, &view, NULL);
    if (status == HISTO_OK) strategy->tell(&note);
    if (status == HISTO_OK && sscanf(told, "%llu overflows", overflows) != 1)
        status = histo_fail(HISTO_UNSUPPORTED, "%s tells no overflows", s->contender.name);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return status;
}

histo_status papers_find_overflows(papers_result *r, int point, int series, const bench_device *device,
                                   const papers_options *o)
{
    const papers_series *s = &r->series[series];
    const bench_input *input = &r->point[point].input;
    const packed_series p = packed_series_of(s);
    papers_cell *c = &r->cell[point][series];
    c->samples = papers_samples_of(&r->point[point], o);
    double share = published_share(&p, input);
    histo_status status = HISTO_OK;
    if (strcmp(s->contender.name, "expected") == 0) share = expected_share(&p, input, c->samples);
    if (strchr(s->contender.name, '/')) {
        const void *samples = NULL;
        unsigned long long overflows = 0;
        status = papers_place_samples(&r->point[point], o, device, &samples, &c->samples);
        if (status == HISTO_OK) status = fill_once(s, input, samples, c->samples, device, &overflows);
        if (samples) device->release(samples);
        share = (double)overflows / (double)c->samples;
    }
    if (status == HISTO_OK) c->value = 1e6 * share;
    return status;
}
