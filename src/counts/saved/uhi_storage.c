/* Reading the storage of a UHI document: counts, sums of weights, and sparse counts. */
#include <inttypes.h>
#include <math.h>

#include "axis/whole.h"
#include "base/memory.h"
#include "counts/saved/uhi_loader.h"

static bool is_count(double x)
{
    return x >= 0 && x < 0x1p64 && x == floor(x);
}

/* Whether all values are counts. Ignores elements that are neither numbers nor null (NaN): they fail later. */
static bool all_counts(const histo_uhi_loader *l)
{
    const double *sums = l->arrays && l->arrays->dtype == HISTO_F64 ? l->arrays->values : NULL;
    for (int64_t i = 0; sums && i < l->arrays->cells; i++)
        if (!is_count(sums[i])) return false;
    if (l->arrays && l->arrays->values) return true;
    size_t at = l->values;
    size_t end = histo_json_end(&l->doc, at);
    while (at < end) {
        size_t behind = histo_json_number_end(&l->doc, at);
        uint64_t count;
        if (behind && histo_json_count(&l->doc, at, &count) != HISTO_OK) return false;
        if (histo_json_type(&l->doc, at) == 'n') return false;
        at = behind ? behind : at + 1;
        if (!histo_goes_on(l->doc.pace, STEPS_A_VALUE)) return true; /* the next step fails */
    }
    return true;
}

static histo_status read_weighting(histo_uhi_loader *l, size_t storage, int type)
{
    l->weighting = HISTO_UNWEIGHTED;
    if (type == STORAGE_WEIGHTED) l->weighting = HISTO_WEIGHT_FAST;
    if (type == STORAGE_DOUBLE && l->values && !all_counts(l)) l->weighting = HISTO_WEIGHT_FAST_SUM;
    size_t at = l->details[WEIGHTING];
    if (!at) return HISTO_OK;
    int weighting = histo_uhi_choice(l, at, HISTO_UHI_WEIGHTINGS, histo_uhi_weightings);
    if (weighting < 0) return FAIL(at, "this is not a weighting");
    bool squares = histo_has_squares((histo_weighting)weighting);
    if ((weighting == HISTO_UNWEIGHTED) != (type == STORAGE_INT) || (type == STORAGE_WEIGHTED && !squares))
        return FAIL(storage, "the storage does not fit the weighting in writer_info.histo");
    l->weighting = (histo_weighting)weighting;
    return HISTO_OK;
}

/* Find the arrays of the storage and decide what they become. */
histo_status histo_uhi_read_storage(histo_uhi_loader *l, size_t at)
{
    enum { TYPE, INDEX, VALUES, VARIANCES, KEYS };
    static const char *const keys[] = {"type", "index", "values", "variances"};
    static const char *const types[] = {
        [STORAGE_INT] = "int",
        [STORAGE_DOUBLE] = "double",
        [STORAGE_MEAN] = "mean",
        [STORAGE_WEIGHTED] = "weighted",
        [STORAGE_WEIGHTED_MEAN] = "weighted_mean",
    };
    size_t members[KEYS];
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, 1, members);
    if (status != HISTO_OK) return status;
    int type = histo_uhi_choice(l, members[TYPE], STORAGES, types);
    if (type < 0) return FAIL(members[TYPE], "this is not a type of storage in schema 1");
    if (type == STORAGE_MEAN || type == STORAGE_WEIGHTED_MEAN)
        return FAIL_UNSUPPORTED(members[TYPE], "storage of means is not supported");
    if (l->arrays && l->arrays->values) {
        if (members[INDEX] || members[VALUES] || members[VARIANCES])
            return FAIL(at, "the storage has arrays of its own");
        members[VALUES] = at;
        if (l->arrays->variances) members[VARIANCES] = at;
    }
    if ((members[INDEX] || members[VARIANCES]) && !members[VALUES]) return FAIL(at, "the storage has no \"values\"");
    if (type == STORAGE_WEIGHTED && members[VALUES] && !members[VARIANCES])
        return FAIL(at, "weighted storage has no \"variances\"");
    l->index = members[INDEX];
    l->values = members[VALUES];
    l->variances = type == STORAGE_WEIGHTED ? members[VARIANCES] : 0;
    if (l->storage == HISTO_SPARSE && (type != STORAGE_INT || !l->index != !l->values))
        return FAIL(at, "sparse counts are of type \"int\" and have an \"index\"");
    return read_weighting(l, at, type);
}

