/* sort_runs: the slots of a chunk of samples are sorted, and each run of equal ones is a pair: a slot and its count.
 *
 * - A slot of 64 bits holds the batch entry too; samples left out have slots behind all others. A chunk is any part of
 *   the samples.
 * - To find what is equal, slots need not be in order. Those of more than 32 bits are multiplied by an odd number,
 *   which can be undone, and sorted by the upper 32 bits of the product alone: four steps of CUB's radix sort, however
 *   many bits a slot has. Slots that differ and have the same upper bits may make each other's run into several, which
 *   adds pairs and changes no count.
 * - Pairs are appended to a list in device memory. When there is no room for those of another chunk, the list is sorted
 *   by its slots, and equal ones joined; if then it is still more than half full, a larger one is made. A list of the
 *   largest size is brought to the host.
 *
 * The number of runs decides what comes next, so that each chunk is waited for.
 *
 * Source: sort-based aggregation; CUB's radix sort, selection and reduction by key. Sorting by some bits of a
 * product is ours.
 * Bytes: each sample once; its slot written, read and written for each of four or fewer steps of the sort, and read
 * twice more. Indifferent to skew and to the number of slots. C++ only to call CUB. */
#include <pthread.h>
#include <stdlib.h>

#include "cuda/joint.cuh"

extern "C" {
#include "plan/bank.h"
}

/* CUB includes <iostream>, uses nothing of it, and would bring in the C++ library by its initializers. */
#include <ostream>
#define _GLIBCXX_IOSTREAM
#define CCCL_DISABLE_NVTX
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

enum { CHUNK, PAIRS };
enum { THREADS = 256, LEAST_CHUNK = 1 << 10, SORTED_BITS = 32 };

/* Odd, and its inverse modulo 2^64. */
static const uint64_t FACTOR = UINT64_C(0x9e3779b97f4a7c15), INVERSE = UINT64_C(0xf1de83e19937733d);

typedef unsigned long long word; /* a slot or a count */

/* ---- Slots of a chunk ---- */

typedef struct numbering {
    uint64_t factor;
    uint64_t all; /* slots of the batch */
} numbering;

/* Where the first sample of a share is in the chunk. */
HISTO_IN_KERNEL int64_t place_of_share(const histo_cuda_work *w, int64_t item, int64_t entry, int64_t sample)
{
    if (w->nest.offsets) return sample - w->begin;
    int64_t first = entry * w->nest.per_batch;
    return (first < w->begin ? 0 : first - w->begin) + item % w->shares_each * w->samples_each;
}

static __global__ void number_any(const __grid_constant__ histo_cuda_work work, numbering by, word *out)
{
    for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {
        histo_share share = histo_share_any(&work, item);
        word *at = out + place_of_share(&work, item, share.entry, share.index[0]);
        for (uint32_t offset = threadIdx.x; offset < share.length; offset += blockDim.x) {
            histo_place place = histo_place_of(&work, &share, offset);
            uint64_t slot = (uint64_t)share.entry;
            for (int a = 0; a < work.naxes; a++)
                slot = slot * ((uint64_t)work.lookups[a].bins + 3) +
                       histo_slot_at(&work, a, histo_address(&work, &place, a));
            if ((work.mask != HISTO_ABSENT && histo_is_masked(&work, histo_address(&work, &place, work.mask))) ||
                (work.where != HISTO_ABSENT && histo_is_outside(&work, histo_address(&work, &place, work.where))))
                slot = by.all + (uint64_t)share.entry;
            at[offset] = slot * by.factor;
        }
    }
}

