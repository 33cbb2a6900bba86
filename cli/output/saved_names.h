/* The histograms in a JSON object, by name. */
#ifndef CLI_SAVED_NAMES_H
#define CLI_SAVED_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct saved_member {
    char *name;        /* UTF-8, with escapes undone: to be freed; NULL if memory ran out */
    size_t begin, end; /* "name": value, from the quote on; a comma or a bracket is at text[end] */
} saved_member;

/* The member of the object text[0 … size) that follows m (all zero before the first): false at the end, or where the
 * text is not JSON. */
bool saved_next_member(const char *text, size_t size, saved_member *m);

#endif
