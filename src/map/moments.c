/* Moments of a map's values over a window, row by row. Values that are whole numbers from 0 to 255, as those of back
 * projection are, are bytes and their sums integers, where all sums are below 2^53: doubles would have the same. */
#include "table/moments.h"

#include <math.h>

#include "base/floats.h"
#include "base/threads/pool.h"
#include "cpu/backend/backend.h"
#include "map/moments_cache.h"
#include "map/samples.h"

enum { LANES = HISTO_MOMENT_LANES };

/* One thread's memory. */
typedef struct block {
    _Alignas(64) histo_gathered gathered;
    _Alignas(64) char mask[HISTO_BLOCK * sizeof(double)];
    uint8_t unmasked[HISTO_BLOCK];
    union {
        uint8_t bytes[HISTO_BLOCK];
        double doubles[HISTO_BLOCK];
    } values;
    histo_results_block of_results;
    histo_pool_work *work; /* that may be stopped, or NULL */
} block;

typedef struct window {
    const histo_map *map;
    const histo_view *views, *mask;     /* of the window alone */
    histo_dtype dtypes[HISTO_MAX_AXES]; /* of the views */
    int64_t strides[HISTO_MAX_AXES];    /* bytes from a sample of each view to the next */
    const histo_map_results *results;   /* of HISTO_U8 or HISTO_F64 */
    int threads;
    block *blocks; /* [threads] */
    double lanes[LANES][HISTO_MOMENTS];
} window;

/* ---- Checks ---- */

static histo_status check(const histo_map *map, const histo_view *views, const int64_t *rectangle,
                          const histo_apply_options *o, const histo_moments *moments)
{
    if (!map || !views || !moments) return histo_fail(HISTO_INVALID, "the map, the views or the moments are NULL");
    histo_status status = histo_map_check_samples(map, views, o);
    if (status != HISTO_OK) return status;
    if (views[0].ndim != 2 || views[0].batch_ndim != 0)
        return histo_fail(HISTO_INVALID, "moments are of views with two dimensions, none of them a batch dimension");
    if (map->batch != 1)
        return histo_fail(HISTO_INVALID, "the map has %lld tables; 1 is needed", (long long)map->batch);
    if (o->tiles.ndim) return histo_fail(HISTO_INVALID, "moments have no tiles");
    for (int d = 0; rectangle && d < 2; d++) {
        const int64_t at = rectangle[1 - d], size = rectangle[3 - d];
        if (at < 0 || size < 0 || size > views[0].shape[d] - at)
            return histo_fail(HISTO_INVALID, "the window %lld,%lld,%lld,%lld is not inside %lld x %lld samples",
                              (long long)rectangle[0], (long long)rectangle[1], (long long)rectangle[2],
                              (long long)rectangle[3], (long long)views[0].shape[1], (long long)views[0].shape[0]);
    }
    return HISTO_OK;
}

static histo_view inside(const histo_view *view, const int64_t *rectangle)
{
    histo_view part = *view;
    if (rectangle && histo_view_size(view) > 0)
        part.data = (char *)part.data + rectangle[1] * part.strides[0] + rectangle[0] * part.strides[1];
    for (int d = 0; rectangle && d < 2; d++)
        part.shape[d] = rectangle[3 - d];
    return part;
}

/* ---- Sums ---- */

static const char *place_in(const histo_view *view, int64_t x, int64_t y)
{
    return (const char *)view->data + y * view->strides[0] + x * view->strides[1];
}

/* The values of n samples from place x of a row on; 0 where the mask is zero. */
static void find_values(const window *w, int64_t x, int64_t y, int n, block *b)
{
    const char *at[HISTO_MAX_AXES];
    const void *samples[HISTO_MAX_AXES];
    for (int a = 0; a < w->map->naxes; a++)
        at[a] = place_in(&w->views[a], x, y);
    histo_map_gather(w->map->naxes, w->dtypes, at, w->strides, n, b->gathered, samples);
    histo_map_results_of(w->results, 0, samples, n, &b->of_results, &b->values);
    if (!w->mask) return;
    const void *mask = histo_map_contiguous(place_in(w->mask, x, y), w->mask->strides[1],
                                            histo_dtype_size(w->mask->dtype), n, b->mask);
    histo_cpu_kernels_usable()->keep_nonzero(w->mask->dtype, mask, n, false, b->unmasked);
    if (w->results->dtype == HISTO_U8)
        for (int i = 0; i < n; i++)
            b->values.bytes[i] = b->unmasked[i] ? b->values.bytes[i] : 0;
    else
        for (int i = 0; i < n; i++)
            b->values.doubles[i] = b->unmasked[i] ? b->values.doubles[i] : 0;
}

static inline void add_value(double value, double x, double *sums)
{
    sums[0] += value;
    sums[LANES] += x * value;
    sums[2 * LANES] += x * x * value;
}

/* Add n values from place x on, a multiple of LANES; sums: of each lane. */
static void add_values(const double *values, int64_t x, int n, double sums[HISTO_ROW_SUMS * LANES])
{
    const double first = (double)x;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            add_value(values[i + lane], first + (double)(i + lane), sums + lane);
    for (int lane = 0; i + lane < n; lane++)
        add_value(values[i + lane], first + (double)(i + lane), sums + lane);
}