/* Several axes and nothing beside, each one long run. */
static __global__ void number_columns(const __grid_constant__ histo_cuda_work work,
                                      const __grid_constant__ histo_joint joint, numbering by, word *out)
{
    enum { N = HISTO_SAMPLES_columns };
    for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {
        histo_joint_share share = histo_share_joint(&work, &joint, item);
        word *to = out + place_of_share(&work, item, share.entry, share.first);
        HISTO_FOR_STEPS(columns, share, at)
        {
            uint64_t slot[N];
            histo_ahead_columns next;
            histo_load_column(&work, &share, at, 0, histo_column(&work, &share, 0), joint.sizes[0], HISTO_RUN_columns,
                              &next);
#pragma unroll
            for (int k = 0; k < N; k++)
                slot[k] = (uint64_t)share.entry;
#pragma unroll 1
            for (int a = 0; a < work.naxes; a++) {
                const histo_ahead_columns now = next;
                uint32_t on_axis[N] = {0};
                if (a + 1 < work.naxes)
                    histo_load_column(&work, &share, at, a + 1, histo_column(&work, &share, a + 1), joint.sizes[a + 1],
                                      HISTO_RUN_columns, &next);
                histo_add_column(&work, &joint, NULL, a, work.dtypes[a], &now, on_axis);
#pragma unroll
                for (int k = 0; k < N; k++)
                    slot[k] = slot[k] * ((uint64_t)work.lookups[a].bins + 3) + on_axis[k];
            }
#pragma unroll
            for (int k = 0; k < N; k++) {
                uint32_t i = histo_column_index(at, k, HISTO_RUN_columns);
                if (i < share.length) to[i] = slot[k] * by.factor;
            }
        }
    }
}

/* The pairs of n sorted slots, of whose runs it is known where they begin. */
static __global__ void make_pairs(const word *sorted, int64_t n, const uint32_t *begins, int64_t runs, uint64_t inverse,
                                  word *slots, word *counts)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < runs; i += gridDim.x * (int64_t)blockDim.x) {
        const int64_t begin = begins[i], end = i + 1 < runs ? begins[i + 1] : n;
        slots[i] = sorted[begin] * inverse;
        counts[i] = (word)(end - begin);
    }
}

/* ---- CUB ---- */

struct plus {
    __device__ word operator()(word a, word b) const { return a + b; }
};

struct begins_run {
    const word *slots;
    __device__ bool operator()(uint32_t i) const { return i == 0 || slots[i] != slots[i - 1]; }
};

/* What CUB works with; its caches of device properties are not made for threads that come at once. */
typedef struct cub_call {
    void *memory; /* NULL: say in `bytes` how much is needed */
    size_t bytes;
    cudaStream_t stream;
} cub_call;

static pthread_mutex_t cub_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Sort n slots by bits [low, high), from arrays[*which]; *which is then where they are. */
static cudaError_t sort_slots(cub_call *call, word *const arrays[2], int *which, int64_t n, int low, int high)
{
    cub::DoubleBuffer<word> slots(arrays[0], arrays[1]);
    slots.selector = *which;
    pthread_mutex_lock(&cub_mutex);
    cudaError_t error =
        cub::DeviceRadixSort::SortKeys(call->memory, call->bytes, slots, (int)n, low, high, call->stream);
    pthread_mutex_unlock(&cub_mutex);
    *which = slots.selector;
    return error;
}

/* Where the runs of n slots begin, and how many they are. */
static cudaError_t find_runs(cub_call *call, const word *slots, int64_t n, uint32_t *begins, word *runs)
{
    const begins_run at = {slots};
    pthread_mutex_lock(&cub_mutex);
    cudaError_t error = cub::DeviceSelect::If(call->memory, call->bytes, thrust::counting_iterator<uint32_t>(0), begins,
                                              runs, (int)n, at, call->stream);
    pthread_mutex_unlock(&cub_mutex);
    return error;
}

static cudaError_t sort_pairs(cub_call *call, word *const slots[2], word *const counts[2], int *which, int64_t n,
                              int bits)
{
    cub::DoubleBuffer<word> keys(slots[0], slots[1]), values(counts[0], counts[1]);
    pthread_mutex_lock(&cub_mutex);
    cudaError_t error =
        cub::DeviceRadixSort::SortPairs(call->memory, call->bytes, keys, values, (int)n, 0, bits, call->stream);
    pthread_mutex_unlock(&cub_mutex);
    *which = keys.selector;
    return error;
}

