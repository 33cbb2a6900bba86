/* Saving: a loaded histogram has all that was saved, and goes on as that would have. */
#include "support/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts/hist.h"
#include "counts/saved/uhi_cells.h"
#include "support/data.h"
#include "support/saved.h"

/* ---- Random histograms ---- */

static rng dice = {1};

static int64_t random_in(int64_t lo, int64_t hi)
{
    return lo + rng_below(&dice, hi - lo + 1);
}

static double random_unit(void)
{
    return rng_uniform(&dice);
}

/* Mostly in the range of random_axis, with flow of every kind. */
static double random_sample(void)
{
    static const double odd[] = {-INFINITY, INFINITY, -1, 1e9, 0, 5};
    int64_t which = random_in(0, 19);
    return which == 0 ? (double)NAN : which < 7 ? odd[which - 1] : random_unit() * 7;
}

static double random_weight(void)
{
    double x = ldexp(random_unit() - 0.5, (int)random_in(-40, 40));
    switch (random_in(0, 30)) {
    case 0:
        return 0x1p-1074;
    case 1:
        return 1e300;
    case 2:
        return -1e300;
    default:
        return x;
    }
}

enum { AXIS_KINDS = HISTO_AXIS_KIND_COUNT, MAX_BINS = 7 };

static histo_axis random_axis(histo_axis_kind kind, double *edges)
{
    int64_t bins = random_in(1, MAX_BINS);
    double lo = 0.1 + random_unit(), hi = lo + 0.1 + 5 * random_unit();
    histo_axis axis = histo_axis_regular(bins, lo, hi);
    switch (kind) {
    case HISTO_INTEGER:
        axis = histo_axis_integer(random_in(-2, 2), bins);
        break;
    case HISTO_REGULAR:
        /* Also bins so narrow that edges are stored. */
        if (random_in(0, 3) == 0) axis = histo_axis_regular(bins, 1, 1 + (double)bins * 0x1p-50);
        break;
    case HISTO_VARIABLE:
        edges[0] = random_in(0, 4) ? lo : -0.0;
        for (int64_t i = 1; i <= bins; i++)
            edges[i] = edges[i - 1] + 0.01 + random_unit();
        axis = histo_axis_variable(bins, edges);
        break;
    case HISTO_LOG:
        axis = histo_axis_log(bins, lo, hi);
        break;
    case HISTO_SQRT:
        axis = histo_axis_sqrt(bins, lo, hi);
        break;
    case HISTO_POWER:
        axis = histo_axis_power(bins, lo, hi, random_in(0, 1) ? 1.0 / 3 : -2.5);
        break;
    }
    return random_in(0, 1) ? histo_axis_closed(axis) : axis;
}

static void fill_randomly(histo_hist *hist)
{
    enum { SAMPLES = 60, MAX = 4 * SAMPLES };
    double samples[HISTO_MAX_AXES][MAX], weights[MAX];
    uint8_t mask[MAX];
    int64_t shape[2] = {histo_hist_batch(hist), SAMPLES};
    histo_view views[HISTO_MAX_AXES], weights_view = histo_view_nd(weights, HISTO_F64, 2, shape);
    histo_view mask_view = histo_view_nd(mask, HISTO_U8, 2, shape);
    weights_view.batch_ndim = mask_view.batch_ndim = 1;
    for (int a = 0; a < hist->naxes; a++) {
        views[a] = histo_view_nd(samples[a], HISTO_F64, 2, shape);
        views[a].batch_ndim = 1;
    }
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
        for (int a = 0; a < hist->naxes; a++)
            samples[a][i] = random_sample();
        weights[i] = random_weight();
        mask[i] = random_in(0, 4) > 0;
    }
    histo_fill_options options = {.mask = random_in(0, 1) ? &mask_view : NULL};
    if (hist->weighting != HISTO_UNWEIGHTED) options.weights = &weights_view;
    OK(histo_hist_fill(hist, views, &options));
}

