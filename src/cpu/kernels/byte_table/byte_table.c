/* Counting into tables of one-byte or four-byte counters. Compiled once for each instruction set level (isa.h).
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
#include "cpu/kernels/template.h"
#include "cpu/samples/runs.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

enum {
    GROUP = 64, /* indices that are examined together for having few distinct values */
    GROUPS = HISTO_PIECE / GROUP,
    QUARTERS = 4,
    QUARTER = GROUP / QUARTERS,
};

/* Add any number to a counter; true if it wrapped. */
static inline bool add_8(uint8_t *counter, int count)
{
    *counter = (uint8_t)(*counter + count);
    return *counter < count;
}

static inline bool add_32(uint32_t *counter, int count)
{
    *counter += (uint32_t)count;
    return false;
}

/* The index that a bit in a step's carries belongs to. */
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

/* The number of elements of a vector that equal `place`. */
static inline int alike_32(const uint32_t *at, uint32_t place)
{
    return ones(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(at), _mm512_set1_epi32((int)place)));
}

static inline int alike_16(const uint16_t *at, uint16_t place)
{
    return ones(_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(at), _mm512_set1_epi16((short)place)));
}

/* Bit i of a group: at[i] == place. */
static inline uint64_t equal_32(const uint32_t *at, uint32_t place)
{
    const __m512i p = _mm512_set1_epi32((int)place);
    uint64_t equal = 0;
    for (int i = 0; i < GROUP; i += 16)
        equal |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(at + i), p) << i;
    return equal;
}

static inline uint64_t equal_16(const uint16_t *at, uint16_t place)
{
    const __m512i p = _mm512_set1_epi16((short)place);
    uint64_t equal = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(at), p);
    return equal | (uint64_t)_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(at + 32), p) << 32;
}

#endif

#define NAME(function) function##_slots
#define INDEX_BITS 32
#define COUNTER_BITS 8
#include "cpu/kernels/byte_table/count_template.h"

#define NAME(function) function##_words
#define INDEX_BITS 32
#define COUNTER_BITS 32
#include "cpu/kernels/byte_table/count_template.h"

#define NAME(function) function##_values
#define INDEX_BITS 16
#define COUNTER_BITS 8
#include "cpu/kernels/byte_table/count_template.h"

#define NAME(function) function##_spread
#define INDEX_BITS 16
#define COUNTER_BITS 8
#define SPREAD
#include "cpu/kernels/byte_table/count_template.h"

#define NAME(function) function##_wide
#define INDEX_BITS 16
#define COUNTER_BITS 32
#include "cpu/kernels/byte_table/count_template.h"

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

/* Count a group if three values make up much of it, as samples outside an axis or NaN may: increments of one counter
 * would wait for each other. Otherwise return false, quickly. */
static inline bool count_common(uint64_t *table, const uint32_t *slots)
{
    enum { COMMON = 3, MAX_OTHERS = 40 };
    const uint32_t places[COMMON] = {slots[0], slots[GROUP / 2 - 1], slots[GROUP - 1]};
    if (alike_32(slots, places[0]) < 3 && alike_32(slots, places[1]) < 3) return false;
    uint64_t equal[COMMON], left = ~(uint64_t)0;
    for (int i = 0; i < COMMON; i++) {
        equal[i] = equal_32(slots, places[i]) & left;
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

/* QUARTERS streams, so that equal neighbours do not wait for each other. */
static inline void count_streams(uint64_t *table, const uint32_t *slots, int n)
{
    const int each = n / QUARTERS;
    for (int i = 0; i < each; i++) {
        table[slots[i]]++;
        table[slots[each + i]]++;
        table[slots[2 * each + i]]++;
        table[slots[3 * each + i]]++;
    }
    for (int i = QUARTERS * each; i < n; i++)
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
