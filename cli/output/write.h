/* Writing a result: -o FILE by suffix, --to FORMAT, a drawing on a terminal, TSV in a pipe. The output is opened before
 * any input is read, so that an unwritable path is reported immediately. */
#ifndef CLI_WRITE_H
#define CLI_WRITE_H

#include "count/result.h"
#include "options/settings.h"
#include "output/outfile.h"

/* An output format; all are declared in writers/writers.h. */
typedef struct writer {
    const char *name; /* as in outputs.def */
    bool binary;      /* not for terminals */
    bool shows_stats; /* uses the series' stats */
    bool saves_moments;
    bool mixes;      /* accepts series that differ in number of axes or weighting */
    bool one_sparse; /* accepts at most one sparse histogram */
    int max_axes;    /* per histogram; 0: any number */
    /* Check that everything it needs is available, for a file with this name. NULL: it needs nothing. */
    int (*prepare)(const char *name, fault *f);
    /* Check that the terminal can show it, when writing to one. NULL: any can. */
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
/* The moments that it needs. */
moments_kind output_moments(const output *to);
int output_write(output *to, const result *r, fault *f);
/* Leaves no file if nothing was written. */
void output_close(output *to);

/* The common part of subcommands that make and write a result: calls `run`, frees everything, reports a fault, and
 * returns the exit status. */
int output_command(const settings *s, int (*run)(const settings *s, output *to, result *r, fault *f));

#endif
