/* Radix selection. Samples become unsigned keys of the same order and width. Each pass counts one 16-bit digit, most
 * significant first, of the keys that share the digits found so far: one pass for 8- and 16-bit samples, two for 32-bit
 * samples, at most four for 64-bit samples. Candidate keys are kept in memory while they fit; once all of them do, the
 * remaining passes read these instead of the samples. */
#include "axis/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "view/dtype.h"

enum {
    DIGIT_BITS = 16,
    DIGITS = 1 << DIGIT_BITS,
    RANKS = 2 * HISTO_QUANTILES, /* each quantile is interpolated between two neighbours in sorted order */
    ROOM = 1 << 20,              /* keys kept in memory */
};

/* Keys that share the leading digits of an order statistic. */
typedef struct bracket {
    uint64_t prefix;
    uint64_t counts[DIGITS];
} bracket;

struct histo_quantiles {
    histo_dtype dtype;
    double fractions[HISTO_QUANTILES];
    uint64_t n;            /* samples, known after the first pass */
    bool first;            /* in the first pass, which has one bracket for all keys */
    int shift;             /* lowest bit of the digit being counted; negative when all digits are known */
    int brackets;          /* in use */
    int bracket_of[RANKS]; /* of each order statistic: its bracket, … */
    uint64_t rank[RANKS];  /* … the number of smaller keys in the bracket, … */
    uint64_t key[RANKS];   /* … and the digits known so far */
    uint64_t *remembered;  /* [ROOM]; NULL if one pass is enough */
    int64_t in_memory;     /* number of remembered keys; -1 after an overflow */
    bracket *bracket;      /* [RANKS] */
};

static int key_bits(histo_dtype dtype)
{
    return 8 * (int)histo_dtype_size(dtype);
}

histo_status histo_quantiles_create(histo_quantiles **quantiles, histo_dtype dtype)
{
    histo_quantiles *q = calloc(1, sizeof *q);
    if (!q) return histo_fail_memory(sizeof *q, "quantiles");
    q->dtype = dtype;
    q->bracket = malloc(RANKS * sizeof *q->bracket);
    bool one_pass = key_bits(dtype) <= DIGIT_BITS;
    if (!one_pass) q->remembered = malloc(ROOM * sizeof *q->remembered);
    if (!q->bracket || (!one_pass && !q->remembered)) {
        histo_quantiles_destroy(q);
        return histo_fail_memory(RANKS * sizeof *q->bracket + ROOM * sizeof *q->remembered, "quantiles");
    }
    *quantiles = q;
    return HISTO_OK;
}

void histo_quantiles_destroy(histo_quantiles *quantiles)
{
    if (!quantiles) return;
    free(quantiles->bracket);
    free(quantiles->remembered);
    free(quantiles);
}

static void add_bracket(histo_quantiles *q, uint64_t prefix)
{
    q->bracket[q->brackets].prefix = prefix;
    memset(q->bracket[q->brackets].counts, 0, sizeof q->bracket->counts);
    q->brackets++;
}

