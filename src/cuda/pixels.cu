/* 8-bit samples, counted by their value: of arrays, of rows with a pitch, of many images, of up to four interleaved
 * channels at once, with a mask. What lane_private does with all 8-bit samples that stand side by side.
 *
 * A block has a table of 256 counters for each channel that is counted, one more with a mask, and each lane of its
 * warps a copy of them, in a bank of its own: nothing ever conflicts. Rows are read in aligned vectors of 16 bytes,
 * each once whatever channels are counted; the few bytes before and behind them one by one. Values become slots, and
 * are held against a range filter of the samples themselves, when a block's counts are added to the histogram. Blocks
 * form teams, which share an image; while a block adds up, it already loads from the image that comes next.
 *
 * Bytes: each once, and those of the mask. Bound: the read roof, or one atomic addition for each lane and bank a clock.
 */
#include "cuda/pixels.h"

#include <string.h>

#include "cuda/images.cuh"
#include "cuda/values.cuh"

enum { VALUES = HISTO_VALUES, WARP = HISTO_VALUE_COPIES, VECTOR = HISTO_IMAGES_VECTOR, MAX_CHANNELS = 4 };
enum { TABLE = VALUES * WARP /* counters */ };
enum { UNCOUNTED = 0xffff, NO_VECTOR = 3 /* of the two bits that a vector has, where the period's phase is less */ };
enum { MERGE = 1024 /* vectors that are read in the time in which a block adds up */ };

/* What a launch counts. */
typedef struct pixels {
    histo_images in;

    /* Byte k of a vector is of channel k + phase modulo the period; table of a channel, times TABLE, or UNCOUNTED. A
     * period of 3 has a phase for each vector, all others have one for all, which is counted in. */
    uint16_t table[MAX_CHANNELS];
    int tables;
    int64_t entry[MAX_CHANNELS]; /* of a table, from that of the image on */
    const uint32_t *slot_of;     /* value */
    bool is_signed, filters;
    double where_lo, where_hi;
    uint32_t slots;
    int64_t counters;
    unsigned long long *counts;
} pixels;

/* ---- Loading ---- */

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
template <int PERIOD, bool MASKED, bool ROWS, int V>
HISTO_IN_KERNEL uint32_t load(const histo_images *in, histo_images_place *next, uint4 *words, uint4 *masks)
{
    uint32_t phases = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
        histo_images_vector it = histo_images_next<ROWS, 1, MASKED>(in, next);
        uint32_t phase = NO_VECTOR;
        if (it.there) {
            phase = PERIOD == 3 ? it.phase : 0;
            words[v] = __ldcs((const uint4 *)it.at);
            if (MASKED) masks[v] = load_mask(it.mask);
        }
        phases |= phase << (2 * v);
    }
    return phases;
}

/* ---- Counting ---- */

/* That of what the mask leaves out: no branch is needed where all is counted somewhere. */
HISTO_IN_KERNEL uint32_t masked_at(uint32_t mine)
{
    return mine + VALUES * (WARP * 4);
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
            uint32_t address = histo_value_counter(table, histo_word_of(words, k / 4), k % 4);
            if (MASKED && !(histo_word_of(mask, k / 4) & 0xffu << (8 * (k % 4)))) address = masked_at(table);
            histo_count_at(address);
        }
    }
}

