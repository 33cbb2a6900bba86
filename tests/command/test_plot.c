/* Drawings of histograms: scales, ticks and labels by number; bars and maps by pixels at computed positions; files by
 * content. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modules/plot/paint.h"
#include "modules/plot/text.h"
#include "output/ticks.h"
#include "output/writers/plot.h"
#include "support/data.h"

/* ---- Scales and ticks ---- */

static void assert_near(double value, double expected, double tolerance)
{
    assert_true(fabs(value - expected) <= tolerance);
}

static void scales_map_values_to_positions(void **state)
{
    (void)state;
    plot_scale linear = {.lo = -1, .hi = 3, .from = 100, .to = 500};
    assert_near(plot_scale_at(&linear, -1), 100, 0);
    assert_near(plot_scale_at(&linear, 0), 200, 0);
    assert_near(plot_scale_at(&linear, 99), 500, 0);
    plot_scale upward = {.lo = 0, .hi = 4, .from = 500, .to = 100};
    assert_near(plot_scale_at(&upward, 1), 400, 0);
    plot_scale enormous = {.lo = -1.7e308, .hi = 1.7e308, .from = 0, .to = 1};
    assert_near(plot_scale_at(&enormous, 0.85e308), 0.75, 1e-12);
    plot_scale denormal = {.lo = 0, .hi = 4 * 4.9406564584124654e-324, .from = 0, .to = 1};
    assert_near(plot_scale_at(&denormal, 4.9406564584124654e-324), 0.25, 0);
    plot_scale logarithmic = {.lo = 1, .hi = 10000, .log = true, .from = 0, .to = 4};
    assert_near(plot_scale_at(&logarithmic, 100), 2, 1e-12);
    assert_near(plot_scale_at(&logarithmic, 0), 0, 0);
    plot_scale narrow = {.lo = 1e15, .hi = 1e15 + 2, .log = true, .from = 0, .to = 1};
    assert_near(plot_scale_at(&narrow, 1e15 + 1), 0.5, 1e-12);
}

/* The labels of the labelled ticks: "0|50|1.5×10^−12". */
static void join_labels(const plot_ticks *t, char *joined, size_t size)
{
    size_t used = 0;
    joined[0] = '\0';
    for (int i = 0; i < t->count; i++) {
        const plot_label *label = &t->tick[i].label;
        if (label->text[0] == '\0') continue;
        int n = snprintf(joined + used, size - used, "%s%s%s%s", used ? "|" : "", label->text,
                         label->exponent[0] ? "^" : "", label->exponent);
        used += (size_t)n;
        assert_true(used < size);
    }
}

