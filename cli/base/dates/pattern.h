/* Dates in a format given by --date-format. */
#ifndef CLI_DATE_PATTERN_H
#define CLI_DATE_PATTERN_H

#include <stdbool.h>

#include "base/dates/reading.h"

/* NULL if the pattern is valid, else what is wrong with it. Directives: %Y or %y, %m, %b or %B, %d or %e, %j; %H or %I
 * with %p, %M, %S, %f (a fraction), %T, %R, %D, %F; %s (seconds since 1970), %z, %Z, %a or %A, %n or %t (blanks), %%;
 * everything else is literal. */
const char *date_pattern_check(const char *pattern);

/* Read text, which must match as a whole. */
bool date_pattern_read(const char *pattern, const char *begin, const char *end, time_span *span);

#endif
