/* Axes that are made of the odd numbers there are: zeros of both signs, denormals, neighbours, the largest numbers,
 * infinities, and integers around 2^53, 2^63 and 2^64. Each is refused, or counts every dtype as comparisons of exact
 * values with its edges do, in small fills and by every strategy. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis/axis.h"
#include "support/check.h"
#include "support/data.h"
#include "support/same.h"
#include "view/dtype.h"

enum { MOST_EDGES = 60, N = 1500, MANY = 40000, FEW = 12 };

#define PAIR(x) x, -(x)
static const double numbers[] = {0.0,
                                 -0.0,
                                 PAIR(0x1p-1074),
                                 PAIR(0x1p-1073),
                                 PAIR(0x1p-1030),
                                 PAIR(DBL_MIN),
                                 PAIR(0x1p-149),
                                 PAIR(FLT_MIN),
                                 PAIR(1 - 0x1p-53),
                                 PAIR(1),
                                 PAIR(1 + 0x1p-52),
                                 PAIR(1 + 0x1p-51),
                                 PAIR(1 + 0x1p-23),
                                 PAIR(0.3),
                                 PAIR(100),
                                 PAIR(255),
                                 PAIR(0x1p31),
                                 PAIR(0x1p53 - 1),
                                 PAIR(0x1p53),
                                 PAIR(0x1p53 + 2),
                                 PAIR(0x1p63 - 0x1p10),
                                 PAIR(0x1p63),
                                 PAIR(0x1p64 - 0x1p11),
                                 PAIR(0x1p64),
                                 PAIR(FLT_MAX),
                                 PAIR(FLT_MAX *(1 + 0x1p-52)),
                                 PAIR(1e300),
                                 PAIR(DBL_MAX / 2),
                                 PAIR(DBL_MAX),
                                 PAIR(INFINITY)};
static const int64_t integers[] = {INT64_MIN,
                                   INT64_MIN + 1,
                                   -(INT64_C(1) << 53) - 1,
                                   -(INT64_C(1) << 53),
                                   -1,
                                   0,
                                   1,
                                   2,
                                   255,
                                   (INT64_C(1) << 53) - 1,
                                   INT64_C(1) << 53,
                                   (INT64_C(1) << 53) + 1,
                                   INT64_MAX - 1,
                                   INT64_MAX};
static const uint64_t naturals[] = {0,
                                    1,
                                    2,
                                    (UINT64_C(1) << 53) - 1,
                                    (UINT64_C(1) << 53) + 1,
                                    INT64_MAX,
                                    (uint64_t)INT64_MAX + 1,
                                    (uint64_t)INT64_MAX + 2,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};

#define ANY(r, array) (array)[rng_below(r, (int64_t)(sizeof(array) / sizeof *(array)))]

typedef struct odd_axis {
    histo_axis axis;
    double edges[MOST_EDGES];
    int64_t edges_i64[MOST_EDGES];
    uint64_t edges_u64[MOST_EDGES];
} odd_axis;

#define DEFINE_ORDER(name, type)                                                                                       \
    static int order_##name(const void *a, const void *b)                                                              \
    {                                                                                                                  \
        const type x = *(const type *)a, y = *(const type *)b;                                                         \
        return (x > y) - (x < y);                                                                                      \
    }
DEFINE_ORDER(f64, double)
DEFINE_ORDER(i64, int64_t)
DEFINE_ORDER(u64, uint64_t)

/* A number of the list, or one next to it. */
static double any_number(rng *r)
{
    const double x = ANY(r, numbers);
    return rng_below(r, 4) ? x : nextafter(x, rng_below(r, 2) ? INFINITY : -INFINITY);
}

