/* Random problems are the same on every machine, and their lines reproduce them. A run of them is exact, and notices a
 * wrong count, flow or sum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/random_check.h"
#include "bench/random_run.h"
#include "check.h"

enum { MOST = 1 << 16 };

static void drawn_again(void **state)
{
    (void)state;
    char line[PROBLEM_LINE_BYTES], again[PROBLEM_LINE_BYTES];
    for (int64_t i = 0; i < 500; i++) {
        random_problem p = problem_draw(7, i, MOST, true), same = problem_draw(7, i, MOST, true);
        random_problem other = problem_draw(8, i, MOST, true);
        assert_string_equal(problem_print(&p, line), problem_print(&same, again));
        assert_string_not_equal(line, problem_print(&other, again));
    }
}

/* Nothing but integers, exact products and sums decides, so these lines are the same everywhere. */
static void drawn_everywhere(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "n=216462 type=f32 axes=3 axis=regular bins=52 lo=0 hi=1000 closed=yes dist=distinct:634 "
        "by=value flow=0.0205078125 on=pageable seed=535114",
        "n=1131 type=i32 axis=sqrt bins=3554 lo=1 hi=1e+06 dist=spread:7 flow=0.8125 on=device "
        "seed=738903",
        "n=2464 type=u16 axis=variable bins=1024 lo=2467 hi=20588 edges=quadratic "
        "dist=normal:0.0009765625 layout=channels channels=3 on=pinned seed=482974",
        "n=20480 type=u8 axis=regular bins=1 lo=0 hi=256 dist=edges by=value layout=channels batch=2 "
        "height=20 channels=3 alike=yes on=device seed=506506",
        "n=1701084 type=f32 axis=regular bins=12545 lo=0.25099170063259635 hi=6.934585450632596 "
        "dist=normal:0.189453125 layout=region height=60753 pitch=42 where=f32:0.1875 on=device "
        "seed=76106",
        "n=7616 type=u32 axis=regular bins=20 lo=0 hi=1625292801 dist=mixture:0.28125 by=value "
        "layout=channel height=34 channels=3 on=device seed=457591",
    };
    char line[PROBLEM_LINE_BYTES];
    for (int64_t i = 0; i < (int64_t)(sizeof lines / sizeof *lines); i++) {
        random_problem p = problem_draw(1, i, INT64_C(1) << 28, true);
        assert_string_equal(problem_print(&p, line), lines[i]);
    }
}

static void lines_read_back(void **state)
{
    (void)state;
    char line[PROBLEM_LINE_BYTES], again[PROBLEM_LINE_BYTES];
    for (int64_t i = 0; i < 5000; i++) {
        random_problem p = problem_draw(3, i, INT64_C(1) << 30, i % 2), read;
        problem_print(&p, line);
        if (problem_parse(line, &read) != HISTO_OK) fail_msg("%s: %s", line, histo_last_error());
        assert_string_equal(problem_print(&read, again), line);
    }
}

/* The whole space is drawn: each value of each name. */
static void everything_is_drawn(void **state)
{
    (void)state;
    static const char *const filters[] = {"type=u8",
                                          "type=bf16",
                                          "axis=integer",
                                          "axis=power",
                                          "edges=unequal",
                                          "closed=yes",
                                          "storage=sparse",
                                          "dist=edges",
                                          "dist=scattered",
                                          "dist=mixture",
                                          "dist=saw",
                                          "by=value",
                                          "flow=0.5..",
                                          "nan=0.1..",
                                          "layout=strided,stride=..-1",
                                          "layout=table",
                                          "layout=region",
                                          "layout=flipped",
                                          "layout=segments",
                                          "layout=columns",
                                          "layout=channels,channels=5..8",
                                          "layout=images,batch=100000..",
                                          "axes=8",
                                          "weighting=fast",
                                          "weighting=reproducible-sum",
                                          "weights=f32",
                                          "mask=u8",
                                          "where=f64",
                                          "alike=yes",
                                          "on=pinned",
                                          "on=pageable",
                                          "n=..2^10",
                                          "n=2^29..",
                                          "bins=2^23..",
                                          "offset=1..",
                                          "pitch=1.."};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        int found = 0;
        OK(problem_filter_check(filters[f]));
        for (int64_t i = 0; i < 4000; i++) {
            random_problem p = problem_draw(5, i, INT64_C(1) << 30, true);
            found += problem_matches(&p, filters[f]);
        }
        if (!found) fail_msg("no problem has %s", filters[f]);
        if (found == 4000) fail_msg("every problem has %s", filters[f]);
    }
}

