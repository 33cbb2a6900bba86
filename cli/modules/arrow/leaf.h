/* A column of a table in Arrow's format: where its values are, and what they represent. */
#ifndef CLI_MODULES_ARROW_LEAF_H
#define CLI_MODULES_ARROW_LEAF_H

#include "input/reader.h"
#include "input/samples/unpack.h"
#include "modules/arrow/abi.h"

enum { DEEPEST = 32 };

typedef enum leaf_type {
    LEAF_OTHER, /* lists, bytes and the like, which cannot be counted */
    LEAF_NULLS,
    LEAF_NUMBERS, /* of the column's dtype */
    LEAF_BITS,
    LEAF_DECIMALS,
    LEAF_DATES, /* i32 days */
    LEAF_TIMES, /* i64 of some unit */
    LEAF_STRINGS,
    LEAF_LARGE_STRINGS,
    LEAF_STRING_VIEWS,
    LEAF_DICTIONARY, /* of strings; `index` has the dtype of codes */
} leaf_type;

typedef struct leaf {
    char *name;        /* "a.b" */
    int path[DEEPEST]; /* indices of the children that lead to it, from the root */
    int depth;
    int field; /* of the root */
    leaf_type type;
    const char *what;   /* for LEAF_OTHER: "lists" */
    histo_dtype dtype;  /* for LEAF_NUMBERS, or of the indices of a dictionary */
    leaf_type words;    /* the type of a dictionary's values */
    int bits, scale;    /* for LEAF_DECIMALS */
    bool zoned;         /* LEAF_TIMES in UTC, as their zone says; others are local times */
    int64_t per_second; /* for LEAF_TIMES, and for LEAF_NUMBERS that are spans; else 0 */
} leaf;

typedef struct leaves {
    leaf *of;
    int count;
} leaves;

/* Find the columns of a schema; false if out of memory. */
bool leaves_find(leaves *c, const struct ArrowSchema *schema);
void leaves_free(leaves *c);

/* The kind of its values, and their dtype when counted as numbers. */
values_kind leaf_kind(const leaf *c);
histo_dtype leaf_dtype(const leaf *c);

/* The column's array in a batch, and where the batch's rows begin in it: row i is element *first + i. Clears valid[i],
 * for rows from … from + count - 1, where a value is missing. */
const struct ArrowArray *leaf_array(const leaf *c, const struct ArrowArray *batch, int64_t from, int64_t count,
                                    bool *valid, int64_t *first);

/* Element `at` of an array. */
unpack_number leaf_number(const leaf *c, const struct ArrowArray *array, int64_t at);
double leaf_decimal(const leaf *c, const struct ArrowArray *array, int64_t at);
int64_t leaf_microseconds(const leaf *c, const struct ArrowArray *array, int64_t at);
const char *leaf_string(leaf_type type, const struct ArrowArray *array, int64_t at, size_t *size);
int64_t leaf_index(const leaf *c, const struct ArrowArray *array, int64_t at);
bool leaf_bit(const void *bits, int64_t at);

#endif
