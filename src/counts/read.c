/* Reading counts and sums from a histogram. */
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"
#include "counts/rows.h"
#include "plan/strategy.h"

int64_t histo_hist_size(const histo_hist *hist, histo_slots slots)
{
    if (!hist) return 0;
    return hist->accumulators.batch * (slots == HISTO_FLOW ? hist->accumulators.slots : hist->bins);
}

/* Check the histogram and the slots of a read, and describe its array. */
static histo_status find_grid(const histo_hist *hist, histo_slots slots, histo_slot_grid *grid)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (slots != HISTO_BINS && slots != HISTO_FLOW) return histo_fail(HISTO_INVALID, "unknown slots %d", (int)slots);
    histo_slot_rows_grid(grid, hist, slots);
    return HISTO_OK;
}

static histo_status check_size(const histo_slot_grid *grid, int64_t size)
{
    int64_t wanted = 1;
    for (int d = 0; d < grid->ndim; d++)
        wanted *= grid->extent[d];
    if (size == wanted) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the array has room for %lld values, the histogram gives %lld", (long long)size,
                      (long long)wanted);
}

/* Whether a read takes only a part. */
static bool is_part(const histo_read_options *options)
{
    int64_t any = options->first_entry | options->entries;
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        any |= options->begin[a] | options->end[a];
    return any != 0;
}

/* Keep positions [begin, end) of dimension d. */
static void cut(histo_slot_grid *grid, int d, int64_t begin, int64_t end)
{
    grid->first += begin * grid->stride[d];
    grid->extent[d] = end - begin;
}

static histo_status cut_part(histo_slot_grid *grid, const histo_read_options *options)
{
    const int naxes = grid->ndim - 1;
    const int64_t batch = grid->extent[0], first = options->first_entry,
                  entries = options->entries ? options->entries : batch - first;
    if (first < 0 || first >= batch || entries < 1 || entries > batch - first)
        return histo_fail(HISTO_INVALID, "first_entry is %lld and entries is %lld, of a batch of %lld",
                          (long long)first, (long long)options->entries, (long long)batch);
    cut(grid, 0, first, first + entries);
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        const int64_t begin = options->begin[a], end = options->end[a];
        if (a >= naxes && (begin || end))
            return histo_fail(HISTO_INVALID, "begin[%d] or end[%d] is not 0, and the histogram has %d axes", a, a,
                              naxes);
        if (a >= naxes) continue;
        const int64_t extent = grid->extent[1 + a], until = end ? end : extent;
        if (begin < 0 || begin >= until || until > extent)
            return histo_fail(HISTO_INVALID, "begin[%d] is %lld and end[%d] is %lld, of %lld positions", a,
                              (long long)begin, a, (long long)end, (long long)extent);
        cut(grid, 1 + a, begin, until);
    }
    return HISTO_OK;
}

/* The index of a slot (numbered over all batch entries) in a read of a grid; false if the read omits it. */
static bool index_in_read(const histo_slot_grid *grid, int64_t slot, int64_t *index)
{
    int64_t first = grid->first;
    *index = 0;
    for (int d = 0; d < grid->ndim; d++) {
        const int64_t at = slot / grid->stride[d] - first / grid->stride[d];
        if (at < 0 || at >= grid->extent[d]) return false;
        *index = *index * grid->extent[d] + at;
        slot %= grid->stride[d];
        first %= grid->stride[d];
    }
    return true;
}

/* ---- Counts and sums ---- */

static void put_counts(const uint64_t *from, int64_t n, histo_dtype dtype, void *to)
{
    if (dtype == HISTO_U64) memcpy(to, from, (size_t)n * sizeof *from);
    for (int64_t i = 0; i < n && dtype == HISTO_U32; i++)
        ((uint32_t *)to)[i] = histo_saturated(from[i]);
    for (int64_t i = 0; i < n && dtype == HISTO_F32; i++)
        ((float *)to)[i] = (float)from[i];
    for (int64_t i = 0; i < n && dtype == HISTO_F64; i++)
        ((double *)to)[i] = (double)from[i];
}

