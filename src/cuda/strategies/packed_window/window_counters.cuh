/* The counter of packed_window: packed counters of a window of slots in a block's shared memory, and a small hash table
 * of 32-bit counters for frequent slots and for overflows.
 *
 * An addition returns the old word, which tells whether its counter overflowed. All additions of a step are issued
 * before the first old word is looked at; samples that are not in the window go to spare counters behind it, so that
 * nothing branches; one warp vote tells whether any counter may have overflowed. Rare work is kept as one bit for each
 * sample of a thread, and the lanes of a warp do their first together, then their second, and so on. */
#ifndef CUDA_WINDOW_COUNTERS_CUH
#define CUDA_WINDOW_COUNTERS_CUH

#include "cuda/strategies/packed_window/packed_window.cuh"

namespace histo::packed_window
{

/* ---- Which slot a counter counts; counters from `end` on count none ---- */

/* The window: slots from `first` on. */
struct slots_in_window {
    enum { REPEAT = false /* have neighbours the same slot? */, RUNS = true /* is it worth to look for runs? */ };
    uint32_t first;

    static HISTO_MEMBER slots_in_window of(const histo_cuda_work *, const window *w, int64_t entry)
    {
        return {w->found ? w->found[entry] : w->first};
    }
    HISTO_MEMBER uint32_t end(const histo_cuda_work *work) const { return (uint32_t)work->counters - first; }
    HISTO_MEMBER uint32_t slot(uint32_t at) const { return first + at; }
};

/* All values of a 16-bit sample, which become slots in the merge. */
struct slots_of_values {
    enum { REPEAT = true, RUNS = true };
    const uint32_t *slots;

    HISTO_MEMBER uint32_t end(const histo_cuda_work *) const { return VALUES; }
    HISTO_MEMBER uint32_t slot(uint32_t at) const { return __ldg(&slots[at]); }
};

/* Pixels whose channels have bins of 2^k values: without the slots of underflow, overflow and NaN. */
struct slots_of_pixels {
    enum { REPEAT = false, RUNS = false };
    const histo_joint *joint;

    HISTO_MEMBER uint32_t end(const histo_cuda_work *work) const { return (uint32_t)work->counters; }
    HISTO_MEMBER uint32_t slot(uint32_t at) const { return histo_slot_of_compact(joint, at); }
};

/* ---- Counters ---- */

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

/* The first of n becomes the last, so that arrays stay in registers where loops are rolled. */
HISTO_IN_KERNEL void rotate(uint32_t *x, int n)
{
    uint32_t first = x[0];
#pragma unroll
    for (int k = 0; k + 1 < n; k++)
        x[k] = x[k + 1];
    x[n - 1] = first;
}

/* How the search for frequent slots loops over a step's samples: unrolled is fastest, unless the kernel then exceeds
 * the instruction cache. */
enum { UNROLLED = 16, ROLLED = 1 };

/* SPARES: may many samples have spare counters? */
template <int BITS, class SLOTS = slots_in_window, bool SPARES = false>
struct counters {
    enum : uint32_t {
        FULL = (1u << BITS) - 1,
        EACH = 32 / BITS, /* to a word */
        ENTRIES = table_entries(BITS),
        DISTRUST = table_words(BITS) - 1,
    };
    /* Steps that follow one: without a search for frequent slots, where there was no sign of any, or where the table
     * had few of the samples; with one, whatever the signs, where it had many. */
    enum { PAUSE = 3, PAUSE_POOR = 31, TRUST = 7 };

    uint32_t *words;
    uint32_t *table;            /* behind the words: owners, samples and wraps of each entry; the flow; distrust */
    int search;                 /* steps with a search for frequent slots, or less than 0: steps without */
    uint32_t spare;             /* where this lane counts what is not in the window: a word of its own behind it */
    uint32_t late_at, late_old; /* an overflow of this thread that waits for those of its warp; or HISTO_NO_SLOT */
    uint32_t size;              /* counters */
    SLOTS slots;
    histo_flow flow;            /* samples outside the window */
    unsigned long long *counts; /* of the batch entry */

    HISTO_MEMBER counters(uint32_t *shared, const histo_cuda_work *work, const window *w)
        : words(shared), table(shared + w->words), flow(table + 3 * ENTRIES, work)
    {
    }

