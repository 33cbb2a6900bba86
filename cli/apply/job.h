/* A command that turns an image into an image: it counts the tones of the image, makes a map of each histogram, and
 * writes the mapped image. In bands of rows, so that the image may be larger than memory.
 *
 *     static int make(job *j, int table, fault *f) { … histo_map_equalize(j->maps[table], j->hists[table], …); }
 *     static const job_kind equalize = {.verb = "equalizing", .make = make};
 *     int command_equalize(const settings *s) { return job_command(s, &equalize); }
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "apply/levels.h"
#include "apply/pages.h"
#include "apply/tones.h"
#include "input/mask.h"
#include "output/images/images.h"

typedef struct job job;

typedef struct job_kind {
    const char *verb; /* for the progress line: "equalizing" */
    int64_t bins;     /* of floats and large integers; 0: the default */
    /* Check options, and set what differs from the defaults, before samples are read. May be NULL. */
    int (*begin)(job *j, fault *f);
    /* Write the values of maps[table], made from hists[table] on levels[table]. */
    int (*make)(job *j, int table, fault *f);
    void (*end)(job *j); /* free what `begin` made; may be NULL */
} job_kind;

struct job {
    const settings *settings;
    const job_kind *kind;
    pages *pages;
    image_file *out;
    tones tones;
    mask *mask;      /* or NULL */
    int mask_page;   /* that it stands at; -1: none */
    int64_t largest; /* value of samples; 0: the dtype's */
    int64_t pages_read;
    levels *levels;     /* [tones.tables] */
    histo_hist **hists; /* [tones.tables] */
    histo_map **maps;   /* [tones.tables] */
    histo_plan *plan;
    unsigned char *rows; /* of the result */
    size_t rows_size;
    void *own; /* of the kind */
};

/* The whole command: returns the exit status. */
int job_command(const settings *s, const job_kind *kind);

/* Memory for the levels, histograms and maps of j->tones.tables tables. */
int job_make_tables(job *j, fault *f);
/* "in.png" or "standard input" */
const char *job_name(const job *j);
/* A map on the levels of a table, with all values zero: j->maps[table]. */
int job_new_map(job *j, int table, fault *f);

#endif
