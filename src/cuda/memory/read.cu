/* Reading what a GPU has counted, into its own memory or the host's. A kernel picks the slots and writes them as what
 * is asked for. On their way to the host, they pass through page-locked pieces: the GPU fills some while all threads
 * copy from others. */
#include "cuda/memory/read.h"

#include <sched.h>
#include <string.h>

#include "base/threads/pool.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/memory/read_slots.h"
#include "cuda/memory/staging.h"

typedef unsigned long long word;

/* ---- Kernels ---- */

/* Write elements [begin, end) of the grid to out[0], out[1], … */
template <typename IN, typename OUT>
static __global__ void read_slots(histo_slot_grid grid, const IN *from, int64_t begin, int64_t end, OUT *out)
{
    const int64_t step = gridDim.x * (int64_t)blockDim.x;
    histo_wait_for_earlier();
    for (int64_t i = begin + blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < end; i += step)
        out[i - begin] = as<OUT>(from[slot_at(&grid, i)]);
}

/* ---- Launching ---- */

/* Write elements [begin, end) to `out`, which is on the device. */
static histo_status launch_slots(const histo_cuda_accumulators *from, const histo_reading *r, int64_t begin,
                                 int64_t end, void *out, cudaStream_t stream)
{
    enum { THREADS = 256, MAX_BLOCKS = 1 << 13 };
    histo_slot_grid grid = r->grid;
    histo_slot_grid_coalesce(&grid);
    const void *sums = r->quantity == HISTO_READ_W ? from->sum_w : from->sum_w2;
    const bool counts = r->quantity == HISTO_READ_COUNTS;
    const void *values = counts ? from->counts : sums, *kernel = (const void *)read_slots<double, double>;
    if (!counts && r->dtype == HISTO_F32) kernel = (const void *)read_slots<double, float>;
    if (counts && r->dtype == HISTO_U32) kernel = (const void *)read_slots<word, uint32_t>;
    if (counts && r->dtype == HISTO_U64) kernel = (const void *)read_slots<word, word>;
    if (counts && r->dtype == HISTO_F32) kernel = (const void *)read_slots<word, float>;
    if (counts && r->dtype == HISTO_F64) kernel = (const void *)read_slots<word, double>;
    const int64_t blocks = (end - begin + THREADS - 1) / THREADS;
    void *args[] = {&grid, &values, &begin, &end, &out};
    return histo_launch_read(from, kernel, blocks < MAX_BLOCKS ? blocks : (int64_t)MAX_BLOCKS, THREADS, args, stream);
}

histo_status histo_cuda_read_there(const histo_cuda_accumulators *from, const histo_reading *r, cudaStream_t stream)
{
    return r->cumulative ? histo_cuda_read_cumulative(from, r, stream)
                         : launch_slots(from, r, 0, r->size, r->out, stream);
}

/* ---- To the host ---- */

/* How elements get into host memory, piece by piece. */
typedef struct route {
    const histo_cuda_accumulators *from;
    const histo_reading *r;
    cudaStream_t stream;
    const char *direct;     /* the elements as they lie on the device; NULL if a kernel must write them */
    bool straight;          /* copies go into the array, not into pieces in host memory */
    histo_staging *staging; /* NULL if neither way needs it */
    size_t size;            /* bytes of an element */
    int64_t elements, most; /* in all; in a piece */
    const histo_cuda_taker *taker;
} route;

static const size_t LEAST_BYTES = (size_t)1 << 17, MOST_BYTES = (size_t)4 << 20, /* of a piece */
    LEAST_SHARE = (size_t)1 << 18;

/* Cut into small pieces, so that the first is soon taken, and the last soon after it has arrived. */
static void cut(route *to)
{
    size_t bytes = (size_t)to->elements * to->size / HISTO_STAGED_PIECES;
    if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
    if (bytes > MOST_BYTES || to->straight) bytes = MOST_BYTES;
    to->most = to->straight && to->direct ? to->elements : (int64_t)(bytes / to->size);
}

static int64_t elements_of(const route *to, int64_t p)
{
    const int64_t left = to->elements - p * to->most;
    return left < to->most ? left : to->most;
}

