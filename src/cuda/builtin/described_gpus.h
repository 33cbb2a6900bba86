/* A CUDA runtime for programs that run where there is no GPU: it describes one GPU of each compute capability. Its
 * calls do nothing, and succeed unless this GPU could not launch such a kernel. A program links it in place of
 * NVIDIA's. */
#ifndef CUDA_BUILTIN_DESCRIBED_GPUS_H
#define CUDA_BUILTIN_DESCRIBED_GPUS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct described_gpu {
    int capability; /* compute capability, times ten */
    const char *name;
    int multiprocessors, threads_each;
    int shared_each_kib; /* shared memory of a multiprocessor; a block may have this but 1 KiB, 7.5's all */
    int clock_mhz, memory_mhz, bus_bits;
} described_gpu;

/* In ascending order of their capabilities. */
extern const described_gpu described_gpus[];
extern const int described_gpu_count;

/* The GPU of this compute capability times ten; NULL if none is described. */
const described_gpu *described_gpu_of(int capability);

/* Which GPUs the program finds, by their index; before the first call of the library. All, if it is never called. */
void described_gpus_show(int count, const int *capabilities);

/* An address in the memory of the shown GPU of this index, aligned to 256 bytes. Nothing can be read there. */
void *described_gpu_memory(int ordinal);

/* A launch, as the program asked for it. */
typedef struct described_launch {
    const described_gpu *gpu;
    const char *kernel; /* its symbol; NULL: it was compiled at run time */
    int threads, cluster;
    size_t shared; /* dynamic shared memory */
    bool fits;     /* the GPU; else the launch fails */
} described_launch;

/* Called for every launch, if it is not NULL. */
extern void (*described_launched)(const described_launch *launch);

#endif
