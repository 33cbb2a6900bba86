/* The drawing for a terminal, and the statistics below it. */
#include <stdlib.h>
#include <string.h>

#include "output/terminal/terminal.h"
#include "output/writers/writers.h"

/* Lines around the drawing: the title, what ran, and the shell's prompt. */
enum { AROUND = 4 };

/* A joint histogram of more than two axes: the histogram of each axis alone. */
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
        if (!failed && !(t = tables_read(&one, TABLE_OF_ALL, f))) failed = -1;
        if (!failed) {
            fprintf(to->out, "%s alone\n", name);
            terminal_bars(to, &one, t, rows / naxes - 1, s->log_counts);
        }
        tables_free(t, &one);
        result_free(&one);
    }
    return failed;
}

static int draw(const screen *to, const result *r, const table *tables, const settings *s, fault *f)
{
    int naxes = result_naxes(r), rows = to->rows - AROUND - terminal_stats_rows(to, r);
    if (naxes > 2) return draw_projections(to, r, s, rows, f);
    if (naxes == 1 && r->bytes && r->count == 1)
        terminal_bytes(to, &tables[0], rows - 1, s->log_counts);
    else if (naxes == 1)
        terminal_bars(to, r, tables, rows, s->log_counts);
    for (int i = 0; naxes == 2 && i < r->count; i++)
        terminal_heat(to, r, &tables[i], rows, s->log_counts);
    return 0;
}

/* Series with the same axes. */
static int write_group(const screen *to, const result *r, const settings *s, fault *f)
{
    table *tables = tables_read(r, result_naxes(r) > 2 ? TABLE_OF_OCCUPIED : TABLE_OF_ALL, f);
    if (!tables) return -1;
    int failed = draw(to, r, tables, s, f);
    if (!failed) terminal_stats(to, r, tables);
    tables_free(tables, r);
    return failed;
}

static int write_text(const result *r, const settings *s, outfile *o, fault *f)
{
    screen to = screen_of(outfile_stream(o));
    const char *title = s->title ? s->title : r->title;
    if (title) {
        screen_style(&to, "1");
        screen_text(&to, title, text_columns(title) < to.columns ? text_columns(title) : to.columns - 1);
        screen_plain(&to);
        putc('\n', to.out);
    }
    for (int first = 0, end; first < r->count; first = end) {
        for (end = first + 1; end < r->count && result_alike(r, first, end);)
            end++;
        result group = *r;
        group.series = &r->series[first];
        group.count = end - first;
        if (write_group(&to, &group, s, f) != 0) return -1;
    }
    if (r->ran[0]) screen_phrases(&to, r->ran);
    return 0;
}

const writer writer_text = {.name = "text", .shows_stats = true, .any_axes = true, .write = write_text};
