#include "video/color.h"

#include <math.h>

color_matrix color_matrix_of(int64_t height, int bits, bool full)
{
    const bool hd = height >= 720;
    const double kr = hd ? 0.2126 : 0.299, kb = hd ? 0.0722 : 0.114, kg = 1 - kr - kb;
    const double luma = 65536 * (full ? 1 : 255.0 / 219), chroma = 65536 * (full ? 1 : 255.0 / 224);
    return (color_matrix){
        .luma = llrint(luma),
        .red = llrint(chroma * 2 * (1 - kr)),
        .green = {llrint(chroma * 2 * (1 - kb) * kb / kg), llrint(chroma * 2 * (1 - kr) * kr / kg)},
        .blue = llrint(chroma * 2 * (1 - kb)),
        .black = full ? 0 : 16 << (bits - 8),
        .middle = 128 << (bits - 8),
        .shift = 16 + bits - 8,
    };
}

enum { SHIFT = 12, HALF = 1 << (SHIFT - 1) };

/* numerator * 2^12 / divisor, rounded half to even, as the tables of OpenCV's color_hsv are. */
static int reciprocal(int numerator, int divisor)
{
    if (!divisor) return 0;
    const int scaled = numerator << SHIFT, quotient = scaled / divisor, twice = 2 * (scaled % divisor);
    return quotient + (twice > divisor || (twice == divisor && (quotient & 1)));
}

void color_hsv_of_rgb(const uint8_t rgb[3], uint8_t hsv[3])
{
    const int r = rgb[0], g = rgb[1], b = rgb[2];
    const int most = r > g ? (r > b ? r : b) : (g > b ? g : b), least = r < g ? (r < b ? r : b) : (g < b ? g : b);
    const int range = most - least;
    const int sixth = most == r ? g - b : most == g ? b - r + 2 * range : r - g + 4 * range;
    const int hue = (sixth * reciprocal(180, 6 * range) + HALF) >> SHIFT;
    hsv[0] = (uint8_t)(hue < 0 ? hue + 180 : hue);
    hsv[1] = (uint8_t)((range * reciprocal(255, most) + HALF) >> SHIFT);
    hsv[2] = (uint8_t)most;
}
