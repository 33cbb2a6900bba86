/* The counter of weighted_private: counts and sums of a block in shared memory, as planes of 32-bit words. Shared
 * memory adds 32-bit integers at full speed, but floats and 64-bit numbers by compare-and-swap loops. A number is added
 * word by word; the old word tells the carry into the next. */
#ifndef CUDA_DEVICE_WEIGHTS_WEIGHTED_SUMS_CUH
#define CUDA_DEVICE_WEIGHTS_WEIGHTED_SUMS_CUH

#include "cuda/device/warp.cuh"
#include "cuda/device/weights/fixed_weights.cuh"

namespace histo::weights
{

/* The sum of a number over all lanes, which is cut into as many pieces as it has words; the last has the sign. */
template <int PIECES>
HISTO_IN_KERNEL typename number<PIECES>::type warp_sum_of_numbers(typename number<PIECES>::type x)
{
    enum { PIECE = 27 /* bits, of which 32 lanes' sum is below 2^32 */ };
    using type = typename number<PIECES>::type;
    type sum = 0;
#pragma unroll
    for (int p = 0; p < PIECES; p++) {
        uint32_t piece = (uint32_t)(x >> (PIECE * p));
        if (p + 1 < PIECES)
            sum += (type)histo_warp_sum(piece & ((1u << PIECE) - 1)) << (PIECE * p);
        else
            sum += (type)(int64_t)(int32_t)histo_warp_sum(piece) << (PIECE * p);
    }
    return sum;
}

/* Add x * 2^(unit - 1088) to sum `which` of counter i of the accumulators. one: 2^(unit - 1088). */
HISTO_IN_KERNEL void merge_sum(const histo_cuda_work *w, int which, int64_t i, wide x, bool has_sign, int unit,
                               double one)
{
    bool negative = has_sign && x >> 127;
    if (negative) x = 0 - x;
    if (!x) return;
    double *sums = which ? w->sum_w2 : w->sum_w;
    if (sums) {
        const double sum = ((double)(uint64_t)(x >> 64) * 0x1p64 + (double)(uint64_t)x) * one;
        atomicAdd(&sums[i], negative ? -sum : sum);
        return;
    }
    int exponent_window = unit >> 5, shift = unit & 31;
    uint32_t digit = (uint32_t)x << shift;
    for (x >>= 32 - shift;; x >>= 32) {
        histo_add_digit(w, &w->exact[which], i, exponent_window++, negative ? -(long long)digit : (long long)digit);
        if (!x) break;
        digit = (uint32_t)x;
    }
}

template <typename T, bool SQUARES>
struct sums {
    using is = format<T, SQUARES>;
    using plane = planes<T, SQUARES>;
    using weight = fixed<T, SQUARES>;
    enum { MANY = 6 /* lanes of a warp */ };

    unsigned int *shared, *mine; /* the block's words; those of this lane's copy */
    const sums_layout *l;

    static HISTO_MEMBER sums of(unsigned int *shared, const sums_layout *l)
    {
        return {shared, shared + (threadIdx.x & ((1u << l->log_copies) - 1)), l};
    }

    HISTO_MEMBER void clear() const { histo_clear_shared(shared, plane::ALL * l->words); }

    /* The word of a slot in the first copy. */
    HISTO_MEMBER uint32_t word(uint32_t slot) const
    {
        return (l->spreads ? histo_spread(slot) : slot) << l->log_copies;
    }

    /* The first word in the lane's bank: where what is nothing is added, as that is no branch. */
    HISTO_MEMBER uint32_t spare() const { return threadIdx.x % WARP >> l->log_copies << l->log_copies; }

    /* ---- Adding ---- */

    HISTO_MEMBER void add_count(uint32_t slot, uint32_t n) const { atomicAdd(&mine[word(slot)], n); }

    /* Add numbers to the words at[k] of WORDS planes. CARRIES: the last word only takes carries, which are rare. */
    template <int WORDS, int N, bool CARRIES>
    HISTO_MEMBER void add_numbers(unsigned int *to, const uint32_t *at, typename number<WORDS>::type *n) const
    {
#pragma unroll
        for (int j = 0; j < WORDS; j++, to += l->words)
#pragma unroll
            for (int k = 0; k < N; k++) {
                if (CARRIES && j + 1 == WORDS) {
                    if (n[k]) atomicAdd(&to[at[k]], (uint32_t)n[k]);
                    continue;
                }
                uint32_t old = atomicAdd(&to[at[k]], (uint32_t)n[k]);
                if (j + 1 < WORDS) n[k] = (n[k] + old) >> 32;
            }
    }

