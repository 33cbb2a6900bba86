/* Pictures: a result as a plot. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/labels.h"
#include "output/writers/plot.h"
#include "output/writers/writers.h"

static plot_color color_of(const result *r, int i)
{
    switch (tone_of_series(r, i)) {
    case TONE_RED:
        return plot_red;
    case TONE_GREEN:
        return plot_green;
    case TONE_BLUE:
        return plot_blue;
    case TONE_GRAY:
        return plot_gray;
    case TONE_NONE:
        break;
    }
    return r->count == 1 ? plot_palette(0) : plot_palette(i);
}

/* "314 928 samples · underflow 3 · NaN 1 · mean 93.2 · standard deviation 61.1": what is 0 is left out. */
static void describe_series(const result *r, int i, const table *t, char *text, size_t size)
{
    char number[TEXT_NUMBER_BYTES], name[320] = "";
    size_t length = 0;
    if (r->count > 1) label_of_series(r, i, name, sizeof name);
#define ADD(...) length += length < size ? (size_t)snprintf(text + length, size - length, __VA_ARGS__) : 0
    ADD("%.60s%s%s samples", name, *name ? ": " : "", text_count(t->samples, number));
    for (int a = 0; a < t->naxes; a++) {
        char axis[320] = "";
        if (t->naxes > 1) snprintf(axis, sizeof axis, "%.60s ", label_of_axis(r, a, name, sizeof name));
        if (t->under[a]) ADD(" · %sunderflow %s", axis, text_count(t->under[a], number));
        if (t->over[a]) ADD(" · %soverflow %s", axis, text_count(t->over[a], number));
        if (t->nan[a]) ADD(" · %sNaN %s", axis, text_count(t->nan[a], number));
    }
    if (t->masked) ADD(" · masked %s", text_count(t->masked, number));
    const histo_stats *s = t->naxes == 1 ? r->series[i].stats : NULL;
    uint64_t finite = s ? s->samples - s->nan - s->infinite : 0;
    if (finite) {
        ADD(" · min %s", text_among(s->min, s->min, s->max, number));
        ADD(" · max %s", text_among(s->max, s->min, s->max, number));
        ADD(" · mean %s", text_among(s->mean, s->min, s->max, number));
        ADD(" · standard deviation %s", text_short(sqrt(s->m2 / (double)finite), number));
    }
#undef ADD
}

static char *make_footer(const result *r, const table *tables)
{
    enum { LINE = 600, MAX_LINES = 4 };
    int lines = r->count <= MAX_LINES ? r->count : 0;
    char *footer = calloc(MAX_LINES, LINE);
    for (int i = 0; footer && i < lines; i++) {
        size_t length = strlen(footer);
        if (i) footer[length++] = '\n';
        describe_series(r, i, &tables[i], footer + length, LINE - 1);
    }
    return footer;
}

static int draw_series(const result *r, const table *tables, plot *p, const char *format, outfile *o, fault *f)
{
    int64_t bins = 0;
    for (int i = 0; i < r->count; i++)
        bins += tables[i].bins[0];
    size_t count = r->count > 0 ? (size_t)r->count : 0;
    plot_series *all = calloc(count, sizeof *all);
    double *values = malloc((size_t)bins * sizeof *values), *next = values;
    char(*names)[320] = calloc(count, sizeof *names);
    int failed = all && values && names ? 0 : fault_set(f, EXIT_DATA, "no memory to draw %d histograms", r->count);
    for (int i = 0; i < r->count && !failed; i++) {
        const table *t = &tables[i];
        all[i] = (plot_series){.name = label_of_series(r, i, names[i], sizeof names[i]),
                               .color = color_of(r, i),
                               .bins = t->bins[0],
                               .edges = t->edges[0],
                               .values = next};
        for (int64_t b = 0; b < t->bins[0]; b++)
            *next++ = table_value(t, b + 1);
    }
    char label[320] = "value";
    if (r->bytes) strcpy(label, "byte");
    bool named = r->axis_names[0] || (r->count == 1 && r->series[0].name);
    if (named && !r->bytes) label_of_axis(r, 0, label, sizeof label);
    p->x_label = label;
    p->y_label = label_of_values(r);
    p->log_x = histo_hist_axis(r->series[0].hist, 0).kind == HISTO_LOG;
    p->series = all;
    p->nseries = r->count;
    if (!failed) failed = plot_write(p, format, o, f);
    free(all);
    free(values);
    free(names);
    return failed;
}

static int draw_heat(const result *r, const table *t, plot *p, const char *format, outfile *o, fault *f)
{
    double *values = malloc((size_t)(t->bins[0] * t->bins[1]) * sizeof *values), *next = values;
    if (!values) return fault_set(f, EXIT_DATA, "no memory to draw the histogram");
    for (int64_t x = 1; x <= t->bins[0]; x++)
        for (int64_t y = 1; y <= t->bins[1]; y++) {
            const int64_t slots[] = {x, y};
            *next++ = table_value(t, table_cell(t, slots));
        }
    char labels[2][320];
    const plot_heat heat = {.nx = t->bins[0],
                            .ny = t->bins[1],
                            .x_edges = t->edges[0],
                            .y_edges = t->edges[1],
                            .values = values,
                            .log_color = p->log_y,
                            .label = label_of_values(r)};
    p->x_label = label_of_axis(r, 0, labels[0], sizeof labels[0]);
    p->y_label = label_of_axis(r, 1, labels[1], sizeof labels[1]);
    p->heat = &heat;
    p->log_y = false;
    int failed = plot_write(p, format, o, f);
    free(values);
    return failed;
}

static int write_picture(const result *r, const settings *s, outfile *o, const char *format, fault *f)
{
    int naxes = result_naxes(r);
    if (naxes == 2 && r->count > 1)
        return fault_set(f, EXIT_USAGE, "%d heat maps do not go into one picture: leave --batch out, or show one file",
                         r->count);
    table *tables = tables_read(r, TABLE_OF_ALL, f);
    if (!tables) return -1;
    char *footer = make_footer(r, tables);
    plot p = {.title = s->title ? s->title : r->title,
              .footer = footer,
              .log_y = s->log_counts,
              .width = s->plot_width,
              .height = s->plot_height};
    int failed = naxes == 1 ? draw_series(r, tables, &p, format, o, f) : draw_heat(r, &tables[0], &p, format, o, f);
    tables_free(tables, r);
    free(footer);
    return failed;
}

#define PICTURE(format)                                                                                                \
    static int write_##format(const result *r, const settings *s, outfile *o, fault *f)                                \
    {                                                                                                                  \
        return write_picture(r, s, o, #format, f);                                                                     \
    }                                                                                                                  \
    const writer writer_##format = {                                                                                   \
        .name = #format, .binary = true, .shows_stats = true, .max_axes = 2, .write = write_##format};

PICTURE(png)
PICTURE(svg)
PICTURE(pdf)