static void sum_doubles(const window *w, int64_t y, block *b, double row[HISTO_ROW_SUMS])
{
    const int64_t width = w->views[0].shape[1];
    double sums[HISTO_ROW_SUMS * LANES] = {0};
    for (int64_t x = 0; x < width; x += HISTO_BLOCK) {
        const int n = width - x < HISTO_BLOCK ? (int)(width - x) : HISTO_BLOCK;
        if (histo_pool_stops(b->work, n, y, w->views[0].shape[0])) break;
        find_values(w, x, y, n, b);
        add_values(b->values.doubles, x, n, sums);
    }
    for (int s = 0; s < HISTO_ROW_SUMS; s++) {
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; lane++)
                sums[s * LANES + lane] += sums[s * LANES + lane + half];
        row[s] = sums[s * LANES];
    }
}

static void sum_bytes(const window *w, int64_t y, block *b, double row[HISTO_ROW_SUMS])
{
    const int64_t width = w->views[0].shape[1];
    uint64_t sums[HISTO_ROW_SUMS] = {0};
    for (int64_t x = 0; x < width; x += HISTO_BLOCK) {
        const int n = width - x < HISTO_BLOCK ? (int)(width - x) : HISTO_BLOCK;
        if (histo_pool_stops(b->work, n, y, w->views[0].shape[0])) break;
        const uint64_t first = (uint64_t)x;
        uint64_t sums_of_block[HISTO_ROW_SUMS];
        find_values(w, x, y, n, b);
        histo_cpu_kernels_usable()->maps->sum_moments(b->values.bytes, n, sums_of_block);
        sums[0] += sums_of_block[0];
        sums[1] += sums_of_block[1] + first * sums_of_block[0];
        sums[2] += sums_of_block[2] + 2 * first * sums_of_block[1] + first * first * sums_of_block[0];
    }
    for (int s = 0; s < HISTO_ROW_SUMS; s++)
        row[s] = (double)sums[s];
}

static void add_row(const window *w, int64_t y, block *b, double moments[HISTO_MOMENTS])
{
    double row[HISTO_ROW_SUMS];
    if (w->results->dtype == HISTO_U8)
        sum_bytes(w, y, b, row);
    else
        sum_doubles(w, y, b, row);
    histo_add_row_moments(row, y, moments);
}

/* Each lane of rows belongs to one thread. */
static void add_rows(void *context, int index)
{
    window *w = context;
    histo_pool_work *const work = w->blocks[index].work = histo_pool_stoppable();
    for (int64_t y = 0; y < w->views[0].shape[0] && !histo_pool_stops(work, 0, 0, 0); y++)
        if (y % LANES % w->threads == index) add_row(w, y, &w->blocks[index], w->lanes[y % LANES]);
}

static histo_moments add_lanes(window *w)
{
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            for (int m = 0; m < HISTO_MOMENTS; m++)
                w->lanes[lane][m] += w->lanes[lane + half][m];
    const double *sums = w->lanes[0];
    return (histo_moments){
        .m00 = sums[0], .m10 = sums[1], .m01 = sums[2], .m20 = sums[3], .m11 = sums[4], .m02 = sums[5]};
}

/* Whether all sums of bytes over the window are below 2^53. */
static bool are_exact(const histo_view *view)
{
    const double width = (double)view->shape[1], height = (double)view->shape[0], longer = fmax(width, height);
    return UINT8_MAX * width * height * longer * longer < 0x1p53;
}

histo_status histo_map_moments(const histo_map *map, const histo_view *views, const int64_t rectangle[4],
                               const histo_apply_options *options, histo_moments *moments)
{
    HISTO_STANDARD_FLOATS;
    const histo_apply_options none = {0}, *o = options ? options : &none;
    histo_status status = check(map, views, rectangle, o, moments);
    if (status != HISTO_OK) return status;
    histo_view columns[HISTO_MAX_AXES], mask;
    for (int a = 0; a < map->naxes; a++)
        columns[a] = inside(&views[a], rectangle);
    if (o->mask) mask = inside(o->mask, rectangle);
    histo_device device;
    status = histo_map_locate(map, columns, NULL, o->mask ? &mask : NULL, &device);
    if (status == HISTO_OK && device != HISTO_DEVICE_CPU) {
        histo_apply_options on_device = *o;
        on_device.mask = o->mask ? &mask : NULL;
        return histo_map_moments_on(map, device, columns, &on_device, moments);
    }
    bool only = false;
    if (status == HISTO_OK) histo_device_of(moments, &only);
    if (only) return histo_fail(HISTO_INVALID, "the moments are in a GPU's memory, the samples are not");
    if (status == HISTO_OK) status = histo_map_fetch(map);
    if (status != HISTO_OK) return status;
    window w = {.map = map, .views = columns, .mask = o->mask ? &mask : NULL};
    for (int a = 0; a < map->naxes; a++) {
        w.dtypes[a] = columns[a].dtype;
        w.strides[a] = columns[a].strides[1];
    }
    w.threads = histo_map_threads(histo_view_size(&columns[0]), o->threads);
    w.threads = w.threads < LANES ? w.threads : LANES;
    histo_moments_cache *prepared = NULL;
    status = histo_moments_cache_take(map, columns, are_exact(&columns[0]), &prepared);
    const size_t bytes = (size_t)w.threads * sizeof *w.blocks;
    if (status == HISTO_OK) w.blocks = histo_cpu_allocate(bytes);
    if (status == HISTO_OK && !w.blocks) status = histo_fail_memory(bytes, "blocks of samples");
    if (status == HISTO_OK) {
        w.results = &prepared->results;
        status = histo_pool_run_long("mapping", w.threads, add_rows, &w);
        if (status == HISTO_OK) *moments = add_lanes(&w);
    }
    histo_free(w.blocks);
    if (prepared) histo_moments_cache_give(map, prepared);
    return status;
}
