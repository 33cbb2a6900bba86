/* The total of all counts is below 2^64: whatever would make it more is refused, and changes nothing. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"

enum { BINS = 2, SLOTS = BINS + 3, BATCH = 2, ALL = BATCH * SLOTS, MANY = 100000, IMAGES = 4 };

#define FULL(call) REFUSED(HISTO_INVALID, "2^64", call)

static histo_hist *make(histo_weighting weighting, histo_storage storage)
{
    const histo_axis axis = histo_axis_integer(0, BINS);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis,
                         &(histo_hist_options){.batch = BATCH, .weighting = weighting, .storage = storage}));
    return h;
}

/* Room is left for so many samples. The counts are spread over both entries, and some are masked. */
static histo_hist *make_nearly_full(histo_weighting weighting, histo_storage storage, uint64_t room)
{
    const uint64_t half = UINT64_C(1) << 63, counts[ALL] = {0, half - 10, 4, 0, 1, 0, half - 12 - room, 3, 0, 0};
    const uint64_t masked[BATCH] = {9, 4};
    histo_hist *h = make(weighting, storage);
    OK(histo_hist_write(h, HISTO_FLOW, counts, NULL, NULL, ALL, masked));
    return h;
}

typedef struct contents {
    uint64_t counts[ALL], masked[BATCH];
    double sum_w[ALL];
} contents;

static contents read_all(const histo_hist *h)
{
    contents c;
    OK(histo_hist_read_counts(h, HISTO_FLOW, c.counts, ALL, NULL));
    OK(histo_hist_read_weights(h, HISTO_FLOW, c.sum_w, NULL, ALL, NULL));
    OK(histo_hist_read_masked(h, c.masked, BATCH));
    return c;
}

static void check_unchanged(const histo_hist *h, const contents *before)
{
    const contents now = read_all(h);
    assert_memory_equal(&now, before, sizeof now);
}

static const struct {
    histo_weighting weighting;
    histo_storage storage;
} kinds[] = {{HISTO_UNWEIGHTED, HISTO_DENSE},      {HISTO_UNWEIGHTED, HISTO_SPARSE},
             {HISTO_WEIGHT_FAST, HISTO_DENSE},     {HISTO_WEIGHT_REPRODUCIBLE, HISTO_DENSE},
             {HISTO_WEIGHT_FAST_SUM, HISTO_DENSE}, {HISTO_WEIGHT_REPRODUCIBLE_SUM, HISTO_DENSE}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_reading_the_largest_total(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        histo_hist *h = make_nearly_full(kinds[k].weighting, kinds[k].storage, 0);
        const contents c = read_all(h);
        histo_tally t;
        uint64_t running[ALL], occupied = 0, left_out = c.masked[0] + c.masked[1];
        OK(histo_hist_tally(h, &t));
        assert_true(t.samples == UINT64_MAX && t.masked == left_out && t.bins + t.flow + t.masked == t.samples);
        OK(histo_hist_read_counts(h, HISTO_FLOW, running, ALL, &(histo_read_options){.cumulative = true}));
        for (int i = 0; i < ALL; i++) {
            occupied = (i % SLOTS ? occupied : 0) + c.counts[i];
            assert_true(running[i] == occupied);
        }
        histo_hist_destroy(h);
    }
}

