/* What the CPU strategies share: the instruction set, blocks of samples and their slots, weights, costs. */
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include "cpu/kernels/digits.h"
#include "cpu/kernels/filters.h"
#include "cpu/samples/spans.h"
#include "plan/strategy.h"

/* ---- Features (features.c) ---- */

/* AVX512: F, BW, DQ and VL; AVX512VBMI2: these, VBMI and VBMI2. */
typedef enum histo_isa { HISTO_ISA_BASELINE, HISTO_ISA_AVX2, HISTO_ISA_AVX512, HISTO_ISA_AVX512VBMI2 } histo_isa;

/* The highest level that this CPU supports and the environment variable HISTO_CPU allows (baseline, avx2, avx512,
 * avx512vbmi2). */
histo_isa histo_isa_usable(void);
const char *histo_isa_name(histo_isa isa);

/* ---- Plans (backend.c) ---- */

/* What the backend prepares for a plan. */
typedef struct histo_cpu_prepared {
    histo_spans spans[HISTO_MAX_AXES]; /* of lookups by search without a table; else zero */
} histo_cpu_prepared;

/* Allocate a multiple of 64 bytes, 64-byte aligned; free with free(); NULL if there is no memory. Large allocations use
 * huge pages where available: random increments miss the TLB less often, and there are fewer page faults. */
void *histo_cpu_allocate(size_t bytes);

/* Call count(job, 0 … threads-1, threads) on the thread pool and return when all calls have returned. */
void histo_run_ranges(const histo_job *job, int threads, void (*count)(const histo_job *job, int index, int threads));

/* ---- Blocks (block.c) ---- */

enum { HISTO_BLOCK = 2048 }; /* samples; a block and its slots fit the L1 cache */

/* Samples of one batch entry, or of several if the iteration spans them, that the mask and the range filter let pass,
 * with every column contiguous and aligned; at most HISTO_BLOCK unless `most` says more. Columns are the operands that
 * are counted: samples of the axes and weights.
 */
typedef struct histo_block {
    int64_t batch; /* 0 if the iteration spans entries */
    int n;
    int left_out;  /* samples before the block's end that did not pass; the caller counts them as masked in `batch` */
    int64_t ahead; /* samples that follow these in memory and are read next; 0 if these are copies */
    const uint32_t *first; /* slot of each sample's batch entry, if the iteration spans entries; else NULL */
    const void *at[HISTO_MAX_OPERANDS];
} histo_block;

typedef struct histo_blocks {
    const histo_job *job;
    histo_walk walk;
    const histo_strided_iter *iter; /* what is walked: the job's, or `own` */
    histo_strided_iter own;         /* the pixels of pairs, or all batch entries as one */
    histo_entries entries;          /* where entries are, if all are one */
    int64_t next;                   /* the next sample, if all are one */
    uint32_t *first;                /* see histo_block: of all samples, then of those that pass */
    histo_run run;                  /* the rest of the current run */
    char *gathered;                 /* a buffer for a block of every operand */
    char *passed;                   /* the same of every column, for samples that pass; NULL if there is no filter */
    histo_bounds inside;            /* of the range filter */
    int64_t most; /* samples of a block in place: HISTO_BLOCK, or what the caller sets after the start */
} histo_blocks;

/* Bytes of the buffer `gathered` for histo_blocks_start, a multiple of 64. */
size_t histo_blocks_bytes(const histo_problem *problem);

/* Iterate over range `index` of `ranges` equal ranges of the job's samples. gathered: 64-byte aligned. */
void histo_blocks_start(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered);

/* The same for blocks that span batch entries: entries that are small, or that interleave in memory, still make full
 * blocks. The whole batch has at most 2^32 - 1 slots. gathered: of histo_blocks_spanning_bytes. Samples that do not
 * pass are counted as masked here. Each batch entry is in one range only. */
void histo_blocks_start_spanning(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered);
size_t histo_blocks_spanning_bytes(const histo_problem *problem);

