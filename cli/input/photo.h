/* The first channel of the first page of an image file, whole: of a coloured one, red. */
#ifndef CLI_PHOTO_H
#define CLI_PHOTO_H

#include "input/reader.h"

typedef struct photo {
    void *pixels; /* rows without gaps; free it */
    histo_dtype dtype;
    int64_t width, height;
} photo;

int photo_read(const char *path, const read_options *options, photo *p, fault *f);

#endif
