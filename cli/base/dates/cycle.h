/* Positions of times within a day, a week or a year. */
#ifndef CLI_CYCLE_H
#define CLI_CYCLE_H

#include <stdint.h>

typedef enum time_cycle { CYCLE_NONE = 0, CYCLE_DAY, CYCLE_WEEK, CYCLE_YEAR } time_cycle;

/* The number of hours in a day, of days in a week (from Monday), or of months in a year. */
int cycle_places(time_cycle cycle);
/* 07:00, Monday, January. */
const char *cycle_name(time_cycle cycle, int place);
/* The cycle whose positions have these names, in order. */
time_cycle cycle_named(const char *const *names, int64_t count);
/* The position of a time, given in microseconds since 1970. */
int cycle_place(time_cycle cycle, int64_t us);

#endif
