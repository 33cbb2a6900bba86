/* weighted_private: every block sums weights in fixed point, in copies of a few words for each slot in shared memory,
 * of which each belongs to a few lanes of every warp and to as many banks.
 *
 * - Shared memory adds 32-bit integers at full speed, floats and 64-bit numbers by loops. A weight in fixed point is
 * two or three such words, its square three or four, and the old word tells the carry into the next. Integers commute,
 * and nothing is rounded: the sums of a block are exact, in the fast mode too.
 * - A tile of the samples has a window of exponents, the densest among some of its weights. Weights outside of it, and
 *   those that are no numbers, are added to the histogram one by one, as global_atomic does.
 * - The window and the words are so wide that no sum of a tile can overflow.
 * - Where many lanes share a copy and slots repeat, a thread's samples of one slot are joined before they are added,
 * and a warp's that are all of one.
 * - Tables that tell slots of f32 (cells, first floats) lie behind the words, as in lane_private.
 *
 * Bytes: each sample and weight once. Wins wherever the words of all slots fit a block; loses to global_atomic for
 * more, and where exponents of weights have no dense window. Source: ours; the layout is that of lane_private, the
 * carry that of packed counters (Ross 2014, 5.2). */
#include "cuda/block.cuh"
#include "cuda/firsts.cuh"
#include "cuda/macro_names.cuh"

enum { LANES, BLOCKS, THREADS };
enum { WARP = 32, GROUP = 4 /* samples of a thread at a time */ };
enum { FEW_LANES = 4 /* of a copy: they may meet in one bank, and in one counter, without loss */ };
enum { SHARE_BITS = 22, MAX_SAMPLES = 1 << SHARE_BITS /* of a tile */ };
static const size_t MAX_COUNTERS = 200 << 10; /* bytes of them that leave enough to the L1 cache */

typedef struct layout {
    uint32_t log_copies;
    bool spreads;   /* counters over the banks of a copy: where many lanes share it */
    uint32_t words; /* of a plane: one word of all slots and copies */
    uint32_t table; /* where words that tell slots of samples are, behind all planes */
} layout;

/* ---- Weights in fixed point ---- */

/* For weights of a type: words of a sum and of one of squares; exponents of a window, and those that it may begin with.
 * A tile's sum is below 2^(32 * WORDS - 1) (significand bits + EXPONENTS - 1 + SHARE_BITS), one of squares below 2^(32
 * * SQUARE_WORDS). */
template <typename T, bool SQUARES>
struct format;

template <bool SQUARES>
struct format<float, SQUARES> {
    enum { WORDS = 2, SQUARE_WORDS = SQUARES ? 3 : 0, EXPONENTS = SQUARES ? 14 : 18, ALL = 256 };
    enum { FIRST = 1, LAST = ALL - 1 - EXPONENTS, BIAS = 127, BITS = 24 };
};

/* Squares are to be normal doubles, as is what makes a weight a whole number. */
template <bool SQUARES>
struct format<double, SQUARES> {
    enum { WORDS = 3, SQUARE_WORDS = SQUARES ? 4 : 0, EXPONENTS = 21, ALL = 2048 };
    enum { FIRST = SQUARES ? 512 : 64, LAST = (SQUARES ? 1534 : ALL - 1) - EXPONENTS, BIAS = 1023, BITS = 53 };
};

/* Numbers of some words, in two's complement. */
typedef unsigned __int128 wide;
template <int WORDS>
struct number {
    typedef wide type;
};
template <>
struct number<2> {
    typedef uint64_t type;
};
template <>
struct number<0> {
    typedef uint64_t type;
};

/* A weight and its square as multiples of their units. Zero outside of the window. */
template <typename T, bool SQUARES>
struct fixed {
    typename number<format<T, SQUARES>::WORDS>::type sum;
    typename number<format<T, SQUARES>::SQUARE_WORDS>::type square;
    bool outside; /* neither 0 nor in the window: any number, or none */
};

/* Magnitudes [low, high), and what makes a weight a whole number. */
template <typename T>
struct window {
    T low, high;
    double scale;
    int unit, square_unit; /* the bit, above 2^-1088, of one; of the unit of squares */
};

HISTO_IN_KERNEL uint32_t exponent_of(float x)
{
    return __float_as_uint(x) >> 23 & 0xff;
}

HISTO_IN_KERNEL uint32_t exponent_of(double x)
{
    return (uint32_t)__double2hiint(x) >> 20 & 0x7ff;
}

