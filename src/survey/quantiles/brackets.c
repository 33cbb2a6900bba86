/* The sorted drawn keys show roughly where each order statistic is: the bracket around it extends a few standard
 * deviations of that estimate to both sides. The pass counts the keys below each bracket and collects those inside. If
 * the counts show that a statistic is not in a bracket, because the first samples were unlike the others, the next pass
 * makes brackets from keys that this pass has drawn from everywhere. As more keys are drawn, brackets are narrowed
 * between two pieces. If more keys fall into the brackets than there is room for, the next pass makes narrower brackets
 * from those that were collected. */
#include "survey/quantiles/brackets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "survey/quantiles/draw.h"
#include "survey/quantiles/radix.h"
#include "view/dtype.h"

enum {
    MOST_PASSES = 3,
    LEAST_COMMON = 32, /* minimum number of occurrences, among the keys that brackets are made from */
    LEAST_INTERVAL = 128,
    MORE_DRAWN = 3 /* brackets are made anew when this many times as many keys have been drawn */
};

/* The bits of a key as a signed integer of its width, the form that brackets use. */
static int64_t ordered(const histo_selection *s, uint64_t key)
{
    const uint64_t flipped = key ^ UINT64_C(1) << (s->bits - 1);
    return s->bits == 32 ? (int32_t)(uint32_t)flipped : (int64_t)flipped;
}

static uint64_t key_of_ordered(const histo_selection *s, int64_t at)
{
    return ((uint64_t)at & UINT64_MAX >> (64 - s->bits)) ^ UINT64_C(1) << (s->bits - 1);
}

/* ---- Making brackets ---- */

/* A bracket as positions in sorted keys, which may be out of their bounds. */
typedef struct guess {
    double low, high;
    bool from_first, to_last; /* the bracket begins at `first` or ends at `last`, because the position is out of
                               * bounds */
    int64_t first, last;      /* ordered */
} guess;

static int compare_guesses(const void *a, const void *b)
{
    const double x = ((const guess *)a)->low, y = ((const guess *)b)->low;
    return (x > y) - (x < y);
}

/* Extend from the fraction `from` of the sorted keys to the fraction `to`, plus three standard deviations on each side,
 * plus four positions, since with few keys the deviation is not a good measure. `begin` is the position of the first
 * key. */
static void reach(guess *g, double begin, double keys, double from, double to)
{
    g->low = begin + keys * from - 3 * sqrt(keys * from * (1 - from)) - 4;
    g->high = begin + keys * to + 3 * sqrt(keys * to * (1 - to)) + 4;
}

/* Clip it to these positions, the ends of the keys. */
static void cut_off(guess *g, double begin, double end)
{
    g->from_first = g->low < begin;
    g->to_last = g->high > end - 1;
    if (g->from_first) g->low = begin;
    if (g->to_last) g->high = end - 1;
}

static void append_bracket(histo_brackets *b, int64_t low, int64_t high)
{
    b->low[b->count] = low;
    b->high[b->count++] = high;
}

/* Whether a key is so common that it should not be collected. */
static bool is_common(const histo_selection *s, int64_t at, const uint64_t *keys, int64_t n)
{
    const uint64_t key = key_of_ordered(s, at);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += keys[i] == key;
    return count >= LEAST_COMMON;
}

/* Append the bracket low … high. Ends that are common keys get brackets of their own, whose keys need not be collected,
 * as long as there are no more than max_count brackets. */
static void append_brackets(histo_selection *s, int64_t low, int64_t high, int max_count, const uint64_t *keys,
                            int64_t n)
{
    histo_brackets *b = &s->bracketing.brackets;
    const bool may_split = low < high && b->count + 3 <= max_count;
    const bool first = may_split && is_common(s, low, keys, n), last = may_split && is_common(s, high, keys, n);
    if (first) append_bracket(b, low, low);
    if (low + first <= high - last) append_bracket(b, low + first, high - last);
    if (last) append_bracket(b, high, high);
}

/* Merge overlapping guesses; returns their number. */
static int merge_guesses(guess *guesses, int count)
{
    int merged = 0;
    qsort(guesses, (size_t)count, sizeof *guesses, compare_guesses);
    for (int i = 0; i < count; i++) {
        guess *last = &guesses[merged - (merged > 0)];
        if (merged > 0 && guesses[i].low <= last->high + 1) {
            if (guesses[i].high < last->high) continue;
            last->high = guesses[i].high;
            last->to_last = guesses[i].to_last;
            last->last = guesses[i].last;
        } else {
            guesses[merged++] = guesses[i];
        }
    }
    return merged;
}

