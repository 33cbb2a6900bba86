/* partition: slots that are too many for the chip are dealt out to ranges that are not, as two bytes each, and then
 * each range is counted in shared memory.
 *
 * - A range is picked by a hash of the slot's group of eight neighbours, which maps groups onto (range, place in the
 *   range) one to one: so sorted, clustered and rounded samples spread over the ranges, and merging touches whole
 *   pieces of 64 bytes, as memory has them. A range has as many slots as a block has 32-bit counters for, and there are
 * 32 to 1024.
 * - Dealing out: a block has a buffer in shared memory for each range. A returning atomic addition to the range's
 * cursor says where a sample goes. Every few steps the block writes the granules that are full to chunks of a pool in
 * device memory, of which each block has a part of its own.
 * - What skewed samples would pile up in one range is counted at once, in a small table of slots in shared memory:
 * slots that many samples of a warp have, runs, and samples whose buffer is full. What finds no place there is added to
 * the histogram. Where a range gets far more than its buffer, the slots of the steps that follow are looked up in the
 * table before they are dealt out.
 * - A small kernel orders the chunks by range. Then each block counts an equal run of chunks, so that a range that has
 *   most samples gets most blocks. Of a range that it has for itself a block adds the counters to the histogram; parts
 *   of others become rows, which a last kernel adds up.
 * - Slots beyond the most ranges are dealt out in windows, for each of which the samples are read again.
 *
 * Samples are taken in slices of one batch entry. Workspace, for a slice of n samples: 2.1 n bytes, up to 150 MB for
 * chunks begun and not full, and 8 bytes for each counter that fits on the device's multiprocessors (60 MB on an H200).
 *
 * Bytes: each sample once, and 2 written and 2 read for it; each counter of the histogram read and written for each
 * slice and window. Wins where the counters no longer fit on chip, 4 times global_atomic at 2^20 slots and 10 times at
 * 2^24 (H200); loses to packed counters where those fit, and to global_atomic for a million samples or fewer.
 * Source: radix partitioning through buffers, as for joins (Polychroniou and Ross 2014). The hash, the table beside the
 * buffers, and ranges that need not be equal are ours. */
#include "cuda/joint.cuh"

enum { SLICE, RANGE_BITS };
enum {
    GROUP_BITS = 3, /* neighbours that stay together */
    GROUP = 1 << GROUP_BITS,
    MIN_RANGE_BITS = 5, /* fewer ranges would make too many lanes meet at a cursor */
    MAX_RANGE_BITS = 10,
    MAX_RANGES = 1 << MAX_RANGE_BITS,
    VECTOR = 8, /* entries of two bytes that are loaded and stored at once */
    WARP = 32,
    TABLE_BITS = 9,
    CROWD = 64,              /* one in so many samples, beyond what a buffer holds, is a range that has too many */
    TABLE = 1 << TABLE_BITS, /* slots counted at once */
    THREADS = 448,           /* that deal out; more have too many loads on their way for the L1 cache */
    BLOCKS_EACH = 2,         /* on a multiprocessor: one's barriers hide behind the other's work */
    COUNT_THREADS = 1024,
    MERGE_PARTS = 8, /* blocks that merge a range */
    MAX_SAMPLES = 8, /* of a thread and step */
    MIN_TILE_SAMPLES = 1 << 14,
    DEFAULT_SLICE = 1 << 29,
};

/* What the kernels tile. Vectors and places in the pool are numbered in units of VECTOR entries. */
typedef struct layout {
    uint32_t first, size;                    /* slots of the window */
    uint32_t range_bits, ranges, range_mask; /* the mask is of GROUP * the range */
    uint32_t counters;                       /* of a range; an entry of this value is padding */
    uint32_t buffer, granule;                /* bytes of a range's buffer, and the least that is written of it */
    uint32_t steps;                          /* between two times of writing */
    uint32_t crowd;       /* bytes of one range in so many steps that say its slots are too frequent */
    uint32_t log_lanes;   /* threads that write a range's buffer together */
    uint32_t log_chunk;   /* vectors of a chunk */
    uint32_t chunks_each; /* of a tile's part of the pool */
    uint32_t blocks;      /* that count */
    uint4 *pool;
    uint2 *ordered;   /* chunks by range: number, vectors in use */
    uint32_t *tags;   /* of each chunk: range, vectors in use */
    uint32_t *used;   /* chunks of each tile */
    uint32_t *chunks; /* of each range */
    uint32_t *taken;  /* of these, how many have a place in `ordered` */
    uint32_t *starts; /* [ranges + 1]: where a range's chunks begin there */
    uint32_t *rows;   /* [2 * blocks][counters]: of ranges that began before the block's chunks, and that end behind */
} layout;

enum { TAG_BITS = 16 }; /* a tag is range << TAG_BITS | vectors */

/* ---- Slot <-> range and place in it ---- */

HISTO_IN_KERNEL uint32_t hash_of(uint32_t above)
{
    return __umulhi(above, 0x9E3779B1u);
}

/* What is above the bits that tell the range, and room for the place in the group. */
HISTO_IN_KERNEL uint32_t above_of(const layout *l, uint32_t slot)
{
    return slot >> l->range_bits & ~(GROUP - 1u);
}

HISTO_IN_KERNEL uint32_t place_of(const layout *l, uint32_t slot)
{
    uint32_t shifted = slot >> l->range_bits;
    return shifted ^ ((shifted ^ slot) & (GROUP - 1)); /* above | place in the group */
}

/* GROUP * the range. */
HISTO_IN_KERNEL uint32_t range_of(const layout *l, uint32_t slot)
{
    return (slot ^ hash_of(above_of(l, slot))) & l->range_mask;
}

