/* Strategies and backends. A strategy is one file, which defines `histo_BACKEND_NAME`, and one row in
 * strategies.def. */
#ifndef PLAN_STRATEGY_H
#define PLAN_STRATEGY_H

#include "base/text_builder.h"
#include "plan/mapping.h"
#include "plan/nodes.h"
#include "plan/problem.h"
#include "plan/reading.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct histo_param {
    const char *name;
    int64_t min, max, default_value;
    const char *about;
    const char *const *names; /* names of its values, from 0 on; ends with NULL. NULL: the values are numbers */
} histo_param;

typedef struct histo_strategy {
    /* Why the strategy would count the problem incorrectly, as words that follow its name; NULL if it would not. Never
     * about speed. */
    const char *(*unsupported_reason)(const histo_problem *problem);
    /* Estimated microseconds of a fill with this many threads. On a GPU: for the reference GPU of rates.def, with
     * samples and counters in device memory. Absolute, because it also decides between CPU and GPU. If skewed samples
     * may take much longer, the estimate includes HISTO_SKEW_MARGIN, unless a probe has seen the samples. NULL: kept
     * for comparison; runs only by name or by wisdom. */
    double (*cost_us)(const histo_problem *problem, int threads);
    /* Bytes moved to and from memory per sample, besides reading it. NULL: none. */
    double (*moved_bytes)(const histo_problem *problem);
    /* Bytes of workspace that launch needs for a supported problem. NULL: none. */
    size_t (*workspace)(const histo_problem *problem, int threads, const int64_t *params);
    /* Further bytes that launch allocates at most, for as many samples as planned. NULL: none. */
    size_t (*memory)(const histo_problem *problem, int threads, const int64_t *params);
    /* Count, or enqueue the counting on job->stream. On the CPU, failures must leave everything unchanged. */
    histo_status (*launch)(const histo_job *job);
    /* On a GPU: whether launch itself zeroes the counts of such a job if job->replace. NULL: never. */
    bool (*replaces)(const histo_job *job);
    /* Up to HISTO_MAX_PARAMS parameters; the list ends with a NULL name. */
    histo_param params[HISTO_MAX_PARAMS + 1];
    /* Append how the problem is laid out with these parameters: a sentence without its full stop. NULL: nothing to
     * say. */
    void (*explain)(const histo_problem *problem, const int64_t *params, histo_text *text);
    /* Append what the last fills recorded about themselves, if a parameter asked for it. NULL: nothing. */
    void (*tell)(histo_text *text);
    bool ragged;   /* counts ragged segments: walks the strided iterator, or gets its tiles from cuda/device/tile.cuh */
    bool computed; /* counts samples that are computed from pairs of images: reads blocks, or any place on a GPU */
    bool sparse;   /* counts into sparse histograms only */
    /* The following matter on a GPU; on the CPU, every strategy can do all of it. */
    bool any_edges; /* counts on equal, infinite and integer edges */
    bool any_bytes; /* counts swapped samples and masks of bits */
    bool records;   /* counts records, by specialised kernels only */
} histo_strategy;

/* In C: members that every strategy has, set to the functions of these names in its file. */
#define HISTO_STRATEGY_FUNCTIONS .unsupported_reason = unsupported_reason, .cost_us = cost_us, .launch = launch

/* The factor applied to estimates that hold only for evenly spread samples. It keeps a strategy that skew slows down
 * from being chosen while one that is immune to skew is within this factor. */
enum { HISTO_SKEW_MARGIN = 3 };

/* Bytes of workspace that the strategy needs. */
static inline size_t histo_strategy_workspace(const histo_strategy *strategy, const histo_problem *problem, int threads,
                                              const int64_t *params)
{
    return strategy->workspace ? strategy->workspace(problem, threads, params) : 0;
}

/* Speeds by which rates are scaled to another GPU; 0 if unknown. */
typedef struct histo_speed {
    double memory;     /* memory bandwidth in bytes/us, by clock and width */
    double arithmetic; /* multiprocessors times clock in MHz */
} histo_speed;

/* The extremes that a device finds in the samples of a batch entry. A key is a 64-bit integer that sorts like the
 * value: an unsigned integer is its own key; a signed integer is extended to 64 bits with its sign bit flipped, as are
 * the bits of a float after all bits but the sign have been flipped if it is negative. */
typedef struct histo_found {
    uint64_t least, most;     /* keys of the finite samples, if there are any */
    uint64_t nan[2];          /* NaN with the sign bit set, and without */
    uint64_t infinite[2];     /* negative and positive */
    uint64_t samples, masked; /* as in histo_extremes */
} histo_found;

/* A fill that several GPUs and the CPU divide: the samples that none of them has taken yet. */
typedef struct histo_share {
    int64_t begin, end;
    int takers; /* number of GPUs that take from it */
    /* Let the CPU count some of the last samples, for about a millisecond. NULL: the CPU does not help. */
    histo_status (*help)(struct histo_share *share);
} histo_share;

/* Take the first samples: `most` of them, and fewer towards the end, so that all devices finish at about the same time;
 * always a multiple of `least`, or the rest if fewer remain. Returns the end of the range taken. */
