/* Pictures of the maps. A build without the command's libraries has no_pictures.c instead of picture.c,
 * tune_picture.c, paper_picture.c and the readers of photographs. */
#ifndef BENCH_PICTURE_H
#define BENCH_PICTURE_H

#include "bench/command/settings.h"
#include "bench/map/map.h"
#include "bench/map/tune.h"
#include "bench/random/random.h"
#include "output/outfile.h"
#include "papers/experiments/papers.h"

struct plot;

/* Check before measuring that this build can draw, that --image FILE has the suffix of a picture and that it can be
 * written. NULL is fine. */
int picture_check(const char *path, fault *f);

/* Write a plot; the path's suffix chooses the format. */
int picture_write(const struct plot *p, const char *path, fault *f);

/* Edges of tiles such that each of n increasing numbers is in the middle of its tile on a logarithmic scale. [n + 1] */
void picture_tile_edges(const int64_t *numbers, int n, double *edges);

/* Write 8-bit gray pixels to the stream of o, as PNG. */
int picture_of_pixels(const uint8_t *pixels, int64_t width, int64_t height, outfile *o, fault *f);

/* Draw the map of `histo bench map` to --image. */
int picture_of_map(const bench_map_result *map, const bench_settings *s, fault *f);

/* Draw what `histo bench random` found: a dot for each problem. */
int picture_of_random(const random_result *result, const bench_settings *s, fault *f);

/* Draw experiment `index` of `count` of the papers; several files have the experiment in their names. */
int picture_of_paper(const papers_result *results, int index, int count, const bench_settings *s, fault *f);

/* Draw that of `histo tune` for type `dtype` of the options. */
int picture_of_tuning(const bench_tuning *map, int dtype, const bench_settings *s, fault *f);

#endif
