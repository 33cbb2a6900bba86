/* Counting into tables of counters of one byte. Compiled once for each level of the instruction set (HISTO_COUNT_SLOTS
 * and HISTO_COUNT_VALUES name the functions).
 *
 * A counter comes round once in 256 increments: too seldom to be foreseen, and a branch that was foreseen wrongly costs
 * as much as a hundred increments. So carries are only noted, as bits, and looked at later, when no increment has to
 * wait for them.
 *
 * Increments of one counter wait about ten cycles for each other, each for the store of the one before. Neighbours are
 * often equal, so that one index of each of sixteen stretches is counted in turn. In groups of few values, all of one
 * value are counted at once. */
#include "cpu/byte_table.h"

#include <stdbool.h>

#include "cpu/runs.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

enum {
    GROUP = 64, /* indices among which few values are looked for */
    GROUPS = 8,
    TOGETHER = GROUP * GROUPS,
    RUNS = 16, /* stretches, one index of each a turn */
    TURNS = TOGETHER / RUNS,
    CARRIES = 64, /* in a word */
    UNROLLED = 8,
};

/* Add 1, and append whether the counter came round. */
static inline uint64_t increment(uint8_t *counter, uint64_t carries)
{
#if defined(__x86_64__)
    __asm__("addb $1, %1\n\tadcq %0, %0" : "+r"(carries), "+m"(*counter) : : "cc");
    return carries;
#else
    return 2 * carries + (++*counter == 0);
#endif
}

