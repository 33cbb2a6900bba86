/* The reader of text (text.c), and its rows of cells (text_rows.c). */
#ifndef CLI_READERS_TEXT_READER_H
#define CLI_READERS_TEXT_READER_H

#include "input/reader.h"
#include "input/readers/text/notation.h"
#include "input/readers/text/text_form.h"
#include "input/readers/text/text_scan.h"

/* The values of a column, read in one form. */
typedef struct text_slot {
    channel_form as;
    int next; /* slot of the same column, or -1 */
} text_slot;

typedef struct text_reader {
    reader base;
    text_window window;
    text_form form;
    bool skip_bad, paired, in_parts;
    char separator;                   /* given by the first line; 0: none */
    bool is_windows;                  /* Windows-1252; names and strings are converted to UTF-8 */
    int64_t skipped_lines;            /* --skip-lines */
    bool skips_comments;              /* before the first row */
    bool header_given;                /* whether there is a header */
    const char *commented;            /* the last comment line, without #; NULL: none */
    size_t commented_size;            /* size, excluding two newlines */
    const notation *const *notations; /* per column: how its numbers are written; NULL: as number_parse reads them */
    const regex_t *within;            /* --number; NULL: not given */
    regex_t pattern;                  /* what it points to */
    int *slot_of;                     /* per column: the first slot of its values, or -1 */
    int *slot_of_view;                /* per selected column */
    text_slot *slot;
    int slots;
    bool only_numbers; /* each column has at most one slot, of f64 */
    char *unquoted;    /* a quoted cell with its doubled quotes undone */
    size_t unquoted_room;
    double *values;  /* `capacity` per slot, of 8 bytes at most */
    int64_t *filled; /* per slot: number of values in the band */
    bool *good;      /* per slot: whether the current row's value is a number */
    int64_t capacity;
    uint64_t line, word; /* from 1; word: for plain numbers only */
    int64_t row;
    bool ended;        /* no row follows */
    int64_t first_row; /* the byte at which rows begin, after a header */
    int64_t stop;      /* rows that begin here or later are not read */
} text_reader;

/* Determine what the columns hold from the first rows, which begin at the window's position. cells: one for each
 * column. False if out of memory. */
bool text_find_columns(text_reader *r, const read_options *options, text_cell *cells);

/* The same for the column of plain numbers, which is read in other forms if other files require that. */
bool text_find_number_column(text_reader *r, const read_options *options);

/* Read rows, or plain numbers, until the band is full or the data ends: returns how many, or -1. */
int64_t text_read_rows(text_reader *r, fault *f);
int64_t text_read_words(text_reader *r, fault *f);

/* Copy the bytes of a cell, undoing doubled quotes: returns how many. */
size_t text_cell_copy(const text_cell *cell, char *to);
/* The beginning of the line whose first cell is at p, if lines before `from` have been read. */
const char *text_line_begin(const char *p, const char *from);
int text_fault_open_quote(const text_reader *r, fault *f);

static inline bool text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
