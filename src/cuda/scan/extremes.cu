/* Extremes of samples in device memory, without a plan: each sample is read once, and nothing else in device memory
 * matters.
 *
 * Floats are compared as signed integers: those with a sign bit have their other bits flipped. A thread compares its 16
 * bytes of samples at once, two of 16 or four of 8 bits in a word, and looks at them one by one only if an infinity or
 * NaN is among them, which lies beyond all numbers. A block takes consecutive tiles and adds to the record of a batch
 * entry when it leaves it. All fields of a record grow from 0, so a cleared record is that of no samples.
 *
 * Bytes: each sample once. Bound: memory bandwidth if neighbours are contiguous, with or without a mask of bytes;
 * other layouts, masks and filters take samples one by one. */
#include "cuda/scan/extremes.h"

#include <math.h>
#include <string.h>

#include "cuda/device/block_tile.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/memory/staging.h"
#include "cuda/memory/stream_order.h"

namespace
{

enum { THREADS = 256, BLOCKS_EACH = 4 /* on a multiprocessor */, VECTORS = 4 /* of 16 bytes, of a thread and step */ };

/* The extremes of a batch entry, in device memory. */
struct record {
    unsigned long long not_least, most; /* complement of the least key, and the greatest, of finite samples */
    unsigned long long nan[2], infinite[2];
    unsigned long long samples, masked;
};
static_assert(sizeof(record) == sizeof(histo_found), "a record becomes a histo_found in place");

enum form { UNSIGNED, SIGNED, FLOAT };

template <int BITS>
struct bits_of;
template <>
struct bits_of<8> {
    using type = uint8_t;
    using ordered = int32_t;
};
template <>
struct bits_of<16> {
    using type = uint16_t;
    using ordered = int32_t;
};
template <>
struct bits_of<32> {
    using type = uint32_t;
    using ordered = int32_t;
};
template <>
struct bits_of<64> {
    using type = uint64_t;
    using ordered = int64_t;
};

/* The extremes that a thread has found in a batch entry. */
struct found {
    int64_t least, most; /* of finite samples, in their order */
    uint32_t nan[2], infinite[2], samples, masked;

