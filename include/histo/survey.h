/* Axes from data: surveys, statistics, extremes. Include histo/histo.h. */
#ifndef HISTO_SURVEY_H
#define HISTO_SURVEY_H

#include <histo/hist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Axes from data ----------------------------------------------------------------------------------- */

/* How to choose the number of bins; the results equal numpy.histogram_bin_edges on the same data. */
enum histo_rule HISTO_ENUM_BASE {
    HISTO_RULE_NONE = 0, /* bins or width is given */
    HISTO_RULE_AUTO,
    HISTO_RULE_FD,
    HISTO_RULE_SCOTT,
    HISTO_RULE_STONE,
    HISTO_RULE_STURGES,
    HISTO_RULE_DOANE,
    HISTO_RULE_RICE,
    HISTO_RULE_SQRT
};
typedef HISTO_ENUM(histo_rule) histo_rule;

/* "auto", "fd", "scott", "stone", "sturges", "doane", "rice", "sqrt"; HISTO_INVALID for any other. */
HISTO_API histo_status histo_rule_parse(const char *name, histo_rule *rule);

enum histo_range HISTO_ENUM_BASE {
    /* From the smallest to the largest finite sample. */
    HISTO_RANGE_MINMAX = 0,
    /* The percentiles lo and hi of the samples that are not NaN, as numpy.percentile computes them (linear). */
    HISTO_RANGE_PERCENTILE,
    /* Every value of an integer dtype: [min, max + 1); [0, 1) for floats. */
    HISTO_RANGE_DTYPE,
    /* lo and hi are given; an infinite one stands for the first or last finite sample in the range. */
    HISTO_RANGE_FIXED,
    /* lo is a percentile, hi is given. */
    HISTO_RANGE_FROM_PERCENTILE,
    /* lo is given, hi is a percentile. */
    HISTO_RANGE_TO_PERCENTILE
};
typedef HISTO_ENUM(histo_range) histo_range;

typedef struct histo_survey_options {
    histo_range range;
    double lo, hi; /* what `range` asks for; percentiles are 0 … 100 */
    histo_rule rule;
    int64_t bins; /* with HISTO_RULE_NONE: the number of bins, unless width is given */
    double width; /* with HISTO_RULE_NONE: if > 0, the width of each bin; the last may extend beyond the range */
    /* This survey sees a part of the samples, other surveys the rest, and histo_survey_merge merges their findings:
     * order statistics are then found by counting, in one to five passes. */
    bool in_parts;
    /* About how many bytes order statistics may take, at least 2 MiB; 0: as many as are useful, 40 MB. With less
     * memory, more passes may be needed. */
    size_t memory;
    uint64_t reserved[8];
} histo_survey_options;

/* A survey finds a range and a number of bins in one or more passes over the data, the same data in each pass, added in
 * any pieces:
 *
 *     histo_survey_create(&survey, dtype, &options);
 *     while (histo_survey_next_pass(survey, &more) == HISTO_OK && more)
 *         for each piece: histo_survey_add(survey, &piece, NULL);
 *     histo_survey_axis(survey, &axis);
 *
 * Its memory is bounded, whatever the size of the data. Samples in a GPU's memory are surveyed there, after the work on
 * options->stream, with the same result; the call waits. Their mask and where must be in the same memory. On a GPU,
 * HISTO_UNSUPPORTED for the rules scott and doane, which need moments, for a range that depends on the samples together
 * with where, and for quantiles if a pass also has samples in host memory, or if the survey is in parts. */
typedef struct histo_survey histo_survey;
/* Create a survey for samples of a dtype. The caller destroys it. */
HISTO_API histo_status histo_survey_create(histo_survey **survey, histo_dtype dtype,
                                           const histo_survey_options *options);
/* Destroy a survey; NULL is allowed. */
HISTO_API void histo_survey_destroy(histo_survey *survey);
/* Begin a pass: *more = whether the samples must be added (again); false once the survey is complete. */
HISTO_API histo_status histo_survey_next_pass(histo_survey *survey, bool *more);
/* Add samples. Batch dimensions are treated like any others. Of the options, mask, where, functions, threads and stream
 * apply; weights, offsets and replace are HISTO_INVALID. */
HISTO_API histo_status histo_survey_add(histo_survey *survey, const histo_view *samples,
                                        const histo_fill_options *options);
/* Before the first pass: also find the quantiles q[n], each 0 … 1, at most 6, in the same passes, which takes little
 * longer. q is copied. HISTO_UNSUPPORTED for surveys in parts, and for those that do not go through all samples: both
 * ends of the range are given, or an end is infinite. */
HISTO_API histo_status histo_survey_ask_quantiles(histo_survey *survey, int n, const double *q);
/* Once the survey is complete: values[n], as histo_quantiles with HISTO_QUANTILE_LINEAR gives them. HISTO_UNSUPPORTED
 * if there are infinities, which a rule leaves out: use histo_quantiles. */
