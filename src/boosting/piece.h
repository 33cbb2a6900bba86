/* Counting a piece of a fill of nodes: some rows of a node, on some features. */
#ifndef BOOSTING_PIECE_H
#define BOOSTING_PIECE_H

#include <pthread.h>

#include "boosting/memory.h"
#include "boosting/written.h"
#include "cpu/kernels/kernels.h"

enum {
    HISTO_TILE_FEATURES = 256, /* at most, of a tile */
    HISTO_PLANE_LOCKS = 16,
};

/* A fill of nodes, the same for all pieces. */
typedef struct histo_node_fill {
    const histo_features *features;
    const histo_gradients *gradients;
    const histo_view *rows;  /* or NULL: all */
    const int32_t *selected; /* or NULL: all */
    int32_t count;           /* of features that are counted */
    histo_written to;
    /* Sums of nodes that take more than one piece, or more rows than an accumulator: of each of these nodes, for each
     * bin of all features, the count and the sums. Whoever adds to those of feature f holds the lock f %
     * HISTO_PLANE_LOCKS. */
    int64_t *planes;
    pthread_mutex_t locks[HISTO_PLANE_LOCKS];
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

/* Count a piece, and write its sums or add them to the planes of its node. False: it was stopped. */
bool histo_node_piece_count(histo_node_fill *fill, const histo_node_piece *piece, const histo_node_workspace *in);

/* Write the sums in planes of a node, of one feature. */
void histo_node_planes_write(const histo_node_fill *fill, int64_t node, int64_t planes, int32_t feature);

#endif
