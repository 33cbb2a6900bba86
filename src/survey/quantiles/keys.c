/* A float's bits are a sign and a magnitude. With the sign flipped, positive floats sort as unsigned integers above all
 * negative ones, whose magnitudes must be flipped as well. */
#include "survey/quantiles/keys.h"

#include <string.h>

#include "view/dtype.h"

histo_key_flip histo_key_flip_of(histo_dtype dtype)
{
    const int sign_shift = 8 * (int)histo_dtype_size(dtype) - 1;
    const uint64_t sign = UINT64_C(1) << sign_shift;
    switch (dtype) {
    case HISTO_U8:
    case HISTO_U16:
    case HISTO_U32:
    case HISTO_U64:
        return (histo_key_flip){sign_shift, 0, 0};
    case HISTO_I8:
    case HISTO_I16:
    case HISTO_I32:
    case HISTO_I64:
        return (histo_key_flip){sign_shift, sign, 0};
    default:
        return (histo_key_flip){sign_shift, sign, sign - 1};
    }
}

#define DEFINE_MAKE(bits)                                                                                              \
    static void make_##bits(const char *samples, int64_t n, histo_key_flip flip, uint64_t *keys)                       \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            uint##bits##_t pattern;                                                                                    \
            memcpy(&pattern, samples + i * (bits / 8), sizeof pattern);                                                \
            keys[i] = histo_key_of(pattern, flip);                                                                     \
        }                                                                                                              \
    }
DEFINE_MAKE(8)
DEFINE_MAKE(16)
DEFINE_MAKE(32)
DEFINE_MAKE(64)

void histo_keys_make(histo_dtype dtype, const void *samples, int64_t n, uint64_t *keys)
{
    static void (*const of_size[])(const char *, int64_t, histo_key_flip,
                                   uint64_t *) = {[1] = make_8, [2] = make_16, [4] = make_32, [8] = make_64};
    of_size[histo_dtype_size(dtype)](samples, n, histo_key_flip_of(dtype), keys);
}

double histo_key_value(histo_dtype dtype, uint64_t key)
{
    const histo_key_flip flip = histo_key_flip_of(dtype);
    const uint64_t bits = key ^ flip.sign ^ (flip.rest & ((key >> flip.sign_shift) - 1));
    const uint8_t u8 = (uint8_t)bits;
    const uint16_t u16 = (uint16_t)bits;
    const uint32_t u32 = (uint32_t)bits;
    switch (histo_dtype_size(dtype)) {
    case 1:
        return histo_sample_value(&u8, dtype);
    case 2:
        return histo_sample_value(&u16, dtype);
    case 4:
        return histo_sample_value(&u32, dtype);
    default:
        return histo_sample_value(&bits, dtype);
    }
}

static uint64_t infinity_bits(histo_dtype dtype)
{
    switch (dtype) {
    case HISTO_F16:
        return 0x7c00;
    case HISTO_BF16:
        return 0x7f80;
    case HISTO_F32:
        return 0x7f800000;
    default:
        return UINT64_C(0x7ff0000000000000);
    }
}

histo_key_limits histo_key_limits_of(histo_dtype dtype, bool finite)
{
    const histo_key_flip flip = histo_key_flip_of(dtype);
    if (histo_dtype_is_integer(dtype)) return (histo_key_limits){0, UINT64_MAX >> (63 - flip.sign_shift)};
    const uint64_t infinity = infinity_bits(dtype);
    return (histo_key_limits){.least = histo_key_of(infinity | flip.sign, flip) + finite,
                              .most = histo_key_of(infinity, flip) - finite};
}

void histo_keys_count_beyond(histo_key_limits limits, const uint64_t *keys, int64_t n, uint64_t beyond[2])
{
    uint64_t below = 0, above = 0;
    for (int64_t i = 0; i < n; i++) {
        below += keys[i] < limits.least;
        above += keys[i] > limits.most;
    }
    beyond[0] += below;
    beyond[1] += above;
}
