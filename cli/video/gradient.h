/* The gradient of an image's intensity: Prewitt's differences of the image smoothed by 5 x 5 binomial weights, in
 * integers, the same on every machine. Pixels beyond the image are like those at its border. */
#ifndef CLI_VIDEO_GRADIENT_H
#define CLI_VIDEO_GRADIENT_H

#include <histo/histo.h>
#include <stdbool.h>

enum {
    GRADIENT_MARGIN = 3, /* pixels to each side that a gradient depends on */
    GRADIENT_UNIT = 192, /* the gradient of a ramp that rises by one level from pixel to pixel */
};

/* A rectangle of an image, of which results have a row after the other. */
typedef struct gradient_part {
    int64_t left, top, width;
} gradient_part;

/* Rows begin … end - 1 of a part of an image of HISTO_U8. false without memory. */
bool gradient_find(const histo_view *image, gradient_part part, int64_t begin, int64_t end, int16_t *across,
                   int16_t *down);

#endif
