/* The partition pass. A block keeps a buffer for each range in shared memory; an atomic addition to the range's cursor
 * gives a sample its place. Every few steps the block flushes the granules that are full to chunks of the pool in
 * device memory, of which each tile has a part of its own.
 *
 * Skewed samples would pile up in one range. So these are counted at once, in a hash table of hot slots in shared
 * memory: slots that many samples of a warp have, runs, and samples whose buffer is full. What finds no place there is
 * added to the histogram. Where a range gets far more than its buffer holds, the slots of the steps that follow are
 * looked up in the table before they are scattered. */
#ifndef CUDA_PARTITION_SCATTER_CUH
#define CUDA_PARTITION_SCATTER_CUH

#include "cuda/device/warp.cuh"
#include "cuda/jit/specialised_lookup.cuh"
#include "cuda/strategies/partition/partition.cuh"

namespace histo::partition
{

enum { MAX_SAMPLES = 8 /* of a thread, scattered at a time */ };
enum { ALL_LEFT, SOME_LEFT, NONE_LEFT };
enum : uint32_t { NO_PLACE = 0xffffffffu };

/* Where the samples of a block go. */
struct range_buffers {
    const partition_layout *l;
    char *buffers;     /* of the ranges; then, of each range: */
    uint32_t *cursors; /* bytes in the buffer; more than it has if some found no place */
    uint32_t *places;  /* where in the pool the next vector goes */
    uint32_t *rooms;   /* vectors left there */
    hot_table *hot;
    unsigned long long *counts; /* of the window's first slot, in the histogram */

    static HISTO_MEMBER range_buffers begin(const partition_layout *l, void *shared, unsigned long long *counts)
    {
        range_buffers b;
        b.l = l;
        b.buffers = (char *)shared;
        b.cursors = (uint32_t *)(b.buffers + l->ranges * l->buffer);
        b.places = b.cursors + l->ranges;
        b.rooms = b.places + l->ranges;
        b.hot = (hot_table *)(b.rooms + l->ranges);
        b.counts = counts;
        for (uint32_t i = threadIdx.x; i < l->ranges; i += THREADS)
            b.cursors[i] = b.rooms[i] = 0;
        for (uint32_t i = threadIdx.x; i < HOT_SLOTS; i += THREADS) {
            b.hot->slots[i] = HISTO_NO_SLOT;
            b.hot->counts[i] = 0;
        }
        if (threadIdx.x == 0) b.hot->used = b.hot->crowded = b.hot->known = 0;
        __syncthreads();
        return b;
    }

    /* ---- Hot slots ---- */

    HISTO_MEMBER void count_hot(uint32_t slot, uint32_t n) const
    {
        uint32_t at = hot_table::place(slot), there = hot->slots[at];
        if (there == HISTO_NO_SLOT) there = atomicCAS(&hot->slots[at], HISTO_NO_SLOT, slot);
        if (there == HISTO_NO_SLOT || there == slot)
            atomicAdd(&hot->counts[at], n);
        else
            atomicAdd(&counts[slot], (unsigned long long)n);
    }

    /* Between barriers: add the table to the histogram. Slots that got something stay, with a count of zero. until:
     * where the next steps end. */
    HISTO_MEMBER void flush_hot(uint32_t until) const
    {
        if (threadIdx.x == 0 && hot->known) {
            atomicMax(&hot->crowded, until);
            hot->known = 0;
        }
        for (uint32_t i = threadIdx.x; i < HOT_SLOTS; i += THREADS) {
            uint32_t slot = hot->slots[i], n = hot->counts[i];
            if (slot == HISTO_NO_SLOT) continue;
            hot->counts[i] = 0;
            if (n)
                atomicAdd(&counts[slot], (unsigned long long)n);
            else
                hot->slots[i] = HISTO_NO_SLOT;
        }
    }

