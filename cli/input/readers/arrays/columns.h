/* The columns of a table whose rows are records: fields of structured NumPy arrays and of HDF5's compounds. Nested
 * fields are called outer.inner, and elements of an array in a field outer.0, outer.1, …. */
#ifndef CLI_READERS_COLUMNS_H
#define CLI_READERS_COLUMNS_H

#include "input/reader.h"
#include "input/samples/unpack.h"

enum { COLUMNS_MOST = 1 << 16, COLUMNS_MOST_ELEMENTS = 1024 /* of an array in a field */ };

typedef enum string_kind { STRING_NONE = 0, STRING_BYTES, STRING_UCS4, STRING_POINTER } string_kind;

/* How strings are stored: padded by NULs, in a field of this many bytes. */
typedef struct stored_string {
    string_kind kind; /* STRING_NONE: numbers */
    int64_t bytes;
    bool swapped; /* UCS-4 not in native byte order */
    bool ends;    /* ends at the first NUL */
    bool blanks;  /* trailing blanks are not part of it */
} stored_string;

typedef struct table_column {
    char *name;
    const char *what; /* "arrays": what it holds; NULL: numbers or strings */
    stored_string string;
    histo_dtype dtype;
    bool boolean;   /* 0 and 1 */
    bool swapped;   /* not in native byte order */
    int64_t offset; /* in the record, in bytes */
    packing rule;   /* which values are missing */
} table_column;

typedef struct column_table {
    int count;
    table_column *column;
    const packing *packings; /* those of the columns, after columns_publish; owned by the reader */
} column_table;

/* Add a column; the name is copied. */
int columns_add(column_table *c, const char *name, const table_column *made, const char *subject, fault *f);
/* After the last one: give the reader these channels. */
int columns_publish(column_table *c, reader *r, const char *subject, fault *f);
/* Refuse selected columns that cannot be read in the requested form. */
int columns_check(const column_table *c, const selection *s, const char *subject, fault *f);
void columns_free(column_table *c);

#endif
