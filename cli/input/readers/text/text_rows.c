/* Rows of cells: a fast path if only numbers are wanted, otherwise also dates, words and integers; and plain
 * numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates/reading.h"
#include "input/readers/text/number.h"
#include "input/readers/text/text_encoding.h"
#include "input/readers/text/text_reader.h"
#include "input/samples/filter.h"

/* ---- Messages ------------------------------------------------------------------------------------------- */

static int fault_cell(const text_reader *r, uint64_t line, int column, const text_cell *cell, fault *f)
{
    char what[96], named[96] = "";
    const char *remedy = "correct it, or leave such cells out with --skip-bad";
    line = text_window_line(&r->window, line);
    if (line == 1) remedy = "correct it, leave such cells out with --skip-bad, or declare a header with --header yes";
    text_cell_describe(cell->begin, cell->end, "number", what, sizeof what);
    if (text_cell_has_comma(cell)) remedy = "say what its comma is: --decimal , or, of groups of digits, --decimal .";
    const notation *n = r->notations ? r->notations[column] : NULL;
    if (n && n->unit) remedy = "others in its column have a unit: write it, or leave such cells out with --skip-bad";
    if (r->base.names) snprintf(named, sizeof named, " (%.80s)", r->base.names[column]);
    return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ", column %d%s: %s; %s", input_name(r->base.in), line, column,
                     named, what, remedy);
}

static int fault_time(const text_reader *r, uint64_t line, int column, const text_cell *cell, fault *f)
{
    char what[96], named[96] = "";
    time_span span;
    if (r->base.names) snprintf(named, sizeof named, " (%.80s)", r->base.names[column]);
    if (time_read(cell->begin, cell->end, &r->base.styles[column], &span) == TIME_EITHER)
        return fault_set(f, EXIT_DATA,
                         "%s, line %" PRIu64 ", column %d%s: the date '%.*s' begins with a day or with a month: say "
                         "--date-format dmy or --date-format mdy",
                         input_name(r->base.in), text_window_line(&r->window, line), column, named,
                         (int)(cell->end - cell->begin), cell->begin);
    text_cell_describe(cell->begin, cell->end, "date", what, sizeof what);
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ", column %d%s: %s; correct it, leave such cells out with --skip-bad, or "
                     "count its values with --category",
                     input_name(r->base.in), text_window_line(&r->window, line), column, named, what);
}

static int fault_word(const text_reader *r, const char *begin, const char *end, fault *f)
{
    char what[96];
    text_cell_describe(begin, end, "number", what, sizeof what);
    return fault_set(f, EXIT_DATA,
                     "%s, line %" PRIu64 ", word %" PRIu64 ": %s; correct it, or leave such words out with --skip-bad",
                     input_name(r->base.in), text_window_line(&r->window, r->line), r->word, what);
}

static int fault_ragged(const text_reader *r, int64_t cells, fault *f)
{
    return fault_set(
        f, EXIT_DATA,
        "%s, line %" PRIu64 ": the row has %" PRId64 " cell%s where the first has %d; correct it, or name the "
        "right --delimiter",
        input_name(r->base.in), text_window_line(&r->window, r->line), cells, cells == 1 ? "" : "s", r->base.channels);
}

