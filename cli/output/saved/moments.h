/* Moments of the samples in saved histograms, for those who load them: a line of text for each series, with a checksum.
 * In JSON it is "moments" in the metadata, in sets the line "moments BYTES\n" and the text, before those of a
 * histogram. Of each axis it has
 *
 *     the numbers of samples, of NaN, of infinities and of masked samples, the minimum and the maximum,
 *     the sum of samples and that of their squares (histo_power_sums), each as FIRST N WORD …: N words from the
 *     FIRST on, in hexadecimal digits; those below are zero, and all bits above are the last one. */
#ifndef CLI_MOMENTS_H
#define CLI_MOMENTS_H

#include <stdio.h>

#include "count/result.h"

/* Write the moments, without a checksum. */
void moments_put(const series *of, FILE *out);
/* Read what moments_put wrote, and advance past it; false if it is damaged, or memory runs out. */
bool moments_take(const char **at, series *to);

/* NULL if out of memory; *size excludes the NUL. */
char *moments_text(const series *of, size_t *size);
/* Give the moments in text to the series added last, if they belong to its samples; false if they are damaged. */
bool moments_give(result *r, const char *text, size_t size);

#endif
