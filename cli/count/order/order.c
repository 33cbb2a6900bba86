#include "count/order/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "base/scratch.h"
#include "count/run.h"
#include "options/values.h"

/* The memory for each search; if there are too many series, the rest take another pass. */
enum { MOST_SEARCHES = 64, SEARCH_BYTES = 40 << 20 };

typedef struct search {
    sample_order *to;
    histo_quantiles *quantiles; /* NULL: not requested, or no samples yet */
    weighted_search *weighted;  /* used instead if there are weights */
    histo_power_sums sums;      /* of differences */
    histo_dtype dtype;
    bool begun, in_pass;
    bool mixed; /* the samples have several types, for which there is no search */
} search;

typedef struct finder {
    run *run;
    int n; /* quantiles q[n], 0 to 1 */
    double *q;
    int first, end; /* series of this pass */
    search *searches;
    bool again;        /* after the first pass over the samples */
    bool begun;        /* a piece has been seen in this pass */
    bool asked;        /* quantiles were requested, and may take passes; else only those found while counting are
                        * used */
    bool any_negative; /* some weight is negative */
    scratch differences;
} finder;

void order_free(sample_order *order)
{
    for (int a = 0; a < HISTO_MAX_AXES && order; a++)
        free(order[a].quantiles);
    free(order);
}

/* ---- Numbers beyond doubles ------------------------------------------------------------------------------ */

char *order_text_of_integer(const sample_order *order, uint64_t difference, char text[TEXT_NUMBER_BYTES])
{
    const uint64_t value = order->base + difference;
    if (order->is_signed)
        snprintf(text, TEXT_NUMBER_BYTES, "%" PRId64, (int64_t)value);
    else
        snprintf(text, TEXT_NUMBER_BYTES, "%" PRIu64, value);
    return text;
}

char *order_text_of_difference(const sample_order *order, double difference, char text[TEXT_NUMBER_BYTES])
{
    char part[TEXT_NUMBER_BYTES];
    uint64_t whole = difference < 0x1p64 ? (uint64_t)difference : UINT64_MAX;
    double rest = difference - floor(difference);
    const bool negative = order->is_signed && (int64_t)(order->base + whole) < 0;
    if (negative && rest > 0) { /* -7 + 0.25 is -6.75 */
        whole++;
        rest = 1 - rest;
    }
    snprintf(part, sizeof part, "%.6f", rest);
    for (size_t length = strlen(part); part[length - 1] == '0'; length--)
        part[length - 1] = '\0';
    order_text_of_integer(order, whole, text);
    if (negative && order->base + whole == 0) strcpy(text, "-0");
    if (part[0] == '0' && part[1] && part[2]) strncat(text, part + 1, TEXT_NUMBER_BYTES - strlen(text) - 1);
    return text;
}

double order_mean(const sample_order *order)
{
    return order->is_weighted ? order->numbers.mean : order->stats.mean;
}

double order_value(const sample_order *order, double difference)
{
    const double base = order->is_signed ? (double)(int64_t)order->base : (double)order->base;
    return base + difference;
}

/* Make an array of the differences of 64-bit integers from the base. */
static bool subtract(scratch *memory, const histo_view *from, uint64_t base, histo_view *to)
{
    const int64_t size = histo_view_size(from);
    if (!scratch_reserve(memory, (size_t)size * sizeof(uint64_t) + 1)) return false;
    uint64_t *differences = (uint64_t *)(void *)memory->data;
    int64_t at[HISTO_MAX_DIMS] = {0};
    const char *sample = from->data;
    for (int64_t i = 0; i < size; i++) {
        uint64_t value;
        memcpy(&value, sample, sizeof value);
        differences[i] = value - base;
        for (int d = from->ndim - 1; d >= 0; d--) {
            sample += from->strides[d];
            if (++at[d] < from->shape[d]) break;
            sample -= from->shape[d] * from->strides[d];
            at[d] = 0;
        }
    }
    *to = histo_view_nd(differences, HISTO_U64, from->ndim, from->shape);
    return true;
}

