/* The benchmarks' inputs have the distributions that their names promise, reproducibly. Bank conflicts match results
 * worked out by hand and, for the images of the thesis, its table 4.2. The gallery notices a wrong count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/experiments/conflicts.h"
#include "papers/experiments/gallery.h"
#include "papers/experiments/papers.h"
#include "plan/plan.h"
#include "plan/strategy.h"
#include "support/cheat.h"
#include "support/check.h"

static bench_input *inputs;
static int input_count;

static int setup(void **state)
{
    (void)state;
    inputs = bench_inputs_list(NULL, 0, &input_count);
    return inputs ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(inputs);
    return 0;
}

static bench_input *find(const char *name)
{
    for (int i = 0; i < input_count; i++)
        if (strcmp(inputs[i].name, name) == 0) return &inputs[i];
    fail_msg("there is no input '%s'", name);
    return NULL;
}

/* A few samples; for inputs from images, a small image. */
static int64_t shrink(bench_input *input)
{
    if (!input->width) return 30011;
    input->width /= 10;
    input->height /= 10;
    return input->width * input->height;
}

static void *make(const bench_input *input, int64_t n)
{
    void *samples = malloc((size_t)n * histo_dtype_size(input->dtype));
    histo_axis axis = bench_input_axis(input, NULL);
    bench_input_make(input, &axis, n, samples);
    return samples;
}

/* Count the bins of an input, all of whose samples must be inside. The caller frees the counts. */
static uint64_t *count(const bench_input *input, int64_t n)
{
    histo_axis axis = bench_input_axis(input, NULL);
    uint64_t *counts = malloc((size_t)axis.bins * sizeof *counts);
    void *samples = make(input, n);
    histo_view view = histo_view_1d(samples, input->dtype, n);
    histo_hist *h;
    histo_tally tally;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    OK(histo_hist_tally(h, &tally));
    if (tally.flow) fail_msg("%s: %llu samples are outside", input->name, (unsigned long long)tally.flow);
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, axis.bins, NULL));
    histo_hist_destroy(h);
    free(samples);
    return counts;
}

static double sum(const uint64_t *counts, int64_t begin, int64_t end)
{
    double total = 0;
    for (int64_t i = begin; i < end; i++)
        total += (double)counts[i];
    return total;
}

static void the_same_for_any_threads(void **state)
{
    (void)state;
    for (int i = 0; i < input_count; i++) {
        bench_input input = inputs[i];
        int64_t n = shrink(&input);
        setenv("HISTO_THREADS", "1", 1);
        void *once = make(&input, n);
        setenv("HISTO_THREADS", "3", 1);
        void *again = make(&input, n);
        unsetenv("HISTO_THREADS");
        if (memcmp(once, again, (size_t)n * histo_dtype_size(input.dtype)) != 0) fail_msg("%s differs", input.name);
        free(once);
        free(again);
    }
}

static void within_the_axis(void **state)
{
    (void)state;
    for (int i = 0; i < input_count; i++) {
        bench_input input = inputs[i];
        int64_t n = shrink(&input);
        free(count(&input, n));
    }
}

static void named_once(void **state)
{
    (void)state;
    for (int i = 0; i < input_count; i++)
        assert_ptr_equal(find(inputs[i].name), &inputs[i]);
    assert_true(bench_input_selected(find("distinct-16/u8/256"), "moon,distinct"));
    assert_true(bench_input_selected(find("distinct-16/u8/256"), "distinct-16"));
    assert_false(bench_input_selected(find("distinct-16/u8/256"), "distinct-1"));
    assert_true(bench_input_selected(find("uniform/u32/256"), "uniform/u32/256"));
    assert_false(bench_input_selected(find("uniform/u32/262144"), "uniform/u32/26,"));
}

/* A fraction `inside` of the samples is in the middle `share` of the bins. */
static void check_cluster(const char *name, double share, double inside)
{
    enum { N = 200000 };
    const bench_input *input = find(name);
    uint64_t *counts = count(input, N);
    int64_t half = (int64_t)(share * (double)input->bins / 2), middle = input->bins / 2;
    double found = sum(counts, middle - half, middle + half) / N;
    if (fabs(found - inside) > 0.003) fail_msg("%s: %g of the samples are in the middle", name, found);
    free(counts);
}

