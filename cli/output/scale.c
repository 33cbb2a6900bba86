#include "output/scale.h"

#include <math.h>

/* The exponent of the power of two below the median. */
static int median_exponent(const double *values, int64_t n)
{
    enum { LOWEST = -1100, EXPONENTS = 2200 };
    int64_t of_exponent[EXPONENTS] = {0}, positive = 0, below = 0;
    for (int64_t i = 0; i < n; i++)
        if (values[i] > 0 && isfinite(values[i])) {
            of_exponent[ilogb(values[i]) - LOWEST]++;
            positive++;
        }
    int at = 0;
    while (at < EXPONENTS - 1 && 2 * (below += of_exponent[at]) < positive)
        at++;
    return at + LOWEST;
}

count_scale scale_suited(count_scale wanted, const double *values, int64_t n)
{
    if (wanted != SCALE_AUTO) return wanted;
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(values[i])) most = fmax(most, values[i]);
    if (!(most > 0)) return SCALE_LINEAR;
    const int decades = ilogb(most) - median_exponent(values, n); /* binary ones */
    return decades <= 2 ? SCALE_LINEAR : decades <= 4 ? SCALE_ROOT : SCALE_LOG;
}

const char *scale_name(count_scale scale)
{
    return scale == SCALE_LOG ? "logarithmic" : scale == SCALE_ROOT ? "square root" : "";
}
