/* Reading the Unified Histogram Interface's JSON, ours and that of others. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/memory.h"
#include "counts/cells.h"
#include "counts/json.h"
#include "counts/uhi.h"

/* An axis of the file: its cell i is slot i + shift of `slots`. The batch is one, too. */
typedef struct dimension {
    int64_t cells, shift, slots;
} dimension;

/* Members of writer_info.histo. */
enum { WEIGHTING, STORED, CHECKSUM, MASKED, COUNTS, SUM_W, SUM_W2, DETAILS };

/* Slots and their counts in the order of the file. */
typedef struct pairs {
    int64_t n, room;
    histo_entry *at;
} pairs;

/* Where values go: to a lane, by their slots, or to sparse counts. */
typedef struct sink {
    histo_lane lane;
    pairs *pairs; /* or NULL */
} sink;

enum { STORAGE_INT, STORAGE_DOUBLE, STORAGE_WEIGHTED, STORAGE_MEAN, STORAGE_WEIGHTED_MEAN, STORAGES };

typedef struct loader {
    histo_json doc;
    int ndims;
    dimension dims[HISTO_MAX_AXES + 1];
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* edges are allocated */
    size_t axis_at[HISTO_MAX_AXES];
    int64_t batch;
    histo_weighting weighting;
    histo_storage storage;
    size_t details[DETAILS], index, values, variances; /* positions, or 0 */
    histo_hist *hist;
    double *own_sums;   /* where reproducible sums are read to */
    histo_lane sums[2]; /* w, w^2; empty if there are no weights */
    pairs cells, own;   /* of sparse storage, and of our list of counts */
} loader;

#define FAIL(at, ...) histo_json_fail(&l->doc, at, HISTO_CORRUPT, __VA_ARGS__)
#define FAIL_UNSUPPORTED(at, ...) histo_json_fail(&l->doc, at, HISTO_UNSUPPORTED, __VA_ARGS__)

/* A refusal of what the file says, as one of the file. */
static histo_status blame_file(const loader *l, size_t at, histo_status status)
{
    return status == HISTO_INVALID ? FAIL(at, "%s", histo_last_error()) : status;
}

/* Which of n names is the string at a position? -1: none. */
static int choice(const loader *l, size_t at, int n, const char *const *names)
{
    int i = n - 1;
    while (i >= 0 && !histo_json_is(&l->doc, at, names[i]))
        i--;
    return i;
}

static histo_status check_array(const loader *l, size_t at)
{
    return histo_json_type(&l->doc, at) == '[' ? HISTO_OK : FAIL(at, "an array should stand here");
}

/* The members of "histo" in the writer_info at a position; all 0 if either is missing. */
static histo_status find_details(const loader *l, size_t writer_info, int n, const char *const *keys, size_t *found)
{
    static const char *const writer[] = {"histo"};
    size_t ours = 0;
    memset(found, 0, (size_t)n * sizeof *found);
    histo_status status = writer_info ? histo_json_find(&l->doc, writer_info, 1, writer, 0, &ours) : HISTO_OK;
    return status == HISTO_OK && ours ? histo_json_find(&l->doc, ours, n, keys, 0, found) : status;
}

/* ---- Axes ---- */

/* Flow of the axis that we have and the file has not stays 0. */
static void add_dimension(loader *l, size_t at, const histo_axis *axis, bool underflow, bool overflow)
{
    l->axis_at[l->naxes] = at;
    l->axes[l->naxes++] = *axis;
    l->dims[l->ndims++] = (dimension){axis->bins + underflow + overflow, !underflow, axis->bins + 3};
}

static histo_status read_edges(const loader *l, size_t at, histo_axis *axis)
{
    histo_status status = check_array(l, at);
    if (status != HISTO_OK) return status;
    int64_t count = 0;
    for (histo_json_walk walk = histo_json_enter(&l->doc, at); histo_json_next(&walk);)
        count++;
    if (count < 2) return FAIL(at, "an axis needs two edges or more");
    double *edges = histo_malloc((size_t)count * sizeof *edges);
    if (!edges) return histo_fail_memory((size_t)count * sizeof *edges, "the edges of an axis");
    histo_json_walk walk = histo_json_enter(&l->doc, at);
    for (int64_t i = 0; histo_json_next(&walk) && status == HISTO_OK; i++)
        status = histo_json_number(&l->doc, walk.value, &edges[i]);
    if (status != HISTO_OK) {
        free(edges);
        return status;
    }
    *axis = histo_axis_variable(count - 1, edges);
    return HISTO_OK;
}

