/* Memory in which nodes are counted. Features keep that of a fill for the next one: fills of small nodes take less time
 * than getting it. */
#ifndef BOOSTING_MEMORY_H
#define BOOSTING_MEMORY_H

#include "boosting/boosting.h"

enum {
    HISTO_NODE_BLOCK = 4096,        /* rows whose words are made at once */
    HISTO_NODE_GATHERED = 64 << 10, /* bytes of bins that are gathered at once */
    HISTO_NODE_TILE = 256 << 10,    /* bytes of accumulators that are added to together, unless one feature has more */
};

/* Memory for a thread. */
typedef struct histo_node_workspace {
    int64_t *accumulators; /* all zero between pieces */
    int64_t *words;
    uint32_t *rows[2]; /* of this block and of the next one */
    char *bins;        /* that were gathered */
} histo_node_workspace;

typedef struct histo_node_memory {
    int threads;
    size_t each; /* bytes of a thread */
    char *workspaces;
    int64_t *planes;
    size_t plane_bytes;
} histo_node_memory;

/* Bytes of the accumulators of a feature. */
size_t histo_accumulator_bytes(const histo_features *features, int32_t feature, int lanes);

/* Memory for so many threads, and for zero planes of so many numbers. NULL: there is not enough. */
histo_node_memory *histo_node_memory_take(const histo_features *features, int threads, int64_t numbers);
/* Keep it for the next fill. Its accumulators are zero. */
void histo_node_memory_keep(const histo_features *features, histo_node_memory *memory);
/* NULL is allowed. */
void histo_node_memory_free(histo_node_memory *memory);

histo_node_workspace histo_node_workspace_of(const histo_node_memory *memory, int thread);

#endif
