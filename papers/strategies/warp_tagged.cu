/* warp_tagged: each warp counts into its own 32-bit counters in shared memory, without atomic additions: histogram256.
 *
 * - The upper 5 bits of a counter are the tag of the lane that wrote it last. A lane reads the counter, writes it back
 *   incremented under its own tag, and reads it again. If several lanes write one counter, one store survives, and the
 *   others find a foreign tag and retry.
 * - The lanes of a warp do not run in lockstep: all of them go through the rounds together, with __syncwarp between
 *   reads and writes. Loads and stores are volatile, which makes colliding stores defined: one of them survives.
 * - 27 bits are left to count. A tile has at most 2^26 samples, after which the counters are merged, by atomics or by a
 *   second kernel.
 *
 * Source: Podlozhnyuk 2007, histogram256. 16 KiB of shared memory allowed 256 bins; here it is what fits for one warp.
 * Bytes: each sample once; on chip, three accesses for each round. Wins nowhere that atomics are built in; a warp whose
 * samples are all equal takes 32 rounds. */
#include "papers/strategies/banks.h"
#include "papers/strategies/tiles/count_tiles.h"

enum { MERGE, BLOCKS, THREADS, COARSENING, SCAN };
#define ALL_LANES 0xffffffffu

struct tagged_counters {
    enum { MAX_THREADS = 1024 };
    unsigned int *shared;
    volatile unsigned int *mine; /* the warp's */
    uint32_t counters, warps;

    HISTO_MEMBER tagged_counters(const histo_cuda_work *w, unsigned int *memory)
    {
        shared = memory;
        counters = (uint32_t)w->counters;
        warps = blockDim.x / 32;
        mine = shared + threadIdx.x / 32 * counters;
        histo_clear_shared(shared, warps * counters);
    }

    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N])
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            count_tagged(slot[k]);
    }

    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry)
    {
        histo_merge_copies(w, rows, item, entry, shared, warps, counters, HISTO_TAGGED_MASK);
    }

    /* All lanes of a warp at once. */
    HISTO_MEMBER void count_tagged(uint32_t slot)
    {
        bool waiting = slot != HISTO_NO_SLOT;
        while (__any_sync(ALL_LANES, waiting)) {
            unsigned int tagged = 0;
            if (waiting) tagged = histo_tagged(mine[slot], threadIdx.x);
            __syncwarp();
            if (waiting) mine[slot] = tagged;
            __syncwarp();
            if (waiting) waiting = mine[slot] != tagged;
        }
    }
};

struct tags_of_warps {
    using counter = tagged_counters;
    enum { LEAST_SAMPLES = 1 << 14, MOST_SAMPLES = HISTO_TAGGED_SAMPLES };
    static constexpr int64_t defaults[] = {0, 0, 256, 0, 0};
    static constexpr char too_many[] = "too many bins: one warp's counters do not fit into shared memory";

    static histo_block_layout layout_of(const histo_problem *p, const int64_t *params)
    {
        histo_block_layout l = histo_cuda_block_layout(
            p, params[THREADS], 32, sizeof(unsigned int) * ((size_t)p->slots + 1), 0, params[BLOCKS], params[MERGE]);
        return histo_block_layout_reading(l, params[COARSENING], params[SCAN]);
    }

    static void add_to(histo_text *text, const histo_problem *, const histo_block_layout *layout)
    {
        histo_text_add(text, "; %d copies of 32-bit counters, one for each warp", layout->threads / 32);
    }
};

extern "C" const histo_strategy histo_cuda_warp_tagged = histo_tiled_strategy<tags_of_warps>::merging(
    "threads of a block, rounded down to whole warps; fewer if their counters do not fit");
