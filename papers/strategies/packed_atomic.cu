/* packed_atomic: each block counts into counters of 4, 8 or 16 bits, packed into words of shared memory, by atomic
 * additions that return the old word. Where that shows an overflow, the difference goes to the histogram.
 * packed_counters.h has the arithmetic, and why it is exact for any samples and any order of threads.
 *
 * - `config=thesis` is the configuration of chapter 6 for the number of bins: counters of 8 bits, copies by table 5.1,
 *   a tile of 48 KiB for each block of 1024 threads, one sample a load up to 48 Ki bins, and beyond these four samples
 *   a load and four streams. Other parameters change it. Without it, the counters are as wide and the copies as many
 *   as this card's memory allows, and loads have 16 bytes.
 * - Coarsening: an iteration loads and counts 1, 2 or 4 neighbouring samples, or as many loads of 16 bytes as the
 *   common readers make.
 * - Copies of the counters, chosen by thread: a power of two up to 64, as many as leave room for two blocks on a
 *   multiprocessor. A copy has an odd number of words, so equal samples in neighbouring threads never share a bank.
 * - Pre-processing: a first kernel finds the slots of all samples and writes tile, offset and index of their counters
 * to memory, in 32 bits, which the vertical tiles read. It pays off with many tiles and expensive axes.
 *   `divide=1` is what it saves: each thread divides slots by the tile.
 * - Horizontal tiles, blockIdx.x: a part of the samples, contiguous or, as in the thesis, side by side. Vertical tiles,
 * blockIdx.y: a range of slots; each reads all samples.
 * - Streams: parts of the samples are launched on several streams, so one part's blocks begin while the last blocks of
 *   another are running.
 * - Partitioning, `dense=8`: only the middle eighth of the bins is counted on chip; the samples outside are counted
 *   straight in the histogram.
 * - `flush=1`, the option that the thesis rejects: few threads, which stop and flush the counters before any can be
 * full.
 * - `merge=1`, for cards whose atomics in device memory are slow: blocks write their counters to rows of the workspace,
 *   which a second kernel adds up.
 * - `tally=1` counts overflows, for `histo bench gallery`.
 *
 * Source: Ross 2014, 5.2 and 5.3 (packed atomics), 5.4 to 5.7 (coarsening, copies, pre-processing, tiles), 5.8.1 (4
 * bits), 5.8.2 (streams), 5.8.3 (partitioning), 6 (configurations).
 * Bytes: each sample once per vertical tile; with pre-processing, once, and 4 bytes written and 4 read per tile. Wins
 * where packed counters fit on chip and 32-bit ones do not. Loses to 32-bit counters where those fit, because they need
 * no old word, and where samples hit few bins, which overflow. */
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/fork.h"
#include "cuda/memory/stream_order.h"
#include "papers/strategies/coarse.cuh"
#include "papers/strategies/packed_counters.cuh"
#include "papers/strategies/packed_layout.h"
#include "papers/strategies/tiles/count_tiles.h"

enum {
    MAX_COARSENING = 4,
    INDEX_THREADS = 256,
    INDEX_STEP = INDEX_THREADS * 16, /* a multiple of the samples of a step, whatever the reader */
    MAX_INDEXED = 1 << 26            /* samples pre-processed at a time */
};

/* A layout on the problem's device, and its workspace: pre-processed samples, then rows of the blocks' counts. */
typedef struct layout {
    histo_packed_layout on_chip;
    int64_t mapped;     /* parts of the samples pre-processed at a time, or 0 */
    uint32_t map_words; /* room of each */
    int64_t rows;       /* of counts, or 0 */
    size_t bytes_mapped, bytes_rows;
} layout;

/* What its kernels need of it. */
typedef struct tiling {
    histo_packed_block block;
    histo_counter_range region;
    bool dense;             /* samples outside the region are counted in the histogram */
    histo_tile_range tiles; /* of the samples */
    int64_t first_of_rows;  /* the tile that has the first row of the workspace, unless they are strided */
    int before_flush;       /* samples that a thread counts before its block flushes its counters; 0: it does not */
    uint32_t coarsening;
    uint32_t *maps; /* [item - first_of_rows][map_words], or NULL */
    uint32_t map_words;
    unsigned int *rows;        /* [item - first_of_rows][counters], or NULL: to the histogram */
    unsigned long long *tally; /* of overflows, or NULL */
} tiling;

