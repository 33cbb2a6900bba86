/* Places of times in a day, a week or a year. */
#ifndef CLI_CYCLE_H
#define CLI_CYCLE_H

#include <stdint.h>

typedef enum time_cycle { CYCLE_NONE = 0, CYCLE_DAY, CYCLE_WEEK, CYCLE_YEAR } time_cycle;

/* The hours of a day, the days of a week from Monday, or the months of a year. */
int cycle_places(time_cycle cycle);
/* 07:00, Monday, January. */
const char *cycle_name(time_cycle cycle, int place);
/* The cycle whose places have these names, in order. */
time_cycle cycle_named(const char *const *names, int64_t count);
/* The place of a time, in microseconds since 1970. */
int cycle_place(time_cycle cycle, int64_t us);

#endif
