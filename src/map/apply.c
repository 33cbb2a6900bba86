/* Applying a map on the CPU: samples in blocks, and their results. With tiles, blocks are rows of patches, whose
 * samples have the same tables around them. */
#include <string.h>

#include "base/floats.h"
#include "base/threads/pool.h"
#include "cpu/backend/backend.h"
#include "map/blend.h"
#include "map/results.h"
#include "map/samples.h"
#include "view/view.h"

/* One thread's memory: samples, contiguous and aligned, and what becomes of them. */
typedef struct block {
    _Alignas(64) histo_gathered gathered;
    _Alignas(64) char mask[HISTO_BLOCK * sizeof(double)];
    _Alignas(64) char results[HISTO_BLOCK * sizeof(double)];
    uint8_t unmasked[HISTO_BLOCK];
    histo_results_block of_results;
} block;

typedef struct application {
    const histo_map *map;
    bool shared; /* a table, or those of all tiles, by all batch entries */
    histo_dtype out;
    histo_map_lookup lookup;
    histo_map_results results;                     /* without tiles */
    histo_blend blend;                             /* with tiles: */
    int64_t tables;                                /* of a batch entry */
    int operands;                                  /* samples of each axis, results, and the mask if there is one */
    histo_strided_iter iter;                       /* over the operands, without tiles */
    const histo_view *operand[HISTO_MAX_AXES + 2]; /* their views, with tiles */
    int64_t samples;
    int threads;
    block *blocks;        /* [threads] */
    histo_patch *patches; /* [threads] with tiles */
} application;

static histo_status check(const histo_map *map, const histo_view *views, const histo_view *out, const histo_grid *grid,
                          const histo_apply_options *o)
{
    histo_status status = histo_map_check_samples(map, views, o);
    if (status == HISTO_OK) status = histo_map_check_view(out, &views[0], "results");
    if (status == HISTO_OK) status = histo_grid_check(grid, &views[0]);
    if (status != HISTO_OK) return status;
    const int64_t tiles = histo_tiles_in(&grid->tiles), batch = histo_view_batch(&views[0]);
    if (map->batch == tiles || (map->batch % tiles == 0 && map->batch / tiles == batch)) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the map has %lld tables; %lld are needed, or as many for each of %lld entries",
                      (long long)map->batch, (long long)tiles, (long long)batch);
}

/* ---- Blocks ---- */

/* Where samples of all operands are, and how far apart. */
typedef struct place {
    const char *at[HISTO_MAX_AXES + 2];
    int64_t stride[HISTO_MAX_AXES + 2];
} place;

/* Where results may be written at once: their place, or memory for histo_store. */
static void *place_of_results(const application *app, const place *p, block *b)
{
    const int out = app->map->naxes;
    const bool at_once =
        app->operands == out + 1 && histo_map_is_contiguous(p->at[out], p->stride[out], histo_dtype_size(app->out));
    return at_once ? (void *)p->at[out] : b->results;
}

/* Copy results of a constant size to where they belong, if they are kept. */
static inline void scatter(const char *results, size_t size, int n, const uint8_t *unmasked, char *to, int64_t stride)
{
    if (unmasked)
        for (int i = 0; i < n; i++) {
            if (unmasked[i]) memcpy(to + i * stride, results + (size_t)i * size, size);
        }
    else
        for (int i = 0; i < n; i++)
            memcpy(to + i * stride, results + (size_t)i * size, size);
}

/* Store results that are not in their place, except where the mask is zero. */
static void store(const application *app, const place *p, int n, block *b, const void *results)
{
    const int out = app->map->naxes, mask = out + 1;
    if (results == p->at[out]) return;
    const uint8_t *unmasked = NULL;
    if (app->operands > mask) {
        const histo_dtype dtype = app->operand[mask]->dtype;
        const void *masked = histo_map_contiguous(p->at[mask], p->stride[mask], histo_dtype_size(dtype), n, b->mask);
        histo_cpu_kernels_usable()->keep_nonzero(dtype, masked, n, false, b->unmasked);
        unmasked = b->unmasked;
    }
    char *to = (char *)p->at[out];
    switch (histo_dtype_size(app->out)) {
    case 1:
        scatter(results, 1, n, unmasked, to, p->stride[out]);
        break;
    case 2:
        scatter(results, 2, n, unmasked, to, p->stride[out]);
        break;
    case 4:
        scatter(results, 4, n, unmasked, to, p->stride[out]);
        break;
    default:
        scatter(results, 8, n, unmasked, to, p->stride[out]);
        break;
    }
}

/* ---- Without tiles ---- */

