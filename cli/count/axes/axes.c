/* Axes from options and, if needed, from the data. */
#include "count/axes/axes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "base/text.h"
#include "count/axes/round.h"

/* A default histogram is read as a table, and fits a screen. */
enum { EVERY_VALUE = 1 << 16, MAX_DEFAULT_BINS = 40, MAX_LOG_BINS = 1024, LOG_BINS_A_DECADE = 10 };
/* A rule that asks for more bins is misled by outliers. */
enum { MAX_RULE_BINS = 1 << 20 };

static bool is_integer(histo_dtype dtype)
{
    return dtype <= HISTO_I64;
}

static bool has_8_bits(histo_dtype dtype)
{
    return dtype == HISTO_U8 || dtype == HISTO_I8;
}

static bool has_16_bits(histo_dtype dtype)
{
    return dtype == HISTO_U16 || dtype == HISTO_I16;
}

const bins_spec *bins_of_axis(const bins_list *b, int a, int naxes, fault *f)
{
    if (b->count == 1 || b->count == naxes) return &b->spec[b->count == 1 ? 0 : a];
    fault_set(f, EXIT_USAGE,
              "the bins are given for %d axes, but there %s %d: give one entry for all axes, or one for each%s",
              b->count, naxes == 1 ? "is" : "are", naxes, naxes == 1 ? " (with --joint)" : "");
    return NULL;
}

static bool range_is_given(const bins_spec *spec)
{
    return spec->has_range && bins_lower_end_is_given(spec) && bins_upper_end_is_given(spec);
}

bool bins_are_fixed(const bins_spec *spec)
{
    if (spec->kind == BINS_EDGES) return true;
    bool counted = spec->kind == BINS_NUMBER || spec->kind == BINS_WIDTH || spec->log;
    return counted && range_is_given(spec);
}

static histo_range default_range(const bins_spec *spec, histo_dtype dtype, bool pixels)
{
    if (spec->has_range) return spec->range;
    if (spec->every_value && spec->kind == BINS_DEFAULT && (has_8_bits(dtype) || has_16_bits(dtype)))
        return HISTO_RANGE_DTYPE;
    return has_8_bits(dtype) && pixels && !spec->log && spec->kind != BINS_RULE ? HISTO_RANGE_DTYPE
                                                                                : HISTO_RANGE_MINMAX;
}

static histo_survey_options survey_of(const bins_spec *spec, histo_dtype dtype, bool pixels)
{
    histo_survey_options o = {.range = default_range(spec, dtype, pixels), .lo = spec->lo, .hi = spec->hi, .bins = 1};
    if (spec->log) return o; /* only the range */
    switch (spec->kind) {
    case BINS_NUMBER:
        o.bins = spec->fewer ? 1 : spec->number;
        break;
    case BINS_WIDTH: /* only the range, and whether all samples are equal */
        if (o.range == HISTO_RANGE_MINMAX) o.rule = HISTO_RULE_STURGES;
        break;
    case BINS_RULE:
        o.rule = spec->rule;
        break;
    case BINS_DEFAULT:
        if (o.range == HISTO_RANGE_DTYPE && (has_8_bits(dtype) || has_16_bits(dtype)))
            o.bins = has_8_bits(dtype) ? 256 : 65536;
        else
            o.rule = HISTO_RULE_AUTO;
        break;
    case BINS_EDGES:
        break;
    }
    return o;
}

bool bins_need_data(const bins_list *b, histo_dtype dtype, bool pixels)
{
    for (int i = 0; i < b->count; i++) {
        const bins_spec *spec = &b->spec[i];
        if (bins_are_fixed(spec)) continue;
        histo_survey_options o = survey_of(spec, dtype, pixels);
        if (o.rule != HISTO_RULE_NONE || (o.range != HISTO_RANGE_DTYPE && !range_is_given(spec))) return true;
    }
    return false;
}

/* The memory for each of several searches. */
static size_t share_of_memory(int searches)
{
    const int few = 16;
    return searches <= few ? 0 : histo_memory_available() / 4 / (size_t)searches;
}

