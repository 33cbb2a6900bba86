/* Brackets that are likely to contain order statistics, as in the algorithm of Floyd and Rivest (1975). */
#ifndef SURVEY_QUANTILES_BRACKETS_H
#define SURVEY_QUANTILES_BRACKETS_H

#include "survey/quantiles/state.h"

/* Start using brackets in this pass; all keys of earlier pieces of the data have been kept. `source` is the next
 * piece. */
void histo_brackets_begin(histo_selection *selection, const histo_source *source);

/* Begin another piece of the data, in a pass with brackets. Returns whether so many keys have been drawn that the
 * brackets should be narrowed. */
bool histo_brackets_begin_piece(histo_selection *selection, const histo_source *source);

/* While no thread adds: make narrower brackets from the drawn keys, as if the pass had begun with them, unless they
 * extend beyond the current ones. */
void histo_brackets_narrow(histo_selection *selection);

/* Add samples to a thread's part: count those in all brackets, and collect those inside. */
void histo_brackets_add(histo_selection_part *part, const void *block, int64_t n);
void histo_brackets_end_part(histo_selection_part *part);

bool histo_brackets_end_pass(histo_selection *selection);

#endif
