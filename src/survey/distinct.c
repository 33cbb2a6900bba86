/* Keys are collected until there are many, then sorted and merged into the list of values. Once that is full, every
 * n-th of the sorted samples is kept as a random draw, and more keys are drawn from the samples that follow. */
#include "survey/distinct.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "view/dtype.h"

enum { WAITING = HISTO_MOST_DRAWN_KEYS, ROOM = HISTO_MOST_DISTINCT + WAITING };

histo_key_span histo_finite_keys(histo_dtype dtype)
{
    const histo_key_limits limits = histo_key_limits_of(dtype, true);
    return (histo_key_span){limits.least, limits.most};
}

histo_status histo_distinct_make(histo_distinct *d, histo_dtype dtype)
{
    const size_t bytes = ROOM * sizeof *d->values, waiting = 2 * WAITING * sizeof *d->keys;
    *d = (histo_distinct){.dtype = dtype, .values = histo_malloc(bytes), .keys = histo_malloc(waiting)};
    return d->values && d->keys ? HISTO_OK : histo_fail_memory(bytes + waiting, "the distinct values of samples");
}

void histo_distinct_free(histo_distinct *d)
{
    histo_free(d->values);
    histo_free(d->keys);
    *d = (histo_distinct){0};
}

void histo_distinct_start(histo_distinct *d, const histo_key_span *spans, int64_t spans_count)
{
    d->spans = spans;
    d->spans_count = spans_count;
    d->samples = 0;
    d->least = UINT64_MAX;
    d->most = 0;
    d->all = true;
    d->count = d->keys_count = 0;
    d->random = 1;
}

