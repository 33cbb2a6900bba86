/* Makes blocks: samples of strided runs, gathered where they are not contiguous and compacted where a mask or a range
 * filter leaves gaps; and their slots. */
#include "cpu/samples/block.h"

#include <string.h>

#include "base/threads/monitor.h"
#include "base/threads/share.h"
#include "cpu/backend/backend.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/bounds.h"
#include "cpu/samples/pairs.h"
#include "cpu/samples/prefetch.h"
#include "cpu/samples/runs.h"
#include "view/dtype.h"
#include "view/gather.h"
#include "view/stack_iter.h"

/* Every operand gets room for 8-byte samples. */
static size_t operand_bytes(void)
{
    return HISTO_BLOCK * sizeof(double);
}

/* The number of columns: samples of the axes, which may be computed, and weights. They come before mask and filter. */
static int columns_of(const histo_problem *problem)
{
    return problem->naxes + (problem->weights != HISTO_ABSENT);
}

static bool is_filtered(const histo_problem *problem)
{
    return problem->mask != HISTO_ABSENT || problem->where != HISTO_ABSENT;
}

static histo_dtype column_dtype(const histo_problem *problem, int column)
{
    return column < problem->naxes ? problem->sampled[column] : problem->dtypes[column];
}

size_t histo_blocks_bytes(const histo_problem *problem)
{
    const int buffers = is_filtered(problem) ? problem->operands + columns_of(problem) : columns_of(problem);
    return (size_t)buffers * operand_bytes();
}

/* histo_share_begin, without a division for one range. */
static int64_t range_begin(int64_t n, int index, int ranges)
{
    return ranges == 1 ? n * index : histo_share_begin(n, ranges, index);
}

static void start(histo_blocks *blocks, const histo_job *job, void *gathered)
{
    const histo_problem *p = job->problem;
    blocks->job = job; /* the struct is not cleared: that takes longer than counting a few samples */
    blocks->iter = &job->iter;
    blocks->gathered = gathered;
    blocks->most = HISTO_BLOCK;
    blocks->first = NULL;
    blocks->next = blocks->run.n = 0;
    blocks->work = histo_pool_stoppable();
    blocks->passed = is_filtered(p) ? blocks->gathered + (size_t)p->operands * operand_bytes() : NULL;
    if (p->where != HISTO_ABSENT) blocks->inside = histo_bounds_of(p->dtypes[p->where], job->where_lo, job->where_hi);
}

void histo_blocks_start(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered)
{
    int64_t first = job->begin, n = job->end - job->begin;
    start(blocks, job, gathered);
    if (histo_is_computed(job->problem)) {
        blocks->merged = histo_pairs_iter_pixels(&job->iter);
        blocks->iter = &blocks->merged;
        first = 0;
        n = histo_strided_iter_samples(&blocks->merged);
    }
    histo_walk_start(&blocks->walk, blocks->iter, first + range_begin(n, index, ranges),
                     first + range_begin(n, index + 1, ranges), INT64_MAX);
    blocks->left = blocks->all = blocks->walk.left;
}

size_t histo_blocks_spanning_bytes(const histo_problem *problem)
{
    return histo_blocks_bytes(problem) + 2 * HISTO_BLOCK * sizeof(uint32_t);
}

/* Where range `index` of `ranges` begins if ranges consist of whole batch entries. */
static int64_t entries_begin(const histo_job *job, int index, int ranges)
{
    const int64_t entry = range_begin(job->iter.batch, index, ranges);
    return job->iter.offsets ? job->iter.offsets[entry] : entry * job->iter.per_batch;
}

static int64_t last_extent(const histo_strided_iter *iter)
{
    return iter->shape[iter->ndim - 1];
}

void histo_blocks_start_spanning(histo_blocks *blocks, const histo_job *job, int index, int ranges, void *gathered)
{
    enum { LONG_RUN = 64 };
    const bool whole = job->begin == 0 && job->end == histo_strided_iter_samples(&job->iter);
    start(blocks, job, gathered);
    blocks->first = (uint32_t *)(void *)(blocks->gathered + histo_blocks_bytes(job->problem));
    blocks->iter = &blocks->merged;
    const bool in_memory_order = whole && ranges == 1 && job->problem->apart;
    histo_strided_iter_span(&job->iter, in_memory_order, &blocks->merged, &blocks->entries);
    /* If operands are laid out differently, following the memory order of one may make runs short: then keep the view's
     * order. */
    if (in_memory_order && last_extent(&blocks->merged) < LONG_RUN &&
        last_extent(&blocks->merged) < last_extent(&job->iter))
        histo_strided_iter_span(&job->iter, false, &blocks->merged, &blocks->entries);
    blocks->next = ranges == 1 ? job->begin : entries_begin(job, index, ranges);
    histo_walk_start(&blocks->walk, blocks->iter, blocks->next,
                     ranges == 1 ? job->end : entries_begin(job, index + 1, ranges), INT64_MAX);
    blocks->left = blocks->all = blocks->walk.left;
}

