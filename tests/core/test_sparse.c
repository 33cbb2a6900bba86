/* Sparse histograms: beyond the limits of dense ones they match the sorted slots of all samples, and within them the
 * dense histogram. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts/hist.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"

static const histo_hist_options sparse = {.storage = HISTO_SPARSE};

static int compare_slots(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Columns of samples and their slots, sorted; -1 for masked rows. */
typedef struct columns {
    int naxes;
    int64_t n;
    histo_axis axes[HISTO_MAX_AXES];
    histo_view views[HISTO_MAX_AXES], mask;
    int64_t *slots;
} columns;

/* n rows of `naxes` columns, repeating `different` distinct rows. */
static columns make_columns(rng *r, int naxes, int64_t n, int64_t different, bool masked)
{
    columns c = {.naxes = naxes, .n = n, .slots = calloc((size_t)n, sizeof *c.slots)};
    int64_t *row = malloc((size_t)n * sizeof *row);
    uint8_t *mask = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        row[i] = rng_below(r, different);
        mask[i] = !masked || rng_below(r, 4) > 0;
    }
    for (int a = 0; a < naxes; a++) {
        histo_dtype dtype = a % 3 == 0 ? HISTO_U8 : a % 3 == 1 ? HISTO_F32 : HISTO_F64;
        c.axes[a] = a % 3 == 0 ? histo_axis_integer(0, 256) : histo_axis_regular(256, -3, 5);
        void *few = make_samples(r, dtype, a == 4 ? GAUSSIAN : a == 2 ? SPECIAL : UNIFORM, &c.axes[a], different);
        size_t size = histo_dtype_size(dtype);
        char *all = malloc((size_t)n * size);
        double edges[257];
        OK(histo_axis_edges(&c.axes[a], edges));
        for (int64_t i = 0; i < n; i++) {
            memcpy(all + (size_t)i * size, (char *)few + (size_t)row[i] * size, size);
            c.slots[i] = c.slots[i] * 259 + reference_slot_by_edges(all + (size_t)i * size, dtype, edges, 256, false);
        }
        c.views[a] = histo_view_1d(all, dtype, n);
        free(few);
    }
    for (int64_t i = 0; i < n; i++)
        if (!mask[i]) c.slots[i] = -1;
    c.mask = histo_view_1d(mask, HISTO_U8, n);
    qsort(c.slots, (size_t)n, sizeof *c.slots, compare_slots);
    free(row);
    return c;
}

static void free_columns(columns *c)
{
    for (int a = 0; a < c->naxes; a++)
        free((void *)c->views[a].data);
    free((void *)c->mask.data);
    free(c->slots);
}

/* hist contains the columns `times` times. */
static void assert_holds(const histo_hist *h, const columns *c, uint64_t times)
{
    int64_t occupied, at = 0;
    OK(histo_hist_occupied(h, HISTO_FLOW, &occupied));
    int64_t *index = malloc((size_t)occupied * sizeof *index + 1);
    uint64_t *counts = malloc((size_t)occupied * sizeof *counts + 1), masked;
    OK(histo_hist_read_occupied(h, HISTO_FLOW, index, counts, occupied));
    OK(histo_hist_read_masked(h, &masked, 1));
    int64_t i = 0;
    while (i < c->n && c->slots[i] < 0)
        i++;
    assert_int_equal(masked, (uint64_t)i * times);
    for (int64_t end; i < c->n; i = end, at++) {
        for (end = i; end < c->n && c->slots[end] == c->slots[i];)
            end++;
        assert_true(at < occupied);
        if (index[at] != c->slots[i] || counts[at] != (uint64_t)(end - i) * times)
            fail_msg("slot %lld has %llu, not %lld with %lld", (long long)index[at], (unsigned long long)counts[at],
                     (long long)c->slots[i], (long long)(end - i));
    }
    assert_int_equal(at, occupied);
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, (uint64_t)c->n * times);
    assert_int_equal(tally.bins + tally.flow + tally.masked, tally.samples);
    free(index);
    free(counts);
}

