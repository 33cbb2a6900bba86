/* Sample i of an array, on host and device. */
#ifndef BENCH_POSITION_H
#define BENCH_POSITION_H

#include "bench/inputs.h"
#include "bench/random.h"

/* Gaussian around the middle of [0, 1), 99 % of it within `share`. */
HISTO_INLINE double bench_clustered(uint64_t stream, int64_t i, double share)
{
    const double deviations = 2.5758293035489; /* either way, that hold 99 % */
    double x = 0.5 + random_normal(stream, i) * share / 2 / deviations;
    return x < 0 ? 0 : x < 1 ? x : 1 - 0x1p-24;
}

/* A run's value, and on every other sample a value near it; runs are of 8 to 64 samples. */
HISTO_INLINE double bench_in_run(int64_t i)
{
    enum { STRETCH = 1024 };
    const double nearby = 1.0 / 64;
    int64_t length = INT64_C(8) << (random_bits(0, i / STRETCH) & 3);
    double x = bench_clustered(1, i / length, 0.9);
    if (random_bits(3, i) & 1) x += (random_uniform(4, i) - 0.5) * nearby;
    return x < 0 ? 0 : x < 1 ? x : 1 - 0x1p-24;
}

/* Where sample i of n lies in the range of bins: [0, 1). */
HISTO_INLINE double bench_position(const bench_input *input, int64_t i, int64_t n)
{
    enum { ROW = 256 };
    double bins = (double)input->bins;
    int64_t distinct = (int64_t)input->shape;
    switch (input->kind) {
    case BENCH_CLUSTERED:
        return bench_clustered(0, i, input->shape);
    case BENCH_WAFER:
        return (floor(bench_clustered(0, i, input->shape) * bins / ROW) + bench_clustered(1, i, 0.5)) * ROW / bins;
    case BENCH_DISTINCT:
    case BENCH_SPREAD: {
        int64_t value = i < distinct ? i : (int64_t)(random_bits(0, i) % (uint64_t)distinct);
        int64_t step = input->kind == BENCH_SPREAD && bins >= (double)distinct ? input->bins / distinct : 1;
        return ((double)(value * step) + 0.5) / bins;
    }
    case BENCH_ZIPF:
        return (exp(random_uniform(0, i) * log(bins + 1)) - 1) / bins;
    case BENCH_SORTED:
        return ((double)i + random_uniform(0, i)) / (double)n;
    case BENCH_DEGENERATE:
        return 0.625;
    case BENCH_ON_EDGES:
        return floor(random_uniform(0, i) * bins) / bins;
    case BENCH_WEIGHTS:
        return floor(random_uniform(5, i) / BENCH_WEIGHT_UNIT) * BENCH_WEIGHT_UNIT;
    case BENCH_RUNS:
        return bench_in_run(i);
    default:
        return random_uniform(0, i);
    }
}

/* The value at a position: the same share of the way through the same bin. */
HISTO_INLINE double bench_value(const bench_input *input, const histo_axis *axis, double x)
{
    double at = x * (double)input->bins;
    int64_t bin = (int64_t)at;
    bin = bin < input->bins ? bin : input->bins - 1;
    if (input->axis == BENCH_LOG) return axis->lo * exp(x * log(axis->hi / axis->lo));
    if (input->axis == BENCH_NATURAL) return axis->kind == HISTO_INTEGER ? axis->lo + (double)bin : x;
    return axis->edges[bin] + (at - (double)bin) * (axis->edges[bin + 1] - axis->edges[bin]);
}

/* Weight i in BENCH_WEIGHT_UNIT; 1 without weights. */
HISTO_INLINE uint64_t bench_weight(const void *weights, histo_dtype dtype, int64_t i)
{
    if (!weights) return 1;
    double w = dtype == HISTO_F32 ? (double)((const float *)weights)[i] : ((const double *)weights)[i];
    return (uint64_t)(w / BENCH_WEIGHT_UNIT);
}

/* Write sample i of n. */
HISTO_INLINE void bench_store(const bench_input *input, const histo_axis *axis, void *samples, int64_t i, int64_t n)
{
    double value = bench_value(input, axis, bench_position(input, i, n));
    const float below_one = 1 - 0x1p-24f; /* no sample is rounded up to the end of [0, 1) */
    switch (input->dtype) {
#define CASE(constant, type)                                                                                           \
    case constant:                                                                                                     \
        ((type *)samples)[i] = (type)value;                                                                            \
        break;
        CASE(HISTO_U8, uint8_t)
        CASE(HISTO_I8, int8_t)
        CASE(HISTO_U16, uint16_t)
        CASE(HISTO_I16, int16_t)
        CASE(HISTO_U32, uint32_t)
        CASE(HISTO_I32, int32_t)
        CASE(HISTO_U64, uint64_t)
        CASE(HISTO_I64, int64_t)
        CASE(HISTO_F64, double)
#undef CASE
    default:
        ((float *)samples)[i] = input->axis == BENCH_NATURAL && value > below_one ? below_one : (float)value;
        break;
    }
}

#endif
