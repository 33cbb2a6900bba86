/* packed_window: a window, the range of slots where samples are dense, is counted on chip in packed counters of 16 or 8
 * bits; every sample outside it is one atomic addition to the histogram in device memory.
 *
 * - The window is given, or found: for each batch entry, a block counts a sample of 16384 slots in 2048 cells and takes
 *   the run of cells of the window's length that has most; if the cells are wide against the window, again within that
 *   run. The window stays in device memory, so that the host waits for nothing. Wherever it is, the counts are exact:
 *   it decides only where a sample is counted.
 * - Additions return the old word, which tells what overflowed. All additions of a step are made before the first
 *   answer is looked at; samples that are elsewhere add to spare counters, so that nothing branches; one vote of the
 *   warp tells whether anything is due. What is rare is a bit for each sample of a thread, and all threads of a warp do
 *   their first at once, then their second, …
 * - Where many samples of a step are equal: if all are of two slots, each slot gets one addition of their number. Else
 *   frequent slots get 32-bit counters in a small table, of samples as of overflows; additions are one each, which the
 *   hardware joins where lanes meet. What finds no place in the table goes to device memory. Where the table holds few
 *   of the samples, as of images' runs, which are soon of others, it is not asked for some steps.
 * - Most integers and floats are in bins of the window, so they are looked up as if all were, the others again.
 * - Words are spread by one in 234, so that slots at equal distances do not share a bank.
 * - 16-bit samples are counted by their value, of which there are 65536, and values become slots in the merge.
 * - Pairs of images are computed in registers, from a word of each image (pairs.cuh).
 *
 * Source: Ross 2014, 5.8.3 (partitioning), with the packed counters of 5.2 and 5.3; the window found by sampling, and
 * the table, are ours. Bytes: each sample once, and an atomic operation in the L2 cache for each outside the
 * window. Wins where 32-bit counters do not fit on chip and packed ones do, to about 225 000 slots, and beyond that
 * where samples cluster, as a wafer's; loses to partitioning where they do not. */
#include <float.h>
#include <math.h>

#include "cuda/block.cuh"
#include "cuda/joint.cuh"
#include "cuda/packed.cuh"
#include "cuda/pairs.cuh"

enum { FIRST, LENGTH, BITS, BLOCKS, THREADS };
enum { CELLS = 2048, FIND_THREADS = 1024, SAMPLED_EACH = 16 };
enum { WARP = 32, VALUES = 1 << 16 };

/* What kernels need to know of the window. */
typedef struct window {
    uint32_t size;           /* counters */
    uint32_t words;          /* of shared memory, with the spare ones */
    uint32_t first;          /* where found is NULL */
    uint32_t *found;         /* [batch] */
    uint32_t inner;          /* bins 0 to inner - 1 of the axis are looked up fast */
    float below;             /* the last float below the axis */
    double origin;           /* where 0 is, in bins from the axis' beginning */
    float scale, offset;     /* a float times the one, rounded down to the other's last place: 2^23 and its bin */
    histo_scaling scaling;   /* of pairs' differences, */
    histo_stacking stacking; /* and of their images */
} window;

typedef struct layout {
    window w;
    int bits;
    size_t shared;   /* bytes */
    uint32_t firsts; /* the word of it where first floats are, for several axes */
    int threads;
    int64_t blocks;
    bool is_found; /* else given, or all slots */
} layout;

/* ---- Finding the window ---- */

/* Threads' own samples of a batch entry. */
HISTO_IN_KERNEL void sample(const histo_cuda_work *w, uint32_t *slot)
{
#pragma unroll 1
    for (uint32_t k = 0; k < SAMPLED_EACH; k++) {
        uint32_t its_slot = histo_slot_sampled(w, w->first_entry + blockIdx.x, k * FIND_THREADS + threadIdx.x,
                                               FIND_THREADS * SAMPLED_EACH);
#pragma unroll
        for (uint32_t i = 0; i < SAMPLED_EACH; i++) /* keeps slot[] in registers */
            slot[i] = i == k ? its_slot : slot[i];
    }
}

/* cells[i] becomes the sum of cells up to i. */
HISTO_IN_KERNEL void add_up(uint32_t *cells)
{
    for (uint32_t distance = 1; distance < CELLS; distance *= 2) {
        uint32_t below[CELLS / FIND_THREADS];
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < CELLS / FIND_THREADS; k++) {
            uint32_t i = k * FIND_THREADS + threadIdx.x;
            below[k] = i >= distance ? cells[i - distance] : 0;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < CELLS / FIND_THREADS; k++)
            cells[k * FIND_THREADS + threadIdx.x] += below[k];
    }
    __syncthreads();
}

HISTO_IN_KERNEL uint32_t in_run(const uint32_t *summed, uint32_t start, uint32_t run)
{
    return summed[start + run - 1] - (start ? summed[start - 1] : 0);
}

/* The start of the run of cells that has most; in the middle of those that are as good. */
HISTO_IN_KERNEL uint32_t best_start(const uint32_t *summed, uint32_t run)
{
    __shared__ uint32_t most, lowest, highest;
    if (threadIdx.x == 0) {
        most = highest = 0;
        lowest = CELLS;
    }
    __syncthreads();
    for (uint32_t start = threadIdx.x; start + run <= CELLS; start += FIND_THREADS)
        atomicMax(&most, in_run(summed, start, run));
    __syncthreads();
    for (uint32_t start = threadIdx.x; start + run <= CELLS; start += FIND_THREADS)
        if (in_run(summed, start, run) == most) {
            atomicMin(&lowest, start);
            atomicMax(&highest, start);
        }
    __syncthreads();
    uint32_t middle = lowest + (highest - lowest) / 2;
    return in_run(summed, middle, run) == most ? middle : lowest;
}

/* Block x finds the window of the x-th batch entry of the job. */
static __global__ void __launch_bounds__(FIND_THREADS, 1)
    find(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)
{
    __shared__ uint32_t cells[CELLS];
    enum { FINE = 32 }; /* cells in a window, at least */
    uint32_t slot[SAMPLED_EACH], counters = (uint32_t)work.counters, size = w.size;
    uint32_t first = 0, span = counters; /* the window is in here */
    sample(&work, slot);
    for (;;) {
        uint32_t shift = 0;
        while ((span - 1) >> shift >= CELLS)
            shift++;
        for (uint32_t i = threadIdx.x; i < CELLS; i += FIND_THREADS)
            cells[i] = 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SAMPLED_EACH; k++)
            if (slot[k] - first < span) atomicAdd(&cells[(slot[k] - first) >> shift], 1u);
        add_up(cells);
        uint32_t run = size >> shift;
        run = run < 1 ? 1 : run > CELLS ? CELLS : run;
        uint32_t start = first + (best_start(cells, run) << shift), around = 1u << shift;
        if (around <= size / FINE || shift == 0) {
            first = start;
            break;
        }
        first = start > around ? start - around : 0;
        span = (run + 2) << shift;
        if (span > counters - first) span = counters - first;
        __syncthreads();
    }
    if (threadIdx.x == 0) w.found[work.first_entry + blockIdx.x] = first < counters - size ? first : counters - size;
}

