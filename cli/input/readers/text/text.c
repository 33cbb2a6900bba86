/* Numbers in text: columns of CSV, TSV and similar formats (quotes, delimiters and newlines in quotes, CR LF, byte
 * order mark, # comments), or plain numbers separated by white space. Rows are parsed in a sliding window, and only
 * selected columns are converted to numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/dates/reading.h"
#include "input/readers/arrays/array.h"
#include "input/readers/readers.h"
#include "input/readers/text/text_encoding.h"
#include "input/readers/text/text_reader.h"

enum { MAX_COLUMNS = 1 << 20, LONGEST_HEADER = 1 << 20 };

static bool can_delimit(char c)
{
    return !(c >= '0' && c <= '9') && !strchr("+-.eE#\"\r", c);
}

/* Keep the last comment line, which may be a header, without its # and with a newline. */
static void keep_comment(text_reader *r, const char *line, const char *end)
{
    const size_t size = (size_t)(end - line);
    char *kept = size < LONGEST_HEADER ? arena_take(&r->base.memory, 1, size + 2) : NULL;
    r->commented = kept;
    r->commented_size = size;
    if (!kept) return;
    memcpy(kept, line, size);
    kept[size] = kept[size + 1] = '\n';
}

/* Skip the comments before the first row. */
static int skip_comments(text_reader *r, fault *f)
{
    text_window *w = &r->window;
    const bool first = !r->slot_of;
    while (r->skips_comments) {
        const char *p = w->data + w->at, *end = w->data + w->size;
        while (is_blank(*p, '\t'))
            p++;
        const char *newline = memchr(p, '\n', (size_t)(end + 1 - p));
        if (newline == end) {
            const int more = text_window_more(w, r->line, f);
            if (more < 1) return more;
            continue;
        }
        if (*p != '#' && *p != '\n') return 0;
        if (*p == '#' && first) {
            r->base.comments++;
            keep_comment(r, p + 1, newline);
        }
        r->line++;
        w->at = (size_t)(newline + 1 - w->data);
    }
    return 0;
}

/* The delimiter given by a first line "sep=;", as spreadsheets write; 0: none. The line is skipped. */
static char take_separator(text_reader *r)
{
    text_window *w = &r->window;
    const char *p = w->data + w->at;
    if (w->size - w->at < 6 || strncasecmp(p, "sep=", 4) != 0) return 0;
    const char *end = p + 5 + (p[5] == '\r');
    if (*end != '\n' || p[4] == '\n' || !can_delimit(p[4])) return 0;
    w->at = (size_t)(end + 1 - w->data);
    r->line++;
    return p[4];
}

/* Skip the lines of --skip-lines. */
static int skip_lines(text_reader *r, fault *f)
{
    text_window *w = &r->window;
    for (int64_t left = r->skipped_lines; left > 0;) {
        const char *p = w->data + w->at, *newline = memchr(p, '\n', w->size - w->at);
        if (newline) {
            w->at = (size_t)(newline + 1 - w->data);
            r->line++;
            left--;
            continue;
        }
        w->at = w->size;
        const int more = text_window_more(w, r->line, f);
        if (more < 1) return more;
    }
    return 0;
}

/* Move from the beginning of the text to the first row of data. */
static int begin(text_reader *r, fault *f)
{
    text_window *w = &r->window;
    if (text_window_more(w, 1, f) < 0) return -1;
    if (w->size >= 3 && memcmp(w->data, "\xef\xbb\xbf", 3) == 0) w->at = 3;
    r->line = r->word = 1;
    r->row = 0;
    r->stop = INT64_MAX;
    r->ended = false;
    r->base.bad = r->base.missing = r->base.ragged = 0;
    if (skip_lines(r, f) != 0) return -1;
    r->separator = take_separator(r);
    return skip_comments(r, f);
}

/* Skip the header and store its cells. */
static int64_t scan_header(text_reader *r, text_cell *cells, int64_t room)
{
    const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
    int64_t count = 0;
    if (text_skip_to_row(&p, end, r->form.delimiter, r->window.comment, &r->line))
        count = text_scan_row(&p, end, r->form.delimiter, r->form.columns, cells, room, &r->line);
    r->window.at = (size_t)(p - r->window.data);
    return count;
}

/* Move to the beginning of the next row: 1, 0 if there is none, -1. */
static int find_row(text_reader *r, fault *f)
{
    for (;;) {
        const char *from = r->window.data + r->window.at, *end = r->window.data + r->window.size, *p = from;
        bool found = text_skip_to_row(&p, end, r->form.delimiter, r->window.comment, &r->line);
        r->window.at = (size_t)(text_line_begin(p, from) - r->window.data);
        if (found) return 1;
        int more = text_window_more(&r->window, r->line, f);
        if (more < 1) return more;
    }
}

