/* Pairs of images: every strategy counts them as their definition says. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategies/rows.h"
#include "support/data.h"

/* Stacks of images in one buffer. */
typedef struct stack {
    histo_dtype dtype;
    int images;
    histo_pairing pairs;
    int64_t batch, height, width;
    int layout; /* of stack_of */
    int axes;   /* of stack_axes */
    int noise;  /* limit of differences */
    bool relative;
} stack;

static void stack_axes(int i, histo_axis axes[2])
{
    static const double few[] = {-40000, -3.5, -1, 0, 0.5, 2, 17, 40000}, means[] = {3.5, 4, 99.25, 100, 101, 4000};
    const histo_axis all[][2] = {{histo_axis_regular(4096, -256, 256), histo_axis_integer(0, 256)},
                                 {histo_axis_regular(4096, -4096, 4096), histo_axis_regular(256, 0, 4096)},
                                 {histo_axis_integer(-20, 41), histo_axis_regular(50, 0, 256)},
                                 {histo_axis_closed(histo_axis_integer(-3, 6)), histo_axis_integer(90, 20)},
                                 {histo_axis_variable(7, few), histo_axis_variable(5, means)},
                                 {histo_axis_regular(300, -70000, 70000), histo_axis_regular(1000, 0, 65536)},
                                 {histo_axis_regular(4096, -0.5, 0.5), histo_axis_integer(0, 256)},
                                 {histo_axis_closed(histo_axis_regular(50, -3, 3)), histo_axis_integer(90, 20)}};
    axes[0] = all[i][0];
    axes[1] = all[i][1];
}

enum { CONTIGUOUS, PITCH, INTERLEAVED, SHIFTED, UNALIGNED, BACKWARDS, REVERSED };

/* Views of [batch, images, height, width] in a buffer of stack_bytes(). Layout 0 is C order; others permute or pad it.
 */
static histo_view stack_of(const stack *s, const char *buffer)
{
    const int64_t size = (int64_t)histo_dtype_size(s->dtype), pad = s->layout == PITCH ? 3 : 0;
    const int64_t pitch = (s->width + pad) * size, image = pitch * s->height;
    histo_view v = {.data = buffer,
                    .dtype = s->dtype,
                    .ndim = 4,
                    .batch_ndim = 1,
                    .shape = {s->batch, s->images, s->height, s->width},
                    .strides = {image * s->images, image, pitch, size}};
    if (s->layout == INTERLEAVED) {
        v.strides[1] = size;
        v.strides[2] = s->width * s->images * size;
        v.strides[3] = s->images * size;
    }
    if (s->layout == SHIFTED) v.data = buffer + size;
    if (s->layout == UNALIGNED) v.data = buffer + 1;
    if (s->layout == BACKWARDS) {
        v.data = buffer + (s->width - 1) * size;
        v.strides[3] = -size;
    }
    if (s->layout == REVERSED) {
        v.data = buffer + image * (s->images - 1);
        v.strides[1] = -image;
    }
    return v;
}

/* What stack_of's views may reach. */
static int64_t stack_bytes(const stack *s)
{
    const int64_t pad = s->layout == PITCH ? 3 : 0;
    return ((s->width + pad) * s->height * s->images * s->batch + 1) * (int64_t)histo_dtype_size(s->dtype);
}

/* Counts every slot by definition. */
static void count_stack(const stack *s, const histo_view *v, const histo_axis axes[2], uint64_t *counts)
{
    double *edges[2];
    const int64_t places = s->height * s->width, minor = axes[1].bins + 3;
    for (int a = 0; a < 2; a++) {
        edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
        OK(histo_axis_edges(&axes[a], edges[a]));
    }
    for (int64_t i = 0; i < s->batch * places; i++) {
        int64_t b = i / places, at = i % places, sum = 0, p[HISTO_MAX_IMAGES];
        for (int k = 0; k < s->images; k++) {
            p[k] = (int64_t)sample_value(sample_at(v, (b * s->images + k) * places + at), s->dtype);
            sum += p[k];
        }
        int64_t mean = sum / s->images;
        if (2 * (sum - mean * s->images) >= s->images) mean++;
        int64_t slot_of_mean = reference_slot_by_edges(&mean, HISTO_I64, edges[1], axes[1].bins, axes[1].closed);
        for (int k = 0; k < s->images; k += s->pairs == HISTO_PAIRS_APART ? 2 : 1) {
            int64_t next = k + 1 < s->images ? p[k + 1] : p[0];
            const float relative = sum ? (float)((p[k] - next) * s->images) / (float)sum : 0;
            const double x = s->relative ? (double)relative : (double)(p[k] - next);
            int64_t slot = reference_slot_by_edges(&x, HISTO_F64, edges[0], axes[0].bins, axes[0].closed);
            counts[(b * (axes[0].bins + 3) + slot) * minor + slot_of_mean]++;
        }
    }
    free(edges[0]);
    free(edges[1]);
}