/* The bytes before and behind the vectors of rows below `end`: a warp takes some rows at a time. */
template <int PERIOD, bool MASKED>
HISTO_IN_KERNEL void count_ends(const histo_images *in, const uint32_t *mine, histo_images_rows *rows, uint32_t end)
{
    enum { ROWS = 2 };
    const uint32_t step = in->stride / WARP;
    for (; rows->next < end; rows->next += ROWS * step) {
        uint8_t value[ROWS];
        uint32_t counter[ROWS]; /* where the lane's copy of the table begins; 0: there is nothing to count */
        bool kept[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            uint32_t r = rows->next + (uint32_t)i * step;
            const char *row = rows->at + r * in->pitch, *at = r < rows->last ? histo_images_end(in, row, 1) : NULL;
            uint32_t phase = PERIOD == 3 ? (uint32_t)((uint64_t)(at - row) % 3) : (uint32_t)(uint64_t)at % PERIOD;
            counter[i] = 0;
#pragma unroll
            for (int j = 0; j < PERIOD; j++) /* keeps mine[] in registers */
                counter[i] = at && phase == (uint32_t)j ? mine[j] : counter[i];
            value[i] = at ? *(const uint8_t *)at : 0;
            kept[i] = !MASKED || (at && rows->mask[r * in->mask_pitch + (at - row)]);
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (counter[i])
                histo_count_at(kept[i] ? histo_value_counter(counter[i], value[i], 0) : masked_at(counter[i]));
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
    uint32_t *slots;        /* of a table's counters */
    uint32_t *sums, *added; /* of each counter's copies: what is to be added, and what was, before */
} room;

template <bool MASKED>
HISTO_IN_KERNEL room room_of(const pixels *p, unsigned int *shared)
{
    unsigned int *behind = shared + (uint32_t)p->tables * counters_of<MASKED>() * WARP;
    uint32_t *sums = behind + counters_of<MASKED>();
    return {shared, behind, sums, sums + (uint32_t)p->tables * counters_of<MASKED>()};
}

/* Add to the histograms what the block has counted since it did so before: counters go on, so that none has to be
 * cleared. Neighbouring lanes add neighbouring sums, each block from elsewhere on. */
template <bool MASKED>
HISTO_IN_KERNEL void merge(const pixels *p, const room *r, int64_t entry)
{
    const uint32_t each = counters_of<MASKED>(), sums = (uint32_t)p->tables * each, start = blockIdx.x * WARP;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sums * 2; i += blockDim.x) {
        uint32_t sum = histo_sum_value(r->counters, i);
        if (i % 2) continue;
        r->sums[i / 2] = sum - r->added[i / 2];
        r->added[i / 2] = sum;
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
enum { MAX_BLOCKS = 1 };
#else
enum { MAX_BLOCKS = 4 };
#endif

/* PERIOD: bytes of a pixel. V: vectors that a thread loads in a step, before it counts those of the step before. */
template <int PERIOD, bool MASKED, bool ROWS, int V, int THREADS, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS < MAX_BLOCKS ? BLOCKS : MAX_BLOCKS)
    count_pixels(const __grid_constant__ pixels p)
{
    enum { TURNS = 2 };
    extern __shared__ unsigned int shared[];
    const room r = room_of<MASKED>(&p, shared);
    uint32_t mine[PERIOD];
#pragma unroll
    for (int j = 0; j < PERIOD; j++)
        mine[j] = p.table[j] == UNCOUNTED
                      ? 0
                      : (uint32_t)__cvta_generic_to_shared(r.counters + p.table[j] + threadIdx.x % WARP);
    uint32_t tile = histo_divide(blockIdx.x, p.in.by_team), member = blockIdx.x - tile * p.in.team, phases[TURNS];
    histo_images_place next = histo_images_place_of<ROWS, 1>(&p.in, tile, member);
    histo_images_rows rows = {};
    uint4 vectors[TURNS][V] = {}, mask[TURNS][V] = {}; /* by turns: one is counted, one is loaded */
    phases[0] = load<PERIOD, MASKED, ROWS, V>(&p.in, &next, vectors[0], mask[0]);
    if (ROWS && p.in.ragged) rows = histo_images_rows_of(&p.in, tile, member);
    for (uint32_t i = threadIdx.x; i < (uint32_t)p.tables * counters_of<MASKED>() * WARP / 4; i += blockDim.x)
        ((uint4 *)r.counters)[i] = make_uint4(0, 0, 0, 0);
    for (uint32_t i = threadIdx.x; i < (uint32_t)p.tables * counters_of<MASKED>(); i += blockDim.x)
        r.added[i] = 0;
    for (uint32_t i = threadIdx.x; i < counters_of<MASKED>(); i += blockDim.x)
        r.slots[i] = slot_of(&p, i);
    __syncthreads();
    while (tile < p.in.tiles) {
        for (bool more = true; more;) {
#pragma unroll
            for (int turn = 0; turn < TURNS; turn++) {
                const int other = TURNS - 1 - turn;
                if (!more) break;
                more = next.index < next.end;
                if (more) phases[other] = load<PERIOD, MASKED, ROWS, V>(&p.in, &next, vectors[other], mask[other]);
#pragma unroll
                for (int v = 0; v < V; v++) {
                    uint32_t phase = phases[turn] >> (2 * v) & 3;
                    if (phase == NO_VECTOR) continue;
                    count_vector<PERIOD, MASKED>(mine, vectors[turn][v], mask[turn][v], phase);
                }
            }
            if (ROWS && p.in.ragged) /* of rows that are being read */
                count_ends<PERIOD, MASKED>(&p.in, mine, &rows, more ? min(next.index, rows.last) : rows.last);
        }
        if (!ROWS && p.in.ragged) {
            rows = histo_images_rows_of(&p.in, tile, member);
            count_ends<PERIOD, MASKED>(&p.in, mine, &rows, rows.last);
        }
        int64_t entry = histo_images_entry(&p.in, tile);
        tile += p.in.teams;
        if (tile < p.in.tiles) {
            next = histo_images_place_of<ROWS, 1>(&p.in, tile, member);
            phases[0] = load<PERIOD, MASKED, ROWS, V>(&p.in, &next, vectors[0], mask[0]);
            if (ROWS && p.in.ragged) rows = histo_images_rows_of(&p.in, tile, member);
        }
        merge<MASKED>(&p, &r, entry);
    }
}

/* ---- The launch ---- */

typedef struct shape {
    const void *kernels[2]; /* for a row, and for several */
    int threads, blocks;    /* of a block; of a multiprocessor */
} shape;

/* As many vectors of a thread as its registers take. */
#define SHAPE(period, masked, vectors, threads, blocks)                                                                \
    {                                                                                                                  \
        {(const void *)count_pixels<period, masked, false, vectors, threads, blocks>,                                  \
         (const void *)count_pixels<period, masked, true, vectors, threads, blocks>},                                  \
            threads, blocks                                                                                            \
    }

/* Of many images, small blocks: some count while others add up. */
static const shape *shape_of(int period, bool masked, bool several)
{
    static const shape of_masked = SHAPE(1, true, 2, 768, 1), of_several = SHAPE(1, false, 4, 256, 4);
    static const shape shapes[MAX_CHANNELS] = {SHAPE(1, false, 4, 1024, 1), SHAPE(2, false, 4, 1024, 1),
                                               SHAPE(3, false, 3, 1024, 1), SHAPE(4, false, 4, 1024, 1)};
    return masked ? &of_masked : several && period == 1 ? &of_several : &shapes[period - 1];
}

/* Is the filter on the samples themselves? */
static bool filters_itself(const histo_job *job)
{
    const histo_strided_iter *iter = &job->iter;
    int where = job->problem->where;
    return iter->base[where] == iter->base[0] && job->problem->dtypes[where] == job->problem->dtypes[0] &&
           memcmp(iter->strides[where], iter->strides[0], (size_t)iter->ndim * sizeof iter->strides[0][0]) == 0;
}

/* The batch dimension whose entries are channels of one pixel; -1 if there is none. */
static int channel_dim(const histo_strided_iter *iter, int64_t period)
{
    for (int d = 0; d < iter->batch_ndim; d++) {
        int64_t stride = iter->strides[0][d], reach = (iter->shape[d] - 1) * (stride < 0 ? -stride : stride);
        if (stride && reach < period) return d;
    }
    return -1;
}

/* Everything but how the work is cut; false if the samples do not lie as they should. */
static bool describe(const histo_job *job, pixels *p, int *period)
{
    const histo_problem *problem = job->problem;
    const histo_strided_iter *iter = &job->iter;
    const histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    int run = iter->ndim - 1;
    int64_t each = iter->shape[run] == 1 ? 1 : iter->strides[0][run];
    if (histo_dtype_size(problem->dtypes[0]) > 1 || each < 1 || each > MAX_CHANNELS) return false;
    if (problem->where != HISTO_ABSENT && !filters_itself(job)) return false;
    if (problem->mask != HISTO_ABSENT && each > 1) return false;
    memset(p, 0, sizeof *p);
    *period = (int)each;
    int channels = channel_dim(iter, each);
    int64_t stride = channels < 0 ? 0 : iter->strides[0][channels], last = 0;
    p->tables = channels < 0 ? 1 : (int)iter->shape[channels];
    int64_t lowest = stride < 0 ? stride * (p->tables - 1) : 0;
    uint16_t position[MAX_CHANNELS] = {UNCOUNTED, UNCOUNTED, UNCOUNTED, UNCOUNTED};
    if (channels < 0) position[0] = 0;
    int64_t entries = 1; /* from a channel's to the next */
    for (int d = iter->batch_ndim - 1; d > channels; d--)
        entries *= iter->shape[d];
    for (int c = 0; channels >= 0 && c < p->tables; c++) {
        position[c * stride - lowest] = (uint16_t)(c * TABLE);
        p->entry[c] = c * entries;
    }
    for (int j = 0; j < each; j++)
        if (position[j] != UNCOUNTED) last = j;
    if (!histo_cuda_images_of(job, channels, lowest, (iter->shape[run] - 1) * each + last + 1, &p->in)) return false;
    int64_t begins = (int64_t)((uintptr_t)p->in.at % (uintptr_t)each);
    if (each != 3 && p->in.aligned % each != 0) return false; /* a phase for each row */
    for (int j = 0; j < each; j++)
        p->table[j] = position[each == 3 ? j : (j + each - begins) % each];
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

static size_t shared_of(const pixels *p)
{
    size_t each = p->in.mask ? counters_of<true>() : counters_of<false>();
    return ((size_t)p->tables * (each * WARP + 2 * each) + each) * sizeof(uint32_t);
}

typedef struct launching {
    const histo_job *job;
    const pixels *all;
    const shape *shape;
    int threads;
} launching;

static histo_status launch(void *context, const histo_images *in)
{
    const launching *it = (const launching *)context;
    pixels p = *it->all;
    p.in = *in;
    void *args[] = {&p};
    return histo_cuda_launch(it->job, it->shape->kernels[in->rows > 1], dim3(in->teams * in->team), it->threads,
                             shared_of(&p), args);
}

/* n histograms from the first-th on, where there is a batch dimension of nothing else. */
static pixels entries_of(const pixels *all, int64_t first, int64_t n)
{
    pixels p = *all;
    if (p.in.dims == 0) return p;
    p.in.at += first * p.in.image[0].stride;
    if (p.in.mask) p.in.mask += first * p.in.image[0].mask_stride;
    p.in.image[0].extent = (uint32_t)n;
    p.in.first_entry = first;
    return p;
}

bool histo_cuda_count_pixels(const histo_job *job, int64_t threads, int64_t blocks, histo_status *status)
{
    const histo_strided_iter *iter = &job->iter;
    const histo_cuda_device *device = histo_cuda_device_of(job->problem->device);
    int64_t each = iter->per_batch, multiprocessors = device->multiprocessors;
    bool all_entries = job->begin == 0 && job->end == iter->batch * each;
    pixels all;
    int period;
    if (device->major < 8) return false; /* shared memory begins at 0 there, which here means: not counted */
    if (!describe(job, &all, &period) || shared_of(&all) > device->shared_block) return false;
    if (!all_entries && (period > 1 || all.in.rows > 1 || all.in.dims > 1)) return false;
    bool alone = all_entries && period == 1 && all.in.rows == 1 && all.in.dims == 0 && !all.in.mask && !all.filters;
    if (alone && histo_cuda_count_small_image(job, all.in.at, all.in.row_bytes, threads, blocks, status)) return true;
    const shape *it = shape_of(period, all.in.mask != NULL, all.in.dims > 0);
    int of_block = threads && threads < it->threads ? (int)threads : it->threads;
    int64_t resident = histo_cuda_resident(job->problem->device, of_block, shared_of(&all));
    int64_t by_registers = multiprocessors * it->blocks * (it->threads / of_block);
    if (!blocks) blocks = by_registers < resident ? by_registers : resident;
    launching how = {job, &all, it, of_block};
    if (all_entries) {
        *status = histo_cuda_images_launch(&all.in, of_block, blocks, MERGE, launch, &how);
        return true;
    }
    *status = HISTO_OK;
    for (int64_t begin = job->begin, end; begin < job->end && *status == HISTO_OK; begin = end) {
        int64_t first = begin / each, before = begin % each, entries = (job->end - begin) / each;
        bool whole = before == 0 && entries > 0;
        pixels p = entries_of(&all, first, whole ? entries : 1);
        end = whole ? begin + entries * each : job->end < (first + 1) * each ? job->end : (first + 1) * each;
        if (!whole) {
            p.in.at += before;
            if (p.in.mask) p.in.mask += before;
            p.in.row_bytes = end - begin;
        }
        how.all = &p;
        *status = histo_cuda_images_launch(&p.in, of_block, blocks, MERGE, launch, &how);
    }
    return true;
}
