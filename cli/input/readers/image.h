/* What the image readers share: the description of a page, checked before anything is allocated for it, and the rows
 * of the band at hand. An image reader is a struct that begins with an image. */
#ifndef CLI_READERS_IMAGE_H
#define CLI_READERS_IMAGE_H

#include "input/reader.h"

enum {
    IMAGE_BAND_BYTES = 4 << 20,      /* of the rows in a band, if a row is not larger */
    IMAGE_MAX_BLOCK_BYTES = 1 << 28, /* of one row or tile: a larger claim is refused, so that a few bytes of file
                                        cannot call for much memory */
    IMAGE_MAX_WHOLE_BYTES = 1 << 30, /* of what has to be decoded in one piece */
};

/* Interleaved samples: height rows of width pixels. */
typedef struct image_layout {
    channel_model model;
    int channels;
    histo_dtype dtype;
    int64_t width, height;
} image_layout;

typedef struct image_buffer {
    unsigned char *data;
    size_t capacity;
} image_buffer;

typedef struct image {
    reader reader;       /* first: a reader * is an image * */
    image_layout layout; /* of the page at hand */
    int page;            /* its number */
    int64_t y;           /* rows of it that have been delivered */
    selection selection;
    histo_dtype *dtypes; /* [channels] */
    image_buffer rows;   /* samples of the band */
    image_buffer packed; /* the same before their expansion, where they need one */
} image;

extern const reader_kind reader_png, reader_jpeg, reader_tiff, reader_pnm;

/* A zeroed struct of `size` bytes that begins with an image, reading from `in`. On failure `in` is closed. */
void *image_create(size_t size, const reader_kind *kind, input *in, fault *f);
/* Free the struct and all that an image owns, `in` too. */
void image_destroy(image *m);

/* Begin page number `page`. The first page describes the reader; all later ones must be like it, in size too
 * unless reader.height is set to -1. */
int image_begin_page(image *m, int page, const image_layout *layout, fault *f);

/* reader.select of every image reader. */
int image_select(reader *r, const int *channels, int count, fault *f);

/* Bytes of a row of samples, and how many rows make a band. */
size_t image_pitch(const image *m);
int64_t image_band_rows(const image *m);

/* Room for `bytes` bytes, whose former content is lost. */
int image_reserve(const image *m, image_buffer *buffer, size_t bytes, fault *f);

/* Deliver the next `rows` rows, which m->rows holds: 1. */
int image_emit_rows(image *m, band *b, int64_t rows);

/* The sentence for a decoder's complaint; place is "row 7". -1. */
int image_damaged(const image *m, const char *place, const char *complaint, fault *f);
/* For formats with one image a file: refuse any page but the first. */
int image_check_single_page(const image *m, const read_options *options, fault *f);

/* Sample i of a row whose samples of less than 8, or 9 to 16, bits lie without gaps, high bits first. */
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