/* Of a regular axis: its range and number of bins. */
static histo_status read_range(const loader *l, size_t lower, size_t upper, size_t at_bins, histo_axis *axis)
{
    uint64_t bins;
    histo_status status = histo_json_number(&l->doc, lower, &axis->lo);
    if (status == HISTO_OK) status = histo_json_number(&l->doc, upper, &axis->hi);
    if (status == HISTO_OK) status = histo_json_count(&l->doc, at_bins, &bins);
    if (status != HISTO_OK) return status;
    if (bins > (uint64_t)HISTO_MAX_BINS)
        return FAIL(at_bins, "an axis has at most %lld bins", (long long)HISTO_MAX_BINS);
    axis->bins = (int64_t)bins;
    return HISTO_OK;
}

/* What writer_info says of an axis that the file has as regular or variable. */
static histo_status read_axis_details(const loader *l, size_t writer_info, bool regular, histo_axis *axis)
{
    enum { KIND, POWER, CLOSED, KEYS };
    static const char *const keys[] = {"kind", "power", "closed"};
    size_t found[KEYS];
    histo_status status = find_details(l, writer_info, KEYS, keys, found);
    if (status == HISTO_OK && found[CLOSED]) status = histo_json_bool(&l->doc, found[CLOSED], &axis->closed);
    int kind = regular ? HISTO_REGULAR : HISTO_VARIABLE;
    if (status == HISTO_OK && found[KIND]) {
        kind = choice(l, found[KIND], HISTO_UHI_KINDS, histo_uhi_kinds);
        if (kind < 0 || (regular && kind != HISTO_REGULAR && kind != HISTO_INTEGER))
            return FAIL(found[KIND], "this is no kind that the axis can be");
    }
    axis->kind = (histo_axis_kind)kind;
    if (kind == HISTO_SQRT) axis->power = 0.5;
    if (status != HISTO_OK || kind != HISTO_POWER) return status;
    if (!found[POWER]) return FAIL(found[KIND], "a power axis needs its power");
    return histo_json_number(&l->doc, found[POWER], &axis->power);
}

static histo_status read_numeric_axis(loader *l, size_t at, bool regular)
{
    enum { UNDERFLOW, OVERFLOW, CIRCULAR, NEEDED, LOWER = NEEDED, UPPER, BINS, EDGES, WRITER, KEYS };
    static const char *const keys[] = {"underflow", "overflow", "circular", "lower",
                                       "upper",     "bins",     "edges",    "writer_info"};
    size_t found[KEYS];
    bool underflow, overflow, circular;
    histo_axis axis = {.kind = HISTO_REGULAR};
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, NEEDED, found);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, found[UNDERFLOW], &underflow);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, found[OVERFLOW], &overflow);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, found[CIRCULAR], &circular);
    if (status != HISTO_OK) return status;
    if (circular) return FAIL_UNSUPPORTED(found[CIRCULAR], "circular axes are not supported");
    if (regular && !(found[LOWER] && found[UPPER] && found[BINS]))
        return FAIL(at, "a regular axis needs \"lower\", \"upper\" and \"bins\"");
    if (!regular && !found[EDGES]) return FAIL(at, "a variable axis needs \"edges\"");
    status =
        regular ? read_range(l, found[LOWER], found[UPPER], found[BINS], &axis) : read_edges(l, found[EDGES], &axis);
    if (status != HISTO_OK) return status;
    status = read_axis_details(l, found[WRITER], regular, &axis);
    add_dimension(l, at, &axis, underflow, overflow); /* with its edges, which are freed with the loader's axes */
    return status;
}

