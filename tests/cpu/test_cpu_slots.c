/* Slots that strategies of this CPU find on axes that are hard for arithmetic guesses: samples on and around edges,
 * edges close together or equal, integers at their limits. HISTO_CPU selects the instruction-set level. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/samples/block.h"
#include "support/check.h"
#include "support/cpu_slots.h"
#include "support/data.h"

/* Stored edges that are those of the regular axis, the floats next to them, or up to an eighth of a bin beside them. */
enum { REGULAR, SAME_EDGES, FLOAT_EDGES, MOVED_EDGES, EDGE_KINDS };

static histo_axis axis_near(rng *r, int kind, const histo_axis *regular, double *edges)
{
    OK(histo_axis_edges(regular, edges));
    const double step = (regular->hi - regular->lo) / (double)regular->bins, max_shift = rng_below(r, 2) ? 0.12 : 1e-5;
    if (kind == REGULAR) return *regular;
    for (int64_t i = 0; i <= regular->bins && kind != SAME_EDGES; i++)
        edges[i] =
            kind == FLOAT_EDGES ? (double)(float)edges[i] : edges[i] + (rng_uniform(r) * 2 - 1) * max_shift * step;
    histo_axis axis = histo_axis_variable(regular->bins, edges);
    axis.closed = regular->closed;
    return histo_axis_check(&axis) == HISTO_OK ? axis : *regular; /* bins may be narrower than floats are apart */
}

/* Samples on and around the edges of axes with 1 to 20000 bins whose ends are not floats. Some stretches stay away from
 * edges, so that guesses are accepted; others are outside. */
static void samples_around_edges(void **state)
{
    (void)state;
    enum { N = 20000 };
    static float x[N];
    static double y[N];
    rng r = {.state = 17};
    for (int round = 0; round < 60 * EDGE_KINDS; round++) {
        int64_t bins = round % 3 == 0 ? 256 : 1 + rng_below(&r, round % 3 == 1 ? 300 : 20000);
        double width = ldexp(1 + rng_uniform(&r), (int)rng_below(&r, 60) - 30);
        double lo = round % 4 == 0 ? 0 : (rng_uniform(&r) - 0.7) * width * (round % 4 == 1 ? 3 : 300);
        histo_axis axis = histo_axis_regular(bins, lo, lo + width);
        if (round % 2) axis = histo_axis_closed(axis);
        double *edges = malloc((size_t)(bins + 1) * sizeof *edges);
        axis = axis_near(&r, round / 60, &axis, edges);
        for (int i = 0; i < N; i++) {
            y[i] = edges[rng_below(&r, bins + 1)];
            x[i] = (float)y[i];
            for (int64_t steps = rng_below(&r, 5) - 2; steps; steps += steps < 0 ? 1 : -1) {
                x[i] = nextafterf(x[i], steps < 0 ? -INFINITY : INFINITY);
                y[i] = nextafter(y[i], steps < 0 ? -INFINITY : INFINITY);
            }
            if (i > N / 2 && i % 3000 < 2000) x[i] = (float)(y[i] = lo + rng_uniform(&r) * width);
            if (round % 5 == 4 && i > N / 2) x[i] = (float)(y[i] = lo + (1.2 * rng_uniform(&r) - 0.1) * width);
            if (round % 7 == 6 && rng_below(&r, 100) == 0) x[i] = (float)(y[i] = i % 2 ? NAN : INFINITY);
        }
        check_slots(&axis, HISTO_F32, x, N);
        check_slots(&axis, HISTO_F64, y, N);
        free(edges);
    }
}