static void put_sums(const double *from, int64_t n, histo_dtype dtype, void *to)
{
    if (dtype == HISTO_F64) memcpy(to, from, (size_t)n * sizeof *from);
    for (int64_t i = 0; i < n && dtype == HISTO_F32; i++)
        ((float *)to)[i] = (float)from[i];
}

/* AT_ONCE: slots between two checks of the monitor. STEPS_AN_INDEX: of about a nanosecond each. */
enum { BLOCK = 512, AT_ONCE = 1 << 14, STEPS_AN_INDEX = 16 };

/* total: the sum of the preceding counts. */
static void put_cumulative(const uint64_t *from, int64_t n, histo_dtype dtype, char *to, uint64_t *total)
{
    uint64_t totals[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t some = n - first < BLOCK ? n - first : BLOCK;
        for (int64_t i = 0; i < some; i++)
            totals[i] = *total += from[first + i];
        put_counts(totals, some, dtype, to + (size_t)first * histo_dtype_size(dtype));
    }
}

static void put_exact(const histo_exact *from, int64_t slot, int64_t n, histo_dtype dtype, char *to)
{
    double sums[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t some = n - first < BLOCK ? n - first : BLOCK;
        for (int64_t i = 0; i < some; i++)
            sums[i] = histo_exact_read(from, slot + first + i);
        put_sums(sums, some, dtype, to + (size_t)first * histo_dtype_size(dtype));
    }
}

static const char reading_stage[] = "reading";

/* Write slots [slot, slot + n), which are in one row. */
static void put(const histo_accumulators *from, const histo_reading *r, int64_t slot, int64_t n, char *to,
                uint64_t *total)
{
    const double *sums = r->quantity == HISTO_READ_W ? from->sum_w : r->quantity == HISTO_READ_W2 ? from->sum_w2 : NULL;
    const histo_exact *exact = r->quantity == HISTO_READ_W    ? from->exact_w
                               : r->quantity == HISTO_READ_W2 ? from->exact_w2
                                                              : NULL;
    if (exact)
        put_exact(exact, slot, n, r->dtype, to);
    else if (sums)
        put_sums(sums + slot, n, r->dtype, to);
    else if (r->cumulative)
        put_cumulative(from->counts + slot, n, r->dtype, to, total);
    else
        put_counts(from->counts + slot, n, r->dtype, to);
}

static histo_status read_dense(const histo_accumulators *from, const histo_reading *r)
{
    histo_pace pace = {.stage = reading_stage, .all = r->size};
    histo_slot_rows all;
    all.grid.ndim = r->grid.ndim; /* copying all of it takes longer than reading a few counts */
    all.grid.first = r->grid.first;
    memcpy(all.grid.extent, r->grid.extent, (size_t)r->grid.ndim * sizeof *r->grid.extent);
    memcpy(all.grid.stride, r->grid.stride, (size_t)r->grid.ndim * sizeof *r->grid.stride);
    if (!r->cumulative) histo_slot_grid_coalesce(&all.grid);
    histo_slot_rows_restart(&all);
    char *to = r->out;
    const size_t size = histo_dtype_size(r->dtype);
    for (int64_t slot; histo_slot_rows_next(&all, &slot);) {
        uint64_t total = 0;
        for (int64_t i = 0, n; i < all.n; i += n, to += (size_t)n * size) {
            n = all.n - i < AT_ONCE ? all.n - i : AT_ONCE;
            if (!histo_goes_on(&pace, n)) return pace.status;
            put(from, r, slot + i, n, to, &total);
        }
    }
    return HISTO_OK;
}

