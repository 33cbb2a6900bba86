/* 8-bit samples, counted by their value: of arrays, of rows with a pitch, of many images, of up to four interleaved
 * channels at once, with a mask. What lane_private does with all 8-bit samples that stand side by side.
 *
 * A block has a table of 256 counters for each channel that is counted, one more with a mask, and each lane of its warps
 * a copy of them, in a bank of its own: nothing ever conflicts. Rows are read in aligned vectors of 16 bytes, each once whatever channels
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

enum { VALUES = 256, WARP = 32, VECTOR = 16, MOST_CHANNELS = 4 };
enum { TABLE = VALUES * WARP /* counters */ };
enum { UNCOUNTED = 0xffff, NO_VECTOR = 3 /* of the two bits that a vector has, where the period's phase is less */ };
enum { SMALL_VECTORS = 8 /* of a thread, of a small image */ };
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
    uint32_t rows, each, vectors; /* vectors of a row at most, one at least; and of an image: rows * each */
    uint32_t whole, rest;         /* vectors that a row has if it begins at a multiple of 16 bytes, and bytes behind them */
    histo_divisor by_each;
    uint32_t part;          /* vectors of a share at most */
    uint32_t parts, shares; /* shares of an image, and in all */
    histo_divisor by_parts;
    uint32_t team, teams, stride;  /* blocks of a team, teams, and the threads of one */
    uint32_t more_each; /* the stride in rows, of samples and mask, and vectors */
    int64_t more_rows, more_mask_rows;
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

/* A thread's next vector of a share: its row and place in the row; vectors of the team are neighbours. */
typedef struct place {
    const char *row, *mask;
    uint32_t index, end, column;
} place;

HISTO_IN_KERNEL place place_of(const pixels *p, uint32_t share, uint32_t member)
{
    uint32_t number = histo_divide(share, p->by_parts);
    image in = image_of(p, number);
    uint32_t begin = (share - number * p->parts) * p->part;
    uint32_t index = begin + member * blockDim.x + threadIdx.x, row = histo_divide(index, p->by_each);
    place it = {in.at + row * p->pitch, in.mask + row * p->mask_pitch, index, min(begin + p->part, p->vectors),
                index - row * p->each};
    return it;
}

/* Bytes to the next multiple of a vector's. */
HISTO_IN_KERNEL uint32_t to_vector(const char *at)
{
    return -(uint32_t)(uint64_t)at & (VECTOR - 1);
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
        uint32_t before = to_vector(it->row), phase = NO_VECTOR;
        if (it->index < it->end && it->column + (before > p->rest) < p->whole) {
            int64_t at = (int64_t)it->column * VECTOR + before;
            phase = PERIOD == 3 ? (it->column + before) % 3 : 0; /* a vector is 5 pixels and 1 byte */
            words[v] = __ldcs((const uint4 *)(it->row + at));
            if (MASKED) masks[v] = load_mask(it->mask + at);
        }
        phases |= phase << (2 * v);
        it->index += p->stride;
        it->column += p->more_each;
        it->row += p->more_rows;
        if (MASKED) it->mask += p->more_mask_rows;
        if (it->column >= p->each) {
            it->column -= p->each;
            it->row += p->pitch;
            if (MASKED) it->mask += p->mask_pitch;
        }
    }
    return phases;
}

/* ---- Counting ---- */

HISTO_IN_KERNEL uint32_t word_of(uint4 words, int w)
{
    return w == 0 ? words.x : w == 1 ? words.y : w == 2 ? words.z : words.w;
}

/* The address of byte k's counter. mine: of the lane's copy of the table. */
HISTO_IN_KERNEL uint32_t counter_of(uint32_t mine, uint32_t word, uint32_t k)
{
    return mine + __byte_perm(word, 0, 0x4440 + k) * (WARP * 4);
}

/* That of what the mask leaves out: no branch is needed where all is counted somewhere. */
HISTO_IN_KERNEL uint32_t masked_at(uint32_t mine)
{
    return mine + VALUES * (WARP * 4);
}

HISTO_IN_KERNEL void count_at(uint32_t address)
{
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
}

