/* Dividing the samples among the blocks of a grid: see scan.cuh. For host and device. */
#ifndef PAPERS_STRATEGIES_TILES_SCAN_H
#define PAPERS_STRATEGIES_TILES_SCAN_H

#include "base/host_device.h"

/* Values of the parameter `scan`: strided by default only in a configuration of the thesis. */
enum { HISTO_SCAN_DEFAULT, HISTO_SCAN_SHARES, HISTO_SCAN_STRIDED };

/* Tiles of a launch. */
typedef struct histo_tile_range {
    int64_t first, end;
    bool strided;
} histo_tile_range;

/* How many samples a tile should have, so that steps of all blocks stay below 2^32. */
enum { HISTO_SCAN_TILE = 1 << 30 };

/* Blocks along x that have something to count, of at most `blocks` of so many threads. length: samples of a tile. */
HISTO_INLINE int64_t histo_scan_blocks(const histo_tile_range *tiles, int64_t length, int64_t threads, int64_t blocks)
{
    const int64_t useful = tiles->strided ? (length + threads - 1) / threads : tiles->end - tiles->first;
    return useful < blocks ? useful : blocks;
}

#endif
