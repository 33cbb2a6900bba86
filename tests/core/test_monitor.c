/* Calls that the monitor of a thread stops: what they return, what they leave, and that all long calls ask. The clock
 * is the test's own: each look at it is late enough to ask. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "support/check.h"
#include "support/data.h"

double histo_now_us(void)
{
    static _Atomic int looks;
    return 30e3 * ++looks;
}

static pthread_t caller;
static _Atomic bool has_stopped = true;

/* Says stop when it is asked for the stop_at-th time; 0: never. */
typedef struct watcher {
    long asked, stop_at;
    const char *stage;
    double first, last; /* done */
} watcher;

static bool stops(void *context, const histo_progress *progress)
{
    watcher *w = context;
    assert_non_null(progress->stage);
    assert_true(isnan(progress->done) || (progress->done >= 0 && progress->done <= 1));
    if (w->asked == 0) w->first = progress->done;
    w->stage = progress->stage;
    w->last = progress->done;
    has_stopped = ++w->asked == w->stop_at;
    return has_stopped;
}

/* The call fails when it is asked for the nth time, and then asks no more. */
#define STOPPED(nth, call)                                                                                             \
    do {                                                                                                               \
        watcher w_ = {.stop_at = (nth)};                                                                               \
        histo_set_monitor(stops, &w_);                                                                                 \
        has_stopped = false;                                                                                           \
        const histo_status status_ = (call);                                                                           \
        has_stopped = true;                                                                                            \
        histo_set_monitor(NULL, NULL);                                                                                 \
        if (status_ != HISTO_CANCELLED)                                                                                \
            fail_msg("%s: asked %ld times, status %d (%s)", #call, w_.asked, (int)status_, histo_last_error());        \
        assert_int_equal(w_.asked, (nth));                                                                             \
        assert_non_null(strstr(histo_last_error(), "the monitor of this thread stopped the call"));                    \
    } while (0)

/* The same, wherever in the call it is: it asks at least so many times. */
#define STOPPED_ANYWHERE(least, call)                                                                                  \
    do {                                                                                                               \
        watcher all_ = {0};                                                                                            \
        histo_set_monitor(stops, &all_);                                                                               \
        OK(call);                                                                                                      \
        histo_set_monitor(NULL, NULL);                                                                                 \
        if (all_.asked < (least)) fail_msg("%s: asked %ld times", #call, all_.asked);                                  \
        for (long nth_ = 1; nth_ < all_.asked; nth_ += 1 + all_.asked / 4) /* the last depends on calls before */      \
            STOPPED(nth_, call);                                                                                       \
    } while (0)

/* Records that are numbers. Other threads than the one that calls wait until it has been asked, or they might do all
 * the work before. */
static void copy_numbers(const void *context, const void *records, int64_t stride, int64_t n, void *numbers)
{
    const size_t size = *(const size_t *)context;
    while (!pthread_equal(pthread_self(), caller) && !has_stopped)
        sched_yield();
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)numbers + (size_t)i * size, (const char *)records + i * stride, size);
}

/* ---- Fills ---- */

static uint64_t samples_in(const histo_hist *h)
{
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    return tally.samples;
}

/* All calls that use what it holds refuse a histogram of which a fill was stopped, until it is reset. */
static void check_refused(histo_hist *h, const histo_view *views, const histo_fill_options *fill)
{
    static const char why[] = "holds a part of a fill that was cancelled or failed: reset it";
    histo_tally tally;
    histo_hist *other = NULL;
    int64_t occupied;
    uint64_t words[1];
    void *data = NULL;
    size_t size;
    histo_word_layout layout;
    const int axis = 0;
    REFUSED(HISTO_INVALID, why, histo_hist_tally(h, &tally));
    REFUSED(HISTO_INVALID, why, histo_hist_fill(h, views, fill));
    REFUSED(HISTO_INVALID, why, histo_hist_clone(h, &other));
    REFUSED(HISTO_INVALID, why, histo_hist_merge(h, h));
    REFUSED(HISTO_INVALID, why, histo_hist_occupied(h, HISTO_FLOW, &occupied));
    REFUSED(HISTO_INVALID, why, histo_hist_read_masked(h, words, 1));
    REFUSED(HISTO_INVALID, why, histo_hist_save(h, HISTO_BINARY, NULL, &data, &size));
    REFUSED(HISTO_INVALID, why, histo_hist_save(h, HISTO_JSON, NULL, &data, &size));
    REFUSED(HISTO_INVALID, why, histo_hist_project(h, 1, &axis, &other));
    REFUSED(HISTO_INVALID, why, histo_hist_add_masked(h, words, 1));
    if (histo_hist_storage(h) == HISTO_DENSE) REFUSED(HISTO_INVALID, why, histo_hist_word_layout(h, &layout));
    assert_null(other);
    assert_null(data);
}

