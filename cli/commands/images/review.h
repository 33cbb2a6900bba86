/* Review images: each image with outliers, in gray, with the places framed in red. */
#ifndef CLI_REVIEW_H
#define CLI_REVIEW_H

#include "output/images/images.h"

typedef struct review_place {
    int image;
    int64_t x, y;
} review_place;

typedef struct review {
    const char *path; /* NULL: none is asked for */
    const image_writer *writer;
    review_place *places; /* [count], owned */
    int64_t count, room;
    int64_t height, width;
    unsigned char *gray; /* of the images with places, one after the other */
    int *slot;           /* [images]: which of these an image is; -1: none */
    int images;
} review;

/* Check the path, and that no image of the files would be replaced. review_free frees it all, also after a failure. */
int review_begin(review *r, const settings *s, fault *f);
void review_free(review *r);

int review_note(review *r, int image, int64_t x, int64_t y, fault *f);
/* After the last place: memory for the images that have any. */
int review_make(review *r, int images, int64_t height, int64_t width, fault *f);
/* A sample, from 0 to 255. */
static inline void review_put(const review *r, int image, int64_t x, int64_t y, unsigned char value)
{
    if (r->slot[image] >= 0) r->gray[(r->slot[image] * r->height + y) * r->width + x] = value;
}
/* Write all of them, to the path with the number of the image before the suffix. */
int review_write(const review *r, fault *f);

#endif
