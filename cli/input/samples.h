/* The samples that are counted: a file through its reader, the chosen channels, the region of interest, the mask, the
 * range filter and the weights, as pieces ready for histo_hist_fill. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "input/select.h"

typedef struct piece {
    int page;
    int64_t y, x, width;                      /* where it lies in the page or region, and how wide that is */
    const histo_view *views;                  /* one for each source that is counted, all of one shape */
    const histo_view *weights, *mask, *where; /* or NULL */
    bool filters_itself;                      /* each source is its own `where` */
    double where_lo, where_hi;
    histo_pairs pairs;      /* the only view is a stack of images */
    const int64_t *offsets; /* of segments: the views have one dimension then; or NULL */
} piece;

typedef struct samples samples;

/* keep: there may be more than one pass. */
samples *samples_open(const char *path, const settings *s, bool keep, fault *f);
void samples_close(samples *in);

const choice *samples_choice(const samples *in);
const reader *samples_reader(const samples *in);
/* How many segments are counted apart; 1 without --segments. */
int64_t samples_segments(const samples *in);

/* 1 and a piece, valid until the next call; 0 at the end; -1. */
int samples_next(samples *in, piece *p, fault *f);
int samples_rewind(samples *in, fault *f);

/* How to fill with source i of the piece alone; i is 0 for a joint histogram. The options refer to p. */
histo_fill_options piece_fill(const piece *p, int i);

/* ---- The files of a run, read one after the other, as often as there are passes ---- */

typedef struct feed_file {
    const char *path;
    samples *open; /* between passes only if it cannot be opened again */
    bool used;     /* since it was opened or rewound */
} feed_file;

typedef struct feed {
    const settings *settings;
    bool keep; /* there may be more than one pass */
    int count;
    feed_file *files;
} feed;

int feed_open(feed *in, const settings *s, bool keep, fault *f);
void feed_close(feed *in);

/* What messages call file i. */
const char *feed_name(const feed *in, int i);

/* File i, open and at its beginning. */
samples *feed_begin(feed *in, int i, fault *f);
/* The pass over file i is done: it may be closed. */
void feed_end(feed *in, int i);

/* One pass over all files. enter (may be NULL) is called before the first piece of each file. */
typedef struct feed_visitor {
    const char *verb; /* of the progress line: "counting" */
    int (*enter)(void *self, int file, const samples *in, fault *f);
    int (*take)(void *self, int file, const piece *p, fault *f);
    int (*leave)(void *self, int file, const samples *in, fault *f); /* may be NULL */
    void *self;
} feed_visitor;
int feed_visit(feed *in, const feed_visitor *visitor, fault *f);

#endif
