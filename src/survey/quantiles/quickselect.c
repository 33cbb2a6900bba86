/* Quickselect for several ranks at once, after many keys have been divided into buckets. */
#include "survey/quantiles/quickselect.h"

static void swap(uint64_t *a, uint64_t *b)
{
    const uint64_t old = *a;
    *a = *b;
    *b = old;
}

/* Partition keys[n] by one of them: *below keys are smaller, and *upto smaller or equal. The pivot is random, so that
 * no order of keys is slow. */
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

static void quickselect(histo_order_statistic *statistics, int first, int end, uint64_t *keys, uint64_t n,
                        uint64_t before, uint64_t random)
{
    while (first < end && n > 0) {
        uint64_t below, upto;
        partition(keys, n, &random, &below, &upto);
        int middle = first, after;
        while (middle < end && statistics[middle].rank - before < below)
            middle++;
        for (after = middle; after < end && statistics[after].rank - before < upto; after++)
            statistics[after].key = keys[below];
        if (below < n - upto) { /* recurse into the smaller part, which bounds the depth */
            quickselect(statistics, first, middle, keys, below, before, random);
            first = after;
            keys += upto;
            n -= upto;
            before += upto;
        } else {
            quickselect(statistics, after, end, keys + upto, n - upto, before + upto, random);
            end = middle;
            n = below;
        }
    }
}

void histo_quickselect(histo_order_statistic *statistics, int count, uint64_t *keys, uint64_t n, uint64_t before)
{
    quickselect(statistics, 0, count, keys, n, before, 1);
}

void histo_select_in_place(histo_order_statistic *statistics, int count, const uint64_t *keys, uint64_t n, uint64_t low,
                           uint64_t high, uint64_t before, uint64_t *scratch)
{
    enum { BUCKETS = 1 << 12 };
    uint32_t counts[BUCKETS] = {0};
    int shift = 0;
    while ((high - low) >> shift >= BUCKETS)
        shift++;
    for (uint64_t i = 0; i < n; i++)
        if (keys[i] - low <= high - low) counts[(keys[i] - low) >> shift]++;
    uint64_t bucket = 0;
    for (int s = 0, next; s < count; s = next) {
        while (bucket < BUCKETS - 1 && statistics[s].rank - before >= counts[bucket])
            before += counts[bucket++];
        for (next = s + 1; next < count && statistics[next].rank - before < counts[bucket];)
            next++;
        const uint64_t from = low + (bucket << shift), rest = high - from, width = (UINT64_C(1) << shift) - 1,
                       to = from + (rest < width ? rest : width);
        for (int i = s; i < next; i++)
            statistics[i].key = from; /* if the bucket holds only this key */
        if (from < to && counts[bucket] > HISTO_SELECT_SCRATCH) {
            histo_select_in_place(statistics + s, next - s, keys, n, from, to, before, scratch);
        } else if (from < to) {
            uint64_t copied = 0;
            for (uint64_t i = 0; i < n && copied < counts[bucket]; i++) {
                scratch[copied] = keys[i];
                copied += keys[i] >= from && keys[i] <= to;
            }
            histo_quickselect(statistics + s, next - s, scratch, copied, before);
        }
    }
}

/* ---- In several ranges ---- */

enum { BUCKETS_OF_RANGE = 1 << 11 };

/* The range that contains a key. */
static inline int range_of(const histo_key_range *ranges, int count, uint64_t key)
{
    int range = 0;
    for (int r = 1; r < count; r++)
        range += key >= ranges[r].low;
    return range;
}

/* Find the buckets that contain statistics; `place` gets the ranks of these among the keys of these buckets alone. */
static uint64_t find_buckets(const histo_order_statistic *statistics, histo_order_statistic *places, int count,
                             const histo_key_range *ranges, int ranges_count, uint32_t counts[][BUCKETS_OF_RANGE],
                             uint8_t wanted[][BUCKETS_OF_RANGE])
{
    uint64_t keys = 0, before = ranges[0].before, bucket = 0;
    for (int s = 0, r = 0; s < count; s++) {
        for (; r < ranges_count - 1 && statistics[s].rank >= ranges[r + 1].before; bucket = 0)
            before = ranges[++r].before;
        while (bucket < BUCKETS_OF_RANGE - 1 && statistics[s].rank - before >= counts[r][bucket])
            before += counts[r][bucket++];
        if (!wanted[r][bucket]) keys += counts[r][bucket];
        wanted[r][bucket] = 1;
        places[s].rank = keys - counts[r][bucket] + (statistics[s].rank - before);
    }
    return keys;
}

bool histo_select_in_ranges(histo_order_statistic *statistics, int count, const uint64_t *keys, uint64_t n,
                            const histo_key_range *ranges, int ranges_count, uint64_t *scratch)
{
    uint32_t counts[HISTO_MOST_RANGES][BUCKETS_OF_RANGE] = {0};
    uint8_t wanted[HISTO_MOST_RANGES][BUCKETS_OF_RANGE] = {0};
    histo_order_statistic places[2 * HISTO_MOST_RANGES];
    int shifts[HISTO_MOST_RANGES] = {0};
    for (int r = 0; r < ranges_count; r++)
        while ((ranges[r].high - ranges[r].low) >> shifts[r] >= BUCKETS_OF_RANGE)
            shifts[r]++;
    for (uint64_t i = 0; i < n; i++) {
        const int r = range_of(ranges, ranges_count, keys[i]);
        counts[r][(keys[i] - ranges[r].low) >> shifts[r]]++;
    }
    const uint64_t left = find_buckets(statistics, places, count, ranges, ranges_count, counts, wanted);
    if (left >= HISTO_SELECT_SCRATCH) return false;
    uint64_t copied = 0;
    for (uint64_t i = 0; i < n && copied < left; i++) {
        const int r = range_of(ranges, ranges_count, keys[i]);
        scratch[copied] = keys[i];
        copied += wanted[r][(keys[i] - ranges[r].low) >> shifts[r]];
    }
    histo_quickselect(places, count, scratch, copied, 0);
    for (int s = 0; s < count; s++)
        statistics[s].key = places[s].key;
    return true;
}
