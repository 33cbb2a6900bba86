#include "count/axes/growing.h"

#include <math.h>
#include <stdlib.h>

#include "base/failure.h"

enum { BINS = 4096 };

/* Bins are wide enough, relative to their position, that edges are exact. */
static const double finest = 0x1p-40;

static double width_of(const histo_axis *axis)
{
    return (axis->hi - axis->lo) / (double)axis->bins;
}

/* An axis with bins of this width or, if they do not reach from lo to hi, of the next power of two that does. */
static histo_axis axis_around(double width, double lo, double hi)
{
    const double size = fmax(fabs(lo), fabs(hi));
    while (width < size * finest)
        width *= 2;
    while (floor(hi / width) - floor(lo / width) >= BINS && width < 0x1p1000)
        width *= 2;
    const double needed = floor(hi / width) - floor(lo / width) + 1;
    const double begin = (floor(lo / width) - floor((BINS - needed) / 2)) * width;
    return histo_axis_regular(BINS, begin, begin + BINS * width);
}

histo_axis growing_axis(double min, double max)
{
    const double size = fmax(fabs(min), fabs(max));
    return axis_around(size > 0 ? exp2(floor(log2(size)) - 24) : 0x1p-40, min, max);
}

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for a growing histogram");
}

/* The slot of a wider axis that contains a given slot. */
static int64_t slot_in(const histo_axis *wider, const histo_axis *axis, int64_t slot)
{
    if (slot == 0) return 0;
    if (slot > axis->bins) return slot - axis->bins + wider->bins;
    return 1 + (int64_t)floor((histo_axis_edge(axis, slot - 1) - wider->lo) / width_of(wider));
}

/* The contents of a histogram, slot by slot. */
typedef struct contents {
    uint64_t *counts, masked;
    double *sum_w, *sum_w2; /* NULL: no weights */
} contents;

static void contents_free(contents *c)
{
    free(c->counts);
    free(c->sum_w);
    free(c->sum_w2);
}

static bool contents_make(contents *c, int64_t slots, bool weighted)
{
    c->counts = calloc((size_t)slots, sizeof *c->counts);
    if (weighted) {
        c->sum_w = calloc((size_t)slots, sizeof *c->sum_w);
        c->sum_w2 = calloc((size_t)slots, sizeof *c->sum_w2);
    }
    return c->counts && (!weighted || (c->sum_w && c->sum_w2));
}

static bool contents_read(contents *c, const histo_hist *hist, int64_t slots)
{
    return histo_hist_read_counts(hist, HISTO_FLOW, c->counts, slots, NULL) == HISTO_OK &&
           histo_hist_read_masked(hist, &c->masked, 1) == HISTO_OK &&
           (!c->sum_w || histo_hist_read_weights(hist, HISTO_FLOW, c->sum_w, c->sum_w2, slots, NULL) == HISTO_OK);
}

/* Copy to an axis that contains all occupied bins. */
static int copy_to(const histo_hist *hist, const histo_axis *wider, histo_hist **copy, fault *f)
{
    const histo_axis axis = histo_hist_axis(hist, 0);
    const histo_hist_options options = {.weighting = histo_hist_weighting(hist)};
    const bool weighted = options.weighting != HISTO_UNWEIGHTED;
    const int64_t slots = axis.bins + 3, room = wider->bins + 3;
    contents from = {0}, to = {0};
    histo_hist *made = NULL;
    bool good = contents_make(&from, slots, weighted) && contents_make(&to, room, weighted) &&
                contents_read(&from, hist, slots) && histo_hist_create(&made, 1, wider, &options) == HISTO_OK;
    for (int64_t i = 0; i < slots && good; i++) {
        if (!from.counts[i]) continue;
        const int64_t at = slot_in(wider, &axis, i);
        to.counts[at] += from.counts[i];
        if (weighted) {
            to.sum_w[at] += from.sum_w[i];
            to.sum_w2[at] += from.sum_w2[i];
        }
    }
    good = good && histo_hist_write(made, HISTO_FLOW, to.counts, to.sum_w, to.sum_w2, room, &from.masked) == HISTO_OK;
    contents_free(&from);
    contents_free(&to);
    if (good)
        *copy = made;
    else
        histo_hist_destroy(made);
    return good ? 0 : fault_memory(f);
}

bool growing_is_whole(const histo_view *samples)
{
    if (samples->dtype <= HISTO_I64) return true;
    if (samples->dtype != HISTO_F64 || samples->ndim < 1 || samples->ndim > 2) return false;
    const int64_t rows = samples->ndim > 1 ? samples->shape[0] : 1, columns = samples->shape[samples->ndim - 1];
    bool whole = true;
    for (int64_t y = 0; y < rows && whole; y++)
        for (int64_t x = 0; x < columns && whole; x++) {
            const char *at = (const char *)samples->data + x * samples->strides[samples->ndim - 1];
            const double value = *(const double *)(at + (samples->ndim > 1 ? y * samples->strides[0] : 0));
            whole = value == rint(value) || isnan(value);
        }
    return whole;
}

bool growing_occupied(const histo_hist *hist, int64_t *begin, int64_t *end)
{
    const uint64_t *counts;
    const histo_axis axis = histo_hist_axis(hist, 0);
    if (histo_hist_borrow(hist, &counts, NULL, NULL) != HISTO_OK) return false;
    *begin = axis.bins;
    *end = 0;
    for (int64_t i = 0; i < axis.bins; i++) {
        if (!counts[1 + i]) continue;
        if (i < *begin) *begin = i;
        *end = i + 1;
    }
    return *end > 0;
}

int growing_fit(histo_hist **hist, double min, double max, fault *f)
{
    const histo_axis axis = histo_hist_axis(*hist, 0);
    int64_t begin, end;
    if (min >= axis.lo && max < axis.hi) return 0;
    double lo = min, hi = max;
    if (growing_occupied(*hist, &begin, &end)) {
        lo = fmin(lo, histo_axis_edge(&axis, begin));
        hi = fmax(hi, histo_axis_edge(&axis, end - 1));
    }
    const histo_axis wider = axis_around(width_of(&axis), lo, hi);
    if (histo_axis_check(&wider) != HISTO_OK) return 0;
    histo_hist *grown;
    if (copy_to(*hist, &wider, &grown, f) != 0) return -1;
    histo_hist_destroy(*hist);
    *hist = grown;
    return 0;
}

int growing_copy(const histo_hist *hist, int64_t begin, int64_t end, int64_t most, bool whole, histo_hist **copy,
                 fault *f)
{
    const histo_axis axis = histo_hist_axis(hist, 0);
    const double lo = histo_axis_edge(&axis, begin), last = histo_axis_edge(&axis, end - 1);
    double width = width_of(&axis);
    while ((whole && width < 1) || floor(last / width) - floor(lo / width) >= (double)most)
        width *= 2;
    const int64_t bins = (int64_t)(floor(last / width) - floor(lo / width)) + 1;
    const double from = floor(lo / width) * width;
    const histo_axis merged = whole && width == 1 ? histo_axis_integer((int64_t)from, bins)
                                                  : histo_axis_regular(bins, from, from + (double)bins * width);
    return copy_to(hist, &merged, copy, f);
}
