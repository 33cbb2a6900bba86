/* Reader of image rows: samples contiguous within a row, rows at any pitch, images at any strides, and optionally a
 * mask of one byte per sample.
 *
 * A row is read in aligned vectors of 16 bytes; the samples before its first and after its last vector, its *ends*, are
 * read one by one. An image is cut into tiles, bands of columns over all its rows. The blocks of a team share one tile
 * at a time: consecutive threads of the team read consecutive vectors, then the team moves on (histo_count_images).
 *
 * Template parameters: ROWS, an image has more than one row (finding the next vector is cheaper where it has one);
 * SIZE, bytes of a sample; MASKED, there is a mask. */
#ifndef CUDA_DEVICE_IMAGES_CUH
#define CUDA_DEVICE_IMAGES_CUH

#include "cuda/device/any_sample.cuh"

enum { HISTO_IMAGES_VECTOR = 16 };

/* A batch dimension: the distance from one image to the next in samples, mask (both in bytes) and histograms. */
typedef struct histo_images_dim {
    uint32_t extent;
    histo_divisor by_extent;
    int64_t stride, mask_stride, entries;
} histo_images_dim;

typedef struct histo_images {
    const char *samples, *mask;           /* the first row of the first image; mask: NULL if there is none */
    int64_t pitch, mask_pitch, row_bytes; /* pitch >= 0; the rows of an image span less than 4 GiB */
    int64_t strides_or;  /* all strides between rows, or-ed: a power of two that divides it divides each of them */
    uint32_t rows, size; /* rows of an image; bytes of a sample */
    int dims;
    histo_images_dim image[HISTO_MAX_DIMS];
    int64_t first_entry;

    /* Tiles: bands of `tile_width` vectors, over all rows of an image. */
    uint32_t row_vectors, row_rest; /* vectors of a row that starts at a multiple of 16 bytes, and bytes after them */
    uint32_t reach;                 /* ROWS: a vector starts at less than this many bytes from the start of its row */
    uint32_t tile_width;
    histo_divisor by_tile_width;
    uint32_t tiles_per_image, tiles; /* tiles: of all images */
    histo_divisor by_tiles_per_image;
    uint32_t team, teams, stride; /* blocks of a team; number of teams; threads of a team */
    histo_divisor by_team;
    int64_t step_bytes, step_mask_bytes; /* one row: how far a thread moves at each step, in samples and in the mask */
    uint32_t step_rows, step_row_bytes;  /* ROWS: rows that a team reads at once, and their distance in bytes … */
    int64_t step_row_mask_bytes;         /* … and in the mask */
    bool has_ends;                       /* some row starts or ends off a multiple of 16 bytes */
} histo_images;

/* ---- Where an image starts ---- */

typedef struct histo_image {
    const char *samples, *mask;
    int64_t entry; /* of the batch */
} histo_image;

HISTO_IN_KERNEL histo_image histo_image_of(const histo_images *in, uint32_t number)
{
    histo_image image = {in->samples, in->mask, in->first_entry};
#pragma unroll 1
    for (int d = in->dims - 1; d >= 0; d--) {
        const histo_images_dim *dim = &in->image[d];
        uint32_t above = d ? histo_divide(number, dim->by_extent) : 0, index = number - above * dim->extent;
        image.samples += index * dim->stride;
        image.mask += index * dim->mask_stride;
        image.entry += index * dim->entries;
        number = above;
    }
    return image;
}

/* The batch entry of a tile. */
HISTO_IN_KERNEL int64_t histo_images_entry(const histo_images *in, uint32_t tile)
{
    return histo_image_of(in, histo_divide(tile, in->by_tiles_per_image)).entry;
}

/* ---- Vectors ---- */

/* A thread's position in a tile.
 * One row: `at` is the thread's vector, `index` its number, `column` the bytes before the row's first vector.
 * ROWS: `at` is the image's start rounded down to 16 bytes, `index` the row, `row` the offset of the row from there,
 * and `column` that of the vector from the row's first one; the thread moves straight down. */
