/* Building blocks for option values: numbers, lists of numbers, regions. Failures quote the value, and say what the
 * option takes. */
#ifndef CLI_OPTION_PARSE_H
#define CLI_OPTION_PARSE_H

#include <stdint.h>

#include "base/fault.h"

/* The numbers of a list such as 3x4: returns how many; -1 if it is not one, or has more than `most`. All are 0 or
 * more. */
int parse_naturals(const char *text, const char *dividers, int64_t *numbers, int most);

/* An integer from smallest to largest. */
int parse_whole(const char *option, const char *text, int64_t smallest, int64_t largest, int64_t *value, fault *f);
int parse_int(const char *option, const char *text, int64_t smallest, int64_t largest, int *value, fault *f);

/* LEFT,TOP,WIDTH,HEIGHT */
int parse_region(const char *option, const char *text, int64_t region[4], fault *f);

/* The index of one of these words, which are separated by blanks; or -1. */
int parse_choice(const char *option, const char *text, const char *words, fault *f);

#endif
