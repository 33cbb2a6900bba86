/* Reading: every type, the bins alone and all slots, cumulative, of dense and sparse histograms, batches and several
 * axes. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { ROWS = 5, COLUMNS = 3, BATCH = 4, SAMPLES = 3000 };

/* Counts up to 2^36, so that 32 bits do not hold all of them. */
static histo_hist *make(const histo_hist_options *options, int naxes)
{
    const histo_axis axes[] = {histo_axis_regular(ROWS, 0, 1), histo_axis_integer(0, COLUMNS)};
    rng r = {.state = 5};
    float x[SAMPLES];
    uint8_t y[SAMPLES], mask[SAMPLES];
    double w[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = (float)rng_below(&r, 150) / 100 - 0.25F;
        y[i] = (uint8_t)rng_below(&r, COLUMNS + 1);
        w[i] = (double)rng_below(&r, 1000) / 7;
        mask[i] = rng_below(&r, 10) > 0;
    }
    const int64_t batch = options->batch ? options->batch : 1, shape[] = {batch, SAMPLES / batch};
    histo_view views[] = {histo_view_nd(x, HISTO_F32, 2, shape), histo_view_nd(y, HISTO_U8, 2, shape)},
               weights = histo_view_nd(w, HISTO_F64, 2, shape), of_mask = histo_view_nd(mask, HISTO_U8, 2, shape);
    views[0].batch_ndim = views[1].batch_ndim = weights.batch_ndim = of_mask.batch_ndim = options->batch > 0;
    histo_hist *h;
    OK(histo_hist_create(&h, naxes, axes, options));
    OK(histo_hist_fill(h, views,
                       &(histo_fill_options){.weights = options->weighting ? &weights : NULL, .mask = &of_mask}));
    for (int i = 0; i < 30; i++)
        OK(histo_hist_merge(h, h));
    return h;
}

static const histo_dtype dtypes[] = {HISTO_U64, HISTO_U32, HISTO_F32, HISTO_F64};

/* A number as a read writes it. */
static void put(void *to, int64_t i, histo_dtype dtype, uint64_t count)
{
    if (dtype == HISTO_U64) ((uint64_t *)to)[i] = count;
    if (dtype == HISTO_U32) ((uint32_t *)to)[i] = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    if (dtype == HISTO_F32) ((float *)to)[i] = (float)count;
    if (dtype == HISTO_F64) ((double *)to)[i] = (double)count;
}

/* Compare a read with the counts of all slots, taken one by one. */
static void check_counts(const histo_hist *h, histo_slots slots, histo_dtype dtype, bool cumulative)
{
    const int naxes = histo_hist_naxes(h);
    const int64_t size = histo_hist_size(h, slots), all = histo_hist_size(h, HISTO_FLOW);
    const int64_t row = histo_hist_axis(h, naxes - 1).bins + (slots == HISTO_FLOW ? 3 : 0);
    uint64_t *counts = malloc((size_t)all * sizeof *counts), total = 0;
    char *expected = malloc((size_t)size * 8), *got = malloc((size_t)size * 8);
    OK(histo_hist_read_counts(h, HISTO_FLOW, counts, all, NULL));
    for (int64_t i = 0; i < size; i++) {
        int64_t at[HISTO_MAX_AXES], slot = histo_hist_unravel(h, slots, i, at);
        for (int a = 0; a < naxes; a++)
            slot = slot * (histo_hist_axis(h, a).bins + 3) + at[a] + (slots == HISTO_BINS);
        if (i % row == 0 || !cumulative) total = 0;
        put(expected, i, dtype, total += counts[slot]);
    }
    OK(histo_hist_read_counts(h, slots, got, size, &(histo_read_options){.dtype = dtype, .cumulative = cumulative}));
    assert_memory_equal(got, expected, (size_t)size * histo_dtype_size(dtype));
    free(counts);
    free(expected);
    free(got);
}

