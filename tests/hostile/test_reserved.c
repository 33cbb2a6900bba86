/* A program that was compiled with a later header may ask, in what is reserved here, for what this library does not
 * know: each function that takes such a struct refuses it, by a sentence that names the struct, and changes nothing. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

enum { SAMPLES = 64, BINS = 4, MOST = 128 };

static const uint8_t bytes[SAMPLES];

/* What the calls need, and what is seen of them. */
typedef struct objects {
    histo_axis axes[2];
    histo_view samples, stack;
    histo_hist *hist, *pairs;
    histo_plan *plan, *of_records;
    histo_map *map;
    histo_quantiles *quantiles;
    histo_survey *survey;
    const char *name; /* of the struct */
    bool refused;     /* that is what calls must be; or taken */
    int calls;
    struct {
        const char *function, *name;
    } call[MOST];
} objects;

/* A call of a function has given this. */
static void tried(objects *o, const char *function, histo_status status)
{
    if (!o->refused && status != HISTO_OK) fail_msg("%s: %s", function, histo_last_error());
    if (o->refused && status != HISTO_INVALID)
        fail_msg("%s takes %s that asks for what it does not know: %u", function, o->name, (unsigned)status);
    if (o->refused && !strstr(histo_last_error(), o->name))
        fail_msg("%s: '%s' does not name %s", function, histo_last_error(), o->name);
    if (o->refused) return;
    assert_true(o->calls < MOST);
    o->call[o->calls].function = function;
    o->call[o->calls++].name = o->name;
}

/* ---- Calls with each struct ---- */

static void with_axis(objects *o, const void *given)
{
    const histo_axis *axis = given;
    histo_hist *hist = NULL;
    histo_map *map = NULL;
    double edges[BINS + 1];
    uint64_t counts[BINS];
    const histo_regrouping one = {.naxes = 1, .axes = axis, .entry = -1};
    tried(o, "histo_axis_check", histo_axis_check(axis));
    tried(o, "histo_axis_edges", histo_axis_edges(axis, edges));
    tried(o, "histo_hist_create", histo_hist_create(&hist, 1, axis, NULL));
    tried(o, "histo_map_create", histo_map_create(&map, 1, axis, NULL));
    tried(o, "histo_count", histo_count(1, axis, &o->samples, NULL, counts, BINS, NULL, NULL));
    histo_hist_destroy(hist);
    hist = NULL;
    tried(o, "histo_hist_regroup", histo_hist_regroup(o->hist, &one, &hist));
    histo_hist_destroy(hist);
    histo_map_destroy(map);
}

static void with_allocator(objects *o, const void *given)
{
    tried(o, "histo_set_allocator", histo_set_allocator(given));
}

static void with_hist_options(objects *o, const void *options)
{
    histo_hist *hist = NULL;
    tried(o, "histo_hist_create", histo_hist_create(&hist, 1, o->axes, options));
    histo_hist_destroy(hist);
}

/* `samples` are records if the options have a function. */
static void fill(objects *o, const histo_view *samples, const histo_fill_options *options)
{
    const histo_plan *made = options->functions ? o->of_records : o->plan;
    histo_plan *plan = NULL;
    uint64_t counts[BINS];
    histo_axis axis;
    histo_extremes extremes;
    histo_stats stats = {0};
    histo_power_sums sums = {0};
    const histo_survey_options bins = {.bins = BINS};
    tried(o, "histo_hist_fill", histo_hist_fill(o->hist, samples, options));
    tried(o, "histo_plan_create", histo_plan_create(&plan, o->hist, samples, options, NULL));
    histo_plan_destroy(plan);
    tried(o, "histo_plan_fill", histo_plan_fill(made, o->hist, samples, options));
    tried(o, "histo_plan_fill_read",
          histo_plan_fill_read(made, o->hist, samples, options, HISTO_BINS, counts, BINS, NULL));
    tried(o, "histo_count", histo_count(1, o->axes, samples, options, counts, BINS, NULL, NULL));
    tried(o, "histo_quantiles_add", histo_quantiles_add(o->quantiles, samples, options));
    tried(o, "histo_survey_add", histo_survey_add(o->survey, samples, options));
    tried(o, "histo_survey_add_sums", histo_survey_add_sums(o->survey, samples, options, &sums));
    tried(o, "histo_axis_from_data", histo_axis_from_data(samples, options, &bins, &axis));
    tried(o, "histo_stats_add", histo_stats_add(&stats, samples, options));
    tried(o, "histo_power_sums_add", histo_power_sums_add(&sums, samples, options));
    tried(o, "histo_find_extremes", histo_find_extremes(samples, options, &extremes, 1));
    assert_true(!o->refused || (stats.samples == 0 && sums.samples == 0));
}

