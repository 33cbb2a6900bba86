#include "bench/random/random_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "bench/random/random_device.h"

/* ---- The rule ---- */

static histo_status make_finder(problem_finder *f, const double *edges, const histo_axis *axis)
{
    const int64_t most = 1 << 20, bins = axis->bins;
    *f = (problem_finder){.edges = edges, .bins = bins, .closed = axis->closed, .lo = edges[0], .hi = edges[bins]};
    f->cells = 2 * bins < most ? 2 * bins : most;
    f->scale = (double)f->cells / (f->hi - f->lo);
    uint32_t *below = histo_calloc((size_t)f->cells + 1, sizeof *below);
    if (!below) return histo_fail_memory((size_t)f->cells * sizeof *below, "checking");
    f->below = below;
    for (int64_t i = 0; i <= bins; i++)
        below[problem_cell(f, edges[i]) + 1]++;
    for (int64_t c = 0; c < f->cells; c++)
        below[c + 1] += below[c];
    return HISTO_OK;
}

histo_status problem_rule_make(const problem_data *data, bool on_host, problem_rule *rule)
{
    const random_problem *p = data->problem;
    problem_fill fill;
    problem_fill_make(data, on_host, &fill);
    *rule = (problem_rule){.axes = p->axes,
                           .samples = p->samples,
                           .batch = p->batch,
                           .slots = problem_slots(p) / p->batch,
                           .weights = fill.weights,
                           .mask = fill.mask,
                           .where = fill.where,
                           .weighted = fill.options.weights,
                           .masked = fill.options.mask,
                           .filtered = fill.options.where,
                           .where_lo = data->where_lo,
                           .where_hi = data->where_hi,
                           .offsets = fill.options.offsets};
    memcpy(rule->view, fill.samples, sizeof fill.samples);
    histo_status status = HISTO_OK;
    for (int a = 0; a < p->axes && status == HISTO_OK; a++)
        status = make_finder(&rule->finder[a], data->edges[a], &data->axes[a]);
    return status;
}

void problem_rule_free(problem_rule *rule)
{
    for (int a = 0; a < rule->axes; a++)
        free((void *)rule->finder[a].below);
    *rule = (problem_rule){0};
}

/* ---- Counting ---- */

enum { OWN_SLOTS = 1 << 15 /* slots that each thread counts on its own */ };

typedef struct counting {
    const problem_rule *rule;
    problem_counts *counts;
    int ranges;
    bool shared; /* several threads add to one array */
} counting;

static int64_t find_key(const problem_counts *c, int64_t slot)
{
    const uint64_t mask = (uint64_t)c->capacity - 1;
    uint64_t at = (uint64_t)slot * UINT64_C(0x9e3779b97f4a7c15) >> 20 & mask;
    while (c->keys[at] != slot && c->keys[at] >= 0)
        at = (at + 1) & mask;
    return (int64_t)at;
}

static void add_weight(problem_sum *sum, double w)
{
    double squared = w * w;
    sum->w += (__int128)(w * 0x1p60);
    sum->w2 += (__int128)(squared * 0x1p68);
    sum->size += fabs(w);
}

static void tally_slot(const problem_rule *rule, int64_t slot, histo_tally *tally)
{
    problem_flow flow[HISTO_MAX_AXES];
    bool bin = problem_flows(rule, slot, flow);
    tally->bins += bin;
    tally->flow += !bin;
    for (int a = 0; a < rule->axes && !bin; a++) {
        tally->under[a] += flow[a] == PROBLEM_UNDER;
        tally->over[a] += flow[a] == PROBLEM_OVER;
        tally->nan[a] += flow[a] == PROBLEM_NAN;
    }
}

static void add_tally(histo_tally *to, const histo_tally *from)
{
    to->samples += from->samples;
    to->masked += from->masked;
    to->bins += from->bins;
    to->flow += from->flow;
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        to->under[a] += from->under[a];
        to->over[a] += from->over[a];
        to->nan[a] += from->nan[a];
    }
}

typedef struct part {
    const counting *counting;
    uint64_t *own; /* [slots], or NULL */
    histo_tally tally;
} part;

