/* Samples -> slots, in loops that the compiler vectorises. Compiled once for each level of the instruction set (isa.h),
 * without contraction, and with -fno-trapping-math, as floating-point traps would prevent vectorisation.
 *
 * Uniform axes, float and double: in fixed point (fixed.h), unless a sample is nearly on an edge. Then the guess of
 * slot_of.h is at most a quarter of a bin off, so the edge nearest to it is one of the two edges of the sample's bin,
 * and one comparison with it decides; if some samples are outside the axis, a few more operations are needed. Where
 * stored edges are nearly regular, this edge is loaded.
 * Search axes: the sample is compared with the few edges in its span of the axis (spans.h); runs of only two distinct
 * values are looked up once. Samples of other types are converted: 8 and 16 bits to float, others to double. */
#include <math.h>
#include <string.h>

#include "axis/whole.h"
#include "cpu/kernels/isa.h"
#include "cpu/kernels/slots/fixed.h"
#include "view/dtype.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

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
    uint32_t below = (uint32_t)pattern_f64(rounded);
    double edge = edges ? edges[below] : lo + nearest * step;
    edge = nearest == bins ? top : edge;
    uint32_t slot = below + (uint32_t)(x >= edge);
    return x != x ? (uint32_t)bins + 2 : slot;
}

/* The span of a sample: spans of equal width, and spans of equally many bit patterns. */
static inline double clamped(double x, const histo_spans *c)
{
    double y = x > c->lo ? x : c->lo; /* NaN too */
    return y < c->hi ? y : c->hi;
}

static inline int32_t wide_span(double x, const histo_spans *c)
{
    return (int32_t)((clamped(x, c) - c->lo) * c->per_span);
}

static inline int32_t bits_span(double x, const histo_spans *c)
{
    double y = clamped(x, c);
    return (int32_t)((pattern_f64(y) - c->first_bits) >> c->shift);
}

/* Store a slot: of the first or only axis, or (accumulate) add that of a further axis. */
static inline void put(uint32_t *out, uint32_t slot, uint32_t stride, bool accumulate)
{
    *out = (accumulate ? *out : 0) + stride * slot;
}

/* The loop `put(&out[i], SLOT, …)`, specialised for stride 1, which needs no multiplication. */
#define PUT_ALL(SLOT)                                                                                                  \
    do {                                                                                                               \
        if (stride == 1 && !accumulate)                                                                                \
            for (int i = 0; i < n; i++)                                                                                \
                put(&out[i], SLOT, 1, false);                                                                          \
        else                                                                                                           \
            for (int i = 0; i < n; i++)                                                                                \
                put(&out[i], SLOT, stride, accumulate);                                                                \
    } while (0)

#define DEFINE_UNIFORM(name, storage)                                                                                  \
    static void uniform_##name(const histo_lookup *l, const double *restrict edges, const storage *restrict samples,   \
                               int n, uint32_t *restrict out)                                                          \
    {                                                                                                                  \
        const double lo = l->lo, step = l->step, per_step = l->per_step, bins = l->bins, top = l->over;                \
        if (edges)                                                                                                     \
            for (int i = 0; i < n; i++)                                                                                \
                out[i] = uniform_slot(samples[i], lo, step, per_step, bins, top, edges);                               \
        else                                                                                                           \
            for (int i = 0; i < n; i++)                                                                                \
                out[i] = uniform_slot(samples[i], lo, step, per_step, bins, top, NULL);                                \
    }

DEFINE_UNIFORM(f32, float)
DEFINE_UNIFORM(f64, double)

/* Binary search among the `most` edges from the first of the sample's span on; one loop over the samples for each step,
 * so that it is vectorised. */
static void search_spans(const histo_spans *spans, const double *restrict samples, int n, uint32_t stride,
                         bool accumulate, uint32_t *restrict out)
{
    const histo_spans c = *spans;
    int32_t slots[HISTO_BLOCK];
    if (c.by_bits)
        for (int i = 0; i < n; i++)
            slots[i] = c.first[bits_span(samples[i], &c)];
    else
        for (int i = 0; i < n; i++)
            slots[i] = c.first[wide_span(samples[i], &c)];
    for (int32_t left = c.most; left > 0;) {
        const int32_t half = (left + 1) / 2;
        const double *edges = c.edges + half - 1;
        for (int i = 0; i < n; i++)
            slots[i] += samples[i] >= edges[slots[i]] ? half : 0;
        left -= half;
    }
    PUT_ALL(samples[i] != samples[i] ? c.nan : (uint32_t)slots[i]);
}

/* The same with thresholds of integers. */
static void search_keys(const histo_spans *spans, const uint64_t *restrict keys, int n, uint32_t stride,
                        bool accumulate, uint32_t *restrict out)
{
    const histo_spans c = *spans;
    uint32_t slots[HISTO_BLOCK];
    for (int i = 0; i < n; i++) {
        uint64_t key = keys[i] > c.first_bits ? keys[i] : c.first_bits;
        key = key < c.last_key ? key : c.last_key;
        slots[i] = (uint32_t)c.first[(key - c.first_bits) >> c.shift];
    }
    for (int32_t left = c.most; left > 0;) {
        const int32_t half = (left + 1) / 2;
        const uint64_t *at = c.keys + half - 1;
        for (int i = 0; i < n; i++)
            slots[i] += keys[i] >= at[slots[i]] ? (uint32_t)half : 0;
        left -= half;
    }
    PUT_ALL(slots[i] < c.nan ? slots[i] : c.nan); /* the largest key reaches what follows the thresholds, too */
}

