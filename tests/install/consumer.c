/* A program of a user's: counts a few floats with the installed library. */
#include <histo/histo.h>
#include <stdio.h>

int main(void)
{
    const float data[] = {0.1f, 0.2f, 0.25f, 0.5f, 0.9f, 1.5f, -3.0f};
    histo_axis axis = histo_axis_regular(4, 0.0, 1.0);
    histo_view samples = histo_view_1d(data, HISTO_F32, 7);
    uint64_t counts[4];
    histo_tally tally;
    histo_hist *h;
    if (histo_hist_create(&h, 1, &axis, NULL) != HISTO_OK || histo_hist_fill(h, &samples, NULL) != HISTO_OK ||
        histo_hist_read_counts(h, HISTO_BINS, counts, 4, NULL) != HISTO_OK || histo_hist_tally(h, &tally) != HISTO_OK) {
        fprintf(stderr, "%s\n", histo_last_error());
        return 1;
    }
    histo_hist_destroy(h);
    bool right = counts[0] == 2 && counts[1] == 1 && counts[2] == 1 && counts[3] == 1 && tally.flow == 2;
    puts(right ? "histo works" : "wrong counts");
    return !right;
}