/* Pairs of one slot joined. */
static cudaError_t join(cub_call *call, const word *from_slots, const word *from_counts, int64_t n, word *slots,
                        word *counts, word *left)
{
    pthread_mutex_lock(&cub_mutex);
    cudaError_t error = cub::DeviceReduce::ReduceByKey(call->memory, call->bytes, from_slots, slots, from_counts,
                                                       counts, left, plus(), (int)n, call->stream);
    pthread_mutex_unlock(&cub_mutex);
    return error;
}

/* Bytes that CUB wants for n slots of a chunk, and for n pairs. */
static size_t bytes_of_chunk(int64_t n)
{
    cub_call sorting = {}, finding = {};
    word *const none[2] = {NULL, NULL};
    int which = 0;
    sort_slots(&sorting, none, &which, n, 0, 64);
    find_runs(&finding, NULL, n, NULL, NULL);
    return sorting.bytes > finding.bytes ? sorting.bytes : finding.bytes;
}

static size_t bytes_of_pairs(int64_t n)
{
    cub_call sorting = {}, joining = {};
    word *const none[2] = {NULL, NULL};
    int which = 0;
    sort_pairs(&sorting, none, none, &which, n, 64);
    join(&joining, NULL, NULL, n, NULL, NULL, NULL);
    return sorting.bytes > joining.bytes ? sorting.bytes : joining.bytes;
}

static histo_status read_number(const word *there, cudaStream_t stream, int64_t *number)
{
    word here = 0;
    histo_status status =
        HISTO_CUDA(cudaMemcpyAsync(&here, there, sizeof here, cudaMemcpyDeviceToHost, stream), "reading a number");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(stream), "counting");
    *number = (int64_t)here;
    return status;
}

/* ---- The list ---- */

static int bits_of(uint64_t largest)
{
    int bits = 1;
    while (bits < 64 && largest >> bits)
        bits++;
    return bits;
}

void histo_cuda_sparse_free(histo_cuda_sparse *s)
{
    void *memory[] = {s->slots[0], s->slots[1], s->counts[0], s->counts[1], s->memory};
    for (size_t m = 0; m < sizeof memory / sizeof memory[0]; m++)
        cudaFree(memory[m]);
    memset(s, 0, sizeof *s);
}

/* Room for so many pairs, nothing in it. */
static histo_status make(histo_cuda_sparse *s, int64_t capacity)
{
    word **const arrays[] = {&s->slots[0], &s->slots[1], &s->counts[0], &s->counts[1]};
    histo_status status = HISTO_OK;
    memset(s, 0, sizeof *s);
    s->capacity = capacity;
    s->bytes = bytes_of_pairs(capacity);
    for (int a = 0; a < 4 && status == HISTO_OK; a++)
        status = HISTO_CUDA(cudaMalloc((void **)arrays[a], (size_t)capacity * sizeof(word)), "occupied slots");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMalloc(&s->memory, s->bytes + sizeof(word)), "sorting occupied slots");
    if (status != HISTO_OK) histo_cuda_sparse_free(s);
    return status;
}

/* Sort the pairs, and join those of one slot. */
static histo_status settle(histo_cuda_sparse *s, uint64_t largest, cudaStream_t stream)
{
    if (s->n == 0) return HISTO_OK;
    word *left = (word *)s->memory;
    cub_call call = {left + 1, s->bytes, stream};
    int which = 0;
    histo_status status =
        HISTO_CUDA(sort_pairs(&call, s->slots, s->counts, &which, s->n, bits_of(largest)), "sorting occupied slots");
    call.bytes = s->bytes;
    if (status == HISTO_OK)
        status = HISTO_CUDA(
            join(&call, s->slots[which], s->counts[which], s->n, s->slots[1 - which], s->counts[1 - which], left),
            "joining occupied slots");
    int64_t n;
    if (status == HISTO_OK) status = read_number(left, stream, &n);
    if (status != HISTO_OK) return status;
    s->n = n;
    if (which == 1) return HISTO_OK;
    word *slots = s->slots[0], *counts = s->counts[0];
    s->slots[0] = s->slots[1];
    s->counts[0] = s->counts[1];
    s->slots[1] = slots;
    s->counts[1] = counts;
    return HISTO_OK;
}

