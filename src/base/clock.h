#ifndef HISTO_BASE_CLOCK_H
#define HISTO_BASE_CLOCK_H

/* Microseconds since some moment before. Any thread. A program of its own may define it in the library's stead: tests
 * of what measuring decides have a clock that stands still while the machine is busy with something else. */
double histo_now_us(void);

#endif