/* on_device: the stack is in the memory of the strategy's device; else in host memory. */
static void fill_stack(const char *name, const char *params, const stack *s, const histo_view *v, bool on_device,
                       const histo_axis axes[2], const uint64_t *expected, uint64_t *got, int64_t counters, int round)
{
    placed memory = {0};
    histo_view copy;
    const histo_view *stack_view = place(&memory, v, on_device && is_cuda(name), &copy);
    const histo_pairs pairs = {.pairing = s->pairs, .relative = s->relative};
    histo_plan_options wanted = options_for(name, 3);
    histo_hist *h;
    histo_plan *plan = NULL;
    OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.batch = s->batch, .storage = storage_for(name)}));
    wanted.params = params;
    const histo_status status = histo_plan_create_pairs(&plan, h, stack_view, &pairs, NULL, &wanted);
    if (params)
        assert_int_equal(status, HISTO_OK);
    else
        plan = supported(name, status, &plan);
    for (int pass = 0; plan && pass < 2; pass++)
        OK(histo_plan_fill(plan, h, stack_view, NULL));
    if (plan) OK(histo_hist_read_counts(h, HISTO_FLOW, got, counters, NULL));
    for (int64_t i = 0; plan && i < counters; i++)
        if (got[i] != 2 * expected[i])
            fail_msg("%s %s, stack %d: slot %lld has %llu, should have %llu", name, params ? params : "", round,
                     (long long)i, (unsigned long long)got[i], 2 * (unsigned long long)expected[i]);
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    if (plan) assert_int_equal(tally.samples, 2 * histo_view_size(v) / (s->pairs == HISTO_PAIRS_APART ? 2 : 1));
    assert_int_equal(tally.bins + tally.flow, tally.samples);
    displace(&memory);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
}

static void check_stack(rng *r, const stack *s, int round)
{
    histo_axis axes[2];
    stack_axes(s->axes, axes);
    const int64_t counters = s->batch * (axes[0].bins + 3) * (axes[1].bins + 3);
    char *buffer = malloc((size_t)stack_bytes(s));
    histo_view v = stack_of(s, buffer);
    for (int64_t i = 0; i < histo_view_size(&v); i++) {
        uint32_t max_value = s->dtype == HISTO_U8 ? 255 : 65535, middle = max_value < 4096 ? 100 : 2000;
        uint32_t x =
            s->noise ? middle + (uint32_t)rng_below(r, s->noise) + (uint32_t)(i % 7 == 0) : (uint32_t)rng_next(r);
        uint16_t wide = (uint16_t)(rng_below(r, 300) ? x & max_value : rng_below(r, 2) ? 0 : max_value);
        uint8_t narrow = (uint8_t)wide;
        memcpy(sample_at(&v, i), s->dtype == HISTO_U8 ? (void *)&narrow : (void *)&wide, histo_dtype_size(s->dtype));
    }
    uint64_t *expected = calloc((size_t)counters, sizeof *expected), *got = malloc((size_t)counters * sizeof *got);
    count_stack(s, &v, axes, expected);
    char name[64];
    for (int i = 0; i < histo_strategy_count(); i++) {
        static const char *const params[] = {"bits=8",         "bits=16,length=1000", "first=5000,length=40000,bits=8",
                                             "blocks=3",       "threads=96",          "length=1",
                                             "bits=8,blocks=1"};
        if (!row_name(i, name)) continue;
        fill_stack(name, NULL, s, &v, true, axes, expected, got, counters, round);
        if (is_cuda(name)) fill_stack(name, NULL, s, &v, false, axes, expected, got, counters, round);
        if (strcmp(name, "cuda/packed_window") == 0)
            fill_stack(name, params[round % 7], s, &v, true, axes, expected, got, counters, round);
    }
    free(buffer);
    free(expected);
    free(got);
}

