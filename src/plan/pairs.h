/* Problems whose samples are computed from pairs of images. */
#ifndef PLAN_PAIRS_H
#define PLAN_PAIRS_H

#include "base/text_builder.h"
#include "plan/problem.h"

/* Check what cannot be known from the problem alone. */
histo_status histo_pairs_check(const histo_pairs *pairs);

/* Check the stack, which is the only operand, and set what axes see of it. */
histo_status histo_pairs_bind(histo_problem *problem, const histo_view *stack, const histo_fill_options *options);

/* Add to the signature of a problem how its samples are computed, if they are. */
void histo_pairs_sign(const histo_problem *problem, histo_text *text);

#endif