static histo_status append(histo_uhi_pairs *to, int64_t slot, uint64_t count)
{
    if (to->n == to->room) {
        const int64_t room = to->room ? 2 * to->room : 64;
        const size_t bytes = (size_t)room * sizeof *to->at;
        histo_entry *at = histo_realloc(to->at, bytes);
        if (!at) return histo_fail_memory(bytes, "the occupied slots of a histogram");
        *to = (histo_uhi_pairs){to->n, room, at};
    }
    to->at[to->n++] = (histo_entry){(uint64_t)slot, count};
    return HISTO_OK;
}

histo_status histo_uhi_read_value(const histo_uhi_loader *l, size_t at, histo_uhi_sink to, int64_t slot)
{
    if (!histo_goes_on(l->doc.pace, STEPS_A_VALUE)) return l->doc.pace->status;
    if (to.lane.counts) return histo_json_count(&l->doc, at, &to.lane.counts[slot]);
    if (to.lane.sums) return histo_json_number(&l->doc, at, &to.lane.sums[slot]);
    uint64_t count;
    histo_status status = histo_json_count(&l->doc, at, &count);
    return status == HISTO_OK ? append(to.pairs, slot, count) : status;
}

/* Read a dense array from dimension `level` down; slot: offset from the dimensions above. */
static histo_status read_dense(const histo_uhi_loader *l, int level, size_t at, histo_uhi_sink to, int64_t slot)
{
    if (level == l->ndims) return histo_uhi_read_value(l, at, to, slot);
    const histo_uhi_dimension *dim = &l->dims[level];
    histo_status status = histo_uhi_check_array(l, at);
    if (status != HISTO_OK) return status;
    int64_t i = 0;
    for (histo_json_walk walk = histo_json_enter(&l->doc, at); histo_json_next(&walk); i++) {
        if (i == dim->cells) return FAIL(walk.value, "there are more than %lld values for this axis", (long long)i);
        status = read_dense(l, level + 1, walk.value, to, slot * dim->slots + i + dim->shift);
        if (status != HISTO_OK) return status;
    }
    if (i == dim->cells || l->doc.pace->status != HISTO_OK) return l->doc.pace->status;
    return FAIL(at, "there are %lld values, not %lld for this axis", (long long)i, (long long)dim->cells);
}

/* Advance the indices of all dimensions together, which must end together; -1 at the end. */
static histo_status next_slot(const histo_uhi_loader *l, histo_json_walk *walks, int64_t *slot)
{
    bool more = histo_json_next(&walks[0]);
    *slot = more ? 0 : -1;
    for (int d = 0; d < l->ndims; d++) {
        const bool as_before = d == 0 || histo_json_next(&walks[d]) == more;
        if (l->doc.pace->status != HISTO_OK) return l->doc.pace->status;
        if (!as_before) return FAIL(l->index, "the rows of the index differ in length");
        if (!more) continue;
        const histo_uhi_dimension *dim = &l->dims[d];
        uint64_t i;
        histo_status status = histo_json_count(&l->doc, walks[d].value, &i);
        if (status != HISTO_OK) return status;
        if (i >= (uint64_t)dim->cells)
            return FAIL(walks[d].value, "index %" PRIu64 " is not below %lld", i, (long long)dim->cells);
        *slot = *slot * dim->slots + (int64_t)i + dim->shift;
    }
    return HISTO_OK;
}