static int begin(axis_search *a, const bins_spec *spec, histo_dtype dtype, bool pixels, bool in_parts, int searches,
                 fault *f)
{
    *a = (axis_search){.spec = spec,
                       .dtype = dtype,
                       .pixels = pixels,
                       .in_parts = in_parts,
                       .memory = share_of_memory(searches),
                       .least = INFINITY,
                       .most = -INFINITY};
    if (spec->step.months || spec->step.us || spec->has_times) return 0; /* dates need no survey */
    if (spec->kind == BINS_EDGES) return 0;
    histo_survey_options o = survey_of(spec, dtype, pixels);
    o.in_parts = in_parts;
    o.memory = a->memory;
    return histo_survey_create(&a->survey, dtype, &o) == HISTO_OK ? 0 : fault_of_library(f, EXIT_USAGE, "the bins");
}

int axis_search_begin(axis_search *a, const bins_spec *spec, histo_dtype dtype, bool pixels, int searches, fault *f)
{
    return begin(a, spec, dtype, pixels, false, searches, f);
}

int axis_search_begin_part(axis_search *a, const bins_spec *spec, histo_dtype dtype, bool pixels, int searches,
                           fault *f)
{
    return begin(a, spec, dtype, pixels, true, searches, f);
}

void axis_search_free(axis_search *a)
{
    histo_survey_destroy(a->survey);
    histo_survey_destroy(a->first);
    free(a->edges);
    free(a->asked_values);
    a->asked_values = NULL;
    a->found_asked = false;
    a->asked = 0;
    a->survey = a->first = NULL;
    a->edges = NULL;
}

/* Rules that compare numbers of bins may take long. */
static histo_status survey_axis(const histo_survey *survey, histo_axis *axis)
{
    progress_watch("choosing bins");
    const histo_status status = histo_survey_axis(survey, axis);
    progress_unwatch();
    return status;
}

/* Start another survey. */
static bool survey_anew(axis_search *a, histo_survey_options o)
{
    histo_survey *survey;
    o.in_parts = a->in_parts;
    o.memory = a->memory;
    if (histo_survey_create(&survey, a->dtype, &o) != HISTO_OK) return false;
    if (a->asked && a->survey) a->found_asked = histo_survey_quantiles(a->survey, a->asked_values) == HISTO_OK;
    histo_survey_destroy(a->survey);
    a->survey = survey;
    return true;
}

/* If a rule asks for too many bins, find only the range. */
static bool begin_range_alone(axis_search *a)
{
    histo_axis axis;
    histo_survey_options o = survey_of(a->spec, a->dtype, a->pixels);
    if (a->range_alone || a->looks_for_bulk || o.rule == HISTO_RULE_NONE) return false;
    if (survey_axis(a->survey, &axis) == HISTO_OK) return false;
    o.rule = HISTO_RULE_NONE;
    return a->range_alone = survey_anew(a, o);
}

/* A part of the range whose samples would all be in one bar of a screen, and percentiles that most samples are
 * between. */
static const double bar_of_screen = 0.05, least_percentile = 0.5, most_percentile = 99.5;

/* If the default rule asks for so many bins that the middle half of the samples must be in a small part of the range,
 * find where most samples are. That part has at most 2 sqrt n bins. */
static bool begin_bulk(axis_search *a)
{
    const bins_spec *spec = a->spec;
    const double n = (double)a->found.samples;
    histo_axis full;
    const bool is_default = spec->kind == BINS_DEFAULT && !spec->has_range && !spec->log && !spec->letters;
    if (a->looks_for_bulk || !is_default || spec->every_value || n < 100) return false;
    if (default_range(spec, a->dtype, a->pixels) != HISTO_RANGE_MINMAX) return false;
    if (survey_axis(a->survey, &full) != HISTO_OK) return false;
    if (!a->range_alone && (double)full.bins < fmin(2 * sqrt(n), cbrt(n) / 2 / bar_of_screen) - 2) return false;
    const histo_survey_options o = {
        .range = HISTO_RANGE_PERCENTILE, .lo = least_percentile, .hi = most_percentile, .rule = HISTO_RULE_AUTO};
    a->first = a->survey;
    a->survey = NULL;
    a->full = full;
    a->looks_for_bulk = survey_anew(a, o);
    if (a->looks_for_bulk) return true;
    a->survey = a->first;
    a->first = NULL;
    return false;
}

