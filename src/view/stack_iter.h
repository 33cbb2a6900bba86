/* Strided iterators over stacks of images. */
#ifndef VIEW_STACK_ITER_H
#define VIEW_STACK_ITER_H

#include "view/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Iterate over the pairs of a stack, which has been checked: the first dimension after the batch becomes that of
 * pairs. */
void histo_pairs_iter_make(histo_strided_iter *iter, const histo_view *stack, const histo_pairs *pairs);

/* The same without the dimension of pairs: a sample is a pixel of the first image. */
histo_strided_iter histo_pairs_iter_pixels(const histo_strided_iter *iter);

#ifdef __cplusplus
}
#endif

#endif
