/* Fills of listed samples and with several weights of each sample, compared with fills of samples that are copied by
 * hand, one weight and one segment at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { N = 700, MOST_LISTED = 20000, MOST_WEIGHTS = 5, BINS = 9 };

typedef struct input {
    histo_axis axes[2];
    histo_view views[2], mask, where, weights[MOST_WEIGHTS], list;
    bool masked, filtered, listed;
    int64_t offsets[5], segments; /* 0: no offsets */
    int64_t weight_count;
    histo_weighting weighting;
    void *owned[2 + 3 + MOST_WEIGHTS];
} input;

static void *make_list(rng *r, histo_view *list, int64_t n)
{
    static const histo_dtype dtypes[] = {HISTO_U32, HISTO_I32, HISTO_I64};
    const histo_dtype dtype = dtypes[rng_below(r, 3)];
    char *data = malloc((size_t)n * sizeof(int64_t) + 1);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rng_below(r, N);
        memcpy(data + i * (int64_t)histo_dtype_size(dtype), &row, histo_dtype_size(dtype));
    }
    *list = histo_view_1d(data, dtype, n);
    return data;
}

static void make_input(rng *r, input *in)
{
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_U8, HISTO_F64, HISTO_I16, HISTO_F32 | HISTO_SWAPPED};
    *in = (input){.axes = {histo_axis_regular(BINS, -1, 1), histo_axis_integer(0, BINS)}};
    for (int a = 0; a < 2; a++) {
        const histo_dtype dtype = dtypes[rng_below(r, 5)];
        const histo_dtype plain = (histo_dtype)(dtype & ~(uint32_t)HISTO_SWAPPED);
        in->owned[a] = make_samples(r, plain, (distribution)rng_below(r, DISTRIBUTIONS), &in->axes[a], N);
        in->views[a] = histo_view_1d(in->owned[a], dtype, N);
    }
    in->masked = rng_below(r, 2);
    in->filtered = rng_below(r, 2);
    in->listed = rng_below(r, 4);
    in->owned[2] = make_samples(r, HISTO_U8, SPECIAL, &in->axes[1], N);
    in->mask = histo_view_1d(in->owned[2], rng_below(r, 2) ? HISTO_BIT : HISTO_U8, N);
    in->owned[3] = make_samples(r, HISTO_F32, UNIFORM, &in->axes[0], N);
    in->where = histo_view_1d(in->owned[3], HISTO_F32, N);
    const int64_t listed = in->listed ? rng_below(r, rng_below(r, 5) ? 2 * N : MOST_LISTED) : N;
    in->owned[4] = make_list(r, &in->list, listed);
    in->weighting = (histo_weighting)rng_below(r, 2) ? HISTO_WEIGHT_REPRODUCIBLE_SUM : HISTO_UNWEIGHTED;
    in->weight_count = in->weighting ? rng_below(r, MOST_WEIGHTS + 1) : 0;
    const int64_t apart = rng_below(r, 2);
    for (int w = 0; w < MOST_WEIGHTS; w++) {
        in->owned[5 + w] = make_samples(r, HISTO_F32, GAUSSIAN, &in->axes[0], N * 2);
        in->weights[w] = histo_view_1d(in->owned[5 + w], HISTO_F32, N);
        if (apart) in->weights[w].strides[0] = 4 * (1 + rng_below(r, 2));
    }
    in->segments = rng_below(r, 2) ? 0 : 1 + rng_below(r, 4);
    for (int64_t s = 1; s <= in->segments; s++)
        in->offsets[s] =
            s == in->segments ? listed : in->offsets[s - 1] + rng_below(r, listed - in->offsets[s - 1] + 1);
}

static void free_input(input *in)
{
    for (size_t i = 0; i < sizeof in->owned / sizeof *in->owned; i++)
        free(in->owned[i]);
}

static int64_t row_at(const input *in, int64_t i)
{
    return in->listed ? (int64_t)sample_value(sample_at(&in->list, i), in->list.dtype) : i;
}

/* Element i of what is counted. */
static histo_view element(const input *in, const histo_view *of, int64_t i)
{
    histo_view one = *of;
    one.shape[0] = 1;
    if (of->dtype != HISTO_BIT) one.data = (const char *)of->data + row_at(in, i) * of->strides[0];
    return one;
}

