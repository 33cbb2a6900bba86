/* Sample i of an array, on host and device. */
#ifndef BENCH_POSITION_H
#define BENCH_POSITION_H

#include <string.h>

#include "bench/core/random_numbers.h"
#include "bench/core/store.h"
#include "papers/inputs/inputs.h"

/* Gaussian around the middle of [0, 1), 99 % of it in its middle `fraction`. */
HISTO_INLINE double bench_clustered(uint64_t stream, int64_t i, double fraction)
{
    const double deviations = 2.5758293035489; /* deviations either way that hold 99 % */
    double x = 0.5 + random_normal(stream, i) * fraction / 2 / deviations;
    return x < 0 ? 0 : x < 1 ? x : 1 - 0x1p-24;
}

/* One of `count` Gaussians in equal parts of [0, 1), each with 99 % in its part. */
HISTO_INLINE double bench_normals(uint64_t stream, int64_t i, double count)
{
    const double part = floor(random_uniform(stream + 1, i) * count);
    return (part + bench_clustered(stream, i, 1)) / count;
}

/* Mean 0, deviation 1: the sum of four numbers of 16 bits, which is close to Gaussian and cheap. */
HISTO_INLINE double bench_bell(uint64_t stream, int64_t i)
{
    const double scale = 1.7320508075689 / 65536; /* the sum's variance is a third of 65536^2 */
    uint64_t bits = random_bits(stream, i);
    uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return ((double)sum - 2 * 65535.0) * scale;
}

/* As bench_bell, but neighbours resemble each other, as in a random walk. */
HISTO_INLINE double bench_bell_walk(uint64_t stream, int64_t i)
{
    enum { SCALES = 4, STEP = 3 /* bits between scales */ };
    double sum = 0;
    for (unsigned scale = 0; scale < SCALES; scale++)
        sum += bench_bell(stream + scale, i >> STEP * scale);
    return sum / 2; /* the root of SCALES */
}

/* Uniform in the middle `fraction` of [0, 1). */
HISTO_INLINE double bench_middle(uint64_t stream, int64_t i, double fraction)
{
    return 0.5 + (random_uniform(stream, i) - 0.5) * fraction;
}

/* [0, 1) of sample i from two positions, n and m: the middle of bin 256 * n + m of `bins`. */
HISTO_INLINE double bench_flat_index(double n, double m, double bins)
{
    enum { ROW = 256 };
    const double rows = floor(bins / ROW);
    n = n < 0 ? 0 : n < 1 ? n : 1 - 0x1p-24;
    m = m < 0 ? 0 : m < 1 ? m : 1 - 0x1p-24;
    return (floor(n * rows) * ROW + floor(m * ROW) + 0.5) / bins;
}

/* Pair i of a ring of images (Ross 2014, 4.2): at each place the images have a common brightness plus noise in
 * proportion to it. m is their mean there; n is the pair's difference divided by the mean, so every row can fill. */
HISTO_INLINE double bench_wafer_pair(const bench_input *input, int64_t i)
{
    enum { TEXTURE = 64, NOISE = 80 };                                    /* streams */
    const double deviations = 2.5758293035489, root = 1.4142135623730951; /* as in bench_clustered; of a difference */
    const double range = 0.5;                                             /* differences of +-50 % fill all rows */
    int64_t place = i / BENCH_STACKED, image = i % BENCH_STACKED, next = (image + 1) % BENCH_STACKED;
    double common = 0.5 + bench_bell_walk(TEXTURE, place) * input->across / 2 / deviations;
    double noise = input->shape * range / deviations / root, sum = 0, first = 0, second = 0;
    for (int64_t k = 0; k < BENCH_STACKED; k++) {
        double pixel = common * (1 + noise * bench_bell(NOISE + (uint64_t)k, place));
        sum += pixel;
        if (k == image) first = pixel;
        if (k == next) second = pixel;
    }
    double mean = sum / BENCH_STACKED;
    return bench_flat_index(0.5 + (first - second) / mean / range / 2, mean, (double)input->bins);
}

/* Runs of 8 to 64 samples: the run's value, and a value near it on every other sample. */
HISTO_INLINE double bench_in_run(int64_t i)
{
    enum { STRETCH = 1024 };
    const double nearby = 1.0 / 64;
    int64_t length = INT64_C(8) << (random_bits(0, i / STRETCH) & 3);
    double x = bench_clustered(1, i / length, 0.9);
    if (random_bits(3, i) & 1) x += (random_uniform(4, i) - 0.5) * nearby;
    return x < 0 ? 0 : x < 1 ? x : 1 - 0x1p-24;
}

