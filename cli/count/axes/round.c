#include "count/axes/round.h"

#include <math.h>
#include <stdlib.h>

/* Integers with fewer values than this have a bin each. */
enum { FEW_VALUES = 20 };

static bool regular_has(const histo_axis *regular, const steps *s)
{
    bool same = histo_axis_check(regular) == HISTO_OK;
    for (int64_t i = 0; i <= s->count && same; i++)
        same = histo_axis_edge(regular, i) == steps_at(s, i);
    return same;
}

bool round_axis_of_steps(round_axis *to, const steps *s, bool closed, bool whole)
{
    histo_axis axis = histo_axis_regular(s->count, steps_at(s, 0), steps_at(s, s->count));
    double *edges = NULL;
    if (whole && !closed && s->step == 1 && s->decimals == 0) {
        axis = histo_axis_integer(s->first, s->count);
    } else if (!regular_has(&axis, s)) {
        edges = malloc((size_t)(s->count + 1) * sizeof *edges);
        for (int64_t i = 0; i <= s->count && edges; i++)
            edges[i] = steps_at(s, i);
        if (!edges) return false;
        axis = histo_axis_variable(s->count, edges);
        for (int64_t i = 0; i < s->count; i++) /* a variable axis may have any edges */
            if (!(edges[i] < edges[i + 1])) axis.bins = 0;
    }
    if (closed) axis = histo_axis_closed(axis);
    const bool good = histo_axis_check(&axis) == HISTO_OK;
    if (good) *to = (round_axis){axis, edges};
    if (!good) free(edges);
    return good;
}

bool round_axis_around(round_axis *to, double lo, double hi, double bins, bool whole, bool closed)
{
    const double width = (hi - lo) / bins;
    steps s = width > 0 && !(whole && (width < 1 || hi - lo < FEW_VALUES)) ? steps_round(width) : (steps){.step = 1};
    for (int tries = 0; tries < 100; tries++, s = steps_coarser(&s))
        if (steps_cover(&s, lo, hi, closed) && round_axis_of_steps(to, &s, closed, whole)) return true;
    return false;
}

bool round_axis_of_width(round_axis *to, double lo, double hi, double width, bool lo_given, bool hi_given)
{
    steps s;
    return steps_of_width(&s, width) && (!lo_given || steps_begin(&s, lo)) && steps_cover(&s, lo, hi, hi_given) &&
           round_axis_of_steps(to, &s, hi_given, false);
}
