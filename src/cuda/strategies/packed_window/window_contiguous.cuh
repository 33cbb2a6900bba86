/* Contiguous, aligned samples on one axis: a thread loads the next step's vectors before it counts those of this one.
 */
#ifndef CUDA_WINDOW_CONTIGUOUS_CUH
#define CUDA_WINDOW_CONTIGUOUS_CUH

#include "cuda/strategies/packed_window/window_counters.cuh"

namespace histo::packed_window
{

using contiguous_kernel = void (*)(const histo_cuda_work, const window);

/* LOOKUP: from samples to counters.
 *
 *     sample, slots    the samples' histo_sample, and which slots counters count
 *     begin(work, w, entry)    those of a batch entry
 *     place(work, w, c, x, missing, at)    the counters of a thread's samples; a bit of `missing` says that one does
 * not exist, and is spare place_one(work, c, x)    the counter of one */
template <class LOOKUP, int BITS>
static __global__ void __launch_bounds__(1024, 1)
    count_contiguous(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)
{
    using sample = typename LOOKUP::sample;
    using storage = typename sample::storage;
    using counter = counters<BITS, typename LOOKUP::slots>;
    enum { N = sample::PER_STEP, EACH = sample::VECTOR, GROUPS = HISTO_STEP_VECTORS * EACH / N };
    enum { VECTORS = HISTO_STEP_VECTORS / GROUPS };
    extern __shared__ uint32_t shared[];
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_aligned(&work, item, (int)sizeof(storage));
        histo_steps s = histo_steps_of(&tile, EACH);
        uint4 loaded[HISTO_STEP_VECTORS];
        const uint32_t step = blockDim.x * HISTO_STEP_VECTORS;
        if (s.begin < s.end) histo_load_step(&s, s.begin, loaded);
        counter c = counter::begin(shared, &work, &w, tile.entry, LOOKUP::begin(&work, &w, tile.entry));
        for (uint32_t from = s.begin; from < s.end; from += step) {
            uint4 now[HISTO_STEP_VECTORS];
            memcpy(now, loaded, sizeof now);
            if (from + step < s.end) histo_load_step(&s, from + step, loaded);
#pragma unroll 1 /* twice the code is slower to fetch */
            for (int group = 0; group < GROUPS; group++) {
                storage x[N];
                uint32_t at[N], missing = 0;
                memcpy(x, now, sizeof x);
                if (from + step > s.end)
#pragma unroll
                    for (int v = 0; v < VECTORS; v++)
                        if (histo_step_vector(from, group * VECTORS + v) >= s.end)
                            missing |= ((1u << EACH) - 1) << v * EACH;
                LOOKUP::place(&work, &w, &c, x, missing, at);
                c.template count<UNROLLED>(at, N);
#pragma unroll
                for (int v = VECTORS; v < HISTO_STEP_VECTORS; v++)
                    now[v - VECTORS] = now[v];
            }
        }
        uint32_t others = histo_beside_steps(&s, &tile, EACH);
        for (uint32_t first = 0; first < others; first += blockDim.x) {
            uint32_t i = first + threadIdx.x, at = c.spare;
            if (i < others)
                at = LOOKUP::place_one(&work, &c,
                                       ((const storage *)tile.at)[histo_nth_beside_steps(&s, &tile, EACH, i)]);
            c.template count<ROLLED>(&at, 1);
        }
        c.merge();
    }
}

} // namespace histo::packed_window

#endif
