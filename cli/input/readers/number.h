/* Decimal numbers in text, correctly rounded. */
#ifndef CLI_READERS_NUMBER_H
#define CLI_READERS_NUMBER_H

/* Parse the longest number at text: digits with an optional sign, point and exponent, or inf, infinity, nan in any
 * case. Returns its end, or NULL if there is none. A character that no number contains (such as a newline) must follow
 * somewhere: nothing beyond it is read. Independent of the locale. */
const char *number_parse(const char *text, double *value);

#endif
