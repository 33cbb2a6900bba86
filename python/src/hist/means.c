#include "hist/means.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "functions/powers.h"

/* PIECE: so many samples are added at a time. EXACT_PIECE: fewer, where each has five terms or six. OF_A_SLOT: with
 * fewer samples than a slot in so many, their terms are added at once, which takes less time than what settles all
 * slots. */
enum { PIECE = 1 << 16, EXACT_PIECE = 1 << 13, OF_A_SLOT = 16, EACH_TO_A_SLOT = 16, TERMS = 5, WEIGHTED_TERMS = 6 };

/* If a mean has more than this share of a sum of squares, the squares are those of what values are off the mean. */
static const double cancels = 0.98;

/* The sums of a slot: of d and d * d or, with weights, of w, w * d, w * w and w * d * d, where d is a value's distance
 * from the origin. */
enum { PLAIN_PAIRS = 1, WEIGHTED_PAIRS = 2 };

/* Of the values of a slot: their number, the sum of their weights and that of the squares of these, the mean, which is
 * origin + mean, and the sum of weight * (value - that)^2. The origin is near the values, so that the mean has digits
 * beyond those of a double. */
typedef struct moments {
    int64_t n;
    double w, ww, origin, mean, off;
} moments;

struct means {
    int64_t slots;
    histo_map *finder; /* of the slot of a sample */
    moments *of_slots;
    uint64_t masked;
    bool any;
    /* Of a piece: the sums of each slot, and of what is masked behind them, and the moments from these; which slots
     * have values, and whether one of these is not finite. But for the moments, all are zero between pieces. */
    int64_t *totals;
    sums_pair *sums;
    moments *found;
    bool *infinite;
    uint32_t *touched;
    int64_t ntouched;
    /* Of the samples of a piece, of which there is room for so many. */
    int64_t room;
    uint32_t *groups;
    double *values, *weights;
};

/* ---- Memory ---- */

void means_destroy(means *kept)
{
    if (!kept) return;
    histo_map_destroy(kept->finder);
    void *const all[] = {kept->of_slots, kept->totals, kept->sums,   kept->found,  kept->infinite,
                         kept->touched,  kept->groups, kept->values, kept->weights};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(kept);
}

/* Let the value of each slot be its number. */
static histo_status make_finder(means *m, const histo_hist *h)
{
    histo_axis axes[HISTO_MAX_AXES];
    const int naxes = histo_hist_naxes(h);
    for (int a = 0; a < naxes; a++)
        axes[a] = histo_hist_axis(h, a);
    double *numbers = malloc((size_t)m->slots * sizeof *numbers);
    histo_status status = numbers ? histo_map_create(&m->finder, naxes, axes, NULL) : HISTO_NO_MEMORY;
    for (int64_t k = 0; k < m->slots && numbers; k++)
        numbers[k] = (double)k;
    if (status == HISTO_OK) status = histo_map_write(m->finder, numbers, m->slots);
    free(numbers);
    return status;
}

static histo_status make(means **made, const histo_hist *h)
{
    means *m = calloc(1, sizeof *m);
    if (!m) return HISTO_NO_MEMORY;
    m->slots = histo_hist_size(h, HISTO_FLOW) / histo_hist_batch(h);
    const size_t groups = (size_t)m->slots + 1;
    m->of_slots = calloc(groups, sizeof *m->of_slots);
    m->totals = calloc(groups, sizeof *m->totals);
    m->sums = calloc(groups, WEIGHTED_PAIRS * sizeof *m->sums);
    m->found = calloc(groups, sizeof *m->found);
    m->infinite = calloc(groups, sizeof *m->infinite);
    m->touched = calloc(groups, sizeof *m->touched);
    const bool all = m->of_slots && m->totals && m->sums && m->found && m->infinite && m->touched;
    const histo_status status = all ? make_finder(m, h) : HISTO_NO_MEMORY;
    if (status == HISTO_OK)
        *made = m;
    else
        means_destroy(m);
    return status;
}

static bool make_room(means *m, int64_t n)
{
    if (n <= m->room) return true;
    free(m->groups);
    free(m->values);
    free(m->weights);
    m->groups = malloc((size_t)n * sizeof *m->groups);
    m->values = malloc((size_t)n * sizeof *m->values);
    m->weights = malloc((size_t)n * sizeof *m->weights);
    const bool made = m->groups && m->values && m->weights;
    m->room = made ? n : 0;
    return made;
}

/* ---- Parts of samples ---- */

