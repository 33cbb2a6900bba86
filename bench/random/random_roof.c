#include "bench/random/random_roof.h"

#include <math.h>

#include "bench/core/sort.h"

typedef struct reading {
    const bench_device *device;
    const void *placed;
    size_t bytes;
    int threads;
} reading;

static histo_status read_again(void *context, void *stream)
{
    const reading *r = context;
    return r->device->read(r->placed, r->bytes, r->threads, stream);
}

/* The median time, but not less than that of fewer bytes. */
static histo_status add_size(const bench_device *device, bench_work *work, void *context, double bytes,
                             random_roof *roof)
{
    enum { PASSES = 9 };
    double us[PASSES];
    histo_status status = HISTO_OK;
    for (int pass = 0; pass < PASSES && status == HISTO_OK; pass++)
        status = device->time(work, context, &us[pass]);
    if (status != HISTO_OK) return status;
    bench_sort(us, PASSES);
    const int i = roof->sizes++;
    roof->bytes[i] = bytes;
    roof->us[i] = fmax(bench_sorted_median(us, PASSES), i > 0 ? roof->us[i - 1] : 0);
    return HISTO_OK;
}

histo_status random_roof_measure(const bench_device *device, problem_place place, int threads, random_roof *roof)
{
    static const bench_input input = {.kind = BENCH_UNIFORM, .dtype = HISTO_U32, .bins = 256};
    const histo_axis axis = histo_axis_integer(0, 256);
    const size_t most = device->default_bytes * (place == PROBLEM_CPU ? 2 : 1);
    const size_t least = place == PROBLEM_CPU ? most : 1 << 12, times = 4;
    reading again = {.device = device, .threads = threads};
    histo_status status = device->make(&input, &axis, (int64_t)(most / sizeof(uint32_t)), &again.placed);
    *roof = (random_roof){.sizes = 0};
    if (status == HISTO_OK) status = add_size(device, device->launch, NULL, 0, roof);
    for (again.bytes = least; again.bytes <= most && status == HISTO_OK; again.bytes *= times)
        status = add_size(device, read_again, &again, (double)again.bytes, roof);
    if (again.placed) device->release(again.placed);
    if (status != HISTO_OK) {
        roof->sizes = 0;
        return status;
    }
    roof->launch_us = roof->us[0];
    roof->rate = roof->bytes[roof->sizes - 1] / roof->us[roof->sizes - 1];
    return HISTO_OK;
}

double random_reading_us(const random_roof *roof, double bytes)
{
    const int last = roof->sizes - 1;
    int above = 1;
    if (bytes >= roof->bytes[last]) return bytes / roof->rate;
    while (roof->bytes[above] < bytes)
        above++;
    const double part = (bytes - roof->bytes[above - 1]) / (roof->bytes[above] - roof->bytes[above - 1]);
    return roof->us[above - 1] + part * (roof->us[above] - roof->us[above - 1]);
}
