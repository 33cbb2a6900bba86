/* Samples of any layout, type and number of axes, one by one: where tables have them. */
#ifndef CUDA_MAPS_MAP_PLACE_CUH
#define CUDA_MAPS_MAP_PLACE_CUH

#include "cuda/device/any_sample.cuh"
#include "cuda/maps/map_values.cuh"

/* Where the tables have a sample on all axes. */
HISTO_IN_KERNEL histo_map_place histo_map_place_at(const histo_map_work *w, const histo_sample_place *place)
{
    const histo_cuda_work *s = &w->samples;
    uint32_t slot = 0;
    for (int a = 0; a < s->naxes; a++)
        slot += s->slot_strides[a] * histo_slot_at(s, a, histo_address(s, place, a));
    if (!w->linear) return {slot, 0};
    const char *at = histo_address(s, place, 0);
    const double x = histo_with_dtype(s->dtypes[0], [=](auto of) {
        return (double)histo_to_compute<of.type>(histo_load<histo_stored<of.type>>(s, 0, at));
    });
    return histo_map_between_edges(&s->lookups[0], slot, x);
}

#endif
