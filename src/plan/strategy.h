/* What a strategy and a backend are. A strategy is one file, which defines `histo_BACKEND_NAME`, and one row in
 * strategies.def. */
#ifndef PLAN_STRATEGY_H
#define PLAN_STRATEGY_H

#include "base/text_builder.h"
#include "plan/problem.h"

typedef struct histo_param {
    const char *name;
    int64_t min, max, default_value;
    const char *about;
} histo_param;

typedef struct histo_strategy {
    /* Correctness only: NULL if the strategy can solve the problem, else why not, as words that follow its name. */
    const char *(*unsupported_reason)(const histo_problem *problem);
    /* About how many microseconds a fill takes with this many threads, on a GPU the reference of rates.def, samples and
     * counters in the device's memory. Absolute: it orders strategies, and decides between the CPU and a GPU. What
     * skewed samples may take far longer for is multiplied by HISTO_SKEW_MARGIN, unless a probe has seen the samples.
     * NULL: the strategy is kept to be compared with, and runs only by name or by wisdom. */
    double (*cost_us)(const histo_problem *problem, int threads);
    /* Bytes of workspace that launch wants, for a problem it supports. NULL: none. */
    size_t (*workspace)(const histo_problem *problem, int threads, const int64_t *params);
    /* Count, or enqueue the counting on job->stream. On the CPU it fails only before it has changed anything. */
    histo_status (*launch)(const histo_job *job);
    /* Up to HISTO_MAX_PARAMS settings; the list ends with a NULL name. */
    histo_param params[HISTO_MAX_PARAMS + 1];
    bool ragged; /* it can count ragged segments: it walks the strided iterator, or has its shares from
                    cuda/device/tile.cuh */
    bool pairs;  /* it can count pairs of images */
    bool sparse; /* it counts into sparse histograms, and no others */
} histo_strategy;

/* An estimate that holds for spread samples only is multiplied by this: then a strategy that skewed samples slow down
 * is not chosen while one that they do not is within so many times of it. */
enum { HISTO_SKEW_MARGIN = 3 };

/* Bytes of workspace that the strategy wants. */
static inline size_t histo_strategy_workspace(const histo_strategy *strategy, const histo_problem *problem, int threads,
                                              const int64_t *params)
{
    return strategy->workspace ? strategy->workspace(problem, threads, params) : 0;
}

/* What rates are scaled by; 0 where it is not known. */
typedef struct histo_speed {
    double memory;     /* bytes/us that the memory moves by its clock and width */
    double arithmetic; /* multiprocessors times clock in MHz */
} histo_speed;

typedef struct histo_backend {
    const char *name;
    /* NULL if it can run here, else why not. */
    const char *(*unavailable)(void);
    /* Threads that a plan may use: `wanted`, or what the machine and HISTO_THREADS allow if that is 0. */
    int (*threads)(int wanted);
    /* Identifies the hardware in wisdom files: one word. */
    const char *(*device_name)(histo_device device);
    void (*describe)(histo_text *text);
    /* Give the job its workspace and launch it. */
    histo_status (*run)(const histo_strategy *strategy, histo_job *job);

    /* The rest, but prepare and unprepare, is NULL on the CPU. */
    /* How many of its devices there are; it is available. */
    int (*devices)(void);
    /* The device whose memory this is, or HISTO_DEVICE_CPU. only: other devices cannot reach it. */
    histo_device (*locate)(const void *memory, bool *only);
    /* What runs of a plan need beside the problem, NULL if nothing: made once, given to each as job->prepared. */
    histo_status (*prepare)(const histo_problem *problem, void **prepared);
    void (*unprepare)(void *prepared);
    /* Add what the device counted to the accumulators and clear it there; waits for the fills. Adds each count once,
     * also if it fails halfway and is called again. */
    histo_status (*gather)(histo_device_accumulators *from, const histo_accumulators *to);
    /* Forget what was counted; false if the device accumulators is of no use any more. */
    bool (*clear)(histo_device_accumulators *device_accumulators);
    void (*free)(histo_device_accumulators *device_accumulators);
    /* Wait for the fills, and leave the counts where they are. */
    histo_status (*wait)(histo_device_accumulators *device_accumulators);
    /* Has this process already used the device? Asking does not start it. */
    bool (*awake)(histo_device device);
    /* Can the device read this host memory without a copy in between? */
    bool (*pinned)(const void *memory);
    histo_speed (*speed)(histo_device device);
    /* The slots of up to n samples, spread over the job's, all of which is in the device's memory: waits for its
     * stream. HISTO_NO_SLOT in the place of samples that there are not. The job is as for `run`, but without a
     * accumulators. */
    histo_status (*probe)(const histo_job *job, int n, uint32_t *slots);
} histo_backend;

typedef struct histo_row {
    const histo_backend *backend;
    const char *name, *summary, *limits, *source;
    const histo_strategy *strategy; /* NULL if the backend is not in this build, and so unavailable */
} histo_row;

/* The table; NULL outside it. */
const histo_row *histo_row_at(int i);
/* By name, or "backend/name"; NULL if there is none. Where both backends have the name, that of `preferred`. */
const histo_row *histo_row_find(const char *name, const histo_backend *preferred);

extern const histo_backend histo_backend_cpu, histo_backend_cuda;
const histo_backend *histo_backend_of(histo_device device);

/* The device whose memory this is, by the backends that can tell; else HISTO_DEVICE_CPU. only: no other device can
 * reach it. */
histo_device histo_device_of(const void *memory, bool *only);

#endif