/* Sources: what a kernel counts. SAMPLES of a thread in an iteration at most, and how many a launch asks for; how
 * samples say where they are counted. */

template <typename reader>
struct by_reader {
    enum { SAMPLES = reader::PER_STEP, IS_MAPPED = false };
    static HISTO_MEMBER uint32_t each(const tiling *) { return SAMPLES; }
    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, const tiling *, int64_t item)
    {
        return reader::tile(w, item);
    }
    static HISTO_MEMBER void slots(const histo_cuda_work *w, const tiling *, const histo_tile *tile, uint32_t at,
                                   uint32_t (&slot)[SAMPLES])
    {
        reader::slots(w, tile, at, slot);
    }
    static HISTO_MEMBER histo_packed_slots places(const tiling *t, const histo_packed_bins *bin_tile)
    {
        return {&t->block.packing, bin_tile};
    }
};

/* Each thread divides the slot by the tile, and looks whether the quotient is its own (figure B.3). */
struct divided_slots {
    const tiling *t;
    const histo_packed_bins *bin_tile;
    HISTO_MEMBER uint32_t at(uint32_t slot) const
    {
        const uint32_t in_region = slot - t->region.first;
        return in_region - in_region / t->block.size * t->block.size;
    }
    HISTO_MEMBER bool is_there(uint32_t slot) const
    {
        return (slot - t->region.first) / t->block.size == blockIdx.y && at(slot) < bin_tile->size;
    }
    HISTO_MEMBER uint32_t word(uint32_t slot) const { return histo_packed_word(&t->block.packing, at(slot)); }
    HISTO_MEMBER uint32_t shift(uint32_t slot) const { return histo_packed_shift(&t->block.packing, at(slot)); }
};

template <typename reader>
struct by_division : by_reader<reader> {
    static HISTO_MEMBER divided_slots places(const tiling *t, const histo_packed_bins *bin_tile)
    {
        return {t, bin_tile};
    }
};

/* ---- Pre-processing ---- */

/* Count a sample outside the region, if it is one. */
HISTO_IN_KERNEL void count_outside(const histo_cuda_work *w, const tiling *t, int64_t entry, uint32_t slot)
{
    if (slot - t->region.first >= t->region.size && slot != HISTO_NO_SLOT)
        atomicAdd(&w->counts[entry * w->counters + slot], 1ull);
}

/* Where the samples are counted, in the order the reader gives them; what is left of a part is HISTO_NO_SLOT. */
template <typename reader>
static __global__ void __launch_bounds__(INDEX_THREADS)
    write_maps(const __grid_constant__ histo_cuda_work work, const __grid_constant__ tiling t)
{
    const int64_t item = t.tiles.first + blockIdx.y;
    uint32_t *maps = t.maps + blockIdx.y * (int64_t)t.map_words;
    histo_tile tile = reader::tile(&work, item);
    const uint32_t step = blockDim.x * reader::PER_STEP;
    for (uint32_t at = blockIdx.x * step; at < t.map_words; at += gridDim.x * step) {
        uint32_t slot[reader::PER_STEP];
        reader::slots(&work, &tile, at, slot);
#pragma unroll
        for (int k = 0; k < reader::PER_STEP; k++) {
            uint32_t in_region = slot[k] - t.region.first;
            maps[at + (uint32_t)k * blockDim.x + threadIdx.x] =
                in_region < t.region.size ? histo_packed_map(&t.block, in_region) : HISTO_NO_SLOT;
            if (t.dense) count_outside(&work, &t, tile.entry, slot[k]);
        }
    }
}

/* Where pre-processed samples are counted. */
struct by_maps {
    const histo_packing *p;
    uint32_t tile;
    HISTO_MEMBER bool is_there(uint32_t map) const { return histo_map_tile(map) == tile; }
    HISTO_MEMBER uint32_t word(uint32_t map) const { return histo_map_index(map); }
    HISTO_MEMBER uint32_t shift(uint32_t map) const { return histo_map_offset(map); }
    HISTO_MEMBER uint32_t at(uint32_t map) const
    {
        return histo_map_index(map) << p->log_each | histo_map_offset(map) >> p->log_bits;
    }
};

