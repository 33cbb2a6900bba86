/* staged: samples in host memory, counted on a GPU by any strategy while later ones are still on their way.
 *
 * The samples travel in chunks through a few lanes, each a pinned buffer, a device buffer and two events. One stream
 * copies, another counts: while chunk k is counted, k+1 is copied and k+2 is gathered into pinned memory by all CPU
 * threads. Contiguous samples in memory that is already pinned skip the gathering. The kernels see the job's nest with
 * other addresses, so that operands in device memory and operands in host memory go together.
 *
 * Source: Milic et al. 2013, IV.G.
 * Bytes: each sample once over the bus, and once more through host memory if that is pageable. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

extern "C" {
#include "cpu/cpu.h"
#include "view/gather.h"
}

enum { LANES = 3 };
static const size_t CHUNK_BYTES = (size_t)16 << 20;

typedef struct lane {
    char *pinned, *device;
    cudaEvent_t copied;  /* the pinned buffer may be written again */
    cudaEvent_t counted; /* the device buffer may be written again */
} lane;

struct histo_cuda_staging {
    size_t bytes; /* of each buffer */
    cudaStream_t copies;
    lane lanes[LANES];
};

void histo_cuda_staging_free(histo_cuda_staging *staging)
{
    for (int l = 0; l < LANES; l++) {
        lane *it = &staging->lanes[l];
        if (it->pinned) cudaFreeHost(it->pinned);
        if (it->device) cudaFree(it->device);
        if (it->copied) cudaEventDestroy(it->copied);
        if (it->counted) cudaEventDestroy(it->counted);
    }
    if (staging->copies) cudaStreamDestroy(staging->copies);
    free(staging);
}

static histo_status make_lane(lane *it, size_t bytes)
{
    histo_status status = HISTO_CUDA(cudaHostAlloc((void **)&it->pinned, bytes, cudaHostAllocDefault), "pinned memory");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaMalloc((void **)&it->device, bytes), "chunks of samples");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaEventCreateWithFlags(&it->copied, cudaEventDisableTiming), "making an event");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaEventCreateWithFlags(&it->counted, cudaEventDisableTiming), "making an event");
    return status;
}

static histo_status provide(histo_cuda_bank *bank, size_t bytes)
{
    if (bank->staging && bank->staging->bytes >= bytes) return HISTO_OK;
    if (bank->staging) histo_cuda_staging_free(bank->staging);
    bank->staging = NULL;
    histo_cuda_staging *staging = (histo_cuda_staging *)calloc(1, sizeof *staging);
    if (!staging) return histo_fail_memory(sizeof *staging, "staging");
    staging->bytes = bytes;
    histo_status status =
        HISTO_CUDA(cudaStreamCreateWithFlags(&staging->copies, cudaStreamNonBlocking), "making a stream");
    for (int l = 0; l < LANES && status == HISTO_OK; l++)
        status = make_lane(&staging->lanes[l], bytes);
    if (status == HISTO_OK)
        bank->staging = staging;
    else
        histo_cuda_staging_free(staging);
    return status;
}

/* Room for n samples of an operand, so that the next one's are aligned. */
static size_t room_for(const histo_problem *p, int operand, int64_t n)
{
    return ((size_t)n * histo_dtype_size(p->dtypes[operand]) + 255) / 256 * 256;
}

/* Samples [begin, end) of the nest, on their way through a lane. */
typedef struct chunk {
    const histo_job *job;
    int64_t begin, end;
    bool travels[HISTO_MAX_OPERANDS];  /* to the device */
    bool gathered[HISTO_MAX_OPERANDS]; /* through the pinned buffer */
    size_t at[HISTO_MAX_OPERANDS];     /* in the lane's buffers */
    char *pinned;
    int parts;
} chunk;

static void gather_part(void *context, int part)
{
    const chunk *c = (const chunk *)context;
    int64_t n = c->end - c->begin, first = n / c->parts * part, last = part + 1 == c->parts ? n : first + n / c->parts;
    for (int o = 0; o < c->job->nest.operands; o++) {
        size_t size = histo_dtype_size(c->job->problem->dtypes[o]);
        if (c->gathered[o])
            histo_gather_range(c->pinned + c->at[o] + (size_t)first * size, &c->job->nest, o, size, c->begin + first,
                               c->begin + last);
    }
}