static histo_status read_sparse(const histo_hist *hist, const histo_reading *r)
{
    const histo_list all = histo_sparse_all(hist->accumulators.sparse);
    const size_t size = histo_dtype_size(r->dtype);
    char *out = r->out;
    histo_pace pace = {.stage = reading_stage, .all = STEPS_AN_INDEX * all.n + r->size};
    if (!r->cumulative) {
        for (int64_t i = 0, n; i < r->size && histo_goes_on(&pace, BLOCK); i += n) {
            n = r->size - i < BLOCK ? r->size - i : BLOCK;
            memset(out + (size_t)i * size, 0, (size_t)n * size);
        }
        for (int64_t i = 0, index; i < all.n && histo_goes_on(&pace, STEPS_AN_INDEX); i++)
            if (index_in_read(&r->grid, (int64_t)all.entries[i].slot, &index))
                put_counts(&all.entries[i].count, 1, r->dtype, out + (size_t)index * size);
        return pace.status;
    }
    const int64_t row = r->grid.extent[r->grid.ndim - 1];
    uint64_t total = 0;
    int64_t done = 0;
    for (int64_t i = 0, index; i <= all.n && histo_goes_on(&pace, STEPS_AN_INDEX); i++) {
        if (i == all.n)
            index = r->size;
        else if (!index_in_read(&r->grid, (int64_t)all.entries[i].slot, &index))
            continue;
        for (; done < index && histo_goes_on(&pace, 1); done++) {
            put_counts(&total, 1, r->dtype, out + (size_t)done * size);
            if ((done + 1) % row == 0) total = 0;
        }
        if (i < all.n) total += all.entries[i].count;
    }
    return pace.status;
}

static histo_status read_gathered(const histo_hist *hist, const histo_reading *r)
{
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    if (status != HISTO_OK) return status;
    return hist->accumulators.sparse ? read_sparse(hist, r) : read_dense(&hist->accumulators, r);
}

/* Read into the memory of a device that does not hold everything. */
static histo_status read_and_send(const histo_hist *hist, const histo_reading *r, histo_device device)
{
    const histo_backend *backend = histo_backend_of(device);
    const size_t bytes = (size_t)r->size * histo_dtype_size(r->dtype);
    if (backend->capturing(r->stream)) {
        if (r->part) return histo_fail(HISTO_UNSUPPORTED, "a graph can read all of a histogram, not a part");
        return histo_fail_captured("read");
    }
    histo_reading here = *r;
    here.out = histo_malloc(bytes);
    if (!here.out) return histo_fail_memory(bytes, "counts on their way to a GPU");
    histo_status status = read_gathered(hist, &here);
    if (status == HISTO_OK) status = backend->send(r->out, device, here.out, bytes, r->stream);
    histo_free(here.out);
    return status;
}

/* Check what is to be read of r->grid, and describe it. */
static histo_status describe(const histo_hist *hist, histo_quantity quantity, const histo_read_options *options,
                             void *out, int64_t size, histo_reading *r)
{
    const histo_status status =
        options ? histo_check_reserved(options->reserved, sizeof options->reserved, "histo_read_options") : HISTO_OK;
    if (status != HISTO_OK) return status;
    r->quantity = hist->weighting == HISTO_UNWEIGHTED ? HISTO_READ_COUNTS : quantity;
    r->size = size;
    r->out = out;
    r->dtype = options ? options->dtype : (histo_dtype)0;
    r->cumulative = options && options->cumulative;
    r->stream = options ? options->stream : NULL;
    r->done = false;
    if (!r->dtype) r->dtype = quantity == HISTO_READ_COUNTS ? HISTO_U64 : HISTO_F64;
    const bool floating = r->dtype == HISTO_F32 || r->dtype == HISTO_F64;
    if (quantity == HISTO_READ_COUNTS && !floating && r->dtype != HISTO_U32 && r->dtype != HISTO_U64)
        return histo_fail(HISTO_INVALID, "counts are read as u32, u64, f32 or f64");
    if (quantity != HISTO_READ_COUNTS && !floating) return histo_fail(HISTO_INVALID, "sums are read as f32 or f64");
    if (quantity != HISTO_READ_COUNTS && r->cumulative)
        return histo_fail(HISTO_INVALID, "counts can be read cumulatively, sums of weights cannot");
    return HISTO_OK;
}

