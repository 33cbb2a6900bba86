/* Strategies of this CPU beside the oracle: counters that overflow, channels, orders in memory, weights. HISTO_CPU
 * selects the instruction-set level. */
#include <stdlib.h>
#include <string.h>

#include "cpu/samples/block.h"
#include "support/check.h"
#include "support/cpu_slots.h"
#include "support/data.h"

/* ---- Counters ---- */

/* One-byte counters wrap hundreds of times: sorted samples, runs, one frequent value, all values. */
static void counters_that_carry(void **state)
{
    (void)state;
    enum { N = 300000 };
    rng r = {.state = 37};
    uint16_t *x = malloc(N * sizeof *x);
    uint32_t *y = malloc(N * sizeof *y);
    for (int kind = 0; kind < 5; kind++) {
        int64_t bins = kind % 2 ? 900 : 40000;
        for (int i = 0; i < N; i++) {
            int64_t any = rng_below(&r, bins + 3);
            switch (kind) {
            case 0: /* runs of 7 or 8 */
                any = (int64_t)i * bins / N;
                break;
            case 1: /* of 333 */
                any = (int64_t)i * bins / N;
                break;
            case 2:
                any = i && rng_below(&r, 70) ? y[i - 1] : any;
                break;
            case 3:
                any = i % 3 ? 77 : any;
                break;
            default:
                break;
            }
            x[i] = (uint16_t)(y[i] = (uint32_t)any);
        }
        histo_axis axis = histo_axis_integer(0, bins);
        check_slots(&axis, HISTO_U16, x, N);
        check_slots(&axis, HISTO_U32, y, N);
    }
    free(x);
    free(y);
}

/* Hundreds of thousands of clustered samples alternate with as many scattered ones; in one histogram, and in one per
 * sixth. */
static void values_close_by_turns(void **state)
{
    (void)state;
    enum { N = 1 << 21, PART = 200000 };
    rng r = {.state = 41};
    uint16_t *x = malloc(N * sizeof *x);
    for (int i = 0; i < N; i++)
        x[i] = (uint16_t)(i / PART % 2 ? rng_below(&r, 65536) : 30000 + rng_below(&r, 5000));
    histo_axis axis = histo_axis_integer(100, 65536);
    check_slots(&axis, HISTO_U16, x, N);
    histo_view parts = {x, HISTO_U16, 2, 1, {6, N / 6}, {N / 6 * sizeof *x, sizeof *x}};
    check_view(&axis, &parts, 6);
    free(x);
}

/* Runs of equal samples of a block's length and longer, and nearly equal ones. */
static void equal_samples(void **state)
{
    (void)state;
    enum { N = 5 * HISTO_BLOCK + 77 };
    histo_axis axis = histo_axis_regular(200, 0, 200);
    static const histo_dtype dtypes[] = {HISTO_U8, HISTO_I16, HISTO_U32, HISTO_F32, HISTO_F64};
    double *x = malloc(N * sizeof *x);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (int odd = 0; odd < 4; odd++) { /* none, the second, one in the middle, or the last differs */
            for (int i = 0; i < N; i++) {
                bool differs = odd == 1 ? i == 1 : odd == 2 ? i % HISTO_BLOCK == 1000 : odd == 3 && i == N - 1;
                int value = differs ? 3 : i < 3 * HISTO_BLOCK ? 77 : 199;
                switch (dtypes[d]) {
                case HISTO_U8:
                    ((uint8_t *)x)[i] = (uint8_t)value;
                    break;
                case HISTO_I16:
                    ((int16_t *)x)[i] = (int16_t)value;
                    break;
                case HISTO_U32:
                    ((uint32_t *)x)[i] = (uint32_t)value;
                    break;
                case HISTO_F32:
                    ((float *)x)[i] = (float)value;
                    break;
                default:
                    x[i] = value;
                    break;
                }
            }
            check_slots(&axis, dtypes[d], x, N);
        }
    }
    free(x);
}

/* ---- Channels ---- */

/* One or two images with a few bytes between their rows; channels [first, first + counted) of each pixel count. Memory
 * ends right after the last sample. */
