/* Applying a map on the CPU: runs of samples in blocks, each block's slots, their values, and the values as samples of
 * the result. Samples of one or two bytes on one axis take one load instead, if there are enough of them: the values of
 * all their bit patterns are found first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "map/lookup.h"
#include "map/put.h"
#include "map/samples.h"
#include "view/view.h"

/* Samples, contiguous and aligned, and what becomes of them. */
typedef struct block {
    _Alignas(64) char gathered[HISTO_MAX_AXES][HISTO_BLOCK * sizeof(double)];
    _Alignas(64) char results[HISTO_BLOCK * sizeof(double)];
    histo_map_slots slots;
    double values[HISTO_BLOCK];
} block;

/* The tiles whose centres are around a place of one dimension, and the share of the higher one: in float, as cv::CLAHE
 * has it. */
typedef struct neighbours {
    int32_t low, high;
    float share;
} neighbours;

typedef struct application {
    const histo_map *map;
    histo_tiles tiles;
    const int64_t *origin;
    int64_t tables; /* of a batch entry: one, or one for each tile */
    bool shared;    /* by all batch entries */
    const histo_view *out, *mask;
    histo_map_lookup lookup;
    histo_strided_iter iter;        /* samples of each axis, results, mask if there is one */
    int64_t width;                  /* with tiles, each run of the last dimension is an entry of the iterator, … */
    int64_t height[HISTO_MAX_DIMS]; /* … and these are the dimensions before it, so many: … */
    int outer, batch_ndim;
    int64_t samples;
    int threads;
    block *blocks;       /* [threads] */
    int64_t patterns;    /* of a sample that has a table of them, 256 or 65536; else 0 */
    char *results;       /* [map->batch][patterns] results; … */
    float *planes;       /* … with tiles, values */
    neighbours *columns; /* [width] the tiles around each place of a row, … */
    float *shares;       /* … and their shares again, without gaps */
} application;

/* ---- Checks ---- */

static histo_status check_tiles(const histo_tiles *tiles, const int64_t *origin, const histo_view *view)
{
    if (tiles->ndim < 0 || tiles->ndim > 3) return histo_fail(HISTO_INVALID, "tiles have 1 to 3 dimensions");
    if (tiles->ndim > view->ndim - view->batch_ndim)
        return histo_fail(HISTO_INVALID, "the tiles have more dimensions than the samples");
    for (int d = 0; d < tiles->ndim; d++) {
        const int64_t count = tiles->count[d], size = tiles->size[d];
        if (count < 1 || count > HISTO_MAX_SLOTS || size < 1 || size > INT32_MAX)
            return histo_fail(HISTO_INVALID, "%lld tiles of %lld samples are not possible", (long long)count,
                              (long long)size);
        if (origin[d] < 0 || origin[d] > INT64_MAX - view->shape[view->ndim - tiles->ndim + d])
            return histo_fail(HISTO_INVALID, "the samples begin at %lld of the tiles", (long long)origin[d]);
    }
    return HISTO_OK;
}

static int64_t tiles_in(const histo_tiles *tiles)
{
    int64_t n = 1;
    for (int d = 0; d < tiles->ndim; d++)
        if (__builtin_mul_overflow(n, tiles->count[d], &n)) return INT64_MAX;
    return n;
}

static histo_status check(const histo_map *map, const histo_view *views, const histo_view *out,
                          const histo_apply_options *o)
{
    if (!map || !views || !out) return histo_fail(HISTO_INVALID, "the map, the views or the results are NULL");
    histo_status status = histo_map_check_samples(map, views, o);
    if (status == HISTO_OK) status = histo_map_check_view(out, &views[0], "results");
    if (status == HISTO_OK) status = check_tiles(&o->tiles, o->origin, &views[0]);
    if (status != HISTO_OK) return status;
    const int64_t tiles = tiles_in(&o->tiles), batch = histo_view_batch(&views[0]);
    if (map->batch == tiles || (map->batch % tiles == 0 && map->batch / tiles == batch)) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the map has %lld tables; %lld are needed, or as many for each of %lld entries",
                      (long long)map->batch, (long long)tiles, (long long)batch);
}

