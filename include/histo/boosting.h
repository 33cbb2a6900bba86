/* Gradient boosting: sums of gradients by bin, for nodes of trees. Include histo/histo.h.
 *
 *     histo_features *features;     // once: the binned features of all rows
 *     histo_features_create(&features, &table, bins, &(histo_features_options){.by_rows = true});
 *     histo_gradients *gradients;   // once; set for each tree
 *     histo_gradients_create(&gradients, rows, 2);
 *     histo_gradients_set(gradients, (histo_view[]){g, h}, NULL);
 *     histo_features_fill(features, gradients, &(histo_node_options){.rows = &rows_of_node},
 *                         &(histo_node_sums){.sums = {G, H}, .counts = N});
 *
 * Gradients become integers: multiples of a unit of each weight, a power of two. All sums are sums of these integers,
 * so they are exact, and have the same bits for any order of rows, number of threads and CPU. A sum in double is exact
 * as long as it is less than 2^53 units: then the sums of two children add up to those of their parent exactly, and the
 * parent's less one child's are the other child's.
 *
 * Features and gradients may be used by several threads at once while none sets or destroys them; on a GPU, by one at a
 * time.
 *
 * On a GPU the table, the values and the row numbers are in its memory, and sums are written there or to host memory,
 * with the same bits as on a CPU. Calls enqueue work on options->stream, a cudaStream_t, NULL for the default stream,
 * on which what they read is ready; work of other calls on the same features or gradients, on any stream, comes before
 * or after it. Calls may return before the work is done, unless they are said to wait. A fill into the GPU's memory may
 * be captured into a CUDA graph, after a fill of as many nodes or more with the same selected, first and offsets in
 * host memory; such fills neither allocate nor wait. */
#ifndef HISTO_BOOSTING_H
#define HISTO_BOOSTING_H

#include <histo/samples.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HISTO_MAX_GRADIENTS 8 /* weights of a row */

/* ---- Features ----------------------------------------------------------------------------------------- */

/* A table of rows and features, which holds the bin of each row on each feature. Missing values are in a bin of the
 * caller's choice, such as a feature's last. */
typedef struct histo_features histo_features;

typedef struct histo_features_options {
    /* Keep a copy of the table by rows, of rows * features samples: fills of some rows then read each row in one piece,
     * which makes them several times as fast. A table by rows is not copied. */
    bool by_rows;
    int threads;  /* CPU threads; default histo_threads() */
    void *stream; /* of a table in a GPU's memory */
    uint64_t reserved[7];
} histo_features_options;

/* Describe the table[rows][features], of HISTO_U8 or HISTO_U16, with any strides: by rows it has the strides
 * {features * size, size}, by features {size, rows * size}. Feature f has the bins 0 … bins[f] - 1; bins[features] is
 * copied, and NULL stands for 256 bins of each feature of HISTO_U8, 65 536 of HISTO_U16. HISTO_INVALID if a sample is
 * in no bin of its feature. There are at most 2^31 - 1 rows, and HISTO_MAX_BINS bins of all features. The table itself
 * is read by every fill: it must live as long as the features and not change. A table in a GPU's memory is copied
 * instead, in groups of up to 32 features, of which each row has a piece; the call waits for that, and needs as much
 * memory as the table has, with bytes for bins of u16 if all features have 256 at most. The caller destroys them. */
HISTO_API histo_status histo_features_create(histo_features **features, const histo_view *table, const int32_t *bins,
                                             const histo_features_options *options);
/* Destroy features; NULL is allowed. */
HISTO_API void histo_features_destroy(histo_features *features);
/* The number of bins of all features together; 0 for NULL. */
HISTO_API int64_t histo_features_bins(const histo_features *features);
/* Wait for the fills on a GPU. HISTO_INVALID if the row numbers of one, in the GPU's memory, were negative or too
 * large: those have counted for nothing. The next fill says so, too, if this is not called, and then does nothing else.
 */
HISTO_API histo_status histo_features_wait(const histo_features *features);

/* ---- Gradients ---------------------------------------------------------------------------------------- */

/* The weights of all rows, such as a gradient and a Hessian each, as integers. */
typedef struct histo_gradients histo_gradients;

/* Make room for the weights of rows, 1 … HISTO_MAX_GRADIENTS for each, which are zero at first. There are at most
 * 2^31 - 1 rows. The caller destroys it. */
HISTO_API histo_status histo_gradients_create(histo_gradients **gradients, int64_t rows, int weights);
/* Destroy gradients; NULL is allowed. */
HISTO_API void histo_gradients_destroy(histo_gradients *gradients);

