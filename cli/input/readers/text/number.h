/* Decimal numbers in text, correctly rounded. */
#ifndef CLI_READERS_NUMBER_H
#define CLI_READERS_NUMBER_H

#include <histo/histo.h>

/* Parse the longest number at text: digits with an optional sign, point and exponent, or inf, infinity, nan in any
 * case. Returns its end, or NULL if there is none. A character that no number contains (such as a newline) must follow
 * somewhere: nothing beyond it is read. Independent of the locale. */
const char *number_parse(const char *text, double *value);

/* Is the number, from begin to end, written with a point or an exponent? */
bool number_is_real(const char *begin, const char *end);

/* The integer that is all of the text from begin to end, of a dtype of 64 bits, into *value: false if it is not one.
 * Numbers with a fraction or an exponent are integers if their doubles are. */
bool integer_parse(const char *begin, const char *end, histo_dtype dtype, void *value);

#endif
