/* Few samples on a GPU by the kernels that need no compilation: up to eight axes of any types, anywhere in memory, with
 * masks, range filters and weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/same.h"

enum { DIMS = 3, AXES = HISTO_MAX_AXES, MOST_SLOTS = 1 << 20 };

/* An array in host memory, and its copy on the device. */
typedef struct array {
    char *bytes;
    void *memory;
    histo_view host, device;
} array;

typedef struct shape {
    int64_t extent[DIMS];
    int batch_ndim;
} shape;

static int64_t samples_of(const shape *s)
{
    return s->extent[0] * s->extent[1] * s->extent[2];
}

/* Set the views of an array of `bytes` bytes; unit: from a sample to the next, in bytes, or in bits if `bits`. */
static void lay_out(rng *r, const shape *s, histo_dtype dtype, int64_t unit, array *a)
{
    const bool bits = dtype == HISTO_BIT, is_flipped = rng_below(r, 4) == 0, is_turned = rng_below(r, 4) == 0;
    const int64_t size = bits ? 1 : (int64_t)histo_dtype_size(dtype), odd = rng_below(r, 4) == 0 ? 1 : size;
    int64_t strides[DIMS], all = 0, first = 0;
    const int64_t width = s->extent[is_turned ? 1 : 2], row = width * unit + rng_below(r, 3) * odd;
    strides[2] = is_turned ? row : unit;
    strides[1] = is_turned ? unit : row;
    strides[0] = row * s->extent[is_turned ? 2 : 1] + rng_below(r, 3) * odd;
    if (bits) strides[0] = (strides[0] + 7) / 8 * 8;
    for (int d = 0; d < DIMS; d++) {
        all += (s->extent[d] - 1) * strides[d];
        if (!is_flipped || d == 0 || bits) continue;
        first += (s->extent[d] - 1) * strides[d];
        strides[d] = -strides[d];
    }
    const int64_t begin = rng_below(r, 5) * odd, bytes = bits ? all / 8 + 1 + begin : all + size + begin;
    a->bytes = calloc((size_t)bytes, 1);
    a->host = (histo_view){.data = a->bytes + begin + first,
                           .dtype = dtype,
                           .ndim = DIMS,
                           .batch_ndim = s->batch_ndim,
                           .shape = {s->extent[0], s->extent[1], s->extent[2]},
                           .strides = {strides[0], strides[1], strides[2]}};
    if (bits)
        for (int64_t i = 0; i < bytes; i++)
            a->bytes[i] = (char)rng_next(r);
    a->device = histo_view_1d(a->bytes, HISTO_U8, bytes); /* until `copy` */
}

/* Copy the array, which the caller has filled. */
static void copy(array *a)
{
    const histo_view all = a->device;
    a->memory = device_copy(&all, &a->device);
    assert_non_null(a->memory);
    const char *there = (const char *)a->device.data + ((const char *)a->host.data - a->bytes);
    a->device = a->host;
    a->device.data = there;
}

static void dispose(array *a)
{
    if (a->memory) device_free(a->memory);
    free(a->bytes);
}

/* An array of these samples, which it frees. */
static array array_of(rng *r, const shape *s, histo_dtype dtype, void *samples)
{
    array a = {0};
    const int64_t size = (int64_t)histo_dtype_size(dtype), n = samples_of(s);
    const bool is_swapped = rng_below(r, 5) == 0;
    lay_out(r, s, dtype, size * (1 + rng_below(r, 3)) + (rng_below(r, 6) == 0), &a);
    for (int64_t i = 0; i < n; i++) {
        char *to = sample_at(&a.host, i);
        const char *from = (const char *)samples + i * size;
        for (int64_t b = 0; b < size; b++)
            to[b] = from[is_swapped ? size - 1 - b : b];
    }
    if (is_swapped) a.host.dtype |= HISTO_SWAPPED;
    copy(&a);
    free(samples);
    return a;
}

