/* Writing counts and sums into a histogram. */
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"
#include "counts/rows.h"
#include "plan/total.h"

static histo_status put_counts(const histo_hist *hist, histo_slots slots, const uint64_t *counts, uint64_t *to,
                               histo_pace *pace)
{
    enum { BLOCK = 1 << 14 };
    histo_slot_rows rows;
    histo_slot_rows_start(&rows, hist, slots);
    for (int64_t slot; histo_slot_rows_next(&rows, &slot);)
        for (int64_t i = 0, n; i < rows.n; i += n, counts += n) {
            n = rows.n - i < BLOCK ? rows.n - i : BLOCK;
            if (!histo_goes_on(pace, n)) return pace->status;
            memcpy(to + slot + i, counts, (size_t)n * sizeof *to);
        }
    return HISTO_OK;
}

/* The occupied slots as a list, which has their order. */
static histo_status put_sparse(const histo_hist *hist, histo_slots slots, const uint64_t *counts, histo_sparse *to,
                               histo_pace *pace)
{
    const int64_t size = histo_hist_size(hist, slots);
    int64_t occupied = 0;
    for (int64_t i = 0; i < size && histo_goes_on(pace, 1); i++)
        occupied += counts[i] != 0;
    if (!occupied || pace->status != HISTO_OK) return pace->status;
    histo_list list = {0, histo_malloc((size_t)occupied * sizeof *list.entries)};
    if (!list.entries)
        return histo_fail_memory((size_t)occupied * sizeof *list.entries, "the occupied slots of a sparse histogram");
    histo_slot_rows rows;
    histo_slot_rows_start(&rows, hist, slots);
    for (int64_t slot; histo_slot_rows_next(&rows, &slot);)
        for (int64_t i = 0; i < rows.n && histo_goes_on(pace, 1); i++, counts++)
            if (*counts) list.entries[list.n++] = (histo_entry){(uint64_t)(slot + i), *counts};
    if (pace->status == HISTO_OK) return histo_sparse_add(to, list); /* to an empty list: cannot fail */
    histo_list_free(&list);
    return pace->status;
}

/* The sum of weights or, if there are none, a weight of 1 per sample. */
static double sum_at(const double *sums, const uint64_t *counts, int64_t i)
{
    return sums ? sums[i] : (double)counts[i];
}

static histo_status put_sums(const histo_hist *hist, histo_slots slots, const double *sums, const uint64_t *counts,
                             double *to, histo_pace *pace)
{
    histo_slot_rows rows;
    histo_slot_rows_start(&rows, hist, slots);
    int64_t i = 0;
    for (int64_t slot; histo_slot_rows_next(&rows, &slot);)
        for (const int64_t end = i + rows.n; i < end && histo_goes_on(pace, 1); i++)
            to[slot++] = sum_at(sums, counts, i);
    return pace->status;
}

static histo_status put_exact(const histo_hist *hist, histo_slots slots, const double *sums, const uint64_t *counts,
                              histo_exact *to, histo_pace *pace)
{
    enum { STEPS = 8 }; /* of about a nanosecond each */
    const int64_t size = histo_hist_size(hist, slots);
    histo_exact_windows windows = {0};
    for (int64_t i = 0; i < size && histo_goes_on(pace, STEPS); i++)
        histo_exact_touch(&windows, sum_at(sums, counts, i));
    histo_status status = pace->status == HISTO_OK ? histo_exact_reserve(to, &windows, 1) : pace->status;
    if (status != HISTO_OK) return status;
    histo_slot_rows rows;
    histo_slot_rows_start(&rows, hist, slots);
    int64_t i = 0;
    for (int64_t slot; histo_slot_rows_next(&rows, &slot);)
        for (const int64_t end = i + rows.n; i < end && histo_goes_on(pace, STEPS); i++)
            histo_exact_add_alone(to, slot++, sum_at(sums, counts, i));
    return pace->status;
}

static histo_status check(const histo_hist *hist, histo_slots slots, const uint64_t *counts, const double *sum_w,
                          const double *sum_w2, int64_t size, const uint64_t *masked, uint64_t *total)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (slots != HISTO_BINS && slots != HISTO_FLOW) return histo_fail(HISTO_INVALID, "unknown slots %d", (int)slots);
    if (!counts) return histo_fail(HISTO_INVALID, "the counts to write are NULL");
    if (size != histo_hist_size(hist, slots))
        return histo_fail(HISTO_INVALID, "the histogram takes %lld values, not %lld",
                          (long long)histo_hist_size(hist, slots), (long long)size);
    if (sum_w && hist->weighting == HISTO_UNWEIGHTED)
        return histo_fail(HISTO_INVALID, "the histogram has no sums of weights");
    if (sum_w2 && !histo_has_squares(hist->weighting))
        return histo_fail(HISTO_INVALID, "the histogram has no sums of squares of weights");
    *total = 0;
    const bool fits =
        histo_total_add(total, counts, size) && (!masked || histo_total_add(total, masked, hist->accumulators.batch));
    return fits ? HISTO_OK : histo_fail_total();
}

