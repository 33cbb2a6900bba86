/* Features, gradients, and checks that they share. */
#ifndef BOOSTING_BOOSTING_H
#define BOOSTING_BOOSTING_H

#include "plan/nodes.h"

enum { HISTO_MAX_TABLE_ROWS = INT32_MAX };

struct histo_features {
    int64_t rows;
    int32_t features;
    histo_dtype dtype;
    int64_t total;      /* bins of all features */
    int32_t *bins;      /* [features] */
    int64_t *start;     /* [features]: the bins of those before */
    const char *table;  /* the caller's */
    int64_t row_stride; /* of it, in bytes */
    int64_t column_stride;
    char *copy; /* by rows, or NULL */
    /* Of the last fill on the CPU, or NULL: see memory.h. The pointer to it may change where features may not. */
    _Atomic(struct histo_node_memory *) *memory;
    histo_device_features *on_device; /* what a GPU counts, which has a copy of the table; NULL: the CPU does */
};

struct histo_gradients {
    int64_t rows;
    int weights;
    double units[HISTO_MAX_GRADIENTS];
    /* The integers of weights 2p and 2p + 1 are adjacent, in pairs[p][2 * row]; those of a last one alone are
     * pairs[p][row]. */
    int32_t *pairs[(HISTO_MAX_GRADIENTS + 1) / 2]; /* NULL if the weights are on a device */
    histo_device_gradients *on_device;
    bool units_there; /* the GPU has found them once, and may again in a graph: they are read there */
};

/* The weights in pairs[p]: 1 or 2. */
static inline int histo_gradient_lanes(const histo_gradients *gradients, int p)
{
    return gradients->weights - 2 * p < 2 ? 1 : 2;
}

/* The GPU whose memory this is, which no other device can read; HISTO_DEVICE_CPU for other memory. */
histo_device histo_boosting_home(const void *memory);

/* Check a view of so many dimensions, none of them of a batch. *device: whose memory it is in. */
histo_status histo_boosting_check(const histo_view *view, int ndim, const char *what, histo_device *device);
/* HISTO_UNSUPPORTED unless `what`, which is in the memory of `there`, is in that of `device`. */
histo_status histo_boosting_check_home(const char *what, histo_device there, histo_device device);

#endif
