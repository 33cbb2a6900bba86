/* Selection in passes. Samples become unsigned keys of the same order and width.
 *
 * Those of 8 and 16 bits are counted by value, in one pass. Of wider ones, a few spread over the data tell about where
 * each order statistic is: in a bracket between two keys, which is a few standard deviations of that guess wide (Floyd
 * and Rivest 1975). The pass counts the keys below each bracket and collects those inside, where the statistic is then
 * selected; the counts show whether it is there. So one pass is enough for nearly all data. If a bracket misses its
 * statistic, because the first samples are unlike the others, the next pass has brackets by keys that this pass has
 * taken from everywhere; if there are too many keys in the brackets, these keys are what narrows them.
 *
 * What still is not found is found by radix selection, whatever the samples are: a pass counts the highest 16 bits of
 * all keys. Then every order statistic is known to lie among the keys that share the bits found so far, whose number is
 * known. Where they fit into memory, the next pass collects them; where they do not, it counts the next 16 bits. So are
 * samples in a GPU's memory, which counts them by fills; nothing is collected then. */
#include "survey/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis/quantile_rule.h"
#include "base/error.h"
#include "base/memory.h"
#include "cpu/kernels/kernels.h"
#include "survey/device.h"
#include "view/dtype.h"

enum {
    DIGIT_BITS = 16,
    DIGITS = 1 << DIGIT_BITS,
    ROOM = 1 << 21,   /* keys collected in memory, if it may take so much */
    MOST_TABLES = 64, /* sets counted in a pass; others wait for the next */
    PIECE = 1024,     /* keys made at once */

    SPREAD = 1 << 17, /* most keys taken from everywhere */
    LEAST_SPREAD = 1 << 11,
    SPARSE = 16,        /* at least so many samples for each of them */
    FEW = 1 << 13,      /* samples that are all kept; … */
    MOST_KEPT = SPREAD, /* … of several pieces, so many: the least room */
    MOST_GUESSES = 3,   /* passes with brackets */
    COMMON = 32,        /* of the keys by which brackets are made */
};

/* An order statistic. */
typedef struct statistic {
    uint64_t rank; /* the number of smaller keys, in its set */
    uint64_t key;  /* once known */
} statistic;

/* What a pass does with the samples. */
typedef enum way {
    KEEP,    /* all keys are kept: there are few */
    COLLECT, /* those in brackets are collected */
    COUNT,   /* they are counted by their bits */
} way;

/* The keys with key >> shift == prefix, and the statistics that are among them. */
typedef struct key_set {
    uint64_t prefix;
    int shift;
    int first, end;   /* in statistics */
    uint64_t size;    /* keys in it; in the first pass unknown */
    uint64_t *counts; /* of the next digit, if this pass counts them, … */
    uint64_t *keys;   /* … or where this pass collects the keys; both NULL: it waits for the next pass */
    uint64_t found;   /* keys so far */
} key_set;

/* A quantile lies between two order statistics, or is one. */
typedef struct quantile {
    double q, share;
    int below, above; /* in statistics */
} quantile;

struct histo_order {
    histo_dtype dtype;
    int bits; /* of a key */
    histo_quantile_rule rule;
    int n;
    quantile *quantiles; /* [n] */
    int statistics_count;
    statistic *statistics; /* [2 * n], by rank in all samples */
    uint64_t samples;      /* without NaN; known after the first pass */
    uint64_t least, most;  /* keys of samples that are not left out */
    uint64_t nan[2];       /* those left out, below and above */
    bool finite;           /* infinities are among them */
    bool on_device;        /* a GPU has some of the samples */
    way way;
    bool ranked;   /* samples, nan and the ranks are known */
    bool in_parts; /* no guesses, which would be those of one part */

    uint64_t kept; /* keys that belong into `keys`: of COLLECT perhaps more than fit */

    int guesses; /* passes with brackets */
    histo_brackets brackets;
    histo_bracketed found;
    uint64_t all;     /* samples of the pass */
    uint64_t *spread; /* [spread_room]: keys from everywhere, without NaN; NULL for 8- and 16-bit samples */
    int64_t spread_count, spread_room;
    int64_t rarity; /* samples for each of them */

    bool first;           /* the highest bits are being counted */
    int open;             /* sets to be searched, … */
    key_set *sets, *next; /* … [2 * n + 1], in order, and those after this pass */
    int tables_count;
    uint64_t *tables; /* [tables_count][DIGITS] */
    uint64_t *keys;   /* [room]; NULL for 8- and 16-bit samples */
    uint64_t room;
    int *set_of; /* [DIGITS + 1]: the first open set of keys with these highest bits or higher ones */
};

static int digit_bits(const histo_order *o)
{
    return o->bits < DIGIT_BITS ? o->bits : DIGIT_BITS;
}

/* How much is kept in about so many bytes; 0: as much as is useful. */
static void fit_into(histo_order *o, size_t memory)
{
    const size_t table = DIGITS * sizeof *o->tables;
    const int useful = o->n < MOST_TABLES / 2 ? 2 * o->n : MOST_TABLES;
    o->tables_count = o->bits <= DIGIT_BITS || useful < 1 ? 1 : useful;
    o->room = ROOM;
    if (memory) {
        while (o->room > MOST_KEPT && o->room * sizeof *o->keys > memory / 2)
            o->room /= 2;
        while (o->tables_count > 1 && (size_t)o->tables_count * table > memory / 4)
            o->tables_count--;
    }
    o->spread_room = (int64_t)(o->room / (ROOM / SPREAD));
}

