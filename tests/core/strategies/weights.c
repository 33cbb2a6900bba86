/* Sums of weights: reproducible ones to the bit, fast ones within their bound. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategies/rows.h"
#include "support/data.h"

enum { FEW_BINS = 60, FEW_BATCH = 3, MANY_BINS = 30000, MANY_BATCH = 2, MAX_SLOTS = MANY_BATCH * (MANY_BINS + 3) };

/* What a histogram holds after a fill with weights. */
typedef struct sums {
    int64_t slots; /* of all batch entries */
    uint64_t counts[MAX_SLOTS];
    double w[MAX_SLOTS], w2[MAX_SLOTS];
} sums;

static bool with_squares(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE;
}

/* Fill with these parameters, which the strategy must support; without any, false if it does not support the problem.
 */
static bool sum_weights(const char *strategy, const histo_axis *axis, histo_weighting weighting,
                        const histo_view *samples, const histo_fill_options *options, const char *params, sums *out)
{
    const int64_t batch = samples->shape[0];
    histo_hist *h;
    histo_plan *plan = NULL;
    out->slots = batch * (axis->bins + 3);
    OK(histo_hist_create(&h, 1, axis, &(histo_hist_options){.batch = batch, .weighting = weighting}));
    if (!params)
        plan = plan_for(strategy, h, samples, options, 2);
    else
        OK(histo_plan_create(&plan, h, samples, options,
                             &(histo_plan_options){.strategy = strategy, .params = params}));
    if (plan) {
        OK(histo_plan_fill(plan, h, samples, options));
        OK(histo_hist_read_counts(h, HISTO_FLOW, out->counts, out->slots, NULL));
        OK(histo_hist_read_weights(h, HISTO_FLOW, out->w, with_squares(weighting) ? out->w2 : NULL, out->slots, NULL));
    }
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return plan;
}

/* A fast sum is close to the exact sum of n numbers with total magnitude `all`. */
static bool is_near(double fast, double exact, double all, uint64_t n)
{
    if (isnan(exact)) return isnan(fast);
    if (!(all < HUGE_VAL / 2)) return true; /* whether intermediate sums overflow depends on the order */
    return fabs(fast - exact) <= (double)n * 0x1p-53 * all;
}

/* magnitudes: the sums of absolute weights. roundings: of each sum beside those of its additions. */
static void compare_sums(const char *what, histo_weighting weighting, const sums *got, const sums *exact,
                         const sums *magnitudes, uint64_t roundings)
{
    bool reproducible = weighting == HISTO_WEIGHT_REPRODUCIBLE || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
    assert_int_equal(got->slots, exact->slots);
    assert_memory_equal(got->counts, exact->counts, (size_t)exact->slots * sizeof *exact->counts);
    for (int64_t s = 0; s < exact->slots; s++)
        for (int power = 0; power < 1 + with_squares(weighting); power++) {
            const double *x = power ? got->w2 : got->w, *y = power ? exact->w2 : exact->w;
            bool same = memcmp(&x[s], &y[s], sizeof x[s]) == 0 || (isnan(x[s]) && isnan(y[s]));
            double all = power ? exact->w2[s] : magnitudes->w[s];
            if (reproducible ? !same : !is_near(x[s], y[s], all, exact->counts[s] + roundings))
                fail_msg("%s: slot %lld has a sum of w^%d of %a, should have %a", what, (long long)s, power + 1, x[s],
                         y[s]);
        }
}

/* Weights over so many powers of two that no window of exponents fits all, and non-finite ones. */
static double wild_weight(rng *r)
{
    static const double rare[] = {0, -0.0, 0x1p-149, -0x1.8p-130, 3e38, -3e38, 0x1p-1074, 1e300, -1e300};
    int64_t kind = rng_below(r, 100);
    if (kind < 9) return rare[kind];
    if (kind == 9) return rng_below(r, 50) ? 1 : rng_below(r, 2) ? HUGE_VAL : -HUGE_VAL;
    if (kind == 10) return rng_below(r, 50) ? -1 : (double)NAN;
    return ldexp(rng_uniform(r) - 0.5, (int)rng_below(r, kind < 40 ? 80 : 12) - (kind < 40 ? 40 : 6));
}

