/* The terminal drawing, and the statistics below it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/dense_run.h"
#include "output/terminal/terminal.h"
#include "output/writers/writers.h"

/* Lines around the drawing: the title, and the shell's prompt. */
enum { AROUND = 3 };

static int draw_group(const screen *to, const result *r, const table *tables, const settings *s, int rows, fault *f);

/* For a joint histogram of more than two axes: the histogram of each axis. */
static int draw_projections(const screen *to, const result *r, const settings *s, int rows, fault *f)
{
    int naxes = result_naxes(r), failed = 0;
    for (int a = 0; a < naxes && !failed; a++) {
        result one = {0};
        histo_hist *hist;
        table *t = NULL;
        char name[320];
        label_of_axis(r, a, name, sizeof name);
        if (histo_hist_project(r->series[0].hist, 1, &a, &hist) != HISTO_OK)
            return fault_set(f, EXIT_DATA, "the axis %.60s cannot be drawn: %s", name, histo_last_error());
        failed = result_add(&one, hist, name, f);
        if (!failed && !(t = tables_read(&one, TABLE_OF_OCCUPIED, f))) failed = -1;
        if (!failed) {
            fprintf(to->out, "%s alone\n", name);
            failed = draw_group(to, &one, t, s, rows / naxes - 1, f);
        }
        tables_free(t, &one);
        result_free(&one);
    }
    return failed;
}

static void put_dense_run(const screen *to, const result *r, const table *t)
{
    char name[320], text[600], lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
    dense_run run;
    if (!dense_run_find(t, &run)) return;
    text_short(run.lo, lo);
    text_short(run.hi, hi);
    snprintf(text, sizeof text, "%.3g %% of the samples are in %lld of %lld bins of %.60s, from %s to %s",
             100 * run.share, (long long)run.bins, (long long)t->bins[0], label_of_axis(r, 0, name, sizeof name), lo,
             hi);
    screen_phrases(to, text);
}

/* Draw series with the same axes. */
static int draw_group(const screen *to, const result *r, const table *tables, const settings *s, int rows, fault *f)
{
    int naxes = result_naxes(r);
    bool drawn = true;
    const titles names = titles_of(r, s);
    if (naxes > 2) return draw_projections(to, r, s, rows, f);
    const view asked = view_asked(s, NULL);
    if (naxes == 1 && result_has_characters(r) && r->count == 1 && view_is_plain(&asked))
        terminal_bytes(to, &tables[0], rows - 1, s->scale);
    else if (naxes == 1)
        drawn = terminal_bars(to, r, tables, rows, s);
    for (int i = 0; naxes == 2 && i < r->count && drawn; i++) {
        drawn = terminal_heat(to, r, &tables[i], &names, rows - s->dense, s);
        if (drawn && s->dense) put_dense_run(to, r, &tables[i]);
    }
    return drawn ? 0 : fault_set(f, EXIT_DATA, "no memory to draw the histogram");
}

static void put_bold(const screen *to, const char *text)
{
    screen_style(to, "1");
    screen_text(to, text, text_columns(text) < to->columns ? text_columns(text) : to->columns - 1);
    screen_plain(to);
    putc('\n', to->out);
}

/* The number of panels that fit side by side. */
static int panels_across(const screen *to, int panels)
{
    enum { NARROWEST = 38 };
    const int most = (to->columns - 1) / NARROWEST;
    if (most <= 1) return 1;
    const int lines = (panels + most - 1) / most;
    return (panels + lines - 1) / lines; /* all lines alike */
}

/* The columns of a line, without colour codes. */
static int columns_of_line(const char *line)
{
    char plain[4096];
    size_t length = 0;
    for (; *line && length < sizeof plain - 1; line++)
        if (*line == '\033')
            line += strcspn(line, "m");
        else
            plain[length++] = *line;
    plain[length] = '\0';
    return text_columns(plain);
}

/* Drawings as text, side by side, each `width` columns wide. */
static void put_beside(const screen *to, char **drawings, int count, int width)
{
    char *rest[64];
    bool more = false;
    for (int i = 0; i < count; i++) {
        rest[i] = drawings[i];
        more = more || *rest[i];
    }
    while (more) {
        more = false;
        for (int i = 0; i < count; i++) {
            char *line = rest[i], *end = line + strcspn(line, "\n");
            rest[i] = *end ? end + 1 : end;
            *end = '\0';
            fputs(line, to->out);
            if (i + 1 < count) fprintf(to->out, "%*s", width - columns_of_line(line), "");
            more = more || *rest[i];
        }
        putc('\n', to->out);
    }
}

