/* Samples of any layout, type and number of axes, one by one: where they lie, whether mask and filter keep them, and
 * their slot. */
#ifndef CUDA_DEVICE_ANY_SAMPLE_CUH
#define CUDA_DEVICE_ANY_SAMPLE_CUH

#include "cuda/device/lookup.cuh"
#include "cuda/device/tile.cuh"

HISTO_IN_KERNEL uint32_t histo_divide(uint32_t n, histo_divisor by)
{
    uint32_t t = __umulhi(n, by.factor);
    return (t + ((n - t) >> by.shift1)) >> by.shift2;
}

/* Where one sample is in the strided iterator. */
typedef struct histo_sample_place {
    int64_t index[HISTO_MAX_DIMS + 1];
} histo_sample_place;

/* The sample `offset` behind the first of the tile. Only the dimensions behind the batch's move. The offset is less
 * than 2^31, and so is what is carried into any dimension; a dimension longer than that wraps at most once. */
HISTO_IN_KERNEL histo_sample_place histo_sample_place_of(const histo_cuda_work *w, const histo_tile *tile,
                                                         uint32_t offset)
{
    histo_sample_place place;
    uint64_t carry = offset;
#pragma unroll
    for (int d = HISTO_MAX_DIMS; d >= 0; d--) {
        place.index[d] = tile->index[d];
        if (d >= w->iter.ndim || d < w->iter.batch_ndim) continue;
        uint64_t at = (uint64_t)tile->index[d] + carry, extent = (uint64_t)w->iter.shape[d];
        if (d == w->iter.batch_ndim)
            carry = 0;
        else if (extent <= INT32_MAX)
            carry = histo_divide((uint32_t)at, w->divisors[d]);
        else
            carry = at >= extent;
        place.index[d] = (int64_t)(at - carry * extent);
    }
    return place;
}

HISTO_IN_KERNEL const char *histo_address(const histo_cuda_work *w, const histo_sample_place *place, int operand)
{
    const char *at = w->iter.base[operand];
#pragma unroll
    for (int d = 0; d <= HISTO_MAX_DIMS; d++)
        if (d < w->iter.ndim) at += place->index[d] * w->iter.strides[operand][d];
    return at;
}

/* Byte by byte and not by memcpy: nvcc 13.0 was seen to join a memcpy with the aligned load of the other branch into
 * one aligned load of both. */
HISTO_IN_KERNEL uint64_t histo_bytes_at(const char *at, int size)
{
    uint64_t bytes = 0;
#pragma unroll
    for (int i = 0; i < size; i++)
        bytes |= (uint64_t) * (const volatile unsigned char *)(at + i) << (8 * i);
    return bytes;
}

/* A sample with its bytes in the other order. */
template <typename storage>
HISTO_IN_KERNEL storage histo_reversed(storage x)
{
    uint64_t bytes = 0;
    memcpy(&bytes, &x, sizeof x);
    const uint32_t low = __byte_perm((uint32_t)bytes, 0, 0x0123),
                   high = __byte_perm((uint32_t)(bytes >> 32), 0, 0x0123);
    bytes = ((uint64_t)low << 32 | high) >> (64 - 8 * sizeof x);
    memcpy(&x, &bytes, sizeof x);
    return x;
}

/* Not aligned, or swapped. */
template <typename storage>
HISTO_IN_KERNEL storage histo_load_odd(const histo_cuda_work *w, int operand, const char *at)
{
    storage x;
    if (w->in_place) {
        x = *(const volatile storage *)at;
    } else {
        const uint64_t bytes = histo_bytes_at(at, sizeof x);
        memcpy(&x, &bytes, sizeof x);
    }
    return w->swapped >> operand & 1 ? histo_reversed(x) : x;
}

template <typename storage>
HISTO_IN_KERNEL storage histo_load(const histo_cuda_work *w, int operand, const char *at)
{
    return w->aligned ? *(const storage *)at : histo_load_odd<storage>(w, operand, at);
}

/* ---- One operand ---- */

/* The slot of a sample whose dtype is known only at run time; load(histo_dtype_constant) gives the sample. Dtypes that
 * double holds exactly have shifts and tables of their own, and share the other lookups of f64, whose slots are the
 * same: a kernel that reads anything is mostly lookups. */
template <typename function>
HISTO_IN_KERNEL uint32_t histo_slot_of_dtype(const histo_lookup *l, histo_dtype dtype, function load)
{
    uint32_t slot = HISTO_NO_SLOT;
    double x = 0;
    histo_with_dtype(dtype, [&](auto of) {
        const histo_dtype type = of.type;
        auto sample = load(of);
        if (type == HISTO_F32 || type == HISTO_U64 || type == HISTO_I64)
            slot = histo_any_lookup<type>(l).slot(sample);
        else if (type <= HISTO_I64 && l->pow2.is)
            slot = histo_pow2_lookup<type>(l).slot(sample);
        else if (sizeof sample <= 2 && l->table)
            slot = histo_table_lookup<type>(l).slot(sample);
        else
            x = (double)histo_to_compute<type>(sample);
    });
    return slot == HISTO_NO_SLOT ? histo_any_lookup<HISTO_F64>(l).slot(x) : slot;
}

HISTO_IN_KERNEL uint32_t histo_slot_at(const histo_cuda_work *w, int axis, const char *at)
{
    return histo_slot_of_dtype(&w->lookups[axis], w->dtypes[axis],
                               [=](auto of) { return histo_load<histo_stored<of.type>>(w, axis, at); });
}

