/* Merging histograms whose bins have different names: the result has the names of both. */
#ifndef CLI_MERGE_NAMES_H
#define CLI_MERGE_NAMES_H

#include "count/result.h"

/* Whether both series have names, and these differ. */
bool series_differ_in_names(const series *x, const series *y);

/* Add `from` to `to`, by the names of bins: new ones are appended, before the bin that others share. */
int series_merge_names(series *to, const series *from, fault *f);

/* Order the bins of strings as a single process does: by their counts, or by name. */
int series_sort_names(series *s, bool by_name, fault *f);

#endif
