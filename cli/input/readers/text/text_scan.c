/* The sliding window over text, and the scanner of cells in it. */
#include "input/readers/text/text_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates/reading.h"

/* Fuzzing slides the window over small files too. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { FIRST_WINDOW = 64 };
#else
enum { FIRST_WINDOW = 1 << 18 };
#endif

enum { LONGEST_DATE = 256 }; /* with many blanks */

uint64_t text_window_line(const text_window *w, uint64_t line)
{
    fault ignored = {0};
    char *piece = w->first ? malloc(FIRST_WINDOW) : NULL;
    int64_t left = piece && input_seek(w->in, 0, &ignored) == 0 ? w->first : 0, got;
    while (left > 0 &&
           (got = input_read(w->in, piece, left < FIRST_WINDOW ? (size_t)left : FIRST_WINDOW, &ignored)) > 0) {
        for (const char *p = piece; (p = memchr(p, w->carriage_returns ? '\r' : '\n', (size_t)(piece + got - p))); p++)
            line++;
        left -= got;
    }
    free(piece);
    return line;
}

static int grow(text_window *w, uint64_t line, fault *f)
{
    const char *name = input_name(w->in);
    if (w->capacity >= LONGEST_ROW)
        return fault_set(f, EXIT_DATA,
                         "%s, line %" PRIu64
                         ": a row of more than %d MiB begins here; close the quote that may be open in "
                         "it, or break it into lines",
                         name, text_window_line(w, line), LONGEST_ROW >> 20);
    size_t capacity = w->capacity ? 2 * w->capacity : FIRST_WINDOW;
    char *data = realloc(w->data, capacity + 2);
    if (!data) return fault_set(f, EXIT_DATA, "no memory to read %s, line %" PRIu64, name, text_window_line(w, line));
    w->data = data;
    w->capacity = capacity;
    return 0;
}

/* If lines of the appended text end with carriage returns alone, make them newlines. */
static void settle_line_ends(text_window *w, size_t before)
{
    char *from = w->data + before, *end = w->data + w->size;
    if (!w->begun) w->carriage_returns = memchr(from, '\r', w->size) && !memchr(from, '\n', w->size);
    w->begun = true;
    while (w->carriage_returns && (from = memchr(from, '\r', (size_t)(end - from))))
        *from++ = '\n';
}

int text_window_more(text_window *w, uint64_t line, fault *f)
{
    if (w->ended) return 0;
    if (w->at) {
        w->size -= w->at;
        memmove(w->data, w->data + w->at, w->size);
        w->offset += (int64_t)w->at;
        w->at = 0;
    }
    if (w->size == w->capacity && grow(w, line, f) != 0) return -1;
    size_t before = w->size;
    while (w->size < w->capacity && !w->ended) {
        int64_t got = input_read(w->in, w->data + w->size, w->capacity - w->size, f);
        if (got < 0) return -1;
        w->size += (size_t)got;
        w->ended = got == 0;
        if (w->size > before && input_waits(w->in)) break;
    }
    settle_line_ends(w, before);
    if (w->ended && w->size > 0 && w->data[w->size - 1] != '\n') w->data[w->size++] = '\n';
    w->data[w->size] = '\n';
    return w->size > before;
}

static void reset(text_window *w, int64_t offset)
{
    w->size = w->at = 0;
    w->offset = w->first = offset;
    w->ended = false;
}

void text_window_reset(text_window *w)
{
    reset(w, 0);
    w->begun = false;
}

int text_window_to_line(text_window *w, int64_t offset, fault *f)
{
    if (input_seek(w->in, offset - 1, f) != 0) return -1;
    reset(w, offset - 1);
    int more;
    while ((more = text_window_more(w, 0, f)) > 0) {
        const char *newline = memchr(w->data + w->at, '\n', w->size - w->at);
        w->at = newline ? (size_t)(newline + 1 - w->data) : w->size;
        w->first = w->offset + (int64_t)w->at;
        if (newline) return 0;
    }
    return more;
}

void text_window_free(text_window *w)
{
    free(w->data);
}

/* Scan a quoted cell, whose opening quote is at q. escapes: \" is a quote in it and \\ a backslash, as in logs. Returns
 * the position after its closing quote, or NULL if the window ends first. */