/* mine: where this lane's copy of each byte's table begins in shared memory; 0: it is not counted. */
template <int PERIOD, bool MASKED>
HISTO_IN_KERNEL void count_vector(const uint32_t *mine, uint4 words, uint4 mask, uint32_t phase)
{
#pragma unroll
    for (int j = 0; j < PERIOD; j++) {
        uint32_t table = mine[j];
        if (PERIOD == 3 && phase > 0) table = phase == 1 ? mine[(j + 1) % 3] : mine[(j + 2) % 3];
        if (table == 0) continue;
#pragma unroll
        for (int k = j; k < VECTOR; k += PERIOD) {
            uint32_t address = counter_of(table, word_of(words, k / 4), k % 4);
            if (MASKED && !(word_of(mask, k / 4) & 0xffu << (8 * (k % 4)))) address = masked_at(table);
            count_at(address);
        }
    }
}

/* A byte before or behind the vectors of a row, one for each lane that there is one for: its address, or NULL. */
HISTO_IN_KERNEL const char *end_of(const pixels *p, const char *row, uint32_t lane)
{
    const char *behind = row + p->row_bytes, *whole = row + to_vector(row);
    const char *tail = (const char *)((uint64_t)behind & ~(uint64_t)(VECTOR - 1));
    if (whole > behind) whole = behind; /* no multiple of 16 bytes in it */
    if (tail < whole) tail = whole;
    const char *at = lane < whole - row ? row + lane : tail + (lane - (whole - row));
    return at < behind ? at : NULL;
}

/* The bytes before and behind the vectors of the rows that begin in the share: a warp takes some rows at a time. */
template <int PERIOD, bool MASKED>
HISTO_IN_KERNEL void count_ends(const pixels *p, const uint32_t *mine, uint32_t share, uint32_t member)
{
    enum { ROWS = MASKED ? 2 : 4 };
    uint32_t number = histo_divide(share, p->by_parts);
    image in = image_of(p, number);
    uint32_t begin = (share - number * p->parts) * p->part, end = min(begin + p->part, p->vectors);
    uint32_t first = histo_divide(begin + p->each - 1, p->by_each), last = histo_divide(end + p->each - 1, p->by_each);
    uint32_t warp = (member * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP, step = p->stride / WARP;
    for (uint32_t next = first + warp; next < last; next += ROWS * step) {
        uint8_t value[ROWS];
        uint32_t counter[ROWS]; /* where the lane's copy of the table begins; 0: there is nothing to count */
        bool kept[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            uint32_t r = next + (uint32_t)i * step;
            const char *row = in.at + r * p->pitch, *at = r < last ? end_of(p, row, lane) : NULL;
            uint32_t phase = PERIOD == 3 ? (uint32_t)((uint64_t)(at - row) % 3) : (uint32_t)(uint64_t)at % PERIOD;
            counter[i] = 0;
#pragma unroll
            for (int j = 0; j < PERIOD; j++) /* keeps mine[] in registers */
                counter[i] = at && phase == (uint32_t)j ? mine[j] : counter[i];
            value[i] = at ? *(const uint8_t *)at : 0;
            kept[i] = !MASKED || (at && in.mask[r * p->mask_pitch + (at - row)]);
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (counter[i]) count_at(kept[i] ? counter_of(counter[i], value[i], 0) : masked_at(counter[i]));
    }
}

/* Counters of a table: of the values, and with a mask of what it leaves out. Twice as many threads are whole warps. */
template <bool MASKED>
HISTO_INLINE __host__ __device__ constexpr uint32_t counters_of()
{
    return MASKED ? VALUES + WARP / 2 : VALUES;
}

/* The slot of a counter: that of a value, or that of what is left out. */
HISTO_IN_KERNEL uint32_t slot_of(const pixels *p, uint32_t value)
{
    double x = p->is_signed ? (double)(int8_t)value : (double)value;
    bool is_left_out = value >= VALUES || (p->filters && (x < p->where_lo || x > p->where_hi));
    return is_left_out ? p->slots : p->slot_of[value];
}

/* What a block has in shared memory. */
typedef struct room {
    unsigned int *counters; /* of all tables */
    uint32_t *slots, *sums; /* of a table's counters; of the copies of each */
} room;

template <bool MASKED>
HISTO_IN_KERNEL room room_of(const pixels *p, unsigned int *shared)
{
    unsigned int *behind = shared + (uint32_t)p->tables * counters_of<MASKED>() * WARP;
    return {shared, behind, behind + counters_of<MASKED>()};
}

/* Add the block's counts to the histograms, and clear them. Two lanes sum a counter's copies, each of eight
 * neighbouring lanes in other banks; neighbouring lanes add neighbouring sums, each block from elsewhere on. */
template <bool MASKED>
HISTO_IN_KERNEL void merge(const pixels *p, const room *r, int64_t entry)
{
    enum { QUADS = WARP / 4 / 2 };
    const uint32_t each = counters_of<MASKED>(), sums = (uint32_t)p->tables * each, start = blockIdx.x * WARP;
    uint4 *quads = (uint4 *)r->counters;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sums * 2; i += blockDim.x) {
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < QUADS; k++) {
            uint4 *at = &quads[i * QUADS + (k + i / 2) % QUADS], four = *at;
            *at = make_uint4(0, 0, 0, 0);
            sum += four.x + four.y + four.z + four.w;
        }
        sum += __shfl_xor_sync(~0u, sum, 1);
        if (i % 2 == 0) r->sums[i / 2] = sum;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sums; i += blockDim.x) {
        uint32_t table = i / each, at = (i + start) % each, sum = r->sums[table * each + at];
        unsigned long long *counts = p->counts + (entry + p->entry[table]) * p->counters;
        if (sum) atomicAdd(&counts[r->slots[at]], (unsigned long long)sum);
    }
}

