/* sort_search: sorts a chunk of samples, searches for the end of each slot's samples, and counts by difference.
 *
 * - Samples become unsigned keys in the order of their values, with all NaN last. Slots then rise along the sorted
 *   keys, and a slot's samples end at the first key of a later slot.
 * - Where more than the value decides (several axes, a mask, a filter), the slot is the key.
 * - A chunk lies within one batch entry. It bounds the workspace: two arrays of keys and what CUB's radix sort needs.
 *
 * Source: Milic et al. 2013, III.C, with CUB instead of Thrust, because CUB sorts on a stream and in memory that it is
 * given.
 * Bytes: each sample once, its key written once, then read twice and written once for each 8 bits of the sort. Loses to
 * counting wherever counters fit; indifferent to skew, and nearly so to the number of bins. */
#include "cuda/device/any_sample.cuh"
#include "cuda/host/check.h"
#include "cuda/host/cub.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"

enum { CHUNK, BY_SLOT };
enum { THREADS = 256, MIN_CHUNK = 1 << 10 };

/* ---- Keys ---- */

/* Bits of a sample of `size` bytes as a key, and back. Floats: the negative ones turned round. */
HISTO_IN_KERNEL uint64_t key_of_bits(uint64_t bits, int size, bool integer, bool has_sign)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if (integer) return has_sign ? bits ^ sign : bits;
    return bits & sign ? ~bits & (2 * sign - 1) : bits | sign;
}

HISTO_IN_KERNEL uint64_t bits_of_key(uint64_t key, int size, bool integer, bool has_sign)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if (integer) return has_sign ? key ^ sign : key;
    return key & sign ? key ^ sign : ~key & (2 * sign - 1);
}

template <histo_dtype type>
struct key_traits {
    using storage = histo_stored<type>;
    enum { SIZE = sizeof(storage), IS_INTEGER = type <= HISTO_I64, HAS_SIGN = (storage)-1 < (storage)1 };
};

HISTO_IN_KERNEL uint64_t key_at(const histo_cuda_work *w, const char *at)
{
    return histo_with_dtype(w->dtypes[0], [=](auto of) -> uint64_t {
        using traits = key_traits<of.type>;
        auto x = histo_load<histo_stored<of.type>>(w, 0, at);
        uint64_t bits = 0;
        memcpy(&bits, &x, sizeof x);
        auto value = histo_sample<of.type>::widen(x);
        if (value != value) return UINT64_MAX >> (64 - 8 * traits::SIZE);
        return key_of_bits(bits, traits::SIZE, traits::IS_INTEGER, traits::HAS_SIGN);
    });
}

HISTO_IN_KERNEL uint32_t slot_of_key(const histo_cuda_work *w, uint64_t key)
{
    return histo_slot_of_dtype(&w->lookups[0], w->dtypes[0], [=](auto of) {
        using traits = key_traits<of.type>;
        histo_stored<of.type> x;
        uint64_t bits = bits_of_key(key, traits::SIZE, traits::IS_INTEGER, traits::HAS_SIGN);
        memcpy(&x, &bits, sizeof x);
        return x;
    });
}

/* ---- Kernels, for keys of 32 and of 64 bits ---- */

/* What the work's samples, all of one batch entry, are sorted by. */
template <typename key>
static __global__ void make_keys(const __grid_constant__ histo_cuda_work work, key *keys, bool by_slot)
{
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_at(&work, item);
        key *out = keys + item * work.samples_each;
        for (uint32_t offset = threadIdx.x; offset < tile.length; offset += blockDim.x) {
            histo_sample_place place = histo_sample_place_of(&work, &tile, offset);
            out[offset] = by_slot ? (key)histo_slot_of_sample(&work, &place)
                                  : (key)key_at(&work, histo_address(&work, &place, 0));
        }
    }
}