histo_status histo_hist_read(const histo_hist *hist, const histo_reading *r)
{
    bool only;
    const histo_device device = histo_device_of(r->out, &only);
    const histo_device_accumulators *first = hist->accumulators.on_devices;
    if (first && first->next && (device == HISTO_DEVICE_CPU || !first->backend->capturing(r->stream))) {
        histo_status status = histo_accumulators_merge_devices(&hist->accumulators, device);
        if (status != HISTO_OK) return status;
    }
    histo_device_accumulators *home = histo_accumulators_home(&hist->accumulators);
    if (home && !r->part && (device == home->device || (device == HISTO_DEVICE_CPU && !r->cumulative)))
        return home->backend->read(home, r);
    return device == HISTO_DEVICE_CPU ? read_gathered(hist, r) : read_and_send(hist, r, device);
}

histo_status histo_hist_reading(const histo_hist *hist, histo_slots slots, histo_quantity quantity, void *out,
                                int64_t size, const histo_read_options *options, histo_reading *reading)
{
    histo_status status = find_grid(hist, slots, &reading->grid);
    if (status != HISTO_OK) return status;
    reading->part = options && is_part(options);
    if (reading->part) status = cut_part(&reading->grid, options);
    if (status == HISTO_OK) status = check_size(&reading->grid, size);
    if (status != HISTO_OK) return status;
    if (!out) return histo_fail(HISTO_INVALID, "the array for the counts is NULL");
    return describe(hist, quantity, options, out, size, reading);
}

histo_device histo_hist_reading_device(const histo_hist *hist, const histo_reading *reading)
{
    bool only;
    const histo_device_accumulators *home = histo_accumulators_home(&hist->accumulators);
    const bool direct =
        home && !reading->cumulative && !reading->part && histo_device_of(reading->out, &only) == home->device;
    return direct ? home->device : HISTO_DEVICE_CPU;
}

histo_status histo_hist_read_counts(const histo_hist *hist, histo_slots slots, void *counts, int64_t size,
                                    const histo_read_options *options)
{
    HISTO_STANDARD_FLOATS;
    histo_reading reading;
    const histo_status status = histo_hist_reading(hist, slots, HISTO_READ_COUNTS, counts, size, options, &reading);
    return status == HISTO_OK ? histo_hist_read(hist, &reading) : status;
}

histo_status histo_hist_read_weights(const histo_hist *hist, histo_slots slots, void *sum_w, void *sum_w2, int64_t size,
                                     const histo_read_options *options)
{
    HISTO_STANDARD_FLOATS;
    static char nothing; /* sizes are checked even without an array */
    histo_reading reading;
    histo_status status = histo_hist_reading(hist, slots, HISTO_READ_W, &nothing, size, options, &reading);
    if (status != HISTO_OK) return status;
    if (sum_w2 && hist->weighting != HISTO_UNWEIGHTED && !histo_has_squares(hist->weighting))
        return histo_fail(HISTO_INVALID,
                          "the histogram keeps no sums of squared weights: its weighting is without them");
    reading.out = sum_w;
    if (sum_w) status = histo_hist_read(hist, &reading);
    if (!sum_w2 || status != HISTO_OK) return status;
    status = histo_hist_reading(hist, slots, HISTO_READ_W2, sum_w2, size, options, &reading);
    return status == HISTO_OK ? histo_hist_read(hist, &reading) : status;
}

histo_status histo_hist_borrow(const histo_hist *hist, const uint64_t **counts, const double **sum_w,
                               const double **sum_w2)
{
    HISTO_STANDARD_FLOATS;
    if (counts) *counts = NULL;
    if (sum_w) *sum_w = NULL;
    if (sum_w2) *sum_w2 = NULL;
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    const histo_accumulators *accumulators = &hist->accumulators;
    if (accumulators->sparse)
        return histo_fail(HISTO_UNSUPPORTED, "a sparse histogram has no array of counts: read its occupied slots with "
                                             "histo_hist_read_occupied");
    histo_status status = histo_accumulators_to_host(accumulators);
    if (status != HISTO_OK) return status;
    if (counts) *counts = accumulators->counts;
    if (sum_w) *sum_w = accumulators->sum_w;
    if (sum_w2) *sum_w2 = accumulators->sum_w2;
    return HISTO_OK;
}

/* ---- Occupied slots ---- */

