/* What the kernels of lane_private share: the layout of a block's shared memory, the counters, and the lookups.
 *
 * A kernel is a template over a reader (where samples lie), a lookup (sample -> slot) and a counter (where it is
 * counted). Its instances are listed in the contiguous_*.cu and images_*.cu, a line for each type; a lookup more in
 * such a line is a kernel more. */
#ifndef CUDA_LANE_PRIVATE_LANE_CUH
#define CUDA_LANE_PRIVATE_LANE_CUH

#include "cuda/device/block.cuh"
#include "cuda/device/first_floats.cuh"

/* Lookups that kernels are made for. */
typedef enum lane_lookup {
    LANE_BY_VALUE,   /* 8-bit samples by their value */
    LANE_BY_POW2,    /* bins of 2^k integers */
    LANE_BY_FIXED,   /* 16-bit integers on other regular axes, in fixed point */
    LANE_BY_NEAREST, /* the edge nearest to a guess */
    LANE_BY_FIRSTS,  /* the first float of each bin */
    LANE_BY_LINEAR,  /* cells over the sample's value … */
    LANE_BY_BITS,    /* … and over its bits */
    LANE_BY_NEAR,    /* a guess, and stored edges */
    LANE_BY_ANY,     /* chosen at run time */
    LANE_LOOKUPS
} lane_lookup;

enum { LANE_VALUES = 256, LANE_WARP = 32 };

/* A block's shared memory: counters, and after them a table for the lookup. */
typedef struct lane_layout {
    uint32_t log_copies;
    bool spreads;   /* counters are spread over the banks of a copy, as many lanes share it */
    uint32_t words; /* of counters */
    uint32_t team;  /* blocks that count a tile together */
    uint32_t moved; /* slots from this one on have counters one higher: see lane_slot_counter */
    /* The only tile, of contiguous samples, if there is but one: working it out takes long. */
    const char *only;
    uint32_t length;
    int64_t entry;
} lane_layout;

/* By value twice as many warps are resident, as shared-memory atomics are the bound, so each thread loads half as much.
 */
constexpr int lane_vectors(lane_lookup lookup)
{
    return lookup == LANE_BY_VALUE ? 2 : 4;
}

/* Threads of a block, at most. Cells of eight samples at once take more registers. */
constexpr int lane_max_threads(lane_lookup lookup, size_t sample_bytes)
{
    return (lookup == LANE_BY_LINEAR || lookup == LANE_BY_BITS || lookup == LANE_BY_ANY) && sample_bytes < 8 ? 768
                                                                                                             : 1024;
}

/* Resident blocks of 1024 threads. */
#if defined __CUDA_ARCH__ &&                                                                                           \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
enum { LANE_FULL_BLOCKS = 2 };
#else
enum { LANE_FULL_BLOCKS = 1 };
#endif

/* ---- Counters ---- */

/* Up to so many copies are summed by a load, and cleared by the merge where anything was counted. More are all cleared
 * before a tile: where there are many, there are few counters. */
enum { LANE_FEW_LOG_COPIES = 2, LANE_FEW_COPIES = 1 << LANE_FEW_LOG_COPIES };

/* Clear a block's counters before a tile, if the merge of the last one has not; without a barrier. */
template <class counter>
HISTO_IN_KERNEL void lane_clear(unsigned int *shared, const lane_layout *l, bool is_first)
{
    if (!is_first && counter::log_copies(l) <= LANE_FEW_LOG_COPIES) return;
    for (uint32_t i = threadIdx.x; i < l->words / 4; i += blockDim.x)
        ((uint4 *)shared)[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x < l->words % 4) shared[l->words - 1 - threadIdx.x] = 0;
}

HISTO_IN_KERNEL unsigned int lane_sum(unsigned int x)
{
    return x;
}

HISTO_IN_KERNEL unsigned int lane_sum(uint2 x)
{
    return x.x + x.y;
}

HISTO_IN_KERNEL unsigned int lane_sum(uint4 x)
{
    return x.x + x.y + x.z + x.w;
}

