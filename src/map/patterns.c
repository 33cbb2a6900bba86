#include "map/patterns.h"

#include <string.h>

void histo_map_find_patterns(const histo_map_lookup *lookup, int first, int n, histo_map_slots *slots)
{
    _Alignas(8) char samples[HISTO_BLOCK * sizeof(uint16_t)];
    const size_t size = histo_dtype_size(lookup->dtypes[0]);
    for (int i = 0; i < n; i++) {
        const uint16_t pattern = (uint16_t)(first + i);
        if (size == 1)
            samples[i] = (char)pattern;
        else
            memcpy(samples + sizeof pattern * (size_t)i, &pattern, sizeof pattern);
    }
    histo_map_find(lookup, &(const void *){samples}, n, slots);
}

int histo_map_patterns(const histo_map_lookup *lookup)
{
    const size_t size = histo_dtype_size(lookup->dtypes[0]);
    if (lookup->map->naxes > 1 || size > sizeof(uint16_t)) return 0;
    const int all = size == 1 ? 256 : 65536, step = all < HISTO_BLOCK ? all : HISTO_BLOCK;
    const bool lines = lookup->map->within == HISTO_MAP_LINEAR;
    histo_map_slots slots;
    uint32_t last = 0;
    for (int first = all - step; first >= 0; first -= step) {
        histo_map_find_patterns(lookup, first, step, &slots);
        if (first + step == all) last = slots.slot[step - 1];
        for (int i = step - 1; i >= 0; i--)
            if (lines || slots.slot[i] != last) return first + i + 2 < all ? first + i + 2 : all;
    }
    return 1;
}
