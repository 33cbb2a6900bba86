/* Gradients on a GPU: the search for the largest and for those that are not finite, and integers. */
#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/memory/allocate.h"
#include "cuda/nodes/nodes.h"
#include <algorithm>

enum { THREADS = 256, BLOCKS = 2048, WARP = 32 };

typedef struct setting {
    const char *values[HISTO_MAX_GRADIENTS];
    int64_t strides[HISTO_MAX_GRADIENTS];
    histo_dtype dtypes[HISTO_MAX_GRADIENTS];
    int32_t *pairs[(HISTO_MAX_GRADIENTS + 1) / 2];
    int64_t rows;
    int weights;
    histo_gradients_state *state;
} setting;

static __device__ bool is_float(histo_dtype dtype)
{
    return dtype == HISTO_F32 || dtype == HISTO_F64;
}

/* A number of this type at any address. */
template <typename TYPE>
static __device__ TYPE read_at(const char *at)
{
    TYPE x;
    if ((uintptr_t)at % sizeof x == 0) return *(const TYPE *)at;
    memcpy(&x, at, sizeof x);
    return x;
}

static __device__ double float_at(const setting &s, int w, int64_t row)
{
    const char *at = s.values[w] + row * s.strides[w];
    return s.dtypes[w] == HISTO_F32 ? (double)read_at<float>(at) : read_at<double>(at);
}

static __device__ int32_t integer_at(const setting &s, int w, int64_t row)
{
    const char *at = s.values[w] + row * s.strides[w];
    switch (s.dtypes[w]) {
    case HISTO_I8:
        return *(const int8_t *)at;
    case HISTO_U8:
        return *(const uint8_t *)at;
    case HISTO_I16:
        return read_at<int16_t>(at);
    case HISTO_U16:
        return read_at<uint16_t>(at);
    default:
        return read_at<int32_t>(at);
    }
}

/* A weight of the row that is not finite; negative: all are. */
static __device__ int nonfinite_weight(const setting &s, int64_t row)
{
    for (int w = 0; w < s.weights; w++)
        if (is_float(s.dtypes[w]) && !isfinite(float_at(s, w, row))) return w;
    return -1;
}

/* What the rows of a thread have is gathered by warps. */
static __global__ void __launch_bounds__(THREADS) search(const setting s)
{
    double largest[HISTO_MAX_GRADIENTS] = {};
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x; row < s.rows; row += step) {
        const int bad = nonfinite_weight(s, row);
        if (bad >= 0) {
            atomicAdd(&s.state->nonfinite, 1ull);
            atomicMin(&s.state->first, (unsigned long long)row * HISTO_MAX_GRADIENTS + (unsigned)bad);
            continue;
        }
#pragma unroll
        for (int w = 0; w < HISTO_MAX_GRADIENTS; w++)
            if (w < s.weights && is_float(s.dtypes[w])) largest[w] = fmax(largest[w], fabs(float_at(s, w, row)));
    }
#pragma unroll
    for (int w = 0; w < HISTO_MAX_GRADIENTS; w++) {
        if (w >= s.weights) break;
        for (int half = WARP / 2; half > 0; half /= 2)
            largest[w] = fmax(largest[w], __shfl_xor_sync(~0u, largest[w], half));
        /* Doubles that are not negative are in the order of their bits. */
        const unsigned long long bits = (unsigned long long)__double_as_longlong(largest[w]);
        if (threadIdx.x % WARP == 0 && bits > *(volatile unsigned long long *)&s.state->largest[w])
            atomicMax(&s.state->largest[w], bits);
    }
}

typedef struct exponents {
    int of[HISTO_MAX_GRADIENTS];
    bool given;
} exponents;

static __global__ void find_units(const setting s, int bits, const exponents e, int64_t *nonfinite)
{
    const int w = threadIdx.x;
    if (w < s.weights) {
        const double largest = __longlong_as_double((long long)s.state->largest[w]);
        s.state->exponents[w] = e.given ? e.of[w] : is_float(s.dtypes[w]) ? histo_unit_exponent(largest, bits) : 0;
    }
    if (w == 0 && nonfinite) *nonfinite = (int64_t)s.state->nonfinite;
}

