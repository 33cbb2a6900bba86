/* Numbers parsed strictly and printed so that they read back unchanged, and other small text. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text must be the number; a finite one for text_to_f64, unless it says inf. */
bool text_to_i64(const char *text, int64_t *value);
bool text_to_f64(const char *text, double *value);

/* text without blanks around it; cuts those at the end off. */
char *text_trim(char *text);

/* The path without its directories. */
const char *text_file_name(const char *path);

enum { TEXT_NUMBER_BYTES = 32 };

/* The shortest of %.15g, %.16g and %.17g that reads back as value; inf, -inf, nan. Returns out. */
char *text_exact(double value, char out[TEXT_NUMBER_BYTES]);
/* For people: 1 234 567, or 1.2346e+09 where a whole number would be long. */
char *text_count(uint64_t value, char out[TEXT_NUMBER_BYTES]);
/* Six significant digits. */
char *text_short(double value, char out[TEXT_NUMBER_BYTES]);
/* As many digits as tell values from min to max apart, and six at least. */
char *text_among(double value, double min, double max, char out[TEXT_NUMBER_BYTES]);

/* With a unit: 1.84 ms, 922 kB. */
char *text_seconds(double seconds, char out[TEXT_NUMBER_BYTES]);
char *text_bytes(double bytes, char out[TEXT_NUMBER_BYTES]);

/* A whole file as text, ended by a NUL (which is not counted); NULL with errno on failure, EFBIG beyond `most`. */
char *text_of_file(const char *path, size_t most, size_t *size);

#endif
