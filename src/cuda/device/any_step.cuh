/* Samples of any layout, type and number of axes, a step of a tile at a time: N of each thread. Where all operands are
 * runs, a thread has groups of neighbours, which are loaded as vectors; else neighbouring threads have neighbouring
 * samples.
 *
 * All that a block's threads decide alike is decided once for an operand: its size, whether it is aligned, its dtype
 * and the way that its axis is looked up. All loads of an operand are issued before the first sample is used. */
#ifndef CUDA_DEVICE_ANY_STEP_CUH
#define CUDA_DEVICE_ANY_STEP_CUH

#include "cuda/device/any_sample.cuh"

enum { HISTO_STEP_RUN = 4 /* neighbours in a group */ };

/* The bytes of N samples of a thread, each as an unsigned number. */
template <int N>
struct histo_raw {
    uint64_t bits[N];
};

HISTO_IN_KERNEL int histo_raw_size(histo_dtype dtype)
{
    return dtype <= HISTO_I8                                                                       ? 1
           : dtype == HISTO_U16 || dtype == HISTO_I16 || dtype == HISTO_F16 || dtype == HISTO_BF16 ? 2
           : dtype == HISTO_U32 || dtype == HISTO_I32 || dtype == HISTO_F32                        ? 4
                                                                                                   : 8;
}

/* ---- Where the samples lie ---- */

/* The offset in its tile of a thread's k-th sample of the step `at`; it may be past the end. */
HISTO_IN_KERNEL uint32_t histo_step_offset(const histo_cuda_work *w, uint32_t at, int k)
{
    const uint32_t run = HISTO_STEP_RUN;
    const uint32_t of_run = (uint32_t)k / run * blockDim.x * run + threadIdx.x * run + (uint32_t)k % run;
    return at + (w->are_runs ? of_run : (uint32_t)k * blockDim.x + threadIdx.x);
}

/* The same, or that of the tile's last sample past the end. */
HISTO_IN_KERNEL uint32_t histo_step_offset_inside(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, int k)
{
    return min(histo_step_offset(w, at, k), tile->length - 1);
}

/* n / shape[d] */
HISTO_IN_KERNEL uint64_t histo_divide_by_extent(const histo_cuda_work *w, uint64_t n, int d)
{
    const int64_t extent = w->iter.shape[d];
    if (n <= UINT32_MAX && extent <= INT32_MAX) return histo_divide((uint32_t)n, w->divisors[d]);
    return n / (uint64_t)extent;
}

/* An operand's first sample of the tile's batch entry. Indices are computed where they are needed, and not kept with
 * the tile: registers are scarce, and local memory would take the cache from the samples. */
HISTO_IN_KERNEL const char *histo_entry_first(const histo_cuda_work *w, const histo_tile *tile, int operand)
{
    const char *first = w->iter.base[operand];
    uint64_t rest = (uint64_t)tile->entry;
#pragma unroll 1
    for (int d = w->iter.batch_ndim - 1; d >= 0; d--) {
        const uint64_t above = d > 0 ? histo_divide_by_extent(w, rest, d) : 0;
        first += (int64_t)(rest - above * (uint64_t)w->iter.shape[d]) * w->iter.strides[operand][d];
        rest = above;
    }
    return first;
}

/* The addresses of a thread's samples of an operand. Samples that run over the end of a
 * dimension carry into the one before it: each carry takes a sample from the end of a row, say, to the beginning of the
 * next one. Offsets and carries are as in histo_sample_place_of. */
template <int N>
HISTO_IN_KERNEL void histo_step_addresses(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, int operand,
                                          const char *(&from)[N])
{
    const histo_strided_iter *iter = &w->iter;
    const int64_t *strides = iter->strides[operand];
    const char *first = histo_entry_first(w, tile, operand);
    uint64_t rest = (uint64_t)tile->first;
    uint32_t carry[N];
    int64_t distance[N]; /* from the first sample of the tile */
    const int64_t stride = strides[iter->ndim - 1];
#pragma unroll
    for (int k = 0; k < N; k++) {
        carry[k] = histo_step_offset_inside(w, tile, at, k);
        distance[k] = carry[k] * stride;
    }
#pragma unroll 1
    for (int d = iter->ndim - 1; d > iter->batch_ndim; d--) {
        const uint64_t above = histo_divide_by_extent(w, rest, d);
        const int64_t extent = iter->shape[d], index = (int64_t)(rest - above * (uint64_t)extent);
        const int64_t to_next = strides[d - 1] - extent * strides[d];
        first += index * strides[d];
        rest = above;
        if (extent <= INT32_MAX) {
            const histo_divisor by = w->divisors[d];
#pragma unroll
            for (int k = 0; k < N; k++)
                carry[k] = histo_divide((uint32_t)index + carry[k], by);
        } else {
#pragma unroll
            for (int k = 0; k < N; k++)
                carry[k] = carry[k] >= extent - index;
        }
#pragma unroll
        for (int k = 0; k < N; k++)
            distance[k] += carry[k] * to_next;
    }
    first += (int64_t)rest * strides[iter->batch_ndim];
#pragma unroll
    for (int k = 0; k < N; k++)
        from[k] = first + distance[k];
}