static array random_array(rng *r, const shape *s, histo_dtype dtype, const histo_axis *axis)
{
    return array_of(r, s, dtype,
                    make_samples(r, dtype, (distribution)rng_below(r, DISTRIBUTIONS), axis, samples_of(s)));
}

/* Whole numbers, whose sums are the same in any order. */
static array whole_weights(rng *r, const shape *s)
{
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_I64, HISTO_U64, HISTO_U8, HISTO_I32};
    const histo_dtype dtype = dtypes[rng_below(r, sizeof dtypes / sizeof *dtypes)];
    const size_t size = histo_dtype_size(dtype);
    const int64_t n = samples_of(s);
    char *w = calloc((size_t)n, size);
    for (int64_t i = 0; i < n; i++) {
        const int64_t whole = rng_below(r, 100);
        const float single = (float)whole;
        const double number = (double)whole;
        const void *from = dtype == HISTO_F32   ? (const void *)&single
                           : dtype == HISTO_F64 ? (const void *)&number
                                                : (const void *)&whole; /* its low bytes */
        memcpy(w + (size_t)i * size, from, size);
    }
    return array_of(r, s, dtype, w);
}

static histo_axis random_axis(rng *r, histo_dtype dtype, int naxes)
{
    const int64_t bins[] = {1 + rng_below(r, 40), 5000, 70001};
    histo_axis axis;
    int axes = 0;
    while (test_axis(axes, dtype, &axis))
        axes++;
    const int which = (int)rng_below(r, axes + (naxes == 1 ? 3 : 1));
    return test_axis(which, dtype, &axis) ? axis : histo_axis_regular(bins[which - axes], -7, 300);
}

static shape random_shape(rng *r)
{
    shape s = {.batch_ndim = (int)rng_below(r, 3)};
    for (int d = 0; d < DIMS; d++) {
        const int64_t most = INT64_C(1) << rng_below(r, d == 2 ? 14 : 6);
        s.extent[d] = rng_below(r, 3) == 0 ? 1 : most + rng_below(r, most);
    }
    return s;
}

/* Equal, or both NaN. */
static void assert_sums(const double *a, const double *b, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("%s: sum of slot %lld: %.17g, not %.17g", what, (long long)i, a[i], b[i]);
}

static void assert_same_values(histo_hist *a, histo_hist *b, histo_weighting weighting, const char *what)
{
    assert_same_slots(a, b, what);
    if (weighting == HISTO_UNWEIGHTED) return;
    const int64_t n = histo_hist_size(a, HISTO_FLOW);
    const bool squares = weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE;
    double *sums = malloc((size_t)n * 4 * sizeof *sums);
    OK(histo_hist_read_weights(a, HISTO_FLOW, sums, squares ? sums + n : NULL, n, NULL));
    OK(histo_hist_read_weights(b, HISTO_FLOW, sums + 2 * n, squares ? sums + 3 * n : NULL, n, NULL));
    assert_sums(sums, sums + 2 * n, squares ? 2 * n : n, what);
    free(sums);
}

static void fill(histo_hist *h, const char *strategy, const histo_view *samples, const histo_fill_options *options)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, samples, options, &(histo_plan_options){.strategy = strategy}));
    OK(histo_plan_fill(plan, h, samples, options));
    OK(histo_plan_fill(plan, h, samples, options));
    histo_plan_destroy(plan);
}

