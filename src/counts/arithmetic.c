/* Subtracting and scaling. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"
#include "plan/total.h"

/* Bring everything to host memory, and make it safe to change there. */
static histo_status own(histo_hist *hist)
{
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    return status == HISTO_OK ? histo_accumulators_own(&hist->accumulators) : status;
}

/* Replace all lists by a single one. */
static void replace_lists(histo_sparse *sparse, histo_list list)
{
    histo_sparse_clear(sparse);
    if (list.n == 0)
        histo_list_free(&list);
    else
        histo_sparse_add(sparse, list); /* to an empty list: cannot fail */
}

static histo_status copy_list(const histo_sparse *from, histo_list *copy)
{
    const histo_list all = histo_sparse_all(from);
    const size_t bytes = (size_t)all.n * sizeof *all.entries;
    *copy = (histo_list){all.n, histo_malloc(bytes + 1)};
    if (!copy->entries) return histo_fail_memory(bytes, "the occupied slots of a sparse histogram");
    if (bytes) memcpy(copy->entries, all.entries, bytes);
    return HISTO_OK;
}

/* ---- Subtracting ---- */

static histo_status fail_negative(const char *what, int64_t i, uint64_t count, uint64_t less)
{
    return histo_fail(HISTO_INVALID,
                      "%s %lld: other has %" PRIu64 " samples there, and hist only %" PRIu64 ": other must be a part "
                      "of hist",
                      what, (long long)i, less, count);
}

/* Check that no difference of two arrays is negative. */
static histo_status check_differences(const char *what, const uint64_t *counts, const uint64_t *less, int64_t n,
                                      histo_pace *pace)
{
    for (int64_t i = 0; i < n && histo_goes_on(pace, 1); i++)
        if (counts[i] < less[i]) return fail_negative(what, i, counts[i], less[i]);
    return pace->status;
}

static const char slot_of_flow[] = "slot", left_out[] = "samples left out of batch entry";

/* Subtract the lists of `less` from those of `from`; the caller frees the result. */
static histo_status subtract_lists(const histo_sparse *from, const histo_sparse *less, histo_list *left,
                                   histo_pace *pace)
{
    const histo_list subtracted = histo_sparse_all(less);
    histo_status status = copy_list(from, left);
    if (status != HISTO_OK) return status;
    int64_t n = 0, s = 0;
    for (int64_t i = 0; i < left->n && status == HISTO_OK && histo_goes_on(pace, 1); i++) {
        histo_entry entry = left->entries[i];
        if (s < subtracted.n && subtracted.entries[s].slot < entry.slot) break;
        if (s < subtracted.n && subtracted.entries[s].slot == entry.slot) {
            const uint64_t count = subtracted.entries[s++].count;
            if (count > entry.count) status = fail_negative(slot_of_flow, (int64_t)entry.slot, entry.count, count);
            entry.count -= count;
        }
        if (entry.count) left->entries[n++] = entry;
    }
    if (status == HISTO_OK) status = pace->status;
    if (status == HISTO_OK && s < subtracted.n)
        status = fail_negative(slot_of_flow, (int64_t)subtracted.entries[s].slot, 0, subtracted.entries[s].count);
    left->n = n;
    if (status != HISTO_OK) histo_list_free(left);
    return status;
}

/* Do everything that can fail and, for reproducible sums, the subtraction itself. */
static histo_status prepare(histo_accumulators *from, const histo_accumulators *less, histo_list *left,
                            histo_pace *pace)
{
    histo_status status = check_differences(left_out, from->masked, less->masked, from->batch, pace);
    if (status != HISTO_OK) return status;
    if (from->sparse) return subtract_lists(from->sparse, less->sparse, left, pace);
    status = check_differences(slot_of_flow, from->counts, less->counts, from->batch * from->slots, pace);
    if (status == HISTO_OK && from->exact_w) status = histo_exact_reserve_like(from->exact_w, less->exact_w, 1);
    if (status == HISTO_OK && from->exact_w2) status = histo_exact_reserve_like(from->exact_w2, less->exact_w2, 1);
    if (status != HISTO_OK || !from->exact_w) return status;
    status = histo_exact_subtract(from->exact_w, less->exact_w, pace);
    if (status == HISTO_OK && from->exact_w2) status = histo_exact_subtract(from->exact_w2, less->exact_w2, pace);
    if (status == HISTO_CANCELLED) from->incomplete = true;
    return status;
}

/* Counts and fast sums. Fails only if cancelled, when part has been subtracted. */
static histo_status subtract_dense(histo_accumulators *from, const histo_accumulators *less, histo_pace *pace)
{
    const int64_t all = from->batch * from->slots;
    for (int64_t begin = 0, end; begin < all; begin = end) {
        end = all - begin < HISTO_MUCH_WORK ? all : begin + HISTO_MUCH_WORK;
        if (!histo_goes_on(pace, end - begin)) {
            from->incomplete = true;
            return pace->status;
        }
        for (int64_t i = begin; i < end; i++)
            from->counts[i] -= less->counts[i];
        for (int64_t i = begin; from->sum_w && i < end; i++)
            from->sum_w[i] -= less->sum_w[i];
        for (int64_t i = begin; from->sum_w2 && i < end; i++)
            from->sum_w2[i] -= less->sum_w2[i];
    }
    return HISTO_OK;
}