static void with_fill_options(objects *o, const void *options)
{
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING};
    histo_plan *plan = NULL;
    const histo_fill_chunk chunk = {.views = &o->samples};
    fill(o, &o->samples, options);
    tried(o, "histo_hist_fill_chunks", histo_hist_fill_chunks(o->hist, 1, &chunk, options));
    tried(o, "histo_hist_fill_pairs", histo_hist_fill_pairs(o->pairs, &o->stack, &ring, options));
    tried(o, "histo_plan_create_pairs", histo_plan_create_pairs(&plan, o->pairs, &o->stack, &ring, options, NULL));
    histo_plan_destroy(plan);
}

static void with_fill_chunk(objects *o, const void *given)
{
    histo_fill_chunk chunks[2] = {{.views = &o->samples}, *(const histo_fill_chunk *)given};
    chunks[1].views = &o->samples;
    tried(o, "histo_hist_fill_chunks", histo_hist_fill_chunks(o->hist, 2, chunks, NULL));
}

static void with_function(objects *o, const void *function)
{
    fill(o, &o->samples, &(histo_fill_options){.functions = function});
}

static void with_read_options(objects *o, const void *options)
{
    uint64_t counts[BINS];
    double sums[BINS];
    const histo_read_options *reading = options;
    tried(o, "histo_hist_read_counts", histo_hist_read_counts(o->hist, HISTO_BINS, counts, BINS, reading));
    tried(o, "histo_hist_read_weights", histo_hist_read_weights(o->hist, HISTO_BINS, sums, NULL, BINS, reading));
    tried(o, "histo_plan_fill_read",
          histo_plan_fill_read(o->plan, o->hist, &o->samples, NULL, HISTO_BINS, counts, BINS, reading));
}

static void with_regrouping(objects *o, const void *by)
{
    histo_hist *hist = NULL;
    tried(o, "histo_hist_regroup", histo_hist_regroup(o->hist, by, &hist));
    histo_hist_destroy(hist);
}

static void with_map_options(objects *o, const void *options)
{
    histo_map *map = NULL;
    tried(o, "histo_map_create", histo_map_create(&map, 1, o->axes, options));
    histo_map_destroy(map);
}

static void with_make_options(objects *o, const void *options)
{
    tried(o, "histo_map_equalize", histo_map_equalize(o->map, o->hist, options));
    tried(o, "histo_map_project", histo_map_project(o->map, o->hist, NULL, options));
    tried(o, "histo_map_classes", histo_map_classes(o->map, o->hist, HISTO_SPLIT_MEAN, 2, options));
}

static void with_apply_options(objects *o, const void *options)
{
    uint8_t values[SAMPLES] = {0};
    const histo_view out = histo_view_1d(values, HISTO_U8, SAMPLES),
                     image = histo_view_nd(bytes, HISTO_U8, 2, (int64_t[]){8, SAMPLES / 8});
    histo_moments moments;
    tried(o, "histo_map_apply", histo_map_apply(o->map, &o->samples, &out, options));
    tried(o, "histo_map_moments", histo_map_moments(o->map, &image, NULL, options, &moments));
}

static void with_plan_options(objects *o, const void *options)
{
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING};
    const histo_count_options counting = {.plan = options};
    uint64_t counts[BINS];
    histo_plan *plan = NULL;
    tried(o, "histo_plan_create", histo_plan_create(&plan, o->hist, &o->samples, NULL, options));
    histo_plan_destroy(plan);
    plan = NULL;
    tried(o, "histo_plan_create_pairs", histo_plan_create_pairs(&plan, o->pairs, &o->stack, &ring, NULL, options));
    histo_plan_destroy(plan);
    tried(o, "histo_count", histo_count(1, o->axes, &o->samples, NULL, counts, BINS, NULL, &counting));
}

