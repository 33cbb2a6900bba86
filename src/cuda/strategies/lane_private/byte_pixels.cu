/* 8-bit samples in rows of images: grey or up to four interleaved channels at once, any pitch, many images, a mask.
 *
 * Idea: a block has a table of 256 counters per channel, one more with a mask, and 32 copies of it, one for each lane
 * of its warps in a bank of its own: no two lanes ever meet in a counter or a bank, whatever the samples are. Each
 * vector is read once for all channels. Values become slots, and a range filter on the samples themselves is applied,
 * when a block merges its counters.
 *
 * Bytes: each sample once, and its mask. Bound: the memory's read bandwidth, or one shared-memory atomic per lane and
 * clock. Wins on all 8-bit samples at most four bytes apart. Source: the bank-per-thread layout of Podlozhnyuk 2007. */
#include "cuda/strategies/lane_private/byte_pixels.h"

#include <string.h>

#include "cuda/device/byte_counters.cuh"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/prepared.h"
#include "cuda/memory/accumulators.h"

enum { VALUES = HISTO_VALUES, WARP = HISTO_VALUE_COPIES, VECTOR = HISTO_IMAGES_VECTOR };
enum { TABLE = VALUES * WARP /* counters */ };
enum { NO_VECTOR = 3 /* in place of a vector's phase, which is 0, 1 or 2: it does not exist */ };
enum { MERGE = 1024 /* vectors that a block could read in the time of a merge */ };

/* ---- A kernel's parameters ---- */

/* PERIOD: bytes of a pixel. VECTORS: loaded by a thread in each step, as many as its registers hold. THREADS of a block
 * and BLOCKS of a multiprocessor: for the launch bounds. */
template <int PERIOD_, bool MASKED_, int VECTORS_, int THREADS_, int BLOCKS_>
struct config {
    enum { PERIOD = PERIOD_, VECTORS = VECTORS_, THREADS = THREADS_, BLOCKS = BLOCKS_ };
    static const bool MASKED = MASKED_;
};

/* Architectures with fewer threads to a multiprocessor hold fewer blocks. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { MAX_BLOCKS = 1 };
#else
enum { MAX_BLOCKS = 4 };
#endif

/* ---- Reading ---- */

