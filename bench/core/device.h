/* A device to measure on: where samples lie, how work is timed, and the read roof, which bounds every strategy. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include "papers/inputs/inputs.h"

struct bench_peer;
struct random_device;
struct reference_counts;
struct reference_rule;

/* Work to time: enqueue it on the stream, or do it. */
typedef histo_status bench_work(void *context, void *stream);

typedef struct bench_device {
    const char *backend; /* whose strategies run here */
    histo_device device;
    size_t default_bytes, quick_bytes; /* of an input; the default exceeds the caches */
    double default_budget_us;          /* for one strategy on one input; quick takes a tenth */
    /* Memory where fills read samples. */
    histo_status (*allocate)(size_t bytes, void **memory);
    void (*release)(const void *memory);
    /* Make n samples of an array in such memory. */
    histo_status (*make)(const bench_input *input, const histo_axis *axis, int64_t n, void *memory);
    /* Copy from the host into such memory, or back. */
    histo_status (*copy)(void *to, const void *from, size_t bytes);
    /* As reference_device; NULL: the host counts for reference. */
    histo_status (*count)(const struct reference_rule *rule, struct reference_counts *counts);
    /* The libraries and loops to compare with, NULL-terminated. */
    const struct bench_peer *const *peers;
    /* Time work in microseconds, with no samples in the caches. */
    histo_status (*time)(bench_work *work, void *context, double *us);
    /* The least that can be enqueued: an empty kernel; nothing on a CPU. */
    bench_work *launch;
    /* The read roof: read every byte once and do nothing else. threads: on the CPU. */
    histo_status (*read)(const void *placed, size_t bytes, int threads, void *stream);
    const struct random_device *random; /* makes the samples of random problems; NULL: the host does */
} bench_device;

/* Where the samples lie. */
typedef enum bench_placement {
    BENCH_RESIDENT = 0, /* in the device's memory */
    BENCH_PINNED,       /* in page-locked host memory, for a GPU to count */
    BENCH_PAGEABLE,     /* in pageable host memory. The roof is the copy rate of page-locked memory */
} bench_placement;

/* How many threads it reads with; 1 on a GPU. */
int bench_device_threads(const bench_device *device, int wanted);

/* Make n samples of an array where fills read them, or copy samples there. If *placed is not NULL, release it in any
 * case. */
histo_status bench_device_make(const bench_device *device, const bench_input *input, const histo_axis *axis, int64_t n,
                               const void **placed);
histo_status bench_device_place(const bench_device *device, const void *host, size_t bytes, const void **placed);

/* HISTO_DEVICE_AUTO means the first GPU if there is one. NULL with an error message if it cannot be used. */
const bench_device *bench_device_find(histo_device device, bench_placement placement);

#endif
