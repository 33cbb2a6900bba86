/* 8-bit results of images with more bits: --to 8bit for any type, and --bits N of at most 8. Channels are mapped
 * directly; luma and value change colours in the image's type, which are scaled afterwards. */
#ifndef CLI_EIGHT_BITS_H
#define CLI_EIGHT_BITS_H

#include "apply/job.h"

/* After the tones are chosen, and before the kind begins: set j->top, and whether the result has 8 bits. */
int eight_bits_begin(job *j, fault *f);

/* Whether the result is mapped in the image's type, and scaled afterwards. */
bool eight_bits_scales(const job *j);

/* Scale samples of the image's type to 8 bits: lo and hi become 0 and j->top. */
void eight_bits_scale(const job *j, const unsigned char *from, int64_t count, double lo, double hi, unsigned char *to);
/* The same, from the full range of the type: for what is not mapped, such as alpha. */
void eight_bits_rest(const job *j, const unsigned char *from, int64_t count, unsigned char *to);

#endif
