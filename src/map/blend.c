#include "map/blend.h"

#include <string.h>

#include "base/memory.h"
#include "map/convert.h"
#include "map/patterns.h"

/* ---- Planes ---- */

/* false unless all values are whole numbers of 16 bits. */
static bool convert_whole(const double *values, int n, uint16_t *to)
{
    uint64_t different = 0;
    for (int i = 0; i < n; i++) {
        const double above = values[i] > 0 ? values[i] : 0, clamped = above < 65535 ? above : 65535;
        const int32_t whole = (int32_t)clamped;
        const double again = (double)whole;
        uint64_t bits, wanted; /* which tell -0 from 0 */
        memcpy(&bits, &again, sizeof bits);
        memcpy(&wanted, &values[i], sizeof wanted);
        different |= bits ^ wanted;
        to[i] = (uint16_t)whole;
    }
    return !different;
}

/* false if the values are not of that dtype. */
static bool fill_planes(histo_blend *b)
{
    histo_map_slots slots;
    double values[HISTO_BLOCK];
    for (int first = 0; first < b->patterns; first += HISTO_BLOCK) {
        const int n = b->patterns - first < HISTO_BLOCK ? b->patterns - first : HISTO_BLOCK;
        histo_map_find_patterns(b->lookup, first, n, &slots);
        for (int64_t t = 0; t < b->map->batch; t++) {
            const int64_t at = t * b->patterns + first;
            histo_map_values(b->map, t, &slots, n, values);
            if (b->dtype == HISTO_F32)
                histo_convert_values(values, n, HISTO_F32, (float *)b->planes + at);
            else if (!convert_whole(values, n, (uint16_t *)b->planes + at))
                return false;
        }
    }
    return true;
}

static histo_status allocate_planes(histo_blend *b, histo_dtype dtype)
{
    const size_t bytes = (size_t)(b->map->batch * b->patterns) * histo_dtype_size(dtype);
    histo_free(b->planes);
    b->dtype = dtype;
    b->planes = histo_malloc(bytes);
    return b->planes ? HISTO_OK : histo_fail_memory(bytes, "lookup tables");
}

/* Bytes in place of shorts, if all are. */
static void narrow_planes(histo_blend *b)
{
    const uint16_t *shorts = b->planes;
    uint8_t *bytes = b->planes;
    const int64_t n = b->map->batch * b->patterns;
    uint16_t all = 0;
    for (int64_t i = 0; i < n; i++)
        all |= shorts[i];
    if (all > UINT8_MAX) return;
    for (int64_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)shorts[i];
    b->dtype = HISTO_U8;
}

histo_status histo_blend_make(histo_blend *b, const histo_map *map, const histo_map_lookup *lookup,
                              const histo_grid *grid, int64_t samples)
{
    enum { BYTES = 256 };
    *b = (histo_blend){.map = map, .lookup = lookup, .grid = *grid};
    const int64_t of_table = samples / map->batch;
    const int patterns = of_table >= BYTES ? histo_map_patterns(lookup) : 0;
    if (!patterns || of_table < patterns) return HISTO_OK;
    const bool bytes = histo_dtype_size(lookup->dtypes[0]) == 1;
    b->patterns = bytes ? BYTES : patterns;
    histo_status status = allocate_planes(b, HISTO_U16);
    if (status != HISTO_OK) return status;
    if (!fill_planes(b)) {
        status = allocate_planes(b, HISTO_F32);
        if (status == HISTO_OK) fill_planes(b);
    } else if (bytes) {
        narrow_planes(b);
    }
    return status;
}

void histo_blend_free(histo_blend *b)
{
    histo_free(b->planes);
}

/* ---- Patches ---- */

histo_status histo_patch_make(histo_patch *p, const histo_blend *b)
{
    p->blend = b;
    p->shorts = NULL;
    if (!b->planes || b->dtype != HISTO_U16) return HISTO_OK;
    const size_t bytes = 2 * (size_t)b->patterns * sizeof *p->shorts;
    p->shorts = histo_malloc(bytes);
    return p->shorts ? HISTO_OK : histo_fail_memory(bytes, "joined lookup tables");
}

