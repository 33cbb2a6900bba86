/* Colours of pixels: red, green and blue from video's luma and chroma, and hue, saturation and value. */
#ifndef CLI_VIDEO_COLOR_H
#define CLI_VIDEO_COLOR_H

#include <stdbool.h>
#include <stdint.h>

/* Y'CbCr to R'G'B' of 8 bits, by ITU-R BT.601 or BT.709, in fixed point, rounded to nearest, clamped. */
typedef struct color_matrix {
    int32_t luma, red, green[2], blue; /* times 2^(29 - bits); green by Cb and Cr */
    int32_t black, middle;             /* of luma and chroma */
} color_matrix;

/* BT.709 for frames of at least 720 lines, as players choose where nothing is tagged, else BT.601. full: black is 0. */
color_matrix color_matrix_of(int64_t height, int bits, bool full);

static inline uint8_t color_clamped(int32_t sum) /* times 2^21 */
{
    const int32_t value = (sum + (1 << 20)) >> 21;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static inline void color_rgb_of_yuv(const color_matrix *m, int32_t y, int32_t u, int32_t v, uint8_t rgb[3])
{
    const int32_t luma = m->luma * (y - m->black), cb = u - m->middle, cr = v - m->middle;
    rgb[0] = color_clamped(luma + m->red * cr);
    rgb[1] = color_clamped(luma - m->green[0] * cb - m->green[1] * cr);
    rgb[2] = color_clamped(luma + m->blue * cb);
}

/* The quotients that hue and saturation need, times 2^12, as OpenCV has them. */
typedef struct color_quotients {
    int32_t hue[256], saturation[256];
} color_quotients;

void color_divide(color_quotients *q);

/* Hue in steps of two degrees (0 … 179), saturation and value: the bits of OpenCV's COLOR_RGB2HSV of 8 bits. */
static inline void color_hsv_of_rgb(const color_quotients *q, const uint8_t rgb[3], uint8_t hsv[3])
{
    enum { SHIFT = 12, HALF = 1 << (SHIFT - 1) };
    const int r = rgb[0], g = rgb[1], b = rgb[2];
    const int most = r > g ? (r > b ? r : b) : (g > b ? g : b), least = r < g ? (r < b ? r : b) : (g < b ? g : b);
    const int range = most - least;
    const int sixth = most == r ? g - b : most == g ? b - r + 2 * range : r - g + 4 * range;
    const int hue = (sixth * q->hue[range] + HALF) >> SHIFT;
    hsv[0] = (uint8_t)(hue + (hue < 0 ? 180 : 0));
    hsv[1] = (uint8_t)((range * q->saturation[most] + HALF) >> SHIFT);
    hsv[2] = (uint8_t)most;
}

#endif
