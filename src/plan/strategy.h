/* Strategies and backends. A strategy is one file, which defines `histo_BACKEND_NAME`, and one row in strategies.def.
 */
#ifndef PLAN_STRATEGY_H
#define PLAN_STRATEGY_H

#include "base/text_builder.h"
#include "plan/mapping.h"
#include "plan/problem.h"
#include "plan/reading.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct histo_param {
    const char *name;
    int64_t min, max, default_value;
    const char *about;
    const char *const *names; /* of its values, from 0 on; the list ends with NULL. NULL: they are numbers */
} histo_param;

typedef struct histo_strategy {
    /* Why the strategy cannot count the problem correctly, as words that follow its name; NULL if it can. Never about
     * speed. */
    const char *(*unsupported_reason)(const histo_problem *problem);
    /* Estimated microseconds of a fill with this many threads. On a GPU: for the reference GPU of rates.def, with
     * samples and counters in device memory. Absolute, because it also decides between CPU and GPU. If skewed samples
     * may take much longer, the estimate includes HISTO_SKEW_MARGIN, unless a probe has seen the samples. NULL: kept
     * for comparison; runs only by name or by wisdom. */
    double (*cost_us)(const histo_problem *problem, int threads);
    /* Bytes that move to and from memory for each sample, besides reading it. NULL: none. */
    double (*moved_bytes)(const histo_problem *problem);
    /* Bytes of workspace that launch needs for a supported problem. NULL: none. */
    size_t (*workspace)(const histo_problem *problem, int threads, const int64_t *params);
    /* Bytes that launch takes at most besides, for as many samples as planned. NULL: none. */
    size_t (*memory)(const histo_problem *problem, int threads, const int64_t *params);
    /* Count, or enqueue the counting on job->stream. On the CPU, failures must leave everything unchanged. */
    histo_status (*launch)(const histo_job *job);
    /* On a GPU: does launch set the counts of such a job to zero by itself, if job->replace? NULL: never. */
    bool (*replaces)(const histo_job *job);
    /* Up to HISTO_MAX_PARAMS settings; the list ends with a NULL name. */
    histo_param params[HISTO_MAX_PARAMS + 1];
    /* Add what the problem is laid out as with these parameters: a sentence without its end. NULL: nothing to say. */
    void (*explain)(const histo_problem *problem, const int64_t *params, histo_text *text);
    /* Add what the last fills counted about themselves, if a parameter asked for it. NULL: nothing. */
    void (*tell)(histo_text *text);
    bool ragged;   /* counts ragged segments: walks the strided iterator, or gets its tiles from cuda/device/tile.cuh */
    bool computed; /* counts samples that are computed from pairs of images: reads blocks, or any place on a GPU */
    bool sparse;   /* counts into sparse histograms only */
    /* On a GPU; all do on the CPU: */
    bool any_edges; /* counts on equal, infinite and integer edges, too */
    bool any_bytes; /* counts swapped samples and masks of bits, too */
    bool records;   /* counts records, too, by specialised kernels only */
} histo_strategy;

/* In C: members that every strategy has; its file calls these functions by their names. */
#define HISTO_STRATEGY_FUNCTIONS .unsupported_reason = unsupported_reason, .cost_us = cost_us, .launch = launch

/* The factor for estimates that hold only for spread samples. It keeps a strategy that skew slows down from being
 * chosen while one that is immune to skew is within this factor. */
enum { HISTO_SKEW_MARGIN = 3 };

/* Bytes of workspace that the strategy needs. */
static inline size_t histo_strategy_workspace(const histo_strategy *strategy, const histo_problem *problem, int threads,
                                              const int64_t *params)
{
    return strategy->workspace ? strategy->workspace(problem, threads, params) : 0;
}

/* Scales rates; 0 if unknown. */
typedef struct histo_speed {
    double memory;     /* memory bandwidth in bytes/us, by clock and width */
    double arithmetic; /* multiprocessors times clock in MHz */
} histo_speed;

/* What a device finds about the samples of a batch entry. A key is an integer in the order of values: unsigned
 * integers themselves; signed ones, and the bits of floats with all but the sign flipped if that is set, extended to 64
 * bits, with the first bit flipped. */
