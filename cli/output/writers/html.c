/* A page that needs no network: tables, which page/page.js draws. Series on one axis share a figure, and a heat map is
 * a table with a row for each bin of the second axis. Bins too many to distinguish are merged, and the size of the page
 * is bounded. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "output/labels.h"
#include "output/scale.h"
#include "output/ticks.h"
#include "output/writers/describe.h"
#include "output/writers/writers.h"

extern const char page_css[], page_js[]; /* the files in page/ */

enum { MOST_ROWS = 2048, FEWEST_ROWS = 64, MOST_NUMBERS = 1 << 20, MOST_CELLS = 256 }; /* in a figure */

/* Text of an element or, in quotes, of an attribute. */
static void put_text(FILE *out, const char *text)
{
    static const char *const escapes[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < sizeof escapes / sizeof *escapes && escapes[c])
            fputs(escapes[c], out);
        else
            putc(c < ' ' || c == 0x7f ? ' ' : c, out);
    }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " data-%s=\"", name);
    put_text(out, text);
    putc('"', out);
}

static void put_number(FILE *out, double value)
{
    char text[TEXT_NUMBER_BYTES];
    fputs(text_exact(value, text), out);
}

/* A cell with an edge: times and words, which are for readers, are accompanied by their number. */
static void put_edge(FILE *out, const char *tag, const axis_form *form, const histo_axis *axis, int64_t edge)
{
    const double value = histo_axis_edge(axis, edge);
    char text[TEXT_NUMBER_BYTES];
    fprintf(out, "<%s", tag);
    if (form->names || form->kind == VALUES_TIMES) put_attribute(out, "v", text_exact(value, text));
    putc('>', out);
    if (form->names)
        put_text(out, form->names->text[edge]);
    else if (form->kind == VALUES_TIMES)
        put_text(out, label_of_value(form, value, value, value, text));
    else
        put_number(out, value);
}

static void put_color(FILE *out, const char *name, plot_color c, double lighten)
{
    const double parts[] = {c.r, c.g, c.b};
    fprintf(out, " data-%s=\"#", name);
    for (int i = 0; i < 3; i++)
        fprintf(out, "%02x", (unsigned)lround(255 * (parts[i] + lighten * (1 - parts[i]))));
    putc('"', out);
}

/* The lines below a drawing. */
static void put_lines(FILE *out, char *text)
{
    for (char *line = text; line && *line;) {
        char *end = line + strcspn(line, "\n");
        const bool more = *end;
        *end = '\0';
        fputs("<p>", out);
        put_text(out, line);
        fputs("\n", out);
        line = end + more;
    }
}

/* How many bins share a row or a column. */
static int64_t bins_in_one(int64_t bins, int64_t most)
{
    return (bins + most - 1) / most;
}

static void begin_figure(FILE *out, const char *kind, const char *x, const char *y)
{
    fputs("<figure", out);
    put_attribute(out, "kind", kind);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
}

/* A scale and its labelled ticks, [value, text, exponent]: many, some and few; the page takes the most that fit. */
static void put_scale(FILE *out, const char *name, const plot_scale *s, plot_notation notation)
{
    static const int most[] = {16, 8, 4, 2};
    char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
    fprintf(out, " data-%s='{\"kind\":\"%s\",\"lo\":%s,\"hi\":%s,\"ticks\":[", name,
            s->log    ? "log"
            : s->root ? "sqrt"
                      : "linear",
            text_exact(s->lo, lo), text_exact(s->hi, hi));
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        plot_ticks t;
        const char *between = "";
        plot_ticks_make(&t, s, notation, most[i]);
        fputs(i ? ",[" : "[", out);
        for (int k = 0; k < t.count; k++) {
            const plot_tick *tick = &t.tick[k];
            if (!tick->label.text[0]) continue;
            fprintf(out, "%s[%s,\"%s\",\"%s\"]", between, text_exact(tick->value, lo), tick->label.text,
                    tick->label.exponent);
            between = ",";
        }
        putc(']', out);
    }
    fputs("]}'", out);
}

