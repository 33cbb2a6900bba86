/* sort_runs: the slots of a chunk of samples are sorted, and each run of equal slots becomes a pair: a slot and its
 * count.
 *
 * - A slot holds the batch entry too; samples left out have slots behind all others. A chunk is any part of the
 *   samples. Slots of a chunk have 32 bits if that is enough for the whole batch, else 64.
 * - Equal slots need only be adjacent, not in order. Slots of 64 bits are multiplied by an odd number, which can be
 *   undone, and sorted by the upper 32 bits of the product alone: four passes of CUB's radix sort, however many bits a
 *   slot has. Different slots with the same upper bits may split each other's run, which adds pairs and changes no
 *   count.
 * - Pairs are appended to a list in device memory. When there is no room for those of another chunk, the list is sorted
 *   by slot and equal ones are joined; if it is then still more than half full, a larger one is allocated. A list of
 *   the largest size is brought to the host.
 * - In a histogram of few slots, other strategies may count in dense counters. Those that are occupied become pairs,
 *   too, when the host asks for the counts.
 *
 * The number of runs decides what comes next, so that the host waits for each chunk.
 *
 * Bytes: each sample once; its slot of 4 or 8 bytes written, read and written in each of four or fewer radix passes,
 * and read twice more. Bound by the radix sort, and indifferent to skew and to the number of slots: it wins where slots
 * are too many for counters, and nowhere else. Source: sort-based aggregation; CUB's radix sort, selection and
 * reduction by key. Sorting by some bits of a product is ours. */
#include "cuda/host/check.h"
#include "cuda/host/cub.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/several_axes.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/sparse.h"
#include "plan/accumulators.h"

enum { CHUNK, PAIRS };
enum { THREADS = 256, MIN_CHUNK = 1 << 10, SORTED_BITS = 32 };

/* Odd, and its inverse modulo 2^64. */
static const uint64_t FACTOR = UINT64_C(0x9e3779b97f4a7c15), INVERSE = UINT64_C(0xf1de83e19937733d);

typedef histo_cub_word word;

/* ---- Slots of a chunk ---- */

struct numbering {
    uint64_t factor; /* of slots; 1 for those of 32 bits */
    uint64_t all;    /* slots of the batch */
};

/* Where the first sample of a tile is in the chunk. */
HISTO_IN_KERNEL int64_t position_of_tile(const histo_cuda_work *w, int64_t item, int64_t entry, int64_t sample)
{
    if (w->iter.offsets) return sample - w->begin;
    int64_t first = entry * w->iter.per_batch;
    return (first < w->begin ? 0 : first - w->begin) + item % w->tiles_per_entry * w->samples_each;
}

template <typename SLOT>
static __global__ void number_any(const __grid_constant__ histo_cuda_work work, numbering by, SLOT *out)
{
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_at(&work, item);
        SLOT *at = out + position_of_tile(&work, item, tile.entry, tile.index[0]);
        for (uint32_t offset = threadIdx.x; offset < tile.length; offset += blockDim.x) {
            histo_sample_place place = histo_sample_place_of(&work, &tile, offset);
            uint64_t slot = (uint64_t)tile.entry;
            for (int a = 0; a < work.naxes; a++)
                slot = slot * ((uint64_t)work.lookups[a].bins + 3) +
                       histo_slot_at(&work, a, histo_address(&work, &place, a));
            if (histo_is_left_out(&work, &place)) slot = by.all + (uint64_t)tile.entry;
            at[offset] = (SLOT)(slot * by.factor);
        }
    }
}

