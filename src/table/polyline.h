/* Piecewise linear functions, for host and device. */
#ifndef TABLE_POLYLINE_H
#define TABLE_POLYLINE_H

#include "base/host_device.h"

/* Points (x, y), x non-decreasing. `extend`: extrapolate the outer lines; otherwise the outer values are constant. */
typedef struct histo_polyline {
    double *x, *y;
    int64_t n;
    bool extend;
} histo_polyline;

/* The last point in [low, high), except the very last point, that is not above x. */
HISTO_INLINE int64_t histo_polyline_point(const histo_polyline *c, int64_t low, int64_t high, double x)
{
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (c->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* As numpy.interp: the last of points with equal x counts. x must not decrease from call to call; *from: 0 before the
 * first. */
HISTO_INLINE double histo_polyline_next(const histo_polyline *c, double x, int64_t *from)
{
    const int64_t last = c->n - 1;
    if (!c->extend && x <= c->x[0] && (c->n == 1 || x < c->x[1])) return c->y[0];
    if (!c->extend && x >= c->x[last]) return c->y[last];
    int64_t low = *from, step = 1;
    for (; low + step < last && c->x[low + step] <= x; step *= 2)
        low += step;
    *from = low = histo_polyline_point(c, low, low + step < last ? low + step : last, x);
    const double slope = (c->y[low + 1] - c->y[low]) / (c->x[low + 1] - c->x[low]);
    return slope * (x - c->x[low]) + c->y[low];
}

HISTO_INLINE double histo_polyline_at(const histo_polyline *c, double x)
{
    int64_t from = 0;
    return histo_polyline_next(c, x, &from);
}

/* The points of landmarks: targets over quantiles, which do not decrease. Extrapolation needs two distinct
 * quantiles. */
HISTO_INLINE void histo_polyline_through(histo_polyline *c, const double *quantiles, const double *target, int n,
                                         bool extend)
{
    c->n = 0;
    for (int k = 0; k < n; k++) {
        if (extend && c->n > 0 && c->x[c->n - 1] == quantiles[k]) continue;
        c->x[c->n] = quantiles[k];
        c->y[c->n++] = target[k];
    }
    c->extend = extend && c->n > 1;
}

#endif
