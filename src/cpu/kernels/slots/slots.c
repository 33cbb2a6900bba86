/* Samples -> slots, in loops that the compiler vectorises. Compiled once for each instruction set level (isa.h),
 * without contraction, and with -fno-trapping-math, as floating-point traps would prevent vectorisation.
 *
 * Uniform axes, float and double: in fixed point (fixed.h), unless a sample is nearly on an edge. In that case, the
 * guess of slot_of.h is at most a quarter of a bin off, so the edge nearest to it is one of the two edges of the
 * sample's bin, and one comparison with it decides; if some samples are outside the axis, a few more operations are
 * needed. Where stored edges are nearly regular, this edge is loaded. Search axes: the sample is compared with the few
 * edges in its span of the axis (spans.h); runs of only two distinct values are looked up once. Samples of other types
 * are converted: 8 and 16 bits to float, others to double. */
#include <math.h>

#include "cpu/kernels/isa.h"
#include "cpu/kernels/slots/codes.h"
#include "cpu/kernels/slots/fixed.h"
#include "cpu/kernels/slots/round.h"
#include "cpu/kernels/slots/search.h"
#include "cpu/kernels/template.h"
#include "view/dtype.h"

/* x + ROUND - ROUND is x rounded to an integer; the low bits of x + ROUND are that integer. */
static const double ROUND = 0x1.8p52;

/* edges: the stored ones, or NULL. */
static inline uint32_t uniform_slot(double x, double lo, double step, double per_step, double bins, double top,
                                    const double *edges)
{
    double t = (x - lo) * per_step;
    t = t > 0 ? t : 0; /* underflow compares below edge 0, overflow at or above edge n */
    t = t < bins ? t : bins;
    double rounded = t + ROUND, nearest = rounded - ROUND;
    uint32_t below = (uint32_t)histo_bits_of(rounded);
    double edge = edges ? edges[below] : lo + nearest * step;
    edge = nearest == bins ? top : edge;
    uint32_t slot = below + (uint32_t)(x >= edge);
    return x != x ? (uint32_t)bins + 2 : slot;
}

/* ---- Uniform axes, float and double ---- */

/* The smallest float or double that is not below x. */
static float first_f32(double x)
{
    float first = (float)x;
    return (double)first < x ? nextafterf(first, INFINITY) : first;
}

static double first_f64(double x)
{
    return x;
}

#define NAME(function) function##_f32
#define TYPE float
#include "cpu/kernels/slots/uniform_template.h"

#define NAME(function) function##_f64
#define TYPE double
#include "cpu/kernels/slots/uniform_template.h"

/* ---- Integers ---- */

#if defined(__AVX512BW__)
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

#define NAME(function) function##_u8
#define PREFIX uint
#define BITS 8
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_i8
#define PREFIX int
#define BITS 8
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_u16
#define PREFIX uint
#define BITS 16
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_i16
#define PREFIX int
#define BITS 16
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_u32
#define PREFIX uint
#define BITS 32
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_i32
#define PREFIX int
#define BITS 32
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_u64
#define PREFIX uint
#define BITS 64
#include "cpu/kernels/slots/integers_template.h"

#define NAME(function) function##_i64
#define PREFIX int
#define BITS 64
#include "cpu/kernels/slots/integers_template.h"

/* ---- Slots ---- */

/* All other types convert exactly. */
#define DEFINE_WIDEN(name, storage, type, widen)                                                                       \
    static void widen_##name(const storage *restrict samples, int n, type *restrict out)                               \
    {                                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            out[i] = (type)widen(samples[i]);                                                                          \
    }
DEFINE_WIDEN(u32, uint32_t, double, histo_widen_plain)
DEFINE_WIDEN(i32, int32_t, double, histo_widen_plain)
DEFINE_WIDEN(f32, float, double, histo_widen_plain)
DEFINE_WIDEN(u8, uint8_t, float, histo_widen_plain)
DEFINE_WIDEN(i8, int8_t, float, histo_widen_plain)
DEFINE_WIDEN(u16, uint16_t, float, histo_widen_plain)
DEFINE_WIDEN(i16, int16_t, float, histo_widen_plain)
DEFINE_WIDEN(f16, uint16_t, float, histo_f16_to_f32)
DEFINE_WIDEN(bf16, uint16_t, float, histo_bf16_to_f32)

