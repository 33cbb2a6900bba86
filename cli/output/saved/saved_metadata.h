/* Metadata of saved histograms: what the command has to say of a series besides counts, among what others have said. */
#ifndef CLI_SAVED_METADATA_H
#define CLI_SAVED_METADATA_H

#include "count/result.h"
#include "options/settings.h"

/* Give the histogram of series i its metadata: those of others that it was loaded with, and the statistics, the
 * moments, the missing shards and the view of the counts that the settings ask for; s: NULL for none of these. */
int saved_metadata_set(const result *r, int i, const settings *s, fault *f);

/* Give the series added last the moments that its histogram has in its metadata, if there are some. */
int saved_metadata_give_moments(result *r, const char *path, fault *f);

#endif
