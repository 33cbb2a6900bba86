/* Leaving missing values out of views: a mark for each place, 0 where the value is not kept. */
#ifndef CLI_MISSING_H
#define CLI_MISSING_H

#include <histo/histo.h>

/* Unmark the places where `valid`, u8, is 0; nothing if it has no data. */
void missing_unmark(const histo_view *valid, unsigned char *keep);

/* Copy the marked values of a view, whose number is `marked`, to `to`, where there is room for all, and make it one of
 * them. Returns the end of the copy. */
char *missing_compact(histo_view *v, const unsigned char *keep, int64_t marked, char *to);

#endif