histo_status histo_hist_subtract(histo_hist *hist, const histo_hist *other)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_hist_alike(hist, other);
    if (status == HISTO_OK) status = own(hist);
    if (status == HISTO_OK) status = histo_accumulators_to_host(&other->accumulators);
    if (status != HISTO_OK) return status;
    histo_accumulators *from = &hist->accumulators;
    const histo_accumulators *less = &other->accumulators;
    histo_list left;
    histo_pace pace = {.stage = "subtracting"};
    status = prepare(from, less, &left, &pace);
    if (status != HISTO_OK) return status;
    for (int64_t b = 0; b < from->batch; b++)
        from->masked[b] -= less->masked[b];
    if (from->sparse) {
        replace_lists(from->sparse, left);
        return HISTO_OK;
    }
    return subtract_dense(from, less, &pace);
}

/* ---- Scaling ---- */

/* *total = the sum of all counts times the factor, plus the masked samples. */
static histo_status find_total(const histo_accumulators *of, uint64_t factor, uint64_t *total)
{
    uint64_t masked = 0;
    histo_status status = histo_total_find(of, total);
    if (status != HISTO_OK) return status;
    histo_total_add(&masked, of->masked, of->batch);
    const bool fits =
        !__builtin_mul_overflow(*total - masked, factor, total) && !__builtin_add_overflow(*total, masked, total);
    return fits ? HISTO_OK : histo_fail_total();
}

static histo_status scale_counts(histo_accumulators *of, double factor, histo_pace *pace)
{
    if (!(factor >= 0 && factor < 0x1p64 && factor == floor(factor)))
        return histo_fail(HISTO_INVALID,
                          "factor is %.17g, and hist has counts only, which are multiplied by whole numbers from 0 to "
                          "2^64 - 1: sums of weights can be multiplied by any number",
                          factor);
    const uint64_t whole = (uint64_t)factor;
    uint64_t total;
    histo_status status = find_total(of, whole, &total);
    if (status != HISTO_OK) return status;
    of->most = total;
    for (int64_t i = 0; !of->sparse && i < of->batch * of->slots && histo_goes_on(pace, 1); i++)
        of->counts[i] *= whole;
    if (of->sparse && whole == 0) histo_sparse_clear(of->sparse);
    const histo_list all = of->sparse ? histo_sparse_all(of->sparse) : (histo_list){0};
    for (int64_t i = 0; i < all.n && histo_goes_on(pace, 1); i++)
        all.entries[i].count *= whole;
    return pace->status;
}

/* Multiply by a factor, `times` times. */
static double product(double sum, double factor, int times)
{
    for (int i = 0; i < times; i++)
        sum *= factor;
    return sum;
}

static void scale_sums(double *sums, int64_t n, double factor, int times, histo_pace *pace)
{
    for (int64_t i = 0; sums && i < n && histo_goes_on(pace, 1); i++)
        sums[i] = product(sums[i], factor, times);
}

/* Multiply exact sums, as rounded by a read. */
static histo_status scale_exact(const histo_exact *from, double factor, int times, histo_exact *to, histo_pace *pace)
{
    enum { STEPS = 32 }; /* of about a nanosecond each */
    histo_exact_windows windows = {0};
    histo_exact_init(to, from->slots);
    for (int64_t i = 0; i < from->slots && histo_goes_on(pace, STEPS); i++)
        histo_exact_touch(&windows, product(histo_exact_read(from, i), factor, times));
    histo_status status = pace->status == HISTO_OK ? histo_exact_reserve(to, &windows, 1) : pace->status;
    for (int64_t i = 0; i < from->slots && status == HISTO_OK && histo_goes_on(pace, STEPS); i++)
        histo_exact_add(to, i, product(histo_exact_read(from, i), factor, times));
    if (status == HISTO_OK) status = pace->status;
    if (status != HISTO_OK) histo_exact_free(to);
    return status;
}

static histo_status scale_all_exact(histo_accumulators *of, double factor, histo_pace *pace)
{
    histo_exact scaled[2];
    histo_status status = scale_exact(of->exact_w, factor, 1, &scaled[0], pace);
    if (status != HISTO_OK) return status;
    if (of->exact_w2) status = scale_exact(of->exact_w2, factor, 2, &scaled[1], pace);
    if (status != HISTO_OK) {
        histo_exact_free(&scaled[0]);
        return status;
    }
    histo_exact_free(of->exact_w);
    *of->exact_w = scaled[0];
    if (!of->exact_w2) return HISTO_OK;
    histo_exact_free(of->exact_w2);
    *of->exact_w2 = scaled[1];
    return HISTO_OK;
}

histo_status histo_hist_scale(histo_hist *hist, double factor)
{
    HISTO_STANDARD_FLOATS;
    if (!hist) return histo_fail(HISTO_INVALID, "hist is NULL");
    if (!isfinite(factor)) return histo_fail(HISTO_INVALID, "factor is %g, and must be finite", factor);
    histo_status status = own(hist);
    if (status != HISTO_OK) return status;
    histo_accumulators *of = &hist->accumulators;
    histo_pace pace = {.stage = "scaling"};
    if (of->exact_w) return scale_all_exact(of, factor, &pace); /* unchanged if the pace stops */
    if (hist->weighting == HISTO_UNWEIGHTED) status = scale_counts(of, factor, &pace);
    scale_sums(of->sum_w, of->batch * of->slots, factor, 1, &pace);
    scale_sums(of->sum_w2, of->batch * of->slots, factor, 2, &pace);
    if (pace.status == HISTO_OK) return status;
    of->incomplete = true;
    return pace.status;
}