histo_status histo_order_create(histo_order **order, histo_dtype dtype, int n, bool in_parts, size_t memory)
{
    const size_t places = 2 * (size_t)n + 1;
    histo_order *o = calloc(1, sizeof *o);
    if (!o) return histo_fail_memory(sizeof *o, "quantiles");
    o->dtype = dtype;
    o->bits = 8 * (int)histo_dtype_size(dtype);
    o->n = n;
    o->in_parts = in_parts;
    fit_into(o, memory);
    const bool one_pass = o->bits <= DIGIT_BITS;
    const size_t tables = (size_t)o->tables_count * DIGITS * sizeof *o->tables;
    const size_t keys = o->room * sizeof *o->keys, spread = (size_t)o->spread_room * sizeof *o->spread;
    /* Everything now, so that no pass can run out of memory. */
    o->quantiles = histo_malloc(places * sizeof *o->quantiles);
    o->statistics = histo_malloc(places * sizeof *o->statistics);
    o->sets = histo_malloc(places * sizeof *o->sets);
    o->next = histo_malloc(places * sizeof *o->next);
    o->tables = histo_malloc(tables);
    o->set_of = histo_malloc((DIGITS + 1) * sizeof *o->set_of);
    if (!one_pass) o->keys = histo_malloc(keys);
    if (!one_pass) o->spread = histo_malloc(spread);
    if (!o->quantiles || !o->statistics || !o->sets || !o->next || !o->tables || !o->set_of ||
        (!one_pass && (!o->keys || !o->spread))) {
        histo_order_destroy(o);
        return histo_fail_memory(tables + keys + spread + 4 * places * sizeof *o->sets, "quantiles");
    }
    *order = o;
    return HISTO_OK;
}

void histo_order_destroy(histo_order *o)
{
    if (!o) return;
    free(o->quantiles);
    free(o->statistics);
    free(o->sets);
    free(o->next);
    free(o->tables);
    free(o->set_of);
    free(o->keys);
    free(o->spread);
    free(o);
}

/* ---- Keys ---- */

/* The bits to flip in a sample to get its key: none for unsigned integers, the sign bit for signed integers and floats,
 * all bits for negative floats. Branch-free, so that loops vectorise. */
typedef struct flip {
    int sign_shift;
    uint64_t sign, rest;
} flip;

static flip flip_of(histo_dtype dtype)
{
    int sign_shift = 8 * (int)histo_dtype_size(dtype) - 1;
    uint64_t sign = UINT64_C(1) << sign_shift;
    switch (dtype) {
    case HISTO_U8:
    case HISTO_U16:
    case HISTO_U32:
    case HISTO_U64:
        return (flip){sign_shift, 0, 0};
    case HISTO_I8:
    case HISTO_I16:
    case HISTO_I32:
    case HISTO_I64:
        return (flip){sign_shift, sign, 0};
    default:
        return (flip){sign_shift, sign, sign - 1};
    }
}

static uint64_t key_of(uint64_t bits, flip f)
{
    return bits ^ f.sign ^ (f.rest & (0 - (bits >> f.sign_shift)));
}

static double value_of(histo_dtype dtype, uint64_t key)
{
    flip f = flip_of(dtype);
    uint64_t bits = key ^ f.sign ^ (f.rest & ((key >> f.sign_shift) - 1));
    uint8_t one = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    switch (histo_dtype_size(dtype)) {
    case 1:
        return histo_sample_value(&one, dtype);
    case 2:
        return histo_sample_value(&two, dtype);
    case 4:
        return histo_sample_value(&four, dtype);
    default:
        return histo_sample_value(&bits, dtype);
    }
}

static void make_keys(histo_dtype dtype, const void *block, int64_t n, uint64_t *keys)
{
    flip f = flip_of(dtype);
    switch (histo_dtype_size(dtype)) {
#define CASE(bits)                                                                                                     \
    case bits / 8:                                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            uint##bits##_t pattern;                                                                                    \
            memcpy(&pattern, (const char *)block + i * (bits / 8), sizeof pattern);                                    \
            keys[i] = key_of(pattern, f);                                                                              \
        }                                                                                                              \
        break;
        CASE(8)
        CASE(16)
        CASE(32)
        CASE(64)
#undef CASE
    default:
        break;
    }
}

/* The bits of infinity; 0 for integers. */
static uint64_t infinity_of(histo_dtype dtype)
{
    switch (dtype) {
    case HISTO_F16:
        return 0x7c00;
    case HISTO_BF16:
        return 0x7f80;
    case HISTO_F32:
        return 0x7f800000;
    case HISTO_F64:
        return UINT64_C(0x7ff0000000000000);
    default:
        return 0;
    }
}

static void count_nan(histo_order *o, const uint64_t *keys, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        o->nan[0] += keys[i] < o->least;
        o->nan[1] += keys[i] > o->most;
    }
}

/* ---- Selection ---- */

static void swap(uint64_t *a, uint64_t *b)
{
    const uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Partition keys[n] by one of them, at random, so that no order of keys is slow: *below are smaller, and *upto smaller
 * or equal. */
static void partition(uint64_t *keys, uint64_t n, uint64_t *random, uint64_t *below, uint64_t *upto)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t pivot = keys[(*random >> 33) % n];
    uint64_t low = 0, high = n;
    for (uint64_t i = 0; i < high;) {
        if (keys[i] < pivot)
            swap(&keys[i++], &keys[low++]);
        else if (keys[i] > pivot)
            swap(&keys[i], &keys[--high]);
        else
            i++;
    }
    *below = low;
    *upto = high;
}

/* Quickselect of several ranks: statistics[first, end) are among keys[n], whose first one has rank `before`. */
static void select_keys(statistic *statistics, int first, int end, uint64_t *keys, uint64_t n, uint64_t before,
                        uint64_t random)
{
    while (first < end && n > 0) {
        uint64_t below, upto;
        partition(keys, n, &random, &below, &upto);
        int middle = first, after;
        while (middle < end && statistics[middle].rank - before < below)
            middle++;
        for (after = middle; after < end && statistics[after].rank - before < upto; after++)
            statistics[after].key = keys[below];
        if (below < n - upto) { /* recursion into the smaller part is never deep */
            select_keys(statistics, first, middle, keys, below, before, random);
            first = after;
            keys += upto;
            n -= upto;
            before += upto;
        } else {
            select_keys(statistics, after, end, keys + upto, n - upto, before + upto, random);
            end = middle;
            n = below;
        }
    }
}

/* The same of many keys, in the order of all; those looked for are from low to high, and `before` keys are below low.
 * The keys are divided into buckets, so that quickselect is left with few. */
