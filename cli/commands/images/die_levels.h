/* Converts images of any type to u16 levels, which is what outliers counts. Levels are equally wide, over a range that
 * a few extreme samples do not affect; those have the lowest or highest level. */
#ifndef CLI_DIE_LEVELS_H
#define CLI_DIE_LEVELS_H

#include <histo/histo.h>
#include <stdbool.h>

#include "base/fault.h"

typedef struct die_levels {
    histo_dtype dtype; /* of the images */
    bool known;
    double lo, step;
    histo_quantiles *quantiles; /* of all samples, until known */
} die_levels;

/* Whether samples of this type need levels: u8 and u16 are levels already. */
bool die_levels_needed(histo_dtype dtype);
int die_levels_begin(die_levels *l, histo_dtype dtype, fault *f);
void die_levels_free(die_levels *l);

/* Whether a pass over the samples is needed: if so, pass them all to die_levels_add, and ask again. */
bool die_levels_next_pass(die_levels *l);
int die_levels_add(die_levels *l, const histo_view *samples, fault *f);
/* After the passes. */
int die_levels_find(die_levels *l, fault *f);

/* The level of a sample; -1 if it is not finite. */
int die_level(const die_levels *l, double value);

#endif
