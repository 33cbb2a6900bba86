/* 64-bit integers -> doubles that have the same slots. Rounded down, they compare with every edge as the integers do,
 * since an edge is at most x if and only if it is at most the largest double that is at most x. On a closed axis,
 * integers above the last edge that would be rounded down to it become `over`. Included by slots.c only. */
#ifndef CPU_ROUND_H
#define CPU_ROUND_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "axis/axis.h"
#include "cpu/kernels/slots/fixed.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512DQ__)

static inline void round_integers(const histo_lookup *l, const uint64_t *samples, bool is_signed, int n, double *out)
{
    enum { EIGHT = 8 };
    const __m512d top = _mm512_set1_pd(l->closed ? l->hi : NAN), over = _mm512_set1_pd(l->over);
    for (int i = 0; i < n; i += EIGHT) {
        const __mmask8 some = (__mmask8)(n - i < EIGHT ? (1 << (n - i)) - 1 : EVERY);
        const __m512i x = _mm512_maskz_loadu_epi64(some, samples + i);
        const __m512d down = is_signed ? _mm512_cvt_roundepi64_pd(x, DOWN) : _mm512_cvt_roundepu64_pd(x, DOWN);
        const __m512i back = is_signed ? _mm512_cvtpd_epi64(down) : _mm512_cvtpd_epu64(down);
        const __mmask8 at_top = _mm512_cmp_pd_mask(down, top, _CMP_EQ_OQ);
        const __mmask8 above = _mm512_mask_cmpneq_epi64_mask(at_top, x, back);
        _mm512_mask_storeu_pd(out + i, some, _mm512_mask_mov_pd(down, above, over));
    }
}

#elif defined(__aarch64__)

/* Convert to the nearest double and back, which saturates; if the result is larger, take the next smaller double. */
static inline float64x2_t rounded_down(uint64x2_t x, bool is_signed, float64x2_t top, float64x2_t over)
{
    const int64x2_t signed_x = vreinterpretq_s64_u64(x);
    const float64x2_t nearest = is_signed ? vcvtq_f64_s64(signed_x) : vcvtq_f64_u64(x);
    const uint64x2_t back = is_signed ? vreinterpretq_u64_s64(vcvtq_s64_f64(nearest)) : vcvtq_u64_f64(nearest);
    const uint64x2_t larger = is_signed ? vcgtq_s64(vreinterpretq_s64_u64(back), signed_x) : vcgtq_u64(back, x);
    const uint64x2_t beyond = vcgeq_f64(nearest, vdupq_n_f64(is_signed ? 0x1p63 : 0x1p64));
    const uint64x2_t above = vorrq_u64(beyond, larger), exact = vbicq_u64(vceqq_u64(back, x), beyond);
    const int64x2_t bits = vreinterpretq_s64_f64(nearest), sign = vshrq_n_s64(bits, 63);
    const int64x2_t step = vsubq_s64(veorq_s64(vreinterpretq_s64_u64(above), sign), sign);
    const float64x2_t down = vreinterpretq_f64_s64(vaddq_s64(bits, step));
    return vbslq_f64(vbicq_u64(vceqq_f64(down, top), exact), over, down);
}

static inline void round_integers(const histo_lookup *l, const uint64_t *samples, bool is_signed, int n, double *out)
{
    const float64x2_t top = vdupq_n_f64(l->closed ? l->hi : (double)NAN), over = vdupq_n_f64(l->over);
    int i = 0;
    for (; i + 2 <= n; i += 2)
        vst1q_f64(out + i, rounded_down(vld1q_u64(samples + i), is_signed, top, over));
    if (i < n) vst1q_lane_f64(out + i, rounded_down(vld1q_dup_u64(samples + i), is_signed, top, over), 0);
}

#else

/* The integer is high + low. */
static inline double rounded_down(double high, double low, double top, double over)
{
    const double sum = high + low, error = low - (sum - high);
    const int64_t step = error < 0 ? (sum > 0 ? -1 : 1) : 0;
    const uint64_t bits = histo_bits_of(sum) + (uint64_t)step;
    double down;
    memcpy(&down, &bits, sizeof down);
    return down == top && error != 0 ? over : down;
}

static inline void round_integers(const histo_lookup *l, const uint64_t *restrict samples, bool is_signed, int n,
                                  double *restrict out)
{
    const double top = l->closed ? l->hi : NAN, over = l->over;
    for (int i = 0; i < n; i++) {
        const uint32_t half = (uint32_t)(samples[i] >> 32);
        const double high = is_signed ? (double)(int32_t)half : (double)half;
        out[i] = rounded_down(high * 0x1p32, (double)(uint32_t)samples[i], top, over);
    }
}

#endif

static void round_u64(const histo_lookup *l, const uint64_t *samples, int n, double *out)
{
    round_integers(l, samples, false, n, out);
}

static void round_i64(const histo_lookup *l, const int64_t *samples, int n, double *out)
{
    round_integers(l, (const uint64_t *)samples, true, n, out);
}

#endif
