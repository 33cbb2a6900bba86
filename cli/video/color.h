/* Colours of pixels: red, green and blue from video's luma and chroma, and hue, saturation and value. */
#ifndef CLI_VIDEO_COLOR_H
#define CLI_VIDEO_COLOR_H

#include <stdbool.h>
#include <stdint.h>

/* Y'CbCr to R'G'B' of 8 bits, by ITU-R BT.601 or BT.709: products in 16-bit fixed point, rounded to nearest, clamped.
 */
typedef struct color_matrix {
    int64_t luma, red, green[2], blue; /* times 2^16; green by Cb and Cr */
    int64_t black, middle;             /* of luma and chroma */
    int shift;
} color_matrix;

/* BT.709 for frames of at least 720 lines, as players choose where nothing is tagged, else BT.601. full: black is 0. */
color_matrix color_matrix_of(int64_t height, int bits, bool full);

static inline uint8_t color_clamped(int64_t sum, int shift)
{
    const int64_t value = (sum + (INT64_C(1) << (shift - 1))) >> shift;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static inline void color_rgb_of_yuv(const color_matrix *m, int y, int u, int v, uint8_t rgb[3])
{
    const int64_t luma = m->luma * (y - m->black), cb = u - m->middle, cr = v - m->middle;
    rgb[0] = color_clamped(luma + m->red * cr, m->shift);
    rgb[1] = color_clamped(luma - m->green[0] * cb - m->green[1] * cr, m->shift);
    rgb[2] = color_clamped(luma + m->blue * cb, m->shift);
}

/* Hue in steps of two degrees (0 … 179), saturation and value: the bits of OpenCV's COLOR_RGB2HSV of 8 bits. */
void color_hsv_of_rgb(const uint8_t rgb[3], uint8_t hsv[3]);

#endif
