/* 8-bit samples, counted by their value: of arrays, of rows with a pitch, of many images, of up to four interleaved
 * channels at once, with a mask. What lane_private does with all 8-bit samples that stand side by side.
 *
 * A block has a table of 256 counters for each channel that is counted, and each lane of its warps a copy of them, in a
 * bank of its own: nothing ever conflicts. Rows are read in aligned vectors of 16 bytes, each once whatever channels
 * are counted; the few bytes before and behind them one by one. Values become slots, and are held against a range
 * filter of the samples themselves, when a block's counts are added to the histogram. Blocks form teams, which share an
 * image; while a block adds up, it already loads from the image that comes next.
 *
 * Bytes: each once, and those of the mask. Bound: the read roof, or one atomic addition for each lane and bank a clock.
 */
#include "cuda/pixels.h"

#include <string.h>

#include "cuda/slots.cuh"

extern "C" {
#include "base/checked.h"
}

enum { VALUES = 256, WARP = 32, VECTOR = 16, TABLE = VALUES * WARP, MOST_CHANNELS = 4 };
enum { UNCOUNTED = 0xffff, NO_VECTOR = 3 /* of the two bits that a vector has, where the period's phase is less */ };
/* Vectors of a share, so that no counter wraps; of a launch, so that none of its indices does. */
enum { MOST_SHARE = 1 << 26, MOST_VECTORS = 1 << 30, MOST_IMAGES = INT32_MAX / (MOST_VECTORS / MOST_SHARE + 1) };

/* A batch dimension: how far it is from one image to the next, in samples, mask and histograms. */
typedef struct images {
    uint32_t extent;
    histo_divisor by;
    int64_t stride, mask_stride, entries;
} images;

/* What a launch counts: rows of all images. */
typedef struct pixels {
    const char *at, *mask; /* the first row of the first image */
    int64_t pitch, mask_pitch, row_bytes;
    uint32_t rows, each, vectors; /* vectors of a row at most, and of an image: rows * each */
    histo_divisor by_each;
    uint32_t part;          /* vectors of a share at most */
    uint32_t parts, shares; /* shares of an image, and in all */
    histo_divisor by_parts;
    uint32_t team, stride;         /* blocks of a team, and their threads */
    uint32_t more_rows, more_each; /* the stride in rows and vectors */
    bool ragged;                   /* some rows begin or end beside a multiple of 16 bytes */
    int dims;
    images image[HISTO_MAX_DIMS];

    /* Byte k of a vector is of channel k + phase modulo the period; table of a channel, times TABLE, or UNCOUNTED. A
     * period of 3 has a phase for each vector, all others have one for all, which is counted in. */
    uint16_t table[MOST_CHANNELS];
    int tables;
    int64_t entry[MOST_CHANNELS]; /* of a table, from that of the image on */
    const uint32_t *slot_of;      /* value */
    bool is_signed, filters;
    double where_lo, where_hi;
    uint32_t slots;
    int64_t first_entry, counters;
    unsigned long long *counts;
} pixels;

/* ---- Where a thread is ---- */

/* An image. */
typedef struct image {
    const char *at, *mask;
    int64_t entry;
} image;

HISTO_IN_KERNEL image image_of(const pixels *p, uint32_t number)
{
    image it = {p->at, p->mask, p->first_entry};
#pragma unroll 1
    for (int d = p->dims - 1; d >= 0; d--) {
        uint32_t above = d ? histo_divide(number, p->image[d].by) : 0, index = number - above * p->image[d].extent;
        it.at += index * p->image[d].stride;
        it.mask += index * p->image[d].mask_stride;
        it.entry += index * p->image[d].entries;
        number = above;
    }
    return it;
}

/* A thread's next vector of a share: in image, row and place in the row; vectors of the team are neighbours. */
typedef struct place {
    const char *at, *mask;
    uint32_t index, end, row, column;
} place;

HISTO_IN_KERNEL place place_of(const pixels *p, uint32_t share)
{
    uint32_t number = histo_divide(share, p->by_parts);
    image in = image_of(p, number);
    place it = {in.at, in.mask, 0, 0, 0, 0};
    uint32_t begin = (share - number * p->parts) * p->part, member = blockIdx.x % p->team;
    it.index = begin + member * blockDim.x + threadIdx.x;
    it.end = min(begin + p->part, p->vectors);
    it.row = histo_divide(it.index, p->by_each);
    it.column = it.index - it.row * p->each;
    return it;
}