/* From the exponent `lowest` on. Squares of double are whole multiples of 2^SPARE, as they have 53 bits. */
enum { SPARE = 52 };
template <typename T, bool SQUARES>
HISTO_IN_KERNEL window<T> window_from(uint32_t lowest)
{
    typedef format<T, SQUARES> is;
    int exponent = (int)lowest - is::BIAS, last = exponent - (is::BITS - 1), zero = 32 * HISTO_EXACT_UNIT;
    bool is_double = sizeof(T) == 8;
    window<T> w = {(T)ldexp(1.0, exponent), (T)ldexp(1.0, exponent + is::EXPONENTS), ldexp(1.0, -last), zero + last,
                   zero + 2 * last + (is_double ? SPARE : 0)};
    return w;
}

/* A whole multiple of 2^SHIFT: adding 1.5 * 2^52 times a power of two, rounded down, leaves what is above that power as
 * an integer in the last bits of the sum. */
template <int WORDS, int SHIFT>
HISTO_IN_KERNEL typename number<WORDS>::type whole_number(double x)
{
    typename number<WORDS>::type n = 0;
#pragma unroll
    for (int j = WORDS - 2; j >= 0; j--) {
        const double round = __hiloint2double((1023 + 52 + 32 * j + SHIFT) << 20 | 0x80000, 0);
        double sum = __dadd_rd(x, round);
        if (j == WORDS - 2) n = (typename number<WORDS>::type)(__double2hiint(sum) - __double2hiint(round));
        n = n << 32 | (uint32_t)__double2loint(sum);
        x -= sum - round;
    }
    return n;
}

template <typename T, bool SQUARES>
HISTO_IN_KERNEL fixed<T, SQUARES> cut(T x, const window<T> *w)
{
    typedef format<T, SQUARES> is;
    fixed<T, SQUARES> f = {0, 0, false};
    bool inside = fabs(x) >= w->low && fabs(x) < w->high;
    f.outside = !inside && x != 0;
    double whole = (double)(inside ? x : 0) * w->scale;
    f.sum = whole_number<is::WORDS, 0>(whole);
    if constexpr (SQUARES) f.square = whole_number < is::SQUARE_WORDS, sizeof(T) == 8 ? SPARE : 0 > (whole * whole);
    return f;
}

/* ---- The window of a tile ---- */

/* The first exponent of the window that most of some weights of the tile are in; of several such windows one with room
 * above. weight(i): the i-th of the tile. shared: 2 * ALL + 2 words. */
template <typename T, bool SQUARES, typename F>
HISTO_IN_KERNEL uint32_t densest_window(unsigned int *shared, uint32_t length, F weight)
{
    typedef format<T, SQUARES> is;
    enum { ROOM = 2 };
    unsigned int *inside = shared + is::ALL, &most = inside[is::ALL], &lowest = inside[is::ALL + 1];
    if (threadIdx.x == 0) {
        most = 0;
        lowest = is::LAST;
    }
    histo_clear_shared(shared, is::ALL);
    if (length) atomicAdd(&shared[exponent_of(weight((uint32_t)((uint64_t)threadIdx.x * length / blockDim.x)))], 1u);
    __syncthreads();
    for (uint32_t first = is::FIRST + threadIdx.x; first <= is::LAST; first += blockDim.x) {
        unsigned int sum = 0;
        for (uint32_t e = first; e < first + is::EXPONENTS; e++)
            sum += shared[e];
        inside[first] = sum;
        if (sum) atomicMax(&most, sum);
    }
    __syncthreads();
    for (uint32_t first = is::FIRST + threadIdx.x; first <= is::LAST; first += blockDim.x)
        if (inside[first] == most) atomicMin(&lowest, first);
    __syncthreads();
    uint32_t chosen = lowest;
    for (uint32_t first = lowest; first <= is::LAST && first <= lowest + ROOM; first++)
        if (inside[first] == most) chosen = first;
    __syncthreads(); /* the words are counters from now on */
    return chosen;
}

/* ---- Where counters are ---- */

/* In the first copy; a thread adds to that of its lane. */
HISTO_IN_KERNEL uint32_t word_of(const layout *l, uint32_t slot)
{
    return (l->spreads ? histo_spread(slot) : slot) << l->log_copies;
}

/* Planes: of counts, of the words of sums, of those of sums of squares. */
template <typename T, bool SQUARES>
struct planes {
    enum { SUM = 1, SQUARE = SUM + format<T, SQUARES>::WORDS, ALL = SQUARE + format<T, SQUARES>::SQUARE_WORDS };
};

