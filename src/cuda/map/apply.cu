/* Applying a map on a GPU. */
#include "cuda/map/map.h"

histo_status histo_cuda_map_apply(histo_cuda_map *map, const histo_mapping *mapping, const histo_view *views,
                                  const histo_view *out, const histo_apply_options *options, cudaStream_t stream,
                                  bool capturing)
{
    (void)map, (void)mapping, (void)views, (void)out, (void)options, (void)stream, (void)capturing;
    return histo_fail(HISTO_UNSUPPORTED, "maps are applied to host memory only");
}

void histo_cuda_map_applying_free(struct histo_cuda_map_applying *applying)
{
    (void)applying;
}