static inline int64_t histo_share_take(histo_share *share, int64_t least, int64_t most)
{
    const int64_t left = share->end - share->begin, fair = left / (2 * share->takers);
    int64_t n = (fair < most ? fair : most) / least * least;
    if (n < least) n = least;
    share->begin = n < left ? share->begin + n : share->end;
    return share->begin;
}

typedef struct histo_backend {
    const char *name;
    /* NULL if the backend can run here, else the reason why it cannot. */
    const char *(*unavailable)(void);
    /* The number of threads for a plan: see histo_threads_for. */
    int (*threads)(int wanted);
    /* Identifies the hardware in wisdom files by one word. */
    const char *(*device_name)(histo_device device);
    void (*describe)(histo_text *text);
    /* Give the job its workspace and launch it. */
    histo_status (*run)(const histo_strategy *strategy, histo_job *job);

    /* The following are NULL on the CPU, except prepare and unprepare. */
    /* The number of devices; needs an available backend. */
    int (*devices)(void);
    /* The device whose memory this is, or HISTO_DEVICE_CPU. only: no other device can read it. */
    histo_device (*locate)(const void *memory, bool *only);
    /* Prepare what runs of a plan need in addition to the problem, or NULL. Done once; each run gets it as
     * job->prepared. */
    histo_status (*prepare)(const histo_problem *problem, void **prepared);
    void (*unprepare)(void *prepared);
    /* Bring the device's counts to the accumulators in host memory; waits for fills. keep: the counts stay on the
     * device, and host memory, which holds nothing else, becomes a copy. Otherwise they are moved: added to host
     * memory, and cleared on the device. Each count is added once, even if a failed call is repeated. */
    histo_status (*to_host)(histo_device_accumulators *from, const histo_accumulators *to, bool keep);
    /* Read counts or fast sums, which stay on the device, into the device's memory, ordered on reading->stream, or into
     * host memory, which waits. Counts read into host memory cannot be cumulative. */
    histo_status (*read)(histo_device_accumulators *from, const histo_reading *reading);
    /* Move the counts of the other accumulators to `to`; all belong to one histogram, on different devices, and none is
     * sparse. Enqueued after their fills. Accumulators whose exact sums are laid out differently are left as they
     * are. */
    histo_status (*merge)(histo_device_accumulators *to, histo_device_accumulators *const *others, int n);
    /* Whether there are no counts in it, and no graphs that may add some. */
    bool (*is_empty)(const histo_device_accumulators *device_accumulators);
    /* Count samples in host memory on n devices at once. jobs[i], as for `run`, has the problem and what was prepared
     * for device i, and may change. Devices take from the share whenever they are free, until nothing is left. */
    histo_status (*run_shared)(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share);
    /* Copy from host memory to a device's, after the work on the stream, and wait for the copy. */
    histo_status (*send)(void *to, histo_device device, const void *from, size_t bytes, void *stream);
    /* Whether the stream is being captured into a graph. */
    bool (*capturing)(void *stream);
    /* Clear the counts, ordered on a stream if it is not NULL; false if the device accumulators are no longer
     * usable. */
    bool (*clear)(histo_device_accumulators *device_accumulators, void *stream);
    void (*free)(histo_device_accumulators *device_accumulators);
    /* Wait for fills; the counts stay on the device. */
    histo_status (*wait)(histo_device_accumulators *device_accumulators);
    /* Whether this process has already used the device. Does not initialise it. */
    bool (*awake)(histo_device device);
    /* Whether the device can read this host memory directly. */
    bool (*pinned)(const void *memory);
    histo_speed (*speed)(histo_device device);
    /* The slots of up to n samples, spread over the job's, which must all be in device memory. Waits for the stream.
     * HISTO_NO_SLOT for missing samples. The job is as for `run`, but without accumulators. */
    histo_status (*probe)(const histo_job *job, int n, uint32_t *slots);
    /* Find the extremes of each batch entry of a job, which is as for `probe`. Waits for the stream. */
    histo_status (*extremes)(const histo_job *job, histo_found *found);
    /* Append lines on what `prepared` has learnt from the plan's fills, if anything. */
    void (*explain)(const void *prepared, histo_text *text);
    const histo_map_backend *maps;   /* NULL: maps stay in host memory */
    const histo_node_backend *nodes; /* NULL: features stay in host memory */
    /* See histo_sequence_begin. */
    void (*begin_sequence)(void *stream);
    histo_status (*end_sequence)(void);
} histo_backend;

typedef struct histo_row {
    const histo_backend *backend;
    const char *name, *summary, *limits, *source;
    const histo_strategy *strategy; /* NULL if the backend is not in this build */
} histo_row;

/* Row i of the table; NULL past its end. */
const histo_row *histo_row_at(int i);
/* Find a row by "name" or "backend/name"; NULL if there is none. If both backends have the name, `preferred` wins. */
const histo_row *histo_row_find(const char *name, const histo_backend *preferred);

extern const histo_backend histo_backend_cpu, histo_backend_cuda;
const histo_backend *histo_backend_of(histo_device device);

/* The device whose memory this is, according to the backends; HISTO_DEVICE_CPU by default. only: no other device can
 * read it. */
histo_device histo_device_of(const void *memory, bool *only);

#ifdef __cplusplus
}
#endif

#endif