static void ticks_have_nice_labels(void **state)
{
    (void)state;
    static const struct {
        double lo, hi;
        bool log, counts, whole;
        int max_ticks;
        const char *labels;
    } cases[] = {
        {0, 256, false, false, false, 8, "0|50|100|150|200|250"},
        {0, 65536, false, false, false, 8, "0|10\u2009000|20\u2009000|30\u2009000|40\u2009000|50\u2009000|60\u2009000"},
        {1e-12, 3e-12, false, false, false, 6,
         "1.0\u00d710^\u221212|1.5\u00d710^\u221212|2.0\u00d710^\u221212|2.5\u00d710^\u221212|3.0\u00d710^\u221212"},
        {1e6, 1e6 + 1, false, false, false, 6,
         "1\u2009000\u2009000.0|1\u2009000\u2009000.2|1\u2009000\u2009000.4|1\u2009000\u2009000.6|1\u2009000\u2009000."
         "8|"
         "1\u2009000\u2009001.0"},
        {-0.5, 0.5, false, false, false, 6, "\u22120.4|\u22120.2|0.0|0.2|0.4"},
        {-3, 3, false, false, false, 8, "\u22123|\u22122|\u22121|0|1|2|3"},
        {0, 1e9, false, false, false, 6, "0|200\u2009M|400\u2009M|600\u2009M|800\u2009M|1\u2009G"},
        {-1.5e308, 1.5e308, false, false, false, 4, "\u22121\u00d710^308|0|1\u00d710^308"},
        {1, 1 + 4e-16, false, false, false, 8, "1|1.0000000000000004"},
        {0, 9000, false, true, true, 6, "0|2000|4000|6000|8000"},
        {0, 11000, false, true, true, 6, "0|2\u2009k|4\u2009k|6\u2009k|8\u2009k|10\u2009k"},
        {0, 1.1e6, false, true, true, 6, "0|200\u2009k|400\u2009k|600\u2009k|800\u2009k|1\u2009M"},
        {0, 2.2e12, false, true, true, 6, "0|500\u2009G|1\u2009T|1.5\u2009T|2\u2009T"},
        {0, 1.9e19, false, true, true, 5, "0|5\u2009E|10\u2009E|15\u2009E"},
        {0, 1e40, false, true, true, 3, "0|5\u00d710^39|10\u00d710^39"},
        {0, 1.1, false, true, true, 8, "0|1"},
        {0, 3.3, false, true, true, 8, "0|1|2|3"},
        {0, 1.1, false, true, false, 4, "0.0|0.5|1.0"},
        {0.5, 2e5, true, true, true, 8, "1|10|100|1000|10\u2009k|100\u2009k"},
        {0.5, 22, true, true, true, 8, "1|2|5|10|20"},
        {0.5, 2e18, true, true, true, 10, "1|1000|1\u2009M|1\u2009G|1\u2009T|1\u2009P|1\u2009E"},
        {0.01, 1e5, true, false, false, 8, "0.01|0.1|1|10|100|1000|10\u2009000|100\u2009000"},
        {1e-9, 1e-6, true, false, false, 8, "10^\u22129|10^\u22128|10^\u22127|10^\u22126"},
        {2e20, 9e21, true, false, false, 8, "2\u00d710^20|5\u00d710^20|10^21|2\u00d710^21|5\u00d710^21"},
        {1e6, 1e6 + 1, true, false, false, 3, "1\u2009000\u2009000.0|1\u2009000\u2009000.5|1\u2009000\u2009001.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plot_scale s = {.lo = cases[i].lo, .hi = cases[i].hi, .log = cases[i].log, .from = 0, .to = 1000};
        plot_ticks t;
        char joined[1024];
        plot_ticks_make(&t, &s, (plot_notation){cases[i].counts, cases[i].whole}, cases[i].max_ticks);
        join_labels(&t, joined, sizeof joined);
        assert_string_equal(joined, cases[i].labels);
    }
}

static void binary_ticks_are_powers_of_two(void **state)
{
    (void)state;
    static const struct {
        double lo, hi;
        int max_ticks;
        const char *labels;
    } cases[] = {
        {200, 2.2e6, 14,
         "256|512|1\u2009Ki|2\u2009Ki|4\u2009Ki|8\u2009Ki|16\u2009Ki|32\u2009Ki|64\u2009Ki|"
         "128\u2009Ki|256\u2009Ki|512\u2009Ki|1\u2009Mi|2\u2009Mi"},
        {200, 2.2e6, 8, "256|1\u2009Ki|4\u2009Ki|16\u2009Ki|64\u2009Ki|256\u2009Ki|1\u2009Mi"},
        {1000, 0x1p28, 5, "4\u2009Ki|64\u2009Ki|1\u2009Mi|16\u2009Mi|256\u2009Mi"},
        {1, 0x1p60, 3, "1|4\u2009Gi"},
        {20000, 30000, 5, "20\u2009k|25\u2009k|30\u2009k"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const plot_scale s = {.lo = cases[i].lo, .hi = cases[i].hi, .log = true, .binary = true, .from = 0, .to = 1000};
        plot_ticks t;
        char joined[1024];
        plot_ticks_make(&t, &s, (plot_notation){0}, cases[i].max_ticks);
        join_labels(&t, joined, sizeof joined);
        assert_string_equal(joined, cases[i].labels);
    }
}

/* The number in a label, read without the code that wrote it. */
static double label_value(const plot_label *label)
{
    char number[128] = "", *out = number;
    for (const char *in = label->text; *in;) {
        if (strncmp(in, "\u2212", 3) == 0) {
            *out++ = '-';
            in += 3;
        } else if (strncmp(in, "\u2009", 3) == 0) {
            in += 3;
        } else if (strncmp(in, "\u00d710", 4) == 0) {
            in += 4;
        } else {
            *out++ = *in++;
        }
    }
    *out = '\0';
    if (label->exponent[0]) {
        if (strcmp(label->text, "10") == 0) strcpy(number, "1");
        bool negative = strncmp(label->exponent, "\u2212", 3) == 0;
        sprintf(number + strlen(number), "e%s%s", negative ? "-" : "", label->exponent + (negative ? 3 : 0));
    } else {
        static const char suffixes[] = "kMGTPE";
        char *last = number + strlen(number) - 1;
        const char *suffix = strchr(suffixes, *last);
        if (suffix) sprintf(last, "e%d", 3 * (int)(suffix - suffixes + 1));
    }
    char *end;
    double value = strtod(number, &end);
    assert_int_equal(*end, '\0');
    return value;
}

static double per_character(void *context, const plot_label *label)
{
    double width = 0;
    for (const char *s = label->text; *s; s++)
        width += (*s & 0xc0) != 0x80;
    return (width + (double)strlen(label->exponent)) * *(double *)context;
}

static rng dice = {88172645463325252u};

/* Ranges at any position and of any width; some end at zero, some are only a few doubles wide. */
static plot_scale random_scale(void)
{
    double center = (rng_uniform(&dice) - 0.5) * pow(10, rng_uniform(&dice) * 600 - 300);
    double half = rng_next(&dice) % 2 ? fabs(center) * pow(10, -rng_uniform(&dice) * 17)
                                      : pow(10, rng_uniform(&dice) * 600 - 300);
    plot_scale s = {.lo = center - half, .hi = center + half, .log = rng_next(&dice) % 3 == 0, .from = 50, .to = 1050};
    if (rng_next(&dice) % 4 == 0) s.lo = 0;
    if (s.log) s.lo = s.lo > 0 ? s.lo : 1e-3 * s.hi;
    if (!(s.lo < s.hi)) s = (plot_scale){.lo = 1, .hi = 1000, .log = s.log, .from = 50, .to = 1050};
    if (rng_next(&dice) % 2) {
        s.from = 700;
        s.to = 40;
    }
    return s;
}

static void ticks_of_any_range_are_right(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        plot_scale s = random_scale();
        plot_notation notation = {.counts = rng_next(&dice) % 2, .whole = rng_next(&dice) % 4 == 0 && s.hi > 10};
        int max_labels = 2 + (int)(rng_next(&dice) % 12), labels = 0;
        double character = 7, end = -INFINITY, before = -INFINITY;
        plot_ticks t;
        plot_ticks_fit(&t, &s, notation, max_labels, 5, per_character, &character);
        for (int i = 0; i < t.count; i++) {
            const plot_tick *tick = &t.tick[i];
            assert_true(tick->value >= s.lo && tick->value <= s.hi && tick->value > before);
            before = tick->value;
            if (tick->label.text[0] == '\0') continue;
            labels++;
            bool end_of_range = tick->value == s.lo || tick->value == s.hi; /* may show fewer digits */
            double rounding = end_of_range ? (s.hi / 100 - s.lo / 100) * (1 + 1e-9) : 0;
            assert_true(fabs(label_value(&tick->label) - tick->value) <= fmax(1e-15 * fabs(tick->value), rounding));
            double at = fabs(plot_scale_at(&s, tick->value) - s.from);
            double half = per_character(&character, &tick->label) / 2;
            assert_true(at - half >= end + 5);
            end = at + half;
        }
        assert_true(labels >= 1 && labels <= max_labels);
    }
}

/* ---- Text ---- */

static void text_is_clean_and_fits(void **state)
{
    (void)state;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 10, 10);
    cairo_t *cr = cairo_create(surface);
    char fitted[PLOT_TEXT_BYTES];
    plot_font(cr, 14, false);
    plot_text_fit(cr,
                  "a\xff"
                  "b\xc3\n\xe2\x82\xac\xed\xa0\x80",
                  11, 1000, fitted);
    assert_string_equal(fitted, "a\ufffd"
                                "b\ufffd \u20ac\ufffd\ufffd\ufffd");
    plot_text_fit(cr, "short", 5, 1000, fitted);
    assert_string_equal(fitted, "short");
    char *lengthy = malloc(100000);
    for (int i = 0; i < 100000; i += 2)
        memcpy(lengthy + i, "\u00e9", 2);
    for (double width = 5; width < 400; width *= 1.5) {
        plot_text_fit(cr, lengthy, 100000, width, fitted);
        size_t length = strlen(fitted);
        assert_true(length >= 3 && (length - 3) % 2 == 0);
        assert_string_equal(fitted + length - 3, "\u2026");
        assert_true(plot_text_width(cr, fitted) <= fmax(width, plot_text_width(cr, "\u2026")));
        assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
    }
    free(lengthy);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

/* ---- Pixels ---- */

typedef struct picture {
    cairo_surface_t *surface;
    plot_panel panel;
} picture;

static picture paint(const plot *p, int width, int height)
{
    picture made = {.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)};
    made.panel = (plot_panel){.cr = cairo_create(made.surface), .width = width, .height = height};
    assert_int_equal(plot_paint(&made.panel, p), CAIRO_STATUS_SUCCESS);
    cairo_destroy(made.panel.cr);
    cairo_surface_flush(made.surface);
    return made;
}

