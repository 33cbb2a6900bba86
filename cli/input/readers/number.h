/* Decimal numbers in text, rounded correctly. */
#ifndef CLI_READERS_NUMBER_H
#define CLI_READERS_NUMBER_H

/* Parse the longest number at text: digits with an optional sign, point and exponent, or inf, infinity, nan in any
 * case. Returns the end of it, or NULL if there is none. text must be followed, somewhere, by a character that no
 * number has in it (a newline, say): nothing beyond that is read. The locale does not matter. */
const char *number_parse(const char *text, double *value);

#endif
