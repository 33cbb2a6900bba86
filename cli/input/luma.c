/* Gray from colour: see luma.h. */
#include "input/luma.h"

#include <math.h>
#include <string.h>

static double load_f16(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double magnitude = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
}

static double load_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

#define WEIGH_INTEGER(r, g, b) ((19595 * (int64_t)(r) + 38470 * (int64_t)(g) + 7471 * (int64_t)(b) + 32768) >> 16)
#define WEIGH_REAL(r, g, b) (0.299 * (double)(r) + 0.587 * (double)(g) + 0.114 * (double)(b))
#define PLAIN(x) (x)

/* One loop for each dtype: `stored` in memory, made a value by `load`, weighed, and written as `result`. */
#define LOOP(stored, load, weigh, result)                                                                              \
    for (int64_t y = 0; y < rgb->shape[0]; y++)                                                                        \
        for (int64_t x = 0; x < rgb->shape[1]; x++) {                                                                  \
            stored s[3];                                                                                               \
            for (int c = 0; c < 3; c++)                                                                                \
                memcpy(&s[c], (const char *)rgb[c].data + y * rgb[c].strides[0] + x * rgb[c].strides[1], sizeof *s);   \
            ((result *)out)[y * rgb->shape[1] + x] = (result)weigh(load(s[0]), load(s[1]), load(s[2]));                \
        }                                                                                                              \
    break

void luma_of(const histo_view *rgb, void *out)
{
    switch (rgb->dtype) {
    case HISTO_U8:
        LOOP(uint8_t, PLAIN, WEIGH_INTEGER, uint8_t);
    case HISTO_I8:
        LOOP(int8_t, PLAIN, WEIGH_INTEGER, int8_t);
    case HISTO_U16:
        LOOP(uint16_t, PLAIN, WEIGH_INTEGER, uint16_t);
    case HISTO_I16:
        LOOP(int16_t, PLAIN, WEIGH_INTEGER, int16_t);
    case HISTO_U32:
        LOOP(uint32_t, PLAIN, WEIGH_INTEGER, uint32_t);
    case HISTO_I32:
        LOOP(int32_t, PLAIN, WEIGH_INTEGER, int32_t);
    case HISTO_U64:
        LOOP(uint64_t, PLAIN, WEIGH_REAL, double);
    case HISTO_I64:
        LOOP(int64_t, PLAIN, WEIGH_REAL, double);
    case HISTO_F16:
        LOOP(uint16_t, load_f16, WEIGH_REAL, double);
    case HISTO_BF16:
        LOOP(uint16_t, load_bf16, WEIGH_REAL, double);
    case HISTO_F32:
        LOOP(float, PLAIN, WEIGH_REAL, double);
    case HISTO_F64:
        LOOP(double, PLAIN, WEIGH_REAL, double);
    case HISTO_DTYPE_COUNT:
        break;
    }
}