/* How many samples to map at once: many where they need no memory of this thread. */
static int64_t samples_at_once(const application *app)
{
    enum { MANY = 1 << 16 };
    const int last = app->iter.ndim - 1, out = app->map->naxes;
    bool many = app->operands == out + 1 && app->results.by >= HISTO_BY_PATTERN;
    for (int o = 0; o < app->operands && many; o++) {
        const size_t size = histo_dtype_size(o == out ? app->out : app->lookup.dtypes[o]);
        many = histo_map_is_contiguous(app->iter.base[o], app->iter.strides[o][last], size);
        for (int d = 0; d < last; d++)
            many &= app->iter.strides[o][d] % (int64_t)size == 0;
    }
    return many ? MANY : HISTO_BLOCK;
}

static void apply_range(const application *app, int64_t begin, int64_t end, block *b)
{
    const int last = app->iter.ndim - 1;
    histo_walk walk;
    histo_run run;
    histo_pool_work *const work = histo_pool_stoppable();
    for (histo_walk_start(&walk, &app->iter, begin, end, samples_at_once(app)); histo_walk_next(&walk, &run);) {
        if (histo_pool_stops(work, run.n, end - begin - walk.left, end - begin)) return;
        place p;
        for (int o = 0; o < app->operands; o++) {
            p.at[o] = run.at[o];
            p.stride[o] = app->iter.strides[o][last];
        }
        const void *samples[HISTO_MAX_AXES];
        histo_map_gather(app->map->naxes, app->lookup.dtypes, p.at, p.stride, (int)run.n, b->gathered, samples);
        void *to = place_of_results(app, &p, b);
        histo_map_results_of(&app->results, app->shared ? 0 : run.batch, samples, (int)run.n, &b->of_results, to);
        store(app, &p, (int)run.n, b, to);
    }
}

/* ---- With tiles ---- */

/* Samples of `rows` rows, `columns` of each, from an index on. */
static void apply_patch(const application *app, const int64_t *index, int64_t rows, int columns, block *b,
                        histo_patch *patch)
{
    const int ndim = app->operand[0]->ndim;
    place p;
    for (int o = 0; o < app->operands; o++) {
        p.at[o] = app->operand[o]->data;
        p.stride[o] = app->operand[o]->strides[ndim - 1];
        for (int d = 0; d < ndim; d++)
            p.at[o] += index[d] * app->operand[o]->strides[d];
    }
    for (int64_t row = 0; row < rows; row++) {
        const void *samples[HISTO_MAX_AXES];
        histo_map_gather(app->map->naxes, app->lookup.dtypes, p.at, p.stride, columns, b->gathered, samples);
        void *to = place_of_results(app, &p, b);
        histo_patch_blend(patch, ndim > 1 ? index[ndim - 2] + row : 0, samples, columns, app->out, to);
        store(app, &p, columns, b, to);
        for (int o = 0; o < app->operands && ndim > 1; o++)
            p.at[o] += app->operand[o]->strides[ndim - 2];
    }
}

/* Samples from an index on to column `end`, in as many rows. */
static void apply_rows(const application *app, int64_t *index, int64_t end, int64_t rows, block *b, histo_patch *patch)
{
    const histo_view *view = app->operand[0];
    const histo_grid *grid = &app->blend.grid;
    const int last = view->ndim - 1, first = view->ndim - grid->tiles.ndim;
    int64_t entry = 0;
    for (int d = 0; d < view->batch_ndim; d++)
        entry = entry * view->shape[d] + index[d];
    const int64_t begin = index[last], table = app->shared ? 0 : entry * app->tables;
    while (index[last] < end) {
        const int64_t limit = end - index[last] < HISTO_BLOCK ? end - index[last] : HISTO_BLOCK;
        const int columns = (int)histo_same_neighbours(grid, grid->tiles.ndim - 1, index[last], limit);
        if (histo_stops("mapping", columns * rows, 0, 0)) return;
        histo_patch_enter(patch, table, index + first, columns, rows);
        apply_patch(app, index, rows, columns, b, patch);
        index[last] += columns;
    }
    index[last] = begin;
}

/* Rows from an index on that have the same tables around them, at most as many as begin with `left` samples. */
static int64_t rows_alike(const application *app, const int64_t *index, int64_t left)
{
    const histo_view *view = app->operand[0];
    const histo_grid *grid = &app->blend.grid;
    const int last = view->ndim - 1;
    if (index[last] > 0 || left < view->shape[last] || last == view->batch_ndim) return 1;
    const int64_t below = view->shape[last - 1] - index[last - 1], whole = left / view->shape[last];
    const int64_t limit = below < whole ? below : whole;
    return grid->tiles.ndim > 1 ? histo_same_neighbours(grid, grid->tiles.ndim - 2, index[last - 1], limit) : limit;
}

