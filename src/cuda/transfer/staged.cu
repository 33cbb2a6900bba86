/* staged: counts samples from host memory on a GPU, by any strategy, and overlaps transfers with counting.
 *
 * All CPU threads copy samples into pieces of page-locked memory. The GPU fetches full pieces into a chunk of its own
 * memory while it counts the previous chunk. The calling thread enqueues and helps to copy. Contiguous samples in
 * page-locked memory are fetched directly. Kernels see the job's iterator with other addresses, so operands in device
 * and in host memory mix freely.
 *
 * Source: Milic et al. 2013, IV.G. Bytes: each sample once over the bus, and once more through host memory if it is
 * pageable. */
#include "cuda/transfer/staged.h"

#include <string.h>

#include "base/threads/pool.h"
#include "cuda/host/check.h"
#include "view/gather.h"

typedef histo_staged_route route;

/* Samples that one call brings, in whole chunks except for the last. */
typedef struct range {
    int64_t begin, end;
} range;

/* A piece being filled with samples [begin, end) of the strided iterator. */
typedef struct filling {
    histo_pool_work work;
    const route *r;
    int64_t begin, end;
    histo_staged_piece *piece;
    int parts;
} filling;

static size_t sample_bytes(const route *r, int operand)
{
    return histo_dtype_size(r->job->problem->dtypes[operand]);
}

/* ---- Filling pieces ---- */

static void fill_part(void *context, int part)
{
    const filling *f = (const filling *)context;
    int64_t n = f->end - f->begin, first = n / f->parts * part;
    int64_t last = part + 1 == f->parts ? n : first + n / f->parts;
    for (int o = 0; o < f->r->job->iter.operands; o++) {
        size_t size = sample_bytes(f->r, o);
        if (f->r->gathered[o])
            histo_gather_range(f->piece->memory + f->r->in_piece[o] + (size_t)first * size, &f->r->iter, o, size,
                               f->begin + first, f->begin + last);
    }
}

/* The number of parts into which a piece is cut for the threads of the pool. What one thread gathers while others wake
 * up is not cut. */
static int parts_of(const route *r, int64_t samples)
{
    enum { SAMPLES_A_PART = 1 << 16, BYTES_A_PART = 1 << 20 };
    int64_t bytes = 0;
    for (int o = 0; o < r->job->iter.operands; o++)
        if (r->gathered[o]) bytes += samples * (int64_t)sample_bytes(r, o);
    const int64_t by_bytes = bytes / BYTES_A_PART, by_samples = r->strided ? samples / SAMPLES_A_PART : 0;
    const int64_t parts = 1 + (by_bytes > by_samples ? by_bytes : by_samples);
    const int cpus = histo_backend_cpu.threads(0);
    return parts < cpus ? (int)parts : cpus;
}

static range piece_of(const route *r, const range *all, int64_t number)
{
    const int64_t begin = all->begin + number * r->piece;
    return {begin, all->end - begin < r->piece ? all->end : begin + r->piece};
}

/* Start filling piece `number` of a range once its last contents have been fetched. */
static histo_status start_filling(const route *r, filling *f, const range *all, int64_t number)
{
    const range its = piece_of(r, all, number);
    f->r = r;
    f->begin = its.begin;
    f->end = its.end;
    f->piece = &r->staging->pieces[(r->pieces_begun + number) % HISTO_STAGED_PIECES];
    histo_status status = HISTO_CUDA(cudaEventSynchronize(f->piece->copied), "copying samples");
    if (status != HISTO_OK) return status;
    f->parts = parts_of(r, f->end - f->begin);
    if (f->parts > 1)
        histo_pool_start(&f->work, f->parts, fill_part, f);
    else
        fill_part(f, 0);
    return HISTO_OK;
}

static void finish_filling(filling *f)
{
    if (f->parts > 1) histo_pool_finish(&f->work);
}

/* ---- Copying and counting ---- */

/* Copy samples [begin, end), a piece of the chunk whose first sample is `first`. */
static histo_status copy(const route *r, const histo_staged_chunk *chunk, int64_t first, int64_t begin, int64_t end,
                         const histo_staged_piece *piece)
{
    histo_status status = HISTO_OK;
    for (int o = 0; o < r->job->iter.operands && status == HISTO_OK; o++) {
        if (!r->travels[o]) continue;
        size_t size = sample_bytes(r, o);
        const char *from =
            r->gathered[o] ? piece->memory + r->in_piece[o] : r->job->iter.base[o] + (size_t)begin * size;
        status = HISTO_CUDA(cudaMemcpyAsync(chunk->memory + r->in_chunk[o] + (size_t)(begin - first) * size, from,
                                            (size_t)(end - begin) * size, cudaMemcpyHostToDevice, r->staging->copies),
                            "copying samples");
    }
    return status;
}

/* The job for samples [begin, end) of a chunk. Copied operands are contiguous in iteration order from sample `begin`
 * on. If all operands are copied, the iterator has just two dimensions: batch entry and sample. */
