/* The work of a kernel: a job in the form that kernels take, cut into tiles. */
#include "cuda/launch/work_of_job.h"

#include <math.h>
#include <string.h>

#include "cuda/host/device.h"
#include "cuda/launch/prepared.h"
#include "cuda/memory/accumulators.h"
#include "view/dtype.h"

histo_divisor histo_divisor_of(int64_t d)
{
    int bits = 0;
    while (bits < 32 && (INT64_C(1) << bits) < d)
        bits++;
    histo_divisor by;
    by.factor = (uint32_t)((((uint64_t)1 << 32) * (((uint64_t)1 << bits) - (uint64_t)d)) / (uint64_t)d + 1);
    by.shift1 = bits > 0;
    by.shift2 = (uint8_t)(bits > 0 ? bits - 1 : 0);
    return by;
}

static bool is_aligned(const histo_cuda_work *work, int operand)
{
    const histo_strided_iter *iter = &work->iter;
    uint64_t bits = (uint64_t)(uintptr_t)iter->base[operand] | (uint64_t)iter->image_stride;
    for (int d = 0; d < iter->ndim; d++)
        bits |= (uint64_t)iter->strides[operand][d];
    return bits % histo_dtype_size(work->dtypes[operand]) == 0;
}

/* Samples of a tile of batch entries that are cut alike, so that `blocks` blocks finish together: all of them take the
 * time of the one with the most tiles. Ending a tile takes about as long as reading `least` samples. */
static int64_t balanced(int64_t entries, int64_t longest, int64_t blocks, int64_t least, int64_t most)
{
    enum { TRIES = 16 };
    int64_t parts = (longest + most - 1) / most, best = 0;
    if (parts < blocks / entries) parts = blocks / entries;
    double best_time = 0;
    for (int i = 0; i < TRIES; i++, parts++) {
        const int64_t each = (longest + parts - 1) / parts, rounds = (entries * parts + blocks - 1) / blocks;
        const double time = (double)rounds * (double)(each + least);
        if (i > 0 && time >= best_time) continue;
        best_time = time;
        best = each;
    }
    return best;
}

/* Tiles of ragged segments end at piece boundaries and at segment boundaries: see device/tile.cuh. */
void histo_cuda_work_cut(histo_cuda_work *work, int64_t wanted, int64_t least, int64_t most)
{
    int64_t each = work->iter.per_batch, n = work->end - work->begin;
    work->first_entry = work->begin / each;
    int64_t entries = (work->end - 1) / each - work->first_entry + 1;
    int64_t longest = n < each ? n : each; /* of a batch entry */
    enum {
        UNEVEN = 4 /* times as many pieces, as segments differ in length */,
        MANY = 16 /* rounds of whole entries */
    };
    int64_t samples = n / (work->iter.offsets ? UNEVEN * wanted : wanted) + 1;
    if (!work->iter.offsets && entries > 1 && entries <= MANY * wanted)
        samples = balanced(entries, longest, wanted, least, most);
    samples = samples < least ? least : samples > most ? most : samples;
    samples = (samples + 127) / 128 * 128; /* so that tiles of aligned samples start at cache lines */
    work->samples_each = samples;
    if (work->iter.offsets) {
        work->first_entry = 0;
        work->tiles_per_entry = work->tiles = (n + samples - 1) / samples + work->iter.batch;
        return;
    }
    work->tiles_per_entry = (longest + samples - 1) / samples;
    work->tiles = work->tiles_per_entry * entries;
}

void histo_cuda_work_bind(histo_cuda_work *work, const histo_job *job)
{
    const histo_problem *p = job->problem;
    work->iter = job->iter;
    memcpy(work->dtypes, p->dtypes, sizeof work->dtypes);
    for (int o = 0; o < p->operands; o++) {
        work->swapped |= (uint16_t)(((p->stored[o] & HISTO_SWAPPED) != 0) << o);
        work->records |= (uint16_t)(histo_dtype_is_records(p->stored[o]) << o);
    }
    work->weights = p->weights;
    work->mask = p->mask;
    work->where = p->where;
    work->has_bits = job->bits != NULL;
    if (work->has_bits) {
        const uintptr_t data = (uintptr_t)job->bits;
        work->iter.base[p->mask] = (const char *)(8 * data + ((uintptr_t)job->iter.base[p->mask] - data));
    }
    work->where_lo = job->where_lo;
    work->where_hi = job->where_hi;
    work->begin = job->begin;
    work->end = job->end;
    histo_cuda_work_measure(work);
}