enum { N = 1 << 18 };

/* A fill by each strategy that can count so, on one thread and on several. */
static void stop_fills(histo_dtype dtype, histo_weighting weighting, bool masked, const histo_axis *axis)
{
    rng r = {.state = 31};
    void *x = make_samples(&r, dtype, UNIFORM, axis, N);
    uint8_t *mask = calloc(N, 1);
    for (int i = 0; i < N; i += 7)
        mask[i] = 1;
    const histo_view views[] = {histo_view_1d(x, dtype, N)}, kept = histo_view_1d(mask, HISTO_U8, N);
    const size_t size = histo_dtype_size(dtype);
    const histo_function copied = {.numbers_of = copy_numbers, .context = &size};
    histo_strategy_info info;
    for (int s = 0; s < histo_strategy_count(); s++) {
        OK(histo_strategy_describe(s, &info));
        if (strcmp(info.backend, "cpu") != 0 || (info.storage == HISTO_SPARSE && weighting)) continue;
        for (int threads = 1; threads <= 3; threads += 2) {
            const histo_hist_options kind = {.weighting = weighting, .storage = info.storage};
            const histo_fill_options fill = {.weights = weighting ? &views[0] : NULL,
                                             .mask = masked ? &kept : NULL,
                                             .threads = threads,
                                             .functions = threads > 1 ? &copied : NULL};
            const histo_plan_options by_name = {.strategy = info.name, .threads = threads};
            histo_hist *h;
            histo_plan *plan;
            OK(histo_hist_create(&h, 1, axis, &kind));
            const histo_status status = histo_plan_create(&plan, h, views, &fill, &by_name);
            if (status == HISTO_OK) {
                STOPPED(1, histo_plan_fill(plan, h, views, &fill));
                check_refused(h, views, &fill);
                OK(histo_hist_reset(h, NULL));
                assert_int_equal(samples_in(h), 0);
                STOPPED(2, histo_plan_fill(plan, h, views, &fill));
                histo_fill_options anew = fill;
                anew.replace = true;
                OK(histo_plan_fill(plan, h, views, &anew));
                assert_int_equal(samples_in(h), N);
                STOPPED(1, histo_plan_fill(plan, h, views, &anew)); /* nothing changes */
                assert_int_equal(samples_in(h), N);
                histo_plan_destroy(plan);
            } else {
                assert_int_equal(status, HISTO_UNSUPPORTED);
            }
            histo_hist_destroy(h);
        }
    }
    free(mask);
    free(x);
}

static void fills(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_regular(100, 0, 200);
    stop_fills(HISTO_U8, HISTO_UNWEIGHTED, false, &axis);
    stop_fills(HISTO_U16, HISTO_UNWEIGHTED, true, &axis);
    stop_fills(HISTO_F32, HISTO_UNWEIGHTED, false, &axis);
    stop_fills(HISTO_F64, HISTO_UNWEIGHTED, true, &axis);
    stop_fills(HISTO_F32, HISTO_WEIGHT_FAST, false, &axis);
    stop_fills(HISTO_F32, HISTO_WEIGHT_REPRODUCIBLE, true, &axis);
}

/* Masks that let nothing pass, batches, segments, channels, pairs, and counting in one call. */
static void other_fills(void **state)
{
    (void)state;
    static uint8_t x[N], none[N];
    static uint64_t counts[8 * 103];
    static int64_t offsets[9];
    const histo_axis axes[] = {histo_axis_regular(100, 0, 200), histo_axis_regular(10, 0, 256)};
    const histo_view all = histo_view_1d(x, HISTO_U8, N), mask = histo_view_1d(none, HISTO_U8, N);
    const histo_view channels = {x, HISTO_U8, 2, 1, {4, N / 4}, {1, 4}};
    const histo_view rows = {x, HISTO_U8, 2, 1, {8, N / 8}, {N / 8, 1}};
    const histo_view stack = {x, HISTO_U8, 2, 0, {2, N / 2}, {N / 2, 1}};
    const histo_count_options flow = {.slots = HISTO_FLOW};
    const histo_fill_options one = {.threads = 1};
    for (int b = 0; b <= 8; b++)
        offsets[b] = (int64_t)b * (N / 8);
    STOPPED(1,
            histo_count(1, axes, &all, &(histo_fill_options){.mask = &mask, .threads = 1}, counts, 103, NULL, &flow));
    STOPPED(1, histo_count(1, axes, &channels, &one, counts, 4 * 103, NULL, &flow));
    STOPPED(1, histo_count(1, axes, &rows, &one, counts, 8 * 103, NULL, &flow));
    STOPPED(1, histo_count(1, axes, &all, &(histo_fill_options){.offsets = offsets, .threads = 1}, counts, 8 * 103,
                           NULL, &flow));
    histo_hist *h;
    OK(histo_hist_create(&h, 2, axes, NULL));
    const histo_pairs pairs = {.pairing = HISTO_PAIRS_APART};
    STOPPED(1, histo_hist_fill_pairs(h, &stack, &pairs, &one));
    REFUSED(HISTO_INVALID, "cancelled", histo_hist_fill_pairs(h, &stack, &pairs, &one));
    /* What sets everything makes it whole. */
    static const uint64_t zeros[103 * 13];
    OK(histo_hist_write(h, HISTO_FLOW, zeros, NULL, NULL, 103 * 13, NULL));
    assert_int_equal(samples_in(h), 0);
    histo_hist_destroy(h);
}

