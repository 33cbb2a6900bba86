/* Finds the window of an image that is most like a given one, by their histograms. The windows overlap: they are batch
 * dimensions of one view, with the strides of the image twice. The given window is repeated by strides of zero. */
#include "must.h"

enum {
    WIDTH = 96,
    HEIGHT = 64,
    SIZE = 16,
    STEP = 4,
    ACROSS = (WIDTH - SIZE) / STEP + 1,
    DOWN = (HEIGHT - SIZE) / STEP + 1
};

static histo_hist *count(const histo_view *windows)
{
    const histo_axis axis = histo_axis_regular(16, 0, 256);
    histo_hist_options options = HISTO_DEFAULTS;
    options.batch = DOWN * ACROSS;
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, &options));
    must(histo_hist_fill(hist, windows, NULL));
    return hist;
}

int main(void)
{
    static uint8_t image[HEIGHT][WIDTH], wanted[SIZE][SIZE];
    static double distance[DOWN * ACROSS];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            image[y][x] = (uint8_t)(x * y / 17 + (x ^ y)); /* a texture that changes from place to place */
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            wanted[y][x] = image[28 + SIZE - 1 - y][52 + x]; /* a part of it, upside down */
    const histo_view windows = {image, HISTO_U8, 4, 2, {DOWN, ACROSS, SIZE, SIZE}, {STEP * WIDTH, STEP, WIDTH, 1}};
    const histo_view repeated = {wanted, HISTO_U8, 4, 2, {DOWN, ACROSS, SIZE, SIZE}, {0, 0, SIZE, 1}};
    histo_hist *all = count(&windows), *model = count(&repeated);
    int best = 0;
    must(histo_hist_compare(all, model, HISTO_BHATTACHARYYA, distance));
    for (int i = 1; i < DOWN * ACROSS; i++)
        if (distance[i] < distance[best]) best = i;
    printf("most alike: %d, %d, at a distance of %.3f\n", best % ACROSS * STEP, best / ACROSS * STEP, distance[best]);
    histo_hist_destroy(model);
    histo_hist_destroy(all);
}
