/* The window pass of weighted_partition: a tile whose samples lie close together, as those of a narrow distribution or
 * of sorted data do, is summed on chip in a window of its slots, and is not partitioned. */
#ifndef CUDA_WEIGHTED_WINDOWS_CUH
#define CUDA_WEIGHTED_WINDOWS_CUH

#include "cuda/jit/specialised_lookup.cuh"
#include "cuda/strategies/weighted_partition/weighted_partition.cuh"

namespace histo::weighted_partition
{

/* Slots are put into cells of 2^log_cell; a window is `cells` of them. Behind the table of its cells, the kernel's
 * shared memory has that of sums. */
struct windows {
    uint32_t log_cell, cells, all_cells;
    uint32_t *done; /* of each tile: is it summed? */
    weights::sums_layout sums;
};

/* The slots of a window, and flow, which may be frequent wherever the window is: the first slot and the last two. */
struct window_slots {
    enum { ARE_ALL = false, FLOW = 3, FOUND = 3 /* words behind the cells while a window is searched */ };
    uint32_t first, size, above; /* above: the last two slots begin there */

    HISTO_MEMBER uint32_t extent() const { return size + FLOW; }
    HISTO_MEMBER uint32_t local(uint32_t slot) const
    {
        const uint32_t within = min(slot - first, 0x7fffffffu); /* never one of the flow's */
        const uint32_t other = within < size ? within : 0x7fffffffu;
        return slot == 0 ? size : slot >= above ? size + 1 + (slot - above) : other;
    }
    HISTO_MEMBER uint32_t slot(uint32_t local) const
    {
        return local < size ? first + local : local == size ? 0 : above + (local - size - 1);
    }
};

/* The densest window among the samples of three steps of a tile; false if too many of them are elsewhere. By the whole
 * block. */
template <class READER, class TILE>
HISTO_IN_KERNEL bool find_window(const histo_cuda_work *work, const windows *of, const histo_joint *joint,
                                 unsigned int *shared, const TILE *tile, window_slots *found)
{
    enum { PROBES = 3, ALL = READER::PER_STEP, ELSEWHERE = 128 /* one in so many */ };
    unsigned int &most = shared[of->all_cells], &where = (&most)[1], &in_all = (&most)[2];
    const uint32_t step = blockDim.x * ALL, steps = (tile->length + step - 1) / step;
    found->size = of->cells << of->log_cell;
    found->above = work->slots - 2;
    if (threadIdx.x == 0) {
        most = in_all = 0;
        where = 0xffffffffu;
    }
    histo_clear_shared(shared, of->all_cells);
    uint32_t all = 0;
#pragma unroll 1
    for (uint32_t p = 0; p < PROBES; p++) {
        const uint32_t at = (uint32_t)((uint64_t)(steps - 1) * p / (PROBES - 1)) * step;
        uint32_t slot[ALL];
        typename READER::weight weights[ALL];
        weights::read_step<READER>(work, joint, shared, tile, at, slot, weights);
#pragma unroll
        for (int k = 0; k < ALL; k++) {
            const bool is_bin = slot[k] != 0 && slot[k] < found->above;
            all += is_bin;
            if (is_bin) atomicAdd(&shared[slot[k] >> of->log_cell], 1u);
        }
    }
    all = histo_warp_sum(all);
    if (threadIdx.x % WARP == 0) atomicAdd(&in_all, all);
    __syncthreads();
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) { /* how many; the first window with so many */
        for (uint32_t cell = threadIdx.x; cell < of->all_cells; cell += blockDim.x) {
            uint32_t sum = 0;
            for (uint32_t i = cell; i < min(cell + of->cells, of->all_cells); i++)
                sum += shared[i];
            if (pass == 0 && sum) atomicMax(&most, sum);
            if (pass == 1 && sum == most) atomicMin(&where, cell);
        }
        __syncthreads();
    }
    found->first = where << of->log_cell;
    return in_all - most <= in_all / ELSEWHERE;
}

/* READER: see specialised_reader.cuh; T: what the weights are held in. */
template <class READER, bool SQUARES, typename T>
static __global__ void __launch_bounds__(1024, 1)
    count_windows(const __grid_constant__ histo_cuda_work work, const __grid_constant__ windows of,
                  const __grid_constant__ histo_joint joint)
{
    extern __shared__ unsigned int shared[];
    histo_tables_of<READER>::load(&work, &joint, shared);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, &joint, item);
        window_slots slots;
        const bool found = tile.length && find_window<READER>(&work, &of, &joint, shared, &tile, &slots);
        __syncthreads();
        if (threadIdx.x == 0) of.done[item] = found;
        if (found) weights::count_tile<READER, SQUARES, T>(&work, &of.sums, &joint, shared, &tile, slots);
    }
}

} // namespace histo::weighted_partition

#endif
