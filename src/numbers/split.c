/* Thresholds. Formulas as in scikit-image, in double; a histogram extends from its first to its last occupied bin. */
#include "numbers/split.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"

static const char *const method_names[] = {
    [HISTO_SPLIT_OTSU] = "otsu", [HISTO_SPLIT_TRIANGLE] = "triangle",       [HISTO_SPLIT_LI] = "li",
    [HISTO_SPLIT_YEN] = "yen",   [HISTO_SPLIT_ISODATA] = "isodata",         [HISTO_SPLIT_MINIMUM] = "minimum",
    [HISTO_SPLIT_MEAN] = "mean", [HISTO_SPLIT_MAX_ENTROPY] = "max-entropy",
};
enum { METHODS = sizeof method_names / sizeof *method_names };

histo_status histo_split_method_parse(const char *name, histo_split_method *method)
{
    if (!method) return histo_fail(HISTO_INVALID, "the place for the method is NULL");
    *method = 0;
    int found;
    histo_status status = histo_name_find(method_names, METHODS, name, "method", &found);
    if (status == HISTO_OK) *method = (histo_split_method)found;
    return status;
}

/* Steps of about a nanosecond. */
enum { STEPS_A_SEARCH = 64, STEPS_A_SHARE = 16 };

/* Sums over the levels [0, i): of the counts, and of the samples relative to the value of the first level. */
typedef struct sums {
    double n, s;
} sums;

static sums sums_add(sums upto, const histo_axis *axis, const histo_levels *levels, int64_t i)
{
    const double n = (double)levels->count[i];
    return (sums){upto.n + n,
                  upto.s + n * (histo_bin_value(axis, levels->bin[i]) - histo_bin_value(axis, levels->bin[0]))};
}

static sums sums_all(const histo_axis *axis, const histo_levels *levels, histo_pace *pace)
{
    sums all = {0, 0};
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++)
        all = sums_add(all, axis, levels, i);
    return all;
}

/* The highest bin in [low, high] whose value, relative to that of the first level, is at most x; low if there is
 * none. */
