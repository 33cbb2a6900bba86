/* Chooses the reader of several axes, and works out what it has to know: see several_axes.cuh. */
#include "cuda/launch/several_axes.h"

#include <string.h>

/* Are the bins 2^k integers each, and hold all values of a byte? */
static bool is_by_shift(const histo_lookup *l)
{
    return l->pow2.is && l->lo == 0 && l->bins << l->pow2.shift == 256;
}

/* An operand's stride within the run. */
static int64_t stride_of(const histo_cuda_work *work, int operand)
{
    return work->iter.strides[operand][work->iter.ndim - 1];
}

static bool is_pixels(const histo_cuda_work *work, histo_joint *joint)
{
    const histo_strided_iter *iter = &work->iter;
    const char *lowest = iter->base[0];
    int64_t pitch = stride_of(work, 0);
    if (work->naxes > HISTO_MAX_CHANNELS || (pitch != 1 && pitch != 3 && pitch != 4)) return false;
    for (int a = 0; a < work->naxes; a++) {
        bool alike = iter->strides[a][0] == iter->strides[0][0];
        if (work->dtypes[a] != HISTO_U8 || stride_of(work, a) != pitch || !alike) return false;
        if (iter->base[a] < lowest) lowest = iter->base[a];
    }
    uint32_t taken = 0;
    for (int a = 0; a < work->naxes; a++) {
        int64_t byte = pitch == 1 ? a : iter->base[a] - lowest;
        if (pitch != 1 && (byte >= pitch || taken >> byte & 1)) return false;
        taken |= 1u << byte;
        joint->byte[a] = (uint32_t)byte;
    }
    joint->pitch = (uint32_t)pitch;
    joint->overhang = taken >> (pitch - 1) == 0;
    return true;
}

static void set_pixels(const histo_cuda_work *work, histo_joint *joint)
{
    joint->by_shift = true;
    for (int a = 0; a < work->naxes; a++)
        joint->by_shift &= is_by_shift(&work->lookups[a]);
    for (int a = 0; a < work->naxes; a++) {
        joint->stride[a] = work->slot_strides[a];
        joint->shift[a] = 8 * joint->byte[a] + work->lookups[a].pow2.shift;
        joint->mask[a] = (uint32_t)work->lookups[a].bins - 1;
        if (joint->by_shift) joint->first += joint->stride[a];
    }
}

/* For histo_pair_reader of integers; false if the columns or their axes are not made for it. */
static bool set_pow2(const histo_cuda_work *work, histo_joint *joint)
{
    const double beyond = work->dtypes[0] == HISTO_U16 ? 0x1p16 : 0x1p32;
    if (work->dtypes[0] != HISTO_U16 && work->dtypes[0] != HISTO_U32) return false;
    for (int a = 0; a < 2; a++) {
        const histo_lookup *l = &work->lookups[a];
        const double begin = l->lo > 0 ? l->lo : 0;
        if (!l->pow2.is || l->pow2.from & (((uint32_t)1 << l->pow2.shift) - 1)) return false;
        joint->begin[a] = (uint32_t)begin;
        joint->extent[a] = (uint32_t)((l->hi < beyond ? l->hi : beyond) - begin);
        joint->shift[a] = l->pow2.shift;
        joint->stride[a] = work->slot_strides[a];
        joint->part[a] = 0 - (uint32_t)((int32_t)l->pow2.from >> l->pow2.shift) * joint->stride[a];
    }
    return true;
}

/* Does an axis of floats have a table of first floats? */
static bool has_first_floats(const histo_lookup *l)
{
    enum { MAX_BINS = 2048 };
    return l->near_f32 && l->bins <= MAX_BINS;
}

