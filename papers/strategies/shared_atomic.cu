/* shared_atomic: each block counts by atomic additions into its own 32-bit counters in shared memory, and adds them to
 * the histogram at the end of its tile.
 *
 * - Copies of the counters, chosen by thread, separate samples that hit the same bin. `padding` words behind each copy
 *   put its counters into other banks than those of the next (256 bins padded to 257). `shift` does the same for the
 *   counters of neighbouring blocks, as the Handbook's padding did before blocks' memory began at multiples of a
 *   kilobyte.
 * - `config=thesis` is the reference that the thesis compares packed atomics with (6.1.2): 48 KiB of shared memory, and
 *   the loads and blocks that chapter 6 gives a histogram of this size.
 * - `coarsening` changes how many samples a thread loads at once, and nothing else.
 * - More counters than fit on chip are counted in vertical tiles: blockIdx.y says which, and each tile reads all
 *   samples.
 * - The merge adds atomically to the histogram, or writes each block's counters to a row of the workspace, which a
 *   second kernel adds up.
 * - A tile has at most 2^30 samples, so no counter can wrap.
 *
 * Source: Milic et al. 2013, III.B (several passes, each for a part of the bins); Hardavellas, Histograms (per-block
 * sub-histograms, atomicAdd against atomicInc); The CUDA Handbook, one histogram per block (padding, reduction in a
 * second kernel); Ross 2014, 6.1.2 and 5.7 (tiles, copies); Podlozhnyuk 2007 (merge by atomics or by a second kernel).
 * Bytes: each sample once per vertical tile. Wins while one tile holds all slots and samples spread over them. Loses
 * when the samples of a warp hit a few bins, and to packed counters when there are many tiles. */
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/coarse.cuh"
#include "papers/strategies/packed_layout.h"
#include "papers/strategies/tiles/count_tiles.h"

enum { COPIES, PADDING, TILE, MERGE, INC, BLOCKS, THREADS, COARSENING, SHIFT, CONFIG, SCAN };
enum { USUAL, THESIS };
enum { MAX_TILES = 65535, BANKS = 32 };

/* How a problem is laid out on chip. */
typedef struct layout {
    int copies;
    uint32_t stride;  /* counters from one copy to the next */
    int64_t bin_tile; /* counters of a bin_tile */
    int64_t bin_tiles;
    size_t shared; /* bytes */
    int threads;
    int64_t blocks; /* along x, at once */
    int64_t rows;   /* of the workspace */
    int coarsening; /* samples of a load; 0: 16 bytes of them */
    bool strided;
} layout;

/* What its kernels need of it. */
typedef struct tiling {
    uint32_t bin_tile, stride, copies, shift;
    bool inc;
    histo_tile_rows rows;
} tiling;

/* at: from the first counter of the bin_tile; beyond it are other bin_tiles' slots, and no slot. */
HISTO_IN_KERNEL void add_slot(unsigned int *mine, const tiling *t, uint32_t at)
{
    if (at < t->bin_tile) atomicAdd(&mine[at], 1u);
}

HISTO_IN_KERNEL void inc_slot(unsigned int *mine, const tiling *t, uint32_t at)
{
    if (at < t->bin_tile) atomicInc(&mine[at], 0xffffffffu);
}

HISTO_IN_KERNEL void clear(unsigned int *shared, const tiling *t)
{
    for (uint32_t i = threadIdx.x; i < t->stride * t->copies; i += blockDim.x)
        shared[i] = 0;
    __syncthreads();
}

HISTO_IN_KERNEL void merge(const unsigned int *shared, const histo_cuda_work *work, const tiling *t, int64_t item,
                           int64_t entry, uint32_t first)
{
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < t->bin_tile && first + i < work->counters; i += blockDim.x) {
        unsigned int sum = 0;
        for (uint32_t c = 0; c < t->copies; c++)
            sum += shared[c * t->stride + i];
        histo_merge(work, &t->rows, item, entry, first + i, sum);
    }
    __syncthreads();
}

