/* Some libraries write to standard error, which is for histo's own messages: between these two calls, the process's
 * standard error is redirected to /dev/null. Calls may be nested, in any threads. */
#ifndef CLI_QUIET_H
#define CLI_QUIET_H

void quiet_begin(void);
void quiet_end(void);

#endif