HISTO_IN_KERNEL const char *align_up(const char *at)
{
    return at + (-(uint32_t)(uint64_t)at & (VECTOR - 1));
}

/* Read only samples' own bytes: 16 where they are aligned, 4, or 1. */
HISTO_IN_KERNEL uint4 load_mask(const char *at)
{
    uint32_t beyond = (uint32_t)(uint64_t)at & (VECTOR - 1);
    if (!beyond) return __ldcs((const uint4 *)at);
    uint32_t words[4];
#pragma unroll
    for (int w = 0; w < 4; w++)
        words[w] = beyond % 4 == 0 ? __ldcs((const unsigned int *)at + w) : (uint32_t)histo_bytes_at(at + 4 * w, 4);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* Load the vectors of a step, and go on. Two bits for each: its phase, or NO_VECTOR. */
template <int PERIOD, bool MASKED, int V>
HISTO_IN_KERNEL uint32_t load(const pixels *p, place *it, uint4 *words, uint4 *masks)
{
    uint32_t phases = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
        const char *row = it->at + it->row * p->pitch, *first = align_up(row);
        const char *at = first + (int64_t)it->column * VECTOR;
        uint32_t phase = NO_VECTOR;
        if (it->index < it->end && at + VECTOR <= row + p->row_bytes) {
            phase = PERIOD == 3 ? (it->column + (uint32_t)(first - row)) % 3 : 0; /* a vector is 5 pixels and 1 byte */
            words[v] = __ldcs((const uint4 *)at);
            if (MASKED) masks[v] = load_mask(it->mask + it->row * p->mask_pitch + (at - row));
        }
        phases |= phase << (2 * v);
        it->index += p->stride;
        it->row += p->more_rows;
        it->column += p->more_each;
        if (it->column >= p->each) {
            it->column -= p->each;
            it->row++;
        }
    }
    return phases;
}

/* ---- Counting ---- */

HISTO_IN_KERNEL uint32_t word_of(uint4 words, int w)
{
    return w == 0 ? words.x : w == 1 ? words.y : w == 2 ? words.z : words.w;
}

/* mine: the first table's copy of this lane. */
template <int PERIOD, bool MASKED>
HISTO_IN_KERNEL void count_vector(const pixels *p, unsigned int *mine, uint4 words, uint4 mask, uint32_t phase)
{
#pragma unroll
    for (int j = 0; j < PERIOD; j++) {
        uint32_t table = p->table[j];
        if (PERIOD == 3 && phase > 0) table = phase == 1 ? p->table[(j + 1) % 3] : p->table[(j + 2) % 3];
        if (table == UNCOUNTED) continue;
#pragma unroll
        for (int k = j; k < VECTOR; k += PERIOD) {
            uint32_t value = word_of(words, k / 4) >> (8 * (k % 4)) & 0xff;
            if (!MASKED || word_of(mask, k / 4) >> (8 * (k % 4)) & 0xff) atomicAdd(&mine[table + value * WARP], 1u);
        }
    }
}

HISTO_IN_KERNEL uint32_t zero_bytes(uint4 mask)
{
    uint32_t zeros = __vcmpeq4(mask.x, 0) & 0x01010101;
    zeros += __vcmpeq4(mask.y, 0) & 0x01010101;
    zeros += __vcmpeq4(mask.z, 0) & 0x01010101;
    zeros += __vcmpeq4(mask.w, 0) & 0x01010101;
    return (zeros * 0x01010101) >> 24;
}

/* The bytes before and behind the vectors of the rows that begin in the share: a warp takes a row. Returns how many the
 * mask leaves out. */
