#include "output/sum.h"

#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "output/labels.h"
#include "output/saved.h"

static int find_series(const result *in, const result *r, int i)
{
    const char *name = r->series[i].name;
    for (int k = 0; k < in->count; k++) {
        const char *other = in->series[k].name;
        if ((!name && !other && in->series[k].entry == r->series[i].entry) ||
            (name && other && strcmp(name, other) == 0))
            return k;
    }
    bool unnamed = !name || !in->series[0].name;
    return in->count == 1 && r->count == 1 && unnamed ? 0 : -1;
}

static int merge_file(result *sum, const char *first, const char *path, const result *more, fault *f)
{
    if (more->count != sum->count)
        return fault_set(f, EXIT_DATA, "%s holds %d histogram%s and %s %d: merge files of the same ones", path,
                         more->count, more->count == 1 ? "" : "s", first, sum->count);
    for (int i = 0; i < sum->count; i++) {
        char name[320];
        int k = find_series(more, sum, i);
        if (k < 0)
            return fault_set(f, EXIT_DATA, "%s has no histogram '%.60s', which %s has: merge files of the same ones",
                             path, label_of_series(sum, i, name, sizeof name), first);
        if (sum->series[i].shares_hist) continue;
        if (histo_hist_merge(sum->series[i].hist, more->series[k].hist) != HISTO_OK) {
            char subject[600];
            snprintf(subject, sizeof subject, "%.280s cannot be added to %.280s", path, first);
            return fault_of_library(f, EXIT_DATA, subject);
        }
    }
    return 0;
}

int saved_sum(const char *const *files, int count, result *sum, fault *f)
{
    if (saved_load(files[0], sum, f) != 0) return -1;
    for (int i = 1; i < count; i++) {
        result more = {0};
        int failed = saved_load(files[i], &more, f);
        if (!failed) failed = merge_file(sum, files[0], files[i], &more, f);
        result_free(&more);
        if (failed) return -1;
    }
    return 0;
}
