/* Compiled kernels on devices. Each is loaded once into each context, and kept for the life of the process. */
#include <stdlib.h>

#include "base/threads/locks.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/jit/compile.h"
#include "cuda/jit/nvrtc.h"

struct histo_cuda_loaded {
    histo_cuda_loaded *next;
    unsigned long long context;
    const void *kernel; /* NULL: it cannot be loaded */
};

#if CUDART_VERSION >= 12080

histo_compiled *histo_cuda_compiled_of(histo_device device, const histo_kernel_source *source)
{
    const histo_cuda_device *properties = histo_cuda_device_of(device);
    return histo_compiled_of(properties->major * 10 + properties->minor, source);
}

/* Load the kernel into the current context, completely. The driver would otherwise load it at the first launch, which
 * may be during the capture of a graph. */
static const void *load(const histo_kernel_image *image)
{
    cudaLibraryOption options[] = {cudaLibraryBinaryIsPreserved};
    void *values[] = {(void *)1};
    cudaLibrary_t library;
    cudaKernel_t kernel = NULL;
    cudaFuncAttributes attributes;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    histo_status status =
        HISTO_CUDA(cudaLibraryLoadData(&library, image->bytes + image->code_at, NULL, NULL, 0, options, values, 1),
                   "loading code");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaLibraryGetKernel(&kernel, library, image->bytes), "looking for a kernel");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
    cudaThreadExchangeStreamCaptureMode(&mode);
    return status == HISTO_OK ? (const void *)kernel : NULL;
}

#else /* cudaLibraryLoadData is new in CUDA 12.8 */

histo_compiled *histo_cuda_compiled_of(histo_device, const histo_kernel_source *)
{
    return NULL;
}

static const void *load(const histo_kernel_image *)
{
    return NULL;
}

#endif

static histo_cuda_loaded *find(histo_compiled *compiled, unsigned long long context)
{
    histo_cuda_loaded *loaded = __atomic_load_n(histo_compiled_loaded(compiled), __ATOMIC_ACQUIRE);
    while (loaded && loaded->context != context)
        loaded = loaded->next;
    return loaded;
}

/* The caller holds the lock. */
static histo_cuda_loaded *add(histo_compiled *compiled, unsigned long long context, const histo_kernel_image *image)
{
    histo_cuda_loaded **list = histo_compiled_loaded(compiled);
    histo_cuda_loaded *loaded = (histo_cuda_loaded *)calloc(1, sizeof *loaded);
    if (!loaded) return NULL;
    loaded->context = context;
    loaded->kernel = load(image);
    loaded->next = *list;
    __atomic_store_n(list, loaded, __ATOMIC_RELEASE);
    return loaded;
}

const void *histo_cuda_compiled_kernel(histo_compiled *compiled, histo_compile_effort effort)
{
    const histo_kernel_image *image = histo_compiled_image(compiled, effort);
    if (!image) return NULL;
    const unsigned long long context = histo_cuda_context();
    histo_cuda_loaded *loaded = find(compiled, context);
    if (!loaded) {
        pthread_mutex_lock(&histo_compile_lock);
        loaded = find(compiled, context);
        if (!loaded) loaded = add(compiled, context, image);
        pthread_mutex_unlock(&histo_compile_lock);
    }
    return loaded ? loaded->kernel : NULL;
}
