/* Counts the three channels of an interleaved RGB image in one call: the channel is a batch dimension of the view, so
 * each channel gets a histogram of its own. Then counts a region of the image: the same strides, another start and
 * shape. */
#include "must.h"

enum { WIDTH = 64, HEIGHT = 48, BINS = 8 };

static void print_channels(const histo_hist *hist)
{
    uint64_t counts[3][BINS];
    must(histo_hist_read_counts(hist, HISTO_BINS, counts[0], (int64_t)3 * BINS, NULL));
    for (int c = 0; c < 3; c++) {
        printf("%c", "RGB"[c]);
        for (int i = 0; i < BINS; i++)
            printf(" %4ju", (uintmax_t)counts[c][i]);
        printf("\n");
    }
}

int main(void)
{
    static uint8_t pixels[HEIGHT][WIDTH][3];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            pixels[y][x][0] = (uint8_t)(4 * x);
            pixels[y][x][1] = (uint8_t)(5 * y);
            pixels[y][x][2] = 200;
        }
    histo_axis axis = histo_axis_regular(BINS, 0, 256);
    histo_view image = {pixels, HISTO_U8, 3, 1, {3, HEIGHT, WIDTH}, {1, sizeof pixels[0], 3}};
    histo_view region = {pixels[16][8], HISTO_U8, 3, 1, {3, 16, 16}, {1, sizeof pixels[0], 3}};
    histo_hist_options three = HISTO_DEFAULTS;
    three.batch = 3;
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, &three));
    must(histo_hist_fill(hist, &image, NULL));
    print_channels(hist);
    must(histo_hist_reset(hist, NULL));
    must(histo_hist_fill(hist, &region, NULL));
    print_channels(hist);
    histo_hist_destroy(hist);
}
