/* Associated (premultiplied) alpha: colours stored times alpha. They are divided before values change, and multiplied
 * again where a format stores them so. */
#ifndef CLI_ALPHA_H
#define CLI_ALPHA_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether samples of this type can be divided: unsigned integers of up to 32 bits, f32 and f64. */
bool alpha_divides(histo_dtype dtype);
/* Divide the colours of interleaved pixels by alpha, the last channel. largest: for integers, alpha of opaque pixels;
 * 0: the dtype's maximum. A transparent pixel has no colour, and colours are clamped to opaque. */
void alpha_divide(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest);
/* The inverse, rounded to nearest: restores colours that were at most alpha. */
void alpha_multiply(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest);

#endif
