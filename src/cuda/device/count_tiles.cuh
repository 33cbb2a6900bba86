/* The kernel of strategies that count each tile on chip: reader × counter. A counter is a struct with
 *
 *     counter(const histo_cuda_work *, unsigned int *shared)         takes the block's shared memory and clears it
 *     void count(const uint32_t (&slot)[N])                          counts what is not HISTO_NO_SLOT
 *     void merge(work, rows, item, entry)                            merges the tile and clears */
#ifndef CUDA_DEVICE_COUNT_TILES_CUH
#define CUDA_DEVICE_COUNT_TILES_CUH

#include "cuda/device/block_merge.cuh"

template <typename reader, typename counter>
static __global__ void __launch_bounds__(counter::MAX_THREADS, 1)
    histo_count_tiles(const __grid_constant__ histo_cuda_work work, const __grid_constant__ histo_tile_rows rows)
{
    extern __shared__ unsigned int shared[];
    counter counts(&work, shared);
    for (int64_t item = rows.first + blockIdx.x; item < rows.end; item += gridDim.x) {
        histo_tile tile = reader::tile(&work, item);
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
            uint32_t slot[reader::PER_STEP];
            reader::slots(&work, &tile, at, slot);
            counts.count(slot);
        }
        counts.merge(&work, &rows, item, tile.entry);
    }
}

#endif
