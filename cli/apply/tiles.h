/* Histograms of the tiles of an image, counted in bands of rows. Where tiles do not fit, the image is extended by
 * reflection (reflect 101), as in OpenCV's CLAHE. */
#ifndef CLI_TILES_H
#define CLI_TILES_H

#include "apply/job.h"
#include "base/scratch.h"

typedef struct tile_grid {
    int64_t count[3], size[3]; /* of cells: pages, rows, columns; without overlap, each cell is a tile */
    int64_t overlap;           /* cells per tile, down and across; 1 without overlap */
} tile_grid;

typedef struct tiles {
    tile_grid grid;
    int64_t height, width; /* of the image */
    histo_axis axis;
    histo_hist **rows;   /* for each row of tiles, a batch of its tiles */
    histo_plan *plan[2]; /* for samples without and with a mask */
    int64_t page;        /* the page being counted, from 0 */
    /* For samples and for their mask: */
    scratch padded[2];       /* rows with their extension, if tiles do not fit */
    unsigned char *below[2]; /* the extension below the page: rows * width samples */
    bool masked;             /* some rows of the page have a mask */
    histo_dtype dtype;
} tiles;

/* The grid of `count` tiles (pages, rows, columns) on an image; as in OpenCV, an image that does not fit is padded in
 * both directions. overlap: tiles begin this many times per tile size (Kim, Kim and Hwang 2001, POSHE). */
tile_grid tiles_fit(const int64_t count[3], int64_t overlap, int64_t depth, int64_t height, int64_t width);
/* The grid of tiles of a given size (rows, columns), which must be divisible by overlap. */
tile_grid tiles_of_size(const int64_t size[2], int64_t overlap, int64_t height, int64_t width);
/* How the tables of a map made by tiles_map are placed on the image, for its last ndim dimensions. Adds to the
 * origin. */
void tiles_place(const tile_grid *grid, int ndim, histo_apply_options *options);

int tiles_begin(tiles *t, const tile_grid *grid, int64_t height, int64_t width, const histo_axis *axis,
                histo_dtype dtype, fault *f);
/* Count whole rows from row y of the current page on; the last ones end the page. counted, u8: 0 for samples to leave
 * out; NULL: all are counted. */
int tiles_add(tiles *t, int64_t y, const histo_view *rows, const histo_view *counted, const histo_plan_options *options,
              fault *f);
/* Make a map with an equalized table for each tile. */
int tiles_map(const tiles *t, histo_within within, const histo_make_options *options, histo_map **map, fault *f);
void tiles_free(tiles *t);

#endif
