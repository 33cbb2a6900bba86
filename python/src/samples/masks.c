/* Several masks of one fill: the caller's, and the nulls of columns. */
#include <string.h>

#include "samples/samples.h"

/* Eight bits as bytes, the lowest first. */
static uint64_t spread(unsigned bits)
{
    /* Bit k is alone in byte k; adding 0x7f sets the byte's top bit unless the byte is 0. */
    const uint64_t alone = (bits & 0xff) * UINT64_C(0x0101010101010101) & 0x8040201008040201;
    const uint64_t ones = (alone + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ones : __builtin_bswap64(ones);
}

static unsigned bit(const unsigned char *bits, int64_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

void bits_expand(const unsigned char *bits, int64_t offset, int64_t n, unsigned char *bytes)
{
    const int shift = (int)(offset % 8);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const unsigned char *const at = &bits[(offset + i) / 8];
        const uint64_t some = spread(shift ? (unsigned)at[0] >> shift | (unsigned)at[1] << (8 - shift) : at[0]);
        memcpy(bytes + i, &some, sizeof some);
    }
    for (; i < n; i++)
        bytes[i] = (unsigned char)bit(bits, offset + i);
}

/* keep_row of neighbouring bits. */
static void keep_bits(const unsigned char *bits, int64_t offset, int64_t n, unsigned char *keep)
{
    enum { SOME = 1024 };
    unsigned char bytes[SOME];
    for (int64_t begin = 0; begin < n; begin += SOME) {
        const int64_t some = n - begin < SOME ? n - begin : SOME;
        bits_expand(bits, offset + begin, some, bytes);
        for (int64_t i = 0; i < some; i++)
            keep[begin + i] &= bytes[i];
    }
}

/* Clear what n elements of a mask do not keep, the first of which is at `at` along its data. */
static void keep_row(const fill_mask *mask, int64_t at, int64_t step, int64_t n, unsigned char *keep)
{
    const unsigned char *data = mask->view.data;
    const histo_dtype dtype = mask->view.dtype;
    if (dtype == HISTO_U8 || dtype == HISTO_I8) {
        for (int64_t i = 0; i < n; i++)
            keep[i] &= data[at + i * step] != 0;
    } else if (dtype == HISTO_BIT && step == 1) {
        keep_bits(data, mask->offset + at, n, keep);
    } else if (dtype == HISTO_BIT) {
        for (int64_t i = 0; i < n; i++)
            keep[i] &= (unsigned char)bit(data, mask->offset + at + i * step);
    } else {
        for (int64_t i = 0; i < n; i++)
            keep[i] &= histo_sample_value(data + at + i * step, dtype) != 0;
    }
}

/* Clear what the mask does not keep, in C order. */
static void keep_those_of(const fill_mask *mask, unsigned char *keep, int64_t size)
{
    const histo_view *v = &mask->view;
    const int last = v->ndim - 1;
    const int64_t n = last < 0 ? 1 : v->shape[last], step = last < 0 ? 0 : v->strides[last];
    int64_t index[HISTO_MAX_DIMS] = {0}, at = 0;
    for (int64_t done = 0; done < size; done += n) {
        keep_row(mask, at, step, n, keep + done);
        for (int d = last - 1; d >= 0; d--) {
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
