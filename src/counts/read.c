/* Reading counts and sums from a histogram. */
#include <string.h>

#include "counts/hist.h"

int64_t histo_hist_size(const histo_hist *hist, histo_slots slots)
{
    return hist->accumulators.batch * (slots == HISTO_FLOW ? hist->accumulators.slots : hist->bins);
}

/* Check the size of a read and bring the accumulators up to date. */
static histo_status start_reading(const histo_hist *hist, histo_slots slots, int64_t size)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (slots != HISTO_BINS && slots != HISTO_FLOW) return histo_fail(HISTO_INVALID, "unknown slots %d", (int)slots);
    int64_t wanted = histo_hist_size(hist, slots);
    if (size == wanted) return histo_accumulators_gather(&hist->accumulators);
    return histo_fail(HISTO_INVALID, "the array has room for %lld values, the histogram gives %lld", (long long)size,
                      (long long)wanted);
}

/* Iterates over the slots that a read covers, of all batch entries, in order. */
typedef struct cursor {
    const histo_hist *hist;
    histo_slots slots;
    int64_t left;
    int64_t base;               /* slots of the batch entries before this one */
    int64_t at[HISTO_MAX_AXES]; /* slot on each axis */
} cursor;

static cursor cursor_start(const histo_hist *hist, histo_slots slots)
{
    cursor c = {.hist = hist, .slots = slots, .left = histo_hist_size(hist, slots)};
    for (int a = 0; a < hist->naxes; a++)
        c.at[a] = slots == HISTO_BINS;
    return c;
}

static bool cursor_next(cursor *c, int64_t *index)
{
    if (c->left-- == 0) return false;
    const histo_hist *hist = c->hist;
    int64_t slot = 0;
    for (int a = 0; a < hist->naxes; a++)
        slot = slot * (hist->axes[a].bins + 3) + c->at[a];
    *index = c->base + slot;
    int64_t first = c->slots == HISTO_BINS, margin = c->slots == HISTO_BINS ? 1 : 3;
    int a = hist->naxes - 1;
    while (a >= 0 && ++c->at[a] == hist->axes[a].bins + margin)
        c->at[a--] = first;
    if (a < 0) c->base += hist->accumulators.slots;
    return true;
}

/* The index of a slot (numbered over all batch entries) in a read; false if the read omits it. */
static bool index_in_read(const histo_hist *hist, histo_slots slots, int64_t slot, int64_t *index)
{
    int64_t at[HISTO_MAX_AXES];
    *index = slot;
    if (slots == HISTO_FLOW) return true;
    *index = histo_hist_unravel(hist, HISTO_FLOW, slot, at);
    for (int a = 0; a < hist->naxes; a++) {
        if (at[a] == 0 || at[a] > hist->axes[a].bins) return false;
        *index = *index * hist->axes[a].bins + at[a] - 1;
    }
    return true;
}

/* Write all elements of a read of a sparse histogram into each array that is not NULL. */
static void read_sparse(const histo_hist *hist, histo_slots slots, uint64_t *counts, double *sum_w, double *sum_w2)
{
    const histo_list all = histo_sparse_all(hist->accumulators.sparse);
    const size_t bytes = (size_t)histo_hist_size(hist, slots) * 8;
    if (counts) memset(counts, 0, bytes);
    if (sum_w) memset(sum_w, 0, bytes);
    if (sum_w2) memset(sum_w2, 0, bytes);
    for (int64_t i = 0, index; i < all.n; i++) {
        if (!index_in_read(hist, slots, (int64_t)all.entries[i].slot, &index)) continue;
        if (counts) counts[index] = all.entries[i].count;
        if (sum_w) sum_w[index] = (double)all.entries[i].count;
        if (sum_w2) sum_w2[index] = (double)all.entries[i].count;
    }
}

histo_status histo_hist_read_counts(const histo_hist *hist, histo_slots slots, uint64_t *counts, int64_t size)
{
    histo_status status = start_reading(hist, slots, size);
    if (status != HISTO_OK) return status;
    if (!counts) return histo_fail(HISTO_INVALID, "the array for the counts is NULL");
    if (hist->accumulators.sparse) {
        read_sparse(hist, slots, counts, NULL, NULL);
        return HISTO_OK;
    }
    int64_t index;
    cursor c = cursor_start(hist, slots);
    while (cursor_next(&c, &index))
        *counts++ = hist->accumulators.counts[index];
    return HISTO_OK;
}

/* ---- Occupied slots ---- */

/* Iterates over the nonzero elements of a read, in order. */
typedef struct finder {
    const histo_hist *hist;
    histo_slots slots;
    cursor dense; /* position in a dense histogram … */
    int64_t next; /* … and the next index in the read, or in the list of a sparse one */
} finder;

static finder finder_start(const histo_hist *hist, histo_slots slots)
{
    return (finder){.hist = hist, .slots = slots, .dense = cursor_start(hist, slots)};
}

static bool finder_next(finder *f, int64_t *index, uint64_t *count)
{
    const histo_accumulators *accumulators = &f->hist->accumulators;
    if (accumulators->sparse) {
        const histo_list all = histo_sparse_all(accumulators->sparse);
        while (f->next < all.n) {
            const histo_entry *entry = &all.entries[f->next++];
            *count = entry->count;
            if (index_in_read(f->hist, f->slots, (int64_t)entry->slot, index)) return true;
        }
        return false;
    }
    for (int64_t slot; cursor_next(&f->dense, &slot);) {
        *index = f->next++;
        *count = accumulators->counts[slot];
        if (*count) return true;
    }
    return false;
}

