/* Features and gradients on a GPU. */
#ifndef CUDA_NODES_NODES_H
#define CUDA_NODES_NODES_H

#include "cuda/host/device.h"
#include "cuda/memory/stream_order.h"
#include "cuda/nodes/node_work.h"
#include "plan/nodes.h"
#include "plan/strategy.h"

/* Memory that grows, and stays where a captured graph uses it. */
typedef struct histo_cuda_room {
    void *memory;
    size_t bytes;
    struct histo_cuda_room *before; /* rooms that were too small after a capture */
} histo_cuda_room;

/* *grown: the memory is new; what was in it is lost. */
histo_status histo_cuda_room_reserve(histo_cuda_room *room, size_t bytes, bool captured, const char *what, bool *grown);
void histo_cuda_room_free(histo_cuda_room *room);

typedef struct histo_cuda_features {
    histo_device_features base;
    unsigned long long context; /* of all that follows */
    histo_cuda_order order;
    int64_t rows;
    int32_t features, bytes;                /* of a bin: 1 or 2 */
    int32_t *bins;                          /* [features], in host memory */
    histo_node_group *groups, *groups_here; /* [group_count]; here: in host memory */
    int32_t *bins_there;                    /* [features], behind the groups */
    int32_t group_count;
    int64_t lanes, words; /* of all groups: of a row, and of the sums of a node */
    void *tiles;
    histo_cuda_room sums;               /* zero between fills */
    histo_cuda_room parameters;         /* first[features], then offsets[nodes + 1] */
    int64_t *parameters_here;           /* what they are, in host memory */
    size_t parameters_known;            /* bytes of that */
    volatile unsigned long long *stray; /* page-locked: not 0 if a list had numbers that are no rows */
} histo_cuda_features;

/* In the memory of the GPU. */
typedef struct histo_gradients_state {
    unsigned long long largest[HISTO_MAX_GRADIENTS]; /* the bits of doubles that are not negative */
    unsigned long long nonfinite, first;             /* first: row * HISTO_MAX_GRADIENTS + weight */
    int exponents[HISTO_MAX_GRADIENTS];
} histo_gradients_state;

typedef struct histo_cuda_gradients {
    histo_device_gradients base;
    unsigned long long context; /* of all that follows */
    histo_cuda_order order;
    int32_t *pairs[(HISTO_MAX_GRADIENTS + 1) / 2]; /* as in struct histo_gradients */
    histo_gradients_state *state;
} histo_cuda_gradients;

/* Enqueue the addition of rows (node_sums.cu). */
histo_status histo_cuda_add_nodes(const histo_cuda_features *features, const histo_node_work *work,
                                  cudaStream_t stream);
/* Enqueue the writing of the sums of `nodes` nodes, which are then zero (node_write.cu); units: of the GPU's state. */
histo_status histo_cuda_write_nodes(const histo_cuda_features *features, const histo_cuda_gradients *gradients,
                                    const histo_node_request *request, const int64_t *first, int numbers,
                                    cudaStream_t stream);
/* Write sums in host memory to host memory. */
void histo_cuda_write_nodes_here(const histo_cuda_features *features, const histo_node_request *request,
                                 const double *units, int numbers, const long long *sums);

histo_status histo_cuda_nodes_fill(histo_device_features *features, histo_device_gradients *gradients,
                                   const histo_node_request *request);
histo_status histo_cuda_nodes_wait(histo_device_features *features);
histo_status histo_cuda_features_make(const histo_view *table, const int32_t *bins, histo_device device, void *stream,
                                      histo_stray_bin *stray, histo_device_features **made);
void histo_cuda_features_free(histo_device_features *features);
histo_status histo_cuda_gradients_make(int64_t rows, int weights, histo_device device, histo_device_gradients **made);
void histo_cuda_gradients_free(histo_device_gradients *gradients);
histo_status histo_cuda_gradients_search(histo_device_gradients *gradients, const histo_view *values, void *stream,
                                         histo_gradients_found *found);
histo_status histo_cuda_gradients_quantize(histo_device_gradients *gradients, const histo_view *values, int bits,
                                           const int *exponents, int64_t *nonfinite, void *stream);
histo_status histo_cuda_gradients_units(histo_device_gradients *gradients, double *units);

extern "C" const histo_node_backend histo_cuda_nodes;

#endif
