#include "bench/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/layout.h"
#include "bench/peer.h"

typedef struct racer racer;

typedef struct bench {
    const bench_race *race;
    const bench_device *device;
    const bench_input *input;
    bench_result *result;
    int axes;
    histo_axis axis[BENCH_MOST_AXES]; /* owned */
    double *edges;                    /* of a single axis, all of them */
    histo_lookup lookup[BENCH_MOST_AXES];
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
    histo_view views[BENCH_MOST_AXES], mask, weights;
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

enum { LEVELS = 5, LEVEL_BITS = 3, LEAST_SAMPLES = 1 << 14 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const bench_times *times)
{
    int middle = times->passes / 2;
    return times->passes % 2 ? times->us[middle] : (times->us[middle - 1] + times->us[middle]) / 2;
}

double bench_rate(const bench_score *score)
{
    return (double)score->samples / bench_median(&score->times);
}

double bench_roof_us(const bench_result *result)
{
    double us = bench_median(&result->roof);
    bool one = result->roof_one_thread.passes;
    return one ? fmin(us, bench_median(&result->roof_one_thread)) : us;
}

double bench_percent(const bench_result *result, const bench_score *score)
{
    return 100 * bench_rate(score) * bench_roof_us(result) / (double)result->samples;
}

static void sort_times(bench_times *times)
{
    qsort(times->us, (size_t)times->passes, sizeof *times->us, compare_doubles);
}

/* ---- One entry ---- */

/* Is a fill something whole, that smaller passes do not cut? */
static bool is_whole(const bench *b)
{
    return b->input->width;
}

static bool is_one_array(const racer *r)
{
    const bench_arrangement *it = &r->arranged;
    return !r->bench->input->layout || (it->batch == 1 && it->counted == it->stored && !it->masked && !it->pairs);
}

/* n samples of fill i of a pass, of all axes; those that are arranged are `arranged`. */
static void view_chunk(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                       histo_view views[BENCH_MOST_AXES])
{
    views[0] = b->input->layout ? bench_samples_at(arranged, b->placed) : (histo_view){.data = NULL};
    for (int a = 0; a < b->axes && !b->input->layout; a++)
        views[a] = bench_input_view(b->input, b->placed, b->chunk * b->fills, i * b->chunk, n, a);
}

/* That of fill i of a pass; the options point into it. */
static histo_fill_options make_filling(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                                       filling *f)
{
    view_chunk(b, arranged, i, n, f->views);
    f->mask = bench_mask_at(arranged, b->mask);
    f->weights = histo_view_1d(b->weights, b->input->weights, n);
    return (histo_fill_options){
        .mask = b->mask ? &f->mask : NULL, .weights = b->weights ? &f->weights : NULL, .pairs = arranged->pairs};
}

/* A plan for one fill of a new histogram, or that fill. */
static histo_status plan_chunk(const bench *b, const bench_arrangement *arranged, int64_t n,
                               const histo_plan_options *how, histo_hist **hist, histo_plan **plan)
{
    filling f;
    histo_fill_options fill = make_filling(b, arranged, 0, n, &f);
    histo_hist_options kind = {.batch = arranged->batch, .weighting = b->input->weighting};
    histo_status status = histo_hist_create(hist, b->axes, b->axis, &kind);
    return status == HISTO_OK ? histo_plan_create(plan, *hist, f.views, &fill, how) : status;
}

static histo_status fill_chunk(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                               const histo_plan *plan, histo_hist *hist, void *stream)
{
    filling f;
    histo_fill_options fill = make_filling(b, arranged, i, n, &f);
    fill.stream = stream;
    return histo_plan_fill(plan, hist, f.views, &fill);
}

static histo_status run_pass(void *context, void *stream)
{
    racer *r = context;
    histo_status status = HISTO_OK;
    r->passes++;
    if (r->peer) return r->peer->run(r->state, stream);
    for (int64_t i = 0; i < r->fills && status == HISTO_OK; i++)
        status = fill_chunk(r->bench, &r->arranged, i, r->chunk, r->plan, r->hist, stream);
    return status;
}

/* Give up on it, with the library's last sentence. What a peer cannot do is no failure of ours. */
static void drop(racer *r, bench_outcome outcome)
{
    r->score->outcome = r->peer ? BENCH_REFUSED : outcome;
    snprintf(r->score->reason, sizeof r->score->reason, "%s", histo_last_error());
}

static void forget(racer *r)
{
    histo_plan_destroy(r->plan);
    r->plan = NULL;
    histo_hist_destroy(r->hist);
    r->hist = NULL;
    if (r->state) r->peer->end(r->state);
    r->state = NULL;
    r->passes = 0;
}

static histo_status begin_peer(racer *r)
{
    const bench *b = r->bench;
    histo_fill_options fill = make_filling(b, &r->arranged, 0, r->chunk, &r->filling);
    r->task = (bench_task){.input = b->input,
                           .axis = b->axis,
                           .edges = b->edges,
                           .lookup = b->lookup,
                           .samples = r->filling.views[0].data,
                           .views = r->filling.views,
                           .mask = fill.mask,
                           .arranged = is_one_array(r) ? NULL : &r->arranged,
                           .weights = b->weights,
                           .count = r->chunk * r->fills,
                           .all = b->chunk * b->fills,
                           .threads = b->result->threads};
    if (r->task.arranged && !r->peer->arranges) return histo_fail(HISTO_UNSUPPORTED, "it counts one array");
    if (b->weights && !r->peer->weighs) return histo_fail(HISTO_UNSUPPORTED, "it sums no weights");
    return r->peer->begin(&r->task, &r->state);
}

/* An empty histogram and a plan. What a plan chooses is for the whole pass, also where that is too expensive. */
static histo_status begin_plan(racer *r)
{
    const bench *b = r->bench;
    const bench_race *race = b->race;
    bool chooses = r->score->entry == BENCH_PLAN;
    histo_plan_options how = {.device = b->device->device,
                              .strategy = chooses ? NULL : r->score->name,
                              .params = chooses ? NULL : race->params,
                              .threads = race->threads};
    histo_status status = plan_chunk(b, &r->arranged, chooses ? b->chunk : r->chunk, &how, &r->hist, &r->plan);
    if (status == HISTO_OK && chooses)
        snprintf(r->score->name, sizeof r->score->name, "%s", histo_plan_strategy(r->plan));
    return status;
}

/* Make ready for passes of a level. What a plan chose is for all histograms of a batch. */
static histo_status settle(racer *r, int level)
{
    const bench *b = r->bench;
    bool whole = is_whole(b), rearranged = b->input->layout && r->score->entry != BENCH_PLAN;
    forget(r);
    r->arranged = rearranged ? bench_arrange(b->input, b->wanted >> LEVEL_BITS * level) : b->arranged;
    if (r->arranged.pairs)
        r->arranged.view.strides[0] = b->arranged.view.strides[0]; /* the images stay where they are */
    r->chunk = b->input->layout ? r->arranged.counted : whole ? b->chunk : b->chunk >> LEVEL_BITS * level;
    r->fills = whole ? b->fills >> LEVEL_BITS * level : 1;
    return r->peer ? begin_peer(r) : begin_plan(r);
}

/* A pass there has some samples for each bin: else its time would be that of clearing and adding up. */
static int lowest_level(const bench *b)
{
    int level = 0;
    int64_t least = b->bins > LEAST_SAMPLES ? b->bins : LEAST_SAMPLES;
    int64_t shrinks = is_whole(b) ? b->fills : b->chunk / least;
    while (level < LEVELS - 1 && shrinks >> LEVEL_BITS * (level + 1) > 0)
        level++;
    return level;
}

/* The time of a pass of this level: the shorter of two, because the first may have things to set up. */
static histo_status try_level(racer *r, int level, double *us)
{
    const bench *b = r->bench;
    double again;
    histo_status status = settle(r, level);
    if (status != HISTO_OK) {
        bool cannot = status == HISTO_UNSUPPORTED || status == HISTO_INVALID;
        drop(r, cannot ? BENCH_REFUSED : BENCH_FAILED);
        return status;
    }
    status = b->device->time(run_pass, r, us);
    if (status == HISTO_OK && *us < b->race->budget_us / 2) {
        status = b->device->time(run_pass, r, &again);
        if (again < *us) *us = again;
    }
    if (status != HISTO_OK) drop(r, BENCH_FAILED);
    return status;
}

/* After this status a GPU does nothing any more: who brought it about is to be said. */
static histo_status stop_if_broken(const racer *r, histo_status status)
{
    if (status != HISTO_DEVICE) return HISTO_OK;
    char reason[sizeof r->score->reason];
    snprintf(reason, sizeof reason, "%s", histo_last_error());
    return histo_fail(HISTO_DEVICE, "%s: %s: %s", r->bench->input->name, r->score->name, reason);
}

/* Warm up, on ever more samples until a pass is a whole one or the next would be too expensive. */
static histo_status warm_up(racer *r)
{
    const bench *b = r->bench;
    double us = 0;
    for (int level = lowest_level(b); level >= 0; level--) {
        histo_status status = try_level(r, level, &us);
        if (status != HISTO_OK) return stop_if_broken(r, status);
        if (us * (1 << LEVEL_BITS) * b->race->repeat > b->race->budget_us) break;
    }
    double affordable = b->race->budget_us / (us + 1);
    r->repeat = affordable < 1 ? 1 : affordable < b->race->repeat ? (int)affordable : b->race->repeat;
    r->score->samples = r->chunk * r->fills;
    r->rate = (double)r->score->samples / us;
    return HISTO_OK;
}

/* What takes part in spite of this costs more time than it tells. */
static void drop_hopeless(const bench *b)
{
    double best = 0;
    for (int i = 0; i < b->result->scores; i++) {
        const racer *r = &b->racers[i];
        if (r->score->entry == BENCH_STRATEGY && r->score->outcome == BENCH_EXACT) best = fmax(best, r->rate);
    }
    for (int i = 0; i < b->result->scores; i++) {
        racer *r = &b->racers[i];
        if (r->score->entry != BENCH_STRATEGY || r->score->outcome != BENCH_EXACT) continue;
        if (r->rate * b->race->hopeless >= best) continue;
        histo_fail(HISTO_UNSUPPORTED, "given up: about %.0f times slower than the best", best / r->rate);
        drop(r, BENCH_SLOW);
        forget(r);
    }
}

/* ---- Turns ---- */

/* What a pass reads of each. */
static size_t bytes_of_samples(const bench *b)
{
    return bench_input_bytes(b->input, b->input->layout ? b->arranged.touched : b->chunk * b->fills);
}

static size_t bytes_of_mask(const bench *b)
{
    return b->mask ? bytes_of_samples(b) / histo_dtype_size(b->input->dtype) : 0;
}

static size_t bytes_of_weights(const bench *b)
{
    return b->weights ? (size_t)(b->chunk * b->fills) * histo_dtype_size(b->input->weights) : 0;
}

typedef struct reader {
    const bench *bench;
    int threads;
} reader;

static histo_status read_pass(void *context, void *stream)
{
    const reader *r = context;
    const bench *b = r->bench;
    const size_t bytes = bytes_of_samples(b);
    histo_status status = b->device->read(b->placed, bytes, r->threads, stream);
    if (status == HISTO_OK && b->mask) status = b->device->read(b->mask, bytes_of_mask(b), r->threads, stream);
    if (status != HISTO_OK || !b->weights) return status;
    return b->device->read(b->weights, bytes_of_weights(b), r->threads, stream);
}

static histo_status time_reading(const bench *b, int threads, bench_times *times)
{
    reader r = {b, threads};
    return b->device->time(read_pass, &r, &times->us[times->passes++]);
}

static histo_status take_turns(const bench *b)
{
    bench_result *result = b->result;
    histo_status status = HISTO_OK;
    for (int turn = 0; turn < b->race->repeat && status == HISTO_OK; turn++) {
        status = time_reading(b, result->threads, &result->roof);
        if (status == HISTO_OK && result->threads > 1) status = time_reading(b, 1, &result->roof_one_thread);
        for (int i = 0; i < result->scores && status == HISTO_OK; i++) {
            bench_times *times = &result->score[i].times;
            if (result->score[i].outcome != BENCH_EXACT || turn >= b->racers[i].repeat) continue;
            status = b->device->time(run_pass, &b->racers[i], &times->us[times->passes++]);
            if (status == HISTO_OK) continue;
            drop(&b->racers[i], BENCH_FAILED);
            status = stop_if_broken(&b->racers[i], status);
        }
    }
    return status;
}

/* ---- Counts ---- */

/* The oracle's counts of as many samples as one can wait for. */
static histo_status count_sequentially(const bench *b, int64_t n, uint64_t *counts, int64_t slots)
{
    size_t bytes = bench_input_bytes(b->input, n);
    histo_hist *hist;
    histo_plan *plan = NULL;
    char *host = malloc(bytes + 1);
    if (!host) return histo_fail_memory(bytes, "samples for the oracle");
    histo_view there[BENCH_MOST_AXES], here[BENCH_MOST_AXES];
    histo_status status = HISTO_OK;
    int pieces = b->input->interleaved ? 1 : b->axes;
    view_chunk(b, &b->arranged, 0, n, there);
    for (int a = 0; a < b->axes; a++) {
        here[a] = bench_input_view(b->input, host, n, 0, n, a);
        if (a < pieces && status == HISTO_OK)
            status = b->device->fetch((void *)here[a].data, there[a].data, bytes / (size_t)pieces);
    }
    if (status == HISTO_OK) status = histo_hist_create(&hist, b->axes, b->axis, NULL);
    if (status != HISTO_OK) {
        free(host);
        return status;
    }
    histo_plan_options how = {.device = HISTO_DEVICE_CPU, .strategy = "cpu/sequential"};
    status = histo_plan_create(&plan, hist, here, NULL, &how);
    if (status == HISTO_OK) status = histo_plan_fill(plan, hist, here, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_FLOW, counts, slots);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    free(host);
    return status;
}

/* By the strategy of the device that counts everything, one by one. */
static histo_status count_arranged(const bench *b, const bench_arrangement *arranged, uint64_t *counts, int64_t slots)
{
    bool gpu = b->device->device != HISTO_DEVICE_CPU;
    histo_plan_options how = {.device = b->device->device, .strategy = gpu ? "cuda/global_atomic" : "cpu/sequential"};
    histo_hist *hist = NULL;
    histo_plan *plan = NULL;
    histo_status status = plan_chunk(b, arranged, arranged->counted, &how, &hist, &plan);
    if (status == HISTO_OK) status = fill_chunk(b, arranged, 0, arranged->counted, plan, hist, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_FLOW, counts, slots);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return status;
}

static histo_status count_plainly(const bench *b, const bench_arrangement *arranged, int64_t n, uint64_t *counts,
                                  int64_t slots)
{
    histo_view views[BENCH_MOST_AXES];
    if (b->input->layout) return count_arranged(b, arranged, counts, slots);
    view_chunk(b, &b->arranged, 0, n, views);
    memset(counts, 0, (size_t)slots * sizeof *counts);
    return b->device->count(&(bench_counted){.axes = b->axes, .lookups = b->lookup, .views = views}, n, counts);
}

static histo_status sum_plainly(const bench *b, int64_t n, uint64_t *sums, int64_t slots)
{
    histo_view views[BENCH_MOST_AXES];
    view_chunk(b, &b->arranged, 0, n, views);
    memset(sums, 0, (size_t)slots * sizeof *sums);
    const bench_counted what = {b->axes, b->lookup, views, b->weights, b->input->weights};
    return b->device->count(&what, n, sums);
}

/* The sums of weights in BENCH_WEIGHT_UNIT. */
static histo_status read_sums(const histo_hist *hist, uint64_t *sums, int64_t slots)
{
    double *exact = malloc((size_t)slots * sizeof *exact);
    if (!exact) return histo_fail_memory((size_t)slots * sizeof *exact, "checking the sums");
    histo_status status = histo_hist_read_weights(hist, HISTO_FLOW, exact, NULL, slots);
    for (int64_t s = 0; s < slots && status == HISTO_OK; s++)
        sums[s] = (uint64_t)(exact[s] / BENCH_WEIGHT_UNIT);
    free(exact);
    return status;
}

/* The slot where the counts differ; -1 if they are equal. */
static int64_t difference(const uint64_t *counts, const uint64_t *wanted, uint64_t times, int64_t slots)
{
    for (int64_t s = 0; s < slots; s++)
        if (counts[s] != wanted[s] * times) return s;
    return -1;
}

/* The device's plain counting decides; on the first samples it is held against the sequential oracle. */
static histo_status check_oracle(const bench *b, uint64_t *counts, uint64_t *others, int64_t slots)
{
    enum { PATIENCE = 1 << 20 };
    if (b->input->layout) return HISTO_OK; /* counted by a strategy, which the tests compare with the oracle */
    int64_t n = b->chunk < PATIENCE ? b->chunk : PATIENCE;
    histo_status status = count_sequentially(b, n, counts, slots);
    if (status == HISTO_OK) status = count_plainly(b, &b->arranged, n, others, slots);
    if (status != HISTO_OK || difference(counts, others, 1, slots) < 0) return status;
    return histo_fail(HISTO_CORRUPT, "%s: the benchmark's own counts of the first samples are not the oracle's",
                      b->input->name);
}

/* The slot of a bin; histograms of a batch, of bins and of slots, are one behind the other. */
static int64_t slot_of(const bench *b, int64_t bin)
{
    int64_t slot = 0, stride = 1;
    for (int a = b->axes - 1; a >= 0; a--) {
        slot += (bin % b->axis[a].bins + 1) * stride;
        bin /= b->axis[a].bins;
        stride *= b->axis[a].bins + 3;
    }
    return slot + bin * stride;
}

static int64_t misplaced(const racer *r, const uint64_t *counts, const uint64_t *wanted, uint64_t times)
{
    const bench *b = r->bench;
    uint64_t sum = 0;
    for (int64_t i = 0; i < r->arranged.batch * b->bins; i++) {
        uint64_t expected = wanted[slot_of(b, i)] * times;
        sum += counts[i] > expected ? counts[i] - expected : expected - counts[i];
    }
    return (int64_t)(sum + 1) / 2;
}

enum { TOLERATED = 100 }; /* of so many samples, a peer may put one elsewhere, as where it rounds edges */

/* what: that once and counts are of: counts, or sums of weights; only the latter of a peer, if there are weights. */
static void compare(racer *r, const char *what, const uint64_t *once, uint64_t *counts, int64_t slots)
{
    bool sums = strcmp(what, "weights") == 0;
    if (r->score->outcome != BENCH_EXACT || (r->peer && r->bench->weights && !sums)) return;
    uint64_t fills = (uint64_t)r->fills, times = fills * (uint64_t)r->passes;
    histo_status status = r->peer ? r->peer->counts(r->state, counts)
                          : sums  ? read_sums(r->hist, counts, slots)
                                  : histo_hist_read_counts(r->hist, HISTO_FLOW, counts, slots);
    if (status != HISTO_OK) {
        drop(r, BENCH_FAILED);
        return;
    }
    if (r->peer) {
        int64_t lost = r->score->misplaced = misplaced(r, counts, once, fills);
        double all = (double)r->score->samples * (sums ? 0.5 / BENCH_WEIGHT_UNIT : 1);
        if ((double)lost <= all / TOLERATED) return;
        histo_fail(HISTO_UNSUPPORTED, "it counts wrong: %.3g %% of the %s", 100 * (double)lost / all, what);
        drop(r, BENCH_REFUSED);
        return;
    }
    int64_t s = difference(counts, once, times, slots);
    if (s < 0) return;
    histo_fail(HISTO_CORRUPT, "slot %lld has %llu of the %s instead of %llu", (long long)s,
               (unsigned long long)counts[s], what, (unsigned long long)(once[s] * times));
    drop(r, BENCH_WRONG);
}

/* All images of a pass are the same, and so are all its fills. Entries that fill with as many samples share the
 * counts wanted. */
static histo_status check_counts(const bench *b)
{
    int64_t most = b->slots * b->arranged.batch;
    uint64_t *once = calloc((size_t)most, 2 * sizeof *once), *counts = calloc((size_t)most, sizeof *counts);
    uint64_t *sums = once ? once + most : NULL;
    histo_status status = once && counts ? HISTO_OK : histo_fail_memory((size_t)most * 24, "checking the counts");
    if (status == HISTO_OK) status = check_oracle(b, once, counts, b->slots);
    for (int c = 0; c < b->result->scores && status == HISTO_OK; c++) {
        const bench_arrangement *arranged = &b->racers[c].arranged;
        int64_t chunk = b->racers[c].chunk, slots = b->slots * arranged->batch;
        bool ready = false;
        for (int d = c; d < b->result->scores && status == HISTO_OK; d++) {
            racer *r = &b->racers[d];
            if (r->score->outcome != BENCH_EXACT || r->checked || r->chunk != chunk) continue;
            if (!ready) status = count_plainly(b, arranged, chunk, once, slots);
            if (!ready && b->weights && status == HISTO_OK) status = sum_plainly(b, chunk, sums, slots);
            ready = r->checked = true;
            if (status == HISTO_OK) compare(r, "samples", once, counts, slots);
            if (status == HISTO_OK && b->weights) compare(r, "weights", sums, counts, slots);
        }
    }
    free(once);
    free(counts);
    return status;
}

/* ---- The race ---- */

static bool is_listed(const char *list, const char *name)
{
    const char *bare = strchr(name, '/') + 1;
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        bool whole = strncmp(list, name, length) == 0 && !name[length];
        if (length && (whole || (strncmp(list, bare, length) == 0 && !bare[length]))) return true;
    }
    return false;
}

