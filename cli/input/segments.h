/* Segments of one-dimensional samples, each with a histogram of its own: a file of offsets, cut to pieces of the
 * samples as they come. */
#ifndef CLI_SEGMENTS_H
#define CLI_SEGMENTS_H

#include "input/reader.h"

typedef struct segments segments;

/* Offsets from a file of any format: whole numbers from 0 on that never decrease. */
segments *segments_open(const char *path, fault *f);
void segments_close(segments *s);
int64_t segments_count(const segments *s);

/* The offsets of the next n samples of data, within these. Valid until the next call. */
const int64_t *segments_next(segments *s, int64_t n);
void segments_rewind(segments *s);
/* The data ended: it must have as many samples as the offsets say. */
int segments_end(const segments *s, const reader *data, fault *f);

#endif