    HISTO_MEMBER void clear()
    {
        least = INT64_MAX;
        most = INT64_MIN;
        nan[0] = nan[1] = infinite[0] = infinite[1] = samples = masked = 0;
    }
};

/* ---- Orders ---- */

/* A sample as a signed integer in the order of values; of unsigned 32- and 64-bit integers, with the first bit flipped.
 */
template <int BITS, form FORM>
HISTO_IN_KERNEL typename bits_of<BITS>::ordered ordered_of(typename bits_of<BITS>::type bits)
{
    if constexpr (BITS == 64) {
        const int64_t x = (int64_t)bits;
        if (FORM == UNSIGNED) return (int64_t)(bits ^ (uint64_t)1 << 63);
        return FORM == SIGNED ? x : x ^ (int64_t)((uint64_t)(x >> 63) >> 1);
    } else if constexpr (BITS == 32) {
        const int32_t x = (int32_t)bits;
        if (FORM == UNSIGNED) return (int32_t)(bits ^ (uint32_t)1 << 31);
        return FORM == SIGNED ? x : x ^ (int32_t)((uint32_t)(x >> 31) >> 1);
    } else if constexpr (BITS == 16) {
        const int32_t x = (int16_t)bits;
        return FORM == UNSIGNED ? (int32_t)bits : FORM == SIGNED ? x : x ^ (x >> 31 & 0x7fff);
    } else {
        return FORM == UNSIGNED ? (int32_t)bits : (int32_t)(int8_t)bits;
    }
}

/* Such a number as a key of 64 bits, as the host compares them. */
template <int BITS, form FORM>
HISTO_IN_KERNEL unsigned long long key_of(int64_t ordered)
{
    if (FORM != UNSIGNED || BITS == 64) return (unsigned long long)ordered ^ 1ull << 63;
    return BITS == 32 ? (uint32_t)ordered ^ 1u << 31 : (unsigned long long)ordered;
}

/* Add a sample. infinity: the bits of infinity, of floats. */
template <int BITS, form FORM>
HISTO_IN_KERNEL void add_one(typename bits_of<BITS>::type bits, uint64_t infinity, found *it)
{
    const int64_t x = ordered_of<BITS, FORM>(bits);
    if constexpr (FORM == FLOAT) {
        const uint64_t magnitude = bits & ~((uint64_t)1 << (BITS - 1));
        if (magnitude >= infinity) {
            const bool negative = x < 0;
            if (magnitude == infinity) {
                it->infinite[0] += negative;
                it->infinite[1] += !negative;
            } else {
                it->nan[0] += negative;
                it->nan[1] += !negative;
            }
            return;
        }
    }
    it->least = min(it->least, x);
    it->most = max(it->most, x);
}

/* ---- 16 bytes at once ---- */

/* The least and the greatest sample in a vector; packed: two of 16 bits are compared at once. */
template <int BITS>
struct pair_of {
    int32_t least, most;
};
template <>
struct pair_of<64> {
    int64_t least, most;
};

template <form FORM>
HISTO_IN_KERNEL uint32_t packed_of(uint32_t halves)
{
    return FORM == FLOAT ? halves ^ (halves >> 15 & 0x00010001) * 0x7fff : halves;
}

template <form FORM>
HISTO_IN_KERNEL uint32_t packed_min(uint32_t a, uint32_t b)
{
    return FORM == UNSIGNED ? __vminu2(a, b) : __vmins2(a, b);
}

template <form FORM>
HISTO_IN_KERNEL uint32_t packed_max(uint32_t a, uint32_t b)
{
    return FORM == UNSIGNED ? __vmaxu2(a, b) : __vmaxs2(a, b);
}

template <form FORM>
HISTO_IN_KERNEL int32_t half_of(uint32_t halves, int i)
{
    const uint32_t half = halves >> 16 * i & 0xffff;
    return FORM == UNSIGNED ? (int32_t)half : (int32_t)(int16_t)half;
}

template <int BITS, form FORM>
HISTO_IN_KERNEL pair_of<BITS> range_of(uint4 vector)
{
    const uint32_t word[4] = {vector.x, vector.y, vector.z, vector.w};
    pair_of<BITS> pair;
    if constexpr (BITS == 64) {
        int64_t x[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            x[i] = ordered_of<64, FORM>((uint64_t)word[2 * i + 1] << 32 | word[2 * i]);
        pair.least = min(x[0], x[1]);
        pair.most = max(x[0], x[1]);
    } else if constexpr (BITS == 32) {
        pair.least = pair.most = ordered_of<32, FORM>(word[0]);
#pragma unroll
        for (int i = 1; i < 4; i++) {
            const int32_t x = ordered_of<32, FORM>(word[i]);
            pair.least = min(pair.least, x);
            pair.most = max(pair.most, x);
        }
    } else {
        /* Bytes are compared as unsigned halves, first the even ones, then the odd ones; signed bytes are moved up by
         * 128. */
        enum { PARTS = 16 / BITS };
        constexpr form of = BITS == 8 ? UNSIGNED : FORM;
        uint32_t low = 0, high = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t moved = BITS == 8 && FORM == SIGNED ? word[i] ^ 0x80808080 : word[i];
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                const uint32_t x = BITS == 8 ? moved >> 8 * part & 0x00ff00ff : packed_of<FORM>(moved);
                low = i + part == 0 ? x : packed_min<of>(low, x);
                high = i + part == 0 ? x : packed_max<of>(high, x);
            }
        }
        const int32_t down = BITS == 8 && FORM == SIGNED ? 128 : 0;
        pair.least = min(half_of<of>(low, 0), half_of<of>(low, 1)) - down;
        pair.most = max(half_of<of>(high, 0), half_of<of>(high, 1)) - down;
    }
    return pair;
}

/* Sample i of a vector. */
template <int BITS>
HISTO_IN_KERNEL typename bits_of<BITS>::type sample_in(const uint32_t (&word)[4], int i)
{
    if constexpr (BITS == 64) {
        return (uint64_t)word[2 * i + 1] << 32 | word[2 * i];
    } else {
        enum { EACH = 32 / BITS };
        return (typename bits_of<BITS>::type)(word[i / EACH] >> (i % EACH * BITS));
    }
}

/* The least and the greatest finite sample that a thread has found, as they are ordered. */
template <int BITS>
struct range {
    using ordered = typename bits_of<BITS>::ordered;
    ordered least, most;

