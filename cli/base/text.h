/* Numbers parsed strictly and printed so that they read back unchanged, and other small text functions. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Parse text that must be a number as a whole; text_to_f64 accepts infinities only as inf. */
bool text_to_i64(const char *text, int64_t *value);
bool text_to_f64(const char *text, double *value);

/* Strip surrounding blanks, trailing ones in place; returns the start. */
char *text_trim(char *text);

/* The next item of a comma-separated list, trimmed, and *rest after it; NULL at the end; in place. Quotes around an
 * item protect commas and blanks; a doubled quote inside stands for one. */
char *text_list_item(char **rest);

/* Write an item so that text_list_item reads it, quoted if necessary. Returns the length, which is at least size if it
 * does not fit. */
int text_quote_item(const char *item, char *to, size_t size);
int text_list_count(const char *list);

/* The length of the UTF-8 character at text; 0 if invalid. */
size_t text_character_bytes(const char *text);

/* Write a character in UTF-8, of 1 to 4 bytes; returns the end. */
char *text_put_utf8(char *to, uint32_t c);

/* Whether the character at `at` changes the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069), so that a terminal shows what follows in another order. */
bool text_turns(const char *at);

/* Replace by '?' every control character, including C1 (U+0080 to U+009F), every character that changes the direction
 * of text, and every byte that is not UTF-8, so that the text cannot control a terminal. In place; returns text. */
char *text_make_printable(char *text);

/* Write text as one line: control characters and backslashes are escaped. */
void text_put_line(const char *text, FILE *out);

/* Whether the text ends with this suffix, ignoring case, and has something before it. */
bool text_has_suffix(const char *text, const char *suffix);

/* The last component of a path. */
const char *text_file_name(const char *path);

enum { TEXT_NUMBER_BYTES = 32 };

/* The shortest of %.15g, %.16g and %.17g that reads back as value; inf, -inf, nan. Returns out. */
char *text_exact(double value, char out[TEXT_NUMBER_BYTES]);
/* For people: 1 234 567, or 1.2346e+09 for long integers. */
char *text_count(uint64_t value, char out[TEXT_NUMBER_BYTES]);
/* Six significant digits. */
char *text_short(double value, char out[TEXT_NUMBER_BYTES]);
/* As many digits as distinguish values between min and max, at least six. */
char *text_among(double value, double min, double max, char out[TEXT_NUMBER_BYTES]);

/* For drawings: as text_among, but 27 607 900 instead of an exponent below 1e15. */
char *text_readable(double value, double min, double max, char out[TEXT_NUMBER_BYTES]);

/* With a unit: 1.84 ms, 922 kB. */
char *text_seconds(double seconds, char out[TEXT_NUMBER_BYTES]);
char *text_bytes(double bytes, char out[TEXT_NUMBER_BYTES]);

/* A whole file as NUL-terminated text; size excludes the NUL. NULL with errno on failure, EFBIG above `most`. */
char *text_of_file(const char *path, size_t most, size_t *size);

/* FNV-1a: almost certainly differs if any byte does. */
uint32_t text_checksum(const char *text, size_t size);

#endif
