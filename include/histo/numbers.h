/* Numbers from a histogram: quantiles, moments, thresholds, distances, information. Include histo/histo.h. */
#ifndef HISTO_NUMBERS_H
#define HISTO_NUMBERS_H

#include <histo/survey.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers: quantiles, moments, thresholds and distances of a histogram ----------------------------- */

/* All of these read the counts, and so wait for fills on GPUs. They are computed on the host in a fixed order: the
 * results have the same bits whatever device, strategy, number of threads or chunks did the counting. Arrays of results
 * are in host memory and have an element for each batch entry. "Shares" are counts divided by the sum of the counts in
 * bins; without counts, they and what follows from them are NaN. The value of a sample is that of its bin: on
 * HISTO_INTEGER axes the integer itself, elsewhere the bin's centre, (lower edge + upper edge) / 2. The flow is ignored
 * unless stated otherwise. */

/* numpy.quantile's methods, by the names and formulas of Hyndman and Fan, "Sample quantiles in statistical packages",
 * The American Statistician 50 (1996). */
enum histo_quantile_rule HISTO_ENUM_BASE {
    HISTO_QUANTILE_LINEAR = 0,
    HISTO_QUANTILE_LOWER,
    HISTO_QUANTILE_HIGHER,
    HISTO_QUANTILE_NEAREST,
    HISTO_QUANTILE_MIDPOINT,
    HISTO_QUANTILE_INVERTED_CDF,
    HISTO_QUANTILE_AVERAGED_INVERTED_CDF,
    HISTO_QUANTILE_CLOSEST_OBSERVATION,
    HISTO_QUANTILE_INTERPOLATED_INVERTED_CDF,
    HISTO_QUANTILE_HAZEN,
    HISTO_QUANTILE_WEIBULL,
    HISTO_QUANTILE_MEDIAN_UNBIASED,
    HISTO_QUANTILE_NORMAL_UNBIASED
};
typedef HISTO_ENUM(histo_quantile_rule) histo_quantile_rule;

/* "linear" … "normal_unbiased", NumPy's names; HISTO_INVALID for any other. */
HISTO_API histo_status histo_quantile_rule_parse(const char *name, histo_quantile_rule *rule);

/* The quantiles q[n], each 0 … 1, of a histogram with one axis: values[batch][n]. On an integer axis they are the
 * quantiles of the samples: those of numpy.quantile for the samples as doubles. On other axes the c samples of a bin
 * are taken to be spread over it, at (k + 1/2) / c of its width for k = 0 … c-1, so the error is less than the bin's
 * width. Underflow and overflow are included: a quantile that needs a sample from either, or from a bin with an
 * infinite edge, is -infinity or infinity. NaN samples are excluded. Without samples, all quantiles are NaN. */
HISTO_API histo_status histo_hist_quantiles(const histo_hist *hist, histo_quantile_rule rule, int n, const double *q,
                                            double *values);

/* Exact quantiles of samples of any dtype: those of numpy.nanquantile for the samples as doubles, except that a
 * quantile between an infinity and another sample is not NaN. Add the same samples in each pass, in any pieces:
 *
 *     histo_quantiles_create(&quantiles, dtype, HISTO_QUANTILE_LINEAR, 3, (double[]){0.25, 0.5, 0.75});
 *     while (histo_quantiles_next_pass(quantiles, &more) == HISTO_OK && more)
 *         for each piece: histo_quantiles_add(quantiles, &piece, NULL);
 *     histo_quantiles_read(quantiles, values);
 *
 * One pass is enough for 8- and 16-bit types, and usually for other types with at most 8 quantiles: a few samples of
 * the first piece show where to look. Pieces unlike the first, and more than 8 quantiles of more than 2^17 samples,
 * take a second pass. Memory is bounded, whatever the size of the data: at most 70 MiB, plus 200 bytes for each
 * quantile. Pieces of 2^17 samples or more are read by several threads. */
