/* The axes of colour histograms for tracking and back projection: --space and --axes. */
#ifndef CLI_VIDEO_SPACE_H
#define CLI_VIDEO_SPACE_H

#include "input/reader.h"

enum { SPACE_CHANNELS = 4, SPACE_HUES = 180 };

typedef struct space {
    bool hsv;
    int naxes;
    int channels[SPACE_CHANNELS]; /* of each axis: 0 hue, 1 saturation, 2 value; or a channel of the file */
    histo_axis axes[SPACE_CHANNELS];
    double hue_edges[SPACE_HUES + 1]; /* that the axis of hue refers to: do not copy the space */
} space;

/* The axes that s names in r, or the default ones. With a saved histogram, which may be NULL, they are its axes, and s
 * or the histogram's name, which may be NULL, says which channels they are. */
int space_choose(space *sp, const reader *r, const settings *s, const histo_hist *saved, const char *name, fault *f);

/* The name of axis a: "hue" or "saturation"; or the letter of a channel of r. */
const char *space_axis_name(const space *sp, int a, const reader *r);

/* Whether a histogram's name is of hue, saturation and value, in any order. */
bool space_name_is_hsv(const char *name);

#endif
