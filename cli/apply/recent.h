/* The sum of the histograms of the last frames, exactly: counts are added when a frame comes and taken away when it
 * leaves. */
#ifndef CLI_RECENT_H
#define CLI_RECENT_H

#include "base/fault.h"
#include <histo/histo.h>

typedef struct recent {
    int length;          /* frames to sum up */
    int64_t come, left;  /* frames until now */
    int64_t turn;        /* the sums of frames before this one are in their places */
    histo_hist **frames; /* [length]: of frame i at i % length, its histogram, or the sum from it to the turn */
    histo_hist *newer;   /* the sum since the turn */
    histo_hist *sum;     /* of all */
} recent;

/* For histograms with these axes and options. recent_free frees what there is, also after a failure. */
int recent_make(recent *r, int length, const histo_axis *axis, const histo_hist_options *options, fault *f);
void recent_free(recent *r);

/* The empty histogram to count the next frame in. */
histo_hist *recent_next(recent *r, fault *f);
/* After counting it: r->sum is that of the last frames. */
int recent_add(recent *r, fault *f);

#endif
