/* Few samples, in all or in each of many batch entries, which are contiguous in each entry.
 *
 * The time of such a fill is latency: of the launch, of the first instructions and arguments, of a load, and of
 * clearing and merging counters. The kernels of lane_private have many copies of the counters. These have one
 * copy in each block, and several small blocks on a multiprocessor: while one merges, others count. The hardware
 * combines lanes that add 1 to the same counter, and neighbouring slots are spread over the banks. So one copy is too
 * slow only where many samples arrive at the full memory bandwidth. A block loads the first samples of its next item
 * before it merges the current one.
 *
 * Bytes: each sample once; the touched counters of each item, read and written. Bound: latency, or memory bandwidth.
 * Wins below some 8 MB of samples, and where batch entries are short. */
#ifndef CUDA_FEW_SAMPLES_CONTIGUOUS_CUH
#define CUDA_FEW_SAMPLES_CONTIGUOUS_CUH

#include "cuda/device/any_sample.cuh"
#include "cuda/device/touched.cuh"

/* FEW_THREADS: of a block, at most. FEW_DIMS: batch dimensions. */
enum { FEW_THREADS = 512, FEW_VALUES = 256, FEW_DIMS = 2 };

/* How many blocks of FEW_THREADS a multiprocessor can hold: a limit for registers. */
constexpr int few_blocks(size_t sample_bytes)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
    return sample_bytes == 1 ? 4 : 2;
#else
    return 2;
#endif
}

/* Vectors of 16 bytes that a thread loads at once. */
constexpr int few_vectors(size_t sample_bytes)
{
    return sample_bytes == 1 ? 1 : 2;
}

/* The work, in items: batch entries, or pieces of them. The samples of an entry are contiguous. */
typedef struct few_args {
    const char *samples;        /* of entry 0 */
    int64_t strides[FEW_DIMS];  /* bytes from an entry to the next, in the outer and the inner batch dimension */
    unsigned long long *counts; /* of entry 0 */
    int64_t counters;           /* of an entry in device memory */
    uint32_t slots;             /* counters of an entry that can be nonzero */
    uint32_t words;             /* of counters in shared memory */
    uint32_t first, items;      /* the first entry; items in all */
    uint32_t inner, pieces;     /* entries of the inner dimension; pieces of an entry */
    histo_divisor by_inner, by_pieces;
    uint32_t length, each; /* samples of an entry; of a piece, at most */
    bool folds;            /* counting by value: several values share a slot */
    bool searches;         /* the lookup is a binary search in the edges */
    bool copies;           /* each block has a copy of the edges in shared memory */
    uint32_t log_touched;  /* the size of the table of touched slots, as a power of 2; else 0 */

    /* Ragged segments: of samples [begin, end), entry e counts offsets[e] … offsets[e + 1] - 1. Items begin where an
     * entry begins, and at the `ragged_pieces` multiples of `each`, so that no block gets too many samples or entries.
     */
    const int64_t *offsets;
    int64_t begin, end;
    uint32_t batch, ragged_pieces;
    histo_lookup lookup;
} few_args;

/* ---- Items ---- */

/* Samples pad … end - 1, counted from `at`, which is a multiple of 16 bytes. end is 0 if there are no more items. */
typedef struct few_span {
    const char *at;
    uint32_t pad, end;
    uint32_t entry;
} few_span;

HISTO_IN_KERNEL few_span few_span_of(const char *at, uint32_t samples, uint32_t size, uint32_t entry)
{
    uint32_t beyond = (uint32_t)(uint64_t)at & 15;
    return {at - beyond, beyond / size, beyond / size + samples, entry};
}

/* The items of a block, one after the other. */
struct few_items {
    const few_args *a;
    uint32_t item;         /* the next one; ragged: how many are left */
    uint32_t piece, entry; /* ragged: how many of each have begun */

    HISTO_MEMBER explicit few_items(const few_args *args) : a(args), item(blockIdx.x), piece(0), entry(0)
    {
        if (a->offsets) begin_ragged();
    }

    HISTO_MEMBER few_span next(uint32_t size)
    {
        if (a->offsets) return next_ragged(size);
        if (item >= a->items) return {NULL, 0, 0, 0};
        uint32_t its = histo_divide(item, a->by_pieces), begin = (item - its * a->pieces) * a->each;
        item += gridDim.x;
        its += a->first;
        uint32_t outer = histo_divide(its, a->by_inner);
        const char *at = a->samples + outer * a->strides[0] + (its - outer * a->inner) * a->strides[1];
        return few_span_of(at + (int64_t)begin * size, min(a->each, a->length - begin), size, its);
    }