static plot_scale scale_of_axis(const histo_axis *axis, const axis_form *form)
{
    return (plot_scale){
        .lo = axis->lo, .hi = axis->hi, .log = axis->kind == HISTO_LOG, .times = form->kind == VALUES_TIMES};
}

static void begin_table(FILE *out, const char *caption, const char *label)
{
    fputs(">\n", out);
    if (*caption) {
        fputs("<figcaption>", out);
        put_text(out, caption);
        fputs("</figcaption>\n", out);
    }
    fputs("<div class=\"legend\"></div>\n<div class=\"chart\" role=\"application\" aria-label=\"", out);
    put_text(out, label);
    fputs(", as in the table below; arrow keys choose a bin\"></div>\n", out);
}

static const double lighten = 0.25; /* of colours on a dark background */

/* The values of bars, [rows] for each series. NULL if out of memory. */
static double *values_of(const result *group, const table *tables, const view *v, int64_t each, int64_t rows)
{
    double *values = calloc((size_t)group->count * (size_t)rows, sizeof *values);
    for (int i = 0; i < group->count && values; i++) {
        double *of = values + i * rows;
        for (int64_t b = 0; b < tables[i].bins[0]; b++)
            of[b / each] += table_value(&tables[i], b + 1);
        if (!view_is_plain(v)) view_apply(v, &tables[i].axes[0], &(bin_rows){tables[i].bins[0], each, 0}, of);
    }
    return values;
}

static void put_bins(FILE *out, const result *group, const table *tables, int64_t each, const double *values,
                     int64_t rows)
{
    const histo_axis *axis = &tables[0].axes[0];
    const axis_form *form = &group->series[0].forms[0];
    char text[TEXT_NUMBER_BYTES];
    for (int64_t b = 0; b < axis->bins; b += each) {
        const int64_t end = b + each < axis->bins ? b + each : axis->bins;
        fputs("<tr>", out);
        if (result_has_characters(group)) {
            fputs("<td>", out);
            put_text(out, label_of_byte((int)histo_axis_edge(axis, b), text));
        } else {
            put_edge(out, "td", form, axis, b);
            if (!form->names) put_edge(out, "td", form, axis, end);
        }
        for (int i = 0; i < group->count; i++) {
            fputs("<td>", out);
            put_number(out, values[i * rows + b / each]);
        }
        putc('\n', out);
    }
}

/* The scale of the heights. If the last row has fewer bins, it is scaled up. */
static void put_heights(FILE *out, const double *values, int count, int64_t rows, double last, count_scale kind)
{
    plot_extent e = PLOT_NO_VALUES;
    for (int64_t i = 0; i < count * rows; i++)
        plot_extent_add(&e, (i + 1) % rows == 0 ? values[i] * last : values[i]);
    const plot_scale upward = plot_scale_of_heights(&e, kind);
    put_scale(out, "upward", &upward, (plot_notation){.counts = true, .whole = e.whole});
}

