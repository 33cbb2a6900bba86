/* Samples of any layout, mask and filter included, and of several axes. */
#ifndef CUDA_WINDOW_ANY_CUH
#define CUDA_WINDOW_ANY_CUH

#include "cuda/strategies/packed_window/window_counters.cuh"

namespace histo::packed_window
{

/* A reader of device/reader.cuh with the interface of readers of several axes: nothing is loaded ahead. */
template <class READER>
struct unjoined {
    enum { ID = HISTO_READ_ANY, PER_STEP = READER::PER_STEP, LEAVES_OUT = true };

    struct loaded {
    };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *work, const histo_joint *, int64_t item)
    {
        return READER::tile(work, item);
    }

    static HISTO_MEMBER void load(const histo_cuda_work *, const histo_joint *, const histo_tile *, uint32_t, loaded *)
    {
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *work, const histo_joint *, const uint32_t *,
                                   const histo_tile *tile, uint32_t at, loaded *, uint32_t (&slot)[PER_STEP])
    {
        READER::slots(work, tile, at, slot);
        return false;
    }
};

/* Do mask or filter leave out samples, which then have the last slot? Each thread counts its own. */
template <class READER>
HISTO_INLINE constexpr bool leaves_out()
{
    if constexpr ((int)READER::ID < (int)HISTO_JOINT_READER_COUNT)
        return false;
    else
        return READER::LEAVES_OUT;
}

/* READER: see several_axes.cuh, or unjoined. Where all slots are in the window, and all of a step's samples in the
 * tile, slots are counters. */
template <class READER, int BITS>
static __global__ void __launch_bounds__(1024, 1)
    count_read(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w,
               const __grid_constant__ histo_joint joint)
{
    enum { N = READER::PER_STEP, PART = histo_part_of_step(N) };
    using counter = counters<BITS, slots_in_window, leaves_out<READER>()>;
    extern __shared__ uint32_t shared[];
    if constexpr ((int)READER::ID != (int)HISTO_READ_ANY) histo_load_joint_first_floats(&work, &joint, shared);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, &joint, item);
        typename READER::loaded loaded;
        if (tile.length) READER::load(&work, &joint, &tile, 0, &loaded);
        counter c = counter::begin(shared, &work, &w, tile.entry, slots_in_window::of(&work, &w, tile.entry));
        const bool covers = c.size == (uint32_t)work.counters;
        uint32_t left_out = 0; /* of this thread */
        for (uint32_t from = 0; from < tile.length; from += blockDim.x * N) {
            uint32_t slot[N], at[PART];
            const bool all = READER::slots(&work, &joint, shared, &tile, from, &loaded, slot) && covers;
#pragma unroll 1 /* the code of counting would exceed the instruction cache */
            for (int part = 0; part < N; part += PART) {
                if constexpr (leaves_out<READER>())
#pragma unroll
                    for (int k = 0; k < PART; k++) {
                        const bool is_out = slot[k] == work.slots;
                        left_out += is_out;
                        slot[k] = is_out ? all ? c.spare : HISTO_NO_SLOT : slot[k];
                    }
                if (all)
                    memcpy(at, slot, sizeof at);
                else
                    c.place(slot, at, PART);
                c.template count<ROLLED>(at, PART);
#pragma unroll
                for (int k = PART; k < N; k++)
                    slot[k - PART] = slot[k];
            }
        }
        if constexpr (leaves_out<READER>()) c.flow.add_left_out(left_out);
        c.merge();
    }
}

} // namespace histo::packed_window

#endif
