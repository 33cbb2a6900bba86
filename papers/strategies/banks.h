/* Which bank of shared memory each lane of a warp touches: the maps of strategies whose idea is that none touches
 * another's. For host and device; tests/papers/test_structure.c checks the ideas themselves, which counts alone would
 * not show. */
#ifndef PAPERS_STRATEGIES_BANKS_H
#define PAPERS_STRATEGIES_BANKS_H

#include "base/host_device.h"

enum { HISTO_BANKS = 32, HISTO_LANES = 32 };

/* ---- A row for each slot, a column for each thread (thread_bytes, thread_counters) ---- */

enum { HISTO_FOUR_WARPS = 128, HISTO_BYTE_SAMPLES = 255 /* that a byte holds */ };

/* The byte of a row that is thread t's: the threads of a warp have 32 different words, whose bytes four warps share. */
HISTO_INLINE uint32_t histo_byte_of_thread(uint32_t t)
{
    return (t & ~127u) | (t & 31) << 2 | (t >> 5 & 3);
}

/* Columns of so many threads. */
HISTO_INLINE uint32_t histo_byte_columns(uint32_t threads)
{
    return (threads + HISTO_FOUR_WARPS - 1) / HISTO_FOUR_WARPS * HISTO_FOUR_WARPS;
}

/* Must the bytes be flushed before a thread counts `more` samples? It may have counted all so far in one of them. */
HISTO_INLINE bool histo_bytes_are_full(uint32_t samples, uint32_t more)
{
    return samples + more > HISTO_BYTE_SAMPLES;
}

/* Thread v adds up row v. It begins v words into the row and goes around, so that the lanes of a warp are always at
 * different words. */
HISTO_INLINE uint32_t histo_row_first(uint32_t v, uint32_t words)
{
    return v % words;
}

HISTO_INLINE uint32_t histo_row_next(uint32_t at, uint32_t words)
{
    return at + 1 < words ? at + 1 : 0;
}

/* ---- Loads (shared_search) ---- */

/* Which of a block's samples thread t loads if those of neighbouring threads are to be 32 apart. threads: a multiple of
 * 32. */
HISTO_INLINE uint32_t histo_spaced_at(uint32_t t, uint32_t threads)
{
    const uint32_t rows = threads / HISTO_LANES;
    return t % rows * HISTO_LANES + t / rows;
}

/* ---- A bank for each lane (bank_owner) ---- */

/* Counters of a warp: whole rows of banks, so that a slot's bank is slot % 32 for every warp. */
HISTO_INLINE uint32_t histo_owned_stride(int64_t counters)
{
    return (uint32_t)((counters + HISTO_BANKS - 1) / HISTO_BANKS * HISTO_BANKS);
}

HISTO_INLINE bool histo_is_owner(uint32_t lane, uint32_t slot)
{
    return slot % HISTO_BANKS == lane;
}

/* Where the lane reads its i-th staged slot: it begins at its own position of each row and goes around. */
HISTO_INLINE uint32_t histo_staged_at(uint32_t i, uint32_t lane)
{
    return (i & ~(HISTO_LANES - 1u)) + (i + lane) % HISTO_LANES;
}

/* ---- Counters that carry the lane that wrote them last (warp_tagged) ---- */

enum {
    HISTO_TAGGED_BITS = 27, /* that count; the others are the tag */
    HISTO_TAGGED_MASK = (1 << HISTO_TAGGED_BITS) - 1,
    HISTO_TAGGED_SAMPLES = 1 << 26 /* between merges: a block may count them all in one counter */
};

/* The counter after its increment by a thread. */
HISTO_INLINE uint32_t histo_tagged(uint32_t counter, uint32_t thread)
{
    return thread << HISTO_TAGGED_BITS | ((counter & HISTO_TAGGED_MASK) + 1);
}

#endif