static uint64_t largest_slot(const histo_cuda_bank *bank)
{
    return (uint64_t)bank->batch * (uint64_t)bank->slots + (uint64_t)bank->batch - 1;
}

histo_status histo_cuda_sparse_gather(histo_cuda_bank *bank, const histo_bank *to, cudaStream_t stream)
{
    histo_cuda_sparse *s = &bank->sparse;
    histo_status status = settle(s, largest_slot(bank), stream);
    if (status != HISTO_OK || s->n == 0) return status;
    const size_t bytes = (size_t)s->n * sizeof(word);
    word *slots = (word *)malloc(2 * bytes), *counts = slots + s->n;
    histo_list list = {s->n, (histo_entry *)malloc(2 * bytes)};
    if (!slots || !list.entries) status = histo_fail_memory(4 * bytes, "reading occupied slots from a GPU");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(slots, s->slots[0], bytes, cudaMemcpyDeviceToHost, stream),
                            "reading occupied slots");
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(counts, s->counts[0], bytes, cudaMemcpyDeviceToHost, stream),
                            "reading occupied slots");
    if (status == HISTO_OK) status = HISTO_CUDA(cudaStreamSynchronize(stream), "reading occupied slots");
    for (int64_t i = 0; i < s->n && status == HISTO_OK; i++)
        list.entries[i] = {slots[i], counts[i]};
    free(slots);
    if (status == HISTO_OK) status = histo_bank_add(to, list);
    if (status == HISTO_OK)
        s->n = 0;
    else
        histo_list_free(&list);
    return status;
}

/* Is there room for n more pairs, and no need to sort the list again soon? */
static bool is_roomy(const histo_cuda_sparse *s, int64_t n)
{
    return s->n + n <= s->capacity && 2 * s->n <= s->capacity;
}

/* Make room for n more pairs, in a list of no more than `most` if that is enough for these. */
static histo_status make_room(const histo_job *job, histo_cuda_bank *bank, int64_t n, int64_t most)
{
    histo_cuda_sparse *s = &bank->sparse;
    cudaStream_t stream = (cudaStream_t)job->stream;
    if (s->n + n <= s->capacity) return HISTO_OK;
    histo_status status = settle(s, largest_slot(bank), stream);
    if (status == HISTO_OK && !is_roomy(s, n) && 2 * (s->n + n) > most)
        status = histo_cuda_sparse_gather(bank, job->bank, stream);
    if (status != HISTO_OK || is_roomy(s, n)) return status;
    histo_cuda_sparse larger;
    status = make(&larger, 2 * (s->n + n));
    if (status != HISTO_OK) return status;
    larger.n = s->n;
    const size_t bytes = (size_t)s->n * sizeof(word);
    if (bytes)
        status = HISTO_CUDA(cudaMemcpyAsync(larger.slots[0], s->slots[0], bytes, cudaMemcpyDeviceToDevice, stream),
                            "moving occupied slots");
    if (bytes && status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(larger.counts[0], s->counts[0], bytes, cudaMemcpyDeviceToDevice, stream),
                            "moving occupied slots");
    histo_cuda_sparse_free(status == HISTO_OK ? s : &larger); /* waits for the copies */
    if (status == HISTO_OK) *s = larger;
    return status;
}

/* ---- The strategy ---- */

typedef struct layout {
    int64_t chunk;
    size_t array, cub; /* bytes of each of two arrays of slots, and for CUB */
} layout;

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    layout l;
    l.chunk = p->samples < LEAST_CHUNK ? (int64_t)LEAST_CHUNK : p->samples;
    const int64_t usual = histo_cuda_device_of(p->device)->memory >= (size_t)32 << 30 ? 1 << 26 : 1 << 24;
    int64_t most = params[CHUNK] ? params[CHUNK] : usual;
    if (most < LEAST_CHUNK) most = LEAST_CHUNK;
    if (l.chunk > most) l.chunk = most;
    l.array = ((size_t)l.chunk * sizeof(word) + 255) / 256 * 256;
    l.cub = bytes_of_chunk(l.chunk);
    return l;
}

