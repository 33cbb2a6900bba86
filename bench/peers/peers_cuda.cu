/* Libraries as peers on a GPU: CUB's histogram, CUB's sort and a search per edge, and NPP. C++ only to call CUB. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/cuda.h"

/* See papers/strategies/sort_search.cu. */
#include <ostream>
#define _GLIBCXX_IOSTREAM
#define CCCL_DISABLE_NVTX
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>

/* All count in 32 bits and have a copy of the edges in double, or in float for float samples. */
typedef struct peer {
    const bench_task *task;
    unsigned *counts; /* [bins] */
    void *edges;
    void *sorted; /* sorted copy of the samples */
    void *workspace;
    size_t workspace_bytes;
} peer;

enum { MAX_WORKSPACE = 8u << 20 /* KiB */ };

static void end(void *state)
{
    peer *p = (peer *)state;
    void *memory[] = {p->counts, p->edges, p->sorted, p->workspace};
    for (void *each : memory)
        cudaFree(each);
    free(p);
}

/* The bins of all histograms of a batch. */
static size_t all_bins(const peer *p)
{
    return (size_t)(p->task->input->bins * (p->task->arranged ? p->task->arranged->batch : 1));
}

static histo_status begin(const bench_task *task, void **state)
{
    peer *p = (peer *)calloc(1, sizeof *p);
    if (!p) return histo_fail_memory(sizeof *p, "a peer");
    *state = p;
    p->task = task;
    TRY(cudaMalloc(&p->counts, all_bins(p) * sizeof *p->counts), "counts of a peer");
    return HISTO_OK;
}

static histo_status upload_edges(peer *p, bool as_float)
{
    size_t n = (size_t)p->task->axis->bins + 1;
    TRY(cudaMalloc(&p->edges, n * sizeof(double)), "edges");
    if (!as_float) return bench_cuda_check(bench_cuda_move(p->edges, p->task->edges, n * sizeof(double)), "edges");
    float *rounded = (float *)malloc(n * sizeof *rounded);
    if (!rounded) return histo_fail_memory(n * sizeof *rounded, "edges");
    for (size_t i = 0; i < n; i++)
        rounded[i] = (float)p->task->edges[i];
    cudaError_t error = bench_cuda_move(p->edges, rounded, n * sizeof *rounded);
    free(rounded);
    return bench_cuda_check(error, "edges");
}

histo_status bench_cuda_fetch_counts(const unsigned *counts, size_t bins, uint64_t *to)
{
    unsigned *narrow = (unsigned *)malloc(bins * sizeof *narrow);
    if (!narrow) return histo_fail_memory(bins * sizeof *narrow, "counts of a peer");
    cudaError_t error = cudaMemcpy(narrow, counts, bins * sizeof *narrow, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < bins && error == cudaSuccess; i++)
        to[i] = narrow[i];
    free(narrow);
    return bench_cuda_check(error, "counts of a peer");
}

static histo_status counts(void *state, uint64_t *counts)
{
    const peer *p = (const peer *)state;
    return bench_cuda_fetch_counts(p->counts, all_bins(p), counts);
}

static bool searches(const bench_task *task)
{
    return task->input->axis != BENCH_NATURAL;
}

static histo_status fail_joint(void)
{
    return histo_fail(HISTO_UNSUPPORTED, "not for several axes");
}

static histo_status fail_type(const bench_task *task)
{
    return histo_fail(HISTO_UNSUPPORTED, "not for %s", histo_dtype_name(task->input->dtype));
}

/* The workspace that CUB asks for, up to a sane limit, unless it does not take such samples. */
static histo_status allocate_workspace(peer *p, cudaError_t error)
{
    if (error == cudaErrorNotSupported && p->task->arranged)
        return histo_fail(HISTO_UNSUPPORTED, "not for %s", bench_layout_name(p->task->input->layout));
    if (error == cudaErrorNotSupported) return fail_type(p->task);
    if (error != cudaSuccess) return bench_cuda_check(error, "asking CUB for its workspace");
    if (p->workspace_bytes >> 10 > MAX_WORKSPACE)
        return histo_fail(HISTO_UNSUPPORTED, "needs %.3g GiB of workspace", (double)p->workspace_bytes / (1 << 30));
    return bench_cuda_check(cudaMalloc(&p->workspace, p->workspace_bytes + 1), "workspace of CUB");
}

/* ---- DeviceHistogram ---- */

