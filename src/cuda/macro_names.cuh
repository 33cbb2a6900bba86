/* The names that kernels made by macros paste together, for as long as there are any: whoever converts the last of the
 * files that include this deletes it. They are packed_window.cu, partition.cu,
 * weighted_private.cu, pairs.cuh, sort_runs.cu; joint.cuh includes it for them. */
#ifndef CUDA_MACRO_NAMES_CUH
#define CUDA_MACRO_NAMES_CUH

#include "cuda/cuda.h"
#include "cuda/device/reader.cuh"
#include "cuda/device/weight.cuh"
#include "view/dtype.h"

#define HISTO_FOR_STEPS(reader, tile, at)                                                                              \
    for (uint32_t at = 0; at < (tile).length; at += blockDim.x * HISTO_SAMPLES_##reader)

#define HISTO_LOAD(storage, x, at) storage x = histo_load<storage>(w, at);
#define histo_tile_any histo_tile_at
#define histo_tile_contiguous histo_tile_aligned

#define HISTO_READERS(X) X(u8) X(i8) X(u16) X(i16) X(u32) X(i32) X(u64) X(i64) X(f16) X(bf16) X(f32) X(f64) X(any)
enum { HISTO_READER_COUNT = HISTO_READ_ANY + 1 };
#define HISTO_SAMPLES_u8 16
#define HISTO_SAMPLES_i8 16
#define HISTO_SAMPLES_u16 8
#define HISTO_SAMPLES_i16 8
#define HISTO_SAMPLES_u32 8
#define HISTO_SAMPLES_i32 8
#define HISTO_SAMPLES_u64 4
#define HISTO_SAMPLES_i64 4
#define HISTO_SAMPLES_f16 8
#define HISTO_SAMPLES_bf16 8
#define HISTO_SAMPLES_f32 8
#define HISTO_SAMPLES_f64 4
#define HISTO_SAMPLES_any 4

/* n samples at x as an array, which n, a constant, makes one. */
template <int n, typename T>
HISTO_IN_KERNEL T (&histo_as_array(T *x))[n]
{
    return *(T(*)[n])x;
}

#define DEFINE_NAMES(constant, name, storage, compute, widen)                                                          \
    HISTO_IN_KERNEL uint32_t histo_by_table_##name(const histo_lookup *l, storage x)                                   \
    {                                                                                                                  \
        return histo_table_lookup<constant>(l).slot(x);                                                                \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_by_pow2_##name(const histo_lookup *l, storage x)                                    \
    {                                                                                                                  \
        return histo_pow2_lookup<constant>(l).slot(x);                                                                 \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_by_nearest_##name(const histo_lookup *l, storage x)                                 \
    {                                                                                                                  \
        return histo_nearest_lookup<constant>(l).slot(x);                                                              \
    }                                                                                                                  \
    HISTO_IN_KERNEL uint32_t histo_slot_of_##name(const histo_lookup *l, storage x)                                    \
    {                                                                                                                  \
        return histo_any_lookup<constant>(l).slot(x);                                                                  \
    }                                                                                                                  \
    HISTO_IN_KERNEL histo_tile histo_tile_##name(const histo_cuda_work *w, int64_t item)                               \
    {                                                                                                                  \
        return histo_contiguous<constant>::tile(w, item);                                                              \
    }                                                                                                                  \
    HISTO_IN_KERNEL void histo_slots_##name(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,             \
                                            uint32_t *slot)                                                            \
    {                                                                                                                  \
        histo_contiguous<constant>::slots(w, tile, at, histo_as_array<HISTO_SAMPLES_##name>(slot));                    \
    }                                                                                                                  \
    HISTO_IN_KERNEL void histo_slots_of_##name(const histo_lookup *l, const storage *x, uint32_t *slot)                \
    {                                                                                                                  \
        histo_any_lookup<constant>(l).slots(histo_as_array<HISTO_SAMPLES_##name>(x),                                   \
                                            histo_as_array<HISTO_SAMPLES_##name>(slot));                               \
    }                                                                                                                  \
    template <int n>                                                                                                   \
    HISTO_IN_KERNEL void histo_n_slots_##name(const histo_lookup *l, const storage *x, uint32_t *slot)                 \
    {                                                                                                                  \
        histo_any_lookup<constant>(l).slots(histo_as_array<n>(x), histo_as_array<n>(slot));                            \
    }                                                                                                                  \
    template <int n>                                                                                                   \
    HISTO_IN_KERNEL void histo_cells_slots_##name(const histo_lookup *l, const uint32_t *entry, bool by_bits,          \
                                                  const storage *x, uint32_t *slot)                                    \
    {                                                                                                                  \
        histo_cells_lookup<constant>(l, entry, by_bits).slots(histo_as_array<n>(x), histo_as_array<n>(slot));          \
    }
HISTO_DTYPES(DEFINE_NAMES)
#undef DEFINE_NAMES

HISTO_IN_KERNEL void histo_slots_any(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, uint32_t *slot)
{
    histo_any_layout::slots(w, tile, at, histo_as_array<HISTO_SAMPLES_any>(slot));
}

#define histo_n_slots_of_u8(l, x, slot, n) histo_n_slots_u8<n>(l, x, slot)
#define histo_slots_by_cells_u8(l, entry, by_bits, x, slot, n) histo_cells_slots_u8<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_i8(l, x, slot, n) histo_n_slots_i8<n>(l, x, slot)
#define histo_slots_by_cells_i8(l, entry, by_bits, x, slot, n) histo_cells_slots_i8<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_u16(l, x, slot, n) histo_n_slots_u16<n>(l, x, slot)
#define histo_slots_by_cells_u16(l, entry, by_bits, x, slot, n) histo_cells_slots_u16<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_i16(l, x, slot, n) histo_n_slots_i16<n>(l, x, slot)
#define histo_slots_by_cells_i16(l, entry, by_bits, x, slot, n) histo_cells_slots_i16<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_u32(l, x, slot, n) histo_n_slots_u32<n>(l, x, slot)
#define histo_slots_by_cells_u32(l, entry, by_bits, x, slot, n) histo_cells_slots_u32<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_i32(l, x, slot, n) histo_n_slots_i32<n>(l, x, slot)
#define histo_slots_by_cells_i32(l, entry, by_bits, x, slot, n) histo_cells_slots_i32<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_u64(l, x, slot, n) histo_n_slots_u64<n>(l, x, slot)
#define histo_slots_by_cells_u64(l, entry, by_bits, x, slot, n) histo_cells_slots_u64<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_i64(l, x, slot, n) histo_n_slots_i64<n>(l, x, slot)
#define histo_slots_by_cells_i64(l, entry, by_bits, x, slot, n) histo_cells_slots_i64<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_f16(l, x, slot, n) histo_n_slots_f16<n>(l, x, slot)
#define histo_slots_by_cells_f16(l, entry, by_bits, x, slot, n) histo_cells_slots_f16<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_bf16(l, x, slot, n) histo_n_slots_bf16<n>(l, x, slot)
#define histo_slots_by_cells_bf16(l, entry, by_bits, x, slot, n) histo_cells_slots_bf16<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_f32(l, x, slot, n) histo_n_slots_f32<n>(l, x, slot)
#define histo_slots_by_cells_f32(l, entry, by_bits, x, slot, n) histo_cells_slots_f32<n>(l, entry, by_bits, x, slot)
#define histo_n_slots_of_f64(l, x, slot, n) histo_n_slots_f64<n>(l, x, slot)
#define histo_slots_by_cells_f64(l, entry, by_bits, x, slot, n) histo_cells_slots_f64<n>(l, entry, by_bits, x, slot)

#endif