/* ---- Adding ---- */

/* Add numbers to the words at[k] of WORDS planes; the old word tells the carry. */
template <int WORDS, int N>
HISTO_IN_KERNEL void add_numbers(unsigned int *plane, const layout *l, const uint32_t *at,
                                 typename number<WORDS>::type *n)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++, plane += l->words)
#pragma unroll
        for (int k = 0; k < N; k++) {
            uint32_t old = atomicAdd(&plane[at[k]], (uint32_t)n[k]);
            if (j + 1 < WORDS) n[k] = (n[k] + old) >> 32;
        }
}

/* Add N times count[k] samples, whose sums are f[k], to the words at[k]. */
template <typename T, bool SQUARES, int N>
HISTO_IN_KERNEL void add(unsigned int *mine, const layout *l, const uint32_t *at, const uint32_t *count,
                         const fixed<T, SQUARES> *f)
{
    typedef format<T, SQUARES> is;
    typedef planes<T, SQUARES> plane;
    typename number<is::WORDS>::type sum[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        sum[k] = f[k].sum;
        atomicAdd(&mine[at[k]], count[k]);
    }
    add_numbers<is::WORDS, N>(mine + plane::SUM * l->words, l, at, sum);
    if constexpr (SQUARES) {
        typename number<is::SQUARE_WORDS>::type square[N];
#pragma unroll
        for (int k = 0; k < N; k++)
            square[k] = f[k].square;
        add_numbers<is::SQUARE_WORDS, N>(mine + plane::SQUARE * l->words, l, at, square);
    }
}

/* One sample of each slot. */
template <typename T, bool SQUARES, int N>
HISTO_IN_KERNEL void add_each(unsigned int *mine, const layout *l, const uint32_t *slot, const fixed<T, SQUARES> *f)
{
    uint32_t at[N], count[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        at[k] = word_of(l, slot[k]);
        count[k] = 1;
    }
    add<T, SQUARES, N>(mine, l, at, count, f);
}

/* ---- Joining samples of one slot ---- */

enum { PIECE = 27 /* bits, of which all lanes' sum is below 2^32 */ };

HISTO_IN_KERNEL uint32_t sum_of_lanes(uint32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, x);
#else
    for (int lane = WARP / 2; lane; lane /= 2)
        x += __shfl_xor_sync(~0u, x, lane);
    return x;
#endif
}

/* The sum over all lanes, cut into as many pieces as it has words; the last has the sign. */
template <int PIECES>
HISTO_IN_KERNEL typename number<PIECES>::type sum_of_numbers(typename number<PIECES>::type x)
{
    typedef typename number<PIECES>::type type;
    type sum = 0;
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        uint32_t piece = (uint32_t)(x >> (PIECE * p));
        if (p + 1 < PIECES)
            sum += (type)sum_of_lanes(piece & ((1u << PIECE) - 1)) << (PIECE * p);
        else
            sum += (type)(int64_t)(int32_t)sum_of_lanes(piece) << (PIECE * p);
    }
    return sum;
}

/* Have many threads of the warp neighbours of one slot? */
enum { MANY = 6 };

HISTO_IN_KERNEL bool repeats(const uint32_t *slot)
{
    return __popc(__ballot_sync(~0u, slot[0] == slot[1] || slot[0] == slot[GROUP / 2])) >= MANY;
}

/* Would many meet in a counter, as have threads of one copy samples of one slot? */
HISTO_IN_KERNEL bool meet(const layout *l, const uint32_t *slot)
{
    return __popc(__ballot_sync(~0u, slot[0] == __shfl_xor_sync(~0u, slot[0], 1 << l->log_copies))) >= MANY;
}

/* All samples of a warp, which are of one slot, by its first lane. */
template <typename T, bool SQUARES>
HISTO_IN_KERNEL void add_alike(unsigned int *mine, const layout *l, uint32_t slot, const fixed<T, SQUARES> *f)
{
    typedef format<T, SQUARES> is;
    const uint32_t count = GROUP * WARP, at = word_of(l, slot);
    fixed<T, SQUARES> all = f[0];
#pragma unroll
    for (int k = 1; k < GROUP; k++) {
        all.sum += f[k].sum;
        if constexpr (SQUARES) all.square += f[k].square;
    }
    all.sum = sum_of_numbers<is::WORDS>(all.sum);
    if constexpr (SQUARES) all.square = sum_of_numbers<is::SQUARE_WORDS>(all.square);
    if (threadIdx.x % WARP == 0) add<T, SQUARES, 1>(mine, l, &at, &count, &all);
}