/* Enqueue piece p. */
static histo_status bring(const route *to, int64_t p)
{
    const int64_t begin = p * to->most, end = begin + elements_of(to, p);
    histo_staged_piece *piece = to->straight ? NULL : &to->staging->pieces[p % HISTO_STAGED_PIECES];
    const char *from = to->direct ? to->direct + (size_t)begin * to->size : NULL;
    histo_status status = piece ? histo_staged_piece_lock(piece, (size_t)to->most * to->size) : HISTO_OK;
    /* Samples of another histogram's fill may still be leaving the piece. */
    if (status == HISTO_OK && piece)
        status = HISTO_CUDA(cudaStreamWaitEvent(to->stream, piece->copied, 0), "waiting for an event");
    if (status == HISTO_OK && !from) {
        char *chunk = to->staging->chunks[0].memory + (size_t)(p % HISTO_STAGED_PIECES) * (size_t)to->most * to->size;
        status = launch_slots(to->from, to->r, begin, end, chunk, to->stream);
        from = chunk;
    }
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(piece ? piece->memory : (char *)to->r->out + (size_t)begin * to->size, from,
                                            (size_t)(end - begin) * to->size, cudaMemcpyDeviceToHost, to->stream),
                            "reading counts");
    if (status == HISTO_OK && piece)
        status = HISTO_CUDA(cudaEventRecord(piece->copied, to->stream), "recording an event");
    return status;
}

/* Several threads take the pieces: each free thread takes the next share of those that have arrived. Workers are woken
 * once, since waking them for each piece takes as long as copying it; they yield until a piece arrives. */
typedef struct taking {
    const route *to;
    int64_t pieces, shares;         /* in all; in a piece */
    int64_t brought;                /* pieces that are on their way or have arrived */
    int64_t come, begun;            /* pieces that have arrived; shares that threads have begun, in order */
    int taken[HISTO_STAGED_PIECES]; /* shares of each piece that have been taken */
    bool over;                      /* no more pieces come */
} taking;

