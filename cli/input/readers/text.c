/* Numbers in text: columns of CSV, TSV and similar formats (quotes, delimiters and newlines in quotes, CR LF, byte
 * order mark, # comments), or plain numbers separated by white space. Rows are parsed in a sliding window, and only
 * selected columns are converted to numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/reader.h"
#include "input/readers/array.h"
#include "input/readers/number.h"
#include "input/readers/readers.h"
#include "input/readers/text_form.h"
#include "input/readers/text_scan.h"

enum { MAX_COLUMNS = 1 << 20 };

typedef struct text_reader {
    reader base;
    text_window window;
    text_form form;
    bool skip_bad, paired;
    histo_dtype *dtypes;
    char **names;
    bool *numeric;
    selection selected;
    int *slot_of; /* per column: the slot of its values, or -1 */
    int slots;
    double *values;  /* `capacity` per slot */
    int64_t *filled; /* per slot: its values in the band */
    bool *good;      /* per slot: is the current row's value a number? */
    int64_t capacity;
    uint64_t line, word; /* 1-based; word: in plain numbers only */
    int64_t row;
} text_reader;

/* ---- Messages ------------------------------------------------------------------------------------------- */

/* "'abc' is not a number", with long or unprintable cells made printable. */
static void describe_cell(const char *begin, const char *end, char *text, size_t size)
{
    enum { MAX_SHOWN = 40 };
    if (begin == end) {
        snprintf(text, size, "an empty cell is not a number");
        return;
    }
    char shown[MAX_SHOWN + 1];
    int length = end - begin < MAX_SHOWN ? (int)(end - begin) : MAX_SHOWN;
    bool shortened = end - begin > MAX_SHOWN;
    while (shortened && length > 0 && ((unsigned char)begin[length] & 0xc0) == 0x80)
        length--; /* do not split a UTF-8 character */
    for (int i = 0; i < length; i++)
        shown[i] = (unsigned char)begin[i] < ' ' || begin[i] == 0x7f ? '?' : begin[i];
    snprintf(text, size, "'%.*s%s' is not a number", length, shown, shortened ? "…" : "");
}

static int fault_cell(const text_reader *r, uint64_t line, int column, const text_cell *cell, fault *f)
{
    char what[96], named[96] = "";
    const char *remedy = "correct it, or leave such cells out with --skip-bad";
    if (line == 1) remedy = "correct it, leave such cells out with --skip-bad, or declare a header with --header yes";
    describe_cell(cell->begin, cell->end, what, sizeof what);
    if (text_cell_has_comma(cell)) remedy = "write it with a decimal point, and no comma elsewhere";
    if (r->names) snprintf(named, sizeof named, " (%.80s)", r->names[column]);
    return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ", column %d%s: %s; %s", input_name(r->base.in), line, column,
                     named, what, remedy);
}

static int fault_word(const text_reader *r, const char *begin, const char *end, fault *f)
{
    char what[96];
    describe_cell(begin, end, what, sizeof what);
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ", word %" PRIu64 ": %s; correct it, or leave such words out with --skip-bad",
                     input_name(r->base.in), r->line, r->word, what);
}

static int fault_ragged(const text_reader *r, int64_t cells, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ": the row has %" PRId64
                     " cell%s where the first has %d; correct it, or name the "
                     "right --delimiter",
                     input_name(r->base.in), r->line, cells, cells == 1 ? "" : "s", r->base.channels);
}

/* ---- Rows of cells -------------------------------------------------------------------------------------- */

typedef enum row_result { ROW_READ, ROW_LEFT_OUT, ROW_CUT, ROW_FAILED } row_result;

/* Parse a cell that should be a number. Nearly all are numbers followed directly by the delimiter, and need no scan. */
static inline text_follow parse_cell(const char **at, const char *end, text_delimiter delimiter, double *value,
                                     bool *good, text_cell *cell)
{
    if (delimiter != ' ') {
        const char *q = number_parse(*at, value);
        if (q && *q == '\r' && q[1] == '\n') q++;
        if (q == end) return TEXT_CUT;
        if (q && (*q == '\n' || *q == delimiter)) {
            *good = true;
            cell->newlines = 0;
            *at = q + 1;
            return *q == '\n' ? TEXT_ROW : TEXT_CELL;
        }
    }
    text_follow follow = text_scan_cell(at, end, delimiter, cell);
    *good = follow != TEXT_CUT && text_cell_number(cell, value);
    return follow;
}

