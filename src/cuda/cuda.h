/* What the CUDA files share on the host: checked calls, devices, device accumulators, and the work that kernels get. */
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include <cuda_runtime.h>

extern "C" {
#include "base/error.h"
#include "plan/strategy.h"
#include "view/dtype.h"
#include "view/pairs.h"
}

#include "cuda/device/work.h"

/* ---- Checked calls (check.cu) ---- */

/* Tests make calls fail: with histo_cuda_fail_at = n > 0 the n-th call from now is not made and gives
 * histo_cuda_fail_as instead. 0: off. */
extern "C" int histo_cuda_fail_at, histo_cuda_fail_as;
bool histo_cuda_injected(void);

/* HISTO_OK, or the status and the sentence for a failure of `what` ("allocating the counts"). */
histo_status histo_cuda_check(cudaError_t error, const char *what);

/* Every CUDA call that can fail for a reason of its own goes through this; it gives a histo_status. */
#define HISTO_CUDA(call, what) histo_cuda_check(histo_cuda_injected() ? (cudaError_t)histo_cuda_fail_as : (call), what)

/* ---- Devices (device.cu) ---- */

enum { HISTO_CUDA_MAX_DEVICES = 64, HISTO_CUDA_BLOCK_RESERVE = 1024 /* bytes of shared memory the system takes */ };

typedef struct histo_cuda_device {
    char name[256];
    char word[300]; /* name and toolkit, without blanks */
    int major, minor;
    int multiprocessors;
    int threads_each;    /* resident on a multiprocessor */
    size_t shared_each;  /* bytes of shared memory on a multiprocessor */
    size_t shared_block; /* the most of it that one block can have */
    size_t memory;
    histo_speed speed;
} histo_cuda_device;

const char *histo_cuda_unavailable(void);
int histo_cuda_devices(void);
/* Only where CUDA is available. */
const histo_cuda_device *histo_cuda_device_of(histo_device device);
histo_device histo_cuda_locate(const void *memory, bool *only);
/* Can kernels on `device` read this address as it is, and fast? pinned: the copy engine can read it. */
bool histo_cuda_is_direct(const void *memory, histo_device device, bool *pinned);

bool histo_cuda_awake(histo_device device);
bool histo_cuda_pinned(const void *memory);
histo_speed histo_cuda_speed(histo_device device);

/* A number of the current device's context, which no other will have in this process. */
unsigned long long histo_cuda_context(void);

/* Make a device current; *before is what histo_cuda_leave makes current again. */
histo_status histo_cuda_enter(histo_device device, int *before);
void histo_cuda_leave(int before);

/* ---- Plans (backend.cu) ---- */

typedef struct histo_cuda_prepared {
    void *memory;                         /* on the device: edges and tables */
    histo_lookup lookups[HISTO_MAX_AXES]; /* whose pointers are into it */
} histo_cuda_prepared;

/* ---- Device accumulators (accumulators.cu) ---- */

/* Pairs of a sparse histogram on the device: n pairs of a slot and a count in the first arrays, and room to sort them
 * in the others. Samples left out are counted in slots behind all, as in histo_accumulators_add. */
typedef struct histo_cuda_sparse {
    int64_t n, capacity;
    unsigned long long *slots[2], *counts[2]; /* [capacity] */
    void *memory;                             /* for CUB */
    size_t bytes;
} histo_cuda_sparse;

typedef struct histo_cuda_fork histo_cuda_fork;

/* counters = slots + 1: the last one of a batch entry counts the samples that mask and filter leave out. */
typedef struct histo_cuda_accumulators {
    histo_device_accumulators base;
    int64_t batch, slots, counters;
    /* Of a sparse histogram: pairs, beside counters or, of one of too many slots, instead of them: counters is then 0.
     */
    bool is_sparse;
    histo_cuda_sparse sparse;
    unsigned long long *counts; /* [batch * counters] */
    double *sum_w, *sum_w2;     /* fast weighting: [batch * counters] */
    histo_cuda_exact exact[2];  /* reproducible: of w and of w * w. Those of w * w are NULL if not wanted */
    uint64_t pending;           /* additions to any exact sum since the digits were balanced, at most */
    bool dirty;                 /* it may hold something */
    const char *broken;         /* a fill failed halfway */
    cudaStream_t stream;        /* the accumulators' own, for clearing, reading, and samples of no other stream */
    cudaEvent_t done;           /* after everything enqueued so far */
    unsigned long long last;    /* the stream that it was recorded on, by number; 0: not known */
    bool capturing, captured;   /* a fill is captured into a graph; one was */
    void *workspace;
    size_t workspace_bytes;
    int64_t *offsets;      /* [batch + 1] of a ragged fill from host memory; NULL before the first */
    histo_cuda_fork *fork; /* NULL before the first fork */
} histo_cuda_accumulators;