static void select_among(const histo_order *o, statistic *statistics, int first, int end, const uint64_t *keys,
                         uint64_t n, uint64_t low, uint64_t high, uint64_t before)
{
    enum { BUCKETS = 1 << 12 };
    uint64_t *const some = o->tables; /* nothing is counted there now */
    uint32_t counts[BUCKETS] = {0};
    int shift = 0;
    while ((high - low) >> shift >= BUCKETS)
        shift++;
    for (uint64_t i = 0; i < n; i++)
        if (keys[i] - low <= high - low) counts[(keys[i] - low) >> shift]++;
    uint64_t bucket = 0;
    for (int s = first, next; s < end; s = next) {
        while (bucket < BUCKETS - 1 && statistics[s].rank - before >= counts[bucket])
            before += counts[bucket++];
        for (next = s + 1; next < end && statistics[next].rank - before < counts[bucket];)
            next++;
        const uint64_t from = low + (bucket << shift), rest = high - from, width = (UINT64_C(1) << shift) - 1,
                       to = from + (rest < width ? rest : width);
        for (int of = s; of < next; of++)
            statistics[of].key = from; /* if it is the only one */
        if (from < to && counts[bucket] > DIGITS) {
            select_among(o, statistics, s, next, keys, n, from, to, before);
        } else if (from < to) {
            uint64_t found = 0;
            for (uint64_t i = 0; i < n && found < counts[bucket]; i++) {
                some[found] = keys[i];
                found += keys[i] >= from && keys[i] <= to;
            }
            select_keys(statistics, s, next, some, found, before, 1);
        }
    }
}

static void find_limits(histo_order *o, bool finite)
{
    const flip f = flip_of(o->dtype);
    const uint64_t infinity = infinity_of(o->dtype);
    o->least = 0;
    o->most = UINT64_MAX >> (64 - o->bits);
    if (histo_dtype_is_integer(o->dtype)) return;
    o->least = key_of(infinity | f.sign, f) + finite;
    o->most = key_of(infinity, f) - finite;
}

/* Count the highest bits first. */
static void start_counting(histo_order *o)
{
    o->way = COUNT;
    o->nan[0] = o->nan[1] = 0;
    o->first = true;
    o->open = 1;
    o->sets[0] = (key_set){.shift = o->bits, .counts = o->tables};
    memset(o->tables, 0, ((size_t)1 << digit_bits(o)) * sizeof *o->tables);
}

void histo_order_start(histo_order *o, histo_quantile_rule rule, const double *q, bool finite)
{
    find_limits(o, finite);
    o->finite = finite;
    o->on_device = false;
    o->rule = rule;
    for (int i = 0; i < o->n; i++)
        o->quantiles[i] = (quantile){.q = q[i]};
    o->ranked = false;
    o->guesses = 0;
    o->kept = o->all = 0;
    o->spread_count = 0;
    o->way = KEEP;
    if (!o->keys) start_counting(o);
}

/* The bits of a key as a signed integer of its width, as brackets have them. */
static int64_t ordered(const histo_order *o, uint64_t key)
{
    const uint64_t flipped = key ^ UINT64_C(1) << (o->bits - 1);
    return o->bits == 32 ? (int32_t)(uint32_t)flipped : (int64_t)flipped;
}

static uint64_t key_of_ordered(const histo_order *o, int64_t at)
{
    return ((uint64_t)at & UINT64_MAX >> (64 - o->bits)) ^ UINT64_C(1) << (o->bits - 1);
}

/* ---- Keys from everywhere ---- */

static uint64_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* Append keys[n] without NaN. */
static void add_spread(histo_order *o, const uint64_t *keys, int64_t n)
{
    for (int64_t i = 0; i < n && o->spread_count < o->spread_room; i++)
        if (keys[i] >= o->least && keys[i] <= o->most) o->spread[o->spread_count++] = keys[i];
}

/* Take about `wanted` of a source's samples: one at random from each part, so that no period of the data shows; or a
 * few neighbours, where they are not easily found. */
static void spread_over(histo_order *o, const histo_source *source, int64_t wanted)
{
    enum { NEIGHBOURS = 8 };
    const histo_strided_iter *iter = &source->iter;
    const size_t size = histo_dtype_size(o->dtype);
    uint64_t random = 1, keys[PIECE];
    _Alignas(8) char some[PIECE * 8];
    if (iter->ndim == 1 && histo_dtype_is_plain(source->stored[0]) && !histo_source_is_filtered(source)) {
        const int64_t part = source->samples / wanted;
        for (int64_t done = 0, n; done < wanted; done += n) {
            n = wanted - done < PIECE ? wanted - done : PIECE;
            for (int64_t i = 0; i < n; i++) {
                const int64_t at = (done + i) * part + (int64_t)(next_random(&random) % (uint64_t)part);
                memcpy(some + (size_t)i * size, iter->base[0] + at * iter->strides[0][0], size);
            }
            make_keys(o->dtype, some, n, keys);
            add_spread(o, keys, n);
        }
        return;
    }
    const int64_t parts = wanted / NEIGHBOURS, part = source->samples / parts;
    for (int64_t i = 0; i < parts; i++) {
        const int64_t at = i * part + (int64_t)(next_random(&random) % (uint64_t)(part - NEIGHBOURS + 1));
        histo_samples from;
        histo_samples_start(&from, source, at, at + NEIGHBOURS);
        while (histo_samples_next(&from)) {
            make_keys(o->dtype, from.block, from.n, keys);
            add_spread(o, keys, from.n);
        }
    }
}

/* Keep every other one. */
static void thin(histo_order *o)
{
    o->spread_count /= 2;
    for (int64_t i = 0; i < o->spread_count; i++)
        o->spread[i] = o->spread[2 * i];
    o->rarity *= 2;
}

/* Add keys of another piece of the data. */
static void spread_further(histo_order *o, const histo_source *source)
{
    while (o->spread_count > 1 && o->spread_count + source->samples / o->rarity > o->spread_room)
        thin(o);
    const int64_t wanted = source->samples / o->rarity;
    if (wanted >= SPARSE) spread_over(o, source, wanted);
}

/* ---- Brackets ---- */

/* A bracket as positions in sorted keys, and how far it may reach. */
typedef struct guess {
    double low, high;
    bool from_first, to_last; /* it reaches so far */
    int64_t first, last;      /* ordered */
} guess;

static int compare_guesses(const void *a, const void *b)
{
    const double x = ((const guess *)a)->low, y = ((const guess *)b)->low;
    return (x > y) - (x < y);
}