    /* Add N times count[k] samples, whose sums are f[k], to the words at[k]. */
    template <int N>
    HISTO_MEMBER void add(const uint32_t *at, const uint32_t *count, const weight *f) const
    {
        typename number<is::WORDS>::type sum[N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            sum[k] = f[k].sum;
            atomicAdd(&mine[at[k]], count[k]);
        }
        add_numbers<is::WORDS, N, false>(mine + plane::SUM * l->words, at, sum);
        if constexpr (SQUARES) {
            typename number<is::SQUARE_WORDS>::type square[N];
#pragma unroll
            for (int k = 0; k < N; k++)
                square[k] = f[k].square;
            add_numbers<is::SQUARE_WORDS, N, true>(mine + plane::SQUARE * l->words, at, square);
        }
    }

    /* One sample of each slot. */
    template <int N>
    HISTO_MEMBER void add_each(const uint32_t *slot, const weight *f) const
    {
        uint32_t at[N], count[N];
#pragma unroll
        for (int k = 0; k < N; k++) {
            at[k] = word(slot[k]);
            count[k] = 1;
        }
        add<N>(at, count, f);
    }

    /* ---- Joining samples of one slot, by a whole warp ---- */

    /* Have many threads neighbours of one slot, where lanes share copies? */
    static HISTO_MEMBER bool repeats(const uint32_t *slot)
    {
        return __popc(__ballot_sync(~0u, slot[0] == slot[1] || slot[0] == slot[GROUP / 2])) >= MANY;
    }

    /* Would many meet in a counter, as threads of one copy that have samples of one slot? */
    HISTO_MEMBER bool meet(const uint32_t *slot) const
    {
        return __popc(__ballot_sync(~0u, slot[0] == __shfl_xor_sync(~0u, slot[0], 1 << l->log_copies))) >= MANY;
    }

    /* All samples of the warp are of one slot: its first lane adds them. */
    HISTO_MEMBER void add_alike(uint32_t slot, const weight *f) const
    {
        const uint32_t count = GROUP * WARP, at = word(slot);
        weight all = f[0];
#pragma unroll
        for (int k = 1; k < GROUP; k++) {
            all.sum += f[k].sum;
            if constexpr (SQUARES) all.square += f[k].square;
        }
        all.sum = warp_sum_of_numbers<is::WORDS>(all.sum);
        if constexpr (SQUARES) all.square = warp_sum_of_numbers<is::SQUARE_WORDS>(all.square);
        if (threadIdx.x % WARP == 0) add<1>(&at, &count, &all);
    }

    /* A thread's samples of one slot are joined to the first of them; the others add nothing to a spare word. */
    HISTO_MEMBER void add_joined(const uint32_t *slot, weight *f) const
    {
        uint32_t at[GROUP], count[GROUP], none = spare();
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
            at[k] = count[k] ? word(slot[k]) : none;
        add<GROUP>(at, count, f);
    }

    /* A thread's samples are of two slots at most; where of one, nothing is added to a spare word. */
    HISTO_MEMBER void add_two(const uint32_t *slot, uint32_t second, const weight *f) const
    {
        uint32_t at[2] = {word(slot[0]), spare()}, count[2] = {1, 0};
        weight sum[2] = {f[0], {0, 0, false}};
        if (slot[0] != second) at[1] = word(second);
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
        add<2>(at, count, sum);
    }

    HISTO_MEMBER void add_repeating(const uint32_t *slot, weight *f) const
    {
        uint32_t second = slot[0], first = __shfl_sync(~0u, slot[0], 0);
        bool two = true;
#pragma unroll
        for (int k = 1; k < GROUP; k++) {
            two = two && (slot[k] == slot[0] || second == slot[0] || slot[k] == second);
            second = slot[k] == slot[0] ? second : slot[k];
        }
        if (__all_sync(~0u, two && second == first && slot[0] == first))
            add_alike(first, f);
        else if (__all_sync(~0u, two))
            add_two(slot, second, f);
        else if (meet(slot))
            add_joined(slot, f);
        else
            add_each<GROUP>(slot, f);
    }

