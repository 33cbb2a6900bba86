/* NULL for each pointer of each function: HISTO_INVALID with a sentence where it must not be NULL, and otherwise as if
 * nothing had been asked for. Nothing else changes, and places for new objects and numbers are NULL and zero. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

enum { BINS = 4, SAMPLES = 6, MOST = 8, SCRATCH = 1024 };

static const char *const saved_json =
    "{\"h\": {\"uhi_schema\": 1, \"axes\": [{\"type\": \"regular\", \"lower\": 0.0, \"upper\": 4.0, \"bins\": 4, "
    "\"underflow\": false, \"overflow\": false, \"circular\": false}], "
    "\"storage\": {\"type\": \"int\", \"values\": [1, 2, 3, 4]}}}";

/* What the calls are made with. */
typedef struct objects {
    histo_hist *hist, *other, *weighted, *joint;
    histo_plan *plan;
    histo_map *map;
    histo_quantiles *quantiles, *done;
    histo_survey *survey, *found;
    void *part; /* a saved survey */
    size_t part_size;
} objects;

static uint8_t bytes[SAMPLES] = {0, 1, 1, 2, 3, 3};
static const histo_axis *axes;
static histo_view samples[2];
static objects o;

static void prepare(void)
{
    static histo_axis two[2];
    const double median = 0.5;
    const histo_view all = histo_view_1d(bytes, HISTO_U8, SAMPLES);
    two[0] = two[1] = histo_axis_integer(0, BINS);
    axes = two;
    samples[0] = samples[1] = all;
    o = (objects){0};
    OK(histo_hist_create(&o.hist, 1, axes, NULL));
    OK(histo_hist_create(&o.other, 1, axes, NULL));
    OK(histo_hist_create(&o.joint, 2, axes, NULL));
    OK(histo_hist_create(&o.weighted, 1, axes, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST}));
    histo_hist *const all_of_them[] = {o.hist, o.other, o.joint, o.weighted};
    for (int i = 0; i < 4; i++)
        OK(histo_hist_fill(all_of_them[i], samples, NULL));
    OK(histo_plan_create(&o.plan, o.hist, samples, NULL, NULL));
    OK(histo_map_create(&o.map, 1, axes, NULL));
    OK(histo_quantiles_create(&o.quantiles, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, &median));
    OK(histo_quantiles_create(&o.done, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, &median));
    while (quantiles_next_pass(o.done))
        OK(histo_quantiles_add(o.done, &all, NULL));
    const histo_survey_options in_parts = {.bins = BINS, .in_parts = true};
    OK(histo_survey_create(&o.survey, HISTO_U8, &in_parts));
    OK(histo_survey_create(&o.found, HISTO_U8, &in_parts));
    while (survey_next_pass(o.found))
        OK(histo_survey_add(o.found, &all, NULL));
    assert_true(survey_next_pass(o.survey) && quantiles_next_pass(o.quantiles));
    OK(histo_survey_save(o.survey, &o.part, &o.part_size));
}

static void release(void)
{
    histo_free(o.part);
    histo_survey_destroy(o.found);
    histo_survey_destroy(o.survey);
    histo_quantiles_destroy(o.done);
    histo_quantiles_destroy(o.quantiles);
    histo_map_destroy(o.map);
    histo_plan_destroy(o.plan);
    histo_hist_destroy(o.weighted);
    histo_hist_destroy(o.joint);
    histo_hist_destroy(o.other);
    histo_hist_destroy(o.hist);
}

/* ---- The calls: p are pointers, in the order of the arguments ---- */

/* Destroys what a call made; a failed call made nothing. */
static histo_status made_hist(histo_status status, void *place)
{
    histo_hist **made = place;
    if (!made) return status;
    if (status == HISTO_OK)
        histo_hist_destroy(*made);
    else
        assert_null(*made);
    return status;
}

