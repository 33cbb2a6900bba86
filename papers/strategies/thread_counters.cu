/* thread_counters: each thread counts into its own counters in shared memory, without atomics.
 *
 * - Counters are rows and threads are columns, so the threads of a warp never share a bank. At the end of the block's
 *   tile, thread v adds up row v, beginning v words into it, and merges the sum.
 * - Counters have 32 bits, or with `bits=8` those of thread_bytes, which are added to totals before any can wrap: four
 *   times as many bins or threads.
 * - More slots than fit are counted in passes: blockIdx.y says which, and each pass reads all samples.
 *
 * Source: Milic et al. 2013, III.B, a copy of the counters for each thread, and several passes, each for a part of the
 * bins. There a pass had about 50 bins, here what fits for one warp, or with 8 bits for four.
 * Bytes: each sample once per pass; on chip, a load and a store of one counter for each sample. Like thread_bytes
 * without the flushing, but with a quarter of the threads for the same bins. */
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/own_counters.cuh"
#include "papers/strategies/tiles/count_tiles.h"

enum { BLOCKS, THREADS, BITS, PASS };
enum { MAX_SLOTS = 1 << 12, LEAST = 32 /* slots of a pass */ };

template <typename reader, typename counter>
static __global__ void __launch_bounds__(counter::MAX_THREADS, 1)
    count(const __grid_constant__ histo_cuda_work work, uint32_t each)
{
    extern __shared__ unsigned int shared[];
    const histo_tile_rows into_histogram = {NULL, {0, work.tiles, false}};
    counter counts(histo_counter_tile(blockIdx.y, each, (uint32_t)work.counters), shared);
    histo_count_scanned<reader>(&work, &into_histogram, counts);
}

typedef struct layout {
    histo_block_layout block;
    uint32_t each; /* slots of a pass */
    int64_t passes;
    bool are_bytes;
} layout;

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    layout l = {};
    l.are_bytes = params[BITS] && params[BITS] <= 8;
    const int group = l.are_bytes ? (int)HISTO_FOUR_WARPS : (int)HISTO_LANES;
    const size_t of_thread = l.are_bytes ? 1 : sizeof(unsigned int), total = l.are_bytes ? sizeof(unsigned int) : 0;
    const int64_t slots = p->slots + 1, room = (int64_t)histo_cuda_device_of(p->device)->shared_block,
                  most = room / (int64_t)(of_thread * (size_t)group + total),
                  pass = params[PASS] && params[PASS] < LEAST ? (int64_t)LEAST : params[PASS],
                  wanted = pass && pass < slots ? pass : slots;
    const int64_t threads = params[THREADS] > group ? params[THREADS] : group;
    l.each = (uint32_t)(wanted < most ? wanted : most);
    l.passes = (slots - 1) / l.each + 1;
    l.block = histo_cuda_block_layout(p, threads, group, of_thread * (size_t)group * l.each, total * l.each,
                                      params[BLOCKS], false);
    if (!params[BLOCKS]) l.block.blocks = l.block.blocks / l.passes + 1;
    return l;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting != HISTO_UNWEIGHTED) return histo_cuda_weights_unsupported(problem);
    return problem->slots <= MAX_SLOTS ? NULL : "too many bins: all samples are read for each pass; 4093 bins at most";
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    const layout l = layout_of(job->problem, job->params);
    histo_cuda_work work = histo_cuda_work_of(job, l.block.blocks, MIN, HISTO_MAX_TILE);
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(&work), [&](auto it) {
        return l.are_bytes ? (const void *)count<decltype(it), histo_own_bytes>
                           : (const void *)count<decltype(it), histo_own_words>;
    });
    void *args[] = {&work, (void *)&l.each};
    const dim3 grid((unsigned)(work.tiles < l.block.blocks ? work.tiles : l.block.blocks), (unsigned)l.passes);
    return histo_cuda_launch(job, kernel, grid, l.block.threads, l.block.shared, args);
}

static void explain(const histo_problem *problem, const int64_t *params, histo_text *text)
{
    const layout l = layout_of(problem, params);
    histo_cuda_block_explain(&l.block, text);
    histo_text_add(text, "; %d bits of each of %u slots for each thread", l.are_bytes ? 8 : 32, l.each);
    if (l.passes > 1) histo_text_add(text, ", in %lld passes over the samples", (long long)l.passes);
}

extern "C" const histo_strategy histo_cuda_thread_counters = {
    .unsupported_reason = unsupported_reason,
    .launch = launch,
    .params = {{"blocks", 0, 65535, 0, "blocks of the grid for a pass; 0: as many as the device holds at once"},
               {"threads", 32, 512, 256,
                "threads of a block, rounded down to whole warps, of 8 bits to four; fewer if they do not fit"},
               {"bits", 0, 32, 0, "of a counter: 8 or 32, the next of these; 0: 32"},
               {"pass", 0, 1 << 20, 0, "slots that a pass counts, at least 32; 0: as many as fit"}},
    .explain = explain,
};