static histo_view view_part(const histo_view *v, int64_t begin, int64_t n)
{
    histo_view part = *v;
    if (!part.data) return part;
    part.data = (const char *)v->data + begin * v->strides[0];
    part.shape[0] = n;
    return part;
}

means_samples means_part(const means_samples *s, int naxes, int64_t begin, int64_t n, histo_view *views)
{
    for (int a = 0; a < naxes; a++)
        views[a] = view_part(&s->views[a], begin, n);
    return (means_samples){.n = n,
                           .views = views,
                           .values = view_part(&s->values, begin, n),
                           .weights = view_part(&s->weights, begin, n),
                           .mask = view_part(&s->mask, begin, n),
                           .threads = s->threads};
}

/* The doubles where they are, or gathered. */
static const double *doubles(const histo_view *v, int64_t n, double *to)
{
    const bool aligned = (uintptr_t)v->data % sizeof(double) == 0;
    if (v->strides[0] == (int64_t)sizeof(double) && aligned) return v->data;
    for (int64_t i = 0; i < n; i++)
        memcpy(&to[i], (const char *)v->data + i * v->strides[0], sizeof *to);
    return to;
}

/* ---- The terms of each sample ---- */

/* A double, and what it is off. */
typedef struct double2 {
    double high, low;
} double2;

/* a * b, and what rounding took from it (Dekker 1971); zero where a part of it is not finite. */
static inline double2 product(double a, double b)
{
    const double splitter = 0x1p27 + 1, p = a * b, of_a = splitter * a, of_b = splitter * b;
    const double a1 = of_a - (of_a - a), b1 = of_b - (of_b - b), a2 = a - a1, b2 = b - b1;
    const double off = a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2);
    return (double2){p, off - off == 0 ? off : 0};
}

/* a + b, and what rounding took from it (Knuth). */
static inline double2 sum(double a, double b)
{
    const double s = a + b, t = s - a;
    return (double2){s, (a - (s - t)) + (b - t)};
}

/* Rows of n: w, w * x in two rows, w * x * x in two rows and, if there is room, w * w. */
static void find_terms(const double *x, const double *weights, int64_t n, int64_t rows, double *to)
{
    for (int64_t i = 0; i < n; i++) {
        const double w = weights ? weights[i] : 1;
        const double2 wx = product(x[i], w), wxx = product(wx.high, x[i]);
        const double rest = wxx.low + wx.low * x[i];
        to[i] = w;
        to[n + i] = wx.high;
        to[2 * n + i] = wx.low;
        to[3 * n + i] = wxx.high;
        to[4 * n + i] = rest - rest == 0 ? rest : 0;
    }
    for (int64_t i = 0; i < n && rows == WEIGHTED_TERMS; i++)
        to[5 * n + i] = to[i] * to[i];
}

/* The same samples in each entry of the batch. */
static histo_view each_row(const histo_view *v, int64_t rows)
{
    histo_view each = *v;
    each.ndim = 2;
    each.batch_ndim = 1;
    each.shape[0] = rows;
    each.strides[0] = 0;
    each.shape[1] = v->shape[0];
    each.strides[1] = v->strides[0];
    return each;
}

static histo_status fill_terms(histo_hist *h, const means_samples *s, double *buffer)
{
    const int naxes = histo_hist_naxes(h);
    const int64_t rows = histo_hist_batch(h), n = s->n;
    double *const values = buffer, *const weights = values + n, *const terms = weights + n;
    find_terms(doubles(&s->values, n, values), s->weights.data ? doubles(&s->weights, n, weights) : NULL, n, rows,
               terms);
    histo_view views[HISTO_MAX_AXES], of_terms = histo_view_nd(terms, HISTO_F64, 2, (int64_t[]){rows, n}), mask;
    of_terms.batch_ndim = 1;
    for (int a = 0; a < naxes; a++)
        views[a] = each_row(&s->views[a], rows);
    histo_fill_options options = {.weights = &of_terms, .threads = s->threads};
    if (s->mask.data) mask = each_row(&s->mask, rows), options.mask = &mask;
    return histo_hist_fill(h, views, &options);
}

static histo_status fill_exactly(histo_hist *h, const means_samples *s)
{
    const int naxes = histo_hist_naxes(h);
    const int64_t room = s->n < EXACT_PIECE ? s->n : EXACT_PIECE;
    double *buffer = malloc((size_t)room * (2 + WEIGHTED_TERMS) * sizeof *buffer + 1);
    histo_status status = buffer ? HISTO_OK : HISTO_NO_MEMORY;
    histo_view views[HISTO_MAX_AXES];
    for (int64_t begin = 0; begin < s->n && status == HISTO_OK; begin += room) {
        const means_samples part = means_part(s, naxes, begin, s->n - begin < room ? s->n - begin : room, views);
        status = fill_terms(h, &part, buffer);
    }
    free(buffer);
    return status;
}

