/* Tiles: the samples of a job as blocks of a grid take them, each within one batch entry. */
#ifndef CUDA_DEVICE_TILE_CUH
#define CUDA_DEVICE_TILE_CUH

#include "cuda/device/dtype.cuh"
#include "cuda/device/work.h"

typedef struct histo_tile {
    int64_t entry;                     /* of the batch */
    int64_t first;                     /* the first sample's number in the entry; of ragged segments, in all */
    int64_t index[HISTO_MAX_DIMS + 1]; /* of the first sample in the strided iterator */
    uint32_t length;                   /* samples, and `pad` */
    /* Readers of contiguous samples begin at a multiple of 16 bytes, `pad` samples before the first: */
    const char *at;
    uint32_t pad;
} histo_tile;

/* Tiles of ragged segments. Sort the beginnings of pieces (samples_each samples from one to the next) and of segments
 * together, pieces first where they meet: a tile reaches from one of them to the next. Bisection finds how many of the
 * first item + 1 are of segments; the rest are of pieces. */
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
    tile.first = tile.index[0] = begin;
    tile.at = w->iter.base[0] + begin * w->iter.strides[0][0];
    return tile;
}

/* Tile `item` of work.tiles. It may be empty where the job cuts a batch entry. */
HISTO_IN_KERNEL histo_tile histo_tile_at(const histo_cuda_work *w, int64_t item)
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
    tile.first = begin - tile.entry * each;
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

/* The same of contiguous samples of `size` bytes, moved back to a multiple of 16 bytes. */
HISTO_IN_KERNEL histo_tile histo_tile_aligned(const histo_cuda_work *w, int64_t item, int size)
{
    histo_tile tile = histo_tile_at(w, item);
    uint32_t beyond = (uint32_t)((uint64_t)tile.at & 15);
    tile.pad = beyond / (uint32_t)size;
    tile.at -= beyond;
    if (tile.length) tile.length += tile.pad;
    return tile;
}

#endif
