/* The strided iterator, shared with kernels; walk.h makes and walks it. */
#ifndef VIEW_STRIDED_ITER_H
#define VIEW_STRIDED_ITER_H

#include "base/host_device.h"

/* The samples of each axis, weights, mask, where. */
#define HISTO_MAX_OPERANDS (HISTO_MAX_AXES + 3)

typedef struct histo_strided_iter {
    int operands;
    int ndim;          /* at least 1; the last dimension is the run */
    int batch_ndim;    /* batch dimensions come first */
    int relative;      /* image pairs: divide differences by the mean. Placed here to fill padding */
    int64_t batch;     /* product of the batch dimensions */
    int64_t per_batch; /* samples in each batch entry */
    int64_t shape[HISTO_MAX_DIMS + 1];
    int64_t strides[HISTO_MAX_OPERANDS][HISTO_MAX_DIMS + 1];
    const char *base[HISTO_MAX_OPERANDS];
    /* Image pairs: the first dimension after the batch is that of pairs; the operand points to their first images. */
    int images;             /* images in the stack; 0: samples are not pairs */
    int step;               /* images from one pair's first image to the next pair's */
    int64_t image_stride;   /* bytes from one image to the next */
    const int64_t *offsets; /* ragged: batch entry b has samples offsets[b] … offsets[b + 1] - 1 of the only dimension,
                             * which is not a batch dimension; per_batch is the total number of samples. Else NULL */
} histo_strided_iter;

/* The index of an operand that was not given. */
enum { HISTO_ABSENT = -1 };

#endif
