/* The distinct values of the samples decide, if they fit. Otherwise a second pass counts and sums between keys drawn at
 * random from the samples; this narrows the threshold down to a few spans between keys, and a third pass finds the
 * distinct values there. */
#include <string.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "numbers/ordered.h"
#include "numbers/thresholds.h"
#include "sum/long.h"
#include "view/dtype.h"

enum { QUANTILES = 4096, MOST_CLASSES = 256 };

typedef enum phase { MEAN, VALUES, BETWEEN_KEYS, BINS, DONE } phase;

struct histo_thresholds {
    histo_dtype dtype;
    histo_split_method method;
    int classes;
    phase phase;
    bool in_pass, incomplete;
    histo_power_sums sums;   /* MEAN */
    histo_distinct distinct; /* VALUES */
    histo_key_span *spans;   /* [spans_count], of the distinct values sought */
    int64_t spans_count;
    histo_key_list list; /* BETWEEN_KEYS */
    histo_hist *hist;
    histo_key_point *points;      /* [list.count], once counted */
    histo_binned_threshold *bins; /* BINS */
    uint64_t *keys;               /* [classes - 1] */
};

static bool is_exact(histo_split_method method)
{
    return method == HISTO_SPLIT_OTSU || method == HISTO_SPLIT_LI || method == HISTO_SPLIT_ISODATA ||
           method == HISTO_SPLIT_MEAN;
}

static histo_status check(histo_dtype dtype, histo_split_method method, int classes, int64_t bins)
{
    if (histo_dtype_size(dtype) == 0) return histo_fail(HISTO_INVALID, "unknown dtype %d", (int)dtype);
    if ((int)method < 0 || method > HISTO_SPLIT_MAX_ENTROPY)
        return histo_fail(HISTO_INVALID, "unknown method %d", (int)method);
    if (classes < 2 || classes > MOST_CLASSES)
        return histo_fail(HISTO_INVALID, "%d classes: there must be 2 to %d", classes, MOST_CLASSES);
    if (classes > 2 && method != HISTO_SPLIT_OTSU)
        return histo_fail(HISTO_INVALID, "only 'otsu' splits into more than two classes");
    if (bins < 0 || bins > HISTO_MOST_THRESHOLD_BINS)
        return histo_fail(HISTO_INVALID, "bins is %lld: give 0 to 2^24", (long long)bins);
    return HISTO_OK;
}

static histo_status begin(histo_thresholds *t, int64_t bins)
{
    t->keys = histo_calloc((size_t)t->classes - 1, sizeof *t->keys);
    if (!t->keys) return histo_fail_memory(((size_t)t->classes - 1) * sizeof *t->keys, "thresholds");
    if (bins || !is_exact(t->method)) {
        t->phase = BINS;
        return histo_binned_threshold_create(&t->bins, t->dtype, t->method, t->classes, bins);
    }
    if (t->method == HISTO_SPLIT_MEAN) {
        t->phase = MEAN;
        return HISTO_OK;
    }
    t->phase = VALUES;
    t->spans = histo_malloc(sizeof *t->spans);
    if (!t->spans) return histo_fail_memory(sizeof *t->spans, "spans of keys");
    t->spans[0] = histo_finite_keys(t->dtype);
    t->spans_count = 1;
    return histo_distinct_make(&t->distinct, t->dtype);
}

histo_status histo_thresholds_create(histo_thresholds **thresholds, histo_dtype dtype, histo_split_method method,
                                     int classes, int64_t bins)
{
    HISTO_STANDARD_FLOATS;
    if (thresholds) *thresholds = NULL;
    if (!thresholds) return histo_fail(HISTO_INVALID, "the pointer for the thresholds is NULL");
    histo_status status = check(dtype, method, classes, bins);
    if (status != HISTO_OK) return status;
    histo_thresholds *made = histo_malloc(sizeof *made);
    if (!made) return histo_fail_memory(sizeof *made, "thresholds");
    *made = (histo_thresholds){.dtype = histo_dtype_plain(dtype), .method = method, .classes = classes};
    status = begin(made, bins);
    if (status != HISTO_OK) {
        histo_thresholds_destroy(made);
        return status;
    }
    *thresholds = made;
    return HISTO_OK;
}