/* Where the samples of `slot` end among n sorted keys: the upper bound. */
template <typename key>
HISTO_IN_KERNEL int end_of(const histo_cuda_work *w, const key *keys, int n, bool by_slot, int64_t slot)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        uint32_t there = by_slot ? (uint32_t)keys[middle] : slot_of_key(w, keys[middle]);
        if ((int64_t)there <= slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Thread t finds where the slot before the block's t-th one ends; two neighbours' difference is a count. */
template <typename key>
static __global__ void count_sorted(const __grid_constant__ histo_cuda_work work, const key *keys, int n, bool by_slot)
{
    __shared__ int ends[THREADS];
    unsigned long long *counts = work.counts + work.first_entry * work.counters;
    for (int64_t first = blockIdx.x * (int64_t)(THREADS - 1); first < work.counters;
         first += gridDim.x * (int64_t)(THREADS - 1)) {
        int64_t slot = first + threadIdx.x;
        ends[threadIdx.x] = end_of(&work, keys, n, by_slot, slot - 1);
        __syncthreads();
        if (threadIdx.x < THREADS - 1 && slot < work.counters)
            counts[slot] += (unsigned long long)(ends[threadIdx.x + 1] - ends[threadIdx.x]);
        __syncthreads();
    }
}

/* ---- The host's side ---- */

typedef struct layout {
    bool by_slot;
    size_t key;         /* bytes of one: 4 or 8 */
    int bits;           /* of a key that count */
    int64_t chunk;      /* samples sorted at a time */
    size_t array, sort; /* bytes of each array of keys, and for the sort */
} layout;

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    layout l;
    size_t size = histo_dtype_size(p->dtypes[0]);
    l.by_slot = params[BY_SLOT] || p->operands > 1;
    l.key = !l.by_slot && size == 8 ? sizeof(uint64_t) : sizeof(uint32_t);
    l.bits = l.by_slot ? 1 : (int)size * 8;
    while (l.by_slot && p->slots >> l.bits)
        l.bits++;
    int64_t each = p->samples / p->batch + 1;
    if (each < MIN_CHUNK) each = MIN_CHUNK;
    l.chunk = each < params[CHUNK] ? each : params[CHUNK];
    l.array = ((size_t)l.chunk * l.key + 255) / 256 * 256;
    histo_cub_call sorting = {};
    void *const none[2] = {NULL, NULL};
    int which = 0;
    histo_cub_sort(&sorting, l.key, none, &which, l.chunk, 0, l.bits);
    l.sort = sorting.bytes;
    return l;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    return problem->weighting != HISTO_UNWEIGHTED ? "it counts, but sums no weights" : NULL;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    layout l = layout_of(problem, params);
    return 2 * l.array + l.sort;
}

/* The job's samples are of one batch entry and at most a chunk. */
static histo_status count_chunk(const layout *l, const histo_job *job)
{
    enum { MIN = 1 << 12 };
    const int64_t max_blocks = 1 << 16;
    const histo_problem *p = job->problem;
    int64_t blocks = histo_cuda_resident(p->device, THREADS, 0);
    histo_cuda_work work = histo_cuda_work_of(job, blocks, MIN, l->chunk);
    void *arrays[2] = {job->workspace, (char *)job->workspace + l->array};
    int n = (int)(job->end - job->begin), which = 0;
    histo_cub_call sorting = {(char *)arrays[1] + l->array, l->sort, (cudaStream_t)job->stream};
    bool by_slot = l->by_slot, is_wide = l->key == sizeof(uint64_t);
    void *args[] = {&work, &arrays[0], &by_slot};
    histo_status status =
        histo_cuda_launch(job, is_wide ? (const void *)make_keys<uint64_t> : (const void *)make_keys<uint32_t>,
                          dim3((unsigned)(work.tiles < blocks ? work.tiles : blocks)), THREADS, 0, args);
    if (status == HISTO_OK)
        status = HISTO_CUDA(histo_cub_sort(&sorting, l->key, arrays, &which, n, 0, l->bits), "sorting samples");
    if (status != HISTO_OK) return status;
    void *search[] = {&work, &arrays[which], &n, &by_slot};
    int64_t groups = (work.counters + THREADS - 2) / (THREADS - 1);
    return histo_cuda_launch(job, is_wide ? (const void *)count_sorted<uint64_t> : (const void *)count_sorted<uint32_t>,
                             dim3((unsigned)(groups < max_blocks ? groups : max_blocks)), THREADS, 0, search);
}

static histo_status launch(const histo_job *job)
{
    layout l = layout_of(job->problem, job->params);
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        int64_t entry_end = (piece.begin / job->iter.per_batch + 1) * job->iter.per_batch;
        piece.end = job->end < entry_end ? job->end : entry_end;
        if (piece.end - piece.begin > l.chunk) piece.end = piece.begin + l.chunk;
        status = count_chunk(&l, &piece);
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_sort_search = {
    .unsupported_reason = unsupported_reason,
    .workspace = workspace,
    .launch = launch,
    .params = {{"chunk", MIN_CHUNK, 1 << 28, 1 << 24,
                "samples sorted at a time; the workspace holds two or three times as much"},
               {"by_slot", 0, 1, 0, "0: sort by the sample's value where that is all; 1: by its slot, in fewer steps"},
               {"overlap", 0, 1, 1, "samples from host memory; 1: copied while others are counted; 0: in turns"}},
};
