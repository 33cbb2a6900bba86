/* The form of a text: rows of cells with a delimiter, or plain numbers separated by white space. */
#ifndef CLI_READERS_TEXT_FORM_H
#define CLI_READERS_TEXT_FORM_H

#include "input/reader.h"
#include "input/readers/text_scan.h"

typedef struct text_form {
    bool numbers; /* plain numbers, in a single channel */
    text_delimiter delimiter;
    bool header; /* the first row contains names */
} text_form;

/* Detect the form from the rows in the window. False if the window ends within the first row, and more follows. */
bool text_form_find(const text_window *w, const read_options *options, text_form *form);

/* Is the cell a number and nothing else? */
bool text_cell_number(const text_cell *cell, double *value);
/* Does the cell look like a number with commas: 2,5 or 1,234.5? */
bool text_cell_has_comma(const text_cell *cell);

#endif