/* From the place of one share of some sorted keys to that of another, and three standard deviations beyond; a few
 * places more for small numbers. `begin` is the position of the first of these keys. */
static void widen(guess *g, double begin, double keys, double from, double to)
{
    g->low = begin + keys * from - 3 * sqrt(keys * from * (1 - from)) - 4;
    g->high = begin + keys * to + 3 * sqrt(keys * to * (1 - to)) + 4;
}

/* Let it reach to the ends of keys at these positions. */
static void limit(guess *g, double begin, double end)
{
    g->from_first = g->low < begin;
    g->to_last = g->high > end - 1;
    if (g->from_first) g->low = begin;
    if (g->to_last) g->high = end - 1;
}

static void add_bracket(histo_brackets *b, int64_t low, int64_t high)
{
    b->low[b->count] = low;
    b->high[b->count++] = high;
}

/* Is a key so common that it should not be collected? */
static bool is_common(const histo_order *o, int64_t at, const uint64_t *keys, int64_t n)
{
    const uint64_t key = key_of_ordered(o, at);
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found += keys[i] == key;
    return found >= COMMON;
}

/* Add the bracket low … high; ends that are common get brackets of their own, if there may be so many. */
static void add_brackets(histo_order *o, int64_t low, int64_t high, int most, const uint64_t *keys, int64_t n)
{
    histo_brackets *b = &o->brackets;
    const bool split = low < high && b->count + 3 <= most;
    const bool first = split && is_common(o, low, keys, n), last = split && is_common(o, high, keys, n);
    if (first) add_bracket(b, low, low);
    if (low + first <= high - last) add_bracket(b, low + first, high - last);
    if (last) add_bracket(b, high, high);
}

/* Overlapping guesses become one bracket. */
static void make_brackets(histo_order *o, guess *guesses, int count, const uint64_t *keys, int64_t n)
{
    statistic marks[2 * HISTO_MAX_BRACKETS];
    int joined = 0;
    qsort(guesses, (size_t)count, sizeof *guesses, compare_guesses);
    for (int i = 0; i < count; i++) {
        guess *last = &guesses[joined - (joined > 0)];
        if (joined > 0 && guesses[i].low <= last->high + 1) {
            if (guesses[i].high < last->high) continue;
            last->high = guesses[i].high;
            last->to_last = guesses[i].to_last;
            last->last = guesses[i].last;
        } else {
            guesses[joined++] = guesses[i];
        }
    }
    for (int i = 0; i < joined; i++) {
        marks[2 * i].rank = (uint64_t)fmax(floor(guesses[i].low), 0);
        marks[2 * i + 1].rank = (uint64_t)fmax(ceil(guesses[i].high), 0);
    }
    select_among(o, marks, 0, 2 * joined, keys, (uint64_t)n, o->least, o->most, 0);
    histo_brackets *b = &o->brackets;
    b->count = 0;
    b->least = ordered(o, o->least);
    b->most = ordered(o, o->most);
    for (int i = 0; i < joined; i++) {
        const guess *g = &guesses[i];
        const bool met = b->count > 0 && !g->from_first && ordered(o, marks[2 * i].key) <= b->high[b->count - 1];
        const int64_t high = g->to_last ? g->last : ordered(o, marks[2 * i + 1].key);
        const int64_t low = met ? b->high[b->count - 1] + 1 : g->from_first ? g->first : ordered(o, marks[2 * i].key);
        if (low <= high) add_brackets(o, low, high, HISTO_MAX_BRACKETS - (joined - i - 1), keys, n);
    }
}

/* Begin a pass with brackets by keys from everywhere. Once ranks are known, they say where; before, the quantiles do.
 */
static void start_collecting(histo_order *o)
{
    guess guesses[HISTO_MAX_BRACKETS];
    const double n = (double)o->samples, among = (double)o->spread_count;
    for (int i = 0; i < o->n; i++) {
        const quantile *q = &o->quantiles[i];
        const double below = o->ranked ? (double)(o->statistics[q->below].rank - o->nan[0]) / n : q->q;
        const double above = o->ranked ? (double)(o->statistics[q->above].rank - o->nan[0]) / n : q->q;
        guesses[i] = (guess){.first = ordered(o, o->least), .last = ordered(o, o->most)};
        widen(&guesses[i], 0, among, below, above);
        limit(&guesses[i], 0, among);
    }
    make_brackets(o, guesses, o->n, o->spread, o->spread_count);
    o->way = COLLECT;
    o->guesses++;
    o->found = (histo_bracketed){0};
    o->kept = 0;
}

/* The bracket that the keys of a rank are in; -1: none. */
static int bracket_of(const histo_order *o, uint64_t rank)
{
    for (int b = 0; b < o->brackets.count; b++)
        if (rank >= o->found.below[b] && rank - o->found.below[b] < o->found.inside[b]) return b;
    return -1;
}

/* Begin a pass with brackets inside those of this one, by the keys that it has collected. */
static void narrow_brackets(histo_order *o)
{
    guess guesses[HISTO_MAX_BRACKETS];
    double begin[HISTO_MAX_BRACKETS + 1] = {0}; /* positions of the keys of each bracket */
    for (int b = 0; b < o->brackets.count; b++) {
        const uint64_t high = key_of_ordered(o, o->brackets.high[b]);
        for (uint64_t i = 0; i < o->room; i++)
            begin[b + 1] += o->keys[i] <= high;
    }
    for (int i = 0; i < o->n; i++) {
        const quantile *q = &o->quantiles[i];
        const uint64_t below = o->statistics[q->below].rank, above = o->statistics[q->above].rank;
        const int b = bracket_of(o, below), c = bracket_of(o, above);
        guess of_above;
        widen(&guesses[i], begin[b], begin[b + 1] - begin[b],
              (double)(below - o->found.below[b]) / (double)o->found.inside[b], 0.5);
        widen(&of_above, begin[c], begin[c + 1] - begin[c], 0.5,
              (double)(above - o->found.below[c]) / (double)o->found.inside[c]);
        guesses[i].high = of_above.high;
        guesses[i].first = o->brackets.low[b];
        guesses[i].last = o->brackets.high[c];
        limit(&guesses[i], begin[b], begin[c + 1]);
    }
    make_brackets(o, guesses, o->n, o->keys, (int64_t)o->room);
    o->guesses++;
    o->found = (histo_bracketed){0};
    o->kept = 0;
}