static void count_sample(part *it, const problem_row *r, int64_t k, int64_t batch)
{
    const problem_rule *rule = it->counting->rule;
    problem_counts *counts = it->counting->counts;
    int64_t slot = problem_slot_in_row(rule, r, k), in_all;
    if (slot < 0) {
        it->tally.masked++;
        __atomic_fetch_add(&counts->masked[batch], 1, __ATOMIC_RELAXED);
        return;
    }
    tally_slot(rule, slot, &it->tally);
    in_all = batch * rule->slots + slot;
    if (counts->keys) {
        int64_t at = find_key(counts, in_all);
        counts->keys[at] = in_all;
        counts->counts[at]++;
    } else if (it->own) {
        it->own[in_all]++;
    } else if (it->counting->shared) {
        __atomic_fetch_add(&counts->counts[in_all], 1, __ATOMIC_RELAXED);
    } else {
        counts->counts[in_all]++;
    }
    if (!counts->sums) return;
    const histo_view *weights = &rule->weights;
    add_weight(&counts->sums[in_all],
               problem_value(weights->dtype, r->weights + k * weights->strides[weights->ndim - 1]));
}

static void count_range(void *context, int range)
{
    part *it = (part *)context + range;
    const problem_rule *rule = it->counting->rule;
    const histo_view *view = &rule->view[0];
    const int64_t *offsets = rule->offsets;
    const int64_t n = rule->samples, each = n / it->counting->ranges, length = view->shape[view->ndim - 1];
    int64_t i = each * range, end = range + 1 < it->counting->ranges ? i + each : n, segment = 0;
    it->tally.samples = (uint64_t)(end - i);
    while (i < end) {
        int64_t rest = length - i % length, batch = offsets ? 0 : problem_batch_of(rule, i);
        problem_row r = problem_row_at(rule, i);
        if (i + rest > end) rest = end - i;
        for (int64_t k = 0; k < rest; k++) {
            while (offsets && i + k >= offsets[segment + 1])
                segment++;
            count_sample(it, &r, k, offsets ? segment : batch);
        }
        i += rest;
    }
}

static void add_own(problem_counts *counts, const part *parts, int ranges)
{
    for (int r = 0; r < ranges; r++) {
        for (int64_t s = 0; parts[r].own && s < counts->slots; s++)
            counts->counts[s] += parts[r].own[s];
        add_tally(&counts->tally, &parts[r].tally);
    }
}

static void survey_counters(problem_counts *counts)
{
    enum { SECTOR = 4 };
    int64_t last = -1;
    if (counts->keys) {
        for (int64_t i = 0; i < counts->capacity; i++)
            counts->occupied += counts->keys[i] >= 0;
        counts->sectors = (counts->occupied + 1) / 2; /* pairs of 16 bytes */
        return;
    }
    for (int64_t s = 0; s < counts->slots; s++) {
        if (!counts->counts[s]) continue;
        counts->occupied++;
        counts->sectors += s / SECTOR != last;
        last = s / SECTOR;
    }
}

static histo_status allocate_counts(const problem_data *data, problem_counts *counts)
{
    const random_problem *p = data->problem;
    counts->slots = problem_slots(p);
    if (counts->slots < 0) return histo_fail(HISTO_INVALID, "a random problem has at most 2^62 slots: make bins less");
    if (p->storage == HISTO_SPARSE) {
        for (counts->capacity = 1024; counts->capacity < 2 * p->samples; counts->capacity *= 2)
            continue;
        counts->keys = histo_malloc((size_t)counts->capacity * sizeof *counts->keys);
        if (!counts->keys) return histo_fail_memory((size_t)counts->capacity * sizeof *counts->keys, "checking");
        memset(counts->keys, 0xff, (size_t)counts->capacity * sizeof *counts->keys);
    }
    const size_t entries = (size_t)(counts->keys ? counts->capacity : counts->slots);
    counts->counts = histo_calloc(entries, sizeof *counts->counts);
    counts->masked = histo_calloc((size_t)p->batch, sizeof *counts->masked);
    if (p->weighting) counts->sums = histo_calloc(entries, sizeof *counts->sums);
    if (!counts->counts || !counts->masked || (p->weighting && !counts->sums))
        return histo_fail_memory(entries * (sizeof *counts->counts + (p->weighting ? sizeof *counts->sums : 0)),
                                 "checking");
    return HISTO_OK;
}

static void count_on_host(const problem_rule *rule, int threads, problem_counts *counts)
{
    enum { ALONE = 1 << 14, MAX_THREADS = 256 };
    part parts[MAX_THREADS] = {{0}};
    bool together = rule->samples > ALONE && !counts->keys && !counts->sums;
    counting c = {rule, counts, together ? (threads < MAX_THREADS ? threads : MAX_THREADS) : 1, false};
    c.shared = c.ranges > 1;
    for (int r = 0; r < c.ranges; r++) {
        parts[r].counting = &c;
        if (c.shared && counts->slots <= OWN_SLOTS)
            parts[r].own = histo_calloc((size_t)counts->slots, sizeof *parts[r].own);
    }
    histo_pool_run(c.ranges, count_range, parts);
    add_own(counts, parts, c.ranges);
    for (int r = 0; r < c.ranges; r++)
        free(parts[r].own);
    survey_counters(counts);
}