static void draw_variable(rng *r, odd_axis *odd)
{
    const int n = 2 + (int)rng_below(r, rng_below(r, 2) ? 4 : MOST_EDGES - 2);
    const int64_t type = rng_below(r, 4);
    const bool zeros = rng_below(r, 5) == 0;      /* all finite edges are */
    const bool neighbours = rng_below(r, 5) == 0; /* each edge is next to the one before, or the same */
    for (int i = 0; i < n; i++) {
        odd->edges[i] = zeros ? (rng_below(r, 2) ? -0.0 : 0.0) : any_number(r);
        if (neighbours && i) odd->edges[i] = nextafter(odd->edges[i - 1], rng_below(r, 4) ? INFINITY : -INFINITY);
        odd->edges_i64[i] = ANY(r, integers);
        odd->edges_u64[i] = ANY(r, naturals);
    }
    if (zeros && n > 3 && rng_below(r, 2)) odd->edges[0] = -INFINITY, odd->edges[n - 1] = INFINITY;
    if (!zeros) qsort(odd->edges, (size_t)n, sizeof *odd->edges, order_f64);
    qsort(odd->edges_i64, (size_t)n, sizeof *odd->edges_i64, order_i64);
    qsort(odd->edges_u64, (size_t)n, sizeof *odd->edges_u64, order_u64);
    odd->axis = type == 0   ? histo_axis_variable_i64(n - 1, odd->edges_i64)
                : type == 1 ? histo_axis_variable_u64(n - 1, odd->edges_u64)
                            : histo_axis_variable(n - 1, odd->edges);
}

static void draw_axis(rng *r, odd_axis *odd)
{
    static const double powers[] = {0.5, 2, 3, -1, 1, 0x1p-1074, 1e-300, 1e-3, 1e300, -1e300, INFINITY, 0};
    static const int64_t bins[] = {1, 2, 3, 10, 255, 1000};
    const int64_t n = ANY(r, bins);
    double a = any_number(r), b = any_number(r), lo = fmin(a, b), hi = fmax(a, b);
    switch (rng_below(r, 10)) {
    case 0:
        odd->axis = histo_axis_integer((int64_t)((uint64_t)ANY(r, integers) - (uint64_t)(rng_below(r, 2) * n)), n);
        break;
    case 1:
        odd->axis = histo_axis_log(n, lo, hi);
        break;
    case 2:
        odd->axis = histo_axis_sqrt(n, lo, hi);
        break;
    case 3:
        odd->axis = histo_axis_power(n, lo, hi, ANY(r, powers));
        break;
    case 4:
    case 5:
        odd->axis = histo_axis_regular(n, lo, hi);
        break;
    default:
        draw_variable(r, odd);
    }
    odd->axis.closed = rng_below(r, 2);
}

/* The sign of sample - edge, where the sample is a 64-bit integer and so is the edge. */
static int compare_whole(const odd_axis *odd, int64_t edge, histo_dtype dtype, const char *at)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    const bool below = dtype == HISTO_I64 && (int64_t)bits < 0;
    const bool edge_below = odd->axis.edge_type == HISTO_EDGES_I64 && odd->edges_i64[edge] < 0;
    const uint64_t edge_bits =
        odd->axis.edge_type == HISTO_EDGES_I64 ? (uint64_t)odd->edges_i64[edge] : odd->edges_u64[edge];
    if (below != edge_below) return below ? -1 : 1;
    return (bits > edge_bits) - (bits < edge_bits);
}

/* edges: those of the axis as doubles, rounded up. */
static int64_t expected_slot(const odd_axis *odd, const double *edges, histo_dtype dtype, const char *at)
{
    const histo_axis *axis = &odd->axis;
    const bool whole = axis->edge_type != HISTO_EDGES_F64;
    if (whole && (dtype == HISTO_I64 || dtype == HISTO_U64)) {
        int64_t reached = 0;
        while (reached <= axis->bins && compare_whole(odd, reached, dtype, at) >= 0)
            reached++;
        return reached == axis->bins + 1 && axis->closed && compare_whole(odd, axis->bins, dtype, at) == 0 ? axis->bins
                                                                                                           : reached;
    }
    /* An edge that was rounded up is above all samples that are in the last bin of a closed axis. */
    const bool rounded = (axis->edge_type == HISTO_EDGES_I64 &&
                          (long double)odd->edges_i64[axis->bins] != (long double)edges[axis->bins]) ||
                         (axis->edge_type == HISTO_EDGES_U64 &&
                          (long double)odd->edges_u64[axis->bins] != (long double)edges[axis->bins]);
    return reference_slot_by_edges(at, dtype, edges, axis->bins, axis->closed && !rounded);
}

/* Write a number as a sample of the dtype, rounded and clamped to what that holds; integers keep the bits of 64-bit
 * ones. */
