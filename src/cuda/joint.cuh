/* Samples to slots for several axes, each of one long run of samples: readers like those of slots.cuh, that load what
 * comes next before they turn what they have into slots. A kernel's block takes whole tiles:
 *
 *     histo_joint_tile tile = histo_tile_joint(&work, &joint, item);
 *     histo_ahead_columns ahead;
 *     if (tile.length) histo_load_columns(&work, &joint, &tile, 0, &ahead);
 *     HISTO_FOR_STEPS(columns, tile, at) {
 *         uint32_t slot[HISTO_SAMPLES_columns];
 *         bool all = histo_take_columns(&work, &joint, shared, &tile, at, &ahead, slot);
 *         … count slot[k], unless it is HISTO_NO_SLOT, which is none if `all`
 *     }
 *
 * columns  any types and layouts, up to 8 axes: of each axis 8 samples of a thread at once, in vectors where they are
 *          contiguous and aligned; types are told apart once for them
 * f32x2    the same for two columns of f32
 * u32x2, u16x2   two columns on axes whose bins are 2^k values and begin at multiples of that
 * pixels   2 to 4 axes of unsigned bytes, interleaved or in columns: a pixel is a word
 *
 * Where pixels' counters are compact, they have readers of their own, by groups (histo_groups_of). */
#ifndef CUDA_JOINT_CUH
#define CUDA_JOINT_CUH

#include "cuda/firsts.cuh"

#define HISTO_SAMPLES_columns 8
#define HISTO_SAMPLES_f32x2 8
#define HISTO_SAMPLES_u32x2 8
#define HISTO_SAMPLES_u16x2 8
#define HISTO_SAMPLES_pixels 16

/* Neighbouring samples of a thread. */
enum { HISTO_RUN_columns = 4, HISTO_RUN_f32x2 = 4, HISTO_RUN_u32x2 = 4, HISTO_RUN_u16x2 = 8 };

#define HISTO_JOINT_READERS(X) X(columns) X(f32x2) X(u32x2) X(u16x2) X(pixels)
typedef enum histo_joint_reader {
    histo_read_columns,
    histo_read_f32x2,
    histo_read_u32x2,
    histo_read_u16x2,
    histo_read_pixels,
    HISTO_JOINT_READER_COUNT,
    HISTO_NOT_JOINT = HISTO_JOINT_READER_COUNT /* one of slots.cuh reads it */
} histo_joint_reader;

enum { HISTO_MAX_CHANNELS = 4 };

typedef struct histo_joint {
    uint8_t sizes[HISTO_MAX_AXES];   /* of samples */
    uint8_t run;                     /* neighbouring samples of a thread, in columns */
    uint32_t firsts[HISTO_MAX_AXES]; /* bytes to the tables of floats' axes, less those to HISTO_GUESS_0; 0: none */
    uint32_t origin;                 /* what slots are before the axes' parts, as guesses by the tables have one more */
    /* u32x2 and u16x2. Samples of [begin, begin + extent) are in the axis' bins: their part of the slot is
     * part + (sample >> shift) * stride. */
    uint32_t begin[2], extent[2], part[2];
    /* Pixels. An axis' byte is `byte[axis]` of the word; of columns, the axis' number. */
    uint32_t pitch;  /* bytes from a pixel to the next: 3 or 4, or 1 for columns; 0: they are no pixels */
    uint32_t behind; /* 1: the last pixel's last byte may be nobody's to read; else 0 */
    uint32_t byte[HISTO_MAX_CHANNELS];
    /* Where each axis' bins are 2^k values and all values of a byte are on it: slot = first + the sum of
     * (word >> shift & mask) * stride. */
    bool by_bits;
    uint32_t first, shift[HISTO_MAX_CHANNELS], mask[HISTO_MAX_CHANNELS], stride[HISTO_MAX_CHANNELS];
    /* Compact counters leave out those of underflow, overflow and NaN, which no byte has: the sum of (word >> shift &
     * mask) << log_stride; or, of the word's bytes shifted down by `low`, with what `keep` leaves of them, the sum of
     * each times its factor. */
    uint32_t log_stride[HISTO_MAX_CHANNELS], low;
    uint32_t keep[3];    /* of bytes 0 1 2 3, where they are 4; of 0 1 2 0, 1 2 0 1, 2 0 1 2, where they are 3 */
    uint32_t factors[4]; /* pairs of 16 bits: of bytes 0 and 1, of 2 and 3, of none and 0, of 1 and 2 */
} histo_joint;

