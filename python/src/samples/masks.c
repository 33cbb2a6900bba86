/* Several masks of one fill: the caller's, and the nulls of columns. */
#include <string.h>

#include "samples/samples.h"

static bool keeps(const fill_mask *mask, int64_t i)
{
    const histo_view *v = &mask->view;
    const unsigned char *data = v->data;
    if (v->dtype != HISTO_BIT) return histo_sample_value(data + i * v->strides[0], v->dtype) != 0;
    const int64_t at = mask->offset + i * v->strides[0];
    return data[at / 8] >> (at % 8) & 1;
}

int masks_join(int n, const fill_mask *masks, fill_mask *joined, void **bytes)
{
    *bytes = NULL;
    *joined = masks[0];
    if (n == 1) return 0;
    const int64_t size = histo_view_size(&masks[0].view);
    if (masks[0].view.ndim != 1) {
        PyErr_SetString(PyExc_ValueError,
                        "columns with nulls, and a mask or other nulls, need samples of one dimension");
        return -1;
    }
    unsigned char *keep = *bytes = PyMem_Malloc((size_t)size + 1);
    if (!keep) {
        PyErr_NoMemory();
        return -1;
    }
    memset(keep, 1, (size_t)size);
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < size; i++)
            keep[i] &= keeps(&masks[k], i);
    *joined = (fill_mask){.view = histo_view_1d(keep, HISTO_U8, size)};
    return 0;
}
