/* Contrast-limited adaptive equalization (CLAHE): every tile of an image has a histogram, whose counts are clipped, and
 * a table; each pixel gets a blend of the tables around it. The image has faint stripes, in deep shadow on the left and
 * in bright light on the right, which one table for the whole image cannot bring out. */
#include "must.h"

enum { SIDE = 64, TILES = 4, TILE = SIDE / TILES };

static int contrast(uint8_t image[SIDE][SIDE], int x)
{
    return abs(image[32][x] - image[33][x]);
}

int main(void)
{
    static uint8_t image[SIDE][SIDE], out[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            image[y][x] = (uint8_t)((x < SIDE / 2 ? 20 : 220) + 4 * (y % 2) + x % 3);
    const histo_axis levels = histo_axis_integer(0, 256);
    /* The tiles are batch dimensions: the same memory with two more strides. */
    const histo_view tiles = {image, HISTO_U8, 4, 2, {TILES, TILES, TILE, TILE}, {TILE * SIDE, TILE, SIDE, 1}};
    const int64_t shape[] = {SIDE, SIDE};
    const histo_view from = histo_view_nd(image, HISTO_U8, 2, shape), to = histo_view_nd(out, HISTO_U8, 2, shape);
    const histo_tiles grid = {2, {TILES, TILES}, {TILE, TILE}};
    histo_hist_options counting = HISTO_DEFAULTS;
    histo_map_options mapping = HISTO_DEFAULTS;
    histo_make_options clipped = HISTO_DEFAULTS;
    histo_apply_options applying = HISTO_DEFAULTS;
    counting.batch = mapping.batch = TILES * TILES;
    clipped.hi = 255;
    clipped.clip = 20;
    applying.tiles = grid;
    histo_hist *hist;
    histo_map *map;
    must(histo_hist_create(&hist, 1, &levels, &counting));
    must(histo_hist_fill(hist, &tiles, NULL));
    must(histo_map_create(&map, 1, &levels, &mapping));
    must(histo_map_equalize(map, hist, &clipped));
    must(histo_map_apply(map, &from, &to, &applying));
    printf("stripes in the shadow: %d levels before, %d after\n", contrast(image, 8), contrast(out, 8));
    printf("stripes in the light: %d levels before, %d after\n", contrast(image, 56), contrast(out, 56));
    histo_map_destroy(map);
    histo_hist_destroy(hist);
}