/* Read the samples' own bytes only: 16 at once where they are aligned, else 4, else 1. */
HISTO_IN_KERNEL uint4 load_mask(const char *at)
{
    uint32_t misalignment = (uint32_t)(uint64_t)at & (VECTOR - 1);
    if (!misalignment) return __ldcs((const uint4 *)at);
    uint32_t words[4];
#pragma unroll
    for (int w = 0; w < 4; w++)
        words[w] =
            misalignment % 4 == 0 ? __ldcs((const unsigned int *)at + w) : (uint32_t)histo_bytes_at(at + 4 * w, 4);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* What a thread loads in a step. */
template <int VECTORS>
struct loaded_step {
    uint4 vectors[VECTORS], masks[VECTORS];
};

/* Returns two bits for each vector: its phase, or NO_VECTOR. */
template <class config, bool ROWS>
HISTO_IN_KERNEL uint32_t load_step(const histo_images *in, histo_images_cursor *cursor, loaded_step<config::VECTORS> *s)
{
    uint32_t phases = 0;
#pragma unroll
    for (int v = 0; v < config::VECTORS; v++) {
        histo_images_vector vector = histo_images_next<ROWS, 1, config::MASKED>(in, cursor);
        uint32_t phase = NO_VECTOR;
        if (vector.exists) {
            phase = config::PERIOD == 3 ? vector.phase : 0;
            s->vectors[v] = __ldcs((const uint4 *)vector.at);
            if (config::MASKED) s->masks[v] = load_mask(vector.mask);
        }
        phases |= phase << (2 * v);
    }
    return phases;
}

/* ---- Counting ---- */

/* The counter of what the mask leaves out: counting it somewhere needs no branch. */
HISTO_IN_KERNEL uint32_t masked_counter(uint32_t table)
{
    return table + VALUES * (WARP * 4);
}

/* tables: for each byte of a pixel the address, in shared memory, of this lane's copy of its table; 0: not counted. */
template <class config>
HISTO_IN_KERNEL void count_vector(const uint32_t *tables, uint4 words, uint4 mask, uint32_t phase)
{
#pragma unroll
    for (int j = 0; j < config::PERIOD; j++) {
        uint32_t table = tables[j];
        if (config::PERIOD == 3 && phase > 0) table = phase == 1 ? tables[(j + 1) % 3] : tables[(j + 2) % 3];
        if (table == 0) continue;
#pragma unroll
        for (int k = j; k < VECTOR; k += config::PERIOD) {
            uint32_t address = histo_value_counter(table, histo_word_of_vector(words, k / 4), k % 4);
            if (config::MASKED && !(histo_word_of_vector(mask, k / 4) & 0xffu << (8 * (k % 4))))
                address = masked_counter(table);
            histo_count_at(address);
        }
    }
}

/* A warp counts the ends of two rows at a time. */
template <class config>
HISTO_IN_KERNEL void count_ends(const histo_images *in, const uint32_t *tables, histo_images_ends *ends, uint32_t last)
{
    enum { ROWS = 2 };
    const uint32_t step = in->stride / WARP;
    for (; ends->next < last; ends->next += ROWS * step) {
        uint8_t value[ROWS];
        uint32_t table[ROWS]; /* 0: nothing to count */
        bool kept[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            uint32_t r = ends->next + (uint32_t)i * step;
            const char *row = ends->samples + r * in->pitch;
            const char *at = r < ends->last ? histo_images_end_sample(in, row, 1) : NULL;
            uint32_t byte =
                config::PERIOD == 3 ? (uint32_t)((uint64_t)(at - row) % 3) : (uint32_t)(uint64_t)at % config::PERIOD;
            table[i] = 0;
#pragma unroll
            for (int j = 0; j < config::PERIOD; j++) /* a constant index keeps tables[] in registers */
                table[i] = at && byte == (uint32_t)j ? tables[j] : table[i];
            value[i] = at ? *(const uint8_t *)at : 0;
            kept[i] = !config::MASKED || (at && ends->mask[r * in->mask_pitch + (at - row)]);
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (table[i])
                histo_count_at(kept[i] ? histo_value_counter(table[i], value[i], 0) : masked_counter(table[i]));
    }
}

/* ---- Merging ---- */

/* Counters of a table: one for each value, and with a mask one for what it leaves out, rounded up so that two threads
 * per counter are whole warps. */
template <bool MASKED>
HISTO_INLINE __host__ __device__ constexpr uint32_t counters_of()
{
    return MASKED ? VALUES + WARP / 2 : VALUES;
}

HISTO_IN_KERNEL uint32_t slot_of_counter(const histo_pixels *p, uint32_t counter)
{
    double x = p->is_signed ? (double)(int8_t)counter : (double)counter;
    bool is_left_out = counter >= VALUES || (p->filters && (x < p->where_lo || x > p->where_hi));
    return is_left_out ? p->slots : p->slot_of[counter];
}

/* A block's shared memory. */
typedef struct block_memory {
    unsigned int *counters; /* of all tables */
    uint32_t *slots;        /* of a table's counters */
    uint32_t *sums, *added; /* for each counter: what the merge adds, and what earlier merges have added */
} block_memory;

template <bool MASKED>
HISTO_IN_KERNEL block_memory block_memory_of(const histo_pixels *p)
{
    extern __shared__ unsigned int shared[];
    unsigned int *slots = shared + (uint32_t)p->tables * counters_of<MASKED>() * WARP;
    uint32_t *sums = slots + counters_of<MASKED>();
    return {shared, slots, sums, sums + (uint32_t)p->tables * counters_of<MASKED>()};
}

template <bool MASKED>
HISTO_IN_KERNEL void clear(const histo_pixels *p)
{
    const block_memory m = block_memory_of<MASKED>(p);
    const uint32_t counters = (uint32_t)p->tables * counters_of<MASKED>();
    for (uint32_t i = threadIdx.x; i < counters * WARP / 4; i += blockDim.x)
        ((uint4 *)m.counters)[i] = make_uint4(0, 0, 0, 0);
    for (uint32_t i = threadIdx.x; i < counters; i += blockDim.x)
        m.added[i] = 0;
    for (uint32_t i = threadIdx.x; i < counters_of<MASKED>(); i += blockDim.x)
        m.slots[i] = slot_of_counter(p, i);
    __syncthreads();
}

/* Add to the histograms what the block has counted since its last merge: counters run on, so that none need clearing.
 * Neighbouring lanes add neighbouring sums; blocks start at different counters. */
template <bool MASKED>
HISTO_IN_KERNEL void merge_tables(const histo_pixels *p, int64_t entry)
{
    const block_memory m = block_memory_of<MASKED>(p);
    const uint32_t each = counters_of<MASKED>(), sums = (uint32_t)p->tables * each, start = blockIdx.x * WARP;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sums * 2; i += blockDim.x) {
        uint32_t sum = histo_sum_value(m.counters, i);
        if (i % 2) continue;
        m.sums[i / 2] = sum - m.added[i / 2];
        m.added[i / 2] = sum;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sums; i += blockDim.x) {
        uint32_t table = i / each, at = (i + start) % each, sum = m.sums[table * each + at];
        unsigned long long *counts = p->counts + (entry + p->entry[table]) * p->counters;
        if (sum) atomicAdd(&counts[m.slots[at]], (unsigned long long)sum);
    }
}

/* ---- The kernel ---- */

template <class config, bool ROWS_>
struct pixel_counter {
    typedef histo_pixels args;
    typedef ::loaded_step<config::VECTORS> step;
    enum { THREADS = config::THREADS, BLOCKS = (int)config::BLOCKS < MAX_BLOCKS ? (int)config::BLOCKS : MAX_BLOCKS };
    enum { ROWS = ROWS_, SAMPLE_BYTES = 1, VECTORS = config::VECTORS, GROUP = 1, ENDS_AFTER_VECTORS = !ROWS };

    const histo_pixels *pixels;
    uint32_t tables[config::PERIOD]; /* as in count_vector */

    HISTO_MEMBER pixel_counter(const args *p, unsigned int *shared) : pixels(p)
    {
#pragma unroll
        for (int j = 0; j < config::PERIOD; j++)
            tables[j] = p->table[j] == HISTO_PIXEL_UNCOUNTED
                            ? 0
                            : (uint32_t)__cvta_generic_to_shared(shared + p->table[j] + threadIdx.x % WARP);
    }

    HISTO_MEMBER uint32_t load(histo_images_cursor *cursor, step *s)
    {
        return load_step<config, ROWS>(&pixels->in, cursor, s);
    }

    HISTO_MEMBER void prepare()
    {
        clear<config::MASKED>(pixels);
    }

    HISTO_MEMBER void count(const step *s, uint32_t phases, int v)
    {
        uint32_t phase = phases >> (2 * v) & 3;
        if (phase != NO_VECTOR) count_vector<config>(tables, s->vectors[v], s->masks[v], phase);
    }

    HISTO_MEMBER void count_ends(histo_images_ends *ends, uint32_t last)
    {
        ::count_ends<config>(&pixels->in, tables, ends, last);
    }

    HISTO_MEMBER void merge(int64_t entry)
    {
        merge_tables<config::MASKED>(pixels, entry);
    }
};

/* ---- Describing a job ---- */

/* Is the range filter on the samples themselves? */
static bool filters_itself(const histo_job *job)
{
    const histo_strided_iter *iter = &job->iter;
    int where = job->problem->where;
    return iter->base[where] == iter->base[0] && job->problem->dtypes[where] == job->problem->dtypes[0] &&
           memcmp(iter->strides[where], iter->strides[0], (size_t)iter->ndim * sizeof iter->strides[0][0]) == 0;
}

/* The batch dimension whose entries are the channels of a pixel; -1 if there is none. */
static int channel_dim(const histo_strided_iter *iter, int64_t period)
{
    for (int d = 0; d < iter->batch_ndim; d++) {
        int64_t stride = iter->strides[0][d], reach = (iter->shape[d] - 1) * (stride < 0 ? -stride : stride);
        if (stride && reach < period) return d;
    }
    return -1;
}

/* Everything but the cut into tiles; false if the samples do not lie as they should. */
static bool describe(const histo_job *job, histo_pixels *p, int *period)
{
    const histo_problem *problem = job->problem;
    const histo_strided_iter *iter = &job->iter;
    const histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    int run = iter->ndim - 1;
    int64_t each = iter->shape[run] == 1 ? 1 : iter->strides[0][run];
    if (histo_dtype_size(problem->dtypes[0]) > 1 || each < 1 || each > HISTO_MAX_PIXEL_BYTES) return false;
    if (problem->where != HISTO_ABSENT && !filters_itself(job)) return false;
    if (problem->mask != HISTO_ABSENT && each > 1) return false;
    memset(p, 0, sizeof *p);
    *period = (int)each;
    int channels = channel_dim(iter, each);
    int64_t stride = channels < 0 ? 0 : iter->strides[0][channels], last = 0;
    p->tables = channels < 0 ? 1 : (int)iter->shape[channels];
    int64_t lowest = stride < 0 ? stride * (p->tables - 1) : 0;
    uint16_t tables[HISTO_MAX_PIXEL_BYTES]; /* by their distance from the lowest byte */
    for (int j = 0; j < HISTO_MAX_PIXEL_BYTES; j++)
        tables[j] = HISTO_PIXEL_UNCOUNTED;
    if (channels < 0) tables[0] = 0;
    int64_t entries = 1; /* from a channel to the next */
    for (int d = iter->batch_ndim - 1; d > channels; d--)
        entries *= iter->shape[d];
    for (int c = 0; channels >= 0 && c < p->tables; c++) {
        tables[c * stride - lowest] = (uint16_t)(c * TABLE);
        p->entry[c] = c * entries;
    }
    for (int j = 0; j < each; j++)
        if (tables[j] != HISTO_PIXEL_UNCOUNTED) last = j;
    if (!histo_cuda_images_of(job, channels, lowest, (iter->shape[run] - 1) * each + last + 1, &p->in)) return false;
    int64_t phase = (int64_t)((uintptr_t)p->in.samples % (uintptr_t)each);
    if (each != 3 && p->in.strides_or % each != 0) return false; /* rows would differ in their phase */
    for (int j = 0; j < each; j++)
        p->table[j] = tables[each == 3 ? j : (j + each - phase) % each];
    p->slot_of = ((const histo_cuda_prepared *)job->prepared)->lookups[0].table;
    p->is_signed = problem->dtypes[0] == HISTO_I8;
    p->filters = problem->where != HISTO_ABSENT;
    p->where_lo = job->where_lo;
    p->where_hi = job->where_hi;
    p->slots = (uint32_t)problem->slots;
    p->counters = accumulators->counters;
    p->counts = accumulators->counts;
    return true;
}

static size_t shared_bytes(const histo_pixels *p)
{
    size_t each = p->in.mask ? counters_of<true>() : counters_of<false>();
    return ((size_t)p->tables * (each * WARP + 2 * each) + each) * sizeof(uint32_t);
}

static bool counts_whole_entries(const histo_job *job)
{
    return job->begin == 0 && job->end == job->iter.batch * job->iter.per_batch;
}

bool histo_pixels_describe(const histo_job *job, histo_pixels *pixels, int *period)
{
    const histo_cuda_device *device = histo_cuda_device_of(job->problem->device);
    if (device->major < 8) return false; /* shared memory starts at address 0 there, which means `not counted` here */
    if (!describe(job, pixels, period) || shared_bytes(pixels) > device->shared_block) return false;
    return counts_whole_entries(job) || (*period == 1 && pixels->in.rows == 1 && pixels->in.dims <= 1);
}

/* ---- The launch ---- */

typedef void pixel_kernel(histo_pixels pixels);

typedef struct variant {
    pixel_kernel *kernels[2]; /* of images of one row, and of several */
    int threads, blocks;      /* threads of a block, blocks of a multiprocessor */
} variant;

template <class config>
static constexpr variant variant_of()
{
    return {{histo_count_images<pixel_counter<config, false>>, histo_count_images<pixel_counter<config, true>>},
            config::THREADS,
            config::BLOCKS};
}

static constexpr variant of_pixels[] = {
    variant_of<config<1, false, 4, 1024, 1>>(),
    variant_of<config<2, false, 4, 1024, 1>>(),
    variant_of<config<3, false, 3, 1024, 1>>(),
    variant_of<config<4, false, 4, 1024, 1>>(),
};
static constexpr variant of_masked = variant_of<config<1, true, 2, 768, 1>>();
static constexpr variant of_many_images = variant_of<config<1, false, 4, 256, 4>>(); /* some merge while others count */

static const variant *variant_for(const histo_pixels *p, int period)
{
    return p->in.mask ? &of_masked : period == 1 && p->in.dims > 0 ? &of_many_images : &of_pixels[period - 1];
}

typedef struct launch_context {
    const histo_job *job;
    const histo_pixels *pixels;
    const variant *variant;
    int threads;
} launch_context;

static histo_status launch_cut(void *context, const histo_images *in)
{
    const launch_context *it = (const launch_context *)context;
    histo_pixels p = *it->pixels;
    p.in = *in;
    void *args[] = {&p};
    return histo_cuda_launch(it->job, (const void *)it->variant->kernels[in->rows > 1], dim3(in->teams * in->team),
                             it->threads, shared_bytes(&p), args);
}

/* n batch entries from the first-th on. */
static histo_pixels entries_of(const histo_pixels *all, int64_t first, int64_t n)
{
    histo_pixels p = *all;
    if (p.in.dims == 0) return p;
    p.in.samples += first * p.in.image[0].stride;
    if (p.in.mask) p.in.mask += first * p.in.image[0].mask_stride;
    p.in.image[0].extent = (uint32_t)n;
    p.in.first_entry = first;
    return p;
}

histo_status histo_pixels_launch(const histo_job *job, const histo_pixels *pixels, int period, int64_t threads,
                                 int64_t blocks)
{
    const variant *it = variant_for(pixels, period);
    int of_block = threads && threads < it->threads ? (int)threads : it->threads;
    int64_t resident = histo_cuda_resident(job->problem->device, of_block, shared_bytes(pixels));
    int64_t multiprocessors = histo_cuda_device_of(job->problem->device)->multiprocessors;
    int64_t by_registers = multiprocessors * it->blocks * (it->threads / of_block);
    if (!blocks) blocks = by_registers < resident ? by_registers : resident;
    launch_context context = {job, pixels, it, of_block};
    if (counts_whole_entries(job))
        return histo_cuda_images_launch(&pixels->in, of_block, blocks, MERGE, launch_cut, &context);
    /* Single rows, of which the job may cut the first and the last. */
    histo_status status = HISTO_OK;
    const int64_t each = job->iter.per_batch;
    for (int64_t begin = job->begin, end; begin < job->end && status == HISTO_OK; begin = end) {
        int64_t first = begin / each, skipped = begin % each, entries = (job->end - begin) / each;
        bool are_entries = skipped == 0 && entries > 0;
        histo_pixels p = entries_of(pixels, first, are_entries ? entries : 1);
        end = are_entries ? begin + entries * each : job->end < (first + 1) * each ? job->end : (first + 1) * each;
        if (!are_entries) {
            p.in.samples += skipped;
            if (p.in.mask) p.in.mask += skipped;
            p.in.row_bytes = end - begin;
        }
        context.pixels = &p;
        status = histo_cuda_images_launch(&p.in, of_block, blocks, MERGE, launch_cut, &context);
    }
    return status;
}
