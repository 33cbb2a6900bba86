#include "bench/command/picture.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "output/writers/plot.h"

/* "png", "svg" or "pdf" by the suffix; NULL for others. */
static const char *format_of(const char *path)
{
    static const char *const formats[] = {"png", "svg", "pdf"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(dot + 1, formats[i]) == 0) return formats[i];
    return NULL;
}

int picture_check(const char *path, fault *f)
{
    if (!path || format_of(path)) return outfile_check(path, f);
    return fault_set(f, EXIT_USAGE, "--image %s: the suffix of a picture is .png, .svg or .pdf", path);
}

void picture_tile_edges(const int64_t *numbers, int n, double *edges)
{
    for (int i = 1; i < n; i++)
        edges[i] = sqrt((double)numbers[i - 1] * (double)numbers[i]);
    const double first = (double)numbers[0], last = (double)numbers[n - 1];
    edges[0] = n > 1 ? first * first / edges[1] : first / 2;
    edges[n] = n > 1 ? last * last / edges[n - 1] : last * 2;
}

int picture_write(const plot *p, const char *path, fault *f)
{
    outfile *o = outfile_open(path, f);
    if (!o) return -1;
    if (plot_write(p, format_of(path), o, f) == 0) return outfile_commit(o, f);
    outfile_abandon(o);
    return -1;
}

/* ---- Pixels ---- */

int picture_of_pixels(const uint8_t *pixels, int64_t width, int64_t height, outfile *o, fault *f)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_GRAY};
    if (png_image_write_to_stdio(&image, outfile_stream(o), 0, pixels, 0, NULL)) return 0;
    return fault_set(f, EXIT_DATA, "%s cannot be written: %s", outfile_name(o), image.message);
}

/* ---- The map of `histo bench map` ---- */

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

/* ---- Random problems: a dot each ---- */

int picture_of_random(const random_result *result, const bench_settings *s, fault *f)
{
    plot_series series[RANDOM_CLASSES] = {{0}};
    plot_dots dots = {.series = calloc((size_t)result->count + 1, sizeof *dots.series)};
    double *x = calloc((size_t)result->count + 1, sizeof *x), *y = calloc((size_t)result->count + 1, sizeof *y);
    int classes[RANDOM_CLASSES], written = -1;
    plot p = {.title = "Random problems: per cent of the bound",
              .x_label = "samples",
              .y_label = "per cent of the bound",
              .footer = "The bound is the time to read the samples, and at the read roof to read and write the "
                        "counters.",
              .log_x = true,
              .log_y = true,
              .series = series,
              .dots = &dots};
    for (int c = 0; c < RANDOM_CLASSES; c++)
        classes[c] = -1;
    for (int i = 0; i < result->count && x && y && dots.series; i++) {
        const random_verdict *v = &result->verdict[i];
        if (v->outcome != RANDOM_EXACT) continue;
        if (classes[v->class] < 0) {
            classes[v->class] = p.nseries;
            series[p.nseries] = (plot_series){.name = random_class_names[v->class], .color = plot_palette(p.nseries)};
            p.nseries++;
        }
        x[dots.count] = (double)v->problem.samples;
        y[dots.count] = 100 * random_share(v);
        dots.series[dots.count++] = classes[v->class];
    }
    dots.x = x;
    dots.y = y;
    if (x && y && dots.series)
        written = picture_write(&p, s->image, f);
    else
        fault_set(f, EXIT_DATA, "no memory for a picture of %d problems", result->count);
    free(x);
    free(y);
    free(dots.series);
    return written;
}
