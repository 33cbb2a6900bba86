/* The reader of any layout, on the host: each sample of a step has the slot that it has alone, wherever operands lie,
 * and nothing beyond them is read (which AddressSanitizer tells). */
#include "support/kernels_on_host.h"

#include <cinttypes>
#include <random>
#include <vector>

#include "cuda/device/any_step.cuh"

extern "C" {
#include "support/check.h"
}

namespace
{

enum { N = HISTO_STEP_RUN };

std::mt19937_64 random_bits(1);

int64_t below(int64_t n)
{
    return (int64_t)(random_bits() % (uint64_t)n);
}

bool one_in(int64_t n)
{
    return below(n) == 0;
}

/* As histo_divisor_of, which is code of the backend. */
histo_divisor divisor_of(int64_t d)
{
    uint8_t bits = 0;
    while (bits < 32 && (INT64_C(1) << bits) < d)
        bits++;
    const uint64_t missing = (UINT64_C(1) << bits) - (uint64_t)d;
    return {(uint32_t)((missing << 32) / (uint64_t)d + 1), (uint8_t)(bits > 0), (uint8_t)(bits > 0 ? bits - 1 : 0)};
}

/* A job, and the memory of its operands. */
struct job {
    histo_cuda_work work = {};
    std::vector<std::vector<char>> bytes;
    std::vector<int64_t> offsets;
    int64_t long_row;    /* samples in the dimension that 31 bits do not hold and those behind it; else 0 */
    bool is_run, is_odd; /* all operands are runs; not aligned */
};

std::vector<uint32_t> table(1 << 16);

void draw_shape(job *j)
{
    histo_strided_iter *iter = &j->work.iter;
    iter->ndim = j->is_run || one_in(2) ? 1 : 1 + (int)below(5);
    iter->batch_ndim = (int)below(iter->ndim);
    iter->batch = iter->per_batch = 1;
    const int64_t huge = one_in(12) ? below(iter->ndim) : -1; /* a dimension that 31 bits do not hold */
    for (int d = 0; d < iter->ndim; d++) {
        int64_t extent = 1 + below(iter->ndim == 1 ? 4000 : one_in(3) ? 40 : 9);
        if (d == huge) extent = (INT64_C(1) << 31) + below(1000);
        iter->shape[d] = extent;
        if (d > huge && huge >= 0) j->long_row *= extent;
        if (d == huge) j->long_row = extent;
        if (extent <= INT32_MAX) j->work.divisors[d] = divisor_of(extent);
        (d < iter->batch_ndim ? iter->batch : iter->per_batch) *= extent;
    }
}

/* Strides of an operand, in bytes or in bits, and how far its samples reach before and behind the first one. */
void draw_strides(job *j, int operand, int64_t size, bool is_bits, int64_t *before, int64_t *behind)
{
    const histo_strided_iter *iter = &j->work.iter;
    const bool is_dense = j->is_run || one_in(2);
    int64_t dense = is_bits || j->is_run ? size : size * (1 + below(3));
    for (int d = iter->ndim - 1; d >= 0; d--) {
        int64_t stride = is_dense ? dense : (j->is_odd ? 1 : size) * (below(9) - 4);
        if (is_dense && !j->is_run && one_in(5)) stride = -stride;
        if (iter->shape[d] > INT32_MAX || (!j->is_run && one_in(8))) stride = 0;
        dense *= iter->shape[d] > INT32_MAX ? 1 : iter->shape[d] + below(2);
        j->work.iter.strides[operand][d] = stride;
        const int64_t reach = stride * (iter->shape[d] - 1);
        (reach < 0 ? *before : *behind) += reach < 0 ? -reach : reach;
    }
}

void draw_operand(job *j, int operand)
{
    histo_cuda_work *w = &j->work;
    const bool is_mask = operand == w->mask, is_bits = is_mask && w->has_bits;
    w->dtypes[operand] = is_mask && (is_bits || one_in(2)) ? HISTO_U8 : (histo_dtype)below(HISTO_DTYPE_COUNT);
    const int64_t size = is_bits ? 1 : histo_raw_size(w->dtypes[operand]);
    int64_t before = 0, behind = 0;
    draw_strides(j, operand, size, is_bits, &before, &behind);
    int64_t moved = 0;
    if (is_bits || j->is_odd)
        moved = below(8);
    else if (j->is_run && one_in(2))
        moved = size * below(16);
    const int64_t length = is_bits ? (moved + before + behind) / 8 + 1 : moved + before + behind + size;
    std::vector<char> bytes((size_t)length);
    const bool is_sparse = is_mask && one_in(2);
    for (char &byte : bytes)
        byte = (char)below(is_sparse ? 2 : 256);
    const char *first = bytes.data();
    w->iter.base[operand] =
        is_bits ? (const char *)(8 * (uintptr_t)first + (uintptr_t)(moved + before)) : first + moved + before;
    uint64_t all = (uint64_t)w->iter.base[operand];
    for (int d = 0; d < w->iter.ndim; d++)
        all |= (uint64_t)w->iter.strides[operand][d];
    w->in_place = w->in_place && all % (uint64_t)size == 0;
    if (size > 1 && one_in(6)) w->swapped = (uint16_t)(w->swapped | 1u << operand);
    j->bytes.push_back(std::move(bytes));
}

void draw_axis(job *j, int axis)
{
    histo_lookup *l = &j->work.lookups[axis];
    const histo_dtype dtype = j->work.dtypes[axis];
    l->kind = HISTO_UNIFORM;
    l->bins = 1 + (int32_t)below(20);
    l->closed = one_in(2);
    l->lo = (double)(below(400) - 200);
    l->step = (double)(1 + below(3));
    l->per_step = 1 / l->step;
    l->hi = l->lo + l->bins * l->step;
    l->over = l->closed ? std::nextafter(l->hi, INFINITY) : l->hi;
    l->first_f32 = (float)l->lo;
    l->over_f32 = l->closed ? std::nextafter((float)l->hi, INFINITY) : (float)l->hi;
    if (histo_raw_size(dtype) <= 2 && one_in(2)) l->table = table.data();
    if (dtype < HISTO_U64 && one_in(3)) {
        const int32_t low = (int32_t)below(60) - (dtype % 2 ? 100 : 0); /* odd: signed */
        l->pow2 = {true, one_in(2), (uint8_t)below(4), (uint32_t)low, (uint32_t)low + 64, (uint32_t)low};
    }
    j->work.slot_strides[axis] =
        axis ? j->work.slot_strides[axis - 1] * (uint32_t)(j->work.lookups[axis - 1].bins + 3) : 1;
}

/* Some samples of the iterator, in tiles. */
void draw_tiles(job *j)
{
    enum { MOST = 5000 };
    histo_cuda_work *w = &j->work;
    const int64_t each = w->iter.per_batch, all = w->iter.batch * each;
    w->begin = all > MOST ? below(all - MOST) : 0;
    if (j->long_row && j->long_row < all) w->begin = j->long_row - below(MOST); /* it ends within */
    w->end = min(all, w->begin + MOST);
    w->samples_each = 128 * (1 + below(12));
    w->first_entry = w->begin / each;
    const int64_t entries = (w->end - 1) / each - w->first_entry + 1, longest = min(w->end - w->begin, each);
    w->tiles_per_entry = (longest + w->samples_each - 1) / w->samples_each;
    w->tiles = w->tiles_per_entry * entries;
    if (w->iter.ndim > 1 || all > MOST || !one_in(3)) return;
    j->offsets = {0};
    while (j->offsets.back() < all)
        j->offsets.push_back(min(all, j->offsets.back() + below(600)));
    w->iter.offsets = j->offsets.data();
    w->iter.batch = (int64_t)j->offsets.size() - 1;
    w->tiles = w->tiles_per_entry = (all + w->samples_each - 1) / w->samples_each + w->iter.batch;
}

void draw(job *j)
{
    histo_cuda_work *w = &j->work;
    j->is_run = one_in(3);
    j->is_odd = !j->is_run && one_in(3);
    draw_shape(j);
    int operands = w->naxes = 1 + (int)below(3);
    w->weights = w->mask = w->where = HISTO_ABSENT;
    if (one_in(3)) w->weights = operands++;
    if (one_in(3)) w->mask = operands++;
    if (one_in(3)) w->where = operands++;
    w->iter.operands = operands;
    w->has_bits = w->mask != HISTO_ABSENT && !j->is_run && one_in(3);
    w->in_place = true;
    for (int o = 0; o < operands; o++)
        draw_operand(j, o);
    for (int a = 0; a < w->naxes; a++)
        draw_axis(j, a);
    w->aligned = w->in_place && !w->swapped && !w->has_bits;
    w->are_runs = w->in_place && !w->has_bits && w->iter.ndim == w->iter.batch_ndim + 1;
    for (int o = 0; o < operands; o++)
        w->are_runs = w->are_runs && w->iter.strides[o][w->iter.ndim - 1] == histo_raw_size(w->dtypes[o]);
    w->slots = 12000; /* at least as many as 3 axes have */
    w->where_lo = -100;
    w->where_hi = 1e5;
    blockDim.x = 32 * (1 + (uint32_t)below(4));
}

void check_tile(const job *j, const histo_tile *tile, int number)
{
    const histo_cuda_work *w = &j->work;
    for (uint32_t at = 0; at < tile->length; at += blockDim.x * N)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x += 1 + (uint32_t)below(3)) {
            uint32_t slot[N];
            histo_slots_of_step(w, tile, at, slot);
            for (int k = 0; k < N; k++) {
                const uint32_t offset = histo_step_offset(w, at, k);
                uint32_t alone = HISTO_NO_SLOT;
                if (offset < tile->length) {
                    const histo_sample_place place = histo_sample_place_of(w, tile, offset);
                    alone = histo_slot_of_sample(w, &place);
                }
                if (slot[k] != alone)
                    fail_msg("job %d of %d operands in %d dimensions: sample %" PRIu32 " in slot %" PRIu32
                             ", not in %" PRIu32,
                             number, w->iter.operands, w->iter.ndim, offset, slot[k], alone);
            }
        }
}

/* Every sample of a tile belongs to one thread and step. */
void check_offsets(const job *j, const histo_tile *tile)
{
    std::vector<int> taken(tile->length);
    for (uint32_t at = 0; at < tile->length; at += blockDim.x * N)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
            for (int k = 0; k < N; k++) {
                const uint32_t offset = histo_step_offset(&j->work, at, k);
                if (offset < tile->length) taken[offset]++;
            }
    for (int times : taken)
        assert_int_equal(times, 1);
}

void steps(void **)
{
    enum { JOBS = 3000, TILES = 4 };
    int runs = 0, odd = 0;
    for (uint32_t &slot : table)
        slot = (uint32_t)below(20);
    for (int number = 0; number < JOBS; number++) {
        job j = {};
        draw(&j);
        draw_tiles(&j);
        runs += j.work.are_runs;
        odd += !j.work.in_place;
        for (int t = 0; t < TILES; t++) {
            const histo_tile tile = histo_tile_at(&j.work, below(j.work.tiles));
            check_offsets(&j, &tile);
            check_tile(&j, &tile, number);
        }
    }
    assert_true(runs > JOBS / 10 && odd > JOBS / 10);
}

} // namespace

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
