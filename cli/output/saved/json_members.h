/* Members of JSON objects, found by counting brackets outside of strings, in valid JSON. */
#ifndef CLI_JSON_MEMBERS_H
#define CLI_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct saved_member {
    char *name;        /* UTF-8, unescaped; freed by the caller; NULL if memory ran out */
    size_t begin, end; /* "name": value, from the quote on; text[end] is a comma or a bracket */
    size_t value;      /* where the value begins */
} saved_member;

/* Find the member of the object text[0 … size) after m (all zero at first); false at the end, or if the text is not
 * JSON. */
bool next_member(const char *text, size_t size, saved_member *m);

/* The position of the comma or bracket after the value at `at`, or size. */
size_t member_value_end(const char *text, size_t size, size_t at);

/* Decode the string between two quotes. The caller frees it; NULL if out of memory. */
char *member_decode(const char *from, const char *end);

#endif