static histo_hist *random_histogram(histo_weighting weighting)
{
    double edges[HISTO_MAX_AXES][MAX_BINS + 1];
    histo_axis axes[HISTO_MAX_AXES];
    int naxes = (int)random_in(1, 3);
    for (int a = 0; a < naxes; a++)
        axes[a] = random_axis((histo_axis_kind)random_in(0, AXIS_KINDS - 1), edges[a]);
    histo_hist_options options = {.batch = random_in(1, 4), .weighting = weighting};
    histo_hist *hist;
    OK(histo_hist_create(&hist, naxes, axes, &options));
    if (random_in(0, 9)) fill_randomly(hist);
    return hist;
}

/* ---- Round trips ---- */

static void test_random_round_trips(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        histo_hist *hist = random_histogram((histo_weighting)(i % 5));
        check_round_trips(hist);
        histo_hist_destroy(hist);
    }
}

static void test_eight_axes_in_a_batch(void **state)
{
    (void)state;
    histo_axis axes[HISTO_MAX_AXES];
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        axes[a] = histo_axis_regular(1, 0, 3.5);
    histo_hist_options options = {.batch = 2};
    histo_hist *hist;
    OK(histo_hist_create(&hist, HISTO_MAX_AXES, axes, &options));
    for (int i = 0; i < 20; i++)
        fill_randomly(hist);
    check_round_trips(hist);
    histo_hist_destroy(hist);
}

static void test_extreme_counts(void **state)
{
    (void)state;
    histo_axis axis = histo_axis_regular(3000, 0, 1);
    histo_hist *hist;
    OK(histo_hist_create(&hist, 1, &axis, NULL));
    const int64_t slots = hist->accumulators.slots;
    for (int width = 0; width <= 64; width += 8) {
        uint64_t rest = UINT64_MAX; /* of the largest total that there can be */
        for (int64_t i = 0; i < slots; i++) {
            const bool wide = width && i % (width < 56 ? 7 : slots) == 0;
            hist->accumulators.counts[i] = wide ? UINT64_MAX >> (64 - width) : 0;
            rest -= hist->accumulators.counts[i];
        }
        hist->accumulators.counts[slots - 1] = rest;
        hist->accumulators.masked[0] = 0;
        check_round_trips(hist);
        hist->accumulators.counts[slots - 1] = 0;
        hist->accumulators.masked[0] = rest;
        check_round_trips(hist);
    }
    histo_hist_destroy(hist);
}

/* Sums that no double represents, infinities and NaN. */
static void test_special_sums(void **state)
{
    (void)state;
    static const double samples[] = {0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.6, 0.8, 9, (double)NAN};
    static const double weights[] = {1e300, 1, -1e300, 1e300, 1, 0x1p-1074, INFINITY, -INFINITY, 1e300, -0.125};
    histo_axis axis = histo_axis_regular(5, 0, 1);
    histo_view view = histo_view_1d(samples, HISTO_F64, 10), weights_view = histo_view_1d(weights, HISTO_F64, 10);
    histo_fill_options fill = {.weights = &weights_view};
    for (int weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE; weighting++) {
        histo_hist_options options = {.weighting = (histo_weighting)weighting};
        histo_hist *hist;
        OK(histo_hist_create(&hist, 1, &axis, &options));
        OK(histo_hist_fill(hist, &view, &fill));
        check_round_trips(hist);

        /* Infinities of both signs. */
        view.strides[0] = 0;
        OK(histo_hist_fill(hist, &view, &fill));
        view.strides[0] = sizeof *samples;
        check_round_trips(hist);
        histo_hist_destroy(hist);
    }
}

static void put_cell(histo_lane lane, const histo_cell *cell, double *sums, uint64_t *counts, int64_t i)
{
    const uint64_t bits = histo_lane_cell(lane, cell);
    memcpy(lane.sums ? (void *)&sums[i] : (void *)&counts[i], &bits, sizeof bits);
}

