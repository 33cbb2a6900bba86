#include "output/saved/merge_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/saved/merge.h"
#include "shards/manifest.h"

bool result_has_groups(const result *r)
{
    return r->shards && manifest_has_option(r->shards, "--by");
}

int merge_groups_take(result *sum, result *more, fault *f)
{
    int kept = 0;
    series *room = realloc(sum->series, (size_t)(sum->count + more->count) * sizeof *room);
    if (!room) return fault_set(f, EXIT_DATA, "no memory for another histogram");
    sum->series = room;
    for (int i = 0; i < more->count; i++) {
        const series moved = more->series[i];
        if (series_find(sum, more, i) < 0)
            sum->series[sum->count++] = moved;
        else
            more->series[kept++] = moved;
    }
    more->count = kept;
    return 0;
}

/* A series, and what groups are ordered by. */
typedef struct ranked {
    series series;
    double weight; /* not NaN */
    uint64_t count;
} ranked;

static int by_name(const void *x, const void *y)
{
    return strcmp(((const ranked *)x)->series.name, ((const ranked *)y)->series.name);
}

static int by_weight(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->weight != b->weight) return (a->weight < b->weight) - (a->weight > b->weight);
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : by_name(x, y);
}

static void rank_all(const result *r, const table *tables, ranked *all)
{
    for (int i = 0; i < r->count; i++) {
        const double weight = tables[i].sum_w ? table_sum_of_weights(&tables[i]) : 0;
        all[i] =
            (ranked){r->series[i], isnan(weight) ? -(double)INFINITY : weight, tables[i].samples - tables[i].masked};
    }
}

/* The first one stays if all are empty. */
static void take_ranked(result *r, const ranked *all, int count)
{
    r->count = 0;
    for (int i = 0; i < count; i++) {
        series each = all[i].series;
        if (all[i].count > 0 || (i == count - 1 && r->count == 0))
            r->series[r->count++] = each;
        else
            series_free(&each);
    }
}

int merge_groups_order(result *r, fault *f)
{
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    ranked *all = calloc((size_t)r->count, sizeof *all);
    int failed = tables ? all ? 0 : fault_set(f, EXIT_DATA, "no memory for the groups") : -1;
    bool named = true;
    for (int i = 0; i < r->count; i++)
        named = named && r->series[i].name;
    if (!failed) rank_all(r, tables, all);
    tables_free(tables, r);
    if (!failed && named) {
        const int count = r->count;
        qsort(all, (size_t)count, sizeof *all, manifest_has_option(r->shards, "--sort name") ? by_name : by_weight);
        take_ranked(r, all, count);
    }
    free(all);
    return failed;
}