static histo_job job_of(const route *r, const histo_staged_chunk *chunk, int64_t begin, int64_t end)
{
    histo_job job = *r->job;
    histo_strided_iter *iter = &job.iter;
    job.begin = begin;
    job.end = end;
    bool all = true;
    for (int o = 0; o < iter->operands; o++)
        all &= r->travels[o];
    if (all) {
        iter->ndim = iter->batch_ndim = 0;
        if (iter->batch > 1 && !iter->offsets) iter->shape[iter->ndim++] = iter->batch;
        iter->batch_ndim = iter->ndim;
        iter->shape[iter->ndim++] = iter->per_batch;
    }
    for (int o = 0; o < iter->operands; o++) {
        if (!r->travels[o]) continue;
        int64_t stride = (int64_t)sample_bytes(r, o);
        iter->base[o] = (const char *)((uintptr_t)(chunk->memory + r->in_chunk[o]) - (uintptr_t)(begin * stride));
        for (int d = iter->ndim - 1; d >= 0; d--) {
            iter->strides[o][d] = stride;
            stride *= iter->shape[d];
        }
    }
    return job;
}

static histo_status count(const histo_strategy *strategy, const route *r, const histo_staged_chunk *chunk,
                          int64_t begin, int64_t end)
{
    histo_job job = job_of(r, chunk, begin, end);
    cudaStream_t stream = (cudaStream_t)job.stream;
    histo_status status = HISTO_CUDA(cudaEventRecord(chunk->copied, r->staging->copies), "recording an event");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamWaitEvent(stream, chunk->copied, 0), "waiting for an event");
    if (status == HISTO_OK) status = strategy->launch(&job);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(chunk->counted, stream), "recording an event");
    return status;
}

static histo_staged_chunk *chunk_of(const route *r, int64_t which)
{
    return &r->staging->chunks[(r->chunks_begun + which) % HISTO_STAGED_CHUNKS];
}

/* Copy piece `number`, which `f` fills if anything is gathered; count its chunk if it is the chunk's last piece. */
static histo_status bring(const histo_strategy *strategy, const route *r, const range *all, int64_t number, filling *f)
{
    const range piece = piece_of(r, all, number);
    const int64_t begin = piece.begin, end = piece.end;
    int64_t which = (begin - all->begin) / r->chunk, first = all->begin + which * r->chunk;
    histo_staged_chunk *chunk = chunk_of(r, which);
    histo_status status = HISTO_OK;
    if (r->gathers) {
        finish_filling(f);
        status = histo_staged_piece_lock(f->piece, HISTO_PIECE_BYTES);
    }
    if (status == HISTO_OK && begin == first) {
        status = histo_staged_chunk_make(chunk, r->chunk_bytes);
        /* Its last contents have to be counted first; without overlap, those of the previous chunk. */
        const histo_staged_chunk *busy = chunk;
        if (!r->overlaps && which > 0) busy = chunk_of(r, which - 1);
        if (status == HISTO_OK)
            status = HISTO_CUDA(cudaStreamWaitEvent(r->staging->copies, busy->counted, 0), "waiting for an event");
    }
    if (status == HISTO_OK) status = copy(r, chunk, first, begin, end, r->gathers ? f->piece : NULL);
    if (status == HISTO_OK && r->gathers)
        status = HISTO_CUDA(cudaEventRecord(f->piece->copied, r->staging->copies), "recording an event");
    if (status == HISTO_OK && (end == all->end || end - first == r->chunk))
        status = count(strategy, r, chunk, first, end);
    return status;
}

/* Keep some pieces filling ahead of the one being enqueued, so that no worker idles. */
histo_status histo_staged_bring(const histo_strategy *strategy, route *r, int64_t begin, int64_t end)
{
    enum { AHEAD = HISTO_STAGED_PIECES / 2 };
    filling fillings[AHEAD];
    const range all = {begin, end};
    const int64_t pieces = (end - begin + r->piece - 1) / r->piece, chunks = (end - begin + r->chunk - 1) / r->chunk;
    int64_t started = 0, done = 0;
    histo_status status = HISTO_OK;
    for (; done < pieces && status == HISTO_OK; done++) {
        while (r->gathers && started < pieces && started < done + AHEAD && status == HISTO_OK) {
            status = start_filling(r, &fillings[started % AHEAD], &all, started);
            started += status == HISTO_OK;
        }
        if (status != HISTO_OK) break;
        status = bring(strategy, r, &all, done, &fillings[done % AHEAD]);
    }
    for (; done < started; done++) /* after a failure */
        finish_filling(&fillings[done % AHEAD]);
    r->chunks_begun += chunks;
    r->pieces_begun += pieces;
    return status;
}

