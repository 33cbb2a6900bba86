/* Running an experiment: which contenders race, and what each series reached. */
#include "papers/experiments/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/race.h"
#include "papers/experiments/gallery.h"
#include "papers/experiments/kernels.h"

static const struct {
    const char *name;
    const bench_peer *peer;
} kernels[] = {
    {"cpu/race", &papers_race_cpu},
#ifdef BENCH_CUDA
    {"cuda/race", &papers_race_cuda},
    {"cuda/constant_tile", &papers_constant_tile},
#endif
};

const bench_peer *papers_peer(const papers_series *s)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, s->contender.name) == 0) return kernels[i].peer;
    return NULL;
}

/* A contender at a point, and what it reached. */
typedef struct measurement {
    char input[112];
    int64_t samples;
    bench_placement placement;
    bench_contender contender;
    papers_cell cell;
} measurement;

static struct {
    measurement *of;
    int count, room;
} taken; /* by this process */

static measurement *find_measurement(const measurement *wanted)
{
    for (int i = 0; i < taken.count; i++) {
        measurement *m = &taken.of[i];
        if (m->samples == wanted->samples && m->placement == wanted->placement &&
            strcmp(m->input, wanted->input) == 0 && strcmp(m->contender.name, wanted->contender.name) == 0 &&
            strcmp(m->contender.params, wanted->contender.params) == 0)
            return m;
    }
    return NULL;
}

/* NULL without memory. */
static measurement *add_measurement(const measurement *m)
{
    if (taken.count == taken.room) {
        const int room = 2 * taken.room + 256;
        measurement *of = realloc(taken.of, (size_t)room * sizeof *of);
        if (!of) return NULL;
        taken.of = of;
        taken.room = room;
    }
    taken.of[taken.count] = *m;
    return &taken.of[taken.count++];
}

/* Combination c of a series at a point; false if there are fewer. */
static bool combination_of(const papers_result *r, int point, int series, int c, measurement *m)
{
    const papers_series *s = &r->series[series];
    const papers_point *p = &r->point[point];
    *m = (measurement){.samples = p->samples,
                       .placement = s->placement,
                       .contender = {.peer = papers_peer(s)},
                       .cell = {.value = (double)NAN, .rate = (double)NAN}};
    memcpy(m->input, p->input.name, sizeof m->input);
    memcpy(m->contender.name, s->contender.name, sizeof m->contender.name);
    char *params = m->contender.params;
    if (!bench_combination(s->contender.params, c, params, sizeof m->contender.params)) return false;
    const size_t used = strlen(params);
    if (*p->params && papers_on_gpu(s))
        snprintf(params + used, sizeof m->contender.params - used, "%s%s", used ? "," : "", p->params);
    return true;
}

static void take_score(const bench_score *score, papers_cell *c)
{
    const char *const why = score->outcome == BENCH_EXACT ? "" : score->reason;
    snprintf(c->reason, sizeof c->reason, "%.159s", why);
    c->wrong = score->outcome == BENCH_FAILED || score->outcome == BENCH_WRONG;
    if (score->outcome != BENCH_EXACT) return;
    c->rate = bench_rate(score) * 1e-3;
    c->samples = score->samples;
    if (score->entry == BENCH_PLAN) memcpy(c->chosen, score->name, sizeof score->name);
}

enum { MAX_RACING = 256 };

/* All combinations, of all series that share the device and placement of series `first`, that nobody has measured yet:
 * side by side. */