static histo_status made_memory(histo_status status, void *place, const size_t *size)
{
    void **made = place;
    if (made && status != HISTO_OK) assert_null(*made);
    if (size && status != HISTO_OK) assert_int_equal(*size, 0);
    if (made && status == HISTO_OK) histo_free(*made);
    return status;
}

static histo_status call_dtype_parse(void **p)
{
    return histo_dtype_parse(p[0], p[1]);
}

static histo_status call_rule_parse(void **p)
{
    return histo_rule_parse(p[0], p[1]);
}

static histo_status call_quantile_rule_parse(void **p)
{
    return histo_quantile_rule_parse(p[0], p[1]);
}

static histo_status call_split_method_parse(void **p)
{
    return histo_split_method_parse(p[0], p[1]);
}

static histo_status call_metric_parse(void **p)
{
    return histo_metric_parse(p[0], p[1]);
}

static histo_status call_view_coalesce(void **p)
{
    return histo_view_coalesce(1, p[0], 1, 0, p[1], p[2]);
}

static histo_status call_axis_check(void **p)
{
    return histo_axis_check(p[0]);
}

static histo_status call_axis_edges(void **p)
{
    return histo_axis_edges(p[0], p[1]);
}

static histo_status call_linspace(void **p)
{
    return histo_linspace(BINS, 0, 1, HISTO_F64, HISTO_F64, p[0]);
}

static histo_status call_hist_create(void **p)
{
    return made_hist(histo_hist_create(p[0], 1, p[1], p[2]), p[0]);
}

static histo_status call_hist_clone(void **p)
{
    return made_hist(histo_hist_clone(p[0], p[1]), p[1]);
}

static histo_status call_hist_reset(void **p)
{
    return histo_hist_reset(p[0], NULL);
}

static histo_status call_hist_set_name(void **p)
{
    return histo_hist_set_name(p[0], p[1]);
}

static histo_status call_hist_set_metadata(void **p)
{
    return histo_hist_set_metadata(p[0], p[1]);
}

static histo_status call_hist_fill(void **p)
{
    return histo_hist_fill(p[0], p[1], p[2]);
}

static histo_status call_hist_fill_chunks(void **p)
{
    return histo_hist_fill_chunks(p[0], 1, p[1], p[2]);
}

static histo_status call_hist_read_counts(void **p)
{
    return histo_hist_read_counts(p[0], HISTO_BINS, p[1], BINS, p[2]);
}

static histo_status call_hist_occupied(void **p)
{
    return histo_hist_occupied(p[0], HISTO_BINS, p[1]);
}

static histo_status call_hist_read_occupied(void **p)
{
    return histo_hist_read_occupied(p[0], HISTO_BINS, p[1], p[2], BINS);
}

static histo_status call_hist_read_weights(void **p)
{
    return histo_hist_read_weights(p[0], HISTO_BINS, p[1], p[2], BINS, p[3]);
}

static histo_status call_hist_borrow(void **p)
{
    return histo_hist_borrow(p[0], p[1], p[2], p[3]);
}

static histo_status call_hist_tally(void **p)
{
    return histo_hist_tally(p[0], p[1]);
}

static histo_status call_hist_read_masked(void **p)
{
    return histo_hist_read_masked(p[0], p[1], 1);
}

static histo_status call_hist_write(void **p)
{
    return histo_hist_write(p[0], HISTO_BINS, p[1], p[2], p[3], BINS, p[4]);
}

static histo_status call_hist_put(void **p)
{
    return histo_hist_put(p[0], 1, p[1], p[2], NULL, NULL);
}

static histo_status call_hist_merge(void **p)
{
    return histo_hist_merge(p[0], p[1]);
}

static histo_status call_hist_subtract(void **p)
{
    return histo_hist_subtract(p[0], p[1]);
}

static histo_status call_hist_scale(void **p)
{
    return histo_hist_scale(p[0], 2);
}

