#include "count/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"

bin_names *bin_names_make(int64_t count)
{
    bin_names *names = calloc(1, sizeof *names);
    if (!names) return NULL;
    *names = (bin_names){.users = 1, .count = count, .text = calloc((size_t)count + 1, sizeof *names->text)};
    if (names->text) return names;
    free(names);
    return NULL;
}

void bin_names_free(bin_names *names)
{
    if (!names || --names->users > 0) return;
    for (int64_t i = 0; i < names->count; i++)
        free(names->text[i]);
    free(names->text);
    free(names);
}

/* Bytes that are not UTF-8 become question marks. */
static char *valid_copy(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; c && *c;) {
        const size_t bytes = text_character_bytes(c);
        if (!bytes) *c = '?';
        c += bytes ? bytes : 1;
    }
    return copy;
}

bin_names *bin_names_of_words(const dictionary *d)
{
    const uint32_t words = dictionary_bins(d), others = words ? dictionary_others(d) : 1;
    bin_names *names = bin_names_make((int64_t)words + (others > 0));
    bool good = names, taken = false;
    for (uint32_t i = 0; i < words && good; i++) {
        names->text[i] = valid_copy(dictionary_word(d, i));
        good = names->text[i];
        taken = taken || (good && strcmp(names->text[i], "other") == 0);
    }
    if (good && others) {
        names->text[words] = strdup(taken ? "all others" : "other");
        good = names->text[words];
    }
    if (names) names->others = others;
    if (good) return names;
    bin_names_free(names);
    return NULL;
}

bool bin_names_alike(const bin_names *x, const bin_names *y)
{
    bool alike = x == y || (x && y && x->count == y->count && !x->others == !y->others);
    for (int64_t i = 0; x != y && alike && i < x->count; i++)
        alike = strcmp(x->text[i], y->text[i]) == 0;
    return alike;
}

void result_name_bins(result *r, int i, int a, bin_names *names)
{
    bin_names_free(r->series[i].forms[a].names);
    if (names) names->users++;
    r->series[i].forms[a] = (axis_form){.kind = names ? VALUES_WORDS : VALUES_NUMBERS, .names = names};
}

const bin_names *result_bin_names(const result *r, int i, int a)
{
    return r->series[i].forms[a].names;
}

int result_add(result *r, histo_hist *hist, const char *name, fault *f)
{
    int64_t batch = histo_hist_batch(hist);
    series *more = realloc(r->series, (size_t)(r->count + batch) * sizeof *more);
    char *copy = name ? strdup(name) : NULL;
    if (more) r->series = more;
    if (!more || (name && !copy)) {
        histo_hist_destroy(hist);
        free(copy);
        return fault_set(f, EXIT_DATA, "no memory for another histogram");
    }
    for (int64_t entry = 0; entry < batch; entry++)
        more[r->count++] =
            (series){.name = entry ? NULL : copy, .hist = hist, .entry = entry, .shares_hist = entry > 0};
    return 0;
}

void series_free(series *s)
{
    if (!s->shares_hist) histo_hist_destroy(s->hist);
    free(s->name);
    free(s->sums);
    free(s->stats);
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        bin_names_free(s->forms[a].names);
    order_free(s->order);
    series_stop_finding(s);
}

void series_stop_finding(series *s)
{
    for (int a = 0; a < HISTO_MAX_AXES && s->finding; a++)
        histo_quantiles_destroy(s->finding[a].quantiles);
    free(s->finding);
    s->finding = NULL;
}

void result_free(result *r)
{
    for (int i = 0; i < r->count; i++)
        series_free(&r->series[i]);
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        free(r->axis_names[a]);
    free(r->series);
    manifest_free(r->shards);
    free(r->title);
    *r = (result){0};
}

void series_read_sums(series *s)
{
    for (int a = 0; a < histo_hist_naxes(s->hist); a++)
        histo_power_sums_read(&s->sums[a], &s->stats[a]);
}

int result_naxes(const result *r)
{
    return histo_hist_naxes(r->series[0].hist);
}

bool result_has_characters(const result *r)
{
    return r->count > 0 && r->series[0].forms[0].characters;
}

bool result_is_weighted(const result *r)
{
    return histo_hist_weighting(r->series[0].hist) != HISTO_UNWEIGHTED;
}

