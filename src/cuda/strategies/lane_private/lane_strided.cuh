/* Several axes, and samples of any layout. */
#ifndef CUDA_LANE_STRIDED_CUH
#define CUDA_LANE_STRIDED_CUH

#include "cuda/jit/specialised_lookup.cuh"
#include "cuda/strategies/lane_private/lane_counters.cuh"

namespace histo::lane_private
{

/* reader: see device/reader.cuh; histo_any_layout reads whatever a job can be. */
template <class reader, class counter>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ counter_layout l)
{
    extern __shared__ __align__(16) unsigned int shared[];
    const counter counts(shared, &l);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        clear_counters<counter>(shared, &l, item == blockIdx.x);
        __syncthreads();
        histo_tile tile = reader::tile(&work, item);
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
            uint32_t slot[reader::PER_STEP];
            reader::slots(&work, &tile, at, slot);
#pragma unroll
            for (int k = 0; k < reader::PER_STEP; k++)
                if (slot[k] != HISTO_NO_SLOT) counts.count(slot[k]);
        }
        merge_counters<counter>(shared, &l, &work, tile.entry);
    }
}

/* slot_counter with the layout's constants, log_copies and spreads, in the code. By value, the counter after the
 * values is that of the samples left out. */
template <class constants>
struct specialised_counter : slot_counter {
    using slot_counter::slot_counter;

    static HISTO_MEMBER uint32_t counters(const histo_cuda_work *w)
    {
        return constants::by_value ? VALUES + 1 : slot_counter::counters(w);
    }
    static HISTO_MEMBER uint32_t log_copies(const counter_layout *) { return constants::log_copies; }
    static HISTO_MEMBER uint32_t slot(const counter_layout *l, const histo_cuda_work *w, uint32_t counter)
    {
        if (!constants::by_value) return slot_counter::slot(l, w, counter);
        return counter < VALUES ? w->lookups[0].table[counter] : w->slots;
    }

    HISTO_MEMBER void count(uint32_t slot) const
    {
        atomicAdd(&copy[(constants::spreads ? histo_spread(slot) : slot) << constants::log_copies], 1u);
    }

    HISTO_MEMBER void count(const uint32_t *slot, int n) const
    {
#pragma unroll
        for (int k = 0; k < n; k++)
            count(slot[k]);
    }
};

/* reader: see several_axes.cuh. The first samples travel while a block prepares. */
template <class reader, class counter>
static __global__ void __launch_bounds__(1024, 1)
    count_joint(const __grid_constant__ histo_cuda_work work, const __grid_constant__ counter_layout l,
                const __grid_constant__ histo_joint joint)
{
    extern __shared__ __align__(16) unsigned int shared[];
    const counter counts(shared, &l);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = reader::tile(&work, &joint, item);
        typename reader::loaded loaded;
        if (tile.length) reader::load(&work, &joint, &tile, 0, &loaded);
        if (item == blockIdx.x) histo_tables_of<reader>::load(&work, &joint, shared);
        clear_counters<counter>(shared, &l, item == blockIdx.x);
        __syncthreads();
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
            uint32_t slot[reader::PER_STEP];
            if (reader::slots(&work, &joint, shared, &tile, at, &loaded, slot))
                counts.count(slot, reader::PER_STEP);
            else
#pragma unroll
                for (int k = 0; k < reader::PER_STEP; k++)
                    if (slot[k] != HISTO_NO_SLOT) counts.count(slot[k]);
        }
        merge_counters<counter>(shared, &l, &work, tile.entry);
    }
}

} // namespace histo::lane_private

#endif
