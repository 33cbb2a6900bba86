/* The partition pass with weights. In each step a block sorts its samples by range in shared memory: an atomic addition
 * to the range's rank gives a sample its place among those of its range, and a prefix sum the places of ranges. Then
 * neighbouring threads write neighbouring entries to the ranges' chunks. So nothing overflows, however the samples lie.
 */
#ifndef CUDA_WEIGHTED_SCATTER_CUH
#define CUDA_WEIGHTED_SCATTER_CUH

#include "cuda/device/warp.cuh"
#include "cuda/jit/specialised_lookup.cuh"
#include "cuda/strategies/weighted_partition/weighted_partition.cuh"

namespace histo::weighted_partition
{

enum : uint32_t { NO_KEY = 0xffffffffu };

/* Where the next entries of a thread's own ranges go. */
struct open_chunks {
    uint32_t place[OWN], room[OWN];
};

/* Where sample i of a sorted step is. Lanes whose copies of one rank hold equally many samples write to different
 * banks: with 32 copies and samples of one range, i is a multiple of STEP / WARP apart. */
HISTO_IN_KERNEL uint32_t word_of(uint32_t i)
{
    return i ^ i / (STEP / WARP);
}

/* Counts of ranks become the samples before them. By the whole block, between barriers. */
template <typename T>
HISTO_IN_KERNEL void sum_ranks(sorted_step<T> *s)
{
    enum { EACH = RANKS / THREADS };
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t count[EACH], own = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        count[i] = s->ranks[threadIdx.x * EACH + i];
        own += count[i];
    }
    const uint32_t sum = histo_warp_running_sum(own);
    if (lane == WARP - 1) s->warps[warp] = sum;
    __syncthreads();
    const uint32_t others = histo_warp_sum(lane < warp ? s->warps[lane] : 0);
    uint32_t before = others + sum - own;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        s->ranks[threadIdx.x * EACH + i] = before;
        before += count[i];
    }
    if (threadIdx.x == THREADS - 1) s->ranks[RANKS] = before;
    __syncthreads();
}

/* The rank of a sample among those of its counter; all of a warp take part. skewed: no copies keep lanes apart. */
template <typename T>
HISTO_IN_KERNEL uint32_t draw_rank(sorted_step<T> *s, uint32_t counter, bool is_there, bool skewed)
{
    if (skewed) {
        const uint32_t first = __shfl_sync(~0u, counter, 0);
        if (__all_sync(~0u, is_there && counter == first)) {
            uint32_t rank = 0;
            if (threadIdx.x % WARP == 0) rank = atomicAdd(&s->ranks[first], (uint32_t)WARP);
            return __shfl_sync(~0u, rank, 0) + threadIdx.x % WARP;
        }
    }
    return is_there ? atomicAdd(&s->ranks[counter], 1u) : 0;
}

/* Find room for the samples of the thread's own ranges. */
template <typename T>
HISTO_IN_KERNEL void place_ranges(const weighted_layout *l, sorted_step<T> *s, open_chunks *open)
{
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const uint32_t range = threadIdx.x + (uint32_t)i * THREADS;
        if (range >= l->ranges) break;
        const uint32_t begin = s->ranks[range << l->log_copies], end = s->ranks[(range + 1) << l->log_copies];
        const uint32_t n = end - begin, room = open->room[i];
        s->at[range] = open->place[i] - begin;
        s->limit[range] = begin + room;
        if (n <= room) {
            open->place[i] += n;
            open->room[i] -= n;
            continue;
        }
        const uint32_t chunks = (n - room + (1u << l->log_chunk) - 1) >> l->log_chunk;
        const uint32_t first = blockIdx.x * l->chunks_each + atomicAdd(&s->used, chunks);
        for (uint32_t c = first; c < first + chunks; c++)
            l->tags[c] = range << TAG_BITS | 1u << l->log_chunk;
        atomicAdd(&l->chunks[range], chunks);
        s->beyond[range] = (first << l->log_chunk) - begin - room;
        open->place[i] = (first << l->log_chunk) + n - room;
        open->room[i] = (chunks << l->log_chunk) + room - n;
    }
}

/* ---- Readers: the keys and weights of SAMPLES samples of a thread, from `at` of the tile on ---- */