/* Fill the batch entry of a segment and a weight, sample by sample. */
static void fill_entry(const input *in, histo_hist *h, int64_t begin, int64_t end, int64_t w)
{
    for (int64_t i = begin; i < end; i++) {
        const histo_view views[] = {element(in, &in->views[0], i), element(in, &in->views[1], i)};
        const histo_view mask = element(in, &in->mask, i), where = element(in, &in->where, i);
        const histo_view weight = element(in, &in->weights[w], i);
        histo_fill_options one = {.weights = in->weighting ? &weight : NULL, .mask = in->masked ? &mask : NULL};
        if (in->masked && mask.dtype == HISTO_BIT) one.mask_offset = row_at(in, i);
        if (in->filtered) {
            one.where = &where;
            one.where_lo = -0.5;
            one.where_hi = 0.5;
        }
        OK(histo_hist_fill(h, views, &one));
    }
}

static void check_entry(const input *in, const histo_hist *all, int64_t entry, int64_t begin, int64_t end, int64_t w)
{
    enum { SLOTS = (BINS + 3) * (BINS + 3) };
    uint64_t expected[SLOTS], counts[SLOTS], masked, all_masked[4 * MOST_WEIGHTS];
    double sums[SLOTS], expected_sums[SLOTS];
    histo_hist *h;
    histo_tally tally;
    OK(histo_hist_create(&h, 2, in->axes, &(histo_hist_options){.weighting = in->weighting}));
    fill_entry(in, h, begin, end, w);
    const histo_read_options part = {.first_entry = entry, .entries = 1};
    OK(histo_hist_read_counts(h, HISTO_FLOW, expected, SLOTS, NULL));
    OK(histo_hist_read_counts(all, HISTO_FLOW, counts, SLOTS, &part));
    assert_memory_equal(counts, expected, sizeof counts);
    OK(histo_hist_tally(h, &tally));
    masked = tally.masked;
    OK(histo_hist_read_masked(all, all_masked, histo_hist_batch(all)));
    assert_int_equal(all_masked[entry], masked);
    if (in->weighting) {
        OK(histo_hist_read_weights(h, HISTO_FLOW, expected_sums, NULL, SLOTS, NULL));
        OK(histo_hist_read_weights(all, HISTO_FLOW, sums, NULL, SLOTS, &part));
        assert_memory_equal(sums, expected_sums, sizeof sums);
    }
    histo_hist_destroy(h);
}

static void check_input(rng *r, const input *in)
{
    const int64_t weights = in->weight_count ? in->weight_count : 1, segments = in->segments ? in->segments : 1;
    histo_hist *h;
    OK(histo_hist_create(&h, 2, in->axes,
                         &(histo_hist_options){.weighting = in->weighting, .batch = weights * segments}));
    const histo_fill_options options = {
        .weights = in->weighting ? in->weights : NULL,
        .weight_count = in->weight_count,
        .mask = in->masked ? &in->mask : NULL,
        .where = in->filtered ? &in->where : NULL,
        .where_lo = in->filtered ? -0.5 : 0,
        .where_hi = in->filtered ? 0.5 : 0,
        .rows = in->listed ? &in->list : NULL,
        .offsets = in->segments ? in->offsets : NULL,
        .threads = 1 + (int)rng_below(r, 4),
        .replace = rng_below(r, 2),
    };
    OK(histo_hist_fill(h, in->views, &options));
    for (int64_t w = 0; w < weights; w++)
        for (int64_t s = 0; s < segments; s++)
            check_entry(in, h, w * segments + s, in->segments ? in->offsets[s] : 0,
                        in->segments ? in->offsets[s + 1] : in->list.shape[0], w);
    histo_hist_destroy(h);
}

static void test_random(void **state)
{
    (void)state;
    rng r = {.state = 11};
    for (int i = 0; i < 120; i++) {
        input in;
        make_input(&r, &in);
        check_input(&r, &in);
        free_input(&in);
    }
}

