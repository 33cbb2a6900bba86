/* packed_window: contiguous 16-bit samples of any dtype, which are counted by their value where 65536 counters fit.
 * Values become slots in the merge. */
#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_contiguous.cuh"

namespace histo::packed_window
{

/* Samples of 16 bits are their counters' numbers. */
struct by_value {
    using sample = histo_sample<HISTO_U16>;
    using slots = slots_of_values;

    static HISTO_MEMBER slots begin(const histo_cuda_work *work, const window *, int64_t)
    {
        return {work->lookups[0].table};
    }

    template <class COUNTER, int N>
    static HISTO_MEMBER void place(const histo_cuda_work *, const window *, const COUNTER *c, const uint16_t (&x)[N],
                                   uint32_t missing, uint32_t *at)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            at[k] = missing >> k & 1 ? c->spare : x[k];
    }

    template <class COUNTER>
    static HISTO_MEMBER uint32_t place_one(const histo_cuda_work *, const COUNTER *, uint16_t x)
    {
        return x;
    }
};

const void *kernel_of_values(void)
{
    return (const void *)count_contiguous<by_value, 16>;
}

} // namespace histo::packed_window
