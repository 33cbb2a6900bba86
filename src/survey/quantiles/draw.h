/* Keys drawn at random from the samples, from which brackets are made. */
#ifndef SURVEY_QUANTILES_DRAW_H
#define SURVEY_QUANTILES_DRAW_H

#include "survey/quantiles/state.h"

/* Enough keys to make brackets from, and the most that are drawn. */
enum { HISTO_LEAST_DRAWN = 1 << 11, HISTO_MOST_DRAWN = 1 << 18 };

/* Draw about `wanted` keys from the first piece of the data. */
void histo_draw_first_keys(histo_selection *selection, const histo_source *source, int64_t wanted);

/* Draw from another piece, in proportion to its samples. */
void histo_draw_more_keys(histo_selection *selection, const histo_source *source);

/* Add these keys to the drawn ones, except those beyond the limits. */
void histo_add_drawn_keys(histo_selection *selection, const uint64_t *keys, int64_t n);

#endif
