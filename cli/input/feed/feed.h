/* The files of a run, or a shard's part of them, read in order, in any number of passes. */
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

/* A position between two pieces of a pass. */
typedef struct feed_place {
    int file;
    samples_place in_file;
} feed_place;

typedef struct feed {
    const settings *settings;
    bool keep; /* several passes are possible */
    int count;
    feed_file *files;
    bool settled;                        /* the kind of columns without a value in the first file is known */
    channel_forms own_forms, *forms;     /* of the counted sources; NULL: only numbers */
    named_columns own_columns, *columns; /* the counted columns in all files */
    division division;                   /* for --shard */
    int64_t shard;                       /* that passes read, from 0; may be changed between them */
    int open;                            /* the file that a shard has open */
    int held;                            /* number of held files */
    feed_place at;                       /* where the next pass begins; during a pass, the position after the last
                                          * piece */
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
/* End this pass over file i, which may then be closed. */
void feed_end(feed *in, int i);
/* Whether another pass would decode nothing. */
bool feed_keeps_all(const feed *in);

/* A pass over all files. enter (may be NULL) is called before each file's first piece. */
typedef struct feed_visitor {
    const char *verb; /* for the progress line: "counting"; NULL: none */
    int (*enter)(void *self, int file, const samples *in, fault *f);
    int (*take)(void *self, int file, const piece *p, fault *f);
    int (*pause)(void *self, fault *f); /* after each piece, with the feed's position after it; may be NULL */
    int (*leave)(void *self, int file, const samples *in, fault *f); /* may be NULL */
    void *self;
} feed_visitor;
int feed_visit(feed *in, const feed_visitor *visitor, fault *f);

#endif
