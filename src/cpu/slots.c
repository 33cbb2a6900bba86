/* Samples of a block -> slots, in loops that the compiler turns into vector code. Compiled once for each level of the
 * instruction set (HISTO_SLOTS, HISTO_WIDEN_SLOTS, HISTO_CODES and HISTO_CODES_OF_SLOTS name the functions), always
 * without contraction, and without regard for floating-point traps, which would forbid vectors.
 *
 * Uniform axes: the guess of slot_of.h is at most a quarter of a bin off, so the edge nearest to it is one of the two
 * of the sample's bin, and one comparison with this edge decides. It takes 13 operations, whatever the data. float
 * samples: the same in float, 16 lanes where double has 8, if the guess is farther from its edge than rounding can move
 * it; a batch with one that is not takes the way of double. Search axes: a span of the axis (spans.h) holds few edges,
 * which are compared. 64-bit integers that double holds go its way. */
#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/spans.h"
#include "view/dtype.h"

enum { BATCH = 64, CODES_BATCH = 128 }; /* samples judged together */

/* x + ROUND - ROUND is x rounded to an integer, which stands in the low bits of x + ROUND. */
static const double ROUND = 0x1.8p52;
static const float ROUNDF = 0x1.8p23F;

/* fmax is a call. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline uint64_t pattern_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint32_t pattern_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint32_t uniform_slot(double x, double lo, double step, double per_step, double bins, double top)
{
    double t = (x - lo) * per_step;
    t = t > 0 ? t : 0; /* an underflow is below edge 0 and an overflow not below edge n */
    t = t < bins ? t : bins;
    double rounded = t + ROUND, nearest = rounded - ROUND;
    double edge = lo + nearest * step;
    edge = nearest == bins ? top : edge;
    uint32_t slot = (uint32_t)pattern_f64(rounded) + (uint32_t)(x >= edge);
    return x != x ? (uint32_t)bins + 2 : slot;
}

/* The span of a sample: of equally wide ones, and of equally many bit patterns. */
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

/* How a slot is put down: the only axis, the first or a further one of several. */
static inline void put(uint32_t *out, uint32_t slot, uint32_t stride, bool accumulate)
{
    *out = (accumulate ? *out : 0) + stride * slot;
}

/* The loop `put(&out[i], SLOT, …)` for strides of 1, where there is no multiplication, and others. */
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
    static void uniform_##name(const histo_lookup *l, const storage *restrict samples, int n, uint32_t stride,         \
                               bool accumulate, uint32_t *restrict out)                                                \
    {                                                                                                                  \
        const double lo = l->lo, step = l->step, per_step = l->per_step, bins = l->bins, top = l->over;                \
        PUT_ALL(uniform_slot(samples[i], lo, step, per_step, bins, top));                                              \
    }

DEFINE_UNIFORM(f32, float)
DEFINE_UNIFORM(f64, double)

/* By halving, the `most` edges from the first of the sample's span on; one loop for each step, so that it is made of
 * vectors. */
static void of_spans(const histo_spans *spans, const double *restrict samples, int n, uint32_t stride, bool accumulate,
                     uint32_t *restrict out)
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

/* ---- float by float ---- */

typedef struct floats {
    float lo, per_step, below, above; /* guesses are clamped to [below, above], a quarter outside the bins */
    float doubt;                      /* guesses this near to an edge may be on its wrong side */
} floats;

/* The guess is (x - lo) * per_step with lo and per_step rounded: at most 3 roundings of a number up to `bins`, and that
 * of lo. False where this is no small part of a bin. */
static bool floats_of(const histo_lookup *l, floats *f)
{
    f->lo = (float)l->lo;
    f->per_step = (float)l->per_step;
    f->below = -0.25F;
    f->above = (float)l->bins + 0.25F;
    double bins = l->bins, magnitude = larger(fabs(l->lo), fabs(l->hi));
    double doubt =
        bins * 3.5 * 0x1p-24 + 1.1 * fabs((double)f->lo - l->lo) * l->per_step + magnitude * l->per_step * 0x1p-48;
    f->doubt = (float)(doubt * 1.01);
    return l->per_step > 0x1p-100 && l->per_step < 0x1p100 && magnitude < 0x1p100 && doubt < 1.0 / 256;
}

