/* Maps: from a sample to its bin, and on to a value. Include histo/histo.h. */
#ifndef HISTO_MAP_H
#define HISTO_MAP_H

#include <histo/numbers.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Maps: from a sample to its bin to a value -------------------------------------------------------- */

/* A map has axes, on which a sample has a slot exactly as in a histogram, and a table with a value for each slot:
 * lookup tables for images, equalization, matching, normalization, class numbers, back projection. The caller writes
 * the values, or has them made from histograms. Results have the same bits for any number of threads. */
typedef struct histo_map histo_map;

enum histo_within HISTO_ENUM_BASE {
    /* A value for each slot, flow included. */
    HISTO_MAP_STEP = 0,
    /* One axis: a value for each edge, and linear interpolation between edges. Samples outside have the value of the
     * nearest edge; NaN stays NaN. */
    HISTO_MAP_LINEAR
};
typedef HISTO_ENUM(histo_within) histo_within;

typedef struct histo_map_options {
    int64_t batch;       /* number of tables, default 1: one for each batch entry of the samples, or for each tile of an
                          * image */
    histo_within within; /* default HISTO_MAP_STEP */
    uint64_t reserved[8];
} histo_map_options;

/* Create a map with axes[naxes] and all values zero. The caller destroys it. */
HISTO_API histo_status histo_map_create(histo_map **map, int naxes, const histo_axis *axes,
                                        const histo_map_options *options);
/* Destroy a map; NULL is allowed. */
HISTO_API void histo_map_destroy(histo_map *map);

/* The number of values: batch times the product over the axes of n + 3 (HISTO_MAP_STEP: underflow, the bins, overflow,
 * NaN), or n + 1 (HISTO_MAP_LINEAR: the edges). */
HISTO_API int64_t histo_map_size(const histo_map *map);

/* Copy all values from or to values[size], ordered as in a read with HISTO_FLOW; size must be histo_map_size(map). */
HISTO_API histo_status histo_map_write(histo_map *map, const double *values, int64_t size);
HISTO_API histo_status histo_map_read(const histo_map *map, double *values, int64_t size);

/* The functions below make the values from histograms with the map's axes: each table from its batch entry, or all
 * tables from a histogram without a batch. C is the cumulative count up to and including a bin, n that of the last bin;
 * the flow is left out. In a HISTO_MAP_STEP map, underflow has the value of the lowest bin, overflow that of the
 * highest, and NaN stays NaN.
 *
 * A GPU makes the values, with the same bits, if it alone has filled the histograms since they were created or reset,
 * and they are dense and without reproducible sums. It does so after the fills, on the given stream, without waiting
 * and, once the map has been made there, without allocating. Such calls may be captured into a CUDA graph, each launch
 * of which makes the values from the counts at that time. Counts that the host would refuse are not an error there,
 * since detecting them would mean waiting: all values of such a table are NaN. Otherwise the counts are copied to the
 * host, and the call waits. */

enum histo_equalize_rule HISTO_ENUM_BASE {
    /* (C - c) / (n - c), where c is the count of the lowest occupied bin, which thus gets the lowest value, as in
     * OpenCV. If only one bin is occupied, it keeps its relative position. */
    HISTO_EQUALIZE_MINIMUM = 0,
    /* C / n, as in scikit-image. HISTO_MAP_LINEAR maps have C / n at the edges by either rule. */
    HISTO_EQUALIZE_CDF
};
typedef HISTO_ENUM(histo_equalize_rule) histo_equalize_rule;

typedef struct histo_make_options {
    double lo, hi; /* values go from lo to hi; both zero: from 0 to 1. If both are whole numbers, up to 2^53, the values
                    * of HISTO_MAP_STEP maps are whole too, rounded half to even */
    histo_equalize_rule rule;
    double clip; /* histo_map_equalize: the contrast limit of CLAHE. Counts above clip times the mean count of all bins,
                  * rounded down but at least 1, are clipped, and the excess is redistributed over all bins once;
                  * INFINITY clips nothing. Implies HISTO_EQUALIZE_CDF. Default 0: no CLAHE */
    void *stream; /* the cudaStream_t on which a GPU makes the values; NULL: the default stream */
    uint64_t reserved[8];
} histo_make_options;

/* Equalization: the values are the cumulative distribution of a histogram with one axis, scaled to lo … hi. Without
 * counts they are equally spaced. Arithmetic is exact, with two exceptions that are computed in float in OpenCV's
 * order, to match the bits of cv::equalizeHist and cv::CLAHE: HISTO_EQUALIZE_MINIMUM of 256 bins to 0 … 255, and tables
 * with `clip`. */
HISTO_API histo_status histo_map_equalize(histo_map *map, const histo_hist *hist, const histo_make_options *options);

/* Matching: each bin's value is the one at which the cumulative distribution of the reference, a histogram with one
 * axis of any bins, equals that of the bin. As in scikit-image, it is interpolated linearly between the reference's
 * occupied bins, or between edges for HISTO_MAP_LINEAR maps. HISTO_INVALID if either has no counts. */
