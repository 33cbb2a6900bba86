/* Project, rebin, slice and other copies onto other axes. Each makes a new histogram and maps the slots of every old
 * axis to slots of the new histogram. */
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"

typedef struct regrouping {
    const histo_hist *from;
    histo_hist *to;
    /* For each axis of `from`: the slot of `to` for each of its slots, or HISTO_NOWHERE, and the distance in slots
     * between neighbours on that axis of `to`. */
    uint32_t *map[HISTO_MAX_AXES];
    int64_t stride[HISTO_MAX_AXES];
    int64_t entry; /* the only batch entry of `from` that is copied; -1: all */
} regrouping;

/* The distance in slots between neighbours on axis a. */
static int64_t slot_stride(const histo_hist *hist, int a)
{
    int64_t stride = 1;
    for (int later = a + 1; later < hist->naxes; later++)
        stride *= hist->axes[later].bins + 3;
    return stride;
}

static void release(regrouping *r)
{
    for (int a = 0; a < r->from->naxes; a++)
        histo_free(r->map[a]);
}

/* Allocate maps for all axes of r->from; all slots map to 0. */
static histo_status allocate_maps(regrouping *r)
{
    for (int a = 0; a < r->from->naxes; a++) {
        size_t slots = (size_t)r->from->axes[a].bins + 3;
        r->map[a] = histo_calloc(slots, sizeof *r->map[a]);
        if (!r->map[a]) return histo_fail_memory(slots * sizeof *r->map[a], "a map of slots");
    }
    return HISTO_OK;
}

/* Map axis `source` to axis `target`: bins [begin, begin + bins * factor) in groups of `factor`, bins outside to
 * underflow and overflow. */
static histo_status map_axis(regrouping *r, int source, int target, int64_t begin, int64_t factor)
{
    int64_t old_bins = r->from->axes[source].bins, bins = r->to->axes[target].bins;
    r->stride[source] = slot_stride(r->to, target);
    histo_pace pace = {.stage = "regrouping", .all = old_bins + 3};
    for (int64_t slot = 0; slot < old_bins + 3; slot++) {
        if (!histo_goes_on(&pace, 1)) return pace.status;
        int64_t bin = slot - 1 - begin, to;
        if (slot == old_bins + 2)
            to = bins + 2;
        else if (bin < 0)
            to = 0;
        else
            to = bin / factor < bins ? bin / factor + 1 : bins + 1;
        r->map[source][slot] = (uint32_t)to;
    }
    return HISTO_OK;
}

static void add_slot(const histo_accumulators *to, int64_t t, const histo_accumulators *from, int64_t f)
{
    to->counts[t] += from->counts[f];
    if (to->sum_w) to->sum_w[t] += from->sum_w[f];
    if (to->sum_w2) to->sum_w2[t] += from->sum_w2[f];
    if (to->exact_w) histo_exact_add_slot(to->exact_w, t, from->exact_w, f);
    if (to->exact_w2) histo_exact_add_slot(to->exact_w2, t, from->exact_w2, f);
}

static histo_status move_counts(const regrouping *r)
{
    const histo_accumulators *from = &r->from->accumulators, *to = &r->to->accumulators;
    int naxes = r->from->naxes;
    if (from->exact_w) {
        /* Up to all 2^31 slots of the old histogram may be added into one. Exact sums are added as balanced digits,
         * half as large as the digits that a reserve allows for, so the largest reserve suffices. */
        uint64_t adds = (uint64_t)from->slots < HISTO_EXACT_MAX_ADDS ? (uint64_t)from->slots : HISTO_EXACT_MAX_ADDS;
        histo_status status = histo_exact_reserve_like(to->exact_w, from->exact_w, adds);
        if (status == HISTO_OK && to->exact_w2) status = histo_exact_reserve_like(to->exact_w2, from->exact_w2, adds);
        if (status != HISTO_OK) return status;
    }
    const int64_t first = r->entry < 0 ? 0 : r->entry;
    histo_pace pace = {.stage = "regrouping", .all = to->batch * from->slots};
    for (int64_t b = 0; b < to->batch; b++) {
        int64_t at[HISTO_MAX_AXES] = {0};
        to->masked[b] = from->masked[first + b];
        for (int64_t slot = 0; slot < from->slots; slot++) {
            if (!histo_goes_on(&pace, 1)) return pace.status;
            int64_t target = 0;
            bool kept = true;
            for (int a = 0; a < naxes; a++) {
                target += r->stride[a] * r->map[a][at[a]];
                kept &= r->map[a][at[a]] != HISTO_NOWHERE;
            }
            if (kept) add_slot(to, b * to->slots + target, from, (first + b) * from->slots + slot);
            for (int a = naxes - 1; a >= 0 && ++at[a] == r->from->axes[a].bins + 3; a--)
                at[a] = 0;
        }
    }
    return HISTO_OK;
}