histo_status histo_staged_is_busy(const route *r, bool *busy)
{
    const histo_staged_chunk *next = chunk_of(r, 0);
    *busy = false;
    if (!next->counted) return HISTO_OK;
    const cudaError_t error = cudaEventQuery(next->counted);
    *busy = error == cudaErrorNotReady;
    if (*busy) cudaGetLastError();
    return *busy ? HISTO_OK : HISTO_CUDA(error, "counting");
}

/* ---- The route ---- */

static bool is_contiguous(const histo_strided_iter *iter, int operand, size_t size)
{
    int64_t stride = (int64_t)size;
    for (int d = iter->ndim - 1; d >= 0; d--) {
        if (iter->strides[operand][d] != stride) return false;
        stride *= iter->shape[d];
    }
    return true;
}

/* Set the offset of each operand for n samples; return the total size in bytes. */
static size_t place_operands(const route *r, const bool *which, int64_t n, size_t *at)
{
    const size_t alignment = HISTO_STAGED_ALIGNMENT;
    size_t bytes = 0;
    for (int o = 0; o < r->job->iter.operands; o++) {
        at[o] = bytes;
        if (which[o]) bytes += ((size_t)n * sample_bytes(r, o) + alignment - 1) / alignment * alignment;
    }
    return bytes;
}

/* The first piece travels only once it is full, and waking threads for a piece takes time: so, a sixteenth of all. */
static size_t piece_bytes(size_t all)
{
    const size_t least = HISTO_PIECE_BYTES / 2, wanted = all / 16;
    return wanted < least ? least : wanted < HISTO_PIECE_BYTES ? wanted : HISTO_PIECE_BYTES;
}

static route route_of(const histo_job *job, const bool *direct, const bool *pinned, size_t chunk_bytes)
{
    enum { GRAIN = 1024 /* samples; aligns the beginnings of pieces and chunks */ };
    route r = {job, job->iter};
    if (r.iter.offsets) {
        r.iter.offsets = NULL;
        r.iter.batch = 1;
    }
    size_t travels = 0, gathered = 0; /* bytes per sample */
    for (int o = 0; o < job->iter.operands; o++) {
        size_t size = sample_bytes(&r, o);
        r.travels[o] = !direct[o];
        r.gathered[o] = !direct[o] && !(pinned[o] && is_contiguous(&job->iter, o, size));
        if (r.travels[o]) travels += size;
        if (r.gathered[o]) gathered += size;
        r.strided = r.strided || (r.gathered[o] && job->iter.strides[o][job->iter.ndim - 1] != (int64_t)size);
        r.fetches = r.fetches || (r.travels[o] && !r.gathered[o]);
    }
    r.gathers = gathered > 0;
    int64_t n = job->end - job->begin;
    r.chunk = (int64_t)(chunk_bytes / travels) / GRAIN * GRAIN;
    r.piece = r.chunk;
    if (r.gathers) {
        const size_t room = piece_bytes((size_t)n * gathered) - HISTO_MAX_OPERANDS * HISTO_STAGED_ALIGNMENT;
        r.piece = (int64_t)(room / gathered) / GRAIN * GRAIN;
        if (r.piece > r.chunk) r.piece = r.chunk;
        r.chunk = r.chunk / r.piece * r.piece;
    }
    r.chunk_bytes = place_operands(&r, r.travels, n < r.chunk ? n : r.chunk, r.in_chunk);
    place_operands(&r, r.gathered, r.piece, r.in_piece);
    return r;
}

/* A strategy may have a parameter "overlap", to compare with. */
static bool overlaps(const histo_strategy *strategy, const int64_t *params)
{
    for (int p = 0; strategy->params[p].name; p++)
        if (strcmp(strategy->params[p].name, "overlap") == 0) return params[p] != 0;
    return true;
}

histo_status histo_staged_open(route *r, const histo_strategy *strategy, const histo_job *job, const bool *direct,
                               const bool *pinned, size_t chunk_bytes)
{
    *r = route_of(job, direct, pinned, chunk_bytes);
    r->overlaps = overlaps(strategy, job->params);
    histo_status status = histo_staging_take(job->problem->device, &r->staging);
    if (status != HISTO_OK || !r->gathers) return status;
    status = histo_staging_pieces(r->staging);
    return status == HISTO_OK ? status : histo_staged_close(r, status);
}

histo_status histo_staged_close(route *r, histo_status status)
{
    if (r->fetches || status != HISTO_OK) {
        const histo_status last = HISTO_CUDA(cudaStreamSynchronize(r->staging->copies), "copying samples");
        if (status == HISTO_OK) status = last;
    }
    histo_staging_give(r->staging, status == HISTO_OK);
    return status;
}

histo_status histo_cuda_run_staged(const histo_strategy *strategy, const histo_job *job, const bool *direct,
                                   const bool *pinned)
{
    route r;
    histo_status status = histo_staged_open(&r, strategy, job, direct, pinned, HISTO_CHUNK_BYTES);
    if (status != HISTO_OK) return status;
    return histo_staged_close(&r, histo_staged_bring(strategy, &r, job->begin, job->end));
}
