/* Moments of the samples in saved histograms, for those who load them: a line of text for each series, with a checksum.
 * In JSON it is "moments" in the metadata, in sets the line "moments BYTES\n" and the text, before those of a
 * histogram. */
#ifndef CLI_MOMENTS_H
#define CLI_MOMENTS_H

#include <stdio.h>

#include "count/result.h"
#include "options/settings.h"

/* Are those of series i to be saved? Of samples, if --stats asks for them; those that were loaded remain. */
bool moments_wanted(const result *r, int i, const settings *s);
/* NULL without memory; *size is without the NUL. */
char *moments_text(const series *of, size_t *size);
/* Give those in text to the series added last; false if they are damaged. */
bool moments_give(result *r, const char *text, size_t size);

#endif