static void test_fills(void **state)
{
    (void)state;
    static uint8_t samples[BATCH * MANY];
    const int64_t sizes[] = {1, 3, 1000, 5000, MANY};
    for (int k = 0; k < KINDS; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const int64_t shape[] = {BATCH, sizes[s]};
            histo_view view = histo_view_nd(samples, HISTO_U8, 2, shape);
            view.batch_ndim = 1;
            const uint64_t n = BATCH * (uint64_t)sizes[s];
            histo_hist *h = make_nearly_full(kinds[k].weighting, kinds[k].storage, n - 1);
            const contents before = read_all(h);
            histo_plan *plan;
            FULL(histo_hist_fill(h, &view, NULL));
            check_unchanged(h, &before);
            OK(histo_plan_create(&plan, h, &view, NULL, NULL));
            FULL(histo_plan_fill(plan, h, &view, NULL));
            check_unchanged(h, &before);
            OK(histo_plan_fill(plan, h, &view, &(histo_fill_options){.replace = true}));
            OK(histo_hist_fill(h, &view, NULL));
            const contents now = read_all(h);
            assert_true(now.counts[1] == n && now.counts[SLOTS + 1] == n);
            histo_hist_destroy(h);
            h = make_nearly_full(kinds[k].weighting, kinds[k].storage, n);
            OK(histo_hist_fill(h, &view, NULL));
            FULL(histo_hist_fill(h, &view, NULL));
            OK(histo_hist_fill(h, &view, &(histo_fill_options){.replace = true}));
            OK(histo_hist_fill(h, &view, NULL));
            OK(histo_hist_reset(h, NULL));
            OK(histo_plan_fill(plan, h, &view, NULL));
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
}

/* Each strategy adds what it has counted to the histogram in its own way. */
static void test_every_strategy(void **state)
{
    (void)state;
    static uint8_t samples[BATCH * MANY];
    const int64_t shape[] = {BATCH, MANY};
    histo_view view = histo_view_nd(samples, HISTO_U8, 2, shape);
    view.batch_ndim = 1;
    int tried = 0;
    for (int i = 0; i < histo_strategy_count(); i++) {
        histo_strategy_info info;
        char name[64];
        histo_plan *plan;
        OK(histo_strategy_describe(i, &info));
        if (strcmp(info.backend, "cpu") != 0) continue;
        histo_hist *h = make_nearly_full(HISTO_UNWEIGHTED, info.storage, BATCH * MANY - 1);
        const contents before = read_all(h);
        snprintf(name, sizeof name, "cpu/%s", info.name);
        if (histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.strategy = name}) == HISTO_OK) {
            FULL(histo_plan_fill(plan, h, &view, NULL));
            check_unchanged(h, &before);
            histo_plan_destroy(plan);
            tried++;
        }
        histo_hist_destroy(h);
    }
    assert_true(tried >= 5);
}

static void test_pairs(void **state)
{
    (void)state;
    static uint8_t images[IMAGES * MANY];
    const histo_axis axes[] = {histo_axis_integer(0, 1), histo_axis_integer(0, 1)};
    const histo_view stack = histo_view_nd(images, HISTO_U8, 2, (int64_t[]){IMAGES, MANY});
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING};
    const uint64_t counts[1] = {UINT64_MAX - IMAGES * MANY + 1};
    uint64_t now;
    histo_hist *h;
    OK(histo_hist_create(&h, 2, axes, NULL));
    OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, 1, NULL));
    FULL(histo_hist_fill_pairs(h, &stack, &ring, NULL));
    OK(histo_hist_read_counts(h, HISTO_BINS, &now, 1, NULL));
    assert_true(now == counts[0]);
    histo_hist_destroy(h);
}

static void test_merging(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        const histo_weighting weighting = kinds[k].weighting;
        const histo_storage storage = kinds[k].storage;
        histo_hist *a = make_nearly_full(weighting, storage, 1), *b = make(weighting, storage), *copy;
        const contents before = read_all(a);
        const uint64_t one[ALL] = {[SLOTS + 2] = 1}, masked[BATCH] = {1};
        FULL(histo_hist_merge(a, a));
        check_unchanged(a, &before);
        OK(histo_hist_clone(a, &copy));
        FULL(histo_hist_merge(copy, a));
        check_unchanged(copy, &before);
        histo_hist_destroy(copy);
        OK(histo_hist_write(b, HISTO_FLOW, one, NULL, NULL, ALL, masked));
        FULL(histo_hist_merge(a, b));
        FULL(histo_hist_merge(b, a));
        check_unchanged(a, &before);
        OK(histo_hist_write(b, HISTO_FLOW, one, NULL, NULL, ALL, NULL));
        OK(histo_hist_merge(a, b));
        FULL(histo_hist_merge(a, b));
        histo_hist_destroy(a);
        histo_hist_destroy(b);
    }
}

static void test_adding_entries(void **state)
{
    (void)state;
    const int64_t index[] = {1, SLOTS + 2};
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        histo_hist *h = make_nearly_full(HISTO_UNWEIGHTED, (histo_storage)storage, 5);
        const contents before = read_all(h);
        FULL(histo_hist_add_occupied(h, HISTO_FLOW, index, (uint64_t[]){3, 3}, 2));
        FULL(histo_hist_add_occupied(h, HISTO_FLOW, index, (uint64_t[]){UINT64_MAX, 1}, 2));
        FULL(histo_hist_add_masked(h, (uint64_t[]){0, 6}, BATCH));
        FULL(histo_hist_add_masked(h, (uint64_t[]){UINT64_MAX, UINT64_MAX}, BATCH));
        check_unchanged(h, &before);
        OK(histo_hist_add_occupied(h, HISTO_FLOW, index, (uint64_t[]){1, 2}, 2));
        OK(histo_hist_add_masked(h, (uint64_t[]){1, 1}, BATCH));
        FULL(histo_hist_add_masked(h, (uint64_t[]){0, 1}, BATCH));
        histo_hist_destroy(h);
    }
}