static void set_sample(histo_dtype dtype, char *at, double number, uint64_t bits)
{
    double least, beyond;
    const size_t size = histo_dtype_size(dtype);
    if (dtype == HISTO_F64) {
        memcpy(at, &number, size);
    } else if (dtype == HISTO_F32) {
        const float narrow = (float)number;
        memcpy(at, &narrow, size);
    } else if (histo_dtype_is_integer(dtype) && size < 8) {
        histo_dtype_limits(dtype, &least, &beyond);
        const int64_t whole = (int64_t)fmax(fmin(rint(number), beyond - 1), least);
        memcpy(at, &whole, size);
    } else {
        memcpy(at, &bits, size); /* of 16-bit floats any */
    }
}

/* Samples on the edges and next to them, from the lists, and of any bits; the same number again and again, so that a
 * fill of many takes no longer to judge than one of few. */
static char *draw_samples(rng *r, const odd_axis *odd, const double *edges, histo_dtype dtype, int64_t n)
{
    const size_t size = histo_dtype_size(dtype);
    char *samples = malloc((size_t)n * size);
    for (int64_t i = 0; i < n; i++) {
        const int64_t edge = rng_below(r, odd->axis.bins + 1);
        double number = rng_below(r, 2) ? edges[edge] : any_number(r);
        uint64_t bits = odd->axis.edge_type == HISTO_EDGES_I64   ? (uint64_t)odd->edges_i64[edge]
                        : odd->axis.edge_type == HISTO_EDGES_U64 ? odd->edges_u64[edge]
                                                                 : (uint64_t)ANY(r, integers);
        if (rng_below(r, 3) == 0) number = nextafter(number, rng_below(r, 2) ? INFINITY : -INFINITY);
        if (rng_below(r, 3) == 0) bits += (uint64_t)rng_below(r, 3) - 1;
        if (rng_below(r, 50) == 0) bits = rng_next(r), memcpy(&number, &bits, sizeof number);
        if (rng_below(r, 100) == 0) number = NAN;
        if (isnan(number) && dtype != HISTO_F64 && dtype != HISTO_F32) number = 0;
        set_sample(dtype, samples + (size_t)i * size, number, bits);
    }
    return samples;
}

static void assert_counts(const histo_hist *hist, const uint64_t *wanted, const char *by)
{
    uint64_t *counts = counts_of(hist);
    for (int64_t s = 0; s < histo_hist_size(hist, HISTO_FLOW); s++)
        if (counts[s] != wanted[s])
            fail_msg("%s: slot %lld has %llu, not %llu", by, (long long)s, (unsigned long long)counts[s],
                     (unsigned long long)wanted[s]);
    free(counts);
}

/* The cells that GPUs use can be made. */
static void make_cells(const histo_axis *axis, histo_dtype dtype)
{
    histo_axis owned;
    histo_cells cells;
    if (histo_dtype_size(dtype) < sizeof(uint32_t)) return;
    OK(histo_axis_own(axis, &owned));
    OK(histo_cells_make(&cells, &owned, dtype, MANY));
    histo_cells_free(&cells);
    histo_axis_disown(&owned);
}

/* A strategy for these samples, or the library's choice. */
static void fill_by(const odd_axis *odd, const histo_view *view, const uint64_t *wanted, const char *strategy)
{
    histo_hist *hist;
    histo_plan *plan;
    const histo_hist_options kind = {.storage = strategy ? storage_for(strategy) : HISTO_DENSE};
    OK(histo_hist_create(&hist, 1, &odd->axis, &kind));
    const histo_status status = histo_plan_create(
        &plan, hist, view, NULL, &(histo_plan_options){.strategy = strategy, .device = HISTO_DEVICE_CPU});
    if (!strategy) assert_int_equal(status, HISTO_OK);
    if (status == HISTO_OK) {
        OK(histo_plan_fill(plan, hist, view, NULL));
        assert_counts(hist, wanted, histo_plan_strategy(plan));
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(hist);
}

static void fill_by_all(const odd_axis *odd, const histo_view *view, const uint64_t *wanted)
{
    histo_strategy_info info;
    char name[100];
    fill_by(odd, view, wanted, NULL);
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK; s++) {
        snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
        if (strcmp(info.backend, "cpu") == 0) fill_by(odd, view, wanted, name);
    }
}

