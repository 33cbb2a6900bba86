/* Writing the JSON of the Unified Histogram Interface. */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/locale.h"
#include "base/memory.h"
#include "counts/saved/json.h"
#include "counts/saved/uhi.h"
#include "counts/saved/uhi_cells.h"

/* Counts, sums of weights, and sums of their squares. */
enum { COUNTS, SUM_W, SUM_W2, LANES };

enum { A_NUMBER = 16 }; /* nanoseconds that writing a number takes, at least */

const char *const histo_uhi_kinds[HISTO_UHI_KINDS] = {
    [HISTO_INTEGER] = "integer", [HISTO_REGULAR] = "regular", [HISTO_VARIABLE] = "variable",
    [HISTO_LOG] = "log",         [HISTO_SQRT] = "sqrt",       [HISTO_POWER] = "power",
};
const char *const histo_uhi_weightings[HISTO_UHI_WEIGHTINGS] = {
    [HISTO_UNWEIGHTED] = "unweighted",
    [HISTO_WEIGHT_FAST] = "fast",
    [HISTO_WEIGHT_REPRODUCIBLE] = "reproducible",
    [HISTO_WEIGHT_FAST_SUM] = "fast-sum",
    [HISTO_WEIGHT_REPRODUCIBLE_SUM] = "reproducible-sum",
};

const char *histo_axis_kind_name(histo_axis_kind kind)
{
    return (unsigned)kind < HISTO_UHI_KINDS ? histo_uhi_kinds[kind] : NULL;
}

const char *histo_weighting_name(histo_weighting weighting)
{
    return (unsigned)weighting < HISTO_UHI_WEIGHTINGS ? histo_uhi_weightings[weighting] : NULL;
}

/* in_list: within a string, whose readers accept NaN, which JSON lacks. */
static void put_value(histo_bytes *out, bool sum, uint64_t bits, bool in_list)
{
    const double value = histo_double_of(bits);
    if (sum && in_list && value != value)
        histo_bytes_print(out, "NaN");
    else if (sum)
        histo_json_put_number(out, value);
    else
        histo_bytes_print(out, "%" PRIu64, bits);
}

/* ---- Axes ---- */

static const char *word(bool is_true)
{
    return is_true ? "true" : "false";
}

static void put_batch_axis(histo_bytes *out, int64_t batch)
{
    histo_bytes_print(out, "\n      {\"type\": \"category_int\", \"categories\": [");
    for (int64_t b = 0; b < batch; b++)
        histo_bytes_print(out, "%s%" PRId64, b ? "," : "", b);
    histo_bytes_print(out, "], \"flow\": false, \"writer_info\": {\"histo\": {\"kind\": \"batch\"}}},");
}

/* flow: whether there are cells for underflow and overflow. */
static void put_axis(histo_bytes *out, const histo_axis *axis, const bool flow[2])
{
    if (axis->edges) {
        histo_bytes_print(out, "\n      {\"type\": \"variable\", \"edges\": ");
        for (int64_t i = 0; i <= axis->bins && !histo_bytes_ends(out, A_NUMBER); i++) {
            histo_bytes_put(out, i ? "," : "[", 1);
            if (axis->edge_type == HISTO_EDGES_I64)
                histo_bytes_print(out, "%" PRId64, ((const int64_t *)axis->edges)[i]);
            else if (axis->edge_type == HISTO_EDGES_U64)
                histo_bytes_print(out, "%" PRIu64, ((const uint64_t *)axis->edges)[i]);
            else
                histo_json_put_number(out, ((const double *)axis->edges)[i]);
        }
        histo_bytes_print(out, "]");
    } else {
        histo_bytes_print(out, "\n      {\"type\": \"regular\", \"lower\": ");
        histo_json_put_number(out, axis->lo);
        histo_bytes_print(out, ", \"upper\": ");
        histo_json_put_number(out, axis->hi);
        histo_bytes_print(out, ", \"bins\": %" PRId64, axis->bins);
    }
    histo_bytes_print(out, ", \"underflow\": %s, \"overflow\": %s, \"circular\": false,\n", word(flow[0]),
                      word(flow[1]));
    histo_bytes_print(out, "       \"writer_info\": {\"histo\": {\"kind\": \"%s\"", histo_uhi_kinds[axis->kind]);
    if (axis->kind == HISTO_POWER) {
        histo_bytes_print(out, ", \"power\": ");
        histo_json_put_number(out, axis->power);
    }
    histo_bytes_print(out, "%s}}}", axis->closed ? ", \"closed\": true" : "");
}