/* ---- A pass ---- */

/* All keys of a bracket that has one value are known without them. */
static bool is_collected(const histo_order *o, int b)
{
    return o->brackets.low[b] < o->brackets.high[b];
}

/* Keys that were all kept, now that there are brackets. */
static void collect_kept(histo_order *o, uint64_t kept)
{
    for (uint64_t i = 0; i < kept; i++) {
        const int64_t at = ordered(o, o->keys[i]);
        bool in = false;
        for (int b = 0; b < o->brackets.count; b++) {
            const bool inside = at >= o->brackets.low[b] && at <= o->brackets.high[b];
            o->found.below[b] += at < o->brackets.low[b];
            o->found.inside[b] += inside;
            in |= inside && is_collected(o, b);
        }
        o->found.nan_below += at < o->brackets.least;
        o->found.nan_above += at > o->brackets.most;
        o->keys[o->kept] = o->keys[i];
        o->kept += in;
    }
}

/* Begin to count, with the keys that have been kept. */
static void count_kept(histo_order *o)
{
    start_counting(o);
    for (uint64_t i = 0; i < o->kept; i++)
        o->tables[o->keys[i] >> (o->bits - DIGIT_BITS)]++;
    count_nan(o, o->keys, (int64_t)o->kept);
    o->kept = 0;
}

void histo_order_begin(histo_order *o, const histo_source *source)
{
    const int64_t n = source->samples;
    if (o->way == COLLECT && o->guesses == 1) spread_further(o, source);
    if (o->way != KEEP || n == 0 || (int64_t)o->kept + n <= (o->kept ? MOST_KEPT : FEW)) return;
    if (o->n > HISTO_MAX_BRACKETS || o->in_parts) {
        count_kept(o);
        return;
    }
    const uint64_t kept = o->kept;
    if (kept >= LEAST_SPREAD) {
        o->rarity = 1;
        add_spread(o, o->keys, (int64_t)kept);
    } else {
        int64_t wanted = n / SPARSE < o->spread_room ? n / SPARSE : o->spread_room;
        wanted = wanted > LEAST_SPREAD ? wanted : LEAST_SPREAD;
        if (wanted > n / 2 + 1) wanted = n / 2 + 1;
        o->rarity = n / wanted;
        spread_over(o, source, wanted);
    }
    start_collecting(o);
    collect_kept(o, kept);
    if (kept >= LEAST_SPREAD) spread_further(o, source);
}

static void add_key(key_set *set, uint64_t key)
{
    if (key >> set->shift != set->prefix) return;
    if (set->counts) set->counts[key >> (set->shift - DIGIT_BITS) & (DIGITS - 1)]++;
    if (set->keys && set->found < set->size) set->keys[set->found] = key;
    set->found++;
}

static void add_keys(histo_order *o, const uint64_t *keys, int64_t n)
{
    const int shift = o->bits - DIGIT_BITS;
    for (int64_t i = 0; i < n; i++) {
        const int *of = &o->set_of[keys[i] >> shift];
        for (int b = of[0]; b < of[1]; b++)
            add_key(&o->sets[b], keys[i]);
    }
}

/* Count the highest bits, or what is left of them. */
static void count_keys(histo_order *o, const void *block, int64_t n)
{
    uint64_t keys[PIECE];
    const size_t size = histo_dtype_size(o->dtype);
    const int shift = o->bits - digit_bits(o);
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        const int64_t length = n - begin < PIECE ? n - begin : PIECE;
        const char *samples = (const char *)block + (size_t)begin * size;
        make_keys(o->dtype, samples, length, keys);
        if (!o->first) {
            add_keys(o, keys, length);
            continue;
        }
        count_nan(o, keys, length);
        for (int64_t i = 0; i < length; i++)
            o->tables[keys[i] >> shift]++;
    }
}

bool histo_order_is_shared(const histo_order *o)
{
    return o->way == COLLECT || !o->keys;
}

void histo_order_part_start(histo_order_part *part, histo_order *order, bool alone)
{
    part->order = order;
    part->alone = alone;
    part->found = (histo_bracketed){0};
    part->kept = 0;
    part->all = 0;
    part->uncounted = 0;
    part->counts = order->keys || alone ? NULL : calloc((size_t)1 << order->bits, sizeof *part->counts);
}

/* Move what has been collected to the keys of all. */
static void flush(histo_order_part *part)
{
    histo_order *o = part->order;
    uint64_t keys[PIECE];
    const size_t size = histo_dtype_size(o->dtype);
    const uint64_t first = __atomic_fetch_add(&o->kept, (uint64_t)part->kept, __ATOMIC_RELAXED);
    for (int begin = 0; begin < part->kept; begin += PIECE) {
        const int length = part->kept - begin < PIECE ? part->kept - begin : PIECE;
        const uint64_t at = first + (uint64_t)begin, room = at < o->room ? o->room - at : 0;
        make_keys(o->dtype, part->collected + (size_t)begin * size, length, keys);
        memcpy(o->keys + (room ? at : 0), keys, (room < (uint64_t)length ? room : (uint64_t)length) * sizeof *keys);
    }
    part->kept = 0;
}

static void flush_counts(histo_order_part *part)
{
    for (size_t i = 0; i < (size_t)1 << part->order->bits; i++)
        if (part->counts[i]) {
            __atomic_fetch_add(&part->order->tables[i], part->counts[i], __ATOMIC_RELAXED);
            part->counts[i] = 0;
        }
    part->uncounted = 0;
}

/* Keys of at most 16 bits. */
static void count_values(histo_order_part *part, const void *block, int64_t n)
{
    histo_order *o = part->order;
    uint64_t keys[PIECE];
    if (part->counts && part->uncounted + n > (int64_t)UINT32_MAX) flush_counts(part);
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        const int64_t length = n - begin < PIECE ? n - begin : PIECE;
        make_keys(o->dtype, (const char *)block + (size_t)begin * histo_dtype_size(o->dtype), length, keys);
        if (part->alone)
            for (int64_t i = 0; i < length; i++)
                o->tables[keys[i]]++;
        else if (part->counts)
            for (int64_t i = 0; i < length; i++)
                part->counts[keys[i]]++;
        else
            for (int64_t i = 0; i < length; i++)
                __atomic_fetch_add(&o->tables[keys[i]], 1, __ATOMIC_RELAXED);
    }
    part->uncounted += n;
}

