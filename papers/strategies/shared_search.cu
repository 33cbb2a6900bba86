/* shared_search: each block keeps the edges of all axes and its counters in shared memory; each sample's bin is found
 * by binary search in these edges and counted by an atomic addition.
 *
 * It searches regular axes as well, whereas shared_atomic computes those and searches stored edges in device memory.
 *
 * - `coarsening=1,scan=strided` loads as listing 2 does; `stride=32` lets neighbouring threads load samples that are 32
 *   apart, so that equal neighbours of an image do not meet in one counter.
 *
 * Source: Milic et al. 2013, III.B, listing 2; there the edges stay in device memory.
 * Bytes: each sample once. log2(bins) dependent reads of shared memory for each sample bound it. */
#include "cuda/launch/work_of_job.h"
#include "papers/strategies/banks.h"
#include "papers/strategies/edges.cuh"
#include "papers/strategies/tiles/count_tiles.h"

enum { BLOCKS, THREADS, OVERLAP, COARSENING, SCAN, STRIDE };

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
                                      unsigned int *counters, const histo_tile *tile, uint32_t offset)
{
    if (offset >= tile->length) return;
    histo_sample_place place = histo_sample_place_of(w, tile, offset);
    uint32_t slot = 0;
    if (histo_is_left_out(w, &place))
        slot = w->slots;
    else
        for (int a = 0; a < w->naxes; a++)
            slot += w->slot_strides[a] * search(w, a, edges + layout->at[a], histo_address(w, &place, a));
    atomicAdd(&counters[slot], 1u);
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
    histo_scan_tiles(&rows.tiles, [&](int64_t item) {
        const histo_tile tile = reader::tile(&work, item);
        if constexpr ((int)reader::ID == (int)HISTO_READ_ANY)
            histo_scan_steps(&rows.tiles, tile.length, 1, [&](uint32_t at) {
                count_one_by_one(&work, &layout, edges, counters, &tile, at + threadIdx.x);
            });
        else
            histo_scan_slots<reader>(&work, &rows.tiles, &tile, [&](auto &slot) {
#pragma unroll
                for (int k = 0; k < reader::PER_STEP; k++)
                    if (slot[k] != HISTO_NO_SLOT) atomicAdd(&counters[slot[k]], 1u);
            });
        histo_merge_copies(&work, &rows, item, tile.entry, counters, 1, 0, 0xffffffffu);
    });
}

/* A sample a load, those of neighbouring threads 32 apart. */
template <histo_dtype type, typename lookup>
struct spaced {
    enum { ID = type, PER_STEP = 1 };

    static HISTO_MEMBER histo_tile tile(const histo_cuda_work *w, int64_t item)
    {
        return histo_contiguous<type>::tile(w, item);
    }

    static HISTO_MEMBER void slots(const histo_cuda_work *w, const histo_tile *tile, uint32_t at, uint32_t (&slot)[1])
    {
        const uint32_t i = at + histo_spaced_at(threadIdx.x, blockDim.x);
        const bool is_in = i >= tile->pad && i < tile->length;
        histo_stored<type> x[1] = {};
        if (is_in) x[0] = ((const histo_stored<type> *)tile->at)[i];
        lookup(&w->lookups[0]).slots(x, slot);
        if (!is_in) slot[0] = HISTO_NO_SLOT;
    }
};

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
    static const int64_t defaults[] = {0, 512, 1, 0, 0, 1};
    if (!params) params = defaults;
    size_t extra = edges_of(p, NULL) * sizeof(double) + ((size_t)p->slots + 1) * sizeof(unsigned int);
    histo_block_layout l = histo_cuda_block_layout(p, params[THREADS], HISTO_LANES, 0, extra, params[BLOCKS], false);
    l.strided = params[SCAN] == HISTO_SCAN_STRIDED;
    l.coarsening = params[COARSENING] || params[STRIDE] > 1;
    return l;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting != HISTO_UNWEIGHTED) return histo_cuda_weights_unsupported(problem);
    return layout_of(problem, NULL).threads ? NULL : "too many bins: edges and counters do not fit into shared memory";
}

static const void *kernel_of(int reader, const histo_block_layout *l, bool is_spaced)
{
    return histo_kernel_by_reader(histo_all_readers(), reader, [=](auto it) {
        using searching = typename histo_reader_with<histo_shared_edges_lookup, decltype(it)>::type;
        if constexpr ((int)searching::ID != (int)HISTO_READ_ANY) {
            constexpr histo_dtype type = (histo_dtype)searching::ID;
            if (is_spaced) return (const void *)count<spaced<type, histo_shared_edges_lookup<type>>>;
        }
        return histo_kernel_by_coarsening<1>(searching(), l->coarsening,
                                             [](auto its) { return (const void *)count<decltype(its)>; });
    });
}

static histo_status launch(const histo_job *job)
{
    enum { MIN = 1 << 14 };
    const histo_block_layout l = layout_of(job->problem, job->params);
    const histo_cuda_work work = histo_cuda_scanned_work(job, &l, MIN, HISTO_MAX_TILE);
    edges_layout edges;
    edges_of(job->problem, &edges);
    const void *kernel = kernel_of(histo_cuda_reader_of(&work), &l, job->params[STRIDE] > 1);
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
    .params = {histo_blocks_param,
               {"threads", 32, 1024, 512, "threads of a block, rounded down to whole warps"},
               {"overlap", 0, 1, 1, "samples from host memory; 1: copied while others are counted; 0: in turns"},
               {"coarsening", 0, 1, 0,
                "1: a sample a load, as in listing 2; 0: 16 bytes of them. Where they are contiguous"},
               histo_scan_param,
               {"stride", 1, 32, 1,
                "more than 1: neighbouring threads load samples that are 32 apart, where they are contiguous"}},
    .explain = explain,
};
