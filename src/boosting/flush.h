/* Emptying the accumulators of a tile: the features and the pair of weights that are counted at once. */
#ifndef BOOSTING_FLUSH_H
#define BOOSTING_FLUSH_H

#include "boosting/piece.h"

typedef struct histo_node_tile {
    histo_node_fill *fill;
    const histo_node_piece *piece;
    const histo_node_workspace *in;
    int pair, lanes;
    int32_t begin, end; /* of the features that are counted */
    bool by_rows;       /* is the table read by rows? */
    const char *table;  /* the table or its copy, at the first feature */
    int64_t row_stride, column_stride;
    int64_t size; /* of a sample */
    int64_t *to[HISTO_TILE_FEATURES];
    int64_t at[HISTO_TILE_FEATURES]; /* of the features, in a row */
    bool adjacent;                   /* are these without gaps? */
    char nowhere[8];                 /* what is not wanted is written here */
} histo_node_tile;

/* Write the sums of all rows so far, or add them to the planes of the node; accumulators are zero then. */
void histo_node_flush(histo_node_tile *t);
/* The same without planes, faster if many bins have no rows: these are `row` and those after it, or n that are listed.
 */
void histo_node_flush_block(histo_node_tile *t, int64_t row, const uint32_t *rows, int n);

#endif
