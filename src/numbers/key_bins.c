#include "numbers/key_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "counts/hist.h"
#include "sum/long.h"
#include "view/dtype.h"

enum { WORDS = HISTO_KEY_SUM_WORDS, UNIT = HISTO_LONG_UNIT };

/* ---- Sums ---- */

/* The value of a key as significand * 2^shift units. */
static histo_wide_int significand_of(histo_dtype dtype, uint64_t key, int *shift)
{
    const histo_number value = histo_key_number(dtype, key);
    *shift = UNIT;
    if (dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64) return value.i64;
    if (histo_dtype_is_integer(dtype)) return value.u64;
    uint64_t bits;
    memcpy(&bits, &value.f64, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t one = UINT64_C(1) << 52;
    const int64_t significand = (int64_t)((bits & (one - 1)) | (exponent ? one : 0));
    *shift = exponent ? exponent - 1 : 0;
    return bits >> 63 ? -significand : significand;
}

static void add_times(histo_key_sum *sum, histo_dtype dtype, uint64_t key, uint64_t times, int sign)
{
    int shift;
    const histo_wide_int significand = sign * significand_of(dtype, key, &shift);
    const uint32_t low = (uint32_t)times, high = (uint32_t)(times >> 32);
    histo_long_add_at(sum->word, WORDS, significand * low, shift);
    if (high) histo_long_add_at(sum->word, WORDS, significand * high, shift + 32);
}

void histo_key_sum_add(histo_key_sum *sum, histo_dtype dtype, uint64_t key, uint64_t times)
{
    add_times(sum, dtype, key, times, 1);
}

void histo_key_sum_subtract(histo_key_sum *sum, histo_dtype dtype, uint64_t key, uint64_t times)
{
    add_times(sum, dtype, key, times, -1);
}

double histo_key_sum_round(const histo_key_sum *sum, int exponent)
{
    histo_key_sum magnitude = *sum;
    const bool negative = histo_long_is_negative(sum->word, WORDS);
    if (negative) histo_long_negate(magnitude.word, WORDS);
    const double value = histo_long_round(magnitude.word, WORDS, -UNIT - exponent, false);
    return negative ? -value : value;
}

/* ---- Keys ---- */

histo_number histo_key_number(histo_dtype dtype, uint64_t key)
{
    const histo_key_flip flip = histo_key_flip_of(dtype);
    if (!histo_dtype_is_integer(dtype)) return (histo_number){.f64 = histo_key_value(dtype, key) + 0.0};
    if (!flip.sign) return (histo_number){.u64 = key};
    return (histo_number){.i64 = (int64_t)(key - flip.sign)}; /* the sign bit is an offset */
}

uint64_t histo_key_upto(histo_dtype dtype, double x, uint64_t least)
{
    uint64_t low = least, high = histo_finite_keys(dtype).last;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2 + 1;
        if (histo_key_value(dtype, middle) <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t histo_key_below(histo_dtype dtype, double x, uint64_t least)
{
    uint64_t key = histo_key_upto(dtype, x, least);
    while (key > least && histo_key_value(dtype, key) >= x)
        key--;
    return key;
}

/* ---- Lists of keys ---- */

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

histo_status histo_key_list_add(histo_key_list *list, const histo_distinct *drawn, int64_t quantiles)
{
    const int64_t step = drawn->keys_count / quantiles + 1, more = 2 * (drawn->keys_count / step + 1) + 3;
    uint64_t *keys = histo_realloc(list->keys, (size_t)(list->count + more) * sizeof *keys);
    if (!keys) return histo_fail_memory((size_t)(list->count + more) * sizeof *keys, "keys to count between");
    list->keys = keys;
    int64_t n = list->count;
    if (n == 0) {
        keys[n++] = drawn->least;
        keys[n++] = drawn->most;
    }
    const uint64_t first = keys[0];
    if (list->count == 0 && drawn->most > first) keys[n++] = drawn->most - 1;
    for (int64_t i = step / 2; i < drawn->keys_count; i += step) {
        keys[n++] = drawn->keys[i];
        if (drawn->keys[i] > first) keys[n++] = drawn->keys[i] - 1;
    }
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    list->count = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || keys[i] > keys[list->count - 1]) keys[list->count++] = keys[i];
    return HISTO_OK;
}

void histo_key_list_free(histo_key_list *list)
{
    histo_free(list->keys);
    *list = (histo_key_list){0};
}

/* ---- Histograms ---- */

histo_status histo_key_source_make(histo_source *source, const histo_view *samples, const histo_fill_options *options,
                                   histo_dtype dtype, const char *whose)
{
    const histo_status status = histo_source_make_typed(source, samples, options, dtype, whose);
    if (status != HISTO_OK || source->home == HISTO_DEVICE_CPU) return status;
    return histo_fail(HISTO_UNSUPPORTED, "%s of samples in host memory: copy them from GPU %d", whose,
                      source->home - HISTO_DEVICE_CUDA(0));
}

histo_status histo_key_bins_create(histo_hist **hist, histo_dtype dtype, const histo_key_list *list, bool sums)
{
    const bool is_float = !histo_dtype_is_integer(dtype), is_signed = !is_float && histo_key_flip_of(dtype).sign;
    const int64_t n = list->count;
    const size_t bytes = (size_t)(n + 1) * sizeof(histo_number);
    histo_number *edges = histo_malloc(bytes);
    if (!edges) return histo_fail_memory(bytes, "edges between keys");
    edges[0] = histo_key_number(dtype, list->keys[0]);
    for (int64_t i = 0; i < n - 1; i++) /* an edge is the first value of the bin above */
        edges[i + 1] = histo_key_number(dtype, list->keys[i] + 1);
    edges[n] = histo_key_number(dtype, list->keys[n - 1]);
    const histo_axis axis = is_float    ? histo_axis_variable(n, &edges->f64)
                            : is_signed ? histo_axis_variable_i64(n, &edges->i64)
                                        : histo_axis_variable_u64(n, &edges->u64);
    const histo_axis closed = histo_axis_closed(axis);
    const histo_hist_options options = {.weighting = sums ? HISTO_WEIGHT_REPRODUCIBLE_SUM : HISTO_UNWEIGHTED};
    const histo_status status = histo_hist_create(hist, 1, &closed, &options);
    histo_free(edges);
    return status;
}

/* Count records block by block, as their weights, which are not records, require. */
static histo_status fill_records(histo_hist *hist, const histo_source *source)
{
    const bool sums = histo_hist_weighting(hist) != HISTO_UNWEIGHTED;
    histo_samples from;
    histo_status status = HISTO_OK;
    histo_samples_start(&from, source, 0, source->samples);
    while (status == HISTO_OK && histo_samples_next(&from)) {
        const histo_view block = histo_view_1d(from.block, source->dtypes[0], from.n);
        status = histo_hist_fill(hist, &block, &(histo_fill_options){.weights = sums ? &block : NULL});
    }
    return from.stopped ? histo_fail_cancelled("counting") : status;
}

histo_status histo_key_bins_fill(histo_hist *hist, const histo_source *source, const histo_view *samples,
                                 const histo_fill_options *options)
{
    if (source->functions) return fill_records(hist, source);
    histo_fill_options fill = options ? *options : (histo_fill_options){0};
    histo_view flat[3]; /* without batch dimensions */
    const histo_view **const views[] = {&samples, &fill.mask, &fill.where};
    for (int v = 0; v < 3; v++) {
        if (!*views[v]) continue;
        flat[v] = **views[v];
        flat[v].batch_ndim = 0;
        *views[v] = &flat[v];
    }
    fill.offsets = NULL;
    if (histo_hist_weighting(hist) != HISTO_UNWEIGHTED) fill.weights = samples;
    return histo_hist_fill(hist, samples, &fill);
}

/* The exact sum of a slot: its windows of 32 bits begin 14 bits below the unit. */
static void add_slot(histo_key_sum *sum, const histo_exact *exact, int64_t slot)
{
    enum { BELOW = 32 * HISTO_EXACT_UNIT - UNIT };
    const histo_exact_value value = histo_exact_get(exact, slot);
    histo_long_add_at(sum->word, WORDS, value.digit[0] / (1 << BELOW), 0);
    for (int k = 1; k < HISTO_EXACT_WINDOWS; k++)
        if (value.digit[k]) histo_long_add_at(sum->word, WORDS, value.digit[k], 32 * k - BELOW);
}

histo_status histo_key_bins_read(const histo_hist *hist, const histo_key_list *list, histo_key_point *points)
{
    const int64_t n = list->count;
    const size_t bytes = (size_t)n * sizeof(uint64_t);
    uint64_t *counts = histo_malloc(bytes);
    if (!counts) return histo_fail_memory(bytes, "counts between keys");
    const histo_status status = histo_hist_read_counts(hist, HISTO_BINS, counts, n, NULL);
    const histo_exact *exact = hist->accumulators.exact_w;
    histo_key_point upto = {0};
    for (int64_t i = 0; i < n && status == HISTO_OK; i++) {
        upto.key = list->keys[i];
        upto.upto += counts[i];
        if (exact) add_slot(&upto.sum, exact, i + 1); /* slot 0 is underflow */
        points[i] = upto;
    }
    histo_free(counts);
    return status;
}