static void with_count_options(objects *o, const void *options)
{
    uint64_t counts[BINS];
    tried(o, "histo_count", histo_count(1, o->axes, &o->samples, NULL, counts, BINS, NULL, options));
}

static void with_pairs(objects *o, const void *pairs)
{
    histo_plan *plan = NULL;
    tried(o, "histo_hist_fill_pairs", histo_hist_fill_pairs(o->pairs, &o->stack, pairs, NULL));
    tried(o, "histo_plan_create_pairs", histo_plan_create_pairs(&plan, o->pairs, &o->stack, pairs, NULL, NULL));
    histo_plan_destroy(plan);
}

static void with_survey_options(objects *o, const void *options)
{
    histo_survey *survey = NULL;
    histo_axis axis;
    tried(o, "histo_survey_create", histo_survey_create(&survey, HISTO_U8, options));
    histo_survey_destroy(survey);
    tried(o, "histo_axis_from_data", histo_axis_from_data(&o->samples, NULL, options, &axis));
}

static void with_stats(objects *o, const void *given)
{
    histo_stats stats = *(const histo_stats *)given;
    tried(o, "histo_stats_add", histo_stats_add(&stats, &o->samples, NULL));
}

/* ---- The structs ---- */

static void numbers_of(const void *context, const void *records, int64_t stride, int64_t n, void *numbers)
{
    (void)context;
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)numbers)[i] = ((const uint8_t *)records)[i * stride];
}

static const histo_axis axis = {.kind = HISTO_INTEGER, .bins = BINS, .lo = 0, .hi = BINS};
static const histo_hist_options hist_options;
static const histo_fill_options fill_options;
static const histo_fill_chunk fill_chunk;
static const histo_function function = {.numbers_of = numbers_of};
static const histo_read_options read_options = {.dtype = HISTO_F64};
static const histo_regrouping regrouping = {.naxes = 1, .axes = &axis, .entry = -1};
static const histo_map_options map_options;
static const histo_make_options make_options;
static const histo_apply_options apply_options;
static const histo_plan_options plan_options;
static const histo_count_options count_options = {.dtype = HISTO_U64};
static const histo_pairs pairs = {.pairing = HISTO_PAIRS_RING};
static const histo_allocator allocator = {0}; /* that which is set */
static const histo_survey_options survey_options = {.bins = BINS};
static const histo_stats stats;

/* A struct that is taken, and where its reserved bytes are. */
static const struct {
    const char *name;
    const void *valid;
    size_t size, at, reserved;
    void (*calls)(objects *o, const void *given);
} structs[] = {
    {"histo_axis", &axis, sizeof axis, offsetof(histo_axis, reserved), sizeof axis.reserved, with_axis},
    {"histo_hist_options", &hist_options, sizeof hist_options, offsetof(histo_hist_options, reserved),
     sizeof hist_options.reserved, with_hist_options},
    {"histo_fill_options", &fill_options, sizeof fill_options, offsetof(histo_fill_options, reserved),
     sizeof fill_options.reserved, with_fill_options},
    {"histo_fill_chunk", &fill_chunk, sizeof fill_chunk, offsetof(histo_fill_chunk, reserved),
     sizeof fill_chunk.reserved, with_fill_chunk},
    {"histo_function", &function, sizeof function, offsetof(histo_function, reserved), sizeof function.reserved,
     with_function},
    {"histo_read_options", &read_options, sizeof read_options, offsetof(histo_read_options, reserved),
     sizeof read_options.reserved, with_read_options},
    {"histo_regrouping", &regrouping, sizeof regrouping, offsetof(histo_regrouping, reserved),
     sizeof regrouping.reserved, with_regrouping},
    {"histo_map_options", &map_options, sizeof map_options, offsetof(histo_map_options, reserved),
     sizeof map_options.reserved, with_map_options},
    {"histo_make_options", &make_options, sizeof make_options, offsetof(histo_make_options, reserved),
     sizeof make_options.reserved, with_make_options},
    {"histo_apply_options", &apply_options, sizeof apply_options, offsetof(histo_apply_options, reserved),
     sizeof apply_options.reserved, with_apply_options},
    {"histo_plan_options", &plan_options, sizeof plan_options, offsetof(histo_plan_options, reserved),
     sizeof plan_options.reserved, with_plan_options},
    {"histo_count_options", &count_options, sizeof count_options, offsetof(histo_count_options, reserved),
     sizeof count_options.reserved, with_count_options},
    {"histo_allocator", &allocator, sizeof allocator, offsetof(histo_allocator, reserved), sizeof allocator.reserved,
     with_allocator},
    {"histo_pairs", &pairs, sizeof pairs, offsetof(histo_pairs, reserved), sizeof pairs.reserved, with_pairs},
    {"histo_survey_options", &survey_options, sizeof survey_options, offsetof(histo_survey_options, reserved),
     sizeof survey_options.reserved, with_survey_options},
    {"histo_stats", &stats, sizeof stats, offsetof(histo_stats, reserved), sizeof stats.reserved, with_stats},
};
enum { STRUCTS = sizeof structs / sizeof *structs };