void axis_search_words(axis_search *a, dictionary *words, uint32_t most, dictionary_order order)
{
    axis_search_free(a);
    a->words = words;
    a->most_words = most;
    a->order = order;
}

/* A failure ends the passes; the sentence is reported when the axis is requested. */
static bool survey_goes_on(const axis_search *a)
{
    bool more;
    return histo_survey_next_pass(a->survey, &more) == HISTO_OK && more;
}

static bool needs_pass(axis_search *a)
{
    if (a->words) {
        const bool first = !a->words_counted;
        a->words_counted = true;
        return first && !dictionary_is_frozen(a->words);
    }
    if (a->looks) return a->passes++ == 0;
    if (a->times) {
        const bool first = !a->ranged;
        a->ranged = true;
        return first;
    }
    if (!a->survey) return false;
    a->passes++;
    return survey_goes_on(a) || (begin_range_alone(a) && survey_goes_on(a)) || (begin_bulk(a) && survey_goes_on(a));
}

bool axis_search_next_pass(axis_search *a)
{
    return a->in_pass = needs_pass(a);
}

/* A logarithmic axis takes its range from positive samples. */
static int keep_positive(const histo_view *samples, histo_fill_options *fill, fault *f)
{
    if (fill->where && fill->where != samples)
        return fault_set(f, EXIT_USAGE,
                         "--log with a filter on another column cannot determine the range: give -r lo:hi");
    double lo = fill->where ? fill->where_lo : 0, hi = fill->where ? fill->where_hi : INFINITY;
    fill->where = samples;
    fill->where_lo = lo > 0 ? lo : DBL_TRUE_MIN;
    fill->where_hi = hi >= fill->where_lo ? hi : fill->where_lo;
    return 0;
}

/* Look at doubles, such as those of text: whether they are integers, and whether other types represent these
 * exactly. */
static void look_at_doubles(axis_search *a, const histo_view *samples)
{
    const int64_t rows = samples->ndim > 1 ? samples->shape[0] : 1, columns = samples->shape[samples->ndim - 1];
    for (int64_t y = 0; y < rows && !a->found.some_fraction; y++)
        for (int64_t x = 0; x < columns && !a->found.some_fraction; x++) {
            const char *at = (const char *)samples->data + x * samples->strides[samples->ndim - 1];
            const double value = *(const double *)(at + (samples->ndim > 1 ? y * samples->strides[0] : 0));
            if (value != rint(value) && !isnan(value)) a->found.some_fraction = true;
            if (isinf(value)) a->unlike_integers = true;
            if (value < a->least) a->least = value;
            if (value > a->most) a->most = value;
        }
}

static bool have_fractions(const char *at, int64_t n, int64_t stride)
{
    enum { BLOCK = 1024 };
    float block[BLOCK];
    int fractions = 0;
    for (int64_t begin = 0; begin < n && !fractions; begin += BLOCK) {
        const int64_t count = n - begin < BLOCK ? n - begin : BLOCK;
        if (stride == sizeof *block) memcpy(block, at + begin * stride, (size_t)count * sizeof *block);
        for (int64_t i = 0; i < count && stride != sizeof *block; i++)
            memcpy(&block[i], at + (begin + i) * stride, sizeof *block);
        for (int64_t i = 0; i < count; i++) /* beyond 2^23, floats have no fractions */
            fractions |= (fabsf(block[i]) < 0x1p23F) & (block[i] != (float)(int32_t)block[i]);
    }
    return fractions;
}