typedef struct histo_images_cursor {
    const char *at, *mask;
    uint32_t index, end, row, column;
} histo_images_cursor;

HISTO_IN_KERNEL uint32_t histo_bytes_to_vector(const char *at)
{
    return -(uint32_t)(uint64_t)at & (HISTO_IMAGES_VECTOR - 1);
}

template <bool ROWS, int SIZE>
HISTO_IN_KERNEL histo_images_cursor histo_images_cursor_of(const histo_images *in, uint32_t tile, uint32_t member)
{
    uint32_t number = histo_divide(tile, in->by_tiles_per_image);
    histo_image image = histo_image_of(in, number);
    uint32_t begin = (tile - number * in->tiles_per_image) * in->tile_width;
    uint32_t thread = member * blockDim.x + threadIdx.x;
    if (ROWS) {
        uint32_t row = histo_divide(thread, in->by_tile_width), column = begin + thread - row * in->tile_width;
        uint32_t misalignment = (uint32_t)(uint64_t)image.samples % HISTO_IMAGES_VECTOR;
        return {
            image.samples - misalignment,       image.mask + row * in->mask_pitch,        row,
            row < in->step_rows ? in->rows : 0, misalignment + row * (uint32_t)in->pitch, column * HISTO_IMAGES_VECTOR};
    }
    uint32_t head = histo_bytes_to_vector(image.samples);
    uint32_t vectors = in->row_vectors - min(in->row_vectors, (uint32_t)(head > in->row_rest));
    uint32_t index = begin + thread;
    uint64_t offset = head + (uint64_t)index * HISTO_IMAGES_VECTOR;
    return {image.samples + offset, image.mask + offset / SIZE, index, min(begin + in->tile_width, vectors), 0, head};
}

typedef struct histo_images_vector {
    bool exists;
    const char *at, *mask; /* of its first sample */
    uint32_t phase;        /* offset of the vector in its row, modulo 3 */
} histo_images_vector;

/* The vector at the cursor, which moves on. */
template <bool ROWS, int SIZE, bool MASKED>
HISTO_IN_KERNEL histo_images_vector histo_images_next(const histo_images *in, histo_images_cursor *cursor)
{
    if (!ROWS) {
        histo_images_vector vector = {cursor->index < cursor->end, cursor->at, cursor->mask,
                                      (cursor->index + cursor->column) % 3};
        cursor->index += in->stride;
        cursor->at += in->step_bytes;
        if (MASKED) cursor->mask += in->step_mask_bytes;
        return vector;
    }
    const uint32_t align = HISTO_IMAGES_VECTOR;
    uint32_t at = (cursor->row + align - 1) / align * align + cursor->column, offset = at - cursor->row;
    histo_images_vector vector = {cursor->index < cursor->end && offset < in->reach, cursor->at + at,
                                  cursor->mask + offset / SIZE, offset % 3};
    cursor->index += in->step_rows;
    cursor->row += in->step_row_bytes;
    if (MASKED) cursor->mask += in->step_row_mask_bytes;
    return vector;
}

/* ---- Ends of rows ---- */

/* The rows whose ends a warp counts: next, next + stride / 32, … below last. */
typedef struct histo_images_ends {
    const char *samples, *mask; /* of the image */
    uint32_t next, last;
} histo_images_ends;

HISTO_IN_KERNEL histo_images_ends histo_images_ends_of(const histo_images *in, uint32_t tile, uint32_t member)
{
    uint32_t tiles = in->tiles_per_image, number = histo_divide(tile, in->by_tiles_per_image);
    uint32_t part = tile - number * tiles; /* each tile of an image counts the ends of some of its rows */
    histo_image image = histo_image_of(in, number);
    uint64_t first = (uint64_t)in->rows * part / tiles, last = (uint64_t)in->rows * (part + 1) / tiles;
    return {image.samples, image.mask, (uint32_t)first + (member * blockDim.x + threadIdx.x) / 32, (uint32_t)last};
}

