/* Matching and landmarks: piecewise linear functions of the cumulative distribution or of the sample, evaluated at the
 * entries of tables. */
#include <math.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "map/map.h"
#include "numbers/occupied.h"
#include "table/polyline.h"

static histo_status polyline_make(histo_polyline *c, int64_t room)
{
    *c = (histo_polyline){.x = histo_malloc(2 * (size_t)room * sizeof(double))};
    if (!c->x) return histo_fail_memory(2 * (size_t)room * sizeof(double), "the points of a transfer");
    c->y = c->x + room;
    return HISTO_OK;
}

/* ---- Matching ---- */

/* The values of the reference over its cumulative shares, at its occupied bins or at its edges. */
static void add_reference(histo_polyline *c, const histo_axis *axis, const histo_levels *levels, histo_within within,
                          histo_pace *pace)
{
    uint64_t sum = 0;
    c->n = 0;
    if (within == HISTO_MAP_LINEAR) {
        c->x[0] = 0;
        c->y[c->n++] = histo_edge_at(axis, levels->bin[0]);
    }
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++) {
        const int64_t bin = levels->bin[i];
        if (within == HISTO_MAP_LINEAR && i > 0 && bin > levels->bin[i - 1] + 1) { /* no share between two edges */
            c->x[c->n] = c->x[c->n - 1];
            c->y[c->n++] = histo_edge_at(axis, bin);
        }
        sum += levels->count[i];
        c->x[c->n] = (double)sum / (double)levels->total;
        c->y[c->n++] = within == HISTO_MAP_LINEAR ? histo_edge_at(axis, bin + 1) : histo_bin_value(axis, bin);
    }
}

/* A table from the levels of the source and the reference's curve. */
static void match_table(const histo_map *map, const histo_levels *source, const histo_polyline *reference,
                        double *table, histo_pace *pace)
{
    uint64_t sum = 0;
    int64_t next = 0, point = 0;
    for (int64_t i = histo_map_first(map); i <= histo_map_last(map) && histo_goes_on(pace, 1); i++) {
        for (; next < source->n && source->bin[next] < i; next++)
            sum += source->count[next];
        table[i] = histo_polyline_next(reference, (double)sum / (double)source->total, &point);
    }
    histo_map_set_flow(map, table);
}

histo_status histo_map_match(histo_map *map, const histo_hist *hist, const histo_hist *reference, void *stream)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_map_check_source(map, hist, true);
    if (status == HISTO_OK) status = histo_numbers_check(reference, 1, reference, "reference");
    if (status != HISTO_OK) return status;
    const histo_axis axis = histo_hist_axis(reference, 0);
    if (!histo_axis_is_ordinary(&axis))
        return histo_fail(HISTO_INVALID, "a reference takes finite edges that increase");
    const int64_t batch = histo_hist_batch(reference);
    if (batch != 1 && batch != map->batch)
        return histo_fail(HISTO_INVALID, "the map has %lld tables, the reference a batch of %lld",
                          (long long)map->batch, (long long)batch);
    bool made;
    const histo_making making = {.by = HISTO_MAKE_MATCHED, .options.stream = stream};
    status = histo_map_make_there(map, hist, reference, &making, &made);
    if (status != HISTO_OK || made) return status;
    histo_occupied sources, references = {0};
    histo_polyline c = {0};
    histo_levels source = {0}, model = {0};
    status = histo_occupied_read(&sources, hist, HISTO_BINS);
    if (status == HISTO_OK) status = histo_occupied_read(&references, reference, HISTO_BINS);
    if (status == HISTO_OK) status = polyline_make(&c, 2 * references.size + 2);
    const size_t bytes = (size_t)histo_map_size(map) * sizeof(double);
    double *values = status == HISTO_OK ? histo_malloc(bytes) : NULL; /* a failure leaves the map's as they are */
    if (status == HISTO_OK && !values) status = histo_fail_memory(bytes, "the values of a map");
    histo_pace pace = {.stage = "matching", .all = sources.size + 2 * references.size + map->batch * map->length};
    for (int64_t b = 0; b < map->batch && status == HISTO_OK; b++) {
        if (b == 0 || histo_hist_batch(hist) > 1) source = histo_occupied_next(&sources, &pace);
        if (b == 0 || batch > 1) model = histo_occupied_next(&references, &pace);
        status = pace.status;
        if (status == HISTO_OK && (source.total == 0 || model.total == 0))
            status = histo_fail(HISTO_INVALID, "histogram %lld has no counts in bins", (long long)b);
        if (status != HISTO_OK) break;
        add_reference(&c, &axis, &model, map->within, &pace);
        match_table(map, &source, &c, values + b * map->length, &pace);
        status = pace.status;
    }
    histo_free(c.x);
    histo_occupied_release(&sources);
    histo_occupied_release(&references);
    if (status != HISTO_OK) {
        histo_free(values);
        return status;
    }
    histo_free(map->values);
    map->values = values;
    histo_map_changed(map);
    return HISTO_OK;
}

