/* The map of `histo tune` as a picture: a tile for each cell, in the colour of its fastest strategy. */
#include <stdlib.h>
#include <string.h>

#include "bench/command/picture.h"
#include "bench/command/tune_map.h"
#include "output/writers/plot.h"

/* With several types, map.png becomes map-u8.png. */
static void picture_path(const bench_tuning *map, int dtype, const char *image, char *path, size_t size)
{
    const char *dot = strrchr(image, '.');
    if (map->options->dtypes == 1)
        snprintf(path, size, "%s", image);
    else
        snprintf(path, size, "%.*s-%s%s", (int)(dot - image), image, histo_dtype_name(map->options->dtype[dtype]), dot);
}

int picture_of_tuning(const bench_tuning *map, int dtype, const bench_settings *s, fault *f)
{
    const bench_tune_options *o = map->options;
    tune_winners w = tune_winners_of(map, dtype);
    plot_series entries[TUNE_MAX_WINNERS];
    char title[64], about[320], path[4096], names[TUNE_MAX_WINNERS][72];
    double *x = calloc((size_t)o->bins + 1, sizeof *x), *y = calloc((size_t)o->samples + 1, sizeof *y);
    size_t tiles = (size_t)(o->bins * o->samples);
    int *kinds = calloc(tiles, sizeof *kinds);
    char(*texts)[8] = calloc(tiles, sizeof *texts);
    int failed = x && y && kinds && texts ? 0 : fault_set(f, EXIT_DATA, "no memory to draw the map");
    if (!failed) {
        picture_tile_edges(o->bin, o->bins, x);
        picture_tile_edges(o->sample, o->samples, y);
    }
    tune_title(map, dtype, title, sizeof title);
    for (int i = 0; i < w.count; i++) {
        snprintf(names[i], sizeof names[i], "%c  %s", 'A' + i, w.name[i]);
        entries[i] = (plot_series){.name = names[i], .color = plot_palette(i)};
    }
    for (int b = 0; b < o->bins && !failed; b++)
        for (int n = 0; n < o->samples; n++) {
            const bench_tuned *cell = bench_tuning_cell(map, dtype, b, n);
            int at = b * o->samples + n;
            kinds[at] = tune_winner_of(&w, cell);
            if (kinds[at] < 0) continue;
            char rate[5] = "";
            tune_rate_text(cell, rate, sizeof rate);
            snprintf(texts[at], sizeof texts[at], "%c %.5s", 'A' + kinds[at], rate);
        }
    tune_describe(map, about, sizeof about);
    const plot_tiles map_tiles = {
        .nx = o->bins, .ny = o->samples, .x_edges = x, .y_edges = y, .series = kinds, .texts = (const char(*)[8])texts};
    const plot p = {.title = s->common.title ? s->common.title : title,
                    .x_label = "bins",
                    .y_label = "samples",
                    .footer = about,
                    .log_x = true,
                    .log_y = true,
                    .nseries = w.count,
                    .series = entries,
                    .tiles = &map_tiles,
                    .width = s->common.plot_width,
                    .height = s->common.plot_height};
    picture_path(map, dtype, s->image, path, sizeof path);
    if (!failed) failed = picture_write(&p, path, f);
    free(x);
    free(y);
    free(kinds);
    free(texts);
    return failed;
}
