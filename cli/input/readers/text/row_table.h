/* Tables read row by row, with named columns: JSON lines, SQLite. A reader begins with a table and puts the cells of
 * each row into it; the table makes bands of them, and leaves out missing and bad cells. */
#ifndef CLI_READERS_ROW_TABLE_H
#define CLI_READERS_ROW_TABLE_H

#include "input/reader.h"

typedef enum cell_kind {
    CELL_NULL,
    CELL_INTEGER,
    CELL_REAL,
    CELL_WORD,
    CELL_OTHER, /* neither a number nor a word */
} cell_kind;

typedef struct row_table_cell {
    cell_kind kind;
    int64_t integer;
    double real;      /* for integers, too */
    const char *text; /* for words and, if row_table_has_words, for numbers */
    size_t size;
} row_table_cell;

typedef enum cell_state { CELL_MISSING = 0, CELL_GOOD, CELL_BAD } cell_state;

/* A selected column, in the form in which it is read. */
typedef struct row_table_slot {
    channel_form as;
    void *values; /* [capacity] */
    int64_t filled;
    cell_state state; /* of the current row's cell */
    int next;         /* the slot of the same column in another form; or -1 */
} row_table_slot;

/* The kind of words in a column, as far as examined. */
typedef struct row_table_words {
    int words, times;
    date_evidence dates;
} row_table_words;

typedef struct row_table {
    reader base;
    int room; /* for columns */
    char **names;
    histo_dtype *dtypes;
    bool *numeric;
    bool *booleans; /* until the last column is added: true or false has been seen */
    bool *blank, *reals;
    values_kind *kinds;
    time_style *styles;
    row_table_words *words;
    time_style given; /* the style of dates given by options */
    bool skip_bad, paired, in_parts;
    int *slot_of;      /* [channels]: the first slot of a column, or -1; NULL before columns are selected */
    int *slot_of_view; /* [base.selected.count] */
    row_table_slot *slot;
    int slots;
    int64_t capacity; /* rows in a band */
    int64_t row;      /* before the band */
    int64_t rows;     /* in the band */
} row_table;

/* A zeroed struct of `size` bytes that begins with a table; NULL if out of memory. */
void *row_table_create(size_t size, input *in, const read_options *options, reader_functions functions, fault *f);
/* Add a column of f64 with this name, which is then owned: returns its number, or -1 if out of memory. */
int row_table_add_column(row_table *t, char *name);
/* After the last column: determine the kind of those that are not numeric. */
void row_table_end_columns(row_table *t);
/* The reader's `select`, for columns of dtypes f64, i64 or u64. */
int row_table_select(reader *base, fault *f);
/* Go back to the first row. */
void row_table_reset(row_table *t);
/* Free what the table owns, but not the struct. */
void row_table_free(row_table *t);

/* Deliver the band of the rows so far: 1, or 0 if there are none. */
int row_table_band(row_table *t, band *b);
/* Begin the next one. */
void row_table_begin_band(row_table *t);

static inline bool row_table_full(const row_table *t)
{
    return t->rows == t->capacity;
}

/* A row: at first all its cells are missing, then some are put, then it is kept or left out. */
void row_table_begin_row(row_table *t);
void row_table_end_row(row_table *t);

static inline bool row_table_is_selected(const row_table *t, int column)
{
    return t->slot_of && column >= 0 && t->slot_of[column] >= 0;
}
/* Whether the selected column is read as words. */
bool row_table_has_words(const row_table *t, int column);

void row_table_look_at_word(const row_table *t, row_table_words *words, const char *text, size_t size);

typedef enum put_result {
    PUT_GOOD,
    PUT_BAD,    /* it is not of the counted kind, which is an error: the reader adds its position */
    PUT_FAILED, /* a fault has been set */
} put_result;

/* Put a cell of a selected column. */
put_result row_table_put(row_table *t, int column, const row_table_cell *cell, fault *f);
/* Describe a bad cell: "'abc' is not a date", or a number; other: what cells of CELL_OTHER are. */
void row_table_describe(const row_table *t, int column, const row_table_cell *cell, const char *other, char *text,
                        size_t size);

#endif
