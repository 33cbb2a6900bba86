#include "support/same.h"

#include <stdlib.h>

#include "support/check.h"

uint64_t *counts_of(const histo_hist *h)
{
    const int64_t slots = histo_hist_size(h, HISTO_FLOW);
    uint64_t *counts = malloc((size_t)slots * sizeof *counts);
    OK(histo_hist_read_counts(h, HISTO_FLOW, counts, slots, NULL));
    return counts;
}

double *sums_of(const histo_hist *h)
{
    const int64_t slots = histo_hist_size(h, HISTO_FLOW);
    const histo_weighting weighting = histo_hist_weighting(h);
    const bool squares = weighting != HISTO_WEIGHT_FAST_SUM && weighting != HISTO_WEIGHT_REPRODUCIBLE_SUM;
    double *sums = calloc(2 * (size_t)slots, sizeof *sums);
    OK(histo_hist_read_weights(h, HISTO_FLOW, sums, squares ? sums + slots : NULL, slots, NULL));
    return sums;
}

void assert_same_tally(const histo_hist *a, const histo_hist *b)
{
    histo_tally tally_a, tally_b;
    OK(histo_hist_tally(a, &tally_a));
    OK(histo_hist_tally(b, &tally_b));
    assert_memory_equal(&tally_a, &tally_b, sizeof tally_a);
}

void assert_same_counts(const histo_hist *a, const histo_hist *b)
{
    const int64_t slots = histo_hist_size(a, HISTO_FLOW), batch = histo_hist_batch(a);
    assert_int_equal(slots, histo_hist_size(b, HISTO_FLOW));
    uint64_t *in_a = counts_of(a), *in_b = counts_of(b);
    assert_memory_equal(in_a, in_b, (size_t)slots * sizeof *in_a);
    OK(histo_hist_read_masked(a, in_a, batch));
    OK(histo_hist_read_masked(b, in_b, batch));
    assert_memory_equal(in_a, in_b, (size_t)batch * sizeof *in_a);
    assert_same_tally(a, b);
    free(in_a);
    free(in_b);
}

void assert_same_slots(const histo_hist *a, const histo_hist *b, const char *what)
{
    const int64_t n = histo_hist_size(a, HISTO_FLOW), batch = histo_hist_batch(a);
    uint64_t *in_a = malloc((size_t)(n + batch) * 2 * sizeof *in_a), *in_b = in_a + n + batch;
    OK(histo_hist_read_counts(a, HISTO_FLOW, in_a, n, NULL));
    OK(histo_hist_read_counts(b, HISTO_FLOW, in_b, n, NULL));
    OK(histo_hist_read_masked(a, in_a + n, batch));
    OK(histo_hist_read_masked(b, in_b + n, batch));
    for (int64_t i = 0; i < n + batch; i++)
        if (in_a[i] != in_b[i])
            fail_msg("%s: slot %lld of %lld: %llu, not %llu", what, (long long)i, (long long)n,
                     (unsigned long long)in_a[i], (unsigned long long)in_b[i]);
    free(in_a);
}

void assert_same(const histo_hist *a, const histo_hist *b)
{
    assert_same_counts(a, b);
    double *in_a = sums_of(a), *in_b = sums_of(b);
    assert_memory_equal(in_a, in_b, 2 * (size_t)histo_hist_size(a, HISTO_FLOW) * sizeof *in_a);
    free(in_a);
    free(in_b);
}

void assert_same_then_destroy(histo_hist *a, histo_hist *b)
{
    assert_same(a, b);
    histo_hist_destroy(a);
    histo_hist_destroy(b);
}
