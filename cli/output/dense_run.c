#include "output/dense_run.h"

#include <stdlib.h>

bool dense_run_find(const table *t, dense_run *run)
{
    const double wanted = 7.0 / 8;
    const int64_t n = t->bins[0];
    uint64_t *of_bin = calloc((size_t)n, sizeof *of_bin), all = 0, inside = 0;
    if (!of_bin) return false;
    int64_t slots[HISTO_MAX_AXES];
    for (int64_t cell = -1; table_next(t, &cell, slots);)
        if (table_is_bin(t, slots)) of_bin[slots[0] - 1] += t->counts[cell];
    for (int64_t i = 0; i < n; i++)
        all += of_bin[i];
    *run = (dense_run){.bins = n + 1};
    for (int64_t first = 0, end = 0; all && end <= n;) {
        if ((double)inside < wanted * (double)all) {
            if (end == n) break;
            inside += of_bin[end++];
            continue;
        }
        if (end - first < run->bins)
            *run = (dense_run){.first = first, .bins = end - first, .share = (double)inside / (double)all};
        inside -= of_bin[first++];
    }
    free(of_bin);
    if (!all) return false;
    run->lo = histo_axis_edge(&t->axes[0], run->first);
    run->hi = histo_axis_edge(&t->axes[0], run->first + run->bins);
    return true;
}
