#include "input/samples/unpack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Numbers -------------------------------------------------------------------------------------------- */

static inline bool is_float(histo_dtype dtype)
{
    return dtype > HISTO_I64;
}

static inline bool is_signed(histo_dtype dtype)
{
    return dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
}

static double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double size = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                        : exponent     ? ldexp(mantissa + 1024, exponent - 25)
                                       : ldexp(mantissa, -24);
    return bits & 0x8000 ? -size : size;
}

static double brain_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* Inlined for constant types. */
__attribute__((always_inline)) static inline unpack_number load(const void *at, histo_dtype dtype)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        float f32;
        unpack_number whole;
    } as;
    switch (dtype) {
    case HISTO_U8:
        memcpy(&as, at, 1);
        return (unpack_number){.u = as.u8};
    case HISTO_I8:
        memcpy(&as, at, 1);
        return (unpack_number){.i = as.i8};
    case HISTO_U16:
        memcpy(&as, at, 2);
        return (unpack_number){.u = as.u16};
    case HISTO_I16:
        memcpy(&as, at, 2);
        return (unpack_number){.i = as.i16};
    case HISTO_U32:
        memcpy(&as, at, 4);
        return (unpack_number){.u = as.u32};
    case HISTO_I32:
        memcpy(&as, at, 4);
        return (unpack_number){.i = as.i32};
    case HISTO_F16:
        memcpy(&as, at, 2);
        return (unpack_number){.f = half_value(as.u16)};
    case HISTO_BF16:
        memcpy(&as, at, 2);
        return (unpack_number){.f = brain_value(as.u16)};
    case HISTO_F32:
        memcpy(&as, at, 4);
        return (unpack_number){.f = (double)as.f32};
    default: /* 64 bits */
        memcpy(&as, at, 8);
        return as.whole;
    }
}

unpack_number unpack_load(const void *at, histo_dtype dtype)
{
    return load(at, dtype);
}

__attribute__((always_inline)) static inline double real_value(unpack_number n, histo_dtype dtype)
{
    return is_float(dtype) ? n.f : is_signed(dtype) ? (double)n.i : (double)n.u;
}

/* ---- Rules ---------------------------------------------------------------------------------------------- */

/* Each signed type follows the unsigned one of its size. */
static histo_dtype unsigned_of(histo_dtype dtype)
{
    return is_signed(dtype) ? (histo_dtype)(dtype - 1) : dtype;
}

/* Convert element k to the type of the samples; false if that cannot represent it. */
static bool convert(const attribute *a, int k, histo_dtype stored, unpack_number *to)
{
    const unpack_number n = a->values[k];
    const double real = real_value(n, a->dtype);
    if (is_float(stored)) {
        to->f = stored == HISTO_F32 ? (double)(float)real : real;
        return true;
    }
    if (!is_float(a->dtype) && is_signed(a->dtype) == is_signed(stored)) {
        *to = n;
        return true;
    }
    if (real != rint(real) || real < (is_signed(stored) ? -0x1p63 : 0) || real >= (is_signed(stored) ? 0x1p63 : 0x1p64))
        return false;
    if (is_signed(stored))
        to->i = is_float(a->dtype) ? (int64_t)real : (int64_t)n.u;
    else
        to->u = is_float(a->dtype) ? (uint64_t)real : (uint64_t)n.i;
    return true;
}

void unpack_add_missing(packing *p, unpack_number value)
{
    if (p->missing_count < UNPACK_MAX_MISSING) p->missing[p->missing_count++] = value;
}

void unpack_add_default_fill(packing *p, histo_dtype stored)
{
    /* NC_FILL_SHORT and its siblings; bytes have none. */
    static const unpack_number fills[HISTO_DTYPE_COUNT] = {
        [HISTO_I16] = {.i = -32767},
        [HISTO_U16] = {.u = 65535},
        [HISTO_I32] = {.i = -2147483647},
        [HISTO_U32] = {.u = 4294967295},
        [HISTO_I64] = {.i = INT64_C(-9223372036854775806)},
        [HISTO_U64] = {.u = UINT64_C(18446744073709551614)},
        [HISTO_F32] = {.f = 0x1.ep+122},
        [HISTO_F64] = {.f = 0x1.ep+122},
    };
    if (fills[stored].u != 0) unpack_add_missing(p, fills[stored]);
}

typedef struct attributes {
    attribute_find *find;
    void *self;
    histo_dtype stored, before; /* the type of the samples, and the one before _Unsigned */
} attributes;

/* If _Unsigned makes the samples unsigned, signed numbers that describe them are unsigned, too. */
static bool find_numbers(const attributes *from, const char *name, attribute *a)
{
    if (!from->find(from->self, name, a) || a->count < 1) return false;
    const size_t bits = 8 * histo_dtype_size(from->stored);
    if (from->stored == from->before || a->dtype != from->before) return true;
    a->dtype = from->stored;
    for (int i = 0; i < a->count && bits < 64; i++)
        a->values[i].u &= (UINT64_C(1) << bits) - 1;
    return true;
}

