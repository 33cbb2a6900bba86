/* lane_private: every block counts into copies of all counters in shared memory, and each copy belongs to a few lanes
 * of every warp and to as many banks. Lanes of different copies never meet, in a counter or in a bank, whatever the
 * samples are.
 *
 * - As many copies as fit in a part of shared memory that leaves the rest to the first-level cache, through which the
 *   samples come: 32 for up to 1024 bins (each lane has a bank of its own, nothing ever conflicts), one for the most
 *   bins. The words of a single copy are spread over the banks, so that bins a power of two apart do not share one.
 * - 8-bit samples are counted by their value, of which there are 256, and values become slots in the merge.
 * - Counters are 32-bit and are added 1 each, for which the hardware joins lanes that meet in one counter.
 * - Samples of the next step are loaded before those of this step are counted.
 * - Each kernel is made for one way to turn samples into slots; cells are copied to shared memory if they fit.
 * - A share has at most 2^30 samples, so that no counter can wrap.
 *
 * Bytes: each sample once. Wins wherever all slots fit a block, about 56 000, up to the memory's speed; loses to
 * thread-level work on a few samples, as any kernel that must clear and merge.
 * Source: the bank-per-thread layout of Podlozhnyuk 2007 (histogram64) and Ross 2014 (copies), with 32-bit counters
 * shared by all warps of a block; copies over groups of banks are ours. */
#include <string.h>

#include "cuda/block.cuh"

enum { LANES, BLOCKS, THREADS };
enum { VECTORS = 2 /* of 16 bytes a thread and step */, VALUES = 256, WARP = 32 };
enum { LEAVES_CACHE = 136 << 10 /* bytes of counters that leave enough to the first-level cache */ };

typedef struct layout {
    uint32_t log_lanes; /* 2^log_lanes lanes and banks a copy */
    uint32_t words;     /* of counters */
    uint32_t cells;     /* entries copied behind them, or 0 */
} layout;

/* ---- Where a counter is ---- */

/* In the first copy. 32 lanes: there is only one, spread over the banks. */
HISTO_IN_KERNEL uint32_t spread_word(uint32_t slot)
{
    return slot + (slot >> 5) + (slot >> 10);
}

HISTO_IN_KERNEL uint32_t copied_word(const layout *l, uint32_t slot)
{
    return slot + (slot >> l->log_lanes) * (WARP - (1u << l->log_lanes));
}

HISTO_IN_KERNEL uint32_t word_of(const layout *l, uint32_t slot)
{
    return l->log_lanes == 5 ? spread_word(slot) : copied_word(l, slot);
}

/* From the first copy to that of this lane, in words. */
HISTO_IN_KERNEL uint32_t own_copy(const layout *l)
{
    return threadIdx.x % (WARP >> l->log_lanes) << l->log_lanes;
}

/* Sum a counter over the copies, beginning at a copy that others do not begin at, and clear it. */
HISTO_IN_KERNEL unsigned int take(unsigned int *shared, const layout *l, uint32_t slot)
{
    unsigned int sum = 0, copies = WARP >> l->log_lanes, *first = &shared[word_of(l, slot)];
    for (uint32_t c = 0; c < copies; c++) {
        unsigned int *at = &first[(c + (slot >> l->log_lanes)) % copies << l->log_lanes];
        sum += *at;
        *at = 0;
    }
    return sum;
}

/* The block's counters are added to the histogram, by each block from another counter on. */
HISTO_IN_KERNEL void merge(unsigned int *shared, const layout *l, const histo_cuda_work *w, int64_t entry,
                           bool by_value)
{
    unsigned long long *counts = w->counts + entry * w->counters;
    uint32_t counters = by_value ? (uint32_t)VALUES : (uint32_t)w->counters;
    uint32_t first = (uint32_t)((uint64_t)blockIdx.x * counters / gridDim.x);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < counters; i += blockDim.x) {
        uint32_t at = i + first < counters ? i + first : i + first - counters;
        unsigned int sum = take(shared, l, at);
        if (sum) atomicAdd(&counts[by_value ? w->lookups[0].table[at] : at], (unsigned long long)sum);
    }
    __syncthreads();
}

