/* weighted_private: every block sums weights in fixed point, in copies of a few words for each slot in shared memory, of
 * which each belongs to a few lanes of every warp and to as many banks.
 *
 * - Shared memory adds 32-bit integers at full speed, floats and 64-bit numbers by loops. A weight in fixed point is two
 *   or three such words, its square three or four, and the old word tells the carry into the next. Integers commute, and
 *   nothing is rounded: the sums of a block are exact, in the fast mode too.
 * - A share of the samples has a window of exponents, the densest among some of its weights. Weights outside of it, and
 *   those that are no numbers, are added to the histogram one by one, as global_atomic does.
 * - The window and the words are so wide that no sum of a share can overflow.
 * - Where many lanes share a copy and slots repeat, lanes of one slot are joined before they add.
 *
 * Bytes: each sample and weight once. Wins wherever the words of all slots fit a block; loses to global_atomic for more,
 * and where exponents of weights have no dense window.
 * Source: ours; the layout is that of lane_private, the carry that of packed counters (Ross 2014, 5.2). */
#include "cuda/block.cuh"

enum { LANES, BLOCKS, THREADS };
enum { WARP = 32, GROUP = 4 /* samples of a thread at a time */, FEW_LANES = 4 /* of a copy: they need not be joined */ };
enum { SHARE_BITS = 22, MOST_SAMPLES = 1 << SHARE_BITS /* of a share */ };
enum { EVERY_LANE = -1 };
static const size_t MOST_COUNTERS = 200 << 10; /* bytes of them that leave enough to the first-level cache */

typedef struct layout {
    uint32_t log_copies;
    bool spreads;   /* counters over the banks of a copy: where many lanes share it */
    uint32_t words; /* of a plane: one word of all slots and copies */
} layout;

/* ---- Weights in fixed point ---- */

/* For weights of a type: exponents of a window, those that it may begin with, words of a sum, and of one of squares.
 * significand bits + exponents + SHARE_BITS are below 32 * WORDS - 1, and those of squares at most 32 * SQUARE_WORDS. */
template <typename T, bool SQUARES> struct format;

template <bool SQUARES> struct format<float, SQUARES> {
    enum { WORDS = 2, SQUARE_WORDS = SQUARES ? 3 : 0, EXPONENTS = SQUARES ? 14 : 18, ALL = 256 };
    enum { FIRST = 1, LAST = ALL - 1 - EXPONENTS };
};

/* With squares that are normal doubles. */
template <bool SQUARES> struct format<double, SQUARES> {
    enum { WORDS = 3, SQUARE_WORDS = SQUARES ? 4 : 0, EXPONENTS = 21, ALL = 2048 };
    enum { FIRST = SQUARES ? 512 : 1, LAST = (SQUARES ? 1534 : ALL - 1) - EXPONENTS };
};

/* A weight and its square as multiples of their units: words, the lowest first. All zero outside of the window. */
template <typename T, bool SQUARES> struct fixed {
    uint32_t word[format<T, SQUARES>::WORDS], square[format<T, SQUARES>::SQUARE_WORDS + 1];
    bool negative;
    bool outside; /* it is another number than 0, or none, and not in the window */
};

HISTO_IN_KERNEL uint32_t exponent_of(float x)
{
    return __float_as_uint(x) >> 23 & 0xff;
}

HISTO_IN_KERNEL uint32_t exponent_of(double x)
{
    return (uint32_t)__double2hiint(x) >> 20 & 0x7ff;
}

/* The bit, above 2^-1088, of the last bit of significands with an exponent; and of their squares. */
HISTO_IN_KERNEL int unit_of(float, uint32_t exponent)
{
    return (int)exponent + 938;
}

HISTO_IN_KERNEL int unit_of(double, uint32_t exponent)
{
    return (int)exponent + 13;
}

HISTO_IN_KERNEL int square_unit_of(float, uint32_t exponent)
{
    return 2 * (int)exponent + 788;
}

HISTO_IN_KERNEL int square_unit_of(double, uint32_t exponent)
{
    return 2 * (int)exponent - 1010;
}

