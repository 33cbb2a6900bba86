/* JSON (RFC 8259) in memory. A document is checked once as a whole, then walked by positions in its text. Nothing
 * recurses. NaN, Infinity and -Infinity, as written by Python's json, are accepted; a byte order mark is not. Since
 * JSON itself lacks these, NaN is written and read as null, and infinity as 1e999, which readers round to
 * infinity. Numbers use the "C" locale, which must be the thread's. */
#ifndef COUNTS_JSON_H
#define COUNTS_JSON_H

#include <histo/histo.h>

#include "base/threads/monitor.h"
#include "counts/saved/bytes.h"

enum { HISTO_JSON_DEPTH = 64 }; /* maximum depth of nested arrays and objects */

typedef struct histo_json {
    const char *text; /* not NUL-terminated */
    size_t size;
    int within;       /* the nesting depth in another document, of which it becomes a part */
    histo_pace *pace; /* shared by everything that reads the document, in characters; if it stops, walks end early, and
                       * histo_json_find fails */
} histo_json;

/* HISTO_CORRUPT, with the position, unless the text is one JSON object. All other functions need a checked document. */
histo_status histo_json_check(const histo_json *doc);

/* Fail with a message that starts with the line and byte of a position. */
histo_status histo_json_fail(const histo_json *doc, size_t at, histo_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The position of the document's value. */
size_t histo_json_root(const histo_json *doc);

/* The first character of the value at a position identifies its type; '0' for all numbers. */
char histo_json_type(const histo_json *doc, size_t at);

/* Iterates over the elements of an array or the members of an object; other values have none:
 *     for (histo_json_walk walk = histo_json_enter(doc, at); histo_json_next(&walk);) */
typedef struct histo_json_walk {
    const histo_json *doc;
    size_t next;
    size_t key, value; /* positions; in an array, key equals value */
    bool members;
} histo_json_walk;
histo_json_walk histo_json_enter(const histo_json *doc, size_t at);
bool histo_json_next(histo_json_walk *walk);

/* Whether the value at a position is a string equal to `text`. */
bool histo_json_is(const histo_json *doc, size_t at, const char *text);

/* Find the members of an object with these keys: their positions, or 0. The first `needed` keys are required.
 * Duplicates of these keys are errors; other keys are skipped. */
histo_status histo_json_find(const histo_json *doc, size_t at, int n, const char *const *keys, int needed,
                             size_t *members);

/* The value at a position as a C type; HISTO_CORRUPT if it has another type. A count is an integer from 0 to 2^64-1. */
histo_status histo_json_bool(const histo_json *doc, size_t at, bool *value);
histo_status histo_json_number(const histo_json *doc, size_t at, double *value);
/* The bits of an int64_t or uint64_t; false unless the value is such an integer, written in digits only. */
bool histo_json_whole(const histo_json *doc, size_t at, bool is_signed, uint64_t *bits);
histo_status histo_json_count(const histo_json *doc, size_t at, uint64_t *value);

/* *string = the string at a position as UTF-8, which the caller frees; NULL if it contains a NUL. */
histo_status histo_json_string(const histo_json *doc, size_t at, char **string);

/* The position after the value at a position. */
size_t histo_json_end(const histo_json *doc, size_t at);

/* The position after the number at a position, inside a string or not; 0 if there is no number. */
size_t histo_json_number_end(const histo_json *doc, size_t at);

/* Writing. A number gets the fewest digits that read back as the same double, in a form that is not an integer's.
 * `text` must be UTF-8. */
void histo_json_put_number(histo_bytes *out, double value);
void histo_json_put_string(histo_bytes *out, const char *text);

/* The length of the UTF-8 character that text starts with; 0 if it is invalid. */
size_t histo_json_character(const char *text, size_t size);

#endif