/* Iterates over the nonzero elements of a read, in order. */
typedef struct finder {
    const histo_hist *hist;
    histo_slot_rows rows;      /* dense: the rows after this one; sparse: only the grid */
    const uint64_t *row, *end; /* dense: the rest of the current piece of the row, */
    const uint64_t *row_end;   /* and the end of the row */
    int64_t next;              /* the next index in the read or, if sparse, in the list */
    histo_pace pace;           /* if it stops, nothing more is found */
} finder;

static finder finder_start(const histo_hist *hist, histo_slots slots)
{
    finder f = {.hist = hist, .pace.stage = reading_stage};
    if (hist->accumulators.sparse)
        histo_slot_rows_grid(&f.rows.grid, hist, slots);
    else
        histo_slot_rows_start(&f.rows, hist, slots);
    return f;
}

static bool finder_next(finder *f, int64_t *index, uint64_t *count)
{
    const histo_accumulators *accumulators = &f->hist->accumulators;
    if (accumulators->sparse) {
        const histo_list all = histo_sparse_all(accumulators->sparse);
        while (f->next < all.n && histo_goes_on(&f->pace, STEPS_AN_INDEX)) {
            const histo_entry *entry = &all.entries[f->next++];
            *count = entry->count;
            if (index_in_read(&f->rows.grid, (int64_t)entry->slot, index)) return true;
        }
        return false;
    }
    for (int64_t slot;;) {
        while (f->row < f->end) {
            *index = f->next++;
            *count = *f->row++;
            if (*count) return true;
        }
        if (f->row == f->row_end) {
            if (!histo_slot_rows_next(&f->rows, &slot)) return false;
            f->row = accumulators->counts + slot;
            f->row_end = f->row + f->rows.n;
        }
        const int64_t n = f->row_end - f->row < AT_ONCE ? f->row_end - f->row : AT_ONCE;
        if (!histo_goes_on(&f->pace, n)) return false;
        f->end = f->row + n;
    }
}

static histo_status start_finding(const histo_hist *hist, histo_slots slots)
{
    histo_slot_grid grid;
    const histo_status status = find_grid(hist, slots, &grid);
    return status == HISTO_OK ? histo_accumulators_to_host(&hist->accumulators) : status;
}

static histo_status count_occupied(const histo_hist *hist, histo_slots slots, int64_t *n)
{
    int64_t index;
    uint64_t count;
    finder f = finder_start(hist, slots);
    for (*n = 0; finder_next(&f, &index, &count);)
        ++*n;
    return f.pace.status;
}

histo_status histo_hist_occupied(const histo_hist *hist, histo_slots slots, int64_t *occupied)
{
    HISTO_STANDARD_FLOATS;
    if (occupied) *occupied = 0;
    histo_status status = start_finding(hist, slots);
    if (status != HISTO_OK) return status;
    if (!occupied) return histo_fail(HISTO_INVALID, "the place for the number of occupied slots is NULL");
    int64_t n;
    status = count_occupied(hist, slots, &n);
    if (status == HISTO_OK) *occupied = n;
    return status;
}

histo_status histo_hist_read_occupied(const histo_hist *hist, histo_slots slots, int64_t *index, uint64_t *counts,
                                      int64_t size)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = start_finding(hist, slots);
    if (status != HISTO_OK) return status;
    int64_t occupied, at;
    uint64_t count;
    status = count_occupied(hist, slots, &occupied);
    if (status != HISTO_OK) return status;
    if (size != occupied)
        return histo_fail(HISTO_INVALID, "the arrays have room for %lld values, the histogram has %lld occupied slots",
                          (long long)size, (long long)occupied);
    finder f = finder_start(hist, slots);
    while (finder_next(&f, &at, &count)) {
        if (index) *index++ = at;
        if (counts) *counts++ = count;
    }
    return f.pace.status;
}

int64_t histo_hist_unravel(const histo_hist *hist, histo_slots slots, int64_t index, int64_t *at)
{
    if (!hist || !at || index < 0 || index >= histo_hist_size(hist, slots)) return -1;
    for (int a = hist->naxes - 1; a >= 0; a--) {
        const int64_t extent = hist->axes[a].bins + (slots == HISTO_FLOW ? 3 : 0);
        at[a] = index % extent;
        index /= extent;
    }
    return index;
}

