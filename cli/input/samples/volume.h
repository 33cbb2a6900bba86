/* An image or volume in memory: one channel of a page, of all pages, or of a three-dimensional array. */
#ifndef CLI_VOLUME_H
#define CLI_VOLUME_H

#include "input/samples/samples.h"

enum { VOLUME_DIMS = 3 };

typedef struct volume {
    histo_dtype dtype;
    channel_model model;
    int ndim;                     /* 2 or 3 */
    int64_t shape[VOLUME_DIMS];   /* slowest first: (z,) y, x */
    int64_t strides[VOLUME_DIMS]; /* in bytes */
    char *samples;
    unsigned char *mask; /* a byte for each sample, in C order; NULL: none */
    size_t room, mask_room;
} volume;

/* Read a file with one channel to count. Call volume_free afterwards, also on failure. */
int volume_read(volume *v, const char *path, const settings *s, fault *f);
void volume_free(volume *v);

/* A view of the whole volume. */
histo_view volume_view(const volume *v);

#endif
