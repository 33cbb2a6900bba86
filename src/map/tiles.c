#include "map/tiles.h"

#include <math.h>

#include "base/error.h"

histo_neighbours histo_neighbours_of(const histo_grid *grid, int d, int64_t place)
{
    const float at = (float)(grid->origin[d] + place) * (1.0F / (float)grid->tiles.size[d]) - 0.5F, low = floorf(at);
    const int64_t last = grid->tiles.count[d] - 1, first = low > (float)last ? last : (int64_t)low;
    return (histo_neighbours){
        .low = first < 0      ? 0
               : first > last ? last
                              : first,
        .high = first + 1 > last ? last : first + 1,
        .share = at - low,
    };
}

int64_t histo_same_neighbours(const histo_grid *grid, int d, int64_t place, int64_t limit)
{
    const histo_neighbours first = histo_neighbours_of(grid, d, place);
    int64_t same = 1, beyond = limit + 1; /* they never decrease */
    while (same + 1 < beyond) {
        const int64_t middle = same + (beyond - same) / 2;
        const histo_neighbours near = histo_neighbours_of(grid, d, place + middle - 1);
        if (near.low == first.low && near.high == first.high)
            same = middle;
        else
            beyond = middle;
    }
    return same;
}

int64_t histo_tiles_in(const histo_tiles *tiles)
{
    int64_t n = 1;
    for (int d = 0; d < tiles->ndim; d++)
        if (__builtin_mul_overflow(n, tiles->count[d], &n)) return INT64_MAX;
    return n;
}

histo_status histo_grid_check(const histo_grid *grid, const histo_view *view)
{
    const histo_tiles *tiles = &grid->tiles;
    if (tiles->ndim < 0 || tiles->ndim > 3) return histo_fail(HISTO_INVALID, "tiles have 1 to 3 dimensions");
    if (tiles->ndim > view->ndim - view->batch_ndim)
        return histo_fail(HISTO_INVALID, "the tiles have more dimensions than the samples");
    for (int d = 0; d < tiles->ndim; d++) {
        const int64_t count = tiles->count[d], size = tiles->size[d], origin = grid->origin[d];
        if (count < 1 || count > HISTO_MAX_SLOTS || size < 1 || size > INT32_MAX)
            return histo_fail(HISTO_INVALID, "%lld tiles of %lld samples are not possible", (long long)count,
                              (long long)size);
        if (origin < 0 || origin > INT64_MAX - view->shape[view->ndim - tiles->ndim + d])
            return histo_fail(HISTO_INVALID, "the samples begin at %lld of the tiles", (long long)origin);
    }
    return HISTO_OK;
}