/* ---- While samples are counted ---- */

int run_begin_order(run *r, fault *f)
{
    const settings *s = r->settings;
    r->finds_order = NULL;
    if (r->moments != MOMENTS_ORDER || r->whole || r->found_quantiles || s->weights || r->team || s->pairs ||
        s->segments || r->checkpointer || !run_files_have(s, INT64_MAX))
        return 0;
    if (!r->q && (r->q_count = value_quantiles(s->quantiles, &r->q, f)) < 0) return -1;
    r->finds_order = r->result;
    return 0;
}

void run_add_order(const run *r, int i, series *to)
{
    const bool has_memory = histo_memory_available() / 4 > (size_t)SEARCH_BYTES * (size_t)r->naxes;
    if (!r->finds_order || r->finds_order != r->result || r->result->count > MOST_SEARCHES || !has_memory) return;
    if (!(to->finding = calloc(HISTO_MAX_AXES, sizeof *to->finding))) return;
    for (int a = 0; a < r->naxes; a++) {
        order_in_passing *finding = &to->finding[a];
        bool more = false;
        finding->dtype = r->sources[r->joint ? a : i].dtype;
        if (to->forms[a].names) continue;
        if (histo_quantiles_create(&finding->quantiles, finding->dtype, r->settings->quantile_rule, r->q_count, r->q) !=
                HISTO_OK ||
            histo_quantiles_next_pass(finding->quantiles, &more) != HISTO_OK) {
            series_stop_finding(to); /* there is no memory for them */
            return;
        }
    }
}

int run_take_order(const run *r, int k, const histo_view *views, const histo_fill_options *filter, const char *name,
                   fault *f)
{
    const series *of = r->finds_order ? &r->finds_order->series[k] : NULL;
    for (int a = 0; a < r->naxes && of && of->finding; a++) {
        order_in_passing *finding = &of->finding[a];
        if (!finding->quantiles) continue;
        if (views[a].dtype != finding->dtype)
            finding->mixed = true;
        else if (histo_quantiles_add(finding->quantiles, &views[a], filter) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, name);
    }
    return 0;
}

void run_forget_order(const run *r)
{
    for (int i = 0; r->finds_order && i < r->finds_order->count; i++)
        series_stop_finding(&r->finds_order->series[i]);
}

/* ---- Searches -------------------------------------------------------------------------------------------- */

static bool beyond_doubles(const histo_stats *stats)
{
    return stats->samples > stats->nan + stats->infinite && (stats->min < -0x1p53 || stats->max > 0x1p53);
}