static const char *refuses(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    return 200 + (double)p->samples / 2e4;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    layout l = layout_of(problem, params);
    return 2 * l.array + l.cub + sizeof(word);
}

static histo_status number(const histo_job *job, const numbering *by, word *out)
{
    enum { LEAST = 1 << 12 };
    int64_t blocks = histo_cuda_resident(job->problem->device, THREADS, 0);
    histo_cuda_work work = histo_cuda_work_of(job, blocks, LEAST, 1 << 28);
    histo_joint joint;
    const bool are_columns = histo_cuda_joint_of(&work, &joint) != HISTO_NOT_JOINT;
    numbering numbers = *by;
    void *any[] = {&work, &numbers, &out}, *columns[] = {&work, &joint, &numbers, &out};
    return histo_cuda_launch(job, are_columns ? (const void *)number_columns : (const void *)number_any,
                             dim3((unsigned)(work.shares < blocks ? work.shares : blocks)), THREADS, 0,
                             are_columns ? columns : any);
}

static histo_status append(const histo_job *job, histo_cuda_sparse *s, const word *sorted, const uint32_t *begins,
                           int64_t runs, uint64_t inverse)
{
    const int64_t most_blocks = 1 << 16;
    int64_t n = job->end - job->begin, blocks = (runs + THREADS - 1) / THREADS;
    word *slots = s->slots[0] + s->n, *counts = s->counts[0] + s->n;
    void *args[] = {&sorted, &n, &begins, &runs, &inverse, &slots, &counts};
    s->n += runs;
    return histo_cuda_launch(job, (const void *)make_pairs,
                             dim3((unsigned)(blocks < most_blocks ? blocks : most_blocks)), THREADS, 0, args);
}

/* The job's samples are at most a chunk. */
static histo_status count_chunk(const layout *l, const histo_job *job, histo_cuda_bank *bank)
{
    histo_cuda_sparse *s = &bank->sparse;
    const uint64_t largest = largest_slot(bank);
    const bool is_long = bits_of(largest) > SORTED_BITS;
    const numbering by = {is_long ? FACTOR : 1, (uint64_t)bank->batch * (uint64_t)bank->slots};
    word *const arrays[2] = {(word *)job->workspace, (word *)((char *)job->workspace + l->array)};
    word *runs = (word *)((char *)job->workspace + 2 * l->array);
    cub_call call = {runs + 1, l->cub, (cudaStream_t)job->stream};
    const int64_t n = job->end - job->begin;
    int which = 0;
    histo_status status = number(job, &by, arrays[0]);
    if (status == HISTO_OK)
        status = HISTO_CUDA(
            sort_slots(&call, arrays, &which, n, is_long ? 64 - SORTED_BITS : 0, is_long ? 64 : bits_of(largest)),
            "sorting slots");
    call.bytes = l->cub;
    uint32_t *begins = (uint32_t *)arrays[1 - which];
    if (status == HISTO_OK) status = HISTO_CUDA(find_runs(&call, arrays[which], n, begins, runs), "finding runs");
    int64_t more;
    if (status == HISTO_OK) status = read_number(runs, (cudaStream_t)job->stream, &more);
    return status == HISTO_OK ? append(job, s, arrays[which], begins, more, is_long ? INVERSE : 1) : status;
}

static histo_status launch(const histo_job *job)
{
    layout l = layout_of(job->problem, job->params);
    histo_cuda_bank *bank = histo_cuda_bank_in(job);
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        piece.end = job->end - piece.begin < l.chunk ? job->end : piece.begin + l.chunk;
        status = make_room(&piece, bank, piece.end - piece.begin, job->params[PAIRS]);
        if (status == HISTO_OK) status = count_chunk(&l, &piece, bank);
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_sort_runs = {
    refuses,
    cost_us,
    workspace,
    launch,
    {{"chunk", 0, 1 << 28, 0,
      "samples sorted at a time, 1024 at least, of 16 bytes of workspace each; 0: 2^26, or 2^24 where there is little "
      "memory"},
     {"pairs", 1, 1 << 29, 1 << 28,
      "occupied slots kept on the device, of 32 bytes each; more are brought to the host"}},
    true,
    false,
    true,
};