/* Strategies that fill sparse histograms, with parameters that force them to empty their tables and lists. */
static const struct {
    const char *strategy, *params;
    bool on_device; /* samples in device memory */
} variants[] = {{"cpu/hash_table", NULL, false},
                {"cpu/hash_table", "largest=11", false},
                {"cpu/hash_table", "largest=13", false},
                {"cuda/sort_runs", NULL, true},
                {"cuda/sort_runs", NULL, false},
                {"cuda/sort_runs", "chunk=1024,pairs=1", true},
                {"cuda/sort_runs", "chunk=7000,pairs=30000", true},
                {"cuda/sort_runs", "chunk=3000", false}};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Sanitizers are slow: HISTO_TEST_EVERY=n takes an n-th of the samples. */
static int64_t every(void)
{
    const char *n = getenv("HISTO_TEST_EVERY");
    return n ? atol(n) : 1;
}

/* Skipped cases, which need a GPU that is missing. */
static long skipped;
static bool is_missing(int variant)
{
    bool it = strncmp(variants[variant].strategy, "cuda/", 5) == 0 && device_missing();
    skipped += it;
    return it;
}

static void fill_by(int variant, histo_hist *h, const columns *c, bool masked, int threads)
{
    histo_view views[HISTO_MAX_AXES], mask = c->mask;
    void *memory[HISTO_MAX_AXES + 1] = {NULL};
    for (int a = 0; a < c->naxes; a++) {
        views[a] = c->views[a];
        if (variants[variant].on_device) assert_non_null(memory[a] = device_copy(&c->views[a], &views[a]));
    }
    if (variants[variant].on_device) assert_non_null(memory[c->naxes] = device_copy(&c->mask, &mask));
    const histo_fill_options fill = {.mask = masked ? &mask : NULL};
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, views, &fill,
                         &(histo_plan_options){.strategy = variants[variant].strategy,
                                               .params = variants[variant].params,
                                               .threads = threads}));
    OK(histo_plan_fill(plan, h, views, &fill));
    histo_plan_destroy(plan);
    for (int a = 0; a <= c->naxes; a++)
        if (memory[a]) device_free(memory[a]);
}

/* So many distinct rows that tables and lists become large. */
static void many_occupied_slots(void **state)
{
    (void)state;
    rng r = {.state = 12};
    const int64_t n = 1500000 / every();
    columns c = make_columns(&r, 5, n, n / 5 * 3, false);
    for (int variant = 0; variant < VARIANTS; variant++) {
        if (is_missing(variant)) continue;
        if (variants[variant].params) continue;
        histo_hist *h;
        OK(histo_hist_create(&h, 5, c.axes, &sparse));
        fill_by(variant, h, &c, false, 2);
        fill_by(variant, h, &c, false, 1);
        assert_holds(h, &c, 2);
        histo_hist_destroy(h);
    }
    free_columns(&c);
}

static void beyond_the_reach_of_dense_ones(void **state)
{
    (void)state;
    rng r = {.state = 4711};
    for (int round = 0; round < 24; round++) {
        const int naxes = 4 + round % 4;
        const bool masked = round % 3 == 1;
        columns c = make_columns(&r, naxes, round % 8 == 7 ? 1 : 1 + rng_below(&r, 200000 / every()),
                                 round % 2 ? 50000 : 20, masked);
        for (int variant = 0; variant < VARIANTS; variant++) {
            if (is_missing(variant)) continue;
            histo_hist *h;
            OK(histo_hist_create(&h, naxes, c.axes, &sparse));
            fill_by(variant, h, &c, masked, 1 + round % 5);
            assert_holds(h, &c, 1);
            for (int again = 0; again < 3; again++)
                fill_by(variant, h, &c, masked, 3);
            assert_holds(h, &c, 4);
            OK(histo_hist_reset(h, NULL));
            fill_by(variant, h, &c, masked, 1);
            assert_holds(h, &c, 1);
            histo_hist_destroy(h);
        }
        free_columns(&c);
    }
}