/* Short calls do not ask. A monitor may itself call the library, and is not asked about that. */
static bool counts_meanwhile(void *context, const histo_progress *progress)
{
    static float x[N];
    const histo_axis axis = histo_axis_regular(10, 0, 1);
    const histo_view view = histo_view_1d(x, HISTO_F32, N);
    uint64_t counts[10];
    (void)progress;
    ++*(long *)context;
    OK(histo_count(1, &axis, &view, NULL, counts, 10, NULL, NULL));
    assert_int_equal(counts[0], N);
    return false;
}

static void *fill_unwatched(void *context)
{
    OK(histo_hist_fill(context, &(histo_view){.dtype = HISTO_F32, .ndim = 1}, NULL));
    static float x[N];
    const histo_view view = histo_view_1d(x, HISTO_F32, N);
    OK(histo_hist_fill(context, &view, NULL));
    return NULL;
}

static void monitors(void **state)
{
    (void)state;
    static float x[N];
    const histo_axis axis = histo_axis_regular(10, 0, 1);
    const histo_view few = histo_view_1d(x, HISTO_F32, 1000), many = histo_view_1d(x, HISTO_F32, N);
    const histo_fill_options one = {.threads = 1};
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    watcher w = {.stop_at = 1};
    histo_set_monitor(stops, &w);
    OK(histo_hist_fill(h, &few, NULL));
    assert_int_equal(w.asked, 0);
    /* Calls of another thread are not watched. */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fill_unwatched, h), 0);
    pthread_join(thread, NULL);
    assert_int_equal(w.asked, 0);
    w.stop_at = 0;
    OK(histo_hist_fill(h, &many, &one));
    assert_true(w.asked > 2);
    assert_string_equal(w.stage, "counting");
    assert_true(w.first < w.last && w.last <= 1);
    long asked = 0;
    histo_set_monitor(counts_meanwhile, &asked);
    OK(histo_hist_fill(h, &many, &one));
    assert_true(asked > 2);
    histo_set_monitor(NULL, NULL);
    assert_int_equal(samples_in(h), 1000 + 3 * N);
    histo_hist_destroy(h);
}

/* ---- Surveys ---- */

