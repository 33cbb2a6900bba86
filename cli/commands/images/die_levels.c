#include "commands/images/die_levels.h"

#include <math.h>

#include "base/failure.h"

enum { LEVELS = 1 << 16 };

/* Quantiles: the extremes, and the ends of the range of most samples. */
static const double shares[] = {0, 0.001, 0.999, 1};

bool die_levels_needed(histo_dtype dtype)
{
    return dtype != HISTO_U8 && dtype != HISTO_U16;
}

int die_levels_begin(die_levels *l, histo_dtype dtype, fault *f)
{
    *l = (die_levels){.dtype = dtype, .known = true, .step = 1};
    if (dtype == HISTO_I8 || dtype == HISTO_I16) l->lo = dtype == HISTO_I8 ? INT8_MIN : INT16_MIN;
    if (dtype <= HISTO_I16) return 0;
    l->known = false;
    return histo_quantiles_create(&l->quantiles, dtype, HISTO_QUANTILE_LINEAR, 4, shares) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, "the images");
}

void die_levels_free(die_levels *l)
{
    histo_quantiles_destroy(l->quantiles);
    *l = (die_levels){0};
}

bool die_levels_next_pass(die_levels *l)
{
    bool more = false;
    return !l->known && histo_quantiles_next_pass(l->quantiles, &more) == HISTO_OK && more;
}

int die_levels_add(die_levels *l, const histo_view *samples, fault *f)
{
    return histo_quantiles_add(l->quantiles, samples, NULL) == HISTO_OK ? 0
                                                                        : fault_of_library(f, EXIT_DATA, "the images");
}

int die_levels_find(die_levels *l, fault *f)
{
    double at[4] = {0};
    if (l->known) return 0;
    if (histo_quantiles_read(l->quantiles, at) != HISTO_OK) return fault_of_library(f, EXIT_DATA, "the images");
    l->known = true;
    l->lo = 0;
    if (isnan(at[1])) return 0;         /* no sample is a number, so none has a level */
    const bool same = !(at[1] < at[2]); /* most samples are equal: use the full range, if it is finite */
    double lo = same ? at[0] : at[1], hi = same ? at[3] : at[2];
    if (!isfinite(lo) || !isfinite(hi)) lo = hi = at[1];
    const double width = same ? (hi - lo) / 3 : hi - lo;
    if (!same) lo -= width;
    l->step = 3 * width / (LEVELS - 1);
    if (l->dtype <= HISTO_I64) {
        l->step = ceil(l->step);
        lo = floor(lo);
    }
    if (!(l->step > 0) || !isfinite(l->step)) l->step = 1;
    l->lo = lo;
    return 0;
}

int die_level(const die_levels *l, double value)
{
    if (!isfinite(value)) return -1;
    const double level = rint((value - l->lo) / l->step);
    return level < 0 ? 0 : level > LEVELS - 1 ? LEVELS - 1 : (int)level;
}
