/* The samples of a view in contiguous blocks, for code that only looks at values: whatever the strides, and without
 * those that a mask, a range filter on another view, or a range of their own leaves out. */
#ifndef AXIS_SAMPLES_H
#define AXIS_SAMPLES_H

#include <histo/histo.h>

#include "view/walk.h"

enum {
    HISTO_SAMPLES_GATHERED = 2048,  /* most samples of a block that had to be gathered … */
    HISTO_SAMPLES_IN_PLACE = 65536, /* … and of one that lies in memory as it is wanted */
};

typedef struct histo_samples {
    const void *block; /* the current block: n aligned samples of the view's dtype */
    int64_t n;
    uint64_t masked; /* samples that the mask or the range filter has left out so far */

    histo_strided_iter iter;
    histo_walk walk;
    histo_dtype dtype;
    bool is_contiguous_aligned;     /* every run can be used where it lies */
    const histo_view *mask, *where; /* operand 1 and, after any mask, the next */
    double where_lo, where_hi;
    bool only_inside;
    double lo, hi;
    _Alignas(64) char gathered[HISTO_SAMPLES_GATHERED * 8];
    uint8_t keep[HISTO_SAMPLES_GATHERED];
} histo_samples;

/* Weights in options are not looked at, and batch dimensions are like any others. The views are borrowed while the
 * blocks are in use. */
histo_status histo_samples_start(histo_samples *from, const histo_view *samples, const histo_fill_options *options);

/* From now on only samples with lo <= x <= hi, which leaves out NaN. */
void histo_samples_only_inside(histo_samples *from, double lo, double hi);

/* The next block, never empty; false at the end. */
bool histo_samples_next(histo_samples *from);

#endif