/* The length of the prefix, in groups, that has at most two distinct values. For nearly all other data, four samples
 * spread over the block and one branch tell. NaN equals nothing. */
static int count_pair(const double *samples, int n, double pair[2])
{
    enum { GROUP = 64 };
    if (n < GROUP) return 0;
    const double a = samples[0], x = samples[n / 4], y = samples[n / 2 + 1], z = samples[n - 1];
    double b = x != a ? x : y;
    if (!((y == a) | (y == b)) | !((z == a) | (z == b) | (a == b))) return 0;
    b = b != a ? b : z;
    int same = 0;
    while (same + GROUP <= n) {
        const double *group = samples + same;
        uint64_t others = 0;
        for (int i = 0; i < GROUP; i++)
            others |= (uint64_t)(group[i] != a) & (uint64_t)(group[i] != b);
        if (others && b != a) break;
        if (!others) same += GROUP;
        while (others && b == a) /* the second value is rare */
            b = *group++;
    }
    pair[0] = a;
    pair[1] = b;
    return same;
}

static void put_pair(const double *restrict samples, int n, const double pair[2], const uint32_t slots[2],
                     uint32_t stride, bool accumulate, uint32_t *restrict out)
{
    const double a = pair[0];
    const uint64_t of_a = slots[0], of_b = slots[1]; /* as wide as the samples, or the loop is not vectorised */
    PUT_ALL((uint32_t)(samples[i] == a ? of_a : of_b));
}

static void of_spans(const histo_spans *spans, const double *samples, int n, uint32_t stride, bool accumulate,
                     uint32_t *out)
{
    double pair[2];
    const int same = count_pair(samples, n, pair);
    if (same) {
        uint32_t slots[2];
        search_spans(spans, pair, 2, 1, false, slots);
        put_pair(samples, same, pair, slots, stride, accumulate, out);
    }
    if (same < n) search_spans(spans, samples + same, n - same, stride, accumulate, out + same);
}

/* ---- Uniform axes, float and double ---- */

/* Slots by the nearest edge if all samples are inside the axis; else false. */
#define DEFINE_INSIDE(name, type)                                                                                      \
    static bool inside_##name(const histo_lookup *l, const type *restrict samples, int n, uint32_t *restrict out)      \
    {                                                                                                                  \
        const double lo = l->lo, step = l->step, per_step = l->per_step;                                               \
        const type first = (type)first_##name(l->lo), end = (type)first_##name(l->hi);                                 \
        const uint32_t bins = (uint32_t)l->bins;                                                                       \
        uint32_t outside = 0;                                                                                          \
        for (int i = 0; i < n; i++) {                                                                                  \
            double x = (double)samples[i], rounded = (x - lo) * per_step + ROUND;                                      \
            double edge = lo + (rounded - ROUND) * step;                                                               \
            uint32_t slot = (uint32_t)pattern_f64(rounded) + (uint32_t)(x >= edge);                                    \
            outside |= (uint32_t) !(samples[i] >= first) | (uint32_t) !(samples[i] < end);                             \
            out[i] = slot < bins ? slot : bins; /* hi is the last edge, however the edges are rounded */               \
        }                                                                                                              \
        return !outside;                                                                                               \
    }

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

DEFINE_INSIDE(f32, float)
DEFINE_INSIDE(f64, double)

