/* Feeds a PNG file to libpng while a thread inflates its image data ahead: libpng gets them as stored deflate blocks,
 * and is left with filters and transformations. */
#ifndef CLI_READERS_PNG_DATA_H
#define CLI_READERS_PNG_DATA_H

#include "input/stream/input.h"

typedef struct png_data png_data;

/* From the beginning of `in`, which is borrowed. NULL if out of memory. */
png_data *png_data_open(input *in);
void png_data_close(png_data *d);

/* Read this many bytes: returns NULL, or what is wrong, in libpng's words. The file's checksums of image data and of
 * the end are checked here; libpng must ignore the ones it gets. */
const char *png_data_read(png_data *d, void *to, size_t size);

#endif