static uint32_t pixel(const picture *made, double x, double y)
{
    const unsigned char *row = cairo_image_surface_get_data(made->surface) +
                               (ptrdiff_t)floor(y) * cairo_image_surface_get_stride(made->surface);
    uint32_t value;
    memcpy(&value, row + 4 * (ptrdiff_t)floor(x), sizeof value);
    return value & 0xffffff;
}

/* The pixel at these values on the two axes. */
static uint32_t pixel_at(const picture *made, double x, double y)
{
    return pixel(made, plot_scale_at(&made->panel.x, x), plot_scale_at(&made->panel.y, y));
}

static bool is_near(uint32_t pixel_value, plot_color expected)
{
    return abs((int)(pixel_value >> 16) - (int)lround(255 * expected.r)) <= 2 &&
           abs((int)(pixel_value >> 8 & 0xff) - (int)lround(255 * expected.g)) <= 2 &&
           abs((int)(pixel_value & 0xff) - (int)lround(255 * expected.b)) <= 2;
}

static void assert_pixel(uint32_t pixel_value, plot_color expected)
{
    assert_true(is_near(pixel_value, expected));
}

static plot_color over(plot_color top, double opacity, plot_color below)
{
    return (plot_color){opacity * top.r + (1 - opacity) * below.r, opacity * top.g + (1 - opacity) * below.g,
                        opacity * top.b + (1 - opacity) * below.b};
}