static histo_status read_sparse(const histo_uhi_loader *l, size_t at, histo_uhi_sink to)
{
    histo_json_walk walks[HISTO_MAX_AXES + 1];
    int rows = 0;
    histo_status status = histo_uhi_check_array(l, l->index);
    histo_json_walk index = histo_json_enter(&l->doc, l->index);
    for (; status == HISTO_OK && rows <= l->ndims && histo_json_next(&index); rows++) {
        if (rows < l->ndims) walks[rows] = histo_json_enter(&l->doc, index.value);
        status = histo_uhi_check_array(l, index.value);
    }
    if (status == HISTO_OK && rows != l->ndims) status = FAIL(l->index, "the index should have %d rows", l->ndims);
    if (status == HISTO_OK) status = histo_uhi_check_array(l, at);
    if (status != HISTO_OK) return status;
    histo_json_walk values = histo_json_enter(&l->doc, at);
    for (;;) {
        int64_t slot;
        status = next_slot(l, walks, &slot);
        if (status != HISTO_OK) return status;
        bool more = histo_json_next(&values);
        if (l->doc.pace->status != HISTO_OK) return l->doc.pace->status;
        if (more != (slot >= 0)) return FAIL(at, "there are not as many values as the index has");
        if (!more) return HISTO_OK;
        if (!to.pairs && histo_lane_get(to.lane, slot) != 0)
            return FAIL(values.value, "the index has the cell of this value twice");
        status = histo_uhi_read_value(l, values.value, to, slot);
        if (status != HISTO_OK) return status;
    }
}

/* The slot of a cell, in the order of the arrays. */
static int64_t slot_of(const histo_uhi_loader *l, int64_t cell)
{
    int64_t slot = 0, stride = 1;
    for (int d = l->ndims - 1; d >= 0; d--) {
        const histo_uhi_dimension *dim = &l->dims[d];
        slot += (cell % dim->cells + dim->shift) * stride;
        cell /= dim->cells;
        stride *= dim->slots;
    }
    return slot;
}

static histo_status read_array(const histo_uhi_loader *l, histo_dtype dtype, const void *values, histo_lane lane)
{
    int64_t cells = 1;
    for (int d = 0; d < l->ndims; d++)
        cells *= l->dims[d].cells;
    if (l->arrays->cells != cells)
        return FAIL(l->values, "there are %lld values for %lld cells", (long long)l->arrays->cells, (long long)cells);
    const uint64_t *counts = dtype == HISTO_U64 ? values : NULL;
    const double *sums = counts ? NULL : values;
    for (int64_t i = 0; i < cells; i++) {
        if (!histo_goes_on(l->doc.pace, STEPS_A_VALUE)) return l->doc.pace->status;
        const int64_t slot = slot_of(l, i);
        if (lane.sums)
            lane.sums[slot] = counts ? (double)counts[i] : sums[i];
        else if (counts || is_count(sums[i]))
            lane.counts[slot] = counts ? counts[i] : (uint64_t)sums[i];
        else
            return FAIL(l->values, "%.17g is not a count", sums[i]);
    }
    return HISTO_OK;
}

/* array: the values, if the document does not have them; else NULL. */
static histo_status read_lane(const histo_uhi_loader *l, size_t at, histo_dtype dtype, const void *array,
                              histo_lane lane)
{
    if (array) return read_array(l, dtype, array, lane);
    const histo_uhi_sink to = {.lane = lane};
    return l->index ? read_sparse(l, at, to) : read_dense(l, 0, at, to, 0);
}

/* Read sparse counts into l->cells in slot order; some slots may have no count. */
static histo_status read_cells(histo_uhi_loader *l)
{
    histo_status status = l->index ? read_sparse(l, l->values, (histo_uhi_sink){.pairs = &l->cells}) : HISTO_OK;
    if (status != HISTO_OK || l->cells.n == 0) return status;
    const size_t bytes = (size_t)l->cells.n * sizeof *l->cells.at;
    histo_entry *room = histo_malloc(bytes);
    if (!room) return histo_fail_memory(bytes, "the occupied slots of a histogram");
    int64_t n = l->cells.n;
    status = histo_entries_sort(l->cells.at, &n, room);
    histo_free(room);
    if (status != HISTO_OK) return status;
    return n == l->cells.n ? HISTO_OK : FAIL(l->index, "the index has a cell twice");
}