/* As look_at_doubles, for floats: only text can have integers beyond those that its numbers represent. */
static void look_at_floats(axis_search *a, const histo_view *samples)
{
    const int along = samples->shape[samples->ndim - 1] > 1 ? samples->ndim - 1 : 0;
    const int64_t rows = samples->ndim > 1 ? samples->shape[1 - along] : 1;
    for (int64_t y = 0; y < rows && !a->found.some_fraction; y++) {
        const char *row = (const char *)samples->data + (samples->ndim > 1 ? y * samples->strides[1 - along] : 0);
        a->found.some_fraction = have_fractions(row, samples->shape[along], samples->strides[along]);
    }
}

static void look(axis_search *a, const histo_view *samples)
{
    const bool in_rows = samples->ndim == 1 || samples->ndim == 2;
    if (in_rows && a->dtype == HISTO_F64)
        look_at_doubles(a, samples);
    else if (in_rows && a->dtype == HISTO_F32)
        look_at_floats(a, samples);
    else
        a->found.some_fraction = true;
}

static const double exact_integers = 0x1p53; /* doubles represent all integers up to this */

bool bins_reach_far(const bins_spec *spec)
{
    if (!bins_are_fixed(spec)) return false;
    const double lo = spec->kind == BINS_EDGES ? spec->edges[0] : spec->lo;
    const double hi = spec->kind == BINS_EDGES ? spec->edges[spec->number] : spec->hi;
    return fmax(fabs(lo), fabs(hi)) >= exact_integers;
}

void axis_search_look(axis_search *a)
{
    a->looks = bins_reach_far(a->spec);
}

bool axis_search_sums(const axis_search *a)
{
    return a->passes == 1 && a->survey && !a->words && !a->times && !a->looks && !a->spec->log;
}

void axis_search_ask(axis_search *a, int n, const double *q)
{
    const bool all = a->survey && !a->words && !a->times && !a->looks && !a->spec->log;
    a->asked_values = all && n > 0 ? malloc((size_t)n * sizeof *a->asked_values) : NULL;
    if (a->asked_values && histo_survey_ask_quantiles(a->survey, n, q) == HISTO_OK) a->asked = n;
}

bool axis_search_quantiles(const axis_search *a, double *values)
{
    if (a->found_asked) memcpy(values, a->asked_values, (size_t)a->asked * sizeof *values);
    return a->found_asked ||
           (a->asked && !a->range_alone && histo_survey_quantiles(a->first ? a->first : a->survey, values) == HISTO_OK);
}

bool axis_search_found_integers(const axis_search *a, histo_dtype *dtype)
{
    const double far = fmax(fabs(a->least), fabs(a->most));
    if ((a->dtype != HISTO_F64 && !a->looks) || a->found.some_fraction || a->unlike_integers ||
        !(a->least <= a->most) || far < exact_integers)
        return false;
    *dtype = a->least >= 0 && a->most >= 0x1p63 ? HISTO_U64 : HISTO_I64;
    return *dtype == HISTO_U64 ? a->most <= 0x1p64 : a->least >= -0x1p63 && a->most <= 0x1p63;
}

bool axis_search_at_limit(const axis_search *a, histo_dtype dtype)
{
    return fmax(fabs(a->least), fabs(a->most)) >= (dtype == HISTO_U64 ? 0x1p64 : 0x1p63);
}

/* Count samples, for the default bins. */
static int count_samples(axis_search *a, const histo_view *samples, const histo_fill_options *fill)
{
    histo_stats stats = {0};
    if (a->spec->kind != BINS_DEFAULT || a->spec->log) return 0;
    if (!fill->mask && !fill->where) {
        a->found.samples += histo_view_size(samples);
        return 0;
    }
    if (histo_stats_add(&stats, samples, fill) != HISTO_OK) return -1;
    a->found.samples += (int64_t)stats.samples;
    return 0;
}

