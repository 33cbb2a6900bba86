/* packed_atomic: each block counts into counters of 4, 8 or 16 bits, packed into words of shared memory, by atomic
 * additions that return the old word. Where that shows an overflow, the difference goes to the histogram. packed.h has
 * the arithmetic, and why it is exact for any samples and any order of threads.
 *
 * - Coarsening: an iteration loads and counts 1, 2 or 4 neighbouring samples, or as many loads of 16 bytes as the
 *   common readers make.
 * - Copies of the counters, chosen by thread: a power of two up to 64, as many as leave room for two blocks on a
 *   multiprocessor. That is table 5.1, whose row of one copy is half of a multiprocessor's memory. A copy has an odd
 *   number of words, so equal samples in neighbouring threads never share a bank.
 * - Pre-processing: a first kernel writes the slots of all samples to memory, 32 bits each, and the vertical tiles read
 *   those. In the source it saves each tile a division. A tile here knows its first slot and needs no division, so it
 *   saves the lookup, which pays off with many tiles and expensive axes.
 * - Horizontal tiles, blockIdx.x: a part of the samples. Vertical tiles, blockIdx.y: a range of slots; each reads all
 *   samples.
 * - Streams: parts of the samples are launched on several streams, so one part's blocks begin while the last blocks of
 *   another are running.
 *
 * Source: Ross 2014, 5.2 and 5.3 (packed atomics), 5.4 to 5.7 (coarsening, copies, pre-processing, tiles), 5.8.1 (4
 * bits), 5.8.2 (streams).
 * Bytes: each sample once per vertical tile; with pre-processing, once, and 4 bytes written and 4 read per tile. Wins
 * where packed counters fit on chip and 32-bit ones do not. Loses to 32-bit counters where those fit, because they need
 * no old word, and where samples hit few bins, which overflow. */
#include "cuda/cuda.h"
#include "cuda/device/reader.cuh"
#include "cuda/packed.cuh"

enum { BITS, COARSENING, COPIES, PREPROCESS, BLOCKS, TILE, STREAMS, THREADS };
enum {
    MAX_TILE_SAMPLES = 1 << 30,
    MAX_TILES = 65535,
    MAX_COPIES = 64,
    MAX_COARSENING = 4,
    INDEX_THREADS = 256,
    INDEX_STEP = INDEX_THREADS * 16, /* a multiple of the samples of a step, whatever the reader */
    MAX_INDEXED = 1 << 26            /* samples pre-processed at a time */
};

/* How a problem is laid out on chip, and its slots in the workspace. */
typedef struct layout {
    histo_packed_block block;
    int64_t bin_tiles;
    size_t shared; /* bytes */
    int threads, streams;
    int64_t blocks;     /* along x, on all streams */
    int64_t rows;       /* parts of the samples pre-processed at a time, or 0 */
    uint32_t row_slots; /* room of each, in slots */
} layout;

/* What its kernels need of it. */
typedef struct tiling {
    histo_packed_block block;
    int64_t first_item, last_item; /* tiles */
    uint32_t coarsening;
    uint32_t *rows; /* [item - first_row][row_slots] */
    int64_t first_row;
    uint32_t row_slots;
} tiling;

/* ---- Loads of c = 1, 2 or 4 samples ---- */

HISTO_IN_KERNEL void load(uint32_t *words, const char *from, int bytes)
{
    switch (bytes) {
    case 1:
        words[0] = __ldcs((const uint8_t *)from);
        break;
    case 2:
        words[0] = __ldcs((const uint16_t *)from);
        break;
    case 4:
        words[0] = __ldcs((const uint32_t *)from);
        break;
    case 8: {
        uint2 two = __ldcs((const uint2 *)from);
        memcpy(words, &two, sizeof two);
        break;
    }
    default:
        for (int v = 0; v < bytes / 16; v++) {
            uint4 four = __ldcs((const uint4 *)from + v);
            memcpy(words + 4 * v, &four, sizeof four);
        }
    }
}

/* Sources: what a kernel counts. SAMPLES of a thread in an iteration at most, and how many a launch asks for. */

template <typename reader>
struct by_reader {
    enum { SAMPLES = reader::PER_STEP };
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
};