histo_joint_reader histo_cuda_joint_of(const histo_cuda_work *work, histo_joint *joint)
{
    const histo_strided_iter *iter = &work->iter;
    bool are_runs = iter->operands == work->naxes && work->aligned && iter->ndim == iter->batch_ndim + 1 &&
                    iter->batch_ndim <= 1,
         is_pair = work->naxes == 2 && work->dtypes[0] == work->dtypes[1];
    memset(joint, 0, sizeof *joint);
    if (work->naxes < 2 || !are_runs) return HISTO_NOT_JOINT;
    for (int a = 0; a < work->naxes; a++)
        joint->sizes[a] = (uint8_t)histo_dtype_size(work->dtypes[a]);
    joint->run = HISTO_COLUMN_RUN;
    if (is_pixels(work, joint)) {
        set_pixels(work, joint);
        return histo_read_pixels;
    }
    if (is_pair && work->dtypes[0] == HISTO_F32 && has_first_floats(&work->lookups[0]) &&
        has_first_floats(&work->lookups[1]))
        return histo_read_f32x2;
    if (!is_pair || !set_pow2(work, joint)) return histo_read_columns;
    if (work->dtypes[0] == HISTO_U32) return histo_read_u32x2;
    joint->run = histo_pair_reader<HISTO_U16>::RUN;
    return histo_read_u16x2;
}

uint32_t histo_cuda_compact_of(const histo_problem *problem)
{
    uint64_t counters = 1;
    if (problem->naxes < 2 || problem->naxes > HISTO_MAX_CHANNELS || problem->operands > problem->naxes) return 0;
    for (int a = 0; a < problem->naxes; a++) {
        if (problem->sampled[a] != HISTO_U8 || !is_by_shift(&problem->lookups[a])) return 0;
        counters *= (uint64_t)problem->lookups[a].bins;
    }
    return counters <= INT32_MAX ? (uint32_t)counters : 0;
}

static uint32_t four_bytes(const uint32_t *x, int a, int b, int c, int d)
{
    return x[a] | x[b] << 8 | x[c] << 16 | x[d] << 24;
}

void histo_cuda_make_compact(histo_joint *joint, int naxes)
{
    uint32_t log = 0, keep[HISTO_MAX_CHANNELS] = {0}, factor[HISTO_MAX_CHANNELS] = {0};
    int finest = naxes - 1;
    for (int a = naxes - 1; a >= 0; a--)
        if (joint->mask[a] > joint->mask[finest]) finest = a;
    joint->low = joint->shift[finest] % 8;
    for (int k = 0; k < naxes; k++) { /* the finest has the least stride, so that all factors are whole */
        int a = (finest + naxes - k) % naxes;
        uint32_t up = joint->shift[a] % 8 - joint->low;
        joint->log_stride[a] = log;
        keep[joint->byte[a]] = joint->mask[a] << up;
        factor[joint->byte[a]] = 1u << log >> up;
        for (uint32_t mask = joint->mask[a]; mask; mask >>= 1)
            log++;
    }
    joint->keep[0] = joint->pitch == 3 ? four_bytes(keep, 0, 1, 2, 0) : four_bytes(keep, 0, 1, 2, 3);
    joint->keep[1] = four_bytes(keep, 1, 2, 0, 1);
    joint->keep[2] = four_bytes(keep, 2, 0, 1, 2);
    joint->factors[0] = factor[0] | factor[1] << 16;
    joint->factors[1] = factor[2] | factor[3] << 16;
    joint->factors[2] = factor[0] << 16;
    joint->factors[3] = factor[1] | factor[2] << 16;
}

/* Is every sample a float? */
static bool is_float(histo_dtype dtype, bool halves)
{
    return dtype == HISTO_F32 || (halves && (dtype == HISTO_F16 || dtype == HISTO_BF16));
}

uint32_t histo_cuda_first_floats_of(const histo_problem *problem, bool halves, uint32_t at, histo_joint *joint)
{
    uint32_t words = 0;
    for (int a = 0; a < problem->naxes; a++) {
        const histo_lookup *l = &problem->lookups[a];
        if (!is_float(problem->sampled[a], halves) || !has_first_floats(l)) continue;
        if (joint) {
            joint->first_floats[a] =
                (at + words - histo_first_float_word<false>(HISTO_GUESS_0)) * (uint32_t)sizeof(float);
            joint->origin -= HISTO_GUESS_0 * problem->slot_strides[a];
        }
        words += histo_first_floats_words(l);
    }
    return words;
}
