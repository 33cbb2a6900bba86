/* A survey: the passes over the data that a range and a rule need.
 *
 *   PERCENTILES  the range from percentiles: order statistics of all samples but NaN
 *   SAMPLES      minimum and maximum of the samples that the rule uses, their moments and quartiles if it needs them
 *   CANDIDATES   the histograms that Stone's rule compares
 *
 * A phase takes one or more passes, and is skipped if nothing needs it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "axis/axis.h"
#include "axis/quantile_rule.h"
#include "base/bits.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "plan/total.h"
#include "survey/device.h"
#include "survey/extremes.h"
#include "survey/pass.h"
#include "survey/rules.h"
#include "survey/stats.h"
#include "survey/stone_rule.h"
#include "view/dtype.h"

typedef enum phase { PERCENTILES, SAMPLES, CANDIDATES, DONE } phase;

#define UNKNOWN UINT64_MAX

enum { NEEDED = 2, MOST_ASKED = 6 }; /* quantiles */

struct histo_survey {
    histo_dtype dtype;
    histo_survey_options options;
    phase phase;
    bool in_pass;
    uint64_t seen, expected; /* samples in this pass; the number in an earlier pass, or UNKNOWN */
    bool changed;            /* passes disagree on the number of samples */
    bool incomplete;         /* a cancelled call has added part of its samples */
    bool facts_known;        /* extremes and stats are complete */
    double lo, hi;           /* the range, once known */
    histo_extremes extremes;
    histo_stats stats; /* for rules that need moments */
    double quartile_spread;
    histo_selection *selection;
    histo_stone_rule *stone;

    bool begun; /* a pass */
    int asked;  /* number of requested quantiles q, which the selection finds after those that the range or the rule
                 * needs */
    double q[MOST_ASKED], quantiles[MOST_ASKED];
};

/* Whether the lower end is a percentile. */
static bool from_percentile(const histo_survey_options *o)
{
    return o->range == HISTO_RANGE_PERCENTILE || o->range == HISTO_RANGE_FROM_PERCENTILE;
}

static bool to_percentile(const histo_survey_options *o)
{
    return o->range == HISTO_RANGE_PERCENTILE || o->range == HISTO_RANGE_TO_PERCENTILE;
}

/* Whether the range ends at the first or last finite sample, on one side or both. */
static bool ends_at_samples(const histo_survey_options *o)
{
    return o->range == HISTO_RANGE_MINMAX || (o->range == HISTO_RANGE_FIXED && (isinf(o->lo) || isinf(o->hi)));
}

static histo_status check_percentile(double percentile)
{
    if (0 <= percentile && percentile <= 100) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "percentiles lie between 0 and 100, not at %.17g", percentile);
}

static histo_status check_end(double end)
{
    return isfinite(end) ? HISTO_OK : histo_fail(HISTO_INVALID, "a range with a percentile cannot end at %.17g", end);
}

static histo_status check_range(const histo_survey_options *o)
{
    histo_status status = HISTO_OK;
    switch (o->range) {
    case HISTO_RANGE_MINMAX:
    case HISTO_RANGE_DTYPE:
        break;
    case HISTO_RANGE_FIXED:
        if (!(o->lo <= o->hi && o->lo < INFINITY && o->hi > -INFINITY))
            status =
                histo_fail(HISTO_INVALID, "the range [%.17g, %.17g] needs two ends, the lower one first", o->lo, o->hi);
        break;
    case HISTO_RANGE_PERCENTILE:
        if (!(0 <= o->lo && o->lo <= o->hi && o->hi <= 100))
            status =
                histo_fail(HISTO_INVALID, "percentiles lie between 0 and 100, the lower one first: not %.17g and %.17g",
                           o->lo, o->hi);
        break;
    case HISTO_RANGE_FROM_PERCENTILE:
    case HISTO_RANGE_TO_PERCENTILE:
        status = check_percentile(from_percentile(o) ? o->lo : o->hi);
        if (status == HISTO_OK) status = check_end(from_percentile(o) ? o->hi : o->lo);
        break;
    }
    return status;
}