/* Several weights of samples in several dimensions, of a batch. */
static void test_image(void **state)
{
    (void)state;
    enum { IMAGES = 2, H = 5, W = 7, WEIGHTS = 3 };
    static uint8_t pixels[IMAGES][H][W];
    static double weights_of[WEIGHTS][IMAGES][W][H]; /* transposed */
    const int64_t shape[] = {IMAGES, H, W};
    rng r = {.state = 3};
    histo_axis axis = histo_axis_integer(0, BINS);
    histo_view image = histo_view_nd(pixels, HISTO_U8, 3, shape), weights[WEIGHTS];
    image.batch_ndim = 1;
    for (int i = 0; i < IMAGES * H * W; i++)
        (&pixels[0][0][0])[i] = (uint8_t)rng_below(&r, BINS);
    for (int i = 0; i < WEIGHTS * IMAGES * H * W; i++)
        (&weights_of[0][0][0][0])[i] = rng_uniform(&r);
    for (int order = 0; order < 2; order++) { /* evenly apart, and not */
        for (int w = 0; w < WEIGHTS; w++) {
            weights[w] = histo_view_nd(weights_of[order ? (w + 1) % WEIGHTS : w], HISTO_F64, 3, shape);
            weights[w].batch_ndim = 1;
            weights[w].strides[1] = 8;
            weights[w].strides[2] = 8 * H;
        }
        histo_hist *all, *one;
        double sums[WEIGHTS][IMAGES][BINS], expected[IMAGES][BINS];
        OK(histo_hist_create(&all, 1, &axis,
                             &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE, .batch = WEIGHTS * IMAGES}));
        OK(histo_hist_fill(all, &image, &(histo_fill_options){.weights = weights, .weight_count = WEIGHTS}));
        OK(histo_hist_read_weights(all, HISTO_BINS, &sums[0][0][0], NULL, WEIGHTS * IMAGES * BINS, NULL));
        for (int w = 0; w < WEIGHTS; w++) {
            OK(histo_hist_create(&one, 1, &axis,
                                 &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE, .batch = IMAGES}));
            OK(histo_hist_fill(one, &image, &(histo_fill_options){.weights = &weights[w]}));
            OK(histo_hist_read_weights(one, HISTO_BINS, &expected[0][0], NULL, IMAGES * BINS, NULL));
            assert_memory_equal(sums[w], expected, sizeof expected);
            histo_hist_destroy(one);
        }
        histo_hist_destroy(all);
    }
}

/* histo_count, with few samples too, which it counts in another way without options. */
static void test_count(void **state)
{
    (void)state;
    const uint8_t bytes[6] = {0, 1, 2, 3, 4, 5};
    const double ones[6] = {1, 1, 1, 1, 1, 1}, twos[6] = {2, 2, 2, 2, 2, 2};
    const uint32_t numbers[] = {5, 0, 5};
    const histo_view samples = histo_view_1d(bytes, HISTO_U8, 6), list = histo_view_1d(numbers, HISTO_U32, 3);
    const histo_view weights[] = {histo_view_1d(ones, HISTO_F64, 6), histo_view_1d(twos, HISTO_F64, 6)};
    histo_axis axis = histo_axis_integer(0, BINS);
    uint64_t counts[2 * BINS] = {0};
    double sums[2 * BINS] = {0};
    OK(histo_count(1, &axis, &samples, &(histo_fill_options){.rows = &list}, counts, BINS, NULL, NULL));
    assert_true(counts[0] == 1 && counts[1] == 0 && counts[5] == 2);
    OK(histo_count(1, &axis, &samples, &(histo_fill_options){.rows = &list, .offsets = (const int64_t[]){0, 1, 3}},
                   counts, 2 * BINS, NULL, NULL));
    assert_true(counts[0] == 0 && counts[5] == 1 && counts[BINS] == 1 && counts[BINS + 5] == 1);
    OK(histo_count(1, &axis, &samples, &(histo_fill_options){.weights = weights, .weight_count = 2}, sums, 2 * BINS,
                   NULL, NULL));
    assert_true(sums[0] == 1 && sums[5] == 1 && sums[BINS] == 2 && sums[BINS + 5] == 2);
    OK(histo_count(1, &axis, &samples, &(histo_fill_options){.rows = &list, .weights = weights, .weight_count = 2},
                   sums, 2 * BINS, NULL, NULL));
    assert_true(sums[0] == 1 && sums[5] == 2 && sums[BINS] == 2 && sums[BINS + 5] == 4 && sums[BINS + 1] == 0);
}

