/* The lookups that strategies choose from, against comparisons with the edges: cells, the nearest edge, and float
 * guesses. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axis/axis.h"
#include "support/check.h"
#include "support/data.h"
#include "view/dtype.h"

/* The slot by the fast lookup; NO_SLOT if it does not decide this sample. */
enum { NO_SLOT = -1 };

static int64_t slot_by_cells(const histo_lookup *l, uint32_t position, histo_dtype dtype, const void *at)
{
    const histo_cells *c = &l->cells;
    uint32_t sum = histo_cells_sum(c, c->by_bits, c->entry, position);
    uint32_t slot = histo_lookup_slot(l, dtype, at);
    for (int level = 1; level <= c->levels; level++) {
        assert_true(sum < c->special || histo_cells_next(c, sum, level) < (int64_t)c->words);
        sum = histo_cells_finer(c, c->entry, sum, level);
    }
    if (sum >= c->special) {
        int32_t word = histo_cells_next(c, sum, c->levels);
        assert_true(word >= (int64_t)c->finer && word + 1 < (int64_t)c->words);
        assert_true(slot >= c->entry[word] && slot <= c->entry[word + 1]);
        return NO_SLOT;
    }
    uint32_t edge = sum >> (c->low + 1);
    if (!histo_cells_equals(c, sum)) return edge;
    assert_true(slot == edge || slot == edge + 1);
    return slot;
}

static int64_t fast_slot(const histo_lookup *l, histo_dtype dtype, const void *at)
{
    bool uniform = l->kind == HISTO_UNIFORM;
    const histo_cells *c = &l->cells;
    double value = histo_sample_value(at, dtype);
    if (!uniform && !c->entry) return NO_SLOT;
    if (uniform && (dtype == HISTO_U64 || dtype == HISTO_I64)) {
        uint64_t bits;
        memcpy(&bits, at, sizeof bits);
        return dtype == HISTO_U64 ? histo_nearest_u64(l, bits) : histo_nearest_i64(l, (int64_t)bits);
    }
    if (uniform) return histo_nearest_f64(l, value);
    if (isnan(value)) return l->bins + 2;
    if (c->from_below && value < l->lo) return 0;
    uint32_t position =
        dtype == HISTO_F32 ? histo_position_f32(c, c->by_bits, (float)value) : histo_position_f64(c, c->by_bits, value);
    return slot_by_cells(l, position, dtype, at);
}

/* Returns how many samples the cells left for a search. */
static int64_t compare(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n)
{
    histo_axis owned;
    histo_lookup lookup;
    OK(histo_axis_own(axis, &owned));
    OK(histo_lookup_make(&lookup, &owned, dtype, true));
    if (lookup.kind == HISTO_SEARCH) OK(histo_cells_make(&lookup.cells, &owned, dtype, INT64_C(1) << 28));
    double *edges = malloc(((size_t)axis->bins + 1) * sizeof *edges);
    OK(histo_axis_edges(axis, edges));
    int64_t searched = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)samples + (size_t)i * histo_dtype_size(dtype);
        int64_t slot = fast_slot(&lookup, dtype, at);
        if (slot == NO_SLOT)
            searched++;
        else
            assert_int_equal(slot, reference_slot_by_edges(at, dtype, edges, axis->bins, axis->closed));
    }
    free(edges);
    histo_lookup_free(&lookup);
    histo_axis_disown(&owned);
    return searched;
}

static const histo_dtype dtypes[] = {HISTO_U32, HISTO_I32, HISTO_U64, HISTO_I64, HISTO_F32, HISTO_F64};

static void every_axis_and_distribution(void **state)
{
    (void)state;
    enum { N = 4000 };
    rng r = {4};
    histo_axis axis;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int a = 0; test_axis(a, dtypes[d], &axis); a++)
            for (int samples = 0; samples < DISTRIBUTIONS; samples++) {
                void *data = make_samples(&r, dtypes[d], (distribution)samples, &axis, N);
                compare(&axis, dtypes[d], data, N);
                axis.closed = !axis.closed;
                compare(&axis, dtypes[d], data, N);
                axis.closed = !axis.closed;
                free(data);
            }
}

