/* Pictures: converts a result to a plot. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
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

/* "314 928 samples · underflow 3 · NaN 1 · mean 93.2 · std 61.1", without zeros. */
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
        ADD(" · std %s", text_short(sqrt(s->m2 / (double)finite), number));
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

/* Series on one axis as a plot, and the plot's memory. */
typedef struct drawing {
    plot plot;
    plot_series *series;
    double *edges, *values;
    char (*names)[320];                    /* of the series, and of the axis */
    char (*characters)[TEXT_NUMBER_BYTES]; /* the names of bins that are bytes */
    const char **bin_names;
    char *footer;
} drawing;

static void drawing_free(drawing *d)
{
    free(d->series);
    free(d->edges);
    free(d->values);
    free(d->names);
    free(d->characters);
    free(d->bin_names);
    free(d->footer);
}

static int fault_no_room(int count, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to draw %d histogram%s", count, count == 1 ? "" : "s");
}

static int allocate(drawing *d, const result *group, int64_t bins, fault *f)
{
    const size_t count = (size_t)group->count, edges = (size_t)bins + 1;
    if (fault_beyond_memory(f, 8.0 * (double)(edges + count * (size_t)bins), "the bars of a drawing", "use fewer bins"))
        return -1;
    d->series = calloc(count, sizeof *d->series);
    d->names = calloc(count + 1, sizeof *d->names);
    d->edges = malloc(edges * sizeof *d->edges);
    d->values = malloc(count * (size_t)bins * sizeof *d->values);
    return d->series && d->names && d->edges && d->values ? 0 : fault_no_room(group->count, f);
}

/* The character of each bin. */
static int name_bins(drawing *d, const histo_axis *axis, fault *f)
{
    const size_t bins = (size_t)axis->bins;
    d->characters = calloc(bins, sizeof *d->characters);
    d->bin_names = calloc(bins, sizeof *d->bin_names);
    if (!d->characters || !d->bin_names) return fault_no_room(1, f);
    for (size_t i = 0; i < bins; i++)
        d->bin_names[i] = label_of_byte((int)d->edges[i], d->characters[i]);
    d->plot.bin_names = d->bin_names;
    return 0;
}

/* The name of a group's axis. */
static const char *axis_label(const result *group, char label[320])
{
    bool named = group->axis_names[0] || (group->count == 1 && group->series[0].name);
    strcpy(label, !group->bytes ? "value" : group->series[0].name && *group->series[0].name == 'l' ? "letter" : "byte");
    return named && !group->bytes ? label_of_axis(group, 0, label, 320) : label;
}

static int fault_infinite(const histo_axis *axis, fault *f)
{
    if (isfinite(axis->lo) && isfinite(axis->hi)) return 0;
    return fault_set(f, EXIT_DATA,
                     "a picture has no room for a bin with an infinite edge: give finite edges, or write a table to "
                     "FILE.csv");
}

/* first: the index of the group's first series in r, which selects its colour. */
static int drawing_make(drawing *d, const result *group, const table *tables, const result *r, int first, fault *f)
{
    const histo_axis *axis = &tables[0].axes[0];
    *d = (drawing){0};
    if (fault_infinite(axis, f) != 0 || allocate(d, group, axis->bins, f) != 0) return -1;
    histo_axis_edges(axis, d->edges);
    double *next = d->values;
    for (int i = 0; i < group->count; i++) {
        d->series[i] = (plot_series){.name = label_of_series(r, first + i, d->names[i], sizeof d->names[i]),
                                     .color = color_of(r, first + i),
                                     .bins = axis->bins,
                                     .edges = d->edges,
                                     .values = next};
        for (int64_t b = 0; b < axis->bins; b++)
            *next++ = table_value(&tables[i], b + 1);
    }
    d->footer = make_footer(group, tables);
    d->plot = (plot){.footer = d->footer,
                     .x_label = axis_label(group, d->names[group->count]),
                     .y_label = label_of_values(group),
                     .log_x = axis->kind == HISTO_LOG,
                     .series = d->series,
                     .nseries = group->count};
    return group->bytes ? name_bins(d, axis, f) : 0;
}