/* shift < 32 */
HISTO_IN_KERNEL void shift_left(uint64_t x, uint32_t shift, uint32_t *word)
{
    word[0] = (uint32_t)x << shift;
    word[1] = __funnelshift_l((uint32_t)x, (uint32_t)(x >> 32), shift);
    word[2] = __funnelshift_l((uint32_t)(x >> 32), 0, shift);
}

template <bool SQUARES>
HISTO_IN_KERNEL void cut(float x, uint32_t lowest, fixed<float, SQUARES> *f)
{
    uint32_t bits = __float_as_uint(x), shift = exponent_of(x) - lowest;
    bool inside = shift < format<float, SQUARES>::EXPONENTS;
    uint32_t significand = inside ? (bits & 0x7fffff) | 0x800000 : 0;
    shift &= 31;
    f->word[0] = significand << shift;
    f->word[1] = __funnelshift_l(significand, 0, shift);
    if constexpr (SQUARES) shift_left((uint64_t)significand * significand, 2 * shift & 31, f->square);
    f->negative = inside && bits >> 31;
    f->outside = !inside && bits << 1;
}

template <bool SQUARES>
HISTO_IN_KERNEL void cut(double x, uint32_t lowest, fixed<double, SQUARES> *f)
{
    const uint64_t hidden = UINT64_C(1) << 52;
    uint64_t bits = (uint64_t)__double_as_longlong(x);
    uint32_t shift = exponent_of(x) - lowest;
    bool inside = shift < format<double, SQUARES>::EXPONENTS;
    shift_left(inside ? (bits & (hidden - 1)) | hidden : 0, shift & 31, f->word);
    if constexpr (SQUARES) {
        uint64_t square = (uint64_t)__double_as_longlong(x * x);
        uint32_t by = (uint32_t)(square >> 52) - (2 * lowest - 1023), word[3];
        shift_left(inside ? (square & (hidden - 1)) | hidden : 0, by & 31, word);
        bool far = by & 32;
        f->square[0] = far ? 0 : word[0];
        f->square[1] = far ? word[0] : word[1];
        f->square[2] = far ? word[1] : word[2];
        f->square[3] = far ? word[2] : 0;
    }
    f->negative = inside && bits >> 63;
    f->outside = !inside && bits << 1;
}

/* ---- The window of a share ---- */

/* The first exponent of the window that most of some weights of the share are in; of several such windows one with room
 * above. weight(i): the i-th of the share. shared: 2 * ALL words. */
template <typename T, bool SQUARES, typename F>
HISTO_IN_KERNEL uint32_t densest_window(unsigned int *shared, uint32_t length, F weight)
{
    typedef format<T, SQUARES> is;
    enum { ROOM = 2 };
    __shared__ unsigned int most, lowest;
    unsigned int *inside = shared + is::ALL;
    if (threadIdx.x == 0) {
        most = 0;
        lowest = is::LAST;
    }
    histo_clear_shared(shared, is::ALL);
    if (length)
        atomicAdd(&shared[exponent_of(weight((uint32_t)((uint64_t)threadIdx.x * length / blockDim.x)))], 1u);
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
template <typename T, bool SQUARES> struct planes {
    enum { SUM = 1, SQUARE = SUM + format<T, SQUARES>::WORDS, ALL = SQUARE + format<T, SQUARES>::SQUARE_WORDS };
};

/* ---- Adding ---- */

/* Add numbers of WORDS words, word(k, j), and carry[k], to the planes from at[k] on. */
template <int WORDS, int N, typename F>
HISTO_IN_KERNEL void add_words(unsigned int *const *at, uint32_t stride, uint32_t *carry, F word)
{
#pragma unroll
    for (int j = 0; j < WORDS; j++)
#pragma unroll
        for (int k = 0; k < N; k++) {
            uint32_t x = word(k, j) + carry[k];
            if (j + 1 == WORDS) {
                atomicAdd(&at[k][(uint32_t)j * stride], x);
            } else {
                bool wrapped = x < carry[k];
                uint32_t old = atomicAdd(&at[k][(uint32_t)j * stride], x);
                carry[k] = wrapped | (old + x < x);
            }
        }
}

template <typename T, bool SQUARES, int N>
HISTO_IN_KERNEL void add(unsigned int *mine, const layout *l, const uint32_t *slot, const fixed<T, SQUARES> *f)
{
    typedef format<T, SQUARES> is;
    typedef planes<T, SQUARES> plane;
    unsigned int *at[N];
    uint32_t carry[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        at[k] = &mine[word_of(l, slot[k])];
        atomicAdd(at[k], 1u);
        at[k] += l->words;
        carry[k] = f[k].negative; /* with the words inverted: the negative number */
    }
    add_words<is::WORDS, N>(at, l->words, carry,
                            [&](int k, int j) { return f[k].word[j] ^ (f[k].negative ? ~0u : 0); });
    if constexpr (SQUARES) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            at[k] += (plane::SQUARE - plane::SUM) * l->words;
            carry[k] = 0;
        }
        add_words<is::SQUARE_WORDS, N>(at, l->words, carry, [&](int k, int j) { return f[k].square[j]; });
    }
}

