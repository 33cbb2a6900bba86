/* A job in the form that kernels take, cut into tiles. */
#ifndef CUDA_LAUNCH_WORK_OF_JOB_H
#define CUDA_LAUNCH_WORK_OF_JOB_H

#include "cuda/device/work.h"
#include "plan/strategy.h"

/* d: 1 … 2^32 - 1. */
histo_divisor histo_divisor_of(int64_t d);

/* The operands of a job, and its samples; all else of the work stays as it is, cleared. */
void histo_cuda_work_bind(histo_cuda_work *work, const histo_job *job);

/* Find what the iterator and the dtypes imply: alignment and divisors. */
void histo_cuda_work_measure(histo_cuda_work *work);

/* Cut samples begin … end into tiles of at most `most` (<= 2^30): about `wanted` tiles, unless that leaves fewer than
 * `least` samples in each. */
void histo_cuda_work_cut(histo_cuda_work *work, int64_t wanted, int64_t least, int64_t most);

/* The work of a job, cut so. */
histo_cuda_work histo_cuda_work_of(const histo_job *job, int64_t wanted, int64_t least, int64_t most);

/* Where a piece of the job ends that begins there, of one batch entry and at most so many samples. */
int64_t histo_cuda_piece_end(const histo_job *job, int64_t begin, int64_t max_samples);

/* Why a strategy that only counts cannot have the problem: it has weights. */
const char *histo_cuda_weights_unsupported(const histo_problem *problem);

/* The fastest reader for the work. */
int histo_cuda_reader_of(const histo_cuda_work *work);

/* Can kernels on the device of a job read the operand directly and fast? pinned: the copy engine can read it. */
bool histo_cuda_reads(const histo_job *job, int operand, bool *pinned);

#endif