static void collect(histo_order_part *part, const void *block, int64_t n)
{
    histo_order *o = part->order;
    const size_t size = histo_dtype_size(o->dtype);
    for (int64_t begin = 0; begin < n; begin += HISTO_BLOCK) {
        const int length = n - begin < HISTO_BLOCK ? (int)(n - begin) : HISTO_BLOCK;
        part->kept += histo_cpu_kernels_usable()->collect(o->dtype, (const char *)block + (size_t)begin * size, length,
                                                          &o->brackets, &part->found,
                                                          part->collected + (size_t)part->kept * size);
        if (part->kept > HISTO_ORDER_COLLECTED - HISTO_BLOCK) flush(part);
    }
}

void histo_order_part_add(histo_order_part *part, const void *block, int64_t n)
{
    histo_order *o = part->order;
    part->all += (uint64_t)n;
    if (o->way == COLLECT) {
        collect(part, block, n);
    } else if (o->way == KEEP) {
        make_keys(o->dtype, block, n, o->keys + o->kept);
        o->kept += (uint64_t)n;
    } else if (o->keys) {
        count_keys(o, block, n);
    } else {
        count_values(part, block, n);
    }
}

void histo_order_part_end(histo_order_part *part)
{
    histo_order *o = part->order;
    if (part->counts) flush_counts(part);
    free(part->counts);
    if (part->kept) flush(part);
    __atomic_fetch_add(&o->all, part->all, __ATOMIC_RELAXED);
    for (int b = 0; b < o->brackets.count && o->way == COLLECT; b++) {
        __atomic_fetch_add(&o->found.below[b], part->found.below[b], __ATOMIC_RELAXED);
        __atomic_fetch_add(&o->found.inside[b], part->found.inside[b], __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&o->found.nan_below, part->found.nan_below, __ATOMIC_RELAXED);
    __atomic_fetch_add(&o->found.nan_above, part->found.nan_above, __ATOMIC_RELAXED);
}

/* ---- Samples in a GPU's memory ---- */

/* An axis with a bin for each digit of a set, of the samples' bits. Edges of which doubles may not hold all are
 * written to edges[DIGITS + 1]. If the last one were 2^64, the last bin is the overflow. */
static histo_axis axis_of_digits(uint64_t first, int shift, int64_t digits, uint64_t *edges)
{
    const double lo = (double)first, width = ldexp(1, shift);
    if (lo + (double)digits * width <= 0x1p53 || shift >= DIGIT_BITS)
        return histo_axis_regular(digits, lo, lo + (double)digits * width);
    for (int64_t i = 0; i <= digits; i++)
        edges[i] = first + ((uint64_t)i << shift);
    return histo_axis_variable_u64(digits - (edges[digits] == 0), edges);
}

/* Count the digits of a set's keys by a fill: counts[digit]. edges: room for axis_of_digits. */
static histo_status count_digits(const histo_order *o, const key_set *set, const histo_source *source, uint64_t *edges,
                                 uint64_t *counts)
{
    const int bits = digit_bits(o);
    const int64_t digits = (int64_t)1 << bits;
    const flip of_key = flip_of(o->dtype), of_digit = {bits - 1, of_key.sign ? (uint64_t)digits / 2 : 0,
                                                       of_key.rest ? (uint64_t)digits / 2 - 1 : 0};
    uint64_t first = 0; /* the least bits of a sample */
    bool reversed = false;
    if (!o->first) {
        const uint64_t key = set->prefix << set->shift;
        reversed = of_key.rest && !(key >> of_key.sign_shift);
        first = (key ^ of_key.sign ^ (reversed ? of_key.rest : 0)) >> set->shift << set->shift;
    }
    const histo_axis axis = axis_of_digits(first, set->shift - bits, digits, edges);
    const size_t size = (size_t)(digits + 3) * sizeof(uint64_t);
    uint64_t *slots = histo_malloc(size);
    if (!slots) return histo_fail_memory(size, "quantiles");
    histo_status status = histo_source_fill(source, &axis, true, slots);
    for (int64_t i = 0; i < digits && status == HISTO_OK; i++) {
        const uint64_t digit = o->first ? key_of((uint64_t)i, of_digit) : (uint64_t)(reversed ? digits - 1 - i : i);
        counts[digit] = slots[i + 1];
    }
    free(slots);
    return status;
}

/* Nothing changes unless all sets are counted. */
static histo_status count_sets(histo_order *o, const histo_source *source)
{
    const size_t digits = (size_t)1 << digit_bits(o), size = (size_t)o->tables_count * digits * sizeof(uint64_t);
    uint64_t *counts = histo_malloc(size), *edges = histo_malloc((digits + 1) * sizeof *edges);
    histo_status status = counts && edges ? HISTO_OK : histo_fail_memory(size, "quantiles");
    for (int pass = 0; pass < 2 && status == HISTO_OK; pass++) {
        uint64_t *its = counts;
        for (int b = 0; b < o->open && status == HISTO_OK; b++) {
            key_set *set = &o->sets[b];
            if (!set->counts) continue;
            if (pass == 0) status = count_digits(o, set, source, edges, its);
            for (size_t i = 0; i < digits && pass == 1; i++)
                set->counts[i] += its[i];
            its += digits;
        }
    }
    free(counts);
    free(edges);
    return status;
}

histo_status histo_order_count(histo_order *o, const histo_source *source, const histo_found *found)
{
    if (o->in_parts && o->keys) /* parts in host memory collect keys */
        return histo_fail(HISTO_UNSUPPORTED,
                          "parts of a survey that finds quantiles are in host memory: copy those of "
                          "GPU %d there",
                          source->home - HISTO_DEVICE_CUDA(0));
    bool collects = o->way == COLLECT;
    for (int b = 0; b < o->open && o->way == COUNT; b++)
        collects |= o->sets[b].keys != NULL;
    if (collects)
        return histo_fail(HISTO_UNSUPPORTED,
                          "the samples of a pass are in host memory or in that of GPUs, not in both");
    if (o->way == KEEP) count_kept(o);
    o->on_device = true;
    const bool first = o->first && o->keys;
    histo_status status = found->samples ? count_sets(o, source) : HISTO_OK;
    for (int sign = 0; sign < 2 && first && status == HISTO_OK; sign++)
        o->nan[sign] += found->nan[sign] + (o->finite ? found->infinite[sign] : 0);
    return status;
}

/* ---- After a pass ---- */

static int compare_ranks(const void *a, const void *b)
{
    const uint64_t x = ((const statistic *)a)->rank, y = ((const statistic *)b)->rank;
    return (x > y) - (x < y);
}

static int statistic_of(const histo_order *o, uint64_t rank)
{
    const statistic wanted = {.rank = rank};
    const statistic *found = bsearch(&wanted, o->statistics, (size_t)o->statistics_count, sizeof wanted, compare_ranks);
    return (int)(found - o->statistics);
}

/* The ranks of all quantiles, each once, in order. */
static void find_ranks(histo_order *o)
{
    const uint64_t last = o->samples - 1;
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < o->n; i++) {
            quantile *q = &o->quantiles[i];
            const histo_place place = histo_quantile_place(o->rule, (double)o->samples, q->q);
            const uint64_t below = place.below < (double)last ? (uint64_t)place.below : last;
            const uint64_t above = place.share > 0 && below < last ? below + 1 : below;
            if (pass == 0) {
                o->statistics[count++] = (statistic){.rank = o->nan[0] + below};
                o->statistics[count++] = (statistic){.rank = o->nan[0] + above};
            } else {
                q->share = place.share;
                q->below = statistic_of(o, o->nan[0] + below);
                q->above = statistic_of(o, o->nan[0] + above);
            }
        }
        if (pass == 1) break;
        qsort(o->statistics, (size_t)count, sizeof *o->statistics, compare_ranks);
        o->statistics_count = 0;
        for (int i = 0; i < count; i++)
            if (i == 0 || o->statistics[i].rank != o->statistics[i - 1].rank)
                o->statistics[o->statistics_count++] = o->statistics[i];
    }
}