static void counts(void **state)
{
    (void)state;
    bool saturates = false;
    for (int variant = 0; variant < 8; variant++) {
        const histo_hist_options options = {.batch = variant & 1 ? BATCH : 0,
                                            .storage = variant & 2 ? HISTO_SPARSE : HISTO_DENSE};
        histo_hist *h = make(&options, variant & 4 ? 2 : 1);
        histo_tally tally;
        OK(histo_hist_tally(h, &tally));
        assert_true(tally.masked > 0 && tally.flow > 0);
        assert_int_equal(tally.samples, (uint64_t)SAMPLES << 30);
        for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++)
            for (int d = 0; d < 4; d++)
                for (int cumulative = 0; cumulative < 2; cumulative++)
                    check_counts(h, (histo_slots)slots, dtypes[d], cumulative);
        uint32_t some[BATCH * ROWS * COLUMNS];
        const int64_t size = histo_hist_size(h, HISTO_BINS);
        OK(histo_hist_read_counts(h, HISTO_BINS, some, size, &(histo_read_options){.dtype = HISTO_U32}));
        for (int64_t i = 0; i < size; i++)
            saturates |= some[i] == UINT32_MAX;
        histo_hist_destroy(h);
    }
    assert_true(saturates);
}

/* Sums as floats are those as doubles, rounded. An unweighted histogram gives its counts. */
static void sums(void **state)
{
    (void)state;
    for (int weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++)
        for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++) {
            histo_hist *h = make(&(histo_hist_options){.batch = BATCH, .weighting = (histo_weighting)weighting}, 2);
            const int64_t size = histo_hist_size(h, (histo_slots)slots);
            const bool squares = weighting != HISTO_WEIGHT_FAST_SUM && weighting != HISTO_WEIGHT_REPRODUCIBLE_SUM;
            double *wide = calloc((size_t)size * 3, sizeof *wide), *counts = wide + 2 * size;
            float *narrow = calloc((size_t)size * 2, sizeof *narrow);
            OK(histo_hist_read_weights(h, (histo_slots)slots, wide, squares ? wide + size : NULL, size, NULL));
            OK(histo_hist_read_weights(h, (histo_slots)slots, narrow, squares ? narrow + size : NULL, size,
                                       &(histo_read_options){.dtype = HISTO_F32}));
            OK(histo_hist_read_counts(h, (histo_slots)slots, counts, size, &(histo_read_options){.dtype = HISTO_F64}));
            for (int64_t i = 0; i < 2 * size; i++)
                assert_true(narrow[i] == (float)wide[i]);
            for (int64_t i = 0; i < size; i++)
                assert_true(weighting == HISTO_UNWEIGHTED ? wide[i] == counts[i] : wide[i] == 0 || counts[i] > 0);
            histo_hist_destroy(h);
            free(wide);
            free(narrow);
        }
}

/* Rows longer than the blocks in which they are converted. */
static void long_rows(void **state)
{
    (void)state;
    enum { BINS = 5000 };
    uint16_t data[BINS * 3];
    for (int i = 0; i < BINS * 3; i++)
        data[i] = (uint16_t)(i * i % BINS);
    const histo_axis axis = histo_axis_integer(0, BINS);
    const histo_view view = histo_view_1d(data, HISTO_U16, BINS * 3), of_weights = view;
    for (int weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE; weighting += 2) {
        histo_hist *h;
        OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.weighting = (histo_weighting)weighting}));
        OK(histo_hist_fill(h, &view, &(histo_fill_options){.weights = weighting ? &of_weights : NULL}));
        for (int d = 0; d < 4; d++) {
            check_counts(h, HISTO_BINS, dtypes[d], true);
            check_counts(h, HISTO_FLOW, dtypes[d], false);
        }
        double *sum = malloc(BINS * sizeof *sum), *count = malloc(BINS * sizeof *count);
        OK(histo_hist_read_weights(h, HISTO_BINS, sum, NULL, BINS, NULL));
        OK(histo_hist_read_counts(h, HISTO_BINS, count, BINS, &(histo_read_options){.dtype = HISTO_F64}));
        for (int i = 0; i < BINS; i++)
            assert_true(sum[i] == (weighting ? i * count[i] : count[i]));
        free(sum);
        free(count);
        histo_hist_destroy(h);
    }
}