static histo_status check_options(histo_dtype dtype, const histo_survey_options *o)
{
    if (histo_dtype_size(dtype) == 0) return histo_fail(HISTO_INVALID, "unknown dtype %d", (int)dtype);
    if (!o) return histo_fail(HISTO_INVALID, "a survey needs options: a number of bins, their width or a rule");
    if ((unsigned)o->range > HISTO_RANGE_TO_PERCENTILE)
        return histo_fail(HISTO_INVALID, "unknown range %d", (int)o->range);
    if (!histo_rule_known(o->rule)) return histo_fail(HISTO_INVALID, "unknown rule %d", (int)o->rule);
    histo_status status = histo_check_reserved(o->reserved, sizeof o->reserved, "histo_survey_options");
    if (status == HISTO_OK) status = check_range(o);
    if (status != HISTO_OK) return status;
    if (o->rule != HISTO_RULE_NONE) return HISTO_OK;
    if (!(o->width >= 0) || isinf(o->width))
        return histo_fail(HISTO_INVALID, "a bin cannot be %.17g wide: give a width above 0", o->width);
    if (o->width == 0 && (o->bins < 1 || o->bins > HISTO_MAX_BINS))
        return histo_fail(HISTO_INVALID, "a histogram cannot have %lld bins: give 1 to %lld, a width or a rule",
                          (long long)o->bins, (long long)HISTO_MAX_BINS);
    return HISTO_OK;
}

/* Set the range. A single point is widened by half a unit on each side, or to the neighbouring doubles if the half is
 * lost to rounding. */
static void set_range(histo_survey *s, double lo, double hi)
{
    s->lo = lo < hi ? lo : fmin(lo - 0.5, nextafter(lo, -INFINITY));
    s->hi = lo < hi ? hi : fmax(hi + 0.5, nextafter(hi, INFINITY));
}

/* Whether the requested quantiles are found in this phase: the first one, which sees all samples. */
static bool finds_asked(const histo_survey *s, phase in)
{
    const bool first = in == PERCENTILES || !(from_percentile(&s->options) || to_percentile(&s->options));
    return s->asked > 0 && first;
}

static bool selects_in_samples(const histo_survey *s)
{
    return histo_rule_needs_quartiles(s->options.rule) || finds_asked(s, SAMPLES);
}

/* The quantiles that are needed come first; if there are none, the requested ones stand in. */
static void start_selection(histo_survey *s, double first, double second, bool finite)
{
    double q[NEEDED + MOST_ASKED] = {first, second};
    for (int i = 0; i < s->asked; i++)
        q[NEEDED + i] = finds_asked(s, s->phase) ? s->q[i] : first;
    if (s->asked && s->phase == SAMPLES && !histo_rule_needs_quartiles(s->options.rule)) q[0] = q[1] = s->q[0];
    histo_selection_start(s->selection, HISTO_QUANTILE_LINEAR, q, finite);
}

static bool end_selection(histo_survey *s)
{
    if (!histo_selection_end_pass(s->selection)) return false;
    for (int i = 0; i < s->asked && finds_asked(s, s->phase); i++)
        s->quantiles[i] = histo_selection_value(s->selection, NEEDED + i);
    return true;
}

static void enter(histo_survey *s, phase next)
{
    s->phase = next;
    s->expected = UNKNOWN;
    if (next == PERCENTILES) {
        const double lo = from_percentile(&s->options) ? s->options.lo : s->options.hi;
        const double hi = to_percentile(&s->options) ? s->options.hi : s->options.lo;
        start_selection(s, lo / 100, hi / 100, false);
    }
    if (next == SAMPLES && selects_in_samples(s))
        start_selection(s, 0.25, 0.75, histo_rule_needs_quartiles(s->options.rule));
}