#define DEFINE_OF_UNIFORM(name, type)                                                                                  \
    static void exact_slots_##name(const histo_lookup *l, const histo_spans *near, const type *samples, int n,         \
                                   uint32_t *out)                                                                      \
    {                                                                                                                  \
        const double *edges = near ? near->edges : NULL;                                                               \
        const int some = n < BATCH ? n : BATCH; /* which tell of all whether it is worth trying */                     \
        if (edges || !inside_##name(l, samples, some, out))                                                            \
            uniform_##name(l, edges, samples, n, out);                                                                 \
        else if (!inside_##name(l, samples + some, n - some, out + some))                                              \
            uniform_##name(l, NULL, samples + some, n - some, out + some);                                             \
    }                                                                                                                  \
                                                                                                                       \
    static bool slots_in_fixed_##name(const histo_lookup *l, const histo_spans *near, fixed *f)                        \
    {                                                                                                                  \
        enum { FEW_DOUBTS = 2 };                                                                                       \
        int bits = MAX_BITS;                                                                                           \
        while (bits > 1 && (uint32_t)l->bins > 1U << (30 - bits))                                                      \
            bits--;                                                                                                    \
        const double off = near ? near->off : 0;                                                                       \
        return fixed_of(l, off, (double)(type)l->lo, sizeof(type) == sizeof(float), bits, f) &&                        \
               f->doubtful * (FEW_DOUBTS * BATCH) < 1U << bits;                                                        \
    }                                                                                                                  \
                                                                                                                       \
    static void of_uniform_##name(const histo_lookup *l, const histo_spans *near, const type *samples, int n,          \
                                  uint32_t *out)                                                                       \
    {                                                                                                                  \
        fixed f;                                                                                                       \
        bool usable = n >= BATCH && slots_in_fixed_##name(l, near, &f);                                                \
        for (int i = 0, doubts = 0; i < n;) {                                                                          \
            int done = usable && doubts < 2 ? fixed_slots_run_##name(&f, samples + i, n - i, out + i) : 0;             \
            doubts = done ? 1 : doubts + 1; /* after two in a row fixed point is given up */                           \
            i += done;                                                                                                 \
            int some = usable && doubts < 2 && n - i > BATCH ? BATCH : n - i;                                          \
            if (some) exact_slots_##name(l, near, samples + i, some, out + i);                                         \
            i += some;                                                                                                 \
        }                                                                                                              \
    }

DEFINE_OF_UNIFORM(f32, float)
DEFINE_OF_UNIFORM(f64, double)

/* ---- Integers ---- */

/* Bins of 2^shift integers: see histo_pow2. ends: the type of pow2.low and high. */
#define DEFINE_POW2(name, storage, ends)                                                                               \
    static inline void pow2_##name(const histo_lookup *l, const storage *restrict samples, int n,                      \
                                   uint32_t *restrict out)                                                             \
    {                                                                                                                  \
        const storage low = (storage)(ends)l->pow2.low, high = (storage)(ends)l->pow2.high;                            \
        const uint32_t from = l->pow2.from;                                                                            \
        const int shift = l->pow2.shift;                                                                               \
        const uint32_t at_high = l->pow2.closed ? (uint32_t)l->bins : ((uint32_t)high - from) >> shift;                \
        for (int i = 0; i < n; i++) {                                                                                  \
            storage x = samples[i], cut = x > low ? x : low;                                                           \
            cut = cut < high ? cut : high;                                                                             \
            uint32_t slot = ((uint32_t)cut - from) >> shift;                                                           \
            out[i] = x == high ? at_high : slot;                                                                       \
        }                                                                                                              \
    }

DEFINE_POW2(u8, uint8_t, uint8_t)
DEFINE_POW2(i8, int8_t, int8_t)
DEFINE_POW2(u16, uint16_t, uint16_t)
DEFINE_POW2(i16, int16_t, int16_t)
DEFINE_POW2(u32, uint32_t, uint32_t)
DEFINE_POW2(i32, int32_t, int32_t)
DEFINE_POW2(u64, uint64_t, uint32_t)
DEFINE_POW2(i64, int64_t, int32_t)

/* ---- All ---- */

/* Round 64-bit integers down to doubles, which compare with every edge as the integers do: an edge is at most x if and
 * only if it is at most the largest double that is at most x. On a closed axis, integers that are above the last edge
 * but would be rounded down to it become `over`. */
#if defined(__AVX512DQ__)

