/* Launching kernels that count tiles in shared memory: see device/block.cuh. */
#ifndef CUDA_BLOCK_CUH
#define CUDA_BLOCK_CUH

#include "cuda/cuda.h"
#include "cuda/device/block.cuh"

typedef struct histo_block_layout {
    int threads;    /* 0: it does not fit */
    size_t shared;  /* bytes */
    int64_t blocks; /* of the grid, at most */
    bool by_rows;   /* merge by a second kernel */
} histo_block_layout;

/* A block of about `wanted` threads, in groups of `group`, that takes `each` bytes of shared memory for a group and
 * `extra` for itself: as many groups as fit, none if not even one does. blocks: 0 for as many as the device holds. */
histo_block_layout histo_cuda_block_layout(const histo_problem *problem, int64_t wanted, int group, size_t each,
                                           size_t extra, int64_t blocks, bool by_rows);

/* Bytes of workspace. */
size_t histo_cuda_rows_bytes(const histo_problem *problem, const histo_block_layout *layout);

/* Launch kernel(work, rows) or kernel(work, rows, *more) over all tiles, and the second kernel where the layout wants
 * it. */
histo_status histo_cuda_launch_tiles(const histo_job *job, const void *kernel, const histo_cuda_work *work,
                                     const void *more, const histo_block_layout *layout);

#endif
