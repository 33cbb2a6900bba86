/* Pictures: converts a result to a plot. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/failure.h"
#include "output/dense_run.h"
#include "output/labels.h"
#include "output/scale.h"
#include "output/writers/describe.h"
#include "output/writers/inline.h"
#include "output/writers/plot.h"
#include "output/writers/writers.h"

/* Series on one axis as a plot, and the plot's memory. */
typedef struct drawing {
    plot plot;
    plot_series *series;
    double *edges, *values;
    char (*names)[320]; /* of the series */
    char x_label[400], y_label[320];
    char (*characters)[TEXT_NUMBER_BYTES]; /* the names of bins that are bytes */
    const char **bin_names;
    char *footer;
    arena memory; /* for everything but the footer */
} drawing;

static int fault_no_room(int count, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to draw %d histogram%s", count, count == 1 ? "" : "s");
}

static int allocate(drawing *d, const result *group, int64_t bins, fault *f)
{
    const size_t count = (size_t)group->count, edges = (size_t)bins + 1;
    if (fault_beyond_memory(f, 8.0 * (double)(edges + count * (size_t)bins), "the bars of a drawing", "use fewer bins"))
        return -1;
    d->series = arena_take(&d->memory, count, sizeof *d->series);
    d->names = arena_take(&d->memory, count, sizeof *d->names);
    d->edges = arena_take(&d->memory, edges, sizeof *d->edges);
    d->values = arena_take(&d->memory, count * (size_t)bins, sizeof *d->values);
    return d->series && d->names && d->edges && d->values ? 0 : fault_no_room(group->count, f);
}

/* The character or the word of each bin. */
static int name_bins(drawing *d, const histo_axis *axis, const bin_names *names, fault *f)
{
    const size_t bins = (size_t)axis->bins;
    d->characters = arena_take(&d->memory, bins, sizeof *d->characters);
    d->bin_names = arena_take(&d->memory, bins, sizeof *d->bin_names);
    if (!d->characters || !d->bin_names) return fault_no_room(1, f);
    for (size_t i = 0; i < bins; i++)
        d->bin_names[i] = names ? names->text[i] : label_of_byte((int)d->edges[i], d->characters[i]);
    d->plot.bin_names = d->bin_names;
    d->plot.bins_are_words = names;
    return 0;
}

/* If all other values together would leave little room for those with a series of their own, divide their heights by a
 * round number, as the legend says. */
static void shrink_rest(drawing *d, const result *group, int64_t bins)
{
    double rest = 0, most = 0, part = 1;
    for (int i = 0; i < group->count; i++)
        for (int64_t b = 0; b < bins; b++) {
            double *largest = group->series[i].rest ? &rest : &most;
            *largest = fmax(*largest, d->values[i * bins + b]);
        }
    for (int times = 0; most > 0 && rest > 1.5 * most * part && times < 60; times++)
        part *= times % 3 == 1 ? 2.5 : 2; /* 2, 5, 10, 20, … */
    for (int i = 0; i < group->count && part > 1; i++) {
        const size_t length = strlen(d->names[i]);
        if (!group->series[i].rest) continue;
        snprintf(d->names[i] + length, sizeof d->names[i] - length, " ÷ %.15g", part);
        for (int64_t b = 0; b < bins; b++)
            d->values[i * bins + b] /= part;
    }
}

/* first: the index in r of the group's first series, which selects its colour. */
static int drawing_make(drawing *d, const result *group, const table *tables, const result *r, int first,
                        const settings *s, fault *f)
{
    const histo_axis *axis = &tables[0].axes[0];
    *d = (drawing){0};
    if (describe_check(axis, f) != 0 || allocate(d, group, axis->bins, f) != 0) return -1;
    histo_axis_edges(axis, d->edges);
    const view v = view_drawn(s, &group->series[0]);
    double *next = d->values;
    for (int i = 0; i < group->count; i++) {
        d->series[i] = (plot_series){.name = label_of_series(r, first + i, d->names[i], sizeof d->names[i]),
                                     .color = describe_color(r, first + i),
                                     .bins = axis->bins,
                                     .edges = d->edges,
                                     .values = next};
        for (int64_t b = 0; b < axis->bins; b++)
            *next++ = table_value(&tables[i], b + 1);
        if (!view_is_plain(&v)) view_apply(&v, axis, &(bin_rows){axis->bins, 1, 0}, next - axis->bins);
    }
    if (s->scale != SCALE_LOG) shrink_rest(d, group, axis->bins);
    d->footer = describe_series(group, tables);
    describe_axis(group, s, d->x_label);
    snprintf(d->y_label, sizeof d->y_label, "%s", titles_of(group, s).values);
    d->plot = (plot){.footer = d->footer,
                     .x_label = d->x_label,
                     .y_label = d->y_label,
                     .log_y = s->scale == SCALE_LOG,
                     .root_y = s->scale == SCALE_ROOT,
                     .log_x = axis->kind == HISTO_LOG,
                     .times_x = group->series[0].forms[0].kind == VALUES_TIMES,
                     .series = d->series,
                     .nseries = group->count};
    const bin_names *names = result_bin_names(group, 0, 0);
    return result_has_characters(group) || names ? name_bins(d, axis, names, f) : 0;
}

