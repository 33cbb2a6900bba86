/* Samples travel from host memory to chunks of a GPU's memory, where they are counted. */
#ifndef CUDA_TRANSFER_STAGED_H
#define CUDA_TRANSFER_STAGED_H

#include "cuda/memory/staging.h"
#include "plan/strategy.h"

/* Launch the job in chunks, overlapped with copies of the operands that the device cannot read directly. Between begin
 * and end. For jobs that are counted in parts, see below. */
histo_status histo_cuda_run_staged(const histo_strategy *strategy, const histo_job *job, const bool *direct,
                                   const bool *pinned);

/* Launch a job of pairs of images in host memory in chunks, likewise overlapped with copies (staged_pairs.cu). */
histo_status histo_cuda_run_staged_pairs(const histo_strategy *strategy, const histo_job *job);

/* A job and how each of its operands travels. */
typedef struct histo_staged_route {
    const histo_job *job;
    histo_strided_iter iter; /* over the samples only: the CPU may be unable to read the offsets of ragged segments */
    histo_staging *staging;
    int64_t chunk, piece; /* in samples; a chunk is a multiple of a piece */
    int64_t chunks_begun, pieces_begun;
    bool travels[HISTO_MAX_OPERANDS];                                  /* copied to the device */
    bool gathered[HISTO_MAX_OPERANDS];                                 /* through pieces */
    bool gathers;                                                      /* any operand is gathered … */
    bool strided;                                                      /* … sample by sample … */
    bool fetches;                                                      /* … or fetched from the caller's memory */
    bool overlaps;                                                     /* chunks are copied while others are counted */
    size_t in_chunk[HISTO_MAX_OPERANDS], in_piece[HISTO_MAX_OPERANDS]; /* offset of each operand */
    size_t chunk_bytes;
} histo_staged_route;

/* Plan how a job's operands travel, in chunks of so many bytes, and take a staging. Here and below, the job stays the
 * caller's, and its device is current. */
histo_status histo_staged_open(histo_staged_route *route, const histo_strategy *strategy, const histo_job *job,
                               const bool *direct, const bool *pinned, size_t chunk_bytes);
/* Copy and count samples [begin, end) of the job. What is fetched from the caller's memory may still travel
 * afterwards. */
histo_status histo_staged_bring(const histo_strategy *strategy, histo_staged_route *route, int64_t begin, int64_t end);
/* Is the chunk that comes next still being copied or counted? */
histo_status histo_staged_is_busy(const histo_staged_route *route, bool *busy);
/* Wait until the caller may change its memory, and give back the staging. Returns `status`, or the first failure. */
histo_status histo_staged_close(histo_staged_route *route, histo_status status);

#endif
