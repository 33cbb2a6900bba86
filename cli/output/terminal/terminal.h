/* Drawing in a terminal with text characters: bars, named bars, heat maps, and the table of statistics. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

#include "count/result.h"
#include "count/view.h"
#include "output/labels.h"

/* The characters used for drawing, depending on the locale. */
typedef struct signs {
    const char *parts[8]; /* of a bar's column: eighths */
    const char *full, *shades[4];
    const char *to, *cut, *divider, *about; /* 1 … 2, a na…, a · b, ≈ 3 */
} signs;

typedef struct screen {
    FILE *out;
    int columns, rows;
    bool colors, ascii;
    bool light;   /* dark text on a light background */
    bool *scaled; /* omit lines about rows and scales, but set this if a bar is scaled up; NULL: print the lines */
    const signs *signs;
} screen;

/* The size of the terminal; $COLUMNS x $LINES if `out` is not one; or 80 x 24. ASCII if the locale is not UTF-8. */
screen screen_of(FILE *out);
void screen_use_ascii(screen *to);

/* SGR codes such as "1;36"; nothing without colours. */
void screen_style(const screen *to, const char *style);
void screen_plain(const screen *to);

/* Text truncated or padded to `width` columns; negative: right-aligned. Control characters become question marks. */
void screen_text(const screen *to, const char *text, int width);
/* The width of UTF-8 text in columns: two for wide characters, none for combining ones. */
int text_columns(const char *text);

/* A line of phrases separated by " · ", wrapped between them. */
void screen_phrases(const screen *to, const char *text);

/* A bar that fills `length` (0 … 1) of `width` columns, in eighths of a column, padded with blanks. */
void screen_bar(const screen *to, double length, int width);

/* Maps values to lengths of bars or intensities of colours: 0 … 1. */
typedef struct scale {
    double least, most; /* the smallest positive value, and the largest */
    count_scale kind;
} scale;
void scale_add(scale *s, double value);
double scale_of(const scale *s, double value);

/* How many neighbouring bins share a row, for at most `most` rows. */
int64_t bins_in_a_row(int64_t bins, int64_t most);
/* The rows of an axis, which begin at round edges if its bins do. full: in that case, the rows as an axis in which no
 * row lacks bins; else it has no bins. */
bin_rows rows_of_axis(const histo_axis *axis, int64_t most, histo_axis *full);

/* The format of edges: the fewest digits that distinguish them, with the same number of decimals for all. Large ones
 * are written like 12.5 M. */
typedef struct edge_form {
    int power;         /* power of ten of the prefix: 6 for M */
    int decimals;      /* -1: %g */
    int digits;        /* for %g */
    int width;         /* columns of the widest */
    time_digits times; /* 0: numbers */
} edge_form;
/* of: what the edges represent, some of which begin rows. */
edge_form edge_form_of(const axis_form *of, const histo_axis *axis, const bin_rows *rows);
char *edge_text(const edge_form *form, double edge, char text[TEXT_NUMBER_BYTES]);

/* The drawings; `rows` is the available height. tables: of the series, which share their axes. */
bool terminal_bars(const screen *to, const result *r, const table *tables, int rows, const settings *s);
void terminal_bytes(const screen *to, const table *t, int rows, count_scale scale);
bool terminal_heat(const screen *to, const result *r, const table *t, const titles *names, int rows, const settings *s);

/* The table of statistics, with all of them if the settings say so, and its approximate number of lines. */
int terminal_stats_rows(const screen *to, const result *r, const settings *s);
int terminal_stats(const screen *to, const result *r, const table *tables, const settings *s, fault *f);

#endif