/* ---- Counting ---- */

HISTO_IN_KERNEL void add(unsigned int *mine, const layout *l, bool by_value, const uint32_t *slot, int n)
{
    if (by_value)
#pragma unroll
        for (int k = 0; k < n; k++)
            atomicAdd(&mine[slot[k] * WARP], 1u);
    else if (l->log_lanes == 5)
#pragma unroll
        for (int k = 0; k < n; k++)
            atomicAdd(&mine[spread_word(slot[k])], 1u);
    else
#pragma unroll
        for (int k = 0; k < n; k++)
            atomicAdd(&mine[copied_word(l, slot[k])], 1u);
}

/* Whole steps of a share: vectors [begin, end) of 16 bytes, VECTORS for each thread and step; the samples before and
 * after them are counted one by one. */
typedef struct steps {
    const uint4 *vectors;
    uint32_t begin, end;
} steps;

HISTO_IN_KERNEL steps steps_of(const histo_share *share, uint32_t samples_each)
{
    uint32_t step = blockDim.x * VECTORS;
    steps s = {(const uint4 *)share->at, share->pad > 0, 0};
    uint32_t whole = share->length / samples_each;
    s.end = whole > s.begin ? s.begin + (whole - s.begin) / step * step : s.begin;
    return s;
}

HISTO_IN_KERNEL void load(const steps *s, uint32_t at, uint4 *words)
{
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        words[v] = __ldcs(&s->vectors[at + (uint32_t)v * blockDim.x + threadIdx.x]);
}

/* The ways to slots, for STORAGE x[N]. By value: the atomic additions themselves are the bound, so more warps are
 * wanted. */
#define SLOTS_ONE_BY_ONE(expression) _Pragma("unroll") for (int k = 0; k < N; k++) slot[k] = expression;
#define SLOTS_value(name) SLOTS_ONE_BY_ONE((uint8_t)x[k])
#define SLOTS_whole(name) SLOTS_ONE_BY_ONE(histo_by_whole_##name(&work.lookups[0], x[k]))
#define SLOTS_nearest(name) SLOTS_ONE_BY_ONE(histo_by_nearest_##name(&work.lookups[0], x[k]))
#define SLOTS_linear(name) histo_slots_by_cells_##name(&work.lookups[0], cells, false, x, slot, N);
#define SLOTS_bits(name) histo_slots_by_cells_##name(&work.lookups[0], cells, true, x, slot, N);
#define SLOTS_plain(name) histo_slots_of_##name(&work.lookups[0], x, slot);
enum { BLOCKS_value = 2, BLOCKS_whole = 1, BLOCKS_nearest = 1, BLOCKS_linear = 1, BLOCKS_bits = 1, BLOCKS_plain = 1 };

