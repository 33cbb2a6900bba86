/* Forks: distribute the work of one stream over several, which all start after the stream's earlier work and which the
 * stream then waits for. The streams belong to the device accumulators, so histograms do not wait for each other. */
#include "cuda/memory/fork.h"

#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/memory/stream_order.h"

struct histo_cuda_fork {
    cudaStream_t streams[HISTO_CUDA_MAX_BRANCHES]; /* streams[0] is unused: it is the forking stream */
    cudaEvent_t begun, done[HISTO_CUDA_MAX_BRANCHES];
};

void histo_cuda_fork_free(histo_cuda_fork *fork, bool alive)
{
    for (int b = 1; b < HISTO_CUDA_MAX_BRANCHES && alive; b++) {
        if (fork->streams[b]) cudaStreamDestroy(fork->streams[b]);
        if (fork->done[b]) cudaEventDestroy(fork->done[b]);
    }
    if (fork->begun && alive) cudaEventDestroy(fork->begun);
    histo_free(fork);
}

static histo_status make(histo_cuda_fork **out)
{
    histo_cuda_fork *fork = (histo_cuda_fork *)histo_calloc(1, sizeof *fork);
    if (!fork) return histo_fail_memory(sizeof *fork, "streams");
    histo_status status = HISTO_CUDA(cudaEventCreateWithFlags(&fork->begun, cudaEventDisableTiming), "making an event");
    for (int b = 1; b < HISTO_CUDA_MAX_BRANCHES && status == HISTO_OK; b++) {
        status = HISTO_CUDA(cudaStreamCreateWithFlags(&fork->streams[b], cudaStreamNonBlocking), "making a stream");
        if (status == HISTO_OK)
            status = HISTO_CUDA(cudaEventCreateWithFlags(&fork->done[b], cudaEventDisableTiming), "making an event");
    }
    if (status == HISTO_OK)
        *out = fork;
    else
        histo_cuda_fork_free(fork, true);
    return status;
}

histo_status histo_cuda_fork_begin(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches,
                                   cudaStream_t *streams)
{
    histo_status status = HISTO_OK;
    streams[0] = stream;
    if (branches == 1) return HISTO_OK;
    if (!accumulators->fork) status = make(&accumulators->fork);
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaEventRecord(accumulators->fork->begun, stream), "recording an event");
    for (int b = 1; b < branches && status == HISTO_OK; b++) {
        streams[b] = accumulators->fork->streams[b];
        status = HISTO_CUDA(cudaStreamWaitEvent(streams[b], accumulators->fork->begun, 0), "waiting for an event");
    }
    return status;
}

histo_status histo_cuda_fork_end(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches)
{
    histo_status first = HISTO_OK;
    for (int b = 1; b < branches; b++) {
        cudaEvent_t done = accumulators->fork->done[b];
        histo_status status = HISTO_CUDA(cudaEventRecord(done, accumulators->fork->streams[b]), "recording an event");
        if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamWaitEvent(stream, done, 0), "waiting for an event");
        if (first == HISTO_OK) first = status;
    }
    return first;
}