static const plot_color white = {1, 1, 1};

static void bars_are_where_their_edges_and_counts_are(void **state)
{
    (void)state;
    plot_series s = {"a", plot_red, 3, (double[]){-1, 0, 10, 50}, (double[]){30, 100, 7}};
    for (int log = 0; log < 2; log++) {
        plot p = {.title = "t", .nseries = 1, .series = &s, .log_y = log};
        picture made = paint(&p, 1200, 800);
        plot_color bar = over(plot_red, plot_fill(1), white);
        assert_near(made.panel.x.lo, -1, 0);
        assert_near(made.panel.x.hi, 50, 0);
        for (int i = 0; i < 3; i++) {
            double beside = 5 * 51 / (made.panel.x.to - made.panel.x.from); /* five pixels */
            assert_pixel(pixel_at(&made, s.edges[i] + beside, s.values[i] * 0.95), bar);
            assert_pixel(pixel_at(&made, s.edges[i + 1] - beside, s.values[i] * 0.95), bar);
            assert_pixel(pixel_at(&made, (s.edges[i] + s.edges[i + 1]) / 2, s.values[i] * 1.04), white);
        }
        cairo_surface_destroy(made.surface);
    }
}

static void bins_below_a_logarithmic_axis_are_left_out(void **state)
{
    (void)state;
    plot_series s = {"a", plot_green, 4, (double[]){-10, -1, 1, 10, 100}, (double[]){40, 30, 20, 10}};
    plot p = {.nseries = 1, .series = &s, .log_x = true};
    picture made = paint(&p, 1200, 800);
    assert_near(made.panel.x.lo, 1, 0);
    for (double x = 1.05; x < 95; x *= 1.1) {
        double count = x < 10 ? 20 : 10;
        if (fabs(x - 10) < 0.5) continue;
        assert_pixel(pixel_at(&made, x, count - 1), over(plot_green, plot_fill(1), white));
        assert_pixel(pixel_at(&made, x, count + 1), white);
    }
    cairo_surface_destroy(made.surface);
}

static void channels_shine_through_each_other(void **state)
{
    (void)state;
    double edges[] = {0, 1, 2};
    plot_series s[] = {{"red", plot_red, 2, edges, (double[]){10, 20}},
                       {"blue", plot_blue, 2, edges, (double[]){20, 10}}};
    plot p = {.nseries = 2, .series = s};
    picture made = paint(&p, 900, 600);
    plot_color red = over(plot_red, plot_fill(2), white);
    assert_pixel(pixel_at(&made, 1.5, 15.7), red);
    assert_pixel(pixel_at(&made, 0.5, 15.7), over(plot_blue, plot_fill(2), white));
    assert_pixel(pixel_at(&made, 0.5, 7.7), over(plot_blue, plot_fill(2), red));
    cairo_surface_destroy(made.surface);
}

static void named_bins_have_separate_bars_side_by_side(void **state)
{
    (void)state;
    double edges[] = {0, 1, 2};
    const char *names[] = {"yes", "no"};
    plot_series s[] = {{"red", plot_red, 2, edges, (double[]){20, 20}},
                       {"blue", plot_blue, 2, edges, (double[]){20, 10}}};
    plot p = {.nseries = 2, .series = s, .bin_names = names};
    picture made = paint(&p, 900, 600);
    for (int bin = 0; bin < 2; bin++) {
        assert_pixel(pixel_at(&made, bin + 0.05, 5.7), white);
        assert_pixel(pixel_at(&made, bin + 0.3, 5.7), over(plot_red, plot_fill(1), white));
        assert_pixel(pixel_at(&made, bin + 0.7, 5.7), over(plot_blue, plot_fill(1), white));
        assert_pixel(pixel_at(&made, bin + 0.95, 5.7), white);
    }
    cairo_surface_destroy(made.surface);
}

static int lightness(uint32_t color)
{
    return (int)(2 * (color >> 16) + 5 * (color >> 8 & 0xff) + (color & 0xff));
}

static void words_are_turned_where_they_do_not_fit(void **state)
{
    (void)state;
    enum { N = 30 };
    const char *names[N];
    double edges[N + 1], values[N];
    for (int i = 0; i <= N; i++)
        edges[i] = i;
    for (int i = 0; i < N; i++) {
        names[i] = "Reykjav\u00edk";
        values[i] = 1;
    }
    plot_series s = {"a", plot_blue, N, edges, values};
    plot p = {.nseries = 1, .series = &s, .bin_names = names, .bins_are_words = true};
    picture turned = paint(&p, 1200, 800);
    s.bins = 5;
    picture level = paint(&p, 1200, 800);
    assert_true(turned.panel.y.from < level.panel.y.from - 30);
    int dark = 0;
    for (int y = (int)turned.panel.y.from + 14; y < (int)level.panel.y.from; y++)
        for (int x = 0; x < 1200; x++)
            dark += lightness(pixel(&turned, x, y)) < 500;
    assert_true(dark > N * 20);
    cairo_surface_destroy(turned.surface);
    cairo_surface_destroy(level.surface);
}

