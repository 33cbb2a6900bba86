/* Drawing in a terminal with its characters: bars, named bars, heat maps, and the table of statistics. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

#include "count/result.h"
#include "output/labels.h"

typedef struct screen {
    FILE *out;
    int columns, rows;
    bool colors;
} screen;

/* The size of the terminal; $COLUMNS x $LINES if it is none; or 80 x 24. */
screen screen_of(FILE *out);

/* SGR codes as in "1;36"; nothing without colours. */
void screen_style(const screen *to, const char *style);
void screen_plain(const screen *to);
const char *style_of_tone(tone t);

/* Text cut or padded to `width` columns; negative: right-aligned. */
void screen_text(const screen *to, const char *text, int width);
/* The width of text in columns. */
int text_columns(const char *text);

/* A line of phrases separated by " · ", wrapped between them. */
void screen_phrases(const screen *to, const char *text);

/* A bar that fills `length` (0 … 1) of `width` columns, in eighths of a column, padded with blanks. */
void screen_bar(const screen *to, double length, int width);

/* Maps values to lengths of bars or strengths of colours: 0 … 1. */
typedef struct scale {
    double least, most; /* the smallest positive value, and the largest */
    bool log;
} scale;
void scale_add(scale *s, double value);
double scale_of(const scale *s, double value);

/* How many neighbouring bins share a row, for at most `most` rows. */
int64_t bins_in_a_row(int64_t bins, int64_t most);

/* The format of edges: the fewest digits that distinguish them, with the same number of decimals for all. */
typedef struct edge_form {
    int decimals; /* -1: %g */
    int digits;   /* of %g */
    int width;    /* columns of the widest */
} edge_form;
edge_form edge_form_of(const histo_axis *axis, int64_t step);
char *edge_text(const edge_form *form, double edge, char text[TEXT_NUMBER_BYTES]);

/* The drawings; `rows` is the available height. tables: of the series, which share their axes. */
bool terminal_bars(const screen *to, const result *r, const table *tables, int rows, bool log);
void terminal_bytes(const screen *to, const table *t, int rows, bool log);
bool terminal_heat(const screen *to, const result *r, const table *t, int rows, bool log);

/* The table of statistics, and its approximate number of lines. */
int terminal_stats_rows(const screen *to, const result *r);
void terminal_stats(const screen *to, const result *r, const table *tables);

#endif