/* Integers and halves around edges that are nearly regular. */
static void narrow_samples_around_edges(void **state)
{
    (void)state;
    enum { N = 5000, BINS = 300 };
    static const histo_dtype dtypes[] = {HISTO_I8, HISTO_U16, HISTO_F16, HISTO_BF16, HISTO_I32, HISTO_U32, HISTO_I64};
    static uint64_t x[N];
    rng r = {.state = 19};
    double edges[BINS + 1];
    for (int round = 0; round < 10 * EDGE_KINDS; round++) {
        const double width = ldexp(1 + rng_uniform(&r), 6 + (int)rng_below(&r, 14));
        histo_axis axis = histo_axis_regular(1 + rng_below(&r, BINS), -width * rng_uniform(&r), width);
        if (round % 2) axis = histo_axis_closed(axis);
        axis = axis_near(&r, round / 10, &axis, edges);
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            const size_t size = histo_dtype_size(dtypes[d]);
            for (int i = 0; i < N; i++) {
                int64_t value = (int64_t)edges[rng_below(&r, axis.bins + 1)] + rng_below(&r, 3) - 1;
                if (dtypes[d] == HISTO_F16 || dtypes[d] == HISTO_BF16 || i % 9 == 0) value = (int64_t)rng_next(&r);
                memcpy((char *)x + (size_t)i * size, &value, size);
            }
            check_slots(&axis, dtypes[d], x, N);
        }
    }
}

/* Bins of power-of-two width, where guesses are exact. Samples on and next to edges, in stretches that are all inside,
 * so that no other check sees them; and the smallest of either sign, outside samples, and NaNs with payloads. The axis
 * begins at 0, some bins away, less than a bin away, too far away, or at a value that is not a float. */
static void bins_of_powers_of_two(void **state)
{
    (void)state;
    enum { N = 6000, BEGINS = 5, STRETCH = 1000 };
    static float x[N];
    static double y[N];
    rng r = {.state = 23};
    for (int round = 0; round < 40 * BEGINS; round++) {
        double step = ldexp(1, (int)rng_below(&r, 60) - 30), part = rng_uniform(&r);
        int64_t bins = round % 3 ? 1 + rng_below(&r, 256) : 1 + rng_below(&r, 70000);
        const double begins[BEGINS] = {0, (part - 2) * (double)bins, part, (part + 4) * 0x1p20, part + 3};
        double lo = begins[round % BEGINS] * step;
        if (round % BEGINS < 4) lo = (float)lo;
        histo_axis axis = histo_axis_regular(bins, lo, lo + (double)bins * step);
        if (rng_below(&r, 2)) axis = histo_axis_closed(axis);
        double *edges = malloc((size_t)(bins + 1) * sizeof *edges);
        OK(histo_axis_edges(&axis, edges));
        for (int i = 0; i < N; i++) {
            y[i] = edges[rng_below(&r, bins + 1)];
            x[i] = (float)y[i];
            int64_t to = rng_below(&r, 3) - 1;
            if (to) x[i] = nextafterf(x[i], to < 0 ? -INFINITY : INFINITY);
            if (to) y[i] = nextafter(y[i], to < 0 ? -INFINITY : INFINITY);
            if (i / STRETCH % 2 == 0) {
                if (!(x[i] >= edges[0] && x[i] < edges[bins])) x[i] = (float)edges[bins / 2];
                if (!(y[i] >= edges[0] && y[i] < edges[bins])) y[i] = edges[bins / 2];
            } else if (rng_below(&r, 200) == 0) {
                uint32_t nan = 0x7f800001 | (uint32_t)(rng_next(&r) & 0x803fffff);
                const double special[] = {0x1p-1074, -0x1p-1074, -0x1p-149, 0x1p-140, -0x1p-1000, 1e300, -INFINITY};
                x[i] = (float)(y[i] = special[rng_below(&r, 7)]);
                if (i % 2) memcpy(&x[i], &nan, sizeof nan);
            }
        }
        check_slots(&axis, HISTO_F32, x, N);
        check_slots(&axis, HISTO_F64, y, N);
        free(edges);
    }
}

/* A sample at the upper end of an axis whose last edge, if computed like the others, would be above it; nothing else is
 * outside. */