/* Radix sort keys[n], with as much scratch space. */
static void sort(uint64_t *keys, uint64_t *scratch, int64_t n, int bits)
{
    enum { DIGIT = 8, DIGITS = 1 << DIGIT };
    uint64_t *from = keys, *to = scratch;
    for (int shift = 0; shift < bits && n > 1; shift += DIGIT) {
        int64_t ends[DIGITS] = {0}, sum = 0;
        for (int64_t i = 0; i < n; i++)
            ends[from[i] >> shift & (DIGITS - 1)]++;
        if (ends[from[0] >> shift & (DIGITS - 1)] == n) continue;
        for (int i = 0; i < DIGITS; i++) {
            const int64_t count = ends[i];
            ends[i] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[ends[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, (size_t)n * sizeof *keys);
}

static int key_bits(histo_dtype dtype)
{
    return 8 * (int)histo_dtype_size(dtype);
}

/* Count the collected keys that are among the values. The others stay, once each, with their counts in counts[];
 * returns their number. */
static int64_t count_known(histo_distinct *d, uint64_t *counts)
{
    int64_t fresh = 0, at = 0;
    for (int64_t i = 0, next; i < d->keys_count; i = next) {
        const uint64_t key = d->keys[i];
        for (next = i + 1; next < d->keys_count && d->keys[next] == key; next++)
            ;
        while (at < d->count && d->values[at].key < key)
            at++;
        if (at < d->count && d->values[at].key == key) {
            d->values[at].count += (uint64_t)(next - i);
            continue;
        }
        d->keys[fresh] = key;
        counts[fresh++] = (uint64_t)(next - i);
    }
    return fresh;
}

static uint64_t next_random(histo_distinct *d)
{
    d->random = d->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return d->random >> 33;
}

/* The number of samples to skip before the next draw: the interval on average, but random, so that periodic data do no
 * harm. */
static void draw_next(histo_distinct *d)
{
    d->skip = d->interval > 1 ? next_random(d) % (2 * d->interval - 1) : 0;
}

/* Keep every n-th of the sorted samples as a random draw. */
static void begin_drawing(histo_distinct *d)
{
    d->all = false;
    d->interval = d->samples / (HISTO_MOST_DRAWN_KEYS / 2) + 1;
    d->keys_count = 0;
    uint64_t upto = 0, next = d->interval / 2;
    for (int64_t i = 0; i < d->count; i++)
        for (upto += d->values[i].count; next < upto; next += d->interval)
            d->keys[d->keys_count++] = d->values[i].key;
    draw_next(d);
}

/* Merge the collected keys into the values. */
static void settle(histo_distinct *d)
{
    uint64_t *counts = d->keys + WAITING;
    sort(d->keys, counts, d->keys_count, key_bits(d->dtype));
    const int64_t fresh = count_known(d, counts);
    int64_t old = d->count - 1, new = fresh - 1;
    for (int64_t to = d->count + fresh - 1; new >= 0; to--) {
        if (old >= 0 && d->values[old].key > d->keys[new]) {
            d->values[to] = d->values[old--];
        } else {
            d->values[to] = (histo_key_count){d->keys[new], counts[new]};
            new --;
        }
    }
    d->count += fresh;
    d->keys_count = 0;
    if (d->count > HISTO_MOST_DISTINCT) begin_drawing(d);
}

static void drop_every_other(histo_distinct *d)
{
    d->keys_count /= 2;
    for (int64_t i = 0; i < d->keys_count; i++)
        d->keys[i] = d->keys[2 * i];
    d->interval *= 2;
}

static bool is_in_spans(const histo_distinct *d, uint64_t key)
{
    int64_t low = 0, high = d->spans_count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (key <= d->spans[middle].last)
            high = middle;
        else
            low = middle + 1;
    }
    return key >= d->spans[low].first && key <= d->spans[low].last;
}

/* Keep those of keys[n] that are in the spans, in order. */
static int64_t filter(const histo_distinct *d, uint64_t *keys, int64_t n)
{
    const bool is_float = !histo_dtype_is_integer(d->dtype);
    const int shift = key_bits(d->dtype) - 1;
    const uint64_t negative_zero = (UINT64_C(1) << shift) - 1;
    const uint64_t first = d->spans[0].first, last = d->spans[d->spans_count - 1].last;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = keys[i] + (is_float & (keys[i] == negative_zero));
        keys[kept] = key;
        kept += (key >= first) & (key <= last);
    }
    if (d->spans_count == 1) return kept;
    n = kept;
    kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (is_in_spans(d, keys[i])) keys[kept++] = keys[i];
    return kept;
}

static void add_keys(histo_distinct *d, const uint64_t *keys, int64_t n)
{
    uint64_t least = d->least, most = d->most;
    for (int64_t i = 0; i < n; i++) {
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
    }
    d->least = least;
    d->most = most;
    d->samples += (uint64_t)n;
    if (d->all) {
        memcpy(d->keys + d->keys_count, keys, (size_t)n * sizeof *keys);
        d->keys_count += n;
        if (d->keys_count > WAITING - HISTO_KEYS_AT_ONCE) settle(d);
        return;
    }
    uint64_t at = d->skip;
    for (; at < (uint64_t)n; at += d->skip + 1) {
        if (d->keys_count == HISTO_MOST_DRAWN_KEYS) drop_every_other(d);
        d->keys[d->keys_count++] = keys[at];
        draw_next(d);
    }
    d->skip = at - (uint64_t)n;
}

histo_status histo_distinct_add(histo_distinct *d, const histo_source *source)
{
    const size_t size = histo_dtype_size(d->dtype);
    uint64_t keys[HISTO_KEYS_AT_ONCE];
    histo_samples from;
    histo_status status = HISTO_OK;
    histo_samples_start(&from, source, 0, source->samples);
    while (status == HISTO_OK && histo_samples_next(&from)) {
        for (int64_t begin = 0; begin < from.n; begin += HISTO_KEYS_AT_ONCE) {
            const int64_t left = from.n - begin, n = left < HISTO_KEYS_AT_ONCE ? left : HISTO_KEYS_AT_ONCE;
            histo_keys_make(d->dtype, (const char *)from.block + (size_t)begin * size, n, keys);
            add_keys(d, keys, filter(d, keys, n));
        }
        status = histo_go_on("surveying", from.n, from.at, from.all);
    }
    return from.stopped ? histo_fail_cancelled("surveying") : status;
}

void histo_distinct_end(histo_distinct *d)
{
    if (d->all) settle(d);
    if (!d->all) sort(d->keys, d->keys + WAITING, d->keys_count, key_bits(d->dtype));
}
