/* The counted columns of the first file, where not the options but the file says which these are: all, those like a
 * pattern, or the default. In other files, columns of the same names are counted, in whatever order they are there. */
#ifndef CLI_NAMED_COLUMNS_H
#define CLI_NAMED_COLUMNS_H

#include "input/reader.h"

typedef struct named_column {
    char *name;  /* NULL: the options give its number */
    int channel; /* in the first file */
} named_column;

typedef struct named_columns {
    bool known; /* the first file has been looked at */
    int count;  /* 0: the options name them, or the file does not */
    named_column *of;
} named_columns;

/* name: it is copied; NULL: the options give the number. */
int named_columns_add(named_columns *columns, const char *name, int channel, fault *f);
/* The channel of column i in another file, which has names; -1, with a message, if there is none. */
int named_columns_find(const named_columns *columns, int i, const reader *r, fault *f);
void named_columns_free(named_columns *columns);

#endif
