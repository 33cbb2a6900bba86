/* Readers of several axes, each one long run of samples. Like those of device/reader.cuh they turn a step of a tile
 * into slots, but they load the next step before they look up this one:
 *
 *     histo_joint_tile tile = reader::tile(&work, &joint, item);
 *     reader::loaded loaded;
 *     if (tile.length) reader::load(&work, &joint, &tile, 0, &loaded);
 *     for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
 *         uint32_t slot[reader::PER_STEP];
 *         bool all = reader::slots(&work, &joint, shared, &tile, at, &loaded, slot);
 *         … count slot[k], unless it is HISTO_NO_SLOT, which none is if `all`
 *     }
 *
 * - histo_columns_reader: any types and layouts, up to 8 axes; 8 samples of each axis at once, in vectors where they
 *   are contiguous and aligned. The switch over the type is taken once for them.
 * - histo_pair_reader<type>: two columns of a type, f32 on axes that have tables of first floats, or u32 and u16 on
 *   axes whose bins are 2^k integers.
 * - histo_pixels_reader: 2 to 4 axes of unsigned bytes, interleaved or in columns; a pixel is a word.
 *
 * Where the counters of pixels are compact, they are read in groups instead (histo_groups_of). */
#ifndef CUDA_DEVICE_SEVERAL_AXES_CUH
#define CUDA_DEVICE_SEVERAL_AXES_CUH

#include "cuda/device/first_floats.cuh"
#include "cuda/device/reader.cuh"

enum { HISTO_MAX_CHANNELS = 4 };
enum { HISTO_COLUMN_SAMPLES = 8 /* of a thread and step, of each axis */, HISTO_PIXELS = 16 };
enum { HISTO_COLUMN_RUN = 4 /* consecutive samples of a thread, of mixed types */ };

typedef enum histo_joint_reader {
    histo_read_columns,
    histo_read_f32x2,
    histo_read_u32x2,
    histo_read_u16x2,
    histo_read_pixels,
    HISTO_JOINT_READER_COUNT,
    HISTO_NOT_JOINT = HISTO_JOINT_READER_COUNT /* histo_any_layout reads it */
} histo_joint_reader;

typedef struct histo_joint {
    uint8_t sizes[HISTO_MAX_AXES];         /* of samples */
    uint8_t run;                           /* consecutive samples of a thread, in columns */
    uint32_t first_floats[HISTO_MAX_AXES]; /* the axis' table, as histo_add_by_first_floats takes it, relative to shared
                                        memory; 0: none */
    uint32_t tables[HISTO_MAX_AXES]; /* words before the axis' table in shared memory (jit/specialised_lookup.cuh) */
    uint32_t origin; /* where slots start: it takes off the HISTO_GUESS_0 of histo_add_by_first_floats */
    /* u32 and u16 pairs. The part of the slot of a sample in [begin, begin + extent), which is in the axis' bins, is
     * part + (sample >> shift) * stride. */
    uint32_t begin[2], extent[2], part[2];
    /* Pixels. byte[axis] is the axis' byte of the word; for columns, the axis' number. */
    uint32_t pitch;    /* bytes from a pixel to the next: 3 or 4, or 1 for columns; 0: not pixels */
    uint32_t overhang; /* 1: the last byte of the last pixel may lie outside the allocation; else 0 */
    uint32_t byte[HISTO_MAX_CHANNELS];
    /* by_shift: each axis' bins are 2^k integers and hold all values of a byte. Then slot = first + the sum of
     * (word >> shift & mask) * stride. */
    bool by_shift;
    uint32_t first, shift[HISTO_MAX_CHANNELS], mask[HISTO_MAX_CHANNELS], stride[HISTO_MAX_CHANNELS];
    /* Compact counters leave out underflow, overflow and NaN, which no byte has: the sum of (word >> shift & mask) <<
     * log_stride. As dot products: shift the word down by `low`, keep the bits `keep`, and sum each byte times its
     * factor. */
    uint32_t log_stride[HISTO_MAX_CHANNELS], low;
    uint32_t keep[3];    /* pitch 4: for bytes 0 1 2 3; pitch 3: for bytes 0 1 2 0, 1 2 0 1 and 2 0 1 2 */
    uint32_t factors[4]; /* two of 16 bits each: of bytes 0 and 1, 2 and 3, none and 0, 1 and 2 */
} histo_joint;