static void upper_end(void **state)
{
    (void)state;
    enum { N = 2000 };
    rng r = {.state = 41};
    double x[N], edges[257];
    int axes = 0;
    for (int round = 0; round < 500; round++) {
        int64_t bins = 1 + rng_below(&r, 256);
        double lo = rng_uniform(&r) - 0.5, hi = lo + rng_uniform(&r) + 0.1, step = (hi - lo) / (double)bins;
        if (!(lo + (double)bins * step > hi)) continue;
        axes++;
        histo_axis axis = histo_axis_regular(bins, lo, hi);
        OK(histo_axis_edges(&axis, edges));
        for (int i = 0; i < N; i++)
            x[i] = i % 500 == 77 ? hi : edges[rng_below(&r, bins)];
        check_slots(&axis, HISTO_F64, x, N);
    }
    assert_true(axes > 10);
}

static int increasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every other piece has two values, one of which may be NaN, or zeros of both signs, except for up to three samples. */
static void make_pairs(rng *r, double *x, int n)
{
    for (int from = 0; from < n; from += 2 * HISTO_PIECE) {
        const int size = n - from < HISTO_PIECE ? n - from : HISTO_PIECE;
        double pair[2] = {x[rng_below(r, n)], x[rng_below(r, n)]}, others[3];
        int64_t kind = rng_below(r, 8), at[3];
        if (kind == 0) pair[1] = NAN;
        if (kind == 1) pair[0] = -(pair[1] = 0);
        for (int k = 0; k < 3; k++) {
            at[k] = from + rng_below(r, size);
            others[k] = kind == 2 ? NAN : kind == 3 ? -0.0 : x[at[k]];
        }
        for (int i = 0; i < size; i++)
            x[from + i] = pair[rng_below(r, 2)];
        for (int64_t k = rng_below(r, 4); k < 3; k++)
            x[at[k]] = others[k];
    }
}

/* Variable axes from the smallest double to the largest, with clusters anywhere; samples on and next to edges, and
 * pieces with two values. */
static void any_edges(void **state)
{
    (void)state;
    enum { N = 8000, MAX = 600 };
    rng r = {.state = 29};
    double *x = malloc(N * sizeof *x), edges[MAX + 1];
    float *y = malloc(N * sizeof *y);
    for (int round = 0; round < 80; round++) {
        int64_t bins = 1 + rng_below(&r, MAX);
        for (int64_t e = 0; e <= bins; e++) {
            uint64_t bits = rng_next(&r);
            switch (round % 4) {
            case 0: /* any number, or any positive number */
                bits &= round % 8 ? ~(UINT64_C(1) << 63) : UINT64_MAX;
                memcpy(&edges[e], &bits, sizeof bits);
                if (!(fabs(edges[e]) < DBL_MAX / 2)) edges[e] = DBL_MAX / 2;
                break;
            case 1:
                edges[e] = rng_uniform(&r) * (rng_below(&r, 2) ? 1 : 1e-9) - (round % 8 == 1 ? 0.5 : 0);
                break;
            case 2: /* neighbours */
                bits = UINT64_C(0x3ff0000000000000) + bits % 5000;
                memcpy(&edges[e], &bits, sizeof bits);
                break;
            default: /* the smallest */
                bits = bits % 3000;
                memcpy(&edges[e], &bits, sizeof bits);
                break;
            }
        }
        if (round % 8 == 0) edges[0] = -DBL_MAX / 2;
        qsort(edges, (size_t)bins + 1, sizeof *edges, increasing);
        int64_t distinct = 0;
        for (int64_t e = 1; e <= bins; e++)
            if (edges[e] > edges[distinct]) edges[++distinct] = edges[e];
        if (distinct == 0) continue;
        histo_axis axis = histo_axis_variable(distinct, edges);
        if (round % 3 == 0) axis = histo_axis_closed(axis);
        for (int i = 0; i < N; i++) {
            x[i] = edges[rng_below(&r, distinct + 1)];
            int64_t side = rng_below(&r, 4);
            if (side == 1) x[i] = nextafter(x[i], INFINITY);
            if (side == 2) x[i] = nextafter(x[i], -INFINITY);
            if (i % 50 == 0) x[i] = i % 100 ? NAN : i % 200 ? INFINITY : -INFINITY;
        }
        make_pairs(&r, x, N);
        for (int i = 0; i < N; i++)
            y[i] = (float)x[i];
        check_slots(&axis, HISTO_F64, x, N);
        check_slots(&axis, HISTO_F32, y, N);
    }
    free(x);
    free(y);
}