static histo_status copy(const chunk *c, const histo_cuda_staging *staging, const lane *it)
{
    histo_status status = HISTO_CUDA(cudaStreamWaitEvent(staging->copies, it->counted, 0), "waiting for an event");
    for (int o = 0; o < c->job->nest.operands && status == HISTO_OK; o++) {
        if (!c->travels[o]) continue;
        size_t size = histo_dtype_size(c->job->problem->dtypes[o]);
        const char *from = c->gathered[o] ? it->pinned + c->at[o] : c->job->nest.base[o] + (size_t)c->begin * size;
        status = HISTO_CUDA(cudaMemcpyAsync(it->device + c->at[o], from, (size_t)(c->end - c->begin) * size,
                                            cudaMemcpyHostToDevice, staging->copies),
                            "copying samples");
    }
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(it->copied, staging->copies), "recording an event");
    return status;
}

/* The chunk's job: operands that travelled are contiguous in the order of the nest, sample `begin` first. If all did,
 * its dimensions are only batch entry and sample. */
static histo_job job_of(const chunk *c, const lane *it)
{
    histo_job job = *c->job;
    histo_nest *nest = &job.nest;
    job.begin = c->begin;
    job.end = c->end;
    bool all = true;
    for (int o = 0; o < nest->operands; o++)
        all &= c->travels[o];
    if (all) {
        nest->ndim = nest->batch_ndim = 0;
        if (nest->batch > 1 && !nest->offsets) nest->shape[nest->ndim++] = nest->batch;
        nest->batch_ndim = nest->ndim;
        nest->shape[nest->ndim++] = nest->per_batch;
    }
    for (int o = 0; o < nest->operands; o++) {
        if (!c->travels[o]) continue;
        int64_t stride = (int64_t)histo_dtype_size(job.problem->dtypes[o]);
        nest->base[o] = (const char *)((uintptr_t)(it->device + c->at[o]) - (uintptr_t)(c->begin * stride));
        for (int d = nest->ndim - 1; d >= 0; d--) {
            nest->strides[o][d] = stride;
            stride *= nest->shape[d];
        }
    }
    return job;
}

static bool is_contiguous(const histo_nest *nest, int operand, size_t size)
{
    int64_t stride = (int64_t)size;
    for (int d = nest->ndim - 1; d >= 0; d--) {
        if (nest->strides[operand][d] != stride) return false;
        stride *= nest->shape[d];
    }
    return true;
}

static histo_status run_chunk(const histo_strategy *strategy, const chunk *c, histo_cuda_staging *staging, lane *it)
{
    histo_status status = HISTO_CUDA(cudaEventSynchronize(it->copied), "copying samples");
    if (status != HISTO_OK) return status;
    histo_pool_run(c->parts, gather_part, (void *)c);
    status = copy(c, staging, it);
    histo_job job = job_of(c, it);
    cudaStream_t stream = (cudaStream_t)job.stream;
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamWaitEvent(stream, it->copied, 0), "waiting for an event");
    if (status == HISTO_OK) status = strategy->launch(&job);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(it->counted, stream), "recording an event");
    return status;
}

histo_status histo_cuda_run_staged(const histo_strategy *strategy, const histo_job *job, histo_cuda_bank *bank,
                                   const bool *direct, const bool *pinned, cudaStream_t stream)
{
    enum { SAMPLES_A_PART = 1 << 18 };
    (void)stream;
    const histo_problem *p = job->problem;
    chunk c = {.job = job};
    size_t sample_bytes = 0;
    for (int o = 0; o < p->operands; o++) {
        size_t size = histo_dtype_size(p->dtypes[o]);
        c.travels[o] = !direct[o];
        c.gathered[o] = !direct[o] && !(pinned[o] && is_contiguous(&job->nest, o, size));
        if (c.travels[o]) sample_bytes += size;
    }
    int64_t most = (int64_t)(CHUNK_BYTES / sample_bytes) / 1024 * 1024, n = job->end - job->begin;
    if (most > n) most = n;
    size_t bytes = 0;
    for (int o = 0; o < p->operands; o++) {
        c.at[o] = bytes;
        if (c.travels[o]) bytes += room_for(p, o, most);
    }
    histo_status status = provide(bank, bytes);
    if (status != HISTO_OK) return status;
    int cpus = histo_backend_cpu.threads(0), next = 0;
    for (c.begin = job->begin; c.begin < job->end && status == HISTO_OK; c.begin = c.end) {
        c.end = job->end - c.begin < most ? job->end : c.begin + most;
        int64_t parts = (c.end - c.begin) / SAMPLES_A_PART + 1;
        c.parts = parts < cpus ? (int)parts : cpus;
        c.pinned = bank->staging->lanes[next].pinned;
        status = run_chunk(strategy, &c, bank->staging, &bank->staging->lanes[next]);
        next = (next + 1) % LANES;
    }
    /* Host memory is the caller's again when this returns. */
    histo_status last = HISTO_CUDA(cudaStreamSynchronize(bank->staging->copies), "copying samples");
    return status != HISTO_OK ? status : last;
}