/* Draw a panel per group of series with the same axis; a single group fills the picture. */
static int draw_groups(const result *r, const table *tables, plot p, const char *format, outfile *o, fault *f)
{
    drawing *drawings = calloc((size_t)r->count, sizeof *drawings);
    plot *panels = calloc((size_t)r->count, sizeof *panels);
    int count = 0, failed = drawings && panels ? 0 : fault_no_room(r->count, f);
    for (int first = 0, end; first < r->count && !failed; first = end) {
        result group = *r;
        end = result_group_end(r, first);
        group.series = &r->series[first];
        group.count = end - first;
        drawing *d = &drawings[count];
        failed = drawing_make(d, &group, &tables[first], r, first, f);
        d->plot.log_y = p.log_y;
        panels[count++] = d->plot;
    }
    if (count == 1) {
        panels[0].title = p.title;
        panels[0].width = p.width;
        panels[0].height = p.height;
    } else {
        for (int i = 0; i < count; i++)
            if (panels[i].nseries == 1) {
                panels[i].title = panels[i].x_label;
                panels[i].x_label = NULL;
            }
        if (!p.width) plot_suit_panels(count, &p.width, &p.height);
        p.panels = panels;
        p.npanels = count;
    }
    if (!failed) failed = plot_write(count == 1 ? &panels[0] : &p, format, o, f);
    for (int i = 0; i < count; i++)
        drawing_free(&drawings[i]);
    free(drawings);
    free(panels);
    return failed;
}

static int draw_heat(const result *r, const table *t, plot p, bool dense, const char *format, outfile *o, fault *f)
{
    const size_t nx = (size_t)t->bins[0], ny = (size_t)t->bins[1];
    for (int a = 0; a < 2; a++)
        if (fault_infinite(&t->axes[a], f) != 0) return -1;
    if (fault_beyond_memory(f, 8.0 * (double)(nx * ny + nx + ny), "the cells of a heat map", "use fewer bins") != 0)
        return -1;
    double *values = malloc((nx * ny + nx + ny + 2) * sizeof *values), *next = values;
    if (!values) return fault_no_room(1, f);
    for (int64_t x = 1; x <= t->bins[0]; x++)
        for (int64_t y = 1; y <= t->bins[1]; y++) {
            const int64_t slots[] = {x, y};
            *next++ = table_value(t, table_cell(t, slots));
        }
    double *x_edges = next, *y_edges = next + nx + 1;
    histo_axis_edges(&t->axes[0], x_edges);
    histo_axis_edges(&t->axes[1], y_edges);
    char labels[2][320];
    char *footer = make_footer(r, t);
    p.footer = footer;
    const plot_heat heat = {.nx = t->bins[0],
                            .ny = t->bins[1],
                            .x_edges = x_edges,
                            .y_edges = y_edges,
                            .values = values,
                            .log_color = p.log_y,
                            .label = label_of_values(r)};
    p.x_label = label_of_axis(r, 0, labels[0], sizeof labels[0]);
    p.y_label = label_of_axis(r, 1, labels[1], sizeof labels[1]);
    p.heat = &heat;
    p.log_y = false;
    dense_run run;
    if (dense && table_dense_run(t, &run)) {
        p.x_lines[0] = run.lo;
        p.x_lines[1] = run.hi;
    }
    int failed = plot_write(&p, format, o, f);
    free(values);
    free(footer);
    return failed;
}

static int write_picture(const result *r, const settings *s, outfile *o, const char *format, fault *f)
{
    int naxes = result_naxes(r);
    if (naxes == 2 && r->count > 1)
        return fault_set(f, EXIT_USAGE, "%d heat maps do not fit into one picture: leave --batch out, or show one file",
                         r->count);
    table *tables = tables_read(r, TABLE_OF_ALL, f);
    if (!tables) return -1;
    plot p = {.title = s->title ? s->title : r->title,
              .log_y = s->log_counts,
              .width = s->plot_width,
              .height = s->plot_height};
    int failed =
        naxes == 1 ? draw_groups(r, tables, p, format, o, f) : draw_heat(r, &tables[0], p, s->dense, format, o, f);
    tables_free(tables, r);
    return failed;
}

#define PICTURE(format)                                                                                                \
    static int write_##format(const result *r, const settings *s, outfile *o, fault *f)                                \
    {                                                                                                                  \
        return write_picture(r, s, o, #format, f);                                                                     \
    }                                                                                                                  \
    const writer writer_##format = {.name = #format,                                                                   \
                                    .binary = true,                                                                    \
                                    .shows_stats = true,                                                               \
                                    .max_axes = 2,                                                                     \
                                    .prepare = plot_prepare,                                                           \
                                    .write = write_##format};

PICTURE(png)
PICTURE(svg)
PICTURE(pdf)
