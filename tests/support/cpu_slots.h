/* What strategies of the CPU count, compared with what the oracle, cpu/sequential, counts. */
#ifndef TESTS_CPU_SLOTS_H
#define TESTS_CPU_SLOTS_H

#include <histo/histo.h>

/* The counts of all slots for each batch entry of the view, from malloc. */
uint64_t *count_by(const char *strategy, const histo_axis *axis, const histo_view *view, int64_t slots);

/* Every strategy that counts without weights agrees with the oracle. */
void check_view(const histo_axis *axis, const histo_view *view, int64_t batch);
void check_slots(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n);

#endif
