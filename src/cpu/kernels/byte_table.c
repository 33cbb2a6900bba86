/* Counting into tables of one-byte or four-byte counters. Compiled once for each level of the instruction set (isa.h).
 *
 * A one-byte counter wraps once in 256 increments: a branch on that is mispredicted each time, and a misprediction
 * costs as much as a hundred increments. Carries are therefore collected as bits and handled later, off the critical
 * path.
 *
 * Successive increments of the same counter are about ten cycles apart, because each load waits for the store before it
 * to be forwarded. Neighbouring samples are often equal, so the indices of sixteen streams are interleaved; in groups
 * with few distinct values, all occurrences of a value are added at once. Counting is bound by one store a cycle, which
 * leaves the vector units free to produce the next slots. */
#include "cpu/kernels/isa.h"
#include "cpu/samples/runs.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

enum {
    GROUP = 64, /* indices that are examined together for few distinct values */
    GROUPS = HISTO_PIECE / GROUP,
    UNROLLED = 8,
};

/* Add any number to a counter; true if it wrapped. */
static inline bool add_bytes(uint8_t *counter, int count)
{
    *counter = (uint8_t)(*counter + count);
    return *counter < count;
}

static inline bool add_words(uint32_t *counter, int count)
{
    *counter += (uint32_t)count;
    return false;
}

static inline uint32_t slot_at(uint32_t place)
{
    return place;
}

static inline uint16_t value_at(uint16_t place)
{
    return place;
}

static inline uint16_t spread_at(uint16_t place)
{
    return histo_spread_place(place);
}

/* The counters' indices in the table, of HISTO_PIECE slots or values. */
#define places_of_slots(slots, room) ((void)(room), (slots))
#define places_of_values places_of_slots
#define places_of_words places_of_slots
#define places_of_wide places_of_slots

static inline const uint16_t *places_of_spread(const uint16_t *values, uint16_t *room)
{
    for (int i = 0; i < HISTO_PIECE; i++)
        room[i] = histo_spread_place(values[i]);
    return room;
}

/* The index that a bit of a step's carries belongs to. */
static inline int index_of(int step, int bit)
{
    const int count = step * HISTO_STEP + HISTO_STEP - 1 - bit; /* indices counted before it */
    return count % HISTO_STREAMS * HISTO_STREAM + count / HISTO_STREAMS;
}

#if defined(__AVX512BW__)

static inline int ones(uint64_t bits)
{
    return (int)_mm_popcnt_u64(bits);
}

/* The number of elements of one vector that equal `place`. */
static inline int alike_u32(const uint32_t *at, uint32_t place)
{
    return ones(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(at), _mm512_set1_epi32((int)place)));
}

static inline int alike_u16(const uint16_t *at, uint16_t place)
{
    return ones(_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(at), _mm512_set1_epi16((short)place)));
}

/* Bit i of a group: at[i] == place. */
static inline uint64_t equal_u32(const uint32_t *at, uint32_t place)
{
    const __m512i p = _mm512_set1_epi32((int)place);
    uint64_t equal = 0;
    for (int i = 0; i < GROUP; i += 16)
        equal |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(at + i), p) << i;
    return equal;
}

static inline uint64_t equal_u16(const uint16_t *at, uint16_t place)
{
    const __m512i p = _mm512_set1_epi16((short)place);
    uint64_t equal = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(at), p);
    return equal | (uint64_t)_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(at + 32), p) << 32;
}

/* Count a group value by value if few values make up much of it; else return false, which is quick where two of its
 * values are rare in the first vector. */
