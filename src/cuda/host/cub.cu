/* Calls of CUB, for whose templates this file is C++ beyond kernels. */
#include "cuda/host/cub.h"

#include <pthread.h>

/* CUB includes <iostream>, uses nothing of it, and would bring in the C++ library by its initializers. */
#include <ostream>
#define _GLIBCXX_IOSTREAM
#define CCCL_DISABLE_NVTX
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

typedef histo_cub_word word;

struct plus {
    __device__ word operator()(word a, word b) const { return a + b; }
};

template <typename key>
struct begins_run {
    const key *keys;
    __device__ bool operator()(uint32_t i) const { return i == 0 || keys[i] != keys[i - 1]; }
};

/* One call at a time: compiled without thread-safe statics, CUB's caches of device properties are not safe for
 * concurrent threads. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

template <typename key>
static cudaError_t sort(histo_cub_call *call, void *const arrays[2], int *which, int64_t n, int low, int high)
{
    cub::DoubleBuffer<key> keys((key *)arrays[0], (key *)arrays[1]);
    keys.selector = *which;
    pthread_mutex_lock(&mutex);
    cudaError_t error =
        cub::DeviceRadixSort::SortKeys(call->memory, call->bytes, keys, (int)n, low, high, call->stream);
    pthread_mutex_unlock(&mutex);
    *which = keys.selector;
    return error;
}

cudaError_t histo_cub_sort(histo_cub_call *call, size_t size, void *const arrays[2], int *which, int64_t n, int low,
                           int high)
{
    return size == sizeof(word) ? sort<word>(call, arrays, which, n, low, high)
                                : sort<uint32_t>(call, arrays, which, n, low, high);
}

template <typename key>
static cudaError_t sort_from(histo_cub_call *call, const void *from, void *to, int64_t n, int high)
{
    pthread_mutex_lock(&mutex);
    cudaError_t error = cub::DeviceRadixSort::SortKeys(call->memory, call->bytes, (const key *)from, (key *)to, (int)n,
                                                       0, high, call->stream);
    pthread_mutex_unlock(&mutex);
    return error;
}

cudaError_t histo_cub_sort_from(histo_cub_call *call, size_t size, const void *from, void *to, int64_t n, int high)
{
    switch (size) {
    case 1:
        return sort_from<uint8_t>(call, from, to, n, high);
    case 2:
        return sort_from<uint16_t>(call, from, to, n, high);
    case 4:
        return sort_from<uint32_t>(call, from, to, n, high);
    default:
        return sort_from<word>(call, from, to, n, high);
    }
}

template <typename key>
static cudaError_t find_runs(histo_cub_call *call, const void *keys, int64_t n, uint32_t *begins, word *runs)
{
    const begins_run<key> at = {(const key *)keys};
    pthread_mutex_lock(&mutex);
    cudaError_t error = cub::DeviceSelect::If(call->memory, call->bytes, thrust::counting_iterator<uint32_t>(0), begins,
                                              runs, (int)n, at, call->stream);
    pthread_mutex_unlock(&mutex);
    return error;
}

cudaError_t histo_cub_find_runs(histo_cub_call *call, size_t size, const void *keys, int64_t n, uint32_t *begins,
                                word *runs)
{
    return size == sizeof(word) ? find_runs<word>(call, keys, n, begins, runs)
                                : find_runs<uint32_t>(call, keys, n, begins, runs);
}

cudaError_t histo_cub_sort_pairs(histo_cub_call *call, word *const slots[2], word *const counts[2], int *which,
                                 int64_t n, int bits)
{
    cub::DoubleBuffer<word> keys(slots[0], slots[1]), values(counts[0], counts[1]);
    pthread_mutex_lock(&mutex);
    cudaError_t error =
        cub::DeviceRadixSort::SortPairs(call->memory, call->bytes, keys, values, (int)n, 0, bits, call->stream);
    pthread_mutex_unlock(&mutex);
    *which = keys.selector;
    return error;
}

cudaError_t histo_cub_join_pairs(histo_cub_call *call, const word *from_slots, const word *from_counts, int64_t n,
                                 word *slots, word *counts, word *left)
{
    pthread_mutex_lock(&mutex);
    cudaError_t error = cub::DeviceReduce::ReduceByKey(call->memory, call->bytes, from_slots, slots, from_counts,
                                                       counts, left, plus(), (int)n, call->stream);
    pthread_mutex_unlock(&mutex);
    return error;
}