/* ---- Loading ---- */

/* Samples of `storage` that are aligned. */
template <typename storage, int N>
HISTO_IN_KERNEL void histo_load_aligned(const char *const (&from)[N], histo_raw<N> *raw)
{
    storage x[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        x[k] = *(const storage *)from[k];
#pragma unroll
    for (int k = 0; k < N; k++)
        raw->bits[k] = x[k];
}

/* Samples of `size` bytes that are perhaps not aligned. Byte by byte: what lies beside a sample may not be memory of
 * ours. */
template <int N>
HISTO_IN_KERNEL void histo_load_bytes(const char *const (&from)[N], int size, histo_raw<N> *raw)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        raw->bits[k] = 0;
#pragma unroll 1
    for (int i = 0; i < size; i++)
#pragma unroll
        for (int k = 0; k < N; k++)
            raw->bits[k] |= (uint64_t)__ldg((const unsigned char *)from[k] + i) << (8 * i);
}

/* 4 or 8 bytes at any address, by aligned words, which reach at most 4 bytes beyond them on either side. */
template <int SIZE>
HISTO_IN_KERNEL uint64_t histo_load_by_words(const char *from)
{
    const uint32_t beyond = (uint32_t)((uint64_t)from & 3);
    const uint32_t *words = (const uint32_t *)(from - beyond);
    const uint32_t first = __ldg(&words[0]), second = __ldg(&words[1]);
    const uint32_t low = __funnelshift_r(first, second, 8 * beyond);
    if (SIZE == 4) return low;
    return (uint64_t)__funnelshift_r(second, __ldg(&words[2]), 8 * beyond) << 32 | low;
}

/* Three samples or more that lie one behind the other: what is beside a sample are its neighbours. The first and the
 * last of the tile, which lack one, are read byte by byte. */
template <int SIZE, int N>
HISTO_IN_KERNEL void histo_load_run(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, int64_t stride,
                                    const char *const (&from)[N], histo_raw<N> *raw)
{
    bool has_end = false;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t offset = histo_step_offset_inside(w, tile, at, k);
        const bool is_first = offset == 0, is_last = offset + 1 == tile->length;
        has_end = has_end || is_first || is_last;
        raw->bits[k] = histo_load_by_words<SIZE>(from[k] + (is_first ? stride : is_last ? -stride : 0));
    }
    if (!has_end) return;
#pragma unroll 1
    for (int k = 0; k < N; k++) {
        const uint32_t offset = histo_step_offset_inside(w, tile, at, k);
        if (offset > 0 && offset + 1 < tile->length) continue;
        histo_select_store(raw->bits, k, histo_bytes_at(histo_select<N>(from, k), SIZE));
    }
}

