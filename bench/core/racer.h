/* The inside of a race: its input, and the entries that take turns. */
#ifndef BENCH_RACER_H
#define BENCH_RACER_H

#include "bench/core/layout.h"
#include "bench/core/race.h"
#include "bench/peers/peer.h"

typedef struct racer racer;

typedef struct bench {
    const bench_race *race;
    const bench_device *device;
    const bench_input *input;
    bench_result *result;
    int axes;
    histo_axis axis[BENCH_MAX_AXES]; /* owned */
    double *edges;                   /* of a single axis */
    int64_t bins, slots;             /* in all */
    const void *placed;
    bench_arrangement arranged; /* a whole fill of an input that is not one array; else only its batch of 1 is set */
    int64_t wanted;             /* samples of the whole fill, about */
    const void *mask, *weights; /* NULL if there are none */
    int64_t chunk;              /* samples of a fill: all, or one image */
    int64_t fills;              /* of a whole pass */
    racer *racers;              /* as many as the result has scores */
} bench;

/* What a fill counts: samples, their mask and their weights. */
typedef struct race_fill {
    histo_view views[BENCH_MAX_AXES], mask, weights;
} race_fill;

/* An entry of the race. Level l of a pass has 8^-l of its samples. */
struct racer {
    const bench *bench;
    bench_score *score;
    int64_t chunk, fills; /* of its level */
    bench_arrangement arranged;
    double rate; /* samples per microsecond, while warming up */
    int repeat;  /* timed passes that it can afford */
    int passes;  /* since the histogram was last empty */
    histo_plan *plan;
    histo_hist *hist;
    const bench_peer *peer; /* instead of a plan and a histogram; or NULL */
    race_fill filling;      /* and its task, which refers to this */
    bench_task task;
    void *state;
    bool checked; /* its counts were */
};

/* Views of n samples of fill i of a pass, for all axes. */
void bench_view_chunk(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                      histo_view views[BENCH_MAX_AXES]);

/* An empty histogram and a plan. The plan's choice is made for the whole pass, even where a whole pass is too expensive
 * to run. */
histo_status racer_begin_plan(racer *r);

/* Warm up on ever longer passes until a pass is whole or the next would be too expensive. An entry that cannot run is
 * dropped; after a failure nothing can be measured. */
histo_status racer_warm_up(racer *r);

/* One pass of a racer, as bench_work. */
histo_status racer_run_pass(void *context, void *stream);

/* Drop it, with the library's last message as the reason. What a peer cannot do is not a failure of ours. */
void racer_drop(racer *r, bench_outcome outcome);

/* After HISTO_DEVICE the GPU is unusable: that failure, naming the entry that caused it. Else HISTO_OK. */
histo_status racer_stop_if_broken(const racer *r, histo_status status);

/* Free its plan and histogram, or the peer's state. */
void racer_forget(racer *r);

/* Compare the counts and sums of weights of all entries with the reference, and drop entries that differ. */
histo_status bench_check_counts(const bench *b);

#endif
