/* The occupied slots of pixels, as one would find them with CUB: sorted, and the lengths of runs. C++ only to call CUB.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/cuda.h"

/* See papers/strategies/sort_search.cu. */
#include <ostream>
#define _GLIBCXX_IOSTREAM
#define CCCL_DISABLE_NVTX
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>

enum { SLOT_BITS = 24, SLOTS = 1 << SLOT_BITS };

typedef struct runs {
    const bench_task *task;
    unsigned *slots, *sorted;         /* [count] */
    unsigned *occupied, *lengths, *n; /* [SLOTS], of *n runs */
    void *workspace;
    size_t workspace_bytes;
} runs;

static __global__ void find_slots(const uint8_t *pixels, int64_t n, unsigned *slots)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        slots[i] = (unsigned)pixels[3 * i] << 16 | (unsigned)pixels[3 * i + 1] << 8 | pixels[3 * i + 2];
}

/* Run both, or with no workspace find how much the larger needs: *bytes. */
static cudaError_t call(runs *r, size_t *bytes, cudaStream_t stream)
{
    int n = (int)r->task->count;
    size_t of_sort = r->workspace_bytes, of_runs = r->workspace_bytes;
    cudaError_t error =
        cub::DeviceRadixSort::SortKeys(r->workspace, of_sort, r->slots, r->sorted, n, 0, SLOT_BITS, stream);
    if (error == cudaSuccess)
        error = cub::DeviceRunLengthEncode::Encode(r->workspace, of_runs, r->sorted, r->occupied, r->lengths, r->n, n,
                                                   stream);
    *bytes = of_sort > of_runs ? of_sort : of_runs;
    return error;
}

static void end(void *state)
{
    runs *r = (runs *)state;
    void *memory[] = {r->slots, r->sorted, r->occupied, r->lengths, r->n, r->workspace};
    for (void *each : memory)
        cudaFree(each);
    free(r);
}

static histo_status begin(const bench_task *task, void **state)
{
    if (task->input->dtype != HISTO_U8 || task->input->bins != SLOTS || !task->input->interleaved ||
        task->count > INT_MAX)
        return histo_fail(HISTO_UNSUPPORTED, "for pixels of three 8-bit channels only");
    runs *r = (runs *)calloc(1, sizeof *r);
    if (!r) return histo_fail_memory(sizeof *r, "a peer");
    *state = r;
    r->task = task;
    size_t bytes = (size_t)task->count * sizeof(unsigned);
    TRY(cudaMalloc(&r->slots, bytes), "slots of a peer");
    TRY(cudaMalloc(&r->sorted, bytes), "sorted slots");
    TRY(cudaMalloc(&r->occupied, SLOTS * sizeof(unsigned)), "occupied slots");
    TRY(cudaMalloc(&r->lengths, SLOTS * sizeof(unsigned)), "counts of a peer");
    TRY(cudaMalloc(&r->n, sizeof(unsigned)), "a number of runs");
    TRY(call(r, &bytes, NULL), "asking CUB for its workspace");
    r->workspace_bytes = bytes;
    return bench_cuda_check(cudaMalloc(&r->workspace, bytes), "workspace of CUB");
}

static histo_status run(void *state, void *stream)
{
    runs *r = (runs *)state;
    size_t bytes;
    find_slots<<<bench_cuda_blocks(), BENCH_CUDA_THREADS, 0, (cudaStream_t)stream>>>((const uint8_t *)r->task->samples,
                                                                                     r->task->count, r->slots);
    TRY(cudaGetLastError(), "finding slots");
    return bench_cuda_check(call(r, &bytes, (cudaStream_t)stream), "CUB's sort and runs");
}

static histo_status counts(void *state, uint64_t *counts)
{
    const runs *r = (const runs *)state;
    unsigned n;
    TRY(cudaMemcpy(&n, r->n, sizeof n, cudaMemcpyDeviceToHost), "counts of a peer");
    unsigned *both = (unsigned *)malloc((2 * (size_t)n + 1) * sizeof *both);
    if (!both) return histo_fail_memory(2 * (size_t)n * sizeof *both, "counts of a peer");
    cudaError_t error = cudaMemcpy(both, r->occupied, n * sizeof *both, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(both + n, r->lengths, n * sizeof *both, cudaMemcpyDeviceToHost);
    memset(counts, 0, SLOTS * sizeof *counts);
    for (size_t i = 0; i < n && error == cudaSuccess; i++)
        counts[both[i]] = both[n + i];
    free(both);
    return bench_cuda_check(error, "counts of a peer");
}

extern "C" const bench_peer bench_cub_runs = {"CUB sort + runs", false, begin, run, counts, end, false, true, false};
