/* Fills of listed samples, and of several weights of each sample, as fills that have neither. */
#ifndef COUNTS_LISTED_H
#define COUNTS_LISTED_H

#include <histo/histo.h>

/* What is filled instead: views and options that refer to it and to the caller's memory. */
typedef struct histo_listed {
    histo_view views[HISTO_MAX_AXES], weights, mask, where;
    histo_fill_options options;
    int64_t *offsets; /* or NULL */
    char *copies[HISTO_MAX_AXES + 3];
    int copied;
} histo_listed;

/* options have rows or a weight_count. To be freed, after a failure too. */
histo_status histo_listed_make(histo_listed *listed, const histo_hist *hist, const histo_view *views,
                               const histo_fill_options *options);
void histo_listed_free(histo_listed *listed);

#endif
