/* Otsu's criterion is a convex function of the count and the sum of the lower class. For the splits within a span,
 * these lie in a triangle: its corners are the points at the ends of the span, and the one where all its samples have
 * one of the two end values, in the proportion that gives their sum. So the criterion at the corners bounds all splits
 * of the span.
 *
 * The methods of Li and Tam and of Ridler and Calvard iterate from one threshold to the next, which increases with the
 * means of both classes, and so with the threshold: a fixed point can only be in a span that the steps from its ends
 * lead into. Steps from elsewhere may start at the lower end of their span: they lead to the same fixed point. */
#include "numbers/ordered.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numbers/split.h"
#include "sum/long.h"
#include "view/dtype.h"

enum { WORDS = HISTO_KEY_SUM_WORDS };

/* Sums of rounded distances decide only if they differ by more than this. */
static const double tolerance = 0x1p-30;

/* The distance of a key from the smallest one. */
static double distance_of(const histo_order *o, uint64_t key)
{
    const uint64_t least = o->levels[0].key;
    if (histo_dtype_is_integer(o->dtype)) return (double)(key - least);
    return ldexp(histo_key_value(o->dtype, key), -o->exponent) - ldexp(histo_key_value(o->dtype, least), -o->exponent);
}

/* The exact sum of a point, as a sum of distances. */
static double sum_of(const histo_order *o, const histo_key_point *point)
{
    histo_key_sum sum = point->sum;
    histo_key_sum_subtract(&sum, o->dtype, o->levels[0].key, point->upto);
    return histo_key_sum_round(&sum, o->exponent);
}

static void set_exponent(histo_order *o, uint64_t least, uint64_t most)
{
    if (histo_dtype_is_integer(o->dtype)) return;
    const double largest = fmax(fabs(histo_key_value(o->dtype, least)), fabs(histo_key_value(o->dtype, most)));
    if (largest > 0) (void)frexp(largest, &o->exponent);
}

histo_status histo_ordered_make(histo_order *o, histo_dtype dtype, const histo_key_point *points, int64_t points_count,
                                const histo_key_count *values, int64_t values_count, histo_pace *pace)
{
    const size_t bytes = (size_t)(points_count + values_count) * sizeof *o->levels;
    *o = (histo_order){.dtype = dtype, .points = points, .points_count = points_count, .levels = histo_malloc(bytes)};
    if (!o->levels) return histo_fail_memory(bytes, "samples in order");
    set_exponent(o, points_count ? points[0].key : values[0].key,
                 points_count ? points[points_count - 1].key : values[values_count - 1].key);
    o->levels[0].key = points_count ? points[0].key : values[0].key;
    uint64_t upto = 0;
    double sum = 0, lost = 0; /* lost: the rounding error of the sum */
    int64_t p = 0, v = 0;
    while ((p < points_count || v < values_count) && histo_goes_on(pace, 8)) {
        histo_ordered_level *level = &o->levels[o->count++];
        if (p == points_count || (v < values_count && values[v].key < points[p].key)) {
            const double more = (double)values[v].count * distance_of(o, values[v].key) - lost, next = sum + more;
            lost = next - sum - more;
            sum = next;
            upto += values[v].count;
            level->key = values[v++].key;
        } else {
            v += v < values_count && values[v].key == points[p].key;
            upto = points[p].upto;
            sum = sum_of(o, &points[p]);
            lost = 0;
            level->key = points[p++].key;
        }
        level->upto = upto;
        level->sum = sum;
    }
    return pace->status;
}

void histo_ordered_free(histo_order *o)
{
    histo_free(o->levels);
    o->levels = NULL;
}

/* ---- Otsu ---- */

static const histo_ordered_level *all_of(const histo_order *o)
{
    return &o->levels[o->count - 1];
}

/* How well a split into `n` samples with this sum and the rest separates them: the variance between classes, up to
 * factors. 0 if a class is empty. */
static double criterion(const histo_order *o, double n, double sum)
{
    const double all = (double)all_of(o)->upto, distance = sum - n * (all_of(o)->sum / all), both = n * (all - n);
    return both > 0 ? distance / both * distance : 0;
}

static double criterion_at(const histo_order *o, int64_t i)
{
    return criterion(o, (double)o->levels[i].upto, o->levels[i].sum);
}

static double best_criterion(const histo_order *o)
{
    double best = 0;
    for (int64_t i = 0; i < o->count; i++)
        best = fmax(best, criterion_at(o, i));
    return best;
}