/* 8-bit samples: interleaved channels, or rows. CUB 3.0 prefers std::array, which 2.x does not take. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
template <int CHANNELS, int COUNTED>
static cudaError_t call_channels(peer *p, cudaStream_t stream)
{
    const histo_axis *axis = p->task->axis;
    unsigned *counts[COUNTED];
    int levels[COUNTED], lowest[COUNTED], highest[COUNTED];
    for (int c = 0; c < COUNTED; c++) {
        counts[c] = p->counts + c * axis->bins;
        levels[c] = (int)axis->bins + 1;
        lowest[c] = (int)axis->lo;
        highest[c] = (int)axis->hi;
    }
    return cub::DeviceHistogram::MultiHistogramEven<CHANNELS, COUNTED>(
        p->workspace, p->workspace_bytes, (const uint8_t *)p->task->samples, counts, levels, lowest, highest,
        (long long)(p->task->count / COUNTED), stream);
}

static cudaError_t call_arranged(peer *p, cudaStream_t stream)
{
    const histo_view *view = &p->task->arranged->view;
    const histo_axis *axis = p->task->axis;
    int64_t images = view->shape[0], counted = view->shape[1], channels = view->strides[3];
    if (view->dtype != HISTO_U8 || images > 1 || p->task->arranged->masked) return cudaErrorNotSupported;
    if (channels == 4 && counted == 4) return call_channels<4, 4>(p, stream);
    if (channels == 4 && counted == 3) return call_channels<4, 3>(p, stream);
    if (channels == 3 && counted == 3) return call_channels<3, 3>(p, stream);
    if (channels != 1) return cudaErrorNotSupported;
    return cub::DeviceHistogram::HistogramEven(p->workspace, p->workspace_bytes, (const uint8_t *)p->task->samples,
                                               p->counts, (int)axis->bins + 1, (int)axis->lo, (int)axis->hi,
                                               (long long)view->shape[3], (long long)view->shape[2],
                                               (size_t)view->strides[2], stream);
}

/* With no p->workspace, only sets p->workspace_bytes. */
static cudaError_t call_histogram(peer *p, cudaStream_t stream)
{
    if (p->task->arranged) return call_arranged(p, stream);
    const bench_task *task = p->task;
    const histo_axis *axis = task->axis;
    int levels = (int)axis->bins + 1;
    long long n = task->count;
    switch (task->input->dtype) {
#define EVEN(constant, type, level)                                                                                    \
    case constant:                                                                                                     \
        return cub::DeviceHistogram::HistogramEven(p->workspace, p->workspace_bytes, (const type *)task->samples,      \
                                                   p->counts, levels, (level)axis->lo, (level)axis->hi, n, stream);
#define EVEN_OR_RANGE(constant, type)                                                                                  \
    case constant:                                                                                                     \
        if (searches(task))                                                                                            \
            return cub::DeviceHistogram::HistogramRange(p->workspace, p->workspace_bytes, (const type *)task->samples, \
                                                        p->counts, levels, (const type *)p->edges, n, stream);         \
        return cub::DeviceHistogram::HistogramEven(p->workspace, p->workspace_bytes, (const type *)task->samples,      \
                                                   p->counts, levels, (type)axis->lo, (type)axis->hi, n, stream);
        EVEN(HISTO_U8, uint8_t, int)
        EVEN(HISTO_I8, int8_t, int)
        EVEN(HISTO_U16, uint16_t, int)
        EVEN(HISTO_U32, uint32_t, uint32_t)
        EVEN(HISTO_I32, int32_t, int32_t)
        EVEN(HISTO_U64, uint64_t, uint64_t)
        EVEN_OR_RANGE(HISTO_F32, float)
        EVEN_OR_RANGE(HISTO_F64, double)
#undef EVEN
#undef EVEN_OR_RANGE
    default:
        return cudaErrorNotSupported;
    }
}

static histo_status begin_histogram(const bench_task *task, void **state)
{
    if (task->input->axes) return fail_joint();
    if (searches(task) && histo_dtype_is_integer(task->input->dtype)) return fail_type(task);
    histo_status status = begin(task, state);
    peer *p = (peer *)*state;
    if (status == HISTO_OK && searches(task)) status = upload_edges(p, task->input->dtype == HISTO_F32);
    return status == HISTO_OK ? allocate_workspace(p, call_histogram(p, NULL)) : status;
}

static histo_status run_histogram(void *state, void *stream)
{
    return bench_cuda_check(call_histogram((peer *)state, (cudaStream_t)stream), "CUB DeviceHistogram");
}