typedef struct histo_found {
    uint64_t least, most;     /* keys of the finite samples, if any */
    uint64_t nan[2];          /* with a sign, and without */
    uint64_t infinite[2];     /* below and above */
    uint64_t samples, masked; /* as in histo_extremes */
} histo_found;

/* A fill that several GPUs and the CPU share: the samples that none of them has taken yet. */
typedef struct histo_share {
    int64_t begin, end;
    int takers; /* how many GPUs take from it */
    /* Let the CPU count some of the last samples, for about a millisecond. NULL: it takes none. */
    histo_status (*help)(struct histo_share *share);
} histo_share;

/* Take the first samples: `most`, and fewer towards the end, so that all devices finish at about the same time; but a
 * multiple of `least`, or the rest, if there are fewer. Returns the end of what was taken. */
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
    /* NULL if the backend can run here, else why not. */
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
    /* Make what runs of a plan need in addition to the problem, or NULL. Made once, and passed to each run as
     * job->prepared. */
    histo_status (*prepare)(const histo_problem *problem, void **prepared);
    void (*unprepare)(void *prepared);
    /* Bring the device's counts to the accumulators in host memory; waits for fills. keep: they stay on the device, and
     * host memory, which holds nothing else, becomes a copy. Else they move: they are added, and cleared on the device.
     * Adds each count once, even if a failed call is repeated. */
    histo_status (*to_host)(histo_device_accumulators *from, const histo_accumulators *to, bool keep);
    /* Read counts or fast sums, which stay on the device, into its memory, ordered on reading->stream, or into host
     * memory, where it waits. Host memory cannot have cumulative counts. */
    histo_status (*read)(histo_device_accumulators *from, const histo_reading *reading);
    /* Move to `to` what the others have counted; all are of one histogram, on different devices, and none is sparse.
     * Enqueued behind their fills. Accumulators whose exact sums are laid out differently stay as they are. */
    histo_status (*merge)(histo_device_accumulators *to, histo_device_accumulators *const *others, int n);
    /* Are there no counts in it, and no graphs that may add some? */
    bool (*is_empty)(const histo_device_accumulators *device_accumulators);
    /* Count samples in host memory on n devices at once: jobs[i], as for `run`, has the problem and what was prepared
     * for device i, and may change. Devices take from the share whenever they are free, until nothing is left. */
    histo_status (*run_shared)(const histo_strategy *strategy, histo_job *jobs, int n, histo_share *share);
    /* Copy from host memory into that of a device, after what the stream has to do, and wait for the copy. */
    histo_status (*send)(void *to, histo_device device, const void *from, size_t bytes, void *stream);
    /* Is the stream being captured into a graph? */
    bool (*capturing)(void *stream);
    /* Clear the counts, ordered on a stream if it is not NULL; false if the device accumulators are no longer usable.
     */
    bool (*clear)(histo_device_accumulators *device_accumulators, void *stream);
    void (*free)(histo_device_accumulators *device_accumulators);
    /* Wait for fills; the counts stay on the device. */
    histo_status (*wait)(histo_device_accumulators *device_accumulators);
    /* Has this process already used the device? Does not initialise it. */
    bool (*awake)(histo_device device);
    /* Can the device read this host memory directly? */
    bool (*pinned)(const void *memory);
    histo_speed (*speed)(histo_device device);
    /* The slots of up to n samples, spread over the job's, which must all be in device memory. Waits for the stream.
     * HISTO_NO_SLOT for missing samples. The job is as for `run`, but without accumulators. */
    histo_status (*probe)(const histo_job *job, int n, uint32_t *slots);
    /* Find the extremes of each batch entry of a job, which is as for `probe`. Waits for the stream. */
    histo_status (*extremes)(const histo_job *job, histo_found *found);
    /* Add lines on what `prepared` has learnt from the plan's fills, if anything. */
    void (*explain)(const void *prepared, histo_text *text);
    const histo_map_backend *maps; /* NULL: maps stay in host memory */
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
