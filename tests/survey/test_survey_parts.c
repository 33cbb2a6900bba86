/* Surveys in parts find the axis of all samples, whatever the parts, their order and their sizes; what is no part of
 * the same survey is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { PARTS = 4 };

static size_t size_of(histo_dtype dtype)
{
    return histo_dtype_size(dtype);
}

/* Every part merges all, or one merges and the others are replaced by it. */
static void join(histo_survey **parts, bool through_one)
{
    void *saved[PARTS], *sum;
    size_t sizes[PARTS], size;
    for (int p = 0; p < PARTS; p++)
        OK(histo_survey_save(parts[p], &saved[p], &sizes[p]));
    if (through_one) {
        for (int p = 1; p < PARTS; p++)
            OK(histo_survey_merge(parts[0], saved[p], sizes[p]));
        OK(histo_survey_save(parts[0], &sum, &size));
        for (int p = 1; p < PARTS; p++)
            OK(histo_survey_replace(parts[p], sum, size));
        histo_free(sum);
    } else {
        for (int p = 0; p < PARTS; p++)
            for (int other = 0; other < PARTS; other++)
                if (other != p) OK(histo_survey_merge(parts[p], saved[other], sizes[other]));
    }
    for (int p = 0; p < PARTS; p++)
        histo_free(saved[p]);
}

static void same_axis(const histo_axis *a, const histo_axis *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->bins, b->bins);
    assert_memory_equal(&a->lo, &b->lo, sizeof a->lo);
    assert_memory_equal(&a->hi, &b->hi, sizeof a->hi);
}

/* All parts find the axis, or all say the same. */
static void check_parts(histo_dtype dtype, const void *data, const int64_t *ends, histo_survey_options options,
                        bool through_one)
{
    histo_survey *parts[PARTS];
    histo_axis whole, axis;
    const histo_view all = histo_view_1d(data, dtype, ends[PARTS - 1]);
    const histo_status status = histo_axis_from_data(&all, NULL, &options, &whole);
    char said[512];
    snprintf(said, sizeof said, "%s", histo_last_error());
    options.in_parts = true;
    bool more = true;
    for (int p = 0; p < PARTS; p++)
        OK(histo_survey_create(&parts[p], dtype, &options));
    while (more) {
        for (int p = 0; p < PARTS; p++) {
            const bool next = survey_next_pass(parts[p]);
            assert_true(p == 0 || next == more);
            more = next;
        }
        int64_t begin = 0;
        for (int p = 0; p < PARTS && more; begin = ends[p++]) {
            const histo_view part =
                histo_view_1d((const char *)data + (size_t)begin * size_of(dtype), dtype, ends[p] - begin);
            OK(histo_survey_add(parts[p], &part, NULL));
        }
        if (more) join(parts, through_one);
    }
    for (int p = 0; p < PARTS; p++) {
        assert_int_equal(histo_survey_axis(parts[p], &axis), status);
        if (status == HISTO_OK)
            same_axis(&axis, &whole);
        else
            assert_string_equal(histo_last_error(), said);
        histo_survey_destroy(parts[p]);
    }
}

static void parts_find_the_axis_of_all(void **state)
{
    (void)state;
    static const histo_dtype dtypes[] = {HISTO_U8, HISTO_I16, HISTO_U32, HISTO_I64, HISTO_F16, HISTO_F32, HISTO_F64};
    static const distribution distributions[] = {UNIFORM, DEGENERATE, GAUSSIAN, ZIPF, SORTED, SPECIAL};
    static const histo_survey_options options[] = {
        {.bins = 7},
        {.width = 0.5},
        {.rule = HISTO_RULE_AUTO},
        {.rule = HISTO_RULE_FD},
        {.rule = HISTO_RULE_STURGES},
        {.rule = HISTO_RULE_STONE},
        {.range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = 99, .bins = 5},
        {.range = HISTO_RANGE_PERCENTILE, .lo = 0, .hi = 50, .rule = HISTO_RULE_FD},
        {.range = HISTO_RANGE_FIXED, .lo = -1, .hi = 50, .rule = HISTO_RULE_AUTO},
        {.range = HISTO_RANGE_FIXED, .lo = -INFINITY, .hi = INFINITY, .rule = HISTO_RULE_AUTO},
        {.range = HISTO_RANGE_FROM_PERCENTILE, .lo = 10, .hi = 1e20, .bins = 4},
        {.range = HISTO_RANGE_TO_PERCENTILE, .lo = -1e20, .hi = 90, .bins = 4}};
    rng r = {.state = 21};
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
        for (size_t d = 0; d < sizeof distributions / sizeof *distributions; d++) {
            const bool large = (t + d) % 3 == 0; /* more than parts keep */
            const int64_t n = large ? 60000 : 2000, some = rng_below(&r, n);
            histo_axis axis;
            assert_true(test_axis(0, dtypes[t], &axis));
            void *data = make_samples(&r, dtypes[t], distributions[d], &axis, n);
            const int64_t ends[3][PARTS] = {{n / 4, n / 2, 3 * n / 4, n}, {0, n, n, n}, {some, some, n, n}};
            for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
                if (large && options[o].rule == HISTO_RULE_STONE) continue;
                check_parts(dtypes[t], data, ends[(o + d) % 3], options[o], (o + t) % 2);
            }
            free(data);
        }
}

