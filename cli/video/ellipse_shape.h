/* Upright ellipses of pixels around a pixel: which pixels are inside, and which of these are on the rim, each with the
 * direction in which the rim faces there. All in integers, the same on every machine. */
#ifndef CLI_VIDEO_ELLIPSE_SHAPE_H
#define CLI_VIDEO_ELLIPSE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/* Half the width and half the height, without the pixel at the centre, that an ellipse may have. Up to the largest,
 * products of four of them fit into 64 bits. */
enum { ELLIPSE_SMALLEST = 2, ELLIPSE_LARGEST = 8191 };

enum { RIM_NORMAL_BITS = 12 };

typedef struct rim_pixel {
    int32_t x, y;      /* from the centre */
    int16_t normal[2]; /* outwards; its length is 2^RIM_NORMAL_BITS */
} rim_pixel;

typedef struct ellipse_shape {
    int64_t half_width, half_height; /* 0: not made */
    int64_t area;                    /* pixels */
    /* To how far on either side of the axis the row, or the column, at a distance from the centre is inside:
     * [half_height + 1] and [half_width + 1]. */
    int32_t *row_reach, *column_reach;
    int64_t rim_count;
    rim_pixel *rim; /* those with one of four neighbours outside, from the top row to the last, from left to right */
} ellipse_shape;

/* false without memory. ellipse_shape_free frees what there is, also then. */
bool ellipse_shape_make(ellipse_shape *e, int64_t half_width, int64_t half_height);
void ellipse_shape_free(ellipse_shape *e);

#endif
