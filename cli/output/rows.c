#include "output/rows.h"
#include "output/labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/text.h"
#include "output/terminal/terminal.h"

static const char *const format_names[] = {"text", "tsv", "csv", "json"};

enum { FORMATS = sizeof format_names / sizeof *format_names };
enum { WAITING = 1 << 16 }; /* pending bytes of cells */

static int find_format(rows *to, const char *name)
{
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(name, format_names[i]) != 0) continue;
        to->format = (rows_format)i;
        return 0;
    }
    return -1;
}

static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

bool rows_take(const settings *s)
{
    rows ignored;
    return s->output_format || !s->output || strcmp(s->output, "-") == 0 ||
           find_format(&ignored, suffix_of(s->output)) == 0;
}

static int choose_format(rows *to, const settings *s, const char *path, fault *f)
{
    if (s->output_format) {
        if (find_format(to, s->output_format) == 0) return 0;
        return fault_set(f, EXIT_USAGE, "these numbers are written as text, tsv, csv or json, not '%.40s'",
                         s->output_format);
    }
    if (strcmp(path, "-") == 0) {
        to->format = isatty(STDOUT_FILENO) ? ROWS_TEXT : ROWS_TSV;
        return 0;
    }
    if (find_format(to, suffix_of(path)) == 0) return 0;
    return fault_set(f, EXIT_USAGE,
                     "%s: these numbers are written as text, tsv, csv or json: add such a suffix, or --to",
                     *path ? path : "the empty name after -o");
}

int rows_open(rows *to, const settings *s, fault *f)
{
    const char *path = s->output ? s->output : "-";
    *to = (rows){0};
    if (outfile_spare_inputs(s, f) != 0 || choose_format(to, s, path, f) != 0) return -1;
    to->file = outfile_open(path, f);
    return to->file ? 0 : -1;
}

/* Whether this goes to a terminal, which would interpret control characters. */
static bool is_shown(FILE *out)
{
    static int asked = -1;
    if (asked < 0) asked = isatty(STDOUT_FILENO);
    return asked && isatty(fileno(out));
}

void rows_put_text(FILE *out, bool quotes, const char *text)
{
    char *shown = is_shown(out) ? strdup(text) : NULL;
    if (shown) text = text_make_printable(shown);
    const bool special = strpbrk(text, "\t\r\n\",") != NULL;
    if (quotes && special) putc('"', out);
    for (; *text; text++) {
        if (quotes && *text == '"') putc('"', out);
        putc(!quotes && strchr("\t\r\n", *text) ? ' ' : *text, out);
    }
    if (quotes && special) putc('"', out);
    free(shown);
}

void rows_put_json_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool is_c1 = c == 0xc2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0;
        if (c < ' ' || c == 0x7f || is_c1) /* including the C1 characters, beyond ASCII */
            fprintf(out, "\\u%04x", is_c1 ? (unsigned char)*++text : c);
        else
            fprintf(out, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
    putc('"', out);
}

static void print_waiting(rows *to)
{
    FILE *out = outfile_stream(to->file);
    int column = 0;
    for (size_t at = 0; at < to->used; at += strlen(to->waiting + at) + 1) {
        const bool last = column == to->columns - 1;
        if (last)
            fprintf(out, "%s\n", to->waiting + at);
        else
            fprintf(out, "%s%*s", to->waiting + at, to->widths[column] - text_columns(to->waiting + at) + 2, "");
        column = last ? 0 : column + 1;
    }
    to->used = 0;
}

static void wait_cell(rows *to, const char *text)
{
    const size_t size = strlen(text) + 1;
    if (to->column == 0 && to->used >= WAITING) print_waiting(to);
    if (to->used + size > to->room) {
        const size_t room = 2 * (to->used + size);
        char *more = realloc(to->waiting, room);
        to->out_of_memory |= !more;
        if (!more) return;
        to->waiting = more;
        to->room = room;
    }
    char *cell = memcpy(to->waiting + to->used, text, size);
    to->used += strlen(text_make_printable(cell)) + 1;
    const int columns = text_columns(cell);
    if (columns > to->widths[to->column]) to->widths[to->column] = columns;
}

/* quoted: a string in JSON. */
static void put_cell(rows *to, const char *text, bool quoted)
{
    FILE *out = outfile_stream(to->file);
    const bool first = to->column == 0, last = to->column == to->columns - 1;
    if (to->format == ROWS_JSON) {
        fputs(!first ? ", " : to->count ? ",\n {" : "[{", out);
        rows_put_json_string(out, to->names[to->column]);
        fputs(": ", out);
        if (quoted)
            rows_put_json_string(out, text);
        else
            fputs(text, out);
        if (last) putc('}', out);
    } else if (to->format == ROWS_TEXT) {
        wait_cell(to, text);
    } else {
        if (!first) putc(to->format == ROWS_CSV ? ',' : '\t', out);
        rows_put_text(out, to->format == ROWS_CSV, text);
        if (last) putc('\n', out);
    }
    to->count += first;
    to->column = last ? 0 : to->column + 1;
}

void rows_begin(rows *to, const char *const *names, int columns)
{
    memcpy(to->names, names, (size_t)columns * sizeof *names);
    to->columns = columns;
    if (to->format == ROWS_JSON) return;
    for (int c = 0; c < columns; c++)
        put_cell(to, names[c], true);
    to->count = 0;
}

void rows_text(rows *to, const char *text)
{
    put_cell(to, text, true);
}

void rows_number(rows *to, double value)
{
    char text[TEXT_NUMBER_BYTES];
    const bool json = to->format == ROWS_JSON;
    if (json && isnan(value))
        put_cell(to, "null", false);
    else
        put_cell(to, to->format == ROWS_TEXT ? text_short(value, text) : text_exact(value, text), json && isinf(value));
}

void rows_digits(rows *to, const char *number)
{
    put_cell(to, number, false);
}

void rows_count(rows *to, uint64_t count)
{
    char text[TEXT_NUMBER_BYTES];
    snprintf(text, sizeof text, "%" PRIu64, count);
    put_cell(to, text, false);
}

void rows_value(rows *to, const axis_form *form, double value)
{
    char date[TIME_TEXT_BYTES];
    if (label_of_time(form, value, date))
        rows_text(to, date);
    else
        rows_number(to, value);
}

void rows_difference(rows *to, const axis_form *form, double value)
{
    char span[TIME_TEXT_BYTES];
    if (form->kind == VALUES_TIMES && to->format == ROWS_TEXT)
        rows_text(to, time_span_text(value, span));
    else
        rows_number(to, value);
}

int rows_commit(rows *to, fault *f)
{
    outfile *file = to->file;
    if (to->out_of_memory) return fault_set(f, EXIT_DATA, "no memory for the table: write it with --to tsv");
    print_waiting(to);
    if (to->format == ROWS_JSON) fputs(to->count ? "]\n" : "[]\n", outfile_stream(file));
    to->file = NULL;
    return outfile_commit(file, f);
}

void rows_close(rows *to)
{
    outfile_abandon(to->file);
    to->file = NULL;
    free(to->waiting);
    to->waiting = NULL;
}

int rows_command(const settings *s, int (*run)(const settings *s, rows *to, fault *f))
{
    fault f = {0};
    rows to = {0};
    int failed = rows_open(&to, s, &f);
    if (!failed) failed = run(s, &to, &f);
    if (!failed) failed = rows_commit(&to, &f);
    rows_close(&to);
    return failed ? fault_report(&f) : EXIT_OK;
}