/* Kernels count the samples of a step in equal parts of at most 8: how many samples each has. */
HISTO_INLINE constexpr int histo_part_of_step(int samples)
{
    int part = samples < 8 ? samples : 8;
    while (samples % part)
        part--;
    return part;
}

/* ---- Tiles ---- */

/* Less than a histo_tile, so that it takes few registers. */
typedef struct histo_joint_tile {
    int64_t entry, first; /* of the batch; first sample within the entry */
    const char *at[2];    /* the first sample of the first two columns; or byte 0 of the first pixel */
    uint32_t length;
    uint32_t vectors; /* a bit for each axis: a thread's runs are aligned vectors */
    uint32_t steady;  /* two columns: steps that start below are whole and in vectors, and so is the next one */
} histo_joint_tile;

/* Address of an operand's first sample. At most the first dimension is a batch. */
HISTO_IN_KERNEL const char *histo_column(const histo_cuda_work *w, const histo_joint_tile *tile, int axis)
{
    const int64_t *strides = w->iter.strides[axis];
    if (w->iter.batch_ndim == 0) return w->iter.base[axis] + tile->first * strides[0];
    return w->iter.base[axis] + tile->entry * strides[0] + tile->first * strides[1];
}

HISTO_IN_KERNEL histo_joint_tile histo_tile_joint(const histo_cuda_work *w, const histo_joint *j, int64_t item)
{
    histo_tile plain = histo_tile_at(w, item);
    const uint32_t two_steps = 2 * HISTO_COLUMN_SAMPLES * blockDim.x;
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

/* ---- Loading a column ---- */

/* A thread's samples of one axis. They stay whole words until they are looked up: taking them apart would wait for
 * them. */
typedef struct histo_column_words {
    uint32_t words[2 * HISTO_COLUMN_SAMPLES];
} histo_column_words;

/* The index in the tile of a thread's k-th sample of the step `at`. run: consecutive samples of a thread. */
HISTO_IN_KERNEL uint32_t histo_column_index(uint32_t at, int k, int run)
{
    return at + ((uint32_t)(k / run) * blockDim.x + threadIdx.x) * (uint32_t)run + (uint32_t)(k % run);
}

/* Does the tile end within the step? */
HISTO_IN_KERNEL bool histo_column_ends(const histo_joint_tile *tile, uint32_t at)
{
    return at + blockDim.x * HISTO_COLUMN_SAMPLES > tile->length;
}

/* Samples stored as `type`, in vectors if they lie so. */
template <class type, class vector>
HISTO_IN_KERNEL void histo_load_column_as(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t at, int axis,
                                          const char *from, int run, histo_column_words *loaded)
{
    const int size = (int)sizeof(type), each = run * size / (int)sizeof(vector);
    vector v[HISTO_COLUMN_SAMPLES * sizeof(type) / sizeof(vector)];
    if (tile->vectors >> axis & 1 && !histo_column_ends(tile, at)) {
#pragma unroll
        for (int k = 0; k < HISTO_COLUMN_SAMPLES; k += run) {
            const vector *these = (const vector *)(from + (int64_t)histo_column_index(at, k, run) * size);
#pragma unroll
            for (int e = 0; e < each; e++)
                v[k / run * each + e] = __ldcs(these + e);
        }
        memcpy(loaded->words, v, sizeof v);
    } else {
        const int64_t stride = w->iter.strides[axis][w->iter.batch_ndim];
        type x[HISTO_COLUMN_SAMPLES];
#pragma unroll
        for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++)
            x[k] = *(const type *)(from + min(histo_column_index(at, k, run), tile->length - 1) * stride);
        memcpy(loaded->words, x, sizeof x);
    }
}

/* Past the end of the tile the last sample is repeated. from: the first sample of the column. */
HISTO_IN_KERNEL void histo_load_column(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t at, int axis,
                                       const char *from, int size, int run, histo_column_words *loaded)
{
    switch (size) {
    case 1:
        histo_load_column_as<uint8_t, uint32_t>(w, tile, at, axis, from, run, loaded);
        break;
    case 2:
        if (run * 2 == sizeof(uint4))
            histo_load_column_as<uint16_t, uint4>(w, tile, at, axis, from, run, loaded);
        else
            histo_load_column_as<uint16_t, uint2>(w, tile, at, axis, from, run, loaded);
        break;
    case 4:
        histo_load_column_as<uint32_t, uint4>(w, tile, at, axis, from, run, loaded);
        break;
    default:
        histo_load_column_as<uint64_t, uint4>(w, tile, at, axis, from, run, loaded);
    }
}

