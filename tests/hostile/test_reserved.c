/* A program that was compiled with a later header may ask, in what is reserved here, for what this library does not
 * know: each function that takes such a struct refuses it, by a sentence that names the struct, and changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/calls.h"

enum { SAMPLES = CALL_SAMPLES, BINS = CALL_BINS, MOST = 128 };

/* What calls are made with, and what is seen of them. */
typedef struct trial {
    call_objects with;
    const char *name; /* of the struct */
    bool refused;     /* that is what calls must be; or taken */
    int calls;
    struct {
        const char *function, *name;
    } call[MOST];
} trial;

/* A call of a function has given this. */
static void tried(trial *t, const char *function, histo_status status)
{
    if (!t->refused && status != HISTO_OK) fail_msg("%s: %s", function, histo_last_error());
    if (t->refused && status != HISTO_INVALID)
        fail_msg("%s takes %s that asks for what it does not know: %u", function, t->name, (unsigned)status);
    if (t->refused && !strstr(histo_last_error(), t->name))
        fail_msg("%s: '%s' does not name %s", function, histo_last_error(), t->name);
    if (t->refused) return;
    assert_true(t->calls < MOST);
    t->call[t->calls].function = function;
    t->call[t->calls++].name = t->name;
}

/* ---- Calls with each struct ---- */

static void with_axis(trial *t, const void *given)
{
    const histo_axis *axis = given;
    histo_hist *hist = NULL;
    histo_map *map = NULL;
    double edges[BINS + 1];
    uint64_t counts[BINS];
    const histo_regrouping one = {.naxes = 1, .axes = axis, .entry = -1};
    tried(t, "histo_axis_check", histo_axis_check(axis));
    tried(t, "histo_axis_edges", histo_axis_edges(axis, edges));
    tried(t, "histo_hist_create", histo_hist_create(&hist, 1, axis, NULL));
    tried(t, "histo_map_create", histo_map_create(&map, 1, axis, NULL));
    tried(t, "histo_count", histo_count(1, axis, t->with.samples, NULL, counts, BINS, NULL, NULL));
    histo_hist_destroy(hist);
    hist = NULL;
    tried(t, "histo_hist_regroup", histo_hist_regroup(t->with.hist, &one, &hist));
    histo_hist_destroy(hist);
    histo_map_destroy(map);
}

static void with_allocator(trial *t, const void *given)
{
    tried(t, "histo_set_allocator", histo_set_allocator(given));
}

static void with_device_allocator(trial *t, const void *given)
{
    tried(t, "histo_set_device_allocator", histo_set_device_allocator(given));
}

static void with_hist_options(trial *t, const void *options)
{
    histo_hist *hist = NULL;
    tried(t, "histo_hist_create", histo_hist_create(&hist, 1, t->with.axes, options));
    histo_hist_destroy(hist);
}

/* `samples` are records if the options have a function. */
static void fill(trial *t, const histo_view *samples, const histo_fill_options *options)
{
    const histo_plan *made = options->functions ? t->with.of_records : t->with.plan;
    histo_plan *plan = NULL;
    uint64_t counts[BINS];
    histo_axis axis;
    histo_extremes extremes;
    histo_stats stats = {0};
    histo_power_sums sums = {0};
    const histo_survey_options bins = {.bins = BINS};
    tried(t, "histo_hist_fill", histo_hist_fill(t->with.hist, samples, options));
    tried(t, "histo_plan_create", histo_plan_create(&plan, t->with.hist, samples, options, NULL));
    histo_plan_destroy(plan);
    tried(t, "histo_plan_fill", histo_plan_fill(made, t->with.hist, samples, options));
    tried(t, "histo_plan_fill_read",
          histo_plan_fill_read(made, t->with.hist, samples, options, HISTO_BINS, counts, BINS, NULL));
    tried(t, "histo_count", histo_count(1, t->with.axes, samples, options, counts, BINS, NULL, NULL));
    tried(t, "histo_quantiles_add", histo_quantiles_add(t->with.quantiles, samples, options));
    tried(t, "histo_thresholds_add", histo_thresholds_add(t->with.thresholds, samples, options));
    tried(t, "histo_ranks_add", histo_ranks_add(t->with.ranks, samples, options));
    tried(t, "histo_survey_add", histo_survey_add(t->with.survey, samples, options));
    tried(t, "histo_survey_add_sums", histo_survey_add_sums(t->with.survey, samples, options, &sums));
    tried(t, "histo_axis_from_data", histo_axis_from_data(samples, options, &bins, &axis));
    tried(t, "histo_stats_add", histo_stats_add(&stats, samples, options));
    tried(t, "histo_power_sums_add", histo_power_sums_add(&sums, samples, options));
    tried(t, "histo_find_extremes", histo_find_extremes(samples, options, &extremes, 1));
    assert_true(!t->refused || (stats.samples == 0 && sums.samples == 0));
}