static void surveys(void **state)
{
    (void)state;
    rng r = {.state = 32};
    const histo_axis unit = histo_axis_regular(1, 0, 1);
    for (histo_dtype dtype = HISTO_U8; dtype < HISTO_DTYPE_COUNT; dtype++) {
        void *x = make_samples(&r, dtype, UNIFORM, &unit, N);
        const histo_view view = histo_view_1d(x, dtype, N);
        const size_t bytes = histo_dtype_size(dtype);
        const histo_function copied = {.numbers_of = copy_numbers, .context = &bytes};
        const histo_view columns = {x, dtype, 2, 1, {16, N / 16}, {0}}, rows = {x, dtype, 2, 1, {16, N / 16}, {0}};
        for (int threads = 1; threads <= 3; threads += 2) {
            const histo_fill_options fill = {.threads = threads, .functions = threads > 1 ? &copied : NULL};
            for (histo_rule rule = HISTO_RULE_NONE; rule <= HISTO_RULE_SQRT; rule++) {
                const histo_survey_options options = {.rule = rule,
                                                      .bins = 10,
                                                      .range = rule % 2 ? HISTO_RANGE_MINMAX : HISTO_RANGE_PERCENTILE,
                                                      .hi = 99};
                histo_survey *survey;
                histo_axis axis = {.bins = -1};
                OK(histo_survey_create(&survey, dtype, &options));
                bool more;
                OK(histo_survey_next_pass(survey, &more));
                STOPPED(1, histo_survey_add(survey, &view, &fill));
                REFUSED(HISTO_INVALID, "cancelled: destroy it", histo_survey_add(survey, &view, &fill));
                REFUSED(HISTO_INVALID, "cancelled: destroy it", histo_survey_axis(survey, &axis));
                REFUSED(HISTO_INVALID, "cancelled: destroy it", histo_survey_next_pass(survey, &more));
                histo_survey_destroy(survey);
                STOPPED(2, histo_axis_from_data(&view, &fill, &options, &axis));
                assert_int_equal(axis.bins, 0);
            }
            histo_quantiles *quantiles;
            double value;
            OK(histo_quantiles_create(&quantiles, dtype, HISTO_QUANTILE_LINEAR, 1, (const double[]){0.5}));
            bool more;
            OK(histo_quantiles_next_pass(quantiles, &more));
            STOPPED(1, histo_quantiles_add(quantiles, &view, &fill));
            REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_quantiles_add(quantiles, &view, &fill));
            REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_quantiles_read(quantiles, &value));
            REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_quantiles_next_pass(quantiles, &more));
            histo_quantiles_destroy(quantiles);
            for (int method = 0; method <= HISTO_SPLIT_TRIANGLE; method++) {
                histo_thresholds *thresholds;
                histo_number number;
                OK(histo_thresholds_create(&thresholds, dtype, (histo_split_method)method, 2, 0));
                OK(histo_thresholds_next_pass(thresholds, &more));
                STOPPED(1, histo_thresholds_add(thresholds, &view, &fill));
                REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_thresholds_add(thresholds, &view, &fill));
                REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_thresholds_read(thresholds, &number));
                REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_thresholds_next_pass(thresholds, &more));
                histo_thresholds_destroy(thresholds);
            }
            histo_ranks *ranks;
            int64_t ranks_size;
            OK(histo_ranks_create(&ranks, dtype));
            OK(histo_ranks_next_pass(ranks, &more));
            STOPPED(1, histo_ranks_add(ranks, &view, &fill));
            REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_ranks_add(ranks, &view, &fill));
            REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_ranks_size(ranks, &ranks_size));
            REFUSED(HISTO_INVALID, "cancelled: destroy them", histo_ranks_next_pass(ranks, &more));
            histo_ranks_destroy(ranks);
            histo_extremes extremes[16];
            histo_view side_by_side = columns, one_by_one = rows;
            const int64_t size = (int64_t)bytes;
            side_by_side.strides[0] = size;
            side_by_side.strides[1] = 16 * size;
            one_by_one.strides[0] = N / 16 * size;
            one_by_one.strides[1] = size;
            STOPPED(1, histo_find_extremes(&view, &fill, extremes, 1));
            STOPPED(1, histo_find_extremes(&side_by_side, &fill, extremes, 16));
            STOPPED(1, histo_find_extremes(&one_by_one, &fill, extremes, 16));
            histo_stats stats = {.samples = 5, .mean = 1}, stats_before = stats;
            STOPPED(2, histo_stats_add(&stats, &view, &fill));
            assert_memory_equal(&stats, &stats_before, sizeof stats);
            histo_power_sums sums = {.samples = 5}, sums_before = sums;
            STOPPED(2, histo_power_sums_add(&sums, &view, &fill));
            assert_memory_equal(&sums, &sums_before, sizeof sums);
        }
        free(x);
    }
}

/* No sample is in the range; and sums are not changed, whichever part of the call is stopped. */
static void filtered_surveys(void **state)
{
    (void)state;
    static double x[N];
    const histo_view view = histo_view_1d(x, HISTO_F64, N);
    const histo_survey_options options = {.range = HISTO_RANGE_FIXED, .lo = 5, .hi = 6, .rule = HISTO_RULE_SCOTT};
    const histo_fill_options one = {.threads = 1};
    for (int nth = 1; nth <= 12; nth += 11) {
        histo_survey *survey;
        histo_power_sums sums = {.samples = 5};
        const histo_power_sums before = sums;
        OK(histo_survey_create(&survey, HISTO_F64, &options));
        bool more;
        OK(histo_survey_next_pass(survey, &more));
        STOPPED(nth, histo_survey_add_sums(survey, &view, &one, &sums));
        assert_memory_equal(&sums, &before, sizeof sums);
        histo_survey_destroy(survey);
    }
}

/* ---- Plans that measure, maps, and what is made of histograms ---- */