/* Load the samples of one axis for a whole step whose runs are vectors of 16 bytes. */
HISTO_IN_KERNEL void histo_load_whole_column(uint32_t at, const char *from, int size, int run,
                                             histo_column_words *loaded)
{
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES; k += run) {
        const uint4 v = __ldcs((const uint4 *)(from + (uint64_t)histo_column_index(at, k, run) * size));
        memcpy(loaded->words + k * size / (int)sizeof *loaded->words, &v, sizeof v);
    }
}

/* ---- Adding an axis to the slots ---- */

/* Slots of a thread's samples of a type, in steps of as many as its lookup takes at once. */
template <histo_dtype type>
HISTO_IN_KERNEL void histo_look_up_column(const histo_lookup *l, const histo_column_words *now,
                                          uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
{
    const int N = HISTO_COLUMN_SAMPLES, STEP = histo_sample<type>::PER_STEP, EACH = STEP < N ? STEP : N;
    histo_stored<type> x[N];
    memcpy(x, now->words, sizeof x);
#pragma unroll
    for (int k = 0; k < N; k += EACH)
        histo_any_lookup<type>(l).slots(*(const histo_stored<type>(*)[EACH])(x + k), *(uint32_t(*)[EACH])(slot + k));
}

/* f32 on an axis that has a table of first floats. Slots start as j->origin. */
HISTO_IN_KERNEL void histo_add_column_by_first_floats(const histo_cuda_work *w, const histo_joint *j,
                                                      const uint32_t *shared, int axis, const histo_column_words *now,
                                                      uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
{
    float x[HISTO_COLUMN_SAMPLES];
    memcpy(x, now->words, sizeof x);
    histo_add_by_first_floats(&w->lookups[axis], (uint32_t)__cvta_generic_to_shared(shared) + j->first_floats[axis], x,
                              w->slot_strides[axis], slot, HISTO_COLUMN_SAMPLES);
}

/* Any axis. */
HISTO_IN_KERNEL void histo_add_column(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared, int axis,
                                      int dtype, const histo_column_words *now, uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
{
    const histo_lookup *l = &w->lookups[axis];
    uint32_t its[HISTO_COLUMN_SAMPLES];
    if (dtype == HISTO_F32 && j->first_floats[axis]) {
        histo_add_column_by_first_floats(w, j, shared, axis, now, slot);
        return;
    }
    histo_with_dtype((histo_dtype)dtype, [&](auto of) { histo_look_up_column<of.type>(l, now, its); });
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++)
        slot[k] += its[k] * w->slot_strides[axis];
}

/* u16 on bins of 2^k integers. All samples of a thread are looked up as if they were within the axis, and corrected if
 * one is not. */
HISTO_IN_KERNEL void histo_add_pow2_u16(const histo_cuda_work *w, const histo_joint *j, int axis, const uint32_t *words,
                                        uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
{
    uint32_t below = (0 - j->begin[axis]) & 0xffff, shift = j->shift[axis], highest = 0;
    uint32_t bins[HISTO_COLUMN_SAMPLES / 2];
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES / 2; k++) {
        highest = __viaddmax_u16x2(words[k], below << 16 | below, highest);
        bins[k] = words[k];
    }
    if (shift)
#pragma unroll
        for (int k = 0; k < HISTO_COLUMN_SAMPLES / 2; k++)
            bins[k] = words[k] >> shift & 0xffffu >> shift << 16 | (words[k] & 0xffff) >> shift;
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++) {
        uint32_t bin = k % 2 ? bins[k / 2] >> 16 : bins[k / 2] & 0xffff;
        slot[k] = axis == 1 ? __dp2a_lo(bins[k / 2], k % 2 ? 0x100u : 1u, slot[k]) : slot[k] + bin * j->stride[axis];
    }
    if (max(highest & 0xffff, highest >> 16) >= j->extent[axis])
#pragma unroll
        for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++) {
            uint32_t x = words[k / 2] >> (k % 2 * 16) & 0xffff;
            uint32_t bin = histo_pow2_lookup<HISTO_U16>(&w->lookups[axis]).slot((uint16_t)x);
            slot[k] += (bin - (x >> shift)) * j->stride[axis] - j->part[axis];
        }
}

