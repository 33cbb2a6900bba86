/* The input files of one run, read one after the other, as often as there are passes. */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include "input/samples.h"

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
