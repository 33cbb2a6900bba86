/* sort_search: sorts a chunk of samples, searches for the end of each slot's samples, and counts by difference.
 *
 * - Samples are sorted as unsigned integers of their own size, straight from where they are, if they are contiguous.
 *   Those without a sign bit come first, in the order of their values; then those with one, integers in the same order
 *   and floats in the other. So the samples that are not above a slot are the beginning of the first part, and the
 *   beginning or the end of the second. NaN ends both parts.
 * - Samples are compared with the edge at which a slot ends, as the paper's upper_bound does.
 * - Where more than the value decides (several axes, a mask, a filter), the slot is the key.
 * - A chunk lies within one batch entry. It bounds the workspace.
 *
 * Source: Milic et al. 2013, III.C, with CUB instead of Thrust, because CUB sorts on a stream and in memory that it is
 * given.
 * Bytes: each sample read and written once for each 8 bits, and read once more. Loses to counting wherever counters
 * fit; indifferent to skew, and nearly so to the number of bins. */
#include "cuda/device/any_sample.cuh"
#include "cuda/host/check.h"
#include "cuda/host/cub.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/edges.cuh"

enum { CHUNK, BY_SLOT };
enum { THREADS = 256, MIN_CHUNK = 1 << 10 };

/* ---- Samples as keys ---- */

/* Is the sample's slot at most this one? NaN has the last. */
template <histo_dtype type>
HISTO_IN_KERNEL bool is_up_to(const histo_lookup *l, histo_stored<type> x, int64_t slot)
{
    const auto v = histo_to_compute<type>(x);
    const int32_t n = l->bins;
    if (slot >= n + 2) return true;
    if (v != v) return false;
    if (slot > n) return true;
    if (l->kind == HISTO_SEARCH_WHOLE) return histo_any_lookup<type>(l).slot(x) <= slot;
    return slot < n ? histo_less(v, histo_edge_at(l, (int32_t)slot)) : !histo_is_over(l, v);
}

