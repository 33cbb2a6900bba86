/* What the CPU strategies share: threads, the machine's features, and blocks of samples turned into slots. */
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include "cpu/spans.h"
#include "plan/strategy.h"

/* ---- Features (features.c) ---- */

/* AVX512 is F, BW, DQ and VL; AVX512VBMI2 is these and VBMI2. */
typedef enum histo_isa { HISTO_ISA_BASELINE, HISTO_ISA_AVX2, HISTO_ISA_AVX512, HISTO_ISA_AVX512VBMI2 } histo_isa;

/* The best level that this CPU has and the environment's HISTO_CPU (baseline, avx2, avx512, avx512vbmi2) allows. */
histo_isa histo_isa_usable(void);
const char *histo_isa_name(histo_isa isa);

/* ---- Plans (backend.c) ---- */

/* What the backend prepares for a plan. */
typedef struct histo_cpu_prepared {
    histo_spans spans[HISTO_MAX_AXES]; /* of lookups by search without a table; else zero */
} histo_cpu_prepared;

/* A multiple of 64 bytes, aligned so, to be freed with free; NULL if there is no memory. Large tables are in huge pages
 * where the system has them: random increments miss fewer translations, and there are fewer pages to make. */
void *histo_cpu_allocate(size_t bytes);

/* Call count(job, 0 … threads-1, threads) on the thread pool and return when all calls have returned. */
void histo_run_ranges(const histo_job *job, int threads, void (*count)(const histo_job *job, int index, int threads));

/* ---- Blocks (block.c) ---- */

enum { HISTO_BLOCK = 2048 }; /* samples; a block and its slots stay in the L1 cache */

/* Some samples of one batch entry, with every operand contiguous and aligned. At most HISTO_BLOCK, unless asked for. */
typedef struct histo_block {
    int64_t batch;
    int n;
    const void *at[HISTO_MAX_OPERANDS];
} histo_block;

typedef struct histo_blocks {
    const histo_job *job;
    histo_walk walk;
    histo_strided_iter places; /* of pairs: what is walked */
    histo_run run;             /* the part of the last run that is not given out yet */
    char *gathered;            /* room for one block of every operand */
    int64_t most; /* samples of a block that needs no gathering: HISTO_BLOCK, or what the caller sets after the start */
} histo_blocks;

/* Bytes of `gathered` that histo_blocks_start wants, a multiple of 64. */
size_t histo_blocks_bytes(const histo_problem *problem);

/* The samples of the job in blocks: range `index` of the `ranges` that threads take. gathered: 64-byte aligned. */
void histo_blocks_start(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered);
bool histo_blocks_next(histo_blocks *blocks, histo_block *block);

/* At most HISTO_PIECE samples of a block, from `begin` on; false if there are none. Not by value: that takes longer
 * than the rest. */
enum { HISTO_PIECE = 512 };
bool histo_block_piece(const histo_problem *problem, const histo_block *block, int begin, histo_block *piece);

/* With each piece, memory is asked for what lies a little ahead: it would have nothing to do while slots are counted.
 * Best for few lines at once: many have to wait for each other. */
enum { HISTO_LINE = 64, HISTO_AHEAD = 8192 };
static inline void histo_prefetch_l2(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += HISTO_LINE)
        __builtin_prefetch((const char *)at + HISTO_AHEAD + line, 0, 2);
}

/* The same of the L1 cache, while others are counted: the second is busy with the counters. */
static inline void histo_prefetch_l1(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += HISTO_LINE)
        __builtin_prefetch((const char *)at + HISTO_AHEAD + line, 0, 3);
}

/* The slot of every sample of a block; samples that the mask or the range filter leaves out get problem->slots. */
void histo_block_slots(const histo_job *job, const histo_block *block, uint32_t *slots);

/* The slots of a sparse histogram's whole batch: samples left out get batch * slots + their batch entry. */
void histo_block_wide_slots(const histo_job *job, const histo_block *block, uint64_t *slots);

/* Add to a counter of the histogram; alone: no other thread does so. */
static inline void histo_add_count(uint64_t *counter, uint64_t count, bool alone)
{
    if (alone)
        *counter += count;
    else if (count)
        __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
}

/* Are all samples of the block to be counted, without weights, and in the same slot because they are equal? */
bool histo_block_is_constant(const histo_job *job, const histo_block *block);

/* The bins of the samples of one axis as bytes; see histo_codes_fn. At most HISTO_PIECE. */
void histo_block_codes(const histo_job *job, const histo_block *block, uint8_t *codes, uint64_t flow[4]);

/* About how long histo_block_slots and histo_block_codes take for a sample, for cost models. */
double histo_slots_ns(const histo_problem *problem);
double histo_codes_ns(const histo_problem *problem);

/* The mask and the range filter alone. True if there are none and all samples are to be counted; else kept[i] = 1 for
 * those that are, 0 for others. */
bool histo_block_kept(const histo_job *job, const histo_block *block, uint8_t *kept);

/* True for samples that are to be counted: the mask and the range filter, for one sample at addresses at[operand]. */
bool histo_sample_kept(const histo_job *job, const char *const *at);

/* ---- Weights (weights.c) ---- */

/* Make the reproducible sums ready for the job's weights. The only part of counting weights that can fail. */
histo_status histo_weights_reserve(const histo_job *job);

/* Add the weight of one sample to slot `index` of the whole accumulators. One thread only, unless the sums are
 * reproducible. */
void histo_weights_add(const histo_job *job, int64_t index, const char *const *at);

/* The weights of a block in double (64-bit integers rounded), 1 where none were given. */
void histo_block_weights(const histo_job *job, const histo_block *block, double *weights);

/* Significant bits of a weight in double, at most; 0 of a dtype that double does not hold. */
int histo_weight_bits(const histo_problem *problem);

/* Add the weights of a block and their squares, as wanted, to the reproducible sums of their slots; slots as
 * histo_block_slots gives them. Any number of threads. */
void histo_block_add_exact(const histo_job *job, const histo_block *block, const bool wanted[2], const uint32_t *slots);

#endif
