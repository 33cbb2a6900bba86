/* Counting the samples of files into a result. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H

#include "count/axes/axes.h"
#include "count/result.h"
#include "options/settings.h"

/* Count the samples that s describes into r. */
int count_files(const settings *s, moments_kind moments, result *r, fault *f);

/* Saves a run, so that it can be continued. */
typedef struct run run;
typedef struct run_checkpointer {
    /* Add the histograms of an earlier process to the result, and restore its position in the feed and its series: 1, 0
     * if there is nothing to continue, -1. */
    int (*load)(void *self, run *r, fault *f);
    /* Save all of this, between two pieces. */
    int (*save)(void *self, run *r, fault *f);
    void *self;
} run_checkpointer;

/* Processes that count the samples of one run with the same settings, taking its shards one after the other. All
 * processes call the same functions in the same order, except `take` and `pause`. */
typedef struct run_team {
    /* 0 if no process has failed, else -1 with the same fault on all. */
    int (*agree)(void *self, int failed, fault *f);
    /* Begin a pass over all shards, and end it, also if this process has failed. */
    void (*begin_pass)(void *self);
    void (*end_pass)(void *self);
    /* The next shard that no process has taken, from 0; at least settings->shards if there is none. */
    int64_t (*take)(void *self);
    /* Between two pieces: let messages from other processes arrive. */
    void (*pause)(void *self);
    /* At the end of a pass: merge the findings of all processes. */
    int (*merge_search)(void *self, axis_search *search, fault *f);
    /* At the end: give the first process everything that was counted. */
    int (*merge_counts)(void *self, run *r, fault *f);
    bool first; /* this is the first process */
    void *self;
} run_team;

/* count_files for such a process. */
int count_together(const settings *s, moments_kind moments, const run_team *team, result *r, fault *f);

/* count_files with a checkpointer, which is asked once for earlier results, and to save after every piece. */
int count_with_checkpoints(const settings *s, moments_kind moments, const run_checkpointer *checkpointer, result *r,
                           fault *f);

/* Count each source i of the samples into a histogram on axes[i], or on the only one. */
int count_on(const settings *s, const histo_axis *axes, int naxes, result *r, fault *f);

#endif
