/* lane_private: every block counts into copies of all counters in shared memory, and each copy belongs to a few lanes
 * of every warp and to as many banks. Lanes of different copies never meet, in a counter or in a bank, whatever the
 * samples are.
 *
 * - As many copies as fit in a part of shared memory that leaves the rest to the L1 cache, through which the
 *   samples come: 32 for up to 1024 bins (each lane has a bank of its own, nothing ever conflicts), one for the most
 *   bins. The words of a single copy are spread over the banks, so that bins a power of two apart do not share one.
 * - 8-bit samples are counted by their value, of which there are 256, and values become slots in the merge. Those in
 *   rows, images and interleaved channels, with or without a mask, are read by pixels.cu.
 * - Wider ones in rows of images, with or without a mask, have kernels of their own.
 * - Counters are 32-bit and are added 1 each, for which the hardware joins lanes that meet in one counter.
 * - Samples of the next step are loaded before those of this step are counted.
 * - Each kernel is made for one way to turn samples into slots; cells are copied to shared memory if they fit.
 * - A tile has at most 2^30 samples, so that no counter can wrap.
 *
 * Bytes: each sample once. Wins wherever all slots fit a block, about 56 000, up to the memory's speed; loses to
 * thread-level work on a few samples, as any kernel that must clear and merge.
 * Source: the bank-per-thread layout of Podlozhnyuk 2007 (histogram64) and Ross 2014 (copies), with 32-bit counters
 * shared by all warps of a block; copies over groups of banks are ours. */
#include <string.h>

#include "cuda/block.cuh"
#include "cuda/images.cuh"
#include "cuda/joint.cuh"
#include "cuda/pixels.h"

enum { LANES, BLOCKS, THREADS };
enum { VALUES = 256, WARP = 32 };
enum { UNSPREAD_LANES = 4 /* of a copy: so few may meet in one bank without loss */ };
/* Bytes of counters, and of counters and a table, that leave enough to the L1 cache. */
enum { MAX_COUNTERS = 136 << 10, LEAVES_CACHE = 194 << 10 };

typedef struct layout {
    uint32_t log_copies;
    bool spreads;   /* counters over the banks of a copy: where many lanes share it */
    uint32_t words; /* of counters; a table for the way to slots may be behind them */
    uint32_t team;  /* blocks that count a tile together */
    uint32_t twice; /* counter that belongs to the same slot as that before it, so that those behind it are one off */
} layout;

/* ---- Where a counter is ---- */

/* In the first copy; a thread adds to that of its lane. */
HISTO_IN_KERNEL uint32_t word_of(const layout *l, uint32_t slot)
{
    return (l->spreads ? histo_spread(slot) : slot) << l->log_copies;
}

HISTO_IN_KERNEL uint32_t own_copy(const layout *l)
{
    return threadIdx.x & ((1u << l->log_copies) - 1);
}

/* Sum a counter over the copies and clear it. Lanes that take neighbouring counters begin with different copies, and so
 * with different banks. */
HISTO_IN_KERNEL unsigned int take(unsigned int *shared, const layout *l, uint32_t word)
{
    unsigned int sum = 0, last = (1u << l->log_copies) - 1;
    for (uint32_t c = 0; c <= last; c++) {
        unsigned int *at = &shared[word + ((c + (word >> 5)) & last)];
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
        unsigned int sum = take(shared, l, by_value ? at * WARP : word_of(l, at));
        uint32_t slot = by_value ? w->lookups[0].table[at] : at >= l->twice ? at - 1 : at;
        if (sum) atomicAdd(&counts[slot], (unsigned long long)sum);
    }
    __syncthreads();
}

/* ---- Tables beside the counters ---- */

/* Cells of an axis of any edges. */
HISTO_IN_KERNEL void load_cells(const histo_lookup *l, uint32_t *cells)
{
    for (uint32_t i = threadIdx.x; i < l->cells.words; i += blockDim.x)
        cells[i] = l->cells.entry[i];
}

/* ---- Counting ---- */

/* Integers on bins of 2^k values, as histo_by_pow2 with closed axes left to the merge: the value at the end of the axis
 * has a counter of its own, before that of the values above. */