/* A thread's samples, those of one slot joined to the first of them; the others add nothing to a word in the lane's
 * bank, as that is no branch. */
template <typename T, bool SQUARES>
HISTO_IN_KERNEL void add_joined(unsigned int *mine, const layout *l, const uint32_t *slot, fixed<T, SQUARES> *f)
{
    uint32_t at[GROUP], count[GROUP], spare = threadIdx.x % WARP >> l->log_copies << l->log_copies;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        count[k] = 1;
#pragma unroll
        for (int i = 0; i < k; i++) {
            bool joins = count[k] && slot[k] == slot[i];
            f[i].sum += joins ? f[k].sum : 0;
            f[k].sum = joins ? 0 : f[k].sum;
            if constexpr (SQUARES) {
                f[i].square += joins ? f[k].square : 0;
                f[k].square = joins ? 0 : f[k].square;
            }
            count[i] += joins;
            count[k] = joins ? 0 : count[k];
        }
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        at[k] = count[k] ? word_of(l, slot[k]) : spare;
    add<T, SQUARES, GROUP>(mine, l, at, count, f);
}

/* The samples of a thread, which are of two slots at most; if of one, nothing is added to a word in the lane's bank. */
template <typename T, bool SQUARES>
HISTO_IN_KERNEL void add_two(unsigned int *mine, const layout *l, const uint32_t *slot, uint32_t second,
                             const fixed<T, SQUARES> *f)
{
    uint32_t at[2] = {word_of(l, slot[0]), threadIdx.x % WARP >> l->log_copies << l->log_copies}, count[2] = {1, 0};
    fixed<T, SQUARES> sum[2] = {f[0], {0, 0, false}};
    if (slot[0] != second) at[1] = word_of(l, second);
#pragma unroll
    for (int k = 1; k < GROUP; k++) {
        bool is_first = slot[k] == slot[0];
        count[0] += is_first;
        count[1] += !is_first;
        sum[0].sum += is_first ? f[k].sum : 0;
        sum[1].sum += is_first ? 0 : f[k].sum;
        if constexpr (SQUARES) {
            sum[0].square += is_first ? f[k].square : 0;
            sum[1].square += is_first ? 0 : f[k].square;
        }
    }
    add<T, SQUARES, 2>(mine, l, at, count, sum);
}

/* By a whole warp. */
template <typename T, bool SQUARES>
HISTO_IN_KERNEL void add_repeating(unsigned int *mine, const layout *l, const uint32_t *slot, fixed<T, SQUARES> *f)
{
    uint32_t second = slot[0], first = __shfl_sync(~0u, slot[0], 0);
    bool two = true;
#pragma unroll
    for (int k = 1; k < GROUP; k++) {
        two = two && (slot[k] == slot[0] || second == slot[0] || slot[k] == second);
        second = slot[k] == slot[0] ? second : slot[k];
    }
    if (__all_sync(~0u, two && second == first && slot[0] == first))
        add_alike(mine, l, first, f);
    else if (__all_sync(~0u, two))
        add_two(mine, l, slot, second, f);
    else if (meet(l, slot))
        add_joined(mine, l, slot, f);
    else
        add_each<T, SQUARES, GROUP>(mine, l, slot, f);
}

/* ---- The merge ---- */

/* Sum the words of a slot over the copies, and clear them. Lanes that take neighbouring slots begin with different
 * copies, and so with different banks. */
template <int WORDS>
HISTO_IN_KERNEL wide take(unsigned int *shared, const layout *l, uint32_t word, bool has_sign)
{
    uint32_t last = (1u << l->log_copies) - 1;
    wide sum = 0;
    for (uint32_t c = 0; c <= last; c++) {
        unsigned int *at = &shared[word + ((c + (word >> 5)) & last)];
        wide x = has_sign && (int)at[(WORDS - 1) * l->words] < 0 ? ~(wide)0 : 0;
#pragma unroll
        for (int j = WORDS - 1; j >= 0; j--) {
            x = x << 32 | at[(uint32_t)j * l->words];
            at[(uint32_t)j * l->words] = 0;
        }
        sum += x;
    }
    return sum;
}

