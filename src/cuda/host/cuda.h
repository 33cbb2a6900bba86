/* Shared by the CUDA host files: checked calls, devices, device accumulators, and the work of kernels. */
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include <cuda_runtime.h>

extern "C" {
#include "base/error.h"
#include "plan/rates.h"
#include "plan/strategy.h"
#include "view/dtype.h"
#include "view/pairs.h"
}

#include "cuda/device/work.h"

/* ---- Checked calls (check.cu) ---- */

/* Failure injection for tests: with histo_cuda_fail_at = n > 0, the n-th call from now is skipped and returns
 * histo_cuda_fail_as. 0: off. */
extern "C" int histo_cuda_fail_at, histo_cuda_fail_as;
bool histo_cuda_injected(void);

/* HISTO_OK, or fail with a status and a message for `what` ("allocating the counts"). */
histo_status histo_cuda_check(cudaError_t error, const char *what);

/* Wraps every CUDA call that can fail by itself; gives a histo_status. */
#define HISTO_CUDA(call, what) histo_cuda_check(histo_cuda_injected() ? (cudaError_t)histo_cuda_fail_as : (call), what)

/* ---- Devices (device.cu) ---- */

enum { HISTO_CUDA_MAX_DEVICES = 64, HISTO_CUDA_BLOCK_RESERVE = 1024 /* bytes of shared memory the system takes */ };

typedef struct histo_cuda_device {
    char name[256];
    char word[300]; /* name and toolkit, without blanks */
    int major, minor;
    int multiprocessors;
    int threads_each;    /* maximum resident threads of a multiprocessor */
    size_t shared_each;  /* bytes of shared memory of a multiprocessor */
    size_t shared_block; /* the maximum for one block */
    size_t memory;
    histo_speed speed;
} histo_cuda_device;

const char *histo_cuda_unavailable(void);
int histo_cuda_devices(void);
/* Only if CUDA is available. */
const histo_cuda_device *histo_cuda_device_of(histo_device device);
histo_device histo_cuda_locate(const void *memory, bool *only);
/* Can kernels on `device` read this address directly and fast? pinned: the copy engine can read it. */
bool histo_cuda_is_direct(const void *memory, histo_device device, bool *pinned);

/* The same of an operand of a job for that device. */
bool histo_cuda_reads(const histo_job *job, int operand, bool *pinned);

bool histo_cuda_awake(histo_device device);
bool histo_cuda_pinned(const void *memory);
histo_speed histo_cuda_speed(histo_device device);

/* A number for the current device's context, unique in this process. */
unsigned long long histo_cuda_context(void);

/* Make a device current; *before is for histo_cuda_leave, which restores the previous one, if that was another. */
enum { HISTO_CUDA_STAY = -1 };
histo_status histo_cuda_enter(histo_device device, int *before);
void histo_cuda_leave(int before);

/* ---- Plans (backend.cu) ---- */

typedef struct histo_cuda_prepared {
    void *memory;                                     /* on the device: edges and tables */
    histo_lookup lookups[HISTO_MAX_AXES];             /* with pointers into memory */
    struct histo_cuda_specialised_entry *specialised; /* kernels compiled for the plan (jit/specialised.cu) … */
    struct histo_specialised_axis *specialised_axes;  /* … and its axes for them; NULL before the first */
    uint64_t number;                                  /* unique in this process; 0: none yet (lane_private) */
} histo_cuda_prepared;

void histo_cuda_specialised_free(histo_cuda_prepared *prepared);
void histo_cuda_specialised_explain(const void *prepared, histo_text *text);

/* ---- Order across streams (order.cu) ---- */

enum { HISTO_CUDA_MAX_BRANCHES = 8 };

/* The node of a graph that records the event, after the nodes of the last work captured on a stream. */
typedef struct histo_cuda_record {
    unsigned long long capture; /* 0: none */
    cudaStream_t stream;
    cudaGraphNode_t node, after[HISTO_CUDA_MAX_BRANCHES];
    size_t n;
} histo_cuda_record;

typedef struct histo_cuda_order {
    cudaEvent_t done;           /* after everything enqueued so far */
    unsigned long long last;    /* id of the stream that recorded it; 0: unknown */
    bool capturing, captured;   /* work is being captured into a graph; some has been */
    unsigned long long capture; /* the last one, in which this stream waited for the event; 0: none */
    cudaStream_t capture_stream;
    histo_cuda_record record; /* of the event in the last capture */
} histo_cuda_order;

/* Is the stream being captured into a graph? */
bool histo_cuda_is_captured(cudaStream_t stream);
histo_status histo_cuda_order_make(histo_cuda_order *order);
void histo_cuda_order_free(histo_cuda_order *order);
/* Work enqueued on the stream between these two comes after all earlier work and before all later; capturing: it is
 * being captured. */
histo_status histo_cuda_order_begin(histo_cuda_order *order, cudaStream_t stream, bool capturing);
histo_status histo_cuda_order_end(histo_cuda_order *order, cudaStream_t stream);
/* Wait for launched graphs, which may not have recorded the event yet. */
histo_status histo_cuda_order_wait(const histo_cuda_order *order);

