/* A tile that a block counts in its shared memory: how much of it there can be, and its vectors. */
#ifndef CUDA_DEVICE_BLOCK_TILE_CUH
#define CUDA_DEVICE_BLOCK_TILE_CUH

#include "cuda/device/reader.cuh"

/* So that 32 bits hold the count of any tile. */
enum { HISTO_MAX_TILE = 1 << 30 };

/* Clear words of shared memory. */
HISTO_IN_KERNEL void histo_clear_shared(unsigned int *shared, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        shared[i] = 0;
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
