/* Elliptical tracking beside the same by definition: every state of a search is scored from nothing, pixel by pixel,
 * and must win with the same counts. tests/cli/images/track.sh has the command's messages, tests/python/test_video.py
 * compares its paths with the truth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"
#include "video/ellipse.h"
#include "video/gradient.h"

enum { WIDTH = 90, HEIGHT = 70, FRAMES = 7, SLOTS = 11 * 11 * 7 };

typedef uint8_t picture[HEIGHT][WIDTH][3];

/* ---- Pictures ---- */

typedef struct target {
    double x, y, half_width, half_height;
} target;

/* A path that leaves the frame on the right for a while. */
static target target_at(int frame)
{
    const double way = frame < 4 ? 9.0 * frame : 9.0 * (6 - frame), scale = 1 + 0.05 * frame;
    return (target){60 + way, 30 + 2 * frame, 7 * scale, 9 * scale};
}

/* Clutter of blocks, and before it an ellipse whose stripes turn. Other seeds are other scenes. */
static void draw(picture p, unsigned seed, const target *t, double turn)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const double dx = x - t->x, dy = y - t->y;
            const bool inside =
                dx * dx / t->half_width / t->half_width + dy * dy / t->half_height / t->half_height <= 1;
            const bool stripe = sin((dx * cos(turn) + dy * sin(turn)) * 1.3) > 0;
            unsigned block = (unsigned)(x / 5 * 31 + y / 4 * 17 + 7) * (seed * 2654435761U + 40503U);
            for (int c = 0; c < 3; c++, block = block * 1103515245U + 12345U)
                p[y][x][c] = (uint8_t)(inside ? (stripe ? 205 - 40 * c : 180 - 50 * c) : 60 + (int)(block >> 24) % 100);
        }
}

static void write_picture(const char *path, picture p)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fprintf(out, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    assert_int_equal(fwrite(p, 1, sizeof(picture), out), sizeof(picture));
    assert_int_equal(fclose(out), 0);
}

/* ---- The definition ---- */

typedef struct scores {
    int rim, area, intersection;
    uint32_t gradient; /* the sum along the rim */
} scores;

static int within(int value, int last)
{
    return value < 0 ? 0 : value > last ? last : value;
}

static int slot_at(picture p, int x, int y)
{
    const uint8_t *rgb = p[y][x];
    const int first = within((rgb[2] - rgb[1]) * 10 + 128, 255) / 32;
    const int second = within((rgb[1] - rgb[0]) * 10 + 128, 255) / 32;
    return ((first + 1) * 11 + second + 1) * 7 + (rgb[0] + rgb[1] + rgb[2]) / 3 / 64 + 1;
}

static int intensity_at(picture p, int x, int y)
{
    const uint8_t *rgb = p[within(y, HEIGHT - 1)][within(x, WIDTH - 1)];
    return (rgb[0] + rgb[1] + rgb[2]) / 3;
}

static int smoothed_at(picture p, int x, int y)
{
    static const int weights[] = {1, 4, 6, 4, 1};
    int sum = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
            sum += weights[i] * weights[j] * intensity_at(p, x + i - 2, y + j - 2);
    return sum;
}

/* Along x, or y. */
static int gradient_at(picture p, int x, int y, bool down)
{
    int sum = 0;
    for (int i = -1; i <= 1; i++)
        sum += down ? smoothed_at(p, x + i, y + 1) - smoothed_at(p, x + i, y - 1)
                    : smoothed_at(p, x + 1, y + i) - smoothed_at(p, x - 1, y + i);
    return (sum + 4) >> 3;
}

static bool is_inside(int dx, int dy, int w, int h)
{
    return dx * dx * h * h + dy * dy * w * w <= w * w * h * h;
}

static void count(picture p, ellipse_state at, int h, int counts[SLOTS])
{
    const int w = (int)at.scale;
    memset(counts, 0, SLOTS * sizeof *counts);
    for (int dy = -h; dy <= h; dy++)
        for (int dx = -w; dx <= w; dx++)
            if (is_inside(dx, dy, w, h)) counts[slot_at(p, (int)at.x + dx, (int)at.y + dy)]++;
}

static int sum_of(const int counts[SLOTS])
{
    int sum = 0;
    for (int i = 0; i < SLOTS; i++)
        sum += counts[i];
    return sum;
}