/* Stacks of both dtypes and pairings, of any number of images, in all layouts; few and many bins and positions. */
void pairs_of_images(void **state)
{
    (void)state;
    enum { LAYOUTS = 7, AXES = 8 };
    static const stack large[] = {
        {HISTO_U8, 16, HISTO_PAIRS_RING, 1, 1, 40003, 0, 0, 30, false},
        {HISTO_U8, 16, HISTO_PAIRS_APART, 1, 1, 40003, 0, 0, 1, false},
        {HISTO_U16, 16, HISTO_PAIRS_RING, 1, 1, 40003, 0, 1, 500, false},
        {HISTO_U16, 16, HISTO_PAIRS_APART, 2, 1, 20001, 0, 1, 0, false},
        {HISTO_U16, 5, HISTO_PAIRS_RING, 1, 200, 300, 0, 5, 9000, false},
        {HISTO_U8, 6, HISTO_PAIRS_APART, 1, 200, 301, 1, 2, 12, false},
        {HISTO_U8, 256, HISTO_PAIRS_RING, 1, 1, 3001, 0, 0, 20, false},
        {HISTO_U16, 255, HISTO_PAIRS_RING, 1, 1, 301, 0, 5, 0, false},
        {HISTO_U8, 16, HISTO_PAIRS_RING, 1, 1, 40003, 0, 6, 30, true},
        {HISTO_U16, 256, HISTO_PAIRS_RING, 1, 1, 301, 0, 7, 0, true},
    };
    rng r = {.state = 42};
    int round = 0;
    for (int i = 0; i < (int)(sizeof large / sizeof large[0]); i++, round++)
        if (is_chosen()) check_stack(&r, &large[i], round);
    for (; round < 120; round++) {
        stack s = {.dtype = rng_below(&r, 2) ? HISTO_U16 : HISTO_U8,
                   .pairs = rng_below(&r, 2) ? HISTO_PAIRS_RING : HISTO_PAIRS_APART,
                   .images = 2 + (int)rng_below(&r, round % 5 ? 16 : 40),
                   .batch = 1 + rng_below(&r, 3),
                   .height = 1 + rng_below(&r, 6),
                   .width = 1 + rng_below(&r, round % 3 ? 300 : 20),
                   .layout = round % LAYOUTS,
                   .axes = 2 + (int)rng_below(&r, AXES - 2),
                   .noise = (int)rng_below(&r, 4) * 7,
                   .relative = rng_below(&r, 4) == 0};
        if (s.pairs == HISTO_PAIRS_APART) s.images += s.images % 2;
        if (is_chosen()) check_stack(&r, &s, round);
    }
}

/* Unsupported pairs give a message. */
void refused_pairs(void **state)
{
    (void)state;
    uint8_t pixels[64] = {0};
    const int64_t shape[] = {4, 16}, many[] = {1000, 0};
    histo_axis axes[] = {histo_axis_integer(-4, 8), histo_axis_integer(0, 4)};
    histo_hist *h, *one, *weighted;
    OK(histo_hist_create(&h, 2, axes, NULL));
    OK(histo_hist_create(&one, 1, axes, NULL));
    OK(histo_hist_create(&weighted, 2, axes, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST}));
    histo_view four = histo_view_nd(pixels, HISTO_U8, 2, shape), odd = four,
               single = histo_view_1d(pixels, HISTO_U8, 1);
    histo_view floats = histo_view_nd(pixels, HISTO_F16, 2, shape), empty = histo_view_nd(NULL, HISTO_U8, 2, many);
    histo_view none = histo_view_nd(pixels, HISTO_U8, 0, NULL), nothing = four;
    odd.shape[0] = 3;
    nothing.shape[1] = 0;
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING}, apart = {.pairing = HISTO_PAIRS_APART};
    REFUSED(HISTO_INVALID, "pairs are NULL", histo_hist_fill_pairs(h, &four, NULL, NULL));
    REFUSED(HISTO_INVALID, "unknown pairs 7",
            histo_hist_fill_pairs(h, &four, &(histo_pairs){.pairing = (histo_pairing)7}, NULL));
    REFUSED(HISTO_INVALID, "not on 1", histo_hist_fill_pairs(one, &four, &ring, NULL));
    REFUSED(HISTO_INVALID, "not of f16", histo_hist_fill_pairs(h, &floats, &ring, NULL));
    REFUSED(HISTO_INVALID, "2 to 256 images", histo_hist_fill_pairs(h, &single, &ring, NULL));
    REFUSED(HISTO_INVALID, "2 to 256 images", histo_hist_fill_pairs(h, &none, &ring, NULL));
    REFUSED(HISTO_INVALID, "not of 1000", histo_hist_fill_pairs(h, &empty, &ring, NULL));
    REFUSED(HISTO_INVALID, "3 images cannot be paired apart", histo_hist_fill_pairs(h, &odd, &apart, NULL));
    REFUSED(HISTO_INVALID, "without weights", histo_hist_fill_pairs(weighted, &four, &ring, NULL));
    REFUSED(HISTO_INVALID, "without weights, mask",
            histo_hist_fill_pairs(h, &four, &ring, &(histo_fill_options){.mask = &four}));
    histo_tally tally;
    OK(histo_hist_fill_pairs(h, &nothing, &ring, NULL));
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, 0);
    OK(histo_hist_fill_pairs(h, &odd, &ring, NULL));
    OK(histo_hist_fill_pairs(h, &four, &apart, NULL));
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.bins, 3 * 16 + 4 / 2 * 16);
    histo_hist_destroy(h);
    histo_hist_destroy(one);
    histo_hist_destroy(weighted);
}
