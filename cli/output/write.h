/* Writing a result: -o FILE by suffix, --to FORMAT, a drawing on a terminal, TSV in a pipe. The output is opened before
 * any input is read, so that an unwritable path is reported at once. */
#ifndef CLI_WRITE_H
#define CLI_WRITE_H

#include "count/result.h"
#include "options/settings.h"
#include "output/outfile.h"

/* An output format; writers/writers.h declares all. */
typedef struct writer {
    const char *name; /* as in outputs.def */
    bool binary;      /* not for terminals */
    bool shows_stats; /* uses the series' stats */
    bool saves_moments;
    bool mixes;      /* accepts series with different numbers of axes or weightings */
    bool one_sparse; /* accepts at most one sparse histogram */
    int max_axes;    /* of a histogram; 0: any number */
    /* Is all that it needs there, for the file of this name? NULL: it needs nothing. */
    int (*prepare)(const char *name, fault *f);
    /* Does the terminal show it? Asked where it is written to one. NULL: any does. */
    int (*ask_terminal)(fault *f);
    /* Write r to the stream of o. */
    int (*write)(const result *r, const settings *s, outfile *o, fault *f);
} writer;

typedef struct output {
    const settings *settings;
    const writer *writer;
    outfile *file;
} output;

/* A zeroed `to` may be closed even if this fails. */
int output_open(output *to, const settings *s, fault *f);
/* What it needs. */
moments_kind output_moments(const output *to);
int output_write(output *to, const result *r, fault *f);
/* Leaves no file if nothing was written. */
void output_close(output *to);

/* The frame of a subcommand that makes and writes a result: runs `run`, frees everything, reports a fault, and returns
 * the exit status. */
int output_command(const settings *s, int (*run)(const settings *s, output *to, result *r, fault *f));

#endif