static void check_channels(int images, int pitch, int first, int counted)
{
    enum { WIDTH = 301, HEIGHT = 130, GAP = 5 };
    int64_t row = WIDTH * pitch + GAP, image = row * HEIGHT, slots = 259 * (int64_t)images * counted;
    size_t bytes = (size_t)((images - 1) * image + (HEIGHT - 1) * row + (WIDTH - 1) * pitch + first + counted);
    uint8_t *samples = malloc(bytes);
    rng r = {.state = 41};
    for (size_t i = 0; i < bytes; i++)
        samples[i] = (uint8_t)rng_below(&r, i % 2 ? 256 : 9);
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view view = {.data = samples + first,
                       .dtype = HISTO_U8,
                       .ndim = 4,
                       .batch_ndim = 2,
                       .shape = {images, counted, HEIGHT, WIDTH},
                       .strides = {image, 1, row, pitch}};
    uint64_t *expected = count_by("cpu/sequential", &axis, &view, slots);
    uint64_t *got = count_by("cpu/value_counts", &axis, &view, slots);
    assert_memory_equal(got, expected, (size_t)slots * sizeof *got);
    free(expected);
    free(got);
    free(samples);
}

static void interleaved_channels(void **state)
{
    (void)state;
    for (int images = 1; images <= 2; images++)
        for (int pitch = 2; pitch <= 5; pitch++)
            for (int first = 0; first < pitch; first++)
                for (int counted = 1; first + counted <= pitch; counted++)
                    check_channels(images, pitch, first, counted);
}

/* Channels of pixels as the axes of one histogram: in the order in which the walk splits them, and in others. */
static void check_pixels(int pitch, int axes, int first, int step, int width)
{
    enum { HEIGHT = 37 };
    const int row = width * pitch + 5;
    uint8_t *pixels = malloc((size_t)(HEIGHT * row));
    rng r = {.state = 5};
    for (int i = 0; i < HEIGHT * row; i++)
        pixels[i] = (uint8_t)(i % 7 ? rng_below(&r, 256) : 9);
    histo_axis axis[4];
    histo_view views[4];
    int64_t slots = 1;
    for (int a = 0; a < axes; a++) {
        axis[a] = a % 2 ? histo_axis_integer(10 * a, 16 << a) : histo_axis_regular(8, 0, 256);
        slots *= axis[a].bins + 3;
        views[a] =
            histo_view_nd(pixels + first + a * step, a == 1 ? HISTO_I8 : HISTO_U8, 2, (const int64_t[]){HEIGHT, width});
        views[a].strides[0] = row;
        views[a].strides[1] = pitch;
    }
    uint64_t *counts[3];
    const char *const strategies[] = {"cpu/sequential", "cpu/privatized", "cpu/byte_counters"};
    for (int s = 0; s < 3; s++) {
        histo_hist *h;
        histo_plan *plan;
        counts[s] = malloc((size_t)slots * sizeof **counts);
        OK(histo_hist_create(&h, axes, axis, NULL));
        OK(histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = strategies[s], .threads = 2}));
        OK(histo_plan_fill(plan, h, views, NULL));
        OK(histo_hist_read_counts(h, HISTO_FLOW, counts[s], slots, NULL));
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
    for (int s = 0; s < 3; s++) {
        assert_memory_equal(counts[s], counts[0], (size_t)slots * sizeof **counts);
        if (s) free(counts[s]);
    }
    free(counts[0]);
    free(pixels);
}

static void joint_channels(void **state)
{
    (void)state;
    for (int pitch = 2; pitch <= 5; pitch++)
        for (int axes = 2; axes <= pitch && axes <= 4; axes++)
            for (int width = 50; width < 3000; width += 1350) {
                check_pixels(pitch, axes, 0, 1, width);
                check_pixels(pitch, axes, pitch - axes, 1, width);
                check_pixels(pitch, axes, axes - 1, -1, width);
            }
}

/* ---- Sums of weights ---- */

