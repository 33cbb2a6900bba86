/* Few samples by kernels that are compiled in advance: any layout, types, axes, mask, range filter and weights. They
 * run the kernels of any_layout.cuh, whose classes are replaced by two templates:
 *
 * - simple: one axis alone, of aligned samples. The type and the kind of look-up are constants.
 * - anything: everything else but images and records. All is told at run time. ODD: samples that are unaligned or
 * swapped, bits, integers of 64 bits, ragged batches and more than HELD operands, which are most of the code.
 *
 * Most of the time of such a fill is spent on instructions that are in no cache. So the loops over dimensions, operands
 * and axes are not unrolled, and the values of up to HELD operands are loaded before the first one is looked up. */
#ifndef CUDA_FEW_SAMPLES_GENERAL_CUH
#define CUDA_FEW_SAMPLES_GENERAL_CUH

#include "cuda/few_samples/any_layout.cuh"

namespace histo::few
{

enum { HELD = 4, MAX_DIMS = HISTO_MAX_DIMS + 1 };
enum { DIRECT_THREADS = 128, DENSE_THREADS = 1024 /* of a block */, EACH = 4 /* samples of a thread in a step */ };

/* ---- One axis alone ---- */

enum by { BY_SHIFT, BY_NEAREST, BY_PIVOTS };

template <histo_dtype type, by lookup, int THREADS, int SAMPLES>
struct simple {
    enum { threads = THREADS, samples = SAMPLES };
};

/* Dimensions are listed from the last to the first. */
struct simple_arguments {
    const char *base;
    uint32_t samples, begin; /* of the strided iterator */
    uint32_t ndim, steps;    /* of a block */
    int64_t last_stride;     /* of the dimension that is listed last */
    unsigned long long *counts;
    uint32_t batch, slots;
    int64_t counters, all; /* of a batch entry; of all of them */
    histo_divisor by_entry;
    histo_lookup lookup;
    struct {
        int64_t stride;
        dimension of;
    } dims[MAX_DIMS];
};

template <histo_dtype type, by lookup, int THREADS, int SAMPLES>
struct arguments<simple<type, lookup, THREADS, SAMPLES>> : simple_arguments {
};

template <histo_dtype type, by lookup, int THREADS, int SAMPLES>
struct sample<simple<type, lookup, THREADS, SAMPLES>> {
    using key = uint32_t;
    using pivots_lookup = histo_pivots_lookup<type, HISTO_MAX_PIVOTS>;

    bool exists;
    key counter; /* that of the batch entry's first slot before the look-up; all bits set if the sample does not exist
                  */
    histo_stored<type> x;

    HISTO_MEMBER void load(const simple_arguments *a, uint32_t i)
    {
        exists = i < a->samples;
        uint32_t rest = a->begin + min(i, a->samples - 1);
        counter = a->batch > 1 ? histo_divide(rest, a->by_entry) * (uint32_t)a->counters : 0;
        const char *from = a->base;
#pragma unroll 1
        for (uint32_t d = 0; d + 1 < a->ndim; d++) {
            const uint32_t above = histo_divide(rest, a->dims[d].of.by);
            from += (rest - above * a->dims[d].of.shape) * a->dims[d].stride;
            rest = above;
        }
        x = *(const histo_stored<type> *)(from + rest * a->last_stride);
    }

    HISTO_MEMBER void look_up(const simple_arguments *a, const uint32_t *pivots)
    {
        uint32_t slot;
        if constexpr (lookup == BY_SHIFT)
            slot = histo_pow2_lookup<type>(&a->lookup).slot(x);
        else if constexpr (lookup == BY_PIVOTS)
            slot = pivots_lookup(&a->lookup, (const double *)pivots).slot(x);
        else if constexpr (type == HISTO_I64 || type == HISTO_U64 || type == HISTO_F32)
            slot = histo_nearest_lookup<type>(&a->lookup).slot(x);
        else
            slot = histo_nearest_f64(&a->lookup, histo_to_compute<type>(x));
        counter = exists ? counter + slot : ~(key)0;
    }
};

template <histo_dtype type, by lookup, int THREADS, int SAMPLES>
struct memory<simple<type, lookup, THREADS, SAMPLES>> {
    enum { WORDS = lookup == BY_PIVOTS ? HISTO_MAX_PIVOTS * (int)(sizeof(double) / sizeof(uint32_t)) : 0 };

