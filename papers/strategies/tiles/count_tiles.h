/* Launching kernels that count tiles in shared memory: see count_tiles.cuh. */
#ifndef PAPERS_STRATEGIES_TILES_COUNT_TILES_H
#define PAPERS_STRATEGIES_TILES_COUNT_TILES_H

#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/coarse.cuh"
#include "papers/strategies/tiles/count_tiles.cuh"
#include "plan/strategy.h"

typedef struct histo_block_layout {
    int threads;    /* 0: it does not fit */
    size_t shared;  /* bytes */
    int64_t blocks; /* of the grid, at most */
    bool by_rows;   /* merge by a second kernel */
    bool strided;   /* see scan.h */
    int coarsening; /* samples of a load, 1 or 4; 0: 16 bytes of them */
} histo_block_layout;

/* Parameters that strategies have in common. */
static const char *const histo_scan_names[] = {"default", "shares", "strided", NULL};
static constexpr histo_param histo_scan_param = {
    "scan",          0, HISTO_SCAN_STRIDED, 0, "how blocks divide the samples: in shares, or strided, side by side",
    histo_scan_names};
static constexpr histo_param histo_merge_param = {
    "merge", 0, 1, 0, "0: each block adds to the histogram atomically; 1: a second kernel adds up all blocks", NULL};
static constexpr histo_param histo_load_param = {
    "coarsening", 0, 4, 0, "samples a load, where they are contiguous: up to 4; 0: 16 bytes of them"};

/* A block of about `wanted` threads, in groups of `group`, that takes `each` bytes of shared memory for a group and
 * `extra` for itself: as many groups as fit, none if not even one does. blocks: 0 for as many as the device holds. */
histo_block_layout histo_cuda_block_layout(const histo_problem *problem, int64_t wanted, int group, size_t each,
                                           size_t extra, int64_t blocks, bool by_rows);

/* The layout with samples read by the values of histo_load_param and histo_scan_param. */
static inline histo_block_layout histo_block_layout_reading(histo_block_layout layout, int64_t load, int64_t scan)
{
    layout.coarsening = load ? 4 : 0;
    layout.strided = scan == HISTO_SCAN_STRIDED;
    return layout;
}

/* Say it in words. */
void histo_cuda_block_explain(const histo_block_layout *layout, histo_text *text);

/* Bytes of workspace. */
size_t histo_cuda_rows_bytes(const histo_problem *problem, const histo_block_layout *layout);

/* Launch the second kernel, which adds up the rows of a launch of so many blocks along x. Strided, its tiles are one.
 */
histo_status histo_cuda_add_rows(const histo_job *job, const histo_cuda_work *work, const histo_tile_rows *rows,
                                 int64_t blocks);

/* The work of a job in tiles of `least` to `most` samples, or as long as possible, if they are strided. */
histo_cuda_work histo_cuda_scanned_work(const histo_job *job, const histo_block_layout *layout, int64_t least,
                                        int64_t most);

/* Launch kernel(work, rows) or kernel(work, rows, *more) over all tiles, and the second kernel where the layout wants
 * it. */
histo_status histo_cuda_launch_tiles(const histo_job *job, const void *kernel, const histo_cuda_work *work,
                                     const void *more, const histo_block_layout *layout);

/* Launch histo_count_tiles with a counter, over tiles of `least` to `most` samples. */
template <class COUNTER>
static histo_status histo_cuda_count_tiles(const histo_job *job, const histo_block_layout *layout, int64_t least,
                                           int64_t most)
{
    const histo_cuda_work work = histo_cuda_scanned_work(job, layout, least, most);
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(&work), [=](auto reader) {
        return histo_kernel_by_coarsening<4>(reader, layout->coarsening, [](auto its) {
            return (const void *)histo_count_tiles<decltype(its), COUNTER>;
        });
    });
    return histo_cuda_launch_tiles(job, kernel, &work, NULL, layout);
}

/* The functions of a strategy whose blocks count tiles. IDEA has
 *
 *     layout_of(problem, params), defaults    of a block; the default values of params
 *     too_many                                why not, if no block has room for all bins
 *     counter                                 see count_tiles.cuh
 *     LEAST_SAMPLES, MOST_SAMPLES             of a tile
 *     add_to(text, problem, layout)           what distinguishes it, in words */
template <class IDEA>
struct histo_tiled_strategy {
    static const char *unsupported_reason(const histo_problem *problem)
    {
        if (problem->weighting != HISTO_UNWEIGHTED) return histo_cuda_weights_unsupported(problem);
        return IDEA::layout_of(problem, IDEA::defaults).threads ? NULL : IDEA::too_many;
    }

    static size_t workspace(const histo_problem *problem, int, const int64_t *params)
    {
        const histo_block_layout layout = IDEA::layout_of(problem, params);
        return histo_cuda_rows_bytes(problem, &layout);
    }

    static histo_status launch(const histo_job *job)
    {
        const histo_block_layout layout = IDEA::layout_of(job->problem, job->params);
        return histo_cuda_count_tiles<typename IDEA::counter>(job, &layout, IDEA::LEAST_SAMPLES, IDEA::MOST_SAMPLES);
    }

    static void explain(const histo_problem *problem, const int64_t *params, histo_text *text)
    {
        const histo_block_layout layout = IDEA::layout_of(problem, params);
        histo_cuda_block_explain(&layout, text);
        IDEA::add_to(text, problem, &layout);
    }

    /* The strategy with the parameters of blocks that merge in either way; about: what the threads of a block are. */
    static constexpr histo_strategy merging(const char *about)
    {
        return {.unsupported_reason = unsupported_reason,
                .workspace = workspace,
                .launch = launch,
                .params = {histo_merge_param,
                           histo_blocks_param,
                           {"threads", 32, 1024, 256, about, NULL},
                           histo_load_param,
                           histo_scan_param},
                .explain = explain};
    }
};

#endif
