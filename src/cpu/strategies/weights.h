/* The weights of blocks, and the reproducible sums that they are added to. */
#ifndef CPU_WEIGHTS_H
#define CPU_WEIGHTS_H

#include "cpu/kernels/digits.h"
#include "cpu/samples/block.h"

/* Provide the windows of the reproducible sums for the job's weights: the only step of counting weights that can
 * fail. */
histo_status histo_weights_reserve(const histo_job *job);

/* Add the weight of one sample to slot `index`, numbered over the whole batch. Not thread-safe unless the sums are
 * reproducible. */
void histo_weights_add(const histo_job *job, int64_t index, const char *const *at);

/* The weights of a block as doubles (64-bit integers rounded); 1 if there are none. */
void histo_block_weights(const histo_job *job, const histo_block *block, double *weights);

/* The weights of a block as doubles, with their extremes; false if doubles do not represent all of them. */
bool histo_block_exact_weights(const histo_job *job, const histo_block *block, double *weights,
                               histo_magnitudes *extremes);

/* Properties of weights that doubles represent. */
histo_numbers histo_weight_numbers(const histo_problem *problem);

/* Add the weights of a block (wanted[0]) and their squares (wanted[1]) to the histogram's reproducible sums, with slots
 * from histo_block_slots. alone: no other thread adds to the same slots; otherwise thread-safe, and slower. */
void histo_block_add_exact(const histo_job *job, const histo_block *block, const bool wanted[2], bool alone,
                           const uint32_t *slots);

#endif
