/* Lookups: the slot of a sample on one axis. A lookup is a small struct over a sample type with
 *
 *     uint32_t slot(storage x) const                                        the slot of one sample
 *     void slots(const storage (&x)[N], uint32_t (&slot)[N]) const          the slots of several at once
 *
 * and all of them give what axis/slot_of.h gives, to the bit. histo_any_lookup chooses at run time; kernels that are
 * made for one way name it. */
#ifndef CUDA_DEVICE_LOOKUP_CUH
#define CUDA_DEVICE_LOOKUP_CUH

#include "cuda/device/dtype.cuh"
#include "cuda/device/work.h"

/* ---- axis/slot_of.h, by the compute type: double, int64_t or uint64_t ---- */

template <typename x, typename y>
constexpr bool histo_are_same = false;
template <typename x>
constexpr bool histo_are_same<x, x> = true;

template <typename compute>
HISTO_IN_KERNEL bool histo_less(compute x, double edge)
{
    if constexpr (histo_are_same<compute, int64_t>) return histo_less_i64(x, edge);
    if constexpr (histo_are_same<compute, uint64_t>) return histo_less_u64(x, edge);
    return histo_less_f64(x, edge);
}

template <typename compute>
HISTO_IN_KERNEL bool histo_above(compute x, double edge)
{
    if constexpr (histo_are_same<compute, int64_t>) return histo_above_i64(x, edge);
    if constexpr (histo_are_same<compute, uint64_t>) return histo_above_u64(x, edge);
    return histo_above_f64(x, edge);
}

template <typename compute>
HISTO_IN_KERNEL bool histo_is_over(const histo_lookup *l, compute x)
{
    if constexpr (histo_are_same<compute, int64_t>) return histo_is_over_i64(l, x);
    if constexpr (histo_are_same<compute, uint64_t>) return histo_is_over_u64(l, x);
    return histo_is_over_f64(l, x);
}

template <typename compute>
HISTO_IN_KERNEL uint32_t histo_search(const histo_lookup *l, compute x)
{
    if constexpr (histo_are_same<compute, int64_t>) return histo_slot_i64(l, x);
    if constexpr (histo_are_same<compute, uint64_t>) return histo_slot_u64(l, x);
    return histo_slot_f64(l, x);
}

/* x < edge of a 64-bit integer, d being (double)x: since rounding keeps the order, only a large x that was rounded to
 * the edge has to be compared as an integer, which takes two slow conversions. */
template <typename integer>
HISTO_IN_KERNEL bool histo_less_rounded(integer x, double d, double edge)
{
    return d == edge && fabs(d) >= 0x1p53 ? histo_less(x, edge) : d < edge;
}

/* The edge, or the next one. Guesses for samples far from the axis are meaningless and unused, and may overflow. */
HISTO_IN_KERNEL int32_t histo_next_if(int32_t edge, bool reaches)
{
    return (int32_t)((uint32_t)edge + reaches);
}

template <typename integer>
HISTO_IN_KERNEL uint32_t histo_nearest_of_integer(const histo_lookup *l, integer x)
{
    const double round = 0x1.8p52, d = (double)x, sum = (d - l->lo) * l->per_step + round;
    const int32_t n = l->bins;
    int32_t slot = histo_next_if(__double2loint(sum), !histo_less_rounded(x, d, l->lo + (sum - round) * l->step));
    slot = min(max(slot, 1), n);
    if (!histo_less_rounded(x, d, l->hi)) slot = l->closed && d == l->hi && !histo_above(x, l->hi) ? n : n + 1;
    return (uint32_t)(histo_less_rounded(x, d, l->lo) ? 0 : slot);
}

/* As histo_nearest_f64, with the comparisons of the axis' ends in float. */
HISTO_IN_KERNEL uint32_t histo_nearest_of_float(const histo_lookup *l, float x)
{
    const double round = 0x1.8p52;
    double d = (double)x, sum = (d - l->lo) * l->per_step + round;
    int32_t n = l->bins, slot = histo_next_if(__double2loint(sum), d >= l->lo + (sum - round) * l->step);
    slot = min(max(slot, 1), n);
    slot = x >= l->over_f32 ? n + 1 : slot;
    slot = x < l->first_f32 ? 0 : slot;
    return (uint32_t)(x != x ? n + 2 : slot);
}

