/* The edges of an axis, and the values of its bins, for host and device. */
#ifndef TABLE_EDGES_H
#define TABLE_EDGES_H

#include "base/host_device.h"

typedef struct histo_edges {
    int64_t bins;
    double lo, hi, step;
    bool integer;        /* each bin holds a single value */
    const double *given; /* [bins + 1]; NULL: equal steps */
} histo_edges;

/* Equals histo_axis_edge. */
HISTO_INLINE double histo_edge_at(const histo_edges *e, int64_t i)
{
    if (e->given) return e->given[i];
    return i == 0 ? e->lo : i == e->bins ? e->hi : e->lo + (double)i * e->step;
}

/* The value assigned to the samples of a bin. */
HISTO_INLINE double histo_bin_at(const histo_edges *e, int64_t bin)
{
    const double lower = histo_edge_at(e, bin);
    return e->integer ? lower : 0.5 * lower + 0.5 * histo_edge_at(e, bin + 1);
}

#endif