/* The sets of the next digit, in which the statistics of b are. */
static void divide(histo_order *o, const key_set *b, int *next)
{
    const int bits = digit_bits(o);
    uint64_t digit = 0, before = 0;
    for (int s = b->first; s < b->end; s++) {
        statistic *of = &o->statistics[s];
        while (digit + 1 < UINT64_C(1) << bits && of->rank >= before + b->counts[digit])
            before += b->counts[digit++];
        const uint64_t prefix = b->prefix << bits | digit;
        of->rank -= before;
        of->key = prefix;
        if (b->shift == bits) continue;
        if (s > b->first && o->next[*next - 1].prefix == prefix && o->next[*next - 1].shift == b->shift - bits)
            o->next[*next - 1].end = s + 1;
        else
            o->next[(*next)++] = (key_set){
                .prefix = prefix, .shift = b->shift - bits, .first = s, .end = s + 1, .size = b->counts[digit]};
    }
}

/* What the next pass does with each set. */
static void plan_pass(histo_order *o)
{
    uint64_t used = 0;
    int tables = 0, top = 0;
    for (int b = 0; b < o->open; b++) {
        key_set *of = &o->sets[b];
        of->keys = of->counts = NULL;
        of->found = 0;
        if (!o->on_device && of->size <= o->room - used) {
            of->keys = o->keys + used;
            used += of->size;
        } else if (tables < o->tables_count) {
            of->counts = o->tables + (size_t)tables++ * DIGITS;
            memset(of->counts, 0, DIGITS * sizeof *of->counts);
        }
        const int digit = (int)(of->prefix >> (o->bits - DIGIT_BITS - of->shift));
        while (top <= digit)
            o->set_of[top++] = b;
    }
    while (top <= DIGITS)
        o->set_of[top++] = o->open;
}

/* The number of samples, NaN among them, and the ranks; false if all are NaN. */
static bool rank(histo_order *o, uint64_t all)
{
    o->ranked = true;
    o->samples = all - o->nan[0] - o->nan[1];
    if (o->samples > 0) find_ranks(o);
    return o->samples > 0;
}

static void select_kept(histo_order *o)
{
    select_among(o, o->statistics, 0, o->statistics_count, o->keys, o->kept, o->least, o->most, o->nan[0]);
}

/* The quantiles are known if there are few keys. */
static bool end_keeping(histo_order *o)
{
    o->nan[0] = o->nan[1] = 0;
    count_nan(o, o->keys, (int64_t)o->kept);
    if (rank(o, o->kept)) select_kept(o);
    return true;
}

/* The statistics are in brackets whose keys have been collected. */
static void select_bracketed(histo_order *o)
{
    int begin = 0, end;
    for (; begin < o->statistics_count; begin = end) {
        const int b = bracket_of(o, o->statistics[begin].rank);
        for (end = begin; end < o->statistics_count && bracket_of(o, o->statistics[end].rank) == b; end++)
            ;
        const uint64_t low = key_of_ordered(o, o->brackets.low[b]), high = key_of_ordered(o, o->brackets.high[b]);
        if (is_collected(o, b))
            select_among(o, o->statistics, begin, end, o->keys, o->kept, low, high, o->found.below[b]);
        for (int i = begin; i < end && !is_collected(o, b); i++)
            o->statistics[i].key = low;
    }
}

static bool end_collecting(histo_order *o)
{
    if (!o->ranked) {
        o->nan[0] = o->found.nan_below;
        o->nan[1] = o->found.nan_above;
        if (!rank(o, o->all)) return true;
    }
    bool missed = false;
    for (int i = 0; i < o->statistics_count; i++)
        missed |= bracket_of(o, o->statistics[i].rank) < 0;
    if (!missed && o->kept <= o->room) {
        select_bracketed(o);
        return true;
    }
    if (o->guesses == MOST_GUESSES)
        start_counting(o);
    else if (missed)
        start_collecting(o);
    else
        narrow_brackets(o);
    return false;
}

