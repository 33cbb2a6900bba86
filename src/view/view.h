/* Views as the library sees them: checked, and walked together. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <histo/histo.h>

#include "base/error.h"

/* Is the view itself sound (dtype, dimensions, a shape whose product fits 2^62, data where there are samples)? `what`
 * names it in the sentence. */
histo_status histo_view_check(const histo_view *view, const char *what);

/* HISTO_INVALID unless both have one shape and the same batch dimensions. */
histo_status histo_view_same_shape(const histo_view *view, const histo_view *like, const char *what);

/* Product of the batch dimensions. */
int64_t histo_view_batch(const histo_view *view);

#endif