HISTO_API histo_status histo_map_match(histo_map *map, const histo_hist *hist, const histo_hist *reference,
                                       void *stream);

/* Piecewise linear through n landmarks: the quantile q[k] of hist, by HISTO_QUANTILE_LINEAR, maps to target[k]; q
 * increases. Below the first and above the last landmark the values are constant (with two landmarks, a percentile
 * stretch) or, with `extend`, extrapolated (the standardization of Nyul and Udupa). HISTO_INVALID if hist has no
 * counts, or if a quantile is in the flow. */
HISTO_API histo_status histo_map_landmarks(histo_map *map, const histo_hist *hist, int n, const double *q,
                                           const double *target, bool extend, void *stream);

/* Back projection, for HISTO_MAP_STEP maps of any number of axes: from lo for the smallest count to hi for the largest,
 * and lo in the flow, as in OpenCV; lo everywhere if all counts are equal. Values from 0 to 1 are not rounded; others
 * follow lo and hi, so that those from 0 to 255 are the bytes of cv::calcBackProject. With `against`, which may be
 * NULL, the values are sqrt(p / q), the weights of Comaniciu, Ramesh and Meer's mean shift: p and q are the bin's
 * relative frequencies in hist and against (of sums of weights if these are weighted), and the value is 0 unless both
 * are above 0. */
HISTO_API histo_status histo_map_project(histo_map *map, const histo_hist *hist, const histo_hist *against,
                                         const histo_make_options *options);

/* The classes into which histo_hist_split splits a histogram with one axis, for HISTO_MAP_STEP maps: 0, 1, …, classes -
 * 1 or, with lo and hi, values in equal steps from lo to hi. Two classes and {.hi = 255} make a binary image. A GPU
 * splits only into two classes by HISTO_SPLIT_OTSU, on integer and regular axes of up to 2^24 bins; the host does
 * everything else. */
HISTO_API histo_status histo_map_classes(histo_map *map, const histo_hist *hist, histo_split_method method, int classes,
                                         const histo_make_options *options);

/* Tables on a grid over the last ndim dimensions of the views, none of which is a batch dimension: count[d] tiles of
 * size[d] samples; the last tile may extend beyond the end. A sample's value is interpolated multilinearly, in float,
 * between the tables of the tiles whose centres surround it. The map has a table for each tile, or for each tile of
 * each batch entry. To fill a histogram by tiles, use a view with batch dimensions: {count[0], count[1], size[0],
 * size[1]}. */
typedef struct histo_tiles {
    int ndim; /* 1 … 3; 0: no tiles */
    int64_t count[3], size[3];
} histo_tiles;

typedef struct histo_apply_options {
    const histo_view *mask; /* of any dtype: where the mask is zero, out is unchanged */
    histo_tiles tiles;
    int threads;       /* CPU threads; default: histo_threads() */
    int64_t origin[3]; /* with tiles: the position of the views' first sample in the grid, 0 for a whole image */
    void *stream;      /* the cudaStream_t of samples and results in a GPU's memory; NULL: the default stream */
    uint64_t reserved[8];
} histo_apply_options;

/* Write the value of each sample to out, which has the shape of views[naxes] and any dtype. Integers are rounded half
 * to even and clamped to their range, and NaN becomes 0; floats are rounded, and NaN becomes the positive quiet NaN
 * without a payload. The map has one table, or one for each batch entry. views[a] may be out itself; other overlaps are
 * undefined. All views are in host memory, or all in the memory of one GPU, where the work is enqueued on
 * options->stream. Once the map has been applied to samples of the same dtypes, such calls neither allocate, copy nor
 * wait, and may be captured into a graph. */
HISTO_API histo_status histo_map_apply(const histo_map *map, const histo_view *views, const histo_view *out,
                                       const histo_apply_options *options);

typedef struct histo_moments { /* m_pq: the sum over a window of value * x^p * y^q, where x and y count from the
                                  window's corner, x along the last dimension */
    double m00, m10, m01, m20, m11, m02;
} histo_moments;

/* Moments over a window of the values that histo_map_apply would write as doubles: one iteration of mean shift or
 * CamShift, without storing the back projection. Views have two dimensions, the map one table, options no tiles. window
 * is x, y, width and height, inside the views; NULL: the whole views. Samples where the mask is zero add nothing.
 * Additions have a fixed order, so any number of threads gives the same bits. Sums of whole numbers are exact up to
 * 2^53: for values 0 … 255, in windows of up to 3000 x 3000 samples. If the views are in a GPU's memory, `moments` may
 * be there too: it is then written on options->stream, and the call may be captured like histo_map_apply, for windows
 * of no more rows than before. Otherwise the call waits. */
HISTO_API histo_status histo_map_moments(const histo_map *map, const histo_view *views, const int64_t window[4],
                                         const histo_apply_options *options, histo_moments *moments);

#ifdef __cplusplus
}
#endif

#endif
