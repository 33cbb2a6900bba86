#include "map/convert.h"

#include <math.h>

#include "view/dtype.h"

/* A whole number from lowest to highest, which are integers. Adding 3 * 2^51 rounds to one, as rint does, which not all
 * CPUs have as an instruction. */
static inline double whole(double value, double lowest, double highest)
{
    double within = value > lowest ? value : lowest;
    within = within < highest ? within : highest;
    return value == value ? within + 0x1.8p52 - 0x1.8p52 : 0;
}

/* The limits of integers of 64 bits are not doubles. */
static inline uint64_t u64_of(double value)
{
    return value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)rint(value) : 0;
}

static inline int64_t i64_of(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : value == value ? (int64_t)rint(value) : 0;
}

#define DEFINE_CONVERT(name, type, expression)                                                                         \
    static void to_##name(const double *values, int64_t n, void *out)                                                  \
    {                                                                                                                  \
        type *samples = out;                                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const double value = values[i];                                                                            \
            samples[i] = (type)(expression);                                                                           \
        }                                                                                                              \
    }
DEFINE_CONVERT(u8, uint8_t, whole(value, 0, UINT8_MAX))
DEFINE_CONVERT(i8, int8_t, whole(value, INT8_MIN, INT8_MAX))
DEFINE_CONVERT(u16, uint16_t, whole(value, 0, UINT16_MAX))
DEFINE_CONVERT(i16, int16_t, whole(value, INT16_MIN, INT16_MAX))
DEFINE_CONVERT(u32, uint32_t, whole(value, 0, UINT32_MAX))
DEFINE_CONVERT(i32, int32_t, whole(value, INT32_MIN, INT32_MAX))
DEFINE_CONVERT(u64, uint64_t, u64_of(value))
DEFINE_CONVERT(i64, int64_t, i64_of(value))
DEFINE_CONVERT(f16, uint16_t, histo_f16_of(value))
DEFINE_CONVERT(bf16, uint16_t, histo_bf16_of(value))
DEFINE_CONVERT(f32, float, value == value ? value : NAN)
DEFINE_CONVERT(f64, double, value == value ? value : NAN)

typedef void convert_fn(const double *values, int64_t n, void *out);

static convert_fn *const converters[] = {
    [HISTO_U8] = to_u8,   [HISTO_I8] = to_i8,     [HISTO_U16] = to_u16, [HISTO_I16] = to_i16,
    [HISTO_U32] = to_u32, [HISTO_I32] = to_i32,   [HISTO_U64] = to_u64, [HISTO_I64] = to_i64,
    [HISTO_F16] = to_f16, [HISTO_BF16] = to_bf16, [HISTO_F32] = to_f32, [HISTO_F64] = to_f64,
};

void histo_convert_values(const double *values, int64_t n, histo_dtype dtype, void *out)
{
    converters[dtype](values, n, out);
}