static racer *add_entry(bench *b, bench_entry entry)
{
    bench_score *score = &b->result->score[b->result->scores];
    score->entry = entry;
    b->racers[b->result->scores] = (racer){.bench = b, .score = score};
    return &b->racers[b->result->scores++];
}

/* The strategies that were asked for, and what else takes part. */
static histo_status list_entries(bench *b)
{
    const bench_race *race = b->race;
    size_t most = (size_t)histo_strategy_count() + 1;
    for (int p = 0; b->device->peers[p]; p++)
        most++;
    histo_strategy_info info;
    b->result->score = calloc(most, sizeof *b->result->score);
    b->racers = calloc(most, sizeof *b->racers);
    if (!b->result->score || !b->racers) return histo_fail_memory(most * sizeof *b->result->score, "results");
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        char name[sizeof b->result->score->name];
        snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
        if (strcmp(info.backend, b->device->backend) != 0) continue;
        if (!race->strategies || is_listed(race->strategies, name))
            memcpy(add_entry(b, BENCH_STRATEGY)->score->name, name, sizeof name);
    }
    if (!b->result->scores)
        return histo_fail(HISTO_INVALID, "no strategy of %s is called %s: 'histo strategies' lists them",
                          b->device->backend, race->strategies);
    if (race->plan) add_entry(b, BENCH_PLAN);
    for (int p = 0; race->peers && b->device->peers[p]; p++) {
        racer *r = add_entry(b, BENCH_PEER);
        r->peer = b->device->peers[p];
        snprintf(r->score->name, sizeof r->score->name, "%s", r->peer->name);
    }
    return HISTO_OK;
}

