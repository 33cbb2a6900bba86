/* The results of the papers' experiments as tables and JSON. */
#include <math.h>
#include <string.h>

#include "papers/experiments/measures.h"

static const struct {
    const char *name, *title;
} papers[] = {{"ross", "Ross 2014"},
              {"milic", "Milic et al. 2013"},
              {"nvidia", "Podlozhnyuk 2007"},
              {"handbook", "Per-Block Histograms"},
              {"lecture", "Hardavellas, Histograms"}};

const char *papers_title(const char *paper)
{
    size_t i = 0;
    while (i + 1 < sizeof papers / sizeof *papers && strcmp(papers[i].name, paper) != 0)
        i++;
    return papers[i].title;
}

char *papers_heading(const papers_experiment *e, char *text, size_t size)
{
    snprintf(text, size, "%s, %s%s %s: %s", papers_title(e->paper), e->kind, strchr(e->number, ' ') ? "s" : "",
             e->number, e->title);
    return text;
}

const char *papers_axis(const papers_result *r)
{
    const papers_experiment *e = r->experiment;
    if (e->measure == PAPERS_WINNERS || strpbrk(e->inputs, ",@")) return NULL;
    if (strchr(e->inputs, '#')) return "bins";
    return *e->samples ? "samples" : NULL;
}

double papers_position(const papers_result *r, int point)
{
    const char *axis = papers_axis(r);
    const papers_point *p = &r->point[point];
    return !axis ? point : strcmp(axis, "bins") == 0 ? (double)p->input.bins : (double)p->samples;
}

char *papers_point_name(const papers_result *r, int point, char *text, size_t size)
{
    const papers_point *p = &r->point[point];
    if (r->experiment->measure == PAPERS_WINNERS)
        snprintf(text, size, "%lld bins, %lld", (long long)p->input.bins, (long long)p->samples);
    else if (papers_axis(r))
        snprintf(text, size, "%.0f", papers_position(r, point));
    else
        snprintf(text, size, "%s%s%s", p->input.name, *p->params ? " " : "", p->params);
    return text;
}

char *papers_value_name(const papers_result *r, char *text, size_t size)
{
    static const char *const names[] = {
        [PAPERS_RATE] = "Gsamples/s",      [PAPERS_CONFLICTS] = "turns of a warp of 32",
        [PAPERS_DRAWN] = "distribution",   [PAPERS_WINNERS] = "Gsamples/s",
        [PAPERS_LOST] = "samples lost, %", [PAPERS_OVERFLOWS] = "overflows in a million samples"};
    if (r->experiment->measure == PAPERS_RELATIVE)
        snprintf(text, size, "times the rate of '%s'", r->series[0].label);
    else
        snprintf(text, size, "%s", names[r->experiment->measure]);
    return text;
}

void papers_list(FILE *to)
{
    const papers_experiment *e;
    for (size_t p = 0; p < sizeof papers / sizeof *papers; p++) {
        fprintf(to, "%s%s: %s\n", p ? "\n" : "", papers[p].name, papers[p].title);
        for (int i = 0; (e = papers_at(i)) != NULL; i++)
            if (strcmp(e->paper, papers[p].name) == 0) fprintf(to, "  %-7s %-12s %s\n", e->kind, e->number, e->title);
    }
}

/* "61.8", or "61.8 (55.05)" with the published number. */
static char *cell_text(const papers_cell *c, char *text, size_t size)
{
    int length =
        isnan(c->value) ? snprintf(text, size, "-") : snprintf(text, size, c->value < 1000 ? "%.4g" : "%.0f", c->value);
    if (!isnan(c->published) && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, " (%g)", c->published);
    return text;
}

/* Columns that have a value or a published number. */
static bool has_column(const papers_result *r, int series)
{
    for (int p = 0; p < r->points; p++)
        if (!isnan(r->cell[p][series].published)) return true;
    return r->series[series].measured;
}

static void print_matrix(const papers_result *r, FILE *to)
{
    char text[128];
    int width[PAPERS_MAX_SERIES] = {0}, first = 5;
    for (int p = 0; p < r->points; p++) {
        int length = (int)strlen(papers_point_name(r, p, text, sizeof text));
        if (length > first) first = length;
        for (int s = 0; s < r->series_count; s++) {
            length = (int)strlen(cell_text(&r->cell[p][s], text, sizeof text));
            if (length > width[s]) width[s] = length;
        }
    }
    fprintf(to, "%*s", first, papers_axis(r) ? papers_axis(r) : "");
    for (int s = 0; s < r->series_count; s++) {
        if (!has_column(r, s)) continue;
        if ((int)strlen(r->series[s].label) > width[s]) width[s] = (int)strlen(r->series[s].label);
        fprintf(to, "  %*s", width[s], r->series[s].label);
    }
    fputc('\n', to);
    for (int p = 0; p < r->points; p++) {
        fprintf(to, "%*s", papers_axis(r) ? first : -first, papers_point_name(r, p, text, sizeof text));
        for (int s = 0; s < r->series_count; s++)
            if (has_column(r, s)) fprintf(to, "  %*s", width[s], cell_text(&r->cell[p][s], text, sizeof text));
        fputc('\n', to);
    }
}