int axis_search_add(axis_search *a, const histo_view *samples, const histo_fill_options *fill, const char *name,
                    fault *f)
{
    histo_fill_options options = *fill;
    if (a->looks) { /* the bins are given, whatever the types of the files */
        if (samples->dtype == HISTO_F64 && samples->ndim <= 2) look_at_doubles(a, samples);
        return 0;
    }
    if (samples->dtype != a->dtype)
        return fault_set(f, EXIT_DATA,
                         "%s: %s samples among %s ones have no common range: give one with -b and -r lo:hi", name,
                         histo_dtype_name(samples->dtype), histo_dtype_name(a->dtype));
    if (a->words) return dictionary_count(a->words, samples, &options, f);
    if (a->times)
        return histo_stats_add(&a->found.positive, samples, &options) == HISTO_OK
                   ? 0
                   : fault_of_library(f, EXIT_DATA, name);
    if (a->spec->log && keep_positive(samples, &options, f) != 0) return -1;
    if (a->passes == 1 && !is_integer(a->dtype) && !a->found.some_fraction) look(a, samples);
    if (a->passes == 1 && count_samples(a, samples, &options) != 0) return fault_of_library(f, EXIT_DATA, name);
    bool none_yet = a->found.positive.samples == a->found.positive.infinite;
    if (a->spec->log && none_yet && histo_stats_add(&a->found.positive, samples, &options) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, name);
    const histo_status status = a->sums ? histo_survey_add_sums(a->survey, samples, &options, a->sums)
                                        : histo_survey_add(a->survey, samples, &options);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, name);
}

/* This many bins of equal (or equal logarithmic) width; or as many as there are doubles in the range. */
static histo_axis fit_bins(const axis_search *a, double lo, double hi, int64_t bins)
{
    for (;; bins /= 2) {
        const histo_axis axis = a->spec->log ? histo_axis_log(bins, lo, hi) : histo_axis_regular(bins, lo, hi);
        if (bins == 1 || histo_axis_check(&axis) == HISTO_OK) return histo_axis_closed(axis);
    }
}

static bool is_whole(const axis_search *a, double lo, double hi)
{
    return (is_integer(a->dtype) || !a->found.some_fraction) && hi - lo < 0x1p50 && lo == floor(lo) && hi == floor(hi);
}

/* The range of the samples. If they are all equal, the library has widened it. */
static bool span_of(const axis_search *a, const histo_axis *found, double *lo, double *hi)
{
    const double middle = found->lo / 2 + found->hi / 2;
    const bool all = default_range(a->spec, a->dtype, a->pixels) == HISTO_RANGE_MINMAX && !a->range_alone;
    const bool alike = all && found->bins == 1 && (!is_integer(a->dtype) || found->lo != floor(found->lo));
    *lo = alike ? middle : found->lo;
    *hi = alike ? middle : found->hi;
    return alike;
}

static bool take_round(axis_search *a, const round_axis *round)
{
    a->axis = round->axis;
    a->edges = round->edges;
    return true;
}

/* Round edges that include the given ends of the range: false if there are none. */
static bool round_in_range(axis_search *a, double lo, double hi, double bins)
{
    const bool lo_given = bins_lower_end_is_given(a->spec), hi_given = bins_upper_end_is_given(a->spec);
    const bool whole = is_whole(a, lo, hi);
    round_axis round;
    if (whole && hi_given && hi - lo < bins) { /* all values up to the last */
        a->axis = histo_axis_integer((int64_t)lo, (int64_t)(hi - lo) + 1);
        return histo_axis_check(&a->axis) == HISTO_OK;
    }
    for (int wider = 1; wider < 8; wider *= 2) {
        if (!round_axis_around(&round, lo, hi, bins / wider, whole, hi_given || !whole)) continue;
        if ((!lo_given || round.axis.lo == lo) && (!hi_given || round.axis.hi == hi)) return take_round(a, &round);
        free(round.edges);
    }
    return false;
}

/* The default bins, about as many as a rule asks for. Their edges are round, unless the range was given in other
 * numbers or as percentiles. */
