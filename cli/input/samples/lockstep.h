/* Files of equal shape, read in step: the same rectangle of each, whatever the sizes of their bands, so that images and
 * volumes larger than memory can be paired. */
#ifndef CLI_LOCKSTEP_H
#define CLI_LOCKSTEP_H

#include "input/samples/samples.h"

/* The part of a file's current piece that has not been taken yet. */
typedef struct lockstep_file {
    samples *in;
    piece now;
    histo_view view;
    int64_t y, x; /* of the view in the page or region */
    bool ended;
} lockstep_file;

typedef struct lockstep {
    const settings *settings;
    settings unmasked; /* for all files but the first, whose mask serves all */
    int count;
    lockstep_file *files; /* [count] */
    bool begun;

    /* The current rectangle. */
    histo_view *views; /* [count] */
    const histo_view *mask;
    histo_view mask_view;
    int page;
    int64_t y, x, width; /* in the page or region */
} lockstep;

/* Open all files of s, which have one channel to count each and equal shapes. keep: several passes are possible. Call
 * lockstep_close afterwards, also on failure. */
int lockstep_open(lockstep *st, const settings *s, bool keep, fault *f);
void lockstep_close(lockstep *st);

/* The name of file i in messages, and the type of its samples. */
const char *lockstep_name(const lockstep *st, int i);
histo_dtype lockstep_dtype(const lockstep *st, int i);

/* 1 and a rectangle, valid until the next call; 0 at the end of all files; -1. */
int lockstep_next(lockstep *st, fault *f);
int lockstep_rewind(lockstep *st, fault *f);

/* samples_remark for all files. */
void lockstep_remark(const lockstep *st);

#endif
