/* Random problems whose samples a device makes and counts, by the same functions as the host. */
#ifndef BENCH_RANDOM_DEVICE_H
#define BENCH_RANDOM_DEVICE_H

#include "bench/random/random_check.h"
#include "bench/random/random_sample.h"

typedef struct random_device {
    /* Memory that bench_device.release frees. */
    histo_status (*allocate)(size_t bytes, const void **placed);
    /* Make an array in such memory; edges and ranks are in host memory. */
    histo_status (*make)(const sample_making *m);
    /* A peer that follows the strides and adds each sample in memory. HISTO_UNSUPPORTED if it cannot count the problem.
     * If there is a state, end it in any case. */
    histo_status (*atomics_begin)(const problem_data *data, void **state);
    histo_status (*atomics_run)(void *state, void *stream); /* bench_work */
    void (*atomics_end)(void *state);
} random_device;

#endif