static void apply_tiles(const application *app, int64_t begin, int64_t end, block *b, histo_patch *patch)
{
    const histo_view *view = app->operand[0];
    const int64_t width = view->shape[view->ndim - 1], first = begin;
    histo_pool_work *const work = histo_pool_stoppable();
    while (begin < end && !histo_pool_stops(work, 0, begin - first, end - first)) {
        int64_t index[HISTO_MAX_DIMS], rest = begin;
        for (int d = view->ndim - 1; d >= 0; d--) {
            index[d] = rest % view->shape[d];
            rest /= view->shape[d];
        }
        const int64_t rows = rows_alike(app, index, end - begin), from = index[view->ndim - 1];
        const int64_t to = width - from < end - begin ? width : from + end - begin;
        apply_rows(app, index, to, rows, b, patch);
        begin += rows > 1 ? rows * width : to - from;
    }
}

/* ---- All of it ---- */

static void apply_share(void *context, int index)
{
    const application *app = context;
    const int64_t begin = app->samples / app->threads * index;
    const int64_t end = index == app->threads - 1 ? app->samples : begin + app->samples / app->threads;
    if (app->blend.map)
        apply_tiles(app, begin, end, &app->blocks[index], &app->patches[index]);
    else
        apply_range(app, begin, end, &app->blocks[index]);
}

static histo_status prepare(application *app, const histo_view *views, const histo_grid *grid)
{
    histo_status status = histo_map_lookup_make(&app->lookup, app->map, views);
    if (status != HISTO_OK) return status;
    if (!grid->tiles.ndim) {
        histo_strided_iter_make(&app->iter, app->operands, app->operand);
        status = histo_map_results_make(&app->results, app->map, &app->lookup, app->samples, app->out);
    } else {
        app->tables = histo_tiles_in(&grid->tiles);
        status = histo_blend_make(&app->blend, app->map, &app->lookup, grid, app->samples);
    }
    const size_t bytes = (size_t)app->threads * (sizeof *app->blocks + (app->blend.map ? sizeof *app->patches : 0));
    if (status == HISTO_OK) app->blocks = histo_cpu_allocate(bytes);
    if (status == HISTO_OK && !app->blocks) status = histo_fail_memory(bytes, "blocks of samples");
    if (!app->blocks || !app->blend.map) return status;
    app->patches = (histo_patch *)(app->blocks + app->threads);
    for (int t = 0; t < app->threads; t++)
        if (status == HISTO_OK)
            status = histo_patch_make(&app->patches[t], &app->blend);
        else
            app->patches[t].shorts = NULL; /* for the release */
    return status;
}

static void release(application *app)
{
    for (int t = 0; t < app->threads && app->patches; t++)
        histo_patch_free(&app->patches[t]);
    histo_free(app->blocks);
    histo_blend_free(&app->blend);
    histo_map_results_free(&app->results);
    histo_map_lookup_free(&app->lookup);
}

histo_status histo_map_apply(const histo_map *map, const histo_view *views, const histo_view *out,
                             const histo_apply_options *options)
{
    HISTO_STANDARD_FLOATS;
    const histo_apply_options none = {0}, *o = options ? options : &none;
    if (!map || !views || !out) return histo_fail(HISTO_INVALID, "the map, the views or the results are NULL");
    histo_grid grid = {.tiles = o->tiles};
    memcpy(grid.origin, o->origin, sizeof grid.origin);
    histo_status status = check(map, views, out, &grid, o);
    if (status != HISTO_OK || histo_view_size(out) == 0) return status;
    histo_device device;
    status = histo_map_locate(map, views, out, o->mask, &device);
    if (status == HISTO_OK && device != HISTO_DEVICE_CPU) return histo_map_apply_on(map, device, views, out, o);
    if (status == HISTO_OK) status = histo_map_fetch(map);
    if (status != HISTO_OK) return status;
    application app = {.map = map, .out = out->dtype, .samples = histo_view_size(out)};
    app.shared = map->batch == histo_tiles_in(&grid.tiles);
    app.threads = histo_map_threads(app.samples, o->threads);
    while (app.operands < map->naxes) {
        app.operand[app.operands] = &views[app.operands];
        app.operands++;
    }
    app.operand[app.operands++] = out;
    if (o->mask) app.operand[app.operands++] = o->mask;
    status = prepare(&app, views, &grid);
    if (status == HISTO_OK) status = histo_pool_run_long("mapping", app.threads, apply_share, &app);
    release(&app);
    return status;
}