/* ---- Landmarks ---- */

static histo_status check_landmarks(int n, const double *q, const double *target)
{
    if (n < 2) return histo_fail(HISTO_INVALID, "n is %d landmarks: give 2 or more", n);
    if (!q || !target) return histo_fail(HISTO_INVALID, "q or target is NULL");
    for (int k = 0; k < n; k++)
        if (!isfinite(target[k]))
            return histo_fail(HISTO_INVALID, "target[%d] is %.17g: give finite values", k, target[k]);
    for (int k = 0; k < n; k++)
        if (!(q[k] >= 0 && q[k] <= 1)) return histo_fail(HISTO_INVALID, "quantile %.17g is not in 0 to 1", q[k]);
    for (int k = 1; k < n; k++)
        if (!(q[k - 1] < q[k])) return histo_fail(HISTO_INVALID, "the quantiles do not increase");
    return HISTO_OK;
}

histo_status histo_map_landmarks(histo_map *map, const histo_hist *hist, int n, const double *q, const double *target,
                                 bool extend, void *stream)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_map_check_source(map, hist, true);
    if (status == HISTO_OK) status = check_landmarks(n, q, target);
    if (status != HISTO_OK) return status;
    const histo_making making = {
        .by = HISTO_MAKE_LANDMARKS, .options.stream = stream, .n = n, .q = q, .target = target, .extend = extend};
    bool made;
    status = histo_map_make_there(map, hist, NULL, &making, &made);
    if (status != HISTO_OK || made) return status;
    const int64_t batch = histo_hist_batch(hist);
    double *values = histo_malloc((size_t)(batch * n) * sizeof *values);
    if (!values) return histo_fail_memory((size_t)(batch * n) * sizeof *values, "landmarks");
    status = histo_hist_quantiles(hist, HISTO_QUANTILE_LINEAR, n, q, values);
    for (int64_t i = 0; i < batch * n && status == HISTO_OK; i++)
        if (!isfinite(values[i]))
            status = histo_fail(HISTO_INVALID, "quantile %.17g of histogram %lld is not in a bin", q[i % n],
                                (long long)(i / n));
    histo_polyline c = {0};
    if (status == HISTO_OK) status = polyline_make(&c, n);
    for (int64_t b = 0; b < map->batch && status == HISTO_OK; b++) {
        double *table = map->values + b * map->length;
        histo_polyline_through(&c, values + (batch > 1 ? b * n : 0), target, n, extend);
        int64_t point = 0;
        for (int64_t i = histo_map_first(map); i <= histo_map_last(map); i++)
            table[i] = histo_polyline_next(&c, histo_map_entry_value(map, i), &point);
        histo_map_set_flow(map, table);
    }
    histo_free(c.x);
    histo_free(values);
    if (status == HISTO_OK) histo_map_changed(map);
    return status;
}
