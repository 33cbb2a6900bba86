/* Samples -> slots and codes on a uniform axis, or one with nearly regular edges, in fixed point. A sample's position
 * in bins, (x - lo) * per_step, is computed with `bits` fraction bits in float and 32-bit integers: 16 lanes where
 * double has 8. Included by slots.c only.
 *
 * The bin is right unless the position is closer to an edge than rounding errors can move it. `margin`, their bound, is
 * added; a fraction less than `doubtful` is in doubt. A batch with such a sample is computed another way.
 *
 * Nothing is in doubt where bins are 2^k wide and all edges are exactly floats: multiples of the width are floats, so
 * rounding down cannot move a distance across one, and the product is exact. AVX-512 rounds down in all operations;
 * without it this holds only where lo is 0, since the distance is exact there. */
#ifndef CPU_FIXED_H
#define CPU_FIXED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "axis/axis.h"
#include "base/bits.h"
#include "cpu/samples/block.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum {
    LANES = 16,
    BATCH = 4 * LANES, /* samples that are rejected together if one is in doubt */
    CODE_BITS = 15,
    MAX_BITS = 18,
};

typedef struct fixed_point {
    double lo;      /* rounded to the samples' type */
    float per_step; /* units of 2^-bits per bin */
    float bins;     /* in these units */
    int bits;
    bool exact;
    uint32_t margin, doubtful;
    uint32_t last, nan; /* the highest slot that is not in doubt; the slot of NaN */
} fixed_point;

static inline uint32_t pattern_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* fmax would be a function call. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether all edges are exactly lo + k * step, and floats, and the step is a power of two, so that nothing is in
 * doubt. */
static inline bool places_are_exact(const histo_lookup *l, bool from_floats)
{
#if defined(__AVX512F__)
    const bool any_lo = true;
    (void)from_floats;
#else
    const bool any_lo = false;
    if (!from_floats) return false; /* the distance in double is rounded to float */
#endif
    double lo_in_bins = fabs(l->lo) * l->per_step;
    bool near = l->lo == 0 || (any_lo && lo_in_bins >= 1 && lo_in_bins <= 0x1p20);
    return near && (histo_bits_of(l->step) << 12) == 0 && (double)(float)l->lo == l->lo &&
           l->hi == l->lo + l->bins * l->step;
}

/* Set up fixed point with this many fraction bits; false if rounding errors are not small compared with a bin. lo: the
 * lookup's, rounded to the samples' type. off: by how many bins the edges miss those of the formula. */
static inline bool fixed_of(const histo_lookup *l, double off, double lo, bool from_floats, int bits, fixed_point *f)
{
    const double magnitude = larger(fabs(l->lo), fabs(l->hi)), units = (double)(1 << bits);
    if (!(l->per_step > 0x1p-100 && l->per_step < 0x1p100 && magnitude < 0x1p100 && l->bins < 1 << 22)) return false;
    bool exact = off == 0 && places_are_exact(l, from_floats);
    /* Errors of the distance, the factor and the product; of lo; of the edges. */
    double doubt =
        l->bins * 3.5 * 0x1p-24 + 1.1 * fabs(lo - l->lo) * l->per_step + magnitude * l->per_step * 0x1p-48 + off;
    uint32_t margin = exact ? 0 : (uint32_t)(doubt * 1.01 * units) + 2;
    *f = (fixed_point){.lo = lo,
                       .per_step = (float)(l->per_step * units),
                       .bins = (float)(l->bins * units),
                       .bits = bits,
                       .exact = exact,
                       .margin = margin,
                       .doubtful = exact ? 0 : 2 * margin + 1,
                       .last = (uint32_t)l->bins + (exact && l->closed ? 0 : 1),
                       .nan = (uint32_t)l->bins + 2};
    return exact || doubt < 1.0 / 256;
}

#if defined(__AVX512F__)

#define DOWN (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define EVERY 0xff /* all lanes; gcc 12 warns about the unmasked intrinsic at -O0 */

static inline __m512 distances_f32(const fixed_point *f, bool down, const float *samples)
{
    const __m512 lo = _mm512_set1_ps((float)f->lo), x = _mm512_loadu_ps(samples);
    return down ? _mm512_sub_round_ps(x, lo, DOWN) : _mm512_sub_ps(x, lo);
}

static inline __m512 distances_f64(const fixed_point *f, bool down, const double *samples)
{
    const __m512d lo = _mm512_set1_pd(f->lo), x = _mm512_loadu_pd(samples), y = _mm512_loadu_pd(samples + LANES / 2);
    __m256 low = down ? _mm512_cvt_roundpd_ps(_mm512_maskz_sub_round_pd(EVERY, x, lo, DOWN), DOWN)
                      : _mm512_cvtpd_ps(_mm512_sub_pd(x, lo));
    __m256 high = down ? _mm512_cvt_roundpd_ps(_mm512_maskz_sub_round_pd(EVERY, y, lo, DOWN), DOWN)
                       : _mm512_cvtpd_ps(_mm512_sub_pd(y, lo));
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

static inline __m512 in_units(const fixed_point *f, bool down, __m512 distances)
{
    const __m512 per_step = _mm512_set1_ps(f->per_step);
    return down ? _mm512_mul_round_ps(distances, per_step, DOWN) : _mm512_mul_ps(distances, per_step);
}

/* Pack the codes of four positions, with CODE_BITS fraction bits, into each lane. */
static inline __m512i four_codes(const __m512i place[4])
{
    enum { SELECT = 0xca }; /* bits of the second operand where the first has 1, else of the third */
    const __m512i second = _mm512_set1_epi32(0xff00);
    __m512i low = _mm512_ternarylogic_epi32(second, _mm512_srli_epi32(place[1], CODE_BITS - 8),
                                            _mm512_srli_epi32(place[0], CODE_BITS), SELECT);
    __m512i high = _mm512_ternarylogic_epi32(second, _mm512_srli_epi32(place[3], CODE_BITS - 8),
                                             _mm512_srli_epi32(place[2], CODE_BITS), SELECT);
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

static inline bool any_doubt(__m512i most, uint32_t limit, __m512i least, uint32_t doubtful)
{
    return (_mm512_cmpgt_epu32_mask(most, _mm512_set1_epi32((int)limit)) |
            _mm512_cmplt_epu32_mask(least, _mm512_set1_epi32((int)doubtful))) != 0;
}

#else

/* The compiler vectorises these loops. t > least is false for NaN, which becomes `least`. */
static inline float clamped_to(float t, float least, float most)
{
#if defined(__aarch64__)
    return __builtin_fminf(__builtin_fmaxf(t, least), most); /* one instruction each */
#else
    t = t > least ? t : least;
    return t < most ? t : most;
#endif
}

static inline float f32_of_pattern(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif

#endif
