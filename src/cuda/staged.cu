/* staged: counts samples from host memory on a GPU, by any strategy, and overlaps transfers with counting.
 *
 * All CPU threads copy samples into pieces of page-locked memory. The GPU fetches full pieces into a chunk of its own
 * memory while it counts the previous chunk. The calling thread enqueues and helps to copy. Contiguous samples in
 * page-locked memory are fetched directly. Kernels see the job's iterator with other addresses, so operands in device
 * and in host memory mix freely.
 *
 * Source: Milic et al. 2013, IV.G. Bytes: each sample once over the bus, and once more through host memory if it is
 * pageable. */
#include <string.h>

#include "cuda/staging.h"

extern "C" {
#include "base/pool.h"
#include "view/gather.h"
}

/* A job and the route of each operand. */
typedef struct route {
    const histo_job *job;
    histo_strided_iter iter; /* over the samples only: the CPU may be unable to read the offsets of ragged segments */
    histo_staging *staging;
    int64_t chunk, piece;              /* in samples; a chunk is a multiple of a piece */
    bool travels[HISTO_MAX_OPERANDS];  /* copied to the device */
    bool gathered[HISTO_MAX_OPERANDS]; /* through pieces */
    bool gathers;                      /* any operand is gathered … */
    bool strided;                      /* … sample by sample … */
    bool fetches;                      /* … or fetched from the caller's memory */
    bool overlaps;                     /* chunks are copied while others are counted */
    size_t in_chunk[HISTO_MAX_OPERANDS], in_piece[HISTO_MAX_OPERANDS]; /* offset of each operand */
    size_t chunk_bytes;
} route;

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

/* Into how many parts a piece is cut for the threads of the pool. What one thread gathers while others wake up is not
 * cut. */
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

/* Start filling piece `number` once its last contents have been fetched. */
static histo_status start_filling(const route *r, filling *f, int64_t number)
{
    f->r = r;
    f->begin = r->job->begin + number * r->piece;
    f->end = r->job->end - f->begin < r->piece ? r->job->end : f->begin + r->piece;
    f->piece = &r->staging->pieces[number % HISTO_STAGED_PIECES];
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

/* Copy piece `number`, which `f` fills if anything is gathered; count its chunk if it is the chunk's last piece. */
static histo_status bring(const histo_strategy *strategy, const route *r, int64_t number, filling *f)
{
    const histo_job *job = r->job;
    int64_t begin = job->begin + number * r->piece, end = job->end - begin < r->piece ? job->end : begin + r->piece;
    int64_t which = (begin - job->begin) / r->chunk, first = job->begin + which * r->chunk;
    histo_staged_chunk *chunk = &r->staging->chunks[which % HISTO_STAGED_CHUNKS];
    histo_status status = HISTO_OK;
    if (r->gathers) {
        finish_filling(f);
        status = histo_staged_piece_lock(f->piece);
    }
    if (status == HISTO_OK && begin == first) {
        status = histo_staged_chunk_make(chunk, r->chunk_bytes);
        /* Its last contents have to be counted first; without overlap, those of the previous chunk. */
        const histo_staged_chunk *busy = chunk;
        if (!r->overlaps && which > 0) busy = &r->staging->chunks[(which - 1) % HISTO_STAGED_CHUNKS];
        if (status == HISTO_OK)
            status = HISTO_CUDA(cudaStreamWaitEvent(r->staging->copies, busy->counted, 0), "waiting for an event");
    }
    if (status == HISTO_OK) status = copy(r, chunk, first, begin, end, r->gathers ? f->piece : NULL);
    if (status == HISTO_OK && r->gathers)
        status = HISTO_CUDA(cudaEventRecord(f->piece->copied, r->staging->copies), "recording an event");
    if (status == HISTO_OK && (end == job->end || end - first == r->chunk))
        status = count(strategy, r, chunk, first, end);
    return status;
}

/* Keep some pieces filling ahead of the one being enqueued, so that no worker idles. */
static histo_status bring_all(const histo_strategy *strategy, const route *r)
{
    enum { AHEAD = HISTO_STAGED_PIECES / 2 };
    filling fillings[AHEAD];
    int64_t pieces = (r->job->end - r->job->begin + r->piece - 1) / r->piece, started = 0, done = 0;
    histo_status status = HISTO_OK;
    for (; done < pieces && status == HISTO_OK; done++) {
        while (r->gathers && started < pieces && started < done + AHEAD && status == HISTO_OK) {
            status = start_filling(r, &fillings[started % AHEAD], started);
            started += status == HISTO_OK;
        }
        if (status != HISTO_OK) break;
        status = bring(strategy, r, done, &fillings[done % AHEAD]);
    }
    for (; done < started; done++) /* after a failure */
        finish_filling(&fillings[done % AHEAD]);
    return status;
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

static route route_of(const histo_job *job, const bool *direct, const bool *pinned)
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
    r.chunk = (int64_t)(HISTO_CHUNK_BYTES / travels) / GRAIN * GRAIN;
    r.piece = r.chunk;
    if (r.gathers) {
        r.piece =
            (int64_t)((HISTO_PIECE_BYTES - HISTO_MAX_OPERANDS * HISTO_STAGED_ALIGNMENT) / gathered) / GRAIN * GRAIN;
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

histo_status histo_cuda_run_staged(const histo_strategy *strategy, const histo_job *job, const bool *direct,
                                   const bool *pinned)
{
    route r = route_of(job, direct, pinned);
    r.overlaps = overlaps(strategy, job->params);
    histo_status status = histo_staging_take(job->problem->device, &r.staging);
    if (status != HISTO_OK) return status;
    if (r.gathers) status = histo_staging_pieces(r.staging);
    if (status == HISTO_OK) status = bring_all(strategy, &r);
    if (status == HISTO_OK && job->meanwhile) status = job->meanwhile(job->meanwhile_of);
    /* The caller may reuse its host memory when this returns. */
    if (r.fetches || status != HISTO_OK) {
        histo_status last = HISTO_CUDA(cudaStreamSynchronize(r.staging->copies), "copying samples");
        if (status == HISTO_OK) status = last;
    }
    histo_staging_give(r.staging, status == HISTO_OK);
    return status;
}