static int begin_search(const finder *o, search *at, const series *of, int a, histo_dtype dtype, fault *f)
{
    sample_order *to = at->to;
    const histo_stats *stats = &of->stats[a];
    at->begun = true;
    at->dtype = dtype;
    to->differs =
        (dtype == HISTO_I64 || dtype == HISTO_U64) && of->forms[a].kind == VALUES_NUMBERS && beyond_doubles(stats);
    to->is_signed = dtype == HISTO_I64;
    if (to->differs) to->base = to->is_signed ? (uint64_t)(int64_t)stats->min : (uint64_t)stats->min;
    if (to->differs) to->min = UINT64_MAX;
    to->narrow = to->differs && stats->max - stats->min < 0x1p53;
    if (o->run->settings->weights) {
        at->weighted = weighted_make(o->n, o->q);
        at->in_pass = at->weighted && weighted_next_pass(at->weighted);
        return at->weighted ? 0 : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    }
    if (o->n == 0) return 0;
    if (histo_quantiles_create(&at->quantiles, to->narrow ? HISTO_U64 : dtype, o->run->settings->quantile_rule, o->n,
                               o->q) != HISTO_OK ||
        histo_quantiles_next_pass(at->quantiles, &at->in_pass) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the quantiles");
    return 0;
}

/* Other statistics of the differences, besides quantiles. */
static histo_status add_numbers(const finder *o, search *at, const histo_view *differences,
                                const histo_fill_options *filter)
{
    histo_extremes extremes;
    histo_status status = HISTO_OK;
    if (at->to->narrow) status = histo_power_sums_add(&at->sums, differences, filter);
    if (status == HISTO_OK && at->to->narrow && o->run->moments == MOMENTS_ALL)
        status = histo_stats_add(&at->to->stats, differences, filter);
    if (status == HISTO_OK) status = histo_find_extremes(differences, filter, &extremes, 1);
    if (status != HISTO_OK || extremes.samples == 0) return status;
    if (extremes.min.u64 < at->to->min) at->to->min = extremes.min.u64;
    if (extremes.max.u64 > at->to->max) at->to->max = extremes.max.u64;
    return HISTO_OK;
}

static int add(finder *o, search *at, const series *of, int a, const histo_view *view, const histo_view *weights,
               const histo_fill_options *filter, const char *name, fault *f)
{
    histo_view differences;
    histo_status status = HISTO_OK;
    const bool needed = !o->again; /* for statistics besides quantiles */
    if (!at->begun && begin_search(o, at, of, a, view->dtype, f) != 0) return -1;
    at->mixed = at->mixed || view->dtype != at->dtype;
    if (at->mixed) return 0;
    if (at->to->differs && (needed || at->to->narrow)) {
        if (!subtract(&o->differences, view, at->to->base, &differences))
            return fault_set(f, EXIT_DATA, "no memory for the quantiles");
        if (needed) status = add_numbers(o, at, &differences, filter);
        if (at->to->narrow) view = &differences;
    }
    if (at->weighted && at->in_pass)
        weighted_add(at->weighted, view, weights, filter);
    else if (status == HISTO_OK && at->in_pass)
        status = histo_quantiles_add(at->quantiles, view, filter);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, name);
}

/* Add the samples of a group to the searches of its series. */
static int add_group(finder *o, const char *name, const piece *p, int64_t group, fault *f)
{
    const run *r = o->run;
    for (int i = 0; i < r->count; i++) {
        const series *of = run_series_of(r, r->joint ? 0 : i, group);
        const int k = (int)(of - r->result->series), a = r->joint ? i : 0;
        const histo_fill_options filter = piece_filter(p, r->joint ? 0 : i);
        if (k < o->first || k >= o->end || !of->stats || of->forms[a].names) continue;
        if (add(o, &o->searches[(k - o->first) * r->naxes + a], of, a, &p->views[i], p->weights, &filter, name, f) != 0)
            return -1;
    }
    return 0;
}

static int series_of_a_page(const run *r)
{
    return (r->joint ? 1 : r->count) * (int)r->group_count;
}

static int enter(void *self, int file, const samples *in, fault *f)
{
    run *r = ((finder *)self)->run;
    (void)in;
    (void)f;
    if (r->settings->per_file) r->first_series = file * series_of_a_page(r);
    return 0;
}

/* Series are in the order in which the counting pass reached their first pieces. */
static int take(void *self, int file, const piece *p, fault *f)
{
    finder *o = self;
    run *r = o->run;
    const char *name = feed_name(&r->feed, file);
    if (r->settings->batch && o->begun && (file != r->file || p->page != r->page))
        r->first_series += series_of_a_page(r);
    r->file = file;
    r->page = p->page;
    o->begun = true;
    if (!p->by) return add_group(o, name, p, 0, f);
    int failed = groups_sort(&r->groups, p, f);
    for (int64_t group = 0; group < r->group_count && !failed; group++) {
        const piece samples_of_group = groups_of(&r->groups, p, group);
        if (histo_view_size(&samples_of_group.views[0]) > 0) failed = add_group(o, name, &samples_of_group, group, f);
    }
    return failed;
}

static bool next_pass(const finder *o, int searches)
{
    bool any = false;
    for (int i = 0; i < searches; i++) {
        search *at = &o->searches[i];
        if (at->weighted && !at->mixed) any |= at->in_pass = weighted_next_pass(at->weighted);
        if (at->quantiles && !at->mixed)
            any |= histo_quantiles_next_pass(at->quantiles, &at->in_pass) == HISTO_OK && at->in_pass;
    }
    return any;
}

