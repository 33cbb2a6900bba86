/* Few samples of any layout, one or some for each thread.
 *
 * The time of such a fill is latency, most of it of what is in no cache yet: instructions, arguments, tables, samples.
 * So the kernels are short, and compiled for their class of problems (specialised.cuh); their arguments are only those
 * that the class needs, in the order of their use. general.cuh has kernels for problems that nothing is compiled for.
 *
 * - Stored edges come to shared memory while the samples are loaded: all of them, or some at equal distances, with
 *   which the search begins.
 * - The fewest samples are counted in the histogram itself: there is nothing to clear and nothing to merge. Lanes of a
 *   warp that have the same counter add up first.
 * - Of more samples, frequent counters would wait for each other in the L2 cache. Few counters are kept by each block
 *   in shared memory; of many, each warp keeps those that several of its lanes have had at once.
 *
 * Bytes: each sample once; the touched counters. Bound: latency, or the atomic additions of the L2 cache. */
#ifndef CUDA_FEW_SAMPLES_ANY_LAYOUT_CUH
#define CUDA_FEW_SAMPLES_ANY_LAYOUT_CUH

#include "cuda/device/weights/weighted_reader.cuh"
#include "cuda/jit/specialised_weighted.cuh"

namespace histo::few
{

enum { WARP = 32 };

/* ---- Arguments ---- */

/* A dimension of the strided iterator. */
struct dimension {
    uint32_t shape, unused;
    histo_divisor by;
};

/* The members of all classes; look-ups and filters find them here by the names that histo_cuda_work has. */
struct head {
    unsigned long long *counts;
    uint32_t samples, begin; /* of the strided iterator */
    int64_t counters;        /* of a batch entry */
    uint32_t slots;          /* the slot of samples that mask and filter leave out */
    uint32_t batch;
    uint32_t steps, unused; /* of a block */
    uint32_t slot_strides[HISTO_MAX_AXES];
    const int64_t *offsets;
    double where_lo, where_hi;
    float where_lo_f32, where_hi_f32;
    int32_t where_lo_i32, where_hi_i32;
    double *sum_w, *sum_w2;
    histo_cuda_exact exact[2];
    int64_t all; /* counters of all batch entries */
};

template <int DIMS>
struct operand {
    const char *base;
    int64_t strides[DIMS];
};

/* any_layout.cu writes one member after the other. */
template <class constants>
struct arguments : head {
    enum { DIMS = constants::batch_dims + constants::dims };
    dimension dims[DIMS];
    operand<DIMS> operands[constants::operands];
    histo_lookup lookups[constants::naxes];
};

/* ---- Where samples lie ---- */

/* Of entries [0, batch] the last that begins at sample s or before; -1 if none does. By a whole warp. */
HISTO_IN_KERNEL int64_t entry_of_warp(const int64_t *offsets, uint32_t batch, int64_t s)
{
    const uint32_t lane = threadIdx.x % WARP;
    int64_t low = 0;
    for (uint32_t left = batch + 1; left > 0;) {
        const uint32_t step = (left + WARP - 1) / WARP, at = lane * step;
        const int begun = __popc(__ballot_sync(~0u, at < left && offsets[low + at] <= s));
        if (begun == 0) return -1;
        low += (begun - 1) * step;
        left = step == 1 ? 0 : min(step, left - (begun - 1) * step);
    }
    return low;
}

/* The entry of a ragged batch that has sample s, which each lane of the warp has another of; batch or -1 for none. */
HISTO_IN_KERNEL int64_t entry_of(const int64_t *offsets, uint32_t batch, int64_t s)
{
    int64_t low = entry_of_warp(offsets, batch, __shfl_sync(~0u, s, 0));
    int64_t high = entry_of_warp(offsets, batch, __shfl_sync(~0u, s, WARP - 1));
    if (low < 0 && (high < 0 || offsets[0] > s)) return -1;
    low = low < 0 ? 0 : low;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (offsets[middle] <= s)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

template <bool HAS_ENTRIES>
struct counter_index {
    using type = unsigned int;
};
template <>
struct counter_index<true> {
    using type = unsigned long long;
};

/* A sample: its values, and its counter among those of all entries. */
template <class constants>
struct sample {
    using reader = histo_specialised_weighted<constants>;
    using layout = histo_specialised_layout<constants>;
    enum { LAST = constants::batch_dims + constants::dims - 1 };
    enum { HAS_ENTRIES = constants::batch_dims > 0 || constants::ragged };
    using key = typename counter_index<(bool)HAS_ENTRIES>::type;

    static_assert(sizeof(arguments<constants>) == sizeof(head) + sizeof(arguments<constants>::dims) +
                                                      sizeof(arguments<constants>::operands) +
                                                      sizeof(arguments<constants>::lookups));

    bool exists, is_left_out;
    int64_t entry;
    key counter; /* all bits set if the sample does not exist */
    typename reader::place values;

    /* Load sample i; after the last one, that again, so that there is no branch between the loads of several samples.
     */
    HISTO_MEMBER void load(const arguments<constants> *a, uint32_t i)
    {
        exists = i < a->samples;
        uint32_t index[LAST + 1], rest = a->begin + min(i, a->samples - 1);
        if constexpr (constants::ragged) entry = entry_of(a->offsets, a->batch, (int64_t)rest);
#pragma unroll
        for (int d = LAST; d >= 0; d--) {
            if (constants::batch_dims > 0 && d == constants::batch_dims - 1) entry = rest;
            const uint32_t above = d > 0 ? histo_divide(rest, a->dims[d].by) : 0;
            index[d] = rest - above * a->dims[d].shape;
            rest = above;
        }
        if constexpr (constants::ragged) exists = exists && entry >= 0 && entry < a->batch;
        load_operands<0>(a, index);
    }

    HISTO_MEMBER void look_up(const arguments<constants> *a, const uint32_t *pivots)
    {
        const uint32_t slot = reader::slot(a, &values, pivots);
        is_left_out = slot == a->slots;
        counter = !exists ? ~(key)0 : HAS_ENTRIES ? (key)(entry * a->counters + slot) : (key)slot;
    }

    template <class function>
    HISTO_MEMBER void with_weight(const arguments<constants> *a, function use) const
    {
        reader::with_weight(a, &values, use);
    }

  private:
    template <int O>
    HISTO_MEMBER void load_operands(const arguments<constants> *a, const uint32_t (&index)[LAST + 1])
    {
        if constexpr (O < constants::operands) {
            const char *from = a->operands[O].base;
#pragma unroll
            for (int d = 0; d <= LAST; d++)
                if (d == LAST && constants::strides[O] != 0)
                    from += layout::distance(index[d], constants::strides[O]);
                else if (d >= constants::batch_dims)
                    from += layout::distance(index[d], a->operands[O].strides[d]);
                else
                    from += index[d] * a->operands[O].strides[d];
            static_cast<typename reader::template values<O> &>(values.all).x = layout::template load_one<O>(from);
            load_operands<O + 1>(a, index);
        }
    }
};

/* ---- Lanes with the same counter ---- */

HISTO_IN_KERNEL bool leads(unsigned int group)
{
    return threadIdx.x % WARP == (unsigned int)__ffs((int)group) - 1;
}

/* Add up the values of each group of lanes in its first lane, in as many steps as the largest group has bits. By a
 * whole warp. Source: Adinetz, Adaptive parallel computation with CUDA: warp-aggregated atomics, 2014. */
template <typename... T>
HISTO_IN_KERNEL void join(unsigned int group, T &...value)
{
    const unsigned int lane = threadIdx.x % WARP;
    unsigned int rank = (unsigned int)__popc(group & ((1u << lane) - 1)), after = group & (~1u << lane);
    while (__any_sync(~0u, after != 0)) {
        const int next = __ffs((int)after);
        const auto add = [=](auto &x) {
            const auto its = __shfl_sync(~0u, x, (next - 1) & (WARP - 1));
            if (next) x += its;
        };
        (add(value), ...);
        after &= __ballot_sync(~0u, rank % 2 == 0);
        rank /= 2;
    }
}

/* ---- Sums of weights ---- */

HISTO_IN_KERNEL unsigned int special_of(double x)
{
    if (!histo_exact_is_special(histo_exact_bits(x))) return 0;
    return x != x ? HISTO_EXACT_NAN : x > 0 ? HISTO_EXACT_POSITIVE_INFINITY : HISTO_EXACT_NEGATIVE_INFINITY;
}

template <typename T>
HISTO_IN_KERNEL unsigned int special_of(T)
{
    return 0;
}

HISTO_IN_KERNEL histo_exact_slices cut(double x)
{
    return histo_exact_cut_f64(histo_exact_bits(x));
}

HISTO_IN_KERNEL histo_exact_slices cut(int64_t x)
{
    return histo_exact_cut_i64(x);
}

HISTO_IN_KERNEL histo_exact_slices cut(uint64_t x)
{
    return histo_exact_cut_u64(x, false);
}

/* Add x to exact sum `counter`, if it has one. Lanes whose slices have the same window add up first. */
template <typename compute>
HISTO_IN_KERNEL void add_exact(const histo_cuda_exact *e, int64_t all, bool has, unsigned long long counter, compute x)
{
    enum { WINDOW_BITS = 7, SLICES = 3 };
    static_assert(HISTO_EXACT_WINDOWS <= 1 << WINDOW_BITS);
    const unsigned int special = has ? special_of(x) : 0;
    const histo_exact_slices of = cut(has && !special ? x : (compute)0);
    const unsigned int group = __match_any_sync(~0u, has ? counter << WINDOW_BITS | (unsigned int)of.window : ~0ull);
    long long digit[SLICES];
#pragma unroll
    for (int s = 0; s < SLICES; s++)
        digit[s] = of.negative ? -(long long)of.slice[s] : (long long)of.slice[s];
    join(group, digit[0], digit[1], digit[2]);
    if (special) atomicOr(&e->special[counter], special);
    if (!has || !leads(group)) return;
    unsigned long long *plane = (unsigned long long *)e->digits + (of.window - e->low) * all + (int64_t)counter;
#pragma unroll
    for (int s = 0; s < SLICES; s++, plane += all)
        if (digit[s]) atomicAdd(plane, (unsigned long long)digit[s]);
}

template <bool SQUARES, typename compute>
HISTO_IN_KERNEL void add_fast(const head *a, unsigned int group, bool has, unsigned long long counter, compute weight)
{
    double x = (double)weight, square = x * x;
    if constexpr (SQUARES)
        join(group, x, square);
    else
        join(group, x);
    if (!has || !leads(group)) return;
    atomicAdd(&a->sum_w[counter], x);
    if constexpr (SQUARES) atomicAdd(&a->sum_w2[counter], square);
}

/* ---- The kernels ---- */

/* A thread's samples of a step of its block. */
template <class constants>
struct samples {
    enum { EACH = constants::samples, STEP = constants::threads * EACH };
    sample<constants> of[EACH];

    HISTO_MEMBER void load(const arguments<constants> *a, uint32_t step)
    {
        const uint32_t first = (blockIdx.x * a->steps + step) * STEP + threadIdx.x;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            of[k].load(a, first + k * constants::threads);
    }

    HISTO_MEMBER void look_up(const arguments<constants> *a, const uint32_t *pivots)
    {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            of[k].look_up(a, pivots);
    }
};

/* ---- Shared memory: pivots of axes, then counters ---- */

HISTO_IN_KERNEL unsigned int *shared_memory()
{
    extern __shared__ __align__(sizeof(double)) unsigned int shared[];
    return shared;
}

template <class constants>
struct memory {
    enum { AXES = histo_specialised_pivot_axes<constants>(constants::naxes) };
    enum { WORDS = AXES * histo_pivots_each(AXES) * (int)(sizeof(double) / sizeof(uint32_t)) };

    /* Load the pivots; all threads call it, and may look at them when it returns. */
    static HISTO_MEMBER const uint32_t *load_pivots(const arguments<constants> *a)
    {
        if constexpr (AXES > 0) {
            load_from<0>(a);
            __syncthreads();
        }
        return shared_memory();
    }

    static HISTO_MEMBER unsigned int *counters(const arguments<constants> *) { return shared_memory() + WORDS; }

  private:
    template <int A>
    static HISTO_MEMBER void load_from(const arguments<constants> *a)
    {
        if constexpr (A < constants::naxes) {
            using its = histo_specialised_pivots<constants, A>;
            if constexpr (constants::axes[A].by == HISTO_BY_PIVOTS)
                its::lookup::load(&a->lookups[A], (double *)shared_memory() + its::FIRST);
            load_from<A + 1>(a);
        }
    }
};

template <class constants>
HISTO_IN_KERNEL unsigned int count_group(const arguments<constants> *a, const sample<constants> *s)
{
    const unsigned int group = __match_any_sync(~0u, s->counter);
    if (s->exists && leads(group)) atomicAdd(&a->counts[s->counter], (unsigned long long)__popc(group));
    return group;
}

/* One step. */
template <class constants>
static __global__ void __launch_bounds__(constants::threads) count(const __grid_constant__ arguments<constants> a)
{
    samples<constants> s;
    s.load(&a, 0);
    s.look_up(&a, memory<constants>::load_pivots(&a));
#pragma unroll
    for (int k = 0; k < constants::samples; k++)
        count_group(&a, &s.of[k]);
}

/* ---- More samples ---- */

/* Counts that a warp keeps of counters that several lanes have had at once: frequent ones, which would wait for each
 * other. */
template <typename key>
struct kept {
    enum { LOG = 6, SIZE = 1 << LOG };
    key counter[SIZE]; /* all bits set where there is none */
    unsigned int count[SIZE];

    HISTO_MEMBER void clear()
    {
        for (uint32_t i = threadIdx.x % WARP; i < SIZE; i += WARP) {
            counter[i] = ~(key)0;
            count[i] = 0;
        }
        __syncwarp();
    }

    /* Keep n of a counter, which no other lane has, if n > 1; false if there is no room. By a whole warp. */
    HISTO_MEMBER bool keep(key its, unsigned int n)
    {
        const uint32_t at = (uint32_t)its * 2654435769u >> (32 - LOG);
        bool has = false;
        if (n > 1) {
            const key before = atomicCAS(&counter[at], ~(key)0, its);
            has = before == ~(key)0 || before == its;
            if (has) count[at] += n;
        }
        __syncwarp();
        return has;
    }

    HISTO_MEMBER void merge(unsigned long long *counts) const
    {
        for (uint32_t i = threadIdx.x % WARP; i < SIZE; i += WARP)
            if (count[i]) atomicAdd(&counts[counter[i]], (unsigned long long)count[i]);
    }
};

/* The counters of a step's samples; the next step's samples are loaded while these are used. */
template <class constants>
HISTO_IN_KERNEL void take_counters(samples<constants> *s, const arguments<constants> *a, const uint32_t *pivots,
                                   uint32_t step, typename sample<constants>::key (&counter)[constants::samples])
{
    s->look_up(a, pivots);
#pragma unroll
    for (int k = 0; k < constants::samples; k++)
        counter[k] = s->of[k].counter;
    s->load(a, step + 1);
}

/* Several steps, of counters that are too many for a block. */
template <class constants>
static __global__ void __launch_bounds__(constants::threads) count_many(const __grid_constant__ arguments<constants> a)
{
    using key = typename sample<constants>::key;
    __shared__ kept<key> of_warps[constants::threads / WARP];
    kept<key> *const mine = &of_warps[threadIdx.x / WARP];
    samples<constants> s;
    s.load(&a, 0);
    mine->clear();
    const uint32_t *pivots = memory<constants>::load_pivots(&a);
#pragma unroll 1
    for (uint32_t step = 0; step < a.steps; step++) {
        key counter[constants::samples];
        take_counters(&s, &a, pivots, step, counter);
#pragma unroll
        for (int k = 0; k < constants::samples; k++) {
            const unsigned int group = __match_any_sync(~0u, counter[k]);
            const bool counts = counter[k] != ~(key)0 && leads(group);
            const unsigned int n = counts ? (unsigned int)__popc(group) : 0;
            if (!mine->keep(counter[k], n) && counts) atomicAdd(&a.counts[counter[k]], (unsigned long long)n);
        }
    }
    mine->merge(a.counts);
}

/* Several steps, of so few counters that each block has its own. */
template <class constants>
static __global__ void __launch_bounds__(constants::threads, 1)
    count_dense(const __grid_constant__ arguments<constants> a)
{
    using key = typename sample<constants>::key;
    unsigned int *const counts = memory<constants>::counters(&a);
    samples<constants> s;
    s.load(&a, 0);
    const uint32_t *pivots = memory<constants>::load_pivots(&a);
    const uint32_t all = (uint32_t)a.all;
    for (uint32_t i = threadIdx.x; i < all; i += constants::threads)
        counts[i] = 0;
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 0; step < a.steps; step++) {
        key counter[constants::samples];
        take_counters(&s, &a, pivots, step, counter);
#pragma unroll
        for (int k = 0; k < constants::samples; k++)
            if (counter[k] != ~(key)0) atomicAdd(&counts[counter[k]], 1u);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < all; i += constants::threads) {
        const unsigned int n = counts[i];
        if (n) atomicAdd(&a.counts[i], (unsigned long long)n);
    }
}

/* ---- With weights ---- */

template <class constants, bool EXACT, bool SQUARES>
HISTO_IN_KERNEL void add_weight(const arguments<constants> *a, const sample<constants> *s)
{
    const unsigned int group = count_group(a, s);
    const bool has = s->exists && !s->is_left_out;
    s->with_weight(a, [&](auto weight) {
        if constexpr (EXACT) {
            add_exact(&a->exact[0], a->all, has, s->counter, weight);
            if constexpr (SQUARES) add_exact(&a->exact[1], a->all, has, s->counter, histo_square(weight));
        } else {
            add_fast<SQUARES>(a, group, has, s->counter, weight);
        }
    });
}

template <class constants, bool EXACT, bool SQUARES>
static __global__ void __launch_bounds__(constants::threads)
    count_weighted(const __grid_constant__ arguments<constants> a)
{
    samples<constants> s;
    s.load(&a, 0);
    s.look_up(&a, memory<constants>::load_pivots(&a));
#pragma unroll
    for (int k = 0; k < constants::samples; k++)
        add_weight<constants, EXACT, SQUARES>(&a, &s.of[k]);
}

} // namespace histo::few

#endif
