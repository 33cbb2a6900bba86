/* Separates an object from its background by Otsu's threshold, and three kinds of pixels by two thresholds: from the
 * counts alone. Then makes the binary image. */
#include "must.h"

enum { SIDE = 32, LEVELS = 4096 };

int main(void)
{
    static uint16_t image[SIDE][SIDE]; /* 12 bits: a gray disc with a bright core on a dark ground */
    static uint8_t binary[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int from_middle = (x - 16) * (x - 16) + (y - 16) * (y - 16);
            image[y][x] = (uint16_t)((from_middle < 20 ? 3500 : from_middle < 100 ? 1800 : 300) + 37 * (x + y) % 200);
        }
    const histo_axis levels = histo_axis_integer(0, LEVELS);
    const int64_t shape[] = {SIDE, SIDE};
    const histo_view from = histo_view_nd(image, HISTO_U16, 2, shape), to = histo_view_nd(binary, HISTO_U8, 2, shape);
    histo_make_options to_bytes = HISTO_DEFAULTS;
    to_bytes.hi = 255;
    int64_t threshold, between[2];
    histo_hist *hist;
    histo_map *map;
    must(histo_hist_create(&hist, 1, &levels, NULL));
    must(histo_hist_fill(hist, &from, NULL));
    must(histo_hist_split(hist, HISTO_SPLIT_OTSU, 2, &threshold));
    must(histo_hist_split(hist, HISTO_SPLIT_OTSU, 3, between));
    printf("two classes: up to %jd, above\n", (intmax_t)threshold);
    printf("three classes: up to %jd, up to %jd, above\n", (intmax_t)between[0], (intmax_t)between[1]);

    must(histo_map_create(&map, 1, &levels, NULL));
    must(histo_map_classes(map, hist, HISTO_SPLIT_OTSU, 2, &to_bytes));
    must(histo_map_apply(map, &from, &to, NULL));
    for (int x = 0; x < SIDE; x++)
        putchar(binary[SIDE / 2][x] ? '#' : '.');
    putchar('\n');
    histo_map_destroy(map);
    histo_hist_destroy(hist);
}