/* A fill that reads, as both one after the other, and refused before it counts. */
static void fills_that_read(void **state)
{
    (void)state;
    uint8_t data[1000];
    for (int i = 0; i < 1000; i++)
        data[i] = (uint8_t)(i * i);
    const histo_axis axis = histo_axis_integer(0, 256);
    const histo_view view = histo_view_1d(data, HISTO_U8, 1000);
    const histo_read_options as = {.dtype = HISTO_U32, .cumulative = true};
    histo_hist *h;
    histo_plan *plan;
    uint32_t got[256], counts[256];
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_plan_create(&plan, h, &view, NULL, NULL));
    for (uint32_t fill = 1; fill <= 2; fill++) {
        OK(histo_plan_fill_read(plan, h, &view, NULL, HISTO_BINS, got, 256, &as));
        OK(histo_hist_read_counts(h, HISTO_BINS, counts, 256, &as));
        assert_memory_equal(got, counts, sizeof got);
        assert_int_equal(got[255], 1000 * fill);
    }
    REFUSED(HISTO_INVALID, "room for 255", histo_plan_fill_read(plan, h, &view, NULL, HISTO_BINS, got, 255, &as));
    REFUSED(HISTO_INVALID, "is NULL", histo_plan_fill_read(plan, h, &view, NULL, HISTO_BINS, NULL, 256, &as));
    REFUSED(HISTO_INVALID, "is NULL", histo_plan_fill_read(plan, NULL, &view, NULL, HISTO_BINS, got, 256, &as));
    REFUSED(HISTO_INVALID, "plan is NULL", histo_plan_fill_read(NULL, h, &view, NULL, HISTO_BINS, got, 256, &as));
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, 256, &as));
    assert_memory_equal(got, counts, sizeof got);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
}

/* What is borrowed equals a read of all slots, and is the histogram's memory. */
static void borrowed(void **state)
{
    (void)state;
    for (int weighting = 0; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *h = make(&(histo_hist_options){.batch = BATCH, .weighting = (histo_weighting)weighting}, 2);
        const int64_t size = histo_hist_size(h, HISTO_FLOW);
        const uint64_t *counts = NULL, *again;
        const double *sum_w, *sum_w2;
        uint64_t *read = malloc((size_t)size * sizeof *read);
        double *sums = malloc((size_t)size * sizeof *sums);
        OK(histo_hist_borrow(h, &counts, &sum_w, &sum_w2));
        OK(histo_hist_read_counts(h, HISTO_FLOW, read, size, NULL));
        assert_memory_equal(counts, read, (size_t)size * sizeof *read);
        const bool fast = weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_FAST_SUM;
        assert_int_equal(sum_w != NULL, fast);
        assert_int_equal(sum_w2 != NULL, weighting == HISTO_WEIGHT_FAST);
        if (fast) {
            OK(histo_hist_read_weights(h, HISTO_FLOW, sums, NULL, size, NULL));
            assert_memory_equal(sum_w, sums, (size_t)size * sizeof *sums);
        }
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_borrow(h, &again, NULL, NULL));
        for (int64_t i = 0; i < size; i++)
            assert_int_equal(again[i], 0);
        free(read);
        free(sums);
        histo_hist_destroy(h);
    }
    histo_hist *sparse = make(&(histo_hist_options){.storage = HISTO_SPARSE}, 2);
    const uint64_t *counts;
    REFUSED(HISTO_UNSUPPORTED, "histo_hist_read_occupied", histo_hist_borrow(sparse, &counts, NULL, NULL));
    REFUSED(HISTO_INVALID, "is NULL", histo_hist_borrow(NULL, &counts, NULL, NULL));
    histo_hist_destroy(sparse);
}

/* The tally equals that of all slots, one by one. */
static void tallied(void **state)
{
    (void)state;
    for (int naxes = 1; naxes <= 2; naxes++)
        for (int sparse = 0; sparse <= 1; sparse++) {
            histo_hist *h = make(&(histo_hist_options){.batch = BATCH, .storage = (histo_storage)sparse}, naxes);
            const int64_t size = histo_hist_size(h, HISTO_FLOW);
            uint64_t *counts = malloc((size_t)size * sizeof *counts), masked[BATCH];
            histo_tally tally, expected = {0};
            OK(histo_hist_read_counts(h, HISTO_FLOW, counts, size, NULL));
            OK(histo_hist_read_masked(h, masked, BATCH));
            OK(histo_hist_tally(h, &tally));
            for (int64_t i = 0; i < size; i++) {
                int64_t at[HISTO_MAX_AXES];
                bool flow = false;
                histo_hist_unravel(h, HISTO_FLOW, i, at);
                for (int a = 0; a < naxes; a++) {
                    const int64_t bins = histo_hist_axis(h, a).bins;
                    uint64_t *const of_flow[] = {&expected.over[a], &expected.nan[a]};
                    if (at[a] == 0) expected.under[a] += counts[i];
                    if (at[a] > bins) *of_flow[at[a] - bins - 1] += counts[i];
                    flow = flow || at[a] == 0 || at[a] > bins;
                }
                *(flow ? &expected.flow : &expected.bins) += counts[i];
            }
            for (int b = 0; b < BATCH; b++)
                expected.masked += masked[b];
            expected.samples = expected.bins + expected.flow + expected.masked;
            assert_memory_equal(&tally, &expected, sizeof tally);
            free(counts);
            histo_hist_destroy(h);
        }
}