static void bad_lines(void **state)
{
    (void)state;
    random_problem p;
    static const char good[] = "n=1000 type=f32 axis=regular bins=10 lo=0 hi=1";
    char line[200];
    OK(problem_parse(good, &p));
    assert_int_equal(p.samples, 1000);
    REFUSED(HISTO_INVALID, "has no n=", problem_parse("", &p));
    REFUSED(HISTO_INVALID, "has no 'size'", problem_parse("size=1", &p));
    static const struct {
        const char *added, *words;
    } bad[] = {{"n=2", "n twice"},
               {"dist=gauss", "dist=gauss is no value of a random problem: it takes names: uniform, one"},
               {"dist=zipf:x", "needs a number behind the colon"},
               {"flow=1.5", "needs a fraction from 0 to 1"},
               {"layout=images batch=7", "n=1000 of a random problem must be a multiple of batch times height"},
               {"batch=2", "layout=array of a random problem has batch=1"},
               {"layout=region height=10 pitch=99", "pitch=99 of a random problem is less than a row of 100"},
               {"layout=channels channels=2 batch=4", "is more than its channels=2"},
               {"layout=strided stride=0", "would read one sample again and again"},
               {"layout=strided stride=1.5", "must be a whole number"},
               {"axes=3 power=1,2", "has 2 values for the axes, of which there are 3"},
               {"axes=9", "must be a whole number from 1 to 8"},
               {"seed=-1", "must be a whole number"},
               {"mask=u8", "mask=u8 is no value"},
               {"where=u8:0.5:3", "where=u8:0.5:3 is no value"},
               {"storage=sparse weighting=fast", "exclude each other"},
               {"closed", "has no 'closed'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "%s %s", good, bad[i].added);
        REFUSED(HISTO_INVALID, bad[i].words, problem_parse(line, &p));
    }
    REFUSED(HISTO_INVALID, "bins=0 is no value", problem_parse("n=1 type=u8 axis=integer bins=0 lo=0", &p));
    REFUSED(HISTO_INVALID, "lo=nan is no value", problem_parse("n=1 type=u8 axis=integer bins=1 lo=nan", &p));
    REFUSED(HISTO_INVALID, "type=u9 is no value", problem_filter_check("type=u9"));
    REFUSED(HISTO_INVALID, "has no 'color'", problem_filter_check("color=red"));
    REFUSED(HISTO_INVALID, "n=a..b is no value", problem_filter_check("n=a..b"));
}

static void filters(void **state)
{
    (void)state;
    random_problem p;
    OK(problem_parse("n=2048 type=u8,f32 axes=2 axis=regular bins=10,20 lo=0 hi=1 dist=zipf:1.5", &p));
    assert_true(problem_matches(&p, "type=f32"));
    assert_true(problem_matches(&p, "type=u16|u8,n=2^11..2^12,bins=20.."));
    assert_true(problem_matches(&p, "dist=zipf,mask=none,batch=1"));
    assert_false(problem_matches(&p, "type=u16"));
    assert_false(problem_matches(&p, "type=f32,n=..2^10"));
    assert_false(problem_matches(&p, "bins=15"));
    assert_false(problem_matches(&p, "mask=u8"));
}

/* ---- Running ---- */

/* What fills get wrong: one sample counted twice. The linker's --wrap redirects the library's function here. */
static bool cheat;
histo_status __real_histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                    const histo_fill_options *options);
histo_status __wrap_histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                    const histo_fill_options *options);
histo_status __wrap_histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                    const histo_fill_options *options)
{
    if (cheat && strcmp(histo_plan_strategy(plan), "cpu/privatized") == 0) {
        histo_view first = histo_view_1d(views->data, views->dtype, 1);
        OK(__real_histo_plan_fill(plan, hist, &first, options));
    }
    return __real_histo_plan_fill(plan, hist, views, options);
}

/* The table; the caller frees it and the result. */
static char *run(const char *line, const char *only, int64_t count, random_result *result)
{
    char *table = NULL, *json = NULL;
    size_t table_size, json_size;
    FILE *to = open_memstream(&table, &table_size), *json_to = open_memstream(&json, &json_size);
    OK(bench_random(&(bench_random_options){.device = HISTO_DEVICE_CPU,
                                            .seed = 4,
                                            .count = count,
                                            .only = only,
                                            .line = line,
                                            .samples = 20000,
                                            .repeat = 2,
                                            .threads = 2,
                                            .table = to,
                                            .json = json_to,
                                            .command_line = "a test"},
                    result));
    fclose(to);
    fclose(json_to);
    free(json);
    return table;
}

static void all_are_exact(void **state)
{
    (void)state;
    random_result result;
    char *table = run(NULL, NULL, 150, &result);
    if (result.wrong) fail_msg("%s", table);
    assert_int_equal(result.count, 150);
    assert_non_null(strstr(table, "all counts exact"));
    for (int i = 0; i < result.count; i++) {
        const random_verdict *v = &result.verdict[i];
        assert_int_equal(v->class, RANDOM_CPU);
        if (v->outcome != RANDOM_EXACT) continue;
        assert_true(v->us > 0 && v->bound_us > 0 && v->best_us > 0 && v->best_us <= v->us);
    }
    random_result_free(&result);
    free(table);
}