    /* The counters of a batch entry, cleared, by the whole block. */
    static HISTO_MEMBER counters begin(uint32_t *shared, const histo_cuda_work *work, const window *w, int64_t entry,
                                       SLOTS slots)
    {
        counters c(shared, work, w);
        c.search = 0;
        c.late_at = HISTO_NO_SLOT;
        c.spare = w->size + (threadIdx.x % WARP + 1) * EACH;
        c.slots = slots;
        c.size = min(w->size, slots.end(work));
        c.counts = work->counts + entry * work->counters;
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < w->words / 4; i += blockDim.x)
            ((uint4 *)c.words)[i] = make_uint4(0, 0, 0, 0);
        if (threadIdx.x < w->words % 4) c.words[w->words - 1 - threadIdx.x] = 0;
        for (uint32_t i = threadIdx.x; i < ENTRIES; i += blockDim.x) {
            *c.owner(i) = HISTO_NO_SLOT;
            *c.samples(i) = *c.wraps(i) = 0;
        }
        if (threadIdx.x == 0) *c.distrust() = 0;
        c.flow.clear();
        __syncthreads();
        return c;
    }

    /* ---- Words ---- */

    /* The shift of a counter in its word. */
    static HISTO_MEMBER uint32_t shift(uint32_t at)
    {
        return BITS == SIX_BITS ? at % 5 * SIX_BITS : at * BITS & 31;
    }

    static HISTO_MEMBER uint32_t value(uint32_t word, uint32_t at)
    {
        return word >> shift(at) & FULL;
    }

    /* at / 5, of a number below 2^30. */
    static HISTO_MEMBER uint32_t fifth(uint32_t at)
    {
        return __umulhi(at, UINT32_MAX / 5 + 1);
    }

    /* The word of a counter. Neighbours share one, and one word in 234 has a counter fewer than fit, so that slots at
     * equal distances do not share a bank; but not where counters are five to a word, as only multiples of 5 are
     * equal distances in words there. A counter's shift depends on its number alone, so that the first counter of a
     * word may have any. */
    static HISTO_MEMBER uint32_t word(uint32_t at)
    {
        const uint32_t whole = (uint32_t)BITS << 27, part = whole / 234; /* of a word, times 2^32: a counter's */
        return BITS == SIX_BITS ? fifth(at) : __umulhi(at, whole + part + 1);
    }

    /* The counter above this one in its word, or HISTO_NO_SLOT. */
    static HISTO_MEMBER uint32_t above(uint32_t at)
    {
        const uint32_t next = at + 1, own = word(at);
        if (shift(at) + 2 * BITS > 32) return HISTO_NO_SLOT;
        if (BITS == SIX_BITS || word(next) == own) return next;
        return next >= EACH && word(next - EACH) == own ? next - EACH : HISTO_NO_SLOT;
    }

    /* Bits between a counter and the top of its word, modulo 32: 1 << (32 - BITS) shifted down by it is one sample of
     * that counter, and the word shifted up by it begins with the counter. */
    static HISTO_MEMBER uint32_t lift(uint32_t at)
    {
        if (BITS == SIX_BITS) return 32 - SIX_BITS - SIX_BITS * at - 2 * fifth(at); /* 2: -30 */
        return 32 - BITS - at * BITS;
    }

    static HISTO_MEMBER uint32_t one(uint32_t at)
    {
        return 1u << (32 - BITS) >> (lift(at) & 31);
    }

    static HISTO_MEMBER uint32_t lifted(uint32_t word, uint32_t at)
    {
        return __funnelshift_l(0, word, lift(at));
    }

    /* Did counter `at` overflow when n <= FULL samples were added to its word, which was `old`? */
    static HISTO_MEMBER bool overflows(uint32_t at, uint32_t old, uint32_t n)
    {
        return lifted(old, at) >= 0 - (n << (32 - BITS));
    }

    /* ---- The table ---- */

    /* Of an entry: its counter, or HISTO_NO_SLOT; samples of that; how often it wrapped. */
    HISTO_MEMBER uint32_t *owner(uint32_t entry) const
    {
        return table + entry;
    }
    HISTO_MEMBER uint32_t *samples(uint32_t entry) const
    {
        return table + entry + ENTRIES;
    }
    HISTO_MEMBER uint32_t *wraps(uint32_t entry) const
    {
        return table + entry + 2 * ENTRIES;
    }

    /* Was a table that should have had many samples found to have few? Any warp may say so, at any time. */
    HISTO_MEMBER uint32_t *distrust() const
    {
        return table + DISTRUST;
    }

