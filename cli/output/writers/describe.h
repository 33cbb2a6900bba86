/* What pictures and pages say about series: their colours and a line of numbers. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include "count/result.h"
#include "options/settings.h"
#include "output/writers/plot.h"

/* The colour of series i: that of its channel, or one of the palette. */
plot_color describe_color(const result *r, int i);

/* A line for each series, if there are few: "r: 307 200 samples · min 0 · max 255 · mean 82.5 · std 79.6". Freed by the
 * caller; NULL if out of memory. */
char *describe_series(const result *r, const table *tables);

/* The title of a group's axis: its name, "value", or what its bins are. */
void describe_axis(const result *group, const settings *s, char label[400]);

/* -1 if an edge is infinite, which drawings cannot show. */
int describe_check(const histo_axis *axis, fault *f);

#endif