static void find_best(bench_result *result)
{
    for (int i = 0; i < result->scores; i++) {
        bench_score *score = &result->score[i];
        sort_times(&score->times);
        if (score->outcome != BENCH_EXACT || score->entry != BENCH_STRATEGY) continue;
        if (!result->best || bench_rate(score) > bench_rate(result->best)) result->best = score;
    }
    sort_times(&result->roof);
    sort_times(&result->roof_one_thread);
}

static histo_status make_arranged(bench *b, int64_t wanted)
{
    static const bench_input of_mask = {.kind = BENCH_DISTINCT, .shape = 2, .dtype = HISTO_U8, .bins = 256};
    const histo_axis bytes = histo_axis_integer(0, 256);
    b->wanted = wanted;
    b->arranged = bench_arrange(b->input, wanted);
    b->chunk = b->result->samples = b->arranged.counted;
    histo_status status = b->device->make(b->input, b->axis, b->arranged.stored, &b->placed);
    if (status == HISTO_OK && b->arranged.masked)
        status = b->device->make(&of_mask, &bytes, b->arranged.counted, &b->mask);
    return status;
}

/* An array is made where its samples are to lie; images are drawn, and lie one behind the other. */
static histo_status make_samples(bench *b)
{
    enum { EVEN = 64 /* so that columns are aligned */ };
    const bench_input *input = b->input;
    size_t size = bench_input_bytes(input, 1);
    size_t wished = b->race->bytes ? (size_t)b->race->bytes : b->device->usual_bytes;
    int64_t wanted = b->race->samples ? b->race->samples : (int64_t)((wished + size - 1) / size);
    bool image = input->width;
    b->chunk = image ? input->width * input->height : wanted;
    b->fills = image && wanted > b->chunk ? wanted / b->chunk : 1;
    b->result->fills = b->fills;
    if (input->layout) return make_arranged(b, wanted);
    if (input->axes) b->chunk = (b->chunk + EVEN - 1) / EVEN * EVEN;
    b->result->samples = b->chunk * b->fills;
    if (!image) return b->device->make(input, b->axis, b->chunk, &b->placed);
    size_t bytes = (size_t)b->chunk * size, all = bytes * (size_t)b->fills;
    char *host = malloc(all);
    if (!host) return histo_fail_memory(all, "samples: ask for fewer");
    bench_input_make(input, b->axis, b->chunk, host);
    for (int64_t i = 1; i < b->fills; i++)
        memcpy(host + (size_t)i * bytes, host, bytes);
    histo_status status = b->device->place(host, all, &b->placed);
    free(host);
    return status;
}