/* Series on one axis; first: the index in r of the group's first series. */
static int put_bars(FILE *out, const result *group, const table *tables, const result *r, int first, const settings *s,
                    fault *f)
{
    const histo_axis *axis = &tables[0].axes[0];
    const bin_names *names = result_bin_names(group, 0, 0);
    const bool named = names || result_has_characters(group);
    if (describe_check(axis, f) != 0) return -1;
    int64_t most = MOST_NUMBERS / r->count < MOST_ROWS ? MOST_NUMBERS / r->count : MOST_ROWS;
    if (most < FEWEST_ROWS) most = FEWEST_ROWS;
    const int64_t each = named ? 1 : bins_in_one(axis->bins, most), left = axis->bins % each;
    const int64_t rows = bins_in_one(axis->bins, each);
    const view v = view_drawn(s, &group->series[0]);
    double *values = values_of(group, tables, &v, each, rows);
    if (!values) return fault_set(f, EXIT_DATA, "no memory to draw the histogram");
    char x[400], name[320], number[TEXT_NUMBER_BYTES];
    const bool alone = group->count == 1 && group->count < r->count;
    describe_axis(group, s, x);
    const double last = left && view_adds_up(&v) ? (double)each / (double)left : 1;
    begin_figure(out, "bars", alone && !s->x_label && !s->unit ? "" : x, titles_of(group, s).values);
    plot_scale across = scale_of_axis(axis, group->series[0].forms);
    if (named) across = (plot_scale){.hi = (double)rows};
    put_scale(out, "across", &across, (plot_notation){0});
    put_heights(out, values, group->count, rows, last, s->scale);
    if (last > 1) put_attribute(out, "last", text_exact(last, number));
    begin_table(out, alone ? label_of_series(r, first, name, sizeof name) : "", x);
    char *lines = describe_series(group, tables);
    put_lines(out, lines);
    free(lines);
    if (each > 1) fprintf(out, "<p>%" PRId64 " bins, %" PRId64 " to a bar\n", axis->bins, each);
    fprintf(out, "<details><summary>Table</summary><div><table>\n<thead><tr>%s", named ? "<th>name" : "<th>lo<th>hi");
    for (int i = 0; i < group->count; i++) {
        const plot_color c = describe_color(r, first + i);
        fputs("<th", out);
        put_color(out, "light", c, 0);
        put_color(out, "dark", c, lighten);
        putc('>', out);
        put_text(out, group->count > 1 ? label_of_series(r, first + i, name, sizeof name)
                                       : label_of_values(r, &v, s, name, sizeof name));
    }
    fputs("\n<tbody>\n", out);
    put_bins(out, group, tables, each, values, rows);
    free(values);
    fputs("</table></div></details>\n</figure>\n", out);
    return 0;
}

/* The sums of bins that share a cell: [x * ny + y]. */
static double *cells_of(const table *t, const view *v, int64_t nx, int64_t ny, int64_t each_x, int64_t each_y)
{
    double *cells = calloc((size_t)(nx * ny), sizeof *cells);
    int64_t slots[HISTO_MAX_AXES];
    for (int64_t cell = -1; cells && table_next(t, &cell, slots);)
        if (table_is_bin(t, slots))
            cells[(slots[0] - 1) / each_x * ny + (slots[1] - 1) / each_y] += table_value(t, cell);
    if (cells && !view_is_plain(v))
        view_apply_cells(v, t->axes, (const int64_t[]){each_x, each_y}, cells, (const int64_t[]){nx, ny});
    return cells;
}

