#include "cuda/memory/allocate.h"

#include "base/device_memory.h"
#include "cuda/host/device.h"

static cudaError_t take(const histo_device_allocator *application, histo_device_block *block)
{
    if (!application) return cudaMalloc(&block->memory, block->bytes);
    block->memory = application->allocate(application->context, block->device, block->bytes);
    return block->memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void give_back(const histo_device_allocator *application, const histo_device_block *block)
{
    if (!application) {
        cudaFree(block->memory); /* waits for kernels that use it */
        return;
    }
    cudaDeviceSynchronize();
    application->release(application->context, block->device, block->memory, block->bytes);
}

histo_status histo_cuda_allocate(void **memory, size_t bytes, const char *what)
{
    const histo_device_allocator *application = histo_device_allocator_of();
    histo_device_block block = {NULL, bytes, HISTO_DEVICE_CPU, 0};
    int ordinal;
    *memory = NULL;
    histo_status status = HISTO_CUDA(cudaGetDevice(&ordinal), what);
    if (status != HISTO_OK) return status;
    block.device = HISTO_DEVICE_CUDA(ordinal);
    status = HISTO_CUDA(take(application, &block), what);
    if (status != HISTO_OK) return status;
    block.context = histo_cuda_context();
    status = histo_device_block_add(&block);
    if (status == HISTO_OK)
        *memory = block.memory;
    else
        give_back(application, &block);
    return status;
}

void histo_cuda_release(void *memory)
{
    histo_device_block block;
    int before;
    if (!histo_device_block_remove(memory, &block)) return;
    if (histo_cuda_enter_context(block.device, block.context, &before) != HISTO_OK) return;
    give_back(histo_device_allocator_of(), &block);
    histo_cuda_leave(before);
}
