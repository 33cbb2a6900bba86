/* Results of 8 bits of images that have more: --to 8bit of any type, and --bits N of at most 8. Channels are mapped to
 * them at once; luma and value are changed among colours of the image's type, which are scaled afterwards. */
#ifndef CLI_EIGHT_BITS_H
#define CLI_EIGHT_BITS_H

#include "apply/job.h"

/* After the tones are chosen, and before the kind begins: whether the result has 8 bits, and j->top. */
int eight_bits_begin(job *j, fault *f);

/* Is the result mapped in the image's type, and scaled afterwards? */
bool eight_bits_scales(const job *j);

/* Samples of the image's type as 8 bits. lo and hi become 0 and j->top. */
void eight_bits_scale(const job *j, const unsigned char *from, int64_t count, double lo, double hi, unsigned char *to);
/* The same, of all values of the type: what is not mapped, such as alpha. */
void eight_bits_rest(const job *j, const unsigned char *from, int64_t count, unsigned char *to);

#endif
