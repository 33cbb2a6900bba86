/* What the kernels of lane_private share: the layout of a block's shared memory, the counters, and their merge.
 *
 * A kernel is a template over a reader (where samples lie), a lookup (sample -> slot; lane_lookups.cuh) and a counter
 * (where it is counted). Its instances are listed in lane_contiguous_*.cu and lane_images_*.cu, a line for each type; a
 * lookup more in such a line is a kernel more. */
#ifndef CUDA_LANE_COUNTERS_CUH
#define CUDA_LANE_COUNTERS_CUH

#include "cuda/device/block_tile.cuh"

namespace histo::lane_private
{

enum { VALUES = 256, WARP = 32 };

/* A block's shared memory: counters, and after them a table for the lookup. */
typedef struct counter_layout {
    uint32_t log_copies;
    bool spreads;   /* counters are spread over the banks of a copy, as many lanes share it */
    uint32_t words; /* of counters */
    uint32_t team;  /* blocks that count a tile together */
    uint32_t moved; /* slots from this one on have counters one higher: see slot_counter */
    /* The only tile, of contiguous samples, if there is but one: working it out takes long. */
    const char *only;
    uint32_t length;
    int64_t entry;
} counter_layout;

/* Resident blocks of 1024 threads. */
#if defined __CUDA_ARCH__ &&                                                                                           \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
enum { FULL_BLOCKS = 2 };
#else
enum { FULL_BLOCKS = 1 };
#endif

/* ---- Counters ---- */

/* Up to so many copies are summed by a load, and cleared by the merge where anything was counted. More are all cleared
 * before a tile: where there are many, there are few counters. */
enum { FEW_LOG_COPIES = 2, FEW_COPIES = 1 << FEW_LOG_COPIES };

/* Clear a block's counters before a tile, if the merge of the last one has not; without a barrier. */
template <class counter>
HISTO_IN_KERNEL void clear_counters(unsigned int *shared, const counter_layout *l, bool is_first)
{
    if (!is_first && counter::log_copies(l) <= FEW_LOG_COPIES) return;
    for (uint32_t i = threadIdx.x; i < l->words / 4; i += blockDim.x)
        ((uint4 *)shared)[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x < l->words % 4) shared[l->words - 1 - threadIdx.x] = 0;
}

HISTO_IN_KERNEL unsigned int sum_of(unsigned int x)
{
    return x;
}

HISTO_IN_KERNEL unsigned int sum_of(uint2 x)
{
    return x.x + x.y;
}

HISTO_IN_KERNEL unsigned int sum_of(uint4 x)
{
    return x.x + x.y + x.z + x.w;
}

/* The counters from `first` on, then those before it. copies: those of a counter. */
template <class counter, class copies>
HISTO_IN_KERNEL void merge_few(unsigned int *shared, const counter_layout *l, const histo_cuda_work *w,
                               unsigned long long *counts, uint32_t counters, uint32_t first)
{
    enum { AT_ONCE = 4 /* counters of a thread */ };
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < counters; i += AT_ONCE * blockDim.x) {
        uint32_t at[AT_ONCE];
        unsigned int sum[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint32_t its = i + k * blockDim.x, from = its + first;
            at[k] = from < counters ? from : from - counters;
            sum[k] = its < counters ? sum_of(*(const copies *)&shared[counter::word(l, at[k])]) : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++)
            if (sum[k]) {
                *(copies *)&shared[counter::word(l, at[k])] = copies{};
                atomicAdd(&counts[counter::slot(l, w, at[k])], (unsigned long long)sum[k]);
            }
    }
}

/* 2^log lanes sum the copies of a counter, by vectors. Lanes that sum neighbouring counters start with different
 * copies, and so in different banks. */
template <class counter>
HISTO_IN_KERNEL void merge_many(const unsigned int *shared, const counter_layout *l, const histo_cuda_work *w,
                                unsigned long long *counts, uint32_t counters, uint32_t first, uint32_t log)
{
    enum { AT_ONCE = 2 /* vectors */ };
    const uint32_t lane = threadIdx.x % WARP, part = lane & ((1u << log) - 1);
    const uint32_t each = 1u << (counter::log_copies(l) - FEW_LOG_COPIES - log);
#pragma unroll 1
    for (uint32_t i = (threadIdx.x - lane) >> log; i < counters; i += blockDim.x >> log) { /* of a warp's first lane */
        const uint32_t mine = i + (lane >> log), from = mine + first;
        const uint32_t at = from < counters ? from : from - counters, word = counter::word(l, at);
        const bool exists = mine < counters;
        unsigned int sum = 0;
#pragma unroll 1
        for (uint32_t c = 0; exists && c < each; c += AT_ONCE)
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++) {
                const uint32_t vector = part + (((c + k + word / WARP) & (each - 1)) << log);
                if (k < each) sum += sum_of(*(const uint4 *)&shared[word + vector * FEW_COPIES]);
            }
#pragma unroll 1
        for (uint32_t distance = 1u << log >> 1; distance; distance >>= 1)
            sum += __shfl_xor_sync(~0u, sum, distance);
        if (sum && exists && part == 0) atomicAdd(&counts[counter::slot(l, w, at)], (unsigned long long)sum);
    }
}

