/* Segments of one-dimensional samples, each with its own histogram: offsets from a file, cut to match pieces of the
 * samples. */
#ifndef CLI_SEGMENTS_H
#define CLI_SEGMENTS_H

#include "input/reader.h"

typedef struct segments {
    int64_t *offsets, *cut; /* [count + 1]; NULL: none */
    int64_t have;           /* number of offsets */
    int64_t position;       /* samples seen */
    int64_t first, beyond;  /* the last cut: 0 before offset `first`, `length` from offset `beyond` on */
    int64_t length;
} segments;

/* Offsets from a file of any format: non-decreasing integers from 0 on. The caller frees them, also on failure. */
int segments_open(segments *s, const char *path, fault *f);
void segments_free(segments *s);
int64_t segments_count(const segments *s);

/* Offsets relative to the next n samples. Valid until the next call. */
const int64_t *segments_next(segments *s, int64_t n);
void segments_rewind(segments *s);
/* At the end of the data: check that its length matches the offsets. */
int segments_end(const segments *s, const reader *data, fault *f);

#endif