/* Why a series has no values somewhere, once each. */
static void print_remarks(const papers_result *r, FILE *to)
{
    const char *before = "not measured, as their device is missing or not selected: ";
    bool any = false;
    for (int s = 0; s < r->series_count; s++) {
        any |= r->series[s].measured;
        if (r->series[s].measured) continue;
        fprintf(to, "%s%s", before, r->series[s].label);
        before = ", ";
    }
    if (*before == ',') fputc('\n', to);
    for (int s = 0; s < r->series_count; s++) {
        const char *last = "";
        for (int p = 0; p < r->points; p++) {
            const papers_cell *c = &r->cell[p][s];
            if (!*c->reason || strcmp(c->reason, last) == 0) continue;
            fprintf(to, "%s%s: %s\n", c->wrong ? "FAILED: " : "", r->series[s].label, c->reason);
            last = c->reason;
        }
    }
    if (r->left && any) fprintf(to, "%d more points not measured\n", r->left);
}

void papers_print(const papers_result *r, FILE *to)
{
    const papers_experiment *e = r->experiment;
    char text[160];
    fprintf(to, "\n%s\n", papers_heading(e, text, sizeof text));
    if (*e->claim) fprintf(to, "Published: %s\n", e->claim);
    fprintf(to, "%s", papers_value_name(r, text, sizeof text));
    bool any = false;
    for (int p = 0; p < r->points; p++)
        for (int s = 0; s < r->series_count; s++)
            any |= !isnan(r->cell[p][s].published);
    fprintf(to, "%s\n", any ? "; the published number in parentheses" : "");
    if (r->points) print_matrix(r, to);
    print_remarks(r, to);
    fflush(to);
}

void papers_tsv_begin(FILE *to)
{
    fputs("paper\tkind\tnumber\tinput\tbins\tsamples\tterms\tseries\tstrategy\tparams\tplace\tmeasure\tvalue\t"
          "Gsamples_per_s\ttimed_samples\tpublished\tchosen\treason\n",
          to);
}

static void put_number(double value, FILE *to)
{
    if (!isnan(value)) fprintf(to, "%.6g", value);
}

static const char *terms_of(const papers_series *s)
{
    return s->terms == PAPERS_AS_PUBLISHED ? "as published" : "equal terms";
}

/* Parameters of a series at a point. */
static char *params_of(const papers_result *r, int point, const papers_series *s, char *text, size_t size)
{
    const char *more = papers_on_gpu(s) ? r->point[point].params : "";
    snprintf(text, size, "%s%s%s", s->contender.params, *s->contender.params && *more ? "," : "", more);
    return text;
}

void papers_tsv(const papers_result *r, FILE *to)
{
    const papers_experiment *e = r->experiment;
    char text[96], params[160];
    papers_value_name(r, text, sizeof text);
    for (int p = 0; p < r->points; p++)
        for (int s = 0; s < r->series_count; s++) {
            const papers_series *of = &r->series[s];
            const papers_cell *c = &r->cell[p][s];
            fprintf(to, "%s\t%s\t%s\t%s\t%lld\t%lld\t%s\t%s\t%s\t%s\t%s\t%s\t", e->paper, e->kind, e->number,
                    r->point[p].input.name, (long long)r->point[p].input.bins, (long long)r->point[p].samples,
                    terms_of(of), of->label, of->contender.name, params_of(r, p, of, params, sizeof params),
                    of->placement == BENCH_PINNED ? "host" : "device", text);
            put_number(c->value, to);
            fputc('\t', to);
            put_number(c->rate, to);
            fprintf(to, "\t%lld\t", (long long)c->samples);
            put_number(c->published, to);
            fprintf(to, "\t%s\t%s\n", c->chosen, c->reason);
        }
}

static void put_member(const char *name, double value, json_writer *json)
{
    if (isnan(value))
        json_print(json, "\"%s\": null", name);
    else
        json_print(json, "\"%s\": %.6g", name, value);
}

void papers_json(const papers_result *r, json_writer *json)
{
    const papers_experiment *e = r->experiment;
    char text[96], params[160];
    json_open(json, NULL, '{');
    json_text(json, "paper", e->paper);
    json_text(json, "kind", e->kind);
    json_text(json, "number", e->number);
    json_text(json, "title", e->title);
    json_text(json, "claim", e->claim);
    json_text(json, "measure", papers_value_name(r, text, sizeof text));
    json_print(json, "\"not_measured\": %d", r->left);
    json_open(json, "values", '[');
    for (int p = 0; p < r->points; p++)
        for (int s = 0; s < r->series_count; s++) {
            const papers_series *of = &r->series[s];
            const papers_cell *c = &r->cell[p][s];
            json_open(json, NULL, '{');
            json_text(json, "input", r->point[p].input.name);
            json_print(json, "\"bins\": %lld, \"samples\": %lld", (long long)r->point[p].input.bins,
                       (long long)r->point[p].samples);
            json_text(json, "terms", terms_of(of));
            json_text(json, "series", of->label);
            json_text(json, "strategy", of->contender.name);
            json_text(json, "params", params_of(r, p, of, params, sizeof params));
            json_text(json, "place", of->placement == BENCH_PINNED ? "host" : "device");
            put_member("value", c->value, json);
            put_member("Gsamples_per_s", c->rate, json);
            json_print(json, "\"timed_samples\": %lld", (long long)c->samples);
            put_member("published", c->published, json);
            json_text(json, "chosen", c->chosen);
            json_text(json, "reason", c->reason);
            if (c->wrong) json_print(json, "\"wrong\": true");
            json_close(json, '}');
        }
    json_close(json, ']');
    json_close(json, '}');
}