/* Architectures with fewer threads to a multiprocessor hold fewer blocks. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { MOST_BLOCKS = 1 };
#else
enum { MOST_BLOCKS = 3 };
#endif

/* PERIOD: bytes of a pixel. V: vectors that a thread loads in a step. AHEAD: before it counts those of the step before;
 * else the code is short, as few steps want it, which wait for each of its lines. */
template <int PERIOD, bool MASKED, int V, bool AHEAD, int THREADS, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS < MOST_BLOCKS ? BLOCKS : MOST_BLOCKS)
    count_pixels(const __grid_constant__ pixels p)
{
    enum { TURNS = AHEAD ? 2 : 1 };
    extern __shared__ unsigned int shared[];
    const room r = room_of<MASKED>(&p, shared);
    uint32_t mine[PERIOD];
#pragma unroll
    for (int j = 0; j < PERIOD; j++)
        mine[j] = p.table[j] == UNCOUNTED
                      ? 0
                      : (uint32_t)__cvta_generic_to_shared(r.counters + p.table[j] + threadIdx.x % WARP);
    uint32_t share = blockIdx.x / p.team, member = blockIdx.x - share * p.team, phases[TURNS];
    place next = place_of(&p, share, member);
    uint4 vectors[TURNS][V] = {}, mask[TURNS][V] = {}; /* by turns: one is counted, one is loaded */
    phases[0] = load<PERIOD, MASKED, V>(&p, &next, vectors[0], mask[0]);
    for (uint32_t i = threadIdx.x; i < (uint32_t)p.tables * counters_of<MASKED>() * WARP / 4; i += blockDim.x)
        ((uint4 *)r.counters)[i] = make_uint4(0, 0, 0, 0);
    for (uint32_t i = threadIdx.x; i < counters_of<MASKED>(); i += blockDim.x)
        r.slots[i] = slot_of(&p, i);
    __syncthreads();
    while (share < p.shares) {
        for (bool more = true; more;) {
#pragma unroll
            for (int turn = 0; turn < TURNS; turn++) {
                const int other = TURNS - 1 - turn;
                if (!more) break;
                more = next.index < next.end;
                if (more && AHEAD) phases[other] = load<PERIOD, MASKED, V>(&p, &next, vectors[other], mask[other]);
#pragma unroll
                for (int v = 0; v < V; v++) {
                    uint32_t phase = phases[turn] >> (2 * v) & 3;
                    if (phase == NO_VECTOR) continue;
                    count_vector<PERIOD, MASKED>(mine, vectors[turn][v], mask[turn][v], phase);
                }
                if (more && !AHEAD) phases[other] = load<PERIOD, MASKED, V>(&p, &next, vectors[other], mask[other]);
            }
        }
        if (p.ragged) count_ends<PERIOD, MASKED>(&p, mine, share, member);
        int64_t entry = image_of(&p, histo_divide(share, p.by_parts)).entry;
        share += p.teams;
        if (share < p.shares) {
            next = place_of(&p, share, member);
            phases[0] = load<PERIOD, MASKED, V>(&p, &next, vectors[0], mask[0]);
        }
        merge<MASKED>(&p, &r, entry);
    }
}