/* Keep the good values of the current row: if paired, all or none. */
static row_result keep_row(text_reader *r, int bad)
{
    r->base.bad += r->paired ? bad > 0 : (uint64_t)bad;
    if (bad && (r->paired || bad == r->slots)) return ROW_LEFT_OUT;
    for (int slot = 0; slot < r->slots; slot++)
        r->filled[slot] += r->good[slot];
    return ROW_READ;
}

/* Parse the row at *at and append its values. */
static row_result read_row(text_reader *r, const char **at, fault *f)
{
    const char *p = *at, *end = r->window.data + r->window.size;
    const text_delimiter delimiter = r->form.delimiter;
    const int columns = r->base.channels;
    uint64_t line = r->line;
    int bad = 0;
    text_follow follow;
    int64_t column = 0;
    do {
        text_cell cell;
        int slot = column < columns ? r->slot_of[column] : -1;
        if (slot >= 0) {
            double *value = &r->values[slot * r->capacity + r->filled[slot]];
            follow = parse_cell(&p, end, delimiter, value, &r->good[slot], &cell);
            if (follow != TEXT_CUT && !r->good[slot]) {
                bad++;
                if (!r->skip_bad) {
                    fault_cell(r, line, (int)column, &cell, f);
                    return ROW_FAILED;
                }
            }
        } else {
            follow = text_scan_cell(&p, end, delimiter, &cell);
        }
        if (follow == TEXT_CUT) return ROW_CUT;
        line += cell.newlines;
        column++;
    } while (follow == TEXT_CELL);
    if (column != columns) {
        fault_ragged(r, column, f);
        return ROW_FAILED;
    }
    r->line = line + 1;
    *at = p;
    return keep_row(r, bad);
}

/* Read rows until the band is full or the data ends; returns their number, or -1. */
static int64_t read_rows(text_reader *r, fault *f)
{
    int64_t rows = 0;
    while (rows < r->capacity) {
        const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
        row_result result = ROW_CUT;
        if (text_skip_to_row(&p, end, r->form.delimiter, &r->line)) result = read_row(r, &p, f);
        r->window.at = (size_t)(p - r->window.data);
        if (result == ROW_FAILED) return -1;
        rows += result == ROW_READ;
        if (result != ROW_CUT) continue;
        int more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
        if (more) continue;
        if (r->window.at < r->window.size)
            return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ": a quote opened in this row is never closed; close it",
                             input_name(r->base.in), r->line);
        break;
    }
    return rows;
}

/* ---- Plain numbers -------------------------------------------------------------------------------------- */

static inline bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Parse words of the window until the band is full or the window ends. */
static int64_t read_window_words(text_reader *r, int64_t count, fault *f)
{
    const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
    while (count < r->capacity) {
        for (; p < end && is_space(*p); p++) {
            if (*p != '\n') continue;
            r->line++;
            r->word = 1;
        }
        if (p == end) break;
        const char *q;
        if (*p == '#') {
            q = memchr(p, '\n', (size_t)(end + 1 - p));
            if (q == end) break;
            p = q;
            continue;
        }
        double value;
        q = number_parse(p, &value);
        bool good = q && (is_space(*q) || *q == '#');
        if (!good)
            for (q = p; !is_space(*q) && *q != '#';)
                q++;
        if (q == end) break;
        if (good) {
            r->values[count++] = value;
            r->filled[0] = count;
        } else {
            if (!r->skip_bad) return fault_word(r, p, q, f);
            r->base.bad++;
        }
        r->word++;
        p = q;
    }
    r->window.at = (size_t)(p - r->window.data);
    return count;
}

static int64_t read_words(text_reader *r, fault *f)
{
    int64_t count = 0;
    int more = 1;
    while (more) {
        count = read_window_words(r, count, f);
        if (count < 0 || count == r->capacity) return count;
        more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
    }
    return count;
}

/* ---- The reader ----------------------------------------------------------------------------------------- */

/* Go to the first row of data, from the beginning of the text. */
static int begin(text_reader *r, fault *f)
{
    text_window *w = &r->window;
    if (text_window_more(w, 1, f) < 0) return -1;
    if (w->size >= 3 && memcmp(w->data, "\xef\xbb\xbf", 3) == 0) w->at = 3;
    r->line = r->word = 1;
    r->row = 0;
    r->base.bad = 0;
    return 0;
}

/* Skip the header and store its cells. */
static int64_t scan_header(text_reader *r, text_cell *cells, int64_t room)
{
    const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
    int64_t count = 0;
    if (text_skip_to_row(&p, end, r->form.delimiter, &r->line))
        count = text_scan_row(&p, end, r->form.delimiter, cells, room, &r->line);
    r->window.at = (size_t)(p - r->window.data);
    return count;
}