/* A header without rows is an error: perhaps the word was not meant as a header. */
static int check_rows(text_reader *r, fault *f)
{
    int found = find_row(r, f);
    return found ? found : fault_set(f, EXIT_DATA, "%s holds a header but no rows", input_name(r->base.in));
}

/* Skip one row. */
static int skip_row(text_reader *r, fault *f)
{
    while (scan_header(r, NULL, 0) == 0) {
        int more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
        if (more == 0)
            return fault_set(f, EXIT_DATA, "%s changed while it was read: try again", input_name(r->base.in));
    }
    return 0;
}

/* The slot of a column read in this form, created if necessary. */
static int find_slot(text_reader *r, int column, const channel_form *as)
{
    int *link = &r->slot_of[column];
    while (*link >= 0) {
        const channel_form *has = &r->slot[*link].as;
        if (has->kind == as->kind && has->dtype == as->dtype && has->words == as->words &&
            has->condition == as->condition)
            return *link;
        link = &r->slot[*link].next;
    }
    const bool plain = !r->notations || !r->notations[column];
    r->only_numbers = r->only_numbers && plain && as->kind == VALUES_NUMBERS && link == &r->slot_of[column];
    r->slot[r->slots] = (text_slot){*as, -1};
    return *link = r->slots++;
}

static int text_select(reader *base, fault *f)
{
    text_reader *r = (text_reader *)base;
    selection *s = &base->selected;
    const int count = s->count;
    for (int c = 0; c < base->channels; c++)
        r->slot_of[c] = -1;
    r->slot = arena_take(&s->memory, (size_t)count, sizeof *r->slot);
    r->slot_of_view = arena_take(&s->memory, (size_t)count, sizeof *r->slot_of_view);
    r->slots = 0;
    r->only_numbers = true;
    if (!r->slot || !r->slot_of_view)
        return fault_set(f, EXIT_DATA, "no memory to read %d columns of %s", count, input_name(base->in));
    for (int i = 0; i < count; i++) {
        const channel_form numbers = {.kind = VALUES_NUMBERS};
        r->slot_of_view[i] = find_slot(r, s->wanted[i], s->forms ? &s->forms[i] : &numbers);
    }
    const int slots = r->slots;
    r->capacity = (r->in_parts ? CACHED_BAND_BYTES : BAND_BYTES) / (int64_t)sizeof(double) / slots;
    if (r->capacity < 1) r->capacity = 1;
    r->values = arena_take(&s->memory, (size_t)slots * (size_t)r->capacity, sizeof *r->values);
    r->filled = arena_take(&s->memory, (size_t)slots, sizeof *r->filled);
    r->good = arena_take(&s->memory, (size_t)slots, sizeof *r->good);
    if (!r->values || !r->filled || !r->good)
        return fault_set(f, EXIT_DATA, "no memory to read %d columns of %s", slots, input_name(base->in));
    return 0;
}

static int text_next(reader *base, band *b, fault *f)
{
    text_reader *r = (text_reader *)base;
    if (r->ended) return 0;
    memset(r->filled, 0, (size_t)r->slots * sizeof *r->filled);
    int64_t rows = r->form.numbers ? text_read_words(r, f) : text_read_rows(r, f);
    if (rows <= 0) return (int)rows;
    *b = (band){.y = r->row, .rows = rows, .cols = 1, .views = base->selected.views};
    for (int i = 0; i < base->selected.count; i++) {
        const int slot = r->slot_of_view[i];
        const channel_form *as = &r->slot[slot].as;
        const double *values = r->values + slot * r->capacity;
        const int64_t shape[] = {r->filled[slot], 1};
        b->views[i] = histo_view_nd(values, as->kind == VALUES_NUMBERS ? HISTO_F64 : as->dtype, 2, shape);
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
    for (int rows = r->form.title + r->form.header; rows > 0; rows--)
        if (skip_row(r, f) != 0) return -1;
    return 0;
}

static int64_t text_unit(const reader *base)
{
    const text_reader *r = (const text_reader *)base;
    return r->window.offset + (int64_t)r->window.at;
}

/* Whether `first` can be inside quotes: not if no quote follows within the longest row. */
static int may_be_quoted(text_reader *r, int64_t first, fault *f)
{
    if (r->form.numbers) return 0;
    if (input_seek(r->base.in, first, f) != 0) return -1;
    char *piece = malloc(BAND_BYTES);
    if (!piece) return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(r->base.in));
    bool quoted = false;
    int64_t got = 1;
    for (int64_t seen = 0; seen < LONGEST_ROW && !quoted && got > 0; seen += got) {
        got = input_read(r->base.in, piece, BAND_BYTES, f);
        quoted = got > 0 && memchr(piece, '"', (size_t)got);
    }
    free(piece);
    return got < 0 ? -1 : quoted;
}