static int64_t run_stride(const histo_strided_iter *iter, int operand)
{
    return iter->strides[operand][iter->ndim - 1];
}

/* Whether the run's samples of this operand can be used in place. */
static bool is_in_place(const histo_blocks *blocks, int operand)
{
    const histo_dtype dtype = blocks->job->problem->stored[operand];
    const int64_t size = (int64_t)histo_dtype_size(dtype);
    return histo_dtype_is_plain(dtype) && run_stride(blocks->iter, operand) == size &&
           (uintptr_t)blocks->run.at[operand] % (size_t)size == 0;
}

/* The pixel pitch in bytes, if the operands are adjacent channels of pixels; else 0. */
static int pitch_of_pixels(const histo_blocks *blocks)
{
    const histo_strided_iter *iter = blocks->iter;
    const int64_t pitch = run_stride(iter, 0);
    bool are = iter->operands > 1 && iter->operands <= pitch && pitch <= HISTO_MAX_CHANNELS;
    for (int o = 0; o < iter->operands && are; o++)
        are = histo_dtype_size(blocks->job->problem->stored[o]) == 1 && run_stride(iter, o) == pitch &&
              blocks->run.at[o] == blocks->run.at[0] + o;
    return are ? (int)pitch : 0;
}

/* take() for channels of pixels. */
static void take_pixels(histo_blocks *blocks, histo_block *block, int pitch, int filled, int64_t n)
{
    const uint8_t *pixels = (const uint8_t *)blocks->run.at[0];
    const int channels = blocks->iter->operands;
    uint8_t *out[HISTO_MAX_CHANNELS];
    for (int c = 0; c < channels; c++) {
        block->at[c] = blocks->gathered + (size_t)c * operand_bytes();
        out[c] = (uint8_t *)blocks->gathered + (size_t)c * operand_bytes() + filled;
        blocks->run.at[c] += n * pitch;
    }
    histo_cpu_kernels_usable()->split_channels(pixels, pitch, channels, (int)n, out);
    blocks->run.n -= n;
}

/* Copy n samples of an operand from the current run; if memory is read ahead, in pieces, so that prefetches do not wait
 * for each other. */
static void fetch(const histo_blocks *blocks, int operand, int64_t n, char *to)
{
    const histo_dtype dtype = blocks->job->problem->stored[operand];
    const int64_t stride = run_stride(blocks->iter, operand);
    const int64_t size = (int64_t)histo_dtype_size(blocks->job->problem->dtypes[operand]);
    if (histo_dtype_is_records(dtype)) {
        histo_job_make_numbers(blocks->job, operand, to, blocks->run.at[operand], stride, n);
        return;
    }
    const bool prefetched = stride == size && dtype != HISTO_BIT && (blocks->run.n - n) * size >= HISTO_AHEAD;
    histo_fetch_fn *some_of = histo_cpu_kernels_usable()->fetch;
    for (int64_t i = 0, some; i < n; i += some) {
        const char *from = blocks->run.at[operand] + i * stride;
        some = !prefetched || n - i < HISTO_PIECE ? n - i : HISTO_PIECE;
        if (prefetched) histo_prefetch_l2(from, (size_t)(some * size));
        some_of(to + i * size, from, stride, dtype, blocks->job->bits, some);
    }
}

/* Take the next n samples of the current run. in_place: use operands in place where possible. Others are gathered after
 * the `filled` samples already in the block. */
static void take(histo_blocks *blocks, histo_block *block, int filled, int64_t n, bool in_place)
{
    const histo_strided_iter *iter = blocks->iter;
    const int pitch = pitch_of_pixels(blocks);
    if (pitch) {
        take_pixels(blocks, block, pitch, filled, n);
        return;
    }
    for (int o = 0; o < iter->operands; o++) {
        size_t size = histo_dtype_size(blocks->job->problem->dtypes[o]);
        char *room = blocks->gathered + (size_t)o * operand_bytes();
        block->at[o] = in_place && is_in_place(blocks, o) ? blocks->run.at[o] : room;
        if (block->at[o] == room) fetch(blocks, o, n, room + (size_t)filled * size);
        blocks->run.at[o] += n * run_stride(iter, o);
    }
    blocks->run.n -= n;
}

