/* `histo bench random`: random problems. Each is checked against a reference count, and compared with its bound, the
 * best peer and the best strategy. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include "bench/core/options.h"
#include "bench/random/random_problem.h"

typedef struct bench_random_options {
    /* By default at most 2^22 samples on a CPU and 2^30 on a GPU, in 7 passes, or in 3 if quick, which also leaves out
     * other strategies than the plan's. Slow fills have fewer passes. */
    bench_options common;
    uint64_t seed;
    int64_t count;       /* problems; 0: 100 */
    const char *only;    /* see problem_filter_check; NULL: all */
    const char *line;    /* of the only problem; NULL: draw them */
    histo_effort effort; /* of all plans */
} bench_random_options;

/* ---- What was found about a problem ---- */

typedef enum random_class {
    RANDOM_DEVICE = 0, /* in a GPU's memory, more than 2^22 samples */
    RANDOM_MIDDLE,     /* more than 2^20 */
    RANDOM_SMALL,
    RANDOM_TRANSFER,
    RANDOM_CPU,
    RANDOM_CLASSES
} random_class;

extern const char *const random_class_names[RANDOM_CLASSES];

typedef enum random_outcome { RANDOM_EXACT = 0, RANDOM_WRONG, RANDOM_FAILED, RANDOM_NO_MEMORY } random_outcome;

enum { RANDOM_ENTRIES = 64 };

/* A strategy, the plan or a peer on one problem. */
typedef struct random_score {
    char name[48];
    bool is_peer, is_plan;
    double us; /* the median; 0: it was not timed */
} random_score;

typedef struct random_verdict {
    random_problem problem;
    random_class class;
    random_outcome outcome;
    char reason[400];       /* unless exact */
    double us;              /* of a fill by the plan */
    double planning_us;     /* making the plan */
    double first_us;        /* its first fill, with everything that only this one does, such as compiling */
    double preparing_us;    /* making the samples, and counting them by the edges */
    double all_us;          /* everything that was done for this problem */
    double bytes, counters; /* the bytes that must be read; that must be read and written */
    double bytes_us, counters_us, launch_us;
    double bound_us; /* bytes_us, which includes a launch, and counters_us */
    char strategy[48];
    char kernel[20], kernel_line[200]; /* "compiled", "general" or "unavailable", and the line of explain; empty if
                                          explain has none */
    double best_us;                    /* of the plan and all other strategies; 0: only the plan was timed */
    char best[48];
    double peer_us; /* 0: there is none */
    char peer[48];
    int scores;
    random_score score[RANDOM_ENTRIES];
} random_verdict;

double random_share(const random_verdict *v);   /* of the bound, 0 … 1 */
double random_to_peer(const random_verdict *v); /* speed over the best peer's; 0: there is none */
double random_choice(const random_verdict *v);  /* time over the best strategy's, 1 or more; 0: unknown */
const char *random_bounded_by(const random_verdict *v);

/* ---- The run ---- */

enum { RANDOM_ROOF_SIZES = 16 };

/* How long it takes to read a number of bytes, at increasing sizes; the first is an empty launch. */
typedef struct random_roof {
    int sizes; /* 0: not measured */
    double bytes[RANDOM_ROOF_SIZES], us[RANDOM_ROOF_SIZES];
    double launch_us;
    double rate; /* of the largest, in bytes per microsecond */
} random_roof;

typedef struct random_result {
    int count, wrong, skipped;
    random_verdict *verdict;
    random_roof roof[PROBLEM_PLACES];
    double seconds;
} random_result;

/* Print as it goes. *result holds what was measured also after a failure; free it with random_result_free. */
histo_status bench_random(const bench_random_options *options, random_result *result);
void random_result_free(random_result *result);

/* ---- Its parts ---- */

struct bench_device;
struct problem_data;
struct reference_counts;

/* Measure one problem: the plan, every other strategy and all peers take turns. *v says what was found, also after a
 * failure. roofs: by place, measured when first needed. Fails only if the device does, or if the machine cannot measure
 * at all. */
histo_status random_run(const bench_random_options *options, random_roof roofs[PROBLEM_PLACES], const random_problem *p,
                        random_verdict *v);

/* The roof of samples in this place. */
histo_status random_roof_measure(const struct bench_device *device, problem_place place, int threads,
                                 random_roof *roof);

/* What bounds a problem: the time to read its bytes, and at the same rate to read and write the counters it touches. */
void random_find_bound(const struct problem_data *data, const struct reference_counts *counts, const random_roof *roof,
                       random_verdict *v);

/* The bytes of all sectors in which a view has samples, each once; columns: how many of them lie next to each other.
 * Nearly: where samples have gaps, only neighbours share sectors. */
double random_touched(const histo_view *view, int columns, int64_t sector);

/* The table and the JSON, written as problems are measured. */
void random_report_begin(const bench_random_options *options, const char *backend);
void random_report_problem(const bench_random_options *options, const random_verdict *v);
void random_report_end(const bench_random_options *options, const random_result *result);

#endif