/* c = t->coarsening neighbouring samples by one load. */
template <histo_dtype type>
struct coarse {
    using storage = histo_stored<type>;
    enum { SAMPLES = MAX_COARSENING, SIZE = (int)sizeof(storage) };
    static HISTO_MEMBER uint32_t each(const tiling *t) { return t->coarsening; }
    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, const tiling *, int64_t item)
    {
        return histo_contiguous<type>::tile(w, item);
    }
    static HISTO_MEMBER void slots(const histo_cuda_work *w, const tiling *t, const histo_tile *tile, uint32_t at,
                                   uint32_t (&slot)[SAMPLES])
    {
        uint32_t c = t->coarsening, first = at + threadIdx.x * c;
        const storage *from = (const storage *)tile->at + first;
        bool whole = first >= tile->pad && first + c <= tile->length;
        uint32_t words[MAX_COARSENING * SIZE / 4] = {0};
        if (whole && c == 1) load(words, (const char *)from, SIZE);
        if (whole && c == 2) load(words, (const char *)from, SIZE * 2);
        if (whole && c == 4) load(words, (const char *)from, SIZE * 4);
        storage x[MAX_COARSENING];
        memcpy(x, words, sizeof x);
#pragma unroll
        for (uint32_t k = 0; k < MAX_COARSENING; k++) {
            bool is_there = k < c && first + k >= tile->pad && first + k < tile->length;
            if (is_there && !whole) x[k] = from[k];
            slot[k] = is_there ? histo_any_lookup<type>(&w->lookups[0]).slot(x[k]) : HISTO_NO_SLOT;
        }
    }
};

/* ---- Pre-processing ---- */

/* Rows of slots, in the order the reader gives them; what is left of a row is HISTO_NO_SLOT. */
template <typename reader>
static __global__ void __launch_bounds__(INDEX_THREADS)
    write_slots(const __grid_constant__ histo_cuda_work work, const __grid_constant__ tiling t)
{
    int64_t item = t.first_item + blockIdx.x;
    uint32_t *row = t.rows + blockIdx.x * (int64_t)t.row_slots;
    histo_tile tile = reader::tile(&work, item);
    for (uint32_t at = 0; at < t.row_slots; at += blockDim.x * reader::PER_STEP) {
        uint32_t slot[reader::PER_STEP];
        reader::slots(&work, &tile, at, slot);
#pragma unroll
        for (int k = 0; k < reader::PER_STEP; k++)
            row[at + (uint32_t)k * blockDim.x + threadIdx.x] = slot[k];
    }
}

/* The slots in the rows. */
struct indexed {
    enum { SAMPLES = MAX_COARSENING };
    static HISTO_MEMBER uint32_t each(const tiling *t) { return t->coarsening; }
    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, const tiling *t, int64_t item)
    {
        histo_tile tile = histo_tile_at(w, item);
        tile.at = (const char *)(t->rows + (item - t->first_row) * t->row_slots);
        tile.length = t->row_slots;
        return tile;
    }
    static HISTO_MEMBER void slots(const histo_cuda_work *, const tiling *t, const histo_tile *tile, uint32_t at,
                                   uint32_t (&slot)[SAMPLES])
    {
        uint32_t c = t->coarsening, first = at + threadIdx.x * c;
        const char *from = tile->at + first * sizeof *slot;
#pragma unroll
        for (int k = 0; k < MAX_COARSENING; k++)
            slot[k] = HISTO_NO_SLOT;
        if (first >= tile->length) return;
        if (c == 1) load(slot, from, 4);
        if (c == 2) load(slot, from, 8);
        if (c == 4) load(slot, from, 16);
    }
};

/* ---- Counting ---- */

template <typename source>
static __global__ void __launch_bounds__(1024, 1)
    count(const __grid_constant__ histo_cuda_work work, const __grid_constant__ tiling t)
{
    extern __shared__ uint32_t shared[];
    uint32_t *mine = shared + threadIdx.x % t.block.copies * t.block.stride;
    for (int64_t item = t.first_item + blockIdx.x; item < t.last_item; item += gridDim.x) {
        histo_tile tile = source::tile(&work, &t, item);
        histo_packed_bins bin_tile = histo_packed_bins_at(&work, &t.block, tile.entry, blockIdx.y);
        histo_packed_clear(shared, &t.block);
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * source::each(&t)) {
            uint32_t slot[source::SAMPLES];
            source::slots(&work, &t, &tile, at, slot);
            histo_packed_count(mine, &t.block.packing, &bin_tile, slot, source::SAMPLES);
        }
        histo_packed_merge(shared, &t.block, &bin_tile);
    }
}

/* ---- Layout ---- */

