/* Staging: the buffers that bring samples to a GPU and return probed slots. Kept for reuse, because page-locking memory
 * is slow. */
#ifndef CUDA_MEMORY_STAGING_H
#define CUDA_MEMORY_STAGING_H

#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "plan/strategy.h"

enum { HISTO_STAGED_PIECES = 8, HISTO_STAGED_CHUNKS = 2, HISTO_STAGED_ALIGNMENT = 256 };

/* A piece is the unit that the CPU fills and the GPU fetches; a chunk consists of pieces and is counted at once. Every
 * operand starts at a multiple of the alignment. */
#define HISTO_PIECE_BYTES ((size_t)8 << 20) /* at most */
#define HISTO_CHUNK_BYTES ((size_t)64 << 20)

typedef struct histo_staged_piece {
    char *memory;       /* host memory */
    size_t locked;      /* bytes that are page-locked: the GPU can reach them */
    cudaEvent_t copied; /* it may be refilled */
} histo_staged_piece;

typedef struct histo_staged_chunk {
    char *memory; /* device memory */
    size_t bytes;
    cudaEvent_t copied;  /* it can be counted */
    cudaEvent_t counted; /* it may be overwritten */
} histo_staged_chunk;

typedef struct histo_staging {
    struct histo_staging *next;
    histo_device device;
    unsigned long long context; /* to which all these resources belong */
    cudaStream_t copies;
    char *memory; /* where the pieces are; NULL before the first use */
    histo_staged_piece pieces[HISTO_STAGED_PIECES];
    histo_staged_chunk chunks[HISTO_STAGED_CHUNKS];
    uint32_t *slots; /* on the device, of probed samples; NULL before the first probe */
    int slots_room;
    char *found; /* on the device, for what is found about samples; NULL before the first use */
    size_t found_bytes;
    char *reply; /* page-locked host memory for as much of it as fits */
} histo_staging;

/* An unused staging, made if there is none. The device must be current. */
histo_status histo_staging_take(histo_device device, histo_staging **staging);
/* reusable: no use of it failed, so it may be kept. Copies and kernels may still be using it. */
void histo_staging_give(histo_staging *staging, bool reusable);

/* Call use(staging) where check(job) finds nothing against it, with the job's device current and a staging of its own.
 */
template <class USE>
histo_status histo_with_staging(const histo_job *job, histo_status (*check)(const histo_job *), USE use)
{
    int before;
    histo_status status = histo_cuda_enter(job->problem->device, &before);
    if (status != HISTO_OK) return status;
    status = check(job);
    histo_staging *staging;
    if (status == HISTO_OK) status = histo_staging_take(job->problem->device, &staging);
    if (status == HISTO_OK) {
        status = use(staging);
        histo_staging_give(staging, status == HISTO_OK);
    }
    histo_cuda_leave(before);
    return status;
}

/* Allocate the pieces, ready to be filled; page-lock so many bytes of a piece, or all, so that the GPU can reach them.
 * Locking a whole piece takes 2 ms, so that a process that reads little does not. */
histo_status histo_staging_pieces(histo_staging *staging);
histo_status histo_staged_piece_lock(histo_staged_piece *piece, size_t bytes);
/* Allocate room for the slots of n probed samples. */
histo_status histo_staging_slots(histo_staging *staging, int n);
/* Allocate so many bytes for what is found, and the reply. */
enum { HISTO_REPLY_BYTES = 1 << 14 };
histo_status histo_staging_found(histo_staging *staging, size_t bytes);
/* Allocate at least `bytes` bytes for a chunk. */
histo_status histo_staged_chunk_make(histo_staged_chunk *chunk, size_t bytes);

#endif
