/* Checks of views. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <histo/histo.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a view is valid in itself: dtype, dimensions, a product of the shape up to 2^62, and data unless it is empty.
 * `what` names it in the message. */
histo_status histo_view_check(const histo_view *view, const char *what);

/* Check a mask, which may be HISTO_BIT. */
histo_status histo_view_check_mask(const histo_view *view, const char *what);

/* Check a view, valid in itself, of a function's records. */
histo_status histo_view_check_records(const histo_view *view, const histo_function *function, const char *what);

/* HISTO_INVALID unless both have the same shape and batch dimensions. */
histo_status histo_view_same_shape(const histo_view *view, const histo_view *like, const char *what);

/* The product of the batch dimensions. */
int64_t histo_view_batch(const histo_view *view);

#ifdef __cplusplus
}
#endif

#endif
