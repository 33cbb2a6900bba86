/* Fills of nodes on a GPU: memory, parameters, and the order of kernels. */
#include <string.h>

#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/memory/allocate.h"
#include "cuda/nodes/nodes.h"

typedef struct filling {
    histo_cuda_features *f;
    histo_cuda_gradients *g;
    const histo_node_request *request;
    cudaStream_t stream;
    bool capturing;
    int numbers;                    /* of a bin: the count, and the sums of all weights */
    const int64_t *first, *offsets; /* on the device */
} filling;

static histo_status refuse_capture(void)
{
    return histo_fail(HISTO_UNSUPPORTED, "fill the histograms of nodes once like this before that is captured into a "
                                         "graph");
}

/* Reserve memory, which a captured graph continues to use. */
static histo_status reserve(const filling *it, histo_cuda_room *room, size_t bytes, bool *grown)
{
    if (it->capturing && bytes > room->bytes) return refuse_capture();
    return histo_cuda_room_reserve(room, bytes, it->f->order.captured, "the histograms of nodes", grown);
}

static histo_status reserve_sums(const filling *it)
{
    const double wanted = (double)it->request->nodes * it->numbers * (double)it->f->words * sizeof(long long);
    const size_t bytes = wanted < (double)(SIZE_MAX / 2) ? (size_t)wanted : SIZE_MAX / 2;
    bool grown;
    histo_status status = reserve(it, &it->f->sums, bytes, &grown);
    if (status != HISTO_OK || !grown) return status;
    return HISTO_CUDA(cudaMemsetAsync(it->f->sums.memory, 0, bytes, it->stream), "clearing the histograms of nodes");
}

/* The offsets, if they are in host memory: for several nodes. */
static const int64_t *offsets_here(const histo_node_request *request)
{
    bool only = false;
    if (!request->offsets) return NULL;
    histo_cuda_locate(request->offsets, &only);
    return only ? NULL : request->offsets;
}

/* Put what the kernels read from host memory on the GPU, if it is not there. */
static histo_status send_parameters(filling *it)
{
    histo_cuda_features *f = it->f;
    const int64_t *offsets = offsets_here(it->request);
    const size_t of_first = (size_t)f->features * sizeof(int64_t);
    const size_t of_offsets = offsets ? ((size_t)it->request->nodes + 1) * sizeof(int64_t) : 0;
    const size_t bytes = of_first + of_offsets;
    const bool known = f->parameters_known == bytes && f->parameters_here &&
                       !memcmp(f->parameters_here, it->request->first, of_first) &&
                       (!offsets || !memcmp((char *)f->parameters_here + of_first, offsets, of_offsets));
    histo_status status = HISTO_OK;
    if (!known && it->capturing) return refuse_capture();
    if (!known) {
        bool grown;
        f->parameters_known = 0;
        /* What a graph reads stays as it is. */
        if (f->order.captured) f->parameters.bytes = 0;
        status = reserve(it, &f->parameters, bytes + 1, &grown);
        int64_t *here = status == HISTO_OK ? (int64_t *)histo_malloc(bytes + 1) : NULL;
        if (status == HISTO_OK && !here) status = histo_fail_memory(bytes, "the histograms of nodes");
        if (status != HISTO_OK) return status;
        memcpy(here, it->request->first, of_first);
        if (offsets) memcpy((char *)here + of_first, offsets, of_offsets);
        histo_free(f->parameters_here);
        f->parameters_here = here;
        if (bytes)
            status = HISTO_CUDA(cudaMemcpyAsync(f->parameters.memory, here, bytes, cudaMemcpyHostToDevice, it->stream),
                                "copying offsets");
        if (status == HISTO_OK) f->parameters_known = bytes;
    }
    it->first = (const int64_t *)f->parameters.memory;
    it->offsets = offsets ? it->first + f->features : it->request->offsets;
    return status;
}

/* How a weight of so many bits is divided: its low bits, and how many rows two words can add up. Few bits take one
 * word, which has 32. */
static int low_bits_of(int bits, int64_t *most_rows)
{
    enum { ONE_WORD = 16 };
    if (bits <= ONE_WORD) return *most_rows = INT64_C(1) << (31 - bits), 32;
    const int low = (bits + 1) / 2, high = bits - low;
    *most_rows = INT64_C(1) << (32 - low < 31 - high ? 32 - low : 31 - high);
    return low;
}

/* Is anything of this pair of weights to be written? */
static bool is_wanted(const filling *it, int p)
{
    bool wanted = p == 0 && it->request->counts.at;
    for (int w = 2 * p; w < it->g->base.weights && w < 2 * p + 2; w++)
        wanted = wanted || it->request->sums[w].at;
    return wanted;
}

