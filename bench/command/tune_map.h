/* The map of `histo tune`: which strategy is the fastest for so many bins and samples. */
#ifndef BENCH_TUNE_MAP_H
#define BENCH_TUNE_MAP_H

#include "bench/map/tune.h"
#include "output/terminal/terminal.h"

/* On a terminal: the map of type `dtype` of the options. */
void tune_print_map(const bench_tuning *map, int dtype, const screen *to);

/* ---- What the picture has too ---- */

enum { TUNE_MAX_WINNERS = 26 }; /* a letter each */

/* The strategies that win somewhere on a map, in the order of their table. */
typedef struct tune_winners {
    int count;
    int strategy[TUNE_MAX_WINNERS];
    char name[TUNE_MAX_WINNERS][64];
} tune_winners;

tune_winners tune_winners_of(const bench_tuning *map, int dtype);
/* The index of a cell's fastest strategy among the winners; -1: nothing was measured. */
int tune_winner_of(const tune_winners *w, const bench_tuned *cell);

/* Three digits of Gsamples/s. */
void tune_rate_text(const bench_tuned *cell, char *text, size_t size);
void tune_title(const bench_tuning *map, int dtype, char *title, size_t size);
/* "Gsamples/s on the worst of uniform and zipf; samples where they are counted" */
void tune_describe(const bench_tuning *map, char *text, size_t size);

#endif
