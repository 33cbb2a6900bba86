/* Making staging buffers, and keeping some for the life of the process. Pieces use huge pages where possible and are
 * page-locked after their first filling: the threads that fill a piece fault its pages in parallel, where cudaHostAlloc
 * would fault them one by one. */
#include "cuda/memory/staging.h"

#include <sys/mman.h>

#include "base/memory.h"
#include "base/threads/locks.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/memory/allocate.h"

enum { KEPT = 4 };
static const size_t LITTLE = (size_t)1 << 18; /* bytes of a piece; reads may never need more */
static histo_staging *kept;                   /* guarded by histo_staging_lock, as is their number */
static int kept_count;

static histo_status make_event(cudaEvent_t *event)
{
    return HISTO_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
}

static const size_t HUGE = (size_t)2 << 20, MAPPED = HISTO_STAGED_PIECES * HISTO_PIECE_BYTES + HUGE;

/* Excluded from forked children, whose copy-on-write would change the pages under the GPU. */
static histo_status map_pieces(histo_staging *staging)
{
    void *memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return histo_fail_memory(MAPPED, "staging samples");
    madvise(memory, MAPPED, MADV_DONTFORK);
    madvise(memory, MAPPED, MADV_HUGEPAGE); /* only advice; failure is harmless */
    staging->memory = (char *)memory;
    char *first = staging->memory + (HUGE - (uintptr_t)memory % HUGE) % HUGE;
    for (int p = 0; p < HISTO_STAGED_PIECES; p++)
        staging->pieces[p].memory = first + p * HISTO_PIECE_BYTES;
    return HISTO_OK;
}

histo_status histo_staging_pieces(histo_staging *staging)
{
    histo_status status = staging->memory ? HISTO_OK : map_pieces(staging);
    for (int p = 0; p < HISTO_STAGED_PIECES && status == HISTO_OK; p++)
        if (!staging->pieces[p].copied) status = make_event(&staging->pieces[p].copied);
    return status;
}

histo_status histo_staged_piece_lock(histo_staged_piece *piece, size_t bytes)
{
    if (piece->locked >= bytes) return HISTO_OK;
    histo_status status = HISTO_OK;
    if (piece->locked) {
        status = HISTO_CUDA(cudaEventSynchronize(piece->copied), "copying samples");
        if (status == HISTO_OK) status = HISTO_CUDA(cudaHostUnregister(piece->memory), "page-locking memory");
        if (status == HISTO_OK) piece->locked = 0;
    }
    const size_t locked = bytes > LITTLE ? HISTO_PIECE_BYTES : LITTLE;
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaHostRegister(piece->memory, locked, cudaHostRegisterDefault), "page-locking memory");
    if (status == HISTO_OK) piece->locked = locked;
    return status;
}

/* Free the chunk, once kernels on any stream that read it are done. */
static void free_chunk(histo_staged_chunk *chunk, bool alive)
{
    if (alive && chunk->counted) cudaEventSynchronize(chunk->counted);
    histo_cuda_release(chunk->memory);
    chunk->memory = NULL;
    chunk->bytes = 0;
}

histo_status histo_staged_chunk_make(histo_staged_chunk *chunk, size_t bytes)
{
    const size_t least = 1 << 20; /* so that small fills of growing sizes allocate once */
    if (chunk->bytes >= bytes) return HISTO_OK;
    if (bytes < least) bytes = least;
    histo_status status = chunk->copied ? HISTO_OK : make_event(&chunk->copied);
    if (status == HISTO_OK && !chunk->counted) status = make_event(&chunk->counted);
    if (status != HISTO_OK) return status;
    free_chunk(chunk, true);
    status = histo_cuda_allocate((void **)&chunk->memory, bytes, "chunks of samples");
    if (status == HISTO_OK) chunk->bytes = bytes;
    return status;
}

