/* One fill of samples in host memory on several GPUs. The calling thread gives the next chunk to whichever GPU is free,
 * so links of different speeds, and links that share a switch or the host's memory, are all kept busy until the end.
 * Between chunks, this thread counts on the CPU, if that helps.
 *
 * Each GPU copies one chunk while it counts another, which takes a millisecond or two: for that long, the calling
 * thread may be away. */
#include "cuda/transfer/several_gpus.h"

#include <sched.h>

#include "base/memory.h"
#include "cuda/host/device.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/stream_order.h"
#include "cuda/transfer/staged.h"

static const size_t CHUNK = (size_t)32 << 20, LEAST = (size_t)1 << 20; /* bytes that a GPU takes at once */
enum { GRAIN = 1024 /* samples: parts begin at multiples of it */ };

/* One of the GPUs, and what it is counting. */
typedef struct member {
    histo_job *job;
    histo_cuda_accumulators *accumulators; /* NULL: it has counted nothing yet */
    histo_staged_route route;
} member;

/* Prepare the member's GPU, whose device is current, for its parts. */
static histo_status begin(const histo_strategy *strategy, member *m)
{
    histo_job *job = m->job;
    histo_cuda_accumulators *accumulators;
    bool direct[HISTO_MAX_OPERANDS] = {false}, pinned[HISTO_MAX_OPERANDS];
    for (int o = 0; o < job->iter.operands; o++)
        pinned[o] = histo_cuda_pinned(job->iter.base[o]);
    histo_status status = histo_cuda_accumulators_of(job, &accumulators);
    if (status == HISTO_OK) status = histo_cuda_accumulators_check(accumulators);
    if (status == HISTO_OK)
        status = histo_cuda_accumulators_workspace(
            accumulators, histo_strategy_workspace(strategy, job->problem, job->threads, job->params));
    if (status != HISTO_OK) return status;
    job->stream = accumulators->stream;
    job->device_accumulators = &accumulators->base;
    job->workspace = accumulators->workspace;
    status = histo_staged_open(&m->route, strategy, job, direct, pinned, CHUNK);
    if (status != HISTO_OK) return status;
    m->accumulators = accumulators;
    status = histo_cuda_order_begin(&accumulators->order, accumulators->stream, false);
    return status == HISTO_OK
               ? histo_cuda_accumulators_reserve(accumulators, (uint64_t)(job->end - job->begin), accumulators->stream)
               : status;
}

/* End what begin has begun; the member's device is current. */
static histo_status end(member *m, histo_status status)
{
    status = histo_staged_close(&m->route, status);
    return status == HISTO_OK ? histo_cuda_order_end(&m->accumulators->order, m->accumulators->stream) : status;
}

/* Let the member, whose device is current, count the next samples, unless it is busy. */
static histo_status feed(const histo_strategy *strategy, member *m, histo_share *share, bool *fed)
{
    const int64_t each = (int64_t)histo_sample_bytes(m->job->problem), first = share->begin;
    bool busy = false;
    histo_status status = m->accumulators ? histo_staged_is_busy(&m->route, &busy) : begin(strategy, m);
    if (status != HISTO_OK || busy) return status;
    *fed = true;
    m->accumulators->dirty = true;
    const int64_t most = (int64_t)CHUNK / each;
    const int64_t least = ((int64_t)LEAST / each + GRAIN - 1) / GRAIN * GRAIN; /* so that loads stay wide */
    const int64_t last = histo_share_take(share, least, m->route.chunk < most ? m->route.chunk : most);
    return histo_staged_bring(strategy, &m->route, first, last);
}

/* Call on(member) with its device current. */
template <typename ON>
static histo_status enter(member *m, ON on)
{
    int before;
    histo_status status = histo_cuda_enter(m->job->problem->device, &before);
    if (status != HISTO_OK) return status;
    status = on(m);
    histo_cuda_leave(before);
    return status;
}

static histo_status share_out(const histo_strategy *strategy, member *members, int n, histo_share *share)
{
    histo_status status = HISTO_OK;
    while (share->begin < share->end && status == HISTO_OK) {
        bool fed = false;
        for (int i = 0; i < n && share->begin < share->end && status == HISTO_OK; i++)
            status = enter(&members[i], [&](member *m) { return feed(strategy, m, share, &fed); });
        if (status != HISTO_OK || fed || share->begin == share->end) continue;
        if (share->help)
            status = share->help(share);
        else
            sched_yield();
    }
    return status;
}

histo_status histo_cuda_run_shared(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share)
{
    if (histo_cuda_is_captured((cudaStream_t)jobs[0].stream))
        return histo_fail(HISTO_UNSUPPORTED, "samples in host memory cannot be counted in a graph");
    member *members = (member *)histo_calloc((size_t)n, sizeof *members);
    if (!members) return histo_fail_memory((size_t)n * sizeof *members, "sharing a fill");
    for (int i = 0; i < n; i++)
        members[i].job = &jobs[i];
    histo_status status = share_out(strategy, members, n, share);
    for (int i = 0; i < n; i++) {
        if (!members[i].accumulators) continue;
        const histo_status last = enter(&members[i], [&](member *m) { return end(m, status); });
        if (last != HISTO_OK) members[i].accumulators->broken = "a fill failed halfway";
        if (status == HISTO_OK) status = last;
    }
    histo_free(members);
    return status;
}