static void put_axes(histo_bytes *out, const histo_hist *hist, const bool (*flow)[2])
{
    static const bool both[2] = {true, true};
    histo_bytes_print(out, "    \"axes\": [");
    if (hist->accumulators.batch > 1) put_batch_axis(out, hist->accumulators.batch);
    for (int a = 0; a < hist->naxes; a++) {
        if (a) histo_bytes_put(out, ",", 1);
        put_axis(out, &hist->axes[a], flow ? flow[a] : both);
    }
    histo_bytes_print(out, "\n    ],\n");
}

/* ---- Storage ---- */

/* The number of arrays (of the innermost axis, the next, …) that begin, or end, at the cell. */
static int brackets(const histo_cell *cell, bool end)
{
    int n = 0;
    for (int a = cell->hist->naxes - 1; a >= 0; a--, n++)
        if (cell->at[a] != (end ? cell->hist->axes[a].bins + HISTO_CELLS - 1 : 0)) return n;
    int64_t batch = cell->hist->accumulators.batch;
    return n + (batch > 1 && cell->entry == (end ? batch - 1 : 0));
}

static void put_lane(histo_bytes *out, const histo_hist *hist, const char *key, histo_lane lane)
{
    histo_bytes_print(out, ",\n      \"%s\": ", key);
    histo_cell cell = {hist, HISTO_CELLS, 0, {0}};
    bool first = true;
    do {
        int begins = brackets(&cell, false), ends = brackets(&cell, true);
        if (!first) histo_bytes_print(out, begins ? ",\n      " : ",");
        first = false;
        while (begins-- > 0)
            histo_bytes_put(out, "[", 1);
        put_value(out, lane.sums, histo_lane_cell(lane, &cell), false);
        while (ends-- > 0)
            histo_bytes_put(out, "]", 1);
    } while (!histo_bytes_ends(out, A_NUMBER) && histo_cell_next(&cell));
}

/* Sparse counts: the cells' indices on each axis, then their values. */
static void put_occupied(histo_bytes *out, const histo_hist *hist, const histo_list *cells)
{
    const bool batch = hist->accumulators.batch > 1;
    uint64_t stride = (uint64_t)(hist->accumulators.batch * hist->accumulators.slots);
    for (int a = batch ? -1 : 0; a < hist->naxes; a++) {
        const uint64_t extent = (uint64_t)(a < 0 ? hist->accumulators.batch : hist->axes[a].bins + 3);
        stride /= extent;
        histo_bytes_print(out, a < 0 || (!batch && a == 0) ? ",\n      \"index\": [[" : "],\n      [");
        for (int64_t i = 0; i < cells->n && !histo_bytes_ends(out, A_NUMBER); i++)
            histo_bytes_print(out, "%s%" PRIu64, i ? "," : "", cells->entries[i].slot / stride % extent);
    }
    histo_bytes_print(out, "]],\n      \"values\": [");
    for (int64_t i = 0; i < cells->n && !histo_bytes_ends(out, A_NUMBER); i++)
        histo_bytes_print(out, "%s%" PRIu64, i ? "," : "", cells->entries[i].count);
    histo_bytes_print(out, "]");
}

/* ---- writer_info ---- */

/* A list of values by index in writer_info; omitted if empty. */
typedef struct list {
    histo_bytes *out;
    const char *key;
    bool sums;
    int64_t next; /* the index that would continue the run; 0 before the first value */
} list;

static void list_add(list *l, int64_t index, uint64_t value)
{
    if (l->next == 0) histo_bytes_print(l->out, ", \"%s\": \"", l->key);
    if (l->next == 0 || l->next != index)
        histo_bytes_print(l->out, "%s%" PRId64 ":", l->next ? " " : "", index);
    else
        histo_bytes_put(l->out, ",", 1);
    put_value(l->out, l->sums, value, true);
    l->next = index + 1;
}

static void list_end(const list *l)
{
    if (l->next) histo_bytes_put(l->out, "\"", 1);
}