/* ---- Words ---- */

/* Counters of 6 bits are five to a word, whose upper two bits are nobody's. */
enum { FIVES = 6 };

HISTO_IN_KERNEL uint32_t shift_of(const histo_packing *p, uint32_t at)
{
    return p->bits == FIVES ? at % 5 * FIVES : histo_packed_shift(p, at);
}

/* at / 5, below 2^30. */
HISTO_IN_KERNEL uint32_t fifth(uint32_t at)
{
    return __umulhi(at, UINT32_MAX / 5 + 1);
}

/* A counter's word: neighbours share one, and a word has one in 234 fewer of them than fit, but of fives: equal
 * distances of these that are no multiple of 5 are none in words. Which of the word's counters it is says its number
 * alone, so that the word's first one may be any of them. */
HISTO_IN_KERNEL uint32_t spread_word(const histo_packing *p, uint32_t at)
{
    const uint32_t whole = p->bits << 27, part = whole / 234; /* of a word, times 2^32: a counter's */
    return p->bits == FIVES ? fifth(at) : __umulhi(at, whole + part + 1);
}

/* The counter above this one in its word, or HISTO_NO_SLOT. */
HISTO_IN_KERNEL uint32_t above(const histo_packing *p, uint32_t at)
{
    const uint32_t each = 32 / p->bits, next = at + 1, word = spread_word(p, at);
    if (shift_of(p, at) + 2 * p->bits > 32) return HISTO_NO_SLOT;
    if (p->bits == FIVES || spread_word(p, next) == word) return next;
    return next >= each && spread_word(p, next - each) == word ? next - each : HISTO_NO_SLOT;
}

/* Bits between counter `at` and the top of its word, modulo 32: 1 << (32 - bits) shifted down by it is one of that
 * counter, and the word shifted up by it begins with the counter. */
HISTO_IN_KERNEL uint32_t lift(const histo_packing *p, uint32_t at)
{
    if (p->bits == FIVES) return 32 - FIVES - FIVES * at - 2 * fifth(at); /* 2: -30 */
    return 32 - p->bits - at * p->bits;
}

HISTO_IN_KERNEL uint32_t one_of(const histo_packing *p, uint32_t at)
{
    return 1u << (32 - p->bits) >> (lift(p, at) & 31);
}

HISTO_IN_KERNEL uint32_t lifted(const histo_packing *p, uint32_t word, uint32_t at)
{
    return __funnelshift_l(0, word, lift(p, at));
}

/* ---- A block ---- */

/* Steps that follow one: without a search for frequent slots where there was no sign of any, or where the table had few
 * of the samples; with one, whatever the signs, where it had many. */
enum { PAUSE = 3, PAUSE_POOR = 31, TRUST = 7 };

typedef struct block {
    uint32_t *words;
    uint32_t *table;            /* behind them: of each entry the counter, its samples, how often it wrapped */
    int search;                 /* for frequent slots: steps with one, or less than 0, without */
    uint32_t spare;             /* where this lane counts what is not in the window: behind it, in a word of its own */
    uint32_t late_at, late_old; /* this thread's overflow that waits for those of its warp; at: or HISTO_NO_SLOT */
    uint32_t first, size;       /* slots */
    unsigned long long *counts; /* of the batch entry */
    const uint32_t *slot_of;    /* of a counter, or NULL: first + its place in the window, … */
    const histo_joint *compact; /* … or as this says */
} block;

/* Few where counters are wide, so that 98304 of them leave the L1 cache 60 KiB. */
HISTO_INLINE uint32_t entries_of(const histo_packing *p)
{
    return p->bits == 16 ? 128 : 512;
}

HISTO_IN_KERNEL uint32_t *owner_of(const block *b, uint32_t entry)
{
    return b->table + entry;
}

HISTO_IN_KERNEL uint32_t *more_of(const block *b, const histo_packing *p, uint32_t entry)
{
    return b->table + entry + entries_of(p);
}

HISTO_IN_KERNEL uint32_t *wraps_of(const block *b, const histo_packing *p, uint32_t entry)
{
    return b->table + entry + 2 * entries_of(p);
}

/* The counters begin at 0; counters: of a batch entry. */
HISTO_IN_KERNEL block start(uint32_t *shared, const histo_packing *p, const window *w, unsigned long long *counts,
                            uint32_t first, uint32_t counters, const uint32_t *slot_of)
{
    const uint32_t entries = entries_of(p);
    block b = {shared, shared + w->words};
    b.search = 0;
    b.late_at = HISTO_NO_SLOT;
    b.spare = w->size + (threadIdx.x % WARP + 1) * (32 / p->bits);
    b.first = first;
    b.size = min(w->size, counters - first);
    b.counts = counts;
    b.slot_of = slot_of;
    b.compact = NULL;
    for (uint32_t i = threadIdx.x; i < w->words; i += blockDim.x)
        b.words[i] = 0;
    for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x) {
        *owner_of(&b, i) = HISTO_NO_SLOT;
        *more_of(&b, p, i) = *wraps_of(&b, p, i) = 0;
    }
    __syncthreads();
    return b;
}

HISTO_IN_KERNEL uint32_t entry_of(const histo_packing *p, uint32_t at)
{
    return __umulhi(at * 0x9e3779b1u, entries_of(p));
}

/* Whose entry of the table is it? That of `at` from now on, if it was nobody's. */
HISTO_IN_KERNEL bool owns(const block *b, uint32_t entry, uint32_t at)
{
    uint32_t owner = atomicCAS(owner_of(b, entry), HISTO_NO_SLOT, at);
    return owner == HISTO_NO_SLOT || owner == at;
}

HISTO_IN_KERNEL void add_to_histogram(const block *b, uint32_t at, long long n)
{
    uint32_t slot = b->slot_of ? __ldg(&b->slot_of[at]) : b->first + at;
    if (b->compact) slot = histo_slot_of_compact(b->compact, at);
    atomicAdd(&b->counts[slot], (unsigned long long)n);
}