    HISTO_MEMBER void clear()
    {
        const ordered first = (ordered)((typename bits_of<sizeof(ordered) * 8>::type)1 << (sizeof(ordered) * 8 - 1));
        least = ~first;
        most = first;
    }

    HISTO_MEMBER void leave(found *it)
    {
        if (least > most) return;
        it->least = min(it->least, (int64_t)least);
        it->most = max(it->most, (int64_t)most);
        clear();
    }
};

/* Count what is infinite or NaN among the samples of a vector that have a bit in `kept`. Rare: not inlined, so that
 * what is counted is in registers only here. */
template <int BITS>
static __device__ __noinline__ void count_odd(uint4 vector, uint32_t kept, uint64_t infinity, found *it)
{
    const uint32_t word[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int i = 0; i < 128 / BITS; i++) {
        const uint64_t bits = sample_in<BITS>(word, i), magnitude = bits & ~((uint64_t)1 << (BITS - 1));
        const bool is = kept >> i & 1, negative = bits != magnitude;
        it->infinite[0] += is && magnitude == infinity && negative;
        it->infinite[1] += is && magnitude == infinity && !negative;
        it->nan[0] += is && magnitude > infinity && negative;
        it->nan[1] += is && magnitude > infinity && !negative;
    }
}

/* Add those of a vector that have a bit in `kept`; all at once if all do, and none of them is infinite or NaN. */
template <int BITS, form FORM>
HISTO_IN_KERNEL void add_vector(uint4 vector, uint32_t kept, uint64_t infinity, range<BITS> *all, found *it)
{
    enum { EACH = 128 / BITS };
    using ordered = typename bits_of<BITS>::ordered;
    const ordered beyond = (ordered)infinity; /* the order of infinity; that of -infinity is -beyond - 1 */
    const pair_of<BITS> range = range_of<BITS, FORM>(vector);
    if (kept == (1u << EACH) - 1 && (FORM != FLOAT || (range.least >= -beyond && range.most < beyond))) {
        all->least = min(all->least, (ordered)range.least);
        all->most = max(all->most, (ordered)range.most);
        return;
    }
    const uint32_t word[4] = {vector.x, vector.y, vector.z, vector.w};
    bool odd = false;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const ordered x = ordered_of<BITS, FORM>(sample_in<BITS>(word, i));
        const bool is = kept >> i & 1, finite = FORM != FLOAT || (x >= -beyond && x < beyond);
        all->least = is && finite ? min(all->least, x) : all->least;
        all->most = is && finite ? max(all->most, x) : all->most;
        odd = odd || (is && !finite);
    }
    if (FORM == FLOAT && odd) count_odd<BITS>(vector, kept, infinity, it);
}

/* ---- Blocks ---- */

HISTO_IN_KERNEL void add_to_record(unsigned long long *field, unsigned long long n)
{
    if (n) atomicAdd(field, n);
}