static void plans(void **state)
{
    (void)state;
    static float x[N];
    const histo_axis axis = histo_axis_regular(10, 0, 1);
    const histo_view view = histo_view_1d(x, HISTO_F32, N);
    const histo_plan_options measuring = {.effort = HISTO_MEASURE, .vary = true, .threads = 1};
    histo_hist *h;
    histo_plan *plan = NULL;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    for (int nth = 1; nth <= 25; nth *= 5) {
        STOPPED(nth, histo_plan_create(&plan, h, &view, NULL, &measuring));
        assert_null(plan);
        assert_int_equal(samples_in(h), 0);
    }
    watcher w = {0};
    histo_set_monitor(stops, &w);
    OK(histo_plan_create(&plan, h, &view, NULL, &measuring));
    assert_string_equal(w.stage, "measuring");
    assert_true(w.first < w.last);
    OK(histo_plan_fill(plan, h, &view, NULL));
    assert_string_equal(w.stage, "counting");
    histo_set_monitor(NULL, NULL);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    histo_wisdom_forget();
}

static void maps(void **state)
{
    (void)state;
    enum { SIDE = 1 << 9 };
    static float x[SIDE * SIDE];
    static uint16_t out[SIDE * SIDE];
    const int64_t shape[] = {SIDE, SIDE};
    const histo_axis axis = histo_axis_regular(10, 0, 256);
    const histo_view from = histo_view_nd(x, HISTO_F32, 2, shape), to = histo_view_nd(out, HISTO_U16, 2, shape);
    histo_map *one, *four;
    OK(histo_map_create(&one, 1, &axis, NULL));
    OK(histo_map_create(&four, 1, &axis, &(histo_map_options){.batch = 4}));
    const histo_apply_options plain = {.threads = 1},
                              tiles = {.tiles = {2, {2, 2}, {SIDE / 2, SIDE / 2}}, .threads = 1};
    histo_moments m = {.m00 = -1};
    STOPPED(1, histo_map_apply(one, &from, &to, &plain));
    STOPPED(1, histo_map_apply(four, &from, &to, &tiles));
    STOPPED(1, histo_map_moments(one, &from, NULL, &plain, &m));
    assert_true(m.m00 == -1);
    histo_map_destroy(one);
    histo_map_destroy(four);
}

/* ---- Numbers of histograms ---- */

/* A histogram with random counts, at least 1, in all bins. */
static histo_hist *make_full(int naxes, const histo_axis *axes, const histo_hist_options *kind)
{
    rng r = {.state = 33};
    histo_hist *h;
    OK(histo_hist_create(&h, naxes, axes, kind));
    const int64_t size = histo_hist_size(h, HISTO_BINS);
    uint64_t *counts = malloc((size_t)size * sizeof *counts);
    assert_non_null(counts);
    for (int64_t i = 0; i < size; i++)
        counts[i] = 1 + rng_next(&r) % 1000;
    OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, size, NULL));
    free(counts);
    return h;
}

static void numbers(void **state)
{
    (void)state;
    enum { SIDE = 1 << 9 };
    const double q[] = {0, 0.5, 1};
    const histo_axis axis = histo_axis_regular(SIDE * SIDE, 0, 1), log_axis = histo_axis_log(SIDE * SIDE, 1, 10);
    const histo_axis side[] = {histo_axis_regular(SIDE, 0, 1), histo_axis_regular(SIDE, 0, 1)};
    double values[3];
    histo_summary summary;
    histo_information information;
    int64_t last[2];
    histo_map *map;
    OK(histo_map_create(&map, 1, &axis, NULL));
    for (histo_storage storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        const histo_hist_options kind = {.storage = storage};
        histo_hist *h = make_full(1, &axis, &kind), *other = make_full(1, &log_axis, &kind),
                   *joint = make_full(2, side, &kind);
        STOPPED_ANYWHERE(10, histo_hist_quantiles(h, HISTO_QUANTILE_LINEAR, 3, q, values));
        STOPPED_ANYWHERE(10, histo_hist_summarize(h, &summary));
        STOPPED_ANYWHERE(10, histo_hist_inform(joint, &information));
        STOPPED_ANYWHERE(10, histo_map_match(map, h, other, NULL));
        for (histo_split_method method = HISTO_SPLIT_OTSU; method <= HISTO_SPLIT_MAX_ENTROPY; method++)
            if (method != HISTO_SPLIT_MINIMUM) STOPPED_ANYWHERE(10, histo_hist_split(h, method, 2, last));
        STOPPED_ANYWHERE(10, histo_hist_split(h, HISTO_SPLIT_OTSU, 3, last));
        STOPPED_ANYWHERE(10, histo_hist_split(other, HISTO_SPLIT_OTSU, 2, last));
        histo_hist_destroy(joint);
        histo_hist_destroy(other);
        histo_hist_destroy(h);
    }
    histo_hist *weighted = make_full(2, side, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST_SUM});
    STOPPED_ANYWHERE(5, histo_hist_inform(weighted, &information));
    histo_hist_destroy(weighted);
    const histo_axis short_axis = histo_axis_regular(1 << 12, 0, 1);
    histo_hist *h = make_full(1, &short_axis, NULL);
    STOPPED(2, histo_hist_split(h, HISTO_SPLIT_MINIMUM, 2, last));
    STOPPED(5, histo_hist_split(h, HISTO_SPLIT_MINIMUM, 2, last));
    histo_hist_destroy(h);
    histo_map_destroy(map);
}

