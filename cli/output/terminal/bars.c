/* Bars in a terminal: one row per bin, or per as many neighbouring bins as necessary to fit. The first and last row may
 * have fewer bins. If the axis contains all samples, the missing bins would be empty, and the row is drawn with them.
 * Otherwise its bar is scaled up as if it had all, so that it does not look like a drop. Several histograms are drawn
 * side by side on one scale, or below each other if the window is too narrow. */
#include <stdlib.h>
#include <string.h>

#include "output/scale.h"
#include "output/terminal/terminal.h"

enum { NARROWEST_BAR = 8, GAP = 2, LOWEST = 6 };

typedef struct chart {
    const screen *to;
    const result *result;
    const table *tables;
    bin_rows of_bins;
    int64_t rows;
    double *values;  /* [series * rows]: sums */
    double *heights; /* likewise: the quantities that bars represent */
    view view;
    bool whole;             /* bins are integers */
    bool complete;          /* the bins were found, and contain all samples */
    histo_axis full;        /* the rows as bins, if the bins missing from the first and last row are empty */
    const bin_names *names; /* of bins; NULL: they have edges */
    edge_form edges;
    scale scale, rest; /* for all bars; for those of values without a bar of their own */
    bool apart;        /* the two differ: named bars are cut off, and groups have their own scale */
    int label_width, value_width;
} chart;

/* Colours that suit light and dark backgrounds, as the terminal defines them. */
static const char *style_of_series(const result *r, int i)
{
    static const char *const styles[] = {
        [TONE_RED] = "91",  [TONE_GREEN] = "92",   [TONE_BLUE] = "94",  [TONE_GRAY] = "37",
        [TONE_CYAN] = "96", [TONE_MAGENTA] = "95", [TONE_YELLOW] = "93"};
    static const char *const others[] = {"36",       "33",       "35",       "32",       "34",       "31",
                                         "38;5;208", "38;5;99",  "38;5;70",  "38;5;168", "38;5;31",  "38;5;136",
                                         "38;5;37",  "38;5;133", "38;5;64",  "38;5;161", "38;5;61",  "38;5;94",
                                         "38;5;79",  "38;5;173", "38;5;105", "38;5;107", "38;5;125", "38;5;67"};
    const series_tone t = tone_of_series(r, i);
    return t != TONE_NONE ? styles[t] : others[(size_t)i % (sizeof others / sizeof *others)];
}

static char *value_text(const chart *c, double value, char text[TEXT_NUMBER_BYTES])
{
    const bool whole = c->view.kind == VIEW_COUNTS || c->view.kind == VIEW_PER_UNIT;
    if (whole && !result_is_weighted(c->result)) return text_count((uint64_t)value, text);
    return text_readable(value, 0, 0, text);
}

/* The number next to a bar: counts of bins of different widths remain counts. */
static double row_value(const chart *c, int i, int64_t row)
{
    return (c->view.kind == VIEW_PER_UNIT ? c->values : c->heights)[i * c->rows + row];
}

static bool add_up_rows(chart *c)
{
    const size_t size = (size_t)(c->result->count * c->rows) * sizeof *c->values;
    free(c->values);
    free(c->heights);
    c->values = calloc(1, size);
    c->heights = malloc(size);
    if (!c->values || !c->heights) return false;
    for (int i = 0; i < c->result->count; i++) {
        int64_t slot;
        for (int64_t cell = -1; table_next(&c->tables[i], &cell, &slot);)
            if (table_is_bin(&c->tables[i], &slot))
                c->values[i * c->rows + (slot - 1 + c->of_bins.lacking) / c->of_bins.each] +=
                    table_value(&c->tables[i], cell);
    }
    memcpy(c->heights, c->values, size);
    for (int i = 0; i < c->result->count && !view_is_plain(&c->view); i++)
        view_apply(&c->view, &c->tables[i].axes[0], &c->of_bins, c->heights + i * c->rows);
    return true;
}

/* The bins in a row. */
static int64_t bins_of_row(const chart *c, int64_t row)
{
    return bin_rows_begin(&c->of_bins, row + 1) - bin_rows_begin(&c->of_bins, row);
}

/* The value that a row's bar represents. */
static double row_height(const chart *c, int i, int64_t row)
{
    const double whole =
        view_adds_up(&c->view) && !c->full.bins ? (double)c->of_bins.each / (double)bins_of_row(c, row) : 1;
    return c->heights[i * c->rows + row] * whole;
}