bool result_is_sparse(const result *r)
{
    bool any = false;
    for (int i = 0; i < r->count; i++)
        any = any || histo_hist_storage(r->series[i].hist) == HISTO_SPARSE;
    return any;
}

static bool dimensions_alike(const histo_hist *x, const histo_hist *y)
{
    return histo_hist_naxes(x) == histo_hist_naxes(y) && histo_hist_weighting(x) == histo_hist_weighting(y);
}

static bool series_alike(const result *r, int i, int j)
{
    const histo_hist *x = r->series[i].hist, *y = r->series[j].hist;
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        if (r->series[i].forms[a].kind != r->series[j].forms[a].kind ||
            !bin_names_alike(result_bin_names(r, i, a), result_bin_names(r, j, a)))
            return false;
    if (x == y) return true;
    if (!dimensions_alike(x, y)) return false;
    for (int a = 0; a < histo_hist_naxes(x); a++) {
        histo_axis ax = histo_hist_axis(x, a), ay = histo_hist_axis(y, a);
        if (!histo_axis_equal(&ax, &ay)) return false;
    }
    return true;
}

int result_group_end(const result *r, int first)
{
    int end = first + 1;
    while (end < r->count && series_alike(r, first, end))
        end++;
    return end;
}

bool result_is_uniform(const result *r)
{
    bool uniform = true;
    for (int i = 1; i < r->count && uniform; i++)
        uniform = dimensions_alike(r->series[0].hist, r->series[i].hist);
    return uniform;
}

int64_t table_cell(const table *t, const int64_t *slots)
{
    int64_t cell = 0;
    for (int a = 0; a < t->naxes; a++)
        cell = cell * (t->bins[a] + 3) + slots[a];
    return cell;
}

/* Convert a slot number to its position. */
static void place(const table *t, int64_t slot, int64_t *slots)
{
    for (int a = t->naxes - 1; a >= 0; a--) {
        slots[a] = slot % (t->bins[a] + 3);
        slot /= t->bins[a] + 3;
    }
}

bool table_next(const table *t, int64_t *cell, int64_t *slots)
{
    if (++*cell == t->cells) return false;
    if (t->occupied || *cell == 0) {
        place(t, t->occupied ? t->occupied[*cell] : 0, slots);
        return true;
    }
    for (int a = t->naxes - 1; ++slots[a] == t->bins[a] + 3; a--)
        slots[a] = 0;
    return true;
}

bool table_is_bin(const table *t, const int64_t *slots)
{
    bool inside = true;
    for (int a = 0; a < t->naxes; a++)
        inside = inside && slots[a] >= 1 && slots[a] <= t->bins[a];
    return inside;
}

double table_value(const table *t, int64_t cell)
{
    return t->sum_w ? t->sum_w[cell] : (double)t->counts[cell];
}

double table_sum_of_weights(const table *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->cells; i++)
        sum += t->sum_w[i];
    return sum;
}

static void tally(table *t)
{
    int64_t slots[HISTO_MAX_AXES];
    t->samples = t->masked;
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        uint64_t count = t->counts[cell];
        t->samples += count;
        for (int a = 0; count && a < t->naxes; a++) {
            t->under[a] += slots[a] == 0 ? count : 0;
            t->over[a] += slots[a] == t->bins[a] + 1 ? count : 0;
            t->nan[a] += slots[a] == t->bins[a] + 2 ? count : 0;
        }
    }
}

static void read_axes(table *t, const histo_hist *hist)
{
    t->naxes = histo_hist_naxes(hist);
    for (int a = 0; a < t->naxes; a++) {
        t->axes[a] = histo_hist_axis(hist, a);
        t->bins[a] = t->axes[a].bins;
    }
}

/* The number of arrays in a table of the histogram: counts, sums of weights, and sums of their squares. */
static int arrays_of(const histo_hist *hist)
{
    const histo_weighting weighting = histo_hist_weighting(hist);
    const bool sums_alone = weighting == HISTO_WEIGHT_FAST_SUM || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
    return weighting == HISTO_UNWEIGHTED ? 1 : sums_alone ? 2 : 3;
}