  private:
    HISTO_MEMBER int64_t piece_begin(uint32_t i) const { return a->begin + (int64_t)i * a->each; }

    /* Items are the beginnings of pieces and entries, merged in order; a piece comes before an entry that begins at the
     * same sample. All blocks take about equally many. Bisection finds how many entries begin before a block's first
     * item.
     */
    HISTO_MEMBER void begin_ragged()
    {
        uint32_t first = (uint32_t)((uint64_t)a->items * blockIdx.x / gridDim.x);
        uint32_t last = (uint32_t)((uint64_t)a->items * (blockIdx.x + 1) / gridDim.x);
        uint32_t low = first < a->ragged_pieces ? 0 : first - a->ragged_pieces, high = min(first, a->batch);
        while (low < high) {
            uint32_t middle = low + (high - low + 1) / 2, before = first - middle;
            if (before >= a->ragged_pieces || a->offsets[middle - 1] < piece_begin(before))
                low = middle;
            else
                high = middle - 1;
        }
        entry = low;
        piece = first - low;
        item = last - first;
    }

    HISTO_MEMBER few_span next_ragged(uint32_t size)
    {
        while (item > 0) {
            item--;
            if (piece < a->ragged_pieces && (entry >= a->batch || piece_begin(piece) <= a->offsets[entry]))
                piece++;
            else
                entry++;
            if (piece == 0 || entry == 0) continue;
            int64_t begin = piece_begin(piece - 1), end = piece < a->ragged_pieces ? piece_begin(piece) : a->end;
            int64_t first = a->offsets[entry - 1], last = a->offsets[entry];
            begin = begin > first ? begin : first;
            end = end < last ? end : last;
            if (begin < end)
                return few_span_of(a->samples + begin * (int64_t)size, (uint32_t)(end - begin), size, entry - 1);
        }
        return {NULL, 0, 0, 0};
    }
};

/* ---- Samples ---- */

/* The samples that a thread loads in a step of its block. */
template <histo_dtype type>
struct few_step {
    using storage = histo_stored<type>;
    enum { VECTORS = few_vectors(sizeof(storage)), PER_VECTOR = 16 / (int)sizeof(storage) };
    enum { SAMPLES = VECTORS * PER_VECTOR };
    storage x[SAMPLES];

    /* The first sample of a vector, counted from span->at. */
    static HISTO_MEMBER uint32_t first(uint32_t at, int vector)
    {
        return at + ((uint32_t)vector * blockDim.x + threadIdx.x) * PER_VECTOR;
    }

    static HISTO_MEMBER bool is_whole(const few_span *span, uint32_t first)
    {
        return first >= span->pad && first + PER_VECTOR <= span->end;
    }

    static HISTO_MEMBER bool is_in(const few_span *span, uint32_t sample)
    {
        return sample >= span->pad && sample < span->end;
    }

    HISTO_MEMBER void load(const few_span *span, uint32_t at)
    {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            uint32_t begin = first(at, v);
            const storage *from = (const storage *)span->at + begin;
            uint4 words = {0, 0, 0, 0};
            if (is_whole(span, begin)) words = __ldcs((const uint4 *)from);
            memcpy(&x[v * PER_VECTOR], &words, sizeof words);
            if (!is_whole(span, begin) && begin < span->end)
#pragma unroll
                for (int k = 0; k < PER_VECTOR; k++)
                    if (is_in(span, begin + k)) x[v * PER_VECTOR + k] = from[k];
        }
    }
};

/* ---- Lookups ---- */

/* The slots of some samples. edges: for a binary search. */
template <histo_dtype type, int N>
HISTO_IN_KERNEL void few_slots(const few_args *a, const double *edges, const histo_stored<type> (&x)[N],
                               uint32_t (&slot)[N])
{
    if (a->searches)
        histo_search_lookup<type, N>(&a->lookup, edges).slots(x, slot);
    else
        histo_any_lookup<type>(&a->lookup).slots(x, slot);
}

/* ---- Counters ---- */

/* A counter for each slot. */
template <histo_dtype type>
struct few_dense {
    const few_args *a;
    unsigned int *counters;

