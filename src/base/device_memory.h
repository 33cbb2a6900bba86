/* The GPU memory that the library holds: which allocator provides it, and the list of blocks. */
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
    unsigned long long context; /* the CUDA context, with which the memory is freed */
} histo_device_block;

/* The application's allocator; NULL: CUDA's. */
const histo_device_allocator *histo_device_allocator_of(void);

/* Record a block that the library has allocated; HISTO_NO_MEMORY if there is no host memory for the record. */
histo_status histo_device_block_add(const histo_device_block *block);
/* Remove the record of the block at this address. False if there is none; NULL has none. */
bool histo_device_block_remove(void *memory, histo_device_block *block);

#ifdef __cplusplus
}
#endif

#endif
