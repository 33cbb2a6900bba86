/* Masks of fills, joined with the nulls of their operands. */
#include <string.h>

#include "samples.h"

/* Bytes, 1 where the mask keeps a sample; nulls are of one dimension. */
static int and_nulls(unsigned char *keep, int64_t n, const samples *s)
{
    const unsigned char *at = s->present.data;
    const bool bits = s->present.dtype == HISTO_BIT;
    if (s->present.shape[0] != n) return -1;
    for (int64_t i = 0, bit = s->present_offset; i < n; i++, bit++)
        keep[i] &= bits ? at[bit / 8] >> (bit % 8) & 1 : at[i];
    return 0;
}

static void and_mask(unsigned char *keep, int64_t n, const histo_view *mask)
{
    const char *at = mask->data;
    for (int64_t i = 0; i < n; i++, at += mask->strides[0])
        keep[i] &= histo_sample_value(at, mask->dtype) != 0;
}

static int refuse(void)
{
    PyErr_SetString(PyExc_ValueError, "samples with nulls, masks and weights must be of one length");
    return -1;
}

static int join(const samples *mask, int n, const samples *const *operands, int64_t size, joined_mask *out)
{
    out->bytes = PyMem_Malloc((size_t)size + 1);
    if (!out->bytes) {
        PyErr_NoMemory();
        return -1;
    }
    memset(out->bytes, 1, (size_t)size);
    if (mask) {
        if (mask->view.ndim != 1 || mask->view.shape[0] != size) return refuse();
        and_mask(out->bytes, size, &mask->view);
    }
    for (int i = 0; i < n; i++)
        if (operands[i]->has_nulls && and_nulls(out->bytes, size, operands[i]) < 0) return refuse();
    out->view = histo_view_1d(out->bytes, HISTO_U8, size);
    return 0;
}

int samples_join_masks(const samples *mask, int n, const samples *const *operands, joined_mask *out)
{
    const samples *one = NULL;
    int with_nulls = 0;
    *out = (joined_mask){0};
    for (int i = 0; i < n; i++)
        if (operands[i]->has_nulls) {
            one = operands[i];
            with_nulls++;
        }
    if (mask && !mask->release) mask = NULL;
    out->exists = mask || one;
    if (with_nulls + (mask != NULL) > 1) return join(mask, n, operands, one->view.shape[0], out);
    if (mask) out->view = mask->view;
    if (one) {
        out->view = one->present;
        out->offset = one->present_offset;
    }
    return 0;
}

void joined_mask_free(joined_mask *m)
{
    PyMem_Free(m->bytes);
    *m = (joined_mask){0};
}
