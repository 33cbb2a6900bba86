#include "input/samples/alpha.h"

#include <stddef.h>

bool alpha_divides(histo_dtype dtype)
{
    return dtype == HISTO_U8 || dtype == HISTO_U16 || dtype == HISTO_U32 || dtype == HISTO_F32 || dtype == HISTO_F64;
}

static uint64_t opaque_of(histo_dtype dtype, int64_t largest)
{
    if (largest) return (uint64_t)largest;
    return (UINT64_C(1) << (8 * histo_dtype_size(dtype))) - 1;
}

static uint64_t whole_at(const void *samples, histo_dtype dtype, int64_t i)
{
    switch (dtype) {
    case HISTO_U8:
        return ((const uint8_t *)samples)[i];
    case HISTO_U16:
        return ((const uint16_t *)samples)[i];
    default:
        return ((const uint32_t *)samples)[i];
    }
}

static void put_whole(void *samples, histo_dtype dtype, int64_t i, uint64_t value)
{
    switch (dtype) {
    case HISTO_U8:
        ((uint8_t *)samples)[i] = (uint8_t)value;
        break;
    case HISTO_U16:
        ((uint16_t *)samples)[i] = (uint16_t)value;
        break;
    default:
        ((uint32_t *)samples)[i] = (uint32_t)value;
    }
}

/* color * above / below, rounded. */
static uint64_t scaled(uint64_t color, uint64_t above, uint64_t below, uint64_t most)
{
    const uint64_t value = below ? (color * above + below / 2) / below : 0;
    return value < most ? value : most;
}

static double scaled_float(double color, double above, double below)
{
    return below > 0 ? color * above / below : 0;
}

static void change(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest, bool divide)
{
    const uint64_t opaque = dtype < HISTO_F16 ? opaque_of(dtype, largest) : 1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = i * channels, last = first + channels - 1;
        for (int64_t k = first; k < last; k++) {
            if (dtype < HISTO_F16) {
                const uint64_t alpha = whole_at(pixels, dtype, last), color = whole_at(pixels, dtype, k);
                const uint64_t value =
                    divide ? scaled(color, opaque, alpha, opaque) : scaled(color, alpha, opaque, alpha);
                put_whole(pixels, dtype, k, value);
            } else if (dtype == HISTO_F32) {
                float *of = pixels;
                const double alpha = (double)of[last], color = (double)of[k];
                of[k] = (float)(divide ? scaled_float(color, 1, alpha) : scaled_float(color, alpha, 1));
            } else {
                double *of = pixels;
                of[k] = divide ? scaled_float(of[k], 1, of[last]) : scaled_float(of[k], of[last], 1);
            }
        }
    }
}

void alpha_divide(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest)
{
    change(pixels, count, channels, dtype, largest, true);
}

void alpha_multiply(void *pixels, int64_t count, int channels, histo_dtype dtype, int64_t largest)
{
    change(pixels, count, channels, dtype, largest, false);
}