HISTO_IN_KERNEL bool histo_is_masked(const histo_cuda_work *w, const char *at)
{
    if (w->has_bits) return !(*(const uint8_t *)((uint64_t)at >> 3) >> ((uint64_t)at & 7) & 1);
    return histo_with_dtype(w->dtypes[w->mask], [=](auto of) {
        auto x = histo_load<histo_stored<of.type>>(w, w->mask, at);
        return !(histo_sample<of.type>::widen(x) != 0);
    });
}

HISTO_IN_KERNEL bool histo_is_outside(const histo_cuda_work *w, const char *at)
{
    return histo_with_dtype(w->dtypes[w->where], [=](auto of) {
        auto x = histo_to_compute<of.type>(histo_load<histo_stored<of.type>>(w, w->where, at));
        return x != x || histo_less(x, w->where_lo) || histo_above(x, w->where_hi);
    });
}

/* ---- Pairs of images ---- */

HISTO_IN_KERNEL uint32_t histo_slot_of_mean(const histo_cuda_work *w, uint32_t mean)
{
    const histo_lookup *l = &w->lookups[HISTO_MEAN];
    return w->dtypes[0] == HISTO_U8 ? histo_any_lookup<HISTO_U8>(l).slot((uint8_t)mean)
                                    : histo_any_lookup<HISTO_U16>(l).slot((uint16_t)mean);
}

/* The value at a place of an image, whose address in the first one is given. */
HISTO_IN_KERNEL int32_t histo_value_in_image(const histo_cuda_work *w, const char *first, int image)
{
    const char *at = first + image * w->iter.image_stride;
    if (w->dtypes[0] == HISTO_U8) return *(const uint8_t *)at;
    return histo_load<uint16_t>(w, 0, at);
}

/* The slot of a pair in a strided iterator of pairs: all images are read for it. */
HISTO_IN_KERNEL uint32_t histo_slot_of_pair(const histo_cuda_work *w, const histo_sample_place *place)
{
    const int images = w->iter.images;
    int image = 0;
#pragma unroll
    for (int d = 0; d <= HISTO_MAX_DIMS; d++) /* keeps index[] in registers */
        image = d == w->iter.batch_ndim ? (int)place->index[d] * w->iter.step : image;
    const char *first = histo_address(w, place, 0) - image * w->iter.image_stride;
    uint32_t sum = 0;
#pragma unroll 1
    for (int i = 0; i < images; i++)
        sum += (uint32_t)histo_value_in_image(w, first, i);
    uint32_t mean = histo_mean_of(sum, (uint32_t)images, histo_mean_factor((uint32_t)images));
    int32_t difference =
        histo_value_in_image(w, first, image) - histo_value_in_image(w, first, image + 1 < images ? image + 1 : 0);
    const histo_lookup *l = &w->lookups[HISTO_DIFFERENCE];
    const uint32_t slot =
        w->iter.relative
            ? histo_any_lookup<HISTO_F32>(l).slot(histo_relative_difference(difference, (uint32_t)images, sum))
            : histo_any_lookup<HISTO_I32>(l).slot(difference);
    return w->slot_strides[HISTO_DIFFERENCE] * slot + w->slot_strides[HISTO_MEAN] * histo_slot_of_mean(w, mean);
}

/* ---- Any sample ---- */

/* Do mask and filter leave the sample out? */
HISTO_IN_KERNEL bool histo_is_left_out(const histo_cuda_work *w, const histo_sample_place *place)
{
    return (w->mask != HISTO_ABSENT && histo_is_masked(w, histo_address(w, place, w->mask))) ||
           (w->where != HISTO_ABSENT && histo_is_outside(w, histo_address(w, place, w->where)));
}

/* The slot of the sample at a place on all axes together; work.slots if it is left out. */
HISTO_IN_KERNEL uint32_t histo_slot_of_sample(const histo_cuda_work *w, const histo_sample_place *place)
{
    if (w->iter.images) return histo_slot_of_pair(w, place);
    if (w->mask != HISTO_ABSENT && histo_is_masked(w, histo_address(w, place, w->mask))) return w->slots;
    if (w->where != HISTO_ABSENT && histo_is_outside(w, histo_address(w, place, w->where))) return w->slots;
    uint32_t slot = 0;
    for (int a = 0; a < w->naxes; a++)
        slot += w->slot_strides[a] * histo_slot_at(w, a, histo_address(w, place, a));
    return slot;
}

/* Samples of the job's part of a batch entry, spread evenly, but not so evenly that the rows of an image could line up.
 */
struct histo_sampling {
    int64_t first, length;
    uint64_t step;

    /* About n of them */
    static HISTO_MEMBER histo_sampling of(const histo_cuda_work *w, int64_t entry, uint32_t n)
    {
        const int64_t first = entry * w->iter.per_batch, last = first + w->iter.per_batch;
        const int64_t begin = first < w->begin ? w->begin : first, end = last > w->end ? w->end : last;
        return {begin, end - begin, (uint64_t)(end - begin) / n + 1};
    }

    /* The slot of the number-th, HISTO_NO_SLOT if there are fewer. By a division for each dimension but the first:
     * those of 64 bits are most of what it takes, so that it finds no tile on the way. */
    HISTO_MEMBER uint32_t slot(const histo_cuda_work *w, uint32_t number) const
    {
        const uint64_t beyond = (uint64_t)(number * 2654435761u) * step >> 32; /* in [0, step) */
        int64_t at = (int64_t)(number * step + beyond);
        if (at >= length) return HISTO_NO_SLOT;
        at += first;
        histo_sample_place place;
#pragma unroll
        for (int d = HISTO_MAX_DIMS; d >= 0; d--) {
            place.index[d] = 0;
            if (d >= w->iter.ndim) continue;
            const int64_t above = d > 0 ? at / w->iter.shape[d] : 0;
            place.index[d] = at - above * w->iter.shape[d];
            at = above;
        }
        return histo_slot_of_sample(w, &place);
    }
};

#endif