static void test_writing(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        histo_hist *h = make_nearly_full(kinds[k].weighting, kinds[k].storage, 0);
        const contents before = read_all(h);
        const uint64_t counts[ALL] = {UINT64_MAX, [ALL - 1] = 1}, full[ALL] = {[3] = UINT64_MAX};
        FULL(histo_hist_write(h, HISTO_FLOW, counts, NULL, NULL, ALL, NULL));
        FULL(histo_hist_write(h, HISTO_FLOW, full, NULL, NULL, ALL, (uint64_t[]){0, 1}));
        FULL(histo_hist_write(h, HISTO_FLOW, (uint64_t[ALL]){0}, NULL, NULL, ALL, (uint64_t[]){UINT64_MAX, 1}));
        check_unchanged(h, &before);
        OK(histo_hist_write(h, HISTO_FLOW, full, NULL, NULL, ALL, NULL));
        histo_hist_destroy(h);
    }
}

static void test_putting(void **state)
{
    (void)state;
    const double sums[4] = {1, 2, 3, 4};
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].storage == HISTO_SPARSE) continue;
        histo_hist *h = make_nearly_full(kinds[k].weighting, HISTO_DENSE, 2);
        const contents before = read_all(h);
        const double *const w = kinds[k].weighting ? sums : NULL;
        const double *const w2 =
            kinds[k].weighting == HISTO_WEIGHT_FAST || kinds[k].weighting == HISTO_WEIGHT_REPRODUCIBLE ? sums : NULL;
        FULL(histo_hist_put(h, 2, (int64_t[]){0, 3}, (uint64_t[]){1, 2}, w, w2));
        FULL(histo_hist_put(h, 1, (int64_t[]){0}, (uint64_t[]){UINT64_MAX}, w, w2));
        /* An entry that is set twice is its last count, and is put back to its first. */
        FULL(histo_hist_put(h, 3, (int64_t[]){0, 0, 0}, (uint64_t[]){7, 1, 3}, w, w2));
        check_unchanged(h, &before);
        OK(histo_hist_put(h, 3, (int64_t[]){0, 0, 0}, (uint64_t[]){7, 9, 2}, w, w2));
        FULL(histo_hist_put(h, 1, (int64_t[]){3}, (uint64_t[]){1}, w, w2));
        OK(histo_hist_put(h, 2, (int64_t[]){1, 3}, (uint64_t[]){0, UINT64_C(1) << 62}, w, w2));
        histo_hist_destroy(h);
    }
}

static void test_words(void **state)
{
    (void)state;
    const histo_word_layout none = {{0}};
    const uint64_t zeros[ALL + BATCH] = {0};
    uint64_t words[ALL + BATCH], *borrowed;
    histo_hist *h = make_nearly_full(HISTO_UNWEIGHTED, HISTO_DENSE, 3);
    const contents before = read_all(h);
    FULL(histo_hist_add_words(h, &none, 2, 2, (uint64_t[]){2, 2}));
    FULL(histo_hist_add_words(h, &none, ALL - 1, 2, (uint64_t[]){UINT64_MAX, UINT64_MAX}));
    FULL(histo_hist_add_words(h, &none, ALL, 1, (uint64_t[]){4}));
    FULL(histo_hist_write_words(h, &none, 0, 1, (uint64_t[]){4}));
    FULL(histo_hist_write_words(h, &none, ALL - 1, 2, (uint64_t[]){3, 10}));
    FULL(histo_hist_write_words(h, &none, 0, 2, (uint64_t[]){UINT64_MAX, UINT64_MAX}));
    check_unchanged(h, &before);
    OK(histo_hist_add_words(h, &none, 2, 1, (uint64_t[]){3}));
    OK(histo_hist_write_words(h, &none, 2, 1, (uint64_t[]){0}));
    OK(histo_hist_write_words(h, &none, 1, 3, (uint64_t[]){0, before.counts[1], 7}));
    FULL(histo_hist_write_words(h, &none, 4, 1, (uint64_t[]){2}));
    OK(histo_hist_read_words(h, &none, 0, ALL + BATCH, words));
    OK(histo_hist_write_words(h, &none, 0, ALL + BATCH, words));
    /* Changed in place, counts may be anything; then nothing is added to them, and they can be put right. */
    OK(histo_hist_borrow_words(h, &none, 0, ALL, &borrowed));
    borrowed[0] = UINT64_MAX;
    FULL(histo_hist_add_masked(h, (uint64_t[]){0, 1}, BATCH));
    OK(histo_hist_write_words(h, &none, 0, ALL + BATCH, zeros));
    OK(histo_hist_borrow_words(h, &none, 0, ALL, &borrowed));
    borrowed[0] = UINT64_MAX;
    OK(histo_hist_write_words(h, &none, 0, 1, (uint64_t[]){UINT64_MAX - 1}));
    OK(histo_hist_add_masked(h, (uint64_t[]){0, 1}, BATCH));
    FULL(histo_hist_add_masked(h, (uint64_t[]){0, 1}, BATCH));
    histo_hist_destroy(h);
}

