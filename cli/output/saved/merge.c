#include "output/saved/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "output/labels.h"
#include "output/saved/merge_groups.h"
#include "output/saved/merge_names.h"
#include "output/saved/saved.h"

static bool named_alike(const series *x, const series *y)
{
    return x->name && y->name ? strcmp(x->name, y->name) == 0 : !x->name && !y->name && x->entry == y->entry;
}

int series_find(const result *in, const result *r, int i)
{
    const series *wanted = &r->series[i];
    int before = 0; /* with the same name, as columns may have */
    for (int k = 0; k < i; k++)
        before += named_alike(&r->series[k], wanted);
    for (int k = 0; k < in->count; k++)
        if (named_alike(&in->series[k], wanted) && before-- == 0) return k;
    bool unnamed = !wanted->name || !in->series[0].name;
    return in->count == 1 && r->count == 1 && unnamed ? 0 : -1;
}

/* Usually true for shards, whose series then need not be looked up. */
static bool all_named_alike(const result *x, const result *y)
{
    bool alike = x->count == y->count;
    for (int i = 0; i < x->count && alike; i++)
        alike = named_alike(&x->series[i], &y->series[i]);
    return alike;
}

/* The moments of the sum are known if both are. */
static void merge_moments(series *sum, const series *more)
{
    bool known = sum->sums && more->sums;
    for (int a = 0; a < histo_hist_naxes(sum->hist) && known; a++)
        known = histo_power_sums_merge(&sum->sums[a], &more->sums[a]) == HISTO_OK;
    if (known) {
        series_read_sums(sum);
        return;
    }
    free(sum->sums);
    free(sum->stats);
    sum->sums = NULL;
    sum->stats = NULL;
}

/* Add `more` to the series that the sum also has; others: there may be further ones. */
static int merge_file(result *sum, const char *first, const char *path, const result *more, bool some, fault *f)
{
    if (!some && more->count != sum->count)
        return fault_set(f, EXIT_DATA, "%s holds %d histogram%s and %s %d: merge files of the same ones", path,
                         more->count, more->count == 1 ? "" : "s", first, sum->count);
    const bool alike = all_named_alike(more, sum);
    for (int i = 0; i < sum->count; i++) {
        char name[320];
        const int k = alike ? i : series_find(more, sum, i);
        if (k < 0 && some) continue;
        if (k < 0)
            return fault_set(f, EXIT_DATA, "%s has no histogram '%.60s', which %s has: merge files of the same ones",
                             path, label_of_series(sum, i, name, sizeof name), first);
        if (sum->series[i].shares_hist) continue;
        merge_moments(&sum->series[i], &more->series[k]);
        if (series_differ_in_names(&sum->series[i], &more->series[k])) {
            if (series_merge_names(&sum->series[i], &more->series[k], f) != 0) return -1;
            continue;
        }
        progress_watch("merging");
        const histo_status status = histo_hist_merge(sum->series[i].hist, more->series[k].hist);
        progress_unwatch();
        if (status != HISTO_OK) {
            char subject[600];
            snprintf(subject, sizeof subject, "%.280s cannot be added to %.280s", path, first);
            return fault_of_library(f, EXIT_DATA, subject);
        }
    }
    return 0;
}

/* ---- Shards --------------------------------------------------------------------------------------------- */

/* The file before files[at] that has this shard. */
static const char *find_shard(const char *const *files, int at, int64_t shard)
{
    shard_range only = {shard, shard};
    const manifest wanted = {.shards = MAX_SHARDS, .counted = &only, .ranges = 1};
    const char *found = files[0];
    for (int i = 0; i < at; i++) {
        fault ignored = {0};
        result other = {0};
        if (saved_load(files[i], &other, &ignored) == 0 && other.shards && manifest_common(other.shards, &wanted))
            found = files[i];
        result_free(&other);
    }
    return found;
}

/* Add the shards of files[at] to the sum of those before, if they are different shards of the same run. */
static int add_shards(result *sum, const char *const *files, int at, const result *more, fault *f)
{
    const char *first = files[0], *path = files[at];
    if (!sum->shards && !more->shards) return 0;
    if (!sum->shards || !more->shards)
        return fault_set(f, EXIT_DATA, "%s is a shard of a run, and %s is not: merge the shards of one run",
                         sum->shards ? first : path, sum->shards ? path : first);
    if (manifest_compare(sum->shards, first, more->shards, path, f) != 0) return -1;
    const int64_t common = manifest_common(sum->shards, more->shards);
    if (!common) return manifest_merge(sum->shards, more->shards, f);
    return fault_set(f, EXIT_DATA, "shard %" PRId64 " of %" PRId64 " is in %s and in %s: leave one of them out", common,
                     sum->shards->shards, find_shard(files, at, common), path);
}

static int check_finished(const result *r, const char *path, fault *f)
{
    if (!r->shards || !r->shards->place) return 0;
    return fault_set(f, EXIT_DATA, "%s is a checkpoint: finish it first, with the command that wrote it", path);
}

int saved_merge(const char *const *files, int count, result *sum, fault *f)
{
    if (saved_load(files[0], sum, f) != 0 || check_finished(sum, files[0], f) != 0) return -1;
    for (int i = 1; i < count; i++) {
        result more = {0};
        int failed = saved_load(files[i], &more, f);
        if (!failed) failed = check_finished(&more, files[i], f);
        if (!failed) failed = add_shards(sum, files, i, &more, f);
        const bool groups = !failed && result_has_groups(sum);
        if (groups) failed = merge_groups_take(sum, &more, f);
        if (!failed) failed = merge_file(sum, files[0], files[i], &more, groups, f);
        result_free(&more);
        if (failed) return -1;
    }
    return result_has_groups(sum) ? merge_groups_order(sum, f) : 0;
}

void saved_remark(const result *r, const char *name)
{
    char missing[600];
    if (r->shards && r->shards->place)
        note("%s is a checkpoint: not all of its samples are counted", name);
    else if (r->shards && !manifest_is_complete(r->shards))
        note("%s: %s", name, manifest_missing(r->shards, missing, sizeof missing));
}