/* A part at random: the first and the last of its positions on each dimension; parts up to the end have no end. */
static histo_read_options random_part(rng *r, const histo_hist *h, histo_slots slots, int64_t first[3], int64_t n[3])
{
    histo_read_options o = {0};
    const int naxes = histo_hist_naxes(h);
    for (int d = 0; d < 3; d++) {
        const int64_t extent = d == 0       ? histo_hist_batch(h)
                               : d <= naxes ? histo_hist_axis(h, d - 1).bins + (slots == HISTO_FLOW ? 3 : 0)
                                            : 1;
        first[d] = rng_below(r, extent);
        n[d] = 1 + rng_below(r, extent - first[d]);
        if (rng_below(r, 3) == 0) {
            first[d] = 0;
            n[d] = extent;
        }
        const bool to_end = first[d] + n[d] == extent && rng_below(r, 2);
        if (d == 0) {
            o.first_entry = first[d];
            o.entries = to_end ? 0 : n[d];
        } else if (d <= naxes) {
            o.begin[d - 1] = first[d];
            o.end[d - 1] = to_end ? 0 : first[d] + n[d];
        }
    }
    return o;
}

/* A part is that of the whole. */
static void check_part(rng *r, const histo_hist *h, histo_slots slots, bool cumulative)
{
    enum { MOST = BATCH * (ROWS + 3) * (COLUMNS + 3) };
    const int naxes = histo_hist_naxes(h), flow = slots == HISTO_FLOW ? 3 : 0;
    const int64_t all = histo_hist_size(h, slots), columns = naxes == 1 ? 1 : COLUMNS + flow;
    uint64_t counts[MOST], got[MOST], total = 0;
    double sums[MOST], got_sums[MOST];
    OK(histo_hist_read_counts(h, slots, counts, all, NULL));
    OK(histo_hist_read_weights(h, slots, sums, NULL, all, NULL));
    int64_t first[3], n[3], i = 0;
    histo_read_options o = random_part(r, h, slots, first, n);
    const int64_t size = n[0] * n[1] * n[2];
    OK(histo_hist_read_weights(h, slots, got_sums, NULL, size, &o));
    o.cumulative = cumulative;
    OK(histo_hist_read_counts(h, slots, got, size, &o));
    REFUSED(HISTO_INVALID, "room for", histo_hist_read_counts(h, slots, got, size + 1, &o));
    for (int64_t b = first[0]; b < first[0] + n[0]; b++)
        for (int64_t y = first[1]; y < first[1] + n[1]; y++)
            for (int64_t x = first[2]; x < first[2] + n[2]; x++, i++) {
                const int64_t at = (b * (ROWS + flow) + y) * columns + x;
                if (i % n[naxes] == 0) total = 0;
                total += counts[at];
                assert_int_equal(got[i], cumulative ? total : counts[at]);
                assert_true(got_sums[i] == sums[at]);
            }
}

static void parts(void **state)
{
    (void)state;
    enum { ROUNDS = 200, SPARSE_KIND = HISTO_WEIGHT_REPRODUCIBLE_SUM + 1 };
    rng r = {.state = 9};
    for (int kind = 0; kind <= SPARSE_KIND; kind++)
        for (int naxes = 1; naxes <= 2; naxes++) {
            histo_hist_options of = {.batch = BATCH};
            if (kind == SPARSE_KIND)
                of.storage = HISTO_SPARSE;
            else
                of.weighting = (histo_weighting)kind;
            histo_hist *h = make(&of, naxes);
            for (int round = 0; round < ROUNDS; round++)
                check_part(&r, h, (histo_slots)(round % 2), round % 3 == 0);
            histo_hist_destroy(h);
        }
}