template <int PERIOD, bool MASKED>
HISTO_IN_KERNEL uint32_t count_ends(const pixels *p, unsigned int *mine, uint32_t share)
{
    uint32_t number = histo_divide(share, p->by_parts);
    image in = image_of(p, number);
    uint32_t begin = (share - number * p->parts) * p->part, end = min(begin + p->part, p->vectors), masked = 0;
    uint32_t first = histo_divide(begin + p->each - 1, p->by_each), last = histo_divide(end + p->each - 1, p->by_each);
    uint32_t warp = (blockIdx.x % p->team * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    for (uint32_t r = first + warp; r < last; r += p->stride / WARP) {
        const char *row = in.at + r * p->pitch, *behind = row + p->row_bytes, *whole = align_up(row);
        const char *tail = (const char *)((uint64_t)behind & ~(uint64_t)(VECTOR - 1));
        if (whole > behind) whole = behind; /* no multiple of 16 bytes in it */
        if (tail < whole) tail = whole;
        const char *at = lane < whole - row ? row + lane : tail + (lane - (whole - row));
        if (at >= behind) continue;
        uint32_t phase = PERIOD == 3 ? (uint32_t)((uint64_t)(at - row) % 3) : (uint32_t)(uint64_t)at % PERIOD;
        uint32_t table = p->table[phase];
        if (table == UNCOUNTED) continue;
        bool kept = !MASKED || in.mask[r * p->mask_pitch + (at - row)];
        if (kept) atomicAdd(&mine[table + *(const uint8_t *)at * WARP], 1u);
        masked += !kept;
    }
    return masked;
}

HISTO_IN_KERNEL void add_masked(const pixels *p, int64_t entry, uint32_t masked)
{
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        masked += __shfl_xor_sync(~0u, masked, distance);
    if (masked && threadIdx.x % WARP == 0)
        atomicAdd(&p->counts[entry * p->counters + p->slots], (unsigned long long)masked);
}

/* The slot of a value, or that of what is left out. */
HISTO_IN_KERNEL uint32_t slot_of(const pixels *p, uint32_t value)
{
    double x = p->is_signed ? (double)(int8_t)value : (double)value;
    return p->filters && (x < p->where_lo || x > p->where_hi) ? p->slots : p->slot_of[value];
}

/* Add the block's counts to the histograms, and clear them. A counter's copies are summed by eight lanes. */
HISTO_IN_KERNEL void merge(const pixels *p, unsigned int *counters, const uint32_t *slots, int64_t entry)
{
    enum { LANES = 8 };
    uint32_t all = (uint32_t)p->tables * VALUES * LANES,
             start = blockIdx.x * (VALUES / 8 + 1) * LANES; /* each elsewhere */
    uint4 *quads = (uint4 *)counters;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) { /* whole warps: blocks have whole warps */
        uint32_t at = (i & ~(VALUES * LANES - 1u)) + ((i + start) & (VALUES * LANES - 1));
        uint4 four = quads[at];
        quads[at] = make_uint4(0, 0, 0, 0);
        uint32_t sum = four.x + four.y + four.z + four.w;
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        uint32_t table = at / (VALUES * LANES), value = at / LANES % VALUES;
        if (sum && at % LANES == 0)
            atomicAdd(&p->counts[(entry + p->entry[table]) * p->counters + slots[value]], (unsigned long long)sum);
    }
    __syncthreads();
}

/* Blocks of 1024 threads that the architecture has room for. */
#if defined __CUDA_ARCH__ &&                                                                                           \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
enum { FULL_BLOCKS = 2 };
#else
enum { FULL_BLOCKS = 1 };
#endif