/* ---- Moments of a piece ---- */

/* The slot of each sample, and behind the last that of those which are masked. */
static histo_status find_groups(means *m, const means_samples *s)
{
    const histo_view to = histo_view_1d(m->groups, HISTO_U32, s->n);
    const histo_status status = histo_map_apply(m->finder, s->views, &to, &(histo_apply_options){.threads = 1});
    const unsigned char *mask = s->mask.data;
    for (int64_t i = 0; i < s->n && mask && status == HISTO_OK; i++)
        if (!mask[i * s->mask.strides[0]]) m->groups[i] = (uint32_t)m->slots;
    return status;
}

/* A value near the others, from which sums begin. */
static double origin_of(const double *values, int64_t n)
{
    enum { SOME = 32 };
    const int64_t step = n / SOME + 1;
    double total = 0;
    int found = 0;
    for (int64_t i = 0; i < n; i += step) {
        if (!isfinite(values[i])) continue;
        total += values[i];
        found++;
    }
    return found && isfinite(total) ? total / found : 0;
}

/* Whether squares of values, times weights, and sums of these are finite, whatever the values are off. */
static bool are_tame(const double *values, int64_t n)
{
    bool tame = true;
    for (int64_t i = 0; i < n; i++)
        tame &= fabs(values[i]) <= 0x1p200;
    return tame;
}

/* Weights that are negative may cancel, and those that are NaN or infinite spoil all that is multiplied by them. */
static bool weights_fit(const means *m, const double *weights, int64_t n)
{
    bool fit = true;
    for (int64_t i = 0; i < n; i++)
        fit &= (weights[i] >= 0 && weights[i] <= 0x1p500) || m->groups[i] == m->slots;
    return fit;
}

/* List the slots that have values, without branches, which would be guessed wrongly. */
static void list_touched(means *m)
{
    m->ntouched = 0;
    for (int64_t k = 0; k < m->slots; k++) {
        m->touched[m->ntouched] = (uint32_t)k;
        m->ntouched += m->totals[k] != 0;
    }
}

/* The moments of a slot in this piece, from the sums of what values are off the centre. */
static moments moments_of(const means *m, uint32_t k, bool weighted, double centre)
{
    const sums_pair *const at = &m->sums[(size_t)k * (weighted ? WEIGHTED_PAIRS : PLAIN_PAIRS)];
    const double n = (double)m->totals[k], w = weighted ? at[0][0] : n, first = weighted ? at[0][1] : at[0][0];
    const double squares = weighted ? at[1][1] : at[0][1], mean = w != 0 ? first / w : 0, off = squares - first * mean;
    return (moments){.n = m->totals[k],
                     .w = w,
                     .ww = weighted ? at[1][0] : n,
                     .origin = centre,
                     .mean = mean,
                     .off = off < 0 || m->totals[k] == 1 ? 0 : off};
}

/* Whether digits of the squares have cancelled, or the squares have overflowed. */
static bool is_cancelled(const moments *found)
{
    return found->n > 1 && !(found->off >= (1 - cancels) * found->mean * found->mean * found->w);
}

static void add_weighted(int64_t *totals, sums_pair *sums, const uint32_t *groups, const double *values,
                         const double *weights, int n, double origin)
{
    for (int i = 0; i < n; i++) {
        const double w = weights[i], d = values[i] - origin;
        const sums_pair first = {w, w * d};
        sums_pair *const to = &sums[(size_t)WEIGHTED_PAIRS * groups[i]];
        totals[groups[i]]++;
        to[0] += first;
        to[1] += first * (sums_pair){w, d};
    }
}

static void add_powers(means *m, const double *values, const double *weights, int64_t n, double origin)
{
    if (weights)
        add_weighted(m->totals, m->sums, m->groups, values, weights, (int)n, origin);
    else
        add_powers_of(m->totals, m->sums, m->groups, values, (int)n, origin);
}

