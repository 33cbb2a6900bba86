/* A block's packed counters in shared memory, for the kernels of strategies: packed_counters.h has the
 * arithmetic.
 *
 * A block counts a bin_tile: a range of slots of one batch entry. The last word may have counters that are not the
 * bin_tile's. They may be carried into, but get nothing of what is due, and are not merged. */
#ifndef PAPERS_STRATEGIES_PACKED_COUNTERS_CUH
#define PAPERS_STRATEGIES_PACKED_COUNTERS_CUH

#include "cuda/device/tile.cuh"
#include "papers/strategies/packed_counters.h"

typedef struct histo_packed_bins {
    uint32_t first, size;       /* slots */
    unsigned long long *counts; /* of the first, in the histogram */
} histo_packed_bins;

enum { HISTO_PACKED_FEW = 8 };

/* Tile `number` of a region of a batch entry's slots. */
HISTO_IN_KERNEL histo_packed_bins histo_packed_bins_at(const histo_cuda_work *w, const histo_packed_block *b,
                                                       const histo_counter_range *region, int64_t entry,
                                                       uint32_t number)
{
    histo_counter_range tile = histo_counter_tile(number, b->size, region->size);
    uint32_t first = region->first + tile.first;
    histo_packed_bins bin_tile = {first, tile.size, w->counts + entry * w->counters + first};
    return bin_tile;
}

HISTO_IN_KERNEL void histo_packed_clear(uint32_t *shared, const histo_packed_block *b)
{
    for (uint32_t i = threadIdx.x; i < b->stride * b->copies; i += blockDim.x)
        shared[i] = 0;
    __syncthreads();
}

/* Counter `at` of the bin_tile was full, its word `old`: add what is due to the histogram. tally: NULL, or two counters
 * of overflows, and of the neighbours that their carries wrapped. */
HISTO_IN_KERNEL void histo_packed_correct(const histo_packing *p, const histo_packed_bins *bin_tile, uint32_t at,
                                          uint32_t old, unsigned long long *tally)
{
    uint32_t shift = histo_packed_shift(p, at);
    if (tally) atomicAdd(&tally[0], 1ull);
#pragma unroll 1
    for (uint32_t other = shift; other < 32 && at < bin_tile->size; other += p->bits, at++) {
        int32_t due = histo_packed_due(p, old, shift, other);
        if (due == 0) break;
        atomicAdd(&bin_tile->counts[at], (unsigned long long)(long long)due);
        if (tally && other != shift && due > 0) atomicAdd(&tally[1], 1ull);
    }
}

/* How samples say where they are counted: by their slots … */
struct histo_packed_slots {
    const histo_packing *p;
    const histo_packed_bins *bin_tile;
    HISTO_MEMBER bool is_there(uint32_t slot) const { return slot - bin_tile->first < bin_tile->size; }
    HISTO_MEMBER uint32_t word(uint32_t slot) const { return histo_packed_word(p, slot - bin_tile->first); }
    HISTO_MEMBER uint32_t shift(uint32_t slot) const { return histo_packed_shift(p, slot - bin_tile->first); }
    HISTO_MEMBER uint32_t at(uint32_t slot) const { return slot - bin_tile->first; }
};

/* Count those of n <= 8 samples that are the bin_tile's. All additions come first, so that none waits for another's
 * answer; of what they answer, overflows are rare. */
template <typename places>
HISTO_IN_KERNEL void histo_packed_count_few(uint32_t *mine, const histo_packing *p, const histo_packed_bins *bin_tile,
                                            const places &of, const uint32_t *sample, int n, unsigned long long *tally)
{
    uint32_t old[HISTO_PACKED_FEW], overflows = 0;
#pragma unroll
    for (int k = 0; k < n; k++) {
        old[k] = 0;
        if (of.is_there(sample[k])) old[k] = atomicAdd(&mine[of.word(sample[k])], 1u << of.shift(sample[k]));
    }
#pragma unroll
    for (int k = 0; k < n; k++)
        overflows |= (uint32_t)histo_packed_overflows(p, old[k], of.shift(sample[k])) << k;
    for (; overflows; overflows &= overflows - 1) {
        int which = __ffs((int)overflows) - 1;
        uint32_t its_sample = 0, its_old = 0;
#pragma unroll
        for (int k = 0; k < n; k++) { /* keeps the arrays in registers */
            its_sample = k == which ? sample[k] : its_sample;
            its_old = k == which ? old[k] : its_old;
        }
        histo_packed_correct(p, bin_tile, of.at(its_sample), its_old, tally);
    }
}

/* Count n samples of a thread, a few at a time; n is known when compiling. */
template <typename places>
HISTO_IN_KERNEL void histo_packed_count(uint32_t *mine, const histo_packing *p, const histo_packed_bins *bin_tile,
                                        const places &of, const uint32_t *sample, int n, unsigned long long *tally)
{
#pragma unroll
    for (int k = 0; k < n; k += HISTO_PACKED_FEW)
        histo_packed_count_few(mine, p, bin_tile, of, sample + k,
                               n - k < HISTO_PACKED_FEW ? n - k : (int)HISTO_PACKED_FEW, tally);
}

/* Add the counters to the histogram, neighbouring threads to neighbours, or write them to a row of the bin_tile's. */
HISTO_IN_KERNEL void histo_packed_merge(const uint32_t *shared, const histo_packed_block *b,
                                        const histo_packed_bins *bin_tile, unsigned int *row)
{
    __syncthreads();
    for (uint32_t at = threadIdx.x; at < bin_tile->size; at += blockDim.x) {
        const uint32_t *word = shared + histo_packed_word(&b->packing, at);
        uint32_t shift = histo_packed_shift(&b->packing, at), sum = 0;
        for (uint32_t c = 0; c < b->copies; c++)
            sum += histo_packed_value(&b->packing, word[c * b->stride], shift);
        if (row)
            row[at] = sum;
        else if (sum)
            atomicAdd(&bin_tile->counts[at], (unsigned long long)sum);
    }
    __syncthreads();
}

#endif