    /* Lanes whose next n samples are equal, as in sorted data, count them if most lanes do. */
    HISTO_MEMBER void remove_runs(uint32_t *slot, int n) const
    {
        bool alike = slot[0] != HISTO_NO_SLOT;
#pragma unroll
        for (int k = 1; k < n; k++)
            alike &= slot[k] == slot[0];
        if (__popc(__ballot_sync(~0u, alike)) < WARP / 2 || !alike) return;
        count_hot(slot[0], (uint32_t)n);
#pragma unroll
        for (int k = 0; k < n; k++)
            slot[k] = HISTO_NO_SLOT;
    }

    /* By whole warps, n samples a lane. If many lanes begin with the slot of lane 0, count and remove the slots that a
     * large part of the samples has (a constant, two or a few values), or runs. */
    HISTO_MEMBER int remove_frequent(uint32_t *slot, int n) const
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
            uint32_t all = histo_warp_sum(own);
            if (all < (uint32_t)n * PART) break;
#pragma unroll
            for (int k = 0; k < n; k++) {
                if (slot[k] == candidate) slot[k] = HISTO_NO_SLOT;
                next = min(next, slot[k]);
            }
            if (threadIdx.x % WARP == 0) count_hot(candidate, all);
            uint32_t with = __ballot_sync(~0u, next != HISTO_NO_SLOT);
            if (!with) return NONE_LEFT;
            candidate = __shfl_sync(~0u, next, __ffs((int)with) - 1);
        }
        remove_runs(slot, n / 2);
        remove_runs(slot + n / 2, n / 2);
        return SOME_LEFT;
    }

    /* Count and remove those that are in the table; if each lane has one, the next steps look there, too. */
    HISTO_MEMBER void remove_known(uint32_t *slot, int n) const
    {
        uint32_t there[MAX_SAMPLES];
        bool found = false;
#pragma unroll
        for (int k = 0; k < n; k++)
            there[k] = hot->slots[hot_table::place(slot[k])];
#pragma unroll
        for (int k = 0; k < n; k++)
            if (there[k] == slot[k] && slot[k] != HISTO_NO_SLOT) {
                atomicAdd(&hot->counts[hot_table::place(slot[k])], 1u);
                slot[k] = HISTO_NO_SLOT;
                found = true;
            }
        if (__all_sync(~0u, found) && threadIdx.x % WARP == 0) atomicOr(&hot->known, 1u);
    }

    /* ---- Scattering. Ranges are GROUP * the range, so that an offset is a shift less ---- */

    /* Draw a place in the range's buffer. */
    HISTO_MEMBER uint32_t draw(uint32_t range) const
    {
        return atomicAdd((uint32_t *)((char *)cursors + range * sizeof(uint32_t) / GROUP), (uint32_t)sizeof(uint16_t));
    }

    HISTO_MEMBER void put(uint32_t slot, uint32_t range, uint32_t cursor) const
    {
        *(uint16_t *)(buffers + range * (l->buffer / GROUP) + cursor) = (uint16_t)offset_of(l, slot);
    }

    /* Put those that have a place in their buffer, and count the others. Most of these are of a few slots, which are in
     * the table already: so all are looked up there side by side. */
    HISTO_MEMBER void put_some(uint32_t *slot, const uint32_t *range, const uint32_t *cursor, int n) const
    {
        uint32_t there[MAX_SAMPLES], others = 0;
#pragma unroll
        for (int k = 0; k < n; k++) {
            if (cursor[k] < l->buffer) {
                put(slot[k], range[k], cursor[k]);
                slot[k] = HISTO_NO_SLOT;
            }
            there[k] = hot->slots[hot_table::place(slot[k])];
        }
#pragma unroll
        for (int k = 0; k < n; k++)
            if (slot[k] != HISTO_NO_SLOT) {
                if (there[k] == slot[k])
                    atomicAdd(&hot->counts[hot_table::place(slot[k])], 1u);
                else
                    others |= 1u << k;
            }
        if (others)
#pragma unroll
            for (int k = 0; k < n; k++)
                if (others >> k & 1) count_hot(slot[k], 1);
    }

    /* Scatter n slots of each thread of a warp, those that are not HISTO_NO_SLOT. crowded: they are looked up in the
     * table first. */
    HISTO_MEMBER void scatter(uint32_t *slot, int n, bool all_there, bool crowded) const
    {
        uint32_t range[MAX_SAMPLES], cursor[MAX_SAMPLES], highest = 0;
        int left = remove_frequent(slot, n);
        if (left == NONE_LEFT) return;
        all_there = all_there && left == ALL_LEFT && !crowded;
        if (crowded) remove_known(slot, n);
#pragma unroll
        for (int k = 0; k < n; k++)
            range[k] = range_of(l, slot[k]);
        if (all_there) {
#pragma unroll
            for (int k = 0; k < n; k++)
                cursor[k] = draw(range[k]);
        } else {
#pragma unroll
            for (int k = 0; k < n; k++)
                cursor[k] = slot[k] == HISTO_NO_SLOT ? (uint32_t)NO_PLACE : draw(range[k]);
        }
#pragma unroll
        for (int k = 0; k < n; k++)
            highest = max(highest, cursor[k] + 1); /* 0 for none */
        if (__any_sync(~0u, highest > l->buffer)) {
            put_some(slot, range, cursor, n);
        } else if (all_there) {
#pragma unroll
            for (int k = 0; k < n; k++)
                put(slot[k], range[k], cursor[k]);
        } else {
#pragma unroll
            for (int k = 0; k < n; k++)
                if (cursor[k] != NO_PLACE) put(slot[k], range[k], cursor[k]);
        }
    }

    /* ---- Flushing ---- */

    /* A chunk more for a range; its number in the pool. */
    HISTO_MEMBER uint32_t new_chunk(uint32_t range) const
    {
        uint32_t chunk = blockIdx.x * l->chunks_each + atomicAdd(&hot->used, 1u);
        atomicAdd(&l->chunks[range], 1u);
        l->tags[chunk] = range << TAG_BITS | 1u << l->log_chunk;
        return chunk;
    }

    /* Between barriers: write the granules that are full, and begin the buffers with what is left. A buffer is no
     * longer than a chunk, so that at most one chunk begins. until: where the next steps end. */
    HISTO_MEMBER void flush(uint32_t until) const
    {
        const uint32_t lanes = 1u << l->log_lanes, lane = threadIdx.x & (lanes - 1),
                       leader = threadIdx.x % WARP & ~(lanes - 1);
        const uint32_t team = ((1u << lanes) - 1) << leader;
#pragma unroll 1
        for (uint32_t range = threadIdx.x >> l->log_lanes; range < l->ranges; range += THREADS >> l->log_lanes) {
            uint32_t drawn = cursors[range], bytes = min(drawn, l->buffer),
                     full = bytes == l->buffer ? bytes : bytes & ~(l->granule - 1);
            if (full == 0) continue;
            if (drawn >= l->crowd) atomicMax(&hot->crowded, until);
            uint4 *buffer = (uint4 *)(buffers + range * l->buffer);
            uint32_t vectors = full / sizeof(uint4), room = rooms[range], place = places[range], next = 0;
            bool begins = vectors > room;
            if (begins) {
                if (lane == 0) next = (new_chunk(range) << l->log_chunk) - room;
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
                cursors[range] = bytes - full;
                places[range] = (begins ? next : place) + vectors;
                rooms[range] = room - vectors + (begins ? 1u << l->log_chunk : 0);
            }
        }
    }

    /* Write what is left, padded to whole vectors. */
    HISTO_MEMBER void flush_rest() const
    {
        for (uint32_t range = threadIdx.x; range < l->ranges; range += THREADS) {
            uint32_t entries = cursors[range] / sizeof(uint16_t), vectors = (entries + VECTOR - 1) / VECTOR;
            uint32_t place = places[range], room = rooms[range];
            uint16_t *buffer = (uint16_t *)(buffers + range * l->buffer);
            for (uint32_t i = entries; i < vectors * VECTOR; i++)
                buffer[i] = (uint16_t)l->counters;
            for (uint32_t v = 0; v < vectors; v++, room--) {
                if (room == 0) {
                    place = new_chunk(range) << l->log_chunk;
                    room = 1u << l->log_chunk;
                }
                l->pool[place++] = ((const uint4 *)buffer)[v];
            }
            if (room) l->tags[(place - 1) >> l->log_chunk] = range << TAG_BITS | ((1u << l->log_chunk) - room);
        }
    }
};