void histo_patch_free(histo_patch *p)
{
    histo_free(p->shorts);
}

static const void *plane_of(const histo_blend *b, int64_t table)
{
    return (const char *)b->planes + (size_t)(table * b->patterns) * histo_dtype_size(b->dtype);
}

/* Join the tables of a quarter of the corners' blend: those of the last two dimensions. Without rows, they are twice
 * the same two. */
static void join(histo_patch *p, int quad)
{
    const histo_map_kernels *kernels = histo_cpu_kernels_usable()->maps;
    const histo_blend *b = p->blend;
    const void *planes[4];
    for (int k = 0; k < 4; k++)
        planes[k] = plane_of(b, p->tables[p->corners == 2 ? k % 2 : 4 * quad + k]);
    if (b->dtype == HISTO_U8)
        kernels->join_bytes((const uint8_t *const[]){planes[0], planes[1], planes[2], planes[3]}, &p->bytes[quad]);
    else
        kernels->join_shorts((const uint16_t *const[]){planes[0], planes[1], planes[2], planes[3]}, b->patterns,
                             p->shorts + quad * b->patterns);
}

/* Find the share that the higher tile has in each column from x on. */
static void find_shares(histo_patch *p, int64_t x, int columns)
{
    const histo_grid *grid = &p->blend->grid;
    const int d = grid->tiles.ndim - 1;
    if (grid->origin[d] + x <= INT32_MAX - HISTO_BLOCK) {
        const float scale = 1.0F / (float)grid->tiles.size[d];
        histo_cpu_kernels_usable()->maps->find_shares((int32_t)(grid->origin[d] + x), scale, columns, p->share);
    } else {
        for (int i = 0; i < columns; i++)
            p->share[i] = histo_neighbours_of(grid, d, x + i).share;
    }
}

void histo_patch_enter(histo_patch *p, int64_t table, const int64_t *place, int columns, int64_t rows)
{
    const histo_grid *grid = &p->blend->grid;
    int64_t stride = 1;
    p->corners = 1;
    p->tables[0] = table;
    p->down = p->back = 0;
    for (int d = grid->tiles.ndim - 1; d >= 0; d--) {
        const histo_neighbours near = histo_neighbours_of(grid, d, place[d]);
        for (int k = 0; k < p->corners; k++) {
            p->tables[p->corners + k] = p->tables[k] + near.high * stride;
            p->tables[k] += near.low * stride;
        }
        p->corners *= 2;
        p->back = near.share; /* of the first of three dimensions, at the end */
        stride *= grid->tiles.count[d];
    }
    find_shares(p, place[grid->tiles.ndim - 1], columns);
    enum { PAYS = 2 }; /* samples for that many entries */
    p->joined = p->blend->planes && p->blend->dtype != HISTO_F32 && columns * rows >= p->blend->patterns / PAYS;
    for (int quad = 0; p->joined && quad < (p->corners + 3) / 4; quad++)
        join(p, quad);
}

/* The blend of two values in float, in OpenCV's order. */
static inline float between(float low, float high, float share)
{
    return low * (1 - share) + high * share;
}

/* What a table has for samples of these patterns, or in these slots. */
static void find_corner(histo_patch *p, int64_t table, int n, float *values)
{
    const histo_blend *b = p->blend;
    if (!b->planes) {
        histo_map_values(b->map, table, &p->slots, n, p->entries);
        histo_convert_values(p->entries, n, HISTO_F32, values);
    } else if (b->dtype == HISTO_F32) {
        const float *plane = plane_of(b, table);
        for (int i = 0; i < n; i++)
            values[i] = plane[p->at[i]];
    } else if (b->dtype == HISTO_U16) {
        const uint16_t *plane = plane_of(b, table);
        for (int i = 0; i < n; i++)
            values[i] = (float)plane[p->at[i]];
    } else {
        const uint8_t *plane = plane_of(b, table);
        for (int i = 0; i < n; i++)
            values[i] = (float)plane[p->at[i]];
    }
}

