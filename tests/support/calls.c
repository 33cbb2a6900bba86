#include "support/calls.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 1024 }; /* words of room for a result */

static const char *const saved_json =
    "{\"h\": {\"uhi_schema\": 1, \"axes\": [{\"type\": \"regular\", \"lower\": 0.0, \"upper\": 4.0, \"bins\": 4, "
    "\"underflow\": false, \"overflow\": false, \"circular\": false}], "
    "\"storage\": {\"type\": \"int\", \"values\": [1, 2, 3, 4]}}}";

static uint8_t bytes[CALL_SAMPLES];
static size_t part_size;

static void numbers_of(const void *context, const void *records, int64_t stride, int64_t n, void *numbers)
{
    (void)context;
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)numbers)[i] = ((const uint8_t *)records)[i * stride];
}

const histo_function call_function = {.numbers_of = numbers_of};

static const histo_view table = {bytes, HISTO_U8, 2, 0, {CALL_SAMPLES, 1}, {1, 1}};

void call_objects_make(call_objects *o)
{
    const double median = 0.5;
    const histo_survey_options in_parts = {.bins = CALL_BINS, .in_parts = true};
    const histo_survey_options one_bin = {.bins = 1};
    const histo_hist_options fast = {.weighting = HISTO_WEIGHT_FAST};
    const histo_fill_options records = {.functions = &call_function};
    const int64_t shape[] = {2, CALL_SAMPLES / 2};
    for (int i = 0; i < CALL_SAMPLES; i++)
        bytes[i] = (uint8_t)(i % CALL_BINS);
    *o = (call_objects){.stack = histo_view_nd(bytes, HISTO_U8, 2, shape)};
    o->axes[0] = o->axes[1] = histo_axis_integer(0, CALL_BINS);
    o->samples[0] = o->samples[1] = histo_view_1d(bytes, HISTO_U8, CALL_SAMPLES);
    OK(histo_hist_create(&o->hist, 1, o->axes, NULL));
    OK(histo_hist_create(&o->other, 1, o->axes, NULL));
    OK(histo_hist_create(&o->joint, 2, o->axes, NULL));
    OK(histo_hist_create(&o->weighted, 1, o->axes, &fast));
    histo_hist *const all[] = {o->hist, o->other, o->joint, o->weighted};
    for (int i = 0; i < 4; i++)
        OK(histo_hist_fill(all[i], o->samples, NULL));
    OK(histo_plan_create(&o->plan, o->hist, o->samples, NULL, NULL));
    OK(histo_plan_create(&o->of_records, o->hist, o->samples, &records, NULL));
    OK(histo_map_create(&o->map, 1, o->axes, NULL));
    OK(histo_quantiles_create(&o->quantiles, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, &median));
    OK(histo_quantiles_create(&o->done, HISTO_U8, HISTO_QUANTILE_LINEAR, 1, &median));
    while (quantiles_next_pass(o->done))
        OK(histo_quantiles_add(o->done, o->samples, NULL));
    OK(histo_thresholds_create(&o->thresholds, HISTO_U8, HISTO_SPLIT_OTSU, 2, 0));
    OK(histo_thresholds_create(&o->split, HISTO_U8, HISTO_SPLIT_OTSU, 2, 0));
    while (thresholds_next_pass(o->split))
        OK(histo_thresholds_add(o->split, o->samples, NULL));
    OK(histo_ranks_create(&o->ranks, HISTO_U8));
    OK(histo_ranks_create(&o->ranked, HISTO_U8));
    while (ranks_next_pass(o->ranked))
        OK(histo_ranks_add(o->ranked, o->samples, NULL));
    assert_true(thresholds_next_pass(o->thresholds) && ranks_next_pass(o->ranks));
    OK(histo_thresholds_add(o->thresholds, o->samples, NULL)); /* without samples, there is no threshold */
    OK(histo_survey_create(&o->survey, HISTO_U8, &in_parts));
    OK(histo_survey_create(&o->found, HISTO_U8, &in_parts));
    while (survey_next_pass(o->found))
        OK(histo_survey_add(o->found, o->samples, NULL));
    OK(histo_survey_create(&o->fresh, HISTO_U8, &one_bin));
    OK(histo_survey_create(&o->asked, HISTO_U8, &one_bin));
    OK(histo_survey_ask_quantiles(o->asked, 1, (const double[]){0.5}));
    while (survey_next_pass(o->asked))
        OK(histo_survey_add(o->asked, o->samples, NULL));
    assert_true(survey_next_pass(o->survey) && quantiles_next_pass(o->quantiles));
    OK(histo_survey_save(o->survey, &o->part, &part_size));
    OK(histo_features_create(&o->features, &table, (const int32_t[]){CALL_BINS}, NULL));
    OK(histo_gradients_create(&o->gradients, CALL_SAMPLES, 1));
    OK(histo_gradients_set(o->gradients, o->samples, NULL));
}

