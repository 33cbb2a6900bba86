#include "papers/experiments/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "papers/experiments/conflicts.h"

static const papers_experiment experiments[] = {
#define EXPERIMENT(paper, kind, number, title, measure, inputs, bins, samples, series, claim)                          \
    {#paper, kind, number, title, PAPERS_##measure, inputs, bins, samples, series, claim},
#define PUBLISHED(paper, kind, number, input, series, value)
#include "papers/experiments/papers.def"
#undef EXPERIMENT
#undef PUBLISHED
};

static const struct {
    const char *paper, *kind, *number, *input, *series;
    double value;
} published[] = {
#define EXPERIMENT(paper, kind, number, title, measure, inputs, bins, samples, series, claim)
#define PUBLISHED(paper, kind, number, input, series, value) {#paper, kind, number, input, series, value},
#include "papers/experiments/papers.def"
#undef EXPERIMENT
#undef PUBLISHED
};

enum {
    EXPERIMENTS = sizeof experiments / sizeof experiments[0],
    VALUES = sizeof published / sizeof published[0],
    QUICK_SAMPLES = 1 << 20
};

const papers_experiment *papers_at(int i)
{
    return i < EXPERIMENTS ? &experiments[i] : NULL;
}

/* True for each of an experiment's numbers, such as 6 of "5 and 6". */
static bool has_number(const papers_experiment *e, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (const char *at = e->number; at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strncmp(at, wanted, length) == 0 && (at[length] == ' ' || !at[length])) return true;
    }
    return false;
}

bool papers_selected(const papers_experiment *e, const char *paper, const char *figure, const char *table)
{
    if (paper && strcmp(e->paper, paper) != 0) return false;
    if (!figure && !table) return true;
    if (figure && strcmp(e->kind, "figure") == 0 && has_number(e, figure)) return true;
    return table && strcmp(e->kind, "table") == 0 && has_number(e, table);
}

/* ---- The table's texts ---- */

/* The next part of a list, without blanks around it; false at the end. */
static bool next_item(const char **list, char divider, char *item, size_t size)
{
    *list += strspn(*list, " ");
    if (!bench_next_item(list, divider, item, size)) return false;
    for (size_t length = strlen(item); length && item[length - 1] == ' ';)
        item[--length] = '\0';
    return true;
}

/* 4096 or 2^12. */
static int64_t number_of(const char *text)
{
    return strncmp(text, "2^", 2) == 0 ? INT64_C(1) << strtol(text + 2, NULL, 10) : strtoll(text, NULL, 10);
}

/* "256,1024" and "256..4096", which is doubled. */
static int parse_numbers(const char *list, int64_t *numbers, int most)
{
    char item[48];
    int count = 0;
    while (next_item(&list, ',', item, sizeof item)) {
        const char *dots = strstr(item, "..");
        int64_t last = number_of(dots ? dots + 2 : item);
        for (int64_t n = number_of(item); n <= last && count < most; n *= 2)
            numbers[count++] = n;
    }
    return count;
}

/* "LABEL: BACKEND/STRATEGY[@pinned] [PARAMETERS]" */
static void parse_series(const char *text, papers_series *to)
{
    const char *rest = text;
    char words[160], name[80] = "";
    *to = (papers_series){.placement = BENCH_RESIDENT};
    next_item(&rest, ':', to->label, sizeof to->label);
    next_item(&rest, '\n', words, sizeof words);
    rest = words;
    next_item(&rest, ' ', name, sizeof name);
    next_item(&rest, ' ', to->contender.params, sizeof to->contender.params);
    char *at = strchr(name, '@');
    if (at) {
        *at = '\0';
        to->placement = BENCH_PINNED;
    }
    snprintf(to->contender.name, sizeof to->contender.name, "%.63s", name);
}

static void add_point(papers_result *r, const bench_input *input, int64_t samples)
{
    if (r->points == PAPERS_MAX_POINTS) return;
    for (int i = 0; i < r->points; i++)
        if (strcmp(r->point[i].input.name, input->name) == 0 && r->point[i].samples == samples) return;
    r->point[r->points++] = (papers_point){*input, samples};
}

/* An input with each number of samples. */
static histo_status add_input(papers_result *r, const papers_options *o, const char *name)
{
    int64_t own[PAPERS_MAX_POINTS];
    const int64_t *samples = o->samples;
    int count = o->samples_count;
    bench_input input;
    histo_status status = bench_input_parse(name, &input);
    if (!count) {
        count = parse_numbers(r->experiment->samples, own, PAPERS_MAX_POINTS);
        samples = own;
    }
    if (status == HISTO_OK && (!count || input.width)) add_point(r, &input, 0);
    for (int i = 0; i < count && status == HISTO_OK && !input.width; i++)
        add_point(r, &input,
                  o->common.quick && samples == own && samples[i] > QUICK_SAMPLES ? QUICK_SAMPLES : samples[i]);
    return status;
}

