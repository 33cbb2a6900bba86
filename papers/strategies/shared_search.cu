/* shared_search: each block keeps the edges of all axes and its counters in shared memory; each sample's bin is found
 * by binary search in these edges and counted by an atomic addition.
 *
 * It searches regular axes as well, whereas shared_atomic computes those and searches stored edges in device memory.
 *
 * Source: Milic et al. 2013, III.B, listing 2; there the edges stay in device memory.
 * Bytes: each sample once. log2(bins) dependent reads of shared memory for each sample bound it. */
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/edges.cuh"
#include "papers/strategies/tiles/count_tiles.h"

enum { BLOCKS, THREADS };

/* Where the edges of each axis begin in shared memory, and where the counters do, in doubles. */
typedef struct edges_layout {
    uint32_t at[HISTO_MAX_AXES], counters;
} edges_layout;

HISTO_IN_KERNEL void load_edges(const histo_lookup *l, double *edges)
{
    for (int32_t i = (int32_t)threadIdx.x; i <= l->bins; i += (int32_t)blockDim.x)
        edges[i] = histo_edge_at(l, i);
}

/* By search in these edges, whatever way the axis has. */
HISTO_IN_KERNEL uint32_t search(const histo_cuda_work *w, int axis, const double *edges, const char *at)
{
    histo_lookup l = w->lookups[axis];
    l.kind = HISTO_SEARCH;
    l.edges = edges;
    return histo_with_dtype(w->dtypes[axis], [&](auto of) {
        return histo_search_lookup<of.type>(&l).slot(histo_load<histo_stored<of.type>>(w, axis, at));
    });
}

/* Samples of any number of axes, one by one. */
HISTO_IN_KERNEL void count_one_by_one(const histo_cuda_work *w, const edges_layout *layout, const double *edges,
                                      unsigned int *counters, const histo_tile *tile)
{
    for (uint32_t offset = threadIdx.x; offset < tile->length; offset += blockDim.x) {
        histo_sample_place place = histo_sample_place_of(w, tile, offset);
        uint32_t slot = 0;
        if (histo_is_left_out(w, &place))
            slot = w->slots;
        else
            for (int a = 0; a < w->naxes; a++)
                slot += w->slot_strides[a] * search(w, a, edges + layout->at[a], histo_address(w, &place, a));
        atomicAdd(&counters[slot], 1u);
    }
}

template <typename reader>
static __global__ void __launch_bounds__(1024, 1)
    count(const __grid_constant__ histo_cuda_work work, const __grid_constant__ histo_tile_rows rows,
          const __grid_constant__ edges_layout layout)
{
    extern __shared__ double edges[];
    unsigned int *counters = (unsigned int *)(edges + layout.counters);
    for (int a = 0; a < work.naxes; a++)
        load_edges(&work.lookups[a], edges + layout.at[a]);
    histo_clear_shared(counters, (uint32_t)work.counters);
    for (int64_t item = rows.first + blockIdx.x; item < rows.end; item += gridDim.x) {
        histo_tile tile = reader::tile(&work, item);
        if constexpr ((int)reader::ID == (int)HISTO_READ_ANY)
            count_one_by_one(&work, &layout, edges, counters, &tile);
        else
            for (uint32_t at = 0; at < tile.length; at += blockDim.x * reader::PER_STEP) {
                uint32_t slot[reader::PER_STEP];
                reader::slots(&work, &tile, at, slot);
#pragma unroll
                for (int k = 0; k < reader::PER_STEP; k++)
                    if (slot[k] != HISTO_NO_SLOT) atomicAdd(&counters[slot[k]], 1u);
            }
        histo_merge_copies(&work, &rows, item, tile.entry, counters, 1, 0, 0xffffffffu);
    }
}

static size_t edges_of(const histo_problem *p, edges_layout *layout)
{
    size_t edges = 0;
    for (int a = 0; a < p->naxes; a++) {
        if (layout) layout->at[a] = (uint32_t)edges;
        edges += (size_t)p->lookups[a].bins + 1;
    }
    if (layout) layout->counters = (uint32_t)edges;
    return edges;
}

static histo_block_layout layout_of(const histo_problem *p, const int64_t *params)
{
    static const int64_t defaults[] = {0, 512};
    if (!params) params = defaults;
    size_t extra = edges_of(p, NULL) * sizeof(double) + ((size_t)p->slots + 1) * sizeof(unsigned int);
    return histo_cuda_block_layout(p, params[THREADS], 32, 0, extra, params[BLOCKS], false);
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting != HISTO_UNWEIGHTED) return "it counts, but sums no weights";
    return layout_of(problem, NULL).threads ? NULL : "too many bins: edges and counters do not fit into shared memory";
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    histo_block_layout l = layout_of(job->problem, job->params);
    histo_cuda_work work = histo_cuda_work_of(job, l.blocks, MIN, HISTO_MAX_TILE);
    edges_layout edges;
    edges_of(job->problem, &edges);
    const void *kernel = histo_kernel_by_reader(histo_all_readers(), histo_cuda_reader_of(&work), [](auto it) {
        return (const void *)count<typename histo_reader_with<histo_shared_edges_lookup, decltype(it)>::type>;
    });
    return histo_cuda_launch_tiles(job, kernel, &work, &edges, &l);
}

static void explain(const histo_problem *problem, const int64_t *params, histo_text *text)
{
    const histo_block_layout l = layout_of(problem, params);
    histo_cuda_block_explain(&l, text);
    histo_text_add(text, "; the edges of %d ax%s and one copy of 32-bit counters", problem->naxes,
                   problem->naxes == 1 ? "is" : "es");
}

extern "C" const histo_strategy histo_cuda_shared_search = {
    .unsupported_reason = unsupported_reason,
    .launch = launch,
    .params = {{"blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once"},
               {"threads", 32, 1024, 512, "threads of a block, rounded down to whole warps"},
               {"overlap", 0, 1, 1, "samples from host memory; 1: copied while others are counted; 0: in turns"}},
    .explain = explain,
};