static const char *scan_quoted(const char *q, const char *end, bool escapes, text_cell *cell)
{
    cell->quoted = true;
    cell->begin = ++q;
    for (;; q += 2) {
        for (; *q != '"'; q++) {
            if (escapes && q[0] == '\\' && (q[1] == '"' || q[1] == '\\')) q++;
            if (*q != '\n') continue;
            if (q == end) return NULL;
            cell->newlines++;
        }
        if (q + 1 == end) return NULL; /* the next byte decides whether the quote is doubled */
        if (q[1] != '"') break;
    }
    cell->end = q;
    return q + 1;
}

static inline bool ends_cell(char c, text_delimiter delimiter)
{
    return c == '\n' || c == delimiter || (is_by_blanks(delimiter) && is_blank(c, delimiter));
}

text_follow text_scan_cell(const char **at, const char *end, text_delimiter delimiter, text_cell *cell)
{
    const char *begin = *at;
    while (is_blank(*begin, delimiter) && !ends_cell(*begin, delimiter))
        begin++;
    const char *q = begin;
    *cell = (text_cell){.begin = begin};
    if (*q == '"') {
        q = scan_quoted(q, end, is_by_blanks(delimiter), cell);
        if (!q) return TEXT_CUT;
        while (is_blank(*q, delimiter) && !ends_cell(*q, delimiter))
            q++;
        if (!ends_cell(*q, delimiter)) cell->quoted = false; /* "a"b is an unquoted cell that contains quotes */
    }
    if (!cell->quoted) {
        if (has_dates(delimiter) && end - begin < LONGEST_DATE && !memchr(begin, '\n', (size_t)(end - begin)))
            return TEXT_CUT;
        const bool days_in_front = !(delimiter & NUMBERS_BEFORE_MONTHS);
        const char *date = has_dates(delimiter) ? time_extent(begin, end, days_in_front) : NULL;
        if (date && (delimiter & ~NUMBERS_BEFORE_MONTHS) == BLANKS_BUT_IN_DATES) q = date;
        while (!ends_cell(*q, delimiter))
            q++;
        cell->begin = begin;
        cell->end = date ? date : q;
        while (cell->end > begin && is_blank(cell->end[-1], delimiter))
            cell->end--;
    }
    if (is_by_blanks(delimiter))
        while (is_blank(*q, delimiter))
            q++;
    if (q == end) return TEXT_CUT;
    bool row_ended = *q == '\n';
    *at = row_ended || !is_by_blanks(delimiter) ? q + 1 : q;
    return row_ended ? TEXT_ROW : TEXT_CELL;
}

bool text_skip_to_row(const char **at, const char *end, text_delimiter delimiter, char comment, uint64_t *line)
{
    for (;;) {
        const char *p = *at;
        while (is_blank(*p, delimiter))
            p++;
        if (comment && *p == comment) p = memchr(p, '\n', (size_t)(end + 1 - p));
        if (p == end) return false;
        if (*p != '\n') {
            if (is_by_blanks(delimiter)) *at = p;
            return true;
        }
        ++*line;
        *at = p + 1;
    }
}

text_follow text_scan_rest(const char **at, const char *end, text_cell *cell)
{
    const char *begin = *at, *q = memchr(begin, '\n', (size_t)(end + 1 - begin));
    if (q == end) return TEXT_CUT;
    if (*begin == '"') { /* whether the quotes surround all of it */
        const text_follow follow = text_scan_cell(at, end, '\n', cell);
        if (follow == TEXT_ROW && cell->quoted && cell->newlines == 0) return follow;
        *at = begin;
    }
    *cell = (text_cell){.begin = *at, .end = q};
    while (cell->end > cell->begin && is_blank(cell->end[-1], ' '))
        cell->end--;
    *at = q + 1;
    return TEXT_ROW;
}

int64_t text_scan_row(const char **at, const char *end, text_delimiter delimiter, int64_t columns, text_cell *cells,
                      int64_t room, uint64_t *line)
{
    const char *p = *at;
    uint64_t newlines = 1;
    text_cell cell;
    int64_t count = 0;
    text_follow follow;
    do {
        follow = count + 1 == columns ? text_scan_rest(&p, end, &cell) : text_scan_cell(&p, end, delimiter, &cell);
        if (follow == TEXT_CUT) return 0;
        newlines += cell.newlines;
        if (count < room) cells[count] = cell;
        count++;
    } while (follow == TEXT_CELL);
    *at = p;
    *line += newlines;
    return count;
}
