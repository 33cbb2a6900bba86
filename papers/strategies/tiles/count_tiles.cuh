/* The kernel of strategies that count each tile on chip, and how blocks' counters are merged: atomically into the
 * histogram, or through rows of the workspace that a second kernel adds up.
 *
 * The kernel is a reader × a counter. A counter is a struct with
 *
 *     counter(const histo_cuda_work *, unsigned int *shared)         takes the block's shared memory and clears it
 *     void count(const uint32_t (&slot)[N])                          counts what is not HISTO_NO_SLOT
 *     void merge(work, rows, item, entry)                            merges the tile and clears */
#ifndef PAPERS_STRATEGIES_TILES_COUNT_TILES_CUH
#define PAPERS_STRATEGIES_TILES_COUNT_TILES_CUH

#include "cuda/device/block_tile.cuh"
#include "papers/strategies/tiles/scan.cuh"

/* The tiles of a launch, and where their counts go. */
typedef struct histo_tile_rows {
    unsigned int *at; /* [row][counters], or NULL: to the histogram. A row for each tile, or strided, for each block */
    histo_tile_range tiles;
} histo_tile_rows;

/* The block's final count of a slot in its tile. */
HISTO_IN_KERNEL void histo_merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry,
                                 uint32_t slot, unsigned int count)
{
    if (rows->at)
        rows->at[(rows->tiles.strided ? blockIdx.x : item - rows->tiles.first) * w->counters + slot] = count;
    else if (count)
        atomicAdd(&w->counts[entry * w->counters + slot], (unsigned long long)count);
}

/* Merge copies of all counters, `stride` words from one to the next, and clear them. mask: the bits that count. */
HISTO_IN_KERNEL void histo_merge_copies(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item,
                                        int64_t entry, unsigned int *shared, uint32_t copies, uint32_t stride,
                                        unsigned int mask)
{
    __syncthreads();
    for (uint32_t slot = threadIdx.x; slot < w->counters; slot += blockDim.x) {
        unsigned int sum = 0;
        for (uint32_t c = 0; c < copies; c++) {
            sum += shared[c * stride + slot] & mask;
            shared[c * stride + slot] = 0;
        }
        histo_merge(w, rows, item, entry, slot, sum);
    }
    __syncthreads();
}

/* Count a block's part of the tiles. */
template <typename reader, typename counter>
HISTO_IN_KERNEL void histo_count_scanned(const histo_cuda_work *work, const histo_tile_rows *rows, counter &counts)
{
    histo_scan_tiles(&rows->tiles, [&](int64_t item) {
        const histo_tile tile = reader::tile(work, item);
        histo_scan_slots<reader>(work, &rows->tiles, &tile, [&](auto &slot) { counts.count(slot); });
        counts.merge(work, rows, item, tile.entry);
    });
}

template <typename reader, typename counter>
static __global__ void __launch_bounds__(counter::MAX_THREADS, 1)
    histo_count_tiles(const __grid_constant__ histo_cuda_work work, const __grid_constant__ histo_tile_rows rows)
{
    extern __shared__ unsigned int shared[];
    counter counts(&work, shared);
    histo_count_scanned<reader>(&work, &rows, counts);
}

#endif
