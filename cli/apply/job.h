/* A job turns an image into an image: it counts the tones of the image, makes a map of each histogram, and writes the
 * mapped image. In bands of rows, so that the image may be larger than memory. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "apply/levels.h"
#include "apply/pages.h"
#include "apply/tones.h"
#include "base/scratch.h"
#include "input/samples/mask.h"
#include "output/images/images.h"

typedef struct job job;

/* Where counted samples are, and how to fill histograms with them. */
typedef struct job_part {
    int page;
    int64_t y, x, rows, cols; /* in the page */
    histo_view mask;
    histo_fill_options fill;
} job_part;

typedef int job_take(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f);

typedef struct job_kind {
    const char *verb;  /* for the progress line: "equalizing" */
    const char *color; /* --color if it is not given; NULL: luma */
    int64_t bins;      /* of floats and large integers; 0: the default */
    bool reads_only;   /* may be without a result */
    bool by_page;      /* each page is a unit, unless --tiles has pages */
    bool shows;        /* takes --to 8bit */
    bool classes;      /* the result is one channel of u8 */
    /* Check options, and set what differs from the defaults, before samples are read. May be NULL. */
    int (*begin)(job *j, fault *f);
    /* Passes over the samples of a unit, with job_visit. NULL: levels, and histograms on them. */
    int (*gather)(job *j, fault *f);
    bool gathers_counts; /* of video, from hists[0], the counts of the last frames */
    /* Make maps[table], after these passes. */
    int (*make)(job *j, int table, fault *f);
    /* Write the mapped samples of a tone to `to`. NULL: by maps[table]. */
    int (*apply)(job *j, int i, const band *b, const histo_view *from, const histo_view *to, fault *f);
    void (*end)(job *j); /* free what `begin` made; may be NULL */
} job_kind;

struct job {
    const settings *settings;
    const job_kind *kind;
    pages *pages;
    image_file *out; /* or NULL */
    tones tones;
    mask mask;
    int mask_page;      /* that it stands at; -1: none */
    int64_t largest;    /* value of samples; 0: the dtype's */
    bool boolean;       /* they are 0 and 1, and stay so */
    bool turns;         /* the values of the result are turned round: white was the smallest */
    int turning;        /* what 0 becomes then */
    histo_dtype dtype;  /* of the result */
    int64_t top;        /* the largest value of a result of 8 bits (apply/eight_bits.h); 0: it has the image's type */
    int unit;           /* from 0; of video, the frame */
    const band *frame;  /* of video: its luma; NULL: pages */
    int64_t pages_read; /* in the last pass */
    int64_t pages_written; /* begun, of the unit */
    levels *levels;        /* [tones.tables] */
    histo_hist **hists;    /* [tones.tables] */
    histo_map **maps;      /* [tones.tables] */
    histo_plan *plan;
    bool plan_masks; /* the plan is for samples with a mask */
    scratch rows;    /* of the result */
    scratch wide;    /* the same in the image's type, for a result of 8 bits */
    scratch marks;   /* of a tone in a band: what the mask and missing samples leave */
    bool gaps;       /* the result's format says which pixels have no value */
    int64_t unsaid;  /* pixels without a value that the result has as if they had one */
    settings *other; /* of job_open; owned */
    void *own;       /* of the kind */
};

/* Memory for the levels, histograms and maps of j->tones.tables tables. */
int job_make_tables(job *j, fault *f);
/* "in.png" or "standard input" */
const char *job_name(const job *j);
/* Count the samples of the unit in hists. */
int job_fill(job *j, fault *f);
/* Pass the counted samples of all tones of the unit to `take`, and go back to its beginning. */
int job_visit(job *j, job_take *take, void *context, fault *f);
/* Is nothing left to count? Says why. Returns -1. */
int job_fault_nothing(const job *j, fault *f);
/* The smallest and the largest value of the table's results. */
void job_results(const job *j, int table, double *lo, double *hi);
/* A map on the levels of a table, with all values zero: maps[table]. */
int job_new_map(job *j, int table, histo_within within, fault *f);
/* A map on this axis, likewise. */
int job_axis_map(job *j, int table, const histo_axis *axis, histo_within within, fault *f);
/* A map of straight lines: from[k] has the value to[k], and outside the values stay or, with extend, the lines go on.
 * from increases; where it does not, the last of equals counts. -1 without a sentence if all are equal. */
int job_line_map(job *j, int table, int n, const double *from, const double *to, bool extend, fault *f);

/* A map that changes nothing, for frames of video that have nothing to make one of. */
int job_same_map(job *j, int table, fault *f);

/* Another image whose tones are chosen as the job's, with its own mask, which may be NULL. job_close frees it, also on
 * failure. */
int job_open(job *other, const job *like, const char *path, const char *mask_path, fault *f);
/* Open the input. */
int job_open_pages(job *j, const char *path, fault *f);
/* After that, choose its tones, open its mask, and make a table for each tone. */
int job_choose_tones(job *j, const char *mask_path, const char *color, fault *f);
/* Find the levels of each tone in this unit. */
int job_find_levels(job *j, fault *f);
/* Find the levels, and count histograms on them. */
int job_count(job *j, fault *f);
void job_close(job *j);

#endif
