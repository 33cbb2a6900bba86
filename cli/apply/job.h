/* A job maps an image to an image: it counts the tones of the image, makes a map of each histogram, and writes the
 * mapped image. It works in bands of rows, so the image may be larger than memory. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "apply/levels.h"
#include "apply/pages.h"
#include "apply/tones.h"
#include "base/scratch.h"
#include "input/samples/mask.h"
#include "output/images/images.h"

typedef struct job job;

/* The samples counted in a band, and how to fill histograms with them. */
typedef struct job_part {
    int page;
    int64_t y, x, rows, cols; /* position in the page */
    histo_view mask;
    histo_fill_options fill;
} job_part;

typedef int job_take(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f);

typedef struct job_kind {
    const char *verb;  /* for the progress line: "equalizing" */
    const char *color; /* default of --color; NULL: luma */
    int64_t bins;      /* for floats and large integers; 0: default */
    bool reads_only;   /* the command may have no result */
    bool by_page;      /* each page is a unit, unless --tiles has pages */
    bool shows;        /* supports --to 8bit */
    bool classes;      /* the result is a single u8 channel */
    /* Check options, and set what differs from the defaults, before samples are read. May be NULL. */
    int (*begin)(job *j, fault *f);
    /* Passes over the samples of a unit, with job_visit. NULL: find levels, and count histograms on them. */
    int (*gather)(job *j, fault *f);
    bool gathers_counts; /* for video, uses hists[0], the counts of the last frames */
    /* Make maps[table], after these passes. */
    int (*make)(job *j, int table, fault *f);
    /* Write the mapped samples of a tone to `to`. NULL: use maps[table]. */
    int (*apply)(job *j, int i, const band *b, const histo_view *from, const histo_view *to, fault *f);
    void (*end)(job *j); /* free what `begin` allocated; may be NULL */
} job_kind;

struct job {
    const settings *settings;
    const job_kind *kind;
    pages *pages;
    image_file *out; /* or NULL */
    tones tones;
    mask mask;
    int mask_page;         /* its current page; -1: none */
    int64_t largest;       /* the largest possible sample; 0: the dtype's maximum */
    bool boolean;          /* samples are 0 and 1, and stay so */
    bool turns;            /* the result is inverted, because white was the smallest value */
    int turning;           /* what 0 becomes in that case */
    histo_dtype dtype;     /* of the result */
    int64_t top;           /* the largest value of an 8-bit result (apply/eight_bits.h); 0: the result has the image's
                            * type */
    int unit;              /* from 0; for video, the frame */
    const band *frame;     /* for video: the luma plane; NULL: pages */
    int64_t pages_read;    /* in the last pass */
    int64_t pages_written; /* begun, in the unit */
    levels *levels;        /* [tones.tables] */
    histo_hist **hists;    /* [tones.tables] */
    histo_map **maps;      /* [tones.tables] */
    histo_plan *plan;
    bool plan_masks; /* the plan is for samples with a mask */
    scratch rows;    /* rows of the result */
    scratch wide;    /* the same in the image's type, for an 8-bit result */
    scratch marks;   /* for a tone in a band: the samples left by the mask and missing values */
    bool gaps;       /* the result's format marks pixels without a value */
    int64_t unsaid;  /* number of pixels without a value that the result does not mark */
    settings *other; /* from job_open; owned */
    void *own;       /* private to the kind */
};

/* Allocate the levels, histograms and maps of j->tones.tables tables. */
int job_make_tables(job *j, fault *f);
/* "in.png" or "standard input" */
const char *job_name(const job *j);
/* Count the samples of the unit in hists. */
int job_fill(job *j, fault *f);
/* Pass the counted samples of all tones of the unit to `take`, and rewind to its beginning. */
int job_visit(job *j, job_take *take, void *context, fault *f);
/* Fail because there is nothing to count, and say why. Returns -1. */
int job_fault_nothing(const job *j, fault *f);
/* The smallest and largest value of the table's results. */
void job_results(const job *j, int table, double *lo, double *hi);
/* Make maps[table] on the levels of a table, with all values zero. */
int job_new_map(job *j, int table, histo_within within, fault *f);
/* The same on this axis. */
int job_axis_map(job *j, int table, const histo_axis *axis, histo_within within, fault *f);
/* Make a piecewise linear map: from[k] maps to to[k]; outside, values are constant or, with extend, extrapolated. from
 * is non-decreasing; of equal points, the last counts. -1 without a sentence if all are equal. */
int job_line_map(job *j, int table, int n, const double *from, const double *to, bool extend, fault *f);

/* Make an identity map, for video frames that have nothing to make one from. */
int job_same_map(job *j, int table, fault *f);

/* Open another image whose tones are chosen like the job's, with its own mask, which may be NULL. job_close frees it,
 * also on failure. */
int job_open(job *other, const job *like, const char *path, const char *mask_path, fault *f);
/* Open the input. */
int job_open_pages(job *j, const char *path, fault *f);
/* Then choose its tones, open its mask, and make a table for each tone. */
int job_choose_tones(job *j, const char *mask_path, const char *color, fault *f);
/* Find the levels of each tone in this unit. */
int job_find_levels(job *j, fault *f);
/* Find the levels, and count histograms on them. */
int job_count(job *j, fault *f);
void job_close(job *j);

#endif
