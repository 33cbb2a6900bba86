/* The lookups of axes in specialised kernels, chosen on the host. */
#ifndef CUDA_JIT_AXIS_LOOKUPS_H
#define CUDA_JIT_AXIS_LOOKUPS_H

#include "cuda/jit/class.h"

/* The axes of a plan, without tables of first floats; NULL if out of memory. */
const histo_specialised_axis *histo_cuda_axes_of(const histo_job *job);

/* Copy the tables of axes to shared memory, from word `at` on, as long as they take at most `most` words there; returns
 * how many they take. joint: knows which axes have tables of first floats, and gets the places; NULL: only count. */
uint32_t histo_cuda_tables_of(const histo_problem *problem, const histo_joint *first_floats, uint32_t at, uint32_t most,
                              histo_joint *joint, histo_cuda_class *constants);

/* For cost models: can an axis be looked up in fixed point, also by kernels that are not compiled for it? */
bool histo_cuda_has_fixed_point(const histo_lookup *l, histo_dtype dtype);

/* The fixed point of the only axis; NULL if it has none, or is out of memory. */
const histo_fixed_point *histo_cuda_fixed_point_of(const histo_job *job);

#endif
