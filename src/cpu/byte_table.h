/* Tables of counters of one byte, which carry 256 to the histogram when they come round to 0; and, counted in the same
 * way, of four, which do not. */
#ifndef CPU_BYTE_TABLE_H
#define CPU_BYTE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu.h"

/* ---- Turns ---- */

enum {
    HISTO_TOGETHER = HISTO_PIECE, /* indices that are counted together, … */
    HISTO_RUNS = 16,              /* … one of each of so many stretches a turn … */
    HISTO_TURNS = HISTO_TOGETHER / HISTO_RUNS,
    HISTO_NOTED = 64, /* … and whose carries are noted as bits of so many a word: … */
    HISTO_WORDS = HISTO_TOGETHER / HISTO_NOTED,
    HISTO_SHARE = HISTO_NOTED / HISTO_RUNS, /* … of so many turns */
};

/* Slots in turns, and the table: bytes, with words of carries, or else words. */
typedef struct histo_turns {
    const uint32_t *at;
    uint8_t *bytes;
    uint64_t *carries;
    uint32_t *words;
} histo_turns;

/* Add 1, and append whether the counter came round. */
static inline uint64_t histo_increment_bytes(uint8_t *counter, uint64_t carries)
{
#if defined(__x86_64__)
    __asm__("addb $1, %1\n\tadcq %0, %0" : "+r"(carries), "+m"(*counter) : : "cc");
    return carries;
#else
    return 2 * carries + (++*counter == 0);
#endif
}

static inline uint64_t histo_increment_words(uint32_t *counter, uint64_t carries)
{
    ++*counter;
    return carries;
}

/* Count the share `word` of HISTO_TOGETHER indices; its carries. */
#define HISTO_DEFINE_TURNS(name, type, counter, width)                                                                 \
    static inline uint64_t histo_turns_of_##name(counter *table, const type *at, int word)                             \
    {                                                                                                                  \
        uint64_t carries = 0; /* in a register: the table may alias memory */                                          \
        for (int turn = word * HISTO_SHARE; turn < (word + 1) * HISTO_SHARE; turn++)                                   \
            for (int run = 0; run < HISTO_RUNS; run++)                                                                 \
                carries = histo_increment_##width(&table[at[run * HISTO_TURNS + turn]], carries);                      \
        return carries;                                                                                                \
    }
HISTO_DEFINE_TURNS(slots, uint32_t, uint8_t, bytes)
HISTO_DEFINE_TURNS(values, uint16_t, uint8_t, bytes)
HISTO_DEFINE_TURNS(words, uint32_t, uint32_t, words)
HISTO_DEFINE_TURNS(wide_values, uint16_t, uint32_t, words)

static inline void histo_count_turns(const histo_turns *to, int word)
{
    if (to->bytes)
        to->carries[word] = histo_turns_of_slots(to->bytes, to->at, word);
    else
        histo_turns_of_words(to->words, to->at, word);
}

/* ---- Slots ---- */

/* Count HISTO_TOGETHER slots in turns, and meanwhile make the slots of as many samples: increments wait for stores,
 * vectors do not. */
typedef void histo_making_fn(const histo_lookup *lookup, const void *samples, uint32_t *slots, histo_turns to);

/* How that is done for some samples; NULL if there is no way. Compiled once for each level of the instruction set
 * (slots.c). */
typedef histo_making_fn *histo_making_of_fn(const histo_lookup *lookup, histo_dtype dtype);
histo_making_of_fn histo_making_baseline, histo_making_avx2, histo_making_avx512;

/* Samples whose slots are wanted next. */
typedef struct histo_next {
    histo_making_fn *make; /* may be NULL */
    const histo_lookup *lookup;
    const void *samples;
    uint32_t *slots;
} histo_next;

/* Where 256 of an index go that its counter cannot hold. */
typedef void histo_carry_fn(const void *to, size_t index);

/* Add 1 to table[at[i]] for each of n slots: to bytes, or to words of 32 bits. Compiled for each level, too
 * (byte_table.c). True if the slots of next, which may be NULL, were made meanwhile: n is HISTO_TOGETHER then. */
typedef bool histo_count_slots_fn(void *table, const uint32_t *at, int n, histo_carry_fn *carry, const void *to,
                                  const histo_next *next);
histo_count_slots_fn histo_count_slots_baseline, histo_count_slots_avx2, histo_count_slots_avx512;
histo_count_slots_fn histo_count_words_baseline, histo_count_words_avx2, histo_count_words_avx512;

/* Of the level that this CPU has. */
histo_count_slots_fn *histo_count_slots_usable(void);
histo_count_slots_fn *histo_count_words_usable(void);

/* A job's slots on their way to a table: those of a piece wait until those of the next are made. */
typedef struct histo_waiting {
    const histo_job *job;
    histo_count_slots_fn *count;
    void *table;
    histo_carry_fn *carry;
    const void *to;
    uint32_t *slots;
    int n; /* of them */
    histo_next next;
} histo_waiting;

enum { HISTO_WAITING_BYTES = 2 * HISTO_TOGETHER * sizeof(uint32_t) };

/* room: HISTO_WAITING_BYTES, 64-byte aligned. */
histo_waiting histo_waiting_start(const histo_job *job, void *room, histo_count_slots_fn *count, void *table,
                                  histo_carry_fn *carry, const void *to);
/* Count those that wait, and make those of a piece, which wait then. */
void histo_waiting_take(histo_waiting *waiting, const histo_block *piece);
/* Count those that wait. */
void histo_waiting_finish(histo_waiting *waiting);

/* ---- Values ---- */

/* The same for 16-bit values, each with the counter of its number: words, or bytes, or if these are spread, that of
 * histo_spread_place(value). */
typedef enum histo_value_counters { HISTO_IN_BYTES, HISTO_IN_SPREAD_BYTES, HISTO_IN_WORDS } histo_value_counters;
typedef void histo_count_values_fn(void *table, const uint16_t *at, int n, histo_value_counters counters,
                                   histo_carry_fn *carry, const void *to);
histo_count_values_fn histo_count_values_baseline, histo_count_values_avx2, histo_count_values_avx512;
histo_count_values_fn *histo_count_values_usable(void);

enum { HISTO_CARRY = 256 };

/* Samples of fewer than 16 bits are often their upper bits, and 4096 apart, counters would share one set of a
 * L1 cache. Maps places to values, too. It takes a fifth of the time of samples that do not need it. */
static inline uint16_t histo_spread_place(uint16_t value)
{
    return (uint16_t)(value ^ (value >> 6 & 0x3c0));
}

#endif