static void find_missing(packing *p, const attributes *from, const char *name)
{
    attribute a;
    unpack_number value;
    if (!find_numbers(from, name, &a)) return;
    for (int i = 0; i < a.count; i++)
        if (convert(&a, i, from->stored, &value)) unpack_add_missing(p, value);
}

/* Element k of an attribute as an end of the valid range, in terms of stored values: for integers, floats are
 * ignored. */
static void find_end(const attributes *from, const char *name, int k, bool *has, unpack_number *end)
{
    attribute a;
    if (!find_numbers(from, name, &a) || a.count <= k || (is_float(a.dtype) && !is_float(from->stored))) return;
    if (convert(&a, k, from->stored, end)) *has = true;
}

static void find_scale(packing *p, const attributes *from)
{
    attribute scale = {.count = 0}, offset = {.count = 0};
    const bool scales = from->find(from->self, "scale_factor", &scale) && scale.count == 1;
    const bool shifts = from->find(from->self, "add_offset", &offset) && offset.count == 1;
    p->scale = scales ? real_value(scale.values[0], scale.dtype) : 1;
    p->offset = shifts ? real_value(offset.values[0], offset.dtype) : 0;
    p->scaled = p->scale != 1 || p->offset != 0;
    const bool doubles = (scales && scale.dtype != HISTO_F32) || (shifts && offset.dtype != HISTO_F32);
    const bool fits = is_float(from->stored) ? from->stored != HISTO_F64 : histo_dtype_size(from->stored) <= 2;
    p->single = fits && !doubles;
}

static void find_epoch(packing *p, const attributes *from)
{
    attribute units = {.count = 0}, calendar = {.count = 0};
    if (!from->find(from->self, "units", &units) || units.count) return;
    if (!from->find(from->self, "calendar", &calendar)) calendar.text[0] = '\0';
    p->epoch = epoch_of_units(units.text, calendar.text);
}

packing unpack_rule(attribute_find *find, void *self, histo_dtype *stored)
{
    packing p = {.scale = 1};
    attribute a;
    attributes from = {find, self, *stored, *stored};
    if (find(self, "_Unsigned", &a) && a.count == 0 && strcasecmp(a.text, "true") == 0)
        from.stored = *stored = unsigned_of(*stored);
    find_scale(&p, &from);
    find_missing(&p, &from, "_FillValue");
    find_missing(&p, &from, "missing_value");
    find_end(&from, "valid_min", 0, &p.has_lo, &p.lo);
    find_end(&from, "valid_max", 0, &p.has_hi, &p.hi);
    find_end(&from, "valid_range", 0, &p.has_lo, &p.lo);
    find_end(&from, "valid_range", 1, &p.has_hi, &p.hi);
    find_epoch(&p, &from);
    return p;
}

bool unpack_is_idle(const packing *p)
{
    return !p->scaled && p->missing_count == 0 && !p->has_lo && !p->has_hi;
}

histo_dtype unpack_dtype(const packing *p, histo_dtype stored)
{
    if (p->scaled) return p->single ? HISTO_F32 : HISTO_F64;
    const bool half = stored == HISTO_F16 || stored == HISTO_BF16;
    return half && !unpack_is_idle(p) ? HISTO_F32 : stored;
}

/* ---- Samples -------------------------------------------------------------------------------------------- */

__attribute__((always_inline)) static inline bool is_below(unpack_number a, unpack_number b, histo_dtype dtype)
{
    return is_float(dtype) ? a.f < b.f : is_signed(dtype) ? a.i < b.i : a.u < b.u;
}

__attribute__((always_inline)) static inline bool is_missing(const packing *p, unpack_number n, histo_dtype dtype)
{
    if ((p->has_lo && is_below(n, p->lo, dtype)) || (p->has_hi && is_below(p->hi, n, dtype))) return true;
    for (int i = 0; i < p->missing_count; i++) {
        const unpack_number m = p->missing[i];
        if (is_float(dtype) ? n.f == m.f || (isnan(n.f) && isnan(m.f)) : n.u == m.u) return true;
    }
    return false;
}

/* Where results go: nowhere, or to floats or doubles. */
typedef struct results {
    float *singles;
    double *doubles;
    unsigned char *valid; /* 0 where a value is missing */
} results;

/* Unpack a row of samples, to index k on in the results; returns the number of missing values. The rule is a copy, as
 * writing marks might alias any other. */
__attribute__((always_inline)) static inline int64_t unpack_row(const packing rule, const char *at, int64_t step,
                                                                int64_t count, histo_dtype dtype, results to)
{
    const float scale = (float)rule.scale, offset = (float)rule.offset;
    int64_t missing = 0;
    for (int64_t k = 0; k < count; k++, at += step) {
        const unpack_number n = load(at, dtype);
        const bool gone = is_missing(&rule, n, dtype);
        missing += gone;
        to.valid[k] = !gone;
        if (to.singles) {
            const float value = is_float(dtype) ? (float)n.f : is_signed(dtype) ? (float)n.i : (float)n.u;
            to.singles[k] = gone ? NAN : value * scale + offset;
        } else if (to.doubles) {
            to.doubles[k] = gone ? (double)NAN : real_value(n, dtype) * rule.scale + rule.offset;
        }
    }
    return missing;
}

