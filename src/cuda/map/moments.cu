/* Moments of a map's values on a GPU. */
#include "cuda/map/map.h"

histo_status histo_cuda_map_moments(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                                    const histo_apply_options *options, cudaStream_t stream, bool capturing,
                                    histo_moments *moments)
{
    (void)map, (void)mapping, (void)views, (void)options, (void)stream, (void)capturing, (void)moments;
    return histo_fail(HISTO_UNSUPPORTED, "moments are of samples in host memory only");
}
