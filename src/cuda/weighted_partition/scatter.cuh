/* The partition pass with weights. In each step a block sorts its samples by range in shared memory: an atomic addition
 * to the range's rank gives a sample its place among those of its range, and a prefix sum the places of ranges. Then
 * neighbouring threads write neighbouring entries to the ranges' chunks. So nothing overflows, however the samples lie.
 */
#ifndef CUDA_WEIGHTED_PARTITION_SCATTER_CUH
#define CUDA_WEIGHTED_PARTITION_SCATTER_CUH

#include "cuda/device/warp.cuh"
#include "cuda/weighted_partition/layout.cuh"

namespace histo::weighted_partition
{

enum : uint32_t { NO_KEY = 0xffffffffu };

/* Where the next entries of a thread's own ranges go. */
struct open_chunks {
    uint32_t place[OWN], room[OWN];
};

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
    uint32_t sum = own;
#pragma unroll
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        const uint32_t before = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum += before;
    }
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
HISTO_IN_KERNEL void place_ranges(const layout *l, sorted_step<T> *s, open_chunks *open)
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

/* The counters in the window, or NO_KEY, and the weights of GROUP samples, from `first` of the tile on. Gives how many
 * of them mask and filter leave out. */
template <class READER, class TILE, typename T>
HISTO_IN_KERNEL uint32_t load_keys(const histo_cuda_work *work, const layout *l, const TILE *tile, uint32_t first,
                                   uint32_t *key, T *weight)
{
    typename READER::place place[READER::GROUP];
    uint32_t left_out = 0;
#pragma unroll
    for (int k = 0; k < READER::GROUP; k++) /* past the end of the tile, its last sample is read again */
        place[k] = READER::place_of(work, tile, min(first + (uint32_t)k * THREADS, tile->length - 1));
#pragma unroll
    for (int k = 0; k < READER::GROUP; k++) {
        const bool is_there = first + (uint32_t)k * THREADS < tile->length;
        const uint32_t slot = READER::slot(work, &place[k]);
        const int64_t counter = tile->entry * work->counters + slot;
        const bool is_in = is_there && slot != work->slots && (uint64_t)(counter - l->first) < l->size;
        double its = 0;
        key[k] = is_in ? (uint32_t)(counter - l->first) : NO_KEY;
        left_out += is_there && slot == work->slots;
        if (is_in && !weighted_private::load_weight<READER>(work, &place[k], &its)) {
            atomicAdd(&work->counts[counter], 1ull);
            weighted_private::add_outside(work, counter, READER::weight(work, &place[k]));
            key[k] = NO_KEY;
        }
        weight[k] = (T)its;
    }
    return left_out;
}

/* READER: see device/weight.cuh; T: of the pool's weights. Samples outside the window stay for another pass. */
template <class READER, typename T>
static __global__ void __launch_bounds__(THREADS, BLOCKS_EACH)
    scatter(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    extern __shared__ uint4 shared[];
    sorted_step<T> *const s = (sorted_step<T> *)shared;
    const uint32_t copies_mask = (1u << l.log_copies) - 1, in_range = (1u << l.log_size) - 1;
    open_chunks open = {};
    for (uint32_t i = threadIdx.x; i < RANKS; i += THREADS)
        s->ranks[i] = 0;
    if (threadIdx.x == 0) s->used = 0;
    __syncthreads();
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, item);
        const int64_t entry = tile.entry * work.counters;
        uint32_t left_out = 0;
        for (uint32_t at = 0; at < tile.length; at += STEP) {
            uint32_t key[SAMPLES], rank[SAMPLES];
            T weight[SAMPLES];
#pragma unroll
            for (int k = 0; k < SAMPLES; k += READER::GROUP)
                left_out +=
                    load_keys<READER>(&work, &l, &tile, at + (uint32_t)k * THREADS + threadIdx.x, key + k, weight + k);
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
                const uint32_t i = s->ranks[range << l.log_copies | (threadIdx.x & copies_mask)] + rank[k];
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
                const uint32_t range = s->ranges[i], to = i + (i < s->limit[range] ? s->at[range] : s->beyond[range]);
                l.slots[to] = s->slots[i];
                ((T *)l.weights)[to] = s->weights[i];
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
        if (open.room[i])
            l.tags[(open.place[i] - 1) >> l.log_chunk] = range << TAG_BITS | ((1u << l.log_chunk) - open.room[i]);
    }
    if (threadIdx.x == 0) l.used[blockIdx.x] = s->used;
}

} // namespace histo::weighted_partition

#endif
