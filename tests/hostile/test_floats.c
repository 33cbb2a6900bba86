/* Results have the same bits whatever the caller's floating-point state: subnormals flushed to zero, as by -ffast-math,
 * any rounding, traps. And the caller has its state again when a call returns. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "support/check.h"
#include "support/data.h"

/* ---- States ---- */

typedef struct named_state {
    const char *name;
    uint64_t bits;
} named_state;

/* The first one is that in which threads are started. */
#if defined __x86_64__
enum { FLUSH = 0x8000, ZERO = 0x40, DOWN = 0x2000, UP = 0x4000, TOWARDS_ZERO = 0x6000, TRAPS = 0xe80 };
static const named_state states[] = {{"flushed to zero", 0x1f80 | FLUSH | ZERO},
                                     {"flushed results", 0x1f80 | FLUSH},
                                     {"flushed operands", 0x1f80 | ZERO},
                                     {"rounded down", 0x1f80 | DOWN},
                                     {"rounded up", 0x1f80 | UP},
                                     {"rounded towards zero", 0x1f80 | TOWARDS_ZERO},
                                     {"flushed and rounded up", 0x1f80 | FLUSH | ZERO | UP},
                                     {"with traps", 0x1f80 & ~TRAPS},
                                     {"standard", 0x1f80}};
#elif defined __aarch64__
enum { FLUSH = 1 << 24, UP = 1 << 22, DOWN = 2 << 22, TOWARDS_ZERO = 3 << 22 };
static const named_state states[] = {{"flushed to zero", FLUSH},
                                     {"rounded down", DOWN},
                                     {"rounded up", UP},
                                     {"rounded towards zero", TOWARDS_ZERO},
                                     {"flushed and rounded up", FLUSH | UP},
                                     {"standard", 0}};
#else
#error "write the states of this architecture"
#endif
enum { STATES = sizeof states / sizeof *states };

static uint64_t control(void)
{
    uint64_t now = histo_float_state_now().bits;
#if defined __x86_64__
    now &= ~(uint64_t)HISTO_FLOAT_FLAGS;
#endif
    return now;
}

/* ---- What calls write ---- */

typedef struct record {
    uint64_t digest; /* of all results so far */
    uint64_t state;  /* the caller's */
    int calls;
    uint64_t *after; /* the digest after each call */
} record;

enum { MOST_CALLS = 1 << 16 };

