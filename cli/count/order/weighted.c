/* The first pass adds up weights and their products with samples, and keeps pairs of a sample and its weight, a random
 * selection if there are many. These show roughly where each quantile is: between two samples. The next pass adds up
 * the weights below, and keeps the pairs in between. Its sums show whether the quantile is there; if not, or if there
 * are too many pairs, another pass examines part of what is left. */
#include "count/order/weighted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count/order/exact_sum.h"

enum { MOST_KEPT = 1 << 17, AT_ONCE = 1024 };

/* A sample as an integer that sorts alike, and its weight. */
typedef struct pair {
    uint64_t key;
    double weight;
} pair;

/* One pair out of every `interval`. */
typedef struct pairs {
    pair *all; /* [MOST_KEPT] */
    int64_t count, interval, wait;
    uint64_t random;
} pairs;

typedef struct search {
    double q;
    decimal_share share; /* q as it was written */
    bool found;
    uint64_t key;          /* of the quantile, once it is found */
    uint64_t first, last;  /* the quantile is one of these */
    uint64_t low, high;    /* the subset of these that this pass keeps */
    exact_sum below, here; /* the sums of weights of samples below, and of these */
    pairs kept;
} search;

/* The unmasked samples of the current piece, and their weights. */
typedef struct weighted_rows {
    int count;
    double samples[AT_ONCE], weights[AT_ONCE], terms[4 * AT_ONCE];
} weighted_rows;

struct weighted_search {
    int n, passes;
    bool in_pass;
    search *searches; /* [n + 1]: the last one finds nothing, but keeps the pairs of the first pass */
    weighted_rows rows;
    exact_sum total;                /* of the weights of all samples but NaN */
    exact_sum finite, products;     /* the sums of weights of the finite samples, and of weight times sample */
    exact_sum differences, squares; /* the sums of weight times difference from the center, and times its square */
    double cubes, fourths, center;
    bool any_finite, any_negative, spoilt; /* spoilt: something is not finite, or memory ran out */
};

static uint64_t key_of(double value)
{
    uint64_t bits;
    value += 0.0; /* turns -0 into 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
    double value;
    const uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Pairs ----------------------------------------------------------------------------------------------- */

static uint64_t next_random(pairs *of)
{
    of->random = of->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return of->random >> 33;
}

static void start_keeping(pairs *of)
{
    of->count = of->wait = 0;
    of->interval = 1;
}

static void keep(pairs *of, uint64_t key, double weight)
{
    if (of->wait-- > 0) return;
    if (of->count == MOST_KEPT) {
        of->count /= 2;
        for (int64_t i = 0; i < of->count; i++)
            of->all[i] = of->all[2 * i];
        of->interval *= 2;
    }
    of->all[of->count++] = (pair){key, weight};
    of->wait = of->interval > 1 ? (int64_t)(next_random(of) % (uint64_t)(2 * of->interval - 1)) : 0;
}

static int compare_pairs(const void *x, const void *y)
{
    const pair *a = x, *b = y;
    return (a->key > b->key) - (a->key < b->key);
}

/* ---- Searches -------------------------------------------------------------------------------------------- */

/* Whether samples with these weights, plus those below, reach the share. */
static bool are_enough(const weighted_search *of, const search *s, const exact_sum *weights)
{
    return exact_sum_is_positive(weights) && exact_sum_reaches(weights, s->share, &of->total);
}

/* All pairs in [low, high] are in kept, in order. Sums are compared exactly once they are close. */
static void select_among(const weighted_search *of, search *s, const pairs *kept)
{
    exact_sum sum = s->below;
    double about = exact_sum_read(&sum).high;
    const double close = s->q * exact_sum_read(&of->total).high * (1 - 0x1p-30);
    for (int64_t i = 0; i < kept->count && !s->found; i++) {
        exact_sum_add(&sum, kept->all[i].weight);
        about += kept->all[i].weight;
        const bool ends = i + 1 == kept->count || kept->all[i + 1].key != kept->all[i].key;
        if (!ends || about < close) continue;
        s->found = are_enough(of, s, &sum);
        s->key = kept->all[i].key;
    }
    s->found = true;
}

/* Continue where these sorted pairs place the quantile, plus a few standard deviations on each side. */
static void narrow(const weighted_search *of, search *s, const pairs *kept)
{
    double all = 0, sum = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < kept->count; i++)
        all += kept->all[i].weight;
    const two_doubles total = exact_sum_read(&of->total), below = exact_sum_read(&s->below),
                      here = exact_sum_read(&s->here);
    const double share = (s->q * total.high - below.high) / here.high;
    while (at < kept->count - 1 && (sum += kept->all[at].weight) < share * all)
        at++;
    const int64_t margin = (int64_t)(3 * sqrt((double)kept->count)) + 4;
    const uint64_t low = at < margin ? s->first : kept->all[at - margin].key;
    const uint64_t high = at + margin >= kept->count ? s->last : kept->all[at + margin].key;
    const bool same = low == s->low && high == s->high;
    s->low = same ? kept->all[at].key : low;
    s->high = same ? kept->all[at].key : high;
}

