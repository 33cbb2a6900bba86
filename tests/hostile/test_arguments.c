/* Arguments that no function can take: each is refused by a sentence that names it, with the value as it is. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "support/calls.h"

static const int64_t whole = INT64_C(1) << 53;

/* ---- Numbers of threads ---- */

enum { SAMPLES = CALL_SAMPLES };

static void test_threads(void **state)
{
    (void)state;
    call_objects c;
    call_objects_make(&c);
    const int refused[] = {-1, INT_MIN, 1025, INT_MAX}, taken[] = {0, 1, 1024};
    uint64_t counts[4];
    uint8_t out[SAMPLES];
    histo_extremes extremes;
    histo_stats stats = {0};
    histo_power_sums sums = {0};
    histo_moments moments;
    histo_axis found;
    histo_plan *plan;
    const histo_view mapped = histo_view_1d(out, HISTO_U8, SAMPLES);
    for (int i = 0; i < 4; i++) {
        char words[32];
        const histo_fill_options fill = {.threads = refused[i]};
        const histo_plan_options planning = {.threads = refused[i]};
        const histo_apply_options apply = {.threads = refused[i]};
        snprintf(words, sizeof words, "%d threads", refused[i]);
        REFUSED(HISTO_INVALID, words, histo_set_threads(refused[i]));
        REFUSED(HISTO_INVALID, words, histo_hist_fill(c.hist, c.samples, &fill));
        REFUSED(HISTO_INVALID, words, histo_plan_fill(c.plan, c.hist, c.samples, &fill));
        REFUSED(HISTO_INVALID, words, histo_plan_create(&plan, c.hist, c.samples, &fill, NULL));
        REFUSED(HISTO_INVALID, words, histo_plan_create(&plan, c.hist, c.samples, NULL, &planning));
        REFUSED(HISTO_INVALID, words, histo_count(1, c.axes, c.samples, &fill, counts, 4, NULL, NULL));
        REFUSED(HISTO_INVALID, words,
                histo_count(1, c.axes, c.samples, NULL, counts, 4, NULL, &(histo_count_options){.plan = &planning}));
        REFUSED(HISTO_INVALID, words, histo_map_apply(c.map, c.samples, &mapped, &apply));
        REFUSED(HISTO_INVALID, words, histo_map_moments(c.map, &c.stack, NULL, &apply, &moments));
        REFUSED(HISTO_INVALID, words, histo_quantiles_add(c.quantiles, c.samples, &fill));
        REFUSED(HISTO_INVALID, words, histo_survey_add(c.survey, c.samples, &fill));
        REFUSED(HISTO_INVALID, words, histo_survey_add_sums(c.survey, c.samples, &fill, &sums));
        REFUSED(HISTO_INVALID, words,
                histo_axis_from_data(c.samples, &fill, &(histo_survey_options){.bins = 4}, &found));
        REFUSED(HISTO_INVALID, words, histo_stats_add(&stats, c.samples, &fill));
        REFUSED(HISTO_INVALID, words, histo_power_sums_add(&sums, c.samples, &fill));
        REFUSED(HISTO_INVALID, words, histo_find_extremes(c.samples, &fill, &extremes, 1));
    }
    for (int i = 0; i < 3; i++) {
        const histo_fill_options fill = {.threads = taken[i]};
        OK(histo_hist_fill(c.hist, c.samples, &fill));
        OK(histo_plan_fill(c.plan, c.hist, c.samples, &fill));
        OK(histo_count(1, c.axes, c.samples, &fill, counts, 4, NULL, NULL));
        OK(histo_map_apply(c.map, c.samples, &mapped, &(histo_apply_options){.threads = taken[i]}));
        OK(histo_stats_add(&stats, c.samples, &fill));
        OK(histo_find_extremes(c.samples, &fill, &extremes, 1));
    }
    call_objects_free(&c);
}

/* ---- Integer axes ---- */

static void check_integer(int64_t lo, int64_t bins, const char *words)
{
    const histo_axis axis = histo_axis_integer(lo, bins);
    histo_hist *h = NULL;
    double edges[11];
    assert_in_range(bins, 1, 10);
    if (words) {
        REFUSED(HISTO_INVALID, words, histo_axis_check(&axis));
        REFUSED(HISTO_INVALID, words, histo_axis_edges(&axis, edges));
        REFUSED(HISTO_INVALID, words, histo_hist_create(&h, 1, &axis, NULL));
        assert_null(h);
        return;
    }
    OK(histo_axis_check(&axis));
    OK(histo_axis_edges(&axis, edges));
    for (int64_t i = 0; i <= bins; i++)
        assert_true((int64_t)edges[i] == lo + i && (int64_t)histo_axis_edge(&axis, i) == lo + i);
}