HISTO_IN_KERNEL uint32_t slot_of(const layout *l, uint32_t range, uint32_t place)
{
    uint32_t above = place & ~(GROUP - 1u);
    return above << l->range_bits | ((range ^ hash_of(above)) & l->range_mask) | (place & (GROUP - 1));
}

/* ---- What a block that deals out has in shared memory ---- */

/* Slots that are counted at once, at a place by their hash. */
typedef struct table {
    uint32_t slots[TABLE], counts[TABLE];
    uint32_t used;    /* chunks of the block's part of the pool */
    uint32_t crowded; /* the sample up to which slots are looked up here before they are dealt out */
    uint32_t known;   /* is that to go on? */
} table;

typedef struct dealer {
    char *buffers;     /* of the ranges; then, of each range: */
    uint32_t *cursors; /* bytes in the buffer; more than it has if some found no place */
    uint32_t *places;  /* where in the pool the next vector goes */
    uint32_t *rooms;   /* vectors left there */
    table *at_once;
    unsigned long long *counts; /* of the window's first slot, in the histogram */
} dealer;

HISTO_IN_KERNEL dealer dealer_at(const layout *l, void *shared, unsigned long long *counts)
{
    dealer d;
    d.buffers = (char *)shared;
    d.cursors = (uint32_t *)(d.buffers + l->ranges * l->buffer);
    d.places = d.cursors + l->ranges;
    d.rooms = d.places + l->ranges;
    d.at_once = (table *)(d.rooms + l->ranges);
    d.counts = counts;
    for (uint32_t i = threadIdx.x; i < l->ranges; i += THREADS)
        d.cursors[i] = d.rooms[i] = 0;
    for (uint32_t i = threadIdx.x; i < TABLE; i += THREADS) {
        d.at_once->slots[i] = HISTO_NO_SLOT;
        d.at_once->counts[i] = 0;
    }
    if (threadIdx.x == 0) d.at_once->used = d.at_once->crowded = d.at_once->known = 0;
    __syncthreads();
    return d;
}

/* ---- Slots that are counted at once ---- */

HISTO_IN_KERNEL uint32_t table_place(uint32_t slot)
{
    return slot * 0x9E3779B1u >> (32 - TABLE_BITS);
}

HISTO_IN_KERNEL void count_at_once(const dealer *d, uint32_t slot, uint32_t n)
{
    uint32_t at = table_place(slot), there = d->at_once->slots[at];
    if (there == HISTO_NO_SLOT) there = atomicCAS(&d->at_once->slots[at], HISTO_NO_SLOT, slot);
    if (there == HISTO_NO_SLOT || there == slot)
        atomicAdd(&d->at_once->counts[at], n);
    else
        atomicAdd(&d->counts[slot], (unsigned long long)n);
}

/* Between barriers. Slots that got something stay, with a count of zero. until: where the next steps end. */
HISTO_IN_KERNEL void empty_table(const dealer *d, uint32_t until)
{
    if (threadIdx.x == 0 && d->at_once->known) {
        atomicMax(&d->at_once->crowded, until);
        d->at_once->known = 0;
    }
    for (uint32_t i = threadIdx.x; i < TABLE; i += THREADS) {
        uint32_t slot = d->at_once->slots[i], n = d->at_once->counts[i];
        if (slot == HISTO_NO_SLOT) continue;
        d->at_once->counts[i] = 0;
        if (n)
            atomicAdd(&d->counts[slot], (unsigned long long)n);
        else
            d->at_once->slots[i] = HISTO_NO_SLOT;
    }
}

HISTO_IN_KERNEL uint32_t warp_sum(uint32_t n)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, n);
#else
    for (uint32_t distance = WARP / 2; distance; distance /= 2)
        n += __shfl_xor_sync(~0u, n, distance);
    return n;
#endif
}

/* Lanes whose next n samples are alike, as in sorted data, count them if most lanes do. */
HISTO_IN_KERNEL void remove_runs(const dealer *d, uint32_t *slot, int n)
{
    bool alike = slot[0] != HISTO_NO_SLOT;
#pragma unroll
    for (int k = 1; k < n; k++)
        alike &= slot[k] == slot[0];
    if (__popc(__ballot_sync(~0u, alike)) < WARP / 2 || !alike) return;
    count_at_once(d, slot[0], (uint32_t)n);
#pragma unroll
    for (int k = 0; k < n; k++)
        slot[k] = HISTO_NO_SLOT;
}

/* Whole warps, n samples a lane. If many lanes begin with the slot of lane 0, count and remove the slots that a large
 * part of the samples has (a constant, two or a few values), or runs. */
enum { ALL_LEFT, SOME_LEFT, NONE_LEFT };

HISTO_IN_KERNEL int remove_frequent(const dealer *d, uint32_t *slot, int n)
{
    enum { LANES = 4, PART = 6 /* 32nds of the samples */ };
    uint32_t candidate = __shfl_sync(~0u, slot[0], 0);
    if (__popc(__ballot_sync(~0u, slot[0] == candidate)) < LANES || candidate == HISTO_NO_SLOT) return ALL_LEFT;
#pragma unroll 1
    for (;;) {
        uint32_t own = 0, next = HISTO_NO_SLOT;
#pragma unroll
        for (int k = 0; k < n; k++)
            own += slot[k] == candidate;
        uint32_t all = warp_sum(own);
        if (all < (uint32_t)n * PART) break;
#pragma unroll
        for (int k = 0; k < n; k++) {
            if (slot[k] == candidate) slot[k] = HISTO_NO_SLOT;
            next = min(next, slot[k]);
        }
        if (threadIdx.x % WARP == 0) count_at_once(d, candidate, all);
        uint32_t with = __ballot_sync(~0u, next != HISTO_NO_SLOT);
        if (!with) return NONE_LEFT;
        candidate = __shfl_sync(~0u, next, __ffs((int)with) - 1);
    }
    remove_runs(d, slot, n / 2);
    remove_runs(d, slot + n / 2, n / 2);
    return SOME_LEFT;
}