histo_status histo_survey_create(histo_survey **survey, histo_dtype dtype, const histo_survey_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (survey) *survey = NULL;
    if (!survey) return histo_fail(HISTO_INVALID, "the pointer for the survey is NULL");
    dtype = histo_dtype_plain(dtype);
    histo_status status = check_options(dtype, options);
    if (status != HISTO_OK) return status;
    histo_survey *s = histo_calloc(1, sizeof *s);
    if (!s) return histo_fail_memory(sizeof *s, "a survey");
    s->dtype = dtype;
    s->options = *options;
    /* Allocate everything now, so that no pass can run out of memory. */
    if (from_percentile(options) || to_percentile(options) || histo_rule_needs_quartiles(options->rule))
        status = histo_selection_create(&s->selection, dtype, NEEDED, options->in_parts, options->memory);
    if (status == HISTO_OK && options->rule == HISTO_RULE_STONE) status = histo_stone_rule_create(&s->stone, dtype);
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
    case HISTO_RANGE_FROM_PERCENTILE:
    case HISTO_RANGE_TO_PERCENTILE:
        enter(s, PERCENTILES);
        break;
    case HISTO_RANGE_DTYPE:
        s->hi = 1;
        if (histo_dtype_is_integer(dtype)) histo_dtype_limits(dtype, &s->lo, &s->hi);
        break;
    case HISTO_RANGE_FIXED:
        if (ends_at_samples(options))
            enter(s, SAMPLES);
        else
            set_range(s, options->lo, options->hi);
        break;
    }
    *survey = s;
    return HISTO_OK;
}

void histo_survey_destroy(histo_survey *survey)
{
    if (!survey) return;
    histo_selection_destroy(survey->selection);
    histo_stone_rule_destroy(survey->stone);
    histo_free(survey);
}

/* Largest minus smallest sample in the range, computed exactly for integers and rounded once. */
static double spread(const histo_survey *s)
{
    const histo_number min = s->extremes.min, max = s->extremes.max;
    return histo_dtype_is_integer(s->dtype) ? (double)(max.u64 - min.u64) : max.f64 - min.f64;
}

static void end_percentiles(histo_survey *s)
{
    if (!end_selection(s)) return;
    const double lo = from_percentile(&s->options) ? histo_selection_value(s->selection, 0) : s->options.lo;
    const double hi = to_percentile(&s->options) ? histo_selection_value(s->selection, 1) : s->options.hi;
    bool usable = isfinite(lo) && isfinite(hi) && lo <= hi;
    if (usable) {
        set_range(s, lo, hi);
    } else { /* no range, which histo_survey_axis reports */
        s->lo = lo;
        s->hi = hi;
    }
    enter(s, usable && s->options.rule != HISTO_RULE_NONE ? SAMPLES : DONE);
}

static void end_samples(histo_survey *s)
{
    const uint64_t finite = histo_extremes_finite(&s->extremes);
    s->facts_known = true;
    if (ends_at_samples(&s->options) && finite) {
        const bool minmax = s->options.range == HISTO_RANGE_MINMAX;
        double lo, hi;
        histo_extremes_outwards(&s->extremes, s->dtype, &lo, &hi);
        if (!minmax && isfinite(s->options.lo)) lo = s->options.lo;
        if (!minmax && isfinite(s->options.hi)) hi = s->options.hi;
        set_range(s, lo, hi);
    }
    if (selects_in_samples(s)) {
        if (!end_selection(s)) return;
        s->quartile_spread = histo_selection_value(s->selection, 1) - histo_selection_value(s->selection, 0);
    }
    if (s->options.rule != HISTO_RULE_STONE || !(spread(s) > 0)) {
        enter(s, DONE);
        return;
    }
    histo_stone_rule_start(s->stone, finite, s->lo, s->hi);
    enter(s, CANDIDATES);
    s->expected = finite;
}