/* Whatever cells the axes have, what they do not tell is in the outline. */
static void check_outline(const histo_hist *hist, const bool (*flow)[2])
{
    const int64_t all = histo_hist_size(hist, HISTO_FLOW);
    uint64_t *counts = calloc((size_t)all, sizeof *counts);
    double *sums = calloc((size_t)all, 4 * sizeof *sums), *values = sums + 2 * all, *variances = values + all;
    assert_non_null(counts);
    assert_non_null(sums);
    const bool weighted = hist->weighting != HISTO_UNWEIGHTED, squares = histo_has_squares(hist->weighting);
    if (weighted) OK(histo_hist_read_weights(hist, HISTO_FLOW, sums, squares ? sums + all : NULL, all, NULL));
    const histo_lane lane = {weighted ? NULL : hist->accumulators.counts, weighted ? sums : NULL};
    int64_t cells = 0;
    histo_cell cell = {hist, HISTO_CELLS, 0, {0}};
    do {
        bool shown = true;
        for (int a = 0; a < hist->naxes; a++)
            shown = shown && (flow[a][0] || cell.at[a] > 0) && (flow[a][1] || cell.at[a] <= hist->axes[a].bins);
        if (!shown) continue;
        put_cell(lane, &cell, values, counts, cells);
        put_cell((histo_lane){NULL, sums + all}, &cell, variances, NULL, cells++);
    } while (histo_cell_next(&cell));
    void *data;
    size_t size;
    histo_hist *loaded;
    OK(histo_hist_save_outline(hist, flow, &data, &size));
    OK(histo_hist_load_outline(data, size, cells, weighted ? HISTO_F64 : HISTO_U64,
                               weighted ? (void *)values : (void *)counts, squares ? variances : NULL, &loaded));
    assert_restored(hist, loaded, false);
    histo_hist_destroy(loaded);
    REFUSED(HISTO_CORRUPT, "cells",
            histo_hist_load_outline(data, size, cells + 1, HISTO_F64, values, squares ? variances : NULL, &loaded));
    histo_free(data);
    free(counts);
    free(sums);
}

static void test_outlines(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        histo_hist *hist = random_histogram((histo_weighting)(i % 5));
        bool flow[HISTO_MAX_AXES][2];
        for (int a = 0; a < HISTO_MAX_AXES; a++)
            for (int side = 0; side < 2; side++)
                flow[a][side] = random_in(0, 3) > 0;
        check_outline(hist, (const bool(*)[2])flow);
        histo_hist_destroy(hist);
    }
}

/* A loaded histogram continues as the saved one would: 1 is still there after 1e300 is subtracted. */
static void test_binary_keeps_exact_sums(void **state)
{
    (void)state;
    static const double sample = 0.5, weights[] = {1e300, 1}, away = -1e300;
    const histo_axis axis = histo_axis_regular(1, 0, 1);
    histo_view view = histo_view_1d(&sample, HISTO_F64, 2), weights_view = histo_view_1d(weights, HISTO_F64, 2);
    view.strides[0] = 0;
    histo_fill_options fill = {.weights = &weights_view};
    histo_hist *hist;
    assert_int_equal(histo_hist_create(&hist, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE}),
                     HISTO_OK);
    OK(histo_hist_fill(hist, &view, &fill));
    size_t size;
    void *data = save(hist, HISTO_BINARY, &size);
    histo_hist *loaded = load_good(data, size, NULL);
    view = histo_view_1d(&sample, HISTO_F64, 1);
    weights_view = histo_view_1d(&away, HISTO_F64, 1);
    OK(histo_hist_fill(loaded, &view, &fill));
    double sum;
    OK(histo_hist_read_weights(loaded, HISTO_BINS, &sum, NULL, 1, NULL));
    assert_true(sum == 1);
    histo_free(data);
    histo_hist_destroy(hist);
    histo_hist_destroy(loaded);
}

static void assert_loads(const histo_hist *hist, const void *data, size_t size, const char *name)
{
    histo_hist *loaded = load_good(data, size, name);
    assert_restored(hist, loaded, true);
    histo_hist_destroy(loaded);
}

