/* Adding up rows of nodes, in shared memory.
 *
 * A warp reads a word of each lane: the bins of several features of one row, of 32 / lanes rows. At each step every
 * lane takes another bin of its word, in an order that differs between rows, so that no two lanes have the same
 * feature. Since the words of a feature have a bank of shared memory of their own, the additions of a step never
 * conflict, whatever the bins are. Where a bin's row of 32 words is too much for shared memory, it is narrower, and
 * rows share banks.
 *
 * A weight is added in two words of 32 bits, its low bits and the others: so many rows can be added before a sum
 * overflows that a block seldom has more. Then, and after each node, sums of 64 bits in global memory get them.
 *
 * All positions of the list, for all groups of features, are divided evenly among blocks. */
#ifndef CUDA_NODES_NODE_SUMS_CUH
#define CUDA_NODES_NODE_SUMS_CUH

#include "cuda/nodes/node_work.h"

enum { NODE_WARP = 32, WIDE_BYTES = 4 * HISTO_NODE_SLOTS };

typedef struct node_row {
    uint32_t bins; /* one word */
    int32_t weight[2];
    uint32_t one; /* 0: there is no row */
} node_row;

template <int LIST>
__device__ __forceinline__ uint32_t node_row_at(const histo_node_work &w, int64_t position)
{
    if (LIST == 0) return (uint32_t)position;
    if (LIST == 1) return __ldcs((const uint32_t *)w.list + position);
    const char *at = w.list + position * w.list_stride;
    uint64_t row = 0;
    if ((uintptr_t)at % 8 == 0 && w.list_wide)
        row = *(const uint64_t *)at;
    else if ((uintptr_t)at % 4 == 0 && !w.list_wide)
        row = *(const uint32_t *)at;
    else
        memcpy(&row, at, w.list_wide ? 8 : 4);
    return row < w.rows ? (uint32_t)row : UINT32_MAX;
}

/* Read a row, without branches: loads of several rows are then in flight at once. There is a row 0. */
template <int PAIR>
__device__ __forceinline__ node_row node_load(const histo_node_work &w, const uint32_t *tile, uint32_t lanes,
                                              uint32_t row, bool exists)
{
    node_row to;
    exists = exists && row < w.rows;
    row = exists ? row : 0;
    to.bins = tile[(uint64_t)row * lanes];
    if (PAIR == 2) {
        const int2 both = ((const int2 *)w.weights)[row];
        to.weight[0] = both.x;
        to.weight[1] = both.y;
    } else {
        to.weight[0] = w.weights[row];
        to.weight[1] = 0;
    }
    to.one = exists;
    return to;
}

/* Add to a word in shared memory; the plan decides whether. */
__device__ __forceinline__ void node_add_word(uint32_t at, uint32_t value)
{
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(value));
}

/* Add rows begin … end - 1 of the list. */
template <int BYTES, int LIST, bool WIDE, int PAIR, int WORDS, int ROWS>
__device__ __forceinline__ void node_add_rows(const histo_node_work &w, const histo_node_group &g, uint32_t shared,
                                              int64_t begin, int64_t end)
{
    enum { EACH = 4 / BYTES };
    const uint32_t lane = threadIdx.x % NODE_WARP, warp = threadIdx.x / NODE_WARP, warps = blockDim.x / NODE_WARP;
    const uint32_t lanes = (uint32_t)g.lanes, mine = lane % lanes, r = lane / lanes, rows = NODE_WARP / lanes;
    const uint32_t width = WIDE ? WIDE_BYTES : (uint32_t)g.width * 4, row_bytes = width * HISTO_NODE_WORDS;
    const uint32_t copies = (uint32_t)(g.width / g.slots), copy = r / EACH % copies;
    uint32_t base[EACH], select[EACH];
#pragma unroll
    for (uint32_t j = 0; j < EACH; j++) {
        const uint32_t k = (j + r) % EACH;
        base[j] = shared + (copy * (uint32_t)g.slots + mine * EACH + k) * 4;
        select[j] = BYTES == 1 ? 0x4440 + k : k ? 0x4432 : 0x4410;
    }
    const bool high = WORDS < 0 ? w.low_bits < 32 : WORDS & 2, counts = WORDS < 0 ? w.counts : WORDS & 1;
    const uint32_t *tile = g.tile + mine;
    const int32_t shift = high ? w.low_bits : 31;
    const uint32_t low = high ? (1u << shift) - 1 : UINT32_MAX;
    const int64_t step = warps * (rows * ROWS);
    bool stray = false;
    uint32_t next[ROWS]; /* read ahead, since what they are of is read after them */
    int64_t at = begin + warp * (rows * ROWS) + r;
#pragma unroll
    for (int u = 0; u < ROWS; u++)
        next[u] = at + u * rows < end ? node_row_at<LIST>(w, at + u * rows) : 0;
    for (; at - r < end; at += step) {
        node_row row[ROWS];
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            row[u] = node_load<PAIR>(w, tile, lanes, next[u], at + u * rows < end);
            if (LIST) stray |= next[u] >= w.rows;
        }
#pragma unroll
        for (int u = 0; u < ROWS; u++)
            next[u] = at + step + u * rows < end ? node_row_at<LIST>(w, at + step + u * rows) : 0;
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            const int32_t exists = -(int32_t)row[u].one, weight0 = row[u].weight[0] & exists,
                          weight1 = row[u].weight[1] & exists;
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const uint32_t to = base[j] + __byte_perm(row[u].bins, 0, select[j]) * row_bytes;
                if (counts) node_add_word(to, row[u].one);
                node_add_word(to + width, (uint32_t)weight0 & low);
                if (high) node_add_word(to + 2 * width, (uint32_t)(weight0 >> shift));
                if (PAIR == 2) {
                    node_add_word(to + 3 * width, (uint32_t)weight1 & low);
                    if (high) node_add_word(to + 4 * width, (uint32_t)(weight1 >> shift));
                }
            }
        }
    }
    if (LIST && stray && mine == 0) *w.stray = 1;
}

