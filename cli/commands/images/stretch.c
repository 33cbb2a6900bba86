/* histo stretch: map a range of an image to another by a straight line. */
#include <math.h>
#include <stdlib.h>

#include "apply/command.h"
#include "apply/landmarks.h"
#include "base/failure.h"
#include "base/text.h"
#include "options/bins.h"

typedef struct stretch {
    bins_spec range;
    double *found; /* ends, [tables][2]; NULL: both are given */
    double lo, hi; /* of the result */
} stretch;

/* All values of an integer dtype, as far as doubles have them; 0 to 1 for floats. */
static void range_of(const job *j, double *lo, double *hi)
{
    levels_of_dtype(j->dtype, lo, hi);
    if (j->largest) *hi = (double)j->largest;
    if (j->dtype < HISTO_F16) return;
    *lo = 0;
    *hi = 1;
}

static bool is_given(const bins_spec *range, int end)
{
    return end ? bins_upper_end_is_given(range) : bins_lower_end_is_given(range);
}

/* The quantile at an end that is not given. */
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
    if (!own->range.has_range && s->read.window) {
        own->range.range = HISTO_RANGE_DTYPE;
    } else if (!own->range.has_range) {
        own->range.range = HISTO_RANGE_PERCENTILE;
        own->range.lo = 2;
        own->range.hi = 98;
    }
    if (own->range.range == HISTO_RANGE_DTYPE) {
        own->range.range = HISTO_RANGE_FIXED;
        range_of(j, &own->range.lo, &own->range.hi);
    }
    range_of(j, &own->lo, &own->hi);
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

static int gather(job *j, fault *f)
{
    stretch *own = j->own;
    if (is_given(&own->range, 0) && is_given(&own->range, 1)) return 0;
    const double ends[] = {quantile_at(&own->range, 0), quantile_at(&own->range, 1)};
    free(own->found);
    own->found = calloc((size_t)j->tones.tables, 2 * sizeof *own->found);
    if (!own->found) return fault_set(f, EXIT_DATA, "no memory to stretch %s", job_name(j));
    if (!j->frame && landmarks_find(j, 2, ends, NULL, own->found, f) != 0) return -1;
    if (j->frame && histo_hist_quantiles(j->hists[0], HISTO_QUANTILE_LINEAR, 2, ends, own->found) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, job_name(j));
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
        return fault_set(f, EXIT_DATA, "%s has a single value, %s, and so no range: give one with -r LO:HI",
                         job_name(j), text_exact(from[0], text));
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
                                  .color = "joint",
                                  .begin = begin,
                                  .gather = gather,
                                  .gathers_counts = true,
                                  .make = make,
                                  .end = end};
    return job_command(s, &kind);
}
