/* JSON as RFC 8259 has it, in memory: a document is checked as a whole, once, and then walked by positions in its text.
 * Nothing recurses. The numbers NaN, Infinity and -Infinity, which Python's json writes, are accepted; a byte order
 * mark is not. Numbers are read and written as in the "C" locale, which must be the thread's. */
#ifndef COUNTS_JSON_H
#define COUNTS_JSON_H

#include <histo/histo.h>

#include "counts/bytes.h"

enum { HISTO_JSON_DEPTH = 64 }; /* arrays and objects within each other, at most */

typedef struct histo_json {
    const char *text; /* no NUL at the end */
    size_t size;
} histo_json;

/* HISTO_CORRUPT, with the place, unless the text is one JSON object. All that follows needs a checked document. */
histo_status histo_json_check(const histo_json *doc);

/* A failure at a position of the text, whose line and byte the sentence starts with. */
histo_status histo_json_fail(const histo_json *doc, size_t at, histo_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Position of the value of the whole document. */
size_t histo_json_root(const histo_json *doc);

/* The first character of the value at a position tells its type; numbers are all '0'. */
char histo_json_type(const histo_json *doc, size_t at);

/* The elements of an array or the members of an object, one after the other:
 *     for (histo_json_walk walk = histo_json_enter(doc, at); histo_json_next(&walk);)
 * gives nothing for other values. */
typedef struct histo_json_walk {
    const histo_json *doc;
    size_t next;
    size_t key, value; /* positions; of an array, key is that of the value */
    bool members;
} histo_json_walk;
histo_json_walk histo_json_enter(const histo_json *doc, size_t at);
bool histo_json_next(histo_json_walk *walk);

/* Is the value at this position a string equal to text? */
bool histo_json_is(const histo_json *doc, size_t at, const char *text);

/* Find the members of an object with these keys: their positions, or 0. The first `needed` must be there, and none may
 * be there twice; others are skipped. */
histo_status histo_json_find(const histo_json *doc, size_t at, int n, const char *const *keys, int needed,
                             size_t *found);

/* The value at a position as …; HISTO_CORRUPT if it is no such value. A count is a whole number from 0 to 2^64-1. */
histo_status histo_json_bool(const histo_json *doc, size_t at, bool *value);
histo_status histo_json_number(const histo_json *doc, size_t at, double *value);
histo_status histo_json_count(const histo_json *doc, size_t at, uint64_t *value);

/* Position behind the value at a position. */
size_t histo_json_end(const histo_json *doc, size_t at);

/* Position behind the number that starts at a position, in or out of a string; 0 if none does. */
size_t histo_json_number_end(const histo_json *doc, size_t at);

/* Writing. A number has the fewest digits that give the same double back; it shows that it is no integer. text must be
 * UTF-8. */
void histo_json_put_number(histo_bytes *out, double value);
void histo_json_put_string(histo_bytes *out, const char *text);

/* Length of the UTF-8 character that text starts with; 0 if it is none. */
size_t histo_json_character(const char *text, size_t size);

#endif
