/* Choosing the reader of several axes (several_axes.cu). */
#ifndef CUDA_LAUNCH_SEVERAL_AXES_H
#define CUDA_LAUNCH_SEVERAL_AXES_H

#include "cuda/device/several_axes.cuh"
#include "plan/strategy.h"

/* The reader for the work, and what it has to know; first_floats are all 0. */
histo_joint_reader histo_cuda_joint_of(const histo_cuda_work *work, histo_joint *joint);

/* The number of compact counters of a plan whose jobs may be read as pixels with by_shift; else 0. */
uint32_t histo_cuda_compact_of(const histo_problem *problem);

/* Fill in what compact counters need. */
void histo_cuda_make_compact(histo_joint *joint, int naxes);

/* Words of the tables of first floats, of axes of at most some thousand bins. Place them from word `at` of shared
 * memory on, unless `joint` is NULL. halves: also for f16 and bf16. */
uint32_t histo_cuda_first_floats_of(const histo_problem *problem, bool halves, uint32_t at, histo_joint *joint);

#endif