/* One sample: its counter in the window, or NO_KEY. */
HISTO_IN_KERNEL uint32_t key_of(const histo_cuda_work *work, const weighted_layout *l, int64_t entry, uint32_t slot)
{
    const int64_t counter = entry * work->counters + slot;
    const bool is_in = slot < work->slots && (uint64_t)(counter - l->first) < l->size;
    return is_in ? (uint32_t)(counter - l->first) : (uint32_t)NO_KEY;
}

/* Of any layout: see device/any_step.cuh. */
struct any_layout {
    static HISTO_MEMBER auto tile(const histo_cuda_work *work, const histo_joint *, int64_t item)
    {
        return histo_tile_at(work, item);
    }

    static HISTO_MEMBER void load_tables(const histo_cuda_work *, const histo_joint *, uint32_t *) {}

    /* Gives how many of them mask and filter leave out. */
    template <typename T>
    static HISTO_MEMBER uint32_t load(const histo_cuda_work *work, const weighted_layout *l, const histo_joint *,
                                      const uint32_t *, const histo_tile *tile, uint32_t at, uint32_t (&key)[SAMPLES],
                                      T (&weight)[SAMPLES])
    {
        enum { N = HISTO_STEP_RUN };
        uint32_t left_out = 0;
#pragma unroll
        for (int k = 0; k < SAMPLES; k += N)
            left_out += load_some(work, l, tile, at + (uint32_t)k * THREADS, *(uint32_t(*)[N])(key + k),
                                  *(T(*)[N])(weight + k));
        return left_out;
    }

  private:
    template <typename T, int N>
    static HISTO_MEMBER uint32_t load_some(const histo_cuda_work *work, const weighted_layout *l,
                                           const histo_tile *tile, uint32_t at, uint32_t (&key)[N], T (&weight)[N])
    {
        uint32_t slot[N], left_out = 0;
        double its[N];
        histo_slots_of_step(work, tile, at, slot);
        const uint32_t inexact = histo_weights_of_step(work, tile, at, its);
#pragma unroll
        for (int k = 0; k < N; k++) {
            left_out += slot[k] == work->slots;
            key[k] = key_of(work, l, tile->entry, slot[k]);
            weight[k] = (T)its[k];
            if (inexact >> k & 1 && key[k] != NO_KEY) {
                add_alone(work, l->first + key[k], tile, histo_step_offset(work, at, k));
                key[k] = NO_KEY;
            }
        }
        return left_out;
    }

    /* A sample whose weight double does not hold. */
    static HISTO_MEMBER void add_alone(const histo_cuda_work *work, int64_t counter, const histo_tile *tile,
                                       uint32_t offset)
    {
        const histo_sample_place place = histo_sample_place_of(work, tile, offset);
        atomicAdd(&work->counts[counter], 1ull);
        weights::add_outside(work, counter, histo_any_weighted::weight(work, &place));
    }
};

/* In vectors: see specialised_reader.cuh. */
template <class READER>
struct in_vectors {
    static HISTO_MEMBER auto tile(const histo_cuda_work *work, const histo_joint *joint, int64_t item)
    {
        return READER::tile(work, joint, item);
    }

    static HISTO_MEMBER void load_tables(const histo_cuda_work *work, const histo_joint *joint, uint32_t *shared)
    {
        histo_tables_of<READER>::load(work, joint, shared);
    }

    template <class TILE, typename T>
    static HISTO_MEMBER uint32_t load(const histo_cuda_work *work, const weighted_layout *l, const histo_joint *joint,
                                      const uint32_t *shared, const TILE *tile, uint32_t at, uint32_t (&key)[SAMPLES],
                                      T (&weight)[SAMPLES])
    {
        enum { N = READER::PER_STEP };
        uint32_t left_out = 0;
        typename READER::loaded loaded[SAMPLES / N];
#pragma unroll
        for (int k = 0; k < SAMPLES; k += N)
            READER::load(work, joint, tile, at + (uint32_t)k * THREADS, &loaded[k / N]);
#pragma unroll
        for (int k = 0; k < SAMPLES; k += N) {
            uint32_t slot[N];
            typename READER::weight its[N];
            READER::weighted_slots(work, joint, shared, tile, at + (uint32_t)k * THREADS, &loaded[k / N], slot, its);
#pragma unroll
            for (int i = 0; i < N; i++) {
                left_out += slot[i] == work->slots;
                key[k + i] = take(work, l, tile->entry, slot[i], its[i]);
                weight[k + i] = (T)histo_to_compute<READER::weight_type>(its[i]);
            }
        }
        return left_out;
    }