/* Infinite ends, and equal neighbours there and elsewhere. */
static void odd_edges(void **state)
{
    (void)state;
    enum { N = 4000, MAX = 300 };
    rng r = {6};
    double edges[MAX + 1];
    int64_t with_cells = 0;
    for (int round = 0; round < 600; round++) {
        const int bins = 2 + (int)rng_below(&r, MAX - 1);
        const histo_dtype dtype = dtypes[round % (int)(sizeof dtypes / sizeof *dtypes)];
        const histo_axis drawn = histo_axis_regular(bins, -100, 1000);
        for (int i = 0; i <= bins; i++)
            edges[i] = i && rng_below(&r, 5) == 0 ? edges[i - 1] : -90 + 1000.0 * (i + rng_uniform(&r)) / bins;
        for (int i = 0; i <= (int)rng_below(&r, 3) - 1 && i < bins / 2; i++)
            edges[i] = -INFINITY;
        for (int i = 0; i <= (int)rng_below(&r, 3) - 1 && i < bins / 2; i++)
            edges[bins - i] = INFINITY;
        histo_axis axis = histo_axis_variable(bins, edges), owned;
        axis.closed = rng_below(&r, 2);
        histo_lookup lookup;
        OK(histo_axis_own(&axis, &owned));
        OK(histo_lookup_make(&lookup, &owned, dtype, true));
        if (lookup.kind == HISTO_SEARCH) OK(histo_cells_make(&lookup.cells, &owned, dtype, INT64_C(1) << 28));
        with_cells += lookup.cells.entry != NULL;
        histo_lookup_free(&lookup);
        histo_axis_disown(&owned);
        void *data = make_samples(&r, dtype, round % 3 ? UNIFORM : SPECIAL, &drawn, N);
        for (int64_t i = 0; dtype >= HISTO_F32 && i < N / 2; i++) { /* on the edges */
            const double edge = edges[rng_below(&r, bins + 1)];
            if (dtype == HISTO_F32)
                ((float *)data)[i] = (float)edge;
            else
                ((double *)data)[i] = edge;
        }
        compare(&axis, dtype, data, N);
        free(data);
    }
    assert_true(with_cells > 500);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { QUADRATIC, RANDOM, LOGARITHMIC, BUNCHED, KINDS };

static void make_edges(rng *r, int kind, int bins, double *edges)
{
    for (int i = 0; i <= bins; i++)
        edges[i] = kind == QUADRATIC     ? (double)i * i
                   : kind == LOGARITHMIC ? exp(log(1e-3) + 14 * (double)i / bins)
                   : kind == BUNCHED     ? (i % 2 ? 1 : 1 + 1e-9) * (1 + i / 2)
                                         : rng_uniform(r) * 1000;
    qsort(edges, (size_t)bins + 1, sizeof *edges, by_value);
    for (int i = 1; i <= bins; i++)
        if (edges[i] <= edges[i - 1]) edges[i] = nextafter(edges[i - 1], INFINITY);
}

static void cells_tell_nearly_all(void **state)
{
    (void)state;
    enum { N = 20000, MAX = 8000 };
    rng r = {5};
    double *edges = malloc((MAX + 1) * sizeof *edges);
    for (int kind = 0; kind < KINDS; kind++)
        for (int bins = 1; bins <= MAX; bins = bins * 5 + 1) {
            make_edges(&r, kind, bins, edges);
            histo_axis axis = histo_axis_variable(bins, edges);
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
                for (int samples = UNIFORM; samples <= EDGES; samples += EDGES - UNIFORM) {
                    void *data = make_samples(&r, dtypes[d], (distribution)samples, &axis, N);
                    int64_t searched = compare(&axis, dtypes[d], data, N);
                    /* Integers: many edges between two values. */
                    bool fine = dtypes[d] >= HISTO_F32 || kind == QUADRATIC;
                    if (samples == UNIFORM && kind != BUNCHED && fine) assert_true(searched <= N / 20);
                    free(data);
                }
        }
    free(edges);
}

/* Bins that few values are in, or none: cells tell them all, whichever the sign. */
static void edges_closer_than_values(void **state)
{
    (void)state;
    enum { N = 20000, BINS = 3000 };
    const double starts[] = {1000450, -1000450, 1, -8, 0};
    rng r = {7};
    double edges[BINS + 1];
    for (size_t from = 0; from < sizeof starts / sizeof *starts; from++)
        for (int integers = 0; integers < 2; integers++) {
            const histo_dtype dtype = integers ? HISTO_I32 : HISTO_F32;
            const double ulp = integers ? 1 : nextafterf((float)fabs(starts[from]), INFINITY) - fabs(starts[from]);
            if (dtype == HISTO_F32 && starts[from] == 0) continue;
            edges[0] = starts[from];
            for (int i = 1; i <= BINS; i++)
                edges[i] = edges[i - 1] + 3 * ulp * rng_uniform(&r) * rng_uniform(&r) + 1e-9;
            histo_axis axis = histo_axis_variable(BINS, edges);
            for (int samples = UNIFORM; samples <= EDGES; samples += EDGES - UNIFORM)
                for (int closed = 0; closed < 2; closed++) {
                    void *data = make_samples(&r, dtype, (distribution)samples, &axis, N);
                    axis.closed = closed;
                    assert_int_equal(compare(&axis, dtype, data, N), 0);
                    free(data);
                }
        }
}

/* The first value above 2^53 is not a double. */
static void closed_at_2_to_the_53(void **state)
{
    (void)state;
    const double edges[] = {141, 1000, 0x1p53};
    const uint64_t samples[] = {140,
                                141,
                                999,
                                1000,
                                (UINT64_C(1) << 53) - 1,
                                UINT64_C(1) << 53,
                                (UINT64_C(1) << 53) + 1,
                                (UINT64_C(1) << 53) + 2,
                                INT64_MAX};
    enum { N = sizeof samples / sizeof *samples };
    histo_axis axis = histo_axis_variable(2, edges);
    for (int closed = 0; closed < 2; closed++) {
        axis.closed = closed;
        compare(&axis, HISTO_U64, samples, N);
        compare(&axis, HISTO_I64, samples, N);
    }
}

/* A guess farther than the margin from an edge is on the sample's side of it. Computed in double, where errors are
 * smaller than the margin allows for. Returns whether guesses are used. */
static bool guesses_are_right(const histo_axis *axis, const float *samples, int64_t n)
{
    histo_axis owned;
    histo_lookup l;
    OK(histo_axis_own(axis, &owned));
    OK(histo_lookup_make(&l, &owned, HISTO_F32, true));
    if (l.kind == HISTO_SEARCH) histo_lookup_fit(&l);
    for (int64_t i = 0; l.near_f32 && i < n; i++) {
        double x = samples[i], curve = x;
        if (l.curve == HISTO_LOGARITHM) curve = x > 0 ? log2(x) : -1e4;
        if (l.curve == HISTO_ROOT) curve = x > l.from_f32 ? sqrt(x - l.from_f32) : 0;
        double share = curve * l.scale_f32 + l.offset_f32;
        double guess = fmin(fmax(share, 0), 1) * l.bins, nearest = nearbyint(guess);
        if (isnan(x) || fabs(guess - nearest) <= l.margin_f32) continue;
        assert_int_equal(histo_lookup_slot(&l, HISTO_F32, &samples[i]), nearest + (guess > nearest));
    }
    bool near = l.near_f32;
    histo_lookup_free(&l);
    histo_axis_disown(&owned);
    return near;
}

static void guesses(void **state)
{
    (void)state;
    enum { N = 30000, BINS = 5000, SHIFTED = KINDS };
    rng r = {6};
    double *edges = malloc((BINS + 1) * sizeof *edges);
    for (int kind = 0; kind <= SHIFTED; kind++) {
        make_edges(&r, kind == SHIFTED ? QUADRATIC : kind, BINS, edges);
        for (int i = 0; i <= BINS && kind == SHIFTED; i++)
            edges[i] = edges[i] * 0.001 - 300;
        histo_axis axis = histo_axis_variable(BINS, edges);
        for (int samples = UNIFORM; samples <= EDGES; samples += EDGES - UNIFORM) {
            float *data = make_samples(&r, HISTO_F32, (distribution)samples, &axis, N);
            bool regular = kind == QUADRATIC || kind == LOGARITHMIC || kind == SHIFTED;
            assert_true(guesses_are_right(&axis, data, N) == regular);
            free(data);
        }
    }
    histo_axis others[] = {histo_axis_sqrt(900, 2, 700), histo_axis_regular(3000, -2, 90),
                           histo_axis_closed(histo_axis_regular(77, 0.1, 0.7))};
    for (int a = 0; a < 3; a++) {
        float *data = make_samples(&r, HISTO_F32, EDGES, &others[a], N);
        assert_true(guesses_are_right(&others[a], data, N));
        free(data);
    }
    free(edges);
}

/* The value of a pattern with these numbers of exponent and fraction bits. */
static double value_of_pattern(uint32_t pattern, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1, infinite = (1 << exponent_bits) - 1;
    const int exponent = (int)(pattern >> fraction_bits) & infinite;
    const int fraction = (int)(pattern & ((1U << fraction_bits) - 1)), one = 1 << fraction_bits;
    double magnitude = exponent == infinite ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent == 0      ? ldexp(fraction, 1 - bias - fraction_bits)
                                            : ldexp(fraction + one, exponent - bias - fraction_bits);
    return pattern >> (exponent_bits + fraction_bits) ? -magnitude : magnitude;
}

static uint32_t affine_slot(const histo_lookup *l, float x)
{
    if (isnan(x)) return (uint32_t)l->bins + 2;
    volatile float at = x, scale = l->affine.scale, offset = l->affine.offset; /* nothing computed by the compiler */
    fesetround(FE_DOWNWARD);
    at = fmaf(at, scale, offset);
    fesetround(FE_TONEAREST);
    return (uint32_t)fminf(fmaxf(at, 0), (float)(l->bins + 1)) - (x == l->affine.last);
}

/* Is the axis looked up by a linear function, which is then that of each of the 65536 values? */
static bool is_affine(histo_dtype dtype, double lo, double hi, int64_t bins, bool closed)
{
    const histo_axis axis = {.kind = HISTO_REGULAR, .bins = bins, .lo = lo, .hi = hi, .closed = closed};
    histo_axis owned;
    histo_lookup lookup;
    OK(histo_axis_own(&axis, &owned));
    OK(histo_lookup_make(&lookup, &owned, dtype, true));
    const bool is = lookup.affine.is;
    for (uint32_t pattern = 0; pattern < 1 << 16 && is; pattern++) {
        const uint16_t bits = (uint16_t)pattern;
        const float x = dtype == HISTO_F16 ? histo_f16_to_f32(bits) : histo_bf16_to_f32(bits);
        assert_int_equal(affine_slot(&lookup, x), histo_lookup_slot(&lookup, dtype, &bits));
    }
    histo_lookup_free(&lookup);
    histo_axis_disown(&owned);
    return is;
}

static void halves_by_a_linear_function(void **state)
{
    (void)state;
    static const double ranges[][2] = {{0, 1},   {-1, 1},    {-4, 4},    {0, 255},
                                       {0, 256}, {-20, 7.5}, {0.1, 0.7}, {1e-3, 60000}};
    static const int64_t bins[] = {1, 10, 100, 256, 1000, 4096, 30000};
    int is = 0, of = 0;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (size_t b = 0; b < sizeof bins / sizeof *bins; b++)
            for (int closed = 0; closed < 2; closed++)
                for (histo_dtype dtype = HISTO_F16; dtype <= HISTO_BF16; dtype++, of++)
                    is += is_affine(dtype, ranges[r][0], ranges[r][1], bins[b], closed);
    assert_true(is >= of * 3 / 4);
    assert_true(is_affine(HISTO_F16, -4, 4, 4096, false));
    assert_false(is_affine(HISTO_U16, 0, 1000, 10, false));
    rng r = {17};
    for (int i = 0; i < 200; i++) {
        const double lo = (double)rng_below(&r, 1000) / 64 - 8, width = 1 + (double)rng_below(&r, 1 << 20) / 999;
        is_affine(i & 1 ? HISTO_F16 : HISTO_BF16, lo, lo + width, 1 + (int64_t)rng_below(&r, 5000), i & 2);
    }
}

static void samples_as_doubles(void **state)
{
    (void)state;
    for (uint32_t pattern = 0; pattern < 1 << 16; pattern++) {
        const char bytes[3] = {0, (char)pattern, (char)(pattern >> 8)}; /* unaligned */
        const double wanted[2] = {value_of_pattern(pattern, 5, 10), value_of_pattern(pattern, 8, 7)};
        const double found[2] = {histo_sample_value(bytes + 1, HISTO_F16), histo_sample_value(bytes + 1, HISTO_BF16)};
        for (int i = 0; i < 2; i++) {
            assert_true(isnan(wanted[i]) ? isnan(found[i]) : wanted[i] == found[i]);
            assert_true(isnan(wanted[i]) || signbit(wanted[i]) == signbit(found[i]));
        }
    }
    assert_true(histo_sample_value(&(int64_t){INT64_MAX}, HISTO_I64) == 0x1p63);
    assert_true(histo_sample_value(&(uint8_t){200}, HISTO_U8) == 200);
    assert_true(isnan(histo_sample_value("", HISTO_DTYPE_COUNT)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_at_2_to_the_53),
        cmocka_unit_test(every_axis_and_distribution),
        cmocka_unit_test(odd_edges),
        cmocka_unit_test(cells_tell_nearly_all),
        cmocka_unit_test(edges_closer_than_values),
        cmocka_unit_test(guesses),
        cmocka_unit_test(halves_by_a_linear_function),
        cmocka_unit_test(samples_as_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
