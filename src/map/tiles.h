/* The geometry of tiles: whose tables a sample takes, and with which weights. */
#ifndef MAP_TILES_H
#define MAP_TILES_H

#include <histo/histo.h>

/* The tiles whose centres are around a place of one dimension, and the share of the higher one: in float, as cv::CLAHE
 * has it. */
typedef struct histo_neighbours {
    int64_t low, high;
    float share;
} histo_neighbours;

/* Tiles with the place where the samples begin. */
typedef struct histo_grid {
    histo_tiles tiles;
    int64_t origin[3];
} histo_grid;

/* d: dimension of the tiles; place: of the samples. */
histo_neighbours histo_neighbours_of(const histo_grid *grid, int d, int64_t place);

/* How many of the places from `place` on, at most `limit`, have the same two tiles around them. */
int64_t histo_same_neighbours(const histo_grid *grid, int d, int64_t place, int64_t limit);

/* The number of tiles, INT64_MAX if it is larger. */
int64_t histo_tiles_in(const histo_tiles *tiles);

/* HISTO_INVALID unless the tiles suit the view. */
histo_status histo_grid_check(const histo_grid *grid, const histo_view *view);

#endif