    static HISTO_MEMBER uint32_t entry(uint32_t at)
    {
        return __umulhi(at * 0x9e3779b1u, ENTRIES);
    }

    /* Does counter `at` own this entry? If nobody does, it does from now on. */
    HISTO_MEMBER bool owns(uint32_t entry, uint32_t at) const
    {
        uint32_t before = *owner(entry);
        if (before == HISTO_NO_SLOT) before = atomicCAS(owner(entry), HISTO_NO_SLOT, at);
        return before == HISTO_NO_SLOT || before == at;
    }

    HISTO_MEMBER void add_to_histogram(uint32_t at, long long n) const
    {
        atomicAdd(&counts[slots.slot(at)], (unsigned long long)n);
    }

    /* n samples more of a counter. */
    HISTO_MEMBER void add_samples(uint32_t at, uint32_t n) const
    {
        uint32_t e = entry(at);
        if (owns(e, at))
            atomicAdd(samples(e), n);
        else
            add_to_histogram(at, n);
    }

    /* A counter wrapped n times: each time it lost FULL + 1 samples and carried one into its neighbour. Counters from
     * `size` on are not merged. */
    HISTO_MEMBER void add_wraps_to_histogram(uint32_t at, uint32_t n) const
    {
        const uint32_t carried = above(at);
        if (at < size) add_to_histogram(at, ((long long)FULL + 1) * n);
        if (carried < size) add_to_histogram(carried, -(long long)n);
    }

    /* Counter `at` overflowed, and its word was `old`: it wraps, and so do full ones above it, one after the other. One
     * of these may be behind the window, with one of the window above it: it counts nothing but what it is carried. */
    HISTO_MEMBER void wrap(uint32_t at, uint32_t old) const
    {
        bool is_wrapping = at < size;
        while (is_wrapping) {
            uint32_t e = entry(at);
            if (owns(e, at))
                atomicAdd(wraps(e), 1u);
            else
                add_wraps_to_histogram(at, 1);
            at = above(at);
            is_wrapping = at != HISTO_NO_SLOT && value(old, at) == FULL;
        }
    }

    /* Carry what each thread has put off; all threads of the warp call this together. */
    HISTO_MEMBER void wrap_late()
    {
        if (late_at != HISTO_NO_SLOT) wrap(late_at, late_old);
        late_at = HISTO_NO_SLOT;
        __syncwarp();
    }

    /* Add n of a slot to the histogram, for each lane; at once if all lanes that have some have the same slot. */
    HISTO_MEMBER void add_alike(uint32_t slot, uint32_t n) const
    {
        const uint32_t some = __ballot_sync(~0u, n > 0), leader = (uint32_t)__ffs((int)some) - 1;
        if (!some) return;
        const uint32_t its = __shfl_sync(~0u, slot, (int)leader), sum = histo_warp_sum(n);
        const bool are_alike = __all_sync(~0u, n == 0 || slot == its);
        if (are_alike) n = threadIdx.x % WARP == leader ? sum : 0;
        if (n == 0) return;
        const uint32_t number = flow.number(slot);
        if (number < histo_flow::SLOTS)
            atomicAdd(&flow.sums[number], n);
        else
            atomicAdd(&counts[slot], (unsigned long long)n);
    }

