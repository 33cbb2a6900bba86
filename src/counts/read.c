/* Reading counts and sums out of a histogram. */
#include <string.h>

#include "counts/hist.h"

int64_t histo_hist_size(const histo_hist *hist, histo_slots slots)
{
    return hist->bank.batch * (slots == HISTO_FLOW ? hist->bank.slots : hist->bins);
}

/* Check the size of a read, and make the bank ready for it. */
static histo_status start_reading(const histo_hist *hist, histo_slots slots, int64_t size)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (slots != HISTO_BINS && slots != HISTO_FLOW) return histo_fail(HISTO_INVALID, "unknown slots %d", (int)slots);
    int64_t wanted = histo_hist_size(hist, slots);
    if (size == wanted) return histo_bank_gather(&hist->bank);
    return histo_fail(HISTO_INVALID, "the array has room for %lld values, the histogram gives %lld", (long long)size,
                      (long long)wanted);
}

/* Goes through the slots of all batch entries that a read covers, in order. */
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
    if (a < 0) c->base += hist->bank.slots;
    return true;
}

histo_status histo_hist_read_counts(const histo_hist *hist, histo_slots slots, uint64_t *counts, int64_t size)
{
    histo_status status = start_reading(hist, slots, size);
    if (status != HISTO_OK) return status;
    if (!counts) return histo_fail(HISTO_INVALID, "the array for the counts is NULL");
    int64_t index;
    cursor c = cursor_start(hist, slots);
    while (cursor_next(&c, &index))
        *counts++ = hist->bank.counts[index];
    return HISTO_OK;
}

histo_status histo_hist_read_weights(const histo_hist *hist, histo_slots slots, double *sum_w, double *sum_w2,
                                     int64_t size)
{
    histo_status status = start_reading(hist, slots, size);
    if (status != HISTO_OK) return status;
    if (sum_w2 && hist->weighting != HISTO_UNWEIGHTED && !histo_has_squares(hist->weighting))
        return histo_fail(HISTO_INVALID,
                          "the histogram keeps no sums of squared weights: its weighting is without them");
    const histo_bank *bank = &hist->bank;
    int64_t index;
    cursor c = cursor_start(hist, slots);
    while (cursor_next(&c, &index)) {
        double w = (double)bank->counts[index], w2 = w;
        if (sum_w && bank->sum_w) w = bank->sum_w[index];
        if (sum_w && bank->exact_w) w = histo_exact_read(bank->exact_w, index);
        if (sum_w2 && bank->sum_w2) w2 = bank->sum_w2[index];
        if (sum_w2 && bank->exact_w2) w2 = histo_exact_read(bank->exact_w2, index);
        if (sum_w) *sum_w++ = w;
        if (sum_w2) *sum_w2++ = w2;
    }
    return HISTO_OK;
}

histo_status histo_hist_read_masked(const histo_hist *hist, uint64_t *masked, int64_t size)
{
    if (!hist || !masked) return histo_fail(HISTO_INVALID, "the histogram or the array is NULL");
    if (size != hist->bank.batch)
        return histo_fail(HISTO_INVALID, "the array has room for %lld values, the histogram gives %lld",
                          (long long)size, (long long)hist->bank.batch);
    histo_status status = histo_bank_gather(&hist->bank);
    if (status != HISTO_OK) return status;
    memcpy(masked, hist->bank.masked, (size_t)size * sizeof *masked);
    return HISTO_OK;
}

histo_status histo_hist_tally(const histo_hist *hist, histo_tally *tally)
{
    if (!hist || !tally) return histo_fail(HISTO_INVALID, "the histogram or the tally is NULL");
    histo_status status = histo_bank_gather(&hist->bank);
    if (status != HISTO_OK) return status;
    histo_tally t = {0};
    int64_t index;
    for (cursor c = cursor_start(hist, HISTO_FLOW), before = c; cursor_next(&c, &index); before = c) {
        uint64_t count = hist->bank.counts[index];
        bool flow = false;
        for (int a = 0; a < hist->naxes; a++) {
            int64_t bins = hist->axes[a].bins;
            flow |= before.at[a] == 0 || before.at[a] > bins;
            if (before.at[a] == 0) t.under[a] += count;
            if (before.at[a] == bins + 1) t.over[a] += count;
            if (before.at[a] == bins + 2) t.nan[a] += count;
        }
        *(flow ? &t.flow : &t.bins) += count;
    }
    for (int64_t b = 0; b < hist->bank.batch; b++)
        t.masked += hist->bank.masked[b];
    t.samples = t.bins + t.flow + t.masked;
    *tally = t;
    return HISTO_OK;
}
