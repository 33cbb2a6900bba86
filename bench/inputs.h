/* The papers' inputs, made anew at any size. Each sample is a function of its index alone, so that an input is the same
 * for any number of threads. */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include <histo/histo.h>

/* What an input looks like. */
typedef enum bench_kind {
    /* 8-bit images; random and degenerate ones are arrays with a width */
    BENCH_FRACTAL = 0, /* neighbours differ: escape times near the edge of the Mandelbrot set */
    BENCH_MOON,        /* a bright disc with craters on black */
    BENCH_GRADIENT,    /* from the left to the right */
    BENCH_SMOOTH,      /* clouds: runs of nearly equal values, as in photographs */
    BENCH_CHECKER,     /* squares of two values */
    BENCH_PHOTO,       /* a given photograph, as tiles */
    /* arrays over the range of their axis */
    BENCH_UNIFORM,
    BENCH_DEGENERATE, /* one value */
    BENCH_CLUSTERED,  /* Gaussian: 99 % in the middle `shape` of the range */
    BENCH_WAFER,      /* index 256 * n + m of a joint histogram: n clustered as above, m around the middle */
    BENCH_DISTINCT,   /* the first `shape` bins */
    BENCH_ZIPF,       /* bin i as often as 1 / (i + 1) */
    BENCH_SORTED,     /* uniform, from the smallest to the largest */
    BENCH_SPREAD,     /* `shape` values, evenly over the range: of many bins, all in one bank of shared memory */
    BENCH_ON_EDGES,   /* every sample is the lower edge of a bin: all bins alike */
    BENCH_RUNS,       /* as a row of an image: runs of equal and nearly equal values */
    BENCH_COLOURS,    /* three channels of photographs: soft and sharp things of a few colours, with a camera's noise */
    BENCH_WEIGHTS,    /* whole multiples of BENCH_WEIGHT_UNIT in [0, 1), whose sums no order of additions rounds */
} bench_kind;

/* The bins of an array. */
typedef enum bench_axis_kind {
    BENCH_NATURAL = 0, /* one for each integer, or equal ones over [0, 1) */
    BENCH_QUANTILES,   /* edges at the quantiles of Gaussian data: narrow in the middle, wide outside */
    BENCH_QUADRATIC,   /* edges at (i / bins)^2 */
    BENCH_LOG,         /* logarithmic over [0.001, 1000) */
} bench_axis_kind;

/* How the samples of a fill lie in memory: see layout.h. */
typedef enum bench_layout {
    BENCH_ONE_ARRAY = 0,
    BENCH_RGBA,        /* pixels of four channels, each channel counted */
    BENCH_RGB_OF_RGBA, /* the first three of them */
    BENCH_RGB,         /* pixels of three channels */
    BENCH_IMAGES,      /* of 256 x 256, a histogram each, 10,000 at most */
    BENCH_REGION,      /* of a wider image: rows apart, and at odd addresses */
    BENCH_MASK,        /* an array with a mask, which leaves every other sample out */
    BENCH_1080P,       /* one image */
    BENCH_4K,
    BENCH_RING,  /* a stack of images, whose pairs are counted in two axes: see histo_pairs */
    BENCH_APART, /* the same in other pairs */
    BENCH_LAYOUTS
} bench_layout;

typedef struct bench_photo {
    const char *name;
    const uint8_t *pixels; /* height rows of width */
    int64_t width, height;
} bench_photo;

enum { BENCH_MAX_AXES = 3, BENCH_STACKED = 16 /* images of a stack */ };

/* Sums of weights of 2^37 samples are below 2^53 of it. */
#define BENCH_WEIGHT_UNIT 0x1p-16

typedef struct bench_input {
    char name[112]; /* "moon/4k", "uniform/u32/4096" */
    bench_kind kind;
    double shape;          /* what the kind says; else 0 */
    int64_t width, height; /* of an image; else 0 */
    const bench_photo *photo;
    histo_dtype dtype;
    int64_t bins; /* in all */
    bench_axis_kind axis;
    /* Of a joint histogram: its axes, all of `dtype`, and the bins of each. 0 axes: it is of one, and `bins` says it.
     */
    int axes;
    int64_t each[BENCH_MAX_AXES];
    bool sparse;      /* counted into a sparse histogram */
    bool interleaved; /* samples of all axes side by side; else columns one behind the other */
    bench_layout layout;
    histo_weighting weighting;
    histo_dtype weights; /* if weighted */
} bench_input;

/* All inputs of the gallery, the photographs' among them (which stay where they are); free it. NULL without memory. */
bench_input *bench_inputs_list(const bench_photo *photos, int photo_count, int *count);

/* Is it on the list "NAME,NAME…"? A name selects also what goes on behind it with '/' or '-': "uniform", "distinct". */
bool bench_input_selected(const bench_input *input, const char *list);

/* edges: bins + 1 doubles that the axis may need, and then refers to. */
histo_axis bench_input_axis(const bench_input *input, double *edges);

/* Axes of its histogram, and axis a of a joint one. */
int bench_input_axes(const bench_input *input);
histo_axis bench_joint_axis(const bench_input *input, int a);

/* Bytes of n samples, which are of all axes; of samples [first, first + n) of `all` the view of axis a. */
size_t bench_input_bytes(const bench_input *input, int64_t n);
histo_view bench_input_view(const bench_input *input, const void *samples, int64_t all, int64_t first, int64_t n,
                            int a);

/* Write n samples; of an image, at most all its pixels. axis: the input's, or all of its axes. */
void bench_input_make(const bench_input *input, const histo_axis *axis, int64_t n, void *samples);

#endif