/* PERIOD: bytes of a pixel. V: vectors that a thread loads in a step. FULL: as many threads as can be resident. */
template <int PERIOD, bool MASKED, int V, bool FULL>
static __global__ void __launch_bounds__(1024, FULL ? FULL_BLOCKS : 1) count_pixels(const __grid_constant__ pixels p)
{
    extern __shared__ uint4 shared[];
    unsigned int *counters = (unsigned int *)shared, *mine = counters + threadIdx.x % WARP;
    uint32_t *slots = counters + p.tables * TABLE;
    uint32_t share = blockIdx.x / p.team;
    place next = place_of(&p, share);
    uint4 now[V] = {}, later[V] = {}, mask[V] = {}, later_mask[V] = {};
    uint32_t phases = load<PERIOD, MASKED, V>(&p, &next, now, mask);
    for (uint32_t i = threadIdx.x; i < (uint32_t)p.tables * TABLE / 4; i += blockDim.x)
        shared[i] = make_uint4(0, 0, 0, 0);
    for (uint32_t value = threadIdx.x; value < VALUES; value += blockDim.x)
        slots[value] = slot_of(&p, value);
    __syncthreads();
    while (share < p.shares) {
        uint32_t masked = 0;
        for (bool more = true; more; memcpy(now, later, sizeof now), memcpy(mask, later_mask, sizeof mask)) {
            uint32_t these = phases;
            more = next.index < next.end;
            if (more) phases = load<PERIOD, MASKED, V>(&p, &next, later, later_mask);
#pragma unroll
            for (int v = 0; v < V; v++) {
                uint32_t phase = these >> (2 * v) & 3;
                if (phase == NO_VECTOR) continue;
                count_vector<PERIOD, MASKED>(&p, mine, now[v], mask[v], phase);
                if (MASKED) masked += zero_bytes(mask[v]);
            }
        }
        if (p.ragged) masked += count_ends<PERIOD, MASKED>(&p, mine, share);
        int64_t entry = image_of(&p, histo_divide(share, p.by_parts)).entry;
        if (MASKED) add_masked(&p, entry, masked);
        share += gridDim.x / p.team;
        if (share < p.shares) {
            next = place_of(&p, share);
            phases = load<PERIOD, MASKED, V>(&p, &next, now, mask);
        }
        merge(&p, counters, slots, entry);
    }
}

/* ---- The launch ---- */

typedef struct shape {
    const void *kernel;
    int blocks; /* of 1024 threads on a multiprocessor, by registers */
} shape;

static shape shape_of(int period, bool masked)
{
    if (masked) return {(const void *)count_pixels<1, true, 2, false>, 1};
    switch (period) {
    case 1:
        return {(const void *)count_pixels<1, false, 2, true>, 2};
    case 2:
        return {(const void *)count_pixels<2, false, 4, false>, 1};
    case 3:
        return {(const void *)count_pixels<3, false, 4, false>, 1};
    default:
        return {(const void *)count_pixels<4, false, 4, false>, 1};
    }
}

/* Is the filter on the samples themselves? */
static bool filters_itself(const histo_job *job)
{
    const histo_nest *nest = &job->nest;
    int where = job->problem->where;
    return nest->base[where] == nest->base[0] && job->problem->dtypes[where] == job->problem->dtypes[0] &&
           memcmp(nest->strides[where], nest->strides[0], (size_t)nest->ndim * sizeof nest->strides[0][0]) == 0;
}

/* The batch dimension whose entries are channels of one pixel; -1 if there is none. */
static int channel_dim(const histo_nest *nest, int64_t period)
{
    for (int d = 0; d < nest->batch_ndim; d++) {
        int64_t stride = nest->strides[0][d], reach = (nest->shape[d] - 1) * (stride < 0 ? -stride : stride);
        if (stride && reach < period) return d;
    }
    return -1;
}

