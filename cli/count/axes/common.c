#include "count/axes/common.h"

#include <math.h>
#include <string.h>

#include "options/bins.h"

/* The range of the axes, and the width of their narrowest bins. */
typedef struct extent {
    double lo, hi;
    double width;    /* the narrowest bin or, on a logarithmic axis, the smallest ratio of edges */
    int64_t bins;    /* the maximum over the axes */
    bool log, whole; /* whole: all bins are integers wide and start at integers */
} extent;

static extent extent_of(const histo_axis *axes, int n)
{
    extent e = {.lo = INFINITY, .hi = -INFINITY, .width = INFINITY, .log = true, .whole = true};
    for (int i = 0; i < n; i++) {
        const histo_axis *a = &axes[i];
        const double width = (a->hi - a->lo) / (double)a->bins;
        e.lo = fmin(e.lo, a->lo);
        e.hi = fmax(e.hi, a->hi);
        e.log = e.log && a->kind == HISTO_LOG;
        e.whole = e.whole && !a->closed && width == floor(width) && a->lo == floor(a->lo);
        e.width = fmin(e.width, a->kind == HISTO_LOG ? pow(a->hi / a->lo, 1 / (double)a->bins) : width);
        if (a->bins > e.bins) e.bins = a->bins;
    }
    return e;
}

/* As many bins of this width as the range needs, but not many more than the axes have. */
static int64_t bins_for(const extent *e)
{
    const int64_t most = e->log ? 1024 : 64;
    const double wanted = e->log ? log(e->hi / e->lo) / log(e->width) : (e->hi - e->lo) / e->width;
    return (int64_t)fmax(1, fmin(ceil(wanted - 1e-6), (double)(e->bins > most ? e->bins : most)));
}

static bool round_in_common(round_axis *to, const extent *e, const bins_spec *spec)
{
    if (spec->kind == BINS_WIDTH)
        return round_axis_of_width(to, e->lo, e->hi, spec->width, bins_lower_end_is_given(spec), true);
    if (spec->kind != BINS_DEFAULT || spec->has_range) return false;
    return round_axis_around(to, e->lo, e->whole ? e->hi - 1 : e->hi, (double)bins_for(e), e->whole, !e->whole);
}

round_axis axis_in_common(const histo_axis *axes, int n, const bins_spec *spec)
{
    const extent e = extent_of(axes, n);
    round_axis common = {.axis = axes[0]};
    if (spec->kind == BINS_EDGES || (!e.log && round_in_common(&common, &e, spec))) return common;
    const int64_t bins = spec->kind == BINS_NUMBER ? spec->number : bins_for(&e);
    if (e.log)
        common.axis = histo_axis_log(bins, e.lo, e.hi);
    else if (spec->kind == BINS_WIDTH)
        common.axis = histo_axis_regular(bins, e.lo, e.lo + (double)bins * e.width);
    else
        common.axis = histo_axis_regular(bins, e.lo, e.hi);
    common.axis = histo_axis_closed(common.axis);
    return common;
}
