/* A survey: the passes over the data that a range and a rule need.
 *
 *   PERCENTILES  the range from percentiles: order statistics of all samples but NaN
 *   SAMPLES      minimum and maximum of the samples that the rule uses, their moments and quartiles if it needs them
 *   CANDIDATES   the histograms that Stone's rule compares
 *
 * A phase takes one or more passes, and is skipped if nothing needs it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "axis/axis.h"
#include "base/error.h"
#include "survey/extremes.h"
#include "survey/pass.h"
#include "survey/rules.h"
#include "survey/stone.h"
#include "view/dtype.h"

typedef enum phase { PERCENTILES, SAMPLES, CANDIDATES, DONE } phase;

#define UNKNOWN UINT64_MAX

struct histo_survey {
    histo_dtype dtype;
    histo_survey_options options;
    phase phase;
    bool in_pass;
    uint64_t seen, expected; /* samples in this pass; what an earlier pass saw, or UNKNOWN */
    bool changed;            /* passes disagree on the number of samples */
    bool facts_known;        /* extremes and stats are complete */
    double lo, hi;           /* the range, once known */
    histo_extremes extremes;
    histo_stats stats; /* for rules that need moments */
    double quartile_spread;
    histo_order *order;
    histo_stone *stone;
};

static histo_status check_options(histo_dtype dtype, const histo_survey_options *o)
{
    if (histo_dtype_size(dtype) == 0) return histo_fail(HISTO_INVALID, "unknown dtype %d", (int)dtype);
    if (!o) return histo_fail(HISTO_INVALID, "a survey needs options: a number of bins, their width or a rule");
    if ((unsigned)o->range > HISTO_RANGE_FIXED) return histo_fail(HISTO_INVALID, "unknown range %d", (int)o->range);
    if (!histo_rule_known(o->rule)) return histo_fail(HISTO_INVALID, "unknown rule %d", (int)o->rule);
    if (o->range == HISTO_RANGE_FIXED && !(isfinite(o->lo) && isfinite(o->hi) && o->lo <= o->hi))
        return histo_fail(HISTO_INVALID, "the range [%.17g, %.17g] needs two finite ends, the lower one first", o->lo,
                          o->hi);
    if (o->range == HISTO_RANGE_PERCENTILE && !(0 <= o->lo && o->lo <= o->hi && o->hi <= 100))
        return histo_fail(HISTO_INVALID, "percentiles lie between 0 and 100, the lower one first: not %g and %g", o->lo,
                          o->hi);
    if (o->rule != HISTO_RULE_NONE) return HISTO_OK;
    if (!(o->width >= 0) || isinf(o->width))
        return histo_fail(HISTO_INVALID, "a bin cannot be %g wide: give a width above 0", o->width);
    if (o->width == 0 && (o->bins < 1 || o->bins > HISTO_MAX_BINS))
        return histo_fail(HISTO_INVALID, "%lld is no number of bins: give 1 to %lld, a width or a rule",
                          (long long)o->bins, (long long)HISTO_MAX_BINS);
    return HISTO_OK;
}

/* Set the range. A single point is widened by half a unit on each side, or to the neighbouring doubles if rounding
 * loses the half. */
static void set_range(histo_survey *s, double lo, double hi)
{
    s->lo = lo < hi ? lo : fmin(lo - 0.5, nextafter(lo, -INFINITY));
    s->hi = lo < hi ? hi : fmax(hi + 0.5, nextafter(hi, INFINITY));
}

static void enter(histo_survey *s, phase next)
{
    s->phase = next;
    s->expected = UNKNOWN;
    if (next == SAMPLES && histo_rule_needs_quartiles(s->options.rule))
        histo_order_start(s->order, HISTO_QUANTILE_LINEAR, (const double[]){0.25, 0.75}, true);
}

histo_status histo_survey_create(histo_survey **survey, histo_dtype dtype, const histo_survey_options *options)
{
    if (!survey) return histo_fail(HISTO_INVALID, "the pointer for the survey is NULL");
    dtype = histo_dtype_plain(dtype);
    histo_status status = check_options(dtype, options);
    if (status != HISTO_OK) return status;
    histo_survey *s = calloc(1, sizeof *s);
    if (!s) return histo_fail_memory(sizeof *s, "a survey");
    s->dtype = dtype;
    s->options = *options;
    /* Allocate everything now, so that no pass can run out of memory. */
    if (options->range == HISTO_RANGE_PERCENTILE || histo_rule_needs_quartiles(options->rule))
        status = histo_order_create(&s->order, dtype, 2);
    if (status == HISTO_OK && options->rule == HISTO_RULE_STONE) status = histo_stone_create(&s->stone, dtype);
    if (status != HISTO_OK) {
        histo_survey_destroy(s);
        return status;
    }
    enter(s, options->rule == HISTO_RULE_NONE ? DONE : SAMPLES);
    switch (options->range) {
    case HISTO_RANGE_MINMAX:
        enter(s, SAMPLES);
        break;
    case HISTO_RANGE_PERCENTILE:
        histo_order_start(s->order, HISTO_QUANTILE_LINEAR, (const double[]){options->lo / 100, options->hi / 100},
                          false);
        enter(s, PERCENTILES);
        break;
    case HISTO_RANGE_DTYPE:
        s->hi = 1;
        if (histo_dtype_is_integer(dtype)) histo_dtype_limits(dtype, &s->lo, &s->hi);
        break;
    case HISTO_RANGE_FIXED:
        set_range(s, options->lo, options->hi);
        break;
    }
    *survey = s;
    return HISTO_OK;
}

