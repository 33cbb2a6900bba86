/* Writing a number as a sample of a type, on host and device. */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include "view/half.h" /* HISTO_INLINE */

/* Sample i: truncated to an integer, which must be within the type's, or rounded to a float. */
HISTO_INLINE void bench_store_number(histo_dtype type, double x, void *samples, int64_t i)
{
    switch (type) {
#define CASE(constant, storage)                                                                                        \
    case constant: {                                                                                                   \
        storage value = (storage)x;                                                                                    \
        memcpy((char *)samples + i * (int64_t)sizeof value, &value, sizeof value);                                     \
        break;                                                                                                         \
    }
        CASE(HISTO_U8, uint8_t)
        CASE(HISTO_I8, int8_t)
        CASE(HISTO_U16, uint16_t)
        CASE(HISTO_I16, int16_t)
        CASE(HISTO_U32, uint32_t)
        CASE(HISTO_I32, int32_t)
        CASE(HISTO_U64, uint64_t)
        CASE(HISTO_I64, int64_t)
        CASE(HISTO_F32, float)
        CASE(HISTO_F64, double)
#undef CASE
    default: /* halves have rules of their own */
        break;
    }
}

#endif
