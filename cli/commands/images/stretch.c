/* histo stretch: map one range of an image linearly to another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apply/command.h"
#include "apply/landmarks.h"
#include "base/failure.h"
#include "base/text.h"
#include "options/bins.h"

typedef struct stretch {
    bins_spec range;
    bool usual;    /* -r is not given */
    double *found; /* ends, [tables][2]; NULL: both are given */
    double lo, hi; /* of the result */
} stretch;

/* The full range of an integer dtype, as far as doubles represent it; 0 to 1 for floats. */
static void range_of(histo_dtype dtype, int64_t largest, double *lo, double *hi)
{
    levels_of_dtype(dtype, lo, hi);
    if (largest) *hi = (double)largest;
    if (dtype < HISTO_F16) return;
    *lo = 0;
    *hi = 1;
}

static bool is_given(const bins_spec *range, int end)
{
    return end ? bins_upper_end_is_given(range) : bins_lower_end_is_given(range);
}

/* The quantile for an end that is not given. */
static double quantile_at(const bins_spec *range, int end)
{
    const bool open = range->range == HISTO_RANGE_MINMAX || range->range == HISTO_RANGE_FIXED;
    return open || is_given(range, end) ? end : (end ? range->hi : range->lo) / 100;
}

static int begin(job *j, fault *f)
{
    const settings *s = j->settings;
    stretch *own = j->own = calloc(1, sizeof *own);
    bins_list bins;
    if (!own) return fault_set(f, EXIT_DATA, "no memory to stretch %s", job_name(j));
    if (bins_parse(&bins, s, f) != 0) return -1;
    own->range = bins.spec[0];
    if (bins.count > 1) return fault_set(f, EXIT_USAGE, "-r takes one range, as in p2:p98, not %s", s->range);
    own->usual = !own->range.has_range && !s->read.window;
    if (!own->range.has_range && s->read.window) {
        own->range.range = HISTO_RANGE_DTYPE;
    } else if (own->usual) {
        own->range.range = HISTO_RANGE_PERCENTILE;
        own->range.lo = 2;
        own->range.hi = 98;
    }
    if (own->range.range == HISTO_RANGE_DTYPE) {
        own->range.range = HISTO_RANGE_FIXED;
        range_of(j->tones.dtype, j->largest, &own->range.lo, &own->range.hi);
    }
    range_of(j->dtype, j->top && j->dtype == HISTO_U8 ? j->top : j->largest, &own->lo, &own->hi);
    if (s->has_target) {
        own->lo = s->target[0];
        own->hi = s->target[1];
    }
    if (own->range.range == HISTO_RANGE_FIXED && !(own->range.lo < own->range.hi))
        return fault_set(f, EXIT_USAGE, "-r %s has no width: give two different ends", s->range);
    for (int t = 0; t < j->tones.tables; t++) {
        j->levels[t].lo = fmin(own->lo, own->hi);
        j->levels[t].hi = fmax(own->lo, own->hi);
        if (!j->largest) continue;
        j->levels[t].lo = fmax(j->levels[t].lo, 0);
        j->levels[t].hi = fmin(j->levels[t].hi, (double)j->largest);
    }
    return 0;
}

/* The quantiles of all tables, one table after the other. */
static int find_quantiles(job *j, int n, const double *q, double *values, fault *f)
{
    if (!j->frame) return landmarks_find(j, n, q, NULL, values, f);
    return histo_hist_quantiles(j->hists[0], HISTO_QUANTILE_LINEAR, n, q, values) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, job_name(j));
}

/* If most samples have one value, the default range is empty: use the range of all samples. */
static int widen(job *j, fault *f)
{
    static const double all[] = {0, 1};
    const stretch *own = j->own;
    const int tables = j->tones.tables;
    bool empty = false;
    for (int t = 0; t < tables; t++)
        empty |= own->found[2 * t] == own->found[2 * t + 1];
    if (!own->usual || !empty) return 0;
    double *extremes = calloc((size_t)tables, 2 * sizeof *extremes);
    if (!extremes) return fault_set(f, EXIT_DATA, "no memory to stretch %s", job_name(j));
    const int failed = find_quantiles(j, 2, all, extremes, f);
    for (int t = 0; t < tables && !failed; t++) {
        double *range = own->found + 2 * t;
        const double most = range[0], *wide = extremes + 2 * t;
        char value[TEXT_NUMBER_BYTES], lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
        if (range[0] != range[1] || wide[0] == wide[1]) continue;
        memcpy(range, wide, 2 * sizeof *range);
        if (!j->settings->quiet && !j->frame)
            note("%s: the 2nd and the 98th percentile are both %s: stretched from %s to %s, all samples", job_name(j),
                 text_exact(most, value), text_exact(range[0], lo), text_exact(range[1], hi));
    }
    free(extremes);
    return failed;
}

static int gather(job *j, fault *f)
{
    stretch *own = j->own;
    if (is_given(&own->range, 0) && is_given(&own->range, 1)) return 0;
    const double ends[] = {quantile_at(&own->range, 0), quantile_at(&own->range, 1)};
    free(own->found);
    own->found = calloc((size_t)j->tones.tables, 2 * sizeof *own->found);
    if (!own->found) return fault_set(f, EXIT_DATA, "no memory to stretch %s", job_name(j));
    if (find_quantiles(j, 2, ends, own->found, f) != 0 || widen(j, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++) {
        if (is_given(&own->range, 0)) own->found[2 * t] = own->range.lo;
        if (is_given(&own->range, 1)) own->found[2 * t + 1] = own->range.hi;
        if (own->found[2 * t] > own->found[2 * t + 1])
            return fault_set(f, EXIT_DATA, "-r %s: %s has no samples there", j->settings->range, job_name(j));
    }
    return 0;
}

static int make(job *j, int table, fault *f)
{
    const stretch *own = j->own;
    const double *from = own->found ? own->found + 2 * table : (double[]){own->range.lo, own->range.hi},
                 to[] = {own->lo, own->hi};
    char text[TEXT_NUMBER_BYTES];
    if (j->frame && from[0] == from[1]) return job_same_map(j, table, f);
    if (from[0] == from[1])
        return fault_set(f, EXIT_DATA, "%s: both ends of %s%s are %s: give others with -r LO:HI", job_name(j),
                         own->usual ? "its range" : "-r ", own->usual ? "" : j->settings->range,
                         text_exact(from[0], text));
    return job_line_map(j, table, 2, from, to, false, f);
}

static void end(job *j)
{
    stretch *own = j->own;
    if (own) free(own->found);
    free(own);
}

int command_stretch(const settings *s)
{
    static const job_kind kind = {.verb = "stretching",
                                  .shows = true,
                                  .color = "joint",
                                  .begin = begin,
                                  .gather = gather,
                                  .gathers_counts = true,
                                  .make = make,
                                  .end = end};
    return job_command(s, &kind);
}