static void test_copies(void **state)
{
    (void)state;
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        const histo_axis axes[] = {histo_axis_integer(0, 4), histo_axis_integer(0, 4)};
        uint64_t counts[16] = {[1] = UINT64_MAX / 2, [6] = UINT64_MAX / 2, [7] = 1};
        histo_hist *h, *copy[4];
        OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.storage = (histo_storage)storage}));
        OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, 16, NULL));
        OK(histo_hist_project(h, 1, (int[]){0}, &copy[0]));
        OK(histo_hist_rebin(h, 0, 4, &copy[1]));
        OK(histo_hist_slice(h, 1, 0, 1, &copy[2]));
        OK(histo_hist_clone(h, &copy[3]));
        for (int i = 0; i < 4; i++) {
            histo_tally t;
            OK(histo_hist_tally(copy[i], &t));
            assert_true(t.samples == UINT64_MAX);
            FULL(histo_hist_add_masked(copy[i], (uint64_t[]){1}, 1));
            histo_hist_destroy(copy[i]);
        }
        histo_hist_destroy(h);
    }
}

static void test_loading(void **state)
{
    (void)state;
    const char *const halves[] = {"[9223372036854775807, 9223372036854775807, 0, 0, 1]",
                                  "[9223372036854775807, 9223372036854775807, 0, 1, 1]"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        histo_hist *h = NULL;
        snprintf(text, sizeof text,
                 "{\"uhi_schema\": 1, \"axes\": [{\"type\": \"regular\", \"lower\": 0, \"upper\": 3, \"bins\": 3, "
                 "\"underflow\": true, \"overflow\": true, \"circular\": false}], "
                 "\"storage\": {\"type\": \"int\", \"values\": %s}}",
                 halves[i]);
        if (i == 0) {
            OK(histo_hist_load(text, strlen(text), NULL, &h));
            histo_hist_destroy(h);
        } else {
            REFUSED(HISTO_CORRUPT, "2^64", histo_hist_load(text, strlen(text), NULL, &h));
            assert_null(h);
        }
    }
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++)
        for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
            void *data;
            size_t size;
            histo_hist *h = make_nearly_full(HISTO_UNWEIGHTED, (histo_storage)storage, 0), *loaded;
            OK(histo_hist_save(h, (histo_format)format, NULL, &data, &size));
            OK(histo_hist_load(data, size, NULL, &loaded));
            const contents c = read_all(h);
            check_unchanged(loaded, &c);
            FULL(histo_hist_add_masked(loaded, (uint64_t[]){0, 1}, BATCH));
            histo_free(data);
            histo_hist_destroy(h);
            histo_hist_destroy(loaded);
        }
    /* A binary file of counts that were changed in place. */
    void *data;
    size_t size;
    uint64_t *words;
    histo_hist *h = make(HISTO_UNWEIGHTED, HISTO_DENSE), *loaded = NULL;
    OK(histo_hist_borrow_words(h, &(histo_word_layout){{0}}, 0, ALL, &words));
    words[0] = words[1] = UINT64_MAX;
    OK(histo_hist_save(h, HISTO_BINARY, NULL, &data, &size));
    REFUSED(HISTO_CORRUPT, "2^64", histo_hist_load(data, size, NULL, &loaded));
    assert_null(loaded);
    histo_free(data);
    histo_hist_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_the_largest_total),
        cmocka_unit_test(test_fills),
        cmocka_unit_test(test_every_strategy),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_adding_entries),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_putting),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
