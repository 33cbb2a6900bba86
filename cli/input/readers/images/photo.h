/* An image file's first page in memory: one channel, or red, green and blue. */
#ifndef CLI_PHOTO_H
#define CLI_PHOTO_H

#include "input/reader.h"

typedef struct photo {
    void *pixels; /* contiguous rows, one channel after the other; freed by the caller */
    int channels; /* 3 for colour images, else 1 */
    histo_dtype dtype;
    int64_t width, height;
} photo;

int photo_read(const char *path, const read_options *options, photo *p, fault *f);

#endif