static histo_status read_category_axis(loader *l, size_t at)
{
    enum { CATEGORIES, FLOW, WRITER, KEYS };
    static const char *const keys[] = {"categories", "flow", "writer_info"};
    static const char *const detail_keys[] = {"kind"};
    size_t found[KEYS], kind;
    bool flow;
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, 2, found);
    if (status == HISTO_OK) status = histo_json_bool(&l->doc, found[FLOW], &flow);
    if (status == HISTO_OK) status = find_details(l, found[WRITER], 1, detail_keys, &kind);
    if (status == HISTO_OK) status = check_array(l, found[CATEGORIES]);
    if (status != HISTO_OK) return status;
    int64_t n = 0;
    double first = 0;
    for (histo_json_walk walk = histo_json_enter(&l->doc, found[CATEGORIES]); histo_json_next(&walk); n++) {
        double category;
        status = histo_json_number(&l->doc, walk.value, &category);
        if (status != HISTO_OK) return status;
        if (n == 0) first = category;
        if (category != first + (double)n || fabs(category) > 0x1p53)
            return FAIL_UNSUPPORTED(walk.value, "integer categories must be consecutive, and within 2^53");
    }
    if (kind && histo_json_is(&l->doc, kind, "batch")) {
        if (l->ndims > 0 || flow || n == 0) return FAIL(at, "the axis of a batch comes first, and has no flow");
        l->batch = n;
        l->dims[l->ndims++] = (dimension){n, 0, n};
        return HISTO_OK;
    }
    histo_axis axis = {.kind = HISTO_INTEGER, .bins = n, .lo = first, .hi = first + (double)n};
    add_dimension(l, at, &axis, false, flow);
    return HISTO_OK;
}

static histo_status read_axis(loader *l, size_t at)
{
    enum { REGULAR, VARIABLE, BOOLEAN, CATEGORY_INT, CATEGORY_STR, TYPES };
    static const char *const types[] = {"regular", "variable", "boolean", "category_int", "category_str"};
    static const char *const keys[] = {"type"};
    size_t type;
    histo_status status = histo_json_find(&l->doc, at, 1, keys, 1, &type);
    if (status != HISTO_OK) return status;
    if (l->naxes == HISTO_MAX_AXES) return FAIL_UNSUPPORTED(at, "there are more than %d axes", HISTO_MAX_AXES);
    int which = choice(l, type, TYPES, types);
    switch (which) {
    case REGULAR:
    case VARIABLE:
        return read_numeric_axis(l, at, which == REGULAR);
    case CATEGORY_INT:
        return read_category_axis(l, at);
    case BOOLEAN: {
        histo_axis axis = histo_axis_integer(0, 2);
        add_dimension(l, at, &axis, false, false);
        return HISTO_OK;
    }
    case CATEGORY_STR:
        return FAIL_UNSUPPORTED(type, "axes of strings are not supported");
    }
    return FAIL(type, "this is no type of axis in schema 1");
}

/* Memory that is not in proportion to the file, because it says a lot in few bytes, must be modest. */
static histo_status check_memory(const loader *l, size_t at, int64_t slots, int64_t bytes_each)
{
    const int64_t modest = INT64_C(64) << 20, per_byte = 8192;
    int64_t limit =
        l->doc.size > (size_t)(INT64_MAX / 2 / per_byte) ? INT64_MAX : modest + (int64_t)l->doc.size * per_byte;
    if (slots <= limit / bytes_each) return HISTO_OK;
    return FAIL(at, "%lld slots are too many for a file of %zu bytes", (long long)slots, l->doc.size);
}

static histo_status read_axes(loader *l, size_t at)
{
    histo_status status = check_array(l, at);
    l->batch = 1;
    for (histo_json_walk walk = histo_json_enter(&l->doc, at); status == HISTO_OK && histo_json_next(&walk);)
        status = read_axis(l, walk.value);
    if (status != HISTO_OK) return status;
    if (l->naxes == 0) return FAIL_UNSUPPORTED(at, "a histogram needs one axis or more");
    int64_t bins, slots;
    const histo_hist_options kind = {l->batch, l->weighting, l->storage};
    status = histo_slots_count(l->naxes, l->axes, &kind, &bins, &slots);
    if (status != HISTO_OK) return blame_file(l, at, status);
    if (l->storage == HISTO_DENSE) status = check_memory(l, at, l->batch * slots, 3 * sizeof(double));
    for (int a = 0; a < l->naxes && status == HISTO_OK; a++)
        status = blame_file(l, l->axis_at[a], histo_axis_check(&l->axes[a]));
    return status;
}

/* ---- Storage ---- */

/* Are all numbers in the array at a position counts? It may hold other things, which are refused later. */
static bool all_counts(const loader *l, size_t at)
{
    size_t end = histo_json_end(&l->doc, at);
    while (at < end) {
        size_t behind = histo_json_number_end(&l->doc, at);
        uint64_t count;
        if (behind && histo_json_count(&l->doc, at, &count) != HISTO_OK) return false;
        at = behind ? behind : at + 1;
    }
    return true;
}