#define DEFINE_COUNT_FEW(name, type, bits, one, counter, width)                                                        \
    /* Is count_few worth trying? Only if the first value of the groups is frequent in their last vectors, which it is \
     * neither for short runs nor for a single group. */                                                               \
    static inline bool may_be_few_##name(const type *at)                                                               \
    {                                                                                                                  \
        enum { LANES = 64 / sizeof *at };                                                                              \
        int far = 0;                                                                                                   \
        for (const type *from = at; from < at + HISTO_PIECE; from += GROUP)                                            \
            far += alike_##bits(from + GROUP - LANES, *from);                                                          \
        return far * 32 >= GROUPS * LANES * 6;                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    static inline bool count_few_##name(counter *table, const type *at, histo_carry_fn *carry, const void *to)         \
    {                                                                                                                  \
        enum { PROBES = 3, FEW = 5, SOME_OTHERS = 12, MAX_OTHERS = 40, LANES = 64 / sizeof *at };                      \
        type places[FEW] = {at[0], at[GROUP / 2 - 1], at[GROUP - 1]};                                                  \
        if (alike_##bits(at, places[0]) * 6 < LANES && alike_##bits(at, places[1]) * 6 < LANES) return false;          \
        uint64_t equal[FEW], left = ~(uint64_t)0;                                                                      \
        int few = PROBES;                                                                                              \
        for (int i = 0; i < PROBES; i++) {                                                                             \
            equal[i] = equal_##bits(at, places[i]) & left;                                                             \
            left &= ~equal[i];                                                                                         \
        }                                                                                                              \
        for (; few < FEW && ones(left) > SOME_OTHERS; few++) {                                                         \
            places[few] = at[__builtin_ctzll(left)];                                                                   \
            equal[few] = equal_##bits(at, places[few]) & left;                                                         \
            left &= ~equal[few];                                                                                       \
        }                                                                                                              \
        if (ones(left) > MAX_OTHERS) return false;                                                                     \
        for (int i = 0; i < few; i++)                                                                                  \
            if (add_##width(&table[places[i]], ones(equal[i]))) carry(to, one##_at(places[i]));                        \
        for (; left; left &= left - 1) {                                                                               \
            const type place = at[__builtin_ctzll(left)];                                                              \
            if (add_##width(&table[place], 1)) carry(to, one##_at(place));                                             \
        }                                                                                                              \
        return true;                                                                                                   \
    }

#else

/* Count a group if all its values are equal; else return false. */
#define DEFINE_COUNT_FEW(name, type, bits, one, counter, width)                                                        \
    static inline bool may_be_few_##name(const type *at)                                                               \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        return true;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static inline bool count_few_##name(counter *table, const type *at, histo_carry_fn *carry, const void *to)         \
    {                                                                                                                  \
        if (!histo_all_equal(at, GROUP, sizeof *at)) return false;                                                     \
        if (add_##width(&table[*at], GROUP)) carry(to, one##_at(*at));                                                 \
        return true;                                                                                                   \
    }

#endif

#define DEFINE_COUNT(name, type, bits, one, counter, width, steps)                                                     \
    DEFINE_COUNT_FEW(name, type, bits, one, counter, width)                                                            \
                                                                                                                       \
    static inline void count_group_##name(counter *table, const type *at, histo_carry_fn *carry, const void *to)       \
    {                                                                                                                  \
        uint64_t carries = 0;                                                                                          \
        for (const type *from = at; from < at + GROUP; from += UNROLLED)                                               \
            for (int i = 0; i < UNROLLED; i++)                                                                         \
                carries = histo_increment_##width(&table[from[i]], carries);                                           \
        for (; carries; carries &= carries - 1)                                                                        \
            carry(to, one##_at(at[GROUP - 1 - __builtin_ctzll(carries)]));                                             \
    }                                                                                                                  \
                                                                                                                       \
    static inline void count_interleaved_##name(counter *table, const type *at, histo_carry_fn *carry, const void *to, \
                                                const histo_producer *next)                                            \
    {                                                                                                                  \
        uint64_t carries[HISTO_STEPS];                                                                                 \
        if (next)                                                                                                      \
            PRODUCE_##name(next, table, at, carries);                                                                  \
        else                                                                                                           \
            for (int step = 0; step < HISTO_STEPS; step++)                                                             \
                carries[step] = histo_count_step_of_##steps(table, at, step);                                          \
        for (int step = 0; sizeof *table == 1 && step < HISTO_STEPS; step++)                                           \
            for (uint64_t left = carries[step]; left; left &= left - 1)                                                \
                carry(to, one##_at(at[index_of(step, __builtin_ctzll(left))]));                                        \
    }                                                                                                                  \
                                                                                                                       \
    static bool count_##name(counter *table, const type *at, int n, histo_carry_fn *carry, const void *to,             \
                             const histo_producer *next)                                                               \
    {                                                                                                                  \
        bool produced = false;                                                                                         \
        for (; n >= HISTO_PIECE; n -= HISTO_PIECE, at += HISTO_PIECE) {                                                \
            type room[HISTO_PIECE];                                                                                    \
            const type *places = places_of_##name(at, room);                                                           \
            bool counted[GROUPS], some = false;                                                                        \
            const bool few = may_be_few_##name(places);                                                                \
            for (int g = 0; few && g < GROUPS; g++)                                                                    \
                some |= counted[g] = count_few_##name(table, places + g * GROUP, carry, to);                           \
            if (!some) {                                                                                               \
                produced = next && next->produce;                                                                      \
                count_interleaved_##name(table, places, carry, to, produced ? next : NULL);                            \
            }                                                                                                          \
            for (int g = 0; some && g < GROUPS; g++)                                                                   \
                if (!counted[g]) count_group_##name(table, places + g * GROUP, carry, to);                             \
        }                                                                                                              \
        for (int i = 0; i < n; i++)                                                                                    \
            if (add_##width(&table[one##_at(at[i])], 1)) carry(to, at[i]);                                             \
        return produced;                                                                                               \
    }

/* Values are their own indices: there is nothing to produce. */
#define PRODUCE_slots(next, table, from, carried)                                                                      \
    histo_produce(next, (histo_consumer){.at = from, .bytes = table, .carries = carried})
#define PRODUCE_words(next, table, from, carried) histo_produce(next, (histo_consumer){.at = from, .words = table})
#define PRODUCE_values(next, table, at, carried) (void)0
#define PRODUCE_spread PRODUCE_values
#define PRODUCE_wide PRODUCE_values

DEFINE_COUNT(slots, uint32_t, u32, slot, uint8_t, bytes, slots)
DEFINE_COUNT(values, uint16_t, u16, value, uint8_t, bytes, values)
DEFINE_COUNT(spread, uint16_t, u16, spread, uint8_t, bytes, values)
DEFINE_COUNT(words, uint32_t, u32, slot, uint32_t, words, words)
DEFINE_COUNT(wide, uint16_t, u16, value, uint32_t, words, wide_values)

bool HISTO_OF_ISA(count_slots)(void *table, const uint32_t *at, int n, histo_carry_fn *carry, const void *to,
                               const histo_producer *next)
{
    return count_slots(table, at, n, carry, to, next);
}

bool HISTO_OF_ISA(count_words)(void *table, const uint32_t *at, int n, histo_carry_fn *carry, const void *to,
                               const histo_producer *next)
{
    return count_words(table, at, n, carry, to, next);
}

#if defined(__AVX512BW__)

/* Count a group of which three values make up much, as samples outside an axis or NaN do: increments of one counter
 * would wait for each other. False, and quick, where they do not. */
static inline bool count_common(uint64_t *table, const uint32_t *slots)
{
    enum { COMMON = 3, MAX_OTHERS = 40 };
    const uint32_t places[COMMON] = {slots[0], slots[GROUP / 2 - 1], slots[GROUP - 1]};
    if (alike_u32(slots, places[0]) < 3 && alike_u32(slots, places[1]) < 3) return false;
    uint64_t equal[COMMON], left = ~(uint64_t)0;
    for (int i = 0; i < COMMON; i++) {
        equal[i] = equal_u32(slots, places[i]) & left;
        left &= ~equal[i];
    }
    if (ones(left) > MAX_OTHERS) return false;
    for (int i = 0; i < COMMON; i++)
        table[places[i]] += (uint64_t)ones(equal[i]);
    for (; left; left &= left - 1)
        table[slots[__builtin_ctzll(left)]]++;
    return true;
}

#else

static inline bool count_common(uint64_t *table, const uint32_t *slots)
{
    if (!histo_all_equal(slots, GROUP, sizeof *slots)) return false;
    table[*slots] += GROUP;
    return true;
}

#endif

/* Four streams, so that equal neighbours do not wait for each other. */
static inline void count_streams(uint64_t *table, const uint32_t *slots, int n)
{
    const int each = n / 4;
    for (int i = 0; i < each; i++) {
        table[slots[i]]++;
        table[slots[each + i]]++;
        table[slots[2 * each + i]]++;
        table[slots[3 * each + i]]++;
    }
    for (int i = 4 * each; i < n; i++)
        table[slots[i]]++;
}

void HISTO_OF_ISA(count_longs)(uint64_t *table, const uint32_t *slots, int n)
{
    for (; n >= GROUP; n -= GROUP, slots += GROUP)
        if (!count_common(table, slots)) count_streams(table, slots, GROUP);
    count_streams(table, slots, n);
}

void HISTO_OF_ISA(count_values)(void *table, const uint16_t *at, int n, histo_value_counters counters,
                                histo_carry_fn *carry, const void *to)
{
    if (counters == HISTO_IN_WORDS)
        count_wide(table, at, n, carry, to, NULL);
    else if (counters == HISTO_IN_SPREAD_BYTES)
        count_spread(table, at, n, carry, to, NULL);
    else
        count_values(table, at, n, carry, to, NULL);
}
