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

/* A reader of contiguous aligned samples of one axis, C at once: 1, 2 or 4. Others stay as they are. */
template <class reader, int C>
struct histo_coarse : reader {
};

template <histo_dtype type, typename lookup, int C>
struct histo_coarse<histo_contiguous<type, lookup>, C> {
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
        for (int k = 0; k < C; k++)
            if (!whole && is_in(tile, first + k)) x[k] = from[k];
        lookup(&w->lookups[0]).slots(x, slot);
#pragma unroll
        for (int k = 0; k < C; k++)
            slot[k] = is_in(tile, first + k) ? slot[k] : HISTO_NO_SLOT;
    }

  private:
    static HISTO_MEMBER bool is_in(const histo_tile *tile, uint32_t i)
    {
        return i >= tile->pad && i < tile->length;
    }
};

#ifndef __CUDACC_RTC__ /* on the host */

/* kernel_of(reader()) for the reader with a coarsening that is one of those listed, where its samples are contiguous,
 * or else for the reader itself. */
template <int... listed, typename reader, typename function>
const void *histo_kernel_by_coarsening(reader it, int coarsening, function kernel_of)
{
    const void *kernel = NULL;
    if constexpr ((int)reader::ID != (int)HISTO_READ_ANY)
        ((kernel = coarsening == listed ? kernel_of(histo_coarse<reader, listed>()) : kernel), ...);
    return kernel ? kernel : kernel_of(it);
}

#endif

#endif