static void clustered(void **state)
{
    (void)state;
    check_cluster("clustered/u32/4096", 0.125, 0.99);
    check_cluster("clustered/u32/2097152", 0.125, 0.99);
    check_cluster("wafer-256x4096/u32/1048576", 0.125, 0.99);
    check_cluster("wafer-256x8192/u32/2097152", 0.1, 0.99);
    check_cluster("wafer-a3/u32/1048576", 0.125, 0.99); /* Ross 2014, 4.3 */
    check_cluster("wafer-a4/u32/2097152", 0.02, 0.99);
    check_cluster("wafer-a5/u32/2097152", 0.0625, 0.5);
    check_cluster("middle-8/u32/1048576", 0.125, 1);
    check_cluster("middle-8/u32/1048576", 0.0625, 0.5);
    check_cluster("normal/i32/1024", 0.125, 0.6827); /* one standard deviation on either side */
    check_cluster("normal/f64/8192", 0.125, 0.6827);
}

static void distinct(void **state)
{
    (void)state;
    for (int k = 256; k; k /= 2) {
        char name[32];
        snprintf(name, sizeof name, "distinct-%d/u8/256", k);
        uint64_t *counts = count(find(name), 4096);
        for (int i = 0; i < 256; i++)
            assert_int_equal(counts[i] > 0, i < k);
        free(counts);
        counts = count(find(name), 256); /* all of them, even with few samples */
        for (int i = 0; i < k; i++)
            assert_true(counts[i] > 0);
        free(counts);
    }
    uint64_t *counts = count(find("degenerate/u32/8192"), 1000);
    assert_int_equal(counts[5120], 1000);
    free(counts);
}

/* The differences of pairs are scaled by their mean (Ross 2014, 4.2), so every row near the middle fills at every mean.
 */
static void wafer_rows_fill(void **state)
{
    (void)state;
    enum { N = 1 << 20, ROW = 256, ROWS = 4096 };
    uint64_t *counts = count(find("wafer-a1/u32/1048576"), N);
    int empty = 0, columns = 0, neighbours = 0;
    for (int row = ROWS / 2 - 100; row < ROWS / 2 + 100; row++)
        empty += sum(counts, (int64_t)row * ROW, (int64_t)(row + 1) * ROW) == 0;
    for (int m = 0; m < ROW; m++) {
        bool any = false;
        for (int row = 0; row < ROWS && !any; row++)
            any = counts[row * ROW + m] > 0;
        columns += any;
    }
    free(counts);
    assert_int_equal(empty, 0);
    assert_in_range(columns, 200, 256);
    uint32_t *samples = make(find("wafer-a1/u32/1048576"), N);
    for (int i = 16; i < N; i += 16)
        neighbours += abs((int)(samples[i] % ROW) - (int)(samples[i - 16] % ROW)) < 40;
    free(samples);
    assert_true(neighbours > N / 16 * 2 / 3); /* means are those of an image, no noise */
}

static void chunks(void **state)
{
    (void)state;
    enum { CHUNK = 65536, N = 3 * CHUNK };
    double *samples = make(find("sorted-chunks/f64/256"), N);
    for (int i = 1; i < N; i++)
        assert_true((samples[i - 1] < samples[i]) == (i % CHUNK != 0));
    free(samples);
}

static void parsed(void **state)
{
    (void)state;
    bench_input input;
    for (int i = 0; i < input_count; i++) {
        OK(bench_input_parse(inputs[i].name, &input));
        assert_string_equal(input.name, inputs[i].name);
        assert_int_equal(input.kind, inputs[i].kind);
        assert_int_equal(input.bins, inputs[i].bins);
        assert_int_equal(input.width, inputs[i].width);
        assert_true(input.shape == inputs[i].shape && input.across == inputs[i].across);
    }
    OK(bench_input_parse("middle-3/i16/1000", &input));
    assert_true(input.kind == BENCH_MIDDLE && input.shape == 1.0 / 3 && input.bins == 1000);
    OK(bench_input_parse("moon/33x21", &input));
    assert_true(input.width == 33 && input.height == 21);
    static const char *const wrong[] = {"",
                                        "uniform",
                                        "uniform/u32",
                                        "uniform/u32/",
                                        "uniform/u32/0",
                                        "uniform/u32/4k",
                                        "uniform/u8/257",
                                        "uniform/f16/16",
                                        "uniform/u32/256/x",
                                        "distinct-0/u8/256",
                                        "distinct-17/u8/16",
                                        "distinct-+1/u8/16",
                                        "wafer-a7/u32/1048576",
                                        "wafer-a3/u32/1000",
                                        "moon/8k",
                                        "moon/0x3",
                                        "moon/3x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(bench_input_parse(wrong[i], &input), HISTO_INVALID);
}

static void sweeps_of_parameters(void **state)
{
    (void)state;
    static const char *const expected[] = {"copies=1,merge=0,inc=1", "copies=2,merge=0,inc=1",
                                           "copies=4,merge=0,inc=1", "copies=1,merge=1,inc=1",
                                           "copies=2,merge=1,inc=1", "copies=4,merge=1,inc=1"};
    int count;
    bench_contender *list =
        bench_contenders_list("cuda", "shared_atomic,cuda/packed_atomic", "copies=1,2,4,merge=0,1,inc=1", &count);
    assert_int_equal(count, 12);
    for (int i = 0; i < count; i++) {
        assert_string_equal(list[i].name, i < 6 ? "cuda/shared_atomic" : "cuda/packed_atomic");
        assert_string_equal(list[i].params, expected[i % 6]);
    }
    free(list);
    list = bench_contenders_list("cpu", NULL, NULL, &count);
    assert_true(count > 5 && !*list[0].params);
    free(list);
    assert_null(bench_contenders_list("cpu", "shared_atomic", NULL, &count));
}

static bool is_strategy(const char *name)
{
    histo_strategy_info info;
    char full[64];
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        snprintf(full, sizeof full, "%s/%s", info.backend, info.name);
        if (strcmp(full, name) == 0) return true;
    }
    static const char *const others[] = {"cpu/plan", "cuda/plan", "cpu/race", "cuda/race", "cuda/constant_tile"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0) return true;
    return false;
}

