/* Random problems are the same on every machine, and their lines reproduce them. A run of them is exact, and notices a
 * wrong count, flow or sum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/random/random.h"
#include "bench/random/random_data.h"
#include "support/cheat.h"
#include "support/check.h"

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
        "n=641 type=f32 axis=variable bins=83011 lo=-4 hi=4 dist=normal:0.0029296875 by=value nan=0.375 layout=strided "
        "stride=-14 offset=248 on=pageable seed=535114",
        "n=1131 type=i32 axis=variable bins=512 lo=58555983 hi=719942932 edges=gaps flow=0.8125 on=device seed=738903",
        "n=5793180 type=u16 axis=variable bins=953 lo=0 hi=65536 edges=gaps by=value flow=0.875 alike=yes on=pinned "
        "seed=482974",
        "n=586 type=u8 axis=regular bins=4 lo=0 hi=256 dist=edges flow=0.0341796875 layout=segments batch=12 on=device "
        "seed=506506",
        "n=5972 type=i32,f64 axes=2 axis=regular bins=64,100 lo=-2147483648,0 hi=2147483648,1 dist=normal:0.009765625 "
        "weighting=fast-sum on=device seed=76106",
        "n=268435456 type=f32 axes=2 axis=regular bins=3 lo=0 hi=100 dist=sorted by=value layout=table channels=4 "
        "where=u32:0.3125 on=device seed=457591",
    };
    char line[PROBLEM_LINE_BYTES];
    for (int64_t i = 0; i < (int64_t)(sizeof lines / sizeof *lines); i++) {
        random_problem p = problem_draw(1, i, INT64_C(1) << 30, true);
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
                                          "edges=floats",
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
    enum { DRAWN = 20000 };
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        int found = 0;
        OK(problem_filter_check(filters[f]));
        for (int64_t i = 0; i < DRAWN; i++) {
            random_problem p = problem_draw(5, i, INT64_C(1) << 30, true);
            found += problem_matches(&p, filters[f]);
        }
        if (!found) fail_msg("no problem has %s", filters[f]);
        if (found == DRAWN) fail_msg("every problem has %s", filters[f]);
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
    REFUSED(HISTO_INVALID, "type=u9 is not a value", problem_parse("n=1000 type=u9", &p));
    REFUSED(HISTO_INVALID, "has no axis=", problem_parse("n=1000 type=u8", &p));
    static const struct {
        const char *added, *words;
    } bad[] = {{"n=2", "n twice"},
               {"dist=gauss", "dist=gauss is not a value of a random problem: it takes names: uniform, one"},
               {"dist=zipf:x", "needs a number behind the colon"},
               {"flow=1.5", "it takes fractions from 0 to 1"},
               {"layout=images batch=7", "n=1000 of a random problem must be a multiple of batch times height"},
               {"batch=2", "layout=array of a random problem has batch=1"},
               {"layout=region height=10 pitch=99", "pitch=99 of a random problem is less than a row of 100"},
               {"layout=channels channels=2 batch=4", "is more than its channels=2"},
               {"layout=strided stride=0", "would read one sample again and again"},
               {"layout=strided stride=1.5", "it takes whole numbers"},
               {"axes=3 power=1,2", "has 2 values for the axes, of which there are 3"},
               {"axes=9", "it takes whole numbers from 1 to 8"},
               {"seed=-1", "it takes whole numbers"},
               {"mask=u8", "mask=u8 is not a value"},
               {"where=u8:0.5:3", "where=u8:0.5:3 is not a value"},
               {"storage=sparse weighting=fast", "exclude each other"},
               {"closed", "has no 'closed'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "%s %s", good, bad[i].added);
        REFUSED(HISTO_INVALID, bad[i].words, problem_parse(line, &p));
    }
    REFUSED(HISTO_INVALID, "bins=0 is not a value", problem_parse("n=1 type=u8 axis=integer bins=0 lo=0", &p));
    REFUSED(HISTO_INVALID, "lo=nan is not a value", problem_parse("n=1 type=u8 axis=integer bins=1 lo=nan", &p));
    REFUSED(HISTO_INVALID, "type=u9 is not a value", problem_filter_check("type=u9"));
    REFUSED(HISTO_INVALID, "has no 'color'", problem_filter_check("color=red"));
    REFUSED(HISTO_INVALID, "n=a..b is not a value", problem_filter_check("n=a..b"));
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

/* The table; the caller frees it and the result. */
static char *run(const char *line, const char *only, int64_t count, random_result *result)
{
    char *table = NULL, *json = NULL;
    size_t table_size, json_size;
    FILE *to = open_memstream(&table, &table_size), *json_to = open_memstream(&json, &json_size);
    OK(bench_random(&(bench_random_options){.common.device = HISTO_DEVICE_CPU,
                                            .seed = 4,
                                            .count = count,
                                            .only = only,
                                            .line = line,
                                            .common.samples = 20000,
                                            .common.repeat = 2,
                                            .common.threads = 2,
                                            .common.table = to,
                                            .common.json = &(json_writer){.to = json_to},
                                            .common.command_line = "a test"},
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
    reference_counts counts;
    problem_fill fill;
    histo_hist *h;
    char wrong[300];
    OK(problem_parse(line, &p));
    OK(problem_data_make(&p, 2, NULL, &data));
    OK(problem_counts_make(&data, 2, &counts));
    problem_fill_make(&data, false, &fill);
    OK(histo_hist_create(&h, 1, data.axes, &(histo_hist_options){.batch = 3, .weighting = HISTO_WEIGHT_FAST}));
    OK(histo_hist_fill(h, fill.samples, &fill.options));
    OK(reference_compare(&counts, h, 1, wrong, sizeof wrong));
    assert_string_equal(wrong, "");
    OK(reference_compare(&counts, h, 2, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, " samples instead of "));
    counts.counts[13 + 4]++;
    OK(reference_compare(&counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "slot 4 of histogram 1 has "));
    counts.counts[13 + 4]--;
    counts.masked[2]++;
    OK(reference_compare(&counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "histogram 2 has "));
    counts.masked[2]--;
    counts.tally.nan[0]++;
    OK(reference_compare(&counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "the tally has 600 samples, "));
    counts.tally.nan[0]--;
    counts.sums[5].w2 *= 2;
    OK(reference_compare(&counts, h, 1, wrong, sizeof wrong));
    assert_non_null(strstr(wrong, "slot 5 of histogram 0 has a sum of squares "));
    histo_hist_destroy(h);
    reference_counts_free(&counts);
    problem_data_free(&data);
}

/* By hand: the edges of a row of pixels, NaN and both sides of the range. */
static void counted_by_the_edges(void **state)
{
    (void)state;
    random_problem p;
    problem_data data;
    reference_counts counts;
    OK(problem_parse("n=8 type=f64 axis=regular bins=4 lo=0 hi=1 closed=yes layout=strided stride=-1", &p));
    OK(problem_data_make(&p, 1, NULL, &data));
    static const double samples[] = {0, 0.25, 0.2499999, 1, 1.0000001, -1e-300, NAN, 0.75};
    static const uint64_t right[] = {1, 2, 1, 0, 2, 1, 1};
    memcpy(data.arrays[0].host, samples, sizeof samples);
    OK(problem_counts_make(&data, 1, &counts));
    assert_memory_equal(counts.counts, right, sizeof right);
    assert_int_equal(counts.occupied, 6);
    assert_int_equal(counts.sectors, 2);
    reference_counts_free(&counts);
    problem_data_free(&data);
    OK(problem_parse("n=4 type=i64 axis=variable bins=1 lo=-4611686018427387904 hi=9007199254740992", &p));
    OK(problem_data_make(&p, 1, NULL, &data));
    static const int64_t integers[] = {9007199254740991, 9007199254740992, 9007199254740993, -4611686018427387905};
    memcpy(data.arrays[0].host, integers, sizeof integers);
    OK(problem_counts_make(&data, 1, &counts));
    assert_memory_equal(counts.counts, ((uint64_t[]){1, 1, 2, 0}), 4 * sizeof(uint64_t));
    reference_counts_free(&counts);
    problem_data_free(&data);
}

/* Half of the problems in a GPU's memory are large, a third small. */
static void sizes(void **state)
{
    (void)state;
    enum { DRAWN = 4000 };
    int large = 0, small = 0, transfers = 0;
    for (int64_t i = 0; i < DRAWN; i++) {
        random_problem p = problem_draw(9, i, INT64_C(1) << 30, true);
        transfers += p.place != PROBLEM_DEVICE;
        large += p.place == PROBLEM_DEVICE && p.samples > 1 << 22;
        small += p.place == PROBLEM_DEVICE && p.samples <= 1 << 20;
        assert_in_range(p.samples, 1, INT64_C(1) << 30);
        assert_in_range(problem_samples_shape(&p).stored, 1, INT64_C(3) << 29);
    }
    assert_in_range(large, DRAWN * 42 / 100, DRAWN * 55 / 100);
    assert_in_range(small, DRAWN * 30 / 100, DRAWN * 38 / 100);
    assert_in_range(transfers, DRAWN * 10 / 100, DRAWN * 17 / 100);
}

/* Sectors with samples, counted. */
static double sectors_of(const random_problem *p, const histo_view *view, int columns, int64_t sector)
{
    const int64_t size = (int64_t)histo_dtype_size(view->dtype);
    int64_t lowest = 0, touched = 0;
    for (int d = 0; d < view->ndim; d++)
        if (view->strides[d] < 0) lowest += view->strides[d] * (view->shape[d] - 1);
    uintptr_t base = ((uintptr_t)view->data + (uintptr_t)lowest) / (uintptr_t)sector;
    const int64_t stored = problem_samples_shape(p).stored * 8 / sector + 16;
    char *seen = calloc((size_t)stored, 1);
    for (int64_t i = 0; i < p->samples; i++) {
        uintptr_t at = (uintptr_t)reference_address(view, i), end = at + (uintptr_t)(size * columns) - 1;
        for (uintptr_t s = at / (uintptr_t)sector; s <= end / (uintptr_t)sector; s++) {
            touched += !seen[s - base];
            seen[s - base] = 1;
        }
    }
    free(seen);
    return (double)(touched * sector);
}

static void bytes_that_are_touched(void **state)
{
    (void)state;
    enum { PROBLEMS = 500, SMALL = 5000, SECTOR = 32 };
    for (int64_t i = 0; i < PROBLEMS; i++) {
        random_problem p = problem_draw(13, i, SMALL, true);
        problem_data data;
        problem_fill fill;
        char line[PROBLEM_LINE_BYTES];
        OK(problem_data_make(&p, 1, NULL, &data));
        problem_fill_make(&data, false, &fill);
        const int columns = p.layout == PROBLEM_TABLE ? p.axes : 1;
        double is = random_touched(&fill.samples[0], columns, SECTOR);
        double should = sectors_of(&p, &fill.samples[0], columns, SECTOR);
        if (fabs(is - should) > 0.05 * should + 2 * SECTOR)
            fail_msg("%g instead of %g bytes: %s", is, should, problem_print(&p, line));
        problem_data_free(&data);
    }
}

static __int128 value_of(reference_fixed x)
{
    return (__int128)((unsigned __int128)x.high << 64 | x.low);
}

/* Count as a device does: each sample on its own, and what follows from the counts. */
static void count_each(const reference_rule *rule, reference_counts *counts)
{
    histo_tally *tally = &counts->tally;
    tally->samples = (uint64_t)rule->samples;
    for (int64_t i = 0; i < rule->samples; i++) {
        reference_row row = reference_row_at(rule, i);
        int64_t at = reference_place_of(rule, &row, i);
        tally->masked += at < 0;
        if (at < 0)
            counts->masked[-1 - at]++;
        else
            counts->counts[at]++;
        if (at < 0 || !counts->sums) continue;
        double w = reference_value(rule->weights.dtype, row.weights);
        counts->sums[at].w += value_of(reference_fix(w, REFERENCE_WEIGHT_BITS));
        counts->sums[at].w2 += value_of(reference_fix(w * w, REFERENCE_SQUARE_BITS));
    }
    for (int64_t s = 0; s < counts->slots; s++) {
        reference_flow flow[HISTO_MAX_AXES];
        bool bin = reference_flows(rule, s % rule->slots, flow);
        *(bin ? &tally->bins : &tally->flow) += counts->counts[s];
        for (int a = 0; a < rule->axes; a++) {
            if (flow[a] == REFERENCE_UNDER) tally->under[a] += counts->counts[s];
            if (flow[a] == REFERENCE_OVER) tally->over[a] += counts->counts[s];
            if (flow[a] == REFERENCE_NAN) tally->nan[a] += counts->counts[s];
        }
    }
}

static void device_counts_are_the_hosts(void **state)
{
    (void)state;
    enum { PROBLEMS = 400, SMALL = 5000, SLOTS = 1 << 20 };
    int counted = 0;
    for (int64_t i = 0; i < PROBLEMS; i++) {
        random_problem p = problem_draw(11, i, SMALL, true);
        problem_data data;
        reference_counts counts, each = {0};
        reference_rule rule;
        char line[PROBLEM_LINE_BYTES];
        if (p.storage == HISTO_SPARSE || problem_slots(&p) > SLOTS) continue;
        problem_print(&p, line);
        OK(problem_data_make(&p, 1, NULL, &data));
        OK(problem_counts_make(&data, 1, &counts));
        OK(problem_rule_make(&data, true, &rule));
        each.slots = counts.slots;
        each.counts = calloc((size_t)counts.slots, sizeof *each.counts);
        each.masked = calloc((size_t)p.batch, sizeof *each.masked);
        each.sums = counts.sums ? calloc((size_t)counts.slots, sizeof *each.sums) : NULL;
        count_each(&rule, &each);
        bool same = memcmp(counts.counts, each.counts, (size_t)counts.slots * sizeof *each.counts) == 0;
        same = same && memcmp(counts.masked, each.masked, (size_t)p.batch * sizeof *each.masked) == 0;
        same = same && memcmp(&counts.tally, &each.tally, sizeof each.tally) == 0;
        for (int64_t s = 0; s < counts.slots && counts.sums && same; s++)
            same = counts.sums[s].w == each.sums[s].w && counts.sums[s].w2 == each.sums[s].w2;
        if (!same) fail_msg("%s", line);
        counted++;
        reference_counts_free(&each);
        reference_counts_free(&counts);
        reference_finders_free(&rule);
        problem_data_free(&data);
    }
    assert_true(counted > PROBLEMS / 2);
}

/* Are the arrays and counts of a GPU those of the host? Else the text says what differs. */
static const char *compare_with_device(const random_problem *p, const bench_device *gpu)
{
    const char *differs = NULL;
    problem_data here, there;
    reference_counts counts, counted;
    OK(problem_data_make(p, 2, NULL, &here));
    OK(problem_data_make(p, 2, gpu, &there));
    for (int i = 0; i < PROBLEM_OFFSETS && !differs; i++) {
        const size_t bytes = here.arrays[i].bytes, gap = i < HISTO_MAX_AXES ? (size_t)p->offset : 0;
        char *fetched = malloc(bytes + 1), *made = here.arrays[i].host;
        if (bytes) OK(gpu->copy(fetched, there.arrays[i].placed, bytes));
        if (bytes && memcmp(fetched + gap, made + gap, bytes - gap) != 0) differs = "samples";
        free(fetched);
    }
    problem_array *offsets = &there.arrays[PROBLEM_OFFSETS];
    if (offsets->host) OK(bench_device_place(gpu, offsets->host, offsets->bytes, &offsets->placed));
    OK(problem_counts_make(&here, 2, &counts));
    OK(problem_counts_make(&there, 2, &counted));
    if (memcmp(counts.counts, counted.counts, (size_t)counts.slots * sizeof *counts.counts) != 0) differs = "counts";
    if (memcmp(counts.masked, counted.masked, (size_t)p->batch * sizeof *counts.masked) != 0) differs = "masked";
    if (memcmp(&counts.tally, &counted.tally, sizeof counts.tally) != 0) differs = "tally";
    if (counts.occupied != counted.occupied || counts.sectors != counted.sectors) differs = "occupied";
    for (int64_t s = 0; s < counts.slots && counts.sums; s++)
        if (counts.sums[s].w != counted.sums[s].w || counts.sums[s].w2 != counted.sums[s].w2) differs = "sums";
    for (int i = 0; i < PROBLEM_ARRAYS; i++)
        if (there.arrays[i].placed) gpu->release(there.arrays[i].placed);
    reference_counts_free(&counts);
    reference_counts_free(&counted);
    problem_data_free(&here);
    problem_data_free(&there);
    return differs;
}

static void gpu_makes_and_counts_the_same(void **state)
{
    (void)state;
    enum { PROBLEMS = 300, SMALL = 100000, SLOTS = 1 << 22 };
    const bench_device *gpu = bench_device_find(HISTO_DEVICE_CUDA(0), BENCH_RESIDENT);
    if (!gpu) {
        print_message("%s\n", histo_last_error());
        skip();
        return;
    }
    for (int64_t i = 0; i < PROBLEMS; i++) {
        random_problem p = problem_draw(11, i, SMALL, true);
        char line[PROBLEM_LINE_BYTES];
        if (p.storage == HISTO_SPARSE || problem_slots(&p) > SLOTS) continue;
        const char *differs = compare_with_device(&p, gpu);
        if (differs) fail_msg("other %s: %s", differs, problem_print(&p, line));
    }
}

/* The share of the samples in the first bin. */
static double first_bin(const char *line)
{
    random_problem p;
    problem_data data;
    reference_counts counts;
    OK(problem_parse(line, &p));
    OK(problem_data_make(&p, 1, NULL, &data));
    OK(problem_counts_make(&data, 1, &counts));
    double share = (double)counts.counts[1] / (double)p.samples;
    reference_counts_free(&counts);
    problem_data_free(&data);
    return share;
}

/* Zipf by a table of quantiles: log 2 / log 1001 of rank 0 with exponent 1, and 3/4 with 3. */
static void zipf_by_table(void **state)
{
    (void)state;
    assert_float_equal(first_bin("n=200000 type=f64 axis=regular bins=1000 lo=0 hi=1 dist=zipf:1"), 0.1003, 0.003);
    assert_float_equal(first_bin("n=200000 type=f64 axis=regular bins=1000 lo=0 hi=1 dist=zipf:3"), 0.75, 0.005);
}

static void refusals(void **state)
{
    (void)state;
    random_result result;
    bench_random_options options = {.common = {.device = HISTO_DEVICE_CPU, .table = stdout}, .only = "type=u9"};
    REFUSED(HISTO_INVALID, "type=u9 is not a value", bench_random(&options, &result));
    options.only = NULL;
    options.line = "n=1 type=u8 axis=integer bins=1 lo=0 on=device";
    REFUSED(HISTO_INVALID, "on=, which is for a GPU", bench_random(&options, &result));
    options.line = NULL;
    options.common.device = HISTO_DEVICE_CUDA(77);
    REFUSED(HISTO_UNSUPPORTED, "nothing can be measured on GPU 77", bench_random(&options, &result));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_again),
        cmocka_unit_test(drawn_everywhere),
        cmocka_unit_test(lines_read_back),
        cmocka_unit_test(everything_is_drawn),
        cmocka_unit_test(bad_lines),
        cmocka_unit_test(filters),
        cmocka_unit_test(all_are_exact),
        cmocka_unit_test(wrong_counts_are_noticed),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(counted_by_the_edges),
        cmocka_unit_test(bytes_that_are_touched),
        cmocka_unit_test(sizes),
        cmocka_unit_test(device_counts_are_the_hosts),
        cmocka_unit_test(zipf_by_table),
        cmocka_unit_test(gpu_makes_and_counts_the_same),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