/* Structs that the library only writes. */
static const char *const written[] = {"histo_tally", "histo_summary", "histo_information", "histo_strategy_info",
                                      "histo_extremes"};

static objects make_objects(void)
{
    const double median = 0.5;
    bool more;
    objects o = {.axes = {axis, axis},
                 .samples = histo_view_1d(bytes, HISTO_U8, SAMPLES),
                 .stack = histo_view_nd(bytes, HISTO_U8, 2, (int64_t[]){2, SAMPLES / 2})};
    OK(histo_hist_create(&o.hist, 1, o.axes, NULL));
    OK(histo_hist_create(&o.pairs, 2, o.axes, NULL));
    const histo_fill_options records = {.functions = &function};
    OK(histo_plan_create(&o.plan, o.hist, &o.samples, NULL, NULL));
    OK(histo_plan_create(&o.of_records, o.hist, &o.samples, &records, NULL));
    OK(histo_map_create(&o.map, 1, o.axes, NULL));
    OK(histo_quantiles_create(&o.quantiles, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, &median));
    OK(histo_survey_create(&o.survey, HISTO_U8, &survey_options));
    OK(histo_quantiles_next_pass(o.quantiles, &more));
    OK(histo_survey_next_pass(o.survey, &more));
    return o;
}

static void destroy_objects(const objects *o)
{
    histo_survey_destroy(o->survey);
    histo_quantiles_destroy(o->quantiles);
    histo_map_destroy(o->map);
    histo_plan_destroy(o->of_records);
    histo_plan_destroy(o->plan);
    histo_hist_destroy(o->pairs);
    histo_hist_destroy(o->hist);
}

/* Each byte alone makes a struct that is otherwise taken one that is refused. */
static void test_refused(void **state)
{
    objects *o = *state;
    for (int s = 0; s < STRUCTS; s++) {
        histo_tally before, after;
        unsigned char *given = malloc(structs[s].size);
        assert_non_null(given);
        memcpy(given, structs[s].valid, structs[s].size);
        o->name = structs[s].name;
        o->refused = false;
        structs[s].calls(o, given);
        OK(histo_hist_tally(o->hist, &before));
        o->refused = true;
        for (size_t b = 0; b < structs[s].reserved; b++) {
            given[structs[s].at + b] = 1;
            structs[s].calls(o, given);
            given[structs[s].at + b] = 0;
        }
        OK(histo_hist_tally(o->hist, &after));
        assert_memory_equal(&before, &after, sizeof before);
        free(given);
    }
}

/* ---- What the library writes ---- */

static void check_zero(const char *name, const void *reserved, size_t bytes_of_it)
{
    for (size_t b = 0; b < bytes_of_it; b++)
        if (((const unsigned char *)reserved)[b]) fail_msg("reserved byte %zu of %s is not zero", b, name);
}

