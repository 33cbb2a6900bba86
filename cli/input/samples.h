/* The samples to count: a file through its reader, selected channels, region of interest, mask, range filter and
 * weights, as pieces ready for histo_hist_fill. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "input/select.h"

typedef struct piece {
    int page;
    int64_t y, x, width;                      /* position in the page or region, and width */
    const histo_view *views;                  /* one per counted source, all of equal shape */
    const histo_view *weights, *mask, *where; /* or NULL */
    bool filters_itself;                      /* each source filters itself */
    double where_lo, where_hi;
    histo_pairs pairs;      /* the single view is a stack of images */
    bool relative;          /* their differences are divided by the mean */
    const int64_t *offsets; /* of segments, for one-dimensional views; or NULL */
} piece;

typedef struct samples samples;

/* keep: several passes are possible. */
samples *samples_open(const char *path, const settings *s, bool keep, fault *f);
void samples_close(samples *in);

const choice *samples_choice(const samples *in);
const reader *samples_reader(const samples *in);
/* The number of separately counted segments; 1 without --segments. */
int64_t samples_segments(const samples *in);

/* 1 and a piece, valid until the next call; 0 at the end; -1. */
int samples_next(samples *in, piece *p, fault *f);
int samples_rewind(samples *in, fault *f);

/* After the last piece, unless --quiet: say on standard error what was left out, cells or pages. */
void samples_remark(const samples *in);

/* The options to fill source i of the piece; i is 0 for a joint histogram. They refer to p. */
histo_fill_options piece_fill(const piece *p, int i);

/* ---- The files of a run, read in order, in any number of passes ---- */

typedef struct feed_file {
    const char *path;
    samples *open; /* between passes, only if it cannot be reopened */
    bool used;     /* read since it was opened or rewound */
} feed_file;

typedef struct feed {
    const settings *settings;
    bool keep; /* several passes are possible */
    int count;
    feed_file *files;
} feed;

int feed_open(feed *in, const settings *s, bool keep, fault *f);
void feed_close(feed *in);

/* The name of file i in messages. */
const char *feed_name(const feed *in, int i);

/* Open or rewind file i. */
samples *feed_begin(feed *in, int i, fault *f);
/* This pass over file i is over; it may be closed. */
void feed_end(feed *in, int i);

/* A pass over all files. enter (may be NULL) is called before each file's first piece. */
typedef struct feed_visitor {
    const char *verb; /* for the progress line: "counting" */
    int (*enter)(void *self, int file, const samples *in, fault *f);
    int (*take)(void *self, int file, const piece *p, fault *f);
    int (*leave)(void *self, int file, const samples *in, fault *f); /* may be NULL */
    void *self;
} feed_visitor;
int feed_visit(feed *in, const feed_visitor *visitor, fault *f);

#endif
