/* Grids whose samples are stored contiguously in a source of bytes, in either byte order (NIfTI, NRRD). */
#ifndef CLI_READERS_PLAIN_H
#define CLI_READERS_PLAIN_H

#include "input/readers/arrays/array.h"
#include "input/readers/arrays/grid.h"
#include "input/readers/arrays/scaling.h"

typedef struct plain_place {
    byte_source bytes; /* closed with the reader */
    int64_t start;     /* position of the first sample in the source */
    int64_t size;      /* of the source; -1: unknown */
    bool swapped;      /* not in native byte order */
    scaling scaling;
    const char *name; /* of the file with the samples (copied) */
} plain_place;

/* info->dtype is set. Takes ownership of the source, also on failure. */
reader *plain_open(input *in, const read_options *options, grid_info *info, const plain_place *place, fault *f);

/* A source that reads an input from its beginning, and owns it. */
byte_source byte_source_owning(input *in, const read_options *options);

/* Take the samples from another file next to this one: all of it. The place's source is that of an input, which stays
 * open. */
int plain_take_beside(plain_place *place, const char *file, const read_options *options, fault *f);
/* The samples are the last bytes of the source. */
int plain_take_end(plain_place *place, int64_t bytes, fault *f);

/* The input of a file next to another, whose path is `beside`; NULL on failure. */
input *plain_beside(const char *beside, const char *name, fault *f);

#endif
