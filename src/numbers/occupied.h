/* The occupied slots of a histogram, one batch entry after the other. The time and memory of computations on them
 * depend on how many there are, not on how many bins the axes have. */
#ifndef NUMBERS_OCCUPIED_H
#define NUMBERS_OCCUPIED_H

#include <histo/histo.h>

#include "base/threads/monitor.h"

typedef struct histo_occupied {
    int64_t *index;   /* position of each slot in a read of all batch entries; relative to its own entry once that has
                       * been returned */
    uint64_t *counts; /* count of each slot */
    int64_t size;
    int64_t per_entry; /* slots in a batch entry */
    int64_t entry;     /* the next batch entry */
    int64_t at;        /* where its slots begin in both arrays */
} histo_occupied;

/* The occupied slots of a batch entry. */
typedef struct histo_levels {
    const int64_t *bin; /* [n], increasing; index among `slots` */
    const uint64_t *count;
    int64_t n;
    uint64_t total; /* sum of the counts */
} histo_levels;

/* Read the counts of hist, which is not NULL. Free with histo_occupied_release, also after a failure. */
histo_status histo_occupied_read(histo_occupied *occupied, const histo_hist *hist, histo_slots slots);
/* histo_occupied_read for the bins of one axis, whose edges must be finite for `what`. */
histo_status histo_occupied_read_finite(histo_occupied *occupied, const histo_hist *hist, const char *what);
void histo_occupied_release(histo_occupied *occupied);

/* The slots of the next batch entry, valid until the release; fewer if the pace stops. */
histo_levels histo_occupied_next(histo_occupied *occupied, histo_pace *pace);

/* HISTO_INVALID unless hist is a histogram with `naxes` axes and `out`, named `what`, is not NULL. */
histo_status histo_numbers_check(const histo_hist *hist, int naxes, const void *out, const char *what);

/* The value assigned to the samples of a bin. */
double histo_bin_value(const histo_axis *axis, int64_t bin);

/* The index of a name in names[n]; HISTO_INVALID for an unknown `what`. */
histo_status histo_name_find(const char *const *names, int n, const char *name, const char *what, int *found);

#endif