static void with_fill_options(trial *t, const void *options)
{
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING};
    histo_plan *plan = NULL;
    const histo_fill_chunk chunk = {.views = t->with.samples};
    fill(t, t->with.samples, options);
    tried(t, "histo_hist_fill_chunks", histo_hist_fill_chunks(t->with.hist, 1, &chunk, options));
    tried(t, "histo_hist_fill_pairs", histo_hist_fill_pairs(t->with.joint, &t->with.stack, &ring, options));
    tried(t, "histo_plan_create_pairs",
          histo_plan_create_pairs(&plan, t->with.joint, &t->with.stack, &ring, options, NULL));
    histo_plan_destroy(plan);
}

static void with_fill_chunk(trial *t, const void *given)
{
    histo_fill_chunk chunks[2] = {{.views = t->with.samples}, *(const histo_fill_chunk *)given};
    chunks[1].views = t->with.samples;
    tried(t, "histo_hist_fill_chunks", histo_hist_fill_chunks(t->with.hist, 2, chunks, NULL));
}

static void with_function(trial *t, const void *function)
{
    fill(t, t->with.samples, &(histo_fill_options){.functions = function});
}

static void with_read_options(trial *t, const void *options)
{
    uint64_t counts[BINS];
    double sums[BINS];
    const histo_read_options *reading = options;
    tried(t, "histo_hist_read_counts", histo_hist_read_counts(t->with.hist, HISTO_BINS, counts, BINS, reading));
    tried(t, "histo_hist_read_weights", histo_hist_read_weights(t->with.hist, HISTO_BINS, sums, NULL, BINS, reading));
    tried(t, "histo_plan_fill_read",
          histo_plan_fill_read(t->with.plan, t->with.hist, t->with.samples, NULL, HISTO_BINS, counts, BINS, reading));
}

static void with_regrouping(trial *t, const void *by)
{
    histo_hist *hist = NULL;
    tried(t, "histo_hist_regroup", histo_hist_regroup(t->with.hist, by, &hist));
    histo_hist_destroy(hist);
}

static void with_map_options(trial *t, const void *options)
{
    histo_map *map = NULL;
    tried(t, "histo_map_create", histo_map_create(&map, 1, t->with.axes, options));
    histo_map_destroy(map);
}

static void with_make_options(trial *t, const void *options)
{
    tried(t, "histo_map_equalize", histo_map_equalize(t->with.map, t->with.hist, options));
    tried(t, "histo_map_project", histo_map_project(t->with.map, t->with.hist, NULL, options));
    tried(t, "histo_map_classes", histo_map_classes(t->with.map, t->with.hist, HISTO_SPLIT_MEAN, 2, options));
}

static void with_apply_options(trial *t, const void *options)
{
    uint8_t values[SAMPLES] = {0};
    const histo_view out = histo_view_1d(values, HISTO_U8, SAMPLES);
    histo_moments moments;
    tried(t, "histo_map_apply", histo_map_apply(t->with.map, t->with.samples, &out, options));
    tried(t, "histo_map_moments", histo_map_moments(t->with.map, &t->with.stack, NULL, options, &moments));
}

static void with_plan_options(trial *t, const void *options)
{
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING};
    const histo_count_options counting = {.plan = options};
    uint64_t counts[BINS];
    histo_plan *plan = NULL;
    tried(t, "histo_plan_create", histo_plan_create(&plan, t->with.hist, t->with.samples, NULL, options));
    histo_plan_destroy(plan);
    plan = NULL;
    tried(t, "histo_plan_create_pairs",
          histo_plan_create_pairs(&plan, t->with.joint, &t->with.stack, &ring, NULL, options));
    histo_plan_destroy(plan);
    tried(t, "histo_count", histo_count(1, t->with.axes, t->with.samples, NULL, counts, BINS, NULL, &counting));
}

static void with_count_options(trial *t, const void *options)
{
    uint64_t counts[BINS];
    tried(t, "histo_count", histo_count(1, t->with.axes, t->with.samples, NULL, counts, BINS, NULL, options));
}

static void with_pairs(trial *t, const void *pairs)
{
    histo_plan *plan = NULL;
    tried(t, "histo_hist_fill_pairs", histo_hist_fill_pairs(t->with.joint, &t->with.stack, pairs, NULL));
    tried(t, "histo_plan_create_pairs",
          histo_plan_create_pairs(&plan, t->with.joint, &t->with.stack, pairs, NULL, NULL));
    histo_plan_destroy(plan);
}

