/* Samples are mapped to unsigned keys of the same order and width.
 *
 * Samples of 8 and 16 bits are counted by value, in one pass (value_counts.c). For wider ones, a few keys from all over
 * the data show roughly where each order statistic is: in a bracket between two keys. A pass counts the keys below each
 * bracket and collects those inside, from which the statistic is then selected; the counts show whether it is there
 * (brackets.c). One pass is thus enough for nearly all data. Whatever three passes have not found is found by radix
 * selection, which works for any samples (radix.c). It is also used for samples in a GPU's memory, where fills count
 * the digits (device.c). While there are few samples, their keys are simply kept. */
#include "survey/quantiles/selection.h"

#include <math.h>
#include <stdlib.h>

#include "axis/quantile_rule.h"
#include "base/error.h"
#include "base/memory.h"
#include "survey/quantiles/brackets.h"
#include "survey/quantiles/draw.h"
#include "survey/quantiles/radix.h"
#include "view/dtype.h"

enum {
    STORE_ROOM = 1 << 22, /* keys collected in memory, if that much may be used */
    MOST_TABLES = 64,     /* sets counted in a pass; others wait for the next */
    FEW = 1 << 13,        /* up to this many samples of the first piece are all kept */
};

/* Set how much is kept, to use about this many bytes; 0: as much as is useful. */
static void fit_into(histo_selection *s, size_t memory)
{
    const size_t table = HISTO_RADIX * sizeof *s->radix.tables;
    const int useful = s->n < MOST_TABLES / 2 ? 2 * s->n : MOST_TABLES;
    s->radix.tables_count = s->bits <= HISTO_RADIX_BITS || useful < 1 ? 1 : useful;
    s->store.room = STORE_ROOM;
    if (memory) {
        while (s->store.room > HISTO_MOST_KEPT && s->store.room * sizeof *s->store.keys > memory / 2)
            s->store.room /= 2;
        while (s->radix.tables_count > 1 && (size_t)s->radix.tables_count * table > memory / 4)
            s->radix.tables_count--;
    }
    s->bracketing.drawn.room = (int64_t)(s->store.room / (STORE_ROOM / HISTO_MOST_DRAWN));
}

histo_status histo_selection_create(histo_selection **selection, histo_dtype dtype, int n, bool in_parts, size_t memory)
{
    const size_t count = 2 * (size_t)n + 1;
    histo_selection *s = histo_calloc(1, sizeof *s);
    if (!s) return histo_fail_memory(sizeof *s, "quantiles");
    pthread_rwlock_init(&s->use, NULL);
    pthread_mutex_init(&s->drawing, NULL);
    s->dtype = dtype;
    s->bits = 8 * (int)histo_dtype_size(dtype);
    s->n = n;
    s->in_parts = in_parts;
    fit_into(s, memory);
    histo_radix *r = &s->radix;
    const bool one_pass = s->bits <= HISTO_RADIX_BITS;
    const size_t tables = (size_t)r->tables_count * HISTO_RADIX * sizeof *r->tables;
    const size_t keys = s->store.room * sizeof *s->store.keys;
    const size_t drawn = (size_t)s->bracketing.drawn.room * sizeof *s->bracketing.drawn.keys;
    /* Allocate everything now, so that no pass can run out of memory. */
    s->quantiles = histo_malloc(count * sizeof *s->quantiles);
    s->statistics = histo_malloc(count * sizeof *s->statistics);
    r->sets = histo_malloc(count * sizeof *r->sets);
    r->next = histo_malloc(count * sizeof *r->next);
    r->tables = histo_malloc(tables);
    r->set_of = histo_malloc((HISTO_RADIX + 1) * sizeof *r->set_of);
    if (!one_pass) s->store.keys = histo_malloc(keys);
    if (!one_pass) s->bracketing.drawn.keys = histo_malloc(drawn);
    if (!s->quantiles || !s->statistics || !r->sets || !r->next || !r->tables || !r->set_of ||
        (!one_pass && (!s->store.keys || !s->bracketing.drawn.keys))) {
        histo_selection_destroy(s);
        return histo_fail_memory(tables + keys + drawn + 4 * count * sizeof *r->sets, "quantiles");
    }
    *selection = s;
    return HISTO_OK;
}

