/* Samples that lie in rows of images: side by side in a row, rows at a pitch, images at any strides from each other,
 * and a mask of a byte for each sample. Threads read rows in aligned vectors of 16 bytes; the few samples before and
 * behind these one by one. A kernel's block takes whole shares, parts of an image, together with the other blocks of
 * its team:
 *
 *     uint32_t share = histo_divide(blockIdx.x, in.by_team), member = blockIdx.x - share * in.team;
 *     for (; share < in.shares; share += in.teams) {
 *         histo_images_place next = histo_images_place_of<ROWS, SIZE>(&in, share, member);
 *         while (next.index < next.end) {
 *             histo_images_vector it = histo_images_next<ROWS, SIZE>(&in, &next, masked);
 *             … if (it.there), the vector at it.row + it.offset
 *         }
 *         … the samples of histo_images_rows_of(&in, share, member), if in.ragged
 *     }
 *
 * ROWS: images have several; of one, it takes less to find the next vector. SIZE: bytes of a sample. */
#ifndef CUDA_IMAGES_CUH
#define CUDA_IMAGES_CUH

#include "cuda/slots.cuh"

enum { HISTO_IMAGES_VECTOR = 16 };

/* A batch dimension: how far it is from one image to the next, in samples, mask and histograms. */
typedef struct histo_images_dim {
    uint32_t extent;
    histo_divisor by;
    int64_t stride, mask_stride, entries;
} histo_images_dim;

typedef struct histo_images {
    const char *at, *mask; /* the first row of the first image; mask: NULL if there is none */
    int64_t pitch, mask_pitch, row_bytes;
    int64_t aligned;     /* the addresses of all rows are multiples of what divides it, beside the first one's */
    uint32_t rows, size; /* of an image; bytes of a sample */
    int dims;
    histo_images_dim image[HISTO_MAX_DIMS];
    int64_t first_entry;

    /* How it is cut. */
    uint32_t each, vectors; /* vectors of a row at most, one at least; and of an image: rows * each */
    uint32_t whole, rest;   /* vectors that a row has if it begins at a multiple of 16 bytes, and bytes behind them */
    histo_divisor by_each;
    uint32_t part;          /* vectors of a share at most */
    uint32_t parts, shares; /* shares of an image, and in all */
    histo_divisor by_parts;
    uint32_t team, teams, stride; /* blocks of a team, teams, and the threads of one */
    histo_divisor by_team;
    uint32_t more_each; /* the stride in vectors, and in rows of samples and mask */
    int64_t more_rows, more_mask_rows;
    int64_t more_bytes, more_masks; /* the stride in a row of samples and in its mask */
    bool ragged;                    /* some rows begin or end beside a multiple of 16 bytes */
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

/* The batch entry of a share. */
HISTO_IN_KERNEL int64_t histo_images_entry(const histo_images *in, uint32_t share)
{
    return histo_image_of(in, histo_divide(share, in->by_parts)).entry;
}

/* A thread's next vector of a share; vectors of the team are neighbours. Of several rows: where its row begins and its
 * column in it; of a single one: itself, and the bytes before the row's first vector. */
typedef struct histo_images_place {
    const char *at, *mask;
    uint32_t index, end, column, before;
} histo_images_place;

/* Bytes to the next multiple of a vector's. */
HISTO_IN_KERNEL uint32_t histo_to_vector(const char *at)
{
    return -(uint32_t)(uint64_t)at & (HISTO_IMAGES_VECTOR - 1);
}

template <bool ROWS, int SIZE>
HISTO_IN_KERNEL histo_images_place histo_images_place_of(const histo_images *in, uint32_t share, uint32_t member)
{
    uint32_t number = histo_divide(share, in->by_parts);
    histo_image image = histo_image_of(in, number);
    uint32_t begin = (share - number * in->parts) * in->part;
    uint32_t index = begin + member * blockDim.x + threadIdx.x, end = min(begin + in->part, in->vectors);
    if (ROWS) {
        uint32_t row = histo_divide(index, in->by_each);
        return {image.at + row * in->pitch, image.mask + row * in->mask_pitch, index, end, index - row * in->each, 0};
    }
    uint32_t before = histo_to_vector(image.at), all = in->whole - min(in->whole, (uint32_t)(before > in->rest));
    uint64_t at = before + (uint64_t)index * HISTO_IMAGES_VECTOR;
    return {image.at + at, image.mask + at / SIZE, index, min(end, all), 0, before};
}

typedef struct histo_images_vector {
    bool there;
    const char *at, *mask; /* of its first sample */
    uint32_t phase;        /* the bytes of the row before it, modulo 3 */
} histo_images_vector;

/* The next vector, and go on. */
template <bool ROWS, int SIZE>
HISTO_IN_KERNEL histo_images_vector histo_images_next(const histo_images *in, histo_images_place *it, bool masked)
{
    if (!ROWS) {
        histo_images_vector v = {it->index < it->end, it->at, it->mask, (it->index + it->before) % 3};
        it->index += in->stride;
        it->at += in->more_bytes;
        if (masked) it->mask += in->more_masks;
        return v;
    }
    uint32_t before = histo_to_vector(it->at), column = it->column;
    bool there = it->index < it->end && column + (before > in->rest) < in->whole;
    uint64_t offset = (uint64_t)column * HISTO_IMAGES_VECTOR + before;
    histo_images_vector v = {there, it->at + offset, it->mask + offset / SIZE, (column + before) % 3};
    it->index += in->stride;
    it->column += in->more_each;
    it->at += in->more_rows;
    if (masked) it->mask += in->more_mask_rows;
    if (it->column >= in->each) {
        it->column -= in->each;
        it->at += in->pitch;
        if (masked) it->mask += in->mask_pitch;
    }
    return v;
}

/* The rows that begin in a share, of those a warp's: first, first + step, … below last. */
typedef struct histo_images_rows {
    const char *at, *mask; /* the image's first */
    uint32_t first, last, step;
} histo_images_rows;

HISTO_IN_KERNEL histo_images_rows histo_images_rows_of(const histo_images *in, uint32_t share, uint32_t member)
{
    uint32_t number = histo_divide(share, in->by_parts);
    histo_image image = histo_image_of(in, number);
    uint32_t begin = (share - number * in->parts) * in->part, end = min(begin + in->part, in->vectors);
    uint32_t first = histo_divide(begin + in->each - 1, in->by_each);
    histo_images_rows rows = {image.at, image.mask, first + (member * blockDim.x + threadIdx.x) / 32,
                              histo_divide(end + in->each - 1, in->by_each), in->stride / 32};
    return rows;
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