static histo_status call_hist_equal(void **p)
{
    return histo_hist_equal(p[0], p[1], p[2]);
}

static histo_status call_hist_fingerprint(void **p)
{
    return histo_hist_fingerprint(p[0], p[1]);
}

static histo_status call_hist_word_layout(void **p)
{
    return histo_hist_word_layout(p[0], p[1]);
}

static histo_status call_hist_count_words(void **p)
{
    return histo_hist_count_words(p[0], p[1], p[2], p[3]);
}

static histo_status call_hist_read_words(void **p)
{
    return histo_hist_read_words(p[0], p[1], 0, BINS, p[2]);
}

static histo_status call_hist_write_words(void **p)
{
    return histo_hist_write_words(p[0], p[1], 0, BINS, p[2]);
}

static histo_status call_hist_add_words(void **p)
{
    return histo_hist_add_words(p[0], p[1], 0, BINS, p[2]);
}

static histo_status call_hist_borrow_words(void **p)
{
    return histo_hist_borrow_words(p[0], p[1], 0, BINS, p[2]);
}

static histo_status call_hist_add_occupied(void **p)
{
    return histo_hist_add_occupied(p[0], HISTO_BINS, p[1], p[2], 1);
}

static histo_status call_hist_add_masked(void **p)
{
    return histo_hist_add_masked(p[0], p[1], 1);
}

static histo_status call_hist_project(void **p)
{
    return made_hist(histo_hist_project(p[0], 1, p[1], p[2]), p[2]);
}

static histo_status call_hist_rebin(void **p)
{
    return made_hist(histo_hist_rebin(p[0], 0, 2, p[1]), p[1]);
}

static histo_status call_hist_slice(void **p)
{
    return made_hist(histo_hist_slice(p[0], 0, 1, 2, p[1]), p[1]);
}

static histo_status call_hist_regroup(void **p)
{
    return made_hist(histo_hist_regroup(p[0], p[1], p[2]), p[2]);
}

static histo_status call_hist_quantiles(void **p)
{
    return histo_hist_quantiles(p[0], HISTO_QUANTILE_LINEAR, 1, p[1], p[2]);
}