    static HISTO_MEMBER const uint32_t *load_pivots(const simple_arguments *a)
    {
        if constexpr (lookup == BY_PIVOTS) {
            histo_pivots_lookup<type, HISTO_MAX_PIVOTS>::load(&a->lookup, (double *)shared_memory());
            __syncthreads();
        }
        return shared_memory();
    }

    static HISTO_MEMBER unsigned int *counters(const simple_arguments *) { return shared_memory() + WORDS; }
};

/* ---- Everything else ---- */

template <int THREADS, int SAMPLES, bool ODD>
struct anything {
    enum { threads = THREADS, samples = SAMPLES };
};

enum any_by { ANY_SHIFT, ANY_NEAREST, ANY_TABLE, ANY_NEAR, ANY_PIVOTS, ANY_WHOLE };

/* How an operand becomes a number: its bits by their own size, or as a float or an integer. */
struct any_operand {
    uint8_t size; /* of bytes; 0: a bit */
    uint8_t by;   /* any_by of an axis */
    bool is_float, is_unsigned, is_odd /* unaligned or swapped */, is_swapped, is_bf16, is_whole /* of 64 bits */;
};

/* Dimensions are listed from the last to the first. */
struct any_arguments : head {
    uint32_t ndim, operands, naxes;
    int32_t mask, where, weights; /* operands; HISTO_ABSENT */
    uint32_t pivot_words;         /* of shared memory */
    histo_divisor by_entry;
    any_operand how[HISTO_MAX_OPERANDS];
    const char *base[HISTO_MAX_OPERANDS];
    dimension dims[MAX_DIMS];
    int64_t strides[MAX_DIMS][HISTO_MAX_OPERANDS];
    struct pivots_of {
        uint32_t first, count, apart; /* in shared memory; pivots; edges from one to the next */
    } pivots[HISTO_MAX_AXES];
    histo_lookup lookups[HISTO_MAX_AXES];
};

template <int THREADS, int SAMPLES, bool ODD>
struct arguments<anything<THREADS, SAMPLES, ODD>> : any_arguments {
};

/* The bits of an operand. */
template <bool ODD>
HISTO_IN_KERNEL uint64_t any_bits(const any_operand &how, const char *at)
{
    if (ODD && how.is_odd) {
        uint64_t all = 0;
#pragma unroll 1
        for (int i = 0; i < how.size; i++) {
            const uint64_t its = histo_bytes_at(at + i, 1);
            all = how.is_swapped ? all << 8 | its : all | its << (8 * i);
        }
        return all;
    }
    if (how.size == 4) return *(const uint32_t *)at;
    if (how.size == 8) return *(const uint64_t *)at;
    if (how.size == 2) return *(const uint16_t *)at;
    if (!ODD || how.size == 1) return *(const uint8_t *)at;
    return *(const uint8_t *)((uint64_t)at >> 3) >> ((uint64_t)at & 7) & 1;
}

template <bool ODD>
struct any_integer {
    using type = int32_t;
    using unsigned_type = uint32_t;
};
template <>
struct any_integer<true> {
    using type = int64_t;
    using unsigned_type = uint64_t;
};

/* An operand as an integer, if it is one, and as a double, which is not exact for integers of 64 bits only. */
template <bool ODD>
struct any_number {
    using integer = typename any_integer<ODD>::type;
    using unsigned_integer = typename any_integer<ODD>::unsigned_type;

    integer whole;
    double value;

