/* bank_owner: each lane of a warp owns the counters of one bank of shared memory and looks at all samples of the warp.
 *
 * - A warp stages the slots of a step in shared memory, 32 to a row. Every lane reads every row, beginning at its own
 *   position, so at any time the lanes read 32 different banks.
 * - A lane counts the slots in its bank, slot % 32 == lane, by plain additions: no other lane touches them, and no two
 *   lanes share a bank.
 * - Each warp of a block has its own counters, which are merged at the end of the block's tile.
 *
 * Source: Hardavellas, Histograms (bins interleaved among the threads of a warp, tile read with wrap-around). There a
 * block is one warp; here it has as many as fit.
 * Bytes: each sample once, and 32 reads on chip for each, which is why it loses. Speed does not depend on the
 * distribution. */
#include "papers/strategies/banks.h"
#include "papers/strategies/tiles/count_tiles.h"

enum { BLOCKS, THREADS, COARSENING, SCAN };
enum { LANES = HISTO_LANES, ROWS = 16 /* as many as a thread reads samples in a step, at most */, AT_ONCE = 8 };

struct owned_counters {
    enum { MAX_THREADS = 1024 };
    unsigned int *shared, *mine; /* of the block and of the warp */
    uint32_t *staged;
    uint32_t stride, warps;

    HISTO_MEMBER owned_counters(const histo_cuda_work *w, unsigned int *memory)
    {
        uint32_t warp = threadIdx.x / LANES;
        shared = memory;
        stride = histo_owned_stride(w->counters);
        warps = blockDim.x / LANES;
        mine = shared + warp * stride;
        staged = shared + warps * stride + warp * (ROWS * LANES);
        histo_clear_shared(shared, warps * stride);
    }

    template <int N>
    HISTO_MEMBER void count(const uint32_t (&slot)[N])
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            staged[k * LANES + threadIdx.x % LANES] = slot[k];
        __syncwarp();
        count_staged(N);
        __syncwarp();
    }

    HISTO_MEMBER void merge(const histo_cuda_work *w, const histo_tile_rows *rows, int64_t item, int64_t entry)
    {
        histo_merge_copies(w, rows, item, entry, shared, warps, stride, 0xffffffffu);
    }

    HISTO_MEMBER void count_staged(int rows)
    {
        uint32_t lane = threadIdx.x % LANES;
#pragma unroll 1
        for (int first = 0; first < rows * LANES; first += AT_ONCE) {
            uint32_t slot[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                slot[i] = staged[histo_staged_at((uint32_t)(first + i), lane)];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (histo_is_owner(lane, slot[i]) && slot[i] != HISTO_NO_SLOT) mine[slot[i]]++;
        }
    }
};

struct owners_of_banks {
    using counter = owned_counters;
    enum { LEAST_SAMPLES = 1 << 13, MOST_SAMPLES = HISTO_MAX_TILE };
    static constexpr int64_t defaults[] = {0, 256, 0, 0};
    static constexpr char too_many[] =
        "too many bins: one warp's counters and staged slots do not fit into shared memory";

    static histo_block_layout layout_of(const histo_problem *p, const int64_t *params)
    {
        histo_block_layout l = histo_cuda_block_layout(
            p, params[THREADS], LANES, sizeof(unsigned int) * (histo_owned_stride(p->slots + 1) + ROWS * LANES), 0,
            params[BLOCKS], false);
        return histo_block_layout_reading(l, params[COARSENING], params[SCAN]);
    }

    static void add_to(histo_text *text, const histo_problem *, const histo_block_layout *layout)
    {
        histo_text_add(text, "; %d copies of 32-bit counters, one for each warp", layout->threads / LANES);
    }
};

using strategy = histo_tiled_strategy<owners_of_banks>;

extern "C" const histo_strategy histo_cuda_bank_owner = {
    .unsupported_reason = strategy::unsupported_reason,
    .launch = strategy::launch,
    .params = {histo_blocks_param,
               {"threads", 32, 1024, 256,
                "threads of a block, rounded down to whole warps; fewer if their counters do not fit"},
               histo_load_param,
               histo_scan_param},
    .explain = strategy::explain,
};