/* Weights wait in the pipeline while the slots of the next samples are produced: of any type, in place or gathered,
 * absent, and with samples left out. Integers, so that every order gives the same sums. */
static void weights_in_the_pipeline(void **state)
{
    (void)state;
    static const histo_dtype samples_of[] = {HISTO_F64, HISTO_F32, HISTO_I32, HISTO_U16, HISTO_U8};
    static const histo_dtype weights_of[] = {HISTO_F64, HISTO_F32, HISTO_I16};
    enum { MOST = 30000, SLOTS = 53 };
    rng r = {.state = 77};
    for (int round = 0; round < 120; round++) {
        const histo_axis axis = histo_axis_regular(SLOTS - 3, 0, 100), of_weights = histo_axis_integer(-50, 100);
        const int64_t n = 1 + rng_below(&r, round % 4 ? MOST : 3000);
        const histo_dtype dtypes[] = {samples_of[round % 5], weights_of[round % 3]};
        histo_view views[2], mask;
        void *data[2];
        uint8_t mask_bytes[MOST];
        for (int v = 0; v < 2; v++) {
            const int64_t step = round % 7 == v ? 2 : 1;
            data[v] = make_samples(&r, dtypes[v], v ? UNIFORM : (distribution)(round % SPECIAL),
                                   v ? &of_weights : &axis, step * n);
            views[v] = histo_view_1d(data[v], dtypes[v], n);
            views[v].strides[0] *= step;
            for (int64_t i = 0; v && i < step * n; i++) { /* whole numbers */
                if (dtypes[v] == HISTO_F64) ((double *)data[v])[i] = floor(((double *)data[v])[i]);
                if (dtypes[v] == HISTO_F32) ((float *)data[v])[i] = floorf(((float *)data[v])[i]);
            }
        }
        for (int64_t i = 0; i < n; i++)
            mask_bytes[i] = rng_below(&r, 10) > 0;
        mask = histo_view_1d(mask_bytes, HISTO_U8, n);
        const histo_fill_options options = {.weights = round % 11 == 5 ? NULL : &views[1],
                                            .mask = round % 5 == 3 ? &mask : NULL};
        const histo_weighting weighting = round % 2 ? HISTO_WEIGHT_FAST : HISTO_WEIGHT_FAST_SUM;
        static const char *const strategies[] = {"cpu/sequential", "cpu/privatized"};
        double sums[2][2][SLOTS] = {0};
        uint64_t counts[2][SLOTS];
        for (int s = 0; s < 2; s++) {
            histo_hist *h;
            histo_plan *plan;
            OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.weighting = weighting}));
            OK(histo_plan_create(&plan, h, views, &options, &(histo_plan_options){.strategy = strategies[s]}));
            OK(histo_plan_fill(plan, h, views, &options));
            OK(histo_hist_read_counts(h, HISTO_FLOW, counts[s], SLOTS, NULL));
            OK(histo_hist_read_weights(h, HISTO_FLOW, sums[s][0], round % 2 ? sums[s][1] : NULL, SLOTS, NULL));
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
        assert_memory_equal(counts[0], counts[1], sizeof *counts);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < SLOTS; i++)
                assert_true(sums[0][k][i] == sums[1][k][i]);
        free(data[0]);
        free(data[1]);
    }
}

/* Counts, masked samples and sums of a fill by one strategy, and of a second by the same plan. */
typedef struct weighted_fill {
    uint64_t *counts, *masked;
    double *sums, *squares;
} weighted_fill;