/* Sums of weights of 1 are counts, of every weighting. */
static void fill_with_weights(const odd_axis *odd, const histo_view *view, const uint64_t *wanted)
{
    const int64_t slots = odd->axis.bins + 3;
    const double one = 1;
    const histo_view ones = {.data = &one, .dtype = HISTO_F64, .ndim = 1, .shape = {view->shape[0]}, .strides = {0}};
    double *sums = malloc((size_t)slots * sizeof *sums);
    for (int w = HISTO_WEIGHT_FAST; w <= HISTO_WEIGHT_REPRODUCIBLE_SUM; w++) {
        histo_hist *hist;
        OK(histo_hist_create(&hist, 1, &odd->axis, &(histo_hist_options){.weighting = (histo_weighting)w}));
        OK(histo_hist_fill(hist, view, &(histo_fill_options){.weights = &ones}));
        OK(histo_hist_read_weights(hist, HISTO_FLOW, sums, NULL, slots, NULL));
        for (int64_t s = 0; s < slots; s++)
            assert_true(sums[s] == (double)wanted[s]);
        assert_counts(hist, wanted, "filled with weights");
        histo_hist_destroy(hist);
    }
    free(sums);
}

/* The axis twice, with the same samples on both: all are on the diagonal. */
static void fill_joint(const odd_axis *odd, const histo_view *view, const uint64_t *wanted)
{
    const int64_t slots = odd->axis.bins + 3;
    const histo_axis axes[] = {odd->axis, odd->axis};
    const histo_view views[] = {*view, *view};
    histo_hist *hist;
    if (slots > MOST_EDGES) return;
    OK(histo_hist_create(&hist, 2, axes, NULL));
    OK(histo_hist_fill(hist, views, NULL));
    uint64_t *counts = counts_of(hist);
    for (int64_t s = 0; s < slots * slots; s++)
        assert_true(counts[s] == (s / slots == s % slots ? wanted[s % slots] : 0));
    free(counts);
    histo_hist_destroy(hist);
}

/* What reads a histogram, compares it, makes another of it or a map of it may refuse odd axes. */
static void use(const histo_hist *hist, const histo_view *view)
{
    histo_hist *other = NULL;
    histo_map *map;
    histo_summary summary;
    histo_information information;
    int64_t last[1];
    double values[3];
    const histo_axis axis = histo_hist_axis(hist, 0);
    histo_hist_summarize(hist, &summary);
    histo_hist_inform(hist, &information);
    for (int m = 0; m <= HISTO_SPLIT_MAX_ENTROPY; m++)
        histo_hist_split(hist, (histo_split_method)m, 2, last);
    for (int m = 0; m <= HISTO_EARTH_MOVER; m++)
        histo_hist_compare(hist, hist, (histo_metric)m, values);
    for (int rule = 0; rule <= HISTO_QUANTILE_NORMAL_UNBIASED; rule++)
        OK(histo_hist_quantiles(hist, (histo_quantile_rule)rule, 3, (double[]){0, 0.3, 1}, values));
    OK(histo_hist_rebin(hist, 0, axis.bins, &other));
    histo_hist_destroy(other);
    OK(histo_hist_slice(hist, 0, axis.bins / 2, axis.bins, &other));
    histo_hist_destroy(other);
    float *out = malloc((size_t)histo_view_size(view) * sizeof *out);
    const histo_view to = histo_view_1d(out, HISTO_F32, histo_view_size(view));
    for (int within = 0; within <= HISTO_MAP_LINEAR; within++) {
        if (histo_map_create(&map, 1, &axis, &(histo_map_options){.within = (histo_within)within}) != HISTO_OK)
            continue;
        histo_map_equalize(map, hist, NULL);
        OK(histo_map_apply(map, view, &to, NULL));
        histo_map_match(map, hist, hist, NULL);
        histo_map_landmarks(map, hist, 2, (double[]){0.1, 0.9}, (double[]){0, 1}, true, NULL);
        OK(histo_map_apply(map, view, &to, NULL));
        histo_map_destroy(map);
    }
    free(out);
}

