/* The library's clock. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Microseconds since an arbitrary point in time; thread-safe. Tests replace it with a clock of their own, so that
 * decisions by measurement do not depend on the machine's load. */
double histo_now_us(void);

#endif