/* ---- Joining lanes of one slot ---- */

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

typedef unsigned __int128 wide; /* a number modulo 2^128 */

/* The sum over all lanes, cut into as many pieces as it has words; the last has the sign. */
template <int PIECES> HISTO_IN_KERNEL wide sum_of_lanes(wide x)
{
    wide sum = 0;
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        uint32_t piece = (uint32_t)(x >> (PIECE * p));
        if (p + 1 < PIECES)
            sum += (wide)sum_of_lanes(piece & ((1u << PIECE) - 1)) << (PIECE * p);
        else
            sum += (wide)(__int128)(int32_t)sum_of_lanes(piece) << (PIECE * p);
    }
    return sum;
}

template <int WORDS> HISTO_IN_KERNEL wide number_of(const uint32_t *word, bool negative)
{
    wide x = 0;
#pragma unroll
    for (int j = WORDS - 1; j >= 0; j--)
        x = x << 32 | word[j];
    return negative ? 0 - x : x;
}

/* Some samples of a thread that are all in one slot. */
typedef struct several {
    uint32_t slot, count;
    wide sum, squares;
} several;

template <typename T, bool SQUARES> HISTO_IN_KERNEL void add_several(unsigned int *mine, const layout *l, several s)
{
    typedef planes<T, SQUARES> plane;
    unsigned int *at = &mine[word_of(l, s.slot)];
    uint32_t carry = 0;
    atomicAdd(at, s.count);
    at += l->words;
    add_words<plane::SQUARE - plane::SUM, 1>(&at, l->words, &carry,
                                             [&](int, int j) { return (uint32_t)(s.sum >> (32 * j)); });
    if constexpr (SQUARES) {
        at += (plane::SQUARE - plane::SUM) * l->words;
        carry = 0;
        add_words<plane::ALL - plane::SQUARE, 1>(&at, l->words, &carry,
                                                 [&](int, int j) { return (uint32_t)(s.squares >> (32 * j)); });
    }
}

/* Lanes of the commonest slots are joined to one, which adds for all; by a whole warp. */
template <typename T, bool SQUARES> HISTO_IN_KERNEL void add_joined(unsigned int *mine, const layout *l, several s)
{
    typedef format<T, SQUARES> is;
    enum { ROUNDS = 4, FEW = 4 /* lanes are not worth it */ };
    unsigned left = ~0u, lane = threadIdx.x % WARP;
    bool adds = true;
    for (int round = 0; round < ROUNDS && left; round++) {
        int leader = __ffs((int)left) - 1;
        bool in = s.slot == __shfl_sync(~0u, s.slot, leader);
        unsigned group = __ballot_sync(~0u, in);
        left &= ~group;
        if (__popc(group) < FEW) continue;
        wide sum = sum_of_lanes<is::WORDS>(in ? s.sum : 0), squares = 0;
        if constexpr (SQUARES) squares = sum_of_lanes<is::SQUARE_WORDS>(in ? s.squares : 0);
        uint32_t count = sum_of_lanes(in ? s.count : 0);
        if (!in) continue;
        adds = lane == (unsigned)leader;
        s.sum = sum;
        s.squares = squares;
        s.count = count;
    }
    if (adds) add_several<T, SQUARES>(mine, l, s);
}