static weighted_fill fill_weighted(const char *strategy, int axes, const histo_axis *axis, int64_t batch,
                                   histo_weighting weighting, const histo_view *views[2],
                                   const histo_fill_options fills[2], int threads)
{
    histo_hist *h;
    histo_plan *plan;
    OK(histo_hist_create(&h, axes, axis, &(histo_hist_options){.batch = batch, .weighting = weighting}));
    const histo_plan_options options = {.strategy = strategy, .threads = threads, .device = HISTO_DEVICE_CPU};
    OK(histo_plan_create(&plan, h, views[0], &fills[0], &options));
    for (int f = 0; f < 2; f++)
        OK(histo_plan_fill(plan, h, views[f], &fills[f]));
    const int64_t size = histo_hist_size(h, HISTO_FLOW);
    weighted_fill filled = {malloc((size_t)size * 8), calloc((size_t)batch, 8), malloc((size_t)size * 8), NULL};
    if (weighting == HISTO_WEIGHT_FAST) filled.squares = malloc((size_t)size * 8);
    OK(histo_hist_read_counts(h, HISTO_FLOW, filled.counts, size, NULL));
    OK(histo_hist_read_weights(h, HISTO_FLOW, filled.sums, filled.squares, size, NULL));
    OK(histo_hist_read_masked(h, filled.masked, batch));
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return filled;
}

static void assert_same_fill(weighted_fill a, weighted_fill b, int64_t size, int64_t batch)
{
    assert_memory_equal(a.counts, b.counts, (size_t)size * sizeof *a.counts);
    assert_memory_equal(a.masked, b.masked, (size_t)batch * sizeof *a.masked);
    for (int64_t i = 0; i < size; i++) {
        assert_true(a.sums[i] == b.sums[i]);
        assert_true(!a.squares || a.squares[i] == b.squares[i]);
    }
    free(a.counts), free(a.masked), free(a.sums), free(a.squares);
    free(b.counts), free(b.masked), free(b.sums), free(b.squares);
}

/* A batch whose entries have the same samples and weights of their own, in any layout, with samples left out; then,
 * by the same plan, one whose entries have samples of their own. Weights are small integers, so that every order gives
 * the same sums. */
static void several_weights_of_a_sample(void **state)
{
    (void)state;
    static const histo_dtype samples_of[] = {HISTO_F64, HISTO_F32, HISTO_I32, HISTO_U8};
    static const histo_dtype weights_of[] = {HISTO_F64, HISTO_F32, HISTO_I16};
    enum { MOST = 12000, WEIGHTS = 20 };
    rng r = {.state = 83};
    for (int round = 0; round < 90; round++) {
        const int64_t batch = 2 + rng_below(&r, round % 3 ? 4 : WEIGHTS - 1), n = 1 + rng_below(&r, MOST);
        const int axes = 1 + round % 2, threads = 1 + round % 3;
        const histo_dtype dtype = samples_of[round % 4], of_weights = weights_of[round / 4 % 3];
        const int64_t size = (int64_t)histo_dtype_size(dtype), wide = (int64_t)histo_dtype_size(of_weights);
        const histo_axis axis[] = {histo_axis_regular(40, 0, 100), histo_axis_integer(10, round % 5 ? 30 : 3000)};
        const histo_axis for_weights = histo_axis_integer(-50, 100);
        const bool interleaved = round / 2 % 2;
        const int64_t gap = round % 7 == 0 ? 3 : 1;
        char *samples = make_samples(&r, dtype, (distribution)(round % SPECIAL), &axis[0], batch * n * gap);
        char *weights = make_samples(&r, of_weights, UNIFORM, &for_weights, batch * n * gap);
        uint8_t *mask_bytes = malloc((size_t)(batch * n));
        for (int64_t i = 0; i < batch * n * gap; i++) {
            if (of_weights == HISTO_F64) ((double *)(void *)weights)[i] = floor(((double *)(void *)weights)[i]);
            if (of_weights == HISTO_F32) ((float *)(void *)weights)[i] = floorf(((float *)(void *)weights)[i]);
        }
        for (int64_t i = 0; i < batch * n; i++)
            mask_bytes[i] = rng_below(&r, 5) > 0;
        histo_view same[2], own[2];
        for (int a = 0; a < 2; a++) {
            same[a] = (histo_view){samples, dtype, 2, 1, {batch, n}, {0, (a ? 1 : gap) * size}};
            own[a] = (histo_view){samples, dtype, 2, 1, {batch, n}, {n * size, size}};
        }
        const histo_view w = {weights,    of_weights,
                              2,          1,
                              {batch, n}, {(interleaved ? 1 : n * gap) * wide, (interleaved ? batch : gap) * wide}};
        const histo_view mask = {mask_bytes, HISTO_U8, 2, 1, {batch, n}, {0, 1}};
        histo_view own_mask = mask;
        own_mask.strides[0] = n;
        const bool masked = round % 4 == 1, filtered = round % 9 == 2;
        histo_fill_options fills[2] = {{.weights = &w, .mask = masked ? &mask : NULL}, {.weights = &w}};
        fills[1].mask = masked ? &own_mask : NULL;
        for (int f = 0; f < 2 && filtered; f++) {
            fills[f].where = f ? &own[0] : &same[0];
            fills[f].where_lo = 20;
            fills[f].where_hi = 80;
        }
        const histo_view *const views[] = {same, own};
        const histo_weighting weighting = round % 5 < 3 ? HISTO_WEIGHT_FAST : HISTO_WEIGHT_FAST_SUM;
        int64_t slots = batch;
        for (int a = 0; a < axes; a++)
            slots *= axis[a].bins + 3;
        const histo_view *both[] = {views[0], views[1]};
        assert_same_fill(fill_weighted("cpu/weight_columns", axes, axis, batch, weighting, both, fills, threads),
                         fill_weighted("cpu/sequential", axes, axis, batch, weighting, both, fills, 1), slots, batch);
        free(samples);
        free(weights);
        free(mask_bytes);
    }
}

