/* Grids: the images and volumes of scientific formats, whose samples are decoded run by run.
 *
 * Two dimensions are rows x columns. More are flattened, like other arrays (array.h); with --page they are pages, the
 * slices of the last two dimensions. */
#ifndef CLI_READERS_GRID_H
#define CLI_READERS_GRID_H

#include "input/reader.h"

enum { GRID_MAX_DIMS = 16 };

typedef struct grid_info {
    histo_dtype dtype;
    channel_model model;
    int channels; /* interleaved, at least 1 */
    int ndim;     /* without channels; leading dimensions of 1 are dropped */
    int64_t shape[GRID_MAX_DIMS];
    int64_t block; /* number of pixels that are best read together; 0: any */
} grid_info;

typedef struct grid_source {
    void *self;
    /* Decode pixels first … first + count - 1 in storage order, to native byte order. valid, for each pixel: 0 if its
     * value is missing; NULL without gaps. */
    int (*read)(void *self, int64_t first, int64_t count, void *samples, unsigned char *valid, fault *f);
    void (*close)(void *self);
    bool gaps;     /* values may be missing */
    bool anywhere; /* reads need not be in order, so parts of the grid can be read by themselves */
} grid_source;

/* A reader of the grid. Takes ownership of source, also on failure. */
reader *grid_open(input *in, const read_options *options, const grid_info *info, grid_source source, fault *f);

#endif