/* Is lane 0's slot that of many lanes? For a whole warp. */
HISTO_IN_KERNEL bool repeats(uint32_t slot)
{
    enum { MANY = 6 };
    return __popc(__ballot_sync(~0u, slot == __shfl_sync(~0u, slot, 0))) >= MANY;
}

template <typename T, bool SQUARES>
HISTO_IN_KERNEL void add_repeating(unsigned int *mine, const layout *l, const uint32_t *slot,
                                   const fixed<T, SQUARES> *f)
{
    typedef format<T, SQUARES> is;
    several all = {slot[0], 0, 0, 0};
    bool same = true;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        same &= slot[k] == slot[0];
        all.count++;
        all.sum += number_of<is::WORDS>(f[k].word, f[k].negative);
        if constexpr (SQUARES) all.squares += number_of<is::SQUARE_WORDS>(f[k].square, false);
    }
    same = __all_sync(~0u, same);
#pragma unroll 1
    for (int k = 0; k < (same ? 1 : (int)GROUP); k++) {
        several one = all;
#pragma unroll
        for (int i = 0; i < GROUP; i++) /* keeps the arrays in registers */
            if (i == k && !same) {
                one = {slot[i], 1, number_of<is::WORDS>(f[i].word, f[i].negative), 0};
                if constexpr (SQUARES) one.squares = number_of<is::SQUARE_WORDS>(f[i].square, false);
            }
        add_joined<T, SQUARES>(mine, l, one);
    }
}

/* ---- The merge ---- */

/* Sum the words of a slot over the copies, and clear them. Lanes that take neighbouring slots begin with different
 * copies, and so with different banks. */
template <int WORDS> HISTO_IN_KERNEL wide take(unsigned int *shared, const layout *l, uint32_t word, bool has_sign)
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

/* Add x * 2^(unit - 1088) to sum `which` of counter i of the bank. */
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
                           uint32_t lowest)
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
        merge_sum(w, 0, at, take<is::WORDS>(shared + plane::SUM * l->words, l, word, true), true,
                  unit_of(T(), lowest));
        if constexpr (SQUARES)
            merge_sum(w, 1, at, take<is::SQUARE_WORDS>(shared + plane::SQUARE * l->words, l, word, false),
                      false, square_unit_of(T(), lowest));
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
template <typename T> HISTO_IN_KERNEL void load_group(const T *from, bool aligned, T *x)
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

