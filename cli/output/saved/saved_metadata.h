/* Metadata of saved histograms: what the command records about a series besides counts, next to what other programs
 * have written. */
#ifndef CLI_SAVED_METADATA_H
#define CLI_SAVED_METADATA_H

#include "count/result.h"
#include "options/settings.h"

/* Set the metadata of the histogram of series i: those of other programs with which it was loaded, and the statistics,
 * moments, missing shards and view of the counts that the settings request; s: NULL for none of these. */
int saved_metadata_set(const result *r, int i, const settings *s, fault *f);

/* Give the series added last the moments in its histogram's metadata, if there are any. */
int saved_metadata_give_moments(result *r, const char *path, fault *f);

#endif