/* After a pass that examined [low, high]. */
static void end_search(const weighted_search *of, search *s)
{
    exact_sum upto = s->below;
    exact_sum_join(&upto, &s->here);
    if (are_enough(of, s, &s->below)) {
        s->last = s->low - 1;
    } else if (!are_enough(of, s, &upto)) {
        s->first = s->high + 1;
    } else {
        s->first = s->low;
        s->last = s->high;
        s->found = s->low == s->high;
        s->key = s->low;
        if (s->found) return;
        qsort(s->kept.all, (size_t)s->kept.count, sizeof *s->kept.all, compare_pairs);
        if (s->kept.interval == 1)
            select_among(of, s, &s->kept);
        else
            narrow(of, s, &s->kept);
        return;
    }
    s->low = s->first;
    s->high = s->last;
}

/* After the first pass, whose pairs all searches share. */
static void begin_searches(weighted_search *of)
{
    pairs *kept = &of->searches[of->n].kept;
    qsort(kept->all, (size_t)kept->count, sizeof *kept->all, compare_pairs);
    for (int i = 0; i < of->n; i++) {
        search *s = &of->searches[i];
        s->here = of->total;
        s->last = s->high = UINT64_MAX;
        if (kept->interval == 1)
            select_among(of, s, kept);
        else
            narrow(of, s, kept);
    }
}

/* ---- Passes ---------------------------------------------------------------------------------------------- */

weighted_search *weighted_make(int n, const double *q)
{
    weighted_search *of = calloc(1, sizeof *of);
    if (of) of->searches = calloc((size_t)n + 1, sizeof *of->searches);
    bool good = of && of->searches;
    if (good) of->n = n;
    for (int i = 0; i <= n && good; i++) {
        search *s = &of->searches[i];
        s->q = i < n ? q[i] : 0;
        s->share = decimal_of_percent(s->q);
        s->found = i == n;
        s->kept.all = malloc(MOST_KEPT * sizeof *s->kept.all);
        s->kept.random = (uint64_t)i;
        good = s->kept.all;
    }
    if (good) return of;
    weighted_free(of);
    return NULL;
}

void weighted_free(weighted_search *of)
{
    for (int i = 0; of && of->searches && i <= of->n; i++)
        free(of->searches[i].kept.all);
    if (of) free(of->searches);
    free(of);
}

static bool has_quantiles(const weighted_search *of)
{
    return !of->spoilt && !of->any_negative && exact_sum_is_positive(&of->total);
}

static bool has_moments(const weighted_search *of)
{
    return of->any_finite && !of->spoilt && exact_sum_is_positive(&of->finite);
}

bool weighted_next_pass(weighted_search *of)
{
    bool more = of->passes == 0;
    if (of->passes == 1 && has_moments(of)) {
        of->center = two_doubles_divide(exact_sum_read(&of->products), exact_sum_read(&of->finite)).high;
        more = true;
    }
    if (of->passes == 1 && has_quantiles(of)) begin_searches(of);
    for (int i = 0; i < of->n && of->passes > 0 && has_quantiles(of); i++) {
        search *s = &of->searches[i];
        if (of->passes > 1 && !s->found) end_search(of, s);
        more = more || !s->found;
    }
    for (int i = 0; i <= of->n; i++) {
        search *s = &of->searches[i];
        start_keeping(&s->kept);
        s->below = s->here = (exact_sum){0};
    }
    of->passes++;
    return more;
}

static void add_terms(weighted_search *of, exact_sum *to, int64_t terms)
{
    for (int64_t i = 0; i < terms; i++)
        of->spoilt = of->spoilt || !isfinite(of->rows.terms[i]);
    of->spoilt = of->spoilt || !exact_sum_add_all(to, of->rows.terms, terms);
}

static void add_first(weighted_search *of)
{
    weighted_rows *r = &of->rows;
    int64_t all = 0, finite = 0, products = 0;
    for (int i = 0; i < r->count; i++) {
        of->any_negative = of->any_negative || r->weights[i] < 0;
        of->any_finite = of->any_finite || isfinite(r->samples[i]);
        if (r->weights[i] != 0) keep(&of->searches[of->n].kept, key_of(r->samples[i]), r->weights[i]);
        r->terms[all++] = r->weights[i];
    }
    add_terms(of, &of->total, all);
    for (int i = 0; i < r->count; i++)
        if (isfinite(r->samples[i])) r->terms[finite++] = r->weights[i];
    add_terms(of, &of->finite, finite);
    for (int i = 0; i < r->count; i++) {
        if (!isfinite(r->samples[i])) continue;
        const two_doubles product = two_doubles_of_product(r->samples[i], r->weights[i]);
        r->terms[products++] = product.high;
        r->terms[products++] = product.low;
    }
    add_terms(of, &of->products, products);
}

