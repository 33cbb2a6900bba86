/* What kind of text it is: rows of cells with a delimiter, or plain numbers between white space. */
#ifndef CLI_READERS_TEXT_FORM_H
#define CLI_READERS_TEXT_FORM_H

#include "input/reader.h"
#include "input/readers/text_scan.h"

typedef struct text_form {
    bool numbers; /* plain numbers: one channel of them all */
    text_delimiter delimiter;
    bool header; /* the first row holds names */
} text_form;

/* Find the form from the rows in the window. False if the window ends before the first row does, and more is to come.
 */
bool text_form_find(const text_window *w, const read_options *options, text_form *form);

/* Is the cell a number, and nothing else? */
bool text_cell_number(const text_cell *cell, double *value);
/* Is it meant as a number, but with commas: 2,5 or 1,234.5? */
bool text_cell_has_comma(const text_cell *cell);

#endif