template <typename native>
HISTO_IN_KERNEL uint32_t histo_nearest(const histo_lookup *l, native x)
{
    if constexpr (histo_are_same<native, float>)
        return histo_nearest_of_float(l, x);
    else if constexpr (histo_are_same<native, double>)
        return histo_nearest_f64(l, x);
    else
        return histo_nearest_of_integer(l, x);
}

template <typename native>
HISTO_IN_KERNEL uint32_t histo_position(const histo_cells *c, bool by_bits, native x)
{
    if constexpr (histo_are_same<native, float>) return histo_position_f32(c, by_bits, x);
    return histo_position_f64(c, by_bits, (double)x);
}

template <typename native>
HISTO_IN_KERNEL bool histo_is_below(const histo_lookup *l, native x)
{
    if constexpr (histo_are_same<native, float>) return x < l->first_f32;
    return histo_less(x, l->lo);
}

/* ---- Bins of 2^k integers each: one shift (histo_pow2) ---- */

HISTO_IN_KERNEL uint32_t histo_slot_by_shift(const histo_lookup *l, int32_t x)
{
    int32_t cut = min(max(x, (int32_t)l->pow2.low), (int32_t)l->pow2.high);
    uint32_t slot = ((uint32_t)cut - l->pow2.from) >> l->pow2.shift;
    return l->pow2.closed && x == (int32_t)l->pow2.high ? (uint32_t)l->bins : slot;
}

HISTO_IN_KERNEL uint32_t histo_slot_by_shift(const histo_lookup *l, uint32_t x)
{
    uint32_t slot = (min(max(x, l->pow2.low), l->pow2.high) - l->pow2.from) >> l->pow2.shift;
    return l->pow2.closed && x == l->pow2.high ? (uint32_t)l->bins : slot;
}

/* Lookups that take the samples one by one. */
template <typename lookup, typename storage>
struct histo_one_by_one {
    template <int N>
    HISTO_MEMBER void slots(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            slot[i] = static_cast<const lookup *>(this)->slot(x[i]);
    }
};

template <histo_dtype type>
struct histo_pow2_lookup : histo_one_by_one<histo_pow2_lookup<type>, histo_stored<type>> {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_pow2_lookup(const histo_lookup *lookup) : l(lookup) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const
    {
        const bool is_signed = (histo_stored<type>)-1 < (histo_stored<type>)1;
        return is_signed ? histo_slot_by_shift(l, (int32_t)x) : histo_slot_by_shift(l, (uint32_t)x);
    }
};

/* ---- Integers of at most 16 bits in fixed point ---- */

template <histo_dtype type>
struct histo_fixed_point_lookup : histo_one_by_one<histo_fixed_point_lookup<type>, histo_stored<type>> {
    const histo_fixed_point *f;
    HISTO_MEMBER explicit histo_fixed_point_lookup(const histo_fixed_point *fixed) : f(fixed) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const { return histo_slot_by_fixed_point(f, (int32_t)x); }
};

template <histo_dtype type>
struct histo_closed_point_lookup : histo_one_by_one<histo_closed_point_lookup<type>, histo_stored<type>> {
    const histo_fixed_point *f;
    HISTO_MEMBER explicit histo_closed_point_lookup(const histo_fixed_point *fixed) : f(fixed) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const { return histo_slot_by_closed_point(f, (int32_t)x); }
};

/* ---- A linear function: 16-bit floats on bins of equal width (histo_affine) ---- */

HISTO_IN_KERNEL float histo_fma_rounded_down(float x, float scale, float offset)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rd(x, scale, offset);
#else /* tests on the host: the sum of doubles rounds less than one of floats */
    return floorf((float)((double)x * scale + offset));
