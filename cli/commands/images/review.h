/* Review images: each image with outliers, in gray, with the outliers framed in red. */
#ifndef CLI_REVIEW_H
#define CLI_REVIEW_H

#include "output/images/images.h"

typedef struct review_place {
    int image;
    int64_t x, y;
} review_place;

typedef struct review {
    const char *path; /* NULL: not requested */
    const image_writer *writer;
    review_place *places; /* [count], owned */
    int64_t count, room;
    int64_t height, width;
    unsigned char *gray; /* the images that have places, one after the other */
    int *slot;           /* [images]: index of each image among these; -1: none */
    int images;
} review;

/* Check the path, and that no input file would be overwritten. review_free frees everything, also after a failure. */
int review_begin(review *r, const settings *s, fault *f);
void review_free(review *r);

int review_note(review *r, int image, int64_t x, int64_t y, fault *f);
/* After the last place: allocate the images that have any. */
int review_make(review *r, int images, int64_t height, int64_t width, fault *f);
/* Set a sample, 0 … 255. */
static inline void review_put(const review *r, int image, int64_t x, int64_t y, unsigned char value)
{
    if (r->slot[image] >= 0) r->gray[(r->slot[image] * r->height + y) * r->width + x] = value;
}
/* Write all of them, to the path with the number of the image before the suffix. */
int review_write(const review *r, fault *f);

#endif
