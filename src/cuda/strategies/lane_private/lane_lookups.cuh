/* The lookups of lane_private: from samples to counters. */
#ifndef CUDA_LANE_LOOKUPS_CUH
#define CUDA_LANE_LOOKUPS_CUH

#include "cuda/device/first_floats.cuh"
#include "cuda/strategies/lane_private/lane_counters.cuh"

namespace histo::lane_private
{

/* Lookups that kernels are made for. */
typedef enum lookup_kind {
    BY_VALUE,        /* 8-bit samples by their value */
    BY_POW2,         /* bins of 2^k integers */
    BY_FIXED_POINT,  /* 16-bit integers on other regular axes, in fixed point */
    BY_NEAREST,      /* the edge nearest to a guess */
    BY_FIRST_FLOATS, /* the first float of each bin */
    BY_LINEAR,       /* cells over the sample's value … */
    BY_BITS,         /* … and over its bits */
    BY_NEAR,         /* a guess, and stored edges */
    BY_ANY,          /* chosen at run time */
    LOOKUP_KINDS
} lookup_kind;

/* By value twice as many warps are resident, as shared-memory atomics are the bound, so each thread loads half as much.
 */
constexpr int vectors_of_step(lookup_kind lookup)
{
    return lookup == BY_VALUE ? 2 : 4;
}

/* Threads of a block, at most. Cells of eight samples at once take more registers. */
constexpr int max_threads_of(lookup_kind lookup, size_t sample_bytes)
{
    return (lookup == BY_LINEAR || lookup == BY_BITS || lookup == BY_ANY) && sample_bytes < 8 ? 768 : 1024;
}

/* Each has
 *     ID                           in tables of kernels
 *     counter                      what it is counted by
 *     load(lookup, table)          copy into shared memory what it looks at; by all threads of the block
 *     slots(x, slot)               what the counter counts, of some samples at once
 *     slot(x)                      the slot of the histogram, of one sample */
template <histo_dtype type, lookup_kind id>
struct lookup_base {
    using storage = histo_stored<type>;
    using counter = slot_counter;
    enum { ID = id };
    const histo_cuda_work *w;
    const histo_lookup *l;
    const uint32_t *table;

    HISTO_MEMBER lookup_base(const histo_cuda_work *work, const uint32_t *words)
        : w(work), l(&work->lookups[0]), table(words)
    {
    }
    static HISTO_MEMBER void load(const histo_lookup *, uint32_t *) {}
    HISTO_MEMBER uint32_t slot(storage x) const { return histo_any_lookup<type>(l).slot(x); }
};

/* 8-bit samples by their value. */
template <histo_dtype type>
struct by_value : lookup_base<type, BY_VALUE> {
    using lookup_base<type, BY_VALUE>::lookup_base;
    using counter = value_counter;

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
HISTO_IN_KERNEL uint32_t shifted(const histo_lookup *l, uint32_t high, int32_t x)
{
    return ((uint32_t)min(max(x, (int32_t)l->pow2.low), (int32_t)high) - l->pow2.from) >> l->pow2.shift;
}

HISTO_IN_KERNEL uint32_t shifted(const histo_lookup *l, uint32_t high, uint32_t x)
{
    return (min(max(x, l->pow2.low), high) - l->pow2.from) >> l->pow2.shift;
}

/* 64-bit integers as the nearest of 32 bits. */
HISTO_IN_KERNEL uint32_t shifted(const histo_lookup *l, uint32_t high, int64_t x)
{
    int32_t narrow = (int32_t)x;
    return shifted(l, high, x == narrow ? narrow : x < 0 ? INT32_MIN : INT32_MAX);
}

HISTO_IN_KERNEL uint32_t shifted(const histo_lookup *l, uint32_t high, uint64_t x)
{
    return shifted(l, high, x >> 32 ? UINT32_MAX : (uint32_t)x);
}

template <histo_dtype type>
struct by_pow2 : lookup_base<type, BY_POW2> {
    using lookup_base<type, BY_POW2>::lookup_base;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = shifted(this->l, this->l->pow2.high + this->l->pow2.closed, x[k]);
    }
};

template <histo_dtype type>
struct by_fixed_point : lookup_base<type, BY_FIXED_POINT> {
    using lookup_base<type, BY_FIXED_POINT>::lookup_base;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_fixed_point_lookup<type>(&this->w->fixed).slots(x, slot);
    }
};

/* f32 on axes that are regular on a curve (first_floats.cuh). */
template <histo_dtype type>
struct by_first_floats : lookup_base<type, BY_FIRST_FLOATS> {
    using lookup_base<type, BY_FIRST_FLOATS>::lookup_base;

    static HISTO_MEMBER void load(const histo_lookup *l, uint32_t *table) { histo_load_first_floats(l, table); }
    template <int N>
    HISTO_MEMBER void slots(const float (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_slots_by_first_floats(this->l, this->table, x, slot, N);
    }
};

/* Arbitrary edges, by cells over the sample's value or over its bits: the table is axis/cells.h, and histo_cells_lookup
 * in device/lookup.cuh looks it up. */
template <histo_dtype type, lookup_kind id>
struct by_cells : lookup_base<type, id> {
    using lookup_base<type, id>::lookup_base;

    static HISTO_MEMBER void load(const histo_lookup *l, uint32_t *table)
    {
        histo_copy_table(l->cells.entry, l->cells.words, table);
    }
    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        histo_cells_lookup<type>(this->l, this->table, id == BY_BITS).slots(x, slot);
    }
};

template <histo_dtype type>
using by_linear = by_cells<type, BY_LINEAR>;
template <histo_dtype type>
using by_bits = by_cells<type, BY_BITS>;

/* The ways of device/lookup.cuh. */
template <histo_dtype type, lookup_kind id, template <histo_dtype> class way>
struct by_way : lookup_base<type, id> {
    using lookup_base<type, id>::lookup_base;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        way<type>(this->l).slots(x, slot);
    }
};

template <histo_dtype type>
using by_nearest = by_way<type, BY_NEAREST, histo_nearest_lookup>; /* regular axes */
template <histo_dtype type>
using by_near = by_way<type, BY_NEAR, histo_near_lookup>; /* axes that are nearly regular */
template <histo_dtype type>
using by_any = by_way<type, BY_ANY, histo_any_lookup>; /* whichever way the axis has, chosen at run time */

} // namespace histo::lane_private

#endif