size_t text_cell_copy(const text_cell *cell, char *to)
{
    const char *begin = to;
    for (const char *p = cell->begin; p < cell->end; p++) {
        *to++ = *p;
        if (cell->quoted && *p == '"' && p[1] == '"') p++; /* a doubled quote */
    }
    return (size_t)(to - begin);
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
static row_result keep_row(text_reader *r, int bad, int missing)
{
    r->base.bad += r->paired ? bad > 0 : (uint64_t)bad;
    r->base.missing += r->paired ? !bad && missing > 0 : (uint64_t)missing;
    const int left_out = bad + missing;
    if (left_out && (r->paired || left_out == r->slots)) return ROW_LEFT_OUT;
    for (int slot = 0; slot < r->slots; slot++)
        r->filled[slot] += r->good[slot];
    return ROW_READ;
}

/* End the current row on `line`. */
static row_result end_row(text_reader *r, int64_t columns, uint64_t line, int bad, int missing, fault *f)
{
    if (columns != r->base.channels && !r->skip_bad) {
        fault_ragged(r, columns, f);
        return ROW_FAILED;
    }
    r->line = line + 1;
    if (columns != r->base.channels) {
        r->base.ragged++;
        return ROW_LEFT_OUT;
    }
    return keep_row(r, bad, missing);
}

/* Parse the row at *at and append its values. */
static row_result read_row(text_reader *r, const char **at, fault *f)
{
    const char *p = *at, *end = r->window.data + r->window.size;
    const text_delimiter delimiter = r->form.delimiter;
    const int columns = r->base.channels;
    uint64_t line = r->line;
    int bad = 0, missing = 0;
    text_follow follow;
    int64_t column = 0;
    do {
        text_cell cell;
        int slot = column < columns ? r->slot_of[column] : -1;
        double *value = slot >= 0 ? &r->values[slot * r->capacity + r->filled[slot]] : NULL;
        if (column + 1 == r->form.columns) {
            follow = text_scan_rest(&p, end, &cell);
            if (value) r->good[slot] = follow != TEXT_CUT && text_cell_number(&cell, value);
        } else if (value) {
            follow = parse_cell(&p, end, delimiter, value, &r->good[slot], &cell);
        } else {
            follow = text_scan_cell(&p, end, delimiter, &cell);
        }
        if (follow == TEXT_CUT) return ROW_CUT;
        if (value && !r->good[slot]) {
            const bool is_missing = text_cell_missing(&cell);
            missing += is_missing;
            bad += !is_missing;
            if (bad && !r->skip_bad) {
                fault_cell(r, line, (int)column, &cell, f);
                return ROW_FAILED;
            }
        }
        line += cell.newlines;
        column++;
    } while (follow == TEXT_CELL);
    *at = p;
    return end_row(r, column, line, bad, missing, f);
}

/* ---- Cells that are not only numbers -------------------------------------------------------------------- */

/* The bytes of a cell, in UTF-8; NULL if out of memory. */
static const char *word_of(text_reader *r, const text_cell *cell, size_t *size)
{
    *size = (size_t)(cell->end - cell->begin);
    const bool doubled = cell->quoted && memchr(cell->begin, '"', *size);
    const bool foreign = r->is_windows && !text_is_utf8(cell->begin, *size);
    if (!doubled && !foreign) return cell->begin;
    if (4 * *size > r->unquoted_room) {
        char *more = realloc(r->unquoted, 4 * *size);
        if (!more) return NULL;
        r->unquoted = more;
        r->unquoted_room = 4 * *size;
    }
    char *copy = r->unquoted + (foreign ? 3 * *size : 0);
    *size = text_cell_copy(cell, copy);
    if (foreign) *size = text_from_windows(copy, *size, r->unquoted);
    return r->unquoted;
}

typedef enum cell_result { CELL_GOOD, CELL_MISSING, CELL_BAD, CELL_FAILED } cell_result;

static cell_result store_word(text_reader *r, int column, const text_cell *cell, dictionary *words, uint32_t *code,
                              fault *f)
{
    if (text_cell_missing(cell) || text_cell_is(cell, "NaN")) return CELL_MISSING;
    size_t size;
    char name[320];
    const char *word = word_of(r, cell, &size);
    if (word && dictionary_code(words, word, size, code) == 0) return CELL_GOOD;
    if (r->base.names)
        snprintf(name, sizeof name, "%.150s, %.150s", input_name(r->base.in), r->base.names[column]);
    else
        snprintf(name, sizeof name, "%.150s, column %d", input_name(r->base.in), column);
    dictionary_fault(words, name, f);
    return CELL_FAILED;
}

/* Convert a cell written in its column's notation to the form that number_parse reads. */
static bool make_plain(const text_reader *r, int column, text_cell *cell, plain_number *room)
{
    const notation *n = r->notations ? r->notations[column] : NULL;
    if (!n) return true;
    if (!notation_read(n, cell->begin, cell->end, room)) return false;
    *cell = (text_cell){.begin = room->text, .end = room->text + room->size};
    return true;
}

/* Whether the cell has no number because it lacks what --number looks for. */
static bool is_without(const text_reader *r, int column, const text_cell *cell)
{
    const notation *n = r->notations ? r->notations[column] : NULL;
    const char *begin = cell->begin, *end = cell->end;
    return n && n->within && !notation_find(n, &begin, &end);
}

/* Store a cell as its slot's kind of value. */
static cell_result store_cell(text_reader *r, int column, int slot, const text_cell *cell, fault *f)
{
    const channel_form *as = &r->slot[slot].as;
    void *values = r->values + slot * r->capacity;
    const int64_t at = r->filled[slot];
    const bool numeric = as->kind == VALUES_NUMBERS || as->kind == VALUES_INTEGERS || as->kind == VALUES_TRUTHS;
    double value;
    time_span span;
    plain_number room;
    text_cell number = *cell;
    if (numeric && !make_plain(r, column, &number, &room))
        return text_cell_missing(cell) || is_without(r, column, cell) ? CELL_MISSING : CELL_BAD;
    switch (as->kind) {
    case VALUES_WORDS:
        return store_word(r, column, cell, as->words, (uint32_t *)values + at, f);
    case VALUES_NUMBERS:
        if (!text_cell_number(&number, &value)) break;
        ((double *)values)[at] = value;
        return CELL_GOOD;
    case VALUES_INTEGERS:
        if (text_cell_is(cell, "NaN")) return CELL_MISSING;
        if (integer_parse(number.begin, number.end, as->dtype, (uint64_t *)values + at)) return CELL_GOOD;
        if (!text_cell_number(&number, &value)) break;
        fault_set(f, EXIT_DATA, "%s, column %d: %.17g is not a 64-bit integer", input_name(r->base.in), column, value);
        return CELL_FAILED;
    case VALUES_TRUTHS:
        if (!text_cell_number(&number, &value)) break;
        ((unsigned char *)values)[at] = condition_has_written(as->condition, number.begin);
        return CELL_GOOD;
    case VALUES_TIMES:
        if (text_cell_is(cell, "NaT")) return CELL_MISSING;
        if (time_read(cell->begin, cell->end, &r->base.styles[column], &span) != TIME_READ) break;
        ((int64_t *)values)[at] = span.begin;
        return CELL_GOOD;
    }
    return text_cell_missing(cell) ? CELL_MISSING : CELL_BAD;
}

/* Store a cell in all slots of its column; -1 with a fault. */
static int store_in_slots(text_reader *r, uint64_t line, int column, const text_cell *cell, int *bad, int *missing,
                          fault *f)
{
    for (int slot = r->slot_of[column]; slot >= 0; slot = r->slot[slot].next) {
        const cell_result stored = store_cell(r, column, slot, cell, f);
        if (stored == CELL_FAILED) return -1;
        r->good[slot] = stored == CELL_GOOD;
        *missing += stored == CELL_MISSING;
        *bad += stored == CELL_BAD;
        if (*bad && !r->skip_bad)
            return (r->slot[slot].as.kind == VALUES_TIMES ? fault_time : fault_cell)(r, line, column, cell, f);
    }
    return 0;
}

/* read_row for all kinds of values. */
static row_result read_mixed_row(text_reader *r, const char **at, fault *f)
{
    const char *p = *at, *end = r->window.data + r->window.size;
    uint64_t line = r->line;
    int bad = 0, missing = 0;
    text_follow follow;
    int64_t column = 0;
    do {
        text_cell cell;
        follow = column + 1 == r->form.columns ? text_scan_rest(&p, end, &cell)
                                               : text_scan_cell(&p, end, r->form.delimiter, &cell);
        if (follow == TEXT_CUT) return ROW_CUT;
        if (column < r->base.channels && store_in_slots(r, line, (int)column, &cell, &bad, &missing, f) != 0)
            return ROW_FAILED;
        line += cell.newlines;
        column++;
    } while (follow == TEXT_CELL);
    *at = p;
    return end_row(r, column, line, bad, missing, f);
}

/* Whether the line at `begin` begins after the units to take. */
static inline bool is_behind(const text_reader *r, const char *begin)
{
    return r->window.offset + (begin - r->window.data) >= r->stop;
}

const char *text_line_begin(const char *p, const char *from)
{
    while (p > from && p[-1] != '\n')
        p--;
    return p;
}

int text_fault_open_quote(const text_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s, line %" PRIu64 ": a quote opened in this row is never closed; close it",
                     input_name(r->base.in), text_window_line(&r->window, r->line));
}