    HISTO_MEMBER few_dense(const few_args *args, unsigned int *shared) : a(args), counters(shared)
    {
        for (uint32_t i = threadIdx.x; i < a->words / 4; i += blockDim.x)
            ((uint4 *)shared)[i] = make_uint4(0, 0, 0, 0);
        double *edges = (double *)(shared + a->words);
        if (a->copies) histo_copy_table(a->lookup.edges, (uint32_t)a->lookup.bins + 1, edges);
        __syncthreads();
    }

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        few_slots<type>(a, a->copies ? (const double *)(counters + a->words) : a->lookup.edges, x, slot);
    }

    HISTO_MEMBER void count(uint32_t slot) const { atomicAdd(&counters[histo_spread(slot)], 1u); }

    /* Read counter i and clear it. */
    static HISTO_MEMBER unsigned int take(unsigned int *of, uint32_t i)
    {
        unsigned int *at = &of[histo_spread(i)], n = *at;
        if (n) *at = 0;
        return n;
    }

    HISTO_MEMBER void merge(unsigned int *slots, unsigned long long *counts) const
    {
        __syncthreads();
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < a->slots; i += blockDim.x) {
            unsigned int n = take(slots, i);
            if (n) atomicAdd(&counts[i], (unsigned long long)n);
        }
        __syncthreads();
    }

    HISTO_MEMBER void merge(unsigned long long *counts) const
    {
        merge(counters, counts);
    }
};

/* A counter for each 8-bit value; and if values share slots, also one for each slot. */
template <histo_dtype type>
struct few_by_value : few_dense<type> {
    using few_dense<type>::few_dense;

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = (uint8_t)x[k];
    }

    HISTO_MEMBER void merge(unsigned long long *counts) const
    {
        const few_args *a = this->a;
        unsigned int *folded = this->counters + histo_spread(FEW_VALUES);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < FEW_VALUES; i += blockDim.x) {
            unsigned int n = this->take(this->counters, i);
            if (!n) continue;
            uint32_t slot = __ldg(&a->lookup.table[i]);
            if (a->folds)
                atomicAdd(&folded[histo_spread(slot)], n);
            else
                atomicAdd(&counts[slot], (unsigned long long)n);
        }
        if (a->folds)
            few_dense<type>::merge(folded, counts);
        else
            __syncthreads();
    }
};

/* A counter for each slot that occurs often; other samples are counted in device memory (touched.cuh). */
template <histo_dtype type>
struct few_touched {
    const few_args *a;
    histo_touched touched;

    HISTO_MEMBER few_touched(const few_args *args, unsigned int *shared) : a(args), touched(shared, args->log_touched)
    {
        touched.clear();
    }

    template <int N>
    HISTO_MEMBER void slots(const histo_stored<type> (&x)[N], uint32_t (&slot)[N]) const
    {
        few_slots<type>(a, a->lookup.edges, x, slot);
    }

    HISTO_MEMBER void count(uint32_t slot) const { touched.count(slot, &a->counts[a->first * a->counters]); }

    HISTO_MEMBER void merge(unsigned long long *counts) const { touched.merge(counts); }
};

/* ---- The kernel ---- */

template <histo_dtype type, class counter>
HISTO_IN_KERNEL void few_count_step(const counter &counters, const few_span *span, uint32_t at, const few_step<type> *s)
{
    using step = few_step<type>;
    enum { GROUP = histo_sample<type>::PER_STEP, PER_VECTOR = step::PER_VECTOR };
    if (step::first(at, 0) >= span->end) return;
#pragma unroll
    for (int g = 0; g < (int)step::SAMPLES; g += GROUP) {
        histo_stored<type> x[GROUP];
        uint32_t slot[GROUP];
        memcpy(x, &s->x[g], sizeof x);
        counters.slots(x, slot);
#pragma unroll
        for (int v = 0; v < (int)GROUP / PER_VECTOR; v++) {
            uint32_t first = step::first(at, g / PER_VECTOR + v);
            bool whole = step::is_whole(span, first);
#pragma unroll
            for (int k = 0; k < PER_VECTOR; k++)
                if (whole || step::is_in(span, first + k)) counters.count(slot[v * PER_VECTOR + k]);
        }
    }
}

template <histo_dtype type, template <histo_dtype> class counter>
static __global__ void __launch_bounds__(FEW_THREADS, few_blocks(sizeof(histo_stored<type>)))
    few_count(const __grid_constant__ few_args a)
{
    extern __shared__ __align__(16) unsigned int shared[];
    const uint32_t size = sizeof(histo_stored<type>);
    few_items items(&a);
    few_span span = items.next(size);
    few_step<type> loaded;
    loaded.load(&span, 0);
    const counter<type> counters(&a, shared);
    while (span.end) {
        few_span now = span;
        for (uint32_t at = 0; at < now.end;) {
            few_step<type> counted = loaded;
            uint32_t next = at + blockDim.x * few_step<type>::SAMPLES;
            if (next >= now.end) span = items.next(size);
            loaded.load(&span, next < now.end ? next : 0);
            few_count_step<type>(counters, &now, at, &counted);
            at = next;
        }
        counters.merge(a.counts + now.entry * a.counters);
    }
}

#endif