/* A width that packing has, from a parameter: the next of them. */
static int bits_of(int64_t param)
{
    return param <= 4 ? 4 : param <= 8 ? 8 : 16;
}

/* Counters that one block can have. */
static int64_t capacity(const histo_cuda_device *device, int bits)
{
    return (int64_t)(device->shared_block / sizeof(uint32_t)) * (32 / bits);
}

static int64_t words_of(int64_t counters, int bits)
{
    return (counters * bits + 31) / 32;
}

/* As wide as leaves one bin_tile, else 8 bits; 4 where a block's counters get so few samples that these hardly
 * overflow. */
static int choose_bits(const histo_problem *p, const histo_cuda_device *device, int64_t counters)
{
    enum { FEW = 4 };
    if (counters <= capacity(device, 16)) return 16;
    if (counters <= capacity(device, 8)) return 8;
    int64_t bin_tiles = counters / capacity(device, 4) + 1, blocks = device->multiprocessors / bin_tiles + 1;
    double of_a_counter = (double)p->samples / (double)p->batch / (double)blocks / (double)counters;
    return of_a_counter < FEW ? 4 : 8;
}

/* Copies of a bin_tile of so many words that fit into half of a multiprocessor's memory. */
static int64_t choose_copies(const histo_cuda_device *device, int64_t words)
{
    int64_t room = (int64_t)((device->shared_each / 2 - HISTO_CUDA_BLOCK_RESERVE) / sizeof(uint32_t)),
            copies = MAX_COPIES;
    while (copies > 1 && copies * (words | 1) > room)
        copies /= 2;
    return copies;
}

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    layout l;
    int64_t counters = p->slots + 1, bin_tile = params[TILE] && params[TILE] < counters ? params[TILE] : counters;
    if (bin_tile < counters / MAX_TILES + 1) bin_tile = counters / MAX_TILES + 1;
    int bits = params[BITS] ? bits_of(params[BITS]) : choose_bits(p, device, bin_tile);
    if (bin_tile > capacity(device, bits)) bin_tile = capacity(device, bits);
    int64_t words = words_of(bin_tile, bits), most = (int64_t)(device->shared_block / sizeof(uint32_t));
    int64_t copies = params[COPIES] ? params[COPIES] : choose_copies(device, words);
    while (copies > 1 && copies * (words | 1) > most)
        copies--;
    int64_t stride = copies > 1 ? words | 1 : words;
    l.block.packing = histo_packing_of(bits);
    l.block.size = (uint32_t)bin_tile;
    l.block.copies = (uint32_t)copies;
    l.block.stride = (uint32_t)stride;
    l.bin_tiles = (counters + bin_tile - 1) / bin_tile;
    l.shared = (size_t)(copies * stride) * sizeof(uint32_t);
    l.threads = params[THREADS] ? (int)params[THREADS] : 2 * l.shared > device->shared_each ? 1024 : 512;
    l.streams = (int)params[STREAMS];
    l.blocks = params[BLOCKS] ? params[BLOCKS] : histo_cuda_resident(p->device, l.threads, l.shared) / l.bin_tiles + 1;
    l.rows = l.row_slots = 0;
    if (params[PREPROCESS]) {
        int64_t indexed = p->samples + 1;
        if (indexed > MAX_INDEXED) indexed = MAX_INDEXED;
        l.rows = indexed / INDEX_STEP + 1;
        if (l.rows > l.blocks) l.rows = l.blocks;
        l.row_slots = (uint32_t)(indexed / l.rows / INDEX_STEP + 1) * INDEX_STEP;
    }
    return l;
}

/* ---- The strategy ---- */

static const char *unsupported_reason(const histo_problem *problem)
{
    return problem->weighting != HISTO_UNWEIGHTED ? "it counts, but sums no weights" : NULL;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    layout l = layout_of(problem, params);
    return (size_t)l.rows * l.row_slots * sizeof(uint32_t);
}