static void a_dark_ground_has_light_ink(void **state)
{
    (void)state;
    plot_series s = {"a", plot_blue, 2, (double[]){0, 1, 2}, (double[]){1, 2}};
    double cells[] = {1, 100};
    plot_heat h = {1, 2, (double[]){0, 1}, (double[]){0, 1, 2}, cells, SCALE_LOG, "count"};
    plot p = {.nseries = 1, .series = &s, .dark = true};
    picture bars = paint(&p, 400, 300);
    assert_true(lightness(pixel(&bars, 2, 2)) < 400);
    p.heat = &h;
    picture map = paint(&p, 600, 400);
    assert_true(lightness(pixel_at(&map, 0.5, 0.5)) < lightness(pixel_at(&map, 0.5, 1.5)));
    cairo_surface_destroy(bars.surface);
    cairo_surface_destroy(map.surface);
}

static double *even_edges(int64_t n)
{
    double *edges = malloc((size_t)(n + 1) * sizeof *edges);
    for (int64_t i = 0; i <= n; i++)
        edges[i] = (double)i;
    return edges;
}

static void a_lone_spike_among_many_bins_is_seen(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    double *edges = even_edges(N), *values = calloc(N, sizeof *values);
    plot_series s = {"a", plot_blue, N, edges, values};
    plot p = {.nseries = 1, .series = &s};
    for (int64_t at = 100; at < N; at += 99991) {
        values[at] = 5;
        picture made = paint(&p, 800, 600);
        double x = plot_scale_at(&made.panel.x, (double)at), y = plot_scale_at(&made.panel.y, 4.5);
        bool seen = false;
        for (int near = -1; near <= 1; near++)
            seen = seen || pixel(&made, x + near, y) != 0xffffff;
        assert_true(seen);
        assert_pixel(pixel(&made, x + 5, y), white);
        values[at] = 0;
        cairo_surface_destroy(made.surface);
    }
    free(edges);
    free(values);
}

static void a_map_is_darker_where_more_is(void **state)
{
    (void)state;
    double x_edges[] = {0, 1, 2, 4}, y_edges[] = {-1, 0, 1}, values[] = {1, 10, 0, 100, 1000, 10000};
    plot_heat h = {3, 2, x_edges, y_edges, values, SCALE_LOG, "count"};
    plot p = {.heat = &h};
    for (int log = 0; log < 2; log++) {
        h.scale = log ? SCALE_LOG : SCALE_LINEAR;
        picture made = paint(&p, 1200, 800);
        int before = lightness(0xffffff);
        assert_pixel(pixel_at(&made, 1.5, -0.5), white);
        for (int i = 0; i < 6; i++) {
            if (values[i] == 0) continue;
            double x = (x_edges[i / 2] + x_edges[i / 2 + 1]) / 2, y = (y_edges[i % 2] + y_edges[i % 2 + 1]) / 2;
            int now = lightness(pixel_at(&made, x, y));
            assert_true(log ? now < before : now <= before);
            before = now;
        }
        cairo_surface_destroy(made.surface);
    }
}

static void a_map_finer_than_pixels_keeps_every_bin(void **state)
{
    (void)state;
    enum { N = 3000 };
    double *edges = even_edges(N), *values = calloc((size_t)N * N, sizeof *values);
    plot_heat h = {N, N, edges, edges, values, false, NULL};
    plot p = {.heat = &h};
    for (int i = 10; i < N; i += 1327) {
        for (int j = 20; j < N; j += 1451) {
            values[(int64_t)i * N + j] = 3;
            picture made = paint(&p, 700, 500);
            assert_int_not_equal(pixel_at(&made, i + 0.5, j + 0.5), 0xffffff);
            values[(int64_t)i * N + j] = 0;
            cairo_surface_destroy(made.surface);
        }
    }
    free(edges);
    free(values);
}

static bool any_ink(const picture *made, double x0, double x1, double y0, double y1)
{
    for (double y = y0; y < y1; y++)
        for (double x = x0; x < x1; x++)
            if (pixel(made, x, y) != 0xffffff) return true;
    return false;
}

