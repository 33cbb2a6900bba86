/* packed_window: contiguous samples of every dtype, on any axis. */
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

template <int BITS>
constexpr contiguous_kernel kernels[HISTO_DTYPE_COUNT] = {
    count_contiguous<any_axis<HISTO_U8>, BITS>,  count_contiguous<any_axis<HISTO_I8>, BITS>,
    count_contiguous<any_axis<HISTO_U16>, BITS>, count_contiguous<any_axis<HISTO_I16>, BITS>,
    count_contiguous<any_axis<HISTO_U32>, BITS>, count_contiguous<any_axis<HISTO_I32>, BITS>,
    count_contiguous<any_axis<HISTO_U64>, BITS>, count_contiguous<any_axis<HISTO_I64>, BITS>,
    count_contiguous<any_axis<HISTO_F16>, BITS>, count_contiguous<any_axis<HISTO_BF16>, BITS>,
    count_contiguous<any_axis<HISTO_F32>, BITS>, count_contiguous<any_axis<HISTO_F64>, BITS>,
};

const void *kernel_of_dtype(int dtype, int bits)
{
    return (const void *)(bits == 16 ? kernels<16> : kernels<8>)[dtype];
}

} // namespace histo::packed_window
