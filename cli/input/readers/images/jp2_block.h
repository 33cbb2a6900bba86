/* JPEG 2000 within files of other formats: tiles of TIFF. The function is in the module jp2. */
#ifndef CLI_READERS_JP2_BLOCK_H
#define CLI_READERS_JP2_BLOCK_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/module.h"

/* A block of interleaved samples of u8 or u16. */
typedef struct jp2_block {
    int64_t width, height;
    int64_t most_rows; /* stored rows: the last strip may have more than its height */
    int channels;
    histo_dtype dtype;
    bool luma; /* the three channels are luma and chroma, perhaps subsampled, and are converted to red, green and
                * blue */
} jp2_block;

enum { JP2_COMPLAINT_BYTES = 160 };

/* Decode a codestream, or a JP2 file, to a block; it may have fewer rows and columns. On failure, returns false and
 * what is wrong. */
typedef bool jp2_decode_block_function(const unsigned char *data, size_t size, const jp2_block *block, void *to,
                                       char complaint[JP2_COMPLAINT_BYTES]);
MODULE_SYMBOL jp2_decode_block_function jp2_decode_block;

#endif
