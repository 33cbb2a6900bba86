/* Making the values of maps on a GPU, host side. */
#ifndef CUDA_MAPS_MAP_MAKE_H
#define CUDA_MAPS_MAP_MAKE_H

#include "cuda/maps/cuda_map.h"

/* Make the values of a back projection (map_project.cu). */
histo_status histo_cuda_map_project(histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                    cudaStream_t stream, bool capturing);

#endif