static histo_status make_weights(bench *b)
{
    const bench_input weights = {.kind = BENCH_WEIGHTS, .dtype = b->input->weights};
    const histo_axis axis = histo_axis_regular(1, 0, 1);
    if (!b->input->weighting) return HISTO_OK;
    return b->device->make(&weights, &axis, b->chunk, &b->weights);
}

static histo_status make_axis(bench *b, int a, const histo_axis *axis)
{
    histo_status status = histo_axis_own(axis, &b->axis[a]);
    b->axes = a + 1;
    b->bins *= axis->bins;
    b->slots *= axis->bins + 3;
    return status == HISTO_OK ? histo_lookup_make(&b->lookup[a], &b->axis[a], b->input->dtype, false) : status;
}

static histo_status make_axes(bench *b)
{
    b->bins = b->slots = 1;
    histo_status status = HISTO_OK;
    for (int a = 0; a < b->input->axes && status == HISTO_OK; a++) {
        histo_axis axis = bench_joint_axis(b->input, a);
        status = make_axis(b, a, &axis);
    }
    if (b->input->axes) return status;
    size_t bytes = (size_t)(b->input->bins + 1) * sizeof *b->edges;
    b->edges = malloc(bytes);
    if (!b->edges) return histo_fail_memory(bytes, "edges");
    histo_axis axis = bench_input_axis(b->input, b->edges);
    status = make_axis(b, 0, &axis);
    return status == HISTO_OK ? histo_axis_edges(b->axis, b->edges) : status;
}

