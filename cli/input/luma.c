#include "input/luma.h"

static int64_t weigh(int64_t r, int64_t g, int64_t b)
{
    return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
}

/* Integers of up to 32 bits of any dtype. */
static int64_t weigh_integers(const char *const rgb[3], histo_dtype dtype)
{
    return weigh((int64_t)histo_sample_value(rgb[0], dtype), (int64_t)histo_sample_value(rgb[1], dtype),
                 (int64_t)histo_sample_value(rgb[2], dtype));
}

static void store(void *out, int64_t i, histo_dtype dtype, const char *const rgb[3])
{
    switch (dtype) {
    case HISTO_U8: /* the common case */
        ((uint8_t *)out)[i] =
            (uint8_t)weigh(*(const uint8_t *)rgb[0], *(const uint8_t *)rgb[1], *(const uint8_t *)rgb[2]);
        break;
    case HISTO_I8:
        ((int8_t *)out)[i] = (int8_t)weigh_integers(rgb, dtype);
        break;
    case HISTO_U16:
        ((uint16_t *)out)[i] = (uint16_t)weigh_integers(rgb, dtype);
        break;
    case HISTO_I16:
        ((int16_t *)out)[i] = (int16_t)weigh_integers(rgb, dtype);
        break;
    case HISTO_U32:
        ((uint32_t *)out)[i] = (uint32_t)weigh_integers(rgb, dtype);
        break;
    case HISTO_I32:
        ((int32_t *)out)[i] = (int32_t)weigh_integers(rgb, dtype);
        break;
    default:
        ((double *)out)[i] = 0.299 * histo_sample_value(rgb[0], dtype) + 0.587 * histo_sample_value(rgb[1], dtype) +
                             0.114 * histo_sample_value(rgb[2], dtype);
    }
}

void luma_of(const histo_view *rgb, void *out)
{
    for (int64_t y = 0; y < rgb->shape[0]; y++)
        for (int64_t x = 0; x < rgb->shape[1]; x++) {
            const char *at[3];
            for (int c = 0; c < 3; c++)
                at[c] = (const char *)rgb[c].data + y * rgb[c].strides[0] + x * rgb[c].strides[1];
            store(out, y * rgb->shape[1] + x, rgb->dtype, at);
        }
}
