/* The papers' inputs, generated at any size. Each sample is a function of its index alone, so any number of threads
 * makes the same input. */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include <histo/histo.h>
#include <stdio.h>

/* What the samples look like. */
typedef enum bench_kind {
    /* 8-bit images; random and degenerate images are arrays with a width */
    BENCH_FRACTAL = 0, /* escape times near the edge of the Mandelbrot set: neighbours differ */
    BENCH_MOON,        /* a bright disc with craters on black */
    BENCH_GRADIENT,    /* from left to right */
    BENCH_SMOOTH,      /* clouds: runs of nearly equal values, as in photographs */
    BENCH_CHECKER,     /* squares of two values */
    BENCH_PHOTO,       /* a given photograph, tiled */
    /* arrays over the range of their axis */
    BENCH_UNIFORM,
    BENCH_DEGENERATE,  /* a single value */
    BENCH_CLUSTERED,   /* Gaussian: 99 % in the middle `shape` of the range */
    BENCH_WAFER,       /* flat index 256 * n + m of a joint histogram: n clustered as above, m around the middle */
    BENCH_WAFER_PAIRS, /* the same of images: n their pairs' differences, scaled by their mean m */
    BENCH_WAFER_FLAT,  /* the same, uniform in the middle `shape` of n and `across` of m */
    BENCH_MIDDLE,      /* uniform in the middle `shape` of the range */
    BENCH_NORMALS,     /* `shape` Gaussians side by side, equally likely */
    BENCH_DISTINCT,    /* the first `shape` bins */
    BENCH_ZIPF,        /* bin i with a probability proportional to 1 / (i + 1) */
    BENCH_SORTED,      /* uniform, in increasing order */
    BENCH_CHUNKS,      /* uniform, in increasing order within chunks of `shape` samples */
    BENCH_SPREAD,   /* `shape` values evenly spaced over the range: with many bins, all in one bank of shared memory */
    BENCH_ON_EDGES, /* every sample is the lower edge of a bin, all bins equally likely */
    BENCH_RUNS,     /* runs of equal and nearly equal values, as in a row of an image */
    BENCH_COLOURS,  /* three channels of photographs: soft and sharp shapes of a few colours, with a camera's noise */
    BENCH_WEIGHTS,  /* multiples of BENCH_WEIGHT_UNIT in [0, 1), whose sums are exact in any order */
} bench_kind;

/* The bins of an array. */
typedef enum bench_axis_kind {
    BENCH_NATURAL = 0, /* one per integer, or equal bins over [0, 1) */
    BENCH_QUANTILES,   /* edges at the quantiles of Gaussian data: narrow in the middle, wide at the ends */
    BENCH_QUADRATIC,   /* edges at (i / bins)^2; of integers, at the whole numbers nearest below, all different */
    BENCH_LOG,         /* logarithmic over [0.001, 1000) */
} bench_axis_kind;

/* Memory layout of the samples of a fill: see layout.h. */
typedef enum bench_layout {
    BENCH_ONE_ARRAY = 0,
    BENCH_RGBA,        /* pixels of four channels, all counted */
    BENCH_RGB_OF_RGBA, /* pixels of four channels, the first three counted */
    BENCH_RGB,         /* pixels of three channels */
    BENCH_IMAGES,      /* 256 x 256 pixels, a histogram each, up to 10,000 images */
    BENCH_REGION,      /* a region of a wider image: strided rows at odd addresses */
    BENCH_MASK,        /* an array with a mask that excludes every other sample */
    BENCH_1080P,       /* one image */
    BENCH_4K,
    BENCH_RING,  /* a stack of images whose pairs are counted on two axes: see histo_hist_fill_pairs */
    BENCH_APART, /* the same with disjoint pairs */
    BENCH_LAYOUTS
} bench_layout;

typedef struct bench_photo {
    const char *name;
    const uint8_t *pixels; /* height rows of width */
    int64_t width, height;
} bench_photo;

enum { BENCH_MAX_AXES = 3, BENCH_STACKED = 16 /* images in a stack */ };

/* The weights of 2^37 samples add up to less than 2^53 units. */
#define BENCH_WEIGHT_UNIT 0x1p-16

/* What an array's samples look like, by name: "uniform", "distinct-4", "wafer-a3". */
typedef struct bench_distribution {
    char name[16];
    bench_kind kind;
    double shape, across;
} bench_distribution;

typedef struct bench_input {
    char name[112]; /* "moon/4k", "uniform/u32/4096" */
    bench_kind kind;
    double shape, across;  /* parameters of the kind; else 0 */
    int64_t width, height; /* of an image; else 0 */
    const bench_photo *photo;
    histo_dtype dtype;
    int64_t bins; /* in all */
    bench_axis_kind axis;
    /* Joint histograms: how many axes, all of `dtype`, and the bins of each. 0 axes: one axis of `bins`. */
    int axes;
    int64_t each[BENCH_MAX_AXES];
    bool sparse;      /* counted into a sparse histogram */
    bool interleaved; /* samples of all axes interleaved; else one column after the other */
    bench_layout layout;
    histo_weighting weighting;
    histo_dtype weights; /* if weighted */
} bench_input;

/* All inputs of the gallery, including the photographs, which are referred to. Free it; NULL without memory. */
bench_input *bench_inputs_list(const bench_photo *photos, int photo_count, int *count);

/* Print the names, and what they mean. */
void bench_inputs_describe(FILE *to);

/* HISTO_INVALID for an unknown name, with a message that lists them. */
histo_status bench_distribution_parse(const char *name, bench_distribution *distribution);

/* Any input by its name, on the list or not: DISTRIBUTION/TYPE/BINS, with stored edges of unequal width
 * DISTRIBUTION/TYPE/BINS/edges, or IMAGE/1080p, IMAGE/4k, IMAGE/WIDTHxHEIGHT. */
histo_status bench_input_parse(const char *name, bench_input *input);

/* An array of this distribution, named. */
bench_input bench_input_of(const bench_distribution *distribution, histo_dtype dtype, int64_t bins);

/* True for types that inputs can have, and for numbers of bins that a distribution can have of a type. */
bool bench_dtype_made(histo_dtype dtype);
bool bench_bins_possible(const bench_distribution *distribution, histo_dtype dtype, int64_t bins);

/* Is it on the list "NAME,NAME…"? A name also selects inputs that continue it with '/' or '-': "uniform", "distinct".
 */
bool bench_input_selected(const bench_input *input, const char *list);

/* edges: room for bins + 1 doubles, to which the axis may refer. */
histo_axis bench_input_axis(const bench_input *input, double *edges);

/* How many axes its histogram has, and axis a of a joint one. */
int bench_input_axes(const bench_input *input);
histo_axis bench_joint_axis(const bench_input *input, int a);

/* Bytes of n samples of all axes; the view of samples [first, first + n) of `all` on axis a. */
size_t bench_input_bytes(const bench_input *input, int64_t n);
histo_view bench_input_view(const bench_input *input, const void *samples, int64_t all, int64_t first, int64_t n,
                            int a);

/* Write n samples; of an image, at most all its pixels. axis: the input's axis or axes. */
void bench_input_make(const bench_input *input, const histo_axis *axis, int64_t n, void *samples);

#endif