/* Take a share, if one has arrived that no thread has begun. */
static bool take_next(taking *t)
{
    const route *to = t->to;
    int64_t share = __atomic_load_n(&t->begun, __ATOMIC_RELAXED);
    do {
        if (share >= __atomic_load_n(&t->come, __ATOMIC_ACQUIRE) * t->shares) return false;
    } while (!__atomic_compare_exchange_n(&t->begun, &share, share + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    const int64_t p = share / t->shares, which = share % t->shares, n = elements_of(to, p), each = n / t->shares;
    const int64_t first = which * each, last = which + 1 == t->shares ? n : first + each;
    if (first < last)
        to->taker->take(to->taker->context, p * to->most + first, last - first,
                        to->staging->pieces[p % HISTO_STAGED_PIECES].memory + (size_t)first * to->size);
    __atomic_fetch_add(&t->taken[p % HISTO_STAGED_PIECES], 1, __ATOMIC_RELEASE);
    return true;
}

static void take_pieces(void *context, int thread)
{
    (void)thread;
    taking *t = (taking *)context;
    while (!__atomic_load_n(&t->over, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&t->begun, __ATOMIC_RELAXED) < t->pieces * t->shares)
        if (!take_next(t)) sched_yield();
}

/* Wait for piece p, and do what comes before it is taken. */
static histo_status receive(const route *to, int64_t p)
{
    const histo_staged_piece *piece = &to->staging->pieces[p % HISTO_STAGED_PIECES];
    histo_status status = HISTO_CUDA(cudaEventSynchronize(piece->copied), "reading counts");
    return status == HISTO_OK && to->taker->before
               ? to->taker->before(to->taker->context, p * to->most, elements_of(to, p), piece->memory)
               : status;
}

/* Wait until piece p has been taken, taking shares meanwhile, and do what comes after. */
static histo_status finish(taking *t, int64_t p)
{
    const histo_cuda_taker *taker = t->to->taker;
    int *taken = &t->taken[p % HISTO_STAGED_PIECES];
    while (__atomic_load_n(taken, __ATOMIC_ACQUIRE) < t->shares)
        if (!take_next(t)) sched_yield();
    *taken = 0;
    return taker->after ? taker->after(taker->context, p * t->to->most, elements_of(t->to, p)) : HISTO_OK;
}

/* Enqueue as many pieces as there is room for behind those that are done. */
static histo_status bring_more(taking *t, int64_t done)
{
    histo_status status = HISTO_OK;
    for (; t->brought < t->pieces && t->brought < done + HISTO_STAGED_PIECES && status == HISTO_OK; t->brought++)
        status = bring(t->to, t->brought);
    return status;
}

/* Half of the page-locked pieces are filled while the other half is taken. */
static histo_status take_all(taking *t)
{
    int64_t come = 0, done = 0;
    histo_status status = HISTO_OK;
    while (done < t->pieces && status == HISTO_OK) {
        status = bring_more(t, done);
        while (t->to->taker->before && done < come && status == HISTO_OK) /* `before` may change what threads add to */
            status = finish(t, done++);
        if (status == HISTO_OK && come < t->brought) {
            status = receive(t->to, come);
            if (status == HISTO_OK) __atomic_store_n(&t->come, ++come, __ATOMIC_RELEASE);
        }
        while (status == HISTO_OK && done < come && (come == t->pieces || come - done > HISTO_STAGED_PIECES / 2))
            status = finish(t, done++);
    }
    for (; done < come; done++) { /* after a failure: what has arrived counts */
        const histo_status last = finish(t, done);
        if (status == HISTO_OK) status = last;
    }
    return status;
}

static histo_status bring_all(const route *to)
{
    enum { MOST_THREADS = 16 };
    const size_t bytes_a_thread = (size_t)1 << 20, wanted = (size_t)to->elements * to->size / bytes_a_thread;
    const int cpus = histo_backend_cpu.threads(0), most = cpus < MOST_THREADS ? cpus : MOST_THREADS;
    const int threads = wanted < (size_t)most ? (int)wanted : most;
    taking t = {to, (to->elements + to->most - 1) / to->most, 1 + to->most * (int64_t)to->size / (int64_t)LEAST_SHARE};
    histo_status status = HISTO_OK;
    for (int64_t p = 0; p < t.pieces && to->straight && status == HISTO_OK; p++)
        status = bring(to, p);
    if (to->straight) return status;
    status = bring_more(&t, 0); /* before workers are woken, which takes a while */
    histo_pool_work work;
    if (threads > 1) histo_pool_start(&work, threads, take_pieces, &t);
    if (status == HISTO_OK) status = take_all(&t);
    __atomic_store_n(&t.over, true, __ATOMIC_RELEASE);
    if (threads > 1) histo_pool_finish(&work);
    return status;
}

/* What is read goes into the caller's array. */
static void copy_out(void *context, int64_t first, int64_t n, const void *elements)
{
    const histo_reading *r = (const histo_reading *)context;
    const size_t size = histo_dtype_size(r->dtype);
    memcpy((char *)r->out + (size_t)first * size, elements, (size_t)n * size);
}

/* The buffers that the route needs. Kernels of an earlier use may still read the chunk. */
static histo_status make_room(route *to)
{
    histo_status status = to->straight ? HISTO_OK : histo_staging_pieces(to->staging);
    if (status != HISTO_OK || to->direct) return status;
    const size_t bytes = (size_t)to->elements * to->size, most = HISTO_STAGED_PIECES * MOST_BYTES;
    histo_staged_chunk *chunk = &to->staging->chunks[0];
    status = histo_staged_chunk_make(chunk, bytes < most ? bytes : most);
    return status == HISTO_OK ? HISTO_CUDA(cudaStreamWaitEvent(to->stream, chunk->counted, 0), "waiting for an event")
                              : status;
}

/* Go all the way, and wait. */
static histo_status travel(route *to)
{
    histo_status status = HISTO_OK;
    cut(to);
    if (!to->straight || !to->direct) status = histo_staging_take(to->from->base.device, &to->staging);
    if (status != HISTO_OK) return status;
    if (to->staging) status = make_room(to);
    if (status == HISTO_OK) status = bring_all(to);
    const histo_status last = HISTO_CUDA(cudaStreamSynchronize(to->stream), "reading counts");
    if (status == HISTO_OK) status = last;
    if (to->staging) histo_staging_give(to->staging, status == HISTO_OK);
    return status;
}

histo_status histo_cuda_read_here(const histo_cuda_accumulators *from, const histo_reading *r, cudaStream_t stream)
{
    enum { SMALL = 1 << 16 }; /* bytes that the driver copies fast into any memory */
    const histo_cuda_taker out = {NULL, copy_out, NULL, (void *)r};
    route to = {from, r, stream};
    histo_slot_grid grid = r->grid;
    histo_slot_grid_coalesce(&grid);
    to.size = histo_dtype_size(r->dtype);
    to.elements = r->size;
    to.taker = &out;
    if (grid.ndim == 1 && (grid.stride[0] == 1 || r->size == 1)) {
        if (r->quantity == HISTO_READ_COUNTS && r->dtype == HISTO_U64)
            to.direct = (const char *)(from->counts + grid.first);
        if (r->quantity == HISTO_READ_W && r->dtype == HISTO_F64) to.direct = (const char *)(from->sum_w + grid.first);
        if (r->quantity == HISTO_READ_W2 && r->dtype == HISTO_F64)
            to.direct = (const char *)(from->sum_w2 + grid.first);
    }
    to.straight = (size_t)r->size * to.size <= SMALL || histo_cuda_pinned(r->out);
    return travel(&to);
}

histo_status histo_cuda_bring(const histo_cuda_accumulators *from, const void *array, size_t size, int64_t n,
                              cudaStream_t stream, const histo_cuda_taker *taker)
{
    route to = {from, NULL, stream, (const char *)array};
    to.size = size;
    to.elements = n;
    to.taker = taker;
    return travel(&to);
}