/* Weights of similar magnitude, or all zero, at a new magnitude in each stretch; few stretches are wild. */
static double tame_weight(rng *r, int64_t at)
{
    enum { STRETCH = 700, STRETCHES = 11 };
    int64_t stretch = at / STRETCH * 7 % STRETCHES;
    if (stretch == 0) return wild_weight(r);
    if (stretch == 1 || rng_below(r, 50) == 0) return rng_below(r, 2) ? 0 : -0.0;
    return ldexp(rng_uniform(r) - 0.5, (int)(20 * stretch) - 120);
}

/* Weights of every dtype with samples of some, all weightings: reproducible sums match the oracle's bits, fast sums
 * stay within their error bound. Contiguous, misaligned by one sample, and every second sample. */
void weights_of_few_bins(void **state)
{
    (void)state;
    enum { N = 9000, KINDS = 5 };
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_U32, HISTO_U8, HISTO_I32, HISTO_U16, HISTO_I64};
    rng r = {.state = 20};
    histo_axis around = histo_axis_regular(FEW_BINS, -1000, 1000);
    sums *exact = malloc(sizeof *exact), *magnitude = malloc(sizeof *magnitude), *got = malloc(sizeof *got);
    double *magnitudes = malloc(2 * N * sizeof *magnitudes);
    for (int i = 0; i < HISTO_DTYPE_COUNT * KINDS; i++) {
        histo_dtype dtype = (histo_dtype)(i / KINDS), samples_dtype = dtypes[i % 7];
        int kind = i % KINDS, step = kind == 3 ? 2 : 1, offset = kind == 1;
        int64_t size = (int64_t)histo_dtype_size(dtype), samples_size = (int64_t)histo_dtype_size(samples_dtype);
        histo_axis axis;
        axis = histo_axis_regular(FEW_BINS, 0, samples_dtype == HISTO_U8 ? 100 : 1000);
        distribution d = kind == 0   ? GAUSSIAN
                         : kind == 1 ? UNIFORM
                         : kind == 2 ? DEGENERATE
                                     : ZIPF; /* kind 4: tame weights */
        char *x = make_samples(&r, samples_dtype, d, &axis, 2 * N + 1);
        char *w = make_samples(&r, dtype, kind % 2 ? SPECIAL : EDGES, &around, 2 * N + 1);
        for (int k = 0; (kind == 2 || kind == 4) && k < 2 * N + 1; k++) {
            double weight = kind == 2 ? wild_weight(&r) : tame_weight(&r, k);
            if (dtype == HISTO_F32) ((float *)w)[k] = (float)weight;
            if (dtype == HISTO_F64) ((double *)w)[k] = weight;
        }
        const int64_t shape[2] = {FEW_BATCH, N / FEW_BATCH};
        histo_view views[2] = {histo_view_nd(x + offset * samples_size, samples_dtype, 2, shape),
                               histo_view_nd(w + offset * size, dtype, 2, shape)};
        for (int v = 0; v < 2; v++) {
            views[v].batch_ndim = 1;
            views[v].strides[0] *= step;
            views[v].strides[1] *= step;
        }
        for (int64_t k = 0; k < N; k++)
            magnitudes[k] = (double)fabsl(sample_value(sample_at(&views[1], k), dtype));
        histo_view of_magnitudes[2] = {views[0], histo_view_nd(magnitudes, HISTO_F64, 2, shape)};
        of_magnitudes[1].batch_ndim = 1;
        const histo_fill_options weighted = {.weights = &views[1]},
                                 weighted_by_magnitude = {.weights = &of_magnitudes[1]};
        sum_weights("cpu/sequential", &axis, HISTO_WEIGHT_REPRODUCIBLE, &views[0], &weighted, "", exact);
        sum_weights("cpu/sequential", &axis, HISTO_WEIGHT_REPRODUCIBLE, &of_magnitudes[0], &weighted_by_magnitude, "",
                    magnitude);
        for (int s = 0; s < histo_strategy_count(); s++) {
            char name[64], what[160];
            if (!row_name(s, name) || !is_chosen()) continue;
            bool cuda = is_cuda(name);
            placed memory = {0};
            histo_view copies[2];
            for (int v = 0; v < 2; v++)
                copies[v] = *place(&memory, &views[v], cuda && i % 5, &copies[v]);
            const histo_fill_options options = {.weights = &copies[1]};
            for (int weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
                if (!sum_weights(name, &axis, (histo_weighting)weighting, &copies[0], &options, NULL, got)) break;
                snprintf(what, sizeof what, "%s, weights %s kind %d, samples %s, weighting %d", name,
                         histo_dtype_name(dtype), kind, histo_dtype_name(samples_dtype), weighting);
                compare_sums(what, (histo_weighting)weighting, got, exact, magnitude, 0);
                if (strcmp(name, "cuda/weighted_private") != 0) continue;
                static const char *const params[] = {"lanes=32", "lanes=16,blocks=2", "lanes=8,threads=96", "blocks=1"};
                for (int p = 0; p < 4; p++) {
                    sum_weights(name, &axis, (histo_weighting)weighting, &copies[0], &options, params[p], got);
                    compare_sums(what, (histo_weighting)weighting, got, exact, magnitude, 0);
                }
            }
            displace(&memory);
        }
        free(x);
        free(w);
    }
    free(exact);
    free(magnitude);
    free(got);
    free(magnitudes);
}

