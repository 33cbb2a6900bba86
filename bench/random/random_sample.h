/* Sample i of a random problem, on host and device. */
#ifndef BENCH_RANDOM_SAMPLE_H
#define BENCH_RANDOM_SAMPLE_H

#include <string.h>

#include "bench/core/random_numbers.h"
#include "bench/core/store.h"
#include "bench/random/random_problem.h"

/* The samples of one axis, in the order of memory. */
typedef struct sampler {
    problem_kind kind;
    histo_dtype type;
    double shape, flow, nan;
    bool by_value;
    int64_t stream;     /* see problem_stream */
    int64_t count;      /* samples in memory */
    int64_t from, bins; /* the bins that values of the type can be in */
    double lo, hi, step;
    const double *edges; /* [edge_count] of all bins; NULL: lo + i * step */
    int64_t edge_count;
    double smallest, largest; /* of the type */
    const double *ranks;      /* [SAMPLER_RANKS] of Zipf, see sampler_rank */
} sampler;

enum { SAMPLER_HALVINGS = 54, SAMPLER_STEPS = 64, SAMPLER_RANKS = SAMPLER_HALVINGS * (SAMPLER_STEPS + 1) };

/* Random numbers of sample i; `which` is 0 … 3. */
HISTO_INLINE uint64_t sampler_bits(const sampler *s, int64_t i, int which)
{
    return random_bits(0, s->stream + 4 * i + which);
}

/* [0, 1) */
HISTO_INLINE double sampler_unit(const sampler *s, int64_t i, int which)
{
    return (double)(sampler_bits(s, i, which) >> 11) * 0x1p-53;
}

/* About a Gaussian of mean 0 and deviation 1: the sum of four uniform numbers. */
HISTO_INLINE double sampler_normal(const sampler *s, int64_t i, int which)
{
    uint64_t bits = sampler_bits(s, i, which);
    double sum =
        (double)(bits & 0xffff) + (double)(bits >> 16 & 0xffff) + (double)(bits >> 32 & 0xffff) + (double)(bits >> 48);
    return (sum * 0x1p-16 - 2) * 1.7320508075688772;
}

HISTO_INLINE double sampler_inside(double x)
{
    return x < 0 ? 0 : x < 1 ? x : 1 - 0x1p-53;
}

/* By a table of quantiles, since exp and pow differ between machines: entry k * (SAMPLER_STEPS + 1) + j is the rank at
 * 1 - u = (1 + j / SAMPLER_STEPS) / 2^k. */
HISTO_INLINE double sampler_rank(const sampler *s, int64_t i)
{
    int exponent;
    double at = (2 * frexp(1 - sampler_unit(s, i, 0), &exponent) - 1) * SAMPLER_STEPS;
    int step = (int)at;
    const double *rank = s->ranks + (1 - exponent) * (SAMPLER_STEPS + 1) + step;
    return rank[0] + (at - step) * (rank[1] - rank[0]);
}

/* The position of sample i in the bins from `from`, in [0, 1). */
HISTO_INLINE double sampler_position(const sampler *s, int64_t i)
{
    const double bins = (double)s->bins, middle_of_bin = 0.5;
    const int64_t shape = s->shape < 1 ? 1 : (int64_t)s->shape;
    switch (s->kind) {
    case PROBLEM_ONE:
        return 0.625;
    case PROBLEM_NORMAL:
        return sampler_inside(0.5 + s->shape * sampler_normal(s, i, 0));
    case PROBLEM_ZIPF:
        return sampler_inside(sampler_rank(s, i) / bins);
    case PROBLEM_SCATTERED: {
        const uint64_t prime = UINT64_C(2654435761);
        int64_t rank = (int64_t)(sampler_inside(sampler_rank(s, i) / bins) * bins);
        int64_t bin = (int64_t)((uint64_t)rank * prime % (uint64_t)s->bins);
        return ((double)bin + sampler_unit(s, i, 1)) / bins;
    }
    case PROBLEM_DISTINCT:
        return sampler_inside(((double)(int64_t)(sampler_unit(s, i, 0) * (double)shape) + middle_of_bin) / bins);
    case PROBLEM_SPREAD:
        return sampler_inside(((double)(int64_t)(sampler_unit(s, i, 0) * (double)shape) + 0.25) / (double)shape);
    case PROBLEM_SORTED:
        return ((double)i + sampler_unit(s, i, 0)) / (double)s->count;
    case PROBLEM_PIECES:
        return ((double)(i % shape) + sampler_unit(s, i, 0)) / (double)shape;
    case PROBLEM_SAW:
        return (double)(i % shape) / (double)shape;
    case PROBLEM_RUNS: {
        double x = sampler_unit(s, i / shape, 0);
        return sampler_inside(x + (double)(sampler_bits(s, i, 1) & 3) / 256);
    }
    case PROBLEM_WAFER: {
        double rows = bins / 256 < 1 ? 1 : bins / 256;
        double row = (double)(int64_t)(sampler_inside(0.5 + s->shape * sampler_normal(s, i, 0)) * rows);
        return sampler_inside((row + sampler_inside(0.5 + 0.15 * sampler_normal(s, i, 1))) / rows);
    }
    case PROBLEM_MIXTURE: {
        double u = sampler_unit(s, i, 0) / s->shape;
        if (u < 0.25) return 0.125;
        if (u < 0.75) return sampler_inside(0.375 + 0.01 * sampler_normal(s, i, 1));
        return u < 1 ? sampler_inside(0.75 + 0.001 * sampler_normal(s, i, 1)) : sampler_unit(s, i, 1);
    }
    case PROBLEM_PHOTO: {
        double slow = (double)(i % 4096) / 4096, step = sampler_unit(s, i / 97, 0);
        return sampler_inside(0.2 + 0.2 * slow + 0.4 * step * step + 0.006 * sampler_normal(s, i, 1));
    }
    default:
        return sampler_unit(s, i, 0);
    }
}