/* A group in a panel with its name; `drawing` is freed by the caller. */
static int draw_panel(const screen *to, const result *group, const table *tables, const settings *s, int rows,
                      char **drawing, fault *f)
{
    char name[320];
    size_t size;
    screen panel = *to;
    panel.out = open_memstream(drawing, &size);
    if (!panel.out) return fault_set(f, EXIT_DATA, "no memory to draw the histogram");
    if (group->count == 1) put_bold(&panel, label_of_series(group, 0, name, sizeof name));
    const int failed = draw_group(&panel, group, tables, s, rows - 1, f);
    return fclose(panel.out) == 0 ? failed : fault_set(f, EXIT_DATA, "no memory to draw the histogram");
}

/* The group of series with the same axes that begins with `first`. */
static result group_at(const result *r, int first)
{
    result group = *r;
    group.series = &r->series[first];
    group.count = result_group_end(r, first) - first;
    return group;
}

/* Panels of groups with one axis, in rows. */
static int draw_multiples(const screen *to, const result *r, const table *tables, const settings *s, int groups,
                          int rows, fault *f)
{
    enum { LOWEST = 6, HIGHEST = 20, MOST = 64, GAP = 2 };
    const int across = panels_across(to, groups) < MOST ? panels_across(to, groups) : MOST;
    const int lines = (groups + across - 1) / across, share = rows / lines;
    const int height = share < LOWEST ? LOWEST : share > HIGHEST ? HIGHEST : share;
    screen panel = *to;
    panel.columns = (to->columns - 1 + GAP) / across - GAP + 1; /* drawings leave the last one free */
    bool scaled = false;
    panel.scaled = &scaled;
    int first = 0, failed = 0;
    while (first < r->count && !failed) {
        char *drawings[MOST] = {NULL};
        int count = 0;
        for (; count < across && first < r->count && !failed; count++) {
            const result group = group_at(r, first);
            failed = draw_panel(&panel, &group, &tables[first], s, height, &drawings[count], f);
            first += group.count;
        }
        if (!failed) put_beside(to, drawings, count, panel.columns - 1 + GAP);
        for (int i = 0; i < count; i++)
            free(drawings[i]);
    }
    if (scaled && !failed) screen_phrases(to, "bars of rows with fewer bins are scaled up");
    return failed;
}

/* Draw groups of series below each other, each as high as the screen allows, or as is readable. */
static int draw_groups(const screen *to, const result *r, const table *tables, const settings *s, fault *f)
{
    enum { LOWEST = 8 };
    int groups = 0, rows = to->rows - AROUND;
    const bool one_table = result_is_uniform(r); /* of statistics */
    if (one_table) rows -= terminal_stats_rows(to, r, s);
    for (int i = 0; i < r->count; i = result_group_end(r, i))
        groups++;
    if (groups > 1 && one_table && result_naxes(r) == 1) {
        if (draw_multiples(to, r, tables, s, groups, rows, f) != 0) return -1;
        return terminal_stats(to, r, tables, s, f);
    }
    if (groups > 1 && rows / groups < LOWEST) rows = LOWEST * groups;
    for (int first = 0; first < r->count;) {
        char name[320];
        const result group = group_at(r, first);
        if (groups > 1 && group.count == 1) put_bold(to, label_of_series(r, first, name, sizeof name));
        int height = rows / groups - (groups > 1) - (one_table ? 0 : terminal_stats_rows(to, &group, s));
        if (draw_group(to, &group, &tables[first], s, height, f) != 0) return -1;
        if (!one_table && terminal_stats(to, &group, &tables[first], s, f) != 0) return -1;
        first += group.count;
    }
    return one_table ? terminal_stats(to, r, tables, s, f) : 0;
}

/* "msft.csv · Close (USD)" */
static void put_title(const screen *to, const result *r, const settings *s)
{
    const titles names = titles_of(r, s);
    const char *title = s->title ? s->title : r->title ? r->title : "";
    const bool has_unit = r->count && r->series[0].forms[0].unit;
    const char *axis = result_naxes(r) == 1 && (!s->title || s->x_label || s->unit || has_unit) ? names.axis[0] : "";
    const char *values = result_naxes(r) == 1 && s->y_label ? names.values : "", *divider = to->signs->divider;
    char line[1400];
    snprintf(line, sizeof line, "%.512s%s%s%s%s", title, *title && *axis ? divider : "", axis,
             *values && (*title || *axis) ? divider : "", values);
    if (*line) put_bold(to, line);
}

int text_draw(const screen *on, const result *r, const settings *s, fault *f)
{
    screen to = *on;
    if (s->ascii) screen_use_ascii(&to);
    if (s->light || s->dark) to.light = s->light;
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    put_title(&to, r, s);
    int failed = draw_groups(&to, r, tables, s, f);
    if (!failed && s->verbose && r->ran[0]) screen_phrases(&to, r->ran);
    tables_free(tables, r);
    return failed;
}

static int write_text(const result *r, const settings *s, outfile *o, fault *f)
{
    const screen to = screen_of(outfile_stream(o));
    return text_draw(&to, r, s, f);
}

const writer writer_text = {.name = "text", .shows_stats = true, .mixes = true, .write = write_text};