/* A sparse histogram equals a dense one. */
static void assert_same_as_dense(const histo_hist *a, const histo_hist *dense)
{
    assert_int_equal(histo_hist_storage(a), HISTO_SPARSE);
    assert_int_equal(histo_hist_storage(dense), HISTO_DENSE);
    for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++) {
        int64_t size = histo_hist_size(a, (histo_slots)slots), occupied[2];
        assert_int_equal(size, histo_hist_size(dense, (histo_slots)slots));
        uint64_t *x = malloc((size_t)size * 8), *y = malloc((size_t)size * 8);
        double *w = malloc((size_t)size * 8), *w2 = malloc((size_t)size * 8);
        OK(histo_hist_read_counts(a, (histo_slots)slots, x, size, NULL));
        OK(histo_hist_read_counts(dense, (histo_slots)slots, y, size, NULL));
        assert_memory_equal(x, y, (size_t)size * 8);
        OK(histo_hist_read_weights(a, (histo_slots)slots, w, w2, size, NULL));
        for (int64_t i = 0; i < size; i++)
            assert_true(w[i] == (double)y[i] && w2[i] == (double)y[i]);
        OK(histo_hist_occupied(a, (histo_slots)slots, &occupied[0]));
        OK(histo_hist_occupied(dense, (histo_slots)slots, &occupied[1]));
        assert_int_equal(occupied[0], occupied[1]);
        OK(histo_hist_read_occupied(a, (histo_slots)slots, (int64_t *)w, x, occupied[0]));
        OK(histo_hist_read_occupied(dense, (histo_slots)slots, (int64_t *)w2, NULL, occupied[0]));
        assert_memory_equal(w, w2, (size_t)occupied[0] * 8);
        for (int64_t i = 0; i < occupied[0]; i++)
            assert_int_equal(x[i], y[((int64_t *)w)[i]]);
        free(x);
        free(y);
        free(w);
        free(w2);
    }
    histo_tally tallies[2];
    memset(tallies, 0, sizeof tallies);
    OK(histo_hist_tally(a, &tallies[0]));
    OK(histo_hist_tally(dense, &tallies[1]));
    assert_memory_equal(&tallies[0], &tallies[1], sizeof tallies[0]);
}

/* With few enough slots, a GPU may use dense counters: a histogram has all samples of all strategies, whatever their
 * order. */
static void counters_and_pairs(void **state)
{
    (void)state;
    static const char *const strategies[] = {
        "cuda/global_atomic", "cuda/sort_runs", "cuda/partition", NULL,
        "cuda/packed_window", "cpu/hash_table", "cpu/privatized", "cpu/byte_counters"};
    enum { STRATEGIES = sizeof strategies / sizeof *strategies };
    rng r = {.state = 77};
    const histo_hist_options kinds[] = {{.storage = HISTO_SPARSE}, {.storage = HISTO_DENSE}};
    for (int round = 0; round < 12; round++) {
        const bool masked = round % 3 == 1, one = round % 4 == 3;
        columns c = make_columns(&r, one ? 1 : 3, 1 + rng_below(&r, 100000 / every()), round % 2 ? 3000 : 20, masked);
        if (one) c.axes[0] = histo_axis_integer(-5, 1 << 20);
        if (!one) c.axes[1] = histo_axis_regular(40, -3, 5), c.axes[2] = histo_axis_regular(77, -3, 5);
        histo_hist *h[2];
        for (int i = 0; i < 2; i++)
            OK(histo_hist_create(&h[i], c.naxes, c.axes, &kinds[i]));
        const histo_fill_options fill = {.mask = masked ? &c.mask : NULL};
        for (int times = 0; times < 8; times++) {
            const char *strategy = strategies[(round + times * (1 + round % 5)) % STRATEGIES];
            if (strategy && strategy[1] == 'u' && device_missing()) {
                skipped++;
                continue;
            }
            histo_plan *plan;
            OK(histo_plan_create(&plan, h[0], c.views, &fill,
                                 &(histo_plan_options){.strategy = strategy,
                                                       .device = strategy || device_missing() ? HISTO_DEVICE_AUTO
                                                                                              : HISTO_DEVICE_CUDA(0)}));
            OK(histo_plan_fill(plan, h[0], c.views, &fill));
            histo_plan_destroy(plan);
            OK(histo_plan_create(&plan, h[1], c.views, &fill, &(histo_plan_options){.strategy = "cpu/sequential"}));
            OK(histo_plan_fill(plan, h[1], c.views, &fill));
            histo_plan_destroy(plan);
            if (times % 3 == 2) assert_same_as_dense(h[0], h[1]);
        }
        assert_same_as_dense(h[0], h[1]);
        for (int i = 0; i < 2; i++)
            histo_hist_destroy(h[i]);
        free_columns(&c);
    }
}

