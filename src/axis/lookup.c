/* Lookups: an axis made ready for samples of one dtype. */
#include <stdlib.h>
#include <string.h>

#include "axis/axis.h"
#include "view/dtype.h"

uint32_t histo_lookup_slot(const histo_lookup *lookup, histo_dtype dtype, const void *address)
{
#define SLOT_OF(compute)                                                                                               \
    _Generic((compute)0, double : histo_slot_f64, int64_t : histo_slot_i64, uint64_t : histo_slot_u64)
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        storage x;                                                                                                     \
        memcpy(&x, address, sizeof x);                                                                                 \
        return SLOT_OF(compute)(lookup, (compute)widen(x));                                                            \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return 0;
    }
}

histo_status histo_lookup_make(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype, bool many)
{
    *lookup = (histo_lookup){.kind = owned->edges ? HISTO_SEARCH : HISTO_UNIFORM,
                             .closed = owned->closed,
                             .bins = (int32_t)owned->bins,
                             .lo = owned->lo,
                             .hi = owned->hi,
                             .edges = owned->edges};
    lookup->step = histo_axis_step(owned);
    lookup->per_step = 1 / lookup->step;
    size_t size = histo_dtype_size(dtype);
    if (size > 2 || (size == 2 && !many)) return HISTO_OK;
    size_t patterns = (size_t)1 << (8 * size);
    uint32_t *table = malloc(patterns * sizeof *table);
    if (!table) return histo_fail_memory(patterns * sizeof *table, "a table of slots");
    for (size_t pattern = 0; pattern < patterns; pattern++) {
        uint8_t one = (uint8_t)pattern;
        uint16_t two = (uint16_t)pattern;
        table[pattern] = histo_lookup_slot(lookup, dtype, size == 1 ? (const void *)&one : (const void *)&two);
    }
    lookup->table = table;
    return HISTO_OK;
}

void histo_lookup_free(histo_lookup *lookup)
{
    free((void *)lookup->table);
    lookup->table = NULL;
}