HISTO_IN_KERNEL void histo_add_pow2_u32(const histo_cuda_work *w, const histo_joint *j, int axis, const uint32_t *words,
                                        uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
{
    uint32_t shift = j->shift[axis], highest = 0;
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++)
        highest = __viaddmax_u32(words[k], 0 - j->begin[axis], highest);
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++)
        slot[k] += (words[k] >> shift) * j->stride[axis];
    if (highest >= j->extent[axis])
#pragma unroll
        for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++) {
            uint32_t bin = histo_pow2_lookup<HISTO_U32>(&w->lookups[axis]).slot(words[k]);
            slot[k] += (bin - (words[k] >> shift)) * j->stride[axis] - j->part[axis];
        }
}

/* ---- Readers of columns ---- */

/* Samples past the end of the tile have no slot; false if there are any. */
HISTO_IN_KERNEL bool histo_cut_columns(const histo_joint_tile *tile, uint32_t at, int run,
                                       uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
{
    if (!histo_column_ends(tile, at)) return true;
#pragma unroll
    for (int k = 0; k < HISTO_COLUMN_SAMPLES; k++)
        slot[k] = histo_column_index(at, k, run) < tile->length ? slot[k] : HISTO_NO_SLOT;
    return false;
}

/* The tiles of all of them. */
struct histo_joint_tiles {
    static HISTO_MEMBER histo_joint_tile tile(const histo_cuda_work *w, const histo_joint *j, int64_t item)
    {
        return histo_tile_joint(w, j, item);
    }
};

struct histo_columns_reader : histo_joint_tiles {
    using loaded = histo_column_words;
    enum { ID = histo_read_columns, PER_STEP = HISTO_COLUMN_SAMPLES, RUN = HISTO_COLUMN_RUN };

    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                  uint32_t at, loaded *ahead)
    {
        histo_load_column(w, tile, at, 0, tile->at[0], j->sizes[0], RUN, ahead);
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                   const histo_joint_tile *tile, uint32_t at, loaded *ahead, uint32_t (&slot)[PER_STEP])
    {
        uint32_t step = blockDim.x * PER_STEP;
#pragma unroll
        for (int k = 0; k < PER_STEP; k++)
            slot[k] = j->origin;
#pragma unroll 1
        for (int axis = 0; axis < w->naxes; axis++) {
            loaded now = *ahead;
            bool is_last = axis + 1 == w->naxes;
            int next = is_last ? 0 : axis + 1;
            if (!is_last || at + step < tile->length)
                histo_load_column(w, tile, is_last ? at + step : at, next, histo_column(w, tile, next), j->sizes[next],
                                  RUN, ahead);
            histo_add_column(w, j, shared, axis, w->dtypes[axis], &now, slot);
        }
        return histo_cut_columns(tile, at, RUN, slot);
    }
};

/* What a pair of columns of a type differs in: how an axis is added to the slots, and where these start. */
template <histo_dtype type>
struct histo_pair_axis {
    enum { ID = type == HISTO_U16 ? histo_read_u16x2 : histo_read_u32x2 };
    static HISTO_MEMBER uint32_t origin(const histo_joint *j) { return j->part[0] + j->part[1]; }
    static HISTO_MEMBER void add(const histo_cuda_work *w, const histo_joint *j, const uint32_t *, int axis,
                                 const histo_column_words *now, uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
    {
        if constexpr (type == HISTO_U16)
            histo_add_pow2_u16(w, j, axis, now->words, slot);
        else
            histo_add_pow2_u32(w, j, axis, now->words, slot);
    }
};

template <>
struct histo_pair_axis<HISTO_F32> {
    enum { ID = histo_read_f32x2 };
    static HISTO_MEMBER uint32_t origin(const histo_joint *j) { return j->origin; }
    static HISTO_MEMBER void add(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared, int axis,
                                 const histo_column_words *now, uint32_t (&slot)[HISTO_COLUMN_SAMPLES])
    {
        histo_add_column_by_first_floats(w, j, shared, axis, now, slot);
    }
};

template <histo_dtype type>
struct histo_pair_reader : histo_joint_tiles {
    using loaded = histo_column_words;
    using on_axis = histo_pair_axis<type>;
    enum { ID = on_axis::ID, PER_STEP = HISTO_COLUMN_SAMPLES, SIZE = sizeof(histo_stored<type>), RUN = 16 / SIZE };

    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *, const histo_joint_tile *tile,
                                  uint32_t at, loaded *ahead)
    {
        histo_load_column(w, tile, at, 0, tile->at[0], SIZE, RUN, ahead);
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *shared,
                                   const histo_joint_tile *tile, uint32_t at, loaded *ahead, uint32_t (&slot)[PER_STEP])
    {
        const uint32_t next = at + blockDim.x * PER_STEP;
        const bool is_steady = at < tile->steady;
#pragma unroll
        for (int k = 0; k < PER_STEP; k++)
            slot[k] = on_axis::origin(j);
        loaded now = *ahead, second;
        if (is_steady)
            histo_load_whole_column(at, tile->at[1], SIZE, RUN, &second);
        else
            histo_load_column(w, tile, at, 1, tile->at[1], SIZE, RUN, &second);
        on_axis::add(w, j, shared, 0, &now, slot);
        if (is_steady)
            histo_load_whole_column(next, tile->at[0], SIZE, RUN, ahead);
        else if (next < tile->length)
            histo_load_column(w, tile, next, 0, tile->at[0], SIZE, RUN, ahead);
        now = second;
        on_axis::add(w, j, shared, 1, &now, slot);
        return is_steady || histo_cut_columns(tile, at, RUN, slot);
    }
};

