/* Colours of pixels: red, green and blue from video's luma and chroma, and hue, saturation and value. */
#ifndef CLI_VIDEO_COLOR_H
#define CLI_VIDEO_COLOR_H

#include <stdbool.h>
#include <stdint.h>

/* Y'CbCr to 8-bit R'G'B', by ITU-R BT.601 or BT.709, in fixed point, rounded to nearest, clamped. */
typedef struct color_matrix {
    int32_t luma, red, green[2], blue; /* times 2^(29 - bits); green from Cb and Cr */
    int32_t black, middle;             /* of luma and chroma */
} color_matrix;

/* BT.709 for frames of at least 720 lines, as players choose if nothing is tagged, else BT.601. full: black is 0. */
color_matrix color_matrix_of(int64_t height, int bits, bool full);

/* Pixels in a row that are converted together, channel by channel. */
enum { COLOR_ROW = 64 };

void color_rgb_of_yuv(const color_matrix *m, int n, uint16_t yuv[3][COLOR_ROW], uint8_t rgb[3][COLOR_ROW]);

/* Hue in steps of two degrees (0 … 179), saturation and value: bit for bit OpenCV's 8-bit COLOR_RGB2HSV. */
void color_hsv_of_rgb(int n, uint8_t rgb[3][COLOR_ROW], uint8_t hsv[3][COLOR_ROW]);

/* Blue - green and green - red, times 10, plus 128, clamped, and the mean of all three, rounded down: the axes of
 * Birchfield's head tracker, scaled as in his own program. */
void color_opponent_of_rgb(int n, uint8_t rgb[3][COLOR_ROW], uint8_t opponent[3][COLOR_ROW]);

#endif
