/* Text as it is scanned: a window that slides over the input, and the cells of delimited rows in it.
 *
 * The byte after the window is always a newline (a sentinel), so scanning loops test for nothing else; one that stopped
 * there was cut off, and starts its row again when the window has more. At the end of the data a missing last newline
 * is added, so that the end needs no case of its own. */
#ifndef CLI_READERS_TEXT_SCAN_H
#define CLI_READERS_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/input.h"

enum { LONGEST_ROW = 64 << 20 };

typedef struct text_window {
    input *in;
    char *data;
    size_t capacity; /* of data, without the sentinel and an added newline */
    size_t size;
    size_t at; /* where scanning goes on: what lies before may be dropped */
    bool ended;
} text_window;

/* Fill the window with more text after what is there from `at` on; data moves. 1, 0 at the end, -1 on failure. line is
 * where `at` is. */
int text_window_more(text_window *w, uint64_t line, fault *f);
/* Forget everything, to read the input from its beginning. */
void text_window_reset(text_window *w);
void text_window_free(text_window *w);

/* What separates cells: a character, ' ' for runs of blanks, '\n' for nothing (one cell a row). */
typedef char text_delimiter;

typedef struct text_cell {
    const char *begin, *end; /* without the blanks around it, and without quotes */
    bool quoted;             /* a doubled quote in it stands for one */
    uint64_t newlines;       /* inside quotes */
} text_cell;

typedef enum text_follow {
    TEXT_CELL, /* another cell of the row follows */
    TEXT_ROW,  /* the row ended */
    TEXT_CUT,  /* the window ended */
} text_follow;

static inline bool is_blank(char c, text_delimiter delimiter)
{
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

/* Scan the cell at *at, and go on behind its delimiter. */
text_follow text_scan_cell(const char **at, const char *end, text_delimiter delimiter, text_cell *cell);

/* Go past blank lines, comments (# first) and, for blank delimiters, indentation, to the next row. False if the window
 * ends before one; *at is then where to go on. */
bool text_skip_to_row(const char **at, const char *end, text_delimiter delimiter, uint64_t *line);

/* Scan a whole row: the number of its cells, or 0 if the window ends first. The first `room` cells are stored. */
int64_t text_scan_row(const char **at, const char *end, text_delimiter delimiter, text_cell *cells, int64_t room,
                      uint64_t *line);

#endif