/* The counters from `first` on, then those before it. copies: those of a counter. */
template <class counter, class copies>
HISTO_IN_KERNEL void lane_merge_few(unsigned int *shared, const lane_layout *l, const histo_cuda_work *w,
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
            sum[k] = its < counters ? lane_sum(*(const copies *)&shared[counter::word(l, at[k])]) : 0;
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
HISTO_IN_KERNEL void lane_merge_many(const unsigned int *shared, const lane_layout *l, const histo_cuda_work *w,
                                     unsigned long long *counts, uint32_t counters, uint32_t first, uint32_t log)
{
    enum { AT_ONCE = 2 /* vectors */ };
    const uint32_t lane = threadIdx.x % LANE_WARP, part = lane & ((1u << log) - 1);
    const uint32_t each = 1u << (counter::log_copies(l) - LANE_FEW_LOG_COPIES - log);
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
                const uint32_t vector = part + (((c + k + word / LANE_WARP) & (each - 1)) << log);
                if (k < each) sum += lane_sum(*(const uint4 *)&shared[word + vector * LANE_FEW_COPIES]);
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
HISTO_IN_KERNEL void lane_merge(unsigned int *shared, const lane_layout *l, const histo_cuda_work *w, int64_t entry)
{
    unsigned long long *counts = w->counts + entry * w->counters;
    const uint32_t counters = counter::counters(w);
    const uint32_t first = blockIdx.x * counters / gridDim.x;    /* 2^16 blocks, and fewer counters */
    uint32_t log = counter::log_copies(l) - LANE_FEW_LOG_COPIES; /* of the lanes for a counter of many copies */
    while ((int32_t)log > 0 && counters << log > blockDim.x)
        log--;
    __syncthreads();
    if (counter::log_copies(l) > LANE_FEW_LOG_COPIES)
        lane_merge_many<counter>(shared, l, w, counts, counters, first, log);
    else if (counter::log_copies(l) == 2)
        lane_merge_few<counter, uint4>(shared, l, w, counts, counters, first);
    else if (counter::log_copies(l) == 1)
        lane_merge_few<counter, uint2>(shared, l, w, counts, counters, first);
    else
        lane_merge_few<counter, unsigned int>(shared, l, w, counts, counters, first);
    __syncthreads();
}

/* A counter for each slot, in 2^log_copies copies over groups of lanes. A lookup may number the slots from l->moved on
 * one higher (lane_by_pow2); the merge moves them back. */
struct lane_slot_counter {
    enum { BLOCKS = 1 /* of a multiprocessor, for the launch bounds */ };
    unsigned int *copy; /* this lane's */
    const lane_layout *l;

    HISTO_MEMBER lane_slot_counter(unsigned int *shared, const lane_layout *layout)
        : copy(shared + (threadIdx.x & ((1u << layout->log_copies) - 1))), l(layout)
    {
    }

    static HISTO_MEMBER uint32_t counters(const histo_cuda_work *w) { return (uint32_t)w->counters; }
    static HISTO_MEMBER uint32_t log_copies(const lane_layout *l) { return l->log_copies; }
    static HISTO_MEMBER uint32_t word(const lane_layout *l, uint32_t counter)
    {
        return (l->spreads ? histo_spread(counter) : counter) << l->log_copies;
    }
    static HISTO_MEMBER uint32_t slot(const lane_layout *l, const histo_cuda_work *, uint32_t counter)
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
struct lane_value_counter {
    enum { BLOCKS = LANE_FULL_BLOCKS };
    unsigned int *copy;

    HISTO_MEMBER lane_value_counter(unsigned int *shared, const lane_layout *layout)
        : copy(shared + (threadIdx.x & ((1u << layout->log_copies) - 1)))
    {
    }

    static HISTO_MEMBER uint32_t counters(const histo_cuda_work *) { return LANE_VALUES; }
    static HISTO_MEMBER uint32_t log_copies(const lane_layout *) { return 5; }
    static HISTO_MEMBER uint32_t word(const lane_layout *, uint32_t value) { return value * LANE_WARP; }
    static HISTO_MEMBER uint32_t slot(const lane_layout *, const histo_cuda_work *w, uint32_t value)
    {
        return w->lookups[0].table[value];
    }

    HISTO_MEMBER void count_slot(uint32_t value) const { atomicAdd(&copy[value * LANE_WARP], 1u); }

    HISTO_MEMBER void count(const uint32_t *value, int n) const
    {
#pragma unroll
        for (int k = 0; k < n; k++)
            atomicAdd(&copy[value[k] * LANE_WARP], 1u);
    }
};

/* ---- Lookups ---- */

/* Each has
 *     ID                           in tables of kernels
 *     counter                      what it is counted by
 *     load(lookup, table)          copy into shared memory what it looks at; by all threads of the block
 *     slots(x, slot)               what the counter counts, of some samples at once
 *     slot(x)                      the slot of the histogram, of one sample */
template <histo_dtype type, lane_lookup id>
struct lane_lookup_of {
    using storage = histo_stored<type>;
    using counter = lane_slot_counter;
    enum { ID = id };
    const histo_cuda_work *w;
    const histo_lookup *l;
    const uint32_t *table;

    HISTO_MEMBER lane_lookup_of(const histo_cuda_work *work, const uint32_t *words)
        : w(work), l(&work->lookups[0]), table(words)
    {
    }
    static HISTO_MEMBER void load(const histo_lookup *, uint32_t *) {}
    HISTO_MEMBER uint32_t slot(storage x) const { return histo_any_lookup<type>(l).slot(x); }
};

/* 8-bit samples by their value. */
template <histo_dtype type>
struct lane_by_value : lane_lookup_of<type, LANE_BY_VALUE> {
    using lane_lookup_of<type, LANE_BY_VALUE>::lane_lookup_of;
    using counter = lane_value_counter;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = (uint8_t)x[k];
    }
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const
    {
        return (uint8_t)x;
    }
};

/* Bins of 2^k integers, by a shift. As histo_pow2_lookup, but the value at the end of a closed axis gets a counter of
 * its own (l->moved), before that of the values above, which the merge adds to the last bin. */
HISTO_IN_KERNEL uint32_t lane_shifted(const histo_lookup *l, uint32_t high, int32_t x)
{
    return ((uint32_t)min(max(x, (int32_t)l->pow2.low), (int32_t)high) - l->pow2.from) >> l->pow2.shift;
}

HISTO_IN_KERNEL uint32_t lane_shifted(const histo_lookup *l, uint32_t high, uint32_t x)
{
    return (min(max(x, l->pow2.low), high) - l->pow2.from) >> l->pow2.shift;
}

/* 64-bit integers as the nearest of 32 bits. */
HISTO_IN_KERNEL uint32_t lane_shifted(const histo_lookup *l, uint32_t high, int64_t x)
{
    int32_t narrow = (int32_t)x;
    return lane_shifted(l, high, x == narrow ? narrow : x < 0 ? INT32_MIN : INT32_MAX);
}

HISTO_IN_KERNEL uint32_t lane_shifted(const histo_lookup *l, uint32_t high, uint64_t x)
{
    return lane_shifted(l, high, x >> 32 ? UINT32_MAX : (uint32_t)x);
}

template <histo_dtype type>
struct lane_by_pow2 : lane_lookup_of<type, LANE_BY_POW2> {
    using lane_lookup_of<type, LANE_BY_POW2>::lane_lookup_of;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = lane_shifted(this->l, this->l->pow2.high + this->l->pow2.closed, x[k]);
    }
};

template <histo_dtype type>
struct lane_by_fixed : lane_lookup_of<type, LANE_BY_FIXED> {
    using lane_lookup_of<type, LANE_BY_FIXED>::lane_lookup_of;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_fixed_point_lookup<type>(&this->w->fixed).slots(x, slot);
    }
};

