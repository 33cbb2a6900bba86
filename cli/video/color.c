#include "video/color.h"

#include <math.h>

color_matrix color_matrix_of(int64_t height, int bits, bool full)
{
    const bool hd = height >= 720;
    const double kr = hd ? 0.2126 : 0.299, kb = hd ? 0.0722 : 0.114, kg = 1 - kr - kb;
    const double one = 1 << (29 - bits), all = 255.0 * (1 << (bits - 8)) / ((1 << bits) - 1);
    const double luma = one * (full ? all : 255.0 / 219), chroma = one * (full ? all : 255.0 / 224);
    return (color_matrix){
        .luma = (int32_t)lrint(luma),
        .red = (int32_t)lrint(chroma * 2 * (1 - kr)),
        .green = {(int32_t)lrint(chroma * 2 * (1 - kb) * kb / kg), (int32_t)lrint(chroma * 2 * (1 - kr) * kr / kg)},
        .blue = (int32_t)lrint(chroma * 2 * (1 - kb)),
        .black = full ? 0 : 16 << (bits - 8),
        .middle = 128 << (bits - 8),
    };
}

static inline uint8_t clamped(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static inline uint8_t rounded(int32_t sum) /* times 2^21 */
{
    return clamped((sum + (1 << 20)) >> 21);
}

void color_rgb_of_yuv(const color_matrix *matrix, int n, uint16_t yuv[3][COLOR_ROW], uint8_t rgb[3][COLOR_ROW])
{
    const color_matrix m = *matrix; /* a copy that the stores do not alias */
    for (int i = 0; i < n; i++) {
        const int32_t luma = m.luma * (yuv[0][i] - m.black), cb = yuv[1][i] - m.middle, cr = yuv[2][i] - m.middle;
        rgb[0][i] = rounded(luma + m.red * cr);
        rgb[1][i] = rounded(luma - m.green[0] * cb - m.green[1] * cr);
        rgb[2][i] = rounded(luma + m.blue * cb);
    }
}

/* The quotient of two integers, up to 255, rounded half to even: OpenCV has tables of these. Quotients up to 2^20 are
 * rounded like the exact ones, although they are floats. */
static inline int32_t quotient(float numerator, int32_t divisor)
{
    const float whole = 0x1.8p23F; /* floats from here on are integers */
    return (int32_t)(numerator / (float)divisor + whole - whole);
}

void color_hsv_of_rgb(int n, uint8_t rgb[3][COLOR_ROW], uint8_t hsv[3][COLOR_ROW])
{
    enum { SHIFT = 12, HALF = 1 << (SHIFT - 1) };
    for (int i = 0; i < n; i++) {
        const int32_t r = rgb[0][i], g = rgb[1][i], b = rgb[2][i];
        const int32_t larger = r > g ? r : g, smaller = r < g ? r : g;
        const int32_t most = larger > b ? larger : b, least = smaller < b ? smaller : b, range = most - least;
        const int32_t from_green = b - r + 2 * range, from_blue = r - g + 4 * range;
        const int32_t sixth = most == r ? g - b : most == g ? from_green : from_blue;
        const int32_t hue = (sixth * quotient(30 << SHIFT, range > 1 ? range : 1) + HALF) >> SHIFT;
        hsv[0][i] = (uint8_t)(hue + (hue < 0 ? 180 : 0));
        hsv[1][i] = (uint8_t)((range * quotient(255 << SHIFT, most > 1 ? most : 1) + HALF) >> SHIFT);
        hsv[2][i] = (uint8_t)most;
    }
}

void color_opponent_of_rgb(int n, uint8_t rgb[3][COLOR_ROW], uint8_t opponent[3][COLOR_ROW])
{
    for (int i = 0; i < n; i++) {
        const int16_t r = rgb[0][i], g = rgb[1][i], b = rgb[2][i]; /* 16 bits hold everything that follows */
        const uint16_t sum = (uint16_t)(r + g + b);
        opponent[0][i] = clamped((int16_t)((b - g) * 10 + 128));
        opponent[1][i] = clamped((int16_t)((g - r) * 10 + 128));
        opponent[2][i] = (uint8_t)(sum / 3);
    }
}
