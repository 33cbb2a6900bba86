/* Counts floats in four bins; under, over and NaN have slots of their own. */
#include "must.h"
#include <math.h>

int main(void)
{
    const float data[] = {0.1f, 0.2f, 0.25f, 0.7f, 1.5f, -3.0f, NAN};
    histo_axis axis = histo_axis_regular(4, 0.0, 1.0);
    histo_view samples = histo_view_1d(data, HISTO_F32, 7);
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, NULL));
    must(histo_hist_fill(hist, &samples, NULL));

    double edges[4 + 1];
    uint64_t counts[4];
    histo_tally tally;
    must(histo_axis_edges(&axis, edges));
    must(histo_hist_read_counts(hist, HISTO_BINS, counts, 4, NULL));
    must(histo_hist_tally(hist, &tally));
    for (int i = 0; i < 4; i++)
        printf("[%.2f, %.2f) %ju\n", edges[i], edges[i + 1], (uintmax_t)counts[i]);
    printf("underflow %ju, overflow %ju, NaN %ju\n", (uintmax_t)tally.under[0], (uintmax_t)tally.over[0],
           (uintmax_t)tally.nan[0]);
    histo_hist_destroy(hist);
}
