/* Adding counts to a histogram: the inverse of histo_hist_read_occupied and histo_hist_read_masked. */
#include "base/floats.h"
#include "base/memory.h"
#include "counts/hist.h"
#include "plan/total.h"

/* The slot, numbered over all batch entries, of entry `index` of a read. */
static int64_t slot_of(const histo_hist *hist, histo_slots slots, int64_t index)
{
    int64_t at[HISTO_MAX_AXES];
    if (slots == HISTO_FLOW) return index;
    int64_t slot = histo_hist_unravel(hist, slots, index, at);
    for (int a = 0; a < hist->naxes; a++)
        slot = slot * (hist->axes[a].bins + 3) + at[a] + 1;
    return slot;
}

static histo_status check(const histo_hist *hist, histo_slots slots, const int64_t *index, const uint64_t *counts,
                          int64_t size)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (slots != HISTO_BINS && slots != HISTO_FLOW) return histo_fail(HISTO_INVALID, "unknown slots %d", (int)slots);
    if (hist->weighting != HISTO_UNWEIGHTED)
        return histo_fail(HISTO_UNSUPPORTED, "counts cannot be added to a weighted histogram without sums of weights");
    if (size < 0) return histo_fail(HISTO_INVALID, "size is %lld: give 0 or more", (long long)size);
    if (size && (!index || !counts)) return histo_fail(HISTO_INVALID, "index or counts is NULL");
    const int64_t all = histo_hist_size(hist, slots);
    for (int64_t i = 0; i < size; i++)
        if (index[i] < 0 || index[i] >= all || (i && index[i] <= index[i - 1]))
            return histo_fail(HISTO_INVALID, "entry %lld is number %lld of %lld: numbers increase, from 0 on",
                              (long long)i, (long long)index[i], (long long)all);
    return HISTO_OK;
}

static histo_status add_sparse(histo_hist *hist, histo_slots slots, const int64_t *index, const uint64_t *counts,
                               int64_t size)
{
    if (!size) return HISTO_OK;
    histo_list list = {0, histo_malloc((size_t)size * sizeof *list.entries)};
    if (!list.entries)
        return histo_fail_memory((size_t)size * sizeof *list.entries, "the occupied slots of a sparse histogram");
    for (int64_t i = 0; i < size; i++)
        if (counts[i]) list.entries[list.n++] = (histo_entry){(uint64_t)slot_of(hist, slots, index[i]), counts[i]};
    histo_status status = histo_sparse_add(hist->accumulators.sparse, list);
    if (status != HISTO_OK) histo_list_free(&list);
    return status;
}

/* Do everything that can fail before counts[size] are added in host memory. */
static histo_status admit(histo_hist *hist, const uint64_t *counts, int64_t size)
{
    uint64_t sum = 0;
    if (!histo_total_add(&sum, counts, size)) return histo_fail_total();
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    if (status == HISTO_OK) status = histo_accumulators_own(&hist->accumulators);
    return status == HISTO_OK ? histo_total_admit(&hist->accumulators, sum) : status;
}

histo_status histo_hist_add_occupied(histo_hist *hist, histo_slots slots, const int64_t *index, const uint64_t *counts,
                                     int64_t size)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = check(hist, slots, index, counts, size);
    if (status == HISTO_OK) status = admit(hist, counts, size);
    if (status != HISTO_OK) return status;
    if (hist->accumulators.sparse) return add_sparse(hist, slots, index, counts, size);
    for (int64_t i = 0; i < size; i++)
        hist->accumulators.counts[slot_of(hist, slots, index[i])] += counts[i];
    return HISTO_OK;
}

histo_status histo_hist_add_masked(histo_hist *hist, const uint64_t *masked, int64_t size)
{
    HISTO_STANDARD_FLOATS;
    if (!hist || !masked) return histo_fail(HISTO_INVALID, "the histogram or the array is NULL");
    if (size != hist->accumulators.batch)
        return histo_fail(HISTO_INVALID, "the array has %lld values, the histogram takes %lld", (long long)size,
                          (long long)hist->accumulators.batch);
    histo_status status = admit(hist, masked, size);
    for (int64_t b = 0; b < size && status == HISTO_OK; b++)
        hist->accumulators.masked[b] += masked[b];
    return status;
}