/* Fill the tables of first floats; by all threads of a block. */
HISTO_IN_KERNEL void histo_load_joint_first_floats(const histo_cuda_work *w, const histo_joint *j, uint32_t *shared)
{
#pragma unroll 1
    for (int axis = 0; axis < w->naxes; axis++)
        if (j->first_floats[axis])
            histo_load_first_floats<false>(&w->lookups[axis],
                                           shared + (uint32_t)(j->first_floats[axis] / sizeof(float) +
                                                               histo_first_float_word<false>(HISTO_GUESS_0)) %
                                                        (1 << 30));
}

/* ---- Pixels ---- */

enum { HISTO_WARP_PIXELS = 32 * HISTO_PIXELS, HISTO_GROUP_BYTES = 32 * sizeof(uint4) /* of a vector of each lane */ };

/* A step's vectors. all: they were loaded, as all pixels of the warp are in the tile. */
typedef struct histo_pixel_vectors {
    uint4 words[HISTO_MAX_CHANNELS];
    bool all;
} histo_pixel_vectors;

/* The address of the first pixel, or of a column; all columns have the same strides. */
HISTO_IN_KERNEL const char *histo_pixels_of(const histo_cuda_work *w, const histo_joint *j,
                                            const histo_joint_tile *tile, int column)
{
    return j->pitch > 1 ? tile->at[0] : w->iter.base[column] + (tile->at[0] - w->iter.base[0]);
}