histo_status problem_counts_make(const problem_data *data, int threads, problem_counts *counts)
{
    problem_rule rule = {0};
    *counts = (problem_counts){0};
    histo_status status = allocate_counts(data, counts);
    if (status == HISTO_OK) status = problem_rule_make(data, !data->device, &rule);
    if (status == HISTO_OK && data->device)
        status = data->device->count(&rule, counts);
    else if (status == HISTO_OK)
        count_on_host(&rule, threads, counts);
    problem_rule_free(&rule);
    return status;
}

void problem_counts_free(problem_counts *counts)
{
    free(counts->counts);
    free(counts->keys);
    free(counts->sums);
    free(counts->masked);
    *counts = (problem_counts){0};
}

/* ---- Comparing ---- */

/* "of histogram 3" in the message of what is wrong with a slot. */
static void say_slot(const problem_data *data, int64_t slot, char *text, size_t size)
{
    const random_problem *p = data->problem;
    int64_t at[HISTO_MAX_AXES];
    for (int a = p->axes - 1; a >= 0; a--) {
        at[a] = slot % (p->axis[a].bins + 3);
        slot /= p->axis[a].bins + 3;
    }
    size_t length = 0;
    for (int a = 0; a < p->axes; a++)
        length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, a ? "," : "slot ", at[a]);
    if (p->batch > 1) snprintf(text + length, size - length, " of histogram %" PRId64, slot);
}

static bool compare_count(const problem_data *data, int64_t slot, uint64_t is, uint64_t should, char *wrong,
                          size_t size)
{
    char where[200];
    if (is == should) return true;
    say_slot(data, slot, where, sizeof where);
    snprintf(wrong, size, "%s has %" PRIu64 " samples instead of %" PRIu64, where, is, should);
    return false;
}

static bool compare_dense(const problem_data *data, const problem_counts *counts, const uint64_t *is, int fills,
                          char *wrong, size_t size)
{
    for (int64_t s = 0; s < counts->slots; s++)
        if (!compare_count(data, s, is[s], counts->counts[s] * (uint64_t)fills, wrong, size)) return false;
    return true;
}

static histo_status compare_sparse(const problem_data *data, const problem_counts *counts, const histo_hist *hist,
                                   int fills, char *wrong, size_t size)
{
    int64_t occupied;
    histo_status status = histo_hist_occupied(hist, HISTO_FLOW, &occupied);
    if (status != HISTO_OK) return status;
    int64_t *slots = histo_malloc((size_t)occupied * sizeof *slots + 1);
    uint64_t *is = histo_malloc((size_t)occupied * sizeof *is + 1);
    if (!slots || !is)
        status = histo_fail_memory((size_t)occupied * 2 * sizeof *is, "checking");
    else
        status = histo_hist_read_occupied(hist, HISTO_FLOW, slots, is, occupied);
    for (int64_t i = 0; i < occupied && status == HISTO_OK && !*wrong; i++) {
        int64_t at = find_key(counts, slots[i]);
        uint64_t should = counts->keys[at] < 0 ? 0 : counts->counts[at] * (uint64_t)fills;
        compare_count(data, slots[i], is[i], should, wrong, size);
    }
    if (status == HISTO_OK && !*wrong && occupied != counts->occupied)
        snprintf(wrong, size, "%" PRId64 " slots are occupied instead of %" PRId64, occupied, counts->occupied);
    free(slots);
    free(is);
    return status;
}

static histo_status compare_masked(const problem_data *data, const problem_counts *counts, const histo_hist *hist,
                                   int fills, char *wrong, size_t size)
{
    const int64_t batch = data->problem->batch;
    uint64_t *masked = histo_malloc((size_t)batch * sizeof *masked);
    if (!masked) return histo_fail_memory((size_t)batch * sizeof *masked, "checking");
    histo_status status = histo_hist_read_masked(hist, masked, batch);
    for (int64_t b = 0; b < batch && status == HISTO_OK && !*wrong; b++)
        if (masked[b] != counts->masked[b] * (uint64_t)fills)
            snprintf(wrong, size, "histogram %" PRId64 " has %" PRIu64 " masked samples instead of %" PRIu64, b,
                     masked[b], counts->masked[b] * (uint64_t)fills);
    free(masked);
    return status;
}