/* A random problem; is_simple: of one axis and nothing else. */
static void random_problem(rng *r, int number, bool is_simple)
{
    enum { MASK = AXES, WHERE, WEIGHTS, ALL };
    static const histo_weighting weightings[] = {HISTO_WEIGHT_FAST, HISTO_WEIGHT_FAST_SUM, HISTO_WEIGHT_REPRODUCIBLE,
                                                 HISTO_WEIGHT_REPRODUCIBLE_SUM};
    array arrays[ALL] = {0};
    histo_axis axes[AXES];
    histo_view on_cpu[AXES], on_gpu[AXES];
    const shape s = random_shape(r);
    const int64_t few[] = {1, 1, 2, 2, 3, 4, AXES};
    const int wanted = is_simple ? 1 : (int)few[rng_below(r, 7)];
    int64_t slots = 1;
    int naxes = 0;
    for (int d = 0; d < s.batch_ndim; d++)
        slots *= s.extent[d];
    const int64_t batch = slots;
    while (naxes < wanted) {
        const histo_dtype dtype = (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT);
        axes[naxes] = wanted > 4 ? histo_axis_regular(1 + rng_below(r, 3), 0, 3) : random_axis(r, dtype, wanted);
        if (slots * (axes[naxes].bins + 3) > MOST_SLOTS) break;
        slots *= axes[naxes].bins + 3;
        arrays[naxes] = random_array(r, &s, dtype, &axes[naxes]);
        on_cpu[naxes] = arrays[naxes].host;
        on_gpu[naxes] = arrays[naxes].device;
        naxes++;
    }
    if (naxes == 0) return;
    histo_hist_options kind = {.batch = batch};
    histo_fill_options cpu = {0}, gpu = {0};
    const histo_axis range = histo_axis_regular(4, -1, 1);
    if (!is_simple && rng_below(r, 3) == 0) {
        if (rng_below(r, 2))
            arrays[MASK] = random_array(r, &s, (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT), &range);
        else {
            lay_out(r, &s, HISTO_BIT, 1 + rng_below(r, 2), &arrays[MASK]);
            copy(&arrays[MASK]);
        }
        cpu.mask = &arrays[MASK].host;
        gpu.mask = &arrays[MASK].device;
    }
    if (!is_simple && rng_below(r, 3) == 0) {
        arrays[WHERE] = random_array(r, &s, (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT), &range);
        cpu.where = &arrays[WHERE].host;
        gpu.where = &arrays[WHERE].device;
        cpu.where_lo = gpu.where_lo = -0.5;
        cpu.where_hi = gpu.where_hi = 0.75;
    }
    if (!is_simple && rng_below(r, 2)) {
        kind.weighting = weightings[rng_below(r, 4)];
        if (rng_below(r, 4)) {
            const bool is_exact =
                kind.weighting == HISTO_WEIGHT_REPRODUCIBLE || kind.weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
            arrays[WEIGHTS] = is_exact && rng_below(r, 2)
                                  ? random_array(r, &s, (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT), &range)
                                  : whole_weights(r, &s);
            cpu.weights = &arrays[WEIGHTS].host;
            gpu.weights = &arrays[WEIGHTS].device;
        }
    }
    char what[200];
    snprintf(what, sizeof what,
             "problem %d: %d axes, the first of type %d and %lld bins, shape %d x %d x %d, batch %d%s%s%s", number,
             naxes, (int)on_cpu[0].dtype, (long long)axes[0].bins, (int)s.extent[0], (int)s.extent[1], (int)s.extent[2],
             (int)batch, cpu.mask ? cpu.mask->dtype == HISTO_BIT ? ", bits" : ", mask" : "", cpu.where ? ", where" : "",
             kind.weighting ? ", weighted" : "");
    histo_hist *h, *expected;
    OK(histo_hist_create(&h, naxes, axes, &kind));
    OK(histo_hist_create(&expected, naxes, axes, &kind));
    fill(expected, "cpu/sequential", on_cpu, &cpu);
    fill(h, "cuda/global_atomic", on_gpu, &gpu);
    assert_same_values(h, expected, kind.weighting, what);
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    for (int i = 0; i < ALL; i++)
        dispose(&arrays[i]);
}

static void one_axis(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng r = {.state = 31};
    for (int i = 0; i < (is_sanitized() ? 20 : 400); i++)
        random_problem(&r, i, true);
}

static void anything(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng r = {.state = 37};
    for (int i = 0; i < (is_sanitized() ? 20 : 500); i++)
        random_problem(&r, i, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_axis), cmocka_unit_test(anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