    /* Add the counters to the histogram. A warp looks at a vector of words for each lane at once, and passes over
     * chunks of counters that have no sample. Blocks begin at different chunks. Several counters are read before the
     * first is added. Where many are of one slot, as those of values outside the axis, each thread adds up those that
     * follow each other. */
    HISTO_MEMBER void merge_counters() const
    {
        enum { AHEAD = 4, VECTOR = 4 /* words */, END = VECTOR - 1 + 2 /* words that a chunk's ends may need more */ };
        enum : uint32_t { CHUNK = (VECTOR * WARP - END - 1) * EACH / WARP * WARP };
        const uint32_t chunks = (size + CHUNK - 1) / CHUNK, lane = threadIdx.x % WARP;
        const uint32_t begin = (uint32_t)((uint64_t)blockIdx.x * chunks / gridDim.x);
        uint32_t slot = HISTO_NO_SLOT, n = 0;
#pragma unroll 1
        for (uint32_t chunk = threadIdx.x / WARP; chunk < chunks; chunk += blockDim.x / WARP) {
            const uint32_t first = (begin + chunk < chunks ? begin + chunk : begin + chunk - chunks) * CHUNK;
            const uint32_t end = min(first + CHUNK, size);
            const uint4 all = ((const uint4 *)words)[word(first) / VECTOR + lane]; /* the table follows the words */
            if (!__any_sync(~0u, all.x | all.y | all.z | all.w)) continue;
#pragma unroll 1
            for (uint32_t row = first; row < end; row += AHEAD * WARP) {
                uint32_t count[AHEAD], at[AHEAD]; /* at: then their slots */
#pragma unroll
                for (uint32_t k = 0; k < AHEAD; k++) {
                    at[k] = row + k * WARP + lane;
                    count[k] = at[k] < end ? value(words[word(at[k])], at[k]) : 0;
                }
#pragma unroll
                for (uint32_t k = 0; k < AHEAD; k++)
                    if (count[k]) at[k] = slots.slot(at[k]);
#pragma unroll
                for (uint32_t k = 0; k < AHEAD; k++) {
                    if (!SLOTS::REPEAT) {
                        if (count[k]) atomicAdd(&counts[at[k]], (unsigned long long)count[k]);
                        continue;
                    }
                    if (!count[k]) at[k] = slot;
                    if (__any_sync(~0u, at[k] != slot)) {
                        add_alike(slot, n);
                        n = 0;
                    }
                    slot = at[k];
                    n += count[k];
                }
            }
        }
        if (SLOTS::REPEAT) add_alike(slot, n);
    }

    /* Add the counters to the histogram, by the whole block. */
    HISTO_MEMBER void merge()
    {
        wrap_late();
        __syncthreads();
        merge_counters();
        __syncthreads();
        flow.merge(counts);
        for (uint32_t i = threadIdx.x; i < ENTRIES; i += blockDim.x) {
            uint32_t at = *owner(i), more = *samples(i), wrapped = *wraps(i);
            if (more) add_to_histogram(at, more);
            if (wrapped) add_wraps_to_histogram(at, wrapped);
        }
        __syncthreads();
    }

    /* ---- Counters of slots, where they are those of the window ---- */

    /* Count a sample of a slot outside the window. Gives the counter to use instead of its own. */
    HISTO_MEMBER uint32_t count_outside(uint32_t slot) const
    {
        atomicAdd(&counts[slot], 1ull);
        return spare;
    }

    /* Count a slot of each lane that has one outside the window: on chip if it is of the flow or has an entry of the
     * table. alike: of the others, lanes that have the same slot count it together, and give it an entry. Are they then
     * much fewer? */
    HISTO_MEMBER bool count_outside_lanes(uint32_t slot, bool alike) const
    {
        const uint32_t at = slot - slots.first, number = flow.number(slot), e = entry(at);
        const bool is_flow = number < histo_flow::SLOTS, is_there = slot != HISTO_NO_SLOT;
        const bool is_entry = at != HISTO_NO_SLOT && *owner(e) == at;
        if (is_there && (is_flow || is_entry)) atomicAdd(is_flow ? &flow.sums[number] : samples(e), 1u);
        const uint32_t left = __ballot_sync(~0u, is_there && !is_flow && !is_entry);
        if (!left) return alike;
        const bool is_left = left >> threadIdx.x % WARP & 1;
        if (!alike) {
            if (is_left) atomicAdd(&counts[slot], 1ull);
            return false;
        }
        const uint32_t same = __match_any_sync(~0u, is_left ? slot : HISTO_NO_SLOT), n = (uint32_t)__popc(same);
        const bool leads = is_left && threadIdx.x % WARP == (uint32_t)__ffs((int)same) - 1;
        if (leads && n > 1 && at != HISTO_NO_SLOT)
            add_samples(at, n);
        else if (leads)
            atomicAdd(&counts[slot], (unsigned long long)n);
        return 4 * __popc(__ballot_sync(~0u, leads)) <= 3 * __popc(left);
    }

    /* Count those of n slots of each thread whose bit is set in `outside`. By whole warps. Where few lanes have the
     * same slot, asking which do takes longer than adding them. */
    HISTO_MEMBER void count_outside(const uint32_t *slot, uint32_t outside, int n) const
    {
        flow.count(slot, outside, n);
        bool alike = true;
#pragma unroll 1
        while (__any_sync(~0u, outside)) {
            const uint32_t one = outside & (0 - outside), its = pick(slot, n, one);
            alike = count_outside_lanes(one ? its : HISTO_NO_SLOT, alike);
            __syncwarp();
            outside ^= one;
        }
    }

