/* weighted_private: contiguous samples of f32, looked up by cells in a copy of their table behind the block's words. */
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

/* Cells, in a copy of their table. */
template <bool BY_BITS>
struct cells {
    static constexpr histo_dtype type = HISTO_F32;

    static HISTO_MEMBER void load(const histo_lookup *l, uint32_t *table)
    {
        histo_copy_table(l->cells.entry, l->cells.words, table);
    }

    static HISTO_MEMBER void slots(const histo_lookup *l, const uint32_t *table, const float (&x)[GROUP],
                                   uint32_t (&slot)[GROUP])
    {
        histo_cells_lookup<HISTO_F32>(l, table, BY_BITS).slots(x, slot);
    }
};

kernel kernel_of_cells(bool by_bits, bool narrow, bool squares)
{
    return by_bits ? contiguous_kernels<cells<true>>[narrow][squares]
                   : contiguous_kernels<cells<false>>[narrow][squares];
}

} // namespace histo::weighted_private
