/* Blocks: samples of strided runs, gathered where they are not contiguous, and their slots. */
#include <string.h>

#include "axis/filter.h"
#include "cpu/cpu.h"
#include "cpu/kernels.h"
#include "cpu/runs.h"
#include "view/dtype.h"
#include "view/gather.h"
#include "view/pairs.h"

/* Every operand gets room for 8-byte samples. */
static size_t operand_bytes(void)
{
    return HISTO_BLOCK * sizeof(double);
}

/* The columns of a block: the problem's operands, or what is computed from pairs of images. */
static int columns_of(const histo_problem *problem)
{
    return problem->pairs ? HISTO_PAIRS_AXES : problem->operands;
}

static histo_dtype column_dtype(const histo_problem *problem, int column)
{
    return column < problem->naxes ? problem->sampled[column] : problem->dtypes[column];
}

size_t histo_blocks_bytes(const histo_problem *problem)
{
    return (size_t)columns_of(problem) * operand_bytes();
}

/* Where range `index` of n samples begins, without overflow of n * index. */
static int64_t range_begin(int64_t n, int index, int ranges)
{
    return n / ranges * index + n % ranges * index / ranges;
}

void histo_blocks_start(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered)
{
    int64_t n = job->end - job->begin;
    *blocks = (histo_blocks){.job = job, .gathered = gathered, .most = HISTO_BLOCK};
    if (job->problem->pairs) {
        blocks->places = histo_strided_iter_places(&job->iter);
        n = histo_strided_iter_samples(&blocks->places);
        histo_walk_start(&blocks->walk, &blocks->places, range_begin(n, index, ranges),
                         range_begin(n, index + 1, ranges), INT64_MAX);
        return;
    }
    histo_walk_start(&blocks->walk, &job->iter, job->begin + range_begin(n, index, ranges),
                     job->begin + range_begin(n, index + 1, ranges), INT64_MAX);
}

static int64_t run_stride(const histo_strided_iter *iter, int operand)
{
    return iter->strides[operand][iter->ndim - 1];
}

/* Can the run's samples of this operand be used where they are? */
static bool is_contiguous_aligned(const histo_blocks *blocks, int operand)
{
    int64_t size = (int64_t)histo_dtype_size(blocks->job->problem->dtypes[operand]);
    return run_stride(&blocks->job->iter, operand) == size && (uintptr_t)blocks->run.at[operand] % (size_t)size == 0;
}

/* The bytes of a pixel if the operands are adjacent channels of it; else 0. */
static int pitch_of_pixels(const histo_blocks *blocks)
{
    const histo_strided_iter *iter = &blocks->job->iter;
    const int64_t pitch = run_stride(iter, 0);
    bool are = iter->operands > 1 && iter->operands <= pitch && pitch <= HISTO_MAX_CHANNELS;
    for (int o = 0; o < iter->operands && are; o++)
        are = histo_dtype_size(blocks->job->problem->dtypes[o]) == 1 && run_stride(iter, o) == pitch &&
              blocks->run.at[o] == blocks->run.at[0] + o;
    return are ? (int)pitch : 0;
}

/* take() for channels of pixels. */
static void take_pixels(histo_blocks *blocks, histo_block *block, int pitch, int filled, int64_t n)
{
    const uint8_t *pixels = (const uint8_t *)blocks->run.at[0];
    const int channels = blocks->job->iter.operands;
    uint8_t *out[HISTO_MAX_CHANNELS];
    for (int c = 0; c < channels; c++) {
        block->at[c] = blocks->gathered + (size_t)c * operand_bytes();
        out[c] = (uint8_t *)blocks->gathered + (size_t)c * operand_bytes() + filled;
        blocks->run.at[c] += n * pitch;
    }
    histo_cpu_kernels_usable()->split_channels(pixels, pitch, channels, (int)n, out);
    blocks->run.n -= n;
}

/* Take the next n samples of the current run. in_place: operands that are contiguous and aligned are used where they
 * are. Others are gathered behind the `filled` samples already in the block. */
static void take(histo_blocks *blocks, histo_block *block, int filled, int64_t n, bool in_place)
{
    const histo_strided_iter *iter = &blocks->job->iter;
    const int pitch = pitch_of_pixels(blocks);
    if (pitch) {
        take_pixels(blocks, block, pitch, filled, n);
        return;
    }
    for (int o = 0; o < iter->operands; o++) {
        size_t size = histo_dtype_size(blocks->job->problem->dtypes[o]);
        int64_t stride = run_stride(iter, o);
        const char *from = blocks->run.at[o];
        char *room = blocks->gathered + (size_t)o * operand_bytes();
        if (in_place && is_contiguous_aligned(blocks, o)) {
            block->at[o] = from;
        } else {
            histo_gather(room + (size_t)filled * size, from, stride, size, n);
            block->at[o] = room;
        }
        blocks->run.at[o] += n * stride;
    }
    blocks->run.n -= n;
}

