/* Gives an image the histogram of another: where the cumulative shares are equal, values become equal. The reference
 * may have been counted elsewhere and loaded; it need not have as many pixels. */
#include "must.h"

enum { N = 8, M = 16 };

static histo_hist *count(const uint8_t *pixels, int64_t n)
{
    const histo_axis levels = histo_axis_integer(0, 256);
    const histo_view samples = histo_view_1d(pixels, HISTO_U8, n);
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &levels, NULL));
    must(histo_hist_fill(hist, &samples, NULL));
    return hist;
}

int main(void)
{
    const uint8_t image[N] = {10, 10, 20, 20, 30, 30, 40, 40};
    const uint8_t reference[M] = {100, 100, 100, 100, 150, 150, 150, 150, 200, 200, 200, 200, 250, 250, 250, 250};
    uint8_t out[N];
    const histo_axis levels = histo_axis_integer(0, 256);
    const histo_view from = histo_view_1d(image, HISTO_U8, N), to = histo_view_1d(out, HISTO_U8, N);
    histo_hist *hist = count(image, N), *wanted = count(reference, M);
    histo_map *map;
    must(histo_map_create(&map, 1, &levels, NULL));
    must(histo_map_match(map, hist, wanted, NULL));
    must(histo_map_apply(map, &from, &to, NULL));
    for (int i = 0; i < N; i++)
        printf("%d becomes %d\n", image[i], out[i]);
    histo_map_destroy(map);
    histo_hist_destroy(wanted);
    histo_hist_destroy(hist);
}