void call_objects_free(const call_objects *o)
{
    histo_gradients_destroy(o->gradients);
    histo_features_destroy(o->features);
    histo_free(o->part);
    histo_survey_destroy(o->found);
    histo_survey_destroy(o->fresh);
    histo_survey_destroy(o->asked);
    histo_survey_destroy(o->survey);
    histo_ranks_destroy(o->ranked);
    histo_ranks_destroy(o->ranks);
    histo_thresholds_destroy(o->split);
    histo_thresholds_destroy(o->thresholds);
    histo_quantiles_destroy(o->done);
    histo_quantiles_destroy(o->quantiles);
    histo_map_destroy(o->map);
    histo_plan_destroy(o->of_records);
    histo_plan_destroy(o->plan);
    histo_hist_destroy(o->weighted);
    histo_hist_destroy(o->joint);
    histo_hist_destroy(o->other);
    histo_hist_destroy(o->hist);
}

/* ---- The calls: p are pointers, in the order of the arguments ---- */

/* Destroy what a call created; a failed call created nothing. */
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
    return histo_linspace(CALL_BINS, 0, 1, HISTO_F64, HISTO_F64, p[0]);
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
    return histo_hist_read_counts(p[0], HISTO_BINS, p[1], CALL_BINS, p[2]);
}

static histo_status call_hist_occupied(void **p)
{
    return histo_hist_occupied(p[0], HISTO_BINS, p[1]);
}

static histo_status call_hist_read_occupied(void **p)
{
    return histo_hist_read_occupied(p[0], HISTO_BINS, p[1], p[2], CALL_BINS);
}

static histo_status call_hist_read_weights(void **p)
{
    return histo_hist_read_weights(p[0], HISTO_BINS, p[1], p[2], CALL_BINS, p[3]);
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
    return histo_hist_write(p[0], HISTO_BINS, p[1], p[2], p[3], CALL_BINS, p[4]);
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
    return histo_hist_read_words(p[0], p[1], 0, CALL_BINS, p[2]);
}

static histo_status call_hist_write_words(void **p)
{
    return histo_hist_write_words(p[0], p[1], 0, CALL_BINS, p[2]);
}

static histo_status call_hist_add_words(void **p)
{
    return histo_hist_add_words(p[0], p[1], 0, CALL_BINS, p[2]);
}