/* Unpack a row. The most common cases have their own code, in which the rule's fields are constants. */
__attribute__((always_inline)) static inline int64_t unpack_specialised(packing rule, const char *at, int64_t step,
                                                                        int64_t count, histo_dtype dtype, results to)
{
    if (rule.missing_count != 1 || rule.has_lo || rule.has_hi) return unpack_row(rule, at, step, count, dtype, to);
    rule.missing_count = 1;
    rule.has_lo = rule.has_hi = false;
    if (to.singles)
        return unpack_row(rule, at, step, count, dtype, (results){.singles = to.singles, .valid = to.valid});
    if (to.doubles)
        return unpack_row(rule, at, step, count, dtype, (results){.doubles = to.doubles, .valid = to.valid});
    return unpack_row(rule, at, step, count, dtype, (results){.valid = to.valid});
}

__attribute__((always_inline)) static inline int64_t unpack_view(const packing *p, const histo_view *v,
                                                                 histo_dtype dtype, results to)
{
    int64_t missing = 0;
    for (int64_t y = 0; y < v->shape[0]; y++) {
        const char *at = (const char *)v->data + y * v->strides[0];
        missing += unpack_specialised(*p, at, v->strides[1], v->shape[1], dtype, to);
        to.valid += v->shape[1];
        if (to.singles) to.singles += v->shape[1];
        if (to.doubles) to.doubles += v->shape[1];
    }
    return missing;
}

static int64_t unpack_any(const packing *p, const histo_view *v, results to)
{
    const histo_view row = {v->data, v->dtype, 2, 0, {1, v->shape[0]}, {0, v->strides[0]}};
    if (v->shape[1] == 1) v = &row; /* a column is read as a row */
    switch (v->dtype) {
    case HISTO_U8:
        return unpack_view(p, v, HISTO_U8, to);
    case HISTO_I8:
        return unpack_view(p, v, HISTO_I8, to);
    case HISTO_U16:
        return unpack_view(p, v, HISTO_U16, to);
    case HISTO_I16:
        return unpack_view(p, v, HISTO_I16, to);
    case HISTO_U32:
        return unpack_view(p, v, HISTO_U32, to);
    case HISTO_I32:
        return unpack_view(p, v, HISTO_I32, to);
    case HISTO_F32:
        return unpack_view(p, v, HISTO_F32, to);
    case HISTO_F64:
        return unpack_view(p, v, HISTO_F64, to);
    default:
        return unpack_view(p, v, v->dtype, to);
    }
}

/* Make room for doubles and marks of this many channels. */
static int reserve(unpacker *u, const selection *s, size_t samples, const char *name, fault *f)
{
    const size_t size = (size_t)s->count * samples * (sizeof(double) + 1);
    if (!u->valid) u->valid = calloc((size_t)s->count, sizeof *u->valid);
    return u->valid && scratch_reserve(&u->room, size) ? 0 : fault_set(f, EXIT_DATA, "no memory to read %s", name);
}

int unpack_band(unpacker *u, const selection *s, band *b, const char *name, fault *f)
{
    const size_t samples = (size_t)(b->rows * b->cols);
    const int64_t shape[] = {b->rows, b->cols};
    int64_t missing = 0;
    bool idle = true;
    for (int i = 0; i < s->count; i++)
        idle = idle && unpack_is_idle(&u->packings[s->wanted[i]]);
    if (idle) return 0;
    if (reserve(u, s, samples, name, f) != 0) return -1;
    unsigned char *marks = u->room.data + (size_t)s->count * samples * sizeof(double);
    for (int i = 0; i < s->count; i++, marks += samples) {
        const packing *p = &u->packings[s->wanted[i]];
        histo_view *v = &b->views[i];
        const histo_dtype dtype = unpack_dtype(p, v->dtype);
        double *room = (double *)(void *)u->room.data + (size_t)i * samples;
        u->valid[i] = (histo_view){0};
        if (unpack_is_idle(p)) continue;
        missing += unpack_any(p, v,
                              (results){.singles = dtype == HISTO_F32 ? (float *)room : NULL,
                                        .doubles = dtype == HISTO_F64 ? room : NULL,
                                        .valid = marks});
        u->valid[i] = histo_view_nd(marks, HISTO_U8, 2, shape);
        if (is_float(dtype)) *v = histo_view_nd(room, dtype, 2, shape);
    }
    if (missing) b->valid = u->valid;
    return 0;
}

void unpack_free(unpacker *u)
{
    free(u->room.data);
    free(u->valid);
    *u = (unpacker){0};
}
