/* Samples stored compressed, or as text (NRRD, MetaImage): a source that decodes another one. */
#ifndef CLI_READERS_ENCODED_H
#define CLI_READERS_ENCODED_H

#include "input/readers/arrays/plain.h"

typedef enum encoding {
    ENCODED_RAW = 0,
    ENCODED_COMPRESSED, /* in the format that the first bytes show */
    ENCODED_ZLIB,
    ENCODED_TEXT, /* numbers separated by blanks and commas */
    ENCODED_HEX,
} encoding;

/* The bytes of all samples of this dtype; -1: more than 2^63. */
int64_t encoded_bytes(const grid_info *info, histo_dtype dtype);

/* Make the source of a place, which stays with its owner on failure, decode this many bytes of samples, after skipping
 * some of the decoded bytes. The place's scaling is known. */
int encoded_decode(plain_place *place, encoding is, int64_t bytes, int64_t skip, fault *f);

#endif