/* The slot that a slot of r->from maps to; false if it is dropped. */
static bool find_target(const regrouping *r, uint64_t slot, uint64_t *target)
{
    *target = 0;
    for (int a = r->from->naxes - 1; a >= 0; a--) {
        const uint64_t slots = (uint64_t)r->from->axes[a].bins + 3;
        const uint32_t to = r->map[a][slot % slots];
        if (to == HISTO_NOWHERE) return false;
        *target += (uint64_t)r->stride[a] * to;
        slot /= slots;
    }
    if (r->entry < 0) *target += slot * (uint64_t)r->to->accumulators.slots; /* what remains is the batch entry */
    return r->entry < 0 || slot == (uint64_t)r->entry;
}

static histo_status move_sparse(const regrouping *r)
{
    const histo_list from = histo_sparse_all(r->from->accumulators.sparse);
    const size_t bytes = (size_t)from.n * sizeof *from.entries;
    histo_entry *moved = histo_malloc(2 * bytes + 1); /* with room for sorting */
    if (!moved) return histo_fail_memory(2 * bytes, "the occupied slots of a sparse histogram");
    int64_t n = 0;
    for (int64_t i = 0; i < from.n; i++) {
        moved[n].count = from.entries[i].count;
        n += find_target(r, from.entries[i].slot, &moved[n].slot);
    }
    const histo_status status = histo_entries_sort(moved, &n, moved + from.n);
    if (status != HISTO_OK) {
        histo_free(moved);
        return status;
    }
    histo_entry *kept = histo_realloc(moved, (size_t)n * sizeof *kept + 1);
    if (!kept) {
        histo_free(moved);
        return histo_fail_memory((size_t)n * sizeof *kept, "the occupied slots of a sparse histogram");
    }
    memcpy(r->to->accumulators.masked, r->from->accumulators.masked + (r->entry < 0 ? 0 : r->entry),
           (size_t)r->to->accumulators.batch * sizeof *r->to->accumulators.masked);
    return histo_sparse_add(r->to->accumulators.sparse, (histo_list){n, kept}); /* the list was empty: cannot fail */
}

/* Return the new histogram, or free everything on failure. */
static histo_status finish(regrouping *r, histo_status status, histo_hist **out)
{
    if (status == HISTO_OK) status = histo_accumulators_to_host(&r->from->accumulators);
    if (status == HISTO_OK) status = r->from->accumulators.sparse ? move_sparse(r) : move_counts(r);
    if (status == HISTO_OK) status = histo_hist_copy_texts(r->to, r->from);
    release(r);
    if (status == HISTO_OK) r->to->accumulators.most = r->from->accumulators.most;
    if (status == HISTO_OK)
        *out = r->to;
    else
        histo_hist_destroy(r->to);
    return status;
}

histo_status histo_hist_project(const histo_hist *hist, int naxes, const int *axes, histo_hist **out)
{
    HISTO_STANDARD_FLOATS;
    if (out) *out = NULL;
    if (!hist || !axes || !out) return histo_fail(HISTO_INVALID, "the histogram, the axes or the result is NULL");
    if (naxes < 1 || naxes > hist->naxes) return histo_fail(HISTO_INVALID, "%d axes to keep of %d", naxes, hist->naxes);
    histo_axis kept[HISTO_MAX_AXES];
    for (int i = 0; i < naxes; i++) {
        if (axes[i] < 0 || axes[i] >= hist->naxes)
            return histo_fail(HISTO_INVALID, "there is no axis %d: the histogram has %d", axes[i], hist->naxes);
        for (int j = 0; j < i; j++)
            if (axes[j] == axes[i]) return histo_fail(HISTO_INVALID, "axis %d is listed twice", axes[i]);
        kept[i] = hist->axes[axes[i]];
    }
    regrouping r = {.from = hist, .entry = -1};
    const histo_hist_options kind = histo_hist_kind(hist);
    histo_status status = histo_hist_make(&r.to, naxes, kept, &kind);
    if (status == HISTO_OK) status = allocate_maps(&r);
    for (int i = 0; i < naxes && status == HISTO_OK; i++)
        status = map_axis(&r, axes[i], i, 0, 1);
    return finish(&r, status, out);
}

/* Copy hist with bins [begin, begin + bins * factor) of one axis merged in groups of `factor`. */
static histo_status regroup_axis(const histo_hist *hist, int axis, int64_t begin, int64_t bins, int64_t factor,
                                 histo_hist **out)
{
    histo_axis axes[HISTO_MAX_AXES], regrouped;
    histo_status status = histo_axis_regroup(&hist->axes[axis], begin, bins, factor, &regrouped);
    if (status != HISTO_OK) return status;
    for (int a = 0; a < hist->naxes; a++)
        axes[a] = a == axis ? regrouped : hist->axes[a];
    regrouping r = {.from = hist, .entry = -1};
    const histo_hist_options kind = histo_hist_kind(hist);
    status = histo_hist_make(&r.to, hist->naxes, axes, &kind);
    histo_axis_disown(&regrouped);
    if (status == HISTO_OK) status = allocate_maps(&r);
    for (int a = 0; a < hist->naxes && status == HISTO_OK; a++)
        status = map_axis(&r, a, a, a == axis ? begin : 0, a == axis ? factor : 1);
    return finish(&r, status, out);
}