static histo_status call_hist_borrow_words(void **p)
{
    return histo_hist_borrow_words(p[0], p[1], 0, CALL_BINS, p[2]);
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

static histo_status call_thresholds_create(void **p)
{
    histo_thresholds **made = p[0];
    const histo_status status = histo_thresholds_create(made, HISTO_U8, HISTO_SPLIT_OTSU, 2, 0);
    if (made && status == HISTO_OK) histo_thresholds_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_thresholds_next_pass(void **p)
{
    return histo_thresholds_next_pass(p[0], p[1]);
}

static histo_status call_thresholds_add(void **p)
{
    return histo_thresholds_add(p[0], p[1], p[2]);
}

static histo_status call_thresholds_read(void **p)
{
    return histo_thresholds_read(p[0], p[1]);
}

static histo_status call_ranks_create(void **p)
{
    histo_ranks **made = p[0];
    const histo_status status = histo_ranks_create(made, HISTO_U8);
    if (made && status == HISTO_OK) histo_ranks_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_ranks_next_pass(void **p)
{
    return histo_ranks_next_pass(p[0], p[1]);
}

static histo_status call_ranks_add(void **p)
{
    return histo_ranks_add(p[0], p[1], p[2]);
}

static histo_status call_ranks_size(void **p)
{
    return histo_ranks_size(p[0], p[1]);
}

static histo_status call_ranks_read(void **p)
{
    int64_t *size = p[3];
    if (size) *size = CALL_BINS;
    return histo_ranks_read(p[0], p[1], p[2], size);
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
    return histo_map_write(p[0], p[1], CALL_BINS + 3);
}

static histo_status call_map_read(void **p)
{
    return histo_map_read(p[0], p[1], CALL_BINS + 3);
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
    return histo_plan_fill_read(p[0], p[1], p[2], p[3], HISTO_BINS, p[4], CALL_BINS, p[5]);
}

static histo_status call_hist_fill_pairs(void **p)
{
    return histo_hist_fill_pairs(p[0], p[1], p[2], p[3]);
}

static histo_status call_count(void **p)
{
    return histo_count(1, p[0], p[1], p[2], p[3], CALL_BINS, p[4], p[5]);
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

static histo_status call_survey_ask_quantiles(void **p)
{
    return histo_survey_ask_quantiles(p[0], 1, p[1]);
}

static histo_status call_survey_quantiles(void **p)
{
    return histo_survey_quantiles(p[0], p[1]);
}

static histo_status call_survey_save(void **p)
{
    return made_memory(histo_survey_save(p[0], p[1], p[2]), p[1], p[2]);
}

static histo_status call_survey_merge(void **p)
{
    return histo_survey_merge(p[0], p[1], part_size);
}

static histo_status call_survey_replace(void **p)
{
    return histo_survey_replace(p[0], p[1], part_size);
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

static histo_status call_features_create(void **p)
{
    histo_features **made = p[0];
    const histo_status status = histo_features_create(made, p[1], p[2], p[3]);
    if (made && status == HISTO_OK) histo_features_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_gradients_create(void **p)
{
    histo_gradients **made = p[0];
    const histo_status status = histo_gradients_create(made, CALL_SAMPLES, 3);
    if (made && status == HISTO_OK) histo_gradients_destroy(*made);
    if (made && status != HISTO_OK) assert_null(*made);
    return status;
}

static histo_status call_gradients_set(void **p)
{
    return histo_gradients_set(p[0], p[1], p[2]);
}

static histo_status call_features_fill(void **p)
{
    return histo_features_fill(p[0], p[1], p[2], p[3]);
}

/* ---- The table ---- */

const call calls[] = {
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
    {"thresholds_create", call_thresholds_create, "scratch"},
    {"thresholds_next_pass", call_thresholds_next_pass, "thresholds scratch"},
    {"thresholds_add", call_thresholds_add, "thresholds view none?"},
    {"thresholds_read", call_thresholds_read, "split scratch"},
    {"ranks_create", call_ranks_create, "scratch"},
    {"ranks_next_pass", call_ranks_next_pass, "ranks scratch"},
    {"ranks_add", call_ranks_add, "ranks view none?"},
    {"ranks_size", call_ranks_size, "ranked scratch"},
    {"ranks_read", call_ranks_read, "ranked scratch? scratch? scratch"},
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
    {"survey_ask_quantiles", call_survey_ask_quantiles, "survey_fresh numbers"},
    {"survey_quantiles", call_survey_quantiles, "survey_asked scratch"},
    {"survey_save", call_survey_save, "survey scratch scratch"},
    {"survey_merge", call_survey_merge, "survey part"},
    {"survey_replace", call_survey_replace, "survey part"},
    {"survey_axis", call_survey_axis, "survey_done scratch"},
    {"axis_from_data", call_axis_from_data, "view none? survey_options scratch"},
    {"stats_add", call_stats_add, "scratch view none?"},
    {"power_sums_add", call_power_sums_add, "scratch view none?"},
    {"find_extremes", call_find_extremes, "view none? scratch"},
    {"features_create", call_features_create, "scratch table feature_bins? none?"},
    {"gradients_create", call_gradients_create, "scratch"},
    {"gradients_set", call_gradients_set, "gradients view none?"},
    {"features_fill", call_features_fill, "features gradients none? node_sums"},
};
const int calls_size = sizeof calls / sizeof *calls;

/* What a word of the table points to: an object, an input, or zeroed memory. */
static void *pointer_to(const call_objects *o, const char *word, int argument)
{
    static uint64_t scratch[CALL_POINTERS][SCRATCH], counts[CALL_BINS] = {4, 3, 2, 1};
    static double numbers[CALL_BINS + 3] = {0, 0.5, 0.75, 1, 1, 1, 1};
    static int64_t index[] = {1}, shape[] = {CALL_SAMPLES}, steps[] = {1}, window[] = {0, 0, 1, 1};
    static const int64_t *strides[] = {steps};
    static int axis_numbers[] = {1};
    static bool flow[1][2];
    static const uint64_t none[128];
    static histo_word_layout layout;
    static histo_pairs pairs = {.pairing = HISTO_PAIRS_RING};
    static histo_survey_options survey_options = {.bins = CALL_BINS};
    static histo_view view_to_set, view_of_scratch;
    static histo_regrouping regrouping;
    static histo_fill_chunk chunk;
    static uint32_t node_counts[CALL_BINS];
    static const histo_node_sums node_sums = {.counts = node_counts};
    static const int32_t feature_bins[] = {CALL_BINS};
    view_to_set = (histo_view){.data = bytes, .dtype = HISTO_U8};
    view_of_scratch = histo_view_1d(scratch[argument], HISTO_U8, CALL_SAMPLES);
    regrouping = (histo_regrouping){.naxes = 1, .axes = o->axes, .entry = -1};
    chunk = (histo_fill_chunk){.views = o->samples};
    memset(scratch[argument], 0, sizeof scratch[argument]);
    const struct {
        const char *word;
        const void *pointer;
    } things[] = {
        {"hist", o->hist},
        {"other", o->other},
        {"weighted", o->weighted},
        {"joint", o->joint},
        {"plan", o->plan},
        {"map", o->map},
        {"quantiles", o->quantiles},
        {"quantiles_done", o->done},
        {"thresholds", o->thresholds},
        {"split", o->split},
        {"ranks", o->ranks},
        {"ranked", o->ranked},
        {"survey", o->survey},
        {"survey_done", o->found},
        {"survey_fresh", o->fresh},
        {"survey_asked", o->asked},
        {"part", o->part},
        {"features", o->features},
        {"gradients", o->gradients},
        {"table", &table},
        {"feature_bins", feature_bins},
        {"node_sums", &node_sums},
        {"axis", o->axes},
        {"view", o->samples},
        {"view_to_set", &view_to_set},
        {"view_of_scratch", &view_of_scratch},
        {"image", &o->stack},
        {"stack", &o->stack},
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
        {"path", CALL_FILE},
    };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (!strcmp(things[i].word, word)) return (void *)(uintptr_t)things[i].pointer;
    fail_msg("nothing is called %s", word);
    return NULL;
}

int call_arguments(const call *c, const call_objects *o, void **p, unsigned *may_be_null)
{
    char text[256], *save = NULL;
    int n = 0;
    *may_be_null = 0;
    snprintf(text, sizeof text, "%s", c->arguments);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save), n++) {
        char *mark = strchr(word, '?');
        if (mark) *mark = '\0';
        if (mark) *may_be_null |= 1U << n;
        p[n] = pointer_to(o, word, n);
    }
    return n;
}

/* ---- The declarations in the headers ---- */

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

int each_header(void (*read)(void *context, const char *text), void *context)
{
    glob_t headers;
    assert_int_equal(glob(TEST_HEADERS "/*.h", 0, NULL, &headers), 0);
    for (size_t h = 0; h < headers.gl_pathc; h++) {
        char *text = read_text(headers.gl_pathv[h]);
        read(context, text);
        free(text);
    }
    const int found = (int)headers.gl_pathc;
    globfree(&headers);
    return found;
}

bool next_declaration(const char **at, declaration *d)
{
    while ((*at = strstr(*at, "HISTO_API "))) {
        snprintf(d->text, sizeof d->text, "%.*s", (int)strcspn(*at, ";"), *at);
        *at += strlen("HISTO_API ");
        const char *open = strchr(d->text, '('), *start = open;
        if (!open) continue;
        while (start[-1] != ' ' && start[-1] != '*')
            start--;
        snprintf(d->name, sizeof d->name, "%.*s", (int)(open - start), start);
        d->parameters = open;
        if (strncmp(d->name, "histo_", strlen("histo_")) == 0) return true; /* excludes the macro's own definition */
    }
    return false;
}
