/* The map of `histo bench map` as a picture. */
#include <math.h>
#include <string.h>

#include "bench/command/picture.h"
#include "bench/command/plotted.h"

/* The index of the name in the list, where it is appended if missing. */
static int place_of(const char *name, const char **names, int *count)
{
    int i = 0;
    while (i < *count && strcmp(names[i], name) != 0)
        i++;
    if (i == *count) names[(*count)++] = name;
    return i;
}

/* Rows: type, axis, bins; columns: distributions; colour: the fraction of the read roof. */
int picture_of_map(const bench_map_result *map, const bench_settings *s, fault *f)
{
    enum { COLUMNS = 64, ROW_HEIGHT = 26, AROUND = 270 };
    static const char *rows[BENCH_MAX_CELLS], *columns[COLUMNS];
    static double values[BENCH_MAX_CELLS * COLUMNS];
    static int marks[BENCH_MAX_CELLS * COLUMNS], row[BENCH_MAX_CELLS], column[BENCH_MAX_CELLS];
    plot_grid grid = {.row_names = rows, .column_names = columns, .values = values, .marks = marks, .most = 100};
    for (int i = 0; i < map->measured; i++) {
        row[i] = place_of(map->verdict[i].cell->row, rows, &grid.rows);
        column[i] = place_of(map->verdict[i].cell->column, columns, &grid.columns);
    }
    for (int i = 0; i < grid.rows * grid.columns; i++)
        values[i] = NAN;
    for (int i = 0; i < map->measured; i++) {
        const bench_verdict *v = &map->verdict[i];
        int at = row[i] * grid.columns + column[i];
        values[at] = v->percent;
        marks[at] = (v->faults & BENCH_BELOW_PEER ? PLOT_FRAME : 0) | (v->faults & BENCH_BELOW_TARGET ? PLOT_DOT : 0);
    }
    int height = AROUND + ROW_HEIGHT * grid.rows;
    const plot p = {.title = "Share of the read roof, per cent",
                    .footer =
                        "Of what reading the same samples alone reaches in the same run. A dot: below its target. A "
                        "frame: below the best other library.",
                    .grid = &grid,
                    .height = height < PLOT_MAX_SIZE ? height : PLOT_MAX_SIZE};
    return picture_write(&p, s->image, f);
}
