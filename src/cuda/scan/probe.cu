/* A probe: the slots of some samples in device memory, brought to the host while a plan is made. A small kernel on the
 * fill's stream, one thread a sample; latency bounds it. */
#include "cuda/scan/probe.h"

#include "cuda/device/any_sample.cuh"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/staging.h"

enum { THREADS = 128 };

/* Of a batch, as many of each entry; or one each of n entries, if there are more. */
static __global__ void sample(const __grid_constant__ histo_cuda_work work, uint32_t n, uint32_t *slots)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t entries = work.tiles / work.tiles_per_entry;
    const uint32_t each = entries < n ? n / (uint32_t)entries : 1;
    const int64_t entry = entries < n ? i / each : i * entries / n;
    if (i >= n) return;
    slots[i] = HISTO_NO_SLOT;
    if (entry < entries) slots[i] = histo_sampling::of(&work, work.first_entry + entry, each).slot(&work, i % each);
}

/* The host must not wait while a stream is captured, and kernels cannot read all host memory. */
static histo_status check(const histo_job *job)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    histo_status status = HISTO_CUDA(cudaStreamIsCapturing((cudaStream_t)job->stream, &capture), "asking a stream");
    bool can = capture == cudaStreamCaptureStatusNone, pinned;
    for (int o = 0; o < job->iter.operands && can; o++)
        can = histo_cuda_reads(job, o, &pinned);
    return status == HISTO_OK && !can ? histo_fail(HISTO_UNSUPPORTED, "the samples cannot be probed") : status;
}

static histo_status probe(const histo_job *job, histo_staging *staging, int n, uint32_t *slots)
{
    histo_cuda_accumulators nowhere = {};
    histo_job it = *job;
    it.device_accumulators = &nowhere.base;
    histo_cuda_work work = histo_cuda_work_of(&it, 1, 1, 1 << 30);
    cudaStream_t stream = (cudaStream_t)job->stream;
    histo_status status = histo_staging_slots(staging, n);
    if (status != HISTO_OK) return status;
    void *args[] = {&work, &n, &staging->slots};
    status =
        histo_cuda_launch(&it, (const void *)sample, dim3((unsigned)(n + THREADS - 1) / THREADS), THREADS, 0, args);
    if (status == HISTO_OK)
        status = HISTO_CUDA(
            cudaMemcpyAsync(slots, staging->slots, (size_t)n * sizeof *slots, cudaMemcpyDeviceToHost, stream),
            "reading slots");
    return status == HISTO_OK ? HISTO_CUDA(cudaStreamSynchronize(stream), "probing samples") : status;
}

histo_status histo_cuda_probe(const histo_job *job, int n, uint32_t *slots)
{
    return histo_with_staging(job, check, [=](histo_staging *staging) { return probe(job, staging, n, slots); });
}
