#include "input/samples/missing.h"

#include <string.h>

void missing_unmark(const histo_view *valid, unsigned char *keep)
{
    for (int64_t y = 0; y < valid->shape[0] && valid->data; y++) {
        const unsigned char *from = (const unsigned char *)valid->data + y * valid->strides[0];
        for (int64_t x = 0; x < valid->shape[1]; x++)
            *keep++ &= from[x * valid->strides[1]] != 0;
    }
}

/* Copy the marked values of a row. Every value is copied, and the next one overwrites those that are not kept. Inlined
 * for constant sizes. */
__attribute__((always_inline)) static inline char *compact_row(const char *from, int64_t step, int64_t count,
                                                               size_t size, const unsigned char *keep, char *to)
{
    for (int64_t x = 0; x < count; x++, from += step) {
        memcpy(to, from, size);
        to += keep[x] ? size : 0;
    }
    return to;
}

char *missing_compact(histo_view *v, const unsigned char *keep, int64_t marked, char *to)
{
    const histo_view source = *v;
    const bool column = source.shape[1] == 1; /* is read as a row */
    const int64_t rows = column ? 1 : source.shape[0], count = column ? source.shape[0] : source.shape[1];
    const int64_t step = source.strides[column ? 0 : 1];
    *v = histo_view_nd(to, source.dtype, 2, (const int64_t[]){marked, 1});
    for (int64_t y = 0; y < rows; y++, keep += count) {
        const char *from = (const char *)source.data + y * source.strides[0];
        switch (histo_dtype_size(source.dtype)) {
        case 1:
            to = compact_row(from, step, count, 1, keep, to);
            break;
        case 2:
            to = compact_row(from, step, count, 2, keep, to);
            break;
        case 4:
            to = compact_row(from, step, count, 4, keep, to);
            break;
        default:
            to = compact_row(from, step, count, 8, keep, to);
            break;
        }
    }
    return to;
}