/* Count and remove those that are in the table; if each lane has one, they are looked up further on. */
HISTO_IN_KERNEL void remove_known(const dealer *d, uint32_t *slot, int n)
{
    uint32_t there[MAX_SAMPLES];
    bool found = false;
#pragma unroll
    for (int k = 0; k < n; k++)
        there[k] = d->at_once->slots[table_place(slot[k])];
#pragma unroll
    for (int k = 0; k < n; k++)
        if (there[k] == slot[k] && slot[k] != HISTO_NO_SLOT) {
            atomicAdd(&d->at_once->counts[table_place(slot[k])], 1u);
            slot[k] = HISTO_NO_SLOT;
            found = true;
        }
    if (__all_sync(~0u, found) && threadIdx.x % WARP == 0) atomicOr(&d->at_once->known, 1u);
}

/* ---- Dealing out ---- */

HISTO_IN_KERNEL void put(const dealer *d, const layout *l, uint32_t slot, uint32_t range, uint32_t cursor)
{
    *(uint16_t *)(d->buffers + range * (l->buffer / GROUP) + cursor) = (uint16_t)place_of(l, slot);
}

/* Put those that have a place in their buffer, and count the others. Most of these are of a few slots, which are in the
 * table already: so all are looked up there side by side. */
HISTO_IN_KERNEL void put_some(const dealer *d, const layout *l, uint32_t *slot, const uint32_t *range,
                              const uint32_t *cursor, int n)
{
    uint32_t there[MAX_SAMPLES], others = 0;
#pragma unroll
    for (int k = 0; k < n; k++) {
        if (cursor[k] < l->buffer) {
            put(d, l, slot[k], range[k], cursor[k]);
            slot[k] = HISTO_NO_SLOT;
        }
        there[k] = d->at_once->slots[table_place(slot[k])];
    }
#pragma unroll
    for (int k = 0; k < n; k++)
        if (slot[k] != HISTO_NO_SLOT) {
            if (there[k] == slot[k])
                atomicAdd(&d->at_once->counts[table_place(slot[k])], 1u);
            else
                others |= 1u << k;
        }
    if (others)
#pragma unroll
        for (int k = 0; k < n; k++)
            if (others >> k & 1) count_at_once(d, slot[k], 1);
}

#define NO_PLACE 0xffffffffu

/* Takes GROUP * the range. */
HISTO_IN_KERNEL uint32_t draw(const dealer *d, uint32_t range)
{
    return atomicAdd((uint32_t *)((char *)d->cursors + range * sizeof(uint32_t) / GROUP), (uint32_t)sizeof(uint16_t));
}

/* n slots of each thread of a warp, those not HISTO_NO_SLOT. crowded: they are looked up in the table first. */
HISTO_IN_KERNEL void deal(const dealer *d, const layout *l, uint32_t *slot, int n, bool all_there, bool crowded)
{
    uint32_t range[MAX_SAMPLES], cursor[MAX_SAMPLES], highest = 0;
    int left = remove_frequent(d, slot, n);
    if (left == NONE_LEFT) return;
    all_there = all_there && left == ALL_LEFT && !crowded;
    if (crowded) remove_known(d, slot, n);
#pragma unroll
    for (int k = 0; k < n; k++)
        range[k] = range_of(l, slot[k]);
    if (all_there) {
#pragma unroll
        for (int k = 0; k < n; k++)
            cursor[k] = draw(d, range[k]);
    } else {
#pragma unroll
        for (int k = 0; k < n; k++)
            cursor[k] = slot[k] == HISTO_NO_SLOT ? NO_PLACE : draw(d, range[k]);
    }
#pragma unroll
    for (int k = 0; k < n; k++)
        highest = max(highest, cursor[k] + 1); /* 0 for none */
    if (__any_sync(~0u, highest > l->buffer)) {
        put_some(d, l, slot, range, cursor, n);
    } else if (all_there) {
#pragma unroll
        for (int k = 0; k < n; k++)
            put(d, l, slot[k], range[k], cursor[k]);
    } else {
#pragma unroll
        for (int k = 0; k < n; k++)
            if (cursor[k] != NO_PLACE) put(d, l, slot[k], range[k], cursor[k]);
    }
}

/* A chunk more for a range; its number in the pool. */
HISTO_IN_KERNEL uint32_t new_chunk(const dealer *d, const layout *l, uint32_t range)
{
    uint32_t chunk = blockIdx.x * l->chunks_each + atomicAdd(&d->at_once->used, 1u);
    atomicAdd(&l->chunks[range], 1u);
    l->tags[chunk] = range << TAG_BITS | 1u << l->log_chunk;
    return chunk;
}

/* Between barriers: write the granules that are full, and begin the buffers with what is left. A buffer is no longer
 * than a chunk, so that at most one chunk begins. until: where the next steps end. */
HISTO_IN_KERNEL void write_granules(const dealer *d, const layout *l, uint32_t until)
{
    const uint32_t lanes = 1u << l->log_lanes, lane = threadIdx.x & (lanes - 1),
                   leader = threadIdx.x % WARP & ~(lanes - 1);
    const uint32_t team = ((1u << lanes) - 1) << leader;
#pragma unroll 1
    for (uint32_t range = threadIdx.x >> l->log_lanes; range < l->ranges; range += THREADS >> l->log_lanes) {
        uint32_t drawn = d->cursors[range], bytes = min(drawn, l->buffer),
                 full = bytes == l->buffer ? bytes : bytes & ~(l->granule - 1);
        if (full == 0) continue;
        if (drawn >= l->crowd) atomicMax(&d->at_once->crowded, until);
        uint4 *buffer = (uint4 *)(d->buffers + range * l->buffer);
        uint32_t vectors = full / sizeof(uint4), room = d->rooms[range], place = d->places[range], next = 0;
        bool begins = vectors > room;
        if (begins) {
            if (lane == 0) next = (new_chunk(d, l, range) << l->log_chunk) - room;
            next = __shfl_sync(team, next, (int)leader);
        }
#pragma unroll 1
        for (uint32_t v = lane; v < vectors; v += lanes)
            l->pool[(v < room ? place : next) + v] = buffer[v];
        __syncwarp(team);
#pragma unroll 1
        for (uint32_t v = lane; v * sizeof(uint4) < bytes - full; v += lanes)
            buffer[v] = buffer[vectors + v];
        if (lane == 0) {
            d->cursors[range] = bytes - full;
            d->places[range] = (begins ? next : place) + vectors;
            d->rooms[range] = room - vectors + (begins ? 1u << l->log_chunk : 0);
        }
    }
}

