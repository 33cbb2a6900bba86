/* How files say, by attributes, that stored samples are to be read: numbers packed into integers, and values that mark
 * missing samples. Follows the conventions of netCDF: scale_factor, add_offset, _FillValue, missing_value, valid_min,
 * valid_max, valid_range and _Unsigned; and units and calendar, for times. NumPy's NaT is a missing value, too. */
#ifndef CLI_UNPACK_H
#define CLI_UNPACK_H

#include "base/scratch.h"
#include "input/reader.h"

enum { UNPACK_MAX_MISSING = 8 };

/* A stored value: i for signed integers, u for unsigned ones, f for floats. */
typedef union unpack_number {
    int64_t i;
    uint64_t u;
    double f;
} unpack_number;

typedef struct packing {
    bool scaled; /* a sample is stored * scale + offset */
    bool single; /* scaled samples are computed and kept as f32, as NumPy would */
    double scale, offset;
    int missing_count;
    unpack_number missing[UNPACK_MAX_MISSING];
    bool has_lo, has_hi; /* values outside are missing */
    unpack_number lo, hi;
    time_epoch epoch; /* samples are times */
} packing;

/* An attribute: its numbers, in their own type, or text. */
typedef struct attribute {
    histo_dtype dtype;
    int count; /* number of numbers, at most UNPACK_MAX_MISSING; 0: text */
    unpack_number values[UNPACK_MAX_MISSING];
    char text[64];
} attribute;

/* Find an attribute by name; false if there is none, or it is not understood. */
typedef bool attribute_find(void *self, const char *name, attribute *to);

/* What the attributes say about samples stored in this type, which _Unsigned changes. */
packing unpack_rule(attribute_find *find, void *self, histo_dtype *stored);
/* Add a value that marks missing samples. */
void unpack_add_missing(packing *p, unpack_number value);
/* Add netCDF's default fill value as missing, for variables without _FillValue. */
void unpack_add_default_fill(packing *p, histo_dtype stored);
/* An element of an attribute, from its bytes. */
unpack_number unpack_load(const void *at, histo_dtype dtype);

/* Whether there is nothing to do. */
bool unpack_is_idle(const packing *p);
/* The type of the samples: a float if they are scaled. */
histo_dtype unpack_dtype(const packing *p, histo_dtype stored);

/* Unpacks the bands of a reader. */
typedef struct unpacker {
    const packing *packings; /* [channels of the reader] */
    scratch room;
    histo_view *valid; /* [selected channels] */
} unpacker;

/* Replace the band's views of stored samples, for the selected channels, by views of unpacked ones. Missing samples are
 * NaN in floats, and the band marks them. */
int unpack_band(unpacker *u, const selection *s, band *b, const char *name, fault *f);
void unpack_free(unpacker *u);

#endif