    HISTO_MEMBER any_number(const any_operand &how, uint64_t bits) : whole(0)
    {
        if (how.is_float) {
            const float of_short = how.is_bf16 ? histo_bf16_to_f32((uint16_t)bits) : histo_f16_to_f32((uint16_t)bits);
            const float single = how.size == 2 ? of_short : __uint_as_float((uint32_t)bits);
            value = how.size == 8 ? __longlong_as_double((long long)bits) : (double)single;
        } else {
            const int above = how.size ? 8 * ((int)sizeof whole - how.size) : 0;
            whole = how.is_unsigned ? (integer)bits : (integer)((unsigned_integer)bits << above) >> above;
            value = how.is_unsigned ? (double)(unsigned_integer)whole : (double)whole;
        }
    }

    /* use(number) in the compute type of its dtype. */
    template <class function>
    HISTO_MEMBER auto with_compute(const any_operand &how, function use) const
    {
        if constexpr (ODD)
            if (how.is_whole) return how.is_unsigned ? use((uint64_t)whole) : use(whole);
        return use(value);
    }
};

/* As histo_pivots_lookup. */
template <typename compute>
HISTO_IN_KERNEL uint32_t any_search(const histo_lookup *l, const any_arguments::pivots_of *of, const double *pivots,
                                    compute x)
{
    const uint32_t n = (uint32_t)l->bins;
    uint32_t below = 0;
#pragma unroll 1
    for (uint32_t left = of->count; left > 1; left -= left / 2)
        below = histo_less(x, pivots[below + left / 2]) ? below : below + left / 2;
    below *= of->apart;
#pragma unroll 1
    for (uint32_t left = min(of->apart, n - below); left > 1; left -= left / 2)
        below = histo_less(x, l->edges[below + left / 2]) ? below : below + left / 2;
    if (x != x) return n + 2;
    return histo_less(x, l->lo) ? 0 : histo_is_over(l, x) ? n + 1 : below + 1;
}

HISTO_IN_KERNEL uint32_t any_nearest(const histo_lookup *l, double x)
{
    return histo_nearest_f64(l, x);
}

template <typename integer>
HISTO_IN_KERNEL uint32_t any_nearest(const histo_lookup *l, integer x)
{
    return histo_nearest_of_integer(l, x);
}

template <bool ODD>
HISTO_IN_KERNEL uint32_t any_slot(const any_arguments *a, uint32_t axis, uint64_t bits, const any_number<ODD> &x,
                                  const uint32_t *shared)
{
    const histo_lookup *l = &a->lookups[axis];
    const any_operand how = a->how[axis];
    switch (how.by) {
    case ANY_SHIFT:
        return how.is_unsigned ? histo_slot_by_shift(l, (uint32_t)x.whole) : histo_slot_by_shift(l, (int32_t)x.whole);
    case ANY_NEAREST:
        return x.with_compute(how, [=](auto its) { return any_nearest(l, its); });
    case ANY_TABLE:
        return __ldg(&l->table[(uint32_t)bits]);
    case ANY_NEAR:
        return histo_near_lookup<HISTO_F64>(l).slot(x.value);
    case ANY_PIVOTS: {
        const any_arguments::pivots_of *of = &a->pivots[axis];
        return x.with_compute(how,
                              [=](auto its) { return any_search(l, of, (const double *)shared + of->first, its); });
    }
    default:
        return histo_threshold_slot(l->thresholds,
                                    how.is_unsigned ? histo_key_u64((uint64_t)x.whole) : histo_key_i64(x.whole));
    }
}

template <int THREADS, int SAMPLES, bool ODD>
struct sample<anything<THREADS, SAMPLES, ODD>> {
    using key = uint32_t;

    bool exists, is_left_out;
    key counter;         /* as in sample<simple> */
    uint32_t number;     /* of the strided iterator */
    uint64_t bits[HELD]; /* of the first operands */
    uint64_t weight;