/* ---- Tables of all bit patterns ---- */

/* It pays for tables that have a sample for each pattern. */
static histo_status tabulate(application *app)
{
    const histo_map *map = app->map;
    const size_t size = histo_dtype_size(app->lookup.dtypes[0]), out_size = histo_dtype_size(app->out->dtype);
    const int64_t patterns = size == 1 ? 256 : 65536;
    if (map->naxes > 1 || size > 2 || app->samples / map->batch < patterns) return HISTO_OK;
    const size_t bytes = (size_t)(map->batch * patterns) * (app->tiles.ndim ? sizeof *app->planes : out_size);
    app->patterns = patterns;
    if (app->tiles.ndim)
        app->planes = histo_malloc(bytes);
    else
        app->results = histo_malloc(bytes);
    if (!app->planes && !app->results) return histo_fail_memory(bytes, "lookup tables");
    histo_map_slots slots;
    double values[HISTO_BLOCK];
    _Alignas(8) char samples[HISTO_BLOCK * 2];
    const int step = patterns < HISTO_BLOCK ? (int)patterns : HISTO_BLOCK;
    for (int64_t first = 0; first < patterns; first += step) {
        for (int i = 0; i < step; i++) {
            const uint16_t pattern = (uint16_t)(first + i);
            if (size == 1)
                samples[i] = (char)pattern;
            else
                memcpy(samples + 2 * i, &pattern, sizeof pattern);
        }
        histo_map_find(&app->lookup, &(const void *){samples}, step, &slots);
        for (int64_t t = 0; t < map->batch; t++) {
            const size_t at = (size_t)(t * patterns + first);
            histo_map_values(map, t, &slots, step, values);
            if (app->planes)
                histo_put_values(values, step, HISTO_F32, app->planes + at);
            else
                histo_put_values(values, step, app->out->dtype, app->results + at * out_size);
        }
    }
    return HISTO_OK;
}

/* to[i] = table[samples[i]]; both sizes are constants where this is called. */
static inline void look_up(const void *samples, size_t size, const char *table, size_t out_size, int n, char *to)
{
    for (int i = 0; i < n; i++) {
        const size_t pattern = size == 1 ? ((const uint8_t *)samples)[i] : ((const uint16_t *)samples)[i];
        memcpy(to + (size_t)i * out_size, table + pattern * out_size, out_size);
    }
}

static void look_up_any(const void *samples, size_t size, const char *table, size_t out_size, int n, char *to)
{
    switch (16 * size + out_size) {
    case 16 + 1:
        look_up(samples, 1, table, 1, n, to);
        break;
    case 16 + 2:
        look_up(samples, 1, table, 2, n, to);
        break;
    case 16 + 4:
        look_up(samples, 1, table, 4, n, to);
        break;
    case 16 + 8:
        look_up(samples, 1, table, 8, n, to);
        break;
    case 32 + 1:
        look_up(samples, 2, table, 1, n, to);
        break;
    case 32 + 2:
        look_up(samples, 2, table, 2, n, to);
        break;
    case 32 + 4:
        look_up(samples, 2, table, 4, n, to);
        break;
    default:
        look_up(samples, 2, table, 8, n, to);
        break;
    }
}

/* ---- Tiles ---- */

static neighbours neighbours_of(const histo_tiles *tiles, int d, int64_t place)
{
    const float at = (float)place * (1.0F / (float)tiles->size[d]) - 0.5F, low = floorf(at);
    const int64_t first = (int64_t)low, last = tiles->count[d] - 1;
    return (neighbours){
        .low = (int32_t)(first < 0      ? 0
                         : first > last ? last
                                        : first),
        .high = (int32_t)(first + 1 > last ? last : first + 1),
        .share = at - low,
    };
}