/* Many samples, of which no part keeps all and a set needs a second digit. */
static void large_parts(void **state)
{
    (void)state;
    rng r = {.state = 22};
    const int64_t n = 5 << 20;
    const histo_axis axis = histo_axis_regular(10, 1, 1.25);
    const int64_t ends[PARTS] = {n / 2, n / 2 + 100, n / 2 + 10000, n};
    void *data = make_samples(&r, HISTO_F32, UNIFORM, &axis, n);
    check_parts(HISTO_F32, data, ends, (histo_survey_options){.rule = HISTO_RULE_AUTO}, true);
    free(data);
}

static void others_are_refused(void **state)
{
    (void)state;
    const histo_survey_options options = {.rule = HISTO_RULE_AUTO, .in_parts = true}, whole = {.rule = HISTO_RULE_AUTO},
                               fd = {.rule = HISTO_RULE_FD, .in_parts = true};
    histo_survey *a, *b, *alone, *f32, *other;
    float values[100] = {1, 2, 3};
    const histo_view v = histo_view_1d(values, HISTO_F32, 100);
    void *data;
    size_t size;
    OK(histo_survey_create(&a, HISTO_F64, &options));
    OK(histo_survey_create(&b, HISTO_F64, &options));
    OK(histo_survey_create(&f32, HISTO_F32, &options));
    OK(histo_survey_create(&other, HISTO_F32, &fd));
    OK(histo_survey_create(&alone, HISTO_F64, &whole));
    REFUSED(HISTO_INVALID, "not in a pass", histo_survey_save(a, &data, &size));
    survey_next_pass(a);
    survey_next_pass(b);
    survey_next_pass(f32);
    survey_next_pass(other);
    survey_next_pass(alone);
    REFUSED(HISTO_INVALID, "in_parts", histo_survey_save(alone, &data, &size));
    REFUSED(HISTO_INVALID, "NULL", histo_survey_save(NULL, &data, &size));
    OK(histo_survey_add(f32, &v, NULL));
    OK(histo_survey_save(f32, &data, &size));
    REFUSED(HISTO_INVALID, "other samples", histo_survey_merge(a, data, size));
    REFUSED(HISTO_INVALID, "other samples", histo_survey_replace(other, data, size));
    REFUSED(HISTO_INVALID, "NULL", histo_survey_merge(f32, NULL, 8));
    /* Nothing of damaged data is merged, and nothing is read behind it. */
    unsigned char *copy = malloc(size);
    for (size_t length = 0; length < size; length += length < 400 ? 1 : 97) {
        unsigned char *exact = malloc(length ? length : 1);
        memcpy(exact, data, length);
        assert_int_equal(histo_survey_merge(f32, exact, length), HISTO_CORRUPT);
        free(exact);
    }
    for (size_t at = 0; at < size; at++) {
        memcpy(copy, data, size);
        copy[at] ^= 0x40;
        assert_int_equal(histo_survey_merge(f32, copy, size), HISTO_CORRUPT);
    }
    void *same;
    size_t same_size;
    OK(histo_survey_save(f32, &same, &same_size));
    assert_int_equal(size, same_size);
    assert_memory_equal(same, data, size);
    /* In the next pass it is of another. */
    OK(histo_survey_merge(f32, data, size));
    while (survey_next_pass(f32))
        assert_int_not_equal(histo_survey_merge(f32, data, size), HISTO_OK);
    free(copy);
    histo_free(data);
    histo_free(same);
    histo_survey_destroy(a);
    histo_survey_destroy(b);
    histo_survey_destroy(f32);
    histo_survey_destroy(other);
    histo_survey_destroy(alone);
}

/* A survey that merges what it has found doubles its samples, until they would be 2^64. */
static void samples_do_not_wrap(void **state)
{
    (void)state;
    const float samples[] = {1, 2, 3, 4, 5, NAN};
    const uint8_t mask[] = {1, 1, 1, 1, 1, 1};
    const histo_view view = histo_view_1d(samples, HISTO_F32, 6), kept = histo_view_1d(mask, HISTO_U8, 6);
    const histo_survey_options kinds[] = {
        {.bins = 4}, {.rule = HISTO_RULE_FD}, {.rule = HISTO_RULE_SCOTT}, {.range = HISTO_RANGE_PERCENTILE, .hi = 50}};
    for (int k = 0; k < 4; k++) {
        histo_survey_options options = kinds[k];
        histo_survey *survey;
        void *data, *before;
        size_t size, size_before;
        histo_status status = HISTO_OK;
        int merges = 0;
        options.in_parts = true;
        if (options.range == HISTO_RANGE_PERCENTILE) options.bins = 4;
        OK(histo_survey_create(&survey, HISTO_F32, &options));
        assert_true(survey_next_pass(survey));
        OK(histo_survey_add(survey, &view, &(histo_fill_options){.mask = &kept}));
        for (; status == HISTO_OK && merges < 100; merges++) {
            OK(histo_survey_save(survey, &data, &size));
            status = histo_survey_merge(survey, data, size);
            if (status == HISTO_OK) histo_free(data);
        }
        assert_int_equal(status, HISTO_INVALID);
        assert_non_null(strstr(histo_last_error(), "2^64"));
        assert_in_range(merges, 61, 63); /* 6 * 2^61 is less */
        before = data;
        size_before = size;
        OK(histo_survey_save(survey, &data, &size));
        assert_true(size == size_before && memcmp(data, before, size) == 0);
        OK(histo_survey_replace(survey, data, size));
        histo_free(before);
        histo_free(data);
        histo_survey_destroy(survey);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_find_the_axis_of_all),
        cmocka_unit_test(large_parts),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(samples_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