#endif
}

/* Clamping takes NaN to 0 first. */
template <histo_dtype type>
struct histo_affine_lookup : histo_one_by_one<histo_affine_lookup<type>, histo_stored<type>> {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_affine_lookup(const histo_lookup *lookup) : l(lookup) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> stored) const
    {
        const float x = histo_to_native<type>(stored), above = (float)(l->bins + 1);
        const float at = fminf(fmaxf(histo_fma_rounded_down(x, l->affine.scale, l->affine.offset), 0.0f), above);
        return x != x ? (uint32_t)l->bins + 2 : (uint32_t)at - (x == l->affine.last);
    }
};

/* ---- A table of all bit patterns: 8- and 16-bit types ---- */

template <histo_dtype type>
struct histo_table_lookup : histo_one_by_one<histo_table_lookup<type>, histo_stored<type>> {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_table_lookup(const histo_lookup *lookup) : l(lookup) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const
    {
        uint16_t pattern = 0;
        memcpy(&pattern, &x, sizeof x <= 2 ? sizeof x : 0);
        return __ldg(&l->table[pattern]);
    }
};

/* ---- The edge nearest to a guess: uniform axes ---- */

template <histo_dtype type>
struct histo_nearest_lookup : histo_one_by_one<histo_nearest_lookup<type>, histo_stored<type>> {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_nearest_lookup(const histo_lookup *lookup) : l(lookup) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const { return histo_nearest(l, histo_to_native<type>(x)); }
};

/* ---- A guess in float: f32 on axes that are regular on a curve (histo_lookup.near_f32) ---- */

/* The number of the edge nearest to a sample, + HISTO_GUESS_0, and how far the sample is before it, in bins. Samples
 * beyond the axis are guessed to be at its ends, and so is NaN. Adding 1.5 * 2^23, whose bits HISTO_GUESS_0 is, rounds
 * to the nearest integer. */
typedef struct histo_guess {
    uint32_t bits;
    float before;
} histo_guess;

#define HISTO_GUESS_0 UINT32_C(0x4b400000)

HISTO_IN_KERNEL histo_guess histo_guess_of(const histo_lookup *l, float curve)
{
    const float round = 0x1.8p23f, bins = (float)l->bins;
    float fraction = __saturatef(__fmaf_rn(curve, l->scale_f32, l->offset_f32));
    float sum = __fmaf_rn(fraction, bins, round);
    return histo_guess{__float_as_uint(sum), __fmaf_rn(-fraction, bins, sum - round)};
}

/* Only where near_f32 and the curve is straight; the exact comparison decides for samples near an edge. */
struct histo_guess_lookup {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_guess_lookup(const histo_lookup *lookup) : l(lookup) {}

    /* The slots of n samples by guesses. Is any of them so near an edge that its slot may be wrong? */
    HISTO_MEMBER bool guess(const float *x, uint32_t *slot, int n) const
    {
        float nearest = 1;
#pragma unroll
        for (int i = 0; i < n; i++) {
            histo_guess it = histo_guess_of(l, x[i]);
            slot[i] = it.before < 0 ? it.bits - (HISTO_GUESS_0 - 1) : it.bits - HISTO_GUESS_0;
            nearest = fminf(nearest, fabsf(it.before));
        }
        return nearest <= l->margin_f32;
    }

    HISTO_MEMBER uint32_t slot(float x) const
    {
        return histo_nearest_lookup<HISTO_F32>(l).slot(x);
    }

    template <int N>
    HISTO_MEMBER void slots(const float (&x)[N], uint32_t (&slot)[N]) const
    {
        if (guess(x, slot, N)) histo_nearest_lookup<HISTO_F32>(l).slots(x, slot);
    }
};

/* x[k] of N in registers, by a chain of selects. */
template <int N, typename T>
HISTO_IN_KERNEL T histo_select(const T *x, int k)
{
    T it = x[0];
#pragma unroll
    for (int i = 1; i < N; i++)
        it = i == k ? x[i] : it;
    return it;
}

