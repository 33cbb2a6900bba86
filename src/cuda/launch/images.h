/* Detecting images, and launching the kernels that count them (images.cu). */
#ifndef CUDA_LAUNCH_IMAGES_H
#define CUDA_LAUNCH_IMAGES_H

#include "cuda/device/images.cuh"
#include "plan/strategy.h"

/* Describe the first operand's samples, and the mask. False unless they are such images: one axis, no weights, at most
 * one dimension of rows, a mask of bytes. skip_dim: a batch dimension that lies within a row, or -1; lowest: bytes from
 * the first sample to the lowest address of its row; row_bytes: length of a row from there. */
bool histo_cuda_images_of(const histo_job *job, int skip_dim, int64_t lowest, int64_t row_bytes, histo_images *in);

/* Cut the images into tiles for at most `blocks` resident blocks of `threads` threads, and launch; several times where
 * 32-bit indices or counters would not do. merge: the time a block takes to merge its counters, in vectors that it
 * could read instead. */
typedef histo_status histo_images_launch(void *context, const histo_images *in);
histo_status histo_cuda_images_launch(const histo_images *in, int threads, int64_t blocks, int64_t merge,
                                      histo_images_launch *launch, void *context);

#endif