/* n samples more of a counter. */
HISTO_IN_KERNEL void add_samples(const block *b, const histo_packing *p, uint32_t at, uint32_t n)
{
    uint32_t entry = entry_of(p, at);
    if (owns(b, entry, at))
        atomicAdd(more_of(b, p, entry), n);
    else
        add_to_histogram(b, at, n);
}

/* A counter wrapped n times: each is worth one more than it holds, and carried a sample too many into its neighbour. */
HISTO_IN_KERNEL void add_wraps_to_histogram(const block *b, const histo_packing *p, uint32_t at, uint32_t n)
{
    const uint32_t carried = above(p, at);
    add_to_histogram(b, at, ((long long)p->full + 1) * n);
    if (carried < b->size) add_to_histogram(b, carried, -(long long)n);
}

/* Did counter `at` overflow when n <= full samples more were added to its word, which was `old`? */
HISTO_IN_KERNEL bool overflows(const histo_packing *p, uint32_t at, uint32_t old, uint32_t n)
{
    return lifted(p, old, at) >= 0 - (n << (32 - p->bits));
}

/* Counter `at` overflowed, its word was `old`: it wraps, and so do full ones above it, one after the other. */
HISTO_IN_KERNEL void wrap(const block *b, const histo_packing *p, uint32_t at, uint32_t old)
{
    bool wraps = at < b->size;
    while (wraps) {
        uint32_t entry = entry_of(p, at);
        if (owns(b, entry, at))
            atomicAdd(wraps_of(b, p, entry), 1u);
        else
            add_wraps_to_histogram(b, p, at, 1);
        at = above(p, at);
        wraps = at < b->size && histo_packed_value(p, old, shift_of(p, at)) == p->full;
    }
}

/* What waits wraps, of all threads of the warp at once. */
HISTO_IN_KERNEL void wrap_late(block *b, const histo_packing *p)
{
    if (b->late_at != HISTO_NO_SLOT) wrap(b, p, b->late_at, b->late_old);
    b->late_at = HISTO_NO_SLOT;
    __syncwarp();
}

/* Add the counters to the histogram, each block beginning elsewhere. */
HISTO_IN_KERNEL void merge(block *b, const histo_packing *p)
{
    uint32_t size = b->size, begin = (uint32_t)((uint64_t)blockIdx.x * size / gridDim.x);
    wrap_late(b, p);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
        uint32_t at = i + begin < size ? i + begin : i + begin - size;
        uint32_t count = histo_packed_value(p, b->words[spread_word(p, at)], shift_of(p, at));
        if (count) add_to_histogram(b, at, count);
    }
    for (uint32_t i = threadIdx.x; i < entries_of(p); i += blockDim.x) {
        uint32_t at = *owner_of(b, i), more = *more_of(b, p, i), wraps = *wraps_of(b, p, i);
        if (more) add_to_histogram(b, at, more);
        if (wraps) add_wraps_to_histogram(b, p, at, wraps);
    }
    __syncthreads();
}

/* ---- A step ---- */

/* Gives the place to use instead. */
HISTO_IN_KERNEL uint32_t count_outside(const block *b, uint32_t slot)
{
    atomicAdd(&b->counts[slot], 1ull);
    return b->spare;
}

HISTO_IN_KERNEL uint32_t place_one(const block *b, uint32_t slot)
{
    uint32_t at = slot - b->first;
    return at < b->size ? at : count_outside(b, slot);
}

/* x[k], where bit k is that of `one`; arrays stay in registers. */
template <typename T>
HISTO_IN_KERNEL T pick(const T *x, int n, uint32_t one)
{
    T it = x[0];
#pragma unroll
    for (int k = 1; k < n; k++)
        it = one >> k & 1 ? x[k] : it;
    return it;
}

HISTO_IN_KERNEL void place(const block *b, const uint32_t *slot, uint32_t *at, int n)
{
    uint32_t outside = 0; /* a bit for each */
#pragma unroll
    for (int k = 0; k < n; k++) {
        at[k] = min(slot[k] - b->first, b->spare);
        outside |= (uint32_t)(at[k] >= b->size) << k;
    }
#pragma unroll 1
    while (__any_sync(~0u, outside)) {
        uint32_t one = outside & (0 - outside), its = pick(slot, n, one);
        if (one && its != HISTO_NO_SLOT) count_outside(b, its);
        outside ^= one;
    }
}

/* The bins in the window, flow slots aside: the first one's slot and place, and how many. Samples of these need only be
 * looked up as if there were no others. */
typedef struct inner {
    uint32_t slot, at, bins;
} inner;

HISTO_IN_KERNEL inner inner_of(const block *b, const window *w)
{
    uint32_t first = max(b->first, 1u), end = min(b->first + b->size, w->inner + 1);
    inner in = {first, first - b->first, end > first ? end - first : 0};
    return in;
}

/* Whole numbers, modulo 2^32: all bins must have values of the dtype. */
HISTO_IN_KERNEL uint32_t bin_pow2(const inner *in, const window *w, const histo_lookup *l, uint32_t x)
{
    (void)w;
    return (x - (l->pow2.from + (in->slot << l->pow2.shift))) >> l->pow2.shift;
}

/* By the nearest edge, as histo_by_nearest; samples outside the axis and NaN as the next floats outside. */
HISTO_IN_KERNEL uint32_t bin_nearest(const inner *in, const window *w, const histo_lookup *l, float x)
{
    const double round = 0x1.8p52;
    double y = (double)fminf(fmaxf(x, w->below), l->over_f32);
    double sum = __fma_rn(y, l->per_step, w->origin) + round;
    return (uint32_t)__double2loint(sum) + (y >= l->lo + (sum - round) * l->step) - in->slot;
}

/* Where bins are 2^k wide and begin at multiples of that: one rounding, downward, of an exact sum. */
HISTO_IN_KERNEL uint32_t bin_scaled(const inner *in, const window *w, const histo_lookup *l, float x)
{
    (void)l;
    return __float_as_uint(__fmaf_rd(x, w->scale, w->offset)) - (__float_as_uint(0x1p23f) - 1 + in->slot);
}

/* Are many samples of the step equal? Asked of each thread's own, which costs no exchange. */
HISTO_IN_KERNEL bool is_skewed(const uint32_t *at, int n)
{
    enum { MANY = 3 };
    return __popc(__ballot_sync(~0u, at[0] == at[1] || at[0] == at[n / 2])) >= MANY;
}