extern "C" const bench_peer bench_cub_histogram = {
    "CUB DeviceHistogram", false, begin_histogram, run_histogram, counts, end, true, false, false};

/* ---- Sort and search ---- */

/* How many sorted samples are below the edge. */
template <typename sample>
static __device__ long long below(const sample *sorted, long long n, double edge)
{
    long long first = 0;
    while (n > 0) {
        long long half = n / 2;
        bool above = (double)sorted[first + half] < edge;
        first = above ? first + half + 1 : first;
        n = above ? n - half - 1 : half;
    }
    return first;
}

template <typename sample>
static __global__ void search(const sample *sorted, long long n, const double *edges, long long bins, unsigned *counts)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bins) counts[i] = (unsigned)(below(sorted, n, edges[i + 1]) - below(sorted, n, edges[i]));
}

/* The bits to sort: of unsigned samples, which begin at 0, those in use; of others all. */
static int significant_bits(const bench_task *task)
{
    histo_dtype dtype = task->input->dtype;
    int bits = 8 * (int)histo_dtype_size(dtype), needed = 1;
    if (dtype != HISTO_U16 && dtype != HISTO_U32 && dtype != HISTO_U64) return bits;
    while (needed < bits && task->axis->bins >> needed)
        needed++;
    return needed;
}

template <typename sample>
static cudaError_t sort_and_search(peer *p, cudaStream_t stream)
{
    const bench_task *task = p->task;
    const long long n = task->count, bins = task->axis->bins;
    const unsigned blocks = (unsigned)((bins + BENCH_CUDA_THREADS - 1) / BENCH_CUDA_THREADS);
    sample *sorted = (sample *)p->sorted;
    cudaError_t error = cub::DeviceRadixSort::SortKeys(p->workspace, p->workspace_bytes, (const sample *)task->samples,
                                                       sorted, n, 0, significant_bits(task), stream);
    if (error != cudaSuccess || !p->workspace) return error;
    search<<<blocks, BENCH_CUDA_THREADS, 0, stream>>>(sorted, n, (const double *)p->edges, bins, p->counts);
    return cudaGetLastError();
}

static cudaError_t call_sort(peer *p, cudaStream_t stream)
{
    switch (p->task->input->dtype) {
#define SORT(constant, type)                                                                                           \
    case constant:                                                                                                     \
        return sort_and_search<type>(p, stream);
        SORT(HISTO_U16, uint16_t)
        SORT(HISTO_U32, uint32_t)
        SORT(HISTO_I32, int32_t)
        SORT(HISTO_U64, uint64_t)
        SORT(HISTO_F32, float)
        SORT(HISTO_F64, double)
#undef SORT
    default:
        return cudaErrorNotSupported;
    }
}

static histo_status begin_sort(const bench_task *task, void **state)
{
    if (task->input->axes) return fail_joint();
    histo_status status = begin(task, state);
    peer *p = (peer *)*state;
    if (status == HISTO_OK) status = allocate_workspace(p, call_sort(p, NULL));
    if (status == HISTO_OK) status = upload_edges(p, false);
    if (status != HISTO_OK) return status;
    const size_t bytes = (size_t)task->count * histo_dtype_size(task->input->dtype);
    return bench_cuda_check(cudaMalloc(&p->sorted, bytes), "sorted samples");
}

static histo_status run_sort(void *state, void *stream)
{
    return bench_cuda_check(call_sort((peer *)state, (cudaStream_t)stream), "CUB's sort");
}

extern "C" const bench_peer bench_cub_sort = {
    "CUB sort + search", false, begin_sort, run_sort, counts, end, false, false, false};

/* ---- NPP ---- */

/* Loaded at run time, so that the build does not need it. The types match its headers. */
typedef struct npp_size {
    int width, height;
} npp_size;

typedef struct npp_context {
    cudaStream_t stream;
    int device, multiprocessors, threads_of_multiprocessor, threads_of_block;
    size_t shared_of_block;
    int major, minor;
    unsigned stream_flags;
    int reserved;
} npp_context;

/* Arguments: image, bytes per row, size, counts, levels, lowest and highest level, workspace. */
typedef int npp_histogram(const uint8_t *, int, npp_size, int *, int, int, int, uint8_t *, npp_context);
typedef int npp_workspace(npp_size, int, size_t *, npp_context);