template <typename T, int N>
HISTO_IN_KERNEL void histo_select_store(T (&x)[N], int k, T it)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = i == k ? it : x[i];
}

/* ---- Binary search in stored edges ---- */

/* AT_ONCE samples take each step together, so that their loads overlap. */
template <histo_dtype type, int AT_ONCE = 4>
struct histo_search_lookup {
    const histo_lookup *l;
    const double *edges; /* of the lookup, or a copy of them */
    HISTO_MEMBER explicit histo_search_lookup(const histo_lookup *lookup) : l(lookup), edges(lookup->edges) {}
    HISTO_MEMBER histo_search_lookup(const histo_lookup *lookup, const double *copy) : l(lookup), edges(copy) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const { return histo_search(l, histo_to_compute<type>(x)); }

    /* As histo_search where edges are stored. */
    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        const uint32_t n = (uint32_t)l->bins;
#pragma unroll
        for (int first = 0; first < N; first += AT_ONCE) {
            const int last = first + AT_ONCE < N ? first + AT_ONCE : N;
#pragma unroll
            for (int k = first; k < last; k++)
                slot[k] = 0;
#pragma unroll 1
            for (uint32_t count = n; count > 1; count -= count / 2)
#pragma unroll
                for (int k = first; k < last; k++) {
                    const uint32_t middle = slot[k] + count / 2;
                    slot[k] = histo_less(histo_to_compute<type>(x[k]), edges[middle]) ? slot[k] : middle;
                }
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            const auto its = histo_to_compute<type>(x[k]);
            slot[k] = histo_is_over(l, its) ? n + 1 : slot[k] + 1;
            slot[k] = histo_less(its, l->lo) ? 0 : slot[k];
            slot[k] = its != its ? n + 2 : slot[k];
        }
    }
};

/* ---- A guess and stored edges: axes that are nearly regular (histo_lookup.near) ---- */

/* Only samples near an edge read it. */
template <histo_dtype type>
struct histo_near_lookup : histo_one_by_one<histo_near_lookup<type>, histo_stored<type>> {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_near_lookup(const histo_lookup *lookup) : l(lookup) {}

    HISTO_MEMBER uint32_t slot(histo_stored<type> stored) const
    {
        const auto x = histo_to_compute<type>(stored);
        const double round = 0x1.8p52, at = ((double)x - l->lo) * l->per_step, sum = at + round;
        const double beyond = at - (sum - round);
        const int32_t n = l->bins, nearest = __double2loint(sum);
        bool reaches = beyond >= 0;
        if (fabs(beyond) <= (double)l->near) reaches = !histo_less(x, l->edges[min(max(nearest, 0), n)]);
        const int32_t slot = min(max(histo_next_if(nearest, reaches), 1), n);
        if (x != x) return (uint32_t)n + 2;
        return histo_less(x, l->lo) ? 0 : histo_is_over(l, x) ? (uint32_t)n + 1 : (uint32_t)slot;
    }
};

/* ---- Integer edges that doubles do not hold: binary search among keys (histo_edge_keys) ---- */

template <typename integer>
HISTO_IN_KERNEL uint64_t histo_key(integer x)
{
    return histo_are_same<integer, int64_t> ? histo_key_i64((int64_t)x) : histo_key_u64((uint64_t)x);
}

/* Several samples take each step together. Only I64 and U64. */
template <histo_dtype type>
struct histo_whole_lookup {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_whole_lookup(const histo_lookup *lookup) : l(lookup) {}
    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const { return histo_threshold_slot(l->thresholds, histo_key(x)); }

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        const uint64_t *at = l->thresholds->at;
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = 0;
            /* The slot is among slot[k] … slot[k] + left. */
#pragma unroll 1
        for (uint32_t left = (uint32_t)l->thresholds->n; left > 0; left /= 2)
#pragma unroll
            for (int k = 0; k < N; k++) {
                const uint32_t next = slot[k] + (left + 1) / 2;
                slot[k] = histo_key(x[k]) >= __ldg(&at[next - 1]) ? next : slot[k];
            }
    }
};