static bool default_bins(axis_search *a, const histo_axis *found)
{
    double lo, hi;
    round_axis round;
    const bool alike = span_of(a, found, &lo, &hi), whole = is_whole(a, lo, hi);
    const double bins = a->range_alone || found->bins > MAX_DEFAULT_BINS ? MAX_DEFAULT_BINS : (double)found->bins;
    const histo_range range = default_range(a->spec, a->dtype, a->pixels);
    if (alike && !whole) { /* one bin of width 1 contains it, unless it is too small or large for that */
        if (fabs(lo) < 1e-9 || fabs(lo) > 0x1p40) return false;
        return round_axis_around(&round, lo, hi, 1, false, true) && take_round(a, &round);
    }
    if (a->spec->every_value && range == HISTO_RANGE_MINMAX && whole && hi - lo < EVERY_VALUE) {
        a->axis = histo_axis_integer((int64_t)lo, (int64_t)(hi - lo) + 1);
        return histo_axis_check(&a->axis) == HISTO_OK;
    }
    if (range == HISTO_RANGE_FIXED) return round_in_range(a, lo, hi, bins);
    return range == HISTO_RANGE_MINMAX && round_axis_around(&round, lo, hi, bins, whole, !whole) &&
           take_round(a, &round);
}

/* Bins where most samples are, if bins for all samples would show these in only a few rows of a screen. */
static bool bulk_bins(axis_search *a, const histo_axis *found)
{
    const double span = found->hi - found->lo, few = span / 4;
    const double lo = fmax(a->full.lo, found->lo - few), hi = fmin(a->full.hi, found->hi + few);
    round_axis round;
    if (!(span > 0) || !(span <= bar_of_screen * (a->full.hi - a->full.lo))) return false;
    const bool whole = (is_integer(a->dtype) || !a->found.some_fraction) && hi - lo < 0x1p50;
    const double bins = fmin((double)found->bins * (hi - lo) / span, MAX_DEFAULT_BINS);
    if (!round_axis_around(&round, whole ? floor(lo) : lo, whole ? ceil(hi) : hi, bins, whole, !whole)) return false;
    a->in_bulk = true;
    return take_round(a, &round);
}

/* Bins of the given width. */
static int bins_of_width(axis_search *a, const histo_axis *found, const char *name, fault *f)
{
    const bins_spec *spec = a->spec;
    const bool by_type = default_range(spec, a->dtype, a->pixels) == HISTO_RANGE_DTYPE;
    const bool lo_given = bins_lower_end_is_given(spec), hi_given = bins_upper_end_is_given(spec) || by_type;
    double lo, hi;
    round_axis round;
    span_of(a, found, &lo, &hi);
    if (round_axis_of_width(&round, lo, hi, spec->width, lo_given, hi_given)) return take_round(a, &round) ? 0 : -1;
    const double first = lo_given ? lo : floor(lo / spec->width) * spec->width, quotient = (hi - first) / spec->width;
    const double bins = hi_given ? fmax(ceil(quotient), 1) : floor(quotient) + 1;
    if (!(bins <= (double)HISTO_MAX_BINS)) {
        char number[3][TEXT_NUMBER_BYTES];
        return fault_set(f, bins_are_fixed(spec) ? EXIT_USAGE : EXIT_DATA,
                         "%s: bins %s wide over [%s, %s] would be more than %" PRId64 ": give a larger width with "
                         "--width W",
                         bins_are_fixed(spec) ? "the bins" : name, text_exact(spec->width, number[0]),
                         text_exact(lo, number[1]), text_exact(hi, number[2]), HISTO_MAX_BINS);
    }
    a->axis = histo_axis_regular((int64_t)bins, first, first + bins * spec->width);
    if (hi_given) a->axis = histo_axis_closed(a->axis);
    return 0;
}

/* As many bins as the rule asks for, up to MAX_RULE_BINS. */
static histo_axis rule_axis(axis_search *a, const histo_axis *found)
{
    if (!a->range_alone && found->bins <= MAX_RULE_BINS) return *found;
    a->too_many_bins = a->range_alone ? HISTO_MAX_BINS : found->bins;
    return histo_axis_closed(histo_axis_regular(MAX_RULE_BINS, found->lo, found->hi));
}