static void *npp_symbol(const char *name)
{
    static const char *const libraries[] = {"libnppist.so.13", "libnppist.so.12", "libnppist.so"};
    static void *library;
    for (int i = 0; !library && i < 3; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

static npp_context npp_context_of(cudaStream_t stream)
{
    npp_context context = {.stream = stream};
    cudaDeviceProp device = {};
    cudaGetDevice(&context.device);
    cudaGetDeviceProperties(&device, context.device);
    context.multiprocessors = device.multiProcessorCount;
    context.threads_of_multiprocessor = device.maxThreadsPerMultiProcessor;
    context.threads_of_block = device.maxThreadsPerBlock;
    context.shared_of_block = device.sharedMemPerBlock;
    context.major = device.major;
    context.minor = device.minor;
    cudaStreamGetFlags(stream, &context.stream_flags);
    return context;
}

/* NPP counts pixels in an int. */
enum { NPP_PIXELS = 1 << 30 };

static int64_t npp_images(const bench_task *task)
{
    return (task->count + NPP_PIXELS - 1) / NPP_PIXELS;
}

/* Image i as few long rows, since NPP's grids have few blocks in y. */
static npp_size npp_size_of(const bench_task *task, int64_t i)
{
    enum { WIDTH = 1 << 14 };
    int64_t left = task->count - i * NPP_PIXELS, pixels = left < NPP_PIXELS ? left : (int64_t)NPP_PIXELS;
    int width = pixels % WIDTH == 0 ? WIDTH : 1;
    return {.width = width, .height = (int)(pixels / width)};
}

static npp_histogram *npp_function;
static npp_context npp_own; /* querying the device's properties takes longer than counting */

static histo_status begin_npp(const bench_task *task, void **state)
{
    if (task->input->axes) return fail_joint();
    if (task->input->dtype != HISTO_U8 || task->axis->bins > 256 || searches(task)) return fail_type(task);
    /* NPP rounds the width of a bin down, and counts behind its array where that matters. */
    if (((int)task->axis->hi - (int)task->axis->lo) % (int)task->axis->bins != 0) return fail_type(task);
    npp_function = (npp_histogram *)npp_symbol("nppiHistogramEven_8u_C1R_Ctx");
    npp_workspace *ask = (npp_workspace *)npp_symbol("nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
    if (!npp_function || !ask) return histo_fail(HISTO_UNSUPPORTED, "libnppist.so is not there");
    histo_status status = begin(task, state);
    if (status != HISTO_OK) return status;
    peer *p = (peer *)*state;
    npp_own = npp_context_of(NULL);
    if (ask(npp_size_of(task, 0), (int)task->axis->bins + 1, &p->workspace_bytes, npp_own) != 0)
        return histo_fail(HISTO_UNSUPPORTED, "NPP refuses images of this size");
    cudaFree(p->counts);
    p->counts = NULL;
    TRY(cudaMalloc(&p->counts, (size_t)(npp_images(task) * task->axis->bins) * sizeof *p->counts), "counts of a peer");
    return allocate_workspace(p, cudaSuccess);
}

static histo_status run_npp(void *state, void *stream)
{
    peer *p = (peer *)state;
    const histo_axis *axis = p->task->axis;
    npp_own.stream = (cudaStream_t)stream;
    cudaStreamGetFlags(npp_own.stream, &npp_own.stream_flags);
    for (int64_t i = 0; i < npp_images(p->task); i++) {
        npp_size size = npp_size_of(p->task, i);
        int error = npp_function((const uint8_t *)p->task->samples + i * NPP_PIXELS, size.width, size,
                                 (int *)p->counts + i * axis->bins, (int)axis->bins + 1, (int)axis->lo, (int)axis->hi,
                                 (uint8_t *)p->workspace, npp_own);
        if (error != 0) return histo_fail(HISTO_UNSUPPORTED, "NPP gave status %d", error);
    }
    return bench_cuda_check(cudaGetLastError(), "NPP");
}

/* NPP counts each image apart; a peer's counts are those of all together. */
static histo_status counts_npp(void *state, uint64_t *sums)
{
    const peer *p = (const peer *)state;
    int64_t bins = p->task->axis->bins;
    unsigned image[256];
    memset(sums, 0, (size_t)bins * sizeof *sums);
    for (int64_t i = 0; i < npp_images(p->task); i++) {
        TRY(cudaMemcpy(image, p->counts + i * bins, (size_t)bins * sizeof *image, cudaMemcpyDeviceToHost),
            "counts of a peer");
        for (int64_t bin = 0; bin < bins; bin++)
            sums[bin] += image[bin];
    }
    return HISTO_OK;
}

extern "C" const bench_peer bench_npp = {
    "NPP HistogramEven", false, begin_npp, run_npp, counts_npp, end, false, false, false};