/* Several axes and nothing else, each one contiguous run or of one stride. */
template <typename SLOT>
static __global__ void number_columns(const __grid_constant__ histo_cuda_work work,
                                      const __grid_constant__ histo_joint joint, numbering by, SLOT *out)
{
    enum { N = histo_columns_reader::PER_STEP, RUN = histo_columns_reader::RUN };
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_joint_tile tile = histo_tile_joint(&work, &joint, item);
        SLOT *to = out + position_of_tile(&work, item, tile.entry, tile.first);
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * N) {
            SLOT slot[N];
            histo_column_words next;
            histo_load_column(&work, &tile, at, 0, histo_column(&work, &tile, 0), joint.sizes[0], RUN, &next);
#pragma unroll
            for (int k = 0; k < N; k++)
                slot[k] = (SLOT)tile.entry;
#pragma unroll 1
            for (int a = 0; a < work.naxes; a++) {
                const histo_column_words now = next;
                uint32_t on_axis[N] = {0};
                if (a + 1 < work.naxes)
                    histo_load_column(&work, &tile, at, a + 1, histo_column(&work, &tile, a + 1), joint.sizes[a + 1],
                                      RUN, &next);
                histo_add_column(&work, &joint, NULL, a, work.dtypes[a], &now, on_axis);
#pragma unroll
                for (int k = 0; k < N; k++)
                    slot[k] = slot[k] * (SLOT)(work.lookups[a].bins + 3) + on_axis[k];
            }
#pragma unroll
            for (int k = 0; k < N; k++) {
                uint32_t i = histo_column_index(at, k, RUN);
                if (i < tile.length) to[i] = slot[k] * (SLOT)by.factor;
            }
        }
    }
}

/* The pairs of n sorted slots, whose runs begin at `begins`. */
template <typename SLOT>
static __global__ void make_pairs(const SLOT *sorted, int64_t n, const uint32_t *begins, int64_t runs, uint64_t inverse,
                                  word *slots, word *counts)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < runs; i += gridDim.x * (int64_t)blockDim.x) {
        const int64_t begin = begins[i], end = i + 1 < runs ? begins[i + 1] : n;
        slots[i] = sorted[begin] * inverse;
        counts[i] = (word)(end - begin);
    }
}

/* Bytes that CUB needs for n slots of a chunk. */
static size_t bytes_of_chunk(size_t slot, int64_t n)
{
    histo_cub_call sorting = {}, finding = {};
    void *const none[2] = {NULL, NULL};
    int which = 0;
    histo_cub_sort(&sorting, slot, none, &which, n, 0, 8 * (int)slot);
    histo_cub_find_runs(&finding, slot, NULL, n, NULL, NULL);
    return sorting.bytes > finding.bytes ? sorting.bytes : finding.bytes;
}

/* ---- The strategy ---- */

struct sort_layout {
    int64_t chunk;
    bool is_long;      /* slots are of 64 bits */
    size_t array, cub; /* bytes of each of two arrays of slots, and for CUB */
};

static sort_layout layout_of(const histo_problem *p, const int64_t *params)
{
    sort_layout l;
    l.chunk = p->samples < MIN_CHUNK ? (int64_t)MIN_CHUNK : p->samples;
    const int64_t defaults = histo_cuda_device_of(p->device)->memory >= (size_t)32 << 30 ? 1 << 26 : 1 << 24;
    int64_t most = params[CHUNK] ? params[CHUNK] : defaults;
    if (most < MIN_CHUNK) most = MIN_CHUNK;
    if (l.chunk > most) l.chunk = most;
    l.is_long = histo_cuda_sparse_bits(p->batch, p->slots) > SORTED_BITS;
    /* Once sorted, the other array of slots holds the 32-bit indices of runs. */
    l.array = ((size_t)l.chunk * (l.is_long ? sizeof(word) : sizeof(uint32_t)) + 255) / 256 * 256;
    l.cub = bytes_of_chunk(l.is_long ? sizeof(word) : sizeof(uint32_t), l.chunk);
    return l;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    const double launches_us = 200; /* all kernels of a chunk, and the host's wait for the number of runs */
    const double words_per_us = 4e4, long_words_per_us = 2e4;
    const bool is_long = histo_cuda_sparse_bits(p->batch, p->slots) > SORTED_BITS;
    return launches_us + (double)p->samples / (is_long ? long_words_per_us : words_per_us);
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    sort_layout l = layout_of(problem, params);
    return 2 * l.array + l.cub + sizeof(word);
}