static histo_status compare_tally(const problem_data *data, const problem_counts *counts, const histo_hist *hist,
                                  int fills, char *wrong, size_t size)
{
    histo_tally is, should = {0};
    histo_status status = histo_hist_tally(hist, &is);
    for (int fill = 0; fill < fills; fill++)
        add_tally(&should, &counts->tally);
    if (status != HISTO_OK || memcmp(&is, &should, sizeof is) == 0) return status;
    int a = 0;
    while (a < data->problem->axes - 1 && is.under[a] == should.under[a] && is.over[a] == should.over[a] &&
           is.nan[a] == should.nan[a])
        a++;
    snprintf(wrong, size,
             "the tally has %" PRIu64 " samples, %" PRIu64 " masked, %" PRIu64 " in bins, %" PRIu64
             " in flow (axis %d: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ") instead of %" PRIu64 ", %" PRIu64 ", %" PRIu64
             ", %" PRIu64 " (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")",
             is.samples, is.masked, is.bins, is.flow, a, is.under[a], is.over[a], is.nan[a], should.samples,
             should.masked, should.bins, should.flow, should.under[a], should.over[a], should.nan[a]);
    return HISTO_OK;
}

/* Is a sum as exact as histo.h promises? */
static bool sum_is_right(const random_problem *p, double is, __int128 exact, double unit, double n, double size)
{
    double should = (double)exact * unit;
    bool reproducible = p->weighting == HISTO_WEIGHT_REPRODUCIBLE || p->weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
    if (reproducible) return is == should;
    return fabs(is - should) <= (n + 1) * 0x1p-53 * size;
}

static histo_status compare_sums(const problem_data *data, const problem_counts *counts, const histo_hist *hist,
                                 int fills, char *wrong, size_t size)
{
    const random_problem *p = data->problem;
    bool squares = p->weighting == HISTO_WEIGHT_FAST || p->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    double *sums = histo_malloc(2 * (size_t)counts->slots * sizeof *sums);
    if (!sums) return histo_fail_memory(2 * (size_t)counts->slots * sizeof *sums, "checking");
    double *sums2 = sums + counts->slots;
    histo_status status = histo_hist_read_weights(hist, HISTO_FLOW, sums, squares ? sums2 : NULL, counts->slots, NULL);
    for (int64_t s = 0; s < counts->slots && status == HISTO_OK && !*wrong; s++) {
        const problem_sum *sum = &counts->sums[s];
        const double n = (double)counts->counts[s] * fills, w2 = (double)(sum->w2 * fills) * 0x1p-68;
        char where[200];
        bool right = sum_is_right(p, sums[s], sum->w * fills, 0x1p-60, n, sum->size * fills);
        bool right2 = !squares || sum_is_right(p, sums2[s], sum->w2 * fills, 0x1p-68, n, w2);
        if (right && right2) continue;
        say_slot(data, s, where, sizeof where);
        snprintf(wrong, size, "%s has %s %.17g instead of %.17g", where,
                 right ? "a sum of squares" : "a sum of weights", right ? sums2[s] : sums[s],
                 right ? w2 : (double)(sum->w * fills) * 0x1p-60);
    }
    free(sums);
    return status;
}

histo_status problem_counts_compare(const problem_data *data, const problem_counts *counts, const histo_hist *hist,
                                    int fills, char *wrong, size_t size)
{
    wrong[0] = '\0';
    histo_status status = HISTO_OK;
    if (counts->keys) {
        status = compare_sparse(data, counts, hist, fills, wrong, size);
    } else {
        uint64_t *is = histo_malloc((size_t)counts->slots * sizeof *is);
        if (!is) return histo_fail_memory((size_t)counts->slots * sizeof *is, "checking");
        status = histo_hist_read_counts(hist, HISTO_FLOW, is, counts->slots, NULL);
        if (status == HISTO_OK) compare_dense(data, counts, is, fills, wrong, size);
        free(is);
    }
    if (status == HISTO_OK && !*wrong) status = compare_masked(data, counts, hist, fills, wrong, size);
    if (status == HISTO_OK && !*wrong) status = compare_tally(data, counts, hist, fills, wrong, size);
    if (status == HISTO_OK && !*wrong && counts->sums) status = compare_sums(data, counts, hist, fills, wrong, size);
    return status;
}
