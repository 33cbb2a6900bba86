/* What was found about a random problem. */
#ifndef BENCH_RANDOM_VERDICT_H
#define BENCH_RANDOM_VERDICT_H

#include "bench/random/random_problem.h"

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

enum { RANDOM_ENTRIES = 64, RANDOM_PEERS = 8, RANDOM_PASSES = 101 };

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

#endif