struct pre_processed {
    enum { SAMPLES = MAX_COARSENING, IS_MAPPED = true };
    static HISTO_MEMBER uint32_t each(const tiling *t) { return t->coarsening; }
    static HISTO_MEMBER by_maps places(const tiling *t, const histo_packed_bins *)
    {
        return {&t->block.packing, blockIdx.y};
    }
    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, const tiling *t, int64_t item)
    {
        histo_tile tile = histo_tile_at(w, item);
        tile.at = (const char *)(t->maps + (item - t->first_of_rows) * t->map_words);
        tile.length = t->map_words;
        return tile;
    }
    static HISTO_MEMBER void slots(const histo_cuda_work *, const tiling *t, const histo_tile *tile, uint32_t at,
                                   uint32_t (&map)[SAMPLES])
    {
        uint32_t c = t->coarsening, first = at + threadIdx.x * c;
        const char *from = tile->at + first * sizeof *map;
#pragma unroll
        for (int k = 0; k < MAX_COARSENING; k++)
            map[k] = HISTO_NO_SLOT;
        if (first >= tile->length) return;
        if (c == 1) histo_load_at_once(map, from, 4);
        if (c == 2) histo_load_at_once(map, from, 8);
        if (c == 4) histo_load_at_once(map, from, 16);
    }
};

/* ---- Counting ---- */

/* The samples of a step that lie outside the region; the vertical tiles leave them to the first. */
template <int N>
HISTO_IN_KERNEL void count_all_outside(const histo_cuda_work *w, const tiling *t, int64_t entry,
                                       const uint32_t (&slot)[N])
{
    if (!t->dense || blockIdx.y != 0) return;
#pragma unroll
    for (int k = 0; k < N; k++)
        count_outside(w, t, entry, slot[k]);
}

HISTO_IN_KERNEL unsigned int *row_of(const histo_cuda_work *w, const tiling *t, int64_t item, uint32_t first)
{
    if (!t->rows) return NULL;
    return t->rows + (t->tiles.strided ? blockIdx.x : item - t->first_of_rows) * w->counters + first;
}

template <typename source>
static __global__ void __launch_bounds__(1024, 1)
    count(const __grid_constant__ histo_cuda_work work, const __grid_constant__ tiling t)
{
    extern __shared__ uint32_t shared[];
    uint32_t *mine = shared + threadIdx.x % t.block.copies * t.block.stride;
    histo_scan_tiles(&t.tiles, [&](int64_t item) {
        const histo_tile tile = source::tile(&work, &t, item);
        const histo_packed_bins bin_tile = histo_packed_bins_at(&work, &t.block, &t.region, tile.entry, blockIdx.y);
        const auto places = source::places(&t, &bin_tile);
        histo_packed_clear(shared, &t.block);
        histo_scan_steps(&t.tiles, tile.length, source::each(&t), [&](uint32_t at) {
            uint32_t slot[source::SAMPLES];
            source::slots(&work, &t, &tile, at, slot);
            histo_packed_count(mine, &t.block.packing, &bin_tile, places, slot, source::SAMPLES, t.tally);
            if constexpr (!source::IS_MAPPED) count_all_outside(&work, &t, tile.entry, slot);
        });
        histo_packed_merge(shared, &t.block, &bin_tile, row_of(&work, &t, item, bin_tile.first));
    });
}

/* Without old words: the block stops and adds its counters to the histogram before any of them can be full (5.2, the
 * first option). */
template <typename reader>
static __global__ void __launch_bounds__(1024, 1)
    count_and_flush(const __grid_constant__ histo_cuda_work work, const __grid_constant__ tiling t)
{
    extern __shared__ uint32_t shared[];
    uint32_t *mine = shared + threadIdx.x % t.block.copies * t.block.stride;
    histo_scan_tiles(&t.tiles, [&](int64_t item) {
        const histo_tile tile = reader::tile(&work, item);
        const histo_packed_bins bin_tile = histo_packed_bins_at(&work, &t.block, &t.region, tile.entry, blockIdx.y);
        const histo_packed_slots places = {&t.block.packing, &bin_tile};
        int left = t.before_flush;
        histo_packed_clear(shared, &t.block);
        histo_scan_slots<reader>(&work, &t.tiles, &tile, [&](const auto &slot) {
#pragma unroll
            for (int k = 0; k < reader::PER_STEP; k++) {
                if (left-- == 0) {
                    histo_packed_merge(shared, &t.block, &bin_tile, NULL);
                    histo_packed_clear(shared, &t.block);
                    left = t.before_flush - 1;
                }
                if (places.is_there(slot[k])) atomicAdd(&mine[places.word(slot[k])], 1u << places.shift(slot[k]));
            }
            count_all_outside(&work, &t, tile.entry, slot);
        });
        histo_packed_merge(shared, &t.block, &bin_tile, row_of(&work, &t, item, bin_tile.first));
    });
}