/* Where the rows of tiles around a row of samples begin, as numbers of tables, and their weights. */
typedef struct tile_rows {
    int n; /* 1, 2 or 4: of the dimensions before the last */
    int64_t first[4];
    float share[2]; /* of the higher tile: of the dimension before the last, and the one before it */
} tile_rows;

static tile_rows tile_rows_of(const application *app, int64_t row)
{
    const histo_tiles *tiles = &app->tiles;
    tile_rows rows = {.n = 1};
    int64_t entry = row;
    for (int d = tiles->ndim - 2, k = app->outer - 1, of = 0; d >= 0; d--, k--, of++) {
        const neighbours near = neighbours_of(tiles, d, app->origin[d] + entry % app->height[k]);
        entry /= app->height[k];
        int64_t stride = 1;
        for (int later = d + 1; later < tiles->ndim; later++)
            stride *= tiles->count[later];
        for (int i = 0; i < rows.n; i++) {
            rows.first[rows.n + i] = rows.first[i] + near.high * stride;
            rows.first[i] += near.low * stride;
        }
        rows.n *= 2;
        rows.share[of] = near.share;
    }
    for (int k = app->outer - tiles->ndim; k >= app->batch_ndim; k--)
        entry /= app->height[k];
    for (int i = 0; i < rows.n; i++)
        rows.first[i] += app->shared ? 0 : entry * app->tables;
    return rows;
}

/* What a table has for sample i of a block. */
static inline float value_in(const application *app, const histo_map_slots *slots, int64_t table, int i)
{
    const double *entries = app->map->values + table * app->map->length;
    if (app->map->within == HISTO_MAP_STEP) return (float)entries[slots->slot[i]];
    return (float)histo_map_between(entries, slots, i);
}

/* The blend of two values in float, in OpenCV's order. */
static inline float between(float low, float high, float share)
{
    return low * (1 - share) + high * share;
}

/* Samples of a row that have the same tiles around them. */
typedef struct segment {
    int n;
    int32_t low, high;
    const float *share; /* of the higher tile, for each */
} segment;

static segment segment_at(const application *app, int64_t x, int most)
{
    const neighbours *near = app->columns + x;
    segment s = {.low = near->low, .high = near->high, .share = app->shares + x};
    while (s.n < most && near[s.n].low == s.low && near[s.n].high == s.high)
        s.n++;
    return s;
}

/* The tiles around each place of a row. */
static histo_status find_columns(application *app)
{
    if (!app->tiles.ndim) return HISTO_OK;
    const size_t each = sizeof *app->columns + sizeof *app->shares;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)app->width, each, &bytes)) bytes = SIZE_MAX; /* a row that is broadcast */
    app->columns = histo_malloc(bytes);
    if (!app->columns) return histo_fail_memory(bytes, "the tiles of a row");
    app->shares = (float *)(app->columns + app->width);
    const int last = app->tiles.ndim - 1;
    for (int64_t x = 0; x < app->width; x++) {
        app->columns[x] = neighbours_of(&app->tiles, last, app->origin[last] + x);
        app->shares[x] = app->columns[x].share;
    }
    return HISTO_OK;
}

/* The blend of two tables of bit patterns; `size` is a constant where this is called. */
static inline void blend_patterns(const float *low, const float *high, const void *samples, size_t size,
                                  const float *share, int n, float *values)
{
    for (int i = 0; i < n; i++) {
        const size_t pattern = size == 1 ? ((const uint8_t *)samples)[i] : ((const uint16_t *)samples)[i];
        values[i] = between(low[pattern], high[pattern], share[i]);
    }
}

/* What the tiles of row `first` of tables have for samples [begin, begin + s->n) of a block. */
static void blend_row(const application *app, int64_t first, const segment *s, const void *samples, int begin,
                      const histo_map_slots *slots, float *values)
{
    const int64_t low = first + s->low, high = first + s->high;
    if (!app->planes) {
        for (int i = 0; i < s->n; i++)
            values[i] =
                between(value_in(app, slots, low, begin + i), value_in(app, slots, high, begin + i), s->share[i]);
        return;
    }
    const float *of_low = app->planes + low * app->patterns, *of_high = app->planes + high * app->patterns;
    if (app->patterns == 256)
        blend_patterns(of_low, of_high, (const uint8_t *)samples + begin, 1, s->share, s->n, values);
    else
        blend_patterns(of_low, of_high, (const uint16_t *)samples + begin, 2, s->share, s->n, values);
}

