/* The terminal drawing, and the statistics below it. */
#include <stdlib.h>
#include <string.h>

#include "output/terminal/terminal.h"
#include "output/writers/writers.h"

/* Lines around the drawing: the title, the run, and the shell's prompt. */
enum { AROUND = 4 };

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
    if (!table_dense_run(t, &run)) return;
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
    if (naxes > 2) return draw_projections(to, r, s, rows, f);
    if (naxes == 1 && r->bytes && r->count == 1)
        terminal_bytes(to, &tables[0], rows - 1, s->log_counts);
    else if (naxes == 1)
        drawn = terminal_bars(to, r, tables, rows, s->log_counts);
    for (int i = 0; naxes == 2 && i < r->count && drawn; i++) {
        drawn = terminal_heat(to, r, &tables[i], rows - s->dense, s->log_counts);
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

/* Draw groups of series below each other, each as high as the screen allows, or as is readable. */
static int draw_groups(const screen *to, const result *r, const table *tables, const settings *s, fault *f)
{
    enum { LOWEST = 8 };
    int groups = 0, rows = to->rows - AROUND;
    const bool one_table = result_is_uniform(r); /* of statistics */
    if (one_table) rows -= terminal_stats_rows(to, r);
    for (int i = 0; i < r->count; i = result_group_end(r, i))
        groups++;
    if (groups > 1 && rows / groups < LOWEST) rows = LOWEST * groups;
    for (int first = 0, end; first < r->count; first = end) {
        char name[320];
        result group = *r;
        end = result_group_end(r, first);
        group.series = &r->series[first];
        group.count = end - first;
        if (groups > 1 && group.count == 1) put_bold(to, label_of_series(r, first, name, sizeof name));
        int height = rows / groups - (groups > 1) - (one_table ? 0 : terminal_stats_rows(to, &group));
        if (draw_group(to, &group, &tables[first], s, height, f) != 0) return -1;
        if (!one_table) terminal_stats(to, &group, &tables[first]);
    }
    if (one_table) terminal_stats(to, r, tables);
    return 0;
}

static int write_text(const result *r, const settings *s, outfile *o, fault *f)
{
    screen to = screen_of(outfile_stream(o));
    const char *title = s->title ? s->title : r->title;
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    if (title) put_bold(&to, title);
    int failed = draw_groups(&to, r, tables, s, f);
    if (!failed && r->ran[0]) screen_phrases(&to, r->ran);
    tables_free(tables, r);
    return failed;
}

const writer writer_text = {.name = "text", .shows_stats = true, .mixes = true, .write = write_text};
