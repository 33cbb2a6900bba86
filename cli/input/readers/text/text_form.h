/* The form of a text: rows of cells with a delimiter, or plain numbers separated by white space. */
#ifndef CLI_READERS_TEXT_FORM_H
#define CLI_READERS_TEXT_FORM_H

#include "input/reader.h"
#include "input/readers/text/text_scan.h"

/* Whether blanks separate the groups of a single number in each row, rather than numbers. */
typedef enum text_groups { GROUPS_NONE = 0, GROUPS_LIKELY, GROUPS_SURE } text_groups;

typedef struct text_form {
    bool numbers; /* plain numbers, in a single channel */
    text_delimiter delimiter;
    text_groups grouped;
    bool title;         /* a row before all others, such as the total of ls -l */
    bool header;        /* the first row contains names */
    bool may_be_header; /* the first row resembles names: 2013, 2014, 2015 above fractions, or one word above others */
    bool row_names;     /* rows begin with a name that has no name in the header, as R writes them */
    int64_t columns;    /* the last one takes the rest of each row; 0: as many as the first row has cells */
} text_form;

/* Detect the form from the rows in the window. False if the window ends within the first row, and more follows. */
bool text_form_find(const text_window *w, const read_options *options, text_form *form);

/* Whether the cell is only a number. */
bool text_cell_number(const text_cell *cell, double *value);
/* Whether it represents a missing value: empty, or NA, null, - and the like. */
bool text_cell_missing(const text_cell *cell);
/* Whether it is this word, ignoring case. */
bool text_cell_is(const text_cell *cell, const char *word);
/* Describe a cell: "'abc' is not a number", or another kind of value; long or unprintable cells are made printable. */
void text_cell_describe(const char *begin, const char *end, const char *kind, char *text, size_t size);
/* Whether the cell looks like a number with commas: 2,5 or 1,234.5. */
bool text_cell_has_comma(const text_cell *cell);

#endif
