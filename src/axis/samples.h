/* The samples of a strided view as contiguous blocks, without those that a mask, a range filter on another view, or a
 * range of their own excludes. */
#ifndef AXIS_SAMPLES_H
#define AXIS_SAMPLES_H

#include <histo/histo.h>

#include "view/walk.h"

enum {
    HISTO_SAMPLES_GATHERED = 2048,  /* maximum block size when gathered … */
    HISTO_SAMPLES_IN_PLACE = 65536, /* … and in place */
};

typedef struct histo_samples {
    const void *block; /* the current block: n aligned samples of the view's dtype */
    int64_t n;
    uint64_t masked; /* samples excluded so far by the mask or the range filter */

    histo_strided_iter iter;
    histo_walk walk;
    histo_dtype dtype;
    bool is_contiguous_aligned;     /* every run can be used in place */
    const histo_view *mask, *where; /* operand 1 and, after any mask, the next */
    double where_lo, where_hi;
    bool only_inside;
    double lo, hi;
    _Alignas(64) char gathered[HISTO_SAMPLES_GATHERED * 8];
    uint8_t keep[HISTO_SAMPLES_GATHERED];
} histo_samples;

/* Weights in options are ignored, and batch dimensions are treated like others. The views are borrowed while blocks are
 * in use. */
histo_status histo_samples_start(histo_samples *from, const histo_view *samples, const histo_fill_options *options);

/* From now on, only samples with lo <= x <= hi, hence no NaN. */
void histo_samples_only_inside(histo_samples *from, double lo, double hi);

/* The next block, never empty; false at the end. */
bool histo_samples_next(histo_samples *from);

#endif