/* Draw a panel per group of series with the same axis; a single group fills the picture. */
static int draw_groups(const result *r, const table *tables, plot p, const settings *s, const char *format, outfile *o,
                       fault *f)
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
        failed = drawing_make(d, &group, &tables[first], r, first, s, f);
        panels[count++] = d->plot;
    }
    if (count == 1) {
        panels[0].title = p.title;
        panels[0].width = p.width;
        panels[0].height = p.height;
        panels[0].dark = p.dark;
    } else {
        for (int i = 0; i < count; i++)
            if (panels[i].nseries == 1) {
                panels[i].title = drawings[i].names[0];
                if (!s->x_label && !s->unit) panels[i].x_label = NULL;
            }
        if (!p.width) plot_suit_panels(count, &p.width, &p.height);
        p.panels = panels;
        p.npanels = count;
    }
    if (!failed) failed = plot_write(count == 1 ? &panels[0] : &p, format, o, f);
    for (int i = 0; i < count; i++) {
        arena_free(&drawings[i].memory);
        free(drawings[i].footer);
    }
    free(drawings);
    free(panels);
    return failed;
}

static int draw_heat(const result *r, const table *t, plot p, const settings *s, const char *format, outfile *o,
                     fault *f)
{
    const size_t nx = (size_t)t->bins[0], ny = (size_t)t->bins[1];
    for (int a = 0; a < 2; a++)
        if (describe_check(&t->axes[a], f) != 0) return -1;
    if (fault_beyond_memory(f, 8.0 * (double)(nx * ny + nx + ny), "the cells of a heat map", "use fewer bins") != 0)
        return -1;
    double *values = malloc((nx * ny + nx + ny + 2) * sizeof *values), *next = values;
    if (!values) return fault_no_room(1, f);
    for (int64_t x = 1; x <= t->bins[0]; x++)
        for (int64_t y = 1; y <= t->bins[1]; y++) {
            const int64_t slots[] = {x, y};
            *next++ = table_value(t, table_cell(t, slots));
        }
    const view v = view_asked(s, &r->series[0]);
    if (!view_is_plain(&v)) view_apply_cells(&v, t->axes, (const int64_t[]){1, 1}, values, t->bins);
    double *x_edges = next, *y_edges = next + nx + 1;
    histo_axis_edges(&t->axes[0], x_edges);
    histo_axis_edges(&t->axes[1], y_edges);
    const titles names = titles_of(r, s);
    const count_scale kind = scale_suited(s->scale, values, (int64_t)(nx * ny));
    char label[400];
    snprintf(label, sizeof label, "%s%s%s", names.values, *scale_name(kind) ? ", " : "", scale_name(kind));
    char *footer = describe_series(r, t);
    p.footer = footer;
    const bin_names *x_names = result_bin_names(r, 0, 0), *y_names = result_bin_names(r, 0, 1);
    const plot_heat heat = {.nx = t->bins[0],
                            .ny = t->bins[1],
                            .x_edges = x_edges,
                            .y_edges = y_edges,
                            .values = values,
                            .scale = kind,
                            .label = label};
    p.times_x = r->series[0].forms[0].kind == VALUES_TIMES;
    p.times_y = r->series[0].forms[1].kind == VALUES_TIMES;
    p.bin_names = x_names ? (const char *const *)x_names->text : NULL;
    p.y_bin_names = y_names ? (const char *const *)y_names->text : NULL;
    p.x_label = names.axis[0];
    p.y_label = names.axis[1];
    p.heat = &heat;
    dense_run run;
    if (s->dense && dense_run_find(t, &run)) {
        p.x_lines[0] = run.lo;
        p.x_lines[1] = run.hi;
    }
    int failed = plot_write(&p, format, o, f);
    free(values);
    free(footer);
    return failed;
}

int picture_write(const result *r, const settings *s, outfile *o, const char *format, fault *f)
{
    int naxes = result_naxes(r);
    if (naxes == 2 && r->count > 1)
        return fault_set(f, EXIT_USAGE, "%d heat maps do not fit into one picture: leave --batch out, or show one file",
                         r->count);
    table *tables = tables_read(r, TABLE_OF_ALL, f);
    if (!tables) return -1;
    plot p = {
        .title = s->title ? s->title : r->title, .dark = s->dark, .width = s->plot_width, .height = s->plot_height};
    int failed = naxes == 1 ? draw_groups(r, tables, p, s, format, o, f) : draw_heat(r, &tables[0], p, s, format, o, f);
    tables_free(tables, r);
    return failed;
}

#define PICTURE(format)                                                                                                \
    static int write_##format(const result *r, const settings *s, outfile *o, fault *f)                                \
    {                                                                                                                  \
        return picture_write(r, s, o, #format, f);                                                                     \
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