void histo_quantiles_start(histo_quantiles *q, const double fractions[HISTO_QUANTILES])
{
    memcpy(q->fractions, fractions, sizeof q->fractions);
    q->first = true;
    q->shift = key_bits(q->dtype) > DIGIT_BITS ? key_bits(q->dtype) - DIGIT_BITS : 0;
    q->in_memory = q->remembered ? 0 : -1;
    q->brackets = 0;
    add_bracket(q, 0);
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
    int sign_shift = key_bits(dtype) - 1;
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

/* ---- Counting ---- */

static void count_keys(histo_quantiles *q, const uint64_t *keys, int64_t n)
{
    int shift = q->shift;
    for (int b = 0; b < q->brackets; b++) {
        uint64_t prefix = q->bracket[b].prefix, *counts = q->bracket[b].counts;
        for (int64_t i = 0; i < n; i++)
            if (keys[i] >> shift >> DIGIT_BITS == prefix) counts[keys[i] >> shift & (DIGITS - 1)]++;
    }
}

static bool in_question(const histo_quantiles *q, uint64_t key)
{
    for (int b = 0; b < q->brackets; b++)
        if (key >> q->shift >> DIGIT_BITS == q->bracket[b].prefix) return true;
    return false;
}

static void remember_keys(histo_quantiles *q, const uint64_t *keys, int64_t n)
{
    for (int64_t i = 0; i < n && q->in_memory >= 0; i++) {
        if (!in_question(q, keys[i])) continue;
        if (q->in_memory == ROOM)
            q->in_memory = -1;
        else
            q->remembered[q->in_memory++] = keys[i];
    }
}

void histo_quantiles_add(histo_quantiles *q, const void *block, int64_t n)
{
    enum { PIECE = 1024 };
    uint64_t keys[PIECE];
    size_t size = histo_dtype_size(q->dtype);
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        int64_t length = n - begin < PIECE ? n - begin : PIECE;
        make_keys(q->dtype, (const char *)block + (size_t)begin * size, length, keys);
        count_keys(q, keys, length);
        if (q->in_memory >= 0) remember_keys(q, keys, length);
    }
}

/* ---- After a pass ---- */

static double position(const histo_quantiles *q, int i)
{
    return (double)(q->n - 1) * q->fractions[i];
}

static void find_ranks(histo_quantiles *q)
{
    for (int i = 0; i < HISTO_QUANTILES; i++) {
        uint64_t below = (uint64_t)position(q, i);
        if (below > q->n - 1) below = q->n - 1; /* rounding moved the position up */
        q->rank[2 * i] = below;
        q->rank[2 * i + 1] = below < q->n - 1 ? below + 1 : below;
    }
    for (int r = 0; r < RANKS; r++) {
        q->bracket_of[r] = 0;
        q->key[r] = 0;
    }
}

/* Append one digit to every order statistic and make the brackets for the next digit. */
static void descend(histo_quantiles *q)
{
    for (int r = 0; r < RANKS; r++) {
        const uint64_t *counts = q->bracket[q->bracket_of[r]].counts;
        uint64_t digit = 0;
        while (digit < DIGITS - 1 && q->rank[r] >= counts[digit])
            q->rank[r] -= counts[digit++];
        q->key[r] = q->key[r] << DIGIT_BITS | digit;
    }
    q->shift -= DIGIT_BITS;
    q->brackets = 0;
    for (int r = 0; r < RANKS; r++) {
        int b = 0;
        while (b < q->brackets && q->bracket[b].prefix != q->key[r])
            b++;
        if (b == q->brackets) add_bracket(q, q->key[r]);
        q->bracket_of[r] = b;
    }
}

bool histo_quantiles_end_pass(histo_quantiles *q)
{
    if (q->first) {
        q->first = false;
        q->n = 0;
        for (int digit = 0; digit < DIGITS; digit++)
            q->n += q->bracket[0].counts[digit];
        if (q->n == 0) return true;
        find_ranks(q);
    }
    descend(q);
    while (q->shift >= 0 && q->in_memory >= 0) {
        count_keys(q, q->remembered, q->in_memory);
        descend(q);
    }
    q->in_memory = q->remembered ? 0 : -1;
    return q->shift < 0;
}

double histo_quantiles_value(const histo_quantiles *q, int i)
{
    if (q->n == 0) return NAN;
    double a = value_of(q->dtype, q->key[2 * i]), b = value_of(q->dtype, q->key[2 * i + 1]);
    double t = position(q, i) - floor(position(q, i));
    /* Keys of integers differ by exactly as much as the integers. */
    double distance = histo_dtype_is_integer(q->dtype) ? (double)(q->key[2 * i + 1] - q->key[2 * i]) : b - a;
    if (t == 0 || a == b) return a;
    if (!isfinite(distance)) return a * (1 - t) + b * t;
    return t < 0.5 ? a + distance * t : b - distance * (1 - t);
}