/* The plan chooses it where entries share their samples, and only there. */
static void several_weights_are_planned(void **state)
{
    (void)state;
    enum { N = 50000, BATCH = 8 };
    double *x = calloc(BATCH * N, sizeof *x);
    const histo_axis axis = histo_axis_regular(100, 0, 1);
    for (int own = 0; own < 2; own++) {
        const histo_view w = {x, HISTO_F64, 2, 1, {BATCH, N}, {N * sizeof *x, sizeof *x}};
        histo_view samples = w;
        if (!own) samples.strides[0] = 0;
        histo_hist *h;
        histo_plan *plan;
        OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = BATCH, .weighting = HISTO_WEIGHT_FAST}));
        OK(histo_plan_create(&plan, h, &samples, &(histo_fill_options){.weights = &w},
                             &(histo_plan_options){.threads = 1, .device = HISTO_DEVICE_CPU}));
        assert_true(own == !!strcmp(histo_plan_strategy(plan), "cpu/weight_columns"));
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
    free(x);
}

/* A random view: dimensions in any order in memory, with gaps, some of them backwards, some along the batch. Returns
 * the bytes from its lowest to its highest sample, and how far from the lowest its first is. */
static int64_t random_layout(rng *r, histo_view *view, int64_t *before)
{
    const int64_t size = (int64_t)histo_dtype_size(view->dtype);
    int order[HISTO_MAX_DIMS];
    int64_t stride = size * (1 + rng_below(r, 3)), bytes = size;
    *before = 0;
    view->ndim = 1 + (int)rng_below(r, 4);
    view->batch_ndim = 1 + (int)rng_below(r, view->ndim);
    for (int d = 0; d < view->ndim; d++) {
        const int at = (int)rng_below(r, d + 1);
        order[d] = order[at];
        order[at] = d;
    }
    for (int i = 0; i < view->ndim; i++) {
        const int d = order[i];
        const bool backwards = rng_below(r, 4) == 0;
        view->shape[d] = 1 + rng_below(r, i == 0 && rng_below(r, 2) ? 700 : 9);
        view->strides[d] = backwards ? -stride : stride;
        if (backwards) *before += (view->shape[d] - 1) * stride;
        bytes += (view->shape[d] - 1) * stride;
        stride *= view->shape[d];
        if (rng_below(r, 3) == 0) stride += size * rng_below(r, 5);
    }
    return bytes;
}