/* Values of n samples from place x of a row on. */
static void blend(const application *app, const tile_rows *rows, int64_t x, const void *samples,
                  const histo_map_slots *slots, int n, double *values)
{
    float of_row[4][HISTO_BLOCK];
    segment s;
    for (int begin = 0; begin < n; begin += s.n) {
        s = segment_at(app, x + begin, n - begin);
        for (int r = 0; r < rows->n; r++)
            blend_row(app, rows->first[r], &s, samples, begin, slots, of_row[r]);
        for (int r = rows->n / 2, d = 0; r > 0; r /= 2, d++)
            for (int k = 0; k < r; k++)
                for (int i = 0; i < s.n; i++)
                    of_row[k][i] = between(of_row[2 * k][i], of_row[2 * k + 1][i], rows->share[d]);
        for (int i = 0; i < s.n; i++)
            values[begin + i] = (double)of_row[0][i];
    }
}

/* ---- Blocks ---- */

/* Results of n samples, `done` into a run, to `to`. */
static void map_block(const application *app, const histo_run *run, const tile_rows *rows, int64_t x,
                      const void *const *samples, int n, block *b, char *to)
{
    const histo_dtype out = app->out->dtype;
    if (app->results) {
        const size_t size = histo_dtype_size(app->lookup.dtypes[0]), out_size = histo_dtype_size(out);
        const int64_t table = app->shared ? 0 : run->batch;
        look_up_any(samples[0], size, app->results + (size_t)(table * app->patterns) * out_size, out_size, n, to);
        return;
    }
    if (!app->planes) histo_map_find(&app->lookup, samples, n, &b->slots);
    if (app->tiles.ndim)
        blend(app, rows, x, samples[0], &b->slots, n, b->values);
    else
        histo_map_values(app->map, app->shared ? 0 : run->batch, &b->slots, n, b->values);
    histo_put_values(b->values, n, out, to);
}

/* Copy results to where they belong, except where the mask is zero. */
static void store(const application *app, const char *results, int n, char *to, int64_t stride, const char *mask,
                  int64_t mask_stride)
{
    const size_t size = histo_dtype_size(app->out->dtype);
    for (int i = 0; i < n; i++, to += stride, mask += mask_stride)
        if (!app->mask || histo_sample_value(mask, app->mask->dtype) != 0) memcpy(to, results + (size_t)i * size, size);
}

static void apply_run(const application *app, const histo_run *run, int64_t x, block *b)
{
    const int naxes = app->map->naxes, last = app->iter.ndim - 1;
    const size_t out_size = histo_dtype_size(app->out->dtype);
    const int64_t stride = app->iter.strides[naxes][last];
    const int64_t mask_stride = app->mask ? app->iter.strides[naxes + 1][last] : 0;
    const tile_rows rows = app->tiles.ndim ? tile_rows_of(app, run->batch) : (tile_rows){0};
    for (int64_t done = 0; done < run->n; done += HISTO_BLOCK) {
        const int n = run->n - done < HISTO_BLOCK ? (int)(run->n - done) : HISTO_BLOCK;
        const void *samples[HISTO_MAX_AXES];
        for (int a = 0; a < naxes; a++) {
            const int64_t step = app->iter.strides[a][last];
            samples[a] = histo_map_contiguous(run->at[a] + done * step, step, histo_dtype_size(app->lookup.dtypes[a]),
                                              n, b->gathered[a]);
        }
        char *to = (char *)run->at[naxes] + done * stride;
        const bool direct = !app->mask && histo_map_is_contiguous(to, stride, out_size);
        map_block(app, run, &rows, x + done, samples, n, b, direct ? to : b->results);
        const char *mask = app->mask ? run->at[naxes + 1] + done * mask_stride : NULL;
        if (!direct) store(app, b->results, n, to, stride, mask, mask_stride);
    }
}

