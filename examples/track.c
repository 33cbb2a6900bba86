/* Follows an object by its colours: their histogram is projected back onto each frame, and the window moves to the
 * centre of the projected values until it stays (mean shift). Only samples in the window are touched. */
#include "must.h"
#include <math.h>

enum { WIDTH = 160, HEIGHT = 120, BALL = 20, FRAMES = 5 };

typedef uint8_t hue_image[HEIGHT][WIDTH];

/* A ball of hue 30 in front of hues around 110. */
static void draw(hue_image frame, int left, int top)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int dx = 2 * (x - left) + 1 - BALL, dy = 2 * (y - top) + 1 - BALL;
            frame[y][x] = (uint8_t)(dx * dx + dy * dy <= BALL * BALL ? 28 + (x + y) % 5 : 105 + x * y % 9);
        }
}

static void mean_shift(const histo_map *map, const histo_view *frame, int64_t window[4])
{
    for (int i = 0; i < 10; i++) {
        histo_moments m;
        must(histo_map_moments(map, frame, window, NULL, &m));
        if (m.m00 == 0) return;
        /* The first pixel's centre is half a pixel from the corner. */
        const long dx = lrint(m.m10 / m.m00 + 0.5 - (double)window[2] / 2);
        const long dy = lrint(m.m01 / m.m00 + 0.5 - (double)window[3] / 2);
        window[0] += dx;
        window[1] += dy;
        if (dx == 0 && dy == 0) return;
    }
}

int main(void)
{
    static hue_image frame;
    int64_t window[4] = {20, 30, BALL, BALL};
    const histo_axis hues = histo_axis_integer(0, 180);
    const int64_t shape[] = {HEIGHT, WIDTH};
    const histo_view view = histo_view_nd(frame, HISTO_U8, 2, shape);
    const histo_view object = {&frame[30][20], HISTO_U8, 2, 0, {BALL, BALL}, {WIDTH, 1}};
    histo_make_options to_bytes = HISTO_DEFAULTS;
    to_bytes.hi = 255;
    histo_hist *model;
    histo_map *map;
    draw(frame, 20, 30);
    must(histo_hist_create(&model, 1, &hues, NULL));
    must(histo_hist_fill(model, &object, NULL));
    must(histo_map_create(&map, 1, &hues, NULL));
    must(histo_map_project(map, model, NULL, &to_bytes));
    for (int i = 0; i < FRAMES; i++) {
        draw(frame, 20 + 9 * i, 30 + 4 * i);
        mean_shift(map, &view, window);
        printf("ball at %d, %d; window at %jd, %jd\n", 20 + 9 * i, 30 + 4 * i, (intmax_t)window[0],
               (intmax_t)window[1]);
    }
    histo_map_destroy(map);
    histo_hist_destroy(model);
}