histo_status histo_staging_slots(histo_staging *staging, int n)
{
    if (staging->slots_room >= n) return HISTO_OK;
    histo_cuda_release(staging->slots);
    staging->slots = NULL;
    staging->slots_room = 0;
    histo_status status = histo_cuda_allocate((void **)&staging->slots, (size_t)n * sizeof(uint32_t), "some slots");
    if (status == HISTO_OK) staging->slots_room = n;
    return status;
}

histo_status histo_staging_found(histo_staging *staging, size_t bytes)
{
    histo_status status = HISTO_OK;
    if (!staging->reply)
        status = HISTO_CUDA(cudaHostAlloc((void **)&staging->reply, HISTO_REPLY_BYTES, cudaHostAllocDefault),
                            "page-locked memory");
    if (status != HISTO_OK || staging->found_bytes >= bytes) return status;
    if (bytes < HISTO_REPLY_BYTES) bytes = HISTO_REPLY_BYTES;
    histo_cuda_release(staging->found);
    staging->found = NULL;
    staging->found_bytes = 0;
    status = histo_cuda_allocate((void **)&staging->found, bytes, "what is found about samples");
    if (status == HISTO_OK) staging->found_bytes = bytes;
    return status;
}

/* alive: its context still exists; if not, all device memory is gone with it. */
static void free_staging(histo_staging *s, bool alive)
{
    if (alive && s->copies) cudaStreamSynchronize(s->copies);
    for (int p = 0; p < HISTO_STAGED_PIECES; p++) {
        histo_staged_piece *it = &s->pieces[p];
        if (alive && it->locked) cudaHostUnregister(it->memory);
        if (alive && it->copied) cudaEventDestroy(it->copied);
    }
    if (s->memory) munmap(s->memory, MAPPED);
    for (int c = 0; c < HISTO_STAGED_CHUNKS; c++) {
        histo_staged_chunk *it = &s->chunks[c];
        free_chunk(it, alive);
        if (alive && it->copied) cudaEventDestroy(it->copied);
        if (alive && it->counted) cudaEventDestroy(it->counted);
    }
    histo_cuda_release(s->slots);
    histo_cuda_release(s->found);
    if (alive && s->reply) cudaFreeHost(s->reply);
    if (alive && s->copies) cudaStreamDestroy(s->copies);
    histo_free(s);
}

/* Take a kept staging of the device, or NULL. */
static histo_staging *take_kept(histo_device device)
{
    pthread_mutex_lock(&histo_staging_lock);
    histo_staging **link = &kept;
    while (*link && (*link)->device != device)
        link = &(*link)->next;
    histo_staging *it = *link;
    if (it) {
        *link = it->next;
        kept_count--;
    }
    pthread_mutex_unlock(&histo_staging_lock);
    return it;
}

histo_status histo_staging_take(histo_device device, histo_staging **out)
{
    unsigned long long context = histo_cuda_context();
    histo_staging *it;
    while ((it = take_kept(device)) && it->context != context) /* the device was reset */
        free_staging(it, false);
    histo_status status = HISTO_OK;
    if (!it) {
        it = (histo_staging *)histo_calloc(1, sizeof *it);
        if (!it) return histo_fail_memory(sizeof *it, "staging samples");
        it->device = device;
        status = HISTO_CUDA(cudaStreamCreateWithFlags(&it->copies, cudaStreamNonBlocking), "making a stream");
        it->context = histo_cuda_context(); /* which the stream may have made */
    }
    if (status == HISTO_OK)
        *out = it;
    else
        free_staging(it, true);
    return status;
}

/* Whether a staging of the device is kept. The caller holds the lock. */
static bool is_kept(histo_device device)
{
    for (const histo_staging *it = kept; it; it = it->next)
        if (it->device == device) return true;
    return false;
}

/* Some stagings are kept, at least one for each device that has used one. */
void histo_staging_give(histo_staging *staging, bool reusable)
{
    pthread_mutex_lock(&histo_staging_lock);
    bool keeps = reusable && (kept_count < KEPT || !is_kept(staging->device));
    if (keeps) {
        staging->next = kept;
        kept = staging;
        kept_count++;
    }
    pthread_mutex_unlock(&histo_staging_lock);
    if (!keeps) free_staging(staging, true);
}