bool histo_cuda_reads(const histo_job *job, int operand, bool *pinned)
{
    const bool is_bits = job->bits && operand == job->problem->mask;
    return histo_cuda_is_direct(is_bits ? job->bits : job->iter.base[operand], job->problem->device, pinned);
}

void histo_cuda_work_measure(histo_cuda_work *work)
{
    work->in_place = true;
    for (int o = 0; o < work->iter.operands; o++)
        work->in_place &= (work->records >> o & 1) || is_aligned(work, o);
    work->aligned = work->in_place && !work->swapped && !work->records && !work->has_bits;
    work->are_runs = work->in_place && !work->records && !work->has_bits && !work->iter.images &&
                     work->iter.ndim == work->iter.batch_ndim + 1;
    for (int o = 0; o < work->iter.operands; o++)
        work->are_runs &= work->iter.strides[o][work->iter.ndim - 1] == (int64_t)histo_dtype_size(work->dtypes[o]);
    for (int d = 0; d < work->iter.ndim; d++)
        if (work->iter.shape[d] <= INT32_MAX) work->divisors[d] = histo_divisor_of(work->iter.shape[d]);
}

/* The least float that is not below x. */
static float round_up(double x)
{
    const float nearest = (float)x;
    return (double)nearest < x ? nextafterf(nearest, INFINITY) : nearest;
}

histo_cuda_work histo_cuda_work_of(const histo_job *job, int64_t wanted, int64_t least, int64_t most)
{
    const histo_problem *p = job->problem;
    const histo_cuda_prepared *prepared = (const histo_cuda_prepared *)job->prepared;
    const histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    histo_cuda_work work;
    memset(&work, 0, sizeof work);
    work.naxes = p->naxes;
    histo_cuda_work_bind(&work, job);
    memcpy(work.lookups, prepared->lookups, sizeof work.lookups);
    memcpy(work.slot_strides, p->slot_strides, sizeof work.slot_strides);
    work.slots = (uint32_t)p->slots;
    work.where_lo_f32 = round_up(job->where_lo);
    work.where_hi_f32 = -round_up(-job->where_hi);
    work.where_lo_i32 = (int32_t)fmin(fmax(ceil(job->where_lo), INT32_MIN), INT32_MAX);
    work.where_hi_i32 = (int32_t)fmin(fmax(floor(job->where_hi), INT32_MIN), INT32_MAX);
    work.counters = accumulators->counters;
    work.counts = accumulators->counts;
    work.sum_w = accumulators->sum_w;
    work.sum_w2 = accumulators->sum_w2;
    memcpy(work.exact, accumulators->exact, sizeof work.exact);
    histo_cuda_work_cut(&work, wanted, least, most);
    return work;
}

int histo_cuda_reader_of(const histo_cuda_work *work)
{
    const histo_strided_iter *iter = &work->iter;
    bool plain = iter->operands == 1 && work->aligned && iter->ndim == iter->batch_ndim + 1 &&
                 (iter->strides[0][iter->ndim - 1] == (int64_t)histo_dtype_size(work->dtypes[0]));
    return plain ? (int)work->dtypes[0] : (int)HISTO_READ_ANY;
}

int64_t histo_cuda_piece_end(const histo_job *job, int64_t begin, int64_t max_samples)
{
    const int64_t entry_end = (begin / job->iter.per_batch + 1) * job->iter.per_batch;
    const int64_t end = job->end < entry_end ? job->end : entry_end;
    return end - begin > max_samples ? begin + max_samples : end;
}

const char *histo_cuda_weights_unsupported(const histo_problem *problem)
{
    return problem->weighting != HISTO_UNWEIGHTED ? "it counts, but sums no weights" : NULL;
}
