/* A reader by thread coarsening (Ross 2014, 5.4): a thread loads C neighbouring samples at once and counts them before
 * it loads the next. */
#ifndef PAPERS_STRATEGIES_COARSE_CUH
#define PAPERS_STRATEGIES_COARSE_CUH

#include "cuda/device/reader.cuh"

/* Load bytes, a power of two or a multiple of 16, from a multiple of as many. */
HISTO_IN_KERNEL void histo_load_at_once(uint32_t *words, const char *from, int bytes)
{
    switch (bytes) {
    case 1:
        words[0] = __ldcs((const uint8_t *)from);
        break;
    case 2:
        words[0] = __ldcs((const uint16_t *)from);
        break;
    case 4:
        words[0] = __ldcs((const uint32_t *)from);
        break;
    case 8: {
        uint2 two = __ldcs((const uint2 *)from);
        memcpy(words, &two, sizeof two);
        break;
    }
    default:
        for (int v = 0; v < bytes / 16; v++) {
            uint4 four = __ldcs((const uint4 *)from + v);
            memcpy(words + 4 * v, &four, sizeof four);
        }
    }
}

/* Contiguous aligned samples of one axis. C: 1, 2 or 4. */
template <histo_dtype type, int C>
struct histo_coarse {
    using storage = histo_stored<type>;
    enum { ID = type, PER_STEP = C, SIZE = (int)sizeof(storage) };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t item)
    {
        return histo_contiguous<type>::tile(w, item);
    }

    static HISTO_MEMBER void slots(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, uint32_t (&slot)[C])
    {
        uint32_t first = at + threadIdx.x * C, words[(C * SIZE + 3) / 4] = {0};
        const storage *from = (const storage *)tile->at + first;
        const bool whole = first >= tile->pad && first + C <= tile->length;
        if (whole) histo_load_at_once(words, (const char *)from, C * SIZE);
        storage x[C];
        memcpy(x, words, sizeof x);
#pragma unroll
        for (int k = 0; k < C; k++) {
            bool is_there = first + k >= tile->pad && first + k < tile->length;
            if (is_there && !whole) x[k] = from[k];
            slot[k] = is_there ? histo_any_lookup<type>(&w->lookups[0]).slot(x[k]) : HISTO_NO_SLOT;
        }
    }
};

#ifndef __CUDACC_RTC__ /* on the host */

/* kernel_of(reader()) for coarsening = 1, 2 or 4 where the reader's samples are contiguous, or for the reader itself.
 */
template <typename reader, typename function>
const void *histo_kernel_by_coarsening(reader it, int coarsening, function kernel_of)
{
    if constexpr ((int)reader::ID != (int)HISTO_READ_ANY) {
        const histo_dtype type = (histo_dtype)reader::ID;
        if (coarsening == 1) return kernel_of(histo_coarse<type, 1>());
        if (coarsening == 2) return kernel_of(histo_coarse<type, 2>());
        if (coarsening == 4) return kernel_of(histo_coarse<type, 4>());
    }
    return kernel_of(it);
}

#endif

#endif