/* Whether the storage has a cell for a slot. */
static bool has_cell(const histo_cell *place, const bool (*flow)[2])
{
    bool has = !histo_cell_is_nan(place);
    for (int a = 0; flow && a < place->hist->naxes && has; a++)
        has = (place->at[a] > 0 || flow[a][0]) && (place->at[a] <= place->hist->axes[a].bins || flow[a][1]);
    return has;
}

/* Whether a slot is a bin on every axis, hence a cell of its own. */
static bool is_bin(const histo_cell *place)
{
    bool is = true;
    for (int a = 0; a < place->hist->naxes; a++)
        is = is && place->at[a] > 0 && place->at[a] <= place->hist->axes[a].bins;
    return is;
}

/* List the slots whose values a reader cannot derive from the storage. stored: the storage contains the lane. */
static void put_unstored(histo_bytes *out, const histo_hist *hist, const bool (*flow)[2], const char *key,
                         histo_lane lane, bool stored)
{
    list l = {out, key, lane.sums, 0};
    histo_cell place = {hist, HISTO_ALL_SLOTS, 0, {0}};
    do {
        if (stored && is_bin(&place)) {
            place.at[hist->naxes - 1] = hist->axes[hist->naxes - 1].bins; /* skip the rest of the row, which is all
                                                                           * bins */
            continue;
        }
        int64_t slot = histo_cell_slot(&place);
        uint64_t value = histo_lane_get(lane, slot);
        uint64_t assumed = stored && has_cell(&place, flow) ? histo_lane_cell(lane, &place) : 0;
        if (value != assumed) list_add(&l, slot, value);
    } while (!histo_bytes_ends(out, A_NUMBER) && histo_cell_next(&place));
    list_end(&l);
}

/* Write sparse counts, which the storage keeps by cell. */
static void put_unstored_occupied(histo_bytes *out, const histo_hist *hist, const histo_list *cells)
{
    const histo_list all = histo_sparse_all(hist->accumulators.sparse);
    list l = {out, "counts", false, 0};
    for (int64_t i = 0, c = 0; (i < all.n || c < cells->n) && !histo_bytes_ends(out, A_NUMBER);) {
        const uint64_t slot = i < all.n ? all.entries[i].slot : UINT64_MAX;
        const uint64_t cell = c < cells->n ? cells->entries[c].slot : UINT64_MAX;
        const uint64_t value = slot <= cell ? all.entries[i++].count : 0;
        const uint64_t assumed = cell <= slot ? cells->entries[c++].count : 0;
        if (value != assumed) list_add(&l, (int64_t)(slot < cell ? slot : cell), value);
    }
    list_end(&l);
}

static void put_masked(histo_bytes *out, const histo_hist *hist)
{
    list masked = {out, "masked", false, 0};
    for (int64_t b = 0; b < hist->accumulators.batch; b++)
        if (hist->accumulators.masked[b]) list_add(&masked, b, hist->accumulators.masked[b]);
    list_end(&masked);
}

static void put_writer(histo_bytes *out, const histo_hist *hist)
{
    if (hist->metadata) {
        histo_bytes_print(out, ",\n    \"metadata\": ");
        histo_bytes_put(out, hist->metadata, strlen(hist->metadata));
    }
    histo_bytes_print(out, ",\n    \"writer_info\": {\"histo\": {\"version\": \"%s\", \"weighting\": \"%s\"",
                      histo_version(), histo_uhi_weightings[hist->weighting]);
    if (hist->name && strcmp(hist->name, HISTO_UHI_NAMELESS) == 0) histo_bytes_print(out, ", \"named\": true");
    if (hist->accumulators.sparse) histo_bytes_print(out, ", \"storage\": \"sparse\"");
    put_masked(out, hist);
}

static void put_checksum(histo_bytes *out, const histo_hist *hist, const histo_lane lanes[LANES])
{
    uint32_t checksum;
    if (!out->failed && histo_cells_checksum(hist, lanes, &checksum) != HISTO_OK) out->failed = out->cancelled = true;
    if (!out->failed) histo_bytes_print(out, ", \"checksum\": \"%08" PRIx32 "\"}}", checksum);
}

