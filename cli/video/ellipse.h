/* Elliptical tracking: S. Birchfield, "Elliptical head tracking using intensity gradients and color histograms", CVPR
 * 1998. The state of an object is the centre of an upright ellipse and its scale. In each frame, all states within a
 * range of the predicted one are scored by the mean of |n g| along the rim, where n is the ellipse's normal and g the
 * intensity's gradient, and by the intersection of the histogram inside the ellipse with the model. Both scores are
 * stretched to 0 … 1 over these states, and the largest sum wins.
 *
 * Scores are counted in integers, so every machine and number of threads finds the same states. The histogram of a
 * state comes from that of its neighbour: pixels that the ellipse leaves are taken out, and those that it covers are
 * put in, as is the intersection, one pixel at a time. */
#ifndef CLI_VIDEO_ELLIPSE_H
#define CLI_VIDEO_ELLIPSE_H

#include "video/ellipse_shape.h"
#include "video/frames.h"
#include "video/model.h"

typedef struct ellipse_state {
    int64_t x, y, scale; /* the pixel at the centre, and half the width, not counting this pixel */
} ellipse_state;

typedef struct ellipse_tracker {
    int64_t half_width, half_height; /* of the first ellipse, whose aspect ratio is kept */
    int64_t range[3];                /* of the search, to each side, in x, y and scale */
    int64_t largest[2];              /* halves of the frame's sides: ellipses stay inside */
    ellipse_state state, last;       /* of the last two frames */
    ellipse_shape *shapes;           /* by scale, created on demand */

    histo_map *slot_of; /* maps samples to slots of the model */
    int64_t slots;
    uint64_t *model; /* [slots] */
    uint64_t model_count;
    int intensity; /* the axis of intensity */

    struct ellipse_pixels *pixels; /* scratch pixels of a search */
} ellipse_tracker;

/* The result for a frame. */
typedef struct ellipse_match {
    const ellipse_shape *shape;
    double gradient;      /* the mean of |n g|, in levels per pixel */
    int32_t intersection; /* in pixels; its share of the shape's area is the colour score */
    int64_t states;       /* number of states scored */
} ellipse_match;

/* window: left, top, width and height of the object in the first frame, inside the frames. ellipse_end frees
 * everything, also after a failure. */
int ellipse_begin(ellipse_tracker *t, const frames *in, const int64_t window[4], const int64_t range[3], fault *f);
void ellipse_end(ellipse_tracker *t);

/* Count the colours of the first ellipse in a frame: m->hist. */
int ellipse_count_model(const ellipse_tracker *t, planes *p, model *m, fault *f);
/* Search for the colours of m->hist. */
int ellipse_set_model(ellipse_tracker *t, const model *m, fault *f);

/* Find the ellipse in the next frame: t->state. */
int ellipse_find(ellipse_tracker *t, planes *p, ellipse_match *match, fault *f);
/* The scores of t->state in place. */
int ellipse_score(ellipse_tracker *t, planes *p, ellipse_match *match, fault *f);

#endif
