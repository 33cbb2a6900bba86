/* Text wrapped between words to fit the terminal. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdio.h>

/* Columns of the terminal behind out (or COLUMNS, or 80), within readable limits. */
int wrap_columns(FILE *out);

/* Print text from `column`, where the line already is, on lines of `columns`, each further one indented; '\n' in text
 * begins a new one. Ends the last line. */
void wrap_print(FILE *out, const char *text, int column, int indent, int columns);

#endif
