/* Keys: samples mapped to unsigned integers of the same width that sort as the samples do. */
#ifndef SURVEY_QUANTILES_KEYS_H
#define SURVEY_QUANTILES_KEYS_H

#include <histo/histo.h>

enum { HISTO_KEYS_AT_ONCE = 1024 }; /* number of keys of a block made at once, in a buffer on the stack */

/* The bits to flip in a sample to get its key: none for unsigned integers, the sign bit for signed integers and floats,
 * all bits for negative floats. */
typedef struct histo_key_flip {
    int sign_shift;
    uint64_t sign, rest;
} histo_key_flip;

histo_key_flip histo_key_flip_of(histo_dtype dtype);

/* Branch-free, so that loops vectorise. */
static inline uint64_t histo_key_of(uint64_t bits, histo_key_flip flip)
{
    return bits ^ flip.sign ^ (flip.rest & (0 - (bits >> flip.sign_shift)));
}

void histo_keys_make(histo_dtype dtype, const void *samples, int64_t n, uint64_t *keys);

/* The sample with a given key, as a double. */
double histo_key_value(histo_dtype dtype, uint64_t key);

/* The smallest and largest key of samples that take part. Those beyond are NaN and, if only finite samples are wanted,
 * infinities. */
typedef struct histo_key_limits {
    uint64_t least, most;
} histo_key_limits;

histo_key_limits histo_key_limits_of(histo_dtype dtype, bool finite);

/* Add the number of keys below the limits to beyond[0], and that of keys above to beyond[1]. */
void histo_keys_count_beyond(histo_key_limits limits, const uint64_t *keys, int64_t n, uint64_t beyond[2]);

#endif
