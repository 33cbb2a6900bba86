/* What the kernels of nodes of features get. */
#ifndef CUDA_NODES_NODE_WORK_H
#define CUDA_NODES_NODE_WORK_H

#include "base/host_device.h"

enum {
    HISTO_NODE_THREADS = 1024, /* of a block that adds */
    /* Words of a bin in shared memory, each of them once for each slot: the count, and a low and a high word of each of
     * two weights. */
    HISTO_NODE_WORDS = 5,
    HISTO_NODE_SLOTS = 32, /* most features of a group */
};

/* Features that one block adds up at once. A row of a group's tile has `lanes` words of 4 bytes, a power of two, with
 * a slot for each bin of 8 or 16 bits. */
typedef struct histo_node_group {
    const uint32_t *tile; /* [rows][lanes] */
    int64_t base;         /* of its sums among those of all groups: slot s of bin b has base + b * slots + s */
    int64_t before;       /* lanes of the groups before it */
    int32_t first, features;
    int32_t bins; /* of the feature that has most */
    int32_t lanes, slots;
    int32_t
        width; /* words of a bin's row in shared memory: copies of the slots; 0: sums are added to in global memory */
} histo_node_group;

typedef struct histo_node_work {
    const histo_node_group *groups;
    int32_t group_count;
    int64_t lanes;    /* of all groups */
    uint32_t rows;    /* of the table */
    const char *list; /* row numbers; NULL: all rows */
    int64_t list_stride;
    int32_t list_wide;      /* the numbers have 64 bits */
    int64_t listed;         /* rows that are counted */
    const int64_t *offsets; /* [nodes + 1]; NULL: one node */
    int64_t nodes;
    const int32_t *weights; /* [rows][pair] */
    int32_t pair;           /* weights of a row: 1 or 2 */
    int32_t counts;         /* are rows counted? */
    int32_t low_bits;       /* of a weight, in a low word; the others are in a high word */
    int64_t most_rows;      /* that words can add up */
    int64_t least_rows;     /* of all groups, that are worth a block */
    uint32_t shared_words;  /* of dynamic shared memory */
    /* [nodes][numbers][words]: counts, and the sums of the pair from number `first` on. */
    unsigned long long *sums;
    int64_t words;
    int32_t numbers, first;
    unsigned long long *stray; /* counts numbers in the list that are no rows */
} histo_node_work;

#endif
