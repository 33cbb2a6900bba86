/* Dates of a form that --date-format describes. */
#ifndef CLI_DATE_PATTERN_H
#define CLI_DATE_PATTERN_H

#include <stdbool.h>

#include "base/dates/reading.h"

/* NULL if the pattern can be read: %Y or %y, %m, %b or %B, %d or %e, %j; %H or %I with %p, %M, %S, %f (a fraction),
 * %T, %R, %D, %F; %s (seconds since 1970), %z, %Z, %a or %A, %n or %t (blanks), %%; all else as it is written. Else
 * what is wrong with it. */
const char *date_pattern_check(const char *pattern);

/* Read text, all of it. */
bool date_pattern_read(const char *pattern, const char *begin, const char *end, time_span *span);

#endif