/* Each tile has the colour of its series in the legend; blank tiles stay white. */
static void tiles_have_the_colours_of_the_legend(void **state)
{
    (void)state;
    const double x_edges[] = {1, 10, 1000}, y_edges[] = {2, 8, 64, 128};
    const int kinds[] = {0, 1, -1, 1, 2, 0};
    const char texts[6][8] = {"", "B 1.25", "", "", "", "A"};
    const plot_color colors[] = {plot_red, plot_green, plot_blue};
    plot_series s[3] = {{.name = "one"}, {.name = "two"}, {.name = "three"}};
    for (int i = 0; i < 3; i++)
        s[i].color = colors[i];
    plot_tiles t = {.nx = 2, .ny = 3, .x_edges = x_edges, .y_edges = y_edges, .series = kinds, .texts = texts};
    plot p = {.title = "t", .x_label = "x", .log_x = true, .log_y = true, .nseries = 3, .series = s, .tiles = &t};
    picture made = paint(&p, 1200, 800);
    for (int i = 0; i < 6; i++) {
        const double x[] = {1.3, 15}, y[] = {2.4, 9, 70}; /* away from text */
        plot_color shown = kinds[i] < 0 ? white : over(colors[kinds[i] < 0 ? 0 : kinds[i]], plot_fill(1), white);
        assert_pixel(pixel_at(&made, x[i / 3], y[i % 3]), shown);
    }
    for (int i = 0; i < 3; i++) {
        bool found = false;
        plot_color shown = over(colors[i], plot_fill(1), white);
        for (int x = 0; x < 1200; x++)
            for (int y = 0; y < (int)made.panel.y.to; y++)
                found |= is_near(pixel(&made, x, y), shown);
        assert_true(found);
    }
    cairo_surface_destroy(made.surface);
    plot_tiles none = t;
    none.series = (const int[]){-1, -1, -1, -1, -1, -1};
    none.texts = NULL;
    p.tiles = &none;
    p.nseries = 0;
    made = paint(&p, 300, 200);
    cairo_surface_destroy(made.surface);
}

/* Is there a pixel of this colour in the rectangle? */
static bool has_color(const picture *made, plot_color color, double left, double top, double right, double bottom)
{
    for (int y = (int)top; y < (int)bottom; y++)
        for (int x = (int)left; x < (int)right; x++)
            if (is_near(pixel(made, x, y), color)) return true;
    return false;
}

/* Dots have the colour of their series, or are empty; only a series that has a line is joined; and the legend beside
 * them has what has a name. */
static void dots_are_joined_as_their_style_says(void **state)
{
    (void)state;
    const double x[] = {256, 4096, 256, 4096, 1024}, y[] = {30, 30, 3, 3, 1.5}; /* between the lines of the grid */
    int of[] = {0, 0, 1, 1, 2};
    const plot_series s[] = {
        {.name = "a", .color = plot_red}, {.name = "b", .color = plot_blue}, {.color = plot_green}};
    const plot_dot_style styles[] = {
        {.line = PLOT_SOLID, .thick = true}, {.inside = PLOT_HOLLOW, .shape = 1}, {.inside = PLOT_PALE, .shape = 2}};
    const plot_dots d = {.count = 5, .x = x, .y = y, .series = of, .styles = styles};
    plot p = {
        .log_x = true, .binary_x = true, .log_y = true, .nseries = 3, .series = s, .dots = &d, .legend_beside = true};
    picture made = paint(&p, 1200, 800);
    assert_pixel(pixel_at(&made, 256, 30), plot_red);
    assert_pixel(pixel_at(&made, 1000, 30), over(plot_red, 0.85, white));
    assert_pixel(pixel_at(&made, 256, 3), white);
    const double left = plot_scale_at(&made.panel.x, 256), middle = plot_scale_at(&made.panel.y, 3);
    assert_true(has_color(&made, plot_blue, left - 8, middle - 8, left, middle));
    assert_false(
        has_color(&made, plot_blue, left + 20, middle - 8, plot_scale_at(&made.panel.x, 4096) - 20, middle + 8));
    assert_pixel(pixel_at(&made, 1024, 1.5), over(plot_green, 0.3, white));
    assert_true(made.panel.x.to < 1150);
    assert_true(has_color(&made, plot_red, made.panel.x.to + 10, 0, 1200, 800));
    assert_true(has_color(&made, plot_blue, made.panel.x.to + 10, 0, 1200, 800));
    assert_false(has_color(&made, plot_green, made.panel.x.to + 10, 0, 1200, 800));
    cairo_surface_destroy(made.surface);
    static const char *const names[] = {
        "the name of a place that is so long that it has to be turned", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    const plot_dots placed = {.count = 1, .x = (double[]){1}, .y = y, .series = of, .names = names, .names_count = 10};
    p = (plot){.nseries = 1, .series = s, .dots = &placed};
    made = paint(&p, 1200, 800);
    assert_true(made.panel.y.from < 620);
    assert_true(pixel_at(&made, 0, 55) != 0xffffff);
    assert_pixel(pixel_at(&made, 1, 55), white);
    cairo_surface_destroy(made.surface);
}

/* An image is above the axes, in its own greys, and a border is over the tiles. */
static void images_and_borders_are_drawn(void **state)
{
    (void)state;
    const uint8_t grey[] = {0, 0, 64, 64, 128, 128, 200, 200};
    const plot_image image = {4, 2, grey};
    const double edges[] = {0, 1, 2}, values[] = {3, 5};
    const plot_series s = {.color = plot_red, .bins = 2, .edges = edges, .values = values};
    const plot p = {.nseries = 1, .series = &s, .image = &image};
    picture made = paint(&p, 1200, 800);
    assert_true(made.panel.y.to > 330 && made.panel.y.to < 450);
    assert_true(has_color(&made, (plot_color){64 / 255.0, 64 / 255.0, 64 / 255.0}, 600, 32, 1200, 200));
    assert_true(has_color(&made, (plot_color){128 / 255.0, 128 / 255.0, 128 / 255.0}, 0, 200, 600, 400));
    cairo_surface_destroy(made.surface);
    const double x_edges[] = {1, 10, 100}, border[][2] = {{10, 1000}, {10, 10}, {1000, 10}};
    const plot_tiles t = {.nx = 2,
                          .ny = 2,
                          .x_edges = x_edges,
                          .y_edges = x_edges,
                          .series = (const int[]){0, 0, 0, 0},
                          .border = border,
                          .border_points = 3};
    const plot map = {.log_x = true, .log_y = true, .nseries = 1, .series = &s, .tiles = &t};
    made = paint(&map, 1200, 800);
    assert_true((pixel_at(&made, 10, 50) & 0xff) < 60);
    assert_true((pixel_at(&made, 50, 10) & 0xff) < 60);
    assert_pixel(pixel_at(&made, 5, 5), over(plot_red, plot_fill(1), white));
    cairo_surface_destroy(made.surface);
}

static void nothing_counted_is_said(void **state)
{
    (void)state;
    plot_series s = {"a", plot_red, 2, (double[]){0, 1, 2}, (double[]){0, 0}};
    plot_heat h = {1, 1, (double[]){0, 1}, (double[]){0, 1}, (double[]){0}, true, "count"};
    plot plots[] = {
        {.nseries = 1, .series = &s}, {.nseries = 0}, {.nseries = 1, .series = &s, .log_y = true}, {.heat = &h}};
    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
        picture made = paint(&plots[i], 1200, 800);
        const plot_scale *x = &made.panel.x, *y = &made.panel.y;
        double middle_x = (x->from + x->to) / 2, middle_y = (y->from + y->to) / 2;
        assert_true(any_ink(&made, middle_x - 60, middle_x + 60, middle_y - 15, middle_y + 2));
        assert_false(any_ink(&made, x->from + 20, middle_x - 100, middle_y - 10, middle_y + 10));
        cairo_surface_destroy(made.surface);
    }
}