static double edge_of_row(const chart *c, int64_t row)
{
    return c->full.bins ? histo_axis_edge(&c->full, row)
                        : histo_axis_edge(&c->tables[0].axes[0], bin_rows_begin(&c->of_bins, row));
}

/* "0 … 15" for integers, "0.0 … 0.1" for other values. */
static void put_label(const chart *c, int64_t row)
{
    char text[TEXT_NUMBER_BYTES], name[320];
    if (c->names) {
        screen_text(c->to, label_of_name(c->names, row, name, sizeof name), c->label_width);
        return;
    }
    const int width = c->edges.width;
    screen_text(c->to, edge_text(&c->edges, edge_of_row(c, row), text), -width);
    if (c->whole && c->of_bins.each == 1) return;
    const bool alone = c->whole && !c->full.bins && bins_of_row(c, row) == 1;
    fputs(alone ? "   " : c->to->signs->to, c->to->out);
    const double end = edge_of_row(c, row + 1) - (c->whole ? 1 : 0);
    screen_text(c->to, alone ? "" : edge_text(&c->edges, end, text), -width);
}

/* Whether a bar stands for all values without a bar of their own. */
static bool is_rest(const chart *c, int i, int64_t row)
{
    return c->result->series[i].rest || (c->names && c->names->others && row == c->rows - 1);
}

static void put_bar(const chart *c, int i, int64_t row, int width)
{
    const double value = row_value(c, i, row), height = row_height(c, i, row);
    const bool apart = c->apart && is_rest(c, i, row), cut = apart && c->names;
    char text[TEXT_NUMBER_BYTES];
    screen_style(c->to, style_of_series(c->result, i));
    screen_bar(c->to, scale_of(apart && !cut ? &c->rest : &c->scale, height), cut ? width - 1 : width);
    if (cut) fputs(c->to->signs->cut, c->to->out);
    screen_plain(c->to);
    if (c->value_width) screen_text(c->to, value_text(c, value, text), -c->value_width - 1);
}

static void put_name(const chart *c, int i, int width)
{
    char name[320];
    screen_style(c->to, style_of_series(c->result, i));
    screen_text(c->to, label_of_series(c->result, i, name, sizeof name), width);
    screen_plain(c->to);
}

/* Draw histograms [first, end) side by side. */
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

/* The longest name, but at most two fifths of the screen. */
static int width_of_names(const chart *c)
{
    const int most = c->to->columns * 2 / 5;
    int width = 1;
    for (int64_t b = 0; b < c->names->count; b++) {
        char name[320];
        const int columns = text_columns(label_of_name(c->names, b, name, sizeof name));
        if (columns > width) width = columns;
    }
    return width < most ? width : most;
}

/* If all other values together exceed the largest of the rest by this factor, they would leave little room for its
 * bars. */
static const double much = 1.5;

static bool set_rows(chart *c, int rows)
{
    const histo_axis *axis = &c->tables[0].axes[0];
    const bin_rows rows_of_names = {axis->bins, 1, 0};
    c->of_bins = c->names ? rows_of_names : rows_of_axis(axis, rows > 2 ? rows : 2, &c->full);
    if (!c->complete) c->full = (histo_axis){0};
    c->rows = bin_rows_count(&c->of_bins);
    if (c->names) {
        c->label_width = width_of_names(c);
    } else {
        const bin_rows full = {c->full.bins, 1, 0};
        c->edges = edge_form_of(&c->result->series[0].forms[0], c->full.bins ? &c->full : axis,
                                c->full.bins ? &full : &c->of_bins);
        c->label_width = c->whole && c->of_bins.each == 1 ? c->edges.width : 2 * c->edges.width + 3;
    }
    c->value_width = 0;
    if (!add_up_rows(c)) return false;
    c->scale.least = c->scale.most = 0;
    c->rest = c->scale;
    for (int i = 0; i < c->result->count; i++)
        for (int64_t row = 0; row < c->rows; row++) {
            char text[TEXT_NUMBER_BYTES];
            const double value = row_value(c, i, row);
            scale_add(is_rest(c, i, row) ? &c->rest : &c->scale, row_height(c, i, row));
            const int width = (int)strlen(value_text(c, value, text));
            if (width > c->value_width) c->value_width = width;
        }
    c->apart = c->scale.most > 0 && c->rest.most > much * c->scale.most;
    if (!c->apart) scale_add(&c->scale, c->rest.most);
    if (!c->apart) scale_add(&c->scale, c->rest.least);
    return true;
}