/* The parameters of a series in all their combinations, where its backend is built. */
static void check_params(const bench_contender *c)
{
    const histo_row *row = histo_row_find(c->name, NULL);
    int64_t values[HISTO_MAX_PARAMS];
    char text[sizeof c->params];
    for (int i = 0; row && row->strategy && bench_combination(c->params, i, text, sizeof text); i++)
        OK(histo_params_parse(row, text, values));
}

/* Every experiment of the papers is one of inputs and strategies that there are, and shows every published number. */
static void papers(void **state)
{
    (void)state;
#define EXPERIMENT(paper, kind, number, title, measure, inputs, bins, samples, published, equal, claim)
#define PUBLISHED(paper, kind, number, input, series, value) +1
    const int published =
#include "papers/experiments/papers.def"
        ;
#undef EXPERIMENT
#undef PUBLISHED
    const papers_options options = {.common.device = HISTO_DEVICE_CPU};
    const papers_experiment *e;
    papers_result *r = malloc(sizeof *r);
    int shown = 0;
    for (int i = 0; (e = papers_at(i)) != NULL; i++) {
        OK(papers_plan(e, &options, r));
        assert_in_range(r->points, 1, PAPERS_MAX_POINTS);
        assert_in_range(r->series_count, 2, PAPERS_MAX_SERIES - 1);
        for (int s = 0; s < r->series_count; s++) {
            const char *name = r->series[s].contender.name; /* without a backend: of the host */
            if (strchr(name, '/') && !is_strategy(name)) fail_msg("%s", name);
            check_params(&r->series[s].contender);
            for (int t = 0; t < s; t++)
                assert_string_not_equal(r->series[s].label, r->series[t].label);
        }
        for (int p = 0; p < r->points; p++)
            for (int s = 0; s < r->series_count; s++)
                shown += !isnan(r->cell[p][s].published);
    }
    assert_int_equal(shown, published);
    free(r);
    assert_true(papers_selected(papers_at(0), "ross", "figure", "4.1"));
    assert_false(papers_selected(papers_at(0), "milic", NULL, NULL));
    assert_false(papers_selected(papers_at(0), NULL, "table", "4.1"));
}

static void uniform(void **state)
{
    (void)state;
    static const char *const names[] = {"uniform/u8/256",  "uniform/u16/256", "uniform/u32/256", "uniform/i32/256",
                                        "uniform/f32/256", "uniform/f64/256", "random/1080p"};
    const int64_t n = 512000;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t *counts = count(find(names[i]), n);
        double expected = (double)n / 256, squares = 0;
        for (int bin = 0; bin < 256; bin++)
            squares += ((double)counts[bin] - expected) * ((double)counts[bin] - expected) / expected;
        if (squares < 150 || squares > 375) fail_msg("%s: chi-square %g of 255", names[i], squares);
        free(counts);
    }
}

static void zipf(void **state)
{
    (void)state;
    enum { N = 400000 };
    uint64_t *counts = count(find("zipf/u32/4096"), N);
    for (int i = 0; i < 3; i++) {
        double expected = N * log((i + 2.0) / (i + 1.0)) / log(4097);
        assert_true(fabs((double)counts[i] - expected) < 6 * sqrt(expected));
    }
    free(counts);
}

