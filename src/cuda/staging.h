/* Staging: what it takes to bring samples to a GPU, and a look at some of them back. It is kept for whoever needs it
 * next, since page-locked memory takes long to make. */
#ifndef CUDA_STAGING_H
#define CUDA_STAGING_H

#include "cuda/cuda.h"

enum { HISTO_STAGED_PIECES = 8, HISTO_STAGED_CHUNKS = 2, HISTO_STAGED_ALIGNMENT = 256 };

/* Bytes of a piece, which the CPU fills and the GPU fetches while others are filled; and of a chunk of pieces, which is
 * counted at once. Every operand may begin at a multiple of the alignment. */
#define HISTO_PIECE_BYTES ((size_t)4 << 20)
#define HISTO_CHUNK_BYTES ((size_t)64 << 20)

typedef struct histo_staged_piece {
    char *memory;       /* of the host */
    bool locked;        /* the GPU can fetch it */
    cudaEvent_t copied; /* it may be filled again */
} histo_staged_piece;

typedef struct histo_staged_chunk {
    char *memory; /* of the device */
    size_t bytes;
    cudaEvent_t copied;  /* it can be counted */
    cudaEvent_t counted; /* it may be written again */
} histo_staged_chunk;

typedef struct histo_staging {
    struct histo_staging *next;
    histo_device device;
    unsigned long long context; /* in which all this is */
    cudaStream_t copies;
    char *memory; /* of the pieces; NULL before the first use */
    histo_staged_piece pieces[HISTO_STAGED_PIECES];
    histo_staged_chunk chunks[HISTO_STAGED_CHUNKS];
    uint32_t *slots; /* on the device, for a look at samples; NULL before the first */
    int slots_room;
} histo_staging;

/* One that nobody uses, made if there is none. The device is current. */
histo_status histo_staging_take(histo_device device, histo_staging **staging);
/* whole: nothing failed that used it, and so it may be kept. Copies and kernels may still use it. */
void histo_staging_give(histo_staging *staging, bool whole);

/* Make the pieces, which can be filled; and one that has been filled one that the GPU can fetch. */
histo_status histo_staging_pieces(histo_staging *staging);
histo_status histo_staged_piece_lock(histo_staged_piece *piece);
/* Make room for slots. */
histo_status histo_staging_slots(histo_staging *staging, int n);
/* Memory of a chunk, of so many bytes at least. */
histo_status histo_staged_chunk_make(histo_staged_chunk *chunk, size_t bytes);

#endif