/* Whether a split between levels i - 1 and i, or at i, which need not be a sample, can be the best. */
static bool may_split(const histo_order *o, int64_t i, double best)
{
    const histo_ordered_level *below = &o->levels[i - 1], *above = &o->levels[i];
    const double n = (double)(above->upto - below->upto), sum = above->sum - below->sum;
    const double lo = distance_of(o, below->key + 1), hi = distance_of(o, above->key);
    const double low = fmin(fmax((n * hi - sum) / (hi - lo), 0), n);
    const double corner = criterion(o, (double)below->upto + low, below->sum + low * lo);
    return fmax(corner, criterion_at(o, i)) >= best * (1 - tolerance);
}

/* A split, for exact comparison: the distance of the class means, times all counts, and the product of the counts. */
typedef struct exact_split {
    uint64_t distance[WORDS], counts[2];
} exact_split;

static exact_split exact_of(const histo_order *o, uint64_t n, const histo_key_sum *below, const histo_key_sum *all)
{
    exact_split split;
    const uint64_t total = all_of(o)->upto, above = total - n;
    uint64_t product[WORDS + 1], other[WORDS + 1];
    histo_key_sum a = *below, b = *all;
    const bool minus_a = histo_long_is_negative(a.word, WORDS), minus_b = histo_long_is_negative(b.word, WORDS);
    if (minus_a) histo_long_negate(a.word, WORDS);
    if (minus_b) histo_long_negate(b.word, WORDS);
    histo_long_multiply(a.word, WORDS, &total, 1, product);
    histo_long_multiply(b.word, WORDS, &n, 1, other);
    if (minus_a) histo_long_negate(product, WORDS);
    if (!minus_b) histo_long_negate(other, WORDS);
    histo_long_add(product, other, WORDS);
    if (histo_long_is_negative(product, WORDS)) histo_long_negate(product, WORDS);
    memcpy(split.distance, product, sizeof split.distance);
    histo_long_multiply(&n, 1, &above, 1, split.counts);
    return split;
}

static bool is_better(const exact_split *a, const exact_split *b)
{
    enum { SQUARE = 2 * WORDS };
    uint64_t square[SQUARE], of_a[SQUARE + 2], of_b[SQUARE + 2];
    histo_long_multiply(a->distance, WORDS, a->distance, WORDS, square);
    histo_long_multiply(square, SQUARE, b->counts, 2, of_a);
    histo_long_multiply(b->distance, WORDS, b->distance, WORDS, square);
    histo_long_multiply(square, SQUARE, a->counts, 2, of_b);
    return histo_long_compare(of_a, of_b, SQUARE + 2) > 0;
}

/* Update the exact sum of all samples from the previous level to level i. */
static void move_up(const histo_order *o, int64_t i, int64_t *point, histo_key_sum *sum)
{
    if (*point < o->points_count && o->points[*point].key == o->levels[i].key)
        *sum = o->points[(*point)++].sum;
    else
        histo_key_sum_add(sum, o->dtype, o->levels[i].key, o->levels[i].upto - (i ? o->levels[i - 1].upto : 0));
}

static histo_status split_by_otsu(const histo_order *o, int64_t *found, histo_pace *pace)
{
    const double least = best_criterion(o) * (1 - tolerance);
    int64_t candidates = 0, point = 0;
    *found = 0;
    for (int64_t i = 0; i < o->count - 1; i++) {
        if (criterion_at(o, i) < least) continue;
        if (candidates++ == 0) *found = i;
    }
    if (candidates < 2) return HISTO_OK;
    histo_key_sum all = {0}, below = {0};
    if (o->points_count)
        all = o->points[o->points_count - 1].sum;
    else
        for (int64_t i = 0; i < o->count && histo_goes_on(pace, 16); i++)
            move_up(o, i, &point, &all);
    exact_split best;
    point = 0;
    for (int64_t i = 0, seen = 0; seen < candidates && histo_goes_on(pace, 16); i++) {
        move_up(o, i, &point, &below);
        if (criterion_at(o, i) < least || o->levels[i].upto == all_of(o)->upto) continue;
        const exact_split split = exact_of(o, o->levels[i].upto, &below, &all);
        if (seen++ > 0 && !is_better(&split, &best)) continue;
        best = split;
        *found = i;
    }
    return pace->status;
}