void axis_search_remark(const axis_search *a, const char *name)
{
    char asked[TEXT_NUMBER_BYTES], used[TEXT_NUMBER_BYTES];
    if (a->in_bulk) note("%s: a few samples are far from the others and get no bins: -r minmax gives them some", name);
    if (!a->too_many_bins) return;
    note("%s: the rule asks for %s%s bins, and %s are used: choose a number with -b N", name,
         a->range_alone ? "more than " : "", text_count((uint64_t)a->too_many_bins, asked),
         text_count((uint64_t)a->axis.bins, used));
}

/* The single value from which the range was widened, for small numbers that widening rounds away. */
static double single_value(const axis_search *a, double lo, double hi)
{
    double middle = lo / 2 + hi / 2;
    if (range_is_given(a->spec)) return a->spec->lo;
    return middle > 0 ? middle : a->found.positive.min;
}

static histo_axis log_axis(const axis_search *a, double lo, double hi)
{
    if (!(lo > 0)) {
        double value = single_value(a, lo, hi);
        lo = fmax(value / 2, DBL_TRUE_MIN);
        hi = value * 2;
    }
    if (a->spec->kind == BINS_NUMBER && a->spec->fewer) return fit_bins(a, lo, hi, a->spec->number);
    if (a->spec->kind == BINS_NUMBER) return histo_axis_closed(histo_axis_log(a->spec->number, lo, hi));
    double wanted = ceil(LOG_BINS_A_DECADE * log10(hi / lo) - 1e-9);
    return fit_bins(a, lo, hi, (int64_t)fmin(fmax(wanted, LOG_BINS_A_DECADE), MAX_LOG_BINS));
}

/* Append the command's option to the library's remedy. */
static int fault_no_axis(const bins_spec *spec, const char *name, fault *f)
{
    static const struct {
        const char *end, *option;
    } remedies[] = {
        {"give one", " with -r lo:hi"},
        {"give two finite ends", " with -r lo:hi"},
        {"give a narrower one", " with -r lo:hi"},
        {"give fewer bins or a wider range", " with -b N or -r lo:hi"},
        {"give a number of bins or a narrower range", " with -b N or -r lo:hi"},
        {"give a larger width", " with --width W"},
    };
    const char *said = histo_last_error(), *option = "";
    size_t length = strlen(said);
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        size_t asked = strlen(remedies[i].end);
        if (length > asked && strcmp(said + length - asked, remedies[i].end) == 0) option = remedies[i].option;
    }
    bool given = bins_are_fixed(spec);
    return fault_set(f, given ? EXIT_USAGE : EXIT_DATA, "%s: %s%s%s", given ? "the bins" : name,
                     spec->log && !given ? "above 0, " : "", said, option);
}

/* A bin for each word, and one for all others. */
static int end_words(axis_search *a, const char *name, fault *f)
{
    dictionary *d = a->words;
    if (!dictionary_is_frozen(d) && dictionary_freeze(d, a->most_words, a->order) != 0)
        return fault_set(f, EXIT_DATA, "no memory for the strings of %s", name);
    const uint32_t bins = dictionary_bins(d);
    if (!bins && !a->may_lack_words) return fault_set(f, EXIT_DATA, "%s: there are no strings to count", name);
    a->axis = histo_axis_integer(0, bins ? bins + (dictionary_others(d) > 0) : 1);
    return 0;
}

int axis_search_times(axis_search *a, fault *f)
{
    const bins_spec *spec = a->spec;
    if (spec->log) return fault_set(f, EXIT_USAGE, "--log is not for dates: leave it out");
    if (spec->kind == BINS_EDGES || spec->kind == BINS_RULE || (spec->kind == BINS_WIDTH && spec->width > 0) ||
        (spec->has_range && spec->range != HISTO_RANGE_MINMAX && !spec->has_times))
        return fault_set(f, EXIT_USAGE,
                         "the bins of dates are steps of the calendar, as in --width 1d, 1w or 1mo, or a number, -b N, "
                         "and their range is one of dates, as in -r 2015-01-01:2015-07-01");
    axis_search_free(a);
    a->times = true;
    a->ranged = spec->has_times;
    return 0;
}

