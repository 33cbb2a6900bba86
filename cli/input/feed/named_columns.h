/* The counted columns of the first file, if the file and not the options determines them: all columns, those that match
 * a pattern, or the default. In other files, columns with the same names are counted, in whatever order they are
 * there. */
#ifndef CLI_NAMED_COLUMNS_H
#define CLI_NAMED_COLUMNS_H

#include "input/reader.h"

typedef struct named_column {
    char *name;  /* NULL: the options give its number */
    int channel; /* in the first file */
} named_column;

typedef struct named_columns {
    bool known; /* the first file has been examined */
    int count;  /* 0: the options name them, or the file has no names */
    named_column *of;
} named_columns;

/* name: copied; NULL: the options give the number. */
int named_columns_add(named_columns *columns, const char *name, int channel, fault *f);
/* The channel of column i in another file, which has names; -1, with a message, if there is none. */
int named_columns_find(const named_columns *columns, int i, const reader *r, fault *f);
void named_columns_free(named_columns *columns);

#endif
