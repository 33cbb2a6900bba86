/* thread_bytes: each thread counts into its own bytes in shared memory, without atomics: histogram64.
 *
 * - Row v of the bytes is slot v, a column is a thread. Columns are permuted: the threads of a warp have 32 different
 *   words of a row and four warps share its bytes, so no two threads of a warp share a bank, whatever the samples.
 *   Every four warps have bytes for as many: 192 threads take the memory of 256.
 * - A byte holds 255. Before any can wrap, the rows are added to 32-bit totals. Thread v adds up row v, beginning v
 *   words into it, so that a warp reads 32 banks here as well.
 * - The totals of blocks are merged by atomics or by a second kernel.
 *
 * Source: Podlozhnyuk 2007, histogram64; Milic et al. 2013, III.B, a copy for each thread, of 8-bit counters. 16 KiB of
 * shared memory allowed 64 bins; here it is what fits for 128 threads.
 * Bytes: each sample once; on chip, a load and a store of one byte for each sample, and a byte of each row and thread
 * for every 255 samples of a thread. Speed does not depend on the distribution. It falls with the number of bins,
 * because fewer threads fit. */
#include "papers/strategies/own_counters.cuh"
#include "papers/strategies/tiles/count_tiles.h"

enum { MERGE, BLOCKS, THREADS, COARSENING, SCAN };

struct byte_counters : histo_own_bytes {
    HISTO_MEMBER byte_counters(const histo_cuda_work *w, unsigned int *shared)
        : histo_own_bytes({0, (uint32_t)w->counters}, shared)
    {
    }
};

struct bytes_of_threads {
    using counter = byte_counters;
    enum { LEAST_SAMPLES = 1 << 14, MOST_SAMPLES = HISTO_MAX_TILE };
    static constexpr int64_t defaults[] = {0, 0, 256, 0, 0};
    static constexpr char too_many[] = "too many bins: a byte of each for 128 threads does not fit into shared memory";

    static histo_block_layout layout_of(const histo_problem *p, const int64_t *params)
    {
        const size_t counters = (size_t)p->slots + 1;
        const uint32_t threads = (uint32_t)params[THREADS] / HISTO_LANES * HISTO_LANES;
        histo_block_layout l =
            histo_cuda_block_layout(p, histo_byte_columns(threads), HISTO_FOUR_WARPS, HISTO_FOUR_WARPS * counters,
                                    sizeof(unsigned int) * counters, params[BLOCKS], params[MERGE]);
        if (l.threads > (int)threads) l.threads = (int)threads;
        return histo_block_layout_reading(l, params[COARSENING], params[SCAN]);
    }

    static void add_to(histo_text *text, const histo_problem *problem, const histo_block_layout *)
    {
        histo_text_add(text, "; a byte of each of %lld slots for each thread", (long long)problem->slots + 1);
    }
};

extern "C" const histo_strategy histo_cuda_thread_bytes = histo_tiled_strategy<bytes_of_threads>::merging(
    "threads of a block, rounded down to whole warps; a multiple of 128 if fewer fit");