/* ---- Layout ---- */

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    const histo_packed_problem problem = {p->bins,
                                          p->slots + 1,
                                          p->samples / p->batch,
                                          device->multiprocessors,
                                          (int64_t)device->shared_each,
                                          (int64_t)device->shared_block,
                                          HISTO_CUDA_BLOCK_RESERVE};
    layout l = {};
    histo_packed_layout *on_chip = &l.on_chip;
    *on_chip = histo_packed_layout_of(&problem, params);
    if (!on_chip->blocks)
        on_chip->blocks =
            histo_cuda_resident(p->device, on_chip->threads, (size_t)on_chip->shared) / on_chip->bin_tiles + 1;
    if (params[HISTO_PACKED_PREPROCESS] && histo_packed_has_maps(on_chip)) {
        int64_t samples = p->samples + 1;
        if (samples > MAX_INDEXED) samples = MAX_INDEXED;
        const int64_t parts = on_chip->strided ? on_chip->streams : on_chip->blocks;
        l.mapped = samples / INDEX_STEP + 1;
        if (l.mapped > parts) l.mapped = parts;
        l.map_words = (uint32_t)(samples / l.mapped / INDEX_STEP + 1) * INDEX_STEP;
        if (!on_chip->coarsening) on_chip->coarsening = MAX_COARSENING;
    }
    if (params[HISTO_PACKED_MERGE]) l.rows = l.mapped && !on_chip->strided ? l.mapped : on_chip->blocks;
    l.bytes_mapped = (size_t)l.mapped * l.map_words * sizeof(uint32_t);
    l.bytes_rows = (size_t)l.rows * (size_t)problem.counters * sizeof(unsigned int);
    return l;
}

/* ---- The strategy ---- */

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    layout l = layout_of(problem, params);
    return l.bytes_mapped + l.bytes_rows;
}

/* Count tiles of the samples, in parts on each stream. Returns how many blocks along x each had. */
static histo_status launch_parts(const histo_job *job, const void *kernel, const histo_packed_layout *l,
                                 histo_cuda_work *work, const tiling *t, int64_t *blocks)
{
    cudaStream_t stream = (cudaStream_t)job->stream, streams[HISTO_CUDA_MAX_BRANCHES];
    const int64_t tiles = t->tiles.end - t->tiles.first;
    int branches = tiles < l->streams ? (int)tiles : l->streams;
    histo_status status = histo_cuda_fork_begin(histo_cuda_accumulators_in(job), stream, branches, streams);
    if (status != HISTO_OK) return status;
    for (int b = 0; b < branches && status == HISTO_OK; b++) {
        histo_job branch = *job;
        tiling part = *t;
        void *args[] = {work, &part};
        branch.stream = streams[b];
        part.tiles.first = t->tiles.first + histo_packed_first_of_stream(tiles, b, branches);
        part.tiles.end = t->tiles.first + histo_packed_first_of_stream(tiles, b + 1, branches);
        *blocks = histo_scan_blocks(&part.tiles, work->samples_each, l->threads, histo_packed_blocks_of_stream(l));
        status = histo_cuda_launch(&branch, kernel, dim3((unsigned)*blocks, (unsigned)l->bin_tiles), l->threads,
                                   (size_t)l->shared, args);
    }
    histo_status end = histo_cuda_fork_end(histo_cuda_accumulators_in(job), stream, branches);
    return status != HISTO_OK ? status : end;
}

static const void *kernel_of(int reader, const histo_packed_layout *l, const int64_t *params)
{
    return histo_kernel_by_reader(histo_all_readers(), reader, [=](auto it) {
        if (params[HISTO_PACKED_FLUSH]) return (const void *)count_and_flush<histo_coarse<decltype(it), 1>>;
        if (params[HISTO_PACKED_DIVIDE]) return (const void *)count<by_division<histo_coarse<decltype(it), 4>>>;
        return histo_kernel_by_coarsening<1, 2, 4>(
            it, l->coarsening, [](auto its) { return (const void *)count<by_reader<decltype(its)>>; });
    });
}