static void wrong_counts_are_noticed(void **state)
{
    (void)state;
    static const char line[] = "n=3000 type=f32 axis=regular bins=10 lo=0 hi=1 seed=1";
    random_result result;
    cheat = true;
    char *table = run(line, NULL, 1, &result);
    cheat = false;
    assert_int_equal(result.wrong, 1);
    assert_int_equal(result.verdict[0].outcome, RANDOM_WRONG);
    assert_non_null(strstr(table, "WRONG: cpu/privatized: slot "));
    assert_non_null(strstr(table, line));
    assert_non_null(strstr(table, "1 FAILED or counted WRONG\n"));
    random_result_free(&result);
    free(table);
}

/* Change one thing in a right histogram: the comparison says which. */
static void comparisons(void **state)
{
    (void)state;
    static const char line[] =
        "n=600 type=f32 axis=regular bins=10 lo=0 hi=1 flow=0.5 nan=0.25 layout=images batch=3 weighting=fast "
        "weights=f32 mask=u8:0.5 seed=2";
    random_problem p;
    problem_data data;
    problem_counts counts;
    problem_fill fill;
    histo_hist *h;
    char wrong[300];
    OK(problem_parse(line, &p));
    OK(problem_data_make(&p, 2, &data));
    OK(problem_counts_make(&data, 2, &counts));
    problem_fill_make(&data, false, &fill);
    OK(histo_hist_create(&h, 1, data.axes, &(histo_hist_options){.batch = 3, .weighting = HISTO_WEIGHT_FAST}));
    OK(histo_hist_fill(h, fill.samples, &fill.options));
    OK(problem_counts_compare(&data, &counts, h, 1, wrong, sizeof wrong));
    assert_string_equal(wrong, "");
    OK(problem_counts_compare(&data, &counts, h, 2, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, " samples instead of "));
    counts.counts[13 + 4]++;
    OK(problem_counts_compare(&data, &counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "slot 4 of histogram 1 has "));
    counts.counts[13 + 4]--;
    counts.masked[2]++;
    OK(problem_counts_compare(&data, &counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "histogram 2 has "));
    counts.masked[2]--;
    counts.tally.nan[0]++;
    OK(problem_counts_compare(&data, &counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "the tally has 600 samples, "));
    counts.tally.nan[0]--;
    counts.sums[5].w2 *= 2;
    OK(problem_counts_compare(&data, &counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "slot 5 of histogram 0 has a sum of squares "));
    histo_hist_destroy(h);
    problem_counts_free(&counts);
    problem_data_free(&data);
}

/* By hand: the edges of a row of pixels, NaN and both sides of the range. */
static void counted_by_the_edges(void **state)
{
    (void)state;
    random_problem p;
    problem_data data;
    problem_counts counts;
    OK(problem_parse("n=8 type=f64 axis=regular bins=4 lo=0 hi=1 closed=yes layout=strided stride=-1", &p));
    OK(problem_data_make(&p, 1, &data));
    static const double samples[] = {0, 0.25, 0.2499999, 1, 1.0000001, -1e-300, NAN, 0.75};
    static const uint64_t right[] = {1, 2, 1, 0, 2, 1, 1};
    memcpy(data.arrays[0].host, samples, sizeof samples);
    OK(problem_counts_make(&data, 1, &counts));
    assert_memory_equal(counts.counts, right, sizeof right);
    assert_int_equal(counts.occupied, 6);
    assert_int_equal(counts.sectors, 2);
    problem_counts_free(&counts);
    problem_data_free(&data);
    OK(problem_parse("n=4 type=i64 axis=variable bins=1 lo=-4611686018427387904 hi=9007199254740992", &p));
    OK(problem_data_make(&p, 1, &data));
    static const int64_t integers[] = {9007199254740991, 9007199254740992, 9007199254740993, -4611686018427387905};
    memcpy(data.arrays[0].host, integers, sizeof integers);
    OK(problem_counts_make(&data, 1, &counts));
    assert_memory_equal(counts.counts, ((uint64_t[]){1, 1, 2, 0}), 4 * sizeof(uint64_t));
    problem_counts_free(&counts);
    problem_data_free(&data);
}

static void refusals(void **state)
{
    (void)state;
    random_result result;
    bench_random_options options = {.device = HISTO_DEVICE_CPU, .table = stdout, .only = "type=u9"};
    REFUSED(HISTO_INVALID, "type=u9 is no value", bench_random(&options, &result));
    options.only = NULL;
    options.line = "n=1 type=u8 axis=integer bins=1 lo=0 on=device";
    REFUSED(HISTO_INVALID, "on=, which is for a GPU", bench_random(&options, &result));
    options.line = NULL;
    options.device = HISTO_DEVICE_CUDA(77);
    REFUSED(HISTO_UNSUPPORTED, "nothing can be measured on GPU 77", bench_random(&options, &result));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_again),     cmocka_unit_test(drawn_everywhere),
        cmocka_unit_test(lines_read_back), cmocka_unit_test(everything_is_drawn),
        cmocka_unit_test(bad_lines),       cmocka_unit_test(filters),
        cmocka_unit_test(all_are_exact),   cmocka_unit_test(wrong_counts_are_noticed),
        cmocka_unit_test(comparisons),     cmocka_unit_test(counted_by_the_edges),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
