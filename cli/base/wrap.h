/* Text wrapped between words to fit the terminal. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdio.h>

/* The width of the terminal of `out` (or COLUMNS, or 80), within readable limits. */
int wrap_columns(FILE *out);

/* Print text from `column`, the cursor's position, on lines of `columns` columns; following lines are indented, and
 * '\n' starts a new one. Ends the last line. */
void wrap_print(FILE *out, const char *text, int column, int indent, int columns);

#endif
