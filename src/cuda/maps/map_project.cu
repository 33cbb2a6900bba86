/* Back projection on a GPU: blocks find the extremes or the sums of the counts of a table's bins, and then write its
 * values, with the arithmetic of src/table. */
#include <math.h>

#include "cuda/launch/launch.h"
#include "cuda/maps/map_make.h"
#include "cuda/maps/table_block.h"
#include "cuda/memory/accumulators.h"
#include "table/scaling.h"

using namespace histo::table;

typedef block<256, 1, false> blocks;

/* The counts of bins, together. */
struct summary {
    word least, most, sum, against;

    __device__ summary operator+(const summary &more) const
    {
        return {min(least, more.least), max(most, more.most), sum + more.sum, against + more.against};
    }
};

struct projection {
    source from, against; /* of slots, flow included; against.counts is NULL if there is none */
    double lo, hi;
    double *values;
    uint32_t length;
    int naxes;
    uint32_t bins[HISTO_MAX_AXES];
    uint32_t parts; /* into which a table is cut, one for each block */
    summary *found; /* [tables][parts] */
};

static __device__ bool is_inside(const projection *p, uint32_t slot)
{
    bool inside = true;
    for (int a = p->naxes - 1; a >= 0; a--) {
        const uint32_t at = slot % (p->bins[a] + 3);
        inside &= at - 1 < p->bins[a];
        slot /= p->bins[a] + 3;
    }
    return inside;
}

/* use(slot, is it inside?) for the slots of this block's part of its table */
template <typename USE>
static __device__ void each_slot(const projection *p, USE use)
{
    const uint32_t step = p->parts * blocks::threads;
    for (uint32_t slot = blockIdx.x % p->parts * blocks::threads + threadIdx.x; slot < p->length; slot += step)
        use(slot, is_inside(p, slot));
}

static __device__ summary find_part(const projection *p)
{
    const uint32_t table = blockIdx.x / p->parts;
    const word *counts = p->from.of(table), *against = p->against.counts ? p->against.of(table) : NULL;
    summary mine = {~0ull, 0, 0, 0};
    each_slot(p, [&](uint32_t slot, bool inside) {
        if (inside) mine = mine + summary{counts[slot], counts[slot], counts[slot], against ? against[slot] : 0};
    });
    return blocks::all(mine, [](const summary &a, const summary &b) { return a + b; });
}

static __device__ void write_part(const projection *p, const summary &all)
{
    const uint32_t table = blockIdx.x / p->parts;
    const word *counts = p->from.of(table), *against = p->against.counts ? p->against.of(table) : NULL;
    double *to = p->values + (int64_t)table * p->length;
    const histo_scaling scaling = histo_scaling_of(all.least, all.most, p->lo, p->hi);
    const double ratio = (double)all.against / (double)all.sum;
    each_slot(p, [&](uint32_t slot, bool inside) {
        if (against)
            to[slot] = inside ? histo_share_ratio((double)counts[slot], (double)against[slot], ratio) : 0;
        else
            to[slot] = inside ? histo_scaled(&scaling, counts[slot]) : p->lo;
    });
}

static __global__ void __launch_bounds__(blocks::threads) project(const __grid_constant__ projection p)
{
    start();
    write_part(&p, find_part(&p));
}

static __global__ void __launch_bounds__(blocks::threads) find_all(const __grid_constant__ projection p)
{
    start();
    const summary part = find_part(&p);
    if (threadIdx.x == 0) p.found[blockIdx.x] = part;
}

/* parts: at most one a thread */
static __global__ void __launch_bounds__(blocks::threads) write_all(const __grid_constant__ projection p)
{
    start();
    const summary none = {~0ull, 0, 0, 0};
    const summary mine = threadIdx.x < p.parts ? p.found[blockIdx.x / p.parts * p.parts + threadIdx.x] : none;
    write_part(&p, blocks::all(mine, [](const summary &a, const summary &b) { return a + b; }));
}

static source slots_of(const histo_device_accumulators *base)
{
    const histo_cuda_accumulators *from = (const histo_cuda_accumulators *)base;
    if (!from) return {NULL, 0};
    return {from->counts, from->batch > 1 ? from->counters : 0};
}

histo_status histo_cuda_map_project(histo_cuda_map *map, const histo_mapping *mapping, const histo_making *making,
                                    cudaStream_t stream, bool capturing)
{
    enum { ONE_BLOCK = 2048, OF_PART = 512, MOST = blocks::threads };
    projection p = {slots_of(making->from),
                    slots_of(making->other),
                    making->options.lo,
                    making->options.hi,
                    map->values,
                    (uint32_t)mapping->length,
                    mapping->naxes,
                    {},
                    1,
                    NULL};
    for (int a = 0; a < p.naxes; a++)
        p.bins[a] = (uint32_t)mapping->axes[a].bins;
    if (p.length > ONE_BLOCK) {
        const uint32_t parts = (p.length - 1) / OF_PART + 1;
        p.parts = parts < MOST ? parts : (uint32_t)MOST;
    }
    const int64_t grid = mapping->batch * p.parts;
    void *args[] = {&p};
    if (p.parts == 1)
        return histo_cuda_launch_early(map->base.device, (const void *)project, dim3((unsigned)grid), blocks::threads,
                                       1, 0, args, stream);
    histo_status status = histo_cuda_map_workspace(map, (size_t)grid * sizeof *p.found, capturing);
    p.found = (summary *)map->workspace;
    if (status == HISTO_OK)
        status = histo_cuda_launch_early(map->base.device, (const void *)find_all, dim3((unsigned)grid),
                                         blocks::threads, 1, 0, args, stream);
    if (status == HISTO_OK)
        status = histo_cuda_launch_early(map->base.device, (const void *)write_all, dim3((unsigned)grid),
                                         blocks::threads, 1, 0, args, stream);
    return status;
}