/* Append whole rows of the current image to the block, at most `room` samples; returns how many samples. */
static int append_rows(histo_blocks *blocks, const histo_block *block, int room)
{
    const histo_strided_iter *iter = blocks->iter;
    const int64_t length = iter->shape[iter->ndim - 1];
    if (blocks->run.n > 0 || length > room || pitch_of_pixels(blocks)) return 0;
    histo_run row;
    const int64_t rows = histo_walk_rows(&blocks->walk, room / length, &row);
    for (int o = 0; o < iter->operands && rows > 0; o++) {
        const int64_t size = (int64_t)histo_dtype_size(blocks->job->problem->dtypes[o]);
        const int64_t pitch = iter->strides[o][iter->ndim - 2];
        char *to = blocks->gathered + (size_t)o * operand_bytes() + block->n * size;
        blocks->run.at[o] = row.at[o];
        if (histo_dtype_is_plain(blocks->job->problem->stored[o]) && run_stride(iter, o) == size) {
            histo_cpu_kernels_usable()->copy_rows(to, row.at[o], pitch, (size_t)(length * size), rows);
            continue;
        }
        for (int64_t r = 0; r < rows; r++, blocks->run.at[o] += pitch)
            fetch(blocks, o, length, to + r * length * size);
    }
    return (int)(rows * length);
}

/* Advance to the next run if the current one is used up; false at the end. */
static bool find_run(histo_blocks *blocks)
{
    return blocks->run.n > 0 || histo_walk_next(&blocks->walk, &blocks->run);
}

/* Whether the thread must stop. Also asked often for batches, whose tables are added up after each entry, and for
 * functions of records, which may take any time. */
static bool is_stopped(histo_blocks *blocks)
{
    if (!blocks->work) return false;
    const histo_problem *p = blocks->job->problem;
    const int64_t left = blocks->walk.left + blocks->run.n, read = blocks->left - left;
    const int64_t work = p->records ? HISTO_MUCH_WORK : read + (p->batch > 1 ? p->slots : 0);
    blocks->left = left;
    return histo_pool_stops(blocks->work, work + HISTO_PIECE, blocks->all - left, blocks->all);
}

/* The next samples of one batch entry, whether they pass the filters or not. room: how many may be gathered. */
static bool next_samples(histo_blocks *blocks, histo_block *block, int room)
{
    enum { SHORT_RUN = HISTO_BLOCK / 4 };
    if (!find_run(blocks)) return false;
    block->batch = blocks->run.batch;
    block->left_out = 0;
    block->first = blocks->first;
    int64_t most = blocks->most;
    for (int o = 0; o < blocks->iter->operands && most > room; o++)
        if (!is_in_place(blocks, o)) most = room;
    int64_t n = blocks->run.n < most ? blocks->run.n : most;
    /* Short runs (narrow regions, channels) are gathered into one block, unless each is a batch entry. */
    bool in_place = n >= SHORT_RUN || blocks->iter->ndim == blocks->iter->batch_ndim + 1;
    take(blocks, block, 0, n, in_place);
    block->n = (int)n;
    block->ahead = in_place ? blocks->run.n : 0;
    while (!in_place && block->n < room) {
        block->n += append_rows(blocks, block, room - block->n);
        if (block->n == room || !find_run(blocks) || blocks->run.batch != block->batch) break;
        n = blocks->run.n < room - block->n ? blocks->run.n : room - block->n;
        take(blocks, block, block->n, n, false);
        block->n += (int)n;
    }
    if (blocks->first)
        histo_entries_of(&blocks->entries, blocks->next, block->n, (uint32_t)blocks->job->problem->slots,
                         blocks->first);
    blocks->next += block->n;
    return true;
}