/* Begin a pass with brackets from guesses about keys[n]. */
static void start_pass(histo_selection *s, guess *guesses, const uint64_t *keys, int64_t n)
{
    const int count = merge_guesses(guesses, s->n);
    histo_order_statistic ends[2 * HISTO_MAX_BRACKETS];
    for (int i = 0; i < count; i++) {
        ends[2 * i].rank = (uint64_t)fmax(floor(guesses[i].low), 0);
        ends[2 * i + 1].rank = (uint64_t)fmax(ceil(guesses[i].high), 0);
    }
    histo_select_in_place(ends, 2 * count, keys, (uint64_t)n, s->limits.least, s->limits.most, 0, s->radix.tables);
    histo_brackets *b = &s->bracketing.brackets;
    b->count = 0;
    b->least = ordered(s, s->limits.least);
    b->most = ordered(s, s->limits.most);
    for (int i = 0; i < count; i++) {
        const guess *g = &guesses[i];
        const bool meets = b->count > 0 && !g->from_first && ordered(s, ends[2 * i].key) <= b->high[b->count - 1];
        const int64_t high = g->to_last ? g->last : ordered(s, ends[2 * i + 1].key);
        const int64_t low = meets ? b->high[b->count - 1] + 1 : g->from_first ? g->first : ordered(s, ends[2 * i].key);
        if (low <= high) append_brackets(s, low, high, HISTO_MAX_BRACKETS - (count - i - 1), keys, n);
    }
    s->method = HISTO_USE_BRACKETS;
    s->bracketing.made_by = s->bracketing.drawn.count;
    s->bracketing.passes++;
    s->bracketing.counts = (histo_bracketed){0};
    s->store.count = 0;
}

/* Make brackets from the drawn keys: by the statistics' ranks if they are known, else by the quantiles. */
static void start_by_drawn_keys(histo_selection *s)
{
    guess guesses[HISTO_MAX_BRACKETS];
    const double n = (double)s->samples, drawn = (double)s->bracketing.drawn.count;
    for (int i = 0; i < s->n; i++) {
        const histo_selected_quantile *q = &s->quantiles[i];
        const double below = s->is_ranked ? (double)(s->statistics[q->below].rank - s->beyond[0]) / n : q->q;
        const double above = s->is_ranked ? (double)(s->statistics[q->above].rank - s->beyond[0]) / n : q->q;
        guesses[i] = (guess){.first = ordered(s, s->limits.least), .last = ordered(s, s->limits.most)};
        reach(&guesses[i], 0, drawn, below, above);
        cut_off(&guesses[i], 0, drawn);
    }
    start_pass(s, guesses, s->bracketing.drawn.keys, s->bracketing.drawn.count);
}

/* The bracket that contains the key of this rank; -1: none. */
static int bracket_of(const histo_selection *s, uint64_t rank)
{
    const histo_bracketed *counts = &s->bracketing.counts;
    for (int b = 0; b < s->bracketing.brackets.count; b++)
        if (rank >= counts->below[b] && rank - counts->below[b] < counts->inside[b]) return b;
    return -1;
}

/* Make brackets inside those of the last pass, from the keys that it has collected: as many as there is room for. */
static void start_by_collected_keys(histo_selection *s)
{
    const histo_bracketing *by = &s->bracketing;
    guess guesses[HISTO_MAX_BRACKETS];
    double begin[HISTO_MAX_BRACKETS + 1] = {0}; /* positions of the keys of each bracket */
    for (int b = 0; b < by->brackets.count; b++) {
        const uint64_t high = key_of_ordered(s, by->brackets.high[b]);
        for (uint64_t i = 0; i < s->store.room; i++)
            begin[b + 1] += s->store.keys[i] <= high;
    }
    for (int i = 0; i < s->n; i++) {
        const histo_selected_quantile *q = &s->quantiles[i];
        const uint64_t below = s->statistics[q->below].rank, above = s->statistics[q->above].rank;
        const int b = bracket_of(s, below), c = bracket_of(s, above);
        guess of_above;
        reach(&guesses[i], begin[b], begin[b + 1] - begin[b],
              (double)(below - by->counts.below[b]) / (double)by->counts.inside[b], 0.5);
        reach(&of_above, begin[c], begin[c + 1] - begin[c], 0.5,
              (double)(above - by->counts.below[c]) / (double)by->counts.inside[c]);
        guesses[i].high = of_above.high;
        guesses[i].first = by->brackets.low[b];
        guesses[i].last = by->brackets.high[c];
        cut_off(&guesses[i], begin[b], begin[c + 1]);
    }
    start_pass(s, guesses, s->store.keys, (int64_t)s->store.room);
}

/* ---- A pass ---- */

/* The keys of a bracket with a single value are known without collecting them. */
static bool is_collected(const histo_selection *s, int b)
{
    return s->bracketing.brackets.low[b] < s->bracketing.brackets.high[b];
}

