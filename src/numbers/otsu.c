/* Otsu, "A threshold selection method from gray-level histograms", IEEE Transactions on Systems, Man, and Cybernetics 9
 * (1979), for any number of classes: the split with the least variance within classes, which is the one with the
 * largest sum of S^2 / n over the classes, where n is a class's count and S the sum of its samples. */

#include "table/otsu.h"
#include "base/error.h"
#include "base/memory.h"
#include "numbers/split.h"

/* ---- Two classes of bins of equal width: exactly ---- */

static int64_t split_in_two(const histo_levels *levels, histo_pace *pace)
{
    const int64_t origin = levels->bin[0];
    wide_word_pair s = 0, s0 = 0;
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++)
        s += (wide_word_pair)levels->count[i] * (uint64_t)(levels->bin[i] - origin);
    uint64_t n0 = 0;
    int64_t best_at = 0;
    histo_otsu_split best = {.criterion = -1};
    for (int64_t i = 0; i < levels->n - 1 && histo_goes_on(pace, 1); i++) {
        n0 += levels->count[i];
        s0 += (wide_word_pair)levels->count[i] * (uint64_t)(levels->bin[i] - origin);
        const histo_otsu_split next = histo_otsu_split_of(n0, s0, levels->total, s);
        if (best.criterion >= 0 && !histo_otsu_is_larger(&next, &best)) continue;
        best = next;
        best_at = i;
    }
    return levels->bin[best_at];
}

/* ---- Any number of classes ---- */

/* What levels [begin, end) contribute as a class. */
static double gain(const histo_level_sums *upto, int64_t begin, int64_t end)
{
    const double s = upto[end].s - upto[begin].s;
    return s * s / (double)(upto[end].n - upto[begin].n);
}

/* Up to this many sums are kept for a split; each takes time that grows with the logarithm of the number of bins. */
static const int64_t most_sums = INT64_C(1) << 28;

/* One more class: best[i] is the best split of the first i levels into this many classes, computed from `before`, with
 * one class fewer. from[i] is where its last class begins, the first if tied. */
typedef struct row {
    const histo_level_sums *upto;
    const double *before;
    double *best;
    int32_t *from;
    histo_pace *pace;
} row;

/* Rows begin, … end - 1, whose last classes begin in low … high: from[] never decreases. */
static void fill_row(const row *r, int64_t begin, int64_t end, int64_t low, int64_t high)
{
    if (begin >= end) return;
    enum { BLOCK = 1 << 12 };
    const int64_t middle = begin + (end - begin) / 2, top = high < middle - 1 ? high : middle - 1;
    int64_t found = low;
    double largest = -1;
    for (int64_t i = low; i <= top;) {
        const int64_t behind = top - i < BLOCK ? top + 1 : i + BLOCK;
        if (!histo_goes_on(r->pace, behind - i)) return;
        for (; i < behind; i++) {
            const double value = r->before[i] + gain(r->upto, i, middle);
            if (value <= largest) continue;
            largest = value;
            found = i;
        }
    }
    r->best[middle] = largest;
    r->from[middle] = (int32_t)found;
    fill_row(r, begin, middle, low, found);
    fill_row(r, middle + 1, end, found, high);
}

static void sum_levels(const histo_axis *axis, const histo_levels *levels, histo_level_sums *upto, histo_pace *pace)
{
    const double origin = histo_bin_value(axis, levels->bin[0]);
    double mean = 0;
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++)
        mean += (double)levels->count[i] / (double)levels->total * (histo_bin_value(axis, levels->bin[i]) - origin);
    upto[0] = (histo_level_sums){0, 0};
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++) {
        const double x = histo_bin_value(axis, levels->bin[i]) - origin - mean;
        upto[i + 1] = (histo_level_sums){upto[i].n + levels->count[i], upto[i].s + (double)levels->count[i] * x};
    }
}

bool histo_split_sums_fit(int64_t levels, int classes)
{
    return levels <= most_sums / classes;
}

histo_status histo_split_sums(const histo_level_sums *upto, int64_t levels, int classes, int64_t *ends,
                              histo_pace *pace)
{
    const size_t n = (size_t)levels + 1;
    const size_t bytes = n * (2 * sizeof(double) + (size_t)classes * sizeof(int32_t));
    double *const block = histo_malloc(bytes), *before = block;
    if (!block) return histo_fail_memory(bytes, "a split into classes");
    double *best = block + n;
    int32_t *from = (int32_t *)(best + n);
    for (int64_t i = 1; i <= levels && pace->status == HISTO_OK; i++)
        before[i] = gain(upto, 0, i);
    for (int c = 1; c < classes && pace->status == HISTO_OK; c++) {
        const row r = {upto, before, best, from + (size_t)c * n, pace};
        fill_row(&r, c + 1, levels + 1, c, levels - 1);
        double *swap = before;
        before = best;
        best = swap;
    }
    for (int64_t c = classes - 1, end = levels; c > 0 && pace->status == HISTO_OK; c--)
        ends[c - 1] = end = from[(size_t)c * n + (size_t)end];
    histo_free(block);
    return pace->status;
}

static histo_status split_in_many(const histo_axis *axis, const histo_levels *levels, int classes, int64_t entry,
                                  int64_t *last, histo_pace *pace)
{
    if (!histo_split_sums_fit(levels->n, classes))
        return histo_fail(
            HISTO_UNSUPPORTED,
            "histogram %lld has %lld occupied bins, too many for %d classes: 'otsu' takes up to 2^28 bins "
            "times classes",
            (long long)entry, (long long)levels->n, classes);
    const size_t bytes = ((size_t)levels->n + 1) * sizeof(histo_level_sums);
    histo_level_sums *upto = histo_malloc(bytes);
    if (!upto) return histo_fail_memory(bytes, "a split into classes");
    sum_levels(axis, levels, upto, pace);
    const histo_status status = histo_split_sums(upto, levels->n, classes, last, pace);
    for (int c = 0; c < classes - 1 && status == HISTO_OK; c++)
        last[c] = levels->bin[last[c] - 1];
    histo_free(upto);
    return status;
}

histo_status histo_split_otsu(const histo_axis *axis, const histo_levels *levels, int classes, int64_t entry,
                              int64_t *last, histo_pace *pace)
{
    if (classes > 2 || (axis->kind != HISTO_INTEGER && axis->kind != HISTO_REGULAR))
        return split_in_many(axis, levels, classes, entry, last, pace);
    last[0] = split_in_two(levels, pace);
    return pace->status;
}
