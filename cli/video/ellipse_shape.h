/* Upright ellipses of pixels around a pixel: which pixels are inside, and which of these are on the rim, each with the
 * normal there. All in integers, the same on every machine. */
#ifndef CLI_VIDEO_ELLIPSE_SHAPE_H
#define CLI_VIDEO_ELLIPSE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of half the width and half the height, not counting the pixel at the centre. At the largest, products of four
 * of them still fit 64 bits. */
enum { ELLIPSE_SMALLEST = 2, ELLIPSE_LARGEST = 8191 };

enum { RIM_NORMAL_BITS = 12 };

typedef struct rim_pixel {
    int32_t x, y;      /* from the centre */
    int16_t normal[2]; /* outwards; its length is 2^RIM_NORMAL_BITS */
} rim_pixel;

typedef struct ellipse_shape {
    int64_t half_width, half_height; /* 0: not made */
    int64_t area;                    /* in pixels */
    /* How far the ellipse extends to each side of the axis, for the row or column at a given distance from the centre:
     * [half_height + 1] and [half_width + 1]. */
    int32_t *row_reach, *column_reach;
    int64_t rim_count;
    rim_pixel *rim; /* pixels with one of their four neighbours outside, from the top row to the last, from left to
                     * right */
} ellipse_shape;

/* False if out of memory. ellipse_shape_free frees everything, also then. */
bool ellipse_shape_make(ellipse_shape *e, int64_t half_width, int64_t half_height);
void ellipse_shape_free(ellipse_shape *e);

#endif