/* A header without rows is an error: perhaps the word was not meant as a header. */
static int check_rows(text_reader *r, fault *f)
{
    for (;;) {
        const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
        bool found = text_skip_to_row(&p, end, r->form.delimiter, &r->line);
        r->window.at = (size_t)(p - r->window.data);
        if (found) return 0;
        int more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
        if (more == 0) return fault_set(f, EXIT_DATA, "%s holds a header but no rows", input_name(r->base.in));
    }
}

static int skip_header(text_reader *r, fault *f)
{
    while (r->form.header && scan_header(r, NULL, 0) == 0) {
        int more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
        if (more == 0)
            return fault_set(f, EXIT_DATA, "%s changed while it was read: try again", input_name(r->base.in));
    }
    return 0;
}

static int text_select(reader *base, const int *channels, int count, fault *f)
{
    text_reader *r = (text_reader *)base;
    if (selection_set(&r->selected, base, channels, count, f) != 0) return -1;
    int slots = 0;
    for (int c = 0; c < base->channels; c++)
        r->slot_of[c] = -1;
    for (int i = 0; i < count; i++)
        if (r->slot_of[channels[i]] < 0) r->slot_of[channels[i]] = slots++;
    r->capacity = BAND_BYTES / (int64_t)sizeof(double) / slots;
    if (r->capacity < 1) r->capacity = 1;
    free(r->values);
    free(r->filled);
    free(r->good);
    r->slots = slots;
    r->values = malloc((size_t)slots * (size_t)r->capacity * sizeof *r->values);
    r->filled = calloc((size_t)slots, sizeof *r->filled);
    r->good = calloc((size_t)slots, sizeof *r->good);
    if (!r->values || !r->filled || !r->good)
        return fault_set(f, EXIT_DATA, "no memory to read %d columns of %s", slots, input_name(base->in));
    return 0;
}

static int text_next(reader *base, band *b, fault *f)
{
    text_reader *r = (text_reader *)base;
    memset(r->filled, 0, (size_t)r->slots * sizeof *r->filled);
    int64_t rows = r->form.numbers ? read_words(r, f) : read_rows(r, f);
    if (rows <= 0) return (int)rows;
    *b = (band){.y = r->row, .rows = rows, .cols = 1, .views = r->selected.views};
    for (int i = 0; i < r->selected.count; i++) {
        int slot = r->slot_of[r->selected.wanted[i]];
        const double *values = r->values + slot * r->capacity;
        const int64_t shape[] = {r->filled[slot], 1};
        b->views[i] = histo_view_nd(values, HISTO_F64, 2, shape);
    }
    r->row += rows;
    return 1;
}

static int text_rewind(reader *base, fault *f)
{
    text_reader *r = (text_reader *)base;
    if (input_rewind(base->in, f) != 0) return -1;
    text_window_reset(&r->window);
    if (begin(r, f) != 0) return -1;
    return skip_header(r, f);
}

static void text_close(reader *base)
{
    text_reader *r = (text_reader *)base;
    for (int c = 0; r->names && c < base->channels; c++)
        free(r->names[c]);
    free(r->names);
    free(r->numeric);
    free(r->dtypes);
    free(r->slot_of);
    free(r->values);
    free(r->filled);
    free(r->good);
    selection_free(&r->selected);
    text_window_free(&r->window);
    input_close(base->in);
    free(r);
}

static char *cell_string(const text_cell *cell)
{
    char *text = malloc((size_t)(cell->end - cell->begin) + 1), *to = text;
    if (!text) return NULL;
    for (const char *p = cell->begin; p < cell->end; p++) {
        *to++ = *p;
        if (cell->quoted && *p == '"') p++; /* a doubled quote */
    }
    *to = '\0';
    return text;
}

/* Read the names of the columns and skip the header. */
static bool read_names(text_reader *r, text_cell *cells, int64_t columns)
{
    r->names = calloc((size_t)columns, sizeof *r->names);
    if (!r->names) return false;
    scan_header(r, cells, columns);
    for (int c = 0; c < r->base.channels; c++)
        if (!(r->names[c] = cell_string(&cells[c]))) return false;
    r->base.names = (const char *const *)r->names;
    return true;
}