/* NaN among the values that were counted. */
static void count_nan_values(histo_order *o)
{
    o->nan[0] = o->nan[1] = 0;
    for (uint64_t key = 0; key < o->least; key++)
        o->nan[0] += o->tables[key];
    for (uint64_t key = o->most + 1; key < UINT64_C(1) << o->bits; key++)
        o->nan[1] += o->tables[key];
}

static bool end_counting(histo_order *o)
{
    if (o->first) {
        uint64_t all = 0;
        o->first = false;
        for (int digit = 0; digit < 1 << digit_bits(o); digit++)
            all += o->tables[digit];
        if (!o->keys) count_nan_values(o);
        if (!rank(o, all)) return true;
        o->sets[0].end = o->statistics_count;
    }
    int next = 0;
    for (int b = 0; b < o->open; b++) {
        const key_set *of = &o->sets[b];
        if (of->counts)
            divide(o, of, &next);
        else if (of->keys)
            select_keys(o->statistics, of->first, of->end, of->keys, of->found < of->size ? of->found : of->size, 0, 1);
        else
            o->next[next++] = *of;
    }
    key_set *done = o->sets;
    o->sets = o->next;
    o->next = done;
    o->open = next;
    if (next > 0) plan_pass(o);
    return next == 0;
}

bool histo_order_end_pass(histo_order *o)
{
    const bool done = o->way == KEEP ? end_keeping(o) : o->way == COLLECT ? end_collecting(o) : end_counting(o);
    o->all = 0;
    return done;
}

/* ---- Parts ---- */

static int64_t values_of(const histo_order *o)
{
    return INT64_C(1) << digit_bits(o);
}

void histo_order_save(const histo_order *o, histo_bytes *out)
{
    histo_save_u64(out, o->way);
    if (o->way == KEEP) {
        histo_save_u64(out, o->kept);
        for (uint64_t i = 0; i < o->kept; i++)
            histo_save_u64(out, o->keys[i]);
        return;
    }
    histo_save_u64(out, o->first);
    for (int64_t i = 0; i < values_of(o) && o->first; i++)
        histo_save_u64(out, o->tables[i]);
    for (int i = 0; i < 2 && o->first; i++)
        histo_save_u64(out, o->nan[i]);
    for (int b = 0; b < o->open && !o->first; b++) {
        const key_set *of = &o->sets[b];
        histo_save_u64(out, of->prefix);
        histo_save_u64(out, of->size);
        histo_save_u64(out, of->found);
        for (int64_t i = 0; i < DIGITS && of->counts; i++)
            histo_save_u64(out, of->counts[i]);
        for (uint64_t i = 0; i < of->found && of->keys; i++)
            histo_save_u64(out, i < of->size ? of->keys[i] : 0);
    }
}

void histo_order_forget(histo_order *o)
{
    o->kept = 0;
    if (o->way == KEEP) return;
    if (o->first) start_counting(o);
    for (int b = 0; b < o->open && !o->first; b++) {
        o->sets[b].found = 0;
        if (o->sets[b].counts) memset(o->sets[b].counts, 0, DIGITS * sizeof *o->sets[b].counts);
    }
}

/* Keys of a part that kept all of them. */
static void merge_kept(histo_order *o, histo_saved *from, bool add)
{
    const uint64_t n = histo_saved_count(from, MOST_KEPT), most = UINT64_MAX >> (64 - o->bits);
    if (add && o->way == KEEP && o->kept + n > MOST_KEPT) count_kept(o);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t key = histo_saved_next(from);
        from->failed |= key > most;
        if (!add) continue;
        if (o->way == KEEP) {
            o->keys[o->kept++] = key;
        } else {
            o->tables[key >> (o->bits - digit_bits(o))]++;
            count_nan(o, &key, 1);
        }
    }
}

static void merge_counts(histo_order *o, histo_saved *from, bool add)
{
    if (add && o->way == KEEP) count_kept(o);
    for (int64_t i = 0; i < values_of(o); i++) {
        const uint64_t count = histo_saved_next(from);
        if (add) o->tables[i] += count;
    }
    for (int i = 0; i < 2; i++) {
        const uint64_t nan = histo_saved_next(from);
        if (add) o->nan[i] += nan;
    }
}

static void merge_set(key_set *of, histo_saved *from, bool add)
{
    histo_saved_expect(from, of->prefix);
    histo_saved_expect(from, of->size);
    const uint64_t found = histo_saved_next(from);
    for (int64_t i = 0; i < DIGITS && of->counts; i++) {
        const uint64_t count = histo_saved_next(from);
        if (add) of->counts[i] += count;
    }
    if (of->keys) from->failed |= found > from->left || found > of->size;
    for (uint64_t i = 0; of->keys && i < found && !from->failed; i++) {
        const uint64_t key = histo_saved_next(from);
        from->failed |= key >> of->shift != of->prefix;
        if (add && of->found + i < of->size) of->keys[of->found + i] = key;
    }
    if (add) of->found += found;
}

void histo_order_merge(histo_order *o, histo_saved *from, bool add)
{
    const uint64_t way_of = histo_saved_next(from);
    const bool later = o->way == COUNT && !o->first; /* all parts are */
    from->failed |= o->way == COLLECT || (way_of != KEEP && way_of != COUNT) || (way_of == KEEP && (later || !o->keys));
    if (from->failed) return;
    if (way_of == KEEP) {
        merge_kept(o, from, add);
        return;
    }
    histo_saved_expect(from, !later);
    if (!later) merge_counts(o, from, add);
    for (int b = 0; later && b < o->open && !from->failed; b++)
        merge_set(&o->sets[b], from, add);
}

double histo_order_value(const histo_order *o, int i)
{
    if (o->samples == 0) return NAN;
    const quantile *q = &o->quantiles[i];
    const uint64_t below = o->statistics[q->below].key, above = o->statistics[q->above].key;
    const double a = value_of(o->dtype, below);
    if (below == above) return a;
    const double b = value_of(o->dtype, above);
    /* Keys of integers differ by exactly as much as the integers. */
    const double distance = histo_dtype_is_integer(o->dtype) ? (double)(above - below) : b - a;
    if (!isfinite(distance)) return a * (1 - q->share) + b * q->share;
    return histo_quantile_between(a, b, distance, q->share);
}
