/* Makes scans comparable (Nyul and Udupa 1999): each scanner has a scale of its own, so the same tissue has other
 * values in each scan. Training averages the deciles of all scans; each scan's map then sends its deciles there, along
 * straight lines. Only histograms are kept: memory does not grow with the number of scans. */
#include "must.h"

enum { SCANS = 3, N = 6000, LANDMARKS = 11 };

static const double gain[SCANS] = {1.0, 2.5, 0.6}, offset[SCANS] = {0, -100, 250};

/* Sample i of the anatomy, which is the same in all: three tissues. */
static float sample(int scan, int i)
{
    static const double tissue[] = {100, 180, 400};
    return (float)(gain[scan] * (tissue[i % 3] + i % 41) + offset[scan]);
}

int main(void)
{
    static float scans[SCANS][N];
    double q[LANDMARKS], found[SCANS][LANDMARKS], standard[LANDMARKS] = {0};
    histo_hist *hist[SCANS];
    const histo_axis axis = histo_axis_regular(1 << 14, -100, 1100);
    histo_map_options linear = HISTO_DEFAULTS;
    linear.within = HISTO_MAP_LINEAR;
    for (int k = 0; k < LANDMARKS; k++)
        q[k] = k / 10.0;
    for (int s = 0; s < SCANS; s++) {
        for (int i = 0; i < N; i++)
            scans[s][i] = sample(s, i);
        const histo_view view = histo_view_1d(scans[s], HISTO_F32, N);
        must(histo_hist_create(&hist[s], 1, &axis, NULL));
        must(histo_hist_fill(hist[s], &view, NULL));
        must(histo_hist_quantiles(hist[s], HISTO_QUANTILE_LINEAR, LANDMARKS, q, found[s]));
        for (int k = 0; k < LANDMARKS; k++)
            standard[k] += found[s][k] / SCANS;
    }
    for (int s = 0; s < SCANS; s++) {
        const histo_view view = histo_view_1d(scans[s], HISTO_F32, N);
        histo_map *map;
        must(histo_map_create(&map, 1, &axis, &linear));
        must(histo_map_landmarks(map, hist[s], LANDMARKS, q, standard, true, NULL));
        must(histo_map_apply(map, &view, &view, NULL));
        printf("scan %d: the second tissue's %.0f becomes %.0f\n", s + 1, sample(s, 1), scans[s][1]);
        histo_map_destroy(map);
        histo_hist_destroy(hist[s]);
    }
}
