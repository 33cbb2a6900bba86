/* What strategies are measured on: where samples lie, what the clock is, and how fast plain reading is, which bounds
 * every strategy. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include "bench/inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct histo_lookup;
struct bench_peer;

/* Something to time: enqueue it, or do it. */
typedef histo_status bench_work(void *context, void *stream);

/* Samples of all axes, in views of one dtype and one dimension; and their weights, or NULL. */
typedef struct bench_counted {
    int axes;
    const struct histo_lookup *lookups;
    const histo_view *views;
    const void *weights;
    histo_dtype weights_dtype;
} bench_counted;

typedef struct bench_device {
    const char *backend; /* whose strategies run here */
    histo_device device;
    /* NULL if it can be used here, else why not. */
    const char *(*unavailable)(void);
    size_t default_bytes, quick_bytes; /* of an input: more than caches hold, if not quick */
    double default_budget_us;          /* for one strategy on one input; a tenth if quick */
    /* Samples where fills read them: n of an array, made there, or copied. */
    histo_status (*make)(const bench_input *input, const histo_axis *axis, int64_t n, const void **placed);
    histo_status (*place)(const void *host, size_t bytes, const void **placed);
    void (*release)(const void *placed);
    histo_status (*fetch)(void *host, const void *placed, size_t bytes);
    /* Add n samples to counts[slots], by the edges and by nothing that a strategy uses; with weights these, in
     * BENCH_WEIGHT_UNIT. */
    histo_status (*count)(const bench_counted *what, int64_t n, uint64_t *counts);
    /* The last one is NULL. */
    const struct bench_peer *const *peers;
    /* Microseconds that work takes, with caches that hold none of the samples. */
    histo_status (*time)(bench_work *work, void *context, double *us);
    /* The read roof: every byte is read once, and nothing else is done, by this many threads (if they are its). */
    histo_status (*read)(const void *placed, size_t bytes, int threads, void *stream);
    /* Threads that it reads with; 1 where that is not a choice. */
    int (*threads)(int wanted);
} bench_device;

/* Where the samples are. */
typedef enum bench_placement {
    BENCH_RESIDENT = 0, /* in the device's own memory */
    BENCH_PINNED,       /* in the host's, for a GPU to count: page-locked, … */
    BENCH_PAGEABLE,     /* … or not. The roof is the copy rate of page-locked memory */
} bench_placement;

/* For HISTO_DEVICE_AUTO the first GPU if there is one. NULL, with a sentence, if it cannot be used. */
const bench_device *bench_device_find(histo_device device, bench_placement placement);

#ifdef __cplusplus
}
#endif

#endif
