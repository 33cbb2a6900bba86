/* The first channel of an image file's first page, in memory: red for colour images. */
#ifndef CLI_PHOTO_H
#define CLI_PHOTO_H

#include "input/reader.h"

typedef struct photo {
    void *pixels; /* contiguous rows; the caller frees them */
    histo_dtype dtype;
    int64_t width, height;
} photo;

int photo_read(const char *path, const read_options *options, photo *p, fault *f);

#endif
