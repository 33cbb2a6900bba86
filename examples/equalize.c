/* Equalizes an image: its histogram makes a lookup table, which is applied to it. The image is the well-known one of
 * 8 x 8 pixels; the result has the bits of OpenCV's equalizeHist. */
#include "must.h"

enum { SIDE = 8 };

int main(void)
{
    static const uint8_t image[SIDE][SIDE] = {{52, 55, 61, 59, 79, 61, 76, 61},    {62, 59, 55, 104, 94, 85, 59, 71},
                                              {63, 65, 66, 113, 144, 104, 63, 72}, {64, 70, 70, 126, 154, 109, 71, 69},
                                              {67, 73, 68, 106, 122, 88, 68, 68},  {68, 79, 60, 70, 77, 66, 58, 75},
                                              {69, 85, 64, 58, 55, 61, 65, 83},    {70, 87, 69, 68, 65, 73, 78, 90}};
    uint8_t out[SIDE][SIDE];
    const histo_axis levels = histo_axis_integer(0, 256);
    const int64_t shape[] = {SIDE, SIDE};
    const histo_view from = histo_view_nd(image, HISTO_U8, 2, shape), to = histo_view_nd(out, HISTO_U8, 2, shape);
    histo_make_options to_bytes = HISTO_DEFAULTS;
    to_bytes.hi = 255;
    histo_hist *hist;
    histo_map *map;
    must(histo_hist_create(&hist, 1, &levels, NULL));
    must(histo_hist_fill(hist, &from, NULL));
    must(histo_map_create(&map, 1, &levels, NULL));
    must(histo_map_equalize(map, hist, &to_bytes));
    must(histo_map_apply(map, &from, &to, NULL));
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            printf("%3d%c", out[y][x], x < SIDE - 1 ? ' ' : '\n');
    histo_map_destroy(map);
    histo_hist_destroy(hist);
}