/* Bins of 2^shift integers; false if there is no kernel for the type. */
static bool by_shift(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, uint32_t *out)
{
    switch (dtype) {
#define CASE(constant, name, ...)                                                                                      \
    case constant:                                                                                                     \
        pow2_##name(l, samples, n, out);                                                                               \
        return true;
        HISTO_INTEGERS(CASE)
#undef CASE
    default:
        return false;
    }
}

static bool is_short(histo_dtype dtype)
{
    return histo_dtype_size(dtype) <= 2;
}

/* Convert samples of 8 and 16 bits to floats. */
static void to_floats(histo_dtype dtype, const void *samples, int n, float *out)
{
    switch (dtype) {
#define CASE(constant, name)                                                                                           \
    case constant:                                                                                                     \
        widen_##name(samples, n, out);                                                                                 \
        break;
        CASE(HISTO_U8, u8)
        CASE(HISTO_I8, i8)
        CASE(HISTO_U16, u16)
        CASE(HISTO_I16, i16)
        CASE(HISTO_F16, f16)
        CASE(HISTO_BF16, bf16)
    default:
        break;
    }
}

/* Convert samples of 32 and 64 bits to doubles that have the same slots. */
static void to_doubles(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, double *out)
{
    switch (dtype) {
        CASE(HISTO_U32, u32)
        CASE(HISTO_I32, i32)
        CASE(HISTO_F32, f32)
#undef CASE
    case HISTO_U64:
        round_u64(l, samples, n, out);
        break;
    case HISTO_I64:
        round_i64(l, samples, n, out);
        break;
    default:
        break;
    }
}

/* near: the spans if the stored edges are nearly regular, else NULL. */
static void slots_on_uniform(const histo_lookup *l, const histo_spans *near, histo_dtype dtype, const void *samples,
                             int n, uint32_t *out)
{
    union {
        float floats[HISTO_BLOCK];
        double doubles[HISTO_BLOCK];
    } as;
    if (dtype == HISTO_F64) {
        uniform_slots_f64(l, near, samples, n, out);
    } else if (dtype == HISTO_F32) {
        uniform_slots_f32(l, near, samples, n, out);
    } else if (is_short(dtype)) {
        to_floats(dtype, samples, n, as.floats);
        uniform_slots_f32(l, near, as.floats, n, out);
    } else if (near || (!(dtype == HISTO_U64 && wide_pow2_u64(l, samples, n, out)) &&
                        !(dtype == HISTO_I64 && wide_pow2_i64(l, samples, n, out)))) {
        to_doubles(l, dtype, samples, n, as.doubles);
        uniform_slots_f64(l, near, as.doubles, n, out);
    }
}

static void slots_by_search(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples,
                            int n, uint32_t stride, bool accumulate, uint32_t *out)
{
    double doubles[HISTO_BLOCK];
    if (dtype == HISTO_F64) {
        slots_by_spans(spans, samples, n, stride, accumulate, out);
        return;
    }
    if (is_short(dtype)) {
        float floats[HISTO_BLOCK];
        to_floats(dtype, samples, n, floats);
        widen_f32(floats, n, doubles);
    } else {
        to_doubles(l, dtype, samples, n, doubles);
    }
    slots_by_spans(spans, doubles, n, stride, accumulate, out);
}

void HISTO_OF_ISA(slots)(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples, int n,
                         uint32_t stride, bool accumulate, uint32_t *out)
{
    if (l->table && !l->pow2.is && (l->kind == HISTO_SEARCH || histo_dtype_size(dtype) == 1)) {
        slots_by_table(l->table, histo_dtype_size(dtype), samples, n, stride, accumulate, out);
    } else if (l->kind == HISTO_SEARCH_WHOLE) {
        slots_by_keys(spans, dtype, samples, n, stride, accumulate, out);
    } else if (l->kind == HISTO_SEARCH && !spans->near) {
        slots_by_search(l, spans, dtype, samples, n, stride, accumulate, out);
    } else {
        uint32_t own[HISTO_BLOCK];
        const bool alone = stride == 1 && !accumulate;
        uint32_t *slots = alone ? out : own;
        const histo_spans *near = l->kind == HISTO_SEARCH ? spans : NULL;
        if (!l->pow2.is || !by_shift(l, dtype, samples, n, slots)) slots_on_uniform(l, near, dtype, samples, n, slots);
        if (!alone) PUT_ALL(own[i]);
    }
}

