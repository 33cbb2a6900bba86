/* staged_pairs: counts pairs of images that are in host memory on a GPU, by any strategy.
 *
 * A piece holds some places of all images of one stack, so that it can be counted by itself. All CPU threads copy
 * images into pieces of page-locked memory; the GPU fetches a piece while it counts the one before.
 *
 * Bytes: each sample twice through host memory and once over the bus. */
#include <string.h>

#include "base/threads/pool.h"
#include "cuda/host/check.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/staging.h"
#include "cuda/transfer/staged.h"
#include "view/gather.h"
#include "view/stack_iter.h"

/* Places [first, first + n) of a stack, image after image. */
typedef struct pixel_band {
    const histo_strided_iter *places;
    size_t size; /* of a sample */
    int64_t first, n;
    char *to;
    int parts;
} pixel_band;

static void gather_images(void *context, int part)
{
    const pixel_band *b = (const pixel_band *)context;
    const int images = b->places->images;
    histo_strided_iter image = *b->places;
    for (int i = images * part / b->parts; i < images * (part + 1) / b->parts; i++) {
        image.base[0] = b->places->base[0] + i * image.image_stride;
        histo_gather_range(b->to + (size_t)(i * b->n) * b->size, &image, 0, b->size, b->first, b->first + b->n);
    }
}

static void gather(pixel_band *b)
{
    enum { BYTES_A_PART = 1 << 18 };
    const int64_t bytes = b->n * b->places->images * (int64_t)b->size;
    const int cpus = histo_backend_cpu.threads(0), images = b->places->images, most = cpus < images ? cpus : images;
    b->parts = bytes / BYTES_A_PART < most ? (int)(bytes / BYTES_A_PART) + 1 : most;
    histo_pool_run(b->parts, gather_images, b);
}

/* Count n places of all images in a chunk, which are of batch entry `entry`, as a batch of one. */
static histo_status count(const histo_strategy *strategy, const histo_job *whole, const histo_staged_chunk *chunk,
                          int64_t entry, int64_t n)
{
    histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(whole), its = *accumulators;
    histo_problem problem = *whole->problem;
    histo_job job = *whole;
    const int images = whole->iter.images;
    const int64_t shape[] = {images, n};
    const histo_view stack = histo_view_nd(chunk->memory, problem.dtypes[0], 2, shape);
    problem.batch = its.batch = 1;
    problem.samples = n * (images / whole->iter.step);
    its.counts += entry * its.counters;
    job.problem = &problem;
    job.device_accumulators = &its.base;
    histo_pairs_iter_make(&job.iter, &stack, &problem.pairs);
    job.begin = 0;
    job.end = problem.samples;
    histo_status status = strategy->launch(&job);
    accumulators->large_kernel = its.large_kernel;
    accumulators->fork = its.fork;
    return status;
}

/* Bring the band to the GPU and count it. number: of the band. */
static histo_status bring(const histo_strategy *strategy, const histo_job *job, histo_staging *staging, pixel_band *b,
                          int64_t number)
{
    const cudaStream_t stream = (cudaStream_t)job->stream;
    histo_staged_piece *piece = &staging->pieces[number % HISTO_STAGED_PIECES];
    histo_staged_chunk *chunk = &staging->chunks[number % HISTO_STAGED_CHUNKS];
    const size_t bytes = (size_t)(b->n * b->places->images) * b->size;
    histo_status status = HISTO_CUDA(cudaEventSynchronize(piece->copied), "copying images");
    if (status != HISTO_OK) return status;
    b->to = piece->memory;
    gather(b);
    status = histo_staged_piece_lock(piece, HISTO_PIECE_BYTES);
    if (status == HISTO_OK) status = histo_staged_chunk_make(chunk, bytes);
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaStreamWaitEvent(staging->copies, chunk->counted, 0), "waiting for an event");
    if (status == HISTO_OK)
        status =
            HISTO_CUDA(cudaMemcpyAsync(chunk->memory, piece->memory, bytes, cudaMemcpyHostToDevice, staging->copies),
                       "copying images");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(piece->copied, staging->copies), "recording an event");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventRecord(chunk->copied, staging->copies), "recording an event");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamWaitEvent(stream, chunk->copied, 0), "waiting for an event");
    if (status == HISTO_OK) status = count(strategy, job, chunk, b->first / b->places->per_batch, b->n);
    return status == HISTO_OK ? HISTO_CUDA(cudaEventRecord(chunk->counted, stream), "recording an event") : status;
}

histo_status histo_cuda_run_staged_pairs(const histo_strategy *strategy, const histo_job *job)
{
    const histo_strided_iter places = histo_pairs_iter_pixels(&job->iter);
    const int64_t each = places.per_batch, all = each * places.batch;
    pixel_band b = {&places, histo_dtype_size(job->problem->dtypes[0])};
    const int64_t most = (int64_t)(HISTO_PIECE_BYTES / b.size) / places.images;
    histo_staging *staging;
    histo_status status = histo_staging_take(job->problem->device, &staging);
    if (status != HISTO_OK) return status;
    status = histo_staging_pieces(staging);
    for (int64_t number = 0; b.first < all && status == HISTO_OK; number++, b.first += b.n) {
        const int64_t left = each - b.first % each;
        b.n = left < most ? left : most;
        status = bring(strategy, job, staging, &b, number);
    }
    histo_staging_give(staging, status == HISTO_OK);
    return status;
}
