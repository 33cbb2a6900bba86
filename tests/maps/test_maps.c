/* Maps: any number of threads gives the same bits, results in place, moments, what is refused.
 * tests/python/test_maps.py compares values with those of OpenCV and scikit-image. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { WIDTH = 700, HEIGHT = 500, BATCH = 3, PIXELS = WIDTH * HEIGHT, BINS = 256 };

static uint8_t pixels[BATCH * PIXELS];

/* A batch of images. */
static histo_view make_images(void)
{
    rng r = {.state = 7};
    for (int i = 0; i < BATCH * PIXELS; i++)
        pixels[i] = (uint8_t)(rng_below(&r, 60) + rng_below(&r, 60) + i / PIXELS * 40);
    histo_view images = histo_view_nd(pixels, HISTO_U8, 3, (int64_t[]){BATCH, HEIGHT, WIDTH});
    images.batch_ndim = 1;
    return images;
}

/* A map that equalizes each image. */
static histo_map *equalization(const histo_view *images)
{
    const histo_axis axis = histo_axis_integer(0, BINS);
    histo_hist *h;
    histo_map *map;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = BATCH}));
    OK(histo_hist_fill(h, images, NULL));
    OK(histo_map_create(&map, 1, &axis, &(histo_map_options){.batch = BATCH}));
    OK(histo_map_equalize(map, h, &(histo_make_options){.lo = 0, .hi = 255}));
    histo_hist_destroy(h);
    return map;
}

static void same_for_any_threads(void **state)
{
    (void)state;
    histo_view images = make_images();
    histo_map *map = equalization(&images);
    static float one[BATCH * PIXELS], many[BATCH * PIXELS];
    histo_view out = images;
    out.dtype = HISTO_F32;
    for (int d = 0; d < 3; d++)
        out.strides[d] *= (int64_t)sizeof(float);
    for (int tiled = 0; tiled <= 1; tiled++) {
        histo_apply_options options = {.threads = 1};
        if (tiled) options.tiles = (histo_tiles){1, {BATCH}, {300}};
        histo_view from = images, to = out;
        from.batch_ndim = to.batch_ndim = !tiled; /* the tables are those of tiles along a row */
        to.data = one;
        OK(histo_map_apply(map, &from, &to, &options));
        for (options.threads = 2; options.threads <= 5; options.threads++) {
            to.data = many;
            memset(many, 0, sizeof many);
            OK(histo_map_apply(map, &from, &to, &options));
            assert_memory_equal(one, many, sizeof one);
        }
    }
    histo_map_destroy(map);
}

static void in_place(void **state)
{
    (void)state;
    histo_view images = make_images();
    histo_map *map = equalization(&images);
    static uint8_t elsewhere[BATCH * PIXELS];
    histo_view out = images;
    out.data = elsewhere;
    OK(histo_map_apply(map, &images, &out, NULL));
    OK(histo_map_apply(map, &images, &images, NULL));
    assert_memory_equal(pixels, elsewhere, BATCH * PIXELS);
    int least = 255, most = 0;
    for (int i = 0; i < PIXELS; i++) {
        least = pixels[i] < least ? pixels[i] : least;
        most = pixels[i] > most ? pixels[i] : most;
    }
    assert_true(least == 0 && most == 255);
    histo_map_destroy(map);
}

