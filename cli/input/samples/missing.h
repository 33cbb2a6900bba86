/* Leaving missing values out of views: a mark for each position, 0 where the value is dropped. */
#ifndef CLI_MISSING_H
#define CLI_MISSING_H

#include <histo/histo.h>

/* Clear the marks where `valid`, u8, is 0; does nothing if it has no data. */
void missing_unmark(const histo_view *valid, unsigned char *keep);

/* Copy the `marked` marked values of a view to `to`, where there is room for all, and point the view at them. Returns
 * the end of the copy. */
char *missing_compact(histo_view *v, const unsigned char *keep, int64_t marked, char *to);

#endif
