/* The reader of a table whose columns are decoded one by one, each with one value per row, or with equally many. */
#ifndef CLI_MODULES_FITS_COLUMNS_H
#define CLI_MODULES_FITS_COLUMNS_H

#include "input/readers/arrays/column_words.h"
#include "input/readers/readers.h"

typedef struct column {
    const char *name;
    histo_dtype dtype;
    bool boolean;      /* 0 and 1 */
    int64_t values;    /* per row */
    int64_t bytes;     /* of a string, including its NUL; 0: numbers */
    const char *words; /* what it holds instead, such as "bits"; or NULL */
} column;

typedef struct columns_source {
    void *self;
    /* Read rows first … first + rows - 1 of a column. valid[rows * values]: 0 where a value is missing. */
    int (*read)(void *self, int column, int64_t first, int64_t rows, void *samples, unsigned char *valid, fault *f);
    void (*close)(void *self);
} columns_source;

/* The size of a value as it is read. */
size_t fits_column_bytes(const column *c);

/* A reader of this many rows. Takes ownership of in and source, also on failure; the columns and their names belong to
 * the source, and stay valid until it is closed. */
reader *fits_columns_open(input *in, const column *columns, int count, int64_t rows, columns_source source, fault *f);

#endif
