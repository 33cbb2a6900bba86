/* Passes over samples in a GPU's memory, without copying them to the host. */
#ifndef SURVEY_DEVICE_H
#define SURVEY_DEVICE_H

#include "plan/strategy.h"
#include "survey/samples.h"

/* Find the extremes of each of the source's batch entries: extremes[entries]. */
histo_status histo_source_extremes(const histo_source *source, histo_found *extremes);

/* Convert these extremes to the public form, with numbers instead of keys. */
histo_extremes histo_extremes_found(const histo_found *by_key, histo_dtype dtype);

/* Count the source's samples on an axis, by value or, with as_bits, as unsigned integers with the same bits.
 * counts[bins + 3]: all slots. */
histo_status histo_source_fill(const histo_source *source, const histo_axis *axis, bool as_bits, uint64_t *counts);

#endif
