#include "support/cpu_slots.h"

#include <stdlib.h>

#include "support/check.h"

uint64_t *count_by(const char *strategy, const histo_axis *axis, const histo_view *view, int64_t slots)
{
    histo_hist *h;
    histo_plan *plan;
    uint64_t *counts = malloc((size_t)slots * sizeof *counts);
    int64_t batch = 1;
    for (int d = 0; d < view->batch_ndim; d++)
        batch *= view->shape[d];
    OK(histo_hist_create(&h, 1, axis, &(histo_hist_options){.batch = batch}));
    OK(histo_plan_create(&plan, h, view, NULL, &(histo_plan_options){.strategy = strategy, .threads = 2}));
    OK(histo_plan_fill(plan, h, view, NULL));
    OK(histo_hist_read_counts(h, HISTO_FLOW, counts, slots, NULL));
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return counts;
}

void check_view(const histo_axis *axis, const histo_view *view, int64_t batch)
{
    const histo_dtype dtype = view->dtype;
    int64_t slots = (axis->bins + 3) * batch;
    uint64_t *expected = count_by("cpu/sequential", axis, view, slots);
    const char *const strategies[] = {"cpu/direct", "cpu/privatized", "cpu/byte_counters",
                                      axis->bins <= 256 ? "cpu/byte_codes" : NULL,
                                      histo_dtype_size(dtype) <= 2 ? "cpu/value_counts" : NULL};
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
        if (!strategies[s]) continue;
        uint64_t *got = count_by(strategies[s], axis, view, slots);
        assert_memory_equal(got, expected, (size_t)slots * sizeof *got);
        free(got);
    }
    free(expected);
}

void check_slots(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n)
{
    histo_view view = histo_view_1d(samples, dtype, n);
    check_view(axis, &view, 1);
}