/* Add x * 2^(unit - 1088) to sum `which` of counter i of the accumulators. */
HISTO_IN_KERNEL void merge_sum(const histo_cuda_work *w, int which, int64_t i, wide x, bool has_sign, int unit)
{
    bool negative = has_sign && x >> 127;
    if (negative) x = 0 - x;
    if (!x) return;
    double *sums = which ? w->sum_w2 : w->sum_w;
    if (sums) {
        double sum = ldexp(histo_round_u128((uint64_t)(x >> 64), (uint64_t)x), unit - 32 * HISTO_EXACT_UNIT);
        atomicAdd(&sums[i], negative ? -sum : sum);
        return;
    }
    int window = unit >> 5, shift = unit & 31;
    uint32_t digit = (uint32_t)x << shift;
    for (x >>= 32 - shift;; x >>= 32) {
        histo_add_digit(w, &w->exact[which], i, window++, negative ? -(long long)digit : (long long)digit);
        if (!x) break;
        digit = (uint32_t)x;
    }
}

/* The block's words are added to the histogram, by each block from another slot on. */
template <typename T, bool SQUARES>
HISTO_IN_KERNEL void merge(unsigned int *shared, const layout *l, const histo_cuda_work *w, int64_t entry,
                           const window<T> *in)
{
    typedef format<T, SQUARES> is;
    typedef planes<T, SQUARES> plane;
    uint32_t counters = (uint32_t)w->counters, begin = (uint32_t)((uint64_t)blockIdx.x * counters / gridDim.x);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < counters; i += blockDim.x) {
        uint32_t slot = i + begin < counters ? i + begin : i + begin - counters, word = word_of(l, slot);
        unsigned int count = (unsigned int)take<1>(shared, l, word, false);
        if (!count) continue;
        int64_t at = entry * w->counters + slot;
        atomicAdd(&w->counts[at], (unsigned long long)count);
        merge_sum(w, 0, at, take<is::WORDS>(shared + plane::SUM * l->words, l, word, true), true, in->unit);
        if constexpr (SQUARES)
            merge_sum(w, 1, at, take<is::SQUARE_WORDS>(shared + plane::SQUARE * l->words, l, word, false), false,
                      in->square_unit);
    }
    __syncthreads();
}

/* ---- Kernels ---- */

/* A weight that is outside of the window. */
static __device__ __noinline__ void add_outside(const histo_cuda_work *w, int64_t i, const char *at)
{
    histo_add_weight(w, i, at);
}

/* GROUP neighbours, by vector loads if they are aligned. */
template <typename T>
HISTO_IN_KERNEL void load_group(const T *from, bool aligned, T *x)
{
    enum { VECTORS = GROUP * (int)sizeof(T) / 16 };
    if (VECTORS && aligned) {
        uint4 words[VECTORS + !VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            words[v] = __ldcs((const uint4 *)from + v);
        memcpy(x, words, VECTORS * sizeof *words);
    } else {
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            x[i] = from[i];
    }
}

HISTO_IN_KERNEL bool is_aligned(const void *at)
{
    return (uintptr_t)at % 16 == 0;
}

/* Ways to the slots of a group: as the lookup has it, or of f32 by a table beside the counters, of first floats or of
 * cells. */
enum { PLAIN, FIRSTS, LINEAR, BITS };

template <int WAY>
HISTO_IN_KERNEL void load_table(const histo_lookup *l, uint32_t *table)
{
    if (WAY == FIRSTS) histo_load_firsts(l, table);
    for (uint32_t i = threadIdx.x; (WAY == LINEAR || WAY == BITS) && i < l->cells.words; i += blockDim.x)
        table[i] = l->cells.entry[i];
}

#define SLOTS_OF(constant, name, storage)                                                                              \
    template <int WAY>                                                                                                 \
    HISTO_IN_KERNEL void slots_of(const histo_lookup *l, const uint32_t *, const storage *x, uint32_t *slot)           \
    {                                                                                                                  \
        histo_n_slots_of_##name(l, x, slot, GROUP);                                                                    \
    }

/* Guesses are slots, unless one is near an edge, or where they are made on a curve: then true. */
HISTO_IN_KERNEL bool guess(const histo_lookup *l, const float *x, uint32_t *slot)
{
    if (l->curve != HISTO_STRAIGHT) return true;
    float nearest = 1;
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        histo_guess it = histo_guess_of(l, x[i]);
        slot[i] = it.before < 0 ? it.bits - (HISTO_GUESS_0 - 1) : it.bits - HISTO_GUESS_0;
        nearest = fminf(nearest, fabsf(it.before));
    }
    return nearest <= l->margin_f32;
}

