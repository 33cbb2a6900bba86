/* Writing counts and sums: what was read, into another histogram, of every weighting, batches and several axes. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { ROWS = 5, COLUMNS = 3, BATCH = 2, SAMPLES = 1000 };

static histo_hist *make(histo_weighting weighting, int naxes, bool fill)
{
    const histo_axis axes[] = {histo_axis_regular(ROWS, 0, 1), histo_axis_integer(0, COLUMNS)};
    rng r = {.state = 5};
    float x[BATCH * SAMPLES];
    uint8_t y[BATCH * SAMPLES], mask[BATCH * SAMPLES];
    double w[BATCH * SAMPLES];
    for (int i = 0; i < BATCH * SAMPLES; i++) {
        x[i] = (float)rng_below(&r, 150) / 100 - 0.25F;
        y[i] = (uint8_t)rng_below(&r, COLUMNS + 1);
        w[i] = (double)rng_below(&r, 1000) / 7;
        mask[i] = rng_below(&r, 10) > 0;
    }
    const int64_t shape[] = {BATCH, SAMPLES};
    histo_view views[] = {histo_view_nd(x, HISTO_F32, 2, shape), histo_view_nd(y, HISTO_U8, 2, shape)},
               weights = histo_view_nd(w, HISTO_F64, 2, shape), of_mask = histo_view_nd(mask, HISTO_U8, 2, shape);
    views[0].batch_ndim = views[1].batch_ndim = weights.batch_ndim = of_mask.batch_ndim = 1;
    histo_hist *h;
    OK(histo_hist_create(&h, naxes, axes, &(histo_hist_options){.batch = BATCH, .weighting = weighting}));
    if (fill)
        OK(histo_hist_fill(h, views, &(histo_fill_options){.weights = weighting ? &weights : NULL, .mask = &of_mask}));
    return h;
}

typedef struct contents {
    int64_t size;
    uint64_t *counts, masked[BATCH];
    double *sum_w, *sum_w2; /* NULL where there are none */
} contents;

static contents read_all(const histo_hist *h, histo_slots slots)
{
    const histo_weighting weighting = histo_hist_weighting(h);
    const int64_t size = histo_hist_size(h, slots);
    contents c = {.size = size, .counts = malloc((size_t)size * 8)};
    OK(histo_hist_read_counts(h, slots, c.counts, size, NULL));
    OK(histo_hist_read_masked(h, c.masked, BATCH));
    if (weighting != HISTO_UNWEIGHTED) c.sum_w = malloc((size_t)size * 8);
    if (weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE) c.sum_w2 = malloc((size_t)size * 8);
    if (c.sum_w) OK(histo_hist_read_weights(h, slots, c.sum_w, c.sum_w2, size, NULL));
    return c;
}

static void release(contents *c)
{
    free(c->counts);
    free(c->sum_w);
    free(c->sum_w2);
}

static void check_equal(const contents *a, const contents *b)
{
    const size_t bytes = (size_t)a->size * 8;
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->counts, b->counts, bytes);
    assert_memory_equal(a->masked, b->masked, sizeof a->masked);
    if (a->sum_w) assert_memory_equal(a->sum_w, b->sum_w, bytes);
    if (a->sum_w2) assert_memory_equal(a->sum_w2, b->sum_w2, bytes);
}

static void what_was_read(void **state)
{
    (void)state;
    for (int naxes = 1; naxes <= 2; naxes++)
        for (int weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++)
            for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++) {
                histo_hist *from = make((histo_weighting)weighting, naxes, true),
                           *to = make((histo_weighting)weighting, naxes, slots == HISTO_BINS);
                contents c = read_all(from, (histo_slots)slots);
                OK(histo_hist_write(to, (histo_slots)slots, c.counts, c.sum_w, c.sum_w2, c.size, c.masked));
                contents got = read_all(to, (histo_slots)slots);
                check_equal(&c, &got);
                histo_tally tally;
                OK(histo_hist_tally(to, &tally));
                assert_true(slots == HISTO_FLOW ? tally.flow > 0 : tally.flow == 0);
                assert_true(tally.masked > 0);
                /* It counts on from there. */
                OK(histo_hist_merge(to, to));
                OK(histo_hist_merge(to, from));
                release(&c);
                release(&got);
                histo_hist_destroy(from);
                histo_hist_destroy(to);
            }
}