/* ---- On the host (joint.cu) ---- */

/* The reader for the work, and what it has to know; firsts are all 0. */
histo_joint_reader histo_cuda_joint_of(const histo_cuda_work *work, histo_joint *joint);

/* Could a plan's jobs be read by pixels, each of whose axes has bins of 2^k values? The number of compact counters, or
 * 0. */
uint32_t histo_cuda_compact_of(const histo_problem *problem);

/* What compact counters need to know. */
void histo_cuda_make_compact(histo_joint *joint, int naxes);

/* Words of the tables of first floats, of axes of some thousand bins at most; from word `at` of shared memory on, if
 * `joint` is not NULL. */
uint32_t histo_cuda_firsts_of(const histo_problem *problem, uint32_t at, histo_joint *joint);

/* ---- Shares ---- */

/* One that the readers know less of than of others, so that it takes few registers. */
typedef struct histo_joint_tile {
    int64_t entry, first; /* of the batch; sample of the entry */
    const char *at[2];    /* the first two columns' first samples; or the first pixel's byte 0 */
    uint32_t length;
    uint32_t vectors; /* a bit for each axis: are a thread's runs aligned vectors? */
    uint32_t steady;  /* of two columns: steps that begin before are whole and in vectors, and those that follow them */
} histo_joint_tile;

/* Address of an operand's first sample. At most the first dimension is the batch's. */
HISTO_IN_KERNEL const char *histo_column(const histo_cuda_work *w, const histo_joint_tile *tile, int axis)
{
    const int64_t *strides = w->iter.strides[axis];
    if (w->iter.batch_ndim == 0) return w->iter.base[axis] + tile->first * strides[0];
    return w->iter.base[axis] + tile->entry * strides[0] + tile->first * strides[1];
}

HISTO_IN_KERNEL histo_joint_tile histo_tile_joint(const histo_cuda_work *w, const histo_joint *j, int64_t item)
{
    histo_tile plain = histo_tile_any(w, item);
    const uint32_t two_steps = 2 * HISTO_SAMPLES_columns * blockDim.x;
    histo_joint_tile tile = {plain.entry, plain.index[0], {NULL, NULL}, plain.length, 0, 0};
    if (w->iter.batch_ndim) tile.first = plain.index[1];
#pragma unroll 1
    for (int axis = 0; axis < w->naxes; axis++) {
        uint64_t size = j->sizes[axis], vector = size * j->run < 16 ? size * j->run : 16;
        bool is_run = (uint64_t)w->iter.strides[axis][w->iter.batch_ndim] == size;
        tile.vectors |= (uint32_t)(is_run && (uint64_t)histo_column(w, &tile, axis) % vector == 0) << axis;
    }
    tile.at[0] = histo_column(w, &tile, 0) - (j->pitch > 1 ? j->byte[0] : 0);
    tile.at[1] = histo_column(w, &tile, 1);
    if ((tile.vectors & 3) == 3 && tile.length >= two_steps) tile.steady = tile.length - two_steps + 1;
    return tile;
}

/* ---- Columns ---- */

typedef struct histo_ahead_columns {
    uint32_t words[2 * HISTO_SAMPLES_columns]; /* 8 samples */
} histo_ahead_columns;

/* Of the tile, the k-th sample of a thread's in the step `at`. run: neighbouring samples of a thread. */
HISTO_IN_KERNEL uint32_t histo_column_index(uint32_t at, int k, int run)
{
    return at + ((uint32_t)(k / run) * blockDim.x + threadIdx.x) * (uint32_t)run + (uint32_t)(k % run);
}

HISTO_IN_KERNEL bool histo_column_ends(const histo_joint_tile *tile, uint32_t at)
{
    return at + blockDim.x * HISTO_SAMPLES_columns > tile->length;
}