HISTO_IN_KERNEL uint32_t slot_by_pow2(const histo_lookup *l, uint32_t high, int32_t x)
{
    return ((uint32_t)min(max(x, (int32_t)l->pow2.low), (int32_t)high) - l->pow2.from) >> l->pow2.shift;
}

HISTO_IN_KERNEL uint32_t slot_by_pow2(const histo_lookup *l, uint32_t high, uint32_t x)
{
    return (min(max(x, l->pow2.low), high) - l->pow2.from) >> l->pow2.shift;
}

/* 64-bit integers as the nearest of 32 bits. */
HISTO_IN_KERNEL uint32_t slot_by_pow2(const histo_lookup *l, uint32_t high, int64_t x)
{
    int32_t narrow = (int32_t)x;
    return slot_by_pow2(l, high, x == narrow ? narrow : x < 0 ? INT32_MIN : INT32_MAX);
}

HISTO_IN_KERNEL uint32_t slot_by_pow2(const histo_lookup *l, uint32_t high, uint64_t x)
{
    return slot_by_pow2(l, high, x >> 32 ? UINT32_MAX : (uint32_t)x);
}

/* A counter by its offset in bytes, which takes one shift. */
HISTO_IN_KERNEL void count_at(unsigned int *mine, const layout *l, uint32_t index)
{
    atomicAdd((unsigned int *)((char *)mine + (index << (l->log_copies + 2))), 1u);
}

HISTO_IN_KERNEL void count_slots(unsigned int *mine, const layout *l, bool by_value, const uint32_t *slot, int n)
{
    if (by_value)
#pragma unroll
        for (int k = 0; k < n; k++)
            atomicAdd(&mine[slot[k] * WARP], 1u);
    else if (l->spreads)
#pragma unroll
        for (int k = 0; k < n; k++)
            count_at(mine, l, histo_spread(slot[k]));
    else
#pragma unroll
        for (int k = 0; k < n; k++)
            count_at(mine, l, slot[k]);
}

/* Whole steps of a tile: vectors [begin, end) of 16 bytes, VECTORS(way) for each thread and step, dealt out to the
 * blocks of a team by turns. The samples before and after them are counted one by one. */
typedef struct steps {
    const uint4 *vectors;
    uint32_t begin, end, own, stride;
} steps;

HISTO_IN_KERNEL steps steps_of(const histo_tile *tile, uint32_t samples_each, uint32_t step, uint32_t member,
                               uint32_t team)
{
    uint32_t whole = tile->length / samples_each;
    steps s = {(const uint4 *)tile->at, tile->pad > 0, 0, 0, step * team};
    s.end = whole > s.begin ? s.begin + (whole - s.begin) / step * step : s.begin;
    s.own = s.begin + step * member;
    return s;
}

HISTO_IN_KERNEL void load(const steps *s, uint32_t at, uint4 *words, int vectors)
{
#pragma unroll
    for (int v = 0; v < vectors; v++)
        words[v] = __ldcs(&s->vectors[at + (uint32_t)v * blockDim.x + threadIdx.x]);
}

/* The ways to slots: what is loaded for them, and the slots of STORAGE x[N]. By value: the atomic additions themselves
 * are the bound, so more warps are wanted. */
#define BESIDE (shared + l.words)
#define SLOTS_ONE_BY_ONE(expression) _Pragma("unroll") for (int k = 0; k < N; k++) slot[k] = expression;
#define SLOTS_value(name) SLOTS_ONE_BY_ONE((uint8_t)x[k])
#define SLOTS_pow2(name) SLOTS_ONE_BY_ONE(slot_by_pow2(lookup, lookup->pow2.high + lookup->pow2.closed, x[k]))
#define SLOTS_nearest(name) SLOTS_ONE_BY_ONE(histo_by_nearest_##name(lookup, x[k]))
#define SLOTS_firsts(name) histo_slots_by_firsts(lookup, BESIDE, x, slot, N);
#define SLOTS_linear(name) histo_slots_by_cells_##name(lookup, BESIDE, false, x, slot, N);
#define SLOTS_bits(name) histo_slots_by_cells_##name(lookup, BESIDE, true, x, slot, N);
#define SLOTS_plain(name) histo_n_slots_of_##name(lookup, x, slot, N);
#define LOAD_value
#define LOAD_pow2
#define LOAD_nearest
#define LOAD_firsts histo_load_firsts(lookup, BESIDE);
#define LOAD_linear load_cells(lookup, BESIDE);
#define LOAD_bits load_cells(lookup, BESIDE);
#define LOAD_plain
enum { VALUE, POW2, NEAREST, FIRSTS, LINEAR, BITS, PLAIN };
enum {
    way_value = VALUE,
    way_pow2 = POW2,
    way_nearest = NEAREST,
    way_firsts = FIRSTS,
    way_linear = LINEAR,
    way_bits = BITS,
    way_plain = PLAIN
};