static __global__ void __launch_bounds__(THREADS) quantize(const setting s)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    const bool all_finite = s.state->nonfinite == 0;
    /* Two factors, since a power of two may be beyond double. */
    __shared__ double scales[HISTO_MAX_GRADIENTS][2];
    if (threadIdx.x < s.weights) {
        const int exponent = s.state->exponents[threadIdx.x];
        scales[threadIdx.x][0] = ldexp(1.0, -exponent / 2);
        scales[threadIdx.x][1] = ldexp(1.0, -exponent - -exponent / 2);
    }
    __syncthreads();
    for (int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x; row < s.rows; row += step) {
        const bool counts = all_finite || nonfinite_weight(s, row) < 0;
        for (int w = 0; w < s.weights; w++) {
            const int lanes = s.weights - w / 2 * 2 < 2 ? 1 : 2;
            int32_t *to = &s.pairs[w / 2][row * lanes + w % 2];
            if (!counts)
                *to = 0;
            else if (is_float(s.dtypes[w]))
                *to = __double2int_rn(float_at(s, w, row) * scales[w][0] * scales[w][1]);
            else
                *to = integer_at(s, w, row);
        }
    }
}

/* ---- Host ---- */

static unsigned blocks_for(int64_t rows)
{
    const int64_t blocks = (rows + THREADS - 1) / THREADS;
    return (unsigned)std::clamp<int64_t>(blocks, 1, BLOCKS);
}

static setting setting_of(const histo_cuda_gradients *g, const histo_view *values)
{
    setting s = {};
    s.rows = g->base.rows;
    s.weights = g->base.weights;
    s.state = g->state;
    for (int w = 0; w < s.weights; w++) {
        s.values[w] = (const char *)values[w].data;
        s.strides[w] = values[w].strides[0];
        s.dtypes[w] = values[w].dtype;
        s.pairs[w / 2] = g->pairs[w / 2];
    }
    return s;
}