/* What is loaded in vectors stays in whole words: to be taken apart, it would be waited for. */
#define HISTO_LOAD_COLUMN(size, type, vector)                                                                          \
    {                                                                                                                  \
        const int each = run * size / (int)sizeof(vector);                                                             \
        vector v[HISTO_SAMPLES_columns * size / sizeof(vector)];                                                       \
        if (tile->vectors >> axis & 1 && !histo_column_ends(tile, at)) {                                               \
            _Pragma("unroll") for (int k = 0; k < HISTO_SAMPLES_columns; k += run)                                     \
            {                                                                                                          \
                const vector *these = (const vector *)(from + (int64_t)histo_column_index(at, k, run) * size);         \
                _Pragma("unroll") for (int e = 0; e < each; e++) v[k / run * each + e] = __ldcs(these + e);            \
            }                                                                                                          \
            memcpy(ahead->words, v, sizeof v);                                                                         \
        } else {                                                                                                       \
            const int64_t stride = w->iter.strides[axis][w->iter.batch_ndim];                                          \
            type x[HISTO_SAMPLES_columns];                                                                             \
            _Pragma("unroll") for (int k = 0; k < HISTO_SAMPLES_columns; k++) x[k] =                                   \
                *(const type *)(from + min(histo_column_index(at, k, run), tile->length - 1) * stride);                \
            memcpy(ahead->words, x, sizeof x);                                                                         \
        }                                                                                                              \
        break;                                                                                                         \
    }

/* Samples beyond the tile are its last one. from: the column's first. */
HISTO_IN_KERNEL void histo_load_column(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t at, int axis,
                                       const char *from, int size, int run, histo_ahead_columns *ahead)
{
    switch (size) {
    case 1:
        HISTO_LOAD_COLUMN(1, uint8_t, uint32_t)
    case 2:
        if (run * 2 == sizeof(uint4)) HISTO_LOAD_COLUMN(2, uint16_t, uint4)
        HISTO_LOAD_COLUMN(2, uint16_t, uint2)
    case 4:
        HISTO_LOAD_COLUMN(4, uint32_t, uint4)
    default:
        HISTO_LOAD_COLUMN(8, uint64_t, uint4)
    }
}

/* Add an axis' part to the slots, which begin as j->origin. */
HISTO_IN_KERNEL void histo_add_column(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared, int axis,
                                      int dtype, const histo_ahead_columns *now, uint32_t *slot)
{
    const histo_lookup *l = &w->lookups[axis];
    uint32_t its[HISTO_SAMPLES_columns];
    if (dtype == HISTO_F32 && j->firsts[axis]) {
        float x[HISTO_SAMPLES_columns];
        memcpy(x, now->words, sizeof x);
        histo_add_by_firsts(l, (uint32_t)__cvta_generic_to_shared(shared) + j->firsts[axis], x, w->slot_strides[axis],
                            slot, HISTO_SAMPLES_columns);
        return;
    }
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        enum { N = HISTO_SAMPLES_columns, MAX = HISTO_SAMPLES_##name < N ? HISTO_SAMPLES_##name : N };                 \
        storage x[N];                                                                                                  \
        memcpy(x, now->words, sizeof x);                                                                               \
        _Pragma("unroll") for (int k = 0; k < N; k += MAX) histo_n_slots_of_##name(l, x + k, its + k, MAX);            \
        break;                                                                                                         \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    }
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_columns; k++)
        slot[k] += its[k] * w->slot_strides[axis];
}

HISTO_IN_KERNEL bool histo_cut_columns(const histo_joint_tile *tile, uint32_t at, int run, uint32_t *slot)
{
    if (!histo_column_ends(tile, at)) return true;
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_columns; k++)
        slot[k] = histo_column_index(at, k, run) < tile->length ? slot[k] : HISTO_NO_SLOT;
    return false;
}

HISTO_IN_KERNEL void histo_load_columns(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                        uint32_t at, histo_ahead_columns *ahead)
{
    histo_load_column(w, tile, at, 0, tile->at[0], j->sizes[0], HISTO_RUN_columns, ahead);
}

HISTO_IN_KERNEL bool histo_take_columns(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                        const histo_joint_tile *tile, uint32_t at, histo_ahead_columns *ahead,
                                        uint32_t *slot)
{
    uint32_t step = blockDim.x * HISTO_SAMPLES_columns;
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_columns; k++)
        slot[k] = j->origin;
#pragma unroll 1
    for (int axis = 0; axis < w->naxes; axis++) {
        histo_ahead_columns now = *ahead;
        bool is_last = axis + 1 == w->naxes;
        int next = is_last ? 0 : axis + 1;
        if (!is_last || at + step < tile->length)
            histo_load_column(w, tile, is_last ? at + step : at, next, histo_column(w, tile, next), j->sizes[next],
                              HISTO_RUN_columns, ahead);
        histo_add_column(w, j, shared, axis, w->dtypes[axis], &now, slot);
    }
    return histo_cut_columns(tile, at, HISTO_RUN_columns, slot);
}