template <typename SLOT>
static histo_status number(const histo_job *job, const numbering *by, SLOT *out)
{
    enum { MIN = 1 << 12 };
    int64_t blocks = histo_cuda_resident(job->problem->device, THREADS, 0);
    histo_cuda_work work = histo_cuda_work_of(job, blocks, MIN, 1 << 28);
    histo_joint joint;
    const bool are_columns = histo_cuda_joint_of(&work, &joint) != HISTO_NOT_JOINT;
    numbering numbers = *by;
    void *any[] = {&work, &numbers, &out}, *columns[] = {&work, &joint, &numbers, &out};
    return histo_cuda_launch(job, are_columns ? (const void *)number_columns<SLOT> : (const void *)number_any<SLOT>,
                             dim3((unsigned)(work.tiles < blocks ? work.tiles : blocks)), THREADS, 0,
                             are_columns ? columns : any);
}

template <typename SLOT>
static histo_status append(const histo_job *job, histo_cuda_sparse *s, const SLOT *sorted, const uint32_t *begins,
                           int64_t runs, uint64_t inverse)
{
    const int64_t max_blocks = 1 << 16;
    int64_t n = job->end - job->begin, blocks = (runs + THREADS - 1) / THREADS;
    word *slots = s->slots[0] + s->n, *counts = s->counts[0] + s->n;
    void *args[] = {&sorted, &n, &begins, &runs, &inverse, &slots, &counts};
    s->n += runs;
    return histo_cuda_launch(job, (const void *)make_pairs<SLOT>,
                             dim3((unsigned)(blocks < max_blocks ? blocks : max_blocks)), THREADS, 0, args);
}

/* Count a job of at most a chunk of samples. */
template <typename SLOT>
static histo_status count_chunk(const sort_layout *l, const histo_job *job, histo_cuda_accumulators *accumulators)
{
    histo_cuda_sparse *s = &accumulators->sparse;
    const int bits = histo_cuda_sparse_bits(accumulators->batch, accumulators->slots);
    const numbering by = {l->is_long ? FACTOR : 1, (uint64_t)accumulators->batch * (uint64_t)accumulators->slots};
    void *const arrays[2] = {job->workspace, (char *)job->workspace + l->array};
    word *runs = (word *)((char *)job->workspace + 2 * l->array);
    histo_cub_call call = {runs + 1, l->cub, (cudaStream_t)job->stream};
    const int64_t n = job->end - job->begin;
    int which = 0;
    histo_status status = number(job, &by, (SLOT *)arrays[0]);
    if (status == HISTO_OK)
        status = HISTO_CUDA(histo_cub_sort(&call, sizeof(SLOT), arrays, &which, n, l->is_long ? 64 - SORTED_BITS : 0,
                                           l->is_long ? 64 : bits),
                            "sorting slots");
    call.bytes = l->cub;
    uint32_t *begins = (uint32_t *)arrays[1 - which];
    if (status == HISTO_OK)
        status = HISTO_CUDA(histo_cub_find_runs(&call, sizeof(SLOT), arrays[which], n, begins, runs), "finding runs");
    int64_t more;
    if (status == HISTO_OK) status = histo_cuda_read_number(runs, (cudaStream_t)job->stream, &more);
    return status == HISTO_OK ? append(job, s, (const SLOT *)arrays[which], begins, more, l->is_long ? INVERSE : 1)
                              : status;
}

static histo_status launch(const histo_job *job)
{
    sort_layout l = layout_of(job->problem, job->params);
    histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        piece.end = job->end - piece.begin < l.chunk ? job->end : piece.begin + l.chunk;
        status = histo_cuda_sparse_reserve(accumulators, job->accumulators, piece.end - piece.begin, job->params[PAIRS],
                                           (cudaStream_t)job->stream);
        if (status == HISTO_OK)
            status = l.is_long ? count_chunk<word>(&l, &piece, accumulators)
                               : count_chunk<uint32_t>(&l, &piece, accumulators);
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_sort_runs = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"chunk", 0, 1 << 28, 0,
                "samples sorted at a time, 1024 at least, of 8 or 16 bytes of workspace each; 0: 2^26, or 2^24 where "
                "there is little memory"},
               {"pairs", 1, 1 << 29, 1 << 28,
                "occupied slots kept on the device, of 32 bytes each; more are brought to the host"}},
    .ragged = true,
    .sparse = true,
    .any_edges = true,
    .any_bytes = true,
};