/* Add to a counter whose carry is not as rare, or alone; true if it came round. */
static inline bool add(uint8_t *counter, int count)
{
    *counter = (uint8_t)(*counter + count);
    return *counter < count;
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

/* The places of TOGETHER indices. */
static inline const uint32_t *places_of_slots(const uint32_t *slots, uint32_t *room)
{
    (void)room;
    return slots;
}

static inline const uint16_t *places_of_values(const uint16_t *values, uint16_t *room)
{
    (void)room;
    return values;
}

static inline const uint16_t *places_of_spread(const uint16_t *values, uint16_t *room)
{
    for (int i = 0; i < TOGETHER; i++)
        room[i] = histo_spread_place(values[i]);
    return room;
}

#if defined(__AVX512BW__)

static inline int ones(uint64_t bits)
{
    return (int)_mm_popcnt_u64(bits);
}

/* How many of one vector are equal to a place. */
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

/* Count a group most of which is of three values, or fewer, value by value; false if it is not. The first is not looked
 * at further unless it makes up most of the first vector, or a part of that and of the last: else it is a short run. */
#define DEFINE_COUNT_FEW(name, type, bits, one)                                                                        \
    static inline bool count_few_##name(uint8_t *table, const type *at, histo_carry_fn *carry, const void *to)         \
    {                                                                                                                  \
        enum { FEW = 3, MOST_OTHERS = 24, LANES = 64 / sizeof *at };                                                   \
        int near = alike_##bits(at, *at);                                                                              \
        if (near * 6 < LANES) return false;                                                                            \
        if (near * 4 < LANES * 3 && alike_##bits(at + GROUP - LANES, *at) * 6 < LANES) return false;                   \
        uint64_t equal[FEW], left = ~(uint64_t)0;                                                                      \
        type places[FEW];                                                                                              \
        for (int i = 0; i < FEW; i++) {                                                                                \
            places[i] = left ? at[__builtin_ctzll(left)] : *at;                                                        \
            equal[i] = equal_##bits(at, places[i]) & left;                                                             \
            left &= ~equal[i];                                                                                         \
        }                                                                                                              \
        if (ones(left) > MOST_OTHERS) return false;                                                                    \
        for (int i = 0; i < FEW; i++)                                                                                  \
            if (add(&table[places[i]], ones(equal[i]))) carry(to, one##_at(places[i]));                                \
        while (left) {                                                                                                 \
            type place = at[__builtin_ctzll(left)];                                                                    \
            uint64_t more = equal_##bits(at, place);                                                                   \
            if (add(&table[place], ones(more))) carry(to, one##_at(place));                                            \
            left &= ~more;                                                                                             \
        }                                                                                                              \
        return true;                                                                                                   \
    }

#else

/* Count a group of one value; false if it is not. */
#define DEFINE_COUNT_FEW(name, type, bits, one)                                                                        \
    static inline bool count_few_##name(uint8_t *table, const type *at, histo_carry_fn *carry, const void *to)         \
    {                                                                                                                  \
        if (!histo_all_equal(at, GROUP, sizeof *at)) return false;                                                     \
        if (add(&table[*at], GROUP)) carry(to, one##_at(*at));                                                         \
        return true;                                                                                                   \
    }

#endif

#define DEFINE_COUNT(name, type, bits, one)                                                                            \
    DEFINE_COUNT_FEW(name, type, bits, one)                                                                            \
                                                                                                                       \
    static inline void count_group_##name(uint8_t *table, const type *at, histo_carry_fn *carry, const void *to)       \
    {                                                                                                                  \
        uint64_t carries = 0;                                                                                          \
        for (const type *from = at; from < at + GROUP; from += UNROLLED)                                               \
            for (int i = 0; i < UNROLLED; i++)                                                                         \
                carries = increment(&table[from[i]], carries);                                                         \
        for (; carries; carries &= carries - 1)                                                                        \
            carry(to, one##_at(at[GROUP - 1 - __builtin_ctzll(carries)]));                                             \
    }                                                                                                                  \
                                                                                                                       \
    static inline void count_in_turns_##name(uint8_t *table, const type *at, histo_carry_fn *carry, const void *to)    \
    {                                                                                                                  \
        uint64_t carries[TOGETHER / CARRIES];                                                                          \
        for (int turn = 0; turn < TURNS; turn += CARRIES / RUNS) {                                                     \
            uint64_t bits = 0; /* in a register: the table may alias memory */                                         \
            for (int t = turn; t < turn + CARRIES / RUNS; t++)                                                         \
                for (int run = 0; run < RUNS; run++)                                                                   \
                    bits = increment(&table[at[run * TURNS + t]], bits);                                               \
            carries[turn * RUNS / CARRIES] = bits;                                                                     \
        }                                                                                                              \
        for (int word = 0; word < TOGETHER / CARRIES; word++)                                                          \
            for (uint64_t left = carries[word]; left; left &= left - 1) {                                              \
                int i = word * CARRIES + CARRIES - 1 - __builtin_ctzll(left);                                          \
                carry(to, one##_at(at[i % RUNS * TURNS + i / RUNS]));                                                  \
            }                                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    static void count_##name(uint8_t *table, const type *at, int n, histo_carry_fn *carry, const void *to)             \
    {                                                                                                                  \
        for (; n >= TOGETHER; n -= TOGETHER, at += TOGETHER) {                                                         \
            type room[TOGETHER];                                                                                       \
            const type *places = places_of_##name(at, room);                                                           \
            bool counted[GROUPS], some = false;                                                                        \
            for (int g = 0; g < GROUPS; g++)                                                                           \
                some |= counted[g] = count_few_##name(table, places + g * GROUP, carry, to);                           \
            if (!some) count_in_turns_##name(table, places, carry, to);                                                \
            for (int g = 0; some && g < GROUPS; g++)                                                                   \
                if (!counted[g]) count_group_##name(table, places + g * GROUP, carry, to);                             \
        }                                                                                                              \
        for (int i = 0; i < n; i++)                                                                                    \
            if (add(&table[one##_at(at[i])], 1)) carry(to, at[i]);                                                     \
    }

DEFINE_COUNT(slots, uint32_t, u32, slot)
DEFINE_COUNT(values, uint16_t, u16, value)
DEFINE_COUNT(spread, uint16_t, u16, spread)

void HISTO_COUNT_SLOTS(uint8_t *table, const uint32_t *at, int n, histo_carry_fn *carry, const void *to)
{
    count_slots(table, at, n, carry, to);
}

void HISTO_COUNT_VALUES(uint8_t *table, const uint16_t *at, int n, bool spread, histo_carry_fn *carry, const void *to)
{
    if (spread)
        count_spread(table, at, n, carry, to);
    else
        count_values(table, at, n, carry, to);
}