static histo_status plan_points(papers_result *r, const papers_options *o)
{
    const papers_experiment *e = r->experiment;
    int64_t own[PAPERS_MAX_POINTS];
    const int64_t *bins = o->bins_count ? o->bins : own;
    const int count = o->bins_count ? o->bins_count : parse_numbers(e->bins, own, PAPERS_MAX_POINTS);
    const char *list = e->inputs;
    char item[112], name[160];
    histo_status status = HISTO_OK;
    while (status == HISTO_OK && next_item(&list, ',', item, sizeof item)) {
        char *hash = strchr(item, '#');
        if (!hash) {
            status = add_input(r, o, item);
            continue;
        }
        *hash = '\0';
        for (int b = 0; b < count && status == HISTO_OK; b++) {
            snprintf(name, sizeof name, "%s%lld", item, (long long)bins[b]);
            status = add_input(r, o, name);
        }
    }
    return status;
}

static bool is_on_gpu(const papers_series *s)
{
    return strncmp(s->contender.name, "cuda/", 5) == 0;
}

static const bench_device *device_of(const papers_series *s, const papers_options *o)
{
    if (!is_on_gpu(s))
        return s->baseline || o->common.device < HISTO_DEVICE_CUDA(0)
                   ? bench_device_find(HISTO_DEVICE_CPU, BENCH_RESIDENT)
                   : NULL;
    if (o->common.device == HISTO_DEVICE_CPU) return NULL;
    const bench_device *found = bench_device_find(o->common.device, s->placement);
    return found && found->device != HISTO_DEVICE_CPU ? found : NULL;
}

histo_status papers_plan(const papers_experiment *e, const papers_options *o, papers_result *r)
{
    static const char *const of_host[][4] = {
        [PAPERS_CONFLICTS] = {"turns", "deviation", NULL},
        [PAPERS_DRAWN] = {"occupied bins", "fullest bin, %", "middle eighth, %", NULL}};
    const bool host = e->measure == PAPERS_CONFLICTS || e->measure == PAPERS_DRAWN;
    *r = (papers_result){.experiment = e};
    const char *list = e->series;
    char item[240];
    while (r->series_count < PAPERS_MAX_SERIES && next_item(&list, ';', item, sizeof item)) {
        papers_series *s = &r->series[r->series_count++];
        parse_series(item, s);
        s->baseline = r->series_count == 1 && (e->measure == PAPERS_RELATIVE || e->measure == PAPERS_WINNERS);
        s->measured = device_of(s, o) != NULL;
    }
    for (int i = 0; host && of_host[e->measure][i]; i++) {
        papers_series *s = &r->series[r->series_count++];
        snprintf(s->label, sizeof s->label, "%s", of_host[e->measure][i]);
        s->measured = true;
    }
    histo_status status = plan_points(r, o);
    for (int p = 0; p < r->points; p++)
        for (int s = 0; s < r->series_count; s++) {
            papers_cell *c = &r->cell[p][s];
            c->value = c->rate = c->published = (double)NAN;
            for (int v = 0; v < VALUES; v++)
                if (strcmp(published[v].paper, e->paper) == 0 && strcmp(published[v].kind, e->kind) == 0 &&
                    strcmp(published[v].number, e->number) == 0 &&
                    strcmp(published[v].input, r->point[p].input.name) == 0 &&
                    strcmp(published[v].series, r->series[s].label) == 0)
                    c->published = published[v].value;
        }
    return status;
}

/* ---- Measuring ---- */

static void take_score(const bench_score *score, papers_cell *c)
{
    const char *const why = score->outcome == BENCH_EXACT ? "" : score->reason;
    snprintf(c->reason, sizeof c->reason, "%.159s", why);
    c->wrong = score->outcome == BENCH_FAILED || score->outcome == BENCH_WRONG;
    if (score->outcome != BENCH_EXACT) return;
    c->rate = c->value = bench_rate(score) * 1e-3;
    if (score->entry == BENCH_PLAN) memcpy(c->chosen, score->name, sizeof c->chosen);
}

