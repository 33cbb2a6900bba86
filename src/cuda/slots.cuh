/* Samples to slots inside kernels. A kernel's block takes tiles, and each tile in steps:
 *
 *     for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
 *         histo_tile tile = histo_tile_u8(&work, item);
 *         HISTO_FOR_STEPS(u8, tile, at) {
 *             uint32_t slot[HISTO_SAMPLES_u8];
 *             histo_slots_u8(&work, &tile, at, slot);
 *             … count slot[k] of batch entry tile.entry, unless it is HISTO_NO_SLOT
 *         }
 *     }
 *
 * The slot of a sample that mask or filter leave out is work.slots, a counter like the others. The index code is that
 * of axis/slot_of.h, or integer arithmetic that gives the same. */
#ifndef CUDA_SLOTS_CUH
#define CUDA_SLOTS_CUH

#include "cuda/cuda.h"

#define HISTO_IN_KERNEL static __device__ __forceinline__

typedef struct histo_tile {
    int64_t entry;                     /* of the batch */
    int64_t index[HISTO_MAX_DIMS + 1]; /* of the first sample in the strided iterator */
    uint32_t length;                   /* samples, and `pad` */
    /* Readers of contiguous samples begin at a multiple of 16 bytes, `pad` samples before the first: */
    const char *at;
    uint32_t pad;
} histo_tile;

/* Of ragged segments. The beginnings of pieces (samples_each samples from one to the next) and those of segments, in
 * their order, pieces first where they meet: a tile reaches from one of them to the next. The first item + 1 are found
 * by bisection: so many of segments, the rest of pieces. */
HISTO_IN_KERNEL histo_tile histo_tile_ragged(const histo_cuda_work *w, int64_t item)
{
    histo_tile tile = {};
    const int64_t *offsets = w->iter.offsets;
    int64_t batch = w->iter.batch, pieces = w->tiles - batch, each = w->samples_each;
    int64_t low = item + 1 < pieces ? 0 : item + 1 - pieces, high = item + 1 < batch ? item + 1 : batch;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2, piece = item + 1 - middle;
        if (piece >= pieces || offsets[middle - 1] < w->begin + piece * each)
            low = middle;
        else
            high = middle - 1;
    }
    int64_t piece = item + 1 - low, begin = w->begin, end = w->end;
    if (piece > 0) begin = w->begin + (piece - 1) * each;
    if (piece < pieces) end = w->begin + piece * each;
    if (low > 0 && begin < offsets[low - 1]) begin = offsets[low - 1];
    if (low < batch && end > offsets[low]) end = offsets[low];
    tile.entry = low > 0 ? low - 1 : 0;
    tile.length = low > 0 && end > begin ? (uint32_t)(end - begin) : 0;
    tile.index[0] = begin;
    tile.at = w->iter.base[0] + begin * w->iter.strides[0][0];
    return tile;
}

/* The tile `item` of work.tiles. Of entries that the job cuts, tiles may be empty. */
HISTO_IN_KERNEL histo_tile histo_tile_any(const histo_cuda_work *w, int64_t item)
{
    if (w->iter.offsets) return histo_tile_ragged(w, item);
    histo_tile tile;
    int64_t each = w->iter.per_batch;
    tile.entry = w->first_entry + item / w->tiles_per_entry;
    int64_t first = tile.entry * each, last = first + each;
    first = first < w->begin ? w->begin : first;
    last = last > w->end ? w->end : last;
    int64_t begin = first + item % w->tiles_per_entry * w->samples_each;
    int64_t end = begin + w->samples_each < last ? begin + w->samples_each : last;
    tile.length = end > begin ? (uint32_t)(end - begin) : 0;
    tile.pad = 0;
    tile.at = w->iter.base[0];
#pragma unroll
    for (int d = HISTO_MAX_DIMS; d >= 0; d--) {
        tile.index[d] = 0;
        if (d >= w->iter.ndim) continue;
        int64_t extent = w->iter.shape[d];
        int64_t above = d > 0 ? begin / extent : 0;
        tile.index[d] = begin - above * extent;
        begin = above;
        tile.at += tile.index[d] * w->iter.strides[0][d];
    }
    return tile;
}