/* Count tiles [t->first_item, t->last_item), in parts on each stream. */
static histo_status launch_parts(const histo_job *job, const void *kernel, const layout *l, histo_cuda_work *work,
                                 const tiling *t)
{
    cudaStream_t stream = (cudaStream_t)job->stream, streams[HISTO_CUDA_MAX_BRANCHES];
    int64_t tiles = t->last_item - t->first_item, blocks = l->blocks / l->streams + 1;
    int branches = tiles < l->streams ? (int)tiles : l->streams;
    histo_status status = histo_cuda_fork_begin(histo_cuda_accumulators_in(job), stream, branches, streams);
    if (status != HISTO_OK) return status;
    for (int b = 0; b < branches && status == HISTO_OK; b++) {
        histo_job branch = *job;
        tiling part = *t;
        void *args[] = {work, &part};
        branch.stream = streams[b];
        part.first_item = t->first_item + tiles * b / branches;
        part.last_item = t->first_item + tiles * (b + 1) / branches;
        int64_t items = part.last_item - part.first_item;
        dim3 grid((unsigned)(items < blocks ? items : blocks), (unsigned)l->bin_tiles);
        status = histo_cuda_launch(&branch, kernel, grid, l->threads, l->shared, args);
    }
    histo_status end = histo_cuda_fork_end(histo_cuda_accumulators_in(job), stream, branches);
    return status != HISTO_OK ? status : end;
}

/* With pre-processing: as many tiles at a time as there are rows. */
static histo_status index_and_count(const histo_job *job, int reader, const layout *l, histo_cuda_work *work, tiling *t)
{
    const void *kernel = histo_kernel_by_reader(histo_paper_readers(), reader,
                                                [](auto it) { return (const void *)write_slots<decltype(it)>; });
    histo_status status = HISTO_OK;
    for (int64_t item = 0; item < work->tiles && status == HISTO_OK; item = t->last_item) {
        t->first_item = t->first_row = item;
        t->last_item = work->tiles - item < l->rows ? work->tiles : item + l->rows;
        void *args[] = {work, t};
        status = histo_cuda_launch(job, kernel, dim3((unsigned)(t->last_item - item)), INDEX_THREADS, 0, args);
        if (status == HISTO_OK) status = launch_parts(job, (const void *)count<indexed>, l, work, t);
    }
    return status;
}

/* By coarse loads where the samples are contiguous. */
static const void *kernel_of(int reader, bool is_coarse)
{
    return histo_kernel_by_reader(histo_paper_readers(), reader, [=](auto it) {
        using reader_type = decltype(it);
        if constexpr ((int)reader_type::ID != (int)HISTO_READ_ANY) {
            if (is_coarse) return (const void *)count<coarse<(histo_dtype)reader_type::ID>>;
        }
        return (const void *)count<by_reader<reader_type>>;
    });
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14, LONGEST_PAD = 128 /* and a multiple of a cache line of samples */ };
    layout l = layout_of(job->problem, job->params);
    int64_t most = MAX_TILE_SAMPLES, least = MIN;
    if (l.rows) most = l.row_slots - LONGEST_PAD;
    if (least > most) least = most;
    histo_cuda_work work = histo_cuda_work_of(job, l.blocks, least, most);
    int reader = histo_cuda_reader_of(&work);
    int64_t coarsening = job->params[COARSENING] == 3 ? 2 : job->params[COARSENING];
    tiling t = {l.block, 0, work.tiles, (uint32_t)coarsening, (uint32_t *)job->workspace, 0, l.row_slots};
    if (l.rows) {
        if (!coarsening) t.coarsening = MAX_COARSENING;
        return index_and_count(job, reader, &l, &work, &t);
    }
    return launch_parts(job, kernel_of(reader, coarsening != 0), &l, &work, &t);
}

extern "C" const histo_strategy histo_cuda_packed_atomic = {
    .unsupported_reason = unsupported_reason,
    .workspace = workspace,
    .launch = launch,
    .params = {{"bits", 0, 16, 0, "of a counter: 4, 8 or 16, the next of these; 0: by bins and samples"},
               {"coarsening", 0, 4, 0, "samples a load, 1, 2 or 4; 0: 16 bytes of them. Where they are contiguous"},
               {"copies", 0, 64, 0,
                "of a block's counters, chosen by thread; 0: table 5.1, scaled to the card. Fewer if they do not fit"},
               {"preprocess", 0, 1, 0, "1: a kernel of its own turns samples into slots, which all tiles read"},
               {"blocks", 0, 65535, 0,
                "horizontal tiles: parts of the samples; 0: as many as the device holds at once"},
               {"tile", 0, 1 << 20, 0, "counters of a vertical tile; 0: as many as fit"},
               {"streams", 1, HISTO_CUDA_MAX_BRANCHES, 1, "that the horizontal tiles are spread over"},
               {"threads", 0, 1024, 0, "of a block; 0: 512, or 1024 where only one block fits on a multiprocessor"}},
};
