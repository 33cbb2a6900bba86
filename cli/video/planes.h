/* The samples of a frame on the axes of a space, each computed when first needed: tracking only looks at a window of a
 * frame. */
#ifndef CLI_VIDEO_PLANES_H
#define CLI_VIDEO_PLANES_H

#include "video/color.h"
#include "video/space.h"

enum { PLANES_BLOCK_ROWS = 16 };

typedef struct planes {
    const space *space;
    int64_t width, height;
    int threads;                      /* number of threads that may use them; 0: default */
    int channels;                     /* number of channels of the file that are used */
    histo_view views[SPACE_CHANNELS]; /* one for each axis, of the whole frame */

    bool direct; /* the file's samples are those of the axes */
    channel_step steps[SPACE_CHANNELS];
    bool video;
    color_matrix matrix;
    histo_view from[SPACE_CHANNELS];
    unsigned char *samples, *ready; /* ready: a byte for each block of pixels */
} planes;

/* For frames of width x height pixels, read by r. planes_free frees them, also after a failure. */
int planes_make(planes *p, const space *sp, const reader *r, int64_t width, int64_t height, fault *f);
void planes_free(planes *p);

/* Select the channels that frames must provide: 0 … channels - 1. */
int planes_select(const planes *p, reader *r, fault *f);

/* Start on the frame with these channels; they are borrowed until the next one. */
void planes_show(planes *p, const histo_view *channels);

/* The samples of a window x, y, width, height: a view for each axis. Threads may call this concurrently for windows
 * without common rows y / PLANES_BLOCK_ROWS. */
void planes_window(planes *p, const int64_t window[4], histo_view *views);

#endif
