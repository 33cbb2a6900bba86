/* The bytes of a PNG file for libpng, whose image data a thread inflates ahead: libpng gets them in deflate's stored
 * blocks, and is left with filters and transformations. */
#ifndef CLI_READERS_PNG_DATA_H
#define CLI_READERS_PNG_DATA_H

#include "input/stream/input.h"

typedef struct png_data png_data;

/* From the beginning of `in`, which is borrowed. NULL without memory. */
png_data *png_data_open(input *in);
void png_data_close(png_data *d);

/* Read this many bytes: NULL, or what is wrong, in libpng's words. The checksums of image data and of the end are those
 * of the file, and are checked here; libpng must ignore the ones it gets. */
const char *png_data_read(png_data *d, void *to, size_t size);

#endif