/* ---- Device accumulators (accumulators.cu) ---- */

/* The pairs of a sparse histogram on the device: n pairs of slot and count in the first arrays; the second arrays are
 * for sorting. Samples left out use slots after all others, as in histo_accumulators_add. */
typedef struct histo_cuda_sparse {
    int64_t n, capacity;
    unsigned long long *slots[2], *counts[2]; /* [capacity] */
    void *memory;                             /* for CUB */
    size_t bytes;
} histo_cuda_sparse;

typedef struct histo_cuda_fork histo_cuda_fork;

/* counters = slots + 1: the last counter of a batch entry counts the samples that mask and filter exclude. */
typedef struct histo_cuda_accumulators {
    histo_device_accumulators base;
    unsigned long long context; /* of the memory */
    int64_t batch, slots, counters;
    /* Sparse histograms have pairs in addition to counters, or, with too many slots, instead of them (counters is 0).
     */
    bool is_sparse;
    histo_cuda_sparse sparse;
    unsigned long long *counts; /* [batch * counters], and words for cumulative reads or for arrivals */
    double *sum_w, *sum_w2;     /* fast weighting: [batch * counters] */
    histo_cuda_exact exact[2];  /* reproducible: sums of w and of w * w; the latter NULL if not wanted */
    uint64_t pending;           /* upper bound of additions to any exact sum since digits were last balanced */
    bool dirty;                 /* host memory may lack some of what has been counted */
    const char *broken;         /* a fill failed halfway */
    cudaStream_t stream;        /* for clearing, reading, and samples without a stream */
    histo_cuda_order order;
    const void *large_kernel; /* the last kernel that was allowed more than the usual shared memory */
    void *workspace;
    size_t workspace_bytes;
    int64_t *offsets;      /* [batch + 1] of a ragged fill from host memory; NULL before the first */
    histo_cuda_fork *fork; /* NULL before the first fork */
} histo_cuda_accumulators;

/* The device accumulators of a job; made if missing. */
histo_status histo_cuda_accumulators_of(const histo_job *job, histo_cuda_accumulators **accumulators);
histo_status histo_cuda_accumulators_gather(histo_device_accumulators *from, const histo_accumulators *to, bool keep);
histo_status histo_cuda_accumulators_read(histo_device_accumulators *from, const histo_reading *reading);
bool histo_cuda_accumulators_are_empty(const histo_device_accumulators *device_accumulators);
/* HISTO_DEVICE if the counts are not whole. */
histo_status histo_cuda_accumulators_check(const histo_cuda_accumulators *accumulators);
histo_status histo_cuda_send(void *to, histo_device device, const void *from, size_t bytes, void *stream);
histo_status histo_cuda_accumulators_wait(histo_device_accumulators *device_accumulators);
bool histo_cuda_accumulators_clear(histo_device_accumulators *device_accumulators, void *stream);
void histo_cuda_accumulators_free(histo_device_accumulators *device_accumulators);

/* Copy a job's offsets to the device, on a stream between begin and end, and point the job at them. */
histo_status histo_cuda_accumulators_offsets(histo_cuda_accumulators *accumulators, histo_job *job,
                                             cudaStream_t stream);
/* Grow the workspace if necessary. */
histo_status histo_cuda_accumulators_workspace(histo_cuda_accumulators *accumulators, size_t bytes);
/* Set everything to zero, on a stream between begin and end. */
histo_status histo_cuda_accumulators_zero(histo_cuda_accumulators *accumulators, cudaStream_t stream);
/* Reserve capacity for `adds` additions to every exact sum. */
histo_status histo_cuda_accumulators_reserve(histo_cuda_accumulators *accumulators, uint64_t adds, cudaStream_t stream);
/* The number of counters of the whole batch. */
int64_t histo_cuda_counters(const histo_cuda_accumulators *accumulators);

/* ---- Several GPUs (join.cu, shared.cu) ---- */

/* For tests: no GPU can reach another's memory. */
extern "C" bool histo_cuda_apart;
/* Can kernels on GPU `to` use the memory of GPU `from`? */
bool histo_cuda_reaches(int to, int from);
histo_status histo_cuda_accumulators_join(histo_device_accumulators *to, histo_device_accumulators *const *others,
                                          int n);
histo_status histo_cuda_run_shared(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share);

/* ---- Reading (read.cu) ---- */

/* Enqueue a read into memory of the device. The stride of the batch is that of counters. */
histo_status histo_cuda_read_there(const histo_cuda_accumulators *from, const histo_reading *reading,
                                   cudaStream_t stream);
/* Read into host memory, not cumulatively, and wait. */
histo_status histo_cuda_read_here(const histo_cuda_accumulators *from, const histo_reading *reading,
                                  cudaStream_t stream);