/* Add an axis' part, of bins of 2^k values, to the slots. All of a thread's samples are looked up as if they were inner
 * ones, and again if one is not. */
HISTO_IN_KERNEL void histo_add_pow2_u16x2(const histo_cuda_work *w, const histo_joint *j, int axis,
                                          const uint32_t *words, uint32_t *slot)
{
    uint32_t below = (0 - j->begin[axis]) & 0xffff, shift = j->shift[axis], highest = 0;
    uint32_t bins[HISTO_SAMPLES_u16x2 / 2];
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_u16x2 / 2; k++) {
        highest = __viaddmax_u16x2(words[k], below << 16 | below, highest);
        bins[k] = words[k];
    }
    if (shift)
#pragma unroll
        for (int k = 0; k < HISTO_SAMPLES_u16x2 / 2; k++)
            bins[k] = words[k] >> shift & 0xffffu >> shift << 16 | (words[k] & 0xffff) >> shift;
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_u16x2; k++) {
        uint32_t bin = k % 2 ? bins[k / 2] >> 16 : bins[k / 2] & 0xffff;
        slot[k] = axis == 1 ? __dp2a_lo(bins[k / 2], k % 2 ? 0x100u : 1u, slot[k]) : slot[k] + bin * j->stride[axis];
    }
    if (max(highest & 0xffff, highest >> 16) >= j->extent[axis])
#pragma unroll
        for (int k = 0; k < HISTO_SAMPLES_u16x2; k++) {
            uint32_t x = words[k / 2] >> (k % 2 * 16) & 0xffff, bin = histo_by_pow2_u16(&w->lookups[axis], (uint16_t)x);
            slot[k] += (bin - (x >> shift)) * j->stride[axis] - j->part[axis];
        }
}

HISTO_IN_KERNEL void histo_add_pow2_u32x2(const histo_cuda_work *w, const histo_joint *j, int axis,
                                          const uint32_t *words, uint32_t *slot)
{
    uint32_t shift = j->shift[axis], highest = 0;
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_u32x2; k++)
        highest = __viaddmax_u32(words[k], 0 - j->begin[axis], highest);
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_u32x2; k++)
        slot[k] += (words[k] >> shift) * j->stride[axis];
    if (highest >= j->extent[axis])
#pragma unroll
        for (int k = 0; k < HISTO_SAMPLES_u32x2; k++)
            slot[k] += (histo_by_pow2_u32(&w->lookups[axis], words[k]) - (words[k] >> shift)) * j->stride[axis] -
                       j->part[axis];
}

/* Where a thread's runs are vectors of 16 bytes, and the step is whole. */
HISTO_IN_KERNEL void histo_load_whole_column(uint32_t at, const char *from, int size, int run,
                                             histo_ahead_columns *ahead)
{
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_columns; k += run) {
        const uint4 v = __ldcs((const uint4 *)(from + (uint64_t)histo_column_index(at, k, run) * size));
        memcpy(ahead->words + k * size / (int)sizeof *ahead->words, &v, sizeof v);
    }
}

