#include "support/same.h"

#include <stdlib.h>

#include "support/check.h"

void assert_same(const histo_hist *a, const histo_hist *b)
{
    const int64_t n = histo_hist_size(a, HISTO_FLOW), batch = histo_hist_batch(a);
    const size_t bytes = (size_t)n * sizeof(double);
    assert_int_equal(n, histo_hist_size(b, HISTO_FLOW));
    uint64_t *in_a = malloc(bytes), *in_b = malloc(bytes);
    OK(histo_hist_read_counts(a, HISTO_FLOW, in_a, n, NULL));
    OK(histo_hist_read_counts(b, HISTO_FLOW, in_b, n, NULL));
    assert_memory_equal(in_a, in_b, bytes);
    OK(histo_hist_read_masked(a, in_a, batch));
    OK(histo_hist_read_masked(b, in_b, batch));
    assert_memory_equal(in_a, in_b, (size_t)batch * sizeof *in_a);
    const histo_weighting weighting = histo_hist_weighting(a);
    const bool squares = weighting != HISTO_WEIGHT_FAST_SUM && weighting != HISTO_WEIGHT_REPRODUCIBLE_SUM;
    double *w_a = calloc(4, bytes), *w_b = w_a + 2 * n;
    OK(histo_hist_read_weights(a, HISTO_FLOW, w_a, squares ? w_a + n : NULL, n, NULL));
    OK(histo_hist_read_weights(b, HISTO_FLOW, w_b, squares ? w_b + n : NULL, n, NULL));
    assert_memory_equal(w_a, w_b, 2 * bytes);
    free(in_a);
    free(in_b);
    free(w_a);
}