/* Everything but how the work is cut; false if the samples do not lie as they should. */
static bool describe(const histo_job *job, pixels *p, int *period)
{
    const histo_problem *problem = job->problem;
    const histo_nest *nest = &job->nest;
    const histo_cuda_bank *bank = histo_cuda_bank_in(job);
    int mask = problem->mask, run = nest->ndim - 1, rows = run - nest->batch_ndim;
    int64_t each = nest->strides[0][run];
    if (nest->shape[run] == 1) each = 1;
    if (nest->offsets || problem->naxes > 1 || problem->weights != HISTO_ABSENT ||
        histo_dtype_size(problem->dtypes[0]) > 1 || each < 1 || each > MOST_CHANNELS || rows > 1)
        return false;
    if (problem->where != HISTO_ABSENT && !filters_itself(job)) return false;
    if (mask != HISTO_ABSENT && (each > 1 || histo_dtype_size(problem->dtypes[mask]) > 1 ||
                                 (nest->strides[mask][run] != 1 && nest->shape[run] > 1)))
        return false;
    memset(p, 0, sizeof *p);
    *period = (int)each;
    int channels = channel_dim(nest, each);
    int64_t stride = channels < 0 ? 0 : nest->strides[0][channels], lowest = 0, last = 0;
    p->tables = channels < 0 ? 1 : (int)nest->shape[channels];
    int64_t entries = 1, aligned = 0, extent = 1, number = 1;
    uint16_t position[MOST_CHANNELS] = {UNCOUNTED, UNCOUNTED, UNCOUNTED, UNCOUNTED};
    lowest = stride < 0 ? stride * (p->tables - 1) : 0;
    for (int d = nest->batch_ndim - 1; d >= 0; d--, entries *= extent) {
        extent = nest->shape[d];
        if (d == channels) {
            for (int c = 0; c < p->tables; c++) {
                position[c * stride - lowest] = (uint16_t)(c * TABLE);
                p->entry[c] = c * entries;
            }
            continue;
        }
        if (!histo_mul_i64(number, extent, &number) || number > MOST_IMAGES) return false;
        p->dims++;
        memmove(&p->image[1], &p->image[0], (HISTO_MAX_DIMS - 1) * sizeof p->image[0]);
        p->image[0] = {(uint32_t)extent, histo_divisor_of(extent), nest->strides[0][d],
                       mask == HISTO_ABSENT ? 0 : nest->strides[mask][d], entries};
        aligned |= nest->strides[0][d];
    }
    if (channels < 0) position[0] = 0;
    for (int j = 0; j < each; j++)
        if (position[j] != UNCOUNTED) last = j;
    p->at = nest->base[0] + lowest;
    p->row_bytes = (nest->shape[run] - 1) * each + last + 1;
    p->rows = 1;
    if (rows) {
        if (nest->shape[run - 1] > INT32_MAX) return false;
        p->rows = (uint32_t)nest->shape[run - 1];
        p->pitch = nest->strides[0][run - 1];
        aligned |= p->pitch;
    }
    if (mask != HISTO_ABSENT) {
        p->mask = nest->base[mask];
        p->mask_pitch = rows ? nest->strides[mask][run - 1] : 0;
    }
    int64_t begins = (int64_t)((uintptr_t)p->at % (uintptr_t)each);
    if (each != 3 && aligned % each != 0) return false; /* a phase for each row */
    for (int j = 0; j < each; j++)
        p->table[j] = position[each == 3 ? j : (j + each - begins) % each];
    p->slot_of = ((const histo_cuda_prepared *)job->prepared)->lookups[0].table;
    p->is_signed = problem->dtypes[0] == HISTO_I8;
    p->filters = problem->where != HISTO_ABSENT;
    p->where_lo = job->where_lo;
    p->where_hi = job->where_hi;
    p->slots = (uint32_t)problem->slots;
    p->counters = bank->counters;
    p->counts = bank->counts;
    return true;
}

static size_t shared_of(const pixels *p)
{
    return ((size_t)p->tables * TABLE + VALUES) * sizeof(unsigned int);
}

/* The team with which all shares are done first, if a block's adding up takes about as long as reading MERGE vectors:
 * all blocks for one share, as few as there are for each of several, or a power of 2. */
static uint32_t team_of(int64_t shares, int64_t vectors, int64_t blocks, int64_t threads)
{
    enum { MERGE = 1024 };
    int64_t most = (vectors + threads - 1) / threads, best = 1;
    if (most > blocks) most = blocks;
    int64_t each = shares < blocks ? blocks / shares : 1;
    double least = 0;
    for (int64_t team = each < most ? each : most, power = 1; power <= 2 * most;
         team = power < most ? power : most, power *= 2) {
        int64_t teams = blocks / team, rounds = (shares + teams - 1) / teams;
        double time = (double)rounds * ((double)vectors / (double)team + MERGE);
        if (least > 0 && time >= least) continue;
        least = time;
        best = team;
    }
    return (uint32_t)best;
}