void histo_survey_destroy(histo_survey *survey)
{
    if (!survey) return;
    histo_order_destroy(survey->order);
    histo_stone_destroy(survey->stone);
    free(survey);
}

/* Largest minus smallest sample in the range; exact for integers, rounded once. */
static double spread(const histo_survey *s)
{
    const histo_number min = s->extremes.min, max = s->extremes.max;
    return histo_dtype_is_integer(s->dtype) ? (double)(max.u64 - min.u64) : max.f64 - min.f64;
}

static void end_percentiles(histo_survey *s)
{
    if (!histo_order_end_pass(s->order)) return;
    double lo = histo_order_value(s->order, 0), hi = histo_order_value(s->order, 1);
    set_range(s, lo, hi);
    bool usable = isfinite(lo) && isfinite(hi);
    enter(s, usable && s->options.rule != HISTO_RULE_NONE ? SAMPLES : DONE);
}

static void end_samples(histo_survey *s)
{
    const uint64_t finite = histo_extremes_finite(&s->extremes);
    s->facts_known = true;
    if (s->options.range == HISTO_RANGE_MINMAX && finite) {
        double lo, hi;
        histo_extremes_outwards(&s->extremes, s->dtype, &lo, &hi);
        set_range(s, lo, hi);
    }
    if (histo_rule_needs_quartiles(s->options.rule)) {
        if (!histo_order_end_pass(s->order)) return;
        s->quartile_spread = histo_order_value(s->order, 1) - histo_order_value(s->order, 0);
    }
    if (s->options.rule != HISTO_RULE_STONE || !(spread(s) > 0)) {
        enter(s, DONE);
        return;
    }
    histo_stone_start(s->stone, finite, s->lo, s->hi);
    enter(s, CANDIDATES);
    s->expected = finite;
}

static void end_pass(histo_survey *s)
{
    s->changed |= s->expected != UNKNOWN && s->seen != s->expected;
    s->expected = s->seen;
    switch (s->phase) {
    case PERCENTILES:
        end_percentiles(s);
        break;
    case SAMPLES:
        end_samples(s);
        break;
    case CANDIDATES:
        if (histo_stone_end_pass(s->stone)) enter(s, DONE);
        break;
    case DONE:
        break;
    }
}

bool histo_survey_next_pass(histo_survey *survey)
{
    if (!survey) return false;
    if (survey->in_pass) end_pass(survey);
    survey->in_pass = survey->phase != DONE;
    survey->seen = 0;
    return survey->in_pass;
}

/* Skip samples outside the range. What is not finite is left out of facts, and NaN of percentiles. */
static void limit_to_phase(const histo_survey *s, histo_source *source)
{
    const bool finding_range = s->phase == SAMPLES && s->options.range == HISTO_RANGE_MINMAX;
    if (s->phase != PERCENTILES && !finding_range) histo_source_only_inside(source, s->lo, s->hi);
}

/* Stone's candidates count block by block. */
static void add_to_stone(histo_survey *s, const histo_source *source)
{
    histo_samples from;
    histo_samples_start(&from, source, 0, source->samples);
    while (histo_samples_next(&from)) {
        s->seen += (uint64_t)from.n;
        histo_stone_add(s->stone, from.block, from.n);
    }
}

histo_status histo_survey_add(histo_survey *survey, const histo_view *samples, const histo_fill_options *options)
{
    if (!survey) return histo_fail(HISTO_INVALID, "the survey is NULL");
    if (!survey->in_pass)
        return histo_fail(HISTO_INVALID,
                          "the survey is not in a pass: add samples after histo_survey_next_pass gave true");
    histo_source source;
    histo_status status = histo_source_make(&source, samples, options, HISTO_NO_BATCH);
    if (status != HISTO_OK) return status;
    if (histo_dtype_plain(samples->dtype) != survey->dtype)
        return histo_fail(HISTO_INVALID, "the survey is of %s samples, and these are %s",
                          histo_dtype_name(survey->dtype), histo_dtype_name(samples->dtype));
    limit_to_phase(survey, &source);
    if (survey->phase == CANDIDATES) {
        add_to_stone(survey, &source);
        return HISTO_OK;
    }
    const histo_rule rule = survey->options.rule;
    histo_wanted wanted = {.order = survey->order};
    if (survey->phase == SAMPLES) {
        if (!survey->facts_known) wanted.extremes = &survey->extremes;
        if (!survey->facts_known && histo_rule_needs_moments(rule)) wanted.stats = &survey->stats;
        if (!histo_rule_needs_quartiles(rule)) wanted.order = NULL;
    }
    survey->seen += histo_pass_run(&source, &wanted);
    return HISTO_OK;
}

