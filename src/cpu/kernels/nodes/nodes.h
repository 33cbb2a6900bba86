/* Sums of gradients over the bins of features: kernels of histo_features_fill and histo_gradients_set.
 *
 * A row's weights are a *word* of one or two lanes: w0 * 2^16 + 1 and w1. A bin's accumulator has as many lanes, to
 * which words are added, in one addition of 64 or 128 bits: the low half of the first lane counts rows, up to
 * HISTO_NODE_ROWS of them, and the sums cannot leave the rest. */
#ifndef CPU_NODES_H
#define CPU_NODES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HISTO_NODE_COUNT_BITS = 16,
    HISTO_NODE_ROWS = (1 << HISTO_NODE_COUNT_BITS) - 1, /* most rows between two flushes of accumulators */
    /* Features that are added up at once from columns: their accumulators fit an L1 cache. More where many rows are in
     * the same bins, since additions to one of them wait for each other. */
    HISTO_NODE_FEW_COLUMNS = 4,
    HISTO_NODE_COLUMNS = 8,
    HISTO_NODE_LISTED = 2048, /* rows of a block where they are listed */
    HISTO_NODE_ROW_BYTES = 1024,
    HISTO_NODE_PAD = 64, /* unused bytes between the accumulators of two features */
};

/* Bytes from the accumulators of a feature to those of the next, where bins are bytes: not a power of two, which would
 * put all of them into the same sets of a cache. */
#define HISTO_NODE_BYTE_STRIDE(lanes) (256 * 8 * (lanes) + HISTO_NODE_PAD)

/* Values to integers: value * scale * scale_too, rounded to nearest even. Two powers of two, since their product may be
 * beyond double. */
typedef struct histo_quantizing {
    double scale, scale_too;
} histo_quantizing;

/* to[i * step] = values[i], float or double, as an integer; 0 where it is NaN or infinite. */
typedef void histo_quantize_fn(const void *values, bool doubles, int n, histo_quantizing by, int32_t *to, int step);

/* The largest magnitude of n values, float or double; infinite if one is NaN or infinite. */
typedef double histo_largest_fn(const void *values, bool doubles, int n);

/* words[n * lanes] = the words of rows[i], or of first + i if rows is NULL; weights[lanes] of each row are adjacent. */
typedef void histo_node_words_fn(const int32_t *weights, int lanes, const uint32_t *rows, int64_t first, int n,
                                 int64_t *words);

/* Samples of some rows of a table by rows. */
typedef struct histo_node_gathering {
    /* The bin of feature f in row r is at table + r * stride + at[f]; r is rows[i], or i if that is NULL. */
    const char *table;
    int64_t stride;
    const uint32_t *rows;
    const int64_t *at;  /* NULL: adjacent samples */
    int features, size; /* bytes of a sample */
    int n;              /* rows */
} histo_node_gathering;

/* Copy them to rows of adjacent samples, which begin `pitch` bytes apart. */
typedef void histo_node_gather_fn(const histo_node_gathering *from, char *to, int64_t pitch);

/* Rows of a table and their weights that are needed next, for which the L2 cache is prepared meanwhile. */
typedef struct histo_node_ahead {
    const uint32_t *rows; /* NULL: none */
    const char *table;
    int64_t stride, bytes; /* from one row to the next; of a row, HISTO_NODE_ROW_BYTES at most */
    const int32_t *weights;
    int lanes;
} histo_node_ahead;

/* Prepare for n rows at once. */
typedef void histo_node_prefetch_fn(const histo_node_ahead *ahead, int n);

/* What words are added to. */
typedef struct histo_node_adding {
    int lanes;
    bool wide;            /* bins are of 16 bits, not of 8 */
    int n;                /* rows */
    const int64_t *words; /* of these */
    int features;
    int64_t *const *to; /* [features]: the accumulators of bin 0; of bytes HISTO_NODE_BYTE_STRIDE apart */
    /* By rows: the bins of row i are at table + i * stride, adjacent. */
    const char *table;
    int64_t stride;
    histo_node_ahead ahead;
    /* Are so many rows in the same bins that additions would wait for each other? */
    bool skewed;
    /* By columns: the bins of HISTO_NODE_COLUMNS features at most. */
    const void *columns[HISTO_NODE_COLUMNS];
    const int32_t *weights_ahead; /* what follows, or may */
} histo_node_adding;
typedef void histo_node_add_fn(const histo_node_adding *a);

#endif
