/* Associated (premultiplied) alpha: colours that are stored times alpha. They are divided before values change, and
 * multiplied again where a format keeps them so. */
#ifndef CLI_ALPHA_H
#define CLI_ALPHA_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

/* Can samples of this type be divided: unsigned integers of up to 32 bits, f32 and f64? */
bool alpha_divides(histo_dtype dtype);
/* Colours of interleaved pixels, whose last channel is alpha, without it. largest: alpha where pixels are opaque, of
 * integers; 0: the dtype's. A pixel without alpha has no colour, and no colour is above opaque. */
void alpha_divide(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest);
/* The inverse, rounded to nearest: colours that were at most alpha are what they were. */
void alpha_multiply(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest);

#endif