static void test_refused(void **state)
{
    (void)state;
    const uint8_t bytes[6] = {0, 1, 2, 3, 4, 5};
    const int32_t good_rows[] = {5, 0}, bad_rows[] = {0, 6}, negative[] = {-1};
    const histo_view samples = histo_view_1d(bytes, HISTO_U8, 6),
                     image = histo_view_nd(bytes, HISTO_U8, 2, (const int64_t[]){2, 3});
    const histo_view good = histo_view_1d(good_rows, HISTO_I32, 2), bad = histo_view_1d(bad_rows, HISTO_I32, 2);
    const histo_view below = histo_view_1d(negative, HISTO_I32, 1),
                     mixed[] = {samples, histo_view_1d(bytes, HISTO_I8, 6)};
    const histo_view bits = histo_view_1d(bytes, HISTO_BIT, 6);
    histo_axis axis = histo_axis_integer(0, BINS);
    histo_hist *h, *weighted, *before;
    histo_plan *plan = NULL;
    bool same = false;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_create(&weighted, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST, .batch = 3}));
    OK(histo_hist_fill(h, &samples, NULL));
    OK(histo_hist_clone(h, &before));
    REFUSED(HISTO_INVALID, "rows[1] is 6, and there are 6 rows",
            histo_hist_fill(h, &samples, &(histo_fill_options){.rows = &bad}));
    REFUSED(HISTO_INVALID, "rows[0] is -1", histo_hist_fill(h, &samples, &(histo_fill_options){.rows = &below}));
    REFUSED(HISTO_INVALID, "rows: numbers are of",
            histo_hist_fill(h, &samples, &(histo_fill_options){.rows = &samples}));
    REFUSED(HISTO_INVALID, "rows: HISTO_BIT is a dtype of masks only",
            histo_hist_fill(h, &samples, &(histo_fill_options){.rows = &bits}));
    REFUSED(HISTO_INVALID, "one dimension", histo_hist_fill(h, &image, &(histo_fill_options){.rows = &good}));
    REFUSED(HISTO_INVALID, "weight_count is -1",
            histo_hist_fill(h, &samples, &(histo_fill_options){.weight_count = -1}));
    REFUSED(HISTO_INVALID, "weight_count is 2, and weights is NULL",
            histo_hist_fill(h, &samples, &(histo_fill_options){.weight_count = 2}));
    REFUSED(HISTO_INVALID, "weights[1] has another dtype",
            histo_hist_fill(weighted, &samples, &(histo_fill_options){.weights = mixed, .weight_count = 2}));
    REFUSED(HISTO_INVALID, "not a multiple of weight_count, 2",
            histo_hist_fill(weighted, &samples,
                            &(histo_fill_options){.weights = (histo_view[]){samples, samples},
                                                  .weight_count = 2,
                                                  .offsets = (const int64_t[]){0, 6}}));
    REFUSED(HISTO_INVALID, "batch entries",
            histo_hist_fill(weighted, &samples,
                            &(histo_fill_options){.weights = (histo_view[]){samples, samples}, .weight_count = 2}));
    REFUSED(HISTO_INVALID, "the offsets are from 0 to 3, not from 0 to the 2 samples",
            histo_hist_fill(h, &samples, &(histo_fill_options){.rows = &good, .offsets = (const int64_t[]){0, 3}}));
    const histo_fill_options rows = {.rows = &good};
    const char *only = "which only histo_hist_fill and histo_count take";
    REFUSED(HISTO_UNSUPPORTED, only, histo_plan_create(&plan, h, &samples, &rows, NULL));
    REFUSED(HISTO_UNSUPPORTED, only, histo_hist_fill_chunks(h, 1, &(histo_fill_chunk){.views = &samples}, &rows));
    REFUSED(HISTO_UNSUPPORTED, only, histo_axis_from_data(&samples, &rows, &(histo_survey_options){.bins = 3}, &axis));
    REFUSED(HISTO_UNSUPPORTED, only, histo_find_extremes(&samples, &rows, &(histo_extremes){.min = 0}, 1));
    OK(histo_hist_equal(h, before, &same));
    assert_true(same);
    OK(histo_hist_fill(h, &samples, &rows));
    histo_hist_destroy(before);
    histo_hist_destroy(weighted);
    histo_hist_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