typedef struct histo_quantiles histo_quantiles;
/* Start finding the quantiles q[n], each 0 … 1; q is copied. The caller destroys the object. */
HISTO_API histo_status histo_quantiles_create(histo_quantiles **quantiles, histo_dtype dtype, histo_quantile_rule rule,
                                              int n, const double *q);
/* Destroy the object; NULL is allowed. */
HISTO_API void histo_quantiles_destroy(histo_quantiles *quantiles);
/* Begin a pass: *more = whether the samples must be added (again); false once the quantiles are known. */
HISTO_API histo_status histo_quantiles_next_pass(histo_quantiles *quantiles, bool *more);
/* Add samples, with options as for histo_survey_add; several threads may do so at once. NaN samples are ignored.
 * Samples in a GPU's memory are counted there, by radix selection on their bits, in one to four passes; see
 * histo_survey. */
HISTO_API histo_status histo_quantiles_add(histo_quantiles *quantiles, const histo_view *samples,
                                           const histo_fill_options *options);
/* values[n] in the order of q; NaN if there were no samples. */
HISTO_API histo_status histo_quantiles_read(const histo_quantiles *quantiles, double *values);

typedef struct histo_summary {
    uint64_t count;         /* samples in bins */
    double mean, variance;  /* variance: the mean of (x - mean)^2 */
    double skewness;        /* the mean of (x - mean)^3, over variance^1.5; NaN if the variance is 0 */
    double kurtosis;        /* the mean of (x - mean)^4, over variance^2, minus 3; NaN if the variance is 0 */
    double entropy;         /* the entropy of the shares, in bits */
    int64_t first, last;    /* the lowest and highest occupied bin; -1 if there is none (mode likewise) */
    int64_t mode, occupied; /* the bin with the largest count, the lowest if tied; the number of occupied bins */
    uint64_t reserved[4];
} histo_summary;

/* Summarize a histogram with one axis: summaries[batch]. */
HISTO_API histo_status histo_hist_summarize(const histo_hist *hist, histo_summary *summaries);

/* How to split a histogram into classes of adjacent bins; with two classes, how to find a threshold. */
enum histo_split_method HISTO_ENUM_BASE {
    HISTO_SPLIT_OTSU = 0,   /* any number of classes: least variance within classes (Otsu 1979), by dynamic programming
                             * with divide and conquer in O(classes * occupied * log(occupied)). Two classes of an
                             * integer or regular axis are compared exactly, and the lowest of tied splits is taken */
    HISTO_SPLIT_TRIANGLE,   /* two classes, like all that follow: Zack et al. 1977 */
    HISTO_SPLIT_LI,         /* least cross entropy, by the iteration of Li and Tam 1998 */
    HISTO_SPLIT_YEN,        /* largest correlation: Yen et al. 1995 */
    HISTO_SPLIT_ISODATA,    /* half-way between the means of both classes: Ridler and Calvard 1978 */
    HISTO_SPLIT_MINIMUM,    /* the minimum between two maxima, after smoothing: Prewitt and Mendelsohn 1966 */
    HISTO_SPLIT_MEAN,       /* the mean of all samples */
    HISTO_SPLIT_MAX_ENTROPY /* largest sum of the entropies of both classes: Kapur, Sahoo and Wong 1985 */
};
typedef HISTO_ENUM(histo_split_method) histo_split_method;

/* "otsu", "triangle", "li", "yen", "isodata", "minimum", "mean", "max-entropy"; HISTO_INVALID for any other. */
HISTO_API histo_status histo_split_method_parse(const char *name, histo_split_method *method);