/* Slots of a batch; false if one of them is in doubt, as NaN is. */
static inline bool float_batch(const floats *f, const float *restrict samples, uint32_t *restrict out)
{
    uint32_t doubtful = 0;
    for (int i = 0; i < BATCH; i++) {
        float t = (samples[i] - f->lo) * f->per_step;
        t = t < f->below ? f->below : t;
        t = t > f->above ? f->above : t;
        float rounded = t + ROUNDF, nearest = rounded - ROUNDF, off = t - nearest;
        doubtful |= (uint32_t) !(fabsf(off) > f->doubt);
        out[i] = (pattern_f32(rounded) - pattern_f32(ROUNDF)) + (uint32_t)(off > 0);
    }
    return !doubtful;
}

static void of_floats(const histo_lookup *l, const float *samples, int n, uint32_t *out)
{
    floats f;
    if (!floats_of(l, &f)) {
        uniform_f32(l, samples, n, 1, false, out);
        return;
    }
    bool doubted = false;
    for (int i = 0, some; i < n; i += some) {
        some = n - i < BATCH ? n - i : BATCH;
        if (some == BATCH && float_batch(&f, samples + i, out + i)) {
            doubted = false;
            continue;
        }
        if (doubted) some = n - i; /* two in a row: no others are tried */
        uniform_f32(l, samples + i, some, 1, false, out + i);
        doubted = true;
    }
}

/* ---- Integers ---- */

/* Bins of 2^shift whole numbers: see histo_whole. ends: what the values next to the axis are of. */
#define DEFINE_WHOLE(name, storage, ends)                                                                              \
    static void whole_##name(const histo_lookup *l, const storage *restrict samples, int n, uint32_t *restrict out)    \
    {                                                                                                                  \
        const storage low = (storage)(ends)l->whole.low, high = (storage)(ends)l->whole.high;                          \
        const uint32_t from = l->whole.from, at_high = (uint32_t)l->bins;                                              \
        const int shift = l->whole.shift;                                                                              \
        const bool closed = l->whole.closed;                                                                           \
        for (int i = 0; i < n; i++) {                                                                                  \
            storage x = samples[i], cut = x > low ? x : low;                                                           \
            cut = cut < high ? cut : high;                                                                             \
            uint32_t slot = ((uint32_t)cut - from) >> shift;                                                           \
            out[i] = (closed & (x == high)) ? at_high : slot;                                                          \
        }                                                                                                              \
    }

DEFINE_WHOLE(u16, uint16_t, uint16_t)
DEFINE_WHOLE(i16, int16_t, int16_t)
DEFINE_WHOLE(u32, uint32_t, uint32_t)
DEFINE_WHOLE(i32, int32_t, int32_t)
DEFINE_WHOLE(u64, uint64_t, uint32_t)
DEFINE_WHOLE(i64, int64_t, int32_t)

/* ---- All ---- */

/* Samples in double; false if there are any that it does not hold. */
#define DEFINE_WIDEN(constant, name, storage, compute, widen)                                                          \
    static bool widen_##name(const storage *restrict samples, int n, double *restrict out)                             \
    {                                                                                                                  \
        uint64_t outside = 0;                                                                                          \
        for (int i = 0; i < n; i++) {                                                                                  \
            compute x = (compute)widen(samples[i]);                                                                    \
            outside |= (uint64_t)IS_BEYOND(x);                                                                         \
            out[i] = (double)x;                                                                                        \
        }                                                                                                              \
        return !outside;                                                                                               \
    }

/* Has an integer more than 53 bits? */
#define IS_BEYOND(x)                                                                                                   \
    _Generic((x), double : 0, int64_t : (uint64_t)(x) + MOST > 2 * MOST, uint64_t : (uint64_t)(x) > MOST)
#define SLOT_OF(compute)                                                                                               \
    _Generic((compute)0, double : histo_slot_f64, int64_t : histo_slot_i64, uint64_t : histo_slot_u64)
static const uint64_t MOST = (uint64_t)1 << 53;

HISTO_DTYPES(DEFINE_WIDEN)

static void of_doubles(const histo_lookup *l, const histo_spans *spans, const double *samples, int n, uint32_t stride,
                       bool accumulate, uint32_t *out)
{
    if (l->kind == HISTO_UNIFORM)
        uniform_f64(l, samples, n, stride, accumulate, out);
    else
        of_spans(spans, samples, n, stride, accumulate, out);
}

