/* The form of a text: rows of cells with a delimiter, or plain numbers separated by white space. */
#ifndef CLI_READERS_TEXT_FORM_H
#define CLI_READERS_TEXT_FORM_H

#include "input/reader.h"
#include "input/readers/text/text_scan.h"

/* Whether blanks part the groups of one number in each row, and not numbers. */
typedef enum text_groups { GROUPS_NONE = 0, GROUPS_LIKELY, GROUPS_SURE } text_groups;

typedef struct text_form {
    bool numbers; /* plain numbers, in a single channel */
    text_delimiter delimiter;
    text_groups grouped;
    bool title;         /* a row before all others, such as the total of ls -l */
    bool header;        /* the first row contains names */
    bool may_be_header; /* the first row is like names: 2013, 2014, 2015 above fractions, or one word above others */
    bool row_names;     /* rows have a name in front that the header has none for, as R writes them */
    int64_t columns;    /* the last one takes the rest of each row; 0: as many as the first row has cells */
} text_form;

/* Detect the form from the rows in the window. False if the window ends within the first row, and more follows. */
bool text_form_find(const text_window *w, const read_options *options, text_form *form);

/* Is the cell a number and nothing else? */
bool text_cell_number(const text_cell *cell, double *value);
/* Does it stand for a missing value: is it empty, or NA, null, - and the like? */
bool text_cell_missing(const text_cell *cell);
/* Is it this word, whatever its case? */
bool text_cell_is(const text_cell *cell, const char *word);
/* "'abc' is not a number", or another kind of values, with long or unprintable cells made printable. */
void text_cell_describe(const char *begin, const char *end, const char *kind, char *text, size_t size);
/* Does the cell look like a number with commas: 2,5 or 1,234.5? */
bool text_cell_has_comma(const text_cell *cell);

#endif
