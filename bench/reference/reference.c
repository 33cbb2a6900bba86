#include "bench/reference/reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/pool.h"

histo_status reference_finder_make(reference_finder *f, const double *edges, int64_t bins, bool closed)
{
    const int64_t max_cells = 1 << 20;
    *f = (reference_finder){.edges = edges, .bins = bins, .closed = closed, .lo = edges[0], .hi = edges[bins]};
    f->cells = 2 * bins < max_cells ? 2 * bins : max_cells;
    f->scale = (double)f->cells / (f->hi - f->lo);
    uint32_t *below = histo_calloc((size_t)f->cells + 1, sizeof *below);
    if (!below) return histo_fail_memory((size_t)f->cells * sizeof *below, "checking");
    f->below = below;
    for (int64_t i = 0; i <= bins; i++)
        below[reference_cell(f, edges[i]) + 1]++;
    for (int64_t c = 0; c < f->cells; c++)
        below[c + 1] += below[c];
    return HISTO_OK;
}

void reference_finders_free(reference_rule *rule)
{
    for (int a = 0; a < rule->axes; a++)
        free((void *)rule->finder[a].below);
}

/* ---- Counting ---- */

enum { MAX_THREADS = 256, OWN_SLOTS = 1 << 15 /* slots that each thread counts on its own */ };

/* Ranges of samples have tables of their own, one behind the other, unless they share the counters. */
typedef struct counting {
    const reference_rule *rule;
    reference_counts *counts;
    int ranges;
    uint64_t *own; /* [ranges][slots]; NULL: shared */
    reference_sum *own_sums;
} counting;

static int64_t find_key(const reference_counts *c, int64_t slot)
{
    const uint64_t mask = (uint64_t)c->capacity - 1;
    uint64_t at = (uint64_t)slot * UINT64_C(0x9e3779b97f4a7c15) >> 20 & mask;
    while (c->keys[at] != slot && c->keys[at] >= 0)
        at = (at + 1) & mask;
    return (int64_t)at;
}

static void add_weight(reference_sum *sum, double w)
{
    double squared = w * w;
    sum->w += (__int128)(w * 0x1p60);
    sum->w2 += (__int128)(squared * 0x1p68);
    sum->size += fabs(w);
}

static void count_sample(const counting *c, int range, const reference_row *r, int64_t k, int64_t batch)
{
    const reference_rule *rule = c->rule;
    reference_counts *counts = c->counts;
    const int64_t own = range * counts->slots;
    int64_t slot = reference_slot_in_row(rule, r, k), in_all = batch * rule->slots + slot;
    if (slot < 0) {
        __atomic_fetch_add(&counts->masked[batch], 1, __ATOMIC_RELAXED);
        return;
    }
    if (counts->keys) {
        int64_t at = find_key(counts, in_all);
        counts->keys[at] = in_all;
        counts->counts[at]++;
    } else if (c->own) {
        c->own[own + in_all]++;
    } else {
        __atomic_fetch_add(&counts->counts[in_all], 1, __ATOMIC_RELAXED);
    }
    if (!c->own_sums) return;
    const histo_view *weights = &rule->weights;
    add_weight(&c->own_sums[own + in_all],
               reference_value(weights->dtype, r->weights + k * weights->strides[weights->ndim - 1]));
}

static void count_range(void *context, int range)
{
    const counting *c = context;
    const reference_rule *rule = c->rule;
    const histo_view *view = &rule->view[0];
    const int64_t *offsets = rule->offsets;
    const int64_t n = rule->samples, each = n / c->ranges, length = view->shape[view->ndim - 1];
    int64_t i = each * range, end = range + 1 < c->ranges ? i + each : n, segment = 0;
    while (i < end) {
        int64_t rest = length - i % length, batch = offsets ? 0 : reference_batch_of(rule, i);
        reference_row r = reference_row_at(rule, i);
        if (i + rest > end) rest = end - i;
        for (int64_t k = 0; k < rest; k++) {
            while (offsets && i + k >= offsets[segment + 1])
                segment++;
            count_sample(c, range, &r, k, offsets ? segment : batch);
        }
        i += rest;
    }
}

