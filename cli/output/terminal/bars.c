/* Bars in a terminal: one row per bin, or per as many neighbouring bins as necessary to fit. Several histograms are
 * drawn next to each other on one scale, or below each other if the window is too narrow. */
#include <stdlib.h>
#include <string.h>

#include "output/terminal/terminal.h"

enum { NARROWEST_BAR = 8, GAP = 2 };

typedef struct chart {
    const screen *to;
    const result *result;
    const table *tables;
    int64_t bins, in_a_row, rows;
    double *values; /* [series * rows] */
    bool whole;     /* bins are integers */
    edge_form edges;
    scale scale;
    int label_width, value_width;
} chart;

static char *value_text(const chart *c, double value, char text[TEXT_NUMBER_BYTES])
{
    return result_is_weighted(c->result) ? text_short(value, text) : text_count((uint64_t)value, text);
}

static double row_value(const chart *c, int i, int64_t row)
{
    return c->values[i * c->rows + row];
}

static bool add_up_rows(chart *c)
{
    free(c->values);
    c->values = calloc((size_t)(c->result->count * c->rows), sizeof *c->values);
    for (int i = 0; i < c->result->count && c->values; i++) {
        int64_t slot;
        for (int64_t cell = -1; table_next(&c->tables[i], &cell, &slot);)
            if (table_is_bin(&c->tables[i], &slot))
                c->values[i * c->rows + (slot - 1) / c->in_a_row] += table_value(&c->tables[i], cell);
    }
    return c->values;
}

/* "0 … 15" for integers, "0.0 … 0.1" for other values. */
static void put_label(const chart *c, int64_t row)
{
    char text[TEXT_NUMBER_BYTES];
    const histo_axis *axis = &c->tables[0].axes[0];
    int64_t first = row * c->in_a_row, last = first + c->in_a_row < c->bins ? first + c->in_a_row : c->bins;
    int width = c->edges.width;
    screen_text(c->to, edge_text(&c->edges, histo_axis_edge(axis, first), text), -width);
    if (c->whole && c->in_a_row == 1) return;
    bool alone = c->whole && last == first + 1;
    fputs(alone ? "   " : " … ", c->to->out);
    double end = histo_axis_edge(axis, last) - (c->whole ? 1 : 0);
    screen_text(c->to, alone ? "" : edge_text(&c->edges, end, text), -width);
}

static void put_bar(const chart *c, int i, int64_t row, int width)
{
    double value = row_value(c, i, row);
    char text[TEXT_NUMBER_BYTES];
    screen_style(c->to, style_of_tone(tone_of_series(c->result, i)));
    screen_bar(c->to, scale_of(&c->scale, value), width);
    screen_plain(c->to);
    if (c->value_width) screen_text(c->to, value_text(c, value, text), -c->value_width - 1);
}

static void put_name(const chart *c, int i, int width)
{
    char name[320];
    screen_style(c->to, style_of_tone(tone_of_series(c->result, i)));
    screen_text(c->to, label_of_series(c->result, i, name, sizeof name), width);
    screen_plain(c->to);
}

/* Draw histograms [first, end) next to each other. */
static void put_panels(const chart *c, int first, int end, int bar_width)
{
    int panel = bar_width + (c->value_width ? c->value_width + 1 : 0);
    if (c->result->count > 1) {
        fprintf(c->to->out, "%*s", c->label_width, "");
        for (int i = first; i < end; i++) {
            fprintf(c->to->out, "%*s", GAP, "");
            put_name(c, i, panel);
        }
        putc('\n', c->to->out);
    }
    for (int64_t row = 0; row < c->rows; row++) {
        put_label(c, row);
        for (int i = first; i < end; i++) {
            fprintf(c->to->out, "%*s", GAP, "");
            put_bar(c, i, row, bar_width);
        }
        putc('\n', c->to->out);
    }
}

static bool set_rows(chart *c, int rows)
{
    c->in_a_row = bins_in_a_row(c->bins, rows > 2 ? rows : 2);
    c->rows = (c->bins + c->in_a_row - 1) / c->in_a_row;
    c->edges = edge_form_of(&c->tables[0].axes[0], c->in_a_row);
    c->label_width = c->whole && c->in_a_row == 1 ? c->edges.width : 2 * c->edges.width + 3;
    c->value_width = 0;
    if (!add_up_rows(c)) return false;
    c->scale.least = c->scale.most = 0;
    for (int i = 0; i < c->result->count; i++)
        for (int64_t row = 0; row < c->rows; row++) {
            char text[TEXT_NUMBER_BYTES];
            double value = row_value(c, i, row);
            scale_add(&c->scale, value);
            int width = (int)strlen(value_text(c, value, text));
            if (width > c->value_width) c->value_width = width;
        }
    return true;
}

static int bar_width(const chart *c, int panels)
{
    return (c->to->columns - 1 - c->label_width) / panels - GAP - (c->value_width ? c->value_width + 1 : 0);
}

/* Next to each other if the screen is wide enough, if necessary without counts; else below each other. */
static bool put_chart(chart *c, int rows)
{
    const int count = c->result->count;
    if (!set_rows(c, rows - (count > 1) - 1)) return false;
    if (bar_width(c, count) < NARROWEST_BAR && count > 1) {
        int without_values = bar_width(c, count) + c->value_width + 1;
        if (without_values >= NARROWEST_BAR) c->value_width = 0;
    }
    if (bar_width(c, count) >= NARROWEST_BAR || count == 1) {
        int width = bar_width(c, count);
        put_panels(c, 0, count, width > 1 ? width : 1);
        return true;
    }
    if (!set_rows(c, rows / count - 2)) return false;
    for (int i = 0; i < count; i++)
        put_panels(c, i, i + 1, bar_width(c, 1));
    return true;
}

bool terminal_bars(const screen *to, const result *r, const table *tables, int rows, bool log)
{
    char number[TEXT_NUMBER_BYTES];
    chart c = {.to = to, .result = r, .tables = tables, .bins = tables[0].bins[0], .scale.log = log};
    c.whole = tables[0].axes[0].kind == HISTO_INTEGER;
    bool drawn = put_chart(&c, rows);
    free(c.values);
    if (!drawn) return false;
    if (c.in_a_row > 1)
        fprintf(to->out, "%lld bins to a row (%s in all)%s", (long long)c.in_a_row,
                text_count((uint64_t)c.bins, number), log ? "; " : "\n");
    if (log) fputs("bars are logarithmic\n", to->out);
    return true;
}