/* Add the block's counters to the histogram of a batch entry; blocks start at different counters.
 *
 * No barrier depends on a condition, though the last one is needed only if the block counts on: the compiler would no
 * longer keep in uniform registers what all threads share, and loops over samples would spill others. */
template <class counter>
HISTO_IN_KERNEL void merge_counters(unsigned int *shared, const counter_layout *l, const histo_cuda_work *w,
                                    int64_t entry)
{
    unsigned long long *counts = w->counts + entry * w->counters;
    const uint32_t counters = counter::counters(w);
    const uint32_t first = blockIdx.x * counters / gridDim.x; /* 2^16 blocks, and fewer counters */
    uint32_t log = counter::log_copies(l) - FEW_LOG_COPIES;   /* of the lanes for a counter of many copies */
    while ((int32_t)log > 0 && counters << log > blockDim.x)
        log--;
    __syncthreads();
    if (counter::log_copies(l) > FEW_LOG_COPIES)
        merge_many<counter>(shared, l, w, counts, counters, first, log);
    else if (counter::log_copies(l) == 2)
        merge_few<counter, uint4>(shared, l, w, counts, counters, first);
    else if (counter::log_copies(l) == 1)
        merge_few<counter, uint2>(shared, l, w, counts, counters, first);
    else
        merge_few<counter, unsigned int>(shared, l, w, counts, counters, first);
    __syncthreads();
}

/* A counter for each slot, in 2^log_copies copies over groups of lanes. A lookup may number the slots from l->moved on
 * one higher (by_pow2); the merge moves them back. */
struct slot_counter {
    enum { BLOCKS = 1 /* of a multiprocessor, for the launch bounds */ };
    unsigned int *copy; /* this lane's */
    const counter_layout *l;

    HISTO_MEMBER slot_counter(unsigned int *shared, const counter_layout *layout)
        : copy(shared + (threadIdx.x & ((1u << layout->log_copies) - 1))), l(layout)
    {
    }

    static HISTO_MEMBER uint32_t counters(const histo_cuda_work *w) { return (uint32_t)w->counters; }
    static HISTO_MEMBER uint32_t log_copies(const counter_layout *l) { return l->log_copies; }
    static HISTO_MEMBER uint32_t word(const counter_layout *l, uint32_t counter)
    {
        return (l->spreads ? histo_spread(counter) : counter) << l->log_copies;
    }
    static HISTO_MEMBER uint32_t slot(const counter_layout *l, const histo_cuda_work *, uint32_t counter)
    {
        return counter >= l->moved ? counter - 1 : counter;
    }

    /* A slot of the histogram. */
    HISTO_MEMBER void count_slot(uint32_t slot) const
    {
        atomicAdd(&copy[word(l, slot < l->moved ? slot : slot + 1)], 1u);
    }

    /* What a reader of slots gave for a sample. */
    HISTO_MEMBER void count(uint32_t slot) const { atomicAdd(&copy[word(l, slot)], 1u); }

    /* What a lookup gave for n samples. */
    HISTO_MEMBER void count(const uint32_t *counter, int n) const
    {
        if (l->spreads)
#pragma unroll
            for (int k = 0; k < n; k++)
                count_at(histo_spread(counter[k]));
        else
#pragma unroll
            for (int k = 0; k < n; k++)
                count_at(counter[k]);
    }

  private:
    /* By its offset in bytes, which takes a single shift. */
    HISTO_MEMBER void count_at(uint32_t index) const
    {
        atomicAdd((unsigned int *)((char *)copy + (index << (l->log_copies + 2))), 1u);
    }
};

/* A counter for each value of a byte, of which each lane has a copy. The merge turns values into slots. */
struct value_counter {
    enum { BLOCKS = FULL_BLOCKS };
    unsigned int *copy;

    HISTO_MEMBER value_counter(unsigned int *shared, const counter_layout *layout)
        : copy(shared + (threadIdx.x & ((1u << layout->log_copies) - 1)))
    {
    }

    static HISTO_MEMBER uint32_t counters(const histo_cuda_work *) { return VALUES; }
    static HISTO_MEMBER uint32_t log_copies(const counter_layout *) { return 5; }
    static HISTO_MEMBER uint32_t word(const counter_layout *, uint32_t value) { return value * WARP; }
    static HISTO_MEMBER uint32_t slot(const counter_layout *, const histo_cuda_work *w, uint32_t value)
    {
        return w->lookups[0].table[value];
    }

    HISTO_MEMBER void count_slot(uint32_t value) const { atomicAdd(&copy[value * WARP], 1u); }

    HISTO_MEMBER void count(const uint32_t *value, int n) const
    {
#pragma unroll
        for (int k = 0; k < n; k++)
            atomicAdd(&copy[value[k] * WARP], 1u);
    }
};

} // namespace histo::lane_private

#endif
