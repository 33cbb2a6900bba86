/* Extremes of blocks of samples. */
#ifndef SURVEY_EXTREMES_H
#define SURVEY_EXTREMES_H

#include "survey/samples.h"

/* Add a block. */
void histo_extremes_add(histo_extremes *extremes, const histo_samples *block);

/* Add the extremes of other samples of the same dtype. */
void histo_extremes_merge(histo_extremes *to, const histo_extremes *from, histo_dtype dtype);

/* Find the extremes of all batch entries, if these are contiguous columns; *found is false if they are not. */
histo_status histo_extremes_of_columns(const histo_source *source, histo_extremes *extremes, bool *found);

/* The extremes as doubles; 64-bit integers that doubles cannot represent are rounded outwards. */
void histo_extremes_outwards(const histo_extremes *extremes, histo_dtype dtype, double *min, double *max);

static inline uint64_t histo_extremes_finite(const histo_extremes *e)
{
    return e->samples - e->nan - e->below - e->above;
}

#endif