/* Fails only if cancelled. */
static histo_status end_pass(histo_survey *s)
{
    bool done;
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
        if (histo_stone_rule_end_pass(s->stone, &done) != HISTO_OK) return HISTO_CANCELLED;
        if (done) enter(s, DONE);
        break;
    case DONE:
        break;
    }
    return HISTO_OK;
}

static histo_status check_whole(const histo_survey *s)
{
    if (!s) return histo_fail(HISTO_INVALID, "the survey is NULL");
    if (s->incomplete)
        return histo_fail(HISTO_INVALID, "the survey holds a part of samples whose adding was cancelled: destroy it");
    return HISTO_OK;
}

histo_status histo_survey_next_pass(histo_survey *survey, bool *more)
{
    HISTO_STANDARD_FLOATS;
    if (more) *more = false;
    if (!survey || !more) return histo_fail(HISTO_INVALID, "the survey, or the place for more, is NULL");
    histo_status status = check_whole(survey);
    if (status == HISTO_OK && survey->in_pass) status = end_pass(survey);
    survey->incomplete |= status == HISTO_CANCELLED;
    if (status != HISTO_OK) return status;
    survey->in_pass = survey->phase != DONE;
    survey->begun = true;
    survey->seen = 0;
    *more = survey->in_pass;
    return HISTO_OK;
}

/* Skip samples outside the range. Facts ignore whatever is not finite; percentiles ignore NaN. */
static void limit_to_phase(const histo_survey *s, histo_source *source)
{
    const bool finding_range = s->phase == SAMPLES && ends_at_samples(&s->options);
    if (finding_range && s->options.range == HISTO_RANGE_FIXED)
        histo_source_only_inside(source, s->options.lo, s->options.hi);
    else if (s->phase != PERCENTILES && !finding_range)
        histo_source_only_inside(source, s->lo, s->hi);
}

/* Count Stone's candidates block by block, or on a GPU. */
static histo_status add_to_stone(histo_survey *s, const histo_source *source)
{
    if (source->home != HISTO_DEVICE_CPU) {
        histo_found extremes;
        histo_status status = histo_source_extremes(source, &extremes);
        if (status == HISTO_OK) status = histo_stone_rule_count(s->stone, source);
        if (status == HISTO_OK) s->seen += extremes.samples;
        return status;
    }
    histo_samples from;
    static const char stage[] = "surveying";
    histo_status status = HISTO_OK;
    histo_samples_start(&from, source, 0, source->samples);
    while (status == HISTO_OK && histo_samples_next(&from)) {
        s->seen += (uint64_t)from.n;
        histo_stone_rule_add(s->stone, from.block, from.n);
        status = histo_go_on(stage, HISTO_MUCH_WORK, from.at, from.all);
    }
    return from.stopped ? histo_fail_cancelled(stage) : status;
}

/* If cancelled, the survey holds part of the samples. */
static histo_status add_in_phase(histo_survey *survey, const histo_view *samples, const histo_fill_options *options,
                                 histo_power_sums *sums)
{
    histo_source source;
    histo_status status = histo_source_make_typed(&source, samples, options, survey->dtype, "the survey is");
    if (status != HISTO_OK) return status;
    limit_to_phase(survey, &source);
    if (sums && (source.only_inside || survey->phase == CANDIDATES)) { /* the pass does not see all samples */
        status = histo_power_sums_add(sums, samples, options);
        if (status != HISTO_OK) return status;
        sums = NULL;
    }
    if (survey->phase == CANDIDATES) return add_to_stone(survey, &source);
    const histo_rule rule = survey->options.rule;
    histo_facts facts = {.selection = survey->selection, .sums = sums};
    if (survey->phase == SAMPLES) {
        if (!survey->facts_known) facts.extremes = &survey->extremes;
        if (!survey->facts_known && histo_rule_needs_moments(rule)) facts.stats = &survey->stats;
        if (!selects_in_samples(survey)) facts.selection = NULL;
    }
    return histo_pass_run(&source, &facts, &survey->seen);
}

