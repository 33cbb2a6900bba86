/* Kernels that are compiled while the program runs, for one class of problems. They are optional: where one cannot be
 * compiled or loaded, a kernel in the library counts. */
#ifndef CUDA_JIT_COMPILE_H
#define CUDA_JIT_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include <histo/histo.h>

#include "cuda/jit/nvrtc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to compile. Equal texts give equal kernels. */
typedef struct histo_kernel_source {
    const char *includes;    /* lines of #include "cuda/…", of histo_embedded_headers */
    const char *definitions; /* definitions after them: what is constant in the class */
    const char *kernel;      /* the kernel's name with its template arguments */
} histo_kernel_source;

typedef enum histo_compile_effort {
    HISTO_COMPILE_NONE,   /* take it from memory */
    HISTO_COMPILE_CACHED, /* … or from the kernel cache, in tens of microseconds */
    HISTO_COMPILE_BESIDE, /* … or have a thread compile it, and do not wait: a later call finds it */
    HISTO_COMPILE_NOW,    /* … or compile it and wait: a tenth of a second to several seconds */
} histo_compile_effort;

typedef enum histo_compile_state {
    HISTO_COMPILE_UNKNOWN, /* not compiled, and not found in the kernel cache */
    HISTO_COMPILE_WAITING, /* for the thread that compiles beside the fills */
    HISTO_COMPILE_RUNNING,
    HISTO_COMPILE_DONE,
    HISTO_COMPILE_FAILED, /* this process does not try again */
} histo_compile_state;

/* The source of a kernel for GPUs of one architecture, and its kernel once there is one. Equal sources share one
 * object, which lives as long as the process, so plans can keep its address. Any thread may call any of these
 * functions. */
typedef struct histo_compiled histo_compiled;

/* architecture: the compute capability times ten. NULL if out of memory. */
histo_compiled *histo_compiled_of(int architecture, const histo_kernel_source *source);

/* The compiled kernel, which lives as long as the process, or NULL. */
const histo_kernel_image *histo_compiled_image(histo_compiled *compiled, histo_compile_effort effort);

/* Without the lock that a report takes. */
histo_compile_state histo_compiled_state(const histo_compiled *compiled);

/* Count a fill of so many samples that went without the kernel; all fills of the process count. True if there have been
 * enough of them to have it compiled beside further ones: at least four, and these for a quarter of a second, or of
 * 2^32 samples. So a process that ends meanwhile, and waits for the compiler, has been filling for about as long. Few
 * samples count as 2^17, which could be counted in the time that their fill loses. */
bool histo_compiled_lacked(histo_compiled *compiled, int64_t samples);

typedef struct histo_compile_report {
    histo_compile_state state;
    bool builtin;    /* it was compiled when the library was built */
    bool cached;     /* it came from the kernel cache */
    double us;       /* time to compile it, or to read it from the cache */
    const char *log; /* the compiler's messages, or NULL */
} histo_compile_report;

histo_compile_report histo_compiled_report(const histo_compiled *compiled);

/* ---- On devices (load.cu) ---- */

/* histo_compiled_of for a device; NULL also if this build cannot load kernels. */
histo_compiled *histo_cuda_compiled_of(histo_device device, const histo_kernel_source *source);

/* The kernel for cudaLaunchKernel on the current device, loaded into its context; or NULL. Once it is loaded, this
 * takes a tenth of a microsecond. */
const void *histo_cuda_compiled_kernel(histo_compiled *compiled, histo_compile_effort effort);

/* The list of contexts into which the kernel is loaded, which load.cu keeps here. */
struct histo_cuda_loaded **histo_compiled_loaded(histo_compiled *compiled);

#ifdef __cplusplus
}
#endif

#endif
