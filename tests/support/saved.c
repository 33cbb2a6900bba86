#include "support/saved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counts/hist.h"
#include "support/check.h"

static void assert_same_bits(double a, double b)
{
    if (a != a && b != b) return;
    assert_memory_equal(&a, &b, sizeof a);
}

static void assert_same_axes(const histo_hist *a, const histo_hist *b)
{
    assert_int_equal(a->naxes, b->naxes);
    for (int i = 0; i < a->naxes; i++) {
        const histo_axis *x = &a->axes[i], *y = &b->axes[i];
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->closed, y->closed);
        assert_int_equal(x->bins, y->bins);
        assert_same_bits(x->power, y->power);
        assert_int_equal(x->edges != NULL, y->edges != NULL);
        assert_same_bits(x->lo, y->lo);
        assert_same_bits(x->hi, y->hi);
        for (int64_t e = 0; e <= x->bins; e++)
            assert_same_bits(histo_axis_edge(x, e), histo_axis_edge(y, e));
    }
}

static void assert_same_exact(const histo_exact *a, const histo_exact *b, bool digits)
{
    for (int64_t i = 0; i < a->slots; i++) {
        histo_exact_value x = histo_exact_get(a, i), y = histo_exact_get(b, i);
        assert_same_bits(histo_exact_read(a, i), histo_exact_read(b, i));
        if (!digits) continue;
        assert_memory_equal(x.digit, y.digit, sizeof x.digit);
        assert_int_equal(x.special, y.special);
    }
}

void assert_restored(const histo_hist *saved, const histo_hist *loaded, bool digits)
{
    assert_same_axes(saved, loaded);
    const histo_accumulators *a = &saved->accumulators, *b = &loaded->accumulators;
    assert_int_equal(saved->weighting, loaded->weighting);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->slots, b->slots);
    size_t all = (size_t)(a->batch * a->slots);
    assert_memory_equal(a->counts, b->counts, all * sizeof *a->counts);
    assert_memory_equal(a->masked, b->masked, (size_t)a->batch * sizeof *a->masked);
    for (size_t i = 0; a->sum_w && i < all; i++)
        assert_same_bits(a->sum_w[i], b->sum_w[i]);
    for (size_t i = 0; a->sum_w2 && i < all; i++)
        assert_same_bits(a->sum_w2[i], b->sum_w2[i]);
    if (a->exact_w) assert_same_exact(a->exact_w, b->exact_w, digits);
    if (a->exact_w2) assert_same_exact(a->exact_w2, b->exact_w2, digits);
}

void *save(const histo_hist *hist, histo_format format, size_t *size)
{
    void *data;
    OK(histo_hist_save(hist, format, NULL, &data, size));
    return data;
}

histo_status load(const void *data, size_t size, const char *name, histo_hist **hist)
{
    void *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    histo_status status = histo_hist_load(copy, size, name, hist);
    free(copy);
    return status;
}

histo_hist *load_good(const void *data, size_t size, const char *name)
{
    histo_hist *hist = NULL;
    OK(load(data, size, name, &hist));
    return hist;
}

static void check_round_trip(const histo_hist *hist, histo_format format)
{
    size_t size, again_size;
    void *data = save(hist, format, &size);
    histo_hist *loaded = load_good(data, size, NULL);
    assert_restored(hist, loaded, format == HISTO_BINARY);
    void *again = save(loaded, format, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(data, again, size);
    histo_free(data);
    histo_free(again);
    histo_hist_destroy(loaded);
}

void check_round_trips(const histo_hist *hist)
{
    check_round_trip(hist, HISTO_JSON);
    check_round_trip(hist, HISTO_BINARY);
}

histo_hist *small_histogram(histo_weighting weighting)
{
    static const double samples[] = {0.5, 1.5, 2.5, 2.5, (double)NAN, 7, -1}, weights[] = {.5, 1, 2, 4, 8, 16, 32.25};
    histo_axis axis = histo_axis_regular(3, 0, 3);
    histo_view view = histo_view_1d(samples, HISTO_F64, 7), weights_view = histo_view_1d(weights, HISTO_F64, 7);
    histo_fill_options fill = {.weights = weighting ? &weights_view : NULL};
    histo_hist *hist;
    OK(histo_hist_create(&hist, 1, &axis, &(histo_hist_options){.weighting = weighting}));
    OK(histo_hist_fill(hist, &view, &fill));
    return hist;
}
