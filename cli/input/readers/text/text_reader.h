/* The reader of text (text.c), and its rows of cells (text_rows.c). */
#ifndef CLI_READERS_TEXT_READER_H
#define CLI_READERS_TEXT_READER_H

#include "input/reader.h"
#include "input/readers/text/notation.h"
#include "input/readers/text/text_form.h"
#include "input/readers/text/text_scan.h"

/* Values of a column, read in one way. */
typedef struct text_slot {
    channel_form as;
    int next; /* slot of the same column, or -1 */
} text_slot;

typedef struct text_reader {
    reader base;
    text_window window;
    text_form form;
    bool skip_bad, paired, in_parts;
    char separator;                   /* that the first line states; 0: none does */
    bool is_windows;                  /* Windows-1252, of which names and strings are made UTF-8 */
    int64_t skipped_lines;            /* --skip-lines */
    bool skips_comments;              /* before the first row */
    bool header_given;                /* whether there is a header */
    const char *commented;            /* the last of these lines, without #; NULL: there is none */
    size_t commented_size;            /* bytes, before two newlines */
    const notation *const *notations; /* per column: how its numbers are written; NULL: as number_parse reads them */
    const regex_t *within;            /* of --number; NULL: not given */
    regex_t pattern;                  /* to which it points */
    int *slot_of;                     /* per column: the first slot of its values, or -1 */
    int *slot_of_view;                /* per selected column */
    text_slot *slot;
    int slots;
    bool only_numbers; /* each column has at most one slot, of f64 */
    char *unquoted;    /* a quoted cell without its doubled quotes */
    size_t unquoted_room;
    double *values;  /* `capacity` per slot, of 8 bytes at most */
    int64_t *filled; /* per slot: its values in the band */
    bool *good;      /* per slot: is the current row's value a number? */
    int64_t capacity;
    uint64_t line, word; /* 1-based; word: in plain numbers only */
    int64_t row;
    bool ended;        /* no row follows */
    int64_t first_row; /* the byte where rows begin, after a header */
    int64_t stop;      /* rows that begin here or later are not read */
} text_reader;

/* Find what the columns hold by the first rows, which begin at the window's position. cells: as many as there are
 * columns. False without memory. */
bool text_find_columns(text_reader *r, const read_options *options, text_cell *cells);

/* The same of the column of plain numbers, which is read in other ways where other files have these. */
bool text_find_number_column(text_reader *r, const read_options *options);

/* Read rows, or plain numbers, until the band is full or the data ends: how many, or -1. */
int64_t text_read_rows(text_reader *r, fault *f);
int64_t text_read_words(text_reader *r, fault *f);

/* The bytes of a cell, without doubled quotes: how many. */
size_t text_cell_copy(const text_cell *cell, char *to);
/* The beginning of the line whose first cell is at p, if lines before `from` have been read. */
const char *text_line_begin(const char *p, const char *from);
int text_fault_open_quote(const text_reader *r, fault *f);

static inline bool text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
