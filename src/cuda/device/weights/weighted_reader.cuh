/* Sums of weights in device memory: a weight, and its square rounded once to double, are added to a counter of the
 * accumulators. */
#ifndef CUDA_DEVICE_WEIGHTS_WEIGHTED_READER_CUH
#define CUDA_DEVICE_WEIGHTS_WEIGHTED_READER_CUH

#include "cuda/device/any_step.cuh"

HISTO_IN_KERNEL void histo_add_digit(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, int window,
                                     long long digit)
{
    if (digit) {
        long long *plane = e->digits + (window - e->low) * (w->iter.batch * w->counters);
        atomicAdd((unsigned long long *)&plane[i], (unsigned long long)digit);
    }
}

HISTO_IN_KERNEL void histo_add_slices(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i,
                                      histo_exact_slices cut)
{
#pragma unroll
    for (int s = 0; s < 3; s++)
        histo_add_digit(w, e, i, cut.window + s, cut.negative ? -(long long)cut.slice[s] : (long long)cut.slice[s]);
}

HISTO_IN_KERNEL void histo_add_exact(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, double x)
{
    uint64_t bits = histo_exact_bits(x);
    if (!histo_exact_is_special(bits))
        histo_add_slices(w, e, i, histo_exact_cut_f64(bits));
    else
        atomicOr(&e->special[i], x != x  ? HISTO_EXACT_NAN
                                 : x > 0 ? HISTO_EXACT_POSITIVE_INFINITY
                                         : HISTO_EXACT_NEGATIVE_INFINITY);
}

HISTO_IN_KERNEL void histo_add_exact(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, int64_t x)
{
    histo_add_slices(w, e, i, histo_exact_cut_i64(x));
}

HISTO_IN_KERNEL void histo_add_exact(const histo_cuda_work *w, const histo_cuda_exact *e, int64_t i, uint64_t x)
{
    histo_add_slices(w, e, i, histo_exact_cut_u64(x, false));
}

/* 128 bits rounded once: the upper 64 of them, the last set if anything follows. */
HISTO_IN_KERNEL double histo_round_u128(uint64_t high, uint64_t low)
{
    if (high == 0) return (double)low;
    int shift = __clzll((long long)high);
    uint64_t head = shift ? high << shift | low >> (64 - shift) : high;
    head |= (low << shift) != 0;
    return ldexp((double)head, 64 - shift);
}

HISTO_IN_KERNEL double histo_square(double x)
{
    return x * x;
}

HISTO_IN_KERNEL double histo_square(uint64_t x)
{
    return histo_round_u128(__umul64hi(x, x), x * x);
}

HISTO_IN_KERNEL double histo_square(int64_t x)
{
    return histo_square(x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

/* Add x to the sums of counter i, counted over the whole batch. */
template <typename compute>
HISTO_IN_KERNEL void histo_add_to_sums(const histo_cuda_work *w, int64_t i, compute x)
{
    if (w->sum_w) {
        double x_f64 = (double)x;
        atomicAdd(&w->sum_w[i], x_f64);
        if (w->sum_w2) atomicAdd(&w->sum_w2[i], x_f64 * x_f64);
    } else {
        histo_add_exact(w, &w->exact[0], i, x);
        if (w->exact[1].digits) histo_add_exact(w, &w->exact[1], i, histo_square(x));
    }
}

/* Readers of samples with weights. Like those of reader.cuh, but they say one by one where a sample lies, what its slot
 * is, and call a function with its weight. This one reads whatever a job can be. */
struct histo_any_weighted {
    using place = histo_sample_place;

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t item) { return histo_tile_at(w, item); }

    static HISTO_MEMBER place place_of(const histo_cuda_work *w, const histo_tile *tile, uint32_t offset)
    {
        return histo_sample_place_of(w, tile, offset);
    }

    static HISTO_MEMBER uint32_t slot(const histo_cuda_work *w, const place *at) { return histo_slot_of_sample(w, at); }

    static HISTO_MEMBER const char *weight(const histo_cuda_work *w, const place *at)
    {
        return w->weights == HISTO_ABSENT ? NULL : histo_address(w, at, w->weights);
    }

    template <class function>
    static HISTO_MEMBER auto with_weight(const histo_cuda_work *w, const place *at, function use)
    {
        const char *from = weight(w, at);
        if (!from) return use(1.0);
        return histo_with_dtype(w->dtypes[w->weights], [=](auto of) {
            return use(histo_to_compute<of.type>(histo_load<histo_stored<of.type>>(w, w->weights, from)));
        });
    }
};

/* The weights of a thread's samples of the step `at` of any layout, 1 if there are none; a bit for each whose double is
 * not the same number. */
template <int N>
HISTO_IN_KERNEL uint32_t histo_weights_of_step(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,
                                               double (&weight)[N])
{
    uint32_t inexact = 0;
    if (w->weights == HISTO_ABSENT) {
#pragma unroll
        for (int k = 0; k < N; k++)
            weight[k] = 1;
        return 0;
    }
    const histo_dtype dtype = w->dtypes[w->weights];
    histo_raw<N> raw;
    histo_load_step_of(w, tile, at, w->weights, &raw);
    if (dtype != HISTO_U64 && dtype != HISTO_I64) {
        histo_raw_to_f64(dtype, &raw, weight);
        return 0;
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        weight[k] = dtype == HISTO_U64 ? (double)raw.bits[k] : (double)(int64_t)raw.bits[k];
        inexact |= (uint32_t) !(fabs(weight[k]) < 0x1p53) << k;
    }
    return inexact;
}

/* Add the weight at `at` to the sums of counter i; without weights at is NULL and the weight 1. */
HISTO_IN_KERNEL void histo_add_weight(const histo_cuda_work *w, int64_t i, const char *at)
{
    histo_with_dtype(w->weights == HISTO_ABSENT ? HISTO_U8 : w->dtypes[w->weights], [=](auto of) {
        using storage = histo_stored<of.type>;
        storage stored = at ? histo_load<storage>(w, w->weights, at) : (storage)1;
        histo_add_to_sums(w, i, histo_to_compute<of.type>(stored));
    });
}

#endif