/* Contiguous samples of one axis, and contiguous weights. */
#define COUNT(name, storage)                                                                                           \
    template <typename T, bool SQUARES>                                                                                \
    static __global__ void __launch_bounds__(1024, 1)                                                                  \
        count_##name(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)                   \
    {                                                                                                                  \
        enum { GROUPS = sizeof(storage) + sizeof(T) > 8 ? 1 : 2 };                                                     \
        extern __shared__ unsigned int shared[];                                                                       \
        const histo_lookup *lookup = &work.lookups[0];                                                                 \
        unsigned int *mine = shared + (threadIdx.x & ((1u << l.log_copies) - 1));                                      \
        bool joins = WARP >> l.log_copies > FEW_LANES;                                                                 \
        for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {                                       \
            histo_share share = histo_share_any(&work, item);                                                          \
            const storage *samples = (const storage *)share.at;                                                        \
            histo_place place = histo_place_of(&work, &share, 0);                                                      \
            const T *weights = (const T *)histo_address(&work, &place, work.weights);                                  \
            bool samples_aligned = is_aligned(samples), weights_aligned = is_aligned(weights);                         \
            int64_t first = share.entry * work.counters;                                                               \
            uint32_t lowest =                                                                                          \
                densest_window<T, SQUARES>(shared, share.length, [&](uint32_t i) { return weights[i]; });              \
            histo_clear_shared(shared, planes<T, SQUARES>::ALL *l.words);                                              \
            uint32_t step = blockDim.x * GROUP * GROUPS, whole = share.length / step * step;                           \
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
                    histo_slots_of_##name<GROUP>(lookup, x[g], slot);                                                  \
                    _Pragma("unroll") for (int k = 0; k < GROUP; k++)                                                  \
                    {                                                                                                  \
                        cut(weight[g][k], lowest, &f[k]);                                                              \
                        outside |= f[k].outside;                                                                       \
                    }                                                                                                  \
                    if (joins && repeats(slot[0]))                                                                     \
                        add_repeating(mine, &l, slot, f);                                                              \
                    else                                                                                               \
                        add<T, SQUARES, GROUP>(mine, &l, slot, f);                                                     \
                    if (outside) _Pragma("unroll") for (int k = 0; k < GROUP; k++) if (f[k].outside)                   \
                            add_outside(&work, first + slot[k],                                                        \
                                        (const char *)(weights + at + g * blockDim.x * GROUP + k));                    \
                }                                                                                                      \
            }                                                                                                          \
            for (uint32_t i = whole + threadIdx.x; i < share.length; i += blockDim.x) {                                \
                uint32_t slot = histo_slot_of_##name(lookup, samples[i]);                                              \
                fixed<T, SQUARES> f;                                                                                   \
                cut(weights[i], lowest, &f);                                                                           \
                add<T, SQUARES, 1>(mine, &l, &slot, &f);                                                               \
                if (f.outside) add_outside(&work, first + slot, (const char *)(weights + i));                          \
            }                                                                                                          \
            merge<T, SQUARES>(shared, &l, &work, share.entry, lowest);                                                 \
        }                                                                                                              \
    }
#define FAST(X) X(HISTO_U8, u8, uint8_t) X(HISTO_U16, u16, uint16_t) X(HISTO_U32, u32, uint32_t) \
    X(HISTO_I32, i32, int32_t) X(HISTO_F32, f32, float) X(HISTO_F64, f64, double)
#define COUNT_ROW(constant, name, storage) COUNT(name, storage)
FAST(COUNT_ROW)

/* Is a number of the compute type the same as double? */
HISTO_IN_KERNEL bool is_exact(double, double)
{
    return true;
}

template <typename T> HISTO_IN_KERNEL bool is_exact(T, double x)
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
    for (int64_t item = blockIdx.x; item < work.shares; item += gridDim.x) {
        histo_share share = histo_share_any(&work, item);
        auto address = [&](const histo_place *place) {
            return work.weights == HISTO_ABSENT ? NULL : histo_address(&work, place, work.weights);
        };
        uint32_t lowest = densest_window<T, SQUARES>(shared, share.length, [&](uint32_t i) {
            histo_place place = histo_place_of(&work, &share, i);
            double weight;
            load_weight(&work, address(&place), &weight);
            return weight;
        });
        histo_clear_shared(shared, planes<T, SQUARES>::ALL * l.words);
        for (uint32_t i = threadIdx.x; i < share.length; i += blockDim.x) {
            histo_place place = histo_place_of(&work, &share, i);
            uint32_t slot = histo_slot_of_place(&work, &place);
            if (slot == work.slots) { /* left out: counted, but not its weight */
                atomicAdd(&mine[word_of(&l, slot)], 1u);
                continue;
            }
            double weight;
            bool exact = load_weight(&work, address(&place), &weight);
            fixed<T, SQUARES> f;
            cut(exact ? weight : 0, lowest, &f);
            add<T, SQUARES, 1>(mine, &l, &slot, &f);
            if (f.outside || !exact) add_outside(&work, share.entry * work.counters + slot, address(&place));
        }
        merge<T, SQUARES>(shared, &l, &work, share.entry, lowest);
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

static plan plan_of(const histo_problem *p, const int64_t *params, bool narrow)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    int64_t counters = p->slots + 1, room = (int64_t)device->shared_block / 4 - 64, most = (int64_t)MOST_COUNTERS / 4;
    int64_t all = planes_of(narrow, histo_has_squares(p->weighting));
    int64_t probe = 2 * (narrow ? (int)format<float, true>::ALL : (int)format<double, true>::ALL);
    if (most > room || params[LANES]) most = room;
    plan it = {{5, false, 0}, 0, 0, 0};
    int64_t words;
    if (counters > room) return it;
    for (;; it.l.log_copies--) {
        it.l.spreads = WARP >> it.l.log_copies > FEW_LANES;
        words = (it.l.spreads ? (int64_t)histo_spread((uint32_t)counters - 1) + 1 : counters) << it.l.log_copies;
        bool fits = words * all <= most && WARP >> it.l.log_copies >= params[LANES];
        if (fits || it.l.log_copies == 0) break;
    }
    if (words * all > room) return it;
    it.l.words = (uint32_t)words;
    it.shared = (size_t)(words * all > probe ? words * all : probe) * sizeof(unsigned int);
    it.threads = (int)params[THREADS] / WARP * WARP;
    it.blocks = params[BLOCKS] ? params[BLOCKS] : device->multiprocessors;
    return it;
}