/* ---- Totals ---- */

histo_status histo_hist_read_masked(const histo_hist *hist, uint64_t *masked, int64_t size)
{
    HISTO_STANDARD_FLOATS;
    if (!hist || !masked) return histo_fail(HISTO_INVALID, "the histogram or the array is NULL");
    if (size != hist->accumulators.batch)
        return histo_fail(HISTO_INVALID, "the array has room for %lld values, the histogram gives %lld",
                          (long long)size, (long long)hist->accumulators.batch);
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    if (status != HISTO_OK) return status;
    memcpy(masked, hist->accumulators.masked, (size_t)size * sizeof *masked);
    return HISTO_OK;
}

/* Add a count to the tally of an axis by its position there; returns whether that is in the flow. */
static bool tally_on_axis(histo_tally *t, int axis, int64_t at, int64_t bins, uint64_t count)
{
    if (at == 0) t->under[axis] += count;
    if (at == bins + 1) t->over[axis] += count;
    if (at == bins + 2) t->nan[axis] += count;
    return at == 0 || at > bins;
}

static histo_status tally_sparse(const histo_hist *hist, histo_tally *t)
{
    int64_t index, at[HISTO_MAX_AXES];
    uint64_t count;
    finder f = finder_start(hist, HISTO_FLOW);
    while (finder_next(&f, &index, &count)) {
        bool flow = false;
        histo_hist_unravel(hist, HISTO_FLOW, index, at);
        for (int a = 0; a < hist->naxes; a++)
            flow |= tally_on_axis(t, a, at[a], hist->axes[a].bins, count);
        *(flow ? &t->flow : &t->bins) += count;
    }
    return f.pace.status;
}

/* Row by row along the last axis, whose bins are added up without a look at each. */
static histo_status tally_dense(const histo_hist *hist, histo_tally *t)
{

    const histo_accumulators *accumulators = &hist->accumulators;
    const int last = hist->naxes - 1;
    const int64_t bins = hist->axes[last].bins, all = accumulators->batch * accumulators->slots;
    int64_t at[HISTO_MAX_AXES] = {0};
    histo_pace pace = {.stage = reading_stage, .all = all};
    for (int64_t slot = 0; slot < all; slot += bins + 3) {
        const uint64_t *row = accumulators->counts + slot;
        const uint64_t outside = row[0] + row[bins + 1] + row[bins + 2];
        uint64_t inside = 0;
        bool flow = false;
        for (int64_t i = 1, end; i <= bins; i = end) {
            end = bins - i < AT_ONCE ? bins + 1 : i + AT_ONCE;
            if (!histo_goes_on(&pace, end - i)) return pace.status;
            for (int64_t k = i; k < end; k++)
                inside += row[k];
        }
        t->under[last] += row[0];
        t->over[last] += row[bins + 1];
        t->nan[last] += row[bins + 2];
        for (int a = 0; a < last; a++)
            flow |= tally_on_axis(t, a, at[a], hist->axes[a].bins, inside + outside);
        *(flow ? &t->flow : &t->bins) += inside;
        t->flow += outside;
        for (int a = last - 1; a >= 0 && ++at[a] == hist->axes[a].bins + 3; a--)
            at[a] = 0;
    }
    return HISTO_OK;
}

histo_status histo_hist_tally(const histo_hist *hist, histo_tally *tally)
{
    HISTO_STANDARD_FLOATS;
    if (tally) *tally = (histo_tally){0};
    if (!hist || !tally) return histo_fail(HISTO_INVALID, "the histogram or the tally is NULL");
    histo_status status = histo_accumulators_to_host(&hist->accumulators);
    if (status != HISTO_OK) return status;
    histo_tally t = {0};
    status = hist->accumulators.sparse ? tally_sparse(hist, &t) : tally_dense(hist, &t);
    if (status != HISTO_OK) return status;
    for (int64_t b = 0; b < hist->accumulators.batch; b++)
        t.masked += hist->accumulators.masked[b];
    t.samples = t.bins + t.flow + t.masked;
    *tally = t;
    return HISTO_OK;
}