template <typename reader>
static __global__ void __launch_bounds__(1024, 1)
    count(const __grid_constant__ histo_cuda_work work, const __grid_constant__ tiling t)
{
    extern __shared__ unsigned int memory[];
    unsigned int *shared = memory + blockIdx.x * t.shift % BANKS;
    unsigned int *mine = shared + threadIdx.x % t.copies * t.stride;
    uint32_t first = blockIdx.y * t.bin_tile;
    histo_scan_tiles(&t.rows.tiles, [&](int64_t item) {
        const histo_tile tile = reader::tile(&work, item);
        clear(shared, &t);
        histo_scan_slots<reader>(&work, &t.rows.tiles, &tile, [&](const auto &slot) {
            if (t.inc)
#pragma unroll
                for (int k = 0; k < reader::PER_STEP; k++)
                    inc_slot(mine, &t, slot[k] - first);
            else
#pragma unroll
                for (int k = 0; k < reader::PER_STEP; k++)
                    add_slot(mine, &t, slot[k] - first);
        });
        merge(shared, &work, &t, item, tile.entry, first);
    });
}

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    layout l;
    const bool thesis = params[CONFIG] == THESIS;
    int64_t counters = p->slots + 1,
            most = (int64_t)(device->shared_block / sizeof(unsigned int)) - (params[SHIFT] ? BANKS : 0);
    int64_t padding = params[PADDING], copies = params[COPIES] ? params[COPIES] : 1, tile = params[TILE];
    if (!tile && thesis) tile = histo_packed_thesis_tile(p->bins, counters, HISTO_THESIS_SHARED / 4);
    l.bin_tile = tile && tile < counters ? tile : counters;
    if (l.bin_tile < counters / MAX_TILES + 1) l.bin_tile = counters / MAX_TILES + 1;
    if (l.bin_tile + padding > most) l.bin_tile = most - padding;
    while (copies > 1 && (l.bin_tile + padding) * copies > most)
        copies--;
    l.copies = (int)copies;
    l.stride = (uint32_t)(l.bin_tile + padding);
    l.bin_tiles = (counters + l.bin_tile - 1) / l.bin_tile;
    l.shared = ((size_t)l.stride * (size_t)l.copies + (params[SHIFT] ? BANKS : 0)) * sizeof(unsigned int);
    l.threads = params[THREADS] ? (int)params[THREADS] : thesis || l.shared > (32 << 10) ? HISTO_THESIS_THREADS : 512;
    l.blocks = thesis ? histo_thesis_blocks(4 * p->bins, device->multiprocessors)
                      : histo_cuda_resident(p->device, l.threads, l.shared) / l.bin_tiles + 1;
    if (params[BLOCKS]) l.blocks = params[BLOCKS];
    l.rows = params[MERGE] ? l.blocks : 0;
    l.coarsening = params[COARSENING] == 3 ? 2 : (int)params[COARSENING];
    if (!l.coarsening && thesis) l.coarsening = histo_thesis_coarsening(p->bins);
    l.strided = params[SCAN] ? params[SCAN] == HISTO_SCAN_STRIDED : thesis;
    return l;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting != HISTO_UNWEIGHTED) return histo_cuda_weights_unsupported(problem);
    const histo_cuda_device *device = histo_cuda_device_of(problem->device);
    if (problem->slots / (int64_t)(device->shared_block / sizeof(unsigned int) - 64) >= MAX_TILES)
        return "too many bins: it would need more than 65535 bin_tiles";
    return NULL;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    return (size_t)layout_of(problem, params).rows * (size_t)(problem->slots + 1) * sizeof(unsigned int);
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    layout l = layout_of(job->problem, job->params);
    const int64_t least = l.strided ? HISTO_SCAN_TILE : job->params[CONFIG] == THESIS ? 1 : MIN;
    histo_cuda_work work = histo_cuda_work_of(job, l.strided ? 1 : l.blocks, least, HISTO_SCAN_TILE);
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(&work), [=](auto it) {
        return histo_kernel_by_coarsening<1, 2, 4>(it, l.coarsening,
                                                   [](auto its) { return (const void *)count<decltype(its)>; });
    });
    tiling t = {(uint32_t)l.bin_tile, l.stride, (uint32_t)l.copies, (uint32_t)job->params[SHIFT],
                job->params[INC] != 0};
    histo_tile_range *tiles = &t.rows.tiles;
    if (l.rows) t.rows.at = (unsigned int *)job->workspace;
    tiles->strided = l.strided;
    histo_status status = HISTO_OK;
    const int64_t each = !l.rows ? work.tiles : l.strided ? 1 : l.rows; /* tiles of a launch */
    for (; tiles->end < work.tiles && status == HISTO_OK; tiles->first = tiles->end) {
        tiles->end = work.tiles - tiles->first < each ? work.tiles : tiles->first + each;
        void *args[] = {&work, &t};
        const int64_t blocks = histo_scan_blocks(tiles, work.samples_each, l.threads, l.blocks);
        status =
            histo_cuda_launch(job, kernel, dim3((unsigned)blocks, (unsigned)l.bin_tiles), l.threads, l.shared, args);
        if (status == HISTO_OK && l.rows) status = histo_cuda_add_rows(job, &work, &t.rows, blocks);
    }
    return status;
}

static void explain(const histo_problem *problem, const int64_t *params, histo_text *text)
{
    const layout l = layout_of(problem, params);
    histo_text_add(
        text,
        "%lld vertical tile%s of %lld counters of 32 bits; %d cop%s, %u words apart; %lld blocks of %d threads "
        "along the samples, %s",
        (long long)l.bin_tiles, l.bin_tiles == 1 ? "" : "s", (long long)l.bin_tile, l.copies,
        l.copies == 1 ? "y" : "ies", l.stride, (long long)l.blocks, l.threads,
        l.rows ? "added up by a second kernel" : "each added to the histogram atomically");
    if (l.strided) histo_text_add(text, "; blocks side by side");
}

static const char *const configs[] = {"usual", "thesis", NULL};

extern "C" const histo_strategy histo_cuda_shared_atomic = {
    .unsupported_reason = unsupported_reason,
    .workspace = workspace,
    .launch = launch,
    .params = {{"copies", 0, 32, 0, "copies of a block's counters, chosen by thread; 0: one. Fewer if they do not fit"},
               {"padding", 0, 31, 1, "words behind each copy"},
               {"tile", 0, 1 << 20, 0, "counters of a vertical tile; 0: as many as fit"},
               histo_merge_param,
               {"inc", 0, 1, 0, "0: atomicAdd; 1: atomicInc"},
               {"blocks", 0, 65535, 0, "blocks of the grid for a tile; 0: as many as the device holds at once"},
               {"threads", 0, 1024, 0, "threads of a block; 0: 512, or 1024 for more than 32 KiB of counters"},
               {"coarsening", 0, 4, 0, "samples a load, 1, 2 or 4; 0: 16 bytes of them. Where they are contiguous"},
               {"shift", 0, 31, 0, "words from where a block's counters begin to where the next block's do, modulo 32"},
               {"config", 0, 1, 0,
                "usual: made for this card; thesis: tiles of 12 Ki bins in 48 KiB, loads and blocks of chapter 6. The "
                "other parameters change it",
                configs},
               histo_scan_param},
    .explain = explain,
};