static histo_status read_weighting(loader *l, size_t storage, int type)
{
    l->weighting = HISTO_UNWEIGHTED;
    if (type == STORAGE_WEIGHTED) l->weighting = HISTO_WEIGHT_FAST;
    if (type == STORAGE_DOUBLE && l->values && !all_counts(l, l->values)) l->weighting = HISTO_WEIGHT_FAST;
    size_t at = l->details[WEIGHTING];
    if (!at) return HISTO_OK;
    int weighting = choice(l, at, HISTO_UHI_WEIGHTINGS, histo_uhi_weightings);
    if (weighting < 0) return FAIL(at, "this is no weighting");
    bool squares = histo_has_squares((histo_weighting)weighting);
    if ((weighting == HISTO_UNWEIGHTED) != (type == STORAGE_INT) || (type == STORAGE_WEIGHTED && !squares))
        return FAIL(storage, "the storage does not fit the weighting in writer_info.histo");
    l->weighting = (histo_weighting)weighting;
    return HISTO_OK;
}

/* Find the arrays of the storage, and what is to be made of them. */
static histo_status read_storage(loader *l, size_t at)
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
    size_t found[KEYS];
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, 1, found);
    if (status != HISTO_OK) return status;
    int type = choice(l, found[TYPE], STORAGES, types);
    if (type < 0) return FAIL(found[TYPE], "this is no type of storage in schema 1");
    if (type == STORAGE_MEAN || type == STORAGE_WEIGHTED_MEAN)
        return FAIL_UNSUPPORTED(found[TYPE], "storage of means is not supported");
    if ((found[INDEX] || found[VARIANCES]) && !found[VALUES]) return FAIL(at, "the storage has no \"values\"");
    if (type == STORAGE_WEIGHTED && found[VALUES] && !found[VARIANCES])
        return FAIL(at, "weighted storage has no \"variances\"");
    l->index = found[INDEX];
    l->values = found[VALUES];
    l->variances = type == STORAGE_WEIGHTED ? found[VARIANCES] : 0;
    if (l->storage == HISTO_SPARSE && (type != STORAGE_INT || !l->index != !l->values))
        return FAIL(at, "sparse counts are of type \"int\" and have an \"index\"");
    return read_weighting(l, at, type);
}

static histo_status append(pairs *to, int64_t slot, uint64_t count)
{
    if (to->n == to->room) {
        const int64_t room = to->room ? 2 * to->room : 64;
        const size_t bytes = (size_t)room * sizeof *to->at;
        histo_entry *at = realloc(to->at, bytes);
        if (!at) return histo_fail_memory(bytes, "the occupied slots of a histogram");
        *to = (pairs){to->n, room, at};
    }
    to->at[to->n++] = (histo_entry){(uint64_t)slot, count};
    return HISTO_OK;
}

static histo_status read_value(const loader *l, size_t at, sink to, int64_t slot)
{
    if (to.lane.counts) return histo_json_count(&l->doc, at, &to.lane.counts[slot]);
    if (to.lane.sums) return histo_json_number(&l->doc, at, &to.lane.sums[slot]);
    uint64_t count;
    histo_status status = histo_json_count(&l->doc, at, &count);
    return status == HISTO_OK ? append(to.pairs, slot, count) : status;
}

/* Read a dense array, down from dimension `level`; slot: of the dimensions before. */
static histo_status read_dense(const loader *l, int level, size_t at, sink to, int64_t slot)
{
    if (level == l->ndims) return read_value(l, at, to, slot);
    const dimension *dim = &l->dims[level];
    histo_status status = check_array(l, at);
    if (status != HISTO_OK) return status;
    int64_t i = 0;
    for (histo_json_walk walk = histo_json_enter(&l->doc, at); histo_json_next(&walk); i++) {
        if (i == dim->cells) return FAIL(walk.value, "there are more than %lld values for this axis", (long long)i);
        status = read_dense(l, level + 1, walk.value, to, slot * dim->slots + i + dim->shift);
        if (status != HISTO_OK) return status;
    }
    if (i == dim->cells) return HISTO_OK;
    return FAIL(at, "there are %lld values, not %lld for this axis", (long long)i, (long long)dim->cells);
}