/* Bits of a mask, whose addresses are 8 times those of their bytes, and the number of the bit. */
template <int N>
HISTO_IN_KERNEL void histo_load_bits(const char *const (&from)[N], histo_raw<N> *raw)
{
    uint8_t x[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        x[k] = *(const uint8_t *)((uint64_t)from[k] >> 3);
#pragma unroll
    for (int k = 0; k < N; k++)
        raw->bits[k] = x[k] >> ((uint64_t)from[k] & 7) & 1;
}

/* Groups of HISTO_STEP_RUN neighbours in vectors. from: the thread's first sample; apart: bytes to its next group. */
template <typename storage, int N>
HISTO_IN_KERNEL void histo_load_groups(const char *from, uint32_t apart, histo_raw<N> *raw)
{
    enum { BYTES = HISTO_STEP_RUN * (int)sizeof(storage), VECTOR = BYTES < 16 ? BYTES : 16, EACH = BYTES / VECTOR };
    using vector = histo_word_of_bytes<VECTOR>;
    vector v[N / HISTO_STEP_RUN * EACH];
    storage x[N];
#pragma unroll
    for (int i = 0; i < N / HISTO_STEP_RUN * EACH; i++)
        v[i] = __ldcs((const vector *)(from + (uint32_t)(i / EACH) * apart) + i % EACH);
    memcpy(x, v, sizeof x);
#pragma unroll
    for (int k = 0; k < N; k++)
        raw->bits[k] = x[k];
}

/* The same of an operand, if the step is whole and the groups are aligned; else false. */
template <int N>
HISTO_IN_KERNEL bool histo_load_vectors(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, int operand,
                                        int size, histo_raw<N> *raw)
{
    const uint32_t group = HISTO_STEP_RUN * (uint32_t)size, apart = group * blockDim.x;
    if (!w->are_runs || at + N * blockDim.x > tile->length) return false;
    const char *first = histo_entry_first(w, tile, operand) + tile->first * size;
    if ((uint64_t)first & (min(group, 16u) - 1)) return false;
    const char *from = first + (uint64_t)at * (uint32_t)size + threadIdx.x * group;
    if (size == 1)
        histo_load_groups<uint8_t>(from, apart, raw);
    else if (size == 2)
        histo_load_groups<uint16_t>(from, apart, raw);
    else if (size == 4)
        histo_load_groups<uint32_t>(from, apart, raw);
    else
        histo_load_groups<uint64_t>(from, apart, raw);
    return true;
}

/* One by one. */
template <int N>
HISTO_IN_KERNEL void histo_load_singly(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, int operand,
                                       int size, histo_raw<N> *raw)
{
    const int last = w->iter.ndim - 1;
    const int64_t stride = w->iter.strides[operand][last];
    const bool is_run = last == w->iter.batch_ndim && (stride == size || stride == -size) && tile->length > 2;
    const char *from[N];
    histo_step_addresses(w, tile, at, operand, from);
    if (operand == w->mask && w->has_bits)
        histo_load_bits(from, raw);
    else if (size == 1)
        histo_load_aligned<uint8_t>(from, raw);
    else if (!w->in_place && is_run && size == 4)
        histo_load_run<4>(w, tile, at, stride, from, raw);
    else if (!w->in_place && is_run && size == 8)
        histo_load_run<8>(w, tile, at, stride, from, raw);
    else if (!w->in_place)
        histo_load_bytes(from, size, raw);
    else if (size == 2)
        histo_load_aligned<uint16_t>(from, raw);
    else if (size == 4)
        histo_load_aligned<uint32_t>(from, raw);
    else
        histo_load_aligned<uint64_t>(from, raw);
}

/* A thread's samples of an operand in the step `at`. */
template <int N>
HISTO_IN_KERNEL void histo_load_step_of(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, int operand,
                                        histo_raw<N> *raw)
{
    const int size = histo_raw_size(w->dtypes[operand]);
    if (!histo_load_vectors(w, tile, at, operand, size, raw)) histo_load_singly(w, tile, at, operand, size, raw);
    if (w->swapped >> operand & 1)
#pragma unroll
        for (int k = 0; k < N; k++)
            raw->bits[k] = histo_reversed(raw->bits[k]) >> (64 - 8 * size);
}

/* ---- Using ---- */

/* The samples as a type has them. */
template <histo_dtype type, int N>
HISTO_IN_KERNEL void histo_take_raw(const histo_raw<N> *raw, histo_stored<type> (&x)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        if constexpr (sizeof *x <= sizeof(uint32_t)) {
            const uint32_t low = (uint32_t)raw->bits[k];
            memcpy(&x[k], &low, sizeof *x);
        } else {
            memcpy(&x[k], &raw->bits[k], sizeof *x);
        }
    }
}

/* Of dtypes that double holds exactly. */
template <int N>
HISTO_IN_KERNEL void histo_raw_to_f64(histo_dtype dtype, const histo_raw<N> *raw, double (&x)[N])
{
    histo_with_dtype(dtype, [&](auto of) {
        histo_stored<of.type> stored[N];
        histo_take_raw<of.type>(raw, stored);
#pragma unroll
        for (int k = 0; k < N; k++)
            x[k] = (double)histo_to_compute<of.type>(stored[k]);
    });
}

template <histo_dtype type, int N>
HISTO_IN_KERNEL void histo_look_up_raw(const histo_lookup *l, const histo_raw<N> *raw, uint32_t (&slot)[N])
{
    histo_stored<type> x[N];
    histo_take_raw<type>(raw, x);
    histo_any_lookup<type>(l).slots(x, slot);
}

/* Integers of at most 32 bits on bins of 2^k integers. */
template <int N>
HISTO_IN_KERNEL void histo_shift_raw(const histo_lookup *l, histo_dtype dtype, const histo_raw<N> *raw,
                                     uint32_t (&slot)[N])
{
    const int unused = 32 - 8 * histo_raw_size(dtype);
    if (dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32) {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = histo_slot_by_shift(l, (int32_t)((uint32_t)raw->bits[k] << unused) >> unused);
    } else {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = histo_slot_by_shift(l, (uint32_t)raw->bits[k]);
    }
}

