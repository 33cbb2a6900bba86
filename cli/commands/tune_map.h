/* The map of histo tune, on a terminal and as a picture: which strategy is the fastest for so many bins and samples. */
#ifndef CLI_TUNE_MAP_H
#define CLI_TUNE_MAP_H

#include "bench/tune.h"
#include "options/settings.h"
#include "output/terminal/terminal.h"

/* The map of type `dtype` of the options. */
void tune_print_map(const bench_tuning *map, int dtype, const screen *to);
/* To --image. 0 or -1. */
int tune_draw_map(const bench_tuning *map, int dtype, const settings *s, fault *f);

#endif
