#include "plan/total.h"

#include "base/error.h"
#include "plan/accumulators.h"

bool histo_total_add(uint64_t *sum, const uint64_t *counts, int64_t n)
{
    enum { MOST = 1 << 30 }; /* this many halves of counts add up without a carry */
    for (int64_t first = 0; first < n; first += MOST) {
        const int64_t end = n - first < MOST ? n : first + MOST;
        uint64_t low = 0, high = 0;
        for (int64_t i = first; i < end; i++) {
            low += (uint32_t)counts[i];
            high += counts[i] >> 32;
        }
        high += low >> 32;
        if (high >> 32 || __builtin_add_overflow(*sum, high << 32 | (uint32_t)low, sum)) return false;
    }
    return true;
}

histo_status histo_fail_total(void)
{
    return histo_fail(HISTO_INVALID, "the sum of counts would be 2^64 or more");
}

histo_status histo_total_check(const uint64_t *counts, int64_t n)
{
    uint64_t total = 0;
    return histo_total_add(&total, counts, n) ? HISTO_OK : histo_fail_total();
}

histo_status histo_total_find(const histo_accumulators *accumulators, uint64_t *total)
{
    const histo_status status = histo_accumulators_to_host(accumulators);
    if (status != HISTO_OK) return status;
    uint64_t sum = 0;
    bool fits = histo_total_add(&sum, accumulators->masked, accumulators->batch);
    if (accumulators->sparse) {
        const histo_list all = histo_sparse_all(accumulators->sparse);
        for (int64_t i = 0; i < all.n && fits; i++)
            fits = histo_total_add(&sum, &all.entries[i].count, 1);
    } else {
        fits = fits && histo_total_add(&sum, accumulators->counts, accumulators->batch * accumulators->slots);
    }
    *total = sum;
    return fits ? HISTO_OK : histo_fail_total();
}

histo_status histo_total_admit(histo_accumulators *accumulators, uint64_t samples)
{
    if (!__builtin_add_overflow(accumulators->most, samples, &accumulators->most)) return HISTO_OK;
    accumulators->most -= samples;
    uint64_t total;
    histo_status status = histo_total_find(accumulators, &total);
    if (status != HISTO_OK) return status;
    accumulators->most = total;
    if (samples > UINT64_MAX - total) return histo_fail_total();
    accumulators->most += samples;
    return HISTO_OK;
}

histo_status histo_total_exchange(histo_accumulators *accumulators, uint64_t before, uint64_t after)
{
    uint64_t total = accumulators->most;
    if (total == UINT64_MAX || after > UINT64_MAX - (total - before)) {
        /* Counts that were changed in place may add up to anything; if they overflow, the caller can still correct
         * them. */
        if (histo_total_find(accumulators, &total) != HISTO_OK) return HISTO_OK;
        accumulators->most = total;
        if (after > UINT64_MAX - (total - before)) return histo_fail_total();
    }
    accumulators->most = total - before + after;
    return HISTO_OK;
}

histo_status histo_total_admit_all(histo_accumulators *to, const histo_accumulators *from)
{
    uint64_t samples = from->most;
    if (samples > UINT64_MAX - to->most) {
        const histo_status status = histo_total_find(from, &samples);
        if (status != HISTO_OK) return status;
    }
    return histo_total_admit(to, samples);
}