bool histo_blocks_next(histo_blocks *blocks, histo_block *block);

/* Up to HISTO_PIECE samples of a block from `begin` on; false if there are none. Not returned by value: copying the
 * struct would take longer than all the rest. */
enum { HISTO_PIECE = 512 };
bool histo_block_piece(const histo_problem *problem, const histo_block *block, int begin, histo_block *piece);

/* Prefetch what follows a piece at a short distance, so that memory is busy while slots are counted. Use it for few
 * lines at a time: many prefetches at once wait for each other. */
enum { HISTO_LINE = 64, HISTO_AHEAD = 8192 };
static inline void histo_prefetch_l2(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += HISTO_LINE)
        __builtin_prefetch((const char *)at + HISTO_AHEAD + line, 0, 2);
}

/* The same into the L1 cache, for use while slots are counted and the L2 cache is busy with counters. */
static inline void histo_prefetch_l1(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += HISTO_LINE)
        __builtin_prefetch((const char *)at + HISTO_AHEAD + line, 0, 3);
}

/* Count the samples that a block left out as masked; alone: see histo_add_count. */
void histo_block_add_masked(const histo_job *job, const histo_block *block, bool alone);

/* The slot of every sample of a block, numbered over the whole batch if it spans entries. */
void histo_block_slots(const histo_job *job, const histo_block *block, uint32_t *slots);

/* Slots in 64 bits, numbered over the whole batch, for sparse histograms. */
void histo_block_wide_slots(const histo_job *job, const histo_block *block, uint64_t *slots);

/* Add to a counter of the histogram. alone: no other thread does at the same time. */
static inline void histo_add_count(uint64_t *counter, uint64_t count, bool alone)
{
    if (alone)
        *counter += count;
    else if (count)
        __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
}

/* Are all samples of the block equal and unweighted, so that all belong to one slot? */
bool histo_block_is_constant(const histo_job *job, const histo_block *block);

/* The bins of at most HISTO_PIECE samples of one axis as bytes; see histo_codes_fn. */
void histo_block_codes(const histo_job *job, const histo_block *block, uint8_t *codes, uint64_t flow[3]);

/* Are the edges of an axis stored, nearly regular, and not in a table? See histo_spans. */
bool histo_is_near(const histo_problem *problem, int axis);

/* For cost models (costs.c): the time per sample of histo_block_slots, of the same while other slots are counted
 * (pipeline.h), of histo_block_codes, and of gathering a sample into a block that does not span batch entries. */
double histo_slots_ns(const histo_problem *problem);
double histo_pipelined_slots_ns(const histo_problem *problem);
double histo_codes_ns(const histo_problem *problem);
double histo_gather_ns(const histo_problem *problem);

/* ---- Weights (weights.c) ---- */

/* Provide the windows of the reproducible sums for the job's weights: the only part of counting weights that can fail.
 */
histo_status histo_weights_reserve(const histo_job *job);

/* Add the weight of one sample to slot `index`, numbered over the whole batch. Not thread-safe unless the sums are
 * reproducible. */
void histo_weights_add(const histo_job *job, int64_t index, const char *const *at);

/* The weights of a block as doubles (64-bit integers rounded); 1 if there are none. */
void histo_block_weights(const histo_job *job, const histo_block *block, double *weights);

/* The same, with their extremes; false if double does not represent all of them. */
bool histo_block_exact_weights(const histo_job *job, const histo_block *block, double *weights,
                               histo_magnitudes *extremes);

/* What is known of the weights that double represents. */
histo_numbers histo_weight_numbers(const histo_problem *problem);

/* Add the weights of a block (wanted[0]) and their squares (wanted[1]) to the histogram's reproducible sums, with slots
 * from histo_block_slots. alone: no other thread adds to the same slots; else thread-safe, and slower. */
void histo_block_add_exact(const histo_job *job, const histo_block *block, const bool wanted[2], bool alone,
                           const uint32_t *slots);

#endif
