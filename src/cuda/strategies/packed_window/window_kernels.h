/* packed_window: the tables of kernels for contiguous samples on any axis. Each is in a file of its own, since CUDA
 * loads all kernels of a file at the first launch of one. */
#ifndef CUDA_WINDOW_KERNELS_H
#define CUDA_WINDOW_KERNELS_H

#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_contiguous.cuh"

namespace histo::packed_window
{

template <histo_dtype TYPE>
struct any_axis {
    using sample = histo_sample<TYPE>;
    using slots = slots_in_window;

    static HISTO_MEMBER slots begin(const histo_cuda_work *work, const window *w, int64_t entry)
    {
        return slots::of(work, w, entry);
    }

    template <class COUNTER, int N>
    static HISTO_MEMBER void place(const histo_cuda_work *work, const window *, const COUNTER *c,
                                   const histo_stored<TYPE> (&x)[N], uint32_t missing, uint32_t *at)
    {
        uint32_t slot[N];
        histo_any_lookup<TYPE>(&work->lookups[0]).slots(x, slot);
        if (missing)
#pragma unroll
            for (int k = 0; k < N; k++)
                slot[k] = missing >> k & 1 ? HISTO_NO_SLOT : slot[k];
        c->place(slot, at, N);
    }

    template <class COUNTER>
    static HISTO_MEMBER uint32_t place_one(const histo_cuda_work *work, const COUNTER *c, histo_stored<TYPE> x)
    {
        return c->place_one(histo_any_lookup<TYPE>(&work->lookups[0]).slot(x));
    }
};

/* The kernels for a type, with counters of 8 and of 16 bits. */
typedef struct window_row {
    histo_dtype dtype;
    contiguous_kernel kernel[2];
} window_row;

template <histo_dtype TYPE>
static constexpr window_row window_kernels()
{
    return {TYPE, {count_contiguous<any_axis<TYPE>, 8>, count_contiguous<any_axis<TYPE>, 16>}};
}

extern const window_row window_8[2], window_16[2], window_halves[2], window_32[2], window_f32[1], window_64[2],
    window_f64[1];

} // namespace histo::packed_window

#endif
