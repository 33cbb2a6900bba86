#include "axis/quantile_rule.h"

#include "base/error.h"

histo_status histo_quantile_check(histo_quantile_rule rule, int n, const double *q)
{
    if ((int)rule < 0 || rule > HISTO_QUANTILE_NORMAL_UNBIASED)
        return histo_fail(HISTO_INVALID, "unknown quantile rule %d", (int)rule);
    if (n < 0) return histo_fail(HISTO_INVALID, "n is %d quantiles: give 0 or more", n);
    if (n > 0 && !q) return histo_fail(HISTO_INVALID, "the array of quantiles to find is NULL");
    for (int i = 0; i < n; i++)
        if (!(q[i] >= 0 && q[i] <= 1)) return histo_fail(HISTO_INVALID, "quantile %.17g is not in 0 to 1", q[i]);
    return HISTO_OK;
}

static histo_fractional_rank at(double n, double index)
{
    return (histo_fractional_rank){fmin(fmax(index, 0), n - 1), 0};
}

/* Hyndman and Fan's formula for the continuous rules. */
static double plotting_position(double n, double q, double alpha, double beta)
{
    return n * q + (alpha + q * (1 - alpha - beta)) - 1;
}

histo_fractional_rank histo_quantile_place(histo_quantile_rule rule, double n, double q)
{
    const double linear = (n - 1) * q, step = n * q - 1, closest = n * q - 1 - 0.5;
    switch (rule) {
    case HISTO_QUANTILE_LINEAR:
        return histo_place_linear(n, q);
    case HISTO_QUANTILE_LOWER:
        return at(n, floor(linear));
    case HISTO_QUANTILE_HIGHER:
        return at(n, ceil(linear));
    case HISTO_QUANTILE_NEAREST:
        return at(n, rint(linear));
    case HISTO_QUANTILE_MIDPOINT:
        return histo_place_between(n, 0.5 * (floor(linear) + ceil(linear)));
    case HISTO_QUANTILE_INVERTED_CDF:
        return at(n, ceil(step));
    case HISTO_QUANTILE_AVERAGED_INVERTED_CDF:
        return step == floor(step) && step >= 0 && step < n - 1 ? (histo_fractional_rank){step, 0.5}
                                                                : at(n, ceil(step));
    case HISTO_QUANTILE_CLOSEST_OBSERVATION:
        /* On a tie, the sample with an even number, counting from 1. */
        return at(n, closest == floor(closest) && fmod(closest, 2) != 0 ? closest : floor(closest) + 1);
    case HISTO_QUANTILE_INTERPOLATED_INVERTED_CDF:
        return histo_place_between(n, plotting_position(n, q, 0, 1));
    case HISTO_QUANTILE_HAZEN:
        return histo_place_between(n, plotting_position(n, q, 0.5, 0.5));
    case HISTO_QUANTILE_WEIBULL:
        return histo_place_between(n, plotting_position(n, q, 0, 0));
    case HISTO_QUANTILE_MEDIAN_UNBIASED:
        return histo_place_between(n, plotting_position(n, q, 1 / 3.0, 1 / 3.0));
    case HISTO_QUANTILE_NORMAL_UNBIASED:
        break;
    }
    return histo_place_between(n, plotting_position(n, q, 3 / 8.0, 3 / 8.0));
}