/* A saved histogram is the same after it was loaded, and counts as before. */
static void save_and_fill(const histo_hist *hist, const histo_view *view, const uint64_t *wanted)
{
    for (int format = 0; format <= HISTO_BINARY; format++) {
        void *data;
        size_t size;
        histo_hist *loaded, *copy;
        OK(histo_hist_save(hist, (histo_format)format, NULL, &data, &size));
        OK(histo_hist_load(data, size, NULL, &loaded));
        assert_counts(loaded, wanted, "loaded");
        OK(histo_hist_clone(hist, &copy));
        OK(histo_hist_merge(copy, loaded));
        histo_hist_destroy(copy);
        OK(histo_hist_reset(loaded, NULL));
        OK(histo_hist_fill(loaded, view, NULL));
        assert_counts(loaded, wanted, "loaded and filled");
        histo_hist_destroy(loaded);
        histo_free(data);
    }
}

static void count_samples(const odd_axis *odd, const double *edges, histo_dtype dtype, const char *samples, int64_t n)
{
    const histo_view view = histo_view_1d(samples, dtype, n);
    const int64_t slots = odd->axis.bins + 3;
    uint64_t *wanted = calloc((size_t)slots, sizeof *wanted), *counted = malloc((size_t)slots * sizeof *counted);
    histo_hist *hist;
    for (int64_t i = 0; i < n; i++)
        wanted[expected_slot(odd, edges, dtype, samples + (size_t)i * histo_dtype_size(dtype))]++;
    OK(histo_hist_create(&hist, 1, &odd->axis, NULL));
    OK(histo_hist_fill(hist, &view, NULL));
    assert_counts(hist, wanted, "filled");
    OK(histo_count(1, &odd->axis, &view, NULL, counted, slots - 3, NULL, NULL));
    assert_memory_equal(counted, wanted + 1, (size_t)(slots - 3) * sizeof *counted);
    OK(histo_count(1, &odd->axis, &view, NULL, counted, slots, NULL, &(histo_count_options){.slots = HISTO_FLOW}));
    assert_memory_equal(counted, wanted, (size_t)slots * sizeof *counted);
    fill_by_all(odd, &view, wanted);
    fill_with_weights(odd, &view, wanted);
    fill_joint(odd, &view, wanted);
    make_cells(&odd->axis, dtype);
    use(hist, &view);
    save_and_fill(hist, &view, wanted);
    histo_hist_destroy(hist);
    free(wanted);
    free(counted);
}

/* Returns whether the axis can be used; if not, nothing makes a histogram of it. */
static bool check_axis(const odd_axis *odd, double *edges)
{
    histo_hist *hist;
    uint64_t count;
    const double sample = 0.5;
    const histo_view view = histo_view_1d(&sample, HISTO_F64, 1);
    const histo_status status = histo_axis_check(&odd->axis);
    if (status == HISTO_OK) {
        OK(histo_axis_edges(&odd->axis, edges));
        for (int64_t i = 0; i < odd->axis.bins; i++)
            assert_true(odd->axis.kind == HISTO_VARIABLE ? edges[i] <= edges[i + 1] : edges[i] < edges[i + 1]);
        return true;
    }
    assert_int_equal(status, HISTO_INVALID);
    assert_int_equal(histo_hist_create(&hist, 1, &odd->axis, NULL), HISTO_INVALID);
    assert_int_equal(histo_count(1, &odd->axis, &view, NULL, &count, 1, NULL, NULL), HISTO_INVALID);
    return false;
}

static void every_dtype(void **state)
{
    (void)state;
    enum { ROUNDS = 2500, MOST_BINS = 1000 };
    static double edges[MOST_BINS + 1];
    rng r = {33};
    int usable = 0;
    for (int round = 0; round < ROUNDS; round++) {
        odd_axis odd;
        draw_axis(&r, &odd);
        if (!check_axis(&odd, edges)) continue;
        usable++;
        const histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
        const int64_t sizes[] = {1, FEW, N, MANY}, n = round % 10 ? sizes[rng_below(&r, 3)] : MANY;
        char *samples = draw_samples(&r, &odd, edges, dtype, n);
        count_samples(&odd, edges, dtype, samples, n);
        free(samples);
    }
    assert_true(usable > ROUNDS / 2);
}

