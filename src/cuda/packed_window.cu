/* packed_window: a window, the range of slots where samples are dense, is counted on chip in packed counters; every
 * sample outside it is one atomic addition to the histogram in device memory.
 *
 * The window is given, or found: for each batch entry, a block counts a sample of 16384 slots in 2048 cells and takes
 * the run of cells of the window's length that has most; if the cells are wide against the window, again within that
 * run. The window stays in device memory, so that the host waits for nothing. Wherever it is, the counts are exact: it
 * decides only where a sample is counted.
 *
 * Source: Ross 2014, 5.8.3 (partitioning), with the packed counters of 5.2 and 5.3; the window found by sampling is
 * ours. Bytes: each sample once, and an atomic operation in the second-level cache for each outside the window. Wins
 * where samples cluster in part of a histogram too large for the chip, as a wafer's; loses to global_atomic where they
 * do not, by the reading of old words, and to partitioning. */
#include "cuda/packed.cuh"

enum { FIRST, LENGTH, BITS, BLOCKS, THREADS };
enum { MOST_SHARE = 1 << 30, CELLS = 2048, FIND_THREADS = 1024, SAMPLED_EACH = 16 };

typedef struct layout {
    histo_packed_block block;
    size_t shared; /* bytes */
    int threads;
    int64_t blocks;
    bool found; /* else given, or all slots */
    uint32_t first;
} layout;

/* What its kernels need of it. */
typedef struct window {
    histo_packed_block block;
    uint32_t first;  /* where found is NULL */
    uint32_t *found; /* [batch] */
} window;

/* ---- Finding the window ---- */

/* Threads' own samples of a batch entry: evenly spread, but not so evenly that rows of an image could line up. */
HISTO_IN_KERNEL void sample(const histo_cuda_work *w, uint32_t *slot)
{
    int64_t entry = w->first_entry + blockIdx.x, each = w->nest.per_batch;
    int64_t first = entry * each, last = first + each;
    first = first < w->begin ? w->begin : first;
    last = last > w->end ? w->end : last;
    int64_t length = last - first, step = length / (FIND_THREADS * SAMPLED_EACH) + 1;
#pragma unroll 1
    for (uint32_t k = 0; k < SAMPLED_EACH; k++) {
        uint32_t number = k * FIND_THREADS + threadIdx.x, its_slot = HISTO_NO_SLOT;
        int64_t at = number * step + (int64_t)(number * 2654435761u) % step;
        if (at < length) {
            histo_share share = histo_share_any(w, blockIdx.x * w->shares_each + at / w->samples_each);
            histo_place place = histo_place_of(w, &share, (uint32_t)(at % w->samples_each));
            its_slot = histo_slot_of_place(w, &place);
        }
#pragma unroll
        for (uint32_t i = 0; i < SAMPLED_EACH; i++) /* keeps slot[] in registers */
            slot[i] = i == k ? its_slot : slot[i];
    }
}

/* cells[i] becomes the sum of cells up to i. */
HISTO_IN_KERNEL void add_up(uint32_t *cells)
{
    for (uint32_t distance = 1; distance < CELLS; distance *= 2) {
        uint32_t below[CELLS / FIND_THREADS];
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < CELLS / FIND_THREADS; k++) {
            uint32_t i = k * FIND_THREADS + threadIdx.x;
            below[k] = i >= distance ? cells[i - distance] : 0;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < CELLS / FIND_THREADS; k++)
            cells[k * FIND_THREADS + threadIdx.x] += below[k];
    }
    __syncthreads();
}

HISTO_IN_KERNEL uint32_t in_run(const uint32_t *summed, uint32_t start, uint32_t run)
{
    return summed[start + run - 1] - (start ? summed[start - 1] : 0);
}

/* The start of the run of cells that has most; in the middle of those that are as good. */
HISTO_IN_KERNEL uint32_t best_start(const uint32_t *summed, uint32_t run)
{
    __shared__ uint32_t most, lowest, highest;
    if (threadIdx.x == 0) {
        most = highest = 0;
        lowest = CELLS;
    }
    __syncthreads();
    for (uint32_t start = threadIdx.x; start + run <= CELLS; start += FIND_THREADS)
        atomicMax(&most, in_run(summed, start, run));
    __syncthreads();
    for (uint32_t start = threadIdx.x; start + run <= CELLS; start += FIND_THREADS)
        if (in_run(summed, start, run) == most) {
            atomicMin(&lowest, start);
            atomicMax(&highest, start);
        }
    __syncthreads();
    uint32_t middle = lowest + (highest - lowest) / 2;
    return in_run(summed, middle, run) == most ? middle : lowest;
}

/* Block x finds the window of the x-th batch entry of the job. */
static __global__ void __launch_bounds__(FIND_THREADS, 1)
    find(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)
{
    __shared__ uint32_t cells[CELLS];
    enum { FINE = 32 }; /* cells in a window, at least */
    uint32_t slot[SAMPLED_EACH], counters = (uint32_t)work.counters, size = w.block.size;
    uint32_t first = 0, span = counters; /* the window is in here */
    sample(&work, slot);
    for (;;) {
        uint32_t shift = 0;
        while ((span - 1) >> shift >= CELLS)
            shift++;
        for (uint32_t i = threadIdx.x; i < CELLS; i += FIND_THREADS)
            cells[i] = 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SAMPLED_EACH; k++)
            if (slot[k] - first < span) atomicAdd(&cells[(slot[k] - first) >> shift], 1u);
        add_up(cells);
        uint32_t run = size >> shift;
        run = run < 1 ? 1 : run > CELLS ? CELLS : run;
        uint32_t start = first + (best_start(cells, run) << shift), around = 1u << shift;
        if (around <= size / FINE || shift == 0) {
            first = start;
            break;
        }
        first = start > around ? start - around : 0;
        span = (run + 2) << shift;
        if (span > counters - first) span = counters - first;
        __syncthreads();
    }
    if (threadIdx.x == 0) w.found[work.first_entry + blockIdx.x] = first < counters - size ? first : counters - size;
}

