/* The occupied slots of a histogram, one batch entry after the other. Time and memory of what is computed from them
 * depend on how many there are, not on how many bins the axes have. */
#ifndef NUMBERS_OCCUPIED_H
#define NUMBERS_OCCUPIED_H

#include <histo/histo.h>

#include "base/threads/monitor.h"

typedef struct histo_occupied {
    int64_t *index;   /* of each slot in a read of all batch entries; once an entry has been passed, in this entry */
    uint64_t *counts; /* of each slot */
    int64_t size;
    int64_t per_entry; /* slots of a batch entry */
    int64_t entry;     /* the next batch entry */
    int64_t at;        /* where its slots begin in both arrays */
} histo_occupied;

/* The occupied slots of a batch entry. */
typedef struct histo_levels {
    const int64_t *bin; /* [n], increasing; its number among `slots` */
    const uint64_t *count;
    int64_t n;
    uint64_t total; /* of count */
} histo_levels;

/* Read the counts of hist, which is not NULL. Free with histo_occupied_release, also after a failure. */
histo_status histo_occupied_read(histo_occupied *occupied, const histo_hist *hist, histo_slots slots);
/* histo_occupied_read of the bins of one axis, whose edges `what` needs to be finite. */
histo_status histo_occupied_read_finite(histo_occupied *occupied, const histo_hist *hist, const char *what);
void histo_occupied_release(histo_occupied *occupied);

/* The next batch entry's, valid until the release; fewer if the pace stops. */
histo_levels histo_occupied_next(histo_occupied *occupied, histo_pace *pace);

/* HISTO_INVALID unless hist is a histogram with `naxes` axes and `out`, named `what`, is not NULL. */
histo_status histo_numbers_check(const histo_hist *hist, int naxes, const void *out, const char *what);

/* The value that the samples of a bin have. */
double histo_bin_value(const histo_axis *axis, int64_t bin);

/* The position of a name in names[n]; HISTO_INVALID for an unknown `what`. */
histo_status histo_name_find(const char *const *names, int n, const char *name, const char *what, int *found);

#endif
