/* histo equalize: spread the levels of an image evenly. */
#include <stdlib.h>

#include "apply/command.h"
#include "apply/ranks.h"
#include "base/failure.h"

static bool is_ranked(const job *j)
{
    return !j->frame && ranks_suit(j->tones.dtype) && ranks_allowed(j->settings);
}

static int gather(job *j, fault *f)
{
    if (j->frame) return 0;
    if (!is_ranked(j)) return job_count(j, f);
    if (!j->own) j->own = calloc((size_t)j->tones.tables, sizeof(curve));
    if (!j->own) return fault_set(f, EXIT_DATA, "no memory to equalize %s", job_name(j));
    return ranks_find(j, j->own, f);
}

/* Map each value of the tone to its rank: its share of the samples, or of those above the lowest value. */
static int make_ranked(job *j, int table, const curve *c, fault *f)
{
    double lo, hi;
    job_results(j, table, &lo, &hi);
    const uint64_t first = j->settings->rule == HISTO_EQUALIZE_CDF ? 0 : c->upto[0];
    const uint64_t rest = c->upto[c->count - 1] - first;
    double *results = malloc((size_t)c->count * sizeof *results);
    if (!results) return fault_set(f, EXIT_DATA, "no memory to equalize %s", job_name(j));
    for (int64_t i = 0; i < c->count; i++)
        results[i] = lo + (hi - lo) * (rest ? (double)(c->upto[i] - first) / (double)rest : 0);
    const int failed = ranks_map(j, table, c, results, f);
    free(results);
    return failed;
}

static int make(job *j, int table, fault *f)
{
    if (is_ranked(j)) return make_ranked(j, table, (curve *)j->own + table, f);
    const levels *l = &j->levels[table];
    if (job_new_map(j, table, l->within, f) != 0) return -1;
    double lo, hi;
    job_results(j, table, &lo, &hi);
    const histo_make_options options = {.lo = lo, .hi = hi, .rule = j->settings->rule};
    return histo_map_equalize(j->maps[table], j->hists[table], &options) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, job_name(j));
}

static void end(job *j)
{
    for (int t = 0; j->own && t < j->tones.tables; t++)
        curve_free((curve *)j->own + t);
    free(j->own);
}

int command_equalize(const settings *s)
{
    static const job_kind equalize = {
        .verb = "equalizing", .shows = true, .gather = gather, .gathers_counts = true, .make = make, .end = end};
    return job_command(s, &equalize);
}
