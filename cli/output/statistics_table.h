/* The statistics of a result as text: a table with a row for each series or axis, or a JSON object for each axis. */
#ifndef CLI_STATISTICS_TABLE_H
#define CLI_STATISTICS_TABLE_H

#include <stdio.h>

#include "count/statistics.h"
#include "options/settings.h"

/* Write the statistics as CSV (commas, and quotes if necessary) or TSV. */
int statistics_write_table(const result *r, const settings *s, bool csv, FILE *out, fault *f);

/* A list of objects, for the axes of series i. */
int statistics_write_json(const result *r, int i, const settings *s, FILE *out, fault *f);

#endif