    HISTO_MEMBER uint32_t place_one(uint32_t slot) const
    {
        uint32_t at = slot - slots.first;
        return at < size ? at : count_outside(slot);
    }

    /* The counters of n slots of each thread; those outside the window are counted. */
    HISTO_MEMBER void place(const uint32_t *slot, uint32_t *at, int n) const
    {
        uint32_t outside = 0; /* a bit for each */
#pragma unroll
        for (int k = 0; k < n; k++) {
            at[k] = min(slot[k] - slots.first, spare);
            outside |= (uint32_t)(at[k] >= size && slot[k] != HISTO_NO_SLOT) << k;
        }
        if (__any_sync(~0u, outside)) count_outside(slot, outside, n);
    }

    /* ---- Frequent slots ---- */

    /* Are many samples of the step equal? Asked of each thread's own, which costs no exchange, and of neighbouring
     * lanes only where these may have neighbouring samples. */
    template <int UNROLL>
    HISTO_MEMBER bool is_skewed(const uint32_t *at, int n) const
    {
        enum { MANY = 3, MANY_LANES = WARP / 2 };
        if (__popc(__ballot_sync(~0u, at[0] < size && (at[0] == at[1] || at[0] == at[n / 2]))) >= MANY) return true;
        return UNROLL == ROLLED && __popc(__ballot_sync(~0u, at[0] == __shfl_down_sync(~0u, at[0], 1))) >= MANY_LANES;
    }

    HISTO_MEMBER bool is_any_left(const uint32_t *at, int n) const
    {
        bool left = false;
#pragma unroll
        for (int k = 0; k < n; k++)
            left = left || at[k] < size;
        return __any_sync(~0u, left);
    }

    /* One lane counts n samples of a counter. */
    HISTO_MEMBER void count_run(uint32_t at, uint32_t n) const
    {
        if (at >= size || n == 0) return;
        if (n > FULL / 2) { /* it would overflow too often */
            add_samples(at, n);
            return;
        }
        uint32_t old = atomicAdd(&words[word(at)], n * one(at));
        if (overflows(at, old, n)) wrap(at, old);
    }

