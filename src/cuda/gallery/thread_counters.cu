/* thread_counters: each thread counts into its own 32-bit counters in shared memory, without atomics.
 *
 * Counters are rows and threads are columns, so the threads of a warp never share a bank. At the end of the block's
 * tile, thread v adds up row v, beginning v words into it, and merges the sum.
 *
 * Source: Milic et al. 2013, III.B, a copy of the counters for each thread. There it allowed about 50 bins, here what
 * fits for one warp.
 * Bytes: each sample once; on chip, a load and a store of one word for each sample. Like thread_bytes without the
 * flushing, but with a quarter of the threads for the same bins. */
#include "cuda/block.h"
#include "cuda/gallery/banks.h"

enum { BLOCKS, THREADS };

struct own_counters {
    enum { MAX_THREADS = 512 };
    unsigned int *shared, *mine;

    HISTO_MEMBER own_counters(const histo_cuda_work *w, unsigned int *memory)
        : shared(memory), mine(memory + threadIdx.x)
    {
        histo_clear_shared(shared, (uint32_t)w->counters * blockDim.x);
    }

    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N])
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (slot[k] != HISTO_NO_SLOT) mine[slot[k] * blockDim.x]++;
    }

    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_rows *rows, int64_t item, int64_t entry)
    {
        __syncthreads();
        for (uint32_t v = threadIdx.x; v < w->counters; v += blockDim.x) {
            unsigned int *row = shared + v * blockDim.x, sum = 0;
            uint32_t at = histo_row_first(v, blockDim.x);
            for (uint32_t n = 0; n < blockDim.x; n++) {
                sum += row[at];
                row[at] = 0;
                at = histo_row_next(at, blockDim.x);
            }
            histo_merge(w, rows, item, entry, v, sum);
        }
        __syncthreads();
    }
};

static histo_block_layout layout_of(const histo_problem *p, const int64_t *params)
{
    static const int64_t defaults[] = {0, 256};
    if (!params) params = defaults;
    size_t counters = (size_t)p->slots + 1;
    return histo_cuda_block_layout(p, params[THREADS], 32, 32 * sizeof(unsigned int) * counters, 0, params[BLOCKS],
                                   false);
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting != HISTO_UNWEIGHTED) return "it counts, but sums no weights";
    return layout_of(problem, NULL).threads
               ? NULL
               : "too many bins: a counter of each for 32 threads does not fit into shared memory";
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    histo_block_layout l = layout_of(job->problem, job->params);
    return histo_cuda_count_tiles<own_counters>(job, &l, MIN, HISTO_MAX_TILE);
}

static void explain(const histo_problem *problem, const int64_t *params, histo_text *text)
{
    const histo_block_layout l = layout_of(problem, params);
    histo_cuda_block_explain(&l, text);
    histo_text_add(text, "; 32 bits of each of %lld slots for each thread", (long long)problem->slots + 1);
}

extern "C" const histo_strategy histo_cuda_thread_counters = {
    .unsupported_reason = unsupported_reason,
    .launch = launch,
    .params = {{"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
               {"threads", 32, 512, 256,
                "threads of a block, rounded down to whole warps; fewer if their counters do not fit"}},
    .explain = explain,
};
