/* Colours: hue, saturation and value of every colour as OpenCV's tables give them, and colours of video beside their
 * formulas in double. tests/python/test_video.py compares images with OpenCV's. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "video/color.h"

/* numerator * 2^12 / divisor, rounded half to even, as saturate_cast<int> does. */
static int32_t quotient(int32_t numerator, int32_t divisor)
{
    const int32_t scaled = numerator << 12, down = divisor ? scaled / divisor : 0;
    const int32_t twice = divisor ? 2 * (scaled % divisor) : 0;
    return down + (twice > divisor || (twice == divisor && (down & 1)));
}

static void every_hue(void **state)
{
    (void)state;
    int32_t hues[256], saturations[256];
    for (int i = 0; i < 256; i++) {
        hues[i] = quotient(180, 6 * i);
        saturations[i] = quotient(255, i);
    }
    for (int first = 0; first < 1 << 24; first += COLOR_ROW) {
        uint8_t rgb[3][COLOR_ROW], hsv[3][COLOR_ROW];
        for (int i = 0; i < COLOR_ROW; i++)
            for (int c = 0; c < 3; c++)
                rgb[c][i] = (uint8_t)((first + i) >> (16 - 8 * c));
        color_hsv_of_rgb(COLOR_ROW, rgb, hsv);
        for (int i = 0; i < COLOR_ROW; i++) {
            const int r = rgb[0][i], g = rgb[1][i], b = rgb[2][i];
            const int most = r > g ? (r > b ? r : b) : (g > b ? g : b);
            const int range = most - (r < g ? (r < b ? r : b) : (g < b ? g : b));
            const int sixth = most == r ? g - b : most == g ? b - r + 2 * range : r - g + 4 * range;
            const int hue = (sixth * hues[range] + 2048) >> 12;
            if (hsv[0][i] != (hue < 0 ? hue + 180 : hue) || hsv[1][i] != (range * saturations[most] + 2048) >> 12 ||
                hsv[2][i] != most)
                fail_msg("%d %d %d has hue %d, saturation %d, value %d", r, g, b, hsv[0][i], hsv[1][i], hsv[2][i]);
        }
    }
}

/* The value of 0 … 255 that a formula gives. */
static double within(double value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

static void colors_of_video(void **state)
{
    (void)state;
    for (int kind = 0; kind < 16; kind++) {
        const bool full = kind & 1, hd = kind & 2;
        const int bits = (int[]){8, 10, 12, 16}[kind / 4], step = (1 << bits) / 37;
        const double kr = hd ? 0.2126 : 0.299, kb = hd ? 0.0722 : 0.114, kg = 1 - kr - kb, one = 1 << (bits - 8);
        const double largest = (1 << bits) - 1, luma = full ? 255 / largest : 255 / (219 * one);
        const double chroma = full ? 255 / largest : 255 / (224 * one);
        const color_matrix m = color_matrix_of(hd ? 720 : 719, bits, full);
        for (int y = 0; y <= largest; y += step)
            for (int u = 0; u <= largest; u += step)
                for (int v = 0; v <= largest; v += step) {
                    uint16_t yuv[3][COLOR_ROW] = {{(uint16_t)y}, {(uint16_t)u}, {(uint16_t)v}};
                    uint8_t rgb[3][COLOR_ROW];
                    color_rgb_of_yuv(&m, 1, yuv, rgb);
                    const double gray = luma * (full ? y : y - 16 * one), cb = chroma * (u - 128 * one),
                                 cr = chroma * (v - 128 * one);
                    const double wanted[] = {within(gray + 2 * (1 - kr) * cr),
                                             within(gray - 2 * (1 - kb) * kb / kg * cb - 2 * (1 - kr) * kr / kg * cr),
                                             within(gray + 2 * (1 - kb) * cb)};
                    for (int c = 0; c < 3; c++)
                        assert_true(fabs(rgb[c][0] - wanted[c]) < 0.52);
                }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_hue), cmocka_unit_test(colors_of_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