static scores score(picture p, ellipse_state at, int h, const int wanted[SLOTS])
{
    const int w = (int)at.scale;
    int counts[SLOTS];
    scores s = {0};
    count(p, at, h, counts);
    s.area = sum_of(counts);
    for (int i = 0; i < SLOTS; i++) {
        const int scaled = (int)lrint((double)wanted[i] * s.area / sum_of(wanted));
        s.intersection += counts[i] < scaled ? counts[i] : scaled;
    }
    for (int dy = -h; dy <= h; dy++)
        for (int dx = -w; dx <= w; dx++) {
            if (!is_inside(dx, dy, w, h) || (is_inside(dx - 1, dy, w, h) && is_inside(dx + 1, dy, w, h) &&
                                             is_inside(dx, dy - 1, w, h) && is_inside(dx, dy + 1, w, h)))
                continue;
            const double nx = dx * h * h, ny = dy * w * w, unit = 4096 / sqrt(nx * nx + ny * ny);
            const int x = (int)at.x + dx, y = (int)at.y + dy;
            s.gradient += (uint32_t)labs(gradient_at(p, x, y, false) * lrint(nx * unit) +
                                         gradient_at(p, x, y, true) * lrint(ny * unit)) >>
                          12;
            s.rim++;
        }
    return s;
}

typedef struct winner {
    ellipse_state state;
    scores scores;
    double sum;
    int64_t distance, states;
} winner;

static double stretched(double value, const double range[2])
{
    return range[1] > range[0] ? (value - range[0]) / (range[1] - range[0]) : 0;
}

/* Two passes over all states: the scores' ranges, and the best one. */
static winner find(picture p, ellipse_state at, ellipse_state last, double aspect, const int64_t range[3],
                   const int wanted[SLOTS])
{
    double gradients[] = {INFINITY, -INFINITY}, colors[] = {INFINITY, -INFINITY};
    winner best = {.sum = -1};
    const int height = (int)((double)at.scale * aspect + 0.5);
    const int px = within((int)(2 * at.x - last.x - at.scale), WIDTH - 1 - 2 * (int)at.scale) + (int)at.scale;
    const int py = within((int)(2 * at.y - last.y) - height, HEIGHT - 1 - 2 * height) + height;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t scale = at.scale - range[2]; scale <= at.scale + range[2]; scale++) {
            const int h = (int)((double)scale * aspect + 0.5), w = (int)scale;
            if (w < 2 || h < 2) continue;
            for (int64_t y = py - range[1]; y <= py + range[1]; y++)
                for (int64_t x = px - range[0]; x <= px + range[0]; x++) {
                    if (x < w || y < h || x + w >= WIDTH || y + h >= HEIGHT) continue;
                    const ellipse_state state = {x, y, scale};
                    const scores s = score(p, state, h, wanted);
                    const double gradient = s.gradient / (double)s.rim, color = s.intersection / (double)s.area;
                    if (pass == 0) {
                        gradients[0] = fmin(gradients[0], gradient), gradients[1] = fmax(gradients[1], gradient);
                        colors[0] = fmin(colors[0], color), colors[1] = fmax(colors[1], color);
                        best.states++;
                        continue;
                    }
                    const double sum = stretched(gradient, gradients) + stretched(color, colors);
                    const int64_t dx = x - px, dy = y - py, ds = scale - at.scale;
                    const int64_t distance = dx * dx + dy * dy + ds * ds;
                    if (sum < best.sum || (sum == best.sum && distance >= best.distance)) continue;
                    best = (winner){state, s, sum, distance, best.states};
                }
        }
    return best;
}

/* ---- The tests ---- */

static char folder[] = "/tmp/histo-test-XXXXXX";
static char names[FRAMES][16];
static const char *paths[FRAMES];

