/* The memory of GPUs that the library holds: whose allocator gives it, and which blocks it has. */
#ifndef BASE_DEVICE_MEMORY_H
#define BASE_DEVICE_MEMORY_H

#include <histo/histo.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct histo_device_block {
    void *memory;
    size_t bytes;
    histo_device device;
    unsigned long long context; /* of CUDA; the memory is gone when this is */
} histo_device_block;

/* The application's allocator, or NULL: CUDA's. */
const histo_device_allocator *histo_device_allocator_of(void);

/* Note a block that the library has taken; HISTO_NO_MEMORY if there is no host memory for the note. */
histo_status histo_device_block_add(const histo_device_block *block);
/* Forget the block at this address. False if there is none, as for NULL. */
bool histo_device_block_remove(void *memory, histo_device_block *block);

#ifdef __cplusplus
}
#endif

#endif
