/* weighted_private, on the host: the kernels that this folder gives the strategy.
 *
 *     weighted_integers.cu, weighted_f32.cu, weighted_f64.cu
 *                       contiguous samples of one axis and contiguous weights
 *     weighted_first_floats.cu, weighted_cells.cu
 *                       the same of f32, by tables. CUDA loads all kernels of a file at the first launch of one
 *     weighted_any.cu   anything else, sample by sample */
#ifndef CUDA_WEIGHTED_PRIVATE_H
#define CUDA_WEIGHTED_PRIVATE_H

#include "cuda/strategies/weighted_private/weighted_contiguous.cuh"

namespace histo::weighted_private
{

using kernel = void (*)(const histo_cuda_work, const sums_layout);

/* [narrow][squares] */
template <class LOOKUP>
constexpr kernel contiguous_kernels[2][2] = {
    {count_contiguous<LOOKUP, double, false>, count_contiguous<LOOKUP, double, true>},
    {count_contiguous<LOOKUP, float, false>, count_contiguous<LOOKUP, float, true>}};

/* The lookup of f32: whichever the axis has, or a table behind the words. */
enum f32_lookup { NO_TABLE, FIRST_FLOATS, LINEAR_CELLS, BIT_CELLS };

/* Kernels for weights of float (narrow) or double, with sums of squares or without. kernel_of_integers: NULL for dtypes
 * that only kernel_of_any reads. */
kernel kernel_of_integers(histo_dtype dtype, bool narrow, bool squares);
kernel kernel_of_f32(f32_lookup lookup, bool narrow, bool squares);
kernel kernel_of_first_floats(bool narrow, bool squares);
kernel kernel_of_cells(bool by_bits, bool narrow, bool squares);
kernel kernel_of_f64(bool narrow, bool squares);
kernel kernel_of_any(bool squares);

} // namespace histo::weighted_private

#endif