/* ---- Files ---- */

static const char *const file = "test_plot.out";

static char *contents(size_t *size)
{
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    *size = (size_t)ftell(in);
    rewind(in);
    char *data = malloc(*size + 1);
    assert_int_equal(fread(data, 1, *size, in), *size);
    data[*size] = '\0';
    fclose(in);
    unlink(file);
    return data;
}

static int write_plot(const plot *p, const char *format, const char *path, fault *f)
{
    outfile *o = outfile_open(path, f);
    if (o && plot_write(p, format, o, f) == 0) return outfile_commit(o, f);
    outfile_abandon(o);
    return -1;
}

static char *written(const plot *p, const char *format, size_t *size)
{
    fault f = {0};
    int result = write_plot(p, format, file, &f);
    assert_string_equal(f.text, "");
    assert_int_equal(result, 0);
    return contents(size);
}

static bool ends_with(const char *data, size_t size, const char *end)
{
    while (size > 0 && data[size - 1] == '\n')
        size--;
    return size >= strlen(end) && memcmp(data + size - strlen(end), end, strlen(end)) == 0;
}

static void a_png_holds_the_picture(void **state)
{
    (void)state;
    plot_series s = {"a", plot_green, 2, (double[]){0, 1, 2}, (double[]){3, 4}};
    plot p = {.title = "title", .nseries = 1, .series = &s, .width = 640, .height = 480};
    fault f = {0};
    assert_int_equal(write_plot(&p, "png", file, &f), 0);
    picture read = {.surface = cairo_image_surface_create_from_png(file)}, made = paint(&p, 640, 480);
    unlink(file);
    assert_int_equal(cairo_image_surface_get_width(read.surface), 640);
    assert_int_equal(cairo_image_surface_get_height(read.surface), 480);
    read.panel = made.panel;
    assert_pixel(pixel_at(&read, 0.5, 2.5), over(plot_green, plot_fill(1), white));
    assert_pixel(pixel_at(&read, 0.5, 3.5), white);
    cairo_surface_destroy(read.surface);
    cairo_surface_destroy(made.surface);
}

static void vector_files_are_whole_and_small(void **state)
{
    (void)state;
    enum { N = 65536 };
    double *edges = even_edges(N), *values = malloc(N * sizeof *values);
    for (int i = 0; i < N; i++)
        values[i] = (double)(rng_next(&dice) % 1000);
    plot_series s = {"a", {0.2, 0.4, 0.6}, N, edges, values}, all[] = {s, s, s, s};
    plot p = {.title = "a < b & c", .nseries = 1, .series = &s};
    size_t size;
    char *svg = written(&p, "svg", &size);
    assert_memory_equal(svg, "<?xml", 5);
    assert_true(ends_with(svg, size, "</svg>"));
    assert_non_null(strstr(svg, "width=\"1200px\" height=\"800px\""));
    assert_non_null(strstr(svg, "fill:rgb(20%,40%,60%)"));
    assert_true(size < 300000);
    free(svg);
    p = (plot){.nseries = 4, .series = all};
    free(written(&p, "svg", &size));
    assert_true(size < 500000);
    char *pdf = written(&p, "pdf", &size);
    assert_memory_equal(pdf, "%PDF-", 5);
    assert_true(ends_with(pdf, size, "%%EOF"));
    assert_true(size < 500000);
    free(pdf);
    free(edges);
    free(values);
}

