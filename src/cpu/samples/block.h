/* Blocks of samples, and their slots. */
#ifndef CPU_BLOCK_H
#define CPU_BLOCK_H

#include "base/threads/pool.h"
#include "cpu/kernels/filters.h"
#include "cpu/samples/prefetch.h"
#include "plan/strategy.h"

enum {
    HISTO_BLOCK = 2048, /* samples in a block: it and its slots fit the L1 cache */
    HISTO_PIECE = 512,  /* samples in a piece of a block, whose slots are produced while those of another are counted */
};

/* Samples that pass the mask and the range filter, of one batch entry, or of several if the iteration spans them, with
 * every column contiguous and aligned; at most HISTO_BLOCK unless `most` says more. Columns are the operands that are
 * counted: samples of the axes and weights. */
typedef struct histo_block {
    int64_t batch; /* 0 if the iteration spans entries */
    int n;
    int left_out;  /* samples before the block's end that did not pass; the caller counts them as masked in `batch` */
    int64_t ahead; /* number of samples that follow in memory and are read next; 0 if the block is a copy */
    const uint32_t *first; /* first slot of each sample's batch entry, if the iteration spans entries; else NULL */
    const void *at[HISTO_MAX_OPERANDS];
} histo_block;

typedef struct histo_blocks {
    const histo_job *job;
    histo_walk walk;
    const histo_strided_iter *iter; /* the iterator walked: the job's, or `merged` */
    histo_strided_iter merged;      /* over pixels of images whose pairs are counted, or over all batch entries as
                                     * one */
    histo_entries entries;          /* maps samples to batch entries, if all are walked as one */
    int64_t next;                   /* the next sample, in that case */
    uint32_t *first;                /* as in histo_block, for all samples, then for those that pass */
    histo_run run;                  /* the rest of the current run */
    char *gathered;                 /* buffer for a block of every operand */
    char *passed;                   /* buffer for the passing samples of every column; NULL without a filter */
    histo_bounds inside;            /* the bounds of the range filter */
    int64_t most;          /* samples in an in-place block: HISTO_BLOCK, or what the caller sets after the start */
    histo_pool_work *work; /* if it may be stopped; else NULL */
    int64_t left, all;     /* samples left in the range: when the monitor was last asked; at the start */
} histo_blocks;

/* Size of the buffer `gathered` for histo_blocks_start, a multiple of 64. */
size_t histo_blocks_bytes(const histo_problem *problem);

/* Iterate over range `index` of `ranges` equal ranges of the job's samples. gathered: 64-byte aligned. */
void histo_blocks_start(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered);

/* Start blocks that span batch entries, so that entries that are small, or interleaved in memory, still make full
 * blocks. The whole batch has at most 2^32 - 1 slots. gathered: of histo_blocks_spanning_bytes. Samples that do not
 * pass are counted as masked here. Each batch entry is in one range only. */
void histo_blocks_start_spanning(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered);
size_t histo_blocks_spanning_bytes(const histo_problem *problem);

/* The next block; false at the end, or if the work has been stopped. */
bool histo_blocks_next(histo_blocks *blocks, histo_block *block);

/* Up to HISTO_PIECE samples of a block from `begin` on; false if there are none. Not returned by value: copying the
 * struct would take longer than everything else. */
bool histo_block_piece(const histo_problem *problem, const histo_block *block, int begin, histo_block *piece);

/* Count the samples that a block left out as masked; alone: see histo_add_count. */
void histo_block_add_masked(const histo_job *job, const histo_block *block, bool alone);

/* The slot of every sample of a block, numbered across the whole batch if it spans entries. */
void histo_block_slots(const histo_job *job, const histo_block *block, uint32_t *slots);

/* Slots in 64 bits, numbered across the whole batch, for sparse histograms. */
void histo_block_wide_slots(const histo_job *job, const histo_block *block, uint64_t *slots);

/* Add to a counter of the histogram. alone: no other thread does so at the same time. */
static inline void histo_add_count(uint64_t *counter, uint64_t count, bool alone)
{
    if (alone)
        *counter += count;
    else if (count)
        __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
}

/* Whether all samples of the block are equal and unweighted, so that all belong to one slot. */
bool histo_block_is_constant(const histo_job *job, const histo_block *block);

/* The bins of at most HISTO_PIECE samples of one axis as bytes; see histo_codes_fn. */
void histo_block_codes(const histo_job *job, const histo_block *block, uint8_t *codes, uint64_t flow[3]);

#endif