histo_status histo_hist_write(histo_hist *hist, histo_slots slots, const uint64_t *counts, const double *sum_w,
                              const double *sum_w2, int64_t size, const uint64_t *masked)
{
    HISTO_STANDARD_FLOATS;
    uint64_t total;
    histo_status status = check(hist, slots, counts, sum_w, sum_w2, size, masked, &total);
    if (status != HISTO_OK) return status;
    const histo_hist_options kind = histo_hist_kind(hist);
    histo_accumulators by;
    status = histo_accumulators_make(&by, hist->accumulators.slots, &kind);
    if (status != HISTO_OK) return status;
    histo_pace pace = {.stage = "writing"};
    status = by.sparse ? put_sparse(hist, slots, counts, by.sparse, &pace)
                       : put_counts(hist, slots, counts, by.counts, &pace);
    if (by.sum_w && status == HISTO_OK) status = put_sums(hist, slots, sum_w, counts, by.sum_w, &pace);
    if (by.sum_w2 && status == HISTO_OK) status = put_sums(hist, slots, sum_w2, counts, by.sum_w2, &pace);
    if (by.exact_w && status == HISTO_OK) status = put_exact(hist, slots, sum_w, counts, by.exact_w, &pace);
    if (by.exact_w2 && status == HISTO_OK) status = put_exact(hist, slots, sum_w2, counts, by.exact_w2, &pace);
    by.on_host = true;
    by.most = total;
    if (masked) memcpy(by.masked, masked, (size_t)by.batch * sizeof *masked);
    if (status == HISTO_OK)
        histo_accumulators_replace(&hist->accumulators, &by);
    else
        histo_accumulators_free(&by);
    return status;
}

static histo_status reserve_for(histo_exact *to, const double *sums, int64_t n)
{
    histo_exact_windows windows = {0};
    for (int64_t i = 0; i < n; i++)
        histo_exact_touch(&windows, sums[i]);
    return histo_exact_reserve(to, &windows, 1);
}

static void set_exact(histo_exact *to, int64_t slot, double sum)
{
    histo_exact_clear_slot(to, slot);
    histo_exact_add_alone(to, slot, sum);
}

static void put_alone(uint64_t *to, int64_t n, const int64_t *index, const uint64_t *counts)
{
    for (int64_t i = 0; i < n; i++)
        to[index[i]] = counts[i];
}

/* Set counts in host memory, if their total stays below 2^64. Usually it does, whatever they replace. Otherwise, since
 * an entry may be set twice, they are set to see what the total becomes, and restored if it is too large. */
static histo_status put_counts_at(histo_accumulators *to, int64_t n, const int64_t *index, const uint64_t *counts)
{
    uint64_t sum = 0, total;
    if (histo_total_add(&sum, counts, n) && !__builtin_add_overflow(to->most, sum, &total)) {
        put_alone(to->counts, n, index, counts);
        to->most = total;
        return HISTO_OK;
    }
    const size_t bytes = (size_t)n * sizeof *counts;
    uint64_t *before = histo_malloc(bytes);
    if (!before) return histo_fail_memory(bytes, "counts that are replaced");
    for (int64_t i = 0; i < n; i++)
        before[i] = to->counts[index[i]];
    put_alone(to->counts, n, index, counts);
    const histo_status status = histo_total_find(to, &total);
    if (status == HISTO_OK)
        to->most = total;
    else
        put_alone(to->counts, n, index, before);
    histo_free(before);
    return status;
}

histo_status histo_hist_put(histo_hist *hist, int64_t n, const int64_t *index, const uint64_t *counts,
                            const double *sum_w, const double *sum_w2)
{
    HISTO_STANDARD_FLOATS;
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (n < 0) return histo_fail(HISTO_INVALID, "n is %lld entries: give 0 or more", (long long)n);
    if (n && (!index || !counts)) return histo_fail(HISTO_INVALID, "index or counts is NULL");
    histo_accumulators *to = &hist->accumulators;
    if (to->sparse) return histo_fail(HISTO_UNSUPPORTED, "the bins of a sparse histogram cannot be set");
    if ((hist->weighting != HISTO_UNWEIGHTED && !sum_w) || (histo_has_squares(hist->weighting) && !sum_w2))
        return histo_fail(HISTO_INVALID, "the sums of weights to set are missing");
    for (int64_t i = 0; i < n; i++)
        if (index[i] < 0 || index[i] >= to->batch * to->slots)
            return histo_fail(HISTO_INVALID, "there is no slot %lld", (long long)index[i]);
    histo_status status = histo_accumulators_to_host(to);
    if (status == HISTO_OK) status = histo_accumulators_own(to);
    if (status == HISTO_OK && to->exact_w) status = reserve_for(to->exact_w, sum_w, n);
    if (status == HISTO_OK && to->exact_w2) status = reserve_for(to->exact_w2, sum_w2, n);
    if (status == HISTO_OK) status = put_counts_at(to, n, index, counts);
    for (int64_t i = 0; i < n && status == HISTO_OK; i++) {
        if (to->sum_w) to->sum_w[index[i]] = sum_w[i];
        if (to->sum_w2) to->sum_w2[index[i]] = sum_w2[i];
        if (to->exact_w) set_exact(to->exact_w, index[i], sum_w[i]);
        if (to->exact_w2) set_exact(to->exact_w2, index[i], sum_w2[i]);
    }
    return status;
}