/* enqueue(gradients, stream), in the order of their uses */
template <typename ENQUEUE>
static histo_status use(histo_device_gradients *base, void *on, ENQUEUE enqueue)
{
    histo_cuda_gradients *g = (histo_cuda_gradients *)base;
    const cudaStream_t stream = (cudaStream_t)on;
    int before;
    histo_status status = histo_cuda_enter_context(base->device, g->context, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_begin(&g->order, stream, histo_cuda_is_captured(stream));
    if (status == HISTO_OK) status = histo_cuda_order_end_any(&g->order, stream, enqueue(g, stream));
    histo_cuda_leave(before);
    return status;
}

static histo_status read_state(const histo_cuda_gradients *g, histo_gradients_state *state, cudaStream_t stream)
{
    histo_status status = HISTO_CUDA(cudaMemcpyAsync(state, g->state, sizeof *state, cudaMemcpyDeviceToHost, stream),
                                     "looking at gradients");
    return status == HISTO_OK ? HISTO_CUDA(cudaStreamSynchronize(stream), "looking at gradients") : status;
}

histo_status histo_cuda_gradients_search(histo_device_gradients *base, const histo_view *values, void *on,
                                         histo_gradients_found *found)
{
    return use(base, on, [&](histo_cuda_gradients *g, cudaStream_t stream) {
        /* Exponents stay: they are of the weights that are there. */
        const size_t looked = offsetof(histo_gradients_state, exponents);
        histo_status status = HISTO_CUDA(cudaMemsetAsync(g->state, 0, looked, stream), "looking at gradients");
        if (status == HISTO_OK)
            status = HISTO_CUDA(cudaMemsetAsync(&g->state->first, 0xff, sizeof g->state->first, stream),
                                "looking at gradients");
        if (status != HISTO_OK) return status;
        search<<<blocks_for(base->rows), THREADS, 0, stream>>>(setting_of(g, values));
        status = HISTO_CUDA(cudaGetLastError(), "looking at gradients");
        histo_gradients_state state;
        if (status != HISTO_OK || !found) return status;
        status = read_state(g, &state, stream);
        for (int w = 0; w < base->weights; w++)
            memcpy(&found->largest[w], &state.largest[w], sizeof found->largest[w]);
        found->nonfinite = (int64_t)state.nonfinite;
        found->first = (int64_t)(state.first / HISTO_MAX_GRADIENTS);
        found->weight = (int)(state.first % HISTO_MAX_GRADIENTS);
        return status;
    });
}

histo_status histo_cuda_gradients_quantize(histo_device_gradients *base, const histo_view *values, int bits,
                                           const int *given, int64_t *nonfinite, void *on)
{
    return use(base, on, [&](histo_cuda_gradients *g, cudaStream_t stream) {
        const setting s = setting_of(g, values);
        exponents e = {};
        e.given = given;
        for (int w = 0; given && w < base->weights; w++)
            e.of[w] = given[w];
        find_units<<<1, HISTO_MAX_GRADIENTS, 0, stream>>>(s, bits, e, nonfinite);
        histo_status status = HISTO_CUDA(cudaGetLastError(), "setting gradients");
        if (status != HISTO_OK) return status;
        quantize<<<blocks_for(base->rows), THREADS, 0, stream>>>(s);
        base->bits = bits;
        return HISTO_CUDA(cudaGetLastError(), "setting gradients");
    });
}

histo_status histo_cuda_gradients_units(histo_device_gradients *base, double *units)
{
    histo_cuda_gradients *g = (histo_cuda_gradients *)base;
    int before;
    histo_gradients_state state;
    histo_status status = histo_cuda_enter_context(base->device, g->context, &before);
    if (status != HISTO_OK) return status;
    status = histo_cuda_order_wait(&g->order);
    if (status == HISTO_OK) status = HISTO_CUDA(cudaEventSynchronize(g->order.done), "looking at gradients");
    if (status == HISTO_OK) status = read_state(g, &state, cudaStreamPerThread);
    for (int w = 0; w < base->weights && status == HISTO_OK; w++)
        units[w] = ldexp(1.0, state.exponents[w]);
    histo_cuda_leave(before);
    return status;
}

/* Continue after failures: the device may be lost. */
void histo_cuda_gradients_free(histo_device_gradients *base)
{
    histo_cuda_gradients *g = (histo_cuda_gradients *)base;
    int before;
    const bool alive = histo_cuda_enter_context(base->device, g->context, &before) == HISTO_OK;
    for (int32_t *pair : g->pairs)
        histo_cuda_release(pair);
    histo_cuda_release(g->state);
    histo_cuda_order_free(&g->order, alive);
    if (alive) {
        histo_cuda_leave(before);
        cudaGetLastError();
    }
    histo_free(g);
}

histo_status histo_cuda_gradients_make(int64_t rows, int weights, histo_device device, histo_device_gradients **made)
{
    histo_cuda_gradients *g = (histo_cuda_gradients *)histo_calloc(1, sizeof *g);
    if (!g) return histo_fail_memory(sizeof *g, "the gradients");
    g->base.backend = &histo_backend_cuda;
    g->base.device = device;
    g->base.rows = rows;
    g->base.weights = weights;
    int before;
    histo_status status = histo_cuda_enter(device, &before);
    if (status != HISTO_OK) {
        histo_free(g);
        return status;
    }
    g->context = histo_cuda_context();
    status = histo_cuda_order_make(&g->order);
    if (status == HISTO_OK) status = histo_cuda_allocate((void **)&g->state, sizeof *g->state, "the gradients");
    for (int w = 0; w < weights && status == HISTO_OK; w += 2) {
        const size_t each = (weights - w < 2 ? 1 : 2) * sizeof(int32_t);
        status = histo_cuda_allocate((void **)&g->pairs[w / 2], (size_t)rows * each + each, "the gradients");
    }
    if (status == HISTO_OK)
        *made = &g->base;
    else
        histo_cuda_gradients_free(&g->base);
    histo_cuda_leave(before);
    return status;
}
