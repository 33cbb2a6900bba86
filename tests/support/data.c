#include "support/data.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(rng *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * UINT64_C(2685821657736338717);
}

double rng_uniform(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

int64_t rng_below(rng *r, int64_t n)
{
    return (int64_t)(rng_next(r) % (uint64_t)n);
}

const char *distribution_name(distribution d)
{
    static const char *const names[DISTRIBUTIONS] = {
        "uniform", "degenerate", "two values", "seventeen values", "gaussian", "zipf", "sorted", "edges", "special"};
    return names[d];
}

/* Round a double to a half-precision float, to nearest even; overflow gives infinity. */
static uint16_t f64_to_f16(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double a = fabs(x);
    if (isnan(x)) return 0x7e00;
    if (a >= 65520) return sign | 0x7c00;
    if (a < 0x1p-14) return (uint16_t)(sign | (uint16_t)nearbyint(a * 0x1p24));
    int e;
    double m = frexp(a, &e); /* a = m * 2^e, m in [0.5, 1) */
    return (uint16_t)(sign | (uint16_t)(((e + 14) << 10) + (int)nearbyint(m * 2048) - 1024));
}

static uint16_t f64_to_bf16(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (isnan(x)) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static void store(void *to, int64_t i, histo_dtype dtype, double x)
{
    if (isnan(x) && dtype <= HISTO_I64) x = 0;
    switch (dtype) {
#define INTEGER(constant, type, min, max)                                                                              \
    case constant:                                                                                                     \
        ((type *)to)[i] = (type)clamp(x, min, max);                                                                    \
        break;
        INTEGER(HISTO_U8, uint8_t, 0, 255)
        INTEGER(HISTO_I8, int8_t, -128, 127)
        INTEGER(HISTO_U16, uint16_t, 0, 65535)
        INTEGER(HISTO_I16, int16_t, -32768, 32767)
        INTEGER(HISTO_U32, uint32_t, 0, 0xffffffff)
        INTEGER(HISTO_I32, int32_t, INT32_MIN, INT32_MAX)
        INTEGER(HISTO_U64, uint64_t, 0, 0x1.fffffffffffffp63)
        INTEGER(HISTO_I64, int64_t, -0x1p63, 0x1.fffffffffffffp62)
#undef INTEGER
    case HISTO_F16:
        ((uint16_t *)to)[i] = f64_to_f16(x);
        break;
    case HISTO_BF16:
        ((uint16_t *)to)[i] = f64_to_bf16(x);
        break;
    case HISTO_F32:
        ((float *)to)[i] = (float)x;
        break;
    default:
        ((double *)to)[i] = x;
        break;
    }
}

char *sample_at(const histo_view *view, int64_t i)
{
    const char *at = view->data;
    for (int d = view->ndim - 1; d >= 0; d--) {
        at += i % view->shape[d] * view->strides[d];
        i /= view->shape[d];
    }
    return (char *)at;
}

long double sample_value(const void *at, histo_dtype dtype)
{
    const reference_exact x = reference_exact_value(dtype, at);
    return (long double)x.rounded + (long double)x.rest;
}

/* Replace a stored value by its neighbour in the dtype, above or below; integers saturate. */
static void nudge(void *at, int64_t i, histo_dtype dtype, int direction)
{
    size_t size = histo_dtype_size(dtype);
    uint64_t bits = 0;
    char *p = (char *)at + i * (int64_t)size;
    memcpy(&bits, p, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if (dtype <= HISTO_I64) {
        uint64_t limit = (direction > 0 ? UINT64_MAX : 0) & (sign | (sign - 1));
        bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
        if (is_signed) limit ^= sign;
        if (bits != limit) bits += direction > 0 ? 1 : UINT64_MAX;
    } else if (isfinite((double)sample_value(p, dtype))) {
        bool negative = bits & sign;
        if ((bits & ~sign) == 0)
            bits = direction > 0 ? 1 : sign | 1;
        else
            bits += (direction > 0) != negative ? 1 : UINT64_MAX;
    }
    memcpy(p, &bits, size);
}

static double gaussian(rng *r)
{
    double u = rng_uniform(r), v = rng_uniform(r);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

static double draw(rng *r, distribution d, const histo_axis *axis)
{
    double lo = axis->lo, hi = axis->hi, span = hi - lo;
    switch (d) {
    case DEGENERATE:
        return lo + span * 0.625;
    case TWO_VALUES:
        return lo + span * (rng_next(r) & 1 ? 0.1 : 0.9);
    case SEVENTEEN_VALUES:
        return lo + span * (double)rng_below(r, 17) / 16;
    case GAUSSIAN:
        return lo + span * (0.5 + 0.0243 * gaussian(r));
    case ZIPF:
        return lo + span * (1 / (1 - 0.999 * rng_uniform(r)) - 1) / 999;
    default:
        return lo + span * (1.2 * rng_uniform(r) - 0.1);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_special(rng *r, histo_dtype dtype, void *samples, int64_t n)
{
    static const double values[] = {INFINITY, -INFINITY, NAN,     0.0,     -0.0,     0x1p-1074, -0x1p-1074, 0x1p-149,
                                    0x1p-24,  1e308,     -1e308,  DBL_MAX, -DBL_MAX, 0x1p63,    -0x1p63,    0x1p64,
                                    0x1p53,   0x1p31,    65504.0, FLT_MAX, 1,        -1,        0x1p-1022,  0.3};
    size_t size = histo_dtype_size(dtype);
    int64_t count = sizeof values / sizeof values[0];
    for (int64_t i = 0; i < n; i++) {
        if (i % 2) { /* any bit pattern */
            uint64_t bits = rng_next(r);
            memcpy((char *)samples + i * (int64_t)size, &bits, size);
        } else {
            store(samples, i, dtype, values[rng_below(r, count)]);
        }
    }
}

void *make_samples(rng *r, histo_dtype dtype, distribution d, const histo_axis *axis, int64_t n)
{
    size_t size = histo_dtype_size(dtype);
    void *samples = malloc((size_t)n * size + 1);
    if (d == SPECIAL) {
        fill_special(r, dtype, samples, n);
        return samples;
    }
    double *edges = malloc((size_t)(axis->bins + 1) * sizeof *edges);
    histo_axis_edges(axis, edges);
    double *values = malloc((size_t)(n + 1) * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = d == EDGES ? edges[rng_below(r, axis->bins + 1)] : draw(r, d, axis);
    if (d == SORTED) qsort(values, (size_t)n, sizeof *values, compare_doubles);
    for (int64_t i = 0; i < n; i++) {
        store(samples, i, dtype, values[i]);
        if (d == EDGES) {
            int64_t which = rng_below(r, 3);
            if (which) nudge(samples, i, dtype, which == 1 ? 1 : -1);
        }
    }
    free(values);
    free(edges);
    return samples;
}

bool test_axis(int i, histo_dtype dtype, histo_axis *axis)
{
    static const double few[] = {-3.5, -1, 0, 0x1p-20, 0.1, 0.25, 3, 17.5, 100, 1e4};
    static double many[1025];
    static const double wide[] = {-0x1p63, -0x1p53 - 2, -1, 0.5, 255.5, 0x1p53 + 2, 0x1p63, 0x1p64};
    bool small = dtype == HISTO_U8 || dtype == HISTO_I8;
    double top = small ? 127 : 30000;
    if (many[1] == 0)
        for (int e = 0; e <= 1024; e++)
            many[e] = (double)e * e / 64.0 + (double)e / 1000;
    const histo_axis axes[] = {
        histo_axis_integer(0, 256),
        histo_axis_integer(-100, 65),
        histo_axis_regular(10, 0, 1),
        histo_axis_closed(histo_axis_regular(100, -1, top)),
        histo_axis_closed(histo_axis_regular(1000, 0.1, 0.7)),
        histo_axis_regular(77, 1e6, 1e6 + 1e-4), /* few doubles per bin */
        histo_axis_regular(3, -0x1p60, 0x1p64),
        histo_axis_variable(9, few),
        histo_axis_closed(histo_axis_variable(1024, many)),
        histo_axis_variable(7, wide),
        histo_axis_log(50, 1e-3, 1e4),
        histo_axis_closed(histo_axis_sqrt(33, 0, top)),
        histo_axis_power(20, 1, 100, -1.5),
        histo_axis_closed(histo_axis_regular(70000, 0, 65536)),
        histo_axis_regular(1, -1e300, 1e300),
        histo_axis_regular(16, 1, 1 + 0x1p-46), /* edges at the limit of precision */
    };
    if (i >= (int)(sizeof axes / sizeof *axes)) return false;
    *axis = axes[i];
    return true;
}

histo_storage storage_for(const char *strategy)
{
    histo_strategy_info info;
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK; s++)
        if (strcmp(strchr(strategy, '/') + 1, info.name) == 0 &&
            strncmp(strategy, info.backend, strlen(info.backend)) == 0)
            return info.storage;
    return HISTO_DENSE;
}

bool use_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", "es_ES.UTF-8", "pt_BR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_NUMERIC, names[i])) return true;
    return false;
}
