/* Writing a result: -o FILE by suffix, --to FORMAT, the drawing on a terminal, TSV in a pipe. The output is opened
 * before anything is read, so that an unwritable place is reported at once. */
#ifndef CLI_WRITE_H
#define CLI_WRITE_H

#include "count/result.h"
#include "options/settings.h"
#include "output/outfile.h"

/* A format of output: writers/writers.h declares them. */
typedef struct writer {
    const char *name; /* as in outputs.def */
    bool binary;      /* refused on a terminal */
    bool shows_stats; /* uses the series' stats */
    bool mixes;       /* takes series whose numbers of axes or weightings differ */
    bool one_sparse;  /* takes no more than one sparse histogram */
    int max_axes;     /* of a histogram; 0: any number */
    /* Write r to the stream of o. */
    int (*write)(const result *r, const settings *s, outfile *o, fault *f);
} writer;

typedef struct output {
    const settings *settings;
    const writer *writer;
    outfile *file;
} output;

/* NULL-initialised `to` may be closed even if this fails. */
int output_open(output *to, const settings *s, fault *f);
int output_write(output *to, const result *r, fault *f);
/* Leaves nothing behind if nothing was written. */
void output_close(output *to);

/* The frame of a subcommand that makes a result and writes it: runs `run`, frees everything, reports a fault, and gives
 * the exit status. */
int output_command(const settings *s, int (*run)(const settings *s, output *to, result *r, fault *f));

#endif
