/* The table of statistics below a drawing: a line per histogram, or per axis of a joint one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/terminal/terminal.h"

enum { SAMPLES, UNDERFLOW, OVERFLOW, NANS, MASKED, SUM, MIN, MAX, MEAN, DEVIATION, FIELDS };

static const char *const heads[][FIELDS] = {
    {"samples", "underflow", "overflow", "NaN", "masked", "sum of weights", "min", "max", "mean", "std"},
    {"samples", "under", "over", "NaN", "masked", "sum w", "min", "max", "mean", "std"},
};

typedef struct line {
    char name[64];
    char field[FIELDS][TEXT_NUMBER_BYTES + 4];
} line;

enum { WIDE_ENOUGH = 76 }; /* columns, for a single table with all common fields */

int terminal_stats_rows(const screen *to, const result *r)
{
    return (1 + r->count * result_naxes(r)) * (to->columns < WIDE_ENOUGH ? 2 : 1);
}

static double sum_of_weights(const table *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->cells; i++)
        sum += t->sum_w[i];
    return sum;
}

/* Without statistics of the samples, those of the bins are close; they are marked. */
static void fill_moments(line *l, const series *s, const table *t, int a)
{
    bool exact = s->stats != NULL;
    bool whole = histo_hist_axis(s->hist, a).kind == HISTO_INTEGER;
    histo_stats of = exact ? s->stats[a] : table_stats(t, a, whole);
    uint64_t finite = of.samples - of.nan - of.infinite;
    const double values[] = {of.min, of.max, of.mean, finite ? sqrt(of.m2 / (double)finite) : 0};
    for (int i = 0; i < 4; i++) {
        char number[TEXT_NUMBER_BYTES];
        if (i < 3 && exact)
            text_among(values[i], of.min, of.max, number);
        else
            text_short(values[i], number);
        snprintf(l->field[MIN + i], sizeof l->field[0], "%s%s", exact ? "" : "≈ ", finite ? number : "-");
        if (!finite) strcpy(l->field[MIN + i], "-");
    }
}

static void fill_line(line *l, const result *r, const table *tables, int i, int a)
{
    const table *t = &tables[i];
    char series_name[320] = "", axis_name[320] = "";
    if (r->count > 1) label_of_series(r, i, series_name, sizeof series_name);
    if (t->naxes > 1) label_of_axis(r, a, axis_name, sizeof axis_name);
    snprintf(l->name, sizeof l->name, "%.30s%s%.30s", series_name, *series_name && *axis_name ? " " : "", axis_name);
    text_count(t->samples, l->field[SAMPLES]);
    text_count(t->under[a], l->field[UNDERFLOW]);
    text_count(t->over[a], l->field[OVERFLOW]);
    text_count(t->nan[a], l->field[NANS]);
    text_count(t->masked, l->field[MASKED]);
    if (t->sum_w) text_short(sum_of_weights(t), l->field[SUM]);
    fill_moments(l, &r->series[i], t, a);
}

/* A table of fields [first, end), with long headings if they fit. */
typedef struct form {
    int first, end, brief;
    int name_width, widths[FIELDS]; /* fields of width 0 are omitted */
} form;

static int set_widths(form *as, const line *lines, int count, bool sums)
{
    int total = as->name_width;
    for (int k = as->first; k < as->end; k++) {
        as->widths[k] = (int)strlen(heads[as->brief][k]);
        for (int i = 0; i < count; i++)
            if (text_columns(lines[i].field[k]) > as->widths[k]) as->widths[k] = text_columns(lines[i].field[k]);
        if (k == SUM && !sums) as->widths[k] = 0;
        total += as->widths[k] ? 2 + as->widths[k] : 0;
    }
    return total;
}

static void put_line(const screen *to, const form *as, const char *name, const line *l)
{
    bool gap = as->name_width > 0;
    screen_text(to, name, as->name_width);
    for (int k = as->first; k < as->end; k++) {
        if (!as->widths[k]) continue;
        if (gap) fputs("  ", to->out);
        gap = true;
        screen_text(to, l ? l->field[k] : heads[as->brief][k], -as->widths[k]);
    }
}

static void put_table(const screen *to, const form *as, const line *lines, int count)
{
    screen_style(to, "2");
    put_line(to, as, "", NULL);
    screen_plain(to);
    putc('\n', to->out);
    for (int i = 0; i < count; i++) {
        put_line(to, as, lines[i].name, &lines[i]);
        putc('\n', to->out);
    }
}

void terminal_stats(const screen *to, const result *r, const table *tables)
{
    int naxes = result_naxes(r), count = r->count * naxes;
    bool sums = result_is_weighted(r);
    form as = {.end = FIELDS};
    line *lines = calloc((size_t)count, sizeof *lines);
    if (!lines) return;
    for (int i = 0; i < count; i++) {
        fill_line(&lines[i], r, tables, i / naxes, i % naxes);
        if (text_columns(lines[i].name) > as.name_width) as.name_width = text_columns(lines[i].name);
    }
    as.brief = set_widths(&as, lines, count, sums) >= to->columns;
    if (set_widths(&as, lines, count, sums) < to->columns) {
        put_table(to, &as, lines, count);
    } else {
        as.end = MIN;
        put_table(to, &as, lines, count);
        as.first = MIN;
        as.end = FIELDS;
        put_table(to, &as, lines, count);
    }
    free(lines);
}
