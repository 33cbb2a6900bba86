#include "papers/experiments/papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "papers/experiments/gallery.h"
#include "papers/experiments/measures.h"

static const papers_experiment experiments[] = {
#define EXPERIMENT(paper, kind, number, title, measure, inputs, bins, samples, published, equal, claim)                \
    {#paper, kind, number, title, PAPERS_##measure, inputs, bins, samples, {published, equal}, claim},
#define PUBLISHED(paper, kind, number, input, series, value)
#include "papers/experiments/papers.def"
#undef EXPERIMENT
#undef PUBLISHED
};

static const struct {
    const char *paper, *kind, *number, *input, *series;
    double value;
} published[] = {
#define EXPERIMENT(paper, kind, number, title, measure, inputs, bins, samples, published, equal, claim)
#define PUBLISHED(paper, kind, number, input, series, value) {#paper, kind, number, input, series, value},
#include "papers/experiments/papers.def"
#undef EXPERIMENT
#undef PUBLISHED
};

enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0], VALUES = sizeof published / sizeof published[0] };

const papers_experiment *papers_at(int i)
{
    return i < EXPERIMENTS ? &experiments[i] : NULL;
}

bool papers_selected(const papers_experiment *e, const char *paper, const char *kind, const char *number)
{
    if (paper && strcmp(e->paper, paper) != 0) return false;
    if (kind && strcmp(e->kind, kind) != 0) return false;
    const size_t length = number ? strlen(number) : 0;
    for (const char *at = e->number; number && at; at = strchr(at, ' ')) { /* each of "5 and 6" */
        at += strspn(at, " ");
        if (strncmp(at, number, length) == 0 && (at[length] == ' ' || !at[length])) return true;
    }
    return !number;
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
    char words[160] = "", name[80] = "";
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

/* A point with each combination of parameters. */
static void add_points(papers_result *r, const bench_input *input, int64_t samples, const char *params)
{
    papers_point p = {*input, samples, ""};
    for (int i = 0; i < r->points && !*params; i++)
        if (strcmp(r->point[i].input.name, input->name) == 0 && r->point[i].samples == samples) return;
    for (int c = 0; r->points < PAPERS_MAX_POINTS && bench_combination(params, c, p.params, sizeof p.params); c++)
        r->point[r->points++] = p;
}

/* An input with each number of samples. */
static histo_status add_input(papers_result *r, const papers_options *o, const char *name, const char *params)
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
    if (status == HISTO_OK && (!count || input.width)) add_points(r, &input, 0, params);
    for (int i = 0; i < count && status == HISTO_OK && !input.width; i++)
        add_points(r, &input,
                   o->common.quick && samples == own && samples[i] > PAPERS_QUICK_SAMPLES ? PAPERS_QUICK_SAMPLES
                                                                                          : samples[i],
                   params);
    return status;
}

/* "NAME#REST" with each number of bins for #. */
static histo_status add_by_bins(papers_result *r, const papers_options *o, const char *item, const char *params)
{
    int64_t own[PAPERS_MAX_POINTS];
    const int64_t *bins = o->bins_count ? o->bins : own;
    const int count = o->bins_count ? o->bins_count : parse_numbers(r->experiment->bins, own, PAPERS_MAX_POINTS);
    const int before = (int)strcspn(item, "#");
    char name[160];
    histo_status status = HISTO_OK;
    for (int b = 0; b < count && status == HISTO_OK; b++) {
        snprintf(name, sizeof name, "%.*s%lld%s", before, item, (long long)bins[b], item + before + 1);
        status = add_input(r, o, name, params);
    }
    return status;
}

static histo_status plan_points(papers_result *r, const papers_options *o)
{
    const char *list = r->experiment->inputs, *params;
    char item[112], inputs[640];
    next_item(&list, '@', inputs, sizeof inputs);
    params = list + strspn(list, " ");
    list = inputs;
    histo_status status = HISTO_OK;
    while (status == HISTO_OK && next_item(&list, ',', item, sizeof item))
        status = strchr(item, '#') ? add_by_bins(r, o, item, params) : add_input(r, o, item, params);
    return status;
}

bool papers_on_gpu(const papers_series *s)
{
    return strncmp(s->contender.name, "cuda/", 5) == 0;
}

const bench_device *papers_device_of(const papers_series *s, const papers_options *o)
{
    if (!papers_on_gpu(s))
        return s->baseline || o->common.device < HISTO_DEVICE_CUDA(0)
                   ? bench_device_find(HISTO_DEVICE_CPU, BENCH_RESIDENT)
                   : NULL;
    if (o->common.device == HISTO_DEVICE_CPU) return NULL;
    const bench_device *found = bench_device_find(o->common.device, s->placement);
    return found && found->device != HISTO_DEVICE_CPU ? found : NULL;
}

static papers_series *add_series(papers_result *r, const char *text, papers_terms terms)
{
    papers_series *s = &r->series[r->series_count++];
    parse_series(text, s);
    s->terms = terms;
    return s;
}

static void list_series(papers_result *r, const papers_options *o)
{
    static const char *const of_host[][4] = {
        [PAPERS_CONFLICTS] = {"turns", "deviation", NULL},
        [PAPERS_DRAWN] = {"occupied bins", "fullest bin, %", "middle eighth, %", NULL}};
    const papers_measure measure = r->experiment->measure;
    char item[240];
    for (int terms = PAPERS_AS_PUBLISHED; terms <= PAPERS_ON_EQUAL_TERMS; terms++)
        for (const char *list = r->experiment->series[terms]; next_item(&list, ';', item, sizeof item);) {
            papers_series *s = add_series(r, item, (papers_terms)terms);
            s->baseline = r->series_count == 1 && (measure == PAPERS_RELATIVE || measure == PAPERS_WINNERS);
            s->measured = papers_device_of(s, o) != NULL;
        }
    const bool host = measure == PAPERS_CONFLICTS || measure == PAPERS_DRAWN;
    for (int i = 0; host && of_host[measure][i]; i++)
        add_series(r, of_host[measure][i], PAPERS_AS_PUBLISHED)->measured = true;
    if (measure == PAPERS_OVERFLOWS) papers_add_predictions(r);
}

static double published_of(const papers_experiment *e, const char *input, const char *series)
{
    for (int v = 0; v < VALUES; v++)
        if (strcmp(published[v].paper, e->paper) == 0 && strcmp(published[v].kind, e->kind) == 0 &&
            strcmp(published[v].number, e->number) == 0 && strcmp(published[v].input, input) == 0 &&
            strcmp(published[v].series, series) == 0)
            return published[v].value;
    return (double)NAN;
}

histo_status papers_plan(const papers_experiment *e, const papers_options *o, papers_result *r)
{
    memset(r, 0, sizeof *r);
    r->experiment = e;
    list_series(r, o);
    const histo_status status = plan_points(r, o);
    for (int p = 0; p < r->points; p++)
        for (int s = 0; s < r->series_count; s++) {
            papers_cell *c = &r->cell[p][s];
            c->value = c->rate = (double)NAN;
            c->published = published_of(e, r->point[p].input.name, r->series[s].label);
        }
    return status;
}

void papers_free(papers_result *r)
{
    for (int p = 0; p < PAPERS_MAX_POINTS; p++) {
        free(r->counts[p]);
        r->counts[p] = NULL;
    }
}