static const char *refuses(const histo_problem *problem)
{
    static const int64_t usual[HISTO_MAX_PARAMS] = {0, 0, 1024};
    if (problem->weighting == HISTO_UNWEIGHTED) return "it sums weights: others count faster";
    return plan_of(problem, usual, false).threads ? NULL : "too many bins: the words of their sums must fit a block";
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

/* A kernel for contiguous operands, or NULL. */
static const void *fast_kernel(const histo_cuda_work *work, bool squares)
{
    const histo_nest *nest = &work->nest;
    if (nest->operands != 2 || work->naxes != 1 || work->weights != 1 || !work->aligned) return NULL;
    if (nest->ndim != nest->batch_ndim + 1) return NULL;
    for (int o = 0; o < 2; o++)
        if (nest->strides[o][nest->ndim - 1] != (int64_t)histo_dtype_size(work->dtypes[o])) return NULL;
    bool narrow = work->dtypes[1] == HISTO_F32;
    if (!narrow && work->dtypes[1] != HISTO_F64) return NULL;
    switch (work->dtypes[0]) {
#define CASE(constant, name, storage)                                                                                  \
    case constant:                                                                                                     \
        return narrow ? squares ? (const void *)count_##name<float, true> : (const void *)count_##name<float, false>   \
               : squares ? (const void *)count_##name<double, true> : (const void *)count_##name<double, false>;
        FAST(CASE)
#undef CASE
    default:
        return NULL;
    }
}

static histo_status launch(const histo_job *job)
{
    enum { LEAST = 1 << 14 };
    plan it = plan_of(job->problem, job->params, false);
    int64_t n = job->end - job->begin, rounds = (n - 1) / (it.blocks * MOST_SAMPLES) + 1;
    histo_cuda_work work = histo_cuda_work_of(job, it.blocks * rounds, LEAST, MOST_SAMPLES);
    bool squares = histo_has_squares(job->problem->weighting);
    const void *kernel = fast_kernel(&work, squares);
    if (kernel && is_float(job->problem)) it = plan_of(job->problem, job->params, true);
    if (!kernel) kernel = squares ? (const void *)count_any<double, true> : (const void *)count_any<double, false>;
    void *args[] = {&work, &it.l};
    dim3 grid((unsigned)(work.shares < it.blocks ? work.shares : it.blocks));
    return histo_cuda_launch(job, kernel, grid, it.threads, it.shared, args);
}

extern "C" const histo_strategy histo_cuda_weighted_private = {
    refuses,
    cost_us,
    workspace,
    launch,
    {{"lanes", 0, 32, 0,
      "lanes of a warp that share a copy, rounded up to a power of 2; 0: as few as leave the cache room"},
     {"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
     {"threads", 32, 1024, 1024, "threads of a block, rounded down to whole warps"}},
};
