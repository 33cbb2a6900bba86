/* The map: cells of sample type, axis, bins, distribution and placement; for each, what the plan's choice reaches
 * beside the read roof, the best strategy, the best peer and the cell's target. */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include <stdio.h>

#include "bench/patience.h"
#include "bench/race.h"

enum { BENCH_MAX_CELLS = 512 };

typedef struct bench_map_options {
    histo_device device;
    const char *cells;        /* patterns, see bench_cell_selected; NULL: all */
    int64_t samples, bytes;   /* of a cell; 0: the other one, or 2 GiB on a GPU, 512 MiB on a CPU */
    int repeat;               /* timed passes; 0: 5 */
    int threads;              /* on the CPU; 0: the default */
    FILE *table, *json;       /* json may be NULL */
    const char *command_line; /* for json */
    bench_patience patience;
} bench_map_options;

typedef struct bench_cell {
    bench_input input; /* its name is the cell's: "u32/integer/4096/zipf", and "/pageable" */
    bench_placement placement;
    char row[80]; /* of the picture: "u32/integer/4096" */
    const char *column;
    double target[2];   /* per cent of the roof, on a CPU and a GPU; 0: none, < 0: not measured */
    const char *beside; /* the peer whose rate, where it takes part, … */
    double times;       /* … the plan's is to be so many times; 0: no target */
} bench_cell;

/* What is wrong with a cell. */
enum {
    BENCH_BELOW_TARGET = 1,
    BENCH_BELOW_PEER = 2,
    BENCH_WRONG_CHOICE = 4,
    BENCH_BELOW_UNIFORM = 8,
    BENCH_ERROR = 16,
    BENCH_NOT_MEASURED = 32,
};

typedef struct bench_verdict {
    const bench_cell *cell;
    double target;  /* per cent of the roof; 0: none */
    double rate;    /* of the plan, samples per microsecond */
    double percent; /* of the roof */
    double choice;  /* its rate over that of the best strategy */
    double peers;   /* its rate over that of the best peer; 0: there is none */
    double seconds; /* that measuring the cell took */
    int faults;
} bench_verdict;

typedef struct bench_map_result {
    int cells, measured; /* that were asked for, and the first ones of them */
    bench_verdict verdict[BENCH_MAX_CELLS];
} bench_map_result;

/* All cells of the map; returns how many. */
int bench_map_cells(bench_cell cells[BENCH_MAX_CELLS]);

/* Does one of the patterns "PATTERN,PATTERN…" match? Their parts, which may have * and ? as in a shell, must match
 * parts of the name in the same order: "zipf", "u32/4096", "f64/log/uniform". */
bool bench_cell_selected(const bench_cell *cell, const char *patterns);

/* Measure, and write the table as it goes; what was measured before a failure or the end of the time is summed up as
 * well. *wrong: entries that failed or counted differently. */
histo_status bench_map(const bench_map_options *options, const bench_cell *cells, int count, bench_map_result *result,
                       int *wrong);

#endif