/* Samples of two axes, with tiles whose tables are equal: as without tiles, but for rounding. */
static void tiles_of_two_axes(void **state)
{
    (void)state;
    enum { SIDE = 64, N = SIDE * SIDE, TILES = 2 };
    const histo_axis axes[] = {histo_axis_integer(0, 16), histo_axis_regular(10, 0, 1)};
    rng r = {.state = 9};
    static uint8_t first[N], plain[N], tiled[N];
    static float second[N];
    for (int i = 0; i < N; i++) {
        first[i] = (uint8_t)rng_below(&r, 18);
        second[i] = (float)(rng_uniform(&r) * 1.2 - 0.1);
    }
    const int64_t shape[] = {SIDE, SIDE};
    const histo_view views[] = {histo_view_nd(first, HISTO_U8, 2, shape), histo_view_nd(second, HISTO_F32, 2, shape)};
    const histo_view one = histo_view_nd(plain, HISTO_U8, 2, shape), many = histo_view_nd(tiled, HISTO_U8, 2, shape);
    histo_map *map, *tables;
    OK(histo_map_create(&map, 2, axes, NULL));
    OK(histo_map_create(&tables, 2, axes, &(histo_map_options){.batch = TILES * TILES}));
    const int64_t n = histo_map_size(map);
    double *values = malloc(sizeof *values * TILES * TILES * (size_t)n);
    assert_non_null(values);
    for (int64_t i = 0; i < TILES * TILES * n; i++)
        values[i] = i < n ? (double)rng_below(&r, 256) : values[i - n];
    OK(histo_map_write(map, values, n));
    OK(histo_map_write(tables, values, TILES * TILES * n));
    OK(histo_map_apply(map, views, &one, NULL));
    const histo_tiles tiles = {2, {TILES, TILES}, {SIDE / TILES, SIDE / TILES}};
    OK(histo_map_apply(tables, views, &many, &(histo_apply_options){.tiles = tiles}));
    assert_memory_equal(plain, tiled, N);
    free(values);
    histo_map_destroy(map);
    histo_map_destroy(tables);
}

/* Half-precision results are rounded to nearest, half to even: to what the next lower or higher bit pattern has. */
static void half_precision(void **state)
{
    (void)state;
    const double values[] = {0,         -0.0,    1,           65504,         65519.9,  65520,     1e-8, 0x1p-24,
                             0x1.8p-25, 0x1p-25, 1 + 0x1p-11, 1 + 0x1.8p-10, INFINITY, -INFINITY, -2.5, NAN};
    const uint16_t f16[] = {0, 0x8000, 0x3c00, 0x7bff, 0x7bff, 0x7c00, 0,      1,
                            1, 0,      0x3c00, 0x3c02, 0x7c00, 0xfc00, 0xc100, 0x7e00};
    const uint16_t bf16[] = {0,      0x8000, 0x3f80, 0x4780, 0x4780, 0x4780, 0x322c, 0x3380,
                             0x3340, 0x3300, 0x3f80, 0x3f80, 0x7f80, 0xff80, 0xc020, 0x7fc0};
    enum { N = sizeof values / sizeof *values };
    uint8_t x[N];
    for (int i = 0; i < N; i++)
        x[i] = (uint8_t)(i + 1);
    double table[N + 4] = {0};
    memcpy(table + 2, values, sizeof values);
    const histo_axis axis = histo_axis_integer(0, N + 1);
    histo_map *map;
    OK(histo_map_create(&map, 1, &axis, NULL));
    OK(histo_map_write(map, table, N + 4));
    const histo_view samples = histo_view_1d(x, HISTO_U8, N);
    for (int brain = 0; brain <= 1; brain++) {
        uint16_t got[N];
        const histo_view out = histo_view_1d(got, brain ? HISTO_BF16 : HISTO_F16, N);
        OK(histo_map_apply(map, &samples, &out, NULL));
        for (int i = 0; i < N; i++)
            if (got[i] != (brain ? bf16 : f16)[i])
                fail_msg("%g is %#x, not %#x", values[i], (unsigned)got[i], (unsigned)(brain ? bf16 : f16)[i]);
    }
    histo_map_destroy(map);
}

/* ---- Moments ---- */