/* Into a sparse histogram, whose occupied slots are then those that a dense one would have. */
static void into_sparse(void **state)
{
    (void)state;
    const histo_axis axes[] = {histo_axis_regular(ROWS, 0, 1), histo_axis_integer(0, COLUMNS)};
    for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++) {
        histo_hist *from = make(HISTO_UNWEIGHTED, 2, true), *to;
        const double x[BATCH] = {0.5, 0.7}, y[BATCH] = {1, 2};
        histo_view views[] = {histo_view_1d(x, HISTO_F64, BATCH), histo_view_1d(y, HISTO_F64, BATCH)};
        views[0].batch_ndim = views[1].batch_ndim = 1;
        OK(histo_hist_create(&to, 2, axes, &(histo_hist_options){.batch = BATCH, .storage = HISTO_SPARSE}));
        OK(histo_hist_fill(to, views, NULL)); /* which is overwritten */
        contents c = read_all(from, (histo_slots)slots);
        for (int i = 0; i < 5; i++)
            c.counts[i] = 0;
        for (int again = 0; again < 2; again++) {
            OK(histo_hist_write(to, (histo_slots)slots, c.counts, NULL, NULL, c.size, c.masked));
            contents got = read_all(to, (histo_slots)slots);
            check_equal(&c, &got);
            release(&got);
        }
        int64_t occupied, expected = 0;
        OK(histo_hist_occupied(to, HISTO_FLOW, &occupied));
        for (int64_t i = 0; i < c.size; i++)
            expected += c.counts[i] != 0;
        assert_int_equal(occupied, expected);
        OK(histo_hist_fill(to, views, NULL)); /* it counts on from there */
        histo_tally tally;
        OK(histo_hist_tally(to, &tally));
        for (int64_t i = 0; i < c.size; i++)
            tally.samples -= c.counts[i];
        assert_int_equal(tally.samples, BATCH + tally.masked);
        memset(c.counts, 0, (size_t)c.size * sizeof *c.counts);
        OK(histo_hist_write(to, (histo_slots)slots, c.counts, NULL, NULL, c.size, NULL));
        OK(histo_hist_occupied(to, HISTO_FLOW, &occupied));
        assert_int_equal(occupied, 0);
        release(&c);
        histo_hist_destroy(from);
        histo_hist_destroy(to);
    }
}

static void without_sums(void **state)
{
    (void)state;
    for (int weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *h = make((histo_weighting)weighting, 1, true);
        uint64_t counts[BATCH * ROWS];
        for (uint64_t i = 0; i < BATCH * ROWS; i++)
            counts[i] = i * i;
        OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, BATCH * ROWS, NULL));
        contents got = read_all(h, HISTO_BINS);
        assert_int_equal(got.masked[0] + got.masked[1], 0);
        for (int i = 0; i < BATCH * ROWS; i++) {
            assert_true(got.sum_w[i] == i * i);
            if (got.sum_w2) assert_true(got.sum_w2[i] == i * i);
        }
        release(&got);
        histo_hist_destroy(h);
    }
}

/* Some entries get other values; all others stay as they are, to the bit. */
static void some_entries(void **state)
{
    (void)state;
    enum { N = 3 };
    for (int weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *h = make((histo_weighting)weighting, 2, true);
        contents expected = read_all(h, HISTO_FLOW);
        const int64_t index[N] = {0, 7, expected.size - 1};
        const uint64_t counts[N] = {5, 0, 9};
        const double sum_w[N] = {0.1, -3, 1e300}, sum_w2[N] = {2, 0.3, 7};
        for (int i = 0; i < N; i++) {
            expected.counts[index[i]] = counts[i];
            if (expected.sum_w) expected.sum_w[index[i]] = sum_w[i];
            if (expected.sum_w2) expected.sum_w2[index[i]] = sum_w2[i];
        }
        OK(histo_hist_put(h, N, index, counts, expected.sum_w ? sum_w : NULL, expected.sum_w2 ? sum_w2 : NULL));
        contents got = read_all(h, HISTO_FLOW);
        check_equal(&expected, &got);
        REFUSED(HISTO_INVALID, "no slot", histo_hist_put(h, 1, &expected.size, counts, sum_w, sum_w2));
        if (weighting) REFUSED(HISTO_INVALID, "are missing", histo_hist_put(h, N, index, counts, NULL, NULL));
        REFUSED(HISTO_INVALID, "histogram is NULL", histo_hist_put(NULL, N, index, counts, sum_w, sum_w2));
        release(&expected);
        release(&got);
        histo_hist_destroy(h);
    }
}

static void refused(void **state)
{
    (void)state;
    histo_hist *h = make(HISTO_UNWEIGHTED, 1, true), *sums = make(HISTO_WEIGHT_FAST_SUM, 1, true);
    const uint64_t counts[BATCH * ROWS] = {0};
    const double w[BATCH * ROWS] = {0};
    contents before = read_all(h, HISTO_FLOW);
    REFUSED(HISTO_INVALID, "is NULL", histo_hist_write(NULL, HISTO_BINS, counts, NULL, NULL, 1, NULL));
    REFUSED(HISTO_INVALID, "counts to write are NULL", histo_hist_write(h, HISTO_BINS, NULL, NULL, NULL, 10, NULL));
    REFUSED(HISTO_INVALID, "unknown slots", histo_hist_write(h, (histo_slots)7, counts, NULL, NULL, 10, NULL));
    REFUSED(HISTO_INVALID, "takes 10 values, not 9", histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, 9, NULL));
    REFUSED(HISTO_INVALID, "no sums of weights", histo_hist_write(h, HISTO_BINS, counts, w, NULL, 10, NULL));
    REFUSED(HISTO_INVALID, "no sums of squares", histo_hist_write(sums, HISTO_BINS, counts, w, w, 10, NULL));
    contents after = read_all(h, HISTO_FLOW);
    check_equal(&before, &after);
    release(&before);
    release(&after);
    histo_hist_destroy(h);
    histo_hist_destroy(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read), cmocka_unit_test(into_sparse), cmocka_unit_test(without_sums),
        cmocka_unit_test(some_entries),  cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