/* Let the sums be those of what values are off the mean of their slot that was found. */
static void add_about_means(means *m, const double *values, const double *weights, int64_t n)
{
    const size_t pairs = weights ? WEIGHTED_PAIRS : PLAIN_PAIRS;
    for (int64_t j = 0; j < m->ntouched; j++) {
        sums_pair *const at = &m->sums[m->touched[j] * pairs];
        if (weights)
            at[0][1] = at[1][1] = 0;
        else
            at[0] = (sums_pair){0, 0};
    }
    for (int64_t i = 0; i < n; i++) {
        const uint32_t k = m->groups[i];
        const double d = values[i] - (m->found[k].origin + m->found[k].mean);
        sums_pair *const at = &m->sums[k * pairs];
        if (weights)
            at[0][1] += weights[i] * d, at[1][1] += weights[i] * d * d;
        else
            at[0] += (sums_pair){d, d * d};
    }
}

/* Find the slots that have values which are not finite. */
static void find_infinite(means *m, const double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i])) m->infinite[m->groups[i]] = true;
}

/* Both together. A mean that is not finite stays so, and has no variance. */
static moments merged(const moments *a, const moments *b)
{
    if (!a->n) return *b;
    const double w = a->w + b->w, share = w != 0 ? b->w / w : 0;
    const double delta = b->origin - a->origin + (b->mean - a->mean);
    moments both = {.n = a->n + b->n, .w = w, .ww = a->ww + b->ww, .origin = a->origin};
    if (isfinite(a->mean) && isfinite(b->mean)) {
        both.mean = a->mean + delta * share;
        both.off = a->off + b->off + delta * delta * a->w * share;
    } else {
        both.mean = a->mean + b->mean;
        both.off = NAN;
    }
    return both;
}

/* Find the moments of slots with those of this piece; false if doubles cannot hold them. */
static bool find_moments(means *m, const double *values, const double *weights, int64_t n)
{
    const double origin = origin_of(values, n);
    bool again = false, infinite = false, fit = true;
    add_powers(m, values, weights, n, origin);
    list_touched(m);
    for (int64_t j = 0; j < m->ntouched; j++) {
        moments *const found = &m->found[m->touched[j]];
        *found = moments_of(m, m->touched[j], weights, origin);
        again |= is_cancelled(found);
        infinite |= !isfinite(found->mean);
    }
    if (infinite) find_infinite(m, values, n);
    if (again) add_about_means(m, values, weights, n);
    for (int64_t j = 0; j < m->ntouched; j++) {
        const uint32_t k = m->touched[j];
        moments *const found = &m->found[k], *const before = &m->of_slots[k];
        if (m->infinite[k])
            found->off = NAN;
        else if (again)
            *found = moments_of(m, k, weights, found->origin + found->mean);
        *found = merged(before, found);
        fit &= m->infinite[k] || !isfinite(before->mean) || (isfinite(found->mean) && isfinite(found->off));
    }
    return fit;
}

/* Add one value after the other (West 1979), where sums of each slot would have few. */
static void add_each(means *m, const double *values, const double *weights, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (m->groups[i] == m->slots) {
            m->masked++;
            continue;
        }
        moments *const to = &m->of_slots[m->groups[i]];
        const double w = weights ? weights[i] : 1, before = to->w;
        if (!to->n++) to->origin = values[i];
        const double delta = values[i] - to->origin - to->mean;
        to->w += w;
        to->ww += w * w;
        const double share = w != 0 ? w / to->w : 0;
        to->mean += delta * share;
        to->off += delta * delta * before * share;
    }
    m->any = true;
}

static void clear_sums(means *m, bool weighted)
{
    const size_t pairs = weighted ? WEIGHTED_PAIRS : PLAIN_PAIRS;
    m->touched[m->ntouched++] = (uint32_t)m->slots;
    for (int64_t j = 0; j < m->ntouched; j++) {
        const uint32_t k = m->touched[j];
        m->totals[k] = 0;
        m->infinite[k] = false;
        memset(&m->sums[k * pairs], 0, pairs * sizeof *m->sums);
    }
}

/* Add a piece; HISTO_UNSUPPORTED, and nothing is added, if its terms are to be added instead. */
static histo_status fill_piece(means *m, const means_samples *s)
{
    if (!make_room(m, s->n)) return HISTO_NO_MEMORY;
    const histo_status status = find_groups(m, s);
    if (status != HISTO_OK) return status;
    const double *values = doubles(&s->values, s->n, m->values);
    const double *weights = s->weights.data ? doubles(&s->weights, s->n, m->weights) : NULL;
    if (weights && !weights_fit(m, weights, s->n)) return HISTO_UNSUPPORTED;
    if (s->n / EACH_TO_A_SLOT < m->slots && are_tame(values, s->n)) {
        add_each(m, values, weights, s->n);
        return HISTO_OK;
    }
    const bool fit = find_moments(m, values, weights, s->n);
    for (int64_t j = 0; j < m->ntouched && fit; j++)
        m->of_slots[m->touched[j]] = m->found[m->touched[j]];
    if (fit) m->masked += (uint64_t)m->totals[m->slots];
    m->any |= fit;
    clear_sums(m, weights);
    return fit ? HISTO_OK : HISTO_UNSUPPORTED;
}