#define DEFINE_ROUND(name, type, epi64)                                                                                \
    static void round_##name(const histo_lookup *l, const type *samples, int n, double *out)                           \
    {                                                                                                                  \
        enum { EIGHT = 8 };                                                                                            \
        const __m512d top = _mm512_set1_pd(l->closed ? l->hi : NAN), over = _mm512_set1_pd(l->over);                   \
        for (int i = 0; i < n; i += EIGHT) {                                                                           \
            const __mmask8 some = (__mmask8)(n - i < EIGHT ? (1 << (n - i)) - 1 : EVERY);                              \
            const __m512i x = _mm512_maskz_loadu_epi64(some, samples + i);                                             \
            const __m512d down = _mm512_cvt_round##epi64##_pd(x, DOWN);                                                \
            const __mmask8 at_top = _mm512_cmp_pd_mask(down, top, _CMP_EQ_OQ);                                         \
            const __mmask8 above = _mm512_mask_cmpneq_epi64_mask(at_top, x, _mm512_cvtpd_##epi64(down));               \
            _mm512_mask_storeu_pd(out + i, some, _mm512_mask_mov_pd(down, above, over));                               \
        }                                                                                                              \
    }
DEFINE_ROUND(u64, uint64_t, epu64)
DEFINE_ROUND(i64, int64_t, epi64)

#elif defined(__aarch64__)

/* Converted to the nearest double and back, which saturates: where that is larger, the next smaller double is taken. */
#define DEFINE_ROUND(name, type, s64, limit)                                                                           \
    static inline float64x2_t rounded_##name(type##x2_t x, float64x2_t top, float64x2_t over)                          \
    {                                                                                                                  \
        const float64x2_t nearest = vcvtq_f64_##s64(x);                                                                \
        const type##x2_t back = vcvtq_##s64##_f64(nearest);                                                            \
        const uint64x2_t beyond = vcgeq_f64(nearest, vdupq_n_f64(limit));                                              \
        const uint64x2_t above = vorrq_u64(beyond, vcgtq_##s64(back, x));                                              \
        const uint64x2_t exact = vbicq_u64(vceqq_##s64(back, x), beyond);                                              \
        const int64x2_t bits = vreinterpretq_s64_f64(nearest), sign = vshrq_n_s64(bits, 63);                           \
        const int64x2_t step = vsubq_s64(veorq_s64(vreinterpretq_s64_u64(above), sign), sign);                         \
        const float64x2_t down = vreinterpretq_f64_s64(vaddq_s64(bits, step));                                         \
        return vbslq_f64(vbicq_u64(vceqq_f64(down, top), exact), over, down);                                          \
    }                                                                                                                  \
                                                                                                                       \
    static void round_##name(const histo_lookup *l, const type##_t *samples, int n, double *out)                       \
    {                                                                                                                  \
        const float64x2_t top = vdupq_n_f64(l->closed ? l->hi : (double)NAN), over = vdupq_n_f64(l->over);             \
        int i = 0;                                                                                                     \
        for (; i + 2 <= n; i += 2)                                                                                     \
            vst1q_f64(out + i, rounded_##name(vld1q_##s64(samples + i), top, over));                                   \
        if (i < n) vst1q_lane_f64(out + i, rounded_##name(vld1q_dup_##s64(samples + i), top, over), 0);                \
    }
DEFINE_ROUND(u64, uint64, u64, 0x1p64)
DEFINE_ROUND(i64, int64, s64, 0x1p63)

#else

/* The integer is high + low. */
static inline double rounded_down(double high, double low, double top, double over)
{
    const double sum = high + low, error = low - (sum - high);
    const int64_t step = error < 0 ? (sum > 0 ? -1 : 1) : 0;
    const uint64_t bits = pattern_f64(sum) + (uint64_t)step;
    double down;
    memcpy(&down, &bits, sizeof down);
    return down == top && error != 0 ? over : down;
}

#define DEFINE_ROUND(name, type, half)                                                                                 \
    static void round_##name(const histo_lookup *l, const type *restrict samples, int n, double *restrict out)         \
    {                                                                                                                  \
        const double top = l->closed ? l->hi : NAN, over = l->over;                                                    \
        for (int i = 0; i < n; i++)                                                                                    \
            out[i] = rounded_down((double)(half)(samples[i] >> 32) * 0x1p32, (double)(uint32_t)samples[i], top, over); \
    }
DEFINE_ROUND(u64, uint64_t, uint32_t)
DEFINE_ROUND(i64, int64_t, int32_t)

#endif

/* Other types convert exactly. */
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

static void of_table(const uint32_t *table, size_t size, const void *samples, int n, uint32_t stride, bool accumulate,
                     uint32_t *out)
{
    if (size == 1)
        PUT_ALL(table[((const uint8_t *)samples)[i]]);
    else
        PUT_ALL(table[((const uint16_t *)samples)[i]]);
}

/* The same for 64-bit integers on any axis whose edges are below 2^53; false if it has other bins. */
#define DEFINE_WIDE_POW2(name, type, least)                                                                            \
    static bool wide_pow2_##name(const histo_lookup *l, const type *restrict samples, int n, uint32_t *restrict out)   \
    {                                                                                                                  \
        int exponent;                                                                                                  \
        const bool is_power = frexp(l->step, &exponent) == 0.5 && exponent >= 1 && exponent <= 31;                     \
        const bool near = l->lo >= (least) && l->hi <= 0x1p53;                                                         \
        if (!is_power || !near || l->lo != floor(l->lo) || l->hi != l->lo + l->bins * l->step) return false;           \
        const type lo = (type)l->lo, hi = (type)l->hi;                                                                 \
        const uint64_t width = (uint64_t)hi - (uint64_t)lo;                                                            \
        const uint32_t over = (uint32_t)l->bins + 1, at_hi = l->closed ? over - 1 : over;                              \
        const int shift = exponent - 1;                                                                                \
        for (int i = 0; i < n; i++) {                                                                                  \
            const uint64_t distance = (uint64_t)samples[i] - (uint64_t)lo;                                             \
            const uint64_t outside = samples[i] < lo ? 0 : over;                                                       \
            const uint64_t slot = distance < width ? (distance >> shift) + 1 : outside;                                \
            out[i] = (uint32_t)(samples[i] == hi ? at_hi : slot);                                                      \
        }                                                                                                              \
        return true;                                                                                                   \
    }
DEFINE_WIDE_POW2(u64, uint64_t, 0)
DEFINE_WIDE_POW2(i64, int64_t, -0x1p53)

/* Bins of 2^shift integers; false if there is no kernel for the type. */
static bool by_shift(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, uint32_t *out)
{
    switch (dtype) {
#define CASE(constant, name)                                                                                           \
    case constant:                                                                                                     \
        pow2_##name(l, samples, n, out);                                                                               \
        return true;
        CASE(HISTO_U8, u8)
        CASE(HISTO_I8, i8)
        CASE(HISTO_U16, u16)
        CASE(HISTO_I16, i16)
        CASE(HISTO_U32, u32)
        CASE(HISTO_I32, i32)
        CASE(HISTO_U64, u64)
        CASE(HISTO_I64, i64)
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

/* near: of stored edges that are nearly regular, else NULL. */
static void of_uniform(const histo_lookup *l, const histo_spans *near, histo_dtype dtype, const void *samples, int n,
                       uint32_t *out)
{
    union {
        float floats[HISTO_BLOCK];
        double doubles[HISTO_BLOCK];
    } as;
    if (dtype == HISTO_F64) {
        of_uniform_f64(l, near, samples, n, out);
    } else if (dtype == HISTO_F32) {
        of_uniform_f32(l, near, samples, n, out);
    } else if (is_short(dtype)) {
        to_floats(dtype, samples, n, as.floats);
        of_uniform_f32(l, near, as.floats, n, out);
    } else if (near || (!(dtype == HISTO_U64 && wide_pow2_u64(l, samples, n, out)) &&
                        !(dtype == HISTO_I64 && wide_pow2_i64(l, samples, n, out)))) {
        to_doubles(l, dtype, samples, n, as.doubles);
        of_uniform_f64(l, near, as.doubles, n, out);
    }
}

static void of_search(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples, int n,
                      uint32_t stride, bool accumulate, uint32_t *out)
{
    double doubles[HISTO_BLOCK];
    if (dtype == HISTO_F64) {
        of_spans(spans, samples, n, stride, accumulate, out);
        return;
    }
    if (is_short(dtype)) {
        float floats[HISTO_BLOCK];
        to_floats(dtype, samples, n, floats);
        widen_f32(floats, n, doubles);
    } else {
        to_doubles(l, dtype, samples, n, doubles);
    }
    of_spans(spans, doubles, n, stride, accumulate, out);
}

static void of_whole(const histo_spans *spans, histo_dtype dtype, const void *samples, int n, uint32_t stride,
                     bool accumulate, uint32_t *out)
{
    uint64_t keys[HISTO_BLOCK];
    const int64_t *integers = samples;
    if (dtype == HISTO_I64)
        for (int i = 0; i < n; i++)
            keys[i] = histo_key_i64(integers[i]);
    search_keys(spans, dtype == HISTO_I64 ? keys : samples, n, stride, accumulate, out);
}

void HISTO_OF_ISA(slots)(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples, int n,
                         uint32_t stride, bool accumulate, uint32_t *out)
{
    if (l->table && !l->pow2.is && (l->kind == HISTO_SEARCH || histo_dtype_size(dtype) == 1)) {
        of_table(l->table, histo_dtype_size(dtype), samples, n, stride, accumulate, out);
    } else if (l->kind == HISTO_SEARCH_WHOLE) {
        of_whole(spans, dtype, samples, n, stride, accumulate, out);
    } else if (l->kind == HISTO_SEARCH && !spans->near) {
        of_search(l, spans, dtype, samples, n, stride, accumulate, out);
    } else {
        uint32_t own[HISTO_BLOCK];
        const bool alone = stride == 1 && !accumulate;
        uint32_t *slots = alone ? out : own;
        const histo_spans *near = l->kind == HISTO_SEARCH ? spans : NULL;
        if (!l->pow2.is || !by_shift(l, dtype, samples, n, slots)) of_uniform(l, near, dtype, samples, n, slots);
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

/* Samples inside bins of one integer each need no slots: a sample is the place of its counter, but for a constant in
 * the table's address. Pieces with other samples are counted by their slots; so are those in which a value seems to
 * make up much. Vectors examine the next piece while increments wait for stores. wide: 64 bits, with the samples' sign.
 */
#if defined(__AVX512BW__)
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

#define DEFINE_COUNT_INTEGERS(name, storage, wide, signs, ends)                                                        \
    typedef storage vector_##name __attribute__((vector_size(VECTOR), aligned(sizeof(storage)), may_alias));           \
    typedef signs signs_##name __attribute__((vector_size(VECTOR)));                                                   \
                                                                                                                       \
    /* The first and the last sample that is inside. */                                                                \
    static inline void ends_##name(const histo_lookup *l, storage *first, storage *last)                               \
    {                                                                                                                  \
        const uint32_t from = l->pow2.from, low = l->pow2.low, high = l->pow2.high;                                    \
        *first = (storage)(ends)(low + (low - from == 0));                                                             \
        *last = (storage)(ends)(high - (high - from > (uint32_t)l->bins));                                             \
    }                                                                                                                  \
                                                                                                                       \
    /* Note which samples of a round are outside. */                                                                   \
    static inline void add_outside_##name(const storage *samples, storage first, storage last, signs_##name *outside)  \
    {                                                                                                                  \
        enum { VECTORS = HISTO_STREAMS * sizeof *samples / VECTOR };                                                   \
        const vector_##name *at = (const vector_##name *)samples;                                                      \
        for (int k = 0; k < (int)VECTORS; k++)                                                                         \
            *outside |= (at[k] < first) | (at[k] > last);                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline bool any_##name(const signs_##name *outside)                                                         \
    {                                                                                                                  \
        signs any = 0;                                                                                                 \
        for (size_t k = 0; k < VECTOR / sizeof any; k++)                                                               \
            any |= (*outside)[k];                                                                                      \
        return any;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static inline bool may_be_few_##name(const storage *samples)                                                       \
    {                                                                                                                  \
        int equal = 0;                                                                                                 \
        for (int i = 0; i < HISTO_PIECE; i += HISTO_STREAM)                                                            \
            equal += samples[i] == samples[i + HISTO_STREAM / 2];                                                      \
        return equal * 5 > HISTO_STREAMS;                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void count_##name(const histo_lookup *l, const storage *samples, int n, uint32_t *table)                    \
    {                                                                                                                  \
        enum { IN_ROUND = HISTO_STREAMS * sizeof *samples };                                                           \
        storage first, last;                                                                                           \
        uint32_t slots[HISTO_PIECE];                                                                                   \
        ends_##name(l, &first, &last);                                                                                 \
        const uintptr_t place = (uintptr_t)((uint32_t)first - l->pow2.from) - (uintptr_t)(wide)first;                  \
        const uintptr_t counters = (uintptr_t)table + place * sizeof *table;                                           \
        bool examined = false;                                                                                         \
        signs_##name outside = {0};                                                                                    \
        for (int some; n > 0; n -= some, samples += some) {                                                            \
            some = n < HISTO_PIECE ? n : HISTO_PIECE;                                                                  \
            for (int i = 0; i < some / HISTO_PIECE * HISTO_PIECE && !examined; i += HISTO_STREAMS)                     \
                add_outside_##name(samples + i, first, last, &outside);                                                \
            if (some < HISTO_PIECE || any_##name(&outside) || may_be_few_##name(samples)) {                            \
                pow2_##name(l, samples, some, slots);                                                                  \
                HISTO_OF_ISA(count_words)(table, slots, some, NULL, NULL, NULL);                                       \
                examined = false;                                                                                      \
                outside = (signs_##name){0};                                                                           \
                continue;                                                                                              \
            }                                                                                                          \
            examined = n >= 2 * HISTO_PIECE;                                                                           \
            const storage *next = examined ? samples + HISTO_PIECE : samples;                                          \
            for (int i = 0; i < HISTO_STREAM; i++) {                                                                   \
                histo_prefetch_l1((const char *)next + (size_t)i * IN_ROUND, IN_ROUND);                                \
                add_outside_##name(next + (size_t)i * HISTO_STREAMS, first, last, &outside);                           \
                for (int stream = 0; stream < HISTO_STREAMS; stream++)                                                 \
                    ++*(uint32_t *)(counters + (uintptr_t)(wide)samples[stream * HISTO_STREAM + i] * sizeof *table);   \
            }                                                                                                          \
        }                                                                                                              \
    }

/* NOLINTBEGIN(performance-no-int-to-ptr): the counter of zero may lie outside the table */
DEFINE_COUNT_INTEGERS(u32, uint32_t, uint64_t, int32_t, uint32_t)
DEFINE_COUNT_INTEGERS(i32, int32_t, int64_t, int32_t, int32_t)
DEFINE_COUNT_INTEGERS(u64, uint64_t, uint64_t, int64_t, uint32_t)
DEFINE_COUNT_INTEGERS(i64, int64_t, int64_t, int64_t, int32_t)
/* NOLINTEND(performance-no-int-to-ptr) */

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

#define DEFINE_PRODUCE_UNIFORM(name, type)                                                                             \
    static void produce_##name(const histo_lookup *l, const histo_spans *spans, const void *from, uint32_t *out,       \
                               histo_consumer to)                                                                      \
    {                                                                                                                  \
        const type *samples = from;                                                                                    \
        const histo_spans *near = l->kind == HISTO_SEARCH ? spans : NULL;                                              \
        fixed f = {.exact = false};                                                                                    \
        bool usable = slots_in_fixed_##name(l, near, &f);                                                              \
        for (int i = 0, doubts = 0; i < HISTO_PIECE; i += BATCH) {                                                     \
            histo_prefetch_l1(samples + i, BATCH * sizeof *samples);                                                   \
            bool done = usable && doubts < 2 &&                                                                        \
                        (f.exact ? fixed_slots_##name(&f, true, samples + i, out + i)                                  \
                                 : fixed_slots_##name(&f, false, samples + i, out + i));                               \
            doubts = done ? 0 : doubts + 1;                                                                            \
            if (!done) exact_slots_##name(l, near, samples + i, BATCH, out + i);                                       \
            histo_consume(&to, i / BATCH);                                                                             \
        }                                                                                                              \
    }

DEFINE_PRODUCE_UNIFORM(f32, float)
DEFINE_PRODUCE_UNIFORM(f64, double)

#define DEFINE_PRODUCE_POW2(name, storage)                                                                             \
    static void produce_pow2_##name(const histo_lookup *l, const histo_spans *spans, const void *from, uint32_t *out,  \
                                    histo_consumer to)                                                                 \
    {                                                                                                                  \
        (void)spans;                                                                                                   \
        const storage *samples = from;                                                                                 \
        for (int i = 0; i < HISTO_PIECE; i += BATCH) {                                                                 \
            histo_prefetch_l1(samples + i, BATCH * sizeof *samples);                                                   \
            pow2_##name(l, samples + i, BATCH, out + i);                                                               \
            histo_consume(&to, i / BATCH);                                                                             \
        }                                                                                                              \
    }

DEFINE_PRODUCE_POW2(u16, uint16_t)
DEFINE_PRODUCE_POW2(i16, int16_t)
DEFINE_PRODUCE_POW2(u32, uint32_t)
DEFINE_PRODUCE_POW2(i32, int32_t)
DEFINE_PRODUCE_POW2(u64, uint64_t)
DEFINE_PRODUCE_POW2(i64, int64_t)

histo_produce_fn *HISTO_OF_ISA(producer_of)(const histo_lookup *l, bool near, histo_dtype dtype)
{
    if (l->kind != HISTO_UNIFORM && !near) return NULL;
    static histo_produce_fn *const pow2[HISTO_DTYPE_COUNT] = {
        [HISTO_U16] = produce_pow2_u16, [HISTO_I16] = produce_pow2_i16, [HISTO_U32] = produce_pow2_u32,
        [HISTO_I32] = produce_pow2_i32, [HISTO_U64] = produce_pow2_u64, [HISTO_I64] = produce_pow2_i64};
    return l->pow2.is ? pow2[dtype] : dtype == HISTO_F32 ? produce_f32 : dtype == HISTO_F64 ? produce_f64 : NULL;
}

/* ---- Bins as bytes ---- */

static void codes_of_slots(const uint32_t *restrict slots, int n, uint32_t bins, uint8_t *restrict codes,
                           uint64_t flow[3])
{
    uint32_t outside = 0;
    for (int i = 0; i < n; i++) {
        uint32_t bin = slots[i] - 1;
        outside |= (uint32_t)(bin >= bins);
        codes[i] = (uint8_t)bin;
    }
    if (!outside) return;
    uint32_t under = 0, over = 0, nan = 0;
    for (int i = 0; i < n; i++) {
        under += slots[i] == 0;
        over += slots[i] == bins + 1;
        nan += slots[i] == bins + 2;
    }
    flow[0] += under;
    flow[1] += over;
    flow[2] += nan;
}

static void codes_by_slots(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples,
                           int n, uint8_t *codes, uint64_t flow[3])
{
    uint32_t slots[HISTO_BLOCK];
    HISTO_OF_ISA(slots)(l, spans, dtype, samples, n, 1, false, slots);
    codes_of_slots(slots, n, (uint32_t)l->bins, codes, flow);
}

#define DEFINE_CODES(name, type)                                                                                       \
    static void codes_##name(const histo_lookup *l, const histo_spans *near, const type *samples, int n,               \
                             uint8_t *codes, uint64_t flow[3])                                                         \
    {                                                                                                                  \
        fixed f;                                                                                                       \
        const double off = near ? near->off : 0;                                                                       \
        bool usable = fixed_of(l, off, (double)(type)l->lo, sizeof(type) == sizeof(float), CODE_BITS, &f);             \
        uint32_t slots[HISTO_PIECE];                                                                                   \
        for (int i = 0, doubts = 0; i < n;) {                                                                          \
            int done = usable && doubts < 2 ? fixed_codes_run_##name(&f, samples + i, n - i, codes + i) : 0;           \
            doubts = done ? 1 : doubts + 1;                                                                            \
            i += done;                                                                                                 \
            int some = usable && doubts < 2 && n - i > BATCH ? BATCH : n - i;                                          \
            if (some == 0) break;                                                                                      \
            histo_prefetch_l2(samples + i, (size_t)some * sizeof *samples);                                            \
            of_uniform_##name(l, near, samples + i, some,                                                              \
                              slots); /* in fixed point still if a sample is outside the axis */                       \
            codes_of_slots(slots, some, (uint32_t)l->bins, codes + i, flow);                                           \
            i += some;                                                                                                 \
        }                                                                                                              \
    }

DEFINE_CODES(f32, float)
DEFINE_CODES(f64, double)

/* Codes of n 16-bit integers; returns how many have been made, and sets *outside unless all of them are
 * first … first + width. Some compilers would widen vectors of these. */
static int short_codes(const void *samples, int n, uint16_t first, uint16_t width, uint16_t lo, int shift,
                       uint8_t *codes, bool *outside)
{
    int i = 0;
#if defined(__AVX512BW__)
    enum { SHORTS = 32 };
    const __m512i least = _mm512_set1_epi16((int16_t)first), from = _mm512_set1_epi16((int16_t)lo);
    const __m128i by = _mm_cvtsi32_si128(shift);
    __m512i farthest = _mm512_setzero_si512();
    for (; i + SHORTS <= n; i += SHORTS) {
        const __m512i x = _mm512_loadu_si512((const uint16_t *)samples + i);
        farthest = _mm512_max_epu16(farthest, _mm512_sub_epi16(x, least));
        const __m512i bins = _mm512_srl_epi16(_mm512_sub_epi16(x, from), by);
        _mm256_storeu_si256((__m256i *)(void *)(codes + i), _mm512_cvtepi16_epi8(bins));
    }
    *outside |= _mm512_cmpgt_epu16_mask(farthest, _mm512_set1_epi16((int16_t)width)) != 0;
#else
    (void)samples, (void)n, (void)first, (void)width, (void)lo, (void)shift, (void)codes, (void)outside;
#endif
    return i;
}

/* Bins of 2^shift integers; false if a sample is outside the bins, or equal to the end of a closed axis. Computes in
 * the samples' width; also false if a distance from lo, which need not be a value of that type, does not fit it. */
#define DEFINE_POW2_CODES(name, storage, bits)                                                                         \
    static bool pow2_codes_##name(const histo_lookup *l, const storage *restrict samples, int n,                       \
                                  uint8_t *restrict codes)                                                             \
    {                                                                                                                  \
        enum { WIDTH = 8 * sizeof(bits) };                                                                             \
        const int shift = l->pow2.shift & (WIDTH - 1);                                                                 \
        const uint32_t from = l->pow2.from, lo = from + ((uint32_t)1 << l->pow2.shift);                                \
        const uint32_t low = l->pow2.low, high = l->pow2.high; /* either may be a neighbour of the bins */             \
        const storage first = (storage)(low + ((low - from) >> l->pow2.shift == 0));                                   \
        const storage last = (storage)(high - ((high - from) >> l->pow2.shift > (uint32_t)l->bins));                   \
        bool beyond = l->pow2.shift >= WIDTH || (uint32_t)last - lo > (bits)-1;                                        \
        bits outside = 0;                                                                                              \
        int i = 0;                                                                                                     \
        if (sizeof *samples == sizeof(uint16_t) && first <= last)                                                      \
            i = short_codes(samples, n, (uint16_t)first, (uint16_t)((uint32_t)last - (uint32_t)first), (uint16_t)lo,   \
                            shift, codes, &beyond);                                                                    \
        for (; i < n; i++) {                                                                                           \
            outside |= (bits)(samples[i] < first) | (bits)(samples[i] > last);                                         \
            codes[i] = (uint8_t)((bits)((bits)samples[i] - (bits)lo) >> shift);                                        \
        }                                                                                                              \
        return !outside && !beyond;                                                                                    \
    }

DEFINE_POW2_CODES(u16, uint16_t, uint16_t)
DEFINE_POW2_CODES(i16, int16_t, uint16_t)
DEFINE_POW2_CODES(u32, uint32_t, uint32_t)
DEFINE_POW2_CODES(i32, int32_t, uint32_t)

/* Codes of n 64-bit integers, of which the axis has 32 bits; returns how many have been made, and sets *outside unless
 * all of them are first … first + width. The compiler would narrow vectors of these step by step. */
static int narrow_codes(const void *samples, int n, uint64_t first, uint64_t width, uint32_t lo, int shift,
                        uint8_t *codes, uint64_t *outside)
{
    int i = 0;
#if defined(__AVX512BW__)
    enum { LONGS = 8 };
    const __m512i least = _mm512_set1_epi64((int64_t)first), most = _mm512_set1_epi64((int64_t)width);
    const __m512i from = _mm512_set1_epi32((int32_t)lo);
    const __m128i by = _mm_cvtsi32_si128(shift);
    __m512i farthest = _mm512_setzero_si512();
    for (; i + LONGS <= n; i += LONGS) {
        const __m512i x = _mm512_loadu_si512((const uint64_t *)samples + i);
        farthest = _mm512_max_epu64(farthest, _mm512_sub_epi64(x, least));
        const __m512i bins = _mm512_srl_epi32(_mm512_sub_epi32(x, from), by);
        _mm_storel_epi64((__m128i *)(void *)(codes + i), _mm512_cvtepi64_epi8(bins));
    }
    *outside |= _mm512_cmpgt_epu64_mask(farthest, most);
#else
    (void)samples, (void)n, (void)first, (void)width, (void)lo, (void)shift, (void)codes, (void)outside;
#endif
    return i;
}

/* pow2_codes for these. ends: the type of pow2.low and high. */
#define DEFINE_WIDE_POW2_CODES(name, storage, ends)                                                                    \
    static bool pow2_codes_##name(const histo_lookup *l, const storage *restrict samples, int n,                       \
                                  uint8_t *restrict codes)                                                             \
    {                                                                                                                  \
        const int shift = l->pow2.shift;                                                                               \
        const uint32_t from = l->pow2.from, lo = from + ((uint32_t)1 << shift);                                        \
        const uint32_t low = l->pow2.low, high = l->pow2.high;                                                         \
        const storage first = (storage)(ends)(low + ((low - from) >> shift == 0));                                     \
        const storage last = (storage)(ends)(high - ((high - from) >> shift > (uint32_t)l->bins));                     \
        const uint64_t width = (uint64_t)last - (uint64_t)first;                                                       \
        uint64_t outside = first > last;                                                                               \
        int i = narrow_codes(samples, n, (uint64_t)first, width, lo, shift, codes, &outside);                          \
        for (; i < n; i++) {                                                                                           \
            outside |= (uint64_t)((uint64_t)samples[i] - (uint64_t)first > width);                                     \
            codes[i] = (uint8_t)(((uint32_t)samples[i] - lo) >> shift);                                                \
        }                                                                                                              \
        return !outside;                                                                                               \
    }

DEFINE_WIDE_POW2_CODES(u64, uint64_t, uint32_t)
DEFINE_WIDE_POW2_CODES(i64, int64_t, int32_t)

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