/* The first i in [low, high) for which is(i) is false, or high; it is true up to there. */
template <typename function>
HISTO_IN_KERNEL int first_not(int low, int high, function is)
{
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (is(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many of n sorted samples have at most this slot. */
template <histo_dtype type>
HISTO_IN_KERNEL int samples_up_to(const histo_lookup *l, const histo_stored<type> *x, int n, int64_t slot)
{
    const bool is_float = type > HISTO_I64;
    const auto is_sign_clear = [&](int i) {
        uint64_t bits = 0;
        memcpy(&bits, &x[i], sizeof *x);
        return !(bits >> (8 * sizeof *x - 1));
    };
    const auto value = [&](int i) { return histo_to_compute<type>(x[i]); };
    const bool has_sign = is_float || (histo_stored<type>)-1 < (histo_stored<type>)1;
    const int middle = has_sign ? first_not(0, n, is_sign_clear) : n;
    const int first = first_not(0, middle, [&](int i) { return is_up_to<type>(l, x[i], slot); });
    if (!is_float) return first + first_not(middle, n, [&](int i) { return is_up_to<type>(l, x[i], slot); }) - middle;
    /* Descending: numbers that are above the slot, those that are not, NaN. */
    const int numbers = first_not(middle, n, [&](int i) { return value(i) == value(i); });
    const int above = first_not(middle, numbers, [&](int i) { return !is_up_to<type>(l, x[i], slot); });
    const bool with_nan = slot >= l->bins + 2;
    return first + (with_nan ? n : numbers) - above;
}

/* ---- Kernels ---- */

/* The samples of a tile, of `size` bytes, one after the other; their slots instead, if that is 0. */
static __global__ void make_keys(const __grid_constant__ histo_cuda_work work, char *keys, int size)
{
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const histo_tile tile = histo_tile_at(&work, item);
        const int64_t first = item * work.samples_each;
        for (uint32_t offset = threadIdx.x; offset < tile.length; offset += blockDim.x) {
            histo_sample_place place = histo_sample_place_of(&work, &tile, offset);
            if (!size)
                ((uint32_t *)keys)[first + offset] = histo_slot_of_sample(&work, &place);
            else
                histo_with_dtype(work.dtypes[0], [&](auto of) {
                    using storage = histo_stored<of.type>;
                    ((storage *)keys)[first + offset] = histo_load<storage>(&work, 0, histo_address(&work, &place, 0));
                });
        }
    }
}

/* How many of n sorted keys have at most this slot. */
HISTO_IN_KERNEL int keys_up_to(const histo_cuda_work *w, const void *keys, int n, bool by_slot, int64_t slot)
{
    if (slot < 0) return 0;
    int count = 0;
    if (by_slot) return first_not(0, n, [&](int i) { return (int64_t)((const uint32_t *)keys)[i] <= slot; });
    histo_with_dtype(w->dtypes[0], [&](auto of) {
        count = samples_up_to<of.type>(&w->lookups[0], (const histo_stored<of.type> *)keys, n, slot);
    });
    return count;
}

/* Thread t finds where the slot before the block's t-th one ends; two neighbours' difference is a count. */
static __global__ void count_sorted(const __grid_constant__ histo_cuda_work work, const void *keys, int n, bool by_slot)
{
    __shared__ int ends[THREADS];
    unsigned long long *counts = work.counts + work.first_entry * work.counters;
    for (int64_t first = blockIdx.x * (int64_t)(THREADS - 1); first < work.counters;
         first += gridDim.x * (int64_t)(THREADS - 1)) {
        int64_t slot = first + threadIdx.x;
        ends[threadIdx.x] = keys_up_to(&work, keys, n, by_slot, slot - 1);
        __syncthreads();
        if (threadIdx.x < THREADS - 1 && slot < work.counters)
            counts[slot] += (unsigned long long)(ends[threadIdx.x + 1] - ends[threadIdx.x]);
        __syncthreads();
    }
}

/* ---- The host's side ---- */

typedef struct layout {
    bool by_slot;
    size_t size;        /* bytes of a key */
    int bits;           /* of a key that count */
    int64_t chunk;      /* samples sorted at a time */
    size_t array, sort; /* bytes of each array of keys, and for the sort */
} layout;

static layout layout_of(const histo_problem *p, const int64_t *params)
{
    layout l;
    l.by_slot = params[BY_SLOT] || p->operands > 1;
    l.size = l.by_slot ? sizeof(uint32_t) : histo_dtype_size(p->dtypes[0]);
    l.bits = l.by_slot ? 1 : (int)l.size * 8;
    while (l.by_slot && p->slots >> l.bits)
        l.bits++;
    int64_t each = p->samples / p->batch + 1;
    if (each < MIN_CHUNK) each = MIN_CHUNK;
    l.chunk = each < params[CHUNK] ? each : params[CHUNK];
    l.array = ((size_t)l.chunk * l.size + 255) / 256 * 256;
    histo_cub_call sorting = {};
    histo_cub_sort_from(&sorting, l.size, NULL, NULL, l.chunk, l.bits);
    l.sort = sorting.bytes;
    return l;
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
    void *made = job->workspace, *sorted = (char *)made + l->array;
    const void *from = made;
    int n = (int)(job->end - job->begin), size = l->by_slot ? 0 : (int)l->size;
    histo_cub_call sorting = {(char *)sorted + l->array, l->sort, (cudaStream_t)job->stream};
    bool by_slot = l->by_slot;
    histo_status status = HISTO_OK;
    if (!by_slot && p->batch == 1 && !job->iter.offsets && histo_cuda_reader_of(&work) != HISTO_READ_ANY) {
        from = job->iter.base[0] + job->begin * (int64_t)l->size;
    } else {
        void *args[] = {&work, &made, &size};
        status = histo_cuda_launch(job, (const void *)make_keys,
                                   dim3((unsigned)(work.tiles < blocks ? work.tiles : blocks)), THREADS, 0, args);
    }
    if (status == HISTO_OK)
        status = HISTO_CUDA(histo_cub_sort_from(&sorting, l->size, from, sorted, n, l->bits), "sorting samples");
    if (status != HISTO_OK) return status;
    void *search[] = {&work, &sorted, &n, &by_slot};
    int64_t groups = (work.counters + THREADS - 2) / (THREADS - 1);
    return histo_cuda_launch(job, (const void *)count_sorted,
                             dim3((unsigned)(groups < max_blocks ? groups : max_blocks)), THREADS, 0, search);
}

static histo_status launch(const histo_job *job)
{
    layout l = layout_of(job->problem, job->params);
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        piece.end = histo_cuda_piece_end(job, piece.begin, l.chunk);
        status = count_chunk(&l, &piece);
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_sort_search = {
    .unsupported_reason = histo_cuda_weights_unsupported,
    .workspace = workspace,
    .launch = launch,
    .params = {{"chunk", MIN_CHUNK, 1 << 28, 1 << 28,
                "samples sorted at a time; the workspace holds three or four times as much"},
               {"by_slot", 0, 1, 0, "0: sort by the sample's value where that is all; 1: by its slot, in fewer steps"},
               {"overlap", 0, 1, 1, "samples from host memory; 1: copied while others are counted; 0: in turns"}},
};