static void tally_slot(const reference_rule *rule, int64_t slot, uint64_t count, histo_tally *tally)
{
    reference_flow flow[HISTO_MAX_AXES];
    bool bin = reference_flows(rule, slot % rule->slots, flow);
    *(bin ? &tally->bins : &tally->flow) += count;
    for (int a = 0; a < rule->axes && !bin; a++) {
        if (flow[a] == REFERENCE_UNDER) tally->under[a] += count;
        if (flow[a] == REFERENCE_OVER) tally->over[a] += count;
        if (flow[a] == REFERENCE_NAN) tally->nan[a] += count;
    }
}

/* What follows from the counts. */
static void survey_counters(const reference_rule *rule, reference_counts *counts)
{
    enum { SECTOR = 4 };
    const int64_t entries = counts->keys ? counts->capacity : counts->slots;
    int64_t last = -1;
    counts->tally.samples = (uint64_t)rule->samples;
    for (int64_t b = 0; b < rule->batch; b++)
        counts->tally.masked += counts->masked[b];
    for (int64_t i = 0; i < entries; i++) {
        if (!counts->counts[i]) continue;
        tally_slot(rule, counts->keys ? counts->keys[i] : i, counts->counts[i], &counts->tally);
        counts->occupied++;
        counts->sectors += i / SECTOR != last;
        last = i / SECTOR;
    }
    if (counts->keys) counts->sectors = (counts->occupied + 1) / 2; /* pairs of 16 bytes */
}

histo_status reference_counts_begin(const reference_rule *rule, bool sparse, reference_counts *counts)
{
    *counts = (reference_counts){.axes = rule->axes, .batch = rule->batch, .weighting = rule->weighting};
    counts->slots = rule->slots * rule->batch;
    for (int a = 0; a < rule->axes; a++)
        counts->bins[a] = rule->finder[a].bins;
    if (sparse) {
        for (counts->capacity = 1024; counts->capacity < 2 * rule->samples; counts->capacity *= 2)
            continue;
        counts->keys = histo_malloc((size_t)counts->capacity * sizeof *counts->keys);
        if (!counts->keys) return histo_fail_memory((size_t)counts->capacity * sizeof *counts->keys, "checking");
        memset(counts->keys, 0xff, (size_t)counts->capacity * sizeof *counts->keys);
    }
    const size_t entries = (size_t)(sparse ? counts->capacity : counts->slots);
    counts->counts = histo_calloc(entries, sizeof *counts->counts);
    counts->masked = histo_calloc((size_t)rule->batch, sizeof *counts->masked);
    if (rule->weighting) counts->sums = histo_calloc(entries, sizeof *counts->sums);
    if (counts->counts && counts->masked && (!rule->weighting || counts->sums)) return HISTO_OK;
    return histo_fail_memory(entries * (sizeof *counts->counts + (rule->weighting ? sizeof *counts->sums : 0)),
                             "checking");
}

/* Exact sums cannot be shared by threads, and a table of keys neither. */
static int ranges_of(const reference_rule *rule, const reference_counts *counts, int threads)
{
    enum { ALONE = 1 << 14 };
    const bool alone = counts->keys || (counts->sums && counts->slots > OWN_SLOTS);
    if (alone || rule->samples <= ALONE) return 1;
    return threads < MAX_THREADS ? threads : MAX_THREADS;
}

static histo_status count_on_host(const reference_rule *rule, int threads, reference_counts *counts)
{
    counting c = {rule, counts, ranges_of(rule, counts, threads), counts->counts, counts->sums};
    const size_t slots = (size_t)counts->slots, all = slots * (size_t)c.ranges;
    if (c.ranges == 1) {
        count_range(&c, 0);
        return HISTO_OK;
    }
    c.own = slots <= OWN_SLOTS ? histo_calloc(all, sizeof *c.own) : NULL;
    c.own_sums = counts->sums ? histo_calloc(all, sizeof *c.own_sums) : NULL;
    const bool fits = (c.own || slots > OWN_SLOTS) && (c.own_sums || !counts->sums);
    if (fits) histo_pool_run(c.ranges, count_range, &c);
    for (size_t i = 0; i < all && fits && c.own; i++)
        counts->counts[i % slots] += c.own[i];
    for (size_t i = 0; i < all && fits && c.own_sums; i++) {
        counts->sums[i % slots].w += c.own_sums[i].w;
        counts->sums[i % slots].w2 += c.own_sums[i].w2;
        counts->sums[i % slots].size += c.own_sums[i].size;
    }
    free(c.own);
    free(c.own_sums);
    return fits ? HISTO_OK : histo_fail_memory(all * (sizeof *c.own + sizeof *c.own_sums), "checking");
}