static void apply_range(void *context, int index)
{
    const application *app = context;
    const int64_t begin = app->samples / app->threads * index;
    const int64_t end = index == app->threads - 1 ? app->samples : begin + app->samples / app->threads;
    histo_walk walk;
    histo_run run;
    int64_t at = begin;
    for (histo_walk_start(&walk, &app->iter, begin, end, INT64_MAX); histo_walk_next(&walk, &run); at += run.n)
        apply_run(app, &run, app->tiles.ndim ? at % app->width : 0, &app->blocks[index]);
}

/* ---- All of it ---- */

/* Each run of the last dimension is an entry, in order, so that places are known. */
static histo_strided_iter rows_of(int operands, const histo_view *const *views)
{
    const int ndim = views[0]->ndim;
    histo_strided_iter iter = {.operands = operands, .ndim = ndim, .batch_ndim = ndim - 1, .batch = 1};
    for (int d = 0; d < ndim; d++)
        iter.shape[d] = views[0]->shape[d];
    for (int d = 0; d < ndim - 1; d++)
        iter.batch *= iter.shape[d];
    iter.per_batch = iter.shape[ndim - 1];
    for (int o = 0; o < operands; o++) {
        iter.base[o] = views[o]->data;
        memcpy(iter.strides[o], views[o]->strides, (size_t)ndim * sizeof *views[o]->strides);
    }
    return iter;
}

static void make_iterator(application *app, const histo_view *views)
{
    int operands = 0;
    const histo_view *operand[HISTO_MAX_AXES + 2];
    while (operands < app->map->naxes) {
        operand[operands] = &views[operands];
        operands++;
    }
    operand[operands++] = app->out;
    if (app->mask) operand[operands++] = app->mask;
    if (!app->tiles.ndim) {
        histo_strided_iter_make(&app->iter, operands, operand);
        return;
    }
    app->iter = rows_of(operands, operand);
    app->outer = views[0].ndim - 1;
    app->batch_ndim = views[0].batch_ndim;
    app->width = views[0].shape[app->outer];
    memcpy(app->height, views[0].shape, sizeof app->height);
}

histo_status histo_map_apply(const histo_map *map, const histo_view *views, const histo_view *out,
                             const histo_apply_options *options)
{
    const histo_apply_options none = {0}, *o = options ? options : &none;
    histo_status status = check(map, views, out, o);
    if (status != HISTO_OK || histo_view_size(out) == 0) return status;
    histo_device device;
    status = histo_map_locate(map, views, out, o->mask, &device);
    if (status == HISTO_OK && device != HISTO_DEVICE_CPU) return histo_map_apply_on(map, device, views, out, o);
    if (status == HISTO_OK) status = histo_map_fetch(map);
    if (status != HISTO_OK) return status;
    application app = {
        .map = map, .tiles = o->tiles, .origin = o->origin, .tables = tiles_in(&o->tiles), .out = out, .mask = o->mask};
    app.shared = map->batch == app.tables;
    app.samples = histo_view_size(out);
    app.threads = histo_map_threads(app.samples, o->threads);
    make_iterator(&app, views);
    status = histo_map_lookup_make(&app.lookup, map, views);
    if (status == HISTO_OK) status = tabulate(&app);
    if (status == HISTO_OK) status = find_columns(&app);
    if (status == HISTO_OK) app.blocks = histo_cpu_allocate((size_t)app.threads * sizeof *app.blocks);
    if (status == HISTO_OK && !app.blocks)
        status = histo_fail_memory((size_t)app.threads * sizeof *app.blocks, "blocks of samples");
    if (status == HISTO_OK) histo_pool_run(app.threads, apply_range, &app);
    free(app.blocks);
    free(app.results);
    free(app.planes);
    free(app.columns);
    histo_map_lookup_free(&app.lookup);
    return status;
}