template <int WAY>
HISTO_IN_KERNEL void slots_of(const histo_lookup *l, const uint32_t *table, const float *x, uint32_t *slot)
{
    if (WAY == FIRSTS && guess(l, x, slot))
        histo_slots_by_firsts(l, table, x, slot, GROUP);
    else if (WAY == LINEAR || WAY == BITS)
        histo_slots_by_cells_f32(l, table, WAY == BITS, x, slot, GROUP);
    else if (WAY == PLAIN)
        histo_n_slots_of_f32(l, x, slot, GROUP);
}

#define OTHERS(X)                                                                                                      \
    X(HISTO_U8, u8, uint8_t)                                                                                           \
    X(HISTO_U16, u16, uint16_t)                                                                                        \
    X(HISTO_U32, u32, uint32_t) X(HISTO_I32, i32, int32_t) X(HISTO_F64, f64, double)
OTHERS(SLOTS_OF)

/* Contiguous samples of one axis, and contiguous weights. */
#define COUNT(constant, name, storage)                                                                                 \
    template <typename T, bool SQUARES, int WAY>                                                                       \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        count_##name(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)                   \
    {                                                                                                                  \
        enum { GROUPS = sizeof(storage) + sizeof(T) > 8 ? 1 : 2 };                                                     \
        extern __shared__ unsigned int shared[];                                                                       \
        const histo_lookup *lookup = &work.lookups[0];                                                                 \
        unsigned int *mine = shared + (threadIdx.x & ((1u << l.log_copies) - 1));                                      \
        bool joins = WARP >> l.log_copies > FEW_LANES;                                                                 \
        load_table<WAY>(lookup, shared + l.table);                                                                     \
        for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {                                        \
            histo_tile tile = histo_tile_any(&work, item);                                                             \
            const storage *samples = (const storage *)tile.at;                                                         \
            histo_place place = histo_place_of(&work, &tile, 0);                                                       \
            const T *weights = (const T *)histo_address(&work, &place, work.weights);                                  \
            bool samples_aligned = is_aligned(samples), weights_aligned = is_aligned(weights);                         \
            int64_t first = tile.entry * work.counters;                                                                \
            window<T> in = window_from<T, SQUARES>(                                                                    \
                densest_window<T, SQUARES>(shared, tile.length, [&](uint32_t i) { return weights[i]; }));              \
            histo_clear_shared(shared, planes<T, SQUARES>::ALL *l.words);                                              \
            uint32_t step = blockDim.x * GROUP * GROUPS, whole = tile.length / step * step;                            \
            for (uint32_t at = threadIdx.x * GROUP; at < whole; at += step) {                                          \
                storage x[GROUPS][GROUP];                                                                              \
                T weight[GROUPS][GROUP];                                                                               \
                _Pragma("unroll") for (int g = 0; g < GROUPS; g++)                                                     \
                {                                                                                                      \
                    load_group(samples + at + g * blockDim.x * GROUP, samples_aligned, x[g]);                          \
                    load_group(weights + at + g * blockDim.x * GROUP, weights_aligned, weight[g]);                     \
                }                                                                                                      \
                _Pragma("unroll") for (int g = 0; g < GROUPS; g++)                                                     \
                {                                                                                                      \
                    uint32_t slot[GROUP];                                                                              \
                    fixed<T, SQUARES> f[GROUP];                                                                        \
                    bool outside = false;                                                                              \
                    slots_of<WAY>(lookup, shared + l.table, x[g], slot);                                               \
                    _Pragma("unroll") for (int k = 0; k < GROUP; k++)                                                  \
                    {                                                                                                  \
                        f[k] = cut<T, SQUARES>(weight[g][k], &in);                                                     \
                        outside |= f[k].outside;                                                                       \
                    }                                                                                                  \
                    if (joins && repeats(slot))                                                                        \
                        add_repeating(mine, &l, slot, f);                                                              \
                    else                                                                                               \
                        add_each<T, SQUARES, GROUP>(mine, &l, slot, f);                                                \
                    if (outside)                                                                                       \
                        _Pragma("unroll") for (int k = 0; k < GROUP; k++) if (f[k].outside) add_outside(               \
                            &work, first + slot[k], (const char *)(weights + at + g * blockDim.x * GROUP + k));        \
                }                                                                                                      \
            }                                                                                                          \
            for (uint32_t i = whole + threadIdx.x; i < tile.length; i += blockDim.x) {                                 \
                uint32_t slot = histo_slot_of_##name(lookup, samples[i]);                                              \
                fixed<T, SQUARES> f = cut<T, SQUARES>(weights[i], &in);                                                \
                add_each<T, SQUARES, 1>(mine, &l, &slot, &f);                                                          \
                if (f.outside) add_outside(&work, first + slot, (const char *)(weights + i));                          \
            }                                                                                                          \
            merge<T, SQUARES>(shared, &l, &work, tile.entry, &in);                                                     \
        }                                                                                                              \
    }
