/* Files of equal shape, read in step: the same rectangle of each, whatever the sizes of their bands. So images and
 * volumes larger than memory can be paired. */
#ifndef CLI_STEP_H
#define CLI_STEP_H

#include "input/samples/samples.h"

/* What has not yet been taken of a file's current piece. */
typedef struct step_file {
    samples *in;
    piece now;
    histo_view view;
    int64_t y, x; /* of the view in the page or region */
    bool ended;
} step_file;

typedef struct step {
    const settings *settings;
    settings unmasked; /* of all files but the first, whose mask serves all */
    int count;
    step_file *files; /* [count] */
    bool begun;

    /* The current rectangle. */
    histo_view *views; /* [count] */
    const histo_view *mask;
    histo_view mask_view;
    int page;
    int64_t y, x, width; /* of the page or region */
} step;

/* Open all files of s, which have one channel to count each and equal shapes. keep: several passes are possible. Call
 * step_close afterwards, also on failure. */
int step_open(step *st, const settings *s, bool keep, fault *f);
void step_close(step *st);

/* The name of file i in messages, and the type of its samples. */
const char *step_name(const step *st, int i);
histo_dtype step_dtype(const step *st, int i);

/* 1 and a rectangle, valid until the next call; 0 at the end of all files; -1. */
int step_next(step *st, fault *f);
int step_rewind(step *st, fault *f);

/* samples_remark of all files. */
void step_remark(const step *st);

#endif
