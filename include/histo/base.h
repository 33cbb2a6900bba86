/* Versions, limits, statuses, and settings of the process. Include histo/histo.h. */
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

/* Enumerations are uint32_t, whatever the compiler and its flags; C++ has types of their own for them. */
#ifdef __cplusplus
#define HISTO_ENUM_BASE : uint32_t
#define HISTO_ENUM(name) enum name
#else
#define HISTO_ENUM_BASE
#define HISTO_ENUM(name) uint32_t
#endif

/* Zero in every field of a struct, in C and in C++:
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
#define HISTO_MAX_IMAGES 256               /* images whose pairs are counted */
#define HISTO_MAX_NAME 1024                /* bytes of the name of a histogram */
#define HISTO_MAX_METADATA (1 << 30)       /* bytes of its metadata */

/* ---- Errors ------------------------------------------------------------------------------------------- */

enum histo_status HISTO_ENUM_BASE {
    HISTO_OK = 0,
    HISTO_INVALID,     /* an argument is invalid; the message says which and why */
    HISTO_NO_MEMORY,   /* host memory is exhausted, or the request exceeds what is available */
    HISTO_UNSUPPORTED, /* valid, but not with this strategy, device or build */
    HISTO_IO,          /* a file could not be opened, read or written */
    HISTO_CORRUPT,     /* a saved histogram is damaged or malformed */
    HISTO_DEVICE,      /* a device failed; reset the histogram unless the message says otherwise */
    HISTO_CANCELLED    /* the monitor of the calling thread stopped the call */
};
typedef HISTO_ENUM(histo_status) histo_status;

/* "HISTO_OK", "HISTO_INVALID", …; NULL for an unknown status. */
HISTO_API const char *histo_status_name(histo_status status);

/* The sentence that describes the last failure on this thread; "" if there was none. It is valid until this thread's
 * next call of the library. */
HISTO_API const char *histo_last_error(void);

/* Make this the last failure on this thread, for code that extends the library. Copies the sentence, returns status. */
HISTO_API histo_status histo_set_error(histo_status status, const char *sentence);

/* ---- Long calls --------------------------------------------------------------------------------------- */

/* How far a call is. */
typedef struct histo_progress {
    const char *stage; /* what it is doing: "counting", "measuring", "surveying", …; it lives as long as the process */
    double done;       /* how much of the stage is done, 0 … 1; NaN if that is unknown */
} histo_progress;

/* Let `stops` watch the calls that this thread makes from now on; NULL: nothing watches them. A call that takes long
 * asks it about every 20 milliseconds, on this thread, with the pointer `context`; calls that take less than some
 * milliseconds hardly ever do. If it returns true, all threads stop working for the call, within about a tenth of a
 * second, and the call returns HISTO_CANCELLED. That is so of fills, surveys, extremes, statistics and quantiles of
 * samples, maps that are applied or matched, plans that measure, and of histograms: reading, writing, words, merging,
 * copying, subtracting, scaling, regrouping, comparing, splitting, quantiles, summaries, information, metadata, saving
 * and loading; all in host memory. Other calls, and waiting for a GPU, cannot be cancelled.
 *
 * A cancelled call changes nothing but what it was to write: an array of results is then undefined. A histogram,
 * survey or object for quantiles that it was adding to holds a part, so that all further calls refuse it by
 * HISTO_INVALID, until a histogram is reset, replaced or written, and others are destroyed.
 *
 * `stops` may call the library, with other objects than those of the call that asks; these calls are not watched. It
 * must return, neither by longjmp nor by an exception. */
HISTO_API void histo_set_monitor(bool (*stops)(void *context, const histo_progress *progress), void *context);

/* ---- Memory ------------------------------------------------------------------------------------------- */

/* Where the library takes host memory, all but some paths of files; what it returns to the caller is of it, too, and is
 * given back by histo_free. Both functions are called by any thread, several at once, also by threads of the library.
 */
typedef struct histo_allocator {
    /* `bytes` of memory, aligned as malloc aligns it; NULL: there are none, and the call fails as HISTO_NO_MEMORY. */
    void *(*allocate)(void *context, size_t bytes);
    /* Take back what allocate gave for as many bytes. */
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
    uint64_t reserved[4];
} histo_allocator;

/* Set the allocator of the process, which is copied; NULL: malloc and free, as at the start. HISTO_INVALID if the
 * library has taken memory that it has not given back: set it before all other calls, while no other thread makes any.
 */