static int end_search(finder *o, search *at, fault *f)
{
    sample_order *to = at->to;
    if (at->mixed) to->differs = to->narrow = false;
    if (to->narrow) {
        const double m3 = to->stats.m3, m4 = to->stats.m4;
        histo_power_sums_read(&at->sums, &to->stats);
        to->stats.m3 = m3;
        to->stats.m4 = m4;
    }
    if ((!at->quantiles && !at->weighted) || at->mixed) return 0;
    if (o->n > 0 && !(to->quantiles = malloc((size_t)o->n * sizeof *to->quantiles)))
        return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    if (at->weighted) {
        to->is_weighted = true;
        to->numbers = weighted_read(at->weighted);
        weighted_quantiles(at->weighted, to->quantiles);
        o->any_negative = o->any_negative || weighted_has_negative(at->weighted);
        return 0;
    }
    return histo_quantiles_read(at->quantiles, to->quantiles) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, "the quantiles");
}

/* Continue the search of a series that was begun while counting, unless its numbers need another kind. */
static void adopt(const finder *o, search *at, const series *of, int a)
{
    order_in_passing *finding = of->finding ? &of->finding[a] : NULL;
    const bool differs = finding && (finding->dtype == HISTO_I64 || finding->dtype == HISTO_U64) &&
                         of->forms[a].kind == VALUES_NUMBERS && beyond_doubles(&of->stats[a]);
    if (!o->asked && (!finding || !finding->quantiles || differs)) at->begun = at->mixed = true;
    if (!finding || !finding->quantiles || differs) return;
    at->begun = true;
    at->dtype = finding->dtype;
    at->mixed = finding->mixed;
    at->quantiles = finding->quantiles;
    finding->quantiles = NULL;
    if (!at->mixed) at->in_pass = histo_quantiles_next_pass(at->quantiles, &at->in_pass) == HISTO_OK && at->in_pass;
}

static bool needs_pass(const finder *o)
{
    const run *r = o->run;
    bool needs = false;
    for (int i = 0; i < (o->end - o->first) * r->naxes; i++) {
        const series *of = &r->result->series[o->first + i / r->naxes];
        const bool wanted = of->stats && !of->forms[i % r->naxes].names;
        needs = needs || (wanted && !o->searches[i].begun) || o->searches[i].in_pass;
    }
    return needs;
}

/* Whether the samples must be read again. */
static bool adopt_all(finder *o)
{
    const run *r = o->run;
    for (int i = 0; i < (o->end - o->first) * r->naxes; i++)
        adopt(o, &o->searches[i], &r->result->series[o->first + i / r->naxes], i % r->naxes);
    return needs_pass(o);
}

/* Run the passes for the series from o->first to o->end. */
static int find(finder *o, fault *f)
{
    run *r = o->run;
    const feed_visitor visitor = {.verb = "selecting", .enter = enter, .take = take, .self = o};
    const int searches = (o->end - o->first) * r->naxes;
    int failed = 0;
    o->searches = calloc((size_t)searches, sizeof *o->searches);
    if (!o->searches) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    for (int i = 0; i < searches; i++)
        o->searches[i].to = &r->result->series[o->first + i / r->naxes].order[i % r->naxes];
    o->again = false;
    if (adopt_all(o)) feed_keep(&r->feed);
    while (!failed && needs_pass(o)) {
        r->first_series = 0;
        o->begun = false;
        failed = feed_visit(&r->feed, &visitor, f);
        o->again = true;
        if (!failed && !next_pass(o, searches)) break;
    }
    for (int i = 0; i < searches; i++) {
        if (!failed) failed = end_search(o, &o->searches[i], f);
        histo_quantiles_destroy(o->searches[i].quantiles);
        weighted_free(o->searches[i].weighted);
    }
    free(o->searches);
    return failed;
}