/* Input that no sensible caller passes is still drawn, at every size, in every format. */
static void odd_input_is_drawn(void **state)
{
    (void)state;
    char *lengthy = malloc(50001);
    memset(lengthy, 'W', 50000);
    lengthy[50000] = '\0';
    static const double edges[2][5] = {{-1e308, -1, 0, 1, 1e308}, {-1, 0, 1e-300, 1, 2}};
    static const double values[2][4] = {{1e308, -1e308, 1e-320, 0}, {NAN, INFINITY, -INFINITY, -3}};
    static const double fine[] = {1, 1 + 0x1p-52, 1 + 0x1p-51}, odd[] = {NAN, INFINITY, -1, 0, 5, 1e308, 1e-320, 7};
    plot_series s[40];
    for (int i = 0; i < 40; i++)
        s[i] = (plot_series){i % 2 ? lengthy : NULL, plot_palette(i), i % 3 ? 4 : 0, edges[i % 2], values[i % 4 != 0]};
    plot_heat h = {4, 2, edges[0], fine, odd, true, lengthy};
    static const char *const formats[] = {"png", "svg", "pdf"};
    static const int sizes[][2] = {{200, 200}, {2000, 200}, {200, 2000}, {0, 0}};
    for (int i = 0; i < 48; i++) {
        plot p = {.title = i % 2 ? lengthy : "\xff\xfe\n",
                  .x_label = lengthy,
                  .y_label = lengthy,
                  .footer = "1\n2\n3\n4\n5\n6\n7\n8\n\n",
                  .log_x = i % 2,
                  .log_y = i / 2 % 2,
                  .nseries = i % 3 ? 40 : 1,
                  .series = s + 1,
                  .heat = i % 4 == 3 ? &h : NULL,
                  .width = sizes[i / 12][0],
                  .height = sizes[i / 12][1]};
        if (p.nseries == 40) p.series = s;
        size_t size;
        free(written(&p, formats[i % 3], &size));
        assert_true(size > 500);
    }
    free(lengthy);
}

static void expect_fault(const plot *p, const char *format, const char *path, int status, const char *words)
{
    fault f = {0};
    assert_int_equal(write_plot(p, format, path, &f), -1);
    assert_int_equal(f.status, status);
    assert_true(strncmp(f.text, path, strlen(path)) == 0);
    assert_non_null(strstr(f.text, words));
}

static void failures_are_sentences(void **state)
{
    (void)state;
    plot p = {.title = "t"}, large = {.width = PLOT_MAX_SIZE + 1}, small = {.height = PLOT_MIN_SIZE - 1};
    expect_fault(&p, "bmp", file, EXIT_USAGE, "png, svg or pdf");
    expect_fault(&large, "png", file, EXIT_USAGE, "8193 x 800");
    expect_fault(&small, "svg", file, EXIT_USAGE, "1200 x 199");
    assert_int_equal(access(file, F_OK), -1);
    static const char *const formats[] = {"png", "svg", "pdf"};
    for (int i = 0; i < 3; i++)
        expect_fault(&p, formats[i], "/dev/full", EXIT_DATA, "the disk is full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_map_values_to_positions),
        cmocka_unit_test(ticks_have_nice_labels),
        cmocka_unit_test(binary_ticks_are_powers_of_two),
        cmocka_unit_test(ticks_of_any_range_are_right),
        cmocka_unit_test(text_is_clean_and_fits),
        cmocka_unit_test(bars_are_where_their_edges_and_counts_are),
        cmocka_unit_test(bins_below_a_logarithmic_axis_are_left_out),
        cmocka_unit_test(channels_shine_through_each_other),
        cmocka_unit_test(named_bins_have_separate_bars_side_by_side),
        cmocka_unit_test(words_are_turned_where_they_do_not_fit),
        cmocka_unit_test(a_dark_ground_has_light_ink),
        cmocka_unit_test(a_lone_spike_among_many_bins_is_seen),
        cmocka_unit_test(a_map_is_darker_where_more_is),
        cmocka_unit_test(a_map_finer_than_pixels_keeps_every_bin),
        cmocka_unit_test(tiles_have_the_colours_of_the_legend),
        cmocka_unit_test(dots_are_joined_as_their_style_says),
        cmocka_unit_test(images_and_borders_are_drawn),
        cmocka_unit_test(nothing_counted_is_said),
        cmocka_unit_test(a_png_holds_the_picture),
        cmocka_unit_test(vector_files_are_whole_and_small),
        cmocka_unit_test(odd_input_is_drawn),
        cmocka_unit_test(failures_are_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