/* Frees the expected counts. */
static void check_against(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n, uint64_t *expected)
{
    const histo_view view = histo_view_1d(samples, dtype, n);
    const int64_t slots = axis->bins + 3;
    uint64_t *got = count_by("cpu/sequential", axis, &view, slots);
    assert_memory_equal(got, expected, (size_t)slots * sizeof *got);
    free(got);
    free(expected);
    check_slots(axis, dtype, samples, n);
    check_slots(axis, dtype, samples, n < 100 ? n : 100); /* fewer need no table */
}

/* Every strategy's slots are those that comparisons with the edges give. */
static void check_by_edges(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n)
{
    uint64_t *expected = calloc((size_t)axis->bins + 3, sizeof *expected);
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)samples + (size_t)i * histo_dtype_size(dtype);
        expected[reference_slot_by_edges(at, dtype, axis->edges, axis->bins, axis->closed)]++;
    }
    check_against(axis, dtype, samples, n, expected);
}

/* Variable axes with runs of equal edges, infinite ends, and both; one of them may have no other edges. */
static void equal_and_infinite_edges(void **state)
{
    (void)state;
    enum { N = 3000, MAX = 300 };
    rng r = {.state = 37};
    uint64_t *x = malloc(N * sizeof *x);
    double edges[MAX + 1];
    for (int round = 0; round < 120; round++) {
        const int64_t bins = 1 + rng_below(&r, round % 3 ? 6 : MAX), values = 1 + rng_below(&r, bins + 1);
        const double width = round % 8 == 7 ? DBL_MAX : round % 2 ? 100 : 1e-3;
        for (int64_t e = 0; e <= bins; e++)
            edges[e] = round % 5 == 0 ? (double)(rng_below(&r, values) - 1) : (rng_uniform(&r) * 2 - 1) * width;
        if (round % 5) edges[rng_below(&r, bins + 1)] = edges[rng_below(&r, bins + 1)];
        for (int64_t e = rng_below(&r, 3); e > 0; e--)
            edges[rng_below(&r, bins + 1)] = rng_below(&r, 2) ? (double)INFINITY : -(double)INFINITY;
        qsort(edges, (size_t)bins + 1, sizeof *edges, increasing);
        if (round % 7 == 0) edges[bins - 1] = edges[bins];
        histo_axis axis = histo_axis_variable(bins, edges);
        if (round & 8) axis = histo_axis_closed(axis);
        for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
            const size_t size = histo_dtype_size((histo_dtype)dtype);
            for (int i = 0; i < N; i++) {
                const double edge = edges[rng_below(&r, bins + 1)], to = rng_below(&r, 2) ? INFINITY : -INFINITY;
                const double value = i % 3 ? edge : nextafter(edge, to);
                const float narrow = i % 3 ? (float)edge : nextafterf((float)edge, (float)to);
                int64_t whole = fabs(edge) < 1e9 ? (int64_t)edge + rng_below(&r, 3) - 1 : (int64_t)rng_next(&r);
                if (i % 10 == 0) whole = (int64_t)rng_next(&r);
                memcpy((char *)x + (size_t)i * size,
                       dtype == HISTO_F64   ? (const void *)&value
                       : dtype == HISTO_F32 ? (const void *)&narrow
                                            : (const void *)&whole,
                       size);
            }
            check_by_edges(&axis, (histo_dtype)dtype, x, N);
        }
    }
    free(x);
}