/* Move to the first row that begins at byte `first` or later, from the beginning of the text, or from where reading has
 * stopped. */
static int skip_rows(text_reader *r, int64_t first, fault *f)
{
    text_window *w = &r->window;
    const bool onwards = text_unit(&r->base) <= first;
    if (onwards && !w->ended && input_seek(w->in, w->offset + (int64_t)w->size, f) != 0) return -1;
    if (!onwards && text_rewind(&r->base, f) != 0) return -1;
    for (;;) {
        const char *from = w->data + w->at, *end = w->data + w->size, *p = from;
        const bool found = text_skip_to_row(&p, end, r->form.delimiter, r->window.comment, &r->line);
        w->at = (size_t)(text_line_begin(p, from) - w->data);
        if (found && text_unit(&r->base) >= first) return 0;
        if (found && text_scan_row(&p, end, r->form.delimiter, r->form.columns, NULL, 0, &r->line) > 0) {
            w->at = (size_t)(p - w->data);
            continue;
        }
        const int more = text_window_more(w, r->line, f);
        if (more < 0) return -1;
        if (more == 0) return w->at < w->size ? text_fault_open_quote(r, f) : 0;
    }
}

/* A row belongs to the unit of the byte at which its line begins. Inside quotes, a line does not begin a row: then all
 * earlier rows are read, too, except in parts, which are compared. */
static int text_take(reader *base, int64_t first, int64_t end, fault *f)
{
    text_reader *r = (text_reader *)base;
    const int quoted = first <= r->first_row ? 1 : r->in_parts ? 0 : may_be_quoted(r, first, f);
    int failed = quoted < 0 ? -1 : 0;
    if (quoted > 0)
        failed = r->form.numbers ? text_rewind(base, f) : skip_rows(r, first, f);
    else if (quoted == 0)
        failed = text_window_to_line(&r->window, first, f);
    if (!quoted) r->line = r->word = 1;
    if (failed || (r->base.guesses && find_row(r, f) < 0)) return -1;
    r->row = 0;
    r->base.bad = r->base.missing = r->base.ragged = 0;
    r->stop = end;
    r->ended = text_unit(base) >= end;
    return 0;
}

static void text_close(reader *base)
{
    text_reader *r = (text_reader *)base;
    free(r->unquoted);
    if (r->within) regfree(&r->pattern);
    text_window_free(&r->window);
}

static char *cell_string(text_reader *r, const text_cell *cell)
{
    char *text = arena_take(&r->base.memory, 1, (size_t)(cell->end - cell->begin) + 1);
    if (!text) return NULL;
    const size_t size = text_cell_copy(cell, text);
    text[size] = '\0';
    if (!r->is_windows || text_is_utf8(text, size)) return text;
    char *converted = arena_take(&r->base.memory, 3, size + 1);
    if (converted) converted[text_from_windows(text, size, converted)] = '\0';
    return converted;
}

/* Read the names of the columns and skip the header. */
static bool read_names(text_reader *r, text_cell *cells, int64_t columns)
{
    const char **names = arena_take(&r->base.memory, (size_t)columns, sizeof *names);
    if (!names) return false;
    const int unnamed = r->form.row_names;
    scan_header(r, cells, columns);
    if (unnamed) names[0] = "";
    for (int c = unnamed; c < r->base.channels; c++)
        if (!(names[c] = cell_string(r, &cells[c - unnamed]))) return false;
    r->base.names = names;
    return true;
}

/* Take the names of columns from the last comment before the first row, if it looks like a header. */
static bool take_names_of_comment(text_reader *r, text_cell *cells, int64_t columns)
{
    const char *at = r->commented;
    uint64_t line = 0;
    if (!at || columns < 2 || (is_by_blanks(r->form.delimiter) && (*at == ' ' || *at == '\t'))) return true;
    const char *end = at + r->commented_size + 1;
    if (text_scan_row(&at, end, r->form.delimiter, 0, cells, columns, &line) != columns) return true;
    const char **names = arena_take(&r->base.memory, (size_t)columns, sizeof *names);
    for (int c = 0; names && c < r->base.channels; c++) {
        double value;
        if (text_cell_number(&cells[c], &value) || cells[c].begin == cells[c].end) return true;
        if (!(names[c] = cell_string(r, &cells[c]))) return false;
    }
    if (names) r->base.names = names;
    if (names) r->base.comments--;
    return names;
}

