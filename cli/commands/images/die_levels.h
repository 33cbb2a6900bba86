/* Images of any type as images of u16: what outliers counts. Each level stands for equally many values, from a range
 * that a few extreme samples do not change; these are the lowest or the highest level. */
#ifndef CLI_DIE_LEVELS_H
#define CLI_DIE_LEVELS_H

#include <histo/histo.h>
#include <stdbool.h>

#include "base/fault.h"

typedef struct die_levels {
    histo_dtype dtype; /* of the images */
    bool known;
    double lo, step;
    histo_quantiles *quantiles; /* of all samples, until they are known */
} die_levels;

/* Do samples of this type need levels? Those of u8 and u16 are levels. */
bool die_levels_needed(histo_dtype dtype);
int die_levels_begin(die_levels *l, histo_dtype dtype, fault *f);
void die_levels_free(die_levels *l);

/* Is a pass over the samples needed? Then pass them all to die_levels_add, and ask again. */
bool die_levels_next_pass(die_levels *l);
int die_levels_add(die_levels *l, const histo_view *samples, fault *f);
/* After the passes. */
int die_levels_find(die_levels *l, fault *f);

/* The level of a sample; -1: it is not a finite number. */
int die_level(const die_levels *l, double value);

#endif
