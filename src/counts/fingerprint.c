/* Fingerprints: equal for histograms that can be merged, and almost certainly different otherwise. */
#include "axis/axis.h"
#include "axis/whole.h"
#include "base/bits.h"
#include "base/floats.h"
#include "counts/hist.h"

/* Mixes all bits (splitmix64). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void add(uint64_t *hash, uint64_t value)
{
    *hash = mix(*hash + value + UINT64_C(0x9e3779b97f4a7c15));
}

static void add_f64(uint64_t *hash, double x)
{
    add(hash, histo_bits_of(x + 0.0)); /* -0 and 0 are equal */
}

/* The edges of uniform axes follow from bins, lo and hi. Stored edges that differ from those are hashed, too. */
static void add_edges(uint64_t *hash, const histo_axis *axis)
{
    const histo_axis regular = histo_axis_regular(axis->bins, axis->lo, axis->hi);
    add_f64(hash, axis->lo);
    add_f64(hash, axis->hi);
    const double *edges = histo_axis_doubles(axis);
    for (int64_t i = 1; edges && i < axis->bins; i++) {
        if (edges[i] == histo_edge_at(&regular, i)) continue;
        add(hash, (uint64_t)i);
        add_f64(hash, edges[i]);
    }
}

static void add_whole(uint64_t *hash, const histo_axis *axis)
{
    for (int64_t i = 0; i <= axis->bins; i++) {
        add(hash, histo_whole_is_negative(axis, i));
        add(hash, histo_whole_bits(axis, i));
    }
}

histo_status histo_hist_fingerprint(const histo_hist *hist, uint64_t *fingerprint)
{
    HISTO_STANDARD_FLOATS;
    if (fingerprint) *fingerprint = 0;
    if (!hist || !fingerprint) return histo_fail(HISTO_INVALID, "the histogram or the place is NULL");
    uint64_t hash = 0;
    add(&hash, (uint64_t)hist->accumulators.batch);
    add(&hash, (uint64_t)hist->weighting);
    add(&hash, (uint64_t)histo_hist_storage(hist));
    for (int a = 0; a < hist->naxes; a++) {
        const histo_axis *axis = &hist->axes[a];
        const bool whole = histo_axis_is_whole(axis);
        add(&hash, (uint64_t)axis->bins);
        add(&hash, (uint64_t)(2 * axis->closed + whole));
        if (whole)
            add_whole(&hash, axis);
        else
            add_edges(&hash, axis);
    }
    *fingerprint = hash;
    return HISTO_OK;
}