static histo_status call_quantiles_create(void **p)
{
    histo_quantiles **made = p[0];
    const histo_status status = histo_quantiles_create(made, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, p[1]);
    if (made && status == HISTO_OK) histo_quantiles_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_quantiles_next_pass(void **p)
{
    return histo_quantiles_next_pass(p[0], p[1]);
}

static histo_status call_quantiles_add(void **p)
{
    return histo_quantiles_add(p[0], p[1], p[2]);
}

static histo_status call_quantiles_read(void **p)
{
    return histo_quantiles_read(p[0], p[1]);
}

static histo_status call_hist_summarize(void **p)
{
    return histo_hist_summarize(p[0], p[1]);
}

static histo_status call_hist_split(void **p)
{
    return histo_hist_split(p[0], HISTO_SPLIT_OTSU, 2, p[1]);
}

static histo_status call_hist_compare(void **p)
{
    return histo_hist_compare(p[0], p[1], HISTO_CHI_SQUARE, p[2]);
}

static histo_status call_hist_inform(void **p)
{
    return histo_hist_inform(p[0], p[1]);
}

static histo_status call_map_create(void **p)
{
    histo_map **made = p[0];
    const histo_status status = histo_map_create(made, 1, p[1], p[2]);
    if (made && status == HISTO_OK) histo_map_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_map_write(void **p)
{
    return histo_map_write(p[0], p[1], BINS + 3);
}

static histo_status call_map_read(void **p)
{
    return histo_map_read(p[0], p[1], BINS + 3);
}

static histo_status call_map_equalize(void **p)
{
    return histo_map_equalize(p[0], p[1], p[2]);
}

static histo_status call_map_match(void **p)
{
    return histo_map_match(p[0], p[1], p[2], NULL);
}

static histo_status call_map_landmarks(void **p)
{
    return histo_map_landmarks(p[0], p[1], 2, p[2], p[3], false, NULL);
}

static histo_status call_map_project(void **p)
{
    return histo_map_project(p[0], p[1], p[2], p[3]);
}

static histo_status call_map_classes(void **p)
{
    return histo_map_classes(p[0], p[1], HISTO_SPLIT_OTSU, 2, p[2]);
}

static histo_status call_map_apply(void **p)
{
    return histo_map_apply(p[0], p[1], p[2], p[3]);
}

static histo_status call_map_moments(void **p)
{
    return histo_map_moments(p[0], p[1], p[2], p[3], p[4]);
}

static histo_status call_hist_save(void **p)
{
    return made_memory(histo_hist_save(p[0], HISTO_JSON, p[1], p[2], p[3]), p[2], p[3]);
}

static histo_status call_hist_load(void **p)
{
    return made_hist(histo_hist_load(p[0], strlen(saved_json), p[1], p[2]), p[2]);
}

static histo_status call_hist_save_outline(void **p)
{
    return made_memory(histo_hist_save_outline(p[0], p[1], p[2], p[3]), p[2], p[3]);
}

static histo_status call_hist_load_outline(void **p)
{
    return made_hist(histo_hist_load_outline(p[0], strlen(saved_json), 0, HISTO_U64, p[1], p[2], p[3]), p[3]);
}

static histo_status call_strategy_describe(void **p)
{
    return histo_strategy_describe(0, p[0]);
}

static histo_status made_plan(histo_status status, void *place)
{
    histo_plan **made = place;
    if (made && status == HISTO_OK) histo_plan_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_plan_create(void **p)
{
    return made_plan(histo_plan_create(p[0], p[1], p[2], p[3], p[4]), p[0]);
}

static histo_status call_plan_create_pairs(void **p)
{
    return made_plan(histo_plan_create_pairs(p[0], p[1], p[2], p[3], p[4], p[5]), p[0]);
}

static histo_status call_plan_fill(void **p)
{
    return histo_plan_fill(p[0], p[1], p[2], p[3]);
}

static histo_status call_plan_fill_read(void **p)
{
    return histo_plan_fill_read(p[0], p[1], p[2], p[3], HISTO_BINS, p[4], BINS, p[5]);
}

static histo_status call_hist_fill_pairs(void **p)
{
    return histo_hist_fill_pairs(p[0], p[1], p[2], p[3]);
}

static histo_status call_count(void **p)
{
    return histo_count(1, p[0], p[1], p[2], p[3], BINS, p[4], p[5]);
}

static histo_status call_wisdom_save(void **p)
{
    return histo_wisdom_save(p[0]);
}

static histo_status call_wisdom_load(void **p)
{
    return histo_wisdom_load(p[0]);
}

static histo_status call_survey_create(void **p)
{
    histo_survey **made = p[0];
    const histo_status status = histo_survey_create(made, HISTO_U8, p[1]);
    if (made && status == HISTO_OK) histo_survey_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_survey_next_pass(void **p)
{
    return histo_survey_next_pass(p[0], p[1]);
}

static histo_status call_survey_add(void **p)
{
    return histo_survey_add(p[0], p[1], p[2]);
}

static histo_status call_survey_add_sums(void **p)
{
    return histo_survey_add_sums(p[0], p[1], p[2], p[3]);
}

static histo_status call_survey_save(void **p)
{
    return made_memory(histo_survey_save(p[0], p[1], p[2]), p[1], p[2]);
}

static histo_status call_survey_merge(void **p)
{
    return histo_survey_merge(p[0], p[1], o.part_size);
}

static histo_status call_survey_replace(void **p)
{
    return histo_survey_replace(p[0], p[1], o.part_size);
}

static histo_status call_survey_axis(void **p)
{
    return histo_survey_axis(p[0], p[1]);
}

static histo_status call_axis_from_data(void **p)
{
    return histo_axis_from_data(p[0], p[1], p[2], p[3]);
}

static histo_status call_stats_add(void **p)
{
    return histo_stats_add(p[0], p[1], p[2]);
}

static histo_status call_power_sums_add(void **p)
{
    return histo_power_sums_add(p[0], p[1], p[2]);
}

static histo_status call_find_extremes(void **p)
{
    return histo_find_extremes(p[0], p[1], p[2], 1);
}

/* ---- The table ---- */

/* arguments: what each pointer points to (see pointer_to); those that may be NULL end in '?'. */
typedef struct call {
    const char *name;
    histo_status (*function)(void **p);
    const char *arguments;
} call;

static const call calls[] = {
    {"dtype_parse", call_dtype_parse, "dtype scratch"},
    {"rule_parse", call_rule_parse, "rule scratch"},
    {"quantile_rule_parse", call_quantile_rule_parse, "quantile_rule scratch"},
    {"split_method_parse", call_split_method_parse, "method scratch"},
    {"metric_parse", call_metric_parse, "metric scratch"},
    {"view_coalesce", call_view_coalesce, "view_to_set shape strides"},
    {"axis_check", call_axis_check, "axis"},
    {"axis_edges", call_axis_edges, "axis scratch"},
    {"linspace", call_linspace, "scratch"},
    {"hist_create", call_hist_create, "scratch axis none?"},
    {"hist_clone", call_hist_clone, "hist scratch"},
    {"hist_reset", call_hist_reset, "hist"},
    {"hist_set_name", call_hist_set_name, "hist dtype?"},
    {"hist_set_metadata", call_hist_set_metadata, "hist metadata?"},
    {"hist_fill", call_hist_fill, "hist view none?"},
    {"hist_fill_chunks", call_hist_fill_chunks, "hist chunk none?"},
    {"hist_read_counts", call_hist_read_counts, "hist scratch none?"},
    {"hist_occupied", call_hist_occupied, "hist scratch"},
    {"hist_read_occupied", call_hist_read_occupied, "hist scratch? scratch?"},
    {"hist_read_weights", call_hist_read_weights, "weighted scratch? scratch? none?"},
    {"hist_borrow", call_hist_borrow, "hist scratch? scratch? scratch?"},
    {"hist_tally", call_hist_tally, "hist scratch"},
    {"hist_read_masked", call_hist_read_masked, "hist scratch"},
    {"hist_write", call_hist_write, "weighted counts numbers? numbers? counts?"},
    {"hist_put", call_hist_put, "hist index counts"},
    {"hist_merge", call_hist_merge, "hist other"},
    {"hist_subtract", call_hist_subtract, "hist other"},
    {"hist_scale", call_hist_scale, "weighted"},
    {"hist_equal", call_hist_equal, "hist other scratch"},
    {"hist_fingerprint", call_hist_fingerprint, "hist scratch"},
    {"hist_word_layout", call_hist_word_layout, "hist scratch"},
    {"hist_count_words", call_hist_count_words, "hist layout scratch scratch"},
    {"hist_read_words", call_hist_read_words, "hist layout scratch"},
    {"hist_write_words", call_hist_write_words, "hist layout counts"},
    {"hist_add_words", call_hist_add_words, "hist layout counts"},
    {"hist_borrow_words", call_hist_borrow_words, "hist layout scratch"},
    {"hist_add_occupied", call_hist_add_occupied, "hist index counts"},
    {"hist_add_masked", call_hist_add_masked, "hist counts"},
    {"hist_project", call_hist_project, "joint axis_numbers scratch"},
    {"hist_rebin", call_hist_rebin, "hist scratch"},
    {"hist_slice", call_hist_slice, "hist scratch"},
    {"hist_regroup", call_hist_regroup, "hist regrouping scratch"},
    {"hist_quantiles", call_hist_quantiles, "hist numbers scratch"},
    {"quantiles_create", call_quantiles_create, "scratch numbers"},
    {"quantiles_next_pass", call_quantiles_next_pass, "quantiles scratch"},
    {"quantiles_add", call_quantiles_add, "quantiles view none?"},
    {"quantiles_read", call_quantiles_read, "quantiles_done scratch"},
    {"hist_summarize", call_hist_summarize, "hist scratch"},
    {"hist_split", call_hist_split, "hist scratch"},
    {"hist_compare", call_hist_compare, "hist other scratch"},
    {"hist_inform", call_hist_inform, "joint scratch"},
    {"map_create", call_map_create, "scratch axis none?"},
    {"map_write", call_map_write, "map numbers"},
    {"map_read", call_map_read, "map scratch"},
    {"map_equalize", call_map_equalize, "map hist none?"},
    {"map_match", call_map_match, "map hist other"},
    {"map_landmarks", call_map_landmarks, "map hist numbers numbers"},
    {"map_project", call_map_project, "map hist other? none?"},
    {"map_classes", call_map_classes, "map hist none?"},
    {"map_apply", call_map_apply, "map view view_of_scratch none?"},
    {"map_moments", call_map_moments, "map image window? none? scratch"},
    {"hist_save", call_hist_save, "hist dtype? scratch scratch"},
    {"hist_load", call_hist_load, "json key? scratch"},
    {"hist_save_outline", call_hist_save_outline, "hist flow scratch scratch"},
    {"hist_load_outline", call_hist_load_outline, "json none_at_all? none_at_all? scratch"},
    {"strategy_describe", call_strategy_describe, "scratch"},
    {"plan_create", call_plan_create, "scratch hist view none? none?"},
    {"plan_create_pairs", call_plan_create_pairs, "scratch joint stack pairs none? none?"},
    {"plan_fill", call_plan_fill, "plan hist view none?"},
    {"plan_fill_read", call_plan_fill_read, "plan hist view none? scratch none?"},
    {"hist_fill_pairs", call_hist_fill_pairs, "joint stack pairs none?"},
    {"count", call_count, "axis view none? scratch scratch? none?"},
    {"wisdom_save", call_wisdom_save, "path"},
    {"wisdom_load", call_wisdom_load, "path"},
    {"survey_create", call_survey_create, "scratch survey_options"},
    {"survey_next_pass", call_survey_next_pass, "survey scratch"},
    {"survey_add", call_survey_add, "survey view none?"},
    {"survey_add_sums", call_survey_add_sums, "survey view none? scratch"},
    {"survey_save", call_survey_save, "survey scratch scratch"},
    {"survey_merge", call_survey_merge, "survey part"},
    {"survey_replace", call_survey_replace, "survey part"},
    {"survey_axis", call_survey_axis, "survey_done scratch"},
    {"axis_from_data", call_axis_from_data, "view none? survey_options scratch"},
    {"stats_add", call_stats_add, "scratch view none?"},
    {"power_sums_add", call_power_sums_add, "scratch view none?"},
    {"find_extremes", call_find_extremes, "view none? scratch"},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* What a word of the table points to: an object, an input, or room that is zero. */
static void *pointer_to(const char *word, int argument)
{
    static uint64_t scratch[MOST][SCRATCH], counts[BINS] = {4, 3, 2, 1};
    static double numbers[BINS + 3] = {0, 0.5, 0.75, 1, 1, 1, 1};
    static int64_t index[] = {1}, shape[] = {SAMPLES}, steps[] = {1}, window[] = {0, 0, 1, 1};
    static const int64_t *strides[] = {steps};
    static int axis_numbers[] = {1};
    static bool flow[1][2];
    static const uint64_t none[128];
    static histo_word_layout layout;
    static histo_pairs pairs = {.pairing = HISTO_PAIRS_RING};
    static histo_survey_options survey_options = {.bins = BINS};
    static histo_view view_to_set, image, stack, view_of_scratch;
    static histo_regrouping regrouping;
    static histo_fill_chunk chunk;
    view_to_set = (histo_view){.data = bytes, .dtype = HISTO_U8};
    image = histo_view_nd(bytes, HISTO_U8, 2, (int64_t[]){2, SAMPLES / 2});
    stack = histo_view_nd(bytes, HISTO_U8, 2, (int64_t[]){2, SAMPLES / 2});
    view_of_scratch = histo_view_1d(scratch[argument], HISTO_U8, SAMPLES);
    regrouping = (histo_regrouping){.naxes = 1, .axes = axes, .entry = -1};
    chunk = (histo_fill_chunk){.views = samples};
    memset(scratch[argument], 0, sizeof scratch[argument]);
    const struct {
        const char *word;
        const void *pointer;
    } things[] = {
        {"hist", o.hist},
        {"other", o.other},
        {"weighted", o.weighted},
        {"joint", o.joint},
        {"plan", o.plan},
        {"map", o.map},
        {"quantiles", o.quantiles},
        {"quantiles_done", o.done},
        {"survey", o.survey},
        {"survey_done", o.found},
        {"part", o.part},
        {"axis", axes},
        {"view", samples},
        {"view_to_set", &view_to_set},
        {"view_of_scratch", &view_of_scratch},
        {"image", &image},
        {"stack", &stack},
        {"pairs", &pairs},
        {"chunk", &chunk},
        {"regrouping", &regrouping},
        {"layout", &layout},
        {"survey_options", &survey_options},
        {"window", window},
        {"shape", shape},
        {"strides", strides},
        {"axis_numbers", axis_numbers},
        {"index", index},
        {"counts", counts},
        {"numbers", numbers},
        {"flow", flow},
        {"none", none},
        {"none_at_all", NULL},
        {"scratch", scratch[argument]},
        {"dtype", "u8"},
        {"rule", "fd"},
        {"quantile_rule", "linear"},
        {"method", "otsu"},
        {"metric", "chi-square"},
        {"key", "h"},
        {"metadata", "{\"a\": 1}"},
        {"json", saved_json},
        {"path", "null-wisdom.txt"},
    };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (!strcmp(things[i].word, word)) return (void *)(uintptr_t)things[i].pointer;
    fail_msg("nothing is called %s", word);
    return NULL;
}

/* Call with all arguments but one, or with all if `without` is negative; false if there is no such argument. */
static bool call_without(const call *c, int without)
{
    char text[256], *save = NULL;
    void *p[MOST];
    int n = 0;
    bool may_be_null = without < 0;
    prepare();
    histo_hist *before;
    OK(histo_hist_clone(o.hist, &before));
    snprintf(text, sizeof text, "%s", c->arguments);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save), n++) {
        char *mark = strchr(word, '?');
        if (mark) *mark = '\0';
        p[n] = pointer_to(word, n);
        if (n == without) p[n] = NULL;
        if (n == without && mark) may_be_null = true;
    }
    if (without < n) {
        histo_set_error(HISTO_INVALID, "");
        const histo_status status = c->function(p);
        if (may_be_null && status != HISTO_OK)
            fail_msg("histo_%s without argument %d: %s, %s", c->name, without, histo_status_name(status),
                     histo_last_error());
        if (!may_be_null && (status != HISTO_INVALID || !*histo_last_error()))
            fail_msg("histo_%s without argument %d: %s, %s", c->name, without, histo_status_name(status),
                     histo_last_error());
        bool same = true;
        if (!may_be_null) OK(histo_hist_equal(before, o.hist, &same));
        if (!same) fail_msg("histo_%s without argument %d changed the histogram", c->name, without);
    }
    histo_hist_destroy(before);
    release();
    return without < n;
}

static void test_each_pointer(void **state)
{
    (void)state;
    for (int c = 0; c < CALLS; c++)
        for (int without = -1; call_without(&calls[c], without); without++)
            ;
    remove("null-wisdom.txt");
}

/* ---- Functions without a status ---- */

static void test_values(void **state)
{
    (void)state;
    int64_t at[HISTO_MAX_AXES];
    histo_axis axis = histo_axis_variable(3, NULL);
    assert_true(isnan(histo_sample_value(NULL, HISTO_F32)));
    assert_int_equal(histo_view_size(NULL), 0);
    REFUSED(HISTO_INVALID, "dimensions",
            histo_axis_from_data(&(histo_view){.ndim = HISTO_MAX_DIMS + 1}, NULL, &(histo_survey_options){.bins = 1},
                                 &axis));
    const histo_view shapeless = histo_view_nd(bytes, HISTO_U8, 2, NULL);
    assert_int_equal(histo_view_size(&shapeless), 0);
    axis = histo_axis_variable(3, NULL);
    assert_true(isnan(histo_axis_edge(NULL, 0)) && isnan(histo_axis_edge(&axis, 0)));
    axis = histo_axis_integer(0, 3);
    assert_true(isnan(histo_axis_edge(&axis, -1)) && isnan(histo_axis_edge(&axis, 4)));
    assert_true(histo_axis_edge(&axis, 3) == 3);
    assert_false(histo_axis_equal(NULL, &axis));
    assert_false(histo_axis_equal(&axis, NULL));
    assert_int_equal(histo_hist_naxes(NULL), 0);
    assert_int_equal(histo_hist_batch(NULL), 0);
    assert_int_equal(histo_hist_weighting(NULL), HISTO_UNWEIGHTED);
    assert_int_equal(histo_hist_storage(NULL), HISTO_DENSE);
    assert_int_equal(histo_hist_axis(NULL, 0).bins, 0);
    assert_int_equal(histo_hist_size(NULL, HISTO_FLOW), 0);
    assert_int_equal(histo_hist_unravel(NULL, HISTO_BINS, 0, at), -1);
    assert_null(histo_hist_name(NULL));
    assert_null(histo_hist_metadata(NULL));
    assert_null(histo_hist_last_plan(NULL));
    assert_int_equal(histo_map_size(NULL), 0);
    assert_null(histo_plan_strategy(NULL));
    assert_int_equal(histo_plan_threads(NULL), 0);
    char text[] = "before";
    assert_int_equal(histo_plan_explain(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_true(histo_machine_describe(NULL, sizeof text) > 0);
    assert_int_equal(histo_memory_device(NULL), HISTO_DEVICE_CPU);
    for (histo_status status = HISTO_OK; status <= HISTO_CANCELLED; status++)
        assert_non_null(histo_status_name(status));
    assert_null(histo_status_name(HISTO_CANCELLED + 1));
    assert_string_equal(histo_status_name(HISTO_DEVICE), "HISTO_DEVICE");
    assert_null(histo_dtype_name(999));
    assert_null(histo_axis_kind_name(999));
    assert_null(histo_weighting_name(999));
    assert_int_equal(histo_dtype_size(999), 0);
    histo_hist_swap(NULL, NULL);
    histo_stats_merge(NULL, NULL);
    histo_power_sums_merge(NULL, NULL);
    histo_power_sums_read(NULL, NULL);
    histo_stats stats;
    histo_power_sums_read(NULL, &stats);
    assert_int_equal(stats.samples, 0);
}

/* Index of a sample that is not there. */
static void test_unravel(void **state)
{
    (void)state;
    int64_t at[HISTO_MAX_AXES];
    prepare();
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, BINS * BINS - 1, at), 0);
    assert_true(at[0] == BINS - 1 && at[1] == BINS - 1);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, BINS * BINS, at), -1);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, -1, at), -1);
    assert_int_equal(histo_hist_unravel(o.joint, HISTO_BINS, 0, NULL), -1);
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pointer),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_unravel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