static histo_status race(papers_result *r, int point, int first, const papers_options *o)
{
    const papers_series *as = &r->series[first];
    static bench_contender contenders[MAX_RACING];
    int which[MAX_RACING], count = 0;
    for (int s = 0; s < r->series_count; s++) {
        const papers_series *other = &r->series[s];
        if (!other->measured || papers_on_gpu(other) != papers_on_gpu(as) || other->placement != as->placement)
            continue;
        if (s < first) return HISTO_OK; /* measured with that one */
        measurement m;
        for (int c = 0; count < MAX_RACING && combination_of(r, point, s, c, &m); c++) {
            if (find_measurement(&m)) continue;
            if (!add_measurement(&m)) return histo_fail_memory(sizeof m, "measurements");
            which[count] = taken.count - 1;
            contenders[count] = m.contender;
            if (strcmp(strchr(m.contender.name, '/') + 1, "plan") == 0)
                snprintf(contenders[count].name, sizeof contenders[count].name, "plan");
            count++;
        }
    }
    if (!count) return HISTO_OK;
    bench_race of = {.device = papers_device_of(as, o),
                     .input = &r->point[point].input,
                     .samples = r->point[point].samples,
                     .bytes = o->common.bytes,
                     .repeat = o->common.repeat  ? o->common.repeat
                               : o->common.quick ? 3
                                                 : 5,
                     .threads = o->common.threads,
                     .contenders = contenders,
                     .contender_count = count};
    of.budget_us = of.device->default_budget_us / (o->common.quick ? 10 : 1);
    if (o->common.quick && !of.samples && !of.bytes) of.bytes = (int64_t)of.device->quick_bytes;
    bench_result result;
    histo_status status = bench_race_run(&of, &result);
    for (int i = 0; i < count && status == HISTO_OK; i++)
        take_score(&result.score[i], &taken.of[which[i]].cell);
    bench_result_free(&result);
    return status;
}

/* The fastest combination of a series, or why none counts. */
static void take_best(papers_result *r, int point, int series)
{
    papers_cell *c = &r->cell[point][series];
    const double was_published = c->published;
    measurement m;
    int combinations = 0;
    for (; combination_of(r, point, series, combinations, &m); combinations++) {
        const measurement *same = find_measurement(&m);
        if (!same) continue;
        const bool wrong = c->wrong || same->cell.wrong; /* one wrong count is one too many */
        if (combinations == 0 || same->cell.rate > c->rate || isnan(c->rate)) *c = same->cell;
        if (combinations && c->rate == same->cell.rate)
            memcpy(c->chosen, m.contender.params, sizeof m.contender.params);
        c->wrong = wrong;
    }
    c->published = was_published;
    c->value = c->rate;
}

static histo_status measure(papers_result *r, int point, const papers_options *o)
{
    const papers_measure measured = r->experiment->measure;
    histo_status status = HISTO_OK;
    if (measured == PAPERS_CONFLICTS) return papers_find_conflicts(r, point, o);
    if (measured == PAPERS_DRAWN) return papers_draw(r, point, o);
    for (int s = 0; s < r->series_count && status == HISTO_OK; s++) {
        if (!r->series[s].measured) continue;
        const bench_device *device = papers_device_of(&r->series[s], o);
        if (measured == PAPERS_LOST)
            status = papers_count_lost(r, point, s, device, o);
        else if (measured == PAPERS_OVERFLOWS)
            status = papers_find_overflows(r, point, s, device, o);
        else
            status = race(r, point, s, o);
    }
    if (measured == PAPERS_LOST || measured == PAPERS_OVERFLOWS) return status;
    for (int s = 0; s < r->series_count && status == HISTO_OK; s++)
        if (r->series[s].measured) take_best(r, point, s);
    const double first = r->cell[point][0].rate;
    for (int s = 0; s < r->series_count && measured == PAPERS_RELATIVE; s++)
        r->cell[point][s].value = r->cell[point][s].rate / first;
    return status;
}

histo_status papers_run(const papers_experiment *e, const papers_options *o, papers_result *r)
{
    histo_status status = papers_plan(e, o, r);
    const int points = r->points;
    bool any = false;
    for (int s = 0; s < r->series_count; s++)
        any |= r->series[s].measured;
    for (r->points = 0; r->points < points && any && status == HISTO_OK; r->points++) {
        if (bench_is_over(&o->common.budget, o->begun_s)) break;
        status = measure(r, r->points, o);
        if (status != HISTO_OK) break;
    }
    r->left = points - r->points;
    return status;
}
