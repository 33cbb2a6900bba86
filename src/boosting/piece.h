/* Counting a piece of a fill of nodes: some rows of a node, on some features. */
#ifndef BOOSTING_PIECE_H
#define BOOSTING_PIECE_H

#include <pthread.h>

#include "boosting/boosting.h"
#include "cpu/kernels/kernels.h"

enum {
    HISTO_NODE_BLOCK = 4096,     /* rows whose words are made at once */
    HISTO_NODE_TILE = 256 << 10, /* bytes of accumulators that are added to together, unless one feature has more */
    HISTO_TILE_FEATURES = 256,   /* at most, of a tile */
};

/* Where one number of each bin is written. */
typedef struct histo_bin_array {
    char *at; /* NULL: nowhere */
    histo_dtype dtype;
    int64_t bin_stride, node_stride; /* in bytes */
    double unit;
} histo_bin_array;

/* A fill of nodes, the same for all pieces. */
typedef struct histo_node_fill {
    const histo_features *features;
    const histo_gradients *gradients;
    const histo_view *rows;  /* or NULL: all */
    const int32_t *selected; /* or NULL: all */
    int32_t count;           /* of features that are counted */
    const int64_t *first;    /* [features]: the position of bin 0 in what is written; NULL: start */
    int64_t *start;          /* [features]: the position of bin 0 among the bins of all features */
    histo_bin_array counts, sums[HISTO_MAX_GRADIENTS];
    /* Sums of nodes that take more than one piece, or more rows than an accumulator: for each of these nodes 1 +
     * weights planes, counts first, of the bins of all features. Whoever adds to them holds the lock. */
    int64_t *planes;
    pthread_mutex_t lock;
    const histo_cpu_kernels *kernels;
} histo_node_fill;

typedef struct histo_node_piece {
    int64_t node;
    int64_t begin, end;  /* rows of the list */
    int32_t first, last; /* [first, last) of the features that are counted */
    int64_t planes;      /* the number of the node among those that have planes; -1: it has none */
} histo_node_piece;

/* The feature that is counted as number i. */
static inline int32_t histo_feature_of(const histo_node_fill *fill, int32_t i)
{
    return fill->selected ? fill->selected[i] : i;
}

/* Memory for a thread that counts pieces. */
typedef struct histo_node_workspace {
    int64_t *accumulators; /* all zero between pieces */
    int64_t *words;
    uint32_t *rows;
    char *columns; /* bins of HISTO_NODE_COLUMNS features */
} histo_node_workspace;

/* Bytes of a workspace for pieces of that many rows. */
size_t histo_node_workspace_bytes(const histo_node_fill *fill, int64_t rows);
/* Divide such memory, which is zero and aligned to 64 bytes. */
histo_node_workspace histo_node_workspace_in(const histo_node_fill *fill, int64_t rows, char *memory);

/* Count a piece, and write its sums or add them to the planes of its node. False: it was stopped. */
bool histo_node_piece_count(histo_node_fill *fill, const histo_node_piece *piece, const histo_node_workspace *in);

/* Write the sums in planes of a node, of one feature. */
void histo_node_planes_write(const histo_node_fill *fill, int64_t node, int64_t planes, int32_t feature);

#endif