void histo_selection_destroy(histo_selection *s)
{
    if (!s) return;
    pthread_rwlock_destroy(&s->use);
    pthread_mutex_destroy(&s->drawing);
    histo_free(s->quantiles);
    histo_free(s->statistics);
    histo_free(s->radix.sets);
    histo_free(s->radix.next);
    histo_free(s->radix.tables);
    histo_free(s->radix.set_of);
    histo_free(s->store.keys);
    histo_free(s->bracketing.drawn.keys);
    histo_free(s);
}

void histo_selection_start(histo_selection *s, histo_quantile_rule rule, const double *q, bool finite)
{
    s->limits = histo_key_limits_of(s->dtype, finite);
    s->finite = finite;
    s->on_device = false;
    s->rule = rule;
    for (int i = 0; i < s->n; i++)
        s->quantiles[i] = (histo_selected_quantile){.q = q[i]};
    s->is_ranked = false;
    s->seen = 0;
    s->store.count = 0;
    s->bracketing.passes = 0;
    s->bracketing.drawn.count = 0;
    s->method = HISTO_KEEP_KEYS;
    if (!s->store.keys) histo_radix_start(s);
}

/* ---- A pass ---- */

static bool is_shared(const histo_selection *s)
{
    return s->method == HISTO_USE_BRACKETS || !s->store.keys;
}

static void begin_alone(histo_selection *s, const histo_source *source)
{
    const uint64_t n = (uint64_t)source->samples, kept = s->store.count;
    if (s->method != HISTO_KEEP_KEYS || n == 0 || kept + n <= (kept ? HISTO_MOST_KEPT : FEW)) return;
    if (s->n > HISTO_MAX_BRACKETS || s->in_parts)
        histo_radix_start_with_kept(s);
    else
        histo_brackets_begin(s, source);
}

/* Before a piece, brackets may be narrowed, under the write lock. */
static void begin_piece(histo_selection *s, const histo_source *source)
{
    pthread_mutex_lock(&s->drawing);
    const bool narrows = s->method == HISTO_USE_BRACKETS && histo_brackets_begin_piece(s, source);
    pthread_mutex_unlock(&s->drawing);
    if (!narrows) return;
    pthread_rwlock_unlock(&s->use);
    pthread_rwlock_wrlock(&s->use);
    histo_brackets_narrow(s);
    pthread_rwlock_unlock(&s->use);
    pthread_rwlock_rdlock(&s->use);
}

bool histo_selection_begin(histo_selection *s, const histo_source *source)
{
    pthread_rwlock_rdlock(&s->use);
    if (is_shared(s)) {
        begin_piece(s, source);
        return true;
    }
    pthread_rwlock_unlock(&s->use);
    pthread_rwlock_wrlock(&s->use);
    if (!is_shared(s)) begin_alone(s, source);
    if (!is_shared(s)) return false;
    pthread_rwlock_unlock(&s->use);
    pthread_rwlock_rdlock(&s->use);
    return true;
}

void histo_selection_end(histo_selection *s)
{
    pthread_rwlock_unlock(&s->use);
}

void histo_selection_part_start(histo_selection_part *part, histo_selection *selection, bool is_alone)
{
    part->selection = selection;
    part->is_alone = is_alone;
    part->bracketed = (histo_bracketed){0};
    part->collected_count = 0;
    part->seen = 0;
    if (!selection->store.keys) histo_values_start_part(part);
}

void histo_selection_part_add(histo_selection_part *part, const void *block, int64_t n)
{
    histo_selection *s = part->selection;
    part->seen += (uint64_t)n;
    if (s->method == HISTO_USE_BRACKETS) {
        histo_brackets_add(part, block, n);
    } else if (s->method == HISTO_KEEP_KEYS) {
        histo_keys_make(s->dtype, block, n, s->store.keys + s->store.count);
        s->store.count += (uint64_t)n;
    } else if (s->store.keys) {
        histo_radix_add(s, block, n);
    } else {
        histo_values_add(part, block, n);
    }
}

