/* 8-bit samples that stand side by side, or a few bytes apart: see pixels.cu. */
#ifndef CUDA_PIXELS_H
#define CUDA_PIXELS_H

#include "cuda/cuda.h"

/* Count all samples of the job, by blocks of so many threads (whole warps), at most `blocks` of them if that is not 0.
 * False if it is not made for such samples: nothing has been done then. */
bool histo_cuda_count_pixels(const histo_job *job, int64_t threads, int64_t blocks, histo_status *status);

/* Likewise the bytes at `at`, if they are few. */
bool histo_cuda_count_small_image(const histo_job *job, const char *at, int64_t bytes, int64_t threads, int64_t blocks,
                                  histo_status *status);

#endif
