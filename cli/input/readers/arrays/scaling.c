#include "input/readers/arrays/scaling.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512 };

/* The smallest integer type of at least `bytes` bytes that holds lo … hi; HISTO_F64 if none does. */
static histo_dtype integers_for(size_t bytes, double lo, double hi)
{
    static const histo_dtype sized[] = {HISTO_U8,  HISTO_I8,  HISTO_U16, HISTO_I16,
                                        HISTO_U32, HISTO_I32, HISTO_U64, HISTO_I64};
    for (size_t i = 0; i < sizeof sized / sizeof *sized; i++) {
        const int size = (int)histo_dtype_size(sized[i]) * 8;
        const double reach = ldexp(1, i % 2 ? size - 1 : size), low = i % 2 ? -reach : 0;
        if (histo_dtype_size(sized[i]) >= bytes && lo >= low && hi < reach) return sized[i];
    }
    return HISTO_F64;
}

static bool is_signed(histo_dtype t)
{
    return t == HISTO_I8 || t == HISTO_I16 || t == HISTO_I32 || t == HISTO_I64;
}

scaling scaling_of(histo_dtype from, int bits, double slope, double intercept)
{
    scaling s = {.from = from, .to = HISTO_F64, .slope = slope, .intercept = intercept};
    if (slope == 1 && intercept == 0) {
        s.to = from;
        s.none = true;
    } else if (slope == 1 && from < HISTO_F16 && intercept == trunc(intercept) && fabs(intercept) < 0x1p53) {
        const int used = bits ? bits : (int)histo_dtype_size(from) * 8;
        const double lo = is_signed(from) ? -ldexp(1, used - 1) : 0, hi = ldexp(1, is_signed(from) ? used - 1 : used);
        /* Beyond 2^53, the ends are rounded, and the largest dtypes may be slightly too small. */
        if (used < 64) s.to = integers_for(histo_dtype_size(from), lo + intercept, hi - 1 + intercept);
    }
    return s;
}

histo_dtype scaling_common(histo_dtype a, histo_dtype b)
{
    static const histo_dtype sized[2][9] = {{[1] = HISTO_U8, [2] = HISTO_U16, [4] = HISTO_U32, [8] = HISTO_U64},
                                            {[1] = HISTO_I8, [2] = HISTO_I16, [4] = HISTO_I32, [8] = HISTO_I64}};
    if (a == b) return a;
    if (a >= HISTO_F16 || b >= HISTO_F16) return HISTO_F64;
    const bool any_signed = is_signed(a) || is_signed(b);
    const size_t a_size = histo_dtype_size(a) * (any_signed && !is_signed(a) ? 2 : 1);
    const size_t b_size = histo_dtype_size(b) * (any_signed && !is_signed(b) ? 2 : 1);
    const size_t size = a_size > b_size ? a_size : b_size;
    return size > 8 ? HISTO_F64 : sized[any_signed][size];
}

void scaling_make(scaling *s, histo_dtype to)
{
    s->to = to;
    s->none = to == s->from && s->slope == 1 && s->intercept == 0;
}

static void widen(histo_dtype t, const void *from, int64_t *to, int n)
{
    for (int i = 0; i < n; i++) {
        switch (t) {
        case HISTO_U8:
            to[i] = ((const uint8_t *)from)[i];
            break;
        case HISTO_I8:
            to[i] = (int64_t)((const int8_t *)from)[i];
            break;
        case HISTO_U16:
            to[i] = ((const uint16_t *)from)[i];
            break;
        case HISTO_I16:
            to[i] = ((const int16_t *)from)[i];
            break;
        case HISTO_U32:
            to[i] = ((const uint32_t *)from)[i];
            break;
        case HISTO_I32:
            to[i] = ((const int32_t *)from)[i];
            break;
        default:
            to[i] = ((const int64_t *)from)[i];
            break; /* in U64, the bits are the same */
        }
    }
}

static void narrow(histo_dtype t, const int64_t *from, void *to, int n)
{
    const size_t size = histo_dtype_size(t);
    for (int i = 0; i < n; i++) {
        switch (size) {
        case 1:
            ((uint8_t *)to)[i] = (uint8_t)from[i];
            break;
        case 2:
            ((uint16_t *)to)[i] = (uint16_t)from[i];
            break;
        case 4:
            ((uint32_t *)to)[i] = (uint32_t)from[i];
            break;
        default:
            ((int64_t *)to)[i] = from[i];
            break;
        }
    }
}

/* Convert a block of stored samples to floats. */
static void to_floats(histo_dtype t, const void *from, double *to, int n)
{
    int64_t whole[BLOCK];
    if (t == HISTO_F64) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    if (t < HISTO_F16) widen(t, from, whole, n);
    for (int i = 0; i < n; i++)
        to[i] = t >= HISTO_F16   ? histo_sample_value((const char *)from + (size_t)i * histo_dtype_size(t), t)
                : t == HISTO_U64 ? (double)(uint64_t)whole[i]
                                 : (double)whole[i];
}

/* From the last block to the first, as values may be larger than stored samples. */
void scaling_apply(const scaling *s, const void *stored, void *values, int64_t count)
{
    const int64_t in = (int64_t)histo_dtype_size(s->from), out = (int64_t)histo_dtype_size(s->to);
    double floats[BLOCK];
    int64_t whole[BLOCK];
    if (s->none) {
        memmove(values, stored, (size_t)(count * in));
        return;
    }
    for (int64_t done = count; done > 0;) {
        const int n = done % BLOCK ? (int)(done % BLOCK) : BLOCK;
        done -= n;
        const char *from = (const char *)stored + done * in;
        char *to = (char *)values + done * out;
        if (s->to == HISTO_F64) {
            to_floats(s->from, from, floats, n);
            for (int i = 0; i < n; i++)
                floats[i] = s->slope * floats[i] + s->intercept;
            memcpy(to, floats, sizeof *floats * (size_t)n);
        } else {
            widen(s->from, from, whole, n);
            for (int i = 0; i < n; i++)
                whole[i] += (int64_t)s->intercept;
            narrow(s->to, whole, to, n);
        }
    }
}