/* Blocks that span batch entries: every strategy counts them as the oracle does. */
static void entries_in_any_order(void **state)
{
    (void)state;
    static const char *const strategies[] = {"cpu/direct", "cpu/privatized", "cpu/byte_counters", "cpu/byte_codes",
                                             "cpu/value_counts"};
    rng r = {.state = 43};
    for (int round = 0; round < 300; round++) {
        int64_t before, batch = 1;
        histo_view view = {.dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT)};
        const int64_t bytes = random_layout(&r, &view, &before), n = histo_view_size(&view);
        const histo_axis axis = histo_axis_regular(1 + rng_below(&r, 30), -20, 100);
        char *x = make_samples(&r, view.dtype, UNIFORM, &axis, bytes);
        view.data = x + before;
        for (int d = 0; d < view.batch_ndim; d++)
            batch *= view.shape[d];
        histo_view mask = view, weights = view;
        uint8_t *mask_bytes = malloc((size_t)bytes), *w = malloc((size_t)bytes);
        const int64_t size = (int64_t)histo_dtype_size(view.dtype);
        for (int64_t i = 0; i < bytes; i++) {
            mask_bytes[i] = rng_below(&r, 3) > 0;
            w[i] = (uint8_t)rng_below(&r, 50);
        }
        mask.dtype = weights.dtype = HISTO_U8;
        mask.data = mask_bytes + before / size;
        weights.data = w + before / size;
        for (int d = 0; d < view.ndim; d++)
            mask.strides[d] = weights.strides[d] = view.strides[d] / size;
        const histo_weighting weighting = (histo_weighting)(round % 5);
        const histo_fill_options fill = {.mask = round % 3 ? &mask : NULL, .weights = weighting ? &weights : NULL};
        const histo_hist_options kind = {.batch = batch, .weighting = weighting};
        histo_hist *expected;
        OK(histo_hist_create(&expected, 1, &axis, &kind));
        const int64_t slots = histo_hist_size(expected, HISTO_FLOW);
        uint64_t *counts = malloc((size_t)slots * 2 * sizeof *counts),
                 *masked = malloc((size_t)batch * 2 * sizeof *masked);
        double *sums = calloc((size_t)slots * 4, sizeof *sums);
        for (int s = -1; s < (int)(sizeof strategies / sizeof *strategies); s++) {
            const int second = s >= 0;
            const histo_plan_options options = {.strategy = s < 0 ? "cpu/sequential" : strategies[s],
                                                .threads = 1 + round % 2};
            histo_plan *plan;
            histo_hist *h;
            OK(histo_hist_clone(expected, &h));
            if (histo_plan_create(&plan, h, &view, &fill, &options) == HISTO_OK) {
                OK(histo_plan_fill(plan, h, &view, &fill));
                OK(histo_plan_fill(plan, h, &view, &fill));
                OK(histo_hist_read_counts(h, HISTO_FLOW, counts + second * slots, slots, NULL));
                OK(histo_hist_read_masked(h, masked + second * batch, batch));
                double *w2 = weighting < HISTO_WEIGHT_FAST_SUM ? sums + (2 + second) * slots : NULL;
                OK(histo_hist_read_weights(h, HISTO_FLOW, sums + second * slots, w2, slots, NULL));
                if (second) {
                    assert_memory_equal(counts + slots, counts, (size_t)slots * sizeof *counts);
                    assert_memory_equal(masked + batch, masked, (size_t)batch * sizeof *masked);
                    assert_memory_equal(sums + slots, sums, (size_t)slots * sizeof *sums);
                    assert_memory_equal(sums + 3 * slots, sums + 2 * slots, (size_t)slots * sizeof *sums);
                }
                histo_plan_destroy(plan);
            } else {
                assert_true(second);
            }
            histo_hist_destroy(h);
        }
        assert_true(n >= batch);
        histo_hist_destroy(expected);
        free(counts);
        free(masked);
        free(sums);
        free(mask_bytes);
        free(w);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_that_carry),
        cmocka_unit_test(equal_samples),
        cmocka_unit_test(entries_in_any_order),
        cmocka_unit_test(interleaved_channels),
        cmocka_unit_test(joint_channels),
        cmocka_unit_test(values_close_by_turns),
        cmocka_unit_test(weights_in_the_pipeline),
        cmocka_unit_test(several_weights_of_a_sample),
        cmocka_unit_test(several_weights_are_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
