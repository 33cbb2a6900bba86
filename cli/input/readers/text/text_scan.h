/* Scanning text: a window that slides over the input, and the cells of delimited rows in it.
 *
 * The byte after the window is always a newline (a sentinel), so that scanning loops need no other test; a row that
 * hits it is scanned again once the window has more. A missing newline at the end of the data is added, so that the end
 * is not a special case. */
#ifndef CLI_READERS_TEXT_SCAN_H
#define CLI_READERS_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/stream/input.h"

enum { LONGEST_ROW = 64 << 20 };

typedef struct text_window {
    input *in;
    char *data;
    size_t capacity; /* of data, excluding the sentinel and an added newline */
    size_t size;
    size_t at;      /* scan position: anything before it may be dropped */
    int64_t offset; /* bytes of the input before data */
    int64_t first;  /* position of its first line */
    char comment;   /* begins lines that are not rows; 0: none */
    bool begun, ended;
    bool carriage_returns; /* line ends are carriage returns alone, as on old Macintoshes and in some spreadsheets */
} text_window;

/* Append more text to what is left from `at` on; data moves. 1, 0 at the end, -1 on failure. line is the line number of
 * `at`. */
int text_window_more(text_window *w, uint64_t line, fault *f);
/* Reset, to read the input from its beginning. */
void text_window_reset(text_window *w);
/* Empty the window and move to the first line that begins at this byte of the input or later. */
int text_window_to_line(text_window *w, int64_t offset, fault *f);
/* The line number, for messages, of a line counted from the window's first. Nothing may be read afterwards. */
uint64_t text_window_line(const text_window *w, uint64_t line);
void text_window_free(text_window *w);

/* A cell separator: a character, ' ' for runs of blanks, '\n' for none (one cell per row), or one of those below. */
typedef int text_delimiter;

/* Runs of blanks, where a date includes its time and offset, although blanks separate them. Their words may also count
 * as cells of their own, so that columns have the same numbers as without dates; or not. */
enum {
    BLANKS_AND_DATES = 256, /* no character */
    BLANKS_BUT_IN_DATES,
    NUMBERS_BEFORE_MONTHS = 2 /* in addition: a number before a month name is not its day, but a size, say, as in ls
                               * -l */
};

static inline bool has_dates(text_delimiter delimiter)
{
    return delimiter >= BLANKS_AND_DATES;
}

static inline bool is_by_blanks(text_delimiter delimiter)
{
    return delimiter == ' ' || has_dates(delimiter);
}

typedef struct text_cell {
    const char *begin, *end; /* without surrounding blanks and quotes */
    bool quoted;             /* a doubled quote stands for one */
    uint64_t newlines;       /* inside quotes */
} text_cell;

typedef enum text_follow {
    TEXT_CELL, /* another cell follows in the row */
    TEXT_ROW,  /* the row ended */
    TEXT_CUT,  /* the window ended */
} text_follow;

/* White space that does not end a line. */
static inline bool is_blank(char c, text_delimiter delimiter)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n' && c != delimiter);
}

/* Scan the cell at *at and skip its delimiter. */
text_follow text_scan_cell(const char **at, const char *end, text_delimiter delimiter, text_cell *cell);

/* Skip blank lines, lines that begin with `comment` (0: none) and, for blank delimiters, indentation. False if the
 * window ends before the next row; *at is then the position to continue from. */
bool text_skip_to_row(const char **at, const char *end, text_delimiter delimiter, char comment, uint64_t *line);

/* Scan the last cell of a row, which may contain blanks, and also quotes unless these surround it. */
text_follow text_scan_rest(const char **at, const char *end, text_cell *cell);

/* Scan a row; returns the number of its cells, or 0 if the window ends first. The first `room` cells are stored.
 * columns: the last of this many cells takes the rest of the row; 0: no limit. */
int64_t text_scan_row(const char **at, const char *end, text_delimiter delimiter, int64_t columns, text_cell *cells,
                      int64_t room, uint64_t *line);

#endif