HISTO_INLINE double sampler_edge(const sampler *s, int64_t i)
{
    return s->edges ? s->edges[i] : s->lo + (double)i * s->step;
}

/* The value of sample i, before it is rounded to the type. */
HISTO_INLINE double sampler_value(const sampler *s, int64_t i)
{
    if (s->flow > 0 || s->nan > 0) {
        double u = sampler_unit(s, i, 2), width = s->hi - s->lo;
        if (u < s->nan) return NAN;
        u -= s->nan;
        if (u < s->flow / 64) return sampler_bits(s, i, 3) & 1 ? INFINITY : -INFINITY;
        if (u < s->flow / 2) return s->lo - width * sampler_unit(s, i, 3);
        if (u < s->flow) return s->hi + width * sampler_unit(s, i, 3);
    }
    if (s->kind == PROBLEM_EDGES) {
        int64_t edge = s->from + (int64_t)(sampler_unit(s, i, 0) * (double)(s->bins + 1));
        double at = sampler_edge(s, edge);
        uint64_t side = sampler_bits(s, i, 1) & 3;
        return side == 0 ? nextafter(at, -(double)INFINITY) : side == 1 ? nextafter(at, (double)INFINITY) : at;
    }
    double x = sampler_position(s, i), at = x * (double)s->bins;
    int64_t bin = (int64_t)at < s->bins ? (int64_t)at : s->bins - 1;
    double low = sampler_edge(s, s->from + bin);
    if (s->by_value && s->kind != PROBLEM_SCATTERED) {
        double first = sampler_edge(s, s->from), last = sampler_edge(s, s->from + s->bins);
        return first + x * (last - first);
    }
    return low + (at - (double)bin) * (sampler_edge(s, s->from + bin + 1) - low);
}

/* The upper 16 bits of a float, or a binary16; both truncate. */
HISTO_INLINE uint16_t sampler_half(histo_dtype type, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (type == HISTO_BF16) return x != x ? 0x7fc0 : (uint16_t)(bits >> 16);
    if (x != x) return 0x7e00;
    int32_t exponent = (int32_t)(bits >> 23 & 0xff) - 112;
    if (exponent >= 31) return (uint16_t)(sign | 0x7c00);
    if (exponent <= 0) return sign; /* there are no subnormal samples */
    return (uint16_t)(sign | exponent << 10 | (int32_t)(bits >> 13 & 0x3ff));
}

HISTO_INLINE void sampler_store(histo_dtype type, double smallest, double largest, double x, void *to)
{
    if (x != x && type >= HISTO_F32) { /* the bits of NaN differ between machines */
        const uint32_t narrow = UINT32_C(0x7fc00000);
        const uint64_t wide = UINT64_C(0x7ff8000000000000);
        memcpy(to, type == HISTO_F32 ? (const void *)&narrow : &wide, type == HISTO_F32 ? sizeof narrow : sizeof wide);
        return;
    }
    if (type <= HISTO_I64) x = x < smallest ? smallest : x > largest ? largest : floor(x);
    if (type == HISTO_F16 || type == HISTO_BF16) {
        uint16_t half = sampler_half(type, (float)x);
        memcpy(to, &half, sizeof half);
    } else {
        bench_store_number(type, x, to, 0);
    }
}

/* Weight i: some are 0, some negative. Their sums, in units of 2^-60, fit 128 bits; those of squares in 2^-68. */
HISTO_INLINE double sampler_weight(const sampler *s, int64_t i)
{
    uint64_t bits = sampler_bits(s, i, 0);
    double size = (double)(INT64_C(1) << (bits & 15)) / 256, sign = bits >> 4 & 7 ? 1 : -1;
    if ((bits >> 7 & 31) == 0) return 0;
    return sign * size * (1 + (double)(bits >> 12) * 0x1p-52);
}

/* A mask's sample: 0 lets nothing through. */
HISTO_INLINE double sampler_mask(const sampler *s, int64_t i, int64_t run)
{
    return sampler_unit(s, i / run, 0) < s->shape ? 1 + (double)(sampler_bits(s, i, 1) % 100) : 0;
}

typedef enum making_what { MAKING_SAMPLES = 0, MAKING_WEIGHTS, MAKING_MASK, MAKING_WHERE } making_what;

/* An array to be made. */
typedef struct sample_making {
    sampler sampler;
    making_what what;
    int64_t run; /* of a mask */
    char *to;
    int64_t step; /* bytes */
} sample_making;

HISTO_INLINE void making_store(const sample_making *m, int64_t i)
{
    const sampler *s = &m->sampler;
    double x = m->what == MAKING_SAMPLES   ? sampler_value(s, i)
               : m->what == MAKING_WEIGHTS ? sampler_weight(s, i)
               : m->what == MAKING_MASK    ? sampler_mask(s, i, m->run)
                                           : 100 * sampler_unit(s, i, 0);
    sampler_store(s->type, s->smallest, s->largest, x, m->to + i * m->step);
}

struct reference_rule;

/* A device that makes samples and counts them, by the same functions as the host. */
typedef struct random_device {
    /* Make an array in the device's memory; edges and ranks are in host memory. */
    histo_status (*make)(const sample_making *m);
    /* A peer that follows the strides and adds each sample in memory. The rule is as for reference_device;
     * HISTO_UNSUPPORTED if the peer cannot count by it. If there is a state, end it in any case. */
    histo_status (*atomics_begin)(const struct reference_rule *rule, const histo_axis *axes, void **state);
    histo_status (*atomics_run)(void *state, void *stream); /* bench_work */
    void (*atomics_end)(void *state);
} random_device;

#endif
