/* Merging what several GPUs have counted for one histogram: a kernel on one of them reads the others' counters, over
 * NVLink or PCI Express, and adds them to its own. Where it cannot reach another GPU's memory, the driver first copies
 * the counters to the workspace, through host memory if need be.
 *
 * Bytes: each counter of the other GPUs once over the link, all links at the same time. */
#include "cuda/memory/merge.h"

#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/memory/stream_order.h"

bool histo_cuda_apart;

enum { MOST = 63 }; /* other GPUs whose arrays one kernel adds */

/* ---- Kernels ---- */

template <typename T>
struct sources {
    const T *from[MOST];
    int n;
};

static __device__ void add(unsigned long long *to, unsigned long long value)
{
    *to += value; /* also digits of exact sums, which add up modulo 2^64 */
}

static __device__ void add(double *to, double value)
{
    *to += value;
}

/* The flags of exact sums, of which all that are set stay set. */
static __device__ void add(unsigned int *to, unsigned int value)
{
    *to |= value;
}

/* Loads from several GPUs are in flight at once, to hide the latency of the links. */
template <typename T>
static __global__ void add_up(T *to, const __grid_constant__ sources<T> others, int64_t size)
{
    enum { TOGETHER = 8 };
    const int64_t step = gridDim.x * (int64_t)blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < size; i += step) {
        T sum = to[i];
        for (int first = 0; first < others.n; first += TOGETHER) {
            T value[TOGETHER];
#pragma unroll
            for (int k = 0; k < TOGETHER; k++)
                if (first + k < others.n) value[k] = __ldcs(others.from[first + k] + i);
#pragma unroll
            for (int k = 0; k < TOGETHER; k++)
                if (first + k < others.n) add(&sum, value[k]);
        }
        to[i] = sum;
    }
}

template <typename T>
static histo_status launch(T *to, const sources<T> &others, int64_t size, cudaStream_t stream)
{
    const int64_t threads = 256, most = 1 << 12, blocks = (size + threads - 1) / threads;
    void *args[] = {&to, (void *)&others, &size};
    return HISTO_CUDA(cudaLaunchKernel((const void *)add_up<T>, dim3((unsigned)(blocks < most ? blocks : most)),
                                       dim3((unsigned)threads), args, 0, stream),
                      "adding up what several GPUs have counted");
}

/* ---- Who reaches whom ---- */