/* This lane's sample, of `size` bytes, of those before and after the vectors of a row; NULL if it has none. */
HISTO_IN_KERNEL const char *histo_images_end_sample(const histo_images *in, const char *row, uint32_t size)
{
    const char *end = row + in->row_bytes, *vectors = row + histo_bytes_to_vector(row);
    const char *tail = (const char *)((uint64_t)end & ~(uint64_t)(HISTO_IMAGES_VECTOR - 1));
    if (vectors > end) vectors = end; /* the row contains no multiple of 16 bytes */
    if (tail < vectors) tail = vectors;
    uint32_t lane = threadIdx.x % 32 * size;
    const char *at = lane < vectors - row ? row + lane : tail + (lane - (vectors - row));
    return at < end ? at : NULL;
}

/* ---- The kernel ---- */

/* Count all tiles of this block's team. Two steps are in flight: one is loaded while the one before it is counted, also
 * across tiles: the first step of the next tile is loaded before the block merges its counters. COUNTER says what a
 * vector is and how its samples are counted:
 *     args                                    the kernel's argument; args.in are the images
 *     THREADS, BLOCKS                         launch bounds
 *     ROWS, SAMPLE_BYTES                      images have more than one row; bytes of a sample
 *     VECTORS, GROUP                          vectors of a step, and how many of them are counted together
 *     ENDS_AFTER_VECTORS                      count all ends of a tile after its vectors, not some with each step
 *     step                                    what a thread loads in a step; it stays in registers
 *     COUNTER(args, shared)
 *     load(&cursor, &step)                    returns flags, which say which vectors exist
 *     prepare()                               once, after the first load has been issued
 *     count(&step, flags, v)                  GROUP vectors from the v-th on
 *     count_ends(&ends, row)                  of the rows of `ends` below that row
 *     merge(entry)                            into the histogram of a batch entry, and start anew */
template <class COUNTER>
static __global__ void __launch_bounds__(COUNTER::THREADS, COUNTER::BLOCKS)
    histo_count_images(const __grid_constant__ typename COUNTER::args args)
{
    const bool ROWS = COUNTER::ROWS, ends_with_steps = !COUNTER::ENDS_AFTER_VECTORS;
    const int SIZE = COUNTER::SAMPLE_BYTES;
    const histo_images *in = &args.in;
    extern __shared__ __align__(16) unsigned int shared[];
    COUNTER counter(&args, shared);
    uint32_t tile = histo_divide(blockIdx.x, in->by_team), member = blockIdx.x - tile * in->team, flags[2];
    histo_images_cursor cursor = histo_images_cursor_of<ROWS, SIZE>(in, tile, member);
    histo_images_ends ends = {};
    typename COUNTER::step steps[2] = {};
    flags[0] = counter.load(&cursor, &steps[0]);
    if (ends_with_steps && in->has_ends) ends = histo_images_ends_of(in, tile, member);
    counter.prepare();
    while (tile < in->tiles) {
        for (bool more = true; more;) {
#pragma unroll
            for (int now = 0; now < 2; now++) {
                const int next = 1 - now;
                if (!more) break;
                more = cursor.index < cursor.end;
                if (more) flags[next] = counter.load(&cursor, &steps[next]);
#pragma unroll
                for (int v = 0; v < COUNTER::VECTORS; v += COUNTER::GROUP)
                    counter.count(&steps[now], flags[now], v);
            }
            if (ends_with_steps && in->has_ends) /* of rows that are being read */
                counter.count_ends(&ends, more ? min(cursor.index, ends.last) : ends.last);
        }
        if (!ends_with_steps && in->has_ends) {
            ends = histo_images_ends_of(in, tile, member);
            counter.count_ends(&ends, ends.last);
        }
        int64_t entry = histo_images_entry(in, tile);
        tile += in->teams;
        if (tile < in->tiles) {
            cursor = histo_images_cursor_of<ROWS, SIZE>(in, tile, member);
            flags[0] = counter.load(&cursor, &steps[0]);
            if (ends_with_steps && in->has_ends) ends = histo_images_ends_of(in, tile, member);
        }
        counter.merge(entry);
    }
}

#endif
