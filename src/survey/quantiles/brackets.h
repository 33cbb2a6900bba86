/* Brackets in which order statistics are likely to be, as in the algorithm of Floyd and Rivest (1975). */
#ifndef SURVEY_QUANTILES_BRACKETS_H
#define SURVEY_QUANTILES_BRACKETS_H

#include "survey/quantiles/state.h"

/* Begin to use brackets in this pass, after all keys of earlier pieces of the data have been kept. `source` is the next
 * piece. */
void histo_brackets_begin(histo_selection *selection, const histo_source *source);

/* Another piece of the data, in a pass with brackets. Whether so many keys have been drawn that these should be
 * narrowed.
 */
bool histo_brackets_begin_piece(histo_selection *selection, const histo_source *source);

/* While no thread adds: make narrower brackets of the keys that were drawn, as if the pass had begun with them, unless
 * they reach beyond those that it has. */
void histo_brackets_narrow(histo_selection *selection);

/* What a thread adds: count the samples in all brackets, and collect those inside. */
void histo_brackets_add(histo_selection_part *part, const void *block, int64_t n);
void histo_brackets_end_part(histo_selection_part *part);

bool histo_brackets_end_pass(histo_selection *selection);

#endif