HISTO_IN_KERNEL histo_tile histo_tile_contiguous(const histo_cuda_work *w, int64_t item, int size)
{
    histo_tile tile = histo_tile_any(w, item);
    uint32_t beyond = (uint32_t)((uint64_t)tile.at & 15);
    tile.pad = beyond / (uint32_t)size;
    tile.at -= beyond;
    if (tile.length) tile.length += tile.pad;
    return tile;
}

#define HISTO_FOR_STEPS(reader, tile, at)                                                                              \
    for (uint32_t at = 0; at < (tile).length; at += blockDim.x * HISTO_SAMPLES_##reader)

/* ---- One sample ---- */

#define histo_slot_by_double histo_slot_f64
#define histo_slot_by_int64_t histo_slot_i64
#define histo_slot_by_uint64_t histo_slot_u64
#define histo_less_by_double histo_less_f64
#define histo_less_by_int64_t histo_less_i64
#define histo_less_by_uint64_t histo_less_u64
#define histo_is_over_by_double histo_is_over_f64
#define histo_is_over_by_int64_t histo_is_over_i64
#define histo_is_over_by_uint64_t histo_is_over_u64
#define histo_above_by_double histo_above_f64
#define histo_above_by_int64_t histo_above_i64
#define histo_above_by_uint64_t histo_above_u64

/* Ways to the slot of a sample: by the table of bit patterns, by integer arithmetic (histo_pow2), by the nearest edge
 * (UNIFORM), by cells, by searching the edges. For each a function of a sample, overloaded by the type it is computed
 * in. */
HISTO_IN_KERNEL uint32_t histo_by_pow2(const histo_lookup *l, int32_t x)
{
    int32_t cut = min(max(x, (int32_t)l->pow2.low), (int32_t)l->pow2.high);
    uint32_t slot = ((uint32_t)cut - l->pow2.from) >> l->pow2.shift;
    return l->pow2.closed && x == (int32_t)l->pow2.high ? (uint32_t)l->bins : slot;
}

HISTO_IN_KERNEL uint32_t histo_by_pow2(const histo_lookup *l, uint32_t x)
{
    uint32_t slot = (min(max(x, l->pow2.low), l->pow2.high) - l->pow2.from) >> l->pow2.shift;
    return l->pow2.closed && x == l->pow2.high ? (uint32_t)l->bins : slot;
}

HISTO_IN_KERNEL uint32_t histo_by_nearest(const histo_lookup *l, double x)
{
    return histo_nearest_f64(l, x);
}

HISTO_IN_KERNEL uint32_t histo_by_nearest(const histo_lookup *l, int64_t x)
{
    return histo_nearest_i64(l, x);
}

HISTO_IN_KERNEL uint32_t histo_by_nearest(const histo_lookup *l, uint64_t x)
{
    return histo_nearest_u64(l, x);
}

/* As histo_nearest_f64, with the comparisons of the axis' ends in float. */
HISTO_IN_KERNEL uint32_t histo_by_nearest(const histo_lookup *l, float x)
{
    const double round = 0x1.8p52;
    double d = (double)x, sum = (d - l->lo) * l->per_step + round;
    int32_t n = l->bins, slot = __double2loint(sum) + (d >= l->lo + (sum - round) * l->step);
    slot = min(max(slot, 1), n);
    slot = x >= l->over_f32 ? n + 1 : slot;
    slot = x < l->first_f32 ? 0 : slot;
    return (uint32_t)(x != x ? n + 2 : slot);
}

/* Where a float is guessed to be by its curve (histo_lookup.near_f32): the number of the nearest edge, + HISTO_GUESS_0,
 * and how far it is before that, in bins. Those beyond the axis are guessed to be at its ends, and NaN too. Rounding to
 * the nearest is by adding 1.5 * 2^23, whose bits HISTO_GUESS_0 is. */
typedef struct histo_guess {
    uint32_t bits;
    float before;
} histo_guess;

#define HISTO_GUESS_0 UINT32_C(0x4b400000)

HISTO_IN_KERNEL histo_guess histo_guess_of(const histo_lookup *l, float curve)
{
    const float round = 0x1.8p23f, bins = (float)l->bins;
    float tile = __saturatef(__fmaf_rn(curve, l->scale_f32, l->offset_f32)), sum = __fmaf_rn(tile, bins, round);
    return histo_guess{__float_as_uint(sum), __fmaf_rn(-tile, bins, sum - round)};
}

/* Floats on a regular axis by guesses, and those near edges by these; false if there are no guesses. */
HISTO_IN_KERNEL bool histo_slots_by_guess(const histo_lookup *l, const float *x, uint32_t *slot, int n)
{
    if (!l->near_f32) return false;
    float nearest = 1;
#pragma unroll
    for (int i = 0; i < n; i++) {
        histo_guess guess = histo_guess_of(l, x[i]);
        slot[i] = guess.before < 0 ? guess.bits - (HISTO_GUESS_0 - 1) : guess.bits - HISTO_GUESS_0;
        nearest = fminf(nearest, fabsf(guess.before));
    }
    if (nearest <= l->margin_f32)
#pragma unroll
        for (int i = 0; i < n; i++)
            slot[i] = histo_by_nearest(l, x[i]);
    return true;
}

HISTO_IN_KERNEL bool histo_slots_by_guess(const histo_lookup *, const void *, uint32_t *, int)
{
    return false;
}

HISTO_IN_KERNEL uint32_t histo_position(const histo_cells *c, bool by_bits, float x)
{
    return histo_position_f32(c, by_bits, x);
}

HISTO_IN_KERNEL uint32_t histo_position(const histo_cells *c, bool by_bits, double x)
{
    return histo_position_f64(c, by_bits, x);
}

HISTO_IN_KERNEL uint32_t histo_position(const histo_cells *c, bool by_bits, int64_t x)
{
    return histo_position_f64(c, by_bits, (double)x);
}

HISTO_IN_KERNEL uint32_t histo_position(const histo_cells *c, bool by_bits, uint64_t x)
{
    return histo_position_f64(c, by_bits, (double)x);
}

HISTO_IN_KERNEL bool histo_is_below(const histo_lookup *l, float x)
{
    return x < l->first_f32;
}

HISTO_IN_KERNEL bool histo_is_below(const histo_lookup *l, double x)
{
    return x < l->lo;
}

HISTO_IN_KERNEL bool histo_is_below(const histo_lookup *l, int64_t x)
{
    return histo_less_i64(x, l->lo);
}

HISTO_IN_KERNEL bool histo_is_below(const histo_lookup *l, uint64_t x)
{
    return histo_less_u64(x, l->lo);
}

/* The type in which nearest edges and positions of a dtype are computed. */
#define histo_native_u8 double
#define histo_native_i8 double
#define histo_native_u16 double
#define histo_native_i16 double
#define histo_native_u32 double
#define histo_native_i32 double
#define histo_native_u64 uint64_t
#define histo_native_i64 int64_t
#define histo_native_f16 float
#define histo_native_bf16 float
#define histo_native_f32 float
#define histo_native_f64 double

/* For a dtype of stored samples: the slot of one, histo_slot_of_u8(lookup, x), and of N in one of the ways, or in that
 * which the lookup has, histo_slots_of_u8(lookup, x, slot), or of n <= N, histo_n_slots_of_u8. Every 8-bit lookup has a
 * table. */
#define DEFINE_SLOT_OF(constant, name, storage, compute, widen)                                                        \
    HISTO_IN_KERNEL uint32_t histo_by_table_##name(const histo_lookup *l, storage x)                                   \
    {                                                                                                                  \
        uint16_t pattern = 0;                                                                                          \
        memcpy(&pattern, &x, sizeof x <= 2 ? sizeof x : 0);                                                            \
        return __ldg(&l->table[pattern]);                                                                              \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_by_pow2_##name(const histo_lookup *l, storage x)                                    \
    {                                                                                                                  \
        return (storage)-1 < (storage)1 ? histo_by_pow2(l, (int32_t)x) : histo_by_pow2(l, (uint32_t)x);                \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_by_nearest_##name(const histo_lookup *l, storage x)                                 \
    {                                                                                                                  \
        return histo_by_nearest(l, (histo_native_##name)widen(x));                                                     \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_by_edge_##name(const histo_lookup *l, uint32_t edge, storage stored)                \
    {                                                                                                                  \
        compute x = (compute)widen(stored);                                                                            \
        bool last = edge == (uint32_t)l->bins;                                                                         \
        return edge + (last ? histo_is_over_by_##compute(l, x) : !histo_less_by_##compute(x, l->edges[edge]));         \
    }                                                                                                                  \
    HISTO_IN_KERNEL void histo_slots_by_cells_##name(const histo_lookup *l, const uint32_t *entry, bool by_bits,       \
                                                     const storage *x, uint32_t *slot, int n)                          \
    {                                                                                                                  \
        typedef histo_native_##name native;                                                                            \
        const histo_cells *c = &l->cells;                                                                              \
        uint32_t sum[HISTO_SAMPLES_##name];                                                                            \
        const bool exact = by_bits && sizeof(native) == sizeof(float); /* all bits are the position */                 \
        bool is_nan = false, special = false;                                                                          \
        uint32_t short_of = UINT32_MAX;                                                                                \
        _Pragma("unroll") for (int i = 0; i < n; i++)                                                                  \
        {                                                                                                              \
            native v = (native)widen(x[i]);                                                                            \
            sum[i] = histo_cells_sum(c, by_bits, entry, histo_position(c, by_bits, v));                                \
            is_nan = is_nan || v != v;                                                                                 \
            special = special || sum[i] >= c->special;                                                                 \
        }                                                                                                              \
        _Pragma("unroll 1") for (int level = 1; level <= c->levels && special; level++)                                \
        {                                                                                                              \
            special = false;                                                                                           \
            _Pragma("unroll") for (int i = 0; i < n; i++)                                                              \
            {                                                                                                          \
                sum[i] = histo_cells_finer(c, entry, sum[i], level);                                                   \
                special = special || sum[i] >= c->special;                                                             \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("unroll") for (int i = 0; i < n; i++)                                                                  \
        {                                                                                                              \
            slot[i] = sum[i] >> (c->low + 1);                                                                          \
            short_of = min(short_of, histo_cells_short(c, sum[i]));                                                    \
        }                                                                                                              \
        if (short_of == 0 && !exact) _Pragma("unroll") for (int i = 0; i < n; i++)                                     \
            {                                                                                                          \
                bool is = histo_cells_equals(c, sum[i]) && sum[i] < c->special;                                        \
                uint32_t compared = histo_by_edge_##name(l, is ? slot[i] : 0, x[i]);                                   \
                slot[i] = is ? compared : slot[i];                                                                     \
            }                                                                                                          \
        if (special) _Pragma("unroll 1") for (int k = 0; k < n; k++)                                                   \
            {                                                                                                          \
                storage one = x[0];                                                                                    \
                uint32_t it = sum[0];                                                                                  \
                _Pragma("unroll") for (int i = 1; i < n; i++)                                                          \
                {                                                                                                      \
                    one = i == k ? x[i] : one; /* keeps the arrays in registers */                                     \
                    it = i == k ? sum[i] : it;                                                                         \
                }                                                                                                      \
                if (it < c->special) continue;                                                                         \
                it = histo_slot_by_##compute(l, (compute)widen(one));                                                  \
                _Pragma("unroll") for (int i = 0; i < n; i++) slot[i] = i == k ? it : slot[i];                         \
            }                                                                                                          \
        if (by_bits && c->from_below)                                                                                  \
            _Pragma("unroll") for (int i = 0; i < n; i++) slot[i] =                                                    \
                histo_is_below(l, (native)widen(x[i])) ? 0 : slot[i];                                                  \
        if (is_nan) _Pragma("unroll") for (int i = 0; i < n; i++)                                                      \
            {                                                                                                          \
                native v = (native)widen(x[i]);                                                                        \
                slot[i] = v != v ? (uint32_t)l->bins + 2 : slot[i];                                                    \
            }                                                                                                          \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_slot_of_##name(const histo_lookup *l, storage x)                                    \
    {                                                                                                                  \
        if (sizeof x <= 4 && l->pow2.is) return histo_by_pow2_##name(l, x);                                            \
        if (sizeof x <= 2 && l->table) return histo_by_table_##name(l, x);                                             \
        if (l->kind == HISTO_UNIFORM) return histo_by_nearest_##name(l, x);                                            \
        if (sizeof x <= 2 || !l->cells.entry) return histo_slot_by_##compute(l, (compute)widen(x));                    \
        uint32_t slot;                                                                                                 \
        histo_slots_by_cells_##name(l, l->cells.entry, l->cells.by_bits, &x, &slot, 1);                                \
        return slot;                                                                                                   \
    }                                                                                                                  \
    HISTO_IN_KERNEL void histo_n_slots_of_##name(const histo_lookup *l, const storage *x, uint32_t *slot, int n)       \
    {                                                                                                                  \
        if (sizeof(storage) <= 4 && l->pow2.is) {                                                                      \
            _Pragma("unroll") for (int i = 0; i < n; i++) slot[i] = histo_by_pow2_##name(l, x[i]);                     \
        } else if (sizeof(storage) == 1 || (sizeof(storage) == 2 && l->table)) {                                       \
            _Pragma("unroll") for (int i = 0; i < n; i++) slot[i] = histo_by_table_##name(l, x[i]);                    \
        } else if (l->kind == HISTO_UNIFORM) {                                                                         \
            if (!histo_slots_by_guess(l, x, slot, n))                                                                  \
                _Pragma("unroll") for (int i = 0; i < n; i++) slot[i] = histo_by_nearest_##name(l, x[i]);              \
        } else if (sizeof(storage) > 2 && l->cells.entry) {                                                            \
            histo_slots_by_cells_##name(l, l->cells.entry, l->cells.by_bits, x, slot, n);                              \
        } else {                                                                                                       \
            _Pragma("unroll 1") for (int k = 0; k < n; k++)                                                            \
            {                                                                                                          \
                storage one = x[0];                                                                                    \
                _Pragma("unroll") for (int i = 0; i < n; i++) one = i == k ? x[i] : one;                               \
                uint32_t found = histo_slot_by_##compute(l, (compute)widen(one));                                      \
                _Pragma("unroll") for (int i = 0; i < n; i++) slot[i] = i == k ? found : slot[i];                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    HISTO_IN_KERNEL void histo_slots_of_##name(const histo_lookup *l, const storage *x, uint32_t *slot)                \
    {                                                                                                                  \
        histo_n_slots_of_##name(l, x, slot, HISTO_SAMPLES_##name);                                                     \
    }
HISTO_DTYPES(DEFINE_SLOT_OF)
#undef DEFINE_SLOT_OF

/* ---- Samples of any layout ---- */

HISTO_IN_KERNEL uint32_t histo_divide(uint32_t n, histo_divisor by)
{
    uint32_t t = __umulhi(n, by.factor);
    return (t + ((n - t) >> by.shift1)) >> by.shift2;
}

/* Where one sample is in the strided iterator: that which is `offset` behind the first of the tile. Only the dimensions
 * behind the batch's move, and offset is less than 2^31: so whatever is carried into a dimension is, too, and a
 * dimension that is longer wraps at most once. */
typedef struct histo_place {
    int64_t index[HISTO_MAX_DIMS + 1];
} histo_place;

HISTO_IN_KERNEL histo_place histo_place_of(const histo_cuda_work *w, const histo_tile *tile, uint32_t offset)
{
    histo_place place;
    uint64_t carry = offset;
#pragma unroll
    for (int d = HISTO_MAX_DIMS; d >= 0; d--) {
        place.index[d] = tile->index[d];
        if (d >= w->iter.ndim || d < w->iter.batch_ndim) continue;
        uint64_t at = (uint64_t)tile->index[d] + carry, extent = (uint64_t)w->iter.shape[d];
        if (d == w->iter.batch_ndim)
            carry = 0;
        else if (extent <= INT32_MAX)
            carry = histo_divide((uint32_t)at, w->divisors[d]);
        else
            carry = at >= extent;
        place.index[d] = (int64_t)(at - carry * extent);
    }
    return place;
}

HISTO_IN_KERNEL const char *histo_address(const histo_cuda_work *w, const histo_place *place, int operand)
{
    const char *at = w->iter.base[operand];
#pragma unroll
    for (int d = 0; d <= HISTO_MAX_DIMS; d++)
        if (d < w->iter.ndim) at += place->index[d] * w->iter.strides[operand][d];
    return at;
}

/* Byte by byte, and not by memcpy: nvcc 13.0 was seen to join a memcpy with the aligned load of the other branch into
 * one aligned load of both. */
HISTO_IN_KERNEL uint64_t histo_bytes_at(const char *at, int size)
{
    uint64_t bytes = 0;
#pragma unroll
    for (int i = 0; i < size; i++)
        bytes |= (uint64_t) * (const volatile unsigned char *)(at + i) << (8 * i);
    return bytes;
}

#define HISTO_LOAD(storage, x, at)                                                                                     \
    storage x;                                                                                                         \
    if (w->aligned) {                                                                                                  \
        x = *(const storage *)(at);                                                                                    \
    } else {                                                                                                           \
        uint64_t stored_bytes = histo_bytes_at(at, sizeof x);                                                          \
        memcpy(&x, &stored_bytes, sizeof x);                                                                           \
    }

HISTO_IN_KERNEL uint32_t histo_slot_at(const histo_cuda_work *w, int axis, const char *at)
{
    switch (w->dtypes[axis]) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        HISTO_LOAD(storage, x, at)                                                                                     \
        return histo_slot_of_##name(&w->lookups[axis], x);                                                             \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return 0;
    }
}

HISTO_IN_KERNEL bool histo_is_masked(const histo_cuda_work *w, const char *at)
{
    switch (w->dtypes[w->mask]) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        HISTO_LOAD(storage, x, at)                                                                                     \
        return !(widen(x) != 0);                                                                                       \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return false;
    }
}

HISTO_IN_KERNEL bool histo_is_outside(const histo_cuda_work *w, const char *at)
{
    switch (w->dtypes[w->where]) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        HISTO_LOAD(storage, stored, at)                                                                                \
        compute x = (compute)widen(stored);                                                                            \
        return x != x || histo_less_by_##compute(x, w->where_lo) || histo_above_by_##compute(x, w->where_hi);          \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return false;
    }
}

/* ---- Pairs of images ---- */

HISTO_IN_KERNEL uint32_t histo_slot_of_mean(const histo_cuda_work *w, uint32_t mean)
{
    const histo_lookup *l = &w->lookups[HISTO_MEAN];
    return w->dtypes[0] == HISTO_U8 ? histo_slot_of_u8(l, (uint8_t)mean) : histo_slot_of_u16(l, (uint16_t)mean);
}

/* The value at a place of an image, whose address in the first one is given. */
HISTO_IN_KERNEL int32_t histo_value_in_image(const histo_cuda_work *w, const char *first, int image)
{
    const char *at = first + image * w->iter.image_stride;
    if (w->dtypes[0] == HISTO_U8) return *(const uint8_t *)at;
    HISTO_LOAD(uint16_t, x, at)
    return x;
}

/* The slot of a pair in a strided iterator of pairs: all images are read for it. */
HISTO_IN_KERNEL uint32_t histo_slot_of_pair(const histo_cuda_work *w, const histo_place *place)
{
    const int images = w->iter.images;
    int image = 0;
#pragma unroll
    for (int d = 0; d <= HISTO_MAX_DIMS; d++) /* keeps index[] in registers */
        image = d == w->iter.batch_ndim ? (int)place->index[d] * w->iter.step : image;
    const char *first = histo_address(w, place, 0) - image * w->iter.image_stride;
    uint32_t sum = 0;
#pragma unroll 1
    for (int i = 0; i < images; i++)
        sum += (uint32_t)histo_value_in_image(w, first, i);
    uint32_t mean = histo_mean_of(sum, (uint32_t)images, histo_mean_factor((uint32_t)images));
    int32_t difference =
        histo_value_in_image(w, first, image) - histo_value_in_image(w, first, image + 1 < images ? image + 1 : 0);
    return w->slot_strides[HISTO_DIFFERENCE] * histo_slot_of_i32(&w->lookups[HISTO_DIFFERENCE], difference) +
           w->slot_strides[HISTO_MEAN] * histo_slot_of_mean(w, mean);
}

/* ---- Any sample ---- */

/* The slot of the sample at a place, all axes, mask and filter counted in. */
HISTO_IN_KERNEL uint32_t histo_slot_of_place(const histo_cuda_work *w, const histo_place *place)
{
    if (w->iter.images) return histo_slot_of_pair(w, place);
    if (w->mask != HISTO_ABSENT && histo_is_masked(w, histo_address(w, place, w->mask))) return w->slots;
    if (w->where != HISTO_ABSENT && histo_is_outside(w, histo_address(w, place, w->where))) return w->slots;
    uint32_t slot = 0;
    for (int a = 0; a < w->naxes; a++)
        slot += w->slot_strides[a] * histo_slot_at(w, a, histo_address(w, place, a));
    return slot;
}

/* The slot of the number-th of about n samples of the job's part of a batch entry, HISTO_NO_SLOT if there are not as
 * many: evenly spread, but not so evenly that rows of an image could line up. */
HISTO_IN_KERNEL uint32_t histo_slot_sampled(const histo_cuda_work *w, int64_t entry, uint32_t number, uint32_t n)
{
    int64_t first = entry * w->iter.per_batch, last = first + w->iter.per_batch;
    first = first < w->begin ? w->begin : first;
    last = last > w->end ? w->end : last;
    int64_t length = last - first, step = length / n + 1;
    int64_t at = number * step + (int64_t)(number * 2654435761u) % step;
    if (at >= length) return HISTO_NO_SLOT;
    histo_tile tile = histo_tile_any(w, (entry - w->first_entry) * w->tiles_per_entry + at / w->samples_each);
    histo_place place = histo_place_of(w, &tile, (uint32_t)(at % w->samples_each));
    return histo_slot_of_place(w, &place);
}

/* ---- The slots of a step, by reader ---- */

/* Neighbouring threads read neighbouring samples. */
HISTO_IN_KERNEL void histo_slots_any(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, uint32_t *slot)
{
#pragma unroll 1
    for (int k = 0; k < HISTO_SAMPLES_any; k++) {
        uint32_t offset = at + (uint32_t)k * blockDim.x + threadIdx.x;
        uint32_t s = HISTO_NO_SLOT;
        if (offset < tile->length) {
            histo_place place = histo_place_of(w, tile, offset);
            s = histo_slot_of_place(w, &place);
        }
#pragma unroll
        for (int i = 0; i < HISTO_SAMPLES_any; i++) /* keeps slot[] in registers */
            slot[i] = i == k ? s : slot[i];
    }
}

/* 16 bytes at a time, neighbouring threads reading neighbouring 16 bytes; the ends of a tile one by one. */
#define DEFINE_READER(constant, name, storage, compute, widen)                                                         \
    HISTO_IN_KERNEL histo_tile histo_tile_##name(const histo_cuda_work *w, int64_t item)                               \
    {                                                                                                                  \
        return histo_tile_contiguous(w, item, (int)sizeof(storage));                                                   \
    }                                                                                                                  \
    HISTO_IN_KERNEL void histo_slots_##name(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,             \
                                            uint32_t *slot)                                                            \
    {                                                                                                                  \
        enum { VECTOR = 16 / (int)sizeof(storage), VECTORS = HISTO_SAMPLES_##name / VECTOR };                          \
        storage x[HISTO_SAMPLES_##name];                                                                               \
        _Pragma("unroll") for (int v = 0; v < VECTORS; v++)                                                            \
        {                                                                                                              \
            uint32_t first = at + ((uint32_t)v * blockDim.x + threadIdx.x) * VECTOR;                                   \
            const storage *from = (const storage *)tile->at + first;                                                   \
            uint4 words = {0, 0, 0, 0};                                                                                \
            if (first >= tile->pad && first + VECTOR <= tile->length) words = __ldcs((const uint4 *)from);             \
            memcpy(&x[v * VECTOR], &words, sizeof words);                                                              \
            if (first < tile->pad || first + VECTOR > tile->length)                                                    \
                _Pragma("unroll") for (int i = 0; i < VECTOR;                                                          \
                                       i++) if (first + i >= tile->pad && first + i < tile->length)                    \
                    x[v * VECTOR + i] = from[i];                                                                       \
        }                                                                                                              \
        histo_slots_of_##name(&w->lookups[0], x, slot);                                                                \
        _Pragma("unroll") for (int v = 0; v < VECTORS; v++)                                                            \
        {                                                                                                              \
            uint32_t first = at + ((uint32_t)v * blockDim.x + threadIdx.x) * VECTOR;                                   \
            if (first < tile->pad || first + VECTOR > tile->length)                                                    \
                _Pragma("unroll") for (int i = 0; i < VECTOR;                                                          \
                                       i++) if (first + i < tile->pad || first + i >= tile->length)                    \
                    slot[v * VECTOR + i] = HISTO_NO_SLOT;                                                              \
        }                                                                                                              \
    }
HISTO_DTYPES(DEFINE_READER)
#undef DEFINE_READER

/* ---- Weights ---- */

/* A weight, and its square rounded once to double, are added to counter `i` of the accumulators. */
HISTO_IN_KERNEL void histo_add_digit(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, int window,
                                     long long digit)
{
    if (digit) {
        long long *plane = e->digits + (window - e->low) * (w->iter.batch * w->counters);
        atomicAdd((unsigned long long *)&plane[i], (unsigned long long)digit);
    }
}

HISTO_IN_KERNEL void histo_add_slices(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i,
                                      histo_exact_slices cut)
{
#pragma unroll
    for (int s = 0; s < 3; s++)
        histo_add_digit(w, e, i, cut.window + s, cut.negative ? -(long long)cut.slice[s] : (long long)cut.slice[s]);
}

HISTO_IN_KERNEL void histo_add_exact_double(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, double x)
{
    uint64_t bits = histo_exact_bits(x);
    if (!histo_exact_is_special(bits))
        histo_add_slices(w, e, i, histo_exact_cut_f64(bits));
    else
        atomicOr(&e->special[i], x != x  ? HISTO_EXACT_NAN
                                 : x > 0 ? HISTO_EXACT_POSITIVE_INFINITY
                                         : HISTO_EXACT_NEGATIVE_INFINITY);
}

HISTO_IN_KERNEL void histo_add_exact_int64_t(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, int64_t x)
{
    histo_add_slices(w, e, i, histo_exact_cut_i64(x));
}

HISTO_IN_KERNEL void histo_add_exact_uint64_t(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i,
                                              uint64_t x)
{
    histo_add_slices(w, e, i, histo_exact_cut_u64(x, false));
}

HISTO_IN_KERNEL double histo_square_double(double x)
{
    return x * x;
}

/* 128 bits rounded once: the upper 64 of them, the last set if anything follows. */
HISTO_IN_KERNEL double histo_round_u128(uint64_t high, uint64_t low)
{
    if (high == 0) return (double)low;
    int shift = __clzll((long long)high);
    uint64_t head = shift ? high << shift | low >> (64 - shift) : high;
    head |= (low << shift) != 0;
    return ldexp((double)head, 64 - shift);
}

HISTO_IN_KERNEL double histo_square_uint64_t(uint64_t x)
{
    return histo_round_u128(__umul64hi(x, x), x * x);
}

HISTO_IN_KERNEL double histo_square_int64_t(int64_t x)
{
    return histo_square_uint64_t(x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

/* Add the weight at `at` (1 if there are none) to the sums of counter i, counted over the whole batch. */
HISTO_IN_KERNEL void histo_add_weight(const histo_cuda_work *w, int64_t i, const char *at)
{
    const uint8_t one = 1;
    switch (w->weights == HISTO_ABSENT ? HISTO_U8 : w->dtypes[w->weights]) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        storage stored;                                                                                                \
        if (at) {                                                                                                      \
            HISTO_LOAD(storage, loaded, at)                                                                            \
            stored = loaded;                                                                                           \
        } else {                                                                                                       \
            stored = (storage)one;                                                                                     \
        }                                                                                                              \
        compute x = (compute)widen(stored);                                                                            \
        if (w->sum_w) {                                                                                                \
            double x_f64 = (double)x;                                                                                  \
            atomicAdd(&w->sum_w[i], x_f64);                                                                            \
            if (w->sum_w2) atomicAdd(&w->sum_w2[i], x_f64 *x_f64);                                                     \
        } else {                                                                                                       \
            histo_add_exact_##compute(w, &w->exact[0], i, x);                                                          \
            if (w->exact[1].digits) histo_add_exact_double(w, &w->exact[1], i, histo_square_##compute(x));             \
        }                                                                                                              \
        break;                                                                                                         \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        break;
    }
}

#endif
