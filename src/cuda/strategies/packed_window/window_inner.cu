/* packed_window: contiguous samples whose counter is found faster than their slot.
 *
 * Most u32, i32 and f32 samples are in bins of the window. All are looked up as if they were, with no comparison for
 * flow slots; the few that turn out not to be are looked up again. */
#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_contiguous.cuh"

namespace histo::packed_window
{

/* The bins in the window, flow slots aside: the first one's slot and counter, and how many. */
struct inner_range {
    uint32_t slot, at, bins;

    template <class COUNTER>
    static HISTO_MEMBER inner_range of(const COUNTER *c, const window *w)
    {
        uint32_t first = max(c->slots.first, 1u), end = min(c->slots.first + c->size, w->inner + 1);
        return {first, first - c->slots.first, end > first ? end - first : 0};
    }
};

/* Bins of 2^k integers: modulo 2^32, so all bins must have values of the dtype. */
template <histo_dtype TYPE>
struct pow2_bin {
    using sample = histo_sample<TYPE>;
    using exact = histo_pow2_lookup<TYPE>;

    static HISTO_MEMBER uint32_t bin(const inner_range *in, const window *, const histo_lookup *l, uint32_t x)
    {
        return (x - (l->pow2.from + (in->slot << l->pow2.shift))) >> l->pow2.shift;
    }
};

/* By the nearest edge. Samples outside the axis and NaN are the next floats outside. */
struct nearest_bin {
    using sample = histo_sample<HISTO_F32>;
    using exact = histo_nearest_lookup<HISTO_F32>;

    static HISTO_MEMBER uint32_t bin(const inner_range *in, const window *w, const histo_lookup *l, float x)
    {
        const double round = 0x1.8p52;
        double y = (double)fminf(fmaxf(x, w->below), l->over_f32);
        double sum = __fma_rn(y, l->per_step, w->origin) + round;
        return (uint32_t)__double2loint(sum) + (y >= l->lo + (sum - round) * l->step) - in->slot;
    }
};

/* Floats on bins of width 2^k that begin at multiples of that: one rounding, downward, of an exact sum. */
struct scaled_bin {
    using sample = histo_sample<HISTO_F32>;
    using exact = histo_nearest_lookup<HISTO_F32>;

    static HISTO_MEMBER uint32_t bin(const inner_range *in, const window *w, const histo_lookup *, float x)
    {
        return __float_as_uint(__fmaf_rd(x, w->scale, w->offset)) - (__float_as_uint(0x1p23f) - 1 + in->slot);
    }
};

template <class BIN>
struct inner_bins {
    using sample = typename BIN::sample;
    using slots = slots_in_window;

    static HISTO_MEMBER slots begin(const histo_cuda_work *work, const window *w, int64_t entry)
    {
        return slots::of(work, w, entry);
    }

    template <class COUNTER, int N>
    static HISTO_MEMBER void place(const histo_cuda_work *work, const window *w, const COUNTER *c,
                                   const typename sample::storage (&x)[N], uint32_t missing, uint32_t *at)
    {
        const histo_lookup *l = &work->lookups[0];
        const inner_range in = inner_range::of(c, w);
        uint32_t elsewhere = 0; /* a bit for each */
#pragma unroll
        for (int k = 0; k < N; k++) {
            at[k] = BIN::bin(&in, w, l, x[k]);
            elsewhere |= (uint32_t)(at[k] >= in.bins) << k;
            at[k] += in.at;
        }
        if (missing) {
            elsewhere &= ~missing;
#pragma unroll
            for (int k = 0; k < N; k++)
                at[k] = missing >> k & 1 ? c->spare : at[k];
        }
        bool alike = true;
#pragma unroll 1
        while (__any_sync(~0u, elsewhere)) {
            const uint32_t one = elsewhere & (0 - elsewhere);
            uint32_t slot = pick(at, N, one) + c->slots.first;
            if (one && slot - 1 >= w->inner) slot = typename BIN::exact(l).slot(pick(&x[0], N, one));
            const bool is_inside = slot - c->slots.first < c->size;
            const uint32_t its = is_inside ? slot - c->slots.first : c->spare;
            alike = c->count_outside_lanes(one && !is_inside ? slot : HISTO_NO_SLOT, alike);
            __syncwarp();
#pragma unroll
            for (int k = 0; k < N; k++)
                at[k] = one >> k & 1 ? its : at[k];
            elsewhere ^= one;
        }
    }

    template <class COUNTER>
    static HISTO_MEMBER uint32_t place_one(const histo_cuda_work *work, const COUNTER *c, typename sample::storage x)
    {
        return c->place_one(typename BIN::exact(&work->lookups[0]).slot(x));
    }
};

template <class BIN>
static const void *kernel(int bits)
{
    constexpr contiguous_kernel of_8 = count_contiguous<inner_bins<BIN>, 8>,
                                of_16 = count_contiguous<inner_bins<BIN>, 16>;
    return (const void *)(bits == 16 ? of_16 : of_8);
}

const void *kernel_of_inner(inner_lookup lookup, int bits)
{
    switch (lookup) {
    case POW2_U32:
        return kernel<pow2_bin<HISTO_U32>>(bits);
    case POW2_I32:
        return kernel<pow2_bin<HISTO_I32>>(bits);
    case SCALED_F32:
        return kernel<scaled_bin>(bits);
    case NEAREST_F32:
        return kernel<nearest_bin>(bits);
    default:
        return NULL;
    }
}

} // namespace histo::packed_window