/* Count those of the last n samples that do not pass as masked in their batch entries. */
static void add_left_out(const histo_blocks *blocks, const uint8_t *kept, int n)
{
    uint64_t *masked = blocks->job->accumulators->masked;
    const int64_t begin = blocks->next - n;
    int64_t entry, some;
    if (histo_entries_run(&blocks->entries, begin, &entry) == 1) {
        uint32_t entries[HISTO_BLOCK];
        histo_entries_of(&blocks->entries, begin, n, 1, entries);
        for (int i = 0; i < n; i++)
            masked[entries[i]] += kept[i] ^ 1;
        return;
    }
    for (int64_t i = 0; i < n; i += some) {
        some = histo_entries_run(&blocks->entries, begin + i, &entry);
        if (some > n - i) some = n - i;
        masked[entry] += (uint64_t)(some - histo_cpu_kernels_usable()->count_kept(kept + i, (int)some));
    }
}

/* kept[i] = 1 for samples that pass, 0 for others; returns how many pass. */
static int find_kept(const histo_blocks *blocks, const histo_block *all, uint8_t *kept)
{
    const histo_problem *p = blocks->job->problem;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    const bool masked = p->mask != HISTO_ABSENT;
    if (masked) kernels->keep_nonzero(p->dtypes[p->mask], all->at[p->mask], all->n, false, kept);
    if (p->where != HISTO_ABSENT)
        kernels->keep_inside(p->dtypes[p->where], all->at[p->where], all->n, blocks->inside, masked, kept);
    return kernels->count_kept(kept, all->n);
}

/* histo_blocks_next with a mask or filter. Unless all samples pass, those that do are copied until they fill half a
 * block. */
static bool next_passed(histo_blocks *blocks, histo_block *block)
{
    const histo_problem *p = blocks->job->problem;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    if (!find_run(blocks)) return false;
    *block = (histo_block){.batch = blocks->run.batch};
    while (block->n < HISTO_BLOCK / 2 && find_run(blocks) && blocks->run.batch == block->batch && !is_stopped(blocks)) {
        uint8_t kept[HISTO_BLOCK];
        histo_block all;
        blocks->most = HISTO_BLOCK - block->n;
        next_samples(blocks, &all, HISTO_BLOCK - block->n);
        const int n = find_kept(blocks, &all, kept);
        if (n == all.n && block->n == 0) {
            all.left_out = block->left_out;
            *block = all;
            return true;
        }
        if (!blocks->first)
            block->left_out += all.n - n;
        else if (n < all.n)
            add_left_out(blocks, kept, all.n);
        if (blocks->first && n)
            kernels->compact(sizeof *all.first, all.first, kept, all.n, blocks->first + HISTO_BLOCK + block->n);
        for (int c = 0; c < columns_of(p) && n; c++) {
            const size_t size = histo_dtype_size(p->dtypes[c]);
            kernels->compact(size, all.at[c], kept, all.n,
                             blocks->passed + (size_t)c * operand_bytes() + (size_t)block->n * size);
        }
        block->n += n;
    }
    for (int c = 0; c < columns_of(p); c++)
        block->at[c] = blocks->passed + (size_t)c * operand_bytes();
    if (blocks->first) block->first = blocks->first + HISTO_BLOCK;
    return true;
}

bool histo_blocks_next(histo_blocks *blocks, histo_block *block)
{
    if (is_stopped(blocks)) return false;
    if (histo_is_computed(blocks->job->problem)) return histo_blocks_next_pairs(blocks, block);
    return blocks->passed ? next_passed(blocks, block) : next_samples(blocks, block, HISTO_BLOCK);
}

void histo_block_add_masked(const histo_job *job, const histo_block *block, bool alone)
{
    if (block->left_out) histo_add_count(&job->accumulators->masked[block->batch], (uint64_t)block->left_out, alone);
}

bool histo_block_piece(const histo_problem *problem, const histo_block *block, int begin, histo_block *piece)
{
    int left = block->n - begin;
    if (left <= 0) return false;
    piece->batch = block->batch;
    piece->n = left < HISTO_PIECE ? left : HISTO_PIECE;
    piece->ahead = block->ahead ? block->ahead + left - piece->n : 0;
    piece->first = block->first ? block->first + begin : NULL;
    for (int c = 0; c < columns_of(problem); c++)
        piece->at[c] = (const char *)block->at[c] + (size_t)begin * histo_dtype_size(column_dtype(problem, c));
    return true;
}

void histo_block_codes(const histo_job *job, const histo_block *block, uint8_t *codes, uint64_t flow[3])
{
    const histo_problem *p = job->problem;
    const histo_cpu_prepared *prepared = job->prepared;
    histo_cpu_kernels_usable()->codes(&p->lookups[0], prepared ? &prepared->spans[0] : NULL, p->dtypes[0], block->at[0],
                                      block->n, codes, flow);
}

