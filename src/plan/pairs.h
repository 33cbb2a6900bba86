/* Problems whose samples are computed from pairs of images. */
#ifndef PLAN_PAIRS_H
#define PLAN_PAIRS_H

#include "base/text_builder.h"
#include "plan/problem.h"

/* Check histo_pairs itself: what the problem does not show. */
histo_status histo_pairs_check(const histo_pairs *pairs);

/* Check the stack, which is the only operand, and set the dtypes that the axes see. */
histo_status histo_pairs_bind(histo_problem *problem, const histo_view *stack, const histo_fill_options *options);

/* Append to a problem's signature how its samples are computed from pairs, if they are. */
void histo_pairs_sign(const histo_problem *problem, histo_text *text);

#endif