/* Surveys of odd samples find an axis, or say why there is none; statistics and quantiles of them are found. */
static void surveys(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, MOST_BINS = 1000 };
    static double edges[MOST_BINS + 1];
    rng r = {34};
    for (int round = 0; round < ROUNDS; round++) {
        odd_axis odd;
        do
            draw_axis(&r, &odd);
        while (!check_axis(&odd, edges));
        const histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
        const int64_t n = 1 + rng_below(&r, rng_below(&r, 2) ? 3 : N);
        char *samples = draw_samples(&r, &odd, edges, dtype, n);
        const histo_view view = histo_view_1d(samples, dtype, n);
        const histo_survey_options options = {.range = (histo_range)rng_below(&r, HISTO_RANGE_TO_PERCENTILE + 1),
                                              .lo = rng_below(&r, 2) ? 10 : any_number(&r),
                                              .hi = rng_below(&r, 2) ? 90 : any_number(&r),
                                              .rule = (histo_rule)rng_below(&r, HISTO_RULE_SQRT + 1),
                                              .bins = rng_below(&r, 5),
                                              .width = rng_below(&r, 2) ? any_number(&r) : 0};
        histo_axis axis;
        const histo_status status = histo_axis_from_data(&view, NULL, &options, &axis);
        if (status == HISTO_OK)
            OK(histo_axis_check(&axis));
        else
            assert_int_equal(status, HISTO_INVALID);
        const double q[] = {0, 0.25, 1};
        double values[3];
        histo_quantiles *quantiles;
        histo_stats stats = {0};
        histo_power_sums sums = {0};
        histo_extremes extremes;
        OK(histo_quantiles_create(&quantiles, dtype, (histo_quantile_rule)rng_below(&r, 13), 3, q));
        while (quantiles_next_pass(quantiles))
            OK(histo_quantiles_add(quantiles, &view, NULL));
        OK(histo_quantiles_read(quantiles, values));
        histo_quantiles_destroy(quantiles);
        OK(histo_stats_add(&stats, &view, NULL));
        OK(histo_power_sums_add(&sums, &view, NULL));
        histo_power_sums_read(&sums, &stats);
        OK(histo_find_extremes(&view, NULL, &extremes, 1));
        if (odd.axis.kind == HISTO_REGULAR)
            histo_linspace(odd.axis.bins, odd.axis.lo, odd.axis.hi, (histo_dtype)(HISTO_F16 + rng_below(&r, 4)),
                           (histo_dtype)(HISTO_F16 + rng_below(&r, 4)), edges);
        free(samples);
    }
}

/* Edges that are all 0, and edges that are so but for infinite ones, whatever the signs: in files, too. */
static void zeros(void **state)
{
    (void)state;
    static const double pairs[][2] = {{0.0, -0.0}, {-0.0, 0.0}, {-0.0, -0.0}};
    static const char document[] =
        "{\"h\": {\"uhi_schema\": 1, \"axes\": [{\"type\": \"variable\", \"edges\": [0.0, -0.0], \"underflow\": true, "
        "\"overflow\": true, \"circular\": false}], \"storage\": {\"type\": \"int\", \"values\": [0, 0, 0]}}}";
    static double samples[MANY];
    for (int i = 0; i < MANY; i++)
        samples[i] = i - 2;
    const histo_view one = histo_view_1d(samples, HISTO_F64, 1), all = histo_view_1d(samples, HISTO_F64, MANY);
    for (int p = 0; p < 3; p++) {
        const double between[] = {-INFINITY, pairs[p][0], pairs[p][1], INFINITY};
        const odd_axis odd = {.axis = histo_axis_variable(1, pairs[p])},
                       inner = {.axis = histo_axis_variable(3, between)};
        fill_by_all(&odd, &one, (uint64_t[]){1, 0, 0, 0});
        fill_by_all(&odd, &all, (uint64_t[]){2, 0, MANY - 2, 0});
        fill_by_all(&inner, &one, (uint64_t[]){0, 1, 0, 0, 0, 0});
        fill_by_all(&inner, &all, (uint64_t[]){0, 2, 0, MANY - 2, 0, 0});
    }
    histo_hist *loaded;
    OK(histo_hist_load(document, sizeof document - 1, NULL, &loaded));
    OK(histo_hist_fill(loaded, &all, NULL));
    assert_counts(loaded, (uint64_t[]){2, 0, MANY - 2, 0}, "loaded");
    histo_hist_destroy(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(surveys),
        cmocka_unit_test(zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
