/* Radix selection. Samples become unsigned keys of the same order and width. The first pass counts the highest 16 bits
 * of all keys, which is all of 8- and 16-bit samples. Then every order statistic is known to lie in a bracket: the keys
 * that share the bits found so far, whose number is known. Where the keys of a bracket fit into memory, the next pass
 * collects them, and the statistic is selected among them; where they do not, it counts the next 16 bits. So two passes
 * are enough for most data and for all of 32 bits; 64-bit samples take at most four where there are few quantiles. Few
 * samples are kept in the first pass already. */
#include "survey/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis/quantile_rule.h"
#include "base/error.h"
#include "base/memory.h"
#include "view/dtype.h"

enum {
    DIGIT_BITS = 16,
    DIGITS = 1 << DIGIT_BITS,
    ROOM = 1 << 20,   /* keys kept in memory */
    MOST_TABLES = 64, /* brackets counted in a pass; others wait for the next */
    PIECE = 1024,     /* keys made at once */
};

/* An order statistic. */
typedef struct statistic {
    uint64_t rank; /* the number of smaller keys, in its bracket */
    uint64_t key;  /* once known */
} statistic;

/* The keys with key >> shift == prefix, and the statistics that are among them. */
typedef struct bracket {
    uint64_t prefix;
    int shift;
    int first, end;   /* in statistics */
    uint64_t size;    /* keys in it; in the first pass unknown */
    uint64_t *counts; /* of the next digit, if this pass counts them, … */
    uint64_t *keys;   /* … or where this pass collects the keys; both NULL: it waits for the next pass */
    uint64_t found;   /* keys so far */
} bracket;

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
    statistic *statistics;    /* [2 * n], by rank in all samples */
    uint64_t samples;         /* without NaN; known after the first pass */
    uint64_t nan[2];          /* NaN with and without a sign, whose keys are below and above all others */
    bool first;               /* in the first pass, … */
    int64_t kept;             /* … whose keys are in `keys`; -1: too many */
    int open;                 /* brackets to be searched, … */
    bracket *brackets, *next; /* … [2 * n + 1], in order, and those after this pass */
    int tables_count;
    uint64_t *tables; /* [tables_count][DIGITS] */
    uint64_t *keys;   /* [ROOM]; NULL for 8- and 16-bit samples */
    int *bracket_of;  /* [DIGITS + 1]: the first open bracket of keys with these highest bits or higher ones */
};

static int digit_bits(const histo_order *o)
{
    return o->bits < DIGIT_BITS ? o->bits : DIGIT_BITS;
}

histo_status histo_order_create(histo_order **order, histo_dtype dtype, int n)
{
    const int bits = 8 * (int)histo_dtype_size(dtype), most = n < MOST_TABLES / 2 ? 2 * n : MOST_TABLES;
    const bool one_pass = bits <= DIGIT_BITS;
    const size_t places = 2 * (size_t)n + 1;
    histo_order *o = calloc(1, sizeof *o);
    if (!o) return histo_fail_memory(sizeof *o, "quantiles");
    o->dtype = dtype;
    o->bits = bits;
    o->n = n;
    o->tables_count = one_pass || most < 1 ? 1 : most;
    const size_t tables = (size_t)o->tables_count * DIGITS * sizeof *o->tables;
    /* Everything now, so that no pass can run out of memory. */
    o->quantiles = histo_malloc(places * sizeof *o->quantiles);
    o->statistics = histo_malloc(places * sizeof *o->statistics);
    o->brackets = histo_malloc(places * sizeof *o->brackets);
    o->next = histo_malloc(places * sizeof *o->next);
    o->tables = histo_malloc(tables);
    o->bracket_of = histo_malloc((DIGITS + 1) * sizeof *o->bracket_of);
    if (!one_pass) o->keys = histo_malloc(ROOM * sizeof *o->keys);
    if (!o->quantiles || !o->statistics || !o->brackets || !o->next || !o->tables || !o->bracket_of ||
        (!one_pass && !o->keys)) {
        histo_order_destroy(o);
        return histo_fail_memory(tables + ROOM * sizeof *o->keys + 4 * places * sizeof *o->brackets, "quantiles");
    }
    *order = o;
    return HISTO_OK;
}

void histo_order_destroy(histo_order *o)
{
    if (!o) return;
    free(o->quantiles);
    free(o->statistics);
    free(o->brackets);
    free(o->next);
    free(o->tables);
    free(o->bracket_of);
    free(o->keys);
    free(o);
}

