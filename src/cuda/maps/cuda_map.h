/* Maps on a GPU: where their values are, how they are made from counts, and applied. */
#ifndef CUDA_MAPS_CUDA_MAP_H
#define CUDA_MAPS_CUDA_MAP_H

#include "cuda/memory/stream_order.h"
#include "plan/strategy.h"
#include "table/edges.h"

/* The edges of an axis that stores them, in device memory. */
typedef struct histo_cuda_edges {
    histo_edges is;
    double *given;    /* what is.given points to; NULL: nothing */
    double *here;     /* the same edges in host memory */
    int64_t capacity; /* edges that both have room for */
} histo_cuda_edges;

struct histo_cuda_map_applying; /* what applications keep (map_apply.cu) */

typedef struct histo_cuda_map {
    histo_device_map base;
    unsigned long long context; /* of all that follows */
    double *values;             /* [batch * length] */
    histo_cuda_order order;
    cudaStream_t stream;           /* for fetching */
    histo_cuda_edges edges, other; /* those of the map's only axis, and of the axis of a reference */
    void *workspace;               /* that makers use */
    size_t workspace_bytes;
    struct histo_cuda_map_applying *applying; /* NULL before the first application */
} histo_cuda_map;

/* Enqueue what makes the values, on the map's device (map_make.cu). capturing: only what has been done before. */
bool histo_cuda_map_makes(const histo_mapping *mapping, const histo_making *making);
histo_status histo_cuda_map_make(histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                 cudaStream_t stream, bool capturing);

/* Put the edges of an axis on the device, if they are not there, after what the stream does with the last ones, and
 * wait for that; capturing: fail instead. */
histo_status histo_cuda_edges_of(const histo_axis *axis, histo_cuda_edges *edges, cudaStream_t stream, bool capturing);
void histo_cuda_edges_free(histo_cuda_edges *edges);

/* Grow the workspace if necessary; capturing: fail instead. */
histo_status histo_cuda_map_workspace(histo_cuda_map *map, size_t bytes, bool capturing);

/* Enqueue an application, on the map's device, whose values are current on the stream (map_apply.cu). The arguments
 * have been checked. capturing: as above. */
histo_status histo_cuda_map_apply(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                                  const histo_view *out, const histo_apply_options *options, cudaStream_t stream,
                                  bool capturing);
/* NULL is allowed. */
void histo_cuda_map_applying_free(struct histo_cuda_map_applying *applying, bool alive);

/* Enqueue the moments of views likewise (map_moments.cu). */
histo_status histo_cuda_map_moments(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                                    const histo_apply_options *options, cudaStream_t stream, bool capturing,
                                    histo_moments *moments);

extern "C" const histo_map_backend histo_cuda_maps;

#endif
