#include "count/parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/failure.h"
#include "base/progress.h"

/* In bytes of files; decoded or parsed bytes take longer. */
enum { SMALLEST_PART = 4 << 20, SMALLEST_DECODED = 1 << 19, LARGEST_PART = 64 << 20, PARTS_A_THREAD = 32 };

/* Each fill of a band adds all of a thread's counters to the histogram. */
enum { MOST_SLOTS_IN_CACHE = 1 << 15 };

static const double most_bytes = 1 << 28; /* for the histograms of all threads */

/* Where a part of text begins and ends; -1 where that is certain. */
typedef struct seam {
    int begin_file, end_file;
    int64_t begin, end;
} seam;

typedef struct pass_of_parts {
    const run *whole;
    const feed_visitor *visitor;
    division division;
    int64_t first, end; /* the parts of the run's shard */
    atomic_llong next;
    atomic_llong failed; /* the first part that failed, or the end */
    atomic_int running;  /* number of running threads */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    leftovers *left; /* [files] */
    seam *seams;     /* [parts] */
} pass_of_parts;

typedef struct worker {
    pass_of_parts *pass;
    settings settings; /* of one thread */
    run run;
    result result;
    fault fault;
    int64_t part; /* the part that failed */
    pthread_t thread;
} worker;

/* ---- A thread ------------------------------------------------------------------------------------------- */

static seam *seam_of(const worker *w)
{
    return &w->pass->seams[w->run.feed.shard - w->pass->first];
}

static int enter(void *self, int file, const samples *in, fault *f)
{
    worker *w = self;
    seam *s = seam_of(w);
    if (s->begin_file < 0) {
        s->begin_file = file;
        s->begin = samples_at(in).unit > 0 ? samples_guess(in) : -1;
    }
    return w->pass->visitor->enter(&w->run, file, in, f);
}

static int take(void *self, int file, const piece *p, fault *f)
{
    worker *w = self;
    return w->pass->visitor->take(&w->run, file, p, f);
}

static int leave(void *self, int file, const samples *in, fault *f)
{
    (void)f;
    worker *w = self;
    const leftovers left = samples_leftovers(in);
    leftovers *all = &w->pass->left[file];
    seam_of(w)->end_file = file;
    seam_of(w)->end = samples_guess(in);
    pthread_mutex_lock(&w->pass->lock);
    all->bad += left.bad;
    all->missing += left.missing;
    all->ragged += left.ragged;
    all->pages_in_file = left.pages_in_file;
    all->copies = left.copies;
    all->first_only = left.first_only;
    all->comments = left.comments;
    all->note = left.note;
    pthread_mutex_unlock(&w->pass->lock);
    return 0;
}

/* Parts are taken in order, so all parts before a failed one are counted. */
static void fail_at(worker *w, int64_t part)
{
    long long first = w->pass->failed;
    w->part = part;
    while (part < first && !atomic_compare_exchange_weak(&w->pass->failed, &first, part))
        continue;
}

static void *count_parts(void *self)
{
    worker *w = self;
    pass_of_parts *pass = w->pass;
    const feed_visitor visitor = {.enter = enter, .take = take, .leave = leave, .self = w};
    while (w->fault.status == EXIT_OK) {
        w->run.feed.shard = pass->next++;
        if (w->run.feed.shard >= pass->failed) break;
        if (feed_visit(&w->run.feed, &visitor, &w->fault) != 0) fail_at(w, w->run.feed.shard);
    }
    pthread_mutex_lock(&pass->lock);
    pass->running--;
    pthread_cond_signal(&pass->ended);
    pthread_mutex_unlock(&pass->lock);
    return NULL;
}

/* A run like the main one, with its own feed, dtypes, plans and result. */
static int make_worker(worker *w, pass_of_parts *pass, fault *f)
{
    const run *whole = pass->whole;
    w->pass = pass;
    w->settings = *whole->settings;
    w->settings.quiet = w->settings.read.in_parts = true;
    w->settings.verbose = false;
    w->settings.threads = 1;
    w->settings.shards = 0;
    w->run = *whole;
    w->run.settings = &w->settings;
    w->run.result = &w->result;
    if (whole->whole || whole->found_sums) w->run.moments = MOMENTS_NONE;
    w->run.counting_s = w->run.bytes = 0;
    w->run.sources = calloc((size_t)whole->count, sizeof *w->run.sources);
    if (feed_open(&w->run.feed, &w->settings, false, f) != 0) return -1;
    w->run.feed.forms = whole->feed.forms;
    w->run.feed.columns = whole->feed.columns;
    w->run.feed.settled = true;
    w->run.feed.division = pass->division;
    if (!w->run.sources) return fault_set(f, EXIT_DATA, "no memory for another thread");
    for (int i = 0; i < whole->count; i++)
        w->run.sources[i] = (run_source){.name = whole->sources[i].name, .dtype = whole->sources[i].dtype};
    if (whole->settings->by && groups_make(&w->run.groups, whole->group_count, whole->count, f) != 0) return -1;
    return 0;
}