int64_t text_read_rows(text_reader *r, fault *f)
{
    int64_t rows = 0;
    while (rows < r->capacity) {
        const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size, *from = p;
        row_result result = ROW_CUT;
        if (text_skip_to_row(&p, end, r->form.delimiter, r->window.comment, &r->line)) {
            const char *begin = text_line_begin(p, from);
            r->ended = is_behind(r, begin);
            if (!r->ended) result = r->only_numbers ? read_row(r, &p, f) : read_mixed_row(r, &p, f);
            if (result == ROW_CUT) p = begin;
        }
        r->window.at = (size_t)(p - r->window.data);
        if (r->ended) break;
        if (result == ROW_FAILED) return -1;
        rows += result == ROW_READ;
        if (result != ROW_CUT) continue;
        if (rows && input_waits(r->base.in)) break;
        int more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
        if (more) continue;
        if (r->window.at < r->window.size) return text_fault_open_quote(r, f);
        break;
    }
    return rows;
}

/* ---- Plain numbers -------------------------------------------------------------------------------------- */

/* Store a plain number, or the word in its place, as other kinds of values. */
static row_result store_plain(text_reader *r, const text_cell *cell, fault *f)
{
    int bad = 0, missing = 0;
    return store_in_slots(r, r->line, 0, cell, &bad, &missing, f) == 0 ? keep_row(r, bad, missing) : ROW_FAILED;
}

