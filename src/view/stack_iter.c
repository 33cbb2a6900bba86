#include "view/stack_iter.h"

void histo_pairs_iter_make(histo_strided_iter *iter, const histo_view *stack, const histo_pairs *pairs)
{
    const int at = stack->batch_ndim;
    histo_view first = *stack;
    const histo_view *views[] = {&first};
    first.ndim--;
    for (int d = at; d < first.ndim; d++) {
        first.shape[d] = stack->shape[d + 1];
        first.strides[d] = stack->strides[d + 1];
    }
    histo_strided_iter_make(iter, 1, views);
    iter->images = (int)stack->shape[at];
    iter->step = (int)pairs->pairing;
    iter->relative = pairs->relative;
    iter->image_stride = stack->strides[at];
    for (int d = iter->ndim++; d > iter->batch_ndim; d--) {
        iter->shape[d] = iter->shape[d - 1];
        iter->strides[0][d] = iter->strides[0][d - 1];
    }
    iter->shape[iter->batch_ndim] = iter->images / iter->step;
    iter->strides[0][iter->batch_ndim] = iter->image_stride * iter->step;
    iter->per_batch *= iter->images / iter->step;
}

histo_strided_iter histo_pairs_iter_pixels(const histo_strided_iter *iter)
{
    histo_strided_iter pixels = *iter;
    pixels.per_batch /= iter->images / iter->step;
    pixels.ndim--;
    for (int d = iter->batch_ndim; d < pixels.ndim; d++) {
        pixels.shape[d] = iter->shape[d + 1];
        pixels.strides[0][d] = iter->strides[0][d + 1];
    }
    return pixels;
}