void histo_selection_part_end(histo_selection_part *part)
{
    histo_selection *s = part->selection;
    __atomic_fetch_add(&s->seen, part->seen, __ATOMIC_RELAXED);
    if (s->method == HISTO_USE_BRACKETS) histo_brackets_end_part(part);
    if (!s->store.keys) histo_values_end_part(part);
}

/* ---- After a pass ---- */

static int compare_ranks(const void *a, const void *b)
{
    const uint64_t x = ((const histo_order_statistic *)a)->rank, y = ((const histo_order_statistic *)b)->rank;
    return (x > y) - (x < y);
}

static int index_of_rank(const histo_selection *s, uint64_t rank)
{
    const histo_order_statistic wanted = {.rank = rank};
    const histo_order_statistic *statistic =
        bsearch(&wanted, s->statistics, (size_t)s->statistics_count, sizeof wanted, compare_ranks);
    return (int)(statistic - s->statistics);
}

/* The ranks of the two order statistics around a quantile; *share is its position between them. */
static void ranks_of(const histo_selection *s, double q, uint64_t *below, uint64_t *above, double *share)
{
    const uint64_t last = s->samples - 1;
    const histo_fractional_rank place = histo_quantile_place(s->rule, (double)s->samples, q);
    const uint64_t first = place.below < (double)last ? (uint64_t)place.below : last;
    *below = s->beyond[0] + first;
    *above = *below + (place.share > 0 && first < last);
    *share = place.share;
}

/* List the ranks of all quantiles, each once, in order. */
static void find_ranks(histo_selection *s)
{
    int count = 0;
    double share;
    for (int i = 0; i < s->n; i++, count += 2)
        ranks_of(s, s->quantiles[i].q, &s->statistics[count].rank, &s->statistics[count + 1].rank, &share);
    qsort(s->statistics, (size_t)count, sizeof *s->statistics, compare_ranks);
    s->statistics_count = 0;
    for (int i = 0; i < count; i++)
        if (i == 0 || s->statistics[i].rank != s->statistics[i - 1].rank)
            s->statistics[s->statistics_count++] = s->statistics[i];
    for (int i = 0; i < s->n; i++) {
        histo_selected_quantile *q = &s->quantiles[i];
        uint64_t below, above;
        ranks_of(s, q->q, &below, &above, &q->share);
        q->below = index_of_rank(s, below);
        q->above = index_of_rank(s, above);
    }
}

bool histo_selection_rank(histo_selection *s, uint64_t samples)
{
    s->is_ranked = true;
    s->samples = samples - s->beyond[0] - s->beyond[1];
    if (s->samples > 0) find_ranks(s);
    return s->samples > 0;
}

/* The quantiles are known, since all keys have been kept. */
static bool end_keeping(histo_selection *s)
{
    const histo_key_store *store = &s->store;
    s->beyond[0] = s->beyond[1] = 0;
    histo_keys_count_beyond(s->limits, store->keys, (int64_t)store->count, s->beyond);
    if (histo_selection_rank(s, store->count))
        histo_select_in_place(s->statistics, s->statistics_count, store->keys, store->count, s->limits.least,
                              s->limits.most, s->beyond[0], s->radix.tables);
    return true;
}

bool histo_selection_end_pass(histo_selection *s)
{
    const bool is_done = s->method == HISTO_KEEP_KEYS      ? end_keeping(s)
                         : s->method == HISTO_USE_BRACKETS ? histo_brackets_end_pass(s)
                                                           : histo_radix_end_pass(s);
    s->seen = 0;
    return is_done;
}

double histo_selection_value(const histo_selection *s, int i)
{
    if (s->samples == 0) return NAN;
    const histo_selected_quantile *q = &s->quantiles[i];
    const uint64_t below = s->statistics[q->below].key, above = s->statistics[q->above].key;
    const double a = histo_key_value(s->dtype, below);
    if (below == above) return a;
    const double b = histo_key_value(s->dtype, above);
    /* Keys of integers differ by exactly as much as the integers. */
    const double distance = histo_dtype_is_integer(s->dtype) ? (double)(above - below) : b - a;
    if (!isfinite(distance)) return a * (1 - q->share) + b * q->share;
    return histo_quantile_between(a, b, distance, q->share);
}