/* Integer thresholds that are nearly regular: a guess, as in histo_near_lookup. */
template <histo_dtype type>
struct histo_near_whole_lookup : histo_one_by_one<histo_near_whole_lookup<type>, histo_stored<type>> {
    const histo_lookup *l;
    HISTO_MEMBER explicit histo_near_whole_lookup(const histo_lookup *lookup) : l(lookup) {}

    HISTO_MEMBER uint32_t slot(histo_stored<type> x) const
    {
        const uint64_t *edges = l->thresholds->at, key = histo_key(x), first = __ldg(&edges[0]);
        const int32_t n = l->bins;
        const double round = 0x1.8p52, at = (double)(key - first) * l->per_step, sum = at + round;
        const double beyond = at - (sum - round);
        const int32_t nearest = __double2loint(sum);
        bool reaches = beyond >= 0;
        if (fabs(beyond) <= (double)l->near) reaches = key >= edges[min(max(nearest, 0), n)];
        const int32_t slot = min(max(histo_next_if(nearest, reaches), 1), n);
        return key < first ? 0 : key >= __ldg(&edges[n]) ? (uint32_t)n + 1 : (uint32_t)slot;
    }
};

/* ---- Copies of tables ---- */

/* Copy every so manieth of `n` entries to shared memory, by all threads of a block. AHEAD loads of a thread overlap. */
template <int AHEAD = 8, typename entry>
HISTO_IN_KERNEL void histo_copy_table(const entry *from, uint32_t n, entry *to, uint32_t apart = 1)
{
#pragma unroll 1
    for (uint32_t first = threadIdx.x; first < n; first += AHEAD * blockDim.x) {
        entry loaded[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            loaded[k] = __ldg(&from[min(first + k * blockDim.x, n - 1) * apart]);
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            if (first + k * blockDim.x < n) to[first + k * blockDim.x] = loaded[k];
    }
}

/* ---- Pivots: binary search in some edges, evenly spaced, in shared memory, then in those between two ---- */

/* For few samples, which would mostly wait for edges that are in no cache. */
template <histo_dtype type, int PIVOTS>
struct histo_pivots_lookup : histo_one_by_one<histo_pivots_lookup<type, PIVOTS>, histo_stored<type>> {
    const histo_lookup *l;
    const double *pivots;

    HISTO_MEMBER histo_pivots_lookup(const histo_lookup *lookup, const double *memory) : l(lookup), pivots(memory) {}

    /* Edges from a pivot to the next, and pivots. */
    static HISTO_MEMBER uint32_t apart(const histo_lookup *l) { return ((uint32_t)l->bins + PIVOTS - 1) / PIVOTS; }
    static HISTO_MEMBER uint32_t count(const histo_lookup *l) { return ((uint32_t)l->bins - 1) / apart(l) + 1; }

    /* By all threads of a block. */
    static HISTO_MEMBER void load(const histo_lookup *l, double *memory)
    {
        enum { FEWEST_THREADS = 128 };
        histo_copy_table<PIVOTS / FEWEST_THREADS>(l->edges, count(l), memory, apart(l));
    }

    HISTO_MEMBER uint32_t slot(histo_stored<type> stored) const
    {
        const auto x = histo_to_compute<type>(stored);
        const uint32_t n = (uint32_t)l->bins;
        uint32_t below = 0;
#pragma unroll 1
        for (uint32_t left = count(l); left > 1; left -= left / 2)
            below = histo_less(x, pivots[below + left / 2]) ? below : below + left / 2;
        below *= apart(l);
        uint32_t left = min(apart(l), n - below);
#pragma unroll 1
        while (left > 1) { /* three edges at once */
            const uint32_t step = (left + 3) / 4;
            uint32_t up = 0;
#pragma unroll
            for (uint32_t k = 1; k <= 3; k++) {
                const bool is = k * step < left;
                up += is && !histo_less(x, l->edges[below + (is ? k * step : 0)]);
            }
            below += up * step;
            left = min(step, left - up * step);
        }
        if (x != x) return n + 2;
        return histo_less(x, l->lo) ? 0 : histo_is_over(l, x) ? n + 1 : below + 1;
    }
};

/* ---- Cells: a table over the sample's position (axis/cells.h) ---- */

template <histo_dtype type>
struct histo_cells_lookup {
    using storage = histo_stored<type>;
    using native = typename histo_sample<type>::native;

    const histo_lookup *l;
    const uint32_t *entry; /* the table of l->cells, or a copy of it */
    bool by_bits;          /* l->cells.by_bits, a constant where the kernel is made for it */

    HISTO_MEMBER histo_cells_lookup(const histo_lookup *lookup, const uint32_t *table, bool bits)
        : l(lookup), entry(table), by_bits(bits)
    {
    }

    HISTO_MEMBER uint32_t slot(storage x) const
    {
        const storage one[1] = {x};
        uint32_t its[1];
        slots(one, its);
        return its[0];
    }

    template <int N>
    HISTO_MEMBER void slots(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
        const histo_cells *c = &l->cells;
        /* As large for one sample as for a step: nvcc 13.0 turns a smaller array into registers so early that it
         * unrolls and duplicates the loops behind it in a kernel. */
        const int STEP = histo_sample<type>::PER_STEP;
        uint32_t sum[N < STEP ? STEP : N];
        const bool exact = by_bits && sizeof(native) == sizeof(float); /* all bits are the position */
        bool is_nan = false, special = false;
        uint32_t short_of = UINT32_MAX;
#pragma unroll
        for (int i = 0; i < N; i++) {
            native v = histo_to_native<type>(x[i]);
            sum[i] = histo_cells_sum(c, by_bits, entry, histo_position(c, by_bits, v));
            is_nan = is_nan || v != v;
            special = special || sum[i] >= c->special;
        }
#pragma unroll 1
        for (int level = 1; level <= c->levels && special; level++) {
            special = false;
#pragma unroll
            for (int i = 0; i < N; i++) {
                sum[i] = histo_cells_finer(c, entry, sum[i], level);
                special = special || sum[i] >= c->special;
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            slot[i] = sum[i] >> (c->low + 1);
            short_of = min(short_of, histo_cells_short(c, sum[i]));
        }
        if (short_of == 0 && !exact) compare(x, sum, slot);
        if (special) search(x, sum, slot);
        if (by_bits && c->from_below)
#pragma unroll
            for (int i = 0; i < N; i++)
                slot[i] = histo_is_below(l, histo_to_native<type>(x[i])) ? 0 : slot[i];
        if (is_nan)
#pragma unroll
            for (int i = 0; i < N; i++) {
                native v = histo_to_native<type>(x[i]);
                slot[i] = v != v ? (uint32_t)l->bins + 2 : slot[i];
            }
    }

  private:
    /* Which side of edge `edge` is the sample on, which shares its position? */
    HISTO_MEMBER uint32_t by_edge(uint32_t edge, storage stored) const
    {
        auto x = histo_to_compute<type>(stored);
        bool last = edge == (uint32_t)l->bins;
        return edge + (last ? histo_is_over(l, x) : !histo_less(x, l->edges[edge]));
    }

    /* The samples whose position is that of a threshold: the comparison with its edge tells. */
    template <int N>
    HISTO_MEMBER void compare(const storage (&x)[N], const uint32_t *sum, uint32_t (&slot)[N]) const
    {
        const histo_cells *c = &l->cells;
#pragma unroll
        for (int i = 0; i < N; i++) {
            bool is = histo_cells_equals(c, sum[i]) && sum[i] < c->special;
            uint32_t compared = by_edge(is ? slot[i] : 0, x[i]);
            slot[i] = is ? compared : slot[i];
        }
    }

    /* The samples in cells that the last level leaves with several thresholds: a binary search among these. One after
     * the other, as they are few, and registers are scarce. */
    template <int N>
    HISTO_MEMBER void search(const storage (&x)[N], const uint32_t *sum, uint32_t (&slot)[N]) const
    {
        const histo_cells *c = &l->cells;
#pragma unroll 1
        for (int k = 0; k < N; k++) {
            const uint32_t its = histo_select<N>(sum, k);
            if (its < c->special) continue;
            const storage one = histo_select<N>(x, k);
            const int32_t word = histo_cells_next(c, its, c->levels);
            uint32_t first = entry[word], end = entry[word + 1];
            while (first < end) {
                const uint32_t middle = (first + end) / 2;
                if (by_edge(middle, one) > middle)
                    first = middle + 1;
                else
                    end = middle;
            }
            histo_select_store(slot, k, first);
        }
    }
};

/* ---- Whichever way the axis has ---- */

template <histo_dtype type>
struct histo_any_lookup {
    using storage = histo_stored<type>;
    static const int SIZE = sizeof(storage);
    static const bool IS_HALF = type == HISTO_F16 || type == HISTO_BF16;

    const histo_lookup *l;
    HISTO_MEMBER explicit histo_any_lookup(const histo_lookup *lookup) : l(lookup) {}

    HISTO_MEMBER uint32_t slot(storage x) const
    {
        if (SIZE <= 4 && l->pow2.is) return histo_pow2_lookup<type>(l).slot(x);
        if constexpr (IS_HALF)
            if (l->affine.is) return histo_affine_lookup<type>(l).slot(x);
        if (SIZE <= 2 && l->table) return histo_table_lookup<type>(l).slot(x);
        if (l->kind == HISTO_UNIFORM) return histo_nearest_lookup<type>(l).slot(x);
        if (SIZE > 2 && l->cells.entry) return histo_cells_lookup<type>(l, l->cells.entry, l->cells.by_bits).slot(x);
        if constexpr (type == HISTO_I64 || type == HISTO_U64) {
            if (l->kind == HISTO_SEARCH_WHOLE && l->near > 0) return histo_near_whole_lookup<type>(l).slot(x);
            if (l->kind == HISTO_SEARCH_WHOLE) return histo_whole_lookup<type>(l).slot(x);
        }
        if (SIZE > 2 && l->near > 0) return histo_near_lookup<type>(l).slot(x);
        return histo_search_lookup<type>(l).slot(x);
    }

    /* Every 8-bit lookup has a table. */
    template <int N>
    HISTO_MEMBER void slots(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
        if (SIZE <= 4 && l->pow2.is)
            histo_pow2_lookup<type>(l).slots(x, slot);
        else if (IS_HALF && l->affine.is)
            histo_affine_lookup<type>(l).slots(x, slot);
        else if (SIZE == 1 || (SIZE == 2 && l->table))
            histo_table_lookup<type>(l).slots(x, slot);
        else if (l->kind == HISTO_UNIFORM)
            uniform(x, slot);
        else if (SIZE > 2 && l->cells.entry)
            histo_cells_lookup<type>(l, l->cells.entry, l->cells.by_bits).slots(x, slot);
        else
            stored(x, slot);
    }

  private:
    template <int N>
    HISTO_MEMBER void stored(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
        if constexpr (type == HISTO_I64 || type == HISTO_U64) {
            if (l->kind == HISTO_SEARCH_WHOLE && l->near > 0) return histo_near_whole_lookup<type>(l).slots(x, slot);
            if (l->kind == HISTO_SEARCH_WHOLE) return histo_whole_lookup<type>(l).slots(x, slot);
        }
        if (SIZE > 2 && l->near > 0)
            histo_near_lookup<type>(l).slots(x, slot);
        else
            histo_search_lookup<type>(l).slots(x, slot);
    }

    template <int N>
    HISTO_MEMBER void uniform(const storage (&x)[N], uint32_t (&slot)[N]) const
    {
        if constexpr (type == HISTO_F32) {
            if (l->near_f32) return histo_guess_lookup(l).slots(x, slot);
        }
        histo_nearest_lookup<type>(l).slots(x, slot);
    }
};

#endif
