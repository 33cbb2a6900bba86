#include "view/gather.h"

#include <string.h>

/* Several samples are stored at once, and loops are unrolled: a store, like a loop iteration, takes a cycle, in which
 * two or three loads fit. */
#define GATHER(type)                                                                                                   \
    do {                                                                                                               \
        enum { TOGETHER = sizeof(uint64_t) / sizeof(type), BITS = 8 * sizeof(type) };                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + TOGETHER <= n; i += TOGETHER) {                                                                     \
            uint64_t all = 0;                                                                                          \
            for (int k = 0; k < TOGETHER; k++) {                                                                       \
                type x;                                                                                                \
                memcpy(&x, from + (i + k) * stride, sizeof x);                                                         \
                all |= (uint64_t)x << (BITS * (LITTLE ? k : TOGETHER - 1 - k));                                        \
            }                                                                                                          \
            memcpy(to + i * (int64_t)sizeof(type), &all, sizeof all);                                                  \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            memcpy(to + i * (int64_t)sizeof(type), from + i * stride, sizeof(type));                                   \
    } while (0)

static void gather_longs(char *to, const char *from, int64_t stride, int64_t n)
{
    enum { UNROLLED = 4 };
    int64_t i = 0;
    for (; i + UNROLLED <= n; i += UNROLLED)
        for (int k = 0; k < UNROLLED; k++)
            memcpy(to + (i + k) * (int64_t)sizeof(uint64_t), from + (i + k) * stride, sizeof(uint64_t));
    for (; i < n; i++)
        memcpy(to + i * (int64_t)sizeof(uint64_t), from + i * stride, sizeof(uint64_t));
}

void histo_gather(char *to, const char *from, int64_t stride, size_t size, int64_t n)
{
    enum { LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };
    if (stride == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        gather_longs(to, from, stride, n);
        break;
    }
}

void histo_fetch(char *to, const char *from, int64_t stride, histo_dtype dtype, const char *bits, int64_t n)
{
    histo_fetch_by(histo_gather, to, from, stride, dtype, bits, n);
}

void histo_gather_range(char *to, const histo_strided_iter *iter, int operand, size_t size, int64_t begin, int64_t end)
{
    histo_walk walk;
    histo_run run;
    histo_walk_start(&walk, iter, begin, end, INT64_MAX);
    while (histo_walk_next(&walk, &run)) {
        histo_gather(to, run.at[operand], iter->strides[operand][iter->ndim - 1], size, run.n);
        to += (size_t)run.n * size;
    }
}
