/* Compares the counts of CPU strategies with those of the oracle, cpu/sequential. */
#ifndef TESTS_CPU_SLOTS_H
#define TESTS_CPU_SLOTS_H

#include <histo/histo.h>

/* The counts of all slots for each batch entry of the view, from malloc. */
uint64_t *count_by(const char *strategy, const histo_axis *axis, const histo_view *view, int64_t slots);

/* Every unweighted strategy agrees with the oracle. */
void check_view(const histo_axis *axis, const histo_view *view, int64_t batch);
void check_slots(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n);

#endif