/* Cut the work, and launch. blocks: the device holds so many. */
static histo_status launch(const histo_job *job, pixels *p, const shape *it, int threads, int64_t blocks)
{
    int64_t shares = 1, beside = (int64_t)(uintptr_t)p->at | p->row_bytes | (p->rows > 1 ? p->pitch : 0);
    for (int d = 0; d < p->dims; d++) {
        shares *= p->image[d].extent;
        beside |= p->image[d].stride;
    }
    p->ragged = beside % VECTOR != 0;
    p->each = p->row_bytes < VECTOR ? 1 : (uint32_t)(p->row_bytes / VECTOR);
    p->by_each = histo_divisor_of(p->each);
    p->vectors = p->rows * p->each;
    p->parts = (p->vectors + MOST_SHARE - 1) / MOST_SHARE;
    p->part = (p->vectors + p->parts - 1) / p->parts;
    p->by_parts = histo_divisor_of(p->parts);
    shares *= p->parts;
    p->shares = (uint32_t)shares;
    p->team = team_of(shares, p->part, blocks, threads);
    p->stride = p->team * (uint32_t)threads;
    p->more_rows = p->stride / p->each;
    p->more_each = p->stride % p->each;
    int64_t teams = blocks / p->team < shares ? blocks / p->team : shares;
    void *args[] = {p};
    return histo_cuda_launch(job, it->kernel, dim3((unsigned)(teams * p->team)), threads, shared_of(p), args);
}

/* Rows that are longer than indices of vectors reach are cut at pixels, and many rows between them. */
static histo_status launch_pieces(const histo_job *job, const pixels *all, const shape *it, int threads, int64_t blocks)
{
    const int64_t most_bytes = (int64_t)48 << 28; /* whole vectors and pixels */
    histo_status status = HISTO_OK;
    for (int64_t byte = 0; byte < all->row_bytes && status == HISTO_OK; byte += most_bytes) {
        pixels p = *all;
        p.row_bytes = all->row_bytes - byte < most_bytes ? all->row_bytes - byte : most_bytes;
        int64_t most_rows = MOST_VECTORS / (p.row_bytes / VECTOR + 1);
        for (int64_t row = 0; row < all->rows && status == HISTO_OK; row += most_rows) {
            p.rows = (uint32_t)(all->rows - row < most_rows ? all->rows - row : most_rows);
            p.at = all->at + byte + row * p.pitch;
            p.mask = all->mask + byte + row * p.mask_pitch;
            status = launch(job, &p, it, threads, blocks);
        }
    }
    return status;
}

/* n histograms from the first-th on, where there is a batch dimension of nothing else. */
static pixels entries_of(const pixels *all, int64_t first, int64_t n)
{
    pixels p = *all;
    if (p.dims == 0) return p;
    p.at += first * p.image[0].stride;
    p.mask += first * p.image[0].mask_stride;
    p.image[0].extent = (uint32_t)n;
    p.first_entry = first;
    return p;
}

bool histo_cuda_count_pixels(const histo_job *job, int64_t threads, int64_t blocks, histo_status *status)
{
    const histo_nest *nest = &job->nest;
    int64_t each = nest->per_batch, multiprocessors = histo_cuda_device_of(job->problem->device)->multiprocessors;
    bool all_entries = job->begin == 0 && job->end == nest->batch * each;
    pixels all;
    int period;
    if (!describe(job, &all, &period)) return false;
    if (!all_entries && (period > 1 || all.rows > 1 || all.dims > 1)) return false;
    shape it = shape_of(period, all.mask != NULL);
    int64_t resident = histo_cuda_resident(job->problem->device, (int)threads, shared_of(&all));
    int64_t by_registers = multiprocessors * it.blocks * (1024 / threads);
    if (!blocks) blocks = by_registers < resident ? by_registers : resident;
    if (all_entries) {
        *status = launch_pieces(job, &all, &it, (int)threads, blocks);
        return true;
    }
    *status = HISTO_OK;
    for (int64_t begin = job->begin, end; begin < job->end && *status == HISTO_OK; begin = end) {
        int64_t first = begin / each, before = begin % each, entries = (job->end - begin) / each;
        bool whole = before == 0 && entries > 0;
        pixels p = entries_of(&all, first, whole ? entries : 1);
        end = whole ? begin + entries * each : job->end < (first + 1) * each ? job->end : (first + 1) * each;
        if (!whole) {
            p.at += before;
            p.mask += before;
            p.row_bytes = end - begin;
        }
        *status = launch_pieces(job, &p, &it, (int)threads, blocks);
    }
    return true;
}
