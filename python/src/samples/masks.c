/* Several masks of one fill: the caller's, and the nulls of columns. */
#include <string.h>

#include "samples/samples.h"

static bool keeps(const fill_mask *mask, int64_t at)
{
    const histo_view *v = &mask->view;
    const unsigned char *data = v->data;
    if (v->dtype != HISTO_BIT) return histo_sample_value(data + at, v->dtype) != 0;
    return data[(mask->offset + at) / 8] >> ((mask->offset + at) % 8) & 1;
}

/* Clear what the mask does not keep, in C order. */
static void keep_those_of(const fill_mask *mask, unsigned char *keep, int64_t size)
{
    const histo_view *v = &mask->view;
    int64_t index[HISTO_MAX_DIMS] = {0}, at = 0;
    for (int64_t i = 0; i < size; i++) {
        keep[i] &= keeps(mask, at);
        for (int d = v->ndim - 1; d >= 0; d--) {
            at += v->strides[d];
            if (++index[d] < v->shape[d]) break;
            at -= index[d] * v->strides[d];
            index[d] = 0;
        }
    }
}

int masks_join(int n, const fill_mask *masks, fill_mask *joined, void **bytes)
{
    *bytes = NULL;
    *joined = masks[0];
    if (n == 1) return 0;
    const histo_view *v = &masks[0].view;
    const int64_t size = histo_view_size(v);
    unsigned char *keep = *bytes = PyMem_Malloc((size_t)size + 1);
    if (!keep) {
        PyErr_NoMemory();
        return -1;
    }
    memset(keep, 1, (size_t)size);
    for (int k = 0; k < n; k++)
        keep_those_of(&masks[k], keep, size);
    *joined = (fill_mask){.view = histo_view_nd(keep, HISTO_U8, v->ndim, v->shape)};
    joined->view.batch_ndim = v->batch_ndim;
    return 0;
}
