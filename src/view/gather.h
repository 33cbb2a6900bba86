/* Copies of strided samples to contiguous memory. */
#ifndef VIEW_GATHER_H
#define VIEW_GATHER_H

#include "view/walk.h"

/* Copy n samples of `size` bytes, `stride` bytes apart, to contiguous memory. */
void histo_gather(char *to, const char *from, int64_t stride, size_t size, int64_t n);

/* Copy samples [begin, end) of one operand of the strided iterator to `to`. */
void histo_gather_range(char *to, const histo_strided_iter *iter, int operand, size_t size, int64_t begin, int64_t end);

#endif