/* Step on in the indices of all dimensions, which together end; -1 for the slot at the end. */
static histo_status next_slot(const loader *l, histo_json_walk *walks, int64_t *slot)
{
    bool more = histo_json_next(&walks[0]);
    *slot = more ? 0 : -1;
    for (int d = 0; d < l->ndims; d++) {
        if (d > 0 && histo_json_next(&walks[d]) != more)
            return FAIL(l->index, "the rows of the index differ in length");
        if (!more) continue;
        const dimension *dim = &l->dims[d];
        uint64_t i;
        histo_status status = histo_json_count(&l->doc, walks[d].value, &i);
        if (status != HISTO_OK) return status;
        if (i >= (uint64_t)dim->cells)
            return FAIL(walks[d].value, "index %" PRIu64 " is not below %lld", i, (long long)dim->cells);
        *slot = *slot * dim->slots + (int64_t)i + dim->shift;
    }
    return HISTO_OK;
}

static histo_status read_sparse(const loader *l, size_t at, sink to)
{
    histo_json_walk walks[HISTO_MAX_AXES + 1];
    int rows = 0;
    histo_status status = check_array(l, l->index);
    histo_json_walk index = histo_json_enter(&l->doc, l->index);
    for (; status == HISTO_OK && rows <= l->ndims && histo_json_next(&index); rows++) {
        if (rows < l->ndims) walks[rows] = histo_json_enter(&l->doc, index.value);
        status = check_array(l, index.value);
    }
    if (status == HISTO_OK && rows != l->ndims) status = FAIL(l->index, "the index should have %d rows", l->ndims);
    if (status == HISTO_OK) status = check_array(l, at);
    if (status != HISTO_OK) return status;
    histo_json_walk values = histo_json_enter(&l->doc, at);
    for (;;) {
        int64_t slot;
        status = next_slot(l, walks, &slot);
        if (status != HISTO_OK) return status;
        bool more = histo_json_next(&values);
        if (more != (slot >= 0)) return FAIL(at, "there are not as many values as the index has");
        if (!more) return HISTO_OK;
        if (!to.pairs && histo_lane_get(to.lane, slot) != 0)
            return FAIL(values.value, "the index has the cell of this value twice");
        status = read_value(l, values.value, to, slot);
        if (status != HISTO_OK) return status;
    }
}

static histo_status read_lane(const loader *l, size_t at, histo_lane lane)
{
    const sink to = {.lane = lane};
    return l->index ? read_sparse(l, at, to) : read_dense(l, 0, at, to, 0);
}

/* Read sparse counts to l->cells, in the order of their slots, which may leave some without a count. */
static histo_status read_cells(loader *l)
{
    histo_status status = l->index ? read_sparse(l, l->values, (sink){.pairs = &l->cells}) : HISTO_OK;
    if (status != HISTO_OK || l->cells.n == 0) return status;
    const size_t bytes = (size_t)l->cells.n * sizeof *l->cells.at;
    histo_entry *room = histo_malloc(bytes);
    if (!room) return histo_fail_memory(bytes, "the occupied slots of a histogram");
    const int64_t n = histo_entries_sort(l->cells.at, l->cells.n, room);
    free(room);
    return n == l->cells.n ? HISTO_OK : FAIL(l->index, "the index has a cell twice");
}