static int put_heat(FILE *out, const result *r, const table *t, int i, const settings *s, fault *f)
{
    const axis_form *forms = r->series[i].forms;
    const int64_t each_x = forms[0].names ? 1 : bins_in_one(t->bins[0], MOST_CELLS);
    const int64_t each_y = forms[1].names ? 1 : bins_in_one(t->bins[1], MOST_CELLS);
    const int64_t nx = bins_in_one(t->bins[0], each_x), ny = bins_in_one(t->bins[1], each_y);
    if (describe_check(&t->axes[0], f) != 0 || describe_check(&t->axes[1], f) != 0) return -1;
    const view v = view_asked(s, &r->series[i]);
    double *cells = cells_of(t, &v, nx, ny, each_x, each_y);
    if (!cells) return fault_set(f, EXIT_DATA, "no memory to draw the histogram");
    const titles names = titles_of(r, s);
    const count_scale kind = scale_suited(s->scale, cells, nx * ny);
    char name[320], number[TEXT_NUMBER_BYTES], label[900];
    begin_figure(out, "heat", names.axis[0], names.axis[1]);
    const plot_scale across = scale_of_axis(&t->axes[0], &forms[0]), upward = scale_of_axis(&t->axes[1], &forms[1]);
    plot_extent e = PLOT_NO_VALUES;
    for (int64_t k = 0; k < nx * ny; k++)
        plot_extent_add(&e, cells[k]);
    const plot_scale tones = plot_scale_of_colors(&e, kind);
    put_scale(out, "across", &across, (plot_notation){0});
    put_scale(out, "upward", &upward, (plot_notation){0});
    put_scale(out, "tones", &tones, (plot_notation){.counts = true, .whole = e.whole});
    put_attribute(out, "x-end", text_exact(t->axes[0].hi, number));
    put_attribute(out, "y-end", text_exact(t->axes[1].hi, number));
    if (forms[0].names || forms[0].kind == VALUES_TIMES) put_attribute(out, "told-x", "1");
    if (forms[1].names || forms[1].kind == VALUES_TIMES) put_attribute(out, "told-y", "1");
    if (forms[0].names) put_attribute(out, "words-x", "1");
    if (forms[1].names) put_attribute(out, "words-y", "1");
    snprintf(label, sizeof label, "%s against %s", names.axis[0], names.axis[1]);
    begin_table(out, r->count > 1 ? label_of_series(r, i, name, sizeof name) : "", label);
    fprintf(out, "<p>%s%s%s", names.values, *scale_name(kind) ? ", colours: " : "", scale_name(kind));
    if (each_x * each_y > 1) fprintf(out, " · %" PRId64 " x %" PRId64 " bins to a cell", each_x, each_y);
    fputs("\n<details><summary>Table</summary><div><table>\n<thead><tr><th>", out);
    for (int64_t x = 0; x < nx; x++) {
        put_edge(out, "th", &forms[0], &t->axes[0], x * each_x);
    }
    fputs("\n<tbody>\n", out);
    for (int64_t y = 0; y < ny; y++) {
        fputs("<tr>", out);
        put_edge(out, "th", &forms[1], &t->axes[1], y * each_y);
        for (int64_t x = 0; x < nx; x++) {
            fputs("<td>", out);
            put_number(out, cells[x * ny + y]);
        }
        putc('\n', out);
    }
    fputs("</table></div></details>\n</figure>\n", out);
    free(cells);
    return 0;
}

static int put_figures(FILE *out, const result *r, const table *tables, const settings *s, fault *f)
{
    int failed = 0;
    for (int first = 0, end; first < r->count && !failed; first = end) {
        result group = *r;
        end = result_group_end(r, first);
        group.series = &r->series[first];
        group.count = end - first;
        for (int i = first; result_naxes(r) == 2 && i < end && !failed; i++)
            failed = put_heat(out, r, &tables[i], i, s, f);
        if (result_naxes(r) == 1) failed = put_bars(out, &group, &tables[first], r, first, s, f);
    }
    return failed;
}

static int write_html(const result *r, const settings *s, outfile *o, fault *f)
{
    FILE *out = outfile_stream(o);
    const char *title = s->title ? s->title : r->title ? r->title : "histogram";
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    if (!tables) return -1;
    const bool single = result_naxes(r) == 1 ? result_group_end(r, 0) == r->count : r->count == 1;
    fprintf(out, "<!doctype html>\n<html lang=\"en\"%s>\n<head>\n<meta charset=\"utf-8\">\n",
            s->dark    ? " data-theme=\"dark\""
            : s->light ? " data-theme=\"light\""
                       : "");
    fputs("<meta name=\"viewport\" content=\"width=device-width\">\n<title>", out);
    put_text(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_css);
    put_text(out, title);
    fprintf(out, "</h1>\n<noscript>Without JavaScript, only the tables are shown.</noscript>\n<main%s>\n",
            single ? " class=\"single\"" : "");
    const int failed = put_figures(out, r, tables, s, f);
    fprintf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", page_js);
    tables_free(tables, r);
    return failed;
}

const writer writer_html = {.name = "html", .shows_stats = true, .max_axes = 2, .write = write_html};