static void sorted(void **state)
{
    (void)state;
    enum { N = 10000 };
    double *samples = make(find("sorted/f64/256"), N);
    for (int i = 1; i < N; i++)
        assert_true(samples[i - 1] < samples[i]);
    assert_true(samples[0] < 0.001 && samples[N - 1] > 0.999);
    free(samples);
}

static void photographs(void **state)
{
    (void)state;
    static const uint8_t pixels[] = {1, 2, 3, 4, 5, 6};
    bench_photo photo = {"six.png", pixels, 3, 2};
    int n;
    bench_input *list = bench_inputs_list(&photo, 1, &n);
    assert_int_equal(n, input_count + 2);
    assert_string_equal(list[0].name, "six.png/1080p");
    uint8_t *samples = make(&list[0], 1920 * 1080);
    assert_memory_equal(samples, ((uint8_t[]){1, 2, 3, 1, 2, 3}), 6);
    assert_memory_equal(samples + 1920, ((uint8_t[]){4, 5, 6, 4, 5, 6}), 6);
    assert_memory_equal(samples + 2 * 1920, ((uint8_t[]){1, 2, 3, 1, 2, 3}), 6);
    free(samples);
    free(list);
}

static double mean_conflicts(const uint8_t *samples, int64_t n, unsigned counters_per_word)
{
    bench_conflicts conflicts;
    OK(bench_conflicts_count(samples, HISTO_U8, n, counters_per_word, &conflicts));
    return conflicts.mean;
}

static void conflicts_by_hand(void **state)
{
    (void)state;
    uint8_t samples[3 * BENCH_LANES];
    bench_conflicts conflicts;
    memset(samples, 7, sizeof samples); /* one counter */
    for (unsigned counters = 1; counters <= 8; counters *= 2)
        assert_true(mean_conflicts(samples, BENCH_LANES, counters) == 32);
    for (int i = 0; i < BENCH_LANES; i++)
        samples[i] = (uint8_t)i; /* 32 counters: in 32 words, in 8, in 4 */
    assert_true(mean_conflicts(samples, BENCH_LANES, 1) == 1);
    assert_true(mean_conflicts(samples, BENCH_LANES, 4) == 4);
    assert_true(mean_conflicts(samples, BENCH_LANES, 8) == 8);
    for (int i = 0; i < BENCH_LANES; i++)
        samples[i] = (uint8_t)(i % 8 * 32); /* 8 counters: words 0, 32, … 224; 0, 8, … 56; 0, 4, … 28 */
    assert_true(mean_conflicts(samples, BENCH_LANES, 1) == 32);
    assert_true(mean_conflicts(samples, BENCH_LANES, 4) == 8);
    assert_true(mean_conflicts(samples, BENCH_LANES, 8) == 4);
    for (int i = 0; i < BENCH_LANES; i++)
        samples[i] = (uint8_t)i;
    OK(bench_conflicts_count(samples, HISTO_U8, 2 * BENCH_LANES + 31, 1, &conflicts)); /* no full warp */
    assert_int_equal(conflicts.warps, 2);
    assert_int_equal(conflicts.of_degree[1], 1);
    assert_int_equal(conflicts.of_degree[32], 1);
    assert_true(conflicts.mean == 16.5 && conflicts.deviation == 15.5);
    assert_true(bench_conflicts_fraction(&conflicts, 1, 31) == 0.5);
    uint16_t wide[BENCH_LANES];
    for (int i = 0; i < BENCH_LANES; i++)
        wide[i] = (uint16_t)(i < 3 ? 1000 * 32 : i * 33); /* word 32000 is in bank 0, the others each in another bank */
    OK(bench_conflicts_count(wide, HISTO_U16, BENCH_LANES, 1, &conflicts));
    assert_int_equal(conflicts.of_degree[3], 1);
    REFUSED(HISTO_INVALID, "f32", bench_conflicts_count(samples, HISTO_F32, 64, 1, &conflicts));
    REFUSED(HISTO_INVALID, "at least 32", bench_conflicts_count(samples, HISTO_U8, 31, 1, &conflicts));
}

static void check_table_4_2(const char *name, double mean, double deviation, double tolerance)
{
    const bench_input *input = find(name);
    bench_conflicts found;
    int64_t n = input->width * input->height;
    uint8_t *samples = make(input, n);
    OK(bench_conflicts_count(samples, HISTO_U8, n, 1, &found));
    if (fabs(found.mean - mean) > tolerance || fabs(found.deviation - deviation) > tolerance)
        fail_msg("%s: %g ± %g instead of %g ± %g", name, found.mean, found.deviation, mean, deviation);
    free(samples);
}