static void put_writer_info(histo_bytes *out, const histo_hist *hist, const bool (*flow)[2],
                            const histo_lane lanes[LANES])
{
    put_writer(out, hist);
    put_unstored(out, hist, flow, "counts", lanes[COUNTS], !lanes[SUM_W].sums);
    if (lanes[SUM_W].sums) put_unstored(out, hist, flow, "sum_w", lanes[SUM_W], true);
    if (lanes[SUM_W2].sums) put_unstored(out, hist, flow, "sum_w2", lanes[SUM_W2], true);
    put_checksum(out, hist, lanes);
}

/* ---- Documents ---- */

static void put_beginning(histo_bytes *out, const histo_hist *hist, const bool (*flow)[2], const char *name,
                          const char *type)
{
    histo_bytes_print(out, "{\n  ");
    histo_json_put_string(out, name);
    histo_bytes_print(out, ": {\n    \"uhi_schema\": 1,\n");
    put_axes(out, hist, flow);
    histo_bytes_print(out, "    \"storage\": {\n      \"type\": \"%s\"", type);
}

static void put_dense(histo_bytes *out, const histo_hist *hist, const bool (*flow)[2], const char *name,
                      const histo_lane lanes[LANES])
{
    const bool weighted = lanes[SUM_W].sums;
    put_beginning(out, hist, flow, name, lanes[SUM_W2].sums ? "weighted" : weighted ? "double" : "int");
    if (!flow) put_lane(out, hist, "values", lanes[weighted ? SUM_W : COUNTS]);
    if (!flow && lanes[SUM_W2].sums) put_lane(out, hist, "variances", lanes[SUM_W2]);
    histo_bytes_print(out, "\n    }");
    put_writer_info(out, hist, flow, lanes);
    histo_bytes_print(out, "\n  }\n}\n");
}

static histo_status save_sparse(const histo_hist *hist, const char *name, histo_bytes *out)
{
    histo_list cells;
    histo_status status = histo_cells_occupied(hist, &cells);
    if (status != HISTO_OK) return status;
    put_beginning(out, hist, NULL, name, "int");
    put_occupied(out, hist, &cells);
    histo_bytes_print(out, "\n    }");
    put_writer(out, hist);
    put_unstored_occupied(out, hist, &cells);
    const histo_lane none[3] = {{NULL, NULL}};
    put_checksum(out, hist, none);
    histo_bytes_print(out, "\n  }\n}\n");
    histo_list_free(&cells);
    return HISTO_OK;
}

/* The lanes that a dense histogram is saved as. *rounded: reproducible sums, freed by the caller. */
static histo_status lanes_of(const histo_hist *hist, histo_lane lanes[LANES], double **rounded)
{
    const histo_accumulators *accumulators = &hist->accumulators;
    const int64_t all = accumulators->batch * accumulators->slots;
    lanes[COUNTS] = (histo_lane){accumulators->counts, NULL};
    lanes[SUM_W] = (histo_lane){NULL, accumulators->sum_w};
    lanes[SUM_W2] = (histo_lane){NULL, accumulators->sum_w2};
    *rounded = NULL;
    if (!accumulators->exact_w) return HISTO_OK;
    double *sums = *rounded = histo_calloc((size_t)all, 2 * sizeof *sums);
    if (!sums) return histo_fail_memory((size_t)all * 2 * sizeof *sums, "saving sums of weights");
    lanes[SUM_W].sums = sums;
    if (accumulators->exact_w2) lanes[SUM_W2].sums = sums + all;
    return histo_hist_read_weights(hist, HISTO_FLOW, sums, lanes[SUM_W2].sums, all, NULL);
}

static histo_status save_dense(const histo_hist *hist, const bool (*flow)[2], const char *name, histo_bytes *out)
{
    histo_lane lanes[LANES];
    double *rounded;
    const histo_status status = lanes_of(hist, lanes, &rounded);
    if (status == HISTO_OK) put_dense(out, hist, flow, name, lanes);
    histo_free(rounded);
    return status;
}

histo_status histo_uhi_save(const histo_hist *hist, const bool (*flow)[2], const char *name, histo_bytes *out)
{
    if (!name) name = hist->name ? hist->name : HISTO_UHI_NAMELESS;
    histo_c_locale locale;
    histo_status status = histo_check_name(name);
    if (status == HISTO_OK) status = histo_c_locale_begin(&locale);
    if (status != HISTO_OK) return status;
    status = hist->accumulators.sparse ? save_sparse(hist, name, out) : save_dense(hist, flow, name, out);
    histo_c_locale_end(&locale);
    return status;
}