/* A reader of device/reader.cuh with the interface of readers of several axes: nothing is loaded ahead. */
template <class READER>
struct unjoined {
    enum { PER_STEP = READER::PER_STEP };

    struct loaded {
        bool ready; /* all samples of the step are in the tile */
    };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *work, const histo_joint *, int64_t item)
    {
        return READER::tile(work, item);
    }

    static HISTO_MEMBER void load(const histo_cuda_work *, const histo_joint *, const histo_tile *tile, uint32_t at,
                                  loaded *next)
    {
        next->ready = at + THREADS * PER_STEP <= tile->length;
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *work, const histo_joint *joint, const uint32_t *,
                                   const histo_tile *tile, uint32_t at, loaded *next, uint32_t (&slot)[PER_STEP])
    {
        bool ready = next->ready;
        READER::slots(work, tile, at, slot);
        load(work, joint, tile, at + THREADS * PER_STEP, next);
        return ready;
    }
};

/* Block x scatters tile x. READER: see several_axes.cuh, or unjoined. */
template <class READER>
static __global__ void __launch_bounds__(THREADS, BLOCKS_EACH)
    scatter(const __grid_constant__ histo_cuda_work work, const __grid_constant__ partition_layout l,
            const __grid_constant__ histo_joint joint)
{
    enum { N = READER::PER_STEP, PART = histo_part_of_step(N) };
    static_assert((int)PART <= (int)MAX_SAMPLES, "scattered at a time");
    extern __shared__ uint4 shared[];
    uint32_t *const words = (uint32_t *)shared;
    histo_tables_of<READER>::load(&work, &joint, words);
    const auto tile = READER::tile(&work, &joint, blockIdx.x);
    const range_buffers buffers = range_buffers::begin(&l, shared, work.counts + tile.entry * work.counters + l.first);
    typename READER::loaded loaded;
    if (tile.length) READER::load(&work, &joint, &tile, 0, &loaded);
    for (uint32_t at = 0; at < tile.length;) {
        bool crowded = at < buffers.hot->crowded;
        for (uint32_t s = 0; s < l.steps && at < tile.length; s++) {
            uint32_t slot[N];
            bool all_there = READER::slots(&work, &joint, words, &tile, at, &loaded, slot) && l.size == work.counters;
            if (!all_there)
#pragma unroll
                for (int k = 0; k < N; k++)
                    slot[k] = slot[k] - l.first < l.size ? slot[k] - l.first : HISTO_NO_SLOT;
#pragma unroll 1
            for (int part = 0; part < N; part += PART) {
                buffers.scatter(slot, PART, all_there, crowded);
#pragma unroll
                for (int k = PART; k < N; k++)
                    slot[k - PART] = slot[k];
            }
            at += THREADS * N;
        }
        __syncthreads();
        buffers.flush(at + l.steps * THREADS * N);
        buffers.flush_hot(at + l.steps * THREADS * N);
        __syncthreads();
    }
    buffers.flush_rest();
    __syncthreads();
    if (threadIdx.x == 0) l.used[blockIdx.x] = buffers.hot->used;
}

} // namespace histo::partition

#endif