static void of_table(const uint32_t *table, size_t size, const void *samples, int n, uint32_t stride, bool accumulate,
                     uint32_t *out)
{
    if (size == 1)
        PUT_ALL(table[((const uint8_t *)samples)[i]]);
    else
        PUT_ALL(table[((const uint16_t *)samples)[i]]);
}

/* Ways for one type and a uniform axis; false if there is none. */
static bool by_own_way(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, uint32_t *out)
{
    if (!l->whole.is) {
        if (dtype == HISTO_F32) of_floats(l, samples, n, out);
        return dtype == HISTO_F32;
    }
    switch (dtype) {
    case HISTO_U16:
        whole_u16(l, samples, n, out);
        return true;
    case HISTO_I16:
        whole_i16(l, samples, n, out);
        return true;
    case HISTO_U32:
        whole_u32(l, samples, n, out);
        return true;
    case HISTO_I32:
        whole_i32(l, samples, n, out);
        return true;
    case HISTO_U64:
        whole_u64(l, samples, n, out);
        return true;
    case HISTO_I64:
        whole_i64(l, samples, n, out);
        return true;
    default: /* 8 bits have tables */
        return false;
    }
}

void HISTO_SLOTS(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples, int n,
                 uint32_t stride, bool accumulate, uint32_t *out)
{
    if (l->kind == HISTO_UNIFORM) {
        uint32_t own[HISTO_BLOCK];
        bool alone = stride == 1 && !accumulate;
        if (by_own_way(l, dtype, samples, n, alone ? out : own)) {
            if (!alone) PUT_ALL(own[i]);
            return;
        }
    }
    if (l->table) {
        of_table(l->table, histo_dtype_size(dtype), samples, n, stride, accumulate, out);
        return;
    }
    if (dtype == HISTO_F64) {
        of_doubles(l, spans, samples, n, stride, accumulate, out);
        return;
    }
    double widened[HISTO_BLOCK];
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        if (widen_##name(samples, n, widened))                                                                         \
            of_doubles(l, spans, widened, n, stride, accumulate, out);                                                 \
        else                                                                                                           \
            PUT_ALL(SLOT_OF(compute)(l, (compute)widen(((const storage *)samples)[i])));                               \
        break;
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        break;
    }
}

void HISTO_WIDEN_SLOTS(const uint32_t *restrict slots, int n, uint64_t extent, uint64_t *restrict wide)
{
    for (int i = 0; i < n; i++)
        wide[i] = wide[i] * extent + slots[i];
}

/* ---- Bins as bytes ---- */

/* A guess in float, half a bin lower than the place of the sample on the axis: rounded to an integer it is the bin,
 * unless it is nearly half way between two, which is where edges are. Batches with such a sample are compared with the
 * nearest edge, those with one outside the bins judged by their slots. The distance from lo is taken in the samples'
 * own type. The doubt is that of floats_of. */
#define DEFINE_GUESS(name, type)                                                                                       \
    typedef struct guess_##name {                                                                                      \
        type lo;                                                                                                       \
        float per_step, certain;                                                                                       \
        uint32_t bins;                                                                                                 \
    } guess_##name;                                                                                                    \
                                                                                                                       \
    static bool guess_of_##name(const histo_lookup *l, guess_##name *g)                                                \
    {                                                                                                                  \
        double lo = l->lo + 0.5 * l->step, magnitude = larger(fabs(l->lo), fabs(l->hi));                               \
        *g = (guess_##name){.lo = (type)lo, .per_step = (float)l->per_step, .bins = (uint32_t)l->bins};                \
        double doubt = l->bins * 3.5 * 0x1p-24 + 1.1 * fabs((double)g->lo - lo) * l->per_step +                        \
                       magnitude * l->per_step * 0x1p-48;                                                              \
        g->certain = (float)(0.5 - doubt * 1.01 - 0x1p-23);                                                            \
        return l->per_step > 0x1p-100 && l->per_step < 0x1p100 && magnitude < 0x1p100 && doubt < 1.0 / 256;            \
    }                                                                                                                  \
                                                                                                                       \
    static inline bool codes_of_batch_##name(const guess_##name *g, const type *restrict samples,                      \
                                             uint8_t *restrict codes)                                                  \
    {                                                                                                                  \
        uint32_t doubtful = 0;                                                                                         \
        for (int i = 0; i < CODES_BATCH; i++) {                                                                        \
            float t = (float)(samples[i] - g->lo) * g->per_step;                                                       \
            float rounded = t + ROUNDF, off = t - (rounded - ROUNDF);                                                  \
            uint32_t bin = pattern_f32(rounded) - pattern_f32(ROUNDF);                                                 \
            doubtful |= (uint32_t) !(fabsf(off) < g->certain) | (uint32_t)(bin >= g->bins);                            \
            codes[i] = (uint8_t)bin;                                                                                   \
        }                                                                                                              \
        return !doubtful;                                                                                              \
    }