/* Read the cells of all entries of a batch, the first of which is t. */
static bool read_cells(table *t, const histo_hist *hist)
{
    int64_t all = histo_hist_size(hist, HISTO_FLOW);
    const int arrays = arrays_of(hist);
    t->cells = all / histo_hist_batch(hist);
    t->counts = malloc((size_t)all * sizeof *t->counts);
    if (!t->counts || histo_hist_read_counts(hist, HISTO_FLOW, t->counts, all, NULL) != HISTO_OK) return false;
    if (arrays == 1) return true;
    t->sum_w = malloc((size_t)all * sizeof *t->sum_w);
    if (arrays == 3) t->sum_w2 = malloc((size_t)all * sizeof *t->sum_w2);
    return t->sum_w && (t->sum_w2 || arrays == 2) &&
           histo_hist_read_weights(hist, HISTO_FLOW, t->sum_w, t->sum_w2, all, NULL) == HISTO_OK;
}

/* Read the occupied slots of all entries of a batch, the first of which is t. */
static bool read_occupied(table *t, const histo_hist *hist)
{
    int64_t all;
    if (histo_hist_occupied(hist, HISTO_FLOW, &all) != HISTO_OK) return false;
    t->occupied = malloc((size_t)all * sizeof *t->occupied + 1);
    t->counts = malloc((size_t)all * sizeof *t->counts + 1);
    t->cells = all;
    return t->occupied && t->counts &&
           histo_hist_read_occupied(hist, HISTO_FLOW, t->occupied, t->counts, all) == HISTO_OK;
}

/* Distribute the occupied slots of the first table among the tables of a batch. */
static void divide_occupied(table *tables, const histo_hist *hist)
{
    const int64_t batch = histo_hist_batch(hist), slots = histo_hist_size(hist, HISTO_FLOW) / batch;
    const int64_t all = tables[0].cells;
    int64_t at = 0;
    for (int64_t i = 0; i < batch; i++) {
        table *t = &tables[i];
        t->occupied = tables[0].occupied + at;
        t->counts = tables[0].counts + at;
        for (t->cells = 0; at < all && t->occupied[t->cells] / slots == i; at++)
            t->occupied[t->cells++] -= i * slots;
    }
}

/* The table of the next entry, which shares arrays with `before`. */
static table next_entry(const table *before)
{
    table t = {.naxes = before->naxes, .cells = before->cells};
    memcpy(t.bins, before->bins, sizeof t.bins);
    memcpy(t.axes, before->axes, sizeof t.axes);
    if (before->occupied) return t; /* its part is known after the division */
    t.counts = before->counts + t.cells;
    if (before->sum_w) t.sum_w = before->sum_w + t.cells;
    if (before->sum_w2) t.sum_w2 = before->sum_w2 + t.cells;
    return t;
}

/* Read the tables of a batch, one per entry. */
static bool read_batch(table *tables, const histo_hist *hist, table_kind kind)
{
    const bool is_list = kind == TABLE_OF_OCCUPIED && histo_hist_storage(hist) == HISTO_SPARSE;
    int64_t batch = histo_hist_batch(hist);
    read_axes(&tables[0], hist);
    if (!(is_list ? read_occupied(&tables[0], hist) : read_cells(&tables[0], hist))) return false;
    uint64_t *masked = malloc((size_t)batch * sizeof *masked);
    bool good = masked && histo_hist_read_masked(hist, masked, batch) == HISTO_OK;
    for (int64_t i = 1; i < batch && good; i++)
        tables[i] = next_entry(&tables[i - 1]);
    if (good && is_list) divide_occupied(tables, hist);
    for (int64_t i = 0; i < batch && good; i++) {
        tables[i].masked = masked[i];
        tally(&tables[i]);
    }
    free(masked);
    return good;
}

static void table_free(table *t)
{
    free(t->occupied);
    free(t->counts);
    free(t->sum_w);
    free(t->sum_w2);
}

static const char fewer_bins[] = "use fewer bins, or fewer histograms";

