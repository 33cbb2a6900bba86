/* Interleaved channels of one byte each, such as those of RGB and RGBA images. */
#ifndef CPU_CHANNELS_H
#define CPU_CHANNELS_H

#include <stdint.h>

enum { HISTO_MAX_CHANNELS = 4 }; /* and bytes of a pixel */

/* out[c][i] = channel c < count of pixel i < n; pitch: bytes from a pixel to the next. */
typedef void histo_split_channels_fn(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out);

#endif
