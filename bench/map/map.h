/* The map: cells of sample type, axis, bins, distribution and placement. Each compares the plan's choice with the read
 * roof, the fastest strategy, the fastest peer and the cell's target. */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include "bench/core/options.h"
#include "bench/core/race.h"

enum { BENCH_MAX_CELLS = 512 };

typedef struct bench_cell {
    bench_input input; /* has the cell's name: "u32/integer/4096/zipf", with "/pageable" behind it */
    bench_placement placement;
    char row[80]; /* of the picture: "u32/integer/4096" */
    const char *column;
    double target[2];        /* per cent of the roof on a CPU and on a GPU; 0: none, < 0: not measured there */
    const char *target_peer; /* the peer whose rate sets a second target, where it takes part */
    double over_peer;        /* the target is its rate times this; 0: none */
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
    int cells, measured; /* the cells selected; of these, the first `measured` have verdicts */
    bench_verdict verdict[BENCH_MAX_CELLS];
} bench_map_result;

/* All cells of the map; returns how many. */
int bench_map_cells(bench_cell cells[BENCH_MAX_CELLS]);

/* Does one of the patterns "PATTERN,PATTERN…" match? Its parts, with * and ? as in a shell, must match parts of the
 * name in the same order: "zipf", "u32/4096", "f64/log/uniform". */
bool bench_cell_selected(const bench_cell *cell, const char *patterns);

/* Measure the cells that patterns select (NULL: all), by default with 2 GiB on a GPU and 512 MiB on a CPU, and print
 * the table as it goes. After a failure or at the end of the budget, the summary covers what was measured. *wrong: how
 * many entries failed or miscounted. */
histo_status bench_map(const bench_options *options, const char *patterns, bench_map_result *result, int *wrong);

#endif