/* ---- Reads and words ---- */

static void reads(void **state)
{
    (void)state;
    enum { BINS = 1 << 18 };
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    static uint64_t counts[BINS];
    static double sums[BINS];
    static int64_t index[BINS];
    histo_tally tally;
    int64_t occupied;
    for (histo_storage storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        histo_hist *h = make_full(1, &axis, &(histo_hist_options){.storage = storage});
        for (int wide = 0; wide < 2; wide++) {
            const histo_read_options as = {.dtype = wide ? HISTO_U64 : HISTO_F32}, upto = {.cumulative = true};
            STOPPED_ANYWHERE(5, histo_hist_read_counts(h, HISTO_BINS, counts, BINS, &as));
            STOPPED_ANYWHERE(5, histo_hist_read_counts(h, HISTO_BINS, counts, BINS, &upto));
        }
        STOPPED_ANYWHERE(5, histo_hist_occupied(h, HISTO_FLOW, &occupied));
        STOPPED_ANYWHERE(10, histo_hist_read_occupied(h, HISTO_FLOW, index, counts, BINS));
        STOPPED_ANYWHERE(5, histo_hist_tally(h, &tally));
        STOPPED(2, histo_hist_tally(h, &tally));
        assert_int_equal(tally.samples, 0);
        histo_hist_destroy(h);
    }
    for (histo_weighting weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE; weighting++) {
        histo_hist *h = make_full(1, &axis, &(histo_hist_options){.weighting = weighting});
        STOPPED_ANYWHERE(10, histo_hist_read_weights(h, HISTO_BINS, sums, sums, BINS, NULL));
        histo_hist_destroy(h);
    }
}

/* Arithmetic in place leaves a part, and what is made anew is not there. */
static void arithmetic(void **state)
{
    (void)state;
    enum { BINS = 1 << 17 };
    static uint64_t counts[BINS];
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    for (int kind = 0; kind < 4; kind++) {
        const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST,
                                              HISTO_WEIGHT_REPRODUCIBLE};
        const histo_hist_options options = {.weighting = weightings[kind],
                                            .storage = kind == 1 ? HISTO_SPARSE : HISTO_DENSE};
        histo_hist *h = make_full(1, &axis, &options), *all = make_full(1, &axis, &options);
        const uint64_t samples = samples_in(h);
        bool equal = true;
        OK(histo_hist_read_counts(h, HISTO_BINS, counts, BINS, NULL));
        STOPPED_ANYWHERE(3, histo_hist_equal(h, all, &equal));
        STOPPED(1, histo_hist_equal(h, all, &equal));
        assert_false(equal);
        STOPPED_ANYWHERE(2, histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, BINS, NULL));
        assert_int_equal(samples_in(h), samples); /* as it was */
        OK(histo_hist_merge(h, all));
        STOPPED(1, histo_hist_subtract(h, all)); /* while it looks whether it can */
        assert_int_equal(samples_in(h), 2 * samples);
        if (kind != 1) {
            STOPPED(6, histo_hist_subtract(h, all));
            REFUSED(HISTO_INVALID, "cancelled", histo_hist_subtract(h, all));
            OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, BINS, NULL));
        }
        STOPPED(2, histo_hist_scale(h, 2));
        if (kind < 3)
            REFUSED(HISTO_INVALID, "cancelled", histo_hist_scale(h, 2));
        else
            assert_int_equal(samples_in(h), samples);
        if (kind == 3) {
            STOPPED(1, histo_hist_merge(h, all));
            REFUSED(HISTO_INVALID, "cancelled", histo_hist_merge(h, all));
        }
        histo_hist_destroy(all);
        histo_hist_destroy(h);
    }
}

