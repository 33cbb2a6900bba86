#include "cuda/builtin/described_gpus.h"

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* NVIDIA's data sheets, and the table of technical specifications per compute capability of the CUDA C++ Programming
 * Guide. */
const described_gpu described_gpus[] = {
    {75, "T4", 40, 1024, 64, 1590, 5001, 256},           {80, "A100", 108, 2048, 164, 1410, 1215, 5120},
    {86, "RTX 3090", 82, 1536, 100, 1695, 9751, 384},    {89, "RTX 4090", 128, 1536, 100, 2520, 10501, 384},
    {90, "H200", 132, 2048, 228, 1980, 3134, 6144},      {100, "B200", 148, 2048, 228, 1965, 3996, 8192},
    {120, "RTX 5090", 170, 1536, 100, 2407, 14001, 512},
};
const int described_gpu_count = sizeof described_gpus / sizeof *described_gpus;

void (*described_launched)(const described_launch *launch);

enum { MAX_SHOWN = 16, MEMORY_BITS = 56 /* an ordinal above them, plus one, makes an address */ };

static const described_gpu *shown[MAX_SHOWN];
static int shown_count = -1; /* all */
static int current;

const described_gpu *described_gpu_of(int capability)
{
    for (int i = 0; i < described_gpu_count; i++)
        if (described_gpus[i].capability == capability) return &described_gpus[i];
    return NULL;
}

void described_gpus_show(int count, const int *capabilities)
{
    shown_count = 0;
    for (int i = 0; i < count && i < MAX_SHOWN; i++)
        shown[shown_count++] = described_gpu_of(capabilities[i]);
}

static const described_gpu *gpu_at(int ordinal)
{
    return shown_count < 0 ? &described_gpus[ordinal] : shown[ordinal];
}

void *described_gpu_memory(int ordinal)
{
    return (void *)((uintptr_t)(ordinal + 1) << MEMORY_BITS);
}

static bool is_device_memory(const void *memory)
{
    return (uintptr_t)memory >> MEMORY_BITS != 0;
}

/* ---- Kernels of the program ---- */

typedef struct registered {
    const void *address;
    const char *symbol;        /* NULL: it was compiled at run time */
    size_t allowed[MAX_SHOWN]; /* dynamic shared memory, if more than what every kernel may have */
} registered;

static registered *kernels;
static size_t kernel_count;

static registered *find(const void *address)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (kernels[i].address == address) return &kernels[i];
    return NULL;
}

static registered *add(const void *address, const char *symbol)
{
    enum { ROOM = 256 };
    registered *more = kernel_count % ROOM ? kernels : realloc(kernels, (kernel_count + ROOM) * sizeof *kernels);
    if (!more) abort();
    kernels = more;
    kernels[kernel_count] = (registered){.address = address, .symbol = symbol};
    return &kernels[kernel_count++];
}

/* Bytes of shared memory that a block may have: of what a multiprocessor has, the system takes 1 KiB from 8.0 on. */
static size_t shared_of_block(const described_gpu *gpu)
{
    return (size_t)(gpu->shared_each_kib - (gpu->capability < 80 ? 0 : 1)) << 10;
}

/* Refuse what this GPU would refuse of any kernel: registers are not known here. */
static cudaError_t launch(const void *address, dim3 blocks, dim3 threads, unsigned cluster, size_t shared)
{
    enum { FREE = 48 << 10, MOST_THREADS = 1024, MOST_CLUSTER = 8 };
    const registered *it = find(address);
    const described_gpu *gpu = gpu_at(current);
    const size_t allowed = it && it->allowed[current] > FREE ? it->allowed[current] : FREE;
    const int block = (int)(threads.x * threads.y * threads.z);
    const bool fits = block > 0 && block <= MOST_THREADS && blocks.x > 0 && shared <= allowed &&
                      cluster <= (gpu->capability < 90 ? 1 : MOST_CLUSTER) && blocks.x % cluster == 0;
    if (described_launched)
        described_launched(&(described_launch){gpu, it ? it->symbol : NULL, block, (int)cluster, shared, fits});
    return fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/* ---- What nvcc's code calls ---- */

void **__cudaRegisterFatBinary(void *code);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *address, char *unused, const char *symbol, int limit, void *tid,
                            void *bid, dim3 *threads, dim3 *blocks, int *warp);
void __cudaRegisterVar(void **handle, char *variable, char *address, const char *name, int ext, size_t size,
                       int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *address);
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 blocks, dim3 threads, void **args, size_t shared,
                               cudaStream_t stream);

void **__cudaRegisterFatBinary(void *code)
{
    static void *handle;
    (void)code;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *address, char *unused, const char *symbol, int limit, void *tid,
                            void *bid, dim3 *threads, dim3 *blocks, int *warp)
{
    (void)handle, (void)unused, (void)limit, (void)tid, (void)bid, (void)threads, (void)blocks, (void)warp;
    add(address, symbol);
}

void __cudaRegisterVar(void **handle, char *variable, char *address, const char *name, int ext, size_t size,
                       int constant, int global)
{
    (void)handle, (void)variable, (void)address, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}

static struct {
    dim3 blocks, threads;
    size_t shared;
    cudaStream_t stream;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, struct CUstream_st *stream)
{
    pushed.blocks = blocks;
    pushed.threads = threads;
    pushed.shared = shared;
    pushed.stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *shared, void *stream)
{
    *blocks = pushed.blocks;
    *threads = pushed.threads;
    *shared = pushed.shared;
    *(cudaStream_t *)stream = pushed.stream;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *address)
{
    *handle = (cudaKernel_t)address;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 blocks, dim3 threads, void **args, size_t shared,
                               cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)handle, blocks, threads, args, shared, stream);
}