HISTO_IN_KERNEL void histo_load_pixel_vectors(const histo_cuda_work *w, const histo_joint *j,
                                              const histo_joint_tile *tile, uint32_t at, histo_pixel_vectors *ahead)
{
    uint32_t first = at + threadIdx.x / 32 * HISTO_WARP_PIXELS, lane = threadIdx.x % 32;
    uint32_t vectors = j->pitch > 1 ? j->pitch : (uint32_t)w->naxes;
    ahead->all = first + HISTO_WARP_PIXELS + j->overhang <= tile->length;
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

/* Pixels of three bytes. Consecutive lanes hold consecutive vectors, each of five pixels and a byte: which byte of a
 * pixel a vector starts with depends on its number modulo 3. A thread's three vectors are one of each kind; the pixels
 * that start in them are 16, the last of them completed by the next lane's vector. */
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

/* Pixels of four bytes. */
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

/* Pixels whose bytes lie in columns. */
HISTO_IN_KERNEL void histo_join_columns(const uint4 *words, int columns, uint32_t *pixel)
{
    const uint32_t x[4][4] = {{words[0].x, words[0].y, words[0].z, words[0].w},
                              {words[1].x, words[1].y, words[1].z, words[1].w},
                              {words[2].x, words[2].y, words[2].z, words[2].w},
                              {words[3].x, words[3].y, words[3].z, words[3].w}};
#pragma unroll
    for (int k = 0; k < HISTO_PIXELS; k++) {
        pixel[k] = __byte_perm(x[0][k / 4], x[1][k / 4], (uint32_t)(k % 4) | (uint32_t)(4 + k % 4) << 4);
        if (columns > 2) pixel[k] = __byte_perm(pixel[k], x[2][k / 4], 0x10 | (uint32_t)(4 + k % 4) << 8);
        if (columns > 3) pixel[k] = __byte_perm(pixel[k], x[3][k / 4], 0x210 | (uint32_t)(4 + k % 4) << 12);
    }
}

/* One pixel, byte by byte. */
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

/* Past the end of the tile the last pixel is repeated. Bit k of the result: pixel k is in the tile. */
HISTO_IN_KERNEL uint32_t histo_fetch_pixels(const histo_cuda_work *w, const histo_joint *j,
                                            const histo_joint_tile *tile, uint32_t at, uint32_t *pixel)
{
    uint32_t first = at + threadIdx.x / 32 * HISTO_WARP_PIXELS + threadIdx.x % 32, exists = 0;
#pragma unroll 1
    for (int k = 0; k < HISTO_PIXELS; k++) {
        uint32_t index = first + (uint32_t)k * 32, it = histo_pixel_at(w, j, tile, min(index, tile->length - 1));
        exists |= (uint32_t)(index < tile->length) << k;
#pragma unroll
        for (int i = 0; i < HISTO_PIXELS; i++) /* keeps pixel[] in registers */
            pixel[i] = i == k ? it : pixel[i];
    }
    return exists;
}

/* Turn pixels into slots, in place. */
HISTO_IN_KERNEL void histo_slots_of_pixels(const histo_cuda_work *w, const histo_joint *j, int axes, uint32_t *pixel)
{
    if (j->by_shift)
#pragma unroll
        for (int k = 0; k < HISTO_PIXELS; k++) {
            uint32_t counter = j->first;
#pragma unroll
            for (int axis = 0; axis < axes; axis++)
                counter += (pixel[k] >> j->shift[axis] & j->mask[axis]) * j->stride[axis];
            pixel[k] = counter;
        }
    else
#pragma unroll
        for (int k = 0; k < HISTO_PIXELS; k++) {
            uint32_t counter = 0;
#pragma unroll
            for (int axis = 0; axis < axes; axis++)
                counter += __ldg(&w->lookups[axis].table[pixel[k] >> 8 * j->byte[axis] & 255]) * j->stride[axis];
            pixel[k] = counter;
        }
}

struct histo_pixels_reader : histo_joint_tiles {
    using loaded = histo_pixel_vectors;
    enum { ID = histo_read_pixels, PER_STEP = HISTO_PIXELS };

    static HISTO_MEMBER void load(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                  uint32_t at, loaded *ahead)
    {
        histo_load_pixel_vectors(w, j, tile, at, ahead);
    }

    static HISTO_MEMBER bool slots(const histo_cuda_work *w, const histo_joint *j, const uint32_t *,
                                   const histo_joint_tile *tile, uint32_t at, loaded *ahead, uint32_t (&slot)[PER_STEP])
    {
        uint32_t exists = ~0u, next = at + blockDim.x * PER_STEP;
        bool all = ahead->all;
        if (!all)
            exists = histo_fetch_pixels(w, j, tile, at, slot);
        else if (j->pitch == 3)
            histo_split_threes(ahead->words, slot);
        else if (j->pitch == 4)
            histo_split_fours(ahead->words, slot);
        else
            histo_join_columns(ahead->words, w->naxes, slot);
        if (next < tile->length) histo_load_pixel_vectors(w, j, tile, next, ahead);
        if (w->naxes == 3)
            histo_slots_of_pixels(w, j, 3, slot);
        else if (w->naxes == 4)
            histo_slots_of_pixels(w, j, 4, slot);
        else
            histo_slots_of_pixels(w, j, 2, slot);
        if (!all)
#pragma unroll
            for (int k = 0; k < PER_STEP; k++)
                slot[k] = exists >> k & 1 ? slot[k] : HISTO_NO_SLOT;
        return all;
    }
};

using histo_f32x2_reader = histo_pair_reader<HISTO_F32>;
using histo_u32x2_reader = histo_pair_reader<HISTO_U32>;
using histo_u16x2_reader = histo_pair_reader<HISTO_U16>;

/* For histo_kernel_by_reader. */
using histo_joint_readers = histo_readers<histo_columns_reader, histo_f32x2_reader, histo_u32x2_reader,
                                          histo_u16x2_reader, histo_pixels_reader>;

/* ---- Compact counters of pixels ---- */

/* The slot of a compact counter. */
HISTO_IN_KERNEL uint32_t histo_slot_of_compact(const histo_joint *j, uint32_t counter)
{
    uint32_t slot = j->first;
#pragma unroll
    for (int axis = 0; axis < HISTO_MAX_CHANNELS; axis++) /* the mask of absent ones is 0 */
        slot += (counter >> j->log_stride[axis] & j->mask[axis]) * j->stride[axis];
    return slot;
}

/* A tile cut into groups, the pixels of a warp, so that the vectors of whole groups are aligned. */
typedef struct histo_groups {
    int32_t first;  /* pixel of the first group, at or before the tile's first: -511 to 0 */
    uint32_t whole; /* a group is whole if its first pixel is at least 0 and less than this */
} histo_groups;

template <int PITCH>
HISTO_IN_KERNEL histo_groups histo_groups_of(const histo_cuda_work *w, const histo_joint *j,
                                             const histo_joint_tile *tile)
{
    /* Pixels before the next multiple of 16 bytes; 3 * 11 is 1 modulo 16. */
    uint32_t bytes = -(uint32_t)(uint64_t)tile->at[0] % sizeof(uint4);
    uint32_t head = PITCH == 4 ? bytes / 4 : bytes * (PITCH == 3 ? 11 : 1) % sizeof(uint4);
    uint32_t needed = HISTO_WARP_PIXELS + j->overhang;
    histo_groups groups = {head ? (int32_t)head - (int32_t)HISTO_WARP_PIXELS : 0,
                           tile->length < needed ? 0 : tile->length - needed + 1};
    for (int axis = 0; axis < w->naxes; axis++)
        if (((uint64_t)histo_pixels_of(w, j, tile, axis) + head * PITCH) % sizeof(uint4)) groups.whole = 0;
    return groups;
}

/* Vector v of a whole group: one of PITCH, or that of column v. */
template <int PITCH>
HISTO_IN_KERNEL const uint4 *histo_vector_of(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t first,
                                             int v)
{
    const char *at = tile->at[0] + (uint64_t)first * PITCH + threadIdx.x % 32 * sizeof(uint4);
    return (const uint4 *)(PITCH > 1 ? at + v * HISTO_GROUP_BYTES : at + (w->iter.base[v] - w->iter.base[0]));
}

/* Prefetch a whole group into L2: unlike a load it takes no registers, which counting needs. */
template <int PITCH>
HISTO_IN_KERNEL void histo_prefetch_group(const histo_cuda_work *w, const histo_joint_tile *tile, uint32_t first)
{
#pragma unroll
    for (int v = 0; v < (PITCH > 1 ? PITCH : (int)HISTO_MAX_CHANNELS); v++)
        if (PITCH > 1 || v < w->naxes)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(histo_vector_of<PITCH>(w, tile, first, v)));
}