static void test_binary_is_compact(void **state)
{
    (void)state;
    histo_axis axis = histo_axis_regular(1 << 22, 0, 1);
    histo_hist *hist;
    OK(histo_hist_create(&hist, 1, &axis, NULL));
    hist->accumulators.counts[12345] = 1;
    hist->accumulators.counts[3 << 20] = UINT64_C(1) << 40;
    size_t size;
    void *data = save(hist, HISTO_BINARY, &size);
    assert_true(size < 5000);
    assert_loads(hist, data, size, NULL);
    histo_free(data);
    histo_hist_destroy(hist);
}

/* ---- Names, locale, arguments ---- */

static void test_names(void **state)
{
    (void)state;
    static const char *const good[] = {"h", "a \"quoted\\ name\"\n\t\x01", "H\xc3\xb6he \xf0\x9f\x93\x8a",
                                       "name/of/it"};
    static const char *const bad[] = {
        "", "uhi_schema", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
    histo_hist *hist = small_histogram(HISTO_UNWEIGHTED), *loaded;
    void *data;
    size_t size;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        OK(histo_hist_save(hist, HISTO_JSON, good[i], &data, &size));
        assert_loads(hist, data, size, good[i]);
        REFUSED(HISTO_INVALID, "\"other\"", histo_hist_load(data, size, "other", &loaded));
        histo_free(data);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        data = NULL;
        assert_int_equal(histo_hist_save(hist, HISTO_JSON, bad[i], &data, &size), HISTO_INVALID);
        assert_null(data);
    }
    histo_hist_destroy(hist);
}

static void test_decimal_comma(void **state)
{
    (void)state;
    if (!use_decimal_comma()) skip();
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    histo_hist *hist = small_histogram(HISTO_WEIGHT_FAST);
    check_round_trips(hist);
    size_t size;
    char *data = save(hist, HISTO_JSON, &size);
    setlocale(LC_NUMERIC, "C");
    assert_loads(hist, data, size, NULL);
    histo_free(data);
    histo_hist_destroy(hist);
}

static void test_arguments(void **state)
{
    (void)state;
    histo_hist *hist = small_histogram(HISTO_UNWEIGHTED), *loaded;
    void *data;
    size_t size;
    assert_int_equal(histo_hist_save(NULL, HISTO_JSON, NULL, &data, &size), HISTO_INVALID);
    assert_int_equal(histo_hist_save(hist, HISTO_JSON, NULL, NULL, &size), HISTO_INVALID);
    assert_int_equal(histo_hist_save(hist, HISTO_JSON, NULL, &data, NULL), HISTO_INVALID);
    assert_int_equal(histo_hist_save(hist, (histo_format)7, NULL, &data, &size), HISTO_INVALID);
    assert_int_equal(histo_hist_load(NULL, 1, NULL, &loaded), HISTO_INVALID);
    assert_int_equal(histo_hist_load("{}", 2, NULL, NULL), HISTO_INVALID);
    static const bool flow[1][2] = {{true, true}};
    assert_int_equal(histo_hist_save_outline(NULL, flow, &data, &size), HISTO_INVALID);
    assert_int_equal(histo_hist_save_outline(hist, NULL, &data, &size), HISTO_INVALID);
    assert_int_equal(histo_hist_save_outline(hist, flow, NULL, &size), HISTO_INVALID);
    assert_int_equal(histo_hist_save_outline(hist, flow, &data, NULL), HISTO_INVALID);
    assert_int_equal(histo_hist_load_outline(NULL, 1, 0, HISTO_U64, NULL, NULL, &loaded), HISTO_INVALID);
    assert_int_equal(histo_hist_load_outline("{}", 2, 0, HISTO_U64, NULL, NULL, NULL), HISTO_INVALID);
    histo_hist_destroy(hist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_round_trips), cmocka_unit_test(test_eight_axes_in_a_batch),
        cmocka_unit_test(test_extreme_counts),     cmocka_unit_test(test_outlines),
        cmocka_unit_test(test_special_sums),       cmocka_unit_test(test_binary_keeps_exact_sums),
        cmocka_unit_test(test_binary_is_compact),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_decimal_comma),      cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