/* Count the first `count` keys in the store, and keep those in brackets. */
static void add_kept_keys(histo_selection *s, uint64_t count)
{
    const histo_brackets *brackets = &s->bracketing.brackets;
    histo_bracketed *counts = &s->bracketing.counts;
    for (uint64_t i = 0; i < count; i++) {
        const int64_t at = ordered(s, s->store.keys[i]);
        bool is_wanted = false;
        for (int b = 0; b < brackets->count; b++) {
            const bool inside = at >= brackets->low[b] && at <= brackets->high[b];
            counts->below[b] += at < brackets->low[b];
            counts->inside[b] += inside;
            is_wanted |= inside && is_collected(s, b);
        }
        counts->nan_below += at < brackets->least;
        counts->nan_above += at > brackets->most;
        s->store.keys[s->store.count] = s->store.keys[i];
        s->store.count += is_wanted;
    }
}

void histo_brackets_begin(histo_selection *s, const histo_source *source)
{
    const uint64_t keys = s->store.count;
    const bool are_drawn = keys >= HISTO_LEAST_DRAWN; /* those in the store are enough */
    if (are_drawn) {
        s->bracketing.drawn.interval = 1;
        histo_add_drawn_keys(s, s->store.keys, (int64_t)keys);
    } else {
        const int64_t n = source->samples, room = s->bracketing.drawn.room;
        int64_t wanted = n / LEAST_INTERVAL < room ? n / LEAST_INTERVAL : room;
        wanted = wanted > HISTO_LEAST_DRAWN ? wanted : HISTO_LEAST_DRAWN;
        if (wanted > n / 2 + 1) wanted = n / 2 + 1;
        histo_draw_first_keys(s, source, wanted);
    }
    start_by_drawn_keys(s);
    add_kept_keys(s, keys);
    if (are_drawn) histo_draw_more_keys(s, source);
}

bool histo_brackets_begin_piece(histo_selection *s, const histo_source *source)
{
    if (s->bracketing.passes != 1) return false;
    histo_draw_more_keys(s, source);
    return s->bracketing.drawn.count >= MORE_DRAWN * s->bracketing.made_by;
}

/* Map each bracket b to before[of[b]], which must contain it: another one for each, and with a single value only if b
 * is the same. */
static bool find_outer(const histo_brackets *brackets, const histo_brackets *before, int *of)
{
    bool all = true;
    for (int b = 0, o = 0; b < brackets->count && all; b++, o++) {
        while (o < before->count && before->high[o] < brackets->low[b])
            o++;
        of[b] = o;
        all = o < before->count && before->low[o] <= brackets->low[b] && brackets->high[b] <= before->high[o];
    }
    return all;
}

/* Compute what the brackets would have counted from what the wider ones did, and from all keys in these. */
static void recount(histo_selection *s, const histo_brackets *before, const histo_bracketed *counts, uint64_t keys,
                    const int *of)
{
    const histo_brackets *brackets = &s->bracketing.brackets;
    histo_bracketed *to = &s->bracketing.counts;
    bool is_same[HISTO_MAX_BRACKETS]; /* a single value, whose keys are not in the store */
    *to = (histo_bracketed){.nan_below = counts->nan_below, .nan_above = counts->nan_above};
    for (int b = 0; b < brackets->count; b++) {
        is_same[b] = before->low[of[b]] == before->high[of[b]];
        to->below[b] = counts->below[of[b]];
        if (is_same[b]) to->inside[b] = counts->inside[of[b]];
    }
    s->store.count = 0;
    for (uint64_t i = 0; i < keys; i++) {
        const int64_t at = ordered(s, s->store.keys[i]);
        bool is_wanted = false;
        for (int b = 0; b < brackets->count; b++) {
            if (is_same[b]) continue;
            const bool inside = at >= brackets->low[b] && at <= brackets->high[b];
            to->below[b] += at >= before->low[of[b]] && at < brackets->low[b];
            to->inside[b] += inside;
            is_wanted |= inside && is_collected(s, b);
        }
        s->store.keys[s->store.count] = s->store.keys[i];
        s->store.count += is_wanted;
    }
}

void histo_brackets_narrow(histo_selection *s)
{
    histo_bracketing *by = &s->bracketing;
    const histo_brackets before = by->brackets;
    const histo_bracketed counts = by->counts;
    const uint64_t keys = s->store.count;
    int of[HISTO_MAX_BRACKETS];
    if (by->passes != 1 || by->drawn.count < MORE_DRAWN * by->made_by || keys > s->store.room) return;
    start_by_drawn_keys(s);
    by->passes = 1;
    s->store.count = keys;
    if (find_outer(&by->brackets, &before, of)) {
        recount(s, &before, &counts, keys, of);
    } else { /* later samples are unlike the first ones */
        by->brackets = before;
        by->counts = counts;
    }
}

