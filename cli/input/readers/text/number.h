/* Decimal numbers in text, correctly rounded. */
#ifndef CLI_READERS_NUMBER_H
#define CLI_READERS_NUMBER_H

#include <histo/histo.h>

/* Parse the longest number at text: digits with an optional sign, point and exponent, or inf, infinity, nan in any
 * case. Returns its end, or NULL if there is none. Some character that no number contains (such as a newline) must
 * follow; nothing beyond it is read. Independent of the locale. */
const char *number_parse(const char *text, double *value);

/* Whether the number from begin to end is written with a point or an exponent. */
bool number_is_real(const char *begin, const char *end);

/* Parse all of the text from begin to end as an integer of a 64-bit dtype into *value: false if it is not one. Numbers
 * with a fraction or an exponent are integers if their doubles are. */
bool integer_parse(const char *begin, const char *end, histo_dtype dtype, void *value);

#endif
