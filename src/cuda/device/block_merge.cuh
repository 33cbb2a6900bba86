/* A tile that a block counts in its shared memory, and how blocks' counters are merged: atomically into the histogram,
 * or through rows of the workspace that a second kernel adds up. */
#ifndef CUDA_DEVICE_BLOCK_MERGE_CUH
#define CUDA_DEVICE_BLOCK_MERGE_CUH

#include "cuda/device/reader.cuh"

/* So that 32 bits hold the count of any tile. */
enum { HISTO_MAX_TILE = 1 << 30 };

/* Tiles [first, end) of a launch, and where their counts go. */
typedef struct histo_tile_rows {
    unsigned int *at; /* [tile - first][counters], or NULL: to the histogram */
    int64_t first, end;
} histo_tile_rows;

/* The block's final count of a slot in its tile. */
HISTO_IN_KERNEL void histo_merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry,
                                 uint32_t slot, unsigned int count)
{
    if (rows->at)
        rows->at[(item - rows->first) * w->counters + slot] = count;
    else if (count)
        atomicAdd(&w->counts[entry * w->counters + slot], (unsigned long long)count);
}

/* Clear words of shared memory. */
HISTO_IN_KERNEL void histo_clear_shared(unsigned int *shared, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        shared[i] = 0;
    __syncthreads();
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

/* ---- Steps of a contiguous tile ---- */

enum { HISTO_STEP_VECTORS = 2 /* of 16 bytes a thread and step */ };

/* Vectors [begin, end) of a contiguous tile; the samples before and after them are read one by one. */
typedef struct histo_steps {
    const uint4 *vectors;
    uint32_t begin, end;
} histo_steps;

/* each: samples of a vector. */
HISTO_IN_KERNEL histo_steps histo_steps_of(const histo_tile *tile, uint32_t each)
{
    const uint32_t begin = tile->pad > 0;
    return {(const uint4 *)tile->at, begin, max(tile->length / each, begin)};
}

/* The index of the v-th vector of a thread in the step that begins at vector `at`. */
HISTO_IN_KERNEL uint32_t histo_step_vector(uint32_t at, int v)
{
    return at + (uint32_t)v * blockDim.x + threadIdx.x;
}

/* Vectors beyond the end are 0. */
HISTO_IN_KERNEL void histo_load_step(const histo_steps *s, uint32_t at, uint4 *words)
{
#pragma unroll
    for (int v = 0; v < HISTO_STEP_VECTORS; v++) {
        words[v] = make_uint4(0, 0, 0, 0);
        if (histo_step_vector(at, v) < s->end) words[v] = __ldcs(&s->vectors[histo_step_vector(at, v)]);
    }
}

HISTO_IN_KERNEL uint32_t histo_beside_steps(const histo_steps *s, const histo_tile *tile, uint32_t each)
{
    return tile->length ? tile->length - tile->pad - (s->end - s->begin) * each : 0;
}

/* Where in the tile the i-th sample outside the steps is. */
HISTO_IN_KERNEL uint32_t histo_nth_beside_steps(const histo_steps *s, const histo_tile *tile, uint32_t each, uint32_t i)
{
    uint32_t at = tile->pad + i;
    return at < s->begin * each ? at : at + (s->end - s->begin) * each;
}

#endif
