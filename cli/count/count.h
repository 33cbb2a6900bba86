/* The run of `histo hist`: find the axes, plan, count. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H

#include <stdio.h>

#include "count/result.h"
#include "options/settings.h"

/* Count what s says into r. want_stats: the moments of the samples, too. */
int count_files(const settings *s, bool want_stats, result *r, fault *f);

/* Find the axes, plan for the first samples, and print the plan with its reasons. */
int count_explain(const settings *s, FILE *out, fault *f);

#endif
