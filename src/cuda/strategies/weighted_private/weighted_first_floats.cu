/* weighted_private: contiguous samples of f32, looked up by a table of first floats behind the block's words. */
#include "cuda/device/first_floats.cuh"
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

/* A guess in float where the axis is regular, and the first float of each bin where a guess is near an edge. */
struct first_floats {
    static constexpr histo_dtype type = HISTO_F32;

    static HISTO_MEMBER void load(const histo_lookup *l, uint32_t *table) { histo_load_first_floats(l, table); }

    static HISTO_MEMBER void slots(const histo_lookup *l, const uint32_t *table, const float (&x)[GROUP],
                                   uint32_t (&slot)[GROUP])
    {
        if (is_in_doubt(l, x, slot)) histo_slots_by_first_floats(l, table, x, slot, GROUP);
    }

    /* The slots by guesses. Is one of them near an edge, or is the axis regular on a curve only? */
    static HISTO_MEMBER bool is_in_doubt(const histo_lookup *l, const float (&x)[GROUP], uint32_t (&slot)[GROUP])
    {
        if (l->curve != HISTO_STRAIGHT) return true;
        return histo_guess_lookup(l).guess(x, slot, GROUP);
    }
};

kernel kernel_of_first_floats(bool narrow, bool squares)
{
    return contiguous_kernels<first_floats>[narrow][squares];
}

} // namespace histo::weighted_private