/* Whatever was in a struct, reserved bytes of a result are zero, so that they can get a meaning. */
static void test_written(void **state)
{
    objects *o = *state;
    histo_tally tally;
    histo_summary summary;
    histo_information information;
    histo_strategy_info strategy;
    histo_extremes extremes;
    histo_stats of_sums;
    histo_axis found;
    const histo_power_sums sums = {0};
    memset(&tally, 0xff, sizeof tally);
    memset(&summary, 0xff, sizeof summary);
    memset(&information, 0xff, sizeof information);
    memset(&strategy, 0xff, sizeof strategy);
    memset(&extremes, 0xff, sizeof extremes);
    memset(&of_sums, 0xff, sizeof of_sums);
    memset(&found, 0xff, sizeof found);
    OK(histo_hist_tally(o->hist, &tally));
    check_zero("histo_tally", tally.reserved, sizeof tally.reserved);
    OK(histo_hist_summarize(o->hist, &summary));
    check_zero("histo_summary", summary.reserved, sizeof summary.reserved);
    OK(histo_hist_inform(o->pairs, &information));
    check_zero("histo_information", information.reserved, sizeof information.reserved);
    OK(histo_strategy_describe(0, &strategy));
    check_zero("histo_strategy_info", strategy.reserved, sizeof strategy.reserved);
    OK(histo_find_extremes(&o->samples, NULL, &extremes, 1));
    check_zero("histo_extremes", extremes.reserved, sizeof extremes.reserved);
    histo_power_sums_read(&sums, &of_sums);
    check_zero("histo_stats", of_sums.reserved, sizeof of_sums.reserved);
    OK(histo_axis_from_data(&o->samples, NULL, &survey_options, &found));
    check_zero("histo_axis", found.reserved, sizeof found.reserved);
    found = histo_hist_axis(o->hist, 0);
    check_zero("histo_axis", found.reserved, sizeof found.reserved);
}

/* ---- What the headers declare ---- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot read %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0 && feof(file));
    fclose(file);
    return text;
}

static bool is_known(const char *name)
{
    for (int s = 0; s < STRUCTS; s++)
        if (!strcmp(structs[s].name, name)) return true;
    for (size_t w = 0; w < sizeof written / sizeof *written; w++)
        if (!strcmp(written[w], name)) return true;
    return false;
}

/* Structs with reserved fields: "} histo_name;" is the first such line behind the field. */
static int check_structs(const char *text)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, " reserved[")); found++) {
        char name[64];
        at = strstr(at, "\n}");
        assert_non_null(at);
        assert_int_equal(sscanf(at, "\n} %63[a-z_];", name), 1);
        if (!is_known(name)) fail_msg("%s has reserved fields, and is not tested here", name);
    }
    return found;
}

/* Functions with parameters like "const histo_fill_options *options". */
static int check_functions(const objects *o, const char *text)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, "HISTO_API ")); at++) {
        char declared[2048], function_name[64] = "", parameter[64];
        snprintf(declared, sizeof declared, "%.*s", (int)strcspn(at, ";"), at);
        const char *open = strchr(declared, '(');
        if (!open) continue; /* the macro's own definition */
        const char *start = open;
        while (start[-1] != ' ' && start[-1] != '*')
            start--;
        snprintf(function_name, sizeof function_name, "%.*s", (int)(open - start), start);
        for (int s = 0; s < STRUCTS; s++) {
            snprintf(parameter, sizeof parameter, "const %s *", structs[s].name);
            /* Few functions of axes and statistics can fail. */
            if (!strcmp(structs[s].name, "histo_axis") || !strcmp(structs[s].name, "histo_stats") ||
                !strstr(open, parameter))
                continue;
            bool tested = false;
            for (int c = 0; c < o->calls; c++)
                tested |= !strcmp(o->call[c].function, function_name) && !strcmp(o->call[c].name, structs[s].name);
            if (!tested) fail_msg("%s takes %s, and is not tested here", function_name, structs[s].name);
            found++;
        }
    }
    return found;
}

static void test_nothing_is_forgotten(void **state)
{
    const objects *o = *state;
    glob_t headers;
    int found_structs = 0, found_functions = 0;
    assert_int_equal(glob(TEST_HEADERS "/*.h", 0, NULL, &headers), 0);
    for (size_t h = 0; h < headers.gl_pathc; h++) {
        char *text = read_text(headers.gl_pathv[h]);
        found_structs += check_structs(text);
        found_functions += check_functions(o, text);
        free(text);
    }
    globfree(&headers);
    assert_int_equal(found_structs, STRUCTS + sizeof written / sizeof *written);
    assert_true(found_functions > 30);
}

int main(void)
{
    objects o = make_objects();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_refused, &o),
        cmocka_unit_test_prestate(test_written, &o),
        cmocka_unit_test_prestate(test_nothing_is_forgotten, &o),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    destroy_objects(&o);
    return failed;
}