static void add_halves(double lanes[32][6], double sums[6])
{
    for (int half = 16; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            for (int m = 0; m < 6; m++)
                lanes[lane][m] += lanes[lane + half][m];
    memcpy(sums, lanes[0], sizeof lanes[0]);
}

/* m00, m10, m01, m20, m11, m02 of values[height][width], in the order of src/table/moments.h. */
static void plain_moments(const double *values, int width, int height, double moments[6])
{
    double rows[32][6] = {0};
    for (int y = 0; y < height; y++) {
        double lanes[32][6] = {0}, row[6];
        for (int x = 0; x < width; x++) {
            const double value = values[y * width + x];
            lanes[x % 32][0] += value;
            lanes[x % 32][1] += x * value;
            lanes[x % 32][2] += (double)x * x * value;
        }
        add_halves(lanes, row);
        const double parts[] = {row[0], row[1], y * row[0], row[2], y * row[1], (double)y * y * row[0]};
        for (int m = 0; m < 6; m++)
            rows[y % 32][m] += parts[m];
    }
    add_halves(rows, moments);
}

/* Whole numbers and others, one axis and two, parts of images, masks, threads: equal to the bit. */
static void moments_of_windows(void **state)
{
    (void)state;
    enum { W = 2500, H = 90 };
    rng r = {.state = 11};
    const histo_axis axes[] = {histo_axis_integer(0, 200), histo_axis_regular(20, 0, 256)};
    static uint8_t image[2 * W * H], masked[W * H];
    static double values[W * H], table[203 * 23];
    for (int i = 0; i < 2 * W * H; i++)
        image[i] = (uint8_t)rng_below(&r, 256);
    for (int i = 0; i < W * H; i++)
        masked[i] = (uint8_t)rng_below(&r, 2);
    histo_view views[2], mask = histo_view_nd(masked, HISTO_U8, 2, (int64_t[]){H, W});
    for (int a = 0; a < 2; a++) /* interleaved */
        views[a] = (histo_view){image + a, HISTO_U8, 2, 0, {H, W}, {2 * W, 2}};
    for (int round = 0; round < 60; round++) {
        const int naxes = 1 + round % 2;
        const bool whole = rng_below(&r, 2), with_mask = rng_below(&r, 2), all = round == 10;
        const int64_t width = all ? W : rng_below(&r, round % 7 ? 300 : W + 1), height = all ? H : rng_below(&r, H + 1);
        const int64_t window[] = {all ? 0 : rng_below(&r, W - width + 1), all ? 0 : rng_below(&r, H - height + 1),
                                  width, height};
        histo_map *map;
        OK(histo_map_create(&map, naxes, axes, NULL));
        for (int64_t i = 0; i < histo_map_size(map); i++)
            table[i] = whole ? (double)rng_below(&r, 256) : (double)rng_below(&r, 1 << 30) * 1e-7 - 30;
        OK(histo_map_write(map, table, histo_map_size(map)));
        for (int64_t i = 0; i < width * height; i++) {
            const int64_t at = (window[1] + i / width) * W + window[0] + i % width;
            const int64_t hue = image[2 * at] < 200 ? image[2 * at] + 1 : 201, shade = image[2 * at + 1] * 20 / 256 + 1;
            values[i] = with_mask && !masked[at] ? 0 : table[naxes > 1 ? hue * 23 + shade : hue];
        }
        double wanted[6];
        plain_moments(values, (int)width, (int)height, wanted);
        for (int threads = 1; threads <= 4; threads++) {
            histo_moments m;
            OK(histo_map_moments(map, views, all && round % 3 ? NULL : window,
                                 &(histo_apply_options){.mask = with_mask ? &mask : NULL, .threads = threads}, &m));
            const double got[] = {m.m00, m.m10, m.m01, m.m20, m.m11, m.m02};
            for (int i = 0; i < 6; i++)
                if (got[i] != wanted[i])
                    fail_msg("round %d, moment %d, %d threads: %.17g, not %.17g", round, i, threads, got[i], wanted[i]);
        }
        histo_map_destroy(map);
    }
}

/* What is kept from one call to the next is that of the values and samples of the call. */
static void moments_follow_the_map(void **state)
{
    (void)state;
    enum { W = 300, H = 40 };
    static uint8_t bytes[W * H];
    static uint16_t shorts[W * H];
    rng r = {.state = 3};
    for (int i = 0; i < W * H; i++)
        shorts[i] = bytes[i] = (uint8_t)rng_below(&r, 256);
    const histo_axis axis = histo_axis_integer(0, 256);
    histo_map *map;
    OK(histo_map_create(&map, 1, &axis, NULL));
    const int64_t shape[] = {H, W};
    const histo_view views[] = {histo_view_nd(bytes, HISTO_U8, 2, shape), histo_view_nd(shorts, HISTO_U16, 2, shape)};
    for (int round = 0; round < 200; round++) {
        double table[259], wanted = 0;
        const double unit = rng_below(&r, 2) ? 1 : 0.5;
        for (int i = 0; i < 259; i++)
            table[i] = (double)rng_below(&r, 256) * unit;
        if (round % 3 == 0)
            OK(histo_map_write(map, table, 259));
        else
            OK(histo_map_read(map, table, 259));
        const int64_t height = 1 + rng_below(&r, H), width = 1 + rng_below(&r, W);
        for (int64_t i = 0; i < width * height; i++)
            wanted += table[1 + bytes[i / width * W + i % width]];
        histo_moments m;
        OK(histo_map_moments(map, &views[rng_below(&r, 2)], (int64_t[]){0, 0, width, height}, NULL, &m));
        assert_true(m.m00 == wanted);
    }
    histo_map_destroy(map);
}

static void refused_moments(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_integer(0, 4);
    const double x[12] = {0};
    histo_map *map, *batch;
    histo_moments m = {.m00 = 7};
    OK(histo_map_create(&map, 1, &axis, NULL));
    OK(histo_map_create(&batch, 1, &axis, &(histo_map_options){.batch = 2}));
    const histo_view image = histo_view_nd(x, HISTO_F64, 2, (int64_t[]){3, 4}), line = histo_view_1d(x, HISTO_F64, 12);
    histo_view rows = image;
    rows.batch_ndim = 1;
    REFUSED(HISTO_INVALID, "NULL", histo_map_moments(map, &image, NULL, NULL, NULL));
    REFUSED(HISTO_INVALID, "two dimensions", histo_map_moments(map, &line, NULL, NULL, &m));
    REFUSED(HISTO_INVALID, "two dimensions", histo_map_moments(map, &rows, NULL, NULL, &m));
    REFUSED(HISTO_INVALID, "the map has 2 tables; 1 is needed", histo_map_moments(batch, &image, NULL, NULL, &m));
    REFUSED(HISTO_INVALID, "no tiles",
            histo_map_moments(map, &image, NULL, &(histo_apply_options){.tiles = {1, {1}, {1}}}, &m));
    REFUSED(HISTO_INVALID, "mask", histo_map_moments(map, &image, NULL, &(histo_apply_options){.mask = &line}, &m));
    const int64_t wrong[][4] = {{-1, 0, 1, 1}, {0, 0, 5, 1},         {0, 0, 1, 4},         {4, 0, 1, 1},
                                {0, 0, -1, 1}, {0, INT64_MAX, 1, 1}, {0, 1, 1, INT64_MAX}, {5, 0, 0, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        REFUSED(HISTO_INVALID, "is not inside 4 x 3 samples", histo_map_moments(map, &image, wrong[i], NULL, &m));
    assert_true(m.m00 == 7); /* untouched */
    OK(histo_map_moments(map, &image, (int64_t[]){4, 3, 0, 0}, NULL, &m));
    assert_true(m.m00 == 0);
    histo_map_destroy(map);
    histo_map_destroy(batch);
}

static void class_numbers(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_integer(0, 8);
    const uint8_t samples[] = {1, 1, 2, 4, 4, 5, 7, 7};
    const histo_view view = histo_view_1d(samples, HISTO_U8, sizeof samples);
    histo_hist *h;
    histo_map *map;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_map_create(&map, 1, &axis, NULL));
    REFUSED(HISTO_INVALID, "too few for 2 classes", histo_map_classes(map, h, HISTO_SPLIT_OTSU, 2, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    const double binary[] = {0, 0, 0, 0, 255, 255, 255, 255, 255, 255, NAN},
                 numbers[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, NAN};
    double values[11];
    OK(histo_map_classes(map, h, HISTO_SPLIT_OTSU, 2, &(histo_make_options){.hi = 255}));
    OK(histo_map_read(map, values, 11));
    assert_memory_equal(values, binary, sizeof values - sizeof *values);
    assert_true(isnan(values[10]));
    OK(histo_map_classes(map, h, HISTO_SPLIT_OTSU, 3, NULL));
    OK(histo_map_read(map, values, 11));
    assert_memory_equal(values, numbers, sizeof values - sizeof *values);
    OK(histo_map_classes(map, h, HISTO_SPLIT_OTSU, 3, &(histo_make_options){.lo = 0x1p-60, .hi = 1}));
    OK(histo_map_read(map, values, 11));
    assert_true(fabs(values[4] - 0.5) < 1e-15 && values[7] == 1 && values[1] == 0x1p-60);
    REFUSED(HISTO_INVALID, "2 or more", histo_map_classes(map, h, HISTO_SPLIT_OTSU, 1, NULL));
    REFUSED(HISTO_INVALID, "only 'otsu'", histo_map_classes(map, h, HISTO_SPLIT_LI, 3, NULL));
    histo_map_destroy(map);
    OK(histo_map_create(&map, 1, &axis, &(histo_map_options){.within = HISTO_MAP_LINEAR}));
    REFUSED(HISTO_INVALID, "HISTO_MAP_STEP", histo_map_classes(map, h, HISTO_SPLIT_OTSU, 2, NULL));
    histo_map_destroy(map);
    histo_hist_destroy(h);
}

/* Back projection to whole numbers has whole numbers, whose moments are those of an image of them. */
static void whole_projections(void **state)
{
    (void)state;
    const uint8_t samples[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3};
    const histo_axis axis = histo_axis_integer(0, 4);
    const histo_view view = histo_view_1d(samples, HISTO_U8, sizeof samples);
    const double whole[] = {0, 0, 42, 128, 255, 0, 0}, lifted[] = {10, 10, 10.25, 10.75, 11.5, 10, 10};
    const double shares[] = {0, 0, 1 / 6.F, 0.5, 1, 0, 0};
    double values[7];
    histo_hist *h;
    histo_map *map;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    OK(histo_map_create(&map, 1, &axis, NULL));
    OK(histo_map_project(map, h, NULL, &(histo_make_options){.hi = 255}));
    OK(histo_map_read(map, values, 7));
    assert_memory_equal(values, whole, sizeof values);
    OK(histo_map_project(map, h, NULL, &(histo_make_options){.lo = 10, .hi = 11.5}));
    OK(histo_map_read(map, values, 7));
    assert_memory_equal(values, lifted, sizeof values);
    OK(histo_map_project(map, h, NULL, NULL));
    OK(histo_map_read(map, values, 7));
    for (int i = 0; i < 7; i++)
        assert_true(fabs(values[i] - shares[i]) < 1e-7);
    histo_map_destroy(map);
    histo_hist_destroy(h);
}

/* Ratios of shares are of sums of weights, where there are any: a weight of 3 is as three samples. */
static void ratios_of_weighted_shares(void **state)
{
    (void)state;
    const uint8_t samples[] = {0, 1, 1, 2}, weights[] = {3, 1, 0, 2}, repeated[] = {0, 0, 0, 1, 2, 2},
                  others[] = {0, 1, 1, 1, 3};
    const histo_axis axis = histo_axis_integer(0, 4);
    const histo_view views[] = {histo_view_1d(samples, HISTO_U8, 4), histo_view_1d(repeated, HISTO_U8, 6),
                                histo_view_1d(others, HISTO_U8, 5)};
    const histo_view weight = histo_view_1d(weights, HISTO_U8, 4);
    histo_hist *hists[3];
    histo_map *map;
    double values[2][7];
    for (int i = 0; i < 3; i++) {
        const histo_hist_options kind = {.weighting = i == 0 ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED};
        OK(histo_hist_create(&hists[i], 1, &axis, &kind));
        OK(histo_hist_fill(hists[i], &views[i], &(histo_fill_options){.weights = i == 0 ? &weight : NULL}));
    }
    OK(histo_map_create(&map, 1, &axis, NULL));
    for (int i = 0; i < 2; i++) {
        OK(histo_map_project(map, hists[i], hists[2], NULL));
        OK(histo_map_read(map, values[i], 7));
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_true(values[0][1] == sqrt(3 / 1. * (5 / 6.)) && values[0][3] == 0);
    for (int i = 0; i < 3; i++)
        histo_hist_destroy(hists[i]);
    histo_map_destroy(map);
}

static void refusals(void **state)
{
    (void)state;
    const histo_axis axes[] = {histo_axis_integer(0, 4), histo_axis_integer(0, 5)};
    const histo_axis huge[] = {histo_axis_integer(0, 1 << 20), histo_axis_integer(0, 1 << 20)};
    const double x[] = {0, 1, 2, 9}, q[] = {0.25, 0.75}, wrong[] = {0.75, 0.25}, target[] = {0, 1};
    double values[8];
    histo_map *map, *other, *linear, *two, *none;
    histo_hist *h, *empty, *longer;
    OK(histo_map_create(&map, 1, axes, NULL));
    OK(histo_map_create(&other, 1, axes, &(histo_map_options){.batch = 2}));
    OK(histo_map_create(&linear, 1, axes, &(histo_map_options){.within = HISTO_MAP_LINEAR}));
    OK(histo_map_create(&two, 2, axes, NULL));
    assert_int_equal(histo_map_size(linear), 5);
    assert_int_equal(histo_map_size(two), 7 * 8);
    REFUSED(HISTO_INVALID, "1 to 8 axes", histo_map_create(&none, 0, axes, NULL));
    REFUSED(HISTO_INVALID, "linear maps have one axis",
            histo_map_create(&none, 2, axes, &(histo_map_options){.within = HISTO_MAP_LINEAR}));
    REFUSED(HISTO_INVALID, "2^31 values", histo_map_create(&none, 2, huge, NULL));
    REFUSED(HISTO_INVALID, "not -1", histo_map_create(&none, 1, axes, &(histo_map_options){.batch = -1}));
    REFUSED(HISTO_INVALID, "8 values, the map 7", histo_map_read(map, values, 8));
    const histo_view samples = histo_view_1d(x, HISTO_F64, 4), fewer = histo_view_1d(x, HISTO_F64, 3);
    OK(histo_hist_create(&h, 1, axes, NULL));
    OK(histo_hist_create(&empty, 1, axes, NULL));
    OK(histo_hist_create(&longer, 1, axes + 1, NULL));
    OK(histo_hist_fill(h, &samples, NULL));
    REFUSED(HISTO_INVALID, "different axes", histo_map_equalize(map, longer, NULL));
    REFUSED(HISTO_INVALID, "is -1", histo_map_equalize(map, h, &(histo_make_options){.clip = -1}));
    REFUSED(HISTO_INVALID, "not finite", histo_map_equalize(map, h, &(histo_make_options){.hi = INFINITY}));
    REFUSED(HISTO_INVALID, "not finite", histo_map_equalize(map, h, &(histo_make_options){.lo = -1e308, .hi = 1e308}));
    REFUSED(HISTO_INVALID, "not finite",
            histo_map_project(map, h, NULL, &(histo_make_options){.lo = -1e308, .hi = 1e308}));
    REFUSED(HISTO_INVALID, "no counts", histo_map_match(map, h, empty, NULL));
    OK(histo_map_match(map, h, h, NULL));
    REFUSED(HISTO_INVALID, "do not increase", histo_map_landmarks(map, h, 2, wrong, target, false, NULL));
    REFUSED(HISTO_INVALID, "give 2 or more", histo_map_landmarks(map, h, 1, q, target, false, NULL));
    REFUSED(HISTO_INVALID, "quantile 0.75 of histogram 0 is not in a bin",
            histo_map_landmarks(map, h, 2, q, target, false, NULL));
    REFUSED(HISTO_INVALID, "HISTO_MAP_STEP", histo_map_project(linear, h, NULL, NULL));
    const histo_view out = histo_view_1d(values, HISTO_F64, 4);
    REFUSED(HISTO_INVALID, "results", histo_map_apply(map, &fewer, &out, NULL));
    REFUSED(HISTO_INVALID, "the map has 2 tables; 1 are needed", histo_map_apply(other, &samples, &out, NULL));
    REFUSED(HISTO_INVALID, "more dimensions",
            histo_map_apply(map, &samples, &out, &(histo_apply_options){.tiles = {2, {1, 1}, {1, 1}}}));
    REFUSED(HISTO_INVALID, "0 tiles",
            histo_map_apply(map, &samples, &out, &(histo_apply_options){.tiles = {1, {0}, {1}}}));
    REFUSED(HISTO_INVALID, "begin at -1",
            histo_map_apply(map, &samples, &out, &(histo_apply_options){.tiles = {1, {1}, {1}}, .origin = {-1}}));
    OK(histo_map_apply(other, &samples, &out, &(histo_apply_options){.tiles = {1, {2}, {2}}}));
    histo_map_destroy(map);
    histo_map_destroy(other);
    histo_map_destroy(linear);
    histo_map_destroy(two);
    histo_hist_destroy(h);
    histo_hist_destroy(empty);
    histo_hist_destroy(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(in_place),
        cmocka_unit_test(tiles_of_two_axes),
        cmocka_unit_test(half_precision),
        cmocka_unit_test(moments_of_windows),
        cmocka_unit_test(moments_follow_the_map),
        cmocka_unit_test(refused_moments),
        cmocka_unit_test(class_numbers),
        cmocka_unit_test(whole_projections),
        cmocka_unit_test(ratios_of_weighted_shares),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