static histo_status add(histo_survey *survey, const histo_view *samples, const histo_fill_options *options,
                        histo_power_sums *sums)
{
    histo_status status = check_whole(survey);
    if (status != HISTO_OK) return status;
    if (!survey->in_pass)
        return histo_fail(HISTO_INVALID,
                          "the survey is not in a pass: add samples after histo_survey_next_pass gave more");
    const histo_power_sums before = sums ? *sums : (histo_power_sums){0};
    status = add_in_phase(survey, samples, options, sums);
    if (status != HISTO_OK && sums) *sums = before;
    survey->incomplete = status == HISTO_CANCELLED;
    return status;
}

histo_status histo_survey_add(histo_survey *survey, const histo_view *samples, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    return add(survey, samples, options, NULL);
}

histo_status histo_survey_add_sums(histo_survey *survey, const histo_view *samples, const histo_fill_options *options,
                                   histo_power_sums *sums)
{
    HISTO_STANDARD_FLOATS;
    return sums ? add(survey, samples, options, sums) : histo_fail(HISTO_INVALID, "the sums to add to are NULL");
}

/* ---- Parts ---- */

static const uint64_t magic = UINT64_C(0x3159525553534948); /* "HISSURY1" */

static bool finds_order_statistics(const histo_survey *s)
{
    return s->phase == PERCENTILES || (s->phase == SAMPLES && histo_rule_needs_quartiles(s->options.rule));
}

static bool finds_facts(const histo_survey *s)
{
    return s->phase == SAMPLES && !s->facts_known;
}

/* The number of values that parts of one survey have in common. */
enum { COMMON = 9 };
static void describe(const histo_survey *s, uint64_t common[COMMON])
{
    const histo_survey_options *o = &s->options;
    const uint64_t numbers[COMMON] = {magic,
                                      (uint64_t)s->dtype,
                                      (uint64_t)s->phase,
                                      o->rule,
                                      (uint64_t)o->range,
                                      histo_bits_of(o->lo),
                                      histo_bits_of(o->hi),
                                      s->facts_known,
                                      s->expected};
    memcpy(common, numbers, sizeof numbers);
}

static histo_status check_part(const histo_survey *s)
{
    const histo_status status = check_whole(s);
    if (status != HISTO_OK) return status;
    if (!s->options.in_parts)
        return histo_fail(HISTO_INVALID, "the survey is of all samples: create it with in_parts to merge others");
    if (!s->in_pass)
        return histo_fail(HISTO_INVALID,
                          "the survey is not in a pass: parts are saved and merged before it is ended by "
                          "histo_survey_next_pass");
    return HISTO_OK;
}