/* Find the numeric columns among the first rows: all columns except those with only words. */
static bool find_numeric(text_reader *r, text_cell *cells, int64_t columns)
{
    enum { ROWS_LOOKED_AT = 32 };
    text_reader ahead = *r;
    r->numeric = calloc((size_t)columns, sizeof *r->numeric);
    if (!r->numeric) return false;
    bool *words = calloc((size_t)columns, sizeof *words);
    if (!words) return false;
    for (int row = 0; row < ROWS_LOOKED_AT && scan_header(&ahead, cells, columns) == columns; row++)
        for (int64_t c = 0; c < columns; c++) {
            double value;
            if (text_cell_number(&cells[c], &value) || text_cell_has_comma(&cells[c]))
                r->numeric[c] = true;
            else if (cells[c].begin < cells[c].end)
                words[c] = true;
        }
    for (int64_t c = 0; c < columns; c++)
        r->numeric[c] = r->numeric[c] || !words[c];
    free(words);
    r->base.numeric = r->numeric;
    return true;
}

/* Find channels and their names in the first row. */
static int find_columns(text_reader *r, fault *f)
{
    const char *name = input_name(r->base.in);
    text_reader ahead = *r; /* peeks without consuming */
    int64_t columns = r->form.numbers ? 1 : scan_header(&ahead, NULL, 0);
    if (columns == 0) {
        if (ahead.window.at < ahead.window.size)
            return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ": a quote opened in this row is never closed; close it",
                             name, ahead.line);
        return fault_set(f, EXIT_DATA, "%s holds no numbers: nothing but comments and blank lines", name);
    }
    if (columns > MAX_COLUMNS)
        return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ": %" PRId64 " columns are more than %d; write them as rows",
                         name, ahead.line - 1, columns, MAX_COLUMNS);
    r->base.channels = (int)columns;
    r->dtypes = malloc((size_t)columns * sizeof *r->dtypes);
    r->slot_of = calloc((size_t)columns, sizeof *r->slot_of);
    if (!r->dtypes || !r->slot_of) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    for (int c = 0; c < r->base.channels; c++)
        r->dtypes[c] = HISTO_F64;
    r->base.dtypes = r->dtypes;

    text_cell *cells = malloc((size_t)columns * sizeof *cells);
    bool complete = cells && (!r->form.header || read_names(r, cells, columns));
    complete = complete && (r->form.numbers || find_numeric(r, cells, columns));
    free(cells);
    return complete ? 0 : fault_set(f, EXIT_DATA, "no memory to read %s", name);
}

static bool can_delimit(char c)
{
    return !(c >= '0' && c <= '9') && !strchr("+-.eE#\"\r\n", c);
}

static int prepare(text_reader *r, const read_options *options, fault *f)
{
    if (options->delimiter && !can_delimit(options->delimiter))
        return fault_set(f, EXIT_USAGE, "--delimiter '%c' is part of numbers: choose another", options->delimiter);
    if (begin(r, f) != 0) return -1;
    while (!text_form_find(&r->window, options, &r->form))
        if (text_window_more(&r->window, 1, f) < 0) return -1;
    if (find_columns(r, f) != 0) return -1;
    return r->form.header ? check_rows(r, f) : 0;
}

static reader *text_open(input *in, const read_options *options, fault *f)
{
    text_reader *r = calloc(1, sizeof *r);
    if (!r) {
        fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in));
        input_close(in);
        return NULL;
    }
    r->base = (reader){.kind = &reader_text,
                       .in = in,
                       .model = CHANNELS_PLAIN,
                       .pages = 1,
                       .height = -1,
                       .width = 1,
                       .select = text_select,
                       .next = text_next,
                       .rewind = text_rewind,
                       .close = text_close};
    r->window.in = in;
    r->skip_bad = options->skip_bad;
    r->paired = options->paired;
    if (prepare(r, options, f) == 0) return &r->base;
    text_close(&r->base);
    return NULL;
}

/* How many bytes follow the first byte of a UTF-8 character; -1 if it is not one. */
static int utf8_tail(unsigned char c)
{
    if (c < 0x80) return 0;
    if (c >= 0xc2 && c < 0xe0) return 1;
    if (c >= 0xe0 && c < 0xf0) return 2;
    return c >= 0xf0 && c < 0xf5 ? 3 : -1;
}

/* UTF-8 without control characters except white space; or, in other encodings, at least lines. */
static bool text_recognize(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    bool utf8 = true;
    int tail = 0;
    for (size_t i = 0; i < size; i++) {
        if (head[i] < ' ' && !is_space((char)head[i])) return false;
        bool continues = (head[i] & 0xc0) == 0x80;
        if (continues != (tail > 0)) utf8 = false;
        tail = continues ? tail - 1 : utf8_tail(head[i]);
    }
    return utf8 || memchr(head, '\n', size);
}

const reader_kind reader_text = {
    .name = "text",
    .formats = "CSV, TSV and other delimited columns, or plain numbers in text",
    .recognize = text_recognize,
    .open = text_open,
};