/* All series that share the device and placement of series `first`, side by side. */
static histo_status race(papers_result *r, int point, int first, const papers_options *o)
{
    const papers_series *as = &r->series[first];
    bench_contender contenders[PAPERS_MAX_SERIES];
    int which[PAPERS_MAX_SERIES], count = 0;
    for (int s = 0; s < r->series_count; s++) {
        const papers_series *other = &r->series[s];
        if (!other->measured || is_on_gpu(other) != is_on_gpu(as) || other->placement != as->placement) continue;
        contenders[count] = other->contender;
        if (strcmp(strchr(other->contender.name, '/') + 1, "plan") == 0)
            snprintf(contenders[count].name, sizeof contenders[count].name, "plan");
        which[count++] = s;
    }
    if (which[0] != first) return HISTO_OK; /* measured with an earlier one */
    bench_race of = {.device = device_of(as, o),
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
        take_score(&result.score[i], &r->cell[point][which[i]]);
    bench_result_free(&result);
    return status;
}

static histo_status make_samples(const papers_point *p, const papers_options *o, int64_t *n, void **samples)
{
    enum { DRAWN = 1 << 22 };
    *n = p->input.width    ? p->input.width * p->input.height
         : p->samples      ? p->samples
         : o->common.quick ? QUICK_SAMPLES
                           : DRAWN;
    const size_t bytes = bench_input_bytes(&p->input, *n);
    const histo_axis axis = bench_input_axis(&p->input, NULL);
    *samples = malloc(bytes);
    if (!*samples) return histo_fail_memory(bytes, "samples: ask for fewer");
    bench_input_make(&p->input, &axis, *n, *samples);
    return HISTO_OK;
}

static histo_status find_conflicts(papers_result *r, int point, const papers_options *o)
{
    void *samples;
    int64_t n;
    bench_conflicts found;
    histo_status status = make_samples(&r->point[point], o, &n, &samples);
    if (status == HISTO_OK) status = bench_conflicts_count(samples, r->point[point].input.dtype, n, 1, &found);
    free(samples);
    if (status != HISTO_OK) return status;
    r->cell[point][0].value = found.mean;
    r->cell[point][1].value = found.deviation;
    return HISTO_OK;
}

/* How the samples are distributed, and the counts to be drawn. */
static histo_status draw(papers_result *r, int point, const papers_options *o)
{
    const bench_input *input = &r->point[point].input;
    const histo_axis axis = bench_input_axis(input, NULL);
    void *samples;
    int64_t n;
    histo_hist *hist = NULL;
    histo_status status = make_samples(&r->point[point], o, &n, &samples);
    histo_view view = histo_view_1d(samples, input->dtype, n);
    uint64_t *counts = calloc((size_t)axis.bins, sizeof *counts);
    if (status == HISTO_OK && !counts) status = histo_fail_memory((size_t)axis.bins * sizeof *counts, "counts");
    if (status == HISTO_OK) status = histo_hist_create(&hist, 1, &axis, NULL);
    if (status == HISTO_OK) status = histo_hist_fill(hist, &view, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_BINS, counts, axis.bins, NULL);
    histo_hist_destroy(hist);
    free(samples);
    r->counts[point] = counts;
    if (status != HISTO_OK) return status;
    double occupied = 0, fullest = 0, middle = 0;
    const int64_t from = axis.bins / 2 - axis.bins / 16, to = axis.bins / 2 + axis.bins / 16;
    for (int64_t b = 0; b < axis.bins; b++) {
        occupied += counts[b] > 0;
        fullest = fmax(fullest, (double)counts[b]);
        if (b >= from && b < to) middle += (double)counts[b];
    }
    r->cell[point][0].value = occupied;
    r->cell[point][1].value = 100 * fullest / (double)n;
    r->cell[point][2].value = 100 * middle / (double)n;
    return HISTO_OK;
}

static histo_status measure(papers_result *r, int point, const papers_options *o)
{
    histo_status status = HISTO_OK;
    if (r->experiment->measure == PAPERS_CONFLICTS) return find_conflicts(r, point, o);
    if (r->experiment->measure == PAPERS_DRAWN) return draw(r, point, o);
    for (int s = 0; s < r->series_count && status == HISTO_OK; s++)
        if (r->series[s].measured) status = race(r, point, s, o);
    const double first = r->cell[point][0].rate;
    for (int s = 0; s < r->series_count && r->experiment->measure == PAPERS_RELATIVE; s++)
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

void papers_free(papers_result *r)
{
    for (int p = 0; p < PAPERS_MAX_POINTS; p++) {
        free(r->counts[p]);
        r->counts[p] = NULL;
    }
}