static void free_worker(worker *w)
{
    for (int i = 0; i < w->run.count && w->run.sources; i++)
        histo_plan_destroy(w->run.sources[i].plan);
    free(w->run.sources);
    if (w->run.groups.ends != w->pass->whole->groups.ends) groups_free(&w->run.groups);
    w->run.feed.division = (division){0};
    feed_close(&w->run.feed);
    result_free(&w->result);
}

/* ---- The pass ------------------------------------------------------------------------------------------- */

static double slots_of(const run *r)
{
    double slots = 0;
    for (int i = 0; i < r->result->count; i++)
        slots += (double)histo_hist_size(r->result->series[i].hist, HISTO_FLOW);
    return slots;
}

bool parts_suit(const run *r)
{
    const settings *s = r->settings;
    if (r->checkpointer || s->pairs || s->segments || s->batch || s->per_file || s->sparse || s->measure || s->vary ||
        s->compile || s->strategy || s->params)
        return false;
    if ((r->moments == MOMENTS_ALL && !r->whole) || (s->weights && !s->reproducible)) return false;
    const samples *first = r->feed.files[0].open;
    if (!first) return false;
    if (s->shards > 1 && samples_reader(first)->rows) return false; /* the beginning of its rows must be certain */
    const double slots = slots_of(r);
    if (r->surveyed && (r->feed.count == 1 || feed_keeps_all(&r->feed))) return false;
    if (samples_reader(first)->maps) return !r->surveyed && slots <= MOST_SLOTS_IN_CACHE;
    return histo_threads() > 1 && (r->feed.count > 1 || samples_units(first) > 1) &&
           slots * sizeof(uint64_t) * histo_threads() <= most_bytes;
}

/* Divide the run's shard into parts; false if the files cannot be divided, or are small. */
static bool divide(pass_of_parts *pass, const run *r, int threads)
{
    fault ignored = {0};
    const settings *s = r->settings;
    const int64_t shards = s->shards ? s->shards : 1;
    if (division_make(&pass->division, s->files, s->files_count, shards, &ignored) != 0) return false;
    const int64_t bytes = pass->division.begins[s->files_count] / shards;
    const int64_t smallest = samples_reader(r->feed.files[0].open)->maps ? SMALLEST_PART : SMALLEST_DECODED;
    int64_t part = bytes / threads / PARTS_A_THREAD;
    if (bytes < smallest) return false;
    part = part < smallest ? smallest : part > LARGEST_PART ? LARGEST_PART : part;
    const int64_t parts = bytes / part;
    pass->division.shards = shards * parts;
    pass->first = s->shard * parts;
    pass->end = pass->first + parts;
    pass->next = pass->first;
    pass->failed = pass->end;
    return true;
}

/* Show progress until all threads have ended. */
static void wait_for_all(pass_of_parts *pass)
{
    const int64_t bytes = pass->division.begins[pass->division.files] / pass->division.shards;
    pthread_mutex_lock(&pass->lock);
    while (pass->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pass->ended, &pass->lock, &until);
        progress_update((pass->next - pass->first) * bytes, (pass->end - pass->first) * bytes);
    }
    pthread_mutex_unlock(&pass->lock);
}

/* Whether every part of a text begins where the one before it ended. What precedes the first one is in another
 * shard. */
static bool seams_hold(const pass_of_parts *pass)
{
    bool hold = pass->seams[0].begin < 0;
    for (int64_t i = 1; i < pass->end - pass->first; i++) {
        const seam *before = &pass->seams[i - 1], *s = &pass->seams[i];
        hold = hold && (s->begin < 0 || (before->end_file == s->begin_file && before->end == s->begin));
    }
    return hold;
}