bool histo_block_is_constant(const histo_job *job, const histo_block *block)
{
    const histo_problem *p = job->problem;
    bool constant = block->n > 2 && p->weighting == HISTO_UNWEIGHTED;
    for (int a = 0; a < p->naxes && constant; a++)
        constant = histo_all_equal(block->at[a], (size_t)block->n, histo_dtype_size(p->dtypes[a]));
    return constant;
}

static void add_each(uint32_t *restrict slots, const uint32_t *restrict first, int n)
{
    for (int i = 0; i < n; i++)
        slots[i] += first[i];
}

/* Prefetch only what will be read: where no memory is mapped, each prefetch takes a hundred nanoseconds. */
static void prefetch(const histo_problem *p, const histo_block *block, int column)
{
    if (!block->ahead) return;
    const int64_t size = (int64_t)histo_dtype_size(column_dtype(p, column));
    if (block->ahead * size >= HISTO_AHEAD && (column != p->weights || !histo_weights_in_place(p)))
        histo_prefetch_l2(block->at[column], (size_t)(block->n * size));
}

/* Small fills prepare neither tables nor spans of stored edges, unless these are nearly regular. */
static void slots_on_axis(const histo_job *job, int axis, const void *samples, int n, uint32_t stride, bool accumulate,
                          uint32_t *slots)
{
    const histo_problem *p = job->problem;
    const histo_lookup *lookup = &p->lookups[axis];
    const histo_cpu_prepared *prepared = job->prepared;
    const histo_spans *spans = prepared ? &prepared->spans[axis] : NULL;
    const bool unprepared = lookup->kind != HISTO_UNIFORM && !lookup->table && !prepared;
    histo_spans near;
    if (unprepared && p->off[axis] <= HISTO_NEAR && histo_spans_make(&near, lookup, p->off[axis], n) == HISTO_OK)
        spans = &near;
    if (unprepared && !spans)
        histo_lookup_slots(lookup, p->sampled[axis], samples, n, stride, accumulate, slots);
    else
        histo_cpu_kernels_usable()->slots(lookup, spans, p->sampled[axis], samples, n, stride, accumulate, slots);
}

/* The slots of a block within its batch entry. */
static void slots_in_entry(const histo_job *job, const histo_block *block, uint32_t *slots)
{
    const histo_problem *p = job->problem;
    for (int c = 0; c < columns_of(p); c++) {
        prefetch(p, block, c);
        if (c < p->naxes) slots_on_axis(job, c, block->at[c], block->n, p->slot_strides[c], c > 0, slots);
    }
}

/* A few samples at a time: as many prefetches at once as a block has lines would wait for each other. */
static void slots_in_entry_by_few(const histo_job *job, const histo_block *block, uint32_t *slots)
{
    enum { FEW = 256 };
    const histo_problem *p = job->problem;
    histo_block some = *block;
    for (int i = 0; i < block->n; i += FEW) {
        some.n = block->n - i < FEW ? block->n - i : FEW;
        for (int c = 0; c < columns_of(p); c++)
            some.at[c] = (const char *)block->at[c] + (size_t)i * histo_dtype_size(column_dtype(p, c));
        slots_in_entry(job, &some, slots + i);
    }
}

void histo_block_slots(const histo_job *job, const histo_block *block, uint32_t *slots)
{
    (job->problem->naxes > 1 && block->ahead ? slots_in_entry_by_few : slots_in_entry)(job, block, slots);
    if (block->first) add_each(slots, block->first, block->n);
}

void histo_block_wide_slots(const histo_job *job, const histo_block *block, uint64_t *slots)
{
    const histo_problem *p = job->problem;
    const histo_cpu_prepared *prepared = job->prepared;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    uint32_t on_axis[HISTO_BLOCK];
    for (int c = 0; c < columns_of(p); c++)
        prefetch(p, block, c);
    for (int i = 0; i < block->n; i++)
        slots[i] = (uint64_t)block->batch;
    for (int a = 0; a < p->naxes; a++) {
        kernels->slots(&p->lookups[a], prepared ? &prepared->spans[a] : NULL, p->sampled[a], block->at[a], block->n, 1,
                       false, on_axis);
        kernels->widen_slots(on_axis, block->n, (uint64_t)p->axes[a].bins + 3, slots);
    }
}
