/* The gradient of an image's intensity: Prewitt's differences of the image smoothed by 5 x 5 binomial weights, in
 * integers, the same on every machine. Pixels beyond the image repeat its border. */
#ifndef CLI_VIDEO_GRADIENT_H
#define CLI_VIDEO_GRADIENT_H

#include <histo/histo.h>
#include <stdbool.h>

enum {
    GRADIENT_MARGIN = 3, /* pixels to each side that a gradient depends on */
    GRADIENT_UNIT = 192, /* the gradient of a ramp that rises by one level per pixel */
};

/* A rectangle of an image, whose results are stored row after row. */
typedef struct gradient_part {
    int64_t left, top, width;
} gradient_part;

/* Rows begin … end - 1 of a part of a HISTO_U8 image. False if out of memory. */
bool gradient_find(const histo_view *image, gradient_part part, int64_t begin, int64_t end, int16_t *across,
                   int16_t *down);

#endif