    /* ---- The merge ---- */

    /* Lanes that sum the copies of a slot together: this one's number, and all of them. */
    struct team {
        uint32_t rank, size, mask;
    };

    /* Teams of as many threads as there are for each counter. */
    HISTO_MEMBER team team_of(uint32_t counters) const
    {
        uint32_t size = 1;
        while (size < 1u << l->log_copies && 2 * size * counters <= blockDim.x)
            size *= 2;
        const uint32_t lane = threadIdx.x % WARP, rank = lane & (size - 1);
        return {rank, size, ~0u >> (WARP - size) << (lane - rank)};
    }

    /* The sum of a slot's words over the copies. Lanes that take neighbouring slots begin with different copies, and so
     * with different banks. */
    template <int WORDS>
    HISTO_MEMBER wide sum_copies(const unsigned int *from, uint32_t word, bool has_sign, const team &of) const
    {
        const uint32_t last = (1u << l->log_copies) - 1;
        wide sum = 0;
        for (uint32_t c = of.rank; c <= last; c += of.size) {
            const unsigned int *at = &from[word + ((c + (word >> 5)) & last)];
            wide x = has_sign && (int)at[(WORDS - 1) * l->words] < 0 ? ~(wide)0 : 0;
#pragma unroll
            for (int j = WORDS - 1; j >= 0; j--)
                x = x << 32 | at[(uint32_t)j * l->words];
            sum += x;
        }
        for (uint32_t distance = of.size / 2; distance; distance /= 2) {
            const uint64_t low = __shfl_xor_sync(of.mask, (unsigned long long)sum, (int)distance);
            const uint64_t high = __shfl_xor_sync(of.mask, (unsigned long long)(sum >> 64), (int)distance);
            sum += (wide)high << 64 | low;
        }
        return sum;
    }

    /* Add the block's words to the histogram, from its counter `to` on. */
    HISTO_MEMBER void merge(const histo_cuda_work *w, int64_t to, uint32_t counters, const exponent_window<T> *in) const
    {
        merge_by(w, counters, in, [=](uint32_t slot) { return to + slot; });
    }

    /* Add the block's words to the counters counter_of(slot). Each block begins with another slot, so that blocks which
     * end together do not add to the same ones. */
    template <class function>
    HISTO_MEMBER void merge_by(const histo_cuda_work *w, uint32_t counters, const exponent_window<T> *in,
                               function counter_of) const
    {
        const uint32_t begin = (uint32_t)((uint64_t)blockIdx.x * counters / gridDim.x);
        const double one = ldexp(1.0, in->unit - 32 * HISTO_EXACT_UNIT),
                     square_one = SQUARES ? ldexp(1.0, in->square_unit - 32 * HISTO_EXACT_UNIT) : 0;
        __syncthreads();
        const team of = team_of(counters);
        for (uint32_t i = threadIdx.x / of.size; i < counters; i += blockDim.x / of.size) {
            const uint32_t slot = i + begin < counters ? i + begin : i + begin - counters, first = word(slot);
            const unsigned int count = (unsigned int)sum_copies<1>(shared, first, false, of);
            if (!count) continue;
            const wide sum = sum_copies<is::WORDS>(shared + plane::SUM * l->words, first, true, of);
            wide square = 0;
            if constexpr (SQUARES)
                square = sum_copies<is::SQUARE_WORDS>(shared + plane::SQUARE * l->words, first, false, of);
            if (of.rank) continue;
            const int64_t at = counter_of(slot);
            atomicAdd(&w->counts[at], (unsigned long long)count);
            merge_sum(w, 0, at, sum, true, in->unit, one);
            if constexpr (SQUARES) merge_sum(w, 1, at, square, false, in->square_unit, square_one);
        }
        __syncthreads();
    }
};

/* A weight that is outside the window. */
static __device__ __noinline__ void add_outside(const histo_cuda_work *w, int64_t i, const char *at)
{
    histo_add_weight(w, i, at);
}

} // namespace histo::weights

#endif
