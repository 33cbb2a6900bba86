#include "map/put.h"

#include <math.h>

#include "view/dtype.h"

/* Of integers whose limits are doubles. Adding 3 * 2^51 rounds to a whole number, as rint does, in code that compilers
 * vectorise for any CPU. */
#define DEFINE_PUT(name, type, least, most)                                                                            \
    static void put_##name(const double *values, int64_t n, type *out)                                                 \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            double value = values[i] > (least) ? values[i] : (least);                                                  \
            value = value < (most) ? value : (most);                                                                   \
            value = values[i] == values[i] ? value + 0x1.8p52 - 0x1.8p52 : 0;                                          \
            out[i] = (type)value;                                                                                      \
        }                                                                                                              \
    }
DEFINE_PUT(u8, uint8_t, 0.0, 255.0)
DEFINE_PUT(i8, int8_t, -128.0, 127.0)
DEFINE_PUT(u16, uint16_t, 0.0, 65535.0)
DEFINE_PUT(i16, int16_t, -32768.0, 32767.0)
DEFINE_PUT(u32, uint32_t, 0.0, 4294967295.0)
DEFINE_PUT(i32, int32_t, -2147483648.0, 2147483647.0)

static void put_u64(const double *values, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = values[i] >= 0x1p64 ? UINT64_MAX : values[i] > 0 ? (uint64_t)rint(values[i]) : 0;
}

static void put_i64(const double *values, int64_t n, int64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = values[i] >= 0x1p63      ? INT64_MAX
                 : values[i] <= -0x1p63   ? INT64_MIN
                 : values[i] == values[i] ? (int64_t)rint(values[i])
                                          : 0;
}

static void put_f32(const double *values, int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = values[i] == values[i] ? (float)values[i] : NAN;
}

static void put_f64(const double *values, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = values[i] == values[i] ? values[i] : NAN;
}

static void put_halves(const double *values, int64_t n, bool brain, uint16_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = brain ? histo_bf16_of(values[i]) : histo_f16_of(values[i]);
}

void histo_put_values(const double *values, int64_t n, histo_dtype dtype, void *out)
{
    switch (dtype) {
    case HISTO_U8:
        put_u8(values, n, out);
        break;
    case HISTO_I8:
        put_i8(values, n, out);
        break;
    case HISTO_U16:
        put_u16(values, n, out);
        break;
    case HISTO_I16:
        put_i16(values, n, out);
        break;
    case HISTO_U32:
        put_u32(values, n, out);
        break;
    case HISTO_I32:
        put_i32(values, n, out);
        break;
    case HISTO_U64:
        put_u64(values, n, out);
        break;
    case HISTO_I64:
        put_i64(values, n, out);
        break;
    case HISTO_F32:
        put_f32(values, n, out);
        break;
    case HISTO_F64:
        put_f64(values, n, out);
        break;
    default:
        put_halves(values, n, dtype == HISTO_BF16, out);
        break;
    }
}