/* Add what all threads of a block have found to a record, and begin anew. */
template <int BITS, form FORM>
HISTO_IN_KERNEL void leave_entry(record *to, found *it)
{
    enum { WARP = 32, WARPS = THREADS / WARP, COUNTS = 6 };
    __shared__ int64_t least[WARPS], most[WARPS];
    __shared__ uint32_t counts[COUNTS];
    const uint32_t own[COUNTS] = {it->nan[0], it->nan[1], it->infinite[0], it->infinite[1], it->samples, it->masked};
    if (threadIdx.x < COUNTS) counts[threadIdx.x] = 0;
    for (int distance = WARP / 2; distance; distance /= 2) {
        it->least = min(it->least, (int64_t)__shfl_xor_sync(~0u, (long long)it->least, distance));
        it->most = max(it->most, (int64_t)__shfl_xor_sync(~0u, (long long)it->most, distance));
    }
    if (threadIdx.x % WARP == 0) {
        least[threadIdx.x / WARP] = it->least;
        most[threadIdx.x / WARP] = it->most;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < COUNTS; c++) {
        const uint32_t sum = histo_warp_sum(own[c]);
        if (sum && threadIdx.x % WARP == 0) atomicAdd(&counts[c], sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int64_t low = least[0], high = most[0];
        for (int w = 1; w < WARPS; w++) {
            low = min(low, least[w]);
            high = max(high, most[w]);
        }
        if (low <= high) {
            atomicMax(&to->not_least, ~key_of<BITS, FORM>(low));
            atomicMax(&to->most, key_of<BITS, FORM>(high));
        }
        for (int sign = 0; sign < 2; sign++) {
            add_to_record(&to->nan[sign], counts[sign]);
            add_to_record(&to->infinite[sign], counts[2 + sign]);
        }
        add_to_record(&to->samples, counts[4]);
        add_to_record(&to->masked, counts[5]);
    }
    __syncthreads();
    it->clear();
}

/* The first tile of a block: each takes a part of all tiles, in order. */
HISTO_IN_KERNEL int64_t first_tile(const histo_cuda_work *w, uint32_t block)
{
    return w->tiles / gridDim.x * block + min((int64_t)block, w->tiles % gridDim.x);
}

/* The bytes of a mask, beginning with that of a vector's first sample, as bits. aligned: at a multiple of their
 * number. */
template <int EACH>
HISTO_IN_KERNEL uint32_t mask_of(const char *mask, bool aligned)
{
    uint32_t kept = 0;
    if (aligned) {
        using bytes = histo_word_of_bytes<EACH>;
        const bytes all = __ldcs((const bytes *)mask);
        uint32_t word[(EACH + 3) / 4] = {};
        memcpy(word, &all, sizeof all);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            kept |= (uint32_t)((word[i / 4] >> 8 * (i % 4) & 0xff) != 0) << i;
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            kept |= (uint32_t)(__ldcs(mask + i) != 0) << i;
    }
    return kept;
}

/* Find the extremes of contiguous aligned samples, perhaps with a mask of contiguous bytes. rows: so many batch entries
 * of the work have a record together. */
template <int BITS, form FORM, bool MASKED>
__global__ void __launch_bounds__(THREADS, BLOCKS_EACH)
    find_contiguous(const __grid_constant__ histo_cuda_work w, uint64_t infinity, int64_t rows, record *records)
{
    using type = typename bits_of<BITS>::type;
    enum { EACH = 128 / BITS };
    const uint32_t all = (1u << EACH) - 1;
    found it;
    range<BITS> all_found;
    it.clear();
    all_found.clear();
    int64_t record_at = -1;
    const int64_t end = first_tile(&w, blockIdx.x + 1);
    for (int64_t item = first_tile(&w, blockIdx.x); item < end; item++) {
        const histo_tile tile = histo_tile_aligned(&w, item, BITS / 8);
        if (!tile.length) continue;
        if (tile.entry / rows != record_at) {
            all_found.leave(&it);
            if (record_at >= 0) leave_entry<BITS, FORM>(&records[record_at], &it);
            record_at = tile.entry / rows;
        }
        const char *mask = NULL;
        if (MASKED) {
            mask = w.iter.base[1] - tile.pad;
#pragma unroll
            for (int d = 0; d <= HISTO_MAX_DIMS; d++) /* keeps index[] in registers */
                if (d < w.iter.ndim) mask += tile.index[d] * w.iter.strides[1][d];
        }
        const bool mask_aligned = (uint64_t)mask % EACH == 0;
        const histo_steps steps = histo_steps_of(&tile, EACH);
        uint32_t kept = 0, seen = 0;
        for (uint32_t at = steps.begin; at < steps.end; at += VECTORS * blockDim.x) {
            uint4 vector[VECTORS];
            uint32_t its[VECTORS];
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                const uint32_t i = histo_step_vector(at, v);
                its[v] = all;
                if (i < steps.end) {
                    vector[v] = __ldcs(&steps.vectors[i]);
                    if (MASKED) its[v] = mask_of<EACH>(mask + i * (int64_t)EACH, mask_aligned);
                }
            }
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                if (histo_step_vector(at, v) < steps.end) {
                    add_vector<BITS, FORM>(vector[v], its[v], infinity, &all_found, &it);
                    kept += MASKED ? __popc(its[v]) : EACH;
                    seen += EACH;
                }
        }
        const uint32_t beside = histo_beside_steps(&steps, &tile, EACH);
        for (uint32_t i = threadIdx.x; i < beside; i += blockDim.x) {
            const uint32_t at = histo_nth_beside_steps(&steps, &tile, EACH, i);
            const bool is_kept = !MASKED || mask[at] != 0;
            if (is_kept) add_one<BITS, FORM>(((const type *)tile.at)[at], infinity, &it);
            kept += is_kept;
            seen++;
        }
        it.samples += kept;
        it.masked += seen - kept;
    }
    all_found.leave(&it);
    if (record_at >= 0) leave_entry<BITS, FORM>(&records[record_at], &it);
}

