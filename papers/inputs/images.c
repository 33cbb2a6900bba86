/* Synthetic images: those of Ross 2014, chapter 4, and others. Fractal and moon cause about as many bank conflicts as
 * the thesis's own images in table 4.2, smooth about as many as its photographs. */
#include "papers/inputs/images.h"

#include <math.h>

#include "bench/core/random_numbers.h"

static uint8_t grey(double x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

static int64_t at_point(int64_t x, int64_t y)
{
    return y * (INT64_C(1) << 24) + x;
}

/* Value noise in [0, 1): random at integer points, interpolated between them. */
static double noise(uint64_t stream, double x, double y)
{
    int64_t left = (int64_t)floor(x), top = (int64_t)floor(y);
    double u = x - (double)left, v = y - (double)top;
    u *= u * (3 - 2 * u);
    v *= v * (3 - 2 * v);
    double a = random_uniform(stream, at_point(left, top)), b = random_uniform(stream, at_point(left + 1, top));
    double c = random_uniform(stream, at_point(left, top + 1)), d = random_uniform(stream, at_point(left + 1, top + 1));
    return (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v;
}

/* Escape time of z^2 + c. The palette cycles so fast that neighbours differ at any image size. */
static uint8_t fractal(double x, double y, double colours)
{
    enum { MAX = 256 };
    const double cx = 0.285, cy = 0.01, zoom = 1.2, far = 64;
    double square = 0;
    int steps = 0;
    for (x *= zoom, y *= zoom; steps < MAX && (square = x * x + y * y) < far; steps++) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    double fraction = steps < MAX ? log2(log2(square) / log2(far)) : 0;
    return (uint8_t)(int64_t)(colours * (steps + 1 - fraction));
}

/* The height that a crater adds here; at most one begins in each unit square. */
static double craters(double x, double y)
{
    double sum = 0;
    int64_t left = (int64_t)floor(x), top = (int64_t)floor(y);
    for (int64_t j = top - 1; j <= top + 1; j++) {
        for (int64_t i = left - 1; i <= left + 1; i++) {
            double dx = x - (double)i - random_uniform(1, at_point(i, j));
            double dy = y - (double)j - random_uniform(2, at_point(i, j));
            double r = sqrt(dx * dx + dy * dy) / (0.1 + 0.5 * random_uniform(3, at_point(i, j)));
            if (r < 1) sum += r < 0.8 ? -0.5 : 1 - 5 * fabs(r - 0.9);
        }
    }
    return sum;
}

/* x, y: relative to the centre of the image, whose height is 2. */
static uint8_t moon(double x, double y, int64_t index)
{
    const double radius = 0.7;
    double height = radius * radius - x * x - y * y;
    if (height < 0) return 0;
    double ground = 100 + 80 * sqrt(height) / radius + 60 * noise(4, 3 * x, 3 * y);
    return grey(ground + 25 * craters(8 * x, 8 * y) + 6 * random_normal(5, index));
}

static uint8_t smooth(double x, double y, int64_t index)
{
    double sum = 0, weight = 1;
    for (uint64_t octave = 0; octave < 5; octave++, weight /= 2, x *= 2.1, y *= 2.1)
        sum += weight * noise(6 + octave, 2 * x, 2 * y);
    return grey(-10 + 140 * sum + 1.2 * random_normal(11, index));
}

uint8_t bench_pixel(const bench_input *image, int64_t x, int64_t y)
{
    int64_t width = image->width, height = image->height, index = y * width + x;
    double h = 2.0 / (double)height;
    double right = h * ((double)x - (double)width / 2), down = h * (double)y - 1;
    switch (image->kind) {
    case BENCH_FRACTAL:
        return fractal(right, down, (double)height * 0.074);
    case BENCH_MOON:
        return moon(right, down, index);
    case BENCH_GRADIENT:
        return (uint8_t)(x * 256 / width);
    case BENCH_SMOOTH:
        return smooth(right, down, index);
    case BENCH_PHOTO:
        return image->photo->pixels[y % image->photo->height * image->photo->width + x % image->photo->width];
    default:
        return (x / 8 + y / 8) % 2 ? 85 : 170; /* BENCH_CHECKER */
    }
}