static void with_survey_options(trial *t, const void *options)
{
    histo_survey *survey = NULL;
    histo_axis axis;
    tried(t, "histo_survey_create", histo_survey_create(&survey, HISTO_U8, options));
    histo_survey_destroy(survey);
    tried(t, "histo_axis_from_data", histo_axis_from_data(t->with.samples, NULL, options, &axis));
}

static void with_stats(trial *t, const void *given)
{
    histo_stats stats = *(const histo_stats *)given;
    tried(t, "histo_stats_add", histo_stats_add(&stats, t->with.samples, NULL));
}

static void with_features_options(trial *t, const void *options)
{
    static const uint8_t bins[SAMPLES];
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){SAMPLES, 1});
    histo_features *features = NULL;
    tried(t, "histo_features_create", histo_features_create(&features, &table, NULL, options));
    histo_features_destroy(features);
}

static void with_gradients_options(trial *t, const void *options)
{
    tried(t, "histo_gradients_set", histo_gradients_set(t->with.gradients, t->with.samples, options));
}

static void with_node_options(trial *t, const void *options)
{
    uint32_t counts[BINS];
    tried(t, "histo_features_fill",
          histo_features_fill(t->with.features, t->with.gradients, options, &(histo_node_sums){.counts = counts}));
}

static void with_node_sums(trial *t, const void *to)
{
    static uint32_t none[BINS];
    tried(t, "histo_features_fill", histo_features_fill(t->with.features, t->with.gradients, NULL, to));
    tried(t, "histo_node_sums_subtract", histo_node_sums_subtract(to, &(histo_node_sums){.counts = none}, 1, BINS));
}

/* ---- The structs ---- */

static const histo_axis axis = {.kind = HISTO_INTEGER, .bins = BINS, .lo = 0, .hi = BINS};
static const histo_hist_options hist_options;
static const histo_fill_options fill_options;
static const histo_fill_chunk fill_chunk;
static const histo_read_options read_options = {.dtype = HISTO_F64};
static const histo_regrouping regrouping = {.naxes = 1, .axes = &axis, .entry = -1};
static const histo_map_options map_options;
static const histo_make_options make_options;
static const histo_apply_options apply_options;
static const histo_plan_options plan_options;
static const histo_count_options count_options = {.dtype = HISTO_U64};
static const histo_pairs pairs = {.pairing = HISTO_PAIRS_RING};
static const histo_allocator allocator = {0}; /* that which is set */
static const histo_device_allocator device_allocator = {0};
static const histo_survey_options survey_options = {.bins = BINS};
static const histo_stats stats;
static const histo_features_options features_options;
static const histo_gradients_options gradients_options;
static const histo_node_options node_options;
static uint32_t node_counts[BINS];
static const histo_node_sums node_sums = {.counts = node_counts};

/* A struct that is taken, and where its reserved bytes are. */
static const struct {
    const char *name;
    const void *valid;
    size_t size, at, reserved;
    void (*calls)(trial *t, const void *given);
} structs[] = {
    {"histo_axis", &axis, sizeof axis, offsetof(histo_axis, reserved), sizeof axis.reserved, with_axis},
    {"histo_hist_options", &hist_options, sizeof hist_options, offsetof(histo_hist_options, reserved),
     sizeof hist_options.reserved, with_hist_options},
    {"histo_fill_options", &fill_options, sizeof fill_options, offsetof(histo_fill_options, reserved),
     sizeof fill_options.reserved, with_fill_options},
    {"histo_fill_chunk", &fill_chunk, sizeof fill_chunk, offsetof(histo_fill_chunk, reserved),
     sizeof fill_chunk.reserved, with_fill_chunk},
    {"histo_function", &call_function, sizeof call_function, offsetof(histo_function, reserved),
     sizeof call_function.reserved, with_function},
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
    {"histo_device_allocator", &device_allocator, sizeof device_allocator, offsetof(histo_device_allocator, reserved),
     sizeof device_allocator.reserved, with_device_allocator},
    {"histo_pairs", &pairs, sizeof pairs, offsetof(histo_pairs, reserved), sizeof pairs.reserved, with_pairs},
    {"histo_survey_options", &survey_options, sizeof survey_options, offsetof(histo_survey_options, reserved),
     sizeof survey_options.reserved, with_survey_options},
    {"histo_features_options", &features_options, sizeof features_options, offsetof(histo_features_options, reserved),
     sizeof features_options.reserved, with_features_options},
    {"histo_gradients_options", &gradients_options, sizeof gradients_options,
     offsetof(histo_gradients_options, reserved), sizeof gradients_options.reserved, with_gradients_options},
    {"histo_node_options", &node_options, sizeof node_options, offsetof(histo_node_options, reserved),
     sizeof node_options.reserved, with_node_options},
    {"histo_node_sums", &node_sums, sizeof node_sums, offsetof(histo_node_sums, reserved), sizeof node_sums.reserved,
     with_node_sums},
    {"histo_stats", &stats, sizeof stats, offsetof(histo_stats, reserved), sizeof stats.reserved, with_stats},
};
enum { STRUCTS = sizeof structs / sizeof *structs };

