/* Readers: where the samples of a tile lie and how a block reads them. A block takes tiles, and each tile in steps:
 *
 *     for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
 *         histo_tile tile = reader::tile(&work, item);
 *         for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
 *             uint32_t slot[reader::PER_STEP];
 *             reader::slots(&work, &tile, at, slot);
 *             … count slot[k] of batch entry tile.entry, unless it is HISTO_NO_SLOT
 *         }
 *     }
 *
 * The slot of a sample that mask or filter leave out is work.slots, a counter like the others. */
#ifndef CUDA_DEVICE_READER_CUH
#define CUDA_DEVICE_READER_CUH

#include "cuda/device/any_step.cuh"

/* Contiguous aligned samples of one axis, without weights or a mask: 16 bytes at a time, neighbouring threads reading
 * neighbouring 16 bytes; the ends of a tile one by one. */
template <histo_dtype type, typename lookup = histo_any_lookup<type>>
struct histo_contiguous {
    using storage = histo_stored<type>;
    enum { ID = type, PER_STEP = histo_sample<type>::PER_STEP };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t item)
    {
        return histo_tile_aligned(w, item, (int)sizeof(storage));
    }

    static HISTO_MEMBER void slots(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,
                                   uint32_t (&slot)[PER_STEP])
    {
        const int VECTOR = histo_sample<type>::VECTOR, VECTORS = PER_STEP / VECTOR;
        storage x[PER_STEP];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            uint32_t first = at + ((uint32_t)v * blockDim.x + threadIdx.x) * VECTOR;
            const storage *from = (const storage *)tile->at + first;
            uint4 words = {0, 0, 0, 0};
            if (first >= tile->pad && first + VECTOR <= tile->length) words = __ldcs((const uint4 *)from);
            memcpy(&x[v * VECTOR], &words, sizeof words);
            if (first < tile->pad || first + VECTOR > tile->length)
#pragma unroll
                for (int i = 0; i < VECTOR; i++)
                    if (first + i >= tile->pad && first + i < tile->length) x[v * VECTOR + i] = from[i];
        }
        lookup(&w->lookups[0]).slots(x, slot);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            uint32_t first = at + ((uint32_t)v * blockDim.x + threadIdx.x) * VECTOR;
            if (first < tile->pad || first + VECTOR > tile->length)
#pragma unroll
                for (int i = 0; i < VECTOR; i++)
                    if (first + i < tile->pad || first + i >= tile->length) slot[v * VECTOR + i] = HISTO_NO_SLOT;
        }
    }
};

/* Whatever a job can be: see any_step.cuh. Pairs of images one by one. More samples of a step would not fit registers.
 */
struct histo_any_layout {
    enum { ID = HISTO_READ_ANY, PER_STEP = HISTO_STEP_RUN };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t item) { return histo_tile_at(w, item); }

    static HISTO_MEMBER void slots(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,
                                   uint32_t (&slot)[PER_STEP])
    {
        if (!w->iter.images) {
            histo_slots_of_step(w, tile, at, slot);
            return;
        }
#pragma unroll 1
        for (int k = 0; k < PER_STEP; k++) {
            const uint32_t offset = at + (uint32_t)k * blockDim.x + threadIdx.x;
            uint32_t its = HISTO_NO_SLOT;
            if (offset < tile->length) {
                const histo_sample_place place = histo_sample_place_of(w, tile, offset);
                its = histo_slot_of_pair(w, &place);
            }
            histo_select_store(slot, k, its);
        }
    }
};

/* ---- Kernels by reader ---- */

/* Readers that a kernel is made for; the last one reads anything. */
template <typename... readers>
struct histo_readers {
};

using histo_all_readers =
    histo_readers<histo_contiguous<HISTO_U8>, histo_contiguous<HISTO_I8>, histo_contiguous<HISTO_U16>,
                  histo_contiguous<HISTO_I16>, histo_contiguous<HISTO_U32>, histo_contiguous<HISTO_I32>,
                  histo_contiguous<HISTO_U64>, histo_contiguous<HISTO_I64>, histo_contiguous<HISTO_F16>,
                  histo_contiguous<HISTO_BF16>, histo_contiguous<HISTO_F32>, histo_contiguous<HISTO_F64>,
                  histo_any_layout>;

#ifndef __CUDACC_RTC__ /* on the host */

/* kernel_of(reader()) for the reader of the list that has this ID, or else for its last. For count<reader>, kernel_of
 * is
 *
 *     [](auto reader) { return (const void *)count<decltype(reader)>; } */
template <typename... readers, typename function>
const void *histo_kernel_by_reader(histo_readers<readers...>, int id, function kernel_of)
{
    const void *kernel = NULL;
    bool found = false;
    ((kernel = found ? kernel : kernel_of(readers()), found = found || id == (int)readers::ID), ...);
    return kernel;
}

#endif

#endif