DEFINE_GUESS(f32, float)
DEFINE_GUESS(f64, double)

/* By the nearest edge. False if a sample is outside the bins, or in the last one and not below its computed upper edge,
 * or if guesses are of no use. The nearest edge is found in the samples' own type. */
static bool exact_codes_f32(const histo_lookup *l, const guess_f32 *g, bool usable, const float *restrict samples,
                            int n, uint8_t *restrict codes)
{
    const double lo = l->lo, step = l->step;
    const float guess_lo = g->lo, per_step = g->per_step;
    float end = (float)l->hi; /* the smallest that is not below hi */
    if ((double)end < l->hi) end = nextafterf(end, INFINITY);
    const uint32_t bins = g->bins;
    uint32_t outside = !usable;
    for (int i = 0; i < n; i++) {
        float x = samples[i], rounded = (x - guess_lo) * per_step + 0.5F + ROUNDF;
        double edge = lo + (double)(rounded - ROUNDF) * step;
        uint32_t bin = pattern_f32(rounded) - pattern_f32(ROUNDF) - (uint32_t)((double)x < edge);
        outside |= (uint32_t) !(x < end) | (uint32_t)(bin >= bins);
        codes[i] = (uint8_t)bin;
    }
    return !outside;
}

static bool exact_codes_f64(const histo_lookup *l, const guess_f64 *g, bool usable, const double *restrict samples,
                            int n, uint8_t *restrict codes)
{
    (void)g, (void)usable;
    const double lo = l->lo, hi = l->hi, step = l->step, per_step = l->per_step;
    const uint64_t bins = (uint64_t)l->bins;
    uint64_t outside = 0;
    for (int i = 0; i < n; i++) {
        double x = samples[i], rounded = (x - lo) * per_step + ROUND;
        double edge = lo + (rounded - ROUND) * step;
        uint64_t bin = pattern_f64(rounded) - pattern_f64(ROUND) - (uint64_t)(x < edge);
        outside |= (uint64_t) !(x < hi) | (uint64_t)(bin >= bins);
        codes[i] = (uint8_t)bin;
    }
    return !outside;
}

void HISTO_CODES_OF_SLOTS(const uint32_t *restrict slots, int n, uint32_t bins, uint8_t *restrict codes,
                          uint64_t flow[4])
{
    uint32_t outside = 0;
    for (int i = 0; i < n; i++) {
        uint32_t bin = slots[i] - 1;
        outside |= (uint32_t)(bin >= bins);
        codes[i] = (uint8_t)bin;
    }
    if (!outside) return;
    uint32_t under = 0, over = 0, nan = 0, masked = 0;
    for (int i = 0; i < n; i++) {
        under += slots[i] == 0;
        over += slots[i] == bins + 1;
        nan += slots[i] == bins + 2;
        masked += slots[i] == bins + 3;
    }
    flow[0] += under;
    flow[1] += over;
    flow[2] += nan;
    flow[3] += masked;
}

static void codes_by_slots(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples,
                           int n, uint8_t *codes, uint64_t flow[4])
{
    uint32_t slots[HISTO_BLOCK];
    HISTO_SLOTS(l, spans, dtype, samples, n, 1, false, slots);
    HISTO_CODES_OF_SLOTS(slots, n, (uint32_t)l->bins, codes, flow);
}