/* Edges at the beginnings of calendar steps, or counted from the given start of the range. */
static int step_edges(axis_search *a, time_step step, int64_t first, int64_t last, fault *f)
{
    const bool given = a->spec->has_times;
    int64_t room = 0, bins = -1;
    for (int64_t at = given ? first : time_step_floor(step, first);; at = time_step_next(step, at)) {
        if (++bins == room) {
            room = room ? 2 * room : 64;
            double *more = room <= MAX_RULE_BINS ? realloc(a->edges, (size_t)room * sizeof *more) : NULL;
            if (!more)
                return fault_set(f, EXIT_USAGE, "--width makes more than %d bins: give a larger one",
                                 MAX_RULE_BINS / 2);
            a->edges = more;
        }
        a->edges[bins] = (double)at;
        if (at > last) break;
    }
    a->axis = step.months ? histo_axis_variable(bins, a->edges) : histo_axis_regular(bins, a->edges[0], a->edges[bins]);
    return 0;
}

/* A given range ends at its end, the range of the samples with the last of them. */
static int end_times(axis_search *a, const char *name, fault *f)
{
    enum { SUITED = 32 };
    const bins_spec *spec = a->spec;
    const histo_stats *found = &a->found.positive;
    const bool given = spec->has_times;
    if (!given && found->samples == 0)
        return fault_set(f, EXIT_DATA, "%s: there are no dates to find a range of", name);
    const double lo = given ? spec->lo : found->min, hi = given ? spec->hi : found->max;
    if (spec->kind == BINS_NUMBER) {
        a->axis = histo_axis_closed(histo_axis_regular(spec->number, lo, hi > lo ? hi : lo + 1));
    } else {
        const int64_t first = (int64_t)lo, last = (int64_t)hi - given;
        const time_step step = spec->kind == BINS_WIDTH ? spec->step : time_step_suited(first, last, SUITED);
        if (step_edges(a, step, first, last, f) != 0) return -1;
    }
    return histo_axis_check(&a->axis) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, name);
}

/* found: NULL if there is no axis for where most samples are. */
static void set_default(axis_search *a, const histo_axis *found)
{
    if (a->looks_for_bulk && found && bulk_bins(a, found)) return;
    const histo_axis *all = a->looks_for_bulk ? &a->full : found;
    if (!default_bins(a, all))
        a->axis = fit_bins(a, all->lo, all->hi, all->bins < MAX_DEFAULT_BINS ? all->bins : MAX_DEFAULT_BINS);
}

int axis_search_end(axis_search *a, const char *name, fault *f)
{
    const bins_spec *spec = a->spec;
    if (a->words) return end_words(a, name, f);
    if (a->times) return end_times(a, name, f);
    if (spec->kind == BINS_EDGES) {
        a->axis = histo_axis_closed(histo_axis_variable(spec->number, spec->edges));
        return histo_axis_check(&a->axis) == HISTO_OK ? 0 : fault_of_library(f, EXIT_USAGE, "the edges");
    }
    histo_axis found;
    const bool is_found = survey_axis(a->survey, &found) == HISTO_OK;
    if (!is_found && !a->looks_for_bulk) return fault_no_axis(spec, name, f);
    if (spec->log)
        a->axis = log_axis(a, found.lo, found.hi);
    else if (spec->letters)
        a->axis = histo_axis_integer((int64_t)found.lo, found.bins);
    else if (spec->kind == BINS_DEFAULT && (a->looks_for_bulk || found.kind == HISTO_REGULAR))
        set_default(a, is_found ? &found : NULL);
    else if (spec->kind == BINS_NUMBER && spec->fewer)
        a->axis = fit_bins(a, found.lo, found.hi, spec->number);
    else if (spec->kind == BINS_RULE)
        a->axis = rule_axis(a, &found);
    else if (spec->kind == BINS_WIDTH) {
        if (bins_of_width(a, &found, name, f) != 0) return -1;
    } else
        a->axis = found;
    return histo_axis_check(&a->axis) == HISTO_OK ? 0 : fault_no_axis(spec, name, f);
}