static void test_integer_axes(void **state)
{
    (void)state;
    check_integer(-whole, 10, NULL);
    check_integer(whole - 10, 10, NULL);
    const int64_t beyond[] = {-whole - 1, -whole - 2, whole + 1, whole + 2, INT64_MIN, INT64_MIN + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        check_integer(beyond[i], 10, "lo of an integer axis is not in -2^53 to 2^53");
    check_integer(whole, 1, "hi of an integer axis, lo + bins, is at most 2^53, not 9007199254740993");
    check_integer(whole - 9, 10, "not 9007199254740993");
    histo_axis axis = histo_axis_integer(0, 4);
    axis.lo = 0.5;
    REFUSED(HISTO_INVALID, "lo of an integer axis is a whole number from -2^53 to 2^53, not 0.5",
            histo_axis_check(&axis));
    axis = histo_axis_integer(0, 4);
    axis.hi = 5;
    REFUSED(HISTO_INVALID, "hi must be lo + bins, not 5", histo_axis_check(&axis));
    axis.hi = (double)NAN;
    REFUSED(HISTO_INVALID, "hi must be lo + bins, not nan", histo_axis_check(&axis));
    axis.lo = INFINITY;
    REFUSED(HISTO_INVALID, "not inf", histo_axis_check(&axis));
}

/* ---- Sentences ---- */

static void test_values_are_not_rounded(void **state)
{
    (void)state;
    const double over = nextafter(1, 2), below = -0x1p-1074;
    call_objects c;
    call_objects_make(&c);
    double values[2];
    histo_quantiles *q;
    REFUSED(HISTO_INVALID, "1.0000000000000002", histo_hist_quantiles(c.hist, HISTO_QUANTILE_LINEAR, 1, &over, values));
    REFUSED(HISTO_INVALID, "e-324", histo_hist_quantiles(c.hist, HISTO_QUANTILE_LINEAR, 1, &below, values));
    REFUSED(HISTO_INVALID, "1.0000000000000002", histo_quantiles_create(&q, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, &over));
    REFUSED(HISTO_INVALID, "1.0000000000000002",
            histo_map_landmarks(c.map, c.hist, 2, (double[]){0, over}, (double[]){0, 1}, false, NULL));
    const histo_fill_options fill = {.where = c.samples, .where_lo = over, .where_hi = 1};
    REFUSED(HISTO_INVALID, "1.0000000000000002", histo_hist_fill(c.hist, c.samples, &fill));
    histo_survey *s;
    REFUSED(HISTO_INVALID, "100.00000000000001",
            histo_survey_create(&s, HISTO_U8,
                                &(histo_survey_options){
                                    .range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = nextafter(100, 101), .bins = 4}));
    REFUSED(HISTO_INVALID, "100.00000000000001",
            histo_survey_create(
                &s, HISTO_U8,
                &(histo_survey_options){.range = HISTO_RANGE_FROM_PERCENTILE, .lo = nextafter(100, 101), .bins = 4}));
    call_objects_free(&c);
}

static void test_numbers_of_things(void **state)
{
    (void)state;
    call_objects c;
    call_objects_make(&c);
    const double half = 0.5;
    double values[1] = {-7};
    const uint64_t counts[1] = {1};
    histo_quantiles *q;
    histo_extremes extremes;
    /* A number below 0 is what is wrong, not the array. */
    REFUSED(HISTO_INVALID, "n is -1", histo_hist_quantiles(c.hist, HISTO_QUANTILE_LINEAR, -1, &half, values));
    REFUSED(HISTO_INVALID, "n is -1", histo_quantiles_create(&q, HISTO_U8, HISTO_QUANTILE_LINEAR, -1, &half));
    REFUSED(HISTO_INVALID, "n is 1", histo_map_landmarks(c.map, c.hist, 1, &half, &half, false, NULL));
    REFUSED(HISTO_INVALID, "size is -1", histo_hist_add_occupied(c.hist, HISTO_BINS, (int64_t[]){0}, counts, -1));
    REFUSED(HISTO_INVALID, "n is -1", histo_hist_put(c.hist, -1, (int64_t[]){0}, counts, NULL, NULL));
    REFUSED(HISTO_INVALID, "size is -1", histo_find_extremes(c.samples, NULL, &extremes, -1));
    /* No quantiles are no error. */
    OK(histo_hist_quantiles(c.hist, HISTO_QUANTILE_LINEAR, 0, NULL, NULL));
    OK(histo_hist_quantiles(c.hist, HISTO_QUANTILE_LINEAR, 0, &half, values));
    assert_true(values[0] == -7);
    OK(histo_quantiles_create(&q, HISTO_U8, HISTO_QUANTILE_LINEAR, 0, NULL));
    while (quantiles_next_pass(q))
        OK(histo_quantiles_add(q, c.samples, NULL));
    OK(histo_quantiles_read(q, NULL));
    histo_quantiles_destroy(q);
    REFUSED(HISTO_INVALID, "the array for the quantiles is NULL",
            histo_hist_quantiles(c.hist, HISTO_QUANTILE_LINEAR, 1, &half, NULL));
    REFUSED(HISTO_INVALID, "the histogram is NULL", histo_hist_quantiles(NULL, HISTO_QUANTILE_LINEAR, 0, NULL, NULL));
    call_objects_free(&c);
}

static void test_files(void **state)
{
    (void)state;
    REFUSED(HISTO_NO_MEMORY, "cannot read x from y: ", histo_fail_file("cannot read x from", "y", ENOMEM));
    REFUSED(HISTO_IO, "cannot read x from y: ", histo_fail_file("cannot read x from", "y", ENOENT));
    REFUSED(HISTO_IO, "cannot read wisdom from /nowhere/at all", histo_wisdom_load("/nowhere/at all"));
    REFUSED(HISTO_IO, "cannot write wisdom to /nowhere/at all", histo_wisdom_save("/nowhere/at all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_integer_axes),
        cmocka_unit_test(test_values_are_not_rounded),
        cmocka_unit_test(test_numbers_of_things),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