/* Find the extremes of samples of any layout, one by one. */
template <int BITS, form FORM>
__global__ void __launch_bounds__(THREADS, BLOCKS_EACH)
    find_any(const __grid_constant__ histo_cuda_work w, uint64_t infinity, record *records)
{
    found it;
    it.clear();
    int64_t record_at = -1;
    const int64_t end = first_tile(&w, blockIdx.x + 1);
    for (int64_t item = first_tile(&w, blockIdx.x); item < end; item++) {
        const histo_tile tile = histo_tile_at(&w, item);
        if (!tile.length) continue;
        if (tile.entry != record_at) {
            if (record_at >= 0) leave_entry<BITS, FORM>(&records[record_at], &it);
            record_at = tile.entry;
        }
        for (uint32_t i = threadIdx.x; i < tile.length; i += blockDim.x) {
            const histo_sample_place place = histo_sample_place_of(&w, &tile, i);
            const bool is_masked = histo_is_left_out(&w, &place);
            it.masked += is_masked;
            it.samples += !is_masked;
            if (is_masked) continue;
            const auto bits = histo_load<typename bits_of<BITS>::type>(&w, 0, histo_address(&w, &place, 0));
            add_one<BITS, FORM>(bits, infinity, &it);
        }
    }
    if (record_at >= 0) leave_entry<BITS, FORM>(&records[record_at], &it);
}

/* ---- The host ---- */

struct kernels {
    const void *contiguous, *masked, *any;
};

template <int BITS, form FORM>
kernels kernels_for()
{
    return {(const void *)find_contiguous<BITS, FORM, false>, (const void *)find_contiguous<BITS, FORM, true>,
            (const void *)find_any<BITS, FORM>};
}

kernels kernels_of(histo_dtype dtype)
{
    switch (dtype) {
    case HISTO_U8:
        return kernels_for<8, UNSIGNED>();
    case HISTO_I8:
        return kernels_for<8, SIGNED>();
    case HISTO_U16:
        return kernels_for<16, UNSIGNED>();
    case HISTO_I16:
        return kernels_for<16, SIGNED>();
    case HISTO_U32:
        return kernels_for<32, UNSIGNED>();
    case HISTO_I32:
        return kernels_for<32, SIGNED>();
    case HISTO_U64:
        return kernels_for<64, UNSIGNED>();
    case HISTO_I64:
        return kernels_for<64, SIGNED>();
    case HISTO_F32:
        return kernels_for<32, FLOAT>();
    case HISTO_F64:
        return kernels_for<64, FLOAT>();
    default:
        return kernels_for<16, FLOAT>();
    }
}

uint64_t infinity_of(histo_dtype dtype)
{
    return dtype == HISTO_F16    ? 0x7c00
           : dtype == HISTO_BF16 ? 0x7f80
           : dtype == HISTO_F32  ? 0x7f800000
                                 : (uint64_t)0x7ff << 52;
}

/* Whether the samples of each run are neighbours, and so is their mask, if there is one, of bytes. */
bool are_neighbours(const histo_cuda_work *w)
{
    const int last = w->iter.ndim - 1;
    return w->aligned && w->where == HISTO_ABSENT &&
           w->iter.strides[0][last] == (int64_t)histo_dtype_size(w->dtypes[0]) &&
           (w->mask == HISTO_ABSENT || (histo_dtype_size(w->dtypes[1]) == 1 && w->iter.strides[1][last] == 1));
}