static int compare_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static long double whole_edge(const histo_axis *axis, int64_t i)
{
    return axis->edge_type == HISTO_EDGES_I64 ? (long double)((const int64_t *)axis->edges)[i]
                                              : (long double)((const uint64_t *)axis->edges)[i];
}

/* The slot by comparison with integer edges, which long double holds. */
static int64_t slot_by_whole(const histo_axis *axis, long double x)
{
    int64_t reached = 0;
    if (isnan(x)) return axis->bins + 2;
    if (axis->closed && x == whole_edge(axis, axis->bins)) return axis->bins;
    while (reached <= axis->bins && x >= whole_edge(axis, reached))
        reached++;
    return reached;
}

static void check_whole(const histo_axis *axis, histo_dtype dtype, const void *samples, int64_t n)
{
    uint64_t *expected = calloc((size_t)axis->bins + 3, sizeof *expected);
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)samples + (size_t)i * histo_dtype_size(dtype);
        expected[slot_by_whole(axis, sample_value(at, dtype))]++;
    }
    check_against(axis, dtype, samples, n, expected);
}

/* Integer edges of both types, anywhere and close together, with samples of all types on and around them. */
static void integer_edges(void **state)
{
    (void)state;
    enum { N = 3000, MAX = 300, FROMS = 8 };
    static const uint64_t froms[FROMS] = {
        UINT64_C(1) << 53,         UINT64_C(1700000000000000000),         UINT64_C(1) << 63, UINT64_MAX - 400, 0,
        (UINT64_C(1) << 63) - 400, (uint64_t) - (INT64_C(1) << 53) - 400, UINT64_C(1) << 62};
    rng r = {.state = 43};
    uint64_t *x = malloc(N * sizeof *x), edges[MAX + 1];
    for (int round = 0; round < 24 * FROMS; round++) {
        const int64_t bins = 1 + rng_below(&r, round % 3 ? 8 : MAX);
        for (int64_t e = 0; e <= bins; e++) {
            const uint64_t part = round % 5 ? (uint64_t)rng_below(&r, 401) : rng_next(&r) >> rng_below(&r, 64);
            edges[e] = froms[round % FROMS] + part;
        }
        const bool is_signed = round / FROMS % 2;
        qsort(edges, (size_t)bins + 1, sizeof *edges, is_signed ? compare_i64 : compare_u64);
        histo_axis axis =
            is_signed ? histo_axis_variable_i64(bins, (const int64_t *)edges) : histo_axis_variable_u64(bins, edges);
        if (round / FROMS % 4 < 2) axis = histo_axis_closed(axis);
        for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
            const size_t size = histo_dtype_size((histo_dtype)dtype);
            for (int i = 0; i < N; i++) {
                const uint64_t value =
                    i % 10 ? edges[rng_below(&r, bins + 1)] + (uint64_t)rng_below(&r, 3) - 1 : rng_next(&r);
                double number = is_signed ? (double)(int64_t)value : (double)value;
                if (i % 7 == 0) number = nextafter(number, i % 2 ? INFINITY : -INFINITY);
                const float narrow = (float)number;
                memcpy((char *)x + (size_t)i * size,
                       dtype == HISTO_F64   ? (const void *)&number
                       : dtype == HISTO_F32 ? (const void *)&narrow
                                            : (const void *)&value,
                       size);
            }
            check_whole(&axis, (histo_dtype)dtype, x, N);
        }
    }
    free(x);
}