bool histo_cuda_reaches(int to, int from)
{
    int can = 0;
    if (histo_cuda_apart || cudaDeviceCanAccessPeer(&can, to, from) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return can;
}

/* Let kernels on the current device, that of `to`, use the memory of `from`. The process remembers the
 * contexts for which it has done so, since enabling access again is an error that debuggers report. */
static bool reach(const histo_cuda_accumulators *to, const histo_cuda_accumulators *from)
{
    static unsigned long long reached[HISTO_CUDA_MAX_DEVICES][HISTO_CUDA_MAX_DEVICES];
    const int reader = to->base.device - HISTO_DEVICE_CUDA(0), read = from->base.device - HISTO_DEVICE_CUDA(0);
    const bool known = to->context && from->context;
    const unsigned long long both = known ? to->context << 32 | from->context : 0;
    if (!histo_cuda_reaches(reader, read)) return false;
    if (known && __atomic_load_n(&reached[reader][read], __ATOMIC_ACQUIRE) == both) return true;
    const cudaError_t error = cudaDeviceEnablePeerAccess(read, 0);
    if (error != cudaSuccess) cudaGetLastError();
    const bool can = error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
    if (can) __atomic_store_n(&reached[reader][read], both, __ATOMIC_RELEASE);
    return can;
}

/* ---- Joining ---- */

/* Add an array of a GPU whose memory kernels cannot reach: its pieces are copied. */
template <typename T>
static histo_status add_copied(histo_cuda_accumulators *to, T *sums, const histo_cuda_accumulators *from,
                               const T *array, int64_t size)
{
    const int64_t most = (int64_t)(to->workspace_bytes / sizeof(T));
    histo_status status = HISTO_OK;
    for (int64_t first = 0; first < size && status == HISTO_OK; first += most) {
        const int64_t n = size - first < most ? size - first : most;
        sources<T> copied = {{(const T *)to->workspace}, 1};
        status =
            HISTO_CUDA(cudaMemcpyPeerAsync(to->workspace, to->base.device - HISTO_DEVICE_CUDA(0), array + first,
                                           from->base.device - HISTO_DEVICE_CUDA(0), (size_t)n * sizeof(T), to->stream),
                       "copying counts from GPU to GPU");
        if (status == HISTO_OK) status = launch(sums + first, copied, n, to->stream);
    }
    return status;
}

typedef struct joining {
    histo_cuda_accumulators *to, *from[MOST];
    bool reached[MOST];
    int n;
} joining;

/* Add up one array of all GPUs. array_of: gives the array of one. */
template <typename T, typename ARRAY_OF>
static histo_status add_arrays(const joining *j, int64_t size, ARRAY_OF array_of)
{
    T *sums = array_of(j->to);
    sources<T> near = {};
    histo_status status = HISTO_OK;
    if (!sums) return HISTO_OK;
    for (int i = 0; i < j->n; i++)
        if (j->reached[i]) near.from[near.n++] = array_of(j->from[i]);
    if (near.n) status = launch(sums, near, size, j->to->stream);
    for (int i = 0; i < j->n && status == HISTO_OK; i++)
        if (!j->reached[i]) status = add_copied(j->to, sums, j->from[i], (const T *)array_of(j->from[i]), size);
    return status;
}

static histo_status add_all(const joining *j)
{
    typedef histo_cuda_accumulators its;
    const int64_t counters = histo_cuda_counters(j->to);
    histo_status status = add_arrays<unsigned long long>(j, counters, [](const its *a) { return a->counts; });
    if (status == HISTO_OK) status = add_arrays<double>(j, counters, [](const its *a) { return a->sum_w; });
    if (status == HISTO_OK) status = add_arrays<double>(j, counters, [](const its *a) { return a->sum_w2; });
    for (int s = 0; s < 2 && status == HISTO_OK; s++) {
        const int64_t digits = counters * j->to->exact[s].windows;
        status = add_arrays<unsigned long long>(j, digits,
                                                [s](const its *a) { return (unsigned long long *)a->exact[s].digits; });
        if (status == HISTO_OK)
            status = add_arrays<unsigned int>(j, counters, [s](const its *a) { return a->exact[s].special; });
    }
    return status;
}

/* Exact sums of weights of different dtypes may have different windows; they are merged on the host. */
static bool are_alike(const histo_cuda_accumulators *a, const histo_cuda_accumulators *b)
{
    bool alike = true;
    for (int s = 0; s < 2; s++)
        alike &=
            !a->exact[s].digits || (a->exact[s].low == b->exact[s].low && a->exact[s].windows == b->exact[s].windows);
    return alike;
}

/* Record the event after which all that the other GPU has counted is complete. Digits are balanced, so that adding them
 * counts as one addition. */
static histo_status complete(histo_cuda_accumulators *from)
{
    int before;
    histo_status status = histo_cuda_accumulators_enter(from, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_wait(&from->order);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&from->order, from->stream, false);
    if (status == HISTO_OK) status = histo_cuda_accumulators_reserve(from, HISTO_EXACT_MAX_ADDS, from->stream);
    if (status == HISTO_OK) status = histo_cuda_order_end(&from->order, from->stream);
    histo_cuda_leave(before);
    return status;
}

/* Clear the other GPU's accumulators once all has been added. */
static histo_status clear(histo_cuda_accumulators *from, cudaEvent_t added)
{
    int before;
    histo_status status = histo_cuda_accumulators_enter(from, &before);
    if (status == HISTO_OK) {
        status = HISTO_CUDA(cudaStreamWaitEvent(from->stream, added, 0), "waiting for an event");
        if (status == HISTO_OK) status = histo_cuda_accumulators_zero(from, from->stream);
        if (status == HISTO_OK) status = histo_cuda_order_end(&from->order, from->stream);
        histo_cuda_leave(before);
    }
    if (status == HISTO_OK)
        from->dirty = false;
    else
        from->broken = "it could not be cleared after its counts had been moved to another GPU";
    return status;
}

/* Merge all GPUs into `to`, whose device is current. */
static histo_status join(joining *j)
{
    histo_cuda_accumulators *to = j->to;
    const size_t bytes = (size_t)histo_cuda_counters(to) * sizeof(uint64_t), room = (size_t)32 << 20;
    bool all = true;
    for (int i = 0; i < j->n; i++) {
        j->reached[i] = reach(to, j->from[i]);
        all &= j->reached[i];
    }
    histo_status status = histo_cuda_order_wait(&to->order);
    if (status == HISTO_OK && !all) status = histo_cuda_accumulators_workspace(to, bytes < room ? bytes : room);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&to->order, to->stream, false);
    if (status == HISTO_OK) status = histo_cuda_accumulators_reserve(to, (uint64_t)j->n, to->stream);
    for (int i = 0; i < j->n && status == HISTO_OK; i++)
        status = HISTO_CUDA(cudaStreamWaitEvent(to->stream, j->from[i]->order.done, 0), "waiting for an event");
    if (status != HISTO_OK) return status;
    to->dirty = true;
    status = add_all(j);
    if (status == HISTO_OK) status = histo_cuda_order_end(&to->order, to->stream);
    if (status != HISTO_OK) to->broken = "counts of other GPUs were added to it in part";
    return status;
}

histo_status histo_cuda_accumulators_join(histo_device_accumulators *home, histo_device_accumulators *const *others,
                                          int n)
{
    joining j = {(histo_cuda_accumulators *)home};
    histo_status status = histo_cuda_accumulators_check(j.to);
    for (int i = 0; i < n && j.n < MOST && status == HISTO_OK; i++) {
        histo_cuda_accumulators *from = (histo_cuda_accumulators *)others[i];
        status = histo_cuda_accumulators_check(from);
        if (status == HISTO_OK && are_alike(j.to, from)) {
            status = complete(from);
            j.from[j.n++] = from;
        }
    }
    int before;
    if (status != HISTO_OK || j.n == 0) return status;
    status = histo_cuda_accumulators_enter(j.to, &before);
    if (status != HISTO_OK) return status;
    status = join(&j);
    histo_cuda_leave(before);
    for (int i = 0; i < j.n && status == HISTO_OK; i++) {
        status = clear(j.from[i], j.to->order.done);
        home->copied |= j.from[i]->base.copied;
        j.from[i]->base.copied = false;
    }
    return status;
}
