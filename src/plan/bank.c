/* Accumulators in host memory, and the list of those on devices. */
#include "plan/bank.h"

#include <stdlib.h>
#include <string.h>

#include "plan/strategy.h"

static bool allocate_sums(histo_bank *bank, histo_weighting weighting, size_t slots)
{
    bool squares = histo_has_squares(weighting);
    if (histo_is_fast(weighting)) {
        bank->sum_w = calloc(slots, sizeof *bank->sum_w);
        if (squares) bank->sum_w2 = calloc(slots, sizeof *bank->sum_w2);
        return bank->sum_w && (bank->sum_w2 || !squares);
    }
    if (histo_is_reproducible(weighting)) {
        bank->exact_w = calloc(1, sizeof *bank->exact_w);
        if (squares) bank->exact_w2 = calloc(1, sizeof *bank->exact_w2);
        if (!bank->exact_w || (squares && !bank->exact_w2)) return false;
        histo_exact_init(bank->exact_w, (int64_t)slots);
        if (squares) histo_exact_init(bank->exact_w2, (int64_t)slots);
    }
    return true;
}

histo_status histo_bank_make(histo_bank *bank, int64_t slots, const histo_hist_options *kind)
{
    bool is_sparse = kind->storage == HISTO_SPARSE;
    size_t all = is_sparse ? 0 : (size_t)(kind->batch * slots);
    *bank = (histo_bank){.batch = kind->batch, .slots = slots};
    if (is_sparse)
        bank->sparse = calloc(1, sizeof *bank->sparse);
    else
        bank->counts = calloc(all, sizeof *bank->counts);
    bank->masked = calloc((size_t)kind->batch, sizeof *bank->masked);
    if ((bank->sparse || bank->counts) && bank->masked && allocate_sums(bank, kind->weighting, all)) return HISTO_OK;
    histo_bank_free(bank);
    return histo_fail_memory(all * sizeof(uint64_t) + (size_t)kind->batch * sizeof(uint64_t),
                             "the counts of a histogram");
}

void histo_bank_free(histo_bank *bank)
{
    for (histo_device_bank *it = bank->on_devices, *next; it; it = next) {
        next = it->next;
        it->backend->free(it);
    }
    if (bank->sparse) histo_sparse_clear(bank->sparse);
    free(bank->sparse);
    free(bank->counts);
    free(bank->masked);
    free(bank->sum_w);
    free(bank->sum_w2);
    if (bank->exact_w) histo_exact_free(bank->exact_w);
    if (bank->exact_w2) histo_exact_free(bank->exact_w2);
    free(bank->exact_w);
    free(bank->exact_w2);
    *bank = (histo_bank){0};
}

void histo_bank_clear(histo_bank *bank)
{
    size_t all = (size_t)(bank->batch * bank->slots);
    if (bank->counts) memset(bank->counts, 0, all * sizeof *bank->counts);
    if (bank->sparse) histo_sparse_clear(bank->sparse);
    memset(bank->masked, 0, (size_t)bank->batch * sizeof *bank->masked);
    if (bank->sum_w) memset(bank->sum_w, 0, all * sizeof *bank->sum_w);
    if (bank->sum_w2) memset(bank->sum_w2, 0, all * sizeof *bank->sum_w2);
    if (bank->exact_w) histo_exact_reset(bank->exact_w);
    if (bank->exact_w2) histo_exact_reset(bank->exact_w2);
    for (histo_device_bank **link = &bank->on_devices, *it; (it = *link);) {
        if (it->backend->clear(it)) {
            link = &it->next;
        } else {
            *link = it->next;
            it->backend->free(it);
        }
    }
}

histo_status histo_bank_gather(const histo_bank *bank)
{
    histo_status status = HISTO_OK;
    for (histo_device_bank *it = bank->on_devices; it && status == HISTO_OK; it = it->next)
        status = it->backend->gather(it, bank);
    return status == HISTO_OK && bank->sparse ? histo_sparse_settle(bank->sparse) : status;
}

/* Of the entries behind the first n, which are samples left out: add their counts, or take them back. */
static void mask(const histo_bank *bank, const histo_list *list, int64_t n, bool back)
{
    for (int64_t i = n; i < list->n; i++) {
        uint64_t *masked = &bank->masked[list->entries[i].slot - (uint64_t)(bank->batch * bank->slots)];
        *masked += back ? -list->entries[i].count : list->entries[i].count;
    }
}

histo_status histo_bank_add(const histo_bank *bank, histo_list list)
{
    histo_list counts = list;
    while (counts.n && list.entries[counts.n - 1].slot >= (uint64_t)(bank->batch * bank->slots))
        counts.n--;
    mask(bank, &list, counts.n, false);
    histo_status status = histo_sparse_add(bank->sparse, counts);
    if (status != HISTO_OK) mask(bank, &list, counts.n, true);
    return status;
}

histo_status histo_bank_wait(const histo_bank *bank)
{
    histo_status status = HISTO_OK;
    for (histo_device_bank *it = bank->on_devices; it && status == HISTO_OK; it = it->next)
        status = it->backend->wait(it);
    return status;
}
