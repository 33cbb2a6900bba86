/* packed_window, on the host: the kernels that this folder gives the strategy.
 *
 *     window_contiguous*.cu  contiguous samples of any dtype, any axis
 *     window_inner.cu        the same with lookups that go straight to a counter: bins of 2^k, nearest edge
 *     window_values.cu       the same where values are counters
 *     window_any.cu          any layout; several axes
 *     window_pixels.cu       pixels of bytes, on counters without flow slots
 *     window_bytes.cu        two columns of bytes, by their values
 *     window_pairs.cu        pairs of images
 *     window_find.cu         finds the window */
#ifndef CUDA_PACKED_WINDOW_H
#define CUDA_PACKED_WINDOW_H

#include "cuda/device/flow.cuh"
#include "cuda/launch/several_axes.h"
#include "cuda/strategies/packed_window/packed_window.cuh"

namespace histo::packed_window
{

/* A kernel's address, or NULL. */
const void *kernel_of_find(void);
const void *kernel_of_dtype(int dtype, int bits);
enum inner_lookup { POW2_U32, POW2_I32, SCALED_F32, NEAREST_F32, NO_INNER };
const void *kernel_of_inner(inner_lookup lookup, int bits);
const void *kernel_of_values(void);
const void *kernel_of_bytes(void);
const void *kernel_of_any(int bits);
const void *kernel_of_joint(histo_joint_reader reader, int bits);
const void *kernel_of_pixels(uint32_t pitch, int bits);

/* Can the kernel of bytes read these samples? */
bool are_bytes(const histo_cuda_work *work);
/* Where a job's samples are pairs of images that the kernel for stacks can read, that kernel, its work, and what its
 * window says of the stack. Else NULL. */
const void *stack_kernel_of(const histo_job *job, int bits, int64_t blocks, int64_t least, histo_cuda_work *work,
                            window *w);
/* Pairs counted on chip in a microsecond. */
double pairs_per_us(const histo_problem *p);

} // namespace histo::packed_window

#endif