/* Write what is left, padded to whole vectors. */
HISTO_IN_KERNEL void write_rest(const dealer *d, const layout *l)
{
    for (uint32_t range = threadIdx.x; range < l->ranges; range += THREADS) {
        uint32_t entries = d->cursors[range] / sizeof(uint16_t), vectors = (entries + VECTOR - 1) / VECTOR;
        uint32_t place = d->places[range], room = d->rooms[range];
        uint16_t *buffer = (uint16_t *)(d->buffers + range * l->buffer);
        for (uint32_t i = entries; i < vectors * VECTOR; i++)
            buffer[i] = (uint16_t)l->counters;
        for (uint32_t v = 0; v < vectors; v++, room--) {
            if (room == 0) {
                place = new_chunk(d, l, range) << l->log_chunk;
                room = 1u << l->log_chunk;
            }
            l->pool[place++] = ((const uint4 *)buffer)[v];
        }
        if (room) l->tags[(place - 1) >> l->log_chunk] = range << TAG_BITS | ((1u << l->log_chunk) - room);
    }
}

/* A reader's samples, those of the next step loaded before those of this one are dealt out. ready: vectors of 16 bytes
 * hold the step's samples, all of them in the tile. */
#define DEFINE_STEP(reader, storage)                                                                                   \
    typedef struct step_##reader {                                                                                     \
        uint4 words[HISTO_SAMPLES_##reader * sizeof(storage) / sizeof(uint4)];                                         \
        bool ready;                                                                                                    \
    } step_##reader;                                                                                                   \
    HISTO_IN_KERNEL void load_##reader(const histo_tile *tile, uint32_t at, step_##reader *step)                       \
    {                                                                                                                  \
        enum { EACH = 16 / sizeof(storage), VECTORS = HISTO_SAMPLES_##reader / EACH };                                 \
        step->ready = at >= tile->pad && at + THREADS * HISTO_SAMPLES_##reader <= tile->length;                        \
        if (step->ready)                                                                                               \
            _Pragma("unroll") for (uint32_t v = 0; v < VECTORS; v++) step->words[v] =                                  \
                __ldcs((const uint4 *)(tile->at + (size_t)at * sizeof(storage)) + v * THREADS + threadIdx.x);          \
    }                                                                                                                  \
    HISTO_IN_KERNEL bool take_##reader(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,                  \
                                       step_##reader *step, uint32_t *slot)                                            \
    {                                                                                                                  \
        bool ready = step->ready;                                                                                      \
        if (ready) {                                                                                                   \
            storage x[HISTO_SAMPLES_##reader];                                                                         \
            memcpy(x, step->words, sizeof x);                                                                          \
            histo_slots_of_##reader(&w->lookups[0], x, slot);                                                          \
        } else {                                                                                                       \
            _Pragma("unroll 1") for (uint32_t k = 0; k < HISTO_SAMPLES_##reader; k++)                                  \
            {                                                                                                          \
                uint32_t i = at + k * THREADS + threadIdx.x, its = HISTO_NO_SLOT;                                      \
                if (i >= tile->pad && i < tile->length)                                                                \
                    its = histo_slot_of_##reader(&w->lookups[0], ((const storage *)tile->at)[i]);                      \
                _Pragma("unroll") for (uint32_t j = 0; j < HISTO_SAMPLES_##reader; j++) slot[j] =                      \
                    j == k ? its : slot[j]; /* keeps slot[] in registers */                                            \
            }                                                                                                          \
        }                                                                                                              \
        load_##reader(tile, at + THREADS * HISTO_SAMPLES_##reader, step);                                              \
        return ready;                                                                                                  \
    }

typedef struct step_any {
    bool ready;
} step_any;

HISTO_IN_KERNEL void load_any(const histo_tile *tile, uint32_t at, step_any *step)
{
    step->ready = at + THREADS * HISTO_SAMPLES_any <= tile->length;
}

HISTO_IN_KERNEL bool take_any(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, step_any *step,
                              uint32_t *slot)
{
    bool ready = step->ready;
    histo_slots_any(w, tile, at, slot);
    load_any(tile, at + THREADS * HISTO_SAMPLES_any, step);
    return ready;
}

DEFINE_STEP(u32, uint32_t)
DEFINE_STEP(i32, int32_t)
DEFINE_STEP(f32, float)
DEFINE_STEP(f64, double)

/* As those of several axes, that need to know more than the others. */
#define DEFINE_PLAIN_STEP(reader)                                                                                      \
    typedef step_##reader histo_ahead_##reader;                                                                        \
    HISTO_IN_KERNEL void histo_load_##reader(const histo_cuda_work *, const histo_joint *, const histo_tile *tile,     \
                                             uint32_t at, step_##reader *step)                                         \
    {                                                                                                                  \
        load_##reader(tile, at, step);                                                                                 \
    }                                                                                                                  \
    HISTO_IN_KERNEL bool histo_take_##reader(const histo_cuda_work *w, const histo_joint *, const uint32_t *,          \
                                             const histo_tile *tile, uint32_t at, step_##reader *step, uint32_t *slot) \
    {                                                                                                                  \
        return take_##reader(w, tile, at, step, slot);                                                                 \
    }
DEFINE_PLAIN_STEP(u32)
DEFINE_PLAIN_STEP(i32)
DEFINE_PLAIN_STEP(f32)
DEFINE_PLAIN_STEP(f64)
DEFINE_PLAIN_STEP(any)
/* Block x deals out tile x. */
#define DEFINE_DEAL_OUT(reader, tile_type, tile_of)                                                                    \
    static __global__ void __launch_bounds__(THREADS, BLOCKS_EACH)                                                     \
        deal_out_##reader(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l,              \
                          const __grid_constant__ histo_joint joint)                                                   \
    {                                                                                                                  \
        enum { N = HISTO_SAMPLES_##reader, PART = N < MAX_SAMPLES ? N : (int)MAX_SAMPLES };                            \
        extern __shared__ uint4 shared[];                                                                              \
        tile_type tile = tile_of;                                                                                      \
        dealer d = dealer_at(&l, shared, work.counts + tile.entry * work.counters + l.first);                          \
        histo_ahead_##reader ahead;                                                                                    \
        if (tile.length) histo_load_##reader(&work, &joint, &tile, 0, &ahead);                                         \
        for (uint32_t at = 0; at < tile.length;) {                                                                     \
            bool crowded = at < d.at_once->crowded;                                                                    \
            for (uint32_t s = 0; s < l.steps && at < tile.length; s++) {                                               \
                uint32_t slot[N];                                                                                      \
                bool all_there =                                                                                       \
                    histo_take_##reader(&work, &joint, NULL, &tile, at, &ahead, slot) && l.size == work.counters;      \
                if (!all_there)                                                                                        \
                    _Pragma("unroll") for (int k = 0; k < N; k++) slot[k] =                                            \
                        slot[k] - l.first < l.size ? slot[k] - l.first : HISTO_NO_SLOT;                                \
                _Pragma("unroll 1") for (int part = 0; part < N; part += PART)                                         \
                {                                                                                                      \
                    deal(&d, &l, slot, PART, all_there, crowded);                                                      \
                    _Pragma("unroll") for (int k = PART; k < N; k++) slot[k - PART] = slot[k];                         \
                }                                                                                                      \
                at += THREADS * N;                                                                                     \
            }                                                                                                          \
            __syncthreads();                                                                                           \
            write_granules(&d, &l, at + l.steps * THREADS * N);                                                        \
            empty_table(&d, at + l.steps * THREADS * N);                                                               \
            __syncthreads();                                                                                           \
        }                                                                                                              \
        write_rest(&d, &l);                                                                                            \
        __syncthreads();                                                                                               \
        if (threadIdx.x == 0) l.used[blockIdx.x] = d.at_once->used;                                                    \
    }
#define DEAL_OUT(reader) DEFINE_DEAL_OUT(reader, histo_tile, histo_tile_##reader(&work, blockIdx.x))
#define DEAL_OUT_JOINT(reader) DEFINE_DEAL_OUT(reader, histo_joint_tile, histo_tile_joint(&work, &joint, blockIdx.x))
DEAL_OUT(u32)
DEAL_OUT(i32)
DEAL_OUT(f32)
DEAL_OUT(f64)
DEAL_OUT(any)
HISTO_JOINT_READERS(DEAL_OUT_JOINT)

/* ---- Ordering the chunks ---- */

/* starts[r]: chunks of all ranges before r; starts[ranges]: of all. Blocks of COUNT_THREADS >= ranges. */
HISTO_IN_KERNEL void find_starts(const layout *l, uint32_t *starts)
{
    __shared__ uint32_t of_warps[WARP];
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t sum = threadIdx.x < l->ranges ? l->chunks[threadIdx.x] : 0;
#pragma unroll
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint32_t before = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == WARP - 1) of_warps[warp] = sum;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++)
        sum += of_warps[w];
    if (threadIdx.x == 0) starts[0] = 0;
    if (threadIdx.x < l->ranges) starts[threadIdx.x + 1] = sum;
    __syncthreads();
}

/* Block x gives the chunks of tile x their places. */
static __global__ void __launch_bounds__(COUNT_THREADS) order(const __grid_constant__ layout l)
{
    __shared__ uint32_t next[MAX_RANGES + 1], own[MAX_RANGES];
    uint32_t first = blockIdx.x * l.chunks_each, used = l.used[blockIdx.x];
    find_starts(&l, next);
    for (uint32_t range = threadIdx.x; range <= l.ranges && blockIdx.x == 0; range += COUNT_THREADS)
        l.starts[range] = next[range];
    for (uint32_t range = threadIdx.x; range < l.ranges; range += COUNT_THREADS)
        own[range] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += COUNT_THREADS)
        atomicAdd(&own[l.tags[first + i] >> TAG_BITS], 1u);
    __syncthreads();
    for (uint32_t range = threadIdx.x; range < l.ranges; range += COUNT_THREADS)
        if (own[range]) next[range] += atomicAdd(&l.taken[range], own[range]);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += COUNT_THREADS) {
        uint32_t tag = l.tags[first + i];
        l.ordered[atomicAdd(&next[tag >> TAG_BITS], 1u)] = make_uint2(first + i, tag & ((1u << TAG_BITS) - 1));
    }
}

