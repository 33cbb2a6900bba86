/* The twelve sample types in one list, from which all typed code is generated. */
#ifndef VIEW_DTYPE_H
#define VIEW_DTYPE_H

#include <histo/histo.h>

#include "view/half.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, name, storage type, compute type, widen). `widen` converts a stored sample to the compute type without
 * loss: double for all types that it represents exactly; 64-bit integers keep their type. */
#define HISTO_NARROW_INTEGERS(X)                                                                                       \
    X(HISTO_U8, u8, uint8_t, double, histo_widen_plain)                                                                \
    X(HISTO_I8, i8, int8_t, double, histo_widen_plain)                                                                 \
    X(HISTO_U16, u16, uint16_t, double, histo_widen_plain)                                                             \
    X(HISTO_I16, i16, int16_t, double, histo_widen_plain)                                                              \
    X(HISTO_U32, u32, uint32_t, double, histo_widen_plain)                                                             \
    X(HISTO_I32, i32, int32_t, double, histo_widen_plain)
#define HISTO_INTEGERS(X)                                                                                              \
    HISTO_NARROW_INTEGERS(X)                                                                                           \
    X(HISTO_U64, u64, uint64_t, uint64_t, histo_widen_plain)                                                           \
    X(HISTO_I64, i64, int64_t, int64_t, histo_widen_plain)
#define HISTO_DTYPES(X)                                                                                                \
    HISTO_INTEGERS(X)                                                                                                  \
    X(HISTO_F16, f16, uint16_t, double, histo_f16_to_f32)                                                              \
    X(HISTO_BF16, bf16, uint16_t, double, histo_bf16_to_f32)                                                           \
    X(HISTO_F32, f32, float, double, histo_widen_plain)                                                                \
    X(HISTO_F64, f64, double, double, histo_widen_plain)

/* A switch with a case for each dtype; other values do nothing. */
#define HISTO_SWITCH_DTYPE(dtype, CASE)                                                                                \
    switch (dtype) {                                                                                                   \
        HISTO_DTYPES(CASE)                                                                                             \
    default:                                                                                                           \
        break;                                                                                                         \
    }

#define histo_widen_plain(x) (x)

/* A flag in the dtype of an operand in memory: it holds records, which a function converts to numbers of the dtype
 * (histo_function). Views never have it. */
enum { HISTO_RECORDS = 256 };

static inline bool histo_dtype_is_records(histo_dtype dtype)
{
    return (dtype & HISTO_RECORDS) != 0;
}

/* The dtype in native byte order. */
static inline histo_dtype histo_dtype_plain(histo_dtype dtype)
{
    return (histo_dtype)(dtype & ~(unsigned)HISTO_SWAPPED);
}

/* The dtype of samples once fetched (view/fetch.h): bits become bytes. */
static inline histo_dtype histo_dtype_fetched(histo_dtype dtype)
{
    return dtype == HISTO_BIT ? HISTO_U8 : histo_dtype_plain(dtype);
}

/* The dtype without a redundant HISTO_SWAPPED: single bytes have no order. */
static inline histo_dtype histo_dtype_stored(histo_dtype dtype)
{
    return histo_dtype_size(dtype) == 1 ? histo_dtype_plain(dtype) : dtype;
}

/* Whether values are stored as the dtype's storage type: not swapped, bits or records. */
static inline bool histo_dtype_is_plain(histo_dtype dtype)
{
    return dtype < HISTO_DTYPE_COUNT;
}

/* The step between neighbours, in the unit of strides: bytes, or bits. */
static inline int64_t histo_dtype_step(histo_dtype dtype)
{
    return dtype == HISTO_BIT ? 1 : (int64_t)histo_dtype_size(dtype);
}

static inline bool histo_dtype_is_integer(histo_dtype dtype)
{
    return dtype <= HISTO_I64;
}

/* The smallest value of an integer dtype, and the largest plus one, as doubles (2^64 and 2^63 are exact). */
void histo_dtype_limits(histo_dtype dtype, double *min, double *max_plus_one);

#ifdef __cplusplus
}
#endif

#endif
