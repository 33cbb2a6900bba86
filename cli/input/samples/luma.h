/* Gray from colour: Rec. 601 luma. */
#ifndef CLI_LUMA_H
#define CLI_LUMA_H

#include <histo/histo.h>

/* Write the luma of rgb[3] (two-dimensional views of equal shape and dtype) to `out`, contiguously. Integers of up to
 * 32 bits: (19595 R + 38470 G + 7471 B + 32768) >> 16 in the same dtype, like Pillow's "L"; others: 0.299 R + 0.587 G +
 * 0.114 B as f64. */
void luma_of(const histo_view *rgb, void *out);

#endif
