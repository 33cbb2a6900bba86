#include "apply/ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/failure.h"

bool ranks_suit(histo_dtype dtype)
{
    return dtype > HISTO_I16;
}

bool ranks_allowed(const settings *s)
{
    return !s->bin_count && !s->log_bins;
}

void curve_free(curve *c)
{
    free(c->values);
    free(c->upto);
    *c = (curve){0};
}

static int make_room(curve *c, int64_t count, const char *name, fault *f)
{
    c->values = malloc((size_t)count * sizeof *c->values);
    c->upto = malloc((size_t)count * sizeof *c->upto);
    return c->values && c->upto ? 0 : fault_set(f, EXIT_DATA, "no memory for the values of %s", name);
}

/* ---- Ranks of a job's samples ---- */

static int add_ranks(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    histo_ranks **ranks = context;
    if (histo_ranks_add(ranks[j->tones.tone[i].table], view, &part->fill) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, job_name(j));
}

/* Whether any table needs another pass. */
static bool next_pass(histo_ranks **ranks, int tables)
{
    bool any = false, more;
    for (int t = 0; t < tables; t++)
        any |= histo_ranks_next_pass(ranks[t], &more) == HISTO_OK && more;
    return any;
}

static int read_curve(const job *j, const histo_ranks *ranks, curve *c, fault *f)
{
    int64_t count;
    if (histo_ranks_size(ranks, &count) != HISTO_OK) return fault_of_library(f, EXIT_DATA, job_name(j));
    if (count == 0) return job_fault_nothing(j, f);
    if (make_room(c, count, job_name(j), f) != 0) return -1;
    c->count = count;
    return histo_ranks_read(ranks, c->values, c->upto, &c->count) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, job_name(j));
}

int ranks_levels(job *j, int table, double lo, double hi, fault *f)
{
    levels *l = &j->levels[table];
    levels_free(l);
    if (levels_begin(l, j->tones.dtype, j->largest, j->settings, 0, f) != 0) return -1;
    if (j->tones.dtype >= HISTO_F16) return 0;
    l->lo = lo;
    l->hi = hi;
    return 0;
}

static int find(job *j, histo_ranks **ranks, curve *curves, fault *f)
{
    const int tables = j->tones.tables;
    for (int t = 0; t < tables; t++)
        if (histo_ranks_create(&ranks[t], j->tones.dtype) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, job_name(j));
    while (next_pass(ranks, tables))
        if (job_visit(j, add_ranks, ranks, f) != 0) return -1;
    for (int t = 0; t < tables; t++) {
        curve *c = &curves[t];
        if (read_curve(j, ranks[t], c, f) != 0) return -1;
        if (ranks_levels(j, t, c->values[0], c->values[c->count - 1], f) != 0) return -1;
    }
    return 0;
}

int ranks_find(job *j, curve *curves, fault *f)
{
    histo_ranks **ranks = calloc((size_t)j->tones.tables, sizeof(histo_ranks *));
    if (!ranks) return fault_set(f, EXIT_DATA, "no memory for the ranks of %s", job_name(j));
    for (int t = 0; t < j->tones.tables; t++)
        curve_free(&curves[t]);
    const int failed = find(j, ranks, curves, f);
    for (int t = 0; t < j->tones.tables; t++)
        histo_ranks_destroy(ranks[t]);
    free(ranks);
    return failed;
}

/* ---- Ranks from a histogram ---- */

static void fill_curve(curve *c, const histo_axis *axis, const int64_t *bins, const uint64_t *counts, int64_t occupied)
{
    const bool integers = axis->kind == HISTO_INTEGER;
    uint64_t upto = 0;
    for (int64_t i = 0; i < occupied; i++) {
        if (!integers && (i == 0 || bins[i] > bins[i - 1] + 1)) { /* no samples between the two edges */
            c->values[c->count] = histo_axis_edge(axis, bins[i]);
            c->upto[c->count++] = upto;
        }
        upto += counts[i];
        c->values[c->count] = histo_axis_edge(axis, bins[i] + !integers);
        c->upto[c->count++] = upto;
    }
}

int ranks_of_hist(const histo_hist *hist, const char *name, curve *made, fault *f)
{
    const histo_axis axis = histo_hist_axis(hist, 0);
    int64_t occupied;
    if (histo_hist_occupied(hist, HISTO_BINS, &occupied) != HISTO_OK) return fault_of_library(f, EXIT_DATA, name);
    if (occupied == 0) return fault_set(f, EXIT_DATA, "the reference %s has no samples in bins", name);
    int64_t *bins = malloc((size_t)occupied * sizeof *bins);
    uint64_t *counts = malloc((size_t)occupied * sizeof *counts);
    int failed = bins && counts ? make_room(made, 2 * occupied, name, f)
                                : fault_set(f, EXIT_DATA, "no memory for the counts of %s", name);
    if (!failed && histo_hist_read_occupied(hist, HISTO_BINS, bins, counts, occupied) != HISTO_OK)
        failed = fault_of_library(f, EXIT_DATA, name);
    if (!failed) fill_curve(made, &axis, bins, counts, occupied);
    free(bins);
    free(counts);
    return failed;
}

/* ---- Values and maps ---- */

double curve_share(const curve *c, int64_t i)
{
    return (double)c->upto[i] / (double)c->upto[c->count - 1];
}

double curve_value(const curve *c, double share, int64_t *at)
{
    while (*at + 1 < c->count && curve_share(c, *at + 1) <= share)
        ++*at;
    const double here = curve_share(c, *at);
    if (share <= here || *at + 1 == c->count) return c->values[*at];
    const double slope = (c->values[*at + 1] - c->values[*at]) / (curve_share(c, *at + 1) - here);
    return slope * (share - here) + c->values[*at];
}

int ranks_map(job *j, int table, const curve *c, const double *results, fault *f)
{
    const double value = c->values[0], beside = nextafter(value, value > 0 ? -INFINITY : INFINITY);
    const double pair[] = {fmin(value, beside), fmax(value, beside)}, same[] = {results[0], results[0]};
    const bool single = c->count == 1;
    const histo_axis axis = single ? histo_axis_variable(1, pair) : histo_axis_variable(c->count - 1, c->values);
    if (job_axis_map(j, table, &axis, HISTO_MAP_LINEAR, f) != 0) return -1;
    if (histo_map_write(j->maps[table], single ? same : results, single ? 2 : c->count) == HISTO_OK) return 0;
    return fault_of_library(f, EXIT_DATA, "the map");
}