void histo_thresholds_destroy(histo_thresholds *t)
{
    if (!t) return;
    histo_distinct_free(&t->distinct);
    histo_key_list_free(&t->list);
    histo_hist_destroy(t->hist);
    histo_binned_threshold_destroy(t->bins);
    histo_free(t->spans);
    histo_free(t->points);
    histo_free(t->keys);
    histo_free(t);
}

static histo_status check_whole(const histo_thresholds *t)
{
    if (!t) return histo_fail(HISTO_INVALID, "the thresholds are NULL");
    if (t->incomplete)
        return histo_fail(HISTO_INVALID,
                          "the thresholds hold a part of samples whose adding was cancelled: destroy them");
    return HISTO_OK;
}

/* ---- Between passes ---- */

static histo_status fail_without_samples(void)
{
    return histo_fail(HISTO_INVALID, "there is no threshold: no sample is finite and unmasked");
}

/* Whether the value of a key is at most the mean. */
static bool is_upto_mean(const histo_thresholds *t, uint64_t key, uint64_t n)
{
    histo_key_sum rest = {{0}};
    const bool negative = histo_long_is_negative(t->sums.sum, HISTO_SUM_WORDS);
    memcpy(rest.word, t->sums.sum, sizeof t->sums.sum);
    for (int i = HISTO_SUM_WORDS; i < HISTO_KEY_SUM_WORDS && negative; i++)
        rest.word[i] = UINT64_MAX;
    histo_key_sum_subtract(&rest, t->dtype, key, n);
    return !histo_long_is_negative(rest.word, HISTO_KEY_SUM_WORDS);
}

static histo_status end_mean(histo_thresholds *t)
{
    const uint64_t n = t->sums.samples - t->sums.nan - t->sums.infinite;
    if (n == 0) return fail_without_samples();
    histo_key_span span = histo_finite_keys(t->dtype);
    while (span.first < span.last) {
        const uint64_t middle = span.first + (span.last - span.first) / 2 + 1;
        if (is_upto_mean(t, middle, n))
            span.first = middle;
        else
            span.last = middle - 1;
    }
    t->keys[0] = span.first;
    t->phase = DONE;
    return HISTO_OK;
}

/* Compute the thresholds: everything needed is known. */
static histo_status decide(histo_thresholds *t, const histo_key_count *values, int64_t values_count)
{
    histo_order o;
    histo_pace pace = {.stage = "splitting"};
    histo_status status =
        histo_ordered_make(&o, t->dtype, t->points, t->points ? t->list.count : 0, values, values_count, &pace);
    if (status == HISTO_OK)
        status = t->classes > 2 ? histo_ordered_split(&o, t->classes, t->keys, &pace)
                                : histo_ordered_threshold(&o, t->method, t->keys, &pace);
    histo_ordered_free(&o);
    if (status == HISTO_OK) t->phase = DONE;
    return status;
}

static histo_status end_values(histo_thresholds *t)
{
    histo_distinct *d = &t->distinct;
    histo_distinct_end(d);
    if (d->all && d->count == 0 && !t->points) return fail_without_samples();
    if (d->all) return decide(t, d->values, d->count);
    histo_status status = histo_key_list_add(&t->list, d, QUANTILES);
    if (status == HISTO_OK) status = histo_key_bins_create(&t->hist, t->dtype, &t->list, true);
    if (status == HISTO_OK) t->phase = BETWEEN_KEYS;
    return status;
}

static histo_status find_spans(histo_thresholds *t)
{
    histo_order o;
    histo_pace pace = {.stage = "splitting"};
    const size_t bytes = (size_t)t->list.count * sizeof *t->spans;
    histo_status status = histo_ordered_make(&o, t->dtype, t->points, t->list.count, NULL, 0, &pace);
    histo_key_span *spans = histo_malloc(bytes);
    if (status == HISTO_OK && !spans) status = histo_fail_memory(bytes, "spans of keys");
    if (status == HISTO_OK) {
        histo_free(t->spans);
        t->spans = spans;
        histo_ordered_search(&o, t->method, spans, &t->spans_count);
    } else {
        histo_free(spans);
    }
    histo_ordered_free(&o);
    return status;
}