static void take(record *r, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        r->digest = (r->digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void returned(record *r, const char *call)
{
    if (control() != r->state) fail_msg("%s: the state is %llx", call, (unsigned long long)control());
    assert_true(r->calls < MOST_CALLS);
    r->after[r->calls++] = r->digest;
}

/* Call, which must succeed; then take results. */
#define CALL(call)                                                                                                     \
    do {                                                                                                               \
        OK(call);                                                                                                      \
        returned(r, #call);                                                                                            \
    } while (0)
#define TAKE(results) take(r, &(results), sizeof(results))

enum { FEW = 500, MANY = 50000, BINS = 12 };

typedef struct data {
    histo_dtype dtype;
    void *samples;
    double weights[MANY];
} data;

/* Special values of the dtype, and weights of all sizes. */
static void make_data(data *d, histo_dtype dtype)
{
    rng r = {.state = 11 + (uint64_t)dtype};
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    d->dtype = dtype;
    d->samples = make_samples(&r, dtype, SPECIAL, &axis, MANY);
    for (int i = 0; i < MANY; i++)
        d->weights[i] = i % 3 ? ldexp(rng_uniform(&r) - 0.25, -1060) : ldexp(rng_uniform(&r), (int)rng_below(&r, 40));
}

static histo_axis axis_number(int i)
{
    static const double edges[BINS + 1] = {-1e300, -1,       -0x1p-140, -0x1p-1074, 0,   0x1p-1074, 0x1p-1073,
                                           1e-310, 0x1p-149, 1e-41,     0x1p-24,    0.1, 65504};
    switch (i) {
    case 0:
        return histo_axis_variable(BINS, edges);
    case 1:
        return histo_axis_regular(BINS, -3.3, 100.1);
    case 2:
        return histo_axis_regular(BINS, -1e-310, 3e-310);
    case 3:
        return histo_axis_log(BINS, 1e-310, 1e300);
    case 4:
        return histo_axis_sqrt(BINS, 0, 7e4);
    case 5:
        return histo_axis_power(BINS, 1e-320, 1e5, 1 / 3.0);
    default:
        return histo_axis_integer(-6, BINS);
    }
}
enum { AXES = 7 };

static void call_of_axes(record *r, const histo_axis *axis)
{
    double edges[BINS + 1];
    CALL(histo_axis_check(axis));
    CALL(histo_axis_edges(axis, edges));
    TAKE(edges);
    for (int i = 0; i <= BINS; i++) {
        const double edge = histo_axis_edge(axis, i);
        TAKE(edge);
        returned(r, "histo_axis_edge");
    }
    const histo_dtype types[] = {HISTO_F16, HISTO_F32, HISTO_F64};
    for (int t = 0; t < 9; t++) {
        CALL(histo_linspace(BINS, 0.1, 1.7, types[t / 3], types[t % 3], edges));
        TAKE(edges);
    }
}

static void call_of_numbers(record *r, const histo_hist *h, const histo_hist *other)
{
    const double q[] = {0, 0.1, 0.3, 0.999, 1};
    double values[5], distance;
    histo_summary summary;
    CALL(histo_hist_quantiles(h, HISTO_QUANTILE_LINEAR, 5, q, values));
    TAKE(values);
    const histo_axis axis = histo_hist_axis(h, 0);
    CALL(histo_hist_summarize(h, &summary));
    TAKE(summary.mean);
    TAKE(summary.variance);
    TAKE(summary.skewness);
    TAKE(summary.kurtosis);
    TAKE(summary.entropy);
    for (int method = HISTO_SPLIT_OTSU; method <= HISTO_SPLIT_MAX_ENTROPY; method++) {
        int64_t last = -1;
        const histo_status status = histo_hist_split(h, (histo_split_method)method, 2, &last);
        if (status == HISTO_OK) TAKE(last);
        TAKE(status);
        returned(r, "histo_hist_split");
    }
    for (int metric = HISTO_CORRELATION; metric <= HISTO_EARTH_MOVER; metric++) {
        CALL(histo_hist_compare(h, other, (histo_metric)metric, &distance));
        TAKE(distance);
    }
    (void)axis;
}

static void call_of_files(record *r, const histo_hist *h)
{
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        void *file;
        size_t size;
        histo_hist *loaded;
        double sums[BINS + 3];
        uint64_t print;
        CALL(histo_hist_save(h, (histo_format)format, NULL, &file, &size));
        take(r, file, size);
        CALL(histo_hist_load(file, size, NULL, &loaded));
        CALL(histo_hist_read_weights(loaded, HISTO_FLOW, sums, NULL, BINS + 3, NULL));
        TAKE(sums);
        CALL(histo_hist_fingerprint(loaded, &print));
        TAKE(print);
        histo_hist_destroy(loaded);
        histo_free(file);
    }
}

static void call_of_maps(record *r, const histo_hist *h, const histo_hist *other, const histo_view *samples)
{
    static float out[MANY];
    for (int within = HISTO_MAP_STEP; within <= HISTO_MAP_LINEAR; within++) {
        const histo_axis axis = histo_hist_axis(h, 0);
        double values[BINS + 3];
        histo_map *map;
        const histo_view results = histo_view_1d(out, HISTO_F32, samples->shape[0]);
        CALL(histo_map_create(&map, 1, &axis, &(histo_map_options){.within = (histo_within)within}));
        for (int made = 0; made < 3; made++) {
            if (made == 0) CALL(histo_map_equalize(map, h, &(histo_make_options){.lo = 1e-310, .hi = 0.7}));
            if (made == 1) CALL(histo_map_match(map, h, other, NULL));
            if (made == 2 && within == HISTO_MAP_STEP)
                CALL(histo_map_project(map, h, NULL, &(histo_make_options){.hi = 1e-40}));
            OK(histo_map_read(map, values, histo_map_size(map)));
            take(r, values, (size_t)histo_map_size(map) * sizeof *values);
            CALL(histo_map_apply(map, samples, &results, &(histo_apply_options){.threads = 3}));
            take(r, out, (size_t)samples->shape[0] * sizeof *out);
        }
        histo_map_destroy(map);
    }
}

static void call_of_histograms(record *r, const data *d, const histo_axis *axis, int64_t n)
{
    const histo_view samples = histo_view_1d(d->samples, d->dtype, n),
                     weights = histo_view_1d(d->weights, HISTO_F64, n);
    const histo_fill_options plain = {.threads = 3},
                             filtered = {.where = &samples, .where_lo = -0x1p-1074, .where_hi = 1e30, .threads = 3};
    histo_hist *other;
    uint64_t counts[BINS + 3];
    double sums[BINS + 3], squares[BINS + 3];
    histo_tally tally;
    OK(histo_hist_create(&other, 1, axis, NULL));
    CALL(histo_hist_write(other, HISTO_BINS, (uint64_t[BINS]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, NULL, NULL, BINS,
                          NULL));
    CALL(histo_count(1, axis, &samples, NULL, counts, BINS, &tally, NULL));
    take(r, counts, BINS * sizeof *counts);
    CALL(histo_count(1, axis, &samples, &(histo_fill_options){.weights = &weights, .threads = 1}, sums, BINS, NULL,
                     NULL));
    take(r, sums, BINS * sizeof *sums);
    for (int w = HISTO_UNWEIGHTED; w <= HISTO_WEIGHT_REPRODUCIBLE_SUM; w++) {
        const bool squared = w == HISTO_WEIGHT_FAST || w == HISTO_WEIGHT_REPRODUCIBLE;
        const bool exact = w == HISTO_WEIGHT_REPRODUCIBLE || w == HISTO_WEIGHT_REPRODUCIBLE_SUM;
        const histo_fill_options weighted = {.weights = &weights, .threads = exact ? 3 : 1};
        const histo_fill_options *const fill = w ? &weighted : &plain;
        histo_hist *h, *clone, *coarse;
        histo_plan *plan;
        CALL(histo_hist_create(&h, 1, axis, &(histo_hist_options){.weighting = (histo_weighting)w}));
        CALL(histo_hist_fill(h, &samples, fill));
        CALL(histo_plan_create(&plan, h, &samples, fill, NULL));
        CALL(histo_plan_fill(plan, h, &samples, fill));
        histo_plan_destroy(plan);
        if (w == HISTO_UNWEIGHTED) CALL(histo_hist_fill(h, &samples, &filtered));
        CALL(histo_hist_clone(h, &clone));
        CALL(histo_hist_merge(h, clone));
        CALL(histo_hist_scale(h, w ? 1 / 3.0 : 3));
        CALL(histo_hist_subtract(h, clone));
        CALL(histo_hist_rebin(h, 0, 4, &coarse));
        const histo_axis rebinned = histo_hist_axis(coarse, 0);
        take(r, rebinned.edges, rebinned.edges ? (BINS / 4 + 1) * sizeof(double) : 0);
        CALL(histo_hist_read_weights(coarse, HISTO_BINS, sums, NULL, BINS / 4, NULL));
        take(r, sums, BINS / 4 * sizeof *sums);
        CALL(histo_hist_read_counts(h, HISTO_FLOW, counts, BINS + 3, NULL));
        TAKE(counts);
        CALL(histo_hist_read_weights(h, HISTO_FLOW, sums, squared ? squares : NULL, BINS + 3, NULL));
        TAKE(sums);
        if (squared) TAKE(squares);
        call_of_files(r, h);
        if (w == HISTO_UNWEIGHTED) {
            call_of_numbers(r, h, other);
            call_of_maps(r, h, other, &samples);
        }
        histo_hist_destroy(coarse);
        histo_hist_destroy(clone);
        histo_hist_destroy(h);
    }
    histo_hist_destroy(other);
}

static void call_of_surveys(record *r, const data *d, int64_t n)
{
    const histo_view samples = histo_view_1d(d->samples, d->dtype, n);
    const double q[] = {0, 0.01, 0.4, 0.77, 1};
    double values[5];
    histo_stats stats = {0};
    histo_power_sums sums = {0};
    histo_extremes extremes;
    histo_quantiles *quantiles;
    histo_axis found;
    CALL(histo_stats_add(&stats, &samples, &(histo_fill_options){.threads = 3}));
    TAKE(stats);
    CALL(histo_power_sums_add(&sums, &samples, &(histo_fill_options){.threads = 3}));
    TAKE(sums);
    histo_power_sums_read(&sums, &stats);
    returned(r, "histo_power_sums_read");
    TAKE(stats.mean);
    TAKE(stats.m2);
    CALL(histo_find_extremes(&samples, NULL, &extremes, 1));
    TAKE(extremes);
    CALL(histo_quantiles_create(&quantiles, d->dtype, HISTO_QUANTILE_LINEAR, 5, q));
    for (bool more;;) {
        CALL(histo_quantiles_next_pass(quantiles, &more));
        if (!more) break;
        CALL(histo_quantiles_add(quantiles, &samples, NULL));
    }
    CALL(histo_quantiles_read(quantiles, values));
    TAKE(values);
    histo_quantiles_destroy(quantiles);
    for (int method = HISTO_SPLIT_OTSU; method <= HISTO_SPLIT_MAX_ENTROPY; method++) {
        histo_thresholds *thresholds;
        histo_number number = {.u64 = 0};
        CALL(histo_thresholds_create(&thresholds, d->dtype, (histo_split_method)method, 2, 0));
        bool more = true;
        for (histo_status status = HISTO_OK; status == HISTO_OK && more;) {
            status = histo_thresholds_next_pass(thresholds, &more);
            returned(r, "histo_thresholds_next_pass");
            if (status == HISTO_OK && more) CALL(histo_thresholds_add(thresholds, &samples, NULL));
            if (status == HISTO_OK && !more) CALL(histo_thresholds_read(thresholds, &number));
        }
        TAKE(number);
        histo_thresholds_destroy(thresholds);
    }
    histo_ranks *ranks;
    int64_t ranks_size;
    CALL(histo_ranks_create(&ranks, d->dtype));
    for (bool more;;) {
        CALL(histo_ranks_next_pass(ranks, &more));
        if (!more) break;
        CALL(histo_ranks_add(ranks, &samples, NULL));
    }
    CALL(histo_ranks_size(ranks, &ranks_size));
    TAKE(ranks_size);
    CALL(histo_ranks_read(ranks, NULL, NULL, &ranks_size));
    histo_ranks_destroy(ranks);
    for (int rule = HISTO_RULE_STURGES; rule <= HISTO_RULE_SQRT; rule++) {
        const histo_status status =
            histo_axis_from_data(&samples, NULL, &(histo_survey_options){.rule = (histo_rule)rule}, &found);
        returned(r, "histo_axis_from_data");
        TAKE(status);
        if (status != HISTO_OK) continue;
        TAKE(found.lo);
        TAKE(found.hi);
        TAKE(found.bins);
    }
    const size_t size = histo_dtype_size(d->dtype);
    for (int i = 0; i < FEW; i++) {
        const double value = histo_sample_value((const char *)d->samples + (size_t)i * size, d->dtype);
        TAKE(value);
        returned(r, "histo_sample_value");
    }
}

static void call_all(record *r, const data *d)
{
    for (int i = 0; i < AXES; i++) {
        const histo_axis axis = axis_number(i);
        call_of_axes(r, &axis);
        call_of_histograms(r, d, &axis, FEW);
        call_of_histograms(r, d, &axis, MANY);
    }
    call_of_surveys(r, d, FEW);
    call_of_surveys(r, d, MANY);
}

/* All calls in a state. */
static record run(const data *d, uint64_t state)
{
    record r = {.digest = 1, .state = state, .after = malloc(MOST_CALLS * sizeof *r.after)};
    assert_non_null(r.after);
    const histo_float_state callers = {.bits = (__typeof__(callers.bits))state};
    histo_float_state_set(callers);
    call_all(&r, d);
    histo_float_state_set_standard();
    return r;
}

static void test_states(void **unused)
{
    (void)unused;
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        data *d = malloc(sizeof *d);
        assert_non_null(d);
        make_data(d, (histo_dtype)dtype);
        record all[STATES];
        for (int s = 0; s < STATES; s++)
            all[s] = run(d, states[s].bits);
        const record *standard = &all[STATES - 1];
        for (int s = 0; s < STATES; s++) {
            assert_int_equal(all[s].calls, standard->calls);
            for (int c = 0; c < standard->calls; c++)
                if (all[s].after[c] != standard->after[c])
                    fail_msg("%s, %s: results differ after call %d", histo_dtype_name((histo_dtype)dtype),
                             states[s].name, c);
        }
        for (int s = 0; s < STATES; s++)
            free(all[s].after);
        free(d->samples);
        free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