/* ---- Counting ---- */

/* Where a counter is, so that places a power of two apart are in different banks. */
HISTO_IN_KERNEL __host__ uint32_t word_of(uint32_t place)
{
    return place + (place >> 5) + (place >> 10);
}

/* Warps load pieces of 32 vectors. They look up a batch of pieces at a time, each in a lane, as its number in the pool
 * << PIECE_BITS | vectors in use; and load some pieces while those before are counted. */
enum { BATCH = 8, LOADED = 4, PIECE_BITS = 6 };

typedef struct run {
    const uint2 *chunks;
    uint32_t pieces, log_pieces; /* in all; of a chunk */
} run;

HISTO_IN_KERNEL uint32_t look_up(const run *of, uint32_t first)
{
    uint32_t piece = first + threadIdx.x % BATCH, within = piece & ((1u << of->log_pieces) - 1);
    if (piece >= of->pieces) return 0;
    uint2 chunk = __ldg(&of->chunks[piece >> of->log_pieces]);
    int vectors = min(max((int)chunk.y - (int)(within * WARP), 0), (int)WARP);
    return ((chunk.x << of->log_pieces) + within) << PIECE_BITS | (uint32_t)vectors;
}

HISTO_IN_KERNEL void load_pieces(const layout *l, uint32_t batch, int first, uint4 *x)
{
    const uint32_t padding = l->counters << 16 | l->counters;
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        uint32_t piece = __shfl_sync(~0u, batch, first + i);
        x[i] = make_uint4(padding, padding, padding, padding);
        if (threadIdx.x % WARP < (piece & ((1u << PIECE_BITS) - 1)))
            x[i] = __ldcs(&l->pool[(piece >> PIECE_BITS) * WARP + threadIdx.x % WARP]);
    }
}

