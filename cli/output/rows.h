/* Small tables of numbers: as columns on a terminal, tab-separated in a pipe, or as CSV or JSON. They are written as
 * they come, in rows from left to right; a file appears whole or not at all.
 *
 *     if (rows_open(&to, s, f) != 0) …        before anything is read
 *     rows_begin(&to, (const char *const[]){"q", "value"}, 2);
 *     rows_number(&to, 50);
 *     rows_number(&to, 3.25);                 ends the row
 *     return rows_commit(&to, f);
 *
 * JSON is a list of objects; NaN is null there, and infinities are "inf" and "-inf". */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "count/result.h"
#include "options/settings.h"
#include "output/outfile.h"

enum { ROWS_MAX_COLUMNS = 24 };

typedef enum rows_format { ROWS_TEXT = 0, ROWS_TSV, ROWS_CSV, ROWS_JSON } rows_format;

typedef struct rows {
    outfile *file;
    rows_format format;
    const char *names[ROWS_MAX_COLUMNS];
    int columns, column; /* of the next cell */
    int64_t count;       /* number of rows begun */

    /* For text: cells that wait until the widths of the columns are known, one after the other, each with a NUL. */
    char *waiting;
    size_t used, room;
    int widths[ROWS_MAX_COLUMNS];
    bool out_of_memory;
} rows;

/* Whether the suffix of a path, or --to, names a format of tables. */
bool rows_take(const settings *s);
/* A zeroed table may be closed even if this fails. */
int rows_open(rows *to, const settings *s, fault *f);
/* Name the columns, before the first cell. The names must outlive the table. */
void rows_begin(rows *to, const char *const *names, int columns);

void rows_text(rows *to, const char *text);
void rows_number(rows *to, double value);
void rows_count(rows *to, uint64_t count);
/* A number in decimal digits, also valid in JSON. */
void rows_digits(rows *to, const char *number);
/* A value on an axis: a date if these are times. */
void rows_value(rows *to, const axis_form *form, double value);
/* A difference of such values: for times, microseconds, or 3.5 d on a terminal. */
void rows_difference(rows *to, const axis_form *form, double value);

int rows_commit(rows *to, fault *f);
/* Leaves no file if nothing was committed. */
void rows_close(rows *to);

/* The common part of subcommands that print numbers: opens the table, calls `run`, commits, reports a fault, and
 * returns the exit status. */
int rows_command(const settings *s, int (*run)(const settings *s, rows *to, fault *f));

void rows_put_json_string(FILE *out, const char *text);

/* Text as a cell of CSV (quoted if necessary) or of TSV (with blanks for characters that would end the cell). */
void rows_put_text(FILE *out, bool quotes, const char *text);

/* Text, UTF-8, as a string of JSON. */
void rows_put_json_string(FILE *out, const char *text);

#endif
