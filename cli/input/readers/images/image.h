/* Shared by the image readers: the description of a page, validated before any allocation, and the current band's rows.
 * An image reader is a struct that begins with an image. */
#ifndef CLI_READERS_IMAGE_H
#define CLI_READERS_IMAGE_H

#include "base/scratch.h"
#include "input/readers/readers.h"

enum {
    IMAGE_BAND_BYTES = 4 << 20,      /* of a band's rows, unless a single row is larger */
    IMAGE_MAX_BLOCK_BYTES = 1 << 28, /* of a row or tile: bounds the memory that a small file can demand */
    IMAGE_MAX_WHOLE_BYTES = 1 << 30, /* of data that must be decoded as one piece */
};

/* Interleaved samples: height rows of width pixels. */
typedef struct image_layout {
    channel_model model;
    int channels;
    histo_dtype dtype;
    int64_t width, height;
    const histo_dtype *dtypes; /* [channels], if they differ, none larger than dtype; NULL: all are dtype */
} image_layout;

typedef struct image {
    reader reader;       /* must be first: a reader * is an image * */
    image_layout layout; /* of the current page */
    int page;            /* its number */
    int64_t y;           /* rows delivered */
    scratch rows;        /* the band's samples */
    scratch packed;      /* the same before expansion, if needed */
} image;

/* The close function of every image reader; those with their own call this one. */
void image_close(reader *r);

/* Start page number `page`. The first page describes the reader; all later pages must match it, including its size
 * unless reader.height is -1. */
int image_begin_page(image *m, int page, const image_layout *layout, fault *f);

/* Empty metadata of the current page; NULL if not requested, or out of memory. */
metadata *image_describe(image *m, const read_options *options, fault *f);

/* The size of a row of samples, and the number of rows in a band. */
size_t image_pitch(const image *m);
int64_t image_band_rows(const image *m);

/* Reserve `bytes` bytes; former contents are lost. */
int image_reserve(const image *m, scratch *b, size_t bytes, fault *f);

/* Deliver `rows` rows from m->rows; returns 1. */
int image_emit_rows(image *m, band *b, int64_t rows);

/* Report a decoder's message; place: "row 7". Returns -1. */
int image_damaged(const image *m, const char *place, const char *complaint, fault *f);

/* Sample i of a row of bit-packed samples (below 8, or 9 to 16 bits), most significant bits first. */
static inline unsigned image_packed_sample(const unsigned char *row, unsigned bits, size_t i)
{
    size_t first = i * bits;
    const unsigned char *byte = row + first / 8;
    unsigned skip = (unsigned)(first % 8), end = skip + bits;
    unsigned window = (unsigned)byte[0] << 16;
    if (end > 8) window |= (unsigned)byte[1] << 8;
    if (end > 16) window |= byte[2];
    return window >> (24 - end) & ((1U << bits) - 1);
}

#endif