/* ---- All ---- */

histo_status means_fill(means **kept, histo_hist *h, const means_samples *s, bool exact)
{
    const int64_t slots = histo_hist_size(h, HISTO_FLOW) / histo_hist_batch(h);
    if (exact || s->n < slots / OF_A_SLOT) return fill_exactly(h, s);
    histo_status status = *kept ? HISTO_OK : make(kept, h);
    histo_view views[HISTO_MAX_AXES];
    for (int64_t begin = 0; begin < s->n && status == HISTO_OK; begin += PIECE) {
        const int64_t n = s->n - begin < PIECE ? s->n - begin : PIECE;
        const means_samples part = means_part(s, histo_hist_naxes(h), begin, n, views);
        status = fill_piece(*kept, &part);
        if (status == HISTO_UNSUPPORTED) status = fill_exactly(h, &part);
    }
    return status;
}

histo_status means_merge(means **kept, const histo_hist *h, const means *other)
{
    if (!other || !other->any) return HISTO_OK;
    const histo_status status = *kept ? HISTO_OK : make(kept, h);
    if (status != HISTO_OK) return status;
    means *const m = *kept;
    if (m->slots != other->slots) return histo_set_error(HISTO_INVALID, "means of other slots are not added");
    for (int64_t k = 0; k < m->slots; k++)
        if (other->of_slots[k].n) m->of_slots[k] = merged(&m->of_slots[k], &other->of_slots[k]);
    m->masked += other->masked;
    m->any = true;
    return HISTO_OK;
}

/* The terms of a slot, `stride` apart: those of its mean, times the sum of weights, and in the squares what values are
 * off the mean. */
static void terms_of_moments(const moments *of, int64_t rows, int64_t stride, double *to)
{
    const double2 mean = sum(of->origin, of->mean), wx = product(of->w, mean.high),
                  of_mean = product(wx.high, mean.high);
    const double2 squares = sum(of_mean.high, of->off);
    const double low = wx.low + of->w * mean.low,
                 rest = squares.low + of_mean.low + low * mean.high + wx.high * mean.low;
    const double terms[WEIGHTED_TERMS] = {
        of->w, wx.high, low - low == 0 ? low : 0, squares.high, rest - rest == 0 ? rest : 0, of->ww};
    for (int64_t r = 0; r < rows; r++)
        to[r * stride] = terms[r];
}

histo_status means_settle(means *m, histo_hist *h)
{
    if (!m || !m->any) return HISTO_OK;
    histo_axis axes[HISTO_MAX_AXES];
    const int naxes = histo_hist_naxes(h);
    const int64_t rows = histo_hist_batch(h), size = rows * m->slots;
    for (int a = 0; a < naxes; a++)
        axes[a] = histo_hist_axis(h, a);
    uint64_t *counts = malloc((size_t)size * sizeof *counts), masked[WEIGHTED_TERMS];
    double *sums = malloc((size_t)size * sizeof *sums);
    histo_hist *added = NULL;
    const histo_hist_options options = {.batch = rows, .weighting = histo_hist_weighting(h)};
    histo_status status = counts && sums ? histo_hist_create(&added, naxes, axes, &options) : HISTO_NO_MEMORY;
    for (int64_t k = 0; k < m->slots && status == HISTO_OK; k++) {
        terms_of_moments(&m->of_slots[k], rows, m->slots, &sums[k]);
        for (int64_t r = 0; r < rows; r++)
            counts[r * m->slots + k] = (uint64_t)m->of_slots[k].n;
    }
    for (int64_t r = 0; r < rows; r++)
        masked[r] = m->masked;
    if (status == HISTO_OK) status = histo_hist_write(added, HISTO_FLOW, counts, sums, NULL, size, masked);
    if (status == HISTO_OK) status = histo_hist_merge(h, added);
    histo_hist_destroy(added);
    free(counts);
    free(sums);
    if (status != HISTO_OK) return status;
    memset(m->of_slots, 0, (size_t)m->slots * sizeof *m->of_slots);
    m->masked = 0;
    m->any = false;
    return HISTO_OK;
}