/* Value noise in [-1/2, 1/2) with `cells` cells across a picture. */
HISTO_INLINE double bench_noise(uint64_t stream, double x, double y, double cells)
{
    int64_t left = (int64_t)floor(x * cells), top = (int64_t)floor(y * cells), row = INT64_C(1) << 24;
    double u = x * cells - (double)left, v = y * cells - (double)top;
    u *= u * (3 - 2 * u);
    v *= v * (3 - 2 * v);
    double a = random_uniform(stream, top * row + left), b = random_uniform(stream, top * row + left + 1);
    double c = random_uniform(stream, top * row + row + left), d = random_uniform(stream, top * row + row + left + 1);
    return (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v - 0.5;
}

/* A channel of pixel i of successive photographs of 24 million pixels: luminance on many scales, two colours on few,
 * and noise. */
HISTO_INLINE double bench_colour(int64_t i, int channel)
{
    enum { WIDTH = 6000, HEIGHT = 4000 };
    int64_t picture = i / (WIDTH * HEIGHT), pixel = i % (WIDTH * HEIGHT);
    double x = (double)(pixel % WIDTH) / HEIGHT + 2 * (double)picture, y = (double)(pixel / WIDTH) / HEIGHT;
    double light = 0, weight = 1, cells = 4;
    for (uint64_t octave = 0; octave < 7; octave++, weight *= 0.55, cells *= 2.1)
        light += weight * bench_noise(20 + octave, x, y, cells);
    double warm = bench_noise(30, x, y, 3) + 0.4 * bench_noise(31, x, y, 12);
    double green = bench_noise(32, x, y, 3) + 0.4 * bench_noise(33, x, y, 12);
    light = 110 + 150 * light;
    double strength = 0.4 + light / 255;
    double tint = channel == 0 ? 70 * warm : channel == 1 ? 20 * green - 30 * warm : -60 * green - 20 * warm;
    double value = (light + strength * tint + 1.4 * random_normal(40 + (uint64_t)channel, i)) / 256;
    return value < 0 ? 0 : value < 1 ? value : 1 - 0x1p-24;
}

/* The position of sample i on axis a of a joint histogram, in [0, 1). */
HISTO_INLINE double bench_joint_position(const bench_input *input, int64_t i, int a)
{
    uint64_t stream = (uint64_t)a;
    double bins = (double)input->each[a];
    switch (input->kind) {
    case BENCH_COLOURS:
        return bench_colour(i, a);
    case BENCH_WAFER:
        return bench_clustered(stream, i, a ? 0.5 : input->shape);
    case BENCH_CLUSTERED:
        return bench_clustered(stream, i, input->shape);
    case BENCH_ZIPF:
        return (exp(random_uniform(stream, i) * log(bins + 1)) - 1) / bins;
    case BENCH_DEGENERATE:
        return 0.625;
    default:
        return random_uniform(stream, i);
    }
}

/* The position of sample i of n in the range of bins, in [0, 1). */
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
    case BENCH_WAFER_PAIRS:
        return bench_wafer_pair(input, i);
    case BENCH_WAFER_FLAT:
        return bench_flat_index(bench_middle(0, i, input->shape), bench_middle(1, i, input->across), bins);
    case BENCH_MIDDLE:
        return bench_middle(0, i, input->shape);
    case BENCH_NORMALS:
        return bench_normals(0, i, input->shape);
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
    case BENCH_CHUNKS:
        return ((double)(i % distinct) + random_uniform(0, i)) / (double)distinct;
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

/* The value at a position: the same fraction of the same bin. */
HISTO_INLINE double bench_value(const bench_input *input, const histo_axis *axis, double x)
{
    double at = x * (double)input->bins;
    int64_t bin = (int64_t)at;
    bin = bin < input->bins ? bin : input->bins - 1;
    if (input->axis == BENCH_LOG) return axis->lo * exp(x * log(axis->hi / axis->lo));
    if (input->axis == BENCH_NATURAL) return axis->kind == HISTO_INTEGER ? axis->lo + (double)bin : x;
    const double *edges = (const double *)axis->edges;
    return edges[bin] + (at - (double)bin) * (edges[bin + 1] - edges[bin]);
}

/* The upper bits of a float, rounded down. */
HISTO_INLINE uint16_t bench_upper(float value, int shift)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> shift);
}

/* Write a value as sample i. */
HISTO_INLINE void bench_store_value(const bench_input *input, void *samples, int64_t i, double value)
{
    const float below_one = 1 - 0x1p-24f; /* so that no sample is rounded up to 1 */
    const float rounded = value > (double)below_one ? below_one : (float)value;
    if (input->dtype == HISTO_F16) /* of numbers in [0, 1); its exponents are biased by 112 less than those of float */
        ((uint16_t *)samples)[i] = bench_upper(rounded * 0x1p-112f, 13);
    else if (input->dtype == HISTO_BF16)
        ((uint16_t *)samples)[i] = bench_upper(rounded, 16);
    else if (input->dtype == HISTO_F32)
        ((float *)samples)[i] = input->axis == BENCH_NATURAL ? rounded : (float)value;
    else
        bench_store_number(input->dtype, value, samples, i);
}

/* True for a stack of images whose pairs are counted. */
HISTO_INLINE bool bench_is_stack(const bench_input *input)
{
    return input->layout == BENCH_RING || input->layout == BENCH_APART;
}

/* Pixel i of n of a stack: a picture around the middle of the means plus noise of each image, such that 99 % of the
 * differences are in the middle `shape` of their range. */
HISTO_INLINE double bench_pixel_of_stack(const bench_input *input, const histo_axis *axis, int64_t i, int64_t n)
{
    const double deviations = 2.5758293035489 * 1.4142135623731, top = axis[1].hi - 1;
    int64_t places = n / BENCH_STACKED, place = i % places;
    double noise = (axis[0].hi - axis[0].lo) * input->shape / 2 / deviations;
    double x = axis[1].hi * bench_clustered(0, place, 0.5) + noise * random_normal(1 + (uint64_t)(i / places), place);
    return x < 0 ? 0 : x < top ? x : top;
}

/* Write sample i of n; axis: the input's axis or axes. */
HISTO_INLINE void bench_store(const bench_input *input, const histo_axis *axis, void *samples, int64_t i, int64_t n)
{
    if (!input->axes) bench_store_value(input, samples, i, bench_value(input, axis, bench_position(input, i, n)));
    if (bench_is_stack(input)) {
        bench_store_value(input, samples, i, bench_pixel_of_stack(input, axis, i, n));
        return;
    }
    for (int a = 0; a < input->axes; a++) {
        double value = axis[a].lo + (axis[a].hi - axis[a].lo) * bench_joint_position(input, i, a);
        bench_store_value(input, samples, input->interleaved ? i * input->axes + a : a * n + i, value);
    }
}

#endif
