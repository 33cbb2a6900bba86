/* Counting bytes: how often each of the 256 values occurs.
 *
 * Bytes are 8-bit samples, or one-byte codes of the bins of wider ones. */
#ifndef CPU_COUNT_BYTES_H
#define CPU_COUNT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 16-bit integers as bytes: subtract first, shift right. The last one is at most first + width, with the difference
 * modulo 2^16. */
typedef struct histo_shorts {
    uint16_t first, width;
    int shift; /* (width >> shift) < 256 */
} histo_shorts;

typedef struct histo_byte_counting {
    size_t state_bytes; /* a multiple of 64; states are 64-byte aligned */
    double byte_ns;     /* for cost models: approximate time per byte */
    double finish_us;   /* for cost models: approximate time to start and finish */
    void (*start)(void *state);
    void (*add)(void *state, const uint8_t *bytes, size_t n);
    /* Count 16-bit integers as bytes, up to a stretch with one outside first … first + width; returns how many have
     * been counted. NULL if this is no faster than narrowing them to bytes first. */
    size_t (*add_shorts)(void *state, const uint16_t *shorts, size_t n, const histo_shorts *as);
    /* Add the counts since the start to counts[], and start again. */
    void (*finish)(void *state, uint64_t counts[256]);
} histo_byte_counting;

enum { HISTO_SCALAR_STATE_BYTES = 4 * 1024 + 2048 + 64 };

/* Scalar increments of subtables (count_bytes.c); needs a state of HISTO_SCALAR_STATE_BYTES. */
extern const histo_byte_counting histo_byte_counting_scalar;
/* Positional popcount (count_bytes_vbmi2.c); the kernel of HISTO_ISA_AVX512VBMI2. */
extern const histo_byte_counting histo_byte_counting_vbmi2;

#endif
