/* Random problems: what to count, from where and how, in one line of text that reproduces it on every machine. */
#ifndef BENCH_RANDOM_PROBLEM_H
#define BENCH_RANDOM_PROBLEM_H

#include <histo/histo.h>
#include <stdbool.h>

/* How samples are distributed over the bins, in the order of memory. `shape` is the parameter. */
typedef enum problem_kind {
    PROBLEM_UNIFORM = 0,
    PROBLEM_ONE,       /* a single value */
    PROBLEM_NORMAL,    /* around the middle, with a deviation of `shape` times the range */
    PROBLEM_ZIPF,      /* bin i with a probability proportional to 1 / (i + 1)^shape */
    PROBLEM_SCATTERED, /* the same with the bins in another order */
    PROBLEM_DISTINCT,  /* the first `shape` bins */
    PROBLEM_SPREAD,    /* `shape` bins evenly spaced */
    PROBLEM_EDGES,     /* on edges, and the closest values on both sides */
    PROBLEM_SORTED,    /* uniform, in increasing order */
    PROBLEM_PIECES,    /* sorted pieces of `shape` samples */
    PROBLEM_RUNS,      /* runs of `shape` equal or nearly equal values */
    PROBLEM_SAW,       /* from the first bin to the last in `shape` samples, again and again */
    PROBLEM_WAFER,     /* in rows of 256 bins: normal over the rows, normal within a row */
    PROBLEM_MIXTURE,   /* one value, two narrow peaks, and uniform samples; `shape` is the share of the first three */
    PROBLEM_PHOTO,     /* a row of pixels: slow changes, steps and noise */
    PROBLEM_KINDS
} problem_kind;

/* The edges of a HISTO_VARIABLE axis between lo and hi. */
typedef enum problem_edges {
    PROBLEM_JITTER = 0, /* bins of nearly equal width */
    PROBLEM_GAPS,       /* random widths */
    PROBLEM_UNEQUAL,    /* widths that differ by up to a million */
    PROBLEM_QUADRATIC,  /* (i / bins)^2 */
    PROBLEM_FLOATS,     /* those of a regular axis, rounded to float */
    PROBLEM_EDGE_KINDS
} problem_edges;

typedef enum problem_layout {
    PROBLEM_ARRAY = 0,  /* one dimension */
    PROBLEM_STRIDED,    /* every stride-th; backwards if it is negative */
    PROBLEM_TABLE,      /* rows of `channels` columns; the axes are the first columns */
    PROBLEM_REGION,     /* rows of a wider image */
    PROBLEM_FLIPPED,    /* the same from the last row to the first */
    PROBLEM_TRANSPOSED, /* an image in Fortran order */
    PROBLEM_CHANNEL,    /* one channel of `channels` */
    PROBLEM_CHANNELS,   /* interleaved channels, of which the first `batch` are counted, each into its histogram */
    PROBLEM_IMAGES,     /* `batch` images, a histogram each; with a height of 1 the rows of a matrix */
    PROBLEM_COLUMNS,    /* the columns of a matrix, a histogram each */
    PROBLEM_SEGMENTS,   /* `batch` segments of different lengths */
    PROBLEM_LAYOUTS
} problem_layout;

typedef enum problem_place {
    PROBLEM_CPU = 0,
    PROBLEM_DEVICE,   /* in the GPU's memory */
    PROBLEM_PINNED,   /* page-locked host memory, for the GPU to count */
    PROBLEM_PAGEABLE, /* any host memory, likewise */
    PROBLEM_PLACES
} problem_place;

typedef struct problem_axis {
    histo_dtype type;
    histo_axis_kind kind;
    problem_edges edges; /* of HISTO_VARIABLE */
    bool closed;
    int64_t bins;
    double lo, hi; /* hi of HISTO_INTEGER follows from the bins */
    double power;  /* of HISTO_POWER */
} problem_axis;

typedef struct random_problem {
    uint64_t seed; /* of samples, edges, weights, masks and segments */
    int axes;
    problem_axis axis[HISTO_MAX_AXES];
    histo_storage storage;
    problem_kind kind;
    double shape;
    bool by_value;    /* the samples are distributed over the range, whatever the widths of the bins */
    double flow, nan; /* the fractions of samples that are outside, and that are NaN */
    problem_layout layout;
    int64_t samples, batch, height; /* in all; samples = batch * height * width, but in segments */
    int64_t channels, stride;
    int64_t pitch;  /* samples between rows; 0: rows are contiguous */
    int64_t offset; /* bytes before the first sample */
    histo_weighting weighting;
    histo_dtype weights; /* if weighted */
    double mask;         /* the fraction of samples that a mask lets through; 1: there is none */
    histo_dtype mask_type;
    int64_t mask_run; /* the length of its runs, in samples */
    double where;     /* likewise, of a range filter */
    histo_dtype where_type;
    bool alike; /* weights, mask and filter have the samples' layout; else they are contiguous */
    problem_place place;
} random_problem;

enum { PROBLEM_LINE_BYTES = 2048, PROBLEM_MIN_SAMPLES = 256 };

/* The i-th problem of a seed, with at most most_samples: the same on every machine. On the CPU (on_gpu is false) its
 * place is PROBLEM_CPU. */
random_problem problem_draw(uint64_t seed, int64_t i, int64_t most_samples, bool on_gpu);

/* "n=1048576 type=u16 axis=integer bins=5000 lo=0 dist=zipf:1.25 seed=…", which problem_parse reads. Returns line. */
char *problem_print(const random_problem *p, char line[PROBLEM_LINE_BYTES]);

/* HISTO_INVALID with one sentence if the line is not a problem. */
histo_status problem_parse(const char *line, random_problem *p);

/* Conditions "layout=channels,type=u16|i16,n=2^20..2^24": each must hold for one of its alternatives. HISTO_INVALID for
 * an unknown key or value. */
histo_status problem_filter_check(const char *filter);
bool problem_matches(const random_problem *p, const char *filter);

/* How operands of a problem lie in memory. Strides are in samples, shapes have `ndim` dimensions. */
typedef struct problem_shape {
    int ndim, batch_ndim;
    int64_t shape[3], strides[3];
    int64_t first;  /* the position of the first sample in memory */
    int64_t stored; /* samples in memory, gaps included */
} problem_shape;

problem_shape
problem_samples_shape(const random_problem *p); /* of the column of an axis: a table has another one behind it */
problem_shape problem_others_shape(const random_problem *p); /* of weights, mask and filter */

/* Where in the random numbers a stream, 0 … 255, of a problem begins: they are random_bits(0, begin + i). */
int64_t problem_stream(const random_problem *p, uint64_t stream);

/* Slots of all histograms; -1 if they exceed 2^62. */
int64_t problem_slots(const random_problem *p);

/* Write the edges of an axis, which the problem's axis then refers to if it is HISTO_VARIABLE. */
histo_axis problem_axis_make(const random_problem *p, int a, double *edges);

/* Offsets of segments, [batch + 1]. */
void problem_offsets(const random_problem *p, int64_t *offsets);

#endif