static void save_facts(const histo_survey *s, histo_bytes *out)
{
    const histo_extremes *e = &s->extremes;
    const histo_stats *m = &s->stats;
    const uint64_t numbers[] = {e->samples,
                                e->nan,
                                e->below,
                                e->above,
                                e->masked,
                                e->min.u64,
                                e->max.u64,
                                m->samples,
                                m->nan,
                                m->infinite,
                                m->masked,
                                histo_bits_of(m->min),
                                histo_bits_of(m->max),
                                histo_bits_of(m->mean),
                                histo_bits_of(m->m2),
                                histo_bits_of(m->m3),
                                histo_bits_of(m->m4)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        histo_save_u64(out, numbers[i]);
}

static double next_f64(histo_saved *from)
{
    return histo_double_of(histo_saved_next(from));
}

/* Whether they sum to at most `most`. */
static bool add_up_to(const uint64_t *counts, int n, uint64_t most)
{
    uint64_t sum = 0;
    return histo_total_add(&sum, counts, n) && sum <= most;
}

static void merge_facts(histo_survey *s, histo_saved *from, bool add)
{
    histo_extremes e;
    histo_stats m;
    uint64_t *const counts[] = {&e.samples, &e.nan,     &e.below, &e.above,    &e.masked, &e.min.u64,
                                &e.max.u64, &m.samples, &m.nan,   &m.infinite, &m.masked};
    double *const numbers[] = {&m.min, &m.max, &m.mean, &m.m2, &m.m3, &m.m4};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = histo_saved_next(from);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = next_f64(from);
    from->failed |= e.samples > from->samples || m.samples > from->samples ||
                    !add_up_to((uint64_t[]){e.nan, e.below, e.above}, 3, e.samples) ||
                    !add_up_to((uint64_t[]){m.nan, m.infinite}, 2, m.samples) || m.masked > e.masked;
    from->masked = e.masked;
    if (!add) return;
    histo_extremes_merge(&s->extremes, &e, s->dtype);
    histo_stats_join(&s->stats, &m);
}

histo_status histo_survey_save(const histo_survey *survey, void **data, size_t *size)
{
    HISTO_STANDARD_FLOATS;
    if (data) *data = NULL;
    if (size) *size = 0;
    histo_status status = check_part(survey);
    if (status != HISTO_OK) return status;
    if (!data || !size) return histo_fail(HISTO_INVALID, "the place for the saved survey or its size is NULL");
    histo_bytes out = {0};
    uint64_t common[COMMON];
    describe(survey, common);
    for (int i = 0; i < COMMON; i++)
        histo_save_u64(&out, common[i]);
    histo_save_u64(&out, survey->seen);
    if (finds_facts(survey)) save_facts(survey, &out);
    if (finds_order_statistics(survey)) histo_selection_save(survey->selection, &out);
    if (survey->phase == CANDIDATES) histo_stone_rule_save(survey->stone, &out);
    histo_save_u64(&out, histo_checksum_add(0, out.data, out.failed ? 0 : out.size));
    if (out.failed) {
        histo_free(out.data);
        return histo_fail_memory(out.capacity, "a saved survey, and more");
    }
    *data = out.data;
    *size = out.size;
    return HISTO_OK;
}

static void merge_part(histo_survey *s, histo_saved *from, bool add)
{
    uint64_t common[COMMON];
    describe(s, common);
    for (int i = 0; i < COMMON; i++)
        histo_saved_expect(from, common[i]);
    const uint64_t seen = histo_saved_next(from);
    if (from->failed) return;
    from->samples = seen;
    if (add) s->seen += seen;
    if (finds_facts(s)) merge_facts(s, from, add);
    if (finds_order_statistics(s)) histo_selection_merge(s->selection, from, add);
    if (s->phase == CANDIDATES && !from->failed) histo_stone_rule_merge(s->stone, from, add);
    from->failed |= from->left != 1; /* what remains is the checksum */
}

static void forget_pass(histo_survey *s)
{
    s->seen = 0;
    if (finds_facts(s)) {
        s->extremes = (histo_extremes){0};
        s->stats = (histo_stats){0};
    }
    if (finds_order_statistics(s)) histo_selection_forget(s->selection);
    if (s->phase == CANDIDATES) histo_stone_rule_forget(s->stone);
}

static histo_status merge_saved(histo_survey *s, const void *data, size_t size, bool replace)
{
    histo_status status = check_part(s);
    if (status != HISTO_OK) return status;
    if (!data) return histo_fail(HISTO_INVALID, "the saved survey is NULL");
    const histo_saved all = {.at = data, .left = size / 8};
    histo_saved sum = {.at = (const unsigned char *)data + (size < 8 ? 0 : size - 8), .left = size / 8}, from = all;
    if (size % 8 || size < 8 || histo_saved_next(&sum) != histo_checksum_add(0, data, size - 8))
        return histo_fail(HISTO_CORRUPT, "the saved survey is damaged, or something else");
    merge_part(s, &from, false);
    if (from.failed)
        return histo_fail(HISTO_INVALID,
                          "the saved survey is of other samples, has other options, or is in another pass");
    const uint64_t together[] = {s->seen, s->extremes.masked, from.samples, from.masked};
    status = histo_total_check(together + (replace ? 2 : 0), replace ? 2 : 4);
    if (status != HISTO_OK) return status;
    if (replace) forget_pass(s);
    from = all;
    merge_part(s, &from, true);
    return HISTO_OK;
}

histo_status histo_survey_merge(histo_survey *survey, const void *data, size_t size)
{
    HISTO_STANDARD_FLOATS;
    return merge_saved(survey, data, size, false);
}

histo_status histo_survey_replace(histo_survey *survey, const void *data, size_t size)
{
    HISTO_STANDARD_FLOATS;
    return merge_saved(survey, data, size, true);
}

/* ---- The result ---- */

static histo_status check_done(const histo_survey *s)
{
    const histo_status status = check_whole(s);
    if (status != HISTO_OK) return status;
    if (s->phase != DONE)
        return histo_fail(HISTO_INVALID,
                          "the survey is not done: add the samples while histo_survey_next_pass gives more");
    if (s->changed)
        return histo_fail(HISTO_INVALID,
                          "the samples changed between two passes of the survey: add the same each time");
    return HISTO_OK;
}

static histo_status check_found(const histo_survey *s)
{
    const histo_status status = check_done(s);
    if (status != HISTO_OK) return status;
    const histo_survey_options *o = &s->options;
    if (o->range == HISTO_RANGE_FIXED && ends_at_samples(o) && histo_extremes_finite(&s->extremes) == 0)
        return histo_fail(HISTO_INVALID, "no finite sample in [%.17g, %.17g] to take a range from: give one", o->lo,
                          o->hi);
    bool none = o->range == HISTO_RANGE_MINMAX && histo_extremes_finite(&s->extremes) == 0;
    if (none || isnan(s->lo) || isnan(s->hi))
        return histo_fail(HISTO_INVALID, "no finite sample to take a range from: give one");
    if (o->range == HISTO_RANGE_PERCENTILE && (isinf(s->lo) || isinf(s->hi)))
        return histo_fail(HISTO_INVALID, "percentiles %.17g and %.17g are not both finite: give other ones", o->lo,
                          o->hi);
    if (isinf(s->lo) || isinf(s->hi))
        return histo_fail(HISTO_INVALID, "the percentile %.17g is not finite: give another",
                          from_percentile(o) ? o->lo : o->hi);
    if (s->lo > s->hi)
        return histo_fail(HISTO_INVALID,
                          "the range from %.17g to %.17g, of which one is a percentile, is empty: give another", s->lo,
                          s->hi);
    return HISTO_OK;
}

/* The number of bins that cover [lo, *hi]; *hi moves up to the end of the last. */
static histo_status divide_by_width(double width, double lo, double *hi, int64_t *bins)
{
    double quotient = (*hi - lo) / width;
    double whole = nearbyint(quotient);
    /* Treat 2.7 / 0.3 as 9, whichever way it rounds. */
    double wanted = fabs(quotient - whole) <= 4 * DBL_EPSILON * whole ? whole : ceil(quotient);
    if (!(wanted <= (double)HISTO_MAX_BINS))
        return histo_fail(HISTO_INVALID,
                          "bins %.17g wide over [%.17g, %.17g] would be %.10g, more than %lld: give a larger width",
                          width, lo, *hi, wanted, (long long)HISTO_MAX_BINS);
    *bins = (int64_t)fmax(wanted, 1);
    *hi = fmax(*hi, lo + (double)*bins * width);
    return HISTO_OK;
}

histo_status histo_survey_ask_quantiles(histo_survey *survey, int n, const double *q)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = check_whole(survey);
    if (status == HISTO_OK) status = histo_quantile_check(HISTO_QUANTILE_LINEAR, n, q);
    if (status != HISTO_OK) return status;
    if (survey->begun) return histo_fail(HISTO_INVALID, "a pass has begun: ask for quantiles before the first one");
    if (n > MOST_ASKED) return histo_fail(HISTO_INVALID, "a survey finds at most %d quantiles, not %d", MOST_ASKED, n);
    const bool all = survey->phase == PERCENTILES || survey->options.range == HISTO_RANGE_MINMAX;
    if (survey->options.in_parts || !all)
        return histo_fail(HISTO_UNSUPPORTED, survey->options.in_parts
                                                 ? "a survey in parts finds no quantiles"
                                                 : "a survey of samples in a given range finds no quantiles of all");
    histo_selection *selection = NULL;
    status = histo_selection_create(&selection, survey->dtype, NEEDED + n, false, survey->options.memory);
    if (status != HISTO_OK) return status;
    histo_selection_destroy(survey->selection);
    survey->selection = selection;
    survey->asked = n;
    for (int i = 0; i < n; i++)
        survey->q[i] = q[i];
    enter(survey, survey->phase);
    return HISTO_OK;
}