HISTO_IN_KERNEL void count_pieces(uint32_t *counters, const uint4 *x)
{
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        const uint32_t words[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            atomicAdd(&counters[word_of(words[k] & 0xffff)], 1u);
            atomicAdd(&counters[word_of(words[k] >> 16)], 1u);
        }
    }
}

HISTO_IN_KERNEL void count_run(const layout *l, uint32_t *counters, const run *of)
{
    const uint32_t stride = COUNT_THREADS / WARP * BATCH;
    uint32_t first = threadIdx.x / WARP * BATCH, batch = look_up(of, first), next = look_up(of, first + stride);
    uint4 x[LOADED], y[LOADED];
    load_pieces(l, batch, 0, x);
    for (; first < of->pieces; first += stride) {
        load_pieces(l, batch, LOADED, y);
        count_pieces(counters, x);
        batch = next;
        next = look_up(of, first + 2 * stride);
        load_pieces(l, batch, 0, x);
        count_pieces(counters, y);
    }
}

HISTO_IN_KERNEL uint32_t take_counter(uint32_t *counters, uint32_t place)
{
    uint32_t n = counters[word_of(place)];
    counters[word_of(place)] = 0;
    return n;
}

/* Add to the counts of places `first` and every `stride` behind it, of a range that no other block adds to now. All
 * counts are loaded before any is stored. */
enum { AT_ONCE = 8 };

HISTO_IN_KERNEL void add_sums(const layout *l, uint32_t range, uint32_t first, uint32_t stride,
                              const unsigned long long *sum, unsigned long long *counts)
{
    unsigned long long before[AT_ONCE];
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        before[i] = sum[i] ? counts[slot_of(l, GROUP * range, first + i * stride)] : 0;
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        if (sum[i]) counts[slot_of(l, GROUP * range, first + i * stride)] = before[i] + sum[i];
}

HISTO_IN_KERNEL void add_range(const layout *l, uint32_t *counters, uint32_t range, unsigned long long *counts)
{
    for (uint32_t first = threadIdx.x; first < l->counters; first += AT_ONCE * COUNT_THREADS) {
        unsigned long long sum[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            uint32_t place = first + i * COUNT_THREADS;
            sum[i] = place < l->counters ? take_counter(counters, place) : 0;
        }
        add_sums(l, range, first, COUNT_THREADS, sum, counts);
    }
}

/* Each block counts chunks [begin, end) of those ordered. */
HISTO_IN_KERNEL uint32_t chunks_of_block(const layout *l, const uint32_t *starts)
{
    return (starts[l->ranges] + l->blocks - 1) / l->blocks;
}

/* counts: of the window's first slot. */
static __global__ void __launch_bounds__(COUNT_THREADS, 1)
    count(const __grid_constant__ layout l, unsigned long long *counts)
{
    extern __shared__ uint32_t starts[];
    uint32_t *counters = starts + MAX_RANGES + 1;
    for (uint32_t i = threadIdx.x; i <= l.ranges; i += COUNT_THREADS)
        starts[i] = l.starts[i];
    __syncthreads();
    uint32_t each = chunks_of_block(&l, starts), all = starts[l.ranges];
    uint32_t begin = min(all, each * blockIdx.x), end = min(all, begin + each);
    for (uint32_t i = threadIdx.x; i <= word_of(l.counters); i += COUNT_THREADS)
        counters[i] = 0;
    uint32_t range = 0;
    for (uint32_t n = l.ranges, half; n > 1; n -= half) {
        half = n / 2;
        range += starts[range + half] <= begin ? half : 0;
    }
    for (uint32_t at = begin, behind; at < end; at = behind, range++) {
        behind = min(end, starts[range + 1]);
        if (behind == at) continue;
        __syncthreads();
        const uint32_t log_pieces = l.log_chunk - 5; /* of 32 vectors */
        run its = {l.ordered + at, (behind - at) << log_pieces, log_pieces};
        count_run(&l, counters, &its);
        __syncthreads();
        bool began_before = starts[range] < begin;
        if (began_before || behind < starts[range + 1]) {
            uint32_t *row = l.rows + (size_t)(2 * blockIdx.x + !began_before) * l.counters;
            for (uint32_t place = threadIdx.x; place < l.counters; place += COUNT_THREADS)
                row[place] = take_counter(counters, place);
        } else {
            add_range(&l, counters, range, counts);
        }
        if (threadIdx.x == 0) counters[word_of(l.counters)] = 0;
    }
}

