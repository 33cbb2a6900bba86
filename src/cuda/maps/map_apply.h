/* Applying maps to samples in a GPU's memory. */
#ifndef CUDA_MAPS_MAP_APPLY_H
#define CUDA_MAPS_MAP_APPLY_H

#include "cuda/maps/cuda_map.h"
#include "cuda/maps/map_work.h"

/* What a map on a device keeps from one application to the next. */
struct histo_cuda_map_applying {
    struct histo_cuda_map_lookups *lookups;
    /* For moments: the sums of rows. */
    double *rows;
    int64_t capacity;       /* rows that there is room for */
    unsigned *arrived;      /* how many blocks have written their sums */
    histo_moments *moments; /* the result, page-locked */
};

/* Describe the work of an application. out: NULL if there are no results; the dimensions are then those of the views.
 */
histo_status histo_cuda_map_describe(histo_map_work *work, histo_cuda_map *map, const histo_mapping *mapping,
                                     const histo_view *views, const histo_view *out, const histo_apply_options *options,
                                     bool capturing);

/* A kernel of histo_map_rows, each of whose threads takes vectors of so many samples. NULL: there is none. */
typedef struct histo_map_kernel {
    const void *kernel;
    int vector;
} histo_map_kernel;

/* The kernel for results of u8, u16 or f32, if there is one: kernels::of<result>(wide). */
template <class kernels>
static histo_map_kernel histo_map_kernel_by_result(histo_dtype result, bool wide)
{
    switch (result) {
    case HISTO_U8:
        return kernels::template of<HISTO_U8>(wide);
    case HISTO_U16:
        return kernels::template of<HISTO_U16>(wide);
    case HISTO_F32:
        return kernels::template of<HISTO_F32>(wide);
    default:
        return {};
    }
}

/* The kernel for all other work. */
const void *histo_cuda_map_any(void);

/* The kernel of histo_map_joint; NULL: there is none. */
const void *histo_cuda_map_joint(histo_dtype result);

/* wide: samples and results are contiguous in rows that are aligned for it; else vectors have one sample. */
histo_map_kernel histo_cuda_map_bytes(size_t result_size, bool wide);
histo_map_kernel histo_cuda_map_slots(histo_dtype dtype, histo_dtype result, bool wide);
histo_map_kernel histo_cuda_map_cells(histo_dtype dtype, histo_dtype result, bool wide);

#endif
