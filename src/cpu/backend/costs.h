/* The cost of turning samples into slots, for the cost models of strategies. */
#ifndef CPU_COSTS_H
#define CPU_COSTS_H

#include "plan/problem.h"

/* Whether the edges of an axis are stored, nearly regular, and not in a table: see histo_spans. */
bool histo_is_near(const histo_problem *problem, int axis);

/* For cost models (costs.c), the time per sample: of histo_block_slots, of the same while other slots are counted
 * (pipeline.h), of histo_block_codes, and of gathering a sample into a block that does not span batch entries. */
double histo_slots_ns(const histo_problem *problem);
double histo_pipelined_slots_ns(const histo_problem *problem);
double histo_codes_ns(const histo_problem *problem);
double histo_gather_ns(const histo_problem *problem);

#endif
