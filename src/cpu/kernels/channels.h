/* Interleaved one-byte channels, as in RGB and RGBA images, and rows of images. */
#ifndef CPU_CHANNELS_H
#define CPU_CHANNELS_H

#include <stddef.h>
#include <stdint.h>

#include "view/fetch.h"

enum { HISTO_MAX_CHANNELS = 4 }; /* also the maximum bytes per pixel */

/* out[c][i] = channel c < count of pixel i < n; pitch: bytes from one pixel to the next. */
typedef void histo_split_channels_fn(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out);

/* As histo_fetch (view/gather.h). */
typedef void histo_fetch_fn(char *to, const char *from, int64_t stride, histo_dtype dtype, const char *bits, int64_t n);

/* Copy rows of `bytes` each, which are `pitch` apart, to contiguous memory. */
typedef void histo_copy_rows_fn(char *to, const char *from, int64_t pitch, size_t bytes, int64_t rows);

#endif
