/* The roof of random problems: how long it takes to read a number of bytes and do nothing else. */
#ifndef BENCH_RANDOM_ROOF_H
#define BENCH_RANDOM_ROOF_H

#include "bench/core/device.h"
#include "bench/random/random_problem.h"

enum { RANDOM_ROOF_SIZES = 16 };

/* Measured at increasing sizes; the first is an empty launch. */
typedef struct random_roof {
    int sizes; /* 0: not measured */
    double bytes[RANDOM_ROOF_SIZES], us[RANDOM_ROOF_SIZES];
    double launch_us;
    double rate; /* of the largest, in bytes per microsecond */
} random_roof;

histo_status random_roof_measure(const bench_device *device, problem_place place, int threads, random_roof *roof);

/* Between the sizes, by interpolation. */
double random_reading_us(const random_roof *roof, double bytes);

#endif
