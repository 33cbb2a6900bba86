/* The axes of colour histograms for tracking and back projection: --space and --axes. */
#ifndef CLI_VIDEO_SPACE_H
#define CLI_VIDEO_SPACE_H

#include "input/reader.h"

enum { SPACE_CHANNELS = 4, SPACE_HUES = 180 };

/* What is computed from red, green and blue, as bytes; or nothing: the channels of the file. */
typedef enum color_space { SPACE_NONE = 0, SPACE_HSV, SPACE_OPPONENT } color_space;

typedef struct space {
    color_space kind;
    int naxes;
    int channels[SPACE_CHANNELS]; /* for each axis: 0 hue, 1 saturation, 2 value, say; or a channel of the file */
    histo_axis axes[SPACE_CHANNELS];
    double hue_edges[SPACE_HUES + 1]; /* the axis of hue refers to these: do not copy the space */
} space;

/* The axes that s names in r, or the default ones. With a saved histogram, which may be NULL, they are its axes, and s
 * or the histogram's name, which may be NULL, tells which channels they are. */
int space_choose(space *sp, const reader *r, const settings *s, const histo_hist *saved, const char *name, fault *f);

/* The name of axis a: "hue" or "saturation"; or the letter of a channel of r. */
const char *space_axis_name(const space *sp, int a, const reader *r);

/* The space whose channels a histogram's name lists, in any order, such as "hue,saturation"; SPACE_NONE if there is
 * none. */
color_space space_of_name(const char *name);
/* The name of a computed space, as --space takes it. */
const char *space_name(color_space kind);

#endif