OTHERS(COUNT)
COUNT(HISTO_F32, f32, float)

/* Is a number of the compute type the same as double? */
HISTO_IN_KERNEL bool is_exact(double, double)
{
    return true;
}

template <typename T>
HISTO_IN_KERNEL bool is_exact(T, double x)
{
    return fabs(x) < 0x1p53;
}

/* The weight at `at`, 1 if there are none; false if double does not hold it. */
HISTO_IN_KERNEL bool load_weight(const histo_cuda_work *w, const char *at, double *weight)
{
    *weight = 1;
    if (!at) return true;
    switch (w->dtypes[w->weights]) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        HISTO_LOAD(storage, stored, at)                                                                                \
        compute x = (compute)widen(stored);                                                                            \
        *weight = (double)x;                                                                                           \
        return is_exact(x, *weight);                                                                                   \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return true;
    }
}

/* Everything else, one by one. */
template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    extern __shared__ unsigned int shared[];
    unsigned int *mine = shared + (threadIdx.x & ((1u << l.log_copies) - 1));
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_any(&work, item);
        auto address = [&](const histo_place *place) {
            return work.weights == HISTO_ABSENT ? NULL : histo_address(&work, place, work.weights);
        };
        window<T> in = window_from<T, SQUARES>(densest_window<T, SQUARES>(shared, tile.length, [&](uint32_t i) {
            histo_place place = histo_place_of(&work, &tile, i);
            double weight;
            load_weight(&work, address(&place), &weight);
            return weight;
        }));
        histo_clear_shared(shared, planes<T, SQUARES>::ALL * l.words);
        for (uint32_t i = threadIdx.x; i < tile.length; i += blockDim.x) {
            histo_place place = histo_place_of(&work, &tile, i);
            uint32_t slot = histo_slot_of_place(&work, &place);
            if (slot == work.slots) { /* left out: counted, but not its weight */
                atomicAdd(&mine[word_of(&l, slot)], 1u);
                continue;
            }
            double weight;
            bool exact = load_weight(&work, address(&place), &weight);
            fixed<T, SQUARES> f = cut<T, SQUARES>(exact ? weight : 0, &in);
            add_each<T, SQUARES, 1>(mine, &l, &slot, &f);
            if (f.outside || !exact) add_outside(&work, tile.entry * work.counters + slot, address(&place));
        }
        merge<T, SQUARES>(shared, &l, &work, tile.entry, &in);
    }
}

/* ---- The strategy ---- */

typedef struct plan {
    layout l;
    int threads;   /* 0: it does not fit */
    size_t shared; /* bytes */
    int64_t blocks;
} plan;

/* Weights of f32 that are read fast; all others become double. */
static bool is_float(const histo_problem *p)
{
    return p->weights != HISTO_ABSENT && p->dtypes[p->weights] == HISTO_F32;
}

static int planes_of(bool narrow, bool squares)
{
    if (narrow) return squares ? (int)planes<float, true>::ALL : (int)planes<float, false>::ALL;
    return squares ? (int)planes<double, true>::ALL : (int)planes<double, false>::ALL;
}

static plan plan_of(const histo_problem *p, const int64_t *params, bool narrow, int64_t table)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    int64_t counters = p->slots + 1, room = (int64_t)device->shared_block / 4 - 64, most = (int64_t)MAX_COUNTERS / 4;
    bool squares = histo_has_squares(p->weighting);
    int64_t all = planes_of(narrow, squares);
    int64_t probe = 2 * (narrow ? (int)format<float, true>::ALL : (int)format<double, true>::ALL) + 2;
    if (most > room || params[LANES]) most = room;
    plan it = {{5, false, 0, 0}, 0, 0, 0};
    int64_t words;
    if (counters > room) return it;
    for (;; it.l.log_copies--) {
        it.l.spreads = WARP >> it.l.log_copies > FEW_LANES;
        words = (it.l.spreads ? (int64_t)histo_spread((uint32_t)counters - 1) + 1 : counters) << it.l.log_copies;
        bool fits = words * all <= most && WARP >> it.l.log_copies >= params[LANES];
        if (fits || it.l.log_copies == 0) break;
    }
    it.l.words = (uint32_t)words;
    it.l.table = (uint32_t)(words * all > probe ? words * all : probe);
    if (it.l.table + table > room) return it;
    it.shared = (size_t)(it.l.table + table) * sizeof(unsigned int);
    it.threads = (int)params[THREADS] / WARP * WARP;
    it.blocks = params[BLOCKS] ? params[BLOCKS] : device->multiprocessors;
    return it;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    static const int64_t defaults[HISTO_MAX_PARAMS] = {0, 0, 1024};
    if (problem->weighting == HISTO_UNWEIGHTED) return "it sums weights: others count faster";
    return plan_of(problem, defaults, false, 0).threads ? NULL
                                                        : "too many bins: the words of their sums must fit a block";
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    double bytes = 0, merged = (double)p->slots * (double)p->batch * 132;
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    double by_bytes = bytes / 2.5e6, by_samples = p->operands > 2 || p->naxes > 1 ? 1 / 5e4 : 1 / 4e5;
    return 8 + (double)p->samples * (by_bytes > by_samples ? by_bytes : by_samples) + merged / 2e5;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)problem, (void)threads, (void)params;
    return 0;
}

