/* Looks for faulty dies of a wafer, which should all look alike. The differences of neighbouring images are counted
 * against the mean brightness, without an image of them; where the histogram is dense is what is normal. A map marks
 * the samples outside, and a die is faulty where it differs from both its neighbours. */
#include "must.h"

enum { DIES = 4, SIDE = 64, LEVELS = 256, MOST = 255, DIFFERENCES = 2 * MOST + 1, NEAR = 2 };

static uint8_t dies[DIES][SIDE][SIDE];
static uint64_t counts[DIFFERENCES][LEVELS];
static double strange[DIFFERENCES + 3][LEVELS + 3]; /* 1 outside the dense region; with slots for the flow */

/* A pattern with noise of -2 … 2, and a particle on the third die. */
static void expose(void)
{
    uint32_t noise = 1;
    for (int d = 0; d < DIES; d++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                noise = noise * 1664525 + 1013904223;
                dies[d][y][x] = (uint8_t)(40 + 2 * x + y / 2 + (int)(noise >> 24) % 5 - 2);
            }
    dies[2][40][25] = (uint8_t)(dies[2][40][25] + 30);
}

/* Samples around a cell. */
static uint64_t near(int difference, int mean)
{
    uint64_t sum = 0;
    for (int i = difference - NEAR; i <= difference + NEAR; i++)
        for (int j = mean - NEAR; j <= mean + NEAR; j++)
            if (i >= 0 && i < DIFFERENCES && j >= 0 && j < LEVELS) sum += counts[i][j];
    return sum;
}

/* Marks where die d differs from the next. */
static void mark(const histo_map *map, int d, uint8_t marks[SIDE][SIDE])
{
    static int16_t difference[SIDE][SIDE];
    static uint8_t mean[SIDE][SIDE];
    const int64_t shape[] = {SIDE, SIDE};
    const histo_view views[] = {histo_view_nd(difference, HISTO_I16, 2, shape),
                                histo_view_nd(mean, HISTO_U8, 2, shape)};
    const histo_view out = histo_view_nd(marks, HISTO_U8, 2, shape);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int sum = DIES / 2;
            for (int i = 0; i < DIES; i++)
                sum += dies[i][y][x];
            mean[y][x] = (uint8_t)(sum / DIES);
            difference[y][x] = (int16_t)(dies[d][y][x] - dies[(d + 1) % DIES][y][x]);
        }
    must(histo_map_apply(map, views, &out, NULL));
}

int main(void)
{
    static uint8_t marks[DIES][SIDE][SIDE];
    const histo_axis axes[] = {histo_axis_integer(-MOST, DIFFERENCES), histo_axis_integer(0, LEVELS)};
    const int64_t shape[] = {DIES, SIDE, SIDE};
    const histo_view stack = histo_view_nd(dies, HISTO_U8, 3, shape);
    histo_pairs ring = HISTO_DEFAULTS;
    ring.pairing = HISTO_PAIRS_RING;
    histo_hist *hist;
    histo_map *map;
    expose();
    must(histo_hist_create(&hist, 2, axes, NULL));
    must(histo_hist_fill_pairs(hist, &stack, &ring, NULL));
    must(histo_hist_read_counts(hist, HISTO_BINS, counts, (int64_t)DIFFERENCES * LEVELS, NULL));
    for (int i = 0; i < DIFFERENCES; i++)
        for (int j = 0; j < LEVELS; j++)
            strange[1 + i][1 + j] = near(i, j) < 10;
    must(histo_map_create(&map, 2, axes, NULL));
    must(histo_map_write(map, strange[0], histo_map_size(map)));
    for (int d = 0; d < DIES; d++)
        mark(map, d, marks[d]);
    for (int d = 0; d < DIES; d++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                if (marks[d][y][x] && marks[(d + DIES - 1) % DIES][y][x])
                    printf("die %d is faulty at %d, %d\n", d, x, y);
    histo_map_destroy(map);
    histo_hist_destroy(hist);
}
