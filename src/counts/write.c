/* Writing counts and sums into a histogram. */
#include <string.h>

#include "counts/hist.h"

/* Copies of runs of bins: the rows of an array in the order of a read go to slots. */
typedef struct rows {
    const histo_hist *hist;
    histo_slots slots;
    int64_t n;                  /* values in a row */
    int64_t at[HISTO_MAX_AXES]; /* the position of the next row, batch excepted; the last axis is unused */
    int64_t entry;
} rows;

/* The slot of the next row; -1 at the end. */
static int64_t rows_next(rows *r)
{
    const histo_hist *hist = r->hist;
    if (r->entry == hist->accumulators.batch) return -1;
    const int flow = r->slots == HISTO_FLOW ? 3 : 0, shift = flow ? 0 : 1;
    int64_t slot = r->entry;
    for (int a = 0; a < hist->naxes; a++)
        slot = slot * (hist->axes[a].bins + 3) + r->at[a] + shift;
    int a = hist->naxes - 2;
    while (a >= 0 && ++r->at[a] == hist->axes[a].bins + flow)
        r->at[a--] = 0;
    if (a < 0) r->entry++;
    return slot;
}

static rows rows_of(const histo_hist *hist, histo_slots slots)
{
    return (rows){hist, slots, hist->axes[hist->naxes - 1].bins + (slots == HISTO_FLOW ? 3 : 0), {0}, 0};
}

static void put_counts(const histo_hist *hist, histo_slots slots, const uint64_t *counts, uint64_t *to)
{
    rows r = rows_of(hist, slots);
    for (int64_t slot; (slot = rows_next(&r)) >= 0; counts += r.n)
        memcpy(to + slot, counts, (size_t)r.n * sizeof *to);
}

/* Sums of weights or, without any, of a weight of 1 for each count. */
static double sum_at(const double *sums, const uint64_t *counts, int64_t i)
{
    return sums ? sums[i] : (double)counts[i];
}

static void put_sums(const histo_hist *hist, histo_slots slots, const double *sums, const uint64_t *counts, double *to)
{
    rows r = rows_of(hist, slots);
    int64_t i = 0;
    for (int64_t slot; (slot = rows_next(&r)) >= 0;)
        for (const int64_t end = i + r.n; i < end; i++)
            to[slot++] = sum_at(sums, counts, i);
}

static histo_status put_exact(const histo_hist *hist, histo_slots slots, const double *sums, const uint64_t *counts,
                              histo_exact *to)
{
    const int64_t size = histo_hist_size(hist, slots);
    histo_exact_windows windows = {0};
    for (int64_t i = 0; i < size; i++)
        histo_exact_touch(&windows, sum_at(sums, counts, i));
    histo_status status = histo_exact_reserve(to, &windows, 1);
    if (status != HISTO_OK) return status;
    rows r = rows_of(hist, slots);
    int64_t i = 0;
    for (int64_t slot; (slot = rows_next(&r)) >= 0;)
        for (const int64_t end = i + r.n; i < end; i++)
            histo_exact_add(to, slot++, sum_at(sums, counts, i));
    return HISTO_OK;
}

static histo_status check(const histo_hist *hist, histo_slots slots, const uint64_t *counts, const double *sum_w,
                          const double *sum_w2, int64_t size)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (slots != HISTO_BINS && slots != HISTO_FLOW) return histo_fail(HISTO_INVALID, "unknown slots %d", (int)slots);
    if (!counts) return histo_fail(HISTO_INVALID, "the counts to write are NULL");
    if (hist->accumulators.sparse) return histo_fail(HISTO_UNSUPPORTED, "a sparse histogram cannot be written to");
    if (size != histo_hist_size(hist, slots))
        return histo_fail(HISTO_INVALID, "the histogram takes %lld values, not %lld",
                          (long long)histo_hist_size(hist, slots), (long long)size);
    if (sum_w && hist->weighting == HISTO_UNWEIGHTED)
        return histo_fail(HISTO_INVALID, "the histogram has no sums of weights");
    if (sum_w2 && !histo_has_squares(hist->weighting))
        return histo_fail(HISTO_INVALID, "the histogram has no sums of squares of weights");
    return HISTO_OK;
}

histo_status histo_hist_write(histo_hist *hist, histo_slots slots, const uint64_t *counts, const double *sum_w,
                              const double *sum_w2, int64_t size, const uint64_t *masked)
{
    histo_status status = check(hist, slots, counts, sum_w, sum_w2, size);
    if (status != HISTO_OK) return status;
    const histo_hist_options kind = histo_hist_kind(hist);
    histo_accumulators by;
    status = histo_accumulators_make(&by, hist->accumulators.slots, &kind);
    if (status != HISTO_OK) return status;
    put_counts(hist, slots, counts, by.counts);
    if (by.sum_w) put_sums(hist, slots, sum_w, counts, by.sum_w);
    if (by.sum_w2) put_sums(hist, slots, sum_w2, counts, by.sum_w2);
    if (by.exact_w) status = put_exact(hist, slots, sum_w, counts, by.exact_w);
    if (by.exact_w2 && status == HISTO_OK) status = put_exact(hist, slots, sum_w2, counts, by.exact_w2);
    by.on_host = true;
    if (masked) memcpy(by.masked, masked, (size_t)by.batch * sizeof *masked);
    if (status == HISTO_OK)
        histo_accumulators_replace(&hist->accumulators, &by);
    else
        histo_accumulators_free(&by);
    return status;
}