histo_status histo_ordered_split(const histo_order *o, int classes, uint64_t *keys, histo_pace *pace)
{
    const size_t n = (size_t)o->count + 1;
    const size_t bytes = n * (sizeof(histo_level_sums) + sizeof(int64_t)) + (size_t)classes * sizeof(int64_t);
    histo_level_sums *upto = histo_malloc(bytes);
    if (!upto) return histo_fail_memory(bytes, "a split into classes");
    int64_t *level = (int64_t *)(upto + n), *ends = level + n, levels = 0;
    const double mean = all_of(o)->sum / (double)all_of(o)->upto;
    upto[0] = (histo_level_sums){0, 0};
    for (int64_t i = 0; i < o->count; i++) {
        const uint64_t count = o->levels[i].upto;
        if (count == upto[levels].n) continue;
        level[levels++] = i;
        upto[levels] = (histo_level_sums){count, o->levels[i].sum - (double)count * mean};
    }
    histo_status status = HISTO_OK;
    if (levels < classes)
        status = histo_fail(HISTO_INVALID, "the samples have %lld values, too few for %d classes", (long long)levels,
                            classes);
    else if (!histo_split_sums_fit(levels, classes))
        status = histo_fail(HISTO_UNSUPPORTED, "%lld values are too many for %d classes", (long long)levels, classes);
    else
        status = histo_split_sums(upto, levels, classes, ends, pace);
    for (int c = 0; c < classes - 1 && status == HISTO_OK; c++)
        keys[c] = o->levels[level[ends[c] - 1]].key;
    histo_free(upto);
    return status;
}

/* ---- Fixed points ---- */

/* The next threshold after one that splits at level i, as a distance. Li and Tam's method stays where the lower class
 * has only the smallest value; above all samples, it is the largest one. */
static double step(const histo_order *o, histo_split_method method, int64_t i)
{
    const histo_ordered_level *below = &o->levels[i], *all = all_of(o);
    if (below->upto == all->upto) return distance_of(o, all->key);
    const double low = below->sum / (double)below->upto;
    const double high = (all->sum - below->sum) / (double)(all->upto - below->upto);
    if (method == HISTO_SPLIT_ISODATA) return (low + high) / 2;
    return low > 0 && low < high ? (low - high) / (log(low) - log(high)) : distance_of(o, below->key);
}

static bool may_rest(const histo_order *o, histo_split_method method, int64_t i)
{
    const double least = step(o, method, i - 1), most = step(o, method, i);
    return least <= distance_of(o, o->levels[i].key) * (1 + tolerance) &&
           most >= distance_of(o, o->levels[i - 1].key) * (1 - tolerance);
}

/* The highest level up to a distance. */
static int64_t level_upto(const histo_order *o, double distance)
{
    int64_t low = 0, high = o->count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2 + 1;
        if (distance_of(o, o->levels[middle].key) <= distance)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The largest key up to a distance, above level i but below the next level. */
static uint64_t key_at(const histo_order *o, double distance, int64_t i)
{
    const uint64_t at = o->levels[i].key, end = i + 1 < o->count ? o->levels[i + 1].key - 1 : at;
    uint64_t key;
    if (histo_dtype_is_integer(o->dtype)) {
        key = o->levels[0].key + (uint64_t)distance;
    } else {
        const double least = ldexp(histo_key_value(o->dtype, o->levels[0].key), -o->exponent);
        key = histo_key_upto(o->dtype, ldexp(least + distance, o->exponent), at);
    }
    return key < at ? at : key > end ? end : key;
}

static uint64_t find_fixed_point(const histo_order *o, histo_split_method method, histo_pace *pace)
{
    const double mean = all_of(o)->sum / (double)all_of(o)->upto;
    double now = method == HISTO_SPLIT_LI ? mean : 0;
    int64_t i = level_upto(o, now);
    for (int64_t steps = 0; steps <= o->count && histo_goes_on(pace, 256); steps++) {
        if (method == HISTO_SPLIT_LI && o->levels[i].sum == 0) break;
        now = step(o, method, i);
        const int64_t next = level_upto(o, now);
        if (next == i) break;
        i = next;
    }
    return key_at(o, now, i);
}

/* ---- All methods ---- */

void histo_ordered_search(const histo_order *o, histo_split_method method, histo_key_span *spans, int64_t *count)
{
    const double best = method == HISTO_SPLIT_OTSU ? best_criterion(o) : 0;
    *count = 0;
    for (int64_t i = 1; i < o->count; i++) {
        const histo_ordered_level *below = &o->levels[i - 1], *above = &o->levels[i];
        if (above->upto == below->upto || above->key == below->key + 1) continue;
        const bool may = method == HISTO_SPLIT_OTSU ? may_split(o, i, best) : may_rest(o, method, i);
        if (may) spans[(*count)++] = (histo_key_span){below->key + 1, above->key};
    }
}

histo_status histo_ordered_threshold(const histo_order *o, histo_split_method method, uint64_t *key, histo_pace *pace)
{
    int64_t i = 0;
    if (o->count == 1 || method == HISTO_SPLIT_OTSU) {
        const histo_status status = o->count == 1 ? HISTO_OK : split_by_otsu(o, &i, pace);
        *key = o->levels[i].key;
        return status;
    }
    *key = find_fixed_point(o, method, pace);
    return pace->status;
}