/* Parse words of the window until the band is full or the window ends. */
static int64_t read_window_words(text_reader *r, int64_t count, fault *f)
{
    const char *p = r->window.data + r->window.at, *end = r->window.data + r->window.size;
    const char comment = r->skips_comments ? '#' : r->window.comment; /* after numbers, # can only begin a comment */
    while (count < r->capacity && !r->ended) {
        for (; p < end && text_is_space(*p) && !r->ended; p++) {
            if (*p != '\n') continue;
            r->line++;
            r->word = 1;
            r->ended = is_behind(r, p + 1);
        }
        if (r->ended) break;
        if (p == end) break;
        const char *q;
        if (comment && *p == comment) {
            q = memchr(p, '\n', (size_t)(end + 1 - p));
            if (q == end) break;
            p = q;
            continue;
        }
        double value;
        q = number_parse(p, &value);
        bool good = q && (text_is_space(*q) || (comment && *q == comment));
        if (!good)
            for (q = p; !text_is_space(*q) && !(comment && *q == comment);)
                q++;
        if (q == end) break;
        if (!r->only_numbers) {
            const row_result result = store_plain(r, &(text_cell){.begin = p, .end = q}, f);
            if (result == ROW_FAILED) return -1;
            count += result == ROW_READ;
        } else if (good) {
            r->values[count] = value;
            r->filled[0] = ++count;
        } else {
            const bool is_missing = text_cell_missing(&(text_cell){.begin = p, .end = q});
            if (!is_missing && !r->skip_bad) return fault_word(r, p, q, f);
            r->base.missing += is_missing;
            r->base.bad += !is_missing;
        }
        r->word++;
        p = q;
    }
    r->window.at = (size_t)(p - r->window.data);
    return count;
}

int64_t text_read_words(text_reader *r, fault *f)
{
    int64_t count = 0;
    int more = 1;
    while (more) {
        count = read_window_words(r, count, f);
        if (count < 0 || count == r->capacity || r->ended || (count && input_waits(r->base.in))) return count;
        more = text_window_more(&r->window, r->line, f);
        if (more < 0) return -1;
    }
    return count;
}