static histo_status check_found(const histo_survey *s)
{
    const histo_survey_options *o = &s->options;
    if (s->phase != DONE)
        return histo_fail(HISTO_INVALID,
                          "the survey is not done: add the samples while histo_survey_next_pass gives true");
    if (s->changed)
        return histo_fail(HISTO_INVALID,
                          "the samples changed between two passes of the survey: add the same each time");
    bool none = o->range == HISTO_RANGE_MINMAX && histo_extremes_finite(&s->extremes) == 0;
    if (none || isnan(s->lo) || isnan(s->hi))
        return histo_fail(HISTO_INVALID, "no finite sample to take a range from: give one");
    if (o->range == HISTO_RANGE_PERCENTILE && (isinf(s->lo) || isinf(s->hi)))
        return histo_fail(HISTO_INVALID, "percentiles %g and %g are not both finite: give other ones", o->lo, o->hi);
    return HISTO_OK;
}

/* The number of bins that cover [lo, *hi]; *hi moves up to the end of the last. */
static histo_status divide_by_width(double width, double lo, double *hi, int64_t *bins)
{
    double quotient = (*hi - lo) / width;
    double whole = nearbyint(quotient);
    /* 2.7 / 0.3 means 9, whichever way it rounds. */
    double wanted = fabs(quotient - whole) <= 4 * DBL_EPSILON * whole ? whole : ceil(quotient);
    if (!(wanted <= (double)HISTO_MAX_BINS))
        return histo_fail(HISTO_INVALID,
                          "bins %g wide over [%g, %g] would be %.10g, more than %lld: give a larger width", width, lo,
                          *hi, wanted, (long long)HISTO_MAX_BINS);
    *bins = (int64_t)fmax(wanted, 1);
    *hi = fmax(*hi, lo + (double)*bins * width);
    return HISTO_OK;
}

static histo_status find_bins(const histo_survey *s, double *hi, int64_t *bins)
{
    const histo_survey_options *o = &s->options;
    if (o->rule == HISTO_RULE_NONE && o->width > 0) return divide_by_width(o->width, s->lo, hi, bins);
    if (o->rule == HISTO_RULE_NONE) {
        *bins = o->bins;
        return HISTO_OK;
    }
    histo_rule_facts facts = {.integer = histo_dtype_is_integer(s->dtype),
                              .n = histo_extremes_finite(&s->extremes),
                              .spread = spread(s),
                              .m2 = s->stats.m2,
                              .m3 = s->stats.m3,
                              .quartile_spread = s->quartile_spread,
                              .stone_bins = s->stone ? histo_stone_bins(s->stone) : 0,
                              .range = s->hi - s->lo};
    if (o->range == HISTO_RANGE_MINMAX && facts.spread > 0)
        facts.range = facts.spread; /* without rounding of lo and hi */
    return histo_rule_bins(o->rule, &facts, bins);
}

histo_status histo_survey_axis(const histo_survey *survey, histo_axis *axis)
{
    if (!survey || !axis) return histo_fail(HISTO_INVALID, "the survey or the axis is NULL");
    histo_status status = check_found(survey);
    if (status != HISTO_OK) return status;
    double lo = survey->lo, hi = survey->hi;
    int64_t bins;
    status = find_bins(survey, &hi, &bins);
    if (status != HISTO_OK) return status;
    bool every_value = survey->options.range == HISTO_RANGE_DTYPE && histo_dtype_is_integer(survey->dtype);
    histo_axis found = every_value && hi - lo == (double)bins ? histo_axis_integer((int64_t)lo, bins)
                                                              : histo_axis_closed(histo_axis_regular(bins, lo, hi));
    status = histo_axis_check(&found);
    if (status == HISTO_OK) *axis = found;
    return status;
}

histo_status histo_axis_from_data(const histo_view *samples, const histo_fill_options *fill,
                                  const histo_survey_options *options, histo_axis *axis)
{
    if (!samples) return histo_fail(HISTO_INVALID, "the samples are NULL");
    histo_survey *survey;
    histo_status status = histo_survey_create(&survey, samples->dtype, options);
    if (status != HISTO_OK) return status;
    while (status == HISTO_OK && histo_survey_next_pass(survey))
        status = histo_survey_add(survey, samples, fill);
    if (status == HISTO_OK) status = histo_survey_axis(survey, axis);
    histo_survey_destroy(survey);
    return status;
}
