/* Writing a number as a sample of a type, on host and device. */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include "view/dtype.h"

/* Sample i: truncated to an integer, which must be within the type's, or rounded to a float. */
HISTO_INLINE void bench_store_number(histo_dtype type, double x, void *samples, int64_t i)
{
    switch (type) {
#define CASE(constant, name, storage, ...)                                                                             \
    case constant: {                                                                                                   \
        storage value = (storage)x;                                                                                    \
        memcpy((char *)samples + i * (int64_t)sizeof value, &value, sizeof value);                                     \
        break;                                                                                                         \
    }
        HISTO_INTEGERS(CASE)
        CASE(HISTO_F32, f32, float)
        CASE(HISTO_F64, f64, double)
#undef CASE
    default: /* halves have rules of their own */
        break;
    }
}

#endif