typedef struct histo_gradients_options {
    /* units[weights]: powers of two to use, such as the largest that any process has found for its rows. No magnitude
     * may exceed (2^31 - 1) units. NULL: those of histo_gradients_unit. */
    const double *units;
    /* *nonfinite = the number of rows that have a NaN or an infinite weight, all of whose weights then count as 0;
     * NULL: HISTO_INVALID if there are any. For values in a GPU's memory it may be there, too, aligned to 8 bytes, if
     * units is NULL: the call then does not wait, and may be captured into a graph after another like it. */
    int64_t *nonfinite;
    int threads;  /* CPU threads; default histo_threads() */
    void *stream; /* of values in a GPU's memory */
    uint64_t reserved[7];
} histo_gradients_options;

/* Set all weights: values[weights] are views of one dimension, of a value for each row. Integers (HISTO_I8, HISTO_U8,
 * HISTO_I16, HISTO_U16 or HISTO_I32) are taken as they are. HISTO_F32 and HISTO_F64 are rounded to the nearest multiple
 * of a unit, which is the least power of two of which the largest magnitude is at most 2^b - 1, where b is 31, or
 * less for more than 2^22 rows, so that a sum of all rows is less than 2^53 units. The error of a value is half a unit,
 * less than 2^-b of the largest magnitude. Values in a GPU's memory, all of them, are set for fills on that GPU. After
 * a failure the weights are as before. */
HISTO_API histo_status histo_gradients_set(histo_gradients *gradients, const histo_view *values,
                                           const histo_gradients_options *options);
/* The unit of a weight, 1 for integers; 0 if there is no such weight. Waits if a GPU has found it without waiting. */
HISTO_API double histo_gradients_unit(const histo_gradients *gradients, int weight);

/* ---- Histograms of nodes ------------------------------------------------------------------------------ */

typedef struct histo_node_options {
    /* The rows that are counted, in this order, HISTO_U32, HISTO_I32 or HISTO_I64, a view of one dimension; a row may
     * come several times. There are at most 2^32 - 1. NULL: all rows. */
    const histo_view *rows;
    /* Node s has the rows offsets[s] … offsets[s + 1] - 1 of these; offsets[nodes + 1] never decreases, starts with 0
     * and ends with the number of rows. NULL: one node. For features on a GPU they may be in its memory, where they are
     * not checked: rows behind the last offset are then not counted, so that a list may have more room than it needs.
     */
    const int64_t *offsets;
    int64_t nodes; /* default 1 */
    /* Count these features only, selected[selected_count], in increasing order; NULL: all. What belongs to others is
     * not written. */
    const int32_t *selected;
    int32_t selected_count;
    int threads;  /* CPU threads; default histo_threads() */
    void *stream; /* of features on a GPU */
    uint64_t reserved[7];
} histo_node_options;

/* Where the sums are written. What belongs to bin b of feature f in node s is at
 *     address + s * node_stride + (first[f] + b) * bin_stride
 * where address is sums[w] for weight w, and counts for the number of rows. Arrays may lie in one another, as the
 * fields of a struct do, and need not be aligned. */
typedef struct histo_node_sums {
    void *sums[HISTO_MAX_GRADIENTS]; /* NULL: this sum is not wanted */
    void *counts;                    /* NULL: not wanted */
    /* HISTO_F64 is the default, rounded to nearest; HISTO_I64: multiples of the unit. */
    histo_dtype sum_dtype;
    histo_dtype count_dtype; /* HISTO_U32 is the default; HISTO_U64; HISTO_F64 */
    int64_t bin_stride;      /* in bytes; default: the size of an element, for each array */
    int64_t node_stride;     /* in bytes; default: the bins of all features times bin_stride, for each array */
    const int64_t *first;    /* first[features]; NULL: the bins of a feature follow those of the one before */
    uint64_t reserved[8];
} histo_node_sums;

/* Write the histograms of the nodes: for each node, feature and bin the sums of the weights of the rows there, and
 * their number. What was there before does not matter. All arguments are checked first, row numbers included:
 * HISTO_INVALID if one is negative or too large; but those in a GPU's memory see histo_features_wait. On a GPU the call
 * waits if sums are written to host memory, and other arrays are not written by the same call. */
HISTO_API histo_status histo_features_fill(const histo_features *features, const histo_gradients *gradients,
                                           const histo_node_options *options, const histo_node_sums *to);

/* Subtract the histogram of a child of each node from the node's own, which leaves that of the other child: of the
 * first `bins` bins of each of `nodes` nodes, all counts and sums of `child` from those of `parent`. Both have the same
 * arrays, which do not overlap, of the same dtypes; `first` is NULL. The results are exact if sums in double are less
 * than 2^53 units. HISTO_INVALID if a count would be negative: nothing is changed then. */
HISTO_API histo_status histo_node_sums_subtract(const histo_node_sums *parent, const histo_node_sums *child,
                                                int64_t nodes, int64_t bins);

#ifdef __cplusplus
}
#endif

#endif
