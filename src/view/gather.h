/* Copies strided samples to contiguous memory. */
#ifndef VIEW_GATHER_H
#define VIEW_GATHER_H

#include "view/fetch.h"
#include "view/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copy n samples of `size` bytes, `stride` bytes apart, to contiguous memory. */
histo_gather_fn histo_gather;

/* Gather samples of any dtype; see histo_fetch_by. */
void histo_fetch(char *to, const char *from, int64_t stride, histo_dtype dtype, const char *bits, int64_t n);

/* Copy samples [begin, end) of one operand of the strided iterator to `to`. */
void histo_gather_range(char *to, const histo_strided_iter *iter, int operand, size_t size, int64_t begin, int64_t end);

#ifdef __cplusplus
}
#endif

#endif