/* ---- Counting ---- */

HISTO_IN_KERNEL void count_outside(const histo_packed_tile *tile, uint32_t slot)
{
    if (slot - tile->first >= tile->size && slot != HISTO_NO_SLOT)
        atomicAdd(&tile->counts[(int64_t)slot - tile->first], 1ull);
}

#define COUNT(reader)                                                                                                  \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        count_##reader(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)                 \
    {                                                                                                                  \
        extern __shared__ uint32_t shared[];                                                                           \
        for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {                                       \
            histo_share share = histo_share_##reader(&work, item);                                                     \
            uint32_t first = w.found ? w.found[share.entry] : w.first;                                                 \
            histo_packed_tile tile = histo_packed_tile_at(&work, &w.block, share.entry, first);                        \
            histo_packed_clear(shared, &w.block);                                                                      \
            HISTO_FOR_STEPS(reader, share, at)                                                                         \
            {                                                                                                          \
                uint32_t slot[HISTO_SAMPLES_##reader];                                                                 \
                histo_slots_##reader(&work, &share, at, slot);                                                         \
                _Pragma("unroll") for (int k = 0; k < HISTO_SAMPLES_##reader; k++) count_outside(&tile, slot[k]);      \
                histo_packed_count(shared, &w.block.packing, &tile, slot, HISTO_SAMPLES_##reader);                     \
            }                                                                                                          \
            histo_packed_merge(shared, &w.block, &tile);                                                               \
        }                                                                                                              \
    }
HISTO_READERS(COUNT)
#undef COUNT

/* ---- The strategy ---- */

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    layout l;
    int64_t counters = p->slots + 1, size = params[LENGTH] && params[LENGTH] < counters ? params[LENGTH] : counters;
    int bits = params[BITS] ? histo_packed_bits(params[BITS]) : size <= histo_packed_capacity(device, 16) ? 16 : 8;
    if (size > histo_packed_capacity(device, bits)) size = histo_packed_capacity(device, bits);
    int64_t words = histo_packed_words(size, bits), last = counters - size;
    l.block.packing = histo_packing_of(bits);
    l.block.size = (uint32_t)size;
    l.block.copies = 1;
    l.block.stride = (uint32_t)words;
    l.shared = (size_t)words * sizeof(uint32_t);
    l.threads = params[THREADS] ? (int)params[THREADS] : 2 * l.shared > device->shared_each ? 1024 : 512;
    l.blocks = params[BLOCKS] ? params[BLOCKS] : histo_cuda_resident(p->device, l.threads, l.shared);
    l.found = params[FIRST] < 0 && last > 0;
    l.first = (uint32_t)(params[FIRST] < 0 ? 0 : params[FIRST] < last ? params[FIRST] : last);
    return l;
}

static const char *refuses(const histo_problem *problem)
{
    return problem->weighting != HISTO_UNWEIGHTED ? "it counts, but sums no weights" : NULL;
}

/* As if a quarter of the samples that uniform ones would have outside the window were there. */
static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    static const int64_t usual[HISTO_MAX_PARAMS] = {-1};
    layout l = layout_of(p, usual);
    double samples = (double)p->samples, outside = samples * (1 - (double)l.block.size / (double)(p->slots + 1)) / 4;
    double merged = (double)l.block.size * (double)p->batch * (double)l.blocks;
    if (merged > samples) merged = samples;
    return 30 + (samples - outside) / 7e5 + outside / 5e4 + merged / 5e4;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    return layout_of(problem, params).found ? (size_t)problem->batch * sizeof(uint32_t) : 0;
}

static histo_status launch(const histo_job *job)
{
#define ADDRESS(reader) (const void *)count_##reader,
    static const void *const kernels[HISTO_READER_COUNT] = {HISTO_READERS(ADDRESS)};
#undef ADDRESS
    enum { LEAST = 1 << 14 };
    layout l = layout_of(job->problem, job->params);
    histo_cuda_work work = histo_cuda_work_of(job, l.blocks, LEAST, MOST_SHARE);
    window w = {l.block, l.first, l.found ? (uint32_t *)job->workspace : NULL};
    void *args[] = {&work, &w};
    histo_status status = HISTO_OK;
    if (l.found)
        status = histo_cuda_launch(job, (const void *)find, dim3((unsigned)(work.shares / work.shares_each)),
                                   FIND_THREADS, 0, args);
    if (status != HISTO_OK) return status;
    dim3 grid((unsigned)(work.shares < l.blocks ? work.shares : l.blocks));
    return histo_cuda_launch(job, kernels[histo_cuda_reader_of(&work)], grid, l.threads, l.shared, args);
}

extern "C" const histo_strategy histo_cuda_packed_window = {
    refuses,
    cost_us,
    workspace,
    launch,
    {{"first", -1, HISTO_MAX_SLOTS, -1, "slot of a batch entry where the window begins; -1: found by sampling"},
     {"length", 0, HISTO_MAX_SLOTS, 0, "slots of the window; 0: as many as fit"},
     {"bits", 0, 16, 0, "of a counter: 4, 8 or 16, the next of these; 0: 16 if all slots fit, else 8"},
     {"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
     {"threads", 0, 1024, 0, "of a block; 0: 512, or 1024 where only one block fits on a multiprocessor"}},
};
