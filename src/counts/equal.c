/* Comparing two histograms. */
#include <string.h>

#include "axis/axis.h"
#include "base/floats.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"

static bool equal_words(const uint64_t *a, const uint64_t *b, int64_t n, histo_pace *pace)
{
    enum { BLOCK = 1 << 12 };
    bool equal = true;
    for (int64_t i = 0, some; i < n && equal && histo_goes_on(pace, BLOCK); i += some) {
        some = n - i < BLOCK ? n - i : BLOCK;
        equal = memcmp(a + i, b + i, (size_t)some * sizeof *a) == 0;
    }
    return equal;
}

static bool equal_sums(const double *a, const double *b, int64_t n, histo_pace *pace)
{
    bool equal = true;
    for (int64_t i = 0; i < n && equal && histo_goes_on(pace, 1); i++)
        equal = a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]);
    return equal;
}

static bool equal_lists(const histo_sparse *a, const histo_sparse *b, histo_pace *pace)
{
    const histo_list of_a = histo_sparse_all(a), of_b = histo_sparse_all(b);
    bool equal = of_a.n == of_b.n;
    for (int64_t i = 0; i < of_a.n && equal && histo_goes_on(pace, 1); i++)
        equal = of_a.entries[i].slot == of_b.entries[i].slot && of_a.entries[i].count == of_b.entries[i].count;
    return equal;
}

/* Meaningless if the pace stops. */
static bool equal_counts(const histo_accumulators *a, const histo_accumulators *b, histo_pace *pace)
{
    const int64_t all = a->batch * a->slots;
    if (!equal_words(a->masked, b->masked, a->batch, pace)) return false;
    if (a->sparse) return equal_lists(a->sparse, b->sparse, pace);
    return equal_words(a->counts, b->counts, all, pace) && (!a->sum_w || equal_sums(a->sum_w, b->sum_w, all, pace)) &&
           (!a->sum_w2 || equal_sums(a->sum_w2, b->sum_w2, all, pace)) &&
           (!a->exact_w || histo_exact_equal(a->exact_w, b->exact_w, pace)) &&
           (!a->exact_w2 || histo_exact_equal(a->exact_w2, b->exact_w2, pace));
}

static bool equal_forms(const histo_hist *a, const histo_hist *b)
{
    bool equal = a->naxes == b->naxes && a->weighting == b->weighting &&
                 histo_hist_storage(a) == histo_hist_storage(b) && a->accumulators.batch == b->accumulators.batch;
    for (int i = 0; equal && i < a->naxes; i++)
        equal = histo_axis_equal(&a->axes[i], &b->axes[i]);
    return equal;
}

histo_status histo_hist_equal(const histo_hist *a, const histo_hist *b, bool *equal)
{
    HISTO_STANDARD_FLOATS;
    if (equal) *equal = false;
    if (!a || !b || !equal)
        return histo_fail(HISTO_INVALID, "%s is NULL", !equal ? "equal, the place for the answer," : "a histogram");
    if (a == b || !equal_forms(a, b)) {
        *equal = a == b;
        return HISTO_OK;
    }
    histo_status status = histo_accumulators_to_host(&a->accumulators);
    if (status == HISTO_OK) status = histo_accumulators_to_host(&b->accumulators);
    if (status != HISTO_OK) return status;
    histo_pace pace = {.stage = "comparing"};
    const bool same = equal_counts(&a->accumulators, &b->accumulators, &pace);
    *equal = same && pace.status == HISTO_OK;
    return pace.status;
}
