/* lane_private, between its host code and its kernels: the layout of a block's shared memory, and the tables of
 * kernels. */
#ifndef CUDA_LANE_PRIVATE_LANE_H
#define CUDA_LANE_PRIVATE_LANE_H

#include "cuda/images.cuh"
#include "cuda/joint.cuh"

/* Lookups that kernels are made for. */
typedef enum lane_lookup {
    LANE_BY_VALUE,   /* 8-bit samples by their value */
    LANE_BY_POW2,    /* bins of 2^k integers */
    LANE_BY_NEAREST, /* the edge nearest to a guess */
    LANE_BY_FIRSTS,  /* the first float of each bin */
    LANE_BY_LINEAR,  /* cells over the sample's value … */
    LANE_BY_BITS,    /* … and over its bits */
    LANE_BY_ANY,     /* chosen at run time */
    LANE_LOOKUPS
} lane_lookup;

enum { LANE_VALUES = 256, LANE_WARP = 32 };

/* A block's shared memory: counters, and after them a table for the lookup. */
typedef struct lane_layout {
    uint32_t log_copies;
    bool spreads;   /* counters are spread over the banks of a copy, as many lanes share it */
    uint32_t words; /* of counters */
    uint32_t team;  /* blocks that count a tile together */
    uint32_t moved; /* slots from this one on have counters one higher: see lane_slot_counter */
} lane_layout;

/* By value twice as many warps are resident, as shared-memory atomics are the bound, so each thread loads half as much.
 */
constexpr int lane_vectors(lane_lookup lookup)
{
    return lookup == LANE_BY_VALUE ? 2 : 4;
}

/* Threads of a block, at most. Cells of eight samples at once take more registers. */
constexpr int lane_max_threads(lane_lookup lookup, size_t sample_bytes)
{
    return (lookup == LANE_BY_LINEAR || lookup == LANE_BY_BITS || lookup == LANE_BY_ANY) && sample_bytes < 8 ? 768
                                                                                                             : 1024;
}

/* Resident blocks of 1024 threads. */
#if defined __CUDA_ARCH__ &&                                                                                           \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
enum { LANE_FULL_BLOCKS = 2 };
#else
enum { LANE_FULL_BLOCKS = 1 };
#endif

/* ---- Kernels ---- */

/* For contiguous samples. */
typedef void lane_contiguous_kernel(histo_cuda_work work, lane_layout layout);

/* For images. */
typedef struct lane_images_args {
    histo_cuda_work work;
    lane_layout layout;
    histo_images in;
} lane_images_args;
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

#endif