/* Find channels and their names in the first row. */
static int find_columns(text_reader *r, const read_options *options, fault *f)
{
    const char *name = input_name(r->base.in);
    text_reader ahead = *r; /* peeks without consuming */
    int64_t columns = r->form.numbers ? 1 : scan_header(&ahead, NULL, 0);
    if (columns && r->form.row_names) columns++;
    if (columns == 0) {
        if (ahead.window.at < ahead.window.size) return text_fault_open_quote(&ahead, f);
        return fault_set(f, EXIT_DATA, "%s holds no numbers: nothing but comments and blank lines%s", name,
                         r->base.comments ? "; --comment none counts lines that begin with #" : "");
    }
    if (columns > MAX_COLUMNS)
        return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ": %" PRId64 " columns are more than %d; write them as rows",
                         name, ahead.line - 1, columns, MAX_COLUMNS);
    r->base.channels = (int)columns;
    histo_dtype *dtypes = arena_take(&r->base.memory, (size_t)columns, sizeof *dtypes);
    r->slot_of = arena_take(&r->base.memory, (size_t)columns, sizeof *r->slot_of);
    if (!dtypes || !r->slot_of) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    for (int c = 0; c < r->base.channels; c++)
        dtypes[c] = HISTO_F64;
    r->base.dtypes = dtypes;

    text_cell *cells = malloc((size_t)columns * sizeof *cells);
    bool complete = cells && (!r->form.header || read_names(r, cells, columns));
    complete =
        complete && (r->form.header || r->form.numbers || r->header_given || take_names_of_comment(r, cells, columns));
    complete =
        complete && (r->form.numbers ? text_find_number_column(r, options) : text_find_columns(r, options, cells));
    free(cells);
    if (!complete) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    bool found = !r->within;
    for (int c = 0; c < r->base.channels && r->notations; c++)
        found = found || (r->notations[c] && r->notations[c]->within);
    return found ? 0
                 : fault_set(f, EXIT_DATA, "%s has no cell with what --number '%.60s' looks for in its first rows",
                             name, options->number);
}

static void note_encoding(text_reader *r)
{
    const text_window *w = &r->window;
    size_t size = w->size;
    for (int cut = 0; !w->ended && size && (w->data[size - 1] & 0x80) && cut < 3; cut++)
        size--; /* the last character may be cut off */
    r->is_windows = size && !text_is_utf8(w->data, size);
    if (r->is_windows)
        r->base.note = "it is not UTF-8, and names are read as Windows-1252: convert others with iconv -t UTF-8";
}

static int prepare(text_reader *r, const read_options *options, fault *f)
{
    if (options->number && regcomp(&r->pattern, options->number, REG_EXTENDED) == 0) r->within = &r->pattern;
    if (options->delimiter && !can_delimit(options->delimiter))
        return fault_set(f, EXIT_USAGE, "--delimiter '%c' is part of numbers: choose another", options->delimiter);
    r->skips_comments = !options->comment;
    r->window.comment = options->comment > COMMENT_NONE ? options->comment : '\0';
    r->header_given = options->header != -1;
    r->skipped_lines = options->skip_lines;
    if (begin(r, f) != 0) return -1;
    note_encoding(r);
    read_options known = *options;
    if (!known.delimiter) known.delimiter = r->separator;
    while (!text_form_find(&r->window, &known, &r->form))
        if (text_window_more(&r->window, 1, f) < 0) return -1;
    r->base.may_have_header = r->form.may_be_header;
    if ((r->form.numbers || r->form.row_names) && r->form.grouped == GROUPS_LIKELY)
        r->base.note = "numbers between blanks are counted each: --delimiter newline reads a row such as 1 234 as one";
    if (r->form.title && skip_row(r, f) != 0) return -1;
    if (find_columns(r, options, f) != 0 || (r->form.header && check_rows(r, f) < 0)) return -1;
    r->first_row = text_unit(&r->base);
    if (input_data_size(r->base.in) > 0) {
        r->base.units = input_data_size(r->base.in);
        r->base.take = text_take;
        r->base.unit = text_unit;
        r->base.rows = !r->form.numbers;
        r->base.guesses = r->base.rows && r->in_parts;
    }
    return 0;
}

reader *text_open(input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {text_select, text_next, text_rewind, text_close};
    text_reader *r = reader_create(sizeof *r, in, functions, f);
    if (!r) return NULL;
    r->base.takes_forms = true;
    r->base.height = -1;
    r->base.width = 1;
    r->window.in = in;
    r->skip_bad = options->skip_bad;
    r->paired = options->paired;
    r->in_parts = options->in_parts;
    if (prepare(r, options, f) == 0) return &r->base;
    reader_destroy(&r->base);
    return NULL;
}

/* UTF-8 without control characters except white space; or, in other encodings, at least lines. */
bool text_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    size_t whole = size;
    for (size_t i = 0; i < size; i++)
        if (head[i] < ' ' && !text_is_space((char)head[i])) return false;
    for (int cut = 0; whole && (head[whole - 1] & 0x80) && cut < 3; cut++)
        whole--; /* the last character may be cut off */
    return text_is_utf8((const char *)head, whole) || memchr(head, '\n', size);
}