  private:
    /* The key, or NO_KEY for a weight that double does not hold, which is added at once. */
    static HISTO_MEMBER uint32_t take(const histo_cuda_work *work, const weighted_layout *l, int64_t entry,
                                      uint32_t slot, typename READER::weight stored)
    {
        const uint32_t key = key_of(work, l, entry, slot);
        const auto weight = histo_to_compute<READER::weight_type>(stored);
        if (key == NO_KEY || weights::is_exact(weight, (double)weight)) return key;
        atomicAdd(&work->counts[l->first + key], 1ull);
        weights::add_value_outside<READER::weight_type>(work, l->first + key, stored);
        return NO_KEY;
    }
};

/* READER: any_layout or in_vectors; T: of the pool's weights. Samples outside the window stay for another pass. */
template <class READER, typename T>
static __global__ void __launch_bounds__(THREADS, BLOCKS_EACH)
    scatter(const __grid_constant__ histo_cuda_work work, const __grid_constant__ weighted_layout l,
            const __grid_constant__ histo_joint joint)
{
    extern __shared__ uint4 shared[];
    sorted_step<T> *const s = (sorted_step<T> *)shared;
    const uint32_t copies_mask = (1u << l.log_copies) - 1, in_range = (1u << l.log_size) - 1;
    open_chunks open = {};
    for (uint32_t i = threadIdx.x; i < RANKS; i += THREADS)
        s->ranks[i] = 0;
    if (threadIdx.x == 0) s->used = 0;
    READER::load_tables(&work, &joint, (uint32_t *)shared);
    __syncthreads();
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        if (l.done && l.done[item]) continue;
        const auto tile = READER::tile(&work, &joint, item);
        const int64_t entry = tile.entry * work.counters;
        uint32_t left_out = 0;
        for (uint32_t at = 0; at < tile.length; at += STEP) {
            uint32_t key[SAMPLES], rank[SAMPLES];
            T weight[SAMPLES];
            left_out += READER::load(&work, &l, &joint, (const uint32_t *)shared, &tile, at, key, weight);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                rank[k] = draw_rank(s, key[k] >> l.log_size << l.log_copies | (threadIdx.x & copies_mask),
                                    key[k] != NO_KEY, l.log_copies == 0);
            __syncthreads();
            sum_ranks(s);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++) {
                if (key[k] == NO_KEY) continue;
                const uint32_t range = key[k] >> l.log_size;
                const uint32_t i = word_of(s->ranks[range << l.log_copies | (threadIdx.x & copies_mask)] + rank[k]);
                s->slots[i] = (uint16_t)(key[k] & in_range);
                s->ranges[i] = (uint16_t)range;
                s->weights[i] = weight[k];
            }
            place_ranges(&l, s, &open);
            __syncthreads();
            const uint32_t all = s->ranks[RANKS];
            for (uint32_t i = threadIdx.x; i < RANKS; i += THREADS)
                s->ranks[i] = 0;
            for (uint32_t i = threadIdx.x; i < all; i += THREADS) {
                const uint32_t word = word_of(i), range = s->ranges[word];
                const uint32_t to = i + (i < s->limit[range] ? s->at[range] : s->beyond[range]);
                l.slots[to] = s->slots[word];
                ((T *)l.weights)[to] = s->weights[word];
            }
            __syncthreads();
        }
        left_out = histo_warp_sum(left_out);
        if (left_out && entry >= l.first && threadIdx.x % WARP == 0) /* once, in the entry's first window */
            atomicAdd(&work.counts[entry + work.slots], (unsigned long long)left_out);
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const uint32_t range = threadIdx.x + (uint32_t)i * THREADS;
        if (!open.room[i]) continue;
        l.tags[(open.place[i] - 1) >> l.log_chunk] = range << TAG_BITS | ((1u << l.log_chunk) - open.room[i]);
        for (uint32_t to = open.place[i]; to % GROUP; to++) { /* which is read, but not counted */
            l.slots[to] = 0;
            ((T *)l.weights)[to] = 0;
        }
    }
    if (threadIdx.x == 0) l.used[blockIdx.x] = s->used;
}

} // namespace histo::weighted_partition

#endif