/* Means and differences of n pixels of adjacent images, pair by pair. */
#define DEFINE_PAIR(name, type)                                                                                        \
    static void pair_##name(const histo_strided_iter *iter, const type *restrict pixels, int n,                        \
                            int32_t *restrict differences, type *restrict means)                                       \
    {                                                                                                                  \
        uint32_t sums[HISTO_BLOCK] = {0}, images = (uint32_t)iter->images, factor = histo_mean_factor(images);         \
        for (int i = 0; i < iter->images; i++)                                                                         \
            for (int k = 0; k < n; k++)                                                                                \
                sums[k] += pixels[i * n + k];                                                                          \
        for (int k = 0; k < n; k++)                                                                                    \
            means[k] = (type)histo_mean_of(sums[k], images, factor);                                                   \
        for (int i = 0, at = 0; i < iter->images; i += iter->step, at += n) {                                          \
            const type *first = pixels + i * n, *second = pixels + (i + 1) % iter->images * n;                         \
            for (int k = 0; k < n; k++)                                                                                \
                differences[at + k] = (int32_t)first[k] - (int32_t)second[k];                                          \
            if (at) memcpy(means + at, means, (size_t)n * sizeof *means);                                              \
        }                                                                                                              \
    }
DEFINE_PAIR(u8, uint8_t)
DEFINE_PAIR(u16, uint16_t)

/* histo_blocks_next for pairs: a block is all pairs of some pixels. Its buffer holds the differences, followed by the
 * means and a copy of the images; it is large enough because every pair has at most two images. */
static bool next_pairs(histo_blocks *blocks, histo_block *block)
{
    const histo_strided_iter *places = &blocks->places;
    const histo_dtype dtype = blocks->job->problem->dtypes[0];
    const int pairs = places->images / places->step, most = HISTO_BLOCK / pairs;
    if (blocks->run.n == 0 && !histo_walk_next(&blocks->walk, &blocks->run)) return false;
    const int n = blocks->run.n < most ? (int)blocks->run.n : most;
    const size_t size = histo_dtype_size(dtype);
    int32_t *differences = (int32_t *)blocks->gathered;
    char *means = blocks->gathered + operand_bytes(), *pixels = means + HISTO_BLOCK * sizeof(uint16_t);
    for (int i = 0; i < places->images; i++)
        histo_gather(pixels + (size_t)(i * n) * size, blocks->run.at[0] + i * places->image_stride,
                     run_stride(places, 0), size, n);
    if (dtype == HISTO_U8)
        pair_u8(places, (const uint8_t *)pixels, n, differences, (uint8_t *)means);
    else
        pair_u16(places, (const uint16_t *)pixels, n, differences, (uint16_t *)means);
    *block = (histo_block){.batch = blocks->run.batch, .n = n * pairs};
    block->at[HISTO_DIFFERENCE] = differences;
    block->at[HISTO_MEAN] = means;
    blocks->run.at[0] += n * run_stride(places, 0);
    blocks->run.n -= n;
    return true;
}

bool histo_blocks_next(histo_blocks *blocks, histo_block *block)
{
    enum { SHORT_RUN = HISTO_BLOCK / 4 };
    if (blocks->job->problem->pairs) return next_pairs(blocks, block);
    if (blocks->run.n == 0 && !histo_walk_next(&blocks->walk, &blocks->run)) return false;
    block->batch = blocks->run.batch;
    int64_t most = blocks->most;
    for (int o = 0; o < blocks->job->iter.operands && most > HISTO_BLOCK; o++)
        if (!is_contiguous_aligned(blocks, o)) most = HISTO_BLOCK;
    int64_t n = blocks->run.n < most ? blocks->run.n : most;
    bool in_place = n >= SHORT_RUN;
    take(blocks, block, 0, n, in_place);
    block->n = (int)n;
    /* Short runs (narrow regions, channels) are gathered into one block. */
    while (!in_place && block->n < HISTO_BLOCK) {
        if (blocks->run.n == 0 && !histo_walk_next(&blocks->walk, &blocks->run)) break;
        if (blocks->run.batch != block->batch) break;
        n = blocks->run.n < HISTO_BLOCK - block->n ? blocks->run.n : HISTO_BLOCK - block->n;
        take(blocks, block, block->n, n, false);
        block->n += (int)n;
    }
    return true;
}

bool histo_block_piece(const histo_problem *problem, const histo_block *block, int begin, histo_block *piece)
{
    int left = block->n - begin;
    if (left <= 0) return false;
    piece->batch = block->batch;
    piece->n = left < HISTO_PIECE ? left : HISTO_PIECE;
    for (int o = 0; o < columns_of(problem); o++)
        piece->at[o] = (const char *)block->at[o] + (size_t)begin * histo_dtype_size(column_dtype(problem, o));
    return true;
}