/* ---- Kernels ---- */

cudaError_t cudaLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **args, size_t shared,
                             cudaStream_t stream)
{
    (void)args, (void)stream;
    return launch(kernel, blocks, threads, 1, shared);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    unsigned cluster = 1;
    (void)args;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) cluster = config->attrs[i].val.clusterDim.x;
    return launch(kernel, config->gridDim, config->blockDim, cluster, config->dynamicSmemBytes);
}

cudaError_t cudaFuncSetAttribute(const void *address, enum cudaFuncAttribute attribute, int value)
{
    registered *it = find(address);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if ((size_t)value > shared_of_block(gpu_at(current))) return cudaErrorInvalidValue;
    if (!it) it = add(address, NULL);
    it->allowed[current] = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    (void)kernel;
    memset(attributes, 0, sizeof *attributes);
    attributes->binaryVersion = attributes->ptxVersion = gpu_at(current)->capability;
    attributes->maxThreadsPerBlock = 1024;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel, int threads,
                                                                   size_t shared, unsigned flags)
{
    (void)kernel, (void)shared, (void)flags;
    *blocks = gpu_at(current)->threads_each / threads;
    return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *options, void **values,
                                unsigned count, enum cudaLibraryOption *library_options, void **library_values,
                                unsigned library_count)
{
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    *library = (cudaLibrary_t)code;
    return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    (void)name;
    *kernel = (cudaKernel_t)library;
    return cudaSuccess;
}

/* ---- Devices ---- */

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = shown_count < 0 ? described_gpu_count : shown_count;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    const described_gpu *gpu = gpu_at(device);
    memset(p, 0, sizeof *p);
    strcpy(p->name, gpu->name);
    p->major = gpu->capability / 10;
    p->minor = gpu->capability % 10;
    p->multiProcessorCount = gpu->multiprocessors;
    p->maxThreadsPerMultiProcessor = gpu->threads_each;
    p->sharedMemPerMultiprocessor = (size_t)gpu->shared_each_kib << 10;
    p->sharedMemPerBlockOptin = shared_of_block(gpu);
    p->totalGlobalMem = (size_t)16 << 30;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    const described_gpu *gpu = gpu_at(device);
    switch (attribute) {
    case cudaDevAttrMemoryClockRate:
        *value = gpu->memory_mhz * 1000;
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = gpu->bus_bits;
        break;
    case cudaDevAttrClockRate:
        *value = gpu->clock_mhz * 1000;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = gpu->multiprocessors;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = gpu->capability / 10;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = gpu->capability % 10;
        break;
    case cudaDevAttrMaxGridDimX:
        *value = INT32_MAX;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = 48 << 10;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)shared_of_block(gpu);
        break;
    case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        break;
    case cudaDevAttrWarpSize:
        *value = 32;
        break;
    default:
        *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    (void)device, (void)peer;
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

/* ---- Memory ---- */

cudaError_t cudaMalloc(void **memory, size_t size)
{
    enum { ALIGN = 256 };
    static size_t used = (size_t)1 << 48; /* behind the samples */
    *memory = (char *)described_gpu_memory(current) + used;
    used += (size + ALIGN - 1) / ALIGN * ALIGN;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    (void)memory;
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    *memory = calloc(1, size);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *memory, size_t size, unsigned flags)
{
    (void)memory, (void)size, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory)
{
    (void)memory;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
    memset(attributes, 0, sizeof *attributes);
    if (!is_device_memory(memory)) return cudaSuccess;
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = (int)((uintptr_t)memory >> MEMORY_BITS) - 1;
    return cudaSuccess;
}

/* What is read of a GPU's memory is zero. */
static cudaError_t copy(void *to, const void *from, size_t size)
{
    if (!is_device_memory(to) && is_device_memory(from)) memset(to, 0, size);
    if (!is_device_memory(to) && !is_device_memory(from)) memcpy(to, from, size);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    (void)kind;
    return copy(to, from, size);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind, (void)stream;
    return copy(to, from, size);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int source, size_t size, cudaStream_t stream)
{
    (void)device, (void)source, (void)stream;
    return copy(to, from, size);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    (void)stream;
    if (!is_device_memory(memory)) memset(memory, value, size);
    return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    (void)symbol;
    return cudaMalloc(address, 1);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
                               enum cudaMemcpyKind kind)
{
    (void)symbol, (void)from, (void)size, (void)offset, (void)kind;
    return cudaSuccess;
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    (void)symbol, (void)offset, (void)kind;
    memset(to, 0, size);
    return cudaSuccess;
}

/* ---- Streams, events and errors ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = NULL;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    (void)stream;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    (void)stream;
    *id = 1;
    return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    (void)stream;
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    (void)mode;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    *event = NULL;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event, (void)stream;
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)event, (void)stream, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an error of no GPU";
}

/* ---- Graphs: nothing is captured ---- */

static cudaError_t refuse(void)
{
    return cudaErrorNotSupported;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
    (void)stream, (void)status, (void)id, (void)graph, (void)nodes, (void)edges, (void)count;
    return refuse();
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    (void)graph, (void)nodes, (void)count;
    return refuse();
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      size_t count, cudaEvent_t event)
{
    (void)node, (void)graph, (void)after, (void)count, (void)event;
    return refuse();
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                        size_t count, cudaEvent_t event)
{
    (void)node, (void)graph, (void)after, (void)count, (void)event;
    return refuse();
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t count)
{
    (void)graph, (void)from, (void)to, (void)edges, (void)count;
    return refuse();
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t count)
{
    (void)graph, (void)from, (void)to, (void)edges, (void)count;
    return refuse();
}