/* Move collected keys to the store that all threads share. */
static void flush(histo_selection_part *part)
{
    histo_selection *s = part->selection;
    histo_key_store *store = &s->store;
    uint64_t keys[HISTO_KEYS_AT_ONCE];
    const size_t size = histo_dtype_size(s->dtype);
    const uint64_t first = __atomic_fetch_add(&store->count, (uint64_t)part->collected_count, __ATOMIC_RELAXED);
    for (int begin = 0; begin < part->collected_count; begin += HISTO_KEYS_AT_ONCE) {
        const int left = part->collected_count - begin, length = left < HISTO_KEYS_AT_ONCE ? left : HISTO_KEYS_AT_ONCE;
        const uint64_t at = first + (uint64_t)begin, room = at < store->room ? store->room - at : 0;
        histo_keys_make(s->dtype, part->collected + (size_t)begin * size, length, keys);
        memcpy(store->keys + (room ? at : 0), keys, (room < (uint64_t)length ? room : (uint64_t)length) * sizeof *keys);
    }
    part->collected_count = 0;
}

void histo_brackets_add(histo_selection_part *part, const void *block, int64_t n)
{
    histo_selection *s = part->selection;
    const size_t size = histo_dtype_size(s->dtype);
    for (int64_t begin = 0; begin < n; begin += HISTO_BLOCK) {
        const int length = n - begin < HISTO_BLOCK ? (int)(n - begin) : HISTO_BLOCK;
        part->collected_count += histo_cpu_kernels_usable()->collect(
            s->dtype, (const char *)block + (size_t)begin * size, length, &s->bracketing.brackets, &part->bracketed,
            part->collected + (size_t)part->collected_count * size);
        if (part->collected_count > HISTO_SELECTION_COLLECTED - HISTO_BLOCK) flush(part);
    }
}

void histo_brackets_end_part(histo_selection_part *part)
{
    histo_bracketed *counts = &part->selection->bracketing.counts;
    if (part->collected_count) flush(part);
    for (int b = 0; b < part->selection->bracketing.brackets.count; b++) {
        __atomic_fetch_add(&counts->below[b], part->bracketed.below[b], __ATOMIC_RELAXED);
        __atomic_fetch_add(&counts->inside[b], part->bracketed.inside[b], __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&counts->nan_below, part->bracketed.nan_below, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->nan_above, part->bracketed.nan_above, __ATOMIC_RELAXED);
}

/* Select in all brackets at once: false if some keys have not been collected, or too many are close to a statistic. */
static bool select_at_once(histo_selection *s)
{
    const histo_brackets *brackets = &s->bracketing.brackets;
    histo_key_range ranges[HISTO_MAX_BRACKETS];
    for (int b = 0; b < brackets->count; b++) {
        if (!is_collected(s, b)) return false;
        ranges[b] = (histo_key_range){key_of_ordered(s, brackets->low[b]), key_of_ordered(s, brackets->high[b]),
                                      s->bracketing.counts.below[b]};
    }
    return histo_select_in_ranges(s->statistics, s->statistics_count, s->store.keys, s->store.count, ranges,
                                  brackets->count, s->radix.tables);
}

/* All statistics are in brackets whose keys have been collected. */
static void select_collected(histo_selection *s)
{
    const histo_brackets *brackets = &s->bracketing.brackets;
    if (select_at_once(s)) return;
    for (int begin = 0, end; begin < s->statistics_count; begin = end) {
        const int b = bracket_of(s, s->statistics[begin].rank);
        for (end = begin; end < s->statistics_count && bracket_of(s, s->statistics[end].rank) == b; end++)
            ;
        const uint64_t low = key_of_ordered(s, brackets->low[b]), high = key_of_ordered(s, brackets->high[b]);
        if (is_collected(s, b))
            histo_select_in_place(s->statistics + begin, end - begin, s->store.keys, s->store.count, low, high,
                                  s->bracketing.counts.below[b], s->radix.tables);
        for (int i = begin; i < end && !is_collected(s, b); i++)
            s->statistics[i].key = low;
    }
}

bool histo_brackets_end_pass(histo_selection *s)
{
    if (!s->is_ranked) {
        s->beyond[0] = s->bracketing.counts.nan_below;
        s->beyond[1] = s->bracketing.counts.nan_above;
        if (!histo_selection_rank(s, s->seen)) return true;
    }
    bool is_missed = false;
    for (int i = 0; i < s->statistics_count; i++)
        is_missed |= bracket_of(s, s->statistics[i].rank) < 0;
    if (!is_missed && s->store.count <= s->store.room) {
        select_collected(s);
        return true;
    }
    if (s->bracketing.passes == MOST_PASSES)
        histo_radix_start(s);
    else if (is_missed)
        start_by_drawn_keys(s);
    else
        start_by_collected_keys(s);
    return false;
}