/* The way of f32 with a table, and the words of that. */
static int way_of(const histo_problem *p, int64_t *table)
{
    const histo_lookup *lookup = &p->lookups[0];
    *table = 0;
    if (p->dtypes[0] != HISTO_F32 || !(lookup->near_f32 || lookup->cells.entry)) return PLAIN;
    *table = lookup->near_f32 ? histo_firsts_words(lookup) : lookup->cells.words;
    return lookup->near_f32 ? FIRSTS : lookup->cells.by_bits ? BITS : LINEAR;
}

/* A kernel for contiguous operands, or NULL. */
static const void *fast_kernel(const histo_cuda_work *work, bool squares, int way)
{
    const histo_strided_iter *iter = &work->iter;
    if (iter->operands != 2 || work->naxes != 1 || work->weights != 1 || !work->aligned) return NULL;
    if (iter->ndim != iter->batch_ndim + 1) return NULL;
    for (int o = 0; o < 2; o++)
        if (iter->strides[o][iter->ndim - 1] != (int64_t)histo_dtype_size(work->dtypes[o])) return NULL;
    bool narrow = work->dtypes[1] == HISTO_F32;
    if (!narrow && work->dtypes[1] != HISTO_F64) return NULL;
#define KERNEL(name, way)                                                                                               \
    (narrow    ? squares ? (const void *)count_##name<float, true, way> : (const void *)count_##name<float, false, way> \
        : squares ? (const void *)count_##name<double, true, way>                                                       \
               : (const void *)count_##name<double, false, way>)
    switch (work->dtypes[0]) {
#define CASE(constant, name, storage)                                                                                  \
    case constant:                                                                                                     \
        return KERNEL(name, PLAIN);
        OTHERS(CASE)
#undef CASE
    case HISTO_F32:
        return way == FIRSTS   ? KERNEL(f32, FIRSTS)
               : way == LINEAR ? KERNEL(f32, LINEAR)
               : way == BITS   ? KERNEL(f32, BITS)
                               : KERNEL(f32, PLAIN);
    default:
        return NULL;
    }
#undef KERNEL
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    plan it = plan_of(job->problem, job->params, false, 0);
    int64_t n = job->end - job->begin, rounds = (n - 1) / (it.blocks * MAX_SAMPLES) + 1, table;
    histo_cuda_work work = histo_cuda_work_of(job, it.blocks * rounds, MIN, MAX_SAMPLES);
    bool squares = histo_has_squares(job->problem->weighting), narrow = is_float(job->problem);
    int way = way_of(job->problem, &table);
    if (!plan_of(job->problem, job->params, narrow, table).threads) way = PLAIN;
    const void *kernel = fast_kernel(&work, squares, way);
    if (kernel) it = plan_of(job->problem, job->params, narrow, way == PLAIN ? 0 : table);
    if (!kernel) kernel = squares ? (const void *)count_any<double, true> : (const void *)count_any<double, false>;
    void *args[] = {&work, &it.l};
    dim3 grid((unsigned)(work.tiles < it.blocks ? work.tiles : it.blocks));
    return histo_cuda_launch(job, kernel, grid, it.threads, it.shared, args);
}

extern "C" const histo_strategy histo_cuda_weighted_private = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"lanes", 0, 32, 0,
                "lanes of a warp that share a copy, rounded up to a power of 2; 0: as few as leave the cache room"},
               {"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
               {"threads", 32, 1024, 1024, "threads of a block, rounded down to whole warps"}},
};