/* Small fills, as from a stream. */
static void many_small_fills(void **state)
{
    (void)state;
    rng r = {.state = 99};
    columns c = make_columns(&r, 5, 4000, 3000, false);
    histo_hist *h;
    OK(histo_hist_create(&h, 5, c.axes, &sparse));
    for (int64_t i = 0; i < c.n; i += 7) {
        histo_view some[5];
        for (int a = 0; a < 5; a++) {
            some[a] = c.views[a];
            some[a].data = (const char *)some[a].data + (size_t)i * histo_dtype_size(some[a].dtype);
            some[a].shape[0] = c.n - i < 7 ? c.n - i : 7;
        }
        OK(histo_hist_fill(h, some, NULL));
    }
    assert_true(h->accumulators.sparse->lists < 14);
    assert_holds(h, &c, 1);
    free_columns(&c);
    histo_hist_destroy(h);
}

/* Clone, merge, project, rebin, slice, save and load give the same for sparse histograms as for dense ones. */
static void everything_else(void **state)
{
    (void)state;
    enum { N = 30000, BATCH = 3 };
    rng r = {.state = 17};
    const histo_axis axes[] = {histo_axis_regular(12, 0, 1), histo_axis_integer(0, 20), histo_axis_regular(6, -1, 1)};
    histo_view views[3], mask;
    for (int a = 0; a < 3; a++) {
        histo_dtype dtype = a == 1 ? HISTO_I16 : HISTO_F32;
        views[a] = (histo_view){
            make_samples(&r, dtype, a ? SPECIAL : UNIFORM, &axes[a], BATCH * N),     dtype, 2, 1, {BATCH, N},
            {(int64_t)histo_dtype_size(dtype) * N, (int64_t)histo_dtype_size(dtype)}};
    }
    mask = views[1];
    histo_hist *of[2], *other[2], *made[2];
    for (int s = HISTO_DENSE; s <= HISTO_SPARSE; s++) {
        const histo_hist_options kind = {.batch = BATCH, .storage = (histo_storage)s};
        OK(histo_hist_create(&of[s], 3, axes, &kind));
        OK(histo_hist_fill(of[s], views, &(histo_fill_options){.mask = &mask}));
        OK(histo_hist_clone(of[s], &other[s]));
        OK(histo_hist_merge(of[s], other[s]));
        OK(histo_hist_merge(of[s], of[s]));
    }
    assert_same_as_dense(other[1], other[0]);
    assert_same_as_dense(of[1], of[0]);
    REFUSED(HISTO_INVALID, "one is sparse, the other dense", histo_hist_merge(of[1], of[0]));
    static const int kept[][2] = {{0, 1}, {2, 0}, {1, 1}};
    for (int k = 0; k < 3; k++) {
        for (int s = HISTO_DENSE; s <= HISTO_SPARSE; s++)
            OK(histo_hist_project(of[s], k < 2 ? 2 : 1, kept[k], &made[s]));
        assert_same_as_dense(made[1], made[0]);
        for (int s = HISTO_DENSE; s <= HISTO_SPARSE; s++)
            histo_hist_destroy(made[s]);
    }
    for (int k = 0; k < 2; k++) {
        for (int s = HISTO_DENSE; s <= HISTO_SPARSE; s++)
            OK(k ? histo_hist_rebin(of[s], 1, 4, &made[s]) : histo_hist_slice(of[s], 0, 3, 8, &made[s]));
        assert_same_as_dense(made[1], made[0]);
        for (int s = HISTO_DENSE; s <= HISTO_SPARSE; s++)
            histo_hist_destroy(made[s]);
    }
    void *data;
    size_t size;
    for (histo_format format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        OK(histo_hist_save(of[1], format, NULL, &data, &size));
        OK(histo_hist_load(data, size, NULL, &made[1]));
        assert_int_equal(histo_hist_storage(made[1]), HISTO_SPARSE);
        assert_same_as_dense(made[1], of[0]);
        histo_free(data);
        histo_hist_destroy(made[1]);
    }
    int64_t at[3], entry = histo_hist_unravel(of[1], HISTO_FLOW, ((2 * 15 + 14) * 23 + 5) * 9 + 1, at);
    assert_true(entry == 2 && at[0] == 14 && at[1] == 5 && at[2] == 1);
    for (int s = HISTO_DENSE; s <= HISTO_SPARSE; s++) {
        histo_hist_destroy(of[s]);
        histo_hist_destroy(other[s]);
    }
    for (int a = 0; a < 3; a++)
        free((void *)views[a].data);
}