/* A plan that fills and reads. */
static void part_of_fill(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_integer(0, 4);
    const uint8_t x[] = {0, 1, 1, 2, 3, 3, 3, 3};
    histo_view samples = histo_view_nd(x, HISTO_U8, 2, (const int64_t[]){2, 4});
    samples.batch_ndim = 1;
    histo_hist *h;
    histo_plan *plan;
    uint64_t got[2];
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = 2}));
    OK(histo_plan_create(&plan, h, &samples, NULL, NULL));
    OK(histo_plan_fill_read(plan, h, &samples, NULL, HISTO_BINS, got, 2,
                            &(histo_read_options){.first_entry = 1, .begin = {2}}));
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], 4);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
}

static void no_parts(void **state)
{
    (void)state;
    static const struct {
        histo_read_options options;
        const char *words;
    } wrong[] = {
        {{.first_entry = -1}, "first_entry is -1"},
        {{.first_entry = BATCH}, "first_entry is 4 and entries is 0, of a batch of 4"},
        {{.first_entry = 1, .entries = BATCH}, "entries is 4"},
        {{.entries = -1}, "entries is -1"},
        {{.first_entry = 1, .entries = INT64_MAX}, "entries is 9223372036854775807"},
        {{.begin = {-1}}, "begin[0] is -1 and end[0] is 0, of 5 positions"},
        {{.begin = {ROWS}}, "begin[0] is 5"},
        {{.end = {ROWS + 1}}, "end[0] is 6"},
        {{.begin = {2}, .end = {2}}, "begin[0] is 2 and end[0] is 2"},
        {{.end = {-1}}, "end[0] is -1"},
        {{.begin = {0, 3}}, "begin[1] is 3"},
        {{.end = {0, 0, 1}}, "begin[2] or end[2] is not 0, and the histogram has 2 axes"},
        {{.begin = {0, 0, 0, 0, 0, 0, 0, 1}}, "begin[7] or end[7]"},
    };
    histo_hist *h = make(&(histo_hist_options){.batch = BATCH}, 2);
    uint64_t room[BATCH * ROWS * COLUMNS];
    double sums[BATCH * ROWS * COLUMNS];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(HISTO_INVALID, wrong[i].words,
                histo_hist_read_counts(h, HISTO_BINS, room, BATCH * ROWS * COLUMNS, &wrong[i].options));
        REFUSED(HISTO_INVALID, wrong[i].words,
                histo_hist_read_weights(h, HISTO_BINS, sums, NULL, BATCH * ROWS * COLUMNS, &wrong[i].options));
    }
    histo_hist_destroy(h);
}

static void refused(void **state)
{
    (void)state;
    histo_hist *h = make(&(histo_hist_options){.weighting = HISTO_WEIGHT_FAST_SUM}, 1);
    double room[ROWS];
    for (int dtype = HISTO_I8; dtype < HISTO_DTYPE_COUNT; dtype++) {
        const histo_read_options as = {.dtype = (histo_dtype)dtype};
        const bool floating = dtype == HISTO_F32 || dtype == HISTO_F64;
        if (!floating && dtype != HISTO_U32 && dtype != HISTO_U64)
            REFUSED(HISTO_INVALID, "as u32, u64, f32 or f64", histo_hist_read_counts(h, HISTO_BINS, room, ROWS, &as));
        if (!floating)
            REFUSED(HISTO_INVALID, "as f32 or f64", histo_hist_read_weights(h, HISTO_BINS, room, NULL, ROWS, &as));
    }
    REFUSED(HISTO_INVALID, "sums of weights cannot",
            histo_hist_read_weights(h, HISTO_BINS, room, NULL, ROWS, &(histo_read_options){.cumulative = true}));
    REFUSED(HISTO_INVALID, "no sums of squared", histo_hist_read_weights(h, HISTO_BINS, NULL, room, ROWS, NULL));
    REFUSED(HISTO_INVALID, "room for 4", histo_hist_read_counts(h, HISTO_BINS, room, 4, NULL));
    REFUSED(HISTO_INVALID, "is NULL", histo_hist_read_counts(h, HISTO_BINS, NULL, ROWS, NULL));
    REFUSED(HISTO_INVALID, "unknown slots", histo_hist_read_counts(h, (histo_slots)7, room, ROWS, NULL));
    histo_hist_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),          cmocka_unit_test(sums),    cmocka_unit_test(long_rows),
        cmocka_unit_test(fills_that_read), cmocka_unit_test(refused), cmocka_unit_test(borrowed),
        cmocka_unit_test(tallied),         cmocka_unit_test(parts),   cmocka_unit_test(part_of_fill),
        cmocka_unit_test(no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