/* Structs that the library only writes. */
static const char *const written[] = {"histo_tally", "histo_summary", "histo_information", "histo_strategy_info",
                                      "histo_extremes"};

/* Each byte alone makes a struct that is otherwise taken one that is refused. */
static void test_refused(void **state)
{
    trial *t = *state;
    for (int s = 0; s < STRUCTS; s++) {
        histo_tally before, after;
        unsigned char *given = malloc(structs[s].size);
        assert_non_null(given);
        memcpy(given, structs[s].valid, structs[s].size);
        t->name = structs[s].name;
        t->refused = false;
        structs[s].calls(t, given);
        OK(histo_hist_tally(t->with.hist, &before));
        t->refused = true;
        for (size_t b = 0; b < structs[s].reserved; b++) {
            given[structs[s].at + b] = 1;
            structs[s].calls(t, given);
            given[structs[s].at + b] = 0;
        }
        OK(histo_hist_tally(t->with.hist, &after));
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
    trial *t = *state;
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
    OK(histo_hist_tally(t->with.hist, &tally));
    check_zero("histo_tally", tally.reserved, sizeof tally.reserved);
    OK(histo_hist_summarize(t->with.hist, &summary));
    check_zero("histo_summary", summary.reserved, sizeof summary.reserved);
    OK(histo_hist_inform(t->with.joint, &information));
    check_zero("histo_information", information.reserved, sizeof information.reserved);
    OK(histo_strategy_describe(0, &strategy));
    check_zero("histo_strategy_info", strategy.reserved, sizeof strategy.reserved);
    OK(histo_find_extremes(t->with.samples, NULL, &extremes, 1));
    check_zero("histo_extremes", extremes.reserved, sizeof extremes.reserved);
    histo_power_sums_read(&sums, &of_sums);
    check_zero("histo_stats", of_sums.reserved, sizeof of_sums.reserved);
    OK(histo_axis_from_data(t->with.samples, NULL, &survey_options, &found));
    check_zero("histo_axis", found.reserved, sizeof found.reserved);
    found = histo_hist_axis(t->with.hist, 0);
    check_zero("histo_axis", found.reserved, sizeof found.reserved);
}

/* ---- What the headers declare ---- */

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
static int check_functions(const trial *t, const char *text)
{
    int found = 0;
    declaration d;
    while (next_declaration(&text, &d))
        for (int s = 0; s < STRUCTS; s++) {
            char parameter[64];
            snprintf(parameter, sizeof parameter, "const %s *", structs[s].name);
            /* Few functions of axes and statistics can fail. */
            if (!strcmp(structs[s].name, "histo_axis") || !strcmp(structs[s].name, "histo_stats") ||
                !strstr(d.parameters, parameter))
                continue;
            bool tested = false;
            for (int c = 0; c < t->calls; c++)
                tested |= !strcmp(t->call[c].function, d.name) && !strcmp(t->call[c].name, structs[s].name);
            if (!tested) fail_msg("%s takes %s, and is not tested here", d.name, structs[s].name);
            found++;
        }
    return found;
}

typedef struct findings {
    const trial *tried;
    int structs, functions;
} findings;

static void check_header(void *context, const char *text)
{
    findings *f = context;
    f->structs += check_structs(text);
    f->functions += check_functions(f->tried, text);
}

static void test_nothing_is_forgotten(void **state)
{
    findings f = {.tried = *state};
    assert_true(each_header(check_header, &f) > 5);
    assert_int_equal(f.structs, STRUCTS + sizeof written / sizeof *written);
    assert_true(f.functions > 30);
}

int main(void)
{
    static trial t;
    call_objects_make(&t.with);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_refused, &t),
        cmocka_unit_test_prestate(test_written, &t),
        cmocka_unit_test_prestate(test_nothing_is_forgotten, &t),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    call_objects_free(&t.with);
    return failed;
}
