/* Version, limits, statuses and process-wide settings. Include histo/histo.h. */
#ifndef HISTO_BASE_H
#define HISTO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTO_VERSION_MAJOR 0
#define HISTO_VERSION_MINOR 1
#define HISTO_VERSION_PATCH 0

#ifndef HISTO_API
#if defined _WIN32 && defined HISTO_BUILDING
#define HISTO_API __declspec(dllexport)
#elif defined _WIN32
#define HISTO_API
#else
#define HISTO_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations are uint32_t, whatever the compiler and its flags; in C++ each is a type of its own. */
#ifdef __cplusplus
#define HISTO_ENUM_BASE : uint32_t
#define HISTO_ENUM(name) enum name
#else
#define HISTO_ENUM_BASE
#define HISTO_ENUM(name) uint32_t
#endif

/* Zero-initialises every field of a struct, in C and in C++:
 *     histo_hist_options options = HISTO_DEFAULTS;
 *     options.batch = 3; */
/* clang-format off */
#ifdef __cplusplus
#define HISTO_DEFAULTS {}
#else
#define HISTO_DEFAULTS {0}
#endif
/* clang-format on */

/* ---- Limits ------------------------------------------------------------------------------------------- */

#define HISTO_MAX_AXES 8                   /* axes of one histogram */
#define HISTO_MAX_DIMS 8                   /* dimensions of one view */
#define HISTO_MAX_BINS (INT64_C(1) << 30)  /* bins of one axis, and of one dense histogram, all axes multiplied */
#define HISTO_MAX_SLOTS (INT64_C(1) << 31) /* slots (bins and flow) of one dense histogram; see HISTO_SPARSE */
#define HISTO_MAX_IMAGES 256               /* images in a stack whose pairs are counted */
#define HISTO_MAX_NAME 1024                /* bytes of a histogram's name */
#define HISTO_MAX_METADATA (1 << 30)       /* bytes of a histogram's metadata */

/* ---- Errors ------------------------------------------------------------------------------------------- */

enum histo_status HISTO_ENUM_BASE {
    HISTO_OK = 0,
    HISTO_INVALID,     /* an argument is invalid; the message says which and why */
    HISTO_NO_MEMORY,   /* host memory is exhausted, or the request exceeds what is available */
    HISTO_UNSUPPORTED, /* valid, but not with this strategy, device or build */
    HISTO_IO,          /* a file could not be opened, read or written */
    HISTO_CORRUPT,     /* a saved histogram is damaged or malformed */
    HISTO_DEVICE,      /* a device failed; reset the histogram unless the message says otherwise */
    HISTO_CANCELLED    /* the calling thread's monitor stopped the call */
};
typedef HISTO_ENUM(histo_status) histo_status;

/* "HISTO_OK", "HISTO_INVALID", …; NULL for an unknown status. */
HISTO_API const char *histo_status_name(histo_status status);

/* The sentence that describes the last failure on this thread; "" if there was none. Valid until this thread's next
 * call into the library. */
HISTO_API const char *histo_last_error(void);

/* Set the calling thread's last failure, for code that extends the library. Copies the sentence and returns status. */
HISTO_API histo_status histo_set_error(histo_status status, const char *sentence);

/* ---- Long calls --------------------------------------------------------------------------------------- */

/* The progress of a call. */
typedef struct histo_progress {
    const char *stage; /* "counting", "measuring", "surveying", …; lives as long as the process */
    double done;       /* fraction of the stage that is done, 0 … 1; NaN if unknown */
} histo_progress;

/* Let `stops` monitor the calls that this thread makes from now on; NULL removes the monitor. A long call invokes it
 * about every 20 milliseconds, on this thread, with `context`; calls of a few milliseconds rarely do. When it returns
 * true, all threads stop working for the call within about a tenth of a second, and the call returns HISTO_CANCELLED.
 * The calls that can be cancelled are fills (of nodes too), making features, setting gradients, surveys, extremes,
 * statistics and quantiles of samples, applying and matching maps, plans that measure, and these on histograms:
 * reading, writing, words, merging, copying, subtracting, scaling, regrouping, comparing, splitting, quantiles,
 * summaries, information, metadata, saving and loading; all in host memory. Other calls, and waiting for a GPU, cannot
 * be cancelled.
 *
 * A cancelled call changes nothing but its destination: an array of results is then undefined. A histogram, survey or
 * quantiles object that it was adding to is incomplete, and all further calls refuse it with HISTO_INVALID: a histogram
 * until it is reset, replaced or written, the others until they are destroyed.
 *
 * `stops` may call the library, with objects other than those of the interrupted call; such calls are not monitored. It
 * must return normally, not by longjmp or an exception. */
HISTO_API void histo_set_monitor(bool (*stops)(void *context, const histo_progress *progress), void *context);

/* ---- Memory ------------------------------------------------------------------------------------------- */

