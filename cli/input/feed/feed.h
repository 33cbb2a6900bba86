/* The files of a run, or what a shard has of them, read in order, in any number of passes. */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include "input/samples/samples.h"
#include "shards/division.h"

typedef struct feed_file {
    const char *path;
    samples *open; /* between passes, only if it cannot be reopened, or is held */
    bool used;     /* read since it was opened or rewound */
    bool held;     /* decoded bands are cached for the next pass */
} feed_file;

/* Between two pieces of a pass. */
typedef struct feed_place {
    int file;
    samples_place in_file;
} feed_place;

typedef struct feed {
    const settings *settings;
    bool keep; /* several passes are possible */
    int count;
    feed_file *files;
    bool settled;                        /* what columns are that have no value in the first file */
    channel_forms own_forms, *forms;     /* of the counted sources; NULL: only numbers */
    named_columns own_columns, *columns; /* which they are in all files */
    division division;                   /* of --shard */
    int64_t shard;                       /* that passes take, from 0; may be changed between them */
    int open;                            /* the file that a shard has open */
    int held;                            /* files that are */
    feed_place at;                       /* the next pass begins here; where the current one is, after the last piece */
} feed;

int feed_open(feed *in, const settings *s, bool keep, fault *f);
void feed_close(feed *in);

/* Read open files again in the forms that have changed. */
int feed_reform(feed *in, fault *f);

/* Before more passes over regular files than were expected. */
void feed_keep(feed *in);

/* The name of file i in messages. */
const char *feed_name(const feed *in, int i);

/* Open or rewind file i. */
samples *feed_begin(feed *in, int i, fault *f);
/* This pass over file i is over; it may be closed. */
void feed_end(feed *in, int i);
/* Would another pass decode nothing? */
bool feed_keeps_all(const feed *in);

/* A pass over all files. enter (may be NULL) is called before each file's first piece. */
typedef struct feed_visitor {
    const char *verb; /* for the progress line: "counting"; NULL: none */
    int (*enter)(void *self, int file, const samples *in, fault *f);
    int (*take)(void *self, int file, const piece *p, fault *f);
    int (*pause)(void *self, fault *f); /* after each piece, with the feed's place behind it; may be NULL */
    int (*leave)(void *self, int file, const samples *in, fault *f); /* may be NULL */
    void *self;
} feed_visitor;
int feed_visit(feed *in, const feed_visitor *visitor, fault *f);

#endif