static void add_differences(weighted_search *of)
{
    weighted_rows *r = &of->rows;
    int64_t differences = 0, squares = 0;
    for (int i = 0; i < r->count; i++) {
        const double w = r->weights[i];
        if (!isfinite(r->samples[i])) continue;
        const two_doubles d = two_doubles_of_sum(r->samples[i], -of->center);
        const two_doubles product = two_doubles_of_product(d.high, w);
        r->terms[differences++] = product.high;
        r->terms[differences++] = product.low;
        r->terms[differences++] = d.low * w;
        of->cubes += product.high * d.high * d.high;
        of->fourths += product.high * d.high * d.high * d.high;
    }
    add_terms(of, &of->differences, differences);
    for (int i = 0; i < r->count; i++) {
        const double w = r->weights[i];
        if (!isfinite(r->samples[i])) continue;
        const two_doubles d = two_doubles_of_sum(r->samples[i], -of->center);
        const two_doubles square = two_doubles_of_product(d.high, d.high);
        const two_doubles product = two_doubles_of_product(square.high, w);
        r->terms[squares++] = product.high;
        r->terms[squares++] = product.low;
        r->terms[squares++] = square.low * w;
        r->terms[squares++] = 2 * d.high * d.low * w;
    }
    add_terms(of, &of->squares, squares);
}

static void add_to_search(weighted_search *of, search *s)
{
    weighted_rows *r = &of->rows;
    int64_t below = 0, here = 0;
    for (int i = 0; i < r->count; i++)
        if (key_of(r->samples[i]) < s->low) r->terms[below++] = r->weights[i];
    add_terms(of, &s->below, below);
    for (int i = 0; i < r->count; i++) {
        const uint64_t key = key_of(r->samples[i]);
        if (key < s->low || key > s->high || r->weights[i] == 0) continue;
        r->terms[here++] = r->weights[i];
        keep(&s->kept, key, r->weights[i]);
    }
    add_terms(of, &s->here, here);
}

static void add_rows(weighted_search *of)
{
    if (of->passes == 1) add_first(of);
    if (of->passes == 2 && has_moments(of)) add_differences(of);
    for (int i = 0; i < of->n && of->passes > 1; i++)
        if (!of->searches[i].found) add_to_search(of, &of->searches[i]);
    of->rows.count = 0;
}

static const char *element(const histo_view *v, const int64_t *at)
{
    const char *data = v->data;
    for (int d = 0; d < v->ndim; d++)
        data += at[d] * v->strides[d];
    return data;
}

static double value_at(const histo_view *v, const int64_t *at)
{
    return histo_sample_value(element(v, at), v->dtype);
}

void weighted_add(weighted_search *of, const histo_view *samples, const histo_view *weights,
                  const histo_fill_options *filter)
{
    int64_t at[HISTO_MAX_DIMS] = {0};
    for (int64_t left = histo_view_size(samples); left > 0; left--) {
        const double value = value_at(samples, at), condition = filter->where ? value_at(filter->where, at) : 0;
        const bool masked = filter->mask && value_at(filter->mask, at) == 0;
        const bool outside = filter->where && !(condition >= filter->where_lo && condition <= filter->where_hi);
        if (!isnan(value) && !masked && !outside) {
            of->rows.samples[of->rows.count] = value;
            of->rows.weights[of->rows.count++] = value_at(weights, at);
        }
        if (of->rows.count == AT_ONCE) add_rows(of);
        for (int d = samples->ndim - 1; d >= 0 && ++at[d] == samples->shape[d]; d--)
            at[d] = 0;
    }
    add_rows(of);
}

/* ---- Results --------------------------------------------------------------------------------------------- */

weighted_numbers weighted_read(const weighted_search *of)
{
    weighted_numbers numbers = {of->any_negative, NAN, NAN, NAN, NAN};
    if (!has_moments(of)) return numbers;
    const two_doubles weights = exact_sum_read(&of->finite);
    const two_doubles shift = two_doubles_divide(exact_sum_read(&of->differences), weights);
    const two_doubles variance = two_doubles_subtract(two_doubles_divide(exact_sum_read(&of->squares), weights),
                                                      two_doubles_multiply(shift, shift));
    numbers.mean = of->center;
    numbers.deviation = two_doubles_root(variance).high;
    if (of->any_negative) return numbers;
    numbers.skewness = of->cubes / weights.high / (variance.high * numbers.deviation);
    numbers.kurtosis = of->fourths / weights.high / (variance.high * variance.high) - 3;
    return numbers;
}

void weighted_quantiles(const weighted_search *of, double *quantiles)
{
    for (int i = 0; i < of->n; i++)
        quantiles[i] = has_quantiles(of) ? value_of(of->searches[i].key) : (double)NAN;
}

bool weighted_has_negative(const weighted_search *of)
{
    return of->any_negative;
}