static histo_status start_finding(const histo_hist *hist, histo_slots slots)
{
    return start_reading(hist, slots, hist ? histo_hist_size(hist, slots) : 0);
}

static int64_t count_occupied(const histo_hist *hist, histo_slots slots)
{
    int64_t n = 0, index;
    uint64_t count;
    for (finder f = finder_start(hist, slots); finder_next(&f, &index, &count);)
        n++;
    return n;
}

histo_status histo_hist_occupied(const histo_hist *hist, histo_slots slots, int64_t *occupied)
{
    histo_status status = start_finding(hist, slots);
    if (status != HISTO_OK) return status;
    if (!occupied) return histo_fail(HISTO_INVALID, "the place for the number of occupied slots is NULL");
    *occupied = count_occupied(hist, slots);
    return HISTO_OK;
}

histo_status histo_hist_read_occupied(const histo_hist *hist, histo_slots slots, int64_t *index, uint64_t *counts,
                                      int64_t size)
{
    histo_status status = start_finding(hist, slots);
    if (status != HISTO_OK) return status;
    int64_t occupied = count_occupied(hist, slots), at;
    uint64_t count;
    if (size != occupied)
        return histo_fail(HISTO_INVALID, "the arrays have room for %lld values, the histogram has %lld occupied slots",
                          (long long)size, (long long)occupied);
    for (finder f = finder_start(hist, slots); finder_next(&f, &at, &count);) {
        if (index) *index++ = at;
        if (counts) *counts++ = count;
    }
    return HISTO_OK;
}

int64_t histo_hist_unravel(const histo_hist *hist, histo_slots slots, int64_t index, int64_t *at)
{
    for (int a = hist->naxes - 1; a >= 0; a--) {
        const int64_t extent = hist->axes[a].bins + (slots == HISTO_FLOW ? 3 : 0);
        at[a] = index % extent;
        index /= extent;
    }
    return index;
}

/* ---- Sums and totals ---- */

histo_status histo_hist_read_weights(const histo_hist *hist, histo_slots slots, double *sum_w, double *sum_w2,
                                     int64_t size)
{
    histo_status status = start_reading(hist, slots, size);
    if (status != HISTO_OK) return status;
    if (sum_w2 && hist->weighting != HISTO_UNWEIGHTED && !histo_has_squares(hist->weighting))
        return histo_fail(HISTO_INVALID,
                          "the histogram keeps no sums of squared weights: its weighting is without them");
    const histo_accumulators *accumulators = &hist->accumulators;
    if (accumulators->sparse) {
        read_sparse(hist, slots, NULL, sum_w, sum_w2);
        return HISTO_OK;
    }
    int64_t index;
    cursor c = cursor_start(hist, slots);
    while (cursor_next(&c, &index)) {
        double w = (double)accumulators->counts[index], w2 = w;
        if (sum_w && accumulators->sum_w) w = accumulators->sum_w[index];
        if (sum_w && accumulators->exact_w) w = histo_exact_read(accumulators->exact_w, index);
        if (sum_w2 && accumulators->sum_w2) w2 = accumulators->sum_w2[index];
        if (sum_w2 && accumulators->exact_w2) w2 = histo_exact_read(accumulators->exact_w2, index);
        if (sum_w) *sum_w++ = w;
        if (sum_w2) *sum_w2++ = w2;
    }
    return HISTO_OK;
}

histo_status histo_hist_read_masked(const histo_hist *hist, uint64_t *masked, int64_t size)
{
    if (!hist || !masked) return histo_fail(HISTO_INVALID, "the histogram or the array is NULL");
    if (size != hist->accumulators.batch)
        return histo_fail(HISTO_INVALID, "the array has room for %lld values, the histogram gives %lld",
                          (long long)size, (long long)hist->accumulators.batch);
    histo_status status = histo_accumulators_gather(&hist->accumulators);
    if (status != HISTO_OK) return status;
    memcpy(masked, hist->accumulators.masked, (size_t)size * sizeof *masked);
    return HISTO_OK;
}

histo_status histo_hist_tally(const histo_hist *hist, histo_tally *tally)
{
    if (!hist || !tally) return histo_fail(HISTO_INVALID, "the histogram or the tally is NULL");
    histo_status status = histo_accumulators_gather(&hist->accumulators);
    if (status != HISTO_OK) return status;
    histo_tally t = {0};
    int64_t index, at[HISTO_MAX_AXES];
    uint64_t count;
    for (finder f = finder_start(hist, HISTO_FLOW); finder_next(&f, &index, &count);) {
        bool flow = false;
        histo_hist_unravel(hist, HISTO_FLOW, index, at);
        for (int a = 0; a < hist->naxes; a++) {
            int64_t bins = hist->axes[a].bins;
            flow |= at[a] == 0 || at[a] > bins;
            if (at[a] == 0) t.under[a] += count;
            if (at[a] == bins + 1) t.over[a] += count;
            if (at[a] == bins + 2) t.nan[a] += count;
        }
        *(flow ? &t.flow : &t.bins) += count;
    }
    for (int64_t b = 0; b < hist->accumulators.batch; b++)
        t.masked += hist->accumulators.masked[b];
    t.samples = t.bins + t.flow + t.masked;
    *tally = t;
    return HISTO_OK;
}