/* The bytes that read_cells allocates for all series. */
static double bytes_to_read(const result *r, table_kind kind)
{
    double bytes = 0;
    for (int i = 0; i < r->count; i++) {
        const histo_hist *hist = r->series[i].hist;
        if (r->series[i].shares_hist || (kind == TABLE_OF_OCCUPIED && histo_hist_storage(hist) == HISTO_SPARSE))
            continue;
        bytes += (double)arrays_of(hist) * sizeof(uint64_t) * (double)histo_hist_size(hist, HISTO_FLOW);
    }
    return bytes;
}

table *tables_read(const result *r, table_kind kind, fault *f)
{
    if (fault_beyond_memory(f, bytes_to_read(r, kind), "the counts", fewer_bins) != 0) return NULL;
    table *tables = calloc(r->count > 0 ? (size_t)r->count : 0, sizeof *tables);
    bool good = tables != NULL;
    for (int i = 0; i < r->count && good; i++)
        if (!r->series[i].shares_hist) good = read_batch(&tables[i], r->series[i].hist, kind);
    if (good) return tables;
    fault_set(f, EXIT_DATA, "no memory to read the counts out: %s", fewer_bins);
    tables_free(tables, r);
    return NULL;
}

void tables_free(table *tables, const result *r)
{
    for (int i = 0; i < r->count && tables; i++)
        if (!r->series[i].shares_hist) table_free(&tables[i]);
    free(tables);
}

/* sum / count, rounded once: the quotient has at least 62 bits, and a last one that stands for the remainder. */
static double quotient(__int128 sum, uint64_t count)
{
    unsigned __int128 rest = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;
    int shift = 0;
    for (; rest > 0 && rest >> 126 == 0; shift++)
        rest <<= 1;
    const unsigned __int128 whole = rest / count | (rest % count > 0);
    return ldexp(sum < 0 ? -(double)whole : (double)whole, -shift);
}

/* The statistics of integers, equal to those of exact sums: without m3 and m4. Squares are of differences from the
 * integer below the mean, to need as few bits as possible. */
static histo_stats stats_of_integers(const table *t, int a)
{
    histo_stats all = {.m3 = NAN, .m4 = NAN};
    int64_t slots[HISTO_MAX_AXES];
    const int64_t first = (int64_t)t->axes[a].lo;
    int64_t least = INT64_MAX, most = INT64_MIN;
    __int128 sum = 0;
    unsigned __int128 squares = 0;
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        const int64_t bin = slots[a] - 1, value = first + bin;
        if (!t->counts[cell] || bin < 0 || bin >= t->bins[a]) continue;
        all.samples += t->counts[cell];
        sum += (__int128)t->counts[cell] * value;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (all.samples == 0) return all;
    const __int128 count = all.samples, rest = (sum % count + count) % count;
    const int64_t below = (int64_t)((sum - rest) / count);
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        const int64_t bin = slots[a] - 1, difference = first + bin - below;
        if (!t->counts[cell] || bin < 0 || bin >= t->bins[a]) continue;
        squares += (unsigned __int128)t->counts[cell] * (unsigned __int128)((__int128)difference * difference);
    }
    const unsigned __int128 less = (unsigned __int128)rest * (unsigned __int128)rest;
    const double part = (double)(less % (unsigned __int128)count) / (double)all.samples;
    all.min = (double)least;
    all.max = (double)most;
    all.mean = quotient(sum, all.samples);
    all.m2 = (double)(squares - less / (unsigned __int128)count) - part;
    return all;
}

histo_stats table_stats(const table *t, int a, bool whole)
{
    enum { MOST_EXACT = INT32_MAX }; /* squares are below 2^62, and their sums below 2^126 */
    if (whole && t->bins[a] <= MOST_EXACT) return stats_of_integers(t, a);
    histo_stats all = {0};
    int64_t slots[HISTO_MAX_AXES];
    for (int64_t cell = -1; table_next(t, &cell, slots);) {
        uint64_t count = t->counts[cell];
        int64_t bin = slots[a] - 1;
        if (!count || bin < 0 || bin >= t->bins[a]) continue;
        double lo = histo_axis_edge(&t->axes[a], bin), hi = histo_axis_edge(&t->axes[a], bin + 1);
        double middle = whole ? lo : lo / 2 + hi / 2;
        histo_stats these = {.samples = count, .min = lo, .max = whole ? lo : hi, .mean = middle};
        histo_stats_merge(&all, &these);
    }
    return all;
}