void HISTO_OF_ISA(widen_slots)(const uint32_t *restrict slots, int n, uint64_t extent, uint64_t *restrict wide)
{
    for (int i = 0; i < n; i++)
        wide[i] = wide[i] * extent + slots[i];
}

bool HISTO_OF_ISA(bins)(const uint32_t *restrict slots, int n, uint32_t extent, bool joins, uint32_t *restrict bins)
{
    uint32_t outside = 0;
    if (joins)
        for (int i = 0; i < n; i++) {
            outside |= (uint32_t)(slots[i] - 1 >= extent);
            bins[i] = bins[i] * extent + (slots[i] - 1);
        }
    else
        for (int i = 0; i < n; i++) {
            const uint32_t bin = slots[i] - 1;
            outside |= (uint32_t)(bin >= extent);
            bins[i] = bin;
        }
    return outside;
}

/* ---- Integers counted where they are ---- */

bool HISTO_OF_ISA(count_integers)(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, uint32_t *table)
{
    switch (l->pow2.is && l->pow2.shift == 0 ? dtype : HISTO_DTYPE_COUNT) {
#define CASE(constant, name)                                                                                           \
    case constant:                                                                                                     \
        count_##name(l, samples, n, table);                                                                            \
        return true;
        CASE(HISTO_U32, u32)
        CASE(HISTO_I32, i32)
        CASE(HISTO_U64, u64)
        CASE(HISTO_I64, i64)
#undef CASE
    default:
        return false;
    }
}

/* ---- Slots produced while others are counted ---- */

histo_produce_fn *HISTO_OF_ISA(producer_of)(const histo_lookup *l, bool near, histo_dtype dtype)
{
    if (l->kind != HISTO_UNIFORM && !near) return NULL;
    static histo_produce_fn *const pow2[HISTO_DTYPE_COUNT] = {
        [HISTO_U16] = produce_pow2_u16, [HISTO_I16] = produce_pow2_i16, [HISTO_U32] = produce_pow2_u32,
        [HISTO_I32] = produce_pow2_i32, [HISTO_U64] = produce_pow2_u64, [HISTO_I64] = produce_pow2_i64};
    return l->pow2.is ? pow2[dtype] : dtype == HISTO_F32 ? produce_f32 : dtype == HISTO_F64 ? produce_f64 : NULL;
}

/* ---- Bins as bytes ---- */

static void codes_by_slots(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples,
                           int n, uint8_t *codes, uint64_t flow[3])
{
    uint32_t slots[HISTO_BLOCK];
    HISTO_OF_ISA(slots)(l, spans, dtype, samples, n, 1, false, slots);
    codes_of_slots(slots, n, (uint32_t)l->bins, codes, flow);
}

static bool pow2_codes(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, uint8_t *codes)
{
    switch (l->pow2.is ? dtype : HISTO_DTYPE_COUNT) {
    case HISTO_U16:
        return pow2_codes_u16(l, samples, n, codes);
    case HISTO_I16:
        return pow2_codes_i16(l, samples, n, codes);
    case HISTO_U32:
        return pow2_codes_u32(l, samples, n, codes);
    case HISTO_I32:
        return pow2_codes_i32(l, samples, n, codes);
    case HISTO_U64:
        return pow2_codes_u64(l, samples, n, codes);
    case HISTO_I64:
        return pow2_codes_i64(l, samples, n, codes);
    default:
        return false;
    }
}

void HISTO_OF_ISA(codes)(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples, int n,
                         uint8_t *codes, uint64_t flow[3])
{
    const histo_spans *near = l->kind == HISTO_SEARCH && spans && spans->near ? spans : NULL;
    const bool regular = l->kind == HISTO_UNIFORM || near;
    if (regular && dtype == HISTO_F32) {
        codes_f32(l, near, samples, n, codes, flow);
    } else if (regular && dtype == HISTO_F64) {
        codes_f64(l, near, samples, n, codes, flow);
    } else {
        const size_t size = histo_dtype_size(dtype);
        const int most = size == sizeof(int64_t) ? BATCH : n; /* few lines are prefetched at once */
        for (int i = 0, some; i < n; i += some) {
            const char *from = (const char *)samples + (size_t)i * size;
            some = n - i < most ? n - i : most;
            histo_prefetch_l2(from, (size_t)some * size);
            if (!pow2_codes(l, dtype, from, some, codes + i))
                codes_by_slots(l, spans, dtype, from, some, codes + i, flow);
        }
    }
}
