/* Maps of anything: any number of axes, dtypes, layouts, masks, tiles of 1 to 3 dimensions. Threads take samples one by
 * one. */
#include "cuda/maps/map_apply.h"
#include "cuda/maps/map_place.cuh"

/* Where a tile dimension's place is among the iterator's indices, which must stay in registers. */
static __device__ int64_t index_of(const histo_map_work *w, const histo_sample_place *place, int d)
{
    int64_t index = 0;
#pragma unroll
    for (int k = 0; k <= HISTO_MAX_DIMS; k++)
        index = k == w->samples.iter.ndim - w->tiles.ndim + d ? place->index[k] : index;
    return index;
}

static __device__ double blended(const histo_map_work *w, const histo_sample_place *place, const double *tables,
                                 histo_map_place in)
{
    enum { TABLES = 1 << HISTO_MAP_TILE_DIMS };
    const int ndim = w->tiles.ndim;
    float value[TABLES], share[HISTO_MAP_TILE_DIMS];
    int64_t
        first[TABLES]; /* tables: bit k of their number is set for the higher tile of the k-th dimension from last */
    first[0] = 0;
    int64_t stride = 1;
#pragma unroll
    for (int k = 0; k < HISTO_MAP_TILE_DIMS; k++) {
        const int d = ndim - 1 - k;
        if (d < 0) break;
        const histo_map_neighbours near =
            histo_map_neighbours_of(&w->tiles, d, w->tiles.origin[d] + index_of(w, place, d));
        share[k] = near.share;
#pragma unroll
        for (int t = 0; t < 1 << k; t++) {
            first[t + (1 << k)] = first[t] + near.high * stride;
            first[t] += near.low * stride;
        }
        stride *= w->tiles.count[d];
    }
#pragma unroll
    for (int t = 0; t < TABLES; t++)
        if (t < 1 << ndim) value[t] = (float)histo_map_value(tables + first[t] * w->length, w->linear, in);
#pragma unroll
    for (int k = 0; k < HISTO_MAP_TILE_DIMS; k++)
        if (k < ndim)
#pragma unroll
            for (int t = 0; t < TABLES >> (k + 1); t++)
                if (t < 1 << (ndim - k - 1)) value[t] = histo_blend(value[2 * t], value[2 * t + 1], share[k]);
    return (double)value[0];
}

static __device__ void store(const histo_map_work *w, const histo_sample_place *place, double value)
{
    const histo_cuda_work *s = &w->samples;
    char *at = (char *)histo_address(s, place, s->naxes);
    histo_with_dtype(s->dtypes[s->naxes], [=](auto of) {
        const histo_stored<of.type> result = histo_result<of.type>(value);
        if (s->aligned) {
            *(histo_stored<of.type> *)at = result;
        } else {
            const unsigned char *bytes = (const unsigned char *)&result;
            for (size_t i = 0; i < sizeof result; i++)
                ((volatile unsigned char *)at)[i] = bytes[i];
        }
    });
}

static __global__ void apply_any(const __grid_constant__ histo_map_work w)
{
    const histo_cuda_work *s = &w.samples;
    histo_wait_for_earlier();
    for (int64_t item = blockIdx.x; item < s->tiles; item += gridDim.x) {
        const histo_tile tile = histo_tile_at(s, item);
        const double *tables = w.values + tile.entry * w.entry_tables * w.length;
        for (uint32_t offset = threadIdx.x; offset < tile.length; offset += blockDim.x) {
            const histo_sample_place place = histo_sample_place_of(s, &tile, offset);
            if (histo_is_left_out(s, &place)) continue;
            const histo_map_place in = histo_map_place_at(&w, &place);
            store(&w, &place, w.tiles.ndim ? blended(&w, &place, tables, in) : histo_map_value(tables, w.linear, in));
        }
    }
}

const void *histo_cuda_map_any(void)
{
    return (const void *)apply_any;
}