/* Split the bins of a histogram with one axis into classes, 2 or more: last[batch][classes - 1] is the last bin of each
 * class but the highest, increasing. A sample is above a threshold iff its bin is above last[0]. If all samples are in
 * one bin and there are two classes, last[0] is that bin. HISTO_INVALID, naming the batch entry, if fewer bins are
 * occupied than there are classes, or if HISTO_SPLIT_MINIMUM does not find two maxima. HISTO_UNSUPPORTED if
 * HISTO_SPLIT_MINIMUM would have to smooth more than 2^16 bins, or HISTO_SPLIT_OTSU to find more than two classes (two,
 * if bins differ in width) with occupied bins times classes above 2^28. */
HISTO_API histo_status histo_hist_split(const histo_hist *hist, histo_split_method method, int classes, int64_t *last);

/* Ranks of samples of any dtype: the distinct values, and how many samples are less than or equal to each; NaN and
 * infinities are left out. If there are more than 2^20 distinct values, about 2^16 of them that divide the samples into
 * equal parts are kept, with exact ranks; a sample between two of them has a rank between theirs, which differ by about
 * n / 30,000 of n samples, and almost certainly by less than n / 8,000. Add the same samples in each pass, in any
 * pieces, as with histo_quantiles: one pass, or two for more than 2^20 values. Memory is bounded: 50 MiB. Samples must
 * be in host memory (HISTO_UNSUPPORTED for a GPU's). */
typedef struct histo_ranks histo_ranks;
/* Start finding ranks. The caller destroys the object. */
HISTO_API histo_status histo_ranks_create(histo_ranks **ranks, histo_dtype dtype);
/* Destroy the object; NULL is allowed. */
HISTO_API void histo_ranks_destroy(histo_ranks *ranks);
/* Begin a pass: *more = whether the samples must be added (again); false once the ranks are known. */
HISTO_API histo_status histo_ranks_next_pass(histo_ranks *ranks, bool *more);
/* Add samples, with options as for histo_survey_add. */
HISTO_API histo_status histo_ranks_add(histo_ranks *ranks, const histo_view *samples,
                                       const histo_fill_options *options);
/* *size = the number of values, which may be 0. */
HISTO_API histo_status histo_ranks_size(const histo_ranks *ranks, int64_t *size);
/* values[size] in increasing order, and upto[size], the number of samples less than or equal to each; either may be
 * NULL. Where several 64-bit integers round to the same double, the largest stands for all. *size must be what
 * histo_ranks_size gives, and becomes the number of values written, which may be smaller for that reason. */
HISTO_API histo_status histo_ranks_read(const histo_ranks *ranks, double *values, uint64_t *upto, int64_t *size);

/* Thresholds of samples of any dtype, without bins that an outlier could widen. Add the same samples in each pass, in
 * any pieces, as with histo_quantiles. A threshold is a value of the dtype: samples above it are in the higher class.
 * The methods are those of histo_hist_split.
 *
 *   - OTSU with two classes, LI, ISODATA and MEAN are exact, as if computed from the sorted samples. OTSU's threshold
 *     is the largest sample of the lower class; splits are compared without rounding, and the lowest of tied ones is
 *     taken. The others are real numbers, rounded down to the dtype. Up to 2^20 distinct values take one pass, more
 *     take three; samples that many splits divide almost equally well may take two more. MEAN takes one.
 *   - OTSU with more classes is exact for up to 2^20 distinct values. Beyond, the splits are at some of about 8000
 *     values that divide the samples into equal parts.
 *   - TRIANGLE, YEN, MINIMUM and MAX_ENTROPY need equal bins, as does any method if `bins` is given. They span from the
 *     sample with 1 + n / 100,000 of all n finite samples below it to the one with as many above it, so that a few
 *     outliers do not widen the bins. Samples outside are ignored. If both ends are equal, the range is that of all
 *     samples. The default is 256 to 512 bins whose width is a power of two (at least 1 for integers), starting at a
 *     multiple of it. That takes three or four passes.
 *
 * NaN and infinities are ignored. Memory is bounded, whatever the size of the data: 50 MiB. The thresholds do not
 * depend on threads or pieces. Samples must be in host memory (HISTO_UNSUPPORTED for a GPU's). */