histo_status reference_count(const reference_rule *rule, reference_device *device, int threads,
                             reference_counts *counts)
{
    histo_status status = device ? device(rule, counts) : count_on_host(rule, threads, counts);
    if (status == HISTO_OK) survey_counters(rule, counts);
    return status;
}

void reference_counts_free(reference_counts *counts)
{
    free(counts->counts);
    free(counts->keys);
    free(counts->sums);
    free(counts->masked);
    *counts = (reference_counts){0};
}

/* ---- Comparing ---- */

typedef struct comparison {
    const reference_counts *counts;
    const histo_hist *hist;
    int64_t fills;
    char *wrong; /* the text of the first difference */
    size_t size;
} comparison;

/* "slot 1,4 of histogram 3" */
static void say_slot(const reference_counts *c, int64_t slot, char *text, size_t size)
{
    int64_t at[HISTO_MAX_AXES];
    for (int a = c->axes - 1; a >= 0; a--) {
        at[a] = slot % (c->bins[a] + 3);
        slot /= c->bins[a] + 3;
    }
    size_t length = 0;
    for (int a = 0; a < c->axes; a++)
        length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, a ? "," : "slot ", at[a]);
    if (c->batch > 1) snprintf(text + length, size - length, " of histogram %" PRId64, slot);
}

static void compare_count(const comparison *c, int64_t slot, uint64_t is, uint64_t once)
{
    char where[200];
    const uint64_t should = once * (uint64_t)c->fills;
    if (is == should) return;
    say_slot(c->counts, slot, where, sizeof where);
    snprintf(c->wrong, c->size, "%s has %" PRIu64 " samples instead of %" PRIu64, where, is, should);
}

static histo_status compare_dense(const comparison *c)
{
    const int64_t slots = c->counts->slots;
    uint64_t *is = histo_malloc((size_t)slots * sizeof *is);
    if (!is) return histo_fail_memory((size_t)slots * sizeof *is, "checking");
    histo_status status = histo_hist_read_counts(c->hist, HISTO_FLOW, is, slots, NULL);
    for (int64_t s = 0; s < slots && status == HISTO_OK && !*c->wrong; s++)
        compare_count(c, s, is[s], c->counts->counts[s]);
    free(is);
    return status;
}

static histo_status compare_sparse(const comparison *c)
{
    const reference_counts *counts = c->counts;
    int64_t occupied;
    histo_status status = histo_hist_occupied(c->hist, HISTO_FLOW, &occupied);
    if (status != HISTO_OK) return status;
    int64_t *slots = histo_malloc((size_t)occupied * sizeof *slots + 1);
    uint64_t *is = histo_malloc((size_t)occupied * sizeof *is + 1);
    if (!slots || !is)
        status = histo_fail_memory((size_t)occupied * 2 * sizeof *is, "checking");
    else
        status = histo_hist_read_occupied(c->hist, HISTO_FLOW, slots, is, occupied);
    for (int64_t i = 0; i < occupied && status == HISTO_OK && !*c->wrong; i++) {
        const int64_t at = find_key(counts, slots[i]);
        compare_count(c, slots[i], is[i], counts->keys[at] < 0 ? 0 : counts->counts[at]);
    }
    if (status == HISTO_OK && !*c->wrong && occupied != counts->occupied)
        snprintf(c->wrong, c->size, "%" PRId64 " slots are occupied instead of %" PRId64, occupied, counts->occupied);
    free(slots);
    free(is);
    return status;
}