/* Where the library allocates host memory, except for some file paths and for compiling GPU kernels. Memory that it
 * returns to the caller, who frees it with histo_free, also comes from here. Any thread may call both functions,
 * several at once, including the library's own threads. */
typedef struct histo_allocator {
    /* Allocate `bytes`, aligned as malloc aligns. On NULL the call fails with HISTO_NO_MEMORY. */
    void *(*allocate)(void *context, size_t bytes);
    /* Free what allocate returned for the same number of bytes. */
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
    uint64_t reserved[4];
} histo_allocator;

/* Set the allocator of the process, which is copied; NULL: malloc and free, the default. HISTO_INVALID while the
 * library holds memory, so set it before all other calls, while no other thread makes any. */
HISTO_API histo_status histo_set_allocator(const histo_allocator *allocator);

/* Limit the host memory that the library uses in this process; 0: no limit but the system's. An allocation beyond the
 * limit fails with HISTO_NO_MEMORY. The limit may be changed at any time, even to less than is in use. */
HISTO_API void histo_set_memory_limit(size_t bytes);

/* Bytes of host memory that the library uses in this process now. */
HISTO_API size_t histo_memory_used(void);

/* Bytes of host memory that this process can still allocate: the minimum of what the system (memory and swap), the
 * control groups, the address-space limit (ulimit -v) and histo_set_memory_limit leave it; SIZE_MAX if none of them is
 * known. The library checks large allocations against this first, and returns HISTO_NO_MEMORY if one does not fit. */
HISTO_API size_t histo_memory_available(void);

/* The version of the running library, such as "0.1.0"; lives as long as the process. */
HISTO_API const char *histo_version(void);

/* ---- Devices ------------------------------------------------------------------------------------------ */

typedef int histo_device;
/* HISTO_DEVICE_AUTO counts samples in a GPU's memory on that GPU, and samples in host memory on the CPU or on GPU 0,
 * whichever is expected to finish first, including transfers and, in a process that has not used CUDA, its
 * initialisation. It may also count page-locked samples on the CPU and all GPUs that this process has used at the same
 * time.
 *
 * HISTO_DEVICE_CUDA_ALL counts page-locked samples on all GPUs and the CPU: each takes the next part when it is free.
 * GPU 0 alone counts other samples in host memory, segments (offsets), pairs, and samples for sparse histograms, none
 * of which would keep a second GPU busy. Samples in a GPU's memory are counted there. */
#define HISTO_DEVICE_AUTO 0
#define HISTO_DEVICE_CPU 1
#define HISTO_DEVICE_CUDA(ordinal) (2 + (ordinal))
#define HISTO_DEVICE_CUDA_ALL 65536

/* The GPU whose memory holds this address, HISTO_DEVICE_CUDA(0) and up. HISTO_DEVICE_CPU for host memory, page-locked
 * memory, unallocated memory, and on machines without a GPU. */
HISTO_API histo_device histo_memory_device(const void *memory);

/* Where the library allocates GPU memory: the counters of histograms, edges and tables of plans, values of maps,
 * workspaces, and buffers for samples from host memory. CUDA itself allocates kernels, streams, events and page-locked
 * host memory. Any thread may call both functions, several at once, with the GPU current; never while the calling
 * thread's stream is captured. */
typedef struct histo_device_allocator {
    /* Allocate `bytes` on this GPU, aligned to 256 bytes, ready for use by work on any stream. On NULL the call fails
     * with HISTO_NO_MEMORY. Ask a stream-ordered caching allocator, such as PyTorch's, for memory of a stream that
     * nothing else uses. */
    void *(*allocate)(void *context, histo_device device, size_t bytes);
    /* Free what allocate returned for the same number of bytes. The library has waited for the GPU: no enqueued work
     * uses it any more. */
    void (*release)(void *context, histo_device device, void *memory, size_t bytes);
    void *context;
    uint64_t reserved[4];
} histo_device_allocator;

/* Set the process's allocator of GPU memory, which is copied; NULL: cudaMalloc and cudaFree, the default. HISTO_INVALID
 * while the library holds GPU memory, so set it before all other calls, while no other thread makes any. */
HISTO_API histo_status histo_set_device_allocator(const histo_device_allocator *allocator);

/* Bytes of this GPU's memory that the library holds in this process now, as obtained from its allocator; 0 for the CPU.
 * Buffers for samples from host memory are kept for reuse after the last histogram is destroyed. */
HISTO_API size_t histo_device_memory_used(histo_device device);

/* ---- Threads ------------------------------------------------------------------------------------------ */

/* Set the process's default number of CPU threads: 1 … 1024. 0 restores the initial default: the environment variable
 * HISTO_THREADS if it holds such a number, else the number of CPUs this process may use. HISTO_INVALID for any other
 * number. Results have the same bits for any number of threads, except HISTO_WEIGHT_FAST sums. */
HISTO_API histo_status histo_set_threads(int threads);
/* The current default number of threads. */
HISTO_API int histo_threads(void);

#ifdef __cplusplus
}
#endif

#endif