    /* Count the samples of four counters that threads have first in either half, if most threads begin with these. They
     * become spare. claim: they get entries of the table. Were most samples counted? */
    HISTO_MEMBER bool count_four(uint32_t *at, int n, bool claim) const
    {
        enum { HALVES = 2, FOUR = 4, MOST = WARP * 3 / 4 };
        uint32_t its[FOUR], sum[HALVES] = {0, 0}; /* of two counters each, in 16 bits */
#pragma unroll
        for (int c = 0; c < FOUR; c++) {
            const uint32_t first = at[c / 2 * (n / 2)];
            bool is_new = true;
#pragma unroll
            for (int before = 0; before < c; before++)
                is_new = is_new && first != its[before];
            const uint32_t lanes = __ballot_sync(~0u, is_new);
            its[c] = __shfl_sync(~0u, first, lanes ? __ffs((int)lanes) - 1 : 0);
            if (!lanes) its[c] = HISTO_NO_SLOT;
        }
        bool are_most = true;
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            const uint32_t first = at[h * (n / 2)];
            const bool is_there = first == its[0] || first == its[1] || first == its[2] || first == its[3];
            are_most = are_most && __popc(__ballot_sync(~0u, is_there)) >= MOST;
        }
        if (!are_most) return false;
#pragma unroll
        for (int k = 0; k < n; k++) {
            bool is_there = false;
#pragma unroll
            for (int c = 0; c < FOUR; c++) {
                sum[c / 2] += at[k] == its[c] ? 1u << c % 2 * 16 : 0;
                is_there = is_there || at[k] == its[c];
            }
            at[k] = is_there ? spare : at[k];
        }
        sum[0] = histo_warp_sum(sum[0]);
        sum[1] = histo_warp_sum(sum[1]);
        const uint32_t lane = threadIdx.x % WARP;
        if (lane < FOUR) {
            const uint32_t mine = pick(its, FOUR, 1u << lane), times = (lane < 2 ? sum[0] : sum[1]) >> lane % 2 * 16;
            count_run(mine, times & 0xffff);
            if (claim && mine < size) owns(entry(mine), mine);
        }
        __syncwarp();
        return (sum[0] & 0xffff) + (sum[0] >> 16) + (sum[1] & 0xffff) + (sum[1] >> 16) >= (uint32_t)n * WARP / 2;
    }

    /* What one lane adds instead of single samples: n of a counter each. */
    struct sums {
        enum { MAX = 4 };
        uint32_t at[MAX], n[MAX];
    };

    /* Count the samples if they are of two counters at most, spare ones aside, which threads' first and last ones tell.
     */
    HISTO_MEMBER bool count_two(const uint32_t *at, int n) const
    {
        const auto may_be = [&](uint32_t counter) { return !SPARES || counter < size; };
        const uint32_t lane = threadIdx.x % WARP, first_lanes = SPARES ? __ballot_sync(~0u, may_be(at[0])) : 1;
        if (!first_lanes) return false;
        const uint32_t one = __shfl_sync(~0u, at[0], __ffs((int)first_lanes) - 1);
        const uint32_t mine = at[0] != one && may_be(at[0]) ? at[0] : at[n - 1];
        const uint32_t others = __ballot_sync(~0u, mine != one && may_be(mine));
        const uint32_t other = others ? __shfl_sync(~0u, mine, __ffs((int)others) - 1) : one;
        const auto is_either = [&](uint32_t counter) {
            return counter == one || counter == other || (SPARES && counter >= size);
        };
        bool are_two = is_either(at[0]) && is_either(at[n / 2]);
        if (!__all_sync(~0u, are_two)) return false;
        uint32_t of = 0; /* samples of `one`, and of the other in the upper half */
#pragma unroll
        for (int k = 0; k < n; k++) {
            are_two = are_two && is_either(at[k]);
            of += at[k] == one ? 1 : SPARES && at[k] == other ? 1 << 16 : 0;
        }
        if (!__all_sync(~0u, are_two)) return false;
        of = histo_warp_sum(of);
        const uint32_t of_other = SPARES ? of >> 16 : (uint32_t)(n * WARP) - of;
        if (lane < 2) count_run(lane ? other : one, lane ? of_other : of & 0xffff);
        __syncwarp();
        return true;
    }

    /* Have most threads at most two counters in each half of their samples, as sorted ones? */
    static HISTO_MEMBER bool are_runs(const uint32_t *at, int n, sums *s)
    {
        enum { HALVES = 2, MOST = WARP * 3 / 4, FEW = 4 /* so many may have two counters */ };
        const int half = n / HALVES;
        bool mine = half > 1 && n % HALVES == 0;
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            const uint32_t first = at[h * half], last = at[h * half + half - 1];
            uint32_t of_first = 0;
#pragma unroll
            for (int k = h * half; k < (h + 1) * half; k++) {
                of_first += at[k] == first;
                mine = mine && (at[k] == first || (half >= FEW && at[k] == last));
            }
            s->at[2 * h] = first;
            s->n[2 * h] = of_first;
            s->at[2 * h + 1] = last;
            s->n[2 * h + 1] = (uint32_t)half - of_first;
        }
        if (!mine) *s = {};
        return __popc(__ballot_sync(~0u, mine)) >= MOST;
    }

    /* Where samples that lie side by side are those of neighbouring lanes: the sums of the samples of which all lanes
     * have two counters at most. These become spare. */
    HISTO_MEMBER bool find_rows(uint32_t *at, int n, sums *s) const
    {
        const uint32_t lane = threadIdx.x % WARP;
        bool any = false;
#pragma unroll 1
        for (int k = 0; k < n; k++) {
            const uint32_t first = __shfl_sync(~0u, at[0], 0), last = __shfl_sync(~0u, at[0], WARP - 1);
            const uint32_t of_first = (uint32_t)__popc(__ballot_sync(~0u, at[0] == first));
            const bool is_row = __all_sync(~0u, at[0] == first || at[0] == last);
            if (is_row && lane / 2 == (uint32_t)k) {
                s->at[0] = lane & 1 ? last : first;
                s->n[0] = lane & 1 ? (uint32_t)WARP - of_first : of_first;
            }
            if (is_row) at[0] = spare;
            any = any || is_row;
            rotate(at, n);
        }
        return any;
    }

    /* Count what one addition counts for many samples: where most threads' are of few counters, or those of
     * neighbouring lanes. Samples that are counted become spare. Were any? */
    template <int UNROLL>
    HISTO_MEMBER bool count_runs(uint32_t *at, int n) const
    {
        sums s;
        if (are_runs(at, n, &s)) {
#pragma unroll
            for (int k = 0; k < n; k++)
                at[k] = s.n[0] > 0 ? spare : at[k];
        } else {
            s = {};
            if (UNROLL != ROLLED || !find_rows(at, n, &s)) return false;
        }
#pragma unroll 1
        for (int i = 0; i < sums::MAX; i++) {
            count_run(s.at[0], s.n[0]);
            rotate(s.at, sums::MAX);
            rotate(s.n, sums::MAX);
            __syncwarp();
        }
        return true;
    }

    /* Count the samples if all are of two slots, or those whose slots are in the table, which then become spare. Is
     * anything left? How much is left says whether the next steps search. Four counters that have most samples are
     * counted by the table in the next steps, unless these turned out to have others, as sorted samples do. */
    template <int UNROLL>
    HISTO_MEMBER bool count_frequent(uint32_t *at, int n)
    {
        enum { FEW = 4 };
        if (search == 0 && count_two(at, n)) return false;
        if constexpr (SLOTS::RUNS) {
            const bool trusts = search == 0 && !__any_sync(~0u, *(volatile uint32_t *)distrust());
            const bool are_four = search == 0 && count_four(at, n, trusts);
            if (are_four && trusts) search = (int)TRUST;
            if (are_four || (search == 0 && count_runs<UNROLL>(at, n))) return is_any_left(at, n);
        }
        uint32_t pairs = __ballot_sync(~0u, at[0] == at[1] && at[0] < size);
        if (pairs && threadIdx.x % WARP == (uint32_t)__ffs((int)pairs) - 1) owns(entry(at[0]), at[0]);
        __syncwarp();
        int others = 0;
#pragma unroll UNROLL
        for (int k = 0; k < n; k++) {
            uint32_t e = entry(at[0]);
            bool is_there = *owner(e) == at[0] && at[0] < size; /* for good, if once */
            if (is_there) atomicAdd(samples(e), 1u);
            at[0] = is_there ? spare : at[0];
            others += at[0] < size;
            rotate(at, n);
        }
        bool is_poor = __popc(__ballot_sync(~0u, others > n / FEW)) > WARP / 2;
        if (search > 0 && is_poor) atomicOr(distrust(), 1u);
        if (!is_poor)
            search = search > 0 ? search - 1 : (int)TRUST;
        else
            search = __popc(pairs) < WARP * 3 / 4 ? -PAUSE_POOR : 0;
        return __any_sync(~0u, others);
    }

    /* Search for frequent slots if it is time for that. Is anything left to count? */
    template <int UNROLL>
    HISTO_MEMBER bool is_left_by_search(uint32_t *at, int n)
    {
        if (search < 0) {
            search++;
            return true;
        }
        if (search == 0 && !is_skewed<UNROLL>(at, n)) {
            search = -PAUSE;
            return true;
        }
        return count_frequent<UNROLL>(at, n);
    }

    /* ---- A step ---- */

    /* Count n <= 16 samples of each thread, by whole warps. */
    template <int UNROLL>
    HISTO_MEMBER void count(uint32_t *at, int n)
    {
        enum { MAX = 16 };
        const uint32_t upper_halves = BITS == 16 ? 0x80008000 : 0x80808080; /* where none is set, no counter is full */
        uint32_t old[MAX], any = 0, due = 0;                                /* due: a bit for each sample */
        if (n > 1 && !is_left_by_search<UNROLL>(at, n)) return;
#pragma unroll
        for (int k = 0; k < n; k++)
            old[k] = atomicAdd(&words[word(at[k])], one(at[k]));
#pragma unroll
        for (int k = 0; k < n; k++)
            any |= old[k];
        if (BITS != SIX_BITS && !__any_sync(~0u, any & upper_halves)) return;
#pragma unroll
        for (int k = 0; k < n; k++)
            due |= (uint32_t)overflows(at[k], old[k], 1) << k;
#pragma unroll 1
        while (__any_sync(~0u, due)) {
            uint32_t first = due & (0 - due);
            if (__any_sync(~0u, first && late_at != HISTO_NO_SLOT)) wrap_late();
            if (first) {
                late_at = pick(at, n, first);
                late_old = pick(old, n, first);
            }
            due ^= first;
        }
    }
};

} // namespace histo::packed_window

#endif