histo_status bench_race_run(const bench_race *race, bench_result *result)
{
    *result = (bench_result){.input = race->input, .threads = race->device->threads(race->threads)};
    bench b = {.race = race, .device = race->device, .input = race->input, .result = result, .arranged = {.batch = 1}};
    histo_status status = make_axes(&b);
    if (status == HISTO_OK) status = make_samples(&b);
    if (status == HISTO_OK) status = make_weights(&b);
    if (status == HISTO_OK) status = list_entries(&b);
    result->bytes = (int64_t)(bytes_of_samples(&b) + bytes_of_mask(&b) + bytes_of_weights(&b));
    for (int i = 0; i < result->scores && status == HISTO_OK; i++)
        status = warm_up(&b.racers[i]);
    if (status == HISTO_OK && race->hopeless > 0) drop_hopeless(&b);
    if (status == HISTO_OK) status = take_turns(&b);
    if (status == HISTO_OK) status = check_counts(&b);
    for (int i = 0; i < result->scores; i++)
        forget(&b.racers[i]);
    free(b.racers);
    if (b.placed) b.device->release(b.placed);
    if (b.weights) b.device->release(b.weights);
    if (b.mask) b.device->release(b.mask);
    for (int a = 0; a < b.axes; a++) {
        histo_lookup_free(&b.lookup[a]);
        histo_axis_disown(&b.axis[a]);
    }
    free(b.edges);
    if (status == HISTO_OK) find_best(result);
    return status;
}

void bench_result_free(bench_result *result)
{
    free(result->score);
    result->score = NULL;
}
