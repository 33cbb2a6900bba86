#include "input/samples/luma.h"

static int64_t weigh(int64_t r, int64_t g, int64_t b)
{
    return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
}

/* For integers of up to 32 bits of any dtype. */
static int64_t weigh_integers(const char *const rgb[3], histo_dtype dtype)
{
    return weigh((int64_t)histo_sample_value(rgb[0], dtype), (int64_t)histo_sample_value(rgb[1], dtype),
                 (int64_t)histo_sample_value(rgb[2], dtype));
}

/* The sum's bits do not depend on signedness. */
static void store(void *out, int64_t i, histo_dtype dtype, const char *const rgb[3])
{
    switch (dtype) {
    case HISTO_U8: /* the common case */
        ((uint8_t *)out)[i] =
            (uint8_t)weigh(*(const uint8_t *)rgb[0], *(const uint8_t *)rgb[1], *(const uint8_t *)rgb[2]);
        break;
    case HISTO_I8:
        ((uint8_t *)out)[i] = (uint8_t)weigh_integers(rgb, dtype);
        break;
    case HISTO_U16:
    case HISTO_I16:
        ((uint16_t *)out)[i] = (uint16_t)weigh_integers(rgb, dtype);
        break;
    case HISTO_U32:
    case HISTO_I32:
        ((uint32_t *)out)[i] = (uint32_t)weigh_integers(rgb, dtype);
        break;
    default:
        ((double *)out)[i] = 0.299 * histo_sample_value(rgb[0], dtype) + 0.587 * histo_sample_value(rgb[1], dtype) +
                             0.114 * histo_sample_value(rgb[2], dtype);
    }
}

/* A row of u8 or u16; size and step, in samples, are constants at each call. */
static inline void weigh_row(const void *const rgb[3], size_t size, int step, int64_t n, void *out)
{
    for (int64_t x = 0; x < n; x++) {
        uint32_t sum = 32768; /* up to 65536 times 65535 */
        for (int c = 0; c < 3; c++) {
            static const uint32_t weights[] = {19595, 38470, 7471};
            sum +=
                weights[c] * (size == 1 ? ((const uint8_t *)rgb[c])[x * step] : ((const uint16_t *)rgb[c])[x * step]);
        }
        if (size == 1)
            ((uint8_t *)out)[x] = (uint8_t)(sum >> 16);
        else
            ((uint16_t *)out)[x] = (uint16_t)(sum >> 16);
    }
}

/* Rows of interleaved, aligned u8 or u16; returns false, doing nothing, for others. */
static bool weigh_rows(const histo_view *rgb, void *out)
{
    const int64_t size = (int64_t)histo_dtype_size(rgb->dtype), step = rgb->strides[1] / (size ? size : 1);
    if (rgb->dtype != HISTO_U8 && rgb->dtype != HISTO_U16) return false;
    for (int c = 0; c < 3; c++)
        if (rgb[c].strides[1] != step * size || rgb[c].strides[0] % size || (uintptr_t)rgb[c].data % (size_t)size)
            return false;
    if (step != 3 && step != 4) return false;
    for (int64_t y = 0; y < rgb->shape[0]; y++) {
        const void *row[3];
        for (int c = 0; c < 3; c++)
            row[c] = (const char *)rgb[c].data + y * rgb[c].strides[0];
        void *to = (char *)out + y * rgb->shape[1] * size;
        if (size == 1 && step == 3)
            weigh_row(row, 1, 3, rgb->shape[1], to);
        else if (size == 1)
            weigh_row(row, 1, 4, rgb->shape[1], to);
        else if (step == 3)
            weigh_row(row, 2, 3, rgb->shape[1], to);
        else
            weigh_row(row, 2, 4, rgb->shape[1], to);
    }
    return true;
}

void luma_of(const histo_view *rgb, void *out)
{
    if (weigh_rows(rgb, out)) return;
    for (int64_t y = 0; y < rgb->shape[0]; y++)
        for (int64_t x = 0; x < rgb->shape[1]; x++) {
            const char *at[3];
            for (int c = 0; c < 3; c++)
                at[c] = (const char *)rgb[c].data + y * rgb[c].strides[0] + x * rgb[c].strides[1];
            store(out, y * rgb->shape[1] + x, rgb->dtype, at);
        }
}