/* Blocks x add up the rows of range x, if several blocks counted it. */
static __global__ void __launch_bounds__(COUNT_THREADS)
    merge(const __grid_constant__ layout l, unsigned long long *counts)
{
    uint32_t range = blockIdx.x, begin = l.starts[range], end = l.starts[range + 1];
    if (begin == end) return;
    uint32_t each = chunks_of_block(&l, l.starts), first = begin / each, last = (end - 1) / each;
    if (first == last) return;
    for (uint32_t at = blockIdx.y * COUNT_THREADS + threadIdx.x; at < l.counters;
         at += AT_ONCE * MERGE_PARTS * COUNT_THREADS) {
        unsigned long long sum[AT_ONCE] = {};
        const uint32_t *row = l.rows + (size_t)(2 * first + 1) * l.counters;
        for (uint32_t block = first; block <= last; block++) {
#pragma unroll
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                uint32_t place = at + i * MERGE_PARTS * COUNT_THREADS;
                sum[i] += place < l.counters ? row[place] : 0;
            }
            row += (block == first ? 1 : 2) * (size_t)l.counters;
        }
        add_sums(&l, range, at, MERGE_PARTS * COUNT_THREADS, sum, counts);
    }
}

/* ---- The host's side ---- */

/* Offsets of the workspace. */
typedef struct workplace {
    layout l;
    int64_t slots, window, slice; /* counters of a batch entry; slots, samples taken at a time */
    int64_t tiles;                /* of a slice, at most */
    size_t deal_shared, count_shared, bytes, ordered, tags, used, chunks, rows;
} workplace;

static uint32_t counters_of(int64_t slots, uint32_t range_bits)
{
    int64_t groups = (slots + GROUP - 1) / GROUP;
    return (uint32_t)((groups + (1 << range_bits) - 1) >> range_bits) * GROUP;
}

/* Bytes of shared memory for the ranges of a block that deals out. */
static size_t deal_room(const histo_cuda_device *device)
{
    size_t each = device->shared_each / BLOCKS_EACH - HISTO_CUDA_BLOCK_RESERVE;
    if (each > device->shared_block) each = device->shared_block;
    return each - sizeof(table);
}

static uint32_t floor_log2(uint64_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

/* Buffers of the ranges, and what follows from their size. */
static void cut_buffers(layout *l, const histo_cuda_device *device)
{
    enum { STATE = 3 * sizeof(uint32_t), MAX_BUFFER = 2048, MAX_GRANULE = 128, LOG_POOL = 18 };
    uint32_t bytes = (uint32_t)(deal_room(device) / l->ranges) - STATE;
    bytes = bytes < MAX_BUFFER ? bytes : (uint32_t)MAX_BUFFER;
    l->granule = 1u << floor_log2(bytes / 3);
    if (l->granule > MAX_GRANULE) l->granule = MAX_GRANULE;
    l->buffer = bytes / l->granule * l->granule;
    uint32_t lanes = 4 * THREADS / l->ranges;
    l->log_lanes = floor_log2(lanes < 4 ? 4 : lanes > 16 ? 16 : lanes);
    uint32_t log_entries = LOG_POOL - l->range_bits;
    l->log_chunk = (log_entries < 8 ? 8 : log_entries > 11 ? 11 : log_entries) - floor_log2(VECTOR);
}

static size_t place_array(workplace *p, size_t bytes)
{
    size_t at = p->bytes;
    p->bytes += (bytes + 255) / 256 * 256;
    return at;
}

static workplace workplace_of(const histo_problem *problem, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(problem->device);
    enum { MIN_BUFFER = 64 };
    workplace p = {};
    p.slots = problem->slots + 1;
    uint32_t words = (uint32_t)(device->shared_block / sizeof(uint32_t)) - (MAX_RANGES + 1),
             most = UINT16_MAX / GROUP * GROUP;
    while (word_of(most) >= words)
        most -= GROUP;
    uint32_t max_bits = MAX_RANGE_BITS;
    while ((deal_room(device) >> max_bits) < MIN_BUFFER)
        max_bits--;
    p.l.range_bits = (uint32_t)params[RANGE_BITS];
    if (p.l.range_bits > max_bits) p.l.range_bits = max_bits;
    if (p.l.range_bits == 0)
        for (p.l.range_bits = MIN_RANGE_BITS; p.l.range_bits < max_bits && counters_of(p.slots, p.l.range_bits) > most;)
            p.l.range_bits++;
    p.l.ranges = 1u << p.l.range_bits;
    p.l.range_mask = (p.l.ranges - 1) * GROUP;
    p.window = (int64_t)most << p.l.range_bits;
    if (p.window > p.slots) p.window = p.slots;
    p.l.counters = counters_of(p.window, p.l.range_bits);
    cut_buffers(&p.l, device);
    p.deal_shared = p.l.ranges * (p.l.buffer + 3 * sizeof(uint32_t)) + sizeof(table);
    p.count_shared = (MAX_RANGES + 1 + word_of(p.l.counters) + 1) * sizeof(uint32_t);
    p.l.blocks = (uint32_t)device->multiprocessors;
    const int64_t dealers = (int64_t)BLOCKS_EACH * device->multiprocessors, least = MIN_TILE_SAMPLES;
    p.slice = problem->samples / problem->batch + 1;
    p.slice = p.slice < least ? least : p.slice < params[SLICE] ? p.slice : params[SLICE];
    p.tiles = p.slice / least + 1 < dealers ? p.slice / least + 1 : dealers;
    int64_t each = p.slice / dealers + 1, entries = VECTOR << p.l.log_chunk;
    each = (each < least ? least : each) + 128; /* tiles are rounded up */
    p.l.chunks_each = (uint32_t)((each + VECTOR * (int64_t)p.l.ranges) / entries + p.l.ranges + 1);
    size_t chunks = (size_t)p.tiles * p.l.chunks_each;
    place_array(&p, (chunks << p.l.log_chunk) * sizeof(uint4));
    p.ordered = place_array(&p, chunks * sizeof(uint2));
    p.tags = place_array(&p, chunks * sizeof(uint32_t));
    p.used = place_array(&p, (size_t)p.tiles * sizeof(uint32_t));
    p.chunks = place_array(&p, (3 * MAX_RANGES + 1) * sizeof(uint32_t));
    p.rows = place_array(&p, 2 * (size_t)p.l.blocks * p.l.counters * sizeof(uint32_t));
    return p;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    return problem->weighting != HISTO_UNWEIGHTED ? "it counts, but sums no weights" : NULL;
}

/* By bytes moved; clearing, adding and launching for each window of each slice. Of Zipf's samples: uniform ones are
 * a quarter faster, but nobody knows which will come. */
static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    static const int64_t defaults[HISTO_MAX_PARAMS] = {DEFAULT_SLICE};
    workplace place = workplace_of(p, defaults);
    double bytes = 4.7, windows = (double)((place.slots + place.window - 1) / place.window);
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    double each = bytes / 3e6;
    for (int a = 0; a < p->naxes; a++)
        if (p->lookups[a].edges && !p->lookups[a].table) each += 1 / 2.5e5; /* they are searched */
    double slices = (double)((p->samples - 1) / p->batch / place.slice + 1) * (double)p->batch;
    return slices * (40 * windows + (double)place.slots / 5e4) + windows * each * (double)p->samples;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    return workplace_of(problem, params).bytes;
}