/* How the search for frequent slots goes through a step's samples: unrolled, which is the fastest way, but where much
 * else is in the kernel, since instructions that are not in their cache cost more than any others. */
enum { UNROLLED = 16, ROLLED = 1 };

/* The next of n becomes the first; so arrays stay in registers where loops are rolled. */
HISTO_IN_KERNEL void rotate(uint32_t *x, int n)
{
    uint32_t first = x[0];
#pragma unroll
    for (int k = 0; k + 1 < n; k++)
        x[k] = x[k + 1];
    x[n - 1] = first;
}

/* One lane counts n samples of a counter. */
HISTO_IN_KERNEL void count_run(const block *b, const histo_packing *p, uint32_t at, uint32_t n)
{
    if (at >= b->size || n == 0) return;
    if (n > p->full / 2) { /* it would overflow too often */
        add_samples(b, p, at, n);
        return;
    }
    uint32_t old = atomicAdd(&b->words[spread_word(p, at)], n * one_of(p, at));
    if (overflows(p, at, old, n)) wrap(b, p, at, old);
}

/* Count the samples if they are of two counters at most, which threads' first and last ones tell. */
HISTO_IN_KERNEL bool count_two(const block *b, const histo_packing *p, const uint32_t *at, int n)
{
    uint32_t lane = threadIdx.x % WARP, one = __shfl_sync(~0u, at[0], 0), of_one = 0;
    uint32_t mine = at[0] != one ? at[0] : at[n - 1], others = __ballot_sync(~0u, mine != one);
    uint32_t other = __shfl_sync(~0u, mine, others ? __ffs((int)others) - 1 : 0);
    bool are_two = true;
#pragma unroll
    for (int k = 0; k < n; k++) {
        are_two = are_two && (at[k] == one || at[k] == other);
        of_one += at[k] == one;
    }
    if (!__all_sync(~0u, are_two)) return false;
    of_one = __reduce_add_sync(~0u, of_one);
    if (lane < 2) count_run(b, p, lane ? other : one, lane ? (uint32_t)(n * WARP) - of_one : of_one);
    __syncwarp();
    return true;
}

/* Count the samples if all are of two slots, or those of slots that are in the table; these become spare. Is anything
 * left? Whether much is says what to do in the steps that follow. */
template <int UNROLL>
HISTO_IN_KERNEL bool count_frequent(block *b, const histo_packing *p, uint32_t *at, int n)
{
    enum { FEW = 4 };
    if (b->search == 0 && count_two(b, p, at, n)) return false;
    uint32_t pairs = __ballot_sync(~0u, at[0] == at[1] && at[0] < b->size);
    if (pairs && threadIdx.x % WARP == (uint32_t)__ffs((int)pairs) - 1) owns(b, entry_of(p, at[0]), at[0]);
    __syncwarp();
    int others = 0;
#pragma unroll UNROLL
    for (int k = 0; k < n; k++) {
        uint32_t entry = entry_of(p, at[0]);
        bool is_there = *owner_of(b, entry) == at[0]; /* for good, if once */
        if (is_there) atomicAdd(more_of(b, p, entry), 1u);
        at[0] = is_there ? b->spare : at[0];
        others += at[0] < b->size;
        rotate(at, n);
    }
    bool is_poor = __popc(__ballot_sync(~0u, others > n / FEW)) > WARP / 2;
    if (!is_poor)
        b->search = b->search > 0 ? b->search - 1 : TRUST;
    else
        b->search = __popc(pairs) < WARP * 3 / 4 ? -PAUSE_POOR : 0;
    return __any_sync(~0u, others);
}

/* Search for frequent slots, if it is time for that. Is anything left to count? */
template <int UNROLL>
HISTO_IN_KERNEL bool is_left_by_search(block *b, const histo_packing *p, uint32_t *at, int n)
{
    if (b->search < 0) {
        b->search++;
        return true;
    }
    if (b->search == 0 && !is_skewed(at, n)) {
        b->search = -PAUSE;
        return true;
    }
    return count_frequent<UNROLL>(b, p, at, n);
}

/* The highest bit of each counter: where none is set, none is full. */
HISTO_IN_KERNEL uint32_t upper_halves(const histo_packing *p)
{
    return p->bits == 16 ? 0x80008000 : 0x80808080;
}

/* Count n samples of each thread, all of its warp at once. */
template <int UNROLL>
HISTO_IN_KERNEL void count(block *b, const histo_packing *p, uint32_t *at, int n)
{
    enum { MAX = 16 };
    uint32_t old[MAX], any = 0, due = 0; /* due: a bit for each sample */
    if (n > 1 && !is_left_by_search<UNROLL>(b, p, at, n)) return;
#pragma unroll
    for (int k = 0; k < n; k++)
        old[k] = atomicAdd(&b->words[spread_word(p, at[k])], one_of(p, at[k]));
#pragma unroll
    for (int k = 0; k < n; k++)
        any |= old[k];
    if (p->bits != FIVES && !__any_sync(~0u, any & upper_halves(p))) return;
#pragma unroll
    for (int k = 0; k < n; k++)
        due |= (uint32_t)overflows(p, at[k], old[k], 1) << k;
#pragma unroll 1
    while (__any_sync(~0u, due)) {
        uint32_t one = due & (0 - due);
        if (__any_sync(~0u, one && b->late_at != HISTO_NO_SLOT)) wrap_late(b, p);
        if (one) {
            b->late_at = pick(at, n, one);
            b->late_old = pick(old, n, one);
        }
        due ^= one;
    }
}

/* ---- Kernels ---- */

