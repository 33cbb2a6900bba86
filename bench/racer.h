/* The inside of a race: what is counted, and the entries that take their turns. */
#ifndef BENCH_RACER_H
#define BENCH_RACER_H

#include "bench/layout.h"
#include "bench/peer.h"
#include "bench/race.h"

typedef struct racer racer;

typedef struct bench {
    const bench_race *race;
    const bench_device *device;
    const bench_input *input;
    bench_result *result;
    int axes;
    histo_axis axis[BENCH_MAX_AXES]; /* owned */
    double *edges;                   /* of a single axis, all of them */
    histo_lookup lookup[BENCH_MAX_AXES];
    int64_t bins, slots; /* in all */
    const void *placed;
    bench_arrangement arranged; /* of an input that is not one array, a whole fill; else one histogram and no more */
    int64_t wanted;             /* samples, which the whole fill has about as many of */
    const void *mask, *weights; /* NULL if there are none */
    int64_t chunk;              /* samples of a fill: all, or one image */
    int64_t fills;              /* of a whole pass */
    racer *racers;              /* as many as the result has scores */
} bench;

/* What a fill counts: samples, and what they have beside them. */
typedef struct filling {
    histo_view views[BENCH_MAX_AXES], mask, weights;
} filling;

/* An entry that takes its turns. Level l of a pass has 8^-l of its samples. */
struct racer {
    const bench *bench;
    bench_score *score;
    int64_t chunk, fills; /* of its level */
    bench_arrangement arranged;
    double rate; /* when it warmed up: samples per microsecond */
    int repeat;  /* timed passes that it can afford */
    int passes;  /* since the histogram was empty */
    histo_plan *plan;
    histo_hist *hist;
    const bench_peer *peer; /* instead of a plan and a histogram; or NULL */
    filling filling;        /* and its task, which refers to this */
    bench_task task;
    void *state;
    bool checked; /* its counts */
};

/* n samples of fill i of a pass, of all axes; those that are arranged are `arranged`. */
void bench_view_chunk(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                      histo_view views[BENCH_MAX_AXES]);

/* A plan for one fill of a new histogram, and that fill. */
histo_status bench_plan_chunk(const bench *b, const bench_arrangement *arranged, int64_t n,
                              const histo_plan_options *how, histo_hist **hist, histo_plan **plan);
histo_status bench_fill_chunk(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                              const histo_plan *plan, histo_hist *hist, void *stream);

/* Make ready, on ever more samples until a pass is a whole one or the next would be too expensive. An entry that cannot
 * is dropped; a failure is one after which nothing can be measured. */
histo_status racer_warm_up(racer *r);

/* A pass: bench_work on a racer. */
histo_status racer_run_pass(void *context, void *stream);

/* Give up on it, with the library's last sentence. What a peer cannot do is no failure of ours. */
void racer_drop(racer *r, bench_outcome outcome);

/* After HISTO_DEVICE a GPU does nothing any more: that failure, with who brought it about; else HISTO_OK. */
histo_status racer_stop_if_broken(const racer *r, histo_status status);

/* Free its plan, its histogram and what a peer needs. */
void racer_forget(racer *r);

/* Compare the counts of all entries, and sums of weights, with those by the edges; who differs is dropped. */
histo_status bench_check_counts(const bench *b);

#endif
