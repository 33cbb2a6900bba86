/* An H200, as the CUDA runtime describes it, for programs that wrap these runtime functions. */
#include <cuda_runtime_api.h>
#include <string.h>

cudaError_t __wrap_cudaDriverGetVersion(int *version);
cudaError_t __wrap_cudaGetDeviceCount(int *count);
cudaError_t __wrap_cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t __wrap_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);

cudaError_t __wrap_cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t __wrap_cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    (void)device;
    memset(p, 0, sizeof *p);
    strcpy(p->name, "H200");
    p->major = 9;
    p->multiProcessorCount = 132;
    p->maxThreadsPerMultiProcessor = 2048;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->totalGlobalMem = (size_t)140 << 30;
    return cudaSuccess;
}

cudaError_t __wrap_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = attribute == cudaDevAttrMemoryClockRate        ? 3134000
             : attribute == cudaDevAttrGlobalMemoryBusWidth ? 6144
             : attribute == cudaDevAttrClockRate            ? 1980000
                                                            : 0;
    return cudaSuccess;
}