HISTO_API histo_status histo_survey_quantiles(const histo_survey *survey, double *values);
/* Surveys in parts (see options): processes, threads or machines survey some of the samples each. All surveys are
 * created with the same options and make the same passes. At the end of each pass, before histo_survey_next_pass, the
 * findings of every part are saved and merged into one survey, and the others replace their findings by the merged
 * ones; histo_mpi_survey does all that. The axis is that of a single survey of all samples, except for the last bits of
 * the moments that scott and doane use: those depend on the order of merging. *data points to *size bytes, which the
 * caller frees with histo_free. Merging and replacing read data that may be untrusted: HISTO_CORRUPT or
 * HISTO_INVALID. */
HISTO_API histo_status histo_survey_save(const histo_survey *survey, void **data, size_t *size);
HISTO_API histo_status histo_survey_merge(histo_survey *survey, const void *data, size_t size);
HISTO_API histo_status histo_survey_replace(histo_survey *survey, const void *data, size_t size);

/* The axis found, regular and closed. If lo == hi, the range is extended by one half on both sides, as in NumPy.
 * HISTO_INVALID if the range depends on the samples and none is finite. */
HISTO_API histo_status histo_survey_axis(const histo_survey *survey, histo_axis *axis);

/* Survey samples in memory and return the axis, in one call. */
HISTO_API histo_status histo_axis_from_data(const histo_view *samples, const histo_fill_options *fill,
                                            const histo_survey_options *options, histo_axis *axis);

/* ---- Statistics: of samples, without bins ------------------------------------------------------------- */

/* Statistics of the unmasked samples, in host memory (HISTO_UNSUPPORTED for a GPU's). Initialise with zeros; add the
 * data in any pieces, or merge the statistics of parts. */
typedef struct histo_stats {
    uint64_t samples; /* unmasked: finite, infinite and NaN */
    uint64_t nan, infinite, masked;
    double min, max;     /* of the finite samples; 64-bit integers that doubles cannot represent are rounded outwards */
    double mean, m2, m3; /* mean and sums of (x - mean)^2 and ^3 of the finite samples */
    double m4;           /* the sum of (x - mean)^4 of the finite samples */
    uint64_t reserved[4];
} histo_stats;
HISTO_API histo_status histo_stats_add(histo_stats *stats, const histo_view *samples,
                                       const histo_fill_options *options);
/* Add the statistics of other samples. HISTO_INVALID if the sum would be 2^64 samples or more, including masked
 * ones. */
HISTO_API histo_status histo_stats_merge(histo_stats *stats, const histo_stats *other);

/* Exact sums of samples and of their squares, from which the mean and m2 follow, each rounded once. They have the same
 * bits whatever the pieces, their order, the number of threads and the merges. Initialise with zeros; add and merge as
 * with histo_stats. The sums are fixed-point numbers in two's complement, least significant word first. */
enum { HISTO_SUM_WORDS = 34, HISTO_SQUARES_WORDS = 67 };
typedef struct histo_power_sums {
    uint64_t samples, nan, infinite, masked; /* these and the extremes as in histo_stats */
    double min, max;
    uint64_t sum[HISTO_SUM_WORDS];         /* of the finite samples, in units of 2^-1074 */
    uint64_t squares[HISTO_SQUARES_WORDS]; /* of their squares, in units of 2^-2148 */
} histo_power_sums;
HISTO_API histo_status histo_power_sums_add(histo_power_sums *sums, const histo_view *samples,
                                            const histo_fill_options *options);
HISTO_API histo_status histo_power_sums_merge(histo_power_sums *sums, const histo_power_sums *other);
/* Convert the sums to statistics; m3 and m4, which the sums do not give, are NaN. */
HISTO_API void histo_power_sums_read(const histo_power_sums *sums, histo_stats *stats);
/* As histo_survey_add and histo_power_sums_add, in one pass that takes little longer than the survey alone. */
HISTO_API histo_status histo_survey_add_sums(histo_survey *survey, const histo_view *samples,
                                             const histo_fill_options *options, histo_power_sums *sums);

/* A sample, exactly: u64 for unsigned integers, i64 for signed integers, f64 for floats of any dtype. */
typedef union histo_number {
    uint64_t u64;
    int64_t i64;
    double f64;
} histo_number;

/* The smallest and largest samples. */
typedef struct histo_extremes {
    uint64_t samples; /* unmasked: finite, infinite and NaN */
    uint64_t nan;
    uint64_t below, above; /* -infinity and infinity */
    uint64_t masked;       /* excluded by a mask or a range filter */
    histo_number min, max; /* of the finite samples, exact, zero always positive; 0 if none is finite */
    uint64_t reserved[4];
} histo_extremes;

/* Find the extremes of samples of any dtype in one pass: extremes[size], one for each batch entry; size is the product
 * of the batch dimensions, 1 without any. options->mask, where, offsets (of size segments) and threads apply as in
 * fills; weights and replace are HISTO_INVALID. Samples in a GPU's memory are read there, once, with mask and where in
 * the same memory, after the work of options->stream; the call waits, and is refused while the stream is captured. */
HISTO_API histo_status histo_find_extremes(const histo_view *samples, const histo_fill_options *options,
                                           histo_extremes *extremes, int64_t size);

#ifdef __cplusplus
}
#endif

#endif