/* Regular axes. */
template <histo_dtype type>
struct lane_by_nearest : lane_lookup_of<type, LANE_BY_NEAREST> {
    using lane_lookup_of<type, LANE_BY_NEAREST>::lane_lookup_of;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_nearest_lookup<type>(this->l).slots(x, slot);
    }
};

/* Axes that are nearly regular. */
template <histo_dtype type>
struct lane_by_near : lane_lookup_of<type, LANE_BY_NEAR> {
    using lane_lookup_of<type, LANE_BY_NEAR>::lane_lookup_of;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_near_lookup<type>(this->l).slots(x, slot);
    }
};

/* f32 on axes that are regular on a curve (firsts.cuh). */
template <histo_dtype type>
struct lane_by_firsts : lane_lookup_of<type, LANE_BY_FIRSTS> {
    using lane_lookup_of<type, LANE_BY_FIRSTS>::lane_lookup_of;

    static HISTO_MEMBER void load(const histo_lookup *l, uint32_t *table) { histo_load_firsts(l, table); }
    template <int N>
    HISTO_MEMBER void slots(const float (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_slots_by_firsts(this->l, this->table, x, slot, N);
    }
};

/* Arbitrary edges, by cells over the sample's value or over its bits: the table is axis/cells.h, and histo_cells_lookup
 * in device/lookup.cuh looks it up. */
template <histo_dtype type, lane_lookup id>
struct lane_by_cells : lane_lookup_of<type, id> {
    using lane_lookup_of<type, id>::lane_lookup_of;

    static HISTO_MEMBER void load(const histo_lookup *l, uint32_t *table)
    {
        histo_copy_table(l->cells.entry, l->cells.words, table);
    }
    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_cells_lookup<type>(this->l, this->table, id == LANE_BY_BITS).slots(x, slot);
    }
};

template <histo_dtype type>
using lane_by_linear = lane_by_cells<type, LANE_BY_LINEAR>;
template <histo_dtype type>
using lane_by_bits = lane_by_cells<type, LANE_BY_BITS>;

/* Whichever way the axis has, chosen at run time. */
template <histo_dtype type>
struct lane_by_any : lane_lookup_of<type, LANE_BY_ANY> {
    using lane_lookup_of<type, LANE_BY_ANY>::lane_lookup_of;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_any_lookup<type>(this->l).slots(x, slot);
    }
};

#endif
