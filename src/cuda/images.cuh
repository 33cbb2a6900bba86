/* Samples that lie in rows of images: side by side in a row, rows at a pitch, images at any strides from each other,
 * and a mask of a byte for each sample. Threads read rows in aligned vectors of 16 bytes; the few samples before and
 * behind these one by one. A kernel's block takes whole tiles, parts of an image, together with the other blocks of
 * its team:
 *
 *     uint32_t tile = histo_divide(blockIdx.x, in.by_team), member = blockIdx.x - tile * in.team;
 *     for (; tile < in.tiles; tile += in.teams) {
 *         histo_images_place next = histo_images_place_of<ROWS, SIZE>(&in, tile, member);
 *         while (next.index < next.end) {
 *             histo_images_vector it = histo_images_next<ROWS, SIZE, MASKED>(&in, &next);
 *             … if (it.there), the vector at it.row + it.offset
 *         }
 *         … the samples of histo_images_rows_of(&in, tile, member), if in.ragged
 *     }
 *
 * ROWS: images have several; of one, it takes less to find the next vector. SIZE: bytes of a sample. MASKED: there is a
 * mask. */
#ifndef CUDA_IMAGES_CUH
#define CUDA_IMAGES_CUH

#include "cuda/macro_names.cuh"

enum { HISTO_IMAGES_VECTOR = 16 };

/* A batch dimension: how far it is from one image to the next, in samples, mask and histograms. */
typedef struct histo_images_dim {
    uint32_t extent;
    histo_divisor by;
    int64_t stride, mask_stride, entries;
} histo_images_dim;

typedef struct histo_images {
    const char *at, *mask;                /* the first row of the first image; mask: NULL if there is none */
    int64_t pitch, mask_pitch, row_bytes; /* pitch: 0 at least; of several rows, all are within 4 GiB */
    int64_t aligned;     /* the addresses of all rows are multiples of what divides it, beside the first one's */
    uint32_t rows, size; /* of an image; bytes of a sample */
    int dims;
    histo_images_dim image[HISTO_MAX_DIMS];
    int64_t first_entry;

    /* How it is cut: a row into parts of so many vectors, each of which is a tile, with what is below and above it in
     * the image's other rows. */
    uint32_t whole, rest; /* vectors that a row has if it begins at a multiple of 16 bytes, and bytes behind them */
    uint32_t reach;       /* of several rows: a vector begins so many bytes behind its row's begin, or fewer, less 1 */
    uint32_t part;
    histo_divisor by_part;
    uint32_t parts, tiles; /* tiles of an image, and in all */
    histo_divisor by_parts;
    uint32_t team, teams, stride; /* blocks of a team, teams, and the threads of one */
    histo_divisor by_team;
    int64_t more_bytes, more_masks;  /* the stride in a row of samples and in its mask */
    uint32_t more_rows, more_offset; /* rows that the team reads at once, and their bytes */
    int64_t more_mask_rows;
    bool ragged; /* some rows begin or end beside a multiple of 16 bytes */
} histo_images;

/* ---- On the host (images.cu) ---- */

/* The first operand's samples and their mask, if they lie so: one axis, no weights, rows in one dimension at most.
 * beside: a batch dimension that is within a row, or -1; lowest: bytes from the first sample to the first byte;
 * row_bytes: from a row's first byte on. */
bool histo_cuda_images_of(const histo_job *job, int beside, int64_t lowest, int64_t row_bytes, histo_images *in);

/* Cut, and launch, for at most `blocks` blocks of so many threads that are resident; several launches where indices
 * would not reach. merge: vectors that are read in the time in which a block adds up. */
typedef histo_status histo_images_launch(void *context, const histo_images *in);
histo_status histo_cuda_images_launch(const histo_images *in, int threads, int64_t blocks, int64_t merge,
                                      histo_images_launch *launch, void *context);

/* ---- In kernels ---- */

typedef struct histo_image {
    const char *at, *mask;
    int64_t entry;
} histo_image;

HISTO_IN_KERNEL histo_image histo_image_of(const histo_images *in, uint32_t number)
{
    histo_image it = {in->at, in->mask, in->first_entry};
#pragma unroll 1
    for (int d = in->dims - 1; d >= 0; d--) {
        const histo_images_dim *dim = &in->image[d];
        uint32_t above = d ? histo_divide(number, dim->by) : 0, index = number - above * dim->extent;
        it.at += index * dim->stride;
        it.mask += index * dim->mask_stride;
        it.entry += index * dim->entries;
        number = above;
    }
    return it;
}

/* The batch entry of a tile. */
HISTO_IN_KERNEL int64_t histo_images_entry(const histo_images *in, uint32_t tile)
{
    return histo_image_of(in, histo_divide(tile, in->by_parts)).entry;
}