/* In more bins than fit on a chip: weights above 0, with a mask; all in one bin, in a few, spread, and in order. */
void weights_of_many_bins(void **state)
{
    (void)state;
    enum { N = 50000 };
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_U16, HISTO_U64};
    static const distribution distributions[] = {UNIFORM, DEGENERATE, ZIPF, SORTED};
    rng r = {.state = 21};
    histo_axis axis = histo_axis_regular(MANY_BINS, 0, 1000);
    sums *exact = malloc(sizeof *exact), *got = malloc(sizeof *got);
    char *mask = malloc(N), *w = malloc(N * sizeof(double));
    for (int i = 0; i < 16; i++) {
        const histo_dtype dtype = dtypes[i % 4];
        char *x = make_samples(&r, i % 3 ? HISTO_F64 : HISTO_F32, distributions[i / 4], &axis, N);
        for (int k = 0; k < N; k++) {
            const double weight = ldexp(1 + rng_uniform(&r), (int)rng_below(&r, k % 5 ? 12 : 40));
            if (dtype == HISTO_F32) ((float *)w)[k] = (float)weight;
            if (dtype == HISTO_F64) ((double *)w)[k] = weight;
            if (dtype == HISTO_U16) ((uint16_t *)w)[k] = (uint16_t)(1 + rng_below(&r, 65535));
            if (dtype == HISTO_U64) ((uint64_t *)w)[k] = (uint64_t)weight << (k % 9 ? 0 : 20) | 1;
            mask[k] = rng_below(&r, 3) > 0;
        }
        const int64_t shape[2] = {MANY_BATCH, N / MANY_BATCH};
        histo_view views[3] = {histo_view_nd(x, i % 3 ? HISTO_F64 : HISTO_F32, 2, shape),
                               histo_view_nd(w, dtype, 2, shape), histo_view_nd(mask, HISTO_U8, 2, shape)};
        for (int v = 0; v < 3; v++)
            views[v].batch_ndim = 1;
        const histo_fill_options all = {.weights = &views[1], .mask = &views[2]};
        sum_weights("cpu/sequential", &axis, HISTO_WEIGHT_REPRODUCIBLE, &views[0], &all, "", exact);
        for (int s = 0; s < histo_strategy_count(); s++) {
            char name[64], what[160];
            if (!row_name(s, name) || !is_chosen()) continue;
            placed memory = {0};
            histo_view copies[3];
            for (int v = 0; v < 3; v++)
                copies[v] = *place(&memory, &views[v], is_cuda(name) && i % 5, &copies[v]);
            const histo_fill_options options = {.weights = &copies[1], .mask = &copies[2]};
            for (int weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
                if (!sum_weights(name, &axis, (histo_weighting)weighting, &copies[0], &options, NULL, got)) break;
                snprintf(what, sizeof what, "%s, weights %s, distribution %d, weighting %d", name,
                         histo_dtype_name(dtype), i / 4, weighting);
                compare_sums(what, (histo_weighting)weighting, got, exact, exact, 2); /* u64 is rounded first */
                if (strcmp(name, "cuda/weighted_partition") != 0) continue;
                sum_weights(name, &axis, (histo_weighting)weighting, &copies[0], &options, "slice=8192", got);
                compare_sums(what, (histo_weighting)weighting, got, exact, exact, 2);
            }
            displace(&memory);
        }
        free(x);
    }
    free(exact);
    free(got);
    free(mask);
    free(w);
}
