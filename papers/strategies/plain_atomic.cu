/* plain_atomic: each thread loads its sample, adds 1 to the histogram in device memory, and exits.
 *
 * - With `coarsening`, a thread has 2 or 4 samples, in one load.
 * - Nothing is gathered before: samples of one bin wait for each other.
 *
 * The histogram's counters have 64 bits, those of the documents 32.
 *
 * Source: Ross 2014, 6.1.1 (the baseline) and 5.4 (coarsening); The CUDA Handbook, one histogram per grid; Hardavellas,
 * Histograms (atomics in device memory).
 * Bytes: each sample once, and an addition in device memory for each. Wins with many bins that samples hit evenly.
 * Loses as soon as some bins are hit often. */
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/coarse.cuh"

enum { COARSENING, THREADS };

/* A block's tile. That of a single batch entry takes no division, which would take longer than all else. */
template <typename reader>
HISTO_IN_KERNEL histo_tile tile_of_block(const histo_cuda_work *w)
{
    if constexpr ((int)reader::ID != (int)HISTO_READ_ANY)
        if (w->iter.batch == 1 && !w->iter.offsets) {
            const uint32_t size = (uint32_t)sizeof(typename reader::storage);
            const int64_t begin = w->begin + blockIdx.x * w->samples_each;
            histo_tile tile = {};
            tile.at = w->iter.base[0] + begin * size;
            const uint32_t beyond = (uint32_t)((uint64_t)tile.at & 15);
            tile.pad = beyond / size;
            tile.at -= beyond;
            tile.length = tile.pad + (uint32_t)min(w->samples_each, w->end - begin);
            return tile;
        }
    return reader::tile(w, blockIdx.x);
}

template <typename reader>
static __global__ void __launch_bounds__(1024) count(const __grid_constant__ histo_cuda_work work)
{
    const histo_tile tile = tile_of_block<reader>(&work);
    unsigned long long *counts = work.counts + tile.entry * work.counters;
    for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) { /* again only for what is padded */
        uint32_t slot[reader::PER_STEP];
        reader::slots(&work, &tile, at, slot);
#pragma unroll
        for (int k = 0; k < reader::PER_STEP; k++)
            if (slot[k] != HISTO_NO_SLOT) atomicAdd(&counts[slot[k]], 1ull);
    }
}

static histo_status launch(const histo_job *job)
{
    const int threads = (int)job->params[THREADS] / 128 * 128;
    const int coarsening = job->params[COARSENING] == 3 ? 2 : (int)job->params[COARSENING];
    const int64_t samples = (int64_t)threads * coarsening;
    const histo_cuda_work work = histo_cuda_work_of(job, INT32_MAX, samples, samples);
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(&work), [=](auto it) {
        if (coarsening == 4) return (const void *)count<histo_coarse<decltype(it), 4>>;
        if (coarsening == 2) return (const void *)count<histo_coarse<decltype(it), 2>>;
        return (const void *)count<histo_coarse<decltype(it), 1>>;
    });
    void *args[] = {(void *)&work};
    return histo_cuda_launch(job, kernel, dim3((unsigned)work.tiles), threads, 0, args);
}

extern "C" const histo_strategy histo_cuda_plain_atomic = {
    .unsupported_reason = histo_cuda_weights_unsupported,
    .launch = launch,
    .params = {{"coarsening", 1, 4, 1, "samples a thread, in one load where they are contiguous: 1, 2 or 4"},
               {"threads", 128, 1024, 256, "threads of a block, rounded down to a multiple of 128"}},
};