HISTO_API histo_status histo_set_allocator(const histo_allocator *allocator);

/* Limit the host memory that the library uses in this process; 0: only the system limits it. What exceeds the limit
 * fails as HISTO_NO_MEMORY. It may be changed at any time, also to less than is used now. */
HISTO_API void histo_set_memory_limit(size_t bytes);

/* Bytes of host memory that the library uses in this process now. */
HISTO_API size_t histo_memory_used(void);

/* Bytes of host memory that this process can still allocate: the least of what the system (memory and swap), the
 * control groups, the address-space limit (ulimit -v) and histo_set_memory_limit leave it; SIZE_MAX if none of them is
 * known. Before a large allocation the library compares it with this, and returns HISTO_NO_MEMORY if it does not fit.
 */
HISTO_API size_t histo_memory_available(void);

/* The version of the library that runs, such as "0.1.0"; it lives as long as the process. */
HISTO_API const char *histo_version(void);

/* ---- Devices ------------------------------------------------------------------------------------------ */

typedef int histo_device;
/* HISTO_DEVICE_AUTO counts samples in a GPU's memory on that GPU, and samples in host memory on the CPU or on GPU 0,
 * whichever is expected to finish first, including the transfers and, in a process that has not used CUDA, its start.
 * It may also count page-locked samples on the CPU and all GPUs that this process has used, at the same time.
 * HISTO_DEVICE_CUDA_ALL counts page-locked samples on all GPUs and the CPU: each takes the next part when it is free.
 * GPU 0 alone counts other samples in host memory, segments (offsets), pairs, and samples for sparse histograms, which
 * would keep no second GPU busy. Samples in a GPU's memory are counted there. */
#define HISTO_DEVICE_AUTO 0
#define HISTO_DEVICE_CPU 1
#define HISTO_DEVICE_CUDA(ordinal) (2 + (ordinal))
#define HISTO_DEVICE_CUDA_ALL 65536

/* The GPU whose memory holds this address, HISTO_DEVICE_CUDA(0) and up; HISTO_DEVICE_CPU for host memory, page-locked
 * memory, memory that is not allocated, and where there is no GPU. */
HISTO_API histo_device histo_memory_device(const void *memory);

/* Where the library takes the memory of GPUs: the counters of histograms, edges and tables of plans, values of maps,
 * workspaces, and buffers for samples from host memory. Not kernels, streams and events, and page-locked host memory,
 * which CUDA takes. Both functions are called by any thread, several at once, with the GPU current, and never while the
 * calling thread's stream is captured. */
typedef struct histo_device_allocator {
    /* `bytes` of the memory of this GPU, aligned to 256 bytes, that work on any stream may use at once; NULL: there are
     * none, and the call fails as HISTO_NO_MEMORY. A caching allocator that gives memory for one stream, such as that
     * of PyTorch, is to be asked for a stream which nothing else uses. */
    void *(*allocate)(void *context, histo_device device, size_t bytes);
    /* Take back what allocate gave for as many bytes. No enqueued work uses it any more: the library has waited for the
     * GPU. */
    void (*release)(void *context, histo_device device, void *memory, size_t bytes);
    void *context;
    uint64_t reserved[4];
} histo_device_allocator;

/* Set the allocator of GPU memory of the process, which is copied; NULL: cudaMalloc and cudaFree, as at the start.
 * HISTO_INVALID if the library holds memory of a GPU: set it before all other calls, while no other thread makes any.
 */
HISTO_API histo_status histo_set_device_allocator(const histo_device_allocator *allocator);

/* Bytes of this GPU's memory that the library holds in this process now, as far as its allocator gives it; 0 for the
 * CPU. Buffers for samples from host memory are kept for reuse when all histograms are gone. */
HISTO_API size_t histo_device_memory_used(histo_device device);

/* ---- Threads ------------------------------------------------------------------------------------------ */

/* Set the process's default number of CPU threads: 1 … 1024; or 0, as at the start: the environment variable
 * HISTO_THREADS if it is such a number, else the number of CPUs that this process may use. HISTO_INVALID for any other
 * number. Results have the same bits for any number of threads, except HISTO_WEIGHT_FAST sums. */
HISTO_API histo_status histo_set_threads(int threads);
/* The default number of threads now. */
HISTO_API int histo_threads(void);

#ifdef __cplusplus
}
#endif

#endif