/* Move the counts of the cells into the histogram, overridden by the values in our own list. */
histo_status histo_uhi_keep_counts(histo_uhi_loader *l)
{
    const histo_uhi_pairs *cells = &l->cells, *own = &l->own;
    const size_t bytes = (size_t)(cells->n + own->n) * sizeof(histo_entry);
    histo_list kept = {0, histo_malloc(bytes + 1)};
    if (!kept.entries) return histo_fail_memory(bytes, "the occupied slots of a histogram");
    for (int64_t c = 0, o = 0; c < cells->n || o < own->n;) {
        const bool ours = o < own->n && (c == cells->n || own->at[o].slot <= cells->at[c].slot);
        const histo_entry next = ours ? own->at[o++] : cells->at[c];
        c += c < cells->n && cells->at[c].slot == next.slot;
        if (next.count) kept.entries[kept.n++] = next;
    }
    histo_status status = kept.n ? histo_sparse_add(l->hist->accumulators.sparse, kept) : HISTO_OK;
    if (status != HISTO_OK || !kept.n) histo_list_free(&kept);
    return status;
}

/* Create the histogram and allocate the sums. */
histo_status histo_uhi_prepare(histo_uhi_loader *l)
{
    histo_status status =
        histo_hist_make(&l->hist, l->naxes, l->axes,
                        &(histo_hist_options){.batch = l->batch, .weighting = l->weighting, .storage = l->storage});
    if (status != HISTO_OK) return status;
    const histo_accumulators *accumulators = &l->hist->accumulators;
    for (int a = 0; a < l->naxes; a++) {
        if (!l->axes[a].edges || histo_axis_is_whole(&l->axes[a])) continue;
        status = histo_axis_check_kept(&l->hist->axes[a], l->axes[a].edges);
        if (status != HISTO_OK) return histo_uhi_blame(l, l->axis_at[a], status);
    }
    if (histo_is_fast(l->weighting)) {
        l->sums[0].sums = accumulators->sum_w;
        l->sums[1].sums = accumulators->sum_w2;
    }
    if (histo_is_reproducible(l->weighting)) {
        size_t all = (size_t)(accumulators->batch * accumulators->slots);
        l->own_sums = histo_calloc(all, 2 * sizeof *l->own_sums);
        if (!l->own_sums) return histo_fail_memory(2 * all * sizeof *l->own_sums, "loading sums of weights");
        l->sums[0].sums = l->own_sums;
        if (accumulators->exact_w2) l->sums[1].sums = l->own_sums + all;
    }
    return HISTO_OK;
}

histo_status histo_uhi_read_values(histo_uhi_loader *l)
{
    if (l->storage == HISTO_SPARSE) return read_cells(l);
    if (!l->values) return HISTO_OK;
    const histo_accumulators *accumulators = &l->hist->accumulators;
    const histo_uhi_arrays *arrays = l->arrays ? l->arrays : &(histo_uhi_arrays){0};
    const histo_lane counts = {accumulators->counts, NULL}, values = l->sums[0].sums ? l->sums[0] : counts;
    histo_status status = read_lane(l, l->values, arrays->dtype, arrays->values, values);
    if (status != HISTO_OK || !l->sums[0].sums) return status;
    if (l->variances) return read_lane(l, l->variances, HISTO_F64, arrays->variances, l->sums[1]);
    for (int64_t i = 0; l->sums[1].sums && i < accumulators->batch * accumulators->slots; i++)
        l->sums[1].sums[i] = fabs(l->sums[0].sums[i]);
    return HISTO_OK;
}
