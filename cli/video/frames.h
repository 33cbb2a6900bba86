/* The frames of files, one after the other: those of a video, or the pages of images. */
#ifndef CLI_VIDEO_FRAMES_H
#define CLI_VIDEO_FRAMES_H

#include "video/planes.h"

typedef struct frames {
    const settings *settings;
    int file; /* the next one */
    reader *reader;
    space space;
    planes planes;                    /* of the frame */
    int64_t count;                    /* number of frames so far */
    unsigned char *pixels;            /* of a frame that is assembled from bands */
    histo_view views[SPACE_CHANNELS]; /* of these */
} frames;

/* saved: a histogram whose axes the planes get, or NULL, and its name, or NULL. frames_close frees everything, also
 * after a failure. */
int frames_open(frames *in, const settings *s, const histo_hist *saved, const char *name, fault *f);
void frames_close(frames *in);

/* The next frame's planes: 1; 0 after the last one; -1. */
int frames_next(frames *in, fault *f);

#endif