static histo_status add_pairs(const filling *it)
{
    enum { LEAST_ROWS = 512, MOST_BITS = 31 };
    const histo_view *rows = it->request->rows;
    histo_node_work w = {};
    w.rows = (uint32_t)it->f->rows;
    w.listed = rows ? rows->shape[0] : it->f->rows;
    if (rows) {
        w.list = (const char *)rows->data;
        w.list_stride = rows->strides[0];
        w.list_wide = rows->dtype == HISTO_I64;
    }
    w.offsets = it->offsets;
    w.nodes = it->request->nodes;
    /* A graph may set gradients of more bits than the host knows of. */
    w.low_bits = low_bits_of(it->g->order.captured ? MOST_BITS : it->g->base.bits, &w.most_rows);
    w.least_rows = LEAST_ROWS;
    w.sums = (unsigned long long *)it->f->sums.memory;
    w.words = it->f->words;
    w.numbers = it->numbers;
    w.stray = (unsigned long long *)it->f->stray; /* page-locked: the GPU has the same address */
    histo_status status = HISTO_OK;
    if (!w.rows || !w.listed || !it->f->features) return status;
    for (int p = 0; 2 * p < it->g->base.weights && status == HISTO_OK; p++) {
        if (!is_wanted(it, p)) continue;
        w.weights = it->g->pairs[p];
        w.pair = it->g->base.weights - 2 * p < 2 ? 1 : 2;
        w.counts = p == 0 && it->request->counts.at;
        w.first = 1 + 2 * p;
        status = histo_cuda_add_nodes(it->f, &w, it->stream);
    }
    return status;
}

static histo_status check_stray(histo_cuda_features *f)
{
    if (!*f->stray) return HISTO_OK;
    *f->stray = 0;
    return histo_fail(HISTO_INVALID, "rows, in the memory of a GPU, had numbers that are negative or too large");
}

/* Bring the sums to host memory, and write them there. */
static histo_status write_to_host(const filling *it)
{
    const size_t bytes = (size_t)it->request->nodes * it->numbers * (size_t)it->f->words * sizeof(long long);
    double units[HISTO_MAX_GRADIENTS];
    histo_gradients_state state;
    long long *sums = (long long *)histo_malloc(bytes + 1);
    if (!sums) return histo_fail_memory(bytes, "the histograms of nodes");
    static const char what[] = "reading the histograms of nodes";
    void *from = it->f->sums.memory;
    histo_status status = HISTO_CUDA(cudaMemcpyAsync(sums, from, bytes, cudaMemcpyDeviceToHost, it->stream), what);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaMemsetAsync(from, 0, bytes, it->stream), what);
    if (status == HISTO_OK)
        status =
            HISTO_CUDA(cudaMemcpyAsync(&state, it->g->state, sizeof state, cudaMemcpyDeviceToHost, it->stream), what);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(it->stream), what);
    if (status == HISTO_OK) status = check_stray(it->f);
    for (int w = 0; w < it->g->base.weights && status == HISTO_OK; w++)
        units[w] = ldexp(1.0, state.exponents[w]);
    if (status == HISTO_OK) histo_cuda_write_nodes_here(it->f, it->request, units, it->numbers, sums);
    histo_free(sums);
    return status;
}

static histo_status fill(filling *it)
{
    histo_status status = reserve_sums(it);
    if (status == HISTO_OK) status = send_parameters(it);
    if (status != HISTO_OK || !it->f->words) return status;
    status = add_pairs(it);
    if (status == HISTO_OK)
        status = it->request->to_host
                     ? write_to_host(it)
                     : histo_cuda_write_nodes(it->f, it->g, it->request, it->first, it->numbers, it->stream);
    /* Fills expect zeros. */
    if (status != HISTO_OK) cudaMemsetAsync(it->f->sums.memory, 0, it->f->sums.bytes, it->stream);
    return status;
}

histo_status histo_cuda_nodes_fill(histo_device_features *features, histo_device_gradients *gradients,
                                   const histo_node_request *request)
{
    filling it = {};
    it.f = (histo_cuda_features *)features;
    it.g = (histo_cuda_gradients *)gradients;
    it.request = request;
    it.stream = (cudaStream_t)request->stream;
    it.capturing = histo_cuda_is_captured(it.stream);
    it.numbers = 1 + gradients->weights;
    if (it.capturing && request->to_host)
        return histo_fail(HISTO_UNSUPPORTED, "histograms of nodes in host memory cannot be filled in a graph");
    int before;
    histo_status status = check_stray(it.f);
    if (status == HISTO_OK) status = histo_cuda_enter_context(features->device, it.f->context, &before);
    if (status != HISTO_OK) return status;
    if (it.g->context != it.f->context) status = histo_cuda_fail_lost(features->device);
    if (status == HISTO_OK) status = histo_cuda_order_begin(&it.f->order, it.stream, it.capturing);
    if (status == HISTO_OK) {
        status = histo_cuda_order_begin(&it.g->order, it.stream, it.capturing);
        if (status == HISTO_OK) status = histo_cuda_order_end_any(&it.g->order, it.stream, fill(&it));
        status = histo_cuda_order_end_any(&it.f->order, it.stream, status);
    }
    histo_cuda_leave(before);
    return status;
}

histo_status histo_cuda_nodes_wait(histo_device_features *features)
{
    histo_cuda_features *f = (histo_cuda_features *)features;
    int before;
    histo_status status = histo_cuda_enter_context(features->device, f->context, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_wait(&f->order);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventSynchronize(f->order.done), "waiting for fills");
    if (status == HISTO_OK) status = check_stray(f);
    histo_cuda_leave(before);
    return status;
}

extern "C" const histo_node_backend histo_cuda_nodes = {
    histo_cuda_features_make,      histo_cuda_features_free,   histo_cuda_nodes_wait,
    histo_cuda_gradients_make,     histo_cuda_gradients_free,  histo_cuda_gradients_search,
    histo_cuda_gradients_quantize, histo_cuda_gradients_units, histo_cuda_nodes_fill};