/* Words that are written or added leave a part. */
static void words(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_regular(1 << 18, 0, 1);
    for (histo_weighting weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE; weighting++) {
        histo_hist *h = make_full(1, &axis, &(histo_hist_options){.weighting = weighting});
        histo_word_layout layout;
        int64_t integers, doubles;
        OK(histo_hist_word_layout(h, &layout));
        OK(histo_hist_count_words(h, &layout, &integers, &doubles));
        const int64_t n = integers + doubles;
        uint64_t *all = malloc((size_t)n * sizeof *all);
        assert_non_null(all);
        STOPPED_ANYWHERE(4, histo_hist_read_words(h, &layout, 0, n, all));
        const uint64_t samples = samples_in(h);
        /* Few are moved in any case, as messages must be. */
        watcher unasked = {.stop_at = 1};
        histo_set_monitor(stops, &unasked);
        for (int64_t at = 0, some; at < n; at += some) {
            some = n - at < 1 << 17 ? n - at : 1 << 17;
            OK(histo_hist_read_words(h, &layout, at, some, all + at));
        }
        for (int64_t at = 0, some; at < n; at += some) {
            some = n - at < 1 << 17 ? n - at : 1 << 17;
            OK(histo_hist_write_words(h, &layout, at, some, all + at));
        }
        histo_set_monitor(NULL, NULL);
        assert_int_equal(unasked.asked, 0);
        assert_int_equal(samples_in(h), samples);
        for (int added = 0; added < 2; added++) {
            watcher w = {0};
            histo_set_monitor(stops, &w);
            OK(added ? histo_hist_add_words(h, &layout, 0, n, all) : histo_hist_write_words(h, &layout, 0, n, all));
            histo_set_monitor(NULL, NULL);
            assert_true(w.asked > 4);
            OK(histo_hist_reset(h, NULL));
            for (int last = 0; last < 2; last++) {
                STOPPED(last ? w.asked - 1 : 1, added ? histo_hist_add_words(h, &layout, 0, n, all)
                                                      : histo_hist_write_words(h, &layout, 0, n, all));
                if (last)
                    REFUSED(HISTO_INVALID, "cancelled", histo_hist_read_words(h, &layout, 0, n, all));
                else
                    assert_int_equal(samples_in(h), 0); /* nothing has been written yet */
                OK(histo_hist_reset(h, NULL));
            }
            OK(histo_hist_write_words(h, &layout, 0, n, all));
            assert_int_equal(samples_in(h), samples);
        }
        free(all);
        histo_hist_destroy(h);
    }
}

/* ---- JSON ---- */

/* Every part of a document may be long: edges, categories, values, weights, indices, metadata. */
static void documents(void **state)
{
    (void)state;
    enum { BINS = 1 << 15 };
    static double edges[BINS + 1];
    for (int i = 0; i <= BINS; i++)
        edges[i] = (double)i * i;
    const histo_axis axes[] = {histo_axis_variable(BINS, edges), histo_axis_integer(0, BINS)};
    char *metadata = malloc((1 << 20) + 16);
    assert_non_null(metadata);
    memset(metadata, 'x', (1 << 20) + 15);
    memcpy(metadata, "{\"a\": \"", 7);
    memcpy(metadata + (1 << 20), "\"}", 3);
    for (int kind = 0; kind < 6; kind++) {
        const histo_weighting weightings[] = {HISTO_UNWEIGHTED,          HISTO_UNWEIGHTED,
                                              HISTO_WEIGHT_FAST,         HISTO_WEIGHT_FAST_SUM,
                                              HISTO_WEIGHT_REPRODUCIBLE, HISTO_WEIGHT_REPRODUCIBLE_SUM};
        const histo_hist_options options = {.weighting = weightings[kind],
                                            .storage = kind == 1 ? HISTO_SPARSE : HISTO_DENSE};
        histo_hist *h = make_full(1, &axes[kind % 2], &options), *loaded = NULL;
        void *data;
        size_t size;
        if (kind == 0) STOPPED_ANYWHERE(5, histo_hist_set_metadata(h, metadata));
        OK(histo_hist_save(h, HISTO_JSON, "name", &data, &size));
        watcher w = {0};
        histo_set_monitor(stops, &w);
        OK(histo_hist_load(data, size, "name", &loaded));
        histo_set_monitor(NULL, NULL);
        histo_hist_destroy(loaded);
        loaded = NULL;
        assert_true(w.asked > 20);
        for (long nth = 1; nth < w.asked; nth += 1 + w.asked / 16) {
            STOPPED(nth, histo_hist_load(data, size, "name", &loaded));
            assert_null(loaded);
        }
        histo_free(data);
        histo_hist_destroy(h);
    }
    free(metadata);
}

