/* Merging saved histograms. */
#ifndef CLI_SAVED_MERGE_H
#define CLI_SAVED_MERGE_H

#include "count/result.h"

/* Load files[count], at least one, and add up the histograms with equal names. Shards must belong to one run, with none
 * occurring twice; the sum of all shards is not marked as one. */
int saved_merge(const char *const *files, int count, result *sum, fault *f);

/* Print on standard error what is missing from a sum of shards, or from one that is still being counted. */
void saved_remark(const result *r, const char *name);

/* The series of `in` with the name of series i of r, or the only one if either has no name; -1: there is none. Series
 * with equal names are matched in order: the first with the first, and so on. */
int series_find(const result *in, const result *r, int i);

#endif