/* A thread's next vector of a tile; vectors of the team are neighbours. Of a single row: itself, its number, and the
 * bytes before the row's first vector. Of several rows: the image, rounded down to a multiple of 16 bytes, the row's
 * number, where it begins, and how many bytes behind the row's first vector; the thread goes straight down. */
typedef struct histo_images_place {
    const char *at, *mask;
    uint32_t index, end, row, before;
} histo_images_place;

/* Bytes to the next multiple of a vector's. */
HISTO_IN_KERNEL uint32_t histo_to_vector(const char *at)
{
    return -(uint32_t)(uint64_t)at & (HISTO_IMAGES_VECTOR - 1);
}

template <bool ROWS, int SIZE>
HISTO_IN_KERNEL histo_images_place histo_images_place_of(const histo_images *in, uint32_t tile, uint32_t member)
{
    uint32_t number = histo_divide(tile, in->by_parts);
    histo_image image = histo_image_of(in, number);
    uint32_t begin = (tile - number * in->parts) * in->part, thread = member * blockDim.x + threadIdx.x;
    if (ROWS) {
        uint32_t row = histo_divide(thread, in->by_part), column = begin + thread - row * in->part;
        uint32_t beside = (uint32_t)(uint64_t)image.at % HISTO_IMAGES_VECTOR;
        return {image.at - beside,
                image.mask + row * in->mask_pitch,
                row,
                row < in->more_rows ? in->rows : 0,
                beside + row * (uint32_t)in->pitch,
                column * HISTO_IMAGES_VECTOR};
    }
    uint32_t before = histo_to_vector(image.at), all = in->whole - min(in->whole, (uint32_t)(before > in->rest));
    uint32_t index = begin + thread;
    uint64_t at = before + (uint64_t)index * HISTO_IMAGES_VECTOR;
    return {image.at + at, image.mask + at / SIZE, index, min(begin + in->part, all), 0, before};
}

typedef struct histo_images_vector {
    bool there;
    const char *at, *mask; /* of its first sample */
    uint32_t phase;        /* the bytes of the row before it, modulo 3 */
} histo_images_vector;

/* The next vector, and go on. */
template <bool ROWS, int SIZE, bool MASKED>
HISTO_IN_KERNEL histo_images_vector histo_images_next(const histo_images *in, histo_images_place *it)
{
    if (!ROWS) {
        histo_images_vector v = {it->index < it->end, it->at, it->mask, (it->index + it->before) % 3};
        it->index += in->stride;
        it->at += in->more_bytes;
        if (MASKED) it->mask += in->more_masks;
        return v;
    }
    const uint32_t vector = HISTO_IMAGES_VECTOR;
    uint32_t at = (it->row + vector - 1) / vector * vector + it->before, offset = at - it->row;
    histo_images_vector v = {it->index < it->end && offset < in->reach, it->at + at, it->mask + offset / SIZE,
                             offset % 3};
    it->index += in->more_rows;
    it->row += in->more_offset;
    if (MASKED) it->mask += in->more_mask_rows;
    return v;
}

/* The rows whose ends a tile has to count, of those a warp's: next, next + stride / 32, … below last. */
typedef struct histo_images_rows {
    const char *at, *mask; /* the image's first */
    uint32_t next, last;
} histo_images_rows;

HISTO_IN_KERNEL histo_images_rows histo_images_rows_of(const histo_images *in, uint32_t tile, uint32_t member)
{
    uint32_t number = histo_divide(tile, in->by_parts), part = tile - number * in->parts;
    histo_image image = histo_image_of(in, number);
    uint64_t first = (uint64_t)in->rows * part / in->parts, last = (uint64_t)in->rows * (part + 1) / in->parts;
    return {image.at, image.mask, (uint32_t)first + (member * blockDim.x + threadIdx.x) / 32, (uint32_t)last};
}

/* A sample of `size` bytes before or behind the vectors of a row, one for each lane that there is one for: its address,
 * or NULL. */
HISTO_IN_KERNEL const char *histo_images_end(const histo_images *in, const char *row, uint32_t size)
{
    const char *behind = row + in->row_bytes, *whole = row + histo_to_vector(row);
    const char *tail = (const char *)((uint64_t)behind & ~(uint64_t)(HISTO_IMAGES_VECTOR - 1));
    if (whole > behind) whole = behind; /* no multiple of 16 bytes in it */
    if (tail < whole) tail = whole;
    uint32_t lane = threadIdx.x % 32 * size;
    const char *at = lane < whole - row ? row + lane : tail + (lane - (whole - row));
    return at < behind ? at : NULL;
}

#endif
