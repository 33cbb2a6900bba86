/* packed_window: pixels of 2 to 4 channels of bytes on bins of 2^k values, on counters without the slots that no byte
 * has (underflow, overflow and NaN), so that 32 * 32 * 32 bins and more fit on chip. */
#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_counters.cuh"

namespace histo::packed_window
{

/* PITCH: bytes from pixel to pixel, 3 or 4; or 1 for channels in planes. */
template <int PITCH, int BITS>
static __global__ void __launch_bounds__(1024, 1)
    count_pixels(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w,
                 const __grid_constant__ histo_joint joint)
{
    enum { N = HISTO_PIXELS, PART = 8 };
    using counter = counters<BITS, slots_of_pixels>;
    extern __shared__ uint32_t shared[];
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_joint_tile tile = histo_tile_joint(&work, &joint, item);
        histo_groups groups = histo_groups_of<PITCH>(&work, &joint, &tile);
        counter c = counter::begin(shared, &work, &w, tile.entry, {&joint});
        int32_t from = groups.first + (int32_t)(threadIdx.x / WARP * HISTO_WARP_PIXELS), step = (int32_t)blockDim.x * N;
        for (; from < (int32_t)tile.length; from += step) {
            uint32_t at[N];
            if ((uint32_t)(from + step) < groups.whole) histo_prefetch_group<PITCH>(&work, &tile, from + step);
            if ((uint32_t)from < groups.whole)
                histo_compact_group<PITCH>(&work, &joint, &tile, from, at);
            else
                histo_compact_any(&work, &joint, &tile, from, c.spare, at);
#pragma unroll 1
            for (int part = 0; part < N; part += PART) { /* rolled: less code is in its cache */
                c.template count<ROLLED>(at, PART);
                memcpy(at, at + PART, PART * sizeof *at);
            }
        }
        c.merge();
    }
}

template <int BITS>
static const void *kernel(uint32_t pitch)
{
    return pitch == 3   ? (const void *)count_pixels<3, BITS>
           : pitch == 4 ? (const void *)count_pixels<4, BITS>
                        : (const void *)count_pixels<1, BITS>;
}

const void *kernel_of_pixels(uint32_t pitch, int bits)
{
    return bits == SIX_BITS ? kernel<SIX_BITS>(pitch) : bits == 8 ? kernel<8>(pitch) : kernel<16>(pitch);
}

} // namespace histo::packed_window