static histo_status end_between_keys(histo_thresholds *t)
{
    const size_t bytes = (size_t)t->list.count * sizeof *t->points;
    histo_key_point *points = histo_realloc(t->points, bytes);
    if (!points) return histo_fail_memory(bytes, "sums between keys");
    t->points = points;
    histo_status status = histo_key_bins_read(t->hist, &t->list, points);
    if (status != HISTO_OK) return status;
    if (points[t->list.count - 1].upto == 0)
        return histo_fail(HISTO_INVALID, "the samples changed between two passes: add the same each time");
    t->spans_count = 0;
    if (t->classes == 2) status = find_spans(t);
    if (status == HISTO_OK && t->spans_count == 0) status = decide(t, NULL, 0);
    if (status != HISTO_OK) return status;
    histo_hist_destroy(t->hist);
    t->hist = NULL;
    if (t->spans_count) t->phase = VALUES;
    return HISTO_OK;
}

static histo_status end_bins(histo_thresholds *t)
{
    bool more;
    const histo_status status = histo_binned_threshold_end_pass(t->bins, t->keys, &more);
    if (status == HISTO_OK && !more) t->phase = DONE;
    return status;
}

histo_status histo_thresholds_next_pass(histo_thresholds *t, bool *more)
{
    HISTO_STANDARD_FLOATS;
    if (more) *more = false;
    if (!t || !more) return histo_fail(HISTO_INVALID, "the thresholds, or the place for more, are NULL");
    histo_status status = check_whole(t);
    if (status == HISTO_OK && t->in_pass) {
        static histo_status (*const ends[])(histo_thresholds *) = {
            [MEAN] = end_mean, [VALUES] = end_values, [BETWEEN_KEYS] = end_between_keys, [BINS] = end_bins};
        status = ends[t->phase](t);
    }
    if (status != HISTO_OK) return status;
    t->in_pass = t->phase != DONE;
    if (t->phase == VALUES) histo_distinct_start(&t->distinct, t->spans, t->spans_count);
    *more = t->in_pass;
    return HISTO_OK;
}

/* ---- Passes ---- */

histo_status histo_thresholds_add(histo_thresholds *t, const histo_view *samples, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = check_whole(t);
    if (status != HISTO_OK) return status;
    if (!t->in_pass)
        return histo_fail(HISTO_INVALID, "no pass has begun: add samples after histo_thresholds_next_pass gave more");
    histo_source source;
    status = histo_key_source_make(&source, samples, options, t->dtype, "the thresholds are");
    if (status != HISTO_OK) return status;
    if (t->phase == MEAN)
        status = histo_power_sums_add(&t->sums, samples, options);
    else if (t->phase == VALUES)
        status = histo_distinct_add(&t->distinct, &source);
    else if (t->phase == BETWEEN_KEYS)
        status = histo_key_bins_fill(t->hist, &source, samples, options);
    else
        status = histo_binned_threshold_add(t->bins, &source, samples, options);
    t->incomplete = status == HISTO_CANCELLED && t->phase != MEAN;
    return status;
}

histo_status histo_thresholds_read(const histo_thresholds *t, histo_number *numbers)
{
    HISTO_STANDARD_FLOATS;
    const histo_status status = check_whole(t);
    if (status != HISTO_OK) return status;
    if (!numbers) return histo_fail(HISTO_INVALID, "the array for the thresholds is NULL");
    if (t->phase != DONE)
        return histo_fail(HISTO_INVALID,
                          "the thresholds are not known: add the samples while histo_thresholds_next_pass gives more");
    for (int i = 0; i < t->classes - 1; i++)
        numbers[i] = histo_key_number(t->dtype, t->keys[i]);
    return HISTO_OK;
}