void histo_block_codes(const histo_job *job, const histo_block *block, uint8_t *codes, uint64_t flow[4])
{
    const histo_problem *p = job->problem;
    if (p->operands > 1) {
        uint32_t slots[HISTO_PIECE];
        histo_block_slots(job, block, slots);
        histo_cpu_kernels_usable()->codes_of_slots(slots, block->n, (uint32_t)p->bins, codes, flow);
        return;
    }
    const histo_cpu_prepared *prepared = job->prepared;
    histo_cpu_kernels_usable()->codes(&p->lookups[0], prepared ? &prepared->spans[0] : NULL, p->dtypes[0], block->at[0],
                                      block->n, codes, flow);
}

bool histo_block_is_constant(const histo_job *job, const histo_block *block)
{
    const histo_problem *p = job->problem;
    bool constant = block->n > 2 && p->operands == p->naxes && p->weighting == HISTO_UNWEIGHTED;
    for (int a = 0; a < p->naxes && constant; a++)
        constant = histo_all_equal(block->at[a], (size_t)block->n, histo_dtype_size(p->dtypes[a]));
    return constant;
}

bool histo_block_kept(const histo_job *job, const histo_block *block, uint8_t *kept)
{
    const histo_problem *p = job->problem;
    if (p->mask == HISTO_ABSENT && p->where == HISTO_ABSENT) return true;
    memset(kept, 1, (size_t)block->n);
    if (p->mask != HISTO_ABSENT) {
        histo_dtype dtype = p->dtypes[p->mask];
        histo_keep_nonzero(dtype, block->at[p->mask], (int64_t)histo_dtype_size(dtype), block->n, kept);
    }
    if (p->where != HISTO_ABSENT) {
        histo_dtype dtype = p->dtypes[p->where];
        histo_keep_inside(dtype, block->at[p->where], (int64_t)histo_dtype_size(dtype), block->n, job->where_lo,
                          job->where_hi, kept);
    }
    return false;
}

void histo_block_slots(const histo_job *job, const histo_block *block, uint32_t *slots)
{
    const histo_problem *p = job->problem;
    const histo_cpu_prepared *prepared = job->prepared;
    histo_slots_fn *slots_of = histo_cpu_kernels_usable()->slots;
    for (int o = 0; o < p->operands; o++)
        if (o != p->weights || !histo_weights_in_place(p))
            histo_prefetch_l2(block->at[o], (size_t)block->n * histo_dtype_size(p->dtypes[o]));
    for (int a = 0; a < p->naxes; a++)
        slots_of(&p->lookups[a], prepared ? &prepared->spans[a] : NULL, p->sampled[a], block->at[a], block->n,
                 p->slot_strides[a], a > 0, slots);
    uint8_t kept[HISTO_BLOCK];
    if (histo_block_kept(job, block, kept)) return;
    const uint32_t trash = (uint32_t)p->slots;
    for (int i = 0; i < block->n; i++) { /* branchless */
        uint32_t all = -(uint32_t)kept[i];
        slots[i] = (slots[i] & all) | (trash & ~all);
    }
}

void histo_block_wide_slots(const histo_job *job, const histo_block *block, uint64_t *slots)
{
    const histo_problem *p = job->problem;
    const histo_cpu_prepared *prepared = job->prepared;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    uint32_t on_axis[HISTO_BLOCK];
    for (int o = 0; o < p->operands; o++)
        histo_prefetch_l2(block->at[o], (size_t)block->n * histo_dtype_size(p->dtypes[o]));
    for (int i = 0; i < block->n; i++)
        slots[i] = (uint64_t)block->batch;
    for (int a = 0; a < p->naxes; a++) {
        kernels->slots(&p->lookups[a], prepared ? &prepared->spans[a] : NULL, p->sampled[a], block->at[a], block->n, 1,
                       false, on_axis);
        kernels->widen_slots(on_axis, block->n, (uint64_t)p->axes[a].bins + 3, slots);
    }
    uint8_t kept[HISTO_BLOCK];
    if (histo_block_kept(job, block, kept)) return;
    const uint64_t trash = (uint64_t)(p->batch * p->slots + block->batch);
    for (int i = 0; i < block->n; i++)
        slots[i] = kept[i] ? slots[i] : trash;
}

bool histo_sample_kept(const histo_job *job, const char *const *at)
{
    const histo_problem *p = job->problem;
    uint64_t aligned[HISTO_MAX_OPERANDS];
    histo_block one = {.n = 1};
    for (int o = p->naxes; o < p->operands; o++)
        one.at[o] = memcpy(&aligned[o], at[o], histo_dtype_size(p->dtypes[o]));
    uint8_t kept = 1;
    return histo_block_kept(job, &one, &kept) || kept;
}