/* Add the words to the sums of a node, and clear them. */
__device__ __forceinline__ void node_flush(const histo_node_work &w, const histo_node_group &g, uint32_t *words,
                                           int64_t node)
{
    const int copies = g.width / g.slots, n = g.bins * g.slots;
    const bool high = w.low_bits < 32;
    const long long scale = high ? 1ll << w.low_bits : 0;
    unsigned long long *sums = w.sums + node * w.numbers * w.words + g.base;
    /* Blocks begin in different places: they finish at about the same time. */
    const int turn = (int)((uint64_t)blockIdx.x * (uint32_t)n / gridDim.x) / NODE_WARP * NODE_WARP;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int it = i + turn < n ? i + turn : i + turn - n;
        uint32_t *from = words + (it / g.slots) * g.width * HISTO_NODE_WORDS + it % g.slots;
        long long sum[HISTO_NODE_WORDS] = {};
        for (int c = 0; c < copies; c++, from += g.slots)
#pragma unroll
            for (int k = 0; k < HISTO_NODE_WORDS; k++) {
                const uint32_t word = from[k * g.width];
                const bool is_signed = k && (k % 2 == 0 || !high);
                sum[k] += is_signed ? (long long)(int32_t)word : (long long)word;
                from[k * g.width] = 0;
            }
        const long long first = sum[1] + sum[2] * scale, second = sum[3] + sum[4] * scale;
        if (sum[0]) atomicAdd(&sums[it], (unsigned long long)sum[0]);
        if (first) atomicAdd(&sums[w.first * w.words + it], (unsigned long long)first);
        if (second) atomicAdd(&sums[(w.first + 1) * w.words + it], (unsigned long long)second);
    }
}

__device__ __forceinline__ int64_t node_listed(const histo_node_work &w)
{
    if (!w.offsets) return w.listed;
    const int64_t end = w.offsets[w.nodes];
    return end < 0 ? 0 : end < w.listed ? end : w.listed;
}

/* The node that has this position of the list; `nodes` if none does. */
__device__ __forceinline__ int64_t node_of(const histo_node_work &w, int64_t position)
{
    if (!w.offsets) return 0;
    int64_t from = 0, to = w.nodes; /* the first node that ends later */
    while (from < to) {
        const int64_t middle = (from + to) / 2;
        if (w.offsets[middle + 1] > position)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* Add up positions begin … end - 1 of the list, of one group. */
template <int BYTES, int LIST, bool WIDE, int PAIR, int WORDS, int ROWS>
__device__ __forceinline__ void node_add_nodes(const histo_node_work &w, const histo_node_group &g, uint32_t *words,
                                               int64_t begin, int64_t end)
{
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(words);
    for (int64_t node = node_of(w, begin); node < w.nodes && begin < end;) {
        int64_t stop = w.offsets && w.offsets[node + 1] < end ? w.offsets[node + 1] : end;
        if (stop <= begin) {
            node++;
            continue;
        }
        if (stop - begin > w.most_rows) stop = begin + w.most_rows;
        node_add_rows<BYTES, LIST, WIDE, PAIR, WORDS, ROWS>(w, g, shared, begin, stop);
        __syncthreads();
        node_flush(w, g, words, node);
        __syncthreads();
        begin = stop;
    }
}

template <int BYTES, int LIST, bool WIDE, int PAIR, int WORDS, int ROWS>
__global__ void __launch_bounds__(HISTO_NODE_THREADS, 1) node_add_list(const __grid_constant__ histo_node_work w)
{
    extern __shared__ uint32_t words[];
    const int64_t listed = node_listed(w), all = listed * w.lanes;
    int64_t share = (all + gridDim.x - 1) / gridDim.x;
    if (share < w.least_rows * w.lanes) share = w.least_rows * w.lanes;
    int64_t at = blockIdx.x * share;
    const int64_t end = at + share < all ? at + share : all;
    if (at >= end) return;
    for (uint32_t i = threadIdx.x; i < w.shared_words; i += blockDim.x)
        words[i] = 0;
    __syncthreads();
    for (int k = 0; k < w.group_count && at < end; k++) {
        const histo_node_group g = w.groups[k];
        const int64_t first = g.before * listed, last = (g.before + g.lanes) * listed;
        if (last <= at) continue;
        const int64_t begin = (at - first) / g.lanes, stop = last < end ? listed : (end - first) / g.lanes;
        if (g.width) node_add_nodes<BYTES, LIST, WIDE, PAIR, WORDS, ROWS>(w, g, words, begin, stop);
        at = last;
    }
}

#endif