static void conflicts_of_the_thesis(void **state)
{
    (void)state;
    check_table_4_2("random/1080p", 3.53, 0.74, 0.01);
    check_table_4_2("degenerate/1080p", 32, 0, 0);
    check_table_4_2("fractal/1080p", 4.23, 2.01, 0.5); /* other fractals and moons, so the values are only close */
    check_table_4_2("moon/1080p", 26.36, 11.17, 1);
}

/* Run it and return its output; the caller frees it. */
static char *run_gallery(const char *wanted_inputs, const char *strategies, int64_t samples, char **json, int *wrong)
{
    char *table = NULL;
    size_t table_size, json_size;
    FILE *table_file = open_memstream(&table, &table_size), *json_file = open_memstream(json, &json_size);
    int measured;
    OK(bench_gallery(&(bench_gallery_options){.common.device = HISTO_DEVICE_CPU,
                                              .common.quick = true,
                                              .common.repeat = 2,
                                              .common.samples = samples,
                                              .inputs = wanted_inputs,
                                              .strategies = strategies,
                                              .common.table = table_file,
                                              .common.json = &(json_writer){.to = json_file},
                                              .common.command_line = "a \"quoted\" word"},
                     &measured, wrong));
    fclose(table_file);
    fclose(json_file);
    return table;
}

static void gallery(void **state)
{
    (void)state;
    char *json;
    int wrong;
    char *table = run_gallery("distinct-2,uniform/f64/256,degenerate/1080p", NULL, 5000, &json, &wrong);
    assert_int_equal(wrong, 0);
    assert_non_null(strstr(table, "\ndegenerate/1080p: 1 image,"));
    assert_non_null(strstr(table, "\nuniform/f64/256: 5000 samples, read roof "));
    assert_non_null(strstr(table, "\n* cpu/"));
    assert_non_null(strstr(table, "\n3 inputs, "));
    assert_non_null(strstr(table, " measurements: all counts exact\n"));
    assert_non_null(strstr(json, "\"command\": \"a \\\"quoted\\\" word\""));
    assert_non_null(strstr(json, "\"input\": \"distinct-2/u8/256\""));
    assert_non_null(strstr(json, "{\"strategy\": \"cpu/sort_search\", \"outcome\": \"exact\", "));
    free(table);
    free(json);
}

static void gallery_notices(void **state)
{
    (void)state;
    char *json;
    int wrong;
    cheat = true;
    char *table = run_gallery("uniform/u32/256,uniform/u8", NULL, 40000, &json, &wrong);
    cheat = false;
    assert_int_equal(wrong, 3);
    assert_non_null(strstr(table, "cpu/privatized               WRONG: slot "));
    assert_non_null(strstr(table, "3 FAILED or counted WRONG\n"));
    assert_non_null(strstr(json, "{\"strategy\": \"cpu/privatized\", \"outcome\": \"wrong\", \"reason\": \"slot "));
    free(table);
    free(json);
}

static void gallery_unsupported_reason(void **state)
{
    (void)state;
    int measured, wrong;
    bench_gallery_options options = {.common = {.device = HISTO_DEVICE_CPU, .table = stdout}, .inputs = "nothing"};
    REFUSED(HISTO_INVALID, "there are fractal, random", bench_gallery(&options, &measured, &wrong));
    options.common.device = HISTO_DEVICE_CUDA(77);
    REFUSED(HISTO_UNSUPPORTED, "nothing can be measured on GPU 77", bench_gallery(&options, &measured, &wrong));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_for_any_threads),
        cmocka_unit_test(within_the_axis),
        cmocka_unit_test(named_once),
        cmocka_unit_test(clustered),
        cmocka_unit_test(distinct),
        cmocka_unit_test(uniform),
        cmocka_unit_test(wafer_rows_fill),
        cmocka_unit_test(chunks),
        cmocka_unit_test(parsed),
        cmocka_unit_test(sweeps_of_parameters),
        cmocka_unit_test(papers),
        cmocka_unit_test(zipf),
        cmocka_unit_test(sorted),
        cmocka_unit_test(photographs),
        cmocka_unit_test(conflicts_by_hand),
        cmocka_unit_test(conflicts_of_the_thesis),
        cmocka_unit_test(gallery),
        cmocka_unit_test(gallery_notices),
        cmocka_unit_test(gallery_unsupported_reason),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