static histo_status compare_masked(const comparison *c)
{
    const int64_t batch = c->counts->batch;
    uint64_t *masked = histo_malloc((size_t)batch * sizeof *masked);
    if (!masked) return histo_fail_memory((size_t)batch * sizeof *masked, "checking");
    histo_status status = histo_hist_read_masked(c->hist, masked, batch);
    for (int64_t b = 0; b < batch && status == HISTO_OK && !*c->wrong; b++) {
        const uint64_t should = c->counts->masked[b] * (uint64_t)c->fills;
        if (masked[b] != should)
            snprintf(c->wrong, c->size, "histogram %" PRId64 " has %" PRIu64 " masked samples instead of %" PRIu64, b,
                     masked[b], should);
    }
    free(masked);
    return status;
}

static histo_status compare_tally(const comparison *c)
{
    histo_tally is, should = {0};
    histo_status status = histo_hist_tally(c->hist, &is);
    for (size_t i = 0; i < sizeof should / sizeof(uint64_t); i++) /* all its members are counts */
        ((uint64_t *)&should)[i] = ((const uint64_t *)&c->counts->tally)[i] * (uint64_t)c->fills;
    if (status != HISTO_OK || memcmp(&is, &should, sizeof is) == 0) return status;
    int a = 0;
    while (a < c->counts->axes - 1 && is.under[a] == should.under[a] && is.over[a] == should.over[a] &&
           is.nan[a] == should.nan[a])
        a++;
    snprintf(c->wrong, c->size,
             "the tally has %" PRIu64 " samples, %" PRIu64 " masked, %" PRIu64 " in bins, %" PRIu64
             " in flow (axis %d: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ") instead of %" PRIu64 ", %" PRIu64 ", %" PRIu64
             ", %" PRIu64 " (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")",
             is.samples, is.masked, is.bins, is.flow, a, is.under[a], is.over[a], is.nan[a], should.samples,
             should.masked, should.bins, should.flow, should.under[a], should.over[a], should.nan[a]);
    return HISTO_OK;
}

/* True if a sum is as exact as histo.h promises. */
static bool sum_is_right(histo_weighting weighting, double is, __int128 exact, double unit, double n, double size)
{
    double should = (double)exact * unit;
    if (weighting == HISTO_WEIGHT_REPRODUCIBLE || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM) return is == should;
    return fabs(is - should) <= (n + 1) * 0x1p-53 * size;
}

static histo_status compare_sums(const comparison *c)
{
    const reference_counts *counts = c->counts;
    const bool squares = reference_sums_squares(counts->weighting);
    double *sums = histo_malloc(2 * (size_t)counts->slots * sizeof *sums);
    if (!sums) return histo_fail_memory(2 * (size_t)counts->slots * sizeof *sums, "checking");
    double *sums2 = sums + counts->slots;
    histo_status status =
        histo_hist_read_weights(c->hist, HISTO_FLOW, sums, squares ? sums2 : NULL, counts->slots, NULL);
    for (int64_t s = 0; s < counts->slots && status == HISTO_OK && !*c->wrong; s++) {
        const reference_sum *sum = &counts->sums[s];
        const double n = (double)counts->counts[s] * (double)c->fills, w2 = (double)(sum->w2 * c->fills) * 0x1p-68;
        char where[200];
        bool right =
            sum_is_right(counts->weighting, sums[s], sum->w * c->fills, 0x1p-60, n, sum->size * (double)c->fills);
        bool right2 = !squares || sum_is_right(counts->weighting, sums2[s], sum->w2 * c->fills, 0x1p-68, n, w2);
        if (right && right2) continue;
        say_slot(counts, s, where, sizeof where);
        snprintf(c->wrong, c->size, "%s has %s %.17g instead of %.17g", where,
                 right ? "a sum of squares" : "a sum of weights", right ? sums2[s] : sums[s],
                 right ? w2 : (double)(sum->w * c->fills) * 0x1p-60);
    }
    free(sums);
    return status;
}

histo_status reference_compare(const reference_counts *counts, const histo_hist *hist, int64_t fills, char *wrong,
                               size_t size)
{
    const comparison c = {counts, hist, fills, wrong, size};
    wrong[0] = '\0';
    histo_status status = counts->keys ? compare_sparse(&c) : compare_dense(&c);
    if (!counts->masked) return status;
    if (status == HISTO_OK && !*wrong) status = compare_masked(&c);
    if (status == HISTO_OK && !*wrong) status = compare_tally(&c);
    if (status == HISTO_OK && !*wrong && counts->sums) status = compare_sums(&c);
    return status;
}