/* places: at[] from STORAGE x[] of a group; place_of_one: of a sample. */
#define COUNT(kernel, name, storage, width, start_of, places, place_of_one)                                            \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        kernel(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)                         \
    {                                                                                                                  \
        enum { N = HISTO_SAMPLES_##name, EACH = 16 / (int)sizeof(storage), GROUPS = HISTO_STEP_VECTORS * EACH / N };   \
        extern __shared__ uint32_t shared[];                                                                           \
        const histo_packing p = histo_packing_of(width);                                                               \
        for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {                                        \
            histo_tile tile = histo_tile_##name(&work, item);                                                          \
            block b = start_of(shared, &p, &work, &w, tile.entry);                                                     \
            histo_steps s = histo_steps_of(&tile, EACH);                                                               \
            uint4 loaded[HISTO_STEP_VECTORS];                                                                          \
            uint32_t step = blockDim.x * HISTO_STEP_VECTORS;                                                           \
            if (s.begin < s.end) histo_load_step(&s, s.begin, loaded);                                                 \
            for (uint32_t from = s.begin; from < s.end; from += step) {                                                \
                storage all[GROUPS * N];                                                                               \
                memcpy(all, loaded, sizeof all);                                                                       \
                if (from + step < s.end) histo_load_step(&s, from + step, loaded);                                     \
                _Pragma("unroll") for (int group = 0; group < GROUPS; group++)                                         \
                {                                                                                                      \
                    const storage *x = all + group * N;                                                                \
                    uint32_t at[N];                                                                                    \
                    places count<UNROLLED>(&b, &p, at, N);                                                             \
                }                                                                                                      \
            }                                                                                                          \
            uint32_t others = histo_beside_steps(&s, &tile, EACH);                                                     \
            for (uint32_t first = 0; first < others; first += blockDim.x) {                                            \
                uint32_t i = first + threadIdx.x, at = b.spare;                                                        \
                if (i < others) {                                                                                      \
                    storage x = ((const storage *)tile.at)[histo_nth_beside_steps(&s, &tile, EACH, i)];                \
                    at = place_of_one;                                                                                 \
                }                                                                                                      \
                count<ROLLED>(&b, &p, &at, 1);                                                                         \
            }                                                                                                          \
            merge(&b, &p);                                                                                             \
        }                                                                                                              \
    }

HISTO_IN_KERNEL block start_window(uint32_t *shared, const histo_packing *p, const histo_cuda_work *work,
                                   const window *w, int64_t entry)
{
    uint32_t first = w->found ? w->found[entry] : w->first;
    return start(shared, p, w, work->counts + entry * work->counters, first, (uint32_t)work->counters, NULL);
}

HISTO_IN_KERNEL block start_values(uint32_t *shared, const histo_packing *p, const histo_cuda_work *work,
                                   const window *w, int64_t entry)
{
    return start(shared, p, w, work->counts + entry * work->counters, 0, VALUES, work->lookups[0].table);
}

#define PLACES(name)                                                                                                   \
    uint32_t slot[N];                                                                                                  \
    histo_slots_of_##name(&work.lookups[0], x, slot);                                                                  \
    place(&b, slot, at, N);
#define COUNT_SLOTS(constant, name, storage, compute, widen)                                                           \
    COUNT(count_##name##_8, name, storage, 8, start_window, PLACES(name),                                              \
          place_one(&b, histo_slot_of_##name(&work.lookups[0], x)))                                                    \
    COUNT(count_##name##_16, name, storage, 16, start_window, PLACES(name),                                            \
          place_one(&b, histo_slot_of_##name(&work.lookups[0], x)))
HISTO_DTYPES(COUNT_SLOTS)
#undef COUNT_SLOTS

/* Few samples are not in inner bins. */
#define PLACES_INNER(name, way, else_by)                                                                               \
    const inner in = inner_of(&b, &w);                                                                                 \
    uint32_t elsewhere = 0; /* a bit for each */                                                                       \
    _Pragma("unroll") for (int k = 0; k < N; k++)                                                                      \
    {                                                                                                                  \
        at[k] = bin_##way(&in, &w, &work.lookups[0], x[k]);                                                            \
        elsewhere |= (uint32_t)(at[k] >= in.bins) << k;                                                                \
        at[k] += in.at;                                                                                                \
    }                                                                                                                  \
    _Pragma("unroll 1") while (__any_sync(~0u, elsewhere))                                                             \
    {                                                                                                                  \
        const uint32_t one = elsewhere & (0 - elsewhere), slot = pick(at, N, one) + b.first;                           \
        uint32_t its = b.spare;                                                                                        \
        if (one)                                                                                                       \
            its = slot - 1 < w.inner ? count_outside(&b, slot)                                                         \
                                     : place_one(&b, histo_by_##else_by##_##name(&work.lookups[0], pick(x, N, one)));  \
        _Pragma("unroll") for (int k = 0; k < N; k++) at[k] = one >> k & 1 ? its : at[k];                              \
        elsewhere ^= one;                                                                                              \
    }
#define COUNT_INNER(name, storage, way, else_by, width)                                                                \
    COUNT(count_##way##_##name##_##width, name, storage, width, start_window, PLACES_INNER(name, way, else_by),        \
          place_one(&b, histo_by_##else_by##_##name(&work.lookups[0], x)))
COUNT_INNER(u32, uint32_t, pow2, pow2, 8)
COUNT_INNER(u32, uint32_t, pow2, pow2, 16)
COUNT_INNER(i32, int32_t, pow2, pow2, 8)
COUNT_INNER(i32, int32_t, pow2, pow2, 16)
COUNT_INNER(f32, float, nearest, nearest, 8)
COUNT_INNER(f32, float, nearest, nearest, 16)
COUNT_INNER(f32, float, scaled, nearest, 8)
COUNT_INNER(f32, float, scaled, nearest, 16)

/* 16-bit samples of any type. */
#define VALUES_OF _Pragma("unroll") for (int k = 0; k < N; k++) at[k] = x[k];
COUNT(count_values, u16, uint16_t, 16, start_values, VALUES_OF, x)

/* Samples of any layout. */
#define COUNT_ANY(width)                                                                                               \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        count_any_##width(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)              \
    {                                                                                                                  \
        extern __shared__ uint32_t shared[];                                                                           \
        const histo_packing p = histo_packing_of(width);                                                               \
        for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {                                        \
            histo_tile tile = histo_tile_any(&work, item);                                                             \
            block b = start_window(shared, &p, &work, &w, tile.entry);                                                 \
            HISTO_FOR_STEPS(any, tile, from)                                                                           \
            {                                                                                                          \
                uint32_t slot[HISTO_SAMPLES_any], at[HISTO_SAMPLES_any];                                               \
                histo_slots_any(&work, &tile, from, slot);                                                             \
                place(&b, slot, at, HISTO_SAMPLES_any);                                                                \
                count<ROLLED>(&b, &p, at, HISTO_SAMPLES_any);                                                          \
            }                                                                                                          \
            merge(&b, &p);                                                                                             \
        }                                                                                                              \
    }
COUNT_ANY(8)
COUNT_ANY(16)

/* Several axes. Where all counters are on chip, slots are places. */
#define COUNT_JOINT(reader, width)                                                                                     \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        count_##reader##_##width(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w,       \
                                 const __grid_constant__ histo_joint joint)                                            \
    {                                                                                                                  \
        enum { N = HISTO_SAMPLES_##reader, PART = N < 8 ? N : 8 };                                                     \
        extern __shared__ uint32_t shared[];                                                                           \
        const histo_packing p = histo_packing_of(width);                                                               \
        histo_load_joint_firsts(&work, &joint, shared);                                                                \
        for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {                                        \
            histo_joint_tile tile = histo_tile_joint(&work, &joint, item);                                             \
            histo_ahead_##reader ahead;                                                                                \
            if (tile.length) histo_load_##reader(&work, &joint, &tile, 0, &ahead);                                     \
            block b = start_window(shared, &p, &work, &w, tile.entry);                                                 \
            bool covers = b.size == (uint32_t)work.counters;                                                           \
            HISTO_FOR_STEPS(reader, tile, from)                                                                        \
            {                                                                                                          \
                uint32_t slot[N], at[PART];                                                                            \
                bool all = histo_take_##reader(&work, &joint, shared, &tile, from, &ahead, slot) && covers;            \
                _Pragma("unroll") for (int part = 0; part < N; part += PART)                                           \
                {                                                                                                      \
                    if (all)                                                                                           \
                        memcpy(at, slot + part, sizeof at);                                                            \
                    else                                                                                               \
                        place(&b, slot + part, at, PART);                                                              \
                    count<ROLLED>(&b, &p, at, PART);                                                                   \
                }                                                                                                      \
            }                                                                                                          \
            merge(&b, &p);                                                                                             \
        }                                                                                                              \
    }
#define COUNT_JOINT_8(reader) COUNT_JOINT(reader, 8)
#define COUNT_JOINT_16(reader) COUNT_JOINT(reader, 16)
HISTO_JOINT_READERS(COUNT_JOINT_8)
HISTO_JOINT_READERS(COUNT_JOINT_16)

/* Pixels, by compact counters. */
template <int PITCH, int WIDTH>
static __global__ void __launch_bounds__(1024, 1)
    count_compact(const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w,
                  const __grid_constant__ histo_joint joint)
{
    enum { N = HISTO_SAMPLES_pixels, PART = 8 };
    extern __shared__ uint32_t shared[];
    const histo_packing p = histo_packing_of(WIDTH);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_joint_tile tile = histo_tile_joint(&work, &joint, item);
        histo_groups groups = histo_groups_of<PITCH>(&work, &joint, &tile);
        block b = start_window(shared, &p, &work, &w, tile.entry);
        b.compact = &joint;
        int32_t from = groups.first + (int32_t)(threadIdx.x / WARP * HISTO_WARP_PIXELS), step = (int32_t)blockDim.x * N;
        for (; from < (int32_t)tile.length; from += step) {
            uint32_t at[N];
            if ((uint32_t)(from + step) < groups.whole) histo_prefetch_group<PITCH>(&work, &tile, from + step);
            if ((uint32_t)from < groups.whole)
                histo_compact_group<PITCH>(&work, &joint, &tile, from, at);
            else
                histo_compact_any(&work, &joint, &tile, from, b.spare, at);
#pragma unroll 1
            for (int part = 0; part < N; part += PART) { /* less code is in its cache */
                count<ROLLED>(&b, &p, at, PART);
                memcpy(at, at + PART, PART * sizeof *at);
            }
        }
        merge(&b, &p);
    }
}

/* Pairs of images. Nearly all are in the window, and found there by their scaling. */
#define COUNT_PAIRS(name, kind, width)                                                                                 \
    static __global__ void __launch_bounds__(1024, 1) count_pairs_##name##_##kind##_##width(                           \
        const __grid_constant__ histo_cuda_work work, const __grid_constant__ window w)                                \
    {                                                                                                                  \
        extern __shared__ uint32_t shared[];                                                                           \
        const histo_packing p = histo_packing_of(width);                                                               \
        for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {                                        \
            histo_tile tile = histo_tile_any(&work, item);                                                             \
            block b = start_window(shared, &p, &work, &w, tile.entry);                                                 \
            const histo_canvas canvas = histo_canvas_of(&work, &tile);                                                 \
            const uint32_t scaled = b.first < w.scaling.end ? min(b.size, w.scaling.end - b.first) : 0;                \
            for (uint32_t from = 0; from < tile.length; from += blockDim.x * HISTO_PLACES_##name) {                    \
                histo_stack_##name stack;                                                                              \
                histo_load_stack_##name(&work, &w.stacking, &tile, &canvas, from, &stack);                             \
                uint32_t row[HISTO_PLACES_##name];                                                                     \
                _Pragma("unroll") for (int k = 0; k < HISTO_PLACES_##name; k++) row[k] =                               \
                    stack.means[k] + w.scaling.base - b.first;                                                         \
                _Pragma("unroll 1") while (stack.pairs > 0)                                                            \
                {                                                                                                      \
                    int32_t x[HISTO_PAIR_SLOTS];                                                                       \
                    uint32_t at[HISTO_PAIR_SLOTS];                                                                     \
                    int taken = histo_take_pairs_##name(HISTO_PAIRS_##kind, &stack, x);                                \
                    const bool all = histo_are_all_##name(&stack, taken);                                              \
                    uint32_t highest = all ? 0 : ~0u, elsewhere = 0; /* a bit for each */                              \
                    _Pragma("unroll") for (int s = 0; s < HISTO_PAIR_SLOTS; s++)                                       \
                    {                                                                                                  \
                        at[s] = histo_scaled(&w.scaling, x[s]) + row[s % HISTO_PLACES_##name];                         \
                        highest = max(highest, at[s]);                                                                 \
                    }                                                                                                  \
                    if (highest >= scaled)                                                                             \
                        _Pragma("unroll") for (int s = 0; s < HISTO_PAIR_SLOTS; s++) elsewhere |=                      \
                            (uint32_t)(!all || at[s] >= scaled) << s;                                                  \
                    _Pragma("unroll 1") while (__any_sync(~0u, elsewhere))                                             \
                    {                                                                                                  \
                        const uint32_t one = elsewhere & (0 - elsewhere);                                              \
                        uint32_t slot = pick(at, HISTO_PAIR_SLOTS, one) + b.first, place = b.spare;                    \
                        if (one && all && slot < w.scaling.end) {                                                      \
                            count_outside(&b, slot);                                                                   \
                        } else if (one) {                                                                              \
                            slot = histo_slot_of_taken_##name(&work, &stack, taken, x, __ffs((int)one) - 1);           \
                            if (slot != HISTO_NO_SLOT) place = place_one(&b, slot);                                    \
                        }                                                                                              \
                        _Pragma("unroll") for (int s = 0; s < HISTO_PAIR_SLOTS; s++) at[s] =                           \
                            one >> s & 1 ? place : at[s];                                                              \
                        elsewhere ^= one;                                                                              \
                    }                                                                                                  \
                    count<ROLLED>(&b, &p, at, HISTO_PAIR_SLOTS);                                                       \
                }                                                                                                      \
            }                                                                                                          \
            merge(&b, &p);                                                                                             \
        }                                                                                                              \
    }
COUNT_PAIRS(u8, RING, 8)
COUNT_PAIRS(u8, RING, 16)
COUNT_PAIRS(u8, APART, 8)
COUNT_PAIRS(u8, APART, 16)
COUNT_PAIRS(u16, RING, 8)
COUNT_PAIRS(u16, RING, 16)
COUNT_PAIRS(u16, APART, 8)
COUNT_PAIRS(u16, APART, 16)

/* ---- The strategy ---- */

/* Words that counters of this width take: as many as spread_word says, and a spare one for each lane. */
static int64_t words_of(int64_t counters, int bits)
{
    int64_t last = counters / (32 / bits) + WARP + 1;
    return bits == FIVES ? last + 1 : last + last / 233 + 1;
}

/* Of one block: counters and table. */
static size_t shared_bytes(int64_t counters, int bits)
{
    const histo_packing p = histo_packing_of(bits);
    return (size_t)(words_of(counters, bits) + 3 * entries_of(&p)) * sizeof(uint32_t);
}

/* The most counters that a block can have, with so many words beside them. */
static int64_t max_counters(const histo_cuda_device *device, int bits, uint32_t beside)
{
    int64_t least = 0, room = (int64_t)device->shared_block - (int64_t)(beside * sizeof(uint32_t));
    int64_t beyond = room * 8 / bits;
    while (beyond - least > 1) {
        int64_t middle = least + (beyond - least) / 2;
        *((int64_t)shared_bytes(middle, bits) <= room ? &least : &beyond) = middle;
    }
    return least;
}

/* Counters that are not slots, or 0: of values, if contiguous samples may be counted by their 16 bits; of pixels'
 * classes, if the readers of pixels may leave underflow, overflow and NaN out. */
static int64_t counters_of(const histo_problem *p, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    int64_t compact = histo_cuda_compact_of(p);
    if (params[FIRST] >= 0 || params[LENGTH]) return 0;
    if (compact) return compact <= max_counters(device, params[BITS] ? (int)params[BITS] : FIVES, 0) ? compact : 0;
    bool by_value = p->operands == 1 && histo_dtype_size(p->dtypes[0]) == 2 && p->lookups[0].table &&
                    (!params[BITS] || params[BITS] > 8) && VALUES <= max_counters(device, 16, 0);
    return by_value ? VALUES : 0;
}

/* counters: 0 for those of the slots. */
static layout layout_of(const histo_problem *p, const int64_t *params, int64_t counters)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    const uint32_t beside = histo_cuda_firsts_of(p, 0, NULL);
    const bool are_slots = counters == 0;
    layout l = {};
    if (are_slots) counters = p->slots + 1;
    int64_t size = are_slots && params[LENGTH] && params[LENGTH] < counters ? params[LENGTH] : counters;
    l.bits = params[BITS] ? params[BITS] <= 8 ? 8 : 16 : size <= max_counters(device, 16, beside) ? 16 : 8;
    int64_t most = max_counters(device, l.bits, beside);
    if (size > most && !are_slots) most = max_counters(device, l.bits = FIVES, beside);
    if (size > most) size = most;
    l.w.size = (uint32_t)size;
    l.w.words = (uint32_t)words_of(size, l.bits);
    l.firsts = (uint32_t)(shared_bytes(size, l.bits) / sizeof(uint32_t));
    l.shared = (l.firsts + beside) * sizeof(uint32_t);
    l.threads = params[THREADS] ? ((int)params[THREADS] + WARP - 1) / WARP * WARP : 1024;
    int64_t resident = histo_cuda_resident(p->device, l.threads, l.shared);
    l.blocks = params[BLOCKS] ? params[BLOCKS] : resident;
    int64_t last = counters - size;
    l.is_found = params[FIRST] < 0 && last > 0;
    l.w.first = (uint32_t)(params[FIRST] < 0 ? 0 : params[FIRST] < last ? params[FIRST] : last);
    return l;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    return problem->weighting != HISTO_UNWEIGHTED ? "it counts, but sums no weights" : NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    static const int64_t defaults[HISTO_MAX_PARAMS] = {-1};
    int64_t known = counters_of(p, defaults);
    layout l = layout_of(p, defaults, known);
    double bytes = 0, samples = (double)p->samples, counters = (double)p->slots + 1;
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    double by_bytes = bytes / (l.bits == 16 ? 4.1e6 : 3.9e6);
    double rate = known ? 1.65e6 : p->lookups[0].pow2.is ? 1.1e6 : 8e5;
    if (p->operands > 1) rate = p->operands > p->naxes ? 2e5 : known ? 1.2e6 : 7e5;
    if (p->pairs) rate = 7e5;
    double by_samples = 1 / rate;
    double outside = known || l.w.size >= counters ? 0 : 1 - histo_problem_fraction(p, l.w.size);
    double each = by_bytes > by_samples ? by_bytes : by_samples;
    double by_atomics = 1 / (counters < 5e6 ? 1.1e5 : 2.5e4); /* as many are in the L2 cache */
    double merged = (double)l.w.size * (double)p->batch * (double)l.blocks;
    if (merged > samples) merged = samples;
    return 10 + (l.is_found ? 15 : 0) + samples * (each + outside * by_atomics) + merged / 9e5;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    return layout_of(problem, params, 0).is_found ? (size_t)problem->batch * sizeof(uint32_t) : 0;
}

/* Are bins 2^k wide, and begin at multiples of that, all in reach of a float's 24 bits? */
static bool is_scaled(const histo_lookup *l)
{
    const double reach = 0x1p22, least = 0x1p-100, first = l->lo / l->step;
    int exponent;
    return frexp(l->step, &exponent) == 0.5 && l->step >= least && l->step <= 1 / least && first == floor(first) &&
           fabs(first) <= reach && l->bins <= reach;
}

/* The last bin is not looked up fast if its upper edge, computed as the others, could be beyond the axis. */
static void set_inner(window *w, const histo_lookup *l)
{
    w->inner = (uint32_t)l->bins - (!l->pow2.is && l->lo + (double)l->bins * l->step > l->hi);
    w->below = nextafterf(l->first_f32, -INFINITY);
    w->origin = -l->lo * l->per_step;
    w->scale = (float)l->per_step;
    w->offset = (float)(0x1p23 - l->lo / l->step);
}

/* The kernel that looks only for inner bins, or NULL. */
static const void *kernel_of_inner(int reader, const histo_lookup *l, int bits)
{
    double least = reader == HISTO_I32 ? INT32_MIN : 0, most = reader == HISTO_I32 ? INT32_MAX : UINT32_MAX;
    bool is_pow2 = l->pow2.is && l->lo >= least && l->hi <= most;
    if (reader == HISTO_U32 && is_pow2)
        return bits == 16 ? (const void *)count_pow2_u32_16 : (const void *)count_pow2_u32_8;
    if (reader == HISTO_I32 && is_pow2)
        return bits == 16 ? (const void *)count_pow2_i32_16 : (const void *)count_pow2_i32_8;
    if (reader != HISTO_F32 || l->kind != HISTO_UNIFORM) return NULL;
    if (is_scaled(l)) return bits == 16 ? (const void *)count_scaled_f32_16 : (const void *)count_scaled_f32_8;
    if (l->first_f32 > -FLT_MAX && l->over_f32 <= FLT_MAX)
        return bits == 16 ? (const void *)count_nearest_f32_16 : (const void *)count_nearest_f32_8;
    return NULL;
}

template <int WIDTH>
static const void *kernel_of_compact(const histo_joint *joint)
{
    return joint->pitch == 3   ? (const void *)count_compact<3, WIDTH>
           : joint->pitch == 4 ? (const void *)count_compact<4, WIDTH>
                               : (const void *)count_compact<1, WIDTH>;
}

/* The kernel that reads several axes. What it has to know is in `joint`; compact: counters are. */
static const void *kernel_of_joint(const histo_cuda_work *work, int bits, bool compact, histo_joint *joint)
{
#define ADDRESSES(reader) {(const void *)count_##reader##_8, (const void *)count_##reader##_16},
    static const void *const kernels[][2] = {HISTO_JOINT_READERS(ADDRESSES)};
#undef ADDRESSES
    histo_joint_reader reader = histo_cuda_joint_of(work, joint);
    if (!compact || reader != histo_read_pixels) return kernels[reader][bits == 16];
    histo_cuda_make_compact(joint, work->naxes);
    return bits == FIVES ? kernel_of_compact<FIVES>(joint)
           : bits == 8   ? kernel_of_compact<8>(joint)
                         : kernel_of_compact<16>(joint);
}

/* The kernel that reads whole stacks of images, and its work and window; or NULL. */
static const void *kernel_of_pairs(const histo_job *job, layout *l, int64_t least, histo_cuda_work *work)
{
#define ADDRESSES(name, kind)                                                                                          \
    {                                                                                                                  \
        (const void *)count_pairs_##name##_##kind##_8, (const void *)count_pairs_##name##_##kind##_16                  \
    }
    static const void *const kernels[2][2][2] = {{ADDRESSES(u8, RING), ADDRESSES(u8, APART)},
                                                 {ADDRESSES(u16, RING), ADDRESSES(u16, APART)}};
#undef ADDRESSES
    if (!job->iter.images) return NULL;
    const int pairs = job->iter.images / job->iter.step;
    histo_job of_places = *job;
    of_places.iter = histo_strided_iter_places(&job->iter);
    of_places.begin /= pairs;
    of_places.end /= pairs;
    histo_cuda_work places = histo_cuda_work_of(&of_places, l->blocks, least / pairs, HISTO_MAX_TILE);
    if (!histo_is_stack(&places)) return NULL;
    *work = places;
    l->w.stacking = histo_stacking_of(&work->iter);
    return kernels[work->dtypes[0] == HISTO_U16][work->iter.step == HISTO_PAIRS_APART][l->bits == 16];
}

static histo_status launch(const histo_job *job)
{
#define ADDRESSES(reader) {(const void *)count_##reader##_8, (const void *)count_##reader##_16},
    static const void *const kernels[HISTO_READER_COUNT][2] = {HISTO_READERS(ADDRESSES)};
#undef ADDRESSES
    enum { MIN = 1 << 14 };
    const histo_problem *p = job->problem;
    layout l = layout_of(p, job->params, 0);
    histo_cuda_work work = histo_cuda_work_of(job, l.blocks, MIN, HISTO_MAX_TILE);
    int reader = histo_cuda_reader_of(&work);
    int64_t known = counters_of(p, job->params);
    histo_joint joint;
    bool is_joint = histo_cuda_joint_of(&work, &joint) != HISTO_NOT_JOINT;
    bool by_known = known && (p->naxes > 1 ? joint.pitch != 0 : reader != HISTO_READ_ANY);
    if (by_known) {
        l = layout_of(p, job->params, known);
        work = histo_cuda_work_of(job, l.blocks, MIN, HISTO_MAX_TILE);
    }
    const void *kernel = kernels[reader][l.bits == 16], *fast = kernel_of_inner(reader, &work.lookups[0], l.bits);
    if (fast) kernel = fast;
    if (by_known) kernel = (const void *)count_values;
    if (is_joint) kernel = kernel_of_joint(&work, l.bits, by_known, &joint);
    histo_cuda_firsts_of(p, l.firsts, &joint);
    set_inner(&l.w, &work.lookups[0]);
    if (p->pairs) l.w.scaling = histo_scaling_of(p);
    if (l.is_found) l.w.found = (uint32_t *)job->workspace;
    void *args[] = {&work, &l.w, &joint};
    histo_status status = HISTO_OK;
    if (l.is_found)
        status = histo_cuda_launch(job, (const void *)find, dim3((unsigned)(work.tiles / work.tiles_per_entry)),
                                   FIND_THREADS, 0, args);
    if (status != HISTO_OK) return status;
    const void *of_pairs = kernel_of_pairs(job, &l, MIN, &work);
    if (of_pairs) kernel = of_pairs;
    dim3 grid((unsigned)(work.tiles < l.blocks ? work.tiles : l.blocks));
    return histo_cuda_launch(job, kernel, grid, l.threads, l.shared, args);
}

extern "C" const histo_strategy histo_cuda_packed_window = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"first", -1, HISTO_MAX_SLOTS, -1,
                "slot of a batch entry where the window begins; -1: found by sampling"},
               {"length", 0, HISTO_MAX_SLOTS, 0, "slots of the window; 0: as many as fit"},
               {"bits", 0, 16, 0, "of a counter: 8 or 16, the next of these; 0: 16 if all slots fit, else 8"},
               {"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
               {"threads", 0, 1024, 0, "of a block, in whole warps; 0: 1024"}},
    .pairs = true,
};
