/* global_atomic: each sample is one atomic addition to the histogram in device memory.
 *
 * With nothing on chip and nothing to merge, it counts everything: any number of bins, axes and batch entries, any
 * layout, masks and weights. The counters are 64-bit. Where samples are few, frequent ones are gathered on chip first
 * (few_samples; device/touched.cuh): then skew does not matter, and the time depends on the
 * touched bins only. Of many samples without weights, flow is counted on chip, and slots that several lanes of a warp
 * have are gathered there: so flow, runs and one very frequent slot cost no more than others.
 *
 * Source: Ross 2014, 6.1.1; The CUDA Handbook, one histogram per grid.
 * Bytes: each sample once, and an atomic operation in the L2 cache for each. Wins for few samples in many bins, and for
 * millions of bins that samples spread over. Loses by far where many samples hit some hundred bins, because atomics on
 * one address serialise. */
#include <math.h>

#include "cuda/few_samples/any_layout.h"
#include "cuda/few_samples/contiguous.h"
#include "cuda/jit/class.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/strategies/global_atomic/global_atomic.cuh"

using namespace histo::global_atomic;

enum { BLOCKS, THREADS };

/* So many samples are few; a tile of them, and the table of their slots. */
enum { FEW = 1 << 22, TILE_OF_FEW = 1 << 11, LOG_TOUCHED = 9 };

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static bool is_few(const histo_problem *p)
{
    return p->weighting == HISTO_UNWEIGHTED && p->samples <= FEW && p->batch <= p->samples / 256 + 1;
}

/* The time of the kernels in this file, which count tiles. */
static double tiles_us(const histo_problem *p)
{
    const double launch = 5;
    if (p->weighting != HISTO_UNWEIGHTED) {
        /* Sums in device memory; of few slots, on which samples meet, a tenth as many. */
        const double fast_per_us = 1e4, exact_per_us = 5e3, met = p->slots < 1 << 16 ? 0.1 : 1;
        return launch + (double)p->samples / (met * (histo_is_fast(p->weighting) ? fast_per_us : exact_per_us));
    }
    if (is_few(p)) {
        /* Of few samples of any layout, most of the time is cold code. */
        const bool is_any = p->operands > 1 || p->strided;
        const double any_us = 10, any_per_us = 8e4, contiguous_us = 1.5;
        const double added_per_us = 1e5, slot_per_us = 15; /* as in histo_cuda_global_atomics_us */
        const double search_us = p->lookups[0].edges && !p->lookups[0].table ? 2.5 : 0; /* in no cache */
        const double reader_us = search_us + (is_any ? any_us + (double)p->samples / any_per_us : contiguous_us);
        const double tile = fmin(TILE_OF_FEW, (double)p->samples / (double)p->batch), slots = (double)p->slots;
        const double gathered = fmin(slots / tile, 1);
        const double per_us = fmin(added_per_us, slot_per_us * slots * (double)p->batch);
        return launch + reader_us + (double)p->samples * (gathered / per_us + histo_cuda_lookup_us(p));
    }
    const double us = launch + histo_cuda_global_atomics_us(p, 0) + (double)p->samples * histo_cuda_lookup_us(p);
    if (p->probes) return us;
    return fmin(HISTO_SKEW_MARGIN * us, launch + (double)p->samples / HISTO_CUDA_ONE_COUNTER);
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    return fmin(histo_few_any_layout_us(p), tiles_us(p));
}

/* A kernel compiled for such jobs, or NULL. */
static const void *compiled_kernel(const histo_job *job, histo_cuda_work *work, int threads)
{
    const bool weighted = job->problem->weighting != HISTO_UNWEIGHTED;
    histo_cuda_class constants;
    if (!weighted && histo_cuda_reader_of(work) != HISTO_READ_ANY) return NULL;
    if (!histo_cuda_class_of(job, work, NULL, threads, &constants)) return NULL;
    return histo_cuda_specialised_kernel(
        job, &constants, "cuda/strategies/global_atomic/global_atomic.cuh",
        weighted ? "histo::global_atomic::count_weighted<histo_specialised_weighted<constants>>"
                 : "histo::global_atomic::count_joint<histo_specialised_reader<constants>>");
}

static const void *given_kernel(const histo_job *job, const histo_cuda_work *work)
{
    if (job->problem->weighting != HISTO_UNWEIGHTED) return (const void *)count_weighted<histo_any_weighted>;
    return histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(work),
                                  [](auto reader) { return (const void *)count<decltype(reader)>; });
}

/* Few samples, gathered by slot in each block. */
static histo_status launch_few(const histo_job *job)
{
    few_args few;
    if (job->problem->plain && histo_few_contiguous_describe(job, true, &few))
        return histo_few_contiguous_launch(job, &few);
    const int threads = (int)job->params[THREADS] / 32 * 32;
    const size_t shared = 2 * sizeof(uint32_t) << LOG_TOUCHED;
    const int64_t blocks = histo_cuda_resident(job->problem->device, threads, shared);
    histo_cuda_work work = histo_cuda_work_of(job, blocks, TILE_OF_FEW / 2, TILE_OF_FEW);
    uint32_t log_touched = LOG_TOUCHED;
    void *args[] = {&work, &log_touched};
    return histo_cuda_launch(job, (const void *)count_touched<histo_any_layout>,
                             dim3((unsigned)(work.tiles < blocks ? work.tiles : blocks)), threads, shared, args);
}

static histo_status launch_tiles(const histo_job *job)
{
    enum { MIN = 1 << 12, MAX = 1 << 30, WARP = 32 };
    const bool are_few = is_few(job->problem) && job->end - job->begin <= FEW && !job->params[BLOCKS];
    if (are_few && !job->problem->records) return launch_few(job);
    int threads = (int)job->params[THREADS] / WARP * WARP;
    int64_t blocks = histo_cuda_resident(job->problem->device, threads, 0);
    if (job->params[BLOCKS]) blocks = job->params[BLOCKS];
    histo_cuda_work work = histo_cuda_work_of(job, blocks, MIN, MAX);
    histo_joint joint = {};
    const void *kernel = compiled_kernel(job, &work, threads);
    if (!kernel && job->problem->records) return histo_cuda_records_refuse(job);
    if (!kernel) kernel = given_kernel(job, &work);
    void *args[] = {&work, &joint};
    return histo_cuda_launch(job, kernel, dim3((unsigned)(work.tiles < blocks ? work.tiles : blocks)), threads, 0,
                             args);
}

static histo_status launch(const histo_job *job)
{
    histo_few_any_layout few;
    if (!job->params[BLOCKS] && histo_few_any_layout_describe(job, &few)) return histo_few_any_layout_launch(job, &few);
    return launch_tiles(job);
}

extern "C" const histo_strategy histo_cuda_global_atomic = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .launch = launch,
    .params = {histo_blocks_param, {"threads", 32, 1024, 256, "threads of a block, rounded down to whole warps"}},
    .ragged = true,
    .computed = true,
    .any_edges = true,
    .any_bytes = true,
    .records = true,
};
