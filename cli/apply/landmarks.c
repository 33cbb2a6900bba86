#include "apply/landmarks.h"

#include <math.h>
#include <stdlib.h>

#include "base/failure.h"

typedef struct search {
    histo_quantiles **quantiles; /* [tables] */
    const double *above;
} search;

static int add_quantiles(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    const search *s = context;
    const int table = j->tones.tone[i].table;
    histo_fill_options fill = part->fill;
    if (s->above) {
        fill.where = view;
        fill.where_lo = s->above[table];
        fill.where_hi = INFINITY;
    }
    return histo_quantiles_add(s->quantiles[table], view, &fill) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, job_name(j));
}

/* Whether any table needs another pass. */
static bool next_pass(const search *s, int tables)
{
    bool any = false, more;
    for (int t = 0; t < tables; t++)
        any |= histo_quantiles_next_pass(s->quantiles[t], &more) == HISTO_OK && more;
    return any;
}

static int run(job *j, search *s, int n, const double *q, double *values, fault *f)
{
    const int tables = j->tones.tables;
    for (int t = 0; t < tables; t++)
        if (histo_quantiles_create(&s->quantiles[t], j->tones.dtype, HISTO_QUANTILE_LINEAR, n, q) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, job_name(j));
    while (next_pass(s, tables))
        if (job_visit(j, add_quantiles, s, f) != 0) return -1;
    for (int t = 0; t < tables; t++) {
        double *found = values + t * n;
        if (histo_quantiles_read(s->quantiles[t], found) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, job_name(j));
        for (int k = 0; k < n; k++)
            if (isinf(found[k]))
                return fault_set(f, EXIT_DATA, "percentile %.9g of %s is infinite: mask the infinite samples",
                                 100 * q[k], job_name(j));
        for (int k = 0; k < n; k++)
            if (isnan(found[k])) return job_fault_nothing(j, f);
    }
    return 0;
}

int landmarks_find(job *j, int n, const double *q, const double *above, double *values, fault *f)
{
    search s = {.quantiles = calloc((size_t)j->tones.tables, sizeof(histo_quantiles *)), .above = above};
    if (!s.quantiles) return fault_set(f, EXIT_DATA, "no memory for the quantiles of %s", job_name(j));
    const int failed = run(j, &s, n, q, values, f);
    for (int t = 0; t < j->tones.tables; t++)
        histo_quantiles_destroy(s.quantiles[t]);
    free(s.quantiles);
    return failed;
}

static int add_stats(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    histo_stats *stats = (histo_stats *)context + j->tones.tone[i].table;
    return histo_stats_add(stats, view, &part->fill) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, job_name(j));
}

int landmarks_means(job *j, double *means, fault *f)
{
    histo_stats *stats = calloc((size_t)j->tones.tables, sizeof *stats);
    if (!stats) return fault_set(f, EXIT_DATA, "no memory for the means of %s", job_name(j));
    int failed = job_visit(j, add_stats, stats, f);
    for (int t = 0; t < j->tones.tables && !failed; t++) {
        means[t] = stats[t].mean;
        if (stats[t].samples == stats[t].nan + stats[t].infinite) failed = job_fault_nothing(j, f);
    }
    free(stats);
    return failed;
}
