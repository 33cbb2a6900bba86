/* lane_private, on the host: the tables of its kernels. */
#ifndef CUDA_LANE_PRIVATE_LANE_H
#define CUDA_LANE_PRIVATE_LANE_H

#include "cuda/launch/images.h"
#include "cuda/launch/several_axes.h"
#include "cuda/strategies/lane_private/contiguous.cuh"
#include "cuda/strategies/lane_private/images.cuh"

typedef void lane_contiguous_kernel(histo_cuda_work work, lane_layout layout);
typedef void lane_images_kernel(lane_images_args args);

/* The kernels for a type: by lookup; those for images also by whether images have several rows, and whether there is a
 * mask. NULL where there is none. */
typedef struct lane_contiguous_row {
    histo_dtype dtype;
    lane_contiguous_kernel *kernel[LANE_LOOKUPS];
} lane_contiguous_row;

typedef struct lane_images_row {
    histo_dtype dtype;
    lane_images_kernel *kernel[LANE_LOOKUPS][2][2];
} lane_images_row;

/* A row for each type of so many bits. */
extern const lane_contiguous_row lane_contiguous_8[2], lane_contiguous_16[4], lane_contiguous_32[3],
    lane_contiguous_64[3];
extern const lane_images_row lane_images_16[4], lane_images_32[3], lane_images_64[3];

/* kernel(work, layout, joint) for several axes, and kernel(work, layout) for any layout (strided.cu). */
const void *lane_joint_kernel(histo_joint_reader reader);
const void *lane_any_kernel(void);

/* ---- A row: the kernels for a type and these lookups ---- */

template <histo_dtype type, class lookup>
static constexpr lane_contiguous_kernel *lane_contiguous_kernel_of()
{
    return lane_count_contiguous<lane_contiguous<type, lane_vectors((lane_lookup)lookup::ID)>, lookup,
                                 typename lookup::counter>;
}

template <histo_dtype type, template <histo_dtype> class... lookups>
static constexpr lane_contiguous_row lane_contiguous_kernels()
{
    lane_contiguous_row row = {type, {NULL}};
    ((row.kernel[lookups<type>::ID] = lane_contiguous_kernel_of<type, lookups<type>>()), ...);
    return row;
}

template <histo_dtype type, class lookup, bool ROWS, bool MASKED>
static constexpr lane_images_kernel *lane_images_kernel_of()
{
    return histo_count_images<lane_images_counter<lane_images<type, ROWS, MASKED>, lookup, typename lookup::counter>>;
}

template <histo_dtype type, template <histo_dtype> class... lookups>
static constexpr lane_images_row lane_images_kernels()
{
    lane_images_row row = {type, {{{NULL}}}};
    ((row.kernel[lookups<type>::ID][false][false] = lane_images_kernel_of<type, lookups<type>, false, false>(),
      row.kernel[lookups<type>::ID][false][true] = lane_images_kernel_of<type, lookups<type>, false, true>(),
      row.kernel[lookups<type>::ID][true][false] = lane_images_kernel_of<type, lookups<type>, true, false>(),
      row.kernel[lookups<type>::ID][true][true] = lane_images_kernel_of<type, lookups<type>, true, true>()),
     ...);
    return row;
}

#endif