/* A file truncated anywhere, or with any byte changed, is invalid or another histogram, and is never read past its end.
 */
static void damaged_files(void **state)
{
    (void)state;
    rng r = {.state = 3};
    columns c = make_columns(&r, 5, 3000, 2000, true);
    histo_hist *h, *loaded;
    OK(histo_hist_create(&h, 5, c.axes, &sparse));
    fill_by(0, h, &c, true, 1);
    for (histo_format format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        unsigned char *data;
        size_t size;
        OK(histo_hist_save(h, format, NULL, (void **)&data, &size));
        OK(histo_hist_load(data, size, NULL, &loaded));
        assert_holds(loaded, &c, 1);
        histo_hist_destroy(loaded);
        size_t whole = size;
        while (format == HISTO_JSON && data[whole - 1] == '\n')
            whole--;
        for (size_t cut = 0; cut < whole; cut += cut < 200 ? 1 : 97)
            assert_int_equal(histo_hist_load(data, cut, NULL, &loaded), HISTO_CORRUPT);
        histo_free(data);
    }
    free_columns(&c);
    histo_hist_destroy(h);
}

static void limits(void **state)
{
    (void)state;
    histo_hist *h;
    histo_axis axes[8];
    for (int a = 0; a < 8; a++)
        axes[a] = histo_axis_integer(0, 253); /* 2^8 slots each */
    REFUSED(HISTO_INVALID, "only sparse storage has so many", histo_hist_create(&h, 5, axes, NULL));
    REFUSED(HISTO_INVALID, "more than 2^63 - 1 bins and flow slots", histo_hist_create(&h, 8, axes, &sparse));
    axes[7] = histo_axis_integer(0, 124); /* 2^7 - 1 */
    OK(histo_hist_create(&h, 8, axes, &sparse));
    assert_int_equal(histo_hist_size(h, HISTO_FLOW), (INT64_C(1) << 56) * 127);
    /* The very last slot. */
    const float nan[2] = {NAN, NAN};
    histo_view views[8];
    for (int a = 0; a < 8; a++)
        views[a] = histo_view_1d(nan, HISTO_F32, 2);
    const uint8_t none[2] = {1, 0};
    histo_view mask = histo_view_1d(none, HISTO_U8, 2);
    OK(histo_hist_fill(h, views, &(histo_fill_options){.mask = &mask}));
    int64_t index;
    uint64_t count, masked;
    OK(histo_hist_read_occupied(h, HISTO_FLOW, &index, &count, 1));
    OK(histo_hist_read_masked(h, &masked, 1));
    assert_true(index == (INT64_C(1) << 56) * 127 - 1 && count == 1 && masked == 1);
    REFUSED(HISTO_INVALID, "room for 2 values", histo_hist_read_occupied(h, HISTO_FLOW, &index, &count, 2));
    histo_hist *none_made;
    REFUSED(HISTO_INVALID, "a batch of 2 ",
            histo_hist_create(&none_made, 8, axes, &(histo_hist_options){.batch = 2, .storage = HISTO_SPARSE}));
    histo_plan *plan;
    REFUSED(HISTO_UNSUPPORTED, "this one is sparse",
            histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = "cpu/privatized"}));
    histo_hist_destroy(h);
    REFUSED(
        HISTO_INVALID, "no sums of weights",
        histo_hist_create(&h, 2, axes, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST, .storage = HISTO_SPARSE}));
    REFUSED(HISTO_INVALID, "unknown storage",
            histo_hist_create(&h, 2, axes, &(histo_hist_options){.storage = (histo_storage)2}));
    OK(histo_hist_create(&h, 1, axes, NULL));
    REFUSED(HISTO_UNSUPPORTED, "this one is dense",
            histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = "hash_table"}));
    histo_hist_destroy(h);
}

/* Report what the other tests skipped. */
static void on_a_gpu(void **state)
{
    (void)state;
    print_message("CUDA strategies: %ld variants SKIPPED%s%s\n", skipped, skipped ? ": " : "",
                  skipped ? device_missing() : "");
    if (skipped) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beyond_the_reach_of_dense_ones),
        cmocka_unit_test(many_occupied_slots),
        cmocka_unit_test(many_small_fills),
        cmocka_unit_test(counters_and_pairs),
        cmocka_unit_test(everything_else),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(limits),
        cmocka_unit_test(on_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