/* The compact counter of a pixel that has been shifted down by `low`. */
HISTO_IN_KERNEL uint32_t histo_compact_pixel(const histo_joint *j, uint32_t pixel)
{
    pixel &= j->keep[0];
    return __dp2a_hi(j->factors[1], pixel, __dp2a_lo(j->factors[0], pixel, 0u));
}

/* As histo_split_threes, in one go: the counters of 16 pixels of three bytes. */
HISTO_IN_KERNEL void histo_compact_threes(const histo_joint *j, const uint4 *words, uint32_t *counter)
{
    uint32_t lane = threadIdx.x % 32, skip = 2 * lane % 3, sixth = 0; /* bytes before the first pixel of a vector */
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
    for (int k = 0; k < HISTO_PIXELS; k++)
        counter[k] = histo_compact_pixel(j, counter[k] >> j->low);
}

/* The counters of any group; `none` for pixels outside the tile. */
HISTO_IN_KERNEL void histo_compact_any(const histo_cuda_work *w, const histo_joint *j, const histo_joint_tile *tile,
                                       uint32_t first, uint32_t none, uint32_t *counter)
{
#pragma unroll 1
    for (int k = 0; k < HISTO_PIXELS; k++) {
        uint32_t index = first + (uint32_t)k * 32 + threadIdx.x % 32, its = none;
        if (index < tile->length) its = histo_compact_pixel(j, histo_pixel_at(w, j, tile, index) >> j->low);
#pragma unroll
        for (int i = 0; i < HISTO_PIXELS; i++) /* keeps counter[] in registers */
            counter[i] = i + 1 < HISTO_PIXELS ? counter[i + 1] : its;
    }
}

#endif