static const void *deal_out_of(const histo_cuda_work *work, histo_joint *joint, uint32_t *samples)
{
    switch (histo_cuda_joint_of(work, joint)) {
#define CASE(reader)                                                                                                   \
    case histo_read_##reader:                                                                                          \
        *samples = HISTO_SAMPLES_##reader;                                                                             \
        return (const void *)deal_out_##reader;
        HISTO_JOINT_READERS(CASE)
#undef CASE
    default:
        break;
    }
    switch (histo_cuda_reader_of(work)) {
#define CASE(constant, reader)                                                                                         \
    case constant:                                                                                                     \
        *samples = HISTO_SAMPLES_##reader;                                                                             \
        return (const void *)deal_out_##reader;
        CASE(HISTO_U32, u32)
        CASE(HISTO_I32, i32)
        CASE(HISTO_F32, f32)
        CASE(HISTO_F64, f64)
#undef CASE
    default:
        *samples = HISTO_SAMPLES_any;
        return (const void *)deal_out_any;
    }
}

/* One window of a job within one batch entry. */
static histo_status count_window(const histo_job *job, const histo_cuda_work *work, const workplace *p, layout *l)
{
    unsigned long long *counts = work->counts + work->first_entry * work->counters + l->first;
    uint32_t samples;
    histo_joint joint;
    const void *deal_out = deal_out_of(work, &joint, &samples);
    l->steps = l->buffer / sizeof(uint16_t) / 2 * l->ranges / (THREADS * samples); /* to half fill the buffers */
    if (l->steps == 0) l->steps = 1;
    l->crowd = l->buffer + l->steps * THREADS * samples / CROWD * (uint32_t)sizeof(uint16_t);
    void *deal_args[] = {(void *)work, l, &joint}, *args[] = {l, &counts};
    dim3 tiles((unsigned)work->tiles);
    histo_status status =
        HISTO_CUDA(cudaMemsetAsync(l->chunks, 0, 2 * MAX_RANGES * sizeof *l->chunks, (cudaStream_t)job->stream),
                   "clearing counts");
    if (status == HISTO_OK) status = histo_cuda_launch(job, deal_out, tiles, THREADS, p->deal_shared, deal_args);
    if (status == HISTO_OK) status = histo_cuda_launch(job, (const void *)order, tiles, COUNT_THREADS, 0, args);
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, (const void *)count, dim3(l->blocks), COUNT_THREADS, p->count_shared, args);
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, (const void *)merge, dim3(l->ranges, MERGE_PARTS), COUNT_THREADS, 0, args);
    return status;
}

static histo_status launch(const histo_job *job)
{
    workplace p = workplace_of(job->problem, job->params);
    layout l = p.l;
    char *memory = (char *)job->workspace;
    l.pool = (uint4 *)memory;
    l.ordered = (uint2 *)(memory + p.ordered);
    l.tags = (uint32_t *)(memory + p.tags);
    l.used = (uint32_t *)(memory + p.used);
    l.chunks = (uint32_t *)(memory + p.chunks);
    l.taken = l.chunks + MAX_RANGES;
    l.starts = l.taken + MAX_RANGES;
    l.rows = (uint32_t *)(memory + p.rows);
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        int64_t entry_end = (piece.begin / job->iter.per_batch + 1) * job->iter.per_batch;
        piece.end = job->end < entry_end ? job->end : entry_end;
        if (piece.end - piece.begin > p.slice) piece.end = piece.begin + p.slice;
        histo_cuda_work work = histo_cuda_work_of(&piece, p.tiles, MIN_TILE_SAMPLES, p.slice);
        for (int64_t first = 0; first < p.slots && status == HISTO_OK; first += p.window) {
            l.first = (uint32_t)first;
            l.size = (uint32_t)(p.slots - first < p.window ? p.slots - first : p.window);
            status = count_window(&piece, &work, &p, &l);
        }
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_partition = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"slice", MIN_TILE_SAMPLES, 1 << 30, DEFAULT_SLICE,
                "samples taken at a time; the workspace holds two bytes for each"},
               {"range_bits", 0, MAX_RANGE_BITS, 0,
                "the logarithm of the number of ranges; 0: at least 32, as many as needed"}},
};
