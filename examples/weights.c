/* Sums weights in each bin, reproducibly: the sums have the same bits for any order of the samples, any number of
 * threads and any device. sqrt(sum of w * w) is the usual error of a bin. */
#include "must.h"
#include <math.h>

static void sum(const double *values, const double *weights, int64_t n, double sum_w[3], double sum_w2[3])
{
    histo_axis axis = histo_axis_regular(3, 0.0, 3.0);
    histo_view samples = histo_view_1d(values, HISTO_F64, n);
    histo_view weight = histo_view_1d(weights, HISTO_F64, n);
    histo_hist_options reproducible = HISTO_DEFAULTS;
    reproducible.weighting = HISTO_WEIGHT_REPRODUCIBLE;
    histo_fill_options weighted = HISTO_DEFAULTS;
    weighted.weights = &weight;
    histo_hist *hist;
    must(histo_hist_create(&hist, 1, &axis, &reproducible));
    must(histo_hist_fill(hist, &samples, &weighted));
    must(histo_hist_read_weights(hist, HISTO_BINS, sum_w, sum_w2, 3, NULL));
    histo_hist_destroy(hist);
}

int main(void)
{
    const double values[] = {0.5, 1.5, 1.25, 0.75, 2.5, 1.75}, backwards[] = {1.75, 2.5, 0.75, 1.25, 1.5, 0.5};
    const double weights[] = {1e16, 0.1, 0.2, 1.0, 2.0, 0.3}, backwards_too[] = {0.3, 2.0, 1.0, 0.2, 0.1, 1e16};
    double w[3], w2[3], again[3], again2[3];
    sum(values, weights, 6, w, w2);
    sum(backwards, backwards_too, 6, again, again2);
    for (int i = 0; i < 3; i++)
        printf("bin %d: %.17g +- %.3g, %s\n", i, w[i], sqrt(w2[i]),
               w[i] == again[i] ? "also backwards" : "NOT backwards");
}
