/* Merging: slots are added pairwise. */
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"
#include "plan/total.h"

/* Append a copy of the list of `from` to the lists of `to`. */
static histo_status merge_sparse(histo_sparse *to, const histo_sparse *from)
{
    const histo_list all = histo_sparse_all(from);
    const size_t bytes = (size_t)all.n * sizeof *all.entries;
    if (all.n == 0) return HISTO_OK;
    histo_list copy = {all.n, histo_malloc(bytes)};
    if (!copy.entries) return histo_fail_memory(bytes, "the occupied slots of a sparse histogram");
    memcpy(copy.entries, all.entries, bytes);
    histo_status status = histo_sparse_add(to, copy);
    if (status != HISTO_OK) histo_list_free(&copy);
    return status;
}

/* Dense counts and fast sums. Fails only if cancelled, when part has been added. */
static histo_status add_dense(const histo_accumulators *to, const histo_accumulators *from, histo_pace *pace)
{
    const int64_t all = to->sparse ? 0 : to->batch * to->slots;
    for (int64_t begin = 0, end; begin < all; begin = end) {
        end = all - begin < HISTO_MUCH_WORK ? all : begin + HISTO_MUCH_WORK;
        if (!histo_goes_on(pace, end - begin)) return pace->status;
        for (int64_t i = begin; i < end; i++)
            to->counts[i] += from->counts[i];
        for (int64_t i = begin; to->sum_w && i < end; i++)
            to->sum_w[i] += from->sum_w[i];
        for (int64_t i = begin; to->sum_w2 && i < end; i++)
            to->sum_w2[i] += from->sum_w2[i];
    }
    return HISTO_OK;
}

histo_status histo_hist_merge(histo_hist *hist, const histo_hist *other)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_hist_alike(hist, other);
    if (status == HISTO_OK) status = histo_accumulators_to_host(&hist->accumulators);
    if (status == HISTO_OK) status = histo_accumulators_own(&hist->accumulators);
    if (status == HISTO_OK) status = histo_accumulators_to_host(&other->accumulators);
    if (status == HISTO_OK) status = histo_total_admit_all(&hist->accumulators, &other->accumulators);
    if (status != HISTO_OK) return status;
    histo_accumulators *to = &hist->accumulators;
    const histo_accumulators *from = &other->accumulators;
    histo_pace pace = {.stage = "merging"};
    if (to->exact_w) {
        /* Reserve in both before either changes. */
        status = histo_exact_reserve_like(to->exact_w, from->exact_w, 1);
        if (status == HISTO_OK && to->exact_w2) status = histo_exact_reserve_like(to->exact_w2, from->exact_w2, 1);
        if (status == HISTO_OK) status = histo_exact_merge(to->exact_w, from->exact_w, &pace);
        if (status == HISTO_OK && to->exact_w2) status = histo_exact_merge(to->exact_w2, from->exact_w2, &pace);
        if (status == HISTO_CANCELLED) to->incomplete = true;
        if (status != HISTO_OK) return status;
    }
    if (to->sparse) status = merge_sparse(to->sparse, from->sparse);
    if (status != HISTO_OK) return status;
    status = add_dense(to, from, &pace);
    to->incomplete = status == HISTO_CANCELLED;
    for (int64_t b = 0; b < to->batch && status == HISTO_OK; b++)
        to->masked[b] += from->masked[b];
    return status;
}