/* Whether anything is wanted that bins and sums do not give. */
static bool is_wanted(const run *r)
{
    bool any = false;
    for (int i = 0; i < r->result->count; i++)
        for (int a = 0; a < r->naxes && r->result->series[i].stats; a++)
            any =
                any || (!r->result->series[i].forms[a].names && (r->moments == MOMENTS_ORDER || r->settings->weights ||
                                                                 beyond_doubles(&r->result->series[i].stats[a])));
    return any;
}

static bool any_beyond_doubles(const run *r)
{
    bool any = false;
    for (int i = 0; i < r->result->count; i++)
        for (int a = 0; a < r->naxes && r->result->series[i].stats; a++)
            any = any || beyond_doubles(&r->result->series[i].stats[a]);
    return any;
}

static int make_orders(const run *r, fault *f)
{
    int failed = 0;
    for (int i = 0; i < r->result->count && !failed; i++)
        if (!(r->result->series[i].order = calloc(HISTO_MAX_AXES, sizeof(sample_order))))
            failed = fault_set(f, EXIT_DATA, "no memory for the quantiles");
    return failed;
}

/* Take the quantiles that a survey has found. */
static int take_found(const run *r, fault *f)
{
    const size_t n = (size_t)r->q_count;
    int failed = make_orders(r, f);
    for (int i = 0; i < r->count && !failed; i++) {
        sample_order *to = r->joint ? &r->result->series[0].order[i] : &r->result->series[i].order[0];
        if (!(to->quantiles = malloc(n * sizeof *to->quantiles)))
            return fault_set(f, EXIT_DATA, "no memory for the quantiles");
        memcpy(to->quantiles, r->found_quantiles + (size_t)i * n, n * sizeof *to->quantiles);
    }
    return failed;
}

/* Quantiles that are drawn without being requested must not take long: files that need decoding are read again only if
 * they are small. */
static bool is_quick(const run *r)
{
    const samples *alone = r->feed.count == 1 ? r->feed.files[0].open : NULL;
    const reader *decoded = alone ? samples_reader(alone) : NULL;
    const bool kept = decoded ? decoded->caches_all && decoded->caches_all(decoded) : feed_keeps_all(&r->feed);
    return kept || run_files_have(r->settings, r->settings->weights ? INT64_MAX : RUN_SMALL_FILES);
}

/* The number of series whose searches fit into memory. */
static int most_at_once(const run *r)
{
    const size_t fit = histo_memory_available() / 2 / SEARCH_BYTES / (size_t)r->naxes;
    return fit < 1 ? 1 : fit < MOST_SEARCHES ? (int)fit : MOST_SEARCHES;
}

int run_find_order(run *r, fault *f)
{
    const settings *s = r->settings;
    finder o = {.run = r};
    int failed = 0;
    if (r->moments < MOMENTS_ORDER || (r->whole && !s->weights) || r->team || s->pairs || s->segments) return 0;
    if (r->found_quantiles && !any_beyond_doubles(r)) return take_found(r, f);
    o.asked = r->moments > MOMENTS_ORDER || s->stats || s->quantiles || s->exact || is_quick(r);
    if (r->found_quantiles && !o.asked) return take_found(r, f);
    if ((!r->feed.keep && !r->finds_order) || !is_wanted(r) || (!o.asked && !r->finds_order)) return 0;
    if (r->moments == MOMENTS_ORDER) o.n = value_quantiles(s->quantiles, &o.q, f);
    if (o.n < 0) return -1;
    failed = make_orders(r, f);
    for (; o.first < r->result->count && !failed; o.first = o.end) {
        const int most = most_at_once(r);
        o.end = o.first + most < r->result->count ? o.first + most : r->result->count;
        failed = find(&o, f);
    }
    if (o.any_negative && (o.n > 0 || r->moments == MOMENTS_ALL) && !s->quiet)
        note("%s: a weight is negative, so there are no %s", feed_name(&r->feed, 0),
             r->moments == MOMENTS_ALL ? "skewness, kurtosis and entropy" : "quantiles");
    free(o.q);
    free(o.differences.data);
    return failed;
}
