/* What a GPU has counted, in its memory. */
#ifndef CUDA_MEMORY_ACCUMULATORS_H
#define CUDA_MEMORY_ACCUMULATORS_H

#include "cuda/device/work.h"
#include "cuda/memory/sparse.h"
#include "cuda/memory/stream_order.h"
#include "plan/strategy.h"

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
    const char *broken;         /* why the counts are not whole; NULL: they are */
    cudaStream_t stream;        /* for clearing, reading, and samples without a stream */
    histo_cuda_order order;
    const void *large_kernel; /* the last kernel that was allowed more than the usual shared memory */
    void *workspace;
    size_t workspace_bytes;
    struct histo_cuda_old_workspace *old_workspaces; /* smaller ones, which graphs may still use */
    int64_t *offsets;      /* [batch + 1] of a ragged fill from host memory; NULL before the first */
    histo_cuda_fork *fork; /* NULL before the first fork */
} histo_cuda_accumulators;

/* The device accumulators of a job; made if missing. */
histo_status histo_cuda_accumulators_of(const histo_job *job, histo_cuda_accumulators **accumulators);
histo_status histo_cuda_accumulators_gather(histo_device_accumulators *from, const histo_accumulators *to, bool keep);
histo_status histo_cuda_accumulators_read(histo_device_accumulators *from, const histo_reading *reading);
bool histo_cuda_accumulators_are_empty(const histo_device_accumulators *device_accumulators);
/* Make their device current, as histo_cuda_enter does; HISTO_DEVICE if they went with its context. */
histo_status histo_cuda_accumulators_enter(const histo_cuda_accumulators *accumulators, int *before);
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

/* Behind the counts of few counters are as many words that are zero between kernels: a kernel that reads what it counts
 * adds up its blocks' counts there, and how many blocks have arrived. NULL for more counters, or for a batch. */
enum { HISTO_CUDA_ARRIVING = 1024 };
unsigned long long *histo_cuda_arrivals(const histo_cuda_accumulators *accumulators);

static inline histo_cuda_accumulators *histo_cuda_accumulators_in(const histo_job *job)
{
    return (histo_cuda_accumulators *)job->device_accumulators;
}

#endif
