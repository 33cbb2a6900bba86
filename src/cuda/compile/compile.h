/* Kernels that are compiled while the program runs, for exactly one problem. They only ever make counting faster: where
 * one cannot be compiled or loaded, there is none, and another kernel counts. */
#ifndef CUDA_COMPILE_COMPILE_H
#define CUDA_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include <histo/histo.h>

#include "cuda/compile/nvrtc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to compile. Equal texts give equal kernels. */
typedef struct histo_recipe {
    const char *includes; /* lines of #include "cuda/…", of histo_sources */
    const char *shape;    /* definitions after them: what is constant in this problem */
    const char *kernel;   /* the kernel's name with its template arguments */
} histo_recipe;

typedef enum histo_compile_effort {
    HISTO_COMPILE_NONE,   /* take it from memory */
    HISTO_COMPILE_CACHED, /* … or from the kernel cache, in tens of microseconds */
    HISTO_COMPILE_NOW,    /* … or wait until it is compiled: a tenth of a second to several */
} histo_compile_effort;

typedef enum histo_compile_state {
    HISTO_COMPILE_UNKNOWN, /* nothing was tried, or it is not in the kernel cache */
    HISTO_COMPILE_RUNNING,
    HISTO_COMPILE_DONE,
    HISTO_COMPILE_FAILED, /* it will not be tried again in this process */
} histo_compile_state;

/* A recipe for GPUs of one architecture, and what has become of it. Equal recipes are one. They live as long as the
 * process, so a plan can keep the address; all functions may be called from any thread. */
typedef struct histo_compiled histo_compiled;

/* architecture: the compute capability times ten. NULL if out of memory. */
histo_compiled *histo_compiled_of(int architecture, const histo_recipe *recipe);

/* The compiled kernel, which lives as long as the process, or NULL. */
const histo_kernel_image *histo_compiled_image(histo_compiled *it, histo_compile_effort effort);

typedef struct histo_compile_report {
    histo_compile_state state;
    bool cached;     /* it came from the kernel cache */
    double us;       /* that compiling it took, or reading it */
    const char *log; /* the compiler's, or NULL */
} histo_compile_report;

histo_compile_report histo_compiled_report(const histo_compiled *it);

/* ---- On devices (load.cu) ---- */

/* histo_compiled_of for a device; NULL also if this build cannot load kernels. */
histo_compiled *histo_cuda_compiled_of(histo_device device, const histo_recipe *recipe);

/* The kernel for cudaLaunchKernel on the current device, loaded into its context; or NULL. In a tenth of a microsecond
 * once it is loaded. */
const void *histo_cuda_compiled_kernel(histo_compiled *it, histo_compile_effort effort);

/* Kernels loaded from an image: a list that load.cu keeps here. */
struct histo_cuda_loaded **histo_compiled_loaded(histo_compiled *it);

#ifdef __cplusplus
}
#endif

#endif
