/* Accumulators in host memory, and their list of device accumulators. */
#include "plan/accumulators.h"

#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "plan/strategy.h"

/* Zeroed 8-byte counters. Page-faulting a million counters takes longer than counting as many samples, so they are in
 * huge pages, except arrays so large that a few samples would make far more memory resident than they use. Linux aligns
 * mappings of whole huge pages, and malloc's mappings have a header. */
static void *make_counters(size_t n)
{
    enum { HUGE_PAGE = 2 << 20, MOST = 64 << 20, PAGE = 4096 };
    const size_t bytes = n * sizeof(uint64_t);
    if (bytes < HUGE_PAGE || bytes > MOST) return histo_calloc(n, sizeof(uint64_t));
    const size_t whole = (bytes + PAGE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *counters = histo_calloc(1, whole - PAGE);
    if (!counters) return NULL;
    const size_t before = (uintptr_t)counters % PAGE;
    histo_advise_huge_pages(counters - before, (before + bytes + PAGE - 1) / PAGE * PAGE);
    return counters;
}

static bool allocate_sums(histo_accumulators *accumulators, histo_weighting weighting, size_t slots)
{
    bool squares = histo_has_squares(weighting);
    if (histo_is_fast(weighting)) {
        accumulators->sum_w = make_counters(slots);
        if (squares) accumulators->sum_w2 = make_counters(slots);
        return accumulators->sum_w && (accumulators->sum_w2 || !squares);
    }
    if (histo_is_reproducible(weighting)) {
        accumulators->exact_w = histo_calloc(1, sizeof *accumulators->exact_w);
        if (squares) accumulators->exact_w2 = histo_calloc(1, sizeof *accumulators->exact_w2);
        if (!accumulators->exact_w || (squares && !accumulators->exact_w2)) return false;
        histo_exact_init(accumulators->exact_w, (int64_t)slots);
        if (squares) histo_exact_init(accumulators->exact_w2, (int64_t)slots);
    }
    return true;
}

size_t histo_accumulators_bytes(const histo_hist_options *kind, int64_t slots_of_entry)
{
    const size_t slots = kind->storage == HISTO_SPARSE ? 0 : (size_t)(kind->batch * slots_of_entry);
    int arrays = 1 + (histo_is_fast(kind->weighting) ? 1 + histo_has_squares(kind->weighting) : 0);
    return (slots * (size_t)arrays + (size_t)kind->batch) * sizeof(uint64_t);
}

histo_status histo_accumulators_make(histo_accumulators *accumulators, int64_t slots, const histo_hist_options *kind)
{
    static const char what[] = "the counts of a histogram";
    bool is_sparse = kind->storage == HISTO_SPARSE;
    size_t all = is_sparse ? 0 : (size_t)(kind->batch * slots);
    const size_t bytes = histo_accumulators_bytes(kind, slots);
    *accumulators = (histo_accumulators){.batch = kind->batch, .slots = slots};
    if (!histo_memory_suffices(bytes)) return histo_fail_memory(bytes, what);
    if (is_sparse) accumulators->sparse = histo_calloc(1, sizeof *accumulators->sparse);
    uint64_t *const counters = make_counters(all + (size_t)kind->batch);
    if (counters) accumulators->masked = counters + all;
    if (!is_sparse) accumulators->counts = counters;
    if (counters && (accumulators->sparse || !is_sparse) && allocate_sums(accumulators, kind->weighting, all))
        return HISTO_OK;
    histo_accumulators_free(accumulators);
    return histo_fail_memory(bytes, what);
}

void histo_accumulators_free(histo_accumulators *accumulators)
{
    for (histo_device_accumulators *device = accumulators->on_devices, *next; device; device = next) {
        next = device->next;
        device->backend->free(device);
    }
    if (accumulators->sparse) histo_sparse_clear(accumulators->sparse);
    histo_free(accumulators->sparse);
    histo_free(accumulators->counts ? accumulators->counts : accumulators->masked);
    histo_free(accumulators->sum_w);
    histo_free(accumulators->sum_w2);
    if (accumulators->exact_w) histo_exact_free(accumulators->exact_w);
    if (accumulators->exact_w2) histo_exact_free(accumulators->exact_w2);
    histo_free(accumulators->exact_w);
    histo_free(accumulators->exact_w2);
    *accumulators = (histo_accumulators){0};
}

bool histo_accumulators_none_on_host(const histo_accumulators *accumulators)
{
    bool none = !accumulators->on_host;
    for (const histo_device_accumulators *device = accumulators->on_devices; device; device = device->next)
        none &= !device->drained;
    return none;
}

static void clear_host(histo_accumulators *accumulators)
{
    size_t all = (size_t)(accumulators->batch * accumulators->slots);
    if (accumulators->counts) memset(accumulators->counts, 0, all * sizeof *accumulators->counts);
    if (accumulators->sparse) histo_sparse_clear(accumulators->sparse);
    memset(accumulators->masked, 0, (size_t)accumulators->batch * sizeof *accumulators->masked);
    if (accumulators->sum_w) memset(accumulators->sum_w, 0, all * sizeof *accumulators->sum_w);
    if (accumulators->sum_w2) memset(accumulators->sum_w2, 0, all * sizeof *accumulators->sum_w2);
    if (accumulators->exact_w) histo_exact_reset(accumulators->exact_w);
    if (accumulators->exact_w2) histo_exact_reset(accumulators->exact_w2);
    accumulators->on_host = false;
}

static void clear_but(histo_accumulators *accumulators, histo_device_accumulators *kept, void *stream)
{
    accumulators->incomplete = false;
    bool zero = !accumulators->sparse && histo_accumulators_none_on_host(accumulators);
    for (const histo_device_accumulators *device = accumulators->on_devices; device; device = device->next)
        zero &= !device->copied;
    if (!zero) clear_host(accumulators);
    for (histo_device_accumulators **link = &accumulators->on_devices, *device; (device = *link);) {
        if (device == kept || ((kept || !stream) && device->backend->is_empty(device)) ||
            device->backend->clear(device, stream)) {
            device->copied = device->drained = false;
            link = &device->next;
        } else {
            *link = device->next;
            device->backend->free(device);
        }
    }
    if (!kept) accumulators->most = 0;
}

void histo_accumulators_clear(histo_accumulators *accumulators, void *stream)
{
    clear_but(accumulators, NULL, stream);
}

void histo_accumulators_clear_others(histo_accumulators *accumulators, histo_device_accumulators *kept)
{
    clear_but(accumulators, kept, NULL);
}

void histo_accumulators_replace(histo_accumulators *accumulators, histo_accumulators *by)
{
    histo_accumulators_clear(accumulators, NULL);
    histo_accumulators old = *accumulators;
    *accumulators = *by;
    accumulators->on_devices = old.on_devices;
    old.on_devices = NULL;
    histo_accumulators_free(&old);
    *by = (histo_accumulators){0};
}

/* The first device accumulators, from `device` on, that may hold counts; NULL if none do. */
static histo_device_accumulators *next_filled(histo_device_accumulators *device)
{
    while (device && device->backend->is_empty(device))
        device = device->next;
    return device;
}

histo_device_accumulators *histo_accumulators_home(const histo_accumulators *accumulators)
{
    histo_device_accumulators *first = accumulators->on_devices, *home = first;
    if (!first || accumulators->sparse || accumulators->exact_w || !histo_accumulators_none_on_host(accumulators))
        return NULL;
    if (!first->next) return home;
    home = next_filled(first);
    return home && next_filled(home->next) ? NULL : home ? home : first;
}

histo_status histo_accumulators_merge_devices(const histo_accumulators *accumulators, histo_device preferred)
{
    enum { MOST = 64 };
    histo_device_accumulators *to = accumulators->sparse ? NULL : next_filled(accumulators->on_devices), *others[MOST];
    int n = 0;
    if (!to || !next_filled(to->next)) return HISTO_OK;
    for (histo_device_accumulators *device = accumulators->on_devices; device; device = device->next)
        if (device->device == preferred) to = device;
    for (histo_device_accumulators *device = next_filled(accumulators->on_devices); device && n < MOST;
         device = next_filled(device->next))
        if (device != to) others[n++] = device;
    return to->backend->merge(to, others, n);
}

/* Before host memory is counted into: if it holds a copy of a device's counts, make them its own. */
static histo_status own_copies(const histo_accumulators *accumulators)
{
    histo_status status = HISTO_OK;
    for (histo_device_accumulators *device = accumulators->on_devices; device && status == HISTO_OK;
         device = device->next)
        if (device->copied) status = device->backend->to_host(device, accumulators, false);
    return status;
}

histo_status histo_accumulators_check(const histo_accumulators *accumulators)
{
    if (!accumulators->incomplete) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the histogram holds a part of a fill that was cancelled or failed: reset it");
}

histo_status histo_accumulators_own(histo_accumulators *accumulators)
{
    histo_status status = histo_accumulators_check(accumulators);
    if (status == HISTO_OK) status = own_copies(accumulators);
    if (status == HISTO_OK) accumulators->on_host = true;
    return status;
}

histo_status histo_accumulators_to_host(const histo_accumulators *accumulators)
{
    histo_status status = histo_accumulators_check(accumulators);
    if (status == HISTO_OK) status = histo_accumulators_merge_devices(accumulators, HISTO_DEVICE_AUTO);
    if (status != HISTO_OK) return status;
    histo_device_accumulators *home = histo_accumulators_home(accumulators);
    if (home) return home->backend->to_host(home, accumulators, true);
    status = own_copies(accumulators);
    for (histo_device_accumulators *device = accumulators->on_devices; device && status == HISTO_OK;
         device = device->next)
        status = device->backend->to_host(device, accumulators, false);
    return status == HISTO_OK && accumulators->sparse ? histo_sparse_settle(accumulators->sparse) : status;
}

/* Entries after the first n are masked samples: add their counts to masked, or subtract them again. */
static void mask(const histo_accumulators *accumulators, const histo_list *list, int64_t n, bool back)
{
    for (int64_t i = n; i < list->n; i++) {
        uint64_t *masked =
            &accumulators->masked[list->entries[i].slot - (uint64_t)(accumulators->batch * accumulators->slots)];
        *masked += back ? -list->entries[i].count : list->entries[i].count;
    }
}

histo_status histo_accumulators_add(const histo_accumulators *accumulators, histo_list list)
{
    histo_list counts = list;
    while (counts.n && list.entries[counts.n - 1].slot >= (uint64_t)(accumulators->batch * accumulators->slots))
        counts.n--;
    mask(accumulators, &list, counts.n, false);
    histo_status status = histo_sparse_add(accumulators->sparse, counts);
    if (status != HISTO_OK) mask(accumulators, &list, counts.n, true);
    return status;
}

histo_status histo_accumulators_wait(const histo_accumulators *accumulators)
{
    histo_status status = HISTO_OK;
    for (histo_device_accumulators *device = accumulators->on_devices; device && status == HISTO_OK;
         device = device->next)
        status = device->backend->wait(device);
    return status;
}
