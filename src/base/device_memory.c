#include "base/device_memory.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/locks.h"

/* A hash table: programs with thousands of histograms on a GPU free their blocks in any order. */
enum { BUCKETS = 1024 };

typedef struct noted {
    struct noted *next;
    histo_device_block block;
} noted;

/* Everything here is guarded by histo_device_memory_lock, except the allocator, which is set before anything else. */
static noted *buckets[BUCKETS];
static size_t held; /* number of blocks */
static histo_device_allocator application;

histo_status histo_set_device_allocator(const histo_device_allocator *allocator)
{
    static const histo_device_allocator none;
    if (!allocator) allocator = &none;
    histo_status status =
        histo_check_reserved(allocator->reserved, sizeof allocator->reserved, "histo_device_allocator");
    if (status != HISTO_OK) return status;
    if (!allocator->allocate != !allocator->release)
        return histo_fail(HISTO_INVALID, "allocator has one of allocate and release, and needs both");
    pthread_mutex_lock(&histo_device_memory_lock);
    const size_t blocks = held;
    const bool same = allocator->allocate == application.allocate && allocator->release == application.release &&
                      allocator->context == application.context;
    if (!blocks) application = *allocator;
    pthread_mutex_unlock(&histo_device_memory_lock);
    if (!blocks || same) return HISTO_OK;
    return histo_fail(HISTO_INVALID,
                      "the library holds %zu blocks of GPU memory, which the allocator before must get back: "
                      "set it before all else",
                      blocks);
}

const histo_device_allocator *histo_device_allocator_of(void)
{
    return application.allocate ? &application : NULL;
}

static noted **bucket_of(const void *memory)
{
    return &buckets[(uintptr_t)memory / 256 % BUCKETS];
}

histo_status histo_device_block_add(const histo_device_block *block)
{
    noted *note = histo_malloc(sizeof *note), **bucket = bucket_of(block->memory);
    if (!note) return histo_fail_memory(sizeof *note, "a note of GPU memory");
    note->block = *block;
    pthread_mutex_lock(&histo_device_memory_lock);
    note->next = *bucket;
    *bucket = note;
    held++;
    pthread_mutex_unlock(&histo_device_memory_lock);
    return HISTO_OK;
}

bool histo_device_block_remove(void *memory, histo_device_block *block)
{
    noted **link = bucket_of(memory), *note;
    pthread_mutex_lock(&histo_device_memory_lock);
    while ((note = *link) && note->block.memory != memory)
        link = &note->next;
    if (note) {
        *link = note->next;
        held--;
    }
    pthread_mutex_unlock(&histo_device_memory_lock);
    if (!note) return false;
    *block = note->block;
    histo_free(note);
    return true;
}

size_t histo_device_memory_used(histo_device device)
{
    size_t bytes = 0;
    pthread_mutex_lock(&histo_device_memory_lock);
    for (int b = 0; b < BUCKETS; b++)
        for (const noted *note = buckets[b]; note; note = note->next)
            if (note->block.device == device) bytes += note->block.bytes;
    pthread_mutex_unlock(&histo_device_memory_lock);
    return bytes;
}