/* Integers with more bits than double's significand, also on bins of width 1 at the limits of their types. */
static void integers_at_limits(void **state)
{
    (void)state;
    enum { N = 6000 };
    static const int64_t lows[] = {
        0, -128, INT16_MIN, UINT16_MAX - 100, INT32_MIN, INT32_MAX - 100, UINT32_MAX - 100, (INT64_C(1) << 53) - 300};
    rng r = {.state = 31};
    uint64_t *x = malloc(N * sizeof *x);
    for (size_t l = 0; l < sizeof lows / sizeof *lows; l++) {
        for (int dtype = HISTO_U16; dtype <= HISTO_I64; dtype++) {
            histo_axis axis = histo_axis_integer(lows[l], 100);
            if (l % 2) axis = histo_axis_closed(axis);
            size_t size = histo_dtype_size((histo_dtype)dtype);
            for (int i = 0; i < N; i++) {
                int64_t value = lows[l] + rng_below(&r, 104) - 2;
                if (i > N / 2 && i % 7 == 0) value = (int64_t)rng_next(&r);
                memcpy((char *)x + (size_t)i * size, &value, size); /* little-endian, like all tested machines */
            }
            check_slots(&axis, (histo_dtype)dtype, x, N);
        }
    }
    free(x);
}

/* Integers around edges between which double cannot tell them apart. */
static void integers_beyond_double(void **state)
{
    (void)state;
    enum { N = 6000, BINS = 40 };
    static const double lows[] = {0x1p53, -0x1p53 - 4000, 0x1p60, -0x1p62, 0x1p63, -0x1p63, 0};
    rng r = {.state = 37};
    uint64_t *x = malloc(N * sizeof *x);
    double edges[BINS + 1];
    for (int round = 0; round < 40; round++) {
        const double lo = lows[round % 7], step = round % 3 == 0 ? 0x1p58 : round % 3 == 1 ? 0x1p15 : 0x1p11;
        const bool variable = round % 2 || step < 0x1p58;
        edges[0] = lo;
        for (int b = 0; b < BINS; b++)
            edges[b + 1] = edges[b] + step * (double)(1 + (variable ? rng_below(&r, 3) : 0));
        histo_axis axis = variable ? histo_axis_variable(BINS, edges) : histo_axis_regular(BINS, lo, edges[BINS]);
        if (round % 4 < 2) axis = histo_axis_closed(axis);
        const histo_dtype dtype = lo < 0 || (lo < 0x1p63 && round % 5 < 2) ? HISTO_I64 : HISTO_U64;
        for (int i = 0; i < N; i++) {
            const double edge = edges[rng_below(&r, BINS + 1)];
            const uint64_t whole = edge < 0 ? (uint64_t)(int64_t)edge : edge < 0x1p64 ? (uint64_t)edge : 0;
            x[i] = whole + (uint64_t)(rng_below(&r, 5) - 2) * (i % 3 ? 1 : 700);
            if (i % 16 == 0) x[i] = rng_next(&r);
        }
        check_slots(&axis, dtype, x, N);
    }
    free(x);
}

/* Integer axes that begin below all 16-bit values, so that differences need more bits. */
static void axes_wider_than_integers(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    static const double lows[] = {-512, -1000, -16384, -65536 - 512, -98304};
    uint16_t *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = (uint16_t)i;
    for (size_t l = 0; l < sizeof lows / sizeof *lows; l++)
        for (int dtype = HISTO_U16; dtype <= HISTO_I16; dtype++) {
            histo_axis axis = histo_axis_regular(256, lows[l], lows[l] + 256 * 512);
            check_slots(&axis, (histo_dtype)dtype, x, N);
        }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_around_edges),
        cmocka_unit_test(narrow_samples_around_edges),
        cmocka_unit_test(bins_of_powers_of_two),
        cmocka_unit_test(upper_end),
        cmocka_unit_test(any_edges),
        cmocka_unit_test(equal_and_infinite_edges),
        cmocka_unit_test(integer_edges),
        cmocka_unit_test(integers_at_limits),
        cmocka_unit_test(integers_beyond_double),
        cmocka_unit_test(axes_wider_than_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
