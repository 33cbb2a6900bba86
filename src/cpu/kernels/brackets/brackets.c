/* Brackets. Compiled once for each instruction set level (isa.h). */
#include "cpu/kernels/brackets/brackets.h"

#include <string.h>

#include "cpu/kernels/isa.h"
#include "cpu/kernels/template.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* The bits to flip in a sample to order it: always, and if its sign bit is set. */
typedef struct order {
    int64_t always, negative;
} order;

#define BITS 32
#include "cpu/kernels/brackets/brackets_template.h"

#define BITS 64
#include "cpu/kernels/brackets/brackets_template.h"

int HISTO_OF_ISA(collect)(histo_dtype dtype, const void *samples, int n, const histo_brackets *brackets,
                          histo_bracketed *found, void *to)
{
    switch (dtype) {
    case HISTO_U32:
        return collect_32(samples, n, (order){INT32_MIN, 0}, brackets, false, found, to);
    case HISTO_I32:
        return collect_32(samples, n, (order){0, 0}, brackets, false, found, to);
    case HISTO_F32:
        return collect_32(samples, n, (order){0, INT32_MAX}, brackets, true, found, to);
    case HISTO_U64:
        return collect_64(samples, n, (order){INT64_MIN, 0}, brackets, false, found, to);
    case HISTO_I64:
        return collect_64(samples, n, (order){0, 0}, brackets, false, found, to);
    case HISTO_F64:
        return collect_64(samples, n, (order){0, INT64_MAX}, brackets, true, found, to);
    default: /* narrower samples are counted by value */
        return 0;
    }
}