static int enter_folder(void **state)
{
    (void)state;
    for (int i = 0; i < FRAMES; i++) {
        snprintf(names[i], sizeof names[i], "%d.ppm", i);
        paths[i] = names[i];
    }
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    for (int i = 0; i < FRAMES; i++)
        unlink(paths[i]);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* Follow the window through the pictures; each match must be that of the definition. Returns the last state. */
static ellipse_state follow(picture *pictures, const int64_t window[4], const int64_t range[3], int threads)
{
    fault f = {0};
    const settings s = {.files = paths, .files_count = FRAMES, .space = "opponent", .threads = threads};
    frames in = {0};
    model m = {0};
    ellipse_tracker t = {0};
    int model_counts[SLOTS];
    for (int i = 0; i < FRAMES; i++)
        write_picture(paths[i], pictures[i]);
    if (frames_open(&in, &s, NULL, NULL, &f) != 0 || frames_next(&in, &f) != 1 ||
        ellipse_begin(&t, &in, window, range, &f) != 0 || ellipse_count_model(&t, &in.planes, &m, &f) != 0 ||
        ellipse_set_model(&t, &m, &f) != 0)
        fail_msg("%s", f.text);
    const double aspect = (double)((window[3] - 1) / 2) / (double)((window[2] - 1) / 2);
    ellipse_match match;
    ellipse_state last = t.state, at = last;
    count(pictures[0], at, (int)((window[3] - 1) / 2), model_counts);
    assert_int_equal(ellipse_score(&t, &in.planes, &match, &f), 0);
    assert_int_equal(match.intersection, match.shape->area);
    for (int i = 1; i < FRAMES; i++) {
        if (frames_next(&in, &f) != 1 || ellipse_find(&t, &in.planes, &match, &f) != 0) fail_msg("%s", f.text);
        const winner wanted = find(pictures[i], at, last, aspect, range, model_counts);
        assert_int_equal(match.states, wanted.states);
        assert_memory_equal(&t.state, &wanted.state, sizeof t.state);
        assert_int_equal(match.intersection, wanted.scores.intersection);
        assert_int_equal(match.shape->area, wanted.scores.area);
        assert_true(match.gradient == wanted.scores.gradient / (double)wanted.scores.rim / GRADIENT_UNIT);
        last = at;
        at = t.state;
    }
    assert_int_equal(frames_next(&in, &f), 0);
    ellipse_end(&t);
    frames_close(&in);
    model_free(&m);
    return at;
}

static void follows_a_target(void **state)
{
    (void)state;
    static picture pictures[FRAMES];
    for (int threads = 1; threads <= 3; threads += 2) {
        for (int i = 0; i < FRAMES; i++) {
            const target t = {20 + 5 * i, 25 + 3 * i, 7 * (1 + 0.07 * i), 9 * (1 + 0.07 * i)};
            draw(pictures[i], 1, &t, 0.4 * i);
        }
        const ellipse_state end =
            follow(pictures, (const int64_t[]){13, 16, 15, 19}, (const int64_t[]){6, 4, 1}, threads);
        assert_true(llabs(end.x - 50) <= 2 && llabs(end.y - 43) <= 2 && llabs(end.scale - 10) <= 1);
    }
}

/* It leaves the frame for a while; the ellipse stays inside. */
static void stays_in_the_frame(void **state)
{
    (void)state;
    static picture pictures[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        const target t = target_at(i);
        draw(pictures[i], 2, &t, 0.2 * i);
    }
    follow(pictures, (const int64_t[]){53, 21, 15, 19}, (const int64_t[]){8, 3, 2}, 2);
}

/* Another scene, without the target; and then a blank one, in which all states are equal. */
static void bears_other_scenes(void **state)
{
    (void)state;
    static picture pictures[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        const target t = {i < 2 ? 40 : -1000, 35, 8, 10};
        draw(pictures[i], i < 2 ? 3 : 4, &t, 0);
        if (i > 4) memset(pictures[i], 90, sizeof pictures[i]);
    }
    follow(pictures, (const int64_t[]){32, 25, 17, 21}, (const int64_t[]){5, 5, 1}, 1);
}

/* Scales end where an ellipse would be too small, or reach outside. */
static void bounds_scales(void **state)
{
    (void)state;
    static picture pictures[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        const target t = {20, 30, 4, 4};
        draw(pictures[i], 5, &t, 0);
    }
    follow(pictures, (const int64_t[]){18, 28, 5, 6}, (const int64_t[]){2, 3, 3}, 1);
    follow(pictures, (const int64_t[]){1, 1, 88, 68}, (const int64_t[]){2, 0, 2}, 3);
    follow(pictures, (const int64_t[]){0, 0, 90, 70}, (const int64_t[]){0, 0, 0}, 1);
}

static void shapes_by_definition(void **state)
{
    (void)state;
    for (int w = ELLIPSE_SMALLEST; w < 40; w++)
        for (int h = ELLIPSE_SMALLEST; h < 40; h++) {
            ellipse_shape e;
            assert_true(ellipse_shape_make(&e, w, h));
            int64_t area = 0, rim = 0;
            for (int y = -h; y <= h; y++)
                for (int x = -w; x <= w; x++) {
                    assert_true(is_inside(x, y, w, h) == (abs(x) <= e.row_reach[abs(y)]));
                    assert_true(is_inside(x, y, w, h) == (abs(y) <= e.column_reach[abs(x)]));
                    if (!is_inside(x, y, w, h)) continue;
                    area++;
                    if (is_inside(abs(x) + 1, y, w, h) && is_inside(x, abs(y) + 1, w, h)) continue;
                    assert_true(rim < e.rim_count && e.rim[rim].x == x && e.rim[rim].y == y);
                    const double length = hypot(e.rim[rim].normal[0], e.rim[rim].normal[1]);
                    assert_true(fabs(length - (1 << RIM_NORMAL_BITS)) < 1);
                    rim++;
                }
            assert_int_equal(e.area, area);
            assert_int_equal(e.rim_count, rim);
            ellipse_shape_free(&e);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_target),     cmocka_unit_test(stays_in_the_frame),
        cmocka_unit_test(bears_other_scenes),   cmocka_unit_test(bounds_scales),
        cmocka_unit_test(shapes_by_definition),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