/* The device accumulators in which a job counts, made if it is not there. */
histo_status histo_cuda_accumulators_of(const histo_job *job, histo_cuda_accumulators **accumulators);
histo_status histo_cuda_accumulators_gather(histo_device_accumulators *from, const histo_accumulators *to);
histo_status histo_cuda_accumulators_wait(histo_device_accumulators *device_accumulators);
bool histo_cuda_accumulators_clear(histo_device_accumulators *device_accumulators);
void histo_cuda_accumulators_free(histo_device_accumulators *device_accumulators);

/* Copy a job's offsets to the device, on a stream between begin and end, and let the job have those. */
histo_status histo_cuda_accumulators_offsets(histo_cuda_accumulators *accumulators, histo_job *job,
                                             cudaStream_t stream);
/* Make the workspace large enough. */
histo_status histo_cuda_accumulators_workspace(histo_cuda_accumulators *accumulators, size_t bytes);
/* Is what is enqueued on the stream captured into a graph? */
bool histo_cuda_is_captured(cudaStream_t stream);
/* Between these two, work for the accumulators is enqueued on one stream. */
histo_status histo_cuda_accumulators_begin(histo_cuda_accumulators *accumulators, cudaStream_t stream);
histo_status histo_cuda_accumulators_end(histo_cuda_accumulators *accumulators, cudaStream_t stream);
/* Make room for `adds` additions to every exact sum. */
histo_status histo_cuda_accumulators_reserve(histo_cuda_accumulators *accumulators, uint64_t adds, cudaStream_t stream);

/* ---- Sparse counts (sort_runs.cu) ---- */

/* Add them to the host's and forget them; on failure they stay. Waits for the stream. */
histo_status histo_cuda_sparse_gather(histo_cuda_accumulators *accumulators, const histo_accumulators *to,
                                      cudaStream_t stream);
void histo_cuda_sparse_free(histo_cuda_sparse *sparse);

/* ---- Samples in host memory (staged.cu) ---- */

/* Launch the job in pieces, copying the operands that are not direct to the device meanwhile. Between begin and end. */
histo_status histo_cuda_run_staged(const histo_strategy *strategy, const histo_job *job, const bool *direct,
                                   const bool *pinned);

/* ---- A look at some samples (probe.cu) ---- */

histo_status histo_cuda_probe(const histo_job *job, int n, uint32_t *slots);

/* ---- Forks (fork.cu) ---- */

enum { HISTO_CUDA_MAX_BRANCHES = 8 };

/* Between these two, work may be enqueued on streams[0 … branches - 1], the first of which is `stream`. After a begin
 * that succeeded there must be an end, also after a failure. */
histo_status histo_cuda_fork_begin(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches,
                                   cudaStream_t *streams);
histo_status histo_cuda_fork_end(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches);
void histo_cuda_fork_free(histo_cuda_fork *fork);

/* ---- The work of a kernel (work.cu) ---- */

/* d: 1 … 2^32 - 1. */
histo_divisor histo_divisor_of(int64_t d);

/* The work of a job, cut into tiles of at most `most` (<= 2^30) samples: about `wanted` of them if each then has at
 * least `least`. */
histo_cuda_work histo_cuda_work_of(const histo_job *job, int64_t wanted, int64_t least, int64_t most);

/* The fastest reader for the work. */
int histo_cuda_reader_of(const histo_cuda_work *work);

/* Blocks of this many threads and bytes of dynamic shared memory that run on the device at once, registers allowing. */
int64_t histo_cuda_resident(histo_device device, int threads, size_t shared);

/* Enqueue a kernel on the job's stream. args: addresses of its arguments, as cudaLaunchKernel takes them. */
histo_status histo_cuda_launch(const histo_job *job, const void *kernel, dim3 grid, int threads, size_t shared,
                               void **args);

static inline histo_cuda_accumulators *histo_cuda_accumulators_in(const histo_job *job)
{
    return (histo_cuda_accumulators *)job->device_accumulators;
}

#endif
