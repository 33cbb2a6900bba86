/* Finds by how much an image has moved against another of a different kind, whose values are related, not equal: where
 * the mutual information of the two is largest. Each shift is a view of the same memory; nothing is copied. */
#include "must.h"

enum { SIDE = 96, SEARCH = 6, INNER = SIDE - 2 * SEARCH, BINS = 32 };

static double mutual_information(const uint8_t *a, const uint8_t *b)
{
    const histo_axis axes[] = {histo_axis_regular(BINS, 0, 256), histo_axis_regular(BINS, 0, 256)};
    const histo_view views[] = {{a, HISTO_U8, 2, 0, {INNER, INNER}, {SIDE, 1}},
                                {b, HISTO_U8, 2, 0, {INNER, INNER}, {SIDE, 1}}};
    histo_hist *joint;
    histo_information found;
    must(histo_hist_create(&joint, 2, axes, NULL));
    must(histo_hist_fill(joint, views, NULL));
    must(histo_hist_inform(joint, &found));
    histo_hist_destroy(joint);
    return found.mutual;
}

int main(void)
{
    static uint8_t first[SIDE][SIDE], second[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int v = (x * x / 40 + y * y / 90 + x * y / 50) % 256; /* some pattern … */
            first[y][x] = (uint8_t)v;
            if (y >= 3 && x < SIDE - 5) /* … and one made of it, 3 up and 5 to the right */
                second[y - 3][x + 5] = (uint8_t)(255 - v * v / 255);
        }
    double best = -1;
    int best_x = 0, best_y = 0;
    for (int dy = -SEARCH; dy <= SEARCH; dy++)
        for (int dx = -SEARCH; dx <= SEARCH; dx++) {
            const double mi = mutual_information(&first[SEARCH][SEARCH], &second[SEARCH + dy][SEARCH + dx]);
            if (mi <= best) continue;
            best = mi;
            best_x = dx;
            best_y = dy;
        }
    printf("moved by %d, %d\n", best_x, best_y);
}
