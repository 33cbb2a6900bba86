/* Linear rescaling: value = slope * stored + intercept (NIfTI, DICOM). Integers stay integers if the slope is 1 and the
 * intercept whole; otherwise values are 64-bit floats. */
#ifndef CLI_READERS_SCALING_H
#define CLI_READERS_SCALING_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct scaling {
    histo_dtype from, to;
    double slope, intercept;
    bool none; /* to equals from, and values are as stored */
} scaling;

/* bits: how many bits of a stored integer are used; 0: all. */
scaling scaling_of(histo_dtype from, int bits, double slope, double intercept);

/* The type that holds the values of both. */
histo_dtype scaling_common(histo_dtype a, histo_dtype b);
/* Make the values this type, which can hold them. */
void scaling_make(scaling *s, histo_dtype to);

/* Apply the scaling to samples in native byte order. stored and values may start at the same address, because values
 * are not smaller. */
void scaling_apply(const scaling *s, const void *stored, void *values, int64_t count);

#endif
