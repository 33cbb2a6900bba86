/* bin_per_block: each block reads all samples and counts those of its own bin, or of its few bins.
 *
 * A block of one bin compares each sample with the two edges of its bin, so it needs no search, where samples are
 * contiguous; a block of several bins looks up the slot of each sample.
 *
 * A thread counts in registers, and a block adds up its threads' counters at the end of a tile. Nothing is shared while
 * counting. blockIdx.y says which bins; blocks along x divide the samples, as many as fill the device (`blocks` = 1 is
 * the published algorithm).
 *
 * Source: Milic et al. 2013, III.B, as many blocks as bins.
 * Bytes: all samples once for each group of bins, which is why it loses beyond a handful of bins. */
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/edges.cuh"
#include "papers/strategies/tiles/count_tiles.h"

enum { BINS, BLOCKS, THREADS };
enum { MAX_BINS = 8, MAX_SLOTS = 4096, MAX_WARPS = 32 };

/* What a block counts: slots [blockIdx.y * bins, + bins). */
HISTO_IN_KERNEL void merge(const histo_cuda_work *w, int64_t entry, const unsigned int *mine, uint32_t bins)
{
    __shared__ unsigned int partial[MAX_WARPS][MAX_BINS];
#pragma unroll
    for (uint32_t b = 0; b < MAX_BINS; b++) {
        if (b >= bins) break;
        unsigned int sum = mine[b];
#pragma unroll
        for (int apart = 16; apart; apart /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, apart);
        if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32][b] = sum;
    }
    __syncthreads();
    uint32_t slot = blockIdx.y * bins + threadIdx.x;
    if (threadIdx.x < bins && slot < w->counters) {
        unsigned int sum = 0;
        for (uint32_t warp = 0; warp < blockDim.x / 32; warp++)
            sum += partial[warp][threadIdx.x];
        if (sum) atomicAdd(&w->counts[entry * w->counters + slot], (unsigned long long)sum);
    }
    __syncthreads();
}

template <typename reader>
static __global__ void __launch_bounds__(1024, 1) count(const __grid_constant__ histo_cuda_work work, uint32_t bins)
{
    uint32_t first = blockIdx.y * bins;
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = reader::tile(&work, item);
        unsigned int mine[MAX_BINS] = {0};
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
            uint32_t slot[reader::PER_STEP];
            reader::slots(&work, &tile, at, slot);
#pragma unroll
            for (uint32_t b = 0; b < MAX_BINS; b++) {
                if (b >= bins) break;
#pragma unroll
                for (int k = 0; k < reader::PER_STEP; k++)
                    mine[b] += slot[k] == first + b;
            }
        }
        merge(&work, tile.entry, mine, bins);
    }
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting != HISTO_UNWEIGHTED) return histo_cuda_weights_unsupported(problem);
    if (problem->slots > MAX_SLOTS) return "too many bins: all samples are read for each; 4096 bins and flow at most";
    return NULL;
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    const histo_problem *p = job->problem;
    int threads = (int)job->params[THREADS] / 32 * 32;
    uint32_t bins = (uint32_t)job->params[BINS], groups = ((uint32_t)p->slots + bins) / bins;
    int64_t blocks =
        job->params[BLOCKS] ? job->params[BLOCKS] : histo_cuda_resident(p->device, threads, 0) / groups + 1;
    histo_cuda_work work = histo_cuda_work_of(job, blocks, MIN, HISTO_MAX_TILE);
    void *args[] = {&work, &bins};
    dim3 grid((unsigned)(work.tiles < blocks ? work.tiles : blocks), groups);
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(&work), [=](auto reader) {
        using reader_type = decltype(reader);
        return bins == 1 ? (const void *)count<typename histo_reader_with<histo_own_slot_lookup, reader_type>::type>
                         : (const void *)count<reader_type>;
    });
    return histo_cuda_launch(job, kernel, grid, threads, 0, args);
}

extern "C" const histo_strategy histo_cuda_bin_per_block = {
    .unsupported_reason = unsupported_reason,
    .launch = launch,
    .params = {{"bins", 1, MAX_BINS, 1, "bins that a block counts"},
               {"blocks", 0, 65535, 0, "blocks that part the samples of a bin; 0: as many as the device holds at once"},
               {"threads", 32, 1024, 256, "threads of a block, rounded down to whole warps"}},
};