/* By value twice as many threads are resident, so each loads half as much. Cells for eight samples at once need more
 * registers a thread. */
#define VECTORS(way) ((way) == VALUE ? 2 : 4)
#define MAX_THREADS(way, size) (((way) == LINEAR || (way) == BITS || (way) == PLAIN) && (size) < 8 ? 768 : 1024)

/* Blocks of 1024 threads that the architecture has room for. */
#if defined __CUDA_ARCH__ &&                                                                                           \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
enum { FULL_BLOCKS = 2 };
#else
enum { FULL_BLOCKS = 1 };
#endif

#define COUNT(name, storage, way)                                                                                      \
    static __global__ void __launch_bounds__(MAX_THREADS(way_##way, sizeof(storage)),                                  \
                                             way_##way == VALUE ? FULL_BLOCKS : 1)                                     \
        count_##name##_##way(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)           \
    {                                                                                                                  \
        enum {                                                                                                         \
            N = HISTO_SAMPLES_##name,                                                                                  \
            EACH = 16 / (int)sizeof(storage),                                                                          \
            V = VECTORS(way_##way),                                                                                    \
            GROUPS = V * EACH / N                                                                                      \
        };                                                                                                             \
        const bool by_value = way_##way == VALUE;                                                                      \
        const histo_lookup *lookup = &work.lookups[0];                                                                 \
        extern __shared__ unsigned int shared[];                                                                       \
        unsigned int *mine = shared + own_copy(&l);                                                                    \
        LOAD_##way histo_clear_shared(shared, l.words);                                                                \
        uint32_t team = l.team, member = blockIdx.x % team;                                                            \
        for (int64_t item = blockIdx.x / team; item < work.tiles; item += gridDim.x / team) {                          \
            histo_tile tile = histo_tile_##name(&work, item);                                                          \
            if (!tile.length) continue;                                                                                \
            steps s = steps_of(&tile, EACH, blockDim.x * V, member, team);                                             \
            uint4 now[V] = {}, next[V] = {};                                                                           \
            if (s.own < s.end) load(&s, s.own, now, V);                                                                \
            for (uint32_t at = s.own; at < s.end; at += s.stride) {                                                    \
                if (at + s.stride < s.end) load(&s, at + s.stride, next, V);                                           \
                _Pragma("unroll") for (int group = 0; group < GROUPS; group++)                                         \
                {                                                                                                      \
                    storage x[N];                                                                                      \
                    uint32_t slot[N];                                                                                  \
                    memcpy(x, (const char *)now + group * (int)sizeof x, sizeof x);                                    \
                    SLOTS_##way(name) count_slots(mine, &l, by_value, slot, N);                                        \
                }                                                                                                      \
                memcpy(now, next, sizeof now);                                                                         \
            }                                                                                                          \
            for (uint32_t i = tile.pad + member * blockDim.x + threadIdx.x;; i += team * blockDim.x) {                 \
                if (i / EACH - s.begin < s.end - s.begin) i += (s.end - s.begin) * EACH;                               \
                if (i >= tile.length) break;                                                                           \
                storage x = ((const storage *)tile.at)[i];                                                             \
                uint32_t slot = by_value ? (uint8_t)x : histo_slot_of_##name(lookup, x);                               \
                uint32_t word = by_value ? slot * WARP : word_of(&l, slot < l.twice ? slot : slot + 1);                \
                atomicAdd(&mine[word], 1u);                                                                            \
            }                                                                                                          \
            merge(shared, &l, &work, tile.entry, by_value);                                                            \
        }                                                                                                              \
    }

#define NARROW(X, way) X(u16, uint16_t, way) X(i16, int16_t, way)
#define HALF(X, way) X(f16, uint16_t, way) X(bf16, uint16_t, way)
#define INTEGERS(X, way) X(u32, uint32_t, way) X(i32, int32_t, way)
#define LONG(X, way) X(u64, uint64_t, way) X(i64, int64_t, way)
#define WIDE(X, way) INTEGERS(X, way) LONG(X, way) X(f32, float, way) X(f64, double, way)
#define KERNELS(X)                                                                                                     \
    X(u8, uint8_t, value)                                                                                              \
    X(i8, int8_t, value)                                                                                               \
    NARROW(X, pow2)                                                                                                    \
    INTEGERS(X, pow2)                                                                                                  \
    LONG(X, pow2)                                                                                                      \
    WIDE(X, nearest) X(f32, float, firsts) WIDE(X, linear) WIDE(X, bits) NARROW(X, plain) HALF(X, plain) WIDE(X, plain)
KERNELS(COUNT)

/* ---- Rows of images ---- */

/* Those of a vector's samples; as one number where that is aligned. */
template <int EACH>
HISTO_IN_KERNEL uint64_t load_mask(const char *at)
{
    if ((uint64_t)at % EACH != 0) return histo_bytes_at(at, EACH);
    return EACH == 8   ? __ldcs((const unsigned long long *)at)
           : EACH == 4 ? __ldcs((const unsigned int *)at)
                       : __ldcs((const unsigned short *)at);
}

/* A step's vectors: of the v-th, bit v tells whether it is there. masks: a byte for each of its samples. */
template <bool ROWS, bool MASKED, int V, int EACH>
HISTO_IN_KERNEL uint32_t load_rows(const histo_images *in, histo_images_place *next, uint4 *words, uint64_t *masks)
{
    uint32_t there = 0;
#pragma unroll
    for (int v = 0; v < V; v++) {
        histo_images_vector it = histo_images_next<ROWS, 16 / EACH, MASKED>(in, next);
        if (!it.there) continue;
        there |= 1u << v;
        words[v] = __ldcs((const uint4 *)it.at);
        if (MASKED) masks[v] = load_mask<EACH>(it.mask);
    }
    return there;
}

/* V vectors are loaded in a step, W of them looked up at once. */
#define COUNT_ROWS(name, storage, way)                                                                                 \
    template <bool ROWS, bool MASKED>                                                                                  \
    static __global__ void __launch_bounds__(MAX_THREADS(way_##way, sizeof(storage)), 1)                               \
        rows_##name##_##way(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l,            \
                            const __grid_constant__ histo_images in)                                                   \
    {                                                                                                                  \
        enum {                                                                                                         \
            EACH = 16 / (int)sizeof(storage),                                                                          \
            W = sizeof(storage) < 4 ? 1 : 2,                                                                           \
            N = W * EACH,                                                                                              \
            V = MASKED || sizeof(storage) < 4 ? 2 : 4                                                                  \
        };                                                                                                             \
        const histo_lookup *lookup = &work.lookups[0];                                                                 \
        extern __shared__ unsigned int shared[];                                                                       \
        unsigned int *mine = shared + own_copy(&l);                                                                    \
        LOAD_##way histo_clear_shared(shared, l.words);                                                                \
        uint32_t tile = histo_divide(blockIdx.x, in.by_team), member = blockIdx.x - tile * in.team, there[2];          \
        histo_images_place place = histo_images_place_of<ROWS, 16 / EACH>(&in, tile, member);                          \
        histo_images_rows rows = {};                                                                                   \
        uint4 vectors[2][V] = {}; /* by turns: one is counted, one is loaded */                                        \
        uint64_t masks[2][V] = {};                                                                                     \
        there[0] = load_rows<ROWS, MASKED, V, EACH>(&in, &place, vectors[0], masks[0]);                                \
        if (in.ragged) rows = histo_images_rows_of(&in, tile, member);                                                 \
        while (tile < in.tiles) {                                                                                      \
            for (bool more = true; more;) {                                                                            \
                _Pragma("unroll") for (int turn = 0; turn < 2; turn++)                                                 \
                {                                                                                                      \
                    if (!more) break;                                                                                  \
                    more = place.index < place.end;                                                                    \
                    if (more)                                                                                          \
                        there[!turn] = load_rows<ROWS, MASKED, V, EACH>(&in, &place, vectors[!turn], masks[!turn]);    \
                    _Pragma("unroll") for (int v = 0; v < V; v += W)                                                   \
                    {                                                                                                  \
                        if (!(there[turn] >> v & ((1u << W) - 1))) continue;                                           \
                        storage x[N];                                                                                  \
                        uint32_t slot[N];                                                                              \
                        memcpy(x, &vectors[turn][v], sizeof x);                                                        \
                        SLOTS_##way(name) _Pragma("unroll") for (int i = 0; i < W; i++)                                \
                        {                                                                                              \
                            if (!(there[turn] >> (v + i) & 1)) continue;                                               \
                            uint32_t *its = slot + i * EACH;                                                           \
                            if (MASKED)                                                                                \
                                _Pragma("unroll") for (int k = 0; k < EACH; k++) its[k] =                              \
                                    masks[turn][v + i] & UINT64_C(0xff) << (8 * k) ? its[k] : work.slots;              \
                            count_slots(mine, &l, false, its, EACH);                                                   \
                        }                                                                                              \
                    }                                                                                                  \
                }                                                                                                      \
                if (in.ragged) {                                                                                       \
                    uint32_t end = more ? min(place.index, rows.last) : rows.last;                                     \
                    for (; rows.next < end; rows.next += in.stride / WARP) {                                           \
                        const char *row = rows.at + rows.next * in.pitch;                                              \
                        const char *at = histo_images_end(&in, row, sizeof(storage));                                  \
                        if (!at) continue;                                                                             \
                        bool kept =                                                                                    \
                            !MASKED || rows.mask[rows.next * in.mask_pitch + (at - row) / (int)sizeof(storage)];       \
                        uint32_t slot = kept ? histo_slot_of_##name(lookup, *(const storage *)at) : work.slots;        \
                        atomicAdd(&mine[word_of(&l, slot < l.twice ? slot : slot + 1)], 1u);                           \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            int64_t entry = histo_images_entry(&in, tile);                                                             \
            tile += in.teams;                                                                                          \
            if (tile < in.tiles) {                                                                                     \
                place = histo_images_place_of<ROWS, 16 / EACH>(&in, tile, member);                                     \
                there[0] = load_rows<ROWS, MASKED, V, EACH>(&in, &place, vectors[0], masks[0]);                        \
                if (in.ragged) rows = histo_images_rows_of(&in, tile, member);                                         \
            }                                                                                                          \
            merge(shared, &l, &work, entry, false);                                                                    \
        }                                                                                                              \
    }
#define ROWS_KERNELS(X)                                                                                                \
    NARROW(X, pow2)                                                                                                    \
    INTEGERS(X, pow2)                                                                                                  \
    X(f32, float, firsts)                                                                                              \
    X(f32, float, linear)                                                                                              \
    X(f32, float, bits)                                                                                                \
    NARROW(X, plain) HALF(X, plain) INTEGERS(X, plain) LONG(X, plain) X(f32, float, plain) X(f64, double, plain)
ROWS_KERNELS(COUNT_ROWS)

/* ---- Others ---- */

/* Samples of any layout. */
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    extern __shared__ unsigned int shared[];
    unsigned int *mine = shared + own_copy(&l);
    histo_clear_shared(shared, l.words);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_any(&work, item);
        HISTO_FOR_STEPS(any, tile, at)
        {
            uint32_t slot[HISTO_SAMPLES_any];
            histo_slots_any(&work, &tile, at, slot);
#pragma unroll
            for (int k = 0; k < HISTO_SAMPLES_any; k++)
                if (slot[k] != HISTO_NO_SLOT) atomicAdd(&mine[word_of(&l, slot[k])], 1u);
        }
        merge(shared, &l, &work, tile.entry, false);
    }
}

/* Several axes. */
#define COUNT_JOINT(reader)                                                                                            \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        count_##reader(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l,                 \
                       const __grid_constant__ histo_joint joint)                                                      \
    {                                                                                                                  \
        enum { N = HISTO_SAMPLES_##reader };                                                                           \
        extern __shared__ unsigned int shared[];                                                                       \
        unsigned int *mine = shared + own_copy(&l);                                                                    \
        histo_load_joint_firsts(&work, &joint, shared);                                                                \
        histo_clear_shared(shared, l.words);                                                                           \
        for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {                                        \
            histo_joint_tile tile = histo_tile_joint(&work, &joint, item);                                             \
            histo_ahead_##reader ahead;                                                                                \
            if (tile.length) histo_load_##reader(&work, &joint, &tile, 0, &ahead);                                     \
            HISTO_FOR_STEPS(reader, tile, at)                                                                          \
            {                                                                                                          \
                uint32_t slot[N];                                                                                      \
                if (histo_take_##reader(&work, &joint, shared, &tile, at, &ahead, slot))                               \
                    count_slots(mine, &l, false, slot, N);                                                             \
                else                                                                                                   \
                    _Pragma("unroll") for (int k = 0; k < N; k++) if (slot[k] != HISTO_NO_SLOT)                        \
                        atomicAdd(&mine[word_of(&l, slot[k])], 1u);                                                    \
            }                                                                                                          \
            merge(shared, &l, &work, tile.entry, false);                                                               \
        }                                                                                                              \
    }
HISTO_JOINT_READERS(COUNT_JOINT)

/* ---- The strategy ---- */

static int way_of(const histo_lookup *l, histo_dtype dtype)
{
    const histo_pow2 *pow2 = &l->pow2;
    bool ends = pow2->high == (dtype == HISTO_I32 ? (uint32_t)INT32_MAX : UINT32_MAX);
    if (histo_dtype_size(dtype) == 1) return VALUE;
    if (pow2->is && !(pow2->closed && (pow2->shift || ends))) return POW2;
    if (histo_dtype_size(dtype) == 2) return PLAIN;
    if (dtype == HISTO_F32 && l->near_f32) return FIRSTS;
    if (l->kind == HISTO_UNIFORM) return NEAREST;
    return !l->cells.entry ? PLAIN : l->cells.by_bits ? BITS : LINEAR;
}

typedef struct plan {
    layout l;
    int threads;   /* 0: it does not fit */
    size_t shared; /* bytes */
    int64_t blocks;
} plan;

static plan plan_of(const histo_problem *p, const int64_t *params, int way)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    const histo_lookup *lookup = &p->lookups[0];
    int64_t room = (int64_t)(device->shared_block / sizeof(unsigned int)), beside = 0;
    int64_t counters = way == VALUE ? (int64_t)VALUES : p->slots + 1;
    if (way == LINEAR || way == BITS) beside = lookup->cells.words;
    if (way == FIRSTS) beside = histo_firsts_words(lookup);
    if (p->naxes > 1) beside = histo_cuda_firsts_of(p, 0, NULL);
    plan it = {{0, false, 0, 1, UINT32_MAX}, 0, 0, 0};
    int64_t most = MAX_COUNTERS, left = LEAVES_CACHE - beside * (int64_t)sizeof(unsigned int);
    most = params[LANES] ? room : (most < left ? most : left) / (int64_t)sizeof(unsigned int);
    if (counters > room) return it;
    if (most > room - beside) most = room - beside;
    it.l.log_copies = 5;
    int64_t words;
    for (;; it.l.log_copies--) {
        it.l.spreads = WARP >> it.l.log_copies > UNSPREAD_LANES;
        words = (it.l.spreads ? (int64_t)histo_spread((uint32_t)counters - 1) + 1 : counters) << it.l.log_copies;
        bool fits = words <= most && WARP >> it.l.log_copies >= params[LANES];
        if (fits || way == VALUE || it.l.log_copies == 0) break; /* by value each lane has a copy, always */
    }
    if (words + beside > room) return it;
    it.l.words = (uint32_t)words;
    if (way == POW2 && lookup->pow2.closed) it.l.twice = (uint32_t)lookup->bins + 1;
    it.shared = (size_t)(words + beside) * sizeof(unsigned int);
    it.threads = (int)params[THREADS] / WARP * WARP;
    int max_threads = MAX_THREADS(way, histo_dtype_size(p->dtypes[0]));
    if (it.threads > max_threads) it.threads = max_threads;
    int64_t resident = histo_cuda_resident(p->device, it.threads, it.shared);
    int64_t by_registers = device->multiprocessors * (way == VALUE ? 2 : max_threads / it.threads);
    it.blocks = by_registers < resident ? by_registers : resident;
    if (params[BLOCKS]) it.blocks = params[BLOCKS];
    return it;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    static const int64_t defaults[HISTO_MAX_PARAMS] = {0, 0, 1024};
    if (problem->weighting != HISTO_UNWEIGHTED) return "it counts, but sums no weights";
    return plan_of(problem, defaults, PLAIN).threads ? NULL : "too many bins: their counters must fit a block";
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    double bytes = 0, merged = (double)p->slots * (double)p->batch * 132;
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    bool is_byte = histo_dtype_size(p->dtypes[0]) == 1;
    bool in_rows = p->naxes == 1 && p->weights == HISTO_ABSENT && (p->where == HISTO_ABSENT || is_byte) &&
                   (p->mask == HISTO_ABSENT || histo_dtype_size(p->dtypes[p->mask]) == 1);
    double by_bytes = bytes / 4.2e6, by_samples = in_rows ? 1 / 4.2e6 : 1 / 2e5;
    if (in_rows && !is_byte && p->lookups[0].table && !p->lookups[0].pow2.is) {
        double alike =
            pow(histo_problem_fraction(p, 1), 2); /* of pairs of lanes, those that read one place of the table */
        by_samples = (1 - alike) / 8e5 + alike / 2e6;
    }
    if (p->naxes > 1 && p->operands == p->naxes) by_samples = 1 / 9e5;
    return 5 + (double)p->samples * (by_bytes > by_samples ? by_bytes : by_samples) + merged / 5e5;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)problem, (void)threads, (void)params;
    return 0;
}

typedef struct variant {
    const char *dtype;
    int way;
    const void *kernels[4]; /* the first; of rows: for one row, for several, and with masks */
} variant;

static const variant of_arrays[] = {
#define ROW(name, storage, way) {#name, way_##way, {(const void *)count_##name##_##way}},
    KERNELS(ROW)
#undef ROW
        {NULL, 0, {NULL}}};

static const variant of_rows[] = {
#define KERNEL(name, way, rows, masked) (const void *)rows_##name##_##way<rows, masked>
#define ROW(name, storage, way)                                                                                        \
    {#name,                                                                                                            \
     way_##way,                                                                                                        \
     {KERNEL(name, way, false, false), KERNEL(name, way, true, false), KERNEL(name, way, false, true),                 \
      KERNEL(name, way, true, true)}},
    ROWS_KERNELS(ROW)
#undef ROW
#undef KERNEL
        {NULL, 0, {NULL}}};

static const void *const *kernels_of(const variant *variants, int dtype, int way)
{
    static const char *const names[] = {
#define NAME(constant, name, storage, compute, widen) #name,
        HISTO_DTYPES(NAME)
#undef NAME
    };
    for (const variant *it = variants; it->dtype; it++)
        if (it->way == way && !strcmp(it->dtype, names[dtype])) return it->kernels;
    return NULL;
}

enum { MIN = 1 << 14 /* samples of a tile, where there is a choice */ };

/* By a kernel for contiguous samples. Samples of one batch entry are cut into few equal tiles, each for a team of
 * blocks, none of which may have more blocks than steps; those of several entries into a tile for each block. */
static histo_status launch_fast(const histo_job *job, int reader)
{
    const histo_problem *p = job->problem;
    int way = way_of(&p->lookups[0], p->dtypes[0]);
    if (!plan_of(p, job->params, way).threads) way = p->lookups[0].kind == HISTO_UNIFORM ? NEAREST : PLAIN;
    plan it = plan_of(p, job->params, way);
    int64_t each = job->iter.per_batch, n = job->end - job->begin;
    bool one_entry = !job->iter.offsets && job->begin / each == (job->end - 1) / each;
    histo_cuda_work work =
        histo_cuda_work_of(job, one_entry ? n / HISTO_MAX_TILE + 1 : it.blocks, one_entry ? 1 : MIN, HISTO_MAX_TILE);
    int64_t step = it.threads * VECTORS(way) * 16 / (int64_t)histo_dtype_size(p->dtypes[0]);
    int64_t most = one_entry ? work.samples_each / step + 1 : 1, team = it.blocks / work.tiles;
    it.l.team = (uint32_t)(team < 1 ? 1 : team < most ? team : most);
    void *args[] = {&work, &it.l};
    int64_t wanted = work.tiles * it.l.team;
    dim3 grid((unsigned)(wanted < it.blocks ? wanted : it.blocks / it.l.team * it.l.team));
    return histo_cuda_launch(job, kernels_of(of_arrays, reader, way)[0], grid, it.threads, it.shared, args);
}

typedef struct of_images {
    const histo_job *job;
    int dtype, way;
    plan plan;
} of_images;

static histo_status launch_images(void *context, const histo_images *in)
{
    const of_images *it = (const of_images *)context;
    histo_cuda_work work = histo_cuda_work_of(it->job, 1, MIN, HISTO_MAX_TILE);
    histo_images images = *in;
    layout l = it->plan.l;
    void *args[] = {&work, &l, &images};
    const void *kernel = kernels_of(of_rows, it->dtype, it->way)[(in->mask ? 2 : 0) + (in->rows > 1)];
    return histo_cuda_launch(it->job, kernel, dim3(in->teams * in->team), it->plan.threads, it->plan.shared, args);
}

/* By a kernel for rows of images, if they are that, and all of them; a counter of what a mask leaves out is none of
 * those behind a closed axis' end. */
static bool count_rows(const histo_job *job, histo_status *status)
{
    const histo_problem *p = job->problem;
    const histo_strided_iter *iter = &job->iter;
    int run = iter->ndim - 1, size = (int)histo_dtype_size(p->dtypes[0]);
    bool all = job->begin == 0 && job->end == iter->batch * iter->per_batch;
    bool side_by_side = iter->shape[run] == 1 || iter->strides[0][run] == size;
    histo_images in;
    if (size == 1 || !all || !side_by_side || p->where != HISTO_ABSENT ||
        !histo_cuda_images_of(job, -1, 0, iter->shape[run] * size, &in) ||
        (((int64_t)(uintptr_t)in.at | in.aligned) & (size - 1)))
        return false;
    int way = way_of(&p->lookups[0], p->dtypes[0]);
    bool moves = way == POW2 && p->lookups[0].pow2.closed && in.mask;
    if (moves || !kernels_of(of_rows, p->dtypes[0], way) || !plan_of(p, job->params, way).threads) way = PLAIN;
    of_images it = {job, (int)p->dtypes[0], way, plan_of(p, job->params, way)};
    *status = histo_cuda_images_launch(&in, it.plan.threads, it.plan.blocks, it.plan.l.words / 8, launch_images, &it);
    return true;
}

static histo_status launch(const histo_job *job)
{
    histo_status status;
    if (histo_cuda_count_pixels(job, job->params[THREADS] / WARP * WARP, job->params[BLOCKS], &status)) return status;
#define ADDRESS(reader) (const void *)count_##reader,
    static const void *const kernels[] = {HISTO_JOINT_READERS(ADDRESS)(const void *) count_any};
#undef ADDRESS
    plan it = plan_of(job->problem, job->params, PLAIN);
    histo_cuda_work work = histo_cuda_work_of(job, it.blocks, MIN, HISTO_MAX_TILE);
    int reader = histo_cuda_reader_of(&work);
    if (reader != HISTO_READ_ANY) return launch_fast(job, reader);
    if (count_rows(job, &status)) return status;
    histo_joint joint;
    const void *kernel = kernels[histo_cuda_joint_of(&work, &joint)];
    histo_cuda_firsts_of(job->problem, it.l.words, &joint);
    void *args[] = {&work, &it.l, &joint};
    dim3 grid((unsigned)(work.tiles < it.blocks ? work.tiles : it.blocks));
    return histo_cuda_launch(job, kernel, grid, it.threads, it.shared, args);
}

extern "C" const histo_strategy histo_cuda_lane_private = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"lanes", 0, 32, 0,
                "lanes of a warp that share a copy, rounded up to a power of 2; 0: as few as leave the cache room"},
               {"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
               {"threads", 32, 1024, 1024, "threads of a block, rounded down to whole warps"}},
    .ragged = true,
};
