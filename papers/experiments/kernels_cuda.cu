/* See kernels.h. */
#include <stdlib.h>

#include "bench/core/cuda.h"
#include "papers/experiments/kernels.h"

enum { BINS = 256, WARP = 32 };

typedef struct counting {
    const uint8_t *samples;
    int64_t n;
    unsigned *counts; /* [BINS] in device memory */
} counting;

static histo_status begin(const bench_task *task, void **state)
{
    if (task->input->dtype != HISTO_U8 || task->axis->bins != BINS)
        return histo_fail(HISTO_UNSUPPORTED, "for samples of 8 bits and 256 bins");
    counting *c = (counting *)calloc(1, sizeof *c);
    if (!c) return histo_fail_memory(sizeof *c, "counts");
    *state = c;
    c->samples = (const uint8_t *)task->samples;
    c->n = task->count;
    return bench_cuda_check(cudaMalloc(&c->counts, BINS * sizeof *c->counts), "counts");
}

static histo_status counts(void *state, uint64_t *to)
{
    const counting *c = (const counting *)state;
    unsigned narrow[BINS];
    TRY(cudaMemcpy(narrow, c->counts, sizeof narrow, cudaMemcpyDeviceToHost), "counts");
    for (int b = 0; b < BINS; b++)
        to[b] = narrow[b];
    return HISTO_OK;
}

static void end(void *state)
{
    counting *c = (counting *)state;
    cudaFree(c->counts);
    free(c);
}

static histo_status clear(const counting *c, void *stream)
{
    return bench_cuda_check(cudaMemsetAsync(c->counts, 0, BINS * sizeof *c->counts, (cudaStream_t)stream), "clearing");
}

/* ---- The data race (Hardavellas, Histograms) ---- */

/* Volatile, so that every addition reads memory and writes it. */
static __global__ void race(const uint8_t *samples, int64_t n, volatile unsigned *counts)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        counts[samples[i]] = counts[samples[i]] + 1;
}

static histo_status run_race(void *state, void *stream)
{
    const counting *c = (const counting *)state;
    const histo_status status = clear(c, stream);
    if (status != HISTO_OK) return status;
    race<<<bench_cuda_blocks(), BENCH_CUDA_THREADS, 0, (cudaStream_t)stream>>>(c->samples, c->n, c->counts);
    return bench_cuda_check(cudaGetLastError(), "launching the race");
}

extern "C" const bench_peer papers_race_cuda = {"race", false, begin, run_race, counts, end, false, false};

/* ---- A tile in constant memory (Hardavellas, Histograms: "Is there an alternative?") ---- */

enum { TILE = 64 << 10 /* bytes, all there are */, WARPS = 8 };

static __constant__ uint32_t tile[TILE / sizeof(uint32_t)];

/* Warps take the tile's words in turns. All lanes of a warp read the same word at a time, which constant memory is made
 * for, and each counts the samples whose counter is in its bank. */
static __global__ void count_tile(int words, int samples, unsigned *counts)
{
    __shared__ unsigned mine[WARPS][BINS];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    for (unsigned b = lane; b < BINS; b += WARP)
        mine[warp][b] = 0;
    __syncwarp();
    for (int word = (int)(blockIdx.x * WARPS + warp); word < words; word += (int)(gridDim.x * WARPS)) {
        const uint32_t four = tile[word];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t bin = four >> 8 * k & 0xff;
            if (bin % WARP == lane && 4 * word + k < samples) mine[warp][bin]++;
        }
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < BINS; b += WARPS * WARP) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += mine[w][b];
        if (sum) atomicAdd(&counts[b], sum);
    }
}

/* A kernel cannot write constant memory, but a copy between two kernels can. */
static histo_status run_tiles(void *state, void *stream)
{
    const counting *c = (const counting *)state;
    const cudaStream_t on = (cudaStream_t)stream;
    const unsigned blocks = bench_cuda_blocks() / WARPS;
    histo_status status = clear(c, stream);
    for (int64_t at = 0; at < c->n && status == HISTO_OK; at += TILE) {
        const int bytes = c->n - at < TILE ? (int)(c->n - at) : (int)TILE;
        TRY(cudaMemcpyToSymbolAsync(tile, c->samples + at, (size_t)bytes, 0, cudaMemcpyDeviceToDevice, on),
            "copying a tile");
        count_tile<<<blocks, WARPS * WARP, 0, on>>>((bytes + 3) / 4, bytes, c->counts);
        status = bench_cuda_check(cudaGetLastError(), "counting a tile");
    }
    return status;
}

extern "C" const bench_peer papers_constant_tile = {"constant_tile", false, begin, run_tiles,
                                                    counts,          end,   false, false};
