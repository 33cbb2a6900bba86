/* lane_private, on the host: the tables of its kernels. */
#ifndef CUDA_LANE_KERNELS_H
#define CUDA_LANE_KERNELS_H

#include "cuda/launch/images.h"
#include "cuda/launch/several_axes.h"
#include "cuda/strategies/lane_private/lane_contiguous.cuh"
#include "cuda/strategies/lane_private/lane_images.cuh"

namespace histo::lane_private
{

typedef void contiguous_kernel(histo_cuda_work work, counter_layout layout);
typedef void images_kernel(images_args args);

/* The kernels for a type: by lookup; those for images also by whether images have several rows, and whether there is a
 * mask. NULL where there is none. */
typedef struct contiguous_row {
    histo_dtype dtype;
    contiguous_kernel *kernel[LOOKUP_KINDS];
} contiguous_row;

typedef struct images_row {
    histo_dtype dtype;
    images_kernel *kernel[LOOKUP_KINDS][2][2];
} images_row;

/* A row for each type of so many bits. Those of f32 and f64 are in files of their own: CUDA loads all kernels of a file
 * at the first launch of one. */
extern const contiguous_row contiguous_8[2], contiguous_16[4], contiguous_32[2], contiguous_64[2];
extern const contiguous_row contiguous_f32[1], contiguous_f64[1];
extern const images_row images_16[4], images_32[2], images_64[2], images_f32[1], images_f64[1];

/* kernel(work, layout, joint) for several axes, and kernel(work, layout) for any layout (lane_strided.cu). */
const void *joint_kernel(histo_joint_reader reader);
const void *any_kernel(void);

/* ---- A row: the kernels for a type and these lookups ---- */

template <histo_dtype type, class lookup>
static constexpr contiguous_kernel *contiguous_kernel_of()
{
    return count_contiguous<contiguous_reader<type, vectors_of_step((lookup_kind)lookup::ID)>, lookup,
                            typename lookup::counter>;
}

template <histo_dtype type, template <histo_dtype> class... lookups>
static constexpr contiguous_row contiguous_kernels()
{
    contiguous_row row = {type, {NULL}};
    ((row.kernel[lookups<type>::ID] = contiguous_kernel_of<type, lookups<type>>()), ...);
    return row;
}

template <histo_dtype type, class lookup, bool ROWS, bool MASKED>
static constexpr images_kernel *images_kernel_of()
{
    return histo_count_images<images_counter<images_reader<type, ROWS, MASKED>, lookup, typename lookup::counter>>;
}

template <histo_dtype type, template <histo_dtype> class... lookups>
static constexpr images_row images_kernels()
{
    images_row row = {type, {{{NULL}}}};
    ((row.kernel[lookups<type>::ID][false][false] = images_kernel_of<type, lookups<type>, false, false>(),
      row.kernel[lookups<type>::ID][false][true] = images_kernel_of<type, lookups<type>, false, true>(),
      row.kernel[lookups<type>::ID][true][false] = images_kernel_of<type, lookups<type>, true, false>(),
      row.kernel[lookups<type>::ID][true][true] = images_kernel_of<type, lookups<type>, true, true>()),
     ...);
    return row;
}

} // namespace histo::lane_private

#endif