static int64_t last_bin_upto(const histo_axis *axis, const histo_levels *levels, double x, int64_t low, int64_t high)
{
    const double origin = histo_bin_value(axis, levels->bin[0]);
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (histo_bin_value(axis, middle) - origin <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t split_mean(const histo_axis *axis, const histo_levels *levels, histo_pace *pace)
{
    const sums all = sums_all(axis, levels, pace);
    return last_bin_upto(axis, levels, all.s / all.n, levels->bin[0], levels->bin[levels->n - 1]);
}

/* Zack, Rogers and Latt, "Automatic measurement of sister chromatid exchange frequency", Journal of Histochemistry and
 * Cytochemistry 25 (1977): the bin that is farthest below the line from the peak to the farther end. Within a gap, only
 * the bin nearest to the peak qualifies. */
static int64_t split_triangle(const histo_levels *levels, histo_pace *pace)
{
    const int64_t first = levels->bin[0], end = levels->bin[levels->n - 1];
    int64_t peak = 0;
    for (int64_t i = 1; i < levels->n && histo_goes_on(pace, 1); i++)
        if (levels->count[i] > levels->count[peak]) peak = i;
    const bool flip = levels->bin[peak] - first < end - levels->bin[peak];
    const double height = (double)levels->count[peak];
    const double width = (double)(flip ? end - levels->bin[peak] : levels->bin[peak] - first);
    const double norm = sqrt(height * height + width * width), up = height / norm, along = width / norm;
    double farthest = -INFINITY;
    int64_t found = 0;
    for (int64_t i = flip ? levels->n - 1 : 0; i != peak && histo_goes_on(pace, 1); i += flip ? -1 : 1) {
        const int64_t bin = levels->bin[i], next = levels->bin[flip ? i - 1 : i + 1],
                      before = flip ? next + 1 : next - 1;
        const double here = up * (double)llabs(bin - (flip ? end : first)) - along * (double)levels->count[i];
        const double gap = up * (double)llabs(before - (flip ? end : first));
        if (here > farthest) {
            farthest = here;
            found = bin;
        }
        if (before == bin || gap <= farthest) continue;
        farthest = gap;
        found = before;
    }
    return found;
}

/* The number of levels up to a bin. */
static int64_t levels_upto(const histo_levels *levels, int64_t bin)
{
    int64_t low = 0, high = levels->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (levels->bin[middle] <= bin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Li and Tam, "An iterative algorithm for minimum cross entropy thresholding", Pattern Recognition Letters 19 (1998).
 * Thresholds move in one direction, to another level each time. They may move slowly, so the sums up to each level are
 * kept. */
static histo_status split_li(const histo_axis *axis, const histo_levels *levels, int64_t *last, histo_pace *pace)
{
    const size_t bytes = ((size_t)levels->n + 1) * sizeof(sums);
    sums *upto = histo_malloc(bytes);
    if (!upto) return histo_fail_memory(bytes, "sums up to each bin");
    double least = INFINITY;
    upto[0] = (sums){0, 0};
    for (int64_t i = 0; i < levels->n && histo_goes_on(pace, 1); i++)
        upto[i + 1] = sums_add(upto[i], axis, levels, i);
    for (int64_t i = 1; i < levels->n && histo_goes_on(pace, 1); i++)
        least = fmin(least, histo_bin_value(axis, levels->bin[i]) - histo_bin_value(axis, levels->bin[i - 1]));
    if (pace->status != HISTO_OK) {
        histo_free(upto);
        return pace->status;
    }
    const double tolerance = axis->kind == HISTO_INTEGER ? 0.5 : least / 2;
    const int64_t first = levels->bin[0], end = levels->bin[levels->n - 1];
    const sums all = upto[levels->n];
    double next = all.s / all.n, now = -2 * tolerance;
    for (int64_t moves = 0; moves <= levels->n && fabs(next - now) > tolerance && histo_goes_on(pace, STEPS_A_SEARCH);
         moves++) {
        now = next;
        const sums below = upto[levels_upto(levels, last_bin_upto(axis, levels, now, first, end))];
        const double low = below.s / below.n, high = (all.s - below.s) / (all.n - below.n);
        if (low == 0) break;
        next = (low - high) / (log(low) - log(high));
    }
    histo_free(upto);
    *last = last_bin_upto(axis, levels, next, first, end);
    return pace->status;
}

/* Ridler and Calvard, "Picture thresholding using an iterative selection method", IEEE Transactions on Systems, Man,
 * and Cybernetics 8 (1978): the lowest bin whose value is half-way between the means of the samples up to it and above
 * it. */
static int64_t split_isodata(const histo_axis *axis, const histo_levels *levels, histo_pace *pace)
{
    const sums all = sums_all(axis, levels, pace);
    const double origin = histo_bin_value(axis, levels->bin[0]);
    sums below = {0, 0};
    int64_t last = levels->bin[0];
    for (int64_t i = 0; i < levels->n - 1 && histo_goes_on(pace, STEPS_A_SEARCH); i++) {
        below = sums_add(below, axis, levels, i);
        const double middle = (below.s / below.n + (all.s - below.s) / (all.n - below.n)) / 2;
        last = last_bin_upto(axis, levels, middle, levels->bin[i], levels->bin[i + 1] - 1);
        const double value = histo_bin_value(axis, last) - origin, next = histo_bin_value(axis, last + 1) - origin;
        if (value <= middle && middle < next) break;
    }
    return last;
}

/* ---- Criteria of both classes' shares ---- */

/* A criterion that is largest at the best split: `term` is summed over the shares of the bins of each class, and `of`
 * combines the sums with the shares of the classes. */
typedef struct criterion {
    double (*term)(double share);
    double (*of)(double share_below, double below, double share_above, double above);
} criterion;

static double square(double share)
{
    return share * share;
}

static double correlation(double share_below, double below, double share_above, double above)
{
    return square(share_below * share_above) / (below * above);
}

/* Yen, Chang and Chang, "A new criterion for automatic multilevel thresholding", IEEE Transactions on Image Processing
 * 4 (1995). */
static const criterion yen = {square, correlation};

static double share_log(double share)
{
    return share * log(share);
}

static double entropies(double share_below, double below, double share_above, double above)
{
    return log(share_below) - below / share_below + log(share_above) - above / share_above;
}

/* Kapur, Sahoo and Wong, "A new method for gray-level picture thresholding using the entropy of the histogram",
 * Computer Vision, Graphics, and Image Processing 29 (1985). */
static const criterion max_entropy = {share_log, entropies};

static histo_status split_by_shares(const criterion *by, const histo_levels *levels, int64_t *last, histo_pace *pace)
{
    const size_t bytes = (size_t)levels->n * sizeof(double);
    double *above = histo_malloc(bytes); /* sums of the terms of higher levels: differences would cancel */
    if (!above) return histo_fail_memory(bytes, "sums of shares");
    const double total = (double)levels->total;
    above[levels->n - 1] = 0;
    for (int64_t i = levels->n - 1; i > 0 && histo_goes_on(pace, STEPS_A_SHARE); i--)
        above[i - 1] = above[i] + by->term((double)levels->count[i] / total);
    double below = 0, largest = -INFINITY;
    uint64_t n = 0;
    for (int64_t i = 0; i < levels->n - 1 && histo_goes_on(pace, STEPS_A_SHARE); i++) {
        n += levels->count[i];
        below += by->term((double)levels->count[i] / total);
        const double value = by->of((double)n / total, below, (double)(levels->total - n) / total, above[i]);
        if (value <= largest) continue;
        largest = value;
        *last = levels->bin[i];
    }
    histo_free(above);
    return pace->status;
}

/* ---- The minimum between two maxima ---- */

enum { SMOOTHINGS = 10000 };

/* The mean of each bin and its neighbours; bins at the ends are their own neighbours. */
static void smooth(const double *restrict from, double *restrict to, int64_t n)
{
    to[0] = (from[0] + from[0] + from[1]) / 3;
    for (int64_t i = 1; i < n - 1; i++)
        to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
    to[n - 1] = (from[n - 2] + from[n - 1] + from[n - 1]) / 3;
}

/* The number of maxima, with 3 for any more, and the first two of them. */
static int find_maxima(const double *of, int64_t n, int64_t maxima[2])
{
    int found = 0;
    bool rises = true;
    for (int64_t i = 0; i < n - 1 && found < 3; i++) {
        if (rises && of[i + 1] < of[i]) {
            if (found < 2) maxima[found] = i;
            found++;
            rises = false;
        } else if (!rises && of[i + 1] > of[i]) {
            rises = true;
        }
    }
    return found;
}

/* Prewitt and Mendelsohn, "The analysis of cell images", Annals of the New York Academy of Sciences 128 (1966). `now`
 * and `next` are n bins each; `now` has the counts. *minimum is -1 if there are not two maxima. */
static histo_status find_minimum(double *now, double *next, int64_t n, int64_t *minimum, histo_pace *pace)
{
    int64_t maxima[2];
    int found = 3;
    *minimum = -1;
    for (int i = 0; i < SMOOTHINGS && found > 2; i++) {
        if (!histo_goes_on(pace, n)) return pace->status;
        smooth(now, next, n);
        double *swap = now;
        now = next;
        next = swap;
        found = find_maxima(now, n, maxima);
    }
    if (found != 2) return HISTO_OK;
    *minimum = maxima[0];
    for (int64_t i = maxima[0]; i <= maxima[1]; i++)
        if (now[i] < now[*minimum]) *minimum = i;
    return HISTO_OK;
}

static histo_status split_minimum(const histo_levels *levels, int64_t entry, int64_t *last, histo_pace *pace)
{
    const int64_t first = levels->bin[0], n = levels->bin[levels->n - 1] - first + 1, most = 1 << 16;
    if (n > most)
        return histo_fail(HISTO_UNSUPPORTED, "the samples of histogram %lld span %lld bins; 'minimum' takes up to %lld",
                          (long long)entry, (long long)n, (long long)most);
    const size_t bytes = 2 * (size_t)n * sizeof(double);
    double *counts = histo_calloc(2 * (size_t)n, sizeof *counts);
    if (!counts) return histo_fail_memory(bytes, "smoothed counts");
    for (int64_t i = 0; i < levels->n; i++)
        counts[levels->bin[i] - first] = (double)levels->count[i];
    int64_t minimum;
    const histo_status status = find_minimum(counts, counts + n, n, &minimum, pace);
    histo_free(counts);
    if (status != HISTO_OK) return status;
    if (minimum < 0) return histo_fail(HISTO_INVALID, "histogram %lld has no two maxima", (long long)entry);
    *last = first + minimum;
    return HISTO_OK;
}

/* ---- All methods ---- */

static histo_status split(histo_split_method method, const histo_axis *axis, const histo_levels *levels, int classes,
                          int64_t entry, int64_t *last, histo_pace *pace)
{
    if (levels->n == 1 && classes == 2) {
        last[0] = levels->bin[0];
        return HISTO_OK;
    }
    if (levels->n < classes)
        return histo_fail(HISTO_INVALID, "histogram %lld has %lld occupied bins, too few for %d classes",
                          (long long)entry, (long long)levels->n, classes);
    switch (method) {
    case HISTO_SPLIT_OTSU:
        return histo_split_otsu(axis, levels, classes, entry, last, pace);
    case HISTO_SPLIT_MINIMUM:
        return split_minimum(levels, entry, last, pace);
    case HISTO_SPLIT_YEN:
        return split_by_shares(&yen, levels, last, pace);
    case HISTO_SPLIT_MAX_ENTROPY:
        return split_by_shares(&max_entropy, levels, last, pace);
    case HISTO_SPLIT_TRIANGLE:
        last[0] = split_triangle(levels, pace);
        break;
    case HISTO_SPLIT_LI:
        return split_li(axis, levels, last, pace);
    case HISTO_SPLIT_ISODATA:
        last[0] = split_isodata(axis, levels, pace);
        break;
    case HISTO_SPLIT_MEAN:
        last[0] = split_mean(axis, levels, pace);
        break;
    }
    return pace->status;
}

histo_status histo_hist_split(const histo_hist *hist, histo_split_method method, int classes, int64_t *last)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_numbers_check(hist, 1, last, "last bins of classes");
    if (status != HISTO_OK) return status;
    if ((int)method < 0 || (int)method >= METHODS) return histo_fail(HISTO_INVALID, "unknown method %d", (int)method);
    if (classes < 2) return histo_fail(HISTO_INVALID, "%d classes: there must be 2 or more", classes);
    if (classes > 2 && method != HISTO_SPLIT_OTSU)
        return histo_fail(HISTO_INVALID, "only 'otsu' splits into more than two classes");
    const histo_axis axis = histo_hist_axis(hist, 0);
    histo_occupied all;
    status = histo_occupied_read_finite(&all, hist, "the split");
    histo_pace pace = {.stage = "splitting"};
    for (int64_t b = 0; b < histo_hist_batch(hist) && status == HISTO_OK; b++) {
        const histo_levels levels = histo_occupied_next(&all, &pace);
        status = pace.status;
        if (status == HISTO_OK) status = split(method, &axis, &levels, classes, b, last + b * (classes - 1), &pace);
    }
    histo_occupied_release(&all);
    return status;
}