void histo_order_start(histo_order *o, histo_quantile_rule rule, const double *q)
{
    o->rule = rule;
    for (int i = 0; i < o->n; i++)
        o->quantiles[i] = (quantile){.q = q[i]};
    o->nan[0] = o->nan[1] = 0;
    o->first = true;
    o->kept = o->keys ? 0 : -1;
    o->open = 1;
    o->brackets[0] = (bracket){.shift = o->bits, .counts = o->tables};
    memset(o->tables, 0, DIGITS * sizeof *o->tables);
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

/* ---- A pass ---- */

/* May there be NaN among the samples? */
static bool any_nan(histo_dtype dtype, const void *block, int64_t n)
{
    const float *floats = block;
    const double *doubles = block;
    bool any = dtype == HISTO_F16 || dtype == HISTO_BF16;
    for (int64_t i = 0; dtype == HISTO_F32 && i < n; i++)
        any |= isnan(floats[i]);
    for (int64_t i = 0; dtype == HISTO_F64 && i < n; i++)
        any |= isnan(doubles[i]);
    return any;
}

static void count_nan(histo_order *o, const uint64_t *keys, int64_t n)
{
    const flip f = flip_of(o->dtype);
    const uint64_t infinity = infinity_of(o->dtype), highest = key_of(infinity, f),
                   lowest = key_of(infinity | f.sign, f);
    for (int64_t i = 0; i < n; i++) {
        o->nan[0] += keys[i] < lowest;
        o->nan[1] += keys[i] > highest;
    }
}

static void count_first_digit(histo_order *o, const uint64_t *keys, int64_t n)
{
    uint64_t *counts = o->tables;
    const int shift = o->bits - digit_bits(o);
    for (int64_t i = 0; i < n; i++)
        counts[keys[i] >> shift]++;
    if (o->kept < 0) return;
    if (o->kept + n > ROOM) {
        o->kept = -1;
        return;
    }
    memcpy(o->keys + o->kept, keys, (size_t)n * sizeof *keys);
    o->kept += n;
}

static void add_key(bracket *b, uint64_t key)
{
    if (key >> b->shift != b->prefix) return;
    if (b->counts) b->counts[key >> (b->shift - DIGIT_BITS) & (DIGITS - 1)]++;
    if (b->keys && b->found < b->size) b->keys[b->found] = key;
    b->found++;
}

static void add_keys(histo_order *o, const uint64_t *keys, int64_t n)
{
    const int shift = o->bits - DIGIT_BITS;
    for (int64_t i = 0; i < n; i++) {
        const int *of = &o->bracket_of[keys[i] >> shift];
        for (int b = of[0]; b < of[1]; b++)
            add_key(&o->brackets[b], keys[i]);
    }
}

void histo_order_add(histo_order *o, const void *block, int64_t n)
{
    uint64_t keys[PIECE];
    const size_t size = histo_dtype_size(o->dtype);
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        const int64_t length = n - begin < PIECE ? n - begin : PIECE;
        const char *samples = (const char *)block + (size_t)begin * size;
        make_keys(o->dtype, samples, length, keys);
        if (o->first && any_nan(o->dtype, samples, length)) count_nan(o, keys, length);
        if (o->first)
            count_first_digit(o, keys, length);
        else
            add_keys(o, keys, length);
    }
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

/* The brackets of the next digit, in which the statistics of b are. */
static void divide(histo_order *o, const bracket *b, int *next)
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
            o->next[(*next)++] = (bracket){
                .prefix = prefix, .shift = b->shift - bits, .first = s, .end = s + 1, .size = b->counts[digit]};
    }
}

/* What the next pass does with each bracket. */
static void plan_pass(histo_order *o)
{
    uint64_t used = 0;
    int tables = 0, top = 0;
    for (int b = 0; b < o->open; b++) {
        bracket *of = &o->brackets[b];
        of->keys = of->counts = NULL;
        of->found = 0;
        if (of->size <= ROOM - used) {
            of->keys = o->keys + used;
            used += of->size;
        } else if (tables < o->tables_count) {
            of->counts = o->tables + (size_t)tables++ * DIGITS;
            memset(of->counts, 0, DIGITS * sizeof *of->counts);
        }
        const int digit = (int)(of->prefix >> (o->bits - DIGIT_BITS - of->shift));
        while (top <= digit)
            o->bracket_of[top++] = b;
    }
    while (top <= DIGITS)
        o->bracket_of[top++] = o->open;
}

bool histo_order_end_pass(histo_order *o)
{
    if (o->first) {
        o->first = false;
        o->samples = 0;
        for (int digit = 0; digit < DIGITS; digit++)
            o->samples += o->tables[digit];
        o->samples -= o->nan[0] + o->nan[1];
        if (o->samples == 0) return true;
        find_ranks(o);
        o->brackets[0].end = o->statistics_count;
        if (o->kept >= 0) {
            select_keys(o->statistics, 0, o->statistics_count, o->keys, (uint64_t)o->kept, 0, 1);
            return true;
        }
    }
    int next = 0;
    for (int b = 0; b < o->open; b++) {
        const bracket *of = &o->brackets[b];
        if (of->counts)
            divide(o, of, &next);
        else if (of->keys)
            select_keys(o->statistics, of->first, of->end, of->keys, of->found < of->size ? of->found : of->size, 0, 1);
        else
            o->next[next++] = *of;
    }
    bracket *done = o->brackets;
    o->brackets = o->next;
    o->next = done;
    o->open = next;
    if (next > 0) plan_pass(o);
    return next == 0;
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
