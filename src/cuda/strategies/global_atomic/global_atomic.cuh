/* The kernels of global_atomic: each sample is one atomic addition to the histogram in device memory. */
#ifndef CUDA_GLOBAL_ATOMIC_CUH
#define CUDA_GLOBAL_ATOMIC_CUH

#include "cuda/device/flow.cuh"
#include "cuda/device/reader.cuh"
#include "cuda/device/several_axes.cuh"
#include "cuda/device/touched.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/device/weights/weighted_reader.cuh"

namespace histo::global_atomic
{

/* What a block of many samples keeps on chip: flow, and slots that several lanes of a warp have. The table is emptied
 * every so many steps, so that slots which are frequent for a while, as of sorted samples, find room. */
struct gathered {
    enum { LOG_SIZE = 9, STEPS = 64, WORDS = (2 << LOG_SIZE) + (int)histo_flow::SLOTS };
    histo_touched touched;
    histo_flow flow;
    uint32_t steps;

    HISTO_MEMBER gathered(unsigned int *shared, const histo_cuda_work *w)
        : touched(shared, LOG_SIZE), flow(shared + (2 << LOG_SIZE), w), steps(0)
    {
        flow.clear();
        touched.clear();
    }

    /* A step's slots, except HISTO_NO_SLOT. By the whole block. */
    template <int N>
    HISTO_MEMBER void count(uint32_t (&slot)[N], unsigned long long *counts)
    {
        enum { PART = histo_part_of_step(N) };
#pragma unroll
        for (int first = 0; first < N; first += PART)
            count_part(*(uint32_t(*)[PART])(slot + first), counts);
        if (++steps % STEPS == 0) touched.merge(counts);
    }

    HISTO_MEMBER void merge(unsigned long long *counts) const
    {
        __syncthreads();
        flow.merge(counts);
        touched.merge(counts);
    }

  private:
    template <int N>
    HISTO_MEMBER void count_part(uint32_t (&slot)[N], unsigned long long *counts) const
    {
        uint32_t wanted = (1u << N) - 1;
        flow.count(slot, wanted, N);
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = wanted >> k & 1 ? slot[k] : HISTO_NO_SLOT;
        const uint32_t alike = __match_any_sync(~0u, slot[0]);
        if (__any_sync(~0u, slot[0] != HISTO_NO_SLOT && (alike & (alike - 1)))) {
            touched.count(slot, counts);
            return;
        }
#pragma unroll
        for (int k = 0; k < N; k++)
            if (slot[k] != HISTO_NO_SLOT) atomicAdd(&counts[slot[k]], 1ull);
    }
};

/* Count a tile: slots(at, slot) gives N slots of each thread. */
template <int N, class COUNTER, class TILE, typename SLOTS>
HISTO_IN_KERNEL void count_tile(COUNTER &on_chip, const histo_cuda_work *work, const TILE &tile, SLOTS slots)
{
    unsigned long long *counts = work->counts + tile.entry * work->counters;
    for (uint32_t at = 0; at < tile.length; at += blockDim.x * N) {
        uint32_t slot[N];
        slots(at, slot);
        on_chip.count(slot, counts);
    }
    on_chip.merge(counts);
}

/* All tiles of a block, by a reader of device/reader.cuh. */
template <class READER, class COUNTER>
HISTO_IN_KERNEL void count_tiles(COUNTER &on_chip, const histo_cuda_work *work)
{
    for (int64_t item = blockIdx.x; item < work->tiles; item += gridDim.x) {
        const auto tile = READER::tile(work, item);
        count_tile<READER::PER_STEP>(on_chip, work, tile, [&](uint32_t at, uint32_t(&slot)[READER::PER_STEP]) {
            READER::slots(work, &tile, at, slot);
        });
    }
}

/* READER: see device/reader.cuh. */
template <class READER>
static __global__ void __launch_bounds__(1024) count(const __grid_constant__ histo_cuda_work work)
{
    __shared__ unsigned int shared[gathered::WORDS];
    gathered on_chip(shared, &work);
    count_tiles<READER>(on_chip, &work);
}

/* READER: see several_axes.cuh. */
template <class READER>
static __global__ void __launch_bounds__(1024)
    count_joint(const __grid_constant__ histo_cuda_work work, const __grid_constant__ histo_joint joint)
{
    __shared__ unsigned int shared[gathered::WORDS];
    gathered on_chip(shared, &work);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, &joint, item);
        typename READER::loaded loaded;
        if (tile.length) READER::load(&work, &joint, &tile, 0, &loaded);
        count_tile<READER::PER_STEP>(on_chip, &work, tile, [&](uint32_t at, uint32_t(&slot)[READER::PER_STEP]) {
            READER::slots(&work, &joint, NULL, &tile, at, &loaded, slot);
        });
    }
}

/* Few samples: frequent slots are gathered first. */
template <class READER>
static __global__ void __launch_bounds__(1024)
    count_touched(const __grid_constant__ histo_cuda_work work, const uint32_t log_touched)
{
    extern __shared__ unsigned int shared[];
    const histo_touched touched(shared, log_touched);
    touched.clear();
    count_tiles<READER>(touched, &work);
}

/* With weights: every sample adds to its slot's count and sums. READER: see device/weights/weighted_reader.cuh. */
template <class READER>
static __global__ void __launch_bounds__(1024) count_weighted(const __grid_constant__ histo_cuda_work work)
{
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, item);
        const int64_t first = tile.entry * work.counters;
        uint32_t left_out = 0; /* by mask or filter: often so many that they would wait for each other */
        for (uint32_t offset = threadIdx.x; offset < tile.length; offset += blockDim.x) {
            const auto place = READER::place_of(&work, &tile, offset);
            const uint32_t slot = READER::slot(&work, &place);
            left_out += slot == work.slots;
            if (slot == work.slots) continue;
            atomicAdd(&work.counts[first + slot], 1ull);
            READER::with_weight(&work, &place, [&](auto weight) { histo_add_to_sums(&work, first + slot, weight); });
        }
        __syncwarp();
        left_out = histo_warp_sum(left_out);
        if (left_out && threadIdx.x % 32 == 0)
            atomicAdd(&work.counts[first + work.slots], (unsigned long long)left_out);
    }
}

} // namespace histo::global_atomic

#endif
