/* Axes from what was asked and, where that needs it, from the data. */
#include "bins.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "failure.h"

/* A histogram that nobody asked details of fits a screen and a picture. */
enum { MOST_USUAL_BINS = 1024, LOG_BINS_A_DECADE = 10 };

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
              "the bins are given for %d axes, and the histogram has %d: give one entry for all, or one for each%s",
              b->count, naxes, naxes == 1 ? " (with --joint)" : "");
    return NULL;
}

bool bins_are_fixed(const bins_spec *spec)
{
    if (spec->kind == BINS_EDGES) return true;
    bool counted = spec->kind == BINS_NUMBER || spec->kind == BINS_WIDTH || spec->log;
    return counted && spec->has_range && spec->range == HISTO_RANGE_FIXED;
}

static histo_range usual_range(const bins_spec *spec, histo_dtype dtype)
{
    if (spec->has_range) return spec->range;
    return has_8_bits(dtype) && !spec->log && spec->kind != BINS_RULE ? HISTO_RANGE_DTYPE : HISTO_RANGE_MINMAX;
}

static histo_survey_options survey_of(const bins_spec *spec, histo_dtype dtype)
{
    histo_survey_options o = {.range = usual_range(spec, dtype), .lo = spec->lo, .hi = spec->hi, .bins = 1};
    if (spec->log) return o; /* the range alone */
    switch (spec->kind) {
    case BINS_NUMBER:
        o.bins = spec->number;
        break;
    case BINS_WIDTH:
        o.width = spec->width;
        break;
    case BINS_RULE:
        o.rule = spec->rule;
        break;
    case BINS_USUAL:
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

bool axis_search_next_pass(axis_search *a)
{
    return a->survey && histo_survey_next_pass(a->survey);
}

/* A logarithmic axis takes its range from what lies above 0. */
static int keep_positive(const histo_view *samples, histo_fill_options *fill, fault *f)
{
    if (fill->where && fill->where != samples)
        return fault_set(f, EXIT_USAGE,
                         "--log with a filter by another column cannot find the range: give it with -r lo:hi");
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
        return fault_set(
            f, EXIT_DATA,
            "%s: %s samples among %s ones have no range in common to be found: give it with -b and -r lo:hi", name,
            histo_dtype_name(samples->dtype), histo_dtype_name(a->dtype));
    if (a->spec->log && keep_positive(samples, &options, f) != 0) return -1;
    return histo_survey_add(a->survey, samples, &options) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, name);
}

/* The usual bins, after the rule auto: not too many, and for integers from end to end an equal number of values in
 * each. */
static void round_usual(const bins_spec *spec, histo_axis *axis, histo_dtype dtype)
{
    double span = axis->hi - axis->lo;
    int64_t bins = axis->bins < MOST_USUAL_BINS ? axis->bins : MOST_USUAL_BINS;
    bool minmax = usual_range(spec, dtype) == HISTO_RANGE_MINMAX;
    bool whole = is_integer(dtype) && span < 0x1p50 && axis->lo == floor(axis->lo) && axis->hi == floor(axis->hi);
    if (!minmax || !whole) {
        *axis = histo_axis_closed(histo_axis_regular(bins, axis->lo, axis->hi));
        return;
    }
    double width = fmax(1, ceil(span / (double)bins));
    bins = (int64_t)floor(span / width) + 1;
    *axis = width > 1 ? histo_axis_regular(bins, axis->lo, axis->lo + (double)bins * width)
                      : histo_axis_integer((int64_t)axis->lo, bins);
}

static int make_log(const bins_spec *spec, histo_axis *axis, const char *name, fault *f)
{
    double lo = axis->lo, hi = axis->hi;
    if (!(lo > 0)) { /* a single value, widened */
        double value = lo / 2 + hi / 2;
        lo = value / 2;
        hi = value * 2;
    }
    if (!(lo > 0))
        return fault_set(f, EXIT_DATA,
                         "%s has no samples above 0 that --log could take its range from: give it with -r lo:hi", name);
    int64_t bins = spec->number;
    if (spec->kind == BINS_USUAL) {
        double wanted = ceil(LOG_BINS_A_DECADE * log10(hi / lo) - 1e-9);
        bins = wanted < LOG_BINS_A_DECADE ? LOG_BINS_A_DECADE
               : wanted > MOST_USUAL_BINS ? MOST_USUAL_BINS
                                          : (int64_t)wanted;
    }
    *axis = histo_axis_closed(histo_axis_log(bins, lo, hi));
    return 0;
}

/* The library says what the data lacks; the option that helps is the command's. */
static int fault_no_axis(const bins_spec *spec, const char *name, fault *f)
{
    static const char asks[] = "give one";
    const char *said = histo_last_error();
    size_t length = strlen(said), asked = sizeof asks - 1;
    bool wants_range = length > asked && strcmp(said + length - asked, asks) == 0;
    return fault_set(f, EXIT_DATA, "%s: %s%s%s", name, spec->log ? "above 0, " : "", said,
                     wants_range ? " with -r lo:hi" : "");
}

int axis_search_end(axis_search *a, const char *name, fault *f)
{
    const bins_spec *spec = a->spec;
    if (spec->kind == BINS_EDGES) {
        a->axis = histo_axis_closed(histo_axis_variable(spec->number, spec->edges));
    } else {
        if (histo_survey_axis(a->survey, &a->axis) != HISTO_OK) return fault_no_axis(spec, name, f);
        bool usual = spec->kind == BINS_USUAL && !spec->log && a->axis.kind == HISTO_REGULAR;
        if (usual) round_usual(spec, &a->axis, a->dtype);
        if (spec->log && make_log(spec, &a->axis, name, f) != 0) return -1;
    }
    return histo_axis_check(&a->axis) == HISTO_OK ? 0 : fault_of_library(f, EXIT_USAGE, "the bins");
}