static histo_status write_maps_of(const histo_job *job, int reader, histo_cuda_work *work, tiling *t)
{
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), reader,
                                                [](auto it) { return (const void *)write_maps<decltype(it)>; });
    void *args[] = {work, t};
    const int64_t steps = t->map_words / INDEX_STEP, all = histo_cuda_resident(job->problem->device, INDEX_THREADS, 0);
    const dim3 grid((unsigned)(steps < all ? steps : all), (unsigned)(t->tiles.end - t->tiles.first));
    return histo_cuda_launch(job, kernel, grid, INDEX_THREADS, 0, args);
}

/* ---- Overflows ---- */

enum { OVERFLOWS, WRAPPED, TALLIES };
static __device__ unsigned long long tallies[TALLIES];
static unsigned long long tallied; /* samples */

/* Tell what all launches with tally=1 have counted since this was last asked; waits for them. */
static void tell(histo_text *text)
{
    unsigned long long told[TALLIES] = {0}, none[TALLIES] = {0};
    unsigned long long samples = __atomic_exchange_n(&tallied, 0, __ATOMIC_RELAXED);
    if (!samples || cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpyFromSymbol(told, tallies, sizeof told) != cudaSuccess ||
        cudaMemcpyToSymbol(tallies, none, sizeof none) != cudaSuccess)
        return;
    histo_text_add(text, "%llu overflows, %.4g %% of the samples; %llu neighbours wrapped, %.4g %% of the overflows",
                   told[OVERFLOWS], 100 * (double)told[OVERFLOWS] / (double)samples, told[WRAPPED],
                   told[OVERFLOWS] ? 100 * (double)told[WRAPPED] / (double)told[OVERFLOWS] : 0.0);
}

/* The job's work, cut into shares, or strided, into as few tiles as there are streams. */
static histo_cuda_work work_of(const histo_job *job, const layout *l)
{
    enum { MIN = 1 << 14, LONGEST_PAD = 128 /* and a multiple of a cache line of samples */ };
    const bool as_launched = l->on_chip.strided || job->params[HISTO_PACKED_CONFIG] == HISTO_PACKED_THESIS;
    int64_t most = l->mapped ? l->map_words - LONGEST_PAD : (int64_t)HISTO_SCAN_TILE,
            least = as_launched ? 1 : (int64_t)MIN;
    if (least > most) least = most;
    return histo_cuda_work_of(job, l->on_chip.strided ? l->on_chip.streams : l->on_chip.blocks, least, most);
}

static histo_status launch(const histo_job *job)
{
    const layout l = layout_of(job->problem, job->params);
    histo_cuda_work work = work_of(job, &l);
    int reader = histo_cuda_reader_of(&work);
    tiling t = {l.on_chip.block, l.on_chip.region};
    t.dense = l.on_chip.region.size < work.counters;
    t.coarsening = (uint32_t)l.on_chip.coarsening;
    t.tiles.strided = l.on_chip.strided;
    t.before_flush = histo_packed_before_flush(&t.block, l.on_chip.threads);
    if (l.mapped) t.maps = (uint32_t *)job->workspace;
    t.map_words = l.map_words;
    if (l.rows) t.rows = (unsigned int *)((char *)job->workspace + l.bytes_mapped);
    histo_status status = HISTO_OK;
    if (job->params[HISTO_PACKED_TALLY]) {
        status = HISTO_CUDA(cudaGetSymbolAddress((void **)&t.tally, tallies), "finding the tally");
        __atomic_add_fetch(&tallied, (unsigned long long)(job->end - job->begin), __ATOMIC_RELAXED);
    }
    if (status == HISTO_OK && l.rows && t.dense) /* counters that no block writes */
        status = HISTO_CUDA(cudaMemsetAsync(t.rows, 0, l.bytes_rows, (cudaStream_t)job->stream), "clearing rows");
    const void *kernel = l.mapped ? (const void *)count<pre_processed> : kernel_of(reader, &l.on_chip, job->params);
    int64_t at_once = l.mapped ? l.mapped : l.rows ? l.rows : work.tiles, blocks = 0;
    if (l.rows && t.tiles.strided) at_once = 1; /* all rows are of one tile */
    for (int64_t item = 0; item < work.tiles && status == HISTO_OK; item = t.tiles.end) {
        t.tiles.first = t.first_of_rows = item;
        t.tiles.end = work.tiles - item < at_once ? work.tiles : item + at_once;
        if (l.mapped) status = write_maps_of(job, reader, &work, &t);
        if (status == HISTO_OK) status = launch_parts(job, kernel, &l.on_chip, &work, &t, &blocks);
        const histo_tile_rows rows = {t.rows, t.tiles};
        if (status == HISTO_OK && l.rows) status = histo_cuda_add_rows(job, &work, &rows, blocks);
    }
    return status;
}