static bool has_guessed(const pass_of_parts *pass)
{
    bool any = false;
    for (int64_t i = 0; i < pass->end - pass->first; i++)
        any = any || pass->seams[i].begin >= 0;
    return any;
}

static int merge(run *r, const worker *w, fault *f)
{
    for (int i = 0; i < w->result.count; i++) {
        series *to = &r->result->series[i], *from = &w->result.series[i];
        if (histo_hist_merge(to->hist, from->hist) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, feed_name(&r->feed, 0));
        for (int a = 0; a < r->naxes && from->sums; a++)
            if (histo_power_sums_merge(&to->sums[a], &from->sums[a]) != HISTO_OK)
                return fault_of_library(f, EXIT_DATA, feed_name(&r->feed, 0));
    }
    r->bytes += w->run.bytes;
    return 0;
}

/* The failure of the first part, or the sum: 1, 0 if a guess may have been wrong, -1. */
static int gather(run *r, pass_of_parts *pass, worker *workers, int count, fault *f)
{
    if (pass->failed < pass->end ? has_guessed(pass) : !seams_hold(pass)) return 0;
    for (int i = 0; i < count; i++)
        if (workers[i].fault.status != EXIT_OK && workers[i].part == pass->failed)
            return fault_set(f, workers[i].fault.status, "%s", workers[i].fault.text);
    for (int i = 0; i < count; i++)
        if (merge(r, &workers[i], f) != 0) return -1;
    for (int i = 0; i < r->feed.count; i++)
        leftovers_remark(&pass->left[i], feed_name(&r->feed, i), r->settings);
    for (int i = 0; i < count && !r->sources[0].plan; i++) { /* to report what ran */
        r->sources[0].plan = workers[i].run.sources[0].plan;
        workers[i].run.sources[0].plan = NULL;
    }
    return 1;
}

/* 1, 0 if it must be done in another way, -1. */
static int count_by(run *r, pass_of_parts *pass, worker *workers, int count, fault *f)
{
    int made = 0, failed = 0, done = -1;
    for (; made < count && !failed; made++)
        failed = make_worker(&workers[made], pass, f);
    const double begun = progress_seconds();
    pass->running = failed ? 0 : count;
    progress_start("counting", r->settings->quiet);
    for (int i = 0; i < count && !failed; i++)
        if (count == 1 || pthread_create(&workers[i].thread, NULL, count_parts, &workers[i]) != 0) {
            workers[i].thread = pthread_self();
            count_parts(&workers[i]);
        }
    wait_for_all(pass);
    for (int i = 0; i < count && !failed; i++)
        if (!pthread_equal(workers[i].thread, pthread_self())) pthread_join(workers[i].thread, NULL);
    progress_end();
    if (!failed) done = gather(r, pass, workers, count, f);
    r->counting_s = done > 0 ? progress_seconds() - begun : 0;
    r->threads = done > 0 ? count : 0;
    for (int i = 0; i < made; i++)
        free_worker(&workers[i]);
    return done;
}

int parts_visit(run *r, const feed_visitor *visitor, fault *f)
{
    int threads = r->settings->threads ? r->settings->threads : histo_threads();
    pass_of_parts pass = {.whole = r, .visitor = visitor};
    if (!divide(&pass, r, threads)) {
        division_free(&pass.division);
        return feed_visit(&r->feed, visitor, f);
    }
    if (threads > pass.end - pass.first) threads = (int)(pass.end - pass.first);
    worker *workers = calloc((size_t)threads, sizeof *workers);
    pass.left = calloc((size_t)r->feed.count, sizeof *pass.left);
    pthread_mutex_init(&pass.lock, NULL);
    pthread_cond_init(&pass.ended, NULL);
    pass.seams = malloc((size_t)(pass.end - pass.first) * sizeof *pass.seams);
    for (int64_t i = 0; i < pass.end - pass.first && pass.seams; i++)
        pass.seams[i] = (seam){-1, -1, -1, -1};
    int done = workers && pass.left && pass.seams ? count_by(r, &pass, workers, threads, f)
                                                  : fault_set(f, EXIT_DATA, "no memory for %d threads", threads);
    pthread_cond_destroy(&pass.ended);
    pthread_mutex_destroy(&pass.lock);
    free(workers);
    free(pass.left);
    free(pass.seams);
    division_free(&pass.division);
    if (done) return done > 0 ? 0 : -1;
    run_forget_order(r);
    return feed_visit(&r->feed, visitor, f);
}
