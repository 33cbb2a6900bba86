/* Axes from options and, if needed, from the data. */
#include "count/axes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"

/* A default histogram fits a screen and a picture. */
enum { MAX_DEFAULT_BINS = 1024, LOG_BINS_A_DECADE = 10 };
/* A rule that asks for more is misled by outliers. */
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

bool bins_are_fixed(const bins_spec *spec)
{
    if (spec->kind == BINS_EDGES) return true;
    bool counted = spec->kind == BINS_NUMBER || spec->kind == BINS_WIDTH || spec->log;
    return counted && spec->has_range && spec->range == HISTO_RANGE_FIXED;
}

static histo_range default_range(const bins_spec *spec, histo_dtype dtype)
{
    if (spec->has_range) return spec->range;
    if (spec->every_value && spec->kind == BINS_DEFAULT && has_16_bits(dtype)) return HISTO_RANGE_DTYPE;
    return has_8_bits(dtype) && !spec->log && spec->kind != BINS_RULE ? HISTO_RANGE_DTYPE : HISTO_RANGE_MINMAX;
}

static histo_survey_options survey_of(const bins_spec *spec, histo_dtype dtype)
{
    histo_survey_options o = {.range = default_range(spec, dtype), .lo = spec->lo, .hi = spec->hi, .bins = 1};
    if (spec->log) return o; /* only the range */
    switch (spec->kind) {
    case BINS_NUMBER:
        o.bins = spec->fewer ? 1 : spec->number;
        break;
    case BINS_WIDTH:
        o.width = spec->width;
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

bool bins_need_data(const bins_list *b, histo_dtype dtype)
{
    for (int i = 0; i < b->count; i++) {
        const bins_spec *spec = &b->spec[i];
        if (bins_are_fixed(spec)) continue;
        histo_survey_options o = survey_of(spec, dtype);
        if (o.rule != HISTO_RULE_NONE || o.range == HISTO_RANGE_MINMAX || o.range == HISTO_RANGE_PERCENTILE)
            return true;
    }
    return false;
}

int axis_search_begin(axis_search *a, const bins_spec *spec, histo_dtype dtype, fault *f)
{
    *a = (axis_search){.spec = spec, .dtype = dtype};
    if (spec->kind == BINS_EDGES) return 0;
    histo_survey_options o = survey_of(spec, dtype);
    return histo_survey_create(&a->survey, dtype, &o) == HISTO_OK ? 0 : fault_of_library(f, EXIT_USAGE, "the bins");
}

void axis_search_free(axis_search *a)
{
    histo_survey_destroy(a->survey);
    a->survey = NULL;
}

/* If a rule asks for too many bins, find only the range. */
static bool begin_range_alone(axis_search *a)
{
    histo_axis axis;
    histo_survey *survey;
    histo_survey_options o = survey_of(a->spec, a->dtype);
    if (a->range_alone || o.rule == HISTO_RULE_NONE) return false;
    if (histo_survey_axis(a->survey, &axis) == HISTO_OK) return false;
    o.rule = HISTO_RULE_NONE;
    o.bins = 1;
    if (histo_survey_create(&survey, a->dtype, &o) != HISTO_OK) return false;
    histo_survey_destroy(a->survey);
    a->survey = survey;
    a->range_alone = true;
    return true;
}

bool axis_search_next_pass(axis_search *a)
{
    if (!a->survey) return false;
    return histo_survey_next_pass(a->survey) || (begin_range_alone(a) && histo_survey_next_pass(a->survey));
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

int axis_search_add(axis_search *a, const histo_view *samples, const histo_fill_options *fill, const char *name,
                    fault *f)
{
    histo_fill_options options = *fill;
    if (samples->dtype != a->dtype)
        return fault_set(f, EXIT_DATA,
                         "%s: %s samples among %s ones have no common range: give one with -b and -r lo:hi", name,
                         histo_dtype_name(samples->dtype), histo_dtype_name(a->dtype));
    if (a->spec->log && keep_positive(samples, &options, f) != 0) return -1;
    bool none_yet = a->positive.samples == a->positive.infinite;
    if (a->spec->log && none_yet && histo_stats_add(&a->positive, samples, &options) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, name);
    return histo_survey_add(a->survey, samples, &options) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, name);
}

/* The default bins: equally wide, or equal in logarithm if requested; for integers, bins with equally many values. */
static histo_axis default_axis(const axis_search *a, double lo, double hi, int64_t bins)
{
    if (a->spec->log) return histo_axis_closed(histo_axis_log(bins, lo, hi));
    double span = hi - lo;
    bool minmax = default_range(a->spec, a->dtype) == HISTO_RANGE_MINMAX;
    bool whole = is_integer(a->dtype) && span < 0x1p50 && lo == floor(lo) && hi == floor(hi);
    if (!minmax || !whole) return histo_axis_closed(histo_axis_regular(bins, lo, hi));
    double width = fmax(1, ceil(span / (double)bins));
    bins = (int64_t)floor(span / width) + 1;
    return width > 1 ? histo_axis_regular(bins, lo, lo + (double)bins * width) : histo_axis_integer((int64_t)lo, bins);
}

/* So many bins, or as there are doubles in the range. */
static histo_axis fit_bins(const axis_search *a, double lo, double hi, int64_t bins)
{
    histo_axis axis = default_axis(a, lo, hi, bins);
    while (bins > 1 && histo_axis_check(&axis) != HISTO_OK)
        axis = default_axis(a, lo, hi, bins /= 2);
    return axis;
}

/* At most as many bins as a screen shows. */
static histo_axis fit_default(const axis_search *a, double lo, double hi, int64_t bins)
{
    return fit_bins(a, lo, hi, bins < MAX_DEFAULT_BINS ? bins : MAX_DEFAULT_BINS);
}

/* As many bins as the rule asks for, up to MAX_RULE_BINS. */
static histo_axis rule_axis(axis_search *a, const histo_axis *found)
{
    if (!a->range_alone && found->bins <= MAX_RULE_BINS) return *found;
    a->too_many_bins = a->range_alone ? HISTO_MAX_BINS : found->bins;
    return histo_axis_closed(histo_axis_regular(MAX_RULE_BINS, found->lo, found->hi));
}

void axis_search_remark(const axis_search *a, const char *name, FILE *out)
{
    char asked[TEXT_NUMBER_BYTES], used[TEXT_NUMBER_BYTES];
    if (!a->too_many_bins) return;
    fprintf(out, "histo: %s: the rule asks for %s%s bins, and %s are used: choose a number with -b N\n", name,
            a->range_alone ? "more than " : "", text_count((uint64_t)a->too_many_bins, asked),
            text_count((uint64_t)a->axis.bins, used));
}

/* The single value that the range was widened from, for small numbers that widening rounds away. */
static double single_value(const axis_search *a, double lo, double hi)
{
    double middle = lo / 2 + hi / 2;
    if (a->spec->has_range && a->spec->range == HISTO_RANGE_FIXED) return a->spec->lo;
    return middle > 0 ? middle : a->positive.min;
}

static histo_axis log_axis(const axis_search *a, double lo, double hi)
{
    if (!(lo > 0)) {
        double value = single_value(a, lo, hi);
        lo = fmax(value / 2, DBL_TRUE_MIN);
        hi = value * 2;
    }
    if (a->spec->kind == BINS_NUMBER && a->spec->fewer) return fit_bins(a, lo, hi, a->spec->number);
    if (a->spec->kind == BINS_NUMBER) return default_axis(a, lo, hi, a->spec->number);
    double wanted = ceil(LOG_BINS_A_DECADE * log10(hi / lo) - 1e-9);
    return fit_default(a, lo, hi, (int64_t)fmin(fmax(wanted, LOG_BINS_A_DECADE), MAX_DEFAULT_BINS));
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

int axis_search_end(axis_search *a, const char *name, fault *f)
{
    const bins_spec *spec = a->spec;
    if (spec->kind == BINS_EDGES) {
        a->axis = histo_axis_closed(histo_axis_variable(spec->number, spec->edges));
        return histo_axis_check(&a->axis) == HISTO_OK ? 0 : fault_of_library(f, EXIT_USAGE, "the edges");
    }
    histo_axis found;
    if (histo_survey_axis(a->survey, &found) != HISTO_OK) return fault_no_axis(spec, name, f);
    bool is_default = spec->kind == BINS_DEFAULT && found.kind == HISTO_REGULAR;
    if (spec->log)
        a->axis = log_axis(a, found.lo, found.hi);
    else if (is_default)
        a->axis = fit_default(a, found.lo, found.hi, a->range_alone ? MAX_DEFAULT_BINS : found.bins);
    else if (spec->kind == BINS_NUMBER && spec->fewer)
        a->axis = fit_bins(a, found.lo, found.hi, spec->number);
    else if (spec->kind == BINS_RULE)
        a->axis = rule_axis(a, &found);
    else
        a->axis = found;
    return histo_axis_check(&a->axis) == HISTO_OK ? 0 : fault_no_axis(spec, name, f);
}