static void explain(const histo_problem *problem, const int64_t *params, histo_text *text)
{
    const layout l = layout_of(problem, params);
    const histo_packed_layout *it = &l.on_chip;
    histo_text_add(text,
                   "%lld vertical tile%s of %u counters of %u bits; %u cop%s in %lld bytes of shared memory; %lld "
                   "blocks of %d threads along the samples, on %d stream%s",
                   (long long)it->bin_tiles, it->bin_tiles == 1 ? "" : "s", it->block.size, it->block.packing.bits,
                   it->block.copies, it->block.copies == 1 ? "y" : "ies", (long long)it->shared,
                   (long long)(it->streams * histo_packed_blocks_of_stream(it)), it->threads, it->streams,
                   it->streams == 1 ? "" : "s");
    if (it->coarsening)
        histo_text_add(text, "; %d sample%s a load", it->coarsening, it->coarsening == 1 ? "" : "s");
    else
        histo_text_add(text, "; 16 bytes a load");
    if (it->region.size < (uint32_t)problem->slots + 1)
        histo_text_add(text, "; %u of the %lld counters on chip", it->region.size, (long long)problem->slots + 1);
    if (l.mapped) histo_text_add(text, "; pre-processed");
    if (it->strided) histo_text_add(text, "; blocks side by side");
    if (params[HISTO_PACKED_FLUSH])
        histo_text_add(text, "; flushed every %d samples of a thread",
                       histo_packed_before_flush(&it->block, it->threads));
}

static const char *const configs[] = {"usual", "thesis", NULL};

extern "C" const histo_strategy histo_cuda_packed_atomic = {
    .unsupported_reason = histo_cuda_weights_unsupported,
    .workspace = workspace,
    .launch = launch,
    .params =
        {{"config", 0, 1, 0, "usual: made for this card; thesis: of chapter 6. The other parameters change it",
          configs},
         {"bits", 0, 16, 0, "of a counter: 4, 8 or 16, the next of these; 0: by bins and samples"},
         {"coarsening", 0, 4, 0, "samples a load, 1, 2 or 4; 0: 16 bytes of them. Where they are contiguous"},
         {"copies", 0, HISTO_PACKED_MAX_COPIES, 0,
          "of a block's counters, chosen by thread; 0: table 5.1, scaled to the card. Fewer if they do not fit"},
         {"preprocess", 0, 1, 0,
          "1: a kernel of its own turns samples into tile, offset and index, which all tiles read, of which there "
          "may be 2047"},
         {"blocks", 0, 65535, 0, "horizontal tiles: parts of the samples; 0: as many as the device holds at once"},
         {"tile", 0, 1 << 20, 0, "counters of a vertical tile; 0: as many as fit"},
         {"streams", 0, HISTO_CUDA_MAX_BRANCHES, 0, "that the horizontal tiles are spread over; 0: one"},
         {"threads", 0, 1024, 0, "of a block; 0: 512, or 1024 where only one block fits on a multiprocessor"},
         histo_merge_param,
         {"dense", 0, 1 << 20, 0, "n: only the middle n-th of the bins is counted on chip; 0: all"},
         {"tally", 0, 1, 0, "1: count overflows"},
         histo_scan_param,
         {"divide", 0, 1, 0,
          "1: each thread divides slots by the tile, as without pre-processing in figure B.3; four samples a load"},
         {"flush", 0, 1, 0,
          "1: few threads, which flush counters of 8 or 16 bits before any can be full, instead of correcting "
          "overflows; one sample a load"}},
    .explain = explain,
    .tell = tell,
};
