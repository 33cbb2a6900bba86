/* Tables of one-byte counters that carry 256 to the histogram when they wrap; tables of 32-bit counters, counted in the
 * same way but without carries; and the histogram's own counters. */
#ifndef CPU_BYTE_TABLE_H
#define CPU_BYTE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels/sums/sums.h"
#include "cpu/samples/block.h"
#include "cpu/samples/spans.h"

/* ---- Interleaved counting ---- */

/* HISTO_PIECE indices are divided into streams, and a round takes one index from each, so that equal neighbours do not
 * wait for each other's store. A step has as many indices as a word has bits, for its carries. */
enum {
    HISTO_STREAMS = 16,
    HISTO_STREAM = HISTO_PIECE / HISTO_STREAMS, /* indices in a stream */
    HISTO_STEP = 64,                            /* indices in a step */
    HISTO_STEPS = HISTO_PIECE / HISTO_STEP,
    HISTO_ROUNDS = HISTO_STEP / HISTO_STREAMS, /* rounds in a step */
};

/* Increment a counter, and shift into `carries` whether it wrapped. */
static inline uint64_t histo_increment_8(uint8_t *counter, uint64_t carries)
{
#if defined(__x86_64__)
    __asm__("addb $1, %1\n\tadcq %0, %0" : "+r"(carries), "+m"(*counter) : : "cc");
    return carries;
#elif defined(__aarch64__)
    const uint32_t count = *counter; /* the comparison with 255 sets the carry flag if it wraps */
    __asm__("cmp %w1, #255\n\tadc %0, %0, %0" : "+r"(carries) : "r"(count) : "cc");
    *counter = (uint8_t)(count + 1);
    return carries;
#else
    return 2 * carries + (++*counter == 0);
#endif
}

static inline uint64_t histo_increment_32(uint32_t *counter, uint64_t carries)
{
    ++*counter;
    return carries;
}

/* Count one step of HISTO_PIECE indices; returns its carries. */
#define HISTO_DEFINE_COUNT_STEP(name, type, counter, width)                                                            \
    static inline uint64_t histo_count_step_of_##name(counter *table, const type *at, int step)                        \
    {                                                                                                                  \
        uint64_t carries = 0; /* in a register: the table may alias memory */                                          \
        for (int round = step * HISTO_ROUNDS; round < (step + 1) * HISTO_ROUNDS; round++)                              \
            for (int stream = 0; stream < HISTO_STREAMS; stream++)                                                     \
                carries = histo_increment_##width(&table[at[stream * HISTO_STREAM + round]], carries);                 \
        return carries;                                                                                                \
    }
HISTO_DEFINE_COUNT_STEP(slots, uint32_t, uint8_t, 8)
HISTO_DEFINE_COUNT_STEP(values, uint16_t, uint8_t, 8)
HISTO_DEFINE_COUNT_STEP(spread, uint16_t, uint8_t, 8)
HISTO_DEFINE_COUNT_STEP(words, uint32_t, uint32_t, 32)
HISTO_DEFINE_COUNT_STEP(wide, uint16_t, uint32_t, 32)

/* ---- Slots ---- */

/* Add the weights of one step of a piece to the sums of their slots. */
typedef void histo_add_step_fn(const histo_sums *sums, const uint32_t *slots, const void *weights, int step);

/* The consumer of the slot pipeline (pipeline.h): a piece's slots and the table they are counted in, of bytes with
 * HISTO_STEPS words of carries, or of words; or the sums to which their weights are added. */
typedef struct histo_consumer {
    const uint32_t *at;
    uint8_t *bytes;
    uint64_t *carries;
    uint32_t *words;
    const histo_sums *sums;
    const void *weights;
    histo_add_step_fn *add;
} histo_consumer;

static inline void histo_consume(const histo_consumer *to, int step)
{
    if (to->bytes)
        to->carries[step] = histo_count_step_of_slots(to->bytes, to->at, step);
    else if (to->words)
        histo_count_step_of_words(to->words, to->at, step);
    else
        to->add(to->sums, to->at, to->weights, step);
}

/* The producer: produce the slots of HISTO_PIECE samples, and consume a step of other slots with every HISTO_STEP of
 * them. Increments wait for stores, vector operations do not, so both together take little longer than one. */
typedef void histo_produce_fn(const histo_lookup *lookup, const histo_spans *spans, const void *samples,
                              uint32_t *slots, histo_consumer to);

/* The function that produces slots like this; NULL if there is none. near: the lookup's stored edges are nearly
 * regular. */
typedef histo_produce_fn *histo_producer_of_fn(const histo_lookup *lookup, bool near, histo_dtype dtype);

/* The samples whose slots are needed next. */
typedef struct histo_producer {
    histo_produce_fn *produce; /* may be NULL */
    const histo_lookup *lookup;
    const histo_spans *spans; /* of a lookup by search */
    const void *samples;
    uint32_t *slots;
} histo_producer;

/* Called with an index whose counter wrapped, to carry its 256 counts. */
typedef void histo_carry_fn(const void *to, size_t index);

/* Increment table[at[i]] for each of n slots; the counters are bytes (count_slots) or 32-bit words (count_words).
 * Returns true if the slots of `next`, which may be NULL, have been produced meanwhile, for which n must be
 * HISTO_PIECE. */
typedef bool histo_count_slots_fn(void *table, const uint32_t *at, int n, histo_carry_fn *carry, const void *to,
                                  const histo_producer *next);

/* Produce the slots of `next` while those of a piece are consumed. */
static inline void histo_produce(const histo_producer *next, histo_consumer to)
{
    next->produce(next->lookup, next->spans, next->samples, next->slots, to);
}

/* Add the weights of n samples, floats or doubles, to the sums of their slots; returns as histo_count_slots_fn. */
typedef bool histo_add_weights_fn(const histo_sums *sums, const uint32_t *slots, const void *weights, bool floats,
                                  int n, const histo_producer *next);

/* Increment table[slots[i]] for each of n slots. */
typedef void histo_count_longs_fn(uint64_t *table, const uint32_t *slots, int n);

/* ---- Values ---- */

/* How 16-bit values are counted, with a counter for each value: a word, a byte, or the byte at
 * histo_spread_place(value). */
typedef enum histo_value_counters { HISTO_IN_BYTES, HISTO_IN_SPREAD_BYTES, HISTO_IN_WORDS } histo_value_counters;
typedef void histo_count_values_fn(void *table, const uint16_t *at, int n, histo_value_counters counters,
                                   histo_carry_fn *carry, const void *to);

enum { HISTO_CARRY = 256 };

/* Samples of fewer than 16 bits are often stored in the upper bits, and counters 4096 bytes apart compete for one set
 * of the L1 cache. An involution: it also maps places back to values. Samples that do not need it take a fifth
 * longer. */
static inline uint16_t histo_spread_place(uint16_t value)
{
    return (uint16_t)(value ^ (value >> 6 & 0x3c0));
}

#endif
