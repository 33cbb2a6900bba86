#include "view/gather.h"

#include <string.h>

#define GATHER(type)                                                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        type x;                                                                                                        \
        memcpy(&x, from + i * stride, sizeof x);                                                                       \
        memcpy(to + i * (int64_t)sizeof x, &x, sizeof x);                                                              \
    }

void histo_gather(char *to, const char *from, int64_t stride, size_t size, int64_t n)
{
    if (stride == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1:
        GATHER(uint8_t) break;
    case 2:
        GATHER(uint16_t) break;
    case 4:
        GATHER(uint32_t) break;
    default:
        GATHER(uint64_t) break;
    }
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