/* Make each long run a batch entry of the work; returns how many of these an entry of the batch has. */
int64_t split_into_runs(histo_cuda_work *w)
{
    enum { LONG = 1 << 11 /* bytes */ };
    histo_strided_iter *iter = &w->iter;
    const int64_t run = iter->shape[iter->ndim - 1];
    if (iter->offsets || iter->ndim == iter->batch_ndim + 1) return 1;
    if (run * (int64_t)histo_dtype_size(w->dtypes[0]) < LONG) return 0;
    const int64_t rows = iter->per_batch / run;
    iter->batch *= rows;
    iter->per_batch = run;
    iter->batch_ndim = iter->ndim - 1;
    return rows;
}

/* Enqueue the kernel for records of all batch entries, which are cleared. */
histo_status launch(const histo_job *job, record *records)
{
    enum { LEAST = 1 << 13, MOST = 1 << 30 };
    const histo_problem *p = job->problem;
    histo_cuda_work work;
    memset(&work, 0, sizeof work);
    histo_cuda_work_bind(&work, job);
    const kernels its = kernels_of(p->dtypes[0]);
    const int64_t most = histo_cuda_device_of(p->device)->multiprocessors * BLOCKS_EACH;
    int64_t rows = are_neighbours(&work) ? split_into_runs(&work) : 0;
    const void *kernel = rows ? work.mask == HISTO_ABSENT ? its.contiguous : its.masked : its.any;
    histo_cuda_work_cut(&work, most, LEAST, MOST);
    uint64_t infinity = infinity_of(p->dtypes[0]);
    void *of_runs[] = {&work, &infinity, &rows, &records}, *of_any[] = {&work, &infinity, &records};
    return histo_cuda_launch(job, kernel, dim3((unsigned)(work.tiles < most ? work.tiles : most)), THREADS, 0,
                             rows ? of_runs : of_any);
}

/* The host waits for the result, and kernels cannot read all memory. */
histo_status check(const histo_job *job)
{
    bool pinned;
    if (histo_cuda_is_captured((cudaStream_t)job->stream))
        return histo_fail(HISTO_UNSUPPORTED, "extremes cannot be found while their stream is captured into a graph");
    for (int o = 0; o < job->iter.operands; o++)
        if (!histo_cuda_reads(job, o, &pinned))
            return histo_fail(HISTO_UNSUPPORTED, "samples, mask and where must all be in the memory of GPU %d",
                              job->problem->device - HISTO_DEVICE_CUDA(0));
    return HISTO_OK;
}

/* Find the extremes of samples in device memory, by records there. Offsets that the host has are copied there first. */
histo_status find(histo_job *job, histo_staging *staging, histo_found *out)
{
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const size_t records = (size_t)job->iter.batch * sizeof(record);
    const size_t bytes = job->iter.offsets ? ((size_t)job->iter.batch + 1) * sizeof(int64_t) : 0;
    bool pinned;
    histo_status status = histo_staging_found(staging, records + bytes);
    if (status != HISTO_OK) return status;
    status = HISTO_CUDA(cudaMemsetAsync(staging->found, 0, records, stream), "clearing extremes");
    if (status == HISTO_OK && bytes && !histo_cuda_is_direct(job->iter.offsets, job->problem->device, &pinned)) {
        status = HISTO_CUDA(
            cudaMemcpyAsync(staging->found + records, job->iter.offsets, bytes, cudaMemcpyHostToDevice, stream),
            "copying offsets");
        job->iter.offsets = (const int64_t *)(staging->found + records);
    }
    if (status == HISTO_OK) status = launch(job, (record *)staging->found);
    void *to = records <= HISTO_REPLY_BYTES ? (void *)staging->reply : (void *)out;
    if (status == HISTO_OK)
        status = HISTO_CUDA(cudaMemcpyAsync(to, staging->found, records, cudaMemcpyDeviceToHost, stream),
                            "reading extremes");
    const histo_status last = HISTO_CUDA(cudaStreamSynchronize(stream), "finding extremes");
    if (status == HISTO_OK) status = last;
    if (status == HISTO_OK && to != (void *)out) memcpy(out, to, records);
    for (int64_t b = 0; b < job->iter.batch && status == HISTO_OK; b++)
        out[b].least = ~out[b].least;
    return status;
}

} // namespace

histo_status histo_cuda_extremes(const histo_job *job, histo_found *out)
{
    return histo_with_staging(job, check, [=](histo_staging *staging) {
        histo_job with_offsets = *job;
        return find(&with_offsets, staging, out);
    });
}
