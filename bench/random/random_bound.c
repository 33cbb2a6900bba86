/* What bounds random problems: the bytes that must be read, those of the counters, and the roof. */
#include <math.h>
#include <stdlib.h>

#include "bench/core/times.h"
#include "bench/random/random.h"
#include "bench/random/random_data.h"

enum { GPU_SECTOR = 32, CPU_LINE = 64 };

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* How many sectors are touched by `runs` runs of equal length. What each run adds repeats after `sector` runs. */
static double sectors_of(int64_t begin, int64_t bytes, int64_t stride, int64_t runs, int64_t sector)
{
    const int64_t first = (begin + bytes - 1) / sector - begin / sector + 1;
    const int64_t seen = runs - 1 < sector ? runs - 1 : sector;
    int64_t added = 0, last = (begin + bytes - 1) / sector;
    for (int64_t run = 0; run < seen; run++) {
        begin += stride;
        int64_t next = begin / sector > last ? begin / sector : last + 1;
        last = (begin + bytes - 1) / sector;
        added += last - next + 1;
    }
    return (double)first + (seen ? (double)added / (double)seen * (double)(runs - 1) : 0);
}

double random_touched(const histo_view *view, int columns, int64_t sector)
{
    int order[HISTO_MAX_DIMS];
    const int64_t size = (int64_t)histo_dtype_size(view->dtype);
    const int64_t begin = (int64_t)((uintptr_t)view->data % (uintptr_t)sector);
    int64_t run = size * columns;   /* bytes without gaps */
    int64_t stride = run, runs = 1; /* of runs at equal distances */
    double others = 1;
    for (int d = 0; d < view->ndim; d++) {
        int at = d;
        for (; at > 0 && magnitude(view->strides[order[at - 1]]) > magnitude(view->strides[d]); at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    for (int d = 0; d < view->ndim; d++) {
        const int64_t next = magnitude(view->strides[order[d]]), shape = view->shape[order[d]];
        if (shape == 1) continue;
        if (runs == 1 && next == run) {
            run *= shape;
        } else if (runs == 1 || (others == 1 && next == stride * runs)) {
            stride = runs == 1 ? next : stride;
            runs *= shape;
        } else {
            others *= (double)shape;
        }
    }
    return others * sectors_of(begin, run, stride, runs, sector) * (double)sector;
}

/* The bytes that a fill must read. */
static double bytes_to_read(const problem_data *data)
{
    problem_fill fill;
    problem_fill_make(data, false, &fill);
    const random_problem *p = data->problem;
    const int64_t sector = p->place == PROBLEM_CPU ? CPU_LINE : GPU_SECTOR;
    const bool table = p->layout == PROBLEM_TABLE;
    double bytes = 0;
    for (int a = 0; a < (table ? 1 : p->axes); a++)
        bytes += random_touched(&fill.samples[a], table ? p->axes : 1, sector);
    if (fill.options.weights) bytes += random_touched(&fill.weights, 1, sector);
    if (fill.options.mask) bytes += random_touched(&fill.mask, 1, sector);
    if (fill.options.where) bytes += random_touched(&fill.where, 1, sector);
    return bytes + (double)data->arrays[PROBLEM_OFFSETS].bytes;
}

/* The bytes of counters and sums that it must read and write. */
static double bytes_of_counters(const random_problem *p, const reference_counts *counts)
{
    bool squares = reference_sums_squares(p->weighting);
    return 2.0 * GPU_SECTOR * (double)counts->sectors * (1 + (p->weighting != HISTO_UNWEIGHTED) + squares);
}

/* ---- The roof ---- */

typedef struct reading {
    const bench_device *device;
    const void *placed;
    size_t bytes;
    int threads;
} reading;

/* Reading no bytes is an empty launch. */
static histo_status read_again(void *context, void *stream)
{
    const reading *r = context;
    return r->bytes ? r->device->read(r->placed, r->bytes, r->threads, stream) : r->device->launch(NULL, stream);
}

/* The median time, but not less than that of fewer bytes. */
static histo_status add_size(reading *r, random_roof *roof)
{
    enum { PASSES = 9 };
    bench_times times = {0};
    histo_status status = HISTO_OK;
    while (times.passes < PASSES && status == HISTO_OK)
        status = r->device->time(read_again, r, &times.us[times.passes++]);
    if (status != HISTO_OK) return status;
    bench_times_sort(&times);
    const int i = roof->sizes++;
    roof->bytes[i] = (double)r->bytes;
    roof->us[i] = fmax(bench_median(&times), i > 0 ? roof->us[i - 1] : 0);
    return HISTO_OK;
}

histo_status random_roof_measure(const bench_device *device, problem_place place, int threads, random_roof *roof)
{
    static const bench_input input = {.kind = BENCH_UNIFORM, .dtype = HISTO_U32, .bins = 256};
    const histo_axis axis = histo_axis_integer(0, 256);
    const size_t largest = device->default_bytes * (place == PROBLEM_CPU ? 2 : 1);
    const size_t smallest = place == PROBLEM_CPU ? largest : 1 << 12, times = 4;
    reading again = {.device = device, .threads = threads};
    histo_status status =
        bench_device_make(device, &input, &axis, (int64_t)(largest / sizeof(uint32_t)), &again.placed);
    *roof = (random_roof){.sizes = 0};
    for (; again.bytes <= largest && status == HISTO_OK; again.bytes = again.bytes ? again.bytes * times : smallest)
        status = add_size(&again, roof);
    if (again.placed) device->release(again.placed);
    if (status != HISTO_OK) {
        roof->sizes = 0;
        return status;
    }
    roof->launch_us = roof->us[0];
    roof->rate = roof->bytes[roof->sizes - 1] / roof->us[roof->sizes - 1];
    return HISTO_OK;
}

/* The time to read so many bytes, between the sizes by interpolation. */
static double reading_us(const random_roof *roof, double bytes)
{
    const int last = roof->sizes - 1;
    int above = 1;
    if (bytes >= roof->bytes[last]) return bytes / roof->rate;
    while (roof->bytes[above] < bytes)
        above++;
    const double part = (bytes - roof->bytes[above - 1]) / (roof->bytes[above] - roof->bytes[above - 1]);
    return roof->us[above - 1] + part * (roof->us[above] - roof->us[above - 1]);
}

void random_find_bound(const problem_data *data, const reference_counts *counts, const random_roof *roof,
                       random_verdict *v)
{
    v->bytes = bytes_to_read(data);
    v->counters = v->problem.place <= PROBLEM_DEVICE ? bytes_of_counters(&v->problem, counts) : 0;
    v->bytes_us = reading_us(roof, v->bytes);
    v->counters_us = v->counters / roof->rate;
    v->launch_us = roof->launch_us;
    v->bound_us = v->bytes_us + v->counters_us;
}