/* Patterns of samples, none above the last one. */
static void find_patterns(histo_patch *p, const void *samples, int n)
{
    const uint16_t last = (uint16_t)(p->blend->patterns - 1);
    if (histo_dtype_size(p->blend->lookup->dtypes[0]) == 1)
        for (int i = 0; i < n; i++)
            p->at[i] = ((const uint8_t *)samples)[i];
    else
        for (int i = 0; i < n; i++)
            p->at[i] = ((const uint16_t *)samples)[i] < last ? ((const uint16_t *)samples)[i] : last;
}

static void blend_corners(histo_patch *p, const void *const *samples, int n)
{
    if (p->blend->planes)
        find_patterns(p, samples[0], n);
    else
        histo_map_find(p->blend->lookup, samples, n, &p->slots);
    for (int k = 0; k < p->corners; k += 2) {
        float *low = p->corner[k / 2], *high = p->corner[p->corners - 1];
        find_corner(p, p->tables[k], n, low);
        find_corner(p, p->tables[k + 1], n, high);
        for (int i = 0; i < n; i++)
            low[i] = between(low[i], high[i], p->share[i]);
    }
    for (int k = 0; k < p->corners / 4; k++)
        for (int i = 0; i < n; i++)
            p->corner[k][i] = between(p->corner[2 * k][i], p->corner[2 * k + 1][i], p->down);
}

/* to: floats, or rounded to samples of the planes' dtype. */
static void blend_joined(histo_patch *p, int quad, const void *samples, int n, bool rounded, void *to)
{
    const histo_map_kernels *kernels = histo_cpu_kernels_usable()->maps;
    const histo_blend *b = p->blend;
    if (b->dtype == HISTO_U8) {
        kernels->blend_bytes(&p->bytes[quad], samples, n, p->share, p->down, rounded, to);
        return;
    }
    const bool bytes = histo_dtype_size(b->lookup->dtypes[0]) == 1;
    if (bytes) find_patterns(p, samples, n);
    kernels->blend_shorts(p->shorts + quad * b->patterns, (uint16_t)(b->patterns - 1), bytes ? p->at : samples, n,
                          p->share, p->down, rounded, to);
}

static void convert_floats(const float *values, int n, histo_dtype dtype, void *to)
{
    const histo_map_kernels *kernels = histo_cpu_kernels_usable()->maps;
    if (dtype == HISTO_U8) {
        kernels->round_bytes(values, n, to);
    } else if (dtype == HISTO_U16) {
        kernels->round_shorts(values, n, to);
    } else {
        double wide[HISTO_BLOCK];
        for (int i = 0; i < n; i++)
            wide[i] = (double)values[i];
        histo_convert_values(wide, n, dtype, to);
    }
}

void histo_patch_blend(histo_patch *p, int64_t y, const void *const *samples, int n, histo_dtype dtype, void *to)
{
    const histo_grid *grid = &p->blend->grid;
    if (grid->tiles.ndim > 1) p->down = histo_neighbours_of(grid, grid->tiles.ndim - 2, y).share;
    if (p->joined && p->corners < HISTO_MAX_CORNERS && dtype == p->blend->dtype) {
        blend_joined(p, 0, samples[0], n, true, to);
        return;
    }
    for (int quad = 0; p->joined && quad < (p->corners + 3) / 4; quad++)
        blend_joined(p, quad, samples[0], n, false, p->corner[quad]);
    if (!p->joined) blend_corners(p, samples, n);
    if (p->corners == HISTO_MAX_CORNERS)
        for (int i = 0; i < n; i++)
            p->corner[0][i] = between(p->corner[0][i], p->corner[1][i], p->back);
    convert_floats(p->corner[0], n, dtype, to);
}