static histo_status check_axis(const histo_hist *hist, int axis, histo_hist *const *out)
{
    if (!hist || !out) return histo_fail(HISTO_INVALID, "the histogram or the result is NULL");
    if (axis < 0 || axis >= hist->naxes)
        return histo_fail(HISTO_INVALID, "there is no axis %d: the histogram has %d", axis, hist->naxes);
    return HISTO_OK;
}

histo_status histo_hist_rebin(const histo_hist *hist, int axis, int64_t factor, histo_hist **out)
{
    HISTO_STANDARD_FLOATS;
    if (out) *out = NULL;
    histo_status status = check_axis(hist, axis, out);
    if (status != HISTO_OK) return status;
    int64_t bins = hist->axes[axis].bins;
    if (factor < 1 || bins % factor)
        return histo_fail(HISTO_INVALID, "%lld bins cannot be joined in groups of %lld", (long long)bins,
                          (long long)factor);
    return regroup_axis(hist, axis, 0, bins / factor, factor, out);
}

histo_status histo_hist_slice(const histo_hist *hist, int axis, int64_t begin, int64_t end, histo_hist **out)
{
    HISTO_STANDARD_FLOATS;
    if (out) *out = NULL;
    histo_status status = check_axis(hist, axis, out);
    if (status != HISTO_OK) return status;
    int64_t bins = hist->axes[axis].bins;
    if (begin < 0 || begin >= end || end > bins)
        return histo_fail(HISTO_INVALID, "bins %lld to %lld are not a part of %lld bins", (long long)begin,
                          (long long)end, (long long)bins);
    return regroup_axis(hist, axis, begin, end - begin, 1, out);
}

/* Map axis `source` to axis `target`, or to none if that is negative: by the given map of its slots or, without one,
 * bins to bins of the same number, or all slots to the sum. */
static histo_status map_slots(regrouping *r, int source, int target, const uint32_t *given)
{
    const int64_t bins = r->from->axes[source].bins, to_bins = target < 0 ? bins : r->to->axes[target].bins;
    const uint32_t slots = target < 0 ? 1 : (uint32_t)to_bins + 3;
    if (!given && to_bins < bins)
        return histo_fail(HISTO_INVALID, "axis %d has %lld bins, and would have %lld", source, (long long)bins,
                          (long long)to_bins);
    r->stride[source] = target < 0 ? 0 : slot_stride(r->to, target);
    histo_pace pace = {.stage = "regrouping", .all = bins + 3};
    for (int64_t slot = 0; slot < bins + 3; slot++) {
        if (!histo_goes_on(&pace, 1)) return pace.status;
        const uint32_t same = target < 0 ? 0 : (uint32_t)(slot > bins ? slot + to_bins - bins : slot);
        const uint32_t to = given ? given[slot] : same;
        if (to >= slots && to != HISTO_NOWHERE)
            return histo_fail(HISTO_INVALID, "slot %lld of axis %d would be slot %lld of %lld", (long long)slot, source,
                              (long long)to, (long long)slots);
        r->map[source][slot] = to;
    }
    return HISTO_OK;
}

histo_status histo_hist_regroup(const histo_hist *hist, const histo_regrouping *by, histo_hist **out)
{
    HISTO_STANDARD_FLOATS;
    if (out) *out = NULL;
    if (!hist || !by || !out) return histo_fail(HISTO_INVALID, "the histogram, the regrouping or the result is NULL");
    histo_status status = histo_check_reserved(by->reserved, sizeof by->reserved, "histo_regrouping");
    if (status != HISTO_OK) return status;
    if (by->entry >= hist->accumulators.batch)
        return histo_fail(HISTO_INVALID, "entry %lld of a batch of %lld", (long long)by->entry,
                          (long long)hist->accumulators.batch);
    for (int a = 0; a < hist->naxes; a++)
        if (by->targets[a] >= by->naxes)
            return histo_fail(HISTO_INVALID, "axis %d would be axis %d of %d", a, by->targets[a], by->naxes);
    regrouping r = {.from = hist, .entry = by->entry};
    histo_hist_options kind = histo_hist_kind(hist);
    if (by->entry >= 0) kind.batch = 1;
    status = histo_hist_check_kind(by->naxes, by->axes, &kind);
    if (status == HISTO_OK) status = histo_hist_make(&r.to, by->naxes, by->axes, &kind);
    if (status == HISTO_OK) status = allocate_maps(&r);
    for (int a = 0; a < hist->naxes && status == HISTO_OK; a++)
        status = map_slots(&r, a, by->targets[a], by->maps[a]);
    return finish(&r, status, out);
}