static int bar_width(const chart *c, int panels)
{
    return (c->to->columns - 1 - c->label_width) / panels - GAP - (c->value_width ? c->value_width + 1 : 0);
}

/* The widest name, up to a width that fits on a screen. */
static int name_width(const chart *c)
{
    enum { WIDEST = 30 };
    int widest = 0;
    char name[320];
    for (int i = 0; i < c->result->count; i++) {
        const int width = text_columns(label_of_series(c->result, i, name, sizeof name));
        if (width > widest) widest = width;
    }
    return widest < WIDEST ? widest : WIDEST;
}

/* Whether there is room for this many panels side by side, and for their names. */
static bool has_room(const chart *c, int panels)
{
    const int bar = bar_width(c, panels), values = c->value_width ? c->value_width + 1 : 0;
    return bar >= NARROWEST_BAR && (c->result->count == 1 || bar + values >= name_width(c));
}

/* All side by side if the screen is wide enough, without counts if necessary; else in several lines. */
static bool put_chart(chart *c, int rows)
{
    const int count = c->result->count, notes = !c->to->scaled;
    if (!set_rows(c, rows - (count > 1) - notes)) return false;
    const int value_width = c->value_width;
    if (count > 1 && !has_room(c, count)) c->value_width = 0;
    int across = count;
    if (!has_room(c, count)) {
        c->value_width = value_width;
        while (across > 1 && !has_room(c, across))
            across--;
    }
    const int lines = (count + across - 1) / across;
    across = (count + lines - 1) / lines;
    const int share = (rows - notes) / lines - 1;
    if (lines > 1 && !set_rows(c, share > LOWEST ? share : LOWEST)) return false;
    const int width = bar_width(c, across);
    for (int first = 0; first < count; first += across)
        put_panels(c, first, first + across < count ? first + across : count, width > 1 ? width : 1);
    return true;
}

bool terminal_bars(const screen *to, const result *r, const table *tables, int rows, const settings *s)
{
    char number[TEXT_NUMBER_BYTES];
    chart c = {.to = to, .result = r, .tables = tables, .view = view_drawn(s, &r->series[0]), .scale.kind = s->scale};
    c.whole = tables[0].axes[0].kind == HISTO_INTEGER;
    c.names = result_bin_names(r, 0, 0);
    c.complete = !s->bins && !s->width && !s->range && !s->edges;
    for (int i = 0; i < r->count; i++)
        c.complete = c.complete && !tables[i].under[0] && !tables[i].over[0];
    bool drawn = put_chart(&c, rows);
    free(c.values);
    free(c.heights);
    if (!drawn) return false;
    char notes[256];
    int length = 0;
    const int64_t each = c.of_bins.each;
    if (each > 1)
        length = snprintf(notes, sizeof notes, "%lld bins to a row (%s in all)", (long long)each,
                          text_count((uint64_t)c.of_bins.bins, number));
    const int64_t first = bins_of_row(&c, 0), last = bins_of_row(&c, c.rows - 1);
    const bool first_scaled = first < each && c.rows > 1, last_scaled = last < each;
    const bool scaled_up = (first_scaled || last_scaled) && view_adds_up(&c.view) && !c.full.bins;
    if (scaled_up && first_scaled && last_scaled)
        length += snprintf(notes + length, sizeof notes - (size_t)length, " · the first and last bar are scaled up");
    else if (scaled_up)
        length += snprintf(notes + length, sizeof notes - (size_t)length, " · the %s bar is scaled up from %lld",
                           first_scaled ? "first" : "last", (long long)(first_scaled ? first : last));
    const char *const divider = length ? " · " : "", *const scaled = scale_name(s->scale);
    if (!view_is_plain(&c.view)) {
        char shown[128];
        label_of_values(r, &c.view, s, shown, sizeof shown);
        length += snprintf(notes + length, sizeof notes - (size_t)length, "%sbars: %s%s%s", divider, scaled,
                           *scaled ? " " : "", shown);
    } else if (*scaled) {
        length += snprintf(notes + length, sizeof notes - (size_t)length, "%s%s bars", divider, scaled);
    }
    if (c.apart)
        length += snprintf(notes + length, sizeof notes - (size_t)length, "%s%s", length ? " · " : "",
                           c.names ? "the bar of all others is cut" : "all others are on a scale of their own");
    if (length && !to->scaled) screen_phrases(to, notes);
    if (to->scaled && scaled_up) *to->scaled = true;
    return true;
}