    HISTO_MEMBER void load(const any_arguments *a, uint32_t i)
    {
        exists = i < a->samples;
        number = a->begin + min(i, a->samples - 1);
        uint32_t entry = a->batch > 1 ? histo_divide(number, a->by_entry) : 0;
        if (ODD && a->offsets) {
            const int64_t its = entry_of(a->offsets, a->batch, (int64_t)number);
            exists = exists && its >= 0 && its < (int64_t)a->batch;
            entry = exists ? (uint32_t)its : 0;
        }
        counter = entry * (uint32_t)a->counters;
        load_held(a);
    }

    HISTO_MEMBER void look_up(const any_arguments *a, const uint32_t *pivots)
    {
        uint32_t slot = 0;
        is_left_out = false;
        weight = 0;
#pragma unroll 1
        for (uint32_t o = 0; o < a->operands; o++) {
            uint64_t its = histo_select<HELD>(bits, (int)o);
            if (ODD && o >= HELD) its = any_bits<ODD>(a->how[o], address(a, o));
            const any_number<ODD> x(a->how[o], its);
            if (o < a->naxes)
                slot += a->slot_strides[o] * any_slot(a, o, its, x, pivots);
            else if ((int32_t)o == a->mask)
                is_left_out = is_left_out || !(x.value != 0);
            else if ((int32_t)o == a->where)
                is_left_out = is_left_out || x.with_compute(a->how[o], [=](auto value) {
                    return value != value || histo_less(value, a->where_lo) || histo_above(value, a->where_hi);
                });
            else
                weight = its;
        }
        counter = exists ? counter + (is_left_out ? a->slots : slot) : ~(key)0;
    }

    /* As histo_specialised_weighted. */
    template <class function>
    HISTO_MEMBER void with_weight(const any_arguments *a, function use) const
    {
        if (a->weights == HISTO_ABSENT) {
            use(1.0);
        } else {
            const any_operand how = a->how[a->weights];
            any_number<ODD>(how, weight).with_compute(how, [=](auto x) {
                use(x);
                return 0;
            });
        }
    }

  private:
    HISTO_MEMBER void load_held(const any_arguments *a)
    {
        const char *from[HELD];
#pragma unroll
        for (int o = 0; o < HELD; o++)
            from[o] = a->base[o];
        uint32_t rest = number;
#pragma unroll 1
        for (uint32_t d = 0; d < a->ndim; d++) {
            const uint32_t above = d + 1 < a->ndim ? histo_divide(rest, a->dims[d].by) : 0;
            const uint32_t index = rest - above * a->dims[d].shape;
#pragma unroll
            for (int o = 0; o < HELD; o++)
                from[o] += index * a->strides[d][o];
            rest = above;
        }
#pragma unroll
        for (int o = 0; o < HELD; o++) {
            bits[o] = 0;
            if ((uint32_t)o < a->operands) bits[o] = any_bits<ODD>(a->how[o], from[o]);
        }
    }

    HISTO_MEMBER const char *address(const any_arguments *a, uint32_t operand) const
    {
        const char *from = a->base[operand];
        uint32_t rest = number;
#pragma unroll 1
        for (uint32_t d = 0; d < a->ndim; d++) {
            const uint32_t above = d + 1 < a->ndim ? histo_divide(rest, a->dims[d].by) : 0;
            from += (rest - above * a->dims[d].shape) * a->strides[d][operand];
            rest = above;
        }
        return from;
    }
};

template <int THREADS, int SAMPLES, bool ODD>
struct memory<anything<THREADS, SAMPLES, ODD>> {
    static HISTO_MEMBER const uint32_t *load_pivots(const any_arguments *a)
    {
        double *pivots = (double *)shared_memory();
        if (a->pivot_words) {
#pragma unroll 1
            for (uint32_t axis = 0; axis < a->naxes; axis++)
                if (a->how[axis].by == ANY_PIVOTS)
                    histo_copy_table(a->lookups[axis].edges, a->pivots[axis].count, pivots + a->pivots[axis].first,
                                     a->pivots[axis].apart);
            __syncthreads();
        }
        return shared_memory();
    }

    static HISTO_MEMBER unsigned int *counters(const any_arguments *a)
    {
        return shared_memory() + a->pivot_words;
    }
};

} // namespace histo::few

#endif