histo_status histo_survey_quantiles(const histo_survey *survey, double *values)
{
    HISTO_STANDARD_FLOATS;
    const histo_status status = check_done(survey);
    if (status != HISTO_OK) return status;
    if (!values && survey->asked > 0) return histo_fail(HISTO_INVALID, "the array for the quantiles is NULL");
    const bool some = finds_asked(survey, SAMPLES) && histo_rule_needs_quartiles(survey->options.rule) &&
                      survey->extremes.below + survey->extremes.above > 0;
    if (some) return histo_fail(HISTO_UNSUPPORTED, "there are infinities, which the rule leaves out");
    for (int i = 0; i < survey->asked; i++)
        values[i] = survey->quantiles[i];
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
                              .stone_bins = s->stone ? histo_stone_rule_bins(s->stone) : 0,
                              .range = s->hi - s->lo};
    if (o->range == HISTO_RANGE_MINMAX && facts.spread > 0)
        facts.range = facts.spread; /* not affected by the rounding of lo and hi */
    return histo_rule_bins(o->rule, &facts, bins);
}

histo_status histo_survey_axis(const histo_survey *survey, histo_axis *axis)
{
    HISTO_STANDARD_FLOATS;
    if (axis) *axis = (histo_axis){0};
    if (!survey || !axis) return histo_fail(HISTO_INVALID, "the survey or the axis is NULL");
    histo_status status = check_found(survey);
    if (status != HISTO_OK) return status;
    double lo = survey->lo, hi = survey->hi;
    int64_t bins;
    status = find_bins(survey, &hi, &bins);
    if (status != HISTO_OK) return status;
    bool every_value = survey->options.range == HISTO_RANGE_DTYPE && histo_dtype_is_integer(survey->dtype);
    histo_axis chosen = every_value && hi - lo == (double)bins ? histo_axis_integer((int64_t)lo, bins)
                                                               : histo_axis_closed(histo_axis_regular(bins, lo, hi));
    status = histo_axis_check(&chosen);
    if (status == HISTO_OK) *axis = chosen;
    return status;
}

histo_status histo_axis_from_data(const histo_view *samples, const histo_fill_options *fill,
                                  const histo_survey_options *options, histo_axis *axis)
{
    HISTO_STANDARD_FLOATS;
    if (axis) *axis = (histo_axis){0};
    if (!samples) return histo_fail(HISTO_INVALID, "the samples are NULL");
    histo_survey *survey;
    histo_status status = histo_survey_create(&survey, samples->dtype, options);
    if (status != HISTO_OK) return status;
    for (bool more = true; status == HISTO_OK && more;) {
        status = histo_survey_next_pass(survey, &more);
        if (status == HISTO_OK && more) status = histo_survey_add(survey, samples, fill);
    }
    if (status == HISTO_OK) status = histo_survey_axis(survey, axis);
    histo_survey_destroy(survey);
    return status;
}
