/* packed_window: pairs of images in registers. Nearly all are in the window, where a shift, a multiplication and an
 * addition find them (pow2_difference); the others are looked up one by one. */
#include <math.h>

#include "cuda/launch/work_of_job.h"
#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_counters.cuh"
#include "cuda/strategies/packed_window/window_pairs.cuh"
#include "view/stack_iter.h"

namespace histo::packed_window
{

/* STEP: HISTO_PAIRS_RING or HISTO_PAIRS_APART, the iterator's step in images. */
template <histo_dtype TYPE, int STEP, int BITS>
static __global__ void __launch_bounds__(1024, 1)
    count_pairs(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)
{
    using counter = counters<BITS>;
    using images = stack<TYPE>;
    extern __shared__ uint32_t shared[];
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_at(&work, item);
        counter c = counter::begin(shared, &work, &w, tile.entry, slots_in_window::of(&work, &w, tile.entry));
        const uint32_t first = c.slots.first;
        const raster image = raster::of(&work, &tile);
        const uint32_t inner = first < w.pow2.end ? min(c.size, w.pow2.end - first) : 0;
        for (uint32_t from = 0; from < tile.length; from += blockDim.x * images::PIXELS) {
            images s;
            s.load(&work, &w.images, &tile, &image, from);
            uint32_t row[images::PIXELS];
#pragma unroll
            for (int k = 0; k < images::PIXELS; k++)
                row[k] = s.means[k] + w.pow2.base - first;
#pragma unroll 1
            while (s.pairs > 0) {
                int32_t x[PAIR_SAMPLES];
                uint32_t at[PAIR_SAMPLES];
                int taken = s.template take<STEP>(x);
                const bool all = s.is_complete(taken);
                uint32_t highest = all ? 0 : ~0u, elsewhere = 0; /* a bit for each */
#pragma unroll
                for (int k = 0; k < PAIR_SAMPLES; k++) {
                    at[k] = slot_by(&w.pow2, x[k]) + row[k % images::PIXELS];
                    highest = max(highest, at[k]);
                }
                if (highest >= inner)
#pragma unroll
                    for (int k = 0; k < PAIR_SAMPLES; k++)
                        elsewhere |= (uint32_t)(!all || at[k] >= inner) << k;
#pragma unroll 1
                while (__any_sync(~0u, elsewhere)) {
                    const uint32_t one = elsewhere & (0 - elsewhere);
                    uint32_t slot = pick(at, PAIR_SAMPLES, one) + first, its = c.spare;
                    if (one && all && slot < w.pow2.end) {
                        c.count_outside(slot);
                    } else if (one) {
                        slot = s.slot(&work, taken, x, __ffs((int)one) - 1);
                        if (slot != HISTO_NO_SLOT) its = c.place_one(slot);
                    }
#pragma unroll
                    for (int k = 0; k < PAIR_SAMPLES; k++)
                        at[k] = one >> k & 1 ? its : at[k];
                    elsewhere ^= one;
                }
                c.template count<ROLLED>(at, PAIR_SAMPLES);
            }
        }
        c.merge();
    }
}

/* ---- On the host ---- */

using pairs_kernel = void (*)(const histo_cuda_work, const window);

template <histo_dtype TYPE, int STEP>
constexpr pairs_kernel by_bits[2] = {count_pairs<TYPE, STEP, 8>, count_pairs<TYPE, STEP, 16>};

template <histo_dtype TYPE>
static const void *kernel(int step, int bits)
{
    const pairs_kernel *kernels =
        step == HISTO_PAIRS_APART ? by_bits<TYPE, HISTO_PAIRS_APART> : by_bits<TYPE, HISTO_PAIRS_RING>;
    return (const void *)kernels[bits == 16];
}

static const void *kernel_of(histo_dtype dtype, int step, int bits)
{
    return dtype == HISTO_U16 ? kernel<HISTO_U16>(step, bits) : kernel<HISTO_U8>(step, bits);
}

/* Whether the kernels can read these pixels of one image. */
static bool is_stack(const histo_cuda_work *pixels)
{
    const histo_strided_iter *iter = &pixels->iter;
    const int runs = iter->ndim - iter->batch_ndim, last = iter->ndim - 1;
    return iter->images <= MAX_STACK && !iter->relative && pixels->aligned && runs <= 2 &&
           iter->shape[last] <= (runs == 2 ? INT32_MAX : INT64_MAX) &&
           iter->strides[0][last] == (int64_t)histo_dtype_size(pixels->dtypes[0]);
}

static stack_geometry stack_geometry_of(const histo_strided_iter *pixels)
{
    const uint32_t images = (uint32_t)pixels->images;
    const int64_t stride = pixels->image_stride;
    const bool is_common = images == MAX_STACK && stride > 0 && stride <= UINT32_MAX && stride % 4 == 0;
    return {images, images / (uint32_t)pixels->step, histo_mean_factor(images), is_common ? (uint32_t)stride : 0};
}

/* Products are so small that no sum with another slot wraps. */
static pow2_difference pow2_difference_of(const histo_problem *p)
{
    const histo_lookup *l = &p->lookups[HISTO_DIFFERENCE];
    const double most = UINT16_MAX + fabs(l->lo) + l->step, stride = p->slot_strides[HISTO_DIFFERENCE];
    const double limit = 1 << 30, first = l->lo / l->step;
    int exponent;
    bool is_power = frexp(l->step, &exponent) == 0.5, is_wide = exponent > 0;
    bool is_even = l->hi == l->lo + l->bins * l->step && l->lo == floor(l->lo) && first == floor(first);
    pow2_difference d = {};
    if (p->pairs.relative || l->kind != HISTO_UNIFORM || l->closed || !is_power || !is_even) return d;
    if ((most / l->step + 2) * stride >= limit || most >= limit || p->slots >= limit) return d;
    d.shift = is_wide ? exponent - 1 : 0;
    d.factor = (int32_t)(is_wide ? stride : stride / l->step);
    d.base = (uint32_t)(int32_t)((1 - first) * stride);
    d.end = (uint32_t)(((double)l->bins + 2) * stride);
    return d;
}

const void *stack_kernel_of(const histo_job *job, int bits, int64_t blocks, int64_t least, histo_cuda_work *work,
                            window *w)
{
    if (!histo_is_computed(job->problem)) return NULL;
    const int pairs = job->iter.images / job->iter.step;
    histo_job of_pixels = *job;
    of_pixels.iter = histo_pairs_iter_pixels(&job->iter);
    of_pixels.begin /= pairs;
    of_pixels.end /= pairs;
    const histo_cuda_work pixels = histo_cuda_work_of(&of_pixels, blocks, least / pairs, HISTO_MAX_TILE);
    if (!is_stack(&pixels)) return NULL;
    *work = pixels;
    w->images = stack_geometry_of(&work->iter);
    w->pow2 = pow2_difference_of(job->problem);
    return kernel_of(work->dtypes[0], work->iter.step, bits);
}

double pairs_per_us(const histo_problem *p)
{
    const double differences_per_us = 7e5, ratios_per_us = 5e4; /* that is how slow a division of doubles is */
    return p->pairs.relative ? ratios_per_us : differences_per_us;
}

} // namespace histo::packed_window