static void regroupings(void **state)
{
    (void)state;
    const histo_axis axes[] = {histo_axis_regular(1 << 10, 0, 1), histo_axis_regular(1 << 10, 0, 1)};
    for (histo_storage storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        histo_hist *h, *out = NULL;
        OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.storage = storage}));
        enum { ENTRIES = 1 << 17 };
        static int64_t index[ENTRIES];
        static uint64_t counts[ENTRIES];
        for (int i = 0; i < ENTRIES; i++) {
            index[i] = 5 * i;
            counts[i] = 1;
        }
        OK(histo_hist_add_occupied(h, HISTO_BINS, index, counts, ENTRIES));
        STOPPED(1, histo_hist_project(h, 1, (const int[]){1}, &out));
        STOPPED(2, histo_hist_rebin(h, 0, 4, &out));
        STOPPED(2, histo_hist_slice(h, 1, 1, 3, &out));
        assert_null(out);
        assert_int_equal(samples_in(h), ENTRIES);
        if (storage == HISTO_DENSE) {
            STOPPED(2, histo_hist_clone(h, &out));
            assert_null(out);
            STOPPED(2, histo_hist_merge(h, h));
            REFUSED(HISTO_INVALID, "cancelled", histo_hist_merge(h, h));
            OK(histo_hist_reset(h, NULL));
            assert_int_equal(samples_in(h), 0);
        }
        histo_hist_destroy(h);
    }
}

/* Saving and loading, in both formats, dense and sparse; comparing. */
static void saving(void **state)
{
    (void)state;
    enum { ENTRIES = 1 << 17 };
    const histo_axis axis = histo_axis_regular(1 << 18, 0, 1);
    static int64_t index[ENTRIES];
    static uint64_t counts[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) {
        index[i] = 2 * i;
        counts[i] = (uint64_t)(i % 1000);
    }
    for (histo_storage storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        histo_hist *h;
        OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.storage = storage}));
        OK(histo_hist_add_occupied(h, HISTO_BINS, index, counts, ENTRIES));
        for (histo_format format = HISTO_JSON; format <= HISTO_BINARY; format++) {
            void *data = NULL, *again = NULL;
            size_t size = 0, size_again = 0;
            histo_hist *loaded = NULL;
            watcher w = {0};
            histo_set_monitor(stops, &w);
            OK(histo_hist_save(h, format, NULL, &data, &size));
            histo_set_monitor(NULL, NULL);
            assert_true(w.asked > 3);
            for (long nth = 1; nth < w.asked; nth += 2) {
                STOPPED(nth, histo_hist_save(h, format, NULL, &again, &size_again));
                assert_null(again);
                assert_int_equal(size_again, 0);
            }
            STOPPED(1, histo_hist_load(data, size, NULL, &loaded));
            STOPPED(3, histo_hist_load(data, size, NULL, &loaded));
            assert_null(loaded);
            histo_free(data);
        }
        for (histo_metric metric = HISTO_CORRELATION; metric <= HISTO_EARTH_MOVER; metric++) {
            double value;
            STOPPED(2, histo_hist_compare(h, h, metric, &value));
        }
        histo_hist_destroy(h);
    }
}

static void boosting(void **state)
{
    (void)state;
    enum { ROWS = 1 << 20 };
    uint8_t *bins = calloc(ROWS, 1);
    float *x = malloc(ROWS * sizeof *x);
    for (int i = 0; i < ROWS; i++)
        x[i] = 1;
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){ROWS, 1});
    const histo_view ones = histo_view_1d(x, HISTO_F32, ROWS);
    double sum = 0;
    const histo_node_sums to = {.sums = {&sum}};
    histo_features *features = NULL;
    histo_gradients *gradients;
    OK(histo_gradients_create(&gradients, ROWS, 1));
    /* One thread, which is asked: others might do all the work before. */
    STOPPED(2, histo_features_create(&features, &table, (const int32_t[]){1}, &(histo_features_options){.threads = 1}));
    assert_null(features);
    OK(histo_features_create(&features, &table, (const int32_t[]){1}, NULL));
    OK(histo_gradients_set(gradients, &ones, NULL));
    for (int i = 0; i < ROWS; i++)
        x[i] = 2;
    STOPPED(2, histo_gradients_set(gradients, &ones, &(histo_gradients_options){.threads = 1}));
    STOPPED(2, histo_features_fill(features, gradients, &(histo_node_options){.threads = 1}, &to));
    OK(histo_features_fill(features, gradients, NULL, &to));
    assert_true(sum == ROWS);
    histo_gradients_destroy(gradients);
    histo_features_destroy(features);
    free(x);
    free(bins);
}

int main(void)
{
    caller = pthread_self();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills),
        cmocka_unit_test(other_fills),
        cmocka_unit_test(monitors),
        cmocka_unit_test(surveys),
        cmocka_unit_test(filtered_surveys),
        cmocka_unit_test(plans),
        cmocka_unit_test(maps),
        cmocka_unit_test(regroupings),
        cmocka_unit_test(saving),
        cmocka_unit_test(numbers),
        cmocka_unit_test(reads),
        cmocka_unit_test(words),
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(documents),
        cmocka_unit_test(boosting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