/* ---- The launch ---- */

typedef struct shape {
    const void *kernel;
    int threads, blocks; /* of a block; of a multiprocessor */
} shape;

/* Tables of many channels leave room for one block, and others for several. A small image is counted in a step or two,
 * by few blocks, since each adds up all of its counters. */
#define SHAPE(period, masked, vectors, ahead, threads, blocks)                                                         \
    {(const void *)count_pixels<period, masked, vectors, ahead, threads, blocks>, threads, blocks}

static shape shape_of(int period, bool masked, bool small)
{
    static const shape of_masked = SHAPE(1, true, 2, true, 512, 2), of_small = SHAPE(1, false, 4, false, 1024, 1);
    static const shape shapes[MOST_CHANNELS] = {SHAPE(1, false, 2, true, 512, 3), SHAPE(2, false, 2, true, 768, 2),
                                                SHAPE(3, false, 2, true, 768, 2), SHAPE(4, false, 4, true, 1024, 1)};
    return masked ? of_masked : small && period == 1 ? of_small : shapes[period - 1];
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
    size_t each = p->mask ? counters_of<true>() : counters_of<false>();
    return ((size_t)p->tables * (each * WARP + each) + each) * sizeof(uint32_t);
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
static histo_status launch(const histo_job *job, pixels *p, const void *kernel, int threads, int64_t blocks)
{
    int64_t shares = 1, beside = (int64_t)(uintptr_t)p->at | p->row_bytes | (p->rows > 1 ? p->pitch : 0);
    for (int d = 0; d < p->dims; d++) {
        shares *= p->image[d].extent;
        beside |= p->image[d].stride;
    }
    p->ragged = beside % VECTOR != 0;
    p->whole = (uint32_t)(p->row_bytes / VECTOR);
    p->rest = (uint32_t)(p->row_bytes % VECTOR);
    p->each = p->whole ? p->whole : 1;
    p->by_each = histo_divisor_of(p->each);
    p->vectors = p->rows * p->each;
    p->parts = (p->vectors + MOST_SHARE - 1) / MOST_SHARE;
    p->part = (p->vectors + p->parts - 1) / p->parts;
    p->by_parts = histo_divisor_of(p->parts);
    shares *= p->parts;
    p->shares = (uint32_t)shares;
    p->team = team_of(shares, p->part, blocks, threads);
    p->teams = (uint32_t)(blocks / p->team < shares ? blocks / p->team : shares);
    p->stride = p->team * (uint32_t)threads;
    p->more_each = p->stride % p->each;
    p->more_rows = p->stride / p->each * p->pitch;
    p->more_mask_rows = p->stride / p->each * p->mask_pitch;
    void *args[] = {p};
    return histo_cuda_launch(job, kernel, dim3(p->teams * p->team), threads, shared_of(p), args);
}

/* Rows that are longer than indices of vectors reach are cut at pixels, and many rows between them. */
static histo_status launch_pieces(const histo_job *job, const pixels *all, const void *kernel, int threads,
                                  int64_t blocks)
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
            status = launch(job, &p, kernel, threads, blocks);
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
    if (!describe(job, &all, &period) || shared_of(&all) > histo_cuda_device_of(job->problem->device)->shared_block)
        return false;
    if (!all_entries && (period > 1 || all.rows > 1 || all.dims > 1)) return false;
    bool small = (job->end - job->begin) / (VECTOR * SMALL_VECTORS * 1024) < multiprocessors;
    shape it = shape_of(period, all.mask != NULL, small && all_entries && all.dims == 0);
    int of_block = threads && threads < it.threads ? (int)threads : it.threads;
    int64_t resident = histo_cuda_resident(job->problem->device, of_block, shared_of(&all));
    int64_t by_registers = multiprocessors * it.blocks * (it.threads / of_block);
    if (!blocks) blocks = by_registers < resident ? by_registers : resident;
    if (all_entries) {
        *status = launch_pieces(job, &all, it.kernel, of_block, blocks);
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
        *status = launch_pieces(job, &p, it.kernel, of_block, blocks);
    }
    return true;
}