#define COUNT(name, storage, way)                                                                                      \
    static __global__ void __launch_bounds__(1024, BLOCKS_##way)                                                       \
        count_##name##_##way(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)           \
    {                                                                                                                  \
        enum { N = HISTO_SAMPLES_##name, EACH = 16 / (int)sizeof(storage), GROUPS = VECTORS * EACH / N };              \
        const bool by_value = sizeof(storage) == 1;                                                                    \
        extern __shared__ unsigned int shared[];                                                                       \
        unsigned int *mine = shared + own_copy(&l), *cells = shared + l.words;                                         \
        for (uint32_t i = threadIdx.x; i < l.cells; i += blockDim.x)                                                   \
            cells[i] = work.lookups[0].cells.entry[i];                                                                 \
        histo_clear_shared(shared, l.words);                                                                           \
        for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {                                       \
            histo_share share = histo_share_##name(&work, item);                                                       \
            steps s = steps_of(&share, EACH);                                                                          \
            uint4 now[VECTORS] = {}, next[VECTORS] = {};                                                               \
            if (s.begin < s.end) load(&s, s.begin, now);                                                               \
            for (uint32_t at = s.begin; at < s.end; at += blockDim.x * VECTORS) {                                      \
                if (at + blockDim.x * VECTORS < s.end) load(&s, at + blockDim.x * VECTORS, next);                      \
                _Pragma("unroll") for (int group = 0; group < GROUPS; group++)                                         \
                {                                                                                                      \
                    storage x[N];                                                                                      \
                    uint32_t slot[N];                                                                                  \
                    memcpy(x, (const char *)now + group * (int)sizeof x, sizeof x);                                    \
                    SLOTS_##way(name) add(mine, &l, by_value, slot, N);                                                \
                }                                                                                                      \
                memcpy(now, next, sizeof now);                                                                         \
            }                                                                                                          \
            for (uint32_t i = share.pad + threadIdx.x; i < share.length; i += blockDim.x) {                            \
                if (i / EACH - s.begin < s.end - s.begin) i += (s.end - s.begin) * EACH;                               \
                if (i >= share.length) break;                                                                          \
                storage x = ((const storage *)share.at)[i];                                                            \
                uint32_t slot = by_value ? (uint8_t)x : histo_slot_of_##name(&work.lookups[0], x);                     \
                atomicAdd(&mine[word_of(&l, slot)], 1u);                                                               \
            }                                                                                                          \
            merge(shared, &l, &work, share.entry, by_value);                                                           \
        }                                                                                                              \
    }

#define NARROW(X, way) X(u16, uint16_t, way) X(i16, int16_t, way)
#define HALF(X, way) X(f16, uint16_t, way) X(bf16, uint16_t, way)
#define INTEGERS(X, way) X(u32, uint32_t, way) X(i32, int32_t, way)
#define WIDE(X, way)                                                                                                   \
    INTEGERS(X, way) X(u64, uint64_t, way) X(i64, int64_t, way) X(f32, float, way) X(f64, double, way)
#define KERNELS(X)                                                                                                     \
    X(u8, uint8_t, value) X(i8, int8_t, value) NARROW(X, whole) INTEGERS(X, whole) WIDE(X, nearest) WIDE(X, linear)    \
    WIDE(X, bits) NARROW(X, plain) HALF(X, plain) WIDE(X, plain)
KERNELS(COUNT)

static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    extern __shared__ unsigned int shared[];
    unsigned int *mine = shared + own_copy(&l);
    histo_clear_shared(shared, l.words);
    for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {
        histo_share share = histo_share_any(&work, item);
        HISTO_FOR_STEPS(any, share, at)
        {
            uint32_t slot[HISTO_SAMPLES_any];
            histo_slots_any(&work, &share, at, slot);
#pragma unroll
            for (int k = 0; k < HISTO_SAMPLES_any; k++)
                if (slot[k] != HISTO_NO_SLOT) atomicAdd(&mine[word_of(&l, slot[k])], 1u);
        }
        merge(shared, &l, &work, share.entry, false);
    }
}

/* ---- The strategy ---- */

enum { VALUE, WHOLE, NEAREST, LINEAR, BITS, PLAIN };

static int way_of(const histo_lookup *l, histo_dtype dtype)
{
    if (histo_dtype_size(dtype) == 1) return VALUE;
    if (l->whole.is) return WHOLE;
    if (histo_dtype_size(dtype) == 2) return PLAIN;
    if (l->kind == HISTO_UNIFORM) return NEAREST;
    return !l->cells.entry ? PLAIN : l->cells.by_bits ? BITS : LINEAR;
}

typedef struct plan {
    layout l;
    int threads;   /* 0: it does not fit */
    size_t shared; /* bytes */
    int64_t blocks;
} plan;

static int64_t words_of(int64_t counters, uint32_t log_lanes)
{
    int64_t last = counters - 1;
    return log_lanes == 5 ? last + (last >> 5) + (last >> 10) + 1 : ((last >> log_lanes) + 1) * WARP;
}

static plan plan_of(const histo_problem *p, const int64_t *params, int way)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    int64_t room = (int64_t)(device->shared_block / sizeof(unsigned int)), cells = 0;
    int64_t counters = way == VALUE ? (int64_t)VALUES : p->slots + 1;
    if (way == LINEAR || way == BITS) cells = p->lookups[0].cells.entries;
    plan it = {{0, 0, 0}, 0, 0, 0};
    int64_t most = params[LANES] ? room - cells : LEAVES_CACHE / (int64_t)sizeof(unsigned int);
    uint32_t log_lanes = 0;
    while (log_lanes < 5 && ((1 << log_lanes) < params[LANES] || words_of(counters, log_lanes) > most))
        log_lanes++;
    int64_t words = words_of(counters, log_lanes);
    if (words + cells > room) return it;
    it.l.log_lanes = log_lanes;
    it.l.words = (uint32_t)words;
    it.l.cells = (uint32_t)cells;
    it.shared = (size_t)(words + cells) * sizeof(unsigned int);
    it.threads = params[THREADS] ? (int)params[THREADS] / WARP * WARP : 1024;
    int64_t resident = histo_cuda_resident(p->device, it.threads, it.shared);
    int64_t each = way == VALUE ? 2 : 1024 / it.threads; /* blocks a multiprocessor, by registers */
    it.blocks = device->multiprocessors * each < resident ? device->multiprocessors * each : resident;
    if (params[BLOCKS]) it.blocks = params[BLOCKS];
    return it;
}

