/* Histograms whose bins have different names get those of both. */
#ifndef CLI_MERGE_NAMES_H
#define CLI_MERGE_NAMES_H

#include "count/result.h"

/* Have both series names, which differ? */
bool series_differ_in_names(const series *x, const series *y);

/* Add `from` to `to`, by the names of bins: new ones follow, in front of the bin that others share. */
int series_merge_names(series *to, const series *from, fault *f);

/* Order the bins of strings as one process does: by their counts, or by their names. */
int series_sort_names(series *s, bool by_name, fault *f);

#endif
