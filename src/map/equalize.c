/* Equalization: tables of cumulative shares. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "map/map.h"

/* What one table is made of. */
typedef struct task {
    int64_t bins;
    const uint64_t *counts; /* [bins] */
    uint64_t n;             /* their sum */
    double lo, hi;
    bool whole; /* round to whole numbers */
} task;

static double rounded(const task *t, double value)
{
    return t->whole ? rint(value) : value;
}

/* lo + share * (hi - lo), for the share part / all; exactly, half to even, if whole numbers are wanted. */
static double at_share(const task *t, uint64_t part, uint64_t all)
{
    if (!t->whole) return t->lo + (t->hi - t->lo) * ((double)part / (double)all);
    __extension__ typedef unsigned __int128 product;
    const uint64_t span = (uint64_t)fabs(t->hi - t->lo);
    const product scaled = (product)part * span;
    uint64_t quotient = (uint64_t)(scaled / all), rest = (uint64_t)(scaled % all);
    quotient += rest > all - rest || (rest == all - rest && quotient % 2 == 1);
    return t->hi < t->lo ? t->lo - (double)quotient : t->lo + (double)quotient;
}

static double ramp(const task *t, int64_t bin)
{
    return rounded(t, t->bins > 1 ? t->lo + (t->hi - t->lo) * (double)bin / (double)(t->bins - 1) : t->lo);
}

/* As cv::equalizeHist computes: sums times a scale, both float. */
static void minimum_in_float(const task *t, int64_t first, double *values)
{
    const float scale = 255.0F / (float)(t->n - t->counts[first]);
    uint64_t sum = 0;
    for (int64_t i = first + 1; i < t->bins; i++) {
        sum += t->counts[i];
        values[i] = rint((double)((float)sum * scale));
    }
}

static void by_minimum(const task *t, double *values)
{
    int64_t first = 0;
    while (t->counts[first] == 0)
        first++;
    const uint64_t least = t->counts[first];
    for (int64_t i = 0; i < t->bins; i++)
        values[i] = t->lo;
    if (least == t->n) {
        for (int64_t i = first; i < t->bins; i++)
            values[i] = ramp(t, i);
    } else if (t->bins == 256 && t->lo == 0 && t->hi == 255) {
        minimum_in_float(t, first, values);
    } else {
        uint64_t sum = 0;
        for (int64_t i = first + 1; i < t->bins; i++) {
            sum += t->counts[i];
            values[i] = at_share(t, sum, t->n - least);
        }
    }
}

static void by_cdf(const task *t, double *values)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < t->bins; i++) {
        sum += t->counts[i];
        values[i] = at_share(t, sum, t->n);
    }
}

/* Zuiderveld, "Contrast limited adaptive histogram equalization", Graphics Gems IV (1994), as cv::CLAHE cuts and
 * spreads: what is cut goes in equal parts to all bins, and the rest one by one to bins in equal steps. */
static void clip_counts(uint64_t *counts, int64_t bins, uint64_t n, double clip)
{
    const double limit = clip * (double)n / (double)bins;
    if (limit >= (double)n) return;
    const uint64_t most = limit < 1 ? 1 : (uint64_t)limit;
    uint64_t cut = 0;
    for (int64_t i = 0; i < bins; i++)
        if (counts[i] > most) {
            cut += counts[i] - most;
            counts[i] = most;
        }
    const uint64_t each = cut / (uint64_t)bins, rest = cut % (uint64_t)bins;
    for (int64_t i = 0; i < bins; i++)
        counts[i] += each;
    const int64_t step = rest && bins / (int64_t)rest > 1 ? bins / (int64_t)rest : 1;
    for (int64_t k = 0; k < (int64_t)rest; k++)
        counts[k * step]++;
}

static void in_float(const task *t, double *values)
{
    const float scale = (float)(t->hi - t->lo) / (float)t->n;
    uint64_t sum = 0;
    for (int64_t i = 0; i < t->bins; i++) {
        sum += t->counts[i];
        values[i] = rounded(t, t->lo + (double)((float)sum * scale));
    }
}

/* values: of the bins */
static void make_steps(const task *t, const histo_make_options *o, double *values)
{
    if (t->n == 0)
        for (int64_t i = 0; i < t->bins; i++)
            values[i] = ramp(t, i);
    else if (o->clip > 0)
        in_float(t, values);
    else if (o->rule == HISTO_EQUALIZE_CDF)
        by_cdf(t, values);
    else
        by_minimum(t, values);
}

/* values: of the edges */
static void make_lines(const task *t, double *values)
{
    uint64_t sum = 0;
    values[0] = t->lo;
    for (int64_t i = 0; i < t->bins; i++) {
        sum += t->counts[i];
        const double share = t->n ? (double)sum / (double)t->n : (double)(i + 1) / (double)t->bins;
        values[i + 1] = t->lo + (t->hi - t->lo) * share;
    }
}

static histo_status check_options(const histo_make_options *o)
{
    if (o->rule != HISTO_EQUALIZE_MINIMUM && o->rule != HISTO_EQUALIZE_CDF)
        return histo_fail(HISTO_INVALID, "unknown rule %d", (int)o->rule);
    if (!(o->clip >= 0)) return histo_fail(HISTO_INVALID, "the contrast limit %g is below 0", o->clip);
    return histo_map_check_range(o->lo, o->hi);
}

histo_status histo_map_equalize(histo_map *map, const histo_hist *hist, const histo_make_options *options)
{
    const histo_make_options none = {0};
    histo_make_options o = options ? *options : none;
    histo_status status = histo_map_check_source(map, hist, true);
    if (status == HISTO_OK) status = check_options(&o);
    if (status != HISTO_OK) return status;
    const bool shares = o.lo == 0 && o.hi == 0;
    if (shares) o.hi = 1;
    const bool whole = !shares && histo_map_is_whole(o.lo) && histo_map_is_whole(o.hi) && map->within == HISTO_MAP_STEP;
    bool made;
    const histo_making making = {.by = HISTO_MAKE_EQUALIZED, .options = o, .whole = whole};
    status = histo_map_make_there(map, hist, NULL, &making, &made);
    if (status != HISTO_OK || made) return status;
    uint64_t *all;
    status = histo_map_counts(hist, &all);
    const int64_t bins = map->axes[0].bins, batch = histo_hist_batch(hist);
    for (int64_t b = 0; b < map->batch && status == HISTO_OK; b++) {
        uint64_t *counts = all + (batch > 1 ? b * bins : 0);
        double *table = map->values + b * map->length;
        task t = {.bins = bins, .counts = counts, .lo = o.lo, .hi = o.hi, .whole = whole};
        for (int64_t i = 0; i < bins; i++)
            t.n += counts[i];
        if (o.clip > 0 && t.n > 0 && (batch > 1 || b == 0)) clip_counts(counts, bins, t.n, o.clip);
        if (map->within == HISTO_MAP_LINEAR)
            make_lines(&t, table);
        else
            make_steps(&t, &o, table + 1);
        histo_map_set_flow(map, table);
    }
    free(all);
    if (status == HISTO_OK) histo_map_changed(map);
    return status;
}
