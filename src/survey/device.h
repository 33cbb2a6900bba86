/* Samples in a GPU's memory: a pass over them, without copying them to the host. */
#ifndef SURVEY_DEVICE_H
#define SURVEY_DEVICE_H

#include "plan/strategy.h"
#include "survey/samples.h"

/* Find the extremes of the source's batch entries; extremes[entries]. */
histo_status histo_source_extremes(const histo_source *source, histo_found *extremes);

/* These extremes as the public function gives them, with numbers in place of keys. */
histo_extremes histo_extremes_found(const histo_found *by_key, histo_dtype dtype);

/* Count the source's samples on an axis, as they are, or as_bits: as unsigned integers of their size with the same
 * bits. counts[bins + 3]: of all slots. */
histo_status histo_source_fill(const histo_source *source, const histo_axis *axis, bool as_bits, uint64_t *counts);

#endif