static const char *refuses(const histo_problem *problem)
{
    static const int64_t usual[HISTO_MAX_PARAMS] = {0, 0, 1024};
    if (problem->weighting != HISTO_UNWEIGHTED) return "it counts, but sums no weights";
    return plan_of(problem, usual, PLAIN).threads ? NULL : "too many bins: their counters must fit a block";
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    double bytes = 0, merged = (double)p->slots * (double)p->batch * 132;
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    double by_bytes = bytes / 4.2e6, by_samples = p->operands > 1 ? 1 / 2e5 : 1 / 4.2e6;
    return 5 + (double)p->samples * (by_bytes > by_samples ? by_bytes : by_samples) + merged / 5e5;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)problem, (void)threads, (void)params;
    return 0;
}

static const void *kernel_of(int dtype, int way)
{
    enum { way_value = VALUE, way_whole = WHOLE, way_nearest = NEAREST };
    enum { way_linear = LINEAR, way_bits = BITS, way_plain = PLAIN };
    static const struct {
        const char *name;
        int way;
        const void *kernel;
    } kernels[] = {
#define ROW(name, storage, way) {#name, way_##way, (const void *)count_##name##_##way},
        KERNELS(ROW)
#undef ROW
    };
    static const char *const names[] = {
#define NAME(constant, name, storage, compute, widen) #name,
        HISTO_DTYPES(NAME)
#undef NAME
    };
    for (const auto &it : kernels)
        if (it.way == way && !strcmp(it.name, names[dtype])) return it.kernel;
    return NULL;
}

static histo_status launch(const histo_job *job)
{
    enum { LEAST = 1 << 14 };
    const histo_problem *p = job->problem;
    plan it = plan_of(p, job->params, PLAIN);
    histo_cuda_work work = histo_cuda_work_of(job, it.blocks, LEAST, HISTO_MOST_SHARE);
    int reader = histo_cuda_reader_of(&work);
    const void *kernel = (const void *)count_any;
    if (reader != HISTO_READ_ANY) {
        int way = way_of(&work.lookups[0], work.dtypes[0]);
        plan fast = plan_of(p, job->params, way);
        if (!fast.threads) way = PLAIN; /* its cells do not fit */
        kernel = kernel_of(reader, way);
        if (fast.threads) it = fast;
        work = histo_cuda_work_of(job, it.blocks, LEAST, HISTO_MOST_SHARE);
    }
    void *args[] = {&work, &it.l};
    dim3 grid((unsigned)(work.shares < it.blocks ? work.shares : it.blocks));
    return histo_cuda_launch(job, kernel, grid, it.threads, it.shared, args);
}

extern "C" const histo_strategy histo_cuda_lane_private = {
    refuses,
    cost_us,
    workspace,
    launch,
    {{"lanes", 0, 32, 0, "lanes of a warp that share a copy, rounded up to a power of 2; 0: as few as leave the cache room"},
     {"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
     {"threads", 32, 1024, 1024, "threads of a block, rounded down to whole warps"}},
};