/* As histo_slot_of_dtype. */
template <int N>
HISTO_IN_KERNEL void histo_slots_of_raw(const histo_lookup *l, histo_dtype dtype, const histo_raw<N> *raw,
                                        uint32_t (&slot)[N])
{
    if (dtype == HISTO_F32) {
        histo_look_up_raw<HISTO_F32>(l, raw, slot);
    } else if (dtype == HISTO_U64) {
        histo_look_up_raw<HISTO_U64>(l, raw, slot);
    } else if (dtype == HISTO_I64) {
        histo_look_up_raw<HISTO_I64>(l, raw, slot);
    } else if (dtype <= HISTO_I64 && l->pow2.is) {
        histo_shift_raw(l, dtype, raw, slot);
    } else if (histo_raw_size(dtype) <= 2 && l->table) {
#pragma unroll
        for (int k = 0; k < N; k++)
            slot[k] = __ldg(&l->table[(uint32_t)raw->bits[k]]);
    } else {
        double x[N];
        histo_raw_to_f64(dtype, raw, x);
        histo_any_lookup<HISTO_F64>(l).slots(x, slot);
    }
}

/* A bit for each sample that the mask leaves out: a number is 0 if nothing but its sign is set. */
template <int N>
HISTO_IN_KERNEL uint32_t histo_masked_of_raw(const histo_cuda_work *w, const histo_raw<N> *raw)
{
    const histo_dtype dtype = w->dtypes[w->mask];
    const bool has_sign = dtype > HISTO_I64 && !w->has_bits;
    const uint64_t number = has_sign ? ~(UINT64_C(1) << (8 * histo_raw_size(dtype) - 1)) : ~UINT64_C(0);
    uint32_t out = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        out |= (uint32_t)((raw->bits[k] & number) == 0) << k;
    return out;
}

/* Of 64-bit integers. */
template <histo_dtype type, int N>
HISTO_IN_KERNEL uint32_t histo_integers_outside(const histo_cuda_work *w, const histo_raw<N> *raw)
{
    uint32_t out = 0;
    histo_stored<type> x[N];
    histo_take_raw<type>(raw, x);
#pragma unroll
    for (int k = 0; k < N; k++)
        out |= (uint32_t)(histo_less(x[k], w->where_lo) || histo_above(x[k], w->where_hi)) << k;
    return out;
}

/* A bit for each sample that the range filter leaves out. */
template <int N>
HISTO_IN_KERNEL uint32_t histo_outside_of_raw(const histo_cuda_work *w, const histo_raw<N> *raw)
{
    const histo_dtype dtype = w->dtypes[w->where];
    if (dtype == HISTO_U64) return histo_integers_outside<HISTO_U64>(w, raw);
    if (dtype == HISTO_I64) return histo_integers_outside<HISTO_I64>(w, raw);
    uint32_t out = 0;
    double x[N];
    histo_raw_to_f64(dtype, raw, x);
#pragma unroll
    for (int k = 0; k < N; k++)
        out |= (uint32_t) !(x[k] >= w->where_lo && x[k] <= w->where_hi) << k;
    return out;
}

/* The slots of a thread's samples of the step `at`, on all axes together; work.slots for those that mask or filter
 * leave out, HISTO_NO_SLOT past the end of the tile. Not of pairs of images. */
template <int N>
HISTO_IN_KERNEL void histo_slots_of_step(const histo_cuda_work *w, const histo_tile *tile, uint32_t at,
                                         uint32_t (&slot)[N])
{
    uint32_t out = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        slot[k] = 0;
#pragma unroll 1
    for (int o = 0; o < w->iter.operands; o++) {
        if (o == w->weights) continue;
        histo_raw<N> raw;
        histo_load_step_of(w, tile, at, o, &raw);
        if (o < w->naxes) {
            const uint32_t stride = w->slot_strides[o];
            uint32_t its[N];
            histo_slots_of_raw(&w->lookups[o], w->dtypes[o], &raw, its);
#pragma unroll
            for (int k = 0; k < N; k++)
                slot[k] += its[k] * stride;
        } else {
            out |= o == w->mask ? histo_masked_of_raw(w, &raw) : histo_outside_of_raw(w, &raw);
        }
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        slot[k] = out >> k & 1 ? w->slots : slot[k];
        slot[k] = histo_step_offset(w, at, k) < tile->length ? slot[k] : HISTO_NO_SLOT;
    }
}

#endif