/* The counts of the cells, or where our list has them its own, become those of the histogram. */
static histo_status keep_counts(loader *l)
{
    const pairs *cells = &l->cells, *own = &l->own;
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

/* Provide the histogram, and room for the sums. */
static histo_status prepare(loader *l)
{
    histo_status status =
        histo_hist_make(&l->hist, l->naxes, l->axes, &(histo_hist_options){l->batch, l->weighting, l->storage});
    if (status != HISTO_OK) return status;
    const histo_accumulators *accumulators = &l->hist->accumulators;
    for (int a = 0; a < l->naxes; a++) {
        if (!l->axes[a].edges) continue;
        status = histo_axis_check_kept(&l->hist->axes[a], l->axes[a].edges);
        if (status != HISTO_OK) return blame_file(l, l->axis_at[a], status);
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

static histo_status read_values(loader *l)
{
    if (l->storage == HISTO_SPARSE) return read_cells(l);
    if (!l->values) return HISTO_OK;
    const histo_accumulators *accumulators = &l->hist->accumulators;
    histo_lane counts = {accumulators->counts, NULL};
    if (!l->sums[0].sums) return read_lane(l, l->values, counts);
    histo_status status = read_lane(l, l->values, l->sums[0]);
    if (status != HISTO_OK) return status;
    if (l->variances) return read_lane(l, l->variances, l->sums[1]);
    for (int64_t i = 0; l->sums[1].sums && i < accumulators->batch * accumulators->slots; i++)
        l->sums[1].sums[i] = fabs(l->sums[0].sums[i]);
    return HISTO_OK;
}

/* ---- What the schema has no place for ---- */

static size_t skip_digits(const loader *l, size_t at)
{
    while (l->doc.text[at] >= '0' && l->doc.text[at] <= '9')
        at++;
    return at;
}

/* Read a list of values, as uhi.h describes it, of `size` slots. */
static histo_status read_list(const loader *l, size_t at, sink to, int64_t size)
{
    if (!at) return HISTO_OK;
    const char *text = l->doc.text;
    if (text[at] != '"') return FAIL(at, "a list of values in a string should stand here");
    int64_t next = 0;
    for (at++; text[at] != '"';) {
        size_t digits = skip_digits(l, at);
        if (digits > at && text[digits] == ':') {
            uint64_t index = 0;
            bool fits = true;
            for (size_t i = at; i < digits && fits; i++) {
                fits = index <= (uint64_t)size / 10;
                index = index * 10 + (uint64_t)(text[i] - '0');
                fits = fits && index < (uint64_t)size;
            }
            if (!fits || (int64_t)index < next) return FAIL(at, "the indices do not increase, or leave the histogram");
            next = (int64_t)index;
            at = digits + 1;
        }
        size_t end = histo_json_number_end(&l->doc, at);
        if (!end || next >= size) return FAIL(at, "no value of a list should stand here");
        histo_status status = read_value(l, at, to, next++);
        if (status != HISTO_OK) return status;
        at = end + (text[end] == ',' || text[end] == ' ');
    }
    return HISTO_OK;
}

/* Lists are believed if the cells are those that they were written for. */
static histo_status read_checksum(const loader *l)
{
    size_t at = l->details[CHECKSUM];
    if (!at) {
        for (int i = MASKED; i < DETAILS; i++)
            if (l->details[i]) return FAIL(l->details[i], "writer_info.histo has this list, but no checksum");
        return HISTO_OK;
    }
    const histo_lane counts[2] = {{l->hist->accumulators.counts, NULL}, {NULL, NULL}};
    const histo_list cells = {l->cells.n, l->cells.at};
    char checksum[9];
    snprintf(checksum, sizeof checksum, "%08" PRIx32,
             l->storage == HISTO_SPARSE ? histo_cells_occupied_checksum(&cells)
                                        : histo_cells_checksum(l->hist, l->sums[0].sums ? l->sums : counts));
    if (histo_json_is(&l->doc, at, checksum)) return HISTO_OK;
    return FAIL(at,
                "other software changed the values (their checksum is now %s): remove this checksum and the lists "
                "beside it to load them without",
                checksum);
}

static histo_status read_lists(loader *l)
{
    const histo_accumulators *accumulators = &l->hist->accumulators;
    int64_t all = accumulators->batch * accumulators->slots;
    for (int i = SUM_W; i <= SUM_W2; i++)
        if (l->details[i] && !l->sums[i - SUM_W].sums) return FAIL(l->details[i], "the histogram has no weights");
    const sink masked = {.lane = {accumulators->masked, NULL}}, counts = {{accumulators->counts, NULL}, &l->own};
    histo_status status = read_list(l, l->details[MASKED], masked, accumulators->batch);
    if (status == HISTO_OK) status = read_list(l, l->details[COUNTS], counts, all);
    if (status == HISTO_OK) status = read_list(l, l->details[SUM_W], (sink){.lane = l->sums[0]}, all);
    if (status == HISTO_OK) status = read_list(l, l->details[SUM_W2], (sink){.lane = l->sums[1]}, all);
    return status;
}

static histo_status add_exactly(const loader *l, histo_exact *exact, const double *sums)
{
    histo_exact_windows windows = {0};
    int planes = 0;
    for (int64_t i = 0; i < exact->slots; i++)
        histo_exact_touch(&windows, sums[i]);
    for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
        planes += windows.touched[k];
    histo_status status = check_memory(l, l->values, exact->slots, 1 + planes * (int64_t)sizeof(int64_t));
    if (status == HISTO_OK) status = histo_exact_reserve(exact, &windows, 1);
    for (int64_t i = 0; i < exact->slots && status == HISTO_OK; i++)
        histo_exact_add(exact, i, sums[i]);
    return status;
}

/* ---- All of it ---- */

/* Find the histogram in the document: the one of that name, or the only one. It may also stand alone. */
static histo_status choose(const loader *l, const char *name, size_t *chosen)
{
    static const char *const schema[] = {"uhi_schema"};
    size_t root = histo_json_root(&l->doc), alone, found = 0;
    *chosen = root;
    histo_status status = histo_json_find(&l->doc, root, 1, schema, 0, &alone);
    if (status != HISTO_OK) return status;
    if (alone && name) return histo_fail(HISTO_INVALID, "the file holds one histogram, without a name: ask for none");
    if (alone) return HISTO_OK;
    for (histo_json_walk walk = histo_json_enter(&l->doc, root); histo_json_next(&walk);) {
        if (name && !histo_json_is(&l->doc, walk.key, name)) continue;
        if (found && name) return FAIL(walk.key, "the name of this histogram is here twice");
        if (found) return histo_fail(HISTO_INVALID, "the file holds several histograms: choose one by its name");
        found = walk.value;
    }
    *chosen = found;
    if (found) return HISTO_OK;
    if (name) return histo_fail(HISTO_INVALID, "the file holds no histogram named \"%.200s\"", name);
    return FAIL(root, "the file holds no histogram");
}

static histo_status read_histogram(loader *l, size_t at)
{
    enum { SCHEMA, AXES, STORAGE, WRITER, KEYS };
    static const char *const keys[] = {"uhi_schema", "axes", "storage", "writer_info"};
    static const char *const details[] = {
        [WEIGHTING] = "weighting", [STORED] = "storage", [CHECKSUM] = "checksum", [MASKED] = "masked",
        [COUNTS] = "counts",       [SUM_W] = "sum_w",    [SUM_W2] = "sum_w2",
    };
    size_t found[KEYS];
    double schema;
    histo_status status = histo_json_find(&l->doc, at, KEYS, keys, WRITER, found);
    if (status == HISTO_OK) status = histo_json_number(&l->doc, found[SCHEMA], &schema);
    if (status != HISTO_OK) return status;
    if (schema != 1) return FAIL_UNSUPPORTED(found[SCHEMA], "only schema 1 is supported");
    status = find_details(l, found[WRITER], DETAILS, details, l->details);
    if (status == HISTO_OK && l->details[STORED]) {
        if (!histo_json_is(&l->doc, l->details[STORED], "sparse"))
            return FAIL(l->details[STORED], "this is no storage");
        l->storage = HISTO_SPARSE;
    }
    if (status == HISTO_OK) status = read_axes(l, found[AXES]);
    if (status == HISTO_OK) status = read_storage(l, found[STORAGE]);
    if (status == HISTO_OK) status = prepare(l);
    if (status == HISTO_OK) status = read_values(l);
    if (status == HISTO_OK) status = read_checksum(l);
    if (status == HISTO_OK) status = read_lists(l);
    if (status == HISTO_OK && l->storage == HISTO_SPARSE) status = keep_counts(l);
    histo_exact *const exact[] = {l->hist ? l->hist->accumulators.exact_w : NULL,
                                  l->hist ? l->hist->accumulators.exact_w2 : NULL};
    for (int s = 0; s < 2 && exact[s] && status == HISTO_OK; s++)
        status = add_exactly(l, exact[s], l->sums[s].sums);
    return status;
}

static histo_status load(loader *l, const char *name)
{
    size_t at;
    histo_status status = histo_json_check(&l->doc);
    if (status == HISTO_OK) status = choose(l, name, &at);
    return status == HISTO_OK ? read_histogram(l, at) : status;
}

histo_status histo_uhi_load(const char *text, size_t size, const char *name, histo_hist **hist)
{
    loader l = {.doc = {text, size}};
    histo_c_locale locale;
    histo_status status = histo_c_locale_begin(&locale);
    if (status != HISTO_OK) return status;
    status = load(&l, name);
    histo_c_locale_end(&locale);
    for (int a = 0; a < l.naxes; a++)
        free((void *)l.axes[a].edges);
    free(l.own_sums);
    free(l.cells.at);
    free(l.own.at);
    if (status == HISTO_OK)
        *hist = l.hist;
    else
        histo_hist_destroy(l.hist);
    return status;
}
