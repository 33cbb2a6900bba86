/* The exact sum of the histograms of the last frames: counts are added when a frame arrives and removed when it
 * leaves. */
#ifndef CLI_RECENT_H
#define CLI_RECENT_H

#include "base/fault.h"
#include <histo/histo.h>

typedef struct recent {
    int length;          /* number of frames to sum up */
    int64_t come, left;  /* number of frames so far */
    int64_t turn;        /* frames before this one have been replaced by sums */
    histo_hist **frames; /* [length]: at i % length the histogram of frame i, or the sum from it to the turn */
    histo_hist *newer;   /* the sum since the turn */
    histo_hist *sum;     /* the total */
} recent;

/* For histograms with these axes and options. recent_free frees everything, also after a failure. */
int recent_make(recent *r, int length, const histo_axis *axis, const histo_hist_options *options, fault *f);
void recent_free(recent *r);

/* The empty histogram in which to count the next frame. */
histo_hist *recent_next(recent *r, fault *f);
/* After counting it: r->sum is the sum of the last frames. */
int recent_add(recent *r, fault *f);

#endif