typedef struct histo_thresholds histo_thresholds;
/* Start finding classes - 1 thresholds. classes: 2 or, for HISTO_SPLIT_OTSU, up to 256. bins: the number of equal bins;
 * 0: none where a method is exact, else the default. The caller destroys the object. */
HISTO_API histo_status histo_thresholds_create(histo_thresholds **thresholds, histo_dtype dtype,
                                               histo_split_method method, int classes, int64_t bins);
/* Destroy the object; NULL is allowed. */
HISTO_API void histo_thresholds_destroy(histo_thresholds *thresholds);
/* Begin a pass: *more = whether the samples must be added (again); false once the thresholds are known. HISTO_INVALID
 * if no sample is finite, if there are fewer distinct values than classes, or if HISTO_SPLIT_MINIMUM does not find two
 * maxima. */
HISTO_API histo_status histo_thresholds_next_pass(histo_thresholds *thresholds, bool *more);
/* Add samples, with options as for histo_survey_add. */
HISTO_API histo_status histo_thresholds_add(histo_thresholds *thresholds, const histo_view *samples,
                                            const histo_fill_options *options);
/* numbers[classes - 1], increasing. */
HISTO_API histo_status histo_thresholds_read(const histo_thresholds *thresholds, histo_number *numbers);

/* How to compare the counts a and b of two histograms with totals A and B. */
enum histo_metric HISTO_ENUM_BASE {
    HISTO_CORRELATION = 0, /* Pearson's coefficient: -1 … 1 */
    HISTO_CHI_SQUARE,      /* sum of (a - b)^2 / a where a > 0 */
    HISTO_CHI_SQUARE_ALT,  /* 2 * sum of (a - b)^2 / (a + b) */
    HISTO_INTERSECTION,    /* sum of min(a / A, b / B): 0 … 1 */
    HISTO_BHATTACHARYYA,   /* sqrt(1 - sum of sqrt(a * b / (A * B))): 0 … 1, also called Hellinger distance */
    HISTO_KL_DIVERGENCE,   /* sum of a/A * log((a/A) / (b/B)), in nats; infinite where only b is 0 */
    HISTO_JS_DIVERGENCE, /* Jensen-Shannon: the mean of both KL divergences from the mean of the shares: 0 … log(2) */
    HISTO_KOLMOGOROV,    /* one axis: the largest difference between the cumulative shares: 0 … 1 */
    HISTO_EARTH_MOVER    /* one axis: the area between the cumulative shares, in the axis's units (Wasserstein 1) */
};
typedef HISTO_ENUM(histo_metric) histo_metric;

/* "correlation", "chi-square", "chi-square-alt", "intersection", "bhattacharyya", "kl-divergence", "js-divergence",
 * "kolmogorov", "earth-mover"; HISTO_INVALID for any other. */
HISTO_API histo_status histo_metric_parse(const char *name, histo_metric *metric);

/* Compare the counts of two histograms, whose axes, batch, weighting and storage must be equal: values[batch]. */
HISTO_API histo_status histo_hist_compare(const histo_hist *a, const histo_hist *b, histo_metric metric,
                                          double *values);

typedef struct histo_information { /* in nats */
    double entropy[2];             /* of each axis alone */
    double joint_entropy;
    double mutual;     /* entropy[0] + entropy[1] - joint_entropy, 0 … */
    double normalized; /* (entropy[0] + entropy[1]) / joint_entropy, 1 … 2 (Studholme et al. 1999); 1 for 0 / 0 */
    uint64_t reserved[4];
} histo_information;

/* The entropies and mutual information of the two axes of a histogram, from its counts or, if it is weighted, from its
 * sums of weights, none of which may be negative: information[batch]. Where few bins are occupied, memory is allocated
 * for those only. */
HISTO_API histo_status histo_hist_inform(const histo_hist *hist, histo_information *information);

#ifdef __cplusplus
}
#endif

#endif
