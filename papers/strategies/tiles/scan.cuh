/* How the blocks of a grid divide the samples: in shares, block b taking tiles b, b + gridDim.x, …, or strided, all
 * blocks going through each tile side by side.
 *
 * Source: shares are ours. Strided: Ross 2014, figure B.5; Milic et al. 2013, listing 2; Hardavellas, Histograms. There
 * the stride is that of single loads; here it is that of a reader's steps, which are single loads with
 * `coarsening`. */
#ifndef PAPERS_STRATEGIES_TILES_SCAN_CUH
#define PAPERS_STRATEGIES_TILES_SCAN_CUH

#include "cuda/device/reader.cuh"
#include "papers/strategies/tiles/scan.h"

/* The steps of `each` samples of a thread that this block takes of a tile: count(at). */
template <typename function>
HISTO_IN_KERNEL void histo_scan_steps(const histo_tile_range *tiles, uint32_t length, uint32_t each, function count)
{
    const uint32_t step = blockDim.x * each, first = tiles->strided ? blockIdx.x : 0,
                   stride = tiles->strided ? gridDim.x : 1;
    for (uint32_t at = first * step; at < length; at += stride * step)
        count(at);
}

/* The slots of the samples of a tile that this block takes: count(slot), with those of a step of each thread. */
template <typename reader, typename function>
HISTO_IN_KERNEL void histo_scan_slots(const histo_cuda_work *w, const histo_tile_range *tiles, const histo_tile *tile,
                                      function count)
{
    histo_scan_steps(tiles, tile->length, reader::PER_STEP, [&](uint32_t at) {
        uint32_t slot[reader::PER_STEP];
        reader::slots(w, tile, at, slot);
        count(slot);
    });
}

/* The tiles that this block takes a part of: count(item). */
template <typename function>
HISTO_IN_KERNEL void histo_scan_tiles(const histo_tile_range *tiles, function count)
{
    const int64_t first = tiles->strided ? 0 : blockIdx.x, stride = tiles->strided ? 1 : gridDim.x;
    for (int64_t item = tiles->first + first; item < tiles->end; item += stride)
        count(item);
}

#endif