/* Two columns of a type. add(axis): what adds an axis' part to the slots, which begin as `begin`. */
#define HISTO_DEFINE_PAIR(reader, size, begin, add)                                                                    \
    typedef histo_ahead_columns histo_ahead_##reader;                                                                  \
    HISTO_IN_KERNEL void histo_load_##reader(const histo_cuda_work *w, const histo_joint *,                            \
                                             const histo_joint_tile *tile, uint32_t at, histo_ahead_columns *ahead)    \
    {                                                                                                                  \
        histo_load_column(w, tile, at, 0, tile->at[0], size, HISTO_RUN_##reader, ahead);                               \
    }                                                                                                                  \
    HISTO_IN_KERNEL bool histo_take_##reader(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,   \
                                             const histo_joint_tile *tile, uint32_t at, histo_ahead_columns *ahead,    \
                                             uint32_t *slot)                                                           \
    {                                                                                                                  \
        const uint32_t next = at + blockDim.x * HISTO_SAMPLES_columns;                                                 \
        const bool is_steady = at < tile->steady;                                                                      \
        (void)shared;                                                                                                  \
        _Pragma("unroll") for (int k = 0; k < HISTO_SAMPLES_columns; k++) slot[k] = begin;                             \
        histo_ahead_columns now = *ahead, second;                                                                      \
        if (is_steady)                                                                                                 \
            histo_load_whole_column(at, tile->at[1], size, HISTO_RUN_##reader, &second);                               \
        else                                                                                                           \
            histo_load_column(w, tile, at, 1, tile->at[1], size, HISTO_RUN_##reader, &second);                         \
        add(0);                                                                                                        \
        if (is_steady)                                                                                                 \
            histo_load_whole_column(next, tile->at[0], size, HISTO_RUN_##reader, ahead);                               \
        else if (next < tile->length)                                                                                  \
            histo_load_column(w, tile, next, 0, tile->at[0], size, HISTO_RUN_##reader, ahead);                         \
        now = second;                                                                                                  \
        add(1);                                                                                                        \
        return is_steady || histo_cut_columns(tile, at, HISTO_RUN_##reader, slot);                                     \
    }
#define HISTO_ADD_f32x2(axis) histo_add_column(w, j, shared, axis, HISTO_F32, &now, slot)
#define HISTO_ADD_u32x2(axis) histo_add_pow2_u32x2(w, j, axis, now.words, slot)
#define HISTO_ADD_u16x2(axis) histo_add_pow2_u16x2(w, j, axis, now.words, slot)
HISTO_DEFINE_PAIR(f32x2, 4, j->origin, HISTO_ADD_f32x2)
HISTO_DEFINE_PAIR(u32x2, 4, j->part[0] + j->part[1], HISTO_ADD_u32x2)
HISTO_DEFINE_PAIR(u16x2, 2, j->part[0] + j->part[1], HISTO_ADD_u16x2)
#undef HISTO_ADD_f32x2
#undef HISTO_ADD_u32x2
#undef HISTO_ADD_u16x2

/* The tables of first floats, in a block's shared memory. */
HISTO_IN_KERNEL void histo_load_joint_firsts(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
{
#pragma unroll 1
    for (int axis = 0; axis < w->naxes; axis++)
        if (j->firsts[axis])
            histo_load_firsts<false>(&w->lookups[axis], shared + (uint32_t)(j->firsts[axis] / sizeof(float) +
                                                                            histo_firsts_word<false>(HISTO_GUESS_0)) %
                                                                     (1 << 30));
}

/* ---- Pixels ---- */

enum { HISTO_WARP_PIXELS = 32 * HISTO_SAMPLES_pixels, HISTO_GROUP_BYTES = 32 * sizeof(uint4) /* side by side */ };

/* A step's vectors; `all`: they are there, and the warp's pixels are all in the tile. */
typedef struct histo_ahead_pixels {
    uint4 words[HISTO_MAX_CHANNELS];
    bool all;
} histo_ahead_pixels;

/* Where the first pixel begins, or a column; all of them have the same strides. */
HISTO_IN_KERNEL const char *histo_pixels_of(const histo_cuda_work *w, const histo_joint *j,
                                            const histo_joint_tile *tile, int column)
{
    return j->pitch > 1 ? tile->at[0] : w->iter.base[column] + (tile->at[0] - w->iter.base[0]);
}

HISTO_IN_KERNEL void histo_load_pixels(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                       uint32_t at, histo_ahead_pixels *ahead)
{
    uint32_t first = at + threadIdx.x / 32 * HISTO_WARP_PIXELS, lane = threadIdx.x % 32;
    uint32_t vectors = j->pitch > 1 ? j->pitch : (uint32_t)w->naxes;
    ahead->all = first + HISTO_WARP_PIXELS + j->behind <= tile->length;
#pragma unroll
    for (uint32_t v = 0; v < HISTO_MAX_CHANNELS; v++)
        if (v < vectors) ahead->all &= (uint64_t)histo_pixels_of(w, j, tile, (int)v) % sizeof(uint4) == 0;
    if (!ahead->all) return;
#pragma unroll
    for (uint32_t v = 0; v < HISTO_MAX_CHANNELS; v++)
        if (v < vectors) {
            const char *from = histo_pixels_of(w, j, tile, (int)v) + (int64_t)first * j->pitch;
            ahead->words[v] = __ldcs((const uint4 *)from + (j->pitch > 1 ? v * 32 : 0) + lane);
        }
}

/* Pixels of three bytes. Lanes hold vectors that are side by side, each of five pixels and one byte of another: which
 * byte of a pixel a vector begins with depends on its number modulo 3. One thread's three vectors are of each kind, so
 * that it has 16 pixels: those that begin in its vectors. */
HISTO_IN_KERNEL void histo_split_threes(const uint4 *words, uint32_t *pixel)
{
    uint32_t lane = threadIdx.x % 32, sixth = 0;
#pragma unroll
    for (uint32_t v = 0; v < 3; v++) {
        uint32_t kind = (lane + 2 * v) % 3, shift = (3 - kind) % 3 * 8;
        uint32_t given = v < 2 && lane == 0 ? words[v + 1 < 3 ? v + 1 : v].x : words[v].x;
        uint32_t next = __shfl_sync(~0u, given, (int)(lane + 1) % 32);
        uint32_t a = __funnelshift_r(words[v].x, words[v].y, shift), b = __funnelshift_r(words[v].y, words[v].z, shift);
        uint32_t c = __funnelshift_r(words[v].z, words[v].w, shift), d = __funnelshift_r(words[v].w, next, shift);
        pixel[5 * v] = a;
        pixel[5 * v + 1] = __funnelshift_r(a, b, 24);
        pixel[5 * v + 2] = __funnelshift_r(b, c, 16);
        pixel[5 * v + 3] = c >> 8;
        pixel[5 * v + 4] = d;
        sixth = kind == 0 ? __funnelshift_r(words[v].w, next, 24) : sixth;
    }
    pixel[15] = sixth;
}

HISTO_IN_KERNEL void histo_split_fours(const uint4 *words, uint32_t *pixel)
{
#pragma unroll
    for (int v = 0; v < 4; v++) {
        pixel[4 * v] = words[v].x;
        pixel[4 * v + 1] = words[v].y;
        pixel[4 * v + 2] = words[v].z;
        pixel[4 * v + 3] = words[v].w;
    }
}

HISTO_IN_KERNEL void histo_join_columns(const uint4 *words, int columns, uint32_t *pixel)
{
    const uint32_t x[4][4] = {{words[0].x, words[0].y, words[0].z, words[0].w},
                              {words[1].x, words[1].y, words[1].z, words[1].w},
                              {words[2].x, words[2].y, words[2].z, words[2].w},
                              {words[3].x, words[3].y, words[3].z, words[3].w}};
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_pixels; k++) {
        pixel[k] = __byte_perm(x[0][k / 4], x[1][k / 4], (uint32_t)(k % 4) | (uint32_t)(4 + k % 4) << 4);
        if (columns > 2) pixel[k] = __byte_perm(pixel[k], x[2][k / 4], 0x10 | (uint32_t)(4 + k % 4) << 8);
        if (columns > 3) pixel[k] = __byte_perm(pixel[k], x[3][k / 4], 0x210 | (uint32_t)(4 + k % 4) << 12);
    }
}

/* Byte by byte. */
HISTO_IN_KERNEL uint32_t histo_pixel_at(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                        uint32_t index)
{
    uint32_t pixel = 0;
#pragma unroll 1
    for (int axis = 0; axis < w->naxes; axis++) {
        const uint8_t *column = (const uint8_t *)histo_pixels_of(w, j, tile, axis) + (j->pitch > 1 ? j->byte[axis] : 0);
        pixel |= (uint32_t)column[(int64_t)index * j->pitch] << (8 * j->byte[axis]);
    }
    return pixel;
}

/* Pixels beyond the tile are its last one. there: bit k is set if pixel k is none of these. */
HISTO_IN_KERNEL uint32_t histo_fetch_pixels(const histo_cuda_work *w, const histo_joint *j,
                                            const histo_joint_tile *tile, uint32_t at, uint32_t *pixel)
{
    uint32_t first = at + threadIdx.x / 32 * HISTO_WARP_PIXELS + threadIdx.x % 32, there = 0;
#pragma unroll 1
    for (int k = 0; k < HISTO_SAMPLES_pixels; k++) {
        uint32_t index = first + (uint32_t)k * 32, it = histo_pixel_at(w, j, tile, min(index, tile->length - 1));
        there |= (uint32_t)(index < tile->length) << k;
#pragma unroll
        for (int i = 0; i < HISTO_SAMPLES_pixels; i++) /* keeps pixel[] in registers */
            pixel[i] = i == k ? it : pixel[i];
    }
    return there;
}

/* The counters of pixels, which these become. */
HISTO_IN_KERNEL void histo_count_pixels(const histo_cuda_work *w, const histo_joint *j, int axes, uint32_t *pixel)
{
    if (j->by_bits)
#pragma unroll
        for (int k = 0; k < HISTO_SAMPLES_pixels; k++) {
            uint32_t counter = j->first;
#pragma unroll
            for (int axis = 0; axis < axes; axis++)
                counter += (pixel[k] >> j->shift[axis] & j->mask[axis]) * j->stride[axis];
            pixel[k] = counter;
        }
    else
#pragma unroll
        for (int k = 0; k < HISTO_SAMPLES_pixels; k++) {
            uint32_t counter = 0;
#pragma unroll
            for (int axis = 0; axis < axes; axis++)
                counter += __ldg(&w->lookups[axis].table[pixel[k] >> 8 * j->byte[axis] & 255]) * j->stride[axis];
            pixel[k] = counter;
        }
}

HISTO_IN_KERNEL bool histo_take_pixels(const histo_cuda_work *w, const histo_joint *j, const uint32_t *,
                                       const histo_joint_tile *tile, uint32_t at, histo_ahead_pixels *ahead,
                                       uint32_t *slot)
{
    uint32_t there = ~0u, next = at + blockDim.x * HISTO_SAMPLES_pixels;
    bool all = ahead->all;
    if (!all)
        there = histo_fetch_pixels(w, j, tile, at, slot);
    else if (j->pitch == 3)
        histo_split_threes(ahead->words, slot);
    else if (j->pitch == 4)
        histo_split_fours(ahead->words, slot);
    else
        histo_join_columns(ahead->words, w->naxes, slot);
    if (next < tile->length) histo_load_pixels(w, j, tile, next, ahead);
    if (w->naxes == 3)
        histo_count_pixels(w, j, 3, slot);
    else if (w->naxes == 4)
        histo_count_pixels(w, j, 4, slot);
    else
        histo_count_pixels(w, j, 2, slot);
    if (!all)
#pragma unroll
        for (int k = 0; k < HISTO_SAMPLES_pixels; k++)
            slot[k] = there >> k & 1 ? slot[k] : HISTO_NO_SLOT;
    return all;
}

/* ---- Compact counters of pixels ---- */

/* The slot of a compact counter. */
HISTO_IN_KERNEL uint32_t histo_slot_of_compact(const histo_joint *j, uint32_t counter)
{
    uint32_t slot = j->first;
#pragma unroll
    for (int axis = 0; axis < HISTO_MAX_CHANNELS; axis++) /* absent ones have no mask */
        slot += (counter >> j->log_stride[axis] & j->mask[axis]) * j->stride[axis];
    return slot;
}

/* The tile, cut into groups of a warp's pixels so that vectors of whole ones are aligned. */
typedef struct histo_groups {
    int32_t first;  /* pixel of the first group, at or before the tile's first: -511 to 0 */
    uint32_t whole; /* groups are whole whose first pixel is 0 or more and less than this */
} histo_groups;

template <int PITCH>
HISTO_IN_KERNEL histo_groups histo_groups_of(const histo_cuda_work *w, const histo_joint *j,
                                             const histo_joint_tile *tile)
{
    /* Pixels up to a multiple of a vector's bytes; 3 * 11 is 1 modulo 16. */
    uint32_t bytes = -(uint32_t)(uint64_t)tile->at[0] % sizeof(uint4);
    uint32_t head = PITCH == 4 ? bytes / 4 : bytes * (PITCH == 3 ? 11 : 1) % sizeof(uint4);
    uint32_t needed = HISTO_WARP_PIXELS + j->behind;
    histo_groups groups = {head ? (int32_t)head - (int32_t)HISTO_WARP_PIXELS : 0,
                           tile->length < needed ? 0 : tile->length - needed + 1};
    for (int axis = 0; axis < w->naxes; axis++)
        if (((uint64_t)histo_pixels_of(w, j, tile, axis) + head * PITCH) % sizeof(uint4)) groups.whole = 0;
    return groups;
}

/* A vector of a whole group, one of PITCH, or of columns, one for each. */
template <int PITCH>
HISTO_IN_KERNEL const uint4 *histo_vector_of(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t first,
                                             int v)
{
    const char *at = tile->at[0] + (uint64_t)first * PITCH + threadIdx.x % 32 * sizeof(uint4);
    return (const uint4 *)(PITCH > 1 ? at + v * HISTO_GROUP_BYTES : at + (w->iter.base[v] - w->iter.base[0]));
}

/* Ask for a whole group that comes next. It takes no registers, which are scarce where counting is. */
template <int PITCH>
HISTO_IN_KERNEL void histo_prefetch_group(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t first)
{
#pragma unroll
    for (int v = 0; v < (PITCH > 1 ? PITCH : (int)HISTO_MAX_CHANNELS); v++)
        if (PITCH > 1 || v < w->naxes)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(histo_vector_of<PITCH>(w, tile, first, v)));
}

/* Of a pixel shifted down by `low`. */
HISTO_IN_KERNEL uint32_t histo_compact_pixel(const histo_joint *j, uint32_t pixel)
{
    pixel &= j->keep[0];
    return __dp2a_hi(j->factors[1], pixel, __dp2a_lo(j->factors[0], pixel, 0u));
}

/* Pixels of three bytes. Lanes hold vectors that are side by side, each of five pixels and one byte of another: which
 * byte of a pixel a vector begins with depends on its number modulo 3. One thread's three vectors are of each kind, so
 * that it has 16 pixels: those that begin in its vectors. */
HISTO_IN_KERNEL void histo_compact_threes(const histo_joint *j, const uint4 *words, uint32_t *counter)
{
    uint32_t lane = threadIdx.x % 32, skip = 2 * lane % 3, sixth = 0; /* bytes before a vector's first pixel */
#pragma unroll
    for (uint32_t v = 0; v < 3; v++) {
        uint32_t shift = skip * 8 + j->low;
        uint32_t given = v < 2 && lane == 0 ? words[v + 1 < 3 ? v + 1 : v].x : words[v].x;
        uint32_t next = __shfl_sync(~0u, given, (int)(lane + 1) % 32);
        uint32_t a = __funnelshift_r(words[v].x, words[v].y, shift) & j->keep[0];
        uint32_t b = __funnelshift_r(words[v].y, words[v].z, shift) & j->keep[1];
        uint32_t c = __funnelshift_r(words[v].z, words[v].w, shift) & j->keep[2];
        counter[5 * v] = histo_compact_pixel(j, a);
        counter[5 * v + 1] = __dp2a_lo(j->factors[3], b, __dp2a_hi(j->factors[2], a, 0u));
        counter[5 * v + 2] = __dp2a_lo(j->factors[1], c, __dp2a_hi(j->factors[0], b, 0u));
        counter[5 * v + 3] = __dp2a_hi(j->factors[3], c, __dp2a_lo(j->factors[2], c, 0u));
        counter[5 * v + 4] = histo_compact_pixel(j, __funnelshift_r(words[v].w, next, shift));
        sixth = skip == 0 ? __funnelshift_r(words[v].w, next, 24 + j->low) : sixth;
        skip = skip == 2 ? 0 : skip + 1;
    }
    counter[15] = histo_compact_pixel(j, sixth);
}

/* The counters of a whole group. */
template <int PITCH>
HISTO_IN_KERNEL void histo_compact_group(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                         uint32_t first, uint32_t *counter)
{
    uint4 words[HISTO_MAX_CHANNELS] = {};
#pragma unroll
    for (int v = 0; v < (PITCH > 1 ? PITCH : (int)HISTO_MAX_CHANNELS); v++)
        if (PITCH > 1 || v < w->naxes) words[v] = __ldcs(histo_vector_of<PITCH>(w, tile, first, v));
    if (PITCH == 3) {
        histo_compact_threes(j, words, counter);
        return;
    }
    if (PITCH == 4)
        histo_split_fours(words, counter);
    else
        histo_join_columns(words, HISTO_MAX_CHANNELS, counter);
#pragma unroll
    for (int k = 0; k < HISTO_SAMPLES_pixels; k++)
        counter[k] = histo_compact_pixel(j, counter[k] >> j->low);
}

/* The counters of any group; `none` for pixels that are not in the tile. */
HISTO_IN_KERNEL void histo_compact_any(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                       uint32_t first, uint32_t none, uint32_t *counter)
{
#pragma unroll 1
    for (int k = 0; k < HISTO_SAMPLES_pixels; k++) {
        uint32_t index = first + (uint32_t)k * 32 + threadIdx.x % 32, its = none;
        if (index < tile->length) its = histo_compact_pixel(j, histo_pixel_at(w, j, tile, index) >> j->low);
#pragma unroll
        for (int i = 0; i < HISTO_SAMPLES_pixels; i++) /* keeps counter[] in registers */
            counter[i] = i + 1 < HISTO_SAMPLES_pixels ? counter[i + 1] : its;
    }
}

#endif
