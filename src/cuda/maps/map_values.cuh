/* What a map has for samples: values of tables, blends of tiles, and values as samples of a dtype. All of it gives what
 * the CPU gives, to the bit. */
#ifndef CUDA_MAPS_MAP_VALUES_CUH
#define CUDA_MAPS_MAP_VALUES_CUH

#include "cuda/device/dependent.cuh"
#include "cuda/device/lookup.cuh"
#include "cuda/maps/map_work.h"

/* ---- Values as samples (map/convert.h) ---- */

template <histo_dtype type>
HISTO_IN_KERNEL histo_stored<type> histo_result(double value)
{
    using storage = histo_stored<type>;
    if constexpr (type == HISTO_F64) {
        return value == value ? value : __longlong_as_double(0x7ff8000000000000);
    } else if constexpr (type == HISTO_F32) {
        return value == value ? (float)value : __int_as_float(0x7fc00000);
    } else if constexpr (type == HISTO_F16) {
        return histo_f16_of(value);
    } else if constexpr (type == HISTO_BF16) {
        return histo_bf16_of(value);
    } else if constexpr (type == HISTO_U64) {
        return value > 0 ? __double2ull_rn(value) : 0; /* these conversions clamp */
    } else if constexpr (type == HISTO_I64) {
        return value == value ? __double2ll_rn(value) : 0;
    } else if constexpr (type == HISTO_U32) {
        return value == value ? __double2uint_rn(value) : 0;
    } else if constexpr (type == HISTO_I32) {
        return value == value ? __double2int_rn(value) : 0;
    } else { /* conversions clamp to more than these types hold */
        const bool is_signed = (storage)-1 < (storage)1;
        const int most = (1 << (8 * sizeof(storage) - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
        return (storage)(value == value ? min(max(__double2int_rn(value), least), most) : 0);
    }
}

/* ---- Tables ---- */

/* Where a sample is in a table. */
typedef struct histo_map_place {
    uint32_t slot; /* linear maps: the edge below */
    double share;  /* linear maps: of the way to the next edge; NaN for NaN */
} histo_map_place;

HISTO_IN_KERNEL double histo_edge(const histo_lookup *l, uint32_t i)
{
    if (l->edges) return l->edges[i];
    return i == (uint32_t)l->bins ? l->hi : l->lo + (double)i * l->step;
}

/* The place between edges of a sample that has a slot. */
HISTO_IN_KERNEL histo_map_place histo_map_between_edges(const histo_lookup *l, uint32_t slot, double x)
{
    const uint32_t bins = (uint32_t)l->bins;
    if (slot == 0) return {0, 0};
    if (slot == bins + 1) return {bins - 1, 1};
    if (slot == bins + 2) return {0, __longlong_as_double(0x7ff8000000000000)};
    const double low = histo_edge(l, slot - 1), high = histo_edge(l, slot);
    return {slot - 1, (x - low) / (high - low)};
}

HISTO_IN_KERNEL double histo_map_value(const double *table, bool linear, histo_map_place place)
{
    const double low = table[place.slot];
    if (!linear) return low;
    const double high = table[place.slot + 1];
    return place.share == 1 ? high : low + (high - low) * place.share;
}

/* ---- Tiles ---- */

/* The tiles whose centres are around a place of one dimension, and the share of the higher one: in float, in the order
 * of cv::CLAHE. */
typedef struct histo_map_neighbours {
    int64_t low, high;
    float share;
} histo_map_neighbours;

HISTO_IN_KERNEL histo_map_neighbours histo_map_neighbours_of(const histo_map_grid *tiles, int d, int64_t place)
{
    histo_map_neighbours near;
    const int64_t first = (int64_t)histo_tile_before(tiles->per_size[d], (float)place, &near.share);
    const int64_t last = tiles->count[d] - 1;
    near.low = first < 0 ? 0 : first > last ? last : first;
    near.high = first + 1 > last ? last : first + 1;
    return near;
}

HISTO_IN_KERNEL float histo_blend(float low, float high, float share)
{
    return low * (1 - share) + high * share;
}

#endif