#define DEFINE_CODES(name, type, dtype)                                                                                \
    static void codes_##name(const histo_lookup *l, const type *samples, int n, uint8_t *codes, uint64_t flow[4])      \
    {                                                                                                                  \
        guess_##name g;                                                                                                \
        bool usable = guess_of_##name(l, &g), doubted = false;                                                         \
        for (int i = 0, some; i < n; i += some) {                                                                      \
            some = n - i < CODES_BATCH ? n - i : CODES_BATCH;                                                          \
            histo_ask_ahead(samples + i, (size_t)some * sizeof *samples);                                              \
            if (usable && some == CODES_BATCH && codes_of_batch_##name(&g, samples + i, codes + i)) {                  \
                doubted = false;                                                                                       \
                continue;                                                                                              \
            }                                                                                                          \
            if (doubted || !usable) {                                                                                  \
                histo_ask_ahead(samples + i + some, (size_t)(n - i - some) * sizeof *samples);                         \
                some = n - i;                                                                                          \
            }                                                                                                          \
            if (!exact_codes_##name(l, &g, usable, samples + i, some, codes + i))                                      \
                codes_by_slots(l, NULL, dtype, samples + i, some, codes + i, flow);                                    \
            doubted = true;                                                                                            \
        }                                                                                                              \
    }

DEFINE_CODES(f32, float, HISTO_F32)
DEFINE_CODES(f64, double, HISTO_F64)

/* Bins of 2^shift whole numbers; false if a sample is outside the bins, or the end of a closed axis. All in the width
 * of the samples, which those inside fit. */
#define DEFINE_WHOLE_CODES(name, storage, bits)                                                                        \
    static bool whole_codes_##name(const histo_lookup *l, const storage *restrict samples, int n,                      \
                                   uint8_t *restrict codes)                                                            \
    {                                                                                                                  \
        enum { WIDTH = 8 * sizeof(bits) };                                                                             \
        const int shift = l->whole.shift & (WIDTH - 1);                                                                \
        const uint32_t from = l->whole.from, lo = from + ((uint32_t)1 << l->whole.shift);                              \
        const uint32_t low = l->whole.low, high = l->whole.high; /* either may be a neighbour of the bins */           \
        const storage first = (storage)(low + ((low - from) >> l->whole.shift == 0));                                  \
        const storage last = (storage)(high - ((high - from) >> l->whole.shift > (uint32_t)l->bins));                  \
        bits outside = l->whole.shift >= WIDTH;                                                                        \
        for (int i = 0; i < n; i++) {                                                                                  \
            outside |= (bits)(samples[i] < first) | (bits)(samples[i] > last);                                         \
            codes[i] = (uint8_t)((bits)((bits)samples[i] - (bits)lo) >> shift);                                        \
        }                                                                                                              \
        return !outside;                                                                                               \
    }

DEFINE_WHOLE_CODES(u16, uint16_t, uint16_t)
DEFINE_WHOLE_CODES(i16, int16_t, uint16_t)
DEFINE_WHOLE_CODES(u32, uint32_t, uint32_t)
DEFINE_WHOLE_CODES(i32, int32_t, uint32_t)

static bool whole_codes(const histo_lookup *l, histo_dtype dtype, const void *samples, int n, uint8_t *codes)
{
    switch (l->whole.is ? dtype : HISTO_DTYPE_COUNT) {
    case HISTO_U16:
        return whole_codes_u16(l, samples, n, codes);
    case HISTO_I16:
        return whole_codes_i16(l, samples, n, codes);
    case HISTO_U32:
        return whole_codes_u32(l, samples, n, codes);
    case HISTO_I32:
        return whole_codes_i32(l, samples, n, codes);
    default:
        return false;
    }
}

void HISTO_CODES(const histo_lookup *l, const histo_spans *spans, histo_dtype dtype, const void *samples, int n,
                 uint8_t *codes, uint64_t flow[4])
{
    if (l->kind == HISTO_UNIFORM && dtype == HISTO_F32) {
        codes_f32(l, samples, n, codes, flow);
    } else if (l->kind == HISTO_UNIFORM && dtype == HISTO_F64) {
        codes_f64(l, samples, n, codes, flow);
    } else {
        histo_ask_ahead(samples, (size_t)n * histo_dtype_size(dtype));
        if (!whole_codes(l, dtype, samples, n, codes)) codes_by_slots(l, spans, dtype, samples, n, codes, flow);
    }
}