/* What is done with elements that come to the host piece by piece. */
typedef struct histo_cuda_taker {
    /* Called by the calling thread: `before` a piece is taken, while no thread takes anything, and `after` that.
     * `after` may enqueue work on the stream, behind the copy of the piece. NULL: there is nothing to do. */
    histo_status (*before)(void *context, int64_t first, int64_t n, const void *elements);
    /* Called by several threads, for parts of a piece. */
    void (*take)(void *context, int64_t first, int64_t n, const void *elements);
    histo_status (*after)(void *context, int64_t first, int64_t n);
    void *context;
} histo_cuda_taker;

/* Bring n elements of an array of the accumulators to the host. Waits. */
histo_status histo_cuda_bring(const histo_cuda_accumulators *from, const void *array, size_t size, int64_t n,
                              cudaStream_t stream, const histo_cuda_taker *taker);
/* The words that cumulative reads need after so many counters. */
size_t histo_cuda_scan_words(int64_t counters);

/* Behind the counts of few counters are as many words that are zero between kernels: a kernel that reads what it counts
 * adds up its blocks' counts there, and how many blocks have arrived. NULL for more counters, or for a batch. */
enum { HISTO_CUDA_ARRIVING = 1024 };
unsigned long long *histo_cuda_arrivals(const histo_cuda_accumulators *accumulators);

/* ---- Sparse counts (sort_runs.cu) ---- */

/* Add the pairs to the host's and clear them; on failure they stay. Waits for the stream. */
histo_status histo_cuda_sparse_gather(histo_cuda_accumulators *accumulators, const histo_accumulators *to,
                                      cudaStream_t stream);
void histo_cuda_sparse_free(histo_cuda_sparse *sparse);

/* ---- Samples in host memory (staged.cu) ---- */

/* Launch the job in chunks, overlapped with copies of the operands that the device cannot read directly. Between begin
 * and end. For jobs that are counted in parts, see staged.h. */
histo_status histo_cuda_run_staged(const histo_strategy *strategy, const histo_job *job, const bool *direct,
                                   const bool *pinned);

/* The same for pairs of images in host memory (staged_pairs.cu). */
histo_status histo_cuda_run_staged_pairs(const histo_strategy *strategy, const histo_job *job);

/* ---- Probing samples (probe.cu) ---- */

histo_status histo_cuda_probe(const histo_job *job, int n, uint32_t *slots);

/* ---- Extremes (extremes.cu) ---- */

histo_status histo_cuda_extremes(const histo_job *job, histo_found *found);

/* ---- Forks (fork.cu) ---- */

/* Between these two, work may be enqueued on streams[0 … branches - 1]; streams[0] is `stream`. Every successful begin
 * needs an end, even after a failure. */
histo_status histo_cuda_fork_begin(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches,
                                   cudaStream_t *streams);
histo_status histo_cuda_fork_end(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches);
void histo_cuda_fork_free(histo_cuda_fork *fork);

/* ---- The work of a kernel (work.cu) ---- */

/* d: 1 … 2^32 - 1. */
histo_divisor histo_divisor_of(int64_t d);

/* The operands of a job, and its samples; all else of the work stays as it is, cleared. */
void histo_cuda_work_bind(histo_cuda_work *work, const histo_job *job);

/* Find what the iterator and the dtypes imply: alignment and divisors. */
void histo_cuda_work_measure(histo_cuda_work *work);

/* Cut samples begin … end into tiles of at most `most` (<= 2^30): about `wanted` tiles, unless that leaves fewer than
 * `least` samples in each. */
void histo_cuda_work_cut(histo_cuda_work *work, int64_t wanted, int64_t least, int64_t most);

/* The work of a job, cut so. */
histo_cuda_work histo_cuda_work_of(const histo_job *job, int64_t wanted, int64_t least, int64_t most);

/* The fastest reader for the work. */
int histo_cuda_reader_of(const histo_cuda_work *work);

/* Estimates, in microseconds: of the lookup of a sample, 0 where reading hides it; and of the samples that global
 * atomics count, those outside the densest `window` slots: bound by the L2 cache, or by the commonest counter. */
double histo_cuda_lookup_us(const histo_problem *problem);
double histo_cuda_global_atomics_us(const histo_problem *problem, int64_t window);
enum { HISTO_CUDA_ONE_COUNTER = 1360 /* additions to one counter in a microsecond */ };

/* How many blocks of this many threads and bytes of dynamic shared memory are resident on the device, registers
 * permitting. */
int64_t histo_cuda_resident(histo_device device, int threads, size_t shared);

/* Enqueue a kernel on the job's stream. args: addresses of the arguments, as for cudaLaunchKernel. */
histo_status histo_cuda_launch(const histo_job *job, const void *kernel, dim3 grid, int threads, size_t shared,
                               void **args);

/* Enqueue a kernel, in clusters of so many blocks, that may start before the one in front of it has finished, and waits
 * for that before it uses memory (device/dependent.cuh). */
histo_status histo_cuda_launch_early(histo_device device, const void *kernel, dim3 grid, int threads, unsigned cluster,
                                     size_t shared, void **args, cudaStream_t stream);

static inline histo_cuda_accumulators *histo_cuda_accumulators_in(const histo_job *job)
{
    return (histo_cuda_accumulators *)job->device_accumulators;
}

#endif
